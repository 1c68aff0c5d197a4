"""Adds the host's threads to the graph of bus and FPGA, with their waits for each other and for cores.

Each synchronising call is two nodes: when it takes effect and when it is over. Lags are the times of the threads'
replay, so that a sweep reproduces them. Locks and cores keep their order.
"""

from dataclasses import replace
from typing import Any, Literal, NamedTuple

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
_LOCKS = (SyncKind.LOCK, SyncKind.LOCK_READING, SyncKind.LOCK_WRITING, SyncKind.LOCK_SPINNING)
_UNLOCKS = (SyncKind.UNLOCK, SyncKind.UNLOCK_BOTH, SyncKind.UNLOCK_SPINNING)


def joined(program: Program, lowered: Lowered, settled: Settled) -> tuple[Lowered, NDArray[np.int32]] | None:
    """The graph with the threads, and an order that has causes before the nodes that wait for them and keeps each bus's
    sequence; None if the times differ. `lowered` is the graph with the settled threads' times."""
    with_threads = _with_threads(program, lowered, settled)
    in_time = with_threads.graph.sweep_in_time()
    if in_time is None:
        return None
    old, rows, graph = lowered.graph, with_threads.rows, with_threads.graph
    same = np.array_equal(graph.end[: len(old)], old.end) and np.array_equal(graph.begin[: len(old)], old.begin)
    assert rows
    same &= np.array_equal(graph.end[rows.asked], rows.asked_ps) and np.array_equal(graph.end[rows.over], rows.over_ps)
    return (with_threads, _by_bus(graph, in_time)) if same else None


def _by_bus(graph: Graph, in_time: NDArray[np.int32]) -> NDArray[np.int32]:
    """The order in time, with waiters for a bus placed at the time they got it, after the poll that held it before."""
    nodes = np.arange(len(graph))
    polls = graph.kind == POLLS
    key = 2 * times_ps(graph, nodes, np.where(polls, graph.end, graph.begin)) - polls
    source = np.where(graph.cause < 0, ~graph.cause, graph.cause)
    to = np.repeat(nodes, np.diff(graph.cause_first))
    while (late := key[source] > key[to]).any():  # a cycle that began before the event that it shows
        np.maximum.at(key, to[late], key[source[late]])
    place = np.empty(len(graph), np.int64)
    place[in_time] = nodes
    return np.lexsort((place, key)).astype(np.int32)


class _Causes(NamedTuple):
    """The causes of rows: for each the row, a node and its time."""

    row: Numbers
    node: Numbers
    at_ps: Numbers


class _Rows(NamedTuple):
    """The threads' calls that were reached, with all calls of one operation as one row.

    `first` and `last` are a row's calls among all, `of` the row of each call (-1: none), `op` the row's operation (-1:
    none), `asked` and `over` its nodes: when it takes effect, and when it is over.
    """

    first: Numbers
    last: Numbers
    op: Numbers
    of: Numbers
    thread: Numbers
    kind: NDArray[Any]
    result: NDArray[Any]
    object: Numbers
    argument: Numbers
    t0_ps: Numbers
    t1_ps: Numbers
    asked: Numbers
    over: Numbers


class _Cores(NamedTuple):
    """The core that each row's thread got, before the row and at its end: `lender` is the row with which another thread
    freed it (-1: none), `lent_ps` the time. `switch_ps` is the cost of a thread switch, `wake_ps` the added cost of a
    wake-up."""

    lender: tuple[Numbers, Numbers]
    lent_ps: tuple[Numbers, Numbers]
    switch_ps: int
    wake_ps: int


class _Chains(NamedTuple):
    """The ends of calls and operations: nodes, times and threads; and the time from each row's core to its begin."""

    out: Numbers
    out_ps: Numbers
    thread: Numbers
    begins_ps: Numbers


class GrowingGraph:
    """A graph that gets more nodes, and edges to them; the causes and lags of its own nodes may change."""

    def __init__(self, graph: Graph) -> None:
        self.graph = replace(graph, cause=graph.cause.copy(), lag=graph.lag.copy())
        self.nodes = len(graph)
        self._edges: list[tuple[Numbers, Numbers, Numbers]] = []

    def add_nodes(self, number: int) -> Numbers:
        """The numbers of `number` new nodes."""
        self.nodes += number
        return np.arange(self.nodes - number, self.nodes)

    def add_edges(self, to: Numbers, source: Numbers, lag_ps: Numbers | int) -> None:
        """Add edges from any nodes to new ones, each with its lag."""
        self._edges.append((to, source, np.broadcast_to(np.asarray(lag_ps, np.int64), to.shape)))

    def built(self) -> Graph:
        graph, more = self.graph, self.nodes - len(self.graph)
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


def _with_threads(program: Program, lowered: Lowered, settled: Settled) -> Lowered:
    """The graph with the threads' calls, even if its times differ."""
    growing = GrowingGraph(lowered.graph)
    rows = rows_of(settled, growing)
    block, cores = np.asarray(settled.script.rows["block"], np.int64), _cores(settled, rows)
    chains = _chains(program, lowered, settled, rows, cores, growing)
    _ends(rows, cores, _waits(settled, lowered, rows, growing), growing)
    lent, lent_by = _lent(block, rows, cores, chains, growing)
    owner = np.full(growing.nodes, -1, np.int64)
    owner[rows.asked] = owner[rows.over] = rows.thread
    owner[lent] = lent_by
    states = _states(program.run, rows.thread, rows.t0_ps)
    of_host = HostRows(rows.asked, rows.over, rows.t0_ps, rows.t1_ps, rows.thread, states, rows.op, owner)
    return replace(lowered, graph=growing.built(), rows=of_host)


def rows_of(settled: Settled, growing: GrowingGraph) -> _Rows:
    """The rows of the settled threads, each with two new nodes of the graph."""
    script, times, table = settled.script, settled.times, settled.script.rows
    count = len(times.t0_ps)
    first, last, op = np.arange(count), np.arange(count), np.full(count, -1, np.int64)
    heads = script.at[script.number == 0]
    tails = script.at[np.append(script.number[1:] == 0, True)[: len(script.at)]]
    op[heads] = script.op[script.number == 0]
    last[heads] = tails
    within = np.zeros(count + 1, np.int64)
    np.add.at(within, heads + 1, 1)
    np.add.at(within, tails + 1, -1)
    is_first = (np.cumsum(within)[:-1] == 0) & (times.t0_ps >= 0)
    of = np.maximum.accumulate(np.where(is_first, np.cumsum(is_first) - 1, -1))
    first, last = first[is_first], last[is_first]
    t0_ps, t1_ps = times.t0_ps[first], times.t1_ps[last]
    return _Rows(
        first,
        last,
        op[is_first],
        of=np.where(times.t0_ps >= 0, of, -1),
        thread=np.asarray(table["block"], np.int64)[first],
        kind=np.asarray(table["kind"])[first],
        result=np.asarray(table["result"])[first],
        object=np.asarray(table["object"], np.int64)[first],
        argument=np.asarray(table["argument"], np.int64)[first],
        t0_ps=t0_ps,
        t1_ps=np.where(t1_ps < t0_ps, times.end_ps, t1_ps),
        asked=growing.add_nodes(len(first)),
        over=growing.add_nodes(len(first)),
    )


def _cores(settled: Settled, rows: _Rows) -> _Cores:
    """The cores that threads got from each other."""
    times, block, cores = settled.times, np.asarray(settled.script.rows["block"]), settled.script.cores
    late = 2 * rows.first, 2 * rows.last + 1
    lender = [np.where((one >= 0) & (block[one] != rows.thread), one, -1) for one in (times.lender[at] for at in late)]
    lent_ps = [times.lent_ps[at] for at in late]
    switch_ps = cores.call_ps + cores.switch_ps
    return _Cores((lender[0], lender[1]), (lent_ps[0], lent_ps[1]), switch_ps, cores.wake_ps + switch_ps)


def _chains(
    program: Program, lowered: Lowered, settled: Settled, rows: _Rows, cores: _Cores, growing: GrowingGraph
) -> _Chains:
    """Chain the calls of each thread, and operations without a row between them."""
    graph, ops = growing.graph, program.ops
    arrive_ps = lowered.graph.end[graph.cause[lowered.begun]] + graph.lag[lowered.begun]
    mine = np.flatnonzero(rows.op >= 0)
    begun = lowered.begun[rows.op[mine]]
    graph.cause[begun] = rows.asked[mine]
    graph.lag[begun] = np.maximum(arrive_ps[rows.op[mine]] - rows.t0_ps[mine], 0)
    bare = np.setdiff1d(np.arange(len(ops)), settled.script.op)
    thread = np.concatenate((rows.thread, ops["thread"][bare].astype(np.int64)))
    in_ps = np.concatenate((rows.t0_ps, arrive_ps[bare]))
    out_ps = np.concatenate((rows.t1_ps, lowered.graph.end[lowered.of_return[bare]]))
    out = np.concatenate((rows.over, lowered.of_return[bare]))
    order = np.lexsort((out_ps, in_ps, thread))
    before = np.append(-1, order[:-1])[: len(order)]
    changes = thread[order[1:]] != thread[order[:-1]]
    begins = np.append(True, changes)[: len(order)]
    source, from_ps = np.where(begins, 0, out[before]), np.where(begins, 0, out_ps[before])
    creates = np.flatnonzero((rows.kind == SyncKind.CREATE) & (rows.argument > 0))
    by = dict(zip(rows.argument[creates].tolist(), creates.tolist(), strict=True))
    for place in np.flatnonzero(begins).tolist():
        if (row := by.get(int(thread[order[place]]))) is not None:
            source[place], from_ps[place] = rows.asked[row], rows.t0_ps[row]
    gap_ps = np.maximum(in_ps[order] - from_ps, 0)
    is_row = order < len(rows.first)
    row = order[is_row]
    own_ps = np.asarray(settled.own_ps, np.int64)[rows.first[row]]
    least_ps = np.minimum(own_ps, gap_ps[is_row])
    waited = (cores.lender[0][row] >= 0) & (cores.lent_ps[0][row] > from_ps[is_row])
    growing.add_edges(rows.asked[row], source[is_row], np.where(waited, least_ps, gap_ps[is_row]))
    begins_ps = np.empty(len(rows.first), np.int64)  # from the time it got its core
    begins_ps[row] = np.where(waited, NO_LIMIT_PS, least_ps)
    begun_edges = lowered.begun[bare[order[~is_row] - len(rows.first)]]
    graph.cause[begun_edges], graph.lag[begun_edges] = source[~is_row], gap_ps[~is_row]
    exits = np.flatnonzero(rows.kind == SyncKind.EXIT)
    end, total_ps = lowered.to_end, lowered.total_ps()
    if len(exits):
        graph.cause[end], graph.lag[end] = rows.asked[exits[0]], total_ps - rows.t0_ps[exits[0]]
    return _Chains(out, out_ps, thread, begins_ps)


def _waits(settled: Settled, lowered: Lowered, rows: _Rows, growing: GrowingGraph) -> list[_Causes]:
    """The causes that rows wait for: other rows, their operations, tokens, locks and barriers."""
    waker_calls = np.asarray(settled.script.rows["woken_by"], np.int64)[rows.last]
    by = np.where(waker_calls >= 0, rows.of[waker_calls], -1)
    is_woken = np.isin(rows.kind, (SyncKind.WAIT, SyncKind.FUTEX_WAIT, SyncKind.ONCE, SyncKind.PIPE, SyncKind.TAKE))
    is_woken = (is_woken | (rows.result == SyncResult.CANCELLED)) & (by >= 0) & (rows.op < 0)
    ends = np.flatnonzero(rows.kind == SyncKind.END)
    end_of = np.full(int(rows.thread.max(initial=0)) + 2, -1, np.int64)
    end_of[rows.thread[ends]] = ends
    joins = np.flatnonzero((rows.kind == SyncKind.JOIN) & (rows.argument >= 0) & (rows.argument < len(end_of) - 1))
    joined_by = end_of[rows.argument[joins]]
    woken = np.concatenate((np.flatnonzero(is_woken), joins[joined_by >= 0]))
    causes = np.concatenate((by[is_woken], joined_by[joined_by >= 0]))
    calls = np.flatnonzero(rows.op >= 0)
    returned = lowered.of_return[rows.op[calls]]
    messages = np.flatnonzero((rows.kind == SyncKind.AWAIT_MESSAGE) & (by >= 0))
    return [
        _messages(settled, rows, messages, by[messages], growing),
        _Causes(woken, rows.asked[causes], rows.t0_ps[causes]),
        _Causes(calls, returned, lowered.graph.end[returned]),
        _tokens(rows), _locks(rows, growing), _barriers(rows, growing),
    ]  # fmt: skip


def _messages(settled: Settled, rows: _Rows, takes: Numbers, sends: Numbers, growing: GrowingGraph) -> _Causes:
    """The cause of each receive: the message, which arrives after its recorded transfer time."""
    lag_ps = settled.script.replay.lag_ps[rows.first[takes]]
    arrivals = growing.add_nodes(len(takes))
    growing.add_edges(arrivals, rows.asked[sends], lag_ps)
    return _Causes(takes, arrivals, rows.t0_ps[sends] + lag_ps)


def _tokens(rows: _Rows) -> _Causes:
    """The cause of each take of a semaphore: the post whose token it took."""
    takes = np.flatnonzero((rows.kind == SyncKind.TAKE) & (rows.result == SyncResult.DONE) & (rows.argument > 0))
    posts = np.flatnonzero(rows.kind == SyncKind.POST)
    posts = posts[np.lexsort((rows.t0_ps[posts], rows.object[posts]))]
    before = _places(rows.object[posts], rows.t0_ps[posts], rows.object[takes], rows.t0_ps[takes], "left")
    at = before - rows.argument[takes]
    has_post = (at >= 0) & (before > 0)
    takes, at = takes[has_post], at[has_post]
    same = rows.object[posts[at]] == rows.object[takes]
    takes, post = takes[same], posts[at[same]]
    return _Causes(takes, rows.asked[post], rows.t0_ps[post])


def _locks(rows: _Rows, growing: GrowingGraph) -> _Causes:
    """The causes of each lock: all earlier releases of it."""
    waits = rows.kind == SyncKind.WAIT
    mutex = np.where(waits, rows.argument, rows.object)
    lets = np.flatnonzero((np.isin(rows.kind, _UNLOCKS) | waits) & (rows.result != SyncResult.REFUSED))
    lets = lets[np.lexsort((rows.t0_ps[lets], mutex[lets]))]
    locks = np.flatnonzero((np.isin(rows.kind, _LOCKS) | waits) & (rows.result == SyncResult.DONE))
    if not len(lets):
        return _Causes(lets, lets, lets)
    chain = growing.add_nodes(len(lets))
    growing.add_edges(chain, rows.asked[lets], 0)
    goes_on = np.flatnonzero(mutex[lets[1:]] == mutex[lets[:-1]])
    growing.add_edges(chain[goes_on + 1], chain[goes_on], 0)
    waited = rows.t1_ps[locks] > rows.t0_ps[locks]
    until_ps = np.where(waited, rows.t1_ps[locks] + 1, rows.t0_ps[locks])
    at = _places(mutex[lets], rows.t0_ps[lets], mutex[locks], until_ps, "left") - 1
    for _ in range(2):  # its own that follows at once
        own_unlock = (at >= 0) & (lets[at] > locks) & (rows.thread[lets[at]] == rows.thread[locks])
        at = np.where(own_unlock, at - 1, at)
    has_unlock = (at >= 0) & (mutex[lets[at]] == mutex[locks])
    return _Causes(locks[has_unlock], chain[at[has_unlock]], rows.t0_ps[lets[at[has_unlock]]])


def _barriers(rows: _Rows, growing: GrowingGraph) -> _Causes:
    """The causes at barriers: all participants, so that the last one releases them."""
    meets = np.flatnonzero((rows.kind == SyncKind.BARRIER) & (rows.result != SyncResult.REFUSED))
    meets = meets[np.lexsort((rows.t0_ps[meets], rows.object[meets]))]
    meetings: list[Numbers] = []
    for barrier in np.unique(rows.object[meets]).tolist():
        mine = meets[rows.object[meets] == barrier]
        count = max(int(rows.argument[mine[0]]), 1)
        meetings += [mine[at : at + count] for at in range(0, len(mine) - count + 1, count)]
    nodes = growing.add_nodes(len(meetings))
    if not meetings:
        return _Causes(nodes, nodes, nodes)
    met, meeting_node = np.concatenate(meetings), np.repeat(nodes, [len(one) for one in meetings])
    growing.add_edges(meeting_node, rows.asked[met], 0)
    last_ps = np.repeat([int(rows.t0_ps[one].max()) for one in meetings], [len(one) for one in meetings])
    return _Causes(met, meeting_node, last_ps)


def _ends(rows: _Rows, cores: _Cores, causes: list[_Causes], growing: GrowingGraph) -> None:
    """Add edges so that each call ends with its last cause; a call without causes keeps its length."""
    row, node, at_ps = (np.concatenate(part) for part in zip(*causes, strict=True))
    in_time = at_ps <= rows.t1_ps[row]
    row, node, at_ps = row[in_time], node[in_time], at_ps[in_time]
    latest_ps = np.full(len(rows.first), -1, np.int64)
    np.maximum.at(latest_ps, row, at_ps)
    spare_ps = rows.t1_ps[row] - at_ps
    core = (cores.lender[1] >= 0) & (rows.t1_ps - cores.lent_ps[1] <= cores.switch_ps)
    waited = (rows.t1_ps > rows.t0_ps) & (latest_ps >= rows.t0_ps)
    last = (at_ps == latest_ps[row]) & waited[row] & ~core[row]
    growing.add_edges(rows.over[row], node, np.where(last, spare_ps, np.minimum(spare_ps, cores.wake_ps)))
    growing.add_edges(rows.over, rows.asked, np.where(waited | core, 0, rows.t1_ps - rows.t0_ps))


def _lent(
    block: Numbers, rows: _Rows, cores: _Cores, chains: _Chains, growing: GrowingGraph
) -> tuple[Numbers, Numbers]:
    """A node of the lending thread for each core that a thread waited for. Returns the nodes and their threads."""
    late = [np.flatnonzero(lender >= 0) for lender in cores.lender]
    row = np.concatenate(late)
    by = np.concatenate([lender[at] for lender, at in zip(cores.lender, late, strict=True)])
    at_ps = np.concatenate([lent[at] for lent, at in zip(cores.lent_ps, late, strict=True)])
    lent = growing.add_nodes(len(row))
    lent_by = block[by]
    events = np.concatenate((rows.asked, chains.out))
    times_ps = np.concatenate((rows.t0_ps, chains.out_ps))
    threads = np.concatenate((rows.thread, chains.thread))
    order = np.lexsort((times_ps, threads))
    at = _places(threads[order], times_ps[order], lent_by, at_ps, "right") - 1
    event = order[np.maximum(at, 0)]
    same_thread = (at >= 0) & (threads[event] == lent_by)
    growing.add_edges(lent, np.where(same_thread, events[event], 0), at_ps - np.where(same_thread, times_ps[event], 0))
    before = np.arange(len(row)) < len(late[0])
    spare_ps = np.where(before, rows.t0_ps[row], rows.t1_ps[row]) - at_ps
    takes_ps = np.where(before, chains.begins_ps[row], cores.switch_ps)
    growing.add_edges(np.where(before, rows.asked[row], rows.over[row]), lent, np.minimum(spare_ps, takes_ps))
    return lent, lent_by


def _places(groups: Numbers, times: Numbers, group: Numbers, time: Numbers, side: Literal["left", "right"]) -> Numbers:
    """The insertion positions of times of groups among those sorted by group and time."""
    apart = int(max(times.max(initial=0), time.max(initial=0))) + 2
    group_index = np.unique(np.concatenate((groups, group)), return_inverse=True)[1]
    keys = group_index[: len(groups)].astype(np.int64) * apart + times
    return np.searchsorted(keys, group_index[len(groups) :].astype(np.int64) * apart + time, side)


def _states(run: Run, threads: Numbers, at_ps: Numbers) -> Numbers:
    """The states of threads at these times; 0 without a trace."""
    trace, in_state = trace_of(run), np.zeros(len(threads), np.int64)
    for thread in np.unique(threads).tolist() if trace else ():
        assert trace
        edges, states = trace.row(thread)
        mine = threads == thread
        if len(states):
            at = np.clip(np.searchsorted(edges, at_ps[mine], "right") - 1, 0, len(states) - 1)
            in_state[mine] = np.asarray(states)[at]
    return in_state
