"""What changed between two runs, as rows of a table; and stretches of both that are the same share of the work."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from workbench.analysis.compare import Comparison
from workbench.gui.analyse.words import block_words
from workbench.model.pragma import Category
from workbench.traces.scene import Scene

LONGEST_PERIOD = 200


@dataclass(frozen=True)
class Change:
    """One thing in both runs: how often and how long. None where a run does not have it."""

    name: str
    category: Category | None
    count_a: int | None
    count_b: int | None
    time_a: float | None
    time_b: float | None

    @property
    def change_s(self) -> float:
        return (self.time_b or 0.0) - (self.time_a or 0.0)


def _change(
    name: str, a: Any, b: Any, count: Callable[[Any], int | None],
    time_s: Callable[[Any], float] = lambda of: of.time_s, category: Category | None = None,
) -> Change:  # fmt: skip
    """The row of what A and B have by one name; either may not have it. Without a category, its state's."""
    return Change(
        name, category or (b or a).state.category, count(a) if a else None, count(b) if b else None,
        time_s(a) if a else None, time_s(b) if b else None,
    )  # fmt: skip


def call_changes(comparison: Comparison) -> tuple[Change, ...]:
    rows = [_change(pair.name, pair.a, pair.b, lambda call: call.count) for pair in comparison.calls]
    between = next((p for p in comparison.states if p.name == "work"), None)
    if between:
        rows.append(_change("work between calls", between.a, between.b, lambda _: None, category=Category.WORK))
    return by_change(rows)


def state_changes(comparison: Comparison) -> tuple[Change, ...]:
    return by_change([_change(pair.name, pair.a, pair.b, lambda state: state.visits) for pair in comparison.states])


def block_changes(comparison: Comparison) -> tuple[Change, ...]:
    """Per block or group of replicas: how many there are, and the mean time at work."""

    def at_work_s(group: Any) -> float:
        return float(group.mean_work_share * group.members[0].time_s)

    return by_change([
        _change(block_words(p.name), p.a, p.b, lambda group: len(group.members), at_work_s, Category.WORK)
        for p in comparison.blocks
    ])  # fmt: skip


def by_change(rows: Sequence[Change]) -> tuple[Change, ...]:
    return tuple(sorted(rows, key=lambda row: -abs(row.change_s)))


@dataclass(frozen=True)
class Stretch:
    """A part of a traced run: `turns` of the `of_turns` of its outermost loop, or all of the run (no turns)."""

    from_ps: int
    to_ps: int
    turns: int = 0
    of_turns: int = 0

    @property
    def span_ps(self) -> int:
        return self.to_ps - self.from_ps


@dataclass(frozen=True)
class Loop:
    """The outermost loop of a run's main block: when each turn begins and, last, when the last one ends."""

    starts_ps: tuple[int, ...]

    @property
    def turns(self) -> int:
        return len(self.starts_ps) - 1


def equal_shares(a: Scene, b: Scene) -> tuple[Stretch, Stretch, int]:
    """The same share of both runs, from their middles, as small as whole turns of their loops allow: one of how many.

    Where both do the same in all, that is the same work. The whole of both where one of them has no loop.
    """
    loops = main_loop(a), main_loop(b)
    if not all(loops):
        return Stretch(0, a.index.end_ps), Stretch(0, b.index.end_ps), 1
    parts = math.gcd(*(loop.turns for loop in loops if loop))
    first, second = (_share(loop, parts) for loop in loops if loop)
    return first, second, parts


def _share(loop: Loop, parts: int) -> Stretch:
    turns = loop.turns // parts
    first = parts // 2 * turns
    return Stretch(loop.starts_ps[first], loop.starts_ps[first + turns], turns, loop.turns)


def main_loop(scene: Scene) -> Loop | None:
    """Runs of calls of one site that repeat, found by their shortest period."""
    calls = scene.calls.get(scene.main)
    if calls is None:
        return None
    sites = calls.site[calls.group_first[:-1]]
    period = shortest_period(sites)
    if not period:
        return None
    offset, turns = _first_turn(sites, period)
    firsts = calls.group_first[offset : offset + turns * period + 1 : period]
    ends = calls.t0_ps[firsts[:-1]].tolist()
    last = int(firsts[-1])
    return Loop((*ends, int(calls.t0_ps[last]) if last < len(calls) else int(calls.t1_ps[last - 1])))


def shortest_period(sites: np.ndarray) -> int:
    """After how many runs of calls the sites repeat, nine times of ten; 0 where they do not."""
    for period in range(1, min(LONGEST_PERIOD, len(sites) // 2) + 1):
        if np.mean(sites[period:] == sites[:-period]) >= 0.9:
            return period
    return 0


def _first_turn(sites: np.ndarray, period: int) -> tuple[int, int]:
    """Where turns begin (after what comes before the loop) and how many whole ones there are."""
    same = sites[period:] == sites[:-period]
    offset = int(np.argmax(same)) if same.any() else 0
    return offset, max((len(sites) - offset) // period, 1)
