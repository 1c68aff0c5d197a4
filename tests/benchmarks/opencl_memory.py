"""Memory blocks of OpenCL kernels, estimated and published: 8 kernels built for the DE5-Net.

    git clone https://github.com/KastnerRG/spector
    python tests/benchmarks/opencl_memory.py spector [--json] [--quick] [--fit]

Gautier, Althoff, Meng and Kastner, "Spector: an OpenCL FPGA benchmark suite", FPT 2016 (`ram_util` of each design).
Accesses cost what compilers' reports say (`REPORTED`, see `platform_templates/a10_ref.yaml`); what else `memory_cost`
of the board's template has is fitted. Designs of each kernel are drawn by a seed: the first half was used to fit it,
the second was not. SIMD that a kernel does not take is left out, as the compiler leaves it out.

- `kernels`: off by how much (median and 90th percentile of the size, mean with its sign) the estimate is on the half
  that was fitted, on the other half, and with costs fitted to the other seven kernels alone;
- `least`, `most`: the 10th and the 90th percentile of a build over its estimate by those, without the board's own: the
  template's `least` and `most`;
- `fits`: of the designs that were not fitted, how many are on the right side of what the FPGA has.

`--fit` fits the costs again and prints them; `--quick` takes 6 designs of each kernel and fits nothing.
Merge sort is left out: it declares local arrays outside of a kernel, which OpenCL C does not allow.
"""

import sys
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from command_line import command, show
from numpy.typing import NDArray
from opencl import board, floats
from opencl_builds import results
from rc_workbench_plugins.opencl.analysis import analysed
from rc_workbench_plugins.opencl.kernel import Loop, walk
from rc_workbench_plugins.opencl.launch import Launch
from rc_workbench_plugins.opencl.memory_blocks import PARTS, crowding, local_blocks, quantities
from rc_workbench_plugins.opencl.model import Setting
from rc_workbench_plugins.opencl.resources import needed
from rc_workbench_plugins.opencl.statistics import work_of

Numbers = NDArray[np.float64]
DRAWN = 24  # designs of each kernel
#: Memory blocks of a load, a store, the cache of constants and each of its accesses, which are not fitted.
REPORTED = {"load": 13.0, "store": 16.0, "cache": 14.0, "constant": 7.5}
MOST = dict.fromkeys(PARTS, 60.0) | {"cache": 120.0, "waiting": 1.0, "loop_array": 5.0, "private_items": 1024.0}


@dataclass(frozen=True)
class Part:
    """A kernel of a design: its source, how it is launched, its compute units and SIMD."""

    source: Path
    kernel: str
    launch: dict[str, Any]
    units: int = 1
    simd: int = 1


@dataclass(frozen=True)
class Built:
    """A published design: what of each part it has, its local arrays' blocks, and its logic, estimated and built."""

    kernel: str
    parts: Numbers
    local: float
    logic: float
    built_logic: float
    blocks: float


def ints(elements: int, high: int = 1) -> dict[str, int]:
    return {"elements": elements, "low": 0, "high": high}


# ---- the kernels, by their knobs; `folder` is a design's own


def _mm(spector: Path, folder: Path, knobs: Sequence[int]) -> list[Part]:
    block, sub_x, sub_y, vector_x, vector_y, simd, units, inner, unroll = knobs
    along = "p" if inner else "b"
    other = sub_x > 1 or vector_y > 1
    name = f"mm_subdimx_simdy{vector_y}" if other else f"mm_subdimy_simdx{vector_x}"
    side = max(64, 2 * block * max(sub_x * vector_x, sub_y * vector_y))
    defines = {"BLOCKDIM": block, "SUBDIM_X": sub_x, "SUBDIM_Y": sub_y, "SIMD_X": vector_x, "SIMD_Y": vector_y,
               "UNROLL_F": unroll}  # fmt: skip
    launch = {"global_size": (side // (vector_x * sub_x), side // (vector_y * sub_y)), "local_size": (block, block),
              "defines": defines, "arguments": {n: floats(side**2) for n in "ABC"} | {"M": side}}  # fmt: skip
    return [Part(spector / "mm" / "src" / f"{name}_unroll{along}_base.cl", "matrixMult", launch, units, simd)]


def _sobel(spector: Path, folder: Path, knobs: Sequence[int]) -> list[Part]:
    block_x, block_y, sub_x, sub_y, vector_x, vector_y, simd, units = knobs
    other = sub_x > 1 or vector_y > 1
    name = f"sobel_subdimx_simdy{vector_y}" if other else f"sobel_subdimy_simdx{vector_x}"
    width, height = 2 * block_x * sub_x * vector_x, 2 * block_y * sub_y * vector_y
    defines = {"BLOCKDIM_X": block_x, "BLOCKDIM_Y": block_y, "SUBDIM_X": sub_x, "SUBDIM_Y": sub_y, "SIMD_X": vector_x,
               "SIMD_Y": vector_y, "WIDTH": width, "HEIGHT": height}  # fmt: skip
    launch = {"global_size": (2 * block_x, 2 * block_y), "local_size": (block_x, block_y), "defines": defines,
              "arguments": {"image_in": ints(width * height, 1 << 24), "image_out": ints(width * height)}}  # fmt: skip
    return [Part(spector / "sobel" / "src" / f"{name}_base.cl", "sobel_filter", launch, units, simd)]


def _spmv(spector: Path, folder: Path, knobs: Sequence[int]) -> list[Part]:
    block, units, unroll, vector = knobs
    rows, each = max(64, 2 * block), max(2 * unroll * vector, 8)
    np.save(folder / "rows.npy", np.arange(rows + 1, dtype=np.uint32) * each)
    arguments = {"num_rows": rows, "Ap": {"file": str(folder / "rows.npy")}, "Aj": ints(rows * each, rows - 1),
                 "Ax": floats(rows * each), "x": floats(rows), "y": floats(rows)}  # fmt: skip
    defines = {"BLOCKDIM": block, "COMP_U": units, "UNROLL_F": unroll, "VECT_WIDTH": vector}
    launch = {"global_size": (rows,), "local_size": (block,), "groups": max(1, 16 // block), "defines": defines,
              "arguments": arguments}  # fmt: skip
    return [Part(spector / "spmv" / "src" / "spmv_base.cl", "csr", launch, units)]


def _dct(spector: Path, folder: Path, knobs: Sequence[int]) -> list[Part]:
    across, down, kind, vector, blocks, unroll, inner, simd, units = knobs
    rows = down // (8 * blocks)
    local = (across // vector, rows) if vector == 1 or kind == 0 else (across, rows // vector)
    defines = {"BLOCKDIM_X": across, "BLOCKDIM_Y": down, "SIMD_LOC": vector, "SIMD_TYPE": kind, "BLOCK_SIZE_F": blocks,
               "BLOCK_UNROLL": unroll, "DCT_UNROLL": inner, "SIMD_WI": simd, "COMP_U": units}  # fmt: skip
    size = 4 * across * down
    launch = {"global_size": (2 * local[0], 2 * local[1]), "local_size": local, "defines": defines,
              "arguments": {"d_Dst": floats(size), "d_Src": floats(size), "stride": 2 * across, "imageH": 2 * down,
                            "imageW": 2 * across}}  # fmt: skip
    return [Part(spector / "dct" / "src" / "dct_base.cl", "DCT8x8", launch, units, simd)]


def _with_header(source: Path, header: Path, folder: Path, values: Sequence[object]) -> Path:
    """A copy of a source beside a header made of a template: %1 and on are the values."""
    text = header.read_text()
    for number in range(len(values), 0, -1):
        text = text.replace(f"%{number}", str(values[number - 1]))
    (folder / header.stem).write_text(text)
    (folder / source.name).write_bytes(source.read_bytes())
    return folder / source.name


def _bfs(spector: Path, folder: Path, knobs: Sequence[int]) -> list[Part]:
    unroll, units_1, units_2, simd, _, _ = knobs
    source = spector / "bfs" / "src"
    source = _with_header(source / "bfs_fpga.cl", source / "knobs.h.template", folder, knobs)
    nodes, edges = 512, max(2 * unroll, 4)
    np.save(folder / "nodes.npy", np.stack([np.arange(nodes) * edges, np.full(nodes, edges)], 1).astype("i4"))
    every = {"elements": nodes, "value": 1}
    one = {"g_graph_nodes": {"file": str(folder / "nodes.npy")}, "g_graph_edges": ints(nodes * edges, nodes - 1),
           "g_graph_mask": every, "g_updating_graph_mask": {"elements": nodes}, "g_graph_visited": ints(nodes),
           "g_cost": ints(nodes, 9), "no_of_nodes": nodes}  # fmt: skip
    two = {"g_graph_mask": {"elements": nodes}, "g_updating_graph_mask": every, "g_graph_visited": {"elements": nodes},
           "g_over": {"elements": 1}, "no_of_nodes": nodes}  # fmt: skip
    launch = {"global_size": (nodes,), "local_size": (256,), "defines": {"ALTERA_CL": 1}}
    return [Part(source, "kernel1", launch | {"arguments": one}, units_1),
            Part(source, "kernel2", launch | {"arguments": two}, units_2, simd)]  # fmt: skip


def _fir(spector: Path, folder: Path, knobs: Sequence[int]) -> list[Part]:
    shift, parallel, inner, outer, items, groups, simd, units = knobs
    values = (shift, parallel, "", "", inner, "", "", outer, "", "", "", items, groups, simd, units)
    source = spector / "fir" / "src"
    source = _with_header(source / "device" / "tdfir.cl", source / "parameters.h.template", folder, values)
    total, rounds = items * groups, 64
    length = rounds * parallel
    arguments = {"dataPtr": floats(2 * total * length + 64), "filterPtr": floats(4 * total * 64 * 32),
                 "resultPtr": floats(2 * total * length + 64), "totalInputLength": length, "numIterations": rounds,
                 "paddedSingleInputLength": 32 * parallel, "totalFiltersLength": 64}  # fmt: skip
    launch = {"global_size": (total,), "local_size": (items,), "defines": {"ALTERA_CL": 1}, "arguments": arguments}
    return [Part(source, "tdfir", launch, units, simd)]


def _normals(spector: Path, folder: Path, knobs: Sequence[int]) -> list[Part]:
    items, groups, units = knobs[:3]
    source = spector / "normals" / "src"
    source = _with_header(source / "normals.cl", source / "knobs.h.template", folder, knobs)
    columns, rows = 64, 2 * items * groups + 2
    maps = floats(3 * columns * (rows + 3))
    launch = {"global_size": (items * groups,), "local_size": (items,), "defines": {"ALTERA_CL": 1},
              "arguments": {"vmap": maps, "nmap": maps, "cols": columns, "rows": rows}}  # fmt: skip
    return [Part(source, "computeNmap_v3", launch, units)]


def _hist(spector: Path, folder: Path, knobs: Sequence[int]) -> list[Part]:
    number, size, items, groups, units, shared, unroll = knobs
    source = spector / "histogram" / "src"
    values = (number, size, items, groups, 1, units, shared, unroll)
    source = _with_header(source / "histogram.cl", source / "params.h.template", folder, values)
    total, each = items * groups, 64 * number
    one = {"data": ints(each * total + 64, 255), "histogram": {"elements": 256 * total}, "numData": each}
    two = {"histogram_in": {"elements": 256 * total}, "histogram_out": {"elements": 256}}
    known = {"defines": {"ALTERA_CL": 1}}
    first = {"global_size": (total,), "local_size": (items,), "arguments": one}
    second = {"global_size": (1,), "local_size": (1,), "arguments": two}
    parts = [Part(source, "calculateHistogram", known | first, units)]
    return [*parts, *([Part(source, "accumulateHistograms", known | second)] if total > 1 and not shared else [])]


KERNELS: dict[str, tuple[str, Callable[[Path, Path, Sequence[int]], list[Part]]]] = {
    "bfs": ("bfs_dense", _bfs), "dct": ("dct", _dct), "fir": ("fir", _fir), "hist": ("hist", _hist), "mm": ("mm", _mm),
    "normals": ("normals", _normals), "sobel": ("sobel", _sobel), "spmv": ("spmv_5000", _spmv),
}  # fmt: skip


# ---- designs


def drawn(spector: Path, name: str, number: int) -> list[Built]:
    published = results(spector, KERNELS[name][0])
    blocks = published["ram_util" if "ram_util" in published else "ram"].ravel().astype(float)
    order = np.random.default_rng(0).permutation(len(blocks))[:number]
    return [
        _design(spector, name, published["knob_settings"][n].astype(int).tolist(), blocks[n],
                float(published["logic_util"].ravel()[n]))
        for n in order
    ]  # fmt: skip


def _design(spector: Path, name: str, knobs: Sequence[int], blocks: float, logic_blocks: float) -> Built:
    parts, local, own = np.zeros(len(PARTS)), 0.0, 1 - board().logic_available
    logic = own
    with tempfile.TemporaryDirectory() as folder:
        for part in KERNELS[name][1](spector, Path(folder), knobs):
            launch = Launch.model_validate({"groups": 1, **part.launch})
            seen = analysed(part.source, part.kernel, launch, part.source.parent)
            work = work_of(seen.kernel, seen.root, seen.profile, board())
            unroll = {
                node.id: min(float(node.unroll or np.inf), max(float(np.mean(work.trips[node.id])), 1.0))
                for node in walk(seen.root) if isinstance(node, Loop) and node.unroll is not None
            }  # fmt: skip
            setting = Setting(1024.0, float(part.units), 1.0 if work.varying else float(part.simd), unroll)
            found = quantities(work, setting, board())
            parts += part.units * np.array([float(found[one]) for one in PARTS])
            local += part.units * float(local_blocks(work, setting, board()))
            share = needed(work, setting, board()).logic
            logic += 0.0 if share is None else float(share) - own
    return Built(name, parts, local, logic, logic_blocks / float(board().logic_blocks or 1), blocks)


def estimated(built: Sequence[Built], costs: Numbers, *, by_built_logic: bool = False) -> Numbers:
    """Memory blocks of designs, the board's own and at most all."""
    have = float(board().memory_blocks or 1)
    logic = np.array([one.built_logic if by_built_logic else one.logic for one in built])
    kernels = np.array([one.parts @ costs for one in built]) * crowding(board(), logic)
    return have * (1 - board().memory_available) + kernels + np.array([one.local for one in built])


def fitted(built: Sequence[Built]) -> Numbers:
    """The costs by which the estimates' logarithms are nearest, each kernel with the same weight; by the logic that the
    builds have."""
    from scipy.optimize import least_squares  # here, since it is long to import, and tests read this file

    have, blocks = float(board().memory_blocks or 1), np.array([one.blocks for one in built])
    names = [one.kernel for one in built]
    weights = np.array([1 / np.sqrt(names.count(name)) for name in names])

    def off(costs: Numbers) -> Numbers:
        return np.log(np.minimum(estimated(built, costs, by_built_logic=True), have) / blocks) * weights

    free = [name for name in PARTS if name not in REPORTED]
    most = np.array([MOST[name] for name in free])
    found = least_squares(lambda x: off(_all(free, x)), most / 10, bounds=(0, most), loss="soft_l1", f_scale=0.05).x
    return _all(free, found)


def _all(free: Sequence[str], found: Numbers) -> Numbers:
    """The costs of all parts: those that were fitted, and those that are reported."""
    costs = REPORTED | dict(zip(free, found.tolist(), strict=True))
    return np.array([costs[name] for name in PARTS])


def off_by(built: Sequence[Built], costs: Numbers) -> dict[str, float]:
    ratio = np.minimum(estimated(built, costs), float(board().memory_blocks or 1)) / [one.blocks for one in built] - 1
    return {"median": float(np.median(abs(ratio))), "p90": float(np.percentile(abs(ratio), 90)),
            "mean": float(ratio.mean())}  # fmt: skip


def main() -> int:
    parser = command(__doc__)
    parser.add_argument("folder", type=Path, help="a clone of github.com/KastnerRG/spector")
    parser.add_argument("--fit", action="store_true", help="fit the costs again, and print them")
    arguments = parser.parse_args()
    every = {name: drawn(arguments.folder, name, 6 if arguments.quick else DRAWN) for name in KERNELS}
    first = {name: built[: len(built) // 2] for name, built in every.items()}
    costs = np.array([getattr(board().memory_cost, name) for name in PARTS], float)
    found: dict[str, Any] = {"designs": sum(map(len, every.values())), "kernels": []}
    if arguments.fit:
        costs = fitted([one for built in first.values() for one in built])
        found["costs"] = {name: float(f"{cost:.3g}") for name, cost in zip(PARTS, costs, strict=True)}
    own, ratios = float(board().memory_blocks or 1) * (1 - board().memory_available), []
    right = 0
    for name, built in every.items():
        rest = built[len(built) // 2 :]
        row = {"kernel": name, "fitted": off_by(first[name], costs), "not_fitted": off_by(rest, costs)}
        blocks = np.array([one.blocks for one in rest])
        right += int(np.sum((estimated(rest, costs) < (board().memory_blocks or 1)) == (blocks < 2500)))
        if not arguments.quick:
            others = fitted([one for other, ones in first.items() if other != name for one in ones])
            row["without"] = off_by(built, others)
            ratios += [(one.blocks - own) / max(at - own, 1) for one, at in
                       zip(built, estimated(built, others), strict=True)]  # fmt: skip
        found["kernels"].append(row)
    if ratios:
        found["least"], found["most"] = (float(np.percentile(ratios, end)) for end in (10, 90))
    found["fits"] = f"{right} of {sum(len(built) - len(built) // 2 for built in every.values())}"
    show(found, arguments.json)
    return 0


if __name__ == "__main__":
    sys.exit(main())
