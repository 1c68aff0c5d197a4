"""Which of a run's time blocks on processor cores spent neither working nor waiting for one another: they had not
begun, had ended, or were ready while other blocks had their core."""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from workbench.api.records import read_thread_lives, read_thread_names, read_waits
from workbench.api.stream_events import NO_SPELLS, Events, Times
from workbench.api.unstable import MappedTo, StreamBlock, Topology

_NAME_MOST = 15  # bytes of a thread's name that the system keeps (resources/streaming/thread.hpp)


@dataclass(frozen=True)
class Away:
    """Shares of the run: `queued` for a core; `busy`, neither that nor waiting, however many queues it waits at."""

    queued: float
    busy: float


def called(name: str) -> str:
    """What a thread of that name is called in a run's records."""
    return name[-_NAME_MOST:]


def thread_names(name: str, threads: int) -> list[str]:
    """What the threads of a block are called."""
    return [name] if threads == 1 else [f"{name}_{number + 1}" for number in range(threads)]


def block_threads(topology: Topology) -> list[tuple[StreamBlock, int, str]]:
    """All threads of blocks on cores, in the order in which they begin: the block, the thread's number, its name."""
    on_cores = (block for block in topology.blocks if topology.place(block.name) is MappedTo.CORE)
    return [
        (block, number, name)
        for block in on_cores
        for number, name in enumerate(thread_names(topology.within(block.name), block.threads))
    ]


@dataclass(frozen=True)
class Lived:
    """When a thread of a block began and ended, and the spells in which it was ready and others had its core."""

    queued_ps: Times
    life_ps: tuple[int, int] | None


def recorded_threads(topology: Topology, raw: Path) -> dict[tuple[str, int], Lived]:
    """The threads of each block, by number: they are recognised by the ends of their names, and start in order."""
    waits, lives = read_waits(raw), read_thread_lives(raw)
    waits = waits[waits["for_a_core"] != 0]
    numbers: dict[str, list[int]] = defaultdict(list)
    for number, name in sorted(read_thread_names(raw).items(), reverse=True):
        numbers[name].append(number)
    lived = {}
    for block, number, name in block_threads(topology):
        if numbers[called(name)]:
            thread = numbers[called(name)].pop()
            mine = waits[waits["thread"] == thread]
            life = (int(lives[thread, 0]), int(lives[thread, 1])) if thread < len(lives) else None
            lived[block.name, number] = Lived(np.stack((mine["t0_ps"], mine["t1_ps"]), axis=1), life)
    return lived


def away(events: Events) -> Mapping[str, Away]:
    """The time away of the blocks for which a run records it."""
    whole = max(events.end_ps - events.start_ps, 1)
    away_of = {
        block: Away(pool.queued_ps / (pool.threads * whole), pool.busy_ps / (pool.threads * whole))
        for block, pool in events.pools.items()
    }
    for block, life in events.lives_ps.items():
        queued = events.queued_ps.get(block, NO_SPELLS)
        idle = idle_ps(events, life, [queued, *_waits(events, block)])
        ready = min(events.ready_ps.get(block, 0), whole - idle)
        away_of[block] = Away((covered_ps(queued) + ready) / whole, 1 - (idle + ready) / whole)
    return away_of


def idle_ps(events: Events, life_ps: tuple[int, int], spells: Sequence[Times]) -> int:
    """How long a thread of that life was in one of the spells or not there, within the run."""
    outside = np.array([[events.start_ps, life_ps[0]], [life_ps[1], max(events.end_ps, life_ps[1])]])
    return covered_ps(np.clip(np.concatenate([outside, *spells]), events.start_ps, events.end_ps))


def _waits(events: Events, block: str) -> Iterable[Times]:
    for one in events.edges.values():
        if one.edge.sink.block == block:
            yield one.waiting_ps
        if one.edge.source.block == block:
            yield one.blocked_ps


def joined(spells: Times) -> Times:
    """The time that spells cover, as spells in order that do not meet."""
    if not len(spells):
        return NO_SPELLS
    spells = spells[np.argsort(spells[:, 0], kind="stable")]
    reached = np.maximum.accumulate(spells[:, 1])
    first = np.append(True, spells[1:, 0] > reached[:-1])
    return np.stack((spells[first, 0], reached[np.append(np.flatnonzero(first)[1:] - 1, len(spells) - 1)]), axis=1)


def covered_ps(spells: Times) -> int:
    """The time (ps) that they cover together."""
    return int(np.diff(joined(spells), axis=1).sum())
