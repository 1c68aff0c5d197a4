"""What changed between two runs, as rows of a table."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

from workbench.analysis.cause import Line, line_of_call, line_of_state
from workbench.analysis.compare import Comparison, Pair
from workbench.analysis.finding_words import block_words
from workbench.api.results import StateMetrics
from workbench.model.blocks import Side
from workbench.model.pragma import Category


@dataclass(frozen=True)
class Change:
    """One thing in both runs: how often and how long, and its source line. None where a run does not have it."""

    name: str
    category: Category | None
    count_a: int | None
    count_b: int | None
    time_a: float | None
    time_b: float | None
    line: Line | None = None

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
    rows = [
        replace(
            _change(pair.name, pair.a, pair.b, lambda call: call.count), line=line_of_call(pair.name, pair.a, pair.b)
        )
        for pair in comparison.calls
    ]
    between = next((p for p in comparison.states if p.name == "work"), None)
    if between:
        row = _change("work of host", between.a, between.b, lambda _: None, category=Category.WORK)
        rows.append(replace(row, line=_line_of_state(comparison, between)))
    return by_change(rows)


def state_changes(comparison: Comparison) -> tuple[Change, ...]:
    return by_change([
        replace(_change(pair.name, pair.a, pair.b, lambda state: state.visits), line=_line_of_state(comparison, pair))
        for pair in comparison.states
    ])  # fmt: skip


def _line_of_state(comparison: Comparison, pair: Pair[StateMetrics]) -> Line:
    """The line of a state of the host's main block."""
    groups = (group for blocks in comparison.blocks for group in (blocks.b, blocks.a) if group)
    host = next((g.group for g in groups if g.members[0].block.side is Side.HOST), "host")
    return line_of_state(host, pair.name, pair.a, pair.b)


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
