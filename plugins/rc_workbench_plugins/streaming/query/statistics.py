"""Statistics of what was collected in a frame."""

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rc_workbench_plugins.streaming.query.measures import FrameValue, Measure, Statistic
from workbench.api.stream_events import Times


def with_statistic(
    frame: FrameValue, measure: Measure, times: Times, values: NDArray[Any], weights: Times
) -> FrameValue:
    """A frame with the statistic of its values; each counts as often as its weight says."""
    value: int | float | None
    match measure.statistic:
        case Statistic.TRACE:
            return replace(frame, samples=(times, values), uncertainty=0.0)
        case Statistic.HIST:
            histogram = np.zeros(len(measure.bins) + 1, np.int64)
            np.add.at(histogram, np.searchsorted(measure.bins, values, "right"), weights)
            return replace(frame, histogram=tuple(histogram.tolist()), uncertainty=0.0)
        case Statistic.SUM:
            value = _total(values, weights)
        case _ if not len(values):
            value = None
        case Statistic.MEAN:
            value = _total(values, weights) / weights.sum().item()
        case Statistic.MIN:
            value = values.min().item()
        case Statistic.MAX:
            value = values.max().item()
    return replace(frame, value=value)


def _total(values: NDArray[Any], weights: Times) -> int | float:
    """The sum, each as often as its weight says; exact where they are whole numbers, however large."""
    if values.dtype.kind not in "iu" or not len(values):
        return float((values * weights).sum()) if len(values) else 0
    most = max(abs(int(values.min())), abs(int(values.max()))) * int(weights.sum())
    return int((values.astype(np.int64 if most < 1 << 63 else object) * weights).sum())
