"""The states of a run's blocks over time, and as they were counted: what statements about states are answered from."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from workbench.model.blocks import Block, Side
from workbench.model.run import Run

Times = NDArray[np.int64]
Numbers = NDArray[np.int64]


@dataclass(frozen=True)
class StateEvents:
    """A block's states in order: `states[i]`, an index of its states, lasts from `edges_ps[i]` to `edges_ps[i + 1]`.
    An interval is a visit, as the run's tables count them. `uncertain_ps` is how far the times of its clock may be off
    on the host's."""

    block: Block
    edges_ps: Times
    states: Numbers
    uncertain_ps: int = 0

    @property
    def end_ps(self) -> int:
        return int(self.edges_ps[-1])


@dataclass(frozen=True)
class CountedStates:
    """A block's states as the run counted them, by state: their time and visits; `moves` has the number of transitions
    from each (a row) to each. Traces do not matter here."""

    time_ps: Numbers
    visits: Numbers
    moves: Numbers


class RunStates:
    """The states of a run's blocks by the blocks' ids, each read when it is first asked for."""

    def __init__(self, run: Run) -> None:
        self._run = run
        self._events: dict[str, StateEvents] = {}
        self._numbers = {block.id: number for number, block in enumerate(run.manifest.blocks)}

    @property
    def end_ps(self) -> int:
        return self._run.manifest.time_ps

    @cached_property
    def traced(self) -> bool:
        tables = self._run.tables
        return "interval_offsets" in tables and "intervals" in tables and bool(len(tables["intervals"]["start_ps"]))

    def events(self, block_id: str) -> StateEvents:
        """The state events of a traced run."""
        if block_id not in self._events:
            self._events[block_id] = self._read(block_id)
        return self._events[block_id]

    def counted(self, block_id: str) -> CountedStates:
        """The state counts of any run; all 0 if it has no such tables."""
        number, count = self._numbers[block_id], len(self._run.manifest.blocks[self._numbers[block_id]].states)
        time_ps, visits, moves = np.zeros(count, int), np.zeros(count, int), np.zeros((count, count), int)
        rows = _rows(self._run.tables.get("state_time"), number)
        time_ps[rows["state"]], visits[rows["state"]] = rows["time_ps"], rows["visits"]
        rows = _rows(self._run.tables.get("transitions"), number)
        moves[rows["from_state"], rows["to_state"]] = rows["count"]
        return CountedStates(time_ps, visits, moves)

    def _read(self, block_id: str) -> StateEvents:
        tables, manifest = self._run.tables, self._run.manifest
        number, rows = self._numbers[block_id], len(manifest.blocks)
        offsets = np.asarray(tables["interval_offsets"]["offset"])
        lows, highs = offsets[:-1][number::rows], offsets[1:][number::rows]
        starts, states = tables["intervals"]["start_ps"], tables["intervals"]["state"]
        parts = [slice(low, high) for low, high in zip(lows.tolist(), highs.tolist(), strict=True) if high > low]
        edges = np.concatenate([*(np.asarray(starts[part]) for part in parts), [manifest.time_ps]]).astype(np.int64)
        block = manifest.blocks[number]
        clock = next((one for one in manifest.clocks if one.name == block.clock), None)
        return StateEvents(
            block,
            edges,
            np.concatenate([np.empty(0, int), *(np.asarray(states[part]) for part in parts)]).astype(np.int64),
            clock.uncertainty_ps if clock and block.side is Side.FPGA else 0,
        )


def _rows(table: Mapping[str, NDArray[np.generic]] | None, block: int) -> dict[str, Numbers]:
    """The rows of a block, by column; none where there is no table."""
    if table is None:
        names = ("state", "time_ps", "visits", "from_state", "to_state", "count")
        return dict.fromkeys(names, np.empty(0, np.int64))
    mine = np.flatnonzero(np.asarray(table["block"]) == block)
    return {name: np.asarray(column)[mine].astype(np.int64) for name, column in table.items()}
