"""The Timeline's toolbar: what is drawn, which states stand out, what is looked for, which rows are shown."""

from collections.abc import Iterator

from PySide6.QtCore import QSize
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QWidget

from workbench.api.window import set_ground
from workbench.gui.modes.timeline.finding import FindField
from workbench.gui.widgets import IconButton, PillButton, SignField, rule
from workbench.gui.widgets.boxes import row_layout
from workbench.model.pragma import Category
from workbench.session.program.keys import with_key

#: What a field has with all its text, with less of it, and where room is short; and how far apart buttons are then.
_FIELD_PX, _APART_PX = (150, 84, 84), (6, 6, 2)
_MARGIN_PX = 16


class TimelineToolbar(QWidget):
    """Where there is no room for all, the states' names go first, then the states; then the others lose their icons,
    and last their names."""

    def __init__(self, finder: FindField) -> None:
        super().__init__()
        set_ground(self, "panel")
        self.setFixedHeight(40)
        self.finder = finder
        self.path = _pill(
            "Critical path", "trending-up", "The chain that ends the run, and the slack of all else", "view_path"
        )
        self.waits = _pill("Causes", "hourglass", "Arrows from each cause to what waited for it", "view_waits")
        self.messages = _pill("Messages", "arrow-left-right", "Draw the messages of the chosen calls", on=True)
        self.markers = _pill("Markers", "ruler", "Show markers, and dim what is outside of A to B", on=True)
        self.aggregate = _pill(
            "Shares", "chart-area", "The share of each state over time, replicas together", "view_aggregate"
        )
        self.states = {kind: PillButton(kind.value, category=kind, swatch=True) for kind in Category}
        for kind, pill in self.states.items():
            pill.setToolTip(f"Highlight {kind.value}; several can be chosen")
        self.filter = SignField("funnel", "Filter rows", "Filter")
        self.filter.setMaximumWidth(180)
        self.lists = IconButton("table-2", with_key("Hits, statistics, markers", "view_lists"))
        self.lists.setCheckable(True)
        self._flags = {pill: pill.text() for pill in self.flags()}
        self._row = row = row_layout(*self.flags(), of=self, margins=(_MARGIN_PX, 0, 8, 0), spacing=6)
        row.addSpacing(6)
        row.addWidget(rule(vertical=True))
        row.addSpacing(6)
        for pill in self.states.values():
            row.addWidget(pill)
        row.addStretch(1)
        for widget in (self.finder, self.filter, self.lists):
            row.addWidget(widget)
        for pill in (*self._flags, *self.states.values()):
            pill.setAccessibleName(pill.text())

    def flags(self) -> Iterator[PillButton]:
        """What is drawn beside the rows, each on or off."""
        yield from (self.path, self.waits, self.messages, self.markers, self.aggregate)

    def minimumSizeHint(self) -> QSize:
        """The names give way to the panels beside the mode, not these to the names."""
        return QSize(0, self.height())

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        for named, room in ((4, 0), (3, 0), (3, 1), (2, 1), (2, 2), (1, 2), (0, 2)):
            self._write(named, room)
            if self._row.minimumSize().width() <= event.size().width():
                break

    def _write(self, named: int, room: int) -> None:
        """`named`: 4 with all names, 3 without the states', 2 without states, 1 without icons, 0 with icons alone."""
        for kind, pill in self.states.items():
            pill.setText(kind.value if named > 3 else "")
            pill.setVisible(named > 2)
        for pill, text in self._flags.items():
            pill.setText(text if named else "")
            pill.show_icon(named != 1)
        for field in (self.finder, self.filter):
            field.setMinimumWidth(_FIELD_PX[room])
        self._row.setSpacing(_APART_PX[room])
        self._row.invalidate()


def _pill(text: str, icon: str, tip: str, command: str = "", *, on: bool = False) -> PillButton:
    pill = PillButton(text, icon_name=icon, checked=on)
    pill.setToolTip(with_key(tip, command) if command else tip)
    return pill
