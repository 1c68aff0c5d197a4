"""Rows of a trace as pixels, and what is counted of several rows at once."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from workbench.traces.index import TimelineIndex
from workbench.traces.pyramid import Level
from workbench.traces.trace import NOTHING, WAIT_CODES, Bytes, Picoseconds, Trace

Counts = NDArray[np.int64]
_MOST_COUNTED = 300_000


@dataclass(frozen=True)
class Pixels:
    """What each pixel of each row shows, shape (rows, width): `code` a category, `pin` a rare wait's (or NOTHING).

    `cut` marks pixels at which an interval begins that is wide enough to be distinguished from the one before it.
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
    width = out.code.shape[1]
    to_ps = min(from_ps + pixel_ps * width, index.end_ps)
    times, states = index.trace.between(row, from_ps, to_ps)
    if not len(states):
        return
    codes = index.trace.codes[row][states]
    edges = np.minimum(times, to_ps)
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
    level, part, bins = _bins(index, from_ps, pixel_ps, width)
    if not len(bins):
        return
    fitting = sum(level.bin_ps <= pixel_ps for level in index.levels)
    coarser = index.levels[min(fitting, len(index.levels) - 1)]
    edges = from_ps + pixel_ps * np.arange(width + 1)
    last = coarser.present.shape[1] - 1
    left = (edges[:-1][part] / coarser.bin_ps).astype(np.int64).clip(0, last)
    right = (np.nextafter(edges[1:][part], 0) / coarser.bin_ps).astype(np.int64).clip(0, last)
    worst = worst_by_bits()
    for at, row in enumerate(rows):
        np.take(level.dominant[row], bins, out=out.code[at, part])
        if rare := index.rare[row]:
            bits = (coarser.present[row].take(left) | coarser.present[row].take(right)) & rare
            pin = worst.take(bits)
            out.pin[at, part] = np.where(pin == out.code[at, part], NOTHING, pin)


def _bins(index: TimelineIndex, from_ps: float, pixel_ps: float, width: int) -> tuple[Level, slice, NDArray[np.int64]]:
    """The level whose bins are no wider than a pixel, or the finest; which pixels lie inside the run, and in which bin
    the middle of each of them."""
    level = next((level for level in reversed(index.levels) if level.bin_ps <= pixel_ps), index.levels[0])
    centres = from_ps + pixel_ps * (np.arange(width) + 0.5)
    first, stop = (int(np.searchsorted(centres, time_ps)) for time_ps in (0, index.end_ps))
    bins = (centres[first:stop] / level.bin_ps).astype(np.int64).clip(0, level.dominant.shape[1] - 1)
    return level, slice(first, stop), bins


def count_at_once(
    index: TimelineIndex, rows: Sequence[int], code: int, from_ps: float, pixel_ps: float, width: int
) -> Counts:
    """How many of `rows` are in a category at each pixel, by the bins of one level of the pyramid."""
    level, part, bins = _bins(index, from_ps, pixel_ps, width)
    counts = np.zeros(width, np.int64)
    counts[part] = index.at_once(level, tuple(rows), code)[bins]
    return counts


def worst_by_bits() -> Bytes:
    """For every set of categories the one to show: a wait to send before a wait to receive, or NOTHING."""
    worst = np.full(256, NOTHING, np.uint8)
    bits = np.arange(256)
    for code in WAIT_CODES:
        worst[(bits >> code) & 1 == 1] = code
    return worst


def most_at_once(trace: Trace, rows: Sequence[int], code: int, from_ps: float, to_ps: float) -> int | None:
    """The most of `rows` that are in a category at the same time, exactly; None where counting would take long."""
    begins: list[Picoseconds] = []
    ends: list[Picoseconds] = []
    counted = 0
    for row in rows:
        counted += trace.count(row, from_ps, to_ps)
        if counted > _MOST_COUNTED:
            return None
        edges, states = trace.between(row, from_ps, to_ps)
        mine = trace.codes[row][states] == code
        begins.append(edges[:-1][mine])
        ends.append(edges[1:][mine])
    times = np.concatenate((*ends, *begins))  # at one time ends come first: a stable sort keeps that
    steps = np.concatenate((np.full(sum(map(len, ends)), -1), np.full(sum(map(len, begins)), 1)))
    return int(np.cumsum(steps[np.argsort(times, kind="stable")]).max(initial=0))
