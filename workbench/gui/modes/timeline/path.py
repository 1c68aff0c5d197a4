"""The critical path of the run that is open, found in the background when it is first asked for."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Signal

from workbench.api.job import Job
from workbench.api.window import Context

if TYPE_CHECKING:  # with numpy, which a window starts without
    from workbench.replay.predict import Replayed
    from workbench.traces.path import RunPath

_KEY = "critical path"


class PathOfRun(QObject):
    """`path` is None until it is found, and where it is not known: `why` says why then. `ready` follows either."""

    ready = Signal()

    def __init__(self, context: Context, parent: QObject) -> None:
        super().__init__(parent)
        self._context = context
        self.path: RunPath | None = None
        self.why = ""
        self.asked = False
        context.run_changed.connect(self._forget)
        context.predictions_changed.connect(self._find)

    def _forget(self) -> None:
        self._context.background.cancel(_KEY)
        self.path, self.why, self.asked = None, "", False

    def ask(self) -> None:
        """Find it; at once, or from what predictions that are under way make ready."""
        self.asked = True
        if not self._context.background.runs("predict"):
            self._find()

    def _find(self) -> None:
        context = self._context
        opened, replayed = context.opened, context.replayed
        if not self.asked or self.path or self.why or opened is None or context.background.runs(_KEY):
            return

        def work(job: Job) -> tuple[Replayed, RunPath | None]:

            with job.step("Find the critical path"):
                ready = replayed or opened.prepared()
                return ready, ready.run_path()

        def done(answer: tuple[Replayed, RunPath | None]) -> None:
            if context.opened is not None and opened.run is context.opened.run:
                context.replayed, self.path = answer
                self.why = "" if self.path else answer[0].why or "the run cannot be replayed"
                self.ready.emit()

        context.background.start_job(_KEY, work, done, context.failed)
