"""Evaluates whether a rule holds for the subjects of its scopes; used for findings and for a rule's table."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

from workbench.analysis.knowledge import CheckedRule, Scope
from workbench.analysis.measured import MeasuredRun
from workbench.analysis.selection import PARTS, Selection, select_block, select_parts
from workbench.api.results import BlockMetrics
from workbench.model.blocks import Side
from workbench.model.pragma import Category


def ideal_speedup(total_s: float, saved_s: float) -> float:
    """T/(T - t): no other bottleneck in the way (ReCAP 2011, section 4)."""
    return total_s / (total_s - saved_s) if saved_s < total_s else math.inf


@dataclass(frozen=True)
class Subject:
    """A block, call, FIFO, port or the application to which a rule applies. Values are computed on first access, which
    raises WorkbenchError if an expression of the rule cannot be evaluated."""

    rule: CheckedRule
    scope: Scope
    selection: Selection

    @property
    def side(self) -> Side:
        return self.selection.block.block.side

    @property
    def home(self) -> str:
        """The group of the block, which replicas share."""
        return self.selection.block.block.group

    @cached_property
    def saved_s(self) -> float:
        rule, values, total_s = self.rule, self.selection.values, self.selection.of.run.time_s
        if rule.new_time is not None:
            saved_s = total_s - float(rule.new_time.evaluate(values))
        else:
            saved_s = float(rule.time_saved.evaluate(values)) if rule.time_saved else self.selection.time_s
        return min(saved_s, total_s)

    @cached_property
    def speedup(self) -> float:
        """The speedup if only the time that the rule saves went."""
        return ideal_speedup(self.selection.of.run.time_s, self.saved_s)

    @property
    def worthwhile(self) -> bool:
        """Whether the rule saves time here, and the speedup reaches the threshold."""
        return self.saved_s > 0 and self.speedup >= self.selection.of.threshold

    @cached_property
    def condition(self) -> bool:
        return bool(self.rule.condition.evaluate(self.selection.values))

    @property
    def holds(self) -> bool:
        return self.worthwhile and self.condition


@dataclass(frozen=True)
class Alike:
    """Subjects of which at most one is reported: replicas, or a single one. `size` also counts replicas in which the
    rule selects nothing."""

    subjects: tuple[Subject, ...]
    size: int = 1

    @cached_property
    def reported(self) -> Subject | None:
        """The subject to report. If all replicas have the bottleneck, the one with the smallest saving, which bounds
        them all; otherwise the one with the largest."""
        holding = [subject for subject in self.subjects if subject.holds]
        pick = min if len(holding) == self.size else max
        return pick(holding, key=lambda subject: subject.saved_s) if holding else None


def subjects_of(rule: CheckedRule, measured: MeasuredRun) -> Iterator[Alike]:
    """All subjects of a rule: FIFOs and ports, then the application, then each block with its calls."""
    for scope in (one for one in PARTS if one in rule.rule.scope):
        alike: dict[str, list[Selection]] = {}
        for one in select_parts(scope, measured):
            alike.setdefault(one.block.block.group, []).append(one)
        for replicas in alike.values():
            yield _replicas(rule, scope, replicas, len(replicas))
    mine = blocks_of(rule, measured)
    if "application" in rule.rule.scope:
        for side in Side:
            on_side = [b for b in mine if b.block.side is side]
            needed = [b for b in on_side if b.block.id in measured.waited_for] or on_side
            busiest = max(needed, key=lambda b: b.share_of(Category.WORK), default=None)
            if busiest and (selection := select_block(rule, busiest, measured)):
                yield Alike((Subject(rule, "application", selection),))
    groups: dict[str, list[BlockMetrics]] = {}
    for block in mine:
        groups.setdefault(block.block.group, []).append(block)
    for members in groups.values():
        selections = [s for block in members if (s := select_block(rule, block, measured))]
        if selections and "block" in rule.rule.scope:
            yield _replicas(rule, "block", selections, len(members))
        if "call" in rule.rule.scope:
            yield from _calls(rule, selections)


def blocks_of(rule: CheckedRule, measured: MeasuredRun) -> list[BlockMetrics]:
    """The blocks on the rule's side."""
    of_side = (b for b in measured.blocks if rule.side in ("any", b.block.side.value))
    return [b for b in of_side if not b.block.is_metric]


def _replicas(rule: CheckedRule, scope: Scope, selections: Sequence[Selection], size: int) -> Alike:
    times_s = tuple(s.time_s for s in selections)
    return Alike(tuple(Subject(rule, scope, replace(s, replicas_s=times_s)) for s in selections), size)


def _calls(rule: CheckedRule, selections: Sequence[Selection]) -> Iterator[Alike]:
    """Each call of a block as a subject, unless the only call is reported by the block's own finding."""
    for selection in selections:
        sites = {(c.site_number, c.state.index) for c in selection.calls}
        if len(sites) < 2 and "block" in rule.rule.scope:
            continue
        for site in sorted(sites):
            alone = tuple(c for c in selection.calls if (c.site_number, c.state.index) == site)
            states = tuple(s for s in selection.states if s.state.index == site[1])
            part = replace(selection, states=states, calls=alone, time_s=sum(c.time_s for c in alone))
            yield Alike((Subject(rule, "call", part),))
