"""What can be asked about, as a graph: blocks, and edges with what is said on them. A right click on an edge asks."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial

from PySide6.QtCore import QPointF, Signal
from PySide6.QtGui import QContextMenuEvent, QMouseEvent
from PySide6.QtWidgets import QMenu

from workbench.api.queries import QueriedBlock, QueriedEdge, Subject
from workbench.gui.modes.analyse.graph import GraphView
from workbench.model.blocks import Block, BlockGraph, Edge, Side, State
from workbench.model.text import counted
from workbench.pictures import graph as block_graph
from workbench.pictures.graph import NodeFacts
from workbench.pictures.layout import GraphLayout, NodeBox, RoutedEdge
from workbench.pictures.layout_fit import layout_to_fit

STYLE = replace(
    block_graph.STYLE, flow=True, columns_per_band=12, node_width=128, node_height=72, label_height=40, gap=12
)  # two lines at every edge


def graph_of(subject: Subject) -> BlockGraph:
    """The blocks in one frame, that of the application."""
    blocks = tuple(
        Block(key, Side.FPGA, key, "", key, (State(0, "unclassified"),))
        for key in (_key(subject, block.name) for block in subject.blocks)
    )
    ids = {block.name: _key(subject, block.name) for block in subject.blocks}
    edges = tuple(Edge(ids[edge.source], ids[edge.sink], said(subject, edge)) for edge in subject.edges)
    return BlockGraph(blocks, edges)


def facts_of(subject: Subject, words: Mapping[str, str]) -> dict[str, NodeFacts]:
    """What is in blocks: words by their names, and on what they are."""
    facts = {}
    for block in subject.blocks:
        icon, ground = ("cpu", "selection") if block.in_hardware else ("terminal" if block.stands else "", "panel")
        figure, _, word = words.get(block.name, "").partition(" ")
        lines = (figure, word, block.stands) if figure else ("", block.stands, "")
        facts[_key(subject, block.name)] = NodeFacts((), *lines, icon=icon, ground=ground)
    return facts


def said(subject: Subject, edge: QueriedEdge) -> str:
    """What is on an edge."""
    return f"{_short(subject, edge.label)} {edge.words}"


def laid_out(graph: BlockGraph, width: float, height: float) -> GraphLayout:
    """The graph in a room. On a line of one edge its name is over what is said of it."""
    layout = layout_to_fit(graph, STYLE, width, height)
    lines = []
    for edge in layout.edges:
        name, _, words = edge.label.partition(" ")
        lines.append(replace(edge, label=name, detail=words) if len(edge.edges) == 1 else edge)
    return replace(layout, edges=tuple(lines))


def _key(subject: Subject, block: str) -> str:
    return f"{subject.name}.{_short(subject, block)}"


def summary(subject: Subject) -> str:
    """How many blocks and streams, and how many of them in hardware."""
    inside = Counter(block.stands.partition(",")[0] for block in subject.blocks if block.in_hardware)
    parts = [counted(len(subject.blocks), "block")]
    parts += [counted(len(subject.edges), "stream")] if subject.edges else []
    return ", ".join([subject.name, *parts, *(f"{count} in {where}" for where, count in inside.items())])


def _short(subject: Subject, name: str) -> str:
    return name.removeprefix(f"{subject.name}.")


class SubjectGraph(GraphView):
    """`statement_chosen` carries the statement that was chosen of an edge's; `place_wanted` file and line of what was
    opened."""

    statement_chosen = Signal(str)
    place_wanted = Signal(str, int)
    file_name = "streams"
    has_legend = False

    def __init__(self) -> None:
        super().__init__()
        self.setAccessibleName("Streams")
        self.subject: Subject | None = None
        self.node_opened.connect(self._open)

    def show_subject(self, subject: Subject | None) -> None:
        self.subject = subject
        if subject is None:
            self.show_graph(None, {}, {})
            return
        graph = graph_of(subject)
        layout = laid_out(graph, *self.room())
        measured = "a stream or a block" if any(block.statements for block in subject.blocks) else "a stream"
        measured = measured if subject.edges else "a block"
        note = f"right-click {measured} to measure it; double-click to open its source"
        self.show_graph(layout, facts_of(subject, {}), {subject.name: note}, partial(laid_out, graph))

    def short_words(self) -> Mapping[str, Sequence[str]]:
        return {said(self.subject, edge): edge.short for edge in self.subject.edges} if self.subject else {}

    def say(self, words: Mapping[str, str]) -> None:
        """Say something at blocks, by their names."""
        if self.layout_ is None or self.subject is None or not words:
            return
        self.facts = facts_of(self.subject, words)
        self.redraw()

    def _open(self, key: str) -> None:
        places = {_key(self.subject, block.name): block.place for block in self.subject.blocks} if self.subject else {}
        if place := places.get(key):
            self.place_wanted.emit(*place)

    def mouseDoubleClickEvent(self, event: QMouseEvent) -> None:
        super().mouseDoubleClickEvent(event)
        routed = None if self._node_at(event.position()) else self._edge_at(event.position())
        for edge in self.edges_of(routed)[:1] if routed else ():
            if edge.place:
                self.place_wanted.emit(*edge.place)

    def _tip(self, badge: str, node: tuple[NodeBox, str] | None, edge: RoutedEdge | None) -> str:
        if node:
            facts = self.facts[node[0].key]
            said = f"{facts.figure} {facts.words}".strip()
            return ", ".join(filter(None, (f"{node[1]}: {said}", facts.second)))
        if edge:
            lines = (f"{one.label}, {one.words}: {one.source} to {one.sink}" for one in self.edges_of(edge))
            return "\n".join(lines)
        return super()._tip(badge, node, edge)

    def edges_of(self, routed: RoutedEdge) -> list[QueriedEdge]:
        subject, messages = self.subject, {edge.message for edge in routed.edges}
        return [edge for edge in subject.edges if said(subject, edge) in messages] if subject else []

    def asking_menu(self, at: QPointF) -> QMenu | None:
        """What can be asked of the block or the edge at a place."""
        node, routed = self._node_at(at), self._edge_at(at)
        asked: list[QueriedBlock | QueriedEdge] = []
        if node is not None and self.subject is not None:
            asked = [one for one in self.subject.blocks if _key(self.subject, one.name) == node[1] and one.statements]
        elif routed is not None:
            asked = [*self.edges_of(routed)]
        if not asked:
            return None
        menu = QMenu(self)
        for one in asked:
            menu.addSection(f"States of {one.name}" if isinstance(one, QueriedBlock) else one.label)
            for title, statement in one.statements:
                menu.addAction(title, partial(self.statement_chosen.emit, statement))
        return menu

    def contextMenuEvent(self, event: QContextMenuEvent) -> None:
        menu = self.asking_menu(QPointF(event.pos()))
        if menu is None:
            super().contextMenuEvent(event)
        else:
            menu.exec(event.globalPos())
            menu.deleteLater()
