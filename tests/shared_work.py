"""Made-up runs of a host that deals items out to cores, as many as are asked for: nothing of replay finds their times.

The host begins an item on a core with its data and a start, and finishes it with polls and a read of the results, each
core in turn. A core begins in the cycle after the one that ends the start, and works CYCLES of them.
"""

from __future__ import annotations

import numpy as np

from workbench.api.tables import table_of, trace_tables
from workbench.model.blocks import Block, Side, State
from workbench.model.platform import Platform
from workbench.model.pragma import CPU, UNCLASSIFIED, Category
from workbench.model.run import Entry, Manifest, Run, RunClock, RunStatus, Site
from workbench.model.transfer_time import transfer_ps

ITEMS, CYCLES, BEFORE_PS, GAP_PS, PERIOD_PS = 7, 9000, 2_000_000, 6_000, 10_000
CALLS = ("put", "start", "poll", "get")
BYTES = (256, 4, 4, 128)
GROUP = "top.core[*].ctrl"


def made(cores: int, platform: Platform) -> Run:
    """A run with so many cores. `platform` is that of `workbench.testing`."""
    rows: list[dict[str, int]] = []
    worked: list[list[tuple[int, int]]] = [[] for _ in range(cores)]
    now = 0

    def call(which: int, core: int, own_ps: int) -> int:
        nonlocal now
        table = platform.transfer_tables["write" if which < 2 else "read"]
        begin = now + own_ps
        now = begin + transfer_ps(table, BYTES[which])
        last = now // PERIOD_PS - 1
        rows.append({
            "site": which, "state": which + 1, "entry": int(which > 1), "t0_ps": begin, "t1_ps": now,
            "bytes": BYTES[which], "address": 1024 * core + 256 * which, "host_ps": own_ps, "grant_ps": begin,
            "port_first_ps": last * PERIOD_PS, "port_last_ps": last * PERIOD_PS, "call_ps": begin, "end_ps": now,
            "parts": 1, "message": -1,
        })  # fmt: skip
        return last

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
    return _run(rows, worked, now + BEFORE_PS)


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
