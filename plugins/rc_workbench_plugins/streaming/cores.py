"""Which of a run's time blocks on processor cores spent neither working nor waiting for one another: they had not
begun, had ended, or were ready while other blocks had their core."""

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from workbench.api.records import read_thread_lives, read_thread_names, read_waits
from workbench.api.stream_events import Events, Times
from workbench.api.unstable import MappedTo, Topology

_NAME_MOST = 15  # bytes of a thread's name that the system keeps (resources/streaming/thread.hpp)


@dataclass(frozen=True)
class Away:
    """Shares of the run: `queued` for a core; `busy`, neither that nor waiting, however many queues it waits at."""

    queued: float
    busy: float


def called(name: str) -> str:
    """What a thread of that name is called in a run's records."""
    return name[-_NAME_MOST:]


def threads_of(topology: Topology, raw: Path) -> dict[str, int]:
    """The thread of each block on a core: threads are called by the ends of their blocks' names, and begin in order."""
    numbers: dict[str, list[int]] = defaultdict(list)
    for number, name in sorted(read_thread_names(raw).items(), reverse=True):
        numbers[name].append(number)
    thread_of = {}
    for block in topology.blocks:
        mine = numbers[called(topology.within(block.name))]
        if topology.place(block.name) is MappedTo.CORE and mine:
            thread_of[block.name] = mine.pop()
    return thread_of


def recorded_of_threads(topology: Topology, raw: Path) -> tuple[dict[str, Times], dict[str, tuple[int, int]]]:
    """`Events.queued_ps` and `lives_ps` of a run's records."""
    waits, lives = read_waits(raw), read_thread_lives(raw)
    waits = waits[waits["for_a_core"] != 0]
    queued, lived = {}, {}
    for block, thread in threads_of(topology, raw).items():
        mine = waits[waits["thread"] == thread]
        queued[block] = np.stack((mine["t0_ps"], mine["t1_ps"]), axis=1)
        if thread < len(lives):
            lived[block] = (int(lives[thread, 0]), int(lives[thread, 1]))
    return queued, lived


def away(events: Events) -> Mapping[str, Away]:
    """Of the blocks of which a run tells it."""
    whole = max(events.end_ps - events.start_ps, 1)
    away_of = {}
    for block, (began, ended) in events.lives_ps.items():
        queued = events.queued_ps.get(block, np.empty((0, 2), np.int64))
        outside = np.array([[events.start_ps, began], [ended, max(ended, events.end_ps)]])
        spells = np.concatenate([queued, outside, *_waits(events, block)])
        idle = _length_ps(np.clip(spells, events.start_ps, events.end_ps))
        ready = min(events.ready_ps.get(block, 0), whole - idle)
        away_of[block] = Away((_length_ps(queued) + ready) / whole, 1 - (idle + ready) / whole)
    return away_of


def _waits(events: Events, block: str) -> Iterable[Times]:
    for one in events.edges.values():
        if one.edge.sink.block == block:
            yield one.waiting_ps
        if one.edge.source.block == block:
            yield one.blocked_ps


def _length_ps(spells: Times) -> int:
    """Of the time that they cover, together."""
    if not len(spells):
        return 0
    spells = spells[np.argsort(spells[:, 0])]
    reached = np.maximum.accumulate(spells[:, 1])
    begins = np.append(spells[0, 0], np.maximum(spells[1:, 0], reached[:-1]))
    return int(np.maximum(reached - begins, 0).sum())
