"""The Problems panel (Ctrl+Shift+P): all current problems, with a filter and automatic fixes."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import QModelIndex, QRectF, Qt, QTimer, Signal
from PySide6.QtGui import QKeyEvent, QPainter
from PySide6.QtWidgets import QWidget

from workbench.gui.frame.context import Context
from workbench.gui.look.painting import label as paint_label
from workbench.gui.look.theme import set_ground
from workbench.gui.widgets import (
    EmptyState,
    IconButton,
    PanelHeader,
    PillButton,
    SignField,
    paint_severity,
    plain_column,
    rule,
)
from workbench.gui.widgets.boxes import STRETCH, row_layout
from workbench.gui.widgets.row_view import RowView
from workbench.gui.widgets.rows import Column
from workbench.gui.widgets.severity import level_of
from workbench.model.diagnostic import Diagnostic, Severity, WorkbenchError
from workbench.model.text import capitalised, counted
from workbench.session.edit.documents import Document
from workbench.session.edit.quick_fix import QuickFix, quick_fix
from workbench.system.files import read_file

if TYPE_CHECKING:
    from workbench.session.edit.yaml_document import Path_, YamlDocument

_SOON_MS, _ROW_PX, _FIX_PX, _PLACE_PX = 100, 28, 190, 190
_WHERE, _FIX = 2, 3  # columns
_LEVELS = {Severity.ERROR: "error", Severity.WARNING: "warning", Severity.NOTE: "note"}


def _in_yaml(document: Document | None) -> YamlDocument | None:
    """A document as one in YAML, if it is. What reads YAML is imported with the first document, not with the window."""
    if document is None:
        return None
    from workbench.session.edit.yaml_document import YamlDocument

    return document if isinstance(document, YamlDocument) else None


class ProblemsPanel(QWidget):
    """What notices, sources, open documents and the last run report. `counted` carries how many errors and warnings
    there are."""

    closed = Signal()

    def __init__(
        self, context: Context, of_run: Callable[[], Iterable[Diagnostic]], show_place: Callable[[str, Path_], bool]
    ) -> None:
        super().__init__()
        self._context, self._of_run, self._show_place = context, of_run, show_place
        set_ground(self, "panel")
        self._fixes: dict[Diagnostic, QuickFix | None] = {}
        self.header = PanelHeader("Problems")
        self.filter = SignField("funnel", "Filter problems")
        self.filter.setMinimumWidth(220)
        self.filter.textChanged.connect(self.reload)
        self.levels = {severity: PillButton(name.capitalize(), checked=True) for severity, name in _LEVELS.items()}
        bar = row_layout(self.filter, *self.levels.values(), STRETCH, margins=(16, 8, 16, 8), spacing=8)
        why = "Errors and warnings of the sources, the project's files and the last run appear here."
        self.none = EmptyState("check", "No problems", why)
        self._some = QWidget()
        for pill in self.levels.values():
            pill.toggled.connect(self.reload)
        self._close = IconButton("x", "Close the problems (Esc)", on=self.closed.emit)
        self.header.add(self._close)
        self.rows = RowView("Problems", (
            Column("", width_px=36, paint=_paint_level, tip_of=lambda d: d.severity.value),
            Column("What", _what, share=1.0, key=lambda d: d.message, tip_of=lambda d: d.sentences),
            Column("Where", _place, width_px=_PLACE_PX, key=_place, ink=lambda d: ("link", 12, 400),
                   tip_of=lambda d: d.file or "", elide=Qt.TextElideMode.ElideLeft),
            Column("Fix", self._fix_label, width_px=_FIX_PX, paint=self._paint_fix, tip_of=self._fix_label),
        ), _ROW_PX)  # fmt: skip
        self.rows.setIndentation(0)
        self.rows.opened.connect(self._open)
        self.rows.clicked.connect(self._clicked)
        plain_column(self._some, bar, (self.rows, 1))
        plain_column(self, rule(), self.header, (self._some, 1), (self.none, 1))
        self._soon = QTimer(self, singleShot=True, interval=_SOON_MS)
        self._soon.timeout.connect(self.reload)
        for signal in (context.notices.changed, context.scan_changed, context.documents.changed,
                       context.workspace_changed, context.running_changed):  # fmt: skip
            signal.connect(self._soon.start)
        self.reload()

    def every(self) -> tuple[Diagnostic, ...]:
        """All present problems, the worst first, each once; a document's own replace the scan's for it."""
        in_yaml = (_in_yaml(document) for document in self._context.documents)
        open_yaml = [document for document in in_yaml if document is not None and document.path is not None]
        edited = {str(document.path) for document in open_yaml}
        elsewhere = (d for d in (*self._context.problems(), *self._of_run()) if d.file not in edited)
        own = (d for document in open_yaml for d in document.problems)
        order = list(_LEVELS)
        return tuple(sorted(dict.fromkeys((*elsewhere, *own)), key=lambda d: order.index(d.severity)))

    def reload(self) -> None:
        """Show what is wrong now, as far as it is asked for."""
        every, words = self.every(), self.filter.text().lower().split()
        self._fixes = {}
        counts = {severity: sum(d.severity is severity for d in every) for severity in _LEVELS}
        for severity, pill in self.levels.items():
            pill.setText(counted(counts[severity], _LEVELS[severity]))
        shown = [d for d in every if self.levels[d.severity].isChecked() and all(w in _searched(d) for w in words)]
        for column, text in ((_WHERE, _place), (_FIX, self._fix_label)):  # an empty one leaves its room to the words
            self.rows.setColumnHidden(column, not any(map(text, shown)))
        self.rows.show_rows([(d, ()) for d in shown])
        hidden = len(every) - len(shown)
        self.header.set_title("Problems", f"{hidden} more are hidden by the filter" if hidden else "")
        self._some.setVisible(bool(every))
        self.none.setVisible(not every)
        self.setFocusProxy(self.rows if every else self._close)

    # ---- fixes

    def fix_of(self, problem: Diagnostic) -> QuickFix | None:
        """What certainly fixes a problem of a file that is edited here, or can be."""
        if problem not in self._fixes:
            self._fixes[problem] = self._looked_up(problem)
        return self._fixes[problem]

    def _looked_up(self, problem: Diagnostic) -> QuickFix | None:
        if not problem.file or not (problem.hint or "no key" in problem.message):
            return None
        document = self._document(problem.file)
        try:
            text = document.text if document is not None else read_file(Path(problem.file)).decode("utf-8-sig")
        except (WorkbenchError, UnicodeDecodeError):
            return None
        return None if document is not None and document.read_only else quick_fix(problem, text)

    def _document(self, file: str) -> Document | None:
        return next((d for d in self._context.documents if d.path is not None and str(d.path) == file), None)

    def fix(self, problem: Diagnostic) -> None:
        """Show the place and make the change there; Ctrl+Z takes it back, and nothing is saved."""
        fix = self.fix_of(problem)
        if fix is None or problem.file is None:
            return
        self._open(problem)
        if (document := self._document(problem.file)) is None:
            return
        if (in_yaml := _in_yaml(document)) is not None:
            in_yaml.apply(fix.label, fix.edit)
        else:
            self._context.notices.attempt(lambda: document.replace(fix.label, fix.edit(document.text)))
        self._soon.start()

    def fix_all(self) -> int:
        """Make every certain fix; how many there were."""
        tried: list[Diagnostic] = []
        self.reload()
        while (problem := next((d for d in self.every() if d not in tried and self.fix_of(d)), None)) is not None:
            tried.append(problem)
            self.fix(problem)
            self._fixes = {}  # of the texts as they are now
        return len(tried)

    def _clicked(self, index: QModelIndex) -> None:
        problem = self.rows.rows.row(index)
        if problem is not None and index.column() == _FIX and self.fix_of(problem) is not None:
            self.fix(problem)
        elif problem is not None and index.column() == _WHERE:
            self._open(problem)

    def _open(self, problem: Diagnostic) -> None:
        """Show the field of a document that forms edit, else the line of the file."""
        document = _in_yaml(self._document(problem.file)) if problem.file else None
        if document is not None and self._show_place(document.kind, document.place_of(problem)):
            return
        if problem.file and problem.line:
            self._context.navigation.open_line(problem.file, problem.line)

    def _fix_label(self, problem: Diagnostic) -> str:
        fix = self.fix_of(problem)
        return fix.label if fix else ""

    def _paint_fix(self, painter: QPainter, box: QRectF, problem: Diagnostic) -> None:
        paint_label(painter, box.adjusted(8, 0, -12, 0), self._fix_label(problem), "link", 12, 600)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Esc closes; Ctrl+Enter fixes what is chosen."""
        control = bool(event.modifiers() & Qt.KeyboardModifier.ControlModifier)
        if event.key() == Qt.Key.Key_Escape:
            self.closed.emit()
        elif control and event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter) and self.rows.current is not None:
            self.fix(self.rows.current)
        else:
            super().keyPressEvent(event)


def _paint_level(painter: QPainter, box: QRectF, problem: Diagnostic) -> None:
    paint_severity(painter, box.left() + 16, box.center().y() - 8, 16, level_of(problem.severity))


def _what(problem: Diagnostic) -> str:
    return capitalised(problem.sentences)


def _place(problem: Diagnostic) -> str:
    parts = (Path(problem.file).name if problem.file else None, problem.line)
    return ":".join(str(part) for part in parts if part is not None)


def _searched(problem: Diagnostic) -> str:
    return f"{problem.sentences} {_place(problem)} {problem.severity.value}".lower()
