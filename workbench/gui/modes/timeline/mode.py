"""Timeline mode: the traced run against time, with what A to B holds beside it."""

from collections.abc import Callable

from PySide6.QtCore import QSignalBlocker, QTimer
from PySide6.QtWidgets import QInputDialog, QWidget

from workbench.api.modes import WindowMode
from workbench.api.window import Context, Mode
from workbench.formats.units import UnitError, quantity
from workbench.gui.frame.navigation import Range
from workbench.gui.frame.selection import SelectedBlock, SelectedCall, SelectedFinding, SelectedState
from workbench.gui.modes.timeline.details import TimelineDetails
from workbench.gui.modes.timeline.finding import FindField
from workbench.gui.modes.timeline.path import PathOfRun
from workbench.gui.modes.timeline.run_lists import RunLists
from workbench.gui.modes.timeline.toolbar import TimelineToolbar
from workbench.gui.modes.timeline.view import TimelineView
from workbench.gui.modes.timeline.waves import show_waves
from workbench.gui.widgets import Split, plain_column, rule
from workbench.model.run import PS_PER_S
from workbench.model.text import count_text, counted, time_text
from workbench.pictures.timeline.hits import Hit
from workbench.pictures.timeline.rows import Kind
from workbench.pictures.timeline.scale import duration
from workbench.pictures.timeline.waits import arrows
from workbench.session.keep.timeline_marks import load_markers, load_pinned, save_markers, save_pinned
from workbench.system import store
from workbench.traces.markers import Marker
from workbench.traces.statistics import Statistics
from workbench.traces.trace import CATEGORIES

#: Of the timeline and the lists below it, as far as there is room.
VIEW_PX, LISTS_PX = 560, 240


class TimelineMode(Mode):
    """Shows the context's run against time. `details` is for the dock at the right."""

    def __init__(self, context: Context, kind: WindowMode) -> None:
        super().__init__(context, kind)
        self.setMinimumWidth(480)
        self.view = TimelineView()
        self._said = ""  # what became of the last moment for a waveform viewer
        self.details_panel = self.details = TimelineDetails()
        self.finder = FindField(self.view, context.background, context.failed)
        self.toolbar = TimelineToolbar(self.finder)
        self.path_pill, self.filter, self.state_pills = self.toolbar.path, self.toolbar.filter, self.toolbar.states
        self.lists = RunLists(context, self.view, self.finder, self.toolbar.lists)
        shown = QWidget()
        split = Split((self.view, VIEW_PX), (self.lists, LISTS_PX), vertical=True, kept=(1,))
        plain_column(shown, self.toolbar, rule(), (split, 1))
        self.set_content(shown)
        self._connect_toolbar()
        self._statistics = QTimer(self, singleShot=True, interval=80)
        self._statistics.timeout.connect(self._write_details)
        self.view.marks_changed.connect(self._statistics.start)
        self.view.marks_moved.connect(self._remember_marks)
        self.view.markers_moved.connect(self._remember_markers)
        self.view.pinned_moved.connect(self._remember_pinned)
        self.view.problem.connect(context.notices.tell)
        self.view.work_wanted.connect(self._work)
        self.view.settled.connect(self._write_status)
        self.view.chosen_changed.connect(self._select)
        self.view.line_wanted.connect(self._open_line)
        self.view.range_wanted.connect(self._use_range)
        self.details.range_wanted.connect(self._use_range)
        self.details.cleared.connect(self._clear)
        self.details.site_wanted.connect(lambda site: context.navigation.select(SelectedCall(site)))
        self.details.line_wanted.connect(context.navigation.open_line)
        self.details.finding_wanted.connect(self._show_finding)
        self.path = PathOfRun(context, self)
        self.path.ready.connect(self._path_ready)
        context.run_changed.connect(self._run_changed)
        context.traced.ready.connect(self._scene_built)
        context.traced.failed.connect(self._failed)
        context.navigation.range_changed.connect(self._range_changed)
        context.navigation.selection_changed.connect(self._selection_changed)
        self.setFocusProxy(self.view)
        self._run_changed()

    def _connect_toolbar(self) -> None:
        bar, view = self.toolbar, self.view
        for pill, wanted, shown in (
            (bar.path, view.path_wanted, self._show_causes),
            (bar.waits, view.waits_wanted, self._show_causes),
            (bar.aggregate, view.shares_wanted, self._show_shares),
        ):
            wanted.connect(pill.toggle)
            pill.toggled.connect(shown)
        bar.markers.toggled.connect(lambda on: self._set_flag("show_marks", on))
        bar.messages.toggled.connect(lambda on: self._set_flag("show_messages", on))
        for state in bar.states.values():
            state.toggled.connect(self._fade)
        bar.filter.textChanged.connect(self._filter_rows)
        bar.lists.toggled.connect(self.lists.show_or_hide)
        view.lists_wanted.connect(bar.lists.toggle)
        view.waves_wanted.connect(lambda at_ps: show_waves(self.context, view, self, at_ps, self._waves_shown))

    # ---- from the context

    def _run_changed(self) -> None:
        run = self.context.run
        self.view.set_scene(None)
        if run is None:
            self.show_nothing(*self.kind.nothing, "Run")
        elif not self.context.traced.has_trace:
            why = "It is a profile: it has the time of each state, but not when. A traced run keeps every interval."
            self.show_nothing(f"{run.manifest.name or 'This run'} has no trace", why, "Run with trace")
        else:
            self.show_nothing(
                "Preparing the timeline", f"{count_text(len(run.tables['intervals']['start_ps']))} intervals"
            )
            self.context.traced.ask()
            if self.context.traced.scene is not None:
                self._scene_built()

    def _scene_built(self) -> None:
        scene = self.context.traced.scene
        if scene is None:
            self.show_nothing("This run's trace is empty", "No observed block changed its state.")
            return
        self.view.set_scene(scene)
        markers, problems = load_markers(scene.run)
        self.context.notices.tell(*problems)
        self.view.set_markers(markers)
        self.view.set_pinned(load_pinned(scene.run))
        self.lists.show_scene(scene)
        self.show_content()
        self._show_causes()
        self._range_changed()
        self._selection_changed()
        self._write_details()

    def _failed(self, diagnostics: tuple) -> None:
        self.context.notices.tell(*diagnostics)
        self.show_nothing("The trace could not be read", diagnostics[0].message if diagnostics else "")

    def act(self) -> None:
        if self.context.run is not None:
            store.set_preference("trace", "yes")
        super().act()

    def _range_changed(self) -> None:
        chosen = self.context.navigation.time_range
        if self.view.traced and chosen:
            self.view.set_marks([float(chosen[0]), float(chosen[1])])
            if not (self.view.span.from_ps <= chosen[0] and chosen[1] <= self.view.span.to_ps):
                length = chosen[1] - chosen[0]
                self.view.show_range(chosen[0] - length * 0.1, chosen[1] + length * 0.1)

    def _selection_changed(self) -> None:
        scene, chosen = self.view.traced, self.context.navigation.selection
        blocks: set[str] = set()
        first_s: float | None = None
        if isinstance(chosen, SelectedBlock | SelectedState):
            blocks = {chosen.block}
        elif isinstance(chosen, SelectedFinding) and self.context.analysis:
            for finding in self.context.analysis.findings:
                if finding.id == chosen.finding:
                    blocks, first_s = {finding.block, finding.culprit}, finding.first_s
                    first_s = finding.open_s if first_s is None else first_s
        if scene:
            self.view.chosen_blocks = frozenset(
                n for n, b in enumerate(scene.blocks) if b.id in blocks or b.group in blocks
            )
            self.view.redraw()
            with QSignalBlocker(self.view):  # the finding stays selected
                for number in self.view.chosen_blocks if first_s is not None else ():
                    self.view.show_place(number, Kind.STATES, round((first_s or 0.0) * PS_PER_S) + 1)

    # ---- to the context

    def _select(self) -> None:
        hit, scene = self.view.chosen, self.view.traced
        if hit is None or scene is None:
            return
        if hit.call >= 0:
            self.context.navigation.select(SelectedCall(int(scene.calls[hit.block].site[hit.call])))
        else:
            self.context.navigation.select(SelectedState(scene.blocks[hit.block].id, hit.state))

    def _open_line(self, hit: Hit) -> None:
        if hit.file and hit.line:
            self.context.navigation.open_line(hit.file, hit.line)

    def _use_range(self) -> None:
        if len(self.view.marks) == 2:
            self.context.choose_range(self.view.shown().range_ps())

    def _work(self, work: Callable[[], None]) -> None:
        self.context.background.start("export", work, lambda _: None, self.context.failed)

    def _remember_marks(self, before: tuple[float, ...]) -> None:
        """Ctrl+Z takes a gesture back."""
        show, after = self.view.set_marks, self.view.marks
        self.do("move A and B" if after else "clear A and B", lambda: show(after), lambda: show(before))

    def _remember_markers(self, before: tuple[Marker, ...]) -> None:
        after = self.view.markers

        def show(markers: tuple[Marker, ...]) -> None:
            self.view.set_markers(markers)
            self.lists.marks_changed()
            if scene := self.view.traced:
                self.context.notices.attempt(lambda: save_markers(scene.run, markers))

        what = "set a marker" if len(after) > len(before) else "delete a marker" if len(after) < len(before) else ""
        self.do(what or "change a marker", lambda: show(after), lambda: show(before))

    def _remember_pinned(self, before: tuple[str, ...]) -> None:
        after = self.view.pinned

        def show(names: tuple[str, ...]) -> None:
            if names != self.view.pinned:
                self.view.set_pinned(names)
            if self.view.traced:
                save_pinned(self.view.traced.run, names)

        self.do("pin a row" if len(after) > len(before) else "unpin a row", lambda: show(after), lambda: show(before))

    def _clear(self) -> None:
        marks, chosen = self.view.marks, self.context.navigation.time_range

        def show(marks: tuple[float, ...], chosen: Range | None) -> None:
            self.context.navigation.set_range(chosen)
            self.view.set_marks(marks)

        self.do("clear A and B", lambda: show((), None), lambda: show(marks, chosen))

    def _show_finding(self) -> None:
        if finding := self._stack_finding():
            self.context.navigation.select(SelectedFinding(finding[0]))
            self.context.navigation.set_mode("analyse")

    def _stack_finding(self) -> tuple[str, str] | None:
        """Id and title of the finding with the largest gain on the largest stack of replicas."""
        scene, analysis = self.view.traced, self.context.analysis
        if not scene or not analysis:
            return None
        groups: dict[str, int] = {}
        for block in scene.blocks:
            groups[block.group] = groups.get(block.group, 0) + 1
        stack = max(groups, key=lambda g: groups[g])
        members = {b.id for b in scene.blocks if b.group == stack} | {stack}
        findings = [f for f in analysis.findings if f.block in members]
        best = max(findings, key=lambda f: f.gain, default=None)
        return (best.id, best.title) if best else None

    def find_here(self) -> bool:
        if self.view.traced is not None:
            self.finder.setFocus()
            self.finder.selectAll()
        return self.view.traced is not None

    goes_to = "time"
    shows_range = True

    def ask_where(self) -> None:
        scene, text = self.view.traced, ""
        if scene is None:
            return
        said = f"A time of the run, up to {time_text(scene.index.end_ps / PS_PER_S)}, with its unit"
        while True:
            text, given = QInputDialog.getText(self, "Go to a time", said, text=text)
            if not given:
                return
            try:
                self.view.go_to(quantity(text, "s") * PS_PER_S)
            except UnitError as error:
                said = str(error)
            else:
                return

    # ---- toolbar, details, status

    def _show_causes(self) -> None:
        """The critical path and the arrows of waits, as far as they are wanted; both come from the replay."""
        wanted = self.toolbar.path.isChecked() or self.toolbar.waits.isChecked()
        if not wanted:
            self.view.show_causes(None, line=False, waits=False)
        elif self.path.path or self.path.why:
            self._path_ready()
        elif self.view.traced:
            self.path.ask()
        self._write_details()

    def _path_ready(self) -> None:
        line, waits = self.toolbar.path.isChecked(), self.toolbar.waits.isChecked()
        if (line or waits) and self.view.traced:
            self.view.show_causes(self.path.path, line=line, waits=waits)
            self._write_details()
            self._write_status()

    def _waves_shown(self, what: str) -> None:
        self._said = what
        self._write_status()

    def _show_shares(self, on: bool) -> None:
        self.view.aggregate = on
        self.view.choose(None)
        self.view.refresh()
        self._write_status()

    def _set_flag(self, name: str, on: bool) -> None:
        setattr(self.view, name, on)
        self.view.redraw()

    def _fade(self) -> None:
        lit = {kind.value for kind, pill in self.state_pills.items() if pill.isChecked()}
        self.view.faded = frozenset(n for n, name in enumerate(CATEGORIES) if lit and name not in lit)
        self.view.redraw()

    def _filter_rows(self, text: str) -> None:
        self.view.filter = text.strip()
        self.view.refresh()

    def _write_details(self) -> None:
        if self.view.traced:
            self.context.traced.count("timeline", *self.view.shown().range_ps(), self._show_statistics)
            self.lists.count()

    def _show_statistics(self, statistics: Statistics) -> None:
        if self.view.traced:
            self.details.path = self.view.path if self.view.show_path else None
            marked, finding = len(self.view.marks) == 2, self._stack_finding()
            title = ("Selection", "A to B") if marked else ("Whole run", "press M to set A and B")
            self.details.show_statistics(self.view.traced, statistics, marked, title, finding[1] if finding else "")

    def _path_words(self) -> tuple[str, ...]:
        if not (self.toolbar.path.isChecked() or self.toolbar.waits.isChecked()):
            return ()
        if self.path.why:
            return (f"causes of waits are unknown: {self.path.why}",)
        if self.path.path is None:
            return ()
        drawn, waits = arrows(self.view.shown()) if self.toolbar.waits.isChecked() else ([], 0)
        some = (f"{counted(waits, 'wait')} in view: zoom in for their arrows",) if waits and not drawn else ()
        return (*some, f"critical path of {counted(len(self.path.path.steps), 'part')}")

    def _write_status(self) -> None:
        scene = self.view.traced
        if scene:
            rows = (*self.view.lines, *self.view.pinned_lines)
            blocks = sum(1 for row in rows if row.kind in ("states", "shares"))
            self.say_status(
                f"{counted(scene.index.trace.intervals, 'interval')}, {counted(blocks, 'row')}",
                f"{time_text(self.view.span.pixel_ps * self.view.span.width / PS_PER_S)} in view",
                f"1 px = {duration(self.view.span.pixel_ps, 3)}",
                *((self._said,) if self._said else ()),
                *self._path_words(),
            )
