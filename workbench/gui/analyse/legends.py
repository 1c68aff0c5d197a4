"""The legends of Analyse mode: states and severities under the graph, bars under the findings."""

from __future__ import annotations

from PySide6.QtCore import QPointF, QRectF, QSize, Qt
from PySide6.QtGui import QBrush, QPainter, QPaintEvent, QPen, QResizeEvent
from PySide6.QtWidgets import QHBoxLayout, QSizePolicy, QWidget

from workbench.gui import theme
from workbench.gui.theme import set_ground
from workbench.gui.widgets import Legend, SeverityIcon, label

BOTH_FROM_PX = 900
SEVERITIES = (("high", "over 2×"), ("medium", "1.2 to 2×"), ("low", "1.05 to 1.2×"))


class GraphLegend(QWidget):
    """State colours and severity shapes, one line."""

    def __init__(self) -> None:
        super().__init__()
        set_ground(self, "panel")
        self.setFixedHeight(30)
        row = QHBoxLayout(self)
        row.setContentsMargins(16, 0, 16, 0)
        row.setSpacing(6)
        states = Legend()
        states.setMinimumWidth(0)
        states.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Preferred)
        row.addWidget(states, 1)
        self._severities = QWidget()
        self._severities.setSizePolicy(QSizePolicy.Policy.Fixed, QSizePolicy.Policy.Preferred)
        inner = QHBoxLayout(self._severities)
        inner.setContentsMargins(0, 0, 0, 0)
        inner.setSpacing(6)
        for level, said in SEVERITIES:
            inner.addSpacing(8)
            inner.addWidget(SeverityIcon(level, 14))
            inner.addWidget(label(said, "smallsecond"))
        row.addWidget(self._severities)

    def resizeEvent(self, event: QResizeEvent) -> None:
        self._severities.setVisible(event.size().width() >= BOTH_FROM_PX)

    def minimumSizeHint(self) -> QSize:
        return QSize(300, 30)


class BarKey(QWidget):
    """One part of the speedup bar: reach, cap or beyond."""

    def __init__(self, part: str) -> None:
        super().__init__()
        self._part = part
        self.setFixedSize(4 if part == "cap" else 18, 14)

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        rect = QRectF(self.rect()).adjusted(0, 2, 0, -2)
        if self._part == "reach":
            painter.fillRect(rect, theme.colour("accent"))
        elif self._part == "cap":
            painter.setPen(QPen(theme.colour("text"), 2))
            painter.drawLine(QPointF(2, 0), QPointF(2, self.height()))
        else:
            painter.fillRect(rect, theme.colour("panel"))
            painter.fillRect(rect, QBrush(theme.colour("second"), Qt.BrushStyle.BDiagPattern))
            painter.setPen(QPen(theme.colour("second"), 1))
            painter.drawRect(rect.adjusted(0.5, 0.5, -0.5, -0.5))


def bar_legend() -> QHBoxLayout:
    row = QHBoxLayout()
    row.setSpacing(7)
    for part, said, tip in (
        ("reach", "gain at most", "What the best of its advice gains at most"),
        ("cap", "cap", "The bound of that advice, where the ideal is more"),
        ("beyond", "ideal beyond the cap", "Out of reach by this advice alone"),
    ):
        key, text = BarKey(part), label(said, "smallsecond")
        key.setToolTip(tip)
        text.setToolTip(tip)
        row.addWidget(key)
        row.addWidget(text)
        row.addSpacing(8)
    return row
