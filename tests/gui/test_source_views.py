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


def test_the_editor_is_split_and_the_pane_with_the_keyboard_is_commanded(
    opened: MainWindow, source: SourceMode, project: Path, qtbot: QtBot
) -> None:
    main = show(opened, project.parent / "host" / "main.c", 1)
    assert opened.actions_of.all["split_editor"].isEnabled()
    top = show(opened, project.parent / "hdl" / "tiny_top.v", 1)
    panes = source.tabs.panes
    opened.actions_of.all["split_editor"].trigger()
    assert panes.split
    assert main.isVisible()
    assert top.isVisible()
    assert source.editor is top
    main.setFocus()
    assert source.editor is main
    assert source.tabs.bar.currentIndex() == source.tabs.editors().index(main)
    source.tabs.show_editor(top)  # a tab leads to the pane that its file is in
    assert (panes.active, main.isVisible()) == (panes.both[1], True)
    source.close_shown()
    assert not panes.split
    assert source.editor is main
    source.tabs.split()  # with one file there is nothing to show beside it
    assert not panes.split


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
