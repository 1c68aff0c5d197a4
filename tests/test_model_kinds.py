"""Kinds of models that plugins bring: RAT against sums by hand, and all that every model can be asked."""

import re
from pathlib import Path
from typing import Any

import pytest
from answers import document_of

from workbench.cli.main import main

#: Of the bundled model, by hand: an iteration moves 512 * 4 B / 370 MB/s + 4 B / 160 MB/s and computes 512 * 768
#: operations at 20 a cycle; there are 400.
COMM_S = 400 * (2048 / 370e6 + 4 / 160e6)
COMP_S = {clock: 400 * 512 * 768 / (20 * clock) for clock in (75e6, 100e6, 150e6)}


def predicted(capsys: pytest.CaptureFixture[str], *arguments: str) -> dict[str, Any]:
    document: dict[str, Any] = document_of(capsys, ["predict", "rat", *arguments, "--json"])
    return document


def test_rat_is_as_by_hand(capsys: pytest.CaptureFixture[str]) -> None:
    outputs = predicted(capsys, "pdf1d")["outputs"]
    comp_s = COMP_S[150e6]
    assert outputs["comm_s"] == pytest.approx(COMM_S)
    assert outputs["comp_s"] == pytest.approx(comp_s)
    assert outputs["total_s"] == pytest.approx(COMM_S + comp_s)
    assert outputs["total_double_s"] == pytest.approx(comp_s)
    assert outputs["speedup"] == pytest.approx(0.578 / (COMM_S + comp_s))
    assert round(outputs["speedup"], 1) == 10.6
    assert outputs["computing_share"] == pytest.approx(comp_s / (COMM_S + comp_s))


def test_every_question_is_answered_for_a_plugins_kind(capsys: pytest.CaptureFixture[str]) -> None:
    rows = predicted(capsys, "pdf1d", "--sweep", "clock=75e6,100e6,150e6")["rows"]
    assert [row["speedup"] for row in rows] == pytest.approx([0.578 / (COMM_S + comp_s) for comp_s in COMP_S.values()])
    solved = predicted(capsys, "pdf1d", "--solve", "pipelines", "--target", "20")
    assert (solved["value"], solved["short"]["value"]) == (16, 15)
    assert solved["speedup"] == pytest.approx(0.578 / (COMM_S + COMP_S[150e6] * 8 / 16))
    influences = predicted(capsys, "pdf1d", "--sensitivity", "--uncertain", "512", "--output", "comp_s")["inputs"]
    assert {row["name"]: row["elasticity"] for row in influences} == pytest.approx(
        {"clock": -1.0, "pipelines": -1.0}, abs=0.02
    )  # of a whole number, between its neighbours


def test_text_has_units_and_titles(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["predict", "rat", "pdf1d"]) == 0
    assert re.search(r"Total time +54\.65\u202fms +total_s\n", capsys.readouterr().out)
    assert main(["predict", "rat", "pdf1d", "--sweep", "clock=75e6,150e6"]) == 0
    assert re.search(r"150\u202fMHz +54\.65\u202fms .* 10\.58× ", capsys.readouterr().out)
    assert main(["predict", "rat", "pdf1d", "--solve", "clock", "--output", "total_s", "--target", "0.1"]) == 0
    assert re.search(r"clock = [\d.]+\u202fMHz gives a total time of 100\.0\u202fms", capsys.readouterr().out)


@pytest.mark.parametrize(
    ("old", "new", "said", "line"),
    [
        ("efficiency_in: 0.37", "efficiency_in: 1.37", "efficiency_in", 15),
        ("efficiency_in: 0.37", "eficiency_in: 0.37", "eficiency_in", 15),
        ("ops_per_cycle: 2.5 * pipelines", "ops_per_cycle: 2.5 * pipeline", "'pipeline'", 18),
        ("software_s: 0.578", "platform: nowhere", "software_s", None),
    ],
)
def test_a_wrong_field_is_told_at_its_line(
    old: str, new: str, said: str, line: int | None, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    text = Path("plugins/rc_workbench_plugins/rat/models/pdf1d.rat.yaml").read_text()
    assert old in text
    (tmp_path / "mine.rat.yaml").write_text(text.replace(old, new))
    told = document_of(capsys, ["predict", "rat", str(tmp_path / "mine.rat.yaml"), "--json"], 2)["diagnostics"]
    assert any(said in d["message"] and (line is None or d["line"] == line) for d in told), told


def test_a_model_that_there_is_not_is_answered_with_those_there_are(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["predict", "rat", "pdf2d"]) == 2
    assert "pdf1d" in capsys.readouterr().err
