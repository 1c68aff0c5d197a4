"""Keeps the keyboard focus in the visible mode, unless the user moved it elsewhere."""

from PySide6.QtCore import Qt
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import QAbstractButton, QApplication, QWidget


def first_focusable(panel: QWidget) -> QWidget | None:
    """The first widget of a panel that Tab would reach."""
    for widget in panel.findChildren(QWidget):
        if widget.isVisible() and widget.isEnabled() and widget.focusPolicy() & Qt.FocusPolicy.TabFocus:
            return widget
    return None


def home_of(panel: QWidget) -> QWidget | None:
    """What represents a panel (its `focusProxy`), or else its first part that takes the focus."""
    home = panel
    while (proxy := home.focusProxy()) is not None:
        home = proxy
    return home if home is not panel and home.isVisible() and home.isEnabled() else first_focusable(panel)


def focus_inside(panel: QWidget) -> None:
    """Put the focus where a panel takes it."""
    if (home := home_of(panel)) is not None:
        home.setFocus(Qt.FocusReason.OtherFocusReason)


def focus_is_in(panel: QWidget) -> bool:
    focus = QApplication.focusWidget()
    return focus is not None and (focus is panel or panel.isAncestorOf(focus))


def is_nowhere(window: QWidget) -> bool:
    """Whether the window has the keyboard and nothing in it takes the keys."""
    return window.isActiveWindow() and QApplication.focusWidget() is None and QApplication.activePopupWidget() is None


def press_focused(event: QKeyEvent) -> bool:
    """Press the button that has the focus, if the key is Enter and no part of the window took it."""
    button = QApplication.focusWidget()
    enter = event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter) and not event.isAutoRepeat()
    if not (enter and isinstance(button, QAbstractButton)):
        return False
    button.click()
    return True
