"""Text fields for expressions over metrics and for lists of choices, with completion and explanations."""

import re
from collections.abc import Collection, Sequence
from dataclasses import replace
from functools import cached_property

from PySide6.QtCore import QEvent, Qt, Signal
from PySide6.QtGui import QFocusEvent, QFontMetrics, QHelpEvent, QKeyEvent, QResizeEvent, QTextCharFormat, QTextCursor
from PySide6.QtWidgets import QPlainTextEdit, QTextEdit, QToolTip

from workbench.api.window import colour
from workbench.gui.look import fonts
from workbench.gui.modes.source.completion import Completion
from workbench.gui.modes.source.pragma_words import Word
from workbench.model.diagnostic import Diagnostic
from workbench.model.expression import Expression

_MARGIN_PX, _AROUND_PX = 2, 6  # around a text; with the edge and the style sheet's padding: one line is 28 high
_MOST_LINES, _MOST_READ, _MOST_HINT = 8, 60, 120
_BEGUN = re.compile(r"[A-Za-z_][\w.]*$")
_NAME = re.compile(r"[A-Za-z_][\w.]*")


def named_hint(hint: str) -> str:
    """A hint beside a field that completes names: no long list of them."""
    return hint if len(hint) <= _MOST_HINT else "Ctrl+Space lists the names."


class TextArea(QPlainTextEdit):
    """A field of at least so many lines, higher where the text breaks into more; it signals when it is left."""

    left = Signal()

    def __init__(self, lines: int, code: bool) -> None:
        super().__init__()
        self.setProperty("role", "field")
        self.setTabChangesFocus(True)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)  # lines break
        self.setFont(fonts.code_font(12) if code else fonts.ui_font(13))
        self._lines = lines
        self.document().setDocumentMargin(_MARGIN_PX)
        self.verticalScrollBar().valueChanged.connect(self._keep_top)
        self.verticalScrollBar().rangeChanged.connect(self._keep_top)
        self.textChanged.connect(self._fit)
        self._fit()

    def fix(self, fixed: bool) -> None:
        """Let the text be read only, and then shown whole, or changed again."""
        self.setReadOnly(fixed)
        self._fit()

    @property
    def _most(self) -> int:
        """The most lines that are shown: what can only be read is shown whole."""
        return _MOST_READ if self.isReadOnly() else _MOST_LINES

    def _broken(self) -> int:
        """Into how many lines the text breaks, or more than are shown; the layout alone counts no further than it was
        painted."""
        block, lines = self.document().firstBlock(), 0
        while block.isValid() and lines <= self._most:
            self.document().documentLayout().blockBoundingRect(block)
            lines += block.layout().lineCount()
            block = block.next()
        return lines

    def _fit(self) -> None:
        broken, policies = self._broken(), Qt.ScrollBarPolicy
        lines = max(self._lines, min(broken, self._most))
        self.setVerticalScrollBarPolicy(
            policies.ScrollBarAlwaysOff if broken <= self._most else policies.ScrollBarAsNeeded
        )
        self.setFixedHeight(QFontMetrics(self.font()).lineSpacing() * lines + 2 * _AROUND_PX)

    def _keep_top(self, *_: int) -> None:
        """All of the text is in view where it is not too long, whatever was scrolled while the field grew."""
        if self._broken() <= self._most:
            self.verticalScrollBar().setValue(0)

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._fit()

    def focusOutEvent(self, event: QFocusEvent) -> None:
        super().focusOutEvent(event)
        if event.reason() != Qt.FocusReason.PopupFocusReason:  # a list or a menu of the field's own
            self.left.emit()


class WordsArea(TextArea):
    """`words` are offered as one types, all of them at Ctrl+Space; a pointer on one shows what it is. An `expression`'s
    fault is underlined as one types, and carried by `faulted`; None where there is none. Enter leaves a field of one
    line."""

    faulted = Signal(object)

    def __init__(self, lines: int, *, expression: bool = False) -> None:
        super().__init__(lines, code=True)
        self._expression, self.words = expression, tuple[Word, ...]()
        self._names, self._prefix = frozenset[str](), ""  # that an expression may read
        self.textChanged.connect(self._look)

    def set_words(self, words: Sequence[Word], names: Collection[str] = (), prefix: str = "") -> None:
        """What is offered here, and what an expression may read: these names, and any that begins with the prefix."""
        self.words, self._names, self._prefix = tuple(words), frozenset(names), prefix
        self._look()

    @property
    def fault(self) -> Diagnostic | None:
        """What is wrong with the expression, at its column."""
        text = self.toPlainText()
        if not self._expression or not self._names or not text.strip():
            return None
        fault = next(iter(Expression.parse(text, self._names, line=1, prefix=self._prefix)[1]), None)
        return replace(fault, hint=named_hint(fault.hint)) if fault else None

    def _look(self) -> None:
        fault = self.fault
        marked = []
        if fault is not None and fault.column is not None:
            marked = [self._underlined(fault.column - 1)]
        self.setExtraSelections(marked)
        if self._expression:
            self.faulted.emit(fault)

    def _underlined(self, column: int) -> QTextEdit.ExtraSelection:
        """The name at a column, or the one character there, or before it at the end."""
        text = self.toPlainText()
        column = min(column, max(len(text) - 1, 0))
        name = _NAME.match(text, column)
        mark = QTextEdit.ExtraSelection()
        cursor = QTextCursor(self.document())
        cursor.setPosition(column)
        cursor.setPosition(min(name.end() if name else column + 1, len(text)), QTextCursor.MoveMode.KeepAnchor)
        mark.cursor = cursor
        style = QTextCharFormat()
        style.setUnderlineStyle(QTextCharFormat.UnderlineStyle.WaveUnderline)
        style.setUnderlineColor(colour("high"))
        mark.format = style
        return mark

    # ---- completion

    @cached_property
    def completion(self) -> Completion:
        """The list of words, made when one is typed first: a form has many fields."""
        made = Completion(self, "Completions")
        made.taken.connect(self._complete)
        return made

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if self.completion.has(event):
            event.ignore()
            return
        control = bool(event.modifiers() & Qt.KeyboardModifier.ControlModifier)
        if event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter) and self._lines == 1:
            self.left.emit()
            return
        wanted = control and event.key() == Qt.Key.Key_Space
        if not wanted:
            super().keyPressEvent(event)
        if wanted or (event.text().isprintable() and event.text() and not control):
            begun = self._begun()
            self.completion.offer(self.words if wanted or begun else (), begun, always=wanted)
        else:
            self.completion.hide()

    def _begun(self) -> str:
        """The name that is before the cursor."""
        cursor = self.textCursor()
        match = _BEGUN.search(cursor.block().text()[: cursor.positionInBlock()])
        return match[0] if match else ""

    def _complete(self, word: Word) -> None:
        cursor = self.textCursor()
        cursor.movePosition(QTextCursor.MoveOperation.Left, QTextCursor.MoveMode.KeepAnchor, len(self._begun()))
        cursor.insertText(word.text)
        self.setTextCursor(cursor)

    def viewportEvent(self, event: QEvent) -> bool:
        """What the name under the pointer is."""
        if isinstance(event, QHelpEvent) and event.type() == QEvent.Type.ToolTip:
            cursor = self.cursorForPosition(event.pos())
            at, line = cursor.positionInBlock(), cursor.block().text()
            named = next((m[0] for m in _NAME.finditer(line) if m.start() <= at <= m.end()), "")
            word = next((word for word in self.words if word.text == named), None)
            QToolTip.showText(event.globalPos(), f"{word.text}\n{word.note}" if word else "", self)
            return True
        return super().viewportEvent(event)
