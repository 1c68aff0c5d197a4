"""What the agent in hardware costs in an FPGA, as yosys counts it, beside Table 4.3 of the dissertation.

    python tests/benchmarks/stream_agent_area.py [--json] [--quick]

Table 4.3's three configurations, on a Virtex-4 (`synth_xilinx -family xc4v -flatten`; the LX100 has 98,304 LUTs, as
many registers and 240 block RAMs): 1 and 4 queue monitors (histograms of occupancy of 512 bins, in frames of a second),
and 8 with 16 averagers (means of values of 32 bits). LUTs are the cells LUT1 to LUT4 and INV, registers the
cells FD*; distributed memory and shift registers, which stand in LUTs too, are told apart. --quick: without the third.
"""

import re
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from fractions import Fraction
from pathlib import Path
from typing import Any

from command_line import command, show
from rc_workbench_plugins.streaming.agents.hardware import hardware_agent
from rc_workbench_plugins.streaming.agents.joints import AgentEdge
from rc_workbench_plugins.streaming.agents.layout import AgentClock
from rc_workbench_plugins.streaming.query.measures import FrameLength, Measure, Metric, Query, Statistic

from workbench.model.diagnostic import Diagnostic
from workbench.model.topology import End, StreamEdge
from workbench.system.toolchain import find_yosys

PAPER = {(1, 0): (1655, 1260, 2), (4, 0): (3732, 2466, 8), (8, 16): (8584, 4776, 16)}
CELLS = {"luts": r"LUT\d|INV", "registers": r"FD\w*", "block_ram": "RAMB16", "lut_ram": r"RAM\d+X\w+", "srl": r"SRL\w+"}
SECOND = FrameLength(time_ps=10**12)


def agent(queues: int, averagers: int) -> dict[str, str]:
    deep = [StreamEdge(f"App.q{i}", End("a", f"y{i}"), End("b", f"x{i}"), "unsigned32", 511) for i in range(queues)]
    few = [StreamEdge(f"App.m{i}", End("a", f"z{i}"), End("b", f"w{i}"), "unsigned32", 14) for i in range(averagers)]
    occupancy = [
        Measure(
            e.label, "", Metric.OCCUPANCY, Statistic.HIST, (e.label,), frame=SECOND, bins=tuple(map(float, range(513)))
        )
        for e in deep
    ]
    means = [Measure(e.label, "", Metric.VALUE, Statistic.MEAN, (e.label,), frame=SECOND) for e in few]
    made = hardware_agent(
        Query((*occupancy, *means)), [AgentEdge(e) for e in (*deep, *few)], [AgentClock(Fraction(4000))]
    )
    assert not made.diagnostics, made.diagnostics
    return made.verilog


def synthesise(yosys: Path, texts: dict[str, str]) -> dict[str, int]:
    with tempfile.TemporaryDirectory() as folder:
        for name, text in texts.items():
            (Path(folder) / name).write_text(text)
        script = (
            f"read_verilog -sv {' '.join(texts)}; synth_xilinx -family xc4v -flatten -noiopad -top stream_agent; stat"
        )
        done = subprocess.run([yosys, "-p", script], cwd=folder, capture_output=True, text=True, check=False)
    if done.returncode:
        sys.exit(f"yosys failed:\n{done.stderr[-2000:]}")
    last = done.stdout[done.stdout.rindex("Number of cells") :]
    return {
        name: sum(int(n) for _, n in re.findall(rf"^\s+({cells})\s+(\d+)\s*$", last, re.MULTILINE))
        for name, cells in CELLS.items()
    }


def rows(yosys: Path, quick: bool) -> Iterator[dict[str, Any]]:
    for (queues, averagers), paper in PAPER.items():
        if quick and averagers:
            continue
        counts = synthesise(yosys, agent(queues, averagers))
        yield {"queue_monitors": queues, "averagers": averagers, **counts, "paper": paper}


def main() -> None:
    arguments = command(__doc__).parse_args()
    yosys = find_yosys()
    if isinstance(yosys, Diagnostic):
        sys.exit(yosys.text())
    found = list(rows(yosys.path, arguments.quick))
    show({"rows": found}, arguments.json)


if __name__ == "__main__":
    main()
