"""What a kernel is estimated to take of a board before it is built, and which clocks that leaves it."""

import json
import sys
from collections.abc import Mapping
from dataclasses import replace
from functools import cache
from importlib.resources import files
from pathlib import Path

import numpy as np
import pytest
from benchmarks import opencl_memory, opencl_parts, opencl_reasons, opencl_reports
from benchmarks.opencl import board, design
from benchmarks.opencl_builds import BENCHMARKS
from benchmarks.opencl_builds import main as held_against_builds
from rc_workbench_plugins.opencl.analysis import analysed
from rc_workbench_plugins.opencl.compile import compile_file
from rc_workbench_plugins.opencl.compute import predict
from rc_workbench_plugins.opencl.dependent import LANE, multiplications
from rc_workbench_plugins.opencl.driven import MOST_LOGIC, driven_design
from rc_workbench_plugins.opencl.hierarchy import hierarchy
from rc_workbench_plugins.opencl.kernel import Loop, Way
from rc_workbench_plugins.opencl.launch import Launch
from rc_workbench_plugins.opencl.memory_blocks import adjacent, crowding, local_blocks, quantities, side_by_side
from rc_workbench_plugins.opencl.model import REPAIRED, Setting
from rc_workbench_plugins.opencl.optimisations import Change
from rc_workbench_plugins.opencl.resources import needed, share_text, too_much, usual_clocks
from rc_workbench_plugins.opencl.search import search
from rc_workbench_plugins.opencl.statistics import work_of
from rc_workbench_plugins.opencl.streams import Stream

from workbench.cli.main import main

KERNELS = Path(str(files("rc_workbench_plugins.opencl"))) / "kernels"
TILED = "matrix_multiply_tiled"


@cache
def taken(
    name: str, unroll: tuple[tuple[str, float], ...] = (), simd: float = 1, units: float = 1
) -> Mapping[str, float]:
    """Logic blocks and DSP blocks of a bundled kernel's design, the board's own logic left out."""
    shares = design(name, dict(unroll), simd, units).needed.shares
    return {"logic": (float(shares["logic"]) - 0.17) * 234_720, "dsps": float(shares["DSP blocks"]) * 256}


def test_compute_units_take_all_again() -> None:
    one, two = taken(TILED), taken(TILED, units=2)
    assert two["dsps"] == 2 * one["dsps"]
    assert two["logic"] == pytest.approx(2 * one["logic"])


def test_work_items_at_once_share_what_is_the_same_for_all() -> None:
    """The rows' beginnings are multiplied once for all work items at once; each has its own floats."""
    one, four = taken(TILED), taken(TILED, simd=4)
    assert four["dsps"] == one["dsps"] + 3
    assert four["logic"] < 2 * one["logic"]  # an access of neighbours is one, wide


def test_unrolling_copies_the_floats_and_not_the_rows_beginnings() -> None:
    one, many = taken(TILED), taken(TILED, (("L2", 64.0),))
    assert many["dsps"] == one["dsps"] + 63


def test_the_papers_best_design_fits_just_so() -> None:
    """Section 6.3.3: SM_UL64_SIMD4 takes all 256 DSP blocks for its floats; whole numbers are in logic."""
    best = design(TILED, {"L2": 64}, simd=4)
    assert float(best.needed.shares["DSP blocks"]) == 1
    assert best.most_b_comp == 0
    assert too_much(best.shares, True) == ""
    larger = design(TILED, {"L2": 64}, simd=8)
    assert too_much(larger.shares, True) == "it takes an estimated 200\u202f% of the DSP blocks"


def test_a_multiplication_varies_with_what_its_factors_come_of() -> None:
    kernel = compile_file(KERNELS / "matrix_multiply.cl", {}, "CL1.2", None, []).kernel("matrix_multiply")
    found = sorted(
        (one for each in multiplications(kernel, hierarchy(kernel)).values() for one in each),
        key=lambda one: sorted(one.varies),
    )
    assert all(one.bits == 32 for one in found)
    # row * a_width and row * b_width for a work group's row, k * b_width in each round of the loop
    assert [one.varies for one in found] == [frozenset(), frozenset(), frozenset({"L1"})]
    assert LANE not in found[-1].varies


def test_what_does_not_fit_is_left_out_with_its_reason() -> None:
    found = search(design(TILED), REPAIRED, 3)
    assert len(found.fit) == 3
    assert all(too_much(one.shares, True) == "" for one in found.fit)
    assert found.too_large
    for one in found.too_large:
        assert one.cycles < found.fit[0].cycles
        assert "it takes an estimated " in too_much(one.shares, True)
    nearest = [one.largest_used or 0 for one in found.too_large]
    assert nearest == sorted(nearest)
    assert nearest[0] > 1


def test_larger_kernels_are_slower() -> None:
    every = [usual_clocks(board(), share) for share in (0.35, 0.55, 0.75, 0.95)]
    assert every == sorted(every, reverse=True)
    assert usual_clocks(board(), None) == (144e6, 268e6)
    assert usual_clocks(board(), 1.2) == (144e6, 268e6)  # which does not fit


def test_a_share_over_the_whole_is_written_as_it_is() -> None:
    assert [share_text(share) for share in (0.25, 1.0, 1.374)] == ["25.0\u202f%", "100\u202f%", "137\u202f%"]


def test_replication_by_resources_alone_stands_beside_the_steps(capsys: pytest.CaptureFixture[str]) -> None:
    """Table 4 of matrix multiplication: the paper's SIMD2 and CU4, and both speedups within their range in time."""
    assert main(["predict", "opencl", "matrix_multiply", "--json"]) == 0
    driven, steps = json.loads(capsys.readouterr().out)["compared"]
    assert driven["name"] == "-O3: SIMD2, CU4"
    for one, paper in ((driven, 0.7), (steps, 362.4)):
        least, most = one["speedup_time"]
        assert least < one["speedup_cycles"] < most
        assert least < paper < most
        assert one["measured"] == {"speedup": paper, "source": "Table 4", "reason": "", "within": True}


def test_a_measured_speedup_that_differs_stands_with_its_reason(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    bundled = (KERNELS.parent / "models" / "vector_add.opencl.yaml").read_text()
    model = tmp_path / "add.opencl.yaml"
    steps = """
steps: [{name: wide, simd: 4}]
measured:
  - {design: wide, speedup: 4, source: my board}
  - {design: -O3, speedup: 99, reason: The card was warm.}
"""
    model.write_text(bundled.replace("../kernels", str(KERNELS)) + steps)
    assert main(["predict", "opencl", str(model)]) == 0
    said = capsys.readouterr().out
    assert "4.00×, in the range" in said
    assert "99.00×, outside" in said
    assert " differs from the measured speedup: The card was warm." in said
    model.write_text(model.read_text().replace("design: wide", "design: slow"))
    assert main(["predict", "opencl", str(model)]) == 2
    said = capsys.readouterr().err
    assert "'slow' is not compared with the first design" in said
    assert "Name -O3 or wide" in said


def test_resources_alone_choose_the_largest_that_fits() -> None:
    """-O3 without factors: SIMD is preferred, and the logic's share stays below 85 %."""
    chosen = driven_design(design("matrix_multiply").design, None)
    share = predict(chosen).needed.shares["logic"]
    assert 0.5 < float(share) <= MOST_LOGIC
    assert chosen.setting.simd == 16
    more = replace(chosen, setting=replace(chosen.setting, compute_units=2 * chosen.setting.compute_units))
    assert float(predict(more).needed.shares["logic"]) > MOST_LOGIC


def test_published_builds_are_held_against_the_estimates(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The benchmark, on a folder laid out as the published one: two designs of a kernel with four DSP blocks for its
    index, and one for each float."""
    from scipy.io import savemat  # here, since it is long to import, and each process reads all tests

    (tmp_path / "mm" / "src").mkdir(parents=True)
    (tmp_path / "results_and_analysis").mkdir()
    (tmp_path / "mm" / "src" / "mm_subdimy_simdx1_unrollb_base.cl").write_text(
        "__kernel void matrixMult(__global float *C, __global const float *A, __global const float *B, int M)\n{\n"
        "    float sum = 0;\n#pragma unroll UNROLL_F\n    for (int k = 0; k < BLOCKDIM; k++)\n"
        "        sum += A[k] * B[k];\n    C[get_global_id(1) * M + get_global_id(0)] = sum;\n}\n"
    )
    columns = {"fmax": [250.0, 200.0], "logic_util": [45_000.0, 120_000.0], "dsp_util": [6.0, 16.0],
               "ram_util": [400.0, 600.0],
               "knob_settings": [[8, 1, 1, 1, 1, 1, 1, 0, 2], [8, 1, 1, 1, 1, 1, 2, 0, 4]]}  # fmt: skip
    for name in BENCHMARKS:
        savemat(tmp_path / "results_and_analysis" / f"{name}.mat", columns)
    monkeypatch.setattr(sys, "argv", ["opencl_builds.py", str(tmp_path), "--json"])
    assert held_against_builds() == 0
    found = json.loads(capsys.readouterr().out)
    assert (found["designs"], found["dsps_equal"]) == (2, 2)
    assert [row["builds"] for row in found["clocks"]] == [9, 0, 0, 9, 0, 0, 0, 18]
    monkeypatch.setattr(opencl_memory, "KERNELS", {"mm": opencl_memory.KERNELS["mm"]})
    monkeypatch.setattr(sys, "argv", ["opencl_memory.py", str(tmp_path), "--json", "--quick"])
    assert opencl_memory.main() == 0
    (row,) = json.loads(capsys.readouterr().out)["kernels"]
    assert abs(row["fitted"]["mean"]) < 0.5
    assert abs(row["not_fitted"]["mean"]) < 0.5


def test_reported_blocks_are_held_against_the_estimates(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The benchmark, on a folder laid out as the published one: a store, an array of constants with one access and a
    local array of four floats take 77 blocks by aoc's report of such a kernel, 68 without the array of constants."""
    designs = {"constants": ("__constant", 77), "none": ("__global", 68)}
    for name, (space, blocks) in designs.items():
        folder = tmp_path / "src" / "SLR" / "C++" / name
        (folder / "lib").mkdir(parents=True)
        (folder / "k.cl").write_text(
            f"__kernel void line({space} float *restrict x, __global float *restrict y)\n{{\n"
            "    __local float w[4];\n    w[0] = -0.5f; w[1] = 1; w[2] = 10; w[3] = 9;\n"
            "    int i = get_global_id(0);\n    y[i] = w[0] + w[1] * x[i] + w[2] * w[3];\n}\n"
        )
        report = f'var loopsJSON={{}};var areaJSON={{"total":[10788, 24683, {blocks}, 18]\n}};var x=1;'
        (folder / "lib" / "report_data.js").write_text(report)
    monkeypatch.setattr(sys, "argv", ["opencl_reports.py", str(tmp_path), "--json", "--quick"])
    assert opencl_reports.main() == 0
    found = json.loads(capsys.readouterr().out)
    rows = {row["design"]: row for row in found["rows"]}
    assert [rows[name]["reported"] for name in designs] == [77, 68]
    assert rows["constants"]["off_pct"] == pytest.approx(100 * (rows["constants"]["estimate"] / 77 - 1))
    assert abs(rows["constants"]["off_pct"]) < 10
    assert found["worst_pct"] == max(abs(row["off_pct"]) for row in found["rows"])


def test_the_boards_cost_of_a_transaction_is_what_the_papers_times_ask() -> None:
    """Section 6.4.2's 137 s and 64.5 s: the least that either asks, at the clocks of published builds."""
    asked = opencl_reasons.asked()
    assert board().uncoalesced_cycles == pytest.approx(min(float(row["least"]) for row in asked), abs=0.05)
    assert asked[0]["most"] < asked[1]["least"]  # no one cost gives both


MEMORY = "memory blocks"
GUARDED = """
__kernel void guarded(__global const float *a, __global float *b, int n)
{
    int i = get_global_id(0);
    if (i >= n) return;
    float sum = 0;
    for (int j = 0; j < 8; j++) sum += a[i + j];
    b[i] = sum;
}
__kernel void marked(__global const float *a, __global float *b, int n)
{
    int i = get_global_id(0);
    if (a[i] > n) b[i] = n;
}
"""


def test_simd_that_a_branch_around_a_loop_forbids_adds_nothing(tmp_path: Path) -> None:
    """Of 109 pairs of published builds of such a kernel 101 take the same, whatever SIMD they ask for."""
    source = tmp_path / "k.cl"
    source.write_text(GUARDED)
    arguments = {"a": {"elements": 128}, "b": {"elements": 128}, "n": 64}
    launch = Launch.model_validate({"global_size": (64,), "arguments": arguments})
    lines = {}
    for name in ("guarded", "marked"):
        seen = analysed(source, name, launch, tmp_path)
        work = work_of(seen.kernel, seen.root, seen.profile, board())
        one, four = (needed(work, Setting(64.0, 1.0, simd, {}), board()) for simd in (1.0, 4.0))
        assert (one == four) is (name == "guarded")
        lines[name] = work.varying
    assert (lines["guarded"][0], lines["marked"]) == (5, ())


def test_accesses_of_one_address_are_built_once() -> None:
    """As what work items at once, or rounds of an unrolled loop, find at the same place."""
    same = Stream("a1", "x", 1, Way.LOAD, 4, 1.0, 0.0, {"L1": 0.0})
    loop = Loop("L1", (1, 1), "b", ())
    for stream, copies in (
        (same, 1),
        (replace(same, item_bytes=400.0), 4),
        (replace(same, loop_bytes={"L1": 99.0}), 8),
    ):
        assert side_by_side(stream, (loop,), Setting(64.0, 1.0, 4.0, {"L1": 8.0}))[1] == copies


def test_compute_units_have_their_own_memory_blocks() -> None:
    one, two = design(TILED).needed.shares[MEMORY], design(TILED, units=2).needed.shares[MEMORY]
    own = 1 - board().memory_available
    assert two - own == pytest.approx(2 * (one - own))
    assert one > own


def test_a_work_item_keeps_its_place_at_a_barrier_too() -> None:
    """As much as the board says, in blocks of 40 bits that hold 512 work items: a tile's group has 4,096."""
    one = design(TILED)
    more = board().model_copy(update={"memory_cost": board().memory_cost.model_copy(update={"barrier_bits": 400})})
    plain, wide = (quantities(one.estimate.work, one.design.setting, on)["barrier"] for on in (board(), more))
    assert wide - plain == 2 * 400 / 40 * 4096 / 512  # two barriers


def test_a_report_has_the_blocks_of_each_part() -> None:
    """As aoc 16.1 writes a kernel's area."""
    call = {"name": opencl_parts.PARTS["barrier"], "data": [110, 73, 7, 0]}
    blocks = [{"resources": [{"data": [226, 556, 1, 0]}], "computation": [{"subinfos": [{"info": call, "count": 1}]}]}]
    area = {"functions": [{"name": "dock", "basicblocks": blocks}]}
    found = opencl_parts.reported(f"var loopsJSON={{}};var areaJSON={json.dumps(area)};var x=1;")
    assert found == {"dock": {"waiting": [[226, 556, 1, 0]], opencl_parts.PARTS["barrier"]: [[110, 73, 7, 0]]}}


def test_queues_leave_the_logic_as_it_fills() -> None:
    """Published builds: beyond 55 % of the logic a second compute unit takes more memory than the first."""
    factors = crowding(board(), np.array([0.3, 0.54, 0.6, 0.9]))
    assert np.asarray(factors).tolist() == pytest.approx([1, 1, *[board().memory_cost.crowded] * 2])
    assert crowding(board(), None) == 1


def test_arrays_kept_on_the_chip_take_memory_blocks() -> None:
    """The tiles of both matrices, 16 KiB each: a tile's row is read whole where the loop is unrolled."""
    tiles = [
        local_blocks(one.estimate.work, one.design.setting, board())
        for one in (design(TILED), design("matrix_multiply"))
    ]
    assert tiles == [2 * 8, 0]
    wide = design(TILED, {"L2": 16.0})
    assert local_blocks(wide.estimate.work, wide.design.setting, board()) > tiles[0]
    changed = design("kmeans", changes=(Change("SM", "centres"),))
    assert [array.bytes for array in changed.estimate.work.storage.local] == [4096]
    assert changed.needed.shares[MEMORY] > design("kmeans").needed.shares[MEMORY]


def test_neighbouring_accesses_are_one_wide_one() -> None:
    one = Stream("a1", "x", 1, Way.LOAD, 4, 1.0, 16.0, {}, first=0)
    rest = [replace(one, id=f"a{n}", first=4 * n) for n in (1, 2, 5)]
    assert [(s.bytes, s.first) for s in adjacent([rest[2], one, *rest[:2]])] == [(12, 0), (4, 20)]
    rare = replace(one, item_bytes=None, compared=False)  # too few work items came to tell a step
    assert [s.item_bytes for s in adjacent([rare])] == [4]


def test_a_search_keeps_to_the_memory_blocks(capsys: pytest.CaptureFixture[str]) -> None:
    few = board().model_copy(update={"memory_blocks": 450})
    now = design(TILED)
    found = search(predict(replace(now.design, board=few)), REPAIRED, 3)
    assert all(one.shares[MEMORY] <= 1 for one in found.fit)
    assert any("of the memory blocks" in too_much(one.shares, True) for one in found.too_large)
    assert main(["predict", "opencl", "matrix_multiply"]) == 0
    head, *rows = capsys.readouterr().out.splitlines()[2:5]
    assert "Memory blocks" in head
    assert all(" to " in row.split("≈")[2] for row in rows)
