"""The form of one part of a document: a row for every field, its problem right beside it."""

from __future__ import annotations

from functools import partial

from PySide6.QtCore import QEvent, QObject, Qt, QTimer, Signal
from PySide6.QtGui import QFocusEvent, QFontMetrics, QKeyEvent, QKeySequence, QResizeEvent, QWheelEvent
from PySide6.QtWidgets import (
    QBoxLayout,
    QCheckBox,
    QComboBox,
    QFrame,
    QGridLayout,
    QHBoxLayout,
    QLineEdit,
    QPlainTextEdit,
    QScrollArea,
    QVBoxLayout,
    QWidget,
)

from workbench.api.forms import Field, Group
from workbench.formats.yaml_edit import Address
from workbench.gui import fonts
from workbench.gui.forms.parts import Part
from workbench.gui.theme import set_ground
from workbench.gui.widgets import label, rule, set_role
from workbench.model.diagnostic import Diagnostic, Severity
from workbench.session.yaml_document import Path_, YamlDocument

LABEL_PX = 118
BESIDE_FROM_PX = 480
_MOST_LINES = 8


class TextArea(QPlainTextEdit):
    """A field of at least so many lines, higher where the text breaks into more; it tells when it is left."""

    left = Signal()

    def __init__(self, lines: int, code: bool) -> None:
        super().__init__()
        self.setProperty("role", "field")
        self.setTabChangesFocus(True)
        self.setFont(fonts.code_font(12) if code else fonts.ui_font(13))
        self._lines = lines
        self.textChanged.connect(self._fit)
        self._fit()

    def _fit(self) -> None:
        lines = max(self._lines, min(round(self.document().documentLayout().documentSize().height()), _MOST_LINES))
        self.setFixedHeight(QFontMetrics(self.font()).lineSpacing() * lines + 24)

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._fit()

    def focusOutEvent(self, event: QFocusEvent) -> None:
        super().focusOutEvent(event)
        self.left.emit()


class StillCombo(QComboBox):
    """Does not change when a form is scrolled over it."""

    def wheelEvent(self, event: QWheelEvent) -> None:
        event.ignore()


_AREAS = ("long", "prose", "lines", "pairs", "lists")


class FieldRow(QObject):
    """One field: its editor, the note beside it, and the problem under it. `typed` follows every key in a code's,
    `grown` says that its height may be another."""

    typed, grown = Signal(), Signal()

    def __init__(self, document: YamlDocument, base: Path_, field: Field) -> None:
        super().__init__()
        self.document, self.field, self.path = document, field, (*base, *field.path)
        self.box = QWidget()
        column = QVBoxLayout(self.box)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(3)
        self._row = QBoxLayout(QBoxLayout.Direction.LeftToRight)
        self._row.setSpacing(10)
        column.addLayout(self._row)
        self.editor = self._make()
        self.editor.installEventFilter(self)
        self.editor.setAccessibleName(field.label or str(field.path[-1]))
        self.note = label(field.note, "small")
        self.problem = label("", "high", wrap=True)
        column.addWidget(self.problem)
        wide = field.kind in _AREAS or (field.kind in ("code", "table") and not field.note)
        said = field.note or field.notes
        short = field.kind in ("number", "unit", "address", "choice", "check")
        self._row.addWidget(self.editor, 0 if short else 3)
        if short:
            self.editor.setFixedWidth(24 if field.kind == "check" else 150)
            if not said:
                self._row.addStretch(1)
        if said:
            self.note.setWordWrap(True)
            if wide:
                column.insertWidget(1, self.note)
            else:
                self._row.addWidget(self.note, 2)
        self.read()

    def _make(self) -> QWidget:
        kind = self.field.kind
        if kind in _AREAS:
            area = TextArea(3 if kind == "prose" else 2, kind == "long" or "include_lines" in self.field.path)
            area.left.connect(self.write)
            if kind == "long":
                area.textChanged.connect(lambda: self.typed.emit() if self.typing else None)
            return area
        if kind in ("choice", "table"):
            combo = StillCombo()
            combo.setProperty("role", "code" if kind == "table" else "")
            combo.setEditable(self.field.path == ("reason",))
            combo.activated.connect(self.write)
            if line := combo.lineEdit():
                line.editingFinished.connect(self.write)
            return combo
        if kind == "check":
            check = QCheckBox("")
            check.toggled.connect(self.write)
            return check
        line = QLineEdit()
        if kind in ("code", "unit", "number", "address"):
            line.setProperty("role", "code")
        line.setPlaceholderText(str(self.field.default or ""))
        line.editingFinished.connect(self.write)
        if kind == "code":
            line.textEdited.connect(self.typed)
        return line

    def set_narrow(self, narrow: bool) -> None:
        """Put the note under the editor where there is no room beside it."""
        down, across = QBoxLayout.Direction.TopToBottom, QBoxLayout.Direction.LeftToRight
        self._row.setDirection(down if narrow else across)
        self._row.setSpacing(3 if narrow else 10)

    # ---- document and widget

    def read(self) -> None:
        """Show what the document holds now, and what is wrong with it."""
        value = self.document.value(self.path)
        editor = self.editor
        editor.blockSignals(True)
        if isinstance(editor, QLineEdit):
            text = self._shown(value)
            if editor.text() != text:
                editor.setText(text)
                editor.setCursorPosition(0)
        elif isinstance(editor, TextArea):
            if isinstance(value, dict):
                value = [f"{name}: {_many(one)}" for name, one in value.items()]
            text = "\n".join(map(str, value)) if isinstance(value, list) else str(value or "")
            if editor.toPlainText() != text:
                editor.setPlainText(text)
        elif isinstance(editor, QComboBox):
            self._read_combo(editor, str(self.field.default or "") if value is None else str(value))
        elif isinstance(editor, QCheckBox):
            editor.setChecked(bool(self.field.default if value is None else value))
        editor.blockSignals(False)
        fixed = self.document.read_only
        if isinstance(editor, QPlainTextEdit | QLineEdit):
            editor.setReadOnly(fixed)  # its text can still be chosen and copied
        else:
            editor.setEnabled(not fixed)
        set_property(editor, "fixed", fixed)
        if self.field.notes:
            self.note.setText(self.field.notes.get(str(value), ""))
        problem = self.document.problem_at(self.path)
        if self.field.kind in ("lines", "pairs", "lists"):
            problem = problem or next(iter(self.document.problems_below(self.path)), None)
        self.show_problem(problem)

    def _shown(self, value: object) -> str:
        if self.field.kind == "address" and isinstance(value, int):
            return f"{value:#x}"
        return ", ".join(map(str, value)) if isinstance(value, list) else "" if value is None else str(value)

    def _read_combo(self, combo: QComboBox, value: str) -> None:
        tables = self.document.value(("transfer_tables",))
        names = (
            ("", *(map(str, tables) if isinstance(tables, dict) else ()))
            if self.field.kind == "table"
            else self.field.choices
        )
        wanted = [*names, *([value] if value not in names else [])]
        if [combo.itemText(i) for i in range(combo.count())] != wanted:
            combo.clear()
            combo.addItems(wanted)
        combo.setCurrentText(value)

    def show_problem(self, problem: Diagnostic | None) -> None:
        if problem is not None or not self.problem.isHidden():
            self.grown.emit()
        self.problem.setVisible(problem is not None)
        bad = problem is not None and problem.severity is Severity.ERROR
        if problem:
            self.problem.setText(f"{problem.message[:1].upper()}{problem.message[1:]}. {problem.hint}".strip())
            set_role(self.problem, "high" if bad else "medium")
            self.problem.setToolTip(f"line {problem.line}, column {problem.column}")
        set_property(self.editor, "problem", bad)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Ctrl+Z belongs to the field while something is typed in it, and to the document before and after."""
        undo, redo = QKeySequence.StandardKey.Undo, QKeySequence.StandardKey.Redo
        if event.type() == QEvent.Type.ShortcutOverride and isinstance(event, QKeyEvent) and not self.typing:
            return event.matches(undo) or event.matches(redo)
        return False

    @property
    def typing(self) -> bool:
        """Whether the field holds something that the document has not got yet."""
        editor = self.editor
        if isinstance(editor, QPlainTextEdit):
            return editor.document().isModified()
        return isinstance(editor, QLineEdit) and editor.isModified()

    def write(self) -> None:
        """Put what the widget holds into the document."""
        if self.document.read_only:
            return
        editor, value = self.editor, self.value()
        if isinstance(editor, QPlainTextEdit):
            editor.document().setModified(False)
        elif isinstance(editor, QLineEdit):
            editor.setModified(False)
        elif value == (self.field.default or type(value)()) and self.document.value(self.path) is None:
            return  # a check or a choice that is as it comes
        self.document.set(self.path, value, f"Change {(self.field.label or str(self.field.path[-1])).lower()}")

    def value(self) -> object:
        """What the widget holds, as the document would."""
        editor = self.editor
        if isinstance(editor, QLineEdit):
            return self._typed(editor.text().strip())
        if isinstance(editor, QComboBox):
            return editor.currentText().strip()
        if isinstance(editor, QCheckBox):
            return editor.isChecked()
        assert isinstance(editor, TextArea)
        text = editor.toPlainText()
        lines = [x.strip() for x in text.splitlines() if x.strip()]
        if self.field.kind in ("pairs", "lists"):
            parts = (line.partition(":") for line in lines)
            read = _number if self.field.kind == "pairs" else _listed
            return {name.strip(): read(one.strip()) for name, _, one in parts}
        return lines if self.field.kind == "lines" else " ".join(text.split())

    def _typed(self, text: str) -> object:
        """Numbers where the field holds numbers; a text that was a text stays one (`bytes: '4'`)."""
        if self.field.kind == "number" and "," in text:
            return [_number(part.strip()) for part in text.split(",") if part.strip()]
        if self.field.kind == "address" and isinstance(value := _number(text), int):
            return Address(value)
        return _number(text) if self.field.kind in ("number", "unit") else text


def _number(text: str) -> object:
    """The number that a text says; the text where it says none."""
    for kind in (int, partial(int, base=0), float):
        try:
            return kind(text)
        except ValueError:
            continue
    return text


def _listed(text: str) -> list[str]:
    return [part.strip() for part in text.split(",") if part.strip()]


def _many(value: object) -> str:
    """A value of a mapping as it is written in a form."""
    return ", ".join(map(str, value)) if isinstance(value, list) else str(value)


def set_property(widget: QWidget, name: str, on: bool) -> None:
    """A property that the style sheet speaks of."""
    if widget.property(name) != ("true" if on else ""):
        widget.setProperty(name, "true" if on else "")
        widget.style().unpolish(widget)
        widget.style().polish(widget)


class PartForm(QScrollArea):
    """The form of the part chosen. `typed` carries the row in which a key was pressed, `renamed` a part's path and the
    name wanted for it."""

    typed = Signal(object)
    renamed = Signal(object, str)

    def __init__(self, document: YamlDocument) -> None:
        super().__init__()
        self.document = document
        self.rows: list[FieldRow] = []
        self.part: Part | None = None
        self.setWidgetResizable(True)
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)

    def _show_problem(self) -> None:
        """What is wrong with the field that one types in comes into view."""
        for row in self.rows:
            if row.editor.hasFocus() and row.problem.isVisible():
                self.ensureWidgetVisible(row.box, 0, 8)

    def show_part(self, part: Part | None) -> None:
        self.part = part
        self.rows = []
        body = QWidget()
        set_ground(body, "panel")
        column = QVBoxLayout(body)
        column.setContentsMargins(16, 14, 16, 16)
        column.setSpacing(10)
        groups = part.groups if part else ()
        if part and not groups:
            groups = (Group("Constant", "a macro of the API's header", (Field((), part.title, "code"),)),)
        if part and part.named and not self.document.read_only:
            column.addLayout(self._name_row(part))
        for number, group in enumerate(groups):
            if number:
                column.addWidget(rule())
            self._add_group(column, part.path if part else (), group)
        column.addStretch(1)
        self._fold()
        self.setWidget(body)

    def _name_row(self, part: Part) -> QHBoxLayout:
        row, editor = QHBoxLayout(), QLineEdit(str(part.path[-1]))
        said = label("Name", "second")
        said.setMinimumSize(LABEL_PX, 28)
        said.setBuddy(editor)
        editor.setProperty("role", "code")
        editor.setAccessibleName("Name")

        def leave() -> None:
            name = editor.text().strip()
            if name and name != part.path[-1]:
                self.renamed.emit(part.path, name)

        editor.editingFinished.connect(leave)
        row.setSpacing(12)
        row.addWidget(said)
        row.addWidget(editor, 1)
        return row

    def _add_group(self, column: QVBoxLayout, base: Path_, group: Group) -> None:
        head = QHBoxLayout()
        head.setSpacing(10)
        head.addWidget(label(group.title, "strong"))
        head.addWidget(label(group.note, "small", wrap=True), 1)
        column.addLayout(head)
        form = QGridLayout()  # a QFormLayout keeps heights for widths that it has not any more
        form.setHorizontalSpacing(12)
        form.setVerticalSpacing(8)
        form.setColumnStretch(1, 1)
        for number, field in enumerate(group.fields):
            row = FieldRow(self.document, base, field)
            self.rows.append(row)
            row.typed.connect(partial(self.typed.emit, row))
            row.grown.connect(partial(QTimer.singleShot, 0, self, self._show_problem))
            if field.label:
                said = label(field.label, "second")
                said.setMinimumSize(LABEL_PX, 28)
                said.setBuddy(row.editor)
                form.addWidget(said, number, 0, Qt.AlignmentFlag.AlignTop)
                form.addWidget(row.box, number, 1)
            else:
                form.addWidget(row.box, number, 0, 1, 2)
        column.addLayout(form)

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._fold()

    def _fold(self) -> None:
        for row in self.rows:
            row.set_narrow(self.viewport().width() < BESIDE_FROM_PX)

    def read(self) -> None:
        for row in self.rows:
            row.read()

    def row(self, *path: str) -> FieldRow:
        """The row of a field of this part. Raises StopIteration where the part has no such field."""
        return next(r for r in self.rows if r.field.path == path)

    def commit(self) -> None:
        """Take over what stands in the field being edited."""
        for row in self.rows:
            if row.editor.hasFocus():
                row.write()
