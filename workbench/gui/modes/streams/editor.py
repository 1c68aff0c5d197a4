"""The editor of a query: colours, completion of names, what is wrong under the cursor."""

import re
from collections.abc import Sequence

from PySide6.QtCore import QEvent, Qt, Signal
from PySide6.QtGui import QHelpEvent, QKeyEvent, QTextCursor
from PySide6.QtWidgets import QToolTip

from workbench.gui.modes.source.code_view import CodeView, LineNumbers
from workbench.gui.modes.source.completion import Completion
from workbench.gui.modes.source.highlight import wrong_spans
from workbench.gui.modes.source.line_lexer import Span
from workbench.gui.modes.source.pragma_words import Word
from workbench.gui.modes.source.text_edits import put_difference
from workbench.model.diagnostic import Diagnostic
from workbench.session.edit.query_document import QueryFile

_PART = re.compile(
    r"(?P<comment>//[^\n]*)|(?P<number>(?<![\w.])\d[\w.]*)|(?P<word>[A-Za-z_][\w.]*)|(?P<label>\w+(?=:))"
)
_NAME = re.compile(r"[A-Za-z_][\w.]*$")
LEAST_LETTERS = 1  # typed before names are proposed


class QueryEditor(CodeView):
    """`asked` is Ctrl+Enter. Its keywords and names are those of the run that is asked."""

    asked = Signal()
    undo_label = redo_label = ""  # one key typed is like another

    def __init__(self, document: QueryFile) -> None:
        super().__init__(LineNumbers)
        self.file, self._path = document, document.path
        self.setAccessibleName("Query")
        self.setPlaceholderText("measure rate at ...")
        self.problems: Sequence[Diagnostic] = ()
        self._keywords: frozenset[str] = frozenset()
        self._words: tuple[Word, ...] = ()
        self.completion = Completion(self, "Completions")
        self.completion.taken.connect(self._complete)
        self.textChanged.connect(self.colour)
        self.textChanged.connect(lambda: document.type(self.toPlainText()))
        document.changed.connect(self._follow)

    @property
    def can_undo(self) -> bool:
        return self.document().isUndoAvailable()

    @property
    def can_redo(self) -> bool:
        return self.document().isRedoAvailable()

    def _follow(self) -> None:
        """The document took another text: opened, read anew, given up, or had back."""
        other, self._path = self.file.path != self._path, self.file.path
        if self.file.text == self.toPlainText():
            return
        if other:  # not a step that can be undone
            self.setPlainText(self.file.text)
        else:
            put_difference(QTextCursor(self.document()), self.toPlainText(), self.file.text)

    def set_words(self, keywords: Sequence[str], names: Sequence[str]) -> None:
        self._keywords = frozenset(keywords)
        self._words = (*map(Word, names), *(Word(word, "a word of the language") for word in keywords))
        self.colour()

    def show_problems(self, problems: Sequence[Diagnostic]) -> None:
        self.problems = problems
        self.colour()

    def add_statement(self, text: str) -> None:
        """A line more at the end, by one step that can be undone."""
        cursor = self.textCursor()
        cursor.movePosition(QTextCursor.MoveOperation.End)
        before = self.toPlainText()
        cursor.insertText(text if not before or before.endswith("\n") else f"\n{text}")
        self.setTextCursor(cursor)
        self.ensureCursorVisible()

    def colour(self) -> None:
        """Colour the text, and what is wrong in it."""
        lines = [self._spans(line) for line in self.toPlainText().split("\n")]
        for number in {problem.line for problem in self.problems if problem.line}:
            if number <= len(lines):
                here = [problem for problem in self.problems if problem.line == number]
                lines[number - 1] += wrong_spans(self.text_of(number), here)
        self.highlighter.set_spans(lines)

    def _spans(self, line: str) -> list[Span]:
        spans = []
        for part in _PART.finditer(line):
            what = "keyword" if part[0] in self._keywords else part.lastgroup or ""
            if what != "word":
                spans.append((part.start(), len(part[0]), what))
        return spans

    # ---- events

    def viewportEvent(self, event: QEvent) -> bool:
        if isinstance(event, QHelpEvent) and event.type() == QEvent.Type.ToolTip:
            line = self.cursorForPosition(event.pos()).blockNumber() + 1
            said = [f"{p.message}. {p.hint}".strip() for p in self.problems if p.line == line]
            QToolTip.showText(event.globalPos(), "\n".join(said), self)
            return True
        return super().viewportEvent(event)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if self.completion.has(event):
            event.ignore()
            return
        control = bool(event.modifiers() & Qt.KeyboardModifier.ControlModifier)
        if control and event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter):
            self.asked.emit()
            return
        wanted = control and event.key() == Qt.Key.Key_Space
        if not wanted:
            super().keyPressEvent(event)
        if wanted or (event.text().isprintable() and event.text() and not control):
            self._propose(always=wanted)
        else:
            self.completion.hide()

    def _propose(self, *, always: bool) -> None:
        begun = self._begun()
        words = self._words if always or len(begun) >= LEAST_LETTERS else ()
        self.completion.offer(words, begun, always=always)

    def _begun(self) -> str:
        """The name that is before the cursor."""
        cursor = self.textCursor()
        match = _NAME.search(cursor.block().text()[: cursor.positionInBlock()])
        return match[0] if match else ""

    def _complete(self, word: Word) -> None:
        cursor = self.textCursor()
        cursor.movePosition(QTextCursor.MoveOperation.Left, QTextCursor.MoveMode.KeepAnchor, len(self._begun()))
        cursor.insertText(word.text)
        self.setTextCursor(cursor)
