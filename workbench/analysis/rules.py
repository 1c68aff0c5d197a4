"""Holds the rules against a run's blocks and calls, and ranks what they find (ReCAP 2011, section 4)."""

import math
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import PurePath

from workbench.analysis.edits import changes_of
from workbench.analysis.hazards import demands_of
from workbench.analysis.knowledge import Argument, CheckedRule, CheckedSuggestion, KnowledgeBase, Scope
from workbench.analysis.measured import MeasuredRun
from workbench.analysis.plugin_findings import findings_of_plugins, severity_of, with_plugins
from workbench.analysis.selection import PARTS, Selection, Values, select_block, select_parts
from workbench.api.metrics import Value, value_text
from workbench.api.results import BlockMetrics, CallMetrics
from workbench.model.blocks import Side
from workbench.model.diagnostic import Diagnostic, Severity, WorkbenchError
from workbench.model.finding import Advice, Finding, Place
from workbench.model.platform import Platform
from workbench.model.pragma import Category
from workbench.model.run import Entry

#: A generic rule stays silent on a block where the rules under it explain this share of its time.
EXPLAINED = 0.5
MOST_PLACES = 12
#: Advice that gains less than this is idle, and so is a finding of which all advice is.
LEAST_GAIN = 1.005


@dataclass(frozen=True)
class _Fired:
    """A rule that holds: for which selection, in which scope."""

    rule: CheckedRule
    scope: Scope
    selection: Selection
    group: str = ""

    @property
    def saved_s(self) -> float:
        return self.selection.saved_s

    @property
    def side(self) -> Side:
        return self.selection.block.block.side

    @property
    def home(self) -> str:
        return self.selection.block.block.group


def ideal_speedup(total_s: float, saved_s: float) -> float:
    """T/(T - t): no other bottleneck in the way (ReCAP 2011, section 4)."""
    return total_s / (total_s - saved_s) if saved_s < total_s else math.inf


def find_bottlenecks(
    measured: MeasuredRun, knowledge: KnowledgeBase
) -> tuple[tuple[Finding, ...], tuple[Diagnostic, ...]]:
    """Every finding whose ideal speedup reaches the threshold, the largest gain first, those that lead to others last.

    A rule whose expressions cannot be computed for this run is a diagnostic; the others go on.
    """
    if not measured.run.time_s:
        return (), ()
    fired: list[_Fired] = []
    problems: list[Diagnostic] = []
    for rule in knowledge.rules:
        try:
            fired += _fire(rule, measured)
        except WorkbenchError as error:
            problems += _left_out(rule, error)
    fired_rules: list[tuple[Finding, CheckedRule]] = []
    for one in _without_explained(fired, knowledge):
        try:
            finding = _finding(one, measured, knowledge)
            if finding.gain >= LEAST_GAIN:
                fired_rules.append((finding, one.rule))
        except WorkbenchError as error:
            problems += _left_out(one.rule, error)
    fired_rules, more = with_plugins(fired_rules, measured, knowledge.sources)
    findings = _unique([finding for finding, _ in fired_rules])
    rules = {finding.id: rule for finding, (_, rule) in zip(findings, fired_rules, strict=True)}
    own, wrong = findings_of_plugins(measured, knowledge.sources)
    findings, problems = _unique([*findings, *own]), [*problems, *more, *wrong]
    ranked = sorted(findings, key=lambda finding: _rank(finding, finding.id in rules))
    return tuple(_nested(ranked, rules)), tuple(dict.fromkeys(problems))


def _left_out(rule: CheckedRule, error: WorkbenchError) -> Iterator[Diagnostic]:
    for problem in error.diagnostics:
        message = f"the rule '{rule.name}' was left out: {problem.message}"
        yield Diagnostic(message, problem.hint, Severity.WARNING, rule.file, rule.line)


def _rank(finding: Finding, of_rule: bool) -> tuple[bool, bool, float, bool, bool, float]:
    """By gain, predicted ones first; those whose best advice leads to others come after them. Among equals a plugin's
    own is first (it bounds those of rules), parts of another are later, and those that take less time."""
    unknown = finding.speedup_predicted is None
    return finding.points_elsewhere, unknown, -finding.gain, of_rule, finding.scope == "call", -finding.time_s


def _fire(rule: CheckedRule, measured: MeasuredRun) -> Iterator[_Fired]:
    for scope in (one for one in PARTS if one in rule.rule.scope):
        alike: dict[str, list[Selection]] = {}
        for one in select_parts(scope, measured):
            alike.setdefault(one.block.block.group, []).append(one)
        for replicas in alike.values():
            yield from _hold_group(rule, scope, replicas, len(replicas), measured)
    mine = [b for b in measured.blocks if rule.side in ("any", b.block.side.value)]
    if "application" in rule.rule.scope:
        for side in Side:
            there = [b for b in mine if b.block.side is side]
            needed = [b for b in there if b.block.id in measured.waited_for] or there
            busiest = max(needed, key=lambda b: b.share_of(Category.WORK), default=None)
            if busiest and (selection := select_block(rule, busiest, measured)):
                yield from _hold(rule, "application", selection, measured)
    groups: dict[str, list[BlockMetrics]] = {}
    for block in mine:
        groups.setdefault(block.block.group, []).append(block)
    for members in groups.values():
        selections = [s for block in members if (s := select_block(rule, block, measured))]
        if not selections:
            continue
        if "block" in rule.rule.scope:
            yield from _hold_group(rule, "block", selections, len(members), measured)
        if "call" in rule.rule.scope:
            yield from _hold_calls(rule, selections, measured)


def _hold_group(
    rule: CheckedRule, scope: Scope, selections: Sequence[Selection], size: int, measured: MeasuredRun
) -> Iterator[_Fired]:
    """One finding for all replicas: where all have the bottleneck, of the one that would gain least by its fixing, for
    no other bounds them all; where only some have it, of the one that has most of it."""
    times_s = tuple(s.time_s for s in selections)
    holding = []
    for selection in selections:
        holding += list(_hold(rule, scope, replace(selection, replicas_s=times_s), measured))
    if not holding:
        return
    pick = min if len(holding) == size else max
    chosen = pick(holding, key=lambda f: f.saved_s)
    yield replace(chosen, group=chosen.home if size > 1 else "")


def _hold_calls(rule: CheckedRule, selections: Sequence[Selection], measured: MeasuredRun) -> Iterator[_Fired]:
    """Each call of a block on its own, unless there is only one, which the block's own finding reports."""
    for selection in selections:
        sites = {(c.site_number, c.state.index) for c in selection.calls}
        if len(sites) < 2 and "block" in rule.rule.scope:
            continue
        for site in sorted(sites):
            alone = tuple(c for c in selection.calls if (c.site_number, c.state.index) == site)
            states = tuple(s for s in selection.states if s.state.index == site[1])
            part = replace(selection, states=states, calls=alone, time_s=sum(c.time_s for c in alone))
            yield from _hold(rule, "call", part, measured)


def _hold(rule: CheckedRule, scope: Scope, selection: Selection, measured: MeasuredRun) -> Iterator[_Fired]:
    values, total = selection.values, measured.run.time_s
    if rule.new_time is not None:
        saved = total - float(rule.new_time.evaluate(values))
    else:
        saved = float(rule.time_saved.evaluate(values)) if rule.time_saved else selection.time_s
    saved = min(saved, total)
    if saved > 0 and ideal_speedup(total, saved) >= measured.threshold and rule.condition.evaluate(values):
        yield _Fired(rule, scope, replace(selection, rule_saves_s=saved))


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


def _finding(fired: _Fired, measured: MeasuredRun, knowledge: KnowledgeBase) -> Finding:
    rule, selection = fired.rule, fired.selection
    values = selection.values
    ideal = ideal_speedup(measured.run.time_s, fired.saved_s)
    parent = knowledge.parent_of(rule)
    own = list(_advice(rule.suggestions, selection, measured))
    general = list(_advice(parent.suggestions, selection, measured)) if parent else []
    advice = _worthwhile([*own, *_of_platform(selection, measured.platform, own or general), *general])
    cap = max((a.at_most for a in advice if a.at_most is not None), default=None)
    block_id = selection.block.block.id
    if fired.scope in PARTS:  # shown on a block of its instance, where it has one
        inside = (b.block.id for b in measured.blocks if b.block.component == selection.block.block.id)
        block_id = next(inside, block_id)
    of_part = dict.fromkeys(PARTS, selection.block.block.id)
    where = {"block": block_id, "application": "application", **of_part}.get(fired.scope, "")
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
        severity=severity_of(ideal if cap is None else cap),
        advice=advice,
        metrics={name: _rounded(values[name]) for name in rule.metrics},
        condition=f"{rule.when} and speedup >= {measured.threshold:g}",
        explanation=rule.rule.explanation,
        places=_places(selection),
        culprit=selection.culprit[0],
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


def _advice(suggestions: Iterable[CheckedSuggestion], selection: Selection, measured: MeasuredRun) -> Iterator[Advice]:
    values = selection.values
    for one in suggestions:
        if one.when is not None and not one.when.evaluate(values):
            continue
        left = None if one.time_left is None else float(one.time_left.evaluate(values))
        at_most = None if left is None or math.isnan(left) else measured.at_most(left)
        changes, none = changes_of(one.changes, selection)
        demands = demands_of(changes, measured)
        yield Advice(
            text=_printf(one.text, one.arguments, values),
            at_most=at_most,
            stays=one.stays,
            elsewhere=one.suggestion.elsewhere,
            changes=changes,
            hardware=demands.hardware or one.suggestion.hardware,
            hazard=demands.hazard,
            no_change=one.suggestion.no_change or none,
        )


def _worthwhile(given: Iterable[Advice]) -> tuple[Advice, ...]:
    """The most rewarding first, what no run shows last; what gains nothing is left out, unless all of it does."""
    known: dict[str, Advice] = {}
    for advice in given:
        known.setdefault(advice.text, advice)
    ordered = sorted(known.values(), key=lambda a: math.inf if a.at_most is None else -a.at_most)
    return tuple(a for a in ordered if a.at_most is None or a.at_most >= LEAST_GAIN) or tuple(ordered[:1])


def _printf(text: str, arguments: Sequence[Argument], values: Values) -> str:
    given = []
    for argument in arguments:
        name = argument.expression.text.strip()
        lone = values.get(name, 0.0)
        value: Value = lone if isinstance(lone, str) else argument.expression.evaluate(values)
        if argument.unit:
            value = value_text(value, argument.unit)
        elif not isinstance(value, str) and not math.isfinite(value):
            value = 0.0
        given.append(value)
    return text % tuple(given)


def _of_platform(selection: Selection, platform: Platform | None, beside: Sequence[Advice]) -> Iterator[Advice]:
    """What the platform's template advises about the calls concerned, where its limits hold (section 3.1): one more way
    to do what the rule advises, so the greatest of those bounds (`beside`) is its own."""
    best = max(beside, key=lambda a: a.at_most or 0.0, default=Advice("", None))
    entries = dict.fromkeys(c.entry for c in sorted(selection.calls, key=lambda c: -c.time_s) if c.entry)
    for entry in entries:
        calls = [c for c in selection.calls if c.entry == entry]
        if not entry.suggestion or not _holds(platform, entry, calls):
            continue
        name = (platform.title or platform.name) if platform else "this platform"
        text = f"{entry.name} on {name}: {entry.suggestion}"
        yield Advice(text, best.at_most, best.stays, no_change="the platform's template says it in words only")


def _holds(platform: Platform | None, entry: Entry, calls: Sequence[CallMetrics]) -> bool:
    """Whether these calls are such as the template's advice is for; advice that names no limits always holds."""
    shared = next((e for e in platform.host.entries if e.suggestion == entry.suggestion), None) if platform else None
    if shared is None:
        return True
    count = sum(c.count for c in calls)
    each = sum(c.bytes for c in calls) / count if count else 0.0
    return (
        each >= (shared.suggestion_from_bytes or 0)
        and each <= (shared.suggestion_to_bytes or math.inf)
        and count >= (shared.suggestion_from_calls or 0)
    )


def _places(selection: Selection) -> tuple[Place, ...]:
    if selection.calls:
        places = [
            Place(c.site.file, c.site.line, c.site.label) for c in sorted(selection.calls, key=lambda c: -c.time_s)
        ]
    else:
        states = sorted(selection.states, key=lambda s: -s.time_s)
        places = [Place(s.state.file, s.state.line, s.state.name) for s in states if s.state.file and s.state.line]
        block = selection.block.block
        if not places and block.file and block.line:
            places = [Place(block.file, block.line, block.id)]
    return tuple(dict.fromkeys(places))[:MOST_PLACES]


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
        elif finding.scope == "block" and finding.id in rules and rules[finding.id].rule.part_of:
            part_of = of_block.get((rules[finding.id].rule.part_of, finding.block), "")
        yield replace(finding, part_of=part_of)
