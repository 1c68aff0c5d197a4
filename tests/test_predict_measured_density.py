"""rho measured from real code: the stack distances against a plain LRU store, and matrix multiply against Eq. 4."""

from collections import OrderedDict
from pathlib import Path

import numpy as np
import pytest
from answers import document_of
from predicting import beside, parse_density
from rc_workbench_plugins.density.measured import MeasuredDensity, bundled_kernel, measure
from running import running_children

from workbench.model.diagnostic import WorkbenchError
from workbench.predict.formulas import ModelFile

SIZE, ELEMENT = 120, 4

RANDOM = """
#include <stdlib.h>
#include "rho.h"
volatile double sink;
int main(void)
{
    double *x = calloc(300, 8), *y = calloc(100, 8);
    unsigned state = 1;
    rho_input(x, 300 * 8, 8);
    rho_input(y, 100 * 8, 8);
    rho_begin();
    for (int i = 0; i < 20000; i++) {
        state = state * 1664525u + 1013904223u;
        unsigned at = (state >> 16) % (i % 1000 < 500 ? 400 : 40);
        sink = at < 300 ? x[at] : y[at - 300];
    }
    rho_end(20000);
    return 0;
}
"""


def lru_misses(reads: list[int], capacity: int) -> int:
    store: OrderedDict[int, None] = OrderedDict()
    misses = 0
    for element in reads:
        if element in store:
            store.move_to_end(element)
            continue
        misses += 1
        store[element] = None
        if len(store) > capacity:
            store.popitem(last=False)
    return misses


def test_misses_are_those_of_an_lru_store(tmp_path: Path) -> None:
    kernel = tmp_path / "random.c"
    kernel.write_text(RANDOM)
    measured = measure(kernel)
    reads, state = [], 1
    for i in range(20000):
        state = (state * 1664525 + 1013904223) % 2**32
        reads.append((state >> 16) % (400 if i % 1000 < 500 else 40))
    assert (measured.reads, measured.element_bytes, measured.first_reads) == (20000, 8, len(set(reads)))
    for capacity in (1, 2, 10, 39, 40, 41, 100, 250, 399, 400, 1000):
        assert measured.misses(capacity * 8.0) == lru_misses(reads, capacity)


@pytest.fixture(scope="module")
def model() -> ModelFile:
    file, problems = parse_density(
        "schema_version: 1\nname: b\nalgorithm: matrix_multiply\nelement_bytes: 4", "model.yaml", {}
    )
    assert file is not None, problems
    return file


def multiply(*order: str) -> MeasuredDensity:
    return measure(bundled_kernel("matrix_multiply"), [str(SIZE), *order])


@pytest.mark.parametrize("block", [4, 6, 10, 20, 40])
def test_blocked_multiply_has_the_density_of_equation_4(block: int, model: ModelFile) -> None:
    """A kernel in blocks that fill the store, with 2 B^2 elements: from 128 B to 12,800 B, two decades of alpha."""
    (point,) = beside(model, multiply("blocked", str(block)), [2 * block**2 * ELEMENT])
    assert point.model_ops_per_byte == pytest.approx(block / (2 * ELEMENT))
    assert abs(point.difference_pct) < 5


def test_naive_multiply_falls_short_by_what_its_order_gives_away(model: ModelFile) -> None:
    """Rows by columns: nothing is used again until a row and a column are held, B not until all of it is."""
    measured = multiply("naive")
    row_and_column, n = 2 * SIZE * ELEMENT, SIZE
    below, above, whole = beside(model, measured, [row_and_column / 2, row_and_column * 2, 2 * n * n * ELEMENT])
    assert below.measured_ops_per_byte == pytest.approx(1 / (2 * ELEMENT))
    assert above.measured_ops_per_byte == pytest.approx(n**3 / (n**3 + n**2) / ELEMENT, rel=0.01)
    assert below.difference_pct < -85
    assert above.difference_pct < -85
    assert whole.measured_ops_per_byte == pytest.approx(n / (2 * ELEMENT))  # Z/M: every element is read once
    assert whole.difference_pct == pytest.approx(0)


def test_results_held_outside_the_store_beat_equation_4(model: ModelFile) -> None:
    """The formalism leaves results out, so a tile of results fed by a column and a row needs far less store."""
    (point,) = beside(model, multiply("outer", "20"), [2 * 20 * ELEMENT])
    assert point.measured_ops_per_byte == pytest.approx(20 / (2 * ELEMENT))
    assert point.difference_pct > 300


@pytest.mark.parametrize("end", ["for (;;) sleep(1000);", "return 0;"])
def test_a_kernel_that_leaves_a_process_behind_ends(tmp_path: Path, end: str) -> None:
    kernel = tmp_path / "leaves.c"
    leaves = "if (!fork()) { setsid(); if (!fork()) for (;;) sleep(1000); _exit(0); }"
    kernel.write_text(f"#include <unistd.h>\nint main(void) {{ {leaves} {end} }}\n")
    with pytest.raises(
        WorkbenchError, match="kernel failed: kernel was still running after 3 s" if "for" in end else "marks no region"
    ):
        measure(kernel, timeout_s=3 if "for" in end else 60.0)
    assert not [name for name in running_children().values() if "kernel" in name]


def test_the_curve_never_falls() -> None:
    measured = multiply("blocked", "12")
    curve = measured.rho(np.geomspace(4, 1e6, 300))
    assert np.all(np.diff(curve) >= 0)
    assert measured.operations == SIZE**3


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("int main(void) { return 0; }", "marks no region"),
        ("int main(void) { return 7; }", "the kernel failed"),
        ("int main(void) { return x; }", "it does not compile"),
        ('#include "rho.h"\nint main(void) { rho_begin(); rho_end(1); return 0; }', "no inputs are marked"),
    ],
)
def test_bad_kernels_are_answered(source: str, expected: str, tmp_path: Path) -> None:
    kernel = tmp_path / "kernel.c"
    kernel.write_text(source)
    with pytest.raises(WorkbenchError, match=expected):
        measure(kernel)


def test_the_compiler_chosen_is_taken(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    own = tmp_path / "own-cc"
    own.write_text("#!/bin/sh\necho this one >&2\nexit 1\n")
    own.chmod(0o755)
    monkeypatch.setenv("CC", str(own))
    with pytest.raises(WorkbenchError, match="this one"):
        measure(bundled_kernel("matrix_multiply"), ["16"])


def test_on_the_command_line(capsys: pytest.CaptureFixture[str]) -> None:
    command = ["predict", "density", "matrix_multiply", "--kernel", "matrix_multiply", "--kernel-args", "24 blocked 6"]
    document = document_of(capsys, [*command, "--json"])
    assert document["operations"] == 24**3
    assert document["rows"][-1]["difference_pct"] == pytest.approx(0)
