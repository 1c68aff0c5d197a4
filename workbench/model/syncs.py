"""Calls of the host's threads that others may depend on: what each kind does, and how one came to its end.

The numbers are those of `resources/card/records.h`, and of table `syncs`.
"""

from enum import IntEnum


class SyncKind(IntEnum):
    OTHER = 1  # it costs what such calls do, and no more
    LOCK = 2
    UNLOCK = 3
    WAIT = 4  # for a condition; the argument is the mutex, as an object
    SIGNAL = 5
    BROADCAST = 6
    LOCK_READING = 7
    LOCK_WRITING = 8
    UNLOCK_BOTH = 9  # of a read-write lock
    LOCK_SPINNING = 10
    UNLOCK_SPINNING = 11
    BARRIER = 12  # how many meet
    TAKE = 13  # a semaphore: its value before
    POST = 14  # likewise
    ONCE = 15
    ONCE_DONE = 16  # 1: done, 0: given up
    FUTEX_WAIT = 17
    FUTEX_WAKE = 18  # how many at most
    CREATE = 19  # the other thread's number, -1: none
    JOIN = 20  # likewise
    CANCEL = 21  # likewise
    END = 22  # of the thread
    EXIT = 23  # of the program
    SLEEP = 24
    YIELD = 25
    BIND = 26  # the core, -1: all
    PIPE = 27  # how often it waited
    CARD = 28  # a transfer, or a wait for one: its number among the thread's, -1: none of these
    CARD_HELD = 29  # a transfer that holds its core: likewise
    INTERRUPT = 30  # likewise
    SEND_MESSAGE = 31  # to another rank: what it costs the sender's processor, ps
    AWAIT_MESSAGE = 32  # likewise the receiver's; woken when the message is there, be that before the call


class SyncResult(IntEnum):
    DONE = 0
    TIMED_OUT = 1
    REFUSED = 2
    CANCELLED = 3
    NOT_OVER = 4  # when the run ended


#: Kinds that do not cost `Cores.call_ps`.
FREE = frozenset({
    SyncKind.END, SyncKind.EXIT, SyncKind.SLEEP, SyncKind.BIND, SyncKind.CARD, SyncKind.CARD_HELD, SyncKind.INTERRUPT,
    SyncKind.SEND_MESSAGE, SyncKind.AWAIT_MESSAGE,
})  # fmt: skip


def numbered(kinds: type[IntEnum]) -> str:
    """The names of an enumeration with their numbers, for a reader of the tables."""
    return ", ".join(f"{kind.value} {kind.name.lower().replace('_', ' ')}" for kind in kinds)
