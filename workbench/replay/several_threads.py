"""A host of several threads on virtual cores, replayed together with the graph of bus and FPGA.

Given the times of the card's calls, the graph computes their durations; given these durations, the replay of the
threads computes the times of the calls. Both alternate until they agree.
"""

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from workbench.model.run import Cores, Run
from workbench.model.run_tables import RowArray, Table
from workbench.model.syncs import SyncKind
from workbench.replay.edits import RefusedError
from workbench.replay.host import ASYNC, IRQ, OTHER, HostPart, Operations
from workbench.replay.lowering import Lowered
from workbench.replay.program import Program
from workbench.replay.threads import Replay, StuckError, ThreadTimes, differences, waits_ps

Numbers = NDArray[np.int64]
_CARD = (SyncKind.CARD, SyncKind.CARD_HELD, SyncKind.INTERRUPT)
_MESSAGES = (SyncKind.SEND_MESSAGE, SyncKind.AWAIT_MESSAGE)
#: Calls that may be between the transfers of an operation, such as polls; none synchronises threads.
WITHIN = (*_CARD, SyncKind.SLEEP, SyncKind.YIELD, SyncKind.OTHER)
_MOST_ROUNDS = 100
_LOCKS = (SyncKind.LOCK, SyncKind.LOCK_READING, SyncKind.LOCK_WRITING, SyncKind.LOCK_SPINNING, SyncKind.WAIT)
_NEVER = 1 << 62


@dataclass(frozen=True)
class Script:
    """The calls of the threads, as rows of `syncs`. Rows `at` are card calls, of operations `op`, each the `number`-th
    of its operation. Row n is number `order[n]` of the recorded rows."""

    rows: Table
    cores: Cores
    at: Numbers
    op: Numbers
    number: Numbers
    order: Numbers

    def counts(self, ops: int) -> Numbers:
        return np.bincount(self.op, minlength=ops).astype(np.int64)

    @cached_property
    def replay(self) -> Replay:
        return Replay(self.rows, self.cores)

    @cached_property
    def waits_ps(self) -> Numbers:
        return waits_ps(self.rows)

    def times(self, took_ps: Numbers | None = None, own_ps: Numbers | None = None) -> ThreadTimes:
        """The times of the threads, with these durations of card calls. Raises RefusedError."""
        try:
            return self.replay.times(took_ps, own_ps)
        except StuckError:
            raise RefusedError("a thread would wait for another that never arrives") from None


@dataclass(frozen=True)
class Settled:
    """The threads that agree with the graph: whether they take shared locks in the order of the run, their calls, their
    own time before each call, and all times."""

    in_order: bool
    script: Script
    own_ps: Numbers
    times: ThreadTimes


@dataclass(frozen=True)
class HostThreads:
    """The rows of `syncs` with a row for every card call, of operation `op_of` (-1 for other rows). In a row of polls
    each poll is a row, after the time between polls. `gone_ps` is the part of a row's own time that belongs to removed
    calls."""

    rows: Table
    op_of: Numbers
    cores: Cores

    @property
    def waits_more_ps(self) -> int:
        """The added time (ps) if every lock had to wait, beside the wait itself; the same time if none had to."""
        cores = self.cores
        return int((self.rows["kind"] == SyncKind.LOCK).sum()) * (cores.call_ps + cores.wake_ps + cores.switch_ps)

    def settle(self, program: Program, lowered: Lowered, own: dict[int, float], loop: float) -> Settled:
        """Set the graph's lags between operations and polls, and its end, to the threads' times. `own` scales the
        threads' own times, by number, and `loop` is the removed share of `gone_ps`. Raises RefusedError."""
        ops, script = program.ops, self._recorded
        factor = np.array([own.get(n, 1.0) for n in range(int(self.rows["block"].max()) + 1)])
        took_ps, own_ps, replayed = np.zeros(0, np.int64), np.zeros(0, np.int64), None
        for _ in range(_MOST_ROUNDS):
            if lowered.graph.sweep_in_time() is None:
                raise RefusedError("the changed program waits for an event that comes only after the wait")
            counts = np.minimum(script.counts(len(ops)), 1)
            counts[lowered.asks] = np.where(counts[lowered.asks] > 0, lowered.graph.polls["asked"], 0)
            if (counts != script.counts(len(ops))).any():
                script, replayed = self._script(ops, counts), None
            took = self._took(program, lowered, script)
            if replayed is None or not np.array_equal(took, took_ps):
                left_ps = script.rows["own_ps"] - script.rows["gone_ps"] * loop
                own_ps = np.rint(left_ps * factor[script.rows["block"]]).astype(np.int64)
                replayed = script.times(took, own_ps)
            if not self._give(program, lowered, script, replayed, took, factor) and np.array_equal(took, took_ps):
                return Settled(_in_order(script.rows, replayed), script, own_ps, replayed)
            took_ps = took
        raise RefusedError("the times of the threads' calls cannot be determined")

    @cached_property
    def _recorded(self) -> Script:
        at = np.flatnonzero(self.op_of >= 0)
        order = np.arange(len(self.op_of))
        return Script(self.rows, self.cores, at, self.op_of[at], _numbers(self.op_of[at]), order)

    def _script(self, ops: Operations, counts: Numbers) -> Script:
        """The rows with so many calls of each operation."""
        at, recorded_counts = self._recorded.at, self._recorded.counts(len(ops))
        first = np.cumsum(recorded_counts) - recorded_counts
        pieces, begin = [], 0
        for op in np.flatnonzero(counts != recorded_counts).tolist():
            mine = at[first[op] : first[op] + recorded_counts[op]]
            again = np.arange(mine[-2] + 1, mine[-1] + 1) if len(mine) > 1 else mine
            pieces.append(np.arange(begin, mine[min(counts[op], len(mine)) - 1] + 1))
            pieces.append(np.tile(again, max(counts[op] - len(mine), 0)))
            begin = mine[-1] + 1
        order = np.concatenate([*pieces, np.arange(begin, len(self.op_of))])
        rows = rows_in_order(self.rows, order)
        again = np.flatnonzero(np.append(False, order[1:] == order[:-1]))
        rows["own_ps"][again], rows["gone_ps"][again] = ops["gap_ps"][self.op_of[order[again]]], 0
        at = np.flatnonzero(self.op_of[order] >= 0)
        return Script(rows, self.cores, at, self.op_of[order[at]], _numbers(self.op_of[order[at]]), order)

    def _took(self, program: Program, lowered: Lowered, script: Script) -> Numbers:
        """The wait of each card call in the graph."""
        graph, op, number = lowered.graph, script.op, script.number
        took = script.waits_ps.copy()
        asked_ps = (self._returned_before(program, lowered) + lowered.lag_ps - program.delay_ps)[op]
        ends_ps = graph.end[lowered.of_op[op]]
        row = np.full(len(program.ops), -1, np.int64)
        row[lowered.asks] = np.arange(len(lowered.asks))
        polls: RowArray = graph.polls[row[op]] if len(lowered.asks) else np.zeros(len(op), graph.polls.dtype)
        last = np.append(number[1:] == 0, True)[: len(op)]
        has_gap = ~last & (number < polls["gap_count"])
        place = polls["gap_first"][has_gap] + number[has_gap]
        ends_ps[has_gap] = graph.poll_ends[place]
        after = np.flatnonzero(has_gap) + 1
        asked_ps[after] = graph.poll_ends[place] + graph.gaps[place]
        lasted = np.maximum(ends_ps - asked_ps, 0)
        beyond = (~last & ~has_gap) | ((number > 0) & (number > polls["gap_count"]))
        lasted[beyond] = graph.work[lowered.of_op[op[beyond]]]
        later = program.ops["kind"][op] == ASYNC
        limited = later & (program.buffers[op] > 0)  # it waits until a buffer is free
        lasted[limited] = np.maximum(graph.end[lowered.of_return[op]] - asked_ps, 0)[limited]
        waits = ~later | limited
        took[script.at[waits]] = lasted[waits]
        return took

    def wrong(self, end_ps: int) -> str:
        """The difference between the replay of the unchanged threads and the run; "" if there is none."""
        try:
            replayed = self._recorded.times()
        except RefusedError as error:
            return f"the host's threads cannot be replayed: {error}"
        late = differences(self.rows, replayed)
        if not len(late) and replayed.end_ps == end_ps:
            return ""
        kinds = self.rows["kind"][late].tolist()
        kind = SyncKind(kinds[0]).name.lower() if kinds else "exit"
        return f"{len(late)} of {len(self.op_of)} calls of the host's threads come at other times, the first a {kind}"

    def _returned_before(self, program: Program, lowered: Lowered) -> Numbers:
        """The time in the graph at which the operation before each one, in its thread, returned."""
        thread = program.ops["thread"]
        returned = lowered.graph.end[lowered.of_return]
        before = np.append(0, returned[:-1])[: len(returned)]
        return np.where(np.append(True, thread[1:] != thread[:-1])[: len(thread)], 0, before)

    def _give(
        self,
        program: Program,
        lowered: Lowered,
        script: Script,
        replayed: ThreadTimes,
        took_ps: Numbers,
        factor: NDArray[np.float64],
    ) -> bool:
        """Set the graph's times to those of the threads; returns whether any changed."""
        ops, graph = program.ops, lowered.graph
        asked_ps, over_ps = replayed.t0_ps[script.at], replayed.t0_ps[script.at] + took_ps[script.at]
        inner = script.number > 0
        gaps = np.maximum(asked_ps[inner] - over_ps[np.flatnonzero(inner) - 1], 0)
        counts = script.counts(len(ops))
        first = np.cumsum(counts) - counts
        lags = lowered.lag_ps.copy()
        thread, at_ps, ends_ps, last_thread = -1, 0, 0, program.host.last_thread
        call_lengths = graph.end[lowered.of_op] - graph.begin[lowered.of_op]
        after_waits_ps = self._after_waits(ops, counts, script, replayed, factor)
        for op, (call, count) in enumerate(zip(first.tolist(), counts.tolist(), strict=True)):
            if ops["thread"][op] != thread:
                thread, at_ps = int(ops["thread"][op]), 0
            if not count:
                if (begins_ps := after_waits_ps.get(op)) is not None:
                    lags[op] = max(begins_ps - at_ps, 0)
                at_ps += int(lags[op]) + int(call_lengths[op])
            else:
                lags[op] = max(int(asked_ps[call]) + int(program.delay_ps[op]) - at_ps, 0)
                at_once = ops["kind"][op] == ASYNC and not program.buffers[op]
                at_ps = int(asked_ps[call] if at_once else over_ps[call + count - 1])
            if thread == last_thread:
                ends_ps = at_ps
        end_lag = max(replayed.end_ps - ends_ps, 0)
        changed = bool((lags != lowered.lag_ps).any() or graph.lag[lowered.to_end] != end_lag)
        changed |= not np.array_equal(gaps, graph.gaps)
        graph.lag[lowered.begun] += lags - lowered.lag_ps
        lowered.lag_ps[:] = lags
        graph.lag[lowered.to_end] = end_lag
        graph.gaps = gaps.astype(np.int64)
        polled = np.maximum(counts[lowered.asks] - 1, 0)
        graph.polls["gap_first"], graph.polls["gap_count"] = np.cumsum(polled) - polled, polled
        return changed

    def _after_waits(
        self, ops: Operations, counts: Numbers, script: Script, replayed: ThreadTimes, factor: NDArray[np.float64]
    ) -> dict[int, int]:
        """The begins of operations without a row that follow a synchronising wait of their thread: as long after it as
        in the run."""
        begins_ps = {}
        now = np.full(len(self.op_of), -1, np.int64)
        now[script.order] = np.arange(len(script.order))
        bare = np.flatnonzero(counts == 0)
        for thread in np.unique(ops["thread"][bare]).tolist():
            mine = np.flatnonzero(self.rows["block"] == thread)
            bare_of_thread = bare[ops["thread"][bare] == thread]
            places = np.searchsorted(self.rows["t1_ps"][mine], ops["begin_ps"][bare_of_thread], "right") - 1
            for op, place in zip(bare_of_thread.tolist(), places.tolist(), strict=True):
                row = int(mine[place]) if place >= 0 else -1
                if row >= 0 and now[row] >= 0 and self.rows["kind"][row] not in _CARD and replayed.t1_ps[now[row]] >= 0:
                    cost_ps = int(self.rows["argument"][row]) if self.rows["kind"][row] in _MESSAGES else 0
                    own_ps = int(ops["begin_ps"][op]) - int(self.rows["t1_ps"][row]) - cost_ps
                    begins_ps[op] = int(replayed.t1_ps[now[row]]) + cost_ps + round(own_ps * factor[thread])
        return begins_ps


def rows_in_order(rows: Table, order: Numbers) -> dict[str, NDArray[Any]]:
    """The rows with these numbers, in this order. A row that occurs several times wakes others only the first time; a
    thread that a removed row woke is woken by none."""
    ordered = {name: column[order] for name, column in rows.items()}
    now = np.full(len(rows["woken_by"]) + 1, -1, np.int64)
    now[order[::-1]] = np.arange(len(order))[::-1]
    ordered["woken_by"] = now[ordered["woken_by"]]
    return ordered


def _numbers(op: Numbers) -> Numbers:
    """For each call, the number of calls of its operation before it."""
    first = np.append(True, op[1:] != op[:-1])[: len(op)]
    begun = np.flatnonzero(first)
    return np.arange(len(op)) - begun[np.cumsum(first) - 1]


def read_threads(run: Run, host: HostPart) -> HostThreads | str:
    """The threads of a run, or the reason why they cannot be replayed."""
    syncs = run.tables.get("syncs")
    if syncs is None:
        return "the run does not record when the host's threads waited for each other"
    table = {name: np.array(column) for name, column in syncs.items()}
    table["gone_ps"] = np.zeros(len(table["kind"]), np.int64)
    keep, op_of = np.ones(len(table["kind"]), bool), np.full(len(table["kind"]), -1, np.int64)
    firsts = np.searchsorted(table["block"], np.arange(int(table["block"].max(initial=0)) + 2))
    cards = np.flatnonzero(np.isin(table["kind"], _CARD) & (table["argument"] >= 0))
    row_of = dict(zip(zip(table["block"][cards].tolist(), table["argument"][cards].tolist(), strict=True),
                      cards.tolist(), strict=True))  # fmt: skip
    slept = _of_other_calls(table) if not run.manifest.simulated else {}
    calls = run.tables["calls"]
    first_part = _first_parts(calls)
    calls_of = {thread: np.flatnonzero(calls["block"] == thread) for thread in np.unique(calls["block"]).tolist()}
    for number, op in enumerate(host.ops):
        thread = int(op["thread"])
        place = int(np.searchsorted(calls_of[thread], op["row"]))
        mine = calls_of[thread][place : place + int(op["rows"])]  # others' may lie between
        if op["kind"] == OTHER:
            if (row := slept.get((thread, int(op["begin_ps"])))) is not None:
                op_of[row], table["kind"][row] = number, SyncKind.CARD  # which lasts as long as its operation
            continue
        last = -1
        for call in mine[calls["parts"][mine] > 0].tolist():
            first, before = row_of.get((thread, int(first_part[call]))), last
            end = row_of.get((thread, int(first_part[call] + calls["parts"][call] - 1)))
            if first is None or end is None or table["t0_ps"][first] != calls["call_ps"][call]:
                return "the calls of the host's threads do not match their transfers"
            last = end
            while last + 1 < firsts[thread + 1] and _goes_on(table, last + 1, int(calls["t1_ps"][call])):
                last += 1
            if not np.isin(table["kind"][first if before < 0 else before + 1 : last + 1], WITHIN).all():
                return "threads wait for one another between polls"
            op_of[first] = number
            keep[first + 1 : last + 1] = False
            if op["kind"] == ASYNC:
                continue
            holds_core = (table["kind"][first : last + 1] == SyncKind.CARD_HELD).all()
            kind = SyncKind.CARD_HELD if holds_core else SyncKind.INTERRUPT if op["kind"] == IRQ else SyncKind.CARD
            table["kind"][first], table["result"][first] = kind, table["result"][last]
            table["t1_ps"][first] = table["t1_ps"][last]
            table["woken_ps"][first] = table["woken_ps"][first : last + 1].max()
    now = np.append(np.where(keep, np.cumsum(keep) - 1, -1), -1)
    table["woken_by"] = now[table["woken_by"]]
    return HostThreads({name: column[keep] for name, column in table.items()}, op_of[keep], run.manifest.cores)


def _of_other_calls(table: Table) -> dict[tuple[int, int], int]:
    """By thread and begin (ps) the rows of a real machine's calls that last as long as they do."""
    rows = np.flatnonzero((table["kind"] == SyncKind.SLEEP) & (table["t1_ps"] > table["t0_ps"]))
    return dict(zip(zip(table["block"][rows].tolist(), table["t0_ps"][rows].tolist(), strict=True), rows.tolist(),
                    strict=True))  # fmt: skip


def _goes_on(table: Table, row: int, until_ps: int) -> bool:
    """Whether a row is a further wait of the call before it, which returned at `until_ps`; a close right after it waits
    for nothing."""
    is_card_wait = table["kind"][row] in _CARD and table["argument"][row] < 0 and table["own_ps"][row] == 0
    return bool(is_card_wait and table["woken_ps"][row] >= 0 and table["t1_ps"][row] <= until_ps)


def _first_parts(calls: Table) -> Numbers:
    """For each call the number of its first transfer in its thread."""
    first = np.zeros(len(calls["parts"]), np.int64)
    for thread in np.unique(calls["block"]).tolist():
        rows = np.flatnonzero(calls["block"] == thread)
        first[rows] = np.cumsum(calls["parts"][rows]) - calls["parts"][rows]
    return first


def _in_order(rows: Table, replayed: ThreadTimes) -> bool:
    """Whether the threads take their locks in the recorded order; in another order a thread may have to wait, or not
    to."""
    locks = np.flatnonzero(np.isin(rows["kind"], _LOCKS))
    block, mutex = rows["block"][locks], rows["object"][locks]
    was, now = (
        np.lexsort((block, t0_ps[locks], mutex))
        for t0_ps in (np.asarray(rows["t0_ps"]), np.where(replayed.t0_ps < 0, _NEVER, replayed.t0_ps))
    )
    return bool((block[was] == block[now]).all())
