"""The tour: each step is done by what it says, and by nothing else; it can be skipped, ended and begun anywhere."""

from collections.abc import Callable
from dataclasses import replace
from importlib.resources import files
from pathlib import Path

import pytest
from PySide6.QtCore import QPoint, Qt
from pytestqt.qtbot import QtBot

from workbench.formats.run_folder import RunWriter
from workbench.gui.frame.main_window import MainWindow
from workbench.gui.frame.tour_steps import AFTER, BEFORE, STEPS
from workbench.gui.modes.source.mode import SourceMode
from workbench.model.run import Run
from workbench.session.open.examples import Example, copy_example

Settle = Callable[[MainWindow], None]


@pytest.fixture
def in_a_folder(window: MainWindow, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> MainWindow:
    """Examples are copied to a folder of the test's own, without a question."""

    def copy(example: Example, run: bool) -> None:
        window.context.open_project(copy_example(example, tmp_path))

    monkeypatch.setattr(window.asking, "copy_example", copy)
    return window


def record(window: MainWindow, run: Run, name: str, **said: object) -> None:
    """A run of the open project that was recorded, opened as its end opens it."""
    assert window.context.workspace is not None
    folder = window.context.workspace.runs_dir / name
    RunWriter(folder, run.manifest).finish(replace(run.manifest, **said), run.tables)  # type: ignore[arg-type]
    window.context.open_run(folder)


def test_each_step_is_done_by_what_it_says(
    in_a_folder: MainWindow, qtbot: QtBot, six_cores: Run, settle: Settle
) -> None:
    window, tour = in_a_folder, in_a_folder.tour
    assert not tour.isVisible()
    window.welcome.tour_wanted.emit()
    assert (tour.isVisible(), tour.at) == (True, 0)
    tour.action.click()
    qtbot.waitUntil(lambda: tour.at == 1)
    settle(window)
    qtbot.waitUntil(lambda: tour._stood is not None)
    assert tour._ring.isVisible()
    assert tour._ring.geometry().size() == window.panels.side_stack.size()
    source = window.modes.views["source"]
    assert isinstance(source, SourceMode)
    rows = source.side.blocks.rows
    there = rows.visualRect(rows.rows.index(0, 0)).center()
    qtbot.mouseClick(rows.viewport(), Qt.MouseButton.LeftButton, pos=there)
    qtbot.waitUntil(lambda: tour.at == 2)
    assert "F5" in tour.text.text()
    record(window, six_cores, "run-1")
    qtbot.waitUntil(lambda: tour.at == 3)
    settle(window)
    window.go_to("analyse")
    settle(window)
    window.step_finding(1)
    qtbot.waitUntil(lambda: tour.at == 4)
    window.try_change()
    qtbot.waitUntil(lambda: tour.at == 5)
    window.go_to("source")
    qtbot.waitUntil(lambda: tour.at == 6)
    settle(window)
    tour.action.click()
    qtbot.waitUntil(lambda: tour.at == 7)
    settle(window)
    assert window.context.run is None
    record(window, six_cores, "run-2")
    qtbot.waitUntil(lambda: tour.at == 8)
    settle(window)
    window.compare_before()
    qtbot.waitUntil(lambda: tour.at == 9)
    settle(window)
    assert not tour.skip.isVisible()
    tour.end_button.click()
    assert not tour.isVisible()
    assert not tour._ring.isVisible()


def test_it_is_skipped_step_by_step_and_begins_again_where_one_is(
    in_a_folder: MainWindow, qtbot: QtBot, settle: Settle, tmp_path: Path
) -> None:
    window, tour = in_a_folder, in_a_folder.tour
    tour.begin()
    for number in range(len(STEPS)):
        assert tour.at == number
        tour.skip_step()
    assert not tour.isVisible()
    window.context.open_project(copy_example(BEFORE, tmp_path))
    settle(window)
    tour.begin()
    assert tour.at == 1, "the example is open already"
    window.context.open_project(tmp_path / "pdf2d" / AFTER.project)
    settle(window)
    tour.begin()
    assert tour.at == 0
    tour.action.click()
    settle(window)
    qtbot.waitUntil(lambda: tour.at == 1)
    assert window.context.workspace is not None
    assert window.context.workspace.path == tmp_path / "pdf2d" / BEFORE.project, "no second copy of the example"


def test_a_step_about_an_example_that_is_not_open_offers_it(
    in_a_folder: MainWindow, qtbot: QtBot, settle: Settle
) -> None:
    window, tour = in_a_folder, in_a_folder.tour
    tour.begin()
    for number in range(1, len(STEPS) - 1):
        tour.skip_step()
        assert tour.at == number
        assert tour.text.text() == "This step is about the example, which is not open."
        assert (tour.action.text(), tour.action.isVisible()) == ("Copy the example...", True)
    tour.skip_step()
    assert tour.action.text() == "New from sources..."
    tour.begin()
    tour.skip_step()
    tour.skip_step()
    tour.action.click()
    settle(window)
    qtbot.waitUntil(lambda: "F5" in tour.text.text())
    assert tour.at == 2
    assert not tour.action.isVisible()
    for _ in range(5):
        tour.skip_step()
    assert (tour.at, tour.action.text()) == (7, "Open the changed program")
    tour.action.click()
    settle(window)
    qtbot.waitUntil(lambda: "F5" in tour.text.text())
    assert window.context.workspace is not None
    assert window.context.workspace.path.name == AFTER.project


def test_it_says_the_keys_in_force_and_leads_to_pages_that_are_there(window: MainWindow, qtbot: QtBot) -> None:
    pages = {step.page for step in STEPS}
    assert not [page for page in pages if not files("workbench.resources").joinpath("help", page).is_file()]
    for step in STEPS:
        assert "{" not in step.words(window)
        assert "the menus" not in step.words(window)
    window.tour.begin()
    window.tour.more.click()
    guide = window.floating.guide
    assert guide is not None
    assert guide.browser.source().fileName() == STEPS[0].page
    guide.close()


def test_its_frame_lets_the_mouse_through(in_a_folder: MainWindow, qtbot: QtBot, settle: Settle) -> None:
    window, tour = in_a_folder, in_a_folder.tour
    tour.begin()
    tour.action.click()
    qtbot.waitUntil(lambda: tour.at == 1)
    settle(window)
    middle = window.panels.side_stack.mapTo(window, QPoint(40, 60))
    under = window.childAt(middle)
    assert under is not None
    assert window.panels.side_stack.isAncestorOf(under)
