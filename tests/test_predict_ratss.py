"""RATSS: the paper's tables, the readings, and what a person is told about a bad model."""

from __future__ import annotations

import json
from collections.abc import Mapping
from importlib.resources import files
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest

from workbench.formats.platform_file import load_platform
from workbench.model.diagnostic import WorkbenchError
from workbench.model.platform import Platform
from workbench.predict.errors import errors
from workbench.predict.library import find_model, list_models
from workbench.predict.paper_tables import CellRow, ratss_rows, rounds_to
from workbench.predict.ratss import RatssModelFile, load_ratss, parse_ratss, predict
from workbench.predict.schedule import schedule

EXACT = json.loads((Path(__file__).parent / "data" / "ratss_exact.json").read_text())


@pytest.fixture(scope="module")
def platforms() -> Mapping[str, Platform]:
    folder = Path(str(files("workbench.platform_templates")))
    return {p.name: p for p in (load_platform(path)[0] for path in folder.glob("*.yaml")) if p is not None}


@pytest.fixture(scope="module")
def rows(platforms: Mapping[str, Platform]) -> tuple[CellRow, ...]:
    return ratss_rows(platforms)


def load(name: str, platforms: Mapping[str, Platform]) -> RatssModelFile:
    file, problems = load_ratss(find_model(name, "ratss"), platforms)
    assert file is not None, problems
    return file


def test_every_cell_agrees_or_has_an_erratum(rows: tuple[CellRow, ...]) -> None:
    assert {row.table for row in rows} == {"I", "II", "III", "IV", "V", "VI", "VII", "VIII", "IX", "X", "XI", "XII"}
    assert [row for row in rows if not row.agrees and not row.erratum] == []
    errata = (Path(str(files("workbench.resources"))) / "models" / "ERRATA.md").read_text()
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


def changed(name: str, platforms: Mapping[str, Platform], old: str, new: str) -> RatssModelFile:
    text = find_model(name, "ratss").read_text()
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
    table = errors(load("pdf2d", platforms))
    assert len(table) == 12
    first = table[0]
    assert (first.quantity, first.measured, first.inputs) == ("comp_s", 156, {"nodes": 2})
    assert first.error_pct == pytest.approx(-9.639083808678514, rel=1e-9)


def test_bundled_models_are_listed() -> None:
    assert {("pdf2d", "ratss"), ("image_filter", "ratss"), ("molecular_dynamics", "ratss")} <= {
        (entry.name, entry.kind) for entry in list_models()
    }
    assert all(entry.title for entry in list_models())
    with pytest.raises(WorkbenchError, match="pdf2d"):
        find_model("pdf2", "ratss")


def test_the_timing_diagram_adds_up(platforms: Mapping[str, Platform]) -> None:
    file = load("pdf2d", platforms)
    prediction = predict(file)
    parts = schedule(file, prediction)
    names = ["scatter X", "scatter Y", "write X", "write Y", "kernels", "read", "reduce"]
    assert [part.part for part in parts] == names  # serial: each begins where the one before ends
    assert parts[0].start_s == 0
    for one, other in pairwise(parts):
        assert other.start_s == pytest.approx(one.end_s)
    assert parts[-1].end_s == pytest.approx(float(prediction.total_s))
    overlapped = load("pdf2d_original", platforms)
    found = {part.part: part for part in schedule(overlapped, predict(overlapped))}
    assert found["cores"].start_s == found["clear bins"].start_s == 0
    assert found["read bins"].end_s == pytest.approx(found["read bins"].round_s)
    with pytest.raises(WorkbenchError, match="one design point"):
        schedule(file, predict(file, {"nodes": np.array([2.0, 4.0])}))


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
