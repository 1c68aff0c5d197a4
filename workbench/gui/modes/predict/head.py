"""The head of Predict's middle: a model's title, how it is read, its pages, and what can be done with it."""

from collections.abc import Sequence

from PySide6.QtCore import Signal
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QHBoxLayout, QWidget

from workbench.gui.modes.forms.field_row import StillCombo
from workbench.gui.widgets import PanelHeader, PillButton, plain_column
from workbench.gui.widgets.boxes import row_layout

#: Where the middle is narrower, title, reading, pages and buttons have no room in one row.
ONE_ROW_PX = 900


class ModelHead(QWidget):
    """The pages are beside the title, or below it where there is little room, and `after` with them. `page_chosen`
    carries one's name, `width_changed` pixels."""

    page_chosen = Signal(str)
    width_changed = Signal(int)

    def __init__(self, pages: Sequence[str], after: QWidget, buttons: Sequence[QWidget]) -> None:
        super().__init__()
        self.header = PanelHeader("")
        self.reading = StillCombo()
        self.reading.setAccessibleName("Reading")
        self.reading.setToolTip("Choose a reading where the source is ambiguous")
        self.reading.setMinimumWidth(104)
        self.pills: dict[str, PillButton] = {}
        self._pages, pills = _row()
        for page in pages:
            pill = PillButton(page, checked=page == pages[0])
            pill.setAutoExclusive(True)
            pill.clicked.connect(lambda checked=False, page=page: self.page_chosen.emit(page))
            pills.addWidget(pill)
            self.pills[page] = pill
        pills.addWidget(after)
        beside, self._beside = _row()
        self._beside.addWidget(self._pages)
        for widget in (self.reading, beside, *buttons):
            self.header.add(widget)
        self._bar, self._below = _row()
        self._below.setContentsMargins(16, 6, 16, 6)
        self._below.addStretch(1)
        self._bar.hide()
        plain_column(self, self.header, self._bar)

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        if event.size().width() != event.oldSize().width():
            narrow = self.width() < ONE_ROW_PX
            (self._below if narrow else self._beside).insertWidget(0, self._pages)
            self._bar.setVisible(narrow)
            self.width_changed.emit(self.width())


def _row() -> tuple[QWidget, QHBoxLayout]:
    widget = QWidget()
    row = row_layout(of=widget, margins=(0, 0, 0, 0), spacing=8)
    return widget, row
