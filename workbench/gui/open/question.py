"""A question that stops the window until it is answered: what would become of something unsaved."""

from dataclasses import dataclass

from PySide6.QtWidgets import QDialog, QWidget

from workbench.gui.widgets import Button, label
from workbench.gui.widgets.boxes import STRETCH, column_layout, row_layout

SAVE, DISCARD, CANCEL = "Save", "Discard", "Cancel"
_MOST_LINES = 12


@dataclass(frozen=True)
class Question:
    """`lines` are what it is about; `answers` are the buttons, the likely one first, the one that changes nothing
    last: Enter gives the first, Esc the last."""

    title: str
    text: str
    lines: tuple[str, ...]
    answers: tuple[str, ...] = (SAVE, DISCARD, CANCEL)


class QuestionDialog(QDialog):
    """`answer` is the text of the button that was chosen."""

    def __init__(self, question: Question, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.answer = question.answers[-1]
        self.setWindowTitle(question.title)
        self.setFixedWidth(520)
        column = column_layout(of=self, margins=(24, 20, 24, 20), spacing=12)
        column.addWidget(label(question.title, "finding", wrap=True))
        column.addWidget(label(question.text, "second", wrap=True))
        for line in question.lines[:_MOST_LINES]:
            column.addWidget(label(line, "code", wrap=True))
        if len(question.lines) > _MOST_LINES:
            column.addWidget(label(f"and {len(question.lines) - _MOST_LINES} more", "small"))
        row = row_layout(STRETCH)
        self.buttons: dict[str, Button] = {}
        for text in reversed(question.answers):
            button = Button(
                text,
                kind="primary" if text == question.answers[0] else "plain",
                on=lambda checked=False, text=text: self._choose(text),
            )
            button.setAutoDefault(True)
            self.buttons[text] = button
            row.addWidget(button)
        column.addLayout(row)
        self.buttons[question.answers[0]].setDefault(True)
        self.buttons[question.answers[0]].setFocus()

    def _choose(self, text: str) -> None:
        self.answer = text
        self.accept()


def ask(question: Question, parent: QWidget | None = None) -> str:
    """Ask and wait for the answer; closing the question is its last answer."""
    dialog = QuestionDialog(question, parent)
    dialog.exec()
    answer = dialog.answer
    dialog.deleteLater()
    return answer
