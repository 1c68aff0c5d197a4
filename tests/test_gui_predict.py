"""Predict mode: models edited and saved, results drawn from the numbers, sweeps and layers one can point at."""

from __future__ import annotations

import shutil
from importlib.resources import files
from pathlib import Path

import numpy as np
import pytest
from pixels import pixels_of, rgb
from predicting import density as bounds_of
from predicting import model_path, predict
from PySide6.QtCore import QPointF, Qt
from PySide6.QtWidgets import QApplication, QLineEdit
from pytestqt.qtbot import QtBot
from rc_workbench_plugins.density.model import Compute, DensityModel, LayerChange
from rc_workbench_plugins.rat.model import RatModel
from rc_workbench_plugins.ratss.errors import error_row
from rc_workbench_plugins.ratss.model import ComputeNode, Measured, RatssModel, Stage, Transaction

from workbench.api.forms import Group
from workbench.api.models import Input
from workbench.api.predictions import RunComparison
from workbench.gui import theme
from workbench.gui.context import Context
from workbench.gui.modes import MODES
from workbench.gui.predict.mode import PredictMode
from workbench.gui.predict.parts import INPUT
from workbench.gui.predict.table_view import amount
from workbench.gui.predict.tables import paper_tables, run_table
from workbench.gui.question import DISCARD
from workbench.model.pragma import Category
from workbench.model.text import prefixed, trimmed
from workbench.predict.kinds import outputs_of
from workbench.predict.library import bundled_models
from workbench.session.model_document import models_of
from workbench.session.plugins import Plugins, load_plugins
from workbench.session.workspace import open_workspace

EXAMPLE = Path(str(files("workbench.resources").joinpath("examples", "pdf2d")))
WAIT_MS = 15_000


@pytest.fixture(scope="module")
def plugins() -> Plugins:
    return load_plugins()


@pytest.fixture
def mode(qtbot: QtBot, qapp: QApplication, plugins: Plugins, tmp_path: Path) -> PredictMode:
    """Predict mode in a project of its own."""
    theme.apply_theme(qapp, "light")
    root = tmp_path / "pdf2d"
    shutil.copytree(EXAMPLE, root)
    context = Context(plugins)
    context.workspace = open_workspace(root / "original.workbench.yaml", plugins)
    made = PredictMode(context, MODES["predict"])
    for _ in made.build():
        pass

    def idle(widget: object) -> None:
        qtbot.waitUntil(lambda: not context.background.busy, timeout=WAIT_MS)
        context.shut_down()

    qtbot.addWidget(made, before_close_func=idle)
    qtbot.addWidget(made.details)
    made.resize(1260, 900)
    made.show()
    qtbot.waitExposed(made)
    return made


def own_copy(mode: PredictMode, name: str = "pdf2d", kind: str = "ratss") -> Path:
    """Open a bundled model and save a copy of it in the project."""
    mode.open_document(model_path(name, kind))
    mode.save_button.click()
    path = mode.document.path
    assert path is not None
    return path


def explored(mode: PredictMode, qtbot: QtBot) -> None:
    mode.explore.found = None
    mode.explore.sweep()
    qtbot.waitUntil(lambda: mode.explore.found is not None, timeout=WAIT_MS)


def named(*groups: Group) -> set[str]:
    return {str(f.path[-1]) for g in groups for f in g.fields if f.path}


def test_every_field_of_a_model_has_a_row() -> None:
    elsewhere = {"schema_version", "name", "inputs", "readings"}
    parts = {"stages", "resources", "measured", "layers", "compute", "nodes", "transactions"}
    for schema in (RatssModel, DensityModel):
        assert named(*schema.form) == set(schema.model_fields) - elsewhere - parts
    assert named(*Stage.form) == set(Stage.model_fields) - parts
    for part in (ComputeNode, Transaction, LayerChange, Compute):
        assert named(*part.form) == set(part.model_fields)
    assert named(*Measured.form) == set(Measured.model_fields) - {"inputs"}
    assert named(*INPUT) == set(Input.model_fields)


@pytest.mark.parametrize("name", ["dark", "light"])
def test_each_page_is_painted_in_both_themes(mode: PredictMode, qapp: QApplication, name: str, qtbot: QtBot) -> None:
    theme.apply_theme(qapp, name)
    for model, kind in (("pdf2d", "ratss"), ("pdf2d_original", "ratss"), ("matrix_multiply", "density")):
        mode.open_document(model_path(model, kind))
        for page in ("Results", "Explore", "Model"):
            mode.show_page(page)
            image = pixels_of(mode.grab().toImage())
            assert len(np.unique(image)) > 20, (model, page)
        qtbot.waitUntil(lambda: not mode.context.background.busy, timeout=WAIT_MS)
    theme.apply_theme(qapp, "light")


def test_figures_and_tables_are_the_papers(mode: PredictMode) -> None:
    mode.open_document(model_path("pdf2d", "ratss"))
    assert mode.results.figures.figures[0].value == "146×"
    (table,) = mode.results.table.tables
    assert [view.title.text() for view in mode.results.table.views] == [table.title]
    assert table.columns == ("2\u202fnodes", "4\u202fnodes", "8\u202fnodes")
    rows = {row.attribute: row.values for row in table.rows}
    assert rows["computation kernels"] == ("1.41E+2", "7.05E+1", "3.52E+1")  # Table IV
    assert rows["t_application"] == ("1.54E+2", "7.98E+1", "4.25E+1")
    mode.results.pills["Measured"].click()
    error = mode.results.table.tables[0]
    assert [r.values[2] for r in error.rows if r.attribute == "speedup"] == [
        "+10.8\u202f%", "+11.0\u202f%", "+11.3\u202f%",
    ]  # fmt: skip
    mode.results.pills["As printed"].click()
    assert [t.title for t in mode.results.table.tables] == [f"Table {n}" for n in ("I", "II", "III", "IV", "V")]
    printed = mode.results.table.views[3].rows.as_text().splitlines()
    assert printed[0] == "Attribute\tUnits\t2 nodes\t4 nodes\t8 nodes"
    assert any("1.54E+2" in line for line in printed)


def test_a_kind_that_only_computes_outputs_has_all_pages(mode: PredictMode, qtbot: QtBot) -> None:
    """RAT brings a schema and a function: results, what-ifs, sweeps, solving and the form come of themselves."""
    assert "RAT, bundled" in [section.title for section in mode.models.lines.rows.tops]
    mode.open_document(model_path("pdf1d", "rat"))
    outputs = outputs_of(mode.document.model_file)
    (table,) = mode.results.table.tables
    assert len(table.rows) == len(outputs)
    assert mode.results.figures.figures[0].value == f"{outputs['speedup']:.2f}×"
    assert mode.results.timing_area.isHidden()
    mode.show_page("Explore")
    explored(mode, qtbot)
    assert mode.explore.found is not None
    assert mode.explore.found.question.output == "speedup"
    mode.show_point({"clock": 75e6})
    assert "75" in mode.details.title.text()
    own_copy(mode, "pdf1d", "rat")
    mode.show_page("Model")
    fields = {str(row.field.path[-1]) for row in mode.form.rows}
    assert fields == set(RatModel.model_fields) - {"schema_version", "name", "inputs", "readings"}
    editor = mode.form.row("efficiency_in").editor
    assert isinstance(editor, QLineEdit)
    editor.setText("1.37")
    mode.form.row("efficiency_in").write()
    assert "at most 1" in mode.form.row("efficiency_in").problem.text()
    mode.history.undo()
    mode._add("input")
    assert not mode.document.errors


def test_a_kernels_model_is_prepared_as_a_job_and_then_shown(mode: PredictMode, qtbot: QtBot, tmp_path: Path) -> None:
    """An OpenCL kernel is run in the background; its potentials stand as bars, its profiles as readings."""
    folder = tmp_path / "pdf2d"
    (folder / "scale.cl").write_text(
        "__kernel void scale(__global float *data)\n{\n    data[get_global_id(0)] *= 2;\n}\n"
    )
    path = folder / "scale.opencl.yaml"
    launch = "launch: {global_size: [256], arguments: {data: {elements: 256}}}"
    path.write_text(f"schema_version: 1\nname: scale\nplatform: de5_net\nkernel_file: scale.cl\n{launch}\n")
    mode.open_document(path)
    assert mode.stack.currentWidget() is mode.nothing
    qtbot.waitUntil(lambda: mode.stack.currentWidget() is mode.results, timeout=WAIT_MS)
    assert [bar.name for bar in mode.results.shares.bars.rows] == ["B_mem", "B_balance", "B_itpp"]
    assert [mode.reading.itemText(n) for n in range(1, 3)] == ["printed", "repaired"]
    (folder / "scale.cl").write_text("__kernel void scale(__global float *data)\n{\n    data[\n}\n")
    mode.document.read_again()
    qtbot.waitUntil(lambda: mode.nothing.title.text() == "This model cannot be computed", timeout=WAIT_MS)
    assert "expected" in mode.nothing.why.text()  # the compiler's own words


def test_timing_diagram_stands_at_the_numbers(mode: PredictMode) -> None:
    mode.open_document(model_path("pdf2d", "ratss"))
    view = mode.results.timing
    file = mode.document.model_file
    assert file is not None
    parts = predict(file).parts
    bars = {bar.name: (n, bar) for n, bar in enumerate(view.timing.bars)}
    assert bars["kernels"][1].time_s == pytest.approx(float(parts["estimate", "kernels"]))
    assert bars["kernels"][1].start_s == pytest.approx(bars["write Y"][1].end_s)
    assert bars["read"][1].start_s == pytest.approx(bars["kernels"][1].end_s)
    assert view.timing.drawn_s == pytest.approx(float(predict(file).total_s))
    number = bars["kernels"][0]
    place = view.bar_box(number)
    assert view.bar_at(QPointF(*place.centre)) == number
    assert "141" in view.tip(number)
    assert "Eq. 4" in view.tip(number)
    image = pixels_of(view.grab().toImage())
    middle = round(place.centre[1])
    work = rgb(theme.state_colour(Category.WORK))
    inside = image[middle, round(place.x) + 3 : round(place.x) + 60]
    assert (inside == work).mean() > 0.9
    assert not (image[middle, round(place.right) + 3 :] == work).any()


def test_iterations_left_out_are_said(mode: PredictMode) -> None:
    mode.open_document(model_path("pdf2d_original", "ratss"))
    (span,) = mode.results.timing.timing.stages
    assert (span.rounds, span.skipped, span.overlapped) == (320, 317, True)
    rounds = {bar.round for bar in mode.results.timing.timing.bars}
    assert rounds == {1, 2, 320}
    last = max(mode.results.timing.timing.bars, key=lambda bar: bar.real_s + bar.time_s)
    file = mode.document.model_file
    assert file is not None
    assert last.real_s + last.time_s == pytest.approx(float(predict(file).total_s), rel=1e-3)


def test_a_copy_is_edited_undone_and_saved_with_its_comments(mode: PredictMode, qtbot: QtBot) -> None:
    mode.open_document(model_path("pdf2d", "ratss"))
    assert mode.document.read_only
    path = own_copy(mode)
    assert not mode.document.read_only
    assert path in [m.path for m in models_of(mode.context.root(), mode.context.plugins.model_kinds) if m.own]
    mode.show_page("Model")
    mode.choose(("inputs", "clock"))
    editor = mode.form.row("value").editor
    assert isinstance(editor, QLineEdit)
    editor.setFocus()
    editor.selectAll()
    qtbot.keyClicks(editor, "97.5 MHz")
    qtbot.keyClick(editor, Qt.Key.Key_Return)
    assert mode.document.dirty
    assert mode.results.figures.figures[0].value == "76.46×"
    mode.history.undo()
    assert mode.results.figures.figures[0].value == "146×"
    mode.history.redo()
    mode.save()
    text = path.read_text("utf-8")
    assert "97.5 MHz" in text
    assert "# 2^26; the text prints 67,108,684 (R1)" in text
    assert not mode.document.dirty


def test_a_fault_stands_beside_its_field_and_holds_saving(mode: PredictMode) -> None:
    own_copy(mode)
    mode.show_page("Model")
    mode.choose(("stages", 0, "nodes", 0))
    row = mode.form.row("elements")
    assert isinstance(row.editor, QLineEdit)
    row.editor.setText("sample / nodes")
    row.write()
    assert "samples" in row.problem.text()
    assert not mode.save_button.isEnabled()
    assert mode.why.text() == "1 problem to mend first"
    mode.show_page("Results")
    assert mode.stack.currentWidget() is mode.nothing
    mode.history.undo()
    assert mode.stack.currentWidget() is mode.results
    mode.document.set(("inputs", "nodes", "value"), 0)
    assert mode.stack.currentWidget() is mode.nothing
    assert mode.nothing.why.text() == "'nodes' is 0. It must be a whole number, at least 1."


def test_parts_are_added_and_removed(mode: PredictMode) -> None:
    own_copy(mode)
    mode.show_page("Model")
    for what in ("input", "resource", "stage", "transaction to stage 0", "measurement"):
        before = mode.document.text
        mode._add(what)
        assert mode.document.text != before, what
        assert not mode.document.errors, what
        assert mode.form.part is not None
        assert mode.form.part.path == mode.chosen
        mode.remove.click()
        assert mode.document.text == before, what


def type_input(mode: PredictMode, qtbot: QtBot, name: str, text: str) -> None:
    """Choose an input in the details and type over its value."""
    table = mode.details.inputs
    table.choose(lambda row: row.name == name)
    qtbot.keyClick(table, text[0])
    (editor,) = (line for line in table.findChildren(QLineEdit) if line.isVisible())
    qtbot.keyClicks(editor, text[1:])
    with qtbot.waitSignal(table.typed):
        qtbot.keyClick(editor, Qt.Key.Key_Return)


def shown_inputs(mode: PredictMode) -> dict[str, tuple[str, str]]:
    return {row.name: (row.text, row.own) for row in mode.details.inputs.rows.tops}


def test_an_input_is_typed_in_place_as_a_what_if(mode: PredictMode, qtbot: QtBot) -> None:
    """In a bundled model that cannot be changed: nothing is copied, and nothing of it is unsaved."""
    mode.details.resize(348, 800)
    mode.details.show()
    mode.open_document(model_path("pdf2d", "ratss"))
    assert mode.document.read_only
    type_input(mode, qtbot, "clock", "97.5 MHz")
    assert mode.what_if.changes == {"clock": 97.5e6}
    assert mode.results.figures.figures[0].value == "76.46×"
    assert shown_inputs(mode)["clock"] == ("97.5\u202fMHz", "195\u202fMHz")
    assert mode.head.subtitle.text() == "what if; Esc ends it"
    type_input(mode, qtbot, "nodes", "4")
    assert mode.what_if.changes == {"clock": 97.5e6, "nodes": 4}
    mode.history.undo()
    assert mode.what_if.changes == {"clock": 97.5e6}
    mode.history.redo()
    type_input(mode, qtbot, "nodes", "2")  # what the model has is no change
    assert mode.what_if.changes == {"clock": 97.5e6}
    type_input(mode, qtbot, "nodes", "half")
    assert mode.details.problem.text() == "'half' is no number. Write for example 4 or 1e6; this one has no unit."
    type_input(mode, qtbot, "nodes", "0")
    assert mode.details.problem.text() == "'nodes' cannot be 0. It must be a whole number, at least 1."
    qtbot.keyClick(mode.details.inputs, Qt.Key.Key_Escape)
    assert mode.what_if.changes == {}
    assert mode.results.figures.figures[0].value == "146×"
    assert not mode.document.dirty


def test_a_what_if_holds_while_another_input_is_explored(mode: PredictMode, qtbot: QtBot) -> None:
    mode.open_document(model_path("pdf2d", "ratss"))
    mode.type_input("clock", "97.5 MHz")
    mode.show_page("Explore")
    explored(mode, qtbot)
    found, file = mode.explore.found, mode.document.model_file
    assert found is not None
    assert file is not None
    slower = [float(predict(file, {"nodes": n, "clock": 97.5e6}).speedup) for n in found.x]
    assert found.values[0] == pytest.approx(slower)
    mode.explore.point_chosen.emit({"nodes": 8.0})
    assert mode.what_if.changes == {"clock": 97.5e6, "nodes": 8.0}


def test_a_what_if_is_written_when_asked(mode: PredictMode) -> None:
    mode.open_document(model_path("pdf2d", "ratss"))
    mode.type_input("clock", "97.5 MHz")
    assert not mode.details.keep.isEnabled()  # a bundled model
    own_copy(mode)
    mode.type_input("clock", "97.5 MHz")
    mode.type_input("nodes", "4")
    before = mode.document.text
    mode.details.keep.click()
    assert mode.what_if.changes == {}
    assert mode.document.value(("inputs", "clock", "value")) == "97.5 MHz"
    assert mode.document.value(("inputs", "nodes", "value")) == 4
    assert mode.document.dirty
    mode.history.undo()
    assert (mode.document.text, mode.what_if.changes) == (before, {"clock": 97.5e6, "nodes": 4})


def test_every_bundled_models_printed_tables_have_all_their_rows(mode: PredictMode) -> None:
    """Also where a value has no bound, as the queue of a station that is overloaded."""
    for kind in mode.context.plugins.model_kinds.values():
        for path in bundled_models(kind).values():
            mode.document.open(path)
            assert mode.document.model_file is not None, path
            for table in paper_tables(mode.document.model_file):
                assert table.rows, (path, table.title)
                assert all(text for row in table.rows for text in row.values)


def test_tables_are_sorted_by_what_they_hold(mode: PredictMode) -> None:
    assert [amount(text) for text in ("1.41E+2", "3.00E\u22122", "+10.8\u202f%", "12.5\u202fms", "2.4\u202fkB")] == [
        141, 0.03, 10.8, 0.0125, 2400,
    ]  # fmt: skip
    mode.open_document(model_path("pdf2d", "ratss"))
    rows = mode.results.table.views[0].rows
    rows.header().sectionClicked.emit(2)
    values = [amount(row.values[0]) for row in rows.rows.tops]
    assert values == sorted(values, reverse=True)
    assert rows.rows.as_text([rows.rows.tops[0]]).splitlines()[1].startswith(rows.rows.tops[0].attribute)


def test_sweep_point_opens_its_breakdown(mode: PredictMode, qtbot: QtBot) -> None:
    mode.open_document(model_path("pdf2d", "ratss"))
    mode.show_page("Explore")
    explored(mode, qtbot)
    found, file = mode.explore.found, mode.document.model_file
    assert found is not None
    assert file is not None
    assert found.question.name == "nodes"
    assert found.values[0] == pytest.approx([float(predict(file, {"nodes": n}).speedup) for n in found.x])
    plot = mode.explore.plot
    at = plot.place(8.0, float(found.values[0][7]))
    qtbot.mouseClick(plot.viewport(), Qt.MouseButton.LeftButton, pos=at.toPoint())
    assert mode.what_if.changes == {"nodes": 8.0}
    assert mode.details.title.text() == "nodes = 8"
    lines = {part.name: part.value for parts in mode.details.parts.rows.parts for part in parts}
    assert lines["kernels"] == "35.2\u202fs"
    mode.details.reset.click()
    assert mode.what_if.changes == {}
    image = pixels_of(plot.grab().toImage())
    assert (image == rgb(theme.colour("accent"))).sum() > 200


def test_two_inputs_bands_front_and_influences(mode: PredictMode, qtbot: QtBot) -> None:
    mode.open_document(model_path("pdf2d", "ratss"))
    mode.show_page("Explore")
    mode.explore.share.setCurrentIndex(2)
    explored(mode, qtbot)
    found = mode.explore.found
    assert found is not None
    assert found.bands is not None
    low, high = (found.bands.quantiles[q] for q in (0.05, 0.95))
    assert (low < found.values[0]).all()
    assert (high > found.values[0]).all()
    assert found.influences[0].name == "bins"
    assert found.influences[0].total_order is not None
    assert {"kernels", "nodes"} <= found.front[0].inputs.keys()
    mode.explore.second.setCurrentText("clock")
    explored(mode, qtbot)
    second = mode.explore.found
    assert second is not None
    assert second.values.shape == (5, 16)
    assert (np.diff(second.values, axis=0) > 0).all()
    times = [p.y for p in second.front]
    assert times == sorted(times)
    assert len(times) > 5


def test_what_must_hold(mode: PredictMode, qtbot: QtBot) -> None:
    mode.open_document(model_path("pdf2d", "ratss"))
    mode.show_page("Explore")
    mode.explore.target.setText("200")
    mode.explore.target_name.setCurrentText("clock")
    mode.explore.solve_button.click()
    qtbot.waitUntil(lambda: bool(mode.what_if.changes), timeout=WAIT_MS)
    file = mode.document.model_file
    assert file is not None
    assert float(predict(file, mode.what_if.changes).speedup) == pytest.approx(200)
    assert mode.explore.answer.text().startswith("clock must be 276")
    mode.explore.target.setText("1e9")
    mode.explore.solve_button.click()
    qtbot.waitUntil(lambda: mode.explore.answer.property("role") == "high", timeout=WAIT_MS)
    for wrong, said in (
        ("ten", "no number"),
        ("nan", "no finite number"),
        ("0.5", "whole number"),
        ("0", "at least 1"),
    ):
        mode.explore.problem.hide()
        mode.explore.low.setText(wrong)
        mode.explore.high.setText("0.7" if wrong == "0.5" else "16")
        mode.explore.sweep()
        qtbot.waitUntil(lambda: not mode.explore.problem.isHidden(), timeout=WAIT_MS)
        assert said in mode.explore.problem.text(), wrong
    mode.explore.target.setText("nan")
    mode.explore.solve_button.click()
    assert mode.explore.answer.text() == "'nan' is no finite number. Write for example 4 or 1e6."


def test_a_whole_number_is_solved_and_its_rounds_are_said(mode: PredictMode, qtbot: QtBot) -> None:
    mode.open_document(model_path("pdf2d", "ratss"))
    mode.show_page("Explore")
    mode.explore.target.setText("200")
    mode.explore.target_name.setCurrentText("nodes")
    mode.explore.solve_button.click()
    qtbot.waitUntil(lambda: bool(mode.what_if.changes), timeout=WAIT_MS)
    assert mode.what_if.changes == {"nodes": 3}
    assert mode.explore.answer.text() == "nodes must be 3 (the model has 2; whole numbers only: 216× there, 146× at 2)"
    mode.show_page("Results")
    mode.results.show_page("Networks")
    (table,) = mode.results.table.tables
    told = {row.attribute: row.values for row in table.rows}
    assert told["log2 P, the next whole number"] == ("2",)
    assert "3 nodes are no power of two, counted as 2 whole rounds" in mode.results.figures.figures[3].tip


def test_layers_are_dragged_and_put_back(mode: PredictMode, qtbot: QtBot) -> None:
    mode.open_document(model_path("matrix_multiply", "density"))
    view, file = mode.density, mode.document.model_file
    assert file is not None
    own = bounds_of(file)
    assert view.result is not None
    assert float(view.result.bounds[1].ops_per_s) == float(own.bounds[1].ops_per_s)
    assert [m.x for m in view.curve.plot.marks] == pytest.approx([0.6e6, 28e6])
    before = pixels_of(view.bars.grab().toImage())
    start = view.curve.mark_place(1)
    end = start + QPointF(-80, 40)
    qtbot.mousePress(view.curve.viewport(), Qt.MouseButton.LeftButton, pos=start.toPoint())
    qtbot.mouseMove(view.curve.viewport(), (start + QPointF(-40, 20)).toPoint())
    qtbot.mouseMove(view.curve.viewport(), end.toPoint())
    qtbot.mouseRelease(view.curve.viewport(), Qt.MouseButton.LeftButton, pos=end.toPoint())
    assert view.moved is not None
    dropped = view.moved
    mode.history.undo()  # the whole move is one step
    assert view.moved is None
    assert [m.x for m in view.curve.plot.marks] == pytest.approx([0.6e6, 28e6])
    assert not mode.history.can_undo
    mode.history.redo()
    assert view.moved == dropped
    assert float(view.moved[1].layer_bytes) < 28e6
    assert float(view.moved[1].bandwidth_bytes_per_s) < 1.4e9
    assert float(view.result.bounds[1].ops_per_s) < float(own.bounds[1].ops_per_s)
    assert view.bars.bars.rows[1].value == float(view.result.bounds[1].ops_per_s)
    assert "what-if" in mode.details.subtitle.text()
    assert (pixels_of(view.bars.grab().toImage()) != before).any()
    view.reset_button.click()
    assert view.moved is None
    assert (pixels_of(view.bars.grab().toImage()) == before).all()
    assert not mode.document.dirty


def test_rho_curve_is_the_models(mode: PredictMode) -> None:
    mode.open_document(model_path("all_to_all", "density"))
    line = mode.density.curve.plot.lines[0]
    assert line.y == pytest.approx(line.x / (2 * 32**2))  # Eq. 5
    mode.reading.setCurrentText("large particles")
    mode.reading.activated.emit(mode.reading.currentIndex())
    assert mode.density.curve.plot.lines[0].y == pytest.approx(line.x / (2 * 512**2))


def test_measured_values_are_taken_over(mode: PredictMode, plugins: Plugins) -> None:
    from workbench.session.results import OpenRun
    from workbench.testing.runs import synthetic_run

    run = synthetic_run(cores=4, rounds=3)
    host = next(b for b in run.manifest.blocks if b.id == "host.main")
    state = next(s.name for s in host.states if s.category is Category.SEND)
    own_copy(mode, "pdf2d_original")
    moves = ("stages", 0, "transactions")
    for n in range(6):
        mode.document.set((*moves, n, "measured_in"), [state] if n == 1 else ["no such state"])
    mode.document.set(("stages", 0, "nodes", 0, "measured_in"), None)
    assert mode.results.comparison is None
    assert mode.context.opened is None
    opened = OpenRun.__new__(OpenRun)
    object.__setattr__(opened, "run", run)
    mode.context.opened = opened
    mode._show_results()
    assert mode.results.comparison is not None
    mode.results.show_page("Measured")
    assert mode.results.table.tables[0].title == "Against the open run"
    before = mode.document.text
    mode.results.take_over.click()
    assert mode.document.value((*moves, 1, "correction")) == pytest.approx(
        next(r.measured / r.predicted for r in mode.results.comparison.rows if r.quantity == "write points")
        * mode.document.value((*moves, 1, "correction"))
    )
    assert "# of each batch, one after the other" in mode.document.text
    mode.history.undo()
    assert mode.document.text == before


def test_waiting_has_a_row_of_its_own() -> None:
    asked = error_row("batches", "ask once", 0.01024, 0.0103, {}, "a run", 0.03)
    still = error_row("batches", "stop core", 0.00512, 0.0, {}, "a run")
    table = run_table(RunComparison((asked, still), {}, {}, (), "a run"))
    assert [(row.attribute, row.values[1]) for row in table.rows] == [
        ("batches: ask once", "1.03E−2"), ("waiting there, left out", "3.00E−2"), ("batches: stop core", "0.00E+0"),
    ]  # fmt: skip
    assert table.rows[2].values[2] == ""  # no error of a part that took no time


def test_unsaved_changes_are_not_left(mode: PredictMode) -> None:
    path = own_copy(mode)
    mode.document.set(("inputs", "nodes", "value"), 4)
    mode.open_document(model_path("image_filter", "ratss"))
    assert mode.document.path == path
    mode.context.documents.ask = lambda question: DISCARD
    mode.open_document(model_path("image_filter", "ratss"))
    assert mode.document.path == model_path("image_filter", "ratss")
    assert not mode.document.history.can_undo


def test_numbers_of_an_axis_have_no_idle_zeros() -> None:
    assert trimmed("20.0\u202fs") == "20\u202fs"
    assert trimmed("0.00×") == "0×"
    assert trimmed("1\u202f000") == "1\u202f000"
    assert trimmed("0.250") == "0.25"
    assert prefixed(28e6, "B") == "28\u202fMB"


def test_a_kernels_measured_density_stands_beside_the_model(mode: PredictMode, qtbot: QtBot) -> None:
    """The naive order falls short of the model until one matrix fits in the store (Steffen 2007, section 3)."""
    mode.open_document(model_path("matrix_multiply", "density"))
    assert mode.density.of is not None
    title, (kernel, arguments) = next(iter(mode.density.of.kernels().items()))
    mode.density.measure_kernel(title, kernel, arguments)
    qtbot.waitUntil(lambda: len(mode.density.curve.plot.lines) == 2, timeout=60_000)
    measured = mode.density.curve.plot.lines[1]
    assert measured.name == "measured"
    assert min(measured.y) == pytest.approx(1 / 8, rel=0.05)  # each multiply-add loads both its operands of 4 bytes
    assert "furthest from the model -" in mode.density.curve_head.subtitle.text()
    mode.density.reset()
    assert len(mode.density.curve.plot.lines) == 1


def test_a_kernel_that_is_measured_can_be_given_up(mode: PredictMode, qtbot: QtBot, tmp_path: Path) -> None:
    kernel = tmp_path / "forever.c"
    kernel.write_text("int main(void) { for (;;) ; }\n")
    mode.open_document(model_path("matrix_multiply", "density"))
    mode.density.measure_kernel("forever", kernel, [])
    background = mode.context.background
    qtbot.waitUntil(lambda: background.said == "Measuring forever", timeout=WAIT_MS)
    assert mode.density.measure_button.isHidden()
    mode.density.stop_button.click()
    qtbot.waitUntil(lambda: not background.busy, timeout=WAIT_MS)  # its program has ended
    assert not mode.density.measure_button.isHidden()
    assert len(mode.density.curve.plot.lines) == 1
    assert not list(mode.context.notices)


def test_an_input_at_both_its_bounds_is_explored(mode: PredictMode, qtbot: QtBot) -> None:
    path = own_copy(mode, "image_filter")
    for key, value in (("minimum", 2), ("maximum", 2)):
        assert mode.document.set(("inputs", "nodes", key), value)
    mode.show_page("Explore")
    assert mode.stack.currentWidget() is mode.explore
    assert mode.explore.name.currentText() == "side"  # the first that can change
    explored(mode, qtbot)
    mode.document.save()
    assert "maximum: 2" in path.read_text()
