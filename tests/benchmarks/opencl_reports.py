"""Memory blocks of OpenCL kernels, estimated and reported by the compiler: by the costs of the Arria 10.

    git clone https://github.com/SamyuelDanyo/OpenCLMachineLearningAcceleration danyo
    python tests/benchmarks/opencl_reports.py danyo [--json] [--quick]

The repository has a regression in several designs, each with the report of aoc for a Cyclone V of 256-word blocks
(`lib/report_data.js`). Loads, stores and the kernel's own part cost what a report of another kernel says for the Arria
10 (`platform_templates/a10_ref.yaml` names it); only the cache of constants is from these reports. `estimate` is of the
whole FPGA, `off_pct` by how much it is off. `--quick`: the first three.
"""

import json
import re
import sys
from importlib.resources import files
from pathlib import Path
from typing import Any

import numpy as np
from command_line import command, show
from opencl import floats
from rc_workbench_plugins.opencl.analysis import Analysed, analysed
from rc_workbench_plugins.opencl.compile import compile_file
from rc_workbench_plugins.opencl.launch import Launch
from rc_workbench_plugins.opencl.model import Setting
from rc_workbench_plugins.opencl.resources import needed
from rc_workbench_plugins.opencl.statistics import work_of

from workbench.formats.platform_file import load_platform
from workbench.model.kernel_board import KernelBoard

ITEMS = 10000
CYCLONE = {"memory_blocks": 514, "memory_available": 1 - 20 / 514, "memory_block_depth": 256}  # the reports' own
_AREA = re.compile(r"var areaJSON=(\{.*?\n?\})\s*;(?=\s*var|\s*$)", re.DOTALL)


def cyclone() -> KernelBoard:
    """A board with the reports' blocks and the Arria 10's costs."""
    return arria().model_copy(update=CYCLONE)


def arria() -> KernelBoard:
    platform, problems = load_platform(Path(str(files("workbench.platform_templates"))) / "a10_ref.yaml")
    assert platform is not None, problems
    assert platform.opencl is not None
    return platform.opencl


def estimated(source: Path, board: KernelBoard) -> float:
    """Memory blocks of all kernels of a file, with the board's own."""
    have, own = float(board.memory_blocks or 1), 1 - board.memory_available
    total = own
    for kernel in compile_file(source, {}, "CL1.2").kernels:
        arguments = {a.name: floats(4 * ITEMS) for a in kernel.arguments}
        launch = Launch.model_validate({"global_size": (ITEMS,), "groups": 1, "arguments": arguments})
        seen = analysed(source, kernel.name, launch, source.parent)
        work = work_of(seen.kernel, seen.root, seen.profile, board)
        share = needed(work, Setting(float(ITEMS), *_replicated(seen), {}), board).memory
        assert share is not None
        total += float(np.mean(share)) - own
    return total * have


def _replicated(seen: Analysed) -> tuple[float, float]:
    asked = seen.kernel.attributes
    return float(asked.get("num_compute_units", (1,))[0]), float(asked.get("num_simd_work_items", (1,))[0])


def reported(text: str) -> float:
    """The memory blocks that a report's area says: lookup tables, registers, memory blocks, DSP blocks."""
    area = _AREA.search(text)
    assert area is not None
    return float(json.loads(area[1])["total"][2])


def rows(folder: Path) -> list[dict[str, Any]]:
    found, board = [], cyclone()
    for source in sorted((folder / "src" / "SLR" / "C++").glob("*/*.cl")):
        blocks = reported((source.parent / "lib" / "report_data.js").read_text("utf-8", "replace"))
        estimate = estimated(source, board)
        found.append({"design": source.parent.name, "estimate": estimate, "reported": blocks,
                      "off_pct": 100 * (estimate / blocks - 1)})  # fmt: skip
    return found


def main() -> int:
    parser = command(__doc__, "the first three")
    parser.add_argument("folder", type=Path, help="a clone of SamyuelDanyo/OpenCLMachineLearningAcceleration")
    arguments = parser.parse_args()
    found = rows(arguments.folder)[: 3 if arguments.quick else None]
    off = np.array([abs(row["off_pct"]) for row in found])
    show({"rows": found, "median_pct": float(np.median(off)), "worst_pct": float(off.max())}, arguments.json)
    return 0


if __name__ == "__main__":
    sys.exit(main())
