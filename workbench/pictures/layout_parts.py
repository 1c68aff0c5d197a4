"""The parts of a laid-out graph: frames, nodes with tiles, edges with points and labels. Units are pixels."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from math import ceil, sqrt

import numpy as np
from numpy.typing import NDArray

from workbench.model.blocks import MEMORY, PORT, Block, BlockGraph, Edge, Side, rank_of, within_rank
from workbench.model.pragma import MEM
from workbench.model.text import bytes_text, count_text, listed, percent_text, time_text
from workbench.pictures.layout_edges import Link
from workbench.pictures.layout_sizes import Box, LayoutStyle, Point

#: Parallel edges between two nodes beyond this many share a line.
MOST_PARALLEL = 6
#: The prefix of the names of links between FPGAs.
LINK = "link:"


@dataclass(frozen=True)
class Tile:
    """One replica in its stack's node."""

    block_id: str
    box: Box


@dataclass(frozen=True)
class NodeBox:
    """A block, a stack of replicas (with one of `tiles` each), or memory outside the FPGA (no blocks).

    `key` is the block's id, or the replicas' group. `title` is its short name within its frame.
    """

    key: str
    title: str
    frame: str
    side: Side
    block_ids: tuple[str, ...]
    box: Box
    tiles: tuple[Tile, ...] = ()

    def moved(self, box: Box) -> NodeBox:
        """The node at another place, with its tiles laid into its foot."""
        dx, dy = box.x - self.box.x, box.bottom - self.box.bottom
        tiles = tuple(Tile(t.block_id, Box(t.box.x + dx, t.box.y + dy, t.box.width, t.box.height)) for t in self.tiles)
        return NodeBox(self.key, self.title, self.frame, self.side, self.block_ids, box, tiles)


@dataclass(frozen=True)
class FrameBox:
    """A component with its nodes: the host program, or a card's top level."""

    title: str
    side: Side
    box: Box


@dataclass(frozen=True)
class RoutedEdge:
    """Messages from one node to another as one line. `source` and `target` are node keys.

    `points` run from the source's border to the target's, at right angles. `label` gives counts and sizes, `detail`
    messages and times; both fit in `label_box`, which no other label and no node overlaps.
    """

    source: str
    target: str
    edges: tuple[Edge, ...]
    points: tuple[Point, ...]
    label: str
    detail: str
    label_box: Box

    @property
    def time_s(self) -> float:
        return sum(edge.time_s or 0.0 for edge in self.edges)


@dataclass(frozen=True)
class GraphLayout:
    width: float
    height: float
    frames: tuple[FrameBox, ...]
    nodes: tuple[NodeBox, ...]
    edges: tuple[RoutedEdge, ...]

    @cached_property
    def node_corners(self) -> NDArray[np.float64]:
        """Left, top, right and bottom of each node: shape (nodes, 4)."""
        boxes = (node.box for node in self.nodes)
        return np.array([(box.x, box.y, box.right, box.bottom) for box in boxes], float).reshape(-1, 4)

    @cached_property
    def run_corners(self) -> NDArray[np.float64]:
        """Left, top, right and bottom of each straight part of the edges: shape (parts, 4)."""
        parts = (pair for edge in self.edges for pair in pairwise(edge.points))
        return np.array([(*map(min, *pair), *map(max, *pair)) for pair in parts], float).reshape(-1, 4)

    @cached_property
    def run_owners(self) -> NDArray[np.int64]:
        """The edge of each straight part."""
        return np.repeat(np.arange(len(self.edges)), [max(len(edge.points) - 1, 0) for edge in self.edges])

    def node_of(self, block_or_group: str) -> NodeBox | None:
        for node in self.nodes:
            if block_or_group == node.key or block_or_group in node.block_ids:
                return node
        return None


def nodes_of(graph: BlockGraph, style: LayoutStyle) -> dict[str, NodeBox]:
    """A node for each block or group of replicas, and one for memory if an edge names it; without places."""
    groups: dict[str, list[Block]] = {}
    for block in graph.blocks:
        groups.setdefault(block.group, []).append(block)
    alone = _sole_blocks(graph)
    nodes = {}
    for members in groups.values():
        first = members[0]
        frame = first.component if first.side is Side.HOST else first.id.split(".")[0]
        if len({rank_of(block.id) for block in members}) > 1:
            frame = frame.replace(rank_of(first.id), "rank[*]")
        title = _title(first, alone)
        if len(members) > 1 and first.side is Side.HOST:  # ranks: their shares take the room of the tiles
            box, ids = Box(0, 0, style.host_width, style.host_height), tuple(block.id for block in members)
            node = NodeBox(first.group, f"{title} × {len(members)}", frame, first.side, ids, box)
        elif len(members) > 1:
            node = _stack(members, f"{title} × {len(members)}", frame, style)
        else:
            host = first.side is Side.HOST
            size = (style.host_width, style.host_height) if host else (style.node_width, style.node_height)
            node = NodeBox(first.id, title, frame, first.side, (first.id,), Box(0, 0, *size))
        nodes[node.key] = node
    block_ids = {b.id for b in graph.blocks} | set(groups)
    frames = list(dict.fromkeys(n.frame for n in nodes.values() if n.side is Side.FPGA)) or ["card"]
    for end in dict.fromkeys(end for edge in graph.edges for end in (edge.source, edge.target)):
        if end not in block_ids:
            box = Box(0, 0, style.node_width, style.node_height)
            component, linked = end.split(".")[0], end.startswith(LINK)
            frame = "links" if linked else component if component in frames else frames[0]
            nodes[end] = NodeBox(end, _outside_title(end), frame, Side.FPGA, (), box)
    return nodes


def _outside_title(end: str) -> str:
    """The title of an end without blocks: memory, a memory port, a link, or an instance."""
    if end == MEM:
        return "memory"
    for prefix in (LINK, MEMORY):
        if end.startswith(prefix):
            return end.removeprefix(prefix)
    return end.partition(".")[2] or "design"


def _sole_blocks(graph: BlockGraph) -> set[str]:
    """Components with only one block, which has their name."""
    counts: dict[str, int] = {}
    for block in graph.blocks:
        counts[block.component] = counts.get(block.component, 0) + 1
    return {component for component, count in counts.items() if count == 1}


def _title(block: Block, alone: set[str]) -> str:
    if block.side is Side.HOST:
        return block.id.removeprefix(f"{block.component}.")
    if block.kind == PORT:
        return block.id.removeprefix(f"{block.component}.")
    inside = within_rank(block.component).split(".")[1:]
    if block.component not in alone or not inside:
        inside = [*inside, block.id.rpartition(".")[2]]
    return ".".join(part.split("[")[0] for part in inside)


def _stack(members: list[Block], title: str, frame: str, style: LayoutStyle) -> NodeBox:
    count = len(members)
    per_row = max(style.tiles_per_row, ceil(sqrt(count * 0.8)))
    room = style.stack_width - 16
    pitch = room / per_row
    tile_height = style.tile_height if count <= 40 else max(5.0, min(style.tile_height, pitch))
    rows = ceil(count / per_row)
    height = style.stack_head + rows * tile_height + 8
    gap = 4.0 if pitch > 12 else 1.0
    tiles = tuple(
        Tile(
            block.id,
            Box(
                8 + (n % per_row) * pitch,
                style.stack_head + (n // per_row) * tile_height,
                pitch - gap,
                tile_height - gap,
            ),
        )
        for n, block in enumerate(members)
    )
    ids = tuple(block.id for block in members)
    return NodeBox(members[0].group, title, frame, members[0].side, ids, Box(0, 0, style.stack_width, height), tiles)


def links_of(graph: BlockGraph, nodes: Mapping[str, NodeBox]) -> list[Link]:
    """A link for each message and direction between two nodes; beyond `MOST_PARALLEL` the lightest share the last."""
    key_of = {block_id: key for key, node in nodes.items() for block_id in node.block_ids} | {key: key for key in nodes}
    by_message: dict[tuple[str, str, str], list[Edge]] = {}
    for edge in graph.edges:
        source, target = key_of[edge.source], key_of[edge.target]
        if source != target:
            by_message.setdefault((source, target, edge.message), []).append(edge)
    pairs: dict[tuple[str, str], list[tuple[Edge, ...]]] = {}
    for (source, target, _), edges in by_message.items():
        pairs.setdefault((source, target), []).append(tuple(edges))
    links = []
    for (source, target), bundles in pairs.items():
        if len(bundles) > MOST_PARALLEL:
            bundles = sorted(bundles, key=_weight, reverse=True)
            lightest = tuple(edge for bundle in bundles[MOST_PARALLEL - 1 :] for edge in bundle)
            bundles = [*bundles[: MOST_PARALLEL - 1], lightest]
        for number, bundle in enumerate(bundles):
            links.append(Link(source, target, number, bundle, *_texts(bundle)))
    return links


def _weight(bundle: tuple[Edge, ...]) -> tuple[float, int]:
    return sum(edge.time_s or 0 for edge in bundle), sum(edge.count or 0 for edge in bundle)


def _texts(edges: tuple[Edge, ...]) -> tuple[str, str]:
    """The counts and sizes, and the messages and times of a link; the first is empty if no run shows them."""
    names = list(dict.fromkeys(edge.message for edge in edges if edge.message))
    message_list = listed(names, 2)
    count = sum(edge.count or 0 for edge in edges)
    size = sum(edge.bytes or 0 for edge in edges)
    time_s = sum(edge.time_s or 0.0 for edge in edges)
    amount = ""
    if len(edges) == 1 and edges[0].rate:
        amount = edges[0].rate
    elif count and size:
        amount = f"{count_text(count)} × {bytes_text(round(size / count))}"
    elif count:
        amount = f"{count_text(count)} ×"
    details = [message_list] if message_list else []
    if len(edges) == 1 and edges[0].stalled:
        details.append(f"{percent_text(edges[0].stalled)} stalled")
    if time_s:
        details.append(time_text(time_s))
    return (amount, ", ".join(details)) if amount else (", ".join(details), "")
