"""The block graph: zoom, pan, hover, selection. Painted from a layout; a snapshot is moved while a gesture lasts."""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Mapping

from PySide6.QtCore import QEvent, QPointF, QRectF, QSize, Qt, QTimer, Signal
from PySide6.QtGui import QImage, QKeyEvent, QMouseEvent, QPainter, QPaintEvent, QPixmap, QResizeEvent, QWheelEvent
from PySide6.QtWidgets import QWidget

from workbench.gui import theme
from workbench.gui.canvas import QtCanvas
from workbench.model.text import percent_text, time_text
from workbench.pictures.graph import NodeFacts, badge_box, draw_graph
from workbench.pictures.layout import Box, GraphLayout, NodeBox, RoutedEdge
from workbench.pictures.layout_fit import fit_scale
from workbench.pictures.states import category_name

IDLE_MS = 60
SLOW_FRAME_MS = 10.0
ZOOMS = (0.1, 4.0)
EDGE_PX = 10


class GraphView(QWidget):
    """Shows a laid-out graph. `node_chosen` carries a block id (a tile's, or a node's key), "" for none."""

    node_chosen = Signal(str)
    node_opened = Signal(str)
    badge_clicked = Signal(str)
    edge_chosen = Signal(object)  # RoutedEdge
    view_changed = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setMouseTracking(True)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setAttribute(Qt.WidgetAttribute.WA_OpaquePaintEvent)
        self.setMinimumSize(300, 160)
        self.setAccessibleName("Block graph")
        self.layout_: GraphLayout | None = None
        self.facts: Mapping[str, NodeFacts] = {}
        self.notes: Mapping[str, str] = {}
        self.scale = 1.0
        self.offset = QPointF(0, 0)
        self.chosen: frozenset[str] = frozenset()
        self.chosen_edges: frozenset[RoutedEdge] = frozenset()
        self.frame_ms = 0.0
        self._hover = ""
        self._fitted = True
        self._again: Callable[[float, float], GraphLayout] | None = None
        self._laid_out_for = (0.0, 0.0)
        self._drag: tuple[QPointF, QPointF] | None = None
        self._snapshot: tuple[QPixmap, float, QPointF] | None = None
        self._gesture = False
        self._idle = QTimer(self, singleShot=True, interval=IDLE_MS)
        self._idle.timeout.connect(self._settle)

    def show_graph(
        self,
        layout: GraphLayout | None,
        facts: Mapping[str, NodeFacts],
        notes: Mapping[str, str],
        again: Callable[[float, float], GraphLayout] | None = None,
    ) -> None:
        """`notes` stand beside the frames' titles. `again` lays the same graph out for another room, in pixels."""
        self.layout_, self.facts, self.notes, self._again = layout, facts, notes, again
        self.chosen, self.chosen_edges, self._hover = frozenset(), frozenset(), ""
        self.fit()

    def room(self) -> tuple[float, float]:
        """Width and height that a graph can take, in pixels."""
        return max(self.width() - 2 * EDGE_PX, 1.0), max(self.height() - 2 * EDGE_PX, 1.0)

    def set_chosen(self, blocks: Collection[str], edges: Collection[RoutedEdge] = ()) -> None:
        """Ring blocks, groups or replicas, and colour edges."""
        self.chosen, self.chosen_edges = frozenset(blocks), frozenset(edges)
        self._redraw()

    # ---- zoom and place

    def fit(self) -> None:
        if self.layout_ is None:
            self._redraw()
            return
        room = self.room()
        if self._again is not None and room != self._laid_out_for:
            self._lay_out(self._again(*room))
        self._laid_out_for = room
        wide, high = self.layout_.width, self.layout_.height
        self.scale = max(ZOOMS[0], fit_scale(self.layout_, *room))
        self.offset = QPointF((self.width() - wide * self.scale) / 2, (self.height() - high * self.scale) / 2)
        self._fitted = True
        self._redraw()
        self.view_changed.emit()

    def _lay_out(self, layout: GraphLayout) -> None:
        """The same graph in another layout; what was chosen stays so."""
        chosen = {(e.source, e.target, e.edges) for e in self.chosen_edges}
        self.chosen_edges = frozenset(e for e in layout.edges if (e.source, e.target, e.edges) in chosen)
        self.layout_ = layout

    def zoom(self, factor: float, at: QPointF | None = None) -> None:
        """About a point of the widget, its middle where none is given."""
        at = at or QPointF(self.width() / 2, self.height() / 2)
        scale = min(max(self.scale * factor, ZOOMS[0]), ZOOMS[1])
        self.offset = at - (at - self.offset) * (scale / self.scale)
        self.scale = scale
        self._move()

    def pan(self, by: QPointF) -> None:
        self.offset += by
        self._move()

    def _move(self) -> None:
        self._fitted = False
        self._gesture = self._snapshot is not None and self.frame_ms > SLOW_FRAME_MS
        self._idle.start()
        self.update()
        self.view_changed.emit()

    def _settle(self) -> None:
        if self._gesture:
            self._gesture = False
            self._redraw()

    def _redraw(self) -> None:
        self._snapshot = None
        self.update()

    def to_layout(self, position: QPointF) -> QPointF:
        return (position - self.offset) / self.scale

    def sizeHint(self) -> QSize:
        return QSize(900, 380)

    # ---- painting

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        if self._gesture and self._snapshot is not None:
            pixmap, scale, offset = self._snapshot
            painter.fillRect(self.rect(), theme.colour("window"))
            ratio = self.scale / scale
            painter.translate(self.offset - offset * ratio)
            painter.scale(ratio, ratio)
            painter.drawPixmap(0, 0, pixmap)
            return
        if self._snapshot is None or self._snapshot[1:] != (self.scale, self.offset):
            started = time.perf_counter()
            density = self.devicePixelRatioF()
            pixmap = QPixmap(self.size() * density)
            pixmap.setDevicePixelRatio(density)
            pixmap.fill(theme.colour("window"))
            inner = QPainter(pixmap)
            self._paint_graph(inner, QRectF(self.rect()))
            inner.end()
            self._snapshot = (pixmap, self.scale, QPointF(self.offset))
            self.frame_ms = (time.perf_counter() - started) * 1e3
        painter.drawPixmap(0, 0, self._snapshot[0])

    def _paint_graph(self, painter: QPainter, area: QRectF) -> None:
        """Paint what of the graph lies in an area of the widget, or of a picture."""
        layout = self.layout_
        if layout is None:
            return
        painter.translate(self.offset)
        painter.scale(self.scale, self.scale)
        left, top = self.to_layout(area.topLeft()).toTuple()
        seen = Box(left, top, area.width() / self.scale, area.height() / self.scale)
        draw_graph(
            QtCanvas(painter), layout, self.facts, self.notes, seen=seen, chosen=self.chosen,
            chosen_edges=self.chosen_edges, hover=self._hover,
        )  # fmt: skip

    def image(self, scale: float = 2.0) -> QImage:
        """The whole graph as a picture, whatever is in view."""
        layout = self.layout_
        size = QSize(round((layout.width if layout else 1) * scale), round((layout.height if layout else 1) * scale))
        image = QImage(size, QImage.Format.Format_RGB32)
        image.fill(theme.colour("window"))
        kept = self.scale, self.offset
        self.scale, self.offset = scale, QPointF(0, 0)
        painter = QPainter(image)
        self._paint_graph(painter, QRectF(image.rect()))
        painter.end()
        self.scale, self.offset = kept
        return image

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
        spot = self.to_layout(position)
        return next((e for e in (self.layout_.edges if self.layout_ else ()) if _contains(e.label_box, spot)), None)

    def mousePressEvent(self, event: QMouseEvent) -> None:
        if event.button() in (Qt.MouseButton.LeftButton, Qt.MouseButton.MiddleButton):
            self._drag = (event.position(), QPointF(self.offset))

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        if self._drag is not None:
            moved = event.position() - self._drag[0]
            if moved.manhattanLength() > 4:
                self.setCursor(Qt.CursorShape.ClosedHandCursor)
                self.offset = self._drag[1] + moved
                self._move()
            return
        badge, found, edge = (
            self._badge_at(event.position()),
            self._node_at(event.position()),
            self._edge_at(event.position()),
        )
        key = found[0].key if found else ""
        if key != self._hover:
            self._hover = key
            self._redraw()
        clickable = bool(badge or found or edge)
        self.setCursor(Qt.CursorShape.PointingHandCursor if clickable else Qt.CursorShape.ArrowCursor)
        self.setToolTip(self._tip(badge, found, edge))

    def _tip(self, badge: str, found: tuple[NodeBox, str] | None, edge: RoutedEdge | None) -> str:
        if badge:
            return "Show the findings of this block only"
        if found:
            node, meant = found
            facts = self.facts[node.key]
            shares = facts.tiles[meant][0] if meant in facts.tiles else facts.shares
            said = ", ".join(f"{category_name(c)} {percent_text(s)}" for c, s in shares)
            return f"{meant}: {said}" if said else meant
        if edge:
            names = ", ".join(dict.fromkeys(e.message for e in edge.edges if e.message))
            spent = f", {time_text(edge.time_s)}" if edge.time_s else ""
            return f"{names or 'messages'}: {edge.source} to {edge.target}{spent}"
        return ""

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        drag, self._drag = self._drag, None
        self.unsetCursor()
        if drag is None or (event.position() - drag[0]).manhattanLength() > 4:
            return
        if badge := self._badge_at(event.position()):
            self.badge_clicked.emit(badge)
        elif found := self._node_at(event.position()):
            self.node_chosen.emit(found[1])
        elif edge := self._edge_at(event.position()):
            self.edge_chosen.emit(edge)
        else:
            self.node_chosen.emit("")

    def mouseDoubleClickEvent(self, event: QMouseEvent) -> None:
        if found := self._node_at(event.position()):
            self.node_opened.emit(found[1])

    def leaveEvent(self, event: QEvent) -> None:
        if self._hover:
            self._hover = ""
            self._redraw()

    def wheelEvent(self, event: QWheelEvent) -> None:
        self.zoom(1.15 ** (event.angleDelta().y() / 120), event.position())
        event.accept()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        key = Qt.Key
        steps = {key.Key_Left: (60, 0), key.Key_Right: (-60, 0), key.Key_Up: (0, 60), key.Key_Down: (0, -60)}
        if event.key() in steps:
            self.pan(QPointF(*steps[key(event.key())]))
        elif event.key() in (key.Key_Plus, key.Key_Equal, key.Key_W):
            self.zoom(1.2)
        elif event.key() in (key.Key_Minus, key.Key_S):
            self.zoom(1 / 1.2)
        elif event.key() == key.Key_F:
            self.fit()
        elif event.key() in (key.Key_Return, key.Key_Enter) and self.chosen:
            self.node_opened.emit(min(self.chosen))
        else:
            super().keyPressEvent(event)

    def resizeEvent(self, event: QResizeEvent) -> None:
        if self._fitted:
            self.fit()
        else:
            self._redraw()

    def changeEvent(self, event: QEvent) -> None:
        super().changeEvent(event)
        if event.type() == QEvent.Type.PaletteChange:
            self._redraw()


def _contains(box: Box, spot: QPointF) -> bool:
    return QRectF(box.x, box.y, box.width, box.height).contains(spot)
