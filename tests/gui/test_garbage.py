"""Python looks through all its objects between turns of the event loop alone, and still finds what nobody holds."""

import gc
import weakref
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import cast

import pytest
from PySide6.QtCore import QObject, Signal
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QLineEdit
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


def test_old_garbage_goes_in_a_turn_of_its_own(qtbot: QtBot, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(garbage, "PAUSE_MS", 1)
    parent, circle = QObject(), Circle()
    gc.collect()  # the circle is old from here on
    busy = True
    garbage.look_between_turns(parent, lambda: busy)
    found = weakref.ref(circle)
    del circle
    made = [[number] for number in range(400_000)]  # enough for Python to look by itself, were it allowed to
    assert found() is not None
    made.clear()
    qtbot.wait(20)
    assert found() is not None
    busy = False
    qtbot.waitUntil(lambda: found() is None)


class Opened(QObject):
    """What a look asks of the window's context."""

    scan_changed, workspace_changed, built = Signal(), Signal(), Signal()
    workspace: SimpleNamespace | None = None


def test_what_was_read_is_left_out_until_another_project_is_open(qtbot: QtBot) -> None:
    context = Opened()
    garbage.leave_out_what_stays(cast(Context, context), context.built)
    context.workspace = SimpleNamespace(path=Path("one"))
    context.workspace_changed.emit()
    before, circle = gc.get_freeze_count(), Circle()
    context.scan_changed.emit()
    assert gc.get_freeze_count() > before
    found = weakref.ref(circle)
    del circle
    gc.collect()
    assert found() is not None
    before = gc.get_freeze_count()
    mode = Circle()
    context.built.emit()
    assert gc.get_freeze_count() > before
    del mode
    context.workspace = None
    context.workspace_changed.emit()
    qtbot.waitUntil(lambda: found() is None)


def test_a_look_at_many_objects_waits_until_nobody_types(qtbot: QtBot, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(garbage, "MANY", 0)
    monkeypatch.setattr(garbage, "IDLE_MS", 1)
    looks: list[int] = []
    monkeypatch.setattr(garbage, "_look_at_all", lambda: looks.append(1))
    field = QLineEdit()
    qtbot.addWidget(field)
    field.show()
    field.activateWindow()
    qtbot.waitUntil(lambda: QGuiApplication.focusWindow() is not None)
    idle = garbage._Idle(field)
    idle.want_look()
    assert looks == []
    qtbot.waitUntil(lambda: looks == [1])
    monkeypatch.setattr(garbage, "IDLE_MS", 3_600_000)
    idle.want_look()
    qtbot.keyClicks(field, "a")
    assert looks == [1]
    for _ in range(garbage._MOST_OPENED):  # it is not put off for ever
        idle.want_look()
    assert looks == [1, 1]
