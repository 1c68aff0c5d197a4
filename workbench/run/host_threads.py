"""The host's threads as blocks of a run: their lives, what they called, and when they waited for one another."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from workbench.api.records import WAITS, Records, read_thread_lives, read_waits
from workbench.model.blocks import Block, State
from workbench.model.run import Table

#: the last states of every host block of a run whose threads waited, and what they say of a thread
WAITING, QUEUED = "waiting", "queued"


@dataclass(frozen=True)
class HostThreads:
    """What the card's library tells of the threads.

    `lives_ps` has a row of begin and end for each, by number; none where a target does not tell. `waits` are of dtype
    WAITS.
    """

    lives_ps: NDArray[np.int64]
    waits: Records

    @property
    def known(self) -> bool:
        return len(self.lives_ps) > 0


UNKNOWN = HostThreads(np.zeros((0, 2), np.int64), np.zeros(0, WAITS))


def read_threads(raw: Path) -> HostThreads:
    return HostThreads(read_thread_lives(raw), read_waits(raw))


def thread_blocks(main: Block, calls: Records, threads: HostThreads = UNKNOWN) -> tuple[Block, ...]:
    """`host.main`, and a block with the same states for every further thread."""
    count = max(len(threads.lives_ps), int(calls["thread"].max()) + 1 if len(calls) else 1)
    if len(threads.waits):
        after = len(main.states)
        main = replace(main, states=(*main.states, State(after, WAITING), State(after + 1, QUEUED)))
    others = (replace(main, id=f"host.thread_{n}", group=f"host.thread_{n}", kind="thread") for n in range(1, count))
    return (main, *others)


def host_stretches(calls: Table, threads: HostThreads, blocks: Sequence[Block], time_ps: int) -> Table:
    """All that is not work, in order of time within each block: calls, waits, and the times before a thread began and
    after it ended (`unclassified`). Columns `block`, `state`, `t0_ps` and `t1_ps`.

    A wait inside a call is the call's. Where only the main thread is, and it never waited, these are the calls.
    """
    if not len(threads.waits) and len(threads.lives_ps) <= 1:
        return calls
    waits = _outside(threads.waits, calls)
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


def own_time_ps(calls: Table, threads: HostThreads) -> NDArray[np.int64]:
    """`host_ps` of the calls, without the time before a thread began and the time in which it waited."""
    if not len(threads.waits) and len(threads.lives_ps) <= 1:
        return calls["host_ps"]
    host_ps = np.array(calls["host_ps"])
    waits = _outside(threads.waits, calls)
    for number, (begin, _) in enumerate(threads.lives_ps):
        mine = np.flatnonzero(calls["block"] == number)
        if not len(mine):
            continue
        host_ps[mine[0]] -= begin
        of_thread = waits[waits["thread"] == number]
        ended = np.concatenate(([0], np.cumsum(of_thread["t1_ps"] - of_thread["t0_ps"])))
        so_far = ended[np.searchsorted(of_thread["t1_ps"], calls["t0_ps"][mine], side="right")]
        host_ps[mine] -= np.diff(so_far, prepend=0)
    return host_ps


def _outside(waits: Records, calls: Table) -> Records:
    """The waits that are not a part of one of their thread's calls."""
    keep = np.ones(len(waits), bool)
    for number in np.unique(waits["thread"]):
        mine = np.flatnonzero(waits["thread"] == number)
        of_thread = np.flatnonzero(calls["block"] == number)
        t0_ps, t1_ps = calls["t0_ps"][of_thread], calls["t1_ps"][of_thread]
        before = np.searchsorted(t0_ps, waits["t0_ps"][mine], side="right") - 1
        ends = np.append(t1_ps, -1)[before]  # -1: no call began before
        keep[mine] = waits["t1_ps"][mine] > ends
    return waits[keep]
