"""What a statement measures, apart from where: statistic, metric, bins, frame, numbers with their units."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from math import isfinite

from lark import Token, Tree

from rc_workbench_plugins.streaming.query import read
from rc_workbench_plugins.streaming.query.bins import bins_of
from rc_workbench_plugins.streaming.query.frames import LONGEST
from rc_workbench_plugins.streaming.query.measures import SINGLE, FrameLength, Metric, Statistic
from rc_workbench_plugins.streaming.query.read import Statement
from workbench.api import Diagnostic, Severity, WorkbenchError, near
from workbench.api.unstable import StreamEdge

Part = Tree[Token]

#: What a metric may be compared with, and the base units of a number that has no unit.
DIMENSIONS: Mapping[Metric, tuple[str, float]] = {
    Metric.RATE: ("a rate", 1.0),
    Metric.UTIL: ("a share", 1.0),
    Metric.BACKPRESSURE: ("a share", 1.0),
    Metric.OCCUPANCY: ("a number", 1.0),
    Metric.VALUE: ("a number", 1.0),
    Metric.LATENCY: ("a time", read.TIMES["s"]),
    Metric.INTERVAL: ("a time", read.TIMES["s"]),
    Metric.SHARE: ("a share", 1.0),
    Metric.DWELL: ("a time", read.TIMES["s"]),
    Metric.VISITS: ("a number", 1.0),
    Metric.TRANSITIONS: ("a number", 1.0),
}
_UNITS = {
    **{unit: ("a time", factor) for unit, factor in read.TIMES.items()},
    **{unit: ("a rate", factor) for unit, factor in read.RATES.items()},
    **{unit: ("a share", factor) for unit, factor in read.PERCENT.items()},
    **{unit: ("a size", factor) for unit, factor in read.SIZES.items()},
}
_PARAMETERS = ("bins", "low", "high", "frame")
_MOST_BINS = 4096


@dataclass(frozen=True)
class Asked:
    """A measure as it is written, without its target (`target`); `frame_at` is where its frame is written, `said` where
    its statistic is."""

    metric: Metric
    statistic: Statistic
    target: Part
    frame: FrameLength | None
    given: Mapping[str, float]
    frame_at: Part | Token
    said: Part | Token | None


class Asking:
    """Reads parts of statements in `file`. What ends one is raised as a WorkbenchError; `problems` get warnings."""

    def __init__(self, file: str, problems: list[Diagnostic]) -> None:
        self._file, self._problems = file, problems

    def asked(self, statement: Statement, what: Part) -> Asked:
        """What is measured, without where."""
        said, metric_token, of_metric, target = what.children
        assert isinstance(metric_token, Token)
        assert isinstance(target, Tree)
        metric = Metric(str(metric_token))
        statistic = Statistic(str(said.children[0])) if isinstance(said, Tree) else Statistic.TRACE
        of_statistic = said.children[1] if isinstance(said, Tree) else None
        if of_statistic and of_metric:
            message = f"{statistic} and {metric} both have parameters"
            raise self.wrong(statement, of_metric, message, f"Write all parameters behind {statistic}.")
        parameters = of_statistic or of_metric
        if metric in SINGLE:
            statistic = self._single(statement, metric, metric_token, statistic)
        frame, given = None, dict[str, float]()
        if isinstance(parameters, Tree):
            frame, given = self._parameters(statement, parameters, metric, statistic)
        return Asked(metric, statistic, target, frame, given, parameters or metric_token, said)

    def bins(self, statement: Statement, asked: Asked, edge: StreamEdge | None) -> tuple[float, ...]:
        if asked.statistic is not Statistic.HIST:
            return ()
        given = asked.given
        try:
            return bins_of(asked.metric, edge, given.get("bins"), given.get("low"), given.get("high"))
        except ValueError as error:
            raise self.wrong(statement, asked.said, str(error)) from None

    def _single(self, statement: Statement, metric: Metric, at: Token, statistic: Statistic) -> Statistic:
        """Table 4.1, and what the dissertation itself writes."""
        if statistic is Statistic.HIST:
            message = f"{metric} is one number per frame, so it has no histogram"
            raise self.wrong(statement, at, message, f"Leave 'hist' out: each frame gives its {metric}.")
        if statistic is not Statistic.TRACE:
            message = f"{metric} is one number per frame: its '{statistic}' is the same number"
            problem = self.problem(statement, at, message, f"Write {metric}, or with a frame {metric}(frame=10 us).")
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
                raise self.wrong(statement, name_token, f"there is no parameter '{name}'", near(name, _PARAMETERS, ""))
            if name != "frame" and statistic is not Statistic.HIST:
                raise self.wrong(
                    statement, parameter, f"only histograms take '{name}'", "Other measures take only 'frame'."
                )
            if name == "frame":
                frame = self._frame_of(statement, value)
            elif name == "bins":
                bins = self.number(statement, value, "a number", 1.0)
                if not (bins == int(bins) and 1 <= bins <= _MOST_BINS):
                    raise self.wrong(statement, value, f"the number of bins must be from 1 to {_MOST_BINS}")
                given[name] = bins
            else:
                given[name] = self.number(statement, value, *DIMENSIONS[metric])
        return frame, given

    def _frame_of(self, statement: Statement, value: Part) -> FrameLength:
        unit = value.children[1]
        kind = "a number" if unit is None else "a size" if str(unit) in read.SIZES else "a time"
        length = self.number(statement, value, kind, 1.0)
        if not (1 <= length < LONGEST and length == int(length)):
            message = "a frame must be a time, a whole number of elements, or a size"
            raise self.wrong(statement, value, message, "For example: frame=10 ms, frame=1000 or frame=64 KiB")
        if kind == "a size":
            return FrameLength(size_bytes=int(length))
        return FrameLength(elements=int(length)) if unit is None else FrameLength(time_ps=int(length))

    def number(self, statement: Statement, part: Part, dimension: str, plain: float) -> float:
        """The number in base units; `plain` is the unit of a number without one."""
        number, unit = part.children
        unit_dimension, factor = _UNITS[str(unit)] if unit is not None else (dimension, plain)
        if unit_dimension != dimension:
            raise self.wrong(statement, part, f"{number} {unit} is {unit_dimension}, but {dimension} is expected")
        if not isfinite(value := float(str(number)) * factor):
            raise self.wrong(statement, part, "this number is too large")
        exact = int(str(number)) if factor == 1 and str(number).lstrip("-").isdigit() else value
        return value if value == exact else exact  # of more than 53 bits

    def wrong(self, statement: Statement, at: Part | Token | None, message: str, hint: str = "") -> WorkbenchError:
        return WorkbenchError(self.problem(statement, at, message, hint))

    def problem(self, statement: Statement, at: Part | Token | None, message: str, hint: str) -> Diagnostic:
        place = statement.place(at)
        return Diagnostic(message, hint, file=self._file or None, line=place.line, column=place.column)
