"""How well the simulated card keeps to a platform's transfer tables, over transfers of many sizes.

    python tests/benchmarks/transfer_table.py [--json] [--quick]

Blocking reads and writes of every size in the tables of the bundled Nallatech platform, of sizes between them, and
beyond the last. Expected is the straight line between neighbouring points, in exact fractions; `worst_error_pct` is the
largest difference between that and what the host's virtual clock shows, over all transfers. `bench_worst_error_pct` is
how far off the tables are, over such sizes, that `workbench template bench` writes for that platform.
"""

import itertools
import subprocess
import sys
import tempfile
from fractions import Fraction
from importlib.resources import files
from pathlib import Path

from command_line import command, show
from rc_workbench_plugins.simulated_card.card import build_card
from rc_workbench_plugins.simulated_card.host import build_host
from rc_workbench_plugins.simulated_card.simulate import simulate

from workbench.api import HdlBuild, PlatformSupport
from workbench.api.job import Job
from workbench.api.records import read_transfers
from workbench.api.targets import Task
from workbench.formats.platform_file import load_platform
from workbench.model.application import HardwareSources, HostSources, Project, ReadOut
from workbench.model.platform import Platform, TransferTable
from workbench.session.program.plugins import load_plugins

API = Path(__file__).parents[2] / "platform_templates" / "nallatech_h101"
TEMPLATE = Path(str(files("workbench.platform_templates").joinpath("nallatech_h101.yaml")))
KINDS = load_plugins().port_kinds
PS_PER_S = 10**12
QUICK_BYTES = 128 << 10

DESIGN = """
module memory(input clk, input rst, input [31:0] addr, input wr_en, input [31:0] wr_data,
              input rd_en, output reg [31:0] rd_data);
    reg [31:0] words [0:8191];
    always @(posedge clk) begin
        if (wr_en) words[addr[12:0]] <= wr_data;
        if (rd_en) rd_data <= words[addr[12:0]];
    end
endmodule
"""

HOST = """
#include "fpga.h"
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
int64_t rcw_now_ps(void);
int main(int argc, char **argv)
{
    fpga_t *fpga = fpgaOpen(0);
    uint32_t *data = calloc(4, 8 << 20);
    for (int i = 1; i < argc; i++) {
        int words = atoi(argv[i] + 1);
        int64_t before = rcw_now_ps();
        if (argv[i][0] == 'w') fpgaWrite(fpga, data, 0, words); else fpgaRead(fpga, data, 0, words);
        printf("%c %d %lld\\n", argv[i][0], words * 4, (long long)(rcw_now_ps() - before));
    }
    fpgaClose(fpga);
    return 0;
}
"""


def main() -> int:
    arguments = command(__doc__, "sizes up to 128 KiB only").parse_args()
    platform, diagnostics = load_platform(TEMPLATE, KINDS)
    if platform is None:
        sys.exit("\n".join(d.text() for d in diagnostics))
    rows = measure(platform, QUICK_BYTES if arguments.quick else (5 << 20))
    worst = max(float(row["error_pct"]) for row in rows)
    benched = bench_error_pct(platform, arguments.quick)
    show(
        {"worst_error_pct": worst, "bench_worst_error_pct": benched, "transfers": len(rows), "rows": rows},
        arguments.json,
    )
    return 0


def bench_error_pct(platform: Platform, quick: bool) -> float:
    """The largest difference between the platform's tables and those measured with its calls, over sizes between."""
    with tempfile.TemporaryDirectory() as name:
        out, largest = (
            Path(name) / "measured.yaml",
            QUICK_BYTES if quick else platform.transfer_tables["write"].points[-1].bytes,
        )
        command = [sys.executable, "-m", "workbench", "template", "bench", TEMPLATE, "--out", out]
        subprocess.run([*command, "--largest", str(largest)], check=True, stdout=subprocess.DEVNULL)
        measured, problems = load_platform(out, KINDS)
        if measured is None:
            sys.exit("\n".join(d.text() for d in problems))
    return max(
        float(abs(expected_ps(measured.transfer_tables[kind], size) / expected_ps(table, size) - 1) * 100)
        for kind, table in platform.transfer_tables.items()
        for size in sizes(table, largest)
    )


def measure(platform: Platform, largest_bytes: int) -> list[dict[str, int | float | str]]:
    tables = {"w": platform.transfer_tables["write"], "r": platform.transfer_tables["read"]}
    wanted = [f"{kind}{size // 4}" for kind, table in tables.items() for size in sizes(table, largest_bytes)]
    project = Project(
        schema_version=1,
        name="transfers",
        platform=platform.name,
        host=HostSources(sources=("host.c",), arguments=tuple(wanted)),
        hardware=HardwareSources(sources=("memory.v",), top="memory", read_out=ReadOut(first=8192, last=8200)),
    )
    support = PlatformSupport(platform.name, Path("none.yaml"), API, (API / "fpga.c",))
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "memory.v").write_text(DESIGN)
        (folder / "host.c").write_text(HOST)
        hdl = HdlBuild((folder / "memory.v",), "memory", ())
        task = Task(project, platform, folder, hdl, folder / "build", folder / "raw", support, deterministic=True)
        outcome = simulate(task, build_card(task, Job()), build_host(task, Job()), Job())
        records = read_transfers(folder / "raw").at()
    if outcome.failed or len(records) != len(wanted):
        sys.exit("\n".join(d.text() for d in outcome.diagnostics) or "transfers are missing")
    rows: list[dict[str, int | float | str]] = []
    for line in outcome.stdout.splitlines():
        kind, size, took_ps = line.split()
        expected = expected_ps(tables[kind], int(size))
        error = abs(Fraction(int(took_ps)) - expected) / expected * 100
        rows.append({"table": kind, "bytes": int(size), "took_ps": int(took_ps), "error_pct": float(error)})
    return rows


def sizes(table: TransferTable, largest_bytes: int) -> list[int]:
    """The table's own sizes, three between each two, and one above the last; whole words."""
    points = [p.bytes for p in table.points]
    between = [low + (high - low) * part // 4 for low, high in itertools.pairwise(points) for part in (1, 2, 3)]
    return sorted({size // 4 * 4 for size in (*points, *between, points[-1] * 5 // 4) if 4 <= size <= largest_bytes})


def expected_ps(table: TransferTable, size: int) -> Fraction:
    points = [(p.bytes, Fraction(str(p.time_s)) * PS_PER_S) for p in table.points]
    if size >= points[-1][0]:
        return points[-1][1] * size / points[-1][0]
    for (low, low_ps), (high, high_ps) in itertools.pairwise(points):
        if low <= size <= high:
            return low_ps + (high_ps - low_ps) * Fraction(size - low, high - low)
    return points[0][1]


if __name__ == "__main__":
    sys.exit(main())
