"""The graph of bus and FPGA with the host's threads in it: by what they wait for one another and for a core.

Each call that threads meet by is two nodes, when it takes effect and when it is over. Lags are the times of the replay
of the threads, so that a sweep finds the same. Locks and cores are given in the same order.
"""

from dataclasses import replace
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from workbench.model.run import Run
from workbench.model.syncs import SyncKind, SyncResult
from workbench.replay.engine import HOST, PLAIN, POLLS, Graph, times_ps
from workbench.replay.lowering import HostRows, Lowered
from workbench.replay.program import Program
from workbench.replay.several_threads import Settled
from workbench.traces.path import NO_LIMIT_PS
from workbench.traces.trace import trace_of

Numbers = NDArray[np.int64]
Flags = NDArray[np.bool_]
_LOCKS = (SyncKind.LOCK, SyncKind.LOCK_READING, SyncKind.LOCK_WRITING, SyncKind.LOCK_SPINNING)
_UNLOCKS = (SyncKind.UNLOCK, SyncKind.UNLOCK_BOTH, SyncKind.UNLOCK_SPINNING)
_NO_NODE = -1


def joined(program: Program, lowered: Lowered, settled: Settled) -> tuple[Lowered, NDArray[np.int32]] | None:
    """The graph with the threads, and an order in which causes come before who waits for them, and who has a bus before
    who has it next; None where it does not come to the same times. `lowered` has those that were settled."""
    made = Joining(program, lowered, settled).made()
    in_time = made.graph.sweep_in_time()
    if in_time is None:
        return None
    old, rows, graph = lowered.graph, made.rows, made.graph
    same = np.array_equal(graph.end[: len(old)], old.end) and np.array_equal(graph.begin[: len(old)], old.begin)
    assert rows
    same &= np.array_equal(graph.end[rows.asked], rows.asked_ps) and np.array_equal(graph.end[rows.over], rows.over_ps)
    return (made, _by_bus(graph, in_time)) if same else None


def _by_bus(graph: Graph, in_time: NDArray[np.int32]) -> NDArray[np.int32]:
    """The order in time, with those who waited for a bus where they had it, after the poll that had it before."""
    nodes = np.arange(len(graph))
    polls = graph.kind == POLLS
    key = 2 * times_ps(graph, nodes, np.where(polls, graph.end, graph.begin)) - polls
    source = np.where(graph.cause < 0, ~graph.cause, graph.cause)
    to = np.repeat(nodes, np.diff(graph.cause_first))
    while (late := key[source] > key[to]).any():  # a cycle that began before what it shows
        np.maximum.at(key, to[late], key[source[late]])
    place = np.empty(len(graph), np.int64)
    place[in_time] = nodes
    return np.lexsort((place, key)).astype(np.int32)


class _Causes(NamedTuple):
    """What rows wait for: rows, and of each a node and its time."""

    row: Numbers
    node: Numbers
    at_ps: Numbers


class Joining:
    """Rows are those of the threads' calls, with all of one operation as one, that were reached; `first` and `last` are
    their numbers among all, `op` their operation (-1: none), and `of` the other way round."""

    def __init__(self, program: Program, lowered: Lowered, settled: Settled) -> None:
        self.program, self.lowered, self.settled = program, lowered, settled
        self.table, script, times = settled.script.rows, settled.script, settled.times
        count = len(times.t0_ps)
        first, last, op = np.arange(count), np.arange(count), np.full(count, -1, np.int64)
        heads = script.at[script.number == 0]
        tails = script.at[np.append(script.number[1:] == 0, True)[: len(script.at)]]
        op[heads] = script.op[script.number == 0]
        last[heads] = tails
        within = np.zeros(count + 1, np.int64)
        np.add.at(within, heads + 1, 1)
        np.add.at(within, tails + 1, -1)
        kept = (np.cumsum(within)[:-1] == 0) & (times.t0_ps >= 0)
        self.first, self.last, self.op = first[kept], last[kept], op[kept]
        of = np.maximum.accumulate(np.where(kept, np.cumsum(kept) - 1, -1))
        self.of: Numbers = np.where(times.t0_ps >= 0, of, -1)
        self.thread = np.asarray(self.table["block"], np.int64)[self.first]
        self.kind, self.result = (np.asarray(self.table[name])[self.first] for name in ("kind", "result"))
        self.object, self.argument = (np.asarray(self.table[n], np.int64)[self.first] for n in ("object", "argument"))
        self.t0_ps: Numbers = times.t0_ps[self.first]
        t1_ps = times.t1_ps[self.last]
        self.t1_ps: Numbers = np.where(t1_ps < self.t0_ps, times.end_ps, t1_ps)
        self.nodes = len(lowered.graph)
        self.asked, self.over = self._more(len(self.first)), self._more(len(self.first))
        self.graph = replace(lowered.graph, cause=lowered.graph.cause.copy(), lag=lowered.graph.lag.copy())
        self._edges: list[tuple[Numbers, Numbers, Numbers]] = []
        self._lenders()

    def _more(self, number: int) -> Numbers:
        self.nodes += number
        return np.arange(self.nodes - number, self.nodes)

    def _edge(self, to: Numbers, source: Numbers, lag_ps: Numbers | int) -> None:
        self._edges.append((to, source, np.broadcast_to(np.asarray(lag_ps, np.int64), to.shape)))

    def _lenders(self) -> None:
        """With which row of another thread this one let go the core that the thread of each row then got, and when:
        before the row, and until it was over."""
        times, late, block = self.settled.times, (2 * self.first, 2 * self.last + 1), np.asarray(self.table["block"])
        lenders = [times.lender[at] for at in late]
        self.lender = tuple(np.where((one >= 0) & (block[one] != self.thread), one, -1) for one in lenders)
        self.lent_ps: tuple[Numbers, ...] = tuple(times.lent_ps[at] for at in late)
        cores = self.settled.script.cores
        #: what it takes to go on with a core, and to be woken besides
        self.switch_ps = cores.call_ps + cores.switch_ps
        self.wake_ps = cores.wake_ps + self.switch_ps

    def made(self) -> Lowered:
        self._chains()
        self._ends(self._causes())
        self._cores()
        graph = self._graph()
        owner = np.full(self.nodes, -1, np.int64)
        owner[self.asked] = owner[self.over] = self.thread
        owner[self.lent] = self.lent_by
        states = _states(self.program.run, self.thread, self.t0_ps)
        rows = HostRows(self.asked, self.over, self.t0_ps, self.t1_ps, self.thread, states, self.op, owner)
        return replace(self.lowered, graph=graph, rows=rows)

    def _chains(self) -> None:
        """The threads one call after the other, and operations without rows among them."""
        lowered, graph, ops = self.lowered, self.graph, self.program.ops
        arrive_ps = lowered.graph.end[graph.cause[lowered.begun]] + graph.lag[lowered.begun]
        mine = np.flatnonzero(self.op >= 0)
        begun = lowered.begun[self.op[mine]]
        graph.cause[begun] = self.asked[mine]
        graph.lag[begun] = np.maximum(arrive_ps[self.op[mine]] - self.t0_ps[mine], 0)
        bare = np.setdiff1d(np.arange(len(ops)), self.settled.script.op)
        thread = np.concatenate((self.thread, ops["thread"][bare].astype(np.int64)))
        in_ps = np.concatenate((self.t0_ps, arrive_ps[bare]))
        out_ps = np.concatenate((self.t1_ps, lowered.graph.end[lowered.of_return[bare]]))
        out = np.concatenate((self.over, lowered.of_return[bare]))
        order = np.lexsort((out_ps, in_ps, thread))
        self.order, self.out, self.out_ps, self.in_thread = order, out, out_ps, thread
        before = np.append(-1, order[:-1])[: len(order)]
        begins = np.append(True, thread[order[1:]] != thread[order[:-1]])[: len(order)]
        source, from_ps = np.where(begins, 0, out[before]), np.where(begins, 0, out_ps[before])
        creates = np.flatnonzero((self.kind == SyncKind.CREATE) & (self.argument > 0))
        by = dict(zip(self.argument[creates].tolist(), creates.tolist(), strict=True))
        for place in np.flatnonzero(begins).tolist():
            if (row := by.get(int(thread[order[place]]))) is not None:
                source[place], from_ps[place] = self.asked[row], self.t0_ps[row]
        gap_ps = np.maximum(in_ps[order] - from_ps, 0)
        rows = order < len(self.first)
        row = order[rows]
        own_ps = np.asarray(self.settled.own_ps, np.int64)[self.first[row]]
        least_ps = np.minimum(own_ps, gap_ps[rows])
        waited = (self.lender[0][row] >= 0) & (self.lent_ps[0][row] > from_ps[rows])
        self._edge(self.asked[row], source[rows], np.where(waited, least_ps, gap_ps[rows]))
        self.begins_ps: Numbers = np.empty(len(self.first), np.int64)  # from its core on
        self.begins_ps[row] = np.where(waited, NO_LIMIT_PS, least_ps)
        others = lowered.begun[bare[order[~rows] - len(self.first)]]
        graph.cause[others], graph.lag[others] = source[~rows], gap_ps[~rows]
        exits = np.flatnonzero(self.kind == SyncKind.EXIT)
        end, total_ps = lowered.to_end, lowered.total_ps()
        if len(exits):
            graph.cause[end], graph.lag[end] = self.asked[exits[0]], total_ps - self.t0_ps[exits[0]]

    def _causes(self) -> list[_Causes]:
        named = np.asarray(self.table["woken_by"], np.int64)[self.last]
        by = np.where(named >= 0, self.of[named], -1)
        told = np.isin(self.kind, (SyncKind.WAIT, SyncKind.FUTEX_WAIT, SyncKind.ONCE, SyncKind.PIPE, SyncKind.TAKE))
        told = (told | (self.result == SyncResult.CANCELLED)) & (by >= 0) & (self.op < 0)
        ends = np.flatnonzero(self.kind == SyncKind.END)
        end_of = np.full(int(self.thread.max(initial=0)) + 2, -1, np.int64)
        end_of[self.thread[ends]] = ends
        joins = np.flatnonzero((self.kind == SyncKind.JOIN) & (self.argument >= 0) & (self.argument < len(end_of) - 1))
        joined_by = end_of[self.argument[joins]]
        rows = np.concatenate((np.flatnonzero(told), joins[joined_by >= 0]))
        causes = np.concatenate((by[told], joined_by[joined_by >= 0]))
        calls = np.flatnonzero(self.op >= 0)
        returned = self.lowered.of_return[self.op[calls]]
        return [
            _Causes(rows, self.asked[causes], self.t0_ps[causes]),
            _Causes(calls, returned, self.lowered.graph.end[returned]),
            self._tokens(), self._locks(), self._barriers(),
        ]  # fmt: skip

    def _tokens(self) -> _Causes:
        """The post of which each take has what it took."""
        takes = np.flatnonzero((self.kind == SyncKind.TAKE) & (self.result == SyncResult.DONE) & (self.argument > 0))
        posts = np.flatnonzero(self.kind == SyncKind.POST)
        posts = posts[np.lexsort((self.t0_ps[posts], self.object[posts]))]
        before = _places(self.object[posts], self.t0_ps[posts], self.object[takes], self.t0_ps[takes], "left")
        at = before - self.argument[takes]
        there = (at >= 0) & (before > 0)
        takes, at = takes[there], at[there]
        same = self.object[posts[at]] == self.object[takes]
        takes, post = takes[same], posts[at[same]]
        return _Causes(takes, self.asked[post], self.t0_ps[post])

    def _locks(self) -> _Causes:
        """All that released a lock before it was had."""
        waits = self.kind == SyncKind.WAIT
        what = np.where(waits, self.argument, self.object)
        lets = np.flatnonzero((np.isin(self.kind, _UNLOCKS) | waits) & (self.result != SyncResult.REFUSED))
        lets = lets[np.lexsort((self.t0_ps[lets], what[lets]))]
        gets = np.flatnonzero((np.isin(self.kind, _LOCKS) | waits) & (self.result == SyncResult.DONE))
        if not len(lets):
            return _Causes(lets, lets, lets)
        chain = self._more(len(lets))
        self._edge(chain, self.asked[lets], 0)
        goes_on = np.flatnonzero(what[lets[1:]] == what[lets[:-1]])
        self._edge(chain[goes_on + 1], chain[goes_on], 0)
        waited = self.t1_ps[gets] > self.t0_ps[gets]
        until_ps = np.where(waited, self.t1_ps[gets] + 1, self.t0_ps[gets])
        at = _places(what[lets], self.t0_ps[lets], what[gets], until_ps, "left") - 1
        for _ in range(2):  # its own that follows at once
            own = (at >= 0) & (lets[at] > gets) & (self.thread[lets[at]] == self.thread[gets])
            at = np.where(own, at - 1, at)
        there = (at >= 0) & (what[lets[at]] == what[gets])
        return _Causes(gets[there], chain[at[there]], self.t0_ps[lets[at[there]]])

    def _barriers(self) -> _Causes:
        """Those who meet, as soon as the last of them is there."""
        meets = np.flatnonzero((self.kind == SyncKind.BARRIER) & (self.result != SyncResult.REFUSED))
        meets = meets[np.lexsort((self.t0_ps[meets], self.object[meets]))]
        found: list[Numbers] = []
        for what in np.unique(self.object[meets]).tolist():
            mine = meets[self.object[meets] == what]
            count = max(int(self.argument[mine[0]]), 1)
            found += [mine[at : at + count] for at in range(0, len(mine) - count + 1, count)]
        nodes = self._more(len(found))
        if not found:
            return _Causes(nodes, nodes, nodes)
        rows, each = np.concatenate(found), np.repeat(nodes, [len(one) for one in found])
        self._edge(each, self.asked[rows], 0)
        last_ps = np.repeat([int(self.t0_ps[one].max()) for one in found], [len(one) for one in found])
        return _Causes(rows, each, last_ps)

    def _ends(self, causes: list[_Causes]) -> None:
        """Each call is over when the last of its causes is there; what has none has lasted of itself."""
        row, node, at_ps = (np.concatenate(part) for part in zip(*causes, strict=True))
        there = at_ps <= self.t1_ps[row]
        row, node, at_ps = row[there], node[there], at_ps[there]
        latest_ps = np.full(len(self.first), -1, np.int64)
        np.maximum.at(latest_ps, row, at_ps)
        spare_ps = self.t1_ps[row] - at_ps
        core = (self.lender[1] >= 0) & (self.t1_ps - self.lent_ps[1] <= self.switch_ps)
        waited = (self.t1_ps > self.t0_ps) & (latest_ps >= self.t0_ps)
        last = (at_ps == latest_ps[row]) & waited[row] & ~core[row]
        self._edge(self.over[row], node, np.where(last, spare_ps, np.minimum(spare_ps, self.wake_ps)))
        self._edge(self.over, self.asked, np.where(waited | core, 0, self.t1_ps - self.t0_ps))

    def _cores(self) -> None:
        """Who waited for a core had it from another: that is one node each, of the other's."""
        late = [np.flatnonzero(lender >= 0) for lender in self.lender]
        row = np.concatenate(late)
        by = np.concatenate([lender[rows] for lender, rows in zip(self.lender, late, strict=True)])
        at_ps = np.concatenate([lent[rows] for lent, rows in zip(self.lent_ps, late, strict=True)])
        self.lent = self._more(len(row))
        self.lent_by = np.asarray(self.table["block"], np.int64)[by]
        events = np.concatenate((self.asked, self.out))
        times_ps = np.concatenate((self.t0_ps, self.out_ps))
        threads = np.concatenate((self.thread, self.in_thread))
        order = np.lexsort((times_ps, threads))
        at = _places(threads[order], times_ps[order], self.lent_by, at_ps, "right") - 1
        event = order[np.maximum(at, 0)]
        known = (at >= 0) & (threads[event] == self.lent_by)
        self._edge(self.lent, np.where(known, events[event], 0), at_ps - np.where(known, times_ps[event], 0))
        before = np.arange(len(row)) < len(late[0])
        spare_ps = np.where(before, self.t0_ps[row], self.t1_ps[row]) - at_ps
        takes_ps = np.where(before, self.begins_ps[row], self.switch_ps)
        self._edge(np.where(before, self.asked[row], self.over[row]), self.lent, np.minimum(spare_ps, takes_ps))

    def _graph(self) -> Graph:
        graph, more = self.graph, self.nodes - len(self.lowered.graph)
        to, source, lag = (np.concatenate(part) for part in zip(*self._edges, strict=True))
        order = np.argsort(to, kind="stable")
        counts = np.bincount(to - (self.nodes - more), minlength=more)
        return replace(
            graph,
            cause_first=np.append(graph.cause_first, graph.cause_first[-1] + np.cumsum(counts)).astype(np.int64),
            cause=np.append(graph.cause, source[order]).astype(np.int32),
            lag=np.append(graph.lag, lag[order]).astype(np.int64),
            work=np.append(graph.work, np.zeros(more, np.int64)),
            kind=np.append(graph.kind, np.full(more, PLAIN, np.uint8)),
            domain=np.append(graph.domain, np.full(more, HOST, np.uint8)),
            extra=np.append(graph.extra, np.full(more, -1, np.int32)),
        )


def _places(groups: Numbers, times: Numbers, group: Numbers, time: Numbers, side: Literal["left", "right"]) -> Numbers:
    """Where times of groups would be among those that are sorted by group and time."""
    apart = int(max(times.max(initial=0), time.max(initial=0))) + 2
    which = np.unique(np.concatenate((groups, group)), return_inverse=True)[1]
    keys = which[: len(groups)].astype(np.int64) * apart + times
    return np.searchsorted(keys, which[len(groups) :].astype(np.int64) * apart + time, side)


def _states(run: Run, threads: Numbers, at_ps: Numbers) -> Numbers:
    """The states that threads are in at times; 0 where there is no trace."""
    trace, found = trace_of(run), np.zeros(len(threads), np.int64)
    for thread in np.unique(threads).tolist() if trace else ():
        assert trace
        edges, states = trace.row(thread)
        mine = threads == thread
        if len(states):
            at = np.clip(np.searchsorted(edges, at_ps[mine], "right") - 1, 0, len(states) - 1)
            found[mine] = np.asarray(states)[at]
    return found
