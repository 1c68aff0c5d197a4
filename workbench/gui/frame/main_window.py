"""The main window: its frame, its commands and its menus."""

from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QMenu

from workbench.gui.frame.actions import Menu, WindowCommand, known
from workbench.gui.frame.find_panel import FindPanel, selected_line
from workbench.gui.frame.focus import focus_inside, focus_is_in
from workbench.gui.frame.frame import ProjectWindow
from workbench.gui.frame.problems_panel import ProblemsPanel
from workbench.gui.frame.selection import SelectedFinding
from workbench.gui.frame.tour import Tour
from workbench.gui.modes.mode import Mode
from workbench.model.text import capitalised, counted
from workbench.session.open import recent
from workbench.session.open.examples import EXAMPLES
from workbench.session.program.keys import key_of_mode
from workbench.session.program.plugins import Plugins
from workbench.session.program.settings import THEMES
from workbench.system import store

_PROBLEMS = "problems_shown"  # the preference that the panel of problems was left open


class MainWindow(ProjectWindow):
    def __init__(self, plugins: Plugins) -> None:
        super().__init__(plugins)
        self.tour = Tour(self)
        self._place_tour()
        self.find_panel: FindPanel | None = None  # made when it is first asked for
        self.problems_panel: ProblemsPanel | None = None
        self.actions_of.add(self._menus())
        self.modes.shown_changed.connect(self._restore_problems)
        self.end_banner.comparison_wanted.connect(self.compare_before)
        self.context.navigation.change_wanted.connect(self.try_change)
        self.status_line.problems_wanted.connect(
            lambda: self._open_problems().setFocus(Qt.FocusReason.MouseFocusReason)
        )
        self.context.workspace_changed.connect(self._say_place)
        self.context.run_changed.connect(self._say_place)
        self.actions_of.update()

    def _place_tour(self) -> None:
        """Over the status bar, while there is a tour."""
        self._foot_column.insertWidget(0, self.tour)
        self.welcome.tour_wanted.connect(self.tour.begin)

    # ---- menus

    def _menus(self) -> Sequence[Menu]:
        """Every command, its key, and when it can be given."""
        context, control, asking = self.context, self.run_control, self.asking
        navigation, floating = context.navigation, self.floating
        on, if_mode = self._on_mode_shown, self._if_mode

        def project() -> bool:
            return context.workspace is not None

        def run() -> bool:
            return context.run is not None

        def either() -> bool:
            return project() or run()

        def can_run() -> bool:
            return project() and not control.running

        def new_text() -> str:
            kind = self.shown.kind.makes if self.shown else ""
            return f"New {kind}..." if kind else "New..."

        def go_to_text() -> str:
            return f"Go to a {self.shown.goes_to}..." if self.shown and self.shown.goes_to else "Go to..."

        def open_selected_line() -> None:
            if place := context.selected_place():
                navigation.open_line(*place)

        has_document = if_mode(lambda mode: mode.shown_document)
        copies = if_mode(lambda mode: mode.shown_document and mode.kind.makes)
        panels = self.panels
        return (
            Menu("&File", (
                known("new_project", asking.new_project),
                known("open_project", asking.project),
                known("open_run", asking.run),
                known("quick_open", lambda: self.search.ask(files=True), project),
                Menu("Copy an example", [
                    WindowCommand(f"example_{n}", f"{example.title}...",
                                  partial(asking.copy_example, example, run=False))
                    for n, example in enumerate(EXAMPLES)
                ]),
                Menu("Recent", fill=self._fill_recent),
                None,
                Menu("Import a run", [
                    WindowCommand(f"import_{i.name}", f"{capitalised(i.title)}...", partial(asking.import_run, i),
                            can=lambda: not control.running)
                    for i in context.plugins.importers.values()
                ]),
                Menu("Export the run", [
                    WindowCommand(f"export_{e.name}", f"{capitalised(e.title)}...", partial(asking.export_run, e),
                                  can=run)
                    for e in context.plugins.exporters.values()
                ]),
                known("new_document", on(lambda mode: mode.new_document()),
                        if_mode(lambda mode: mode.kind.makes), new_text),
                known("save", self.save, has_document),
                known("save_as", on(lambda mode: mode.save_as()), has_document),
                known("duplicate", on(lambda mode: mode.duplicate()), can=copies),
                known("save_all", self.save_all, can=lambda: bool(context.documents.unsaved)),
                known("report", asking.report, can=run),
                None,
                known("close_file", on(lambda mode: mode.close_shown()),
                        if_mode(lambda mode: mode.can_close)),
                known("close", context.leave, either),
                known("quit", self.close),
            )),
            Menu("&Edit", (
                known("undo", self.undo, lambda: self.history.can_undo,
                        lambda: f"Undo {self.history.undo_label}".strip()),
                known("redo", self.redo, lambda: self.history.can_redo,
                        lambda: f"Redo {self.history.redo_label}".strip()),
                None,
                known("pragma", self.insert_pragma, project),
                known("propose", self.propose_marks, project),
                known("fix_problems", self.fix_problems, lambda: self.has_content),
                known("find", self.find_here),
                known("find_in_project", self.find_in_project, project),
                None,
                known("settings", floating.show_settings),
            )),
            Menu("&View", (
                *(WindowCommand(f"mode_{mode.name}", mode.title, partial(self.go_to, mode.name), key_of_mode(place),
                                either)
                  for place, mode in enumerate(context.plugins.modes.values(), 1)),
                None,
                known("details", self.toggle_details, panels.has_details),
                known("run_panel", self.toggle_run_dock),
                known("problems", self.toggle_problems, lambda: self.has_content),
                known("split_editor", on(lambda mode: mode.split_view()),
                        if_mode(lambda mode: mode.kind.name == "source" and mode.shown_document)),
                known("range_panel", self.toggle_range, if_mode(lambda mode: context.run and not mode.shows_range)),
                known("flame", partial(self.show_times, "flame"), run),
                known("treemap", partial(self.show_times, "treemap"), run),
                None,
                Menu("Theme", [
                    WindowCommand(f"theme_{name}", text, partial(self.set_theme, name), on=partial(self.is_theme, name))
                    for name, text in THEMES.items()
                ]),
                known("reset_layout", panels.reset),
            )),
            Menu("&Go", (
                known("back", navigation.back, lambda: navigation.can_go_back),
                known("forward", navigation.forward, lambda: navigation.can_go_forward),
                None,
                known("next_finding", partial(self.step_finding, 1), run),
                known("previous_finding", partial(self.step_finding, -1), run),
                known("try_change", self.try_change, run),
                known("compare_before", self.compare_before, run),
                known("open_line", open_selected_line, can=run),
                None,
                known("go_to", on(lambda mode: mode.ask_where()),
                        if_mode(lambda mode: mode.goes_to), go_to_text),
                known("definition", on(lambda mode: mode.go_to_definition()),
                        if_mode(lambda mode: mode.finds_definitions and mode.shown_document)),
                known("search", self.focus_search),
                known("next_panel", panels.focus_next),
            )),
            Menu("&Run", (
                known("run", control.run, can_run),
                known("again", control.again, can_run),
                known("cancel", control.cancel, lambda: control.running),
                None,
                known("how_to_run", self.show_run_options, can=project),
                known("instrument", asking.instrument, can=can_run),
                known("prove", control.prove, can=can_run),
                known("rescan", context.rescan, can=project),
                known("stop_scan", context.stop_scan,
                        can=lambda: context.background.runs("scan")),
            )),
            Menu("&Help", (
                known("keys", lambda: floating.show_settings("keys")),
                known("guide", floating.show_guide),
                known("tour", self.tour.begin),
                known("about", floating.show_about),
            )),
        )  # fmt: skip

    def _fill_recent(self, menu: QMenu) -> None:
        menu.clear()
        for path in recent.recent():
            menu.addAction(str(path)).triggered.connect(partial(self._open_recent, path))
        if menu.isEmpty():
            menu.addAction("None yet").setEnabled(False)

    def _open_recent(self, path: Path, checked: bool = False) -> None:
        self.context.open_path(path)

    # ---- commands

    def _on_mode_shown(self, do: Callable[[Mode], object]) -> Callable[[], None]:
        """A command that does something with the mode shown."""

        def command() -> None:
            if (mode := self.mode) is not None:
                do(mode)

        return command

    def _if_mode(self, can: Callable[[Mode], object]) -> Callable[[], bool]:
        return lambda: (mode := self.shown) is not None and bool(can(mode))

    def save(self) -> None:
        if self.mode:
            self.mode.save()

    def save_all(self) -> None:
        for document in self.context.documents.unsaved:
            self.context.documents.save(document)

    def undo(self) -> None:
        self.context.notices.attempt(self._history_of(self.mode).undo)
        self._refresh()

    def redo(self) -> None:
        self.context.notices.attempt(self._history_of(self.mode).redo)
        self._refresh()

    def insert_pragma(self) -> None:
        self.context.navigation.set_mode("source")
        if self.mode:
            self.mode.insert_pragma()

    def propose_marks(self) -> None:
        self.context.navigation.set_mode("source")
        if self.mode:
            self.mode.propose_marks()

    def find_here(self) -> None:
        if not (self.mode and self.mode.find_here()):
            self.focus_search()

    def step_finding(self, step: int) -> None:
        """Select the next or previous finding, from the first or last on, in the order that the mode shows them."""
        analysis = self.context.analysis
        if analysis is None or not analysis.findings or (self.mode and self.mode.step_finding(step)):
            return
        ids = [finding.id for finding in analysis.findings]
        chosen = self.context.navigation.selection
        at = ids.index(chosen.finding) if isinstance(chosen, SelectedFinding) and chosen.finding in ids else None
        number = (at + step if at is not None else 0 if step > 0 else -1) % len(ids)
        self.context.navigation.select(SelectedFinding(ids[number]))

    def try_change(self) -> None:
        """Try the selected finding's change, in the mode that shows findings."""
        if not (self.mode and self.mode.try_change()):
            self.context.navigation.set_mode("analyse")
            if self.mode:
                self.mode.try_change()

    def show_times(self, kind: str) -> None:
        """The run's time by component, block, state and call, in the mode that analyses."""
        self.go_to("analyse")
        if self.mode:
            self.mode.show_times(kind)

    def compare_before(self) -> None:
        """Compare the open run with the one before it; the mode does so by itself where it is built for this."""
        compare = self.modes.views.get("compare")
        self.go_to("compare")
        if compare is not None:
            compare.compare_before()

    def focus_search(self) -> None:
        self.search.ask()

    def find_in_project(self) -> None:
        """Find a text in every file of the project, in a panel below every mode; again: hide it."""
        if self.find_panel is None:
            self.find_panel = FindPanel(self.context)
            self.find_panel.closed.connect(lambda: self.panels.show_found(None))
        if self.panels.found_visible(self.find_panel) and focus_is_in(self.find_panel):
            self.find_panel.close_it()
            return
        text = selected_line()
        self.panels.show_found(self.find_panel)
        self.find_panel.begin(text)

    def toggle_problems(self) -> None:
        """Show all that is wrong in a panel below every mode, which stays until it is closed, and is there again at the
        next start; again: hide it."""
        if self.panels.found_visible(self.problems_panel) and self.problems_panel is not None:
            self._close_problems()
            return
        self._open_problems().setFocus(Qt.FocusReason.ShortcutFocusReason)

    def _open_problems(self) -> ProblemsPanel:
        if self.problems_panel is None:
            self.problems_panel = ProblemsPanel(self.context, lambda: self.run_dock.problems, self._show_place)
            self.problems_panel.closed.connect(self._close_problems)
        self.problems_panel.reload()
        self.panels.show_found(self.problems_panel)
        store.set_preference(_PROBLEMS, "yes")
        return self.problems_panel

    def _restore_problems(self) -> None:
        """With the first mode that is shown, where the panel was left open."""
        self.modes.shown_changed.disconnect(self._restore_problems)
        if store.preference(_PROBLEMS, "no") == "yes" and self.has_content:
            self._open_problems()

    def fix_problems(self) -> None:
        """Make every certain fix in the documents, which are saved by hand; each is undone by itself."""
        fixed = self._open_problems().fix_all()
        self.status_line.answer(f"{counted(fixed, 'problem')} fixed, not saved" if fixed else "no automatic fix")

    def _show_place(self, mode: str, path: tuple[int | str, ...]) -> bool:
        """Show a field in the mode that edits its document. False where that has no form for it."""
        shown = self.show_mode(mode) if path else None
        return shown is not None and shown.show_place(path)

    def _say_place(self) -> None:
        """What is open, beside which new files are written."""
        workspace, run = self.context.workspace, self.context.run
        opened = workspace.path if workspace else run.path if run else None
        self.setWindowFilePath(str(opened) if opened else "")

    def _close_problems(self) -> None:
        store.set_preference(_PROBLEMS, "no")
        self.panels.show_found(None)
        focus_inside(self._shown_page())
