"""`workbench predict opencl`: kernels' models from the file to the answer, and what a person is told of a wrong one."""

import json
import math
from pathlib import Path
from typing import Any

import pytest

from workbench.cli.main import main

KERNELS = Path(__file__).parents[1] / "plugins" / "rc_workbench_plugins" / "opencl" / "kernels"
ADD = "{global_size: [1024], arguments: {a: {elements: 1024}, b: {elements: 1024}, c: {elements: 1024}}}"
MULTIPLY = """schema_version: 1
name: multiply
platform: de5_net
kernel_file: multiply.cl
launch:
  global_size: [64, 64]
  local_size: [16, 16]
  arguments: {a: {elements: 4096}, b: {elements: 4096}, c: {elements: 4096}, width: 64}
"""
COPY = """schema_version: 1
name: copy
platform: de5_net
kernel_file: copy.cl
kernel: KERNEL
launch:
  global_size: [4096]
  local_size: [64]
  include: [sizes]
  arguments: {out: {elements: 4096}, in: {elements: 16384}, tile: {elements: 256}}
"""
COPIES = """#include "size.h"
__kernel void by_group(__global float *out, __global const float *in, __local float *tile)
{
    event_t done = async_work_group_copy(tile, in + SIZE * get_group_id(0), SIZE, 0);
    wait_group_events(1, &done);
    out[get_global_id(0)] = tile[63 - get_local_id(0)];
}
__kernel void by_items(__global float *out, __global const float *in, __local float *tile)
{
    int l = get_local_id(0);
#if SIZE == 256
    tile[l + 128] = in[SIZE * get_group_id(0) + l + 128];
    tile[l + 192] = in[SIZE * get_group_id(0) + l + 192];
#endif
    tile[l] = in[SIZE * get_group_id(0) + l];
    tile[l + 64] = in[SIZE * get_group_id(0) + l + 64];
    barrier(CLK_LOCAL_MEM_FENCE);
    out[get_global_id(0)] = tile[63 - l];
}
"""
SOURCE = """__kernel void multiply(__global const float *a, __global const float *b, __global float *c, int width)
{
    int column = get_global_id(0), row = get_global_id(1);
    float sum = 0;
    for (int k = 0; k < width; k++)
        sum += a[row * width + k] * b[k * width + column];
    c[row * width + column] = sum;
}
"""


def asked(capsys: pytest.CaptureFixture[str], *words: str) -> dict[str, Any]:
    assert main(["predict", "opencl", *words, "--json"]) == 0, capsys.readouterr().err
    found: dict[str, Any] = json.loads(capsys.readouterr().out)
    return found


def told(capsys: pytest.CaptureFixture[str], *words: str) -> str:
    assert main(["predict", "opencl", *words]) == 2
    return capsys.readouterr().err


@pytest.fixture
def multiply(tmp_path: Path) -> Path:
    (tmp_path / "multiply.cl").write_text(SOURCE)
    path = tmp_path / "multiply.opencl.yaml"
    path.write_text(MULTIPLY)
    return path


def changed(model: Path, more: str) -> str:
    model.write_text(MULTIPLY + more)
    return str(model)


def test_vector_addition_needs_128_work_items(capsys: pytest.CaptureFixture[str]) -> None:
    """Fig. 6: the pipeline starves below 128 work items, and not from there on."""
    starved = {}
    for items in (1, 64, 128, 1024):
        found = asked(capsys, "vector_add", "--sweep", f"items={items}", "--output", "b_itpp")
        starved[items] = found["minimum"]["value"]
    assert starved[1] > 0.98
    assert starved[64] > 0.4
    assert starved[128] == starved[1024] == 0


def test_a_kernel_alone_is_predicted(capsys: pytest.CaptureFixture[str]) -> None:
    found = asked(capsys, str(KERNELS / "vector_add.cl"), "--board", "de5_net", "--launch", ADD)
    assert (found["profile"], found["work_items"], found["time_s"]) == ("repaired", 1024, None)
    assert found["cycles"] == pytest.approx(1024, rel=0.01)  # a work item each cycle
    assert found["potentials"] == {"b_mem": 0, "b_balance": 0, "b_itpp": 0}
    assert not [d for d in found["diagnostics"] if d["file"].endswith(".cl")]  # they are of no line of the kernel
    said = " ".join(d["message"] for d in found["diagnostics"])
    assert "seconds are a range" in said
    low, high = found["clock_range_hz"]  # of built kernels that take as little of the logic
    assert (low, high) == (136e6, 285e6)
    assert found["time_range_s"] == pytest.approx([found["cycles"] / high, found["cycles"] / low])
    # an addition and three accesses, beside the board's own 17 % of 234,720 blocks; what is left of the rest is B_comp
    assert found["estimated_shares"]["logic"] == pytest.approx(0.17 + 3000 / 234720, abs=2e-3)
    assert found["estimated_shares"]["DSP blocks"] == 0
    memory = found["estimated_shares"]["memory blocks"]
    assert 0.11 < memory < 0.25
    assert found["memory_range"][0] < memory < found["memory_range"][1]
    assert found["most_b_comp"] == pytest.approx((1 - memory) / 0.89)
    assert "this design takes an estimated 18.3\u202f% of the logic" in said


def test_the_profiles_say_which_produced_a_number(multiply: Path, capsys: pytest.CaptureFixture[str]) -> None:
    printed, repaired = (asked(capsys, str(multiply), "--profile", name) for name in ("printed", "repaired"))
    assert (printed["profile"], repaired["profile"]) == ("printed", "repaired")
    assert printed["cycles"] > 30 * repaired["cycles"]  # R5: the loop's 64 trips count twice
    assert {n["reading"] for n in repaired["numbers"]} > {"R4", "R5", "R9"}
    assert {n["reading"] for n in printed["numbers"]} == {"", "R2", "R7", "R10", "R12"}
    assert "no reading 'fitted'" in told(capsys, str(multiply), "--profile", "fitted")


def test_numbers_name_their_equation_and_what_they_are_made_of(
    multiply: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    numbers = asked(capsys, str(multiply))["numbers"]
    transactions = next(n for n in numbers if n["symbol"] == "Mem_trans" and n["inputs"]["#Trip"] == 64)
    made = transactions["inputs"]
    assert transactions["equation"] == "Eq. 14"
    expected = made["#Mem_insts"] * made["#WI"] * made["#Trip"] / made["#Mem_burst"]
    assert transactions["value"] == pytest.approx(expected)


def test_a_groups_copy_moves_what_the_loop_in_its_place_would(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The header that gives the size is found in a folder of the launch's, and read again when it has changed."""
    (tmp_path / "sizes").mkdir()
    (tmp_path / "sizes" / "size.h").write_text("#define SIZE 128\n")
    (tmp_path / "copy.cl").write_text(COPIES)
    found = {}
    for kernel in ("by_group", "by_items"):
        (tmp_path / "copy.opencl.yaml").write_text(COPY.replace("KERNEL", kernel))
        numbers = asked(capsys, str(tmp_path / "copy.opencl.yaml"))["numbers"]
        found[kernel] = [n["value"] for n in numbers if n["symbol"] == "Mem_trans"]
    assert found["by_group"] == found["by_items"] == [4096 * (2 + 1) / 16]
    (tmp_path / "sizes" / "size.h").write_text("#define SIZE 256\n")
    numbers = asked(capsys, str(tmp_path / "copy.opencl.yaml"))["numbers"]
    assert [n["value"] for n in numbers if n["symbol"] == "Mem_trans"] == [4096 * (4 + 1) / 16]


def test_steps_build_on_one_another_and_reports_give_seconds(
    multiply: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (multiply.parent / "report.txt").write_text(
        "Logic utilization: 50,000 / 100,000 ( 50 % )\nDSP blocks: 64 / 256 ( 25 % )\n"
        "RAM blocks: 1,280 / 2,560 ( 50 % )\nActual clock freq: 200\nKernel fmax: 201\n"
    )
    steps = """
steps:
  - {name: UL, unroll: {L1: 4}}
  - {name: UL_SIMD, simd: 2, report: report.txt}
"""
    found = asked(capsys, changed(multiply, steps))
    written, unrolled, both = found["designs"]
    assert (unrolled["unroll"], both["unroll"], both["simd"]) == ({"L1": 4}, {"L1": 4}, 2)
    assert written["time_s"] is None
    assert both["time_s"] == pytest.approx(both["cycles"] / 200e6)
    assert both["potentials"]["b_comp"] == pytest.approx(0.5 / 0.89)  # memory blocks are the scarcest, Eq. 20
    assert both["speedup_cycles"] == pytest.approx(written["cycles"] / both["cycles"])
    assert not [d for d in found["diagnostics"] if "no seconds" in d["message"]]


def test_rounds_and_accesses_are_given_in_place_of_the_launchs(
    multiply: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Rounds that a model gives predict what the kernel takes that takes so many; a step inherits them."""

    def cycles(more: str) -> float:
        return float(asked(capsys, changed(multiply, more))["cycles"])

    as_launched = cycles("")
    assert cycles("trips: {L1: 64}\nstrides: {b: 4}\n") == as_launched  # what the launch showed
    longer = cycles("trips: {'5': 128}\n")
    assert cycles("trips: {L1: 128}\nsteps: [{name: same}]\n") == longer
    multiply.write_text(MULTIPLY.replace("width: 64", "width: 128").replace("4096", "16384"))
    assert longer == pytest.approx(asked(capsys, str(multiply))["cycles"]) == pytest.approx(2 * as_launched, rel=0.01)
    swept = asked(capsys, changed(multiply, "inputs: {n: {value: 64}}\ntrips: {L1: n}\n"), "--sweep", "n=64,128")
    assert swept["minimum"]["value"] == as_launched
    side_by_side = cycles("simd: 4\n")
    assert cycles("simd: 4\nstrides: {b: irregular}\n") > 1.5 * side_by_side  # four transactions in place of one
    assert cycles("simd: 4\nstrides: {b: irregular}\nsteps: [{name: again, strides: {b: 4}}]\n") == side_by_side
    assert cycles("simd: 4\nstrides: {b: irregular}\nleft_out: [b]\n") == cycles("simd: 4\nleft_out: [b]\n")


def test_advice_names_the_loop_the_access_and_the_factor(multiply: Path, capsys: pytest.CaptureFixture[str]) -> None:
    found = asked(capsys, str(multiply))["suggestions"]
    best = {one["what"]: one for one in reversed(found)}
    assert best["UL"]["said"].startswith("unroll the loop on line 5 (L1) by ")
    assert best["UL"]["line"] == 5
    assert set(best["UL"]["answers"]) == {"b_mem", "b_comp", "b_balance"}
    assert all(one["speedup"] > 1 for one in found)
    assert [one["speedup"] for one in found] == sorted((one["speedup"] for one in found), reverse=True)


def test_optimisations_stand_in_the_source_too(multiply: Path, capsys: pytest.CaptureFixture[str]) -> None:
    asked_of = SOURCE.replace("    for", "    #pragma recap SM a b\n    #pragma unroll 8\n    for").replace(
        "__kernel", "__kernel __attribute__((num_compute_units(2)))"
    )
    (multiply.parent / "multiply.cl").write_text(asked_of)
    (found,) = asked(capsys, str(multiply))["designs"]
    assert (found["changes"], found["unroll"], found["compute_units"]) == (["SM a", "SM b"], {"L1": 8}, 2)
    (multiply.parent / "multiply.cl").write_text(asked_of.replace("SM a b", "XX a"))
    assert "multiply.cl:5: error: unknown annotation" in told(capsys, str(multiply))


def test_a_search_keeps_within_the_fpga(multiply: Path, capsys: pytest.CaptureFixture[str]) -> None:
    used = "frequency_hz: 200 MHz\nlogic_used: 0.3\nmemory_used: 0.3\ndsp_used: 0.1\n"
    found = asked(capsys, changed(multiply, used), "--search", "5")
    assert found["budget"]
    assert len(found["combinations"]) == 5
    assert all(one["largest_used"] <= 1 for one in found["combinations"])
    likely_s = [math.prod(one["time_range_s"]) for one in found["combinations"]]  # not cycles: large ones are slower
    assert likely_s == sorted(likely_s)
    assert found["combinations"][0]["speedup"] > 2


@pytest.mark.parametrize(
    ("more", "said"),
    [
        ("unroll: {L7: 2}\n", "the kernel has no loop 'L7'"),
        ("trips: {L7: 2}\n", "the kernel has no loop 'L7'"),
        ("trips: {L1: 0}\n", "above 0"),
        ("strides: {d: 4}\n", "no access of global memory uses 'd'"),
        ("strides: {a: odd}\n", "'odd' is not a stride. Write bytes, as in a: 4, or a: irregular."),
        ("left_out: [sum]\n", "no access of global memory uses 'sum'"),
        ("local_memory: [d]\n", "no global memory access reads or writes 'd'"),
        ("report: none.txt\n", "cannot read 'none.txt'"),
        ("kernel: divide\n", "there is no kernel 'divide'"),
        ("simd: 0\n", "simd is 0"),
        ("logic_used: 2\n", "logic_used is 2"),
        ("steps: [{name: a}, {name: a}]\n", "two steps are called 'a'"),
    ],
)
def test_what_is_wrong_with_a_model_is_told(
    multiply: Path, more: str, said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert said in told(capsys, changed(multiply, more))


def test_what_is_wrong_with_a_kernel_or_its_launch_is_told(multiply: Path, capsys: pytest.CaptureFixture[str]) -> None:
    add = str(KERNELS / "vector_add.cl")
    assert "--board is missing" in told(capsys, add, "--launch", ADD)
    assert "--board is missing" in (both := told(capsys, add))
    assert "--launch is missing" in both
    each = told(capsys, add, "--board", "de5_net", "--launch", "{global_size: [64], arguments: {a: {elements: 64}}}")
    assert "'b' (int*) has no value" in each
    assert "'c' (int*) has no value" in each
    assert "there is no launch file 'nowhere'" in told(capsys, add, "--board", "de5_net", "--launch", "nowhere")
    assert "is not an OpenCL board" in told(capsys, add, "--board", "xd1000", "--launch", ADD)
    assert "no argument 'd'" in told(capsys, add, "--board", "de5_net", "--launch", ADD.replace("c:", "d:"))
    assert "--launch goes with a file *.cl" in told(capsys, str(multiply), "--launch", ADD)
    (multiply.parent / "multiply.cl").write_text(SOURCE.replace("sum = 0", "sum = "))
    assert "multiply.cl:4:" in told(capsys, str(multiply))
