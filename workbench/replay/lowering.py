"""Lowers a program to a graph; its sweep computes when everything happens."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from workbench.model.run_tables import RowArray
from workbench.replay.engine import POLLS, POLLS_ROW, TRANSFER, Graph
from workbench.replay.events import STAY, word_ps
from workbench.replay.fpga import waiting_stays
from workbench.replay.host import ASK, ASYNC, AWAIT, IRQ, MOVE
from workbench.replay.program import Program, work_ps

Numbers = NDArray[np.int64]


@dataclass(frozen=True)
class Jitter:
    """Values that a run leaves uncertain: the offset of polls (ps), one more cycle until an answer is seen, the share
    of code around removed calls that is removed too, the position (0 to 1) of answers with known bounds, and the
    slowdown of code that was made faster."""

    first_ps: int = 0
    seen: int = 0
    loop: float = 0.0
    late: float = 0.0
    slow: float = 0.0


@dataclass(frozen=True)
class HostRows:
    """Synchronising calls and card calls of threads: the nodes at which each takes effect and is over, their times, its
    thread, the thread's state, and its operation (-1: none). `owner` is the thread that each node belongs to (-1:
    none)."""

    asked: Numbers
    over: Numbers
    asked_ps: Numbers
    over_ps: Numbers
    thread: Numbers
    state: Numbers
    op: Numbers
    owner: Numbers


@dataclass(frozen=True)
class Lowered:
    """A graph with the nodes of operations, of their return, of stretches and of the run's end, and the edge to the
    end.

    `marks` are nodes of moments within stretches and operations, each after one edge from its begin. `begun` are the
    edges by which each operation follows the one before it, `lag_ps` their lags, `loop_ps` the part of a lag that may
    go with removed calls, and `unsure_ps` the part that may be added; `asks` are the polling operations. `answered` are
    the edges by which answers arrive, `room` the cycles by which they may be later according to the run, and `opaque`
    whether nothing else is known of them. `rows` are calls of several threads, if these are in the graph.
    """

    graph: Graph
    of_op: Numbers
    of_return: Numbers
    of_stretch: Numbers
    last: int
    to_end: int
    begun: Numbers
    lag_ps: Numbers
    loop_ps: Numbers
    unsure_ps: Numbers
    asks: Numbers
    answered: Numbers
    room: Numbers
    opaque: NDArray[np.bool_]
    marks: Numbers
    rows: HostRows | None = None

    def total_ps(self) -> int:
        return int(self.graph.end[self.last])

    def varied_ps(self, order: NDArray[np.int32], jitters: Iterable[Jitter]) -> Iterator[int]:
        """The run's time (ps) for each of these values, with the nodes in this order; the graph stays as it is."""
        graph, place = self.graph.reordered(order)
        last = int(np.flatnonzero(order == self.last)[0])
        lowered = replace(self, graph=graph, last=last, begun=place[self.begun], answered=place[self.answered])
        for jitter in jitters:
            lowered.vary(jitter)
            graph.sweep()
            yield lowered.total_ps()

    def vary(self, jitter: Jitter) -> None:
        lag = self.lag_ps + np.rint(self.unsure_ps * jitter.slow - self.loop_ps * jitter.loop).astype(np.int64)
        lag[self.asks] += jitter.first_ps
        self.graph.lag[self.begun] = np.maximum(lag, 0)
        late = np.where(self.opaque, np.rint(self.room * jitter.late), np.minimum(self.room, jitter.seen))
        self.graph.lag[self.answered] = late


def lower(program: Program) -> Lowered:
    """The program as a graph."""
    return _Lowering(program).lowered()


class _Lowering:
    """Builds nodes and edges: the run's begin, the operations, the FPGA's stretches, the run's end, and nodes between
    them."""

    def __init__(self, program: Program) -> None:
        self.program, self.ops, self.fpga = program, program.ops, program.fpga
        self.lasts = work_ps(program)
        count = len(self.ops)
        self.later = self.ops["kind"] == ASYNC
        # asynchronous operations have a node for the host's part before their transfer
        self.of_arrival: Numbers = 1 + np.arange(count) + np.cumsum(self.later) - self.later
        self.of_op: Numbers = self.of_arrival + self.later
        first = 1 + count + int(self.later.sum())
        self.of_stretch: Numbers = first + np.arange(len(self.fpga.first))
        self.last = first + len(self.fpga.first)
        self.nodes = 0
        self._columns: list[tuple[NDArray[np.uint8], NDArray[np.uint8], Numbers, NDArray[np.int32]]] = []
        self._edges: list[tuple[Numbers, Numbers, Numbers]] = []
        self._edge_count = 0
        self._marks: list[Numbers] = []
        self._more(0, self.last + 1)
        self.kind, self.domain, self.work, self.extra = self._columns[0]
        self.waiting = waiting_stays(self.fpga, program.run.manifest.blocks)
        self.worked = np.append(0, np.cumsum(np.where(self.waiting, 0, program.stays)))
        self.of_return = np.where(self.later, self.of_arrival, self.of_op)

    def lowered(self) -> Lowered:
        program = self.program
        chain, lag, end = self._host()
        self._stretches()
        of_stays = program.edges["kind"] == STAY
        for some, from_events in ((program.edges[of_stays], self._from_stays), (program.edges[~of_stays], None)):
            to, lags = self.of_stretch[some["stretch"]], some["lag"].astype(np.int64)
            if from_events:
                from_events(some["source"].astype(np.int64), lags, to)
            else:
                self._from_words(some["source"].astype(np.int64), some["byte"].astype(np.int64), lags, to)
        asks = np.flatnonzero(self.ops["kind"] == ASK)
        rows = self._questions(asks)
        answered, room, opaque = self._answers()
        graph, place = self._graph(rows, self._bus()[asks])
        return Lowered(
            graph, self.of_op, self.of_return, self.of_stretch, self.last, int(place[end[0]]), place[chain], lag,
            program.loop_ps, program.unsure_ps, asks, place[answered], room, opaque,
            np.concatenate([np.zeros(0, np.int64), *self._marks]),
        )  # fmt: skip

    def _more(self, domain: Numbers | int, number: int) -> Numbers:
        """Add plain nodes without work, and return their numbers."""
        domains = np.array(np.broadcast_to(np.asarray(domain, np.uint8), number))
        none = np.full(number, -1, np.int32)
        self._columns.append((np.zeros(number, np.uint8), domains, np.zeros(number, np.int64), none))
        self.nodes += number
        return np.arange(self.nodes - number, self.nodes)

    def _edge(self, to: Numbers | int, source: Numbers | int, lag: Numbers | int) -> Numbers:
        """Add edges, and return their numbers before sorting."""
        parts = [np.asarray(part, np.int64) for part in (to, source, lag)]
        count = max(part.size for part in parts) if all(part.size for part in parts) else 0
        if count:
            targets, sources, lags = (np.broadcast_to(part, count) for part in parts)
            self._edges.append((targets, sources, lags))
        self._edge_count += count
        return np.arange(self._edge_count - count, self._edge_count)

    def _bus(self) -> NDArray[np.int32]:
        overlaps = np.array([*(table.overlaps for _, table in self.program.tables), False])[self.ops["table"]]
        return np.where(overlaps, -1, self.ops["bus"]).astype(np.int32)

    def _host(self) -> tuple[Numbers, Numbers, Numbers]:
        """Add the edges between consecutive operations of each thread, and to the run's end; returns the edges with
        their lags and the edge to the run's end."""
        ops, program, count = self.ops, self.program, len(self.ops)
        lag = ops["own_ps"] + ops["before_ps"] + program.delay_ps
        lag[1:] += ops["after_ps"][:-1]
        previous = np.append(0, self.of_return[:-1])[:count]
        begins = np.append(True, ops["thread"][1:] != ops["thread"][:-1])[:count]
        previous[begins], lag[begins] = 0, (ops["own_ps"] + ops["before_ps"] + program.delay_ps)[begins]
        chain = self._edge(self.of_arrival, previous, lag)
        self._edge(self.of_op[self.later], self.of_arrival[self.later], 0)
        self.work[self.of_op] = np.where(np.isin(ops["kind"], (AWAIT, IRQ)), 0, self.lasts)
        moves = np.isin(ops["kind"], (MOVE, ASYNC))
        self.kind[self.of_op[moves]] = TRANSFER
        self.extra[self.of_op[moves]] = self._bus()[moves]
        self._transfers_under_way()
        for number, stretch in program.results:
            if (op := int(program.at[number])) >= 0:
                self._edge(int(self.of_op[op]), int(self.of_stretch[stretch]), 0)
        if count:
            thread = program.host.last_thread
            end = np.flatnonzero(ops["thread"] == thread)[-1]
            rest_ps = program.rest_ps.get(thread, 0) + int(ops["after_ps"][end])
            return chain, lag, self._edge(self.last, self.of_return[end], rest_ps)
        return chain, lag, self._edge(self.last, 0, program.run.manifest.time_ps)

    def _transfers_under_way(self) -> None:
        """Let a wait end with the last asynchronous transfer before it, and let a transfer with a limited number of
        buffers wait for the one that used its buffer."""
        ops, later = self.ops, np.flatnonzero(self.later)
        if not len(later):
            return
        waits = np.flatnonzero(ops["kind"] == AWAIT)
        before = np.searchsorted(later, waits) - 1
        some = before >= 0
        some &= ops["thread"][later[np.maximum(before, 0)]] == ops["thread"][waits]
        self._edge(self.of_op[waits[some]], self.of_op[later[before[some]]], 0)
        for number in np.unique(self.program.buffers[later]).tolist():
            mine = later[self.program.buffers[later] == number]
            if number and len(mine) > number:
                self._edge(self.of_arrival[mine[number:]], self.of_op[mine[:-number]], 0)

    def _stretches(self) -> None:
        fpga = self.fpga
        if not len(fpga.first):
            return
        stops = np.append(fpga.first[1:], len(fpga.stay_block))
        self.domain[self.of_stretch] = np.array(fpga.clock, np.int64)[fpga.block] + 1
        self.work[self.of_stretch] = self.worked[stops] - self.worked[fpga.first]
        begun = fpga.begins
        self._edge(self.of_stretch[begun], 0, 0)
        self._edge(self.of_stretch[1:][~begun[1:]], self.of_stretch[:-1][~begun[1:]],
                   self.program.lag_after[1:][~begun[1:]])  # fmt: skip

    def _from_stays(self, stays: Numbers, lag: Numbers, to: Numbers) -> None:
        """Add edges from the beginnings of stays."""
        fpga = self.fpga
        stretch = fpga.stretch_of[stays]
        at_begin = stays == fpga.first[stretch]
        at_end = self.waiting[stays] & ~at_begin
        self._edge(to[at_begin], ~self.of_stretch[stretch[at_begin]], lag[at_begin])
        self._edge(to[at_end], self.of_stretch[stretch[at_end]], lag[at_end])
        within = ~(at_begin | at_end)
        if within.any():
            clocks = np.array(fpga.clock, np.int64)[fpga.stay_block[stays[within]]]
            marks = self._more(clocks + 1, int(within.sum()))
            self._marks.append(marks)
            offset = self.worked[stays[within]] - self.worked[fpga.first[stretch[within]]]
            self._edge(marks, ~self.of_stretch[stretch[within]], offset)
            self._edge(to[within], marks, lag[within])

    def _from_words(self, source: Numbers, byte: Numbers, lag: Numbers, to: Numbers) -> None:
        """Add edges from words of the run's operations, without removed ones."""
        program, ops = self.program, self.ops
        operation = program.at[source]
        exists = operation >= 0
        operation, to, lag, byte, source = operation[exists], to[exists], lag[exists], byte[exists], source[exists]
        was, now = np.maximum(program.host.ops["bytes"][source], 1), program.span[source]
        ends = program.byte[source] + np.where(byte < 0, now, -(-byte * now // was))
        part = np.clip((ends - 1) // np.maximum(ops["bytes"][operation], 1), 0, program.parts[source] - 1)
        operation, ends = operation + part, ends - part * ops["bytes"][operation]
        is_last_byte = ends >= ops["bytes"][operation]
        last = is_last_byte & (ops["shorter"][operation] == 0)
        self._edge(to[last], self.of_op[operation[last]], lag[last])
        others = ~last
        if others.any():
            marks = self._more(0, int(others.sum()))
            self._marks.append(marks)
            changed = ops.copy()
            changed["work_ps"] = self.lasts
            width = np.array([*program.host.word_bytes, 4], np.int64)[ops["table"]]
            through = np.where(is_last_byte, -1, ends)[others]
            after = word_ps(changed, width, operation[others], through, program.host, program.periods_ps)
            self._edge(marks, ~self.of_op[operation[others]], after)
            self._edge(to[others], marks, lag[others])

    def _questions(self, asks: Numbers) -> RowArray:
        """The polling parameters of each row of polls."""
        ops = self.ops
        self.kind[self.of_op[asks]] = POLLS
        self.extra[self.of_op[asks]] = np.arange(len(asks))
        rows = np.zeros(len(asks), POLLS_ROW)
        port = np.array([*self.program.host.clock_of_table, 0], np.int64)[ops["table"][asks]]
        rows["gap_ps"], rows["sample_ps"] = ops["gap_ps"][asks], self.lasts[asks]
        rows["gap_first"], rows["gap_count"] = ops["gap_first"][asks], ops["gaps"][asks]
        rows["clock"], rows["shorter"] = port + 1, ops["shorter"][asks]
        return rows

    def _answers(self) -> tuple[Numbers, Numbers, NDArray[np.bool_]]:
        """The edges by which answers arrive, the cycles by which they may be later, and whether nothing else is known
        of them. The event is the last cause of a row of polls."""
        ops, program = self.ops, self.program
        edges: list[tuple[int, int, int]] = []
        answered, room, opaque = [], [], []
        for op in np.flatnonzero(np.isin(ops["kind"], (ASK, IRQ))).tolist():
            answer = program.answers.get(int(program.base[op]))
            asks = ops["kind"][op] == ASK
            target = int(self.of_op[op])
            if answer is None:  # as it was recorded
                end = int(ops["end_ps"][op] - ops["after_ps"][op])
                edges.append((target, 0, int(ops["failed"][op]) + 1 if asks else end))
                continue
            host = program.host
            clock = host.clock_of_table[int(ops["table"][op])] if asks else host.clock_of_interrupt
            join = self._more(clock + 1, 1)
            sources = np.array(answer.sources, np.int64)
            to, lags = np.repeat(join, len(sources)), np.full(len(sources), answer.lag)
            if answer.kind == STAY:
                self._from_stays(sources, lags, to)
            else:
                self._from_words(sources, np.full(len(sources), answer.byte), lags, to)
            answered.append(len(edges))
            edges.append((target, int(join[0]), 0))
            room.append(max(answer.latest - answer.lag, 0))
            opaque.append(answer.opaque)
        numbers = np.zeros(0, np.int64)
        if edges:
            to, source, lag = np.array(edges, np.int64).T
            numbers = self._edge(to, source, lag)
        return numbers[np.array(answered, np.int64)], np.array(room, np.int64), np.array(opaque, bool)

    def _graph(self, rows: RowArray, bus_of_polls: NDArray[np.int32]) -> tuple[Graph, Numbers]:
        """The graph, and the position of each edge in it."""
        to, source, lag = (np.concatenate(part) for part in zip(*self._edges, strict=True))
        order = np.argsort(to, kind="stable")
        place = np.empty(len(order), np.int64)
        place[order] = np.arange(len(order))
        kind, domain, work, extra = (np.concatenate(part) for part in zip(*self._columns, strict=True))
        graph = Graph(
            np.append(0, np.cumsum(np.bincount(to, minlength=self.nodes))).astype(np.int64),
            source[order].astype(np.int32),
            lag[order].astype(np.int64),
            work,
            kind,
            domain,
            extra,
            self.program.periods_ps,
            len(self.program.buses),
            rows,
            self.program.host.gaps_ps,
            bus_of_polls,
            bool((self.ops["thread"] == self.ops["thread"][:1]).all()),
        )
        return graph, place
