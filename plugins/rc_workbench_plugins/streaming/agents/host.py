"""The agent on the host: a query as the plan of `resources/streaming/agent_plan.hpp`, and what the agent wrote."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain
from pathlib import Path

import numpy as np

from rc_workbench_plugins.streaming.agents.conditions import labels_of
from rc_workbench_plugins.streaming.agents.layout import KILLED
from rc_workbench_plugins.streaming.agents.packets import Answers, in_order_alone
from rc_workbench_plugins.streaming.query.measures import (
    COUNTED,
    And,
    Assert,
    AssertResult,
    Blocked,
    Comparison,
    Condition,
    FrameValue,
    Measure,
    MeasureResult,
    Metric,
    Not,
    Number,
    Or,
    Query,
    Statistic,
    Tap,
    operands,
    with_parts,
)
from workbench.api import PS_PER_S, Diagnostic, Severity, counted
from workbench.api.unstable import StreamEdge

FILE = "stream_agent.txt"
_RELATIONS = {">": "gt", ">=": "ge", "<": "lt", "<=": "le", "==": "eq", "!=": "ne"}


@dataclass(frozen=True)
class HostAgent:
    """`plan` is C++, a `streaming::agent::Query`; measures and assertions are numbered as they stand here."""

    plan: str
    measures: tuple[Measure, ...]
    asserts: tuple[Assert, ...]
    paths: tuple[tuple[str, ...], ...] = ()  #: of several edges, along which the plan follows elements


@dataclass
class _Plan:
    """The plan of statements that are counted together; `numbers` are those of edges and, in the query, of paths."""

    numbers: Mapping[str, int]
    of_path: dict[tuple[str, ...], int]
    measures: list[Measure] = field(default_factory=list)
    paths: list[tuple[str, ...]] = field(default_factory=list)

    def measure(self, of: Measure) -> int:
        if of not in self.measures:
            self.measures.append(of)
        return self.measures.index(of)

    def path(self, of: Measure) -> int:
        if of.edges not in self.paths:
            self.paths.append(of.edges)
            self.of_path.setdefault(of.edges, len(self.of_path))
        return self.paths.index(of.edges)

    def condition(self, of: Condition) -> list[str]:
        match of:
            case Blocked(edge):
                return [_step("blocked", at=self.numbers[edge])]
            case Not(inner):
                return [*self.condition(inner), _step("neither")]
            case And(parts) | Or(parts):
                lines = self.condition(parts[0])
                for part in parts[1:]:
                    lines += [*self.condition(part), _step("both" if isinstance(of, And) else "either")]
                return lines
            case Comparison(left, relation, right):
                sides = [self.side(left), self.side(right)]
                for side, of_side in zip(sides, (left, right), strict=True):
                    side[0] = side[0] if isinstance(of_side, Number) else _Operand(side[0])
                return [*sides[0], *sides[1], _step(_RELATIONS[relation])]
        raise AssertionError("no agent sees states of blocks")  # `division` gives it no such statement

    def side(self, of: Measure | Number) -> list[str]:
        if isinstance(of, Number):
            return [_step("number", of.value)]
        if not of.instant:
            return [_step("frame", at=self.measure(of))]
        at = self.path(of) if of.metric is Metric.LATENCY else self.numbers[of.edges[-1]]
        if of.metric is Metric.INTERVAL:
            at = 2 * at + (of.tap is Tap.POP)
        lines = [_step(of.metric, at=at)]
        return [*lines, *map(str, self.condition(of.when)), _step("gated")] if of.when else lines


class _Operand(str):
    """The step that asks for a measure which an assertion compares."""


def _step(code: str, number: float = 0, at: int = 0) -> str:
    return f"{{Code::{code}, {float(number)!r}, {at}}}"


def _list(parts: Iterable[object]) -> str:
    return "{" + ", ".join(map(str, parts)) + "}"


def host_agent(query: Query, edges: Mapping[int, StreamEdge], period_ps: int = 10**9) -> HostAgent:
    """The plan for statements that need no other ends of edges than are on processor cores; the edges are given by
    their numbers."""
    paths: dict[tuple[str, ...], int] = {}
    plans = []
    for labels, statements in _together(query):
        of = {number: edge for number, edge in edges.items() if edge.label in labels}
        plans.append(_plan(statements, query, of, paths))
    lines = ["[] {", "    using namespace streaming::agent;", "    return Query{{", *plans, f"    }}, {period_ps}}};"]
    return HostAgent("\n".join([*lines, "}()"]), query.measures, query.asserts, tuple(paths))


def _together(query: Query) -> list[tuple[set[str], list[Measure | Assert]]]:
    """Statements that hold events of the same edges, by their labels, against one another; in what order events of
    others happen is of no account."""
    groups: list[tuple[set[str], list[Measure | Assert]]] = []
    for statement in query.statements:
        labels = labels_of(statement)
        joined = [one for one in groups if one[0] & labels]
        groups = [one for one in groups if not one[0] & labels]
        groups.append((labels.union(*(of for of, _ in joined)), [*chain(*(of for _, of in joined)), statement]))
    return groups


def _plan(
    statements: Sequence[Measure | Assert],
    query: Query,
    edges: Mapping[int, StreamEdge],
    paths: dict[tuple[str, ...], int],
) -> str:
    plan = _Plan({edge.label: number for number, edge in edges.items()}, paths)
    plan.measures.extend(one for one in statements if isinstance(one, Measure))
    reported = len(plan.measures)
    asserts = []
    for one in statements:
        if isinstance(one, Assert):
            steps = plan.condition(one.condition)
            compared = (place for place, step in enumerate(steps) if isinstance(step, _Operand))
            asserts.append(_list((query.asserts.index(one), _list(steps), _list(compared))))
    measures: list[str] = []
    while len(measures) < len(plan.measures):  # conditions ask for more measures
        one = plan.measures[len(measures)]
        measures.append(_measure(plan, one, query.measures.index(one) if len(measures) < reported else -1))
    parts = (
        (_list((number, str(edge.type.startswith("float")).lower())) for number, edge in edges.items()),
        (_list((paths[one], _list(plan.numbers[e] for e in one if e in plan.numbers))) for one in plan.paths),
        measures,
        asserts,
    )
    return f"        {_list(map(_list, parts))},"


def _measure(plan: _Plan, of: Measure, number: int) -> str:
    parts = (
        number,
        f"Metric::{of.metric}",
        f"Statistic::{of.statistic}",
        plan.numbers[of.edges[-1]],
        plan.path(of) if of.metric is Metric.LATENCY else 0,
        "pops" if of.tap is Tap.POP else "pushes",
        of.frame.time_ps,
        of.frame.elements,
        _list(map(repr, map(float, of.bins))),
        _list(plan.condition(of.when) if of.when else ()),
    )
    return _list(parts)


def host_answers(agent: HostAgent, file: Path) -> Answers:
    """What the agent wrote. A file that breaks off, or is not there, is a warning, and what it has the answer."""
    try:
        lines = file.read_text("utf-8", "replace").splitlines()
    except OSError as error:
        none = _warning(f"the agent on the host left no answer: {error.strerror}", file, "Was the disk full?")
        asserts = tuple(AssertResult(one, (), known=False) for one in agent.asserts)
        return Answers(tuple(MeasureResult(one, ()) for one in agent.measures), asserts, (none,))
    frames: dict[int, list[FrameValue]] = {number: [] for number in range(len(agent.measures))}
    broken: dict[int, list[tuple[int, int]]] = {number: [] for number in range(len(agent.asserts))}
    worth: dict[int, tuple[tuple[Measure, float], ...]] = {}
    known = [True] * len(agent.asserts)
    unequal: set[tuple[str, ...]] = set()
    problems = []
    try:
        for line in lines:
            kind, *words = line.split(" ")
            if kind == "frame":
                number = int(words[0])
                frames[number].append(_frame(agent.measures[number], words[1:]))
            elif kind == "broken":
                number, begin, end = map(int, words[:3])
                spells = broken[number]
                sides = operands(agent.asserts[number].condition)
                worth.setdefault(number, tuple(zip(sides, map(float, words[3:]), strict=False)))
                spells.append((spells.pop()[0] if spells and spells[-1][1] == begin else begin, end))
            elif kind == "unequal":
                unequal.add(agent.paths[int(words[0])])
        problems += _ending(lines, known, file)
    except (ValueError, KeyError, IndexError):
        problems.append(_warning("the record of the agent on the host is incomplete", file, KILLED))
    trust = "; ".join([COUNTED, *(problem.message for problem in problems)])
    warnings = tuple(problems)
    measures = [MeasureResult(one, with_parts(one, frames[n]), trust, warnings) for n, one in enumerate(agent.measures)]
    asserts = tuple(
        AssertResult(one, tuple(broken[n]), known[n], trust=trust, compared=worth.get(n, ()))
        for n, one in enumerate(agent.asserts)
    )
    return in_order_alone(Answers(tuple(measures), asserts, tuple(problems)), unequal)


def _warning(
    message: str, file: Path, hint: str = "The application went on; the counts until then are shown."
) -> Diagnostic:
    return Diagnostic(message, hint, severity=Severity.WARNING, file=str(file))


def _ending(lines: list[str], known: list[bool], file: Path) -> list[Diagnostic]:
    """What the last line tells: events lost or late, which assertions were ever known, and what happened."""
    words = lines[-1].split(" ") if lines else []
    if not words or words[0] != "end":
        return [_warning("the agent on the host did not finish: its answers are incomplete", file, KILLED)]
    lost, late = int(words[2]), int(words[3])
    flags, _, why = " ".join(words[5:]).partition(" . ") if "." in words else (" ".join(words[5:]), "", "")
    if words[5:6] == ["."]:
        flags, why = "", " ".join(words[6:])
    known[:] = [flag == "1" for flag in flags.split()]
    warnings = []
    if why:
        warnings.append(_warning(why, file))
    if lost:
        message = f"{counted(lost, 'event')} of the streams {'was' if lost == 1 else 'were'} lost"
        warnings.append(_warning(f"{message}: the agent on the host did not keep up", file))
    if late:
        message = f"{counted(late, 'event')} {'was' if late == 1 else 'were'} reported after the time had been counted"
        warnings.append(_warning(f"{message}, and counted later", file))
    return warnings


def _frame(of: Measure, words: list[str]) -> FrameValue:
    start, end, collected, count = map(int, words[:4])
    total, least, largest, on = (_number(word) for word in words[4:8])
    rest = words[9:]
    frame = FrameValue(start, end, collected, count)
    if of.single:
        if not collected:
            return frame
        if of.metric is Metric.RATE:
            return FrameValue(start, end, collected, count, count * PS_PER_S / collected)
        share = on / collected if of.metric is Metric.BACKPRESSURE else (collected - on) / collected
        return FrameValue(start, end, collected, count, share)
    match of.statistic:
        case Statistic.HIST:
            return FrameValue(start, end, collected, count, histogram=tuple(map(int, rest)))
        case Statistic.TRACE:
            times = np.array([int(word) for word in rest[::2]], np.int64)
            return FrameValue(start, end, collected, count, samples=(times, np.array([_number(w) for w in rest[1::2]])))
        case Statistic.SUM:
            value: float | None = total
        case Statistic.MEAN:
            over = collected if of.metric is Metric.OCCUPANCY else count
            value = total / over if over else None
        case Statistic.MIN:
            value = None if np.isnan(least) else least
        case _:
            value = None if np.isnan(largest) else largest
    return FrameValue(start, end, collected, count, value)


def _number(word: str) -> int | float:
    try:
        return int(word)
    except ValueError:
        return float(word)
