"""Threads on virtual cores: who has a core, who waits, and what happens next, by rules 1 to 9 of
`resources/card/README.md`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from enum import IntEnum

from workbench.model.run import Cores

NEVER = 1 << 62


class State(IntEnum):
    READY = 0
    RUNNING = 1
    BLOCKED = 2
    WAKING = 3
    ENDED = 4


class Event(IntEnum):
    """In this order at equal times."""

    CARD = 0
    WAKE = 1
    TIME_OUT = 2
    CALL = 3
    SLICE = 4


@dataclass
class Thread:
    """`row` is its call that comes next, or is under way, of those before `end`."""

    number: int
    row: int
    end: int
    state: State = State.BLOCKED
    left_ps: int = 0  # on a core, before its next call takes effect
    until_ps: int = 0  # nor does it before
    core: int = -1
    last_core: int = -1
    pin: int = -1
    got_ps: int = 0
    began_ps: int = 0
    event_ps: int = NEVER
    order: int = 0
    object: object = None
    cause: int = -1  # the row that ends its wait
    spins: bool = False
    under_way: bool = False  # its call, which waited `waits` times
    waits: int = 0
    timed_out: bool = False
    said_by_card: bool = False  # when its wait ends

    @property
    def call_ps(self) -> int:
        return max(self.began_ps + self.left_ps, self.until_ps)


@dataclass
class VirtualCores:
    settings: Cores
    threads: Sequence[Thread]
    clock_ps: int = 0
    orders: int = 0
    queue: list[Thread] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.on_core: list[Thread | None] = [None] * max(self.settings.count, 1)
        self.last_on = [-1] * len(self.on_core)

    def first_event(self) -> tuple[int, Event, Thread | None]:
        """What happens next: when, what, and to whom; NEVER and None where nothing can."""
        first: tuple[int, Event, int] = (NEVER, Event.SLICE, 0)
        of: Thread | None = None
        for thread in self.threads:
            if thread.state == State.RUNNING:
                event = (thread.call_ps, Event.CALL, thread.number)
                if self.queue and self.next_on(thread.core):
                    event = min(event, (self._slice_end(thread), Event.SLICE, thread.number))
            elif thread.state == State.WAKING:
                event = (thread.event_ps, Event.WAKE, thread.order)
            elif thread.state == State.BLOCKED and thread.event_ps < NEVER:
                event = (thread.event_ps, Event.CARD if thread.said_by_card else Event.TIME_OUT, thread.number)
            else:
                continue
            if event < first:
                first, of = event, thread
        return first[0], first[1], of

    def _slice_end(self, thread: Thread) -> int:
        slices = -(-(self.clock_ps - thread.got_ps) // self.settings.slice_ps)
        return thread.got_ps + max(slices, 1) * self.settings.slice_ps

    # ---- who has which core ----

    def next_on(self, core: int) -> Thread | None:
        return next((thread for thread in self.queue if thread.pin in (-1, core)), None)

    def get_core(self, thread: Thread, core: int) -> None:
        thread.state, thread.core, thread.last_core = State.RUNNING, core, core
        thread.got_ps = thread.began_ps = self.clock_ps
        if self.last_on[core] not in (-1, thread.number):
            thread.left_ps += self.settings.switch_ps
        self.last_on[core] = thread.number
        self.on_core[core] = thread

    def give_up_core(self, thread: Thread) -> None:
        core, thread.core = thread.core, -1
        self.on_core[core] = None
        if after := self.next_on(core):
            self.queue.remove(after)
            self.get_core(after, core)

    def take_core(self, thread: Thread) -> None:
        core = thread.last_core if thread.pin < 0 else thread.pin
        if thread.pin < 0 and (core < 0 or self.on_core[core]):
            core = next((n for n, other in enumerate(self.on_core) if other is None), -1)
        if 0 <= core < len(self.on_core) and self.on_core[core] is None:
            self.get_core(thread, core)
        else:
            self._enqueue(thread)

    def _enqueue(self, thread: Thread) -> None:
        thread.state = State.READY
        self.queue.append(thread)

    def end_slice(self, thread: Thread) -> None:
        thread.left_ps = max(thread.left_ps - (self.clock_ps - thread.began_ps), 0)
        self.give_up_core(thread)
        self._enqueue(thread)

    # ---- waiting and waking ----

    def block(self, thread: Thread, what: object, until_ps: int = NEVER, cause: int = -1) -> None:
        self.orders += 1
        thread.state, thread.object, thread.cause, thread.order = State.BLOCKED, what, cause, self.orders
        thread.event_ps, thread.under_way, thread.timed_out = until_ps, True, False
        thread.waits += 1
        self.give_up_core(thread)

    def spin(self, thread: Thread, what: object) -> None:
        """It keeps its core until it is woken."""
        self.orders += 1
        thread.object, thread.order, thread.spins, thread.under_way = what, self.orders, True, True
        thread.until_ps = NEVER

    def wake(self, thread: Thread) -> None:
        thread.object, thread.cause = None, -1
        if thread.spins:
            thread.spins, thread.until_ps = False, self.clock_ps
        elif self.settings.wake_ps:
            self.orders += 1
            thread.state, thread.order = State.WAKING, self.orders
            thread.event_ps = self.clock_ps + self.settings.wake_ps
        else:
            self.take_core(thread)

    def wake_some(self, what: object, most: int = NEVER) -> None:
        """The longest waiters for an object."""
        waiting = [t for t in self.threads if t.object == what and (t.state == State.BLOCKED or t.spins)]
        for thread in sorted(waiting, key=lambda t: t.order)[:most]:
            self.wake(thread)

    def wake_by(self, row: int) -> None:
        """Those whose wait this call ended in the run."""
        waiting = [t for t in self.threads if t.state == State.BLOCKED and t.cause == row]
        for thread in sorted(waiting, key=lambda t: t.order):
            self.wake(thread)
