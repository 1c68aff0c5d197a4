"""Small widgets that the pages of Predict mode share."""

from collections.abc import Callable

from PySide6.QtWidgets import QLineEdit, QWidget

from workbench.gui.modes.forms.field_row import StillCombo
from workbench.gui.widgets import plain_panel
from workbench.model.text import NARROW, thousands
from workbench.predict.inputs import number

_ARROW_PX = 46  # beside the text of a combo box


def padded(widget: QWidget) -> QWidget:
    """A plot with some air around it."""
    holder, column = plain_panel()
    column.setContentsMargins(12, 8, 12, 6)
    column.addWidget(widget)
    return holder


def combo(width: int, name: str, chosen: Callable[[], None] = lambda: None) -> StillCombo:
    combo = StillCombo()
    combo.setAccessibleName(name)
    combo.activated.connect(lambda: chosen())
    combo.setMinimumWidth(width)
    combo.setMaximumWidth(width + 60)
    return combo


def bound(box: StillCombo, least_px: int, most_px: int) -> None:
    """Make a combo box as wide as the text chosen needs, within bounds; a text that is cut stands in the tooltip."""
    wanted_px = box.fontMetrics().horizontalAdvance(box.currentText()) + _ARROW_PX
    box.setFixedWidth(min(max(wanted_px, least_px), most_px))
    box.setToolTip(box.currentText() if wanted_px > most_px else "")


def field(width: int, name: str) -> QLineEdit:
    line = QLineEdit()
    line.setAccessibleName(name)
    line.setProperty("role", "code")
    line.setFixedWidth(width)
    return line


def fill(box: StillCombo, items: dict[str, str], first: str, fresh: bool) -> None:
    """Fill a combo box with texts and what they represent, keeping what was chosen where it is still there."""
    kept = first if fresh else box.currentData()
    box.clear()
    for text, data in items.items():
        box.addItem(text, data)
    at = box.findData(kept)
    box.setCurrentIndex(at if at >= 0 else max(box.findData(first), 0))


def typed_number(value: float) -> str:
    """A number without a unit as one types it: `134 217 728`, `0.018`, `6.25e+09`."""
    return thousands(int(value)).replace(NARROW, " ") if value == int(value) and abs(value) < 1e9 else f"{value:.6g}"


def read_number(text: str, unit: str) -> float:
    """What a field says, in its unit or, without one, with spaces between thousands."""
    return number(text if unit else text.replace(NARROW, "").replace(" ", ""), unit)
