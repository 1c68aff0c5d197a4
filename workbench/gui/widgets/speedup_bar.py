"""Gain on a log axis that all rows share: predicted, up to the cap, and what the cap puts out of reach."""

from __future__ import annotations

import math

from PySide6.QtCore import QPointF, QRectF, QSize, Qt
from PySide6.QtGui import QBrush, QColor, QPainter, QPaintEvent, QPen
from PySide6.QtWidgets import QSizePolicy, QWidget

from workbench.gui import theme
from workbench.model.text import ratio_text

#: The axis runs from 1x to this.
AXIS_END = 20.0
TICKS = (1, 2, 5, 10, 20)


def axis_x(ratio: float, left: float, width: float) -> float:
    """Where a speedup stands on the axis; what is beyond an end stands at the end."""
    return left + width * math.log(min(max(ratio, 1.0), AXIS_END)) / math.log(AXIS_END)


def paint_speedup_bar(
    painter: QPainter, rect: QRectF, predicted: float | None, cap: float | None, ideal: float
) -> None:
    """Solid up to `predicted`, tint up to the cap (the ideal where none is known), hatch from the cap to an ideal
    that is more, tick at such a cap. Without a prediction there is no solid part."""
    p = theme.palette()
    painter.fillRect(rect, QColor(p.track))
    reach = ideal if cap is None else cap
    middle = axis_x(reach, rect.left(), rect.width())
    painter.fillRect(QRectF(rect.left(), rect.top(), middle - rect.left(), rect.height()), QColor(p.within_cap))
    if predicted is not None:
        end = axis_x(predicted, rect.left(), rect.width())
        painter.fillRect(QRectF(rect.left(), rect.top(), end - rect.left(), rect.height()), QColor(p.accent))
    if cap is not None and cap < ideal:
        end = axis_x(ideal, rect.left(), rect.width())
        beyond = QRectF(middle, rect.top(), end - middle, rect.height())
        painter.fillRect(beyond, QColor(p.panel))
        painter.fillRect(beyond, QBrush(QColor(p.second), Qt.BrushStyle.BDiagPattern))
        painter.setPen(QPen(QColor(p.second), 1))
        painter.setBrush(Qt.BrushStyle.NoBrush)
        painter.drawRect(beyond.adjusted(0.5, 0.5, -0.5, -0.5))
        painter.setPen(QPen(QColor(p.text), 2))
        painter.drawLine(QPointF(middle, rect.top() - 3), QPointF(middle, rect.bottom() + 3))


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
