"""Timeline mode: the traced run against time, with what A to B holds beside it."""

from collections.abc import Callable

from PySide6.QtCore import QTimer
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QInputDialog, QWidget

from workbench.api.modes import WindowMode
from workbench.api.window import Context, Mode, set_ground
from workbench.formats.units import UnitError, quantity
from workbench.gui.frame.navigation import Range
from workbench.gui.frame.selection import SelectedBlock, SelectedCall, SelectedFinding, SelectedState
from workbench.gui.modes.timeline.details import TimelineDetails
from workbench.gui.modes.timeline.finding import FindField
from workbench.gui.modes.timeline.path import PathOfRun
from workbench.gui.modes.timeline.view import TimelineView
from workbench.gui.widgets import PillButton, SignField, plain_column, rule
from workbench.gui.widgets.boxes import row_layout
from workbench.model.pragma import Category
from workbench.model.run import PS_PER_S
from workbench.model.text import count_text, counted, time_text
from workbench.pictures.timeline.hits import Hit
from workbench.pictures.timeline.scale import duration
from workbench.session.program.keys import with_key
from workbench.system import store
from workbench.traces.statistics import Statistics
from workbench.traces.trace import CATEGORIES

#: Narrower than this the pills of the toolbar show their signs only.
NAMES_FROM_PX = 1000


class TimelineMode(Mode):
    """Shows the context's run against time. `details` is for the dock at the right."""

    def __init__(self, context: Context, kind: WindowMode) -> None:
        super().__init__(context, kind)
        self.setMinimumWidth(420)
        self.view = TimelineView()
        self.details_panel = self.details = TimelineDetails()
        shown = QWidget()
        plain_column(shown, self._toolbar(), rule(), (self.view, 1))
        self.set_content(shown)
        self._statistics = QTimer(self, singleShot=True, interval=80)
        self._statistics.timeout.connect(self._write_details)
        self.view.marks_changed.connect(self._statistics.start)
        self.view.marks_moved.connect(self._remember_marks)
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
        self.view.path_wanted.connect(self.path_pill.toggle)
        self.path = PathOfRun(context, self)
        self.path.ready.connect(self._path_ready)
        context.run_changed.connect(self._run_changed)
        context.traced.ready.connect(self._scene_built)
        context.traced.failed.connect(self._failed)
        context.navigation.range_changed.connect(self._range_changed)
        context.navigation.selection_changed.connect(self._selection_changed)
        self.setFocusProxy(self.view)
        self._run_changed()

    def _toolbar(self) -> QWidget:
        bar = QWidget()
        set_ground(bar, "panel")
        bar.setFixedHeight(40)
        self.path_pill = PillButton("Critical path", icon_name="trending-up")
        self.path_pill.setToolTip(with_key("What determined the run's end, and what has slack", "view_path"))
        self.path_pill.toggled.connect(self._toggle_path)
        row = row_layout(self.path_pill, of=bar, margins=(16, 0, 16, 0), spacing=6)
        self.markers = markers = PillButton("Markers", icon_name="ruler", checked=True)
        markers.setToolTip("Show markers A and B and dim the rest (M sets them)")
        markers.toggled.connect(lambda on: self._set_flag("show_marks", on))
        self.messages = messages = PillButton("Messages", icon_name="arrow-left-right", checked=True)
        messages.setToolTip("Draw the messages of the chosen calls")
        messages.toggled.connect(lambda on: self._set_flag("show_messages", on))
        row.addWidget(markers)
        row.addWidget(messages)
        row.addSpacing(10)
        row.addWidget(rule(vertical=True))
        row.addSpacing(10)
        self.state_pills: dict[Category, PillButton] = {}
        for kind in Category:
            pill = PillButton(kind.value, category=kind, swatch=True)
            pill.setToolTip(f"Highlight {kind.value}; several can be chosen")
            pill.toggled.connect(self._fade)
            self.state_pills[kind] = pill
            row.addWidget(pill)
        row.addStretch(1)
        self.filter = SignField("funnel", "Filter rows")
        self.filter.setMinimumWidth(110)
        self.filter.setMaximumWidth(180)
        self.filter.textChanged.connect(self._filter_rows)
        self.finder = FindField(self.view, self.context.background, self.context.failed)
        row.addWidget(self.finder)
        row.addWidget(self.filter)
        return bar

    # ---- from the context

    def _run_changed(self) -> None:
        run = self.context.run
        self.view.set_scene(None)
        if run is None:
            self.show_nothing(*self.kind.nothing, "Run")
        elif not self.context.traced.has_trace:
            why = (
                "It was profiled only: it knows how much time each state took, and not when. "
                "A traced run keeps every interval."
            )
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
        self.show_content()
        self._toggle_path(self.path_pill.isChecked())
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
        if isinstance(chosen, SelectedBlock | SelectedState):
            blocks = {chosen.block}
        elif isinstance(chosen, SelectedFinding) and self.context.analysis:
            for finding in self.context.analysis.findings:
                if finding.id == chosen.finding:
                    blocks = {finding.block, finding.culprit}
        if scene:
            self.view.chosen_blocks = frozenset(
                n for n, b in enumerate(scene.blocks) if b.id in blocks or b.group in blocks
            )
            self.view.redraw()

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        wide = event.size().width() >= NAMES_FROM_PX
        for kind, pill in self.state_pills.items():
            pill.setText(kind.value if wide else "")
        self.path_pill.setText("Critical path" if wide else "")
        self.markers.setText("Markers" if wide else "")
        self.messages.setText("Messages" if wide else "")
        for line, words, few in ((self.finder, "Find a state or call", "Find"), (self.filter, "Filter rows", "Filter")):
            line.setPlaceholderText(words if wide else few)
            line.setMinimumWidth(110 if wide else 84)

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

    def _toggle_path(self, on: bool) -> None:
        if not on:
            self.view.show_path(None)
        elif self.path.path or self.path.why:
            self._path_ready()
        elif self.view.traced:
            self.path.ask()
        self._write_details()

    def _path_ready(self) -> None:
        if self.path_pill.isChecked() and self.view.traced:
            self.view.show_path(self.path.path)
            self._write_details()
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

    def _show_statistics(self, statistics: Statistics) -> None:
        if self.view.traced:
            self.details.path = self.view.path
            marked, finding = len(self.view.marks) == 2, self._stack_finding()
            title = ("Selection", "A to B") if marked else ("Whole run", "press M to set A and B")
            self.details.show_statistics(self.view.traced, statistics, marked, title, finding[1] if finding else "")

    def _path_words(self) -> tuple[str, ...]:
        if not self.path_pill.isChecked():
            return ()
        if self.path.why:
            return (f"critical path not known: {self.path.why}",)
        return (f"critical path of {counted(len(self.path.path.steps), 'part')}",) if self.path.path else ()

    def _write_status(self) -> None:
        scene = self.view.traced
        if scene:
            blocks = sum(1 for row in self.view.lines if row.kind == "states")
            self.say_status(
                f"{counted(scene.index.trace.intervals, 'interval')}, {counted(blocks, 'row')}",
                f"{time_text(self.view.span.pixel_ps * self.view.span.width / PS_PER_S)} in view",
                f"1 px = {duration(self.view.span.pixel_ps, 3)}",
                *((f"frame {self.view.frame_ms:.1f} ms",) if self.view.frame_ms else ()),
                *self._path_words(),
            )
