"""What several rows do together: the share of each category at each pixel, and where one of them waits for once."""

import numpy as np
from numpy.typing import NDArray

from workbench.traces.index import TimelineIndex
from workbench.traces.sample import count_at_once, sample, worst_by_bits
from workbench.traces.trace import CATEGORIES, NOTHING, Bytes

Shares = NDArray[np.float64]
#: Of more rows shares come from the bins of a level; of fewer each bin is looked at in so many places.
MANY_ROWS, PLACES = 200, 24


def category_shares(
    index: TimelineIndex, rows: tuple[int, ...], from_ps: float, bin_ps: float, bins: int, coarse: bool = False
) -> Shares:
    """The share of each category of the rows' time in each bin, shape (categories, bins), 0 outside of the run.

    From the pyramid's sums where a bin is no shorter than theirs (a part of one counts as its share); else by what is
    drawn of each row at `PLACES` in a bin, or, of many rows and while things move (`coarse`), by the bins of one level.
    """
    if bin_ps >= index.pyramid.sum_ps:
        sums, step = index.sums_ps(rows), index.pyramid.sum_ps
        edges = np.clip(from_ps + bin_ps * np.arange(bins + 1), 0, index.end_ps) / step
        across = np.arange(sums.shape[1])
        counted = np.diff([np.interp(edges, across, each) for each in sums], axis=1)
    else:
        many = len(rows) > MANY_ROWS
        places = 1 if many or coarse else PLACES
        wide, each_ps = bins * places, bin_ps / places
        if many:
            codes = range(len(CATEGORIES))
            counted = np.array([count_at_once(index, rows, code, from_ps, each_ps, wide) for code in codes], np.float64)
        else:
            drawn = sample(index, rows, from_ps, each_ps, wide).code
            kinds = (drawn.astype(np.int64) * bins + (np.arange(wide) // places)).reshape(-1)
            counted = np.bincount(kinds, minlength=(NOTHING + 1) * bins).reshape(-1, bins)[:NOTHING].astype(np.float64)
    shares: Shares = counted / np.maximum(counted.sum(axis=0), 1e-9)
    return shares


def rare_waits(index: TimelineIndex, rows: tuple[int, ...], from_ps: float, pixel_ps: float, width: int) -> Bytes:
    """At each pixel a wait that is rare in the row of it, or NOTHING: a stall of one cycle in an hour is among them."""
    rare = tuple(row for row in rows if index.rare[row])
    if not rare:
        return np.full(width, NOTHING, np.uint8)
    level = next((level for level in reversed(index.levels) if level.bin_ps <= pixel_ps), index.levels[0])
    present = index.rare_present(level, rare)
    last = len(present) - 1
    edges = from_ps + pixel_ps * np.arange(width + 1)
    left = (edges[:-1] / level.bin_ps).astype(np.int64).clip(0, last)
    right = (np.nextafter(edges[1:], 0) / level.bin_ps).astype(np.int64).clip(0, last)
    if pixel_ps >= level.bin_ps:
        bits = np.bitwise_or.reduceat(np.append(present, 0), np.stack((left, right + 1), axis=1).reshape(-1))[::2]
        shown: Bytes = np.where(edges[:-1] < index.end_ps, worst_by_bits().take(bits), NOTHING).astype(np.uint8)
        return shown
    there = tuple(row for row in rare if (level.present[row, left[0] : right[-1] + 1] & index.rare[row]).any())
    drawn = sample(index, there, from_ps, pixel_ps, width)
    waits = (index.rare[list(there)][:, None] >> drawn.code.clip(0, 7)) & 1 if there else np.zeros((0, width))
    each = np.where(waits.astype(bool) & (drawn.code != NOTHING), drawn.code, drawn.pin)
    rarest: Bytes = each.min(axis=0, initial=NOTHING).astype(np.uint8)
    return rarest
