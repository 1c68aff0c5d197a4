"""Marks that are proposed for the file in view, or for the whole project, below the text: accepted one by one, by file
and kind, or all at once, or ignored.

Accepting is an edit of the text like any other, one step to undo in each file; nothing is saved by it.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path

from PySide6.QtCore import Qt, QTimer, Signal
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import QApplication, QButtonGroup, QStackedWidget, QVBoxLayout, QWidget
from shiboken6 import isValid

from workbench.api.languages import syntax_of
from workbench.api.window import Context, set_ground
from workbench.gui.modes.source.editor import CodeEditor
from workbench.gui.modes.source.mark_rows import (
    ENTER,
    OWN_KEYS,
    MarkGroup,
    MarkRow,
    MarkRows,
    grouped,
    held,
    marks_of,
)
from workbench.gui.modes.source.points import MarkPoint
from workbench.gui.modes.source.typed_check import TypedCheck
from workbench.gui.widgets import Button, EmptyState, IconButton, PanelHeader, PillButton, plain_column, rule
from workbench.gui.widgets.boxes import STRETCH, row_layout
from workbench.model.pragma import PlacedPragma, Pragma
from workbench.model.proposal import Proposal
from workbench.session.mark.marking import proposed, with_marks
from workbench.session.open.workspace import Workspace

_TALL_PX = 240


def _same(row: MarkRow, other: MarkRow) -> bool:
    """Whether a row is the one that was in the list before it was filled anew."""
    if isinstance(row, Proposal) or isinstance(other, Proposal):
        return isinstance(row, Proposal) and isinstance(other, Proposal) and row.id == other.id
    return (row.path, row.category) == (other.path, other.category)


def _known_by(proposal: Proposal) -> object:
    """By which it stays ignored, whatever lines come before it."""
    return proposal.file, proposal.pragma, proposal.why


class ProposalPanel(QWidget):
    """Enter accepts the row, Delete ignores it, Ctrl+Enter accepts all, Esc closes. `counted` says how many there are
    for the file in view, `file_wanted` another file that has some."""

    counted = Signal(int)
    file_wanted = Signal(Path)
    closed = Signal()

    def __init__(self, context: Context, check: TypedCheck) -> None:
        """`check` has the scan of the sources, as they are typed."""
        super().__init__()
        set_ground(self, "panel")
        self._context, self._check = context, check
        self._editor: CodeEditor | None = None
        self._refresh_soon = QTimer(self, singleShot=True, interval=0)
        self._refresh_soon.timeout.connect(self.refresh)
        self.editor_of: Callable[[Path], CodeEditor | None] = lambda path: None  # where the file is open
        self.placed_in: Callable[[CodeEditor], Sequence[PlacedPragma]] = lambda editor: ()  # the pragmas of its text
        self._known: dict[Path, tuple[Proposal, ...]] = {}
        self._ignored: set[object] = set()
        self.header = PanelHeader("Proposed marks")
        self.here, self.everywhere = PillButton("This file", checked=True), PillButton("Whole project")
        scope = QButtonGroup(self)
        for pill in (self.here, self.everywhere):
            scope.addButton(pill)
        scope.buttonClicked.connect(self._turn)
        self.more, self.again = Button("", kind="link"), Button("", kind="link")
        self.ignore, self.accept = Button("Ignore"), Button("Accept")
        self.accept_all = Button("Accept all", kind="primary")
        self.shut = IconButton("x", "Close (Esc)")
        for button, tip in (
            (self.ignore, "Leave this proposal out (Del)"),
            (self.accept, "Add this pragma to the file (Enter)"),
            (self.accept_all, "Add all listed pragmas (Ctrl+Enter); one undo in each file removes them"),
        ):
            button.setToolTip(tip)
        for control in (self.ignore, self.accept, self.accept_all, self.shut):
            self.header.add(control)
        scopes = row_layout(self.here, self.everywhere, spacing=8)
        foot = row_layout(scopes, self.more, self.again, STRETCH, margins=(16, 4, 16, 6), spacing=20)
        self.rows = MarkRows()
        self._empty = EmptyState("check", "Nothing is proposed for this file")
        self._pages = QStackedWidget()
        self._pages.addWidget(self.rows)
        self._pages.addWidget(self._empty)
        column: QVBoxLayout = plain_column(self)
        column.addWidget(rule())
        column.addWidget(self.header)
        column.addWidget(self._pages, 1)
        column.addLayout(foot)
        self.setFixedHeight(_TALL_PX)
        self.setFocusProxy(self.rows)
        self.rows.chosen.connect(self._go_to)
        self.rows.opened.connect(self._take_row)
        self.accept.clicked.connect(lambda: self._with_current(self._take_row))
        self.ignore.clicked.connect(lambda: self._with_current(self._ignore))
        self.accept_all.clicked.connect(self.take_all)
        self.again.clicked.connect(self._show_ignored)
        self.more.clicked.connect(self._ask_more)
        self.shut.clicked.connect(self.close_it)
        self.hide()
        application = QApplication.instance()
        if isinstance(application, QApplication):
            application.focusChanged.connect(self._on_focus)

    def _on_focus(self, old: QWidget | None, new: QWidget | None) -> None:
        """The keyboard came into the panel or left it for another part of the window."""
        inside = new is not None and self.isAncestorOf(new)
        if new is not None and inside is not self.rows.has_keys:
            self.rows.show_keys(inside)
            if not inside and self._editor is not None and isValid(self._editor):
                self._editor.flag()

    # ---- what there is

    def take_scan(self) -> None:
        """The sources were read: find out anew what may be proposed."""
        workspace, scan = self._context.workspace, self._check.scan
        if workspace is None or scan is None:
            self._ignored = self._ignored if workspace else set()
            self._show_proposals(None, ())
        else:
            work = partial(proposed, workspace, scan)
            self._context.background.start(
                "proposals", work, partial(self._show_proposals, workspace), self._context.failed
            )

    def _show_proposals(self, workspace: Workspace | None, proposals: Sequence[Proposal]) -> None:
        if workspace is not self._context.workspace:
            return
        by_file: dict[Path, list[Proposal]] = {}
        for proposal in proposals:
            by_file.setdefault(self._context.resolve(proposal.file), []).append(proposal)
        self._known = {path: tuple(own) for path, own in by_file.items()}
        self.refresh()

    def show_editor(self, editor: CodeEditor | None) -> None:
        """Follow another text; its proposals are counted in a turn of their own."""
        self._editor = editor
        self._refresh_soon.start()

    def open_now(self) -> tuple[Proposal, ...]:
        """The proposals for the shown text that it does not contain yet, on their present lines."""
        return tuple(p if line == p.line else replace(p, line=line) for line, p in self._open(self._editor))

    def _open(self, editor: CodeEditor | None) -> Iterator[tuple[int, Proposal]]:
        """The proposals of an open text, each with its line in the present text."""
        known = self._known.get(editor.path, ()) if editor is not None else ()
        syntax = syntax_of(editor.path) if editor is not None else None
        if not known or editor is None or syntax is None or editor.isReadOnly():
            return
        there = {p.line: p.pragma for p in self.placed_in(editor)}
        for proposal in known:
            line = editor.scanned.place(proposal.line)
            if not line or _known_by(proposal) in self._ignored:
                continue
            above, taken = line - 1, False
            while above in there and not taken:
                taken = there[above] == proposal.pragma
                above -= 1
            if not taken:
                yield line, proposal

    def at(self, point: MarkPoint) -> Pragma | None:
        """What is proposed for a place of the text in view."""
        place = (point.pragma_line, point.column)
        return next((p.pragma for line, p in self._open(self._editor) if (line, p.column) == place), None)

    def refresh(self) -> None:
        """Say what there is now."""
        if not self.isVisible():
            self.counted.emit(sum(1 for _ in self._open(self._editor)))
            return
        now = self.open_now()
        self.counted.emit(len(now))
        current, place = self.rows.current, self.rows.currentIndex().row()
        shown: list[tuple[MarkRow, Sequence[MarkRow]]] = [(proposal, ()) for proposal in now]
        if self.whole:
            shown = [(group, group.marks) for group in grouped(self._everything())]
        self.rows.setRootIsDecorated(self.whole)
        self.rows.show_rows(shown)
        if current is not None:
            rows = [row for top, parts in shown for row in (top, *parts)]
            tops = [top for top, _ in shown]
            left = next((row for row in rows if _same(row, current)), None)
            wanted = left or (tops[min(max(place, 0), len(tops) - 1)] if tops else None)
            self.rows.choose(lambda row: row is wanted)
        has_focus = self._has_focus()
        self._pages.setCurrentIndex(0 if shown else 1)
        if has_focus:
            self._take_focus()
        self._say(sum(len(marks_of(top)) for top, _ in shown))

    @property
    def whole(self) -> bool:
        """Whether those of the whole project are listed."""
        return self.everywhere.isChecked()

    def _turn(self) -> None:
        self.refresh()
        self._take_focus()

    def _everything(self) -> Iterator[tuple[Path, tuple[Proposal, ...]]]:
        """What is proposed for each file of the project and was not ignored."""
        for path in self._known:
            editor = self.editor_of(path)
            if editor is not None:
                left = tuple(proposal for _, proposal in self._open(editor))
            else:
                left = tuple(p for p in self._known[path] if _known_by(p) not in self._ignored)
            if left:
                yield path, left

    def _say(self, count: int) -> None:
        editor = self._editor
        name = editor.path.name if editor is not None and not self.whole else "the whole project"
        self.header.set_title("Proposed marks", f"{count} in {name}" if count else "")
        others = [] if self.whole else self._others()
        self.more.setVisible(bool(others))
        if others:
            path, left = others[0]
            self.more.setText(f"{left} more in {path.name}")
            self.more.setToolTip(str(path))
        hidden = len(set(map(_known_by, self._of_scope())) & self._ignored)
        self.again.setVisible(bool(hidden))
        self.again.setText(f"{hidden} ignored")
        self.again.setToolTip("Propose them again")
        why = "The others were ignored." if hidden else self._why_nothing()
        self._empty.say(f"Nothing is proposed for {'this project' if self.whole else 'this file'}", why)
        for button in (self.ignore, self.accept, self.accept_all):
            button.setEnabled(bool(count))

    def _of_scope(self) -> list[Proposal]:
        """All that was found for the file in view, or for the project."""
        if self.whole:
            return [proposal for own in self._known.values() for proposal in own]
        return list(self._known.get(self._editor.path, ())) if self._editor is not None else []

    def _why_nothing(self) -> str:
        if self._editor is not None and self._editor.isReadOnly():
            return "It is outside the project and read only."
        if self._context.background.waits("scan"):
            return "Reading the sources..."
        return "Every state register, handshake and platform call found in it has a pragma."

    def _others(self) -> list[tuple[Path, int]]:
        """Other files with proposals that were not ignored."""
        here = self._editor.path if self._editor is not None else None
        left = [
            (path, sum(_known_by(p) not in self._ignored for p in own))
            for path, own in self._known.items()
            if path != here
        ]
        return [(path, count) for path, count in left if count]

    # ---- what is done

    def open_it(self) -> None:
        """Show the list, its first row chosen; again: close it."""
        if self.isVisible() and self._has_focus():
            self.close_it()
            return
        self.show()
        self.refresh()
        self._take_focus()

    def _has_focus(self) -> bool:
        within = self.focusWidget()
        return within is not None and within.hasFocus()

    def _take_focus(self) -> None:
        """So that keys reach the list, a row of it chosen, or close it where it is empty."""
        if self.rows.current is None:
            self.rows.step(1)
        (self.rows if self.rows.current else self.shut).setFocus(Qt.FocusReason.OtherFocusReason)

    def close_it(self) -> None:
        if self.isVisible():
            self.hide()
            if self._editor is not None:
                self._editor.flag()
                self._editor.setFocus(Qt.FocusReason.OtherFocusReason)
            self.closed.emit()

    def take_all(self) -> None:
        """Put all that are listed into their texts; of other files, each is opened."""
        if self.whole:
            self._take_of([mark for _, own in self._everything() for mark in own])
        else:
            self._take(self.open_now())

    def _take_row(self, row: MarkRow) -> None:
        if self.whole:
            self._take_of(marks_of(row))
        else:
            self._take(marks_of(row))

    def _take(self, marks: Sequence[Proposal]) -> None:
        """Put the pragmas into the text in view, on whose lines they are."""
        editor = self._editor
        syntax = syntax_of(editor.path) if editor is not None else None
        if editor is None or syntax is None or not marks:
            return
        self._context.notices.attempt(lambda: editor.set_text(with_marks(editor.text, syntax, marks)))
        self.refresh()
        self._follow()

    def _take_of(self, marks: Sequence[Proposal]) -> None:
        """Put pragmas into the texts that they are for, one file in a turn; the file in view is shown again after."""
        files = dict.fromkeys(self._context.resolve(mark.file) for mark in marks)
        before = self._editor.path if self._editor is not None else None

        def turns() -> Iterator[None]:
            for path in files:
                self.file_wanted.emit(path)
                yield
                now = ((line, proposal) for line, proposal in self._open(self._editor) if proposal in marks)
                self._take([replace(proposal, line=line) for line, proposal in now])
                yield
            if before is not None:
                self.file_wanted.emit(before)
            self._take_focus()

        self._context.slices.start(self, turns())

    def _ignore(self, row: MarkRow) -> None:
        self._ignored |= set(map(_known_by, marks_of(row)))
        self.refresh()
        self._follow()

    def _show_ignored(self) -> None:
        self._ignored -= set(map(_known_by, self._of_scope()))
        self.refresh()

    def _with_current(self, do: Callable[[MarkRow], None]) -> None:
        if isinstance(row := self.rows.current, Proposal | MarkGroup):
            do(row)
        self.rows.setFocus(Qt.FocusReason.OtherFocusReason)

    def _follow(self) -> None:
        row = self.rows.current
        if isinstance(row, Proposal) and not self.whole:
            self._go_to(row)
        elif self._editor is not None:
            self._editor.flag()

    def _go_to(self, row: MarkRow) -> None:
        """Show the line of a row; of another file, that is opened, and the keyboard stays in the list."""
        first = marks_of(row)[0]
        path = self._context.resolve(first.file)
        if self._editor is None or self._editor.path != path:
            self.file_wanted.emit(path)
            self.rows.choose(lambda other: _same(other, row))
            self.rows.setFocus(Qt.FocusReason.OtherFocusReason)
        if (editor := self._editor) is not None:
            line = (editor.scanned.place(first.line) or first.line) if self.whole else first.line
            editor.go_to(line)
            editor.flag(line)

    def _ask_more(self) -> None:
        if others := self._others():
            self.file_wanted.emit(others[0][0])
            self.rows.step(1)
            self.rows.setFocus(Qt.FocusReason.OtherFocusReason)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() == Qt.Key.Key_Escape:
            self.close_it()
        elif event.key() in OWN_KEYS:
            self._with_current(self._ignore)
        elif event.key() in ENTER and held(event):
            self.take_all()
        else:
            super().keyPressEvent(event)
