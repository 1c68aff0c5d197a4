"""Ctrl+F: find in the file shown."""

from PySide6.QtCore import Qt
from PySide6.QtGui import QKeyEvent, QTextDocument
from PySide6.QtWidgets import QLineEdit, QWidget

from workbench.api.window import set_ground
from workbench.gui.modes.source.editor import MOST_MARKED, CodeEditor
from workbench.gui.widgets import IconButton, label
from workbench.gui.widgets.boxes import row_layout


class FindBar(QWidget):
    """A field and two arrows below the text. Enter finds the next, Shift+Enter the previous, Esc closes."""

    def __init__(self, parent: QWidget) -> None:
        super().__init__(parent)
        set_ground(self, "chrome")
        self._editor: CodeEditor | None = None
        self.field = QLineEdit()
        self.field.setPlaceholderText("Find in this file")
        self.field.setAccessibleName("Find in this file")
        self.field.setMaximumWidth(360)
        self.said = label("", "small")
        previous, following = (
            IconButton("chevron-up", "Previous (Shift+Enter)"),
            IconButton("chevron-down", "Next (Enter)"),
        )
        shut = IconButton("x", "Close (Esc)")
        row = row_layout(of=self, margins=(16, 5, 12, 5))
        for widget in (self.field, previous, following, self.said):
            row.addWidget(widget)
        row.addStretch(1)
        row.addWidget(shut)
        previous.clicked.connect(lambda: self.step(back=True))
        following.clicked.connect(lambda: self.step())
        shut.clicked.connect(self.close_it)
        self.field.textChanged.connect(lambda: self.step(again=True))
        self.hide()

    def open_on(self, editor: CodeEditor) -> None:
        self._editor = editor
        self.show()
        chosen = editor.textCursor().selectedText()
        if chosen and "\u2029" not in chosen:
            self.field.setText(chosen)
        self._say(editor)
        self.field.selectAll()
        self.field.setFocus()

    def close_it(self) -> None:
        if self.isVisible():
            self.hide()
            if self._editor is not None:
                self._editor.mark_matches("")
                self._editor.setFocus()

    def step(self, back: bool = False, again: bool = False) -> None:
        """Select the next or previous place; at the end go on from the other end."""
        editor, wanted = self._editor, self.field.text()
        if editor is None:
            return
        if not wanted:
            self._say(editor)
            return
        cursor = editor.textCursor()
        if again:
            cursor.setPosition(cursor.selectionStart())
            editor.setTextCursor(cursor)
        flags = QTextDocument.FindFlag.FindBackward if back else QTextDocument.FindFlag(0)
        if not editor.find(wanted, flags):
            cursor = editor.textCursor()
            cursor.movePosition(cursor.MoveOperation.End if back else cursor.MoveOperation.Start)
            editor.setTextCursor(cursor)
            editor.find(wanted, flags)
        self._say(editor)

    def _say(self, editor: CodeEditor) -> None:
        """Mark every place of what is searched for; say how many there are, and which of them is selected."""
        wanted = self.field.text()
        places = editor.mark_matches(wanted)
        number = next((n for n, place in enumerate(places, 1) if place == editor.textCursor()), 0)
        count = f"{len(places)}{'' if len(places) < MOST_MARKED else ' or more'}"
        text = f"{number} of {count}" if number else f"{count} in this file"
        self.said.setText(text if places else "not in this file" if wanted else "")

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() == Qt.Key.Key_Escape:
            self.close_it()
        elif event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter):
            self.step(back=bool(event.modifiers() & Qt.KeyboardModifier.ShiftModifier))
        else:
            super().keyPressEvent(event)
