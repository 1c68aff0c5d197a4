"""What can be asked about, as a graph: blocks, and edges with what is said on them. A right click on an edge asks."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from functools import partial

from PySide6.QtCore import QPointF, Signal
from PySide6.QtGui import QContextMenuEvent
from PySide6.QtWidgets import QMenu

from workbench.api.queries import QueriedEdge, Subject
from workbench.gui.analyse.graph import GraphView
from workbench.model.blocks import Block, BlockGraph, Edge, Side, State
from workbench.pictures import graph as block_graph
from workbench.pictures.graph import NodeFacts
from workbench.pictures.layout import GraphLayout, RoutedEdge
from workbench.pictures.layout_fit import layout_to_fit

STYLE = replace(block_graph.STYLE, label_height=40)  # two lines at every edge


def graph_of(subject: Subject) -> BlockGraph:
    """The blocks in one frame, that of the application."""
    blocks = tuple(
        Block(f"{subject.name}.{_short(subject, name)}", Side.FPGA, subject.name, "", name, (State(0, "unclassified"),))
        for name in subject.blocks
    )
    ids = dict(zip(subject.blocks, (block.id for block in blocks), strict=True))
    edges = tuple(Edge(ids[edge.source], ids[edge.sink], said(subject, edge)) for edge in subject.edges)
    return BlockGraph(blocks, edges)


def said(subject: Subject, edge: QueriedEdge) -> str:
    """What stands on an edge."""
    return f"{_short(subject, edge.label)} {edge.words}"


def laid_out(graph: BlockGraph, width: float, height: float) -> GraphLayout:
    """The graph in a room. On a line of one edge its name stands over what is said of it."""
    layout = layout_to_fit(graph, STYLE, width, height)
    lines = []
    for edge in layout.edges:
        name, _, words = edge.label.partition(" ")
        lines.append(replace(edge, label=name, detail=words) if len(edge.edges) == 1 else edge)
    return replace(layout, edges=tuple(lines))


def _short(subject: Subject, name: str) -> str:
    return name.removeprefix(f"{subject.name}.")


class SubjectGraph(GraphView):
    """`statement_chosen` carries the statement that was chosen of an edge's."""

    statement_chosen = Signal(str)
    file_name = "streams"

    def __init__(self) -> None:
        super().__init__()
        self.setAccessibleName("Streams")
        self.subject: Subject | None = None

    def show_subject(self, subject: Subject | None) -> None:
        self.subject = subject
        if subject is None:
            self.show_graph(None, {}, {})
            return
        graph = graph_of(subject)
        layout = laid_out(graph, *self.room())
        note = f"{len(subject.blocks)} blocks, {len(subject.edges)} streams; right-click one to measure it"
        facts = {node.key: NodeFacts((), "", "", "") for node in layout.nodes}
        self.show_graph(layout, facts, {subject.name: note}, partial(laid_out, graph))

    def say(self, words: Mapping[str, str]) -> None:
        """Say something at blocks, by their names."""
        if self.layout_ is None or self.subject is None or not words:
            return
        at = {f"{self.subject.name}.{_short(self.subject, name)}": text for name, text in words.items()}
        self.facts = {node.key: NodeFacts((), at.get(node.key, ""), "", "") for node in self.layout_.nodes}
        self.redraw()

    def edges_of(self, routed: RoutedEdge) -> list[QueriedEdge]:
        subject, found = self.subject, {edge.message for edge in routed.edges}
        return [edge for edge in subject.edges if said(subject, edge) in found] if subject else []

    def edge_menu(self, at: QPointF) -> QMenu | None:
        """What can be asked of the edge at a place."""
        routed = self._edge_at(at)
        if routed is None:
            return None
        menu = QMenu(self)
        for edge in self.edges_of(routed):
            menu.addSection(edge.label)
            for title, statement in edge.statements:
                menu.addAction(title, partial(self.statement_chosen.emit, statement))
        return menu

    def contextMenuEvent(self, event: QContextMenuEvent) -> None:
        menu = self.edge_menu(QPointF(event.pos()))
        if menu is None:
            super().contextMenuEvent(event)
        else:
            menu.exec(event.globalPos())
            menu.deleteLater()
