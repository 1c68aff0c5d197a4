"""The frame of the window: header, rail, a mode in the middle, its panels beside it, the run below."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import Qt, QTimer
from PySide6.QtGui import QCloseEvent, QDragEnterEvent, QDropEvent, QKeyEvent, QKeySequence
from PySide6.QtWidgets import QApplication, QMainWindow, QWidget

from workbench.gui.frame.actions import Actions
from workbench.gui.frame.breadcrumb import Breadcrumb
from workbench.gui.frame.context import Context
from workbench.gui.frame.disk_watch import DiskWatch
from workbench.gui.frame.floating import Floating
from workbench.gui.frame.focus import focus_inside, is_nowhere, press_focused
from workbench.gui.frame.header import Header
from workbench.gui.frame.layout import Panels, fixed_bar
from workbench.gui.frame.mode_stack import ModeStack, Room
from workbench.gui.frame.opening import Opening, ReadAhead
from workbench.gui.frame.rail import Rail
from workbench.gui.frame.search import SearchField
from workbench.gui.frame.search_items import search_items
from workbench.gui.frame.status_bar import StatusBar, status_parts
from workbench.gui.look import icons, theme
from workbench.gui.modes.mode import Mode
from workbench.gui.open import question
from workbench.gui.open.asking import Asking
from workbench.gui.open.recovered import Recovered
from workbench.gui.open.welcome import Welcome
from workbench.gui.run.end_banner import EndBanner
from workbench.gui.run.jobs import JobRunner
from workbench.gui.run.run_control import RunControl
from workbench.gui.run.run_dock import RunDock
from workbench.gui.widgets import Stack
from workbench.gui.widgets.boxes import column_layout
from workbench.gui.widgets.popover import Popover
from workbench.model.diagnostic import Diagnostic, Severity
from workbench.session.edit.history import Undoable
from workbench.session.program.plugins import Plugins
from workbench.system import store

if TYPE_CHECKING:
    from workbench.gui.modes.timeline.range_panel import RangePanel


class ProjectWindow(QMainWindow):
    """A window on one project, without commands. It owns the context; every view gets it."""

    def __init__(self, plugins: Plugins) -> None:
        super().__init__()
        self.setWindowTitle("RC Workbench")
        self.setMinimumSize(800, 500)
        self.resize(1600, 1000)
        self.context = Context(plugins, self)
        self._disk_watch = DiskWatch(self.context)
        self.context.documents.ask = lambda asked: question.ask(asked, self)
        self.slices = self.context.slices
        self.runner = JobRunner(self)
        self.setAcceptDrops(True)
        self.run_dock = RunDock(self.runner)
        self.floating = Floating(self, self.context, self.slices)
        options = self.floating.run_options.options
        self.run_control = RunControl(self.context, self.runner, self.run_dock, options, self)
        self.asking = Asking(self.context, self.run_control, self)
        self._opening = Opening(self.context, self.asking, self.show_mode, lambda name: self.modes.whole(name))
        self.breadcrumb = Breadcrumb(self.context, self.asking.project, self.toggle_range)
        self.search = SearchField(lambda: search_items(self.context, self.actions_of.all.values(), self.floating))
        self.header = Header(self.breadcrumb.crumbs, self.search)
        self.rail = Rail(plugins.modes.values())
        for mode in plugins.modes.values():
            if not icons.is_there(mode.icon):
                what = f"the icon '{mode.icon}' of the mode '{mode.title}' is not there"
                self.context.notices.tell(Diagnostic(what, "Report this to the plugin's author.", Severity.WARNING))
        self.status_line = StatusBar()
        self._theme = store.preference("theme", "light")
        self.range_panel: RangePanel | None = None
        self._template = False  # whether a template, or the models, are shown without a project
        self._turn_to_mode = False  # whether the keyboard goes to the mode when it is shown
        self._unsaved: tuple[object, ...] = ()

        self.setMenuWidget(self.header)
        self._rail_bar = fixed_bar(self.rail)
        self.addToolBar(Qt.ToolBarArea.LeftToolBarArea, self._rail_bar)
        self.modes = ModeStack(self.context)
        self.welcome = Welcome(self.context, self.asking, self.show_without_project)
        self._centre = Stack()
        self._centre.addWidget(self.welcome)
        self._centre.addWidget(Room(self.modes))
        self.setCentralWidget(self._centre)
        self.end_banner = EndBanner(self.context)
        self.panels = Panels(self, self._centre, self.modes, self.run_dock, self.end_banner)
        self.actions_of = Actions(self, self.header.menus)
        self._foot()
        self._connect()
        self.recovered = Recovered(self.context, self.show_mode)
        self._show_content()

    def _foot(self) -> None:
        foot = QWidget()
        self._foot_column = column_layout(self.status_line, of=foot, margins=(0, 0, 0, 0), spacing=0)
        self.addToolBar(Qt.ToolBarArea.BottomToolBarArea, fixed_bar(foot))

    def _connect(self) -> None:
        context = self.context
        self.rail.mode_chosen.connect(context.navigation.set_mode)
        self.rail.notices_asked.connect(self.show_notices)
        self.rail.settings_asked.connect(lambda: self.floating.show_settings())
        self.status_line.clicked.connect(self.show_notices)
        context.background.progressed.connect(self._say_status)
        self.header.back.clicked.connect(context.navigation.back)
        self.header.forward.clicked.connect(context.navigation.forward)
        self.header.run_button.run.connect(self.run_control.run)
        self.header.run_button.options.connect(self.show_run_options)
        self.floating.run_options.run.connect(self.run_control.run)
        self.floating.setting_changed.connect(self._on_setting)
        self.run_dock.open_line.connect(context.navigation.open_line)
        self.run_dock.place_wanted.connect(context.open_named)
        self.run_dock.closed.connect(self.toggle_run_dock)
        self.run_dock.run_wanted.connect(self.run_control.run)
        self.run_control.ended.connect(self.end_banner.show_end)
        self.run_control.ended.connect(self.panels.take_run_back)
        self.end_banner.shown_changed.connect(self.panels.show_end)
        self.end_banner.problems_wanted.connect(self._show_problems)
        self.end_banner.log_wanted.connect(lambda: self.panels.show_run(True))
        context.run_requested.connect(self.run_control.run)
        context.study_requested.connect(self.run_control.run_study)
        context.pause_requested.connect(self.run_control.cancel)
        context.navigation.mode_changed.connect(self._on_mode)
        context.workspace_changed.connect(self._show_content)
        context.run_changed.connect(self._show_content)
        self._ahead = ReadAhead(context, lambda: self.has_content)
        context.workspace_changed.connect(self._ahead.start)
        context.run_changed.connect(self._ahead.start)
        context.navigation.line_wanted.connect(self._opening.line)
        context.navigation.pragma_wanted.connect(self._opening.pragma)
        context.navigation.document_wanted.connect(self._opening.file)
        self.modes.shown_changed.connect(self._on_shown)
        self.runner.started.connect(self._on_job_started)
        self.runner.finished.connect(self._refresh)
        for signal in (context.navigation.places_changed, context.history_changed, context.notices.changed,
                       context.scan_changed, context.background.idle_changed):  # fmt: skip
            signal.connect(self._refresh)
        context.trust_changed.connect(self._say_status)
        self.modes.status_changed.connect(self._say_status)
        self.modes.details_asked.connect(self.panels.ask_details)
        context.documents.changed.connect(self._show_unsaved)
        self.runner.events.connect(self._say_status)
        application = QApplication.instance()
        if isinstance(application, QApplication):
            application.focusChanged.connect(self._on_focus)

    # ---- what is shown

    @property
    def has_content(self) -> bool:
        context = self.context
        return bool(context.workspace or context.run or context.is_changing_project) or self._template

    def _on_mode(self) -> None:
        """Another mode: what floated over the one before goes, and the keyboard will be in the new one."""
        for popover in self.findChildren(Popover):
            popover.close_it()
        self._turn_to_mode = True
        self._show_content()

    def go_to(self, mode: str) -> None:
        """Show a mode and give it the keyboard, also where it is shown already."""
        if mode != self.context.navigation.mode:
            self.context.navigation.set_mode(mode)
        else:
            self._on_mode()

    def _shown_page(self) -> QWidget:
        return self.modes.currentWidget() or self.welcome if self._centre.currentIndex() else self.welcome

    def _on_focus(self, old: QWidget | None, new: QWidget | None) -> None:
        if new is None:
            QTimer.singleShot(0, self, self._keep_focus)

    def _keep_focus(self) -> None:
        if is_nowhere(self):
            focus_inside(self._shown_page())

    def _show_content(self) -> None:
        content = self.has_content
        self._rail_bar.setVisible(content)
        self.header.show_project(content)
        self.search.say("Find a block, call or command" if content else "Find a project or command")
        if content:
            self.rail.show_mode(self.context.navigation.mode)
            self.breadcrumb.update(self.header)
            self.modes.show_mode(self.context.navigation.mode)
            if self.modes.shown is None:
                self.panels.blank()
        else:
            self.welcome.reload()
            self.welcome.open_button.setFocus()
            self._centre.setCurrentIndex(0)
            self.panels.show_mode("")
        self._refresh()

    def _on_shown(self) -> None:
        """The mode that is wanted is whole: its panels come with it, and the keyboard where it was asked for."""
        if not self.has_content:
            return
        self._turn_to_mode |= self._centre.currentIndex() == 0  # the page that had the keyboard goes
        self._centre.setCurrentIndex(1)
        self.panels.show_mode(self.context.navigation.mode)
        if self._turn_to_mode:
            self._turn_to_mode = False
            focus_inside(self._shown_page())
        self._refresh()

    def _show_unsaved(self) -> None:
        """Dots where something is not saved, what can be undone and what is wrong; set only where they differ."""
        kinds, history = self.context.documents.unsaved_kinds(), self.history
        errors = sum(len(document.errors) for document in self.context.documents)
        now = (kinds, history.can_undo, history.can_redo, history.undo_label, history.redo_label, errors)
        if now != self._unsaved:
            self._unsaved = now
            for mode, button in self.rail.buttons.items():
                button.set_unsaved(mode in kinds)
            self._refresh()

    def _say_title(self) -> None:
        workspace = self.context.workspace
        title = f"{workspace.project.name} - RC Workbench" if workspace else "RC Workbench"
        self.setWindowTitle(f"\u2022 {title}" if self.context.documents.unsaved else title)

    def _refresh(self, *_: object) -> None:
        self.context.set_running(self.runner.running)
        self._say_title()
        self.actions_of.update()
        self.header.back.setEnabled(self.context.navigation.can_go_back)
        self.header.forward.setEnabled(self.context.navigation.can_go_forward)
        running = self.runner.running
        self.header.run_button.button.setEnabled(not running and self.context.workspace is not None)
        self.run_dock.nothing.button.setVisible(self.context.workspace is not None)
        self.rail.notices.set_count(len(self.context.problems()))
        if self.floating.notices.isVisible():
            self.floating.notices.reload()
        self._say_status()

    def _say_status(self, *_: object) -> None:
        running = self.runner.running
        parts, problems, level = status_parts(self.context, self.shown.status if self.shown else ())
        if running:
            parts = (self.run_dock.step_text, *parts)
        background = self.context.background
        busy = (background.said or "Reading") if background.busy else "No jobs running"
        self.status_line.say(parts, problems, level, self.run_dock.progress_text if running else busy)

    def _show_problems(self) -> None:
        self.panels.show_run(True)
        self.run_dock.show_problems()

    def _on_job_started(self, title: str) -> None:
        self.end_banner.dismiss()
        self.panels.lend_run()
        self._refresh()

    # ---- documents

    def open(self, path: Path | None, runs: Sequence[Path] = ()) -> None:
        """Open a project, a run, another program's trace, a model or a template; `runs` are run folders outside the
        project, the first is shown."""
        if path is not None:
            self._opening.open(path, runs)

    def show_without_project(self, mode: str) -> None:
        """A mode that needs no code: models, platforms."""
        self._template = self._template or self.context.workspace is None
        self.go_to(mode)

    def show_mode(self, mode: str) -> Mode | None:
        """Show a mode at once, with or without a project. None where there is none of that name, or where it fails."""
        if mode not in self.context.plugins.modes:
            return None
        self._template = self._template or self.context.workspace is None
        self.context.navigation.set_mode(mode)
        self._show_content()
        return self.modes.whole(mode)

    @property
    def mode(self) -> Mode | None:
        """The mode that commands are for; None on the welcome page."""
        return self.modes.current() if self.has_content else None

    @property
    def shown(self) -> Mode | None:
        """The mode that is shown; None on the welcome page, and while a mode is being built."""
        return self.modes.shown if self.has_content else None

    @property
    def history(self) -> Undoable:
        return self._history_of(self.shown)

    def _history_of(self, mode: Mode | None) -> Undoable:
        return mode.history if mode else self.context.history

    # ---- panels, popovers

    def toggle_details(self) -> None:
        self.panels.show_details(not self.panels.details_visible())

    def toggle_run_dock(self) -> None:
        self.panels.show_run(not self.panels.run_visible())

    def toggle_range(self) -> None:
        if self.panels.range_wanted():
            self.panels.show_range(None)
            return
        if self.range_panel is None:
            from workbench.gui.modes.timeline.range_panel import RangePanel  # with numpy, which a window starts without

            self.range_panel = RangePanel(self.context)
            self.range_panel.closed.connect(self.toggle_range)
        self.panels.show_range(self.range_panel)

    def show_notices(self) -> None:
        self.floating.show_notices(self._rail_bar.width() if self.has_content else 0)

    def show_run_options(self) -> None:
        self.floating.show_run_options(self.header.height())

    def _on_setting(self, name: str) -> None:
        if name == "theme":
            self.set_theme(store.preference("theme", "light"))
        elif name == "trace":
            self.floating.run_options.read()
        elif name.startswith("key."):
            self.actions_of.take_keys()
            self.rail.take_keys()
            self.header.take_keys()
        elif name == "trusted":
            self.context.look_at_trust()
        elif name.startswith("code_"):
            self.context.code_font_changed.emit()

    def set_theme(self, name: str) -> None:
        """Dress the whole application anew, and remember it."""
        store.set_preference("theme", name)
        self._theme = name
        shown = self.floating.settings
        if shown is not None and "theme" in shown.rows:
            shown.rows["theme"].read()
        self.actions_of.update()

        def dress() -> Iterator[None]:
            application = QApplication.instance()
            if isinstance(application, QApplication):
                yield from theme.dressing(application, name)
            for mode in sorted(self.modes.views.values(), key=lambda mode: mode is not self.shown):
                mode.retheme()
                yield

        self.slices.start(self, dress())

    def is_theme(self, name: str) -> bool:
        return name == self._theme

    @property
    def busy(self) -> bool:
        """Whether something is read or worked out in the background, or being built."""
        return self.context.background.busy or self.slices.busy

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Enter presses the focused button. A command that cannot be given now says so, and so does F2 in vain."""
        if command := self.actions_of.impossible(QKeySequence(event.keyCombination())):
            self.status_line.answer(f"{command}: not possible here")
        elif not press_focused(event) and event.key() == Qt.Key.Key_F2:  # that no part of the window took
            self.status_line.answer("nothing selected here can be renamed")
        super().keyPressEvent(event)

    def dragEnterEvent(self, event: QDragEnterEvent) -> None:
        if any(url.isLocalFile() for url in event.mimeData().urls()):
            event.setDropAction(Qt.DropAction.CopyAction)
            event.accept()

    def dropEvent(self, event: QDropEvent) -> None:
        """Files that are dropped are opened, each as what it is, once the program that they come from goes on."""
        event.setDropAction(Qt.DropAction.CopyAction)
        event.accept()
        for path in [Path(url.toLocalFile()) for url in event.mimeData().urls() if url.isLocalFile()]:
            QTimer.singleShot(0, self, partial(self.open, path))

    def closeEvent(self, event: QCloseEvent) -> None:
        if not self.context.documents.may_leave():
            event.ignore()
            return
        self.runner.shut_down()
        self.slices.finish()
        self.panels.save()
        self.context.documents.forget()
        self.context.shut_down()
        super().closeEvent(event)
