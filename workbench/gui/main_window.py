"""The window: its frame, the commands that can be given in it, and the menus that they stand in."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QMenu

from workbench.gui.actions import Command, Menu
from workbench.gui.frame import Frame
from workbench.gui.mode import Mode
from workbench.gui.modes import key_of
from workbench.gui.selection import SelectedFinding
from workbench.session import recent
from workbench.session.examples import EXAMPLES
from workbench.session.plugins import Plugins


class MainWindow(Frame):
    def __init__(self, plugins: Plugins) -> None:
        super().__init__(plugins)
        self.actions_of.add(self._menus())
        self.actions_of.update()

    # ---- menus

    def _menus(self) -> Sequence[Menu]:
        """Every command, its key, and when it can be given."""
        context, control, asking = self.context, self.run_control, self.asking
        navigation, on, if_mode = context.navigation, self._on_mode_shown, self._if_mode

        def project() -> bool:
            return context.workspace is not None

        def run() -> bool:
            return context.run is not None

        def either() -> bool:
            return project() or run()

        def can_run() -> bool:
            return project() and not control.running

        def new_text() -> str:
            made = self.shown.kind.makes if self.shown else ""
            return f"New {made}..." if made else "New..."

        def go_to_text() -> str:
            return f"Go to a {self.shown.goes_to}..." if self.shown and self.shown.goes_to else "Go to..."

        def open_selected_line() -> None:
            if place := context.selected_place():
                navigation.open_line(*place)

        has_document = if_mode(lambda mode: mode.shown_document)
        copies = if_mode(lambda mode: mode.shown_document and mode.kind.makes)
        themes = (("light", "Light"), ("dark", "Dark"), ("system", "As the desktop"))
        panels = self.panels
        return (
            Menu("&File", (
                Command("new_project", "New from sources...", asking.new_project, "Ctrl+N"),
                Command("open_project", "Open project...", asking.project, "Ctrl+O"),
                Command("open_run", "Open run...", asking.run, "Ctrl+Shift+O"),
                Menu("Copy an example", [
                    Command(f"example_{n}", f"{example.title}...", partial(asking.copy_example, example, run=False))
                    for n, example in enumerate(EXAMPLES)
                ]),
                Menu("Recent", fill=self._fill_recent),
                None,
                Menu("Import a run", [
                    Command(f"import_{i.name}", f"{_capital(i.title)}...", partial(asking.import_run, i),
                            can=lambda: not control.running)
                    for i in context.plugins.importers.values()
                ]),
                Menu("Export the run", [
                    Command(f"export_{e.name}", f"{_capital(e.title)}...", partial(asking.export_run, e), can=run)
                    for e in context.plugins.exporters.values()
                ]),
                Command("new_document", "New...", on(lambda mode: mode.new_document()), "Ctrl+Shift+N",
                        if_mode(lambda mode: mode.kind.makes), new_text),
                Command("save", "Save", self.save, "Ctrl+S", has_document),
                Command("save_as", "Save as...", on(lambda mode: mode.save_as()), "Ctrl+Shift+S", has_document),
                Command("duplicate", "Duplicate", on(lambda mode: mode.duplicate()), can=copies),
                Command("save_all", "Save all", self.save_all, can=lambda: bool(context.documents.unsaved)),
                Command("report", "Save report...", asking.report, can=run),
                None,
                Command("close_file", "Close file", on(lambda mode: mode.close_shown()), "Ctrl+W",
                        if_mode(lambda mode: mode.can_close)),
                Command("close", "Close project", context.leave, "Ctrl+Shift+W", either),
                Command("quit", "Quit", self.close, "Ctrl+Q"),
            )),
            Menu("&Edit", (
                Command("undo", "Undo", self.undo, "Ctrl+Z", lambda: self.history.can_undo,
                        lambda: f"Undo {self.history.undo_label}".strip()),
                Command("redo", "Redo", self.redo, "Ctrl+Shift+Z", lambda: self.history.can_redo,
                        lambda: f"Redo {self.history.redo_label}".strip()),
                None,
                Command("pragma", "Insert pragma", self.insert_pragma, "Ctrl+P", project),
                Command("find", "Find here", self.find_here, "Ctrl+F"),
            )),
            Menu("&View", (
                *(Command(f"mode_{mode.name}", mode.title, partial(self.go_to, mode.name), key_of(place), either)
                  for place, mode in enumerate(context.plugins.modes.values(), 1)),
                None,
                Command("details", "Details", self.toggle_details, "Ctrl+I", panels.has_details),
                Command("run_panel", "Run panel", self.toggle_run_dock, "Ctrl+J"),
                None,
                Menu("Theme", [
                    Command(f"theme_{name}", text, partial(self.set_theme, name), on=partial(self.is_theme, name))
                    for name, text in themes
                ]),
                Command("reset_layout", "Reset layout", panels.reset),
            )),
            Menu("&Go", (
                Command("back", "Back", navigation.back, "Alt+Left", lambda: navigation.can_go_back),
                Command("forward", "Forward", navigation.forward, "Alt+Right", lambda: navigation.can_go_forward),
                None,
                Command("next_finding", "Next finding", partial(self.step_finding, 1), "F8", run),
                Command("previous_finding", "Previous finding", partial(self.step_finding, -1), "Shift+F8", run),
                Command("open_line", "Open line", open_selected_line, can=run),
                None,
                Command("go_to", "Go to...", on(lambda mode: mode.ask_where()), "Ctrl+L",
                        if_mode(lambda mode: mode.goes_to), go_to_text),
                Command("definition", "Go to the definition", on(lambda mode: mode.go_to_definition()), "F12",
                        if_mode(lambda mode: mode.finds_definitions and mode.shown_document)),
                Command("search", "Find a block, call or command", self.focus_search, "Ctrl+K"),
                Command("next_panel", "Next panel", panels.focus_next, "F6"),
            )),
            Menu("&Run", (
                Command("run", "Run", control.run, "F5", can_run),
                Command("again", "Run again, as the last time", control.again, "Ctrl+F5", can_run),
                Command("cancel", "Cancel", control.cancel, "Shift+F5", lambda: control.running),
                None,
                Command("how_to_run", "How to run", self.show_run_options, can=project),
                Command("instrument", "Instrument into a folder...", asking.instrument, can=can_run),
                Command("rescan", "Read the sources again", context.rescan, can=project),
                Command("stop_scan", "Stop reading the sources", context.stop_scan,
                        can=lambda: context.background.runs("scan")),
            )),
            Menu("&Help", (
                Command("keys", "Keys", self.show_keys, "Shift+F1"),
                Command("guide", "Guide", self.show_guide, "F1"),
                Command("about", "About RC Workbench", self.show_about),
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

    def focus_search(self) -> None:
        self.search.setFocus(Qt.FocusReason.ShortcutFocusReason)
        self.search.selectAll()


def _capital(text: str) -> str:
    return text[:1].upper() + text[1:]
