"""An edge between a processor and an FPGA: how full its queue was, replayed from what each end saw alone."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from rc_workbench_plugins.streaming.events import EdgeEvents
from rc_workbench_plugins.streaming.events import Times as Moments
from rc_workbench_plugins.streaming.trust import Estimate, estimate
from rc_workbench_plugins.streaming.virtual_queue import (
    IDEAL,
    Bus,
    Intervals,
    Occupancy,
    Passage,
    Times,
    distance,
    mean,
    occupancy,
    services,
)
from workbench.model.text import percent_text, significant

LEAST = 200  # elements, for anything to be said
FULL = 0.01  # of the time in which the producer waits for room: more, and insertions depend on removals


def worked(times: Moments, waiting: Moments) -> Times:
    """What of the time between two transfers in turn was not spent waiting (spells, as rows); nan after the last."""
    if not len(waiting):
        return np.append(np.diff(times).astype(np.float64), np.nan)
    begins, ends = waiting.T.astype(np.float64)
    waited = np.concatenate([[0.0], (ends - begins).cumsum()])
    edges = np.stack([begins, ends], axis=1).ravel()
    until = np.interp(times, edges, np.stack([waited[:-1], waited[1:]], axis=1).ravel(), left=0.0)
    return np.append(np.diff(times) - np.diff(until), np.nan)


def seen(edge: EdgeEvents) -> tuple[Passage, Intervals, Bus]:
    """What passed the edge, what of it the two ends measure by themselves, and the bus in between. Times from the first
    push on, in ps; a bus is ideal where nobody saw it."""
    stages = [t for t in (edge.push_ps, edge.taken_ps, edge.delivered_ps, edge.pop_ps) if t is not None]
    count = min(map(len, stages))
    pushed, popped = ((t[:count] - edge.push_ps[0]).astype(np.float64) for t in (edge.push_ps, edge.pop_ps))
    passed, bus = Passage(pushed, pushed, pushed, popped), IDEAL
    if edge.taken_ps is not None and edge.delivered_ps is not None:
        taken, delivered = (
            (t[:count] - edge.push_ps[0]).astype(np.float64) for t in (edge.taken_ps, edge.delivered_ps)
        )
        passed = Passage(pushed, taken, delivered, popped)
        bus = _bus(passed)
    service = services(passed.delivered, passed.removed)
    if len(edge.waiting_ps):
        service = worked(edge.pop_ps[:count], edge.waiting_ps)
        service[-1] = service[:-1].mean()
    return passed, Intervals(np.diff(pushed, prepend=0.0), service), bus


def _bus(passed: Passage) -> Bus:
    """The bus by its transfers; none was before the first."""
    starts, sizes = np.unique(passed.taken, return_counts=True)
    lasts = sizes.cumsum() - 1
    ends = passed.delivered[lasts]
    ready = np.maximum(passed.inserted[lasts], np.concatenate([[-np.inf], ends[:-1]]))
    within = np.diff(passed.delivered)[np.diff(passed.taken) == 0]
    gap = float(np.median(within)) if len(within) else 0.0
    return Bus(int(np.median(sizes)), ends - starts, np.maximum(starts - ready, 0.0), gap)


def replayed_edge(edge: EdgeEvents, seed: int = 0) -> tuple[Estimate, Occupancy] | None:
    """An estimate by the ends alone, and the truth; None where too little passed."""
    if min(len(edge.push_ps), len(edge.pop_ps)) < LEAST:
        return None
    passed, ends, bus = seen(edge)
    if len(passed.inserted) < LEAST or not len(ends.services):
        return None
    truth = occupancy(passed)
    found = estimate(ends, bus, {"upstream": truth.upstream, "downstream": truth.downstream}, seed=seed)
    held_up = float(np.diff(edge.blocked_ps, axis=1).sum() / max(edge.push_ps[-1] - edge.push_ps[0], 1))
    if held_up > FULL:
        why = f"the producer waited for room for {percent_text(held_up)} of the time: insertions wait for removals"
        found = replace(found, reason="; ".join(filter(None, (why, found.reason))))
    return found, truth


def trust_of(edge: EdgeEvents) -> str:
    """In words, how far an occupancy that only the two ends saw would be to be believed; the whole was counted."""
    found = replayed_edge(edge)
    if found is None:
        return "counted; what the two ends saw alone is too little for a replay"
    by_ends, truth = found
    return (
        f"counted, {significant(mean(truth.total))} on average; replayed from what the two ends saw, "
        f"{significant(mean(by_ends.occupancy.total))} ({significant(distance(by_ends.occupancy.total, truth.total))} "
        f"from it), {by_ends.verdict} ({by_ends.model})"
    )
