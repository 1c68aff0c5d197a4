"""Python looks through all its objects between turns of the event loop alone, and still finds what nobody holds."""

import gc
import weakref
from collections.abc import Callable, Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import cast

import pytest
from PySide6.QtCore import QObject, Qt, Signal
from PySide6.QtGui import QGuiApplication
from pytestqt.qtbot import QtBot

from workbench.gui.frame import garbage
from workbench.gui.frame.context import Context


@pytest.fixture(autouse=True)
def as_before() -> Iterator[None]:
    before = gc.get_threshold()
    yield
    gc.set_threshold(*before)
    gc.unfreeze()


class Circle:
    def __init__(self) -> None:
        self.itself = self


class Opened(QObject):
    """What a look asks of the window's context."""

    workspace_changed, built = Signal(), Signal()
    workspace: SimpleNamespace | None = None

    def open(self, path: str) -> None:
        self.workspace = SimpleNamespace(path=Path(path))
        self.workspace_changed.emit()


@pytest.fixture
def opened(qtbot: QtBot, monkeypatch: pytest.MonkeyPatch) -> Callable[[bool], Opened]:
    """A context in which looks are taken, while it is busy or not."""
    monkeypatch.setattr(garbage, "PAUSE_MS", 1)
    contexts = []

    def context(busy: bool = False) -> Opened:
        contexts.append(opened := Opened())
        opened.setProperty("busy", busy)
        garbage.look_between_turns(cast(Context, opened), opened.built, lambda: bool(opened.property("busy")))
        return opened

    return context


def old_circle() -> weakref.ref[Circle]:
    """What nobody holds, and only a look at the old objects finds."""
    circle = Circle()
    gc.collect()
    return weakref.ref(circle)


def make_old(times: int) -> None:
    for _ in range(times):
        gc.collect(1)


def test_old_garbage_goes_in_a_turn_of_its_own(qtbot: QtBot, opened: Callable[[bool], Opened]) -> None:
    context, found = opened(True), old_circle()
    objects = [[number] for number in range(400_000)]  # enough for Python to look by itself, were it allowed to
    assert found() is not None
    objects.clear()
    qtbot.wait(20)
    assert found() is not None
    gc.freeze()  # nothing was made since
    gc.unfreeze()
    make_old(garbage.MANY)
    context.setProperty("busy", False)
    qtbot.waitUntil(lambda: found() is None)


def test_another_project_is_followed_by_a_look_at_what_was_not_left_out(
    qtbot: QtBot, opened: Callable[[bool], Opened]
) -> None:
    context, mode = opened(False), old_circle()
    before = gc.get_freeze_count()
    context.built.emit()
    assert gc.get_freeze_count() > before
    context.open("one")
    view = old_circle()
    qtbot.wait(20)
    assert view() is not None
    context.open("two")
    qtbot.waitUntil(lambda: view() is None)
    assert mode() is not None
    application = QGuiApplication.instance()
    assert isinstance(application, QGuiApplication)
    application.applicationStateChanged.emit(Qt.ApplicationState.ApplicationInactive)
    assert mode() is None


def test_what_was_read_of_a_large_project_is_left_out(qtbot: QtBot, opened: Callable[[bool], Opened]) -> None:
    opened(False)
    found, before = old_circle(), gc.get_freeze_count()
    make_old(garbage.MANY + 1)
    qtbot.waitUntil(lambda: gc.get_freeze_count() > before)
    assert found() is not None
