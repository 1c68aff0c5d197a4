"""The block graph as an SVG drawing: states as bars, edges with their messages, warnings that link to the findings."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from xml.sax.saxutils import escape, quoteattr

from workbench.analysis.svg_parts import (
    COLOURS,
    Shares,
    category_name,
    fill_of,
    rect,
    severity_sign,
    state_bar,
    svg,
    text,
)
from workbench.api.results import BlockMetrics
from workbench.model.blocks import BlockGraph, Side
from workbench.model.finding import Finding, findings_on
from workbench.model.pragma import COMMUNICATION, WAITS, Category
from workbench.model.text import percent_text, time_text
from workbench.pictures.layout import GraphLayout, LayoutStyle, NodeBox, RoutedEdge, layout_graph

ORDER: tuple[Category | None, ...] = (*Category, None)
_RANK = {"high": 0, "medium": 1, "low": 2}
_LEGEND_HEIGHT = 34.0
_Found = Mapping[str, Sequence[Finding]]


def graph_svg(
    graph: BlockGraph,
    findings: Sequence[Finding],
    blocks: Sequence[BlockMetrics] = (),
    link_prefix: str = "",
) -> str:
    """Draw a graph. `blocks` gives the states' times; without them nodes show only names.

    A node's warning counts the findings on it (`findings_on`) and links to
    `link_prefix` + `#finding-` + the id of the first.
    """
    layout = layout_graph(graph, LayoutStyle())
    metrics = {m.block.id: m for m in blocks}
    of_node = {node.key: findings_on(findings, node.block_ids) for node in layout.nodes}
    parts = [rect(0, 0, layout.width, layout.height + _LEGEND_HEIGHT, fill=COLOURS["panel"])]
    for frame in layout.frames:
        box = frame.box
        parts.append(rect(box.x, box.y, box.width, box.height, rx=8, fill=COLOURS["sunken"], stroke=COLOURS["rule"]))
        parts.append(text(box.x + 14, box.y + 24, frame.title, size=13, weight=600))
        inside = sum(len(n.block_ids) for n in layout.nodes if n.frame == frame.title and n.side is frame.side)
        said = "host" if frame.side is Side.HOST else f"FPGA, {inside} block{'s' if inside != 1 else ''}"
        if frame.title != said:
            x = box.x + 22 + 7.6 * len(frame.title)
            parts.append(text(x, box.y + 24, said, size=12, colour="muted"))
    longest = max((edge.time_s for edge in layout.edges), default=0.0)
    parts += [_line(edge, longest) for edge in layout.edges]
    parts += [_node(node, metrics) for node in layout.nodes]
    parts += [_label(edge) for edge in layout.edges]
    parts += [_badge(node, of_node[node.key], link_prefix) for node in layout.nodes if of_node[node.key]]
    parts.append(_legend(layout))
    arrow = (
        '<marker id="arrow" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="8" markerHeight="8" orient="auto"'
        f' markerUnits="userSpaceOnUse"><path d="M0 .5L8 4L0 7.5Z" fill="{COLOURS["second"]}"/></marker>'
    )
    return svg(layout.width, layout.height + _LEGEND_HEIGHT, parts, "Block graph", css=arrow)


def _line(edge: RoutedEdge, longest: float) -> str:
    """Width tells the time; the longest of all is 5 pixels wide."""
    width = 1.4 + 3.6 * (edge.time_s / longest if longest else 0)
    points = list(edge.points)
    (x0, _), (x1, y1) = points[-2], points[-1]
    if width > 2.2:  # the line ends behind its own arrow head
        points[-1] = (x1 - (4 if x1 > x0 else -4), y1)
    path = " ".join(f"{x:.1f},{y:.1f}" for x, y in points)
    line = f'<polyline points="{path}" fill="none" stroke="{COLOURS["second"]}" stroke-width="{width:.1f}"/>'
    head = (
        f'<polyline points="{x0:.1f},{y1:.1f} {x1:.1f},{y1:.1f}" fill="none" stroke="none" marker-end="url(#arrow)"/>'
    )
    return line + head


def _label(edge: RoutedEdge) -> str:
    if not edge.label:
        return ""
    box = edge.label_box
    x = box.x + box.width / 2
    parts = [rect(box.x, box.y + 1, box.width, box.height - 2, rx=4, fill=COLOURS["sunken"], fill_opacity=".92")]
    two = bool(edge.detail)
    parts.append(text(x, box.y + (12 if two else 19), edge.label, weight=600, text_anchor="middle"))
    if two:
        parts.append(text(x, box.y + 25, edge.detail, colour="second", text_anchor="middle"))
    return "".join(parts)


def _node(node: NodeBox, metrics: Mapping[str, BlockMetrics]) -> str:
    box = node.box
    members = [metrics[i] for i in node.block_ids if i in metrics]
    parts = []
    if node.tiles:
        for shift in (6, 3):
            parts.append(_panel(box.x + shift, box.y + shift, box.width, box.height))
    parts.append(_panel(box.x, box.y, box.width, box.height))
    parts.append(_glyph(node, box.x + 18, box.y + 18))
    parts.append(text(box.x + 32, box.y + 22, _fitting(node.title, box.width - 44), size=13, weight=600))
    if members:
        shares = mean_shares(members)
        parts.append(state_bar(box.x + 10, box.y + 32, box.width - 20, 12, shares))
        parts += _said(node, members, dict(shares))
    for tile in node.tiles:
        parts.append(_tile(tile.block_id, tile.box.x, tile.box.y, tile.box.width, tile.box.height, metrics))
    return "".join(parts)


def _panel(x: float, y: float, width: float, height: float) -> str:
    return rect(x, y, width, height, rx=5, fill=COLOURS["panel"], stroke=COLOURS["edge"])


def _fitting(title: str, room: float) -> str:
    most = max(int(room / 7.2), 4)
    return title if len(title) <= most else title[: most - 1] + "…"


def mean_shares(members: Sequence[BlockMetrics]) -> Shares:
    """Shares of the run by category, the mean over replicas."""
    count = len(members)
    return [(c, sum(m.by_category.get(c, 0.0) / m.time_s if m.time_s else 0 for m in members) / count) for c in ORDER]


def _said(node: NodeBox, members: Sequence[BlockMetrics], shares: Mapping[Category | None, float]) -> list[str]:
    box = node.box
    works = any(s.state.category is Category.WORK for s in members[0].states)
    moving = sum(shares[c] for c in COMMUNICATION)
    waiting = sum(shares[c] for c in WAITS)
    x, y = box.x + 10, box.y + 60
    share, words = (shares[Category.WORK], "working") if works else (moving, "moving data")
    if not works and shares[Category.OVERHEAD] > moving:
        share, words = shares[Category.OVERHEAD], "overhead"
    parts = [_figure(x, y, percent_text(share), words)]
    if node.side is Side.HOST:
        rows = sorted(((s, c) for c, s in shares.items() if s > 0 and c is not Category.WORK), key=lambda r: -r[0])
        for row, (part, category) in enumerate(rows[:5]):
            at = y + 24 + row * 20
            if at > box.bottom - 8:
                break
            parts.append(rect(x, at - 9, 11, 11, fill=fill_of(category), stroke=COLOURS["text"], stroke_opacity=".53"))
            parts.append(text(x + 18, at, category_name(category)))
            parts.append(text(box.right - 66, at, percent_text(part), weight=600, text_anchor="end"))
            seconds = part * members[0].time_s
            parts.append(text(box.right - 10, at, time_text(seconds), colour="second", text_anchor="end"))
    elif node.tiles:
        least, most = (f(m.share_of(Category.WORK) for m in members) for f in (min, max))
        said = f"{percent_text(least)} to {percent_text(most)}" if works else f"{percent_text(waiting)} waiting"
        parts.append(text(x, y + 17, said, colour="second"))
    else:
        parts.append(text(x, y + 17, f"{percent_text(waiting)} waiting", colour="second"))
    return parts


def _figure(x: float, y: float, number: str, words: str) -> str:
    strong = f'<tspan font-weight="700">{escape(number)}</tspan>'
    return f'<text x="{x:.1f}" y="{y:.1f}" font-size="12" fill="{COLOURS["text"]}">{strong} {words}</text>'


def _tile(block_id: str, x: float, y: float, width: float, height: float, metrics: Mapping[str, BlockMetrics]) -> str:
    found = metrics.get(block_id)
    if found is None or height < 20 or width < 20:
        work = found.share_of(Category.WORK) if found else 0.0
        shade = fill_of(Category.WORK) if work > 0.5 else COLOURS["low-ground"]
        return rect(x, y, width, height, fill=shade, stroke=COLOURS["rule"])
    shares = mean_shares([found])
    work_text = f"{100 * found.share_of(Category.WORK):.1f}"
    return (
        f"<g><title>{escape(block_id)}: {work_text} % working</title>"
        + rect(x, y, width, height, rx=3, fill=COLOURS["sunken"], stroke=COLOURS["rule"])
        + text(x + width / 2, y + 12, work_text, size=10, text_anchor="middle")
        + state_bar(x + 3, y + height - 13, width - 6, 9, shares)
        + "</g>"
    )


def _glyph(node: NodeBox, x: float, y: float) -> str:
    """A prompt for threads, layers for replicas, a chip for other hardware."""
    if node.side is Side.HOST:
        path = "M-6 -4L-2 0L-6 4M0 5H6"
    elif node.tiles:
        path = "M0 -6L7 -2.5L0 1L-7 -2.5ZM-7 1L0 4.5L7 1M-7 4L0 7.5L7 4"
    else:
        path = "M-4 -4H4V4H-4ZM-2 -6.5V-4M2 -6.5V-4M-2 4V6.5M2 4V6.5M-6.5 -2H-4M-6.5 2H-4M4 -2H6.5M4 2H6.5"
    return (
        f'<path transform="translate({x:.1f} {y:.1f})" d="{path}" fill="none" stroke="{COLOURS["second"]}"'
        ' stroke-width="1.3" stroke-linecap="round" stroke-linejoin="round"/>'
    )


def _badge(node: NodeBox, findings: Sequence[Finding], link_prefix: str) -> str:
    """Shape and count at the node's top right corner."""
    worst = min(findings, key=lambda f: (_RANK[f.severity], -f.gain))
    colour = COLOURS[worst.severity]
    width = 40 if len(findings) < 10 else 47
    x, y = node.box.right - width + 8, node.box.y - 11
    said = f"{len(findings)} finding{'s' if len(findings) != 1 else ''}, the first: {worst.title}"
    return (
        f"<a href={quoteattr(f'{link_prefix}#finding-{worst.id}')}><title>{escape(said)}</title>"
        + rect(x, y, width, 20, rx=10, fill=COLOURS[f"{worst.severity}-ground"], stroke=colour)
        + severity_sign(worst.severity, x + 14, y + 10, 13)
        + text(x + 26, y + 14, str(len(findings)), weight=600, size=12)
        + "</a>"
    )


def _legend(layout: GraphLayout) -> str:
    x, y = 18.0, layout.height + 20
    parts = []
    for category in ORDER:
        name = category_name(category)
        parts.append(rect(x, y - 10, 12, 12, fill=fill_of(category), stroke=COLOURS["text"], stroke_opacity=".53"))
        parts.append(text(x + 18, y, name, size=12))
        x += 34 + 7 * len(name)
    if layout.width - x > 330:
        x = layout.width - 310
        for severity, said in (("high", "over 2×"), ("medium", "1.2 to 2×"), ("low", "below 1.2×")):
            parts.append(severity_sign(severity, x, y - 4, 13))
            parts.append(text(x + 13, y, said, size=12))
            x += 100
    return "".join(parts)
