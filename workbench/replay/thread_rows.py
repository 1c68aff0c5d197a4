"""One thread's rows of table `syncs`: its calls that others may depend on."""

import numpy as np
from numpy.typing import NDArray

from workbench.model.run import Run
from workbench.model.syncs import SyncKind, SyncResult
from workbench.replay.traffic import Cycles

CARD = (SyncKind.CARD, SyncKind.CARD_HELD, SyncKind.INTERRUPT)


class Rows:
    """The rows of one thread. Where several threads share an end of a queue, its mutex is no row: what a thread does
    until it has it, and until it lets it go, is own time of its next call."""

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
        #: that a try failed before: it went the long way
        self.long = self.took & np.concatenate(([False], self.refused[:-1]))[: len(self.kind)]
        #: the row of table `calls` of each transfer, and wait for one; -1 of others
        self.calls = _calls(run, number, self.kind, self.argument)
        sends = np.array([*(entry.kind == "send" for entry in run.manifest.entries), False])
        self.sends = sends[np.append(run.tables["calls"]["entry"], -1)[self.calls]]
        self.bytes = np.append(run.tables["calls"]["bytes"], 0)[self.calls]

    def __len__(self) -> int:
        return len(self.kind)

    def moves(self, taken: int, posted: int) -> NDArray[np.int64]:
        """The rows in which it took from a semaphore, and posted another by its next call."""
        of_both = (self.object[:-1] == taken) & (self.object[1:] == posted) & (self.kind[1:] == SyncKind.POST)
        return np.flatnonzero(self.took[:-1] & of_both)


def _shared_ends(kind: NDArray[np.uint8], object_: NDArray[np.int32]) -> NDArray[np.bool_]:
    """The rows that lock and unlock a shared end of a queue: nothing else is locked at once after a semaphore was taken
    (`Queue` in resources/streaming/streaming.hpp)."""
    after_take = np.concatenate(([False], kind[:-1] == SyncKind.TAKE))[: len(kind)]
    mutexes = np.unique(object_[(kind == SyncKind.LOCK) & after_take])
    return np.isin(kind, [SyncKind.LOCK, SyncKind.UNLOCK]) & np.isin(object_, mutexes)


def _calls(run: Run, number: int, kind: NDArray[np.uint8], argument: Cycles) -> NDArray[np.int64]:
    calls = run.tables["calls"]
    mine = np.flatnonzero(np.asarray(calls["block"]) == number)
    parts = np.repeat(mine, np.asarray(calls["parts"])[mine])  # the call of each transfer
    call_of = np.full(len(kind), -1, np.int64)
    cards = np.flatnonzero(np.isin(kind, CARD) & (argument >= 0))
    cards = cards[argument[cards] < len(parts)]
    call_of[cards] = parts[argument[cards]]
    return call_of
