"""By how much accesses' addresses move between work items and between iterations, from addresses that were noted."""

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from rc_workbench_plugins.opencl.kernel import Access, AccessProfile, Space, Stride, Trips

#: rounds of each loop that are looked at, and how many addresses of an access at most
_ROUNDS = 8  # and the test before the first
_MOST = 1 << 20
_COUNTS = 1 << 12  # different numbers of iterations of a loop that are kept
_Table = NDArray[np.int64]


class Addresses:
    """Addresses of accesses in the first rounds of all loops, by work item."""

    def __init__(self, loops: Mapping[str, tuple[str, ...]], items: _Table) -> None:
        """`loops` are those around each access; `items` is a row for each lane that is looked at: its global ids and
        its group's number."""
        self.loops, self._items = loops, items
        self._rows: dict[str, list[_Table]] = defaultdict(list)
        self._noted: dict[str, int] = defaultdict(int)

    def note(self, access: str, address: _Table, lanes: _Table, rounds: Sequence[_Table]) -> None:
        """An access of `lanes`, each in its round of every loop around it."""
        if self._noted[access] > _MOST or any(len(r) == 1 and r[0] > _ROUNDS for r in rounds):
            return
        looked = lanes < len(self._items)
        for column in rounds:
            looked = looked & (column <= _ROUNDS)
        rows = [column[looked] if len(column) == len(lanes) else column for column in (lanes, address, *rounds)]
        self._rows[access].append(np.stack(np.broadcast_arrays(*rows), axis=1))
        self._noted[access] += len(rows[0])

    def profile(self, access: Access, executions: int) -> AccessProfile:
        loops = self.loops[access.id]
        rows = np.concatenate(self._rows[access.id] or [np.zeros((0, 2 + len(loops)), np.int64)])
        lanes, address, rounds = rows[:, 0], rows[:, 1], list(rows[:, 2:].T)
        x, y, z, group = (self._items[lanes, column] for column in range(4))
        same_group = [group] if access.space in (Space.LOCAL, Space.PRIVATE) else []
        return AccessProfile(
            executions,
            _stride(address, x, [y, z, *same_group, *rounds]),
            {
                loop: _stride(address, rounds[at], [lanes, *rounds[:at], *rounds[at + 1 :]])
                for at, loop in enumerate(loops)
            },
            _stride(address, y, [x, z, *same_group, *rounds]),
            _first(lanes, address, rounds),
        )


def _first(lanes: _Table, address: _Table, rounds: Sequence[_Table]) -> int | None:
    """The address of the first work item in the first iteration of every loop; None where it makes none there."""
    there = lanes == 0
    for column in rounds:
        there = there & (column == 1)
    return int(address[there][0]) if there.any() else None


def _stride(address: _Table, along: _Table, same: Sequence[_Table]) -> Stride:
    """The commonest step of the address where `along` is one more and all of `same` is the same."""
    order = np.lexsort([along, *same])
    neighbours = np.diff(along[order]) == 1
    for column in same:
        neighbours &= np.diff(column[order]) == 0
    steps, times = np.unique(np.diff(address[order])[neighbours], return_counts=True)
    if not len(steps):
        return Stride(None, 0.0, 0)
    most = int(times.argmax())
    return Stride(int(steps[most]), float(times[most] / times.sum()), int(times.sum()))


def trips_of(counts: Counter[int]) -> Trips:
    """A loop's trips, of how many times each number of iterations came."""
    iterations = sum(number * times for number, times in counts.items())
    kept = dict(sorted(counts.items())) if len(counts) <= _COUNTS else {}
    return Trips(counts.total(), iterations, min(counts, default=0), max(counts, default=0), kept)
