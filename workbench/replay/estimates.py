"""Transfer times that are estimates: what predictions come to where they are off."""

from __future__ import annotations

import numpy as np

from workbench.model.platform import TransferTable
from workbench.replay.program import Program


def estimated_within(program: Program) -> float:
    """How many times longer or shorter the times of the tables that the operations go by may be; 1 where all are
    known."""
    used = [program.tables[number][1] for number in np.unique(program.ops["table"]) if number >= 0]
    return max((table.estimated_within or 1 for table in used), default=1)


def let_estimates_be(program: Program, _: object, longer: bool) -> None:
    """Make estimated times as much longer, or shorter, as they may be."""
    program.tables = [(name, _scaled(table, longer)) for name, table in program.tables]


def _scaled(table: TransferTable, longer: bool) -> TransferTable:
    if not table.estimated_within:
        return table
    factor = table.estimated_within if longer else 1 / table.estimated_within
    points = tuple(point.model_copy(update={"time_s": point.time_s * factor}) for point in table.points)
    return table.model_copy(update={"points": points})
