"""One file: text, and at its left what the last run says about each line, its pragmas and what lacks one."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import NamedTuple

from PySide6.QtCore import QEvent, QPointF, Qt, Signal
from PySide6.QtGui import (
    QContextMenuEvent,
    QHelpEvent,
    QKeyEvent,
    QMouseEvent,
    QPaintEvent,
    QTextCursor,
)
from PySide6.QtWidgets import QMenu, QTextEdit, QToolTip, QWidget

from workbench.api.languages import syntax_of
from workbench.api.source.pragma_typed import Typed, typed_at
from workbench.api.window import colour
from workbench.gui.modes.source.advice_boxes import AdviceBoxes
from workbench.gui.modes.source.code_view import CodeView
from workbench.gui.modes.source.completion import Completion
from workbench.gui.modes.source.highlight import pragma_spans, wrong_spans
from workbench.gui.modes.source.line_lexer import LineColours, Span
from workbench.gui.modes.source.lines_moved import LinesMoved
from workbench.gui.modes.source.margin import Columns, Margin, columns_of, rich_tip
from workbench.gui.modes.source.pragma_words import Word
from workbench.gui.modes.source.problems import problem_text
from workbench.gui.modes.source.state_map import MAP_PX, StateMap
from workbench.gui.modes.source.text_edits import CLOSING, STEP, close_block, new_line, put_difference, shift_lines
from workbench.session.edit.documents import SourceFile
from workbench.session.program.keys import with_key

MOST_MARKED = 1000
_NAME = re.compile(r"[A-Za-z_$][\w$]*")
_REST, _REST_OF_TARGET = re.compile(r"[\w$]*"), re.compile(r"[\w$.\[\]*]*")  # of a word that the cursor is in


class Edit(NamedTuple):
    """Lines that were replaced: from which on, counted from 0, the old ones and the new ones."""

    first: int
    old: Sequence[str]
    new: Sequence[str]


def _plain(line: str) -> str:
    """A line as files have it: with plain blanks."""
    return line if line.isascii() else line.replace("\u00a0", " ").replace("\u2028", "\n")


class CodeEditor(CodeView):
    """Editable unless the file is not. `pragma_asked` carries a line (what is it doing?) and
    a cursor that has chosen the name that was clicked, or none."""

    pragma_asked = Signal(int, QTextCursor)
    definition_asked = Signal()  # of the name at the cursor
    finding_asked = Signal(str)  # the id of one whose advice was clicked
    try_asked = Signal(str)  # the id of one whose change was to be tried
    typed = Signal(object)  # the edits by which the text is another
    file_changed = Signal()  # its text, here or in another view of it, or whether it is saved
    undo_label = redo_label = ""  # one key typed is like another

    def __init__(self, document: SourceFile, side: Callable[[CodeEditor], QWidget]) -> None:
        """`side` makes what shows the margin."""
        self.margin = Margin()  # whose columns the side is as wide as
        super().__init__(side)
        self.file = document
        self.setAccessibleName(f"Text of {document.path.name}" if document.path else "Text")
        self.lines = document.text.split("\n")  # of the text as it is
        self._text: str | None = document.text
        self.moved, self.scanned, self.checked = (LinesMoved(self.lines) for _ in range(3))
        self.advice = AdviceBoxes(self, self.margin, self.moved)
        self.map, self.right_px = StateMap(self, self.margin, self.moved, self.scanned), MAP_PX
        self.verticalScrollBar().valueChanged.connect(lambda: self.map.update())
        self._colours = LineColours(self.lines, (document.path or Path()).suffix)
        self.may_ask: Callable[[int], bool] = lambda line: False  # whether a line holds what a pragma could name
        #: Adds to a menu what else may be asked of a name in a line.
        self.more_of_name: Callable[[QMenu, int, str], None] = lambda menu, line, name: None
        self.words_at: Callable[[int, Typed, str], Sequence[Word]] = lambda line, typed, after: ()
        self.completion = Completion(self, "Completions")
        self.completion.taken.connect(self._put_word)
        self._matches: list[QTextCursor] = []  # what is searched for, marked
        self._link = QTextCursor()  # the name under the pointer, while a click leads to its definition
        self._typing = False
        self._edits: list[Edit] = []  # that were made and not taken in yet
        self.setPlainText(document.text)
        self.setReadOnly(document.read_only)
        self.document().contentsChange.connect(self._on_change)
        self.textChanged.connect(self._on_text)
        document.changed.connect(self._follow)
        self.viewport().setMouseTracking(True)
        self.highlighter.follow(self._spans_of)
        self.mark()

    @property
    def text(self) -> str:
        """The text as it is."""
        if self._text is None:
            self._text = "\n".join(self.lines)
        return self._text

    @property
    def path(self) -> Path:
        return self.file.path or Path()

    @property
    def can_undo(self) -> bool:
        return self.document().isUndoAvailable()

    @property
    def can_redo(self) -> bool:
        return self.document().isRedoAvailable()

    def name_at(self, cursor: QTextCursor) -> QTextCursor:
        """A cursor that has chosen the name at a place; none is chosen where none is there."""
        block, at, selection = cursor.block(), cursor.positionInBlock(), QTextCursor(cursor)
        selection.clearSelection()
        for name in _NAME.finditer(block.text()):
            if name.start() <= at <= name.end():
                selection.setPosition(block.position() + name.start())
                selection.setPosition(block.position() + name.end(), QTextCursor.MoveMode.KeepAnchor)
        return selection

    def set_text(self, text: str) -> None:
        """Make the text this one by one step that can be undone, touching only the lines that differ."""
        old = self.text
        if old == text:
            return
        put_difference(QTextCursor(self.document()), old, text)

    def _follow(self) -> None:
        """The document took another text: read anew, given up, had back, or typed in another view."""
        if not self._typing:
            self.set_text(self.file.text)
        self.file_changed.emit()

    def leave_file(self) -> None:
        """Follow the document no longer, before the editor goes."""
        self.file.changed.disconnect(self._follow)

    def update_margin(self) -> None:
        """Draw what the margin holds now."""
        self._side.update()

    @property
    def columns(self) -> Columns:
        """The margin's columns; none if no run has numbers for this file."""
        return columns_of(self.width(), self.margin.has_numbers)

    def colour_marks(self) -> None:
        """Colour lines with a pragma or a problem as the margin has them now."""
        self.highlighter.refresh()
        self.map.refresh()

    def fit_side(self) -> bool:
        changed = super().fit_side()
        view = self.viewport().geometry()
        self.map.setGeometry(view.right() + 1, view.top(), MAP_PX, view.height())
        return changed

    def _spans_of(self, number: int) -> Sequence[Span]:
        """What a line, counted from 0, is coloured with."""
        line, spans = number + 1, self._colours.spans(number)
        wrong = self.margin.problems.get(line)
        if wrong or line in self.margin.pragmas or line in self.margin.metrics:
            text, syntax = self.lines[number], syntax_of(self.path)
            spans += wrong_spans(text, wrong, syntax) if wrong else pragma_spans(text, syntax)
        return spans

    def mark_matches(self, wanted: str) -> list[QTextCursor]:
        """Mark every place of a text, capitals or not; "" marks none."""
        self._matches = []
        cursor = self.document().find(wanted) if wanted else QTextCursor()
        while not cursor.isNull() and len(self._matches) < MOST_MARKED:
            self._matches.append(cursor)
            cursor = self.document().find(wanted, cursor)
        self.mark()
        return self._matches

    # ---- events

    def _on_change(self, position: int, removed: int, added: int) -> None:
        """Something was edited, or only coloured: keep the lines as the text has them."""
        document = self.document()
        first = document.findBlock(position).blockNumber()
        end = document.findBlock(position + added)
        last = end.blockNumber() if end.isValid() else document.blockCount() - 1
        old_end = last + 1 - (document.blockCount() - len(self.lines))
        new, block = [], document.findBlockByNumber(first)
        for _ in range(first, last + 1):
            new.append(_plain(block.text()))
            block = block.next()
        old = self.lines[first:old_end]
        if old != new:
            self.lines[first:old_end] = new
            self._text = None
            self._colours.edited(first, len(old), len(new))
            for lines in (self.moved, self.scanned, self.checked):
                lines.edited(first, old, new)
            self._edits.append(Edit(first, old, new))

    def _on_text(self) -> None:
        edits, self._edits = self._edits, []
        if not edits:  # it was coloured
            return
        self._typing = True
        self.file.type(self.text)
        self._typing = False
        self.highlighter.refresh()
        self._side.update()
        self.map.refresh()
        if self.margin.advice:
            self.viewport().update()  # lines may be longer than before
        self.typed.emit(edits)

    def marks(self) -> list[QTextEdit.ExtraSelection]:
        """The marked lines, what is searched for, and the name that a click would follow."""
        marks = super().marks()
        for match in self._matches:
            mark = QTextEdit.ExtraSelection()
            mark.format.setBackground(colour("medium_ground"))
            mark.cursor = match
            marks.append(mark)
        if self._link.hasSelection():
            mark = QTextEdit.ExtraSelection()
            mark.format.setForeground(colour("link"))
            mark.format.setFontUnderline(True)
            mark.cursor = self._link
            marks.append(mark)
        return marks

    def viewportEvent(self, event: QEvent) -> bool:
        if isinstance(event, QHelpEvent) and event.type() == QEvent.Type.ToolTip:
            line = self.cursorForPosition(event.pos()).blockNumber() + 1
            words = self._advice_words(event.pos().toPointF()) or problem_text(self.margin.problems, line)
            QToolTip.showText(event.globalPos(), rich_tip(words), self)
            return True
        return super().viewportEvent(event)

    def try_change(self) -> bool:
        """Ask for a try of the change that is advised about the cursor's line. False where none is."""
        advice = self.advice.of_line(self.line)
        if advice is None or not advice.can_try:
            return False
        self.try_asked.emit(advice.finding)
        return True

    def _advice_words(self, point: QPointF) -> str:
        """What the advice at a point says, and where a click there leads; "" where there is none."""
        if (box := self.advice.at(point)) is None:
            return ""
        if box.try_rect.contains(point):
            return with_key("Predict what this change gains; nothing is edited", "try_change")
        return f"{box.advice.words}. Click to see it in Analyse."

    def contextMenuEvent(self, event: QContextMenuEvent) -> None:
        """What is this call or branch doing? Elsewhere, and over chosen text: cut, copy, paste."""
        line = self.cursorForPosition(event.pos()).blockNumber() + 1
        event.accept()
        there = self.cursorForPosition(event.pos())
        name = self.name_at(there)
        if not self.textCursor().hasSelection() and self.may_ask(line):
            self.pragma_asked.emit(line, name)
            return
        menu = self.createStandardContextMenu()
        if name.hasSelection():
            menu.addSeparator()
            menu.addAction("Go to its definition", lambda: self.ask_definition(there))
            self.more_of_name(menu, line, name.selectedText())
        menu.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        menu.popup(event.globalPos())

    def paintEvent(self, event: QPaintEvent) -> None:
        super().paintEvent(event)
        self.advice.paint()

    def scrollContentsBy(self, dx: int, dy: int) -> None:
        super().scrollContentsBy(dx, dy)
        if dx:
            self.viewport().update()  # advice has other room then

    def mousePressEvent(self, event: QMouseEvent) -> None:
        box = self.advice.at(event.position())
        if box is not None and event.button() == Qt.MouseButton.LeftButton:
            asked = self.try_asked if box.try_rect.contains(event.position()) else self.finding_asked
            asked.emit(box.advice.finding)
        else:
            super().mousePressEvent(event)

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        super().mouseMoveEvent(event)
        held = event.modifiers() & Qt.KeyboardModifier.ControlModifier and not event.buttons()
        at = self.cursorForPosition(event.position().toPoint())
        self._show_link(self.name_at(at) if held else QTextCursor())
        if not held:
            over = not event.buttons() and self.advice.at(event.position()) is not None
            self.viewport().setCursor(Qt.CursorShape.PointingHandCursor if over else Qt.CursorShape.IBeamCursor)

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        super().mouseReleaseEvent(event)
        held = event.modifiers() & Qt.KeyboardModifier.ControlModifier
        if held and event.button() == Qt.MouseButton.LeftButton and not self.textCursor().hasSelection():
            self._show_link(QTextCursor())
            self.definition_asked.emit()

    def keyReleaseEvent(self, event: QKeyEvent) -> None:
        super().keyReleaseEvent(event)
        if event.key() == Qt.Key.Key_Control:
            self._show_link(QTextCursor())

    def _show_link(self, name: QTextCursor) -> None:
        """Show that a click on a name leads to its definition; without one, that it does not."""
        if name.hasSelection() != self._link.hasSelection() or name != self._link:
            self._link = name
            link = name.hasSelection()
            self.viewport().setCursor(Qt.CursorShape.PointingHandCursor if link else Qt.CursorShape.IBeamCursor)
            self.mark()

    def ask_definition(self, at: QTextCursor) -> None:
        """Ask for the definition of the name at a place."""
        at.clearSelection()
        self.setTextCursor(at)
        self.definition_asked.emit()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        control = bool(event.modifiers() & Qt.KeyboardModifier.ControlModifier)
        open_list, place = self.completion.list.isVisible(), self.textCursor().position()
        if self.completion.has(event):
            event.ignore()
        elif control and event.key() == Qt.Key.Key_Space:
            self._complete(always=True)
        else:
            self._type(event)
            printed = event.text().isprintable() and event.text() and not control
            if printed or (open_list and event.key() == Qt.Key.Key_Backspace):
                self._complete()
            elif event.text() or self.textCursor().position() != place:
                self.completion.hide()

    def _complete(self, *, always: bool = False) -> None:
        """Offer what may be at the cursor, where a pragma is being typed there."""
        typed, after = self._typed()
        wanted = typed is not None and (always or typed.part != "condition" or bool(typed.begun))
        if typed is not None and wanted and not self.isReadOnly():
            self.completion.offer(self.words_at(self.line, typed, after), typed.begun, always=always)
        else:
            self.completion.hide()

    def _typed(self) -> tuple[Typed | None, str]:
        """What of a pragma is before the cursor, and what behind the word there."""
        cursor, syntax = self.textCursor(), syntax_of(self.path)
        text, at = cursor.block().text(), cursor.positionInBlock()
        typed = typed_at(text[:at], syntax) if syntax is not None and "pragma" in text else None
        rest = _REST_OF_TARGET if typed is not None and typed.part == "target" else _REST
        word = rest.match(text, at)
        return typed, text[word.end() if word else at :]

    def _put_word(self, word: Word) -> None:
        """Replace the word at the cursor, as one undo step."""
        typed, after = self._typed()
        if typed is not None:
            cursor = self.textCursor()
            end = cursor.block().position() + len(cursor.block().text()) - len(after)
            cursor.setPosition(cursor.position() - len(typed.begun))
            cursor.setPosition(end, QTextCursor.MoveMode.KeepAnchor)
            cursor.beginEditBlock()  # else it is undone with what was put right before it
            cursor.insertText(word.text + word.behind)
            cursor.endEditBlock()
            self.setTextCursor(cursor)
            if word.behind:
                self._complete()

    def _type(self, event: QKeyEvent) -> None:
        cursor, key = self.textCursor(), event.key()
        if self.isReadOnly():
            super().keyPressEvent(event)
        elif key in (Qt.Key.Key_Return, Qt.Key.Key_Enter):
            new_line(cursor)
            self.ensureCursorVisible()
        elif key == Qt.Key.Key_Backtab or (key == Qt.Key.Key_Tab and cursor.hasSelection()):
            shift_lines(cursor, deeper=key == Qt.Key.Key_Tab)
        elif key == Qt.Key.Key_Tab:
            self.insertPlainText(STEP)
        else:
            super().keyPressEvent(event)
            if event.text() in CLOSING:
                close_block(self.textCursor())

    # ---- for the side
