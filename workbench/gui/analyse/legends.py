"""The legends of Analyse mode: states and severities under the graph, bars under the findings."""

from __future__ import annotations

from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import QBrush, QPainter, QPaintEvent, QPen
from PySide6.QtWidgets import QHBoxLayout, QWidget

from workbench.gui import theme
from workbench.gui.theme import set_ground
from workbench.gui.widgets import Legend, SeverityIcon, label

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
        row.addWidget(Legend(), 1)
        for level, said in SEVERITIES:
            row.addSpacing(8)
            row.addWidget(SeverityIcon(level, 14))
            row.addWidget(label(said, "smallsecond"))


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
        ("reach", "ideal within the cap", "The smaller of ideal and cap: the most this can gain"),
        ("cap", "cap", "What the utilisation of the other side still allows"),
        ("beyond", "ideal beyond the cap", "Out of reach until the other side is mended too"),
    ):
        key, text = BarKey(part), label(said, "smallsecond")
        key.setToolTip(tip)
        text.setToolTip(tip)
        row.addWidget(key)
        row.addWidget(text)
        row.addSpacing(8)
    return row
