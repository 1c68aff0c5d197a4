"""How fast the simulated card runs: clocked cycles per second of wall time, against a bare loop around the same model.

    python tests/benchmarks/cosim_speed.py [--json] [--quick]

Designs of 1 and 20 multiply-accumulate cores. Routes: `bare` (Verilator's model clocked in a loop, nothing else),
`card` (the same cycles under a host program, no taps), `card, taps` (dwell histograms of every core's state),
`card, traced` (every state change written as well).
"""

from __future__ import annotations

import argparse
import json
import math
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from pathlib import Path

from rc_workbench_plugins.ports.memory import MemoryPort
from rc_workbench_plugins.simulated_card.card import CardExecutable, build_card
from rc_workbench_plugins.simulated_card.host import build_host
from rc_workbench_plugins.simulated_card.simulate import simulate

from workbench.api import HdlBuild, PlatformSupport
from workbench.api.job import Job
from workbench.api.targets import Task
from workbench.model.application import HardwareSources, HostSources, Project, ReadOut
from workbench.model.hardware import Clock, Hardware, PortDirection
from workbench.model.platform import Platform, TransferPoint, TransferTable
from workbench.system.cache import cache_dir
from workbench.system.toolchain import Tool, find_compiler, find_verilator

API = Path(__file__).parents[2] / "platform_templates" / "nallatech_h101"
CORES = (1, 20)

DESIGN = """
module core(input clk, input rst, input start, input [31:0] seed, output reg [31:0] sum, output reg [1:0] was);
    reg [1:0] state;
    reg [6:0] left;
    reg [31:0] x;
    reg [31:0] table_ [0:63];
    always @(posedge clk) begin
        was <= state;
        if (rst) begin state <= 0; sum <= 0; left <= 0; x <= 1; end
        else case (state)
            0: if (start) begin x <= seed; left <= 65; state <= 1; end
            1: begin
                x <= x * 32'd1664525 + 32'd1013904223;
                sum <= sum + x[31:16] * x[15:0];
                table_[x[31:26]] <= sum;
                left <= left - 1;
                if (left == 0) state <= 2;
            end
            default: state <= 0;
        endcase
    end
endmodule
module cores #(parameter N = 1) (
    input clk, input rst, input [31:0] addr, input wr_en, input [31:0] wr_data,
    input rd_en, output reg [31:0] rd_data
`ifdef RECAP_TAPS
    , output [2*N-1:0] recap_taps
`endif
);
    wire [32*N-1:0] sums;
    wire [2*N-1:0] was;
    reg [31:0] count;
    always @(posedge clk) begin
        count <= rst ? 0 : count + 1;
        if (rd_en) rd_data <= addr == 0 ? count : sums[32*addr[4:0] +: 32];
    end
    genvar i;
    generate for (i = 0; i < N; i = i + 1) begin : lane
        core c(.clk(clk), .rst(rst), .start(count[4:0] == i), .seed(count),
               .sum(sums[32*i +: 32]), .was(was[2*i +: 2]));
    end endgenerate
`ifdef RECAP_TAPS
    assign recap_taps = was;
`endif
endmodule
"""

HOST = """
#include "fpga.h"
#include <stdio.h>
int main(void)
{
    fpga_t *fpga = fpgaOpen(0);
    for (int i = 0; i < CALLS; i++) fpgaReadReg(fpga, 0);
    fpgaClose(fpga);
    return 0;
}
"""

BARE = """
#include "Vcard.h"
#include <cstdlib>
int main(int, char** argv)
{
    VerilatedContext context;
    Vcard model(&context);
    model.rst = 1;
    for (long i = 0, n = std::atol(argv[1]); i < n; ++i) {
        if (i == 16) model.rst = 0;
        model.clk = 0;
        model.eval();
        model.clk = 1;
        model.eval();
    }
    model.final();
}
void vl_fatal(const char*, int, const char*, const char*) { std::abort(); }
void vl_warn(const char*, int, const char*, const char*) {}
"""

US_A_READ = 100e-6


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--quick", action="store_true", help="a fifth of the cycles")
    arguments = parser.parse_args()
    cycles = 1_000_000 if arguments.quick else 5_000_000
    rows: list[dict[str, object]] = []
    with tempfile.TemporaryDirectory() as folder:
        os.environ["RCW_CACHE"] = str(Path(folder) / "cache")
        for cores in CORES:
            rows += measure(cores, cycles, Path(folder) / str(cores))
    if arguments.json:
        print(json.dumps({"rows": rows}))
    else:
        for row in rows:
            speed = f"{row['cycles_per_s']:>12,.0f} cycles/s  {row['ratio_to_bare']:.2f} of bare"
            print(f"{row['design']:10}{row['route']:14}{speed}")
    return 0


def measure(cores: int, cycles: int, folder: Path) -> list[dict[str, object]]:
    calls = cycles // round(US_A_READ * 100e6)
    platform, project = platform_and_project(calls)
    folder.mkdir()
    (folder / "cores.v").write_text(DESIGN)
    (folder / "host.c").write_text(HOST)
    support = PlatformSupport("cores", Path("none.yaml"), API, (API / "fpga.c",))
    taps = tuple((2 * i, 2) for i in range(cores))
    source = (folder / "cores.v",)
    plain = HdlBuild(source, "cores", ())
    tapped = HdlBuild(source, "cores", (), taps=taps, tap_bits=2 * cores, defines=("RECAP_TAPS",))
    task = Task(
        project, platform, folder, plain, folder, folder / "raw", support,
        parameters={"N": str(cores)}, deterministic=True,
    )  # fmt: skip
    host = build_host(task, Job())
    seconds: dict[str, float] = {}
    runs: dict[str, Callable[[], float]] = {"bare": partial(run_bare, folder, cycles)}
    for route, hdl, trace in (("card", plain, False), ("card, taps", tapped, False), ("card, traced", tapped, True)):
        this = replace(task, hdl=hdl, build=folder / route, trace=trace)
        runs[route] = partial(run_card, this, build_card(this, Job()), host, cycles)
    for _ in range(3):  # by turns, so that whatever else the machine does falls on all of them
        for route, once in runs.items():
            seconds[route] = min(once(), seconds.get(route, math.inf))
    return [
        {
            "design": f"cores_{cores}",
            "route": route,
            "cycles_per_s": cycles / taken,
            "ratio_to_bare": seconds["bare"] / taken,
        }
        for route, taken in seconds.items()
    ]


def platform_and_project(calls: int) -> tuple[Platform, Project]:
    direction = PortDirection(data_signal="wr_data", address_signal="addr", condition_hdl="wr_en")
    platform = Platform(
        schema_version=1,
        name="cores",
        hardware=Hardware(
            clocks=(Clock(name="clk", frequency_hz=100e6, reset="rst"),),
            ports=(
                MemoryPort(
                    write_enable="wr_en",
                    read_enable="rd_en",
                    incoming=direction,
                    outgoing=direction.model_copy(update={"data_signal": "rd_data", "delay_cycles": 1}),
                ),
            ),
        ),
        transfer_tables={"read_reg": TransferTable(points=(TransferPoint(bytes=4, time_s=US_A_READ),))},
    )
    project = Project(
        schema_version=1,
        name="cores",
        platform="cores",
        host=HostSources(sources=("host.c",), defines={"CALLS": calls}),
        hardware=HardwareSources(sources=("cores.v",), top="cores", read_out=ReadOut(first=100, last=103)),
    )
    return platform, project


def run_card(task: Task, card: CardExecutable, host: Path, cycles: int) -> float:
    began = time.perf_counter()
    outcome = simulate(task, card, host, Job())
    taken = time.perf_counter() - began
    if outcome.diagnostics or abs(outcome.cycles - cycles) > 100:
        sys.exit(f"the run went wrong: {outcome}")
    return taken


def run_bare(folder: Path, cycles: int) -> float:
    """The model that the card was built from, its own objects, with a loop instead of the card around them."""
    objects, binary = folder / "card" / "card" / "obj", folder / "bare"
    if not binary.exists():
        compiler, verilator = find_compiler(), find_verilator()
        assert isinstance(compiler, Tool)
        assert isinstance(verilator, Tool)
        assert verilator.root is not None
        (folder / "bare.cpp").write_text(BARE)
        runtime = sorted(cache_dir().glob("verilated/*/verilated*.o"))
        parts = [*(objects / name for name in ("all_design.o", "all_slow.o")), *runtime]
        command = [
            compiler.path, "-O2", "-w", "-pthread", f"-I{objects}", f"-I{verilator.root}/include",
            f"-I{verilator.root}/include/vltstd", folder / "bare.cpp", *parts, "-o", binary,
        ]  # fmt: skip
        subprocess.run(command, check=True)
    subprocess.run([binary, "1000"], check=True)
    began = time.perf_counter()
    subprocess.run([binary, str(cycles)], check=True)
    return time.perf_counter() - began


if __name__ == "__main__":
    sys.exit(main())
