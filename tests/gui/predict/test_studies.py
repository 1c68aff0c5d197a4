"""A study in Predict: listed with the models, run by its button, shown again when a point is measured."""

from pathlib import Path

from PySide6.QtCore import Qt
from pytestqt.qtbot import QtBot
from rc_workbench_plugins.study.matrix import matrix

from workbench.api.studies import Point, PointState, Status, StudyState, write_point, write_predicted
from workbench.gui.modes.predict.mode import PredictMode
from workbench.session.make.study import load_study
from workbench.session.program.plugins import Plugins


def test_a_study_is_listed_run_and_shown(qtbot: QtBot, mode: PredictMode, plugins: Plugins) -> None:
    workspace = mode.context.workspace
    assert workspace is not None
    path = workspace.root / "cores.study.yaml"
    assert path in [model.path for model in mode._models()]
    mode.open_document(Path(next(model.path for model in mode._models() if model.kind.name == "rat")))
    assert not mode.run_study.isVisible()
    mode.open_document(path)
    assert mode.run_study.isVisible()
    assert mode.pills["Explore"].isHidden(), "it has no inputs to explore"
    assert not mode.details_wanted, "it has neither parts nor inputs"
    asked: list[tuple[Path, bool]] = []
    mode.context.study_requested.connect(lambda path, again: asked.append((path, again)))
    mode.run_study.click()
    assert asked == [(path, False)]

    assert mode.results.figures._cells[0].value.text() == "0 of 14"
    study, _ = load_study(path, plugins)
    for point in study.points[:2]:
        write_point(study.folder, point.key, PointState(Status.DONE, f"runs/{point.key}", 0.1))
    write_predicted(study.folder, {study.points[0].key: {"predicted_s": 0.11, "why": "", "base": False}})
    mode.context.study_changed.emit()
    assert mode.results.figures._cells[0].value.text() == "2 of 14"
    assert [name for name, pill in mode.results.pills.items() if not pill.isHidden()][-1] == "Matrix"
    assert mode.results.chart.isVisible()
    assert mode.run_study.text() == "Continue"
    mode.context.set_running(True)  # of the project, not of this study
    assert not mode.run_study.isEnabled()


def test_a_study_under_way_is_paused_and_goes_on_and_what_failed_is_run_again(
    mode: PredictMode, plugins: Plugins
) -> None:
    workspace = mode.context.workspace
    assert workspace is not None
    path = workspace.root / "cores.study.yaml"
    study, _ = load_study(path, plugins)
    mode.open_document(path)
    button, context = mode.run_study, mode.context
    asked: list[object] = []
    context.study_requested.connect(lambda path, again: asked.append(again))
    context.pause_requested.connect(lambda: asked.append("pause"))
    assert button.text() == "Run study"
    context.study = path
    context.set_running(True)
    assert context.running
    assert not context.replacing  # the run shown stays
    write_point(study.folder, study.points[0].key, PointState(Status.RUNNING))
    context.study_changed.emit()
    assert mode.results.figures._cells[0].note.text() == "1 running, 13 queued, none failed"
    assert (button.text(), button.isEnabled()) == ("Pause", True)
    button.click()
    for point in study.points:
        write_point(study.folder, point.key, PointState(Status.DONE, f"runs/{point.key}", 0.1))
    write_point(study.folder, study.points[3].key, PointState(error="it was ended"))
    context.study = None
    context.set_running(False)
    assert button.text() == "Continue"
    button.click()
    write_point(study.folder, study.points[3].key, PointState(Status.FAILED, error="3 cores do not fit"))
    context.study_changed.emit()
    assert button.text() == "Run again"
    button.click()
    assert asked == ["pause", False, True]


def test_two_dimensions_are_a_matrix_whose_cells_open_their_runs(
    qtbot: QtBot, mode: PredictMode, plugins: Plugins
) -> None:
    workspace = mode.context.workspace
    assert workspace is not None
    path = workspace.root / "two.study.yaml"
    path.write_text("""schema_version: 1
name: two
projects: [original.workbench.yaml]
vary:
  CORES: [1, 4]
  POINTS: [4096, 8192, 16384]
""")
    study, _ = load_study(path, plugins)
    for point in study.points[1:]:
        time_s = int(point.settings["POINTS"]) * 1e-6 / int(point.settings["CORES"])
        write_point(study.folder, point.key, PointState(Status.DONE, f"runs/{point.key}", time_s))
    told = {"predicted_s": 4.2e-3, "why": "", "base": False}
    write_predicted(study.folder, {point.key: told for point in study.points[:2]})
    mode.open_document(path)
    mode.results.pills["Matrix"].click()
    (table,) = mode.results.table.tables
    assert (table.title, table.columns) == ("Run time (ms)", ("1", "4"))
    assert [(row.attribute, *row.values) for row in table.rows] == [
        ("POINTS 4096", "\u202f", "1.02"), ("POINTS 8192", "8.19", "2.05"), ("POINTS 16384", "16.4", "4.10"),
    ]  # fmt: skip
    assert [row.notes for row in table.rows] == [("4.20", ""), ("4.20", ""), ("", "")]
    assert (table.rows[0].depths[1], table.rows[2].depths[0]) == (1, 0)
    assert 0 < table.rows[1].depths[0] < table.rows[1].depths[1] < 1
    asked: list[str] = []
    mode.results.run_wanted.disconnect()
    mode.results.run_wanted.connect(asked.append)
    rows = mode.results.table.views[0].rows
    at = rows.visualRect(rows.rows.index(1, 3)).center()
    qtbot.mouseClick(rows.viewport(), Qt.MouseButton.LeftButton, pos=at)
    qtbot.mouseDClick(rows.viewport(), Qt.MouseButton.LeftButton, pos=at)
    qtbot.keyClick(rows, Qt.Key.Key_Left)
    qtbot.keyClick(rows, Qt.Key.Key_Return)
    keys = {(p.settings["POINTS"], p.settings["CORES"]): p.key for p in study.points}
    assert [Path(run).name for run in asked] == [keys[8192, 4], keys[8192, 1]]


def test_forms_of_an_application_stand_beside_one_another_and_many_columns_go_on_below() -> None:
    points = tuple(
        Point(f"{project}.workbench.yaml", {"CORES": cores, "WIDTH": width}, key=f"{project}{cores}{width}")
        for project in ("original", "optimised") for cores in (1, 2, 4, 8, 16) for width in (8, 16, 32, 64)
    )  # fmt: skip
    state = StudyState(points, {points[0].key: PointState(Status.FAILED, error="no room")})
    tables = matrix(state, {})
    assert [name for table in tables for name in table.columns][::4] == ["original, WIDTH 8", "optimised, WIDTH 8"]
    assert len(tables) == 3
    assert tables[0].rows[0].values[0] == "failed"
    assert tables[0].rows[0].bad[0]
    assert matrix(StudyState(points[::20]), {}) == (), "one value of the axis"
    assert matrix(StudyState(points[:20:4]), {}) == (), "one name across"


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
