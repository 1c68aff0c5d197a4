"""Analyse mode: the block graph over the findings, one selection through both and into the details."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import QSize
from PySide6.QtWidgets import QStackedLayout, QWidget

from workbench.analysis.block_page import block_page, call_page
from workbench.analysis.finding_page import finding_page
from workbench.analysis.graph_nodes import node_page
from workbench.analysis.recording import recording_parts
from workbench.api.modes import WindowMode
from workbench.api.results import Analysis, BlockMetrics
from workbench.api.views import Page
from workbench.api.window import Context, Mode
from workbench.gui.frame.naming import range_title
from workbench.gui.frame.selection import (
    SelectedBlock,
    SelectedCall,
    SelectedFinding,
    SelectedMessage,
    SelectedState,
    Selection,
)
from workbench.gui.modes.analyse.details import AnalyseDetails
from workbench.gui.modes.analyse.findings_panel import FindingsPanel
from workbench.gui.modes.analyse.graph import GraphView
from workbench.gui.modes.analyse.graph_places import fill, places_of
from workbench.gui.modes.analyse.legends import GraphLegend
from workbench.gui.modes.analyse.own_rules import OwnRules
from workbench.gui.modes.analyse.path_in_graph import PathInGraph
from workbench.gui.modes.analyse.picture_tabs import BLOCKS, PictureTabs
from workbench.gui.modes.analyse.shortfall import ShortfallRow
from workbench.gui.modes.analyse.states_panel import StatesPanel
from workbench.gui.modes.analyse.times_panel import TimesPanel
from workbench.gui.views.picture_buttons import add_picture_buttons
from workbench.gui.widgets import PanelHeader, Split, plain_panel, rule
from workbench.model.changes import Change
from workbench.model.finding import Finding
from workbench.model.run import Run
from workbench.pictures.graph import STYLE, frame_notes, node_facts
from workbench.pictures.layout import GraphLayout, NodeBox, RoutedEdge
from workbench.pictures.layout_fit import layout_to_fit
from workbench.session.edit.documents import Document
from workbench.session.edit.history import Undoable

if TYPE_CHECKING:
    from workbench.gui.modes.analyse.predicted_round import RoundPanel

#: A graph of up to so many nodes is laid out anew whenever its room changes.
MOST_REFITTED = 60


#: Nodes and edges of the graph that are marked, and the page of details.
_Shown = tuple[Collection[str], Sequence[RoutedEdge], Page | None]
_NOTHING: _Shown = ((), (), None)


class AnalyseMode(Mode):
    """Shows the context's analysis. `details` is for the dock at the right."""

    def __init__(self, context: Context, kind: WindowMode) -> None:
        super().__init__(context, kind)
        self.details_panel = self.details = AnalyseDetails(context)
        self.graph = GraphView()

    def build(self) -> Iterator[None]:
        self.graph.problem.connect(self.context.notices.tell)
        self.shortfall = ShortfallRow()
        self.findings = FindingsPanel(self.context, self._node, lambda: bool(self.shortfall.text))
        yield
        self.rules = OwnRules(self.context, self.findings, self.details)
        self.set_content(self._content())
        self.setFocusProxy(self.findings.table)
        self._connect()
        yield
        self._analysis_changed()

    # ---- arrangement

    def minimumSizeHint(self) -> QSize:
        return QSize(632, super().minimumSizeHint().height())  # the legend with all its words

    def _content(self) -> QWidget:
        panel, column = plain_panel()
        column.addWidget(self.shortfall)
        graph = self._upper_panel()
        graph.setFocusProxy(self.graph)
        self.panels = graph, self.findings
        split = Split((graph, 450), (self.findings, 480), vertical=True)
        self.findings.needs.connect(partial(split.bound, 1))
        column.addWidget(split, 1)
        return panel

    def _upper_panel(self) -> QWidget:
        """The graph; in its place, while changes are tried, a round of the run as measured and as predicted."""
        panel = QWidget()
        self._upper = QStackedLayout(panel)
        self._upper.setContentsMargins(0, 0, 0, 0)
        self._upper.addWidget(self._graph_panel())
        self.round: RoundPanel | None = None  # made when changes are tried first
        self.times: TimesPanel | None = None  # made when the run's time is asked for first
        self.states: StatesPanel | None = None  # made when a block's states are asked for first
        return panel

    def _show_round(self, changes: Sequence[Change]) -> None:
        if not changes:
            if self.round:
                self.round.forget()
            self._upper.setCurrentIndex(0)
            return
        if self.round is None:
            from workbench.gui.modes.analyse.predicted_round import (
                RoundPanel,  # with numpy, which a window starts without
            )

            self.round = RoundPanel(self.context)
            self.round.wanted.connect(self._show_picture)
            self.round.ready.connect(partial(self._upper.setCurrentWidget, self.round))
            self._upper.addWidget(self.round)
        self.round.ask(changes)

    def show_times(self, kind: str) -> None:
        """The run's time in place of the graph."""
        if self.times is None:
            self.times = TimesPanel(self.context)
            self.times.wanted.connect(self._show_picture)
            self._upper.addWidget(self.times)
        self.times.show_kind(kind)
        self._upper.setCurrentWidget(self.times)
        self.times.view.setFocus()

    def _show_picture(self, name: str) -> None:
        if name == BLOCKS:
            self._show_blocks()
        else:
            self.show_times(name)

    def _graph_panel(self) -> QWidget:
        panel, column = plain_panel()
        self.graph_head = PanelHeader("Blocks")
        add_picture_buttons(self.graph_head, self.graph, "graph")
        self.path = PathInGraph(self.graph, self.details, self.context)
        self.path.within_wanted.connect(self._show_path)
        for control in (self.path.within, self.path.pill):
            self.graph_head.add(control)
        PictureTabs(self.graph_head, self._show_picture, BLOCKS)
        column.addWidget(self.graph_head)
        column.addWidget(self.graph, 1)
        column.addWidget(rule())
        column.addWidget(GraphLegend())
        return panel

    def _connect(self) -> None:
        context = self.context
        self.follow(context.run_changed, self._run_changed)
        self.follow(context.analysis_changed, self._analysis_changed)
        self.follow(context.aside_changed, self.findings.write)
        self.follow(context.navigation.selection_changed, self._selection_changed)
        self.graph.node_chosen.connect(self._choose_node)
        self.graph.node_opened.connect(self._open_node)
        self.graph.badge_clicked.connect(self.findings.show_only)
        self.graph.edge_chosen.connect(self._choose_edge)
        self.graph.edge_opened.connect(self._open_edge)
        self.graph.fill_menu = lambda menu, what: fill(menu, context, what)
        self.details.try_wanted.connect(self.try_change)
        self.details.tried.connect(self._show_round)
        self.details.asked.connect(self.details_asked)
        self.follow(context.predictions_changed, self._predictions_changed)
        self.details.closed.connect(lambda: context.navigation.select(None))
        self.details.link_wanted.connect(lambda wanted: context.navigation.select(SelectedFinding(wanted)))

    # ---- from the context

    def _run_changed(self) -> None:
        self.findings.reset()
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
        self.path.show_facts()
        shown = len(analysis.graph.blocks)
        if self.states and self._upper.currentWidget() is self.states and not self.states.show_again(analysis):
            self._upper.setCurrentIndex(0)
        self.shortfall.show_run(run)
        chosen = self.context.shown_range
        part = f"{range_title(chosen)} of the run. " if chosen else ""
        self.graph_head.set_title("Blocks", f"{part}{shown} blocks. Edge width: time in the call.")
        self.findings.show_counted(analysis)
        self.findings.write()
        self._write_status(run, analysis)
        self._selection_changed()
        self.findings.select_first()

    def _predictions_changed(self) -> None:
        """The findings are the same, ranked and weighed anew."""
        analysis, layout = self.context.analysis, self._layout
        if analysis is not None and layout is not None:
            self.path.show_facts()
            self.findings.write()
            self._selection_changed()
            if not self.details.is_trying:
                self.findings.select_first()
        if self.context.run and analysis:
            self._write_status(self.context.run, analysis)

    def _write_status(self, run: Run, analysis: Analysis) -> None:
        blocks = analysis.graph.blocks
        observed = sum(1 for block in blocks if len(block.states) > 1)
        replayed = self.context.replayed
        how = "predicted from its profile" if replayed and replayed.likely else "replay exact"
        exact = (how if replayed.exact else f"not predicted: {replayed.why}",) if replayed else ()
        parts = f"{observed} of {len(blocks)} blocks observed", *recording_parts(run.manifest), *exact
        self.say_status(*parts)

    def _node(self, block: str) -> NodeBox | None:
        return self._layout.node_of(block) if self._layout and block else None

    @property
    def _layout(self) -> GraphLayout | None:
        return self.graph.layout_

    def _selection_changed(self) -> None:
        analysis, chosen = self.context.analysis, self.context.navigation.selection
        if analysis is None or self._layout is None:
            return
        self.findings.follow(chosen.finding if isinstance(chosen, SelectedFinding) else "")
        nodes, edges, page = self._shown_of(chosen, analysis, self._layout)
        self.graph.set_chosen(nodes, edges)
        if self.states is not None:
            self.states.follow(chosen)
        if page is None:
            self.details.show_nothing()
        else:
            self.details.show_page(page)

    def _shown_of(self, chosen: Selection | None, analysis: Analysis, layout: GraphLayout) -> _Shown:
        """What of the graph is marked for a selection, and the page of its details."""
        match chosen:
            case SelectedFinding(finding):
                return self._shown_of_finding(finding, analysis)
            case SelectedBlock(block=block) | SelectedState(block=block):
                members = analysis.members(block)
                if members or layout.node_of(block):  # an instance without blocks has streams alone
                    page = block_page(members, analysis) if members else node_page(block, analysis)
                    return {block}, self.graph.touching(block), page
            case SelectedCall(site):
                if calls := [c for c in analysis.calls if c.site_number == site]:
                    messages = {m for c in calls for m in c.state.messages}
                    edges = [e for e in layout.edges if any(x.message in messages for x in e.edges)]
                    return {calls[0].block}, edges, call_page(calls, analysis)
            case SelectedMessage(source, target, message):
                wanted = (source, target, message)
                edges = [e for e in layout.edges if any((x.source, x.target, x.message) == wanted for x in e.edges)]
                return (), edges, None
        return _NOTHING

    def _shown_of_finding(self, wanted: str, analysis: Analysis) -> _Shown:
        finding = next((f for f in analysis.findings if f.id == wanted), None)
        if finding is None:
            return _NOTHING
        page = finding_page(finding, analysis, self.context.platform)
        return {finding.group or finding.block}, self._edges_of(finding), page

    def _edges_of(self, finding: Finding) -> list[RoutedEdge]:
        """The edges of the messages that the finding's calls or states carry; without any, all of its block's."""
        analysis = self.context.analysis
        if analysis is None:
            return []
        places = {(p.file, p.line) for p in finding.places}
        messages = {m for c in analysis.calls if (c.site.file, c.site.line) in places for m in c.state.messages}
        for metrics in analysis.members(finding.block):
            messages |= {m for s in metrics.block.states if (s.file, s.line) in places for m in s.messages}
        edges = self.graph.touching(finding.block)
        mine = [e for e in edges if any(x.message in messages for x in e.edges)]
        return mine or ([] if places else edges)

    @property
    def shown_document(self) -> Document | None:
        """The rule file, while a rule is edited or was and is not saved."""
        document = self.rules.editor.document if self.rules.editor else None
        edited = document is not None and document.path is not None and (self.details.shows_rule or document.dirty)
        return document if edited else None

    @property
    def history(self) -> Undoable:
        """The rule's while its form is shown; else the window's, as long as that has something."""
        document, own = self.shown_document, self.context.history
        mine = document is not None and (self.details.shows_rule or not (own.can_undo or own.can_redo))
        return document.history if document is not None and mine else own

    def restore(self, path: Path, text: str) -> bool:
        return self.rules.restore(path, text)

    def retheme(self) -> None:
        self.findings.table.viewport().update()
        self._selection_changed()

    # ---- findings

    def step_finding(self, step: int) -> bool:
        self.findings.table.step_finding(step)
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

    # ---- to the context

    def _choose_node(self, block: str) -> None:
        self.context.navigation.select(SelectedBlock(block) if block else None)

    def _choose_edge(self, edge: RoutedEdge) -> None:
        messages, analysis = {e.message for e in edge.edges}, self.context.analysis
        calls = [c for c in analysis.calls if messages & set(c.state.messages)] if analysis else []
        if calls:
            self.context.navigation.select(SelectedCall(calls[0].site_number))
        else:
            first = edge.edges[0]
            self.context.navigation.select(SelectedMessage(first.source, first.target, first.message))

    def _open_edge(self, edge: RoutedEdge) -> None:
        """The first line that carries the edge's messages."""
        if places := places_of(self.context, edge):
            self.context.navigation.open_line(places[0].file, places[0].line)

    def _open_node(self, block: str) -> None:
        """The states of a block; where none were counted, its line."""
        analysis = self.context.analysis
        members = analysis.members(block) if analysis else ()
        self.states = self.states or self._states_panel()
        if self.states.show_block(block, members):
            self._upper.setCurrentWidget(self.states)
            self.states.view.setFocus()
        else:
            self._open_line(members)

    def _states_panel(self) -> StatesPanel:
        panel = StatesPanel()
        panel.view.problem.connect(self.context.notices.tell)
        panel.view.chosen.connect(self._choose_state)
        panel.view.opened.connect(self._open_state)
        panel.wanted.connect(self._show_picture)
        panel.source.clicked.connect(lambda: self._open_line(panel.members))
        self._upper.addWidget(panel)
        return panel

    def _show_blocks(self) -> None:
        self._upper.setCurrentIndex(0)
        self.graph.setFocus()

    def _choose_state(self, index: int) -> None:
        if self.states is None:
            return
        if self.states.path:
            self.states.view.set_current(index)
        else:
            self.context.navigation.select(SelectedState(self.states.members[0].block.id, index))

    def _open_state(self, index: int) -> None:
        if self.states and (line := self.states.line_of(index)):
            self.context.navigation.open_line(*line)

    def _show_path(self) -> None:
        """The critical path by state and call in place of the graph."""
        self.states = self.states or self._states_panel()
        if self.context.analysis and self.states.show_path(self.context.analysis):
            self._upper.setCurrentWidget(self.states)
            self.states.view.setFocus()

    def _open_line(self, members: Sequence[BlockMetrics]) -> None:
        for metrics in members:
            if metrics.block.file and metrics.block.line:
                self.context.navigation.open_line(metrics.block.file, metrics.block.line)
                return
