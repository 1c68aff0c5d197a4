"""RATSS: the paper's tables, the readings, and what a person is told about a bad model."""

import json
from collections.abc import Mapping
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from predicting import KINDS, RATSS, load_named, model_path, parse_ratss, predict, scheduled, tree_notes
from rc_workbench_plugins import ratss
from rc_workbench_plugins.ratss.errors import errors

from workbench.model.diagnostic import WorkbenchError
from workbench.model.platform import Platform
from workbench.predict.formulas import Evaluation, ModelFile
from workbench.predict.library import bundled_models
from workbench.predict.paper_tables import CellRow, printed_rows, rounds_to

EXACT = json.loads((Path(__file__).parent / "data" / "ratss_exact.json").read_text())


@pytest.fixture(scope="module")
def rows(platforms: Mapping[str, Platform]) -> tuple[CellRow, ...]:
    return printed_rows(RATSS, platforms)


def load(name: str, platforms: Mapping[str, Platform]) -> ModelFile:
    file, problems = (load_named("ratss", name, platforms), ())
    assert file is not None, problems
    return file


def test_every_cell_agrees_or_has_an_erratum(rows: tuple[CellRow, ...]) -> None:
    assert {row.table for row in rows} == {"I", "II", "III", "IV", "V", "VI", "VII", "VIII", "IX", "X", "XI", "XII"}
    assert [row for row in rows if not row.agrees and not row.erratum] == []
    errata = (Path(ratss.__file__).parent / "ERRATA.md").read_text()
    for row in rows:
        assert not row.erratum or f"**{row.erratum}**" in errata


def test_cells_are_exact(rows: tuple[CellRow, ...]) -> None:
    ours = {f"{row.table}|{row.cell}": row.ours for row in rows}
    for cell, expected in EXACT["cells"].items():
        assert ours[cell] == pytest.approx(expected, rel=1e-9), cell


def test_printed_errors_lie_within_a_quarter_point(rows: tuple[CellRow, ...]) -> None:
    for row in rows:
        if row.table == "V" and "error (%)" in row.cell:
            assert row.ours == pytest.approx(float(row.paper), abs=0.25)


def test_other_readings(platforms: Mapping[str, Platform]) -> None:
    variants = EXACT["variants"]
    pdf2d = load("pdf2d", platforms)
    for nodes in (2, 4, 8):
        parts = predict(pdf2d, {"nodes": nodes}, "per block").parts
        assert parts["estimate", "write X"] == pytest.approx(variants[f"write per block, {nodes} nodes"], rel=1e-9)
        assert parts["estimate", "read"] == pytest.approx(variants[f"read per block, {nodes} nodes"], rel=1e-9)
    image, molecules = load("image_filter", platforms), load("molecular_dynamics", platforms)
    assert predict(image).parts["filter", "broadcast"] == pytest.approx(variants["image broadcast"], rel=1e-9)
    assert predict(image).parts["filter", "gather"] == pytest.approx(variants["image gather"], rel=1e-9)
    assert predict(molecules).parts["forces", "scatter"] == pytest.approx(variants["molecules scatter"], rel=1e-9)
    assert predict(molecules).parts["forces", "gather"] == pytest.approx(variants["molecules gather"], rel=1e-9)


def changed(name: str, platforms: Mapping[str, Platform], old: str, new: str) -> ModelFile:
    text = model_path(name, "ratss").read_text()
    assert old in text
    file, problems = parse_ratss(text.replace(old, new), "model.yaml", platforms)
    assert file is not None, problems
    return file


def test_overlapping_and_not(platforms: Mapping[str, Platform]) -> None:
    variants = EXACT["variants"]
    overlapped = changed("pdf2d", platforms, "- name: estimate\n", "- name: estimate\n    overlapped: true\n")
    assert predict(overlapped).total_s == pytest.approx(variants["stage overlapped, 2 nodes"], rel=1e-9)
    image = changed("image_filter", platforms, "overlapped: true", "overlapped: false")
    assert predict(image).parts["filter", "gather"] == pytest.approx(variants["image gather, not overlapped"], rel=1e-9)
    molecules = changed("molecular_dynamics", platforms, "overlapped: true", "overlapped: false")
    assert predict(molecules).comm_s["forces"] == pytest.approx(variants["molecules comm, not overlapped"], rel=1e-9)


def test_arrays_give_what_single_values_give(platforms: Mapping[str, Platform]) -> None:
    file = load("pdf2d", platforms)
    nodes, clock = np.array([2.0, 4.0, 8.0])[:, None], np.array([100e6, 195e6])[None, :]
    both = predict(file, {"nodes": nodes, "clock": clock}).total_s
    assert np.shape(both) == (3, 2)
    for i, n in enumerate((2, 4, 8)):
        for j, f in enumerate((100e6, 195e6)):
            assert np.asarray(both)[i, j] == predict(file, {"nodes": n, "clock": f}).total_s


def test_rounding() -> None:
    assert rounds_to(140.96, "1.41E+2")
    assert not rounds_to(140.4, "1.41E+2")
    assert rounds_to(0.00389, "3.89E-3")
    assert not rounds_to(7.2297, "7.25E+0")


def test_errors_against_measurements(platforms: Mapping[str, Platform]) -> None:
    table = errors(Evaluation(load("pdf2d", platforms)))
    assert len(table) == 12
    first = table[0]
    assert (first.quantity, first.measured, first.inputs) == ("comp_s", 156, {"nodes": 2})
    assert first.error_pct == pytest.approx(-9.639083808678514, rel=1e-9)


def test_bundled_models_are_listed() -> None:
    found = bundled_models(KINDS["ratss"])
    assert {"pdf2d", "image_filter", "molecular_dynamics"} <= found.keys()
    assert all(path == model_path(name, "ratss") for name, path in found.items())
    with pytest.raises(WorkbenchError, match="pdf2d"):
        model_path("pdf2", "ratss")


def test_the_timing_diagram_adds_up(platforms: Mapping[str, Platform]) -> None:
    file = load("pdf2d", platforms)
    prediction = predict(file)
    parts = scheduled(file, prediction)
    names = ["scatter X", "scatter Y", "write X", "write Y", "kernels", "read", "reduce"]
    assert [part.part for part in parts] == names  # serial: each begins where the one before ends
    assert parts[0].start_s == 0
    for one, other in pairwise(parts):
        assert other.start_s == pytest.approx(one.end_s)
    assert parts[-1].end_s == pytest.approx(float(prediction.total_s))
    overlapped = load("pdf2d_original", platforms)
    found = {part.part: part for part in scheduled(overlapped, predict(overlapped))}
    assert found["cores"].start_s == found["clear bins"].start_s == 0
    assert found["read bins"].end_s == pytest.approx(found["read bins"].round_s)
    with pytest.raises(WorkbenchError, match="one design point"):
        scheduled(file, predict(file, {"nodes": np.array([2.0, 4.0])}))


def test_corrections_multiply_a_part(platforms: Mapping[str, Platform]) -> None:
    corrected = changed("pdf2d", platforms, "name: read\n", "name: read\n        correction: 1.5\n")
    before, after = predict(load("pdf2d", platforms)), predict(corrected)
    assert after.parts["estimate", "read"] == pytest.approx(1.5 * before.parts["estimate", "read"])
    assert after.parts["estimate", "write X"] == before.parts["estimate", "write X"]


MODEL = """schema_version: 1
name: small
inputs:
  n: {value: 4}
  f: {value: 100 MHz, unit: Hz}
stages:
  - name: first
    nodes:
      - {elements: n, clock_hz: f, ops_per_cycle: 2}
    transactions:
      - {name: move, kind: io, bytes: n * 4, rate_bytes_per_s: 1 GB/s}
  - {name: second, after: [first]}
"""


def told(text: str) -> str:
    """What a person is told about a model, be it in reading or in computing it."""
    file, problems = parse_ratss(text, "model.yaml", {})
    if file is not None:
        with pytest.raises(WorkbenchError) as caught:
            predict(file)
        problems = caught.value.diagnostics
    assert all(p.file == "model.yaml" and p.line for p in problems)
    return "\n".join(p.text() for p in problems)


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        ("ops_per_cycle: 2", "ops_per_cycle: n / 0", "stages[0].nodes[0].ops_per_cycle is not a finite number"),
        ("ops_per_cycle: 2", "ops_per_cycle: 0", "stages[0].nodes[0].ops_per_cycle is 0"),
        ("bytes: n * 4", "bytes: n - 40", "stages[0].transactions[0].bytes is -36"),
        ("elements: n,", "elements: -3,", "stages[0].nodes[0].elements is -3"),
        ("100 MHz", "100 MHZ", "Did you mean 'MHz'"),
        ("unit: Hz", "unit: furlong", "there is no unit 'furlong'"),
        ("1 GB/s", "1 KB/s", "'KB/s' can mean two sizes"),
        ("name: first\n", "name: first\n    after: [second]\n", "these stages wait for one another"),
        ("after: [first]", "after: [frist]", "Did you mean 'first'"),
        ("name: second", "name: first", "two stages are called 'first'"),
        ("elements: n,", "elements: m,", "there is no value 'm'"),
        ("elements: n,", "elments: n,", "elements"),
        ("kind: io", "kind: oi", "io"),
        ("name: small", "name: small\nplatform: src7", "there is no platform template 'src7'"),
        ("kind: io", "kind: io, network: SNAP", "there is no network 'SNAP'"),
        ("kind: io", "kind: io, table: write", "there is no transfer table 'write'"),
        ("name: small", "name: small\nreadings: {other: {m: 1}}", "the model has no input 'm'"),
    ],
)
def test_bad_models_are_answered_with_the_field(old: str, new: str, expected: str) -> None:
    assert old in MODEL
    assert expected in told(MODEL.replace(old, new, 1))


def test_unknown_inputs_and_readings_are_named(platforms: Mapping[str, Platform]) -> None:
    file = load("pdf2d", platforms)
    with pytest.raises(WorkbenchError, match="Did you mean 'clock'"):
        predict(file, {"clokc": 1.0})
    with pytest.raises(WorkbenchError, match="fitted"):
        predict(file, reading="fited")


COLLECTIVE = """schema_version: 1
name: tree
inputs: {P: {value: 4}}
stages:
  - name: talk
    transactions:
      - {name: move, kind: KIND, nodes: P, bytes: 1000, latency_s: 1.0e-3, overhead_s: 1.0e-4, gap_per_byte_s: 1.0e-6}
"""


def computed(text: str, **changes: float) -> float:
    file, problems = parse_ratss(text, "model.yaml", {})
    assert file is not None, problems
    return float(predict(file, changes).total_s)


@pytest.mark.parametrize(
    ("kind", "expected_ms"),
    [
        # L = 1 ms, o = 0.1 ms, G k = 1 ms, at 1, 2, 3, 4 and 5 nodes: 0, 1, 2, 2 and 3 rounds
        ("scatter", (0, 2.2, 4.2, 5.2, 7.2)),  # rounds L + 2 o + (P - 1) G k, and no one to talk to
        ("gather", (0, 2.2, 4.2, 5.2, 7.2)),
        ("broadcast", (0, 2.2, 4.4, 4.4, 6.6)),  # rounds (L + 2 o + G k)
        ("reduce, reduction_s: 4.0e-6", (0, 6.2, 12.4, 12.4, 18.6)),  # and gamma k = 4 ms a round
        ("reduce, reading: fitted, gap_s: 1.0e-4, reduction_s: 4.0e-6", (0, 3.3, 6.6, 6.6, 9.9)),  # per element, and g
    ],
)
def test_trees_of_any_number_of_nodes(kind: str, expected_ms: tuple[float, ...]) -> None:
    text = COLLECTIVE.replace("KIND", kind)
    assert [1e3 * computed(text, P=n) for n in (1, 2, 3, 4, 5)] == pytest.approx(expected_ms)


def test_uneven_trees_say_which_reading_was_used() -> None:
    file, _ = parse_ratss(COLLECTIVE.replace("KIND", "scatter"), "model.yaml", {})
    assert file is not None
    assert tree_notes(file) == tree_notes(file, {"P": 1}) == ()
    (note,) = tree_notes(file, {"P": np.array([4.0, 6.0, 8.0])})
    assert (note.line, note.severity) == (7, "note")
    assert note.message == "move: 6 nodes are not a power of two; counted as 3 whole rounds"


def test_a_serial_reduce_adds_what_it_collects() -> None:
    """Eq. 26 and one addition for each of the k values of each of the P messages."""
    serial = COLLECTIVE.replace("KIND", "reduce, serial: true, reduction_s: 4.0e-6").replace("overhead_s: 1.0e-4, ", "")
    assert computed(serial) == pytest.approx(1e-3 + 4 * (1e-3 + 4e-3))
    assert computed(serial.replace("serial: true", "serial: true, reading: fitted")) == pytest.approx(1e-3 + 4 * 2e-3)


def test_gamma_is_one_thing_wherever_it_is_given(platforms: Mapping[str, Platform]) -> None:
    """The model's own addition and the network's, under either reading."""
    own = load("pdf2d", platforms)
    network = changed("pdf2d", platforms, "        reduction_s: 1.9e-8", "        # none:")
    for reading in (None, "literal", "fitted"):
        one, other = (predict(file, {}, reading).parts["estimate", "reduce"] for file in (own, network))
        assert one == pytest.approx(float(other), rel=1e-12)


TWICE = """schema_version: 1
name: twice
stages:
  - name: first
    transactions:
      - {name: move, kind: io, bytes: 4096, rate_bytes_per_s: 200 MB/s}
      - {name: move, kind: io, bytes: 1024, rate_bytes_per_s: 100 MB/s}
"""


@pytest.mark.parametrize(
    ("text", "line", "expected"),
    [
        (TWICE, 7, "two parts of the stage are called 'move'. Give this one another name: the first is on line 6."),
        (COLLECTIVE.replace(", gap_per_byte_s: 1.0e-6", "").replace("KIND", "scatter"), 7, "has no time"),
        (COLLECTIVE.replace("value: 4", "value: 0.5"), 3, "'P' is 0.5. It must be a whole number, at least 1."),
        (COLLECTIVE.replace("nodes: P", "nodes: P / 3"), 7, "nodes is 1.33333333333. It must be a whole number"),
    ],
)
def test_what_would_be_silently_wrong_is_refused(text: str, line: int, expected: str) -> None:
    file, problems = parse_ratss(text.replace("KIND", "scatter"), "model.yaml", {})
    assert file is None
    (problem,) = problems
    assert expected in problem.text()
    assert (problem.file, problem.line) == ("model.yaml", line)
