"""The banner at the end of a run: its result, the first change to make, and buttons for the next steps."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import Signal
from PySide6.QtGui import QAccessible, QAccessibleEvent, QResizeEvent
from PySide6.QtWidgets import QCheckBox, QLabel, QWidget

from workbench.gui.frame.context import Context
from workbench.gui.frame.naming import folder_title
from workbench.gui.frame.selection import SelectedFinding
from workbench.gui.look.theme import set_ground
from workbench.gui.run.run_control import EndedRun
from workbench.gui.views.canvas import Drawn
from workbench.gui.widgets import Button, ElidedLabel, IconButton, label
from workbench.gui.widgets.boxes import STRETCH, column_layout, row_layout
from workbench.model.diagnostic import Diagnostic, Severity
from workbench.model.text import capitalised, counted, duration_text
from workbench.pictures.canvas import Canvas
from workbench.pictures.signs import draw_severity
from workbench.session.program.keys import key_of_mode, with_key
from workbench.session.program.settings import value
from workbench.system import store

if TYPE_CHECKING:
    from workbench.model.run import Manifest

#: Narrower than this the interval of the prediction is left out.
WHOLE_FROM_PX = 1100
_FOLLOW = {True: "analyse", False: "stay"}


class EndBanner(QWidget):
    """What a run came to, from its end until a person goes on from it, the next job begins or another run is opened."""

    shown_changed = Signal(bool)
    comparison_wanted = Signal()
    log_wanted = Signal()
    problems_wanted = Signal()

    def __init__(self, context: Context) -> None:
        super().__init__()
        self._context = context
        self._ended: EndedRun | None = None
        self._before: tuple[Manifest, str] | None = None  # of the run before, with its folder's name
        self._first: Diagnostic | None = None  # what went wrong first
        self.setAccessibleName("End of the run")
        self.sign = _EndSign()
        self.head, self.beside = ElidedLabel(role="strong"), ElidedLabel(role="second")
        self.count, self.best = label(role="strong"), ElidedLabel()
        self.gain, self.sure = label(role="gain"), label(role="smallsecond")
        self.warned = ElidedLabel(role="medium")
        self.see = Button("Show problems", kind="link", on=self.problems_wanted.emit)
        self.findings = Button("Show findings", kind="primary", on=self._show_findings)
        self.findings.setToolTip(f"The best one is selected ({key_of_mode(2)})")
        self.compare = Button("Compare with previous", on=self._compare)
        self.line = Button("Go to line", kind="primary", on=self._go_to_line)
        self.problems = Button("Show problems", on=self.problems_wanted.emit)
        self.log = Button("Show log", on=self.log_wanted.emit)
        self.close_button = IconButton("x", "Close", on=self.dismiss)
        self.follow = QCheckBox("Show findings after every run")
        self.follow.toggled.connect(lambda on: store.set_preference("after_run", _FOLLOW[on]))
        said = column_layout(
            STRETCH,
            row_layout((self.head, 0), (self.beside, 1), spacing=10),
            row_layout((self.count, 0), (self.best, 0), (self.gain, 0), (self.sure, 0), STRETCH, spacing=8),
            row_layout((self.warned, 0), (self.see, 0), STRETCH, spacing=10),
            STRETCH,
            spacing=2,
        )
        buttons = row_layout(self.findings, self.line, self.compare, self.problems, self.log, spacing=8)
        row = row_layout(self.sign, of=self, margins=(16, 8, 10, 8), spacing=12)
        row.addLayout(said, 1)
        row.addLayout(column_layout(buttons, self.follow, spacing=6))
        row.addWidget(self.close_button)
        context.run_changed.connect(self._run_changed)
        for signal in (context.predictions_changed, context.analysis_changed, context.aside_changed):
            signal.connect(self._say_best)
        context.background.idle_changed.connect(self._say_best)
        context.workspace_changed.connect(self._project_changed)

    # ---- what it says

    def show_end(self, ended: EndedRun) -> None:
        """A run has ended: say how. What was found follows once it is opened, and what that gains once predicted."""
        self._ended, self._before = ended, None
        run = ended.run
        said = (*ended.diagnostics, *(run.manifest.diagnostics if run else ()))
        failed = run is None or not run.complete
        errors = [one for one in said if one.severity is Severity.ERROR]
        self._first = next((one for one in errors if one.file and one.line), next(iter(errors), None))
        lacks = [one for one in run.manifest.diagnostics if one.severity is Severity.WARNING] if run else []
        warned = bool(lacks) and not failed
        self.sign.show_outcome("high" if failed else "medium" if warned else "")
        set_ground(self, "bad" if failed else "warned" if warned else "good")
        self._write(self.warned, _warned_words(lacks) if warned else "")
        self.see.setVisible(warned)
        for widget in (self.findings, self.compare, self.follow):
            widget.setVisible(not failed)
        warnings = len({(one.message, one.hint) for one in ended.problems if one.severity is Severity.WARNING})
        self.problems.setText(f"Show {counted(warnings, 'warning')}" if warnings and not failed else "Show problems")
        self.problems.setVisible(failed or bool(warnings))
        self.log.setVisible(not failed and not warnings)
        self.line.setVisible(failed and self._first is not None and bool(self._first.line))
        self._write(self.count, "")
        if failed:
            self.head.setText(f"{ended.title} failed")
            self.beside.setText(f"after {duration_text(ended.seconds)}")
            self._write(self.best, _error_words(self._first, run.manifest if run else None))
            self._write(self.gain, "")
            self._write(self.sure, "")
        else:
            self.head.setText(f"{ended.title} is complete")
            self.beside.setText("")
            self._say_best()
        self.follow.setChecked(value("after_run") == "analyse")
        self.compare.setToolTip(
            with_key("States, calls and findings next to those of the previous run", "compare_before")
        )
        self.setFixedHeight(self.sizeHint().height())
        self.shown_changed.emit(True)
        QAccessible.updateAccessibility(QAccessibleEvent(self, QAccessible.Event.Alert))

    def _run_changed(self) -> None:
        """The run that ended is opened, or another one is."""
        ended, shown = self._ended, self._context.run
        if ended is None or ended.run is None:
            return
        if shown is None or shown.path != ended.run.path:
            self.dismiss()
            return
        self._find_before()
        if ended.run.complete and value("after_run") == "analyse":
            self._context.navigation.set_mode("analyse")

    def _find_before(self) -> None:
        """How the run before it compares, read in the background."""
        run, folders = self._context.run, self._context.run_folders()
        assert run is not None

        def work() -> tuple[Manifest, str] | None:
            from workbench.formats.run_folder import manifest_in
            from workbench.session.keep.results import run_before

            before = run_before(run.path, folders)
            return (manifest_in(before), folder_title(before)) if before else None

        def done(before: tuple[Manifest, str] | None) -> None:
            self._before = before
            self._say_best()

        self._context.background.start("run before", work, done, lambda _: None)

    def _say_best(self) -> None:
        """What to change first, as far as it is known by now."""
        ended, analysis, run = self._ended, self._context.analysis, self._context.run
        if ended is None or ended.run is None or not ended.run.complete:
            return
        if run is None or analysis is None or run.path != ended.run.path:
            self._write(self.best, "Reading the records")
            for part in (self.count, self.gain, self.sure):
                self._write(part, "")
            return
        from workbench.analysis.ended import beside_words, best_of, time_words

        manifest, (before, name) = run.manifest, self._before or (None, "")
        beside = beside_words(manifest, before, name)
        self.head.setText(f"{ended.title} is complete: {time_words(manifest)}")
        took = f"{duration_text(ended.seconds)} on this machine"
        self.beside.setText(f"{beside}; {took}" if beside else took)
        self.compare.setVisible(bool(beside))
        best = best_of(manifest, analysis, self._context.aside)
        predicting = self._context.background.runs("predict")
        for part, text in (
            (self.count, best.count),
            (self.best, best.what),
            (self.gain, best.gain),
            (self.sure, "predicting" if predicting else best.sure),
        ):
            self._write(part, text)

    def _write(self, part: QLabel, text: str) -> None:
        part.setText(text)
        part.setVisible(bool(text) and (part is not self.sure or self.width() >= WHOLE_FROM_PX))

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._write(self.sure, self.sure.text())

    # ---- where to go on

    def _show_findings(self) -> None:
        from workbench.analysis.ended import best_finding

        context = self._context
        context.navigation.set_mode("analyse")
        if context.analysis and (best := best_finding(context.analysis, context.aside)):
            context.navigation.select(SelectedFinding(best.id))
        self.dismiss()

    def _compare(self) -> None:
        self.comparison_wanted.emit()
        self.dismiss()

    def _go_to_line(self) -> None:
        first = self._first
        if first and first.file and first.line:
            self._context.navigation.open_line(first.file, first.line)

    def dismiss(self, *_: object) -> None:
        """Hide it, until the next run ends."""
        self._ended = None
        self.shown_changed.emit(False)

    def _project_changed(self) -> None:
        if self._context.workspace is None:
            self.dismiss()


def _warned_words(lacks: Sequence[Diagnostic]) -> str:
    """What the run's records lack, as the first of their warnings says it."""
    first, more = lacks[0].message, len(lacks) - 1
    return f"{capitalised(first)}{f', and {more} more' if more else ''}"


def _error_words(first: Diagnostic | None, manifest: Manifest | None) -> str:
    if first is None:
        return manifest.reason.splitlines()[0] if manifest and manifest.reason else "See the run panel for its log."
    place = f" ({Path(first.file).name}{f':{first.line}' if first.line else ''})" if first.file else ""
    return f"{capitalised(first.message)}{place}"


class _EndSign(Drawn, QWidget):
    """A check mark, or the sign of an error or a warning."""

    def __init__(self) -> None:
        super().__init__()
        self._severity = ""
        self.setFixedSize(20, 20)

    def show_outcome(self, severity: str) -> None:
        """As `draw_severity` knows it; "" for a run without fault."""
        self._severity = severity
        self.update()

    def draw(self, canvas: Canvas) -> None:
        if self._severity:
            draw_severity(canvas, 0, 0, 20, self._severity)
        else:
            canvas.icon("check", 0, 0, 20, "good")
