"""What Ctrl+K finds, which keys answer, and what is shown of runs and files that are others now."""

import os
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from PySide6.QtCore import Qt
from PySide6.QtGui import QTextCursor, QTextDocument
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from workbench.gui.frame.main_window import MainWindow
from workbench.gui.frame.search_items import search_items
from workbench.gui.modes.analyse.mode import AnalyseMode
from workbench.gui.modes.source.annotations import changed_since
from workbench.gui.modes.source.text_edits import new_line
from workbench.gui.run.run_dock import RunDock
from workbench.gui.widgets import DiagnosticRow
from workbench.model.diagnostic import Diagnostic, Severity
from workbench.system.files import sha256
from workbench.testing.runs import synthetic_run

Settle = Callable[[MainWindow], None]


def test_the_search_finds_themes_files_and_commands_that_cannot_be_given_now(opened: MainWindow) -> None:
    found = {item.title: item for item in search_items(opened.context, opened.actions_of.all.values(), opened.floating)}
    assert {"Theme: Light", "Theme: Dark", "main.c", "tiny_top.v", "tiny.workbench.yaml"} <= found.keys()
    assert {"Close project", "Cancel", "Reset layout"} <= found.keys()
    assert found["Close project"].can
    assert not found["Cancel"].can
    found["Theme: Dark"].do()
    assert opened.is_theme("dark")
    found["Theme: Light"].do()


def test_a_key_of_a_command_that_is_not_possible_says_so(opened: MainWindow, qtbot: QtBot, settle: Settle) -> None:
    opened.context.navigation.set_mode("project")
    settle(opened)
    qtbot.keyClick(opened, Qt.Key.Key_W, Qt.KeyboardModifier.ControlModifier)
    assert "Close file: not possible here" in opened.status_line.text


def test_f6_reaches_the_graph(opened: MainWindow, run_folder: Path, qtbot: QtBot, settle: Settle) -> None:
    opened.context.open_run(run_folder)
    qtbot.waitUntil(lambda: opened.context.run is not None)
    opened.context.navigation.set_mode("analyse")
    settle(opened)
    mode = opened.modes.current()
    assert isinstance(mode, AnalyseMode)
    opened.activateWindow()
    qtbot.waitUntil(opened.isActiveWindow)
    places = []
    for _ in range(6):
        opened.panels.focus_next()
        places.append(QApplication.focusWidget())
    assert mode.graph in places
    assert mode.findings.table in places


def test_the_run_panel_forgets_the_run_of_another_project(opened: MainWindow, qtbot: QtBot, settle: Settle) -> None:
    dock = opened.run_dock
    opened.run_control.start_job("Prove", "tiny", lambda job: job.log("of the first project"))
    qtbot.waitUntil(lambda: not opened.runner.running and "complete" in dock.header.subtitle.text())
    assert not dock.nothing.isVisibleTo(dock)
    opened.context.close()
    settle(opened)
    assert dock.nothing.isVisibleTo(dock)
    assert dock.log.toPlainText() == ""
    assert dock.header.subtitle.text() == ""


def test_a_warning_that_comes_at_many_lines_is_one_row_with_their_number(opened: MainWindow) -> None:
    dock: RunDock = opened.run_dock
    for line in (3, 4, 4, 9):
        dock._add_problem(Diagnostic("a signal is undriven", "Drive it.", Severity.WARNING, "core.v", line))
    dock._add_problem(Diagnostic("another", "", Severity.WARNING, "core.v", 3))
    rows = [row for row in dock.findChildren(DiagnosticRow) if row.diagnostic.message == "a signal is undriven"]
    assert [row.diagnostic.line for row in rows] == [3]
    assert rows[0].times.text() == "3 times; the first is shown"
    assert dock.filters["Problems"].text() == "Problems 2"


def test_numbers_are_older_where_the_file_holds_something_else_not_where_it_was_copied(tmp_path: Path) -> None:
    file = tmp_path / "main.c"
    file.write_text("int main(void) { return 0; }\n")
    run = synthetic_run()
    manifest = replace(run.manifest, created="2020-01-01T00:00:00+00:00", sources={"main.c": sha256(file.read_bytes())})
    assert not changed_since(manifest, file, tmp_path)  # though it was written years after, as by git clone
    file.write_text("int main(void) { return 1; }\n")
    os.utime(file, (0, 0))
    assert changed_since(manifest, file, tmp_path)
    assert not changed_since(replace(manifest, sources={}), file, tmp_path)  # of an older run only times are known


def test_return_leaves_no_blanks_of_the_line_before_in_the_indentation() -> None:
    for before, at, after in (
        ("    a;    b;", 6, "    a;\n    b;"),
        ("    a;", 4, "    \n    a;"),
        ("    a;", 0, "\n    a;"),
        ("    a;", 2, "  \n    a;"),
        ("if (x) {  y;", 8, "if (x) {\n    y;"),
    ):
        document = QTextDocument(before)
        cursor = QTextCursor(document)
        cursor.setPosition(at)
        new_line(cursor)
        assert document.toPlainText() == after
