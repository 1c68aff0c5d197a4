"""Replays the host's threads on virtual cores from table `syncs` (`resources/replay/threads.c`)."""

import ctypes
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from workbench.model.run import Cores
from workbench.model.run_tables import Table
from workbench.model.syncs import SyncKind, SyncResult
from workbench.replay.compiled import compiled

Numbers = NDArray[np.int64]
_STUCK, _NO_MEMORY = -1, -2


@dataclass(frozen=True)
class ThreadTimes:
    """The times at which each row of `syncs` took effect and was over (-1 if the program ended before), and the
    program's end. `lender` holds two values for each row: the row with which another thread freed the core that this
    row's thread then got, before the row took effect and at its end (-1: none); `lent_ps` are the times."""

    t0_ps: Numbers
    t1_ps: Numbers
    end_ps: int
    lender: Numbers
    lent_ps: Numbers


class StuckError(Exception):
    """No thread can go on, since an awaited call cannot come."""


class _Script(ctypes.Structure):
    _fields_ = (
        *((name, ctypes.c_int64) for name in ("cores", "slice_ps", "call_ps", "wake_ps", "switch_ps", "ranks")),
        *((name, ctypes.c_int64) for name in ("threads", "objects")),
        *((name, ctypes.c_void_p) for name in (
            "begin", "kind", "result", "anew", "ends_waits", "object", "argument", "lag_ps", "woken_by",
            "needs",
        )),
    )  # fmt: skip


class Replay:
    """Threads whose calls are rows of `syncs`, on these cores, prepared for replay with other times."""

    def __init__(self, syncs: Table, cores: Cores) -> None:
        kind, what = np.asarray(syncs["kind"]), np.asarray(syncs["object"])
        block, woken_by = np.asarray(syncs["block"]), np.asarray(syncs["woken_by"], np.int64)
        argument = np.array(syncs["argument"], np.int64)
        of_mutex = kind == SyncKind.WAIT
        objects, number = np.unique(np.concatenate((what, argument[of_mutex])), return_inverse=True)
        argument[of_mutex] = number[len(what) :]
        threads = int(block.max(initial=0)) + 1
        ends_waits = np.zeros(len(kind), np.uint8)
        ends_waits[woken_by[woken_by >= 0]] = 1
        woken_ps, t0_ps = np.asarray(syncs["woken_ps"], np.int64), np.asarray(syncs["t0_ps"], np.int64)
        since_ps = np.where((kind == SyncKind.AWAIT_MESSAGE) & (woken_by >= 0), t0_ps[woken_by], t0_ps)
        lag_ps = np.where(woken_ps >= 0, woken_ps - since_ps, -1)
        self._took_ps, self._own_ps = waits_ps(syncs), np.asarray(syncs["own_ps"])
        self._arrays: dict[str, NDArray[Any]] = {
            "begin": np.searchsorted(block, np.arange(threads + 1)).astype(np.int64),
            "kind": kind.astype(np.uint8), "result": np.asarray(syncs["result"]).astype(np.uint8),
            "anew": _made_anew(syncs), "ends_waits": ends_waits, "object": number[: len(what)].astype(np.int32),
            "argument": argument, "lag_ps": lag_ps, "woken_by": woken_by.copy(),
            "needs": needed_before(syncs),
        }  # fmt: skip
        times = (
            max(cores.count, 1),
            cores.slice_ps,
            cores.call_ps,
            cores.wake_ps,
            cores.switch_ps,
            max(cores.ranks, 1),
        )
        self._script = _Script(
            *times, threads, len(objects), *(array.ctypes.data for array in self._arrays.values())
        )  # fmt: skip

    @property
    def lag_ps(self) -> Numbers:
        """The time from each row to the event that ended its wait, -1 without a wait; for a message, from its
        sending."""
        return self._arrays["lag_ps"]

    def times(self, took_ps: Numbers | None = None, own_ps: Numbers | None = None) -> ThreadTimes:
        """The times of the run with these card waits and own times of threads (one for each row, ps; None: as
        recorded). Raises StuckError."""
        inputs = [
            np.ascontiguousarray(recorded if other is None else other, np.int64)
            for other, recorded in ((took_ps, self._took_ps), (own_ps, self._own_ps))
        ]
        arrays = [np.empty(len(self._took_ps) * rows, np.int64) for rows in (1, 1, 2, 2)]
        pointers = (ctypes.c_void_p(array.ctypes.data) for array in (*inputs, *arrays))
        replay = compiled("threads").replay_threads
        replay.restype = ctypes.c_int64
        end_ps = replay(ctypes.byref(self._script), *pointers)
        if end_ps == _NO_MEMORY:
            raise MemoryError
        if end_ps == _STUCK:
            raise StuckError
        return ThreadTimes(arrays[0], arrays[1], end_ps, arrays[2], arrays[3])


def needed_before(syncs: Table) -> Numbers:
    """For each lock the other thread's lock that must come before it, -1 if none is known.

    If two threads share a mutex and one of them has waited for a condition, the condition is assumed to depend on the
    number of locks by which the other is ahead. At the largest such number at which the thread waited, it waits again.
    """
    kind, block, mutex_of_call = (np.asarray(syncs[name]) for name in ("kind", "block", "object"))
    t0_ps, t1_ps = (np.asarray(syncs[name], np.int64) for name in ("t0_ps", "t1_ps"))
    before = np.full(len(kind), -1, np.int64)
    waits = np.flatnonzero(kind == SyncKind.WAIT)
    mutex = np.asarray(syncs["argument"])[waits]
    locks = np.flatnonzero((kind == SyncKind.LOCK) & (np.asarray(syncs["result"]) == SyncResult.DONE))
    for shared in np.unique(mutex).tolist():
        locks_of_mutex = locks[mutex_of_call[locks] == shared]
        threads = np.unique(block[locks_of_mutex])
        for thread, other in (threads, threads[::-1]) if len(threads) == 2 else ():
            own, others = (
                locks_of_mutex[block[locks_of_mutex] == thread],
                locks_of_mutex[block[locks_of_mutex] == other],
            )
            waited = waits[(mutex == shared) & (block[waits] == thread)]
            at = np.searchsorted(own, waited) - 1
            if not len(waited) or (at < 0).any():
                continue
            through_ps = t1_ps[own].copy()
            np.maximum.at(through_ps, at, t1_ps[waited])
            taken_ps = np.sort(t1_ps[others])
            least = int((np.searchsorted(taken_ps, t0_ps[waited], "right") - at).max()) + 1
            number = np.arange(len(own))
            needed = number + least - 1
            some = (needed >= 0) & (needed < len(others))
            if (np.searchsorted(taken_ps, through_ps, "right") <= needed)[some].any():
                continue
            some &= ~np.isin(number, at)
            before[own[some]] = others[needed[some]]
    return before


def waits_ps(syncs: Table) -> Numbers:
    """The time from each call to the event that it waited for; 0 without a wait."""
    return np.where(syncs["woken_ps"] >= 0, np.maximum(syncs["woken_ps"] - syncs["t0_ps"], 0), 0)


def differences(syncs: Table, replayed: ThreadTimes) -> Numbers:
    """The rows of `syncs` with other times in a replay than in the run."""
    return np.flatnonzero((syncs["t0_ps"] != replayed.t0_ps) | (syncs["t1_ps"] != replayed.t1_ps))


def _made_anew(syncs: Table) -> NDArray[np.uint8]:
    """A mask of the rows whose semaphore has another value than earlier calls left: it was created (again) with it."""
    kind, result, waited = (np.asarray(syncs[name]) for name in ("kind", "result", "woken_ps"))
    anew = np.zeros(len(kind), np.uint8)
    rows = np.flatnonzero(np.isin(kind, [SyncKind.TAKE, SyncKind.POST]))
    took = (kind[rows] == SyncKind.TAKE) & (result[rows] == SyncResult.DONE)
    later = rows[took & (waited[rows] >= 0)]  # it takes the token that it waited for
    row_of_change = np.concatenate((rows, later))
    begins = np.arange(len(row_of_change)) < len(rows)
    moments = np.concatenate((syncs["t0_ps"][rows], syncs["t1_ps"][later]))
    by = np.where(kind[row_of_change] == SyncKind.POST, 1, 0)
    by[: len(rows)][took & (waited[rows] < 0)] = -1
    by[len(rows) :] = -1
    order = np.lexsort((syncs["block"][row_of_change], moments, syncs["object"][row_of_change]))
    row_of_change, begins, value_after = row_of_change[order], begins[order], np.cumsum(by[order])
    at = np.flatnonzero(begins)
    row, what = row_of_change[at], np.asarray(syncs["object"])[row_of_change[at]]
    value = np.asarray(syncs["argument"])[row]
    before = np.append(0, value[:-1] + value_after[at[1:] - 1] - np.append(0, value_after)[at[:-1]])[: len(value)]
    anew[row] = np.append(True, what[1:] != what[:-1])[: len(what)] | (value != before)
    return anew
