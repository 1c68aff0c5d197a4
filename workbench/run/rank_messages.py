"""From the messages that ranks recorded to who waited for whom: the records of calls that synchronise threads, as the
simulated card writes them (`SYNCS`).

Messages between two ranks with one tag stay in order (MPI 3.1, section 3.5), so that the n-th that is sent is the n-th
that was asked for. A receive waits for its message from the moment it is sent. A send that ends after its receiver had
asked for the message waited for that (Scalasca's late receiver). Of a collective call all wait for the last, for the
root, or the root for the last. A thread waits for the one that starts it, and who joins it for its end; at a lock, a
condition, a semaphore or a barrier for the last other thread that let it go meanwhile.
"""

from bisect import bisect_right
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from enum import IntEnum
from operator import itemgetter
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from workbench.api.records import SYNCS
from workbench.model.run_tables import RowArray
from workbench.model.syncs import SyncKind

_Key = tuple[int, int]  # a rank, and the place of its record


class Kind(IntEnum):
    """As `rcw_message_kind` in `resources/card/records.h`."""

    SENT = 1
    SENT_TO_RECEIVER = 2
    SENT_BUFFERED = 3
    SEND_DONE = 4
    RECEIVED = 5
    PROBED = 6
    ALL_TO_ALL = 7
    FROM_ROOT = 8
    TO_ROOT = 9
    FROM_LOWER = 10
    ALONE = 11
    THREAD_STARTED = 12
    THREAD_BEGUN = 13
    THREAD_OVER = 14
    THREAD_JOINED = 15
    WAITED = 16
    LET_GO = 17


_SENDS, _COLLECTIVES = (1, 2, 3), (7, 8, 9, 10)


class _Message(NamedTuple):
    t0: int
    t1: int
    posted: int
    bytes: int
    comm: int
    order: int
    kind: int
    peer: int
    tag: int
    thread: int

    @property
    def came(self) -> int:
        """When a rank came to a collective call: where it is begun, if it ends in another call."""
        return self.posted or self.t0

    @property
    def begun_before(self) -> bool:
        """Whether a collective call was begun in another call than that in which it ended."""
        return self.kind in _COLLECTIVES and self.came < self.t0


@dataclass(frozen=True)
class Messages:
    """Rows of SYNCS, thread after thread; how many messages lack their other end; how many calls ended, by the ranks'
    clocks, before a message for which they waited was sent or the last rank came, and by how much at most (ps); how
    many calls may wait for ranks that are not known."""

    syncs: RowArray
    unmatched: int
    before_sent: int
    most_before_ps: int
    alone: int


@dataclass
class _Thread:
    """The rows of a rank's thread so far, and when the last one let it go on. `number` is the run's of the thread."""

    number: int
    free_ps: int = 0
    rows: list[dict[str, Any]] = field(default_factory=list)

    def add(self, kind: SyncKind, t0: int, t1: int, **more: Any) -> int:
        """The number of a further row; the rank's own time before it is what is left since the row before."""
        t0 = max(t0, self.free_ps)
        t1 = max(t1, t0)
        row = {"kind": kind, "t0_ps": t0, "t1_ps": t1, "own_ps": t0 - self.free_ps, "woken_ps": -1, "by": None, **more}
        self.rows.append(row)
        self.free_ps = t1
        return len(self.rows) - 1


class _Matcher:
    def __init__(self, ranks: Sequence[NDArray[np.void]]) -> None:
        self.of = [[_Message(*one) for one in records.tolist()] for records in ranks]
        self.sender: dict[_Key, _Key] = {}  # of each receive
        self.receiver: dict[_Key, _Key] = {}  # of each send
        self.collectives: dict[tuple[int, int], list[_Key]] = defaultdict(list)
        self.unmatched = 0
        self.begun: dict[_Key, int] = {}  # which thread of a rank it is, by the number that it got as it was started
        self.started_ps: dict[_Key, int] = {}
        self.over_ps: dict[_Key, int] = {}
        self.let_go: dict[_Key, list[tuple[int, _Key]]] = defaultdict(list)  # when, by rank and address
        self._match()
        for moments in self.let_go.values():
            moments.sort()
        self.meetings = {meeting: number for number, meeting in enumerate(self.collectives, 1)}

    def _match(self) -> None:
        sends: dict[tuple[int, int, int, int], list[_Key]] = defaultdict(list)
        receives: dict[tuple[int, int, int, int], list[tuple[int, _Key]]] = defaultdict(list)
        probes: list[tuple[tuple[int, int, int, int], int, _Key]] = []
        for rank, messages in enumerate(self.of):
            for place in sorted(range(len(messages)), key=lambda n: messages[n].order):
                one, key = messages[place], (rank, place)
                if one.kind == Kind.THREAD_BEGUN:
                    self.begun[rank, one.order] = one.thread
                elif one.kind == Kind.THREAD_STARTED:
                    self.started_ps[rank, one.order] = one.t0
                elif one.kind == Kind.THREAD_OVER:
                    self.over_ps[rank, one.order] = one.t0
                elif one.kind == Kind.LET_GO:
                    self.let_go[rank, one.order].append((one.t0, key))
                elif one.kind in _COLLECTIVES:
                    self.collectives[one.comm, one.order].append(key)
                elif one.peer < 0:
                    continue
                elif one.kind in _SENDS:
                    sends[one.comm, rank, one.peer, one.tag].append(key)
                elif one.kind == Kind.RECEIVED:
                    receives[one.comm, one.peer, rank, one.tag].append((one.order, key))
                elif one.kind == Kind.PROBED:
                    probes.append(((one.comm, one.peer, rank, one.tag), one.order, key))
        for channel in sends.keys() | receives.keys():
            given, taken = sends[channel], receives[channel]
            self.unmatched += abs(len(given) - len(taken))
            for send, (_, receive) in zip(given, taken, strict=False):
                self.sender[receive], self.receiver[send] = send, receive
        for channel, order, key in probes:
            later = next((receive for at, receive in receives[channel] if at > order), None)
            if later in self.sender:
                self.sender[key] = self.sender[later]

    def message(self, key: _Key) -> _Message:
        return self.of[key[0]][key[1]]

    def let_go_by(self, key: _Key) -> tuple[int, _Key] | None:
        """When and by which record another thread last let go what one waited for meanwhile; None if that is not
        recorded."""
        one = self.message(key)
        moments = self.let_go.get((key[0], one.order), [])
        for when, by in reversed(moments[: bisect_right(moments, one.t1, key=itemgetter(0))]):
            if when <= one.t0:
                break
            if self.message(by).thread != one.thread:
                return when, by
        return None

    def waits_for_receiver(self, key: _Key) -> bool:
        """Whether a send that blocks ended only after its receiver, later than it, had asked for the message."""
        one, receive = self.message(key), self.receiver.get(key)
        if receive is None or one.kind not in (Kind.SENT, Kind.SENT_TO_RECEIVER):
            return False
        return one.t0 < self.message(receive).posted < one.t1


@dataclass(frozen=True)
class _Cause:
    """What a call waits for: the row of a rank by a key of `_rows`, at a time (ps)."""

    time_ps: int
    row: tuple[str, _Key]


def match_messages(
    ranks: Sequence[NDArray[np.void]],
    lives_ps: Mapping[int, tuple[int, int]],
    threads: Mapping[tuple[int, int], int] | None = None,
) -> Messages:
    """Who waited for whom, by each rank's messages (MESSAGES, times in ps on one clock). `lives_ps` is when each began
    and ended, `threads` the run's number of each rank's threads but for the first."""
    matcher = _Matcher(ranks)
    rows: dict[tuple[str, _Key], tuple[int, int]] = {}  # thread and number of the row that others wait for
    early: list[int] = []
    done: list[_Thread] = []
    ends = [end for _, end in lives_ps.values()]
    last = ends.index(max(ends))
    sends = [{one.order: (rank, place) for place, one in enumerate(messages) if one.kind in _SENDS}
             for rank, messages in enumerate(matcher.of)]  # fmt: skip
    asked = {receive for send, receive in matcher.receiver.items() if matcher.waits_for_receiver(send)}
    asked |= set(_awaited(matcher, sends))
    for rank, messages in enumerate(matcher.of):
        begin_ps, end_ps = lives_ps[rank]
        for own in sorted({0, *(one.thread for one in messages)}):
            calls = _calls(rank, own, messages, asked)
            if own:  # what it did before its first record, and does after its last, is not known
                begin_ps, end_ps = calls[0].t0, calls[-1].t1
            thread = _Thread((threads or {})[rank, own] if own else rank)
            if own and (started_ps := _started_ps(matcher, rank, own)) is not None:
                thread.free_ps = started_ps
            if begin_ps > 0:
                thread.add(SyncKind.SLEEP, thread.free_ps, begin_ps, woken_ps=begin_ps)
            for call in calls:
                _add_call(thread, call, matcher, sends[rank], rows, early, threads or {})
            thread.add(SyncKind.EXIT if rank == last and not own else SyncKind.END, end_ps, end_ps)
            done.append(thread)
    alone = sum(int((records["kind"] == Kind.ALONE).sum()) for records in ranks)
    return Messages(_records(done, rows), matcher.unmatched, len(early), max(early, default=0), alone)


def _started_ps(matcher: _Matcher, rank: int, thread: int) -> int | None:
    """When a rank's thread was started by another one; None where that is not recorded."""
    keys = (key for key, other in matcher.begun.items() if key[0] == rank and other == thread)
    return next((matcher.started_ps[key] for key in keys if key in matcher.started_ps), None)


def _awaited(matcher: _Matcher, sends: Sequence[Mapping[int, _Key]]) -> Iterator[_Key]:
    """The receives for which ends of sends that were begun in other calls waited."""
    for rank, messages in enumerate(matcher.of):
        for one in messages:
            receive = matcher.receiver.get(sends[rank].get(one.order, (-1, -1))) if one.kind == Kind.SEND_DONE else None
            if receive and one.t0 < matcher.message(receive).posted < one.t1:
                yield receive


class _Call(NamedTuple):
    """Messages that begin or end in one call; `posts` is a receive that is asked for then, and a sender waits for, or a
    collective call that is begun."""

    t0: int
    t1: int
    keys: list[_Key]
    posts: _Key | None = None


def _calls(rank: int, thread: int, messages: Sequence[_Message], asked: set[_Key]) -> list[_Call]:
    """Those of a rank's thread, in order."""
    calls: dict[tuple[int, int], list[_Key]] = defaultdict(list)
    own = [(place, one) for place, one in enumerate(messages) if one.thread == thread]
    for place, one in own:
        calls[one.t0, one.t1].append((rank, place))
    found = [_Call(t0, t1, keys) for (t0, t1), keys in calls.items()]
    for key in ((rank, place) for place, one in own if one.begun_before or (rank, place) in asked):
        posted = messages[key[1]].posted
        found.append(_Call(posted, posted, [], key))
    return sorted(found, key=lambda call: (call.t0, call.posts is None, call.t1))


def _add_call(
    thread: _Thread, call: _Call, matcher: _Matcher, sends: Mapping[int, _Key],
    rows: dict[tuple[str, _Key], tuple[int, int]], early: list[int], numbers: Mapping[_Key, int],
) -> None:  # fmt: skip
    if call.posts:
        rows["posted", call.posts] = thread.number, thread.add(SyncKind.SEND_MESSAGE, call.t0, call.t0)
        return
    causes: list[_Cause] = []
    for key in call.keys:
        one = matcher.message(key)
        if one.kind in _SENDS:
            rows["sent", key] = thread.number, thread.add(SyncKind.SEND_MESSAGE, call.t0, call.t0)
            if matcher.waits_for_receiver(key):
                receive = matcher.receiver[key]
                causes.append(_Cause(matcher.message(receive).posted, ("posted", receive)))
        elif one.kind in (Kind.RECEIVED, Kind.PROBED) and key in matcher.sender:
            send = matcher.sender[key]
            causes.append(_Cause(matcher.message(send).t0, ("sent", send)))
        elif one.kind == Kind.SEND_DONE and (begun := sends.get(one.order)) in matcher.receiver:
            receive = matcher.receiver[begun]
            posted = matcher.message(receive).posted
            if call.t0 < posted < call.t1:
                causes.append(_Cause(posted, ("posted", receive)))
        elif one.kind == Kind.THREAD_STARTED:
            other = matcher.begun.get((key[0], one.order), -1)
            thread.add(SyncKind.CREATE, call.t0, call.t0, argument=numbers.get((key[0], other), -1))
        elif one.kind == Kind.THREAD_OVER:
            rows["over", (key[0], one.order)] = thread.number, thread.add(SyncKind.SEND_MESSAGE, call.t0, call.t0)
        elif one.kind == Kind.LET_GO:
            rows["let go", key] = thread.number, thread.add(SyncKind.SEND_MESSAGE, call.t0, call.t0)
        elif one.kind == Kind.WAITED and (let_go := matcher.let_go_by(key)):
            causes.append(_Cause(let_go[0], ("let go", let_go[1])))
        elif one.kind == Kind.THREAD_JOINED and (key[0], one.order) in matcher.over_ps:
            causes.append(_Cause(matcher.over_ps[key[0], one.order], ("over", (key[0], one.order))))
        elif one.kind in _COLLECTIVES:
            causes += _of_collective(thread, key, one, matcher, rows, early)
    _add_waits(thread, call, causes, early)


def _of_collective(
    thread: _Thread, key: _Key, one: _Message, matcher: _Matcher, rows: dict[tuple[str, _Key], tuple[int, int]],
    early: list[int],
) -> list[_Cause]:  # fmt: skip
    """What a rank waits for in a collective call; its own row there. Each meeting has its own number: a rank whose
    clock says that it left before the last came takes no part, and may come to the next before the others leave."""
    others = matcher.collectives[one.comm, one.order]
    if len(others) != one.tag or len(others) == 1 or one.comm < 0:
        return []
    if one.kind == Kind.ALL_TO_ALL and not one.begun_before:
        last = max(others, key=lambda other: matcher.message(other).t0)
        last_ps = matcher.message(last).t0
        meet = [other for other in others if matcher.message(other).t1 >= last_ps]
        if key in meet:
            woken = {"woken_ps": last_ps, "by": ("met", last)} if key != last else {}
            number = matcher.meetings[one.comm, one.order]
            row = thread.add(SyncKind.BARRIER, one.t0, last_ps, argument=len(meet), object=number, **woken)
            rows["met", key] = thread.number, row
        else:
            early.append(last_ps - one.t1)
        return []
    if not one.begun_before:
        rows["posted", key] = thread.number, thread.add(SyncKind.SEND_MESSAGE, one.t0, one.t0)
    return [_Cause(matcher.message(other).came, ("posted", other)) for other in _waited_for(key, one, others, matcher)]


def _waited_for(key: _Key, one: _Message, others: Sequence[_Key], matcher: _Matcher) -> list[_Key]:
    """Of all ranks' parts in a collective call those without which a rank's cannot end."""
    rest = [other for other in others if other != key]
    match one.kind:
        case Kind.FROM_ROOT:
            return [other for other in rest if other[0] == one.peer]
        case Kind.TO_ROOT:
            return rest if key[0] == one.peer else []
        case Kind.FROM_LOWER:
            return [other for other in rest if matcher.message(other).peer < one.peer]
    return rest


def _add_waits(thread: _Thread, call: _Call, causes: list[_Cause], early: list[int]) -> None:
    """The waits of a call for what came during it, the last of which ends it; what is left of the call is its own."""
    early += [cause.time_ps - call.t1 for cause in causes if cause.time_ps > call.t1]
    known = sorted((cause for cause in causes if cause.time_ps <= call.t1), key=lambda cause: cause.time_ps)
    for number, cause in enumerate(known):
        at = max(thread.free_ps, call.t0)
        if cause.time_ps <= at:
            thread.add(SyncKind.AWAIT_MESSAGE, at, at, woken_ps=cause.time_ps, by=cause.row)
        else:
            until = call.t1 if number == len(known) - 1 else cause.time_ps
            thread.add(SyncKind.AWAIT_MESSAGE, at, until, woken_ps=until, by=cause.row)
    at = max(thread.free_ps, call.t0)
    if call.t1 > at:
        thread.add(SyncKind.SLEEP, at, call.t1, woken_ps=call.t1)


def _records(threads: Sequence[_Thread], rows: Mapping[tuple[str, _Key], tuple[int, int]]) -> RowArray:
    records = np.zeros(sum(len(thread.rows) for thread in threads), SYNCS)
    place = 0
    for thread in threads:
        for row in thread.rows:
            by = rows.get(row["by"], (-1, -1)) if row["by"] else (-1, -1)
            records[place] = (
                row["t0_ps"], row["t1_ps"], row["woken_ps"], row["own_ps"], row.get("object", 0),
                row.get("argument", 0), thread.number, *by, row["kind"], 0,
            )  # fmt: skip
            place += 1
    return records
