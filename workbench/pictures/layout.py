"""Lays out the block graph without a window, as plain data that SVG and widgets draw.

Components are frames side by side, the host's at the left. Inside, blocks are in columns by their distance from the
block that talks to the host, and long chains are folded into bands. Replicas share one node with a tile each. Edges run
straight across a gutter if they can and at right angles elsewhere; vertical parts have tracks of their own in the
gutters, far-reaching edges lanes of their own above the bands, and each label a place of its own.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import networkx as nx

from workbench.model.blocks import BlockGraph, Side
from workbench.model.pragma import CPU
from workbench.pictures.layout_edges import Link, Placed, right_heights, route, sides_of
from workbench.pictures.layout_parts import (
    FrameBox,
    GraphLayout,
    NodeBox,
    RoutedEdge,
    Tile,
    links_of,
    nodes_of,
)
from workbench.pictures.layout_sizes import Box, LayoutStyle

#: Up to this many blocks that the host calls are next to it, whatever their distance from its main partner.
MOST_PARTNERS = 3

__all__ = ["Box", "FrameBox", "GraphLayout", "LayoutStyle", "NodeBox", "RoutedEdge", "Tile", "layout_graph"]


@dataclass
class _Frame:
    """A component's nodes in bands of columns: `cells[band][column]` lists node keys from top to bottom."""

    name: str
    side: Side
    cells: list[list[list[str]]] = field(default_factory=list)

    @property
    def columns(self) -> int:
        return max((len(band) for band in self.cells), default=0)


def layout_graph(graph: BlockGraph, style: LayoutStyle | None = None) -> GraphLayout:
    """Lay out a graph. Deterministic: the same graph always gives the same picture. Units are pixels."""
    style = style or LayoutStyle()
    nodes = nodes_of(graph, style)
    links = links_of(graph, nodes)
    blocks = {block.id: block for block in graph.blocks}
    speaks = {
        key: sum(CPU in state.targets for state in blocks[node.block_ids[0]].states)
        for key, node in nodes.items()
        if node.block_ids
    }
    frames = _frames(nodes, links, speaks, style)
    where = _order(frames, nodes, links)
    _grow(nodes, where, links, style)
    return _place(frames, where, nodes, links, style)


def _frames(
    nodes: Mapping[str, NodeBox], links: Sequence[Link], speaks: Mapping[str, int], style: LayoutStyle
) -> list[_Frame]:
    names = dict.fromkeys((node.side, node.frame) for node in nodes.values())
    frames = []
    for side, name in sorted(names, key=lambda item: item[0] is not Side.HOST):
        members = [key for key, node in nodes.items() if (node.side, node.frame) == (side, name)]
        frame = _Frame(name, side)
        if side is Side.HOST:
            frame.cells = [[members]]
        else:
            layers = _flow(members, links) if style.flow else _layers(members, nodes, links, speaks)
            frame.cells = _bands(layers, style.columns_per_band, style.rows_per_column)
        frames.append(frame)
    return frames


def _flow(members: Sequence[str], links: Sequence[Link]) -> list[list[str]]:
    """The members by the longest way to them; those of a cycle are in a row, in their order."""
    graph: nx.DiGraph[str] = nx.DiGraph()
    graph.add_nodes_from(members)
    graph.add_edges_from((a.source, a.target) for a in links if a.source in graph and a.target in graph)
    circles = nx.condensation(graph)
    order = {key: n for n, key in enumerate(members)}
    column: dict[int, int] = {}  # the first one of a circle's
    layers: dict[int, list[str]] = {}
    for circle in nx.topological_sort(circles):
        before = circles.predecessors(circle)
        column[circle] = max((column[one] + len(circles.nodes[one]["members"]) for one in before), default=0)
        for offset, key in enumerate(sorted(circles.nodes[circle]["members"], key=order.__getitem__)):
            layers.setdefault(column[circle] + offset, []).append(key)
    return [sorted(layers[number], key=order.__getitem__) for number in sorted(layers)]


def _layers(
    members: Sequence[str], nodes: Mapping[str, NodeBox], links: Sequence[Link], speaks: Mapping[str, int]
) -> list[list[str]]:
    """The members by their distance from the node that talks to the host; the host's other partners are next to it.

    `speaks` is how often a node's own pragmas name the host.
    """
    inside: nx.Graph[str] = nx.Graph()
    inside.add_nodes_from(members)
    inside.add_edges_from((a.source, a.target) for a in links if a.source in inside and a.target in inside)
    host_calls = dict.fromkeys(members, 0)
    for link in links:
        for key, other in ((link.source, link.target), (link.target, link.source)):
            if key in host_calls and nodes[other].side is Side.HOST:
                host_calls[key] += 1
    order = {key: n for n, key in enumerate(members)}

    def worth(key: str) -> tuple[int, int, int]:
        return speaks.get(key, 0), host_calls[key], -order[key]

    distance: dict[str, int] = {}
    for part in nx.connected_components(inside):
        start = max(part, key=worth)
        distance |= nx.single_source_shortest_path_length(inside, start)
    partners = [key for key in members if host_calls[key] and not nodes[key].tiles]
    if len(partners) <= MOST_PARTNERS:
        distance |= dict.fromkeys(partners, 0)
    layers: list[list[str]] = [[] for _ in range(max(distance.values(), default=0) + 1)]
    for key in members:
        layers[distance[key]].append(key)
    return [layer for layer in layers if layer]


def _bands(layers: Sequence[Sequence[str]], width: int, height: int) -> list[list[list[str]]]:
    """The columns, cut if they are too tall, then folded in alternating directions so that chains turn at the
    margins."""
    columns = [list(layer[i : i + height]) for layer in layers for i in range(0, len(layer), height)]
    bands = []
    for number, begin in enumerate(range(0, len(columns), width)):
        band = columns[begin : begin + width]
        if number % 2:
            band = [[] for _ in range(width - len(band))] + band[::-1]
        bands.append(band)
    return bands


def _grow(
    nodes: dict[str, NodeBox], where: Mapping[str, tuple[int, int]], links: Sequence[Link], style: LayoutStyle
) -> None:
    """Make nodes tall enough for the edges at each side, which each need room for a label."""
    sides: dict[tuple[str, bool], int] = {}
    for link in links:
        for key, right in zip((link.source, link.target), sides_of(link, where), strict=True):
            sides[key, right] = sides.get((key, right), 0) + 1
    for (key, _), count in sides.items():
        box = nodes[key].box
        needed = count * style.label_height + 20
        if box.height < needed:
            nodes[key] = nodes[key].moved(Box(0, 0, box.width, needed))


def _order(frames: Sequence[_Frame], nodes: Mapping[str, NodeBox], links: Sequence[Link]) -> dict[str, tuple[int, int]]:
    """Sort each column by its neighbours' mean place (a few sweeps); returns each node's (band, column)."""
    where: dict[str, tuple[int, int]] = {}
    first = 0
    for frame in frames:
        for band_number, band in enumerate(frame.cells):
            for column_number, column in enumerate(band):
                where |= dict.fromkeys(column, (band_number, first + column_number))
        first += frame.columns
    neighbours: dict[str, list[str]] = {key: [] for key in nodes}
    for link in links:
        neighbours[link.source].append(link.target)
        neighbours[link.target].append(link.source)
    columns = [column for frame in frames for band in frame.cells for column in band if column]
    rank = {key: _rank(column, row) for column in columns for row, key in enumerate(column)}
    for sweep in range(4):
        for column in columns if sweep % 2 == 0 else columns[::-1]:
            mean = {
                key: sum(near) / len(near) if (near := [rank[n] for n in neighbours[key]]) else rank[key]
                for key in column
            }
            column.sort(key=mean.__getitem__)
            rank |= {key: _rank(column, row) for row, key in enumerate(column)}
    return where


def _rank(column: Sequence[str], row: int) -> float:
    return (row + 0.5) / len(column)


def _place(
    frames: Sequence[_Frame],
    where: Mapping[str, tuple[int, int]],
    nodes: dict[str, NodeBox],
    links: Sequence[Link],
    style: LayoutStyle,
) -> GraphLayout:
    """Place all parts: first heights, then the edges' needs, which give the gutters' widths."""
    adjacent = {link: _is_near(where[link.source], where[link.target]) for link in links}
    lane_y, bottom = _stack_bands(frames, where, nodes, links, adjacent, style)
    count = sum(frame.columns for frame in frames)
    widths = [
        max((nodes[key].box.width for key, (_, column) in where.items() if column == number), default=0.0)
        for number in range(count)
    ]
    firsts = [sum(frame.columns for frame in frames[:n]) for n in range(len(frames) + 1)]
    links_of: dict[str, list[Link]] = {key: [] for key in nodes}
    for link in links:
        links_of[link.source].append(link)
        links_of[link.target].append(link)
    placed = Placed(nodes, where, widths, set(firsts), adjacent, lane_y, links_of)
    extents: dict[int, tuple[float, float]] = {}
    for key, (band, _) in where.items():
        low, high = extents.get(band, (nodes[key].box.y, nodes[key].box.bottom))
        extents[band] = min(low, nodes[key].box.y), max(high, nodes[key].box.bottom)
    for number in range(1, count):
        _level(number, placed, nodes, extents, style)
    routed = route(placed, links, style)
    column_x = routed.column_x
    for key, (_, number) in where.items():
        box = nodes[key].box
        x = column_x[number] + (widths[number] - box.width) / 2
        nodes[key] = nodes[key].moved(Box(x, box.y, box.width, box.height))
    boxes = []
    for frame, first in zip(frames, firsts, strict=False):
        last = first + frame.columns - 1
        left, right = column_x[first] - style.padding, routed.frame_ends[last + 1]
        boxes.append(FrameBox(frame.name, frame.side, Box(left, style.margin, right - left, bottom - style.margin)))
    edges = tuple(
        RoutedEdge(link.source, link.target, link.edges, points, link.label, link.detail, label_box)
        for link, points, label_box in routed.links
    )
    return GraphLayout(routed.width, bottom + style.margin, tuple(boxes), tuple(nodes.values()), edges)


def _stack_bands(
    frames: Sequence[_Frame],
    where: Mapping[str, tuple[int, int]],
    nodes: dict[str, NodeBox],
    links: Sequence[Link],
    adjacent: Mapping[Link, bool],
    style: LayoutStyle,
) -> tuple[dict[Link, float], float]:
    """Give every node its height on the page, columns centred in their band; returns the lanes' heights and the
    bottom."""
    lane_y: dict[Link, float] = {}
    top = style.margin + style.head_height
    for band in range(max((len(frame.cells) for frame in frames), default=0)):
        for link in links:
            if not adjacent[link] and where[link.target][0] == band:
                lane_y[link] = top + style.label_height / 2
                top += style.label_height
        columns = [column for frame in frames if band < len(frame.cells) for column in frame.cells[band] if column]
        heights = [sum(nodes[key].box.height + style.gap for key in column) - style.gap for column in columns]
        height = max(heights, default=0.0)
        for column, used in zip(columns, heights, strict=True):
            y = top + (height - used) / 2
            for key in column:
                box = nodes[key].box
                nodes[key] = nodes[key].moved(Box(0, y, box.width, box.height))
                y += box.height + style.gap
        top += height + style.gap
    return lane_y, top - style.gap + style.padding


def _level(
    number: int,
    placed: Placed,
    nodes: dict[str, NodeBox],
    extents: Mapping[int, tuple[float, float]],
    style: LayoutStyle,
) -> None:
    """Move a column's nodes, within their band, to the height at which their edges from the left arrive."""
    bands: dict[int, list[str]] = {}
    for key, (band, column) in placed.where.items():
        if column == number:
            bands.setdefault(band, []).append(key)
    for band, members in bands.items():
        members.sort(key=lambda key: nodes[key].box.y)
        low, high = extents[band]
        y, tops = low, []
        for key in members:
            box = nodes[key].box
            left = {link.source if link.target == key else link.target for link in placed.links_of[key]}
            arrivals = [
                height
                for other in left
                if placed.where[other] == (band, number - 1)
                for link, height in right_heights(other, placed, style).items()
                if key in link.ends
            ]
            wanted_y = sum(arrivals) / len(arrivals) - box.height / 2 if arrivals else box.y
            y = max(y, wanted_y)
            tops.append(y)
            y += box.height + style.gap
        limit = high
        for row in range(len(members) - 1, -1, -1):
            box = nodes[members[row]].box
            tops[row] = min(tops[row], limit - box.height)
            limit = tops[row] - style.gap
        for key, top in zip(members, tops, strict=True):
            nodes[key] = nodes[key].moved(Box(0, top, nodes[key].box.width, nodes[key].box.height))


def _is_near(a: tuple[int, int], b: tuple[int, int]) -> bool:
    """Whether an edge needs no lane: it joins neighbours in a band, or nodes in one column (of any band)."""
    return a[1] == b[1] or (a[0] == b[0] and abs(a[1] - b[1]) == 1)
