"""The rows of table `syncs` of one host thread of a streaming application: its calls by which threads meet, for replay.

`queue_threads.py` turns them into a script that can be replayed, and `host_edges.py` finds the queues in them.
"""

import numpy as np
from numpy.typing import NDArray

from workbench.model.run import Run
from workbench.model.syncs import SyncKind, SyncResult
from workbench.replay.traffic import Cycles

CARD = (SyncKind.CARD, SyncKind.CARD_HELD, SyncKind.INTERRUPT)


class Rows:
    """The rows of thread `number`, as columns of equal length.

    `own` is the thread's own time before each call, `t0` and `t1` the call's begin and end, `woken` the end of its wait
    (ps). `refused` marks failed tries to take from a semaphore, `took` successful ones, and `long` those that followed
    a failed try. `calls` is the row of table `calls` of each transfer, or of each wait for one, else -1; `sends` and
    `bytes` are that transfer's direction and size.

    If several threads share an end of a queue, they lock a mutex there. Its rows are left out, and their time is part
    of the next call's own time.
    """

    def __init__(self, run: Run, number: int) -> None:
        table = run.tables["syncs"]
        block = np.asarray(table["block"])
        begin, end = np.searchsorted(block, [number, number + 1])
        self.number = number
        columns = [
            np.asarray(table[name])[begin:end]
            for name in ("kind", "object", "argument", "result", "t0_ps", "t1_ps", "woken_ps", "own_ps")
        ]
        ends = _shared_ends(columns[0], columns[1])
        if ends.any():
            cost_ps = np.cumsum(np.where(ends, columns[7] + run.manifest.cores.call_ps, 0))
            columns = [column[~ends] for column in columns]
            columns[7] = columns[7] + np.diff(cost_ps[~ends], prepend=0)
        self.kind, self.object, self.argument, self.result, self.t0, self.t1, self.woken, self.own = columns
        self.refused = (self.kind == SyncKind.TAKE) & (self.result == SyncResult.REFUSED)
        self.took = (self.kind == SyncKind.TAKE) & (self.result == SyncResult.DONE)
        self.long = self.took & np.concatenate(([False], self.refused[:-1]))[: len(self.kind)]
        self.calls = _calls(run, number, self.kind, self.argument)
        sends = np.array([*(entry.kind == "send" for entry in run.manifest.entries), False])
        self.sends = sends[np.append(run.tables["calls"]["entry"], -1)[self.calls]]
        self.bytes = np.append(run.tables["calls"]["bytes"], 0)[self.calls]

    def __len__(self) -> int:
        return len(self.kind)

    def moves(self, taken: int, posted: int) -> NDArray[np.int64]:
        """The rows in which the thread took from semaphore `taken`, and posted `posted` by its next call."""
        of_both = (self.object[:-1] == taken) & (self.object[1:] == posted) & (self.kind[1:] == SyncKind.POST)
        return np.flatnonzero(self.took[:-1] & of_both)


def _shared_ends(kind: NDArray[np.uint8], object_: NDArray[np.int32]) -> NDArray[np.bool_]:
    """Which rows lock or unlock a shared end of a queue. Only these mutexes are locked at once after a semaphore was
    taken (`Queue` in resources/streaming/streaming.hpp)."""
    after_take = np.concatenate(([False], kind[:-1] == SyncKind.TAKE))[: len(kind)]
    mutexes = np.unique(object_[(kind == SyncKind.LOCK) & after_take])
    return np.isin(kind, [SyncKind.LOCK, SyncKind.UNLOCK]) & np.isin(object_, mutexes)


def _calls(run: Run, number: int, kind: NDArray[np.uint8], argument: Cycles) -> NDArray[np.int64]:
    """The row of table `calls` of each transfer and wait for one, by the transfer's number in `argument`; else -1."""
    calls = run.tables["calls"]
    mine = np.flatnonzero(np.asarray(calls["block"]) == number)
    parts = np.repeat(mine, np.asarray(calls["parts"])[mine])  # the call of each transfer
    call_of = np.full(len(kind), -1, np.int64)
    cards = np.flatnonzero(np.isin(kind, CARD) & (argument >= 0))
    cards = cards[argument[cards] < len(parts)]
    call_of[cards] = parts[argument[cards]]
    return call_of
