"""A mode in which the open run is asked in a language of its own: graph, query, answers, and what the run shows."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

from PySide6.QtCore import Qt, QTimer
from PySide6.QtWidgets import QFileDialog, QLineEdit, QVBoxLayout, QWidget

from workbench.api.modes import WindowMode
from workbench.api.queries import Explained, Reply, RunQueries, Subject
from workbench.gui.background import Failed
from workbench.gui.context import Context
from workbench.gui.mode import Mode
from workbench.gui.streams.editor import QueryEditor
from workbench.gui.streams.graph import SubjectGraph
from workbench.gui.streams.replies import Replies
from workbench.gui.theme import set_ground
from workbench.gui.widgets import Button, IconButton, PanelHeader, Split, label, plain_column, plain_panel, scrolled
from workbench.model.diagnostic import Diagnostic, has_errors
from workbench.model.run import Run
from workbench.session.history import Undoable
from workbench.session.query_document import QueryFile

PAUSE_MS = 300  # without a key, before what was typed is looked at
QUERY = "streams.query"


class QueryMode(Mode):
    """The plugin's `RunQueries` that has the mode's name says what can be asked."""

    def __init__(self, context: Context, kind: WindowMode) -> None:
        super().__init__(context, kind)
        self.queries = context.plugins.queries.get(kind.name)
        self.subject: Subject | None = None
        self.document = QueryFile()
        context.documents.add(self.document)
        self.empty.setFocusPolicy(Qt.FocusPolicy.StrongFocus)  # where there is nothing to ask, keys still go somewhere

    def build(self) -> Iterator[None]:
        context = self.context
        self.graph = SubjectGraph()
        yield
        self.editor = QueryEditor(self.document)
        self.frame_length = QLineEdit()
        self._pause = QTimer(self, singleShot=True, interval=PAUSE_MS)
        self._pause.timeout.connect(self._check)
        yield
        self.replies = Replies()
        yield from self.replies.build()
        self._explained = QVBoxLayout()
        self.set_content(self._build())
        yield
        self.graph.statement_chosen.connect(self.add)
        self.graph.problem.connect(context.notices.tell)
        self.replies.pictures.problem.connect(context.notices.tell)
        self.replies.line_chosen.connect(self.editor.go_to)
        self.editor.asked.connect(self.ask)
        self.editor.textChanged.connect(self._pause.start)
        self.editor.undoAvailable.connect(lambda _: context.history_changed.emit())
        self.editor.redoAvailable.connect(lambda _: context.history_changed.emit())
        self.document.changed.connect(self._name_query)
        self.frame_length.returnPressed.connect(self.ask)
        context.run_changed.connect(self._run_changed)
        context.code_font_changed.connect(self.editor.take_font)
        self.setFocusProxy(self.editor)
        self._run_changed()
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

    def _build(self) -> QWidget:
        page = QWidget()
        above = Split((self._graph_panel(), 860), (self._explained_panel(), 560))
        below = Split((self._editor_panel(), 560), (self._replies_panel(), 860))
        plain_column(page).addWidget(Split((above, 380), (below, 520), vertical=True))
        return page

    def _graph_panel(self) -> QWidget:
        panel, column = plain_panel(260, 120)
        self.graph_head = PanelHeader(self.kind.title)
        column.addWidget(self.graph_head)
        column.addWidget(self.graph, 1)
        return panel

    def _explained_panel(self) -> QWidget:
        panel, column = plain_panel(260, 120)
        column.addWidget(PanelHeader("What the run shows"))
        self._explained.setContentsMargins(16, 12, 16, 16)
        self._explained.setSpacing(2)
        column.addWidget(scrolled(self._explained), 1)
        return panel

    def _editor_panel(self) -> QWidget:
        panel, column = plain_panel(260, 120)
        self.editor_head = PanelHeader("Query")
        self.frame_length.setPlaceholderText("one frame")
        self.frame_length.setToolTip("Length of a frame: a time, as 10 ms, or a number of transfers")
        self.frame_length.setAccessibleName("Length of a frame")
        self.frame_length.setFixedWidth(92)
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
        column.addWidget(self.replies_head)
        column.addWidget(self.replies, 1)
        set_ground(self.replies, "panel")
        return panel

    # ---- the run

    def _run_changed(self) -> None:
        self.subject = None
        self.replies.show_replies(())
        self.replies_head.set_title("Answers")
        if self.context.run is None or self.queries is None:
            self.show_nothing()
        else:
            self._start("subject", lambda run, queries: queries.subject(run), self._take, self._failed)

    def _take(self, subject: Subject | None) -> None:
        self.subject = subject
        if subject is None:
            self.show_nothing(*self._no_streams())
            return
        self.graph.show_subject(subject)
        self.graph_head.set_title(self.kind.title, subject.name)
        self.editor.set_words(subject.keywords, subject.names)
        self.show_content()
        self._check()
        if self.context.run is not None:
            self._begin_beside(self.context.run)
        self._start("explain", lambda run, queries: queries.explain(run), self._explain, self._failed)
        if self.editor.toPlainText().strip():
            self.ask()

    def _start(
        self, what: str, work: Callable[[Run, RunQueries], Any], done: Callable[[Any], None], failed: Failed
    ) -> None:
        """Ask the plugin something in a thread; nothing without a run."""
        run, queries = self.context.run, self.queries
        if run is not None and queries is not None:
            self.context.background.start(f"{self.kind.name}-{what}", lambda: work(run, queries), done, failed)

    def _no_streams(self) -> tuple[str, str]:
        return "This run has no streams", "A traced run of a streaming application keeps every transfer of its edges."

    def _failed(self, diagnostics: tuple[Diagnostic, ...]) -> None:
        self.show_nothing("Its streams cannot be read", diagnostics[0].message if diagnostics else "")
        self.context.notices.tell(*diagnostics)

    def _explain(self, found: Sequence[Explained]) -> None:
        while (item := self._explained.takeAt(0)) is not None:
            if widget := item.widget():
                widget.deleteLater()
        for one in found:
            question, answer = label(one.question, "strong", wrap=True), label(one.answer, "second", wrap=True)
            answer.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
            self.graph.say(one.blocks)
            self._explained.addWidget(question)
            self._explained.addWidget(answer)
            if statements := "\n".join(one.statements):
                show = Button("Ask this", kind="link")
                show.setToolTip(statements)
                show.clicked.connect(lambda _=False, asked=statements: self.add(asked))
                self._explained.addWidget(show, 0, Qt.AlignmentFlag.AlignLeft)
            self._explained.addSpacing(10)
        self._explained.addStretch(1)

    # ---- the query

    def add(self, statements: str) -> None:
        """Write statements below what is there, and ask."""
        self.editor.add_statement(statements)
        self.ask()

    def _check(self) -> None:
        text = self.editor.toPlainText()
        if self.subject is not None:
            self._start("check", lambda run, queries: queries.check(run, text), self._checked, self.context.failed)

    def _checked(self, problems: tuple[Diagnostic, ...]) -> None:
        self.editor.show_problems(problems)
        first = next((p for p in problems if has_errors([p])), problems[0] if problems else None)
        more = f" ({len(problems)} in all)" if len(problems) > 1 else ""
        self.wrong.setText(f"Line {first.line}: {first.message}. {first.hint}{more}" if first else "")
        self.wrong.setVisible(first is not None)

    def ask(self) -> None:
        text, length = self.editor.toPlainText(), self.frame_length.text()
        if self.subject is not None and text.strip():
            self.replies_head.set_title("Answers", "asking")
            self._start("ask", lambda run, queries: queries.ask(run, text, length), self._answered, self._refused)

    def _answered(self, replies: Sequence[Reply]) -> None:
        self.replies.show_replies(replies)
        broken = sum(reply.holds is False for reply in replies)
        count = f"{len(replies)} statement{'s' if len(replies) != 1 else ''}"
        self.replies_head.set_title("Answers", f"{count}, {broken} broken" if broken else count)

    def _refused(self, diagnostics: tuple[Diagnostic, ...]) -> None:
        self.replies_head.set_title("Answers", "not asked: something is wrong in the query")
        if all(problem.line for problem in diagnostics):
            self._checked(diagnostics)
        else:
            self.context.notices.tell(*diagnostics)

    # ---- files

    def _begin_beside(self, run: Run) -> None:
        """The query that the run's project has counted, or the one beside the run, unless one is being written."""
        workspace = self.context.workspace
        section = workspace.project.streaming if workspace else None
        folder = workspace.root if workspace else run.path.parent if run.path else Path.cwd()
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
