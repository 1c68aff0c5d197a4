"""The Timeline's toolbar: what is drawn, which states stand out, what is looked for, which rows are shown."""

from collections.abc import Iterator
from functools import partial

from PySide6.QtCore import QEvent, QObject, QSize, QTimer
from PySide6.QtGui import QAction, QResizeEvent
from PySide6.QtWidgets import QMenu, QWidget

from workbench.api.window import set_ground
from workbench.gui.modes.timeline.finding import FindField
from workbench.gui.widgets import IconButton, PillButton, SignField, rule
from workbench.gui.widgets.boxes import row_layout
from workbench.gui.widgets.buttons import swatch_icon
from workbench.model.pragma import Category
from workbench.session.program.keys import with_key

#: What a field has with all its text, with less of it, where room is short, and for its sign alone; and how far apart
#: buttons are then.
_FIELD_PX, _APART_PX = (150, 84, 84, 34), (6, 6, 1, 1)
#: From the widest on: the states (named, by their colours, in a menu, in one that has a sign alone), the flags (icon
#: and name, name, short name, icon), and the number of the room above.
_STEPS = (
    ("named", "all", 0), ("colours", "all", 0), ("menu", "all", 0), ("menu", "all", 1), ("menu", "names", 1),
    ("menu", "names", 2), ("menu", "short", 2), ("menu", "icons", 2),
    ("sign", "icons", 3),
)  # fmt: skip
_SHORT = {"Critical path": "Path"}
_MARGIN_PX = 16


class TimelineToolbar(QWidget):
    """Where there is no room for all, the states' names go first, then the states are in a menu; then the others lose
    their icons, and last their names."""

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
        row.addSpacing(3)
        row.addWidget(rule(vertical=True))
        row.addSpacing(3)
        for pill in self.states.values():
            row.addWidget(pill)
        self.states_button = self._make_states_button()
        row.addWidget(self.states_button)
        row.addStretch(1)
        for widget in (self.finder, self.filter, self.lists):
            row.addWidget(widget)
        for pill in (*self._flags, *self.states.values()):
            pill.setAccessibleName(pill.text())
        for field in (self.finder, self.filter):
            field.installEventFilter(self)
            field.textChanged.connect(self._fit)

    def flags(self) -> Iterator[PillButton]:
        """What is drawn beside the rows, each on or off."""
        yield from (self.path, self.waits, self.messages, self.markers, self.aggregate)

    def minimumSizeHint(self) -> QSize:
        """The names give way to the panels beside the mode, not these to the names."""
        return QSize(0, self.height())

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._fit()

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """A field has more room while one types in it."""
        if event.type() in (QEvent.Type.FocusIn, QEvent.Type.FocusOut):
            QTimer.singleShot(0, self, self._fit)
        return False

    def _fit(self) -> None:
        wide = self.width()  # now: what is shown or hidden can lay out the window
        for states, flags, room in _STEPS:
            self._write(states, flags, room)
            if self._row.minimumSize().width() <= wide:
                break

    def _write(self, states: str, flags: str, room: int) -> None:
        for kind, pill in self.states.items():
            pill.setText(kind.value if states == "named" else "")
            pill.setVisible(states in ("named", "colours"))
        self.states_button.setVisible(states in ("menu", "sign"))
        self.states_button.setText("States" if states == "menu" else "")
        self.states_button.show_icon(states == "sign")
        self.states_button.setMinimumWidth(self.states_button.sizeHint().width())  # its arrow, too
        for pill, text in self._flags.items():
            pill.setText("" if flags == "icons" else _SHORT.get(text, text) if flags == "short" else text)
            pill.show_icon(flags in ("all", "icons"))
        for field in (self.finder, self.filter):
            in_use = field.hasFocus() or bool(field.text())
            field.setMinimumWidth(_FIELD_PX[0] if in_use else _FIELD_PX[room])
        self._row.setSpacing(_APART_PX[room])
        self._row.invalidate()

    def _make_states_button(self) -> PillButton:
        """Stands for the states where there is no room for them: a menu of them, with their names."""
        button, menu = PillButton("States", icon_name="layers"), QMenu(self)
        button.setAccessibleName("States")
        button.setToolTip("The colours of states; choose those to highlight")
        for kind, pill in self.states.items():
            action = menu.addAction(kind.value)
            action.setIcon(swatch_icon(kind))
            action.setCheckable(True)
            action.toggled.connect(pill.setChecked)
            action.toggled.connect(partial(_say_on, action, kind.value))
            pill.toggled.connect(action.setChecked)
            pill.toggled.connect(lambda: button.setChecked(any(one.isChecked() for one in self.states.values())))
        button.setMenu(menu)
        return button


def _say_on(action: QAction, name: str, on: bool) -> None:
    """Beside an icon the menu has no room for a tick."""
    action.setText(f"{name}\ton" if on else name)


def _pill(text: str, icon: str, tip: str, command: str = "", *, on: bool = False) -> PillButton:
    pill = PillButton(text, icon_name=icon, checked=on)
    pill.setToolTip(with_key(tip, command) if command else tip)
    return pill
