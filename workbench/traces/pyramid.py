"""Pyramids of time bins over a trace, made once and kept beside the run's tables.

For every bin `dominant` has the category that took most of it, `present` a bit for every category that occurs in it at
all, so that a stall of a single cycle is still known when a pixel is a second wide. One coarse level keeps the times
themselves, so that sums over any stretch of time are exact and quick.
"""

from __future__ import annotations

import os
import shutil
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any
from zlib import crc32

import numpy as np
from numpy.typing import NDArray

from workbench.formats.columns import DamagedError, read_column
from workbench.traces.trace import CATEGORIES, NOTHING, Bytes, Picoseconds, Trace

FOLDER = "pyramid"  # beside a run's `tables`
VERSION = 1
#: A trace with fewer intervals has its pyramid built in the blink of an eye, and none is kept.
KEPT_FROM = 1_000_000
_INTERVALS_PER_BIN = 8.0
_LEAST_BINS, _COARSEST_BINS, _SUM_BINS = 512, 128, 1024
_WINDOW_BINS, _WINDOW_LEVELS = 1 << 14, 7  # so many bins of a row are summed at a time, to so many levels


Times = NDArray[np.float64]


@dataclass(frozen=True)
class Level:
    """One level: bins of `bin_ps`, arrays of shape (rows, bins)."""

    bin_ps: int
    dominant: Bytes
    present: Bytes


@dataclass(frozen=True)
class Shape:
    """Levels of `bins` bins of 2**`shift` picoseconds and half as many each time; sums are of level `sums`."""

    rows: int
    shift: int
    bins: tuple[int, ...]
    sums: int

    @classmethod
    def of(cls, trace: Trace) -> Shape:
        end = max(trace.end_ps, 1)
        wanted = max(_LEAST_BINS, trace.intervals / max(trace.rows, 1) / _INTERVALS_PER_BIN)
        shift = max(0, int(end / wanted).bit_length() - 1)
        bins = ((end - 1) >> shift) + 1
        levels = max(1, (bins // _COARSEST_BINS).bit_length())
        bins = -(-bins >> (levels - 1)) << (levels - 1)
        counts = tuple(bins >> level for level in range(levels))
        return cls(trace.rows, shift, counts, next((k for k, n in enumerate(counts) if n <= _SUM_BINS), levels - 1))


@dataclass(frozen=True)
class Pyramid:
    """`dominant` and `present` have shape (rows, bins of all levels, the finest first). `times_ps` has shape (rows,
    categories, bins of `sum_ps`) and is exact."""

    shape: Shape
    dominant: Bytes
    present: Bytes
    times_ps: Picoseconds

    @cached_property
    def levels(self) -> tuple[Level, ...]:
        """Finest first, each with bins twice as long as the one before."""
        ends = np.cumsum(self.shape.bins).tolist()
        parts = [slice(end - count, end) for end, count in zip(ends, self.shape.bins, strict=True)]
        return tuple(
            Level(1 << (self.shape.shift + k), self.dominant[:, part], self.present[:, part])
            for k, part in enumerate(parts)
        )

    @property
    def sum_ps(self) -> int:
        return 1 << (self.shape.shift + self.shape.sums)

    @property
    def bytes(self) -> int:
        return int(self.dominant.nbytes + self.present.nbytes + self.times_ps.nbytes)


def build_pyramid(trace: Trace) -> Pyramid:
    """Sum every interval up, once."""
    shape = Shape.of(trace)
    size = (shape.rows, sum(shape.bins))
    pyramid = Pyramid(
        shape,
        np.full(size, NOTHING, np.uint8),
        np.zeros(size, np.uint8),
        np.zeros((shape.rows, len(CATEGORIES), shape.bins[shape.sums]), np.int64),
    )
    split = min(_WINDOW_LEVELS, len(shape.bins) - 1)
    for row in range(shape.rows):
        windows = [
            _fill(pyramid, row, _window(trace, shape, row, first), range(split + 1), first)
            for first in range(0, shape.bins[0], _WINDOW_BINS)
        ]
        _fill(pyramid, row, np.concatenate(windows, axis=1), range(split, len(shape.bins)), 0)
    return pyramid


def _window(trace: Trace, shape: Shape, row: int, first: int) -> Times:
    """Picoseconds of each category in each bin of a window from bin `first` on, shape (categories, bins)."""
    bins = min(_WINDOW_BINS, shape.bins[0] - first)
    begin, end = first << shape.shift, min((first + bins) << shape.shift, trace.end_ps)
    if begin >= end:
        return np.zeros((len(CATEGORIES), bins))
    edges, states = trace.between(row, begin, end)
    return bin_times(edges.clip(begin, end) - begin, trace.codes[row][states], shape.shift, bins)


def bin_times(edges: Picoseconds, codes: Bytes, shift: int, bins: int) -> Times:
    """Picoseconds of each category in each of `bins` bins of 2**`shift`, shape (categories, bins).

    Sums are exact: they are whole, and none is above 2**53.
    """
    if not len(codes):
        return np.zeros((len(CATEGORIES), bins))
    bin_of = edges >> shift
    first, last = bin_of[:-1], bin_of[1:]
    spans = np.diff(edges)
    row_of = codes.astype(np.int64) * (bins + 1)  # a bin more: the last edge may be at its end
    over = np.flatnonzero(last > first)
    spans[over] = ((first[over] + 1) << shift) - edges[over]
    times = np.bincount(row_of + first, weights=spans, minlength=len(CATEGORIES) * (bins + 1))
    times[(row_of + last)[over]] += edges[over + 1] - (last[over] << shift)  # every bin is entered once
    long = over[last[over] > first[over] + 1]
    whole = last[long] - first[long] - 1
    starts = np.repeat(row_of[long] + first[long] + 1 - np.cumsum(whole) + whole, whole)
    times[starts + np.arange(len(starts))] = 1 << shift
    return np.asarray(times.reshape(len(CATEGORIES), bins + 1)[:, :bins], np.float64)


def _fill(pyramid: Pyramid, row: int, times: Times, levels: range, first: int) -> Times:
    """Fill a row's `levels` from bin `first` of the first of them on, whose times are given; the last one's times."""
    present = np.zeros(times.shape[1], np.uint8)
    for code in range(len(times)):
        present |= (times[code] > 0).view(np.uint8) << np.uint8(code)
    for level in levels:
        if level > levels[0]:
            times, present, first = times[:, 0::2] + times[:, 1::2], present[0::2] | present[1::2], first >> 1
        part = slice(first, first + times.shape[1])
        pyramid.levels[level].dominant[row, part] = _most(times)
        pyramid.levels[level].present[row, part] = present
        if level == pyramid.shape.sums:
            pyramid.times_ps[row, :, part] = times
    return times


def _most(times: Times) -> Bytes:
    """The category that takes most of each bin, the first of equals; NOTHING where none takes any."""
    ranked = times.astype(np.int64) * 8  # three bits distinguish equals
    ranked += np.arange(7, 7 - len(times), -1)[:, None]
    best = ranked.max(axis=0)
    return np.where(best < 8, NOTHING, 7 - (best & 7)).astype(np.uint8)


def kept_pyramid(folder: Path, trace: Trace) -> Pyramid | None:
    """The pyramid that was kept in a run's folder; None where there is none, or it is not this trace's or damaged."""
    shape = Shape.of(trace)
    try:
        key, dominant, present, times_ps = (
            np.asarray(read_column(folder / FOLDER / f"{name}.npy", kind)) for name, kind in _COLUMNS.items()
        )
        pyramid = Pyramid(
            shape,
            dominant.reshape(shape.rows, sum(shape.bins)),
            present.reshape(shape.rows, sum(shape.bins)),
            times_ps.reshape(shape.rows, len(CATEGORIES), shape.bins[shape.sums]),
        )
    except (DamagedError, ValueError):
        return None
    return pyramid if np.array_equal(key, _key(trace, pyramid)) else None


def keep_pyramid(folder: Path, trace: Trace, pyramid: Pyramid) -> bool:
    """Keep a pyramid in a run's folder; False where that cannot be written to, which costs the next opening time."""
    columns: tuple[NDArray[Any], ...] = (_key(trace, pyramid), pyramid.dominant, pyramid.present, pyramid.times_ps)
    try:
        with TemporaryDirectory(dir=folder, prefix=f".{FOLDER}.", ignore_cleanup_errors=True) as temporary:
            part = Path(temporary) / FOLDER
            part.mkdir()
            for (name, kind), column in zip(_COLUMNS.items(), columns, strict=True):
                np.save(part / f"{name}.npy", column.astype(kind, copy=False).reshape(-1), allow_pickle=False)
            shutil.rmtree(folder / FOLDER, ignore_errors=True)
            os.replace(part, folder / FOLDER)
    except OSError:
        return False
    return True


_COLUMNS = {"key": "i8", "dominant": "u1", "present": "u1", "times_ps": "i8"}


def _key(trace: Trace, pyramid: Pyramid) -> Picoseconds:
    """What a kept pyramid must agree with: the trace that it was made of, and its own bytes."""
    of_trace = crc32(np.ascontiguousarray(trace.offsets).data)
    for codes in trace.codes:
        of_trace = crc32(codes.data, of_trace)
    own = (crc32(np.ascontiguousarray(a).data) for a in (pyramid.dominant, pyramid.present, pyramid.times_ps))
    shape = pyramid.shape
    facts = [VERSION, shape.rows, trace.intervals, trace.end_ps, shape.shift, len(shape.bins), of_trace, *own]
    return np.array(facts, np.int64)
