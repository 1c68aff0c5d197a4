"""Below the timeline: what is found, the statistics of the range, the markers; each row leads to its place."""

from collections.abc import Sequence
from functools import partial

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import QMenu, QStackedWidget, QWidget

from workbench.api.views import Column, Table
from workbench.api.window import set_ground
from workbench.gui.widgets import ElidedLabel, IconButton, PillButton, plain_column, rule
from workbench.gui.widgets.boxes import row_layout
from workbench.gui.widgets.table_view import TableView
from workbench.model.finding import Place
from workbench.model.pragma import Category
from workbench.model.run import PS_PER_S
from workbench.model.text import count_text, percent_text, time_text
from workbench.pictures.timeline.raster import category
from workbench.pictures.timeline.scale import exact_time
from workbench.traces.find import Hits, Occurrence, name_of
from workbench.traces.markers import Marker
from workbench.traces.scene import Scene
from workbench.traces.state_table import StateRow

FOUND, STATISTICS, MARKERS = range(3)
ROW_PX = 26
_TIME_PX = 132


class TimelineLists(QWidget):
    """`place_wanted` carries an Occurrence, `state_wanted` a StateRow, `marker_wanted` a Marker; `turned` says that
    another list is shown."""

    place_wanted = Signal(object)
    state_wanted = Signal(object)
    marker_wanted = Signal(object)
    rename_wanted = Signal(object)
    removed = Signal(object)
    turned = Signal()
    closed = Signal()
    left = Signal()

    def __init__(self) -> None:
        super().__init__()
        set_ground(self, "panel")
        self.setMinimumHeight(110)
        self.tabs = [PillButton(name) for name in ("Found", "Statistics", "Markers")]
        self.said = ElidedLabel("", "small")
        shut = IconButton("x", "Close the lists", on=self.closed.emit)
        head = row_layout(*self.tabs, (self.said, 1), shut, margins=(16, 6, 8, 6), spacing=6)
        self.found = TableView(found_table(None, None), row_px=ROW_PX)
        self.statistics = TableView(state_table(None, ()), row_px=ROW_PX)
        self.markers = _MarkerView(marker_table(()), row_px=ROW_PX)
        self.markers.opened.connect(self.rename_wanted.emit)
        self.markers.rename_wanted.connect(self.rename_wanted.emit)
        self.markers.removed.connect(self.removed.emit)
        self._pages = QStackedWidget()
        for number, (view, wanted) in enumerate(
            ((self.found, self.place_wanted), (self.statistics, self.state_wanted), (self.markers, self.marker_wanted))
        ):
            self._pages.addWidget(view)
            view.chosen.connect(wanted.emit)
            self.tabs[number].clicked.connect(partial(self.turn_to, number))
        plain_column(self, rule(), head, rule(), (self._pages, 1))
        self.scene: Scene | None = None
        self._notes = ["", "", ""]
        self.turn_to(FOUND)

    @property
    def page(self) -> int:
        return self._pages.currentIndex()

    def turn_to(self, page: int) -> None:
        self._pages.setCurrentIndex(page)
        for number, tab in enumerate(self.tabs):
            tab.setChecked(number == page)
        self._say()
        self.turned.emit()

    def _say(self, page: int = -1, note: str = "") -> None:
        if page >= 0:
            self._notes[page] = note
        self.said.setText(self._notes[self.page])

    def show_found(self, hits: Hits | None) -> None:
        self.found.show_table(found_table(self.scene, hits))
        self.tabs[FOUND].setText(f"Found {count_text(hits.count)}" if hits is not None else "Found")
        note = "Type in the field at the top right: the name of a state, a call or a block"
        if hits is not None:
            listed = f"the first {count_text(len(hits))} of them" if len(hits) < hits.count else "in order of time"
            note = listed if hits.count else "No visible row has a state or call of that name"
        self._say(FOUND, note)

    def show_statistics(self, rows: Sequence[StateRow], note: str) -> None:
        self.statistics.show_table(state_table(self.scene, rows))
        self._say(STATISTICS, note)

    def show_markers(self, markers: Sequence[Marker]) -> None:
        self.markers.show_table(marker_table(markers))
        self.tabs[MARKERS].setText(f"Markers {len(markers)}" if markers else "Markers")
        self._say(MARKERS, "" if markers else "B sets a marker at the pointer and asks for its name")

    def focus_list(self) -> None:
        (self.found, self.statistics, self.markers)[self.page].setFocus()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() == Qt.Key.Key_Escape:
            self.left.emit()
        else:
            super().keyPressEvent(event)


class _MarkerView(TableView):
    rename_wanted = Signal(object)
    removed = Signal(object)

    def fill_menu(self, menu: QMenu, row: Marker) -> None:
        menu.addAction("Rename\tEnter", lambda: self.rename_wanted.emit(row))
        menu.addAction("Delete\tDel", lambda: self.removed.emit(row))

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() == Qt.Key.Key_Delete and self.current is not None:
            self.removed.emit(self.current)
        else:
            super().keyPressEvent(event)


def found_table(scene: Scene | None, hits: Hits | None) -> Table:
    """All hits that are kept, in order; a row is an Occurrence."""
    rows = [hits.place(number) for number in range(len(hits))] if hits is not None and scene is not None else []
    step = scene.index.end_ps / 1e9 if scene else 1.0
    ends = dict(zip(rows, hits.rows[:, 3].tolist(), strict=True)) if hits is not None and rows else {}

    def block(row: Occurrence) -> str:
        return scene.names[row.block] if scene else ""

    def lasts_s(row: Occurrence) -> float:
        return (ends[row] - row.time_ps) / PS_PER_S

    def place(row: Occurrence) -> Place | None:
        if scene is None or row.call < 0:
            return None
        site = scene.run.manifest.sites[scene.calls[row.block].site[row.call]]
        return Place(site.file, site.line)

    columns = (
        Column("Time", lambda row: exact_time(row.time_ps, step), _TIME_PX, right=True, key=lambda row: row.time_ps),
        Column("Block", block, share=0.4, key=block),
        Column("State or call", lambda row: name_of(scene, row) if scene else "", share=0.6),
        Column("Lasts", lambda row: time_text(lasts_s(row)), 96, right=True, key=lasts_s),
    )
    return Table("Hits in the timeline", columns, rows, place=place)


def state_table(scene: Scene | None, rows: Sequence[StateRow]) -> Table:
    """The states of every block in a range."""

    def block(row: StateRow) -> str:
        return scene.names[row.block] if scene else ""

    def time_column(head: str, tip: str, of: str) -> Column:
        def value(row: StateRow) -> float:
            return float(getattr(row, of)) / PS_PER_S

        return Column(head, lambda row: time_text(value(row)), 84, right=True, key=value, tip=tip)

    def drawn(row: StateRow) -> Category | None:
        return category(int(scene.index.trace.codes[row.block][row.state.index])) if scene else None

    def place(row: StateRow) -> Place | None:
        return Place(row.state.file, row.state.line) if row.state.file and row.state.line else None

    columns = (
        Column("Block", block, share=0.5, key=block),
        Column("State", lambda row: row.state.name, share=0.5, key=lambda row: row.state.name, category=drawn),
        Column("Share", lambda row: percent_text(row.share), 70, right=True, key=lambda row: row.share),
        time_column("Time", "In this state in the range", "time_ps"),
        Column("Visits", lambda row: count_text(row.visits), 84, right=True, key=lambda row: row.visits),
        time_column("Mean", "Mean length of a visit", "mean_ps"),
        time_column("Median", "Half of the visits are no longer", "median_ps"),
        time_column("95 %", "95 % of the visits are no longer", "p95_ps"),
        time_column("Longest", "The longest visit", "most_ps"),
        time_column("Shortest", "The shortest visit", "least_ps"),
    )
    return Table("Statistics of the range", columns, rows, place=place)


def marker_table(markers: Sequence[Marker]) -> Table:
    """Markers in order of time, each with the time since the one before."""
    before = dict(zip(markers[1:], markers, strict=False))

    def since_s(row: Marker) -> float:
        return (row.time_ps - before[row].time_ps) / PS_PER_S if row in before else 0.0

    columns = (
        Column("Marker", lambda row: row.name, share=1.0, key=lambda row: row.name),
        Column("Time", lambda row: exact_time(row.time_ps), _TIME_PX + 60, right=True, key=lambda row: row.time_ps),
        Column("Since the previous", lambda row: time_text(since_s(row), 4) if row in before else "", 160, right=True,
               key=since_s),
    )  # fmt: skip
    return Table("Markers", columns, markers)
