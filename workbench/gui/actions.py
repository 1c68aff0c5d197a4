"""The window's commands: one QAction each, for menus, keys and the search field alike."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING

from PySide6.QtGui import QAction, QActionGroup, QKeySequence, QShortcut
from PySide6.QtWidgets import QMenu

from workbench.gui.modes import key_of
from workbench.session import recent, store
from workbench.session.examples import EXAMPLES

if TYPE_CHECKING:
    from workbench.gui.main_window import MainWindow


class Actions:
    """Builds the menus of a window. `all` holds every command by its name, for the search field."""

    def __init__(self, window: MainWindow) -> None:
        self._window = window
        self.all: dict[str, QAction] = {}
        menus = window.header.menus
        self._file(menus.addMenu("&File"))
        self._edit(menus.addMenu("&Edit"))
        self._view(menus.addMenu("&View"))
        self._go(menus.addMenu("&Go"))
        self._run(menus.addMenu("&Run"))
        self._help(menus.addMenu("&Help"))
        QShortcut(QKeySequence("F10"), window, lambda: menus.setActiveAction(menus.actions()[0]))

    def _add(self, menu: QMenu, name: str, text: str, do: Callable[[], object], key: str = "") -> QAction:
        action = QAction(text, self._window)
        if key:
            action.setShortcut(QKeySequence(key))
        action.triggered.connect(lambda checked=False: do())
        menu.addAction(action)
        self._window.addAction(action)
        self.all[name] = action
        return action

    def _file(self, menu: QMenu) -> None:
        window = self._window
        self._add(menu, "new_project", "New from sources...", window.ask_new_project, "Ctrl+N")
        self._add(menu, "open_project", "Open project...", window.ask_project, "Ctrl+O")
        self._add(menu, "open_run", "Open run...", window.ask_run, "Ctrl+Shift+O")
        examples = menu.addMenu("Copy an example")
        for index, example in enumerate(EXAMPLES):
            name = f"example_{index}"
            self._add(examples, name, f"{example.title}...", partial(window.copy_example, example, run=False))
        self._recent = menu.addMenu("Recent")
        self._recent.aboutToShow.connect(self._fill_recent)
        menu.addSeparator()
        self._add(menu, "new_document", "New...", lambda: window.mode and window.mode.new_document(), "Ctrl+Shift+N")
        self._add(menu, "save", "Save", window.save, "Ctrl+S")
        self._add(menu, "save_as", "Save as...", lambda: window.mode and window.mode.save_as(), "Ctrl+Shift+S")
        self._add(menu, "duplicate", "Duplicate", lambda: window.mode and window.mode.duplicate())
        self._add(menu, "save_all", "Save all", window.save_all)
        self._add(menu, "report", "Save report...", window.ask_report)
        menu.addSeparator()
        self._add(menu, "close_file", "Close file", window.close_shown, "Ctrl+W")
        self._add(menu, "close", "Close project", window.context.leave, "Ctrl+Shift+W")
        self._add(menu, "quit", "Quit", window.close, "Ctrl+Q")

    def _fill_recent(self) -> None:
        self._recent.clear()
        for path in recent.recent():
            self._recent.addAction(str(path)).triggered.connect(
                lambda checked=False, path=path: self._window.context.open_path(path)
            )
        if self._recent.isEmpty():
            self._recent.addAction("None yet").setEnabled(False)

    def _edit(self, menu: QMenu) -> None:
        window = self._window
        self._add(menu, "undo", "Undo", window.undo, "Ctrl+Z")
        self._add(menu, "redo", "Redo", window.redo, "Ctrl+Shift+Z")
        menu.addSeparator()
        self._add(menu, "pragma", "Insert pragma", window.insert_pragma, "Ctrl+P")
        self._add(menu, "find", "Find here", window.find_here, "Ctrl+F")

    def _view(self, menu: QMenu) -> None:
        window = self._window
        for place, mode in enumerate(window.context.plugins.modes.values(), 1):
            self._add(menu, f"mode_{mode.name}", mode.title, partial(window.go_to, mode.name), key_of(place))
        menu.addSeparator()
        self._add(menu, "details", "Details", window.toggle_details, "Ctrl+I")
        self._add(menu, "run_panel", "Run panel", window.toggle_run_dock, "Ctrl+J")
        menu.addSeparator()
        themes = menu.addMenu("Theme")
        group = QActionGroup(window)
        for name, text in (("light", "Light"), ("dark", "Dark"), ("system", "As the desktop")):
            action = self._add(themes, f"theme_{name}", text, partial(window.set_theme, name))
            action.setCheckable(True)
            action.setChecked(store.preference("theme", "light") == name)
            group.addAction(action)
        self._add(menu, "reset_layout", "Reset layout", window.reset_layout)

    def _go(self, menu: QMenu) -> None:
        window = self._window
        self._add(menu, "back", "Back", window.context.navigation.back, "Alt+Left")
        self._add(menu, "forward", "Forward", window.context.navigation.forward, "Alt+Right")
        menu.addSeparator()
        self._add(menu, "next_finding", "Next finding", lambda: window.step_finding(1), "F8")
        self._add(menu, "previous_finding", "Previous finding", lambda: window.step_finding(-1), "Shift+F8")
        self._add(menu, "open_line", "Open line", window.open_selected_line)
        menu.addSeparator()
        self._add(menu, "search", "Find a block, call or command", window.focus_search, "Ctrl+K")
        self._add(menu, "next_panel", "Next panel", window.focus_next_panel, "F6")

    def _run(self, menu: QMenu) -> None:
        window = self._window
        self._add(menu, "run", "Run", window.run_control.run, "F5")
        self._add(menu, "again", "Run again, as the last time", window.run_control.again, "Ctrl+F5")
        self._add(menu, "cancel", "Cancel", window.run_control.cancel, "Shift+F5")
        menu.addSeparator()
        self._add(menu, "how_to_run", "How to run", window.show_run_options)
        self._add(menu, "rescan", "Read the sources again", window.context.rescan)

    def _help(self, menu: QMenu) -> None:
        self._add(menu, "keys", "Keys", self._window.show_keys, "Shift+F1")
        self._add(menu, "guide", "Guide", self._window.show_guide, "F1")
        self._add(menu, "about", "About RC Workbench", self._window.show_about)

    def update(self) -> None:
        """Which commands can be given now."""
        context, control = self._window.context, self._window.run_control
        mode, history = self._window.shown, self._window.history
        document = mode.shown_document if mode else None
        project, run = context.workspace is not None, context.run is not None
        can = {
            "new_document": bool(mode and mode.kind.makes),
            "save": document is not None,
            "save_as": document is not None,
            "duplicate": document is not None and bool(mode and mode.kind.makes),
            "save_all": bool(context.documents.unsaved),
            "close_file": bool(mode and mode.can_close),
            "report": run,
            "close": project or run,
            "undo": history.can_undo,
            "redo": history.can_redo,
            "pragma": project,
            "back": context.navigation.can_go_back,
            "forward": context.navigation.can_go_forward,
            "run": project and not control.running,
            "again": project and not control.running,
            "cancel": control.running,
            "how_to_run": project,
            "details": self._window.panels.has_details(),
            "rescan": project,
            "next_finding": run,
            "previous_finding": run,
            "open_line": run,
            **{f"mode_{name}": project or run for name in context.plugins.modes},
        }
        for name, possible in can.items():
            self.all[name].setEnabled(possible)
        self.all["new_document"].setText(f"New {mode.kind.makes}..." if mode and mode.kind.makes else "New...")
        self.all["undo"].setText(f"Undo {history.undo_label}".strip())
        self.all["redo"].setText(f"Redo {history.redo_label}".strip())
