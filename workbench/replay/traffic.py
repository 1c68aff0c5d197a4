"""What passed a design's streams in a traced run, and what of the host moved it: plain arrays, for `flow.py`."""

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
    """A transfer of the host's, in its order. Its words pass `stream`; -1: a port without one. It holds `bus` from
    `start_ps` until its end; empty: none. `blocking`: the host goes on only at its end. `wait`: for an interrupt, or
    for what an earlier one began: it ends by something else than its own time."""

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
    """Every transfer of every stream: in which `cycles` of its clock, and how `early` it was offered (see the table
    `stream_transfers`). `clocks` are indexes of `periods_ps`, by stream; `links` the words that the link keeps at an
    end of the design's, by stream (0: any number)."""

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
        """From which cycle on each transfer was offered."""
        return tuple(c - np.maximum(e, 0) for c, e in zip(self.cycles, self.early, strict=True))

    @cached_property
    def taken(self) -> tuple[Cycles, ...]:
        """From which cycle on each would have been taken."""
        return tuple(c + np.minimum(e, 0) for c, e in zip(self.cycles, self.early, strict=True))

    def most(self, fifo: Fifo) -> int:
        """How many words a FIFO held at most."""
        return most_held(self.at_ps(fifo.input), self.at_ps(fifo.output))

    def at_ps(self, stream: int) -> Cycles:
        """When a stream's transfers took effect."""
        return starts_ps(self.cycles[stream] + 1, self.periods_ps[self.clocks[stream]])

    @property
    def last(self) -> int:
        """The first clock's cycle of the last transfer; -1 where there was none."""
        last_ps = [int(self.at_ps(number)[-1]) for number, cycles in enumerate(self.cycles) if len(cycles)]
        return cycles_before(max(last_ps), self.periods_ps[0]) - 1 if last_ps else -1


def most_held(pushes: Cycles, pops: Cycles) -> int:
    """How many words were there at most that came and went at these times, in order. One that goes as another comes is
    still there."""
    gone = np.searchsorted(pops, pushes, side="left")
    return int((np.arange(1, len(pushes) + 1) - gone).max(initial=0))


def cycles_before(ps: int, period_ps: Fraction) -> int:
    """How many cycles are over at a time."""
    return ps * period_ps.denominator // period_ps.numerator


def recorded_traffic(run: Run) -> Traffic | None:
    """The traffic of a run's streams, without the host's; None where it did not record it."""
    table, manifest = run.tables.get("stream_transfers"), run.manifest
    if table is None:
        return None
    clocks_hz = {clock.name: clock.frequency_hz for clock in manifest.clocks} or {"": manifest.clock_hz}
    return traffic_of(table, manifest.streams, manifest.fifos, clocks_hz)


def traffic_of(
    table: Table, streams: Sequence[Stream], fifos: Sequence[Fifo], clocks_hz: Mapping[str, float],
    host: Sequence[HostTransfer] = (), links: Mapping[int, int] | None = None,
) -> Traffic:  # fmt: skip
    """The traffic of a run's table `stream_transfers`; `clocks_hz` are the run's clocks, first the main one."""
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
