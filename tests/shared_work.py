"""Made-up runs, of which nothing of replay finds the times: a host that deals items out to cores, as many as are asked
for (`made`), and one that polls until words have passed a FIFO of a depth (`through_fifo`).

The host begins an item on a core with its data and a start, and finishes it with polls and a read of the results, each
core in turn. A core begins in the cycle after the one that ends the start, and works CYCLES of them.
"""

from dataclasses import replace

import numpy as np

from workbench.api.tables import table_of, trace_tables
from workbench.model.blocks import Block, Side, State
from workbench.model.platform import Platform
from workbench.model.pragma import CPU, UNCLASSIFIED, Category
from workbench.model.run import Entry, Manifest, Run, RunClock, RunStatus, Site
from workbench.model.streams import Fifo, Stream
from workbench.model.transfer_time import transfer_ps

ITEMS, CYCLES, BEFORE_PS, GAP_PS, PERIOD_PS, PACE = 7, 9000, 2_000_000, 6_000, 10_000, 80
CALLS = ("put", "start", "poll", "get")
BYTES = (256, 4, 4, 128)
GROUP = "top.core[*].ctrl"


def made(cores: int, platform: Platform) -> Run:
    """A run with so many cores. `platform` is that of `workbench.testing`."""
    host = _Host(platform)
    call = host.call
    worked: list[list[tuple[int, int]]] = [[] for _ in range(cores)]
    for number in range(ITEMS + cores):
        core = number % cores
        if 0 <= number - cores < ITEMS:
            seen = call(2, core, BEFORE_PS)
            while seen < worked[core][-1][1]:
                seen = call(2, core, GAP_PS)
            call(3, core, BEFORE_PS)
        if number < ITEMS:
            call(0, core, BEFORE_PS)
            begin = call(1, core, BEFORE_PS) + 2
            worked[core].append((begin, begin + CYCLES))
    return _run(host.rows, worked, host.now_ps + BEFORE_PS)


class _Host:
    """Its calls so far."""

    def __init__(self, platform: Platform) -> None:
        self.tables, self.rows, self.now_ps = platform.transfer_tables, list[dict[str, int]](), 0

    def call(self, which: int, core: int, own_ps: int) -> int:
        """Make a call after so much code; the cycle of its last word."""
        begin = self.now_ps + own_ps
        self.now_ps = begin + transfer_ps(self.tables["write" if which < 2 else "read"], BYTES[which])
        last = self.now_ps // PERIOD_PS - 1
        self.rows.append({
            "site": which, "state": which + 1, "entry": int(which > 1), "t0_ps": begin, "t1_ps": self.now_ps,
            "bytes": BYTES[which], "address": 1024 * core + 256 * which, "host_ps": own_ps, "grant_ps": begin,
            "port_first_ps": last * PERIOD_PS, "port_last_ps": last * PERIOD_PS, "call_ps": begin,
            "end_ps": self.now_ps, "parts": 1, "message": -1,
        })  # fmt: skip
        return last


def through_fifo(depth: int, platform: Platform) -> Run:
    """Four rounds: a start, polls until 64 words were taken. A maker offers one PACE cycles after the one before was
    taken from it; a taker takes 16 at a time, and rests then."""
    host, transfers = _Host(platform), list[tuple[int, int, int]]()
    for _ in range(4):
        cycle = host.call(1, 0, BEFORE_PS) + PACE
        into, out = _passed(cycle, depth)
        transfers += [(0, *one) for one in into] + [(1, *one) for one in out]
        while host.call(2, 0, GAP_PS) < out[-1][0] + 2:
            pass
        host.call(3, 0, BEFORE_PS)
    run = _run(host.rows, [], host.now_ps + BEFORE_PS)
    streams = tuple(
        Stream(name, source, target, "", 32, "clk", "", "")
        for name, source, target in (("in", "make", "words"), ("out", "words", "take"))
    )
    manifest = replace(run.manifest, streams=streams, fifos=(Fifo("words", "fifo", 0, 1, depth),))
    table = table_of("stream_transfers", sorted(transfers))
    return replace(run, manifest=manifest, tables={**run.tables, "stream_transfers": table})


def _passed(cycle: int, depth: int) -> tuple[list[tuple[int, int]], list[tuple[int, int]]]:
    """In which cycles 64 words pass the FIFO's ends, and how early they were offered, or would have been taken."""
    into: list[tuple[int, int]] = []
    out: list[tuple[int, int]] = []
    offered, ready = cycle, cycle  # since when the maker offers its word, and the taker would take one
    while len(out) < 64:
        held = len(into) - len(out)
        gives, takes = len(into) < 64 and offered <= cycle and held < depth, held > 0 and ready <= cycle
        if takes:
            there = max(into[len(out)][0] + 1, out[-1][0] + 1 if out else 0)
            out.append((cycle, max(cycle - there, 0) or min(ready - cycle, 0)))
            ready = cycle + 1 + (12 * PACE if len(out) % 16 == 0 else 0)
        if gives:
            room = out[len(into) - depth][0] + 1 if len(into) >= depth else 0
            able = max(room, into[-1][0] + 1 if into else 0)
            into.append((cycle, max(cycle - offered, 0) or min(able - cycle, 0)))
            offered = cycle + 1 + PACE
        cycle += 1
    return into, out


def _run(rows: list[dict[str, int]], worked: list[list[tuple[int, int]]], end_ps: int) -> Run:
    marks = (Category.SEND, Category.SEND, Category.WAIT_RECV, Category.RECV)
    host_states = [State(0, UNCLASSIFIED)] + [
        State(n + 1, name, category, ("data",), (GROUP,), ("m",))
        for n, (name, category) in enumerate(zip(CALLS, marks, strict=True))
    ]
    states = (
        State(0, UNCLASSIFIED),
        State(1, "idle", Category.WAIT_RECV, ("late_sender",), (CPU,), ("m",)),
        State(2, "compute", Category.WORK),
    )
    blocks = [Block("host.main", Side.HOST, "host", "thread", "host.main", tuple(host_states))]
    pieces = [(np.array([0, end_ps]), np.array([0]))]
    for core, items in enumerate(worked):
        blocks.append(Block(f"top.core[{core}].ctrl", Side.FPGA, "top", "always", GROUP, states, clock="clk"))
        edges = [cycle * PERIOD_PS for one in items for cycle in one]
        pieces.append((np.array([0, *edges, end_ps]), np.array([1, *[2, 1] * len(items)])))
    manifest = Manifest(
        name="made", status=RunStatus.COMPLETE, created="2026-01-01T12:00:00+00:00",
        clocks=(RunClock("clk", 1e12 / PERIOD_PS, cycles=end_ps // PERIOD_PS),), time_ps=end_ps, exit=0,
        blocks=tuple(blocks), resources=("bus",),
        entries=(Entry("fpgaWrite", "", "send", "write", ""), Entry("fpgaRead", "", "receive", "read", "")),
        sites=tuple(Site("made.c", 10 + n, 5, "call", name, 0) for n, name in enumerate(CALLS)),
    )  # fmt: skip
    calls = {name: np.array([row.get(name, 0) for row in rows], np.int64) for name in table_of("calls", [])}
    return Run(None, manifest, {"calls": calls, **trace_tables(pieces)})
