"""The Welcome page: open a project or copy an example, the main steps, and the tools that this machine lacks."""

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
from workbench.model.text import capitalised
from workbench.run.machine import Requirement, machine_report, programs
from workbench.session.open import recent
from workbench.session.open.examples import EXAMPLES, Example
from workbench.system.toolchain import Tool, short_version

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

ROOMY_PX = 1200  # from which on the page keeps away from the window's edges
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
        self._around = row_layout(STRETCH, (page, 12), STRETCH)
        above = column_layout(self._around, of=inside, margins=(0, 0, 0, 0))
        above.insertStretch(0, 2)  # in a high window, a part of what is free is above
        above.addStretch(3)
        grid = QGridLayout(page)
        grid.setContentsMargins(0, 0, 0, 0)
        grid.setVerticalSpacing(0)
        grid.setColumnStretch(0, 7)
        grid.setColumnStretch(1, 8)
        said = label("Find where an FPGA application spends its time, and what a fix would gain.", "second")
        said.setStyleSheet("font-size: 15px;")
        head = column_layout(label("RC Workbench", "hero"), said, 32, spacing=4)
        grid.addLayout(head, 0, 0, 1, 2)
        self._grid = grid
        self._parts = QWidget(), QWidget(), QWidget()  # how to begin, the examples, this machine
        for part, column in zip(self._parts, (self._beginning(), self._examples(), self._tools()), strict=True):
            column_layout(column, of=part, margins=(0, 0, 0, 0))
        grid.setRowStretch(2, 1)
        self._is_narrow: bool | None = None
        self._place(narrow=False)

    def _place(self, *, narrow: bool) -> None:
        """Examples beside the others; in a narrow window all below each other, each as wide as the page."""
        if narrow == self._is_narrow:
            return
        self._is_narrow = narrow
        beginning, examples, tools = self._parts
        self._grid.addWidget(beginning, 1, 0, 1, 2 if narrow else 1)
        self._grid.addWidget(examples, *((2, 0, 1, 2) if narrow else (1, 1, 2, 1)))
        self._grid.addWidget(tools, *((3, 0, 1, 2) if narrow else (2, 0, 1, 1)))
        examples.setContentsMargins(0, 20 if narrow else 0, 0, 0)
        tools.setContentsMargins(0, 36 if narrow else 14, 0, 0)
        self._around.setContentsMargins(32, 24 if narrow else 44, 32, 32)
        in_row = 3 if narrow else 2
        for number, button in enumerate(self._begin_buttons):
            self._begin.addWidget(button, number // in_row, number % in_row)
        self._begin.setColumnStretch(2, 0 if narrow else 1)
        self._begin.setColumnStretch(3, 1)

    def resizeEvent(self, event: QResizeEvent) -> None:
        self._place(narrow=self.width() < NARROW_PX)
        roomy = self.width() >= ROOMY_PX
        self._grid.setHorizontalSpacing(80 if roomy else 40)
        for edge in (0, 2):
            self._around.setStretch(edge, int(roomy))
        super().resizeEvent(event)

    # ---- open, recent, how it goes

    def _beginning(self) -> QVBoxLayout:
        self._begin = QGridLayout()  # six beside each other are wider than half of a small window
        self._begin.setSpacing(10)
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
        self._begin_buttons = self.open_button, new, run, models, platform, tour
        for button in self._begin_buttons:
            button.setProperty("large", "true")
        self._clear = Button("Clear", kind="link", on=self._clear_recent)
        column = column_layout(self._begin, 30, _title("Recent", self._clear), 10, spacing=0)
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

    # ---- examples, this machine

    def _examples(self) -> QVBoxLayout:
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
        column.addStretch(1)
        return column

    def _tools(self) -> QVBoxLayout:
        column = column_layout(spacing=0)
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
            card, IconLabel("check", 16, "good"), "FPGA card", ElidedLabel("none; the simulated card is used", "second")
        )
        column.addLayout(card)

    def _machine_row(self, purpose: str, tool: Tool | Diagnostic) -> QHBoxLayout:
        row = QHBoxLayout()
        name = capitalised(purpose)
        if isinstance(tool, Tool):
            said = ElidedLabel(short_version(tool), "second")
            said.setToolTip(str(tool.path))
            _fill_row(row, IconLabel("check", 16, "good"), name, said)
            return row
        hint = QHBoxLayout()
        command = tool.command
        hint.addWidget(label(command or tool.hint, "code" if command else "small", wrap=True), 1)
        if command:
            copy = Button("Copy", kind="link", on=lambda: QApplication.clipboard().setText(command))
            hint.addWidget(copy, 0, Qt.AlignmentFlag.AlignTop)
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
    title.setFixedWidth(182)
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
