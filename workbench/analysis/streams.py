"""What a run counted of the design's streams and FIFOs, as numbers for people."""

from __future__ import annotations

from collections import defaultdict

import numpy as np

from workbench.api.results import FifoMetrics, Held, StreamMetrics
from workbench.model.run import Run


def stream_metrics(run: Run) -> tuple[StreamMetrics, ...]:
    """The streams that were counted, in order; none where the run has no such table."""
    table, streams = run.tables.get("streams"), run.manifest.streams
    if table is None:
        return ()
    hz = {clock.name: clock.frequency_hz for clock in run.manifest.clocks}
    held: dict[int, list[Held]] = defaultdict(list)
    waits = run.tables.get("stream_waits", {"stream": (), "wait": (), "cycles": ()})
    for number, wait, cycles in zip(waits["stream"], waits["wait"], waits["cycles"], strict=True):
        told = streams[number].waits[wait]
        held[int(number)].append(Held(streams[told.other].id, told.signal, told.held_by, int(cycles)))
    numbers = table["stream"].tolist()
    counts = zip(*(table[name].tolist() for name in ("transfers", "source_stalls", "sink_stalls", "idle")), strict=True)
    found = []
    for number, (transfers, by_source, by_sink, idle) in zip(numbers, counts, strict=True):
        clock_hz = hz.get(streams[number].clock, run.manifest.clock_hz)
        holds = tuple(sorted(held[number], key=lambda one: -one.cycles))
        found.append(StreamMetrics(streams[number], transfers, by_source, by_sink, idle, clock_hz, holds))
    return tuple(found)


def fifo_metrics(run: Run, streams: tuple[StreamMetrics, ...]) -> tuple[FifoMetrics, ...]:
    """The FIFOs of which both sides were counted, in order, but for those that turned out to be none."""
    table = run.tables.get("occupancy")
    if table is None or not streams:
        return ()
    of_id = {metrics.stream.id: metrics for metrics in streams}
    found = []
    for number, fifo in enumerate(run.manifest.fifos):
        mine = np.flatnonzero(table["fifo"] == number)
        if len(mine):
            into, out = (of_id[run.manifest.streams[at].id] for at in (fifo.input, fifo.output))
            held = tuple(zip(table["words"][mine].tolist(), table["cycles"][mine].tolist(), strict=True))
            found.append(FifoMetrics(fifo, into, out, held))
    return tuple(found)
