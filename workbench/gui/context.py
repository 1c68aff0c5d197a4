"""What every view shares: the open project, its scan, the run shown, one selection, one range of time."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Signal

from workbench.gui.background import Background
from workbench.gui.naming import range_title
from workbench.gui.open_documents import OpenDocuments
from workbench.gui.places import Place, Places, Range
from workbench.gui.selection import Selection, place_of
from workbench.model.diagnostic import Diagnostic, Severity, WorkbenchError
from workbench.session import recent, store
from workbench.session.aside import load_aside, save_aside
from workbench.session.documents import Document
from workbench.session.history import Command, History
from workbench.session.plugins import Plugins
from workbench.session.results import OpenRun, newest_run, open_knowledge, open_result
from workbench.session.trust import Standing, standing
from workbench.session.workspace import Workspace, open_workspace

if TYPE_CHECKING:
    from workbench.analysis import Analysis, KnowledgeBase
    from workbench.model.platform import Platform
    from workbench.model.run import Run
    from workbench.model.scan import ProjectScan

MODES = ("source", "analyse", "timeline", "compare", "platform", "predict")


class Context(QObject):
    """The shared state of a window. Views read it, call its methods, and follow its signals; it knows no view.

    `time_range` is picoseconds from the run's start (first, last), or None for the whole run.
    """

    workspace_changed = Signal()
    scan_changed = Signal()
    run_changed = Signal()  # `opened`, `run` and `analysis` changed together
    analysis_changed = Signal()  # after that, and where another range was analysed
    aside_changed = Signal()
    runs_changed = Signal()  # the project's run folders
    selection_changed = Signal()
    range_changed = Signal()
    mode_changed = Signal(str)
    places_changed = Signal()
    theme_changed = Signal()
    open_line_requested = Signal(str, int)
    template_requested = Signal(object)  # a Path, to be shown in Platform mode
    history_changed = Signal()
    notices_changed = Signal()
    status_changed = Signal()
    run_requested = Signal()
    running_changed = Signal()  # a run began or ended

    def __init__(self, plugins: Plugins, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.plugins = plugins
        self.background = Background(self)
        self.history = History(self.history_changed.emit)  # of what is no document: ranges, findings set aside
        self.documents = OpenDocuments(self.notify, lambda: self.workspace.path if self.workspace else None, self)
        self.documents.saved.connect(self._saved)
        self.workspace: Workspace | None = None
        self._stamps: dict[Path, str] = {}
        self._when_current: list[Callable[[], None]] = []
        self.scan: ProjectScan | None = None
        self.opened: OpenRun | None = None
        self.notices = self.plugins.problems
        self.mode = "source"
        self.running = False
        self.trusted = True  # whether the project may be run without a question, as it stood when it was last read
        self.selection: Selection | None = None
        self.time_range: Range | None = None
        self.aside: frozenset[str] = frozenset()  # ids of the findings set aside
        self.shown_range: Range | None = None  # what `analysis` is of: `time_range`, once it was analysed
        self._ranged: Analysis | None = None
        self.status: dict[str, tuple[str, ...]] = {}
        self._knowledge: KnowledgeBase | None = None
        self._extra_runs: tuple[Path, ...] = ()
        self._places = Places()
        self._moving = False

    # ---- documents

    @property
    def run(self) -> Run | None:
        return self.opened.run if self.opened else None

    @property
    def analysis(self) -> Analysis | None:
        """Of the range that is chosen, or of the whole run."""
        return self._ranged or (self.opened.analysis if self.opened else None)

    @property
    def platform(self) -> Platform | None:
        """The open project's platform, or else the one the run was made on."""
        if self.workspace:
            return self.workspace.platform
        return self.opened.platform if self.opened else None

    @property
    def knowledge(self) -> KnowledgeBase:
        """Every plugin's rules and reasons, read once."""
        if self.opened:
            return self.opened.knowledge
        if self._knowledge is None:
            self._knowledge, problems = open_knowledge(self.plugins)
            self.notify(*problems)
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
            workspace = open_workspace(path, self.plugins)
            return workspace, newest_run(workspace)

        def done(found: tuple[Workspace, Path | None]) -> None:
            workspace, newest = found
            if not self.documents.may_leave():
                return
            recent.remember(workspace.path)
            self.close()
            self._extra_runs = tuple(runs)
            self.set_workspace(workspace)
            if first := next(iter(runs), newest):
                self.open_run(first)
            then()

        self.background.start("workspace", work, done, self._failed)

    def set_workspace(self, workspace: Workspace) -> None:
        """Show a project that is open already, and read its sources."""
        self.workspace, self.scan = workspace, None
        self._stamps = workspace.stamps()
        self.notify(*workspace.diagnostics)
        self.workspace_changed.emit()
        self.runs_changed.emit()
        self.rescan()

    def when_current(self, then: Callable[[], None] = lambda: None) -> None:
        """Call `then` with the project as its files say it: at once, or when those that changed were read again."""
        workspace = self.workspace
        if workspace is None:
            return
        if workspace.stamps() == self._stamps:
            then()
            return
        self._when_current.append(then)
        if len(self._when_current) > 1:
            return

        def done(found: Workspace) -> None:
            waiting, self._when_current = self._when_current, []
            if self.workspace is not None and self.workspace.path == found.path:
                self.set_workspace(found)
                for call in waiting:
                    self.when_current(call)

        def failed(diagnostics: tuple[Diagnostic, ...]) -> None:
            self._when_current = []
            self.notify(*diagnostics)

        self.background.start("reload", lambda: open_workspace(workspace.path, self.plugins), done, failed)

    def _saved(self, document: Document) -> None:
        if document.path in self._stamps:
            self.when_current()
        elif document.kind == "source":
            self.rescan()

    def leave(self) -> None:
        """Close the project, if nothing unsaved stands against it."""
        if self.documents.may_leave():
            self.close()

    def close(self) -> None:
        """Forget project, run and selection; notices that spoke of them go too."""
        self.workspace, self.scan, self.opened, self.trusted = None, None, None, True
        self.selection, self.time_range, self._extra_runs = None, None, ()
        self.shown_range, self._ranged = None, None
        self.notices = self.plugins.problems
        self._places = Places()
        self.history.clear()
        for signal in (
            self.workspace_changed,
            self.scan_changed,
            self.run_changed,
            self.analysis_changed,
            self.selection_changed,
            self.range_changed,
            self.places_changed,
            self.history_changed,
            self.notices_changed,
        ):
            signal.emit()

    def rescan(self) -> None:
        """Read the project's sources again, in the background."""
        workspace = self.workspace
        if workspace is not None:
            self.background.start("scan", workspace.scan, partial(self._scanned, workspace), self._failed)

            def stands(found: Standing) -> None:
                if self.workspace is workspace:
                    self.set_trusted(found.trusted)

            self.background.start("trust", lambda: standing(workspace), stands, self._failed)

    def set_trusted(self, trusted: bool) -> None:
        self.trusted = trusted
        self.status_changed.emit()

    def _scanned(self, workspace: Workspace, scan: ProjectScan) -> None:
        if workspace is self.workspace:
            self.scan = scan
            self.scan_changed.emit()
            self.notices_changed.emit()

    def open_run(self, path: Path) -> None:
        """Open and analyse a run folder in the background, then show it."""
        self.background.start("run", lambda: open_result(path, self.plugins), self.set_run, self._failed)

    def set_run(self, opened: OpenRun | None) -> None:
        """Show a run that is open already; None shows no run."""
        self.opened = opened
        self.selection, self.time_range, self.shown_range, self._ranged = None, None, None, None
        self.aside = load_aside(opened.run) if opened else frozenset()
        self.history.clear()
        if opened:
            self.notify(*opened.diagnostics)
        self.run_changed.emit()
        self.analysis_changed.emit()
        self.selection_changed.emit()
        self.range_changed.emit()

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
        root = self.root()
        return Path(file) if root is None else root / file

    def same_file(self, one: str, other: str) -> bool:
        return one == other or self.resolve(one) == self.resolve(other)

    # ---- where one is

    def set_mode(self, mode: str) -> None:
        if mode != self.mode:
            self.mode = mode
            self.mode_changed.emit(mode)
            self._remember()

    def select(self, selection: Selection | None) -> None:
        if selection != self.selection:
            self.selection = selection
            self.selection_changed.emit()
            self._remember()

    def set_range(self, time_range: Range | None) -> None:
        """Look at a part of the run, or at the whole; its figures come as soon as they are found."""
        if time_range == self.time_range:
            return
        self.time_range = time_range
        self.range_changed.emit()
        self._remember()
        opened = self.opened
        if opened is None:
            return
        if time_range is None:
            self._show_analysis(None, None)
            return

        def work() -> Analysis:
            from workbench.session.time_range import narrowed  # with numpy, which a window starts without

            return narrowed(opened, *time_range).analysis

        self.background.start("range", work, lambda found: self._show_analysis(time_range, found), self._failed)

    def _show_analysis(self, time_range: Range | None, found: Analysis | None) -> None:
        if time_range == self.time_range and found is not self._ranged:
            self._ranged, self.shown_range = found, time_range
            self.analysis_changed.emit()

    def choose_range(self, time_range: Range | None) -> None:
        """As `set_range`, by a step that Ctrl+Z takes back."""
        before = self.time_range
        if time_range != before:
            name = f"use {range_title(time_range)}" if time_range else "use the whole run"
            self.do(Command(name, lambda: self.set_range(time_range), lambda: self.set_range(before)))

    def set_aside(self, finding: str) -> None:
        """Put a finding aside, or take it back, by a step that Ctrl+Z takes back."""
        before, after = self.aside, self.aside ^ {finding}
        name = "set a finding aside" if finding in after else "take a finding back"
        self.do(Command(name, lambda: self._set_aside(after), lambda: self._set_aside(before)))

    def _set_aside(self, findings: frozenset[str]) -> None:
        self.aside = findings
        if self.run is not None:
            save_aside(self.run, findings)
        self.aside_changed.emit()

    def open_line(self, file: str, line: int) -> None:
        """Show a line of source, in Source mode."""
        self.set_mode("source")
        self.open_line_requested.emit(str(self.resolve(file)), line)

    @property
    def can_go_back(self) -> bool:
        return self._places.can_go_back

    @property
    def can_go_forward(self) -> bool:
        return self._places.can_go_forward

    def back(self) -> None:
        self._go(-1)

    def forward(self) -> None:
        self._go(1)

    def _remember(self) -> None:
        if not self._moving and self._places.remember(Place(self.mode, self.selection, self.time_range)):
            self.places_changed.emit()

    def _go(self, step: int) -> None:
        place = self._places.go(step)
        if place is None:
            return
        self._moving = True
        self.set_mode(place.mode)
        self.select(place.selection)
        self.set_range(place.time_range)
        self._moving = False
        self.places_changed.emit()

    def selected_place(self) -> tuple[str, int] | None:
        """File and line of what is selected, where it has one."""
        return place_of(self.selection, self.run, self.analysis)

    # ---- changes, notices, preferences

    def do(self, command: Command) -> bool:
        """Make a change that Ctrl+Z takes back. False, with a notice, where it could not be made."""
        return self.attempt(lambda: self.history.do(command))

    def attempt(self, action: Callable[[], None]) -> bool:
        """Do something. False, with a notice, where it could not be done."""
        try:
            action()
        except WorkbenchError as error:
            self.notify(*error.diagnostics)
            return False
        return True

    def notify(self, *diagnostics: Diagnostic) -> None:
        """Show diagnostics among the notices; one that is there already is not repeated."""
        new = tuple(d for d in dict.fromkeys(diagnostics) if d not in self.notices)
        if new:
            self.notices += new
            self.notices_changed.emit()

    def dismiss(self, diagnostic: Diagnostic) -> None:
        self.notices = tuple(d for d in self.notices if d != diagnostic)
        self.notices_changed.emit()

    def problems(self) -> tuple[Diagnostic, ...]:
        """All that is wrong now: notices, and what the scan of the sources found."""
        found = self.scan.diagnostics if self.scan else ()
        return tuple(dict.fromkeys((*self.notices, *(d for d in found if d.severity is not Severity.NOTE))))

    def set_status(self, mode: str, *parts: str) -> None:
        """What the status bar adds while `mode` is shown."""
        if self.status.get(mode) != parts:
            self.status[mode] = parts
            self.status_changed.emit()

    def preference(self, name: str, default: str) -> str:
        return str(store.load("window", {}).get(name, default))

    def set_preference(self, name: str, value: str) -> None:
        store.save("window", {**store.load("window", {}), name: value})

    def set_running(self, running: bool) -> None:
        """Tell the views that a run is under way: what they show is of the run before."""
        if running != self.running:
            self.running = running
            self.running_changed.emit()

    def _failed(self, diagnostics: tuple[Diagnostic, ...]) -> None:
        self.notify(*diagnostics)

    def shut_down(self) -> None:
        """Wait for the threads before the window goes."""
        with suppress(RuntimeError):
            self.background.shut_down(5_000)
