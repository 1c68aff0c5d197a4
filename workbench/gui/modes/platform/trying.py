"""The panel below the form that tries the template on a source, and lists the matching calls."""

from pathlib import Path

from PySide6.QtCore import QTimer, Signal
from PySide6.QtWidgets import QFileDialog, QHBoxLayout, QWidget

from workbench.api.job import Job
from workbench.api.window import Context
from workbench.gui.widgets import Button, label, plain_column, rule, set_role
from workbench.gui.widgets.boxes import row_layout
from workbench.gui.widgets.row_view import RowView
from workbench.gui.widgets.rows import Column
from workbench.model.diagnostic import Diagnostic, Severity
from workbench.model.text import counted
from workbench.session.begin.template_try import Tried, sources_of, tried
from workbench.session.edit.platform_document import PlatformDocument

PAUSE_MS = 500
LIST_PX = 190
_NAMES = "C and C++ sources (*.c *.cpp *.cc *.cxx *.C);;All files (*)"


class TriedOn(QWidget):
    """`opened` carries the place of a call. What is tried is asked again when the template changes."""

    opened = Signal(str, int)

    def __init__(self, context: Context, document: PlatformDocument) -> None:
        super().__init__()
        self._context, self._document = context, document
        self.sources: tuple[Path, ...] = ()  # empty: the open project's
        self._what = ""
        self._again = QTimer(self, singleShot=True, interval=PAUSE_MS)
        self._again.timeout.connect(self.ask)
        self.said = label("", "second", wrap=True)
        self.show_button = Button("Show them", kind="link", on=self._show_calls)
        self.show_button.hide()
        choose, self.project_button = Button("A source", kind="link"), Button("The project", kind="link")
        choose.clicked.connect(self._choose)
        self.project_button.clicked.connect(self.try_project)
        self.calls = RowView("Calls that match", (
            Column("Place", lambda call: f"{Path(call.file).name}:{call.line}", share=0.34),
            Column("Call", lambda call: call.callee, share=0.36),
            Column("Kind", lambda call: call.kind, share=0.3, tip_of=lambda call: call.entry),
        ), 26)  # fmt: skip
        self.calls.setFixedHeight(LIST_PX)
        self.calls.opened.connect(lambda call: self.opened.emit(call.file, call.line))
        self.calls.hide()
        asked, self._answered = QHBoxLayout(), QWidget()
        asked.setContentsMargins(16, 6, 16, 6)
        asked.setSpacing(12)
        asked.addWidget(label("Sources to try", "strong"))
        asked.addWidget(self.project_button)
        asked.addWidget(choose)
        asked.addStretch(1)
        row_layout((self.said, 1), self.show_button, of=self._answered, margins=(16, 0, 16, 6))
        self._answered.hide()
        plain_column(self, rule(), asked, self._answered, self.calls)
        document.changed.connect(self._changed)
        self._changed()

    # ---- on what

    def _choose(self) -> None:
        folder = self._document.path.parent if self._document.path else Path.cwd()
        names, _ = QFileDialog.getOpenFileNames(self, "Try the template on sources", str(folder), _NAMES)
        if names:
            self.try_on(*map(Path, names))

    def try_on(self, *sources: Path) -> None:
        self._try(sources, sources[0].name if len(sources) == 1 else counted(len(sources), "source"))

    def try_project(self) -> None:
        self._try((), "the project")

    def _try(self, sources: tuple[Path, ...], what: str) -> None:
        self.sources, self._what = sources, what
        self.ask()

    def _changed(self) -> None:
        self.project_button.setVisible(self._context.workspace is not None)
        if self._what:
            self._again.start()

    # ---- what is found

    def ask(self) -> None:
        """Look for the template's calls; what is found of a text that is not the document's any more is left."""
        document, workspace, text = self._document, self._context.workspace, self._document.text
        platform, path, plugins = document.platform, document.path, self._context.plugins
        if platform is None or path is None or not (self.sources or workspace):
            return
        sources = self.sources

        def work(job: Job) -> Tried:
            if sources or workspace is None:
                return tried(platform, path, *sources_of(sources), {}, plugins, job)
            defines = workspace.defines(workspace.settings())
            return tried(platform, path, workspace.root, workspace.project.host, defines, plugins, job)

        def done(tried: Tried) -> None:
            if document.text == text:
                self._show(tried)

        self._context.background.start_job("try", work, done, self._failed)

    def _failed(self, problems: tuple[Diagnostic, ...]) -> None:
        self._say(problems[0].message, "high")
        self.show_button.hide()

    def _show(self, tried: Tried) -> None:
        count, unused = len(tried.calls), len(tried.unused)
        words = [f"{self._what}: {counted(count, 'call')} {'matches' if count == 1 else 'match'}"]
        if unused:
            words.append(f"{unused} not called")
        wrong = next((d for d in tried.diagnostics if d.severity is Severity.ERROR), None)
        if wrong:
            where = f"{Path(wrong.file or '').name}, line {wrong.line}"
            words.append(f"not completely read ({where}: {wrong.message})")
        self._say(", ".join(words), "medium" if wrong else "second")
        tips = [d.text() for d in tried.diagnostics[:6]] + [f"not called: {one}" for one in tried.unused]
        self.said.setToolTip("\n".join(tips))
        self.calls.show_rows([(call, ()) for call in tried.calls])
        self.show_button.setVisible(bool(count))
        self.calls.setVisible(self.calls.isVisible() and bool(count))

    def _say(self, text: str, role: str) -> None:
        self.said.setText(text)
        self._answered.show()
        set_role(self.said, role)

    def _show_calls(self) -> None:
        shown = not self.calls.isVisible()
        self.calls.setVisible(shown)
        self.show_button.setText("Hide them" if shown else "Show them")
