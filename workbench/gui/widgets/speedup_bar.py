"""Gain on a log axis that all rows share: predicted, up to the cap, and what the cap puts out of reach."""

from __future__ import annotations

from PySide6.QtCore import QSize
from PySide6.QtWidgets import QSizePolicy, QWidget

from workbench.gui.canvas import Drawn
from workbench.model.text import ratio_text
from workbench.pictures.canvas import Canvas
from workbench.pictures.signs import draw_speedup_bar


class SpeedupBar(Drawn, QWidget):
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

    def draw(self, canvas: Canvas) -> None:
        draw_speedup_bar(canvas, 0, 3, self.width(), 10, *self._values)
