"""When Python looks through all its objects for garbage: in turns of the event loop of their own.

Such a look takes some 60 ms once every mode was shown, and Python begins it in the midst of whatever makes objects: the
turn that lays out a view would last as much longer. What was read of a large project takes as long again, and is freed
without a look; what modes consist of is not freed. Both are left out until another project is opened, or the window is
not in front. Of many objects a look takes longer than a turn may: it waits until nobody types or points.
"""

import ctypes
import gc
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from time import thread_time

from PySide6.QtCore import QEvent, QObject, Qt, QTimer, SignalInstance
from PySide6.QtGui import QGuiApplication

from workbench.gui.frame.context import Context

PAUSE_MS = 2_000
_ENOUGH = 10  # looks at younger objects since the last one at all: as often as Python would
_YOUNG, _MIDDLE = 700, 10  # as Python itself has them
_NEVER = 1 << 30
MANY, IDLE_MS = 200_000, 4_000  # objects left out whose look waits, and for how long nobody does anything
_MOST_OPENED = 8  # projects, after which it waits no longer
_INPUTS = {QEvent.Type.KeyPress, QEvent.Type.MouseMove, QEvent.Type.MouseButtonPress, QEvent.Type.Wheel}
_LONG_S = 0.04  # a look that took longer leaves out what it saw


def look_between_turns(parent: QObject, busy: Callable[[], bool]) -> None:
    """From now on, for as long as the parent lives; not while it is `busy`, nor where nothing was made since."""
    gc.set_threshold(_YOUNG, _MIDDLE, _NEVER)
    timer = QTimer(parent, interval=PAUSE_MS)
    timer.timeout.connect(lambda: _look(busy))
    timer.start()


def leave_out_what_stays(context: Context, built: SignalInstance) -> None:
    """Have looks leave out the sources, once read, modes, once `built`, and all that is there by then."""
    opened: list[Path | None] = [None]
    idle = _Idle(context)

    def on_workspace() -> None:
        now = context.workspace.path if context.workspace else None
        before, opened[0] = opened[0], now
        if before not in (None, now):
            QTimer.singleShot(0, idle, idle.want_look)

    def on_state(state: Qt.ApplicationState) -> None:
        if state is not Qt.ApplicationState.ApplicationActive:
            _look_at_all()
            gc.freeze()

    built.connect(gc.freeze)
    context.scan_changed.connect(gc.freeze)
    context.workspace_changed.connect(on_workspace)
    application = QGuiApplication.instance()
    assert isinstance(application, QGuiApplication)
    application.applicationStateChanged.connect(on_state)


class _Idle(QObject):
    """Looks at all objects when that disturbs nobody."""

    def __init__(self, parent: QObject) -> None:
        super().__init__(parent)
        self._opened = 0  # since the last look
        self._timer = QTimer(self, singleShot=True)
        self._timer.timeout.connect(self._take_look)

    def want_look(self) -> None:
        """At once where there are few objects, or where it waited for long; else when nobody types or points."""
        self._opened += 1
        window = QGuiApplication.focusWindow()
        if gc.get_freeze_count() < MANY or self._opened > _MOST_OPENED or window is None:
            self._take_look()
            return
        window.installEventFilter(self)
        self._timer.start(IDLE_MS)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if event.type() in _INPUTS and self._timer.isActive():
            self._timer.start(IDLE_MS)
        return False

    def _take_look(self) -> None:
        self._opened = 0
        self._timer.stop()
        _look_at_all()


def _look(busy: Callable[[], bool]) -> None:
    if gc.get_count()[2] > _ENOUGH and not busy():
        began_s = thread_time()
        gc.collect()
        if thread_time() - began_s > _LONG_S:
            gc.freeze()


def _look_at_all() -> None:
    """Free what nobody holds, and give the system back what is free: else a window grows with every project opened."""
    gc.unfreeze()
    gc.collect()
    with suppress(AttributeError):  # a C library of another make
        ctypes.CDLL(None).malloc_trim(0)
