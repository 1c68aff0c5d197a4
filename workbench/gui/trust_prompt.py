"""Asked once a project, before its code is first built and run; one of the two things that are modal."""

from __future__ import annotations

from PySide6.QtWidgets import QDialog, QHBoxLayout, QVBoxLayout, QWidget

from workbench.gui.widgets import Button, label
from workbench.session.trust import is_trusted, trust
from workbench.session.workspace import Workspace


class TrustPrompt(QDialog):
    def __init__(self, workspace: Workspace, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setWindowTitle("Trust this project")
        self.setFixedWidth(480)
        column = QVBoxLayout(self)
        column.setContentsMargins(24, 20, 24, 20)
        column.setSpacing(12)
        column.addWidget(
            label(f"Run the code of {workspace.project.title or workspace.project.name}?", "finding", wrap=True)
        )
        column.addWidget(
            label(
                "Its host program is compiled and started with your rights, and its hardware is simulated. "
                "A copy is instrumented; your files stay as they are.",
                "second",
                wrap=True,
            )
        )
        column.addWidget(label(str(workspace.path), "code", wrap=True))
        column.addWidget(label("You are asked once for each project file.", "small"))
        row = QHBoxLayout()
        row.addStretch(1)
        self.cancel = Button("Cancel")
        self.cancel.clicked.connect(self.reject)
        self.trust = Button("Trust and run", "play", "primary")
        self.trust.clicked.connect(self.accept)
        row.addWidget(self.cancel)
        row.addWidget(self.trust)
        column.addLayout(row)
        self.cancel.setFocus()


def ask_trust(workspace: Workspace, parent: QWidget | None = None) -> bool:
    """Whether the project may be run; asks if that is not known yet, and remembers a yes."""
    if is_trusted(workspace.path):
        return True
    if TrustPrompt(workspace, parent).exec() != QDialog.DialogCode.Accepted:
        return False
    trust(workspace.path)
    return True
