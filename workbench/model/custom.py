"""Metrics of one's own in hardware: what a directive in a source, or in the project, counts of a module's signals; and
what is counted like them: assertions of the design, and which of its branches are taken.

ReCAP 2011 (section 4) names the former as what its pragmas could not say, and the latter in section 2.1.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from enum import StrEnum

from workbench.model.diagnostic import Diagnostic, OfProject, Severity
from workbench.model.properties import Temporal
from workbench.model.run_tables import Table


class MetricKind(StrEnum):
    """What a metric makes of its conditions, and of its signal."""

    COUNT = "count"
    SUM = "sum"
    MIN = "min"
    MAX = "max"
    MEAN = "mean"
    DEVIATION = "deviation"
    HISTOGRAM = "histogram"
    SEQUENCE = "sequence"
    CORRELATE = "correlate"
    ASSERT = "assert"
    BRANCH = "branch"


#: Kinds that the design's own text asks for, and no directive: `hardware.assertions` and `hardware.branches`.
OF_DESIGN = (MetricKind.ASSERT, MetricKind.BRANCH)
#: What the else is called that an if does not have.
IMPLIED = "else, not written"
#: Kinds that a directive names.
WRITTEN = tuple(kind for kind in MetricKind if kind not in OF_DESIGN)
#: The states of an assertion, by their numbers: in so many cycles it was evaluated and held, or failed.
HELD, FAILED = 1, 2
#: The reason of a branch that is taken in its clock's reset, whose cycles are not counted.
RESET = "reset"

#: Kinds that accumulate a signal's value.
SUMMED = (MetricKind.SUM, MetricKind.MIN, MetricKind.MAX, MetricKind.MEAN, MetricKind.DEVIATION)
#: The most bits of a signal whose value is counted, and the values that such signals can have.
MOST_VALUE_BITS = 64
LEAST, LARGEST = -(1 << MOST_VALUE_BITS - 1), (1 << MOST_VALUE_BITS) - 1


@dataclass(frozen=True)
class ValueType:
    """What a signal's value is: a number of so many bits, in two's complement where it is `signed`."""

    bits: int
    signed: bool = False

    @classmethod
    def around(cls, types: Collection[ValueType]) -> ValueType:
        """The narrowest that holds the values of all these."""
        signed = any(one.signed for one in types)
        return cls(max((one.bits + (signed and not one.signed) for one in types), default=1), signed)


@dataclass(frozen=True)
class Sums:
    """The exact sum of a signal's values, the least and the largest, and the sum of their squares."""

    total: int
    least: int
    largest: int
    squares: int

    def row(self, signed: bool) -> tuple[int | float, ...]:
        """The columns of `metric_sums` behind the block. A sum is the nearest number of 53 bits, and what is left; the
        least and the largest of 64 bits without a sign are as numbers with one."""
        extremes = ((number - (number >> 63 << 64)) if not signed else number for number in (self.least, self.largest))
        total, squares = float(self.total), float(self.squares)
        rest = float(self.squares - int(squares))
        return (total, *extremes, squares, self.total - int(total), rest, int(signed))

    @classmethod
    def of(cls, table: Table, row: int) -> Sums:
        def column(name: str) -> int:
            return int(table[name][row])

        wrap = 0 if column("signed") else (1 << 64) - 1
        least, largest = (column(name) & wrap if wrap else column(name) for name in ("least", "largest"))
        total, squares = column("sum") + column("sum_rest"), column("squares") + column("squares_rest")
        return cls(total, least, largest, squares)


@dataclass(frozen=True)
class CustomMetric:
    """One metric. `conditions` are texts in the language of the file: none (every cycle) or one, and two of a sequence
    and a correlation. `signal` is the one that is summed or sorted into bins; a histogram's bins begin at `bounds`. The
    second condition of a sequence has `within` cycles after the first.

    What an assertion `checks` is over its conditions; one without any has its states set in the block that it is in.
    `arms` are the branches that a decision can take. `severity` (note, warning, error or failure) and what it `says`
    where it fails are an assertion's own."""

    kind: MetricKind
    name: str
    conditions: tuple[str, ...] = ()
    signal: str = ""
    bounds: tuple[int, ...] = ()
    within: int = 0
    checks: Temporal | None = None
    arms: tuple[str, ...] = ()
    severity: str = ""
    says: str = ""

    @property
    def states(self) -> tuple[str, ...]:
        """What can be the case in a cycle, by number from 1 on; 0 is that nothing of it is."""
        if self.kind is MetricKind.HISTOGRAM:
            return tuple(f"{'below' if n == 0 else 'from'}_{_word(self.bounds[max(n - 1, 0)])}" for n in self.bins)
        if self.kind is MetricKind.SEQUENCE:
            return ("open", self.name, "missed")
        if self.kind is MetricKind.CORRELATE:
            return ("first", "second", "both")
        if self.kind is MetricKind.ASSERT:
            return ("held", "failed")
        if self.kind is MetricKind.BRANCH:
            return self.arms
        return (self.name,)

    @property
    def bins(self) -> range:
        return range(len(self.bounds) + 1)

    @property
    def bits(self) -> int:
        """How many bits of the design tell its conditions, or its states."""
        if self.kind in OF_DESIGN and not self.conditions:
            return len(self.states).bit_length()
        return max(1, len(self.conditions))


def _word(number: int) -> str:
    return str(number).replace("-", "minus_")


@dataclass(frozen=True)
class PlacedMetric:
    """A metric and where it is written: `line` and `column` count from 1, `column` at the comment's start."""

    metric: CustomMetric
    file: str
    line: int
    column: int
    keys: tuple[str | int, ...] = ()  # where the project says so; else a source does

    @property
    def title(self) -> str:
        """What is called wrong where its text is."""
        return f"the metric '{self.metric.name}'"

    def diagnostic(self, message: str, hint: str, severity: Severity = Severity.ERROR) -> Diagnostic:
        if self.keys:
            return OfProject(message, hint, severity, keys=self.keys)
        return Diagnostic(message, hint, severity, self.file, self.line, self.column)
