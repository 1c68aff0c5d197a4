"""What can be asked about: of the open run, and of the project as it is written, saved or not."""

from collections.abc import Mapping
from pathlib import Path

from PySide6.QtCore import QObject, Signal

from workbench.api.queries import RunQueries, Subject
from workbench.api.source.lines import reading_typed
from workbench.api.window import Context
from workbench.gui.modes.source.typed_check import typed_bytes
from workbench.model.diagnostic import Diagnostic
from workbench.session.open.composing import drafted
from workbench.session.open.workspace import Workspace


class Subjects(QObject):
    """`run_changed` and `project_changed` say that the one or the other was found out anew; `problems` are what is
    wrong with it, and of a project that has problems, the subject is the last that had none."""

    run_changed = Signal()
    project_changed = Signal()

    def __init__(self, context: Context, queries: RunQueries | None, name: str) -> None:
        super().__init__(context)
        self._context, self._queries, self._name = context, queries, name
        self.run: Subject | None = None
        self.run_problems: tuple[Diagnostic, ...] = ()
        self.project: Subject | None = None
        self.project_problems: tuple[Diagnostic, ...] = ()
        self._read: tuple[Workspace, Mapping[Path, bytes]] | None = None  # what `project` was found with

    @property
    def run_is_drawn(self) -> bool:
        """Whether the run is drawn by what it recorded; otherwise as the project's application, where there is one."""
        recorded = self.run is not None and bool(self.run.edges) and not self.run.of_design
        return recorded or (self.run is not None and self.project is None)

    def read_run(self) -> None:
        self.run, self.run_problems = None, ()
        run, queries = self._context.run, self._queries
        if run is None or queries is None:
            self.run_changed.emit()
        else:
            key = f"{self._name}-subject"
            self._context.background.start(key, lambda: queries.subject(run), self._take_run, self._run_failed)

    def _take_run(self, subject: Subject | None) -> None:
        self.run = subject
        self.run_changed.emit()

    def _run_failed(self, problems: tuple[Diagnostic, ...]) -> None:
        self.run_problems = problems
        self.run_changed.emit()

    def read_project(self) -> None:
        """Find out anew what the project could be asked, where anything of it was changed since."""
        workspace, queries = self._context.workspace, self._queries
        if workspace is None or queries is None or workspace.project.streaming is None:
            had, self._read, self.project, self.project_problems = self._read, None, None, ()
            if had is not None:
                self.project_changed.emit()
            return
        texts = typed_bytes(self._context)()
        if self._read is not None and self._read[0] is workspace and self._read[1] == texts:
            return
        if self._read is None or self._read[0].path != workspace.path:
            self.project, self.project_problems = None, ()
        self._read = workspace, texts
        path, platform = workspace.path, workspace.platform

        def work() -> Subject | None:
            with reading_typed(texts):
                return queries.planned(drafted(path, platform))

        self._context.background.start(f"{self._name}-planned", work, self._take_project, self._project_failed)

    def _take_project(self, subject: Subject | None) -> None:
        self.project, self.project_problems = subject, ()
        self.project_changed.emit()

    def _project_failed(self, problems: tuple[Diagnostic, ...]) -> None:
        self.project_problems = problems
        self.project_changed.emit()
