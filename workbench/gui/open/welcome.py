"""The Welcome page: open a project or copy an example, the main steps, and the tools that this machine lacks."""

import re
from collections.abc import Callable

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QApplication, QGridLayout, QHBoxLayout, QVBoxLayout, QWidget
from shiboken6 import isValid

from workbench.gui.frame.context import Context
from workbench.gui.look.theme import set_ground
from workbench.gui.open.asking import Asking
from workbench.gui.open.welcome_parts import Box, LastRun, RecentRow, StepMark, last_run
from workbench.gui.widgets import Button, ElidedLabel, IconLabel, SeverityIcon, label, rule
from workbench.gui.widgets.boxes import STRETCH, column_layout, row_layout
from workbench.gui.widgets.scroll_area import ScrollArea
from workbench.model.diagnostic import Diagnostic
from workbench.run.machine import Requirement, machine_report, programs
from workbench.session.open import recent
from workbench.session.open.examples import EXAMPLES, Example
from workbench.system.toolchain import Tool

STEPS = (
    (
        "Annotate your code",
        "Right-click a call or a branch: work, overhead, send, recv, wait. The workbench only adds a comment.",
    ),
    (
        "Run",
        "The workbench instruments and builds a copy. Without a card, it simulates your RTL on one virtual clock.",
    ),
    (
        "See which bottleneck to fix first",
        "Findings are ranked by the predicted speedup of a fix, with its upper bound.",
    ),
)

NARROW_PX = 980  # in less, two halves side by side would have to be scrolled sideways


class Welcome(ScrollArea):
    tour_wanted = Signal()

    def __init__(self, context: Context, asking: Asking, show_mode: Callable[[str], None]) -> None:
        super().__init__("Welcome")
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAsNeeded)
        self._context, self._asking, self._show_mode = context, asking, show_mode
        inside = QWidget()
        set_ground(inside, "window")
        self.setWidget(inside)
        page = QWidget()
        page.setMaximumWidth(1280)
        row_layout(STRETCH, (page, 12), STRETCH, of=inside, margins=(32, 44, 32, 32))
        grid = QGridLayout(page)
        grid.setContentsMargins(0, 0, 0, 0)
        grid.setHorizontalSpacing(80)
        grid.setVerticalSpacing(0)
        grid.setColumnStretch(0, 7)
        grid.setColumnStretch(1, 8)
        said = label("Find where an FPGA application spends its time, and what a fix would gain.", "second")
        said.setStyleSheet("font-size: 15px;")
        head = column_layout(label("RC Workbench", "hero"), said, 32, spacing=4)
        grid.addLayout(head, 0, 0, 1, 2)
        grid.addLayout(self._left(), 1, 0)
        self._grid, self._right_half = grid, QWidget()
        column_layout(self._right(), of=self._right_half, margins=(0, 0, 0, 0))
        grid.addWidget(self._right_half, 1, 1)
        grid.setRowStretch(3, 1)

    def resizeEvent(self, event: QResizeEvent) -> None:
        """In a narrow window the right half is below the left one."""
        narrow = self.width() < NARROW_PX
        place = (2, 0, 1, 2) if narrow else (1, 1, 1, 1)
        if self._grid.getItemPosition(self._grid.indexOf(self._right_half)) != place:
            self._grid.addWidget(self._right_half, *place)
            self._right_half.setContentsMargins(0, 36 if narrow else 0, 0, 0)
        super().resizeEvent(event)

    # ---- left: open, recent, how it goes

    def _left(self) -> QVBoxLayout:
        row = QGridLayout()  # two by two: four beside each other are wider than half of a small window
        row.setSpacing(10)
        self.open_button = Button("Open project", "folder", "primary", on=self._asking.project)
        new = Button("New from sources", "plus", on=self._asking.new_project)
        new.setToolTip("Find the host program and the hardware in a folder, and create a project")
        run = Button("Open a run", "chart-gantt")
        run.clicked.connect(self._asking.run)
        models = Button("Predict", "trending-up", on=lambda: self._show_mode("predict"))
        models.setToolTip("Predict an algorithm's time on a platform, before any code")
        platform = Button("Add a platform", "cpu")
        platform.setToolTip("Describe a board: its host API (from a header), its ports and its transfer times")
        platform.clicked.connect(lambda: self._show_mode("platform"))
        tour = Button("Take the tour", "waypoints", on=self.tour_wanted.emit)
        tour.setToolTip("From sources to a measured speedup in three minutes, on a bundled example")
        for number, button in enumerate((self.open_button, new, run, models, platform, tour)):
            button.setProperty("large", "true")
            row.addWidget(button, number // 2, number % 2)
        row.setColumnStretch(2, 1)
        self._clear = Button("Clear", kind="link", on=self._clear_recent)
        column = column_layout(row, 30, _title("Recent", self._clear), 10, spacing=0)
        self._recent = Box()
        column.addWidget(self._recent)
        column.addSpacing(36)
        column.addLayout(_title("How it works"))
        column.addSpacing(14)
        for number, (title, text) in enumerate(STEPS, 1):
            step = row_layout(StepMark(number, number == len(STEPS)), spacing=18)
            words = column_layout(margins=(0, 3, 0, 22), spacing=4)
            words.addWidget(label(title, "strong"))
            words.addWidget(label(text, "second", wrap=True))
            step.addLayout(words, 1)
            column.addLayout(step)
        column.addStretch(1)
        return column

    def _clear_recent(self) -> None:
        recent.clear()
        self.reload()

    # ---- right: examples, this machine

    def _right(self) -> QVBoxLayout:
        column = column_layout(spacing=0)
        column.addLayout(_title("Examples", None, "copied to a folder of your choice before the run"))
        column.addSpacing(12)
        grid = QGridLayout()
        grid.setSpacing(16)
        self.example_buttons: list[Button] = []
        for number, example in enumerate(EXAMPLES):
            grid.addWidget(self._example(example), number // 2, number % 2)
            grid.setColumnStretch(number % 2, 1)
        column.addLayout(grid)
        column.addSpacing(36)
        again = Button("Check again", kind="link", on=self._check_machine)
        column.addLayout(_title("This machine", again))
        column.addSpacing(12)
        self._machine = Box()
        column.addWidget(self._machine)
        column.addStretch(1)
        return column

    def _example(self, example: Example) -> QWidget:
        box = Box(margin=18)
        box.column.setSpacing(4)
        box.column.addWidget(label(example.title, "strong"))
        box.column.addWidget(label(example.made_of, "small"))
        box.column.addSpacing(8)
        text = label(example.summary, "second", wrap=True)
        text.setMinimumHeight(40)
        text.setAlignment(Qt.AlignmentFlag.AlignTop)
        box.column.addWidget(text)
        box.column.addStretch(1)  # of cards side by side the button is at one height
        box.column.addSpacing(10)
        button = Button("Copy and run", "play", on=lambda: self._asking.copy_example(example, run=True))
        self.example_buttons.append(button)
        box.column.addWidget(button, 0, Qt.AlignmentFlag.AlignLeft)
        return box

    def reload(self) -> None:
        """Read anew what is recent; the facts about each come when they have been read."""
        self._recent.clear()
        projects = recent.recent()[:4]
        self._clear.setVisible(bool(projects))
        rows = {project: RecentRow(project) for project in projects}
        for index, row in enumerate(rows.values()):
            if index:
                self._recent.column.addWidget(_inset_rule())
            row.chosen.connect(self._context.open_path)
            self._recent.column.addWidget(row)
        if not projects:
            empty = label("Nothing yet. Open a project, or copy an example.", "muted")
            empty.setContentsMargins(16, 18, 16, 18)
            self._recent.column.addWidget(empty)
        plugins = self._context.plugins

        def done(runs: list[LastRun]) -> None:
            for fact in runs:
                if fact.project in rows and isValid(rows[fact.project]):
                    rows[fact.project].say(fact)

        if projects:
            self._context.background.start(
                "recent", lambda: [last_run(p, plugins) for p in projects], done, lambda problems: None
            )
        if not self._machine.column.count():
            self._look_at_machine(programs)

    def _check_machine(self) -> None:
        """With the libraries, which are loaded in processes of their own: seconds of work, so only when asked for."""
        self._look_at_machine(machine_report)

    def _look_at_machine(self, look: Callable[[], tuple[Requirement, ...]]) -> None:
        self._context.background.start(
            "machine",
            look,
            self._show_machine,
            lambda problems: self._context.notices.tell(*problems),
            reads_documents=False,
        )

    def _show_machine(self, requirements: tuple[Requirement, ...]) -> None:
        """The programs that are needed, and whatever lacks; `workbench doctor` shows them all."""
        self._machine.clear()
        column = self._machine.column
        shown = [part for part in requirements if (part.needed and part.program) or isinstance(part.state, Diagnostic)]
        for index, part in enumerate(shown):
            if index:
                column.addWidget(_inset_rule())
            column.addLayout(self._machine_row(part.purpose, part.state))
        column.addWidget(_inset_rule())
        card = QHBoxLayout()
        _fill_row(
            card, IconLabel("check", 16, "good"), "FPGA card", label("none; the simulated card is used", "second")
        )
        column.addLayout(card)

    def _machine_row(self, purpose: str, tool: Tool | Diagnostic) -> QHBoxLayout:
        row = QHBoxLayout()
        name = purpose[:1].upper() + purpose[1:]
        if isinstance(tool, Tool):
            said = ElidedLabel(_tool_text(tool), "second")
            said.setToolTip(str(tool.path))
            _fill_row(row, IconLabel("check", 16, "good"), name, said)
            return row
        hint = QHBoxLayout()
        command = tool.command
        hint.addWidget(
            label(command or tool.hint, "code" if command else "small", wrap=not command), 0 if command else 1
        )
        if command:
            copy = Button("Copy", kind="link", on=lambda: QApplication.clipboard().setText(command))
            hint.addWidget(copy)
            hint.addStretch(1)
        words = column_layout(label(tool.message, "second", wrap=True), hint, spacing=4)
        holder = QWidget()
        holder.setLayout(words)
        words.setContentsMargins(0, 0, 0, 0)
        _fill_row(row, SeverityIcon("medium"), name, holder)
        return row


def _fill_row(row: QHBoxLayout, sign: QWidget, name: str, said: QWidget) -> None:
    row.setContentsMargins(16, 9, 16, 9)
    row.setSpacing(14)
    title = label(name)
    title.setFixedWidth(190)
    for widget in (sign, title):
        row.addWidget(widget, 0, Qt.AlignmentFlag.AlignTop)
    row.addWidget(said, 1)


def _title(text: str, action: QWidget | None = None, detail: str = "") -> QHBoxLayout:
    row = row_layout(label(text, "title"), label(detail, "small"), STRETCH, spacing=12)
    if action is not None:
        row.addWidget(action)
    return row


def _inset_rule() -> QWidget:
    holder = QWidget()
    row_layout(rule(), of=holder, margins=(14, 0, 0, 0))
    return holder


def _tool_text(tool: Tool) -> str:
    """Name and version, without what the packager adds: `g++ 12.2.0`."""
    version = re.sub(r"\s*\((?:Debian|Ubuntu|git)[^)]*\)", "", tool.version)
    return version if version.lower().startswith(tool.name.lower()) else f"{tool.name} {version}"
