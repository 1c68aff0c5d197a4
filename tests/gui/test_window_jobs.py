"""What the window does at length beside runs: it reads sources, instruments, imports and exports; each can be ended."""

import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from PySide6.QtCore import Qt, QThreadPool, QTimer
from PySide6.QtWidgets import QApplication, QFileDialog, QLabel
from pytestqt.qtbot import QtBot
from shiboken6 import delete

from workbench.api.job import Job
from workbench.formats.run_folder import open_run
from workbench.gui.frame.main_window import MainWindow
from workbench.gui.open.asking import Asking
from workbench.gui.open.trust_prompt import TrustPrompt
from workbench.gui.run.background import Background, Slices
from workbench.gui.run.run_dock import LINE_PX, StepRow
from workbench.gui.widgets import ElidedLabel

Settle = Callable[[MainWindow], None]


def finished(window: MainWindow, qtbot: QtBot) -> None:
    qtbot.waitUntil(lambda: not window.runner.running and not window.busy)


def until_cancelled(job: Job) -> None:
    with job.step("Read hardware sources"):
        job.progress(0.4)
        while True:
            job.check()
            threading.Event().wait(0.005)


def test_work_that_outlives_the_window_is_told_to_nobody(qtbot: QtBot) -> None:
    background, gone, ended = Background(), threading.Event(), threading.Event()

    def work(job: Job) -> None:
        gone.wait(10)
        with job.step("Read hardware sources"):
            ended.set()

    background.start_job("scan", work, print, print)
    with qtbot.captureExceptions() as exceptions:
        pool = background.findChild(QThreadPool)
        assert pool is not None
        pool.setParent(None)  # as where a thread goes on longer than the window waits for it
        delete(background)
        gone.set()
        assert pool.waitForDone(10_000)
    assert ended.is_set()
    assert exceptions == []


@pytest.mark.parametrize(("width", "lines"), [(900, 1), (290, 3)])
def test_a_step_says_all_that_it_does_at_any_width(qtbot: QtBot, width: int, lines: int) -> None:
    step = StepRow("Run")
    qtbot.addWidget(step)
    step.resize(width, 40)
    step.begin()
    step.progress(None, "2 343 298 cycles, 23.4 ms of virtual time, 2.28 M cycles/s")
    assert step.height() == 45 + lines * LINE_PX
    step.end("done", 1.0)
    assert step.height() < 45


def test_each_result_has_a_turn_of_its_own(qtbot: QtBot) -> None:
    background, turns = Background(), []

    def show(name: str) -> None:
        turns.append(name)
        QTimer.singleShot(0, background, lambda: turns.append("the next turn"))

    for name in ("run", "scan"):
        background.start(name, name.lower, show, print)
    assert background.wait()
    qtbot.waitUntil(lambda: len(turns) == 4)
    assert sorted(turns[::2]) == ["run", "scan"]
    assert turns[1::2] == ["the next turn"] * 2


def test_work_in_slices_ends_with_the_object_that_it_belongs_to(qtbot: QtBot) -> None:
    background, view, turns = Background(), QLabel(), []

    def write() -> Iterator[None]:
        turns.append(view.text())
        delete(view)
        yield
        turns.append(view.text())

    slices = Slices(background, background)
    slices.start(view, write())
    slices.start(background, map(turns.append, ["the next one"]))
    qtbot.waitUntil(lambda: not slices.busy)
    assert turns == ["", "the next one"]


def test_a_slice_has_no_turn_in_which_a_result_is_shown(qtbot: QtBot, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Background, "delivers", True)
    background, turns = Background(), []
    Slices(background, background).start(background, map(turns.append, ["a slice"]))
    qtbot.wait(20)
    assert not turns
    monkeypatch.setattr(Background, "delivers", False)
    qtbot.waitUntil(lambda: turns == ["a slice"])


def test_a_job_in_the_background_says_how_far_it_is_and_is_cancelled_by_the_next(qtbot: QtBot) -> None:
    background, answers = Background(), []
    background.start_job("scan", until_cancelled, answers.append, answers.append)
    qtbot.waitUntil(lambda: background.said == "Read hardware sources: 40%")
    assert background.runs("scan")
    background.start_job("scan", lambda job: "read", answers.append, answers.append)
    qtbot.waitUntil(lambda: not background.busy)
    assert answers == ["read"]
    background.start_job("scan", until_cancelled, answers.append, answers.append)
    background.cancel("scan")
    assert not background.runs("scan")
    qtbot.waitUntil(lambda: not background.busy)
    assert (answers, background.said) == (["read"], "")
    background.start_job("scan", until_cancelled, answers.append, answers.append)
    background.shut_down(10_000)  # ends it, where waiting alone never would


def test_reading_the_sources_is_stopped_and_begun_again(
    opened: MainWindow, monkeypatch: pytest.MonkeyPatch, qtbot: QtBot, settle: Settle
) -> None:
    context, actions = opened.context, opened.actions_of.all
    assert not actions["stop_scan"].isEnabled()
    with monkeypatch.context() as patch:
        patch.setattr(type(context.workspace), "scan", lambda workspace, changes=None, job=None: until_cancelled(job))
        actions["rescan"].trigger()
        qtbot.waitUntil(lambda: "Read hardware sources" in opened.status_line.text)
        actions["stop_scan"].trigger()
        settle(opened)
    assert any("reading the sources was stopped" in problem.message for problem in context.problems())
    context.scan = None
    actions["rescan"].trigger()
    qtbot.waitUntil(lambda: context.scan is not None)


def test_a_project_is_instrumented_into_a_folder(
    opened: MainWindow, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, qtbot: QtBot
) -> None:
    out = tmp_path / "copies"
    out.mkdir()
    monkeypatch.setattr(Asking, "_new_folder", lambda *_: out)
    opened.actions_of.all["instrument"].trigger()
    finished(opened, qtbot)
    assert [state.state for state in opened.run_dock.steps.values()] == ["done"] * len(opened.run_dock.steps)
    assert "complete" in opened.run_dock.header.subtitle.text()
    assert list(out.rglob("*.v"))
    opened.actions_of.all["instrument"].trigger()  # over its own
    finished(opened, qtbot)
    (out / "theirs.txt").write_text("kept")
    (out.parent / "other").mkdir()
    (out.parent / "other" / "theirs.txt").write_text("kept")
    monkeypatch.setattr(Asking, "_new_folder", lambda *_: out.parent / "other")
    opened.actions_of.all["instrument"].trigger()
    finished(opened, qtbot)
    assert "failed" in opened.run_dock.header.subtitle.text()
    assert [p.name for p in (out.parent / "other").iterdir()] == ["theirs.txt"]


def test_that_instrumentation_changes_nothing_is_proved_by_a_key(opened: MainWindow, qtbot: QtBot) -> None:
    said: list[str] = []

    def answer() -> None:
        prompt = QApplication.activeModalWidget()
        assert isinstance(prompt, TrustPrompt)
        said.extend([*(child.text() for child in prompt.findChildren(QLabel)), prompt.trust.text()])
        path = next(child for child in prompt.findChildren(ElidedLabel) if child.text().endswith(".workbench.yaml"))
        long = path.text().replace("/", "/a_folder_with_a_long_name/")  # is one line
        path.setText(long)
        assert path.toolTip() == long
        assert path.shown().endswith(path.text()[-12:])
        qtbot.mouseClick(prompt.trust, Qt.MouseButton.LeftButton)

    assert opened.actions_of.all["prove"].shortcut().toString() == "F7"
    QTimer.singleShot(50, answer)
    opened.actions_of.all["prove"].trigger()
    assert said[0].startswith("Prove the design of ")
    assert "The host does not start now" in said[1]
    assert said[-1] == "Trust and prove"
    finished(opened, qtbot)
    assert [state.state for state in opened.run_dock.steps.values()] == ["done"] * len(opened.run_dock.steps)
    assert opened.run_dock.problems[-1].message == ("Instrumentation changes nothing: 1 module proved.")
    assert opened.run_dock.filters["Problems"].text() == "Problems"  # that all is well is none


def test_what_plugins_import_and_export_is_in_the_menus(
    window: MainWindow, run_folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, qtbot: QtBot, settle: Settle
) -> None:
    actions, plugins = window.actions_of.all, window.context.plugins
    assert {f"import_{name}" for name in plugins.importers} | {f"export_{name}" for name in plugins.exporters} <= {
        *actions
    }
    assert not actions["export_chrome"].isEnabled(), "no run is open"
    window.open(run_folder)
    settle(window)
    trace, imported = tmp_path / "trace.json", tmp_path / "imported"
    begun: list[str] = []

    def ask_file(over: object, title: str, path: str, kinds: str) -> tuple[str, str]:
        begun.append(path)
        return str(trace), ""

    monkeypatch.setattr(QFileDialog, "getSaveFileName", ask_file)
    actions["export_chrome"].trigger()
    settle(window)
    assert Path(begun[0]).parent == run_folder.parent, "beside what is open, wherever the program was started"
    monkeypatch.setattr(QFileDialog, "getOpenFileName", lambda *_: (str(trace), ""))
    monkeypatch.setattr(QFileDialog, "getSaveFileName", lambda *_: (str(imported), ""))
    actions["import_chrome"].trigger()
    finished(window, qtbot)
    assert window.context.run is not None
    assert window.context.run.path == imported
    assert open_run(imported)[0].complete
    trace.write_text("no trace")
    monkeypatch.setattr(QFileDialog, "getSaveFileName", lambda *_: (str(tmp_path / "none"), ""))
    actions["import_chrome"].trigger()
    finished(window, qtbot)
    assert "failed" in window.run_dock.header.subtitle.text()
    assert not (tmp_path / "none").exists()
