"""The messages that MPI ranks recorded, each with its other end.

A rank records one line for each message that it sends or receives, for each collective call, and for each time at which
its threads wait for each other (`messages.bin`). Here the ends are joined:

- Messages between two ranks with one tag stay in order (MPI 3.1, section 3.5). So the n-th message that rank 0 sends to
  rank 1 with tag 5 is the n-th for which rank 1 asks with that tag.
- Ranks meet in a collective call: the n-th of a communicator in each of its ranks.
- A thread of a rank waits for another one at a lock, say. The other thread ended that wait if it was the last to let
  the lock go before the wait was over.

`rank_waits.py` concludes who waited for whom.
"""

from bisect import bisect_right
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from enum import IntEnum
from operator import itemgetter
from pathlib import Path
from typing import NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from workbench.api.records import MESSAGES, read_records

#: A rank, and the place of one of its records; or a rank, and the number of a thread or an operation.
Key: TypeAlias = tuple[int, int]


class Kind(IntEnum):
    """The kinds of records, as `rcw_message_kind` in `resources/card/records.h`."""

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
    WAITED_FOR_ALL = 18
    NOT_FOLLOWED = 19


SENDS = (Kind.SENT, Kind.SENT_TO_RECEIVER, Kind.SENT_BUFFERED)
COLLECTIVES = (Kind.ALL_TO_ALL, Kind.FROM_ROOT, Kind.TO_ROOT, Kind.FROM_LOWER)
#: How threads wait for each other without a record, by `rcw_unfollowed` in `resources/card/records.h`.
UNFOLLOWED = (
    "by OpenMP tasks",
    "by OpenMP doacross loops",
    "in cancelled OpenMP regions",
    "in OpenMP target regions",
    "by another OpenMP runtime than GCC's (libomp)",
    "in signal handlers",
)


class Message(NamedTuple):
    """A record, with its times in ps. `resources/card/records.h` has what the fields mean for each kind."""

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
    def arrived_ps(self) -> int:
        """When a rank arrived at a collective call: where it began it, if it waits for it in another call."""
        return self.posted or self.t0

    @property
    def began_before(self) -> bool:
        """Whether a rank began a collective call in another call than the one in which it waits."""
        return self.kind in COLLECTIVES and self.arrived_ps < self.t0


def read_messages(folder: Path) -> NDArray[np.void]:
    """A rank's records (dtype MESSAGES), without the unused part of the file."""
    records = np.array(read_records(folder / "messages.bin", MESSAGES))
    return records[records["kind"] > 0]


class Matcher:
    """The messages of all ranks, with their other ends.

    `of_ranks` are the records of each rank. `sender` maps each receive to its send, and `receiver` each send to its
    receive; `unmatched` counts messages without one of the two. `collectives` are the ranks' parts in each collective
    call, by communicator and number, and `meeting_numbers` numbers these calls from 1. A rank's thread that another one
    starts has a number in the records of both: `thread_of_start` is its number among the rank's threads, `started_ps`
    and `over_ps` are when it was started and ended. `send_of_order` are each rank's sends by their order.
    """

    def __init__(self, ranks: Sequence[NDArray[np.void]]) -> None:
        self.of_ranks = [[Message(*record) for record in records.tolist()] for records in ranks]
        self.sender: dict[Key, Key] = {}
        self.receiver: dict[Key, Key] = {}
        self.collectives: dict[tuple[int, int], list[Key]] = defaultdict(list)
        self.unmatched = 0
        self.thread_of_start: dict[Key, int] = {}
        self.started_ps: dict[Key, int] = {}
        self.over_ps: dict[Key, int] = {}
        self.send_of_order: list[dict[int, Key]] = [
            {one.order: (rank, place) for place, one in enumerate(messages) if one.kind in SENDS}
            for rank, messages in enumerate(self.of_ranks)
        ]
        #: by rank, object and its turn: when a thread let it go, and its record
        self._let_go: dict[tuple[int, int, int], list[tuple[int, Key]]] = defaultdict(list)
        self._match()
        for moments in self._let_go.values():
            moments.sort()
        self.meeting_numbers = {call: number for number, call in enumerate(self.collectives, 1)}

    def _match(self) -> None:
        sends: dict[tuple[int, int, int, int], list[Key]] = defaultdict(list)  # by communicator, sender, receiver, tag
        receives: dict[tuple[int, int, int, int], list[tuple[int, Key]]] = defaultdict(list)
        probes: list[tuple[tuple[int, int, int, int], int, Key]] = []
        for rank, messages in enumerate(self.of_ranks):
            for place in sorted(range(len(messages)), key=lambda n: messages[n].order):
                one, key = messages[place], (rank, place)
                if one.kind == Kind.THREAD_BEGUN:
                    self.thread_of_start[rank, one.order] = one.thread
                elif one.kind == Kind.THREAD_STARTED:
                    self.started_ps[rank, one.order] = one.t0
                elif one.kind == Kind.THREAD_OVER:
                    self.over_ps[rank, one.order] = one.t0
                elif one.kind == Kind.LET_GO:
                    self._let_go[rank, one.order, one.tag].append((one.t0, key))
                elif one.kind in COLLECTIVES:
                    self.collectives[one.comm, one.order].append(key)
                elif one.peer < 0:
                    continue
                elif one.kind in SENDS:
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
            next_receive = next((receive for at, receive in receives[channel] if at > order), None)
            if next_receive in self.sender:
                self.sender[key] = self.sender[next_receive]

    def message(self, key: Key) -> Message:
        return self.of_ranks[key[0]][key[1]]

    def let_go_by(self, key: Key) -> list[tuple[int, Key]]:
        """When, and in which records, other threads let go what a thread waited for: at a lock the last one to do so
        during the wait, at a meeting of all its last one of each other thread. Empty if no record shows it."""
        one = self.message(key)
        moments = self._let_go.get((key[0], one.order, one.tag), [])
        before_end = moments[: bisect_right(moments, one.t1, key=itemgetter(0))]
        by_others = [moment for moment in before_end if self.message(moment[1]).thread != one.thread]
        if one.kind == Kind.WAITED_FOR_ALL:
            return list({self.message(by).thread: (at_ps, by) for at_ps, by in by_others}.values())
        return [moment for moment in by_others[-1:] if moment[0] > one.t0]

    def waits_for_receiver(self, key: Key) -> bool:
        """Whether a send that blocks ended only after its receiver, later than it, had asked for the message
        (Scalasca's late receiver)."""
        one, receive = self.message(key), self.receiver.get(key)
        if receive is None or one.kind not in (Kind.SENT, Kind.SENT_TO_RECEIVER):
            return False
        return one.t0 < self.message(receive).posted < one.t1

    def receives_that_senders_await(self) -> set[Key]:
        """The receives for which a send waits, in its own call or in the one in which it ends."""
        receives = {receive for send, receive in self.receiver.items() if self.waits_for_receiver(send)}
        return receives | set(self._awaited_later())

    def _awaited_later(self) -> Iterator[Key]:
        for rank, messages in enumerate(self.of_ranks):
            done = (one for one in messages if one.kind == Kind.SEND_DONE)
            for one in done:
                receive = self.receiver.get(self.send_of_order[rank].get(one.order, (-1, -1)))
                if receive and one.t0 < self.message(receive).posted < one.t1:
                    yield receive

    def thread_started_ps(self, rank: int, thread: int) -> int | None:
        """When a rank's thread was started by another one; None if that is not recorded."""
        starts = (key for key, other in self.thread_of_start.items() if key[0] == rank and other == thread)
        return next((self.started_ps[key] for key in starts if key in self.started_ps), None)


def awaited_parts(key: Key, one: Message, parts: Sequence[Key], matcher: Matcher) -> list[Key]:
    """The other ranks' `parts` in a collective call without which a rank's own part (`key`, `one`) cannot end."""
    others = [part for part in parts if part != key]
    match one.kind:
        case Kind.FROM_ROOT:
            return [part for part in others if part[0] == one.peer]
        case Kind.TO_ROOT:
            return others if key[0] == one.peer else []
        case Kind.FROM_LOWER:
            return [part for part in others if matcher.message(part).peer < one.peer]
    return others


def unrecorded_waits(ranks: Sequence[NDArray[np.void]]) -> tuple[str, ...]:
    """The ways in which threads of these ranks (MESSAGES) wait for each other without a record."""
    ways: Mapping[int, None] = {
        way: None for records in ranks for way in records["order"][records["kind"] == Kind.NOT_FOLLOWED].tolist()
    }
    return tuple(UNFOLLOWED[way] for way in sorted(ways) if way < len(UNFOLLOWED))
