"""The best of a search written into a copy of the source: what is in it, what is left to do, what is checked."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from rc_workbench_plugins.opencl.annotations import annotated
from rc_workbench_plugins.opencl.compile import compile_file
from rc_workbench_plugins.opencl.hierarchy import hierarchy
from rc_workbench_plugins.opencl.kernel import Kernel, Loop, walk
from rc_workbench_plugins.opencl.model import Setting
from rc_workbench_plugins.opencl.optimisations import Change
from rc_workbench_plugins.opencl.rewrite import Rewritten, Wanted, rewritten

from workbench.cli.main import main

NEAR = """\
/* for (each point) the kernel looks at all places */
__kernel void near(__global const float *x, __global const float *place, __global float *out)
{
    int i = get_global_id(0);
    float least = 1e9f;
    #pragma unroll 2
    for (int k = 0; k < 64; k++) { for (int j = 0; j < 4; j++)
        least = fmin(least, fabs(x[i] - place[4 * k + j])); }
    out[i] = least;
}
"""
MODEL = """\
schema_version: 1
name: near
platform: de5_net
kernel_file: near.cl
launch:
  global_size: [1024]
  local_size: [64]
  arguments:
    x: {elements: 1024, low: 0, high: 1}
    place: {elements: 256, low: 0, high: 1, seed: 1}
    out: {elements: 1024}
"""


@pytest.fixture
def near(tmp_path: Path) -> Path:
    (tmp_path / "near.cl").write_text(NEAR)
    (tmp_path / "near.opencl.yaml").write_text(MODEL)
    return tmp_path / "near.opencl.yaml"


def written(
    path: Path, setting: Setting, changes: tuple[Change, ...] = (), sizes: int = 256
) -> tuple[Kernel, Rewritten]:
    kernel = compile_file(path, {}, "CL1.2", None, []).kernel("")
    wanted = Wanted(setting, changes, (64,), dict.fromkeys(("x", "place", "out"), sizes))
    made = rewritten(path.read_text(), kernel, hierarchy(kernel), wanted)
    path.write_text(made.text)
    return compile_file(path, {}, "CL1.2", None, []).kernel(""), made


def unrolled(kernel: Kernel) -> dict[str, int | None]:
    return {node.id: node.unroll for node in walk(hierarchy(kernel)) if isinstance(node, Loop)}


def test_attributes_and_pragmas_are_read_again_as_they_were_asked(near: Path) -> None:
    path = near.with_name("near.cl")
    kernel, made = written(path, Setting(1024.0, 2.0, 4.0, {"L1": 8.0}))
    assert kernel.attributes["num_compute_units"] == (2,)
    assert kernel.attributes["num_simd_work_items"] == (4,)
    assert kernel.attributes["reqd_work_group_size"] == (64, 1, 1)
    assert sorted(unrolled(kernel).values(), key=str) == [8, None]  # two loops on a line: the outer one has it
    assert made.left == ()
    again, _ = written(path, Setting(1024.0, 3.0, 1.0, {}))  # in place of what is there
    assert again.attributes["num_compute_units"] == (3,)
    assert again.attributes["num_simd_work_items"] == (1,)
    assert path.read_text().count("num_compute_units") == 1


def test_a_pragma_stands_before_its_loop_wherever_that_begins(tmp_path: Path) -> None:
    path = tmp_path / "k.cl"
    path.write_text(
        "#define EACH for (int j = 0; j < 8; j++)\n"
        "__kernel void k(__global float *y)\n{\n    float s = 0; // for nothing\n"
        "    if (y[0] > 0) for (int i = 0; i < 16; i++)\n        s += y[i];\n"
        "#pragma unroll 4\n    for (int i = 0; i < 32; i++)\n        s += y[i];\n"
        "    EACH\n        s += y[j];\n    y[0] = s;\n}\n"
    )
    kernel = compile_file(path, {}, "CL1.2", None, []).kernel("")
    names = {node.lines[0]: node.id for node in walk(hierarchy(kernel)) if isinstance(node, Loop)}
    new, made = written(path, Setting(1.0, unroll={names[5]: 2.0, names[10]: 8.0}))
    assert sorted(unrolled(new).values(), key=str) == [2, None, None]  # the second had 4, and is asked for none
    assert made.done == ("#pragma unroll 2 of line 5", "#pragma unroll 1 of line 8")
    assert made.left == ("#pragma unroll 8 of line 10: a macro produces the loop, or a jump",)
    assert made.fields == {"unroll": {names[10]: 8.0}}  # which the copy's model says then


def test_groups_that_simd_does_not_divide_are_said(near: Path) -> None:
    kernel, made = written(near.with_name("near.cl"), Setting(1024.0, simd=3.0, unroll={"L1": 2.0, "L2": 2.0}))
    assert "num_simd_work_items" not in kernel.attributes
    assert "num_simd_work_items(3): groups of 64 work items are not a multiple of it" in made.left


@pytest.mark.parametrize(
    ("change", "why"),
    [
        (Change("MC", "x"), "the host fills this array"),
        (Change("VT", "x", 4), "the argument gets another type"),
        (Change("PM", "x"), "the part that a work item needs is unknown"),
        (Change("SM", "out"), "the kernel writes it too"),
    ],
)
def test_what_is_not_safe_is_left_with_its_reason(near: Path, change: Change, why: str) -> None:
    _, made = written(near.with_name("near.cl"), Setting(1024.0, unroll={"L1": 2.0}), (change,))
    assert made.kept == (change,)
    path = near.with_name("near.cl")
    kernel = compile_file(path, {}, "CL1.2", None, []).kernel("")
    assert annotated(path, kernel.line, [kernel.line]) == (change,)  # the copy asks for it all the same
    assert any(str(change) in line and why in line for line in made.left)


def test_a_large_array_is_not_copied_into_local_memory(near: Path) -> None:
    _, made = written(near.with_name("near.cl"), Setting(1024.0), (Change("SM", "place"),), 1 << 20)
    assert "more than 65,536" in made.left[-1]


PRODUCTS = """\
__kernel void products(__global const float *x, __global const float *w, __global float *y)
{
    int i = get_global_id(0);
    float s = 0;
    for (int j = 0; j < 8; j++) for (int t = 0; t < 4; t++)
        s += x[i] * w[4 * j + t];
    y[i] = s;
}
"""


def test_a_copy_says_all_factors_and_computes_the_same(tmp_path: Path) -> None:
    """Every factor of a design in one text, read again, and run by another implementation of OpenCL."""
    from opencl_by_pocl import by_pocl

    path = tmp_path / "k.cl"
    path.write_text(PRODUCTS)
    kernel = compile_file(path, {}, "CL1.2", None, []).kernel("")
    changes = Change("PM", "w"), Change("MC", "x"), Change("VT", "y", 4)
    setting = Setting(256.0, 2.0, 4.0, {"L1": 2.0, "L2": 4.0})
    made = rewritten(
        PRODUCTS, kernel, hierarchy(kernel), Wanted(setting, changes, (64,), {"x": 256, "w": 32, "y": 256})
    )
    path.write_text(made.text)
    copy = compile_file(path, {}, "CL1.2", None, []).kernel("")
    assert copy.attributes["num_compute_units"] == (2,)
    assert copy.attributes["num_simd_work_items"] == (4,)
    assert list(unrolled(copy).values()) == [None, 2, 4]  # the first fetches w
    assert annotated(path, copy.line, [copy.line]) == changes[1:]
    assert made.fields == {}
    arguments = {"x": np.linspace(0, 1, 256, dtype="f4"), "w": np.linspace(1, 2, 32, dtype="f4"),
                 "y": np.zeros(256, "f4")}  # fmt: skip
    before, after = (by_pocl(text, "products", (256,), (64,), arguments) for text in (PRODUCTS, made.text))
    assert np.array_equal(before["y"], after["y"])
    assert before["y"].any()


def asked(capsys: pytest.CaptureFixture[str], *words: str) -> dict[str, Any]:
    assert main(["predict", "opencl", *words, "--json"]) == 0, capsys.readouterr().err
    found: dict[str, Any] = json.loads(capsys.readouterr().out)
    return found


def test_the_best_is_written_with_its_model_and_gives_the_same_results(
    near: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out, original = tmp_path / "best", near.with_name("near.cl")
    original.write_bytes(NEAR.encode() + b"/* caf\xe9 */\n")  # what is not UTF-8 stays
    found = asked(capsys, str(near), "--search", "1", "--write", str(out))["written"]
    assert "SM place" in found["combination"]
    assert found["same_results"] is True
    text = (out / "near.cl").read_bytes().decode("latin-1")
    assert text.endswith("/* caf\xe9 */\n")
    assert "__local float place_near[256];" in text
    assert "place_near[4 * k + j]" in text
    again = asked(capsys, found["model"])
    assert not any("SIMD is not suggested" in d["message"] for d in again["diagnostics"])
    assert again["cycles"] == found["cycles"]
    assert again["cycles"] < asked(capsys, str(near))["cycles"]
    assert again["fits"]
    assert original.read_bytes().startswith(NEAR.encode())
    assert main(["predict", "opencl", str(near), "--search", "1", "--write", str(out)]) == 2
    assert "this file already exists" in capsys.readouterr().err


def test_a_copy_with_other_results_is_not_kept(
    near: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("rc_workbench_plugins.opencl.written._same_results", lambda *_: False)
    out = tmp_path / "best"
    assert main(["predict", "opencl", str(near), "--search", "1", "--write", str(out)]) == 2
    assert "gives results that differ from the original's" in capsys.readouterr().err
    assert list(out.iterdir()) == []
