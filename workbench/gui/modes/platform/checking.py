"""Checks a template's expressions after the user stops typing, and lists the calls of a source that its entries
match."""

from functools import partial
from pathlib import Path

from PySide6.QtCore import QObject, QTimer, Signal

from workbench.api.window import Context
from workbench.gui.modes.forms.field_row import FieldRow
from workbench.gui.modes.forms.form import PartForm
from workbench.model.diagnostic import Diagnostic
from workbench.session.begin.entry_problems import entry_problems, typed_problem
from workbench.session.edit.platform_document import PlatformDocument

PAUSE_MS = 300


class TemplateCheck(QObject):
    """`checked` says that the document's problems are reported whole."""

    checked = Signal()

    def __init__(self, context: Context, document: PlatformDocument, form: PartForm) -> None:
        super().__init__(context)
        self._context, self._document, self._form = context, document, form
        self._row: FieldRow | None = None
        self._pause = QTimer(self, singleShot=True, interval=PAUSE_MS)
        self._pause.timeout.connect(self._ask_row)
        self._later = QTimer(self, singleShot=True, interval=0)
        self._later.timeout.connect(self._ask)
        form.typed.connect(self._typed)
        document.changed.connect(self._later.start)

    def _typed(self, row: FieldRow) -> None:
        if row.field.kind in ("code", "long"):
            self._row = row
            self._pause.start()

    def _ask_row(self) -> None:
        """Judge what is in a field that is being typed in, as if it were written."""
        row, path = self._row, self._document.path
        if row is None or path is None or row not in self._form.rows or not row.typing:
            return
        value = row.value()
        if not value:
            row.show_problem(None)
            return

        def done(problem: Diagnostic | None) -> None:
            if row in self._form.rows and row.typing and row.value() == value:
                row.show_problem(problem)

        work = partial(typed_problem, self._document.text, row.path, value, path, self._context.plugins)
        self._context.background.start("typed expression", work, done, self._context.failed)

    def _ask(self) -> None:
        text, path = self._document.text, self._document.path
        if path is None or self._document.platform is None or self._document.read_only:
            return

        def done(problems: tuple[Diagnostic, ...]) -> None:
            if problems:
                self._document.tell(text, problems)
                self.checked.emit()

        work = partial(entry_problems, text, Path(path), self._context.plugins)
        self._context.background.start("expressions", work, done, self._context.failed)
