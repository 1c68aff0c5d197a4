"""Statements become measures of a topology's edges: names looked up, units converted, Table 4.1 held to."""

from collections.abc import Callable, Collection, Sequence
from dataclasses import replace

from lark import Token, Tree

from rc_workbench_plugins.streaming.query import read
from rc_workbench_plugins.streaming.query.asked import DIMENSIONS, Asking, Part
from rc_workbench_plugins.streaming.query.blocks import inside
from rc_workbench_plugins.streaming.query.measures import (
    And,
    Assert,
    Blocked,
    Comparison,
    Condition,
    FrameLength,
    InState,
    Measure,
    Metric,
    Not,
    Number,
    Or,
    Query,
    Statistic,
    Tap,
    Within,
)
from rc_workbench_plugins.streaming.query.read import Statement
from rc_workbench_plugins.streaming.query.targets import Route, UnknownTarget, routes, tap_of
from workbench.api import Block, Diagnostic, WorkbenchError, listed, near
from workbench.api.unstable import StreamEdge, Topology

#: The hint of a statement about another FPGA than the one whose design is asked.
ELSEWHERE = "The agent of that FPGA counts it."
_SAID = 4  # names of those that are meant, where one is wanted


def read_query(
    text: str, topology: Topology, file: str = "", frame: FrameLength | None = None,
    blocks: Sequence[Block] | None = None, fpgas: tuple[Collection[str], Collection[str]] = ((), ()),
) -> Query:  # fmt: skip
    """What a query asks of an application, and of the states of its blocks: those of a run, None where there is none
    yet. What is wrong is in its diagnostics, with its place in `file`, and leaves out its own statement alone. `frame`
    is that of measures that do not say theirs; without it the run is one frame. Names may begin with that of one of the
    first `fpgas`, whose design this is; statements with names of the second are left out (`ELSEWHERE`)."""
    parsed, problems = read.statements(text, file)
    return _Resolver(parsed, topology, blocks, file, frame or FrameLength(), problems, fpgas).query()


class _Resolver:
    """`_problems` grow with every statement; what ends one is raised as a WorkbenchError."""

    def __init__(
        self, statements: list[Statement], topology: Topology, blocks: Sequence[Block] | None, file: str,
        frame: FrameLength, problems: list[Diagnostic], fpgas: tuple[Collection[str], Collection[str]],
    ) -> None:  # fmt: skip
        self._own_fpgas, self._other_fpgas = fpgas
        self._statements, self._topology, self._frame = statements, topology, frame
        self._problems, self._blocks = problems, blocks
        self._asking = Asking(file, problems)
        self._wrong, self._problem = self._asking.wrong, self._asking.problem
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
                message = f"the label '{statement.label}' is used twice: line {other.place().line} has it too"
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
        """The measures of a `measure` statement, one for each edge that it matches; every reference gets the same
        ones."""
        if statement.label in self._measured:
            return self._measured[statement.label]
        if statement.label in self._open:
            circle = " -> ".join([*self._open[self._open.index(statement.label) :], statement.label])
            raise self._wrong(statement, None, f"'{statement.label}' depends on itself: {circle}")
        if len(self._open) > read.DEEPEST:
            message = f"'{self._open[0]}' depends on a chain of more than {read.DEEPEST} other statements"
            raise self._wrong(self._by_label[self._open[0]], None, message)
        self._open.append(statement.label)
        self._weighed.append(read.weight(statement.tree))
        try:
            body, when = statement.tree.children
            assert isinstance(body, Tree)
            meant = self._meant(statement, body)
            condition = self._condition(statement, when) if isinstance(when, Tree) else None
        finally:
            self._open.pop()
            self._weights[statement.label] = self._weighed.pop()
        place = statement.place()
        measures = tuple(
            replace(
                one,
                label=statement.label + (f"[{one.where}]" if len(meant) > 1 else ""),
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
            raise self._wrong(statement, name, f"with all that '{name}' depends on, {message}", hint)
        return measures

    def _meant(self, statement: Statement, part: Part) -> tuple[Measure, ...]:
        kinds = {"reference": self._referred, "within": self._within}
        return kinds.get(part.data, self._what)(statement, part)

    def _what(self, statement: Statement, what: Part) -> tuple[Measure, ...]:
        asked = self._asking.asked(statement, what)
        metric, statistic, target = asked.metric, asked.statistic, asked.target
        points = read.points(target)
        measures = []
        for way in self._routes(statement, target):
            if len(way) > 1 and metric not in (Metric.LATENCY, Metric.OCCUPANCY):
                message = f"{metric} takes one edge, but these are {len(way)}: {', '.join(e.label for e in way)}"
                raise self._wrong(statement, target, message, "Name one edge. A path has a latency and an occupancy.")
            bins = self._asking.bins(statement, asked, self._whole(way))
            pops = metric is Metric.LATENCY or (len(points) == 1 and self._tap(str(points[0])) is Tap.POP)
            tap = Tap.POP if pops and metric is not Metric.VALUE else Tap.PUSH
            labels = tuple(edge.label for edge in way)
            lasting = self._sized(statement, asked.frame_at, asked.frame or self._frame, way[-1])
            measures.append(Measure("", "", metric, statistic, labels, tap, None, lasting, bins))
        return tuple(measures)

    def _whole(self, way: Route) -> StreamEdge:
        """A path as one edge, as deep as its queues and the FIFOs on it together."""
        passed = {edge.sink.block for edge in way[:-1]}
        return replace(way[-1], depth=sum(e.depth for e in self._topology.edges if e in way or e.label in passed))

    def _within(self, statement: Statement, part: Part) -> tuple[Measure, ...]:
        asked = self._asking.asked(statement, part)
        frame = asked.frame or self._frame
        if frame.elements or frame.size_bytes:
            message = "a frame of a state must be a time, since no elements pass there"
            raise self._wrong(statement, asked.frame_at, message, f"For example: {asked.metric}(frame=10 us)")
        bins = self._asking.bins(statement, asked, None)
        withins = self._inside(statement, asked.target)
        if asked.metric is Metric.TRANSITIONS:
            if any(one.states and not one.into for one in withins):
                hint = "Name two: transitions of state A -> B of BLOCK. Or ask for the visits of one state."
                raise self._wrong(statement, asked.target, "transitions need two states", hint)
        elif any(one.known and (one.into or not one.states) for one in withins):
            message = f"{asked.metric} takes one state"
            raise self._wrong(statement, asked.target, message, f"For example: {asked.metric} of state NAME of BLOCK")
        made = (Measure("", "", asked.metric, asked.statistic, (), frame=frame, bins=bins, within=w) for w in withins)
        return tuple(made)

    def _inside(self, statement: Statement, part: Part) -> list[Within]:
        """The states that `state A -> B of C`, or the blocks that `C` means."""
        names = [one for one in part.children if isinstance(one, Tree)]
        said = [str(one.children[0]).strip('"') for one in names]
        try:
            said[-1] = self._here(said[-1])
        except UnknownTarget as elsewhere:
            raise self._wrong(statement, names[-1], elsewhere.message, elsewhere.hint) from None
        state, into = (said[0], said[1] if len(said) > 2 else None) if part.data == "state" else (None, None)
        try:
            return inside(self._blocks, self._topology, said[-1], state, into)
        except UnknownTarget as unknown:
            at = names[-1] if unknown.point == 2 else names[unknown.point]
            raise self._wrong(statement, at, unknown.message, unknown.hint) from None

    def _sized(self, statement: Statement, at: Part | Token, frame: FrameLength, edge: StreamEdge) -> FrameLength:
        """A frame of so many bytes as one of elements of an edge."""
        if frame.size_bytes and not edge.width_bytes:
            message = f"the size of an element of {edge.label} is unknown"
            raise self._wrong(statement, at, message, "Write a number of elements, as frame=1000, or a time.")
        if frame.size_bytes and frame.size_bytes % edge.width_bytes:
            message = f"{frame.size_bytes} bytes are not a whole number of elements of {edge.label}"
            raise self._wrong(statement, at, message, f"Write a multiple of {edge.width_bytes} bytes.")
        return FrameLength(elements=frame.size_bytes // edge.width_bytes) if frame.size_bytes else frame

    def _tap(self, point: str) -> Tap:
        return Tap.PUSH if self._is_alias(point) else tap_of(self._topology, self._here(point))

    def _here(self, name: str, point: int = 0) -> str:
        """A name without that of the FPGA whose design this is. UnknownTarget for one of another FPGA."""
        fpga, _, rest = name.replace(":", ".", 1).partition(".")
        if rest and fpga in self._other_fpgas:
            raise UnknownTarget(f"'{name}' is in the FPGA {fpga}", ELSEWHERE, point)
        return rest if rest and fpga in self._own_fpgas else name

    # where

    def _routes(self, statement: Statement, target: Part) -> list[Route]:
        tokens = read.points(target)
        if len(tokens) == 1 and self._is_alias(str(tokens[0])):
            other = self._by_label[str(tokens[0])]
            if other is not statement and other.label not in self._open:
                self._open.append(other.label)
                try:
                    return self._routes(other, other.tree)
                finally:
                    self._open.pop()
        try:
            return routes(self._topology, [self._here(str(token), n) for n, token in enumerate(tokens)])
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

    def _flag(self, statement: Statement, part: Part) -> Condition:
        if part.data == "state":
            withins = self._inside(statement, part)
            if len(part.children) > 2 and part.children[1] is not None:
                raise self._wrong(statement, part, "a transition takes no time", "Name one state.")
            if len(withins) > 1:
                blocks = listed([one.block for one in withins], _SAID)
                raise self._wrong(statement, part, f"this fits several blocks: {blocks}", "Name one of them.")
            return InState(withins[0])
        if part.data != "number":
            measure = self._operand(statement, part)
            if measure.metric is Metric.BACKPRESSURE and measure.when is None:
                return Blocked(measure.edges[0])
        hint = "For example: occupancy at a > 0. Only backpressure and 'state NAME of BLOCK' need no comparison."
        raise self._wrong(statement, part, "this is not a condition: it has no comparison", hint)

    def _comparison(self, statement: Statement, whole: Part, left: Part, relation: str, right: Part) -> Comparison:
        for side in (left, right):
            if side.data == "state":
                hint = "Leave the comparison out, or compare the share of a state."
                raise self._wrong(statement, side, "a state is true or false and cannot be compared", hint)
        measures = [self._operand(statement, side) if side.data != "number" else None for side in (left, right)]
        kinds = [DIMENSIONS[measure.metric] for measure in measures if measure]
        if not kinds:
            raise self._wrong(statement, whole, "this compares two numbers", "Write a measure on one side.")
        if len({name for name, _ in kinds}) > 1:
            raise self._wrong(statement, whole, f"this compares {kinds[0][0]} with {kinds[1][0]}")
        sides = [
            measure or Number(self._asking.number(statement, part, *kinds[0]))
            for measure, part in zip(measures, (left, right), strict=True)
        ]
        return Comparison(sides[0], relation, sides[1])

    def _operand(self, statement: Statement, part: Part) -> Measure:
        measures = self._meant(statement, part)
        if len(measures) > 1:
            what = "blocks" if measures[0].within else "edges"
            places = listed([one.where for one in measures], _SAID)
            raise self._wrong(
                statement, part, f"this fits several {what}: {places}", "A condition takes one of them: name it."
            )
        (measure,) = measures
        if measure.statistic is Statistic.HIST:
            raise self._wrong(statement, part, "a histogram is not a number", "Take its mean, min or max.")
        if part.data == "reference":
            return measure
        return replace(measure, text=statement.words(part))


def _both(one: Condition | None, other: Condition | None) -> Condition | None:
    return And((one, other)) if one and other else one or other
