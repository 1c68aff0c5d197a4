"""All that is wrong in a panel below every mode: filtered, a click from its place, fixed where a fix is certain."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from PySide6.QtCore import QPoint, Qt
from pytestqt.qtbot import QtBot

from workbench.cli.main import main
from workbench.gui.frame.main_window import MainWindow
from workbench.gui.frame.problems_panel import ProblemsPanel
from workbench.gui.modes.project.mode import ProjectMode
from workbench.model.diagnostic import Diagnostic, Severity
from workbench.session.edit.quick_fix import quick_fix
from workbench.system import store

Settle = Callable[[MainWindow], None]


def test_problems_are_listed_filtered_and_fixed(
    qtbot: QtBot, opened: MainWindow, project: Path, settle: Settle, monkeypatch: pytest.MonkeyPatch
) -> None:
    mode = opened.show_mode("project")
    assert isinstance(mode, ProjectMode)
    settle(opened)
    mode.document.set(("title",), "Another")  # it is not saved before, and after
    right, said = mode.document.text, opened.status_line.text
    mode.document.apply("misspell", lambda text: text.replace("hardware:", "hardwar:"))
    assert "problem" not in said
    assert "2 problems" in opened.status_line.text
    qtbot.keyClick(opened, Qt.Key.Key_P, Qt.KeyboardModifier.ControlModifier | Qt.KeyboardModifier.ShiftModifier)
    panel = opened.problems_panel
    assert isinstance(panel, ProblemsPanel)
    assert panel.isVisible()
    assert opened.focusWidget() is panel.rows
    shown = [problem.message for problem in panel.rows.rows.tops]
    assert "there is no key 'hardwar' here" in shown
    panel.filter.setText("hardwar did")
    assert [problem.message for problem in panel.rows.rows.tops] == ["there is no key 'hardwar' here"]
    assert panel.header.subtitle.text().endswith("hidden by the filter")
    panel.levels[Severity.ERROR].click()
    assert not panel.rows.rows.tops
    panel.levels[Severity.ERROR].click()
    (problem,) = panel.rows.rows.tops
    assert panel._fix_label(problem) == "Write 'hardware'"
    assert not panel.rows.isColumnHidden(3)
    opened.show_mode("analyse")  # it stays in every mode
    assert panel.isVisible()
    assert not opened.panels.details_visible()  # there is no run whose details they would be
    opened.show_mode("project")
    cell = panel.rows.visualRect(panel.rows.rows.index(0, 3)).center()
    qtbot.mouseClick(panel.rows.viewport(), Qt.MouseButton.LeftButton, pos=QPoint(cell))
    assert mode.document.text == right
    panel.filter.clear()
    qtbot.waitUntil(lambda: not [p for p in panel.rows.rows.tops if p.file == str(mode.document.path)])
    assert panel.rows.isColumnHidden(3), "nothing is left to be fixed, and the words have the room"
    monkeypatch.setattr(panel, "every", tuple)
    panel.reload()
    assert (panel.rows.isVisible(), panel.none.isVisible()) == (False, True)
    monkeypatch.undo()
    mode.document.history.undo()
    assert "hardwar:" in mode.document.text
    panel.reload()
    assert (panel.rows.isVisible(), panel.none.isVisible()) == (True, False)
    qtbot.keyClick(panel.rows, Qt.Key.Key_Escape)
    assert not panel.isVisible()
    mode.document.history.redo()


def test_a_click_on_the_problems_in_the_status_bar_shows_them(qtbot: QtBot, opened: MainWindow, settle: Settle) -> None:
    mode = opened.show_mode("project")
    assert isinstance(mode, ProjectMode)
    settle(opened)
    line = opened.status_line
    mode.document.apply("misspell", lambda text: text.replace("hardware:", "hardwar:"))
    line.grab()
    qtbot.mouseClick(line, Qt.MouseButton.LeftButton, pos=QPoint(line.problems_px.start - 20, 12))
    assert opened.problems_panel is None
    qtbot.mouseClick(line, Qt.MouseButton.LeftButton, pos=QPoint(line.problems_px.start + 8, 12))
    assert isinstance(opened.problems_panel, ProblemsPanel)
    assert opened.problems_panel.isVisible()
    mode.document.apply("spell", lambda text: text.replace("hardwar:", "hardware:"))
    line.grab()
    assert not line.problems_px


def test_certain_fixes_are_made_at_once_in_the_window_and_by_command(
    opened: MainWindow, project: Path, settle: Settle, capsys: pytest.CaptureFixture[str]
) -> None:
    right = project.read_text()
    wrong = right.replace("hardware:", "hardwar:").replace("host:", "hots:")
    mode = opened.show_mode("project")
    assert isinstance(mode, ProjectMode)
    settle(opened)
    mode.document.apply("misspell", lambda text: wrong)
    opened.actions_of.all["fix_problems"].trigger()
    assert mode.document.text == right
    assert opened.problems_panel is not None
    assert opened.problems_panel.isVisible()  # and so at the next start
    again = MainWindow(opened.context.plugins)
    again.show()
    again.open(project)
    settle(again)
    assert again.problems_panel is not None
    assert again.problems_panel.isVisible()
    again.close()
    opened.problems_panel.closed.emit()
    assert store.preference("problems_shown", "") == "no"

    project.write_text(wrong)
    assert main(["fix", str(project), "--json"]) == 1
    document = json.loads(capsys.readouterr().out)
    assert [(fix["line"], fix["fix"], fix["written"]) for fix in document["fixes"]] == [
        (wrong[: wrong.index(key)].count("\n") + 1, f"Write '{name}'", False)
        for key, name in (("hots:", "host"), ("hardwar:", "hardware"))
    ]
    assert project.read_text() == wrong
    assert main(["fix", str(project), "--write"]) == 0
    assert project.read_text() == right


@pytest.mark.parametrize(
    ("message", "hint", "line", "column", "label", "after"),
    [
        ("there is no table 'wirte'", "Did you mean 'write'?", 2, 12, "Write 'write'", "a: 1\n  transfer: write\n"),
        ("there is no table 'wirte'", "Did you mean 'write'?", 2, None, "Write 'write'", "a: 1\n  transfer: write\n"),
        ("there is no table 'other'", "Did you mean 'write'?", 2, 12, None, ""),
        ("there is no table 'wirte'", "Known: write.", 2, 12, None, ""),
        ("there is no key 'a' here", "", 1, 1, "Remove a", None),
        ("there is no table 'wirte'", "Did you mean 'write'?", 9, 12, None, ""),
    ],
)
def test_a_fix_is_offered_where_it_is_certain(
    message: str, hint: str, line: int, column: int | None, label: str | None, after: str | None
) -> None:
    text = "a: 1\n  transfer: wirte\n" if after is not None else "a: 1\nb: 2\n"
    fix = quick_fix(Diagnostic(message, hint, file="one.yaml", line=line, column=column), text)
    assert (fix.label if fix else None) == label
    if fix is not None:
        assert fix.edit(text) == ("b: 2\n" if after is None else after)
        assert fix.edit("another text") == "another text"  # which it is not for
