"""The host's calls on the time axis: one block's calls in order, and runs of calls of one site as one box."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from workbench.model.run import Run
from workbench.traces.groups import rows_of_block

Numbers = NDArray[np.integer]
#: Calls are drawn together no further apart, and in cells of time of so many to twice as many pixels.
GAP_PX, CELL_PX = 24, 96


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

    def under_way(self, from_ps: float, to_ps: float) -> range:
        """The calls that are under way in a span of time."""
        low = int(np.searchsorted(self.t1_ps, int(from_ps), "right"))
        return range(low, max(int(np.searchsorted(self.t0_ps, int(to_ps), "left")), low))

    def groups_between(self, from_ps: float, to_ps: float) -> tuple[int, int]:
        """The groups that are under way in a span of time: first, last + 1."""
        calls = self.under_way(from_ps, to_ps)
        if not calls:
            return 0, 0
        first = int(np.searchsorted(self.group_first, calls.start, "right")) - 1
        last = int(np.searchsorted(self.group_first, calls[-1], "right"))
        return first, last

    def boxes(self, from_ps: float, pixel_ps: float, width: int, least_px: NDArray[np.float64]) -> list[CallBox]:
        """What to draw in `width` pixels: runs of calls of one site. Neighbours that are narrower than their site's
        `least_px` become one box of many, as far as they lie close together and in one cell of time."""
        first, last = self.groups_between(from_ps, from_ps + pixel_ps * width)
        if last <= first:
            return []
        starts = self.group_first[first:last]
        ends = self.group_first[first + 1 : last + 1] - 1
        left = np.clip(np.rint((self.t0_ps[starts] - from_ps) / pixel_ps), -1, width + 1).astype(np.int64)
        right = np.clip(np.rint((self.t1_ps[ends] - from_ps) / pixel_ps), -1, width + 1).astype(np.int64)
        sites = self.site[starts]
        narrow = right - left < least_px[sites]
        cell = self.t0_ps[starts] >> math.ceil(math.log2(CELL_PX * pixel_ps))
        close = (left[1:] - right[:-1] < GAP_PX) & (cell[1:] == cell[:-1])
        heads = np.concatenate(([0], np.flatnonzero(~(narrow[1:] & narrow[:-1] & close)) + 1, [len(starts)]))
        counts = ends - starts + 1
        return [CallBox(int(left[a]), int(right[b - 1]), _by_site(sites[a:b], counts[a:b])) for a, b in pairwise(heads)]

    def between(self, from_ps: int, to_ps: int) -> list[tuple[int, int, int]]:
        """(site, calls begun, picoseconds spent) between two times, most time first."""
        under_way = self.under_way(from_ps, to_ps)
        low, high = under_way.start, under_way.stop
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
class CallBox:
    """Pixels `left` to `right`, and how many calls of each site (site, calls), in the order they begin."""

    left: int
    right: int
    sites: tuple[tuple[int, int], ...]


def _by_site(sites: Numbers, counts: Numbers) -> tuple[tuple[int, int], ...]:
    found, at = np.unique(sites, return_index=True)
    totals = np.bincount(sites, weights=counts)
    return tuple((int(found[k]), int(totals[found[k]])) for k in np.argsort(at))


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
