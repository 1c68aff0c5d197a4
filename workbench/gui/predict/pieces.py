"""Small pieces that the pages of Predict mode are put together from."""

from __future__ import annotations

from PySide6.QtCore import QSize
from PySide6.QtWidgets import QHBoxLayout, QLineEdit, QVBoxLayout, QWidget

from workbench.gui import theme
from workbench.gui.platform.form import StillCombo
from workbench.gui.widgets import label


def panel(least_px: int = 0) -> tuple[QWidget, QVBoxLayout]:
    """A plain panel and its column, without margins."""
    made = QWidget()
    theme.set_ground(made, "panel")
    if least_px:
        made.setMinimumSize(QSize(least_px, 100))
    column = QVBoxLayout(made)
    column.setContentsMargins(0, 0, 0, 0)
    column.setSpacing(0)
    return made, column


def padded(widget: QWidget) -> QWidget:
    """A plot with some air around it."""
    holder, column = panel()
    column.setContentsMargins(12, 8, 12, 6)
    column.addWidget(widget)
    return holder


def note(text: str) -> QWidget:
    """A line said above a page, on a sunken ground."""
    made = QWidget()
    theme.set_ground(made, "sunken")
    row = QHBoxLayout(made)
    row.setContentsMargins(20, 6, 16, 6)
    row.addWidget(label(text, "smallsecond", wrap=True), 1)
    return made


def combo(width: int) -> StillCombo:
    made = StillCombo()
    made.setMinimumWidth(width)
    made.setMaximumWidth(width + 60)
    return made


def field(width: int) -> QLineEdit:
    line = QLineEdit()
    line.setProperty("role", "code")
    line.setFixedWidth(width)
    return line


def fill(box: StillCombo, items: dict[str, str], first: str, fresh: bool) -> None:
    """Fill a combo box with texts and what they stand for, keeping what was chosen where it is still there."""
    kept = first if fresh else box.currentData()
    box.clear()
    for text, data in items.items():
        box.addItem(text, data)
    at = box.findData(kept)
    box.setCurrentIndex(at if at >= 0 else max(box.findData(first), 0))
