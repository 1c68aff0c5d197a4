"""The lists below a run's timeline, filled from it while they are shown, and where their rows lead."""

from workbench.api.job import Job
from workbench.api.window import Context
from workbench.gui.modes.timeline.finding import FindField
from workbench.gui.modes.timeline.lists import FOUND, STATISTICS, TimelineLists
from workbench.gui.modes.timeline.view import TimelineView
from workbench.gui.widgets import IconButton
from workbench.model.run import PS_PER_S
from workbench.model.text import time_text
from workbench.pictures.timeline.rows import Kind
from workbench.traces.find import Hits
from workbench.traces.scene import Scene
from workbench.traces.state_table import StateRow, state_rows

_KEY = "state table"


class RunLists(TimelineLists):
    """Hidden until they are wanted. The statistics are of A to B, or of the whole run."""

    def __init__(self, context: Context, view: TimelineView, finder: FindField, button: IconButton) -> None:
        """`button` shows and hides them."""
        super().__init__()
        self._context, self._view, self._finder, self._button = context, view, finder, button
        self._of: tuple[object, ...] = ()  # what the statistics shown, or counted now, are of
        finder.found.connect(self._show_found)
        finder.list_wanted.connect(self._go_to_found)
        self.place_wanted.connect(finder.show_hit)
        self.state_wanted.connect(self._show_state)
        self.marker_wanted.connect(view.show_marker)
        self.rename_wanted.connect(view.edit_marker)
        self.removed.connect(view.drop_marker)
        self.turned.connect(self._fill)
        self.closed.connect(lambda: button.setChecked(False))
        self.left.connect(view.setFocus)
        for table in (self.found, self.statistics):
            table.line_wanted.connect(context.navigation.open_line)
        self.hide()

    def show_scene(self, scene: Scene | None) -> None:
        self.scene, self._of = scene, ()
        self._fill()

    def show_or_hide(self, on: bool) -> None:
        self.setVisible(on)
        if on:
            if self.page == FOUND and self._finder.hits is None:
                self.turn_to(STATISTICS)
            self._fill()
            self.focus_list()
        else:
            self._view.setFocus()

    def _fill(self) -> None:
        if self.isHidden():
            return
        self.show_found(self._finder.hits)
        self.show_markers(self._view.markers)
        self.count()

    def _show_found(self, hits: Hits | None) -> None:
        if not self.isHidden():
            self.show_found(hits)

    def _go_to_found(self) -> None:
        self._button.setChecked(True)
        self.turn_to(FOUND)
        self.found.setFocus()
        self.found.step(1)

    def marks_changed(self) -> None:
        if not self.isHidden():
            self.show_markers(self._view.markers)

    def _show_state(self, row: StateRow) -> None:
        """Where the state is next, from the begin of the range on."""
        scene, view = self.scene, self._view
        if scene is None:
            return
        from_ps, _ = view.shown().range_ps()
        at = scene.index.trace.at(row.block, from_ps)
        if at is not None and at[0] == row.state.index:
            view.show_place(row.block, Kind.STATES, from_ps)
        elif (time_ps := scene.index.trace.next_entry(row.block, row.state.index, from_ps)) is not None:
            view.show_place(row.block, Kind.STATES, time_ps)

    # ---- statistics

    def count(self) -> None:
        """Fill the statistics, where they are looked at and not of this range yet."""
        scene = self.scene
        if self.isHidden() or self.page != STATISTICS or scene is None:
            return
        from_ps, to_ps = self._view.shown().range_ps()
        if self._of == (scene, from_ps, to_ps):
            return
        self._of = scene, from_ps, to_ps
        marked = len(self._view.marks) == 2

        def work(job: Job) -> list[StateRow]:
            rows: list[StateRow] = []
            with job.step("Statistics of the range"):
                for row in state_rows(scene, from_ps, to_ps):
                    job.check()
                    job.progress(row.block / max(len(scene.blocks), 1))
                    rows.append(row)
            return rows

        def done(rows: list[StateRow]) -> None:
            if self._of == (scene, from_ps, to_ps):
                some = "" if all(row.exact for row in rows) else "; median and 95 % of a sample of the visits"
                of = f"A to B, {time_text((to_ps - from_ps) / PS_PER_S, 4)}" if marked else "Whole run"
                self.show_statistics(rows, of + some)

        self._context.background.start_job(_KEY, work, done, self._context.failed)
