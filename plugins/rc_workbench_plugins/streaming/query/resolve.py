"""Statements become measures of a topology's edges: names looked up, units converted, Table 4.1 held to."""

from collections.abc import Callable, Mapping
from dataclasses import replace
from math import isfinite

from lark import Token, Tree

from rc_workbench_plugins.streaming.query import read
from rc_workbench_plugins.streaming.query.bins import bins_of
from rc_workbench_plugins.streaming.query.frames import LONGEST
from rc_workbench_plugins.streaming.query.measures import (
    SINGLE,
    And,
    Assert,
    Blocked,
    Comparison,
    Condition,
    FrameLength,
    Measure,
    Metric,
    Not,
    Number,
    Or,
    Query,
    Statistic,
    Tap,
)
from rc_workbench_plugins.streaming.query.read import Statement
from rc_workbench_plugins.streaming.query.targets import Route, UnknownTarget, routes, tap_of
from workbench.api import Diagnostic, Severity, WorkbenchError, near
from workbench.api.unstable import StreamEdge, Topology

Part = Tree[Token]

#: What a metric may be compared with, and the base units of a number that has no unit.
_DIMENSIONS: Mapping[Metric, tuple[str, float]] = {
    Metric.RATE: ("a rate", 1.0),
    Metric.UTIL: ("a share", 1.0),
    Metric.BACKPRESSURE: ("a share", 1.0),
    Metric.OCCUPANCY: ("a number", 1.0),
    Metric.VALUE: ("a number", 1.0),
    Metric.LATENCY: ("a time", read.TIMES["s"]),
    Metric.INTERVAL: ("a time", read.TIMES["s"]),
}
_UNITS = {
    **{unit: ("a time", factor) for unit, factor in read.TIMES.items()},
    **{unit: ("a rate", factor) for unit, factor in read.RATES.items()},
    **{unit: ("a share", factor) for unit, factor in read.PERCENT.items()},
    **{unit: ("a size", factor) for unit, factor in read.SIZES.items()},
}
_PARAMETERS = ("bins", "low", "high", "frame")
_MOST_BINS = 4096


def read_query(text: str, topology: Topology, file: str = "", frame: FrameLength | None = None) -> Query:
    """What a query asks of an application. What is wrong is in its diagnostics, with its place in `file`, and leaves
    out its own statement alone. `frame` is that of measures that do not say theirs; without it the run is one frame."""
    parsed, problems = read.statements(text, file)
    return _Resolver(parsed, topology, file, frame or FrameLength(), problems).query()


class _Resolver:
    """`_problems` grow with every statement; what ends one is raised as a WorkbenchError."""

    def __init__(
        self, statements: list[Statement], topology: Topology, file: str, frame: FrameLength, problems: list[Diagnostic]
    ) -> None:
        self._statements, self._topology, self._file, self._frame = statements, topology, file, frame
        self._problems = problems
        self._by_label: dict[str, Statement] = {}
        self._measured: dict[str, tuple[Measure, ...]] = {}  # by label
        self._open: list[str] = []  # labels of those that are being looked up
        self._weights: dict[str, tuple[int, int]] = {}  # of measures by label, with all that they refer to
        self._weighed: list[tuple[int, int]] = []  # of the statements that are being looked up, so far

    def query(self) -> Query:
        measures: list[Measure] = []
        asserts: list[Assert] = []
        for statement in self._statements:
            if statement.label in read.RESERVED:
                message = f"'{statement.label}' is a word of the language"
                self._problems.append(self._problem(statement, None, message, "Choose another label."))
            elif other := self._by_label.get(statement.label):
                message = f"'{statement.label}' is said twice: line {other.place().line} has it too"
                self._problems.append(self._problem(statement, None, message, "Give each statement its own label."))
            elif statement.label:
                self._by_label[statement.label] = statement
        for statement in self._statements:
            try:
                if statement.tree.data == "measure":
                    measures += self._measures(statement)
                elif statement.tree.data == "assertion":
                    self._weighed = [(0, 0)]
                    condition = self._condition(statement, statement.tree.children[0])
                    place = statement.place()
                    asserts.append(Assert(statement.label, statement.text, condition, place.line, place.column))
                else:
                    self._routes(statement, statement.tree)
            except WorkbenchError as error:
                self._problems += [p for p in error.diagnostics if p not in self._problems]
        self._problems.sort(key=lambda problem: (problem.line or 0, problem.column or 0))
        return Query(tuple(measures), tuple(asserts), tuple(self._problems))

    # measures

    def _measures(self, statement: Statement) -> tuple[Measure, ...]:
        """Of a `measure` statement: as many as edges are meant. The same for whoever refers to it."""
        if statement.label in self._measured:
            return self._measured[statement.label]
        if statement.label in self._open:
            circle = " -> ".join([*self._open[self._open.index(statement.label) :], statement.label])
            raise self._wrong(statement, None, f"'{statement.label}' rests on itself: {circle}")
        if len(self._open) > read.DEEPEST:
            message = f"'{self._open[0]}' rests on a chain of more than {read.DEEPEST} other statements"
            raise self._wrong(self._by_label[self._open[0]], None, message)
        self._open.append(statement.label)
        self._weighed.append(read.weight(statement.tree))
        try:
            body, when = statement.tree.children
            assert isinstance(body, Tree)
            meant = self._referred(statement, body) if body.data == "reference" else self._what(statement, body)
            condition = self._condition(statement, when) if isinstance(when, Tree) else None
        finally:
            self._open.pop()
            self._weights[statement.label] = self._weighed.pop()
        place = statement.place()
        measures = tuple(
            replace(
                one,
                label=statement.label + (f"[{' -> '.join(one.edges)}]" if statement.label and len(meant) > 1 else ""),
                text=statement.text,
                when=_both(one.when, condition),
                line=place.line,
                column=place.column,
            )
            for one in meant
        )
        if statement.label:
            self._measured[statement.label] = measures
        return measures

    def _referred(self, statement: Statement, reference: Part) -> tuple[Measure, ...]:
        name = reference.children[0]
        assert isinstance(name, Token)
        other = self._by_label.get(str(name))
        labels = [label for label, measures in self._by_label.items() if measures.tree.data == "measure"]
        if other is None:
            raise self._wrong(statement, name, f"no statement is called '{name}'", near(str(name), labels, "Labels"))
        if other.tree.data != "measure":
            raise self._wrong(statement, name, f"'{name}' is not a measure", near("", labels, "Measures"))
        measures = self._measures(other)
        (deep, parts), (more_deep, more_parts) = self._weighed[-1], self._weights[other.label]
        self._weighed[-1] = max(deep, 1 + more_deep), 1 + parts + more_parts
        if too_large := read.too_heavy(*self._weighed[-1]):
            message, hint = too_large
            raise self._wrong(statement, name, f"with all that '{name}' rests on, {message}", hint)
        return measures

    def _what(self, statement: Statement, what: Part) -> tuple[Measure, ...]:
        said, metric_token, of_metric, target = what.children
        assert isinstance(metric_token, Token)
        assert isinstance(target, Tree)
        metric = Metric(str(metric_token))
        statistic = Statistic(str(said.children[0])) if isinstance(said, Tree) else Statistic.TRACE
        of_statistic = said.children[1] if isinstance(said, Tree) else None
        if of_statistic and of_metric:
            message = f"{statistic} and {metric} both have parameters"
            raise self._wrong(statement, of_metric, message, f"Write all behind {statistic}.")
        parameters = of_statistic or of_metric
        if metric in SINGLE:
            statistic = self._single(statement, metric, metric_token, statistic)
        ways = self._routes(statement, target)
        frame, given = None, dict[str, float]()
        if isinstance(parameters, Tree):
            frame, given = self._parameters(statement, parameters, metric, statistic)
        points = [str(part) for part in target.children if isinstance(part, Token) and part.type == "NAME"]
        measures = []
        for way in ways:
            if len(way) > 1 and metric is not Metric.LATENCY:
                message = f"{metric} is of one edge, and these are {len(way)}: {', '.join(e.label for e in way)}"
                raise self._wrong(statement, target, message, "A path is measured by its latency alone.")
            bins: tuple[float, ...] = ()
            if statistic is Statistic.HIST:
                try:
                    bins = bins_of(metric, way[-1], given.get("bins"), given.get("low"), given.get("high"))
                except ValueError as error:
                    raise self._wrong(statement, said, str(error)) from None
            pops = metric is Metric.LATENCY or (len(points) == 1 and self._tap(points[0]) is Tap.POP)
            tap = Tap.POP if pops and metric is not Metric.VALUE else Tap.PUSH
            labels = tuple(edge.label for edge in way)
            lasting = self._sized(statement, parameters or metric_token, frame or self._frame, way[-1])
            measures.append(Measure("", "", metric, statistic, labels, tap, None, lasting, bins))
        return tuple(measures)

    def _sized(self, statement: Statement, at: Part | Token, frame: FrameLength, edge: StreamEdge) -> FrameLength:
        """A frame of so many bytes as one of elements of an edge."""
        if frame.size_bytes % edge.width_bytes:
            message = f"{frame.size_bytes} bytes are not a whole number of elements of {edge.label}"
            raise self._wrong(statement, at, message, f"Each has {edge.width_bytes} bytes.")
        return FrameLength(elements=frame.size_bytes // edge.width_bytes) if frame.size_bytes else frame

    def _tap(self, point: str) -> Tap:
        return Tap.PUSH if self._is_alias(point) else tap_of(self._topology, point)

    def _single(self, statement: Statement, metric: Metric, at: Token, statistic: Statistic) -> Statistic:
        """Table 4.1, and what the dissertation itself writes."""
        if statistic is Statistic.HIST:
            message = f"{metric} is one number in a frame, of which there is no histogram"
            raise self._wrong(statement, at, message, f"Leave 'hist' out: each frame gives its {metric}.")
        if statistic is not Statistic.TRACE:
            message = f"{metric} is one number in a frame: '{statistic}' of it is the same number"
            problem = self._problem(statement, at, message, f"Write {metric}, or with a frame {metric}(frame=10 us).")
            self._problems.append(replace(problem, severity=Severity.WARNING))
        return Statistic.TRACE

    def _parameters(
        self, statement: Statement, parameters: Part, metric: Metric, statistic: Statistic
    ) -> tuple[FrameLength | None, dict[str, float]]:
        frame: FrameLength | None = None
        given: dict[str, float] = {}
        for number, parameter in enumerate(parameters.children):
            assert isinstance(parameter, Tree)
            name_token, value = parameter.children
            assert isinstance(value, Tree)
            plain = _PARAMETERS[min(number, 3)] if statistic is Statistic.HIST else "frame"
            name = str(name_token) if name_token is not None else plain
            if name not in _PARAMETERS:
                raise self._wrong(statement, name_token, f"there is no parameter '{name}'", near(name, _PARAMETERS, ""))
            if name != "frame" and statistic is not Statistic.HIST:
                raise self._wrong(statement, parameter, f"'{name}' is of histograms", "Others have 'frame' alone.")
            if name == "frame":
                frame = self._frame_of(statement, value)
            elif name == "bins":
                bins = self._number(statement, value, "a number", 1.0)
                if not (bins == int(bins) and 1 <= bins <= _MOST_BINS):
                    raise self._wrong(statement, value, f"there are from 1 to {_MOST_BINS} bins")
                given[name] = bins
            else:
                given[name] = self._number(statement, value, *_DIMENSIONS[metric])
        return frame, given

    def _frame_of(self, statement: Statement, value: Part) -> FrameLength:
        unit = value.children[1]
        kind = "a number" if unit is None else "a size" if str(unit) in read.SIZES else "a time"
        length = self._number(statement, value, kind, 1.0)
        if not (1 <= length < LONGEST and length == int(length)):
            message = "a frame is a time, a whole number of elements, or a size"
            raise self._wrong(statement, value, message, "For example: frame=10 ms, frame=1000 or frame=64 KiB")
        if kind == "a size":
            return FrameLength(size_bytes=int(length))
        return FrameLength(elements=int(length)) if unit is None else FrameLength(time_ps=int(length))

    # where

    def _routes(self, statement: Statement, target: Part) -> list[Route]:
        tokens = [part for part in target.children if isinstance(part, Token) and part.type == "NAME"]
        if len(tokens) == 1 and self._is_alias(str(tokens[0])):
            other = self._by_label[str(tokens[0])]
            if other is not statement and other.label not in self._open:
                self._open.append(other.label)
                try:
                    return self._routes(other, other.tree)
                finally:
                    self._open.pop()
        try:
            return routes(self._topology, [str(token) for token in tokens])
        except UnknownTarget as unknown:
            raise self._wrong(statement, tokens[unknown.point], unknown.message, unknown.hint) from None

    def _is_alias(self, name: str) -> bool:
        return name in self._by_label and self._by_label[name].tree.data == "target"

    # conditions

    def _condition(self, statement: Statement, part: Part | Token | None) -> Condition:
        assert isinstance(part, Tree)
        if part.data == "negated":
            return Not(self._condition(statement, part.children[0]))
        if part.data in ("both", "either"):
            kind: Callable[[tuple[Condition, ...]], And | Or] = And if part.data == "both" else Or
            return kind(tuple(self._condition(statement, inner) for inner in part.children))
        left, relation, right = part.children
        assert isinstance(left, Tree)
        if relation is None:
            return self._flag(statement, left)
        assert isinstance(right, Tree)
        return self._comparison(statement, part, left, str(relation), right)

    def _flag(self, statement: Statement, part: Part) -> Blocked:
        if part.data != "number":
            measure = self._operand(statement, part)
            if measure.metric is Metric.BACKPRESSURE and measure.when is None:
                return Blocked(measure.edges[0])
        hint = "For example: occupancy at a > 0. Backpressure alone is true or false."
        raise self._wrong(statement, part, "this is not a condition: it has no comparison", hint)

    def _comparison(self, statement: Statement, whole: Part, left: Part, relation: str, right: Part) -> Comparison:
        measures = [self._operand(statement, side) if side.data != "number" else None for side in (left, right)]
        kinds = [_DIMENSIONS[measure.metric] for measure in measures if measure]
        if not kinds:
            raise self._wrong(statement, whole, "two numbers are compared", "One side is a measure.")
        if len({name for name, _ in kinds}) > 1:
            raise self._wrong(statement, whole, f"{kinds[0][0]} is compared with {kinds[1][0]}")
        sides = [
            measure or Number(self._number(statement, part, *kinds[0]))
            for measure, part in zip(measures, (left, right), strict=True)
        ]
        return Comparison(sides[0], relation, sides[1])

    def _operand(self, statement: Statement, part: Part) -> Measure:
        measures = self._referred(statement, part) if part.data == "reference" else self._what(statement, part)
        if len(measures) > 1:
            edges = ", ".join(" -> ".join(one.edges) for one in measures)
            raise self._wrong(statement, part, f"several edges are meant: {edges}", "A condition is of one: name it.")
        (measure,) = measures
        if measure.statistic is Statistic.HIST:
            raise self._wrong(statement, part, "a histogram is not a number", "Take its mean, min or max.")
        if part.data == "reference":
            return measure
        return replace(measure, text=statement.words(part))

    def _number(self, statement: Statement, part: Part, dimension: str, plain: float) -> float:
        """In base units; `plain` is of a number without a unit."""
        number, unit = part.children
        unit_dimension, factor = _UNITS[str(unit)] if unit is not None else (dimension, plain)
        if unit_dimension != dimension:
            raise self._wrong(statement, part, f"{number} {unit} is {unit_dimension}, and {dimension} is expected")
        if not isfinite(value := float(str(number)) * factor):
            raise self._wrong(statement, part, "this number is too large")
        return value

    # what is wrong

    def _wrong(self, statement: Statement, at: Part | Token | None, message: str, hint: str = "") -> WorkbenchError:
        return WorkbenchError(self._problem(statement, at, message, hint))

    def _problem(self, statement: Statement, at: Part | Token | None, message: str, hint: str) -> Diagnostic:
        place = statement.place(at)
        return Diagnostic(message, hint, file=self._file or None, line=place.line, column=place.column)


def _both(one: Condition | None, other: Condition | None) -> Condition | None:
    return And((one, other)) if one and other else one or other
