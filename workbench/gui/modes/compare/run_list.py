"""A box with the runs of a project, what differs between them, and how long each took: to choose one, or to tick
several."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from PySide6.QtCore import QModelIndex, QPoint, QRectF, Qt, Signal
from PySide6.QtGui import QColor, QKeyEvent, QPainter, QPen
from PySide6.QtWidgets import QWidget

from workbench.analysis.compare_many import MOST_RUNS, Value, different_values, value_text
from workbench.api.window import palette
from workbench.formats.run_folder import manifest_in
from workbench.gui.frame.naming import folder_title
from workbench.gui.look.icons import draw_icon
from workbench.gui.widgets import Button, label
from workbench.gui.widgets.boxes import STRETCH, column_layout, row_layout
from workbench.gui.widgets.popover import MARGIN_PX, Popover
from workbench.gui.widgets.row_view import EDGE_PX, HEAD_PX, RowView
from workbench.gui.widgets.rows import Column
from workbench.model.diagnostic import WorkbenchError
from workbench.model.run import PS_PER_S, Manifest
from workbench.model.text import time_text

MOST_DIFFERENT = 3  # values that have a column of their own
WIDE_PX, MOST_ROWS = 640, 14  # of the box, and of the rows that are shown at once
_BOX_PX = 15  # of a tick


@dataclass(frozen=True)
class ListedRun:
    """A run folder with its values of what differs between all of them."""

    path: Path
    manifest: Manifest
    values: Mapping[str, Value]


def read_listed(paths: Sequence[Path]) -> tuple[ListedRun, ...]:
    """The runs of these folders, the newest first, without those that cannot be read."""
    found: dict[Path, Manifest] = {}
    for path in paths:
        try:
            found[path] = manifest_in(path)
        except WorkbenchError:
            continue
    values = different_values(list(found.values()))
    runs = [ListedRun(path, manifest, own) for (path, manifest), own in zip(found.items(), values, strict=True)]
    return tuple(sorted(runs, key=lambda run: run.manifest.created, reverse=True))


class RunTable(RowView):
    """A row for each run. Where several are chosen, each has a tick: a click or Space turns it. `ticked_changed` says
    that one was turned; the runs that are `kept` stay ticked."""

    ticked_changed = Signal()

    def __init__(self, several: bool) -> None:
        super().__init__("Runs to choose", (Column("Run"),), row_px=28)
        self.several, self.ticked, self.kept = several, set[Path](), set[Path]()
        if several:
            self.clicked.connect(lambda index: self.turn(self._rows_of([index])))

    def show_runs(self, runs: Sequence[ListedRun]) -> None:
        names = list(runs[0].values)[:MOST_DIFFERENT] if runs else []
        tick = [Column("", width_px=EDGE_PX + _BOX_PX + 6, paint=self._paint_tick)] if self.several else []
        named = len({run.manifest.name for run in runs}) > 1
        program = [Column("Program", lambda run: run.manifest.name, share=1.4, key=lambda run: run.manifest.name,
                          elide=Qt.TextElideMode.ElideMiddle, tip_of=lambda run: run.manifest.name)]  # fmt: skip
        self.rows.set_columns((
            *tick,
            Column("Run", lambda run: folder_title(run.path), share=1.0, key=lambda run: run.manifest.created,
                   tip_of=lambda run: str(run.path)),
            *(program if named else ()),
            *(_value(name, [run.values[name] for run in runs]) for name in names),
            Column("Time", lambda run: time_text(run.manifest.time_ps / PS_PER_S, 4), width_px=92, right=True,
                   key=lambda run: run.manifest.time_ps),
            Column("Started", lambda run: run.manifest.created[:16].replace("T", " "), width_px=152,
                   key=lambda run: run.manifest.created),
        ))  # fmt: skip
        self.show_rows([(run, ()) for run in runs])
        self.setCurrentIndex(self.rows.index(0, 0))

    def _rows_of(self, indexes: Sequence[QModelIndex]) -> list[ListedRun]:
        return [row for index in indexes if (row := self.rows.row(index)) is not None]

    def turn(self, runs: Sequence[ListedRun]) -> None:
        """Tick these runs, as far as so many can be compared; where all of them are ticked, take their ticks back."""
        free = [run.path for run in runs if run.path not in self.kept]
        if all(path in self.ticked for path in free):
            self.ticked.difference_update(free)
        else:
            new = [path for path in free if path not in self.ticked]
            self.ticked.update(new[: MOST_RUNS - len(self.ticked)])
        self.viewport().update()
        self.ticked_changed.emit()

    def _paint_tick(self, painter: QPainter, box: QRectF, run: ListedRun) -> None:
        square = QRectF(box.left() + EDGE_PX, box.center().y() - _BOX_PX / 2, _BOX_PX, _BOX_PX)
        ticked, inks = run.path in self.ticked, palette()
        ink = QColor(inks.muted if run.path in self.kept else inks.accent)
        painter.setPen(QPen(ink if ticked else QColor(inks.edge), 1))
        painter.setBrush(ink if ticked else Qt.BrushStyle.NoBrush)
        painter.drawRoundedRect(square, 3, 3)
        if ticked:
            draw_icon(painter, "check", square.left() + 1, square.top() + 1, 13, inks.panel)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if self.several and event.key() == Qt.Key.Key_Space:
            self.turn(self._rows_of(self.selectionModel().selectedRows()))
        else:
            super().keyPressEvent(event)


def _value(name: str, values: Sequence[Value]) -> Column:
    number = all(isinstance(value, int | float) for value in values)
    return Column(
        name, lambda run: value_text(run.values[name]), share=0.7, right=number,
        key=lambda run: run.values[name] if number else str(run.values[name]),
        elide=Qt.TextElideMode.ElideMiddle, tip_of=lambda run: f"{name}: {value_text(run.values[name])}",
    )  # fmt: skip


class RunList(Popover):
    """`chosen` carries the paths that were chosen: one, or with `several` all that are ticked, and the box closes."""

    chosen = Signal(object)  # list[Path]
    folder_wanted = Signal()

    def __init__(self, over: QWidget, title: str, several: bool) -> None:
        super().__init__(over)
        self.setAccessibleName(title)
        self._over = over
        self.curve: tuple[Path, ...] = ()
        inside = MARGIN_PX + 12
        self.said = label("Reading the runs", "smallsecond")
        self.table = RunTable(several)
        self.table.opened.connect(lambda run: self._choose([run.path]) if not several else self._choose_ticked())
        self.table.ticked_changed.connect(self._say_ticked)
        folder = Button("Open a run folder…", kind="link", on=self._want_folder)
        self.along = Button("", kind="link", on=self._tick_curve)
        self.along.hide()
        self.compare = Button("Compare", kind="primary", on=self._choose_ticked)
        self.compare.setVisible(several)
        head = row_layout(label(title, "title"), STRETCH, self.said, margins=(4, 0, 4, 0))
        foot = row_layout(folder, self.along, STRETCH, self.compare, margins=(4, 0, 4, 0), spacing=16)
        column_layout(head, self.table, foot, of=self, margins=(inside, inside - 2, inside, inside - 2), spacing=10)
        if not several:
            self.table.clicked.connect(lambda index: self.table.opened.emit(self.table.current))
        self.setFocusProxy(self.table)
        self._fit(0)

    def show_runs(self, runs: Sequence[ListedRun], kept: Sequence[Path], ticked: Sequence[Path]) -> None:
        """Show these; the runs that are `kept` are compared in any case."""
        self.table.kept, self.table.ticked = set(kept), {*kept, *ticked}
        self.table.show_runs(runs)
        self._fit(len(runs))
        self._say_ticked()
        self.follow()

    def offer_curve(self, setting: str, paths: Sequence[Path]) -> None:
        """A scaling curve's runs can be ticked at once."""
        self.curve = tuple(paths)
        self.along.setText(f"All {len(paths)} runs of {setting}")
        self.along.setVisible(bool(paths))

    def open_below(self, button: QWidget) -> None:
        corner: Callable[[], QPoint] = partial(_below, button, self._over)
        self.open_where(corner)

    # ---- what is chosen

    def _fit(self, rows: int) -> None:
        room_px = self._over.height() - 170
        most = max(min(MOST_ROWS, (room_px - HEAD_PX) // self.table.row_px), 3)
        edges = 2 * self.table.frameWidth()
        self.table.setFixedHeight(HEAD_PX + max(min(rows, most), 1) * self.table.row_px + edges)
        self.setFixedWidth(min(WIDE_PX + 2 * MARGIN_PX, self._over.width() - 16))

    def _say_ticked(self) -> None:
        number = len(self.table.ticked)
        several = f"{number} ticked, up to {MOST_RUNS}: a click or Space turns a tick"
        self.said.setText(several if self.table.several else "")
        self.compare.setText(f"Compare {number} runs")
        self.compare.setEnabled(number > 1)

    def _tick_curve(self) -> None:
        there = [run for run in self.table.rows.tops if run.path in self.curve]
        if any(run.path not in self.table.ticked for run in there):
            self.table.turn(there)
        self.table.setFocus()

    def _choose_ticked(self) -> None:
        if self.compare.isEnabled():
            self._choose([run.path for run in reversed(self.table.rows.tops) if run.path in self.table.ticked])

    def _choose(self, paths: list[Path]) -> None:
        self.close_it()
        self.chosen.emit(paths)

    def _want_folder(self) -> None:
        self.close_it()
        self.folder_wanted.emit()


def _below(button: QWidget, over: QWidget) -> QPoint:
    return button.mapTo(over, button.rect().bottomLeft() + QPoint(0, 4))
