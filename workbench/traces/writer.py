"""Traces written in chunks, so that what a run leaves behind never has to fit into memory."""

from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from workbench.formats.columns import TableWriter
from workbench.model.run_tables import Table


class TraceWriter:
    """Writes table `intervals` below a folder of tables, chunk by chunk (`workbench.traces.trace`). Raises OSError.

    `states` is the most that a block has.
    """

    def __init__(self, tables: Path, states: int) -> None:
        kind = np.min_scalar_type(states - 1).str  # the least that distinguishes so many
        self._intervals = TableWriter(tables / "intervals", {"start_ps": "i8", "state": kind})
        self._counts: list[NDArray[np.int64]] = []

    def append(self, start_ps: NDArray[np.int64], state: NDArray[np.integer], counts: NDArray[np.int64]) -> None:
        """A chunk: the intervals of its rows, one row after the other, and how many each row has.

        Rows that come to be known later are before those of earlier chunks: a chunk's counts are of the last rows.
        """
        self._intervals.append({"start_ps": start_ps, "state": state})
        self._counts.append(counts)

    def close(self, rows: int) -> dict[str, Table]:
        """Finish, with so many rows in all; the tables `intervals`, mapped, and `interval_offsets`."""
        counts = [np.concatenate((np.zeros(rows - len(chunk), np.int64), chunk)) for chunk in self._counts]
        offsets = np.concatenate(([0], *counts)).cumsum().astype(np.int64)
        return {"intervals": self._intervals.close(), "interval_offsets": {"offset": offsets}}
