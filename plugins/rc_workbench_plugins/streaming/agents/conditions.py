"""A query's conditions in whole numbers of a clock's cycles, as hardware compares them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from math import ceil, floor

from rc_workbench_plugins.streaming.query.measures import And, Blocked, Comparison, Condition, Measure, Metric, Not, Or

RELATIONS = (">", ">=", "<", "<=", "==", "!=")
_TURNED = {">": "<", ">=": "<=", "<": ">", "<=": ">=", "==": "==", "!=": "!="}


def turned(comparison: Comparison) -> Comparison:
    """The same with its measure first, where it has a measure and a number."""
    if isinstance(comparison.left, Measure):
        return comparison
    return Comparison(comparison.right, _TURNED[comparison.relation], comparison.left)


def edges_of(of: Measure | Condition | None) -> Iterator[str]:
    """The labels of all edges that a measure or a condition speaks of, those of a measure's own condition included."""
    match of:
        case Measure():
            yield from of.edges
            yield from edges_of(of.when)
        case Comparison(left, _, right):
            for side in (left, right):
                if isinstance(side, Measure):
                    yield from edges_of(side)
        case Blocked(edge):
            yield edge
        case Not(inner):
            yield from edges_of(inner)
        case And(parts) | Or(parts):
            for part in parts:
                yield from edges_of(part)


def exact(value: float) -> Fraction:
    """A number as it is written."""
    return Fraction(repr(value))


def in_cycles(measure: Measure, value: float, period_ps: Fraction) -> Fraction:
    """A number in base units, as the quotient of what hardware counts for the measure: transfers or blocked cycles a
    cycle, elements, cycles of latency, values."""
    if measure.metric is Metric.RATE:
        return exact(value) * period_ps / 10**12
    return exact(value) / period_ps if measure.metric is Metric.LATENCY else exact(value)


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
