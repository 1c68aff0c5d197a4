"""What a timeline draws from: rows of intervals, and pyramids of time bins over them.

A row is one block's states in time order: `start_ps` with the state from there to the next start. Two pyramids lie over
the rows: `dominant` keeps the category that took most of a bin, `present` one bit for every category that occurs in it
at all, so that a stall of a single cycle is still known when a pixel is a second wide.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from workbench.model.blocks import Block
from workbench.model.pragma import UNCLASSIFIED, Category
from workbench.model.run import Run

#: Category codes: the place in this tuple. NOTHING is time outside the run.
CATEGORIES: tuple[str, ...] = (UNCLASSIFIED, *(c.value for c in Category))
NOTHING = len(CATEGORIES)
_INTERVALS_PER_BIN = 2.5
_CHUNK_BINS = 65_536
_MOST_COUNTED = 300_000
#: A wait that takes less than this share of its row is pinned where it would be too short to see.
RARE_SHARE = 0.01

Bytes = NDArray[np.uint8]
Picoseconds = NDArray[np.int64]


def category_code(category: Category | None) -> int:
    return 0 if category is None else CATEGORIES.index(category.value)


WAIT_CODES = tuple(category_code(c) for c in (Category.WAIT_RECV, Category.WAIT_SEND))


@dataclass(frozen=True)
class Level:
    """One level of the pyramids: bins of `bin_ps`, arrays of shape (rows, bins)."""

    bin_ps: int
    dominant: Bytes
    present: Bytes


@dataclass(frozen=True)
class TimelineIndex:
    """`offsets` (rows + 1) cuts `start_ps` and `state` into rows; `codes` (rows, 256) gives a state's category code.

    `levels` are finest first. `totals_ps` (rows, categories) is each row's time; `rare` (rows) has a bit for each wait
    that takes a small share of its row.
    """

    offsets: NDArray[np.int64]
    start_ps: Picoseconds
    state: Bytes
    codes: Bytes
    end_ps: int
    levels: tuple[Level, ...]
    totals_ps: Picoseconds
    rare: Bytes

    @property
    def rows(self) -> int:
        return len(self.offsets) - 1

    @property
    def intervals(self) -> int:
        return int(self.offsets[-1])

    @property
    def bytes(self) -> int:
        pyramids = sum(level.dominant.nbytes + level.present.nbytes for level in self.levels)
        return int(self.start_ps.nbytes + self.state.nbytes + pyramids)

    def row(self, row: int) -> tuple[Picoseconds, Bytes]:
        """The starts and states of a row."""
        part = slice(self.offsets[row], self.offsets[row + 1])
        return self.start_ps[part], self.state[part]

    def at(self, row: int, time_ps: float) -> tuple[int, int, int] | None:
        """The state of a row at a time, with the interval's start and end; None outside the run."""
        starts, states = self.row(row)
        found = int(np.searchsorted(starts, int(time_ps), "right")) - 1
        if found < 0 or time_ps >= self.end_ps:
            return None
        end = int(starts[found + 1]) if found + 1 < len(starts) else self.end_ps
        return int(states[found]), int(starts[found]), end

    def state_times(self, row: int, from_ps: int, to_ps: int) -> NDArray[np.float64]:
        """Picoseconds in each state index of a row (256 entries) between two times, exactly."""
        starts, states = self.row(row)
        first = max(int(np.searchsorted(starts, from_ps, "right")) - 1, 0)
        last = int(np.searchsorted(starts, to_ps, "left"))
        if last <= first:
            return np.zeros(256)
        edges = np.append(starts[first:last], starts[last] if last < len(starts) else self.end_ps)
        spans = np.diff(edges.clip(from_ps, min(to_ps, self.end_ps)))
        return np.bincount(states[first:last], weights=spans, minlength=256).astype(np.float64)


def build_index(
    start_ps: Picoseconds,
    state: Bytes,
    offsets: NDArray[np.int64],
    codes: Bytes,
    end_ps: int,
    progress: Callable[[float], None] = lambda fraction: None,
) -> TimelineIndex:
    """Build the pyramids. About 0.1 s for 10^6 intervals; `progress` may raise to stop it."""
    rows = len(offsets) - 1
    wanted = max(64.0, len(start_ps) / max(rows, 1) / _INTERVALS_PER_BIN)
    bins = 1 << int(np.ceil(np.log2(wanted)))
    bin_ps = max(1, -(-max(end_ps, 1) // bins))
    counts = [bins >> k for k in range(bins.bit_length()) if bins >> k >= 32]
    levels = tuple(
        Level(bin_ps << k, np.full((rows, n), NOTHING, np.uint8), np.zeros((rows, n), np.uint8))
        for k, n in enumerate(counts)
    )
    totals = np.zeros((rows, len(CATEGORIES)), np.int64)
    for row in range(rows):
        part = slice(int(offsets[row]), int(offsets[row + 1]))
        times = _bin_times(start_ps[part], codes[row][state[part]], bin_ps, bins, end_ps)
        totals[row] = times.sum(axis=1)
        _fill(levels, row, times)
        progress((row + 1) / rows)
    share = totals / np.maximum(totals.sum(axis=1, keepdims=True), 1)
    rare = np.zeros(rows, np.uint8)
    for code in WAIT_CODES:
        rare |= np.where((share[:, code] < RARE_SHARE) & (totals[:, code] > 0), 1 << code, 0).astype(np.uint8)
    return TimelineIndex(offsets, start_ps, state, codes, end_ps, levels, totals, rare)


def index_of_run(run: Run, progress: Callable[[float], None] = lambda fraction: None) -> TimelineIndex | None:
    """The index over every block of a traced run, in the manifest's order; None for a run without a trace."""
    if "intervals" not in run.tables or "interval_offsets" not in run.tables:
        return None
    intervals = run.tables["intervals"]
    offsets = np.asarray(run.tables["interval_offsets"]["offset"], np.int64)
    codes = np.stack([state_codes(block) for block in run.manifest.blocks]) if run.manifest.blocks else None
    if codes is None or len(offsets) != len(codes) + 1 or not len(intervals["start_ps"]):
        return None
    starts = np.asarray(intervals["start_ps"], np.int64)
    states = np.asarray(intervals["state"], np.uint8)
    return build_index(starts, states, offsets, codes, run.manifest.time_ps, progress)


def state_codes(block: Block) -> Bytes:
    """The category code of every state index of a block (256 entries)."""
    codes = np.zeros(256, np.uint8)
    for state in block.states:
        codes[state.index] = category_code(state.category)
    return codes


def _bin_times(starts: Picoseconds, codes: Bytes, bin_ps: int, bins: int, end_ps: int) -> Picoseconds:
    """Picoseconds of each category in each bin, shape (categories, bins): the sum over a bin is the bin's time."""
    times = np.zeros((len(CATEGORIES), bins), np.int64)
    if not len(starts):
        return times
    for first in range(0, bins, _CHUNK_BINS):
        last = min(first + _CHUNK_BINS, bins)
        edges = (np.arange(first, last + 1, dtype=np.int64) * bin_ps).clip(int(starts[0]), end_ps)
        low = max(int(np.searchsorted(starts, edges[0], "right")) - 1, 0)
        high = max(int(np.searchsorted(starts, edges[-1], "left")), low + 1)
        part, kinds = starts[low:high], codes[low:high]
        spans = np.diff(part, append=starts[high] if high < len(starts) else end_ps)
        where = np.searchsorted(part, edges, "right") - 1
        into, at = edges - part[where], kinds[where]
        for code in np.flatnonzero(np.bincount(kinds, minlength=len(CATEGORIES))):
            before = np.zeros(len(part) + 1, np.int64)
            np.cumsum(np.where(kinds == code, spans, 0), out=before[1:])
            times[code, first:last] = np.diff(before[where] + np.where(at == code, into, 0))
    return times


def _fill(levels: Sequence[Level], row: int, times: Picoseconds) -> None:
    for level in levels:
        if level is not levels[0]:
            times = times[:, 0::2] + times[:, 1::2]
        some = times > 0
        dominant = times.argmax(axis=0).astype(np.uint8)
        dominant[~some.any(axis=0)] = NOTHING
        level.dominant[row] = dominant
        level.present[row] = np.packbits(some[::-1], axis=0, bitorder="big")[0] >> (8 - len(CATEGORIES))


@dataclass(frozen=True)
class Pixels:
    """What each pixel of each row shows, shape (rows, width): `code` a category, `pin` a rare wait's (or NOTHING).

    `cut` marks pixels at which an interval begins that is wide enough to be told from the one before it.
    """

    code: Bytes
    pin: Bytes
    cut: NDArray[np.bool_]
    exact: bool


def sample(
    index: TimelineIndex, rows: Sequence[int], from_ps: float, pixel_ps: float, width: int, coarse: bool = False
) -> Pixels:
    """Reduce rows to pixels of `pixel_ps` from `from_ps` on: exactly, or from a level whose bins are no wider.

    With `coarse` the finest level is used even where its bins are wider than a pixel: quick, for while things move.
    """
    shape = (len(rows), width)
    pixels = Pixels(
        np.full(shape, NOTHING, np.uint8),
        np.full(shape, NOTHING, np.uint8),
        np.zeros(shape, np.bool_),
        not coarse and pixel_ps < index.levels[0].bin_ps,
    )
    if pixels.exact:
        for at, row in enumerate(rows):
            _exact_row(index, row, from_ps, pixel_ps, pixels, at)
    else:
        _level_rows(index, rows, from_ps, pixel_ps, pixels)
    return pixels


def _exact_row(index: TimelineIndex, row: int, from_ps: float, pixel_ps: float, out: Pixels, at: int) -> None:
    starts, states = index.row(row)
    width = out.code.shape[1]
    to_ps = min(from_ps + pixel_ps * width, index.end_ps)
    # integer keys: numpy would turn the whole row into floats for others
    low, high = np.searchsorted(starts, np.array((from_ps, to_ps), np.int64), "right")
    low = max(int(low) - 1, 0)
    if high <= low:
        return
    codes = index.codes[row][states[low:high]]
    edges = np.empty(high - low + 1)
    edges[:-1] = starts[low:high]
    edges[-1] = min(starts[high] if high < len(starts) else index.end_ps, to_ps)
    cells = np.clip(np.rint((edges - from_ps) / pixel_ps), 0, width).astype(np.int64)
    spans = np.diff(cells)
    out.code[at, cells[0] : cells[-1]] = np.repeat(codes, spans)
    wide = np.flatnonzero((spans[1:] >= 4) & (spans[:-1] >= 4))
    out.cut[at, cells[1 + wide]] = True
    if index.rare[row]:
        hidden = np.flatnonzero((spans == 0) & ((index.rare[row] >> codes) & 1).astype(bool))
        out.pin[at, cells[hidden].clip(0, width - 1)] = codes[hidden]


def _level_rows(index: TimelineIndex, rows: Sequence[int], from_ps: float, pixel_ps: float, out: Pixels) -> None:
    width = out.code.shape[1]
    fitting = [level for level in index.levels if level.bin_ps <= pixel_ps]
    level = fitting[-1] if fitting else index.levels[0]
    coarser = index.levels[min(len(fitting), len(index.levels) - 1)]
    edges = from_ps + pixel_ps * np.arange(width + 1)
    centres = (edges[:-1] + edges[1:]) / 2
    inside = np.flatnonzero((centres >= 0) & (centres < index.end_ps))
    if not len(inside):
        return
    part = slice(inside[0], inside[-1] + 1)
    bins = (centres[part] / level.bin_ps).astype(np.int64).clip(0, level.dominant.shape[1] - 1)
    last = coarser.present.shape[1] - 1
    left = (edges[:-1][part] / coarser.bin_ps).astype(np.int64).clip(0, last)
    right = (np.nextafter(edges[1:][part], 0) / coarser.bin_ps).astype(np.int64).clip(0, last)
    worst = _worst_by_bits()
    for at, row in enumerate(rows):
        np.take(level.dominant[row], bins, out=out.code[at, part])
        if rare := index.rare[row]:
            bits = (coarser.present[row].take(left) | coarser.present[row].take(right)) & rare
            pin = worst.take(bits)
            out.pin[at, part] = np.where(pin == out.code[at, part], NOTHING, pin)


def _worst_by_bits() -> Bytes:
    """For every set of categories the one to show: a wait to send before a wait to receive, or NOTHING."""
    worst = np.full(256, NOTHING, np.uint8)
    bits = np.arange(256)
    for code in WAIT_CODES:
        worst[(bits >> code) & 1 == 1] = code
    return worst


def most_at_once(index: TimelineIndex, rows: Sequence[int], code: int, from_ps: float, to_ps: float) -> int | None:
    """The most of `rows` that are in a category at the same time, exactly; None where counting would take long."""
    begins: list[Picoseconds] = []
    ends: list[Picoseconds] = []
    counted = 0
    for row in rows:
        starts, states = index.row(row)
        low, high = np.searchsorted(starts, np.array((from_ps, to_ps), np.int64), "right")
        low = max(int(low) - 1, 0)
        counted += int(high) - low
        if counted > _MOST_COUNTED:
            return None
        mine = np.flatnonzero(index.codes[row][states[low:high]] == code) + low
        begins.append(starts[mine])
        following = np.minimum(mine + 1, len(starts) - 1)
        ends.append(np.where(mine + 1 < len(starts), starts[following], index.end_ps))
    times = np.concatenate((*ends, *begins))  # at one time ends come first: a stable sort keeps that
    steps = np.concatenate((np.full(sum(map(len, ends)), -1), np.full(sum(map(len, begins)), 1)))
    return int(np.cumsum(steps[np.argsort(times, kind="stable")]).max(initial=0))


def shares_over_time(index: TimelineIndex, row: int, bins: int) -> NDArray[np.float64]:
    """A row's share of each category over the whole run, shape (categories, bins): for overviews."""
    starts, states = index.row(row)
    bin_ps = max(1, -(-index.end_ps // bins))
    times = _bin_times(starts, index.codes[row][states], bin_ps, bins, index.end_ps)
    return times / np.maximum(times.sum(axis=0), 1)
