"""What a launch's description becomes: buffers, numbers, groups; and what a person is told of a wrong one."""

from pathlib import Path

import numpy as np
import pytest
from rc_workbench_plugins.opencl.kernel import Argument, Kernel, Kind, Space, Type
from rc_workbench_plugins.opencl.launch import Launch, local_size, values_of

from workbench.model.diagnostic import WorkbenchError

GLOBAL = Type(Kind.POINTER, 64, space=Space.GLOBAL)
KERNEL = Kernel(
    "scale",
    "scale.cl",
    1,
    (
        Argument("data", GLOBAL, "float4*", 16),
        Argument("table", GLOBAL, "uchar*", 1),
        Argument("near", Type(Kind.POINTER, 64, space=Space.LOCAL), "int*", 4),
        Argument("factor", Type(Kind.FLOAT, 32), "float"),
        Argument("shift", Type(Kind.FLOAT, 32, 4), "float4"),
        Argument(
            "box",
            Type(Kind.POINTER, 64, space=Space.PRIVATE),
            "Box",
            8,
            fields=((0, Type(Kind.INT, 32)), (4, Type(Kind.INT, 8))),
        ),
    ),
    (),
    (),
)
GIVEN = {"data": {"elements": 8, "low": -1, "high": 1}, "table": {"elements": 4, "value": 200}, "near": {"elements": 6},
         "factor": 0.5, "shift": [1, 2, 3, 4], "box": [-5, 200]}  # fmt: skip


def launch(**changed: object) -> Launch:
    return Launch.model_validate({"global_size": [96], "arguments": GIVEN} | changed)


def test_arguments_become_arrays_of_their_types() -> None:
    found = values_of(KERNEL, launch(), Path())
    assert {name: (values.dtype.str[1:], values.size) for name, values in found.items()} == {
        "data": ("f4", 32), "table": ("u1", 4), "near": ("i4", 6), "factor": ("f4", 1), "shift": ("f4", 4),
        "box": ("u1", 8)}  # fmt: skip
    assert (found["table"] == 200).all()
    assert found["factor"][0] == 0.5
    assert found["shift"].tolist() == [1, 2, 3, 4]
    assert found["box"].tolist() == [251, 255, 255, 255, 200, 0, 0, 0]
    for_all = {"shift": 2, "box": 0, "data": {"elements": 2, "value": [1, 2, 3, 4]}}
    every = values_of(KERNEL, launch(arguments=GIVEN | for_all), Path())
    assert (every["shift"].tolist(), every["data"].tolist()) == ([2, 2, 2, 2], [1, 2, 3, 4] * 2)
    assert np.ptp(found["data"]) > 1
    assert np.array_equal(found["data"], values_of(KERNEL, launch(), Path())["data"])  # the seed draws the same again


def test_a_buffer_is_read_from_a_file(tmp_path: Path) -> None:
    (tmp_path / "table.bin").write_bytes(bytes(range(7)))
    np.save(tmp_path / "data.npy", np.arange(8, dtype="f4").reshape(2, 4))
    with pytest.raises(WorkbenchError, match=r"'box' \(Box\) takes 8 bytes, not 7"):
        values_of(KERNEL, launch(arguments=GIVEN | {"box": {"file": "table.bin"}}), tmp_path)
    files = {"table": {"file": "table.bin"}, "data": {"file": "data.npy"}}
    found = values_of(KERNEL, launch(arguments=GIVEN | files), tmp_path)
    assert found["table"].tolist() == list(range(7))
    assert found["data"].tolist() == list(range(8))


@pytest.mark.parametrize(
    ("asked", "given", "expected"),
    [
        ((), (), (32,)),  # the most up to 64 that divides 96
        ((48, 1, 1), (), (48,)),
        ((48, 1, 1), (24,), (24,)),
    ],
)
def test_a_groups_size_is_the_launchs_or_the_kernels(
    asked: tuple[int, ...], given: tuple[int, ...], expected: tuple[int, ...]
) -> None:
    attributes = {"reqd_work_group_size": asked} if asked else {}
    kernel = Kernel("k", "k.cl", 1, (), (), (), attributes=attributes)
    assert local_size(kernel, launch(local_size=given)) == expected


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        ({"dat": 1}, "no argument 'dat'"),
        ({"factor": {"elements": 4}}, "'factor' is a number"),
        ({"data": 3}, "the buffer 'data' has no number of elements"),
        ({"shift": [1, 2]}, r"'shift' \(float4\) takes 4 numbers, not 2"),
        ({"box": [1, 2, 3]}, r"'box' \(Box\) takes 2 numbers, not 3"),
        ({"box": [1, 300]}, r"'box' \(Box\) cannot hold 300"),
        ({"box": {"elements": 4}}, "'box' is a number"),
        ({"table": {"elements": 1, "value": 256}}, r"'table' \(uchar\*\) cannot hold 256"),
        ({"data": {"elements": 1 << 40}}, "more than 4 GiB"),
        ({"data": {"elements": 4, "low": 2, "high": 1}}, r"low \(2\) is above high \(1\)"),
        ({"table": {"file": "none.bin"}}, "cannot read this file"),
    ],
)
def test_what_is_wrong_with_an_argument_is_told(arguments: dict[str, object], told: str, tmp_path: Path) -> None:
    with pytest.raises(WorkbenchError, match=told):
        values_of(KERNEL, launch(arguments=GIVEN | arguments), tmp_path)


def test_a_missing_argument_and_groups_that_do_not_fit_are_told() -> None:
    with pytest.raises(WorkbenchError, match=r"'factor' \(float\) has no value"):
        values_of(KERNEL, launch(arguments={k: v for k, v in GIVEN.items() if k != "factor"}), Path())
    with pytest.raises(WorkbenchError, match="groups of 36 do not divide 96"):
        local_size(KERNEL, launch(local_size=[36]))
