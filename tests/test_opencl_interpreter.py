"""Kernels run by the interpreter do what pocl does, count what was counted by hand, and tell what goes wrong."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from rc_workbench_plugins.opencl.compile import compile_file
from rc_workbench_plugins.opencl.interpret import Ran, run
from rc_workbench_plugins.opencl.kernel import Space, Way
from rc_workbench_plugins.opencl.launch import Launch, values_of
from rc_workbench_plugins.opencl.ndrange import NDRange

from workbench.api.job import Job
from workbench.model.diagnostic import Cancelled, WorkbenchError

ROOT = Path(__file__).parents[1]
DATA = Path(__file__).parent / "data/opencl"
BUNDLED = ROOT / "plugins/rc_workbench_plugins/opencl/kernels"
ITEMS, GROUP = 96, 32
RANDOM = np.random.default_rng(7)


def both(
    file: Path, kernel: str, arguments: Mapping[str, Any], size: NDRange, defines: Mapping[str, str] | None = None
) -> tuple[dict[str, NDArray[Any]], Mapping[str, NDArray[Any]]]:
    """What the buffers hold after pocl's run and after the interpreter's. Local memory is given in bytes."""
    from opencl_by_pocl import by_pocl, cl

    read = compile_file(file, defines).kernel(kernel)
    local = {a.name for a in read.arguments if a.type.space == "local"}
    given = {n: cl.LocalMemory(int(v)) if n in local else v for n, v in arguments.items()}
    theirs = by_pocl(file.read_text(), kernel, size.global_size, size.local_size, given, defines)
    return theirs, run(read, size, arguments).buffers


def ulps(a: NDArray[Any], b: NDArray[Any]) -> NDArray[np.int64]:
    """How many floats lie between two, 0 where both are no number."""
    whole = {4: np.int32, 8: np.int64}[a.dtype.itemsize]
    order = [np.where(v.view(whole) < 0, np.iinfo(whole).min - v.view(whole), v.view(whole)) for v in (a, b)]
    apart = np.abs(order[0].astype(object) - order[1].astype(object)).astype(np.int64)
    return np.where(np.isnan(a) & np.isnan(b), 0, apart)


@pytest.mark.parametrize("kind", ["char", "short", "int", "long"])
def test_integers_are_pocls_bit_for_bit(kind: str) -> None:
    element = {"char": np.int8, "short": np.int16, "int": np.int32, "long": np.int64}[kind]
    bounds = np.iinfo(element)
    a, b = RANDOM.integers(bounds.min, bounds.max, (2, ITEMS), element)
    a[:8] = b[4:12] = [0, 1, -1, bounds.min, bounds.max, 2, -2, 100]
    arguments = {"a": a, "b": b, "out": np.zeros(41 * ITEMS, element)}
    theirs, ours = both(DATA / "integers.cl", f"{kind}_ops", arguments, NDRange((ITEMS,), (GROUP,)))
    wrong = np.flatnonzero((theirs["out"] != ours["out"]).reshape(41, ITEMS).any(axis=1))
    assert not len(wrong), f"results {wrong}"


def floats(kind: type[np.floating[Any]]) -> dict[str, NDArray[Any]]:
    a, b = RANDOM.normal(0, 4, (2, ITEMS)).astype(kind)
    a[:4], b[:4] = [0.5, -2.5, 1e-3, 7.0], [1.5, -0.5, 1e3, 7.0]
    return {"a": a, "b": b}


@pytest.mark.parametrize("kind", ["float", "double"])
def test_arithmetic_is_pocls_to_a_last_place(kind: str) -> None:
    element = np.float32 if kind == "float" else np.float64
    arguments = floats(element) | {"out": np.zeros(14 * ITEMS, element)}
    theirs, ours = both(DATA / "floats.cl", f"{kind}_arithmetic", arguments, NDRange((ITEMS,), (GROUP,)))
    apart = ulps(theirs["out"], ours["out"]).reshape(14, ITEMS).max(axis=1)
    assert (apart <= 1).all(), apart


def test_mathematics_is_pocls_within_what_opencl_allows() -> None:
    """OpenCL 1.2, section 7.4, allows 2 to 16 last places; mix, smoothstep and the like are not bounded there."""
    arguments = floats(np.float32) | {"out": np.zeros(35 * ITEMS, np.float32)}
    theirs, ours = both(DATA / "floats.cl", "mathematics", arguments, NDRange((ITEMS,), (GROUP,)))
    apart = ulps(theirs["out"], ours["out"]).reshape(35, ITEMS).max(axis=1)
    near = np.isclose(theirs["out"], ours["out"], rtol=1e-5, atol=1e-6).reshape(35, ITEMS).all(axis=1)
    assert ((apart <= 4) | near).all(), list(enumerate(zip(apart, near, strict=True)))
    assert (apart <= 4).sum() >= 30, apart


def test_work_items_together_and_apart() -> None:
    values = RANDOM.integers(0, 1 << 20, ITEMS, np.int32)
    size = NDRange((ITEMS,), (GROUP,))
    shared = np.array([0, 0, -1, 0, 0, -7, *[0] * 10], np.int32)
    arguments = {"in": values, "out": np.zeros(ITEMS * 6, np.int32), "shared": shared, "near": 4 * GROUP}
    theirs, ours = both(DATA / "together.cl", "together", arguments | {"n": np.int32(ITEMS - 5)}, size)
    for name in ("out", "shared"):
        assert (theirs[name] == ours[name]).all(), name


def test_structures_tables_copies_and_halves() -> None:
    record = np.dtype([("tag", "i1"), ("value", "f4"), ("pair", "2i2")], align=True)
    records = np.zeros(ITEMS, record)
    records["tag"] = np.arange(ITEMS)
    arguments = {
        "records": records,
        "halves": RANDOM.normal(0, 2, ITEMS).astype(np.float16),
        "in": RANDOM.integers(0, 99, ITEMS, np.int32),
        "near": 4 * GROUP,
    }
    theirs, ours = both(DATA / "together.cl", "records", arguments, NDRange((ITEMS,), (GROUP,)))
    assert (theirs["halves"] == ours["halves"]).all()
    for field in record.names or ():
        assert (theirs["records"][field] == ours["records"][field]).all(), field


def test_a_structure_and_a_vector_by_value() -> None:
    from opencl_by_pocl import by_pocl, cl

    record = np.dtype([("count", "i4"), ("scale", "f4"), ("", "V8"), ("shift", "4f4"), ("parts", "3i4"), ("end", "V4")])
    given = np.zeros(1, record)
    given["count"], given["scale"], given["shift"], given["parts"] = 80, 2.5, [1, 2, 4, 8], [10, 20, 30]
    data, more = RANDOM.normal(0, 2, ITEMS).astype(np.float32), cl.cltypes.make_float2(1, 3)
    source, kernel = DATA / "together.cl", compile_file(DATA / "together.cl").kernel("by_value")
    theirs = by_pocl(
        source.read_text(), "by_value", (ITEMS,), (GROUP,), {"data": data, "given": given[0], "more": more}
    )
    ours = run(kernel, NDRange((ITEMS,), (GROUP,)), {"data": data, "given": given, "more": [1, 3]}).buffers
    assert (theirs["data"] == ours["data"]).all()
    numbers = (80, 2.5, 1, 2, 4, 8, 10, 20, 30)  # as a launch says it: in the order of the fields
    launch = Launch.model_validate({"global_size": [96], "arguments": {"data": {"elements": ITEMS}, "given": numbers,
                                    "more": [1, 3]}})  # fmt: skip
    values = values_of(kernel, launch, Path())
    assert values["given"].tobytes() == given.tobytes()
    assert values["more"].tolist() == [1, 3]


def test_copies_of_structures_and_groups_are_accesses() -> None:
    """A structure of 16 bytes is read and written at once; a group's copy counts for its elements, side by side."""
    items = np.zeros(ITEMS, np.dtype([("at", "3f4"), ("id", "i4")]))
    items["id"] = np.arange(ITEMS)
    size, rounds = NDRange((ITEMS,), (GROUP,)), 4
    theirs, ours = both(DATA / "together.cl", "moved", {"out": np.zeros_like(items), "in": items}, size)
    assert (theirs["out"]["id"] == ours["out"]["id"]).all()
    moved = compile_file(DATA / "together.cl").kernel("moved")
    ran = run(moved, size, {"out": np.zeros_like(items), "in": items})
    said = {(a.object, a.way, a.bytes, ran.profile.accesses[a.id].work_items.bytes)
            for a in moved.accesses if a.space is Space.GLOBAL}  # fmt: skip
    assert said == {("in", Way.LOAD, 16, 16), ("in", Way.LOAD, 16, -16), ("out", Way.STORE, 16, 16)}
    arguments = {"out": np.zeros(ITEMS, np.float32), "rows": RANDOM.random(ITEMS * 2 * rounds, np.float32),
                 "columns": RANDOM.random(2 * GROUP * rounds, np.float32), "near": 12 * GROUP,
                 "rounds": np.int32(rounds)}  # fmt: skip
    theirs, ours = both(DATA / "together.cl", "brought", arguments, size)
    assert (theirs["out"] == ours["out"]).all()
    brought = compile_file(DATA / "together.cl").kernel("brought")
    profile = run(brought, size, arguments).profile
    found = {a.object: (a.way, a.bytes, profile.accesses[a.id]) for a in brought.accesses if a.space is Space.GLOBAL}
    assert {name: (way, each, p.executions, p.work_items.bytes, p.loops.get("L1", p.rows).bytes)
            for name, (way, each, p) in found.items()} == {
        "rows": (Way.LOAD, 4, ITEMS * 2 * rounds, 4, 8 * GROUP),
        "columns": (Way.LOAD, 4, ITEMS * rounds, 8, 8 * GROUP),
        "out": (Way.STORE, 4, ITEMS, 4, None),
    }  # fmt: skip


def bundled(name: str) -> tuple[str, dict[str, Any], NDRange, dict[str, str]]:
    """A bundled kernel's file, arguments, launch and macros."""
    matrix = {"a": RANDOM.random(1024, np.float32), "b": RANDOM.random(1024, np.float32),
              "c": np.zeros(1024, np.float32), "a_width": np.int32(32), "b_width": np.int32(32)}  # fmt: skip
    text = np.frombuffer(b"The quick brown fox, jumps over the lazy dog's end! " * 40, np.uint8)
    points, centres = RANDOM.random(8 * 256, np.float32), RANDOM.random(8 * 16, np.float32)
    means = {"points": points, "centres": centres, "nearest": np.zeros(256, np.int32)}
    words = {"text": text, "bytes": np.int32(len(text)), "part_bytes": np.int32(36), "words": np.zeros(2048, np.uint8),
             "counts": np.zeros(64, np.int32)}  # fmt: skip
    alike = {"features": RANDOM.random(32 * 32, np.float32), "scores": np.zeros(1024, np.float32),
             "documents": np.int32(32), "count": np.int32(32)}  # fmt: skip
    square = NDRange((32, 32), (8, 8))
    return {
        "matrix_multiply": ("matrix_multiply", matrix, square, {"TILE": "8"}),
        "matrix_multiply_tiled": ("matrix_multiply", matrix, square, {"TILE": "8"}),
        "kmeans": ("kmeans", means, NDRange((256,), (32,)), {"CLUSTERS": "16"}),
        "kmeans_local_coalesced": ("kmeans", means, NDRange((256,), (32,)), {"CLUSTERS": "16"}),
        "word_count": ("word_count", words, NDRange((64,), (16,)), {"ENTRIES": "64"}),
        "word_count_local": ("word_count", words, NDRange((64,), (16,)), {"ENTRIES": "64"}),
        "word_count_private": ("word_count", words, NDRange((64,), (16,)), {"ENTRIES": "64"}),
        "word_count_vector": ("word_count", words, NDRange((64,), (16,)), {"ENTRIES": "64"}),
        "similarity_vector": ("similarity", alike, square, {}),
    }[name]


PARALLEL = ["matrix_multiply_tiled", "kmeans_local_coalesced", "word_count_local", "similarity_vector"]


@pytest.mark.parametrize("name", PARALLEL)
def test_bundled_kernels_do_what_they_do_by_pocl(name: str) -> None:
    file, arguments, size, defines = bundled(name)
    theirs, ours = both(BUNDLED / f"{file}.cl", name, arguments, size, defines)
    for array, mine in ours.items():
        if mine.dtype.kind == "f":
            assert (ulps(theirs[array], mine) <= (8 if name == "similarity_vector" else 1)).all(), array
        else:
            assert (theirs[array] == mine).all(), array


def launched(name: str) -> Ran:
    file, arguments, size, defines = bundled(name)
    return run(compile_file(BUNDLED / f"{file}.cl", defines).kernel(name), size, arguments)


def test_trips_and_strides_of_a_matrix_product() -> None:
    """By hand: the k loop goes round 32 times; `a` moves by an element with k and stays from column to column, `b` by a
    row with k and by an element from column to column."""
    profile = launched("matrix_multiply").profile
    trips = profile.loops["L1"]
    assert (trips.entries, trips.mean, trips.least, trips.most) == (1024, 32, 32, 32)
    a, b, c = (profile.accesses[name] for name in ("a1", "a2", "a3"))
    assert (a.work_items.bytes, a.loops["L1"].bytes) == (0, 4)
    assert (b.work_items.bytes, b.loops["L1"].bytes) == (4, 32 * 4)
    assert (c.work_items.bytes, c.executions) == (4, 1024)
    assert {s.share for s in (a.work_items, b.work_items, a.loops["L1"], b.loops["L1"])} == {1.0}
    assert not profile.sampled


def test_strides_of_nested_loops() -> None:
    """By hand: a point's features are read again for each cluster, and lie 32 bytes from the next point's."""
    profile = launched("kmeans").profile
    points, centres = profile.accesses["a1"], profile.accesses["a2"]
    assert (points.work_items.bytes, points.loops["L1"].bytes, points.loops["L2"].bytes) == (32, 0, 4)
    assert (centres.work_items.bytes, centres.loops["L1"].bytes, centres.loops["L2"].bytes) == (0, 32, 4)
    assert profile.loops["L2"].iterations == 256 * 16 * 8


def test_trips_follow_the_data() -> None:
    """Each word's letters are counted once: 40 sentences of 10 words and an s, with their letters."""
    profile = launched("word_count").profile
    words = profile.loops["L2"]
    assert words.entries == 40 * 11
    assert (words.iterations, words.least, words.most) == (40 * 39, 1, 5)


def test_each_step_of_word_count_counts_the_same() -> None:
    steps = [launched(f"word_count{step}").buffers["counts"] for step in ("", "_local", "_private", "_vector")]
    assert steps[0].sum() == 40 * 11
    assert all((counts == steps[0]).all() for counts in steps)


def test_executions_of_edges_add_up_to_those_of_blocks() -> None:
    ran = launched("word_count_local").profile
    for block, count in ran.blocks.items():
        came = sum(n for (_, target), n in ran.edges.items() if target == block)
        assert count == came + (ran.work_items if block == "entry" else 0)


def test_a_sample_of_groups_runs_and_is_called_one() -> None:
    file, arguments, _, defines = bundled("matrix_multiply_tiled")
    kernel = compile_file(BUNDLED / f"{file}.cl", defines).kernel("matrix_multiply_tiled")
    profile = run(kernel, NDRange((32, 32), (8, 8)), arguments, groups=3).profile
    assert (profile.sampled, profile.groups_sampled, profile.groups_launched, profile.work_items) == (True, 3, 16, 192)
    assert profile.loops["L1"].entries == 192


@pytest.mark.parametrize(
    ("body", "line", "said"),
    [
        ("x[i + 1] = 3;", 4, r"this store of work item 7 reaches byte 32 of the 32 bytes of 'x'"),
        ("x[i] = x[-1 - i];", 4, r"this load of work item 0 reaches byte -4 of the 32 bytes of 'x'"),
        ("\n    x[i] = 5 / (i - 3);", 5, "an integer is divided by zero here"),
        ("if (i < 3)\n        barrier(1);", 5, "3 of a group's 8 work items reach this barrier"),
        ("near[x[i] + 9000] = 1;", 4, "of local memory"),
    ],
)
def test_what_goes_wrong_is_told_at_its_line(tmp_path: Path, body: str, line: int, said: str) -> None:
    source = tmp_path / "kernel.cl"
    source.write_text(
        f"__kernel void k(__global int *x, __local int *near)\n{{\n    int i = get_global_id(0);\n    {body}\n}}\n"
    )
    with pytest.raises(WorkbenchError, match=said) as told:
        run(compile_file(source).kernel(), NDRange((8,), (8,)), {"x": np.zeros(8, np.int32), "near": 64})
    assert [(d.file, d.line) for d in told.value.diagnostics] == [(str(source), line)]


def test_pointers_are_compared_with_nothing(tmp_path: Path) -> None:
    source = tmp_path / "kernel.cl"
    source.write_text("__kernel void k(__global int *x)\n{\n    x[0] = x == NULL ? 1 : 2;\n}\n")
    ran = run(compile_file(source).kernel(), NDRange((1,), (1,)), {"x": np.zeros(1, np.int32)})
    assert ran.buffers["x"].tolist() == [2]


def test_everything_that_cannot_be_run_is_named_at_once(tmp_path: Path) -> None:
    source = tmp_path / "kernel.cl"
    source.write_text("""\
__kernel void k(__global float *x, __global int *p)
{
    x[0] = remquo(x[1], x[2], p);
    x[1] = lgamma_r(x[3], p);
}
""")
    with pytest.raises(WorkbenchError) as told:
        run(
            compile_file(source).kernel(),
            NDRange((1,), (1,)),
            {"x": np.zeros(8, np.float32), "p": np.zeros(1, np.int32)},
        )
    assert [(d.line, "remquo" in d.message or "lgamma_r" in d.message) for d in told.value.diagnostics] == [
        (3, True),
        (4, True),
    ]


def test_a_kernel_that_never_ends_can_be_cancelled(tmp_path: Path) -> None:
    source = tmp_path / "kernel.cl"
    source.write_text("__kernel void k(__global int *x)\n{\n    while (x[0] == 0)\n        x[1] += 1;\n}\n")

    class Impatient(Job):
        looks = 0

        def check(self) -> None:
            self.looks += 1
            if self.looks > 5:
                raise Cancelled

    with pytest.raises(Cancelled):
        run(compile_file(source).kernel(), NDRange((4,), (4,)), {"x": np.zeros(8, np.int32)}, job=Impatient())


def test_accesses_say_which_way() -> None:
    kernel = compile_file(BUNDLED / "word_count.cl").kernel("word_count")
    assert [a.way for a in kernel.accesses if a.object == "counts"] == [Way.ATOMIC]
