"""A pointer over a widget, no button held. QTest moves the screen's own, which another window may be under."""

from PySide6.QtCore import QEvent, QPoint, QPointF, Qt
from PySide6.QtGui import QMouseEvent
from PySide6.QtWidgets import QApplication, QWidget


def hover(widget: QWidget, at: QPoint) -> None:
    none = Qt.MouseButton.NoButton
    there = QPointF(at), QPointF(widget.mapToGlobal(at))
    event = QMouseEvent(QEvent.Type.MouseMove, *there, none, none, Qt.KeyboardModifier.NoModifier)
    QApplication.sendEvent(widget, event)
