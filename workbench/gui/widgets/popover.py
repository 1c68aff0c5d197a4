"""A box that floats over the window beside what it is about. Esc or a click elsewhere closes it; nothing is blocked."""

from collections.abc import Callable

from PySide6.QtCore import QEvent, QObject, QPoint, QPointF, QRectF, Qt, Signal
from PySide6.QtGui import QColor, QKeyEvent, QMouseEvent, QPainter, QPainterPath, QPaintEvent, QResizeEvent
from PySide6.QtWidgets import QApplication, QWidget
from shiboken6 import isValid

from workbench.gui.look import theme

MARGIN_PX = 12  # for shadow and arrow, on every side


class Popover(QWidget):
    """Put the content into a layout with `MARGIN_PX` plus its own margins. The parent is what it floats over."""

    closed = Signal()

    def __init__(self, parent: QWidget) -> None:
        super().__init__(parent)
        self._over = parent
        self._arrow: QPoint | None = None
        self._where: Callable[[], QPoint] | None = None
        self._focus_before: QWidget | None = None
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.hide()

    def open_at(self, corner: QPoint, arrow: QPoint | None = None) -> None:
        """Show with the box's top left at `corner` (of the parent), moved inside it; the arrow points at `arrow`.

        The keyboard is in the box while it is open, and where it was before when it closes.
        """
        self._where = None
        self._place(corner)
        self._arrow = arrow - self.pos() if arrow is not None else None
        if not self.isVisible():
            self._focus_before = QApplication.focusWidget()
            QApplication.instance().installEventFilter(self)  # type: ignore[union-attr]
        self.show()
        self.raise_()
        self.setFocus(Qt.FocusReason.PopupFocusReason)

    def open_where(self, where: Callable[[], QPoint]) -> None:
        """Show at a corner that depends on the size of the box and the parent, and follow it when that changes."""
        self.adjustSize()
        self.open_at(where())
        self._where = where
        self._move(where())  # shown, it may be larger

    def _place(self, corner: QPoint) -> None:
        self.adjustSize()
        self._move(corner)

    def _move(self, corner: QPoint) -> None:
        parent = self._over
        x = min(corner.x() - MARGIN_PX, parent.width() - self.width() + MARGIN_PX - 4)
        y = min(corner.y() - MARGIN_PX, parent.height() - self.height() + MARGIN_PX - 4)
        self.move(max(x, -MARGIN_PX + 4), max(y, -MARGIN_PX + 4))

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        if self._where is not None:
            self._move(self._where())

    def follow(self) -> None:
        """Take the size of what is shown and stay in place, where it was opened or follows the parent."""
        self.adjustSize()
        self._place(self._where() if self._where is not None else self.pos() + QPoint(MARGIN_PX, MARGIN_PX))

    def close_it(self) -> None:
        if self.isVisible():
            QApplication.instance().removeEventFilter(self)  # type: ignore[union-attr]
            before, self._focus_before = self._focus_before, None
            focus = QApplication.focusWidget()
            had_focus = focus is not None and (focus is self or self.isAncestorOf(focus))
            self.hide()
            if had_focus and before is not None and isValid(before) and before.isVisible():
                before.setFocus(Qt.FocusReason.PopupFocusReason)
            self.closed.emit()

    def focusNextPrevChild(self, next: bool) -> bool:
        """Tab goes round within the box."""
        chain: list[QWidget] = [self]
        while (widget := chain[-1].nextInFocusChain()) is not None and widget is not self:
            chain.append(widget)
        focus = QApplication.focusWidget()
        stops = [one for one in chain if one is focus or self._takes_tab(one)]
        if focus not in stops or len(stops) < 2:
            return super().focusNextPrevChild(next)
        reason = Qt.FocusReason.TabFocusReason if next else Qt.FocusReason.BacktabFocusReason
        stops[(stops.index(focus) + (1 if next else -1)) % len(stops)].setFocus(reason)
        return True

    def _takes_tab(self, widget: QWidget) -> bool:
        tabbed = bool(widget.focusPolicy().value & Qt.FocusPolicy.TabFocus.value) and widget.focusProxy() is None
        return tabbed and widget is not self and self.isAncestorOf(widget) and widget.isVisible() and widget.isEnabled()

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        kind = event.type()
        if kind in (QEvent.Type.ShortcutOverride, QEvent.Type.KeyPress) and isinstance(event, QKeyEvent):
            own = isinstance(watched, QWidget) and watched.window() is self.window()
            if own and event.key() == Qt.Key.Key_Escape and QApplication.activePopupWidget() is None:
                event.accept()  # whatever has the focus, Escape closes what floats first
                if kind == QEvent.Type.KeyPress:
                    self.close_it()
                return True
        if kind == QEvent.Type.Resize and watched is self._over:
            self.follow()
        if event.type() == QEvent.Type.MouseButtonPress and isinstance(event, QMouseEvent):
            inside = self.rect().contains(self.mapFromGlobal(event.globalPosition().toPoint()))
            if not inside and QApplication.activePopupWidget() is None and isinstance(watched, QWidget):
                self.close_it()
        return False

    def paintEvent(self, event: QPaintEvent) -> None:
        with QPainter(self) as painter:
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
