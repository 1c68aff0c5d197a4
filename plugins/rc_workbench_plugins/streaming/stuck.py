"""Diagnostics of a run that got stuck: the block that ended it, or the blocks that wait for each other and their cycle.

Of an edge that crosses a bus, the block at its beginning waits where its side's queue has no room, the one at its end
where its own side's has no element (`resources/streaming/record.hpp`, and `stream_fifo.v` by way of the card).
"""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from rc_workbench_plugins.streaming.dummies import advice
from rc_workbench_plugins.streaming.edge_queues import arrival
from rc_workbench_plugins.streaming.recorded import NOW
from rc_workbench_plugins.streaming.x_language import problem
from workbench.api import PS_PER_S, Diagnostic, Manifest, Severity, listed, time_text
from workbench.api.records import read_lines, read_records
from workbench.api.streams import Waiting, shortest_cycle
from workbench.api.unstable import StreamEdge, Topology, cycle_starts_ps

_SIGNALLED = tuple(f"({name})" for name in ("SIGSEGV", "SIGFPE", "SIGBUS", "SIGILL", "SIGABRT"))  # thread.hpp


@dataclass(frozen=True)
class Wait:
    """A block that waits at an edge since then: for room, or for an element."""

    edge: StreamEdge
    for_room: bool
    since_ps: int

    @property
    def who(self) -> str:
        return (self.edge.source if self.for_room else self.edge.sink).block

    @property
    def whom(self) -> str:
        return (self.edge.sink if self.for_room else self.edge.source).block


def waits(topology: Topology, raw: Path, run: Manifest) -> tuple[Wait, ...]:
    """All waits at a run's end. An edge at both ends of which blocks wait has elements on their way: neither is
    listed."""
    host = read_records(raw / "stream_now.bin", NOW)
    lines = (map(int, line.split()) for line in read_lines(raw / "stream_now.txt"))
    card = {queue: (room, element) for queue, room, element in lines}

    def since(number: int, fpga: str, queue: int, side: int) -> int:
        """Since when (ps) each end waits; -1 if it does not."""
        if not fpga:
            return int(host[number][side]) - 1 if number < len(host) else -1
        cycle = card.get(queue, (-1, -1))[side]
        starts = cycle_starts_ps(np.array([cycle]), run.clock_hz, run.drift_ppm_per_s)
        return int(starts[0]) if cycle >= 0 else -1

    ends = []
    for number, edge in enumerate(topology.edges):
        source, sink = topology.fpga(edge.source.block), topology.fpga(edge.sink.block)
        arrives = arrival(topology, number) if source and sink and source != sink else number
        room, element = since(number, source, number, 0), since(number, sink, arrives, 1)
        if (room >= 0) != (element >= 0):
            ends.append(Wait(edge, room >= 0, max(room, element)))
    return tuple(ends)


def stuck_diagnostics(topology: Topology, raw: Path, run: Manifest) -> tuple[Diagnostic, ...]:
    """Diagnostics of a stuck application: the block that ended the program and its exception or signal, or the shortest
    cycle with the edge to deepen, or all waits if there is no cycle."""
    name, *why = [*read_lines(raw / "stream_ended.txt"), ""]
    if at := next((block.at for block in topology.blocks if block.name == name), None):
        said = " ".join(filter(None, why))
        hint = "To see where, build the host with -fsanitize=address in host.flags."
        if not said.endswith(_SIGNALLED):
            hint = "Catch the exception in run() if the block can continue."
        return (problem(at, f"block {name} ended the application: {said}", hint),)
    ends = waits(topology, raw, run)
    known = [Waiting(wait.who, wait.whom, number, wait.for_room) for number, wait in enumerate(ends)]
    cycle = [ends[one.stream] for one in shortest_cycle(known)]
    if not cycle:
        return (Diagnostic(f"when the run ended, {_said(topology, ends)}", severity=Severity.NOTE),) if ends else ()
    full = [wait.edge for wait in cycle if wait.for_room]
    first = cycle.index(next((wait for wait in cycle if wait.for_room), cycle[0]))
    message = f"deadlock, since these blocks wait for each other: {_said(topology, (*cycle[first:], *cycle[:first]))}"
    if not full:
        return (problem(cycle[0].edge.at, message, "All wait for elements: one of them must send before it receives."),)
    deeper = ((topology.within(edge.label), edge.depth, 2 * edge.depth) for edge in full)
    names = " or ".join(f"{name} from {depth} to {twice} (depth={twice})" for name, depth, twice in deeper)
    others = advice(topology, [wait.edge for wait in cycle if not wait.for_room]) or "send earlier what others wait for"
    hint = f"Deepen {names}, and more if that is not enough. Or {others}. "
    hint += "To find the least depths: workbench streams RUN --confirm, with a traced run."
    return (problem(full[0].at, message, hint),)


def _said(topology: Topology, some: Sequence[Wait]) -> str:
    return listed([_of_one(topology, wait) for wait in some], 8)


def _of_one(topology: Topology, wait: Wait) -> str:
    who, whom, edge = (topology.within(name) for name in (wait.who, wait.whom, wait.edge.label))
    what = f"to take from {edge}, which is full" if wait.for_room else f"to give to {edge}, which is empty"
    return f"{who} waits for {whom} {what} (since {time_text(wait.since_ps / PS_PER_S)})"
