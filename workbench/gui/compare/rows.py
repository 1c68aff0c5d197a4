"""What changed between two runs, as rows of a table; and one round of a run to lay beside another's."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from workbench.analysis.compare import Comparison
from workbench.gui.analyse.words import block_words
from workbench.gui.timeline.scene import Scene
from workbench.model.pragma import Category

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


def call_changes(comparison: Comparison) -> tuple[Change, ...]:
    rows = []
    for pair in comparison.calls:
        known = pair.b or pair.a
        assert known is not None
        a, b = pair.a, pair.b
        rows.append(
            Change(
                pair.name, known.state.category, a.count if a else None, b.count if b else None,
                a.time_s if a else None, b.time_s if b else None,
            )
        )  # fmt: skip
    between = next((p for p in comparison.states if p.name == "work"), None)
    if between:
        rows.append(
            Change(
                "work between calls", Category.WORK, None, None,
                between.a.time_s if between.a else None, between.b.time_s if between.b else None,
            )
        )  # fmt: skip
    return by_change(rows)


def state_changes(comparison: Comparison) -> tuple[Change, ...]:
    rows = []
    for pair in comparison.states:
        known = pair.b or pair.a
        assert known is not None
        a, b = pair.a, pair.b
        rows.append(
            Change(
                pair.name, known.state.category, a.visits if a else None, b.visits if b else None,
                a.time_s if a else None, b.time_s if b else None,
            )
        )  # fmt: skip
    return by_change(rows)


def block_changes(comparison: Comparison) -> tuple[Change, ...]:
    """Per block or group of replicas: how many there are, and the mean time at work."""
    rows = []
    for pair in comparison.blocks:
        a, b = pair.a, pair.b
        rows.append(
            Change(
                block_words(pair.name), Category.WORK, len(a.members) if a else None, len(b.members) if b else None,
                a.mean_work_share * a.members[0].time_s if a else None,
                b.mean_work_share * b.members[0].time_s if b else None,
            )
        )  # fmt: skip
    return by_change(rows)


def by_change(rows: Sequence[Change]) -> tuple[Change, ...]:
    return tuple(sorted(rows, key=lambda row: -abs(row.change_s)))


@dataclass(frozen=True)
class Round:
    """A stretch of a traced run: one turn of its outermost loop, or all of it. `rounds` is how many turns there are."""

    from_ps: int
    to_ps: int
    rounds: int
    first_call: str

    @property
    def span_ps(self) -> int:
        return self.to_ps - self.from_ps


def middle_round(scene: Scene) -> Round:
    """The round in the middle of the run: runs of calls of one site that repeat, found by their shortest period."""
    whole = Round(0, scene.index.end_ps, 1, "")
    calls = scene.calls.get(scene.main)
    if calls is None:
        return whole
    sites = calls.site[calls.group_first[:-1]]
    period = shortest_period(sites)
    if not period:
        return whole
    offset, turns = _first_turn(sites, period)
    turn = offset + turns // 2 * period
    first, last = calls.group_first[turn], calls.group_first[min(turn + period, len(sites))]
    start = int(calls.t0_ps[first])
    end = int(calls.t0_ps[last]) if last < len(calls) else int(calls.t1_ps[last - 1])
    return Round(start, end, turns, scene.run.manifest.sites[int(sites[turn])].label)


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
