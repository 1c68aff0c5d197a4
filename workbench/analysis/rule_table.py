"""Applies one rule to a run's subjects: the values that it reads, whether it fires, and why not."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from enum import Enum
from typing import Any

from workbench.analysis.custom import KnownMetrics
from workbench.analysis.finding_words import block_words
from workbench.analysis.holding import Alike, Subject, blocks_of, subjects_of
from workbench.analysis.knowledge import CheckedRule, KnowledgeBase
from workbench.analysis.measured import MeasuredRun
from workbench.analysis.rules import Fired, findings_of, fire, left_out, places_of, where_text, without_explained
from workbench.api.metrics import Metric, Metrics, Value
from workbench.api.views import Column, Table
from workbench.model.diagnostic import Diagnostic, WorkbenchError
from workbench.model.finding import Finding, Place
from workbench.model.text import bound_text

MOST_VALUES = 6  # values with a column


class Outcome(Enum):
    """The result of a rule for a subject, in words that follow the subject's name."""

    FIRES = "fires"
    REPLICA = "reported on a replica"
    EXPLAINED = "explained by more specific rules"
    NO_GAIN = "its advice gains nothing"
    TOO_LITTLE = "saves too little"
    FALSE = "condition is false"
    NOTHING = "nothing selected"
    FAULT = "cannot be computed"


@dataclass(frozen=True)
class RuleRow:
    """A subject of a rule. `speedup` is the speedup if only the saved time went; None if the rule selects nothing or
    cannot be computed. `finding` is the reported finding, if any."""

    scope: str
    subject: str
    outcome: Outcome
    values: Mapping[str, Value]
    speedup: float | None = None
    why: str = ""
    finding: Finding | None = None
    place: Place | None = None

    @property
    def fires(self) -> bool:
        return self.outcome is Outcome.FIRES

    @property
    def words(self) -> str:
        return f"{self.outcome.value}: {self.why}" if self.why else self.outcome.value


@dataclass(frozen=True)
class RuleTable:
    """A rule's subjects in a run, the ones that fire first. `metrics` are used by its condition and its saved time;
    `example` is the finding that the first subject would have, if none fires."""

    rule: CheckedRule
    metrics: Metrics
    rows: tuple[RuleRow, ...]
    example: Finding | None = None
    problems: tuple[Diagnostic, ...] = ()

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(self.metrics)

    @property
    def fired(self) -> int:
        return sum(row.fires for row in self.rows)

    @property
    def preview(self) -> Finding | None:
        """The finding of the first subject that fires, or else the example."""
        return next((row.finding for row in self.rows if row.finding), self.example)


def with_rule(knowledge: KnowledgeBase, rule: CheckedRule) -> KnowledgeBase:
    """The knowledge base with a rule in place of the rule of its name, side and scope, or after all others."""
    by_key = {one.key: one for one in knowledge.rules}
    return replace(knowledge, rules=tuple({**by_key, rule.key: rule}.values()))


def rule_table(rule: CheckedRule, measured: MeasuredRun, knowledge: KnowledgeBase) -> RuleTable:
    """The subjects that a rule reports in a run, and those that it does not. The findings' own engine decides; the
    rule's children are evaluated too, since they may explain its findings."""
    names = tuple(dict.fromkeys(n for one in (rule.condition, rule.time_saved, rule.new_time) if one
                                for n in sorted(one.names)))  # fmt: skip
    all_metrics = KnownMetrics(measured.metrics)
    metrics = {name: all_metrics[name] for name in names}
    try:
        alike = list(subjects_of(rule, measured)) if measured.run.time_s else []
        fired = [*filter(None, map(fire, alike))]
        under = (one for one in knowledge.rules if one is not rule and knowledge.parent_of(one) is rule)
        below = [
            *filter(None, (fire(alike_subjects) for one in under for alike_subjects in subjects_of(one, measured)))
        ]
        reported = {id(one) for one in without_explained([*fired, *below], knowledge)}
        reports, problems = findings_of([*fired, *below], measured, knowledge)
    except WorkbenchError as error:
        return _faulty(rule, metrics, measured, error)
    findings = {id(one): finding for finding, one in reports}
    ends = {id(one.subject): (id(one) in reported, findings.get(id(one))) for one in fired}
    rows = [
        _row(subject, alike_subjects, ends, names, measured)
        for alike_subjects in alike
        for subject in alike_subjects.subjects
    ]
    rows += _unselected(rule, alike, measured)
    rows.sort(key=lambda row: (not row.fires, row.outcome is Outcome.NOTHING))
    example = None
    if alike and not findings:
        example, more = _example(alike[0].subjects[0], measured, knowledge)
        problems += more
    of_rule = [problem for problem in problems if (problem.file, problem.line) == (rule.file, rule.line)]
    return RuleTable(rule, metrics, tuple(rows), example, tuple(of_rule))


def _row(
    subject: Subject, alike: Alike, ends: Mapping[int, tuple[bool, Finding | None]], names: Sequence[str],
    measured: MeasuredRun,
) -> RuleRow:  # fmt: skip
    values = {name: subject.selection.values[name] for name in names}
    kept, finding = ends.get(id(subject), (False, None))
    why = ""
    if not subject.condition:
        outcome = Outcome.FALSE
    elif not subject.worthwhile:
        outcome, why = Outcome.TOO_LITTLE, f"{bound_text(subject.speedup)} of {measured.threshold:g}×"
    elif alike.reported is not None and alike.reported is not subject:
        outcome, why = Outcome.REPLICA, block_words(alike.reported.selection.block.block.id)
    elif not kept:
        outcome = Outcome.EXPLAINED
    else:
        outcome = Outcome.NO_GAIN if finding is None else Outcome.FIRES
    places = places_of(subject.selection)
    where = where_text(subject.scope, subject.selection)
    return RuleRow(subject.scope, where, outcome, values, subject.speedup, why, finding, next(iter(places), None))


def _unselected(rule: CheckedRule, alike: Sequence[Alike], measured: MeasuredRun) -> Iterator[RuleRow]:
    """Rows for blocks in which the rule selects nothing."""
    if not {"block", "call"} & set(rule.rule.scope):
        return
    seen = {subject.selection.block.block.id for each in alike for subject in each.subjects}
    for one in blocks_of(rule, measured):
        if one.block.id not in seen:
            place = Place(one.block.file, one.block.line) if one.block.file and one.block.line else None
            yield RuleRow("block", one.block.id, Outcome.NOTHING, {}, place=place)


def _example(
    subject: Subject, measured: MeasuredRun, knowledge: KnowledgeBase
) -> tuple[Finding | None, list[Diagnostic]]:
    """The finding that a rule would report for a subject at which it does not fire."""
    fired = Fired(subject, replace(subject.selection, rule_saves_s=max(subject.saved_s, 0.0)))
    reports, problems = findings_of([fired], replace(measured, threshold=0.0), knowledge)
    return (reports[0][0] if reports else None), problems


def _faulty(rule: CheckedRule, metrics: Metrics, measured: MeasuredRun, error: WorkbenchError) -> RuleTable:
    """The table of a rule that cannot be computed for this run and is left out of the findings."""
    with suppress(WorkbenchError):  # its selection may fail too
        rows = [
            RuleRow(one.scope, where_text(one.scope, one.selection), Outcome.FAULT, {})
            for each in subjects_of(rule, measured)
            for one in each.subjects
        ]
        return RuleTable(rule, metrics, tuple(rows), None, tuple(left_out(rule, error)))
    return RuleTable(rule, metrics, (), None, tuple(left_out(rule, error)))


def metrics_in(scopes: Collection[str], metrics: Metrics) -> list[Metric]:
    """The metrics that apply in any of these scopes, those of few scopes first."""
    applicable = [metric for metric in metrics.values() if not metric.scopes or set(metric.scopes) & set(scopes)]
    return sorted(applicable, key=lambda metric: not metric.scopes)


# ---- shown


def subject_table(table: RuleTable) -> Table:
    """A table of a rule's subjects with the values that it reads, for window and terminal."""

    metrics = table.metrics

    def value(name: str) -> Any:
        return lambda row: metrics[name].text(row.values[name]) if name in row.values else ""

    columns = (
        Column("Subject", lambda row: block_words(row.subject), share=0.5, ink=_ink, elide_middle=True,
               tip_of=lambda row: f"{row.subject} ({row.scope.replace('_', ' ')})"),
        *(Column(name, value(name), width_px=94, right=True, ink=_ink, tip=f"{metrics[name].title}")
          for name in table.names[:MOST_VALUES]),
        Column("Speedup", lambda row: "" if row.speedup is None else bound_text(row.speedup), width_px=78, right=True,
               ink=_ink, tip="If only the time that the rule saves went"),
        Column("Result", lambda row: row.words, share=0.5, ink=_ink, tip_of=lambda row: row.words),
    )  # fmt: skip
    return Table(table.rule.name, columns, table.rows, place=lambda row: row.place)


def _ink(row: RuleRow) -> tuple[str, int, int]:
    return ("text", 13, 600) if row.fires else ("muted" if row.outcome is Outcome.NOTHING else "text", 13, 400)


def table_json(table: RuleTable) -> dict[str, Any]:
    """A table of a rule's subjects for `--json`."""
    preview = table.preview
    return {
        "name": table.rule.name, "side": table.rule.side, "scope": table.rule.scope, "when": table.rule.when,
        "fires": table.fired,
        "rows": [
            {"subject": row.subject, "scope": row.scope, "values": dict(row.values), "speedup_ideal": row.speedup,
             "fires": row.fires, "result": row.words, "title": row.finding.title if row.finding else None,
             "advice": list(row.finding.suggestions) if row.finding else []}
            for row in table.rows
        ],
        "preview": preview and {"title": preview.title, "advice": list(preview.suggestions)},
    }  # fmt: skip
