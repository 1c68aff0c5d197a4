"""Confirming a set of changes beside the set that is tried: its states, its progress, and cancel."""

import threading
from pathlib import Path

import pytest
from PySide6.QtWidgets import QLabel
from pytestqt.qtbot import QtBot

from workbench.api.job import Job
from workbench.gui.frame.context import Context
from workbench.gui.modes.analyse import confirm_box
from workbench.gui.modes.analyse.confirm_box import ConfirmBox
from workbench.gui.widgets import Button
from workbench.model.changes import Change, Unite
from workbench.model.diagnostic import Diagnostic, WorkbenchError
from workbench.model.prediction import Prediction, Trust
from workbench.session.change.confirm import AnswerStatus, Confirmation
from workbench.session.change.confirm_words import confirmed_words
from workbench.session.keep.results import OpenRun
from workbench.session.open.opening import open_workspace
from workbench.session.program.plugins import load_plugins
from workbench.testing.runs import synthetic_platform, synthetic_run

CHANGES: tuple[Change, ...] = (Unite(("readBins",), 8),)
PREDICTED = Prediction(CHANGES, Trust.TRUSTED, 1e-3, 6.5, (6.2, 6.7))
SAME = Confirmation(CHANGES, AnswerStatus.SAME, 1.01e-3, 6.45)


@pytest.mark.parametrize(
    ("found", "said", "role", "note"),
    [
        (SAME, "confirmed 6.45×", "good", "same answer"),
        (Confirmation(CHANGES, AnswerStatus.SAME, 2e-3, 3.2), "differs: 3.20×", "medium", "ms, same answer"),
        (Confirmation(CHANGES, AnswerStatus.DIFFERS, 1e-3, 6.5, "line 3: 5"), "answer changed", "high", "line 3: 5"),
        (Confirmation(CHANGES, AnswerStatus.FAILED, why="exit code 1"), "the run failed", "high", "exit code 1"),
        (Confirmation(CHANGES, AnswerStatus.NOT_POSSIBLE, why="its order"), "not possible", "muted", "its order"),
    ],
)  # fmt: skip
def test_each_outcome_is_said(found: Confirmation, said: str, role: str, note: str) -> None:
    words = confirmed_words(PREDICTED, found)
    assert words[:2] == (said, role)
    assert note in words[2]


@pytest.fixture
def box(qtbot: QtBot, monkeypatch: pytest.MonkeyPatch) -> ConfirmBox:
    monkeypatch.setattr(confirm_box, "ask_trust", lambda workspace, window: True)
    context = Context(load_plugins())
    run = synthetic_run(cores=2, rounds=2, traced=False)
    from workbench.analysis import analyse, load_knowledge

    knowledge = load_knowledge([], [])[0]
    context.opened = OpenRun(run, analyse(run, None, knowledge), synthetic_platform(), knowledge, ())
    made = ConfirmBox(context, Button("Keep in the ledger"))
    qtbot.addWidget(made)
    made.show()
    made.show_set(PREDICTED)
    return made


def words(box: ConfirmBox) -> str:
    return "\n".join(label.text() for label in box.findChildren(QLabel) if label.isVisibleTo(box))


def with_project(box: ConfirmBox) -> None:
    box.context.workspace = open_workspace(
        Path("resources/examples/pdf2d/original.workbench.yaml"), box.context.plugins
    )
    box.context.workspace_changed.emit()


def test_without_the_project_the_reason_takes_the_buttons_place(box: ConfirmBox) -> None:
    assert box.button.isHidden()
    assert "the project of this run is not open" in words(box)
    with_project(box)
    assert not box.button.isHidden()
    box.show_set(None)
    assert box.isHidden()


def test_a_set_is_confirmed_with_progress(qtbot: QtBot, box: ConfirmBox, monkeypatch: pytest.MonkeyPatch) -> None:
    go_on = threading.Event()

    def confirm(workspace: object, run: object, changes: object, job: Job, plugins: object) -> Confirmation:
        with job.step("Run"):
            job.progress(0.4)
            go_on.wait(20)
        return SAME

    monkeypatch.setattr(confirm_box, "confirm", confirm)
    with_project(box)
    box.activateWindow()
    box.button.setFocus()
    qtbot.waitUntil(box.button.hasFocus)
    box.button.click()
    qtbot.waitUntil(lambda: box.bar.value() == 40)
    assert box.said.text() == "Run: 40%"
    assert box.button.isHidden()
    assert not box.progress.isHidden()
    assert box.cancel_button.hasFocus(), "the keyboard stays with what it began"
    go_on.set()
    qtbot.waitUntil(lambda: "confirmed 6.45×" in words(box))
    assert "predicted 6.50×" in words(box)
    assert box.progress.isHidden()
    assert box.button.isHidden(), "this set is confirmed"
    box.context.shut_down()


def test_it_can_be_cancelled_and_says_what_stopped_it(
    qtbot: QtBot, box: ConfirmBox, monkeypatch: pytest.MonkeyPatch
) -> None:
    begun = threading.Event()

    def confirm(workspace: object, run: object, changes: object, job: Job, plugins: object) -> Confirmation:
        begun.set()
        while True:
            job.check()

    monkeypatch.setattr(confirm_box, "confirm", confirm)
    with_project(box)
    box.button.click()
    assert begun.wait(20)
    box.cancel_button.click()
    assert box.progress.isHidden()
    assert not box.button.isHidden()
    qtbot.waitUntil(lambda: not box.context.background.busy)
    assert not box.confirmed

    def stop(*given: object) -> Confirmation:
        raise WorkbenchError(Diagnostic("sources changed since this run: main.c", "Run the project again."))

    monkeypatch.setattr(confirm_box, "confirm", stop)
    box.button.click()
    qtbot.waitUntil(lambda: "sources changed since this run: main.c" in words(box))
    assert not box.button.isHidden()
    box.context.shut_down()
