"""Estimates of clock, logic and DSP blocks held against published builds of OpenCL kernels for the DE5-Net.

    git clone https://github.com/KastnerRG/spector
    python tests/benchmarks/opencl_builds.py spector [--json] [--quick]

Gautier, Althoff, Meng and Kastner, "Spector: an OpenCL FPGA benchmark suite", FPT 2016: designs of 9 kernels that
Altera's SDK 14.1 built, with what each takes and reaches.

- `clocks`: of the designs that take up to a share of the logic (and more than the row before), how many there are and
  the 5th and 95th percentile of their clocks, beside the row of `platform_templates/de5_net.yaml`;
- `designs`: those of the matrix multiplication without blocks inside a work item, by block, SIMD, compute units,
  unrolling and vector width; `dsps_equal`: whose DSP blocks the estimate meets; `logic_error`: by how much the
  estimated logic is off, the median and the 90th percentile of its size, and the mean with its sign.

`--quick` takes every fourth design.
"""

import sys
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
from command_line import command, show
from numpy.typing import NDArray
from opencl import board, floats
from rc_workbench_plugins.opencl.analysis import analysed
from rc_workbench_plugins.opencl.kernel import Loop, walk
from rc_workbench_plugins.opencl.launch import Launch
from rc_workbench_plugins.opencl.model import Setting
from rc_workbench_plugins.opencl.resources import needed
from rc_workbench_plugins.opencl.statistics import work_of

Numbers = NDArray[np.float64]
BENCHMARKS = ("mm", "bfs_dense", "dct", "fir", "hist", "mergesort", "normals", "sobel", "spmv_5000")
SIDE = 64  # of the matrices that a design is run on: trips of its inner loop do not depend on it


@dataclass(frozen=True)
class Design:
    """One of the matrix multiplication's designs, and what its build takes."""

    block: int
    vector: int
    simd: int
    units: int
    unroll: int
    logic_blocks: float
    dsps: float


def results(folder: Path, name: str) -> dict[str, Any]:
    from scipy.io import loadmat  # here, since it is long to import, and tests read this file

    return {key: np.asarray(value) for key, value in loadmat(folder / "results_and_analysis" / f"{name}.mat").items()}


def clocks(folder: Path) -> list[dict[str, float | None]]:
    every = [results(folder, name) for name in BENCHMARKS]
    mhz = np.concatenate([one["fmax"].ravel() for one in every])
    logic = np.concatenate([one["logic_util"].ravel() for one in every]) / float(board().logic_blocks or 1)
    rows = []
    for above, row in pairwise((None, *board().clocks)):
        assert row is not None
        taken = mhz[(logic >= (above.logic if above else 0)) & (logic < row.logic)]
        rows.append(_row(row.logic, taken, row.least_clock_hz, row.most_clock_hz))
    return [*rows, _row(1.0, mhz, board().least_clock_hz or 0.0, board().most_clock_hz or 0.0)]


def _row(logic: float, mhz: Numbers, least_hz: float, most_hz: float) -> dict[str, float | None]:
    low, high = (float(np.percentile(mhz, end)) if len(mhz) else None for end in (5, 95))
    return {"logic": logic, "builds": len(mhz), "least_mhz": low, "most_mhz": high,
            "template_least_mhz": least_hz / 1e6, "template_most_mhz": most_hz / 1e6}  # fmt: skip


def designs(folder: Path) -> list[Design]:
    found, built = [], results(folder, "mm")
    columns = (built[name].ravel().astype(float) for name in ("logic_util", "dsp_util"))
    for knobs, logic, dsps in zip(built["knob_settings"].astype(int), *columns, strict=True):
        block, sub_x, sub_y, vector, vector_y, simd, units, _, unroll = (int(n) for n in knobs)
        if sub_x == sub_y == vector_y == 1 and unroll <= block:
            found.append(Design(block, vector, simd, units, unroll, logic, dsps))
    return found


def estimated(folder: Path, design: Design) -> tuple[float, float]:
    """Logic and DSP blocks of the whole board that a design is estimated to take."""
    source = folder / "mm" / "src" / f"mm_subdimy_simdx{design.vector}_unrollb_base.cl"
    launch = Launch.model_validate({
        "global_size": (SIDE // design.vector, SIDE), "local_size": (design.block, design.block), "groups": 1,
        "defines": {"BLOCKDIM": design.block, "SUBDIM_X": 1, "SUBDIM_Y": 1, "SIMD_X": design.vector, "SIMD_Y": 1,
                    "UNROLL_F": design.unroll},
        "arguments": {name: floats(SIDE**2) for name in "ABC"} | {"M": SIDE},
    })  # fmt: skip
    seen = analysed(source, "matrixMult", launch, source.parent)
    work = work_of(seen.kernel, seen.root, seen.profile, board())
    unroll = {node.id: float(node.unroll) for node in walk(seen.root) if isinstance(node, Loop) and node.unroll}
    unroll = {name: min(factor, max(float(np.mean(work.trips[name])), 1.0)) for name, factor in unroll.items()}
    shares = needed(work, Setting(float(SIDE**2), float(design.units), float(design.simd), unroll), board())
    assert shares.logic is not None
    assert shares.dsp is not None
    return float(shares.logic) * (board().logic_blocks or 1), float(shares.dsp) * (board().dsps or 1)


def main() -> int:
    parser = command(__doc__)
    parser.add_argument("folder", type=Path, help="a clone of github.com/KastnerRG/spector")
    arguments = parser.parse_args()
    chosen = designs(arguments.folder)[:: 4 if arguments.quick else 1]
    found = [(one, *estimated(arguments.folder, one)) for one in chosen]
    off = np.array([logic / one.logic_blocks - 1 for one, logic, _ in found])
    show({
        "clocks": clocks(arguments.folder),
        "designs": len(found),
        "dsps_equal": sum(bool(round(dsps) == one.dsps) for one, _, dsps in found),
        "logic_error": {"median": float(np.median(abs(off))), "p90": float(np.percentile(abs(off), 90)),
                        "mean": float(off.mean())},
    }, arguments.json)  # fmt: skip
    return 0


if __name__ == "__main__":
    sys.exit(main())
