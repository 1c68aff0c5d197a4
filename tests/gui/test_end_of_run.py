"""The end of a run: what the banner says and where it leads, by clicks and keys; places in the log are links."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtGui import QTextCursor
from pytestqt.qtbot import QtBot
from settings_shown import shown_settings

from workbench.api.job import Job
from workbench.formats.run_folder import RunWriter
from workbench.gui.frame.main_window import MainWindow
from workbench.gui.frame.selection import SelectedFinding
from workbench.model.diagnostic import Diagnostic, Severity, WorkbenchError
from workbench.model.run import Run
from workbench.session.keep.results import run_before
from workbench.session.make.pipeline import RunOptions
from workbench.session.open.trust import trust
from workbench.session.open.workspace import Workspace
from workbench.testing.runs import synthetic_run

Settle = Callable[[MainWindow], None]
LEFT = Qt.MouseButton.LeftButton


def run_of(rounds: int, stdout: str) -> Callable[[Workspace, RunOptions, Job], Run]:
    """A run of so many rounds that printed `stdout`, by its checksum."""

    def run(workspace: Workspace, options: RunOptions, job: Job) -> Run:
        assert options.out is not None
        with job.step("Run"):
            job.log("g++: compiled main.c in 0.1 s")
        made = synthetic_run(cores=3, rounds=rounds)
        manifest = replace(made.manifest, stdout_sha256=stdout, settings={}, project=str(workspace.path))
        return RunWriter(options.out, manifest).finish(manifest, made.tables)

    return run


LOST = tuple(Diagnostic(f"{count} events of the streams were lost", severity=Severity.WARNING) for count in (12, 7))


def run_that_lost(workspace: Workspace, options: RunOptions, job: Job) -> Run:
    """A run of whose counts some were lost."""
    made = synthetic_run(cores=3, rounds=2)
    manifest = replace(made.manifest, diagnostics=LOST, settings={}, project=str(workspace.path))
    assert options.out is not None
    return RunWriter(options.out, manifest).finish(manifest, made.tables)


def broken(workspace: Workspace, options: RunOptions, job: Job) -> Run:
    with job.step("Build host"):
        job.log("build/host/main.c:11:5: error: expected ';'")
        raise WorkbenchError(Diagnostic("expected ';'", "Put one.", file=str(workspace.root / "host/main.c"), line=11))


@pytest.fixture
def trusted(opened: MainWindow) -> MainWindow:
    assert opened.context.workspace is not None
    trust(opened.context.workspace)
    return opened


def run(window: MainWindow, qtbot: QtBot, how: Callable[[Workspace, RunOptions, Job], Run]) -> None:
    window.run_control.run_function = how
    window.actions_of.all["run"].trigger()
    qtbot.waitUntil(lambda: not window.runner.running and not window.busy)


def test_the_end_of_a_run_says_what_to_change_first_and_leads_on(trusted: MainWindow, qtbot: QtBot) -> None:
    window, banner = trusted, trusted.end_banner
    assert not banner.isVisible()
    run(window, qtbot, run_of(4, "a"))
    assert banner.isVisible()
    assert not window.panels.run_visible()  # the run's panel gave way to it
    assert banner.head.text().startswith("Run 1 is complete: ")
    assert "of virtual time" in banner.head.text()
    assert banner.best.text().startswith("Best: ")
    assert banner.gain.text().startswith(("predicted ", "≤"))
    assert not banner.compare.isVisible()  # with nothing
    assert window.context.navigation.mode == "source"
    qtbot.mouseClick(banner.findings, LEFT)
    qtbot.waitUntil(lambda: not window.busy)
    assert window.context.navigation.mode == "analyse"
    assert isinstance(window.context.navigation.selection, SelectedFinding)
    assert not banner.isVisible()  # it led on
    run(window, qtbot, run_of(2, "a"))
    qtbot.mouseClick(banner.log, LEFT)
    assert window.panels.run_visible()
    assert "faster than Run 1, same output; " in banner.beside.text()
    qtbot.mouseClick(banner.compare, LEFT)
    qtbot.waitUntil(lambda: window.modes.shown is not None and not window.busy)
    assert window.context.navigation.mode == "compare"
    pair = window.modes.views["compare"].pair()  # type: ignore[attr-defined]
    assert [one.run.path.name for one in pair] == ["run-1", "run-2"]
    run(window, qtbot, run_of(3, "b"))
    assert window.panels.run_visible()  # as it was asked for
    assert "slower than Run 2, but their outputs differ" in banner.beside.text()
    window.context.navigation.set_mode("timeline")  # and the key works in each mode, whatever was compared
    assert window.actions_of.all["compare_before"].shortcut().toString() == "Ctrl+Shift+C"
    window.actions_of.all["compare_before"].trigger()
    qtbot.waitUntil(lambda: not window.busy)
    pair = window.modes.views["compare"].pair()  # type: ignore[attr-defined]
    assert [one.run.path.name for one in pair] == ["run-2", "run-3"]
    qtbot.mouseClick(banner.close_button, LEFT)
    assert not banner.isVisible()


def test_the_mode_follows_every_run_once_that_was_asked_for(trusted: MainWindow, qtbot: QtBot, settle: Settle) -> None:
    window, banner = trusted, trusted.end_banner
    run(window, qtbot, run_of(3, "a"))
    assert not banner.follow.isChecked()
    assert (banner.property("ground"), banner.see.isVisible()) == ("good", False)
    banner.follow.setFocus()
    qtbot.keyClick(banner.follow, Qt.Key.Key_Space)
    run(window, qtbot, run_that_lost)
    assert window.context.navigation.mode == "analyse"
    # what its counts lack is on the banner, which is amber and leads to the problems
    assert banner.warned.text() == "12 events of the streams were lost, and 1 more"
    assert (banner.property("ground"), banner.see.isVisible()) == ("warned", True)
    assert banner.findings.isVisible()
    assert shown_settings(window).rows["after_run"].setting.value == "analyse"
    # a run that is opened beside it is another one: its end is no longer said
    window.context.open_run(window.context.run_folders()[0])
    settle(window)
    assert not banner.isVisible()


def test_a_run_that_failed_leads_to_its_line(trusted: MainWindow, qtbot: QtBot, settle: Settle) -> None:
    window, banner = trusted, trusted.end_banner
    run(window, qtbot, broken)
    assert banner.head.text() == "Run 1 failed"
    assert window.panels.run_visible()
    assert banner.best.text() == "Expected ';' (main.c:11)"
    assert not banner.findings.isVisible()
    qtbot.mouseClick(banner.line, LEFT)
    settle(window)
    source = window.modes.views["source"]
    assert source.editor.file.path.name == "main.c"  # type: ignore[attr-defined]
    assert source.editor.line == 11  # type: ignore[attr-defined]
    # as does the line of the log, by a click and by Enter: of the instrumented copy it is the source's
    window.context.navigation.set_mode("project")
    settle(window)
    log = window.run_dock.log
    window.run_dock.filters["All"].click()
    assert "main.c:11" in log.toPlainText()
    cursor = QTextCursor(log.document())
    cursor.setPosition(log.toPlainText().index("main.c:11") + 2)
    place = log.cursorRect(cursor).center()
    qtbot.mouseMove(log.viewport(), place)
    assert log.viewport().cursor().shape() == Qt.CursorShape.PointingHandCursor
    qtbot.mouseClick(log.viewport(), LEFT, pos=QPoint(place))
    settle(window)
    assert window.context.navigation.mode == "source"
    window.context.navigation.set_mode("project")
    settle(window)
    log.setTextCursor(cursor)
    qtbot.keyClick(log, Qt.Key.Key_Return)
    settle(window)
    assert (window.context.navigation.mode, source.editor.line) == ("source", 11)  # type: ignore[attr-defined]
    run(window, qtbot, run_of(3, "a"))
    assert banner.findings.isVisible()


def test_the_run_before_is_the_last_complete_one(tmp_path: Path) -> None:
    made = synthetic_run(cores=2, rounds=2)
    folders = []
    for name in ("run-1", "run-2", "run-3"):
        RunWriter(tmp_path / name, made.manifest).finish(made.manifest, made.tables)
        folders.append(tmp_path / name)
    (tmp_path / "run-2" / "manifest.json").write_text("{")
    assert run_before(folders[2], folders) == folders[0]
    assert run_before(folders[0], folders) == folders[2]
    assert run_before(tmp_path / "elsewhere", folders) == folders[2]
    assert run_before(folders[0], folders[:1]) is None
