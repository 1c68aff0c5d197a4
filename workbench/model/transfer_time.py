"""How long a transfer lasts: one rule for the transfer-time table, exact in whole picoseconds.

Linear in time between neighbouring sizes; the first time below the first size; above the last size the last point's
rate goes on. Rounded down. `resources/card/wbcard.c` computes the same integers.
"""

from __future__ import annotations

from fractions import Fraction
from functools import lru_cache
from itertools import pairwise

from workbench.model.platform import TransferTable
from workbench.model.run import PS_PER_S


@lru_cache(maxsize=256)  # asked anew for every size
def table_points_ps(table: TransferTable) -> tuple[tuple[int, int], ...]:
    """The table's points as (bytes, picoseconds); a time is rounded to the nearest picosecond, at least 1."""
    return tuple((p.bytes, max(1, round(Fraction(str(p.time_s)) * PS_PER_S))) for p in table.points)


def transfer_ps(table: TransferTable, size_bytes: int) -> int:
    """Picoseconds that one transfer of `size_bytes` lasts once it has its link. The table needs a point."""
    points = table_points_ps(table)
    first_bytes, first_ps = points[0]
    last_bytes, last_ps = points[-1]
    if size_bytes <= first_bytes:
        return first_ps
    if size_bytes >= last_bytes:
        return last_ps * size_bytes // last_bytes
    for (low_bytes, low_ps), (high_bytes, high_ps) in pairwise(points):
        if size_bytes <= high_bytes:
            weighted = low_ps * (high_bytes - size_bytes) + high_ps * (size_bytes - low_bytes)
            return weighted // (high_bytes - low_bytes)
    raise ValueError("the table's sizes do not increase")
