"""Holds the rules against a run's blocks and calls, and ranks what they find (ReCAP 2011, section 4)."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import PurePath

from workbench.analysis.caps import cap_of, host_wait_share, work_share
from workbench.analysis.culprit import find_culprit, spoken
from workbench.analysis.knowledge import Advice, Argument, CheckedRule, KnowledgeBase, Scope
from workbench.analysis.metric_names import Value, value_text
from workbench.analysis.results import BlockMetrics, CallMetrics
from workbench.analysis.selection import (
    Selection,
    Values,
    general_values,
    replica_values,
    select_block,
    selection_values,
)
from workbench.model.blocks import Side
from workbench.model.diagnostic import Diagnostic, Severity, WorkbenchError
from workbench.model.finding import Finding, Place
from workbench.model.platform import Platform
from workbench.model.pragma import Category

HIGH, MEDIUM = 2.0, 1.2
#: A generic rule stays silent on a block where the rules under it explain this share of its time.
EXPLAINED = 0.5
MOST_PLACES = 12


@dataclass(frozen=True)
class _Fired:
    """A rule that holds: for which selection, in which scope, with which values."""

    rule: CheckedRule
    scope: Scope
    selection: Selection
    values: Values
    saved_s: float
    group: str = ""

    @property
    def side(self) -> Side:
        return self.selection.block.block.side

    @property
    def home(self) -> str:
        return self.selection.block.block.group


def ideal_speedup(total_s: float, saved_s: float) -> float:
    """T/(T - t): no other bottleneck in the way (ReCAP 2011, section 4)."""
    return total_s / (total_s - saved_s) if saved_s < total_s else math.inf


def severity_of(gain: float) -> str:
    return "high" if gain > HIGH else "medium" if gain >= MEDIUM else "low"


def find_bottlenecks(
    total_s: float,
    blocks: Sequence[BlockMetrics],
    calls: Sequence[CallMetrics],
    knowledge: KnowledgeBase,
    threshold: float,
    platform: Platform | None = None,
) -> tuple[tuple[Finding, ...], tuple[Diagnostic, ...]]:
    """Every finding whose ideal speedup reaches the threshold, the largest gain first.

    A rule whose expressions cannot be computed for this run is a diagnostic; the others go on.
    """
    if not total_s:
        return (), ()
    fpga_share = work_share(b for b in blocks if b.block.side is Side.FPGA)
    general = general_values(total_s, threshold, host_wait_share(blocks), fpga_share)
    fired: list[_Fired] = []
    problems: list[Diagnostic] = []
    for rule in knowledge.rules:
        try:
            fired += _fire(rule, blocks, calls, general)
        except WorkbenchError as error:
            problems += [
                Diagnostic(f"the rule '{rule.name}' was left out: {problem.message}", problem.hint, Severity.WARNING,
                           rule.file, rule.line)
                for problem in error.diagnostics
            ]  # fmt: skip
    fired = _without_explained(fired, knowledge)
    findings = [_finding(f, blocks, knowledge, platform) for f in fired]
    ordered = sorted(_unique(findings), key=_rank)
    return tuple(_nested(ordered, {f.id: x.rule for f, x in zip(_unique(findings), fired, strict=True)})), tuple(
        problems
    )


def _rank(finding: Finding) -> tuple[float, bool, bool, float]:
    """By gain; among equals what is general and what repeats a part of another come later."""
    return -finding.gain, finding.scope == "application", finding.scope == "call", -finding.speedup_ideal


def _fire(
    rule: CheckedRule, blocks: Sequence[BlockMetrics], calls: Sequence[CallMetrics], general: Values
) -> Iterator[_Fired]:
    mine = [b for b in blocks if rule.side in ("any", b.block.side.value)]
    if "application" in rule.rule.scope:
        for side in Side:
            busiest = max(
                (b for b in mine if b.block.side is side), key=lambda b: b.share_of(Category.WORK), default=None
            )
            if busiest and (selection := select_block(rule, busiest, calls, general)):
                yield from _hold(rule, "application", selection, selection_values(selection, calls, general), blocks)
    groups: dict[str, list[BlockMetrics]] = {}
    for block in mine:
        groups.setdefault(block.block.group, []).append(block)
    for members in groups.values():
        selections = [s for block in members if (s := select_block(rule, block, calls, general))]
        if not selections:
            continue
        if "block" in rule.rule.scope:
            yield from _hold_group(rule, selections, len(members), calls, general, blocks)
        if "call" in rule.rule.scope:
            yield from _hold_calls(rule, selections, calls, general, blocks)


def _hold_group(
    rule: CheckedRule,
    selections: Sequence[Selection],
    size: int,
    calls: Sequence[CallMetrics],
    general: Values,
    blocks: Sequence[BlockMetrics],
) -> Iterator[_Fired]:
    """One finding for all replicas: where all have the bottleneck, of the one that would gain least by its mending, for
    no other bounds them all; where only some have it, of the one that has most of it."""
    times = {s.block.block.id: s.time_s for s in selections}
    found = []
    for selection in selections:
        values = selection_values(selection, calls, general) | replica_values(times)
        found += list(_hold(rule, "block", selection, values, blocks))
    if not found:
        return
    pick = min if len(found) == size else max
    chosen = pick(found, key=lambda f: f.saved_s)
    yield replace(chosen, group=chosen.home if size > 1 else "")


def _hold_calls(
    rule: CheckedRule,
    selections: Sequence[Selection],
    calls: Sequence[CallMetrics],
    general: Values,
    blocks: Sequence[BlockMetrics],
) -> Iterator[_Fired]:
    """Each call of a block on its own, unless there is only one, which the block's own finding tells of."""
    for selection in selections:
        sites = {(c.site_number, c.state.index) for c in selection.calls}
        if len(sites) < 2 and "block" in rule.rule.scope:
            continue
        for site in sorted(sites):
            alone = tuple(c for c in selection.calls if (c.site_number, c.state.index) == site)
            states = tuple(s for s in selection.states if s.state.index == site[1])
            part = Selection(selection.block, states, alone, sum(c.time_s for c in alone))
            yield from _hold(rule, "call", part, selection_values(part, calls, general), blocks)


def _hold(
    rule: CheckedRule, scope: Scope, selection: Selection, values: Values, blocks: Sequence[BlockMetrics]
) -> Iterator[_Fired]:
    if rule.rule.names_culprit:
        culprit, side = find_culprit(selection.block, selection.states, blocks)
        values = values | {"culprit": spoken(culprit, side, selection.block.block.side)}
    total = float(values["total"])
    if rule.new_time is not None:
        saved = total - float(rule.new_time.evaluate(values))
    else:
        saved = float(rule.time_saved.evaluate(values)) if rule.time_saved else selection.time_s
    saved = min(saved, total)
    if not saved > 0 or ideal_speedup(total, saved) < float(values["threshold"]):
        return
    if rule.condition.evaluate(values):
        yield _Fired(rule, scope, selection, values, saved)


def _without_explained(fired: Sequence[_Fired], knowledge: KnowledgeBase) -> list[_Fired]:
    """Leave out generic findings on blocks where more specific ones explain most of their time."""
    kept = []
    for candidate in fired:
        indexes = {
            index
            for other in fired
            if other.scope == candidate.scope == "block"
            and other.home == candidate.home
            and other.rule is not candidate.rule
            and knowledge.parent_of(other.rule) is candidate.rule
            for index in other.selection.state_indexes
        }
        states = candidate.selection.states
        explained = sum(s.time_s for s in states if s.state.index in indexes)
        if not indexes or explained < EXPLAINED * sum(s.time_s for s in states):
            kept.append(candidate)
    return kept


def _finding(
    fired: _Fired, blocks: Sequence[BlockMetrics], knowledge: KnowledgeBase, platform: Platform | None
) -> Finding:
    rule, values, selection = fired.rule, fired.values, fired.selection
    total = float(values["total"])
    ideal = ideal_speedup(total, fired.saved_s)
    cap = cap_of(selection.block, blocks)
    culprit, _ = find_culprit(selection.block, selection.states, blocks) if rule.rule.names_culprit else ("", None)
    parent = knowledge.parent_of(rule)
    block_id = selection.block.block.id
    where = {"block": block_id, "application": "application"}.get(fired.scope, "")
    if fired.scope == "call":
        call = selection.calls[0]
        where = f"{block_id}: {call.entry.name if call.entry else call.site.callee} at {call.place}"
    title = rule.rule.title or rule.name[:1].upper() + rule.name[1:]
    return Finding(
        id=_slug(rule.name, fired.side.value, _home_text(fired)),
        rule=rule.name,
        title=_printf(title, rule.title_arguments, values),
        scope=fired.scope,
        where=where,
        block=block_id,
        time_s=fired.saved_s,
        speedup_ideal=ideal,
        speedup_cap=cap,
        severity=severity_of(min(ideal, cap if cap is not None else ideal)),
        suggestions=tuple(
            dict.fromkeys(
                [
                    *_advice(rule.advice, values),
                    *(_advice(parent.advice, values) if parent else ()),
                    *_of_platform(selection, platform),
                ]
            )
        ),
        metrics={name: _rounded(values[name]) for name in rule.metrics},
        condition=f"{rule.when} and speedup >= {float(values['threshold']):g}",
        explanation=rule.rule.explanation,
        places=_places(selection),
        culprit=culprit,
        group=fired.group,
    )


def _home_text(fired: _Fired) -> str:
    if fired.scope == "application":
        return "application"
    if fired.scope == "call":
        call = fired.selection.calls[0]
        return f"{fired.home} {call.site.label} {PurePath(call.site.file).name} {call.site.line}"
    return fired.home


def _slug(*parts: str) -> str:
    return "-".join(re.sub(r"[^a-z0-9]+", "-", part.lower()).strip("-") for part in parts)


def _advice(advice: Iterable[Advice], values: Values) -> Iterator[str]:
    for one in advice:
        if one.when is None or one.when.evaluate(values):
            yield _printf(one.text, one.arguments, values)


def _printf(text: str, arguments: Sequence[Argument], values: Values) -> str:
    given = []
    for argument in arguments:
        name = argument.expression.text.strip()
        value: Value = values[name] if isinstance(values.get(name), str) else argument.expression.evaluate(values)
        if argument.unit:
            value = value_text(value, argument.unit)
        elif not isinstance(value, str) and not math.isfinite(value):
            value = 0.0
        given.append(value)
    return text % tuple(given)


def _of_platform(selection: Selection, platform: Platform | None) -> Iterator[str]:
    """What the platform's template advises about the calls concerned, the longest first (section 3.1)."""
    for call in sorted(selection.calls, key=lambda c: -c.time_s):
        if call.entry and call.entry.suggestion:
            name = (platform.title or platform.name) if platform else "this platform"
            yield f"{call.entry.name} on {name}: {call.entry.suggestion}"


def _places(selection: Selection) -> tuple[Place, ...]:
    if selection.calls:
        found = [
            Place(c.site.file, c.site.line, c.site.label) for c in sorted(selection.calls, key=lambda c: -c.time_s)
        ]
    else:
        states = sorted(selection.states, key=lambda s: -s.time_s)
        found = [Place(s.state.file, s.state.line, s.state.name) for s in states if s.state.file and s.state.line]
        block = selection.block.block
        if not found and block.file and block.line:
            found = [Place(block.file, block.line, block.id)]
    return tuple(dict.fromkeys(found))[:MOST_PLACES]


def _rounded(value: Value) -> Value:
    """Whole numbers as such, for JSON's and people's sake."""
    return int(value) if isinstance(value, float) and value.is_integer() and abs(value) < 2**53 else value


def _unique(findings: Sequence[Finding]) -> list[Finding]:
    """Ids without repeats, in the order given."""
    seen: dict[str, int] = {}
    result = []
    for finding in findings:
        number = seen[finding.id] = seen.get(finding.id, 0) + 1
        result.append(finding if number == 1 else replace(finding, id=f"{finding.id}-{number}"))
    return result


def _nested(findings: Sequence[Finding], rules: dict[str, CheckedRule]) -> Iterator[Finding]:
    """Put a call's finding under its block's of the same rule, and a rule's under the rule it says it is part of."""
    of_block = {(f.rule, f.block): f.id for f in reversed(findings) if f.scope == "block"}
    for finding in findings:
        part_of = ""
        if finding.scope == "call":
            part_of = of_block.get((finding.rule, finding.block), "")
        elif finding.scope == "block" and rules[finding.id].rule.part_of:
            part_of = of_block.get((rules[finding.id].rule.part_of, finding.block), "")
        yield replace(finding, part_of=part_of)
