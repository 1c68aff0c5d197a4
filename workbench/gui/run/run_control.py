"""Run, run again, cancel: from the button to the new run shown."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Signal
from PySide6.QtWidgets import QWidget

from workbench.api.job import Job
from workbench.gui.frame.context import Context
from workbench.gui.frame.naming import folder_title
from workbench.gui.open.trust_prompt import PROVE, RUN, Act, ask_save_and_trust, ask_trust
from workbench.gui.run.jobs import JobRunner
from workbench.gui.run.run_dock import RunDock
from workbench.model.diagnostic import Diagnostic, WorkbenchError
from workbench.session.open.trust import is_own
from workbench.session.open.workspace import Workspace

if TYPE_CHECKING:
    from workbench.model.run import Run
    from workbench.session.make.pipeline import RunOptions
    from workbench.session.make.study import Study

RunFunction = Callable[[Workspace, "RunOptions", Job], "Run"]


def _run(workspace: Workspace, options: RunOptions, job: Job) -> Run:
    from workbench.session.make.pipeline import run_workspace  # what builds and simulates is imported by the first run

    return run_workspace(workspace, options, job)


@dataclass(frozen=True)
class EndedRun:
    """A run of the project that has ended: `run` is what was recorded, where anything was, `diagnostics` why not, and
    `problems` what the run panel shows."""

    title: str
    run: Run | None
    seconds: float
    diagnostics: tuple[Diagnostic, ...]
    problems: tuple[Diagnostic, ...] = ()


class RunControl(QObject):
    """Starts runs of the open project with what `options` says, and opens each when it is done. `ended` carries an
    `EndedRun`, of runs that were not cancelled."""

    ended = Signal(object)

    def __init__(
        self,
        context: Context,
        runner: JobRunner,
        dock: RunDock,
        options: Callable[[Workspace], RunOptions],
        window: QWidget,
    ) -> None:
        super().__init__(window)
        self._context, self._runner, self._dock = context, runner, dock
        self._options, self._window = options, window
        self._last: RunOptions | None = None
        self._agreed: Callable[[Workspace], None] | None = None  # remembers the trust that was asked for already
        self.run_function: RunFunction = _run
        self.title = ""
        self._began_s: float | None = None  # when the run under way began; None where it is another job
        self._project: Path | None = None
        runner.finished.connect(self._on_finished)
        context.workspace_changed.connect(self._on_workspace)

    def _on_workspace(self) -> None:
        """The run panel speaks of the project that is open."""
        path = self._context.workspace.path if self._context.workspace else None
        if path != self._project and not self.running:
            self._project, self._last = path, None
            self._dock.forget()

    @property
    def running(self) -> bool:
        return self._runner.running

    def run(self) -> None:
        """Ask what becomes of unsaved changes, and for trust if need be, then run the project as its files say it."""
        self._when_ready(self._run, RUN)

    def _when_ready(self, then: Callable[[], None], act: Act | None = None) -> None:
        """Ask what becomes of unsaved changes; of an `act` that will ask for trust in them too, both at once."""
        workspace, documents = self._context.workspace, self._context.documents
        if workspace is None or self.running:
            return
        self._agreed = None
        if act is not None and not is_own(workspace) and (unsaved := documents.unsaved_of_run()):
            names = [os.path.relpath(document.path, workspace.root) for document in unsaved if document.path]
            save = partial(documents.save_each, unsaved)
            self._agreed = ask_save_and_trust(workspace, names, save, self._window, act)
            if self._agreed is None:
                return
        elif not documents.may_run():
            return
        self._context.when_current(then)

    def _is_trusted(self, workspace: Workspace, act: Act = RUN) -> bool:
        """Whether an act may be; asks where that was not asked with what was unsaved."""
        agreed, self._agreed = self._agreed, None
        if agreed is not None:
            agreed(workspace)
        if not ask_trust(workspace, self._window, act):
            return False
        self._context.set_trusted(True)
        return True

    def _run(self) -> None:
        workspace = self._context.workspace
        if workspace is None or self.running:
            return
        self._context.notices.attempt(lambda: self._start(workspace, self._options(workspace)))

    def start_job(self, title: str, detail: str, work: Callable[[Job], Run | None], raw: Path | None = None) -> None:
        """Start another job that runs where runs do, with its steps in the dock, and the calls that are counted in
        `raw`; a run that it makes is opened."""
        if not self.running:
            self._began_s = None
            self._dock.set_run_title(title, detail, raw)
            self._runner.start(title, work)

    def instrument(self, out: Path) -> None:
        """Write instrumented copies, and what a real machine builds and runs them with, into a folder."""
        self._when_ready(lambda: self._instrument(out))

    def _instrument(self, out: Path) -> None:
        workspace = self._context.workspace
        if workspace is None:
            return
        settings = self._options(workspace).settings

        def work(job: Job) -> None:
            from workbench.session.make.pipeline import instrument_workspace

            host, hdl = instrument_workspace(workspace, settings, out, job)
            for diagnostic in (*host.missed, *hdl.missed, *host.diagnostics, *hdl.diagnostics):
                job.report(diagnostic)

        self.start_job("Instrument", f"{workspace.project.title or workspace.project.name}, into {out}", work)

    def prove(self) -> None:
        """Say of each module whether it behaves as before once it is instrumented."""
        self._when_ready(self._prove, PROVE)

    def _prove(self) -> None:
        workspace = self._context.workspace
        if workspace is None or not self._is_trusted(workspace, PROVE):
            return
        settings = self._options(workspace).settings

        def work(job: Job) -> None:
            from workbench.session.make.proving import how_words, proof_diagnostics, prove_workspace

            proof = prove_workspace(workspace, settings, job)
            for module in proof.verdicts:
                job.log(f"{module.module}: {how_words(module)}")
            if not proof.holds:
                raise WorkbenchError(*proof_diagnostics(proof))
            for one in proof_diagnostics(proof):
                job.report(one)

        self.start_job("Prove", workspace.project.title or workspace.project.name, work)

    def run_study(self, path: Path, again: bool = False) -> None:
        """Run the points of a study that are not measured yet; with `again` those that failed too."""
        context = self._context
        if self.running or not context.documents.may_run():
            return

        def load() -> tuple[Study, list[Workspace]]:
            from workbench.session.make.study import load_study
            from workbench.session.open.opening import open_workspace

            study, _ = load_study(path, context.plugins)
            return study, [open_workspace(path.parent / project, context.plugins) for project in study.model.projects]

        context.background.start("study", load, lambda loaded: self._start_study(*loaded, again), context.failed)

    def _start_study(self, study: Study, workspaces: Sequence[Workspace], again: bool) -> None:
        if not all(ask_trust(workspace, self._window) for workspace in workspaces):
            return
        context = self._context

        def work(job: Job) -> None:
            from workbench.session.make.engines import local
            from workbench.session.make.study import failures, run_study

            with local(0, job) as engine:
                changed = context.study_changed.emit
                outcome = run_study(study, context.plugins, engine, job, again=again, changed=changed)
            for problem in failures(outcome):
                job.report(problem)

        title = study.model.title or study.model.name
        context.study = study.path
        self.start_job("Study", f"{title}, {len(study.points)} points", work)

    def again(self) -> None:
        self._when_ready(self._again, RUN)

    def _again(self) -> None:
        workspace = self._context.workspace
        if self._last is None or workspace is None:
            self._run()
        elif not self.running:
            last = self._last
            self._context.notices.attempt(lambda: self._start(workspace, last))

    def cancel(self) -> None:
        if self.running:
            self._dock.ask_cancel()

    def _start(self, workspace: Workspace, options: RunOptions) -> None:
        target = workspace.target(options.target)
        if not self._is_trusted(workspace):
            return
        self._last = options
        out = options.out or workspace.next_run_folder()
        self.title = folder_title(out)
        values = [f"{name} {value}" for name, value in workspace.settings(options.settings).items()]
        how = ["plain" if options.plain else "trace on" if options.trace else "profile only"]
        how += ["deterministic"] if options.deterministic else []
        detail = ", ".join((workspace.project.title or workspace.project.name, *values, target.title, *how))
        chosen = replace(options, out=out)
        function = self.run_function
        from workbench.formats.run_folder import RAW  # with the schemas' library, which the first run imports

        self.start_job(self.title, detail, lambda job: function(workspace, chosen, job), out / RAW)
        self._began_s = time.monotonic()

    def _on_finished(self, run: Run | None, cancelled: bool, diagnostics: tuple[Diagnostic, ...]) -> None:
        self._context.study = None
        self._context.runs_changed.emit()
        if self._began_s is not None and not cancelled:
            took_s, problems = time.monotonic() - self._began_s, tuple(self._dock.problems)
            self.ended.emit(EndedRun(self.title, run, took_s, diagnostics, problems))
        if run is not None and run.path is not None:
            self._context.open_run(run.path)
