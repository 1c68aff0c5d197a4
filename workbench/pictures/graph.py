"""Draws the block graph: the contents of each node, and all parts at any zoom."""

import math
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from operator import attrgetter

from workbench.api.results import Analysis, BlockMetrics, FifoMetrics, MemoryPortMetrics
from workbench.model.blocks import MEMORY, Side
from workbench.model.finding import Finding, findings_on
from workbench.model.platform import Platform
from workbench.model.pragma import COMMUNICATION, WAITS, Category
from workbench.model.text import frequency_text, percent_text, rate_text, significant, time_text
from workbench.pictures.canvas import CENTRE, Canvas
from workbench.pictures.edge_labels import draw_block_labels
from workbench.pictures.graph_rows import StateRow, draw_rows, draw_small
from workbench.pictures.graph_text import LEAST_PX, legible, tail, text
from workbench.pictures.layout import Box, FrameBox, GraphLayout, LayoutStyle, NodeBox, RoutedEdge, layout_graph
from workbench.pictures.layout_fit import widened
from workbench.pictures.palette import LIGHT, Palette
from workbench.pictures.signs import (
    SEVERITIES,
    badge_size,
    draw_badge,
    draw_severity,
    draw_shares,
    draw_state_bar,
    draw_swatch,
    draw_tag,
    draw_warning,
)
from workbench.pictures.states import ORDER, Shares, category_name, mean_shares
from workbench.pictures.svg import SvgCanvas

STYLE = LayoutStyle(
    label_height=31, head_height=34, padding=14, gap=14, margin=4, host_width=212, host_height=178, tile_height=33
)
#: The style for a page as narrow as a phone: one block in a row.
NARROW = replace(
    STYLE, columns_per_band=1, host_width=150, node_width=120, stack_width=130, tiles_per_row=4, padding=8, gap=12
)
PHONE_PX = 343.0  # the width of a phone's page
TILE_TEXT_PX = 20.0
LEGEND_PX, LEGEND_WIDTH = 34.0, 580.0
MOST_ROWS = 5


@dataclass(frozen=True)
class NodeFacts:
    """The contents of a node: shares by category (mean of replicas), and its lines. `badge` is a severity and a count,
    and `first` the finding it leads to; `icon` replaces its side's icon, `ground` is its background. A `limiting` node
    has a ring and a label in its corner; one `on_path` is framed, and `foot` is the text at its foot."""

    shares: Shares
    figure: str
    words: str
    second: str
    rows: tuple[StateRow, ...] = ()
    tiles: Mapping[str, tuple[Shares, str]] = field(default_factory=dict)
    badge: tuple[str, int] | None = None
    first: Finding | None = None
    icon: str = ""
    ground: str = "panel"
    limiting: bool = False
    on_path: bool = False
    foot: str = ""


def node_facts(layout: GraphLayout, analysis: Analysis) -> dict[str, NodeFacts]:
    """The facts of every node, computed once for a run."""
    metrics = {m.block.id: m for m in analysis.blocks}
    on = {node.key: findings_on(analysis.findings, node.block_ids or (node.key,)) for node in layout.nodes}
    facts = {node.key: _facts(node, metrics, on[node.key]) for node in layout.nodes}
    special_facts = {one.fifo.id: _fifo_facts(one) for one in analysis.fifos}
    special_facts |= {MEMORY + one.port.id: _memory_facts(one) for one in analysis.memory_ports}
    for key in facts.keys() & special_facts.keys():
        facts[key] = replace(special_facts[key], badge=facts[key].badge, first=facts[key].first)
    return facts


def _fifo_facts(one: FifoMetrics) -> NodeFacts:
    depth = f"of {one.fifo.depth} words" if one.fifo.depth else "words"
    return NodeFacts((), significant(one.mean), depth, f"full {percent_text(one.full_share)}", icon="columns-2")


def _memory_facts(one: MemoryPortMetrics) -> NodeFacts:
    waits = f"waits {percent_text(one.waiting / max(one.cycles, 1))}"
    return NodeFacts((), rate_text(one.bytes_per_s), one.port.memory, waits, icon="table-2")


def _facts(node: NodeBox, metrics: Mapping[str, BlockMetrics], findings: Sequence[Finding]) -> NodeFacts:
    members = [metrics[b] for b in node.block_ids if b in metrics]
    rank = tuple(SEVERITIES).index
    first = min(findings, key=lambda f: (rank(f.severity), -f.gain), default=None)
    badge = (first.severity, len(findings)) if first else None
    if not members:
        return NodeFacts((), "", "outside the FPGA" if node.key == "$MEM" else "", "", badge=badge, first=first)
    shares = mean_shares(members)
    by = dict(shares)
    parts = sorted(
        (
            (by.get(Category.WORK, 0.0), "working"),
            (sum(by.get(c, 0.0) for c in COMMUNICATION), "moving data"),
            (by.get(Category.OVERHEAD, 0.0), "overhead"),
            (sum(by.get(c, 0.0) for c in WAITS), "waiting"),
        ),
        key=lambda p: (p[1] != "working" or not p[0], -p[0]),
    )
    parts = [p for p in parts if p[0] > 0] or [(by.get(None, 0.0), "unclassified")]
    second = f"{percent_text(parts[1][0])} {parts[1][1]}" if len(parts) > 1 else ""
    rows: tuple[StateRow, ...] = ()
    if node.side is Side.HOST:
        time = sum(m.time_s for m in members)
        ranked = sorted(shares, key=lambda s: -s[1])[:MOST_ROWS]
        rows = tuple((c, category_name(c), percent_text(s), time_text(s * time)) for c, s in ranked)
    tiles = {
        t.block_id: (mean_shares([metrics[t.block_id]]), f"{metrics[t.block_id].share_of(Category.WORK) * 100:.1f}")
        for t in node.tiles
        if t.block_id in metrics
    }
    return NodeFacts(shares, percent_text(parts[0][0]), parts[0][1], second, rows, tiles, badge, first)


def frame_notes(layout: GraphLayout, analysis: Analysis, platform: Platform | None) -> dict[str, str]:
    """The text beside each frame's title: the processor and its threads, or the device, its clocks and blocks."""
    notes = {}
    for frame in layout.frames:
        count = sum(len(node.block_ids) for node in layout.nodes if node.frame == frame.title)
        if frame.side is Side.HOST:
            parts = [platform.cpu if platform else "", f"{count} thread{'s' if count != 1 else ''}"]
        elif count:
            clocks = [frequency_text(clock.frequency_hz) for clock in analysis.clocks]
            device = platform.device.name if platform else ""
            parts = ["FPGA", device, *clocks, f"{count} block{'s' if count != 1 else ''}"]
        else:  # links between FPGAs
            continue
        notes[frame.title] = ", ".join(filter(None, parts))
    return notes


def graph_svg(
    analysis: Analysis,
    platform: Platform | None = None,
    link_prefix: str = "",
    palette: Palette = LIGHT,
    *,
    narrow: bool = False,
    room_px: float = 0.0,
) -> str:
    """The whole graph with its legend. A node's badge links to `link_prefix`, `#finding-` and the id of its first
    finding. A narrow graph is for a phone: top to bottom, without a legend. Other graphs fill a width of `room_px`."""
    layout, canvas = layout_graph(analysis.graph, NARROW if narrow else STYLE), SvgCanvas(palette)
    layout = widened(analysis.graph, STYLE, layout, room_px)
    facts, notes = node_facts(layout, analysis), frame_notes(layout, analysis, platform)
    if narrow:
        scale = min(1.0, PHONE_PX / layout.width)  # texts keep their size
        _draw_on_ground(canvas, layout, facts, notes, link_prefix, (layout.width, layout.height), scale)
        return canvas.document(layout.width * scale, layout.height * scale, "Block graph")
    draw_whole(canvas, layout, facts, notes, link_prefix)
    return canvas.document(*whole_size(layout), "Block graph")


def whole_size(layout: GraphLayout) -> tuple[float, float]:
    """The width and height of a whole graph with its legend."""
    return max(layout.width, LEGEND_WIDTH), layout.height + LEGEND_PX


def draw_whole(
    canvas: Canvas,
    layout: GraphLayout,
    facts: Mapping[str, NodeFacts],
    notes: Mapping[str, str],
    link_prefix: str = "",
) -> None:
    """Draw a laid-out graph and its legend."""
    width, height = whole_size(layout)
    _draw_on_ground(canvas, layout, facts, notes, link_prefix, (width, height))
    _draw_legend(canvas, width, height - LEGEND_PX / 2)


def _draw_on_ground(
    canvas: Canvas, layout: GraphLayout, facts: Mapping[str, NodeFacts], notes: Mapping[str, str], link_prefix: str,
    size: tuple[float, float], scale: float = 1.0,
) -> None:  # fmt: skip
    canvas.rect(0, 0, size[0] * scale, size[1] * scale, "window")
    with canvas.placed(0, 0, scale):
        draw_graph(canvas, layout, facts, notes, link_prefix=link_prefix)
    draw_block_labels(canvas, layout, badges_px(layout, facts, scale), scale)


def edge_rows(layout: GraphLayout) -> Iterator[tuple[str | float, ...]]:
    """The edges as a table, heads first."""
    yield ("from", "to", "message", "count", "bytes", "time (s)")
    for routed in layout.edges:
        for edge in routed.edges:
            numbers = ("" if value is None else value for value in (edge.count, edge.bytes, edge.time_s))
            yield (edge.source, edge.target, edge.message, *numbers)


def draw_graph(
    canvas: Canvas,
    layout: GraphLayout,
    facts: Mapping[str, NodeFacts],
    notes: Mapping[str, str],
    *,
    seen: Box | None = None,
    chosen: Collection[str] = (),
    chosen_edges: Collection[RoutedEdge] = (),
    hover: str = "",
    link_prefix: str = "",
    weight: Callable[[RoutedEdge], float] = attrgetter("time_s"),
    path: Collection[frozenset[str]] = (),
) -> None:
    """Draw the part of a graph within `seen` (None: all), without the edges' labels. `path` are the pairs of nodes on
    the critical path. Arrows end over the sheets of a stack, of which a small drawing has one."""
    for frame in layout.frames:
        draw_frame(canvas, frame, notes.get(frame.title, ""))
    nodes = [n for n in layout.nodes if seen is None or _grown(n.box, 16).overlaps(seen)]
    for box, by in [(n.box, by) for n in nodes if n.tiles for by in ((6, 3) if canvas.scale > 0.8 else (6,))]:
        canvas.rect(box.x + by, box.y + by, box.width, box.height, "panel", "edge", radius=5)
    most = max(map(weight, layout.edges), default=0.0)
    edges = [e for e in layout.edges if seen is None or bounds(e).overlaps(seen)]
    for edge in sorted(edges, key=lambda e: e in chosen_edges):
        wide, on_path = edge_width(weight(edge), most), frozenset((edge.source, edge.target)) in path
        ink = "accent" if edge in chosen_edges else "text" if on_path else "second/0.45" if path else "second"
        draw_edge(canvas, edge, wide, ink)
    for node in nodes:
        ringed = node.key in chosen or any(b in chosen for b in node.block_ids)
        draw_node(canvas, node, facts[node.key], "chosen" if ringed else "hover" if node.key == hover else "")
    for node in nodes:
        draw_node_badge(canvas, node, facts[node.key], link_prefix)


def draw_frame(canvas: Canvas, frame: FrameBox, note: str) -> None:
    box = frame.box
    canvas.rect(box.x, box.y, box.width, box.height, "sunken", "rule", radius=8)
    head = Box(box.x + 14, box.y + 6, box.width - 24, 22)
    used = text(canvas, head, frame.title, "text", 13, 600, always=True)
    room = Box(head.x + used + 10, head.y, head.width - used - 10, head.height)
    size = max(12.0, LEAST_PX / canvas.scale)
    while ", " in note and canvas.width_of(note, size) > room.width:  # the last part first
        note = note.rpartition(", ")[0]
    text(canvas, room, note, "second", 12)


def draw_node(canvas: Canvas, node: NodeBox, facts: NodeFacts, state: str) -> None:
    """Draw a node; `state` is "", "hover" or "chosen"."""
    box = node.box
    if state == "chosen" or facts.limiting or facts.on_path:
        ring = "accent" if state == "chosen" else "high" if facts.limiting else "text"
        canvas.rect(box.x - 4, box.y - 4, box.width + 8, box.height + 8, "panel", ring, 2, radius=8)
    canvas.rect(
        box.x, box.y, box.width, box.height, facts.ground, "accent" if state else "edge", 1.4 if state else 1, radius=5
    )
    left, width = box.x + 11, box.width - 22
    room = Box(box.x + 2 / canvas.scale, box.y + 5, box.width - 4 / canvas.scale, 22)
    fpga = "layers" if node.tiles else "workflow" if node.block_ids else "cpu"
    if legible(canvas, 22):
        canvas.icon(facts.icon or ("terminal" if node.side is Side.HOST else fpga), left, box.y + 8)
        room = Box(left + 23, box.y + 5, width - 23, 22)
    y = box.y + 31
    foot = min((tile.box.y for tile in node.tiles), default=box.bottom)
    if not legible(canvas, 22):  # lines of text are higher than usual here
        y = foot - 18
        room = draw_small(canvas, Box(room.x, box.y + 1, room.width, y - box.y - 1), facts)
    size = 13 * max(LEAST_PX / (13 * canvas.scale), 1.0)
    text(canvas, room, tail(canvas, node.title, room.width, size), "text", 13, 600, always=True)
    if facts.shares:
        with canvas.placed(left, y):
            draw_shares(canvas, width, 12, facts.shares)
        y += 16
    line = max(18.0, LEAST_PX / canvas.scale)  # as high as can be read, where there is room
    line = line if y + line <= foot - 4 else 18.0
    used = text(canvas, Box(left, y, width, line), facts.figure, "text", 12, 600)
    at = used + max(5.0, 4 / canvas.scale) if used else 0
    text(canvas, Box(left + at, y, width - at, line), facts.words, "second", 12)
    below = Box(left, y + line + 4, width, box.bottom - y - line - 8)
    if facts.rows:
        draw_rows(canvas, below, facts.rows)
    elif y + 2 * line <= foot and (line - 1) * canvas.scale >= LEAST_PX + 2:  # not one on the other
        text(canvas, Box(left, y + line - 1, width, line - 1), facts.second, "muted", 12)
    for tile in node.tiles:
        if tile.block_id in facts.tiles:
            shares, figure = facts.tiles[tile.block_id]
            with canvas.named(f"{tile.block_id}: {figure} % working"):
                draw_tile(canvas, tile.box, shares, figure)


def draw_tile(canvas: Canvas, box: Box, shares: Shares, figure: str) -> None:
    canvas.rect(box.x, box.y, box.width, box.height, "panel", "rule", radius=3)
    roomy = box.height >= TILE_TEXT_PX
    if roomy and box.width >= 22:
        text(canvas, Box(box.x + 1.5, box.y + 1, box.width - 3, 14), figure, "text", 11, 500, CENTRE)
        bar = Box(box.x + 4, box.y + 16, box.width - 8, box.height - 20)
    else:
        bar = _grown(box, -1)
    if bar.width > 2 and bar.height > 1:
        draw_state_bar(canvas, bar.x, bar.y, bar.width, bar.height, shares, frame=roomy)


def draw_node_badge(canvas: Canvas, node: NodeBox, facts: NodeFacts, link_prefix: str = "") -> None:
    if facts.limiting:
        with canvas.placed(node.box.right, node.box.y, max(1 / canvas.scale, 1.0)):
            draw_warning(canvas, 8.0, -18.0, "limits")
    if facts.foot:
        with canvas.placed(node.box.centre[0], node.box.bottom, max(1 / canvas.scale, 1.0)), canvas.placed(0, 5):
            draw_tag(canvas, facts.foot, strong=facts.on_path)
    if facts.badge is None:
        return
    level, count = facts.badge
    box = badge_box(node, count)
    title, href = "", ""
    if facts.first:
        title = f"{count} finding{'s' if count != 1 else ''}, the first: {facts.first.title}"
        href = f"{link_prefix}#finding-{facts.first.id}"
    grown = max(1 / canvas.scale, 1.0)  # its number must be readable at any zoom
    with canvas.named(title, href), canvas.placed(*box.centre, grown):
        draw_badge(canvas, -box.width / 2, -box.height / 2, level, count)


def badges_px(layout: GraphLayout, facts: Mapping[str, NodeFacts], scale: float = 1.0) -> list[Box]:
    """The boxes of badges in pixels, at a scale of the graph."""
    boxes = [badge_box(node, badge[1]) for node in layout.nodes if (badge := facts[node.key].badge)]
    grown = max(scale, 1.0)
    sizes = [(box.centre, box.width * grown, box.height * grown) for box in boxes]
    return [Box(x * scale - wide / 2, y * scale - high / 2, wide, high) for (x, y), wide, high in sizes]


def badge_box(node: NodeBox, count: int) -> Box:
    """The badge's box over the node's top right corner."""
    width, height = badge_size(count)
    return Box(node.box.right - width + 8, node.box.y - height / 2 - 1, width, height)


def edge_width(weight: float, most: float) -> float:
    """The width of an edge, 1.3 to 4.5 pixels by its share of the largest value, which may be 0."""
    return 1.3 + 3.2 * math.sqrt(weight / most if most > 0 else 0.0)


def draw_edge(canvas: Canvas, edge: RoutedEdge, width: float, ink: str) -> None:
    if len(edge.points) < 2:
        return
    (x0, y0), (x1, y1) = edge.points[-2:]
    length = math.hypot(x1 - x0, y1 - y0) or 1.0
    dx, dy = (x1 - x0) / length, (y1 - y0) / length
    head, half = 6.0 + width, 3.0 + width * 0.7
    neck = (x1 - dx * head, y1 - dy * head)
    canvas.path([*edge.points[:-1], neck], ink, width)
    sides = [(neck[0] - dy * half, neck[1] + dx * half), (neck[0] + dy * half, neck[1] - dx * half)]
    canvas.shape([(x1, y1), *sides], ink)


def _draw_legend(canvas: Canvas, width: float, middle: float) -> None:
    """Draw the states' names and, if there is room, the severities'."""
    x = 18.0
    for category in ORDER:
        draw_swatch(canvas, x, middle - 6, 16, 11, category)
        canvas.write(x + 22, middle, category_name(category), "second", 12, 400)
        x += 36 + canvas.width_of(category_name(category), 12)
    severities = [(level, words) for level, words in SEVERITIES.items() if level != "aside"]
    wide = sum(36 + canvas.width_of(words, 12) for _, words in severities)
    if x + wide > width:
        return
    x = width - wide
    for level, words in severities:
        draw_severity(canvas, x, middle - 7, 14, level)
        canvas.write(x + 20, middle, words, "second", 12, 400)
        x += 36 + canvas.width_of(words, 12)


def bounds(edge: RoutedEdge) -> Box:
    """The bounding box of an edge, its arrow head and its label."""
    label = edge.label_box
    xs = [x for x, _ in edge.points] + [label.x + 8, label.right - 8]
    ys = [y for _, y in edge.points] + [label.y + 8, label.bottom - 8]
    return _grown(Box(min(xs), min(ys), max(xs) - min(xs), max(ys) - min(ys)), 8)


def _grown(box: Box, by: float) -> Box:
    return Box(box.x - by, box.y - by, box.width + 2 * by, box.height + 2 * by)
