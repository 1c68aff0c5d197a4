"""Agents in a run's designs: they count the project's questions there, and give the run further tables."""

from collections.abc import Sequence
from fractions import Fraction
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from workbench.api import HdlBuild
from workbench.api.brought import brought
from workbench.api.instrument.board import settings_of
from workbench.api.queries import CountsInDesign, ReadAgents
from workbench.api.records import of_fpga, read_end
from workbench.api.virtual_time import ClockFrame
from workbench.model.cycles import period_ps
from workbench.model.diagnostic import Diagnostic
from workbench.model.platform import Platform
from workbench.model.run import RunClock
from workbench.model.run_tables import Table
from workbench.run.cards import words_of_each


def counting() -> CountsInDesign | None:
    """The plugin that builds agents; None if there is none."""
    return next((plugin for plugin in brought("queries") if isinstance(plugin, CountsInDesign)), None)


def clocks_of_platform(platform: Platform) -> dict[str, float]:
    """The frequency (Hz) of each clock of a platform, by name."""
    return {clock.name: clock.frequency_hz for clock in platform.hardware.clocks} if platform.hardware else {}


def agent_tables(
    raw: Path, hdl: HdlBuild, words: NDArray[np.uint32] | None, platform: Platform, clocks: Sequence[RunClock]
) -> tuple[dict[str, Table], tuple[Diagnostic, ...]]:
    """The tables of what agents counted, and diagnostics for what they could not count; none if no words were read."""
    counter = counting()
    if words is None or counter is None or not any(one.agent for one in hdl.each):
        return {}, ()
    frames = {clock.name: _frame(clock) for clock in clocks}
    read, first = list[ReadAgents](), 0
    for place, (_, one, own_words) in zip(hdl.places, words_of_each(hdl, words), strict=True):
        own_frames = {name.removeprefix(place): frame for name, frame in frames.items()} if place else frames
        settings = read_end(raw / of_fpga("board.txt", len(read))).get("agent", "")
        switched = settings_of(settings, len(read)) or (one.agent.switched if one.agent else {})
        read.append(ReadAgents(place, one, own_words, own_frames, first, switched))
        first += len(one.fifos)
    tables, problems = counter.counted_in(read, clocks_of_platform(platform))
    return dict(tables), problems


def _frame(clock: RunClock) -> ClockFrame:
    """A clock's measured frame for the whole run."""
    rate_ps, start_ps = period_ps(clock.frequency_hz), Fraction(clock.start_ps)
    return ClockFrame(0, clock.cycles, rate_ps, start_ps, uncertainty_ps=clock.uncertainty_ps)
