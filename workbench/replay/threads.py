"""Replays the host's threads on virtual cores from table `syncs`.

What a thread does between two calls is its own time on a core. What calls mean (a mutex, a semaphore, a barrier) is
done again; waits for conditions, futexes and what is done once end with the call that ended them in the run, or do not
wait where that came before.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from workbench.model.run import Cores, Table
from workbench.model.syncs import FREE, SyncKind, SyncResult
from workbench.replay.virtual_cores import NEVER, Event, State, Thread, VirtualCores

#: When what a call waits for of the card comes (ps): asked with the row of `syncs` and the time of the call.
Card = Callable[[int, int], int]

_BY_CAUSE = {SyncKind.WAIT, SyncKind.FUTEX_WAIT, SyncKind.ONCE}


@dataclass(frozen=True)
class ThreadTimes:
    """When each row of `syncs` took effect and was over, -1 where the program ended before; and when that was."""

    t0_ps: NDArray[np.int64]
    t1_ps: NDArray[np.int64]
    end_ps: int


class StuckError(Exception):
    """No thread can go on: the call that one waits for cannot come."""


def as_recorded(syncs: Table) -> Card:
    """The card takes as long after each call as in the run."""
    took_ps = waits_ps(syncs).tolist()
    return lambda row, t0_ps: t0_ps + took_ps[row]


def waits_ps(syncs: Table) -> NDArray[np.int64]:
    """How long after each call that came for which it waited; 0 where it did not wait."""
    return np.where(syncs["woken_ps"] >= 0, syncs["woken_ps"] - syncs["t0_ps"], 0)


def differences(syncs: Table, replayed: ThreadTimes) -> NDArray[np.int64]:
    """The rows of `syncs` that a replay puts at other times than the run."""
    return np.flatnonzero((syncs["t0_ps"] != replayed.t0_ps) | (syncs["t1_ps"] != replayed.t1_ps))


def replay_threads(
    syncs: Table, cores: Cores, card: Card | None = None, own_ps: NDArray[np.int64] | None = None
) -> ThreadTimes:
    """The run again, on these cores, with this card (None: as recorded) and the threads' own times `own_ps` (rows; ps).

    Raises StuckError.
    """
    own = np.asarray(syncs["own_ps"] if own_ps is None else own_ps).tolist()
    return _Replay(syncs, cores, card or as_recorded(syncs), own).run()


@dataclass
class _Thing:
    """A mutex, a semaphore, a barrier or the like."""

    owner: int = -1
    count: int = 0  # that a mutex is held besides, of readers, a semaphore's value, who arrived


class _Replay:
    def __init__(self, syncs: Table, cores: Cores, card: Card, own_ps: list[int]) -> None:
        columns = ("kind", "object", "argument", "result", "t0_ps", "woken_ps", "woken_by")
        self.kind, self.object, self.argument, self.result, self.base_ps, self.woken_ps, self.woken_by = (
            np.asarray(syncs[name]).tolist() for name in columns
        )
        self.card, self.own_ps, self.call_ps = card, own_ps, cores.call_ps
        block = np.asarray(syncs["block"])
        firsts = np.searchsorted(block, np.arange(int(block.max(initial=0)) + 2)).tolist()
        self.threads = [Thread(n, firsts[n], firsts[n + 1]) for n in range(len(firsts) - 1)]
        self.cores = VirtualCores(cores, self.threads)
        self.t0_ps, self.t1_ps = ([-1] * len(block) for _ in range(2))
        self.causes = {row for row in self.woken_by if row >= 0}
        self.things: dict[object, _Thing] = defaultdict(_Thing)
        self.made_anew = _made_anew(syncs)

    def run(self) -> ThreadTimes:
        cores = self.cores
        cores.get_core(self.threads[0], 0)
        self._next(self.threads[0])
        while True:
            at_ps, event, thread = cores.first_event()
            if thread is None or at_ps >= NEVER:
                raise StuckError
            cores.clock_ps = max(cores.clock_ps, at_ps)
            if event == Event.WAKE:
                cores.take_core(thread)
            elif event in (Event.CARD, Event.TIME_OUT):
                thread.timed_out = True
                cores.wake(thread)
            elif event == Event.SLICE:
                cores.end_slice(thread)
            else:
                thread.began_ps, thread.left_ps, thread.until_ps = cores.clock_ps, 0, 0
                if thread.under_way:
                    self._go_on(thread)
                elif self.kind[thread.row] == SyncKind.EXIT:
                    return self._ended(thread)
                else:
                    self._take_effect(thread)

    def _ended(self, thread: Thread) -> ThreadTimes:
        """A thread ends the program; what others are about ends with it."""
        end_ps = self.cores.clock_ps
        self.t0_ps[thread.row] = self.t1_ps[thread.row] = end_ps
        for other in self.threads:
            if other.under_way:
                self.t1_ps[other.row] = end_ps
        return ThreadTimes(np.array(self.t0_ps, np.int64), np.array(self.t1_ps, np.int64), end_ps)

    def _next(self, thread: Thread) -> None:
        thread.under_way, thread.timed_out, thread.waits = False, False, 0
        thread.left_ps += self.own_ps[thread.row] if thread.row < thread.end else NEVER

    def _finish(self, thread: Thread) -> None:
        self.t1_ps[thread.row] = self.cores.clock_ps
        thread.row += 1
        self._next(thread)

    # ---- a call takes effect ----

    def _take_effect(self, thread: Thread) -> None:
        row = thread.row
        kind, what = SyncKind(self.kind[row]), self.object[row]
        self.t0_ps[row] = self.cores.clock_ps
        if kind not in FREE:
            thread.left_ps += self.call_ps
        if row in self.made_anew:
            self.things[what].count = self.argument[row]
        if kind == SyncKind.END:
            self.t1_ps[row] = self.cores.clock_ps
            thread.state = State.ENDED
            self.cores.wake_some(("thread", thread.number))
            self.cores.give_up_core(thread)
            return
        if self.result[row] != SyncResult.REFUSED:
            self._act(thread, kind, row, what)
        if row in self.causes:
            self.cores.wake_by(row)
        self._go_on(thread)

    def _act(self, thread: Thread, kind: SyncKind, row: int, what: object) -> None:
        """What a call does before it may have to wait."""
        thing, cores = self.things[what], self.cores
        match kind:
            case SyncKind.WAIT:
                self._let_go(self.argument[row], whole=True)
            case SyncKind.UNLOCK:
                self._let_go(what)
            case SyncKind.UNLOCK_BOTH:
                if thing.owner == thread.number:
                    thing.owner = -1
                else:
                    thing.count = max(thing.count - 1, 0)
                if thing.owner < 0 and not thing.count:
                    cores.wake_some(what)
            case SyncKind.UNLOCK_SPINNING:
                thing.owner = -1
                cores.wake_some(what, 1)
            case SyncKind.BARRIER:
                thing.count += 1
                if thing.count >= self.argument[row]:
                    thing.count, thread.waits = 0, 1  # it is through
                    cores.wake_some(what)
            case SyncKind.POST:
                thing.count += 1
                cores.wake_some(what, 1)
            case SyncKind.CREATE if 0 < self.argument[row] < len(self.threads):
                other = self.threads[self.argument[row]]
                other.pin = thread.pin
                self._next(other)
                cores.wake(other)
            case SyncKind.BIND:
                thread.pin = self.argument[row]

    def _let_go(self, mutex: object, whole: bool = False) -> None:
        thing = self.things[mutex]
        if thing.count and not whole:
            thing.count -= 1
            return
        thing.owner = -1
        self.cores.wake_some(mutex, 1)

    # ---- and goes on, or waits ----

    def _go_on(self, thread: Thread) -> None:
        """A call at its first moment, or once more when it was woken: it waits, or is over."""
        row = thread.row
        kind, result, what = SyncKind(self.kind[row]), self.result[row], self.object[row]
        timed = result == SyncResult.TIMED_OUT
        over = result == SyncResult.REFUSED or (timed and thread.timed_out and kind != SyncKind.WAIT)
        if over or not (self._waits_by_cause(thread, kind, result, row) or self._waits(thread, kind, row, what, timed)):
            self._finish(thread)

    def _waits(self, thread: Thread, kind: SyncKind, row: int, what: object, timed: bool) -> bool:
        """Whether a call has to wait, by its own rules; what it does where it has not."""
        thing, cores = self.things[what], self.cores
        lag_ps = self.woken_ps[row] - self.base_ps[row]
        until_ps = self.t0_ps[row] + lag_ps if timed else NEVER
        match kind:
            case SyncKind.WAIT:
                return self._waits_for_mutex(thread, self.argument[row], NEVER)
            case SyncKind.LOCK:
                return self._waits_for_mutex(thread, what, until_ps)
            case SyncKind.LOCK_READING | SyncKind.LOCK_WRITING:
                writes = kind == SyncKind.LOCK_WRITING
                if thing.owner >= 0 or (writes and thing.count):
                    cores.block(thread, what, until_ps)
                    return True
                if not timed:
                    thing.owner, thing.count = (thread.number, 0) if writes else (-1, thing.count + 1)
            case SyncKind.LOCK_SPINNING:
                if thing.owner >= 0:
                    cores.spin(thread, what)
                    return True
                thing.owner = thread.number
            case SyncKind.TAKE:
                if not thing.count:
                    cores.block(thread, what, until_ps)
                    return True
                thing.count -= not timed
            case SyncKind.JOIN if 0 <= (other := self.argument[row]) < len(self.threads):
                if self.threads[other].state != State.ENDED:
                    cores.block(thread, ("thread", other), until_ps)
                    return True
            case SyncKind.PIPE:
                if thread.waits < self.argument[row]:
                    cores.block(thread, what)
                    return True
                cores.wake_some(what)
            case _ if not thread.waits:
                return self._waits_once(thread, kind, row, what, lag_ps)
        return False

    def _waits_once(self, thread: Thread, kind: SyncKind, row: int, what: object, lag_ps: int) -> bool:
        cores = self.cores
        match kind:
            case SyncKind.BARRIER:
                cores.block(thread, what)
            case SyncKind.SLEEP:
                cores.block(thread, None, cores.clock_ps + lag_ps)
            case SyncKind.CARD | SyncKind.INTERRUPT:
                due_ps = self.card(row, cores.clock_ps)
                said = self.woken_ps[row] >= 0 and self.result[row] == SyncResult.DONE
                if due_ps <= cores.clock_ps and not said:
                    return False
                cores.block(thread, None, due_ps)
                thread.said_by_card = said
                return True
            case SyncKind.CARD_HELD:
                thread.until_ps = self.card(row, cores.clock_ps)
            case SyncKind.YIELD if cores.next_on(thread.core):
                cores.end_slice(thread)
            case SyncKind.BIND if thread.pin not in (-1, thread.core):
                cores.give_up_core(thread)
                cores.take_core(thread)
            case _:
                return False
        thread.said_by_card = False
        thread.waits, thread.under_way = 1, True
        return True

    def _waits_for_mutex(self, thread: Thread, mutex: object, until_ps: int) -> bool:
        thing = self.things[mutex]
        if thing.owner == thread.number:
            thing.count += 1
        elif thing.owner >= 0:
            self.cores.block(thread, mutex, until_ps)
            return True
        elif until_ps == NEVER:
            thing.owner, thing.count = thread.number, 0
        return False

    def _waits_by_cause(self, thread: Thread, kind: SyncKind, result: int, row: int) -> bool:
        """Whether a call waits, as it begins, for the one that ended its wait in the run."""
        if thread.waits or (kind not in _BY_CAUSE and result not in (SyncResult.CANCELLED, SyncResult.NOT_OVER)):
            return False
        cause, due_ps = self.woken_by[row], self.cores.clock_ps + self.woken_ps[row] - self.base_ps[row]
        if result == SyncResult.NOT_OVER:
            self.cores.block(thread, None)
        elif result == SyncResult.TIMED_OUT:
            self.cores.block(thread, None, due_ps)
        elif self.woken_ps[row] < 0 or (cause >= 0 and self.t0_ps[cause] >= 0):
            thread.waits = 1
            return False
        else:
            self.cores.block(thread, None, NEVER if cause >= 0 else due_ps, cause)
        return True


def _made_anew(syncs: Table) -> set[int]:
    """The rows of semaphores whose value before is not what the calls before left: they began (anew) with it."""
    kind, what, result, waited = (np.asarray(syncs[name]) for name in ("kind", "object", "result", "woken_ps"))
    rows = np.flatnonzero(np.isin(kind, [SyncKind.TAKE, SyncKind.POST]))
    taken = rows[(kind[rows] == SyncKind.TAKE) & (result[rows] == SyncResult.DONE)]
    later = taken[waited[taken] >= 0]  # it takes what it waited for
    moments = np.concatenate((syncs["t0_ps"][rows], syncs["t1_ps"][later]))
    begins = np.repeat((True, False), (len(rows), len(later)))
    each, at_once = np.concatenate((rows, later)), set(taken.tolist()) - set(later.tolist())
    found: set[int] = set()
    values: dict[int, int] = {}
    for place in np.lexsort((syncs["block"][each], moments)).tolist():
        row, of = int(each[place]), int(what[each[place]])
        if begins[place] and values.get(of) != syncs["argument"][row]:
            found.add(row)
            values[of] = int(syncs["argument"][row])
        values[of] += 1 if kind[row] == SyncKind.POST else -(row in at_once or not begins[place])
    return found
