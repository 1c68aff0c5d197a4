"""Two to twenty runs compared at once: what differs first, a row each, the same work of all under one another."""

import json
from dataclasses import replace
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import pytest
from answers import document_of
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QApplication, QPushButton
from pytestqt.qtbot import QtBot

from workbench.analysis import analyse
from workbench.analysis.compare_many import compare_many, differ_words, different_values, fastest_words
from workbench.analysis.equal_work import equal_work
from workbench.analysis.knowledge import KnowledgeBase
from workbench.cli.main import main
from workbench.formats.ledger_file import read_ledger
from workbench.formats.run_folder import RunWriter
from workbench.gui.frame.context import Context
from workbench.gui.look import theme
from workbench.gui.modes import MODES
from workbench.gui.modes.compare.mode import CompareMode
from workbench.gui.modes.compare.run_list import RunList
from workbench.gui.modes.compare.runs import RunsTable
from workbench.model.changes import read_change
from workbench.model.ledger import Work
from workbench.model.prediction import Prediction, Trust
from workbench.model.run import Run
from workbench.pictures.scaling import ScalingForm
from workbench.session.keep.ledger import keep, ledger_path
from workbench.session.keep.results import OpenRun
from workbench.session.program.plugins import Plugins
from workbench.testing.runs import synthetic_platform, synthetic_run

WORK = 12  # rounds of one core
CORES = (1, 2, 4)


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> list[Run]:
    """Traced runs of one project on 1, 2 and 4 cores, which do the same work."""
    folder = tmp_path_factory.mktemp("many")
    made = []
    for number, cores in enumerate(CORES):
        run = synthetic_run(cores=cores, rounds=WORK // cores)
        told = {"project": str(folder / "app.workbench.yaml"), "created": f"2026-01-01T00:00:0{number}"}
        manifest = replace(run.manifest, **told)  # type: ignore[arg-type]
        made.append(RunWriter(folder / "runs" / f"run-{number + 1}", manifest).finish(manifest, run.tables))
    return made


def opened(run: Run) -> OpenRun:
    platform = synthetic_platform()
    return OpenRun(run, analyse(run, platform, KnowledgeBase()), platform, KnowledgeBase(), ())


def test_what_differs_comes_first_and_each_is_compared_with_the_first(runs: list[Run]) -> None:
    many = compare_many([(one.run, one.analysis) for one in map(opened, runs)], {str(runs[0].path): (None, True)})
    assert many.differ == ("CORES",)
    assert many.by_setting == "CORES"
    assert differ_words(many) == "3 runs, which differ in CORES alone."
    assert [run.values["CORES"] for run in many.runs] == list(CORES)
    assert [run.speedup for run in many.runs] == [pytest.approx(runs[0].time_s / run.time_s) for run in runs]
    assert all(run.work is Work.EQUAL for run in many.runs)
    assert many.runs[0].change is None
    assert sum(time_s for _, _, time_s in many.runs[2].states) == pytest.approx(runs[2].time_s)
    assert fastest_words(many).startswith("C is the fastest: ")
    name, change_s = many.runs[1].change or ("", 0.0)
    assert change_s < 0
    assert name in {state for state, _, _ in many.runs[0].states}


def test_sources_platform_and_kind_of_time_differ_too(runs: list[Run]) -> None:
    first = replace(runs[0].manifest, sources={"main.c": "1", "core.v": "1"})
    other = replace(first, sources={"main.c": "2", "core.v": "1"}, platform="another", deterministic=False)
    assert different_values([first, replace(first, deterministic=True), other]) == [
        {"sources": "as the first", "platform": first.platform, "host time": "counted"},
        {"sources": "as the first", "platform": first.platform, "host time": "counted"},
        {"sources": "main.c", "platform": "another", "host time": "measured"},
    ]
    assert different_values([first, first]) == [{}, {}]
    elsewhere = replace(other, project="a/other.workbench.yaml", platform=first.platform, deterministic=True)
    assert different_values([first, elsewhere]) == [{"project": "app"}, {"project": "other"}]


def test_equal_work_of_three_runs_is_a_part_that_all_of_them_did(runs: list[Run]) -> None:
    equal = equal_work(*runs)
    assert equal is not None
    assert "writeSamples" in equal.calls
    assert [part.turns for part in equal.stretches] == [4, 2, 1]
    assert [part.of_turns for part in equal.stretches] == [12, 6, 3]
    two = equal_work(runs[0], runs[2])
    assert two is not None
    assert [part.turns for part in two.stretches] == [4, 1]
    slower = replace(runs[1], tables={**runs[1].tables, "calls": dict(runs[1].tables["calls"])})
    slower.tables["calls"]["bytes"] = np.zeros_like(slower.tables["calls"]["bytes"])
    unlike = equal_work(runs[0], slower, runs[2])
    assert unlike is not None
    assert "writeSamples" not in unlike.calls


def test_the_command_compares_many(runs: list[Run], capsys: pytest.CaptureFixture[str]) -> None:
    folders = [str(run.path) for run in runs]
    assert main(["compare", *folders]) == 0
    said = capsys.readouterr().out
    assert said.startswith("3 runs, which differ in CORES alone. C is the fastest: ")
    assert [line.split()[:3] for line in said.splitlines()[2:5]] == [
        ["A", "1", "run-1"], ["B", "2", "run-2"], ["C", "4", "run-3"],
    ]  # fmt: skip
    assert "equal work: A 4 of 12 rounds" in said
    found = document_of(capsys, ["compare", "--json", *folders])
    assert found["differ"] == ["CORES"]
    assert [run["letter"] for run in found["runs"]] == ["A", "B", "C"]
    assert found["runs"][2]["speedup"] == pytest.approx(runs[0].time_s / runs[2].time_s)
    assert len(found["equal_work"]["runs"]) == 3
    assert found["scaling"]["setting"] == "CORES"
    assert [pair["speedup"] for pair in found["pairs"]] == [run["speedup"] for run in found["runs"][1:]]
    two = document_of(capsys, ["compare", "--json", *folders[:2]])
    assert (two["differ"], len(two["runs"])) == (["CORES"], 2)


def test_conditions_are_of_each_run_against_the_first(
    runs: list[Run], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folders, limit = [str(run.path) for run in runs], runs[1].time_s / runs[0].time_s - 1e-3
    paths = {kind: tmp_path / f"many.{kind}" for kind in ("junit", "markdown", "sarif")}
    options = [word for kind, path in paths.items() for word in (f"--{kind}", str(path))]
    assert main(["compare", *folders, "--fail-if", f"time > {limit}", *options]) == 1, "one of them is enough"
    said = capsys.readouterr().out
    assert f"FAILED of B: time > {limit} holds" in said
    assert f"passed of C: time > {limit} does not hold" in said
    suites = ElementTree.parse(paths["junit"]).getroot()
    assert [(one.get("name"), one.get("failures")) for one in suites] == [
        ("workbench compare B: run-2", "1"), ("workbench compare C: run-3", "0"),
    ]  # fmt: skip
    markdown = paths["markdown"].read_text()
    assert "| C | 4 | run-3 |" in markdown
    assert "### C: run-3\n" in markdown
    assert " less in C; the run takes " in markdown
    logs = json.loads(paths["sarif"].read_text())["runs"]
    assert [log["automationDetails"]["id"] for log in logs] == [
        "workbench compare/B run-2",
        "workbench compare/C run-3",
    ]
    assert [[r["ruleId"] for r in log["results"]].count("fail-if") for log in logs] == [1, 0]
    pairs = document_of(capsys, ["compare", "--json", *folders, "--fail-if", "time > 2"])["pairs"]
    assert [[one["holds"] for one in pair["fail_if"]] for pair in pairs] == [[False], [False]]


def test_a_prediction_is_settled_with_the_last_run(runs: list[Run], capsys: pytest.CaptureFixture[str]) -> None:
    first, _, last = runs
    change = read_change("replicas group=core count=4")
    entry = keep(first, Prediction((change,), Trust.TRUSTED, last.time_s, 2.0, (1.9, 2.1), "", ""))
    assert main(["compare", *(str(run.path) for run in runs), "--settle", entry.id]) == 0
    capsys.readouterr()
    (settled,) = read_ledger(ledger_path(first))[0]
    assert settled.came is not None
    assert settled.came.run == "run-3"
    ledger_path(first).unlink()


def test_more_than_twenty_runs_are_refused(runs: list[Run], capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["compare", *[str(run.path) for run in runs] * 7]) != 0
    assert "21 runs are too many" in capsys.readouterr().err


def heads(table: RunsTable) -> list[str]:
    return [column.head for n, column in enumerate(table.rows.columns) if not table.isColumnHidden(n)]


def listed_runs(qtbot: QtBot, mode: CompareMode, button: QPushButton) -> RunList:
    """The box that a button opens, with its runs in it."""
    button.click()
    box = mode.choice.box
    assert box is not None
    qtbot.waitUntil(lambda: bool(box.table.rows.tops), timeout=10_000)
    return box


def two_compared(qtbot: QtBot, qapp: QApplication, runs: list[Run]) -> CompareMode:
    """Compare mode with the third run, and the first as the other one."""
    theme.apply_theme(qapp, "light")
    context = Context(Plugins(()))
    mode = CompareMode(context, MODES["compare"])
    for _ in mode.build():
        pass
    qtbot.addWidget(mode)
    mode.resize(1536, 930)
    mode.show()
    context.set_run(opened(runs[2]))
    mode.other.show(opened(runs[0]))
    return mode


def test_runs_are_ticked_by_keys_in_one_visit(qtbot: QtBot, qapp: QApplication, runs: list[Run]) -> None:
    """The list says what differs, and how long each run took."""
    mode = two_compared(qtbot, qapp, runs)
    context = mode.context
    qtbot.waitUntil(lambda: mode.below.to_table.isVisible(), timeout=10_000)
    box = listed_runs(qtbot, mode, mode.head.more)
    table = box.table
    assert [column.head for column in table.rows.columns] == ["", "Run", "CORES", "Time", "Started"]
    assert {row.path: row.values["CORES"] for row in table.rows.tops} == dict(
        zip([one.path for one in runs], (1, 2, 4), strict=True)
    )
    assert table.ticked == {runs[0].path, runs[2].path}
    table.choose(lambda row: row.path == runs[1].path)
    qtbot.keyClick(table, Qt.Key.Key_Space)
    table.choose(lambda row: row.path == runs[2].path)
    qtbot.keyClick(table, Qt.Key.Key_Space)  # the open run stays
    assert box.isVisible()
    assert box.compare.text() == "Compare 3 runs"
    qtbot.keyClick(table, Qt.Key.Key_Return)
    assert not box.isVisible()
    qtbot.waitUntil(lambda: len(mode.other.all()) == 3, timeout=10_000)
    box = listed_runs(qtbot, mode, mode.below.runs.add)
    box.table.choose(lambda row: row.path == runs[0].path)
    row = box.table.visualRect(box.table.currentIndex()).center()
    qtbot.mouseClick(box.table.viewport(), Qt.MouseButton.LeftButton, pos=row)
    box.compare.click()
    assert [one.run.path for one in mode.other.all()] == [runs[2].path, runs[1].path]
    mode.history.undo()
    assert len(mode.other.all()) == 3
    box = listed_runs(qtbot, mode, mode.head.other)  # a click chooses one
    assert [row.path for row in box.table.rows.tops] == [runs[1].path, runs[0].path]
    qtbot.keyClick(box.table, Qt.Key.Key_Return)
    assert mode.other.opened is not None
    assert mode.other.opened.run.path == runs[1].path
    qtbot.waitUntil(lambda: not context.background.busy, timeout=10_000)
    context.shut_down()


def test_the_window_compares_many(qtbot: QtBot, qapp: QApplication, runs: list[Run]) -> None:
    mode = two_compared(qtbot, qapp, runs)
    context = mode.context
    below, table = mode.below, mode.below.runs.table
    qtbot.waitUntil(lambda: below.to_table.isVisible(), timeout=10_000)
    box = listed_runs(qtbot, mode, mode.head.more)
    assert box.along.text() == "All 3 runs of CORES"
    box.along.click()
    box.compare.click()
    qtbot.waitUntil(lambda: len(table.rows.tops) == 3, timeout=10_000)
    assert below.runs.isVisible()
    assert heads(table) == ["CORES", "Run", "Time", "Speedup", "By state", "Differs most"]
    assert [table.letters.get(row.letter, "") for row in table.rows.tops] == ["A", "", "B"]
    assert table.as_text().splitlines()[2].startswith("2\tRun 2\t")
    table.choose(lambda row: row.values["CORES"] == 2)
    qtbot.keyClick(table, Qt.Key.Key_Return)
    assert mode.pair() is not None
    qtbot.waitUntil(lambda: [table.letters.get(row.letter, "") for row in table.rows.tops] == ["", "A", "B"])
    assert len(mode.other.all()) == 3
    panel = below.scaling
    for form, log, name in (("states", False, "writeSamples"), ("blocks", True, "core[*].ctrl")):
        panel.form.setCurrentIndex(panel.form.findData(ScalingForm(form)))
        panel.log.setChecked(log)
        assert name in [line.name for line in panel.view.plot.lines]
        assert panel.view.plot.y.log == log
    assert panel.least.text().startswith("clearBins does not shrink")
    below.to_timelines.click()
    lanes = [("Run 1", "CORES 1", ""), ("Run 2", "CORES 2", "A"), ("Run 3", "CORES 4", "B")]
    view = below.equal_work.rounds
    qtbot.waitUntil(lambda: [(one.words, one.note, one.letter) for one in view.rounds.runs] == lanes, timeout=10_000)
    below.to_table.click()
    assert not view.isVisible()
    before = mode.size()
    mode.resize(2500, 1350)
    qtbot.waitUntil(view.isVisible)
    assert below.runs.isVisible(), "a large window has room for both"
    assert not below.to_table.isVisible()
    mode.resize(before)
    qtbot.waitUntil(lambda: not view.isVisible())
    table.choose(lambda row: row.values["CORES"] == 1)
    qtbot.keyClick(table, Qt.Key.Key_Delete)
    qtbot.waitUntil(lambda: not mode.other.added)
    assert not below.runs.isVisible()
    mode.history.undo()
    assert len(mode.other.added) == 1
    assert below.runs.isVisible()
    mode.history.undo()
    assert [one.run.manifest.settings["CORES"] for one in mode.other.all()] == [4, 1, 2]
    other = replace(runs[0].manifest, sources={"other.c": "1"}, created="2030")
    mode.other.show(opened(replace(runs[0], manifest=other)))
    qtbot.waitUntil(lambda: not context.background.busy, timeout=10_000)
    assert panel.scaling is not None  # that of the run that is on a curve
    context.shut_down()
