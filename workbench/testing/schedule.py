"""Tables of a run from a plain schedule: which block is in which state from which cycle on."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from workbench.model.blocks import Block
from workbench.model.run import TABLES, Table


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


def lane_tables(
    blocks: Sequence[Block], lanes: Mapping[int, Lane], cycles: int, period_ps: int
) -> dict[str, dict[str, list[int]]]:
    """`state_time`, `transitions` and `dwell` columns of hardware blocks; `lanes`: states by block number."""
    times = _columns("state_time")
    moves = _columns("transitions")
    dwell = _columns("dwell")
    for number, lane in lanes.items():
        states = np.array(lane.states)
        lengths = np.diff([*lane.starts, cycles])
        for state in range(len(blocks[number].states)):
            spent = int(lengths[states == state].sum())
            _add(times, number, state, spent * period_ps, spent, int((states == state).sum()))
            size = np.floor(np.log2(np.maximum(lengths[states == state], 1))).astype(int)
            for bin_ in np.unique(size):
                inside = lengths[states == state][size == bin_]
                _add(dwell, number, state, int(bin_), len(inside), int(inside.sum()))
        pairs, counts = np.unique(np.stack([states[:-1], states[1:]]), axis=1, return_counts=True)
        for (before, after), count in zip(pairs.T.tolist(), counts.tolist(), strict=True):
            _add(moves, number, before, after, count)
    return {"state_time": times, "transitions": moves, "dwell": dwell}


def as_table(name: str, columns: Mapping[str, Sequence[float]]) -> Table:
    return {key: np.array(columns[key], dtype=kind) for key, kind in TABLES[name].items()}


def _columns(name: str) -> dict[str, list[int]]:
    return {key: [] for key in TABLES[name]}


def _add(columns: dict[str, list[int]], *row: int) -> None:
    for column, value in zip(columns.values(), row, strict=True):
        column.append(value)
