"""The host's calls on the time axis: one block's calls in order, and runs of calls of one site as one box."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from workbench.model.run import Run
from workbench.traces.groups import rows_of_block

Numbers = NDArray[np.integer]
#: Calls are drawn together no further apart, and in cells of time of so many to twice as many pixels.
GAP_PX, CELL_PX = 24, 96
#: Groups of which calls are summed up together.
STRIDE = 4096


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
        number = int(np.searchsorted(self.t0_ps, int(time_ps), "right")) - 1
        return number if number >= 0 and time_ps < self.t1_ps[number] else None

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

    @cached_property
    def groups(self) -> Groups:
        return groups_of(self)

    def boxes(self, from_ps: float, pixel_ps: float, width: int, least_px: NDArray[np.float64]) -> list[CallBox]:
        """What to draw in `width` pixels: runs of calls of one site. Neighbours that are narrower than their site's
        `least_px` become one box of many, as far as they lie close together and their rounds begin in one cell of time;
        a round of more than `CELL_PX` has boxes of its own."""
        first, last = self.groups_between(from_ps, from_ps + pixel_ps * width)
        if last <= first:
            return []
        groups = self.groups

        def pixels(time_ps: Numbers) -> Numbers:
            return np.clip(np.rint((time_ps - from_ps) / pixel_ps), -1, width + 1).astype(np.int64)

        def left(some: Numbers) -> Numbers:
            return pixels(groups.begin_ps[some])

        def right(some: Numbers) -> Numbers:
            return pixels(groups.end_ps[some])

        # which are wide, or far from the one before: by picoseconds, which is quick, and then by pixels
        wide = groups.wide.at_least((least_px.min(initial=np.inf) - 1) * pixel_ps, first, last)
        wide = wide[right(wide) - left(wide) >= least_px[groups.site[wide]]]
        far = groups.far.at_least((GAP_PX - 1) * pixel_ps, first + 1, last)
        far = far[left(far) - right(far - 1) >= GAP_PX]
        cuts = np.unique(np.concatenate(([first, last], wide, wide + 1, far, groups.cells(first, last, pixel_ps))))
        heads = cuts[(cuts >= first) & (cuts <= last)]
        counted = (groups.by_site(a, b) for a, b in pairwise(heads.tolist()))
        ends = zip(left(heads[:-1]).tolist(), right(heads[1:] - 1).tolist(), counted, strict=True)
        return [CallBox(*box) for box in ends]

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


@dataclass(frozen=True)
class Lengths:
    """Times from `begin_ps` to `end_ps`, and the longest of each `STRIDE`, so that those few that are long are found
    without looking at all."""

    begin_ps: Numbers
    end_ps: Numbers
    longest_ps: Numbers

    def at_least(self, length_ps: float, first: int, last: int) -> Numbers:
        """The numbers of those from `first` to before `last` that are so long."""
        strides = first // STRIDE + np.flatnonzero(self.longest_ps[first // STRIDE : -(-last // STRIDE)] >= length_ps)
        parts = [np.empty(0, np.int64)]
        for stride in strides.tolist():
            low, high = max(stride * STRIDE, first), min((stride + 1) * STRIDE, last)
            parts.append(low + np.flatnonzero(self.end_ps[low:high] - self.begin_ps[low:high] >= length_ps))
        return np.concatenate(parts)


def lengths(begin_ps: Numbers, end_ps: Numbers) -> Lengths:
    longest = [
        (end_ps[low : low + STRIDE] - begin_ps[low : low + STRIDE]).max() for low in range(0, len(begin_ps), STRIDE)
    ]
    return Lengths(begin_ps, end_ps, np.array(longest, np.int64))


@dataclass(frozen=True)
class Groups:
    """Runs of calls of one site, by start, and what a view of millions of them needs to know beforehand.

    Of each group (`first`: its first call, groups + 1 of them) begin, end and site, how `wide` it is, and how `far`
    from the one before. A round begins where a site follows that was called first no later than the one before:
    `rounds` are the first groups of each, `to_next` the times to the next one. `summed` (strides + 1, sites) are the
    calls of each site before every `STRIDE`th group.
    """

    first: Numbers
    begin_ps: Numbers
    end_ps: Numbers
    site: Numbers
    wide: Lengths
    far: Lengths
    rounds: Numbers
    to_next: Lengths
    summed: Numbers

    def cells(self, first: int, last: int, pixel_ps: float) -> Numbers:
        """The groups at which other cells of time begin: the first of the first round of each. A round of more than
        `CELL_PX` begins and ends cells, and is cut by them."""
        low = int(np.searchsorted(self.rounds, first, "right")) - 1
        high = int(np.searchsorted(self.rounds, last, "left"))
        shift = math.ceil(math.log2(CELL_PX * pixel_ps))
        long = self.to_next.at_least(math.nextafter(CELL_PX * pixel_ps, math.inf), low, high)
        heads = np.concatenate(([low], long, long + 1))
        if high - low > 1:  # the first round of each cell; what began before the view is one in any case
            here, after, end = (self.to_next.begin_ps[[low, low + 1, high - 1]] >> shift).tolist()
            edges = np.arange(max(here + 1, after), end + 1) << shift
            heads = np.concatenate((heads, low + 1 + np.searchsorted(self.to_next.begin_ps[low + 1 : high], edges)))
        parts = [self.rounds[heads[heads < high]]]
        for number in long.tolist():
            group = max(int(self.rounds[number]), first)
            stop = int(self.rounds[number + 1]) if number + 1 < high else last
            edges = np.arange(int(self.begin_ps[group]) >> shift, int(self.begin_ps[stop - 1]) >> shift) + 1
            parts.append(group + np.searchsorted(self.begin_ps[group:stop], edges << shift))
        return np.concatenate(parts)

    def by_site(self, first: int, last: int) -> tuple[tuple[int, int], ...]:
        """(site, calls) of some groups, in the order they begin, those after the first `STRIDE` groups by number."""
        if last - first == 1:
            return ((int(self.site[first]), int(self.first[last] - self.first[first])),)
        low, high = -(-first // STRIDE), last // STRIDE
        if low < high:
            within = self.summed[high] - self.summed[low]
            totals = within + self._counted(first, low * STRIDE) + self._counted(high * STRIDE, last)
        else:
            totals = self._counted(first, last)
        head = self.site[first : min(first + STRIDE, last)][::-1]
        begins = np.full(len(totals), STRIDE)
        begins[head] = np.arange(len(head))[::-1]  # the last that is set stays: the first in time
        there = np.flatnonzero(totals)
        return tuple((site, int(totals[site])) for site in there[np.argsort(begins[there], kind="stable")].tolist())

    def _counted(self, first: int, last: int) -> Numbers:
        sites = self.summed.shape[1]
        calls = np.diff(self.first[first : last + 1])
        return np.bincount(self.site[first:last], calls, minlength=sites).astype(np.int64)


def groups_of(calls: BlockCalls) -> Groups:
    first = calls.group_first
    begin_ps, end_ps, site = calls.t0_ps[first[:-1]], calls.t1_ps[first[1:] - 1], calls.site[first[:-1]]
    sites = int(site.max(initial=-1)) + 1
    rank = np.zeros(sites, np.int64)  # of a site: the first group that calls it
    rank[site[::-1]] = np.arange(len(site))[::-1]
    order = rank[site]
    rounds = np.concatenate(([0], np.flatnonzero(order[1:] <= order[:-1]) + 1))
    round_ps = begin_ps[rounds]
    before = np.concatenate((begin_ps[:1], end_ps[:-1]))
    wide, far = lengths(begin_ps, end_ps), lengths(before, begin_ps)
    to_next = lengths(round_ps, np.append(round_ps[1:], end_ps[-1:]))
    strides = -(-len(site) // STRIDE)
    kinds = np.arange(len(site)) // STRIDE * sites + site
    counted = np.bincount(kinds, np.diff(first), minlength=strides * sites).astype(np.int64).reshape(strides, sites)
    summed = np.concatenate((np.zeros((1, sites), np.int64), np.cumsum(counted, axis=0)))
    return Groups(first, begin_ps, end_ps, site, wide, far, rounds, to_next, summed)


def calls_of_run(run: Run) -> Mapping[int, BlockCalls]:
    """The calls of every host block that made any, by block number."""
    table = run.tables.get("calls")
    if table is None or not len(table["t0_ps"]):
        return {}
    names = ("t0_ps", "t1_ps", "site", "entry", "bytes", "port_first_ps", "message")
    calls = {}
    for block in np.flatnonzero(np.bincount(table["block"])).tolist():
        mine = rows_of_block(np.asarray(table["block"]), block)
        columns = {name: np.asarray(table[name])[mine] for name in names}
        if (np.diff(columns["t0_ps"]) < 0).any():
            order = np.argsort(columns["t0_ps"], kind="stable")
            columns = {name: column[order] for name, column in columns.items()}
        changes = np.flatnonzero(np.diff(columns["site"])) + 1
        cuts = np.concatenate(([0], changes, [len(columns["site"])]))
        calls[block] = BlockCalls(**columns, group_first=cuts)
    return calls
