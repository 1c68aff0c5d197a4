"""The run time of an application with other FIFO depths, and the Pareto front of time against memory.

A run's FIFOs are those of its design, or the edges of a streaming application. All times come from the records of one
traced run; nothing is simulated.
"""

from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from workbench.api.queues import EdgeQueue, RunQueues
from workbench.model.blocks import fpga_of
from workbench.model.cycles import starts_ps
from workbench.model.platform import Platform
from workbench.model.run import Run
from workbench.replay.depths import AMPLE, FAILED, LOSS, least_depths, reduced, tried_depths
from workbench.replay.host_words import records_of_run, with_host
from workbench.replay.queues import NoReplayError, Queues, mean_latency_ps
from workbench.replay.traffic import Traffic, most_held, recorded_traffic
from workbench.replay.words import WordReplay

Times = NDArray[np.int64]
_MOST_TRIES = 1000  # with at most this many replays all depths are tried


@dataclass(frozen=True)
class Queued:
    """A FIFO or an edge with a depth to choose. `depth` is its depth, 0 if unknown; `bits` is the width of a word,
    `bits_of` the memory for a depth; `most` is its largest occupancy in the run. `in_fpga` says whether its memory, or
    a part of it, is in the FPGA. `place` is its source place."""

    id: str
    depth: int
    bits: int
    most: int
    in_fpga: bool
    bits_of: Callable[[int], int]
    place: tuple[str, int] | None = None


@dataclass(frozen=True)
class DepthPoint:
    """Depths by id, with the time until the last word, the mean latency of a word from entering to leaving, and the
    memory: bits, and block RAMs if the platform gives their size."""

    depths: Mapping[str, int]
    time_ps: int
    latency_ps: int
    bits: int
    block_rams: int | None = None


@dataclass(frozen=True)
class Front:
    """A Pareto front: `points` from the fastest on. `chosen` is the index of the point with the least depths that lose
    less than `loss` of the throughput, -1 if there is none. `now` is the run as it was, None if it deadlocked. `apart`
    are pairs of queues that never held words at the same time; `why` gives reasons for possible errors; `replayed_ps`
    is the time of the replayed unchanged run, `run_ps` the run's time."""

    queues: tuple[Queued, ...]
    points: tuple[DepthPoint, ...]
    chosen: int
    now: DepthPoint | None
    apart: tuple[tuple[str, str], ...]
    why: tuple[str, ...]
    loss: float
    run_ps: int
    replayed_ps: int | None

    @property
    def choice(self) -> DepthPoint | None:
        return self.points[self.chosen] if self.chosen >= 0 else None


class Replay(Protocol):
    """A run that can be replayed with other depths."""

    @property
    def queues(self) -> tuple[Queued, ...]: ...
    @property
    def why(self) -> Sequence[str]: ...
    @property
    def run_ps(self) -> int: ...

    def time_ps(self, depths: Mapping[str, int]) -> int | None:
        """The time (ps) of the last word with these depths, by id, and the others as in the run; None on a deadlock."""
        ...

    def latency_ps(self) -> int:
        """The mean time (ps) of words from entering to leaving in the last replay."""
        ...

    def held(self) -> Mapping[str, int]:
        """The largest occupancy of each queue (words) in the last replay."""
        ...

    def in_use(self) -> Mapping[str, tuple[Times, Times]]:
        """The times (ps) at which words entered and left each queue in the run."""
        ...


class EdgeReplay:
    """The replay of a streaming application's edges. Raises NoReplayError."""

    def __init__(self, run: Run, queues: RunQueues, platform: Platform | None) -> None:
        self._queues = Queues(run, queues, platform)
        self._edges = queues.edges
        self.why = self._queues.why
        self.run_ps = max((int(edge.pop_ps.max(initial=0)) for edge in self._edges), default=0)
        self._queues.time_ps({})
        as_run = self._queues.held()
        self.queues = tuple(_queued_edge(edge, as_run[edge.label]) for edge in self._edges if len(edge.push_ps))

    def time_ps(self, depths: Mapping[str, int]) -> int | None:
        return self._queues.time_ps(depths)

    def latency_ps(self) -> int:
        return self._queues.latency_ps()

    def held(self) -> Mapping[str, int]:
        return self._queues.held()

    def in_use(self) -> Mapping[str, tuple[Times, Times]]:
        return {edge.label: (edge.push_ps, edge.pop_ps) for edge in self._edges if len(edge.push_ps)}


def _queued_edge(edge: EdgeQueue, most: int) -> Queued:
    def bits_of(depth: int) -> int:
        return edge.bits * _words(edge.rooms(depth), edge.source_fpga, edge.sink_fpga)

    in_fpga = bool(edge.source_fpga or edge.sink_fpga)
    return Queued(edge.label, edge.depth, edge.bits, most, in_fpga, bits_of, edge.place)


def _words(rooms: tuple[int, int], source_fpga: str, sink_fpga: str) -> int:
    """The number of words that an edge's queues can hold, on the host and in FPGAs."""
    host, fpga = rooms
    if source_fpga == sink_fpga:
        return host
    return host + fpga * (bool(source_fpga) + bool(sink_fpga))


class FifoReplay:
    """The replay of a design's FIFOs. `known` are other runs of the same words, `depths` (by id) those of the run, if
    it did not have the design's own. Raises NoReplayError."""

    def __init__(
        self, run: Run, platform: Platform | None, known: Sequence[Traffic] = (),
        depths: Mapping[str, int] | None = None,
    ) -> None:  # fmt: skip
        traffic = traffic_of_run(run, platform)
        limits = {
            n: depths[shared_id(f.id)] for n, f in enumerate(traffic.fifos) if depths and shared_id(f.id) in depths
        }
        self._words = WordReplay(traffic, limits, known)
        self.why: list[str] = list(self._words.why)
        self.traffic = traffic
        clocks = traffic.clocks
        across = [fifo.id for fifo in traffic.fifos if clocks[fifo.input] != clocks[fifo.output]]
        if across:
            self.why.append(
                f"the depth of {', '.join(across)} is predicted across two clocks, and no simulation tries it"
            )
        self._alike: dict[str, list[int]] = defaultdict(list)
        for number, fifo in enumerate(traffic.fifos):
            if len(traffic.cycles[fifo.input]):
                self._alike[shared_id(fifo.id)].append(number)
        self.run_ps = _last_ps(traffic)
        self.queues = tuple(self._queued(name, of) for name, of in self._alike.items())
        self._times: Times = np.empty(0, np.int64)

    def _queued(self, name: str, of: Sequence[int]) -> Queued:
        traffic, fifos = self.traffic, [self.traffic.fifos[n] for n in of]
        bits = traffic.streams[fifos[0].input].bits or 1
        return Queued(
            name, max(one.depth for one in fifos), bits, max(map(traffic.most, fifos)), True,
            lambda depth: bits * depth * len(of), (fifos[0].file, fifos[0].line) if fifos[0].line else None,
        )  # fmt: skip

    def time_ps(self, depths: Mapping[str, int]) -> int | None:
        by_number = {n: words for name, words in depths.items() for n in self._alike[name]}
        times = self._words.replay(by_number)
        self._times = times.times
        if times.cycles is None:
            return None
        return max(int(self.at_ps(number).max(initial=0)) for number in range(len(self.traffic.streams)))

    @cached_property
    def recorded(self) -> list[Times]:
        """The times (ps) at which words passed each stream in the run."""
        return [self.traffic.at_ps(number) for number in range(len(self.traffic.streams))]

    def at_ps(self, stream: int) -> Times:
        """The times (ps) at which words passed a stream in the last replay."""
        times = self._times[self._words.nodes(stream)]
        return starts_ps(times[times >= 0] + 1, self.traffic.periods_ps[self.traffic.clocks[stream]])

    def latency_ps(self) -> int:
        streams = self.traffic.streams
        first = [n for n, s in enumerate(streams) if not s.source and len(self.traffic.cycles[n])]
        last = [n for n, s in enumerate(streams) if not s.target and len(self.traffic.cycles[n])]
        return max((mean_latency_ps(self.at_ps(a), self.at_ps(b)) for a in first for b in last), default=0)

    def held(self) -> Mapping[str, int]:
        fifos = {name: [self.traffic.fifos[n] for n in of] for name, of in self._alike.items()}
        return {
            name: max(most_held(self.at_ps(one.input), self.at_ps(one.output)) for one in of)
            for name, of in fifos.items()
        }

    def in_use(self) -> Mapping[str, tuple[Times, Times]]:
        traffic = self.traffic
        return {fifo.id: (traffic.at_ps(fifo.input), traffic.at_ps(fifo.output)) for fifo in traffic.fifos}


def shared_id(fifo: str) -> str:
    """The part of a FIFO's id that is equal on all cards with the same design."""
    place = fpga_of(fifo)
    return fifo[len(place) :] if place.startswith("card[") else fifo


def _last_ps(traffic: Traffic) -> int:
    return max((int(traffic.at_ps(n)[-1]) for n, cycles in enumerate(traffic.cycles) if len(cycles)), default=0)


def traffic_of_run(run: Run, platform: Platform | None) -> Traffic:
    """The traffic of the streams in a traced run's design. Raises NoReplayError."""
    traffic = recorded_traffic(run)
    if traffic is None or not any(map(len, traffic.cycles)):
        raise NoReplayError("the run did not record when words passed its streams: run with --trace")
    if platform is None:
        return traffic
    places = tuple(dict.fromkeys(fpga_of(stream.id) for stream in run.manifest.streams))
    return with_host(traffic, records_of_run(run, platform), platform, places)


def replay_of(run: Run, queues: RunQueues | None, platform: Platform | None) -> Replay:
    """The replay of a run: of its edges, or else of its design's FIFOs. Raises NoReplayError."""
    if not run.complete:
        raise NoReplayError("the run did not finish, and shows only what happened until then")
    replay: Replay = EdgeReplay(run, queues, platform) if queues else FifoReplay(run, platform)
    if not replay.queues:
        raise NoReplayError("no words passed a FIFO in this run")
    return replay


def depth_front(
    replay: Replay, loss: float = LOSS, block_ram_bits: int | None = None,
    went_on: Callable[[], None] = lambda: None,
) -> Front:  # fmt: skip
    """The Pareto front of time against memory over all FIFOs. `went_on` is called before each replay, and may raise to
    stop. Raises NoReplayError if the application deadlocks at all depths."""
    ids = [one.id for one in replay.queues]
    time_of_depths: dict[tuple[int, ...], int] = {}

    def time_of(depths: Mapping[str, int]) -> int:
        key = tuple(depths[name] for name in ids)
        if key not in time_of_depths:
            went_on()
            time_ps = replay.time_ps(depths)
            time_of_depths[key] = FAILED if time_ps is None else time_ps
        return time_of_depths[key]

    def point(depths: Mapping[str, int]) -> DepthPoint:
        time_ps = replay.time_ps(depths) or 0
        return DepthPoint(dict(depths), time_ps, replay.latency_ps(), *_memory(replay.queues, depths, block_ram_bits))

    built = {one.id: one.depth for one in replay.queues}
    unchanged_ps = replay.time_ps({})
    now = None
    if unchanged_ps is not None:
        now = DepthPoint(built, unchanged_ps, replay.latency_ps(), *_memory(replay.queues, built, block_ram_bits))
    best = time_of(dict.fromkeys(ids, AMPLE))
    if best == FAILED:
        raise NoReplayError("the application does not finish with queues of any depth")
    most = {name: words for name, words in replay.held().items() if name in ids}
    advised = least_depths(most, time_of, best, loss)
    tried = [*tried_depths(most, {one.id: one.bits for one in replay.queues}, time_of, _MOST_TRIES), advised]
    if all(built.values()):
        tried.append(built)
    limit = best / (1 - loss)
    within = [depths for depths in tried if time_of(depths) <= limit]
    least_memory = min(within, key=lambda depths: _memory(replay.queues, depths, None)[0])
    tried.append(reduced(least_memory, time_of, limit))
    fast = [(time_of(depths), _memory(replay.queues, depths, None)[0], depths) for depths in tried]
    points = [point(depths) for depths in _pareto([one for one in fast if one[0] < FAILED])]
    choice = max((n for n, one in enumerate(points) if one.time_ps <= limit), default=-1)
    return Front(
        replay.queues, tuple(points), choice, now, never_together(replay.in_use()), tuple(replay.why), loss,
        replay.run_ps, unchanged_ps,
    )  # fmt: skip


def _memory(
    queues: Sequence[Queued], depths: Mapping[str, int], block_ram_bits: int | None
) -> tuple[int, int | None]:  # fmt: skip
    """The memory of FIFOs in bits, and the block RAMs of those in an FPGA, each with its own."""
    bits = {queue.id: queue.bits_of(depths[queue.id]) for queue in queues}
    if block_ram_bits is None:
        return sum(bits.values()), None
    return sum(bits.values()), sum(-(-bits[queue.id] // block_ram_bits) for queue in queues if queue.in_fpga)


def _pareto(tried: Sequence[tuple[int, int, dict[str, int]]]) -> list[dict[str, int]]:
    """The depths that no others dominate in time and memory, from the fastest on."""
    front, least_bits = [], None
    for _, bits, depths in sorted(tried, key=lambda one: (one[0], one[1], sum(one[2].values()))):
        if least_bits is None or bits < least_bits:
            front.append(depths)
            least_bits = bits
    return front


def never_together(moments: Mapping[str, tuple[Times, Times]]) -> tuple[tuple[str, str], ...]:
    """The pairs of FIFOs that held words in this run, but never at the same time. This does not show the depths that
    they need if both do. `moments` are the times at which words entered and left each."""
    spells = {name: spell for name, (pushes, pops) in moments.items() if len(spell := held_spells(pushes, pops))}
    return tuple(
        (first, second) for first, second in combinations(spells, 2) if not _overlap(spells[first], spells[second])
    )  # fmt: skip


def held_spells(pushes: Times, pops: Times) -> Times:
    """The intervals in which a FIFO held words, in order, shape (n, 2)."""
    if not len(pushes):
        return np.empty((0, 2), np.int64)
    pop_ps = np.concatenate((pops[: len(pushes)], np.full(max(len(pushes) - len(pops), 0), np.iinfo(np.int64).max)))
    begins = np.flatnonzero(np.concatenate(([True], pushes[1:] > pop_ps[:-1])))
    ends = np.append(begins[1:], len(pushes)) - 1
    spells = np.stack((pushes[begins], pop_ps[ends]), axis=1)
    return spells[spells[:, 0] < spells[:, 1]]


def _overlap(one: Times, other: Times) -> bool:
    """Whether two lists of intervals, each in order, overlap."""
    after = np.searchsorted(other[:, 1], one[:, 0], side="right")
    has_next = after < len(other)
    return bool((other[after[has_next], 0] < one[has_next, 1]).any())
