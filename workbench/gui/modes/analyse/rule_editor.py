"""The editor of a user's rule: its form, and its subjects in the open run while the user types."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from PySide6.QtCore import Qt, QTimer, Signal
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import QWidget

from workbench.analysis.custom import PREFIX, custom_values
from workbench.analysis.knowledge import CheckedRule
from workbench.analysis.measured import MeasuredRun
from workbench.analysis.rule_table import RuleTable, metrics_in, rule_table, with_rule
from workbench.api.window import Context, set_ground
from workbench.gui.modes.analyse.rule_fields import rule_part
from workbench.gui.modes.analyse.rule_subjects import NO_RULE, NO_RUN, WRONG
from workbench.gui.modes.forms.field_row import FieldRow
from workbench.gui.modes.forms.form import PartForm
from workbench.gui.modes.source.pragma_words import Word
from workbench.gui.widgets import Button, IconButton, PanelHeader, label, plain_column
from workbench.gui.widgets.boxes import row_layout
from workbench.model.expression import FUNCTIONS
from workbench.replay.predict import Replayed
from workbench.session.edit.rule_text import Data
from workbench.session.edit.rules_document import LIST, RulesDocument
from workbench.session.edit.yaml_document import Path_
from workbench.session.keep.results import OpenRun, measured_of
from workbench.session.open.rule_files import usual_rule_file
from workbench.session.program.keys import with_key

PAUSE_MS = 150  # without a key, before the rule is held against the run


_Held = tuple[OpenRun, Replayed | None, MeasuredRun]
_Answer = tuple[int, _Held, RuleTable | str]  # of the rule with this number


class RuleEditor(QWidget):
    """`evaluated` carries a `RuleTable`, or a text that says why there is none; `closed` asks for what was before.

    The document is the rule file of the open project that a rule is in."""

    evaluated = Signal(object)
    closed = Signal()

    def __init__(self, context: Context) -> None:
        super().__init__()
        set_ground(self, "panel")
        self.setMinimumWidth(240)
        self.context = context
        self.document = RulesDocument(context.knowledge.metrics, context.notices.tell)
        context.documents.add(self.document)
        self.number: int | None = None
        self._measured: _Held | None = None
        self._shipped: frozenset[Any] = frozenset()  # keys of plugins' rules
        self._typed: tuple[Path_, Any] | None = None
        self.form = PartForm(self.document)
        self.setFocusProxy(self.form)
        self.head = PanelHeader("Rule")
        self.every_field = IconButton("settings-2", "Show all fields, including rarely used ones")
        self.every_field.setCheckable(True)
        self.every_field.clicked.connect(self._show)
        self.undo_button = IconButton("undo-2", "Undo", on=self.document.history.undo)
        self.remove_button = IconButton("trash-2", "Remove this rule", on=self.remove)
        self.save_button = Button("Save", on=self.save)
        close = IconButton("x", "Close the rule (Esc)", on=self.closed.emit)
        for widget in (self.every_field, self.undo_button, self.remove_button, self.save_button, close):
            self.head.add(widget)
        self.note = label("", "small", wrap=True)
        self._note = QWidget()
        set_ground(self._note, "sunken")
        row_layout((self.note, 1), of=self._note, margins=(16, 5, 16, 5))
        plain_column(self, self.head, self._note, (self.form, 1))
        self._pause = QTimer(self, singleShot=True, interval=PAUSE_MS)
        self._pause.timeout.connect(self.evaluate)
        self.form.typed.connect(self._typing)
        self.form.add_wanted.connect(self.add_advice)
        context.documents.commit_wanted.connect(self.form.commit)
        self.document.changed.connect(self._changed)
        self.document.stepped.connect(self._write_head)

    # ---- which rule

    def know_shipped(self, rules: Iterable[CheckedRule]) -> None:
        """The rules of plugins, which one of the same name, side and scope replaces."""
        self._shipped = frozenset(rule.key for rule in rules)
        self._write_head()

    def open_file(self, file: Path | None = None) -> bool:
        """Open a rule file of the project, or the usual one. False where there is no project, or one stays unsaved."""
        workspace = self.context.workspace
        if workspace is None:
            return False
        path = file or usual_rule_file(workspace.path)
        self.document.metrics = self.context.knowledge.metrics
        if self.document.path == path and self.document.project == workspace.path:
            return True
        if not self.context.documents.may_leave([self.document]):
            return False
        self.number = None
        return self.context.notices.attempt(partial(self.document.begin, path, workspace.path))

    def edit(self, rule: CheckedRule) -> bool:
        """Show the form of a rule of the project's files."""
        if not self.open_file(Path(rule.file)):
            return False
        self.show_rule(self.document.number_of(rule))
        return True

    def add(self, rules: Sequence[Data], label: str) -> bool:
        """Put rules at the end of the project's file, and show the last."""
        if not rules or not self.open_file():
            return False
        numbers = [self.document.add(data, label) for data in rules]
        self.show_rule(numbers[-1])
        return numbers[-1] is not None

    def show_rule(self, number: int | None) -> None:
        self.form.commit()
        self.number = number if number is not None and 0 <= number < self.document.count else None
        self._show()

    def leave(self) -> None:
        """Another project: the rule file of this one is closed."""
        self.number = None
        self.document.project = None
        self.document.close()

    @property
    def name(self) -> str:
        """The rule's; "" where none is shown."""
        return "" if self.number is None else str(self.document.value((*LIST, self.number, "name")))

    # ---- changes

    def add_advice(self) -> None:
        self.form.commit()
        advice = {"text": "What to do."}
        if self.number is not None:
            self.document.append((*LIST, self.number, "suggestions"), advice, "Add advice")

    def remove(self) -> None:
        """Remove the rule from the file; the one before it is shown, where there is one."""
        number = self.number
        if number is not None:
            label = f"Remove {self.name}"
            self.number = max(number - 1, 0) if self.document.count > 1 else None
            if not self.document.remove((*LIST, number), label):
                self.show_rule(number)

    def save(self) -> bool:
        return self.context.documents.save(self.document)

    # ---- shown

    def _changed(self) -> None:
        if self.document.path is not None:
            if self.number is not None and self.number >= self.document.count:
                self.number = self.document.count - 1 if self.document.count else None
            elif self.number is None and self.document.count:
                self.number = 0
            self._show()

    def _show(self) -> None:
        self._typed = None
        part = None
        if self.number is not None:
            part = rule_part(self.document, self.number, self.context.knowledge, self.every_field.isChecked())
            self._offer()
        shown = self.form.part
        if part is None or shown is None or (part.path, part.groups) != (shown.path, shown.groups):
            field = self.form.field_with_focus()
            self.form.show_part(part, self.context.slices)
            if field is not None:
                self.form.show_field(field)
        else:
            self.form.read()
        self._write_head()
        self.evaluate()

    def _offer(self) -> None:
        """What the rule's expressions may name: the metrics of its scopes, each with what it is."""
        scopes = self.document.value((*LIST, self.number or 0, "scope")) or ["block"]
        analysis, metrics = self.context.analysis, self.document.metrics
        custom = [metrics[name] for name in custom_values(analysis.custom)] if analysis else []
        offered = [*custom, *metrics_in(scopes, metrics)]
        words = [Word(one.name, f"{one.title} ({one.unit})") for one in offered]
        self.form.set_words([*words, *(Word(name, "function") for name in FUNCTIONS)], metrics, PREFIX)

    def _write_head(self) -> None:
        document, number = self.document, self.number
        self.head.set_title(self.name or "No rule", document.path.name if document.path else "")
        undo, errors = document.history.undo_label, document.errors
        self.undo_button.setEnabled(document.history.can_undo)
        self.undo_button.setToolTip(with_key(f"Undo: {undo}", "undo") if undo else "Nothing to undo")
        self.remove_button.setVisible(number is not None)
        self.save_button.setEnabled(document.dirty and not errors)
        self.save_button.setToolTip(with_key("Save the rule file", "save"))
        self.note.setText(self._said())
        self._note.setVisible(bool(self.note.text()))

    def _said(self) -> str:
        """What is to be known of the rule beside its fields."""
        first = next(iter(self.document.errors), None)
        if first is not None:
            return f"Not saved yet: line {first.line}, {first.message}."
        rule = self.document.rule(self.number) if self.number is not None else None
        if rule is not None and rule.key in self._shipped:
            return "Replaces the workbench's rule of this name, side and scope. Another name keeps both."
        if self.document.count == 0 and self.document.dirty:
            return "This file has no rule left. Save it, or undo."
        return ""

    # ---- held against the run

    def _typing(self, row: FieldRow) -> None:
        self._typed = row.path, row.value()
        self._pause.start()

    @property
    def evaluates(self) -> bool:
        """Whether the table is still to follow what is typed."""
        return self._pause.isActive() or self.context.background.waits("rule")

    def evaluate(self) -> None:
        """Hold the rule, as it is typed, against the open run, in a thread."""
        opened, replayed, number = self.context.opened, self.context.replayed, self.number
        self._pause.stop()
        if number is None:
            self.evaluated.emit(NO_RULE)
            return
        if opened is None:
            self.evaluated.emit(NO_RUN)
            return
        path, value = self._typed or ((), None)
        document, known = self.document, self._measured

        def work() -> _Answer:
            here = known if known and known[0] is opened and known[1] is replayed else None
            here = here or (opened, replayed, measured_of(opened, replayed))
            rule = document.rule(number, path, value)
            return number, here, rule_table(rule, here[2], with_rule(opened.knowledge, rule)) if rule else WRONG

        self.context.background.start("rule", work, self._take, self.context.failed)

    def _take(self, answer: _Answer) -> None:
        number, self._measured, said = answer
        if number == self.number:
            self.evaluated.emit(said)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() == Qt.Key.Key_Escape:
            self.closed.emit()
        else:
            super().keyPressEvent(event)
