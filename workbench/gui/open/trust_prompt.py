"""The prompt before the workbench builds, runs or proves an untrusted project. One of two modal dialogs."""

from dataclasses import dataclass

from PySide6.QtGui import QShowEvent
from PySide6.QtWidgets import QCheckBox, QDialog, QWidget

from workbench.gui.widgets import Button, label
from workbench.gui.widgets.boxes import STRETCH, column_layout, row_layout
from workbench.session.open.trust import TrustState, trust, trust_sentences, trust_state
from workbench.session.open.workspace import Workspace

_WIDTH = 520


@dataclass(frozen=True)
class Act:
    """An act that needs trust: the question with a place for the project's title, the text, the button and its icon."""

    question: str
    text: str
    button: str
    icon: str


RUN = Act("Run the code of {}?", "", "Trust and run", "play")
PROVE = Act(
    "Prove the design of {}?",
    "A proof instruments a copy of the design and reads both. Modules that cannot be proved are built and simulated. "
    "The host does not start now. A trusted project can be run later:",
    "Trust and prove",
    "check",
)


class TrustPrompt(QDialog):
    def __init__(self, workspace: Workspace, state: TrustState, parent: QWidget | None = None, act: Act = RUN) -> None:
        super().__init__(parent)
        self.setWindowTitle("Trust this project")
        column = column_layout(of=self, margins=(24, 20, 24, 20), spacing=12)
        title = workspace.project.title or workspace.project.name
        column.addWidget(label(act.question.format(title), "finding", wrap=True))
        said = [act.text, *trust_sentences(workspace, state)]
        column.addWidget(label("\n\n".join(filter(None, said)), "second", wrap=True))
        column.addWidget(label(str(workspace.path), "code", wrap=True))
        self.own = QCheckBox("This project is my own: do not ask when its files change")
        column.addWidget(self.own)
        self.cancel = Button("Cancel", on=self.reject)
        self.trust = Button(act.button, act.icon, "primary", on=self.accept)
        row = row_layout(STRETCH, self.cancel, self.trust)
        column.addLayout(row)
        self.cancel.setFocus()

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        if layout := self.layout():  # of lines that wrap, and now have their fonts, a dialog's own hint knows less
            self.setFixedSize(_WIDTH, layout.totalHeightForWidth(_WIDTH))


def ask_trust(workspace: Workspace, parent: QWidget | None = None, act: Act = RUN) -> bool:
    """Whether the project may be run, or what the `act` is; asks if that is not known yet, and remembers a yes."""
    state = trust_state(workspace)
    if state.trusted:
        return True
    prompt = TrustPrompt(workspace, state, parent, act)
    if prompt.exec() != QDialog.DialogCode.Accepted:
        return False
    trust(workspace, own=prompt.own.isChecked())
    return True
