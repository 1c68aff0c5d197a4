"""The host's calls on the time axis: one block's calls in order, and runs of calls of one site as one box."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from workbench.model.run import Run
from workbench.traces.groups import rows_of_block

Numbers = NDArray[np.integer]


@dataclass(frozen=True)
class BlockCalls:
    """Calls of one host block, by start. `group_first` (groups + 1) cuts them into runs of one site."""

    t0_ps: Numbers
    t1_ps: Numbers
    site: Numbers
    entry: Numbers
    bytes: Numbers
    port_first_ps: Numbers
    message: Numbers
    group_first: Numbers

    def __len__(self) -> int:
        return len(self.t0_ps)

    def at(self, time_ps: float) -> int | None:
        """The call under way at a time."""
        found = int(np.searchsorted(self.t0_ps, int(time_ps), "right")) - 1
        return found if found >= 0 and time_ps < self.t1_ps[found] else None

    def group_of(self, call: int) -> tuple[int, int]:
        """First and last + 1 call of the run that a call belongs to."""
        group = int(np.searchsorted(self.group_first, call, "right")) - 1
        return int(self.group_first[group]), int(self.group_first[group + 1])

    def groups_between(self, from_ps: float, to_ps: float) -> tuple[int, int]:
        """The groups that are under way in a span of time: first, last + 1."""
        low = int(np.searchsorted(self.t1_ps, int(from_ps), "right"))
        high = int(np.searchsorted(self.t0_ps, int(to_ps), "left"))
        if high <= low:
            return 0, 0
        first = int(np.searchsorted(self.group_first, low, "right")) - 1
        last = int(np.searchsorted(self.group_first, high - 1, "right"))
        return first, last

    def boxes(self, from_ps: float, pixel_ps: float, width: int, least_px: int = 3) -> list[Box]:
        """What to draw in `width` pixels: runs of calls; neighbours too narrow to tell apart become one box of many."""
        first, last = self.groups_between(from_ps, from_ps + pixel_ps * width)
        if last <= first:
            return []
        starts = self.group_first[first:last]
        ends = self.group_first[first + 1 : last + 1] - 1
        left = np.clip(np.rint((self.t0_ps[starts] - from_ps) / pixel_ps), -1, width + 1).astype(np.int64)
        right = np.clip(np.rint((self.t1_ps[ends] - from_ps) / pixel_ps), -1, width + 1).astype(np.int64)
        narrow = right - left < least_px
        fresh = ~(narrow[1:] & narrow[:-1] & (left[1:] - right[:-1] < least_px))
        heads = np.concatenate(([0], np.flatnonzero(fresh) + 1, [len(starts)]))
        return [
            Box(
                int(left[a]),
                int(right[b - 1]),
                int(starts[a]),
                int(ends[b - 1]) + 1,
                int(self.site[starts[a]]) if b - a == 1 else -1,
            )
            for a, b in pairwise(heads)
        ]

    def between(self, from_ps: int, to_ps: int) -> list[tuple[int, int, int]]:
        """(site, calls begun, picoseconds spent) between two times, most time first."""
        low = int(np.searchsorted(self.t1_ps, from_ps, "right"))
        high = int(np.searchsorted(self.t0_ps, to_ps, "left"))
        sites = self.site[low:high]
        if not len(sites):
            return []
        spent = self.t1_ps[low:high].clip(from_ps, to_ps) - self.t0_ps[low:high].clip(from_ps, to_ps)
        times = np.bincount(sites, weights=spent)
        begun = np.bincount(sites, weights=self.t0_ps[low:high] >= from_ps)
        return sorted(
            ((int(s), int(begun[s]), int(times[s])) for s in np.flatnonzero(np.bincount(sites))),
            key=lambda row: -row[2],
        )


@dataclass(frozen=True)
class Box:
    """Pixels `left` to `right`, calls `first` to `last` - 1; `site` is -1 where they are of several sites."""

    left: int
    right: int
    first: int
    last: int
    site: int


def calls_of_run(run: Run) -> Mapping[int, BlockCalls]:
    """The calls of every host block that made any, by block number."""
    table = run.tables.get("calls")
    if table is None or not len(table["t0_ps"]):
        return {}
    names = ("t0_ps", "t1_ps", "site", "entry", "bytes", "port_first_ps", "message")
    found = {}
    for block in np.flatnonzero(np.bincount(table["block"])).tolist():
        mine = rows_of_block(np.asarray(table["block"]), block)
        columns = {name: np.asarray(table[name])[mine] for name in names}
        if (np.diff(columns["t0_ps"]) < 0).any():
            order = np.argsort(columns["t0_ps"], kind="stable")
            columns = {name: column[order] for name, column in columns.items()}
        changes = np.flatnonzero(np.diff(columns["site"])) + 1
        cuts = np.concatenate(([0], changes, [len(columns["site"])]))
        found[block] = BlockCalls(**columns, group_first=cuts)
    return found
