"""Values that change at instants: what a queue holds, what is blocked, what a condition is worth over a run."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from workbench.api.stream_events import EdgeEvents, Times

#: What a condition is worth: Kleene's three values, so that `not` is the sign, `and` the least, `or` the greatest.
FALSE, UNKNOWN, TRUE = -1, 0, 1


@dataclass(frozen=True)
class Steps:
    """`values[i]` holds from `times[i]` until `times[i + 1]`; times (ps) rise strictly. Before the first the value is
    `otherwise`: what is not known yet is NaN, a condition of it `UNKNOWN`."""

    times: Times
    values: NDArray[Any]
    otherwise: float = np.nan

    def at(self, when: Times) -> NDArray[Any]:
        return self._taken(np.searchsorted(self.times, when, "right"))

    def before(self, when: Times) -> NDArray[Any]:
        """Just before, not counting what changes at that time."""
        return self._taken(np.searchsorted(self.times, when, "left"))

    def _taken(self, after: NDArray[np.intp]) -> NDArray[Any]:
        return np.append(np.array(self.otherwise, self.values.dtype), self.values)[after]


def merged(*times: ArrayLike) -> Times:
    """All of them, in order, each once. What is in order already is merged, which `np.unique` does not see."""
    times_sorted = np.sort(np.concatenate([np.asarray(part, np.int64) for part in times]), kind="stable")
    return times_sorted[np.append(True, times_sorted[1:] != times_sorted[:-1])[: len(times_sorted)]]


def occupancy(events: EdgeEvents, start_ps: int) -> Steps:
    """Elements in the queue; changes of one instant count together."""
    times = merged([start_ps], events.push_ps, events.pop_ps)
    pushed, popped = (np.searchsorted(events.push_ps, times, "right"), np.searchsorted(events.pop_ps, times, "right"))
    return Steps(times, (pushed - popped).astype(np.int64), 0)


def spells(spans: Times, start_ps: int) -> Steps:
    """`TRUE` in the spells, else `FALSE`."""
    times = merged([start_ps], spans.ravel())
    begun, ended = np.searchsorted(spans[:, 0], times, "right"), np.searchsorted(np.sort(spans[:, 1]), times, "right")
    return Steps(times, np.where(begun > ended, TRUE, FALSE).astype(np.int8), FALSE)


def last_at_time(times: Times) -> NDArray[np.bool_]:
    """Which of some times, in order, have none after them that is the same."""
    return np.append(times[1:] != times[:-1], True) if len(times) else np.empty(0, bool)


def last_of_each_time(times: Times, values: NDArray[Any]) -> Steps:
    """The last value of each time, of values in order of time."""
    last = last_at_time(times)
    return Steps(times[last], values[last].astype(np.float64))


class Pieces:
    """The run cut where a frame begins, or one of the steps changes. Where the condition does not hold, the duration
    is 0. `values` are the steps'."""

    def __init__(self, bounds: Times, worth: Steps | None, *steps: Steps) -> None:
        cuts = merged(bounds, *(s.times for s in (worth, *steps) if s is not None))
        cuts = cuts[(cuts >= bounds[0]) & (cuts <= bounds[-1])]
        self.times = cuts[:-1]
        self._count = len(bounds) - 1
        self.frames = np.searchsorted(bounds, self.times, "right") - 1
        held = np.ones(len(self.times), bool) if worth is None else worth.at(self.times) == TRUE
        self.durations = np.diff(cuts) * held
        self.values = [s.at(self.times) for s in steps]

    @property
    def collected(self) -> Times:
        """For how long the condition held in each frame (ps)."""
        return self.sums(self.durations)

    def sums(self, amounts: Times) -> Times:
        sums = np.zeros(self._count, np.int64)
        np.add.at(sums, self.frames, amounts)
        return sums
