"""The agent on the host: a query as the plan of `resources/streaming/agent_counter.hpp`, and what the agent wrote."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

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
)
from rc_workbench_plugins.streaming.topology import Edge
from workbench.model.diagnostic import Diagnostic, Severity, WorkbenchError
from workbench.model.run import PS_PER_S

FILE = "stream_agent.txt"
_RELATIONS = {">": "gt", ">=": "ge", "<": "lt", "<=": "le", "==": "eq", "!=": "ne"}


@dataclass(frozen=True)
class HostAgent:
    """`plan` is C++, a `streaming::agent::Plan`; measures and assertions are numbered as they stand here."""

    plan: str
    measures: tuple[Measure, ...]
    asserts: tuple[Assert, ...]
    paths: tuple[tuple[str, ...], ...] = ()  #: of several edges, along which the plan follows elements


@dataclass
class _Plan:
    numbers: Mapping[str, int]
    measures: list[Measure] = field(default_factory=list)
    told: list[bool] = field(default_factory=list)
    paths: list[tuple[str, ...]] = field(default_factory=list)

    def measure(self, of: Measure, told: bool) -> int:
        if not told and of in self.measures:
            return self.measures.index(of)
        self.measures.append(of)
        self.told.append(told)
        return len(self.measures) - 1

    def path(self, of: Measure) -> int:
        if of.edges not in self.paths:
            self.paths.append(of.edges)
        return self.paths.index(of.edges)

    def condition(self, of: Condition) -> list[str]:
        match of:
            case Blocked(edge):
                return [_step("blocked", at=self.numbers[edge])]
            case Not(inner):
                return [*self.condition(inner), _step("neither")]
            case And(parts) | Or(parts):
                found = self.condition(parts[0])
                for part in parts[1:]:
                    found += [*self.condition(part), _step("both" if isinstance(of, And) else "either")]
                return found
            case Comparison(left, relation, right):
                return [*self.side(left), *self.side(right), _step(_RELATIONS[relation])]

    def side(self, of: Measure | Number) -> list[str]:
        if isinstance(of, Number):
            return [_step("number", of.value)]
        if not of.instant:
            return [_step("frame", at=self.measure(of, False))]
        at = self.path(of) if of.metric is Metric.LATENCY else self.numbers[of.edges[-1]]
        if of.metric is Metric.INTERVAL:
            at = 2 * at + (of.tap is Tap.POP)
        found = [_step(of.metric, at=at)]
        return [*found, *self.condition(of.when), _step("gated")] if of.when else found


def _step(code: str, number: float = 0, at: int = 0) -> str:
    return f"{{Code::{code}, {float(number)!r}, {at}}}"


def _list(parts: Iterable[object]) -> str:
    return "{" + ", ".join(map(str, parts)) + "}"


def host_agent(query: Query, edges: Mapping[int, Edge], period_ps: int = 10**9) -> HostAgent:
    """The plan for statements that need no other ends of edges than are on processor cores; the edges are given by
    their numbers."""
    plan = _Plan({edge.label: number for number, edge in edges.items()})
    for measure in query.measures:
        plan.measure(measure, True)
    conditions = [_list(plan.condition(asserted.condition)) for asserted in query.asserts]
    written: list[str] = []
    while len(written) < len(plan.measures):  # conditions ask for more measures
        written.append(_measure(plan, plan.measures[len(written)], plan.told[len(written)]))
    lines = [
        "[] {",
        "    using namespace streaming::agent;",
        "    return Plan{",
        f"        {_list(edges)}, {_list(str(edge.type.startswith('float')).lower() for edge in edges.values())},",
        f"        {_list(_list(plan.numbers[one] for one in path if one in plan.numbers) for path in plan.paths)},",
        "        {",
        *(f"            {text}," for text in written),
        "        },",
        "        {",
        *(f"            {text}," for text in conditions),
        "        },",
        f"        {period_ps},",
        "    };",
        "}()",
    ]
    return HostAgent("\n".join(lines), query.measures, query.asserts, tuple(plan.paths))


def _measure(plan: _Plan, of: Measure, told: bool) -> str:
    parts = (
        f"Metric::{of.metric}",
        f"Statistic::{of.statistic}",
        plan.numbers[of.edges[-1]],
        plan.path(of) if of.metric is Metric.LATENCY else 0,
        str(of.tap is Tap.POP).lower(),
        of.frame.time_ps,
        of.frame.elements,
        _list(map(repr, map(float, of.bins))),
        _list(plan.condition(of.when) if of.when else ()),
        str(told).lower(),
    )
    return _list(parts)


def host_answers(agent: HostAgent, file: Path) -> Answers:
    """What the agent wrote. A file that breaks off is a warning, and what it has so far the answer."""
    try:
        lines = file.read_text("utf-8").splitlines()
    except OSError as error:
        message = f"the agent on the host left no answer: {error.strerror}"
        raise WorkbenchError(Diagnostic(message, "Was the disk full?", file=str(file))) from None
    frames: dict[int, list[FrameValue]] = {number: [] for number in range(len(agent.measures))}
    broken: dict[int, list[tuple[int, int]]] = {number: [] for number in range(len(agent.asserts))}
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
                number, begin, end = map(int, words)
                spells = broken[number]
                spells.append((spells.pop()[0] if spells and spells[-1][1] == begin else begin, end))
            elif kind == "unequal":
                unequal.add(agent.paths[int(words[0])])
        problems += _ending(lines, known, file)
    except (ValueError, KeyError, IndexError):
        problems.append(_warning("what the agent on the host wrote breaks off", file, KILLED))
    trust = "; ".join([COUNTED, *(problem.message for problem in problems)])
    measures = [MeasureResult(one, tuple(frames[n]), trust, tuple(problems)) for n, one in enumerate(agent.measures)]
    asserts = tuple(AssertResult(one, tuple(broken[n]), known[n], trust=trust) for n, one in enumerate(agent.asserts))
    return in_order_alone(Answers(tuple(measures), asserts, tuple(problems)), unequal)


def _warning(
    message: str, file: Path, hint: str = "The application went on, and what was counted is shown."
) -> Diagnostic:
    return Diagnostic(message, hint, severity=Severity.WARNING, file=str(file))


def _ending(lines: list[str], known: list[bool], file: Path) -> list[Diagnostic]:
    """What the last line tells: events lost or late, which assertions were ever known, and what happened."""
    words = lines[-1].split(" ") if lines else []
    if not words or words[0] != "end":
        return [_warning("the agent on the host never came to its end: its answers break off", file, KILLED)]
    lost, late = int(words[2]), int(words[3])
    flags, _, why = " ".join(words[5:]).partition(" . ") if "." in words else (" ".join(words[5:]), "", "")
    if words[5:6] == ["."]:
        flags, why = "", " ".join(words[6:])
    known[:] = [flag == "1" for flag in flags.split()]
    found = []
    if why:
        found.append(_warning(why, file))
    if lost:
        found.append(_warning(f"{lost} events of the streams were lost: the agent on the host did not keep up", file))
    if late:
        found.append(
            _warning(f"{late} events were told after their time had been counted, and are counted later", file)
        )
    return found


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
