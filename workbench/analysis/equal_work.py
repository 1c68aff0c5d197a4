"""Stretches of two runs' courses in which the same work was done, known by the calls that the host made.

Calls of one name that moved as many bytes (or were as many, where they move none) are the same work. A stretch begins
and ends where a turn of the host's outermost loop does, which is found by the calls' shortest period.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from workbench.model.blocks import Side
from workbench.model.run import PS_PER_S, Run
from workbench.model.text import faster_text, time_text
from workbench.traces.calls import BlockCalls, calls_of_run

Numbers = NDArray[np.int64]
LONGEST_PERIOD = 200


@dataclass(frozen=True)
class Stretch:
    """A part of a run: `turns` of the `of_turns` of its outermost loop, or all of the run (no turns)."""

    from_ps: int
    to_ps: int
    turns: int = 0
    of_turns: int = 0

    @property
    def span_ps(self) -> int:
        return self.to_ps - self.from_ps


@dataclass(frozen=True)
class EqualWork:
    """A stretch of each run. `calls` are the names of the calls that did as much in both; without any, the stretches
    are the whole runs. `parts` is how many such stretches there are, 0 where one run did more of them in all."""

    a: Stretch
    b: Stretch
    calls: tuple[str, ...]
    parts: int

    @property
    def speedup(self) -> float | None:
        """Of the stretches: A's time over B's. None where they are not the same work."""
        return self.a.span_ps / self.b.span_ps if self.calls and self.b.span_ps else None


@dataclass(frozen=True)
class Course:
    """When each turn of a run's outermost loop begins and, last, when the last one ends; and how much calls of each
    name had done by then. One turn, the whole run, where nothing repeats."""

    times_ps: Numbers
    done: Mapping[str, Numbers]
    loops: bool

    def stretch(self, first: int, last: int) -> Stretch:
        turns = (last - first, len(self.times_ps) - 1) if self.loops else (0, 0)
        return Stretch(int(self.times_ps[first]), int(self.times_ps[last]), *turns)

    def between(self, first: int, last: int) -> dict[str, int]:
        return {name: int(so_far[last] - so_far[first]) for name, so_far in self.done.items()}


def equal_work(a: Run, b: Run) -> EqualWork | None:
    """The same work in both, as short as the turns of their loops allow: of many such parts the one with the median
    speedup, so that no outlier represents the rest. None without calls in time."""
    courses = _course(a), _course(b)
    if not (courses[0] and courses[1]):
        return None
    first, second = courses[0], courses[1]
    shared = [name for name in first.done if name in second.done and first.done[name][-1] and second.done[name][-1]]
    shared.sort(key=lambda name: -int(first.done[name][-1]))
    work = _same_part(first, second, shared) or _same_amount(first, second, shared)
    if work is None:
        return EqualWork(Stretch(0, a.manifest.time_ps), Stretch(0, b.manifest.time_ps), (), 0)
    (begin_a, end_a), (begin_b, end_b), parts = work
    in_a, in_b = first.between(begin_a, end_a), second.between(begin_b, end_b)
    calls = tuple(name for name in shared if 0 < in_a[name] == in_b[name])
    return EqualWork(first.stretch(begin_a, end_a), second.stretch(begin_b, end_b), calls, parts)


Found = tuple[tuple[int, int], tuple[int, int], int]


def _same_part(a: Course, b: Course, shared: list[str]) -> Found | None:
    """Where calls of one name did as much in all, the median of the most parts that both cut it into."""
    most: Found | None = None
    for name in shared:
        if a.done[name][-1] == b.done[name][-1]:
            _, in_a, in_b = np.intersect1d(a.done[name], b.done[name], return_indices=True)
            parts = len(in_a) - 1
            if parts and (most is None or parts > most[2]):
                at = _median(np.diff(a.times_ps[in_a]) / np.maximum(np.diff(b.times_ps[in_b]), 1))
                most = (int(in_a[at]), int(in_a[at + 1])), (int(in_b[at]), int(in_b[at + 1])), parts
    return most


def _same_amount(a: Course, b: Course, shared: list[str]) -> Found | None:
    """As much of one name's calls in each, where they did not do as much in all: the amount is the least that both did
    from their middle on, and of all parts of each run that did so much, the one of median length is taken."""
    middle_a, middle_b = (len(course.times_ps) // 2 for course in (a, b))
    for name in shared:
        ahead = [c.done[name][m:] - c.done[name][m] for c, m in ((a, middle_a), (b, middle_b))]
        both, in_a, in_b = np.intersect1d(*ahead, return_indices=True)
        if len(both) > 1:
            return _alike(a, name, int(both[1]), int(in_a[1])), _alike(b, name, int(both[1]), int(in_b[1])), 0
    return None


def _alike(course: Course, name: str, amount: int, turns: int) -> tuple[int, int]:
    """The part of median length among those of so many turns that did this amount of a name's calls."""
    done = course.done[name]
    first = np.flatnonzero(done[turns:] - done[:-turns] == amount)
    at = int(first[_median(course.times_ps[first + turns] - course.times_ps[first])])
    return at, at + turns


def _median(values: NDArray[np.number]) -> int:
    """The index of the median; of an even number of values the lower one, and of equal ones the nearest to the
    middle."""
    wanted = np.sort(values)[(len(values) - 1) // 2]
    equal = np.flatnonzero(values == wanted)
    return int(equal[np.argmin(np.abs(equal - len(values) // 2))])


def _course(run: Run) -> Course | None:
    host = next((n for n, block in enumerate(run.manifest.blocks) if block.side is Side.HOST), None)
    calls = None if host is None else calls_of_run(run).get(host)
    if calls is None:
        return None
    loop = _turns(calls)
    firsts = np.array([0, len(calls)]) if loop is None else loop
    ends = np.append(calls.t0_ps, calls.t1_ps[-1])[firsts].astype(np.int64)
    if loop is None:
        ends = np.array([0, run.manifest.time_ps])
    labels = [site.label for site in run.manifest.sites]
    done = {}
    for label in dict.fromkeys(labels[site] for site in np.unique(calls.site).tolist()):
        mine = np.isin(calls.site, [n for n, other in enumerate(labels) if other == label])
        amount = np.where(mine, np.maximum(calls.bytes, 0), 0)
        so_far = np.concatenate(([0], np.cumsum(amount if amount.any() else mine, dtype=np.int64)))
        done[label] = so_far[firsts] - so_far[firsts[0]]
    return Course(ends, done, loop is not None)


def _turns(calls: BlockCalls) -> Numbers | None:
    """Where turns of the outermost loop begin among the calls, and where the last whole one ends."""
    sites = calls.site[calls.group_first[:-1]]
    period = shortest_period(sites)
    if not period:
        return None
    same = sites[period:] == sites[:-period]
    offset = int(np.argmax(same)) if same.any() else 0  # after what comes before the loop
    turns = max((len(sites) - offset) // period, 1)
    return calls.group_first[offset : offset + turns * period + 1 : period].astype(np.int64)


def shortest_period(sites: NDArray[np.integer]) -> int:
    """After how many runs of calls the sites repeat, nine times of ten; 0 where they do not."""
    for period in range(1, min(LONGEST_PERIOD, len(sites) // 2) + 1):
        if np.mean(sites[period:] == sites[:-period]) >= 0.9:
            return period
    return 0


def equal_words(work: EqualWork) -> str:
    """What the stretches are and what was done in them, in a sentence."""
    said = ", ".join(_stretch_words(letter, part) for letter, part in (("A", work.a), ("B", work.b)))
    if not work.calls:
        return f"{said}: no call did as much in a part of both, so these are not the same work."
    of = f"1 of {work.parts} equal parts" if work.parts else "in all, one run did more of them"
    faster = f", {faster_text(work.speedup)}" if work.speedup else ""
    return f"{said}{faster}: the same {', '.join(work.calls)}; {of}."


def _stretch_words(letter: str, part: Stretch) -> str:
    turns = f"{part.turns} of {part.of_turns} rounds" if part.turns else "whole"
    return f"{letter} {turns} ({time_text(part.span_ps / PS_PER_S)})"


def equal_json(work: EqualWork) -> dict[str, Any]:
    def part(of: Stretch) -> dict[str, Any]:
        return {
            "from_s": of.from_ps / PS_PER_S, "to_s": of.to_ps / PS_PER_S, "turns": of.turns, "of_turns": of.of_turns,
        }  # fmt: skip

    return {
        "a": part(work.a), "b": part(work.b), "calls": list(work.calls), "parts": work.parts,
        "speedup": work.speedup,
    }  # fmt: skip
