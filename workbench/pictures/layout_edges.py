"""The edges of a laid-out graph: their ports at nodes, and their lines between."""

from bisect import bisect_left, bisect_right
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import inf
from typing import Protocol

from workbench.model.blocks import Edge
from workbench.pictures.layout_sizes import Box, LayoutStyle, Point

#: A gutter's number, and whether it is its part within the frame that ends there.
Strip = tuple[int, bool]


@dataclass(frozen=True, eq=False)
class Link:
    """A line: messages `edges` from node `source` to node `target`; `number` distinguishes parallel ones. `label` gives
    their counts and sizes, `detail` their names and times."""

    source: str
    target: str
    number: int
    edges: tuple[Edge, ...]
    label: str
    detail: str

    def label_width(self, style: LayoutStyle) -> float:
        """In pixels: of the longer line, or of both beside each other."""
        lengths = [len(text) for text in (self.label, self.detail)]
        characters = max(lengths) if style.label_lines == 2 else sum(lengths) + 2 * all(lengths)
        return characters * style.character_width

    @property
    def ends(self) -> frozenset[str]:
        return frozenset((self.source, self.target))


class HasBox(Protocol):
    @property
    def box(self) -> Box: ...


@dataclass(frozen=True)
class Placed:
    """Nodes with their heights and y, and the (band, column) of each; columns have widths but no x yet.

    `borders` are the gutters (numbered by the column to their right) in which a frame begins or ends. `lane_y` is the
    height of a far-reaching link's lane.
    """

    nodes: Mapping[str, HasBox]
    where: Mapping[str, tuple[int, int]]
    widths: Sequence[float]
    borders: set[int]
    adjacent: Mapping[Link, bool]
    lane_y: Mapping[Link, float]
    links_of: Mapping[str, Sequence[Link]]


@dataclass
class LinkCorner:
    """The meeting point of a link and a node: at the right or left side, at `y`. `gutter` is the gutter beside it, and
    `inside` says whether the link stays in that gutter within the frame that ends there."""

    link: Link
    node: str
    other: str
    right: bool
    gutter: int
    inside: bool
    y: float = 0.0

    @property
    def strip(self) -> Strip:
        return self.gutter, self.inside


@dataclass
class _Gutter:
    """A strip between two columns: labels first, then tracks for vertical parts."""

    label_width: float = 0.0
    tracks: int = 0
    x: float = 0.0  # its left edge

    def width(self, style: LayoutStyle) -> float:
        return self.label_width + (self.tracks + 1) * style.track


@dataclass(frozen=True)
class Routed:
    """The columns' x, the frames' ends by gutter, each link's points and label place, and the total width."""

    column_x: list[float]
    frame_ends: dict[int, float]
    links: list[tuple[Link, tuple[Point, ...], Box]]
    width: float


def route(placed: Placed, links: Sequence[Link], style: LayoutStyle) -> Routed:
    ports = {link: _ports(link, placed) for link in links}
    _spread([port for pair in ports.values() for port in pair], placed, style)
    straight = {link: placed.adjacent[link] and a.right != b.right and a.y == b.y for link, (a, b) in ports.items()}
    count = len(placed.widths)
    gutters = {(number, inside): _Gutter() for number in range(count + 1) for inside in (True, False)}
    labels: dict[Link, LinkCorner] = {}
    for link, pair in ports.items():
        if placed.adjacent[link]:
            left_end = min(pair, key=lambda port: (not port.right, port.y))
            labels[link] = left_end
            gutter = gutters[left_end.strip]
            gutter.label_width = max(gutter.label_width, link.label_width(style) + 28)
    tracks = _tracks(ports, straight, placed, gutters)
    column_x, frame_ends = [], {}
    x = style.margin
    for number in range(count + 1):
        inside, gutter = gutters[number, True], gutters[number, False]
        for strip in (inside, gutter):
            strip.label_width += style.stretch * bool(strip.label_width)
        if inside.tracks:
            inside.x = x
            x += inside.width(style)
        if number in placed.borders and number:
            x += style.padding
            frame_ends[number] = x
        gutter.x = x
        x += gutter.width(style) if number < count or not inside.tracks else 0.0
        if number < count and (number in placed.borders or (number and not gutter.label_width)):
            x += style.padding
        if number < count:
            column_x.append(x)
            x += placed.widths[number]
    routed = []
    for link, (a, b) in ports.items():
        points = _points(link, a, b, straight[link], tracks, gutters, column_x, placed, style)
        routed.append((link, points, _label_box(link, labels.get(link), points, gutters, column_x, placed, style)))
    return Routed(column_x, frame_ends, routed, x + style.margin)


def sides_of(link: Link, where: Mapping[str, tuple[int, int]]) -> tuple[bool, bool]:
    """Whether a link leaves its source, and enters its target, at the right side."""
    from_column, to_column = where[link.source][1], where[link.target][1]
    return from_column <= to_column, from_column >= to_column


def _ports(link: Link, placed: Placed) -> tuple[LinkCorner, LinkCorner]:
    leaves_right, enters_right = sides_of(link, placed.where)
    from_column, to_column = placed.where[link.source][1], placed.where[link.target][1]
    inside = from_column == to_column and from_column + 1 in placed.borders
    return (
        LinkCorner(link, link.source, link.target, leaves_right, from_column + leaves_right, inside),
        LinkCorner(link, link.target, link.source, enters_right, to_column + enters_right, inside),
    )


def right_heights(node: str, placed: Placed, style: LayoutStyle) -> dict[Link, float]:
    """The height at which each link meets the right side of a node, with room for a label at each."""
    members = [
        (link, link.target if link.source == node else link.source)
        for link in placed.links_of[node]
        if sides_of(link, placed.where)[link.source != node]
    ]

    def towards(member: tuple[Link, str]) -> tuple[float, str, int]:
        link, other = member
        if not placed.adjacent[link]:
            return placed.lane_y[link] - 1e6, other, link.number
        return placed.nodes[other].box.centre[1], other, link.number

    members.sort(key=towards)
    box = placed.nodes[node].box
    pitch = min(style.label_height, (box.height - 12) / max(len(members), 1))
    begin = box.y + (box.height - pitch * (len(members) - 1)) / 2
    return {link: begin + row * pitch for row, (link, _) in enumerate(members)}


def _spread(ports: Sequence[LinkCorner], placed: Placed, style: LayoutStyle) -> None:
    """The heights of ports. Left sides follow the right sides that they meet if they can."""
    sides: dict[str, list[LinkCorner]] = {}
    heights: dict[str, dict[Link, float]] = {}
    for port in ports:
        if port.right:
            if port.node not in heights:
                heights[port.node] = right_heights(port.node, placed, style)
            port.y = heights[port.node][port.link]
        else:
            sides.setdefault(port.node, []).append(port)
    partner = {port.link: port for port in ports if port.right and placed.adjacent[port.link]}
    busy: dict[int, list[float]] = {}
    for port in sorted((port for port in ports if port.right), key=lambda p: p.y):
        busy.setdefault(port.gutter, []).append(port.y)
    for node, members in sides.items():
        members.sort(key=lambda p: (placed.lane_y.get(p.link, placed.nodes[p.other].box.centre[1]), p.link.number))
        box = placed.nodes[node].box
        heights_there = busy.get(members[0].gutter, [])
        near = heights_there[bisect_left(heights_there, box.y - 4) : bisect_right(heights_there, box.bottom + 4)]
        _follow(members, partner, near, box)


def _follow(members: list[LinkCorner], partner: Mapping[Link, LinkCorner], busy: Sequence[float], box: Box) -> None:
    """The ports of a left side: level with their other ends if those are within the node, otherwise as near as
    possible."""
    gap = 11.0
    used_y: list[float] = []
    free_ports = []
    for port in members:
        other = partner.get(port.link)
        if other and box.y + 6 <= other.y <= box.bottom - 6 and all(abs(other.y - y) >= gap for y in used_y):
            port.y = other.y
            used_y.append(port.y)
        else:
            free_ports.append(port)
    for row, port in enumerate(free_ports):
        other = partner.get(port.link)
        even = box.y + box.height * (row + 1) / (len(free_ports) + 1)
        wanted_y = min(max(other.y, box.y + 12), box.bottom - 12) if other else even
        steps = (wanted_y + sign * 5.5 * n for n in range(200) for sign in (1, -1))
        inside = (y for y in steps if box.y + 6 <= y <= box.bottom - 6)
        free = (y for y in inside if all(abs(y - t) >= gap for t in used_y) and all(abs(y - t) >= 4 for t in busy))
        port.y = next(free, even)
        used_y.append(port.y)


Span = tuple[float, float]
TrackKey = tuple[Link, int]


def _tracks(
    ports: Mapping[Link, tuple[LinkCorner, LinkCorner]],
    straight: Mapping[Link, bool],
    placed: Placed,
    gutters: Mapping[Strip, _Gutter],
) -> dict[TrackKey, int]:
    """A track for each vertical part, so that no two in a gutter touch: first fit, the shortest parts first."""
    spans_of_strip: dict[Strip, list[tuple[Span, TrackKey]]] = {}
    for link, (a, b) in ports.items():
        if straight[link]:
            continue
        if placed.adjacent[link]:
            spans_of_strip.setdefault(a.strip, []).append(((min(a.y, b.y), max(a.y, b.y)), (link, 0)))
        else:
            lane = placed.lane_y[link]
            for end, port in enumerate((a, b)):
                spans_of_strip.setdefault(port.strip, []).append(((min(port.y, lane), max(port.y, lane)), (link, end)))
    tracks = {}
    for strip, parts in spans_of_strip.items():
        used: list[list[Span]] = []
        for (low, high), key in sorted(parts, key=lambda part: part[0][1] - part[0][0]):
            # a track's spans are apart and sorted, so that the last that begins above the part's end is the nearest
            places = (bisect_right(spans, (high + 3, inf)) for spans in used)
            free = ((n, at) for n, at in enumerate(places) if at == 0 or used[n][at - 1][1] < low - 3)
            track, at = next(free, (len(used), 0))
            if track == len(used):
                used.append([])
            used[track].insert(at, (low, high))
            tracks[key] = track
        gutters[strip].tracks = len(used)
    return tracks


def _points(
    link: Link,
    a: LinkCorner,
    b: LinkCorner,
    is_straight: bool,
    tracks: Mapping[TrackKey, int],
    gutters: Mapping[Strip, _Gutter],
    column_x: Sequence[float],
    placed: Placed,
    style: LayoutStyle,
) -> tuple[Point, ...]:
    start, end = _at(a, column_x, placed), _at(b, column_x, placed)
    if is_straight:
        return start, end

    def track_x(port: LinkCorner, number: int) -> float:
        gutter = gutters[port.strip]
        return gutter.x + gutter.label_width + (tracks[link, number] + 1) * style.track

    if placed.adjacent[link]:
        x = track_x(a, 0)
        return start, (x, start[1]), (x, end[1]), end
    lane = placed.lane_y[link]
    first, last = track_x(a, 0), track_x(b, 1)
    return start, (first, start[1]), (first, lane), (last, lane), (last, end[1]), end


def _at(port: LinkCorner, column_x: Sequence[float], placed: Placed) -> Point:
    column = placed.where[port.node][1]
    width = placed.nodes[port.node].box.width
    left = column_x[column] + (placed.widths[column] - width) / 2
    return (left + width if port.right else left), port.y


def _label_box(
    link: Link,
    port: LinkCorner | None,
    points: tuple[Point, ...],
    gutters: Mapping[Strip, _Gutter],
    column_x: Sequence[float],
    placed: Placed,
    style: LayoutStyle,
) -> Box:
    """The label's box: beside the left node for neighbours, centred if the line is straight; otherwise on its lane."""
    width = link.label_width(style) + 8
    height = style.label_height - 4
    if port is None:
        (x0, y), (x1, _) = points[2], points[3]
        return Box((x0 + x1 - width) / 2, y - height / 2, width, height)
    x, y = _at(port, column_x, placed)
    if len(points) == 2:
        return Box((points[0][0] + points[1][0] - width) / 2, y - height / 2, width, height)
    begins = gutters[port.strip].x if port.gutter in placed.borders else x
    return Box(begins + 10, y - height / 2, width, height)
