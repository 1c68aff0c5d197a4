"""Controls that have no name for a screen reader."""

from collections.abc import Iterator

from PySide6.QtCore import Qt
from PySide6.QtGui import QAccessible
from PySide6.QtWidgets import (
    QAbstractButton,
    QAbstractItemView,
    QAbstractScrollArea,
    QAbstractSpinBox,
    QComboBox,
    QHeaderView,
    QLineEdit,
    QPlainTextEdit,
    QTabBar,
    QTextEdit,
    QWidget,
)

CONTROLS = (
    QAbstractButton,
    QLineEdit,
    QComboBox,
    QAbstractSpinBox,
    QAbstractItemView,
    QPlainTextEdit,
    QTextEdit,
    QTabBar,
)


def is_inside_another(widget: QWidget) -> bool:
    """Whether it is a part of a control that has the name: a combo box's list, a view's head or viewport."""
    parent = widget.parentWidget()
    if isinstance(widget, QHeaderView) or (isinstance(parent, QAbstractScrollArea) and parent.viewport() is widget):
        return True
    while parent is not None:
        if isinstance(parent, QComboBox | QAbstractSpinBox):
            return True
        parent = parent.parentWidget()
    return widget.objectName().startswith("qt_")


def controls(root: QWidget) -> Iterator[QWidget]:
    """All that is shown and can be given the keyboard, or clicked."""
    for widget in root.findChildren(QWidget):
        tabbed = bool(widget.focusPolicy().value & Qt.FocusPolicy.TabFocus.value)
        if widget.isVisible() and (tabbed or isinstance(widget, CONTROLS)) and not is_inside_another(widget):
            yield widget


def nameless(root: QWidget) -> list[str]:
    """What has no name, each with what it is in."""
    found = []
    for widget in controls(root):
        interface = QAccessible.queryAccessibleInterface(widget)
        if interface is None or not interface.text(QAccessible.Text.Name).strip():
            kinds: list[str] = []
            at: QWidget | None = widget
            while at is not None and len(kinds) < 4:
                kinds.append(type(at).__name__)
                at = at.parentWidget()
            found.append(" in ".join(kinds))
    return found
