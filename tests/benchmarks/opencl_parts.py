"""What barriers, waiting values and functions of an NDRange kernel take on the Arria 10, estimated and reported by aoc.

    git clone https://github.com/esa-tu-darmstadt/AutoDock-Aurora
    python tests/benchmarks/opencl_parts.py AutoDock-Aurora [--json]

Commit a7678ce has four docking kernels with 29 barriers, groups of 32 work items, and aoc 16.1's report for the
development kit (a10gx). `memory_cost` of `platform_templates/a10_ref.yaml` has what `FITTED` kernels ask for a barrier
and for values that wait; the others were not used.

- `barriers`: memory blocks of a kernel's barriers, estimated and reported, and the reported least and most of one;
- `waiting`: those of values that wait (State and Cluster logic of the report);
- `asked`: by the kernels of `FITTED`, the bits that a work item keeps at each barrier besides its values, and the cost
  of waiting; `logic`: half of the lookup tables that a barrier, a division and a square root of floats take;
- `held_out`: by how much the sums of estimates are off for the other kernels.
"""

import json
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import numpy as np
from command_line import command, show
from opencl_reports import arria
from rc_workbench_plugins.opencl.compile import compile_file
from rc_workbench_plugins.opencl.kernel import Kernel
from rc_workbench_plugins.opencl.statistics import latencies
from rc_workbench_plugins.opencl.storage import kept_bits

COMMIT, FOLDER = "a7678ce", "ofdock_datapar_alt"
SOURCES = (
    "auxiliary", "calc_energy", "calc_initpop", "gen_and_eval_newpops", "perform_elitist_selection", "perform_ls",
    "sum_evals",
)  # fmt: skip
REPORT = "bin/docking_fpga/reports/lib/report_data.js"
FITTED = ("calc_initpop", "gen_and_eval_newpops")
PARTS = {
    "barrier": "'__acl_barrier' Function Call",
    "fp_div": "Floating Point Divide",
    "fp_sqrt": "'sqrtf' Function Call",
}


def text(folder: Path, name: str) -> str:
    shown = subprocess.run(["git", "-C", folder, "show", f"{COMMIT}:{FOLDER}/{name}"], check=True, capture_output=True)
    return shown.stdout.decode("utf-8", "replace")


def kernels(folder: Path) -> tuple[Kernel, ...]:
    with tempfile.TemporaryDirectory() as there:
        device = Path(there) / "device"
        device.mkdir()
        (Path(there) / "defines.h").write_text(text(folder, "defines.h"))
        for name in SOURCES:
            (device / f"{name}.cl").write_text(text(folder, f"device/{name}.cl"))
        return compile_file(device / "calc_initpop.cl", include=[device]).kernels


def reported(report: str) -> dict[str, dict[str, list[list[float]]]]:
    """By kernel and part of its blocks: lookup tables, registers, memory blocks and DSP blocks of each."""
    area, _ = json.JSONDecoder().raw_decode(report[report.index("areaJSON=") + len("areaJSON=") :])
    found: dict[str, dict[str, list[list[float]]]] = {}
    for function in area["functions"]:
        parts = found.setdefault(function["name"], {})
        for block in function["basicblocks"]:
            for one in block.get("resources") or []:
                parts.setdefault("waiting", []).append(one["data"])
            for line in block.get("computation") or []:
                for one in line.get("subinfos", []):
                    info = one.get("info", one)
                    parts.setdefault(info["name"], []).append(info["data"])
    return found


def rows(folder: Path) -> dict[str, Any]:
    board, parts = arria(), reported(text(folder, REPORT))
    cost, width = board.memory_cost, board.memory_block_width
    barriers, waiting = [], []
    for kernel in kernels(folder):
        waits, keeps = kept_bits(kernel, latencies(board, kernel.file))
        blocks = [data[2] for data in parts[kernel.name][PARTS["barrier"]]]
        estimate = cost.barrier * (sum(keeps.values()) + cost.barrier_bits * len(blocks)) / width
        row = {"kernel": kernel.name, "fitted": kernel.name in FITTED}
        barriers.append({**row, "barriers": len(blocks), "kept_bits": sum(keeps.values()), "estimate": estimate,
                         "reported": sum(blocks), "least": min(blocks), "most": max(blocks)})  # fmt: skip
        bits = sum(waits.values())
        blocks = [data[2] for data in parts[kernel.name]["waiting"]]
        waiting.append({**row, "bits": bits, "estimate": cost.waiting * bits / width, "reported": sum(blocks)})
    ours, others = ([row for row in barriers if row["fitted"] is fitted] for fitted in (True, False))
    asked = {
        "barrier_bits": (sum(row["reported"] for row in ours) * width - sum(row["kept_bits"] for row in ours))
        / sum(row["barriers"] for row in ours),
        "waiting": sum(row["reported"] for row in waiting if row["fitted"]) * width
        / sum(row["bits"] for row in waiting if row["fitted"]),
    }  # fmt: skip
    logic = {}
    for name, part in PARTS.items():
        tables = [data[0] / max(data[3] / 5, 1) if name == "fp_div" else data[0]
                  for every in parts.values() for data in every.get(part, ())]  # fmt: skip
        logic[name] = float(np.median(tables)) / 2
    held_out = {
        "barriers_off_pct": _off(others),
        "waiting_off_pct": _off([row for row in waiting if not row["fitted"]]),
    }
    return {"barriers": barriers, "waiting": waiting, "asked": asked, "logic": logic, "held_out": held_out}


def _off(rows: list[dict[str, Any]]) -> float:
    """By how much the sum of estimates is off."""
    return 100 * float(sum(row["estimate"] for row in rows) / sum(row["reported"] for row in rows) - 1)


def main() -> int:
    parser = command(__doc__, "the same")
    parser.add_argument("folder", type=Path, help="a clone of esa-tu-darmstadt/AutoDock-Aurora")
    arguments = parser.parse_args()
    show(rows(arguments.folder), arguments.json)
    return 0


if __name__ == "__main__":
    sys.exit(main())
