"""Metrics of one's own in hardware: what a directive in a source, or in the project, counts of a module's signals.

ReCAP 2011 (section 4) names them as what its pragmas could not say.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from workbench.model.diagnostic import Diagnostic, OfProject, Severity


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


#: Kinds that accumulate a signal's value.
SUMMED = (MetricKind.SUM, MetricKind.MIN, MetricKind.MAX, MetricKind.MEAN, MetricKind.DEVIATION)
#: Bits in which a signal's value is counted: 32, and a sign.
VALUE_BITS = 33
#: The values that such a signal can have.
LEAST, LARGEST = -(1 << 31), (1 << 32) - 1


@dataclass(frozen=True)
class CustomMetric:
    """One metric. `conditions` are texts in the language of the file: none (every cycle) or one, and two of a sequence
    and a correlation. `signal` is the one that is summed or sorted into bins; a histogram's bins begin at `bounds`. The
    second condition of a sequence has `within` cycles after the first."""

    kind: MetricKind
    name: str
    conditions: tuple[str, ...] = ()
    signal: str = ""
    bounds: tuple[int, ...] = ()
    within: int = 0

    @property
    def states(self) -> tuple[str, ...]:
        """What can be the case in a cycle, by number from 1 on; 0 is that nothing of it is."""
        if self.kind is MetricKind.HISTOGRAM:
            return tuple(f"{'below' if n == 0 else 'from'}_{_word(self.bounds[max(n - 1, 0)])}" for n in self.bins)
        if self.kind is MetricKind.SEQUENCE:
            return ("open", self.name, "missed")
        if self.kind is MetricKind.CORRELATE:
            return ("first", "second", "both")
        return (self.name,)

    @property
    def bins(self) -> range:
        return range(len(self.bounds) + 1)

    @property
    def bits(self) -> int:
        """How many bits of the design tell it: its conditions, and above them the signal's value."""
        return max(1, len(self.conditions)) + (VALUE_BITS if self.signal else 0)


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
