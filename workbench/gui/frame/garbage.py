"""Runs Python's garbage collection in separate, short turns of the event loop, so that it does not delay input.

Python by itself begins such a look in the midst of whatever makes objects. The turn that lays out a view would last as
much longer, and where a thread makes them, widgets that nobody holds would be ended in that thread, which Qt does not
survive. A look at all takes a fifth of a second once every mode was shown. So what is there to stay is left out: the
code, the modes, and what was read of a large project, which is freed without a look. Of a project that was closed a few
hundred objects remain that only a look at all finds: that comes when the window is not in front.
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

PAUSE_MS, YOUNG_PAUSE_MS = 2_000, 200  # between looks; between those at objects made since the last one
_YOUNG = 700  # objects, from which on they are looked at
_ENOUGH, MANY = 45_000, 100_000  # objects made since the last look: then it is due; then it would take too long
_LONG_S = 0.03  # a look that took longer leaves out what it saw


def look_between_turns(context: Context, built: SignalInstance, busy: Callable[[], bool]) -> None:
    """From now on, for as long as the context lives; at old objects not while it is `busy`. What is there already is
    left out, and modes once `built`."""
    gc.disable()
    gc.freeze()
    _Looks(context, busy)
    built.connect(gc.freeze)


class _Looks(QObject):
    """Looks where objects were made since, or another project was opened; at all where the window is not in front."""

    def __init__(self, context: Context, busy: Callable[[], bool]) -> None:
        super().__init__(context)
        self._context, self._busy = context, busy
        self._project: Path | None = None
        self._other_project = False  # was opened since the last look
        self._made = 0  # objects, since the last look
        context.workspace_changed.connect(self._follow)
        application = QGuiApplication.instance()
        assert isinstance(application, QGuiApplication)
        application.applicationStateChanged.connect(self._look_at_all)
        for pause_ms, look in ((YOUNG_PAUSE_MS, self._look_at_young), (PAUSE_MS, self._look)):
            timer = QTimer(self, interval=pause_ms)
            timer.timeout.connect(look)
            timer.start()

    def _follow(self) -> None:
        workspace = self._context.workspace
        before, self._project = self._project, workspace.path if workspace else None
        self._other_project |= before not in (None, self._project)

    def _look_at_young(self) -> None:
        """Not while modes are made: their objects are left out once they are there."""
        if (young := gc.get_count()[0]) > _YOUNG and not self._context.slices.busy:
            self._made += young
            gc.collect(1)

    def _look(self) -> None:
        if self._busy() or not (self._other_project or self._made > _ENOUGH):
            return
        began_s = thread_time()
        if self._made <= MANY:
            gc.collect()
        if self._made > MANY or thread_time() - began_s > _LONG_S:
            gc.freeze()
        if self._other_project:
            _give_back()
        self._other_project, self._made = False, 0

    def _look_at_all(self, state: Qt.ApplicationState) -> None:
        if state is not Qt.ApplicationState.ApplicationActive:
            gc.unfreeze()
            gc.collect()
            gc.freeze()
            _give_back()


def _give_back() -> None:
    """Give the system the memory that is free: else a window grows with every project opened."""
    with suppress(AttributeError):  # a C library of another make
        ctypes.CDLL(None).malloc_trim(0)
