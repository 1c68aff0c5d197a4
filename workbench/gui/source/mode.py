"""Source mode: say what code is doing, and see beside each line what the last run spent there."""

from __future__ import annotations

from datetime import datetime
from pathlib import Path

from PySide6.QtCore import QFileSystemWatcher, QPoint, Qt
from PySide6.QtWidgets import QStackedWidget, QVBoxLayout, QWidget

from workbench.files import read_file
from workbench.gui.context import Context
from workbench.gui.naming import run_title
from workbench.gui.selection import SelectedBlock, SelectedFinding, SelectedLine, SelectedState
from workbench.gui.source.details import SourceDetails
from workbench.gui.source.editor import GUTTER_PX, NUMBERS_PX, CodeEditor, Margin
from workbench.gui.source.files import pragma_command, read_text, remove_command, save_command
from workbench.gui.source.find_bar import FindBar
from workbench.gui.source.highlight import pragma_style
from workbench.gui.source.line_numbers import blocks_of, line_numbers
from workbench.gui.source.points import Point, choices, open_points, point_at, points_of, suggested
from workbench.gui.source.popover import PragmaPopover
from workbench.gui.source.tabs import EditorTabs
from workbench.gui.source.tree import SidePanel
from workbench.gui.widgets import EmptyState
from workbench.gui.widgets.popover import MARGIN_PX
from workbench.model.diagnostic import WorkbenchError
from workbench.model.pragma import Pragma
from workbench.session.history import Command
from workbench.source.pragma_text import find_pragmas


class SourceMode(QWidget):
    """`side` is the tree, `details` the block under the cursor. The window calls `save`, `undo`, `find_here`."""

    def __init__(self, context: Context) -> None:
        super().__init__()
        self._context = context
        self.side = SidePanel(context)
        self.details = SourceDetails(context)
        self.tabs = EditorTabs()
        self.find_bar = FindBar(self)
        self._points: dict[Path, tuple[Point, ...]] = {}
        self._opening: tuple[str, int] | None = None
        self._watcher = QFileSystemWatcher(self)
        self._watcher.fileChanged.connect(self._on_disk)
        self._empty = EmptyState("code", "No file is open", "Choose one in the tree, or follow a link to a line.")
        self._pages = QStackedWidget()
        self._pages.addWidget(self._empty)
        self._pages.addWidget(self.tabs)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(0)
        column.addWidget(self._pages, 1)
        column.addWidget(self.find_bar)
        self.popover = PragmaPopover(self)
        self.popover.accepted.connect(self._on_pragma)
        self.popover.removed.connect(self._on_remove)
        self.popover.closed.connect(self._on_popover_closed)
        self.side.tree.file_chosen.connect(self.open_file)
        self.side.tree.run_chosen.connect(context.open_run)
        self.side.blocks.line_chosen.connect(self._go_to)
        self.tabs.shown.connect(self._on_shown)
        self.tabs.close_asked.connect(self._on_close)
        context.workspace_changed.connect(self._on_workspace)
        context.scan_changed.connect(self._on_scan)
        context.run_changed.connect(self._on_run)
        context.running_changed.connect(self._on_running)
        context.runs_changed.connect(lambda: self.side.tree.show_runs(context.run_folders()))
        context.selection_changed.connect(self._on_selection)
        context.open_line_requested.connect(lambda file, line: self.open_file(Path(file), line))
        self._on_workspace()

    # ---- files

    @property
    def editor(self) -> CodeEditor | None:
        return self.tabs.editor

    def open_file(self, path: Path, line: int = 0) -> None:
        """Show a file, at a line if one is given. One that cannot be read becomes a notice."""
        editor = self.tabs.of(path)
        if editor is None:
            try:
                editor = CodeEditor(path, read_text(path))
            except WorkbenchError as error:
                self._context.notify(*error.diagnostics)
                return
            workspace = self._context.workspace
            own = workspace is not None and path.is_relative_to(workspace.root)
            editor.setReadOnly(not own)
            editor.pragma_asked.connect(self.ask_pragma)
            editor.line_changed.connect(self._on_line)
            editor.undo_asked.connect(self.undo)
            editor.redo_asked.connect(self.redo)
            editor.document().modificationChanged.connect(lambda changed: self._say_status())
            editor.textChanged.connect(lambda e=editor: self._on_text(e))
            self._watcher.addPath(str(path))
            self._fill_points(path)
            self._fill_margin(editor)
            self.tabs.add(editor)
        else:
            self.tabs.show_editor(editor)
        self._pages.setCurrentIndex(1)
        if line:
            editor.go_to(line)
            editor.setFocus(Qt.FocusReason.OtherFocusReason)

    def _on_close(self, editor: CodeEditor) -> None:
        if editor.document().isModified() and not self._save(editor):
            return
        self._watcher.removePath(str(editor.path))
        self.tabs.remove(editor)
        if self.editor is None:
            self._pages.setCurrentIndex(0)

    def save(self) -> None:
        """Save every file that was changed here."""
        for editor in self.tabs.editors():
            if editor.document().isModified():
                self._save(editor)

    def _save(self, editor: CodeEditor) -> bool:
        try:
            command = save_command(editor.path, read_file(editor.path), editor.toPlainText(), self._on_file)
        except WorkbenchError as error:
            self._context.notify(*error.diagnostics)
            return False
        return self._context.do(command)

    def _on_file(self, path: Path) -> None:
        """A file was written, by a command done or undone here."""
        editor = self.tabs.of(path)
        if editor is not None:
            try:
                editor.set_text(read_text(path))
            except WorkbenchError as error:
                self._context.notify(*error.diagnostics)
            if str(path) not in self._watcher.files():
                self._watcher.addPath(str(path))
        self._context.file_saved.emit(str(path))
        self._context.rescan()
        self._say_status()

    def _on_disk(self, name: str) -> None:
        """Another program wrote a file: shown anew, unless there is something unsaved in it."""
        path = Path(name)
        editor = self.tabs.of(path)
        if editor is None or not path.is_file():
            return
        if str(path) not in self._watcher.files():
            self._watcher.addPath(name)
        if not editor.document().isModified():
            text = read_text(path)
            if text != editor.toPlainText():
                editor.set_text(text)
                self._context.rescan()

    def undo(self) -> None:
        """Take back what was typed and not yet saved here, or else the last change of a file."""
        editor = self.editor
        if editor is not None and editor.document().isModified() and editor.document().isUndoAvailable():
            editor.undo()
        else:
            self._context.undo()

    def redo(self) -> None:
        editor = self.editor
        if editor is not None and editor.document().isRedoAvailable():
            editor.redo()
        else:
            self._context.redo()

    def find_here(self) -> None:
        if self.editor is not None:
            self.find_bar.open_on(self.editor)

    # ---- pragmas

    def insert_pragma(self) -> None:
        """Ask what the line under the cursor is doing."""
        if self.editor is not None:
            self.ask_pragma(self.editor.line)

    def ask_pragma(self, line: int) -> None:
        """Open the popover beside a line that holds a call or a branch; elsewhere say so in the status bar."""
        editor, scan = self.editor, self._context.scan
        if editor is None:
            return
        style = pragma_style(editor.path)
        if editor.document().isModified() and not self._save(editor):
            return
        original = editor.scanned.original(line)
        point = point_at(self._points.get(editor.path, ()), original) if original else None
        if scan is None or style is None or point is None or editor.isReadOnly():
            why = "reading the sources" if scan is None else "no call or branch that a pragma could name"
            self._say_status(f"line {line}: {why}")
            return
        offered = choices(scan, self._context.platform, self._context.knowledge.reasons)
        numbers = editor.margin.numbers.get(editor.moved.original(point.line + line - original))
        shown_line = point.line + line - original
        editor.go_to_quietly(shown_line)
        editor.flag(shown_line)
        start = suggested(point, scan, offered)
        corner, arrow = self._beside(editor, shown_line)
        self.popover.ask(point, style, start, offered, numbers.share if numbers else None, corner, arrow)

    def _beside(self, editor: CodeEditor, line: int) -> tuple[QPoint, QPoint | None]:
        """Where the popover goes: right of the line's text, its arrow on it; without room there, below or above it."""
        rect = editor.line_rect(line)
        text = editor.mapTo(self, QPoint(NUMBERS_PX + GUTTER_PX, 0))
        wide, tall = self.popover.width() - 2 * MARGIN_PX, self.popover.sizeHint().height() - 2 * MARGIN_PX
        x, y = text.x() + max(rect.width(), 160) + 22, text.y() + rect.center().y()
        if x + wide + 4 <= self.width():
            return QPoint(x, max(8, min(y - tall // 2, self.height() - tall - 8))), QPoint(x - 10, y)
        below = y + rect.height()
        top = below if below + tall <= self.height() else y - rect.height() - tall
        return QPoint(self.width() - wide - 12, max(8, top)), None

    def _on_pragma(self, pragma: Pragma) -> None:
        editor, point = self.editor, self.popover.point
        style = pragma_style(editor.path) if editor is not None else None
        if editor is None or point is None or style is None:
            return
        replace_line = point.pragmas[0].line if point.pragmas else 0
        try:
            command = pragma_command(
                editor.path, style, pragma, self._on_file,
                line=point.pragma_line, indent=point.indent, replace_line=replace_line,
            )  # fmt: skip
        except WorkbenchError as error:
            self._context.notify(*error.diagnostics)
            return
        self._do(command, editor)

    def _on_remove(self) -> None:
        editor, point = self.editor, self.popover.point
        style = pragma_style(editor.path) if editor is not None else None
        if editor is None or point is None or style is None or not point.pragmas:
            return
        try:
            command = remove_command(editor.path, style, point.pragmas[0].line, self._on_file)
        except WorkbenchError as error:
            self._context.notify(*error.diagnostics)
            return
        self._do(command, editor)

    def _do(self, command: Command, editor: CodeEditor) -> None:
        self._context.do(command)
        editor.setFocus(Qt.FocusReason.OtherFocusReason)

    def _on_popover_closed(self) -> None:
        if self.editor is not None:
            self.editor.flag(0)
            self.editor.setFocus(Qt.FocusReason.OtherFocusReason)

    # ---- margin, side and details

    def _fill_points(self, path: Path) -> None:
        scan = self._context.scan
        found = points_of(scan, lambda f: self._context.same_file(f, str(path))) if scan else ()
        self._points[path] = found

    def _fill_margin(self, editor: CodeEditor) -> None:
        context, path = self._context, editor.path
        margin = Margin()
        analysis, run = context.analysis, context.run
        if analysis is not None and run is not None:
            margin.numbers = line_numbers(analysis, lambda f: context.same_file(f, str(path)))
            margin.stale = context.running or _newer(path, run.manifest.created)
        margin.lacking = {p.line for p in open_points(self._points.get(path, ()))}
        editor.set_margin(margin)
        scan = context.scan
        if scan is not None:
            calls = tuple(dict.fromkeys(c.callee for c in scan.host.calls if context.same_file(c.file, str(path))))
            editor.highlighter.set_names(calls)
        self._on_text(editor)

    def _on_text(self, editor: CodeEditor) -> None:
        style = pragma_style(editor.path)
        if style is not None:
            placed, _ = find_pragmas(editor.toPlainText(), style, str(editor.path))
            editor.margin.pragmas = {p.line: p.pragma.category for p in placed}

    def _on_workspace(self) -> None:
        self.popover.close_it()
        self.tabs.clear()
        self._pages.setCurrentIndex(0)
        workspace = self._context.workspace
        self.side.tree.show_project(workspace)
        self.side.tree.show_runs(self._context.run_folders())
        self.side.header.set_title("Project", workspace.root.name if workspace else "")
        self._on_scan()
        self._on_run()
        if workspace is not None:
            sources = [p for p in self.side.tree.files() if p.suffix not in (".h", ".yaml")]
            if sources:
                self.open_file(sources[0])

    def _on_scan(self) -> None:
        for editor in self.tabs.editors():
            editor.scanned.reset(editor.toPlainText())
            self._fill_points(editor.path)
            self._fill_margin(editor)
        self._on_shown()

    def _on_run(self) -> None:
        for editor in self.tabs.editors():
            editor.moved.reset(editor.toPlainText())
            self._fill_margin(editor)
        self.side.show_shares()
        self.side.tree.show_runs(self._context.run_folders())
        self._on_shown()

    def _on_running(self) -> None:
        """While a run is going, the numbers of the one before are dimmed."""
        for editor in self.tabs.editors():
            self._fill_margin(editor)
        if self.editor is not None:
            self._on_line(self.editor.line)

    def _on_shown(self) -> None:
        editor = self.editor
        self.find_bar.close_it()
        if editor is None:
            self.side.blocks.show_file(self._context.scan, lambda f: False)
            self.details.show_nothing("No block", "Open a file that holds one.")
            self._context.set_status("source")
            return
        self.side.tree.mark(editor.path)
        name = str(editor.path)
        self.side.blocks.show_file(self._context.scan, lambda f: self._context.same_file(f, name))
        self._on_line(editor.line)

    def _on_line(self, line: int) -> None:
        """The cursor is on another line: the block there, in details and over the text."""
        editor, analysis, run = self.editor, self._context.analysis, self._context.run
        if editor is None:
            return
        self._say_status()
        if analysis is None or run is None:
            reading = self._context.background.busy and self._context.workspace is not None
            why = "Reading the last run." if reading else "Nothing has run yet."
            self.details.show_nothing("Numbers come with the run", why, "" if reading else "Run")
            self.tabs.head.say("")
            self.tabs.place.setText("")
            return
        path = str(editor.path)
        original = editor.moved.original(line) or line
        blocks = blocks_of(analysis, lambda f: self._context.same_file(f, path), original)
        if not blocks:
            self.details.show_nothing("No block in this file", f"{run_title(run)} observed none here.")
            self.tabs.head.say("")
            self.tabs.place.setText("")
            return
        self.details.show_blocks(blocks, run.time_s)
        many = f"the mean of {len(blocks)} replicas" if len(blocks) > 1 else run_title(run)
        older = f"{run_title(run)} is older than this file; its numbers are dimmed"
        older = f"Numbers of {run_title(run)}, until the new run ends" if self._context.running else older
        self.tabs.head.say(older if editor.margin.stale else f"Margin shows {many}")
        self.tabs.place.setText(
            blocks[0].block.group.replace(".", " \u203a ").replace("[*]", f"[0..{len(blocks) - 1}]")
        )

    def _on_selection(self) -> None:
        """A finding, block or state was selected elsewhere: its file and line come into view here too."""
        chosen = self._context.selection
        if isinstance(chosen, SelectedFinding | SelectedBlock | SelectedState | SelectedLine):
            place = self._context.selected_place()
            if place is not None and self._context.mode == "source":
                self.open_file(self._context.resolve(place[0]), place[1])

    def _go_to(self, line: int) -> None:
        if self.editor is not None:
            self.editor.go_to(line)
            self.editor.setFocus(Qt.FocusReason.OtherFocusReason)

    def _say_status(self, extra: str = "") -> None:
        editor = self.editor
        if editor is None:
            return
        lacking = len(editor.margin.lacking)
        pragmas = len(editor.margin.pragmas)
        parts = [f"line {editor.line}, column {editor.textCursor().columnNumber() + 1}"]
        if pragma_style(editor.path) is not None:
            count = f"{pragmas} pragma" + ("" if pragmas == 1 else "s")
            parts.append(f"{editor.path.name}: {count}, {lacking} places without")
        state = "not saved" if editor.document().isModified() else "read only" if editor.isReadOnly() else "saved"
        self._context.set_status("source", *parts, state, *([extra] if extra else []))


def _newer(path: Path, created: str) -> bool:
    """Whether a file was written after a run was begun."""
    try:
        return path.stat().st_mtime > datetime.fromisoformat(created).timestamp()
    except (OSError, ValueError):
        return False
