"""What is wrong with the project's sources as they are typed: asked once nothing was typed for a moment."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from PySide6.QtCore import QObject, QTimer, Signal

from workbench.api.job import Job
from workbench.gui.context import Context
from workbench.model.diagnostic import Diagnostic
from workbench.session.documents import SourceFile
from workbench.system.files import real

PAUSE_MS = 700


def typed_sources(context: Context) -> dict[Path, SourceFile]:
    """The sources that hold something unsaved."""
    unsaved = context.documents.unsaved
    return {real(d.path): d for d in unsaved if isinstance(d, SourceFile) and d.path is not None}


def typed_bytes(context: Context) -> dict[Path, bytes]:
    """What those would be if they were saved."""
    return {path: document.encode(document.text) for path, document in typed_sources(context).items()}


class TypedCheck(QObject):
    """`checked` says that the context's `source_problems` are of the sources with `texts` in place of their files'."""

    checked = Signal()

    def __init__(self, context: Context) -> None:
        super().__init__(context)
        self._context = context
        self.texts: Mapping[Path, str] = {}
        self._pause = QTimer(self, singleShot=True, interval=PAUSE_MS)
        self._pause.timeout.connect(self._start)

    def wait(self) -> None:
        """Something was typed: what is under way is of no use any more."""
        self._context.background.cancel("check")
        self._pause.start()

    def take_scan(self) -> None:
        """The files were read as they are saved; what is typed beside is looked at after."""
        self.texts = {}
        if typed_sources(self._context):
            self.wait()

    def _start(self) -> None:
        context, workspace, scan = self._context, self._context.workspace, self._context.scan
        if workspace is None or scan is None:  # what is under way now ends with `take_scan`
            return
        texts = {path: document.text for path, document in typed_sources(context).items()}
        data = typed_bytes(context)

        def work(job: Job) -> tuple[Diagnostic, ...]:
            return workspace.problems_typed(scan, data, job)

        def done(found: tuple[Diagnostic, ...]) -> None:
            if context.scan is scan:
                context.source_problems, self.texts = found, texts
                self.checked.emit()

        context.background.start_job("check", work, done, context.failed)
