"""Replays a streaming application with other depths of its queues, from one traced run.

The host's blocks repeat their threads' work between waits. The threads that move data over the bus follow the
run-time's algorithm (`resources/streaming/card.hpp`) with the run's costs; words in an FPGA keep their causes of the
run (`words.py`). All waits are computed again (`resources/replay/queues.c`).
"""

import ctypes
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from workbench.api.queues import EdgeQueue, RunQueues
from workbench.model.cycles import period_ps, starts_ps
from workbench.model.platform import Platform
from workbench.model.run import Run
from workbench.model.transfer_time import transfer_ps
from workbench.replay.compiled import compiled
from workbench.replay.queue_threads import COSTS, Role, RunThreads, read_queues
from workbench.replay.traffic import Cycles, most_held, recorded_traffic
from workbench.replay.words import WordReplay

_LATENCY_POINTS = 2000
_NO_MEMORY = -2


class NoReplayError(Exception):
    """A run's queues cannot be replayed; the text is the reason for the user."""


@dataclass(frozen=True)
class End:
    """An edge's end at the bus, in words of the FPGA; `fifo` is the index of its FIFO."""

    edge: int
    fifo: int
    into: bool


@dataclass(frozen=True)
class Speeds:
    """Changed speeds: factors on the own code of threads, by number, the FPGA clock's frequency, and the platform whose
    tables give transfer times (None: as in the run)."""

    own: Mapping[int, float] = field(default_factory=dict)
    clock_hz: float | None = None
    platform: Platform | None = None


class Queues:
    """A run's queues, prepared for replay. Raises NoReplayError. `why` gives reasons for possible errors, `end_ps` is
    the application's end in the last replay, -1 if it did not end."""

    def __init__(
        self, run: Run, queues: RunQueues, platform: Platform | None, speeds: Speeds = Speeds()
    ) -> None:  # fmt: skip
        self.run, self.edges, self._queues = run, queues.edges, queues
        self._platform, self._hz = speeds.platform or platform, speeds.clock_hz or run.manifest.clock_hz
        self.end_ps = -1
        threads = read_queues(run, queues)
        if isinstance(threads, str):
            raise NoReplayError(threads)
        self.threads: RunThreads = threads.at_speeds(speeds.own)
        self.why: list[str] = []
        self._hold: list[Any] = []  # arrays that the C code points at
        self.words = self._words_of_fpga()
        self._build()

    # -- the FPGA

    def _words_of_fpga(self) -> WordReplay | None:
        run, edges = self.run, self.edges
        self._fifos: dict[int, list[int]] = {}  # by edge: its end that leaves an FPGA, then its end that enters one
        self.ends: list[End] = []
        if all(not edge.source_fpga and not edge.sink_fpga for edge in edges):
            return None
        traffic, fifos = recorded_traffic(run), run.manifest.fifos
        if traffic is None:
            raise NoReplayError("the run did not record the words in the FPGA: run with --trace")
        driven = []
        for number, edge in enumerate(edges):
            missing = [name for name, is_missing in (
                (edge.label, edge.source_fpga or edge.sink_fpga),
                (f"{edge.label} (arriving)", edge.crosses and edge.source_fpga and edge.sink_fpga),
            ) if is_missing]  # fmt: skip
            for name in missing:
                used = [n for n, fifo in enumerate(fifos) if len(traffic.cycles[fifo.input])]
                at = [n for n in used if fifos[n].id == name or fifos[n].id.endswith(f".{name}")]
                if len(at) != 1:
                    raise NoReplayError(f"the queue of {name} was not found in the FPGA")
                self._fifos.setdefault(number, []).append(at[0])
                if edge.crosses:
                    into = not edge.source_fpga or name != edge.label
                    self.ends.append(End(number, at[0], into))
                    driven.append(fifos[at[0]].input if into else fifos[at[0]].output)
        words = WordReplay(replace(traffic, periods_ps=self._periods(traffic.periods_ps)), {}, driven=driven)
        self.why += words.why
        return words

    def _periods(self, recorded: tuple[Fraction, ...]) -> tuple[Fraction, ...]:
        if self._hz == self.run.manifest.clock_hz:
            return recorded
        if len(recorded) > 1:
            raise NoReplayError("the application has several clocks")
        return (period_ps(self._hz),)

    @property
    def period_ps(self) -> Fraction:
        """The FPGAs' clock period."""
        return period_ps(self._hz)

    @property
    def bulk(self) -> int:
        return self._queues.bulk

    @property
    def flush_cycles(self) -> int:
        """The time (cycles) for which an element in an FPGA waits for others."""
        return max(1, round(self._queues.flush_ps * self._hz / 1e12))

    # -- arguments of the C code

    def _build(self) -> None:
        run, threads = self.run, self.threads
        cores = run.manifest.cores
        order = self._ends_by_thread()
        ops, listed = [np.zeros(0, threads.dtype)], 0
        ranges = []  # of each thread: of `ops` where it is LISTED, else of `ends`
        for number, role in enumerate(threads.roles):
            if role is Role.LISTED:
                ops += [threads.ops[number], threads.ends_never]
                ranges.append((listed, listed + len(threads.ops[number])))
                listed = ranges[-1][1] + 1
            else:
                ranges.append(order[number])
        begin = np.array(ranges, np.int64).reshape(-1, 2)
        counts = np.array([len(queue.push_ps) for queue in threads.queues], np.int64)
        # the semaphores of queue q are 2 q (room) and 2 q + 1 (there); the end besides
        room = np.append(np.repeat(counts, 2) + 1, np.zeros(len(threads.initial_values), np.int64))
        taken_begin = np.concatenate(([0], np.cumsum(room)))
        self._taken = np.full(int(taken_begin[-1]), -1, np.int64)
        self._taken_begin = taken_begin
        self._counts = np.append(np.zeros(2 * len(counts), np.int64), np.array(threads.initial_values, np.int64))
        rows_after, rows_at_end = self._followed(begin[:, 0], taken_begin)
        queue_of = {queue.edge: number for number, queue in enumerate(threads.queues)}
        self._queue_of = queue_of
        push: list[int] = []
        pop: list[int] = []
        nodes, moved = [np.zeros(0, np.int32)], 0
        for end in self.ends:
            assert self.words is not None
            fifo = self.run.manifest.fifos[end.fifo]
            for into, ends in ((push, fifo.input), (pop, fifo.output)):
                part = self.words.nodes(ends).astype(np.int32)
                into.append(moved)
                nodes.append(part)
                moved += len(part)
        largest = max((e.bits for e in self.edges), default=32)
        most = max(self._queues.bulk * -(-largest // 32), len(self.edges), threads.largest_transfer_words) + 1
        send, receive, shared = self._bus(most)
        flush_ps = self._queues.flush_ps
        self._end_depth = np.zeros(len(self.ends), np.int64)
        of_queue = np.array([queue_of[end.edge] for end in self.ends], np.int64)
        arrays: dict[str, Any] = {
            "ops": np.concatenate(ops), "role": np.array([int(r) for r in threads.roles], np.int32), "begin": begin,
            "cost": np.array(threads.costs, np.int64).reshape(-1, COSTS), "counts": self._counts,
            "taken_begin": taken_begin, "taken": self._taken, "put": np.zeros_like(self._counts),
            "element": np.zeros_like(self._taken), "row_after": rows_after, "row_at_end": rows_at_end,
            "held": np.array(threads.holds_core, np.int32),
            "end_there": 2 * of_queue + 1, "end_room": 2 * of_queue,
            "end_words": np.array([-(-self.edges[end.edge].bits // 32) for end in self.ends], np.int64),
            "end_depth": self._end_depth, "end_push": np.array(push, np.int64), "end_pop": np.array(pop, np.int64),
            "end_count": np.array([len(self.edges[end.edge].push_ps) for end in self.ends], np.int64),
            "end_last": self._stream_ends(flush_ps, run.manifest.clock_hz), "nodes": np.concatenate(nodes),
            "send_ps": send, "receive_ps": receive,
        }  # fmt: skip
        numbers = {
            "threads": len(threads.roles), "semaphores": len(self._counts), "count_cores": max(cores.count, 1),
            "slice_ps": cores.slice_ps, "call_ps": cores.call_ps, "wake_ps": cores.wake_ps,
            "switch_ps": cores.switch_ps, "ranks": 1, "bulk": self._queues.bulk, "flush_ps": flush_ps,
            "flush_cycles": self.flush_cycles, "bus_shared": int(shared), "clock": 0,
        }  # fmt: skip
        self._struct = _struct(numbers, arrays)
        self._hold += [*arrays.values()]
        count = self.words.count if self.words else 0
        semaphores = len(self._counts)
        self._room: list[NDArray[Any]] = [
            *(np.empty(count, kind) for kind in (np.int64, np.int32, np.int32)),
            *(np.empty(semaphores, np.int64) for _ in range(2)),
        ]

    def _followed(self, begin: Cycles, taken_begin: Cycles) -> tuple[Cycles, Cycles]:
        """The rows of `ops` with which a thread continues: by semaphore and popped element, and by thread after the end
        of its stream; -1 for the thread's own next row."""
        after, at_end = np.full(int(taken_begin[-1]), -1, np.int64), np.full(len(begin), -1, np.int64)
        for number, queue in enumerate(self.threads.queues):
            for sink in queue.sinks if queue.follows_elements else ():
                ops = self.threads.ops.get(sink, np.zeros(0, self.threads.dtype))
                pops = self.threads.pops(ops, 2 * number + 1)
                if not len(pops):
                    continue
                elements = ops["element"][pops]
                popped = elements >= 0
                after[taken_begin[2 * number + 1] + elements[popped]] = begin[sink] + pops[popped] + 1
                ended = pops[-1] + 1 if not popped[-1] else len(ops)
                at_end[sink] = begin[sink] + ended
        return after, at_end

    def _ends_by_thread(self) -> dict[int, tuple[int, int]]:
        """The ends of each thread that moves data, as a range of `ends`, which are sorted accordingly."""
        ordered: list[End] = []
        ends = {}
        for number, role in enumerate(self.threads.roles):
            if role is Role.LISTED:
                continue
            moved = self.threads.edges[number]
            ends_of_thread = [end for end in self.ends if end.edge in moved and end.into == (role is Role.INTO)]
            if len(ends_of_thread) != len(moved):
                raise NoReplayError("not every edge that crosses a bus has a thread that moves its elements")
            ends[number] = (len(ordered), len(ordered) + len(ends_of_thread))
            ordered += ends_of_thread
        self.ends = ordered
        return ends

    def _bus(self, most: int) -> tuple[Cycles, Cycles, bool]:
        """The times of transfers by their number of words, from the tables of the run's calls."""
        if not self.ends:
            return np.zeros(most + 1, np.int64), np.zeros(most + 1, np.int64), True
        tables = self._platform.transfer_tables if self._platform else {}
        entries, calls = self.run.manifest.entries, self.run.tables["calls"]
        times, buses = [], set()
        for kind in ("send", "receive"):
            of = np.array([e.kind == kind and e.transfer in tables for e in entries], bool)
            mine = np.flatnonzero(of[calls["entry"]] & (np.asarray(calls["bytes"]) > 0))
            words, entry_of_call = np.asarray(calls["bytes"])[mine] // 4, np.asarray(calls["entry"])[mine]
            if not len(mine):
                raise NoReplayError(f"no {kind} of this run has a transfer time")
            used = [tables[entries[_entry(words, entry_of_call, n)].transfer] for n in range(most + 1)]
            if any(one.overlaps for one in used):
                raise NoReplayError("transfers of this platform overlap, which this replay does not follow")
            buses |= {one.resource for one in used}
            times.append(np.array([transfer_ps(one, max(4 * n, 1)) for n, one in enumerate(used)], np.int64))
        return times[0], times[1], len(buses) == 1

    def _stream_ends(self, flush_ps: int, hz: float) -> Cycles:
        """The cycles from each stream's last element to its end; -1 if unknown."""
        ends = np.full(len(self.ends), -1, np.int64)
        if self.words is None:
            return ends
        flush = max(1, round(flush_ps * hz / 1e12))
        period = period_ps(hz)
        for number, end in enumerate(self.ends):
            if end.into:
                continue
            fifo = self.run.manifest.fifos[end.fifo]
            pushes, pops = (self.words.traffic.cycles[n] for n in (fifo.input, fifo.output))
            woken = self.threads.interrupts_ps.get(end.edge, np.zeros(0, np.int64))
            before = woken[woken <= starts_ps(pops[-1:], period)[0]] if len(pops) else woken
            if not len(before):
                continue
            cycle = int(before[-1] // period)
            popped = int(np.searchsorted(pops, cycle))
            if popped >= len(pops) or len(pops) - popped >= self._queues.bulk:
                continue
            since = max(int(pops[popped - 1]) if popped else -1, int(pushes[popped]))
            if int(pushes[-1]) < cycle < since + 1 + flush and cycle - int(pushes[-1]) < flush // 2:
                ends[number] = cycle - int(pushes[-1])
        return ends

    # -- replay

    def time_ps(self, depths: Mapping[str, int]) -> int | None:
        """The time (ps) at which the last element leaves the last queue, with these depths, by label, and the others as
        in the run; None on a deadlock."""
        rooms = [edge.rooms(depths.get(edge.label, edge.depth)) for edge in self.edges]
        for number, queue in enumerate(self.threads.queues):
            self._counts[2 * number] = rooms[queue.edge][0]
        for number, end in enumerate(self.ends):
            self._end_depth[number] = rooms[end.edge][1]
        depth = np.zeros(len(self.run.manifest.fifos) if self.words else 0, np.int64)
        for number, of_edge in self._fifos.items():
            depth[of_edge] = rooms[number][1]
        words = ctypes.byref(self.words.struct) if self.words else None
        pointers = [ctypes.c_void_p(one.ctypes.data) for one in (depth, *self._room)]
        replay = compiled("queues").replay_queues
        replay.restype = ctypes.c_int64
        self.end_ps = replay(ctypes.byref(self._struct), words, *pointers)
        if self.end_ps == _NO_MEMORY:
            raise MemoryError
        last = [self._last_pop(number, len(edge.pop_ps)) for number, edge in enumerate(self.edges) if len(edge.pop_ps)]
        return None if -1 in last else max(last, default=0)

    def _last_pop(self, number: int, count: int) -> int:
        """The time (ps) at which the last element left an edge; -1 if it did not."""
        of_edge = self._fifos.get(number, ())
        if of_edge and self.edges[number].sink_fpga:
            assert self.words is not None
            node = self.words.nodes(self.run.manifest.fifos[of_edge[-1]].output)[-1]
            not_popped = self._room[1][node] < 0
            return (
                int(starts_ps(self._room[0][node : node + 1] + 1, self.words.traffic.periods_ps[0])[0])
                if not_popped
                else -1
            )
        return int(self._taken[self._taken_begin[2 * self._queue_of[number] + 1] + count - 1])

    def held(self) -> dict[str, int]:
        """The largest number of elements in each edge's fuller queue in the last replay, by label."""
        return {edge.label: self._moments(number, edge)[2] for number, edge in enumerate(self.edges)}

    def latency_ps(self) -> int:
        """The mean time (ps) of elements through the application in the last replay."""
        return self._latency([self._moments(number, edge)[:2] for number, edge in enumerate(self.edges)])

    def _moments(self, number: int, edge: EdgeQueue) -> tuple[Cycles, Cycles, int]:
        """The times at which an edge's elements entered and left, and the most that one of its queues held."""
        most_elements, parts = 0, []
        if number in self._queue_of:
            at = 2 * self._queue_of[number]
            begin = self._taken_begin
            room, elements = self._taken[begin[at] : begin[at + 1] - 1], self._taken[begin[at + 1] : begin[at + 2] - 1]
            parts.append((room, elements))
            most_elements = _most_present(room, elements)
        for place, fifo_number in enumerate(self._fifos.get(number, ())):
            assert self.words is not None
            fifo = self.run.manifest.fifos[fifo_number]
            period = self.words.traffic.periods_ps[0]
            waits = self._room[1]
            pair = []
            for stream in (fifo.input, fifo.output):
                nodes = self.words.nodes(stream)
                ps = starts_ps(self._room[0][nodes] + 1, period)
                pair.append(np.where(waits[nodes] < 0, ps, -1))
            parts.insert(0 if edge.source_fpga and not place else len(parts), (pair[0], pair[1]))
            most_elements = max(most_elements, _most_present(*pair))
        return parts[0][0], parts[-1][1], most_elements

    def _latency(self, moments: list[tuple[Cycles, Cycles]]) -> int:
        """The mean time from edges without a source to edges without a sink, for elements at the same share of their
        streams."""
        sinks, sources = {e.sink for e in self.edges}, {e.source for e in self.edges}
        first = [m[0] for m, e in zip(moments, self.edges, strict=True) if e.source not in sinks and len(m[0])]
        last = [m[1] for m, e in zip(moments, self.edges, strict=True) if e.sink not in sources and len(m[1])]
        return max((mean_latency_ps(came, left) for came in first for left in last), default=0)


def mean_latency_ps(came: Cycles, left: Cycles) -> int:
    """The mean time (ps) from words that entered to the leaving words at the same share of their stream."""
    count = min(len(left), _LATENCY_POINTS)
    if not count or not len(came):
        return 0
    share = np.arange(1, count + 1) / count
    out, into = (np.minimum((share * len(x)).astype(np.int64), len(x)) - 1 for x in (left, came))
    return round(float(np.mean(left[np.maximum(out, 0)] - came[np.maximum(into, 0)])))


def _entry(words: Cycles, entries: Cycles, count: int) -> int:
    """The API entry for a transfer of so many words; single words may have one of their own."""
    like = words == count
    if not like.any():
        like = (words == 1) if count <= 1 and (words == 1).any() else words > 1
    candidates = entries[like] if like.any() else entries
    return int(np.bincount(candidates).argmax())


def _most_present(pushes: Cycles, pops: Cycles) -> int:
    """The largest number of elements present at a time; a moment of -1 means that an element never came, or never
    left."""
    return most_held(pushes[pushes >= 0], pops[pops >= 0])


def _struct(numbers: Mapping[str, int], arrays: Mapping[str, NDArray[Any]]) -> ctypes.Structure:
    """The struct `application` for `resources/replay/queues.c`."""
    order = (
        "threads semaphores count_cores slice_ps call_ps wake_ps switch_ps ranks ops role begin cost counts",
        "taken_begin taken put element row_after row_at_end bulk flush_ps flush_cycles held end_there end_room",
        "end_words end_depth end_push end_pop",
        "end_count end_last nodes send_ps receive_ps bus_shared clock",
    )
    fields = [(name, ctypes.c_int64 if name in numbers else ctypes.c_void_p) for line in order for name in line.split()]
    kind = type("_Application", (ctypes.Structure,), {"_fields_": fields})
    struct = kind(**numbers)
    for name, array in arrays.items():
        setattr(struct, name, array.ctypes.data)
    return struct
