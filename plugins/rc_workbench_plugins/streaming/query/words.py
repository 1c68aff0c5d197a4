"""What measures came to, as people read it."""

from collections.abc import Sequence
from math import isnan

import numpy as np
from numpy.typing import NDArray

from rc_workbench_plugins.streaming.query.bins import cumulative
from rc_workbench_plugins.streaming.query.measures import (
    COUNTED,
    SHARES,
    TIMED,
    UNITS,
    Assert,
    AssertResult,
    FrameValue,
    Measure,
    MeasureResult,
    Metric,
    Statistic,
)
from workbench.api import PS_PER_S, count_text, listed, percent_text, table, time_text
from workbench.api.unstable import prefixed, significant

Counts = NDArray[np.int64]
_BAR, _ROWS = 40, 24  # letters of the longest bin, and rows at most: of more bins some share one
_REACHED = (0.5, 0.9, 0.99)
_FIRST, _LAST = 8, 4  # samples of a trace that are shown


def value_words(measure: Measure, value: float | None) -> str:
    """A number of the measure, in base units."""
    if value is None or isnan(value):
        return "none" if value is None else "not known"
    if measure.metric is Metric.RATE:
        return prefixed(value, "/s")
    if measure.metric in SHARES:
        return percent_text(value)
    if measure.metric in TIMED:
        return time_text(value / UNITS[measure.metric][1])
    if measure.metric is Metric.OCCUPANCY and measure.statistic is Statistic.SUM:
        return f"{significant(value / PS_PER_S)} element s"
    return significant(value) if value != int(value) else count_text(value)


def result_words(result: MeasureResult) -> str:
    """A measure, and below it what it came to."""
    measure = result.measure
    return _below(_title(measure), result_lines(result))


def _title(of: Measure | Assert) -> str:
    """A statement, with its label where that says more than the text."""
    return of.text if of.label in of.text else f"{of.label}: {of.text}"


def _below(title: str, lines: Sequence[str]) -> str:
    return "\n    ".join([title, *lines])


def result_lines(result: MeasureResult) -> list[str]:
    """A measure's number, or how its frames' are spread; histograms of all frames together, as bars."""
    measure, frames, lines = result.measure, result.frames, list[str]()
    if not frames:
        lines.append(f"{'of' if measure.within else 'at'} {measure.where}")
    elif measure.statistic is Statistic.HIST:
        lines += _bars(measure, frames)
    elif measure.statistic is Statistic.TRACE and not measure.single:
        samples = sum(len(frame.samples[0]) for frame in frames if frame.samples)
        lines.append(f"{count_text(samples)} sample{'s' if samples != 1 else ''}, in {_frames(measure, frames)}")
    elif len(frames) == 1:
        unsure = frames[0].uncertainty
        sure = f", to within {value_words(measure, unsure)}" if unsure else ""
        cut = f", of {_part(measure, frames[0])}" if frames[0].part < 1 else ""
        lines.append(f"{value_words(measure, frames[0].value)}{sure}{cut}")
    else:
        lines.append(_spread(measure, frames))
    if unsure_ps := max((frame.uncertainty_ps for frame in frames), default=0):
        lines.append(times_words(unsure_ps))
    return lines + [result.trust] * (result.trust != COUNTED)


def times_words(unsure_ps: int) -> str:
    """How far times may be off."""
    return f"its times are known{_within(unsure_ps)}"


def _within(unsure_ps: int) -> str:
    return f" to within {time_text(unsure_ps / PS_PER_S)} on the host's clock" if unsure_ps else ""


def trace_words(result: MeasureResult) -> str:
    """`result_words`, with the samples of a trace, a line each: the first and the last of many."""
    traces = [frame.samples for frame in result.frames if frame.samples]
    samples = [one for times, values in traces for one in zip(times.tolist(), values, strict=True)]
    left_out = len(samples) - _FIRST - _LAST
    kept = samples if left_out < 2 else [*samples[:_FIRST], *samples[-_LAST:]]
    rows = ((time_text(time_ps / PS_PER_S, 6), value_words(result.measure, value)) for time_ps, value in kept)
    lines = table(rows).splitlines()
    if left_out >= 2:
        lines.insert(_FIRST, f"{count_text(left_out)} more; --json has all")
    return _below(result_words(result), lines)


def _frames(measure: Measure, frames: Sequence[FrameValue]) -> str:
    cut = f", the last one {_part(measure, frames[-1])}" if frames[-1].part < 1 else ""
    return (f"{len(frames)} frames" if len(frames) > 1 else "one frame") + cut


def _part(measure: Measure, frame: FrameValue) -> str:
    """A note on a frame that the run's end cut off."""
    asked = measure.frame
    if asked.time_ps:
        lasted_ps = frame.end_ps - frame.start_ps
        return f"a part: {time_text(lasted_ps / PS_PER_S)} of {time_text(asked.time_ps / PS_PER_S)}"
    return f"a part: {round(frame.part * asked.elements)} of {asked.elements} elements"


def _spread(measure: Measure, frames: Sequence[FrameValue]) -> str:
    values = [frame.value for frame in frames if frame.value is not None]
    if not values:
        return f"none in any of {_frames(measure, frames)}"
    least, lower, median, upper, most = np.quantile(np.array(values, float), [0, 0.25, 0.5, 0.75, 1]).tolist()
    said = [f"{word} {value_words(measure, v)}" for word, v in (("median", median), ("least", least), ("most", most))]
    half = f"half of them from {value_words(measure, lower)} to {value_words(measure, upper)}"
    return f"{', '.join(said)}; {half}; {_frames(measure, frames)}"


def _bars(measure: Measure, frames: Sequence[FrameValue]) -> list[str]:
    sums = np.sum([frame.histogram for frame in frames if frame.histogram], axis=0)
    if not sums.sum():
        return ["nothing was seen"]
    names = bin_words(measure)
    used = np.flatnonzero(sums)
    first, last = int(used[0]), int(used[-1]) + 1
    every = -(-(last - first) // _ROWS)
    grouped = [(f"below {value_words(measure, measure.bins[first - 1])}", 0)] if first > 1 else []
    grouped += [
        (_bins_words(measure, names, i, min(i + every, last) - 1), int(sums[i : i + every].sum()))
        for i in range(first, last, every)
    ]
    most = max(part for _, part in grouped)
    rows = [(name, percent_text(part / sums.sum()), "#" * round(_BAR * part / most)) for name, part in grouped]
    return [*table(rows).splitlines(), *_up_to(measure, sums)]


def _up_to(measure: Measure, sums: Counts) -> list[str]:
    """Up to which value most of a histogram is, where several bins are used."""
    values, shares = cumulative(measure, sums)
    if len(values) < 2:
        return []
    reached = [(share, int(np.searchsorted(shares, share))) for share in _REACHED]
    said = [
        f"{percent_text(share)} up to {value_words(measure, values[at])}" for share, at in reached if at < len(values)
    ]
    return [", ".join(said)] if said else []


def bin_words(measure: Measure) -> list[str]:
    """A histogram's bins, by their lower bounds, with those of what lay below and above."""
    low = [value_words(measure, bound) for bound in measure.bins]
    return [f"below {low[0]}", *low[:-1], f"{low[-1]} or more"]


def _bins_words(measure: Measure, names: Sequence[str], first: int, last: int) -> str:
    """Several bins, by the lowest and the highest value of a number of elements, else by their bounds."""
    if first == last:
        return names[first]
    whole = measure.metric is Metric.OCCUPANCY or last == len(measure.bins)
    return f"{names[first]} to {names[last] if whole else value_words(measure, measure.bins[last])}"


def assert_words(result: AssertResult) -> str:
    """An assertion, and below it whether it holds."""
    return _below(_title(result.asserted), assert_lines(result))


def assert_lines(result: AssertResult) -> list[str]:
    return [_held_words(result)] + [result.trust] * (result.trust != COUNTED)


def _held_words(result: AssertResult) -> str:
    if not result.known:
        return "not known: nothing that it compares had a value"
    if result.holds:
        return "holds"
    count, begin = len(result.broken_ps), result.broken_ps[0][0]
    more = f"; {count} times in all" if count > 1 else ""
    at = f"{time_text(begin / PS_PER_S, 6)}{_within(result.uncertainty_ps)}"
    values = [f"{one.label or one.text} was {value_words(one, value)}" for one, value in result.compared]
    return f"broken, first at {at}{', where ' if values else ''}{listed(values)}{more}"
