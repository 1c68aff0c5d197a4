"""Where the keyboard is: in the mode shown, unless a person put it elsewhere; never nowhere."""

from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QApplication, QWidget


def first_focusable(panel: QWidget) -> QWidget | None:
    """The first widget of a panel that Tab would reach."""
    for widget in panel.findChildren(QWidget):
        if widget.isVisible() and widget.isEnabled() and widget.focusPolicy() & Qt.FocusPolicy.TabFocus:
            return widget
    return None


def focus_inside(panel: QWidget) -> None:
    """Put the focus on what stands for a panel (its `focusProxy`), or else on the first part that takes it."""
    home: QWidget | None = panel
    while home is not None and home.focusProxy() is not None:
        home = home.focusProxy()
    if home is panel or home is None or not (home.isVisible() and home.isEnabled()):
        home = first_focusable(panel)
    if home is not None:
        home.setFocus(Qt.FocusReason.OtherFocusReason)


def is_nowhere(window: QWidget) -> bool:
    """Whether the window has the keyboard and nothing in it takes the keys."""
    return window.isActiveWindow() and QApplication.focusWidget() is None and QApplication.activePopupWidget() is None
