"""New from sources: what was found in a folder, each with its reason, before a project file of it is written."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from PySide6.QtCore import Qt, QTimer
from PySide6.QtWidgets import (
    QComboBox,
    QDialog,
    QFileDialog,
    QGridLayout,
    QLineEdit,
    QWidget,
)

from workbench.formats.heads import head_of
from workbench.gui.run.background import Background
from workbench.gui.widgets import Button, DiagnosticRow, ElidedLabel, SeverityIcon, empty, label, rule, scrolled
from workbench.gui.widgets.boxes import STRETCH, column_layout, row_layout
from workbench.model.diagnostic import Diagnostic, WorkbenchError, has_errors
from workbench.model.text import capitalised
from workbench.session.begin.new_choice import Choice, UnknownApi
from workbench.system.files import real

if TYPE_CHECKING:
    from workbench.session.begin.new_project import Proposal
    from workbench.session.begin.project_text import Decision
    from workbench.session.program.plugins import Plugins

_MOST_FILES = 12
#: What can be chosen instead of what was found, and the part of the choice that says so.
_CHOICES = {"host sources": "host", "top": "top", "platform": "platform"}
#: What is given a value here, and the part of the choice that has it.
_VALUES = {"constant": "constants", "setting": "settings", "macro": "defines"}
_GIVEN = ("constants", "settings", "defines")


class NewProject(QDialog):
    """Looks at a folder in the background, shows what it found, and writes the project when asked to.

    `done` gets the project file that was written. A choice made here looks at the folder again.
    """

    def __init__(
        self, folder: Path, plugins: Plugins, background: Background, done: Callable[[Path], None], parent: QWidget
    ) -> None:
        super().__init__(parent)
        self._folder, self._plugins, self._background, self._done = folder, plugins, background, done
        self._choice = Choice()
        self._asked = False  # to create what is looked at now
        self._fields: dict[tuple[str, str], QLineEdit] = {}  # by the part of the choice, and the name in it
        self.proposal: Proposal | None = None
        self.setWindowTitle("New from sources")
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        high = max(800, parent.height() * 4 // 5)
        self.resize(min(820, parent.width() - 20), min(high, max(400, parent.height() - 80)))
        column = column_layout(of=self, margins=(20, 16, 20, 16), spacing=10)
        self.folder_said = ElidedLabel(str(folder), "code", Qt.TextElideMode.ElideMiddle)
        name = row_layout(label("Folder", "strong"), (self.folder_said, 1), label("Name", "strong"), spacing=12)
        self.name = QLineEdit()
        self.name.setProperty("role", "code")
        self.name.setAccessibleName("The project's name")
        self.name.setFixedWidth(200)
        name.addWidget(self.name)
        column.addLayout(name)
        self._rows = column_layout(margins=(16, 14, 16, 14), spacing=10)
        column.addWidget(scrolled("What was found", self._rows, "box"), 1)
        self.said = label("", "second", wrap=True)
        column.addWidget(self.said)
        buttons = row_layout(STRETCH)
        self.cancel = Button("Cancel", on=self.reject)
        self.create_button = Button("Create project", "plus", "primary", on=self._create)
        for button in (self.cancel, self.create_button):
            button.setAutoDefault(True)
            buttons.addWidget(button)
        self.create_button.setDefault(True)
        column.addLayout(buttons)
        self._look()

    def _look(self) -> None:
        self.create_button.setEnabled(False)
        self.said.setText("Reading the sources")
        folder, plugins, choice = self._folder, self._plugins, self._choice

        def look() -> Proposal:
            from workbench.session.begin.new_project import propose  # here, since schemas are long to import

            return propose(folder, plugins, choice)

        self._background.start("new project", look, self._show, self._failed)

    def _choose(self, **parts: Any) -> None:
        self._choice = replace(self._choice, **parts)
        self._look()

    def _failed(self, problems: tuple[Diagnostic, ...]) -> None:
        """No host program or no design: nothing can be written. A value that does not fit can be corrected here."""
        if self._asked and any(getattr(self._choice, part) for part in _GIVEN):
            self._asked = False
            self._choice = replace(self._choice, constants={}, settings={}, defines={})
            self._say(problems[0])
            self.create_button.setEnabled(True)
            return
        self.proposal, self._asked = None, False
        empty(self._rows)
        for problem in problems:
            self._rows.addWidget(DiagnosticRow(problem))
        self.other_folder = Button("Choose another folder...", "folder", on=self._ask_folder)
        self._rows.addWidget(self.other_folder, 0, Qt.AlignmentFlag.AlignLeft)
        self._rows.addStretch(1)
        self.said.setText("Nothing was written.")
        QTimer.singleShot(0, self.other_folder, self.other_folder.setFocus)  # once it is shown

    def _ask_folder(self) -> None:
        folder = QFileDialog.getExistingDirectory(self, "Folder of your sources", str(self._folder.parent))
        if folder:
            self._folder, self._choice = Path(folder), Choice()
            self.folder_said.setText(folder)
            self._look()

    def _show(self, proposal: Proposal) -> None:
        self.proposal = proposal
        if self._asked:
            self._asked = False
            self._create()
            return
        empty(self._rows)
        self._fields = {}
        self.name.setText(_name_of(proposal.path))
        first: QWidget = self.create_button  # what Enter does
        for problem in proposal.diagnostics:
            api = proposal.unknown_api
            if api is None or str(api.template) not in problem.hint:
                self._rows.addWidget(DiagnosticRow(problem))
                continue
            hint = "Add a platform: the workbench begins a template with the calls of that header."
            self._rows.addWidget(DiagnosticRow(replace(problem, hint=hint)))
            self._rows.addWidget(self._add_platform_row(api))
            first = self.add_platform
        grid = QGridLayout()
        grid.setHorizontalSpacing(16)
        grid.setVerticalSpacing(2)
        grid.setColumnMinimumWidth(0, 130)
        grid.setColumnStretch(1, 1)
        for one in sorted(proposal.decisions, key=lambda one: not one.unknown):  # what is asked comes first
            row, name = grid.rowCount(), label(capitalised(one.what), "strong")
            value = self._value(one)
            if one.unknown:
                sign = SeverityIcon("medium")
                sign.setToolTip("No source says this value")
                name_row = row_layout((name, 1), sign, margins=(0, 0, 0, 0), spacing=6)
                grid.addLayout(name_row, row, 0, Qt.AlignmentFlag.AlignTop)
            else:
                grid.addWidget(name, row, 0, Qt.AlignmentFlag.AlignTop)
            grid.addWidget(value, row, 1)
            grid.addWidget(label(capitalised(one.reason), "smallsecond", wrap=True), row + 1, 1)
            grid.setRowMinimumHeight(row + 2, 8)
        self._rows.addLayout(grid)
        if first is self.create_button and any(one.unknown for one in proposal.decisions):
            first = next(iter(self._fields.values()))
        if proposal.left_out:
            self._rows.addWidget(rule())
            self._rows.addWidget(label("Left out", "strong"))
            shown = [f"{file}: {why}" for file, why in proposal.left_out[:_MOST_FILES]]
            more = len(proposal.left_out) - len(shown)
            self._rows.addWidget(
                label("\n".join([*shown, *([f"and {more} more"] if more else [])]), "small", wrap=True)
            )
        self._rows.addStretch(1)
        written = "The project file is saved in the source folder. The sources are not changed."
        self.said.setText(f"{written} It cannot run yet." if has_errors(proposal.diagnostics) else written)
        self.create_button.setEnabled(True)
        first.setFocus()
        if isinstance(first, QLineEdit):
            first.selectAll()

    def _value(self, one: Decision) -> QWidget:
        if one.what in _VALUES:
            return self._field(_VALUES[one.what], *one.value.split(" = ", 1))
        shown = one.value.replace(", ", "\n") if one.what.endswith("sources") else one.value
        if not (one.others and one.what in _CHOICES):
            return label(shown, "code", wrap=True)
        box = QComboBox()
        box.setProperty("role", "code")
        box.setAccessibleName(one.what)
        for value in (one.value, *one.others):
            box.addItem(self._words_of(one.what, value), value)
        box.activated.connect(lambda number: self._choose(**{_CHOICES[one.what]: box.itemData(number)}))
        return box

    def _words_of(self, what: str, value: str) -> str:
        """A platform's title and its template's name; anything else as it is."""
        if what != "platform":
            return value
        support = self._plugins.platforms.get(value)
        title = head_of(support.template if support else self._folder / value).title
        return f"{title} ({value})" if title else value

    def _add_platform_row(self, api: UnknownApi) -> QWidget:
        """Offers to describe the API that the host calls, in a template beside the sources."""
        row = QWidget()
        inside = row_layout(of=row, margins=(0, 0, 0, 0), spacing=12)
        button = self.add_platform = Button("Add a platform", "cpu", on=lambda: self._add_platform(api))
        button.setAutoDefault(True)
        inside.addWidget(button)
        inside.addWidget(label(f"Writes {api.template.name} from {api.file.name}", "smallsecond"))
        inside.addStretch(1)
        return row

    def _add_platform(self, api: UnknownApi) -> None:
        self.create_button.setEnabled(False)
        self.said.setText(f"Reading {api.file.name}")
        folder, plugins = real(self._folder), self._plugins

        def write() -> str:
            from workbench.session.begin.new_template import begin_template, write_template

            write_template(api.template, begin_template(api.template, plugins, api.of, api.header))
            return api.template.relative_to(folder).as_posix()

        def failed(problems: tuple[Diagnostic, ...]) -> None:
            self._say(problems[0])
            self.create_button.setEnabled(True)

        self._background.start("new platform", write, lambda key: self._choose(platform=key), failed)

    def _field(self, part: str, name: str, value: str) -> QWidget:
        """An input that nothing drives, or a macro that nothing declares, and its value to be given."""
        row = QWidget()
        field = self._fields[part, name] = QLineEdit(value)
        field.setProperty("role", "code")
        field.setAccessibleName(f"value of {name}")
        field.setMaximumWidth(160)
        row_layout(label(name, "code"), field, STRETCH, of=row, margins=(0, 0, 0, 0), spacing=8)
        return row

    def _given(self) -> dict[str, dict[str, Any]]:
        """The values that a person wrote, by the part of the choice. WorkbenchError for an input's that is no
        number."""
        from workbench.session.open.workspace import parse_settings

        given: dict[str, dict[str, Any]] = {part: dict(getattr(self._choice, part)) for part in _GIVEN}
        for (part, name), field in self._fields.items():
            text = field.text().strip()
            if part == "constants":
                value: Any = _whole_number(name, text)
            else:
                value = parse_settings([f"{name}={text}"])[name]
            if field.isModified():
                given[part][name] = value
        return given

    def _say(self, problem: Diagnostic) -> None:
        self.said.setText(" ".join(filter(None, (problem.message, problem.hint, problem.file))))

    def _create(self) -> None:
        if self.proposal is None:
            return
        name = self.name.text().strip() or _name_of(self.proposal.path)
        try:
            given = self._given()
        except WorkbenchError as error:
            self._say(error.diagnostics[0])
            return
        if name != _name_of(self.proposal.path) or any(given[part] != getattr(self._choice, part) for part in _GIVEN):
            self._asked = True
            self._choose(name=name, **given)
            return
        from workbench.session.begin.new_project import create

        try:
            path = create(self.proposal)
        except WorkbenchError as error:
            self._say(error.diagnostics[0])
            return
        self.accept()
        self._done(path)


def _whole_number(name: str, text: str) -> int:
    try:
        value = int(text, 0)
    except ValueError:
        value = -1
    if value < 0:
        hint = "Write a whole number from 0, such as 3 or 0x1F."
        raise WorkbenchError(Diagnostic(f"'{text}' is not a value of the input '{name}'", hint))
    return value


def _name_of(path: Path) -> str:
    return path.name.removesuffix(".workbench.yaml")
