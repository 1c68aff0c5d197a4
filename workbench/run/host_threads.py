"""The host's threads as blocks of a run: their lives, their calls, and their waits for each other."""

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from workbench.api.records import (
    WAITS,
    RecordFile,
    Records,
    read_thread_lives,
    read_thread_names,
    read_thread_ranks,
    read_waits,
)
from workbench.model.blocks import QUEUED, WAITING, Block, State
from workbench.model.run_tables import Table


@dataclass(frozen=True)
class HostThreads:
    """The card library's records of the threads.

    `lives_ps` has a row (begin, end) for each thread, by number; none if a target does not record it. `waits` are of
    dtype WAITS, without those within a call, which belong to the call. `names` are the program's names of threads;
    `ranks` maps a thread to its process, empty for one process.
    """

    lives_ps: NDArray[np.int64]
    waits: Records
    names: Mapping[int, str] = field(default_factory=dict)
    ranks: Mapping[int, int] = field(default_factory=dict)

    @property
    def known(self) -> bool:
        return len(self.lives_ps) > 0

    def begins_ps(self, count: int) -> NDArray[np.int64]:
        """The begin (ps) of each of so many threads; 0 if unknown."""
        return np.append(self.lives_ps[:count, 0], np.zeros(max(count - len(self.lives_ps), 0), np.int64))

    def own_ps(self, number: int, from_ps: NDArray[np.int64], to_ps: NDArray[np.int64]) -> NDArray[np.int64]:
        """The time (ps) of each stretch between calls in which a thread did not wait."""
        waits = self.waits[self.waits["thread"] == number]
        waited = np.append(0, np.cumsum(waits["t1_ps"] - waits["t0_ps"]))
        so_far: list[NDArray[np.int64]] = [
            waited[np.searchsorted(waits["t1_ps"], moments, side="right")] for moments in (from_ps, to_ps)
        ]
        return to_ps - from_ps - (so_far[1] - so_far[0])


UNKNOWN = HostThreads(np.zeros((0, 2), np.int64), np.zeros(0, WAITS))


def read_threads(raw: Path, calls: RecordFile) -> HostThreads:
    """The threads of a run that made these calls."""
    waits = read_waits(raw)
    if len(waits):
        waits = outside(waits, *calls.columns("thread", "t0_ps", "t1_ps"))
    return HostThreads(read_thread_lives(raw), waits, read_thread_names(raw), read_thread_ranks(raw))


def outside(waits: Records, thread: NDArray[np.int32], t0_ps: NDArray[np.int64], t1_ps: NDArray[np.int64]) -> Records:
    """The waits that are not part of a call of their thread; each thread's calls are in order."""
    keep = np.ones(len(waits), bool)
    for number in np.unique(waits["thread"]):
        mine, of_thread = np.flatnonzero(waits["thread"] == number), np.flatnonzero(thread == number)
        before = np.searchsorted(t0_ps[of_thread], waits["t0_ps"][mine], side="right") - 1
        ends = np.append(t1_ps[of_thread], -1)[before]  # -1: no call began before
        keep[mine] = waits["t1_ps"][mine] > ends
    return waits[keep]


def thread_blocks(main: Block, callers: NDArray[np.int32], threads: HostThreads = UNKNOWN) -> tuple[Block, ...]:
    """`host.main`, and a block with the same states for every further thread; `callers` are the threads that made
    calls."""
    count = max(len(threads.lives_ps), int(callers.max(initial=0)) + 1)
    if len(threads.waits):
        after = len(main.states)
        main = replace(main, states=(*main.states, State(after, WAITING), State(after + 1, QUEUED)))
    if threads.ranks:
        return tuple(_of_rank(main, *place) for place in _in_ranks(threads, count))
    ids = (f"host.{name}" for name in _names(threads.names, count))
    return (main, *(replace(main, id=id_, group=id_, kind="thread") for id_ in ids))


def _of_rank(main: Block, rank: int, name: str) -> Block:
    component, group = f"host.rank[{rank}]", f"host.rank[*].{name}"
    return replace(main, id=f"{component}.{name}", component=component, group=group, kind="thread")


def _in_ranks(threads: HostThreads, count: int) -> list[tuple[int, str]]:
    """The rank and the name of each thread; the same threads of all ranks are replicas."""
    places: list[tuple[int, str]] = []
    numbers = {rank: [n for n in range(count) if threads.ranks.get(n, 0) == rank] for rank in threads.ranks.values()}
    names: dict[int, str] = {}
    for of_rank in numbers.values():
        given = {own: threads.names[n] for own, n in enumerate(of_rank) if n in threads.names}
        names |= dict(zip(of_rank, ["main", *_names(given, len(of_rank))], strict=False))
    for number in range(count):
        places.append((threads.ranks.get(number, 0), names[number]))
    return places


def _names(given: Mapping[int, str], count: int) -> list[str]:
    """The names of the threads after the first: those of the program, with the thread's number if the name is missing
    or repeated."""
    names = [re.sub(r"\W+", "_", given.get(number, "")) or "thread" for number in range(1, count)]
    alike = Counter(["main", "thread", *names])
    return [name if alike[name] == 1 else f"{name}_{number}" for number, name in enumerate(names, 1)]


def host_stretches(calls: Table, threads: HostThreads, blocks: Sequence[Block], time_ps: int) -> Table:
    """The stretches other than work, in order of time within each block: calls, waits, and the times before a thread
    began and after it ended (`unclassified`). Columns `block`, `state`, `t0_ps` and `t1_ps`.

    If the main thread is the only one and never waited, these are the calls.
    """
    if not len(threads.waits) and len(threads.lives_ps) <= 1:
        return calls
    waits = threads.waits
    numbers = np.arange(len(threads.lives_ps), dtype=np.int32)
    begins, ends = threads.lives_ps.T
    late, early = np.flatnonzero(begins > 0), np.flatnonzero((ends < time_ps) & (numbers > 0))
    waiting = len(blocks[0].states) - 2
    columns = {
        "block": (calls["block"], waits["thread"], numbers[late], numbers[early]),
        "state": (calls["state"], waiting + waits["for_a_core"], np.zeros(len(late) + len(early), np.int32)),
        "t0_ps": (calls["t0_ps"], waits["t0_ps"], np.zeros(len(late), np.int64), ends[early]),
        "t1_ps": (calls["t1_ps"], waits["t1_ps"], begins[late], np.full(len(early), time_ps, np.int64)),
    }
    table = {name: np.concatenate(parts) for name, parts in columns.items()}
    order = np.lexsort((table["t1_ps"], table["t0_ps"]))
    return {name: column[order] for name, column in table.items()}
