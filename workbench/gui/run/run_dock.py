"""The bottom dock: a job's steps with their times, its progress, its log, and Cancel."""

from __future__ import annotations

import re
import time
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import QTimer, Signal
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import (
    QButtonGroup,
    QStackedWidget,
    QWidget,
)

from workbench.api.job import JobEvent
from workbench.gui.look.theme import set_ground
from workbench.gui.run.jobs import JobRunner
from workbench.gui.run.live_calls import LiveCalls
from workbench.gui.run.log_text import LogText
from workbench.gui.views.canvas import Drawn, text_width
from workbench.gui.widgets import (
    Button,
    DiagnosticRow,
    EmptyState,
    PanelHeader,
    PillButton,
    Split,
    label,
    plain_column,
    rule,
    scrolled,
)
from workbench.gui.widgets.boxes import STRETCH, column_layout, row_layout
from workbench.model.diagnostic import Diagnostic, Severity
from workbench.model.text import count_text, counted, time_text
from workbench.pictures.canvas import RIGHT, Canvas
from workbench.pictures.signs import draw_severity
from workbench.run.pace import Pace
from workbench.session.program.keys import with_key

if TYPE_CHECKING:
    from workbench.model.run import Run

LEFT_PX, RIGHT_PX, LINE_PX = 46, 16, 17  # of a step's texts
PROGRAM = "host: "  # how the log marks what the user's program printed


class StepRow(Drawn, QWidget):
    """A step: to come, under way with its bar, done, failed or cancelled, and how long it took."""

    def __init__(self, name: str) -> None:
        super().__init__()
        self.name = name
        self.state = "waiting"
        self.seconds = 0.0
        self.warnings = 0
        self.fraction: float | None = None
        self.said = ""
        self.started = 0.0
        self._resize()

    def begin(self) -> None:
        self.state, self.started = "running", time.monotonic()
        self._resize()

    def end(self, state: str, seconds: float) -> None:
        self.state, self.seconds = state, seconds
        self._resize()

    def progress(self, fraction: float | None, said: str) -> None:
        self.fraction, self.said = fraction, said
        self._resize()

    def _resize(self) -> None:
        self.setFixedHeight(45 + LINE_PX * max(len(self._lines()), 1) if self.state == "running" else 38)
        self.update()

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        if event.size().width() != event.oldSize().width():
            self._resize()

    def _lines(self) -> list[str]:
        """What it says now; its clauses are in a line each where one line has no room for them."""
        wide = text_width(self.said) <= self.width() - LEFT_PX - RIGHT_PX
        return [self.said] if wide else re.split(r"(?<=[,:]) ", self.said)

    def draw(self, canvas: Canvas) -> None:
        running = self.state == "running"
        if running:
            canvas.rect(0, 0, self.width(), self.height(), "selection")
            canvas.rect(0, 0, 3, self.height(), "accent")
        if self.state == "done" and not self.warnings:
            canvas.icon("check", 19, 11, 16, "good")
        elif running:
            canvas.icon("play", 20, 11, 14, "accent")
        elif sign := {"done": "medium", "failed": "high", "cancelled": "aside"}.get(self.state):
            draw_severity(canvas, 19, 11, 16, sign)
        else:
            canvas.icon("circle", 21, 13, 12, "muted")
        right, middle = float(self.width() - RIGHT_PX), 19.0
        canvas.write(
            LEFT_PX, middle, self.name, "muted" if self.state == "waiting" else "text", 13, 600 if running else 400
        )
        seconds = time.monotonic() - self.started if running else self.seconds
        if self.state != "waiting":
            said = f"{seconds:.1f} s" if seconds < 20 else f"{seconds:.0f} s"
            canvas.write(right, middle, said, "muted", 12, 400, RIGHT)
        if self.warnings and self.state != "failed":
            said = counted(self.warnings, "warning")
            canvas.write(right - 54, middle, said, "medium_text", 12, 500, RIGHT)
        if running:
            wide = float(self.width() - LEFT_PX - RIGHT_PX)
            if self.fraction is not None:
                canvas.rect(LEFT_PX, 35, wide, 7, "rule" if canvas.palette.dark else "track", radius=3.5)
                canvas.rect(LEFT_PX, 35, max(7.0, wide * min(max(self.fraction, 0.0), 1.0)), 7, "accent", radius=3.5)
            top = 43.5 if self.fraction is not None else 35.5
            for number, line in enumerate(self._lines()):
                canvas.text(LEFT_PX, top + number * LINE_PX, wide, 16, line, "second", 12)


class RunDock(QWidget):
    """Follows a JobRunner. `open_line` asks for a diagnostic's place, `place_wanted` for one that the log names,
    `run_wanted` for the first run."""

    open_line = Signal(str, int)
    place_wanted = Signal(str, int)
    closed = Signal()
    run_wanted = Signal()

    def __init__(self, runner: JobRunner) -> None:
        super().__init__()
        set_ground(self, "panel")
        self._runner = runner
        self.steps: dict[str, StepRow] = {}
        self.problems: list[Diagnostic] = []
        self.repeated: dict[tuple[Severity, str, str], DiagnosticRow] = {}  # the row of each that was said before
        self.current: StepRow | None = None
        self._title = ""
        self._started = 0.0
        self._pace = Pace()
        self._tick = QTimer(self)
        self._tick.setInterval(250)
        self._tick.timeout.connect(self._on_tick)

        self.header = PanelHeader("Run")
        self.left = label("", "small")
        self.cancel = Button("Cancel", on=self.ask_cancel)
        self.cancel.setToolTip(with_key("End the run and every process it started", "cancel"))
        self.close_button = Button("Close", kind="plain", on=self.closed.emit)
        for widget in (self.left, self.cancel, self.close_button):
            self.header.add(widget)
        self.cancel.hide()

        self._steps_column = column_layout(margins=(0, 8, 0, 8), spacing=0)
        scroll = scrolled("Steps", self._steps_column)
        scroll.setMinimumWidth(260)

        split = Split((scroll, 400), (self._log_side(), 860), kept=[0])
        self.nothing = EmptyState(
            "play",
            "No run in this window yet",
            "This panel lists a run's steps with their times, its log, and its problems.",
            with_key("Run", "run"),
            self.run_wanted.emit,
        )
        self._body = QStackedWidget()
        for page in (self.nothing, split):
            self._body.addWidget(page)
        plain_column(self, rule(), self.header, (self._body, 1))
        runner.started.connect(self._on_started)
        runner.events.connect(self._on_events)
        runner.finished.connect(self._on_finished)

    def _log_side(self) -> QWidget:
        side = QWidget()
        set_ground(side, "panel")
        head = row_layout(label("Log", "strong"), STRETCH, spacing=8)
        self.filters = {name: PillButton(name) for name in ("All", "Problems", "Program output", "Calls")}
        group = QButtonGroup(self)
        for index, pill in enumerate(self.filters.values()):
            group.addButton(pill, index)
            head.addWidget(pill)
        self.filters["All"].setChecked(True)
        group.idClicked.connect(self._show_page)
        self.filters["Calls"].setToolTip("Number of host calls, counted during the run")
        self.calls = LiveCalls()
        self.log, self.output = LogText("Log"), LogText("Program output")
        for text in (self.log, self.output):
            text.open_line.connect(self.place_wanted.emit)
        self._rows = column_layout(margins=(0, 0, 0, 0), spacing=8)
        self._no_problems = label("No problems so far.", "small")
        self._rows.addWidget(self._no_problems)
        self._rows.addStretch(1)
        problems = scrolled("Problems", self._rows)
        self._pages = QStackedWidget()
        for page in (self.log, problems, self.output, self.calls):
            self._pages.addWidget(page)
        column_layout(head, (self._pages, 1), of=side, margins=(18, 8, 16, 8), spacing=8)
        return side

    def ask_cancel(self) -> None:
        self._runner.cancel()
        self.cancel.setEnabled(False)
        self.left.setText("cancelling: ending its processes")

    def show_problems(self) -> None:
        self.filters["Problems"].setChecked(True)
        self._show_page(1)

    def _show_page(self, index: int) -> None:
        self._pages.setCurrentIndex(index)

    def set_run_title(self, title: str, detail: str, raw: Path | None = None) -> None:
        """`raw` is where the run's records will be."""
        self._title = title
        self.header.set_title(title, detail)
        self.calls.follow(raw)
        self._count_calls()

    # ---- the job's life

    def _on_started(self, title: str) -> None:
        self._body.setCurrentIndex(1)
        self._started = time.monotonic()
        self._pace = Pace()
        self._clear()
        self.filters["All"].click()
        if self._steps_column.count() == 0:
            self._steps_column.addStretch(1)
        self.left.setText("")
        self.cancel.setEnabled(True)
        self.cancel.show()
        self.close_button.hide()
        self._tick.start()

    def forget(self) -> None:
        """Another project is open: nothing of it has run in this window."""
        self._title = ""
        self.header.set_title("Run")
        self.calls.follow(None)
        self._count_calls()
        self._clear()
        self._body.setCurrentIndex(0)

    def _clear(self) -> None:
        """Forget steps, log and problems."""
        self.problems.clear()
        self.repeated.clear()
        self.current = None
        self.log.clear()
        self.output.clear()
        self._count_problems()
        for row in self.steps.values():
            self._steps_column.removeWidget(row)
            row.deleteLater()
        self.steps = {}
        while self._rows.count() > 2:
            item = self._rows.takeAt(0)
            if item is not None and (old := item.widget()) is not None:
                old.deleteLater()
        self._no_problems.show()

    def _step(self, name: str) -> StepRow:
        if name not in self.steps:
            self.steps[name] = StepRow(name)
            self._steps_column.insertWidget(self._steps_column.count() - 1, self.steps[name])
        return self.steps[name]

    def _on_events(self, events: Sequence[JobEvent]) -> None:
        logged: list[str] = []
        printed: list[str] = []
        stamp = _stamp(time.monotonic() - self._started)
        for event in events:
            self._pace.see(event)
            if event.kind == "plan":
                for name in event.text.splitlines():
                    self._step(name)
            elif event.kind == "step":
                self.current = self._step(event.text)
                self.current.begin()
            elif event.kind in ("step_done", "step_failed"):
                state = "done" if event.kind == "step_done" else "cancelled" if self._runner.cancelling else "failed"
                self._step(event.text).end(state, event.seconds)
            elif event.kind == "progress" and self.current is not None:
                self.current.progress(self._pace.step_share(), event.text)
            elif event.kind == "diagnostic" and event.diagnostic is not None:
                self._add_problem(event.diagnostic)
                logged.append(f"{stamp}   {event.text}")
            elif event.kind == "log":
                program = event.text.startswith(PROGRAM)
                text = event.text.removeprefix(PROGRAM)
                logged += [f"{stamp}   {line}" for line in text.splitlines()]
                printed += text.splitlines() if program else []
        if logged:
            self.log.appendPlainText("\n".join(logged))
        if printed:
            self.output.appendPlainText("\n".join(printed))

    def _add_problem(self, diagnostic: Diagnostic) -> None:
        if diagnostic in self.problems:
            return
        self.problems.append(diagnostic)
        same = diagnostic.severity, diagnostic.message, diagnostic.hint
        if (shown := self.repeated.get(same)) is not None:  # it is at another line
            shown.count_again()
            self._count_problems()
            return
        self.repeated[same] = row = DiagnosticRow(diagnostic)
        row.open_line.connect(self.open_line.emit)
        self._rows.insertWidget(self._rows.count() - 2, row)
        self._no_problems.hide()
        if self.current is not None and diagnostic.severity is Severity.WARNING:
            self.current.warnings += 1
            self.current.update()
        self._count_problems()

    def _count_problems(self) -> None:
        count = sum(severity is not Severity.NOTE for severity, _, _ in self.repeated)
        self.filters["Problems"].setText(f"Problems {count}" if count else "Problems")

    def _count_calls(self) -> None:
        total = self.calls.total
        self.filters["Calls"].setText(f"Calls {count_text(total)}" if total else "Calls")

    def _on_tick(self) -> None:
        self.calls.look()
        self._count_calls()
        if self.current is not None:
            self.current.update()
        if self._runner.cancelling or self.current is None:
            return
        self.left.setText(self._pace.left_text())
        self.current.fraction = self._pace.step_share()

    def _on_finished(self, run: Run | None, cancelled: bool, diagnostics: tuple[Diagnostic, ...]) -> None:
        self._tick.stop()
        self.calls.look()
        self._count_calls()
        elapsed = time.monotonic() - self._started
        for diagnostic in (*diagnostics, *(run.manifest.diagnostics if run else ())):
            self._add_problem(diagnostic)
        for step in self.steps.values():
            if step.state == "running":
                step.end("cancelled" if cancelled else "failed", time.monotonic() - step.started)
        failed = bool(diagnostics) if run is None else not run.complete
        end = "cancelled" if cancelled else "failed" if failed else "complete"
        why = f": {run.manifest.reason.splitlines()[0]}" if run and failed and run.manifest.reason else ""
        took = f", {time_text(run.time_s, 5)} {run.kind_of_time}" if run and not failed else ""
        self.header.set_title(self._title or "Run", f"{end} after {elapsed:.1f} s{took}{why}")
        self.left.setText("")
        self.cancel.hide()
        self.close_button.show()
        if failed and not cancelled and self.problems:
            self.show_problems()

    @property
    def step_text(self) -> str:
        """Which step of how many, for the status bar."""
        if self.current is None:
            return f"{self._title}: starting"
        return f"{self._title}: step {list(self.steps).index(self.current.name) + 1} of {len(self.steps)}"

    @property
    def progress_text(self) -> str:
        """How long it still takes, where that is known."""
        left = self._pace.left_text()
        return f"{self._title}: {left}" if left else f"{self._title} is running"


def _stamp(seconds: float) -> str:
    return f"{int(seconds // 60):02d}:{seconds % 60:04.1f}"
