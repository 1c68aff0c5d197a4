"""The popovers for notices (beside the rail) and for run options (beside the Run button)."""

from __future__ import annotations

from functools import partial
from itertools import pairwise
from typing import TYPE_CHECKING

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import (
    QCheckBox,
    QFormLayout,
    QLineEdit,
    QSpinBox,
    QVBoxLayout,
    QWidget,
)

from workbench.gui.frame.context import Context
from workbench.gui.widgets import Button, DiagnosticRow, empty, label, rule, scrolled
from workbench.gui.widgets.boxes import STRETCH, column_layout, row_layout
from workbench.gui.widgets.popover import MARGIN_PX, Popover
from workbench.model.diagnostic import Diagnostic, WorkbenchError
from workbench.session.open.apis import MOST_FPGAS
from workbench.session.open.workspace import Workspace, parse_settings
from workbench.system import store

if TYPE_CHECKING:
    from workbench.session.make.pipeline import RunOptions

MOST_PX, _AROUND_PX = 480, 120  # of what scrolls; what a window has beside it
_INSIDE_PX = MARGIN_PX + 16
_STATEMENTS_PX, _STATEMENT_PX = 150, 320  # height of what scrolls; width of a statement


def _column(popover: Popover) -> QVBoxLayout:
    return column_layout(of=popover, margins=(_INSIDE_PX, _INSIDE_PX - 4, _INSIDE_PX, _INSIDE_PX), spacing=10)


class NoticesPopover(Popover):
    """Diagnostics that belong to no place in particular, and the plugins with what they bring or why they failed."""

    def __init__(self, context: Context, parent: QWidget) -> None:
        super().__init__(parent)
        self._context = context
        self.setFixedWidth(560)
        self.setAccessibleName("Notices")
        column = _column(self)
        column.addWidget(label("Notices", "title"))
        self._rows = column_layout(spacing=8)
        inside = column_layout(self._rows, rule(), label("Plugins", "strong"), margins=(0, 0, 4, 0), spacing=10)
        for plugin in context.plugins.loaded:
            said = label("not loaded" if plugin.error else f"{plugin.version}, {_hooks(plugin.hooks)}",
                         "high" if plugin.error else "small")  # fmt: skip
            said.setToolTip(plugin.error or plugin.origin)
            row = row_layout(label(plugin.name), STRETCH, said)
            inside.addLayout(row)
        inside.addStretch(1)
        self._scroll = scrolled("Notices and plugins", inside, "raised")
        column.addWidget(self._scroll)
        self._shown: tuple[Diagnostic, ...] | None = None
        self.reload()

    def reload(self) -> None:
        """Show the present problems; rows that are shown already stay."""
        problems = self._context.problems()
        if problems == self._shown:
            self._fit()
            return
        self._shown = problems
        empty(self._rows)
        for diagnostic in problems:
            row = DiagnosticRow(diagnostic, dismissable=diagnostic in self._context.notices)
            row.open_line.connect(self._open_line)
            row.dismissed.connect(lambda d=diagnostic: self._context.notices.dismiss(d))
            self._rows.addWidget(row)
        if not problems:
            self._rows.addWidget(label("No problems.", "muted"))
        self._fit()
        self.follow()

    def _fit(self) -> None:
        """Set the height to the content's, as far as the window has room."""
        inside, over = self._scroll.widget(), self.parentWidget()
        room_px = min(MOST_PX, over.height() - _AROUND_PX) if over is not None else MOST_PX
        self._scroll.setFixedHeight(min(room_px, inside.sizeHint().height() + 2) if inside is not None else 32)

    def _open_line(self, file: str, line: int) -> None:
        self.close_it()
        self._context.navigation.open_line(file, line)


def _hooks(hooks: object) -> str:
    names = [str(name).removeprefix("workbench_").replace("_", " ") for name in hooks]  # type: ignore[attr-defined]
    return ", ".join(names) or "nothing"


def _questions(workspace: Workspace) -> tuple[str, ...]:
    from workbench.session.make.agents import questions

    return questions(workspace)


class RunOptionsPopover(Popover):
    """How to run: trace, deterministic, plain, the project's settings by name, and what agents count."""

    run = Signal()

    def __init__(self, context: Context, parent: QWidget) -> None:
        super().__init__(parent)
        self._context = context
        self.setFixedWidth(420)
        self.setAccessibleName("How to run")
        column = _column(self)
        column.addWidget(label("How to run", "title"))
        self.trace = QCheckBox("Trace: record every change of state, for the timeline")
        self.trace.toggled.connect(lambda on: store.set_preference("trace", "yes" if on else "no"))
        self.deterministic = QCheckBox("Deterministic: host time is counted work, not measured")
        self.plain = QCheckBox("Plain: run without instrumentation")
        self.waves = QCheckBox("Waveforms: write the design's signals to a VCD file")
        for box in (self.trace, self.deterministic, self.plain, self.waves):
            column.addWidget(box)
        self._form_title = label("Settings of this project", "strong")
        column.addWidget(self._form_title)
        self._form = QFormLayout()
        self._form.setLabelAlignment(Qt.AlignmentFlag.AlignLeft)
        self._form.setHorizontalSpacing(16)
        column.addLayout(self._form)
        self.fields: dict[str, QLineEdit] = {}
        self.ranks: QSpinBox | None = None
        self._questions_title = label("What agents count", "strong")
        self._frame_row = QWidget()
        self.frame_length = QLineEdit()
        self.frame_length.setPlaceholderText("as in the statements")
        self.frame_length.setAccessibleName("Frame length of agents")
        self.frame_length.setToolTip("A time (1 ms), or a number of words for frames of words")
        row_layout(label("Frame length"), self.frame_length, of=self._frame_row, margins=(0, 0, 0, 0), spacing=16)
        self.statements: dict[str, QCheckBox] = {}
        self._boxes = column_layout(margins=(0, 0, 0, 0), spacing=4)
        self._scroll = scrolled("Statements that agents count", self._boxes, "raised")
        for of_agents in (self._questions_title, self._frame_row, self._scroll):
            column.addWidget(of_agents)
        self.problem = label("", "high", wrap=True)
        self.problem.hide()
        column.addWidget(self.problem)
        self.go = Button("Run", "play", "primary", on=self._on_run)
        row = row_layout(STRETCH, self.go)
        column.addLayout(row)
        context.workspace_changed.connect(self._reload)
        self.read()
        self._reload()

    def read(self) -> None:
        """Read the values from the settings."""
        self.trace.setChecked(store.preference("trace", "yes") == "yes")

    def _reload(self) -> None:
        while self._form.rowCount():
            self._form.removeRow(0)
        self.fields = {}
        workspace = self._context.workspace
        always = bool(workspace and workspace.project.simulation.waves)
        self.waves.setChecked(always)
        self.waves.setEnabled(not always)
        self.ranks = None
        if workspace and (workspace.project.apis or workspace.project.host.ranks > 1):
            self.ranks = QSpinBox()
            self.ranks.setRange(1, MOST_FPGAS // len(workspace.project.hardware.of_ranks(1).places))
            self.ranks.setValue(workspace.project.host.ranks)
            self.ranks.setAccessibleName("Ranks")
            self.ranks.setToolTip("Processes of the host program, each with FPGAs of its own")
            self._form.addRow(label("Ranks"), self.ranks)
        for name, value in (workspace.project.settings if workspace else {}).items():
            self.fields[name] = QLineEdit(str(value))
            self.fields[name].setProperty("role", "code")
            self.fields[name].setAccessibleName(name)
            self._form.addRow(label(name, "code"), self.fields[name])
        ranks = (self.ranks,) if self.ranks else ()
        self._before_agents = (self.waves, *ranks, *self.fields.values())
        self._form_title.setVisible(bool(self.fields or self.ranks))
        self._show_questions(tuple(self.statements) if workspace else ())
        if self.statements:  # others are read when the box is opened
            self.read_questions()

    def read_questions(self) -> None:
        """Read the statements that agents of the project count, in the background."""
        if workspace := self._context.workspace:
            self._context.background.start(
                "questions", partial(_questions, workspace), self._show_questions, self._context.failed
            )

    def _show_questions(self, names: tuple[str, ...]) -> None:
        """Statements that were there stay as they are."""
        unchecked = {name for name, box in self.statements.items() if not box.isChecked()}
        if names != tuple(self.statements):
            empty(self._boxes)
            self.statements = {}
            for name in names:
                box = self.statements[name] = QCheckBox(self)
                box.setText(box.fontMetrics().elidedText(name, Qt.TextElideMode.ElideRight, _STATEMENT_PX))
                box.setAccessibleName(name)
                box.setToolTip(f"{name}\nAgents count the statements that are checked. No new build is needed.")
                box.setChecked(name not in unchecked)
                self._boxes.addWidget(box)
        for widget in (self._questions_title, self._frame_row, self._scroll):
            widget.setVisible(bool(names))
        of_agents = (self.frame_length, *self.statements.values())
        for before, after in pairwise((*self._before_agents, *of_agents, self.go)):
            QWidget.setTabOrder(before, after)
        if (inside := self._scroll.widget()) is not None:
            self._scroll.setFixedHeight(min(_STATEMENTS_PX, inside.sizeHint().height() + 2))
        self.follow()

    def options(self, workspace: Workspace) -> RunOptions:
        """What is chosen. Raises WorkbenchError for a setting that cannot be read."""
        from workbench.session.make.pipeline import RunOptions

        own, simulation = workspace.project.settings, workspace.project.simulation
        texts = [f"{n}={f.text()}" for n, f in self.fields.items() if n in own and f.text() != str(own[n])]
        return RunOptions(
            plain=self.plain.isChecked(),
            trace=self.trace.isChecked(),
            deterministic=self.deterministic.isChecked(),
            waves=(simulation.waves_from_s, simulation.waves_to_s) if self.waves.isChecked() else None,
            ranks=self.ranks.value() if self.ranks else 0,
            settings=parse_settings(texts),
            frame=self._frame(),
            only=self._only(),
        )

    def _frame(self) -> str:
        """The length of frames; "" where agents count none. WorkbenchError for a text that is none."""
        from workbench.session.make.agents import check_frame

        frame = self.frame_length.text().strip() if self.statements else ""
        check_frame(frame)
        return frame

    def _only(self) -> tuple[str, ...]:
        """The statements that are checked; none where all are. WorkbenchError where none of them is."""
        checked = tuple(name for name, box in self.statements.items() if box.isChecked())
        if self.statements and not checked:
            raise WorkbenchError(Diagnostic("no statement is checked", "Check one, or leave the query out."))
        return checked if len(checked) < len(self.statements) else ()

    def _on_run(self) -> None:
        if self._context.workspace is None:
            return
        try:
            self.options(self._context.workspace)
        except WorkbenchError as error:
            problem = error.diagnostics[0]
            self.problem.setText(f"{problem.message}. {problem.hint}".rstrip(". ") + ".")
            self.problem.show()
            self.follow()
            return
        self.problem.hide()
        self.close_it()
        self.run.emit()
