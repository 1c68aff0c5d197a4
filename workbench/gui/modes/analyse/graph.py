"""The block graph on pyqtgraph: zoom, pan, hover, selection. A gesture on a large one moves a snapshot."""

import math
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from functools import partial

from PySide6.QtCore import QEvent, QPointF, QRectF, QSize, Qt, QTimer, Signal
from PySide6.QtGui import QContextMenuEvent, QKeyEvent, QMouseEvent, QPainter, QResizeEvent
from PySide6.QtWidgets import QMenu

from workbench.api.window import colour
from workbench.gui.views.house_view import HouseView, Row
from workbench.model.text import percent_text, time_text
from workbench.pictures.canvas import Canvas
from workbench.pictures.edge_labels import (
    MOST_LABELS,
    EdgeLabel,
    PlacedLabel,
    block_label,
    draw_edge_labels,
    placed_labels,
)
from workbench.pictures.graph import NodeFacts, badge_box, badges_px, draw_graph, draw_whole, edge_rows, whole_size
from workbench.pictures.layout import Box, GraphLayout, NodeBox, RoutedEdge
from workbench.pictures.layout_fit import MOST_SCALE, fit_scale
from workbench.pictures.layout_sizes import Point
from workbench.pictures.states import category_name

IDLE_MS = 60
SLOW_FRAME_MS = 10.0
ZOOMS = (0.1, 4.0)
EDGE_PX = 10
NEAR_PX = 5.0  # how far from an edge's line the pointer still means it
_CLICK_PX = 4.0
_TOWARDS = {
    Qt.Key.Key_Left: (-1, 0), Qt.Key.Key_Right: (1, 0), Qt.Key.Key_Up: (0, -1), Qt.Key.Key_Down: (0, 1),
}  # fmt: skip


class GraphView(HouseView):
    """Shows a laid-out graph. `node_chosen` carries a block id (a tile's, or a node's key), "" for none."""

    node_chosen = Signal(str)
    node_opened = Signal(str)
    badge_clicked = Signal(str)
    edge_chosen = Signal(object)  # RoutedEdge
    edge_opened = Signal(object)
    file_name = "blocks"
    has_legend = True  # whether anything in it has the states' colours
    most_scale = MOST_SCALE  # of the whole graph

    def __init__(self) -> None:
        super().__init__("Block graph")
        self.setMouseTracking(True)
        self.setMinimumSize(300, 160)
        self.layout_: GraphLayout | None = None
        self._labels: Sequence[EdgeLabel] = ()
        self._placed: tuple[float, list[PlacedLabel]] | None = None  # at a scale
        self.facts: Mapping[str, NodeFacts] = {}
        self.notes: Mapping[str, str] = {}
        self.chosen: frozenset[str] = frozenset()
        self.chosen_edges: frozenset[RoutedEdge] = frozenset()
        self.path: frozenset[frozenset[str]] = frozenset()  # of nodes: between which the critical path goes
        self.fill_menu: Callable[[QMenu, str | RoutedEdge], None] = lambda menu, what: None
        self._hover = ""
        self._whole: list[list[float]] = []  # the range that shows all
        self._again: Callable[[float, float], GraphLayout] | None = None
        self._laid_out_for = (0.0, 0.0)
        self._pressed: QPointF | None = None
        self._taken = (1.0, QPointF())  # magnification and offset of the snapshot
        self._gesture = False
        self._idle = QTimer(self, singleShot=True, interval=IDLE_MS)
        self._idle.timeout.connect(self._settle)
        self._refit = QTimer(self, singleShot=True, interval=0)
        self._refit.timeout.connect(self.show_all)
        self.box.setAspectLocked(True)
        self.box.invertY(True)
        self.setCentralItem(self.box)

    def show_graph(
        self,
        layout: GraphLayout | None,
        facts: Mapping[str, NodeFacts],
        notes: Mapping[str, str],
        again: Callable[[float, float], GraphLayout] | None = None,
    ) -> None:
        """`notes` are beside the frames' titles. `again` lays the same graph out for another room, in pixels, than
        the view has now; for this one too, where no layout is given."""
        self.layout_, self.facts, self.notes, self._again = None, facts, notes, again
        self._laid_out_for = self.room() if layout else (0.0, 0.0)
        self.chosen, self.chosen_edges, self._hover = frozenset(), frozenset(), ""
        if layout is not None:
            self._lay_out(layout)
        self.show_all()

    def set_facts(self, facts: Mapping[str, NodeFacts], path: frozenset[frozenset[str]] = frozenset()) -> None:
        """What the nodes say now, of the same graph, and between which pairs of them the critical path goes."""
        self.facts, self.path, self._placed = facts, path, None
        self.redraw()

    def touching(self, block: str) -> list[RoutedEdge]:
        """The edges that begin or end at a block's node."""
        node = self.layout_.node_of(block) if self.layout_ else None
        edges = self.layout_.edges if self.layout_ and node else ()
        return [edge for edge in edges if node and node.key in (edge.source, edge.target)]

    def room(self) -> tuple[float, float]:
        """Width and height that a graph can take, in pixels."""
        return max(self.width() - 2 * EDGE_PX, 1.0), max(self.height() - 2 * EDGE_PX, 1.0)

    def set_chosen(self, blocks: Collection[str], edges: Collection[RoutedEdge] = ()) -> None:
        """Ring blocks, groups or replicas, and colour edges."""
        self.chosen, self.chosen_edges = frozenset(blocks), frozenset(edges)
        self.redraw()

    # ---- zoom and place

    def show_all(self) -> None:
        room = self.room()
        if self._again is not None and room != self._laid_out_for:
            self._laid_out_for = room
            self.lay_out_again(partial(self._again, *room))
        if self.layout_ is not None:
            self._look_at(max(ZOOMS[0], fit_scale(self.layout_, *room, self.most_scale)))
        self._whole = self.box.viewRange()
        self.redraw()

    def _look_at(self, scale: float) -> None:
        """Show the graph's middle at a scale."""
        assert self.layout_ is not None
        wide, high = self.width() / scale, self.height() / scale
        left, top = (self.layout_.width - wide) / 2, (self.layout_.height - high) / 2
        self.box.setLimits(minXRange=self.width() / ZOOMS[1], maxXRange=self.width() / ZOOMS[0])
        self.box.setRange(QRectF(left, top, wide, high), padding=0)

    def lay_out_again(self, work: Callable[[], GraphLayout]) -> None:
        """Take another layout of the same graph, that of the room there is now."""
        self._lay_out(work())

    def _lay_out(self, layout: GraphLayout) -> None:
        """The same graph in another layout; what was chosen stays so."""
        chosen = {(e.source, e.target, e.edges) for e in self.chosen_edges}
        self.chosen_edges = frozenset(e for e in layout.edges if (e.source, e.target, e.edges) in chosen)
        self.layout_, self._labels, self._placed = layout, list(map(self.label_of, layout.edges)), None

    def _range_changed(self) -> None:
        self._gesture = self._snapshot is not None and self.frame_ms > SLOW_FRAME_MS
        self._idle.start()
        super()._range_changed()

    def _settle(self) -> None:
        if self._gesture:
            self._gesture = False
            self.redraw()

    def sizeHint(self) -> QSize:
        return QSize(900, 380)

    def resizeEvent(self, event: QResizeEvent | None) -> None:
        whole = getattr(self, "_whole", None)  # pyqtgraph resizes it while it is made
        fitted = whole is not None and (self._refit.isActive() or self.box.viewRange() == whole)
        super().resizeEvent(event)
        if fitted and self.updatesEnabled():
            self.show_all()
        elif fitted:  # its mode is being shown, which resizes it several times
            self._refit.start()

    # ---- painting

    def _paint_ground(self, painter: QPainter) -> None:
        """While a gesture on a graph that takes long to draw lasts, its snapshot moved and scaled."""
        scale, offset = self.magnification, self.offset
        if not self._gesture or self._snapshot is None:
            super()._paint_ground(painter)
            self._taken = (scale, offset)
            return
        then, place = self._taken
        painter.fillRect(self.viewport().rect(), colour("window"))
        painter.save()
        painter.translate(offset - place * (scale / then))
        painter.scale(scale / then, scale / then)
        painter.drawPixmap(0, 0, self._snapshot)
        painter.restore()

    def draw(self, canvas: Canvas) -> None:
        canvas.rect(0, 0, self.width(), self.height(), "window")
        if self.layout_ is None:
            return
        scale, offset = self.magnification, self.offset
        seen = Box(-offset.x() / scale, -offset.y() / scale, self.width() / scale, self.height() / scale)
        with canvas.placed(offset.x(), offset.y(), scale):
            draw_graph(
                canvas, self.layout_, self.facts, self.notes, seen=seen, chosen=self.chosen,
                chosen_edges=self.chosen_edges, hover=self._hover, weight=self.weight_of, path=self.path,
            )  # fmt: skip
        if not self._gesture or len(self.layout_.edges) <= MOST_LABELS:
            with canvas.placed(*offset.toTuple()):
                draw_edge_labels(canvas, self.layout_, self._placed_labels(canvas, self.layout_), scale)

    def _placed_labels(self, canvas: Canvas, layout: GraphLayout) -> list[PlacedLabel]:
        """Place the labels; in a graph with few edges they stay while it is moved."""
        scale, offset = self.magnification, self.offset
        if len(layout.edges) > MOST_LABELS:
            seen = Box(-offset.x(), -offset.y(), self.width(), self.height())
            return placed_labels(canvas, layout, self._labels, scale, seen)
        if self._placed is None or self._placed[0] != scale:
            badges = badges_px(layout, self.facts, scale)
            self._placed = scale, placed_labels(canvas, layout, self._labels, scale, badges=badges)
        return self._placed[1]

    def label_of(self, edge: RoutedEdge) -> EdgeLabel:
        """What is on an edge."""
        return block_label(edge)

    def weight_of(self, edge: RoutedEdge) -> float:
        """What an edge's width says."""
        return edge.time_s

    # ---- files: the whole graph and its legend, whatever is in view

    def picture_size(self) -> QSize:
        if self.layout_ is None:
            return self.size()
        size = whole_size(self.layout_) if self.has_legend else (self.layout_.width, self.layout_.height)
        return QSize(*map(round, size))

    def draw_picture(self, canvas: Canvas) -> None:
        if self.layout_ is None:
            self.draw(canvas)
        elif self.has_legend:
            draw_whole(canvas, self.layout_, self.facts, self.notes)
        else:
            canvas.rect(0, 0, self.picture_size().width(), self.picture_size().height(), "window")
            draw_graph(canvas, self.layout_, self.facts, self.notes, weight=self.weight_of)
            draw_edge_labels(canvas, self.layout_, placed_labels(canvas, self.layout_, self._labels))

    def rows(self) -> Iterable[Row] | None:
        return edge_rows(self.layout_) if self.layout_ else None

    # ---- pointer and keys

    def _node_at(self, position: QPointF) -> tuple[NodeBox, str] | None:
        """The node under a position, and the block id meant: a tile's where the pointer is on one."""
        spot = self.to_layout(position)
        for node in self.layout_.nodes if self.layout_ else ():
            if _contains(node.box, spot):
                tile = next((t for t in node.tiles if _contains(t.box, spot)), None)
                return node, tile.block_id if tile else node.key
        return None

    def _badge_at(self, position: QPointF) -> str:
        spot = self.to_layout(position)
        for node in self.layout_.nodes if self.layout_ else ():
            badge = self.facts[node.key].badge
            if badge and _contains(badge_box(node, badge[1]), spot):
                return node.key
        return ""

    def _edge_at(self, position: QPointF) -> RoutedEdge | None:
        """The edge whose label is under a position, or else whose line is near it."""
        spot, edges = self.to_layout(position), self.layout_.edges if self.layout_ else ()
        near = NEAR_PX / self.magnification
        lines = ((e, min(map(partial(_distance, spot), e.points, e.points[1:]))) for e in edges if len(e.points) > 1)
        return next(
            (e for e in edges if _contains(e.label_box, spot)),
            next((e for e, away in sorted(lines, key=lambda pair: pair[1]) if away <= near), None),
        )

    def mousePressEvent(self, event: QMouseEvent) -> None:
        if event.button() in (Qt.MouseButton.LeftButton, Qt.MouseButton.MiddleButton):
            self._pressed = event.position()
        super().mousePressEvent(event)

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        super().mouseMoveEvent(event)
        at = event.position()
        if self._pressed is not None:
            if (at - self._pressed).manhattanLength() > _CLICK_PX:
                self.viewport().setCursor(Qt.CursorShape.ClosedHandCursor)
            return
        badge, node, edge = self._badge_at(at), self._node_at(at), self._edge_at(at)
        self._hover_over(node[0].key if node else "")
        clickable = bool(badge or node or edge)
        shape = Qt.CursorShape.PointingHandCursor if clickable else Qt.CursorShape.ArrowCursor
        self.viewport().setCursor(shape)
        self.setToolTip(self._tip(badge, node, edge))

    def _hover_over(self, key: str) -> None:
        if key != self._hover:
            self._hover = key
            self.redraw()

    def _tip(self, badge: str, hit: tuple[NodeBox, str] | None, edge: RoutedEdge | None) -> str:
        if badge:
            return "Show the findings of this block only"
        if hit:
            node, meant = hit
            facts = self.facts[node.key]
            shares = facts.tiles[meant][0] if meant in facts.tiles else facts.shares
            said = ", ".join(f"{category_name(c)} {percent_text(s)}" for c, s in shares)
            said = said or ", ".join(filter(None, (f"{facts.figure} {facts.words}".strip(), facts.second)))
            return "\n".join(filter(None, (f"{meant}: {said}" if said else meant, facts.foot)))
        if edge:
            names = ", ".join(dict.fromkeys(e.message for e in edge.edges if e.message))
            spent = f", {time_text(edge.time_s)}" if edge.time_s else ""
            said = "".join(
                f"\n{e.message}: {e.rate}, {percent_text(e.stalled)} of the cycles stalled"
                for e in edge.edges
                if e.rate
            )
            return f"{names or 'messages'}: {edge.source} to {edge.target}{spent}{said}"
        return ""

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        pressed, self._pressed = self._pressed, None
        super().mouseReleaseEvent(event)
        self.viewport().unsetCursor()
        at = event.position()
        if pressed is None or (at - pressed).manhattanLength() > _CLICK_PX:
            return
        if badge := self._badge_at(at):
            self.badge_clicked.emit(badge)
        elif node := self._node_at(at):
            self.node_chosen.emit(node[1])
        elif edge := self._edge_at(at):
            self.edge_chosen.emit(edge)
        else:
            self.node_chosen.emit("")

    def mouseDoubleClickEvent(self, event: QMouseEvent) -> None:
        if node := self._node_at(event.position()):
            self.node_opened.emit(node[1])
        elif edge := self._edge_at(event.position()):
            self.edge_opened.emit(edge)

    def contextMenuEvent(self, event: QContextMenuEvent) -> None:
        """With what can be done with the block or edge under the pointer; by the keyboard with the chosen block."""
        keyed = event.reason() is QContextMenuEvent.Reason.Keyboard
        at = QPointF(event.pos())
        node = None if keyed else self._node_at(at)
        what = min(self.chosen, default="") if keyed else node[1] if node else self._edge_at(at)
        menu = self.menu()
        if what:
            self.fill_menu(menu, what)
        menu.exec(event.globalPos())

    def leaveEvent(self, event: QEvent) -> None:
        self._hover_over("")

    def keyPressEvent(self, event: QKeyEvent) -> None:
        towards = _TOWARDS.get(Qt.Key(event.key()))
        if event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter) and self.chosen:
            self.node_opened.emit(min(self.chosen))
        elif towards and event.modifiers() & Qt.KeyboardModifier.ControlModifier:
            if node := self._next(*towards):
                self.node_chosen.emit(node.key)
                self._bring_in(node.box)
        else:
            super().keyPressEvent(event)

    def _next(self, dx: int, dy: int) -> NodeBox | None:
        """The nearest node that way from the chosen one; without any, the first."""
        nodes = self.layout_.nodes if self.layout_ else ()
        here = next((n for n in nodes if n.key in self.chosen or not self.chosen.isdisjoint(n.block_ids)), None)
        if here is None:
            return nodes[0] if nodes else None

        def away(node: NodeBox) -> float:
            """Infinite for what lies another way; what lies aside is further."""
            x, y = (a - b for a, b in zip(node.box.centre, here.box.centre, strict=True))
            along, aside = x * dx + y * dy, abs(x * dy + y * dx)
            return along + 2 * aside if along > 1 else math.inf

        nearest = min((n for n in nodes if n is not here), key=away, default=None)
        return nearest if nearest and math.isfinite(away(nearest)) else None

    def _bring_in(self, box: Box) -> None:
        """Move what is shown until a node is in view."""
        scale, offset = self.magnification, self.offset
        left, top = box.x * scale + offset.x(), box.y * scale + offset.y()
        right, bottom = left + box.width * scale, top + box.height * scale
        x = EDGE_PX - left if left < EDGE_PX else min(self.width() - EDGE_PX - right, 0.0)
        y = EDGE_PX - top if top < EDGE_PX else min(self.height() - EDGE_PX - bottom, 0.0)
        if x or y:
            self.pan(QPointF(x, y))


def _distance(spot: QPointF, one: Point, other: Point) -> float:
    """From a spot to the straight line between two points."""
    (x0, y0), (x1, y1) = one, other
    dx, dy = x1 - x0, y1 - y0
    along = ((spot.x() - x0) * dx + (spot.y() - y0) * dy) / (dx * dx + dy * dy or 1.0)
    part = min(max(along, 0.0), 1.0)
    return math.hypot(spot.x() - x0 - part * dx, spot.y() - y0 - part * dy)


def _contains(box: Box, spot: QPointF) -> bool:
    return QRectF(box.x, box.y, box.width, box.height).contains(spot)
