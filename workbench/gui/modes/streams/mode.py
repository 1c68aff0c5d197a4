"""A mode in which runs are asked in a language of their own: graph, query, answers, and what the run shows. Before
there is a run, the project's graph is drawn as it is written, and a query of it can be started."""

import re
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from textwrap import shorten
from typing import Any

from PySide6.QtCore import Qt, QTimer
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QFileDialog, QLineEdit, QWidget

from workbench.api.modes import WindowMode
from workbench.api.queries import Explained, Reply, RunQueries, Subject
from workbench.api.window import Context, Mode, set_ground
from workbench.gui.modes.streams.depths import DepthsPanel
from workbench.gui.modes.streams.editor import QueryEditor
from workbench.gui.modes.streams.explained import ExplainedPanel
from workbench.gui.modes.streams.graph import SubjectGraph, summary
from workbench.gui.modes.streams.replies import Replies
from workbench.gui.modes.streams.subjects import Subjects
from workbench.gui.run.background import Failed
from workbench.gui.widgets import (
    Button,
    DiagnosticRow,
    IconButton,
    PanelHeader,
    PillButton,
    Split,
    Stack,
    empty,
    label,
    plain_column,
    plain_panel,
)
from workbench.gui.widgets.boxes import column_layout
from workbench.model.diagnostic import Diagnostic, has_errors
from workbench.model.run import Run
from workbench.session.edit.history import Undoable
from workbench.session.edit.query_document import QueryFile

SHOWN = 2  # the page below of what the run shows, in a window narrower than
BESIDE_FROM_PX = 900
BESIDE = (860, 560)  # pixels of the graph and of what the run shows
PAUSE_MS = 300  # without a key, before what was typed is looked at
QUERY = "streams.query"
MOST_LETTERS = 160  # of a problem below the query; the whole is its tooltip
MOST_PROBLEMS = 3  # that are shown over the graph; all are among the window's problems


class QueryMode(Mode):
    """The plugin's `RunQueries` that has the mode's name says what can be asked."""

    def __init__(self, context: Context, kind: WindowMode) -> None:
        super().__init__(context, kind)
        self.queries = context.plugins.queries.get(kind.name)
        self.subjects = Subjects(context, self.queries, kind.name)
        self.subject: Subject | None = None  # the one that is shown
        self.of_run = True  # or of the project as it is written
        self.document = QueryFile()
        self.below_pills: list[PillButton] = []  # answers, depths
        context.documents.add(self.document)
        self.empty.setFocusPolicy(Qt.FocusPolicy.StrongFocus)  # where there is nothing to ask, keys still go somewhere

    def build(self) -> Iterator[None]:
        context = self.context
        self.graph = SubjectGraph(context)
        yield
        self.editor = QueryEditor(self.document)
        self.frame_length = QLineEdit()
        self._pause = QTimer(self, singleShot=True, interval=PAUSE_MS)
        self._pause.timeout.connect(self._check)
        yield
        self._wanted_line = 0  # of the statement that was asked just now
        self.replies = Replies()
        yield from self.replies.build()
        self.depths = DepthsPanel(context)
        yield from self.depths.build()
        self.shown = ExplainedPanel()
        yield from self._build()
        yield
        self.graph.statement_chosen.connect(self.add)
        self.graph.problem.connect(context.notices.tell)
        self.replies.pictures.problem.connect(context.notices.tell)
        self.replies.line_chosen.connect(self.editor.go_to)
        self.replies.line_chosen.connect(lambda line: self._show_below(0))  # the picture of the answer
        self.replies.shown.connect(self._mark_edges)
        self.editor.asked.connect(self.ask)
        self.editor.textChanged.connect(self._pause.start)
        self.editor.undoAvailable.connect(lambda _: context.history_changed.emit())
        self.editor.redoAvailable.connect(lambda _: context.history_changed.emit())
        self.document.changed.connect(self._name_query)
        self.frame_length.returnPressed.connect(self.ask)
        self.graph.place_wanted.connect(context.navigation.open_line)
        self.subjects.run_changed.connect(self._on_run)
        self.subjects.project_changed.connect(self._on_project)
        context.run_changed.connect(self._forget_answers)
        context.run_changed.connect(self.subjects.read_run)
        context.workspace_changed.connect(self.subjects.read_project)
        context.navigation.mode_changed.connect(self._shown)
        context.code_font_changed.connect(self.editor.take_font)
        self.setFocusProxy(self.editor)
        self.subjects.read_run()
        self.subjects.read_project()
        yield

    @property
    def shown_document(self) -> QueryFile:
        return self.document

    @property
    def history(self) -> Undoable:
        return self.editor

    @property
    def file_names(self) -> str:
        return "Query (*.query);;All files (*)"

    # ---- arrangement

    def _build(self) -> Iterator[None]:
        page = QWidget()
        graph, shown = self._graph_panel(), self.shown
        yield
        query, replies = self._editor_panel(), self._replies_panel()
        self.panels = (graph, shown, query, self.replies.statements, replies)
        yield
        above = self._above = Split(*zip((graph, shown), BESIDE, strict=True))
        yield
        asked = Split((query, 240), (self.replies.statements, 240), vertical=True)
        below = Split((asked, 600), (replies, 820))
        yield
        plain_column(page).addWidget(Split((above, 430), (below, 470), vertical=True))
        self.set_content(page)

    def _graph_panel(self) -> QWidget:
        panel, column = plain_panel(260, 120)
        self.graph_head = PanelHeader(self.kind.title)
        self.which: dict[bool, PillButton] = {}
        for of_run, text, tip in ((True, "Run", "As run"), (False, "Project", "Current source")):
            pill = self.which[of_run] = PillButton(text, checked=of_run)
            pill.setAutoExclusive(True)
            pill.setToolTip(tip)
            pill.clicked.connect(lambda checked=False, of_run=of_run: self.show_subject(of_run))
            self.graph_head.add(pill)
        self._problems = column_layout(margins=(12, 0, 12, 0), spacing=6)
        column.addWidget(self.graph_head)
        column.addLayout(self._problems)
        column.addWidget(self.graph, 1)
        return panel

    def resizeEvent(self, event: QResizeEvent) -> None:
        """In a narrow window the graph has the whole width, and what the run shows is below it."""
        super().resizeEvent(event)
        narrow = self.width() < BESIDE_FROM_PX
        if not self.below_pills or narrow is not self.below_pills[SHOWN].isHidden():
            return
        if narrow:
            self._below.addWidget(self.shown)
        else:
            self._above.insertWidget(1, self.shown)
            self.shown.show()
            self._above.want(*BESIDE)
        self.shown.head.setVisible(not narrow)
        self.below_pills[SHOWN].setVisible(narrow)
        self._say_answers(self._answers_said)

    def _editor_panel(self) -> QWidget:
        panel, column = plain_panel(310, 120)
        self.editor_head = PanelHeader("Query")
        self.frame_length.setPlaceholderText("one frame")
        self.frame_length.setToolTip("Length of a frame: a time (10 ms) or a number of transfers")
        self.frame_length.setAccessibleName("Length of a frame")
        widest = self.frame_length.fontMetrics().horizontalAdvance("00000.000 us")
        self.frame_length.setFixedWidth(widest + 24)  # its margins
        open_ = IconButton("folder", "Open another query")
        self.ask_button = Button("Ask", "play", "primary")
        self.ask_button.setToolTip("Ctrl+Enter")
        open_.clicked.connect(self._ask_to_open)
        self.ask_button.clicked.connect(self.ask)
        for widget in (self.frame_length, open_, self.ask_button):
            self.editor_head.add(widget)
        column.addWidget(self.editor_head)
        column.addWidget(self.editor, 1)
        self.wrong = label("", "smallmedium", wrap=True)
        self.wrong.setContentsMargins(16, 6, 16, 6)
        self.wrong.hide()
        column.addWidget(self.wrong)
        return panel

    def _replies_panel(self) -> QWidget:
        panel, column = plain_panel(300, 120)
        self.replies_head = PanelHeader("Answers")
        self._answers_said = ""
        self._below = Stack()
        titles = (("Answers", "Answers to the query"), ("Depths", "Queue depths"), ("Summary", "What the run shows"))
        for page, (text, tip) in enumerate(titles):
            pill = PillButton(text, checked=not page)
            pill.setAutoExclusive(True)
            pill.setToolTip(tip)
            pill.clicked.connect(lambda checked=False, page=page: self._show_below(page))
            self.replies_head.add(pill)
            self.below_pills.append(pill)
        for below in (self.replies, self.depths):
            self._below.addWidget(below)
        self.below_pills[SHOWN].hide()
        column.addWidget(self.replies_head)
        column.addWidget(self._below, 1)
        set_ground(self.replies, "panel")
        return panel

    # ---- what is asked: the run, or what the project will be

    def _show_below(self, page: int) -> None:
        """Answers, or depths."""
        self._below.setCurrentIndex(page)
        self.below_pills[page].setChecked(True)
        self.replies_head.set_title(self.below_pills[page].text(), "" if page else self._answers_said)

    def _say_answers(self, words: str) -> None:
        """Something was asked: its answers are shown, or what became of it."""
        self._answers_said = words
        self._show_below(0 if words or self.below_pills[SHOWN].isHidden() else SHOWN)

    def _forget_answers(self) -> None:
        self.replies.show_replies(())
        self._answers_said = ""
        self._show_below(self._below.currentIndex())

    def _shown(self, mode: str) -> None:
        if mode == self.kind.name:
            self.subjects.read_project()

    def _on_run(self) -> None:
        self.show_subject(True)
        if self.subjects.run_problems:
            self.context.notices.tell(*self.subjects.run_problems)

    def _on_project(self) -> None:
        if not self.of_run or not self.subjects.run_is_drawn:
            self.show_subject(self.of_run)
        else:
            self._show_which()

    def show_subject(self, of_run: bool) -> None:
        """Show what the run had, or what the project has now; the other, where there is none of the one. A run of which
        only agents report is drawn as the project."""
        subjects = self.subjects
        has_project = bool(subjects.project or subjects.project_problems)
        self.of_run = subjects.run is not None and (of_run or not has_project)
        drawn = self.of_run and subjects.run_is_drawn
        self.subject = subjects.run if drawn else subjects.project
        self._show_which()
        self._show_problems(() if self.of_run else subjects.project_problems)
        if not self.of_run and not has_project:
            self.show_nothing(*self._no_streams())
            return
        self.graph.show_subject(self.subject)
        now = ", current source" if self.of_run and not drawn else ""
        self.graph_head.set_title(self.kind.title, f"{summary(self.subject)}{now}" if self.subject else "")
        if self.subject is not None:
            self.editor.set_words(self.subject.keywords, self.subject.names)
        self.show_content()
        self._begin_beside()
        self._check()
        self.ask_button.setEnabled(self.of_run)
        self.ask_button.setToolTip("Ctrl+Enter" if self.of_run else "Run the project first")
        self.replies.say_why(
            self.of_run, self.context.run is not None, bool(drawn and subjects.run and subjects.run.edges)
        )
        if not self.of_run:
            self._forget_answers()
            self._explain(())
            return
        self._start("explain", lambda run, queries: queries.explain(run), self._explain, self.context.failed)
        self.ask()

    def _show_which(self) -> None:
        """Which of the two is shown, where there are two."""
        subjects = self.subjects
        both = subjects.run is not None and bool(subjects.project or subjects.project_problems)
        for of_run, pill in self.which.items():
            pill.setVisible(both)
            pill.setChecked(of_run is self.of_run)

    def _show_problems(self, problems: Sequence[Diagnostic]) -> None:
        empty(self._problems)
        for problem in problems[:MOST_PROBLEMS]:
            row = DiagnosticRow(problem)
            row.open_line.connect(self.context.navigation.open_line)
            self._problems.addWidget(row)
        room = 6 if problems else 0
        self._problems.setContentsMargins(12, room, 12, room)

    def _start(
        self, what: str, work: Callable[[Run, RunQueries], Any], done: Callable[[Any], None], failed: Failed
    ) -> None:
        """Ask the plugin something in a thread; nothing without a run."""
        run, queries = self.context.run, self.queries
        if run is not None and queries is not None:
            self.context.background.start(f"{self.kind.name}-{what}", lambda: work(run, queries), done, failed)

    def _no_streams(self) -> tuple[str, ...]:
        if self.subjects.run_problems:
            return "Its streams cannot be read", self.subjects.run_problems[0].message
        if self.context.run is None:
            return ()
        return (
            "This run cannot be queried",
            "A run counts the states of its blocks; a traced one records streams, too.",
        )

    def _explain(self, answers: Sequence[Explained]) -> None:
        if not self.of_run:
            self.shown.say_none(self.act)
            return
        if drawn := next((one for one in answers if one.blocks or one.queues), None):
            self.graph.show_explained(drawn)
        self.shown.show_answers(answers, self.add)

    # ---- the query

    def add(self, statements: str) -> None:
        """Write statements below what is there, those that are not there yet, and ask; the first answer is shown."""
        there = {line.strip() for line in self.editor.toPlainText().splitlines()}
        if new := [line for line in statements.splitlines() if line not in there]:
            self.editor.add_statement("\n".join(new))
        lines, first = self.editor.toPlainText().splitlines(), statements.splitlines()[:1]
        self._wanted_line = next((n for n, line in enumerate(lines, 1) if [line.strip()] == first), 0)
        self.ask()

    def _check(self) -> None:
        text, subject = self.editor.toPlainText(), self.subject
        if subject is not None:
            key = f"{self.kind.name}-check"
            self.context.background.start(key, lambda: subject.check(text), self._checked, self.context.failed)

    def _checked(self, problems: tuple[Diagnostic, ...]) -> None:
        self.editor.show_problems(problems)
        first = next((p for p in problems if has_errors([p])), problems[0] if problems else None)
        more = f" ({len(problems)} in all)" if len(problems) > 1 else ""
        said = f"Line {first.line}: {first.message}. {first.hint}" if first else ""
        self.wrong.setText(shorten(said, MOST_LETTERS, placeholder="…") + more)
        self.wrong.setToolTip(said)
        self.wrong.setVisible(first is not None)

    def ask(self) -> None:
        text, length = self.editor.toPlainText(), self.frame_length.text()
        if self.of_run and self.subject is not None:
            self._say_answers("asking")
            self._start("ask", lambda run, queries: queries.ask(run, text, length), self._answered, self._refused)

    def _answered(self, replies: Sequence[Reply]) -> None:
        self.replies.show_replies(replies, self._wanted_line)
        self._wanted_line = 0
        broken = sum(reply.holds is False for reply in replies)
        count = f"{len(replies)} statement{'s' if len(replies) != 1 else ''}" if replies else ""
        self._say_answers(f"{count}, {broken} broken" if broken else count)

    def _mark_edges(self, reply: Reply | None) -> None:
        self.graph.mark(re.split(r"[^\w.]+", reply.text) if reply else ())

    def _refused(self, diagnostics: tuple[Diagnostic, ...]) -> None:
        self._say_answers("not answered: the query has errors")
        if all(problem.line for problem in diagnostics):
            self._checked(diagnostics)
        else:
            self.context.notices.tell(*diagnostics)

    # ---- files

    def _begin_beside(self) -> None:
        """The query that the project has counted, or the one beside the run, unless one is being written."""
        workspace, run = self.context.workspace, self.context.run
        section = workspace.project.streaming if workspace else None
        folder = workspace.root if workspace else run.path.parent if run and run.path else Path.cwd()
        path = folder / (section.query if section and section.query else QUERY)
        if self.document.path != path and not self.document.dirty:
            self.restore(path)
            self.frame_length.setText(section.frame if section else "")

    def restore(self, path: Path, text: str | None = None) -> bool:
        """Go on with a file, or with a text that was not saved there."""
        if not self.context.notices.attempt(lambda: self.document.begin(path)):
            return False
        if text is not None:
            self.document.type(text)
        return True

    def _name_query(self) -> None:
        name = self.document.path.name if self.document.path else ""
        self.editor_head.set_title("Query", f"{name}, not saved" if self.document.dirty else name)

    def _ask_to_open(self) -> None:
        folder = self.document.path.parent if self.document.path else Path.cwd()
        name, _ = QFileDialog.getOpenFileName(self, "Open a query", str(folder), self.file_names)
        if name and self.context.documents.may_leave([self.document]) and self.restore(Path(name)):
            self.ask()
