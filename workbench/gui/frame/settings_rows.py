"""A row of the Settings dialog: the setting's name, its description, and an editor for its kind."""

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from functools import cached_property

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QKeySequence
from PySide6.QtWidgets import (
    QComboBox,
    QFileDialog,
    QFontComboBox,
    QGridLayout,
    QKeySequenceEdit,
    QLabel,
    QLineEdit,
    QSpinBox,
    QWidget,
)

from workbench.gui.look import fonts
from workbench.gui.widgets import Button, IconButton, label, set_role
from workbench.gui.widgets.boxes import column_layout, row_layout
from workbench.model.diagnostic import WorkbenchError
from workbench.session.program.settings import Setting, change, holder, reset

_FIELD_PX, _FIELD_HIGH_PX, _ORIGIN_PX, _GAP_PX = 230, 28, 44, 10
_PATH_PX = _FIELD_PX - 60  # of a path, beside the button that chooses one
_TOP = Qt.AlignmentFlag.AlignTop


class SettingRow(QWidget):
    """Sets at once what is chosen in it; what is not valid is reported below, not set. `changed` says that it was,
    `wrong_changed` that `wrong` is another text."""

    changed = Signal()
    wrong_changed = Signal()

    def __init__(self, setting: Setting, known: Mapping[str, Setting]) -> None:
        super().__init__()
        self.setting, self._known = setting, known
        self._reading = False
        self._value = self._wanted = ""
        self.wrong = ""  # what is wrong with what is chosen, or was to be
        grid = QGridLayout(self)
        grid.setContentsMargins(0, 4, 0, 4)
        grid.setHorizontalSpacing(0)  # before a column that is empty there would be none
        grid.setVerticalSpacing(2)
        grid.setColumnStretch(0, 1)
        self._title = label(setting.title, "said", wrap=True)
        words = column_layout(self._title, margins=(0, 0, _GAP_PX, 0), spacing=0)
        self.what: QLabel | None = None
        if setting.what:
            self.what = label(setting.what, "smallsecond", wrap=True)
            words.addWidget(self.what)
        else:
            self._title.setMinimumHeight(_FIELD_HIGH_PX)
        grid.addLayout(words, 0, 0)
        self.field, self._show = self._make_field()
        self.field.setAccessibleName(setting.title)
        self.field.setFixedSize(_FIELD_PX, _FIELD_HIGH_PX)
        grid.addWidget(self.field, 0, 1, _TOP)
        self.found = ""  # what is used where nothing is chosen, of a program or a folder
        self.origin = label("", "small")
        self.origin.setFixedSize(_ORIGIN_PX + 2 * _GAP_PX, _FIELD_HIGH_PX)
        self.origin.setContentsMargins(_GAP_PX, 0, _GAP_PX, 0)
        grid.addWidget(self.origin, 0, 2, _TOP)
        grid.setColumnMinimumWidth(3, 28)  # where the reset button comes
        self._grid = grid
        self.read()

    # most rows never show these

    @cached_property
    def reset_button(self) -> IconButton:
        button = IconButton("undo-2", f"{self.setting.title}: default", on=self._reset)
        self._grid.addWidget(button, 0, 3, _TOP)
        return button

    @cached_property
    def problem(self) -> QLabel:
        text = label("", "high", wrap=True)
        self._grid.addWidget(text, 1, 0)
        return text

    @cached_property
    def take(self) -> Button:
        button = Button("Use it here", kind="link", on=self._take)
        self._grid.addWidget(button, 1, 1)
        return button

    def says(self) -> str:
        """All that a search looks through."""
        setting, what = self.setting, self.what.text() if self.what else ""
        return " ".join(
            (setting.group, setting.title, setting.name, self._value, what, *setting.choices.values())
        ).lower()

    def explain(self, text: str, role: str = "smallsecond") -> None:
        """Say something else below the title."""
        if self.what is not None:
            self.what.setText(text)
            set_role(self.what, role)

    def read(self) -> None:
        """Show what is in force."""
        self._reading, self._value = True, self.setting.value
        self._show(self._value)
        self._reading = False
        changed = self._value != self.setting.default
        self._show_origin()
        if changed or "reset_button" in vars(self):
            self.reset_button.setVisible(changed)
        problem = self.setting.problem(self._value) if changed else None
        wrong = ". ".join(filter(None, (problem.message, problem.hint))) if problem else ""
        if changed and self.setting.kind == "key" and (other := self._holder(self._value)):
            wrong = f"{self._value} is the key of '{other.title}' too"
        self._tell(wrong)

    def _show_origin(self) -> None:
        """Where the value comes from."""
        is_set = self._value != self.setting.default
        self.origin.setText("set" if is_set else "found" if self.found else "default" if self._value else "")
        set_role(self.origin, "smallaccent" if is_set else "small")
        self.origin.setToolTip("chosen by you" if is_set else self.found)

    @property
    def is_set(self) -> bool:
        return self._value != self.setting.default

    def say_found(self, path: str) -> None:
        """What is used where nothing is chosen."""
        self.found = path
        if (line := self.field.focusProxy()) is not None and isinstance(line, QLineEdit):
            shown = line.fontMetrics().elidedText(path, Qt.TextElideMode.ElideLeft, _PATH_PX)
            line.setPlaceholderText(shown or "not found")
            line.setToolTip(path)
        self._show_origin()

    def _tell(self, problem: str, can_take: bool = False) -> None:
        if problem or "problem" in vars(self):
            self.problem.setText(problem)
            self.problem.setVisible(bool(problem))
        if problem != self.wrong:
            self.wrong = problem
            self.wrong_changed.emit()
        if can_take or "take" in vars(self):
            self.take.setVisible(can_take)

    def set(self, text: str) -> None:
        """Set a value, or say why not."""
        if self._reading:
            return
        if text == self._value:
            self.read()
            return
        try:
            change(self.setting, text, self._known)
        except WorkbenchError as error:
            self._wanted = text
            problem = error.diagnostics[0]
            taken = self.setting.kind == "key" and self._holder(text) is not None
            self._tell(problem.message if taken else ". ".join(filter(None, (problem.message, problem.hint))), taken)
            return
        self.read()
        self.changed.emit()

    def _holder(self, key: str) -> Setting | None:
        """The other command that has a key."""
        return holder(key, self.setting, self._known) if key else None

    def _take(self) -> None:
        """Give this command the key that another one has."""
        other = self._holder(self._wanted)
        with self._reporting():
            if other is not None:
                change(other, "", self._known)
            self.set(self._wanted)

    def _reset(self) -> None:
        """Reset the key to its default, unless another command has that key now."""
        default = self.setting.default
        if self.setting.kind == "key" and self._holder(default):
            self.set(default)
            return
        with self._reporting():
            reset(self.setting)
            self.read()
            self.changed.emit()

    @contextmanager
    def _reporting(self) -> Iterator[None]:
        """Report a value that cannot be stored."""
        try:
            yield
        except WorkbenchError as error:
            self._tell(error.diagnostics[0].text())

    # ---- fields

    def _make_field(self) -> tuple[QWidget, Callable[[str], object]]:
        """The field, and what shows a value in it."""
        kind = self.setting.kind
        return {"choice": self._choice, "number": self._number, "font": self._font, "key": self._key}.get(
            kind, self._path
        )()

    def _choice(self) -> tuple[QWidget, Callable[[str], object]]:
        box = QComboBox()
        values = list(self.setting.choices)
        box.addItems(list(self.setting.choices.values()))
        box.currentIndexChanged.connect(lambda number: self.set(values[number]))
        return box, lambda value: box.setCurrentIndex(values.index(value))

    def _number(self) -> tuple[QWidget, Callable[[str], object]]:
        box = QSpinBox()
        box.lineEdit().setTextMargins(6, 0, 6, 0)
        if self.setting.unit:
            box.setSuffix(f" {self.setting.unit}")
        box.setRange(self.setting.minimum, self.setting.maximum)
        box.setKeyboardTracking(False)
        box.valueChanged.connect(lambda number: self.set(str(number)))
        return box, lambda value: box.setValue(int(value))

    def _font(self) -> tuple[QWidget, Callable[[str], object]]:
        box = QFontComboBox()
        box.setFontFilters(QFontComboBox.FontFilter.MonospacedFonts)
        box.setEditable(False)
        box.textActivated.connect(lambda name: self.set("" if name == fonts.LINES_FAMILY else name))
        return box, lambda value: box.setCurrentText(value or fonts.LINES_FAMILY)

    def _key(self) -> tuple[QWidget, Callable[[str], object]]:
        field = QKeySequenceEdit()
        field.setMaximumSequenceLength(1)
        field.setToolTip("Press the keys (Backspace: none)")

        def take(keys: QKeySequence) -> None:
            text = keys.toString(QKeySequence.SequenceFormat.PortableText)
            if text:  # the field is empty between two keys
                self.set("" if text == "Backspace" else text)

        field.keySequenceChanged.connect(take)
        return field, lambda value: field.setKeySequence(QKeySequence(value))

    def _path(self) -> tuple[QWidget, Callable[[str], object]]:
        whole = QWidget()
        field = QLineEdit()
        field.setProperty("role", "code")
        field.setPlaceholderText("default")
        field.setAccessibleName(self.setting.title)
        field.editingFinished.connect(lambda: self.set(field.text().strip()))
        choose = IconButton("folder", f"Choose: {self.setting.title}", on=self._choose)
        whole.setFocusProxy(field)
        row_layout((field, 1), (choose, 0, Qt.AlignmentFlag.AlignVCenter), of=whole, margins=(0, 0, 0, 0), spacing=6)
        return whole, field.setText

    def _choose(self) -> None:
        if self.setting.kind == "folder":
            name = QFileDialog.getExistingDirectory(self, self.setting.title, self.setting.value)
        else:
            name, _ = QFileDialog.getOpenFileName(self, self.setting.title, self.setting.value)
        if name:
            self.set(name)
