"""Ctrl+F: find and replace in the file shown."""

from PySide6.QtCore import Qt
from PySide6.QtGui import QKeyEvent, QTextDocument
from PySide6.QtWidgets import QLineEdit, QWidget

from workbench.api.window import set_ground
from workbench.gui.modes.source.editor import MOST_MARKED, CodeEditor
from workbench.gui.widgets import Button, IconButton, label
from workbench.gui.widgets.boxes import FlowRow, row_layout

_FIELD_PX = 200


class FindBar(QWidget):
    """Below the text: a field with two arrows, and one for what takes the place of what is found. Enter finds the next,
    Shift+Enter the previous; in the second field Enter replaces. Esc closes."""

    def __init__(self, parent: QWidget) -> None:
        super().__init__(parent)
        set_ground(self, "chrome")
        self._editor: CodeEditor | None = None
        self.field = QLineEdit()
        self.field.setPlaceholderText("Find in this file")
        self.field.setAccessibleName("Find in this file")
        self.field.setMinimumWidth(_FIELD_PX)
        self.said = label("", "small")
        previous, following = (
            IconButton("chevron-up", "Previous (Shift+Enter)"),
            IconButton("chevron-down", "Next (Enter)"),
        )
        shut = IconButton("x", "Close (Esc)")
        self.into = QLineEdit()
        self.into.setMinimumWidth(_FIELD_PX)
        self.into.setPlaceholderText("Replace with")
        self.into.setAccessibleName("Replace with")
        self.replace_one = Button("Replace", on=self.replace)
        self.replace_one.setToolTip("Replace this place and go to the next (Enter)")
        self.replace_every = Button("Replace all", on=self.replace_all)
        self._replacing = (self.into, self.replace_one, self.replace_every)
        parts = FlowRow(self.field, previous, following, self.said, *self._replacing, spacing=8, below=5)
        row_layout((parts, 1), shut, of=self, margins=(16, 5, 12, 5))
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
        for widget in self._replacing:
            widget.setEnabled(not editor.isReadOnly())
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

    def replace(self) -> None:
        """Replace the place that is selected, and go to the next one."""
        editor, wanted = self._editor, self.field.text()
        if editor is None or not wanted or editor.isReadOnly():
            return
        cursor = editor.textCursor()
        if cursor.selectedText().lower() == wanted.lower():
            cursor.insertText(self.into.text())
        self.step()

    def replace_all(self) -> None:
        """Replace every place, as one step that can be undone."""
        editor, wanted = self._editor, self.field.text()
        if editor is None or not wanted or editor.isReadOnly():
            return
        document, count = editor.document(), 0
        whole = editor.textCursor()
        whole.beginEditBlock()
        place = document.find(wanted)
        while not place.isNull():
            place.insertText(self.into.text())
            count += 1
            place = document.find(wanted, place.position())
        whole.endEditBlock()
        editor.mark_matches("")
        self.said.setText(f"{count} replaced" if count else "not in this file")

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
            if self.into.hasFocus():
                self.replace()
            else:
                self.step(back=bool(event.modifiers() & Qt.KeyboardModifier.ShiftModifier))
        else:
            super().keyPressEvent(event)
