"""A plain schedule: which hardware block is in which state from which cycle on."""

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np

from workbench.api.tables import Piece, table_of
from workbench.model.run_tables import Table


@dataclass
class Lane:
    """One hardware block's states in order. `enter` ignores a state that the block is in already."""

    starts: list[int] = field(default_factory=lambda: [0])
    states: list[int] = field(default_factory=lambda: [0])

    def enter(self, cycle: int, state: int) -> None:
        if cycle < self.starts[-1]:
            raise ValueError(f"cycle {cycle} is before {self.starts[-1]}")
        if cycle == self.starts[-1]:
            self.starts.pop()
            self.states.pop()
        if not self.states or self.states[-1] != state:
            self.starts.append(cycle)
            self.states.append(state)

    def piece(self, cycles: int, period_ps: int) -> Piece:
        """Its states over time, until the end of cycle `cycles` - 1."""
        return np.array([*self.starts, cycles], np.int64) * period_ps, np.array(self.states, np.int64)


def dwell_table(lanes: Mapping[int, Lane], cycles: int) -> Table:
    """How long states lasted in the lanes of some blocks, by number."""
    rows = []
    for number, lane in lanes.items():
        states, lengths = np.array(lane.states), np.diff([*lane.starts, cycles])
        size = np.floor(np.log2(np.maximum(lengths, 1))).astype(int)
        for state, bin_ in np.unique(np.stack([states, size]), axis=1).T.tolist():
            inside = lengths[(states == state) & (size == bin_)]
            rows.append((number, state, bin_, len(inside), int(inside.sum())))
    return table_of("dwell", rows)
