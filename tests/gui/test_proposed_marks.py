"""The list of proposed marks in Source mode: accept one, ignore one, accept all, undo."""

from pathlib import Path

import pytest
from PySide6.QtCore import Qt, QTimer
from PySide6.QtGui import QContextMenuEvent
from PySide6.QtWidgets import QApplication, QMenu
from pytestqt.qtbot import QtBot

from workbench.gui.frame.main_window import MainWindow
from workbench.gui.look import theme
from workbench.gui.modes.source.editor import CodeEditor
from workbench.gui.modes.source.mode import SourceMode
from workbench.model.pragma import Category
from workbench.model.proposal import Proposal

OPEN, CLOSE = "#pragma recap fpgaOpen overhead(initialize)", "#pragma recap fpgaClose overhead(finalize)"


@pytest.fixture
def source(opened: MainWindow, qtbot: QtBot) -> SourceMode:
    mode = opened.modes.current()
    assert isinstance(mode, SourceMode)
    qtbot.waitUntil(lambda: not opened.busy)
    return mode


@pytest.fixture
def editor(source: SourceMode, project: Path) -> CodeEditor:
    source.open_line(project.parent / "host" / "main.c")
    assert source.editor is not None
    return source.editor


def shown(source: SourceMode) -> list[str]:
    return [row.pragma.name for row in source.proposals.rows.rows.tops]


def test_marks_are_accepted_one_by_one_ignored_and_taken_back(
    opened: MainWindow, source: SourceMode, editor: CodeEditor, qtbot: QtBot
) -> None:
    before = editor.toPlainText()
    assert QApplication.focusWidget() is editor  # a project that is opened gives the keyboard to its text
    assert not source.tabs.proposed.isHidden()
    assert source.tabs.proposed.text() == "2 marks proposed"
    qtbot.mouseClick(source.tabs.proposed, Qt.MouseButton.LeftButton)
    panel = source.proposals
    assert shown(source) == ["fpgaOpen", "fpgaClose"]
    place = before[: before.index("fpga_t *fpga = fpgaOpen")].count("\n") + 1
    assert editor.line == place
    qtbot.keyClick(panel.rows, Qt.Key.Key_Return)
    assert editor.toPlainText().count(OPEN) == 1
    assert shown(source) == ["fpgaClose"]
    qtbot.keyClick(panel.rows, Qt.Key.Key_Delete)
    assert shown(source) == []
    assert (panel.again.text(), source.tabs.proposed.isHidden()) == ("1 ignored", True)
    qtbot.mouseClick(panel.again, Qt.MouseButton.LeftButton)
    assert shown(source) == ["fpgaClose"]
    opened.undo()
    assert editor.toPlainText() == before
    assert editor.line == place
    assert shown(source) == ["fpgaOpen", "fpgaClose"]
    assert editor.path.read_text() == before
    qtbot.keyClick(panel.rows, Qt.Key.Key_Escape)
    assert not panel.isVisible()


def test_the_menu_key_opens_the_menu_of_the_row_that_is_chosen(source: SourceMode, editor: CodeEditor) -> None:
    source.propose_marks()
    rows = source.proposals.rows
    rows.step(1)
    assert rows.current.pragma.name == "fpgaClose"
    said: list[object] = []

    def look() -> None:
        menu = QApplication.activePopupWidget()
        assert isinstance(menu, QMenu)
        corner = rows.viewport().mapFromGlobal(menu.pos())
        said.extend([menu.actions()[1].text(), rows.indexAt(corner) == rows.currentIndex()])
        menu.close()

    QTimer.singleShot(0, rows, look)
    middle = rows.viewport().rect().center()  # where Qt puts it, whatever row is chosen
    event = QContextMenuEvent(QContextMenuEvent.Reason.Keyboard, middle, rows.viewport().mapToGlobal(middle))
    QApplication.sendEvent(rows.viewport(), event)
    assert said == ["Copy table", True]


def test_all_are_accepted_in_one_step(opened: MainWindow, source: SourceMode, editor: CodeEditor, qtbot: QtBot) -> None:
    before = editor.toPlainText()
    opened.propose_marks()
    qtbot.keyClick(source.proposals.rows, Qt.Key.Key_Return, Qt.KeyboardModifier.ControlModifier)
    text = editor.toPlainText()
    assert [line.strip() for line in text.splitlines() if line not in before.splitlines()] == [OPEN, CLOSE]
    assert shown(source) == []
    assert "has a pragma" in source.proposals._empty.why.text()
    held = QApplication.focusWidget()
    assert held is source.proposals.shut  # what is empty is closed by Escape too
    qtbot.keyClick(held, Qt.Key.Key_Escape)
    assert not source.proposals.isVisible()
    opened.propose_marks()
    assert QApplication.focusWidget() is source.proposals.shut
    opened.undo()
    assert editor.toPlainText() == before
    assert shown(source) == ["fpgaOpen", "fpgaClose"]


def test_a_proposal_looks_active_only_while_keys_go_to_it(
    opened: MainWindow, source: SourceMode, editor: CodeEditor, qtbot: QtBot
) -> None:
    rows = source.proposals.rows

    def looks_active() -> bool:
        """A stripe in the accent's colour at the left of the row that is chosen."""
        left = rows.viewport().grab().toImage()
        return bool(left.pixelColor(1, rows.visualRect(rows.currentIndex()).center().y()) == theme.colour("accent"))

    opened.propose_marks()
    assert QApplication.focusWidget() is rows
    assert (looks_active(), set(editor.marked)) == (True, {rows.current.line})
    qtbot.mouseClick(editor.viewport(), Qt.MouseButton.LeftButton, pos=editor.line_rect(13).center())
    assert QApplication.focusWidget() is editor
    assert (looks_active(), set(editor.marked)) == (False, {editor.line})
    assert editor.line != rows.current.line
    qtbot.keyClick(editor, Qt.Key.Key_Return)  # goes where the cursor is to be seen
    assert editor.blockCount() == editor.file.saved_text.count("\n") + 2
    opened.undo()
    opened.propose_marks()
    assert looks_active()
    qtbot.keyClick(rows, Qt.Key.Key_Return)
    assert editor.toPlainText().count(OPEN) == 1
    source.proposals.ignore.setFocus()
    assert looks_active()  # that is what the button is for


def test_the_question_begins_with_what_is_proposed(source: SourceMode, editor: CodeEditor, qtbot: QtBot) -> None:
    line = next(n for n, text in enumerate(editor.toPlainText().splitlines(), 1) if "fpgaClose" in text)
    source.ask_pragma(line)
    popover = source.popover
    assert (popover.category, popover.reason.currentText()) == (Category.OVERHEAD, "finalize")
    qtbot.keyClick(popover, Qt.Key.Key_Escape)


def without_pragmas(project: Path) -> Path:
    """The design's file of the project, its pragmas taken out."""
    top = project.parent / "hdl" / "tiny_top.v"
    top.write_text("".join(line for line in top.read_text().splitlines(True) if "pragma recap" not in line))
    return top


def test_those_of_the_whole_project_by_file_and_kind(
    window: MainWindow, project: Path, plugins: object, qtbot: QtBot
) -> None:
    top = without_pragmas(project)
    before = top.read_text()
    window.open(project)
    qtbot.waitUntil(lambda: window.context.scan is not None and not window.busy)
    source = window.modes.current()
    assert isinstance(source, SourceMode)
    source.open_line(project.parent / "host" / "main.c")
    window.propose_marks()
    panel = source.proposals
    qtbot.mouseClick(panel.everywhere, Qt.MouseButton.LeftButton)
    groups = [(row.path.name, row.category) for row in panel.rows.rows.tops]
    assert ("main.c", Category.OVERHEAD) in groups
    of_design = [group for group in groups if group[0] == "tiny_top.v"]
    assert len(of_design) > 1
    assert panel.header.subtitle.text().endswith("in the whole project")
    # a row of another file shows its line there, and the keyboard stays in the list
    panel.rows.choose(lambda row: getattr(row, "path", None) == top)
    qtbot.keyClick(panel.rows, Qt.Key.Key_Down)
    assert isinstance(panel.rows.current, Proposal)
    assert source.editor is not None
    assert source.editor.path == top
    assert source.editor.line == panel.rows.current.line
    assert QApplication.focusWidget() is panel.rows
    # Enter on a group accepts it, Delete ignores it
    panel.rows.choose(lambda row: getattr(row, "path", None) == top)
    kind = panel.rows.current.category
    qtbot.keyClick(panel.rows, Qt.Key.Key_Return)
    qtbot.waitUntil(lambda: not window.busy)
    assert (top.name, kind) not in [(row.path.name, row.category) for row in panel.rows.rows.tops]
    left = len(panel.rows.rows.tops)
    qtbot.keyClick(panel.rows, Qt.Key.Key_Delete)
    assert len(panel.rows.rows.tops) == left - 1
    assert panel.again.isVisible()
    panel.again.click()
    assert len(panel.rows.rows.tops) == left
    # and all are accepted, each file's in one step to undo; nothing is saved
    panel.rows.setFocus()
    qtbot.keyClick(panel.rows, Qt.Key.Key_Return, Qt.KeyboardModifier.ControlModifier)
    qtbot.waitUntil(lambda: not window.busy)
    assert not panel.rows.rows.tops
    assert {document.path.name for document in window.context.documents.unsaved} == {"main.c", "tiny_top.v"}
    assert top.read_text() == before
    source.open_line(top)
    assert source.editor.text.count("pragma recap") >= len(of_design)
    window.undo()
    window.undo()
    assert source.editor.text == before
