"""Source mode: say what code is doing, and see beside each line what the last run spent there."""

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path

from PySide6.QtCore import Qt, QTimer
from PySide6.QtGui import QTextCursor
from PySide6.QtWidgets import QInputDialog, QWidget

from workbench.api.languages import headers_of, syntax_of
from workbench.api.modes import WindowMode
from workbench.api.window import Context, Mode
from workbench.gui.frame.selection import SelectedBlock, SelectedFinding, SelectedLine, SelectedState
from workbench.gui.modes.source import metric_menu
from workbench.gui.modes.source.annotations import Annotations
from workbench.gui.modes.source.block_shown import show_block
from workbench.gui.modes.source.blocks_here import BlockRow, block_rows
from workbench.gui.modes.source.definition_search import find_definition
from workbench.gui.modes.source.details import SourceDetails
from workbench.gui.modes.source.editor import CodeEditor, Edit
from workbench.gui.modes.source.find_bar import FindBar
from workbench.gui.modes.source.margin_columns import MarginColumns
from workbench.gui.modes.source.points import point_at
from workbench.gui.modes.source.pragma_asking import PragmaAsking
from workbench.gui.modes.source.problems import problem_text
from workbench.gui.modes.source.proposals import ProposalPanel
from workbench.gui.modes.source.status import status_words
from workbench.gui.modes.source.tabs import EditorTabs
from workbench.gui.modes.source.tree import SidePanel
from workbench.gui.modes.source.typed_check import TypedCheck
from workbench.gui.widgets import plain_column
from workbench.model.scan import Definition
from workbench.session.edit.documents import SourceFile
from workbench.session.edit.history import Undoable

LISTS_AFTER_MS = 300  # after what was typed last, where a file has very many blocks


class SourceMode(Mode):
    """`side` is the tree, `details` the block under the cursor, shown by itself where a run has numbers of it."""

    details_wanted, centre_part = False, 0.7
    goes_to, finds_definitions = "line", True

    def __init__(self, context: Context, kind: WindowMode) -> None:
        super().__init__(context, kind)
        self.side_panel = self.side = SidePanel(context)
        self.details_panel = self.details = SourceDetails(context)
        self.tabs = EditorTabs()
        self.find_bar = FindBar(self)
        self._notes: dict[CodeEditor, Annotations] = {}
        self._check = TypedCheck(context)
        self._check.checked.connect(self._on_checked)
        self._check.scanned.connect(self._on_typed_scan)
        self._blocks_later = QTimer(self, singleShot=True, interval=0)  # a turn of their own, once for all who ask
        self._blocks_later.timeout.connect(self._show_blocks)
        self._typed_later = QTimer(self, singleShot=True, interval=LISTS_AFTER_MS)
        self._typed_later.timeout.connect(self._show_lists)
        self.setFocusProxy(self.tabs)
        shown = QWidget()
        self.proposals = ProposalPanel(context, self._check)
        self.proposals.editor_of = self.tabs.of
        self.proposals.placed_in = lambda editor: self._notes[editor].placed
        plain_column(shown, (self.tabs, 1), self.proposals, self.find_bar)
        self.set_content(shown)
        self._asking = PragmaAsking(context, self, self.proposals, self._check)
        self.popover = self._asking.popover
        for wanted in (self.side.tree.file_chosen, self.proposals.file_wanted, self.tabs.crumbs.file_wanted):
            wanted.connect(self.open_line)
        self.side.tree.run_chosen.connect(context.open_run)
        self.side.blocks.line_chosen.connect(self._go_to)
        self.proposals.counted.connect(self.tabs.say_proposed)
        self.tabs.proposed.clicked.connect(self.proposals.open_it)
        self.tabs.crumbs.line_wanted.connect(self._go_to)
        self.tabs.shown.connect(self._on_shown)
        self.tabs.close_asked.connect(self._on_close)
        self.tabs.removed.connect(self._on_removed)
        self.tabs.twice_wanted.connect(self._show_twice)
        self.follow(context.workspace_changed, self._on_workspace)
        self.follow(context.scan_changed, self._on_scan)
        context.code_font_changed.connect(self.tabs.take_font)
        self.follow(context.run_changed, self._on_run)
        self.follow(context.analysis_changed, self._on_analysis)
        context.predictions_changed.connect(self._show_run_again)
        context.running_changed.connect(self._show_run_again)
        context.aside_changed.connect(self._take_run)
        context.background.idle_changed.connect(self._on_idle)
        context.runs_changed.connect(lambda: self.side.tree.show_runs(context.run_folders()))
        context.navigation.selection_changed.connect(self._on_selection)

    def build(self) -> Iterator[None]:
        self._on_workspace()
        yield

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

    def open_line(self, path: Path, line: int = 0) -> None:
        """Show a file, at a line if one is given. One that cannot be read becomes a notice."""
        editor = self.tabs.of(path)
        if editor is None:
            workspace = self.context.workspace
            document = SourceFile(writable=workspace is not None and path.is_relative_to(workspace.root))
            if not self.context.notices.attempt(lambda: document.open(path)):
                return
            self.context.documents.add(document)
            editor = self._editor_of(document)
            self.tabs.add(editor)
        else:
            self.tabs.show_editor(editor)
        self.show_content()
        if line:
            editor.go_to(line)
            editor.setFocus(Qt.FocusReason.OtherFocusReason)

    def _editor_of(self, document: SourceFile) -> CodeEditor:
        """A new editor of a file that is open."""
        editor = CodeEditor(document, MarginColumns)
        self._notes[editor] = Annotations(self.context, editor, self._check, self._typed_later.start)
        editor.pragma_asked.connect(self.ask_pragma)
        editor.may_ask = lambda line: point_at(self._notes[editor].points(), line) is not None
        editor.words_at = partial(self._asking.words, editor, self._notes[editor].points)
        editor.more_of_name = partial(metric_menu.offer, editor)
        editor.definition_asked.connect(self.go_to_definition)
        editor.finding_asked.connect(self.details.show_finding)
        editor.try_asked.connect(self.context.navigation.try_change)
        editor.line_changed.connect(self._on_line)
        editor.file_changed.connect(partial(self._on_changed, editor))
        editor.typed.connect(partial(self._on_text, editor))
        return editor

    def _show_twice(self, editor: CodeEditor) -> None:
        """Show the file of an editor in the other pane too, at the same place."""
        second = self._editor_of(editor.file)
        self.tabs.add(second, beside=True)
        second.go_to(editor.line)
        second.verticalScrollBar().setValue(editor.verticalScrollBar().value())
        second.setFocus(Qt.FocusReason.OtherFocusReason)

    def write_as(self, path: Path) -> bool:
        editor = self.editor
        if editor is None or not super().write_as(path):
            return False
        for view in self.tabs.views(editor.path):
            view.setReadOnly(False)
        return True

    @property
    def can_close(self) -> bool:
        return self.editor is not None

    def close_shown(self) -> None:
        if self.editor is not None:
            self._on_close(self.editor)

    def _on_close(self, editor: CodeEditor) -> None:
        self.popover.close_it()
        if len(self.tabs.views(editor.path)) > 1 or self.context.documents.may_leave([editor.file]):
            self.tabs.remove(editor)
            if self.editor is None:
                self.show_nothing()
            else:
                self.editor.setFocus(Qt.FocusReason.OtherFocusReason)

    def _on_removed(self, editor: CodeEditor) -> None:
        if not self.tabs.views(editor.path):
            self.context.documents.remove(editor.file)
        del self._notes[editor]

    def _on_changed(self, editor: CodeEditor) -> None:
        """The text, or whether it is saved."""
        self._say_status()
        workspace = self.context.workspace
        if syntax_of(editor.path) is not None or (workspace and editor.path in workspace.documents):
            self._check.wait()

    def restore(self, path: Path, text: str) -> bool:
        self.open_line(path)
        editor = self.tabs.of(path)
        if editor is None or editor.isReadOnly():
            return False
        editor.file.replace("restore unsaved changes", text)
        return True

    def find_here(self) -> bool:
        if self.editor is not None:
            self.find_bar.open_on(self.editor)
        return self.editor is not None

    def ask_where(self) -> None:
        if self.editor is not None:
            last = self.editor.blockCount()
            line, given = QInputDialog.getInt(self, "Go to a line", f"Line, 1 to {last}", self.editor.line, 1, last)
            if given:
                self._go_to(line)

    def go_to_definition(self) -> None:
        """Show where the name at the cursor is defined; Back leads here again."""
        if (editor := self.editor) is not None:
            find_definition(self.context, editor, partial(self._show_definition, editor), self._say_status)

    def _show_definition(self, editor: CodeEditor, definition: Definition) -> None:
        navigation = self.context.navigation
        if editor is self.editor and navigation.mode == "source":
            navigation.select(SelectedLine(str(editor.path), editor.line))
            navigation.select(SelectedLine(definition.file, definition.line))
            if self.editor is not None and self.editor.path == Path(definition.file):
                self.editor.go_to(definition.line, definition.column)

    def try_change(self) -> bool:
        return self.editor is not None and self.editor.try_change()

    # ---- pragmas

    def insert_pragma(self) -> None:
        """Ask what the line under the cursor is doing."""
        if self.editor is not None:
            self.ask_pragma(self.editor.line)

    def ask_pragma(self, line: int, name: QTextCursor | None = None) -> None:
        """Open the popover beside a line that holds a call or a branch; elsewhere say so in the status bar."""
        if (editor := self.editor) is None:
            return
        if why := self._asking.ask(editor, self._notes[editor].points(), line, name or QTextCursor()):
            self._say_status(f"line {line}: {why}")

    def propose_marks(self) -> None:
        """Show the list of what is proposed for the file in view, or close it."""
        if self.editor is not None:
            self.proposals.open_it()

    def split_view(self) -> None:
        self.tabs.split()

    # ---- margin, side and details

    def _on_text(self, editor: CodeEditor, edits: Sequence[Edit]) -> None:
        notes = self._notes[editor]
        notes.take_text(edits)
        if editor is self.editor:
            self._say_status()
            if notes.many:
                self._typed_later.start()
            else:
                self._show_lists()

    def _show_lists(self) -> None:
        """The blocks of the text in view, and what is proposed for it."""
        self._blocks_later.start()
        self.proposals.refresh()

    def _on_workspace(self) -> None:
        self.popover.close_it()
        workspace = self.context.workspace
        if self.is_other_project():
            self.tabs.clear()
            self.show_nothing()
        self.side.tree.show_project(workspace)
        self.side.header.set_title("Project", workspace.root.name if workspace else "")
        self._on_scan()
        self._on_run()
        self._on_analysis()
        if workspace is not None and self.editor is None:
            others = *headers_of([workspace.host_language]), ".yaml"
            if sources := [path for path in self.side.tree.files() if path.suffix not in others]:
                self.open_line(sources[0])
            self.setFocus(Qt.FocusReason.OtherFocusReason)

    def _on_typed_scan(self) -> None:
        self.context.slices.start(self, self._each(Annotations.take_scan, self._scan_taken))

    def _on_checked(self) -> None:
        self.context.slices.start(self, self._each(Annotations.take_problems, self._say_status))

    def _each(self, take: Callable[[Annotations], None], after: Callable[[], None]) -> Iterator[None]:
        """What was found in the sources as typed, taken in by one open text after another, the one in view first."""
        for editor in sorted(self._notes, key=lambda editor: editor is not self.editor):
            if editor in self._notes:
                take(self._notes[editor])
                yield
        after()

    def _on_scan(self) -> None:
        self._check.take_scan()
        for notes in self._notes.values():
            notes.take_scan()
        self._scan_taken()
        self._on_shown()

    def _scan_taken(self) -> None:
        self.proposals.take_scan()
        self._blocks_later.start()

    def _on_run(self) -> None:
        for editor in self.tabs.editors():
            editor.moved.reset(editor.file.saved_text)
        self.side.tree.show_runs(self.context.run_folders())

    def _on_idle(self) -> None:
        """A run that could not be read is not waited for any more."""
        if self.context.run is None:
            self._on_line()

    def _take_run(self) -> None:
        for notes in self._notes.values():
            notes.take_run()

    def _on_analysis(self) -> None:
        """Other figures: of another run, or of a part of it."""
        self._take_run()
        self.side.show_shares()
        self._on_shown()

    def _show_run_again(self) -> None:
        """Other predictions; or a run is going, and the numbers of the one before are dimmed."""
        self._take_run()
        self._on_line()

    def _on_shown(self) -> None:
        editor = self.editor
        self.find_bar.close_it()
        self.proposals.show_editor(editor)
        self._blocks_later.start()
        if editor is None:
            self._say_numbers()
            self.details.show_nothing("No block", "Open a file that has one.")
            self.say_status()
            return
        self.side.tree.mark(editor.path)
        self.tabs.crumbs.show_file(editor.path, self.context.root(), self.side.tree.files())
        self._on_line(editor.line)

    def _show_blocks(self) -> None:
        """The blocks of the file in view; where it has very many they are listed in the background."""
        editor = self.editor
        if editor is None:
            self.side.blocks.show_file(self._check.scan, (), "No file is open.")
            return
        scan, notes, is_here = self._check.scan, self._notes[editor], self.context.is_file(editor.path)
        points, lines = notes.points_later(), editor.scanned.frozen()

        def work() -> tuple[BlockRow, ...]:
            return block_rows(scan, is_here, points(), lambda line: lines.place(line) or line)

        def done(rows: tuple[BlockRow, ...]) -> None:
            if editor is self.editor:
                self.side.blocks.show_file(scan, rows)
                self.tabs.crumbs.show_blocks(rows, editor.line)

        if notes.many:
            self.context.background.start("blocks", work, done, self.context.failed)
        else:
            done(work())

    def _on_line(self, line: int = 0) -> None:
        """The cursor is on another line: the block there, in details and over the text."""
        if (editor := self.editor) is None:
            return
        self._say_status()
        self.tabs.crumbs.show_line(editor.line)
        self.tabs.head.setVisible(editor.margin.has_numbers)
        self._say_numbers(show_block(self.context, editor, self.details, self.tabs.say))

    def _say_numbers(self, there: bool = False) -> None:
        if there != self.details_wanted:
            self.details_wanted = there
            self.details_changed.emit()

    def _on_selection(self) -> None:
        """A finding, block or state was selected elsewhere: its file and line come into view here too."""
        navigation, kinds = self.context.navigation, SelectedFinding | SelectedBlock | SelectedState | SelectedLine
        place = self.context.selected_place() if isinstance(navigation.selection, kinds) else None
        if place is not None and navigation.mode == "source":
            self.open_line(self.context.resolve(place[0]), place[1])

    def _go_to(self, line: int) -> None:
        if self.editor is not None:
            self.editor.go_to(line)
            self.editor.setFocus(Qt.FocusReason.OtherFocusReason)

    def _say_status(self, extra: str = "") -> None:
        editor = self.editor
        if editor is None:
            return
        extra = extra or problem_text(editor.margin.problems, editor.line).replace("\n", "; ")
        self.say_status(*status_words(editor), *filter(None, [extra]))
