"""Turns a streaming application's host threads into scripts that can be replayed with other queues or speeds
(`queues.c`).

A thread has one of three roles. Most threads repeat their recorded calls, from table `syncs` of a traced run. A thread
that moves data into an FPGA, or out of one, follows the loop of `resources/streaming` instead: the number of elements
that it moves at once depends on when they come. Its costs are the medians of its own times at each place of that loop.

Taking from a semaphore has two ways: the first try succeeds, or it fails and the thread waits. The ways cost different
own time, and after a change a thread may go the other way. So the script has the cost of both, as the run shows them.

For example, a thread pops an element, works for 3 us and pushes a result, 100 times. It is LISTED with 400 calls: take
and post of the one queue, then take and post of the next one, with 3 us of own time between them.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import IntEnum

import numpy as np
from numpy.typing import NDArray

from workbench.api.queues import EdgeQueue, RunQueues
from workbench.model.run import Run
from workbench.model.run_tables import RowArray
from workbench.model.syncs import SyncKind, SyncResult
from workbench.replay.host_edges import NO_ELEMENT, Queue, host_queues
from workbench.replay.thread_rows import CARD, Rows
from workbench.replay.traffic import Cycles

#: The number of costs of a thread that moves data (the enumeration in `queues.c`).
COSTS = 13
_NUMBERS = ("own_ps", "argument", "waited_ps", "element")
_OPS = np.dtype([("kind", "<i4"), ("what", "<i4"), *((name, "<i8") for name in _NUMBERS)])
_CALL, _TAKE, _POST, _SLEEP, _UNTIL, _CREATE, _JOIN, _BIND, _YIELD, _END, _EXIT, _TRANSFER = range(12)
_KINDS = {
    SyncKind.TAKE: _TAKE, SyncKind.POST: _POST, SyncKind.CREATE: _CREATE, SyncKind.JOIN: _JOIN, SyncKind.BIND: _BIND,
    SyncKind.YIELD: _YIELD, SyncKind.END: _END, SyncKind.EXIT: _EXIT,
}  # fmt: skip
_GRIDS_PS = tuple(10**digits for digits in range(9, 3, -1))
_NEVER_PS = 1 << 62
#: The share of moments on a grid above which a thread sleeps until such moments; some are late.
_ON_GRID = 0.8
#: The fewest sleeps that show whether a thread sleeps for a time or until moments on a grid.
_FEWEST_SLEEPS = 8


class Role(IntEnum):
    """The role of a thread: it repeats its recorded calls, or it moves data into an FPGA, or out of one."""

    LISTED = 0
    INTO = 1
    OUT_OF = 2


@dataclass
class RunThreads:
    """The host threads of a run, by number, and their queues.

    Each thread has one of the `roles`. `ops` are the calls of LISTED threads (dtype `_OPS`); `edges` are those that the
    other threads move, and `costs` their own times (COSTS each, ps). `holds_core` says whether a thread keeps its core
    during transfers. `interrupts_ps` are the times at which the thread of an edge out of an FPGA was woken, by edge.
    `initial_values` are those of the semaphores that belong to no queue.
    """

    roles: list[Role]
    queues: list[Queue]
    ops: dict[int, RowArray] = field(default_factory=dict)
    edges: dict[int, list[int]] = field(default_factory=dict)
    costs: list[Sequence[int]] = field(default_factory=list)
    holds_core: list[bool] = field(default_factory=list)
    interrupts_ps: dict[int, Cycles] = field(default_factory=dict)
    initial_values: list[int] = field(default_factory=list)

    @property
    def largest_transfer_words(self) -> int:
        """The largest transfer (words) of the LISTED threads."""
        largest = [ops["argument"][ops["kind"] == _TRANSFER].max(initial=0) for ops in self.ops.values()]
        return int(max(largest, default=0))

    @property
    def dtype(self) -> np.dtype[np.void]:
        return _OPS

    @property
    def ends_never(self) -> RowArray:
        """The row after the last recorded call of a thread."""
        return np.array([(_END, 0, _NEVER_PS, 0, 0, NO_ELEMENT)], _OPS)

    @staticmethod
    def pops(ops: RowArray, semaphore: int) -> NDArray[np.int64]:
        """The rows in which a thread takes from a semaphore."""
        return np.flatnonzero((ops["kind"] == _TAKE) & (ops["what"] == semaphore))

    def at_speeds(self, own: Mapping[int, float]) -> RunThreads:
        """The threads with their own code scaled by these factors, by thread number."""
        ops, costs = dict(self.ops), list(self.costs)
        for number, factor in own.items():
            costs[number] = [cost if cost < 0 else round(cost * factor) for cost in costs[number]]
            if number in ops:
                calls = ops[number] = ops[number].copy()
                tries = calls["kind"] == _TAKE
                for name, rows in (("own_ps", slice(None)), ("argument", tries), ("waited_ps", tries)):
                    calls[name][rows] = np.rint(calls[name][rows] * factor)
        return replace(self, ops=ops, costs=costs)


def read_queues(run: Run, queues: RunQueues) -> RunThreads | str:
    """The threads and queues of a run, or the reason why they cannot be replayed."""
    if "syncs" not in run.tables:
        return "the run did not record when its threads waited: run with --trace on the simulated card"
    blocks = np.asarray(run.tables["syncs"]["block"])
    rows = [Rows(run, number) for number in range(int(blocks.max(initial=0)) + 1)]
    pairs = host_queues(rows, queues)
    if isinstance(pairs, str):
        return pairs
    semaphore = {queue.room: 2 * n for n, queue in enumerate(pairs)}
    semaphore |= {queue.filled: 2 * n + 1 for n, queue in enumerate(pairs)}
    initial_values = _other_semaphores(rows, semaphore)
    semaphore |= {other: 2 * len(pairs) + n for n, other in enumerate(initial_values)}
    threads = RunThreads([], pairs, initial_values=list(initial_values.values()))
    longer = _longer(rows)
    for mine in rows:
        role = _role(mine, pairs, queues.edges)
        threads.roles.append(role)
        threads.holds_core.append(bool((mine.kind == SyncKind.CARD_HELD).any()))
        threads.costs.append([0] * COSTS)
        if role is Role.LISTED:
            elements = np.max([queue.elements(mine) for queue in pairs], axis=0, initial=NO_ELEMENT)
            ops = _listed(mine, semaphore, longer, queues, elements)
            if isinstance(ops, str):
                return ops
            threads.ops[mine.number] = ops
        elif role is Role.INTO:
            threads.edges[mine.number] = [queue.edge for queue in pairs if mine.number in queue.sinks]
            threads.costs[-1] = _costs_into(mine, queues, longer, threads.edges[mine.number][0])
        else:
            moved = sorted(queue.edge for queue in pairs if mine.number in queue.sources)
            threads.edges[mine.number] = moved
            threads.costs[-1] = _costs_out_of(mine)
            woken = mine.t1[mine.kind == SyncKind.INTERRUPT]
            threads.interrupts_ps |= dict.fromkeys(moved, woken)
    return threads


def _other_semaphores(rows: Sequence[Rows], known: Mapping[int, int]) -> dict[int, int]:
    """The initial values of semaphores that belong to no queue: those of agents, and the application's own."""
    first: dict[int, tuple[int, int]] = {}  # by semaphore: the time of its first call, and its value then
    for calls in rows:
        for row in np.flatnonzero(np.isin(calls.kind, [SyncKind.TAKE, SyncKind.POST])).tolist():
            object_, call = int(calls.object[row]), (int(calls.t0[row]), int(calls.argument[row]))
            if object_ not in known:
                first[object_] = min(first.get(object_, call), call)
    return {object_: value for object_, (_, value) in sorted(first.items())}


def _role(mine: Rows, queues: Sequence[Queue], edges: Sequence[EdgeQueue]) -> Role:
    if not np.isin(mine.kind, CARD).any():
        return Role.LISTED
    if any(mine.number in queue.sinks and edges[queue.edge].sink_fpga for queue in queues):
        return Role.INTO
    if any(mine.number in queue.sources and edges[queue.edge].source_fpga for queue in queues):
        return Role.OUT_OF
    return Role.LISTED


def _longer(rows: Sequence[Rows]) -> Mapping[tuple[int, int] | None, tuple[int, int]]:
    """By thread and semaphore: the own time from a failed try to the wait, and the added own time after a wait compared
    with a successful try. Key None holds the medians, for unknown ones."""
    longer: dict[tuple[int, int] | None, tuple[int, int]] = {}
    for calls in rows:
        for semaphore in np.unique(calls.object[calls.kind == SyncKind.TAKE]).tolist():
            of_semaphore = calls.object == semaphore
            long, short = (np.flatnonzero(of_semaphore[:-1] & way[:-1] & (calls.kind[1:] == SyncKind.POST))
                           for way in (calls.long, calls.took & ~calls.long))  # fmt: skip
            if len(long) and len(short):
                more = int(np.median(calls.own[long + 1]) - np.median(calls.own[short + 1]))
                longer[calls.number, semaphore] = int(np.median(calls.own[calls.long & of_semaphore])), max(more, 0)
    known = list(longer.values())
    longer[None] = (int(np.median([a for a, _ in known])), int(np.median([b for _, b in known]))) if known else (0, 0)
    return longer


def _listed(
    rows: Rows,
    semaphore: Mapping[int, int],
    longer: Mapping[tuple[int, int] | None, tuple[int, int]],
    queues: RunQueues,
    elements: Cycles,
) -> RowArray | str:
    """A thread's calls in the form of `queues.c`, or the reason why it cannot be listed."""
    kinds = np.array([_KINDS.get(SyncKind(k), _CALL) if k else _CALL for k in range(SyncKind.INTERRUPT + 1)], np.int32)
    ops: RowArray = np.zeros(len(rows), _OPS)
    ops["kind"], ops["own_ps"], ops["element"] = kinds[rows.kind], rows.own, elements
    ops["what"] = np.where(np.isin(rows.kind, [SyncKind.CREATE, SyncKind.JOIN, SyncKind.BIND]), rows.argument, 0)
    slept = np.isin(rows.kind, [SyncKind.SLEEP, *CARD]) & (rows.woken >= 0)
    ops["kind"][slept] = _SLEEP
    ops["argument"][slept] = (rows.woken - rows.t0)[slept]
    if any(edge.crosses for edge in queues.edges):
        moves = slept & (rows.kind != SyncKind.SLEEP) & (rows.bytes > 0)
        ops["kind"][moves], ops["what"][moves], ops["argument"][moves] = (
            _TRANSFER,
            rows.sends[moves],
            rows.bytes[moves] // 4,
        )
    if _sleeps_until(rows):
        until = rows.kind == SyncKind.SLEEP
        ops["kind"][until], ops["argument"][until] = _UNTIL, rows.woken[until]
    uses = np.isin(rows.kind, [SyncKind.TAKE, SyncKind.POST])
    ops["what"][uses] = [semaphore[int(one)] for one in rows.object[uses]]
    timed_out = uses & (rows.result == SyncResult.TIMED_OUT)
    ops["kind"][timed_out], ops["argument"][timed_out] = _SLEEP, (rows.t1 - rows.t0)[timed_out]
    waits = (rows.woken >= 0) & ~slept & ~uses & ~np.isin(rows.kind, [SyncKind.JOIN])
    waits &= rows.result != SyncResult.NOT_OVER
    if waits.any():
        kind = SyncKind(rows.kind[np.flatnonzero(waits)[0]]).name.lower().replace("_", " ")
        return f"a block's thread also waits for others by {kind}: how long depends on more than its queues"
    takes = np.flatnonzero((rows.took | rows.refused) & uses)
    for one in np.unique(rows.object[takes]).tolist():
        refused, more = longer.get((rows.number, one), longer[None])
        at = np.flatnonzero(uses & rows.took & (rows.object == one))
        ops["argument"][at], ops["waited_ps"][at] = refused, more
    long = np.flatnonzero(rows.long & uses)
    ops["argument"][long], ops["own_ps"][long] = rows.own[long], rows.own[long - 1]
    after = long[long + 1 < len(ops)] + 1
    ops["own_ps"][after] = np.maximum(ops["own_ps"][after] - ops["waited_ps"][after - 1], 0)
    waits_at_end = len(rows) and rows.refused[-1]
    keep = ~(rows.refused & uses)
    if waits_at_end:
        keep[-1] = True
    return ops[keep]


def _sleeps_until(rows: Rows) -> bool:
    """Whether a thread sleeps until moments and not for durations: moments lie on a coarser grid."""
    sleeps = (rows.kind == SyncKind.SLEEP) & (rows.woken >= 0)
    if int(sleeps.sum()) < _FEWEST_SLEEPS:
        return False
    until, lasted = rows.woken[sleeps], (rows.woken - rows.t0)[sleeps]
    return any(_share_on_grid(until, grid) > max(_ON_GRID, _share_on_grid(lasted, grid)) for grid in _GRIDS_PS)


def _share_on_grid(times_ps: Cycles, grid_ps: int) -> float:
    """The share of times on one grid with any offset."""
    _, counts = np.unique(times_ps % grid_ps, return_counts=True)
    return float(counts.max() / len(times_ps))


def _median(values: Sequence[int]) -> int:
    return int(np.median(values)) if values else 0


def _fixed_and_each(times: Sequence[tuple[int, int]]) -> tuple[int, int]:
    """A linear fit of `times`, each the number of elements moved and the time for them (ps): the constant part, and the
    part for each element (ps)."""
    counts, times_ps = np.array(times).T
    slope = float(np.polyfit(counts, times_ps, 1)[0]) if len(set(counts.tolist())) > 1 else 0.0
    each_ps = max(round(slope), 0)
    return max(round(float(np.median(times_ps - each_ps * counts))), 0), each_ps


def _costs_into(
    mine: Rows, queues: RunQueues, longer: Mapping[tuple[int, int] | None, tuple[int, int]], edge: int
) -> list[int]:  # fmt: skip
    """The own times of a thread that takes from an edge's queue and sends into an FPGA; the last one precedes the
    message of the stream's end, -1 without it."""
    first, post, more, read, write, each, pause, again, deadline, after = range(10)
    own_times_ps: dict[int, list[int]] = defaultdict(list)
    writes: list[tuple[int, int]] = []
    count, before, posted_ps = 0, -1, 0
    for row in range(len(mine)):
        kind, own = int(mine.kind[row]), int(mine.own[row])
        if mine.refused[row]:
            own_times_ps[after if before >= 0 else first].append(own)
        elif kind == SyncKind.TAKE:
            if not count and not mine.long[row]:
                own_times_ps[after if before >= 0 else first].append(own)
            elif count:
                own_times_ps[more].append(own)
            if mine.result[row] == SyncResult.TIMED_OUT:
                own_times_ps[deadline].append(int(mine.t1[row]) - queues.flush_ps - posted_ps)
        elif kind == SyncKind.POST:
            if not count:
                posted_ps = int(mine.t0[row])
            if not mine.long[row - 1]:
                own_times_ps[post].append(own)
            count += 1
        elif kind == SyncKind.SLEEP:
            own_times_ps[pause].append(own)
        elif kind in CARD:
            if mine.sends[row]:
                writes.append((count, own))
                count = 0
            else:
                own_times_ps[again if before == SyncKind.SLEEP else read].append(own)
        before = kind
    costs = [_median(own_times_ps[n]) for n in range(10)]
    elements = len(queues.edges[edge].push_ps)
    close = writes.pop()[1] if writes and sum(count for count, _ in writes[:-1]) == elements else -1
    if writes:
        costs[write], costs[each] = _fixed_and_each(writes)
    return [*costs, *longer[None], close]


def _costs_out_of(mine: Rows) -> list[int]:
    """The own times of a thread that takes elements out of an FPGA."""
    irq, look, value, window, push_first, push_each, pushed, push, rest = range(9)
    own_times_ps: dict[int, list[int]] = defaultdict(list)
    firsts: list[tuple[int, int]] = []
    before, sizes = -1, 0
    for row in range(len(mine)):
        kind, own = int(mine.kind[row]), int(mine.own[row])
        if kind == SyncKind.INTERRUPT:
            own_times_ps[irq].append(own)
        elif kind in CARD:
            own_times_ps[look if before == SyncKind.INTERRUPT else window].append(own)
        elif kind == SyncKind.OTHER:
            own_times_ps[value].append(own)
        elif kind == SyncKind.TAKE:
            if before in CARD:
                sizes = 1
                while row + 2 * sizes < len(mine) and mine.kind[row + 2 * sizes] == SyncKind.TAKE:
                    sizes += 1
                firsts.append((sizes, own))
            else:
                own_times_ps[push].append(own)
        elif kind == SyncKind.POST:
            own_times_ps[pushed].append(own)
        elif kind == SyncKind.SLEEP:
            own_times_ps[rest].append(own)
        before = kind
    costs = [_median(own_times_ps[n]) for n in range(9)]
    if firsts:
        costs[push_first], costs[push_each] = _fixed_and_each(firsts)
    return [*costs, *[0] * (COSTS - 9)]
