"""Equal numbers distinguished quickly, in arrays of millions."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from workbench.model.run_tables import Table

Numbers = NDArray[np.int64]


def numbered(keys: NDArray[np.integer]) -> tuple[Numbers, Numbers]:
    """The different keys in order, and each key's place among them: `np.unique`, without sorting where keys are small.

    `kinds[places]` are the keys again.
    """
    if not len(keys):
        return np.zeros(0, np.int64), np.zeros(0, np.int64)
    least, most = int(keys.min()), int(keys.max())
    if most - least > 4 * len(keys) + 1_000_000:
        kinds, places = np.unique(keys, return_inverse=True)
        return kinds.astype(np.int64), places.reshape(-1).astype(np.int64)
    moved = keys.astype(np.int64) - least
    there = np.bincount(moved) > 0
    place_of = np.cumsum(there) - 1
    return np.flatnonzero(there) + least, place_of[moved]


def kinds_of(table: Table, names: Sequence[str]) -> tuple[dict[str, Numbers], Numbers]:
    """The different values of some columns together, in order, and which of them each row has. None is below -1."""
    widths = [int(table[name].max(initial=-1)) + 2 for name in names]  # of each column, with -1
    key = np.zeros(len(table[names[0]]), np.int64)
    for name, width in zip(names, widths, strict=True):
        key = key * width + (table[name] + 1)
    keys, kind_of = numbered(key)
    kinds = {}
    for name, width in zip(reversed(names), reversed(widths), strict=True):
        keys, kinds[name] = keys // width, keys % width - 1
    return kinds, kind_of


def rows_of_block(column: NDArray[np.integer], number: int) -> slice | Numbers:
    """Where a block's rows are in column `block`: all of them, in most runs' calls."""
    mine = column == number
    return slice(None) if mine.all() else np.flatnonzero(mine)
