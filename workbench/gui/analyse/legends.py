"""The legends of Analyse mode: states and severities under the graph, bars under the findings."""

from __future__ import annotations

from PySide6.QtCore import QSize
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QHBoxLayout, QSizePolicy, QWidget

from workbench.gui.canvas import Drawn
from workbench.gui.theme import set_ground
from workbench.gui.widgets import Legend, SeverityIcon, label
from workbench.pictures.canvas import Canvas
from workbench.pictures.signs import SEVERITIES, draw_beyond, draw_cap

BOTH_FROM_PX = 900


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
        for level, said in SEVERITIES.items():
            if level == "aside":
                continue
            inner.addSpacing(8)
            inner.addWidget(SeverityIcon(level, 14))
            inner.addWidget(label(said, "smallsecond"))
        row.addWidget(self._severities)

    def resizeEvent(self, event: QResizeEvent) -> None:
        self._severities.setVisible(event.size().width() >= BOTH_FROM_PX)

    def minimumSizeHint(self) -> QSize:
        return QSize(300, 30)


class BarKey(Drawn, QWidget):
    """One part of the speedup bar: reach, cap or beyond."""

    def __init__(self, part: str) -> None:
        super().__init__()
        self._part = part
        self.setFixedSize(4 if part == "cap" else 18, 14)

    def draw(self, canvas: Canvas) -> None:
        high = self.height() - 4
        if self._part == "reach":
            canvas.rect(0, 2, self.width(), high, "accent")
        elif self._part == "cap":
            draw_cap(canvas, 2, 3, self.height() - 6)
        else:
            draw_beyond(canvas, 0, 2, self.width(), high)


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
