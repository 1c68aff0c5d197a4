"""Predict's results: figures, tables and the timing diagram are drawn from the model's numbers."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from pixels import pixels_of, rgb
from predict_shown import explored, own_copy
from predicting import model_path, predict
from PySide6.QtCore import QPointF, QRectF
from PySide6.QtWidgets import QApplication, QLineEdit
from pytestqt.qtbot import QtBot
from rc_workbench_plugins.density.model import Compute, DensityModel, LayerChange, StreamPart
from rc_workbench_plugins.opencl.document import MeasuredSpeedup, OpenClModel, Replication, Step
from rc_workbench_plugins.opencl.launch import Launch
from rc_workbench_plugins.rat.model import RatModel
from rc_workbench_plugins.ratss.errors import error_row
from rc_workbench_plugins.ratss.model import ComputeNode, RatssModel, Stage, StageMeasurement, Transaction
from stream_runs import kept, simulated

from workbench.api.forms import Group
from workbench.api.models import Input
from workbench.api.predictions import RunComparison
from workbench.api.views import Figure
from workbench.formats.run_folder import open_run
from workbench.gui.look import theme
from workbench.gui.modes.compare.ledger import LedgerTable
from workbench.gui.modes.predict.figures import MARGIN_PX, Figures
from workbench.gui.modes.predict.mode import PredictMode
from workbench.gui.modes.predict.of_run import begin
from workbench.gui.modes.predict.parts import INPUT
from workbench.gui.modes.predict.table_view import amount
from workbench.gui.widgets.row_view import EDGE_PX
from workbench.model.pragma import Category
from workbench.model.text import prefixed, trimmed
from workbench.predict.formulas import Evaluation
from workbench.predict.kinds import outputs_of
from workbench.predict.library import bundled_models
from workbench.predict.shown import results_of
from workbench.predict.tables import paper_tables, run_table
from workbench.session.program.plugins import Plugins


def named(*groups: Group) -> set[str]:
    return {str(f.path[-1]) for g in groups for f in g.fields if f.path}


def test_every_field_of_a_model_has_a_row() -> None:
    elsewhere = {"schema_version", "name", "inputs", "readings"}
    parts = {"stages", "resources", "measured", "layers", "streams", "compute", "nodes", "transactions"}
    parts |= {"power", "networks"}
    for schema in (RatssModel, DensityModel):
        assert named(*schema.form) == set(schema.model_fields) - elsewhere - parts
    assert named(*Stage.form) == set(Stage.model_fields) - parts
    assert named(*OpenClModel.form) == set(OpenClModel.model_fields) - elsewhere - {
        "launch", "measured", "steps", "resource_driven"
    }  # fmt: skip
    assert named(*Step.form) == set(Step.model_fields)
    assert named(*Replication.form) == set(Replication.model_fields)
    assert named(*MeasuredSpeedup.form) == set(MeasuredSpeedup.model_fields)
    assert named(*Launch.form) == set(Launch.model_fields) - {"arguments"}
    for part in (ComputeNode, Transaction, LayerChange, Compute, StreamPart):
        assert named(*part.form) == set(part.model_fields)
    assert named(*StageMeasurement.form) == set(StageMeasurement.model_fields) - {"inputs"}
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
        qtbot.waitUntil(lambda: not mode.context.background.busy)
    theme.apply_theme(qapp, "light")


def test_figures_and_tables_are_the_papers(mode: PredictMode) -> None:
    mode.open_document(model_path("pdf2d", "ratss"))
    assert mode.results.figures.figures[0].value == "146×"
    table, power = mode.results.table.tables
    assert [view.title.text() for view in mode.results.table.views] == [table.title, power.title]
    assert [row.values[0] for row in power.rows if row.attribute == "average power"] == ["329\u202fW"]
    assert table.columns == ("2\u202fnodes", "4\u202fnodes", "8\u202fnodes")
    rows = {row.attribute: row.values for row in table.rows}
    assert rows["computation kernels"] == ("141\u202fs", "70.5\u202fs", "35.2\u202fs")  # Table IV
    assert rows["t_application"] == ("154\u202fs", "79.8\u202fs", "42.5\u202fs")
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


def test_figures_take_two_rows_where_they_do_not_fit_in_one(qtbot: QtBot) -> None:
    strip, note = Figures(5), "a note of some words"
    qtbot.addWidget(strip)
    strip.resize(1200, strip.height())
    strip.show()
    strip.show_figures(tuple(Figure(f"a figure with a title {n}", "123.4 ms", note) for n in range(5)))
    one_row_px = strip.height()
    strip.resize(440, strip.height())
    qtbot.waitUntil(lambda: strip.height() >= 2 * one_row_px - 2 * MARGIN_PX)
    assert not any(cell.box.isHidden() for cell in strip._cells)
    qtbot.waitUntil(lambda: all(c.note.heightForWidth(c.note.width()) <= c.note.height() for c in strip._cells))


def test_no_figure_stands_twice(mode: PredictMode, qtbot: QtBot) -> None:
    """Beside the strip of figures, the details have none; on the other pages they have those of the point."""
    for model, kind in (("pdf2d", "ratss"), ("matrix_multiply", "density"), ("blastn", "queueing"), ("pdf1d", "rat")):
        mode.open_document(model_path(model, kind))
        mode.show_page("Results")
        assert (mode.density.figures if kind == "density" else mode.results.figures).figures
        assert mode.details.figures.isHidden(), model
        mode.show_page("Explore")
        qtbot.waitUntil(lambda: not mode.context.background.busy)
    mode.open_document(model_path("pdf2d", "ratss"))
    assert [figure.title for figure in mode.details.figures.figures] == ["Total", "Speedup", "Longest stage"]


def test_a_kind_that_only_computes_outputs_has_all_pages(mode: PredictMode, qtbot: QtBot) -> None:
    """Of a schema and a function results, what-ifs, sweeps, solving and the form come of themselves."""
    assert "RAT, bundled" in [section.title for section in mode.models.lines.rows.tops]
    mode.open_document(model_path("pdf1d", "rat"))
    file = mode.document.model_file
    assert file is not None
    outputs = outputs_of(file)
    only = Evaluation(replace(file, kind=replace(file.kind, results=None)))
    mode.results.show_results(only, results_of(only), None, read_only=False)
    (table,) = mode.results.table.tables
    assert len(table.rows) == len(outputs)
    assert mode.results.figures.figures[0].value == f"{outputs['speedup']:.2f}×"
    assert mode.results.timing_area.isHidden()
    mode.show_page("Explore")
    explored(mode, qtbot)
    assert mode.explore.swept is not None
    assert mode.explore.swept.question.output == "speedup"
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


def test_rat_draws_its_first_iterations_with_one_buffer_and_with_two(mode: PredictMode) -> None:
    mode.open_document(model_path("pdf1d", "rat"))
    timing, outputs = mode.results.timing.timing, outputs_of(mode.document.model_file)
    assert mode.results.timing_area.isVisibleTo(mode)
    assert [(lane.name, lane.note) for lane in timing.lanes][::3] == [
        ("One buffer", "transfers"), ("Two buffers", "FPGA"),
    ]  # fmt: skip
    ends = [max(bar.end_s for bar in timing.bars if bar.lane // 2 == buffers) for buffers in (0, 1)]
    assert ends == pytest.approx([3 / 400 * outputs["total_s"], 3 / 400 * outputs["total_double_s"]])
    assert [part.name for part in mode.details.parts.rows.tops] == ["write", "compute", "read"]
    (table,) = mode.results.table.tables
    assert next(row.values for row in table.rows if row.strong) == ("10.58×", "11.02×")


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
    qtbot.waitUntil(lambda: mode.stack.currentWidget() is mode.results)
    bars = [bar.name for bar in mode.results.shares.bars.rows]
    assert bars == ["Global memory", "Computing, at most", "Balance of the pipeline", "Work items in the pipeline"]
    assert [mode.reading.itemText(n) for n in range(1, 3)] == ["printed", "repaired"]
    (folder / "scale.cl").write_text("__kernel void scale(__global float *data)\n{\n    data[\n}\n")
    mode.document.read_again()
    qtbot.waitUntil(lambda: mode.nothing.title.text() == "This model cannot be computed")
    assert "expected" in mode.nothing.why.text()  # the compiler's own words
    (folder / "scale.cl").unlink()
    mode.document.read_again()
    qtbot.waitUntil(lambda: mode.nothing.why.text().startswith(f"{folder / 'scale.cl'}: cannot read this file"))
    assert mode.details.title.text() == "No prediction"


def test_the_best_of_a_search_is_written_and_shown(mode: PredictMode, qtbot: QtBot, tmp_path: Path) -> None:
    assert mode.write_best.isHidden()  # a RATSS model's best is not written
    folder = tmp_path / "pdf2d"
    (folder / "sum.cl").write_text(
        "__kernel void sum(__global const float *x, __global float *y)\n{\n    float s = 0;\n"
        "    for (int k = 0; k < 32; k++)\n        s += x[32 * get_global_id(0) + k];\n    y[get_global_id(0)] = s;\n}"
    )
    path = folder / "sum.opencl.yaml"
    launch = "launch: {global_size: [256], local_size: [64], arguments: {x: {elements: 8192}, y: {elements: 256}}}"
    path.write_text(f"schema_version: 1\nname: sum\nplatform: de5_net\nkernel_file: sum.cl\n{launch}\n")
    mode.open_document(path)
    assert not mode.write_best.isHidden()
    mode.write_best.write(tmp_path / "best")
    qtbot.waitUntil(lambda: mode.document.path == tmp_path / "best" / "sum_best.opencl.yaml")
    assert "#pragma unroll" in (tmp_path / "best" / "sum.cl").read_text()
    assert "is written to" in list(mode.context.notices)[-1].message


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


def test_every_bundled_models_printed_tables_have_all_their_rows(mode: PredictMode) -> None:
    """Also where a value has no bound, as the queue of a station that is overloaded."""
    for kind in mode.context.plugins.model_kinds.values():
        for path in bundled_models(kind).values():
            mode.document.open(path)
            assert mode.document.model_file is not None, path
            for table in paper_tables(mode.document.model_file):
                assert table.rows, (path, table.title)
                assert all(text for row in table.rows for text in row.values)


def test_a_wide_window_leaves_values_near_their_attributes(mode: PredictMode, qtbot: QtBot) -> None:
    mode.open_document(next(m.path for m in mode._models() if m.path.name == "pdf1d.rat.yaml"))
    qtbot.waitUntil(lambda: mode.results.table.views[0].isVisible())
    mode.resize(2400, 900)
    (table,) = mode.results.table.views
    qtbot.waitUntil(lambda: 0 < table.rows.width() < 900 < table.width())
    assert mode.results.pills["Outputs"].isHidden()  # one table offers no choice


def test_the_first_column_that_is_shown_begins_at_the_edge(qtbot: QtBot) -> None:
    table, cell = LedgerTable(), QRectF(0, 0, 100, 28)
    qtbot.addWidget(table)
    table.show()
    for width, first in ((900, 0), (500, 1)):
        table.resize(width, 200)
        assert [table.inside(cell, column).left() == EDGE_PX for column in (0, 1)] == [not first, bool(first)]
        assert table.inside(cell, 8).right() == 100 - EDGE_PX


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


def test_measured_values_are_taken_over(mode: PredictMode, plugins: Plugins) -> None:
    from workbench.session.keep.results import OpenRun
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
    assert mode.results.table.tables[0].title == "Compared with the open run"
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
        ("batches: ask once", "10.3\u202fms"),
        ("waiting, left out", "30.0\u202fms"),
        ("batches: stop core", "0\u202fs"),
    ]
    assert table.rows[2].values[2] == ""  # no error of a part that took no time


def test_numbers_of_an_axis_have_no_idle_zeros() -> None:
    assert trimmed("20.0\u202fs") == "20\u202fs"
    assert trimmed("0.00×") == "0×"
    assert trimmed("1\u202f000") == "1\u202f000"
    assert trimmed("0.250") == "0.25"
    assert prefixed(28e6, "B") == "28\u202fMB"


def test_a_queueing_model_is_calibrated_from_the_open_run(
    mode: PredictMode, qtbot: QtBot, plugins: Plugins, tmp_path: Path
) -> None:
    """Its quantiles are drawn against those of the run, beside the tables that say how far off they are."""
    kind, path = plugins.model_kinds["queueing"], tmp_path / "of_run.queueing.yaml"
    run, _ = open_run(kept(simulated(), tmp_path / "run"))
    begin(mode, kind, run, path)
    qtbot.waitUntil(lambda: mode.document.path == path)
    mode.show_page("Results")
    mode.results.show_page("Against measurements")
    assert [line.name for line in mode.results.chart.plot.lines] == ["alike", "a", "b"]
    assert mode.results.chart.isVisible()
    assert [table.title for table in mode.results.table.tables] == ["Measured", "How many wait"]
    mode.results.show_page("Stations")
    assert {line.name for line in mode.results.chart.plot.lines} == {"a", "b", ""}
