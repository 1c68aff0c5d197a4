"""Marks that are proposed for the file in view, below its text: accepted one by one or all at once, or ignored.

Accepting is an edit of the text like any other, one step to undo; nothing is saved by it.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path

from PySide6.QtCore import QRectF, Qt, QTimer, Signal
from PySide6.QtGui import QKeyEvent, QPainter
from PySide6.QtWidgets import QApplication, QStackedWidget, QVBoxLayout, QWidget
from shiboken6 import isValid

from workbench.api.languages import syntax_of
from workbench.api.source.pragma_text import format_pragma
from workbench.api.window import Context, set_ground
from workbench.gui.modes.source.editor import CodeEditor
from workbench.gui.modes.source.points import MarkPoint
from workbench.gui.modes.source.typed_check import TypedCheck
from workbench.gui.widgets import Button, EmptyState, IconButton, PanelHeader, draw_swatch, plain_column, rule
from workbench.gui.widgets.boxes import row_layout
from workbench.gui.widgets.row_view import RowView
from workbench.gui.widgets.rows import Column, Row
from workbench.model.pragma import PlacedPragma, Pragma
from workbench.model.proposal import Proposal
from workbench.session.mark.marking import proposed, with_marks
from workbench.session.open.workspace import Workspace

_TALL_PX = 216
_LINE_PX = 74


def _swatch(painter: QPainter, box: QRectF, row: Row) -> None:
    draw_swatch(painter, box.left() + 16, round(box.center().y() - 5), 12, 10, row.pragma.category)


def _known_by(proposal: Proposal) -> object:
    """By which it stays ignored, whatever lines come before it."""
    return proposal.file, proposal.pragma, proposal.why


_OWN_KEYS = (Qt.Key.Key_Escape, Qt.Key.Key_Delete, Qt.Key.Key_Backspace)
_ENTER = (Qt.Key.Key_Return, Qt.Key.Key_Enter)


def _held(event: QKeyEvent) -> bool:
    return bool(event.modifiers() & Qt.KeyboardModifier.ControlModifier)


class _Rows(RowView):
    """Leaves the panel's keys to it. The row that is chosen looks active only while keys go to the panel."""

    has_keys = False

    def show_keys(self, has_keys: bool) -> None:
        self.has_keys = has_keys
        self.viewport().update()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() in _OWN_KEYS or (event.key() in _ENTER and _held(event)):
            event.ignore()
        else:
            super().keyPressEvent(event)


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
        self.placed_in: Callable[[CodeEditor], Sequence[PlacedPragma]] = lambda editor: ()  # the pragmas of its text
        self._known: dict[Path, tuple[Proposal, ...]] = {}
        self._ignored: set[object] = set()
        self.header = PanelHeader("Proposed marks")
        self.more, self.again = Button("", kind="link"), Button("", kind="link")
        self.ignore, self.accept = Button("Ignore"), Button("Accept")
        self.accept_all = Button("Accept all", kind="primary")
        self.shut = IconButton("x", "Close (Esc)")
        for button, tip in (
            (self.ignore, "Leave this one out (Del)"),
            (self.accept, "Add this pragma to the file (Enter)"),
            (self.accept_all, "Add all pragmas proposed for this file (Ctrl+Enter); one undo removes them"),
        ):
            button.setToolTip(tip)
        for control in (self.ignore, self.accept, self.accept_all, self.shut):
            self.header.add(control)
        foot = row_layout(margins=(16, 2, 16, 4), spacing=20)
        for button in (self.more, self.again):
            foot.addWidget(button)
        foot.addStretch(1)
        self.rows = _Rows(
            "Proposed marks",
            (
                Column("", width_px=40, paint=_swatch),
                Column("Line", lambda p: str(p.line), _LINE_PX, right=True),
                Column(
                    "Pragma", lambda p: format_pragma(p.pragma), share=0.5, tip_of=lambda p: format_pragma(p.pragma)
                ),
                Column("Why", lambda p: p.why, share=0.5, ink=lambda p: ("second", 13, 400), tip_of=lambda p: p.why),
            ),
            row_px=28,
        )
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
        self.rows.opened.connect(lambda row: self._take([row]))
        self.accept.clicked.connect(lambda: self._with_current(self._take_one))
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
        held = new is not None and self.isAncestorOf(new)
        if new is not None and held is not self.rows.has_keys:
            self.rows.show_keys(held)
            if not held and self._editor is not None and isValid(self._editor):
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
        """Those for the text in view that it does not hold yet, on the lines where they are in it now."""
        return tuple(p if line == p.line else replace(p, line=line) for line, p in self._open())

    def _open(self) -> Iterator[tuple[int, Proposal]]:
        """The same as they were found, each with its line in the text as it is."""
        editor = self._editor
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
        return next((p.pragma for line, p in self._open() if (line, p.column) == place), None)

    def refresh(self) -> None:
        """Say what there is now."""
        if not self.isVisible():
            self.counted.emit(sum(1 for _ in self._open()))
            return
        now = self.open_now()
        self.counted.emit(len(now))
        current = self.rows.current
        place = self.rows.currentIndex().row()
        self.rows.show_rows([(proposal, ()) for proposal in now])
        if current is not None:
            left = next((p for p in now if p.id == current.id), None)
            wanted = left or (now[min(max(place, 0), len(now) - 1)] if now else None)
            self.rows.choose(lambda row: row is wanted)
        held = self._has_focus()
        self._pages.setCurrentIndex(0 if now else 1)
        if held:
            self._take_focus()
        self._say(len(now))

    def _say(self, count: int) -> None:
        editor = self._editor
        name = editor.path.name if editor is not None else ""
        self.header.set_title("Proposed marks", f"{count} in {name}" if count else "")
        others = self._others()
        self.more.setVisible(bool(others))
        if others:
            path, left = others[0]
            self.more.setText(f"{left} more in {path.name}")
            self.more.setToolTip(str(path))
        own = set(map(_known_by, self._known.get(editor.path, ()))) if editor is not None else set()
        hidden = len(own & self._ignored)
        self.again.setVisible(bool(hidden))
        self.again.setText(f"{hidden} ignored")
        self.again.setToolTip("Propose them again")
        why = "The others were ignored." if hidden else self._why_nothing()
        self._empty.say("Nothing is proposed for this file", why)
        for button in (self.ignore, self.accept, self.accept_all):
            button.setEnabled(bool(count))

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
        self._take(self.open_now())

    def _take_one(self, proposal: Proposal) -> None:
        self._take([proposal])

    def _take(self, marks: Sequence[Proposal]) -> None:
        """Put the pragmas into the text."""
        editor = self._editor
        syntax = syntax_of(editor.path) if editor is not None else None
        if editor is None or syntax is None or not marks:
            return
        self._context.notices.attempt(lambda: editor.set_text(with_marks(editor.text, syntax, marks)))
        self.refresh()
        self._follow()

    def _ignore(self, proposal: Proposal) -> None:
        self._ignored.add(_known_by(proposal))
        self.refresh()
        self._follow()

    def _show_ignored(self) -> None:
        own = self._known.get(self._editor.path, ()) if self._editor is not None else ()
        self._ignored -= set(map(_known_by, own))
        self.refresh()

    def _with_current(self, do: Callable[[Proposal], None]) -> None:
        if isinstance(row := self.rows.current, Proposal):
            do(row)
        self.rows.setFocus(Qt.FocusReason.OtherFocusReason)

    def _follow(self) -> None:
        if isinstance(row := self.rows.current, Proposal):
            self._go_to(row)
        elif self._editor is not None:
            self._editor.flag()

    def _go_to(self, row: Proposal) -> None:
        if self._editor is not None:
            self._editor.go_to(row.line)
            self._editor.flag(row.line)

    def _ask_more(self) -> None:
        if others := self._others():
            self.file_wanted.emit(others[0][0])
            self.rows.step(1)
            self.rows.setFocus(Qt.FocusReason.OtherFocusReason)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() == Qt.Key.Key_Escape:
            self.close_it()
        elif event.key() in _OWN_KEYS:
            self._with_current(self._ignore)
        elif event.key() in _ENTER and _held(event):
            self.take_all()
        else:
            super().keyPressEvent(event)
