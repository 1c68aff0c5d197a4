"""The traffic of a design's streams in a traced run, and the host's transfers that moved it, as plain arrays for
`flow.py`."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from workbench.model.cycles import period_ps, starts_ps
from workbench.model.run import Run
from workbench.model.run_tables import Table
from workbench.model.streams import Fifo, Stream

Cycles = NDArray[np.int64]


@dataclass(frozen=True)
class HostTransfer:
    """A transfer of the host, in order. Its words pass `stream` (-1: a port without a stream). It holds `bus` from
    `start_ps` to its end (empty: no bus). With `blocking` the host continues only at its end. With `wait` it waits for
    an interrupt, or for an earlier transfer, and its own time does not end it."""

    stream: int
    send: bool
    words: int
    duration_ps: int
    call_ps: int
    start_ps: int
    end_ps: int
    bus: str = ""
    blocking: bool = True
    wait: bool = False
    thread: int = 0


@dataclass(frozen=True)
class Traffic:
    """Every transfer of every stream: its cycle on its clock (`cycles`), and how many cycles before it was offered
    (`early`, see table `stream_transfers`). `clocks` are indexes of `periods_ps`, by stream; `links` the words that the
    link holds at an end of the design, by stream (0: any number)."""

    streams: tuple[Stream, ...]
    fifos: tuple[Fifo, ...]
    cycles: tuple[Cycles, ...]
    early: tuple[Cycles, ...]
    clocks: tuple[int, ...]
    periods_ps: tuple[Fraction, ...]
    host: tuple[HostTransfer, ...] = ()
    links: Mapping[int, int] = field(default_factory=dict)

    @cached_property
    def offered(self) -> tuple[Cycles, ...]:
        """The first cycle in which each transfer was offered."""
        return tuple(c - np.maximum(e, 0) for c, e in zip(self.cycles, self.early, strict=True))

    @cached_property
    def taken(self) -> tuple[Cycles, ...]:
        """The first cycle in which each transfer would have been taken."""
        return tuple(c + np.minimum(e, 0) for c, e in zip(self.cycles, self.early, strict=True))

    def most(self, fifo: Fifo) -> int:
        """The largest number of words in a FIFO."""
        return most_held(self.at_ps(fifo.input), self.at_ps(fifo.output))

    def at_ps(self, stream: int) -> Cycles:
        """The times (ps) at which a stream's transfers took effect."""
        return starts_ps(self.cycles[stream] + 1, self.periods_ps[self.clocks[stream]])

    @property
    def last(self) -> int:
        """The cycle of the last transfer on the first clock; -1 if there was none."""
        last_ps = [int(self.at_ps(number)[-1]) for number, cycles in enumerate(self.cycles) if len(cycles)]
        return cycles_before(max(last_ps), self.periods_ps[0]) - 1 if last_ps else -1


def most_held(pushes: Cycles, pops: Cycles) -> int:
    """The largest number of words present, from their arrival and leaving times, in order. A word that leaves as
    another arrives is still counted."""
    left_before = np.searchsorted(pops, pushes, side="left")
    return int((np.arange(1, len(pushes) + 1) - left_before).max(initial=0))


def cycles_before(ps: int, period_ps: Fraction) -> int:
    """The number of whole cycles before a time."""
    return ps * period_ps.denominator // period_ps.numerator


def recorded_traffic(run: Run) -> Traffic | None:
    """The traffic of a run's streams, without the host's transfers; None if the run did not record it."""
    table, manifest = run.tables.get("stream_transfers"), run.manifest
    if table is None:
        return None
    clocks_hz = {clock.name: clock.frequency_hz for clock in manifest.clocks} or {"": manifest.clock_hz}
    return traffic_of(table, manifest.streams, manifest.fifos, clocks_hz)


def traffic_of(
    table: Table, streams: Sequence[Stream], fifos: Sequence[Fifo], clocks_hz: Mapping[str, float],
    host: Sequence[HostTransfer] = (), links: Mapping[int, int] | None = None,
) -> Traffic:  # fmt: skip
    """The traffic of a run's table `stream_transfers`; `clocks_hz` are the run's clocks, the main one first."""
    order = np.argsort(table["stream"], kind="stable")
    ends = np.searchsorted(table["stream"][order], np.arange(len(streams) + 1))
    cycle, early = np.asarray(table["cycle"])[order], np.asarray(table["early"])[order].astype(np.int64)
    parts = [slice(ends[n], ends[n + 1]) for n in range(len(streams))]
    names = list(clocks_hz)
    return Traffic(
        tuple(streams),
        tuple(fifos),
        tuple(cycle[part] for part in parts),
        tuple(early[part] for part in parts),
        tuple(names.index(stream.clock) if stream.clock in names else 0 for stream in streams),
        tuple(period_ps(hz) for hz in clocks_hz.values()),
        tuple(host),
        dict(links or {}),
    )
