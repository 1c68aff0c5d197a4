"""Estimated transfer times: predictions at the limits of their uncertainty."""

from __future__ import annotations

import numpy as np

from workbench.model.platform import TransferTable
from workbench.replay.program import Program


def estimated_within(program: Program) -> float:
    """The largest factor by which the times of the used transfer tables may be off; 1 if all are measured."""
    used = [program.tables[number][1] for number in np.unique(program.ops["table"]) if number >= 0]
    return max((table.estimated_within or 1 for table in used), default=1)


def let_estimates_be(program: Program, _: object, longer: bool) -> None:
    """Set estimated times to their upper (`longer`) or lower limits."""
    program.tables = [(name, _scaled(table, longer)) for name, table in program.tables]


def _scaled(table: TransferTable, longer: bool) -> TransferTable:
    if not table.estimated_within:
        return table
    factor = table.estimated_within if longer else 1 / table.estimated_within
    points = tuple(point.model_copy(update={"time_s": point.time_s * factor}) for point in table.points)
    return table.model_copy(update={"points": points})
