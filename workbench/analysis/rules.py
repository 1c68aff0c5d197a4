"""Applies the rules to a run's blocks and calls, and ranks the findings (ReCAP 2011, section 4)."""

import math
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import PurePath

from workbench.analysis.edits import changes_of
from workbench.analysis.hazards import demands_of
from workbench.analysis.holding import Alike, Subject, subjects_of
from workbench.analysis.knowledge import Argument, CheckedRule, CheckedSuggestion, KnowledgeBase, Scope
from workbench.analysis.measured import MeasuredRun
from workbench.analysis.plugin_findings import findings_of_plugins, severity_of, with_plugins
from workbench.analysis.selection import PARTS, Selection, Values
from workbench.api.metrics import Value, value_text
from workbench.api.results import CallMetrics
from workbench.model.diagnostic import Diagnostic, Severity, WorkbenchError
from workbench.model.finding import Advice, Finding, Place
from workbench.model.platform import Platform
from workbench.model.run import Entry
from workbench.model.text import capitalised

#: A generic rule stays silent on a block where the rules under it explain this share of its time.
EXPLAINED = 0.5
MOST_PLACES = 12
#: Advice with a smaller gain is left out, and so is a finding with only such advice.
LEAST_GAIN = 1.005


@dataclass(frozen=True)
class Fired:
    """A rule that holds for a subject; `selection` is the subject's, with the time that the rule saves. `group` names
    the replicas."""

    subject: Subject
    selection: Selection
    group: str = ""

    @property
    def rule(self) -> CheckedRule:
        return self.subject.rule

    @property
    def scope(self) -> Scope:
        return self.subject.scope


def find_bottlenecks(
    measured: MeasuredRun, knowledge: KnowledgeBase
) -> tuple[tuple[Finding, ...], tuple[Diagnostic, ...]]:
    """All findings whose speedup (if only their time went) reaches the threshold, the largest gain first, those that
    lead to others last.

    A rule that cannot be computed for this run becomes a diagnostic; the others still apply.
    """
    if not measured.run.time_s:
        return (), ()
    fired: list[Fired] = []
    problems: list[Diagnostic] = []
    for rule in knowledge.rules:
        try:
            fired += [*filter(None, map(fire, subjects_of(rule, measured)))]
        except WorkbenchError as error:
            problems += left_out(rule, error)
    reports, more = findings_of(fired, measured, knowledge)
    findings = _unique([finding for finding, _ in reports])
    rules = {finding.id: one.rule for finding, (_, one) in zip(findings, reports, strict=True)}
    of_plugins, wrong = findings_of_plugins(measured, knowledge.sources)
    findings, problems = _unique([*findings, *of_plugins]), [*problems, *more, *wrong]
    ranked = sorted(findings, key=lambda finding: _rank(finding, finding.id in rules))
    return tuple(_nested(ranked, rules)), tuple(dict.fromkeys(problems))


def findings_of(
    fired: Sequence[Fired], measured: MeasuredRun, knowledge: KnowledgeBase
) -> tuple[list[tuple[Finding, Fired]], list[Diagnostic]]:
    """The findings of rules that fired, each with the rule's `Fired`; those without a gain are left out. A generic rule
    is silent if its child rules fired too."""
    reports: list[tuple[Finding, Fired]] = []
    problems: list[Diagnostic] = []
    for one in without_explained(fired, knowledge):
        try:
            finding = _finding(one, measured, knowledge)
            if finding.gain >= LEAST_GAIN:
                reports.append((finding, one))
        except WorkbenchError as error:
            problems += left_out(one.rule, error)
    reports, more = with_plugins(reports, measured, knowledge.sources)
    return reports, [*problems, *more]


def left_out(rule: CheckedRule, error: WorkbenchError) -> Iterator[Diagnostic]:
    for problem in error.diagnostics:
        message = f"the rule '{rule.name}' was left out: {problem.message}"
        yield Diagnostic(message, problem.hint, Severity.WARNING, rule.file, rule.line)


def _rank(finding: Finding, of_rule: bool) -> tuple[bool, bool, float, bool, bool, float]:
    """A sort key: predicted findings first, by gain; last those whose best advice leads to others. On equal gain a
    plugin's own finding is first (it bounds those of rules), and parts of other findings and shorter times come
    later."""
    unknown = finding.speedup_predicted is None
    return finding.points_elsewhere, unknown, -finding.gain, of_rule, finding.scope == "call", -finding.time_s


def fire(alike: Alike) -> Fired | None:
    """The reported one of these subjects; None if the rule does not hold."""
    subject = alike.reported
    if subject is None:
        return None
    return Fired(
        subject, replace(subject.selection, rule_saves_s=subject.saved_s), subject.home if alike.size > 1 else ""
    )


def without_explained(fired: Sequence[Fired], knowledge: KnowledgeBase) -> list[Fired]:
    """The findings without generic ones on blocks where more specific ones explain most of their time."""
    remaining = []
    for candidate in fired:
        indexes = {
            index
            for other in fired
            if other.scope == candidate.scope == "block"
            and other.subject.home == candidate.subject.home
            and other.rule is not candidate.rule
            and knowledge.parent_of(other.rule) is candidate.rule
            for index in other.selection.state_indexes
        }
        states = candidate.selection.states
        explained = sum(s.time_s for s in states if s.state.index in indexes)
        if not indexes or explained < EXPLAINED * sum(s.time_s for s in states):
            remaining.append(candidate)
    return remaining


def _finding(fired: Fired, measured: MeasuredRun, knowledge: KnowledgeBase) -> Finding:
    rule, selection = fired.rule, fired.selection
    values = selection.values
    ideal = fired.subject.speedup
    parent = knowledge.parent_of(rule)
    rule_advice = list(_advice(rule.suggestions, selection, measured))
    general = list(_advice(parent.suggestions, selection, measured)) if parent else []
    advice = _worthwhile([*rule_advice, *_of_platform(selection, measured.platform, rule_advice or general), *general])
    cap = max((a.at_most for a in advice if a.at_most is not None), default=None)
    block_id = selection.block.block.id
    if fired.scope in PARTS:  # shown on a block of its instance, if any
        inside = (b.block.id for b in measured.blocks if b.block.component == selection.block.block.id)
        block_id = next(inside, block_id)
    title = rule.rule.title or capitalised(rule.name)
    return Finding(
        id=_slug(rule.name, fired.subject.side.value, _home_text(fired)),
        rule=rule.name,
        title=_printf(title, rule.title_arguments, values),
        scope=fired.scope,
        where=where_text(fired.scope, selection),
        block=block_id,
        time_s=fired.subject.saved_s,
        speedup_ideal=ideal,
        speedup_cap=cap,
        severity=severity_of(ideal if cap is None else cap),
        advice=advice,
        metrics={name: _rounded(values[name]) for name in rule.metrics},
        condition=f"{rule.when} and speedup >= {measured.threshold:g}",
        explanation=rule.rule.explanation,
        places=places_of(selection),
        culprit=selection.culprit[0],
        group=fired.group,
    )


def where_text(scope: Scope, selection: Selection) -> str:
    """The name of a selection in findings of a scope."""
    block = selection.block.block.id
    if scope == "call":
        call = selection.calls[0]
        return f"{block}: {call.entry.name if call.entry else call.site.callee} at {call.place}"
    return "application" if scope == "application" else block


def _home_text(fired: Fired) -> str:
    if fired.scope == "application":
        return "application"
    if fired.scope == "call":
        call = fired.selection.calls[0]
        return f"{fired.subject.home} {call.site.label} {PurePath(call.site.file).name} {call.site.line}"
    return fired.subject.home


def _slug(*parts: str) -> str:
    return "-".join(re.sub(r"[^a-z0-9]+", "-", part.lower()).strip("-") for part in parts)


def _advice(suggestions: Iterable[CheckedSuggestion], selection: Selection, measured: MeasuredRun) -> Iterator[Advice]:
    values = selection.values
    for one in suggestions:
        if one.when is not None and not one.when.evaluate(values):
            continue
        time_left_s = None if one.time_left is None else float(one.time_left.evaluate(values))
        at_most = None if time_left_s is None or math.isnan(time_left_s) else measured.at_most(time_left_s)
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


def _worthwhile(suggested: Iterable[Advice]) -> tuple[Advice, ...]:
    """Advice by its bound, the largest first, unknown bounds last; advice without gain is left out unless none has
    any."""
    by_text: dict[str, Advice] = {}
    for advice in suggested:
        by_text.setdefault(advice.text, advice)
    ordered = sorted(by_text.values(), key=lambda a: math.inf if a.at_most is None else -a.at_most)
    return tuple(a for a in ordered if a.at_most is None or a.at_most >= LEAST_GAIN) or tuple(ordered[:1])


def _printf(text: str, arguments: Sequence[Argument], values: Values) -> str:
    printed = []
    for argument in arguments:
        name = argument.expression.text.strip()
        lone = values.get(name, 0.0)
        value: Value = lone if isinstance(lone, str) else argument.expression.evaluate(values)
        if argument.unit:
            value = value_text(value, argument.unit)
        elif not isinstance(value, str) and not math.isfinite(value):
            value = 0.0
        printed.append(value)
    return text % tuple(printed)


def _of_platform(selection: Selection, platform: Platform | None, beside: Sequence[Advice]) -> Iterator[Advice]:
    """The template's advice on the calls concerned, if its limits apply (section 3.1). It is one more way to follow the
    rule's advice, so its bound is the largest of those (`beside`)."""
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
    """Whether the template's advice applies to these calls; advice without limits always applies."""
    shared = next((e for e in platform.host.entries if e.suggestion == entry.suggestion), None) if platform else None
    if shared is None:
        return True
    count = sum(c.count for c in calls)
    mean_bytes = sum(c.bytes for c in calls) / count if count else 0.0
    return (
        mean_bytes >= (shared.suggestion_from_bytes or 0)
        and mean_bytes <= (shared.suggestion_to_bytes or math.inf)
        and count >= (shared.suggestion_from_calls or 0)
    )


def places_of(selection: Selection) -> tuple[Place, ...]:
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
    """A whole number as int, for JSON and readers."""
    return int(value) if isinstance(value, float) and value.is_integer() and abs(value) < 2**53 else value


def _unique(findings: Sequence[Finding]) -> list[Finding]:
    """The findings with unique ids, in the given order."""
    count_of_id: dict[str, int] = {}
    result = []
    for finding in findings:
        number = count_of_id[finding.id] = count_of_id.get(finding.id, 0) + 1
        result.append(finding if number == 1 else replace(finding, id=f"{finding.id}-{number}"))
    return result


def _nested(findings: Sequence[Finding], rules: dict[str, CheckedRule]) -> Iterator[Finding]:
    """Nest a call's finding under its block's of the same rule, and a rule's under the rule that it is `part_of`."""
    of_block = {(f.rule, f.block): f.id for f in reversed(findings) if f.scope == "block"}
    for finding in findings:
        part_of = ""
        if finding.scope == "call":
            part_of = of_block.get((finding.rule, finding.block), "")
        elif finding.scope == "block" and finding.id in rules and rules[finding.id].rule.part_of:
            part_of = of_block.get((rules[finding.id].rule.part_of, finding.block), "")
        yield replace(finding, part_of=part_of)
