"""Measures transfer times: runs the template's own calls in powers of two, and writes the times to its tables."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Signal

from workbench.api.job import Job
from workbench.api.window import Context
from workbench.formats.platform_file import load_platform
from workbench.gui.open.trust_prompt import ask_trust
from workbench.gui.widgets import Button
from workbench.model.diagnostic import Diagnostic, Severity, WorkbenchError
from workbench.session.edit.platform_document import PlatformDocument

if TYPE_CHECKING:
    from workbench.model.platform import Platform
    from workbench.model.run import Run
    from workbench.session.open.workspace import Workspace

_KEY = "bench"


def run_of(workspace: Workspace, job: Job) -> Run:
    from workbench.session.bench.bench_project import (
        bench_run,  # what builds and simulates is imported by the first run
    )

    return bench_run(workspace, job)


class Measuring(QObject):
    """Measures a template's times: `button` starts and cancels; `changed` is emitted when `said`, the progress text,
    changes."""

    changed = Signal()

    def __init__(self, context: Context, document: PlatformDocument) -> None:
        super().__init__()
        self._context, self._document = context, document
        self._path: Path | None = None  # whose times are measured
        self.run_function = run_of
        self.button = Button("Measure times", "play", on=self.act)
        self.setParent(self.button)  # it goes with it, and hears no more of what ends later
        context.background.progressed.connect(self._changed)
        context.background.idle_changed.connect(self._changed)
        document.changed.connect(self._changed)
        self._changed()

    @property
    def said(self) -> str:
        """What is under way; empty where nothing is."""
        background = self._context.background
        return (background.said or "Preparing") if background.runs(_KEY) else ""

    def act(self) -> None:
        if self.said:
            self.cancel()
        else:
            self.measure()

    def cancel(self) -> None:
        self._context.background.cancel(_KEY)
        self._changed()

    def measure(self) -> None:
        """Run the calls of the template as it is saved, once what becomes of unsaved changes and trust are settled."""
        context, path, plugins = self._context, self._document.path, self._context.plugins
        if path is None or not context.documents.may_run():
            return

        def work(job: Job) -> tuple[Platform, Workspace, Mapping[str, str]]:
            from workbench.session.bench.bench_project import bench_workspace

            platform, problems = load_platform(path, plugins.port_kinds)
            if platform is None:
                raise WorkbenchError(*problems)
            return platform, *bench_workspace(path, platform, plugins)

        def done(started: tuple[Platform, Workspace, Mapping[str, str]]) -> None:
            if self._document.path == path and ask_trust(started[1], self.button.window()):
                self._run(path, *started)

        self._path = path
        context.background.start_job(_KEY, work, done, context.failed)

    def _run(self, path: Path, platform: Platform, workspace: Workspace, left_out: Mapping[str, str]) -> None:
        context, run_function = self._context, self.run_function

        def done(run: Run) -> None:
            if self._document.path == path:
                context.notices.attempt(lambda: self._take(run, platform))
                notes = (Diagnostic(f"{name}: unchanged, {why}", "", Severity.NOTE) for name, why in left_out.items())
                context.notices.tell(*notes)

        context.background.start_job(_KEY, lambda job: run_function(workspace, job), done, context.failed)

    def _take(self, run: Run, saved: Platform) -> None:
        """Put what was measured into the document, which may have been changed meanwhile, but not its calls."""
        from workbench.session.bench.bench import how_taken, measured, with_tables

        platform = self._document.platform
        if platform is None or platform.host.entries != saved.host.entries:
            hint = f"Fix it, then `workbench template bench --from {run.path}` takes the times without another run."
            raise WorkbenchError(Diagnostic("the calls changed while their times were measured", hint))
        tables = measured(run, platform)
        self._document.apply("Measure times", lambda text: with_tables(text, platform, tables, how_taken(run)))

    def _changed(self) -> None:
        document, under_way = self._document, bool(self.said)
        if under_way and document.path != self._path:
            self.cancel()
            return
        self.button.setText("Cancel" if under_way else "Measure times")
        self.button.set_icon("x" if under_way else "play")
        self.button.setVisible(document.path is not None)
        self.button.setEnabled(under_way or (document.platform is not None and not document.read_only))
        how = "Run the template's own calls on the simulated card, in sizes by powers of two"
        self.button.setToolTip("" if under_way else "Save a copy to measure its times" if document.read_only else how)
        self.changed.emit()
