"""How bad it is, by shape and colour: triangle over 2x, diamond 1.2 to 2x, disc below, ring when set aside."""

from __future__ import annotations

from PySide6.QtCore import QPointF, QRectF, QSize, Qt, Signal
from PySide6.QtGui import QColor, QMouseEvent, QPainter, QPaintEvent, QPen, QPolygonF
from PySide6.QtWidgets import QWidget

from workbench.gui import fonts, theme
from workbench.model.diagnostic import Severity

LEVELS = ("high", "medium", "low", "aside")
_TITLES = {"high": "over 2×", "medium": "1.2 to 2×", "low": "1.05 to 1.2×", "aside": "set aside"}


def level_of(severity: Severity) -> str:
    """The shape of a diagnostic: errors are triangles, warnings diamonds, notes discs."""
    return {Severity.ERROR: "high", Severity.WARNING: "medium", Severity.NOTE: "low"}[severity]


def severity_colour(level: str) -> QColor:
    return theme.colour("muted" if level == "aside" else level)


def paint_severity(painter: QPainter, x: float, y: float, size: float, level: str) -> None:
    """Paint the sign of a level (high, medium, low, aside) into a square with its top left corner at (x, y)."""
    painter.save()
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    colour = severity_colour(level)
    ink = QColor(theme.palette().panel)
    unit = size / 16
    pen = QPen(colour, 1.2 * unit)
    pen.setJoinStyle(Qt.PenJoinStyle.RoundJoin)
    painter.translate(x, y)
    painter.scale(unit, unit)
    pen.setWidthF(1.6)
    painter.setPen(pen)
    painter.setBrush(colour)
    mark = QPen(ink, 1.7)
    mark.setCapStyle(Qt.PenCapStyle.RoundCap)
    if level == "high":
        painter.drawPolygon(QPolygonF([QPointF(8, 1.8), QPointF(15, 14), QPointF(1, 14)]))
        painter.setPen(mark)
        painter.drawLine(QPointF(8, 6), QPointF(8, 9.3))
        painter.drawPoint(QPointF(8, 12))
    elif level == "medium":
        painter.drawPolygon(QPolygonF([QPointF(8, 1.4), QPointF(14.6, 8), QPointF(8, 14.6), QPointF(1.4, 8)]))
        painter.setPen(mark)
        painter.drawLine(QPointF(8, 4.9), QPointF(8, 8.2))
        painter.drawPoint(QPointF(8, 11))
    elif level == "low":
        painter.drawEllipse(QPointF(8, 8), 4.6, 4.6)
        mark.setWidthF(1.5)
        painter.setPen(mark)
        painter.drawPoint(QPointF(8, 5.6))
        painter.drawLine(QPointF(8, 8), QPointF(8, 10.4))
    else:
        painter.setBrush(Qt.BrushStyle.NoBrush)
        painter.setPen(QPen(colour, 1.3))
        painter.drawEllipse(QPointF(8, 8), 5, 5)
        painter.drawLine(QPointF(5.6, 8), QPointF(10.4, 8))
    painter.restore()


class SeverityIcon(QWidget):
    """The sign of a level, 16 pixels."""

    def __init__(self, level: str, size_px: int = 16) -> None:
        super().__init__()
        self._level = level
        self.setFixedSize(size_px, size_px)
        self.setToolTip(_TITLES.get(level, ""))

    def set_level(self, level: str) -> None:
        self._level = level
        self.setToolTip(_TITLES.get(level, ""))
        self.update()

    def paintEvent(self, event: QPaintEvent) -> None:
        paint_severity(QPainter(self), 0, 0, self.width(), self._level)


def badge_size(count: int) -> QSize:
    return QSize(32 + 8 * max(0, len(str(count)) - 1), 20)


def paint_badge(painter: QPainter, rect: QRectF, level: str, count: int) -> None:
    """Sign and number in a rounded box, as at the top right corner of a node."""
    painter.save()
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    p = theme.palette()
    ground = {"high": p.high_ground, "medium": p.medium_ground, "low": p.low_ground}.get(level, p.sunken)
    painter.setPen(QPen(severity_colour(level), 1.2))
    painter.setBrush(QColor(ground))
    painter.drawRoundedRect(rect.adjusted(0.5, 0.5, -0.5, -0.5), rect.height() / 2, rect.height() / 2)
    paint_severity(painter, rect.left() + 5, rect.center().y() - 6, 12, level)
    painter.setPen(QColor({"high": p.high, "medium": p.medium_text}.get(level, p.low)))
    painter.setFont(fonts.ui_font(12, 600))
    painter.drawText(rect.adjusted(18, 0, -6, 0), Qt.AlignmentFlag.AlignCenter, str(count))
    painter.restore()


class SeverityBadge(QWidget):
    """A badge as a widget; a click asks for the findings behind it."""

    clicked = Signal()

    def __init__(self, level: str, count: int) -> None:
        super().__init__()
        self._level, self._count = level, count
        self.setFixedSize(badge_size(count))
        self.setCursor(Qt.CursorShape.PointingHandCursor)

    def set_value(self, level: str, count: int) -> None:
        self._level, self._count = level, count
        self.setFixedSize(badge_size(count))
        self.update()

    def paintEvent(self, event: QPaintEvent) -> None:
        paint_badge(QPainter(self), QRectF(self.rect()), self._level, self._count)

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        if event.button() is Qt.MouseButton.LeftButton:
            self.clicked.emit()
