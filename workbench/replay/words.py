"""Replays the words of a design's streams with other FIFO depths: the time of each transfer, and of the last one.

A word's transfer follows the one before it on its stream, and what its source needed to offer it and its target to take
it (`flow.py`). In a pipeline it follows the pipeline's moves, at a FIFO its push or the pop that made room, and at the
design's ends the host's transfers by the rules of `resources/card/README.md`.
"""

import ctypes
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from workbench.replay.compiled import compiled
from workbench.replay.flow import FlowBlock, GroupedTraffic, Side, Way, blocks_of, together, way_of
from workbench.replay.traffic import Cycles, HostTransfer, Traffic, cycles_before

_TIME = -1  # the clock number of times in ps
_ROOM = 1  # cycles from a pop until the place can be taken again
_ROOM_ACROSS = 2  # the same of a FIFO that crosses clocks: two synchronising registers


@dataclass(frozen=True)
class WordTimes:
    """`cycles` is the first clock's cycle of the last transfer, None if words that the host waits for, or that leave
    the design, are stuck; `times` holds the time of each node."""

    cycles: int | None
    times: Cycles


class WordReplay:
    """A run's words, prepared for replay. `known` are runs of the same words with other depths, which help to model the
    blocks. `capacity` is each FIFO's depth in the run, by index (0: unlimited).

    `why` gives reasons for possible errors. The streams at the ends in `driven` wait for what `queues.c` computes.
    """

    def __init__(
        self, run: Traffic, capacity: Mapping[int, int], known: Sequence[Traffic] = (),
        driven: Collection[int] = (),
    ) -> None:  # fmt: skip
        self.traffic, self.why, self._driven = run, list[str](), driven
        merged = [pair for pair in together(run) if all(pair in together(other) for other in known)]
        self._runs = [GroupedTraffic(one, merged) for one in (run, *known)]
        self._count, self._clock = 0, list[NDArray[np.int32]]()
        self._earliest: list[Cycles] = []
        self._late: list[tuple[NDArray[np.int64], Cycles]] = []
        self._edges: list[NDArray[np.int64]] = []  # rows: from, to, lag
        self._pipes: list[tuple[NDArray[np.int64], NDArray[np.int64], int]] = []  # taken, given, latency
        self._nodes = self._number()
        self._follow_streams()
        self._add_fifos()
        for block in blocks_of(run):
            self._add_block(block)
        self._required: list[NDArray[np.int64]] = []
        self._add_host()
        self._room = {number: self._capacity(number, capacity) for number in range(len(run.fifos))}
        self._finish()

    # -- nodes

    def _number(self) -> list[NDArray[np.int64]]:
        """The nodes of each stream's transfers; transfers of a group in one cycle share a node."""
        seen, traffic = self._runs[0], self.traffic
        nodes: list[NDArray[np.int64]] = [np.empty(0, np.int64)] * len(traffic.streams)
        for group in dict.fromkeys(seen.group.get(n, -1 - n) for n in range(len(traffic.streams))):
            members = [n for n in range(len(traffic.streams)) if seen.group.get(n, -1 - n) == group]
            cycles = np.sort(np.concatenate([traffic.cycles[n] for n in members]))
            cycles = cycles[np.flatnonzero(np.diff(cycles, prepend=-1))]
            numbers = self._new(len(cycles), traffic.clocks[members[0]])
            for member in members:
                nodes[member] = numbers[np.searchsorted(cycles, traffic.cycles[member])]
        return nodes

    def _new(self, count: int, clock: int, earliest: Cycles | int = 0) -> NDArray[np.int64]:
        numbers = np.arange(self._count, self._count + count)
        self._count += count
        self._clock.append(np.full(count, clock, np.int32))
        self._earliest.append(np.broadcast_to(np.asarray(earliest, np.int64), (count,)).copy())
        return numbers

    def _edge(self, cause: NDArray[np.int64], node: NDArray[np.int64], lag: Cycles | int) -> None:
        lags = np.broadcast_to(np.asarray(lag, np.int64), np.shape(node))
        differs = cause != node
        self._edges.append(np.stack((cause, node, lags))[:, differs])

    def _not_before(self, nodes: NDArray[np.int64], earliest: Cycles) -> None:
        self._late.append((nodes, earliest))

    # -- edges

    def _follow_streams(self) -> None:
        for nodes in self._nodes:
            self._edge(nodes[:-1], nodes[1:], 1)

    def _add_fifos(self) -> None:
        traffic, seen = self.traffic, self._runs[0]
        for fifo in traffic.fifos:
            count = min(len(traffic.cycles[fifo.input]), len(traffic.cycles[fifo.output]))
            if not count:
                continue
            pushes = seen.on_clock_of(fifo.input, fifo.output)[:count]
            offered = traffic.offered[fifo.output][:count]
            lag = int((offered - pushes).min())
            own_begin = seen.own(Side(fifo.output, takes=False))[:count]
            if (np.maximum(pushes + lag, own_begin) != offered).any():
                self.why.append(f"{fifo.id} does not give each word as soon after it was taken")
            self._edge(self._nodes[fifo.input][:count], self._nodes[fifo.output][:count], lag)

    def _capacity(self, number: int, capacity: Mapping[int, int]) -> int:
        """A FIFO's depth in the run: its largest occupancy if it ever held up its source, else 0 (unlimited)."""
        if number in capacity:
            return capacity[number]
        fifo, traffic = self.traffic.fifos[number], self.traffic
        held_up = (traffic.taken[fifo.input] > self._runs[0].own(Side(fifo.input, takes=True))).any()
        return traffic.most(fifo) if held_up else 0

    def _room_lag(self, number: int) -> int:
        """Cycles from a pop until its place can be filled; across clocks, as the run shows."""
        fifo, traffic, seen = self.traffic.fifos[number], self.traffic, self._runs[0]
        if traffic.clocks[fifo.input] == traffic.clocks[fifo.output]:
            return _ROOM
        room, taken = self._room[number], traffic.taken[fifo.input]
        late = np.flatnonzero(taken > seen.own(Side(fifo.input, takes=True)))
        late = late[(late >= room) & (late - room < len(traffic.cycles[fifo.output]))] if room else late[:0]
        if not len(late):
            return _ROOM_ACROSS
        return int((taken[late] - seen.on_clock_of(fifo.output, fifo.input)[late - room]).min())

    def _add_block(self, block: FlowBlock) -> None:
        seen = self._runs[0]
        block = replace(block, sides=tuple(side for side in block.sides if side.stream not in self._driven))
        if not block.sides or (not block.name and block.sides[0].stream in self._of_host):
            return
        held_of = {side: seen.unexplained(side) for side in block.sides}
        mine_of = [side for side, is_held in held_of.items() if is_held is None or is_held.any()]
        if not mine_of:
            return
        way = way_of(self._runs, block)
        if way.why:
            self.why.append(f"{block.name or 'the host'}: {way.why}")
        if way.latency and not self._add_pipeline(block, way):
            self.why.append(f"{block.name}: a word goes to several pipelines at once")
        for side in mine_of:
            nodes, is_held = self._nodes[side.stream], held_of[side]
            for part in (*way.after[side], *way.also.get(side, ())):
                mine = part.cause >= 0 if is_held is None else (part.cause >= 0) & is_held
                self._edge(self._nodes[part.of][part.cause[mine]], nodes[mine], part.lag[mine])
            self._not_before(nodes, way.earliest[side] if is_held is None else np.where(is_held, way.earliest[side], 0))

    def _add_pipeline(self, block: FlowBlock, way: Way) -> bool:
        (into,) = (self._nodes[side.stream] for side in block.sides if side.takes)
        (out,) = (self._nodes[side.stream] for side in block.sides if not side.takes)
        used = [nodes for pair in self._pipes for nodes in pair[:2]]
        if any(np.isin(into, nodes).any() or np.isin(out, nodes).any() for nodes in used):
            return False
        self._pipes.append((into, out, way.latency))
        return True

    # -- the host

    @cached_property
    def _of_host(self) -> set[int]:
        """The design's streams whose words the host's transfers account for."""
        words: dict[int, int] = {}
        for transfer in self.traffic.host:
            words[transfer.stream] = words.get(transfer.stream, 0) + transfer.words
        return {
            stream for stream, count in words.items()
            if stream >= 0 and count == len(self.traffic.cycles[stream])
        }  # fmt: skip

    def _add_host(self) -> None:
        ends: list[tuple[HostTransfer, NDArray[np.int64], NDArray[np.int64]]] = []
        words_so_far: dict[int, int] = {}  # words of each stream so far
        drained: dict[int, list[NDArray[np.int64]]] = {}
        mine = self._of_host
        for one in self.traffic.host:
            start, end = self._new(1, _TIME), self._new(1, _TIME)
            self._add_start(one, start, ends)
            if one.stream in mine and one.words:
                first = words_so_far.get(one.stream, 0)
                words_so_far[one.stream] = first + one.words
                words = self._nodes[one.stream][first : first + one.words]
                due = (np.arange(1, one.words + 1) * one.duration_ps) // one.words
                last = words if one.send else self._add_drains(one, words, due, start, drained)
                if one.send:
                    self._add_sent(one, words, due, start)
                self._edge(start, end, one.duration_ps)
                self._edge(last[-1:], end, 0)
            elif one.wait:
                self._add_wait(one, start, end)
            else:
                self._edge(start, end, one.end_ps - one.start_ps)
            self._required.append(end)
            ends.append((one, start, end))

    def _add_start(
        self, transfer: HostTransfer, start: NDArray[np.int64],
        before: Sequence[tuple[HostTransfer, NDArray[np.int64], NDArray[np.int64]]],
    ) -> None:  # fmt: skip
        """Let a transfer start after its thread's transfer before, and after the bus's previous user."""
        back = [(other, b, e) for other, b, e in before if other.thread == transfer.thread]
        if back:
            other, begun, over = back[-1]
            node, at_ps = (over, other.end_ps) if other.blocking else (begun, other.call_ps)
            self._edge(node, start, transfer.call_ps - at_ps)
        else:
            self._not_before(start, np.array([transfer.call_ps]))
        for other, _, over in reversed(before):
            if transfer.bus and other.bus == transfer.bus:
                self._edge(over, start, 0)
                break

    def _add_sent(self, one: HostTransfer, words: NDArray[np.int64], due_ps: Cycles, start: NDArray[np.int64]) -> None:
        room = self.traffic.links.get(one.stream, 0)
        if not room or one.words <= room:
            self._edge(np.repeat(start, len(words)), words, due_ps)
            return
        clock = self.traffic.clocks[one.stream]
        period = self.traffic.periods_ps[clock]
        at = np.array([cycles_before(one.start_ps + int(ps), period) - 1 for ps in due_ps], np.int64)
        level = self._new(len(words), clock)
        self._edge(np.repeat(start, len(words)), level, due_ps)
        self._edge(level[:-1], level[1:], np.diff(at))
        self._edge(words[:-room], level[room:], 1)
        self._edge(level, words, 0)

    def _add_drains(
        self, one: HostTransfer, words: NDArray[np.int64], due_ps: Cycles, start: NDArray[np.int64],
        drained: dict[int, list[NDArray[np.int64]]],
    ) -> NDArray[np.int64]:  # fmt: skip
        """The nodes at which the words leave the link for the host."""
        room = self.traffic.links.get(one.stream, 0)
        if not room:
            self._edge(np.repeat(start, len(words)), words, due_ps)
            return words
        leave_nodes = self._new(len(words), self.traffic.clocks[one.stream])
        self._edge(words, leave_nodes, 0)
        self._edge(np.repeat(start, len(words)), leave_nodes, due_ps)
        self._edge(leave_nodes[:-1], leave_nodes[1:], 1)
        earlier = drained.setdefault(one.stream, [])
        if earlier:
            self._edge(earlier[-1][-1:], leave_nodes[:1], 1)
        earlier.append(leave_nodes)
        earlier_leaves = np.concatenate(earlier)
        nodes = self._nodes[one.stream]
        begin = len(earlier_leaves) - len(leave_nodes) + room
        count = min(len(leave_nodes), len(nodes) - begin)
        if count > 0:
            self._edge(leave_nodes[:count], nodes[begin : begin + count], 1)
        return leave_nodes

    def _add_wait(self, transfer: HostTransfer, start: NDArray[np.int64], end: NDArray[np.int64]) -> None:
        """Let a wait end after the last word that passed before its end."""
        last = [
            (int(ps[at]), number, at)
            for number in range(len(self.traffic.streams))
            if (at := int(np.searchsorted(ps := self.traffic.at_ps(number), transfer.end_ps, side="right")) - 1) >= 0
        ]
        self._edge(start, end, 0)
        if last:
            at_ps, number, at = max(last)
            self._edge(self._nodes[number][at : at + 1], end, transfer.end_ps - at_ps)

    # -- replay

    def _finish(self) -> None:
        traffic, count = self.traffic, self._count
        edges = np.concatenate(self._edges, axis=1) if self._edges else np.empty((3, 0), np.int64)
        edges = edges[:, np.argsort(edges[0], kind="stable")]
        earliest = np.concatenate(self._earliest)
        for nodes, cycles in self._late:
            np.maximum.at(earliest, nodes, cycles)
        pushes = [self._nodes[fifo.input] for fifo in traffic.fifos]
        pops = [self._nodes[fifo.output] for fifo in traffic.fifos]
        pop_node = np.concatenate([*pops, np.empty(0, np.int64)])
        by_node = np.argsort(pop_node, kind="stable")
        numbers = [np.arange(len(one)) for one in pops]
        self._arrays = {
            "clock": np.concatenate(self._clock).astype(np.int32),
            "periods": np.array([(p.numerator, p.denominator) for p in traffic.periods_ps], np.int64),
            "begin": np.searchsorted(edges[0], np.arange(count + 1)).astype(np.int64),
            "follower": edges[1].astype(np.int32),
            "lag": np.ascontiguousarray(edges[2]),
            "causes": np.bincount(edges[1], minlength=count).astype(np.int32),
            "earliest": earliest,
            "push_begin": np.cumsum([0, *map(len, pushes)]).astype(np.int64),
            "push": np.concatenate([*pushes, np.empty(0, np.int64)]).astype(np.int32),
            "room_lag": np.array([self._room_lag(number) for number in range(len(traffic.fifos))], np.int64),
            "pop_begin": np.searchsorted(pop_node[by_node], np.arange(count + 1)).astype(np.int64),
            "pop_fifo": np.repeat(np.arange(len(pops)), list(map(len, pops)))[by_node].astype(np.int32),
            "pop_number": np.concatenate([*numbers, np.empty(0, np.int64)])[by_node].astype(np.int64),
            **self._of_pipes(),
        }
        for _, out, _ in self._pipes:
            self._arrays["causes"][out] += 1
        for number in self._driven:
            self._arrays["causes"][self._nodes[number]] += 1
        fields = [("count", ctypes.c_int64)] + [(name, ctypes.c_void_p) for name in self._arrays]
        fields.insert([name for name, _ in fields].index("push_begin"), ("fifos", ctypes.c_int64))
        fields.insert([name for name, _ in fields].index("pipe_begin"), ("pipes", ctypes.c_int64))
        kind = type("_Traffic", (ctypes.Structure,), {"_fields_": fields})
        self._struct = kind(count=count, fifos=len(traffic.fifos), pipes=len(self._pipes))
        for name, array in self._arrays.items():
            setattr(self._struct, name, array.ctypes.data)
        self._room_of = [np.empty(count, np.int32) for _ in range(2)]
        ends = [number for number, s in enumerate(traffic.streams) if not s.source or not s.target]
        needed = [self._nodes[number] for number in ends or range(len(traffic.streams))]
        self._needed = np.concatenate([*needed, *self._required, np.empty(0, np.int64)])

    def _of_pipes(self) -> dict[str, NDArray[Any]]:
        words = sum(len(into) for into, _, _ in self._pipes)
        nodes = {
            name: np.full(self._count, -1, kind)
            for name, kind in (("in_pipe", "i4"), ("in_word", "i8"), ("out_pipe", "i4"), ("out_word", "i8"))
        }
        pipe_of = np.full(words, -1, np.int32)
        begin = np.cumsum([0, *(len(into) for into, _, _ in self._pipes)]).astype(np.int64)
        for number, (into, out, _) in enumerate(self._pipes):
            pipe_of[begin[number] : begin[number] + len(out)] = out
            nodes["in_pipe"][into], nodes["in_word"][into] = number, np.arange(len(into))
            nodes["out_pipe"][out], nodes["out_word"][out] = number, np.arange(len(out))
        return {
            "pipe_begin": begin, "pipe_out": pipe_of, "latency": np.array([one for _, _, one in self._pipes], np.int64),
            **nodes, **{name: np.zeros(words, np.int64) for name in ("entered", "offered", "left", "stood")},
            "of_pipe": np.zeros(4 * len(self._pipes), np.int64),
        }  # fmt: skip

    def replay(self, depths: Mapping[int, int]) -> WordTimes:
        """The times of words with these FIFO depths, by index, and the others as in the run (0: unlimited)."""
        depth = np.array([depths.get(n, self._room[n]) for n in range(len(self.traffic.fifos))], np.int64)
        times = np.empty(self._count, np.int64)
        rooms: list[NDArray[Any]] = [depth, times, *self._room_of]
        compiled("traffic").replay(ctypes.byref(self._struct), *(ctypes.c_void_p(one.ctypes.data) for one in rooms))
        if (times[self._needed] < 0).any():
            return WordTimes(None, times)
        return WordTimes(self._last(times), times)

    def _last(self, times: Cycles) -> int:
        last = -1
        for number, nodes in enumerate(self._nodes):
            if len(nodes) and (last_cycle := int(times[nodes].max())) >= 0:
                period = self.traffic.periods_ps[self.traffic.clocks[number]]
                ps = -(-(last_cycle + 1) * period.numerator // period.denominator)
                last = max(last, cycles_before(ps, self.traffic.periods_ps[0]) - 1)
        return last

    def nodes(self, stream: int) -> NDArray[np.int64]:
        """The node of each of a stream's transfers."""
        return self._nodes[stream]

    @property
    def struct(self) -> ctypes.Structure:
        """The struct for `resources/replay/traffic.c`."""
        return self._struct

    @property
    def count(self) -> int:
        return self._count

    def wrong(self, replayed: WordTimes) -> list[int]:
        """For each stream the number of transfers whose cycle in a replay differs from the run."""
        return [
            int((replayed.times[nodes] != cycles).sum())
            for nodes, cycles in zip(self._nodes, self.traffic.cycles, strict=True)
        ]
