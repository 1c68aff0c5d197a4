"""What is wrong with a field, below it, and the button that fixes it where the fix is certain."""

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QWidget

from workbench.gui.widgets import Button, label, set_role
from workbench.gui.widgets.boxes import column_layout
from workbench.model.diagnostic import Diagnostic, Severity
from workbench.model.text import capitalised
from workbench.session.edit.quick_fix import QuickFix, quick_fix
from workbench.session.edit.yaml_document import Path_, YamlDocument


class FieldProblem(QWidget):
    """Hidden while nothing is wrong."""

    def __init__(self, document: YamlDocument) -> None:
        super().__init__()
        self._document = document
        self._fix: QuickFix | None = None
        self.message = label("", "high", wrap=True)
        self.fix_button = Button("", kind="link", on=self._apply)
        column_layout(self.message, of=self, margins=(0, 0, 0, 0), spacing=0).addWidget(
            self.fix_button, 0, Qt.AlignmentFlag.AlignLeft
        )
        self.hide()

    def text(self) -> str:
        return self.message.text()

    def show_problem(self, problem: Diagnostic | None, hint: str) -> None:
        """Show a problem with this hint; None for none. What is only typed yet has no fix."""
        document = self._document
        in_file = problem is not None and problem in document.problems and not document.read_only
        self._fix = quick_fix(problem, document.text) if problem is not None and in_file else None
        if problem is not None:
            self.message.setText(f"{capitalised(problem.message)}. {hint}".strip())
            set_role(self.message, "high" if problem.severity is Severity.ERROR else "medium")
            self.message.setToolTip(f"line {problem.line}, column {problem.column}" if problem.file else "")
        self.fix_button.setText(self._fix.label if self._fix else "")
        self.fix_button.setVisible(self._fix is not None)
        self.setVisible(problem is not None)

    def _apply(self) -> None:
        if self._fix is not None:
            self._document.apply(self._fix.label, self._fix.edit)


def is_unknown_key(problem: Diagnostic, path: Path_) -> bool:
    """Whether the problem is that the key at a path is not known."""
    return bool(path) and problem.message == f"there is no key '{path[-1]}' here"
