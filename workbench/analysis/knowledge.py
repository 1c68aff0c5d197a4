"""The knowledge base: reasons and bottleneck rules as data, read from YAML files that plugins and users bring.

A rule is checked on its own: one that is wrong is left out, with diagnostics at its lines, and the others work.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache, partial
from pathlib import Path
from typing import Literal

from pydantic import Field

from workbench.analysis.custom import PREFIX, KnownMetrics
from workbench.analysis.rule_changes import RuleChange, read_rule_change
from workbench.api.metrics import UNITS, FindingSource, Metric, Metrics
from workbench.formats.documents import read_text
from workbench.formats.yaml_marks import Marked, check, read_marked
from workbench.model.diagnostic import Diagnostic, Severity, near
from workbench.model.expression import Expression
from workbench.model.platform import CallKind, Document
from workbench.model.pragma import Category

SCHEMA_VERSION = 1
UNKNOWN = "unknown"
DEFAULT = "left.without_this"  # the metric that bounds a suggestion that names none

RuleCategory = Literal["communication", "synchronization", "internal overhead", "imbalance"]
Scope = Literal["block", "call", "application", "fifo", "memory_port"]


class Select(Document):
    """The states of a block and the host calls to which a rule applies. Empty lists select everything."""

    categories: tuple[Category, ...] = Field((), description="states of these categories")
    reasons: tuple[str, ...] = Field((), description="states with any of these reasons")
    all_reasons: tuple[str, ...] = Field(
        (), description="states with every one of these reasons", examples=[["polling"]]
    )
    without_reasons: tuple[str, ...] = Field((), description="states with none of these reasons")
    not_only: tuple[str, ...] = Field((), description="states with no reason, or with one besides these")
    kinds: tuple[CallKind, ...] = Field((), description="calls whose platform entry is of these kinds")
    calls: str = Field("", description="condition over a single call's metrics")


class Suggestion(Document):
    """Advice in printf style. An argument is an expression over metrics; `EXPRESSION as UNIT` makes a text for `%s`.

    `time_left` is the shortest time (s) of a run that follows the advice; `unknown` if a run does not show it. `stays`
    names the basis of that time, if it is not a single metric. Advice with `elsewhere` leads to other findings, which
    come before a finding whose best advice this is. `changes` gives the advice as changes of the catalogue
    (`rule_changes`); `no_change` gives the reason if there are none.
    """

    text: str = Field(description="the advice, in printf style")
    arguments: tuple[str, ...] = Field(
        (), description="expressions over metrics for its % places; `EXPRESSION as UNIT` makes a text for %s"
    )
    when: str = Field("", description="condition over metrics: when the advice is given")
    time_left: str = Field(
        DEFAULT,
        description="expression: the least time (s) of the run once it is followed; `unknown` if no run shows it",
    )
    stays: str = Field("", description="what that time is based on, in words, unless it is a single metric")
    changes: tuple[str, ...] = Field(
        (), description="the advice as changes, each with a pick for its calls and expressions for its numbers"
    )
    no_change: str = Field("", description="why it is not a change of the catalogue")
    hardware: bool = Field(
        False, description="the FPGA's design must change with it, even where its changes do not say"
    )
    elsewhere: bool = Field(
        False, description="leads to other findings, which come before one whose best advice this is"
    )


class Rule(Document):
    """A bottleneck: where to look, when it is one, what a fix would save, and what to do.

    Give `time_saved` or `new_time` (the run's time once it is fixed), in seconds; neither means all of `time`.
    Suggestions of the rule named `parent` are shown too, and that rule stays silent on a block where its children
    explain half of its time. A finding is nested under one of rule `part_of` on the same block.
    """

    name: str = Field(description="its name; the same name, side and scope in a later file replaces it")
    title: str = Field("", description="the finding's title, in printf style")
    title_arguments: tuple[str, ...] = Field((), description="expressions over metrics for the title's % places")
    aliases: tuple[str, ...] = Field((), description="other names in the literature")
    category: RuleCategory = Field(description="the kind of bottleneck")
    side: Literal["host", "fpga", "any"] = Field("any", description="the side whose blocks it looks at")
    scope: tuple[Scope, ...] = Field(
        ("block",),
        description="whether it looks at blocks, at single calls, at the application as a whole, at counted FIFOs, or "
        "at the design's ports into memory on the card",
    )
    select: Select = Field(Select(), description="which states and calls it looks at; empty: all")
    when: str = Field("time > 0", description="condition over metrics: when it is a bottleneck")
    time_saved: str = Field("", description="expression: the time (s) that fixing would save")
    new_time: str = Field("", description="expression: the run's time (s) once it is fixed")
    suggestions: tuple[Suggestion, ...] = Field((), description="what to do")
    show: tuple[str, ...] = Field((), description="metrics to show with a finding")
    parent: str = Field(
        "",
        description="the rule whose suggestions are shown too; it is silent where its children explain half its time",
    )
    part_of: str = Field("", description="the rule under whose finding on the same block this one is shown")
    names_culprit: bool = Field(False, description="whether a finding names the block that is waited for")
    explanation: str = Field("", description="what it means")


class KnowledgeFile(Document):
    """A whole file: `reasons` maps each category to its reasons and what they mean."""

    schema_version: int = Field(description="schema version of this document")
    name: str = Field("", description="the file's title")
    reasons: dict[Category, dict[str, str]] = Field(
        default_factory=dict, description="by category, its reasons and what each means"
    )
    rules: tuple[Rule, ...] = Field((), description="the rules")


@dataclass(frozen=True)
class Argument:
    """A printf argument: the number of an expression, or its text in `unit`; a single text metric is used as it is."""

    expression: Expression
    unit: str = ""


@dataclass(frozen=True)
class CheckedSuggestion:
    """A suggestion with parsed expressions. `time_left` is None if a run does not show it."""

    text: str
    arguments: tuple[Argument, ...]
    when: Expression | None
    time_left: Expression | None
    stays: str
    changes: tuple[RuleChange, ...]
    suggestion: Suggestion


@dataclass(frozen=True)
class CheckedRule:
    """A rule with parsed expressions. `side` and `scope` are its texts for lists; `rule` is the rule as read."""

    rule: Rule
    file: str
    line: int
    condition: Expression
    call_condition: Expression | None
    time_saved: Expression | None
    new_time: Expression | None
    title_arguments: tuple[Argument, ...]
    suggestions: tuple[CheckedSuggestion, ...]

    @property
    def name(self) -> str:
        return self.rule.name

    @property
    def category(self) -> str:
        return self.rule.category

    @property
    def side(self) -> str:
        return self.rule.side

    @property
    def scope(self) -> str:
        return ", ".join(self.rule.scope)

    @property
    def when(self) -> str:
        """The whole condition as text."""
        parts = [part for part in (self.rule.select.calls, self.rule.when) if part]
        return " and ".join(f"({part})" if " or " in part else part for part in parts)

    @property
    def key(self) -> tuple[str, str, tuple[Scope, ...]]:
        return self.rule.name, self.rule.side, self.rule.scope

    @property
    def metrics(self) -> tuple[str, ...]:
        """The metrics that the rule depends on or shows."""
        read = filter(None, (self.call_condition, self.condition, self.time_saved, self.new_time))
        used = [name for expression in read for name in sorted(expression.names)]
        return tuple(dict.fromkeys([*used, *self.rule.show]))


@dataclass(frozen=True)
class KnowledgeBase:
    """All rules in the order of their files, the metrics that they may use, and the meaning of reasons by category;
    `sources` compute further findings."""

    rules: tuple[CheckedRule, ...] = ()
    reasons: Mapping[Category, Mapping[str, str]] = field(default_factory=dict)
    metrics: Metrics = field(default_factory=dict)
    sources: tuple[FindingSource, ...] = ()

    def parent_of(self, rule: CheckedRule) -> CheckedRule | None:
        return next((r for r in self.rules if r.name == rule.rule.parent and r.side in (rule.side, "any")), None)


def load_knowledge(paths: Iterable[Path], metrics: Iterable[Metric]) -> tuple[KnowledgeBase, tuple[Diagnostic, ...]]:
    """Read and merge rule files. A later rule replaces an earlier one of the same name, side and scope."""
    by_name = KnownMetrics({metric.name: metric for metric in metrics})
    rules: dict[tuple[str, str, tuple[Scope, ...]], CheckedRule] = {}
    reasons: dict[Category, dict[str, str]] = {category: {} for category in Category}
    problems: list[Diagnostic] = []
    for path in paths:
        text, unread = read_text(path, "rule file")
        problems += unread
        if text is None:
            continue
        metric_keys = tuple((m.name, m.unit, m.stays) for m in by_name.values())
        file_rules, file_reasons, more = _read_once(text, str(path), metric_keys)
        problems += more
        rules |= {rule.key: rule for rule in file_rules}
        for category, meanings in file_reasons.items():
            reasons[category] |= meanings
    base = KnowledgeBase(tuple(rules.values()), reasons, by_name)
    return base, (*problems, *_check_references(base))


FileKnowledge = tuple[tuple[CheckedRule, ...], Mapping[Category, Mapping[str, str]], tuple[Diagnostic, ...]]


@lru_cache(32)
def _read_once(text: str, file: str, known: tuple[tuple[str, str, str], ...]) -> FileKnowledge:
    """The contents of a rule file for metrics of these names, units and `stays`; the result is cached."""
    metrics = (Metric(name, "", unit, lambda selected: None, stays) for name, unit, stays in known)
    return read_knowledge(text, file, KnownMetrics({metric.name: metric for metric in metrics}))


def read_knowledge(text: str, file: str, metrics: Metrics) -> FileKnowledge:
    """The rules and reasons of one file, with diagnostics for faulty ones, which are left out."""
    marked, problems = read_marked(text, file)
    if marked is None:
        return (), {}, problems
    if not isinstance(marked.data, dict):
        return (), {}, (marked.diagnostic((), "a rule file consists of keys", "It begins with `schema_version: 1`."),)
    listed = marked.data.get("rules", [])
    head = {key: value for key, value in marked.data.items() if key != "rules"}
    knowledge, more = check(KnowledgeFile, Marked(file, head, marked.keys, marked.values))
    problems += more
    if knowledge and knowledge.schema_version != SCHEMA_VERSION:
        hint = f"This program reads version {SCHEMA_VERSION}."
        return (), {}, (marked.diagnostic(("schema_version",), "this version of rules cannot be read", hint),)
    if not isinstance(listed, list):
        return (), {}, (*problems, marked.diagnostic(("rules",), "rules should be a list", "Begin each with '- '."))
    rules: dict[tuple[str, str, tuple[Scope, ...]], CheckedRule] = {}
    for number in range(len(listed)):
        rule, more = check(Rule, marked.below(("rules", number)))
        problems += more
        if rule is None:
            continue
        checked, more = _checked(rule, marked, ("rules", number), metrics)
        problems += more
        if checked is None:
            continue
        if checked.key in rules:
            first = rules[checked.key].line
            hint = f"The first is on line {first}; give this one another name, side or scope."
            problems += (marked.diagnostic(("rules", number, "name"), f"the rule '{rule.name}' is given twice", hint),)
            continue
        rules[checked.key] = checked
    return tuple(rules.values()), knowledge.reasons if knowledge else {}, problems


Place = tuple[int | str, ...]


class _Checker:
    """Parses a rule's expressions and collects diagnostics."""

    def __init__(self, marked: Marked, path: Place, metrics: Metrics) -> None:
        self._marked, self._path, self._metrics = marked, path, metrics
        self.problems: list[Diagnostic] = []

    def expression(self, text: str, *place: int | str) -> Expression | None:
        span = self._marked.span((*self._path, *place))
        quoted = span.end - span.start == len(text) + 2
        parsed, problems = Expression.parse(
            text, self._metrics, self._marked.file, span.line, span.column + quoted, prefix=PREFIX
        )
        self.problems += problems
        return parsed

    def optional(self, text: str, *place: int | str) -> Expression | None:
        return self.expression(text, *place) if text else None

    def complain(self, message: str, hint: str, *place: int | str, severity: Severity = Severity.ERROR) -> None:
        self.problems.append(self._marked.diagnostic((*self._path, *place), message, hint, severity))

    def arguments(self, text: str, arguments: Sequence[str], *place: int | str) -> tuple[Argument, ...]:
        """The parsed arguments of a printf text, checked against its conversions."""
        checked: list[Argument] = []
        for number, argument in enumerate(arguments):
            where = (*place[:-1], "title_arguments" if place[-1] == "title" else "arguments", number)
            match = _AS_UNIT.match(argument)
            unit = match["unit"] if match else ""
            if match and unit not in UNITS:
                self.complain(f"'{unit}' is not a unit", near(unit, UNITS, "Units are"), *where)
            parsed = self.expression(match["expression"] if match else argument, *where)
            if parsed:
                checked.append(Argument(parsed, unit))
        conversions = _CONVERSION.findall(text.replace("%%", ""))
        if len(conversions) != text.replace("%%", "").count("%"):
            hint = "Conversions are such as %d, %.2f and %s; a percent sign is %%."
            self.complain("this text has a % that is not a conversion", hint, *place)
        elif len(conversions) != len(arguments):
            count = f"{len(conversions)} conversions but {len(arguments)} arguments"
            self.complain(f"this text has {count}", "Give one argument for each %.", *place)
        elif len(checked) == len(arguments):
            for conversion, argument_ in zip(conversions, checked, strict=True):
                if (conversion == "s") != self._is_text(argument_):
                    hint = "Write `EXPRESSION as size` (or time, rate, ...) for %s, a plain expression for numbers."
                    self.complain(f"'{argument_.expression.text}' does not suit %{conversion}", hint, *place)
        return tuple(checked)

    def changes(self, lines: Sequence[str], *place: int | str) -> tuple[RuleChange, ...]:
        """The parsed lines of a suggestion's changes."""
        changes = []
        for number, line in enumerate(lines):
            where = (*place, number)
            parse = partial(self._expression_at, where=where)
            changes.append(read_rule_change(line, self._metrics, parse, partial(self._complain_at, where=where)))
        return tuple(one for one in changes if one is not None)

    def _expression_at(self, text: str, where: Place) -> Expression | None:
        return self.expression(text, *where)

    def _complain_at(self, message: str, hint: str, where: Place) -> None:
        self.complain(message, hint, *where)

    def _is_text(self, argument: Argument) -> bool:
        metric = self._metrics.get(argument.expression.text.strip())
        return bool(argument.unit) or (metric is not None and metric.unit == "text")


_AS_UNIT = re.compile(r"(?P<expression>.+) as (?P<unit>\w+)\Z")
_CONVERSION = re.compile(r"%[-+ 0#]*\d{0,2}(?:\.\d{1,2})?([dfgs])")


def _checked(
    rule: Rule, marked: Marked, path: Place, metrics: Metrics
) -> tuple[CheckedRule | None, tuple[Diagnostic, ...]]:
    checker = _Checker(marked, path, metrics)
    bounds = {name: metric.stays for name, metric in metrics.items() if metric.stays}
    condition = checker.expression(rule.when, "when")
    call_condition = checker.optional(rule.select.calls, "select", "calls")
    time_saved = checker.optional(rule.time_saved, "time_saved")
    new_time = checker.optional(rule.new_time, "new_time")
    if time_saved and new_time:
        checker.complain("give either time_saved or new_time", "One follows from the other.", "new_time")
    titles = checker.arguments(rule.title, rule.title_arguments, "title")
    advice = []
    for number, suggestion in enumerate(rule.suggestions):
        place = ("suggestions", number)
        arguments = checker.arguments(suggestion.text, suggestion.arguments, *place, "text")
        when = checker.optional(suggestion.when, *place, "when")
        time_left_text, stays = suggestion.time_left.strip(), suggestion.stays
        has_time_left = time_left_text != UNKNOWN
        if has_time_left and time_left_text not in bounds and not stays:
            hint = f"Add `stays:` with what this time rests on, or name one of these: {', '.join(bounds)}."
            checker.complain("this bound does not say which time stays", hint, *place, "time_left")
        time_left = checker.expression(time_left_text, *place, "time_left") if has_time_left else None
        stays = stays or bounds.get(time_left_text, "")
        changes = checker.changes(suggestion.changes, *place, "changes")
        if suggestion.changes and suggestion.no_change:
            checker.complain("give either changes or no_change", "Leave one out.", *place, "no_change")
        advice.append(CheckedSuggestion(suggestion.text, arguments, when, time_left, stays, changes, suggestion))
    for number, name in enumerate(rule.show):
        if name not in metrics and not name.startswith(PREFIX):
            checker.complain(f"there is no metric '{name}'", near(name, metrics, "Metrics are"), "show", number)
    if ("call" in rule.scope or call_condition or rule.select.kinds) and rule.side == "fpga":
        checker.complain("hardware makes no calls", "Use side host, or scope block without kinds and calls.", "side")
    if checker.problems or condition is None:
        return None, tuple(checker.problems)
    parts = (condition, call_condition, time_saved, new_time, titles, tuple(advice))
    return CheckedRule(rule, marked.file or "", marked.span(path).line, *parts), ()


def _check_references(base: KnowledgeBase) -> Iterable[Diagnostic]:
    """Warnings for names that do not exist; the rule still works."""
    names = {rule.name for rule in base.rules}
    reasons = {reason for meanings in base.reasons.values() for reason in meanings}
    for rule in base.rules:
        place = {"severity": Severity.WARNING, "file": rule.file, "line": rule.line}
        for name in filter(None, (rule.rule.parent, rule.rule.part_of)):
            if name not in names:
                message = f"the rule '{rule.name}' refers to '{name}', which is not a rule"
                yield Diagnostic(message, near(name, names, "Rules are"), **place)  # type: ignore[arg-type]
        select = rule.rule.select
        for reason in (*select.reasons, *select.all_reasons, *select.without_reasons, *select.not_only):
            if reason not in reasons:
                message = f"the rule '{rule.name}' looks for the reason '{reason}', which no category has"
                yield Diagnostic(message, near(reason, reasons, "Reasons are"), **place)  # type: ignore[arg-type]
