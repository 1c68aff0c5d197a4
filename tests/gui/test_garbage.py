"""Python looks through all its objects between turns of the event loop alone, and still finds what nobody holds."""

import gc
import threading
import weakref
from collections.abc import Callable, Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import cast

import pytest
from PySide6.QtCore import QObject, Qt, Signal
from PySide6.QtGui import QGuiApplication
from pytestqt.qtbot import QtBot
from shiboken6 import delete

from workbench.gui.frame import garbage
from workbench.gui.frame.context import Context


@pytest.fixture(autouse=True)
def as_before() -> Iterator[None]:
    gc.enable()
    yield
    gc.disable()  # as in all tests
    gc.unfreeze()


class Circle:
    def __init__(self) -> None:
        self.itself = self


class Opened(QObject):
    """What a look asks of the window's context."""

    workspace_changed, built = Signal(), Signal()
    workspace: SimpleNamespace | None = None

    def __init__(self) -> None:
        super().__init__()
        self.slices = SimpleNamespace(busy=False)  # as while modes are made

    def open(self, path: str) -> None:
        self.workspace = SimpleNamespace(path=Path(path))
        self.workspace_changed.emit()


@pytest.fixture
def opened(qtbot: QtBot, monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[[bool], Opened]]:
    """A context in which looks are taken, while it is busy or not."""
    monkeypatch.setattr(garbage, "PAUSE_MS", 1)
    monkeypatch.setattr(garbage, "YOUNG_PAUSE_MS", 1)
    contexts: list[Opened] = []

    def context(busy: bool = False) -> Opened:
        contexts.append(opened := Opened())
        opened.setProperty("busy", busy)
        garbage.look_between_turns(cast(Context, opened), opened.built, lambda: bool(opened.property("busy")))
        return opened

    yield context
    for one in contexts:
        delete(one)


def old_circle() -> weakref.ref[Circle]:
    """What nobody holds, and only a look at the old objects finds."""
    circle = Circle()
    gc.collect()
    return weakref.ref(circle)


def make_objects(number: int) -> list[list[int]]:
    gc.collect(1)
    return [[one] for one in range(number)]


def test_old_garbage_goes_in_a_turn_of_its_own(qtbot: QtBot, opened: Callable[[bool], Opened]) -> None:
    context, found = opened(True), old_circle()
    objects = make_objects(garbage.MANY - 10_000)  # enough for Python to look by itself, were it allowed to
    assert found() is not None
    qtbot.waitUntil(lambda: gc.get_count()[0] < 10_000)
    assert found() is not None
    context.setProperty("busy", False)
    qtbot.waitUntil(lambda: found() is None)
    assert objects


def test_nothing_is_looked_at_while_modes_are_made(qtbot: QtBot, opened: Callable[[bool], Opened]) -> None:
    context = opened(False)
    context.slices.busy = True
    circle = Circle()
    gone, made = weakref.ref(circle), [[] for _ in range(1_000)]
    del circle
    qtbot.wait(50)
    assert gone() is not None
    context.slices.busy = False
    qtbot.waitUntil(lambda: gone() is None)
    assert len(made) == 1_000


def test_no_thread_looks_for_garbage(qtbot: QtBot, opened: Callable[[bool], Opened]) -> None:
    """A look ends widgets that nobody holds, and Qt's widgets belong to the window's thread."""
    opened(True)
    looks: list[int] = []

    def note(phase: str, _: object) -> None:
        looks.append(threading.get_ident())

    gc.callbacks.append(note)
    objects: list[list[int]] = []
    thread = threading.Thread(target=lambda: objects.extend([one] for one in range(50_000)))
    thread.start()
    thread.join()
    qtbot.waitUntil(lambda: bool(looks))
    gc.callbacks.remove(note)
    assert set(looks) == {threading.get_ident()}


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
    objects = make_objects(garbage.MANY + 10_000)
    qtbot.waitUntil(lambda: gc.get_freeze_count() > before)
    assert found() is not None
    del objects
