"""OpenCL kernels compiled and taken apart: what the source says stands in the data, at its lines."""

from pathlib import Path

import pytest
from answers import refusal
from rc_workbench_plugins.opencl import compile
from rc_workbench_plugins.opencl.compile import compile_file
from rc_workbench_plugins.opencl.hierarchy import hierarchy
from rc_workbench_plugins.opencl.kernel import Branch, Leaf, Loop, Node, Space, Switch, Way, leaves, walk

from workbench.model.diagnostic import WorkbenchError

BUNDLED = sorted((Path(__file__).parents[1] / "plugins/rc_workbench_plugins/opencl/kernels").glob("*.cl"))

#: Wang 2016, Algorithm 1
ALGORITHM_1 = """\
__kernel void two_loops(__global float *a, __global const float *b, __global const float *c,
                        __global float *d, __global const float *e, __global const float *f)
{
    int gid = get_global_id(0);
    for (int j = 0; j < 128; j++)
        a[(gid << 7) + j] = b[(gid << 7) + j] + c[(gid << 7) + j];
    for (int k = 0; k < 16; k++)
        d[(gid << 4) + k] = e[(gid << 4) + k] + f[(gid << 4) + k];
}
"""


@pytest.fixture
def source(tmp_path: Path) -> Path:
    return tmp_path / "kernel.cl"


def shape(node: Node) -> object:
    """Kinds of nodes alone."""
    inside = [shape(child) for child in node.children]
    return type(node).__name__ if isinstance(node, Leaf) else (type(node).__name__, inside)


def test_figure_5(source: Path) -> None:
    """Algorithm 1 is four blocks, two of which are loops of their own."""
    source.write_text(ALGORITHM_1)
    root = hierarchy(compile_file(source).kernel())
    assert shape(root) == ("Sequence", ["Leaf", ("Loop", ["Leaf"]), ("Loop", ["Leaf"]), "Leaf"])
    first, second = (node for node in walk(root) if isinstance(node, Loop))
    assert (first.id, first.lines) == ("L1", (5, 6))
    assert (second.id, second.lines) == ("L2", (7, 8))


def test_branches_switches_and_nested_loops(source: Path) -> None:
    source.write_text("""\
__kernel void k(__global int *x, int n)
{
    int i = get_global_id(0);
    if (x[i] > n)
        x[i] = n / x[i];
    else
        x[i] = x[i + 1] / n;
    #pragma unroll 4
    for (int a = 0; a < n; a++) {
        if (x[a] == 7)
            break;
        for (int b = 0; b < a; b++)
            x[a] += x[b];
    }
    switch (x[i + 2]) {
    case 1: x[i] = x[n]; break;
    case 2: x[i + 3] = 5; break;
    default: x[i + 4] = x[i + 5];
    }
}
""")
    kernel = compile_file(source).kernel()
    root = hierarchy(kernel)
    loops = [node for node in walk(root) if isinstance(node, Loop)]
    assert [(loop.id, loop.lines[0], loop.unroll) for loop in loops] == [("L1", 9, 4), ("L2", 12, None)]
    assert loops[1] in walk(loops[0])
    (switch,) = (node for node in walk(root) if isinstance(node, Switch))
    assert len(switch.children) == 3
    branch = next(node for node in walk(root) if isinstance(node, Branch))
    assert [arm.lines for arm in branch.children] == [(5, 5), (7, 7)]
    assert sorted(leaf.id for leaf in leaves(root)) == sorted(kernel.block), "every block stands once"


def test_a_loop_entered_twice_is_told_with_its_line(source: Path) -> None:
    source.write_text("""\
__kernel void k(__global int *x, int n)
{
    int i = 0;
    if (n > 3)
        goto inside;
    for (; i < n; i++) {
        x[i] = x[i + 1];
inside:
        x[i] *= x[i + n];
    }
}
""")
    diagnostic = refusal(hierarchy, compile_file(source).kernel())
    assert (diagnostic.file, "has more than one entry" in diagnostic.message) == (str(source), True)
    assert diagnostic.line in range(4, 10)


def test_what_the_source_says_of_a_kernel(source: Path) -> None:
    (source.parent / "sizes.h").write_text("#define GROUP 64\n")
    source.write_text("""\
#include "sizes.h"
typedef uint word;
typedef struct { int id; float4 at; } Place;
__constant float table[3] = {1.0f, 2.5f, -3.0f};
/* __kernel __attribute__((num_compute_units(9))) void k( */ __attribute__((num_compute_units(2)))
__kernel __attribute__((reqd_work_group_size(GROUP, 1, 1))) __attribute__((num_simd_work_items(4)))
void k(__global const word *in, __global Place *out, __local float *scratch, float4 v)
{
    __local int near[GROUP];
    int i = get_local_id(0);
    near[i] = in[i];
    barrier(CLK_LOCAL_MEM_FENCE);
    scratch[i] = near[GROUP - 1 - i] * table[i % 3];
    out[i].at.y = scratch[i] + v.x;
}
""")
    kernel = compile_file(source).kernel()
    assert (kernel.name, kernel.line) == ("k", 7)
    assert [(a.name, a.type_name, a.element_bytes, a.constant) for a in kernel.arguments] == [
        ("in", "uint*", 4, True),
        ("out", "Place*", 32, False),
        ("scratch", "float*", 4, False),
        ("v", "float4", 0, False),
    ]
    assert kernel.attributes == {
        "reqd_work_group_size": (64, 1, 1), "num_simd_work_items": (4,), "num_compute_units": (2,),
    }  # fmt: skip
    assert {(v.name, v.space, v.bytes) for v in kernel.variables} == {
        ("@k.near", Space.LOCAL, 256),
        ("@table", Space.CONSTANT, 12),
    }
    assert kernel.local_bytes == 256
    told = [(a.way, a.space, a.object, a.line) for a in kernel.accesses if a.space is not Space.CONSTANT]
    assert told == [
        (Way.LOAD, Space.GLOBAL, "in", 11),
        (Way.STORE, Space.LOCAL, "near", 11),
        (Way.LOAD, Space.LOCAL, "near", 13),
        (Way.STORE, Space.LOCAL, "scratch", 13),
        (Way.LOAD, Space.LOCAL, "scratch", 14),
        (Way.LOAD, Space.GLOBAL, "out", 14),
        (Way.STORE, Space.GLOBAL, "out", 14),
    ]


def test_errors_stand_at_the_kernels_own_lines(source: Path) -> None:
    source.write_text("__kernel void k(__global int *x)\n{\n    x[0] = y;\n    x[1] = sqroot(2.0f);\n}\n")
    with pytest.raises(WorkbenchError) as told:
        compile_file(source)
    assert [(d.file, d.line) for d in told.value.diagnostics] == [(str(source), 3), (str(source), 4)]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("int f(int x) { return x; }\n", "the file has no kernel"),
        ("__kernel void k(read_only image2d_t i, __global int *x) { x[0] = 1; }\n", "the argument 'i'"),
    ],
)
def test_what_is_no_kernel_for_here_is_told(source: Path, text: str, message: str) -> None:
    source.write_text(text)
    with pytest.raises(WorkbenchError, match=message) as told:
        compile_file(source)
    assert told.value.diagnostics[0].line == 1


def test_a_kernel_that_asks_for_more_than_any_machine_has_is_told(
    source: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nine macros of eleven lines each make two thousand million."""
    monkeypatch.setattr(compile, "_MEMORY_BYTES", 2 << 30)
    nested = "A(" * 9 + "x" + ")" * 9
    repeated = " ".join(["x"] * 11)
    source.write_text(
        f"#define A(x) {repeated}\n#define B(x) {nested}\n__kernel void k(__global int *a) {{ B(a[0]=1;) }}"
    )
    with pytest.raises(WorkbenchError, match="the kernel does not compile: out of memory") as told:
        compile_file(source)
    assert "does a macro repeat itself" in told.value.diagnostics[0].hint


def test_a_kernel_is_named_where_there_are_several(source: Path) -> None:
    source.write_text("__kernel void first(__global int *x) { x[0] = 1; }\n__kernel void second(__global int *x) {}\n")
    compiled = compile_file(source)
    assert compiled.kernel("second").line == 2
    with pytest.raises(WorkbenchError, match="Name one of them: first, second"):
        compiled.kernel()
    with pytest.raises(WorkbenchError, match="Did you mean 'first'"):
        compiled.kernel("frist")


@pytest.mark.parametrize("file", BUNDLED, ids=lambda file: file.stem)
def test_every_bundled_kernel_has_a_hierarchy(file: Path) -> None:
    for kernel in compile_file(file).kernels:
        assert {leaf.id for leaf in leaves(hierarchy(kernel))} == set(kernel.block)
