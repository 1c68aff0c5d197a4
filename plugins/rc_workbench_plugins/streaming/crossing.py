"""An edge between a processor and an FPGA: how full its queue was, replayed from what each end saw alone."""

from dataclasses import dataclass, replace

import numpy as np

from rc_workbench_plugins.streaming.trust import Estimate, estimate, replayed
from workbench.api import percent_text
from workbench.api.stream_events import Crossing, EdgeEvents
from workbench.api.unstable import significant
from workbench.api.virtual_queue import (
    IDEAL,
    Bus,
    Draw,
    Intervals,
    Occupancy,
    Passage,
    Shares,
    distance,
    mean,
    occupancy,
    services,
    worked,
)

LEAST = 200  # elements, for anything to be said
FULL = 0.01  # of the time in which the producer waits for room: more, and insertions depend on removals


def seen(edge: EdgeEvents) -> tuple[Passage, Intervals, Bus]:
    """What passed the edge, what of it the two ends measure by themselves, and the bus in between. Times from the first
    push on, in ps; a bus is ideal where nobody saw it. Intervals between insertions are without the producer's waiting
    where the bus tells of the room that it waited for."""
    stages = [t for t in (edge.push_ps, edge.taken_ps, edge.delivered_ps, edge.pop_ps) if t is not None]
    count = min(map(len, stages))
    times = [(t[:count] - edge.push_ps[0]).astype(np.float64) for t in stages]
    pushed, popped = times[0], times[-1]
    passed, bus = Passage(pushed, pushed, pushed, popped), IDEAL
    between = np.diff(pushed, prepend=0.0)
    if len(times) == 4:
        passed, bus = _bus(Passage(*times), edge.crossing)
        if edge.crossing:
            between[1:] = worked(edge.push_ps[:count], edge.blocked_ps)[:-1]
    service = services(passed.delivered, passed.removed)
    if len(edge.waiting_ps):
        service = worked(edge.pop_ps[:count], edge.waiting_ps)
        service[-1] = service[:-1].mean()
    return passed, Intervals(between, service), bus


def _bus(passed: Passage, crossing: Crossing | None) -> tuple[Passage, Bus]:
    """The bus by its transfers; none was before the first. Those that waited for room behind it are said to have been
    as the others mostly were, since a replay has waiting of its own."""
    _, firsts, of, sizes = np.unique(passed.taken, return_index=True, return_inverse=True, return_counts=True)
    lasts = firsts + sizes - 1
    bulk = crossing.bulk if crossing else int(np.median(sizes))
    ends = passed.delivered[lasts]
    free = np.concatenate([[0.0], ends[:-1]])
    ready = np.maximum(passed.inserted[lasts], free)
    starts = passed.taken[firsts]
    bus, clean = Bus(bulk), np.ones(len(firsts), bool)
    if crossing:
        bus = replace(bus, flush=float(crossing.flush_ps), rooms=crossing.rooms, gathers=crossing.into)
        late = np.maximum(passed.inserted[firsts], free) + bus.flush
        ready = np.minimum(np.where(sizes < bulk, np.inf, ready), late)
        ready[-1] = min(ready[-1], starts[-1])  # the end waits for nothing
        starts = np.maximum(starts, ready) if crossing.into else starts
        waited = ends - starts - (ends - starts).min() if crossing.into else starts - ready
        over = lasts - crossing.rooms[1]
        clean = waited < bus.flush
        if crossing.into:
            clean |= (over < 0) | (passed.removed[over.clip(0)] <= starts)
        clean[0] = True
    within = np.diff(passed.delivered)[np.diff(passed.taken) == 0]
    gap = float(np.median(within)) if len(within) else 0.0
    times, lags = (np.where(clean, t, np.median(t[clean])) for t in (ends - starts, np.maximum(starts - ready, 0.0)))
    return replace(passed, taken=starts[of]), replace(bus, times=times, lags=lags, gap=gap, of=of)


def replayed_edge(edge: EdgeEvents, seed: int = 0) -> tuple[Estimate, Occupancy] | None:
    """An estimate by the ends alone, and the truth; None where too little passed."""
    if min(len(edge.push_ps), len(edge.pop_ps)) < LEAST:
        return None
    passed, ends, bus = seen(edge)
    if len(passed.inserted) < LEAST or not len(ends.services):
        return None
    truth = occupancy(passed)
    guess = estimate(ends, bus, {"upstream": truth.upstream, "downstream": truth.downstream}, seed=seed)
    held_up = float(np.diff(edge.blocked_ps, axis=1).sum() / max(edge.push_ps[-1] - edge.push_ps[0], 1))
    if held_up > FULL and not np.isfinite(bus.rooms[0]):
        why = f"the producer waited for room for {percent_text(held_up)} of the time: insertions wait for removals"
        guess = replace(guess, reason="; ".join(filter(None, (why, guess.reason))))
    return guess, truth


@dataclass(frozen=True, eq=False)
class Replayed:
    """A part of an edge across a bus, the whole or the queue at an end: the shares of the time with 0, 1, 2, ...
    elements, as counted while elements passed, and as replayed from what the two ends saw alone; of the whole also as
    replayed without a bus (section 5.1)."""

    part: str
    counted: Shares
    replayed: Shares
    without_bus: Shares | None = None

    def as_json(self) -> dict[str, object]:
        without = {} if self.without_bus is None else {"without_bus": self.without_bus.tolist()}
        return {"part": self.part, "counted": self.counted.tolist(), "replayed": self.replayed.tolist(), **without}


@dataclass(frozen=True)
class Across:
    """A text on the parts of a queue across a bus, and on the trust in an occupancy from its two ends alone; the whole
    was counted. `parts` are empty if too little passed."""

    words: str
    parts: tuple[Replayed, ...] = ()


def across(edge: EdgeEvents) -> Across:
    """How full the queue of an edge across a bus was, and what a replay says of that."""
    parts = f" of {edge.edge.depth} elements in all ({edge.crossing.words})" if edge.crossing else ""
    told = replayed_edge(edge)
    if told is None:
        return Across(f"counted{parts}; too few elements passed for a replay")
    by_ends, truth = told
    words = (
        f"counted{parts}; {significant(mean(truth.total))} on average while elements passed; a replay from the two "
        f"ends gives {significant(mean(by_ends.occupancy.total))} (the distributions are "
        f"{significant(distance(by_ends.occupancy.total, truth.total))} apart), {by_ends.verdict} ({by_ends.model})"
    )
    of_ends, _ = replayed(seen(edge)[1], IDEAL, {}, Draw.ALONE)
    return Across(words, (
        Replayed("whole queue", truth.total, by_ends.occupancy.total, of_ends.total),
        Replayed("queue before the bus", truth.upstream, by_ends.occupancy.upstream),
        Replayed("queue behind the bus", truth.downstream, by_ends.occupancy.downstream),
    ))  # fmt: skip
