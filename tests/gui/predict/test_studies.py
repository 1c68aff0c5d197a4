"""A study in Predict: listed with the models, run by its button, shown again when a point is measured."""

from __future__ import annotations

from pathlib import Path

from pytestqt.qtbot import QtBot

from workbench.api.studies import PointState, Status, write_point, write_predicted
from workbench.gui.predict.mode import PredictMode
from workbench.session.plugins import Plugins
from workbench.session.study import load_study


def test_a_study_is_listed_run_and_shown(qtbot: QtBot, mode: PredictMode, plugins: Plugins) -> None:
    workspace = mode.context.workspace
    assert workspace is not None
    path = workspace.root / "cores.study.yaml"
    assert path in [model.path for model in mode._models()]
    mode.open_document(Path(next(model.path for model in mode._models() if model.kind.name == "rat")))
    assert not mode.run_study.isVisible()
    mode.open_document(path)
    assert mode.run_study.isVisible()
    asked: list[Path] = []
    mode.context.study_requested.connect(asked.append)
    mode.run_study.click()
    assert asked == [path]

    assert mode.results.figures._cells[0][2].text() == "0 of 14"
    study, _ = load_study(path, plugins)
    for point in study.points[:2]:
        write_point(study.folder, point.key, PointState(Status.DONE, f"runs/{point.key}", 0.1))
    write_predicted(study.folder, {study.points[0].key: {"predicted_s": 0.11, "why": "", "base": False}})
    mode.context.study_changed.emit()
    assert mode.results.figures._cells[0][2].text() == "2 of 14"
    assert [name for name, pill in mode.results.pills.items() if not pill.isHidden()] == ["Time", "Speedup", "Error"]
    assert mode.results.chart.isVisible()
    mode.context.running = True
    mode.context.running_changed.emit()
    assert not mode.run_study.isEnabled()


def test_a_point_opens_its_run(qtbot: QtBot, mode: PredictMode, plugins: Plugins) -> None:
    workspace = mode.context.workspace
    assert workspace is not None
    path = workspace.root / "cores.study.yaml"
    study, _ = load_study(path, plugins)
    for point in study.points[:2]:
        write_point(study.folder, point.key, PointState(Status.DONE, f"runs/{point.key}", 0.1))
    mode.open_document(path)
    mode.context.study_changed.emit()
    asked: list[str] = []
    mode.results.run_wanted.disconnect()
    mode.results.run_wanted.connect(asked.append)
    first, second = (str(study.folder / "runs" / point.key) for point in study.points[:2])
    mode.results.chart.chosen.emit(0, 1)
    assert asked == [second]
    rows = mode.results.table.views[0].rows
    rows.opened.emit(mode.results.table.tables[0].rows[0])
    rows.opened.emit(mode.results.table.tables[0].rows[2])  # not measured yet
    assert asked == [second, first]
