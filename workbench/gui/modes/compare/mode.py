"""Compare mode: other runs beside the open one. What became faster, what changed, which findings went."""

from collections.abc import Iterator
from dataclasses import replace
from functools import partial

from PySide6.QtCore import QSize
from PySide6.QtWidgets import QStackedLayout, QWidget

from workbench.analysis.cause import is_even
from workbench.analysis.compare import Comparison, compare, output_words, share_words
from workbench.analysis.equal_work import EqualWork
from workbench.api.modes import WindowMode
from workbench.api.window import Context, Mode
from workbench.gui.frame.selection import SelectedFinding
from workbench.gui.modes.compare.cause import CauseRow
from workbench.gui.modes.compare.findings import KINDS, FindingChanges, Pair, rows_of
from workbench.gui.modes.compare.head import CompareHead
from workbench.gui.modes.compare.ledger import LedgerPanel
from workbench.gui.modes.compare.lower import LowerPanel
from workbench.gui.modes.compare.other_run import OtherRun
from workbench.gui.modes.compare.panels import CHANGES, FINDINGS, RUNS, Panels
from workbench.gui.modes.compare.rows import Change, block_changes, call_changes, state_changes
from workbench.gui.modes.compare.run_choice import RunChoice
from workbench.gui.modes.compare.table import ChangeTable, change_text
from workbench.gui.modes.compare.why import WhyTable, why_title, why_words
from workbench.gui.widgets import (
    Button,
    ElidedLabel,
    PanelHeader,
    PillButton,
    label,
    plain_column,
    plain_panel,
    rule,
)
from workbench.gui.widgets.boxes import row_layout
from workbench.gui.widgets.whole_rows import WholeRows
from workbench.model.finding import Finding
from workbench.model.ledger import Entry
from workbench.model.text import counted, time_text
from workbench.session.keep.ledger import ComparedLedger, ledger_for
from workbench.session.keep.results import OpenRun

TABLES = (("why", "Why"), ("call", "By call"), ("block", "By block"), ("state", "By state"))
HEADS = {
    "call": ("Call", "Calls A", "Calls B"),
    "block": ("Block", "Count A", "Count B"),
    "state": ("State", "Visits A", "Visits B"),
}
FOOT_PX = 110  # of the tables, with the cause of the difference or the ledger's errors
LEAST_PX = 700  # at which no figure is cut; in a narrower window the mode is scrolled
_BARS = "In each pair of bars: A above, B below."
_SAME = 0.01  # by how much of the whole change the sum of the rows may differ and count as it
NOTES = {
    "call": "the host's calls, largest change first",
    "block": "mean working time, largest change first",
    "state": "the host's states, largest change first",
}


class CompareMode(Mode):
    """The context's run and another one: A is the older (or the newer, once exchanged)."""

    def __init__(self, context: Context, kind: WindowMode) -> None:
        super().__init__(context, kind)
        self.other = OtherRun(context, self, self.do)
        self.exchanged = False
        self.comparison: Comparison | None = None
        self.by, self.only = "call", "all"
        self.beside: ComparedLedger | None = None  # the ledger as it concerns the two runs

    def build(self) -> Iterator[None]:
        context = self.context
        self.head = CompareHead()
        self.table, self.why = ChangeTable(), WhyTable()
        yield
        self.cause = CauseRow(context)
        self.findings = FindingChanges()
        self.ledger = LedgerPanel()
        yield
        self.below = LowerPanel(context, self.other)
        yield
        yield from self._build()
        self.other.changed.connect(self._write)
        self.other.weighed.connect(self._findings_predicted)
        self.other.others_changed.connect(self._say_runs)
        self.other.others_changed.connect(lambda: self.fitting.turn(RUNS))
        self.below.equal_ready.connect(self._equal_work_ready)
        self.choice = RunChoice(context, self, self.other, self.below)
        self.head.other.clicked.connect(lambda: self.choice.ask(self.head.other, several=False))
        for button in (self.head.more, self.below.runs.add):
            button.clicked.connect(partial(self.choice.ask, button, several=True))
        self.head.swapped.connect(self._exchange)
        self.cause.found.connect(self.head.show_cause)
        self.table.chosen.connect(self._show_line)
        self.table.opened.connect(self._open_line)
        self.findings.pair_opened.connect(self._show_finding)
        self.follow(context.navigation.selection_changed, self._follow)
        self.follow(context.run_changed, self._run_changed)
        self.follow(context.predictions_changed, self._findings_predicted)
        self.setFocusProxy(self.tables)
        yield
        self._run_changed()

    # ---- arrangement

    def minimumSizeHint(self) -> QSize:
        return QSize(LEAST_PX, super().minimumSizeHint().height())

    def _build(self) -> Iterator[None]:
        page = QWidget()
        table = self._table_panel()
        yield
        panels = {CHANGES: table, FINDINGS: self._right_panel(), RUNS: self.below}
        heads = {
            CHANGES: (self.table_head,), FINDINGS: (self.findings_head, self.ledger.head),
            RUNS: (self.below.equal_work.head, self.below.runs.head),
        }  # fmt: skip
        self.fitting = Panels(panels, heads)
        for panel, home in ((CHANGES, self.tables), (FINDINGS, self.findings)):
            panels[panel].setFocusProxy(home)
        self.panels = tuple(panels.values())
        yield
        plain_column(page, self.head, rule(), (self.fitting, 1))
        self.set_content(page)

    def _table_panel(self) -> QWidget:
        panel, column = plain_panel(300, 0)  # as high as a row of the table, the cause and the sum
        self.table_head = PanelHeader("")
        self.table_pills = self._pills(self.table_head, TABLES, self.show_by)
        column.addWidget(self.table_head)
        self.tables = WholeRows(self.table, self.why)
        column.addWidget(self.tables, 1)
        column.addWidget(self.cause)
        foot = row_layout(margins=(16, 8, 20, 8))
        self.sum = label("", "strong")
        self.foot = ElidedLabel(_BARS, "smallsecond")
        foot.addWidget(self.foot, 1)
        foot.addWidget(self.sum)
        column.addLayout(foot)
        column.addStretch()
        return panel

    def _right_panel(self) -> QWidget:
        """Findings, or the ledger."""
        panel, column = plain_panel(300, 120)
        pages = QWidget()
        self._right = QStackedLayout(pages)
        self._right.setContentsMargins(0, 0, 0, 0)
        self._right.addWidget(self._findings_panel())
        self._right.addWidget(self.ledger)
        self.to_ledger, self.to_findings = Button("Ledger", kind="link"), Button("Findings", kind="link")
        self.to_ledger.clicked.connect(lambda: self._right.setCurrentIndex(1))
        self.to_findings.clicked.connect(lambda: self._right.setCurrentIndex(0))
        self.findings_head.add(self.to_ledger)
        self.ledger.head.add(self.to_findings)
        self.ledger.entry_opened.connect(self._open_entry)
        column.addWidget(pages)
        return panel

    def _findings_panel(self) -> QWidget:
        panel, column = plain_panel(300, 120)
        self.findings_head = PanelHeader("Findings", "predicted speedup or upper bound in A and B")
        names = (("all", "All"), *((k, t) for k, t, _ in KINDS))
        self.finding_pills = self._pills(self.findings_head, names, self.show_only)
        column.addWidget(self.findings_head)
        column.addWidget(self.findings, 1)
        return panel

    def _pills(self, head: PanelHeader, names: tuple[tuple[str, str], ...], do: object) -> dict[str, PillButton]:
        pills = {}
        for name, title in names:
            pill = PillButton(title)
            pill.clicked.connect(lambda checked=False, wanted=name: do(wanted))  # type: ignore[operator]
            head.add(pill)
            pills[name] = pill
        return pills

    def _bound_tables(self) -> None:
        """Leave the timelines what the tables do not need."""
        left = self.table_head.height() + self.tables.sizeHint().height() + FOOT_PX
        right = self.findings_head.height() + self.findings.whole_px
        ledger = self.ledger.head.height() + self.ledger.table.whole_px + FOOT_PX if self.ledger.entries else 0
        self.fitting.bound(0, max(left, right, ledger))

    # ---- which runs

    def _run_changed(self) -> None:
        self.exchanged = False
        mine = self.context.run
        if mine is None:
            self._write()
            return
        self.other.follow(mine)
        self._write()

    def _findings_predicted(self) -> None:
        """The findings of a run are ranked and weighed anew."""
        if (pair := self.pair()) and self.comparison:
            a, b = pair
            comparison = compare(a.analysis, b.analysis, (a.run, b.run))
            self.comparison = replace(comparison, equal=self.comparison.equal)
            self.show_only(self.only)

    def act(self) -> None:
        if self.context.run is not None:
            self.choice.open_folder()

    def compare_before(self) -> None:
        self.other.open_before()

    def _exchange(self) -> None:
        """By a step that Ctrl+Z takes back."""

        def turn() -> None:
            self.exchanged = not self.exchanged
            self._write()

        self.do("swap A and B", turn, turn)

    def pair(self) -> tuple[OpenRun, OpenRun] | None:
        """A and B: the older run first, until they are exchanged."""
        mine, other = self.context.opened, self.other.opened
        if mine is None or other is None:
            return None
        mine_first = mine.run.manifest.created < other.run.manifest.created
        return (mine, other) if mine_first is not self.exchanged else (other, mine)

    # ---- what is shown

    def retheme(self) -> None:
        self._write()

    def _write(self) -> None:
        pair = self.pair()
        if pair is None:
            self.comparison = None
            if (run := self.context.run) is None:
                self.show_nothing()
            else:
                why = "Open a second run to compare."
                self.show_nothing(f"Select a second run to compare with {run.manifest.name}", why, "Open a run folder…")
            return
        a, b = pair
        self.comparison = compare(a.analysis, b.analysis, (a.run, b.run))
        self.head.show_runs((a.run, a.analysis), (b.run, b.analysis), self.comparison)
        self.show_content()
        self.show_by(self.by)
        self.show_only(self.only)
        self.cause.ask(a.run, b.run)
        self.below.ask(a, b)
        self._read_ledger(a, b)
        self._say_runs()

    def _say_runs(self) -> None:
        """Show in the status bar the number of runs, and whether A and B are alike."""
        if self.comparison is None or (pair := self.pair()) is None:
            return
        platform = len({one.run.manifest.platform for one in pair}) == 1
        self.say_status(
            counted(len(self.other.all()), "run"),
            output_words(self.comparison),
            "same platform" if platform else "different platforms",
        )

    def show_by(self, name: str) -> None:
        self.by = name
        for key, pill in self.table_pills.items():
            pill.setChecked(key == name)
        why = name == "why" and self.beside is not None
        self.tables.show_table(self.why if why else self.table)
        self.foot.setText(why_words(self.beside) if why and self.beside else _BARS)
        if self.comparison is None:
            return
        if why:
            self._show_why()
            return
        rows = {"call": call_changes, "block": block_changes, "state": state_changes}[name](self.comparison)
        self.table.show_changes(rows, HEADS[name])
        self._bound_tables()
        total = sum(row.change_s for row in rows)  # of a block's means it is the sum of nothing
        before, after = self.comparison.time_s
        same = abs(total - (after - before)) <= _SAME * abs(after - before)
        whole = "" if same else f", the run {change_text(after - before)}"  # of several ranks, some calls overlap
        self.sum.setText(f"Sum {change_text(total)}{whole}" if rows and name != "block" else "")
        title = f"Where {time_text(abs(before - after))} {'went' if before >= after else 'came from'}"
        self.table_head.set_title("Changes" if is_even(self.comparison.speedup) else title, NOTES[name])

    def _show_line(self, row: Change) -> None:
        """Below the table: what a row changes, with its lines in both runs."""
        if self.comparison:
            before, after = self.comparison.time_s
            self.cause.show_line(row.line, after - before)

    def _open_line(self, row: Change) -> None:
        """Open the line of a call or state: that in B, where B has it."""
        if row.line and row.line.places:
            place = row.line.places[0]
            self.context.navigation.open_line(place.file, place.line)

    # ---- the ledger

    def _read_ledger(self, a: OpenRun, b: OpenRun) -> None:
        self.beside = None
        self._show_beside()
        if a.run.path is None or b.run.path is None:
            return
        work = partial(ledger_for, a.run, b)
        self.context.background.start("ledger", work, self._ledger_read, self.context.failed)

    def _ledger_read(self, beside: ComparedLedger) -> None:
        self.beside = beside
        self.context.notices.keep("ledger", *beside.problems)
        self._show_beside()

    def _show_beside(self) -> None:
        """What the ledger says of the two runs: what came beside what was predicted leads where there is such."""
        entries = self.beside.entries if self.beside else ()
        settled = self.beside.settled if self.beside else ()
        self.ledger.show_entries(entries, settled[-1:])
        self.to_ledger.setText(f"Ledger {len(entries)}" if entries else "Ledger")
        self.head.show_prediction(settled[-1] if settled else None)
        self.table_pills["why"].setVisible(bool(settled))
        if settled:
            self._right.setCurrentIndex(1)
            self.show_by("why" if self.beside and self.beside.explained else "state")
        elif self.by == "why":
            self.show_by("call")

    def _show_why(self) -> None:
        if self.beside and self.beside.settled:
            self.table_head.set_title(*why_title(self.beside.settled[-1]))
            self.why.show_explained(self.beside.explained)
            self._bound_tables()
            self.sum.setText(f"Sum {change_text(sum(row.difference_s for row in self.beside.explained))}")

    def _open_entry(self, entry: Entry) -> None:
        """Compare the entry's base with what came of it, or with the open run."""
        names = [entry.came.run, entry.base.run] if entry.came else [entry.base.run]
        folders = {folder.name: folder for folder in self.other.folders()}
        if wanted := next((folders[name] for name in names if name in folders), None):
            self.other.open(wanted)

    # ---- findings

    def show_only(self, name: str) -> None:
        self.only = name
        for key, pill in self.finding_pills.items():
            pill.setChecked(key == name)
        if self.comparison is None:
            return
        counts = {kind: len(rows_of(self.comparison, kind)) for kind, _, _ in KINDS}
        self.finding_pills["all"].setText(f"All {sum(counts.values())}")
        for kind, title, _ in KINDS:
            self.finding_pills[kind].setText(f"{title} {counts[kind]}")
        self.findings.show_comparison(self.comparison, name)
        self._bound_tables()
        self._follow()

    def _equal_work_ready(self, equal: EqualWork) -> None:
        if self.comparison is not None:
            self.comparison = replace(self.comparison, equal=equal)
            title = "Equal work" if equal.calls else "Different work"
            self.below.equal_work.head.set_title(title, share_words(self.comparison))

    def _own(self, pair: Pair) -> Finding | None:
        """The open run's finding of a pair."""
        runs = self.pair()
        return pair.a if runs and runs[0] is self.context.opened else pair.b

    def _show_finding(self, pair: Pair) -> None:
        """Show it in Analyse, where the open run has it."""
        if finding := self._own(pair):
            self.context.navigation.select(SelectedFinding(finding.id))
            self.context.navigation.set_mode("analyse")

    def _follow(self) -> None:
        """The finding that is selected, or the one that it is part of, is the table's row too."""
        chosen, analysis = self.context.navigation.selection, self.context.analysis
        if self.comparison is not None and analysis and isinstance(chosen, SelectedFinding):
            ids = {id_ for f in analysis.findings if f.id == chosen.finding for id_ in (f.id, f.part_of)}
            self.findings.choose(lambda row: isinstance(row, Pair) and getattr(self._own(row), "id", None) in ids)
