"""A query's conditions in whole numbers of a clock's cycles, as hardware compares them."""

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from math import ceil, floor

from rc_workbench_plugins.streaming.query.measures import (
    TIMED,
    And,
    Assert,
    Blocked,
    Comparison,
    Condition,
    InState,
    Measure,
    Metric,
    Not,
    Or,
    Tap,
    Within,
    operands,
)

RELATIONS = (">", ">=", "<", "<=", "==", "!=")
_TURNED = {">": "<", ">=": "<=", "<": ">", "<=": ">=", "==": "==", "!=": "!="}


def turned(comparison: Comparison) -> Comparison:
    """The same with its measure first, where it has a measure and a number."""
    if isinstance(comparison.left, Measure):
        return comparison
    return Comparison(comparison.right, _TURNED[comparison.relation], comparison.left)


def ends_of(of: Measure | Assert | Condition | None) -> Iterator[tuple[str, Tap]]:
    """The ends of edges, by their labels, that one has to see to know what a statement or a condition is worth,
    a measure's own condition included."""
    match of:
        case Measure(edges=(), when=when):
            yield from ends_of(when)
        case Measure(metric=metric, edges=(*_, last) as edges):
            if metric in (Metric.LATENCY, Metric.OCCUPANCY):
                yield from ((edges[0], Tap.PUSH), (last, Tap.POP))
            if metric in (Metric.VALUE, Metric.BACKPRESSURE):
                yield last, Tap.PUSH
            if metric is Metric.UTIL:
                yield last, Tap.POP
            if metric in (Metric.RATE, Metric.UTIL, Metric.INTERVAL) or of.frame.elements:
                yield last, of.tap
            yield from ends_of(of.when)
        case Assert(condition=condition):
            yield from ends_of(condition)
        case Comparison(left, _, right):
            for side in (left, right):
                if isinstance(side, Measure):
                    yield from ends_of(side)
        case Blocked(edge):
            yield edge, Tap.PUSH
        case Not(inner):
            yield from ends_of(inner)
        case And(parts) | Or(parts):
            for part in parts:
                yield from ends_of(part)


def withins_of(of: Measure | Assert | Condition | None) -> Iterator[Within]:
    """The states of blocks that one has to see, as `ends_of` has the ends of edges."""
    match of:
        case Measure(within=within, when=when):
            if within:
                yield within
            yield from withins_of(when)
        case Assert(condition=condition) | Not(of=condition):
            yield from withins_of(condition)
        case InState(within):
            yield within
        case And(of=parts) | Or(of=parts):
            for part in parts:
                yield from withins_of(part)
        case Comparison(left=left, right=right):
            for side in (left, right):
                if isinstance(side, Measure):
                    yield from withins_of(side)


def edges_along(of: Measure | Assert) -> Iterator[tuple[str, ...]]:
    """The paths of several edges along which a statement, or what its condition compares, asks for a latency, or how
    many elements there are."""
    if isinstance(of, Measure) and len(of.edges) > 1:
        yield of.edges
    for side in operands(of.condition if isinstance(of, Assert) else of.when):
        yield from edges_along(side)


def labels_of(of: Measure | Assert) -> set[str]:
    """The edges that one has to see to count a statement, by their labels, with all along its paths."""
    return {label for label, _ in ends_of(of)}.union(*edges_along(of))


def valued_edges(of: Measure | Assert) -> Iterator[str]:
    """The edges, by their labels, whose elements' values a statement asks about, itself or in what it compares."""
    if isinstance(of, Measure) and of.metric is Metric.VALUE:
        yield of.edges[-1]
    for side in operands(of.condition if isinstance(of, Assert) else of.when):
        yield from valued_edges(side)


def exact(value: float) -> Fraction:
    """A number as it is written."""
    return Fraction(int(value)) if value == int(value) else Fraction(repr(value))


def in_cycles(measure: Measure, value: float, period_ps: Fraction) -> Fraction:
    """A number in base units, as the quotient of what hardware counts for the measure: transfers or blocked cycles a
    cycle, elements, cycles of times, values."""
    if measure.metric is Metric.RATE:
        return exact(value) * period_ps / 10**12
    return exact(value) / period_ps if measure.metric in TIMED else exact(value)


@dataclass(frozen=True)
class Limit:
    """A whole number that whole numbers are compared with; `answer` where the comparison always comes out so."""

    relation: str
    limit: int
    answer: bool | None = None


def whole(relation: str, limit: Fraction, least: int, largest: int) -> Limit:
    """What `x relation limit` says of whole numbers x from `least` to `largest`."""
    if relation in ("==", "!=") and limit.denominator != 1:
        return Limit(relation, 0, relation == "!=")
    number = ceil(limit) if relation in (">=", "<") else floor(limit)
    if not least <= number <= largest:
        below = number < least
        return Limit(
            relation, 0, {">": below, ">=": below, "<": not below, "<=": not below, "==": False}.get(relation, True)
        )
    return Limit(relation, number)
