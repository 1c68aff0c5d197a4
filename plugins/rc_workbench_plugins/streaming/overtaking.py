"""Ends of passes that may overtake elements, since several threads of a block share the edge on which both go out.

Blocks of one thread each form a Kahn process network: what goes over an edge, and in which order, does not depend on
times. A block of several threads gives up that order. This matters to a block behind it that keeps what it takes, and
acts only on ends of passes. Such ends are recognised in a traced run: a bit of the elements is set in those after which
the reader sends something, and in no others (or clear in them alone).

The threads of a block share an input (any thread may take any element), or each has its own (a split and its join). In
the second case, an end concerns its own way alone, unless another way carries elements and no ends.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from rc_workbench_plugins.streaming.x_language import problem
from workbench.api import PS_PER_S, Diagnostic, Severity, WorkbenchError, counted, time_text
from workbench.api.stream_events import EdgeEvents, Events, events_of

if TYPE_CHECKING:
    from workbench.api import Measured, Table
    from workbench.api.unstable import Topology

#: A table of a run folder: diagnostics, JSON as UTF-8.
OVERTAKING = "stream_overtaking"
_LEAST = 2  # ends, and other elements, of which a run shows anything
_NONE = -1

Flags = NDArray[np.bool_]
Indices = NDArray[np.int64]


@dataclass(frozen=True)
class Overtaking:
    """The threads of `block` may send an end on `edge` before elements taken earlier. `reader` takes both from
    `at`, and acts only on the `ends`. `late` is the number of elements that came after such an end in the run; without
    any, `margin_ps` is the least time by which an end came after an element of another thread."""

    block: str
    edge: EdgeEvents
    reader: str
    at: EdgeEvents
    ends: int
    late: int
    margin_ps: int | None


def overtaking(events: Events, any_order: Collection[str] = ()) -> Iterator[Overtaking]:
    """The blocks of several threads behind which ends of passes may come too early; edges of these labels may have any
    order."""
    for block, pool in events.pools.items():
        for edge in _from(events, block) if pool.threads > 1 else ():
            if edge.push_by is None or edge.edge.label in any_order or len(np.unique(edge.push_by)) < 2:
                continue
            acted = _ends_behind(events, edge)
            if acted is None:
                continue
            reader, ends = acted
            inputs = _into(events, block)
            taken_ps, way, _ = _last_taken(inputs, edge)
            shared = any(one.pop_by is not None and len(np.unique(one.pop_by)) > 1 for one in inputs)
            others = ~ends & (way != _NONE)
            if not shared and not set(np.unique(way[others])) - set(np.unique(way[ends])):
                continue
            late, margin_ps = _order(edge, taken_ps, ends, others)
            yield Overtaking(block, edge, reader.edge.sink.block, reader, int(ends.sum()), late, margin_ps)


def _into(events: Events, block: str) -> list[EdgeEvents]:
    return [one for one in events.edges.values() if one.edge.sink.block == block]


def _from(events: Events, block: str) -> list[EdgeEvents]:
    return [one for one in events.edges.values() if one.edge.source.block == block]


def _last_taken(inputs: Sequence[EdgeEvents], out: EdgeEvents) -> tuple[Indices, Indices, Indices]:
    """Of each element that a block gives, what its thread took last: when (ps), from which of the inputs, and which
    element of that edge. _NONE before it took any."""
    count = len(out.push_ps)
    results = [np.full(count, _NONE, np.int64) for _ in range(3)]
    if not inputs:
        return results[0], results[1], results[2]
    pops_ps = np.concatenate([one.pop_ps for one in inputs])
    ways = np.concatenate([np.full(len(one.pop_ps), number) for number, one in enumerate(inputs)])
    numbers = np.concatenate([np.arange(len(one.pop_ps)) for one in inputs])
    threads = np.concatenate([_threads(one.pop_by, len(one.pop_ps)) for one in inputs])
    pushing = _threads(out.push_by, count)
    for thread in np.unique(pushing):
        mine, pushes = np.flatnonzero(threads == thread), np.flatnonzero(pushing == thread)
        mine = mine[np.argsort(pops_ps[mine], kind="stable")]
        last = np.searchsorted(pops_ps[mine], out.push_ps[pushes], "right") - 1
        pushes, last = pushes[last >= 0], last[last >= 0]
        for result, values in zip(results, (pops_ps, ways, numbers), strict=True):
            result[pushes] = values[mine[last]]
    return results[0], results[1], results[2]


def _threads(by: Indices | None, count: int) -> Indices:
    return np.zeros(count, np.int64) if by is None else np.asarray(by, np.int64)


def _ends_behind(events: Events, out: EdgeEvents) -> tuple[EdgeEvents, Flags] | None:
    """The edge, from `out` on, whose reader acts only on ends, and which elements of `out` these are. Blocks between
    them have one thread, one input and one output, so that they keep the order."""
    edge, origin = out, np.arange(len(out.push_ps))
    for _ in events.edges:
        reader = edge.edge.sink.block
        outputs = _from(events, reader)
        acts = np.zeros(len(edge.push_ps), bool)
        inputs = _into(events, reader)
        here = next(number for number, one in enumerate(inputs) if one is edge)
        for one in outputs:
            _, way, number = _last_taken(inputs, one)
            acts[number[way == here]] = True
        if _is_a_bit(edge, acts):
            ends = np.zeros(len(out.push_ps), bool)
            ends[origin[acts & (origin >= 0)]] = True
            return edge, ends
        if len(inputs) != 1 or len(outputs) != 1 or reader in events.pools:
            return None
        _, _, number = _last_taken(inputs, outputs[0])
        origin = np.where(number >= 0, origin[number], _NONE)
        edge = outputs[0]
    return None


def _is_a_bit(edge: EdgeEvents, acts: Flags) -> bool:
    """Whether a bit separates the elements that a reader acts on from those that it only keeps."""
    if edge.values is None or edge.edge.type.startswith("float"):
        return False
    count = len(edge.pop_ps)
    bits, acts = np.ascontiguousarray(edge.values[:count]).view(np.uint64), acts[:count]
    if min(acts.sum(), (~acts).sum()) < _LEAST:
        return False
    of, others = bits[acts], bits[~acts]
    is_set = np.bitwise_and.reduce(of) & ~np.bitwise_or.reduce(others)
    is_clear = ~np.bitwise_or.reduce(of) & np.bitwise_and.reduce(others)
    return bool(is_set or is_clear)


def _order(edge: EdgeEvents, taken_ps: Indices, ends: Flags, others: Flags) -> tuple[int, int | None]:
    """How many elements came after an end that another thread took later; without any, the least time (ps) by which an
    end came after one that was taken before."""
    by, pushed_ps = _threads(edge.push_by, len(ends)), edge.push_ps
    late, margins_ps = np.zeros(len(ends), bool), list[int]()
    for thread in np.unique(by[ends]):
        mine, rest = np.flatnonzero(ends & (by == thread)), np.flatnonzero(others & (by != thread))
        mine, rest = (some[np.argsort(taken_ps[some], kind="stable")] for some in (mine, rest))
        first_ps = np.append(np.minimum.accumulate(pushed_ps[mine][::-1])[::-1], pushed_ps.max())
        later_ends = np.searchsorted(taken_ps[mine], taken_ps[rest], "right")
        late[rest] |= pushed_ps[rest] > first_ps[later_ends]
        before = np.searchsorted(taken_ps[rest], taken_ps[mine], "left") - 1
        last_ps = np.maximum.accumulate(pushed_ps[rest])
        margins_ps += (pushed_ps[mine[before >= 0]] - last_ps[before[before >= 0]]).tolist()
    count = int(late.sum())
    return count, None if count else min(margins_ps, default=None)


def overtaking_table(tables: Mapping[str, Table], topology: Topology) -> dict[str, Table]:
    """The table of a run with these tables of an application; none where nothing may overtake."""
    events = events_of(tables)
    if events is None or not events.pools:
        return {}
    any_order = {edge.label for edge in topology.edges if edge.any_order}
    found = [_diagnostic(one, topology) for one in overtaking(events, any_order)]
    if not found:
        return {}
    rows = [{"message": one.message, "hint": one.hint, "file": one.file, "line": one.line} for one in found]
    return {OVERTAKING: {"utf8": np.frombuffer(json.dumps(rows).encode(), "u1")}}


def _diagnostic(one: Overtaking, topology: Topology) -> Diagnostic:
    block, reader, edge = (topology.within(name) for name in (one.block, one.reader, one.edge.edge.label))
    known = topology.block_by_name[one.block]
    message = (
        f"ends of passes may overtake elements on {edge}: {counted(known.threads, 'thread')} of {block} send there in "
        f"any order, and {reader} acts on {one.ends} of {counted(len(one.at.push_ps), 'element')} alone"
    )
    if one.late:
        message += f"; in this run {counted(one.late, 'element')} came after an end that was taken later"
    elif one.margin_ps is not None:
        after = time_text(one.margin_ps / PS_PER_S)
        message += f"; in this run none did, the closest end came {after} after an element"
    hint = (
        f"Give {block} one thread; to share its work, write a block for each pass. Or let each end carry the number of "
        f"elements before it, and let {reader} wait for that number; then write (any_order=1) at {edge}."
    )
    return problem(known.threads_at, message, hint)


def ends_that_overtake(measured: Measured) -> Sequence[Any]:
    """No finding has this as its subject, since it is not about time. WorkbenchError with the diagnostics of a run."""
    tables = measured.run.tables
    if OVERTAKING not in tables:
        return ()
    try:
        rows = json.loads(bytes(np.asarray(tables[OVERTAKING]["utf8"])))
        found = [Diagnostic(severity=Severity.WARNING, **row) for row in rows]
    except (TypeError, ValueError) as error:
        file = str(measured.run.path) if measured.run.path else None
        message = f"the run's record of the order of its elements is damaged: {error}"
        found = [Diagnostic(message, "Run again.", Severity.WARNING, file)]
    raise WorkbenchError(*found)
