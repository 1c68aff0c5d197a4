"""From a finding to the ledger by keys alone: Try, Confirm, keep, edit, run, Compare. Replay, the card and the run are
made up; `tests/benchmarks/gain_walk.py` walks the same way with real ones."""

from dataclasses import replace
from pathlib import Path

import pytest
from PySide6.QtGui import QKeySequence
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QWidget
from pytestqt.qtbot import QtBot

import workbench.replay.prepare
from workbench.api.job import Job
from workbench.formats.run_folder import RunWriter
from workbench.gui.frame.main_window import MainWindow
from workbench.gui.frame.selection import SelectedFinding
from workbench.gui.modes.analyse import confirm_box
from workbench.gui.modes.analyse.mode import AnalyseMode
from workbench.gui.modes.compare.mode import CompareMode
from workbench.gui.modes.source.mode import SourceMode
from workbench.model.changes import Change
from workbench.model.ledger import Fate
from workbench.model.run import Run
from workbench.session.change.confirm import AnswerStatus, Confirmation
from workbench.session.keep.ledger import settle_open
from workbench.session.make.pipeline import RunOptions
from workbench.session.open.trust import trust
from workbench.session.open.workspace import Workspace
from workbench.system import store
from workbench.testing.predictions import MadeUpReplay
from workbench.testing.runs import synthetic_run

CHANGE = "unite calls=writeSamples count=16"


def run_of(form: str, folder: Path, workspace: Workspace, sources: dict[str, str], created: str) -> Run:
    run = synthetic_run(cores=2, rounds=12, form=form, traced=False)
    told = replace(run.manifest, project=str(workspace.path), sources=sources, created=created)
    return RunWriter(folder, told).finish(told, run.tables)


def press(*keys: str) -> None:
    """Where the focus is, as a person does."""
    for name in keys:
        key = QKeySequence(name)[0]
        at = QApplication.focusWidget()
        assert at is not None, name
        QTest.keyClick(at, key.key(), key.keyboardModifiers())


def tab_to(qtbot: QtBot, widget: QWidget) -> None:
    """Without a screen, a list that pops up keeps the window from being the active one."""
    window = widget.window()
    window.activateWindow()
    qtbot.waitUntil(window.isActiveWindow)
    for _ in range(60):
        if QApplication.focusWidget() is widget:
            return
        press("Tab")
    raise AssertionError(f"Tab does not lead to {widget}")


def test_a_finding_is_tried_confirmed_kept_made_run_and_judged_by_keys_alone(
    opened: MainWindow, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    window, context = opened, opened.context
    workspace = context.workspace
    assert workspace is not None
    runs = workspace.root / "runs"
    before = run_of("original", runs / "run-1", workspace, workspace.source_checksums(), "2026-01-01T12:00:01+00:00")
    gain = before.time_s / synthetic_run(cores=2, rounds=12, form="optimised", traced=False).time_s

    def prepare(run: Run, *_: object) -> MadeUpReplay:
        return MadeUpReplay(run.time_s, {"unite": gain})

    def confirm(workspace: object, run: Run, changes: tuple[Change, ...], job: Job, plugins: object) -> Confirmation:
        return Confirmation(changes, AnswerStatus.SAME, run.time_s / gain, gain)

    def made_up_run(workspace: Workspace, options: RunOptions, job: Job) -> Run:
        assert options.out is not None
        sources = workspace.source_checksums()
        run = run_of("optimised", options.out, workspace, sources, "2026-01-01T12:00:02+00:00")
        for said in settle_open(run):
            job.report(said)
        return run

    store.change_preference("predict_s", None)  # as it comes
    monkeypatch.setattr(workbench.replay.prepare, "prepare", prepare)
    monkeypatch.setattr(confirm_box, "confirm", confirm)
    window.run_control.run_function = made_up_run
    trust(workspace, own=True)
    assert before.path is not None
    context.open_run(before.path)
    window.activateWindow()
    window.setFocus()
    qtbot.waitUntil(lambda: context.run is not None and not window.busy)

    press("Ctrl+2")
    analyse = window.modes.current()
    assert isinstance(analyse, AnalyseMode)
    qtbot.waitUntil(lambda: context.replayed is not None and not window.busy)
    press("F8")
    assert isinstance(context.navigation.selection, SelectedFinding)
    press("Ctrl+T")
    panel = analyse.details.trying
    assert panel is not None
    tab_to(qtbot, panel.edit)
    qtbot.keyClicks(panel.edit, CHANGE)
    press("Return")
    qtbot.waitUntil(lambda: panel.trial is not None and CHANGE in map(str, panel.trial.prediction.changes))
    assert panel.trial is not None
    predicted = panel.trial.prediction.speedup
    tab_to(qtbot, panel.confirm.button)
    press("Space")
    qtbot.waitUntil(lambda: bool(panel.confirm.confirmed))
    tab_to(qtbot, panel.keep)
    press("Space")
    qtbot.waitUntil(lambda: panel.kept.isVisible())

    press("Ctrl+1")
    source = window.modes.current()
    assert isinstance(source, SourceMode)
    source.open_line(workspace.root / "host" / "main.c", 1)
    press("Ctrl+Home")
    qtbot.keyClicks(QApplication.focusWidget(), "/* united */")
    press("Ctrl+S")
    qtbot.waitUntil(lambda: not context.documents.unsaved and not window.busy)
    press("F5")
    qtbot.waitUntil(lambda: context.run is not None and context.run.path == runs / "run-2" and not window.busy)

    press("Ctrl+4")
    compare = window.modes.current()
    assert isinstance(compare, CompareMode)
    qtbot.waitUntil(lambda: compare.beside is not None and bool(compare.beside.settled))
    assert compare.beside is not None
    (entry,) = compare.beside.settled
    assert entry.fate is Fate.INSIDE
    assert entry.confirmed is not None
    assert compare.head.predicted.text() == f"{predicted:.2f}×"
    assert compare.head.figure.text() == f"{gain:.2f}×"
    qtbot.waitUntil(lambda: not window.busy)
