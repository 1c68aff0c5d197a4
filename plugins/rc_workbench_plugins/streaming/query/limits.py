"""What limits an application's throughput: a walk from the pipeline's end to its front (Lancaster 2011, section 3.4.2).

The walk asks its questions in the query language (`questions`), so that agents can answer as well as a trace, and
reads the results (`walk`). The busiest block is the one that all others wait for. A block on the host is busy while it
neither waits for data nor is held up by a queue that is full. In hardware, where blocks do several things at a time, it
is as busy as section 7.1 says: its rate, over its rate while it has data at all inputs and room at all outputs; or its
utilisation, where it never had.
"""

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from statistics import fmean

import networkx as nx

from rc_workbench_plugins.streaming.cores import Away
from rc_workbench_plugins.streaming.query.measures import FrameValue, Measure, MeasureResult, Metric
from workbench.api import PS_PER_S, ExplainedBar, counted, listed, percent_text, ratio_text, time_text
from workbench.api.unstable import StreamEdge, Topology, prefixed, significant

_MOST_SAID = 8  # of edges or blocks that are named in one answer
_TOLD = 0.1  # of the time, above which it is said that who limits waits for the bus at times
_CLEAR = 0.5  # of the time busy, below which no block is said to limit the throughput
_SHARES = 0.95  # a block that is so much of what its core does shares it with nobody to speak of
_CLOSE = 0.01  # of the time queued for a core, from which on it is said


@dataclass(frozen=True)
class QueueSeen:
    """One edge. Shares of 1; `latency_ps` is None where nothing was taken out."""

    edge: StreamEdge
    rate_per_s: float
    occupancy: float
    empty: float
    full: float
    backpressure: float
    latency_ps: float | None


@dataclass(frozen=True)
class BlockSeen:
    """One block, and which share of the time it was busy; `stage` counts the blocks from it to the end. On a processor
    it was `queued` while others had its core. `rate_per_s` is of all that it takes, or of what a source gives."""

    name: str
    kind: str
    busy: float
    stage: int = 0
    queued: float = 0.0
    rate_per_s: float = 0.0


@dataclass(frozen=True)
class LimitAnswer:
    """`evidence` are statements of the query language that show it; `bars` are its numbers, and `note` what the words
    say beside those."""

    question: str
    words: str
    evidence: tuple[str, ...]
    bars: tuple[ExplainedBar, ...] = ()
    note: str = ""


@dataclass(frozen=True)
class Queues:
    """By labels of edges, what the parts of those hold that cross a bus, and how many elements nobody took."""

    parts: Mapping[str, str] = field(default_factory=dict)
    left: Mapping[str, int] = field(default_factory=dict)


NO_NOTES = Queues()


@dataclass(frozen=True)
class Walk:
    """From the end to the front. `limit` are the blocks that limit, alike ones together, `following` those that would
    then; `gain` is what the throughput may grow by until they do, 1 for nothing. `by` says what limits: "block", "core"
    or "bus", or "" where nothing clearly does; `at` names the core or the edge, `share` is how busy that is, 0 to 1."""

    queues: tuple[QueueSeen, ...]
    blocks: tuple[BlockSeen, ...]
    limit: tuple[str, ...]
    following: tuple[str, ...]
    gain: float
    answers: tuple[LimitAnswer, ...]
    by: str = ""
    at: str = ""
    share: float = 0.0

    def as_json(self) -> dict[str, object]:
        return {
            "limit": list(self.limit),
            "next": list(self.following),
            "gain": self.gain if self.gain < float("inf") else None,
            "answers": [
                {"question": one.question, "answer": one.words, "evidence": list(one.evidence)} for one in self.answers
            ],
        }


def questions(topology: Topology) -> str:
    """What the walk asks: a query."""
    lines = [text for edge in topology.edges for text in _of_edge(edge)]
    return "\n".join(lines + [text for edge in topology.edges for text in _of_consumer(topology, edge)])


def _of_edge(edge: StreamEdge) -> Iterable[str]:
    yield f"measure rate at {edge.label}"
    yield f"measure mean occupancy at {edge.label}"
    yield f"measure hist(bins={min(edge.depth + 1, 512)}) occupancy at {edge.label}"
    yield f"measure backpressure at {edge.label}"
    yield f"measure mean latency at {edge.label}"


def _of_consumer(topology: Topology, edge: StreamEdge) -> Iterable[str]:
    """How busy an edge's consumer is, the rate at which it takes what is there, and that while nothing hinders it."""
    block = edge.sink.block
    has = [f"occupancy at {into.label} > 0" for into in topology.edges if into.sink.block == block]
    room = [f"!backpressure at {out.label}" for out in topology.edges if out.source.block == block]
    yield f"measure util at {edge.sink}"
    yield f"measure rate at {edge.sink}"
    yield f"measure rate at {edge.sink} when {' & '.join([*has, *room])}"


def walk(
    topology: Topology,
    results: Sequence[MeasureResult],
    clocked: Collection[str],
    bus: Mapping[str, float],
    away: Mapping[str, Away],
    unseen: Collection[str] = (),
    notes: Queues = NO_NOTES,
) -> Walk:
    """What the results of `questions` say. `clocked` are the labels of edges in hardware; `bus` is, of edges that cross
    one, the share of the time in which the consumer waited for what was under way; `away` is of blocks on cores. What
    blocks do that are `unseen` was not recorded; `notes` are on edges."""
    by_text = {result.measure.text: result for result in results}
    steps = _steps_to_the_end(topology)
    queues = [_queue(edge, by_text) for edge in sorted(topology.edges, key=lambda edge: -steps[edge.sink.block])]
    blocks = [
        replace(_block(topology, name, by_text, clocked, bus, away), stage=steps[name])
        for name in sorted(steps, key=lambda name: -steps[name])
        if name not in unseen
    ]
    cores = _shared_cores(topology, blocks)
    core = max(cores, key=lambda name: cores[name], default="")
    slowed = max(bus.items(), key=lambda item: item[1], default=("", 0.0))
    if core and cores[core] > max(one.busy for one in blocks) / _SHARES:
        limit = tuple(one.name for one in blocks if topology.mapping.get(one.name) == core)
        others = blocks  # each on a core of its own
    else:
        core = ""
        limit = _alike(max(blocks, key=lambda one: one.busy), blocks) if blocks else ()
        bus_limits = bool(blocks) and slowed[1] > max(one.busy for one in blocks)
        others = blocks if bus_limits else [one for one in blocks if one.name not in limit]
    second = max(others, key=lambda one: _of_copies(one, others), default=None)
    following = _alike(second, others) if second else ()
    most = _of_copies(second, others) if second else 0.0
    gain = max(1.0, 1 / most) if most > 0 else float("inf")
    busiest = max((one.busy for one in blocks), default=0.0)
    if slowed[1] > max(busiest, cores.get(core, 0.0)):
        by, at, share = "bus", *slowed
    elif core:
        by, at, share = "core", core, cores[core]
    else:
        by, at, share = "block" if busiest >= _CLEAR else "", "", busiest
    walked = Walk(tuple(queues[::-1]), tuple(blocks[::-1]), limit, following, gain, (), by, at, share)
    return replace(
        walked, answers=tuple(_answers(topology, walked, slowed, (core, cores.get(core, 0.0)), bool(unseen), notes))
    )


def _of_copies(one: BlockSeen, blocks: Iterable[BlockSeen]) -> float:
    """How busy a block and its copies at the same stage are on average: so busy they stay where they share the work
    evenly, and no throughput keeps them busier than always. One that takes another time for an element is no copy: what
    it does not get done on its branch no other does for it."""
    return fmean(b.busy for b in blocks if b is one or _copies(b, one))


def _copies(a: BlockSeen, b: BlockSeen) -> bool:
    times = a.busy * b.rate_per_s, b.busy * a.rate_per_s  # for an element, each by both rates
    return bool(a.kind) and (a.kind, a.stage) == (b.kind, b.stage) and min(times) > 0.8 * max(times)


def _shared_cores(topology: Topology, blocks: Iterable[BlockSeen]) -> dict[str, float]:
    """How busy cores are on which several blocks stand, one of them queued for it."""
    cores = [resource.name for resource in topology.cores]
    on = {core: [one for one in blocks if topology.mapping.get(one.name) == core] for core in cores}
    return {
        core: min(1.0, sum(one.busy for one in some))
        for core, some in on.items()
        if len(some) > 1 and any(one.queued for one in some)
    }


def _steps_to_the_end(topology: Topology) -> dict[str, int]:
    """How many blocks the data goes through after each one, in the topology's order; a circle counts as one block."""
    graph: nx.DiGraph[str] = nx.DiGraph()
    graph.add_nodes_from(block.name for block in topology.blocks)
    graph.add_edges_from((edge.sink.block, edge.source.block) for edge in topology.edges)
    circles = nx.condensation(graph)
    levels = enumerate(nx.topological_generations(circles))
    steps = {name: level for level, parts in levels for part in parts for name in circles.nodes[part]["members"]}
    return {block.name: steps[block.name] for block in topology.blocks}


def _queue(edge: StreamEdge, by_text: Mapping[str, MeasureResult]) -> QueueSeen:
    rate, occupancy, histogram, backpressure, latency = (by_text[text] for text in _of_edge(edge))
    seen = [sum(part) for part in zip(*(f.histogram for f in histogram.frames if f.histogram), strict=True)]
    whole = sum(seen) or 1
    return QueueSeen(
        edge,
        overall(rate) or 0.0,
        overall(occupancy) or 0.0,
        seen[1] / whole if seen else 1.0,
        sum(seen[-2:]) / whole if seen else 0.0,
        overall(backpressure) or 0.0,
        overall(latency),
    )


def _block(
    topology: Topology,
    name: str,
    by_text: Mapping[str, MeasureResult],
    clocked: Collection[str],
    bus: Mapping[str, float],
    away: Mapping[str, Away],
) -> BlockSeen:
    into = [edge for edge in topology.edges if edge.sink.block == name]
    out = [edge for edge in topology.edges if edge.source.block == name]
    held_up = [overall(by_text[f"measure backpressure at {edge.label}"]) or 0.0 for edge in out]
    busy, waits = [], 0.0
    for edge in into:
        used, rate, free = (overall(by_text[text]) for text in _of_consumer(topology, edge))
        if edge.label in clocked:
            share = max(used or 0.0, min(1.0, (rate or 0.0) / free) if free else 0.0)
            busy.append(min(share, 1 - bus.get(edge.label, 0.0)))
        else:
            waits += 1 - (1.0 if used is None else used)
    rates = [overall(by_text[f"measure rate at {edge.label}"]) or 0.0 for edge in into or out]
    times_away = away.get(name, Away(0.0, 1 - waits - (sum(held_up) if into else max(held_up, default=0.0))))
    kind = topology.block_by_name[name].kind.name
    return BlockSeen(name, kind, max(0.0, *busy or [times_away.busy]), queued=times_away.queued, rate_per_s=sum(rates))


def overall(result: MeasureResult) -> float | None:
    """A measure's frames as one number: what lasted longer, or was made of more, counts more."""
    frames = [frame for frame in result.frames if frame.value is not None]
    weights = [_weight(result.measure, frame) for frame in frames]
    if not sum(weights):
        return None
    return sum((frame.value or 0.0) * weight for frame, weight in zip(frames, weights, strict=True)) / sum(weights)


def _weight(measure: Measure, frame: FrameValue) -> int:
    return frame.count if measure.metric in (Metric.LATENCY, Metric.VALUE, Metric.INTERVAL) else frame.collected_ps


def _alike(one: BlockSeen, blocks: Iterable[BlockSeen]) -> tuple[str, ...]:
    """The block, and those of its kind that are about as busy: copies that share the work."""
    same = [b.name for b in blocks if b.kind == one.kind and b.kind and b.busy > 0.8 * one.busy]
    return tuple(sorted(same)) if one.name in same else (one.name,)


def _answers(
    topology: Topology,
    walked: Walk,
    slowed: tuple[str, float],
    core: tuple[str, float],
    unseen: bool,
    notes: Queues,
) -> Iterable[LimitAnswer]:
    """The seven questions of section 3.1, in the order of the data. `core` is the one that limits, if one does; blocks
    that are not among them may be `unseen`."""

    def short(names: Iterable[str]) -> str:
        return listed([topology.within(name) for name in names])

    def each(values: Iterable[tuple[str, float, str]]) -> str:
        """Names with their numbers as text; of many, those with the largest numbers."""
        said = list(values)
        if more := max(len(said) - _MOST_SAID, 0):
            said = sorted(said, key=lambda one: -one[1])[:_MOST_SAID]
        words = "; ".join(f"{short([name])} {value}" for name, _, value in said)
        return f"{words}; {more} others have less." if more else f"{words}."

    def asked(what: str, edges: Iterable[QueueSeen]) -> tuple[str, ...]:
        return tuple(f"measure {what} at {topology.short(queue.edge)}" for queue in edges)

    def bars(
        what: str, values: Iterable[tuple[str, float, str]], whole: Callable[[str], float] = lambda name: 0.0
    ) -> tuple[ExplainedBar, ...]:
        """Bars of edges, by their labels, or of blocks."""
        edges = {edge.sink.block: edge for edge in reversed(topology.edges)}
        edges |= {edge.label: edge for edge in topology.edges}
        asks = {name: f"measure {what} at {topology.short(edge)}" for name, edge in edges.items()}
        return tuple(
            ExplainedBar(topology.within(name), value, words, asks.get(name, ""), whole(name))
            for name, value, words in values
        )

    queues, blocks = walked.queues[::-1], walked.blocks[::-1]
    rates = [(q.edge.label, q.rate_per_s, prefixed(q.rate_per_s, "/s")) for q in queues]
    yield LimitAnswer("At what rate is data moving?", each(rates), asked("rate", queues), bars("rate", rates))

    late = [q for q in queues if q.latency_ps is not None]
    longest = max(late, key=lambda q: q.latency_ps or 0, default=None)
    waits = [(q.edge.label, q.latency_ps or 0, time_text((q.latency_ps or 0) / PS_PER_S)) for q in late]
    words = f"{each(waits)} Longest in {short([longest.edge.label])}." if longest else "Nothing passed."
    latencies = bars("mean latency", waits)
    yield LimitAnswer("How long does data wait on its way?", words, asked("mean latency", late), latencies)

    busy = [(b.name, b.busy, percent_text(b.busy) + _queued_text(b)) for b in blocks]
    note = "A run on a real machine does not record blocks in an FPGA; agents count there." * unseen
    words = f"{each(busy)} {note}".rstrip()
    yield LimitAnswer("How busy is each block?", words, asked("util", queues), bars("util", busy, _whole), note)

    held = [
        (q.edge.label, q.occupancy / q.edge.depth, f"{significant(q.occupancy)} of {q.edge.depth}{parts}")
        for q in queues
        for parts in [f" ({notes.parts[q.edge.label]})" if q.edge.label in notes.parts else ""]
    ]
    left = [
        f" {short([q.edge.sink.block])} ended with {counted(notes.left[q.edge.label], 'element')} left in "
        f"{short([q.edge.label])}."
        for q in queues
        if notes.left.get(q.edge.label)
    ]
    depths = {q.edge.label: float(q.edge.depth) for q in queues}
    mean = [(name, share * depths[name], said) for name, share, said in held]
    fills, note = bars("mean occupancy", mean, depths.__getitem__), "".join(left).strip()
    words = each(held) + "".join(left)
    yield LimitAnswer("How full is each queue?", words, asked("hist occupancy", queues), fills, note)

    held_up = [q for q in queues if q.backpressure > 0]
    shares = [(q.edge.label, q.backpressure, percent_text(q.backpressure)) for q in held_up]
    words = each(shares) if held_up else "Nowhere at any time."
    question = "For what share of the time is backpressure asserted?"
    asserted = bars("backpressure", shares, _whole)
    yield LimitAnswer(question, words, asked("backpressure", held_up or queues), asserted)

    before = [q for q in queues if q.edge.sink.block in walked.limit]
    after = [q for q in queues if q.edge.source.block in walked.limit]
    most = max((b.busy for b in blocks), default=0.0)
    many = "it is" if len(walked.limit) == 1 else "they are"
    if slowed[1] > max(most, core[1]):
        words = f"The bus, at {short([slowed[0]])}: the consumer waits for it {percent_text(slowed[1])} of the time."
    elif core[0]:
        words = (
            f"The core {core[0]}, which {short(walked.limit)} share: it is busy {percent_text(core[1])} of the time."
        )
    elif most < _CLEAR and unseen:
        words = (
            f"No block on the processor: {short(walked.limit)} comes nearest, busy {percent_text(most)} of the time. "
        )
        words += "So a block in the FPGA or the bus is the limit."
    elif most < _CLEAR:
        words = f"No block clearly. {short(walked.limit)} comes nearest: {many} busy {percent_text(most)} of the time."
    else:
        words = f"{short(walked.limit)}: {many} busy {percent_text(most)} of the time."
    if not core[0]:
        words += "".join(_state(part, where) for part, where in ((before, "before"), (after, "after")) if part)
    if _TOLD < slowed[1] <= max(most, core[1]):
        words += f" The consumer of {short([slowed[0]])} waits for the bus {percent_text(slowed[1])} of the time."
    yield LimitAnswer("What limits the throughput?", words, asked("hist occupancy", [*before, *after]))

    then = short(walked.following)
    if unseen:
        words = "Unknown: the run did not record blocks in the FPGA."
    elif walked.gain == float("inf"):
        words = "Unknown: no other block did anything."
    elif walked.gain < 1.01:
        words = f"{then}, at about the current throughput."
    else:
        words = f"{then}, at {ratio_text(walked.gain)} the current throughput at most."
    then_before = [q for q in queues if q.edge.sink.block in walked.following]
    yield LimitAnswer("If that were resolved, what would be next?", words, asked("util", then_before or queues))


def _whole(name: str) -> float:
    """What a bar of a share is full at."""
    return 1.0


def _queued_text(block: BlockSeen) -> str:
    return (
        f" (for {percent_text(block.queued)} it was ready while others had its core)" if block.queued >= _CLOSE else ""
    )


def _state(queues: Sequence[QueueSeen], where: str) -> str:
    """A sentence on how long the queues before or after a block are empty or full."""
    empty, full = (sum(getattr(q, part) for q in queues) / len(queues) for part in ("empty", "full"))
    said = f"full {percent_text(full)}" if full >= empty else f"empty {percent_text(empty)}"
    return f" {'The queue' if len(queues) == 1 else 'The queues'} {where}: {said} of the time."
