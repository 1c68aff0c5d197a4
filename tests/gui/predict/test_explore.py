"""Sweeps, random inputs, and what an input must be for an output to hold."""

import numpy as np
import pytest
from pixels import pixels_of, rgb
from predict_shown import explored, own_copy
from predicting import model_path, predict
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QComboBox, QStyleOptionComboBox
from pytestqt.qtbot import QtBot

from workbench.gui.look import theme
from workbench.gui.modes.predict.mode import PredictMode


def choose(box: QComboBox, data: str) -> None:
    box.setCurrentIndex(box.findData(data))


def test_inputs_have_their_titles(mode: PredictMode, qtbot: QtBot) -> None:
    mode.open_document(model_path("blastn", "queueing"))
    mode.show_page("Explore")
    explored(mode, qtbot)
    explore, titles = mode.explore, ["input rate", "look-ups", "hits a base", "seeds a hit"]
    for box in (explore.name, explore.target_name):
        assert [box.itemText(n) for n in range(box.count())] == titles
    assert explore.head.title.text() == "Utilisation by input rate"
    assert explore.plot.plot.x.title == "input rate"
    assert [bar.name for bar in explore.influences.bars.rows] == titles
    explore.choose_input("hits")
    assert (explore.name.currentText(), explore.target_name.currentText()) == ("hits a base", "hits a base")


def test_a_title_without_room_is_cut_with_the_whole_in_its_tooltip(mode: PredictMode, qtbot: QtBot) -> None:
    mode.open_document(model_path("matrix_multiply", "density"))
    mode.show_page("Explore")
    mode.explore.choose_input("units")
    whole, option = "multiply-add units on both FPGAs", QStyleOptionComboBox()
    box = mode.explore.name
    box.initStyleOption(option)
    assert option.currentText.endswith("…")
    assert whole.startswith(option.currentText[:-1])
    assert (box.currentText(), box.toolTip()) == (whole, whole)
    assert mode.explore.output.toolTip() == ""


def test_sweep_point_opens_its_breakdown(mode: PredictMode, qtbot: QtBot) -> None:
    mode.open_document(model_path("pdf2d", "ratss"))
    mode.show_page("Explore")
    explored(mode, qtbot)
    found, file = mode.explore.swept, mode.document.model_file
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
    mode.open_document(model_path("pdf2d_ranks", "ratss"))  # of whose sweep nothing is known yet
    mode.show_page("Explore")
    assert mode.explore.influence_head.subtitle.text() == ""
    assert (mode.explore.low.text(), mode.explore.high.text()) == ("40 960", "655 360")


def test_two_inputs_bands_front_and_influences(mode: PredictMode, qtbot: QtBot) -> None:
    mode.open_document(model_path("pdf2d", "ratss"))
    mode.show_page("Explore")
    mode.explore.share.setCurrentIndex(2)
    explored(mode, qtbot)
    found = mode.explore.swept
    assert found is not None
    assert found.question.resource == "power_w"  # by default, time beside power
    assert [p.x for p in found.front] == sorted(p.x for p in found.front)
    assert mode.explore.front.plot.x.title == "Average power"
    mode.explore.resource.setCurrentText("multipliers")
    mode.explore.sweep()
    explored(mode, qtbot)
    found = mode.explore.swept
    assert found.bands is not None
    low, high = (found.bands.quantiles[q] for q in (0.05, 0.95))
    assert (low < found.values[0]).all()
    assert (high > found.values[0]).all()
    assert found.influences[0].name == "bins"
    assert found.influences[0].total_order is not None
    assert {"kernels", "nodes"} <= found.front[0].inputs.keys()
    choose(mode.explore.second, "clock")
    explored(mode, qtbot)
    second = mode.explore.swept
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
    choose(mode.explore.target_name, "clock")
    mode.explore.solve_button.click()
    qtbot.waitUntil(lambda: bool(mode.what_if.changes))
    file = mode.document.model_file
    assert file is not None
    assert float(predict(file, mode.what_if.changes).speedup) == pytest.approx(200)
    assert mode.explore.answer.text().startswith("FPGA clock must be 276")
    mode.explore.target.setText("1e9")
    mode.explore.solve_button.click()
    qtbot.waitUntil(lambda: mode.explore.answer.property("role") == "high")
    for wrong, said in (
        ("ten", "not a number"),
        ("nan", "not a finite number"),
        ("0.5", "whole number"),
        ("0", "at least 1"),
    ):
        mode.explore.problem.hide()
        mode.explore.low.setText(wrong)
        mode.explore.high.setText("0.7" if wrong == "0.5" else "16")
        mode.explore.sweep()
        qtbot.waitUntil(lambda: not mode.explore.problem.isHidden())
        assert said in mode.explore.problem.text(), wrong
    mode.explore.target.setText("nan")
    mode.explore.solve_button.click()
    assert mode.explore.answer.text() == "'nan' is not a finite number. Write for example 4 or 1e6."


def test_a_whole_number_is_solved_and_its_rounds_are_said(mode: PredictMode, qtbot: QtBot) -> None:
    mode.open_document(model_path("pdf2d", "ratss"))
    mode.show_page("Explore")
    mode.explore.target.setText("200")
    choose(mode.explore.target_name, "nodes")
    mode.explore.solve_button.click()
    qtbot.waitUntil(lambda: bool(mode.what_if.changes))
    assert mode.what_if.changes == {"nodes": 3}
    assert (
        mode.explore.answer.text() == "nodes P must be 3 (the model has 2; whole numbers only: 216× there, 146× at 2)"
    )
    mode.show_page("Results")
    mode.results.show_page("Networks")
    (table,) = mode.results.table.tables
    told = {row.attribute: row.values for row in table.rows}
    assert told["log2 P, the next whole number"] == ("2",)
    assert "3 nodes are not a power of two; counted as 2 whole rounds" in mode.results.figures.figures[3].tip


def test_a_solved_clock_beyond_any_fpga_is_doubted(mode: PredictMode, qtbot: QtBot) -> None:
    mode.open_document(model_path("pdf2d", "ratss"))
    mode.show_page("Explore")
    mode.explore.target.setText("1000")
    choose(mode.explore.target_name, "clock")
    mode.explore.solve_button.click()
    qtbot.waitUntil(lambda: bool(mode.what_if.changes))
    assert "clock_hz. The fastest clock networks reach" in mode.explore.answer.text()
    assert mode.explore.answer.property("role") == "high"


def test_an_input_at_both_its_bounds_is_explored(mode: PredictMode, qtbot: QtBot) -> None:
    path = own_copy(mode, "image_filter")
    for key, value in (("minimum", 2), ("maximum", 2)):
        assert mode.document.set(("inputs", "nodes", key), value)
    mode.show_page("Explore")
    assert mode.stack.currentWidget() is mode.explore
    assert mode.explore.name.currentData() == "side"  # the first that can change
    explored(mode, qtbot)
    mode.document.save()
    assert "maximum: 2" in path.read_text()


def test_models_without_resources_have_no_empty_front(mode: PredictMode, qtbot: QtBot) -> None:
    mode.show_page("Explore")
    for model, kind, there in (("blastn", "queueing", False), ("pdf2d", "ratss", True)):
        mode.open_document(model_path(model, kind))
        mode.show_page("Explore")
        explored(mode, qtbot)
        assert mode.explore.front_panel.isVisible() is there
        if not there:  # a share as everywhere, also where more comes than is served
            axis = mode.explore.plot.plot.y
            assert [axis.text(value) for value in (0.9, 2.5)] == ["90.0\u202f%", "250\u202f%"]
