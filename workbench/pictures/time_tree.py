"""The time of a run as a tree of components, blocks, states and calls, with its cells in a flame graph and a
treemap."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from math import inf

from workbench.api.results import Analysis, CallMetrics, GroupMetrics
from workbench.model.blocks import Side
from workbench.model.pragma import WAITS, Category
from workbench.model.text import counted, percent_text, time_text
from workbench.pictures.layout_sizes import Box

LEVELS = ("run", "component", "block", "state", "call")
ROW_PX = 26.0  # of a flame graph's row
LEAF_PX = 400.0  # of its rows of states and calls, at most: names that have no room across are written upwards
_HEAD_PX = 19.0  # the title of a part in a treemap
_AIR_PX = 3.0


@dataclass(frozen=True)
class TimeNode:
    """A part of the run. `level` is one of LEVELS; `category` is that of a state, or of a call's state. `share` is of
    the run's time, 0 to 1; for a component, the mean over its blocks. `block`, `state` and `site` identify it: a
    block's id, a state's index in it, a call site's number. `replicas` is the number of blocks that it is the mean
    of."""

    name: str
    level: str
    time_s: float
    share: float
    parts: tuple[TimeNode, ...] = ()
    category: Category | None = None
    block: str = ""
    state: int = -1
    site: int = -1
    replicas: int = 1
    place: tuple[str, int] | None = None

    @property
    def note(self) -> str:
        """Its time; for the run and its components, with the number of blocks in the sum."""
        if self.level in ("run", "component"):
            return f"{counted(blocks_in(self), 'block')}, each the whole run once; of replicas the mean"
        return f"{time_text(self.time_s)}, {percent_text(self.share)} of the run"

    @property
    def text(self) -> str:
        """Its name and time, in a line."""
        if self.level in ("run", "component"):
            return f"{self.name}: {self.note}"
        of = f", mean of {self.replicas} replicas" if self.replicas > 1 else ""
        return f"{self.name}: {time_text(self.time_s)}, {percent_text(self.share)} of the run{of}"


def blocks_in(node: TimeNode) -> int:
    return 1 if node.level == "block" else sum(map(blocks_in, node.parts))


def time_tree(analysis: Analysis, *, waits: bool = True) -> TimeNode:
    """The run with its blocks, each once; replicas are a mean. A block's states sum to the run's time, so a component's
    time is that of as many runs as it has blocks. Without `waits`, waits and unclassified time are left out."""
    groups = [group for group in analysis.groups() if not group.members[0].block.is_metric]
    components: dict[str, list[TimeNode]] = {}
    for group in groups:
        block = _block_node(group, analysis.calls, waits)
        if block.time_s > 0:
            components.setdefault(_component(group), []).append(block)
    parts = [
        TimeNode(name, "component", _sum(blocks), _sum(blocks) / (analysis.time_s * len(blocks)), tuple(blocks))
        for name, blocks in components.items()
    ]
    share = _sum(parts) / (analysis.time_s * len(groups)) if analysis.time_s and groups else 0.0
    return TimeNode("Run", "run", _sum(parts), share, _largest_first(parts))


def _component(group: GroupMetrics) -> str:
    return "host" if group.members[0].block.side is Side.HOST else group.group.rpartition(".")[0] or group.group


def _block_node(group: GroupMetrics, calls: Iterable[CallMetrics], waits: bool) -> TimeNode:
    members, first = group.members, group.members[0].block
    mine = [call for call in calls if call.block == first.id]
    states = []
    for number, metrics in enumerate(members[0].states):
        category = first.drawn_as(metrics.state)
        if not waits and (category is None or category in WAITS):
            continue
        time_s = sum(m.states[number].time_s for m in members) / len(members)
        place = (metrics.state.file, metrics.state.line) if metrics.state.file and metrics.state.line else None
        share = _mean(m.states[number].share for m in members)
        node = TimeNode(metrics.state.name, "state", time_s, share, category=category, block=first.id, state=number,
                        replicas=len(members), place=place)  # fmt: skip
        call_nodes = [_call_node(call, category) for call in mine if call.state.index == number and call.time_s > 0]
        if time_s > 0:
            states.append(replace(node, parts=_largest_first(call_nodes)))
    name = group.group.rpartition(".")[2]
    at = (first.file, first.line) if first.file and first.line else None
    share = _mean(sum(m.states[node.state].share for node in states) for m in members)
    return TimeNode(name, "block", _sum(states), share, _largest_first(states),
                    block=group.group, replicas=len(members), place=at)  # fmt: skip


def _call_node(call: CallMetrics, category: Category | None) -> TimeNode:
    site = call.site
    name = f"{site.callee} {site.file.rsplit('/', 1)[-1]}:{site.line}"
    return TimeNode(name, "call", call.time_s, call.share, category=category, block=call.block,
                    state=call.state.index, site=call.site_number, place=(site.file, site.line))  # fmt: skip


def _sum(nodes: Iterable[TimeNode]) -> float:
    return sum(node.time_s for node in nodes)


def _mean(values: Iterable[float]) -> float:
    values_list = list(values)
    return sum(values_list) / len(values_list)


def _largest_first(nodes: Iterable[TimeNode]) -> tuple[TimeNode, ...]:
    return tuple(sorted(nodes, key=lambda node: -node.time_s))


# ---- places


@dataclass(frozen=True)
class Cell:
    """The box of a part; `depth` counts from the part at the root. Parts inside leave it `head_px` for its text. One
    that is `listed` is a line of the list of states, `note` what it is part of."""

    node: TimeNode
    box: Box
    depth: int
    head_px: float = inf
    listed: bool = False
    note: str = ""


def rows_of(node: TimeNode) -> int:
    """The number of rows of a part's flame graph."""
    return 1 + max(map(rows_of, node.parts), default=0)


def flame_rows(root: TimeNode, height: float) -> list[float]:
    """The heights of a flame graph's rows in this room: those of states and calls grow."""
    heads = _heads_of(root)
    leaves = rows_of(root) - heads
    leaf_px = max(min((height - heads * ROW_PX) / max(leaves, 1), LEAF_PX), ROW_PX)
    return [ROW_PX] * heads + [leaf_px] * leaves


def flame_height(root: TimeNode, leaf_px: float) -> float:
    """The height of a flame graph whose rows of states and calls are so high."""
    heads = _heads_of(root)
    return heads * ROW_PX + (rows_of(root) - heads) * leaf_px


def _heads_of(node: TimeNode) -> int:
    """The number of rows above the states."""
    return 0 if node.level in ("state", "call") else 1 + max(map(_heads_of, node.parts), default=0)


def flame_cells(
    root: TimeNode, width: float, rows_px: Sequence[float], depth: int = 0, x: float = 0.0, y: float = 0.0
) -> Iterator[Cell]:
    """Rows from the whole down, each part as wide as its time; the rest of a part is its own time."""
    yield Cell(root, Box(x, y, width, rows_px[depth]), depth)
    for part in root.parts:
        wide = width * part.time_s / root.time_s if root.time_s else 0.0
        yield from flame_cells(part, wide, rows_px, depth + 1, x, y + rows_px[depth])
        x += wide


def treemap_cells(root: TimeNode, box: Box, depth: int = 0) -> Iterator[Cell]:
    """Areas proportional to times, parts inside their parent under its title."""
    inside = Box(box.x + _AIR_PX, box.y + _HEAD_PX, box.width - 2 * _AIR_PX, box.height - _HEAD_PX - _AIR_PX)
    is_leaf = root.level in ("state", "call") or min(inside.width, inside.height) < 8.0
    parts = () if is_leaf else root.parts
    yield Cell(root, box, depth, _HEAD_PX if parts else inf)
    for part, place in squarified(parts, inside):
        yield from treemap_cells(part, place, depth + 1)


def squarified(nodes: Sequence[TimeNode], box: Box) -> Iterator[tuple[TimeNode, Box]]:
    """Fill a box with parts, the largest first, in rows of near squares (Bruls, Huizing and van Wijk, "Squarified
    Treemaps", 2000)."""
    total = _sum(nodes)
    remaining = (
        [(node, node.time_s / total * box.width * box.height) for node in nodes if node.time_s > 0] if total else []
    )
    while remaining:
        side = min(box.width, box.height)
        count, sums = 1, remaining[0][1]
        worst = _worst(remaining[:1], sums, side)
        while count < len(remaining):
            more = sums + remaining[count][1]
            next_worst = _worst(remaining[: count + 1], more, side)
            if next_worst > worst:
                break
            count, sums, worst = count + 1, more, next_worst
        row, remaining = remaining[:count], remaining[count:]
        thick, along = sums / side if side else 0.0, 0.0
        for node, area in row:
            length = area / thick if thick else 0.0
            if box.width >= box.height:
                yield node, Box(box.x, box.y + along, thick, length)
            else:
                yield node, Box(box.x + along, box.y, length, thick)
            along += length
        if box.width >= box.height:
            box = Box(box.x + thick, box.y, box.width - thick, box.height)
        else:
            box = Box(box.x, box.y + thick, box.width, box.height - thick)


def _worst(row: Sequence[tuple[TimeNode, float]], sums: float, side: float) -> float:
    """The largest aspect ratio in a row along a side of this length."""
    least, most = min(area for _, area in row), max(area for _, area in row)
    return max(side * side * most / (sums * sums), sums * sums / (side * side * least)) if side and least else 0.0


def time_rows(root: TimeNode) -> Iterator[tuple[str | float, ...]]:
    """The tree as a table, heads first: names from the component down, time and share."""
    yield *LEVELS[1:], "time_s", "share"

    def below(node: TimeNode, names: tuple[str, ...]) -> Iterator[tuple[str | float, ...]]:
        if names:
            yield *names, *("" for _ in range(4 - len(names))), node.time_s, node.share
        for part in node.parts:
            yield from below(part, (*names, part.name))

    yield from below(root, ())
