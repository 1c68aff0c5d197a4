"""The sign of a severity: triangle over 2x, diamond 1.2 to 2x, disc below, ring if set aside."""

from PySide6.QtCore import QSizeF, Qt, Signal
from PySide6.QtGui import QMouseEvent, QPainter
from PySide6.QtWidgets import QWidget

from workbench.gui.views.canvas import Drawn, QtCanvas
from workbench.model.diagnostic import Severity
from workbench.pictures.canvas import Canvas
from workbench.pictures.signs import SEVERITIES, badge_size, draw_badge, draw_severity


def level_of(severity: Severity) -> str:
    """The shape of a diagnostic: errors are triangles, warnings diamonds, notes discs."""
    return {Severity.ERROR: "high", Severity.WARNING: "medium", Severity.NOTE: "low"}[severity]


def paint_severity(painter: QPainter, x: float, y: float, size: float, level: str) -> None:
    """Paint the sign of a level (high, medium, low, aside) into a square with its top left corner at (x, y)."""
    draw_severity(QtCanvas(painter), x, y, size, level)


class SeverityIcon(Drawn, QWidget):
    """The sign of a level, 16 pixels."""

    def __init__(self, level: str, size_px: int = 16) -> None:
        super().__init__()
        self._level = level
        self.setFixedSize(size_px, size_px)
        self.setToolTip(SEVERITIES.get(level, ""))

    def draw(self, canvas: Canvas) -> None:
        draw_severity(canvas, 0, 0, self.width(), self._level)


class SeverityBadge(Drawn, QWidget):
    """A badge as a widget; a click asks for the findings behind it."""

    clicked = Signal()

    def __init__(self, level: str, count: int) -> None:
        super().__init__()
        self._level, self._count = level, count
        self.setFixedSize(QSizeF(*badge_size(count)).toSize())
        self.setCursor(Qt.CursorShape.PointingHandCursor)

    def set_value(self, level: str, count: int) -> None:
        self._level, self._count = level, count
        self.setFixedSize(QSizeF(*badge_size(count)).toSize())
        self.update()

    def draw(self, canvas: Canvas) -> None:
        draw_badge(canvas, 0, 0, self._level, self._count)

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        if event.button() is Qt.MouseButton.LeftButton:
            self.clicked.emit()
