"""How the parts of the block graph are painted. Coordinates are the layout's; the painter carries zoom and place."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import QColor, QPainter, QPen, QPolygonF

from workbench.analysis.layout import Box, FrameBox, GraphLayout, NodeBox, RoutedEdge
from workbench.analysis.results import Analysis, BlockMetrics
from workbench.gui import icons, theme
from workbench.gui.timeline.look import label as text
from workbench.gui.timeline.look import text_width
from workbench.gui.widgets import category_name, draw_swatch, paint_badge, paint_state_bar
from workbench.gui.widgets.severity import badge_size
from workbench.gui.widgets.state_bar import ORDER
from workbench.model.blocks import Side
from workbench.model.finding import findings_on
from workbench.model.pragma import Category
from workbench.model.text import percent_text, time_text

Align = Qt.AlignmentFlag
TEXT_FROM_SCALE = 0.42  # below this only titles are written
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


def rect_of(box: Box) -> QRectF:
    return QRectF(box.x, box.y, box.width, box.height)


def paint_frame(painter: QPainter, frame: FrameBox, note: str) -> None:
    rect = rect_of(frame.box)
    painter.setPen(QPen(theme.colour("rule"), 1))
    painter.setBrush(theme.colour("sunken"))
    painter.drawRoundedRect(rect, 8, 8)
    head = QRectF(rect.left() + 14, rect.top() + 6, rect.width() - 24, 22)
    used = text(painter, head, frame.title, "text", 13, 600)
    text(painter, head.adjusted(used + 10, 0, 0, 0), note, "second", 12)


def paint_node(painter: QPainter, node: NodeBox, facts: NodeFacts, state: str, scale: float) -> None:
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
    if scale >= TEXT_FROM_SCALE:
        icons.draw_icon(painter, name, left, rect.top() + 8)
    text(painter, QRectF(left + 23, rect.top() + 5, width - 22, 22), node.title, "text", 13, 600)
    y = rect.top() + 31
    if facts.shares:
        paint_state_bar(painter, QRectF(left, y, width, 12), facts.shares)
        y += 16
    if scale < TEXT_FROM_SCALE:
        return
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
    """The host's states, largest first: swatch, name, share, time."""
    pitch = min(22.0, area.height() / max(len(rows), 1))
    if pitch < 14:
        rows, pitch = rows[: max(int(area.height() / 16), 1)], 16
    for at, (category, name, share, time) in enumerate(rows):
        y = area.top() + at * pitch
        draw_swatch(painter, round(area.left()), round(y + pitch / 2 - 5), 12, 10, category)
        text(painter, QRectF(area.left() + 19, y, 76, pitch), name, "text", 12)
        text(painter, QRectF(area.right() - 112, y, 56, pitch), share, "text", 12, 600, Align.AlignRight)
        text(painter, QRectF(area.right() - 56, y, 56, pitch), time, "second", 12, 400, Align.AlignRight)


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
    if facts.badge:
        paint_badge(painter, badge_rect(node, facts.badge[1]), *facts.badge)


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


def paint_edge_label(painter: QPainter, edge: RoutedEdge, chosen: bool, inside_frame: bool) -> None:
    if not edge.label and not edge.detail:
        return
    box = rect_of(edge.label_box)
    ground: QColor = theme.colour("sunken" if inside_frame else "window")
    width = max(text_width(edge.label, 11, 600), text_width(edge.detail, 11, 400)) + 8
    middle = box.center()
    high = 30.0 if edge.label and edge.detail else 16.0
    back = QRectF(middle.x() - min(width, box.width()) / 2, middle.y() - high / 2, min(width, box.width()), high)
    painter.fillRect(back, ground)
    if edge.label and edge.detail:
        text(
            painter,
            QRectF(box.left(), middle.y() - 16, box.width(), 16),
            edge.label,
            "text",
            11,
            600,
            Align.AlignHCenter,
        )
        text(
            painter,
            QRectF(box.left(), middle.y() - 1, box.width(), 16),
            edge.detail,
            "second",
            11,
            400,
            Align.AlignHCenter,
        )
    else:
        text(painter, back, edge.label or edge.detail, "text", 11, 600 if edge.label else 500, Align.AlignHCenter)
