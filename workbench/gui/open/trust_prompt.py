"""The prompt before the workbench builds, runs or proves an untrusted project. One of two modal dialogs."""

from collections.abc import Callable, Collection
from dataclasses import dataclass

from PySide6.QtCore import Qt
from PySide6.QtGui import QShowEvent
from PySide6.QtWidgets import QCheckBox, QDialog, QWidget

from workbench.gui.widgets import Button, ElidedLabel, label
from workbench.gui.widgets.boxes import STRETCH, column_layout, row_layout
from workbench.model.text import capitalised, listed
from workbench.session.open.trust import TrustState, trust, trust_sentences, trust_state
from workbench.session.open.workspace import Workspace

_WIDTH = 520
_PAST = {"run": "run", "prove": "proved"}


@dataclass(frozen=True)
class Act:
    """An act that needs trust: its verb, the question with a place for the project's title, the text and the button's
    icon."""

    verb: str
    question: str
    text: str
    icon: str


RUN = Act("run", "Run the code of {}?", "", "play")
PROVE = Act(
    "prove",
    "Prove the design of {}?",
    "A proof instruments a copy of the design and reads both. Modules that cannot be proved are built and simulated. "
    "The host does not start now. A trusted project can be run later:",
    "check",
)


class TrustPrompt(QDialog):
    """`unsaved` are files with changes that are not saved: the question is then whether to save them too. `as_saved`
    says that it was answered with no."""

    def __init__(
        self, workspace: Workspace, state: TrustState, parent: QWidget | None = None, act: Act = RUN,
        unsaved: Collection[str] = (),
    ) -> None:  # fmt: skip
        super().__init__(parent)
        self.as_saved = False
        self.setWindowTitle("Trust this project")
        column = column_layout(of=self, margins=(24, 20, 24, 20), spacing=12)
        title = workspace.project.title or workspace.project.name
        column.addWidget(label(act.question.format(title), "finding", wrap=True))
        if unsaved:
            said = f"Not saved: {listed(list(unsaved), 4)}. Unsaved changes are no part of what is {_PAST[act.verb]}."
            column.addWidget(label(said, "strong", wrap=True))
        said = "\n\n".join(filter(None, [act.text, *trust_sentences(workspace, state)]))
        column.addWidget(label(said, "second", wrap=True))
        column.addWidget(ElidedLabel(str(workspace.path), "code", Qt.TextElideMode.ElideMiddle))
        self.own = QCheckBox("This project is my own: do not ask when its files change")
        column.addWidget(self.own)
        self.cancel = Button("Cancel", on=self.reject)
        saves = "Save, trust" if unsaved else "Trust"
        self.trust = Button(f"{saves} and {act.verb}", act.icon, "primary", on=self.accept)
        row = row_layout(STRETCH, self.cancel, self.trust)
        if unsaved:
            words = f"{act.verb} as saved" if state.trusted else f"trust and {act.verb} as saved"
            self.leave = Button(capitalised(words), on=self._accept_as_saved)
            row.insertWidget(2, self.leave)
        column.addLayout(row)
        self.cancel.setFocus()

    def _accept_as_saved(self) -> None:
        self.as_saved = True
        self.accept()

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


def ask_save_and_trust(
    workspace: Workspace, unsaved: Collection[str], save: Callable[[], bool], parent: QWidget, act: Act = RUN
) -> Callable[[Workspace], None] | None:
    """Ask once what becomes of unsaved changes and for trust in what the files then hold, and `save` where that is the
    answer. None if the act is not to be; else what remembers the trust, given the project as it was read again."""
    state = trust_state(workspace)
    prompt = TrustPrompt(workspace, state, parent, act, unsaved)
    if prompt.exec() != QDialog.DialogCode.Accepted or not (prompt.as_saved or save()):
        return None
    own, nothing_new = prompt.own.isChecked(), prompt.as_saved and state.trusted
    return lambda read: None if nothing_new and not own else trust(read, own=own)
