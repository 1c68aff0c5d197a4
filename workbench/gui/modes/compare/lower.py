"""Below the tables of Compare: the same work of all runs under one another, or a row for each run beside the scaling
curve."""

from functools import partial
from pathlib import Path

from PySide6.QtCore import Signal
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QWidget

from workbench.analysis.compare_many import ComparedRun, ManyRuns, value_text
from workbench.api.window import Context
from workbench.gui.frame.naming import run_title
from workbench.gui.modes.compare.equal_work import EqualWorkPanel, NamedRun
from workbench.gui.modes.compare.other_run import OtherRun
from workbench.gui.modes.compare.runs import RunsPanel
from workbench.gui.modes.compare.scaling import ScalingPanel
from workbench.gui.widgets import Button, Split, Stack, plain_column
from workbench.session.keep.results import OpenRun
from workbench.session.make.compared import compared

TIMELINES, TABLE = 0, 1
_TIMELINES_PX = 330  # of the timelines, so that they are shown below the table
#: A and B, the table of all runs, and these in its order.
_Compared = tuple[tuple[OpenRun, OpenRun], ManyRuns, list[OpenRun]]


class LowerPanel(Stack):
    """`equal_ready` carries the equal work of A and B, once it is shown."""

    equal_ready = Signal(object)

    def __init__(self, context: Context, other: OtherRun) -> None:
        super().__init__()
        self.context, self.other = context, other
        self.pair: tuple[OpenRun, OpenRun] | None = None
        self.scaling, self.runs = ScalingPanel(context), RunsPanel()
        self.equal_work = EqualWorkPanel(context)
        self.to_table = Button("Runs", kind="link", on=self._show_table)
        self.to_table.hide()
        self.to_timelines = Button("Timelines", kind="link", on=partial(self.setCurrentIndex, TIMELINES))
        self.to_timelines.setToolTip("The same work in all runs, one below the other")
        self.equal_work.head.add(self.to_table)
        self.runs.head.add(self.to_timelines)
        self.runs.head.add(self.runs.add)
        self.runs.setFocusProxy(self.runs.table)
        self._alone, self._beside = QWidget(), QWidget()  # where the timelines are shown
        self._homes = {home: plain_column(home) for home in (self._alone, self._beside)}
        self._homes[self._alone].addWidget(self.equal_work)
        self._upright = Split((self.runs, 390), (self._beside, 390), vertical=True)
        self.addWidget(self._alone)
        self.addWidget(Split((self.scaling, 500), (self._upright, 1034)))
        self.currentChanged.connect(lambda _: self._place_timelines())
        self.scaling.ready.connect(self._scaling_ready)
        self.scaling.run_wanted.connect(other.open)
        self.runs.table.opened.connect(self._compare_with)
        self.runs.table.removed.connect(lambda row: other.remove(row.path))
        self.equal_work.ready.connect(self._equal_ready)
        other.others_changed.connect(self._others_changed)

    def ask(self, a: OpenRun, b: OpenRun) -> None:
        """Show these two, and the runs that were added to them."""
        self.pair = a, b
        beside = (run.path for run in (a.run, b.run) if run.path)
        self.scaling.ask((b.run, a.run), (*self.context.run_folders(), *beside))
        self._read()

    def _others_changed(self) -> None:
        self.setCurrentIndex(TABLE if self.other.added else TIMELINES)
        if self.other.added and self.isVisible():
            self.runs.table.setFocus()
        self._read()

    def _read(self) -> None:
        """Compare all runs in the background, and show them."""
        if self.pair is None:
            return
        pair = self.pair
        others = [one for one in self.other.added if one.run.path not in {each.run.path for each in pair}]
        if not others:
            two = zip(pair, "AB", strict=True)
            self.equal_work.ask([NamedRun(one.run, run_title(one.run), letter) for one, letter in two])
        opened = sorted((*pair, *others), key=lambda one: one.run.manifest.created) if others else list(pair)

        def work() -> _Compared:
            many = compared(opened)
            if not (name := many.by_setting):
                return pair, many, opened
            rows = sorted(zip(many.runs, opened, strict=True), key=lambda row: row[0].values[name])
            by_value = [one for _, one in rows]
            return pair, compared(by_value), by_value

        self.context.background.start("compared runs", work, self._show, self.context.failed)

    def _show(self, found: _Compared) -> None:
        pair, many, opened = found
        letters = {
            row.letter: letter
            for row, one in zip(many.runs, opened, strict=True)
            for each, letter in zip(pair, "AB", strict=True)
            if each is one
        }
        other = self.other.opened
        self.runs.show_runs(many, letters, other.run.path if other else None)
        if len(opened) > 2:
            self.equal_work.ask([
                NamedRun(one.run, run_title(one.run), letters.get(row.letter, ""), _note(row, many))
                for row, one in zip(many.runs, opened, strict=True)
            ])  # fmt: skip
        self._place_timelines()

    # ---- pages

    def _scaling_ready(self, exists: bool) -> None:
        self.scaling.setVisible(exists)
        self._say_table()
        if not exists and not self.other.added:
            self.setCurrentIndex(TIMELINES)

    def _say_table(self) -> None:
        """Where the table is: of the runs that are compared, or with those of the curve."""
        scaling, many = self.scaling.scaling, len(self.runs.many.runs)
        curve = f"Scaling {len(scaling.points)} runs" if scaling and many < 3 else ""
        self.to_table.setText(curve or f"Table of {many} runs")
        self.to_table.setVisible((bool(curve) or many > 2) and self.currentIndex() == TIMELINES)

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._place_timelines()

    def _place_timelines(self) -> None:
        """Show the timelines below the table of runs where there is room for both."""
        most_px = self.runs.most_px
        both = self.currentIndex() == TABLE and self.height() - most_px >= _TIMELINES_PX
        home = self._beside if both else self._alone
        if self.equal_work.parentWidget() is not home:
            self._homes[home].addWidget(self.equal_work)
        self._beside.setVisible(both)
        self._upright.bound(0, most_px if both else None)
        self._say_table()

    def _show_table(self) -> None:
        self.setCurrentIndex(TABLE)
        if not self.other.added:
            self.other.add(self.curve())

    def curve(self) -> tuple[Path, ...]:
        """The runs of the scaling curve."""
        return tuple(Path(point.run) for point in self.scaling.scaling.points) if self.scaling.scaling else ()

    # ---- what is done with a row

    def _compare_with(self, row: ComparedRun) -> None:
        """Compare the open run with the row's."""
        mine = self.context.run
        if row.path and mine and row.path != mine.path:
            self.other.open(row.path)

    def _equal_ready(self, equal: object) -> None:
        if not self.other.added:
            self.equal_ready.emit(equal)


def _note(row: ComparedRun, many: ManyRuns) -> str:
    """What differs of a run from the others."""
    return ", ".join(f"{name} {value_text(row.values[name])}" for name in many.differ)
