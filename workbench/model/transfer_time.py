"""How long a transfer lasts: one rule for the transfer-time table, exact in whole picoseconds.

Linear in time between neighbouring sizes; the first time below the first size; above the last size the last point's
rate goes on. `transfer_ps` rounds down, and `resources/card/wb_config.c` computes the same integers; `transfer_s` is
the same rule for models: elementwise, of sizes that need not be whole, and not rounded.
"""

from __future__ import annotations

from functools import lru_cache
from itertools import pairwise
from typing import TYPE_CHECKING

from workbench.model.run import PS_PER_S

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from workbench.model.platform import TransferTable


@lru_cache(maxsize=256)  # asked anew for every size
def table_points_ps(table: TransferTable) -> tuple[tuple[int, int], ...]:
    """The table's points as (bytes, picoseconds); a time is rounded to the nearest picosecond, at least 1."""
    return tuple((p.bytes, max(1, round(p.time_s * PS_PER_S))) for p in table.points)


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


def transfer_s(table: TransferTable, size_bytes: float | NDArray[np.float64]) -> NDArray[np.float64]:
    """Seconds that transfers of these sizes last, each once it has its link."""
    import numpy as np  # only where a model is computed

    sizes, times = (np.array(column, dtype=np.float64) for column in zip(*table_points_ps(table), strict=True))
    within, beyond = np.interp(size_bytes, sizes, times), times[-1] * (np.asarray(size_bytes) / sizes[-1])
    return np.where(np.asarray(size_bytes) > sizes[-1], beyond, within) / PS_PER_S
