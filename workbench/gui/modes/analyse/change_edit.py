"""The input line for a change of the catalogue, with completion."""

from collections.abc import Callable

from PySide6.QtCore import QStringListModel, Qt, Signal
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import QCompleter, QLineEdit, QListView

from workbench.model.changes import Change, read_change
from workbench.model.diagnostic import Diagnostic, WorkbenchError

Complete = Callable[[str], tuple[int, tuple[str, ...]]]


class ChangeEdit(QLineEdit):
    """`complete` gives where the word before the cursor begins, and what it could be. Enter shows the change that the
    line names (`entered`), or what is wrong with it (`refused`; None while it is edited)."""

    entered = Signal(object)
    refused = Signal(object)

    def __init__(self, complete: Complete) -> None:
        super().__init__()
        self._complete, self._start = complete, 0
        self.setProperty("role", "code")
        self.setPlaceholderText("Add a change (Ctrl+Space)")
        self.setAccessibleName("Add a change")
        self.setToolTip("Ctrl+Space completes, Enter adds the change")
        self._words = QStringListModel(self)
        self._completer = QCompleter(self._words, self)
        self._completer.setCompletionMode(QCompleter.CompletionMode.UnfilteredPopupCompletion)
        self._list = QListView()
        self._list.setAccessibleName("Completions")
        self._list.setObjectName("completion")
        self._completer.setPopup(self._list)
        self._completer.setWidget(self)
        self._completer.setMaxVisibleItems(10)
        self._completer.activated.connect(self._take)
        self.textEdited.connect(lambda: self._offer(asked=False))
        self.returnPressed.connect(self._enter)

    @property
    def offered(self) -> tuple[str, ...]:
        """What the list of completions shows."""
        return tuple(self._words.stringList()) if self._list.isVisible() else ()

    def _offer(self, *, asked: bool) -> None:
        """Show what the word before the cursor could be; unasked only once it was started."""
        self.refused.emit(None)
        before = self.text()[: self.cursorPosition()]
        self._start, words = self._complete(before)
        if not words or words == (before[self._start :],) or not (asked or before[self._start :]):
            self._list.hide()
            return
        self._words.setStringList(list(words))
        self._completer.complete(self.cursorRect().adjusted(0, 0, 320, 4))
        self._list.setCurrentIndex(self._completer.completionModel().index(0, 0))

    def _take(self, word: str) -> None:
        """Replace the word that was started; a whole word is followed by a space."""
        after = self.text()[self.cursorPosition() :]
        taken = self.text()[: self._start] + word + ("" if word.endswith("=") else " ")
        self.setText(taken + after.lstrip())
        self.setCursorPosition(len(taken))
        if word.endswith("="):
            self._offer(asked=True)

    def _enter(self) -> None:
        try:
            change: Change = read_change(self.text().strip())
        except WorkbenchError as error:
            problem: Diagnostic = error.diagnostics[0]
            self.refused.emit(problem)
            return
        self.clear()
        self.entered.emit(change)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if self._list.isVisible() and event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter, Qt.Key.Key_Tab):
            event.ignore()  # the list takes it
        elif event.key() == Qt.Key.Key_Space and event.modifiers() & Qt.KeyboardModifier.ControlModifier:
            self._offer(asked=True)
        else:
            super().keyPressEvent(event)
