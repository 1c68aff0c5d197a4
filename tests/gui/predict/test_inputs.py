"""A model is edited, undone and saved; an input typed in place is a what-if."""

import pytest
from predict_shown import explored, own_copy
from predicting import model_path, predict
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QLineEdit
from pytestqt.qtbot import QtBot

from workbench.gui.modes.forms.number_line import NumberLine, rounded
from workbench.gui.modes.forms.part_list import VALUE_PX, value_is_below
from workbench.gui.modes.predict.mode import PredictMode
from workbench.gui.open.question import DISCARD
from workbench.gui.views.canvas import text_width
from workbench.session.edit.model_document import models_of


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
    mode.show_page("Results")
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
    assert mode.problem_button.text() == "1 problem"
    mode.show_page("Results")
    assert mode.stack.currentWidget() is mode.nothing
    mode.history.undo()
    assert mode.stack.currentWidget() is mode.results
    mode.document.set(("inputs", "nodes", "value"), 0)
    assert mode.stack.currentWidget() is mode.nothing
    assert mode.nothing.why.text() == "'nodes' is 0. It must be a whole number, at least 1."


def test_a_number_of_many_digits_is_rounded_until_it_is_typed_in(mode: PredictMode, qtbot: QtBot) -> None:
    own_copy(mode)
    mode.show_page("Model")
    mode.choose(())
    before, row = mode.document.text, mode.form.row("baseline_s")
    editor = row.editor
    assert isinstance(editor, NumberLine)
    assert (editor.text(), editor.toolTip()) == ("22586", "22586.006276901637")
    row.write()
    for widget in (editor, mode.models.filter):
        widget.setFocus()
        qtbot.waitUntil(widget.hasFocus)
        assert editor.text() == ("22586.006276901637" if widget is editor else "22586")
    assert mode.document.text == before
    editor.setFocus()
    editor.selectAll()
    qtbot.keyClicks(editor, "22586")  # is another number
    qtbot.keyClick(editor, Qt.Key.Key_Return)
    assert mode.document.value(("baseline_s",)) == 22586
    texts = ["1.23456789e-6", "1234567.891", "0.37", "2.5 * pipelines", "1234.56789012 MB/s", "-0.1234567"]
    assert list(map(rounded, texts)) == [
        "1.23457e-06", "1234568", "0.37", "2.5 * pipelines", "1234.57 MB/s", "-0.123457",
    ]  # fmt: skip


def test_a_value_without_room_beside_its_input_is_below_it(mode: PredictMode, qtbot: QtBot) -> None:
    mode.open_document(model_path("blastn", "queueing"))
    mode.show_page("Model")
    rows = mode.parts.lines
    part = next(p for parts in rows.rows.parts for p in parts if p.path == ("inputs", "input_per_s"))
    heights = []
    for wide in (rows.width(), 120):
        rows.resize(wide, rows.height())
        qtbot.waitUntil(lambda wide=wide: rows.width() == wide)
        heights.append(rows.height_of(part) - value_is_below(part, rows.viewport().width()) * VALUE_PX)
        assert value_is_below(part, rows.viewport().width()) == (wide == 120)
    assert part.value == "900\u202fM/s" or "900" in part.value
    assert heights[0] <= heights[1]


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


def test_unsaved_changes_are_not_left(mode: PredictMode) -> None:
    path = own_copy(mode)
    mode.document.set(("inputs", "nodes", "value"), 4)
    mode.open_document(model_path("image_filter", "ratss"))
    assert mode.document.path == path
    mode.context.documents.ask = lambda question: DISCARD
    mode.open_document(model_path("image_filter", "ratss"))
    assert mode.document.path == model_path("image_filter", "ratss")
    assert not mode.document.history.can_undo


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


def test_an_input_that_has_no_room_beside_its_name_has_it_below(mode: PredictMode) -> None:
    mode.details.resize(900, 800)
    mode.details.show()
    mode.open_document(model_path("pdf2d", "ratss"))
    table = mode.details.inputs
    assert not table.isColumnHidden(1)
    low = table.row_px
    mode.details.resize(348, 800)
    assert table.isColumnHidden(1)
    assert table.row_px > low
    assert table.height() == table.whole_px
    title = next(row.title for row in table.rows.tops if row.name == "bins")
    assert text_width(title, 13) < table.columnWidth(0) - 24


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
    assert mode.details.problem.text() == "'half' is not a number. Write for example 4 or 1e6; this one has no unit."
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
    found, file = mode.explore.swept, mode.document.model_file
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
