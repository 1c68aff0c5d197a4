"""Finds parts of several runs in which the same work was done, by the host's calls.

Calls of one name did equal work if they moved as many bytes (or, if they move none, were as many). A part begins and
ends with an iteration of the host's outermost loop; the shortest period of the calls gives the loop.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import reduce
from string import ascii_uppercase
from typing import Any

import numpy as np
from numpy.typing import NDArray

from workbench.model.blocks import Side
from workbench.model.run import PS_PER_S, Run
from workbench.model.text import faster_text, time_text
from workbench.traces.calls import BlockCalls, calls_of_run

Numbers = NDArray[np.int64]
LONGEST_PERIOD = 200
#: The letters of compared runs; their number is the maximum.
LETTERS = ascii_uppercase[:20]


@dataclass(frozen=True)
class Stretch:
    """A part of a run: `turns` of the `of_turns` iterations of its outermost loop; with 0 turns, the whole run."""

    from_ps: int
    to_ps: int
    turns: int = 0
    of_turns: int = 0

    @property
    def span_ps(self) -> int:
        return self.to_ps - self.from_ps


@dataclass(frozen=True)
class EqualWork:
    """A part of each run with equal work. `calls` names the calls that moved the same amount in all; without any, the
    parts are the whole runs. `parts` is the number of such parts, 0 if the runs did different amounts in total."""

    stretches: tuple[Stretch, ...]
    calls: tuple[str, ...]
    parts: int

    @property
    def a(self) -> Stretch:
        """The stretch of the first run."""
        return self.stretches[0]

    @property
    def b(self) -> Stretch:
        """The stretch of the last run."""
        return self.stretches[-1]

    @property
    def speedup(self) -> float | None:
        """The time of A's part over the time of B's part; None if they are not equal work."""
        return self.a.span_ps / self.b.span_ps if self.calls and self.b.span_ps else None


@dataclass(frozen=True)
class Course:
    """The iterations of a run's outermost loop: their start times and the end of the last one, the cumulative amount of
    each call name at these times, and its amount in the whole run. A run without repetition has one iteration."""

    times_ps: Numbers
    work: Mapping[str, Numbers]
    loops: bool
    whole: Mapping[str, int]

    def stretch(self, first: int, last: int) -> Stretch:
        turns = (last - first, len(self.times_ps) - 1) if self.loops else (0, 0)
        return Stretch(int(self.times_ps[first]), int(self.times_ps[last]), *turns)

    def between(self, first: int, last: int) -> dict[str, int]:
        return {name: int(so_far[last] - so_far[first]) for name, so_far in self.work.items()}


def equal_work(*runs: Run) -> EqualWork | None:
    """The shortest parts of equal work that the loops allow; of several parts, the one with the median speedup, so that
    no outlier represents the rest. None without call times."""
    courses = [course for run in runs if (course := _course(run))]
    if not courses or len(courses) < len(runs):
        return None
    first = courses[0]
    shared = [name for name in first.work if all(name in c.work and c.work[name][-1] for c in courses)]
    shared.sort(key=lambda name: -int(first.work[name][-1]))
    work = _same_part(courses, shared) or _same_amount(courses, shared)
    if work is None or work[1] == 1:
        calls = tuple(name for name in shared if len({course.whole[name] for course in courses}) == 1)
        return EqualWork(tuple(Stretch(0, run.manifest.time_ps) for run in runs), calls, min(len(calls), 1))
    ends, parts = work
    amounts = [course.between(*end) for course, end in zip(courses, ends, strict=True)]
    calls = tuple(name for name in shared if amounts[0][name] and len({of[name] for of in amounts}) == 1)
    return EqualWork(tuple(c.stretch(*end) for c, end in zip(courses, ends, strict=True)), calls, parts)


#: The first and the last iteration of each run's part, and the number of such parts.
EqualParts = tuple[list[tuple[int, int]], int]


def _same_part(courses: Sequence[Course], shared: list[str]) -> EqualParts | None:
    """For calls of one name with equal totals: the median part of the finest common partition of all runs. The last
    part lasts until the end, also where the last iterations have no such call."""
    best: EqualParts | None = None
    for name in shared:
        amounts = [course.work[name] for course in courses]
        common: Numbers = reduce(np.intersect1d, amounts)
        parts = len(common) - 1
        if len({int(of[-1]) for of in amounts}) > 1 or not parts or (best and parts <= best[1]):
            continue
        turns = [np.append(np.searchsorted(of, common[:-1]), len(of) - 1) for of in amounts]
        spans = [np.diff(course.times_ps[at]) for course, at in zip(courses, turns, strict=True)]
        number = _median(spans[0] / np.maximum(np.mean(spans[1:], axis=0), 1))
        best = [(int(at[number]), int(at[number + 1])) for at in turns], parts
    return best


def _same_amount(courses: Sequence[Course], shared: list[str]) -> EqualParts | None:
    """For calls of one name with different totals in the loops: parts with an equal amount. The amount is the least
    that all runs reach from their middle on; in each run the part of median length with this amount is taken."""
    middles = [len(course.times_ps) // 2 for course in courses]
    for name in shared:
        ahead = [c.work[name][m:] - c.work[name][m] for c, m in zip(courses, middles, strict=True)]
        common: Numbers = reduce(np.intersect1d, ahead)
        if len(common) > 1:
            amount = int(common[1])
            turns = [int(np.searchsorted(of, amount)) for of in ahead]
            wholes = {course.whole[name] for course in courses}
            parts = wholes.pop() // amount if len(wholes) == 1 else 0
            return [_median_part(c, name, amount, number) for c, number in zip(courses, turns, strict=True)], parts
    return None


def _median_part(course: Course, name: str, amount: int, turns: int) -> tuple[int, int]:
    """The part of median length among those with so many iterations and this amount of a name's calls."""
    done = course.work[name]
    first = np.flatnonzero(done[turns:] - done[:-turns] == amount)
    at = int(first[_median(course.times_ps[first + turns] - course.times_ps[first])])
    return at, at + turns


def _median(values: NDArray[np.number]) -> int:
    """The index of the median: the lower one for an even number of values; of equal values, the nearest to the
    middle."""
    median = np.sort(values)[(len(values) - 1) // 2]
    equal = np.flatnonzero(values == median)
    return int(equal[np.argmin(np.abs(equal - len(values) // 2))])


def _course(run: Run) -> Course | None:
    host = next((n for n, block in enumerate(run.manifest.blocks) if block.side is Side.HOST), None)
    calls = None if host is None else calls_of_run(run).get(host)
    if calls is None:
        return None
    loop = _iterations(calls)
    firsts = np.array([0, len(calls)]) if loop is None else loop
    ends = np.append(calls.t0_ps, calls.t1_ps[-1])[firsts].astype(np.int64)
    if loop is None:
        ends = np.array([0, run.manifest.time_ps])
    labels = [site.label for site in run.manifest.sites]
    done, whole = {}, {}
    for label in dict.fromkeys(labels[site] for site in np.unique(calls.site).tolist()):
        mine = np.isin(calls.site, [n for n, other in enumerate(labels) if other == label])
        amount = np.where(mine, np.maximum(calls.bytes, 0), 0)
        so_far = np.concatenate(([0], np.cumsum(amount if amount.any() else mine, dtype=np.int64)))
        whole[label] = int(so_far[-1])
        done[label] = so_far[firsts] - so_far[firsts[0]]
    return Course(ends, done, loop is not None, whole)


def _iterations(calls: BlockCalls) -> Numbers | None:
    """The indices of the calls that begin an iteration of the outermost loop, and the end of the last whole iteration;
    None without a loop."""
    sites = calls.site[calls.group_first[:-1]]
    period = shortest_period(sites)
    if not period:
        return None
    same = sites[period:] == sites[:-period]
    offset = int(np.argmax(same)) if same.any() else 0  # after the calls before the loop
    turns = max((len(sites) - offset) // period, 1)
    return calls.group_first[offset : offset + turns * period + 1 : period].astype(np.int64)


def shortest_period(sites: NDArray[np.integer]) -> int:
    """The number of call groups after which the sites repeat in 9 of 10 cases; 0 if they do not."""
    for period in range(1, min(LONGEST_PERIOD, len(sites) // 2) + 1):
        if np.mean(sites[period:] == sites[:-period]) >= 0.9:
            return period
    return 0


def equal_words(work: EqualWork) -> str:
    """The compared parts and the work done in them, in a sentence."""
    stretch_texts = ", ".join(
        _stretch_words(letter, part) for letter, part in zip(LETTERS, work.stretches, strict=False)
    )
    if not work.calls:
        runs_text = "both" if len(work.stretches) == 2 else "all"
        return f"{stretch_texts}: no call did as much in a part of {runs_text}, so the runs have no equal work."
    if work.parts == 1:
        return f"Whole runs. Same calls in each: {', '.join(work.calls)}."
    of = f"This is 1 of {work.parts} equal parts" if work.parts else "In total, one run made more of these calls"
    faster = f", {faster_text(work.speedup)}" if work.speedup and len(work.stretches) == 2 else ""
    return f"{stretch_texts}{faster}. Same calls in each: {', '.join(work.calls)}. {of}."


def _stretch_words(letter: str, part: Stretch) -> str:
    turns = f"{part.turns} of {part.of_turns} rounds" if part.turns else "whole run"
    return f"{letter} {turns} ({time_text(part.span_ps / PS_PER_S)})"


def equal_json(work: EqualWork) -> dict[str, Any]:
    def part(of: Stretch) -> dict[str, Any]:
        return {
            "from_s": of.from_ps / PS_PER_S, "to_s": of.to_ps / PS_PER_S, "turns": of.turns, "of_turns": of.of_turns,
        }  # fmt: skip

    return {
        "a": part(work.a), "b": part(work.b), "runs": list(map(part, work.stretches)), "calls": list(work.calls),
        "parts": work.parts, "speedup": work.speedup,
    }  # fmt: skip
