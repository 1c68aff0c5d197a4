"""How fast the simulated card runs an instrumented design: clocked cycles per second of processor time (host's and
card's together), beside a bare loop around Verilator's model of the design as the user wrote it.

    python tests/benchmarks/cosim_speed.py [--json] [--quick]

The design is the example's original form (2-D PDF, all its pragmas) with 1 and 20 cores, instrumented by the Verilog
plugin. Its host starts all cores, waits until they have computed, and stops them, in rounds; `busy` begins the next
round at once, `70% idle` waits so long between rounds that nothing moves in 70 % of all cycles. Routes, by turns in one
go: `bare` (the model clocked in a loop that puts the same writes, nothing else), `card` (the design as written, under
the host), `states` (instrumented), `counters` (with the hardware's counters simulated too), `traced` (every change of a
state written).
"""

import math
import os
import resource
import subprocess
import sys
import tempfile
from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import partial
from importlib.resources import files
from pathlib import Path

from command_line import command, show
from rc_workbench_plugins.ports import workbench_port_kinds
from rc_workbench_plugins.simulated_card.card import CardExecutable, build_card
from rc_workbench_plugins.simulated_card.host import build_host
from rc_workbench_plugins.simulated_card.simulate import simulate
from rc_workbench_plugins.verilog import workbench_hdl_languages

from workbench.api import HdlBuild, PlatformSupport
from workbench.api.job import Job
from workbench.api.targets import Task
from workbench.formats.platform_file import load_platform
from workbench.model.application import HardwareSources, HostSources, Project, ReadOut
from workbench.model.platform import TransferPoint, TransferTable
from workbench.model.simulation import Simulation
from workbench.system.cache import cache_dir
from workbench.system.toolchain import Tool, find_compiler, find_verilator

TEMPLATES = Path(__file__).parents[2] / "platform_templates"
EXAMPLE = Path(str(files("workbench.resources"))) / "examples" / "pdf2d" / "hdl"
CORES = (1, 20)
WORK_CYCLES = 34_000  # 512 points of 66 cycles, and a little
CALL_CYCLES = 100  # of a register write
SOURCES = ("kernel.v", "original/core.v", "original/pdf2d_top.v")

HOST = f"""
#include "fpga.h"
#include <unistd.h>
int main(void)
{{
    fpga_t *fpga = fpgaOpen(0);
    for (int round = 0; round < ROUNDS; round++) {{
        for (int core = 0; core < CORES; core++) fpgaWriteReg(fpga, core << 10 | 0x300, 1);
        usleep({WORK_CYCLES // 100});
        for (int core = 0; core < CORES; core++) fpgaWriteReg(fpga, core << 10 | 0x300, 0);
        if (PAUSE_US) usleep(PAUSE_US);
    }}
    fpgaClose(fpga);
    return 0;
}}
"""

BARE = """
#include "Vcard.h"
#include <cstdlib>
int rcw_printf(const char*, ...) { return 0; }
static VerilatedContext context;
static Vcard model(&context);
static void cycle()
{
    model.clk = 0;
    model.eval();
    model.clk = 1;
    model.eval();
}
static void write(int core, int value)
{
    model.addr = core << 10 | 0x300;
    model.wr_data = value;
    model.wr_en = 1;
    cycle();
    model.wr_en = 0;
    for (int i = 1; i < CALL_CYCLES; ++i) cycle();
}
int main(int, char** argv)
{
    const int rounds = std::atoi(argv[1]), cores = std::atoi(argv[2]), pause = std::atoi(argv[3]);
    model.rst = 1;
    for (int i = 0; i < 16; ++i) cycle();
    model.rst = 0;
    for (int round = 0; round < rounds; ++round) {
        for (int core = 0; core < cores; ++core) write(core, 1);
        for (int i = 0; i < WORK_CYCLES; ++i) cycle();
        for (int core = 0; core < cores; ++core) write(core, 0);
        for (int i = 0; i < pause; ++i) cycle();
    }
    model.final();
}
void vl_fatal(const char*, int, const char*, const char*) { std::abort(); }
void vl_warn(const char*, int, const char*, const char*) {}
"""


def main() -> int:
    arguments = command(__doc__, "a fifth of the cycles").parse_args()
    rows: list[dict[str, object]] = []
    with tempfile.TemporaryDirectory() as folder:
        os.environ["RCW_CACHE"] = str(Path(folder) / "cache")
        for cores in CORES:
            design = Design(cores, Path(folder) / str(cores))
            million = (40 if cores == 1 else 10) / (5 if arguments.quick else 1)
            for share in (0, 0.7):
                rows += design.measure(share, million * 1e6)
    show({"rows": rows}, arguments.json)
    return 0


class Design:
    """The example with so many cores: each route's card, built, and the bare loop."""

    def __init__(self, cores: int, folder: Path) -> None:
        self.cores, self.folder = cores, folder
        folder.mkdir()
        (folder / "host.c").write_text(HOST)
        kinds = {kind.name: kind for kind in workbench_port_kinds()}
        platform, _ = load_platform(TEMPLATES.parent / "platform_templates" / "nallatech_h101.yaml", kinds)
        assert platform is not None
        quick = TransferTable(direction="send", points=(TransferPoint(bytes=4, time_s=CALL_CYCLES * 1e-8),))
        platform = platform.model_copy(update={"transfer_tables": {**platform.transfer_tables, "write_reg": quick}})
        hardware = HardwareSources(
            sources=tuple(str(EXAMPLE / name) for name in SOURCES), top="pdf2d_top",
            parameters={"CORES": cores, "BINS": 8}, read_out=ReadOut(first=0x8000, last=0x800F),
        )  # fmt: skip
        project = Project(
            schema_version=1, name="pdf2d", platform="nallatech_h101", host=HostSources(sources=("host.c",)),
            hardware=hardware, simulation=Simulation(wall_limit_s=1000),
        )  # fmt: skip
        api = TEMPLATES / "nallatech_h101"
        support = PlatformSupport("pdf2d", Path("none.yaml"), api, (api / "fpga.c",))
        parameters = {"CORES": str(cores), "BINS": "8"}
        plain = HdlBuild(tuple(EXAMPLE / name for name in SOURCES), "pdf2d_top", ())
        self.task = Task(
            project, platform, folder, plain, folder, folder / "raw", support, parameters=parameters, deterministic=True
        )  # fmt: skip
        (language,) = workbench_hdl_languages()
        states = language.instrument(EXAMPLE, hardware, platform, parameters, folder / "hdl", Job())
        real = project.model_copy(update={"simulation": Simulation(wall_limit_s=1000, hardware_counters=True)})
        routes: Mapping[str, tuple[HdlBuild, Project, bool]] = {
            "card": (plain, project, False), "states": (states, project, False), "counters": (states, real, False),
            "traced": (states, project, True),
        }  # fmt: skip
        self.routes: dict[str, tuple[Task, CardExecutable]] = {}
        for name, (hdl, of_route, trace) in routes.items():
            task = replace(self.task, hdl=hdl, project=of_route, build=folder / name, trace=trace)
            self.routes[name] = (task, build_card(task, Job()))
        self.bare = _bare(folder)

    def measure(self, idle: float, cycles: float) -> list[dict[str, object]]:
        """Rows of all routes, for about so many cycles of which the share `idle` is at rest."""
        busy = WORK_CYCLES + 2 * self.cores * CALL_CYCLES
        pause = round(busy * idle / (1 - idle)) // 100 * 100
        rounds = math.ceil(cycles / (busy + pause))
        clocked = rounds * (busy + pause)
        made = self.task.project.host.model_copy(
            update={"defines": {"ROUNDS": rounds, "PAUSE_US": pause // 100, "CORES": self.cores}}
        )
        host_task = replace(self.task, project=self.task.project.model_copy(update={"host": made}))
        host = build_host(replace(host_task, build=self.folder / f"host{idle}"), Job())
        bare = [self.bare, str(rounds), str(self.cores), str(pause)]
        runs: dict[str, Callable[[], float]] = {"bare": partial(_run_bare, bare)}
        for name, (task, card) in self.routes.items():
            runs[name] = partial(_run_card, task, card, host, clocked)
        seconds: dict[str, float] = {}
        for _ in range(3):  # by turns, so that whatever else the machine does falls on all of them
            for name, once in runs.items():
                seconds[name] = min(once(), seconds.get(name, math.inf))
        return [
            {
                "design": f"{self.cores} core{'s' * (self.cores > 1)}",
                "load": f"{idle:.0%} idle" if idle else "busy",
                "route": name,
                "cycles_per_s": clocked / taken,
                "ratio_to_bare": seconds["bare"] / taken,
            }
            for name, taken in seconds.items()
        ]


def _run_card(task: Task, card: CardExecutable, host: Path, cycles: int) -> float:
    began = _children_s()
    outcome = simulate(task, card, host, Job())
    taken = _children_s() - began
    if outcome.diagnostics or not cycles <= outcome.cycles < 1.01 * cycles:
        sys.exit(f"the run went wrong: {cycles} cycles wanted: {outcome}")
    return taken


def _run_bare(command: list[str | Path]) -> float:
    began = _children_s()
    subprocess.run(command, check=True)
    return _children_s() - began


def _children_s() -> float:
    """Processor time of all programs that were started from here and have ended."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def _bare(folder: Path) -> Path:
    """The model that the card of the design as written was built from, its own objects, with a loop around them."""
    objects, binary = folder / "card" / "card" / "design_0", folder / "bare"
    compiler, verilator = find_compiler(), find_verilator()
    assert isinstance(compiler, Tool)
    assert isinstance(verilator, Tool)
    assert verilator.root is not None
    (folder / "bare.cpp").write_text(BARE)
    runtime = sorted(cache_dir().glob("verilated/*/verilated*.o"))
    parts = [*(objects / name for name in ("all_design.o", "all_slow.o")), *runtime]
    command = [
        compiler.path, "-O2", "-w", "-pthread", f"-DWORK_CYCLES={WORK_CYCLES}", f"-DCALL_CYCLES={CALL_CYCLES}",
        f"-I{objects}", f"-I{verilator.root}/include", f"-I{verilator.root}/include/vltstd", folder / "bare.cpp",
        *parts, "-o", binary,
    ]  # fmt: skip
    subprocess.run(command, check=True)
    return binary


if __name__ == "__main__":
    sys.exit(main())
