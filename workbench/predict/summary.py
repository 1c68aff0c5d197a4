"""What a stream of points comes to, in bounded memory: extremes, quantiles, a Pareto front. Parts can be merged."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

Values = NDArray[np.float64]
#: A double's bits shifted by this many are its exponent and the first nine bits of its fraction: buckets that are at
#: most 1/512 of their value wide.
_SHIFT = 43
_FRONT_LIMIT = 4096


@dataclass
class Spectrum:
    """One output over all points: how many, least and largest (and where), sum, and a histogram for quantiles.

    Values must not be negative. The histogram's buckets are 0.2 % wide, so quantiles are right to 0.1 %.
    """

    count: int = 0
    total: float = 0.0
    least: float = np.inf
    least_at: int = -1
    most: float = -np.inf
    most_at: int = -1
    counts: NDArray[np.int64] = field(default_factory=lambda: np.zeros(0, dtype=np.int64))
    base: int = 0

    def add(self, values: Values, first: int) -> None:
        """Take in the values of the points from `first` on."""
        low, high = int(values.argmin()), int(values.argmax())
        if values[low] < self.least:
            self.least, self.least_at = float(values[low]), first + low
        if values[high] > self.most:
            self.most, self.most_at = float(values[high]), first + high
        self.count += values.size
        self.total += float(values.sum())
        base = int(_bucket(values[low : low + 1])[0])
        buckets = _bucket(values)
        buckets -= base
        self._add_counts(np.bincount(buckets), base)

    def merge(self, other: Spectrum) -> None:
        """Take in what another part, of later points, came to."""
        if other.least < self.least:
            self.least, self.least_at = other.least, other.least_at
        if other.most > self.most:
            self.most, self.most_at = other.most, other.most_at
        self.count += other.count
        self.total += other.total
        self._add_counts(other.counts, other.base)

    def _add_counts(self, counts: NDArray[np.int64], base: int) -> None:
        if not counts.size:
            return
        if not self.counts.size:
            self.counts, self.base = counts.copy(), base
            return
        start, stop = min(self.base, base), max(self.base + self.counts.size, base + counts.size)
        if start < self.base or stop > self.base + self.counts.size:
            grown = np.zeros(stop - start, dtype=np.int64)
            grown[self.base - start : self.base - start + self.counts.size] = self.counts
            self.counts, self.base = grown, start
        self.counts[base - self.base : base - self.base + counts.size] += counts

    def quantile(self, share: float) -> float:
        """The value below which `share` of the points lie: the middle of its bucket."""
        rank = min(int(share * self.count), self.count - 1)
        bucket = self.base + int(np.searchsorted(np.cumsum(self.counts), rank, side="right"))
        edges = np.array([bucket << _SHIFT, (bucket + 1) << _SHIFT])
        middle = float(edges.view(np.float64).mean())
        return min(max(middle, self.least), self.most)

    def histogram(self) -> tuple[Values, NDArray[np.int64]]:
        """The buckets' lower edges (and the last one's upper edge), and their counts."""
        edges = np.arange(self.base, self.base + self.counts.size + 1, dtype=np.int64) << _SHIFT
        return edges.view(np.float64), self.counts


def _bucket(values: Values) -> NDArray[np.int64]:
    return np.right_shift(values.view(np.int64), _SHIFT)


@dataclass
class Front:
    """The points that no other point beats in both of two outputs, both to be small; `at` are the points' indices.

    Where there are more than 4,096 of them, they are thinned evenly and `thinned` is set.
    """

    x: Values = field(default_factory=lambda: np.zeros(0))
    y: Values = field(default_factory=lambda: np.zeros(0))
    at: NDArray[np.int64] = field(default_factory=lambda: np.zeros(0, dtype=np.int64))
    thinned: bool = False

    def add(self, x: Values, y: Values, first: int, shape: Sequence[int]) -> None:
        """Take in points from `first` on; `x` and `y` broadcast to `shape`."""
        x, y = (a.reshape((1,) * (len(shape) - a.ndim) + a.shape) for a in (x, y))
        flat = np.arange(np.prod(shape), dtype=np.int64).reshape(shape)
        whole = np.broadcast_to(y, shape)
        same = tuple(d for d in range(len(shape)) if x.shape[d] == 1 and shape[d] > 1)
        if same:  # among points of equal x only the least y can stay
            kept = [d for d in range(len(shape)) if d not in same]
            order = (*kept, *same)
            rows = np.ascontiguousarray(whole.transpose(order)).reshape(int(np.prod([shape[d] for d in kept])), -1)
            best = rows.argmin(axis=1)
            each = np.arange(len(rows))
            at = flat.transpose(order).reshape(rows.shape)[each, best]
            self._take(x.reshape(-1), rows[each, best], at + first)
            return
        self._take(*_hopeful(self, np.broadcast_to(x, shape).ravel(), whole.ravel(), first))

    def merge(self, other: Front) -> None:
        self._take(other.x, other.y, other.at)
        self.thinned |= other.thinned

    def _take(self, x: Values, y: Values, at: NDArray[np.int64]) -> None:
        x, y, at = np.concatenate([self.x, x]), np.concatenate([self.y, y]), np.concatenate([self.at, at])
        order = np.lexsort((at, y, x))
        x, y, at = x[order], y[order], at[order]
        least = np.minimum.accumulate(y)
        keep = np.ones(x.shape, dtype=bool)
        keep[1:] = y[1:] < least[:-1]
        x, y, at = x[keep], y[keep], at[keep]
        if x.size > _FRONT_LIMIT:
            some = np.linspace(0, x.size - 1, _FRONT_LIMIT).astype(int)
            x, y, at, self.thinned = x[some], y[some], at[some], True
        self.x, self.y, self.at = x, y, at


def _hopeful(front: Front, x: Values, y: Values, first: int) -> tuple[Values, Values, NDArray[np.int64]]:
    """The points that a few strong ones do not beat: cheap, and most points go before anything is sorted."""
    at = np.arange(first, first + x.size, dtype=np.int64)
    strong = Front()
    strong._take(
        *(np.concatenate([a, b[:: max(1, x.size // 512)]]) for a, b in ((front.x, x), (front.y, y), (front.at, at)))
    )
    spots = np.linspace(0, strong.x.size - 1, 15).astype(int)
    for i in spots[np.argsort(np.abs(np.arange(15) - 7), kind="stable")]:  # those in the middle beat most
        px, py, pat = strong.x[i], strong.y[i], strong.at[i]
        keep = np.flatnonzero((x < px) | (y < py) | (at == pat))
        if keep.size < x.size:
            x, y, at = x[keep], y[keep], at[keep]
    return x, y, at
