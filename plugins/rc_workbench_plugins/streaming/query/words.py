"""What measures came to, as people read it."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from rc_workbench_plugins.streaming.query.measures import (
    COUNTED,
    TIMED,
    UNITS,
    AssertResult,
    FrameValue,
    Measure,
    MeasureResult,
    Metric,
    Statistic,
)
from workbench.model.run import PS_PER_S
from workbench.model.text import count_text, percent_text, prefixed, significant, table, time_text

_BAR, _ROWS = 40, 24  # letters of the longest bin, and rows at most: of more bins some share one


def value_words(measure: Measure, value: float | None) -> str:
    """A number of the measure, in base units."""
    if value is None:
        return "none"
    if measure.metric is Metric.RATE:
        return prefixed(value, "/s")
    if measure.metric in (Metric.UTIL, Metric.BACKPRESSURE):
        return percent_text(value)
    if measure.metric in TIMED:
        return time_text(value / UNITS[measure.metric][1])
    if measure.metric is Metric.OCCUPANCY and measure.statistic is Statistic.SUM:
        return f"{significant(value / PS_PER_S)} element s"
    return significant(value) if value != int(value) else count_text(value)


def result_words(result: MeasureResult) -> str:
    """One measure: its number, or how its frames' are spread; histograms of all frames together, as bars."""
    measure, frames = result.measure, result.frames
    lines = [measure.text if measure.label in measure.text else f"{measure.label}: {measure.text}"]
    if not frames:
        lines.append(f"    at {' -> '.join(measure.edges)}")
    elif measure.statistic is Statistic.HIST:
        lines += _bars(measure, frames)
    elif measure.statistic is Statistic.TRACE and not measure.single:
        samples = sum(len(frame.samples[0]) for frame in frames if frame.samples)
        lines.append(f"    {count_text(samples)} samples, in {_frames(frames)}")
    elif len(frames) == 1:
        unsure = frames[0].uncertainty
        sure = f", to within {value_words(measure, unsure)}" if unsure else ""
        lines.append(f"    {value_words(measure, frames[0].value)}{sure}")
    else:
        lines += _spread(measure, frames)
    if unsure_ps := max((frame.uncertainty_ps for frame in frames), default=0):
        lines.append(f"    {times_words(unsure_ps)}")
    if result.trust != COUNTED:
        lines.append(f"    {result.trust}")
    return "\n".join(lines)


def times_words(unsure_ps: int) -> str:
    """How far times may be off."""
    return f"its times are known{_within(unsure_ps)}"


def _within(unsure_ps: int) -> str:
    return f" to within {time_text(unsure_ps / PS_PER_S)} on the host's clock" if unsure_ps else ""


def _frames(frames: Sequence[FrameValue]) -> str:
    return f"{len(frames)} frames" if len(frames) > 1 else "one frame"


def _spread(measure: Measure, frames: Sequence[FrameValue]) -> list[str]:
    values = [frame.value for frame in frames if frame.value is not None]
    if not values:
        return [f"    none in any of {len(frames)} frames"]
    least, lower, median, upper, most = np.quantile(values, [0, 0.25, 0.5, 0.75, 1]).tolist()
    said = [f"{word} {value_words(measure, v)}" for word, v in (("median", median), ("least", least), ("most", most))]
    half = f"half of them from {value_words(measure, lower)} to {value_words(measure, upper)}"
    return [f"    {', '.join(said)}; {half}; {_frames(frames)}"]


def _bars(measure: Measure, frames: Sequence[FrameValue]) -> list[str]:
    sums = np.sum([frame.histogram for frame in frames if frame.histogram], axis=0)
    if not sums.sum():
        return ["    nothing was seen"]
    names = [f"below {value_words(measure, measure.bins[0])}"]
    names += [f"{value_words(measure, bound)}" for bound in measure.bins[:-1]]
    names += [f"{value_words(measure, measure.bins[-1])} or more"]
    used = np.flatnonzero(sums)
    first, last = min(int(used[0]), 1), int(used[-1]) + 1
    every = -(-(last - first) // _ROWS)
    grouped = [
        (f"{names[i]} to {names[min(i + every, last) - 1]}" if every > 1 else names[i], int(sums[i : i + every].sum()))
        for i in range(first, last, every)
    ]
    most = max(part for _, part in grouped)
    rows = [(f"    {name}", percent_text(part / sums.sum()), "#" * round(_BAR * part / most)) for name, part in grouped]
    return table(rows).splitlines()


def assert_words(result: AssertResult) -> str:
    said = _held_words(result) + (f"\n    {result.trust}" if result.trust != COUNTED else "")
    return f"{result.asserted.text}\n    {said}"


def _held_words(result: AssertResult) -> str:
    if not result.known:
        return "not known: nothing that it compares had a value"
    if result.holds:
        return "holds"
    count, begin = len(result.broken_ps), result.broken_ps[0][0]
    more = f"; {count} times in all" if count > 1 else ""
    at = f"{time_text(begin / PS_PER_S, 6)}{_within(result.uncertainty_ps)}"
    return f"broken, first at {at}{more}"
