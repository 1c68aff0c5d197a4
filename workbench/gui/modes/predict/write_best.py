"""The button that writes what a search finds best into a copy of the model's sources, where a kind can do that."""

from collections.abc import Callable
from functools import partial
from pathlib import Path

from PySide6.QtWidgets import QFileDialog

from workbench.api.window import Context
from workbench.gui.widgets import Button
from workbench.model.diagnostic import Diagnostic, Severity
from workbench.predict.formulas import Evaluation
from workbench.session.edit.model_document import ModelDocument


class WriteBestButton(Button):
    """Asks for a folder and writes there, in the background; `written` shows the model of the copy."""

    def __init__(
        self,
        context: Context,
        document: ModelDocument,
        values: Callable[[], Evaluation | None],
        written: Callable[[Path], None],
    ) -> None:
        super().__init__("Write best")
        self._context, self._document, self._values, self._written = context, document, values, written
        self.setToolTip("Search for the fastest design that fits, and write it into a copy of the source")
        self.clicked.connect(self._ask)
        document.changed.connect(self._follow)
        self._follow()

    def _follow(self) -> None:
        file = self._document.model_file
        self.setVisible(file is not None and file.kind.write_best is not None)

    def _ask(self) -> None:
        beside = str(self._context.root() or Path.cwd())
        if folder := QFileDialog.getExistingDirectory(self, "Folder for the fastest design: source and model", beside):
            self.write(Path(folder))

    def write(self, folder: Path) -> None:
        """Search and write, as a job."""
        file, values, notices = self._document.model_file, self._values(), self._context.notices
        if file is None or file.kind.write_best is None or values is None:
            return

        def done(result: tuple[Path, str, str]) -> None:
            path, said, left = result
            notices.tell(Diagnostic(said, left, Severity.NOTE))
            self._written(path)

        self._context.background.start_job(
            "predict.write_best",
            partial(file.kind.write_best, values, folder),
            done,
            lambda problems: notices.tell(*problems),
        )
