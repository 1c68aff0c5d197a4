"""When Python looks through all its objects for garbage: in turns of the event loop of their own.

Such a look takes some 60 ms once every mode was shown, and Python begins it in the midst of whatever makes objects: the
turn that lays out a view would last as much longer. What was read of a large project takes as long again, and is freed
without a look; what modes consist of is not freed. Both are left out until another project is opened, or the window is
not in front.
"""

import ctypes
import gc
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from time import thread_time

from PySide6.QtCore import QObject, Qt, QTimer, SignalInstance
from PySide6.QtGui import QGuiApplication

from workbench.gui.frame.context import Context

PAUSE_MS = 2_000
_ENOUGH = 10  # looks at younger objects since the last one at all: as often as Python would
_YOUNG, _MIDDLE = 700, 10  # as Python itself has them
_NEVER = 1 << 30
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

    def on_workspace() -> None:
        now = context.workspace.path if context.workspace else None
        before, opened[0] = opened[0], now
        if before not in (None, now):
            QTimer.singleShot(0, context, _look_at_all)

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
