"""The findings of Analyse mode: a table of them, their speedups on one axis, and tables of what was counted."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from functools import partial

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QMenu, QStackedLayout, QWidget

from workbench.analysis.custom import custom_table
from workbench.analysis.finding_page import ranks_of
from workbench.analysis.finding_words import (
    becomes_words,
    gain_words,
    left_out,
    nothing_words,
    order_words,
    predicted,
    where_words,
)
from workbench.analysis.memory import memory_table
from workbench.analysis.rule_table import RuleTable
from workbench.analysis.streams import stream_table
from workbench.analysis.taxonomy import BottleneckKind, taxonomy, taxonomy_table
from workbench.analysis.verification import assertion_table, branch_counts, branch_table
from workbench.api.results import Analysis
from workbench.api.window import Context, set_ground
from workbench.gui.frame.selection import SelectedFinding
from workbench.gui.modes.analyse.findings import FindingTable
from workbench.gui.modes.analyse.legends import BarLegend, FindingsFoot
from workbench.gui.modes.analyse.rule_subjects import RuleSubjects
from workbench.gui.modes.analyse.rule_tree import RuleTree
from workbench.gui.views.bars_view import BarsView
from workbench.gui.widgets import (
    Button,
    ElidedLabel,
    EmptyState,
    IconButton,
    PanelHeader,
    PillButton,
    plain_column,
    rule,
)
from workbench.gui.widgets.row_view import HEAD_PX, RowView
from workbench.gui.widgets.table_view import TableView
from workbench.model.blocks import Side
from workbench.model.finding import Finding, count_words, findings_on, tops
from workbench.pictures.layout import NodeBox
from workbench.pictures.speedups import estimate_bars

FILTERS = {"host": "Host", "fpga": "FPGA", "aside": "Set aside"}
FINDINGS, CHART, RULES = "Findings", "Chart", "Rules"
_TABS = (
    (FINDINGS, "The findings, with the speedup of the best change of each"),
    (CHART, "Show all speedups on one axis, with the resulting run times"),
    ("Streams", "Transfers and stalls of the design's streams, and FIFO occupancy"),
    ("Memory", "Traffic of the design's memory ports, and their waiting times"),
    ("Metrics", "Values of the metrics that the sources or the project define"),
    ("Assertions", "The design's assertions: which held, which failed, and when first"),
    ("Branches", "How often the design took each branch; branches never taken come first"),
    (RULES, "All rules, with their findings in this run"),
)
_LEAST_ROWS = 3  # what a page has room for


class FindingsPanel(QWidget):
    """Shows the findings of the context's analysis: all, a side's, those set aside, or those of one node of the graph.
    `rules_left` asks for all rules in place of the one that is edited, `own_names` are the rules that can be. `needs`
    carries the height (px) in which this page and those that were shown of this run, but the rules, are seen whole; how
    much of it is not the findings' rows; and the height of such a row.

    `node_of` gives the node of a block; `has_shortfall` whether a row above says what the run falls short of.
    """

    rules_left = Signal()
    needs = Signal(int, int, int)

    def __init__(
        self, context: Context, node_of: Callable[[str], NodeBox | None], has_shortfall: Callable[[], bool]
    ) -> None:
        super().__init__()
        set_ground(self, "panel")
        self._context, self._node_of, self._has_shortfall = context, node_of, has_shortfall
        self.table = FindingTable()
        self.setFocusProxy(self.table)
        self.speedups = BarsView("Speedup estimates")
        self.speedups.problem.connect(context.notices.tell)
        self.streams, self.memory = TableView(stream_table((), ())), TableView(memory_table(()))
        self.custom = TableView(custom_table(()))
        self.assertions, self.branches = TableView(assertion_table(())), TableView(branch_table(()))
        self.rules = RuleTree()
        self.subjects: RuleSubjects | None = None  # made when a rule is edited first
        self.edits_rule = False
        self.page, self.filter, self.only_node, self._needs_px = FINDINGS, "", "", 0
        self.own_names: Callable[[], frozenset[str]] = frozenset
        self._build()
        for view in (self.table.finding_chosen, self.speedups.chosen):
            view.connect(lambda wanted: context.navigation.select(SelectedFinding(wanted)))
        self.rules.chosen.connect(self._choose_rule)
        for table in (self.table, self.streams, self.custom, self.assertions, self.branches, self.rules):
            table.line_wanted.connect(context.navigation.open_line)
        self.table.aside_wanted.connect(context.set_aside)
        self._first: SelectedFinding | None = None  # selected as the first, by no one's choice
        context.navigation.mode_changed.connect(self.select_first)
        context.background.idle_changed.connect(self._write_rest)

    def _build(self) -> None:
        self.head = PanelHeader("Findings")
        self.node_pill = PillButton("", icon_name="x", checked=True)
        self.node_pill.setToolTip("Show the findings of all blocks again")
        self.node_pill.clicked.connect(lambda: self.show_only(""))
        self.head.add(self.node_pill)
        self.edit_rule = Button("Copy")
        self.rule_button = IconButton("plus", "New rule, a copy, or rules from a file")
        self.rule_menu = QMenu(self.rule_button)
        self.rule_button.setMenu(self.rule_menu)
        self.rule_button.setPopupMode(IconButton.ToolButtonPopupMode.InstantPopup)
        self.all_rules = PillButton("All rules", icon_name="x", checked=True)
        self.all_rules.setToolTip("Close the rule and show all rules again")
        self.all_rules.clicked.connect(self.rules_left.emit)
        for widget in (self.all_rules, self.edit_rule, self.rule_button):
            widget.hide()
            self.head.add(widget)
        self.pills = {name: PillButton(title) for name, title in FILTERS.items()}
        for name, pill in self.pills.items():
            pill.clicked.connect(lambda checked, wanted=name: self.set_filter(wanted if checked else ""))
            self.head.add(pill)
        self.beside_tabs = rule(vertical=True)
        self.beside_tabs.setFixedHeight(20)
        self.head.add(self.beside_tabs)
        self.tabs = {name: PillButton(name) for name, _ in _TABS}
        for name, tip in _TABS:
            self.tabs[name].setToolTip(tip)
            self.tabs[name].clicked.connect(partial(self.turn_to, name))
            self.head.add(self.tabs[name])
        shown = QWidget()
        self._table_pages = QStackedLayout(shown)
        self._table_pages.setContentsMargins(0, 0, 0, 0)
        self.nothing = EmptyState("check", "No finding")
        self._table_pages.addWidget(self.table)
        self._table_pages.addWidget(self.nothing)
        self._table_pages.addWidget(self.speedups)
        self._table_pages.addWidget(self.streams)
        self._table_pages.addWidget(self.memory)
        self._table_pages.addWidget(self.custom)
        self._table_pages.addWidget(self.assertions)
        self._table_pages.addWidget(self.branches)
        self._table_pages.addWidget(self.rules)
        self.legend = BarLegend()
        self.best = ElidedLabel("", "smallsecond")
        self.best.setAlignment(Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter)
        self.show_best = Button("Go to source", kind="link")
        self.show_best.clicked.connect(self._open_best)
        self.rest = Button("", kind="link", on=self._predict_rest)
        self.rest.setToolTip("Predict the changes that the time limit (Settings, Predictions) left out")
        self.foot = FindingsFoot(self.legend, self.best, self.rest, self.show_best)
        plain_column(self, self.head, (shown, 1), rule(), self.foot)

    def reset(self) -> None:
        """Show all findings again, without writing them."""
        self.filter, self.only_node, self._needs_px = "", "", 0

    def show_counted(self, analysis: Analysis) -> None:
        self.streams.show_table(stream_table(analysis.streams, analysis.fifos))
        self.memory.show_table(memory_table(analysis.memory_ports))
        self.custom.show_table(custom_table(analysis.custom))
        self.assertions.show_table(assertion_table(analysis.assertions))
        self.branches.show_table(branch_table(analysis.decisions))

    def set_filter(self, name: str) -> None:
        self.filter = name
        self.write()

    def show_only(self, node: str) -> None:
        """Only the findings of one block or stack; "" shows all again."""
        self.only_node = node
        self.write()

    def turn_to(self, page: str, clicked: bool = False) -> None:
        """Show the findings, their chart, or a table of what was counted."""
        self.page = page
        self.write()

    def write(self) -> None:
        """Write the findings of the context's analysis anew."""
        analysis = self._context.analysis
        if analysis is None:
            return
        ranked = list(analysis.findings)
        active = [f for f in ranked if not {f.id, f.part_of} & self._context.aside]
        shown = self._of_node(self._filtered(ranked, active, analysis), analysis)
        self.table.show_findings(shown, self._context.aside, ranks_of(active), ranked)
        self.speedups.show_bars(estimate_bars(shown, self._context.aside, where_words, analysis.time_s))
        count = f"{len(tops(active))} of {len(tops(ranked))}" if len(active) < len(ranked) else count_words(ranked)
        self.head.set_title("Findings", f"{count}, {order_words(analysis)}")
        self._choose_page(shown, analysis)
        if not shown:
            self._say_nothing(bool(ranked), analysis)
        self.legend.show_predictions(predicted(ranked))
        self._write_best(active, analysis)
        self._write_rest()
        selected = self._context.navigation.selection
        self.follow(selected.finding if isinstance(selected, SelectedFinding) else "")

    def _filtered(self, ranked: Sequence[Finding], active: Sequence[Finding], analysis: Analysis) -> Sequence[Finding]:
        """The findings that the filter leaves, with the numbers of all on the pills."""
        blocks = [metrics.block for metrics in analysis.blocks]
        sides = {block.id: block.side for block in blocks} | {block.group: block.side for block in blocks}
        groups = {
            "": active,
            "host": [f for f in active if sides.get(f.block) is Side.HOST],
            "fpga": [f for f in active if sides.get(f.block) is Side.FPGA],
            "aside": [f for f in ranked if f.id in self._context.aside],
        }
        self.beside_tabs.setVisible(True)
        for name, title in FILTERS.items():
            self.pills[name].setText(f"{title} {len(tops(groups[name]))}")
            self.pills[name].setChecked(name == self.filter)
            self.pills[name].setVisible(name != "aside" or bool(groups["aside"]) or self.filter == "aside")
        return groups[self.filter]

    def _of_node(self, shown: Sequence[Finding], analysis: Analysis) -> list[Finding]:
        """The findings of the selected node, if there is one."""
        node = self._node_of(self.only_node)
        self.node_pill.setVisible(node is not None)
        if node is None:
            return list(shown)
        self.node_pill.setText(node.title)
        self.node_pill.setChecked(True)
        here = {f.id for f in findings_on(analysis.findings, node.block_ids)}
        return [f for f in shown if f.id in here or f.part_of in here]

    def _choose_page(self, shown: Sequence[Finding], analysis: Analysis) -> None:
        """The findings' table or chart; in their place a table of what was counted, where one is asked for."""
        failed = "those that failed first" if any(one.failed for one in analysis.assertions) else "none failed"
        some, branches = branch_counts(analysis.decisions)
        there: dict[str, tuple[int, str, QWidget]] = {
            FINDINGS: (1, "", self.table if shown else self.nothing),
            CHART: (bool(analysis.findings), "", self.speedups if shown else self.nothing),
            "Streams": (len(analysis.streams), "most stalls first", self.streams),
            "Memory": (len(analysis.memory_ports), "longest wait first", self.memory),
            "Metrics": (len(analysis.custom), "in the order of the design", self.custom),
            "Assertions": (len(analysis.assertions), failed, self.assertions),
            "Branches": (branches, "those never taken first" if some < branches else "all taken", self.branches),
            RULES: (len(self._context.knowledge.rules), "", self.rules),
        }
        page = self.page if there[self.page][0] else FINDINGS
        for name, pill in self.tabs.items():
            pill.setVisible(bool(there[name][0]))
            pill.setChecked(name == page)
        for widget in (self.edit_rule, self.rule_button):
            widget.setVisible(page == RULES and not self.edits_rule)
        self.all_rules.setVisible(page == RULES and self.edits_rule)
        self.all_rules.setChecked(True)
        count, order, table = there[page]
        if page in (FINDINGS, CHART):
            self._show_page(table)
            return
        if table is self.rules and self.edits_rule and self.subjects is not None:
            self._hide_filters()
            self._show_page(self.subjects)
            self.head.set_title(*self.subjects.said)
            return
        if table is self.rules:
            rows, own_names = self._show_rules(analysis), self.own_names()
            own = sum(kind.name in own_names for _, kind in rows)
            count, order = len(rows), f"{sum(bool(kind.findings) for _, kind in rows)} with findings"
            order += f", {own} of your own" if own else ""
        self._show_page(table)
        self._hide_filters()
        self.head.set_title(page, f"{count}, {order}" if count > 1 else "")

    def _show_page(self, page: QWidget) -> None:
        """Show a page; the keyboard comes to it."""
        self._table_pages.setCurrentWidget(page)
        self.foot.setVisible(page in (self.table, self.nothing, self.speedups))  # it is about findings
        self.setFocusProxy(self.table if page is self.nothing else page)
        rows = page if isinstance(page, RowView) else self.table
        foot_px = 0 if self.foot.isHidden() else self.foot.height() + 1
        high = max(rows.whole_px, HEAD_PX + _LEAST_ROWS * rows.row_px)
        needs_px = max(self._needs_px, self.head.height() + high + foot_px)
        if page not in (self.rules, self.subjects):  # of rules there are always many
            self._needs_px = needs_px
        beside_px = self.head.height() + HEAD_PX + 2 * self.table.frameWidth() + self.foot.height() + 1
        self.needs.emit(needs_px, beside_px, self.table.row_px)

    def _hide_filters(self) -> None:
        for widget in (*self.pills.values(), self.node_pill, self.beside_tabs):
            widget.setVisible(False)

    def _show_rules(self, analysis: Analysis) -> Sequence[tuple[int, BottleneckKind]]:
        """Write the tree of rules, and return its rows."""
        table = taxonomy_table(taxonomy(self._context.knowledge.rules, analysis.findings))
        name = self.rules.current[1].name if self.rules.current else ""
        self.rules.show_table(table)
        self.choose_rule(name)
        return table.rows

    def choose_rule(self, name: str) -> None:
        """Go to the row of the rules of a name, without showing what it found."""
        self.rules.choose(lambda row: row[1].name == name)
        self._name_edit(self.rules.current)

    def show_subjects(self, said: RuleTable | str | None) -> None:
        """Show what a rule that is edited says of the run, or why it says nothing; None: all rules again."""
        begins, self.edits_rule = said is not None and not self.edits_rule, said is not None
        if self.subjects is None and said is not None:
            self.subjects = RuleSubjects(self._context)
            self._table_pages.addWidget(self.subjects)
        if self.subjects is not None and said is not None:
            self.subjects.show_said(said)
        if begins:
            self.turn_to(RULES)
        else:
            self.write()

    def _name_edit(self, row: tuple[int, BottleneckKind] | None) -> None:
        """What the button does with the rule in a row."""
        own = row is not None and row[1].name in self.own_names()
        self.edit_rule.setText("Edit" if own else "Copy")
        self.edit_rule.setToolTip("Edit this rule (F2)" if own else "Copy this rule into the project, to edit it (F2)")
        self.edit_rule.setEnabled(row is not None and self._context.workspace is not None)

    def _choose_rule(self, row: tuple[int, BottleneckKind]) -> None:
        self._name_edit(row)
        if best := row[1].best:
            self._context.navigation.select(SelectedFinding(best.id))

    def _say_nothing(self, ranked: bool, analysis: Analysis) -> None:
        run = self._context.run
        why = "" if ranked or run is None else nothing_words(run.manifest, analysis)
        self.nothing.say("No finding here" if ranked else "No findings", why)

    def select_first(self) -> None:
        """Select the first finding where nothing is selected, or the one that was the first before predictions came; in
        a later event, since its page takes time to write. Not while sources are edited: the editor goes to the line of
        what is selected."""

        def select() -> Iterator[None]:
            yield
            navigation, tops = self._context.navigation, self.table.rows.tops
            free = navigation.selection in (None, self._first) and navigation.mode != "source"
            if free and self._context.analysis and tops and navigation.selection != SelectedFinding(tops[0].id):
                self._first = SelectedFinding(tops[0].id)
                navigation.select(self._first)

        self._context.slices.start(self, select())

    def follow(self, finding: str) -> None:
        """Mark a finding in the table and in the chart; "" none."""
        self.table.select_finding(finding)
        self.speedups.set_current(finding)

    def _write_best(self, active: Sequence[Finding], analysis: Analysis) -> None:
        best = active[0] if active else None
        self.show_best.setVisible(bool(best and best.places))
        if best and not self._has_shortfall() and not left_out(analysis):
            how = "At best, fixing 1" if best.speedup_predicted is None else "Fixing 1, predicted"
            becomes = f"{how}: {becomes_words(analysis.time_s, best.gain)}"
            self.best.setText(f"1 failed, {gain_words(best)}" if best.failures else becomes)
        else:
            self.best.setText("")

    def _write_rest(self) -> None:
        """How many changes can still be predicted, and whether that is going on."""
        count = left_out(self._context.analysis) if self._context.analysis else 0
        goes_on = self._context.background.runs("predict")
        self.rest.setText(f"{'Predicting' if goes_on else 'Predict'} {count} more")
        self.rest.setEnabled(not goes_on)
        self.rest.setVisible(bool(count))
        self.foot.fit()

    def _predict_rest(self) -> None:
        self._context.predict(math.inf)
        self._write_rest()

    def _open_best(self) -> None:
        if self.table.rows.tops:
            self.table.open_line(self.table.rows.tops[0])
