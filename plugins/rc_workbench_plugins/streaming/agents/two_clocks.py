"""Statements over several clocks of a design, each of which has an agent of its own: what has to be known in the same
cycle, and assertions that are counted in parts, each on one clock, and joined by their times afterwards."""

from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

from rc_workbench_plugins.streaming.query.evaluate import RELATIONS
from rc_workbench_plugins.streaming.query.measures import (
    COUNTED,
    And,
    Assert,
    AssertResult,
    Blocked,
    Comparison,
    Condition,
    FrameLength,
    FrameValue,
    InState,
    Measure,
    MeasureResult,
    Metric,
    Not,
    Number,
    Or,
    Query,
    Tap,
)

_INVERSE = {">": "<=", ">=": "<", "<": ">=", "<=": ">", "==": "!=", "!=": "=="}
_SAME_END = 0.25  # of a frame: ends of two clocks' frames that are no further apart are one
Spells = tuple[tuple[int, int], ...]


@dataclass(frozen=True)
class Compared:
    """Two measures of frames, each on a clock of its own."""

    left: Measure
    relation: str
    right: Measure


@dataclass(frozen=True)
class AllOf:
    parts: tuple["Part", ...]


@dataclass(frozen=True)
class AnyOf:
    parts: tuple["Part", ...]


#: An assertion on one clock, a comparison over two, and what joins these.
Part = Assert | Compared | AllOf | AnyOf


def by_streams(query: Query, ends: Mapping[str, tuple[str, str]]) -> Query:
    """The query with FIFOs between two clocks, which no single agent sees, as the streams that they take and give:
    `ends` has these by the FIFOs' labels."""

    def measure(of: Measure) -> Measure:
        of = replace(of, when=condition(of.when)) if of.when else of
        if len(of.edges) != 1 or of.edges[0] not in ends:
            return of
        path = ends[of.edges[0]]
        if of.metric in (Metric.LATENCY, Metric.OCCUPANCY):
            return replace(of, edges=path)
        return replace(of, edges=path[1:] if of.tap is Tap.POP else path[:1])

    def side(of: Measure | Number) -> Measure | Number:
        return measure(of) if isinstance(of, Measure) else of

    def condition(of: Condition) -> Condition:
        match of:
            case Blocked(edge):
                return Blocked(ends[edge][0] if edge in ends else edge)
            case Not(inner):
                return Not(condition(inner))
            case And(parts):
                return And(tuple(map(condition, parts)))
            case Or(parts):
                return Or(tuple(map(condition, parts)))
            case Comparison(left, relation, right):
                return Comparison(side(left), relation, side(right))
        return of

    asserts = tuple(replace(one, condition=condition(one.condition)) for one in query.asserts)
    return replace(query, measures=tuple(map(measure, query.measures)), asserts=asserts)


def needed(of: Measure | Assert | Condition | None) -> Iterator[tuple[str, str]]:
    """The edges ("edge", label) and blocks ("block", id) that one has to see in the same cycle to count a statement. Of
    a path that is where it ends: when elements came in is told there."""
    match of:
        case Measure(edges=edges, within=within, when=when):
            if within:
                yield "block", within.block
            if edges:
                yield "edge", edges[-1]
            yield from needed(when)
        case Assert(condition=condition) | Not(of=condition):
            yield from needed(condition)
        case Blocked(edge):
            yield "edge", edge
        case InState(within):
            yield "block", within.block
        case And(of=parts) | Or(of=parts):
            for part in parts:
                yield from needed(part)
        case Comparison(left=left, right=right):
            for side in (left, right):
                if isinstance(side, Measure):
                    yield from needed(side)


def parts_of(whole: Assert, on_one_clock: Callable[[Condition], bool]) -> Part | None:
    """An assertion as parts, each of which is counted on one clock; None where it needs two in the same cycle."""

    def split(of: Condition) -> Part | None:
        if on_one_clock(of):
            return replace(whole, condition=of)
        match of:
            case And(of=inner) | Or(of=inner):
                parts = tuple(part for one in inner if (part := split(one)) is not None)
                if len(parts) < len(inner):
                    return None
                return AllOf(parts) if isinstance(of, And) else AnyOf(parts)
            case Not(of=And(of=inner)):
                return split(Or(tuple(map(Not, inner))))
            case Not(of=Or(of=inner)):
                return split(And(tuple(map(Not, inner))))
            case Not(of=Not(of=inner_most)):
                return split(inner_most)
            case Not(of=Comparison(left=left, relation=relation, right=right)):
                return split(Comparison(left, _INVERSE[relation], right))
            case Comparison(left=Measure() as left, relation=relation, right=Measure() as right):
                if left.instant or right.instant or not (on_one_clock_of(left) and on_one_clock_of(right)):
                    return None
                sides = (replace(one, label=whole.label, text=whole.text, line=whole.line, column=whole.column)
                         for one in (left, right))  # fmt: skip
                first, second = sides
                return Compared(first, relation, second)
        return None

    def on_one_clock_of(side: Measure) -> bool:
        return on_one_clock(Comparison(side, ">", side))

    return split(whole.condition)


def counted_parts(part: Part) -> Iterator[Measure | Assert]:
    """What agents count of a part."""
    match part:
        case Assert():
            yield part
        case Compared(left, _, right):
            yield left
            yield right
        case AllOf(parts) | AnyOf(parts):
            for one in parts:
                yield from counted_parts(one)


def key_of(of: Measure | Assert) -> Measure | Assert:
    """A statement whatever the length of its frames, which may be switched."""
    return replace(of, frame=FrameLength()) if isinstance(of, Measure) else of


def joined(
    whole: Assert, part: Part, results: Mapping[Measure | Assert, MeasureResult | AssertResult]
) -> AssertResult | None:
    """The answer to an assertion by those to its parts, given by `key_of` them; None where one has no answer."""
    if any(key_of(one) not in results for one in counted_parts(part)):
        return None
    answers = [results[key_of(one)] for one in counted_parts(part)]
    unsure_ps = max((frame.uncertainty_ps for one in answers if isinstance(one, MeasureResult) for frame in one.frames),
                    default=0)  # fmt: skip
    unsure_ps = max(unsure_ps, *(one.uncertainty_ps for one in answers if isinstance(one, AssertResult)), 0)
    broken, known, compared = _joined(part, results)
    trust = "; ".join(
        dict.fromkeys((f"{COUNTED} on each clock", *(t for one in answers if (t := one.trust) != COUNTED)))
    )
    return AssertResult(whole, broken, known, unsure_ps, trust, compared if broken else ())


def _joined(
    part: Part, results: Mapping[Measure | Assert, MeasureResult | AssertResult]
) -> tuple[Spells, bool, tuple[tuple[Measure, float], ...]]:
    """When a part is false, whether it is ever known, and what it compared."""
    match part:
        case Assert():
            answer = results[part]
            assert isinstance(answer, AssertResult)
            return answer.broken_ps, answer.known, answer.compared
        case Compared(left, relation, right):
            frames = [results[key_of(side)] for side in (left, right)]
            first, second = (one.frames if isinstance(one, MeasureResult) else () for one in frames)
            return _compared(part, RELATIONS[relation], first, second)
        case AllOf(parts):
            answers = [_joined(one, results) for one in parts]
            broken = _union(spell for spells, _, _ in answers for spell in spells)
            known = bool(broken) or all(one for _, one, _ in answers)
        case AnyOf(parts):
            answers = [_joined(one, results) for one in parts]
            broken = answers[0][0]
            for spells, _, _ in answers[1:]:
                broken = _both(broken, spells)
            known = all(one for _, one, _ in answers)
    return broken, known, tuple(one for _, _, compared in answers for one in compared)


def _compared(
    part: Compared, holds: Callable[[float, float], bool], first: Sequence[FrameValue], second: Sequence[FrameValue]
) -> tuple[Spells, bool, tuple[tuple[Measure, float], ...]]:
    """A comparison of what the last frames that ended were worth, at every end of one."""
    ends = sorted({frame.end_ps for frame in (*first, *second)})
    lengths = [frame.end_ps - frame.start_ps for frame in (*first, *second) if frame.end_ps > frame.start_ps]
    apart_ps = _SAME_END * min(lengths, default=0)
    times = [
        time for time, after in zip(ends, [*ends[1:], None], strict=True) if after is None or after - time > apart_ps
    ]
    spells, known, values = list[tuple[int, int]](), False, tuple[tuple[Measure, float], ...]()
    for time, after in pairwise([*times, *ends[-1:]]):
        left, right = (_value_at(frames, time) for frames in (first, second))
        if left is None or right is None:
            continue
        known = True
        if not holds(left, right):
            values = values or ((part.left, left), (part.right, right))
            spells.append((time, after))
    return _union(spells), known, values


def _value_at(frames: Sequence[FrameValue], time_ps: int) -> float | None:
    ended = bisect_right(frames, time_ps, key=lambda frame: frame.end_ps)
    return frames[ended - 1].value if ended else None


def _union(spells: Iterable[tuple[int, int]]) -> Spells:
    joined_spells: list[tuple[int, int]] = []
    for begin, end in sorted(spells):
        if joined_spells and begin <= joined_spells[-1][1]:
            joined_spells[-1] = joined_spells[-1][0], max(joined_spells[-1][1], end)
        else:
            joined_spells.append((begin, end))
    return tuple(joined_spells)


def _both(one: Spells, other: Spells) -> Spells:
    """When two are false at once."""
    times = ((max(a[0], b[0]), min(a[1], b[1])) for a in one for b in other)
    return _union((begin, end) for begin, end in times if begin <= end)
