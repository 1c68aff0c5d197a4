"""The application's block graph in a run: edges from pragmas' targets and messages, and from streams."""

from collections.abc import Iterator, Sequence
from dataclasses import replace

from workbench.analysis.streams import rate_words, stream_names
from workbench.api.results import BlockMetrics, CallMetrics, StreamMetrics
from workbench.model.blocks import Block, BlockGraph, Edge, Side, State
from workbench.model.diagnostic import Diagnostic, Severity
from workbench.model.pragma import MEM, WAITS, Category
from workbench.model.targets import resolve_target

_OUT = (Category.SEND, Category.WAIT_SEND)


def build_graph(
    blocks: Sequence[BlockMetrics], calls: Sequence[CallMetrics], streams: Sequence[StreamMetrics] = ()
) -> tuple[BlockGraph, tuple[Diagnostic, ...]]:
    """The active blocks, and the edges between them, with those of the design's streams. An edge's end is a block's id,
    a group's id for a target that means all replicas, or `$MEM`.

    `count`, `bytes` and `time_s` of an edge from or to the host come from the host's calls; between FPGA blocks `count`
    is the number of visits to the sender's send state. A target that names no block becomes a diagnostic.
    """
    all_blocks = [m.block for m in blocks if not m.block.is_metric]
    edges: dict[tuple[str, str, str], Edge] = {}
    problems: list[Diagnostic] = []
    for metrics in blocks:
        for measured in metrics.states:
            state = measured.state
            if not state.targets or state.category in (None, Category.WORK, Category.OVERHEAD):
                continue
            ends = []
            for target in state.targets:
                targets = list(_ends(target, all_blocks, metrics.block))
                if not targets:
                    problems.append(_no_such_target(target, state, metrics.block))
                ends += targets
            numbers = _numbers(metrics.block, measured.visits, state, calls)
            for end in ends:
                for message in state.messages or ("",):
                    _merge(edges, metrics.block, state, end, message, numbers)
                    numbers = (None, None, None)  # counted once, for the first target and message
    distinct = _without_repeats(edges, all_blocks)
    return BlockGraph(tuple(all_blocks), (*distinct, *_streams(streams, all_blocks, distinct))), tuple(
        dict.fromkeys(problems)
    )


def _streams(streams: Sequence[StreamMetrics], blocks: Sequence[Block], edges: Sequence[Edge]) -> Iterator[Edge]:
    """An edge for each stream, between the first blocks of the instances that send and take it (or the instance, if it
    has no block). The host's streams are left out if its calls report them."""
    host = next((block.id for block in blocks if block.side is Side.HOST), "")
    first = {block.component: block.id for block in reversed(blocks)} | {"": host}
    names = stream_names(streams)
    has_host = any(host in (edge.source, edge.target) for edge in edges)
    for metrics in streams:
        stream = metrics.stream
        outside = not (stream.source and stream.target)
        if stream.source == stream.target or (outside and (has_host or not host or not metrics.transfers)):
            continue
        source, target = (first.get(end, end) for end in (stream.source, stream.target))
        moved = metrics.transfers * stream.bits // 8 if stream.bits else None
        stalled = metrics.sink_stalls / max(metrics.cycles, 1)
        yield Edge(
            source,
            target,
            names[stream.id],
            "stream",
            metrics.transfers,
            moved,
            rate=rate_words(metrics),
            stalled=stalled,
        )


def _ends(target: str, blocks: Sequence[Block], source: Block) -> Iterator[str]:
    if target == MEM:
        yield MEM
        return
    matches = resolve_target(target, blocks, source)
    if matches and all(b.side is Side.HOST for b in matches):
        yield matches[0].id  # the host: represented by its main thread
        return
    by_group: dict[str, list[Block]] = {}
    for block in matches:
        by_group.setdefault(block.group, []).append(block)
    for group, members in by_group.items():
        is_whole_group = len(members) > 1 and len(members) == sum(b.group == group for b in blocks if b.id != source.id)
        yield from (group,) if is_whole_group else (b.id for b in members)


Numbers = tuple[int | None, int | None, float | None]


def _numbers(block: Block, visits: int, state: State, calls: Sequence[CallMetrics]) -> Numbers:
    if block.side is Side.HOST:
        mine = [c for c in calls if c.block == block.id and c.state.index == state.index]
        if not mine:
            return None, None, None
        return sum(c.count for c in mine), sum(c.bytes for c in mine), sum(c.time_s for c in mine)
    return (visits, None, None) if state.category in (Category.SEND, Category.RECV) else (None, None, None)


def _merge(
    edges: dict[tuple[str, str, str], Edge], block: Block, state: State, end: str, message: str, numbers: Numbers
) -> None:
    """Add one end's report of an edge: the host's calls replace visits, and a sender's visits replace a receiver's."""
    source, target = (block.id, end) if state.category in _OUT else (end, block.id)
    key = (source, target, message)
    old = edges.get(key)
    reason = state.reasons[0] if state.reasons and state.category not in WAITS else None
    if old is None:
        edges[key] = Edge(source, target, message, reason, *numbers)
        return
    count, size, time_s = numbers
    if old.time_s is not None:  # calls reported it: further calls add to it, the FPGA's end does not
        if time_s is not None:
            count, size = (old.count or 0) + (count or 0), (old.bytes or 0) + (size or 0)
            edges[key] = Edge(source, target, message, old.reason, count, size, old.time_s + time_s)
    elif time_s is not None or (count is not None and (old.count is None or state.category is Category.SEND)):
        edges[key] = Edge(source, target, message, reason or old.reason, count, size, time_s)


def _without_repeats(edges: dict[tuple[str, str, str], Edge], blocks: Sequence[Block]) -> tuple[Edge, ...]:
    """The edges without those of replicas that repeat an edge of their group; their counts are added to it."""
    group_of = {b.id: b.group for b in blocks}
    remaining, counts = dict(edges), dict[tuple[str, str, str], int]()
    for key, edge in edges.items():
        group_key = (group_of.get(edge.source, edge.source), group_of.get(edge.target, edge.target), edge.message)
        if group_key != key and group_key in edges:
            del remaining[key]
            counts[group_key] = counts.get(group_key, 0) + (edge.count or 0)
    for key, count in counts.items():
        if remaining[key].count is None and count:
            remaining[key] = replace(remaining[key], count=count)
    return tuple(remaining.values())


def _no_such_target(target: str, state: State, block: Block) -> Diagnostic:
    return Diagnostic(
        f"the target '{target}' of '{state.name}' in {block.id} names no block of this run",
        "Targets are hierarchical names such as top.core[*].ctrl, or $CPU or $MEM.",
        severity=Severity.WARNING,
        file=state.file,
        line=state.line,
    )
