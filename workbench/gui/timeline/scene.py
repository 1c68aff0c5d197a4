"""Everything a timeline shows of one run, prepared once and away from the window's thread."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from workbench.gui.timeline.rows import short_labels
from workbench.gui.timeline.scale import duration, exact_time
from workbench.model.blocks import Block, Side
from workbench.model.run import PS_PER_S, Run
from workbench.model.text import count_text
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
    text: str


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

    @property
    def blocks(self) -> tuple[Block, ...]:
        return self.run.manifest.blocks

    def period_ps(self, block: Block) -> int:
        """One cycle of a block's clock, or 0 where the run does not tell."""
        clock = self.run.manifest.clock_of(block)
        return round(PS_PER_S / clock.frequency_hz) if clock else 0


def build_scene(run: Run, progress: Callable[[float], None] = lambda fraction: None) -> Scene | None:
    """None for a run without a trace. `progress` may raise to stop."""
    index = index_of_run(run, progress)
    if index is None:
        return None
    host = [n for n, b in enumerate(run.manifest.blocks) if b.side is Side.HOST]
    main = host[0] if host else 0
    return Scene(run, index, calls_of_run(run), rare_events(run, index), main, index.shares(main))


def rare_events(run: Run, index: TimelineIndex) -> tuple[RareEvent, ...]:
    """Waits that a block was in no more than three times, the longest first, a few at most."""
    labels = short_labels([b for b in run.manifest.blocks if b.side is Side.FPGA])
    found: list[RareEvent] = []
    for row in np.flatnonzero(index.rare):
        block = run.manifest.blocks[row]
        name = labels.get(block.id, block.id.removeprefix("host."))
        clock = run.manifest.clock_of(block)
        for code in WAIT_CODES:
            if not (index.rare[row] >> code) & 1:
                continue
            for start, end in index.seldom(int(row), code, _PINNED):
                told = _span_text(end - start, clock.frequency_hz if clock else 0)
                text = f"{exact_time(start, max(index.end_ps / 1000, 1))}: {name} stalled {told}"
                found.append(RareEvent(int(row), start, end - start, text))
    return tuple(sorted(found, key=lambda event: -event.span_ps)[:_PINNED])


def _span_text(span_ps: int, clock_hz: float) -> str:
    cycles = round(span_ps * clock_hz / PS_PER_S)
    if not cycles:
        return duration(span_ps, 3)
    return f"{count_text(cycles)} cycle{'s' if cycles != 1 else ''}"
