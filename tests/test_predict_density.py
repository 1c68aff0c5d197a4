"""Computational density: the paper's numbers, known algorithms, bounds, and what a person is told about a bad model."""

import json
from collections.abc import Mapping
from dataclasses import replace
from itertools import combinations
from pathlib import Path

import numpy as np
import pytest
from predicting import DENSITY, density, layers, load_named, parse_density, rho
from rc_workbench_plugins.density.algorithms import ALGORITHMS
from rc_workbench_plugins.density.compute import reuse_penalty, roofs

from workbench.model.diagnostic import WorkbenchError
from workbench.model.platform import Platform
from workbench.pictures.density import roofline
from workbench.predict.formulas import ModelFile
from workbench.predict.paper_tables import printed_rows

EXACT = json.loads((Path(__file__).parent / "data" / "density_exact.json").read_text())


def load(name: str, platforms: Mapping[str, Platform]) -> ModelFile:
    file, problems = (load_named("density", name, platforms), ())
    assert file is not None, problems
    return file


def model(text: str) -> ModelFile:
    file, problems = parse_density("schema_version: 1\nname: test\n" + text, "model.yaml", {})
    assert file is not None, problems
    return file


def test_every_number_agrees_or_has_an_erratum(platforms: Mapping[str, Platform]) -> None:
    rows = printed_rows(DENSITY, platforms)
    assert [row for row in rows if not row.agrees and not row.erratum] == []
    assert {row.erratum for row in rows if row.erratum} == {"S1", "S2", "S3", "S4", "S7"}
    ours = {row.cell: row.ours for row in rows}
    assert ours["sigma_A,2 (Gops/s)"] == pytest.approx(0.175, rel=1e-12)
    assert ours["sigma_C,1 (Gops/s), large particles"] == pytest.approx(7.32421875, rel=1e-12)


def test_bounds_are_exact(platforms: Mapping[str, Platform]) -> None:
    for key, expected in EXACT["sigma"].items():
        name, reading, layer = key.split("|")
        bound = density(load(name, platforms), {}, reading or None).bounds[int(layer) - 1]
        assert bound.ops_per_s_without_latency == pytest.approx(expected["eq7"], rel=1e-9)
        assert bound.ops_per_s == pytest.approx(expected["eq6"], rel=1e-9)
        assert bound.ops_per_byte == pytest.approx(expected["rho"], rel=1e-9)
        assert bound.latency_fraction == pytest.approx(expected["fraction"], rel=1e-9)
    for key, balance in EXACT["balance"].items():
        name, reading = key.split("|")
        assert density(load(name, platforms), {}, reading or None).balance == pytest.approx(balance, rel=1e-9)


def test_what_binds(platforms: Mapping[str, Platform]) -> None:
    dot = density(load("dot_product", platforms))
    assert dot.binding == dot.binding_layer == "On-board memory, from main memory"
    multiply = density(load("matrix_multiply", platforms))
    assert multiply.binding_layer == "Block RAM, from on-board memory"
    assert multiply.binding == "processing elements"  # section 5: overwhelmingly CPU-bound
    assert multiply.limit_ops_per_s == multiply.compute_ops_per_s == 5e9
    assert roofs(multiply) == (5e9, 5e9)
    assert density(load("matrix_multiply", platforms), {"units": 5000}).binding == "Block RAM, from on-board memory"


def test_moved_layers(platforms: Mapping[str, Platform]) -> None:
    file = load("all_to_all", platforms)
    inner, outer = layers(file)
    moved = density(file, moved=(replace(inner, layer_bytes=2 * inner.layer_bytes), outer))
    assert moved.bounds[0].ops_per_s == pytest.approx(2 * density(file).bounds[0].ops_per_s)
    with pytest.raises(WorkbenchError, match="layer_bytes"):
        density(file, moved=(replace(inner, layer_bytes=-1.0),))


def test_density_is_held_where_the_problem_fits() -> None:
    file = model("algorithm: matrix_multiply\nelement_bytes: 4\ninputs: {n: {value: 256}}")
    whole = 2 * 256**2 * 4
    at = np.array([whole / 4, whole, 10.0 * whole])
    most = 256**3 / whole
    assert rho(file, at) == pytest.approx([most / 2, most, most])
    assert reuse_penalty(256**3, whole, rho(file, whole / 4)) == pytest.approx(2)


def test_density_falls_again_with_dependent_blocks() -> None:
    """Section 3: a store of one and a half dependent blocks computes no more than one; of independent ones it does."""
    independent = (
        "element_bytes: 8\neta: alpha / 1000\nlayers:\n  - {name: a, layer_bytes: 1, bandwidth_bytes_per_s: 1}\n"
    )
    free, bound = model(independent), model(f"{independent}block_bytes: 1000\n")
    assert rho(free, 1500) == pytest.approx(1.5 / 1500)
    assert rho(bound, 1500) == pytest.approx(1 / 1500)
    assert [float(rho(bound, size)) for size in (500, 1000)] == [float(rho(free, size)) for size in (500, 1000)]
    whole = model(f"{independent}block_bytes: 1000\noperations: 10\nproblem_bytes: 10000\n")
    assert rho(whole, 10000) == pytest.approx(10 / 10000)  # all of it is there: it is loaded once (S9)


def test_output_and_instructions_take_their_part_of_a_layers_rate() -> None:
    """By hand: 2 operations for a byte of input, so half a byte each, beside a quarter of output and a byte of code."""
    layer = "{name: a, layer_bytes: 1 MB, bandwidth_bytes_per_s: 1 GB/s, latency_s: 1 ms}"
    text = f"element_bytes: 8\neta: 2 * alpha\nlayers:\n  - {layer}\n"
    alone = density(model(text)).bounds[0]
    assert alone.ops_per_s_without_latency == pytest.approx(2e9)
    output = "  - {name: output, bytes_per_operation: 0.25}\n"
    shared = density(model(f"{text}streams:\n{output}")).bounds[0]
    assert shared.ops_per_s_without_latency == pytest.approx(1e9 / 0.75)
    assert shared.ops_per_s == pytest.approx(2e6 / (1.5e6 / 1e9 + 1e-3))  # 2 million operations, 1.5 MB, one latency
    assert shared.streams == {"output": 0.25}
    line, spot = roofline(density(model(f"{text}streams:\n{output}"))).lines
    assert np.interp(2.0, line.x, line.y) == pytest.approx(spot.y[0], rel=1e-2)  # the algorithm is on its roof
    assert line.y.max() < 1e9 / 0.25  # however dense the input is, the output takes its part
    own = "  - {name: code, bytes_per_operation: 2 * s / 16, own_path: true}\n"
    both = density(model(f"{text}streams:\n{output}{own}")).bounds[0]
    assert both.ops_per_s_without_latency == pytest.approx(1e9)  # the code's byte for each operation binds


def test_measured_sizes_of_the_exact_pair_count() -> None:
    file = model("algorithm: all_to_all\nelement_bytes: 32\ninputs: {n: {value: 100}}")
    assert float(np.asarray(rho(file, 3200))) == pytest.approx(100 * 99 / 2 / 3200)  # S5


@pytest.mark.parametrize("name", sorted(ALGORITHMS))
def test_known_algorithms_are_monotonic_and_consistent(name: str) -> None:
    """rho never falls as the store grows, and comes close to Z/M where the whole problem is in it."""
    size = {"all_to_all": 10_000, "dot_product": 10_000, "fft": 2**16, "sort": 2**16}.get(name, 512)
    free = model(f"algorithm: {name}\nelement_bytes: 8")
    alphas = np.geomspace(64, 1e9, 200)
    values = np.asarray(rho(free, alphas))
    assert np.all(np.diff(values) >= -1e-12 * values[:-1])
    sized = model(f"algorithm: {name}\nelement_bytes: 8\ninputs: {{n: {{value: {size}}}}}")
    whole = float(np.asarray(sized.value(("problem_bytes",), {**sized.inputs, "s": 8.0})))
    most = float(np.asarray(sized.value(("operations",), {**sized.inputs, "s": 8.0}))) / whole
    assert float(np.asarray(rho(sized, whole * 2))) == pytest.approx(most)
    if not name.startswith("stencil"):  # one step over the grid asks for less than the cone of a block allows
        assert float(np.asarray(rho(free, whole))) == pytest.approx(most, rel=2e-3 if name != "all_to_all" else 2e-4)


def pairs_within(points: int) -> int:
    return sum(1 for _ in combinations(range(points), 2))


def test_formulas_against_counting() -> None:
    """eta against operations counted one by one."""
    file = model("algorithm: convolution\nelement_bytes: 4\ninputs: {taps: {value: 3}}")
    width = 20
    alpha = (width**2 + 9) * 4
    windows = sum(1 for _ in np.ndindex(width - 2, width - 2))
    assert float(np.asarray(rho(file, alpha))) * alpha == pytest.approx(9 * windows)
    file = model("algorithm: stencil_2d\nelement_bytes: 8")
    width = 1000
    cone = sum((width - 2 * t) ** 2 for t in range(1, width // 2))
    assert float(np.asarray(rho(file, width**2 * 8))) * width**2 * 8 == pytest.approx(cone, rel=4e-3)
    file = model("algorithm: stencil_3d\nelement_bytes: 8")
    width = 400
    cone = sum((width - 2 * t) ** 3 for t in range(1, width // 2))
    assert float(np.asarray(rho(file, width**3 * 8))) * width**3 * 8 == pytest.approx(cone, rel=2e-2)
    file = model("algorithm: sparse_matrix_vector\nelement_bytes: 8\ninputs: {density: {value: 0.1}}")
    width = 300
    entries = 0.1 * width**2
    alpha = entries * 12 + width * 8
    assert float(np.asarray(rho(file, alpha))) * alpha == pytest.approx(entries)
    assert pairs_within(50) == pytest.approx(50**2 / 2, rel=0.03)  # what all_to_all's eta takes for its pairs


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("element_bytes: 4", "the model needs `eta` or `algorithm`"),
        ("element_bytes: 4\nalgorithm: matrix_multply", "Did you mean 'matrix_multiply'"),
        ("element_bytes: 4\neta: alpha / z", "there is no value 'z'"),
        ("element_bytes: 4 furlongs\neta: alpha / s", "there is no unit 'furlongs'"),
        ("element_bytes: 4\neta: alpha\nplatform: nothing", "there is no platform template 'nothing'"),
        ("element_bytes: 4\neta: alpha\nlayers: [{name: a, layer_bytes: 3}]", "has no bandwidth_bytes_per_s"),
        ("element_bytes: 4\neta: alpha\ninputs: {alpha: {value: 3}}", "'alpha' is a reserved name here"),
        ("element_bytes: 4\neta: alpha\ninputs: {x: {value: 1, low: 2, high: 1}}", "low is above high"),
        ("element_bytes: 4\neta: alpha\ninputs: {x: {value: 1, low: 2}}", "has no high"),
    ],
)
def test_bad_models_are_answered_with_the_field(text: str, expected: str) -> None:
    file, problems = parse_density("schema_version: 1\nname: test\n" + text, "model.yaml", {})
    assert file is None
    assert any(expected in p.text() for p in problems)
    assert all(p.file == "model.yaml" and p.line for p in problems)


@pytest.mark.parametrize(
    ("eta", "expected"),
    [("alpha / (s - 4)", "eta is not a finite number"), ("0 - alpha", "It cannot be negative")],
)
def test_bad_values_name_the_field(eta: str, expected: str) -> None:
    file = model(f"element_bytes: 4\neta: {eta}\nlayers: [{{name: a, layer_bytes: 3, bandwidth_bytes_per_s: 1}}]")
    with pytest.raises(WorkbenchError, match=expected):
        density(file)
