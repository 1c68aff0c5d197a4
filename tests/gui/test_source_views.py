"""The text in two panes, where it is as crumbs, and a map of its states beside it."""

from collections.abc import Callable
from pathlib import Path

import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtGui import QTextCursor
from pytestqt.qtbot import QtBot
from source_shown import show, source_of

from workbench.api.window import state_colour
from workbench.gui.frame.main_window import MainWindow
from workbench.gui.modes.source.line_numbers import LineNumbers
from workbench.gui.modes.source.mode import SourceMode
from workbench.model.pragma import Category


@pytest.fixture
def source(opened: MainWindow) -> SourceMode:
    return source_of(opened)


def test_one_file_is_in_two_views_and_edited_in_both(
    opened: MainWindow, source: SourceMode, project: Path, qtbot: QtBot, settle: Callable[[MainWindow], None]
) -> None:
    main = show(opened, project.parent / "host" / "main.c", 3)
    split = opened.actions_of.all["split_editor"]
    split.trigger()
    panes, other = source.tabs.panes, source.editor
    assert panes.split
    assert other is not None
    assert (other is not main, other.file is main.file, other.line) == (True, True, 3)
    assert main.isVisible()
    assert other.isVisible()
    before = main.text
    other.insertPlainText("// here\n")
    assert main.text == other.text == main.file.text != before
    main.setFocus()
    assert source.editor is main
    main.insertPlainText("// and here\n")
    assert other.text == main.text
    main.undo()
    main.undo()
    assert (other.text, main.text, main.file.dirty) == (before, before, False)
    # the pane with the keyboard is the one that commands are for, and a file opens there
    other.setFocus()
    top = show(opened, project.parent / "hdl" / "tiny_top.v", 1)
    assert panes.of(top) is panes.both[1]
    assert source.tabs.bar.currentIndex() == source.tabs.editors().index(top)
    assert source.tabs.of(main.path) is other
    source.tabs.show_editor(main)
    assert (panes.active, top.isVisible()) == (panes.both[0], True)
    # closing a view of two asks nothing and keeps the file; the command shows all in one pane again
    split.trigger()
    assert not panes.split
    assert source.tabs.views(main.path) == (main,)
    assert set(source.tabs.editors()) == {main, top}
    main.insertPlainText("//")
    settle(opened)  # of a view that went nothing is left that follows the file
    assert main.file in list(opened.context.documents)


def test_crumbs_lead_to_files_and_blocks(
    opened: MainWindow, source: SourceMode, project: Path, qtbot: QtBot, settle: Callable[[MainWindow], None]
) -> None:
    top = project.parent / "hdl" / "tiny_top.v"
    editor = show(opened, top, 1)
    settle(opened)
    crumbs = source.tabs.crumbs
    assert (crumbs.folder.text(), crumbs.file.text()) == ("hdl", "tiny_top.v")
    crumbs.block.click()
    block = crumbs.menu.actions()[-1]
    crumbs.menu.close()
    block.trigger()
    assert editor.line > 1
    assert block.text().startswith(crumbs.block.text())
    crumbs.folder.click()
    host = next(action for action in crumbs.menu.actions() if action.text() == "host")
    crumbs.menu.close()
    host.trigger()
    assert source.editor is not None
    assert source.editor.path.parent.name == "host"
    assert crumbs.folder.text() == "host"


def test_a_map_of_the_file_shows_its_states_and_leads_to_them(
    opened: MainWindow, source: SourceMode, project: Path, qtbot: QtBot
) -> None:
    editor = show(opened, project.parent / "host" / "main.c", 1)
    state_map = editor.map
    assert state_map.geometry().left() >= editor.viewport().geometry().right()
    editor.margin.numbers = {9: LineNumbers(((Category.SEND, 0.4),), 3, "put"),
                             11: LineNumbers(((Category.WORK, 0.1),), 3, "work")}  # fmt: skip
    editor.colour_marks()
    qtbot.waitUntil(lambda: {line for line, part, _ in state_map.bars if part >= 0.25} >= {9, 11})
    parts = {line: (part, colour) for line, part, colour in state_map.bars}
    assert parts[9][0] == 1
    assert parts[9][1] == state_colour(Category.SEND)
    lacking = next(iter(editor.margin.lacking))
    assert lacking in parts
    editor.margin.stale = True
    y = next(y for y in range(state_map.height()) if state_map.line_at(y) == 9)
    qtbot.mouseClick(state_map, Qt.MouseButton.LeftButton, pos=QPoint(5, y + 1))
    assert editor.line == 9
    editor.setTextCursor(QTextCursor(editor.document()))  # a line more above: the map follows
    qtbot.keyClick(editor, Qt.Key.Key_Return)
    qtbot.waitUntil(lambda: 10 in {line for line, part, _ in state_map.bars if part == 1})
