"""Rates of a platform's transfer tables: the rate at a size, the best rate, and the sizes that reach 95 % of it.

Times between a table's points are those of `workbench.model.transfer_time`, which the simulated card uses too.
"""

from dataclasses import dataclass

from workbench.model.platform import TransferTable
from workbench.model.run import PS_PER_S
from workbench.model.transfer_time import table_points_ps, transfer_ps

#: How near to the best rate is good enough (ReCAP 2011, section 5.1: "for example, 95%").
NEAR_BEST = 0.95


@dataclass(frozen=True)
class BestSize:
    """The best rate of a table, its size, and the range of sizes that reach `NEAR_BEST` of it.

    `high` is None if all larger sizes reach it too.
    """

    rate_bytes_per_s: float
    size: int
    low: int
    high: int | None


def transfer_time_s(table: TransferTable, size_bytes: float) -> float:
    """The time (s) of one transfer of `size_bytes`; a fractional mean size is rounded."""
    return transfer_ps(table, round(size_bytes)) / PS_PER_S


def rate_at(table: TransferTable, size_bytes: float) -> float:
    """The rate (bytes per second) of one transfer of `size_bytes`."""
    return size_bytes / transfer_time_s(table, size_bytes)


def best_size(table: TransferTable, near: float = NEAR_BEST, largest: int | None = None) -> BestSize:
    """The best size of a table, up to `largest`. Between points time is linear in size, so the rate is monotone there
    and the best size is a point (or `largest`)."""
    points = table_points_ps(table)
    if largest is not None and largest < points[-1][0]:
        points = (*(p for p in points if p[0] < largest), (largest, transfer_ps(table, largest)))
    rates = [size * PS_PER_S / time for size, time in points]
    best = max(range(len(points)), key=rates.__getitem__)
    near_rate = near * rates[best]
    low = points[0][0]
    for i in range(best, 0, -1):
        if rates[i - 1] < near_rate:
            low = _crossing(points[i - 1], points[i], near_rate, up=True)
            break
    high: int | None = None
    for i in range(best, len(points) - 1):
        if rates[i + 1] < near_rate:
            high = _crossing(points[i], points[i + 1], near_rate, up=False)
            break
    return BestSize(rates[best], points[best][0], low, high)


def _crossing(a: tuple[int, int], b: tuple[int, int], rate: float, *, up: bool) -> int:
    """The size between two points at which the rate passes `rate`, rounded to the side that reaches it."""
    (size_a, time_a), (size_b, time_b) = a, b
    slope = (time_b - time_a) / (size_b - size_a)  # picoseconds a byte
    fixed = time_a - slope * size_a
    size = rate * fixed / (PS_PER_S - rate * slope)
    rounded_size = int(size)
    return min(rounded_size + (up and rounded_size < size), size_b) if up else max(rounded_size, size_a)
