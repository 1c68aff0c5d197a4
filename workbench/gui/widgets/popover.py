"""A box that floats over the window beside what it is about. Esc or a click elsewhere closes it; nothing is blocked."""

from __future__ import annotations

from PySide6.QtCore import QEvent, QObject, QPoint, QPointF, QRectF, Qt, Signal
from PySide6.QtGui import QColor, QKeyEvent, QMouseEvent, QPainter, QPainterPath, QPaintEvent
from PySide6.QtWidgets import QApplication, QWidget

from workbench.gui import theme

MARGIN_PX = 12  # for shadow and arrow, on every side


class Popover(QWidget):
    """Put the content into a layout with `MARGIN_PX` plus its own margins. The parent is what it floats over."""

    closed = Signal()

    def __init__(self, parent: QWidget) -> None:
        super().__init__(parent)
        self._over = parent
        self._arrow: QPoint | None = None
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.hide()

    def open_at(self, corner: QPoint, arrow: QPoint | None = None) -> None:
        """Show with the box's top left at `corner` (of the parent), moved inside it; the arrow points at `arrow`."""
        self._arrow = None
        self.adjustSize()
        parent = self._over
        x = min(corner.x() - MARGIN_PX, parent.width() - self.width() + MARGIN_PX - 4)
        y = min(corner.y() - MARGIN_PX, parent.height() - self.height() + MARGIN_PX - 4)
        self.move(max(x, -MARGIN_PX + 4), max(y, -MARGIN_PX + 4))
        if arrow is not None:
            self._arrow = arrow - self.pos()
        self.show()
        self.raise_()
        QApplication.instance().installEventFilter(self)  # type: ignore[union-attr]

    def close_it(self) -> None:
        if self.isVisible():
            QApplication.instance().removeEventFilter(self)  # type: ignore[union-attr]
            self.hide()
            self.closed.emit()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() == Qt.Key.Key_Escape:
            self.close_it()
        else:
            super().keyPressEvent(event)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if event.type() == QEvent.Type.MouseButtonPress and isinstance(event, QMouseEvent):
            inside = self.rect().contains(self.mapFromGlobal(event.globalPosition().toPoint()))
            if not inside and QApplication.activePopupWidget() is None and isinstance(watched, QWidget):
                self.close_it()
        return False

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        p = theme.palette()
        box = QRectF(self.rect()).adjusted(MARGIN_PX, MARGIN_PX, -MARGIN_PX, -MARGIN_PX)
        painter.setPen(Qt.PenStyle.NoPen)
        for step in range(6):
            painter.setBrush(QColor(0, 0, 0, 5 if not p.dark else 12))
            grow = 8 - step * 1.4
            painter.drawRoundedRect(box.adjusted(-grow, -grow + 3, grow, grow + 3), 8 + grow, 8 + grow)
        path = QPainterPath()
        path.addRoundedRect(box.adjusted(0.5, 0.5, -0.5, -0.5), 8, 8)
        if self._arrow is not None and self._arrow.x() < box.left():
            y = min(max(float(self._arrow.y()), box.top() + 16), box.bottom() - 16)
            left = box.left() + 0.5
            tip = QPainterPath(QPointF(left + 1, y - 8))
            tip.lineTo(QPointF(left - 8, y))
            tip.lineTo(QPointF(left + 1, y + 8))
            tip.closeSubpath()
            path = path.united(tip)
        painter.setPen(QColor(p.edge))
        painter.setBrush(QColor(p.raised))
        painter.drawPath(path)
