"""Source mode: say what code is doing, and see beside each line what the last run spent there."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime
from functools import partial
from pathlib import Path

from PySide6.QtCore import QFileSystemWatcher, QPoint, Qt
from PySide6.QtWidgets import QInputDialog, QWidget

from workbench.api.modes import WindowMode
from workbench.api.source.edits import insert_pragma, remove_pragma, replace_pragma
from workbench.api.source.pragma_text import Style, find_pragmas
from workbench.gui.context import Context
from workbench.gui.mode import Mode
from workbench.gui.naming import range_title, run_title
from workbench.gui.selection import SelectedBlock, SelectedFinding, SelectedLine, SelectedState
from workbench.gui.source.details import SourceDetails
from workbench.gui.source.editor import GUTTER_PX, NUMBERS_PX, CodeEditor, Margin
from workbench.gui.source.find_bar import FindBar
from workbench.gui.source.highlight import pragma_style
from workbench.gui.source.line_numbers import blocks_of, line_numbers
from workbench.gui.source.points import Point, choices, open_points, point_at, points_now, points_of, suggested
from workbench.gui.source.popover import PragmaPopover
from workbench.gui.source.problems import ScannedProblem, problem_text, problems_now, scanned_problems
from workbench.gui.source.tabs import EditorTabs
from workbench.gui.source.tree import SidePanel
from workbench.gui.widgets import plain_column
from workbench.gui.widgets.popover import MARGIN_PX
from workbench.model.diagnostic import Diagnostic
from workbench.model.pragma import PlacedPragma, Pragma
from workbench.session.documents import SourceFile
from workbench.session.history import Undoable


class SourceMode(Mode):
    """`side` is the tree, `details` the block under the cursor."""

    def __init__(self, context: Context, kind: WindowMode) -> None:
        super().__init__(context, kind)
        self.side_panel = self.side = SidePanel(context)
        self.details_panel = self.details = SourceDetails(context)
        self.tabs = EditorTabs()
        self.find_bar = FindBar(self)
        self._points: dict[Path, tuple[Point, ...]] = {}  # as scanned
        self._scanned: dict[Path, tuple[ScannedProblem, ...]] = {}
        self._marked: dict[Path, tuple[object, ...]] = {}
        self._watcher = QFileSystemWatcher(self)
        self._watcher.fileChanged.connect(self._on_disk)
        self.setFocusProxy(self.tabs)
        shown = QWidget()
        column = plain_column(shown)
        column.addWidget(self.tabs, 1)
        column.addWidget(self.find_bar)
        self.set_content(shown)
        self.popover = PragmaPopover(self)
        self.popover.accepted.connect(self._on_pragma)
        self.popover.removed.connect(self._on_remove)
        self.popover.closed.connect(self._on_popover_closed)
        self.side.tree.file_chosen.connect(self.open_file)
        self.side.tree.run_chosen.connect(context.open_run)
        self.side.blocks.line_chosen.connect(self._go_to)
        self.tabs.shown.connect(self._on_shown)
        self.tabs.close_asked.connect(self._on_close)
        self.tabs.removed.connect(self._on_removed)
        context.workspace_changed.connect(self._on_workspace)
        context.scan_changed.connect(self._on_scan)
        context.run_changed.connect(self._on_run)
        context.analysis_changed.connect(self._on_analysis)
        context.running_changed.connect(self._on_running)
        context.runs_changed.connect(lambda: self.side.tree.show_runs(context.run_folders()))
        context.navigation.selection_changed.connect(self._on_selection)
        self._on_workspace()

    # ---- files

    @property
    def editor(self) -> CodeEditor | None:
        return self.tabs.editor

    @property
    def shown_document(self) -> SourceFile | None:
        return self.editor.file if self.editor is not None else None

    @property
    def history(self) -> Undoable:
        return self.editor if self.editor is not None else self.context.history

    def open_line(self, path: Path, line: int) -> None:
        self.open_file(path, line)

    def open_file(self, path: Path, line: int = 0) -> None:
        """Show a file, at a line if one is given. One that cannot be read becomes a notice."""
        editor = self.tabs.of(path)
        if editor is None:
            workspace = self.context.workspace
            document = SourceFile(writable=workspace is not None and path.is_relative_to(workspace.root))
            if not self.context.notices.attempt(lambda: document.open(path)):
                return
            editor = CodeEditor(document)
            editor.pragma_asked.connect(self.ask_pragma)
            editor.may_ask = partial(self._may_ask, editor)
            editor.line_changed.connect(self._on_line)
            document.changed.connect(self._on_changed)
            editor.textChanged.connect(lambda e=editor: self._on_text(e))
            self.context.documents.add(document)
            self._watcher.addPath(str(path))
            self._fill_points(editor)
            self._fill_margin(editor)
            self.tabs.add(editor)
        else:
            self.tabs.show_editor(editor)
        self.show_content()
        if line:
            editor.go_to(line)
            editor.setFocus(Qt.FocusReason.OtherFocusReason)

    def write_as(self, path: Path) -> bool:
        editor = self.editor
        if editor is None or not super().write_as(path):
            return False
        editor.setReadOnly(False)
        self._watcher.addPath(str(path))
        return True

    @property
    def can_close(self) -> bool:
        return self.editor is not None

    def close_shown(self) -> None:
        if self.editor is not None:
            self._on_close(self.editor)

    def _on_close(self, editor: CodeEditor) -> None:
        if self.context.documents.may_leave([editor.file]):
            self.tabs.remove(editor)
            if self.editor is None:
                self.show_nothing()
            else:
                self.editor.setFocus(Qt.FocusReason.OtherFocusReason)

    def _on_removed(self, editor: CodeEditor) -> None:
        self.context.documents.remove(editor.file)
        self._watcher.removePath(str(editor.path))
        self._points.pop(editor.path, None)
        self._scanned.pop(editor.path, None)

    def _on_changed(self) -> None:
        """The text, or whether it is saved."""
        self._say_status()

    def _on_disk(self, name: str) -> None:
        """A file was written: shown anew, unless there is something unsaved in it."""
        path = Path(name)
        editor = self.tabs.of(path)
        if editor is None or not path.is_file():
            return
        if str(path) not in self._watcher.files():
            self._watcher.addPath(name)
        if not editor.file.changed_on_disk:
            return
        if editor.file.dirty:
            self.context.documents.told(editor.file)
        elif self.context.notices.attempt(editor.file.reload):
            self.context.rescan()

    def restore(self, path: Path, text: str) -> bool:
        self.open_file(path)
        editor = self.tabs.of(path)
        if editor is None or editor.isReadOnly():
            return False
        editor.file.replace("restore unsaved changes", text)
        return True

    def find_here(self) -> bool:
        if self.editor is not None:
            self.find_bar.open_on(self.editor)
        return self.editor is not None

    def _may_ask(self, editor: CodeEditor, line: int) -> bool:
        return point_at(self._points_now(editor), line) is not None

    goes_to = "line"

    def ask_where(self) -> None:
        if self.editor is not None:
            last = self.editor.blockCount()
            line, given = QInputDialog.getInt(self, "Go to a line", f"Line, 1 to {last}", self.editor.line, 1, last)
            if given:
                self._go_to(line)

    # ---- pragmas

    def insert_pragma(self) -> None:
        """Ask what the line under the cursor is doing."""
        if self.editor is not None:
            self.ask_pragma(self.editor.line)

    def ask_pragma(self, line: int) -> None:
        """Open the popover beside a line that holds a call or a branch; elsewhere say so in the status bar."""
        editor, scan = self.editor, self.context.scan
        if editor is None:
            return
        style = pragma_style(editor.path)
        point = point_at(self._points_now(editor), line)
        if scan is None or style is None or point is None or editor.isReadOnly():
            why = "reading the sources" if scan is None else "no call or branch that a pragma could name"
            self._say_status(f"line {line}: {why}")
            return
        offered = choices(scan, self.context.platform, self.context.knowledge.reasons)
        numbers = editor.margin.numbers.get(editor.moved.original(point.line))
        editor.go_to_quietly(point.line)
        editor.flag(point.line)
        start = suggested(point, scan, offered)
        corner, arrow = self._beside(editor, point.line)
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
        """Put the pragma in, or in place of the one that is there: an edit of the text like any other."""

        def edit(text: str, point: Point, style: Style) -> str:
            if point.pragmas:
                return replace_pragma(text, point.pragmas[0].line, style, pragma)
            return insert_pragma(text, point.pragma_line, point.indent, style, pragma)

        self._edit(edit)

    def _on_remove(self) -> None:
        self._edit(lambda text, point, style: remove_pragma(text, point.pragmas[0].line, style))

    def _edit(self, edit: Callable[[str, Point, Style], str]) -> None:
        editor, point = self.editor, self.popover.point
        style = pragma_style(editor.path) if editor is not None else None
        if editor is None or point is None or style is None:
            return
        self.context.notices.attempt(lambda: editor.set_text(edit(editor.toPlainText(), point, style)))
        editor.setFocus(Qt.FocusReason.OtherFocusReason)

    def _on_popover_closed(self) -> None:
        if self.editor is not None:
            self.editor.flag(0)
            self.editor.setFocus(Qt.FocusReason.OtherFocusReason)

    # ---- margin, side and details

    def _fill_points(self, editor: CodeEditor) -> None:
        scan, name = self.context.scan, str(editor.path)
        found = points_of(scan, lambda f: self.context.same_file(f, name)) if scan else ()
        self._points[editor.path] = found
        self._scanned[editor.path] = scanned_problems(
            scan.diagnostics if scan else (), lambda f: self.context.same_file(f, name), editor.file.saved_text
        )
        self._marked.pop(editor.path, None)

    def _fill_margin(self, editor: CodeEditor) -> None:
        context, path = self.context, editor.path
        margin = Margin()
        analysis, run = context.analysis, context.run
        if analysis is not None and run is not None:
            margin.numbers = line_numbers(analysis, lambda f: context.same_file(f, str(path)))
            margin.stale = context.running or _newer(path, run.manifest.created)
        editor.set_margin(margin)
        scan = context.scan
        if scan is not None:
            calls = tuple(dict.fromkeys(c.callee for c in scan.host.calls if context.same_file(c.file, str(path))))
            editor.highlighter.set_names(calls)
        self._marked.pop(path, None)
        self._on_text(editor)
        editor.colour_pragmas()

    def _on_text(self, editor: CodeEditor) -> None:
        """Which lines hold a pragma or something wrong, and which lack one: found anew only where pragmas changed."""
        placed, wrong = _read(editor)
        scanned = self._scanned.get(editor.path, ())
        editor.margin.problems = problems_now(wrong, scanned, editor.scanned, editor.text_of)
        editor.margin.pragmas = {p.line: p.pragma.category for p in placed}
        marked = tuple((editor.scanned.original(p.line), p.pragma) for p in placed)
        if self._marked.get(editor.path) != marked:
            self._marked[editor.path] = marked
            lacking = open_points(self._points_now(editor))
            editor.margin.lacking = {editor.scanned.original(p.line) for p in lacking}
        if editor is self.editor:
            self._say_status()

    def _points_now(self, editor: CodeEditor) -> tuple[Point, ...]:
        return points_now(self._points.get(editor.path, ()), editor.scanned, _read(editor)[0])

    def _on_workspace(self) -> None:
        self.popover.close_it()
        workspace = self.context.workspace
        if self.is_other_project():
            self.tabs.clear()
            self.show_nothing()
        self.side.tree.show_project(workspace)
        self.side.tree.show_runs(self.context.run_folders())
        self.side.header.set_title("Project", workspace.root.name if workspace else "")
        self._on_scan()
        self._on_run()
        self._on_analysis()
        if workspace is not None and self.editor is None:
            sources = [p for p in self.side.tree.files() if p.suffix not in (".h", ".yaml")]
            if sources:
                self.open_file(sources[0])
            self.setFocus(Qt.FocusReason.OtherFocusReason)

    def _on_scan(self) -> None:
        for editor in self.tabs.editors():
            editor.scanned.reset(editor.file.saved_text, editor.toPlainText())
            self._fill_points(editor)
            self._fill_margin(editor)
        self._on_shown()

    def _on_run(self) -> None:
        for editor in self.tabs.editors():
            editor.moved.reset(editor.file.saved_text, editor.toPlainText())
        self.side.tree.show_runs(self.context.run_folders())

    def _on_analysis(self) -> None:
        """Other figures: of another run, or of a part of it."""
        for editor in self.tabs.editors():
            self._fill_margin(editor)
        self.side.show_shares()
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
            self.side.blocks.show_file(self.context.scan, lambda f: False)
            self.details.show_nothing("No block", "Open a file that holds one.")
            self.say_status()
            return
        self.side.tree.mark(editor.path)
        name = str(editor.path)
        self.side.blocks.show_file(self.context.scan, lambda f: self.context.same_file(f, name))
        self._on_line(editor.line)

    def _on_line(self, line: int) -> None:
        """The cursor is on another line: the block there, in details and over the text."""
        editor, analysis, run = self.editor, self.context.analysis, self.context.run
        if editor is None:
            return
        self._say_status()
        if analysis is None or run is None:
            reading = self.context.background.busy and self.context.workspace is not None
            why = "Reading the last run." if reading else "Nothing has run yet."
            self.details.show_nothing("Numbers come with the run", why, "" if reading else "Run")
            self.tabs.head.say("")
            self.tabs.place.setText("")
            return
        path = str(editor.path)
        original = editor.moved.original(line) or line
        blocks = blocks_of(analysis, lambda f: self.context.same_file(f, path), original)
        if not blocks:
            self.details.show_nothing("No block in this file", f"{run_title(run)} observed none here.")
            self.tabs.head.say("")
            self.tabs.place.setText("")
            return
        self.details.show_blocks(blocks, analysis.time_s)
        many = f"the mean of {len(blocks)} replicas" if len(blocks) > 1 else run_title(run)
        many += f", {range_title(self.context.shown_range)}" if self.context.shown_range else ""
        older = f"{run_title(run)} is older than this file; its numbers are dimmed"
        older = f"Numbers of {run_title(run)}, until the new run ends" if self.context.running else older
        self.tabs.head.say(older if editor.margin.stale else f"Margin shows {many}")
        self.tabs.place.setText(
            blocks[0].block.group.replace(".", " \u203a ").replace("[*]", f"[0..{len(blocks) - 1}]")
        )

    def _on_selection(self) -> None:
        """A finding, block or state was selected elsewhere: its file and line come into view here too."""
        chosen = self.context.navigation.selection
        if isinstance(chosen, SelectedFinding | SelectedBlock | SelectedState | SelectedLine):
            place = self.context.selected_place()
            if place is not None and self.context.navigation.mode == "source":
                self.open_file(self.context.resolve(place[0]), place[1])

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
        state = "not saved" if editor.file.dirty else "read only" if editor.isReadOnly() else "saved"
        extra = extra or problem_text(editor.margin.problems, editor.line).replace("\n", "; ")
        self.say_status(*parts, state, *([extra] if extra else []))


def _read(editor: CodeEditor) -> tuple[tuple[PlacedPragma, ...], tuple[Diagnostic, ...]]:
    """The pragmas of the text as it stands, and what is wrong with them."""
    style = pragma_style(editor.path)
    return find_pragmas(editor.toPlainText(), style, str(editor.path)) if style is not None else ((), ())


def _newer(path: Path, created: str) -> bool:
    """Whether a file was written after a run was begun."""
    try:
        return path.stat().st_mtime > datetime.fromisoformat(created).timestamp()
    except (OSError, ValueError):
        return False
