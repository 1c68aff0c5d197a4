"""A model edited in its drawing, by mouse and by keys. What the changes are: tests/test_drawing.py."""

from pathlib import Path

import pytest
from predicting import model_path
from PySide6.QtCore import QPoint, Qt
from PySide6.QtWidgets import QApplication, QLineEdit, QMenu
from pytestqt.qtbot import QtBot
from test_drawing import QUEUES, STAGES

from workbench.gui.modes.forms.part_list import PartList
from workbench.gui.modes.forms.words_area import TextArea
from workbench.gui.modes.predict.diagram_edits import READ_ONLY
from workbench.gui.modes.predict.diagram_view import DiagramPage
from workbench.gui.modes.predict.mode import PredictMode
from workbench.gui.widgets.name_field import NameField

LEFT = Qt.MouseButton.LeftButton


@pytest.fixture
def drawn(mode: PredictMode, tmp_path: Path) -> DiagramPage:
    path = tmp_path / "pdf2d" / "own.ratss.yaml"
    path.write_text(STAGES)
    mode.open_document(path)
    mode.show_page("Structure")
    return mode.structure.drawn


def spot(page: DiagramPage, key: str) -> QPoint:
    view = page.view
    assert view.layout_
    assert view.diagram
    number = [node.id for node in view.diagram.nodes].index(key)
    x, y = next(n for n in view.layout_.nodes if n.key == f"model.{number}").box.centre
    return QPoint(round(x * view.magnification + view.offset.x()), round(y * view.magnification + view.offset.y()))


def drag(page: DiagramPage, qtbot: QtBot, source: str, target: str) -> None:
    where, (begin, end) = page.view.viewport(), (spot(page, source), spot(page, target))
    qtbot.mousePress(where, LEFT, pos=begin)
    qtbot.mouseMove(where, (begin + end) / 2)
    qtbot.mouseMove(where, end)
    qtbot.mouseRelease(where, LEFT, pos=end)


def pick(title: str) -> None:
    """Choose in the menu that is open."""
    menu = QApplication.activePopupWidget()
    assert isinstance(menu, QMenu)
    next(action for action in menu.actions() if action.text().startswith(title)).trigger()
    menu.close()


def test_a_drag_connects_and_one_undo_takes_it_back(drawn: DiagramPage, mode: PredictMode, qtbot: QtBot) -> None:
    drag(drawn, qtbot, "1.0", "1.False.root")
    moves = mode.document.value(("stages", 1, "transactions"))
    assert [(move["name"], move["returns"]) for move in moves] == [("read 1", True)]
    mode.history.undo()
    assert mode.document.text == STAGES
    assert drawn.view.diagram
    assert "read 1" not in [link.name for link in drawn.view.diagram.links]


def test_nodes_are_chosen_renamed_and_removed_by_keys(drawn: DiagramPage, mode: PredictMode, qtbot: QtBot) -> None:
    qtbot.mouseClick(drawn.view.viewport(), LEFT, pos=spot(drawn, "0.0"))
    assert drawn.view.chosen_part == ("stages", 0, "nodes", 0)
    for keys, end in ((" none", Qt.Key.Key_Escape), (" all", Qt.Key.Key_Return)):  # in its place, on the node
        assert mode.document.value(("stages", 0, "nodes", 0, "name")) == "unpack"
        qtbot.keyClick(drawn.view, Qt.Key.Key_F2)
        field = next(one for one in drawn.view.findChildren(NameField) if not one.isHidden())
        assert field.text() == field.selectedText() == "unpack"
        assert field.geometry().adjusted(0, 0, 0, 40).contains(spot(drawn, "0.0"))
        field.setText(f"unpack{keys}")
        qtbot.keyClick(field, end)
    assert mode.document.value(("stages", 0, "nodes", 0, "name")) == "unpack all"
    assert drawn.view.chosen_part == ("stages", 0, "nodes", 0)  # it stays chosen
    qtbot.keyClick(drawn.view, Qt.Key.Key_Delete)
    assert not mode.document.value(("stages", 0, "nodes"))
    mode.history.undo()
    mode.history.undo()
    assert mode.document.text == STAGES


def test_what_is_added_is_chosen(drawn: DiagramPage, mode: PredictMode, qtbot: QtBot) -> None:
    add = next(button for button in drawn.edit_buttons if button.text() == "Add")
    qtbot.mouseClick(add, LEFT)
    pick("Stage")
    assert drawn.view.chosen_part == ("stages", 2)
    qtbot.keyClick(drawn.view, Qt.Key.Key_C)
    pick("work after stage 1")
    assert mode.document.value(("stages", 1, "after")) == ["load", "stage 1"]
    drawn.pills["Platform"].click()
    qtbot.keyClick(drawn.view, Qt.Key.Key_Insert)
    pick("Network")
    assert drawn.view.chosen_part == ("networks", 1)
    drag(drawn, qtbot, "cpu", "network 1")
    pick("Barrier in work")
    assert mode.document.value(("stages", 1, "transactions", 0, "kind")) == "barrier"
    assert not mode.document.errors


def test_what_would_break_the_model_is_refused_and_said(drawn: DiagramPage, mode: PredictMode, qtbot: QtBot) -> None:
    mode.structure.drawn.view.edits.remove(("stages", 1))  # type: ignore[union-attr]
    assert not list(mode.context.notices)
    text = mode.document.text
    mode.structure.drawn.view.edits.remove(("stages", 0))  # type: ignore[union-attr]
    assert mode.document.text == text
    assert "no stages" in next(iter(mode.context.notices)).message


def test_a_network_of_queues_is_edited_too(mode: PredictMode, qtbot: QtBot, tmp_path: Path) -> None:
    path = tmp_path / "pdf2d" / "flow.queueing.yaml"
    path.write_text(QUEUES)
    mode.open_document(path)
    mode.show_page("Structure")
    page = mode.structure.drawn
    drag(page, qtbot, "out", "in")  # jobs that come back
    assert mode.document.value(("stations", 1, "to")) == [{"station": "in", "jobs": 1}] or list(mode.context.notices)


def test_bundled_models_and_kernels_are_not_edited_there(mode: PredictMode, qtbot: QtBot) -> None:
    mode.open_document(model_path("pdf2d", "ratss"))
    mode.show_page("Structure")
    page = mode.structure.drawn
    assert all(button.isHidden() for button in page.edit_buttons)
    assert page.head.subtitle.text() == READ_ONLY
    text = mode.document.text
    drag(page, qtbot, "0.0", "0.False.root")
    qtbot.keyClick(page.view, Qt.Key.Key_Delete)
    assert mode.document.text == text


def test_unlike_nodes_are_typed_in_a_networks_form(drawn: DiagramPage, mode: PredictMode) -> None:
    """A vector in a line, with commas; a matrix with a line for each node."""
    mode.show_page("Model")
    mode.choose(("networks", 0))
    mode.form.show_field(("networks", 0, "latencies_s"))

    def type_in(field: str, text: str) -> object:
        row = mode.form.row(field)
        assert isinstance(row.editor, QLineEdit | TextArea)
        row.editor.setText(text) if isinstance(row.editor, QLineEdit) else row.editor.setPlainText(text)
        row.write()
        return mode.document.value(("networks", 0, field))

    rows = ["0, 40 us, 1e-06, 0", *["0, 0, 0, 0"] * 3]
    assert type_in("overheads_s", "3 us, 9e-6, 0, 0") == ["3 us", 9e-6, 0, 0]
    assert type_in("latencies_s", "\n".join(rows)) == [[0, "40 us", 1e-6, 0], *[[0] * 4] * 3]
    mode.show_page("Structure")
    drawn.pills["Platform"].click()
    assert drawn.view.diagram
    assert next(node for node in drawn.view.diagram.nodes if node.field == ("networks", 0)).second == "4 unlike nodes"
    mode.show_page("Model")
    type_in("latencies_s", rows[0])
    assert "has 1 nodes" in mode.form.row("latencies_s").problem.text()
    mode.history.undo()
    editor = mode.form.row("latencies_s").editor
    assert isinstance(editor, TextArea)
    assert editor.toPlainText() == "\n".join(rows)


def test_where_there_is_room_the_drawing_is_beside_the_form_and_each_shows_what_is_chosen_in_the_other(
    drawn: DiagramPage, mode: PredictMode, qtbot: QtBot
) -> None:
    mode.resize(1800, 900)
    mode.show_page("Model")
    qtbot.waitUntil(lambda: drawn.isVisible() and mode.form.isVisible())
    qtbot.mouseClick(drawn.view.viewport(), LEFT, pos=spot(drawn, "0.0"))
    assert mode.chosen == ("stages", 0, "nodes", 0)
    assert mode.form_head.title.text() == "unpack"
    mode.choose(("stages", 1, "nodes", 0))
    assert drawn.view.chosen_part == ("stages", 1, "nodes", 0)
    mode.resize(1260, 900)  # above the form
    zero = QPoint(0, 0)
    qtbot.waitUntil(lambda: drawn.mapTo(mode, zero).x() == mode.form.mapTo(mode, zero).x())
    assert drawn.mapTo(mode, zero).y() + drawn.height() <= mode.form.mapTo(mode, zero).y()
    mode.resize(1260, 640)
    qtbot.waitUntil(lambda: not drawn.isVisible())
    mode.show_page("Structure")
    assert drawn.isVisible()


def test_models_and_inputs_are_listed_by_their_titles_and_found_by_their_names_too(mode: PredictMode) -> None:
    mode.open_document(model_path("blastn", "queueing"))
    mode.show_page("Model")

    def listed(parts: PartList) -> list[str]:
        return [row.title for below in parts.lines.rows.parts for row in below]

    assert "Mercury BLASTN, a filter of three stages" in listed(mode.models)
    assert listed(mode.parts)[:3] == ["Model and application", "input rate", "look-ups"]
    for parts, name, title in ((mode.models, "pdf1d", "1-D PDF estimation (RAT)"), (mode.parts, "seeds_p", "look-ups")):
        parts.filter.setText(name)
        assert listed(parts) == [title]
    mode.models.filter.setText("")
    rows = {row.title: mode.models.lines.height_of(row) for below in mode.models.lines.rows.parts for row in below}
    assert rows["Vector addition"] < rows["2-D PDF estimation, Nallatech cluster"], (
        "in two lines, where one has no room"
    )
    narrow = mode.models.lines
    narrow.resize(150, narrow.height())
    tall = max(narrow.height_of(row) for below in narrow.rows.parts for row in below)
    assert tall > rows["2-D PDF estimation, Nallatech cluster"], "three lines, where two have no room"
