"""At the left of a file's text: what the last run says about each line, its pragmas, what lacks one, what is wrong."""

from __future__ import annotations

from dataclasses import dataclass, field
from html import escape

from PySide6.QtCore import QRectF, Qt
from PySide6.QtGui import QPainter, QPaintEvent
from PySide6.QtWidgets import QWidget

from workbench.gui import fonts, theme
from workbench.gui.source.line_numbers import LineNumbers
from workbench.gui.source.problems import Problems
from workbench.model.pragma import Category

NUMBERS_PX = 204  # bar, share, visits
GUTTER_PX = 74  # swatch and line number
SWATCH_PX = 12


@dataclass
class Margin:
    """What stands beside the lines (from 1). Lines of `numbers` and `lacking` count as in the text first loaded."""

    numbers: dict[int, LineNumbers] = field(default_factory=dict)
    pragmas: dict[int, Category] = field(default_factory=dict)
    lacking: set[int] = field(default_factory=set)
    problems: Problems = field(default_factory=dict)
    stale: bool = False


class MarginHead(QWidget):
    """Names of the margin's columns, and whose mean they show."""

    def __init__(self) -> None:
        super().__init__()
        self.setFixedHeight(27)
        self.said = ""

    def say(self, text: str) -> None:
        self.said = text
        self.update()

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        painter.fillRect(self.rect(), theme.colour("sunken"))
        painter.fillRect(QRectF(0, self.height() - 1, self.width(), 1), theme.colour("rule"))
        painter.setFont(fonts.ui_font(12, 500))
        painter.setPen(theme.colour("second"))
        middle = Qt.AlignmentFlag.AlignVCenter
        right = middle | Qt.AlignmentFlag.AlignRight
        painter.drawText(QRectF(16, 0, 120, 26), middle, "Time in state")
        painter.drawText(QRectF(130, 0, NUMBERS_PX - 142, 26), right, "Visits")
        painter.setFont(fonts.ui_font(12))
        painter.drawText(QRectF(NUMBERS_PX, 0, self.width() - NUMBERS_PX - 16, 26), right, self.said)


def rich_tip(text: str) -> str:
    """A tooltip that breaks its lines, and shows what looks like markup as it stands."""
    return f"<p>{escape(text)}</p>".replace("\n", "</p><p>") if text else ""
