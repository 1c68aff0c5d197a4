"""One field of a form: its editor, the note beside it, and its problem below."""

from collections.abc import Callable
from functools import partial
from pathlib import Path

from PySide6.QtCore import QEvent, QObject, Qt, Signal
from PySide6.QtGui import QKeyEvent, QKeySequence, QWheelEvent
from PySide6.QtWidgets import (
    QBoxLayout,
    QCheckBox,
    QComboBox,
    QLineEdit,
    QPlainTextEdit,
    QStyle,
    QStyleOptionComboBox,
    QWidget,
)

from workbench.api.forms import Field
from workbench.formats.yaml_edit import Address
from workbench.gui.frame.focus import focus_is_in
from workbench.gui.modes.forms.field_problem import FieldProblem
from workbench.gui.modes.forms.number_line import NumberLine
from workbench.gui.modes.forms.pair_table import PairTable
from workbench.gui.modes.forms.pairs import Pairs, shown_value
from workbench.gui.modes.forms.picking import picked
from workbench.gui.modes.forms.words_area import TextArea, WordsArea, named_hint
from workbench.gui.modes.source.pragma_words import Word
from workbench.gui.widgets import IconButton, label, set_role
from workbench.gui.widgets.boxes import column_layout, row_layout
from workbench.model.diagnostic import Diagnostic, Severity
from workbench.session.edit.origins import Origin, can_reset
from workbench.session.edit.yaml_document import Path_, YamlDocument


class StillCombo(QComboBox):
    """Does not change when a form is scrolled over it. A text without room ends in "…"."""

    def wheelEvent(self, event: QWheelEvent) -> None:
        event.ignore()

    def initStyleOption(self, option: QStyleOptionComboBox) -> None:
        super().initStyleOption(option)
        box, field = QStyle.ComplexControl.CC_ComboBox, QStyle.SubControl.SC_ComboBoxEditField
        room_px = self.style().subControlRect(box, option, field, self).width()
        option.currentText = self.fontMetrics().elidedText(self.currentText(), Qt.TextElideMode.ElideRight, room_px)


#: Kinds whose fields are areas of text, and those of them whose text is a list.
_AREAS = ("long", "prose", "lines", "rows", "names", "expression", "expressions")
_LISTS = ("lines", "rows", "names", "numbers", "expressions")

#: Room beside the labels from which on notes are beside their editors: of all fields, of short ones.
WIDE_PX, BESIDE_PX, MOST_EDITOR_PX = 660, 330, 420
#: Kinds whose editors are as wide as what they hold.
_SHORT = ("number", "unit", "address", "choice", "check")
_SHORT_PX, _LEAST_PX, _GAP_PX, ORIGIN_PX, _RESET_PX = 150, 90, 6, 58, 28
_MOST_NOTE_PX = 640  # longer lines are hard to read
_AFTER_PX = ORIGIN_PX + _RESET_PX + 2 * _GAP_PX + 4  # where a value comes from, and what resets it
OriginOf = Callable[[Path_], Origin]


class FieldRow(QObject):
    """One field: its editor, where its value comes from, the note beside it or below, and the problem under it. `typed`
    follows every key in a text, `grown` says that its height may be another, `line_wanted` carries the line that sets
    the value. `origin_of` says what is in force of a field that is not set; without it nothing is said of that."""

    typed, grown, line_wanted = Signal(), Signal(), Signal(int)

    def __init__(self, document: YamlDocument, base: Path_, field: Field, origin_of: OriginOf | None = None) -> None:
        super().__init__()
        self.document, self.field, self.path = document, field, (*base, *field.path)
        self._origin_of = origin_of
        self.box, self._holder = QWidget(), QWidget()
        self._row = QBoxLayout(QBoxLayout.Direction.LeftToRight)
        self._row.setSpacing(10)
        self.editor = self._make()
        self.editor.installEventFilter(self)
        self.editor.setAccessibleName(field.label or str(field.path[-1]))
        self.note = label(plain(field.note), "small")
        self.problem = FieldProblem(document)
        column_layout(self._row, self.problem, of=self.box, margins=(0, 0, 0, 0), spacing=3)
        self._short = field.kind in _SHORT
        self._row.addWidget(self._holder, 0, Qt.AlignmentFlag.AlignTop | Qt.AlignmentFlag.AlignLeft)
        self._row.addWidget(self.note, 1)
        self.note.setAlignment(Qt.AlignmentFlag.AlignTop)
        self.note.setWordWrap(True)
        self.note.setVisible(bool(field.note or (field.notes and field.kind != "names")))
        self._fill_holder()
        self.set_width(0)
        self.read()

    def _fill_holder(self) -> None:
        """The editor, what chooses files for it, and where its value comes from."""
        top = Qt.AlignmentFlag.AlignTop
        inside = row_layout(of=self._holder, margins=(0, 0, 0, 0), spacing=_GAP_PX)
        inside.addWidget(self.editor, 0 if self.field.kind == "check" else 1)
        if self.field.kind == "check":
            inside.addStretch(1)
        elif isinstance(self.editor, QComboBox):
            self.editor.setSizeAdjustPolicy(QComboBox.SizeAdjustPolicy.AdjustToContents)
            self.editor.setMinimumWidth(_LEAST_PX)
        if self.field.picks and not self.document.read_only:
            self.pick_button = IconButton("folder", f"Choose: {self.field.label}", on=self._pick)
            inside.addWidget(self.pick_button, 0, top)
        if self._origin_of is not None:
            inside.addSpacing(4)
            self.origin = label("", "small")
            self.origin.setFixedSize(ORIGIN_PX, 28)
            self.origin.installEventFilter(self)
            self.reset_button = IconButton("undo-2", f"{self.field.label}: reset", on=self.reset)
            policy = self.reset_button.sizePolicy()
            policy.setRetainSizeWhenHidden(True)
            self.reset_button.setSizePolicy(policy)
            inside.addWidget(self.origin, 0, top)
            inside.addWidget(self.reset_button, 0, top)

    def _make(self) -> QWidget:
        kind = self.field.kind
        if kind in ("pairs", "lists"):
            title, read = self.field.label or str(self.path[-1]), _number if kind == "pairs" else _listed
            return PairTable(title, Pairs(self.document, self.path, title, read))
        if kind in ("names", "expression", "expressions"):
            words = WordsArea(2 if kind == "expressions" else 1, expression=kind == "expression")
            if kind == "names":
                words.set_words([Word(name, self.field.notes.get(name, "")) for name in self.field.choices])
            words.setPlaceholderText(str(self.field.default or ""))
            words.left.connect(self.write)
            words.textChanged.connect(lambda: self.typed.emit() if self.typing else None)
            words.faulted.connect(lambda fault: self.show_problem(fault) if self.typing else None)
            return words
        if kind in _AREAS or (kind in ("text", "code") and self.document.read_only):
            lines = 3 if kind == "prose" and not self.document.read_only else 1
            area = TextArea(lines, kind in ("long", "code") or "include_lines" in self.field.path)
            area.left.connect(self.write)
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
            check.setFixedHeight(28)
            check.toggled.connect(self.write)
            return check
        line = NumberLine()
        if kind in ("code", "unit", "number", "numbers", "address"):
            line.setProperty("role", "code")
        line.setPlaceholderText(str(self.field.default or ""))
        line.editingFinished.connect(self.write)
        line.textEdited.connect(self.typed)
        return line

    def set_width(self, room_px: int, more_px: int = 0) -> None:
        """Lay the row out in so much room: where there is much, all editors are as wide as each other, and their notes
        begin at one line beside them; else notes are under their editors, but beside short ones. An editor without a
        label beside it begins `more_px` before the others, and ends with them."""
        after_px = _AFTER_PX if self._origin_of is not None else 0
        wide = room_px - more_px >= WIDE_PX
        short = self._short and not wide and not after_px
        down = not wide and (not short or room_px < BESIDE_PX)
        self._row.setDirection(QBoxLayout.Direction.TopToBottom if down else QBoxLayout.Direction.LeftToRight)
        self._row.setSpacing(3 if down else 12)
        self.note.setContentsMargins(0, 0 if down else 6, 0, 0)
        short_px = max(_SHORT_PX, self.editor.sizeHint().width()) if isinstance(self.editor, QComboBox) else _SHORT_PX
        editor_px = min(short_px, room_px) if short else room_px - after_px
        if wide:
            editor_px = min(round((room_px - more_px) * 0.5), MOST_EDITOR_PX) + more_px
        elif after_px:
            editor_px = min(editor_px, MOST_EDITOR_PX + more_px)
        holder_px = max(editor_px, _LEAST_PX) + after_px
        self._holder.setFixedWidth(holder_px)
        used_px = max(holder_px, _MOST_NOTE_PX) if down else holder_px + self._row.spacing() + _MOST_NOTE_PX
        self._row.setContentsMargins(0, 0, max(0, room_px - used_px), 0)

    # ---- document and widget

    def read(self) -> None:
        """Show what the document holds now, and what is wrong with it."""
        value = self.document.value(self.path)
        editor = self.editor
        editor.blockSignals(True)
        if isinstance(editor, NumberLine):
            editor.show_text(self._shown(value))
        elif isinstance(editor, TextArea):
            if self.field.kind == "names" and isinstance(value, list):
                value = ", ".join(map(str, value))
            if self.field.kind == "rows" and isinstance(value, list):
                value = [shown_value(row) for row in value]
            text = "\n".join(map(str, value)) if isinstance(value, list) else str(value or "")
            if editor.toPlainText() != text:
                editor.setPlainText(text)
        elif isinstance(editor, QComboBox):
            self._read_combo(editor, str(self.field.default or "") if value is None else str(value))
        elif isinstance(editor, QCheckBox):
            editor.setChecked(bool(self.field.default if value is None else value))
        elif isinstance(editor, PairTable):
            editor.read()
        editor.blockSignals(False)
        fixed = self.document.read_only
        if isinstance(editor, TextArea):
            editor.fix(fixed)
        elif isinstance(editor, QLineEdit):
            editor.setReadOnly(fixed)  # its text can still be chosen and copied
        elif not isinstance(editor, PairTable):
            editor.setEnabled(not fixed)
        set_property(editor, "fixed", fixed)
        if self.field.notes and self.field.kind != "names":
            self.note.setText(plain(self.field.notes.get(str(value), "")))
        if self._origin_of is not None:
            self._show_origin(self._origin_of)
        problem = self.document.problem_at(self.path)
        if self.field.kind in _LISTS:
            problem = problem or next(iter(self.document.problems_below(self.path)), None)
        self.show_problem(None if isinstance(editor, PairTable) and editor.shows(problem) else problem)

    def _show_origin(self, origin_of: OriginOf) -> None:
        """What is in force, and where it comes from."""
        is_set, unset = self.document.value(self.path) is not None, origin_of(self.path)
        name = "project" if is_set else unset.name
        self.origin.setText("" if name == "none" else name)
        self.origin.setToolTip(self._origin_tip(name))
        self.origin.setCursor(Qt.CursorShape.PointingHandCursor if self._line() else Qt.CursorShape.ArrowCursor)
        set_role(self.origin, "smallaccent" if is_set else "small")
        self.reset_button.setVisible(is_set and can_reset(self.path) and not self.document.read_only)
        self.reset_button.setToolTip(f"Reset to {unset.value or 'nothing'}" if unset.name != "hardware" else "Reset")
        if isinstance(self.editor, QLineEdit | QPlainTextEdit):
            self.editor.setPlaceholderText(unset.value)

    def _line(self) -> int | None:
        """The line of the file that sets the value."""
        span = self.document.marked.values.get(self.path) if self.document.marked else None
        return span.line if span else None

    def _origin_tip(self, name: str) -> str:
        file, line = self.document.path.name if self.document.path else "", self._line()
        return {
            "project": f"set in {file}, line {line}: a click shows it" if line else f"set in {file}",
            "template": "from the platform template",
            "hardware": "as in the design above",
            "found": "found beside the project file",
            "default": "the default",
        }.get(name, "")

    def reset(self) -> None:
        """Take the value out of the document; the keyboard goes to the editor, as the button goes."""
        self.editor.setFocus()
        self.document.remove(self.path, f"Reset {self.field.label.lower()}")

    def _pick(self) -> None:
        """Choose files or folders; one that a list has already is not repeated."""
        folder = self.document.path.parent if self.document.path else Path.cwd()
        names = picked(self.field.picks, self.field.label.lower(), folder, self.box)
        if names and self.field.kind in _LISTS:
            old = self.document.value(self.path)
            every = dict.fromkeys((*(map(str, old) if isinstance(old, list) else ()), *names))
            self.document.set(self.path, list(every), f"Change {self.field.label.lower()}")
        elif names:
            self.document.set(self.path, names[0], f"Change {self.field.label.lower()}")

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
        hint = problem.hint if problem else ""
        self.problem.show_problem(problem, named_hint(hint) if isinstance(self.editor, WordsArea) else hint)
        set_property(self.editor, "problem", problem is not None and problem.severity is Severity.ERROR)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Ctrl+Z belongs to the field while something is typed in it, and to the document before and after. A click on
        where the value comes from shows its line."""
        if watched is not self.editor:
            if event.type() == QEvent.Type.MouseButtonRelease and (line := self._line()):
                self.line_wanted.emit(line)
            return False
        undo, redo = QKeySequence.StandardKey.Undo, QKeySequence.StandardKey.Redo
        if event.type() == QEvent.Type.ShortcutOverride and isinstance(event, QKeyEvent) and not self.typing:
            return event.matches(undo) or event.matches(redo)
        return False

    @property
    def has_keyboard(self) -> bool:
        """Whether the editor, or a cell of it, has the keyboard."""
        return focus_is_in(self.editor)

    def take_keyboard(self, reason: Qt.FocusReason, inner: Path_) -> None:
        """Give it the keyboard, at a part of its value; what is typed then replaces what is wrong."""
        editor = self.editor
        editor.setFocus(reason)
        if isinstance(editor, PairTable) and inner:
            editor.go_to(inner[0])
        elif self.problem.isVisible() and isinstance(editor, QLineEdit | QPlainTextEdit):
            editor.selectAll()

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
        if isinstance(self.editor, PairTable):
            self.editor.commit()
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
        if isinstance(editor, NumberLine):
            return self._typed(editor.whole().strip())
        if isinstance(editor, QComboBox):
            return editor.currentText().strip()
        if isinstance(editor, QCheckBox):
            return editor.isChecked()
        assert isinstance(editor, TextArea)
        text = editor.toPlainText()
        lines = [x.strip() for x in text.splitlines() if x.strip()]
        if self.field.kind == "names":
            return _listed(" ".join(text.split()))
        if self.field.kind == "rows":
            return [[_number(one) for one in _listed(line)] for line in lines]
        return lines if self.field.kind in ("lines", "expressions") else " ".join(text.split())

    def _typed(self, text: str) -> object:
        """Numbers where the field holds numbers; a text that was a text stays one (`bytes: '4'`)."""
        if self.field.kind == "numbers" or (self.field.kind == "number" and "," in text):
            return [_number(part) for part in _listed(text)]
        if self.field.kind == "address" and isinstance(value := _number(text), int):
            return Address(value)
        return _number(text) if self.field.kind in ("number", "unit") else text


def plain(note: str) -> str:
    """A note without the signs that Markdown marks code with."""
    return note.replace("`", "")


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


def set_property(widget: QWidget, name: str, on: bool) -> None:
    """A property that the style sheet speaks of."""
    if widget.property(name) != ("true" if on else ""):
        widget.setProperty(name, "true" if on else "")
        widget.style().unpolish(widget)
        widget.style().polish(widget)
