"""The project's sources as they are typed, and what is wrong with them: read once nothing was typed for a moment."""

from collections.abc import Callable, Mapping
from pathlib import Path

from PySide6.QtCore import QObject, QTimer, Signal

from workbench.api.job import Job
from workbench.api.window import Context
from workbench.model.diagnostic import Diagnostic, Severity
from workbench.model.scan import ProjectScan
from workbench.session.edit.documents import SourceFile
from workbench.system.files import real

PAUSE_MS = 700


def typed_sources(context: Context) -> dict[Path, SourceFile]:
    """The sources that hold something unsaved."""
    unsaved = context.documents.unsaved
    return {real(d.path): d for d in unsaved if isinstance(d, SourceFile) and d.path is not None}


def typed_bytes(context: Context) -> Callable[[], dict[Path, bytes]]:
    """What those would be if they were saved now; to be called in a thread, since it takes long for long texts."""
    texts = {path: (document, document.text) for path, document in typed_sources(context).items()}
    return lambda: {path: document.encode(text) for path, (document, text) in texts.items()}


class TypedCheck(QObject):
    """`checked` says that the context's `source_problems` are of the sources with `texts` in place of their files',
    `scanned` that `scan` is of the sources with `scanned_texts` in place of theirs: the last that could be read."""

    checked = Signal()
    scanned = Signal()

    def __init__(self, context: Context) -> None:
        super().__init__(context)
        self._context = context
        self.texts: Mapping[Path, str] = {}
        self.scan: ProjectScan | None = None
        self.scanned_texts: Mapping[Path, str] = {}
        self._pause = QTimer(self, singleShot=True, interval=PAUSE_MS)
        self._pause.timeout.connect(self._start)

    def wait(self) -> None:
        """Something was typed: what is under way is of no use any more."""
        self._context.background.cancel("check")
        self._pause.start()

    def take_scan(self) -> None:
        """The files were read as they are saved; what is typed beside is looked at after."""
        self.texts, self.scanned_texts, self.scan = {}, {}, self._context.scan
        if typed_sources(self._context):
            self.wait()

    def _start(self) -> None:
        context, workspace, scan = self._context, self._context.workspace, self._context.scan
        if workspace is None or scan is None:  # what is under way now ends with `take_scan`
            return
        texts = {path: document.text for path, document in typed_sources(context).items()}
        data = typed_bytes(context)

        def work(job: Job) -> tuple[ProjectScan, tuple[Diagnostic, ...]]:
            return workspace.scan_typed(scan, data(), job)

        def done(checked: tuple[ProjectScan, tuple[Diagnostic, ...]]) -> None:
            if context.scan is not scan:
                return
            now, context.source_problems = checked
            self.texts = texts
            wrong = {real(context.resolve(d.file)) for d in checked[1] if d.file and d.severity is Severity.ERROR}
            if not wrong & texts.keys():
                self.scan, self.scanned_texts = now, texts
                self.scanned.emit()
            self.checked.emit()

        context.background.start_job("check", work, done, context.failed)
