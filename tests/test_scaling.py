"""Runs of a project that differ in one value: measured, predicted and ideal, in the window, as text and as a page."""

import shutil
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import pytest
from answers import document_of
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from workbench.analysis import analyse
from workbench.analysis.html_report import html_report
from workbench.analysis.knowledge import KnowledgeBase
from workbench.api.studies import write_predicted
from workbench.cli.main import main
from workbench.formats.run_folder import RunWriter, open_run
from workbench.gui.frame.context import Context
from workbench.gui.look import theme
from workbench.gui.modes import MODES
from workbench.gui.modes.compare.mode import CompareMode
from workbench.model.changes import read_change
from workbench.model.prediction import Prediction, Trust
from workbench.model.run import Run, RunStatus
from workbench.model.text import percent_text
from workbench.pictures.layout_sizes import Box
from workbench.pictures.plot import fitting, plot_rows, ticks
from workbench.pictures.scaling import (
    Scaling,
    ScalingForm,
    least_shrinking_words,
    point_words,
    scaling_forms,
    scaling_plot,
)
from workbench.session.keep.ledger import keep, ledger_path, settle
from workbench.session.keep.results import OpenRun
from workbench.session.make.scaling import scaling_of
from workbench.session.program.plugins import Plugins
from workbench.testing.runs import synthetic_platform, synthetic_run

WORK = 12  # rounds of one core


def kept(folder: Path, cores: int, rounds: int = 0, **manifest: object) -> Run:
    """A run of `WORK` rounds in all, shared out among the cores, in a folder of its own."""
    run = synthetic_run(cores=cores, rounds=rounds or WORK // cores, traced=False)
    told: Mapping[str, object] = {"project": str(folder / "app.workbench.yaml"), **manifest}
    manifest_now = replace(run.manifest, **told)  # type: ignore[arg-type]
    name = f"run-{len(list(folder.glob('runs/*/manifest.json'))) + 1}"
    return RunWriter(folder / "runs" / name, manifest_now).finish(manifest_now, run.tables)


@pytest.fixture
def runs(tmp_path: Path) -> list[Run]:
    return [kept(tmp_path, cores) for cores in (4, 1, 2)]


def known(scaling: Scaling | None) -> Scaling:
    assert scaling is not None
    return scaling


def test_runs_that_differ_in_one_setting_are_a_curve(runs: list[Run], tmp_path: Path) -> None:
    kept(tmp_path, 3, sources={"main.c": "other"})
    kept(tmp_path, 6, status=RunStatus.FAILED)
    kept(tmp_path, 12, platform="another")
    scaling = known(scaling_of(runs[0]))
    by_cores = sorted(runs, key=lambda run: int(run.manifest.settings["CORES"]))
    assert scaling.setting == "CORES"
    assert scaling.equal_work
    assert [point.value for point in scaling.points] == [1, 2, 4]
    assert [point.time_s for point in scaling.points] == [run.time_s for run in by_cores]
    lines = {line.name: line for line in scaling_plot(scaling).lines}
    assert lines["measured"].y.tolist() == pytest.approx([by_cores[0].time_s / run.time_s for run in by_cores])
    assert lines["ideal"].y.tolist() == [1, 2, 4]
    assert "predicted" not in lines
    efficiency = by_cores[0].time_s / by_cores[2].time_s / 4
    assert point_words(scaling, scaling.points[2]).endswith(f"(ideal 4.00×, {percent_text(efficiency)}), run-1")
    assert scaling_plot(scaling, ScalingForm.EFFICIENCY).lines[0].y[2] == pytest.approx(efficiency)
    log = scaling_plot(scaling, log=True)
    assert (log.x.log, log.y.log, log.x.binary) == (True, True, True)
    assert runs[1].path is not None
    shutil.rmtree(runs[1].path)
    assert scaling_of(runs[0]) is None, "two values are no curve"


def test_states_and_blocks_say_what_does_not_shrink(runs: list[Run]) -> None:
    """The host's states sum to the run's time; the calls for each round do not shrink, for cores share one host."""
    scaling = known(scaling_of(runs[0]))
    assert list(scaling_forms(scaling).values()) == ["Speedup", "Efficiency", "By state", "By block"]
    for point in scaling.points:
        assert sum(part.time_s for part in point.states) == pytest.approx(point.time_s)
    stack = scaling_plot(scaling, ScalingForm.STATES)
    assert stack.lines[-2].y.tolist() == pytest.approx([point.time_s for point in scaling.points])
    assert all(line.stacked for line in stack.lines[:-1])
    lines = {line.name: line for line in scaling_plot(scaling, ScalingForm.STATES, log=True).lines}
    assert not any(line.stacked for line in lines.values())
    assert least_shrinking_words(scaling).startswith("clearBins does not shrink: ")
    assert lines["writeSamples"].y[0] == pytest.approx(lines["writeSamples"].y[2], rel=0.02)
    cores = next(line for line in scaling_plot(scaling, ScalingForm.BLOCKS).lines if line.name == "core[*].ctrl")
    assert cores.y[0] / cores.y[2] == pytest.approx(4, rel=0.01), "each of four cores has a quarter of the work"


def test_runs_that_differ_in_one_parameter_of_the_top_module_are_a_curve(tmp_path: Path) -> None:
    """A study sweeps these too; two that differ in it are not one value of a setting."""
    made = [kept(tmp_path, 2, parameters={"DEPTH": depth, "WIDTH": 32}) for depth in (4, 16, 64)]
    kept(tmp_path, 4, parameters={"DEPTH": 4, "WIDTH": 32})
    kept(tmp_path, 2, parameters={"DEPTH": 128, "WIDTH": 64})
    scaling = known(scaling_of(made[1]))
    assert (scaling.setting, [point.value for point in scaling.points]) == ("DEPTH", [4, 16, 64])
    assert [point.run for point in scaling.points] == [str(run.path) for run in made]
    assert made[0].path is not None
    assert open_run(made[0].path)[0].manifest.parameters == {"DEPTH": 4, "WIDTH": 32}


def test_of_one_value_the_newest_run_counts_and_unequal_work_has_no_ideal(runs: list[Run], tmp_path: Path) -> None:
    more = kept(tmp_path, 4, rounds=6, created="2026-06-01T12:00:00+00:00")
    scaling = known(scaling_of(runs[0]))
    assert scaling.points[-1].run == str(more.path)
    assert not scaling.equal_work
    lines = {line.name: line for line in scaling_plot(scaling).lines}
    assert lines["measured"].y.tolist() == [point.time_s for point in scaling.points]
    assert "ideal" not in lines


def test_a_linear_curve_begins_at_zero_and_counts_whole_cores(runs: list[Run]) -> None:
    scaling = known(scaling_of(runs[0]))
    slow = replace(scaling, points=tuple(replace(point, time_s=1.0 + point.value / 100) for point in scaling.points))
    plot = scaling_plot(replace(slow, equal_work=False))
    view = fitting(plot, Box(0, 0, 400, 600))
    assert view.y[0] == 0.0
    assert all(value % 1 == 0 for value in ticks(0.5, 4.5, plot.x, 12))


def test_what_the_ledger_predicted_is_beside_what_was_measured(runs: list[Run]) -> None:
    four, _, two = runs
    change = read_change("replicas group=core count=4")
    speedup = two.time_s / four.time_s
    made = Prediction(
        (change,), Trust.TRUSTED, four.time_s * 1.02, speedup / 1.02, (speedup / 1.04, speedup * 1.01), "", ""
    )
    entry = keep(two, made)
    settle(ledger_path(two), entry, four)
    point = known(scaling_of(four)).points[2]
    assert point.predicted_s == pytest.approx(four.time_s * 1.02)
    assert (point.low_s, point.high_s) == (pytest.approx(four.time_s / 1.01), pytest.approx(four.time_s * 1.04))
    line = next(line for line in scaling_plot(known(scaling_of(four))).lines if line.name == "predicted")
    assert line.x.tolist() == [2, 4], "from the run that it was predicted from"
    assert line.band is not None
    assert line.band[0][0] == line.y[0] == line.band[1][0]
    assert line.band[0][1] < line.y[1] < line.band[1][1]


def test_what_a_study_predicted_is_beside_what_was_measured(tmp_path: Path) -> None:
    """Its base was measured, not predicted."""
    folder = tmp_path / "cores.study"
    one, two, four = (kept(folder, cores) for cores in (1, 2, 4))
    told = {"why": "", "base": False}
    paths = [run.path.name for run in (one, two, four) if run.path]
    write_predicted(folder, {
        paths[0]: {"predicted_s": one.time_s, "why": "", "base": True},
        paths[1]: {"predicted_s": 2e-3, **told},
    })  # fmt: skip
    scaling = known(scaling_of(one))
    assert [(point.predicted_s, point.base) for point in scaling.points] == [(None, True), (2e-3, False), (None, False)]
    line = next(line for line in scaling_plot(scaling).lines if line.name == "predicted")
    assert line.y.tolist() == pytest.approx([1.0, one.time_s / 2e-3])


def test_text_json_and_page_have_the_curve(runs: list[Run], capsys: pytest.CaptureFixture[str]) -> None:
    a, b = runs[1], runs[0]
    scaling = known(scaling_of(b))
    assert main(["compare", str(a.path), str(b.path)]) == 0
    said = capsys.readouterr().out
    assert "scaling: 3 runs differ in CORES alone" in said
    assert all(point_words(scaling, point) in said for point in scaling.points)
    found = document_of(capsys, ["compare", "--json", str(a.path), str(b.path)])["scaling"]
    assert [point["value"] for point in found["points"]] == [1, 2, 4]
    assert found["points"][0]["efficiency"] == 1
    assert found["least_shrinking"] == "clearBins"
    assert f"{least_shrinking_words(scaling)}\nstate " in said
    drawn = a.path.parent / "curve.svg"
    assert main(["compare", str(a.path), str(b.path), "--svg", str(drawn), "--curve", "states", "--log"]) == 0
    assert "writeSamples" in drawn.read_text()
    apart = str(kept(a.path.parent / "apart", 2).path)
    assert main(["compare", apart, apart, "--svg", str(drawn)]) == 2
    assert "there is no curve to draw" in capsys.readouterr().err
    assert found["points"][2]["speedup"] == pytest.approx(a.time_s / b.time_s)
    page = html_report(b, analyse(b, synthetic_platform(), KnowledgeBase()), None, scaling=scaling)
    assert "Scaling with CORES" in page
    assert "3 runs, CORES 1 to 4. All did the same work. clearBins does not shrink" in page
    assert page.count(">By state</h4>") == 1
    assert len(list(plot_rows(scaling_plot(scaling)))) == 7


def test_the_window_has_the_curve_and_a_point_opens_its_run(qtbot: QtBot, qapp: QApplication, runs: list[Run]) -> None:
    theme.apply_theme(qapp, "dark")
    context = Context(Plugins(()))
    opened = [
        OpenRun(run, analyse(run, synthetic_platform(), KnowledgeBase()), synthetic_platform(), KnowledgeBase(), ())
        for run in runs[:2]
    ]
    mode = CompareMode(context, MODES["compare"])
    for _ in mode.build():
        pass
    qtbot.addWidget(mode)
    mode.resize(1536, 930)
    mode.show()
    context.set_run(opened[0])
    mode.other.show(opened[1])
    below = mode.below
    qtbot.waitUntil(lambda: below.to_table.isVisible(), timeout=10_000)
    assert below.to_table.text() == "Scaling 3 runs"
    below.to_table.click()
    assert below.scaling.isVisible()
    assert not below.equal_work.rounds.isVisible()
    scaling = known(below.scaling.scaling)
    below.scaling.view.chosen.emit(0, 1)
    qtbot.waitUntil(lambda: mode.other.opened is not None and str(mode.other.opened.run.path) == scaling.points[1].run)
    below.to_timelines.click()
    assert not below.scaling.isVisible()
    context.shut_down()
