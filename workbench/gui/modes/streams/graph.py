"""The graph of blocks and labelled edges that can be queried. A right click on an edge asks."""

import math
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial

from PySide6.QtCore import QPointF, Signal
from PySide6.QtGui import QContextMenuEvent, QMouseEvent
from PySide6.QtWidgets import QMenu

from workbench.api.queries import Explained, QueriedBlock, QueriedEdge, QueueFill, Subject
from workbench.api.window import Context
from workbench.gui.modes.analyse.graph import EDGE_PX, GraphView
from workbench.model.blocks import Block, BlockGraph, Edge, Side, State
from workbench.model.pragma import Category
from workbench.model.text import counted, percent_text, significant
from workbench.pictures import graph as block_graph
from workbench.pictures.canvas import Canvas
from workbench.pictures.edge_labels import EdgeLabel, LabelForm, Words, name_tails
from workbench.pictures.graph import NodeFacts
from workbench.pictures.layout import GraphLayout, LayoutStyle, NodeBox, RoutedEdge, layout_graph
from workbench.pictures.layout_fit import fit_scale, layout_to_fit, widened

STYLE = replace(
    block_graph.STYLE, flow=True, columns_per_band=12, node_width=108, node_height=84, label_height=40, gap=12,
    head_height=16,
)  # fmt: skip
#: With what a run shows of each queue: a line over the edge, a gauge and two lines under it.
FULL = replace(STYLE, label_height=92, character_width=8.4, gap=24)
FOLDS = (8, 6, 5, 4, 3)  # columns of a long chain, where it is larger so
_FOLD_GAIN = 1.2
_LEAST_SCALE = 0.85  # at which all that a run shows is on the edges
MOST_FOLDED = 60  # blocks; of more each layout takes its time
MOST_AT_ONCE = 24  # blocks that are laid out in the window's thread: 30 ms
NOTE_PX, MOST_NODE_PX = 24.0, 200.0
NOTED_FROM_PX = 180  # in a lower graph labels are where the note would be
GAPS = (140.0, 110.0, 80.0, 56.0, 36.0)  # between blocks under one another, where there is room
_HELD = 0.1  # of the time, from which on it is in another colour
_NEARLY_FULL = 0.9


def graph_of(subject: Subject) -> BlockGraph:
    """The blocks in one frame, that of the application."""
    blocks = tuple(
        Block(key, Side.FPGA, key, "", key, (State(0, "unclassified"),))
        for key in (_key(subject, block.name) for block in subject.blocks)
    )
    ids = {block.name: _key(subject, block.name) for block in subject.blocks}
    edges = tuple(
        Edge(ids[edge.source], ids[edge.sink], _short(subject, edge.label), rate=edge.words) for edge in subject.edges
    )
    return BlockGraph(blocks, edges)


def facts_of(subject: Subject, shown: Explained | None = None) -> dict[str, NodeFacts]:
    """What is in blocks: what a run shows of them, and on what they are."""
    facts = {}
    for block in subject.blocks:
        icon, ground = ("cpu", "selection") if block.in_hardware else ("terminal" if block.stands else "", "panel")
        figure, _, word = (shown.blocks.get(block.name, "") if shown else "").partition(" ")
        lines = (figure, word, block.stands) if figure else ("", block.stands, "")
        shares = ((Category.WORK, shown.busy[block.name]),) if shown and block.name in shown.busy else ()
        limiting = shown is not None and block.name in shown.limit
        facts[_key(subject, block.name)] = NodeFacts(shares, *lines, icon=icon, ground=ground, limiting=limiting)
    return facts


def label_of(name: str, edge: QueriedEdge, queue: QueueFill | None) -> EdgeLabel:
    """Name and rate of a stream; how full its queue is, and for which share of the time it held its sender back."""
    forms: list[LabelForm] = []
    named = (name, "text", 600)
    rates = [(words, "text", 400) for words in (edge.words, *edge.short) if words]
    if queue:
        held = (f"{percent_text(queue.held)} held", *(("medium_text", 600) if queue.held > _HELD else ("second", 400)))
        fill: tuple[tuple[Words, ...], ...] = ()
        gauge = None
        if queue.depth:
            share = queue.mean / queue.depth
            fill = (((f"{_elements(queue.mean)} of {queue.depth}", "second", 400),),)
            gauge = share, "medium" if share > _NEARLY_FULL else "low"
        forms.append(LabelForm(((named, *rates[:1]), *fill, (held,)), astride=True, gauge=gauge))
        if gauge:  # where there is less room
            shorter = [((named, *rates[:1]), *fill), *(((named,), (rate,)) for rate in rates), ((named,),)]
            forms += [LabelForm(one, astride=True, gauge=gauge) for one in shorter]
    lines: list[tuple[tuple[Words, ...], ...]] = []
    for rate in rates:
        lines += [((named, rate),), ((named,), (rate,))]
    lines += [(((tail, "text", 600),),) for tail in name_tails(name)]
    forms += [LabelForm(one, astride=True) for one in lines]
    return EdgeLabel(tuple(forms), (queue.held, queue.rate_per_s) if queue else ())


def _elements(mean: float) -> str:
    return "< 0.1" if 0 < mean < 0.1 else significant(mean)


def laid_out(graph: BlockGraph, full: bool, width: float, height: float) -> GraphLayout:
    """The graph in a room of so many pixels, which it fills; where it can, with room for all that a run shows."""
    if len(graph.blocks) > MOST_FOLDED:
        return _unframed(layout_to_fit(graph, _in_columns(graph, STYLE, width, height), width, height))
    for style in (_in_columns(graph, one, width, height) for one in ((FULL, STYLE) if full else (STYLE,))):
        scale = fit_scale(layout_graph(graph, style), width, height)
        folded = [replace(style, columns_per_band=columns) for columns in FOLDS] if scale < 1 else ()
        scales = [(fit_scale(layout_graph(graph, fold), width, height), fold) for fold in folded]
        best = max(scales, key=lambda one: one[0], default=(0.0, style))
        if best[0] > _FOLD_GAIN * scale:
            scale, style = best
        if scale >= _LEAST_SCALE:
            break
    return _unframed(_filled(graph, style, width / scale, height / scale))


def _in_columns(graph: BlockGraph, style: LayoutStyle, width: float, height: float) -> LayoutStyle:
    """Blocks that nothing joins, as those of many processes, in as many columns as make the picture as wide as the
    room: without, they are one column."""
    streams = {end for edge in graph.edges for end in (edge.source, edge.target)}
    alone = sum(block.id not in streams for block in graph.blocks)
    if alone <= len(graph.blocks) / 2:
        return style
    cell = (style.node_width + 2 * style.gap) / (style.node_height + style.gap)
    rows = max(round(math.sqrt(len(graph.blocks) * cell * height / width)), 1)
    columns = -(-len(graph.blocks) // rows)
    wide = min(max(style.node_width, width / columns - 2 * style.gap), MOST_NODE_PX)
    return replace(style, rows_per_column=rows, columns_per_band=len(graph.blocks), node_width=wide)


def _filled(graph: BlockGraph, style: LayoutStyle, width: float, height: float) -> GraphLayout:
    """A layout that is as high and as wide as its room, in its own units: blocks further apart, longer lines."""
    layout = layout_graph(graph, style)
    least = 0.97 * fit_scale(layout, width, height)
    for gap in GAPS:
        roomy = replace(style, gap=gap)
        higher = layout_graph(graph, roomy)
        if fit_scale(higher, width, height) >= least:
            return widened(graph, roomy, higher, width)
    return widened(graph, style, layout, width)


def _unframed(layout: GraphLayout) -> GraphLayout:
    """The whole canvas is the application's frame."""
    return replace(layout, frames=())


def _has_queues(shown: Explained | None) -> bool:
    return shown is not None and bool(shown.queues)


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

    def __init__(self, context: Context) -> None:
        super().__init__()
        self._context = context
        self.setAccessibleName("Streams")
        self.subject: Subject | None = None
        self.shown: Explained | None = None  # what is drawn of what the run shows
        self._edges: Mapping[str, QueriedEdge] = {}  # by their short names
        self.node_opened.connect(self._open)

    def show_subject(self, subject: Subject | None, shown: Explained | None = None) -> None:
        self.subject, self.shown = subject, shown
        if subject is None:
            self.show_graph(None, {}, {})
            return
        self._edges = {_short(subject, edge.label): edge for edge in subject.edges}
        self.show_graph(None, facts_of(subject, shown), {}, partial(laid_out, graph_of(subject), _has_queues(shown)))

    def show_explained(self, shown: Explained) -> None:
        """Draw what the run shows of its blocks and queues."""
        if self.subject is not None:
            self.shown, facts = shown, facts_of(self.subject, shown)
            self.set_facts(facts, self.path)
            self._again = partial(laid_out, graph_of(self.subject), _has_queues(shown))
            self._laid_out_for = (0.0, 0.0)
            self.show_all()

    def lay_out_again(self, work: Callable[[], GraphLayout]) -> None:
        """A large graph in a thread: what was drawn of it before stays until then."""
        subject = self.subject
        if subject is None or len(subject.blocks) <= MOST_AT_ONCE:
            super().lay_out_again(work)
            return

        def done(layout: GraphLayout) -> None:
            if self.subject is subject:
                self._lay_out(layout)
                self.show_all()

        context = self._context
        context.background.start("streams-layout", work, done, context.failed, reads_documents=False)

    def room(self) -> tuple[float, float]:
        """Without the note's line, below, and as much above."""
        return super().room()[0], max(self.height() - 2 * NOTE_PX - EDGE_PX, 1.0)

    def label_of(self, edge: RoutedEdge) -> EdgeLabel:
        found = self.edges_of(edge)
        if len(found) != 1:
            return super().label_of(edge)
        queue = self.shown.queues.get(found[0].label) if self.shown else None
        return label_of(edge.edges[0].message, found[0], queue)

    def weight_of(self, edge: RoutedEdge) -> float:
        queues = self.shown.queues if self.shown else {}
        return sum(queues[one.label].rate_per_s for one in self.edges_of(edge) if one.label in queues)

    def draw(self, canvas: Canvas) -> None:
        super().draw(canvas)
        if self.height() < NOTED_FROM_PX:
            return
        notes, room = self._notes(), self.width() - 2 * EDGE_PX
        while len(notes) > 1 and canvas.width_of(" ".join(notes), 11) > room:
            notes.pop()
        canvas.rect(0, self.height() - NOTE_PX, self.width(), NOTE_PX, "window")
        canvas.text(EDGE_PX, self.height() - NOTE_PX, room, NOTE_PX, " ".join(notes), "second", 11)

    def _notes(self) -> list[str]:
        """What can be done here, and what is on the edges."""
        if self.subject is None:
            return [""]
        measured = "a stream or a block" if any(block.statements for block in self.subject.blocks) else "a stream"
        notes = [f"Right-click {measured if self.subject.edges else 'a block'} to measure it."]
        queues = self.shown.queues.values() if self.shown else ()
        if queues:
            fill = "mean fill of its queue, " if any(queue.depth for queue in queues) else ""
            notes.append(f"Under each stream: {fill}share of the time that it holds its sender back.")
            notes.append("Line width: rate.")
        return [*notes, "Double-click to open the source."]

    def mark(self, words: Sequence[str]) -> None:
        """Colour the edges that are named in a statement."""
        edges = self.layout_.edges if self.layout_ else ()
        self.set_chosen(self.chosen, [edge for edge in edges if any(one.message in words for one in edge.edges)])

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
            return "\n".join(map(self._said, self.edges_of(edge)))
        return super()._tip(badge, node, edge)

    def _said(self, edge: QueriedEdge) -> str:
        queue = self.shown.queues.get(edge.label) if self.shown else None
        fill = f", {_elements(queue.mean)} of {queue.depth} in its queue" if queue and queue.depth else ""
        held = f", sender held back {percent_text(queue.held)} of the time" if queue else ""
        return f"{edge.label}, {edge.words}{fill}{held}: {edge.source} to {edge.sink}"

    def edges_of(self, routed: RoutedEdge) -> list[QueriedEdge]:
        return [self._edges[edge.message] for edge in routed.edges if edge.message in self._edges]

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
        for number, one in enumerate(asked):
            if number:
                menu.addSeparator()
            measured = f"States of {one.name}" if isinstance(one, QueriedBlock) else f"Measure {self._name_of(one)}"
            menu.addAction(measured).setEnabled(False)  # a style sheet shows no text of a section
            for title, statement in one.statements:
                menu.addAction(title, partial(self.statement_chosen.emit, statement))
        return menu

    def _name_of(self, edge: QueriedEdge) -> str:
        return _short(self.subject, edge.label) if self.subject else edge.label

    def contextMenuEvent(self, event: QContextMenuEvent) -> None:
        at = QPointF(event.pos())
        menu = self.asking_menu(at)
        if menu is None:
            super().contextMenuEvent(event)
        else:
            node, routed = self._node_at(at), self._edge_at(at)
            self.set_chosen([node[1]] if node else (), [routed] if routed and not node else ())
            menu.exec(event.globalPos())
            menu.deleteLater()
