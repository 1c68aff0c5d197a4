"""Custom metrics: the counts of each in a run, and the values that rules and reports can use."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction

from workbench.api.metrics import Metric
from workbench.api.results import BlockMetrics, CustomResult
from workbench.api.views import Column, Table
from workbench.model.custom import SUMMED, WRITTEN, MetricKind, Sums
from workbench.model.finding import Place
from workbench.model.run import Run
from workbench.model.text import percent_text, significant, thousands

#: The prefix of such metrics in expressions.
PREFIX = "custom."


@dataclass
class _Counted:
    """The counts of a metric, at one place or summed over all."""

    cycles: int = 0
    by_state: dict[str, int] = field(default_factory=dict)
    visits: int = 0
    state_s: float = 0.0
    total: int = 0
    least: int | None = None
    largest: int | None = None
    squares: int = 0


def custom_results(run: Run, blocks: Sequence[BlockMetrics]) -> tuple[CustomResult, ...]:
    """Every custom metric of a run by name, over all places where it is counted, and at each place."""
    sums = run.tables.get("metric_sums", {})
    rows = {int(number): row for row, number in enumerate(sums["block"].tolist())} if sums else {}
    counted_by_name: dict[str, list[tuple[BlockMetrics, _Counted]]] = {}
    for block in blocks:
        if block.block.kind in WRITTEN and block.block.is_metric and len(block.states) > 1:
            one = _counted(block)
            if (row := rows.get(block.number)) is not None and one.by_state.get(block.states[1].state.name):
                own = Sums.of(sums, row)
                one.total, one.least, one.largest, one.squares = own.total, own.least, own.largest, own.squares
            counted_by_name.setdefault(block.block.id.rpartition(".")[2], []).append((block, one))
    return tuple(_result(name, places) for name, places in counted_by_name.items())


def _counted(block: BlockMetrics) -> _Counted:
    states = block.states[1:]
    by_state = {state.state.name: state.cycles for state in states}
    time_s = sum(state.time_s for state in states)
    return _Counted(block.cycles, by_state, sum(state.visits for state in states), time_s)


def _result(name: str, places: Sequence[tuple[BlockMetrics, _Counted]]) -> CustomResult:
    kind, total = MetricKind(places[0][0].block.kind), _Counted()
    for _, one in places:
        total.cycles += one.cycles
        total.visits += one.visits
        total.state_s += one.state_s
        total.total += one.total
        total.squares += one.squares
        total.least = min((n for n in (total.least, one.least) if n is not None), default=None)
        total.largest = max((n for n in (total.largest, one.largest) if n is not None), default=None)
        for state, cycles in one.by_state.items():
            total.by_state[state] = total.by_state.get(state, 0) + cycles
    value, parts = _values(kind, name, total)
    block = places[0][0].block
    value_by_place = {one.block.id: _values(kind, name, counted)[0] for one, counted in places}
    return CustomResult(name, kind, value, parts, value_by_place, total.cycles, block.file or "", block.line or 0)


def _values(kind: MetricKind, name: str, of: _Counted) -> tuple[float, Mapping[str, float]]:
    """A metric's value, exact where it is a whole number, and its parts; nan if the counts do not define it."""
    in_all = float(sum(of.by_state.values()))
    if kind is MetricKind.COUNT:
        share = in_all / of.cycles if of.cycles else 0.0
        return in_all, {"share": share, "times": float(of.visits), "time": of.state_s}
    if kind is MetricKind.HISTOGRAM:
        return in_all, {state: float(cycles) for state, cycles in of.by_state.items()}
    if kind is MetricKind.SEQUENCE:
        return float(of.by_state.get(name, 0)), {"missed": float(of.by_state.get("missed", 0))}
    if kind is MetricKind.CORRELATE:
        first, second, both = (float(of.by_state.get(state, 0)) for state in ("first", "second", "both"))
        neither = of.cycles - in_all
        parts = {"first": first, "second": second, "both": both, "neither": neither}
        return _phi(first, second, both, neither), parts
    return _summed(kind, in_all, of), {"count": in_all}


def _phi(first: float, second: float, both: float, neither: float) -> float:
    """The phi correlation of two conditions (-1 to 1) from the cycles in which the first, the second, both or neither
    holds."""
    a, b, not_a, not_b = first + both, second + both, second + neither, first + neither
    return (both * neither - first * second) / math.sqrt(a * b * not_a * not_b) if a * b * not_a * not_b else math.nan


def _summed(kind: MetricKind, count: float, of: _Counted) -> float:
    if kind is MetricKind.SUM:
        return of.total
    if not count or of.least is None or of.largest is None:
        return math.nan
    mean = Fraction(of.total, int(count))
    if kind is MetricKind.DEVIATION:
        return math.sqrt(max(Fraction(of.squares, int(count)) - mean * mean, Fraction(0)))
    return {MetricKind.MIN: of.least, MetricKind.MAX: of.largest}.get(kind, float(mean))


def custom_values(results: Sequence[CustomResult]) -> dict[str, float]:
    """The values that expressions may read, by name; 0 for an undefined value."""
    values: dict[str, float] = {}
    for result in results:
        values[f"{PREFIX}{result.name}"] = result.value
        values |= {f"{PREFIX}{result.name}.{part}": part_value for part, part_value in result.parts.items()}
    return {name: 0.0 if math.isnan(part_value) else part_value for name, part_value in values.items()}


class KnownMetrics(dict[str, Metric]):
    """Metrics by name. Custom metrics are created on first access, since the design decides which exist."""

    def __missing__(self, name: str) -> Metric:
        if not name.startswith(PREFIX):
            raise KeyError(name)
        _, *words = name.split(".")
        unit = words[-1] if words[-1] in ("share", "time") and len(words) > 1 else "number"
        return Metric(name, " ".join(words).replace("_", " "), unit, lambda selected: None)


def value_words(result: CustomResult) -> str:
    return "none" if math.isnan(result.value) else _number(result.value)


def _number(value: float) -> str:
    return thousands(int(value)) if float(value).is_integer() else significant(value)


def parts_words(result: CustomResult) -> str:
    """The parts of a metric, in words."""
    parts = result.parts
    if result.kind is MetricKind.COUNT:
        times = _number(parts["times"])
        return f"{percent_text(parts['share'])} of its cycles, {times} {'time' if times == '1' else 'times'}"
    if result.kind in SUMMED:
        return f"over {_number(parts['count'])} cycles"
    return ", ".join(f"{name.replace('_', ' ')}: {_number(value)}" for name, value in parts.items())


def custom_table(results: Sequence[CustomResult]) -> Table:
    """A table of the custom metrics, in the order of the design."""
    return Table("Metrics", (
        Column("Metric", lambda row: row.name, share=0.2, key=lambda row: row.name,
               tip_of=lambda row: f"In rules: {PREFIX}{row.name}"),
        Column("Kind", lambda row: row.kind.value, width_px=96, key=lambda row: row.kind.value),
        Column("Value", value_words, width_px=128, right=True, key=lambda row: row.value),
        Column("Of which", parts_words, share=0.5, key=parts_words, ink=lambda row: ("second", 13, 400)),
        Column("Counted in", lambda row: _places(row.each), share=0.3, elide_middle=True,
               key=lambda row: _places(row.each), ink=lambda row: ("second", 13, 400)),
    ), list(results), place=_place)  # fmt: skip


def _places(value_by_place: Mapping[str, float]) -> str:
    names = [block.rpartition(".")[0] for block in value_by_place]
    return names[0] if len(names) == 1 else f"{names[0]} and {len(names) - 1} more"


def _place(row: CustomResult) -> Place | None:
    return Place(row.file, row.line, row.name) if row.file and row.line else None


def custom_words(result: CustomResult) -> str:
    """A custom metric in one line of the report."""
    return f"{result.name} ({result.kind.value}): {value_words(result)}, {parts_words(result)}"
