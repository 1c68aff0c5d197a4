"""A host of several threads: what they do on virtual cores, together with the graph of bus and FPGA.

The graph knows how long calls of the card take, where it is given when they are made; the replay of the threads knows
when calls are made, where it is given how long they take. Each is given the other's answer until both agree.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from workbench.model.run import Cores, Run, Table
from workbench.model.syncs import SyncKind
from workbench.replay.edits import RefusedError
from workbench.replay.host import ASYNC, IRQ, OTHER, HostPart
from workbench.replay.lowering import Lowered
from workbench.replay.program import Program
from workbench.replay.threads import StuckError, ThreadTimes, differences, replay_threads, waits_ps

Numbers = NDArray[np.int64]
_CARD = (SyncKind.CARD, SyncKind.CARD_HELD, SyncKind.INTERRUPT)
#: What may lie between the transfers of one operation, such as between polls.
_WITHIN = (*_CARD, SyncKind.SLEEP, SyncKind.YIELD, SyncKind.OTHER)
_MOST_ROUNDS = 100


@dataclass(frozen=True)
class HostThreads:
    """Rows as those of `syncs`, in which every operation of the card's is one: of operation i row `of_op[i]`, -1 where
    it asks the card nothing."""

    rows: Table
    of_op: Numbers
    cores: Cores

    def settle(self, program: Program, lowered: Lowered, own: dict[int, float]) -> None:
        """Make the graph's lags between operations, and its end, those of the threads. `own` scales the threads' own
        times, by number. Raises RefusedError."""
        ops = program.ops
        if len(ops) != len(self.of_op) or (program.base != np.arange(len(ops))).any():
            raise RefusedError("calls of a host of several threads are moved, united or removed: not known to replay")
        factor = np.array([own.get(n, 1.0) for n in range(int(self.rows["block"].max()) + 1)])
        own_ps = np.rint(self.rows["own_ps"] * factor[self.rows["block"]]).astype(np.int64)
        took_ps = waits_ps(self.rows)
        asks = np.flatnonzero(self.of_op >= 0)
        waits = asks[ops["kind"][asks] != ASYNC]
        for _ in range(_MOST_ROUNDS):
            if lowered.graph.sweep_in_time() is None:
                raise RefusedError("the changed program waits for something that comes only after the wait")
            asked_ps = self._returned_before(program, lowered) + lowered.lag_ps - program.delay_ps
            found = took_ps.copy()
            found[self.of_op[waits]] = np.maximum(lowered.graph.end[lowered.of_op[waits]] - asked_ps[waits], 0)
            replayed = self.replayed(found, own_ps)
            if not self._give(program, lowered, replayed, found) and (found == took_ps).all():
                return
            took_ps = found
        raise RefusedError("it is not found when the threads make their calls")

    def replayed(self, took_ps: Numbers, own_ps: Numbers) -> ThreadTimes:
        """The threads, with so much time for each call of the card's. Raises RefusedError."""
        took = took_ps.tolist()
        try:
            return replay_threads(self.rows, self.cores, lambda row, t0_ps: t0_ps + int(took[row]), own_ps)
        except StuckError:
            raise RefusedError("a thread would wait for one that does not come") from None

    def wrong(self, end_ps: int) -> str:
        """What replay of the unchanged threads has otherwise than the run, or nothing."""
        try:
            replayed = self.replayed(waits_ps(self.rows), np.asarray(self.rows["own_ps"]))
        except RefusedError as error:
            return f"the host's threads cannot be replayed: {error}"
        late = differences(self.rows, replayed)
        if not len(late) and replayed.end_ps == end_ps:
            return ""
        kind = SyncKind(self.rows["kind"][late[0]]).name.lower() if len(late) else "exit"
        return f"{len(late)} of {len(self.of_op)} calls of the host's threads come otherwise, the first a {kind}"

    def _returned_before(self, program: Program, lowered: Lowered) -> Numbers:
        """When, in the graph, the operation before each of its thread's had returned."""
        thread = program.ops["thread"]
        returned = lowered.graph.end[lowered.of_return]
        before = np.append(0, returned[:-1])[: len(returned)]
        return np.where(np.append(True, thread[1:] != thread[:-1])[: len(thread)], 0, before)

    def _give(self, program: Program, lowered: Lowered, replayed: ThreadTimes, took_ps: Numbers) -> bool:
        """Give the graph the threads' times; whether that changed anything."""
        ops = program.ops
        lags = lowered.lag_ps.copy()
        thread, at_ps, ends_ps = -1, 0, 0
        rest = lowered.graph.end[lowered.of_op] - lowered.graph.begin[lowered.of_op]
        for op, row in enumerate(self.of_op.tolist()):
            if ops["thread"][op] != thread:
                thread, at_ps = int(ops["thread"][op]), 0
            if row < 0:
                at_ps += int(lags[op]) + int(rest[op])
            else:
                asked_ps = int(replayed.t0_ps[row])
                lags[op] = max(asked_ps + int(program.delay_ps[op]) - at_ps, 0)
                at_ps = asked_ps + (0 if ops["kind"][op] == ASYNC else int(took_ps[row]))
            if thread == ops["thread"][0]:
                ends_ps = at_ps
        end_lag = max(replayed.end_ps - ends_ps, 0)
        changed = bool((lags != lowered.lag_ps).any() or lowered.graph.lag[lowered.to_end] != end_lag)
        lowered.graph.lag[lowered.begun] += lags - lowered.lag_ps
        lowered.lag_ps[:] = lags
        lowered.graph.lag[lowered.to_end] = end_lag
        return changed


def read_threads(run: Run, host: HostPart) -> HostThreads | str:
    """The threads of a run, or why they cannot be replayed."""
    syncs = run.tables.get("syncs")
    if syncs is None:
        return "it is not recorded when the host's threads waited for one another"
    table = {name: np.array(column) for name, column in syncs.items()}
    keep, of_op = np.ones(len(table["kind"]), bool), np.full(len(host.ops), -1, np.int64)
    firsts = np.searchsorted(table["block"], np.arange(int(table["block"].max(initial=0)) + 2))
    cards = np.flatnonzero(np.isin(table["kind"], _CARD) & (table["argument"] >= 0))
    row_of = dict(zip(zip(table["block"][cards].tolist(), table["argument"][cards].tolist(), strict=True),
                      cards.tolist(), strict=True))  # fmt: skip
    calls = run.tables["calls"]
    first_part = _first_parts(calls)
    calls_of = {thread: np.flatnonzero(calls["block"] == thread) for thread in np.unique(calls["block"]).tolist()}
    for number, op in enumerate(host.ops):
        thread = int(op["thread"])
        place = int(np.searchsorted(calls_of[thread], op["row"]))
        mine = calls_of[thread][place : place + int(op["rows"])]  # others' may lie between
        parts = calls["parts"][mine]
        if op["kind"] == OTHER or not parts.any():
            continue
        made = mine[np.flatnonzero(parts)]
        first = row_of.get((thread, int(first_part[made[0]])))
        last = row_of.get((thread, int(first_part[made[-1]] + parts[np.flatnonzero(parts)[-1]] - 1)))
        if first is None or last is None or table["t0_ps"][first] != calls["call_ps"][made[0]]:
            return "the calls of the host's threads and their transfers do not fit one another"
        while last + 1 < firsts[thread + 1] and _goes_on(table, last + 1, int(calls["t1_ps"][made[-1]])):
            last += 1
        within = table["kind"][first : last + 1]
        if not np.isin(within, _WITHIN).all():
            return "threads wait for one another between polls"
        of_op[number] = first
        keep[first + 1 : last + 1] = False
        if op["kind"] == ASYNC:
            continue
        held = (within == SyncKind.CARD_HELD).all()
        kind = SyncKind.CARD_HELD if held else SyncKind.INTERRUPT if op["kind"] == IRQ else SyncKind.CARD
        table["kind"][first], table["result"][first] = kind, table["result"][last]
        table["t1_ps"][first], table["woken_ps"][first] = table["t1_ps"][last], op["end_ps"] - op["after_ps"]
    now = np.append(np.where(keep, np.cumsum(keep) - 1, -1), -1)
    table["woken_by"], of_op = now[table["woken_by"]], now[of_op]
    return HostThreads({name: column[keep] for name, column in table.items()}, of_op, run.manifest.cores)


def _goes_on(table: Table, row: int, until_ps: int) -> bool:
    """Whether a row is a further wait of the call before it, which returned at `until_ps`."""
    mine = table["kind"][row] in _CARD and table["argument"][row] < 0 and table["own_ps"][row] == 0
    return bool(mine and table["t1_ps"][row] <= until_ps)


def _first_parts(calls: Table) -> Numbers:
    """Of each call the number of its first transfer among its thread's."""
    first = np.zeros(len(calls["parts"]), np.int64)
    for thread in np.unique(calls["block"]).tolist():
        mine = np.flatnonzero(calls["block"] == thread)
        first[mine] = np.cumsum(calls["parts"][mine]) - calls["parts"][mine]
    return first
