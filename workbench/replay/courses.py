"""Blocks on their way through their states: work of known length, and waits that end when something has happened."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Protocol


class Source(Protocol):
    def time(self, turn: int, entered: int) -> int | None:
        """In which cycle a wait ends that is the `turn`-th and began in cycle `entered`; None: not known yet."""


@dataclass
class Course:
    """A block on its way: `begin` holds its stays so far, `entered` when it came into each state, and `left` when it
    went on from there."""

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
        """How often it goes on from a state."""
        return self.states[:-1].count(state)

    def go_on(self) -> bool:
        """As far as is known; whether that was any further."""
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
    """Words of the host, `lag` cycles later. Where there are more than waits, what comes while the block does not wait
    is lost on it."""

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
    """What others do: the n-th of one for the n-th, of several in turn or all of them. They come into `state`, or
    leave it (`leaves`). `first` and `step` are of one that shares its partner with others."""

    courses: Sequence[Course]
    state: int
    leaves: bool
    ratios: Sequence[Fraction]  # cycles of the one who waits for each one of theirs
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
    """Waits of known length, for a block that never waits itself."""

    lasts: list[int]

    def time(self, turn: int, entered: int) -> int | None:
        return entered + self.lasts[turn]
