"""What is looked up in a trace while people watch: states, sums over any stretch, pyramids to draw from."""

from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from workbench.model.run import Run
from workbench.traces.pyramid import KEPT_FROM, Level, Pyramid, build_pyramid, keep_pyramid, kept_pyramid
from workbench.traces.trace import CATEGORIES, WAIT_CODES, Bytes, Picoseconds, Trace, trace_of

#: A wait that takes less than this share of its row is pinned where it would be too short to see.
RARE_SHARE = 0.01


@dataclass(frozen=True)
class TimelineIndex:
    """A trace and its pyramid."""

    trace: Trace
    pyramid: Pyramid
    _counted: dict[tuple[int, tuple[int, ...], int], NDArray[Any]] = field(
        default_factory=dict, compare=False, repr=False
    )
    _sums: dict[tuple[int, ...], Picoseconds] = field(default_factory=dict, compare=False, repr=False)

    @property
    def end_ps(self) -> int:
        return self.trace.end_ps

    @property
    def levels(self) -> tuple[Level, ...]:
        return self.pyramid.levels

    @property
    def bytes(self) -> int:
        return self.trace.bytes + self.pyramid.bytes

    @cached_property
    def totals_ps(self) -> Picoseconds:
        """Each row's time in each category, shape (rows, categories)."""
        totals: Picoseconds = self.pyramid.times_ps.sum(axis=2)
        return totals

    @cached_property
    def rare(self) -> Bytes:
        """A bit for each wait that takes a small share of its row (rows)."""
        totals = self.totals_ps
        share = totals / np.maximum(totals.sum(axis=1, keepdims=True), 1)
        rare = np.zeros(len(totals), np.uint8)
        for code in WAIT_CODES:
            rare |= np.where((share[:, code] < RARE_SHARE) & (totals[:, code] > 0), 1 << code, 0).astype(np.uint8)
        return rare

    def category_times_ps(self, row: int, from_ps: int, to_ps: int) -> Picoseconds:
        """A row's time in each category between two times, exactly: from the kept sums, and both ends' intervals."""
        to_ps, step = min(to_ps, self.end_ps), self.pyramid.sum_ps
        first, last = -(-from_ps // step), to_ps // step
        if first >= last:
            return self._counted_ps(row, from_ps, to_ps)
        whole: Picoseconds = self.pyramid.times_ps[row, :, first:last].sum(axis=1)
        return whole + self._counted_ps(row, from_ps, first * step) + self._counted_ps(row, last * step, to_ps)

    def _counted_ps(self, row: int, from_ps: int, to_ps: int) -> Picoseconds:
        if to_ps <= from_ps:
            return np.zeros(len(CATEGORIES), np.int64)
        times = self.trace.state_times_ps(row, from_ps, to_ps)
        return np.bincount(self.trace.codes[row], weights=times, minlength=len(CATEGORIES)).astype(np.int64)

    def at_once(self, level: Level, rows: tuple[int, ...], code: int) -> NDArray[np.int64]:
        """How many of `rows` are in a category for most of each bin of a level; found once."""
        key = level.bin_ps, rows, code
        if key not in self._counted:
            counts = np.zeros(level.dominant.shape[1], np.int64)
            for row in rows:
                counts += level.dominant[row] == code
            self._counted[key] = counts
        return self._counted[key]

    def sums_ps(self, rows: tuple[int, ...]) -> Picoseconds:
        """The rows' time together in each category before each bin of `pyramid.sum_ps`, shape (categories, bins + 1);
        found once."""
        if rows not in self._sums:
            times = self.pyramid.times_ps[list(rows)].sum(axis=0)
            self._sums[rows] = np.pad(times.cumsum(axis=1), ((0, 0), (1, 0)))
        return self._sums[rows]

    def rare_present(self, level: Level, rows: tuple[int, ...]) -> Bytes:
        """For each bin of a level a bit for each wait that occurs in any of the rows and is rare there; found once."""
        key = level.bin_ps, rows, -1
        if key not in self._counted:
            there = np.zeros(level.present.shape[1], np.uint8)
            for row in rows:
                there |= level.present[row] & self.rare[row]
            self._counted[key] = there
        bits: Bytes = self._counted[key]
        return bits

    def shares(self, row: int) -> NDArray[np.float64]:
        """A row's share of each category over the whole run, shape (categories, bins of `pyramid.sum_ps`)."""
        times = self.pyramid.times_ps[row]
        return times / np.maximum(times.sum(axis=0), 1)

    def seldom(self, row: int, code: int, most: int) -> list[tuple[int, int]]:
        """Start and end (ps) of a category's stretches in a row; [] where there are more than `most`."""
        level = self.levels[0]
        there = np.flatnonzero((level.present[row] >> code) & 1)
        heads = np.flatnonzero(np.diff(there, prepend=-2) > 1)
        if len(heads) > most:
            return []
        pairs = []
        for some in np.split(there, heads[1:]):
            if not len(some):
                continue
            from_ps = int(some[0]) * level.bin_ps
            edges, states = self.trace.between(row, from_ps, (int(some[-1]) + 1) * level.bin_ps)
            mine = np.flatnonzero((self.trace.codes[row][states] == code) & (edges[:-1] >= from_ps))
            pairs += [(int(edges[k]), int(edges[k + 1])) for k in mine[: most + 1]]
        return pairs if len(pairs) <= most else []


def index_of_run(run: Run) -> TimelineIndex | None:
    """The index of a traced run; None for one without a trace.

    The pyramid is the one that was kept in the run's folder; a large trace's is kept there where there is none.
    """
    trace = trace_of(run)
    if trace is None:
        return None
    large = run.path is not None and trace.intervals >= KEPT_FROM
    pyramid = kept_pyramid(run.path, trace) if run.path and large else None
    if pyramid is None:
        pyramid = build_pyramid(trace)
        if run.path and large:
            keep_pyramid(run.path, trace, pyramid)
    return TimelineIndex(trace, pyramid)
