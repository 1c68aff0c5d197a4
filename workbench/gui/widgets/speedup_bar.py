"""Gain on a log axis that all rows share: predicted, up to the cap, and what the cap puts out of reach."""

from __future__ import annotations

from PySide6.QtCore import QRectF, QSize
from PySide6.QtGui import QPainter, QPaintEvent
from PySide6.QtWidgets import QSizePolicy, QWidget

from workbench.gui.canvas import QtCanvas
from workbench.model.text import ratio_text
from workbench.pictures.signs import draw_speedup_bar


def paint_speedup_bar(
    painter: QPainter, rect: QRectF, predicted: float | None, cap: float | None, ideal: float
) -> None:
    draw_speedup_bar(QtCanvas(painter), rect.x(), rect.y(), rect.width(), rect.height(), predicted, cap, ideal)


class SpeedupBar(QWidget):
    """The bar as a widget."""

    def __init__(self, predicted: float | None, cap: float | None, ideal: float) -> None:
        super().__init__()
        self._values = (predicted, cap, ideal)
        self.setFixedHeight(16)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        said = [f"predicted {ratio_text(predicted)}"] if predicted is not None else []
        said += [f"cap {ratio_text(cap)}"] if cap is not None else []
        self.setToolTip(", ".join([*said, f"ideal {ratio_text(ideal)}"]))

    def sizeHint(self) -> QSize:
        return QSize(200, 16)

    def paintEvent(self, event: QPaintEvent) -> None:
        paint_speedup_bar(QPainter(self), QRectF(0, 3, self.width(), 10), *self._values)
