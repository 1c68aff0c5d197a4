"""Kernels of one work item, and what withholds advice: dependences, branches of the work item, atomics, endless loops.

The expected cycles follow from Table 2 of Wang et al. 2016 (an addition of floats takes 7 cycles, a multiplication 5, a
load of local memory 7, global memory answers after 40) by the rules T1 to T4 of the plugin's ERRATA.md.
"""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import yaml
from answers import document_of
from benchmarks.opencl_tasks import rows

from workbench.cli.main import main

TASK = "__kernel void k({arguments})\n{{\n    int s = 0; float f = 0;\n{body}\n    y[0] = s + (int)f;\n}}\n"


def predicted(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, source: str, arguments: dict[str, object], items: int = 1
) -> dict[str, Any]:
    kernel = tmp_path / "k.cl"
    kernel.write_text(source)
    launch = yaml.safe_dump({"global_size": [items], "arguments": arguments}, default_flow_style=True, width=10_000)
    code = main(["predict", "opencl", str(kernel), "--board", "de5_net", "--launch", launch, "--json"])
    answer = json.loads(capsys.readouterr().out)
    assert code == 0, answer
    return answer


def walk(node: dict[str, Any]) -> Iterator[dict[str, Any]]:
    yield node
    for child in node.get("children", ()):
        yield from walk(child)


def messages(answer: dict[str, Any]) -> str:
    return "\n".join(one["message"] for one in answer["diagnostics"])


@pytest.mark.parametrize(
    ("body", "interval"),
    [
        ("    for (int i = 0; i < n; i++) f = 0.5f * f + x[i];", 12),  # multiply, then add
        ("    for (int i = 0; i < n; i++) f += x[i];", 7),
        ("    for (int i = 0; i < n; i++) s += x[i];", 1),  # integers: one addition
        ("    for (int i = 0; i < n; i++) z[i] = x[i] * 3;", 1),  # nothing is carried
        ("    for (int i = 3; i < n; i++) z[i] = z[i - 3] + x[i];", 14),  # 40 + 1 cycles in three iterations
        ("    for (int i = 0; i < n - 3; i++) z[i] = z[i + 3] + x[i];", 1),  # read before it is written
        ("    for (int i = 0; i < n; i++) s = x[s];", 41),  # the next address is what was loaded, and a step to it
        ("    for (int i = 0; i < n; i++) z[x[i]] += 1;", 41),  # wherever that is, as a compiler has to assume
    ],
)
def test_dependences_set_how_soon_the_next_iteration_starts(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], body: str, interval: int
) -> None:
    source = TASK.format(arguments="__global int *x, __global int *y, __global int *z, int n", body=body)
    buffer = {"elements": 1000, "low": 0, "high": 900}
    answer = predicted(capsys, tmp_path, source, {"x": buffer, "y": buffer, "z": buffer, "n": 1000})
    numbers = {(one["symbol"], one["node"]): one["value"] for one in answer["numbers"]}
    assert numbers["II", "L1"] == interval
    trips = next(node["trips"] for node in walk(answer["hierarchy"]) if node["id"] == "L1")
    assert numbers["C", "L1"] == interval * (trips - 1) + numbers["depth", "L1"]
    said = f"the loop on line 4 starts an iteration every {interval} cycles: each waits for line 4 of an earlier one"
    assert (said in messages(answer)) == (interval > 1)
    assert "a single work item runs" in messages(answer)
    unrolling = [one for one in answer["suggestions"] if one["what"] == "UL"]
    assert bool(unrolling) == (interval == 1), "where each copy waits for the one before it, nothing can be gained"
    assert not [one for one in answer["suggestions"] if one["what"] in ("SIMD", "CU", "MC")]


def test_intervals_and_cycles_are_those_of_a_count_that_executes_the_loop() -> None:
    """Task kernels made at random; 100 of them: tests/benchmarks/opencl_tasks.py."""
    listed = list(rows(6, seed=5))
    assert [one for one in listed if not one.ok] == []
    assert max(one.interval_counted for one in listed) > 1


def test_the_papers_own_equations_take_a_task_as_a_range_of_one(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    source = TASK.format(arguments="__global int *y", body="    for (int i = 0; i < 100; i++) f = f * 0.5f + i;")
    (tmp_path / "k.cl").write_text(source)
    launch = "{global_size: [1], arguments: {y: {elements: 1}}}"
    words = ["predict", "opencl", str(tmp_path / "k.cl"), "--board", "de5_net", "--launch", launch, "--json"]
    assert "II" not in {one["symbol"] for one in document_of(capsys, [*words, "--profile", "printed"])["numbers"]}


VARYING = """__kernel void k(__global const int *times, __global const float *x, __global float *y)
{
    int i = get_global_id(0);
    float s = 0;
    for (int j = 0; j < times[i]; j++)
        s += x[64 * i + j];
    y[i] = s;
}
"""


def test_an_unrolled_loop_of_varying_trips_takes_the_mean_of_whole_rounds(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    times = np.random.default_rng(1).integers(1, 64, 256, endpoint=True).astype(np.int32)
    np.save(tmp_path / "times.npy", times)
    given = {"times": {"file": str(tmp_path / "times.npy")}, "x": {"elements": 1 << 14}, "y": {"elements": 256}}
    answer = predicted(capsys, tmp_path, VARYING, given, 256)
    (loop,) = (one for one in answer["suggestions"] if one["what"] == "UL")
    factor = int(loop["said"].rsplit(" ", 1)[1])
    model = tmp_path / "k.opencl.yaml"
    model.write_text(
        yaml.safe_dump(
            {
                "schema_version": 1, "name": "k", "platform": "de5_net", "kernel_file": "k.cl",
                "launch": {"global_size": [256], "arguments": given}, "unroll": {"L1": factor},
            }
        )
    )  # fmt: skip
    unrolled = document_of(capsys, ["predict", "opencl", str(model), "--json"])
    numbers = {(one["symbol"], one["node"]): one["inputs"] for one in unrolled["numbers"]}
    assert numbers["Comp_min", "for.body"]["#Trip"] == pytest.approx(np.ceil(times / factor).mean())
    assert numbers["Comp_min", "for.body"]["#Trip"] > times.mean() / factor
    assert not [one for one in answer["suggestions"] if one["what"] == "SIMD"]
    assert "how often a loop runs depends on the work item, on line 5" in messages(answer)


def test_a_loop_that_all_work_items_leave_together_may_be_vectorised(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    given = {"times": {"elements": 256}, "x": {"elements": 1 << 14}, "y": {"elements": 256}}
    answer = predicted(capsys, tmp_path, VARYING.replace("times[i]", "64"), given, 256)
    assert [one for one in answer["suggestions"] if one["what"] == "SIMD"]
    assert "SIMD is not suggested" not in messages(answer)


def test_what_groups_share_through_atomics_is_left_as_it_is(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    source = """__kernel void k(__global const int *x, __global int *bins)
{
    for (int j = 0; j < 16; j++)
        atomic_add(&bins[x[16 * get_global_id(0) + j] & 15], 1);
}
"""
    given = {"x": {"elements": 4096, "low": 0, "high": 99}, "bins": {"elements": 16}}
    answer = predicted(capsys, tmp_path, source, given, 256)
    assert not [one for one in answer["suggestions"] if "bins" in one["said"]]
    assert "no change of 'bins' is suggested: work groups share it through the atomic on line 4" in messages(answer)


def test_an_endless_kernel_ends_with_a_message_at_its_loop(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("rc_workbench_plugins.opencl.interpret.MOST_PIECES", 5000)
    (tmp_path / "k.cl").write_text(
        "__kernel void k(__global volatile int *flag, __global int *y)\n{\n    while (!flag[0])\n        y[0]++;\n}\n"
    )
    launch = "{global_size: [1], arguments: {flag: {elements: 1}, y: {elements: 1}}}"
    assert main(["predict", "opencl", str(tmp_path / "k.cl"), "--board", "de5_net", "--launch", launch, "--json"]) == 2
    (problem,) = json.loads(capsys.readouterr().out)["diagnostics"]
    assert problem["message"] == "the kernel is still running after 5,000 blocks"
    assert problem["line"] in (3, 4)


def test_a_search_keeps_within_the_boards_dsp_blocks(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "k.cl").write_text(
        "__kernel void k(__global const float *x, __global float *y)\n{\n"
        "    int i = get_global_id(0);\n    float s = 0;\n"
        "    for (int j = 0; j < 64; j++)\n        s += x[64 * i + j] * x[j];\n    y[i] = s;\n}\n"
    )
    launch = "{global_size: [4096], arguments: {x: {elements: 262144}, y: {elements: 4096}}}"
    words = ["predict", "opencl", str(tmp_path / "k.cl"), "--board", "de5_net", "--launch", launch, "--search", "50"]
    document = document_of(capsys, [*words, "--json"])
    assert document["budget"]
    assert len(document["combinations"]) > 5
    for one in document["combinations"]:  # one multiplication in the loop, on a board of 256 DSP blocks
        blocks = one["simd"] * one["compute_units"] * one["unroll"].get("L1", 1)
        assert one["shares"]["DSP blocks"] == blocks / 256
        assert (one["largest_used"] <= 1, one["reason"]) == (True, "")
    for one in document["left_out"]:
        assert one["cycles"] < document["combinations"][0]["cycles"]
        assert "DSP blocks" in one["reason"]
    assert main(words) == 0
    assert "logic, memory blocks, DSP blocks are estimated" in capsys.readouterr().out
