"""Concludes from the messages of MPI ranks who waited for whom: the rows of table `syncs`, as the simulated card writes
them.

| a call | waits for |
| --- | --- |
| receive, probe | its message, from the moment at which it is sent (late sender) |
| send that blocks | its receiver, if that asked later for the message (late receiver) |
| collective call | the last rank, the root, or the root for the last one |
| first call of a thread | the thread that starts it |
| join | the end of the other thread |
| lock, condition, semaphore, futex | the other thread that last let it go meanwhile |
| barrier of OpenMP, end of a region | all other threads of the team |

For example, rank 1 calls MPI_Recv at 50 ps, rank 0 calls MPI_Send at 100 ps, and the receive returns at 130 ps. Then
rank 1 has a row AWAIT_MESSAGE from 50 to 130 ps, woken by rank 0's row SEND_MESSAGE at 100 ps.
"""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from workbench.api.records import SYNCS
from workbench.model.run_tables import RowArray
from workbench.model.syncs import SyncKind
from workbench.run.rank_messages import (
    COLLECTIVES,
    SENDS,
    Key,
    Kind,
    Matcher,
    Message,
    awaited_parts,
    unrecorded_waits,
)


@dataclass(frozen=True)
class Messages:
    """The result of matching the messages of all ranks.

    `syncs` are rows of SYNCS, thread after thread, each thread's in order. `unmatched` counts the messages whose other
    end is not recorded. `early_ends_ps` holds, for each call that ended before the data for which it waited were sent,
    by how much (ps): the ranks' clocks are off by that. `calls_without_partners` counts the calls that may wait for
    unknown ranks. `unrecorded_waits` are the ways in which threads wait for each other without a record.
    """

    syncs: RowArray
    unmatched: int
    early_ends_ps: tuple[int, ...]
    calls_without_partners: int
    unrecorded_waits: tuple[str, ...]


@dataclass
class _Thread:
    """The rows of one thread, while they are written. `number` is the thread's in the run, `free_ps` the end of its
    last row."""

    number: int
    free_ps: int = 0
    rows: list[dict[str, Any]] = field(default_factory=list)

    def add(self, kind: SyncKind, t0: int, t1: int, **columns: Any) -> int:
        """Add a row from `t0` to `t1` (ps), and return its number. The time since the last row is the thread's own."""
        t0 = max(t0, self.free_ps)
        t1 = max(t1, t0)
        row = {"kind": kind, "t0_ps": t0, "t1_ps": t1, "own_ps": t0 - self.free_ps, "woken_ps": -1, "by": None}
        self.rows.append(row | columns)
        self.free_ps = t1
        return len(self.rows) - 1


class _Call(NamedTuple):
    """The messages (`keys`) that begin or end in one call of a thread, from `t0` to `t1` (ps). `posts` is a receive for
    which this call asks while its sender waits, or a collective call that this call begins."""

    t0: int
    t1: int
    keys: list[Key]
    posts: Key | None = None


@dataclass(frozen=True)
class _Cause:
    """The event that ends a wait: its time (ps), and the name of its row in `_Writer.row_of`."""

    time_ps: int
    row: tuple[str, Key]


def match_messages(
    ranks: Sequence[NDArray[np.void]],
    lives_ps: Mapping[int, tuple[int, int]],
    threads: Mapping[tuple[int, int], int] | None = None,
) -> Messages:
    """Who waited for whom, from the records of each rank (MESSAGES, times in ps on one clock).

    `lives_ps` holds the begin and the end of each rank (ps). `threads` holds, by rank and thread of this rank, the
    thread's number in the run; a rank's first thread has the rank's number.
    """
    writer = _Writer(Matcher(ranks), dict(threads or {}))
    ends_ps = [end_ps for _, end_ps in lives_ps.values()]
    last_rank = ends_ps.index(max(ends_ps))
    for rank in range(len(ranks)):
        writer.add_rank(rank, *lives_ps[rank], rank == last_rank)
    without_partners = sum(int((records["kind"] == Kind.ALONE).sum()) for records in ranks)
    return Messages(
        writer.records(), writer.matcher.unmatched, tuple(writer.early_ends_ps), without_partners,
        unrecorded_waits(ranks),
    )  # fmt: skip


class _Writer:
    """Writes the rows of all threads. `row_of` has the thread and the number of each row that may end another thread's
    wait, by what happens there and by whose message it is."""

    def __init__(self, matcher: Matcher, numbers: Mapping[Key, int]) -> None:
        self.matcher = matcher
        self.numbers = numbers
        self.row_of: dict[tuple[str, Key], tuple[int, int]] = {}
        self.early_ends_ps: list[int] = []
        self.threads: list[_Thread] = []
        self._awaited_receives = matcher.receives_that_senders_await()

    def add_rank(self, rank: int, begin_ps: int, end_ps: int, ends_run: bool) -> None:
        """Write the rows of a rank's threads. The first one lives from `begin_ps` to `end_ps`; of the others only the
        time between their first and last records is known."""
        for own in sorted({0, *(one.thread for one in self.matcher.of_ranks[rank])}):
            calls = self._calls(rank, own)
            if own:
                begin_ps, end_ps = calls[0].t0, calls[-1].t1
            thread = _Thread(self.numbers[rank, own] if own else rank)
            if own and (started_ps := self.matcher.thread_started_ps(rank, own)) is not None:
                thread.free_ps = started_ps
            if begin_ps > 0:
                thread.add(SyncKind.SLEEP, thread.free_ps, begin_ps, woken_ps=begin_ps)
            for call in calls:
                self._add_call(thread, call)
            thread.add(SyncKind.EXIT if ends_run and not own else SyncKind.END, end_ps, end_ps)
            self.threads.append(thread)

    def _calls(self, rank: int, thread: int) -> list[_Call]:
        """The calls of a rank's thread, in order."""
        messages = self.matcher.of_ranks[rank]
        keys_of: dict[tuple[int, int], list[Key]] = defaultdict(list)
        own = [((rank, place), one) for place, one in enumerate(messages) if one.thread == thread]
        for key, one in own:
            keys_of[one.t0, one.t1].append(key)
        calls = [_Call(t0, t1, keys) for (t0, t1), keys in keys_of.items()]
        for key, one in own:
            if one.began_before or key in self._awaited_receives:
                calls.append(_Call(one.posted, one.posted, [], key))
        return sorted(calls, key=lambda call: (call.t0, call.posts is None, call.t1))

    def _add_call(self, thread: _Thread, call: _Call) -> None:
        if call.posts:
            self._add_event(thread, ("posted", call.posts), call.t0)
            return
        causes = [cause for key in call.keys for cause in self._causes(thread, call, key)]
        self._add_waits(thread, call, causes)

    def _add_event(self, thread: _Thread, name: tuple[str, Key], at_ps: int) -> None:
        """A row that may end another thread's wait."""
        self.row_of[name] = thread.number, thread.add(SyncKind.SEND_MESSAGE, at_ps, at_ps)

    def _causes(self, thread: _Thread, call: _Call, key: Key) -> list[_Cause]:
        """What a call waits for by one of its messages; the message's own row is added."""
        matcher = self.matcher
        one, rank = matcher.message(key), key[0]
        if one.kind in SENDS:
            self._add_event(thread, ("sent", key), call.t0)
            return [self._posted(matcher.receiver[key])] if matcher.waits_for_receiver(key) else []
        if one.kind in COLLECTIVES:
            return self._causes_of_collective(thread, key, one)
        match one.kind:
            case Kind.RECEIVED | Kind.PROBED if key in matcher.sender:
                send = matcher.sender[key]
                return [_Cause(matcher.message(send).t0, ("sent", send))]
            case Kind.SEND_DONE:
                receive = matcher.receiver.get(matcher.send_of_order[rank].get(one.order, (-1, -1)))
                cause = self._posted(receive) if receive else None
                return [cause] if cause and call.t0 < cause.time_ps < call.t1 else []
            case Kind.THREAD_STARTED:
                other = matcher.thread_of_start.get((rank, one.order), -1)
                thread.add(SyncKind.CREATE, call.t0, call.t0, argument=self.numbers.get((rank, other), -1))
            case Kind.THREAD_OVER:
                self._add_event(thread, ("over", (rank, one.order)), call.t0)
            case Kind.THREAD_JOINED if (rank, one.order) in matcher.over_ps:
                return [_Cause(matcher.over_ps[rank, one.order], ("over", (rank, one.order)))]
            case Kind.LET_GO:
                self._add_event(thread, ("let go", key), call.t0)
            case Kind.WAITED | Kind.WAITED_FOR_ALL:
                return [_Cause(at_ps, ("let go", by)) for at_ps, by in matcher.let_go_by(key)]
        return []

    def _posted(self, receive: Key) -> _Cause:
        return _Cause(self.matcher.message(receive).posted, ("posted", receive))

    def _causes_of_collective(self, thread: _Thread, key: Key, one: Message) -> list[_Cause]:
        """What a rank waits for in a collective call. Where all wait for all, they meet at a barrier with a number of
        its own: a rank that left before the last came, by its clock, takes no part, and may be at the next barrier
        while others are at this one."""
        matcher = self.matcher
        parts = matcher.collectives[one.comm, one.order]
        if len(parts) != one.tag or len(parts) == 1 or one.comm < 0:
            return []
        if one.kind == Kind.ALL_TO_ALL and not one.began_before:
            last = max(parts, key=lambda part: matcher.message(part).t0)
            last_ps = matcher.message(last).t0
            at_barrier = [part for part in parts if matcher.message(part).t1 >= last_ps]
            if key not in at_barrier:
                self.early_ends_ps.append(last_ps - one.t1)
                return []
            woken = {"woken_ps": last_ps, "by": ("met", last)} if key != last else {}
            number = matcher.meeting_numbers[one.comm, one.order]
            row = thread.add(SyncKind.BARRIER, one.t0, last_ps, argument=len(at_barrier), object=number, **woken)
            self.row_of["met", key] = thread.number, row
            return []
        if not one.began_before:
            self._add_event(thread, ("posted", key), one.t0)
        return [
            _Cause(matcher.message(part).arrived_ps, ("posted", part))
            for part in awaited_parts(key, one, parts, matcher)
        ]

    def _add_waits(self, thread: _Thread, call: _Call, causes: Sequence[_Cause]) -> None:
        """Add a wait of the call for each of its causes, in the order of their times. The last one ends the call;
        without a cause, the call lasts as long as in the run."""
        self.early_ends_ps += [cause.time_ps - call.t1 for cause in causes if cause.time_ps > call.t1]
        in_time = sorted((cause for cause in causes if cause.time_ps <= call.t1), key=lambda cause: cause.time_ps)
        for number, cause in enumerate(in_time):
            at = max(thread.free_ps, call.t0)
            if cause.time_ps <= at:
                thread.add(SyncKind.AWAIT_MESSAGE, at, at, woken_ps=cause.time_ps, by=cause.row)
            else:
                until = call.t1 if number == len(in_time) - 1 else cause.time_ps
                thread.add(SyncKind.AWAIT_MESSAGE, at, until, woken_ps=until, by=cause.row)
        at = max(thread.free_ps, call.t0)
        if call.t1 > at:
            thread.add(SyncKind.SLEEP, at, call.t1, woken_ps=call.t1)

    def records(self) -> RowArray:
        """All rows as records (SYNCS)."""
        records = np.zeros(sum(len(thread.rows) for thread in self.threads), SYNCS)
        rows = ((thread.number, row) for thread in self.threads for row in thread.rows)
        for place, (number, row) in enumerate(rows):
            by = self.row_of.get(row["by"], (-1, -1)) if row["by"] else (-1, -1)
            records[place] = (
                row["t0_ps"], row["t1_ps"], row["woken_ps"], row["own_ps"], row.get("object", 0),
                row.get("argument", 0), number, *by, row["kind"], 0,
            )  # fmt: skip
        return records
