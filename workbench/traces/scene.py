"""A traced run with all that is looked up in it, prepared once: for the timeline, statistics and comparisons."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from workbench.model.blocks import Block, Side, short_labels
from workbench.model.run import PS_PER_S, Run
from workbench.traces.buses import Bus, buses_of
from workbench.traces.calls import BlockCalls, calls_of_run
from workbench.traces.index import TimelineIndex, index_of_run
from workbench.traces.trace import WAIT_CODES

_PINNED = 3


@dataclass(frozen=True)
class RareEvent:
    """A wait that happened hardly ever, pinned on the overview."""

    block: int
    time_ps: int
    span_ps: int


@dataclass(frozen=True)
class Scene:
    """A traced run's index, calls and rare events. `main` is the block that the overview sums up: `shares` are its
    states' over the whole run, shape (categories, bins of `index.pyramid.sum_ps`)."""

    run: Run
    index: TimelineIndex
    calls: Mapping[int, BlockCalls]
    events: tuple[RareEvent, ...]
    main: int
    shares: NDArray[np.float64]
    buses: tuple[Bus, ...] = ()

    @property
    def blocks(self) -> tuple[Block, ...]:
        return self.run.manifest.blocks

    @cached_property
    def names(self) -> tuple[str, ...]:
        """What each block is called, as short as they differ."""
        labels = short_labels([block for block in self.blocks if block.side is Side.FPGA])
        return tuple(labels.get(block.id, block.id.removeprefix("host.")) for block in self.blocks)

    def period_ps(self, block: Block) -> int:
        """One cycle of a block's clock, or 0 where the run does not show it."""
        clock = self.run.manifest.clock_of(block)
        return round(PS_PER_S / clock.frequency_hz) if clock else 0


def build_scene(run: Run) -> Scene | None:
    """None for a run without a trace."""
    index = index_of_run(run)
    if index is None:
        return None
    host = [n for n, b in enumerate(run.manifest.blocks) if b.side is Side.HOST]
    main = host[0] if host else 0
    calls = calls_of_run(run)
    for each in calls.values():
        _ = each.groups  # before a view asks for them
    return Scene(run, index, calls, rare_events(index), main, index.shares(main), buses_of(run, index.trace))


def rare_events(index: TimelineIndex) -> tuple[RareEvent, ...]:
    """Waits that a block was in no more than three times, the longest first, a few at most."""
    events = [
        RareEvent(int(row), start, end - start)
        for row in np.flatnonzero(index.rare)
        for code in WAIT_CODES
        if (index.rare[row] >> code) & 1
        for start, end in index.seldom(int(row), code, _PINNED)
    ]
    return tuple(sorted(events, key=lambda event: -event.span_ps)[:_PINNED])
