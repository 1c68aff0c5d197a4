"""Analyse mode: the block graph over the findings, one selection through both and into the details."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial
from typing import TYPE_CHECKING

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QHBoxLayout, QStackedLayout, QWidget

from workbench.analysis.block_page import block_page, call_page
from workbench.analysis.finding_page import finding_page, ranks_of
from workbench.analysis.finding_words import becomes_words, nothing_words, predicted, ranked_words, where_words
from workbench.analysis.memory import memory_table
from workbench.analysis.recording import recording_parts
from workbench.analysis.streams import stream_table
from workbench.api.modes import WindowMode
from workbench.api.results import Analysis
from workbench.api.window import Context, Mode, set_ground
from workbench.gui.frame.naming import range_title
from workbench.gui.frame.selection import SelectedBlock, SelectedCall, SelectedFinding, SelectedMessage, SelectedState
from workbench.gui.modes.analyse.details import AnalyseDetails
from workbench.gui.modes.analyse.findings import FindingTable
from workbench.gui.modes.analyse.graph import GraphView
from workbench.gui.modes.analyse.legends import BarLegend, GraphLegend
from workbench.gui.modes.analyse.shortfall import ShortfallRow
from workbench.gui.views.bars_view import BarsView
from workbench.gui.widgets import (
    Button,
    ElidedLabel,
    EmptyState,
    IconButton,
    PanelHeader,
    PillButton,
    Split,
    plain_panel,
    rule,
)
from workbench.gui.widgets.table_view import TableView
from workbench.model.blocks import Side
from workbench.model.changes import Change
from workbench.model.finding import Finding, count_words, findings_on, tops
from workbench.model.run import Run
from workbench.pictures.graph import STYLE, frame_notes, node_facts
from workbench.pictures.layout import GraphLayout, RoutedEdge
from workbench.pictures.layout_fit import layout_to_fit
from workbench.pictures.speedups import estimate_bars
from workbench.session.program.keys import with_key

if TYPE_CHECKING:
    from workbench.gui.modes.analyse.predicted_round import RoundPanel

FILTERS = ("all", "host", "fpga", "aside")
#: A graph of up to so many nodes is laid out anew whenever its room changes.
MOST_REFITTED = 60


class AnalyseMode(Mode):
    """Shows the context's analysis. `details` is for the dock at the right."""

    def __init__(self, context: Context, kind: WindowMode) -> None:
        super().__init__(context, kind)
        self.details_panel = self.details = AnalyseDetails(context)
        self.graph = GraphView()
        self.graph.problem.connect(context.notices.tell)
        self.speedups = BarsView("Speedup estimates")
        self.speedups.problem.connect(context.notices.tell)
        self.table = FindingTable()
        self.streams, self.memory = TableView(stream_table((), ())), TableView(memory_table(()))
        self.filter = "all"
        self.only_node = ""
        self.set_content(self._build())
        self.setFocusProxy(self.table)
        self._connect()
        self._analysis_changed()

    # ---- arrangement

    def _build(self) -> QWidget:
        panel, column = plain_panel()
        self.shortfall = ShortfallRow()
        column.addWidget(self.shortfall)
        graph, findings = self._upper_panel(), self._findings_panel()
        graph.setFocusProxy(self.graph)
        findings.setFocusProxy(self.table)
        self.panels = graph, findings
        column.addWidget(Split((graph, 450), (findings, 480), vertical=True), 1)
        return panel

    def _upper_panel(self) -> QWidget:
        """The graph; in its place, while changes are tried, a round of the run as measured and as predicted."""
        panel = QWidget()
        self._upper = QStackedLayout(panel)
        self._upper.setContentsMargins(0, 0, 0, 0)
        self._upper.addWidget(self._graph_panel())
        self.round: RoundPanel | None = None  # made when changes are tried first
        return panel

    def _show_round(self, changes: Sequence[Change]) -> None:
        if not changes:
            self._upper.setCurrentIndex(0)
            return
        if self.round is None:
            from workbench.gui.modes.analyse.predicted_round import (
                RoundPanel,  # with numpy, which a window starts without
            )

            self.round = RoundPanel(self.context)
            self.round.blocks.clicked.connect(lambda: self._upper.setCurrentIndex(0))
            self.round.ready.connect(lambda: self._upper.setCurrentIndex(1))
            self._upper.addWidget(self.round)
        self.round.ask(changes)

    def _graph_panel(self) -> QWidget:
        panel, column = plain_panel()
        self.graph_head = PanelHeader("Blocks")
        for name, tip, do in (
            ("minus", "Zoom out (−)", lambda: self.graph.zoom(1 / 1.25)),
            ("plus", "Zoom in (+)", lambda: self.graph.zoom(1.25)),
            ("maximize", with_key("Fit", "view_all"), self.graph.show_all),
            ("download", "Save the graph as an image", self.graph.ask_picture),
        ):
            button = IconButton(name, tip)
            button.clicked.connect(do)
            self.graph_head.add(button)
        column.addWidget(self.graph_head)
        column.addWidget(self.graph, 1)
        column.addWidget(rule())
        column.addWidget(GraphLegend())
        return panel

    def _findings_panel(self) -> QWidget:
        panel, column = plain_panel()
        self.findings_head = PanelHeader("Findings")
        self.node_pill = PillButton("", icon_name="x", checked=True)
        self.node_pill.setToolTip("Show the findings of every block again")
        self.node_pill.clicked.connect(lambda: self.show_only(""))
        self.findings_head.add(self.node_pill)
        self.chart = PillButton("Chart", icon_name="trending-up")
        self.chart.setToolTip("Show all speedups on one axis, with the resulting run times")
        self.chart.clicked.connect(self._write_findings)
        self.findings_head.add(self.chart)
        self.counted = {name: PillButton(name) for name in ("Streams", "Memory")}
        for name, tip in (
            ("Streams", "Transfers and stalls of the design's streams, and FIFO occupancy"),
            ("Memory", "Traffic of the design's memory ports, and their waiting times"),
        ):
            self.counted[name].setToolTip(tip)
            self.counted[name].clicked.connect(partial(self._choose_counted, name))
            self.findings_head.add(self.counted[name])
        self.pills: dict[str, PillButton] = {}
        for name in FILTERS:
            pill = PillButton("")
            pill.clicked.connect(lambda checked=False, wanted=name: self.set_filter(wanted))
            self.pills[name] = pill
            self.findings_head.add(pill)
        column.addWidget(self.findings_head)
        shown = QWidget()
        self._table_pages = QStackedLayout(shown)
        self._table_pages.setContentsMargins(0, 0, 0, 0)
        self.nothing = EmptyState("check", "No finding")
        self._table_pages.addWidget(self.table)
        self._table_pages.addWidget(self.nothing)
        self._table_pages.addWidget(self.speedups)
        self._table_pages.addWidget(self.streams)
        self._table_pages.addWidget(self.memory)
        column.addWidget(shown, 1)
        column.addWidget(rule())
        foot = QWidget()
        set_ground(foot, "chrome")
        foot.setFixedHeight(38)
        row = QHBoxLayout(foot)
        row.setContentsMargins(16, 0, 16, 0)
        row.setSpacing(8)
        self.legend = BarLegend()
        row.addWidget(self.legend)
        self.best = ElidedLabel("", "smallsecond")
        self.best.setAlignment(Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter)
        self.show_best = Button("Go to source", kind="link")
        self.show_best.clicked.connect(self._open_best)
        row.addWidget(self.best, 1)
        row.addWidget(self.show_best)
        column.addWidget(foot)
        return panel

    def _connect(self) -> None:
        context = self.context
        context.run_changed.connect(self._run_changed)
        context.analysis_changed.connect(self._analysis_changed)
        context.aside_changed.connect(self._write_findings)
        context.navigation.selection_changed.connect(self._selection_changed)
        self.graph.node_chosen.connect(self._choose_node)
        self.graph.node_opened.connect(self._open_node)
        self.graph.badge_clicked.connect(self.show_only)
        self.graph.edge_chosen.connect(self._choose_edge)
        for view in (self.table.finding_chosen, self.speedups.chosen):
            view.connect(lambda wanted: context.navigation.select(SelectedFinding(wanted)))
        for table in (self.table, self.streams):
            table.line_wanted.connect(context.navigation.open_line)
        self.table.aside_wanted.connect(context.set_aside)
        self.details.try_wanted.connect(self.try_change)
        self.details.tried.connect(self._show_round)
        context.predictions_changed.connect(self._predictions_changed)
        self.details.closed.connect(lambda: context.navigation.select(None))
        self.details.link_wanted.connect(lambda wanted: context.navigation.select(SelectedFinding(wanted)))

    # ---- from the context

    def _run_changed(self) -> None:
        self.filter, self.only_node = "all", ""
        self._upper.setCurrentIndex(0)

    def _analysis_changed(self) -> None:
        """Another run, or another part of it."""
        run, analysis = self.context.run, self.context.analysis
        if run is None or analysis is None:
            no_run = ("This project has no run yet", "Run it to see what each block waits for.", "Run")
            self.show_nothing(*(no_run if self.context.workspace else ()))
            self.details.show_nothing()
            return
        self.show_content()  # which gives the graph its room
        graph = analysis.graph
        layout = layout_to_fit(graph, STYLE, *self.graph.room())
        again = partial(layout_to_fit, graph, STYLE) if len(layout.nodes) <= MOST_REFITTED else None
        notes = frame_notes(layout, analysis, self.context.platform)
        self.graph.show_graph(layout, node_facts(layout, analysis), notes, again)
        shown = len(analysis.blocks)
        self.shortfall.show_run(run)
        chosen = self.context.shown_range
        part = f"{range_title(chosen)} of the run. " if chosen else ""
        self.graph_head.set_title("Blocks", f"{part}{shown} blocks. Edge width: time in the call.")
        self.streams.show_table(stream_table(analysis.streams, analysis.fifos))
        self.memory.show_table(memory_table(analysis.memory_ports))
        self._write_findings()
        self._write_status(run, analysis)
        self._selection_changed()
        self.context.slices.start(self._first_selected())

    def _predictions_changed(self) -> None:
        """The findings are the same, ranked and weighed anew."""
        analysis, layout = self.context.analysis, self._layout
        if analysis is not None and layout is not None:
            self.graph.set_facts(node_facts(layout, analysis))
            self._write_findings()
            self._selection_changed()
        if self.context.run and analysis:
            self._write_status(self.context.run, analysis)

    def _write_status(self, run: Run, analysis: Analysis) -> None:
        observed = sum(1 for m in analysis.blocks if len(m.states) > 1)
        replayed = self.context.replayed
        how = "predicted from its profile" if replayed and replayed.likely else "replay exact"
        exact = (how if replayed.exact else f"not predicted: {replayed.why}",) if replayed else ()
        parts = f"{observed} of {len(analysis.blocks)} blocks observed", *recording_parts(run.manifest), *exact
        self.say_status(*parts)

    def _first_selected(self) -> Iterator[None]:
        """In a turn of its own, as what is said of a finding takes its time to be written."""
        yield
        if self.context.navigation.selection is None and self.context.analysis and self.table.rows.tops:
            self.context.navigation.select(SelectedFinding(self.table.rows.tops[0].id))

    @property
    def _layout(self) -> GraphLayout | None:
        return self.graph.layout_

    def _selection_changed(self) -> None:
        analysis, chosen = self.context.analysis, self.context.navigation.selection
        if analysis is None or self._layout is None:
            return
        self._follow(chosen.finding if isinstance(chosen, SelectedFinding) else "")
        if isinstance(chosen, SelectedFinding):
            finding = next((f for f in analysis.findings if f.id == chosen.finding), None)
            if finding:
                self.graph.set_chosen({finding.group or finding.block}, self._edges_of(finding))
                self.details.show_page(finding_page(finding, analysis, self.context.platform))
                return
        elif isinstance(chosen, SelectedBlock | SelectedState):
            members = [m for m in analysis.blocks if chosen.block in (m.block.id, m.block.group)]
            if members or self._layout.node_of(chosen.block):  # an instance without blocks has streams alone
                self.graph.set_chosen({chosen.block}, self.graph.touching(chosen.block))
                if not members:
                    self.details.show_nothing()
                else:
                    self.details.show_page(block_page(members, analysis))
                return
        elif isinstance(chosen, SelectedCall):
            calls = [c for c in analysis.calls if c.site_number == chosen.site]
            if calls:
                messages = {m for c in calls for m in c.state.messages}
                edges = [e for e in self._layout.edges if any(x.message in messages for x in e.edges)]
                self.graph.set_chosen({calls[0].block}, edges)
                self.details.show_page(call_page(calls, analysis))
                return
        elif isinstance(chosen, SelectedMessage):
            wanted = (chosen.source, chosen.target, chosen.message)
            edges = [e for e in self._layout.edges if any((x.source, x.target, x.message) == wanted for x in e.edges)]
            self.graph.set_chosen((), edges)
            self.details.show_nothing()
            return
        self.graph.set_chosen(())
        self.details.show_nothing()

    def _edges_of(self, finding: Finding) -> list[RoutedEdge]:
        """The edges of the messages that the finding's calls or states carry; without any, all of its block's."""
        analysis = self.context.analysis
        if analysis is None:
            return []
        places = {(p.file, p.line) for p in finding.places}
        messages = {m for c in analysis.calls if (c.site.file, c.site.line) in places for m in c.state.messages}
        for metrics in analysis.blocks:
            if finding.block in (metrics.block.id, metrics.block.group):
                messages |= {m for s in metrics.block.states if (s.file, s.line) in places for m in s.messages}
        edges = self.graph.touching(finding.block)
        mine = [e for e in edges if any(x.message in messages for x in e.edges)]
        return mine or ([] if places else edges)

    def retheme(self) -> None:
        self.table.viewport().update()
        self._selection_changed()

    # ---- findings

    def step_finding(self, step: int) -> bool:
        self.table.step_finding(step)
        return True

    def try_change(self, number: int = 0) -> bool:
        """Try the changes of the selected finding's advice, by its number in the details."""
        analysis, chosen = self.context.analysis, self.context.navigation.selection
        if analysis is None:
            return False
        findings = [f for f in analysis.findings if isinstance(chosen, SelectedFinding) and f.id == chosen.finding]
        advice = findings[0].advice[number : number + 1] if findings else ()
        self.details.try_changes(advice[0].changes if advice else ())
        return True

    def set_filter(self, name: str) -> None:
        self.filter = name
        self._write_findings()

    def show_only(self, node: str) -> None:
        """Only the findings of one block or stack; "" shows all again."""
        self.only_node = node
        self._write_findings()

    def _choose_counted(self, name: str) -> None:
        """Show a table of what was counted in place of the findings, or these again."""
        for other, pill in self.counted.items():
            pill.setChecked(other == name and pill.isChecked())
        self._write_findings()

    def _write_findings(self) -> None:
        run, analysis = self.context.run, self.context.analysis
        if analysis is None:
            return
        sides = {m.block.id: m.block.side for m in analysis.blocks} | {
            m.block.group: m.block.side for m in analysis.blocks
        }
        ranked = list(analysis.findings)
        active = [f for f in ranked if not {f.id, f.part_of} & self.context.aside]
        groups = {
            "all": active,
            "host": [f for f in active if sides.get(f.block) is Side.HOST],
            "fpga": [f for f in active if sides.get(f.block) is Side.FPGA],
            "aside": [f for f in ranked if f.id in self.context.aside],
        }
        for name, title in (("all", "All"), ("host", "Host"), ("fpga", "FPGA"), ("aside", "Set aside")):
            self.pills[name].setText(title if name == "all" else f"{title} {len(tops(groups[name]))}")
            self.pills[name].setChecked(name == self.filter)
            self.pills[name].setVisible(name != "aside" or bool(groups["aside"]) or self.filter == "aside")
        shown = groups[self.filter]
        node = self._layout.node_of(self.only_node) if self._layout and self.only_node else None
        if node:
            here = {f.id for f in findings_on(analysis.findings, node.block_ids)}
            shown = [f for f in shown if f.id in here or f.part_of in here]
            self.node_pill.setText(node.title)
            self.node_pill.setChecked(True)
        self.node_pill.setVisible(node is not None)
        self.table.show_findings(shown, self.context.aside, ranks_of(active), ranked)
        self.speedups.show_bars(estimate_bars(shown, self.context.aside, where_words, analysis.time_s))
        counted = f"{len(tops(active))} of {len(tops(ranked))}" if len(active) < len(ranked) else count_words(ranked)
        self.findings_head.set_title("Findings", f"{counted}, {ranked_words(ranked)}")
        there = {
            "Streams": (len(analysis.streams), "those with most stalls first", self.streams),
            "Memory": (len(analysis.memory_ports), "those that wait longest first", self.memory),
        }
        for name, pill in self.counted.items():
            pill.setVisible(bool(there[name][0]))
        chosen = next((name for name, pill in self.counted.items() if there[name][0] and pill.isChecked()), "")
        page = self.nothing if not shown else self.speedups if self.chart.isChecked() else self.table
        self._table_pages.setCurrentWidget(there[chosen][2] if chosen else page)
        self.chart.setVisible(bool(shown) and not chosen)
        if chosen:
            for pill in (*self.pills.values(), self.node_pill):
                pill.setVisible(False)
            count, order, _ = there[chosen]
            self.findings_head.set_title(chosen, f"{count}, {order}" if count > 1 else "")
        if not shown:
            self.nothing.say(
                "No finding here" if ranked else "No rule fired",
                "" if ranked or run is None else nothing_words(run.manifest, analysis),
            )
        self.legend.show_predictions(predicted(ranked))
        self._write_best(active)
        selected = self.context.navigation.selection
        self._follow(selected.finding if isinstance(selected, SelectedFinding) else "")

    def _follow(self, finding: str) -> None:
        self.table.select_finding(finding)
        self.speedups.set_current(finding)

    def _write_best(self, active: list[Finding]) -> None:
        analysis = self.context.analysis
        best = active[0] if active else None
        self.show_best.setVisible(bool(best and best.places))
        if best and analysis and not self.shortfall.text:
            how = "At best, fixing 1" if best.speedup_predicted is None else "Fixing 1, predicted"
            self.best.setText(f"{how}: {becomes_words(analysis.time_s, best.gain)}")
        else:
            self.best.setText("")

    # ---- to the context

    def _choose_node(self, block: str) -> None:
        self.context.navigation.select(SelectedBlock(block) if block else None)

    def _choose_edge(self, edge: RoutedEdge) -> None:
        run = self.context.run
        messages = {e.message for e in edge.edges}
        analysis = self.context.analysis
        calls = [c for c in analysis.calls if messages & set(c.state.messages)] if analysis and run else []
        if calls:
            self.context.navigation.select(SelectedCall(calls[0].site_number))
        else:
            first = edge.edges[0]
            self.context.navigation.select(SelectedMessage(first.source, first.target, first.message))

    def _open_node(self, block: str) -> None:
        analysis = self.context.analysis
        for metrics in analysis.blocks if analysis else ():
            if block in (metrics.block.id, metrics.block.group) and metrics.block.file and metrics.block.line:
                self.context.navigation.open_line(metrics.block.file, metrics.block.line)
                return

    def _open_best(self) -> None:
        if self.table.rows.tops:
            self.table.open_line(self.table.rows.tops[0])
