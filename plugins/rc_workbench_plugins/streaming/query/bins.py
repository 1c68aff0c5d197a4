"""A histogram's bounds, in base units, where a query does not say all of them."""

import re

import numpy as np
from numpy.typing import NDArray

from rc_workbench_plugins.streaming.query.measures import TIMED, Measure, Metric
from workbench.api.unstable import StreamEdge

MOST_COUNTS = 512  # bins of an occupancy, as the dissertation's monitors have (section 3.3)
_NS, _LONGEST_NS = 1_000, 40  # powers of two: to 2^40 ns, 18 minutes
_UNKNOWN = "unsigned16"  # what a queue of no known depth is taken to hold
EVEN = 64  # bins between bounds that are said, where their number is not


def bins_of(
    metric: Metric, edge: StreamEdge | None, bins: float | None, low: float | None, high: float | None
) -> tuple[float, ...]:
    """`edge` is None of what is within a block. ValueError, in words, where there is no such histogram."""
    count = None if bins is None else int(bins)
    if metric is Metric.OCCUPANCY and edge and not edge.depth and bins is None and low is None and high is None:
        return _powers(metric, _UNKNOWN)
    if metric is Metric.OCCUPANCY and edge:
        low, high = 0 if low is None else low, edge.depth + 1 if high is None else high
        count = count or min(MOST_COUNTS, max(1, int(high - low)))
    elif count is None and low is None and high is None:
        return _powers(metric, edge.type if edge else "")
    elif metric in TIMED:
        low = 0 if low is None else low
    if low is None or high is None:
        raise ValueError("a histogram with 'bins' needs 'low' and 'high', as in hist(bins=16, low=0, high=1000)")
    if not high > low:
        raise ValueError("'high' of a histogram must be above 'low'")
    count = count or EVEN
    return tuple(low + (high - low) * i / count for i in range(count + 1))


def _powers(metric: Metric, type_: str) -> tuple[float, ...]:
    """Bins whose bounds double, since what is between the least and the greatest is not known beforehand."""
    if metric in TIMED:
        return (0.0, *(float(_NS << power) for power in range(_LONGEST_NS + 1)))
    bits = re.search(r"\d+$|^\d+(?= bits)", type_)
    if type_.startswith("unsigned") or type_.endswith("bits"):
        return (0.0, *(2.0**power for power in range(int(bits[0] if bits else 0) + 1)))
    powers = [2.0**power for power in (range(int(bits[0] if bits else 0)) if type_[0] == "s" else range(-32, 33))]
    return (*(-power for power in reversed(powers)), 0.0, *powers)


def cumulative(measure: Measure, sums: NDArray[np.int64]) -> tuple[list[float], list[float]]:
    """Values in base units, and the share of a histogram at or below each: at the ends of its bins, from the first to
    the last one used; nothing where nothing was seen. `sums` begin and end with what lay below and above the bins."""
    if not np.any(sums):
        return [], []
    bins = np.array(measure.bins)
    upper = bins - 1 if measure.metric is Metric.OCCUPANCY else bins  # of whole numbers the last one in the bin
    used = np.flatnonzero(sums[:-1])
    if not len(used):
        return [], []
    part = slice(max(int(used[0]), 1), int(used[-1]) + 1)
    return upper[part].tolist(), (np.cumsum(sums)[:-1] / np.sum(sums))[part].tolist()
