"""What observing every block of a design costs in an FPGA, as yosys counts it.

    python tests/benchmarks/hdl_overhead.py [--json] [--quick]

Both forms of the bundled 2-D PDF design are synthesised for a Virtex-4 (`synth_xilinx -family xc4v -flatten`), as they
are and with every block observed. LUTs are the cells LUT1 to LUT4 and INV, registers the cells FD*.

- `lut_pct`, `ff_pct`: what is added, as shares of an LX100's 98,304 (the paper's way of counting);
- `lut_of_design_pct`, `ff_of_design_pct`: as shares of the design;
- `block_ram`: block RAMs added; the LX100 has 240;
- `carry`: carry positions added, which in a Virtex-4 may each use up a LUT that yosys does not count;
- `fmax_pct`: by how much the clock could be faster (slower where negative), from the gate delays of a Series 7 device
  in yosys's `sta`: before placement, so without wires. A stand-in: no place and route for a Virtex-4 is free to use.

--quick takes 2 cores instead of 20.
"""

from __future__ import annotations

import argparse
import json
import re
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

from workbench.model.diagnostic import Diagnostic
from workbench.session.examples import EXAMPLES, copy_example
from workbench.session.plugins import load_plugins
from workbench.session.workspace import open_workspace
from workbench.system.toolchain import find_yosys

LUTS = REGISTERS = 98_304
TIMED = "read_verilog -specify -lib +/xilinx/cells_sim.v; sta"


def synthesise(yosys: Path, sources: Sequence[Path], top: str, parameters: dict[str, str], family: str) -> str:
    """The log of a synthesis that ends with the cells, and for Series 7 the latest arrival."""
    chosen = "; ".join(f"chparam -set {name} {value} {top}" for name, value in parameters.items())
    script = (
        f"read_verilog -sv {' '.join(map(str, sources))}; {chosen}; "
        f"synth_xilinx -family {family} -flatten -noiopad -top {top}; {TIMED if family == 'xc7' else 'stat'}"
    )
    done = subprocess.run([yosys, "-p", script], capture_output=True, text=True, check=False)
    if done.returncode:
        sys.exit(f"yosys failed:\n{done.stderr[-2000:]}")
    return done.stdout


def count(log: str, cells: str) -> int:
    last = log[log.rindex("Number of cells") :]
    return sum(int(n) for _, n in re.findall(rf"^\s+({cells})\s+(\d+)\s*$", last, re.MULTILINE))


def arrival_ps(log: str) -> int:
    found = re.search(r"Latest arrival time in '\S+' is (\d+)", log)
    return int(found[1]) if found else sys.exit("yosys told no arrival time")


def rows(yosys: Path, cores: int, folder: Path) -> Iterator[dict[str, Any]]:
    plugins = load_plugins()
    for form, example in zip(("original", "optimised"), EXAMPLES, strict=False):
        workspace = open_workspace(copy_example(example, folder), plugins)
        parameters = {**workspace.parameters(workspace.settings()), "CORES": str(cores)}
        hardware, language = workspace.project.hardware, workspace.hdl_language
        out = folder / f"{form}_observed"
        build = language.instrument(workspace.root, hardware, workspace.platform, parameters, out)
        plain = [path for name in hardware.sources for path in sorted(workspace.root.glob(name))]
        jobs = [
            (yosys, sources, hardware.top, values, family)
            for family in ("xc4v", "xc7")
            for sources, values in ((plain, parameters), (build.sources, {}))
        ]
        with ThreadPoolExecutor(2) as pool:
            before, after, before7, after7 = pool.map(lambda job: synthesise(*job), jobs)
        added = {name: count(after, cells) - count(before, cells) for name, cells in CELLS.items()}
        yield {
            "design": f"pdf2d {form}, {cores} cores",
            "language": language.name,
            "blocks": len(build.blocks),
            "states": sum(len(block.states) for block in build.blocks),
            "lut_pct": 100 * added["lut"] / LUTS,
            "ff_pct": 100 * added["ff"] / REGISTERS,
            "lut_of_design_pct": 100 * added["lut"] / count(before, CELLS["lut"]),
            "ff_of_design_pct": 100 * added["ff"] / count(before, CELLS["ff"]),
            "fmax_pct": 100 * (arrival_ps(before7) / arrival_ps(after7) - 1),
            "luts": added["lut"],
            "registers": added["ff"],
            "block_ram": added["block_ram"],
            "carry": added["carry"],
        }


CELLS = {"lut": r"LUT\d|INV", "ff": r"FD\w*", "block_ram": "RAMB16", "carry": "XORCY"}


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--quick", action="store_true")
    arguments = parser.parse_args()
    yosys = find_yosys()
    if isinstance(yosys, Diagnostic):
        sys.exit(yosys.text())
    with tempfile.TemporaryDirectory() as folder:
        result = list(rows(yosys.path, 2 if arguments.quick else 20, Path(folder)))
    if arguments.json:
        print(json.dumps({"rows": result}, indent=2))
        return
    for row in result:
        print(
            f"{row['design']}: {row['blocks']} blocks, {row['states']} states: "
            f"+{row['luts']} LUTs ({row['lut_pct']:.2f} % of the device, "
            f"{row['lut_of_design_pct']:.1f} % of the design), "
            f"+{row['registers']} registers ({row['ff_pct']:.2f} %, {row['ff_of_design_pct']:.1f} %), "
            f"+{row['block_ram']} block RAMs, +{row['carry']} carry positions, fmax {row['fmax_pct']:+.1f} %"
        )


if __name__ == "__main__":
    main()
