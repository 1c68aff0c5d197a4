"""One job at a time in a thread of its own; what it reports comes to the window a few times a second."""

from __future__ import annotations

import queue
import threading
from collections.abc import Callable
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, QTimer, Signal

from workbench.api.faults import caught
from workbench.api.job import Job, JobEvent
from workbench.model.diagnostic import Cancelled, Diagnostic, WorkbenchError
from workbench.model.text import counted
from workbench.session.program.journal import crash, note

if TYPE_CHECKING:
    from workbench.model.run import Run

DELIVERY_MS = 50


class JobRunner(QObject):
    """Runs `work(job)` in a thread. All signals come on the window's thread, in order.

    `finished` carries the run (None where there is none), whether the job was cancelled, and its diagnostics.
    """

    started = Signal(str)
    events = Signal(list)  # of JobEvent
    finished = Signal(object, bool, tuple)

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._events: queue.SimpleQueue[JobEvent] = queue.SimpleQueue()
        self._job: Job | None = None
        self._thread: threading.Thread | None = None
        self._outcome: tuple[Run | None, bool, tuple[Diagnostic, ...]] = (None, False, ())
        self._timer = QTimer(self)
        self._timer.setInterval(DELIVERY_MS)
        self._timer.timeout.connect(self._deliver)

    @property
    def running(self) -> bool:
        return self._thread is not None

    @property
    def cancelling(self) -> bool:
        return self._job is not None and self._job.cancelled

    def start(self, title: str, work: Callable[[Job], Run | None]) -> None:
        """Start a job; only one runs at a time, a second start is ignored."""
        if self.running:
            return
        self._job = Job(self._events.put)
        self._thread = threading.Thread(target=self._work, args=(work, self._job), name=title, daemon=True)
        note(f"job: {title}")
        self.started.emit(title)
        self._thread.start()
        self._timer.start()

    def cancel(self) -> None:
        if self._job is not None:
            self._job.cancel()

    def shut_down(self, timeout_s: float = 5.0) -> None:
        """Cancel what runs and wait for its processes to end."""
        self.cancel()
        if self._thread is not None:
            self._thread.join(timeout_s)
        self._timer.stop()

    def _work(self, work: Callable[[Job], Run | None], job: Job) -> None:
        try:
            self._outcome = (work(job), False, ())
        except Cancelled:
            self._outcome = (None, True, ())
        except WorkbenchError as error:
            self._outcome = (None, False, error.diagnostics)
        except BaseException as raised:
            fault = caught(raised)
            self._outcome = (None, False, (crash(fault),))
        note(f"job ended{', cancelled' if self._outcome[1] else ''}, {counted(len(self._outcome[2]), 'problem')}")

    def _deliver(self) -> None:
        ended = self._thread is not None and not self._thread.is_alive()
        batch: list[JobEvent] = []
        while True:
            try:
                batch.append(self._events.get_nowait())
            except queue.Empty:
                break
        if batch:
            self.events.emit(batch)
        if ended:
            self._timer.stop()
            self._thread, self._job = None, None
            self.finished.emit(*self._outcome)
