"""The state that all views share: the open project, its scan, the open run and its derived results."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from functools import cache, partial
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Signal

from workbench.gui.frame.naming import file_path, range_title
from workbench.gui.frame.navigation import Navigation, Range
from workbench.gui.frame.notices import Notices
from workbench.gui.frame.selection import place_of
from workbench.gui.open.open_documents import OpenDocuments
from workbench.gui.run.background import Background, Code, Slices
from workbench.gui.run.traced_run import TracedRun
from workbench.model.diagnostic import Diagnostic, Severity
from workbench.session.edit.documents import Document
from workbench.session.edit.history import History, HistoryStep
from workbench.session.keep.aside import load_aside, save_aside
from workbench.session.keep.results import OpenRun, newest_run, open_knowledge, open_result, predicted
from workbench.session.open import recent
from workbench.session.open.opening import open_workspace
from workbench.session.open.project_files import file_named
from workbench.session.open.trust import TrustState, trust_state
from workbench.session.open.workspace import Workspace
from workbench.session.program.plugins import Plugins
from workbench.session.program.settings import value

if TYPE_CHECKING:
    from workbench.analysis import Analysis, KnowledgeBase
    from workbench.api.job import Job
    from workbench.model.platform import Platform
    from workbench.model.run import Run
    from workbench.model.scan import ProjectScan
    from workbench.replay.predict import Replayed


class Context(QObject):
    """What a window has open: a project with its scan, a run with its analysis. Views read it and follow its signals;
    it knows no view. Beside it are what is edited (`documents`), where one is (`navigation`) and what is reported
    (`notices`).

    Promised to plugins: `run`, `analysis`, `platform`, `notices`, `run_changed`, `analysis_changed`,
    `aside_changed`, `running_changed`.
    """

    workspace_changed = Signal()
    scan_changed = Signal()
    run_changed = Signal()  # `opened`, `run` and `analysis` changed together
    analysis_changed = Signal()  # after that, and where another range was analysed
    predictions_changed = Signal()  # what the findings' advice gains was predicted
    aside_changed = Signal()
    runs_changed = Signal()  # the project's run folders
    code_font_changed = Signal()
    history_changed = Signal()
    trust_changed = Signal()
    run_requested = Signal()
    running_changed = Signal()  # a run began or ended
    study_requested = Signal(object, bool)  # of a study's file: run its points, those that failed too or not
    pause_requested = Signal()  # of the study that runs
    study_changed = Signal()  # a point of a study that runs was measured, or begun

    def __init__(self, plugins: Plugins, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.plugins = plugins
        self.background = Background(self)
        self.slices = Slices(self.background, self)
        self.code = Code(self.background, self.slices)
        self.notices = Notices(plugins.problems, self)
        self.navigation = Navigation(self)
        self.traced = TracedRun(self.background, self)
        self.history = History(self.history_changed.emit)  # of what is no document: ranges, findings set aside
        self.background.succeeded.connect(lambda key: self.notices.keep(f"work {key}"))
        self.documents = OpenDocuments(self.notices, lambda: self.workspace.path if self.workspace else None, self)
        self.documents.saved.connect(self._saved)
        self.navigation.range_changed.connect(self._analyse_range)
        self.workspace: Workspace | None = None
        self.is_changing_project = False  # while one takes the place of another
        self.times_closed = 0
        self._stamps: dict[Path, str] = {}
        self._when_current: list[Callable[[], None]] = []
        self.scan: ProjectScan | None = None
        self.source_problems: tuple[Diagnostic, ...] = ()  # of the sources as they are saved, or typed since
        self.opened: OpenRun | None = None
        self.running = self.replacing = False  # and whether what runs will be shown: a study's runs are not
        self.study: Path | None = None  # the file of the one whose points are being run
        self.trusted = True  # whether the project may be run without a question, as it was when it was last read
        self.aside: frozenset[str] = frozenset()  # ids of the findings set aside
        self.shown_range: Range | None = None  # what `analysis` is of: the range, once it was analysed
        self._ranged: Analysis | None = None
        self.replayed: Replayed | None = None  # the run that is open, once it was made ready for predictions
        self._knowledge: KnowledgeBase | None = None
        self._extra_runs: tuple[Path, ...] = ()

    @property
    def run(self) -> Run | None:
        return self.opened.run if self.opened else None

    @property
    def analysis(self) -> Analysis | None:
        """The analysis of the chosen range, or of the whole run."""
        return self._ranged or (self.opened.analysis if self.opened else None)

    @property
    def platform(self) -> Platform | None:
        """The open project's platform, or else the one the run was made on."""
        if self.workspace:
            return self.workspace.platform
        return self.opened.platform if self.opened else None

    @property
    def knowledge(self) -> KnowledgeBase:
        """Every plugin's rules and reasons and the project's, read once."""
        if self.opened:
            return self.opened.knowledge
        if self._knowledge is None:
            self._knowledge, problems = open_knowledge(self.plugins, self.workspace.path if self.workspace else None)
            self.notices.tell(*problems)
        return self._knowledge

    def open_path(self, path: Path) -> None:
        """Open a run folder or a project, whichever it is."""
        if (path / "manifest.json").is_file():
            self.open_run(path)
        else:
            self.open_project(path)

    def open_project(self, path: Path, then: Callable[[], None] = lambda: None, runs: Sequence[Path] = ()) -> None:
        """Open a project, then the first of `runs`, or else its newest run if it has one.

        What is unsaved is asked about when the project could be read; the one that is open may stay.
        """

        def work() -> tuple[Workspace, Path | None]:
            workspace = open_workspace(path, self.plugins, faulty=True)
            return workspace, newest_run(workspace)

        def done(opened: tuple[Workspace, Path | None]) -> None:
            workspace, newest = opened
            if not self.documents.may_leave():
                return
            recent.remember(workspace.path)
            self.is_changing_project = True
            try:
                self.close()
                self._extra_runs = tuple(runs)
                if first := next(iter(runs), newest):
                    self.open_run(first, workspace.path)
                self.set_workspace(workspace)
            finally:
                self.is_changing_project = False
            then()

        self.background.start("workspace", work, done, self.failed)

    def set_workspace(self, workspace: Workspace, stamps: Mapping[Path, str] | None = None) -> None:
        """Show a project that is open already, and read its sources. `stamps` are those of its documents from before
        they were read: one that was written meanwhile is read again."""
        if self.workspace is None or self.workspace.path != workspace.path:
            self._knowledge = None
        self.workspace, self.scan, self.source_problems = workspace, None, ()
        now, before = workspace.stamps(), stamps or {}
        self._stamps = {path: before.get(path, stamp) for path, stamp in now.items()}
        self.notices.keep("project", *workspace.diagnostics)
        self.workspace_changed.emit()
        self.runs_changed.emit()
        self.rescan()

    def when_current(self, then: Callable[[], None] = lambda: None) -> None:
        """Call `then` with the project as its files say it: at once, or when those that changed were read again."""
        workspace = self.workspace
        if workspace is None:
            return
        if workspace.stamps() == self._stamps:
            self.notices.keep("work reload")  # its files hold again what was read from them
            then()
            return
        self._when_current.append(then)
        if len(self._when_current) > 1:
            return

        stamps = workspace.stamps()

        def done(workspace: Workspace) -> None:
            waiting, self._when_current = self._when_current, []
            if self.workspace is not None and self.workspace.path == workspace.path:
                self.set_workspace(workspace, stamps)
                for call in waiting:
                    self.when_current(call)

        def failed(diagnostics: tuple[Diagnostic, ...]) -> None:
            self._when_current = []
            self.failed(diagnostics)

        self.background.start("reload", lambda: open_workspace(workspace.path, self.plugins, faulty=True), done, failed)

    def _saved(self, document: Document) -> None:
        if document.path in self._stamps:
            self.when_current()
        elif document.kind == "source":
            self.rescan()

    def leave(self) -> None:
        """Close the project, unless something unsaved prevents it."""
        if self.documents.may_leave():
            self.close()

    def close(self) -> None:
        """Forget project, run and selection; notices that spoke of them go too."""
        self.times_closed += 1
        self.workspace, self.scan, self.opened, self.trusted = None, None, None, True
        self.source_problems = ()
        self.shown_range, self._ranged, self._extra_runs = None, None, ()
        self.history.clear()
        self.navigation.forget()
        self.traced.show(None)
        for signal in (self.workspace_changed, self.scan_changed, self.run_changed, self.analysis_changed):
            signal.emit()
        self.notices.clear()

    def rescan(self) -> None:
        """Read the project's sources again, in the background."""
        workspace = self.workspace
        if workspace is not None:
            self.background.start_job(
                "scan", lambda job: workspace.scan(job=job), partial(self._scanned, workspace), self.failed
            )
            self.look_at_trust()

    def look_at_trust(self) -> None:
        """Find out whether the project may be run without a question."""
        workspace = self.workspace
        if workspace is not None:
            self.background.start(
                "trust", lambda: trust_state(workspace), partial(self._stands, workspace), self.failed
            )

    def _stands(self, workspace: Workspace, state: TrustState) -> None:
        if workspace is self.workspace:
            self.set_trusted(state.trusted)

    def stop_scan(self) -> None:
        """Read the sources no further: what they hold is not known until they are read again."""
        self.background.cancel("scan")
        hint = "Use Run > Read the sources again."
        self.notices.tell(Diagnostic("reading the sources was stopped", hint, Severity.NOTE))

    def set_trusted(self, trusted: bool) -> None:
        self.trusted = trusted
        self.trust_changed.emit()

    def _scanned(self, workspace: Workspace, scan: ProjectScan) -> None:
        if workspace is self.workspace:
            self.scan, self.source_problems = scan, scan.diagnostics
            self.scan_changed.emit()

    def open_run(self, path: Path, project: Path | None = None) -> None:
        """Open and analyse a run folder in the background, by the rules of a project or of the open one."""
        project = project or (self.workspace.path if self.workspace else None)
        work = partial(open_result, path, self.plugins, project=project)
        self.background.start("run", work, self.set_run, self.failed)

    def take_rules(self, opened: OpenRun) -> None:
        """Show the open run as it is by other rules."""
        self.opened, self._ranged, self.shown_range = opened, None, None
        self.notices.keep("run", *opened.diagnostics, *opened.analysis.diagnostics)
        self.analysis_changed.emit()
        self._analyse_range()
        self.predict()

    def set_run(self, opened: OpenRun | None) -> None:
        """Show a run that is open already; None shows no run."""
        self.shown_range, self._ranged = None, None
        self.navigation.look_at_all()
        self.opened = opened
        self.aside = load_aside(opened.run) if opened else frozenset()
        self.history.clear()
        self.notices.keep("run", *((*opened.diagnostics, *opened.analysis.diagnostics) if opened else ()))
        self.traced.show(self.run)
        self.replayed = None
        self.run_changed.emit()
        self.analysis_changed.emit()
        self.predict()

    def predict(self, seconds: float | None = None) -> None:
        """Predict, in the background, what the findings' advice gains, in so much processor time; else as set."""
        opened, budget_s = self.opened, float(value("predict_s")) if seconds is None else seconds

        def work(job: Job) -> tuple[OpenRun, Replayed]:
            assert opened is not None
            with job.step("Predict"):
                return predicted(opened, budget_s, job)

        def done(answer: tuple[OpenRun, Replayed]) -> None:
            if opened is not None and opened is self.opened:
                self.opened, self.replayed = answer
                self.predictions_changed.emit()

        if opened and opened.analysis.predictable and budget_s > 0:
            self.background.start_job("predict", work, done, self.failed)

    def run_folders(self) -> tuple[Path, ...]:
        """The runs that can be shown or compared, oldest first: the project's, and those it was opened with."""
        own = self.workspace.run_folders() if self.workspace else ()
        shown = (self.run.path,) if self.run and self.run.path else ()
        return tuple(dict.fromkeys((*self._extra_runs, *own, *shown)))

    def root(self) -> Path | None:
        """The folder that file names of scan and run are relative to."""
        return self.workspace.root if self.workspace else None

    def resolve(self, file: str) -> Path:
        """A file as scan, run or finding names it, as a path."""
        return file_path(self.root(), file)

    def open_named(self, name: str, line: int) -> None:
        """Show a line of the project's file that a tool's message names."""
        if (path := file_named(self.workspace, name) if self.workspace else None) is not None:
            self.navigation.open_line(str(path), line)
        else:
            self.notices.tell(Diagnostic(f"no file of the project is named {name}", severity=Severity.NOTE))

    def is_file(self, path: Path) -> Callable[[str], bool]:
        """Says of a file as scan, run or finding names it whether it is this one; each name is looked at once."""
        root, path = self.root(), file_path(self.root(), str(path))
        return cache(lambda name: file_path(root, name) == path)

    # ---- ranges of time, findings set aside

    def _analyse_range(self) -> None:
        """The figures of the range that is looked at come as soon as they are found."""
        time_range, opened = self.navigation.time_range, self.opened
        if opened is None:
            return
        if time_range is None:
            self._show_analysis(None, None)
            return

        def work() -> Analysis:
            from workbench.session.keep.time_range import narrowed  # with numpy, which a window starts without

            return narrowed(opened, *time_range).analysis

        self.background.start("range", work, lambda analysis: self._show_analysis(time_range, analysis), self.failed)

    def _show_analysis(self, time_range: Range | None, analysis: Analysis | None) -> None:
        if time_range == self.navigation.time_range and analysis is not self._ranged:
            self._ranged, self.shown_range = analysis, time_range
            self.analysis_changed.emit()

    def choose_range(self, time_range: Range | None) -> None:
        """Set the range, as `Navigation.set_range`, by a step that Ctrl+Z undoes."""
        before, show = self.navigation.time_range, self.navigation.set_range
        if time_range != before:
            name = f"use {range_title(time_range)}" if time_range else "use the whole run"
            self.do(HistoryStep(name, lambda: show(time_range), lambda: show(before)))

    def set_aside(self, finding: str) -> None:
        """Put a finding aside, or take it back, by a step that Ctrl+Z takes back."""
        before, after = self.aside, self.aside ^ {finding}
        name = "set a finding aside" if finding in after else "restore a finding"
        self.do(HistoryStep(name, lambda: self._set_aside(after), lambda: self._set_aside(before)))

    def _set_aside(self, findings: frozenset[str]) -> None:
        self.aside = findings
        if self.run is not None:
            save_aside(self.run, findings)
        self.aside_changed.emit()

    def selected_place(self) -> tuple[str, int] | None:
        """File and line of what is selected, where it has one."""
        return place_of(self.navigation.selection, self.run, self.analysis)

    def do(self, command: HistoryStep) -> bool:
        """Make a change that Ctrl+Z takes back. False, with a notice, where it could not be made."""
        return self.notices.attempt(lambda: self.history.do(command))

    def problems(self) -> tuple[Diagnostic, ...]:
        """All that is wrong now: notices, and what the scan of the sources found."""
        shown = (d for d in self.source_problems if d.severity is not Severity.NOTE)
        return tuple(dict.fromkeys((*self.notices, *shown)))

    def set_running(self, running: bool) -> None:
        """Tell the views that a run is under way: what they show is of the run before."""
        if running != self.running:
            self.running, self.replacing = running, running and self.study is None
            self.running_changed.emit()

    def failed(self, diagnostics: tuple[Diagnostic, ...]) -> None:
        """Tell what stopped a piece of work in the background, until the same work succeeds."""
        self.notices.keep(f"work {self.background.delivered}", *diagnostics)

    def shut_down(self) -> None:
        """Wait for the threads before the window goes."""
        with suppress(RuntimeError):
            self.background.shut_down(5_000)
