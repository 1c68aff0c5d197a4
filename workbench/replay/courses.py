"""Moves blocks through their states: work of known length, and waits that end after an event."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Protocol


class Source(Protocol):
    def time(self, turn: int, entered: int) -> int | None:
        """The cycle that ends the `turn`-th wait, which began in cycle `entered`; None while that is unknown."""


@dataclass
class Course:
    """The progress of a block: `begin` holds the starts of its stays so far, `entered` and `left` the cycles at which
    it entered and left each state."""

    number: int
    clock: int
    states: list[int]
    lasts: list[int]
    waits: frozenset[int]
    sources: dict[int, Source] = field(default_factory=dict)
    others: dict[int, list[Source]] = field(default_factory=dict)
    begin: list[int] = field(default_factory=lambda: [0])
    entered: dict[int, list[int]] = field(default_factory=dict)
    left: dict[int, list[int]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.restart()

    def restart(self) -> None:
        self.begin = [0]
        self.entered = {state: [] for state in set(self.states)}
        self.left = {state: [] for state in set(self.states)}
        self.entered[self.states[0]].append(0)

    @property
    def done(self) -> bool:
        return len(self.begin) == len(self.states)

    def leaves(self, state: int) -> int:
        """The number of times the block leaves a state."""
        return self.states[:-1].count(state)

    def go_on(self) -> bool:
        """Advance as far as causes are known; returns whether the block got any further."""
        was = len(self.begin)
        for place in range(was - 1, len(self.states) - 1):
            state, at = self.states[place], self.begin[place]
            if state in self.waits:
                time = self.sources[state].time(len(self.left[state]), at)
                if time is None:
                    break
                at = max(at + 1, time)
            else:
                at += self.lasts[place]
            self.begin.append(at)
            self.left[state].append(at)
            self.entered[self.states[place + 1]].append(at)
        return len(self.begin) > was


@dataclass
class HostWords:
    """Ends waits by words of the host, `lag` cycles later. If not `queued`, words that arrive while the block does not
    wait are lost."""

    cycles: list[int]
    lag: int
    queued: bool = True
    used: int = -1

    def time(self, turn: int, entered: int) -> int | None:
        if not self.queued:
            turn = self.used + 1 if turn else 0
            while turn < len(self.cycles) and self.cycles[turn] + self.lag <= entered:
                turn += 1
            self.used = turn
        return self.cycles[turn] + self.lag if turn < len(self.cycles) else None


@dataclass(frozen=True)
class Turns:
    """Ends waits by state changes of other blocks: the n-th wait by the n-th change of one block, of several in turn,
    or of all together. The change is into `state`, or out of it (`leaves`). `first` and `step` are for replicas that
    share one partner."""

    courses: Sequence[Course]
    state: int
    leaves: bool
    ratios: Sequence[Fraction]  # cycles of the waiting block's clock for each cycle of theirs
    together: bool = False
    first: int = 0
    step: int = 1

    def time(self, turn: int, entered: int) -> int | None:
        del entered
        if self.together:
            times = [self._at(member, turn) for member in range(len(self.courses))]
            return None if None in times else max(one for one in times if one is not None)
        turn = self.first + self.step * turn
        return self._at(turn % len(self.courses), turn // len(self.courses))

    def _at(self, member: int, turn: int) -> int | None:
        course = self.courses[member]
        times = (course.left if self.leaves else course.entered)[self.state]
        return int(times[turn] * self.ratios[member]) + 1 if turn < len(times) else None


@dataclass(frozen=True)
class Fixed:
    """Ends waits after their known lengths, for a wait on a block that never waits itself."""

    lasts: list[int]

    def time(self, turn: int, entered: int) -> int | None:
        return entered + self.lasts[turn]
