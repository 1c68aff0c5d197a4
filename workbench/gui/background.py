"""What would hold the window up: slow work in threads, and, in slices, what only the window's own thread may do."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from typing import Any, TypeVar

from PySide6.QtCore import QObject, QThreadPool, QTimer, Signal
from shiboken6 import isValid

from workbench.model.diagnostic import Diagnostic, WorkbenchError
from workbench.session.journal import crash

T = TypeVar("T")
Failed = Callable[[tuple[Diagnostic, ...]], None]


def _run(number: int, work: Callable[[], object], report: Callable[..., None]) -> None:
    try:
        result = work()
    except WorkbenchError as error:
        report(number, None, error.diagnostics)
    except Exception as error:
        report(number, None, (crash(error),))
    else:
        report(number, result, None)


class Background(QObject):
    """A few threads. Of several tasks with one key only the last one started is answered."""

    _finished = Signal(int, object, object)
    idle_changed = Signal()

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._pool = QThreadPool(self)
        self._pool.setMaxThreadCount(2)
        self._count = 0
        self._waiting: dict[int, tuple[str, Callable[[Any], None], Failed]] = {}
        self._last: dict[str, int] = {}
        self._over = False
        self._finished.connect(self._deliver)

    @property
    def busy(self) -> bool:
        return bool(self._waiting)

    def start(self, key: str, work: Callable[[], T], done: Callable[[T], None], failed: Failed) -> None:
        """Run `work` in a thread, then `done(result)` or `failed(diagnostics)` here; nothing more once shut down."""
        if self._over:
            return
        self._count += 1
        self._waiting[self._count] = (key, done, failed)
        self._last[key] = self._count
        # a function, not a QRunnable: the pool forgets it even where it ends before `start` returns
        self._pool.start(partial(_run, self._count, work, self._finished.emit))
        self.idle_changed.emit()

    def wait(self, timeout_ms: int = 30_000) -> bool:
        """Wait for the threads; their answers still have to be delivered by the event loop."""
        return self._pool.waitForDone(timeout_ms)

    def shut_down(self, timeout_ms: int) -> None:
        """Wait for the threads; what they bring is not wanted any more, and nothing new begins."""
        self._over = True
        self.wait(timeout_ms)

    def _deliver(self, number: int, result: object, diagnostics: tuple[Diagnostic, ...] | None) -> None:
        key, done, failed = self._waiting.pop(number)
        asker = getattr(done, "__self__", None)
        gone = isinstance(asker, QObject) and not isValid(asker)  # its view was closed meanwhile
        if self._last.get(key) == number and not gone and not self._over:
            if diagnostics is None:
                done(result)
            else:
                failed(diagnostics)
        self.idle_changed.emit()


class Slices(QObject):
    """Runs generators, each up to its next `yield` in a turn of its own; while one is under way, another waits."""

    def __init__(self, parent: QObject) -> None:
        super().__init__(parent)
        self._waiting: list[Iterator[None]] = []
        self._timer = QTimer(self, interval=0)
        self._timer.timeout.connect(self._run)

    def start(self, work: Iterator[None]) -> None:
        self._waiting.append(work)
        self._timer.start()

    @property
    def busy(self) -> bool:
        return bool(self._waiting)

    def finish(self) -> None:
        """Do at once what is left, before the window goes: nothing half built is left behind."""
        while self._waiting:
            self._run()

    def _run(self) -> None:
        if self._waiting and next(self._waiting[0], self) is self:  # it has ended
            self._waiting.pop(0)
        if not self._waiting:
            self._timer.stop()
