"""A run of ordinary RTL whose transfers are written down: ten words through a FIFO of four."""

import numpy as np

from workbench.api.tables import table_of
from workbench.model.run import Manifest, Run, RunClock, RunStatus
from workbench.model.streams import Fifo, Stream

NS = 1000
#: Ten words go into a FIFO of 4 as soon as there is room, from cycle 2 on, and leave it in every fourth cycle from 3,
#: at 10 ns a cycle. `HELD` is how long each had been offered.
INTO = np.array([2, 3, 4, 5, 6, 8, 12, 16, 20, 24])
HELD = np.array([0, 0, 0, 0, 0, 1, 3, 3, 3, 3])
OUT = np.arange(10) * 4 + 3
CYCLES = 100
WORDS = np.searchsorted(INTO, np.arange(CYCLES), "left") - np.searchsorted(OUT, np.arange(CYCLES), "left")


def fifo_run() -> Run:
    def stream(id_: str, source: str, target: str) -> Stream:
        return Stream(id_, source, target, "stream", 24, "clk", f"{id_}_valid", f"{id_}_ready", "top.v", 3)

    streams = stream("top.gen.out", "top.gen", "top.queue"), stream("top.queue.q", "top.queue", "top.use")
    streams += (stream("top.use.out", "top.use", ""),)
    manifest = Manifest(
        "made", RunStatus.COMPLETE, "2026-01-01T12:00:00+00:00", time_ps=CYCLES * 10 * NS,
        clocks=(RunClock("clk", 100e6, cycles=CYCLES),), streams=streams,
        fifos=(Fifo("top.queue", "fifo", 0, 1, 4),), traced=True,
    )  # fmt: skip
    rows = [(0, c, e) for c, e in zip(INTO.tolist(), HELD.tolist(), strict=True)]
    rows += [(number, c + late, 0) for number, late in ((1, 0), (2, 2)) for c in OUT.tolist()]
    stalls = int(HELD.sum())
    tables = {
        "streams": table_of("streams", [(0, 10, 90 - stalls, stalls, 0), (1, 10, 90, 0, 0), (2, 10, 90, 0, 0)]),
        "occupancy": table_of("occupancy", [(0, n, int((n == WORDS).sum())) for n in range(5)]),
        "stream_transfers": table_of("stream_transfers", rows),
    }
    return Run(None, manifest, tables)
