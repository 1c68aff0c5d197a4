"""How the parts of the block graph are painted. Coordinates are the layout's; the painter carries zoom and place."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import QPainter, QPen, QPolygonF

from workbench.api.results import Analysis, BlockMetrics
from workbench.gui import icons, theme
from workbench.gui.timeline.look import label, text_width
from workbench.gui.widgets import category_name, draw_swatch, paint_badge, paint_state_bar
from workbench.gui.widgets.severity import badge_size
from workbench.gui.widgets.state_bar import ORDER
from workbench.model.blocks import Side
from workbench.model.finding import findings_on
from workbench.model.pragma import Category
from workbench.model.text import percent_text, time_text
from workbench.pictures.layout import Box, FrameBox, GraphLayout, NodeBox, RoutedEdge

Align = Qt.AlignmentFlag
#: The least size of text on the screen: what would be smaller is written larger, or left out where there is no room.
LEAST_PX = 11.0
TILE_TEXT_PX = 20.0
Shares = tuple[tuple[Category | None, float], ...]


@dataclass(frozen=True)
class NodeFacts:
    """What a node says: shares by category (mean of replicas), and its lines."""

    shares: Shares
    figure: str
    words: str
    second: str
    rows: tuple[tuple[Category | None, str, str, str], ...] = ()
    tiles: Mapping[str, tuple[Shares, str]] = field(default_factory=dict)
    badge: tuple[str, int] | None = None


def node_facts(layout: GraphLayout, analysis: Analysis) -> dict[str, NodeFacts]:
    """Facts of every node, computed once for a run."""
    metrics = {m.block.id: m for m in analysis.blocks}
    severities = {
        node.key: [f.severity for f in findings_on(analysis.findings, node.block_ids)] for node in layout.nodes
    }
    return {node.key: _facts(node, metrics, severities[node.key]) for node in layout.nodes}


def _facts(node: NodeBox, metrics: Mapping[str, BlockMetrics], severities: Sequence[str]) -> NodeFacts:
    members = [metrics[b] for b in node.block_ids if b in metrics]
    badge = None
    if severities:
        worst = min(severities, key=("high", "medium", "low").index)
        badge = (worst, len(severities))
    if not members:
        return NodeFacts((), "", "outside the FPGA" if node.key == "$MEM" else "", "", badge=badge)
    shares = mean_shares(members)
    by = dict(shares)
    work, moving = by.get(Category.WORK, 0.0), by.get(Category.SEND, 0.0) + by.get(Category.RECV, 0.0)
    waiting = by.get(Category.WAIT_SEND, 0.0) + by.get(Category.WAIT_RECV, 0.0)
    parts = sorted(
        (
            (work, "working"),
            (moving, "moving data"),
            (by.get(Category.OVERHEAD, 0.0), "overhead"),
            (waiting, "waiting"),
        ),
        key=lambda p: (p[1] != "working" or not work, -p[0]),
    )
    parts = [p for p in parts if p[0] > 0] or [(by.get(None, 0.0), "unclassified")]
    second = f"{percent_text(parts[1][0])} {parts[1][1]}" if len(parts) > 1 else ""
    rows: tuple[tuple[Category | None, str, str, str], ...] = ()
    if node.side is Side.HOST:
        time = sum(m.time_s for m in members)
        ranked = sorted(shares, key=lambda s: -s[1])[:5]
        rows = tuple((c, category_name(c), percent_text(s), time_text(s * time)) for c, s in ranked)
    tiles = {
        t.block_id: (mean_shares([metrics[t.block_id]]), f"{metrics[t.block_id].share_of(Category.WORK) * 100:.1f}")
        for t in node.tiles
        if t.block_id in metrics
    }
    return NodeFacts(shares, percent_text(parts[0][0]), parts[0][1], second, rows, tiles, badge)


def mean_shares(members: Sequence[BlockMetrics]) -> Shares:
    """Shares of 1 by category, in the legend's order."""
    totals: dict[Category | None, float] = {}
    for metrics in members:
        whole = max(sum(s.time_s for s in metrics.states), 1e-30)
        for state in metrics.states:
            kind = state.state.category
            totals[kind] = totals.get(kind, 0.0) + state.time_s / whole / len(members)
    return tuple((kind, totals[kind]) for kind in ORDER if totals.get(kind, 0.0) > 0)


def text(
    painter: QPainter,
    rect: QRectF,
    words: str,
    colour: str,
    size: int,
    weight: int = 400,
    align: Align = Align.AlignLeft,
    *,
    always: bool = False,
) -> float:
    """One line of text, never smaller on the screen than can be read; its width. Nothing where the line is too low for
    that, unless it is wanted always."""
    scale = painter.transform().m11()
    if not always and not legible(painter, rect):
        return 0.0
    grown = max(LEAST_PX / (size * scale), 1.0)
    painter.save()
    painter.translate(rect.topLeft())
    painter.scale(grown, grown)
    inside = QRectF(0, 0, rect.width() / grown, rect.height() / grown)
    width = label(painter, inside, words, colour, size, weight, align)
    painter.restore()
    return width * grown


def legible(painter: QPainter, rect: QRectF) -> bool:
    """Whether a line of text in this place can be read at the zoom that the painter carries: letters are lower than
    the size they are said to have."""
    return rect.height() * painter.transform().m11() >= LEAST_PX - 1


def rect_of(box: Box) -> QRectF:
    return QRectF(box.x, box.y, box.width, box.height)


def paint_frame(painter: QPainter, frame: FrameBox, note: str) -> None:
    rect = rect_of(frame.box)
    painter.setPen(QPen(theme.colour("rule"), 1))
    painter.setBrush(theme.colour("sunken"))
    painter.drawRoundedRect(rect, 8, 8)
    head = QRectF(rect.left() + 14, rect.top() + 6, rect.width() - 24, 22)
    used = text(painter, head, frame.title, "text", 13, 600, always=True)
    text(painter, head.adjusted(used + 10, 0, 0, 0), note, "second", 12)


def paint_node(painter: QPainter, node: NodeBox, facts: NodeFacts, state: str) -> None:
    """`state` is "", "hover" or "chosen"."""
    rect = rect_of(node.box)
    if node.tiles:
        for shift in (6, 3):
            painter.setPen(QPen(theme.colour("edge"), 1))
            painter.setBrush(theme.colour("panel"))
            painter.drawRoundedRect(rect.translated(shift, shift), 5, 5)
    if state == "chosen":
        painter.setPen(QPen(theme.colour("accent"), 2))
        painter.setBrush(theme.colour("panel"))
        painter.drawRoundedRect(rect.adjusted(-4, -4, 4, 4), 8, 8)
    painter.setPen(QPen(theme.colour("accent" if state else "edge"), 1.4 if state else 1))
    painter.setBrush(theme.colour("panel"))
    painter.drawRoundedRect(rect, 5, 5)
    left, width = rect.left() + 11, rect.width() - 22
    name = (
        "terminal"
        if node.side is Side.HOST
        else "layers"
        if node.tiles
        else "cpu"
        if not node.block_ids
        else "workflow"
    )
    room = QRectF(left, rect.top() + 5, width, 22)
    if legible(painter, room):
        icons.draw_icon(painter, name, left, rect.top() + 8)
        room.setLeft(left + 23)
    text(painter, room, node.title, "text", 13, 600, always=True)
    y = rect.top() + 31
    if facts.shares:
        paint_state_bar(painter, QRectF(left, y, width, 12), facts.shares)
        y += 16
    used = text(painter, QRectF(left, y, width, 18), facts.figure, "text", 12, 600)
    text(painter, QRectF(left + used + (5 if used else 0), y, width - used - 5, 18), facts.words, "second", 12)
    if facts.rows:
        paint_rows(painter, QRectF(left, y + 22, width, rect.bottom() - y - 26), facts.rows)
    elif y + 36 <= (min(t.box.y for t in node.tiles) if node.tiles else rect.bottom()):
        text(painter, QRectF(left, y + 17, width, 17), facts.second, "muted", 12)
    for tile in node.tiles:
        if tile.block_id in facts.tiles:
            paint_tile(painter, rect_of(tile.box), *facts.tiles[tile.block_id])


def paint_rows(painter: QPainter, area: QRectF, rows: Sequence[tuple[Category | None, str, str, str]]) -> None:
    """The host's states, largest first: swatch, name, share, and time where there is room for it."""
    pitch = min(22.0, area.height() / max(len(rows), 1))
    if pitch < 14:
        rows, pitch = rows[: max(int(area.height() / 16), 1)], 16
    grown = max(LEAST_PX / (12 * painter.transform().m11()), 1.0)
    share_px, time_px = 52 * grown, 56 * grown
    if area.width() - 19 - share_px - time_px < 60 * grown:
        time_px = 0.0
    for at, (category, name, share, time) in enumerate(rows):
        y = area.top() + at * pitch
        right = area.right() - time_px
        draw_swatch(painter, round(area.left()), round(y + pitch / 2 - 5), 12, 10, category)
        text(painter, QRectF(area.left() + 19, y, right - share_px - area.left() - 19, pitch), name, "text", 12)
        text(painter, QRectF(right - share_px, y, share_px, pitch), share, "text", 12, 600, Align.AlignRight)
        if time_px:
            text(painter, QRectF(right, y, time_px, pitch), time, "second", 12, 400, Align.AlignRight)


def paint_tile(painter: QPainter, rect: QRectF, shares: Shares, figure: str) -> None:
    painter.setPen(QPen(theme.colour("rule"), 1))
    painter.setBrush(theme.colour("panel"))
    painter.drawRoundedRect(rect, 3, 3)
    if rect.height() >= TILE_TEXT_PX and rect.width() >= 22:
        text(
            painter, QRectF(rect.left(), rect.top() + 1, rect.width(), 14), figure, "text", 11, 500, Align.AlignHCenter
        )
        bar = QRectF(rect.left() + 4, rect.top() + 16, rect.width() - 8, rect.height() - 20)
    else:
        bar = rect.adjusted(1, 1, -1, -1)
    if bar.width() > 2 and bar.height() > 1:
        paint_state_bar(painter, bar, shares, frame=rect.height() >= TILE_TEXT_PX)


def paint_node_badge(painter: QPainter, node: NodeBox, facts: NodeFacts) -> None:
    if not facts.badge:
        return
    rect = badge_rect(node, facts.badge[1])
    grown = max(1 / painter.transform().m11(), 1.0)  # its number is to be read at any zoom
    painter.save()
    painter.translate(rect.center())
    painter.scale(grown, grown)
    paint_badge(painter, rect.translated(-rect.center()), *facts.badge)
    painter.restore()


def badge_rect(node: NodeBox, count: int) -> QRectF:
    """Over the node's top right corner."""
    size = badge_size(count)
    return QRectF(node.box.right - size.width() + 8, node.box.y - size.height() / 2 - 1, size.width(), size.height())


def edge_width(edge: RoutedEdge, longest_s: float) -> float:
    """1.3 to 4.5 pixels by the time of its messages."""
    share = edge.time_s / longest_s if longest_s > 0 else 0.0
    return 1.3 + 3.2 * math.sqrt(share)


def paint_edge(painter: QPainter, edge: RoutedEdge, width: float, chosen: bool) -> None:
    ink = theme.colour("accent" if chosen else "second")
    points = [QPointF(x, y) for x, y in edge.points]
    if len(points) < 2:
        return
    end, before = points[-1], points[-2]
    length = math.hypot(end.x() - before.x(), end.y() - before.y()) or 1.0
    dx, dy = (end.x() - before.x()) / length, (end.y() - before.y()) / length
    head = 6.0 + width
    neck = QPointF(end.x() - dx * head, end.y() - dy * head)
    pen = QPen(ink, width)
    pen.setJoinStyle(Qt.PenJoinStyle.RoundJoin)
    pen.setCapStyle(Qt.PenCapStyle.FlatCap)
    painter.setPen(pen)
    painter.setBrush(Qt.BrushStyle.NoBrush)
    painter.drawPolyline(QPolygonF([*points[:-1], neck]))
    half = 3.0 + width * 0.7
    painter.setPen(Qt.PenStyle.NoPen)
    painter.setBrush(ink)
    painter.drawPolygon(
        QPolygonF(
            [
                end,
                QPointF(neck.x() - dy * half, neck.y() + dx * half),
                QPointF(neck.x() + dy * half, neck.y() - dx * half),
            ]
        )
    )


def paint_edge_label(painter: QPainter, edge: RoutedEdge, inside_frame: bool) -> None:
    """How many and how large, and which messages: in two lines, or beside each other where the place is flat."""
    lines = [
        (words, weight, colour)
        for words, weight, colour in ((edge.label, 600, "text"), (edge.detail, 400, "second" if edge.label else "text"))
        if words
    ]
    if not lines:
        return
    box = rect_of(edge.label_box)
    grown = max(1 / painter.transform().m11(), 1.0)
    widths = [text_width(words, 11, weight) * grown for words, weight, _ in lines]
    flat = box.height() < 20
    width = min((sum(widths) + 8 * (len(widths) - 1) if flat else max(widths)) + 8, box.width())
    high = 15.0 if flat or len(lines) == 1 else 30.0
    back = QRectF(box.center().x() - width / 2, box.center().y() - high / 2, width, high)
    if not legible(painter, QRectF(0, 0, 1, 15)):
        return
    painter.fillRect(back, theme.colour("sunken" if inside_frame else "window"))
    x, y = back.left() + 4, back.top()
    for (words, weight, colour), wide in zip(lines, widths, strict=True):
        if flat:
            text(painter, QRectF(x, y, back.right() - x, high), words, colour, 11, weight)
            x += wide + 8
        else:
            text(painter, QRectF(box.left(), y, box.width(), 15), words, colour, 11, weight, Align.AlignHCenter)
            y += 15
