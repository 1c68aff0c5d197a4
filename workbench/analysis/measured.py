"""A run as rules see it: its blocks and calls, and each host thread's time by what it goes with."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property

from workbench.analysis.host_times import HostTimes
from workbench.api.metrics import HostSide, Metrics, Waiting
from workbench.api.results import BlockMetrics, CallMetrics
from workbench.model.blocks import Side
from workbench.model.platform import Platform
from workbench.model.pragma import COMMUNICATION
from workbench.model.run import Run


@dataclass(frozen=True)
class Measured:
    """What rules are held against. `metrics` are those that they may name, `threshold` the least speedup reported."""

    run: Run
    platform: Platform | None
    blocks: tuple[BlockMetrics, ...]
    calls: tuple[CallMetrics, ...]
    metrics: Metrics
    threshold: float

    @cached_property
    def times(self) -> HostTimes:
        return HostTimes(self.run, self.blocks, self.calls)

    @cached_property
    def _sides(self) -> dict[str, HostSide]:
        return {b.block.id: self._side(b) for b in self.blocks if b.block.side is Side.HOST}

    def _side(self, block: BlockMetrics) -> HostSide:
        mine = [c for c in self.calls if c.block == block.block.id]
        waiting, hidden_s = self.times.all_waiting(block, mine)
        transfer_s = max(block.time_of(*COMMUNICATION) - hidden_s, 0.0)
        return HostSide(max(self.run.time_s - transfer_s - waiting.total_s, 0.0), transfer_s, waiting)

    def host_of(self, block: BlockMetrics) -> HostSide:
        """The thread itself; for hardware, the thread that waits least among those that wait, or else the first."""
        if block.block.id in self._sides:
            return self._sides[block.block.id]
        waiting = [side for side in self._sides.values() if side.waiting.total_s > 0]
        sides = sorted(waiting, key=lambda side: side.waiting.total_s) or list(self._sides.values())
        return sides[0] if sides else HostSide(0.0, 0.0, Waiting(self.run.time_s, self.run.time_s))

    def at_most(self, left_s: float) -> float:
        """What is gained at most where the run takes at least `left_s`: T over that; infinite where nothing is known to
        stay, and 1 where nothing can go."""
        if math.isnan(left_s):
            return math.nan
        return max(self.run.time_s / left_s, 1.0) if left_s > 0 else math.inf
