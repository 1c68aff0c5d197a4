"""The parts of the Welcome page: boxes, numbered steps, recent projects with the result of their last run."""

from dataclasses import dataclass
from pathlib import Path

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QKeyEvent, QMouseEvent
from PySide6.QtWidgets import QGridLayout, QWidget

from workbench.gui.look.theme import set_ground
from workbench.gui.views.canvas import Drawn
from workbench.gui.widgets import ElidedLabel, IconLabel, StateBar, empty, label
from workbench.gui.widgets.boxes import column_layout, row_layout
from workbench.model.diagnostic import WorkbenchError
from workbench.model.pragma import Category
from workbench.model.text import time_text
from workbench.pictures.canvas import CENTRE, Canvas
from workbench.session.keep.results import newest_run, open_result
from workbench.session.open.opening import open_workspace
from workbench.session.program.plugins import Plugins


@dataclass(frozen=True)
class LastRun:
    """What a recent project's newest run says: its time, the host's shares by category, the finding to fix next."""

    project: Path
    time_s: float | None = None
    shares: tuple[tuple[Category | None, float], ...] = ()
    next: str = ""


def last_run(project: Path, plugins: Plugins) -> LastRun:
    """Read off the window's thread: opens the project and its newest run."""
    from workbench.analysis.finding_words import short_gain_text
    from workbench.formats.run_folder import open_run
    from workbench.model.exits import shortfall

    try:
        folder = newest_run(open_workspace(project, plugins))
        if folder is None:
            return LastRun(project)
        if said := shortfall(open_run(folder)[0].manifest):
            return LastRun(project, next=said)
        opened = open_result(folder, plugins)
    except WorkbenchError as error:
        return LastRun(project, next=error.diagnostics[0].message)
    hosts = [m for m in opened.analysis.blocks if m.block.side.value == "host"]
    total = opened.run.time_s or 1.0
    times = hosts[0].by_category if hosts else {}
    shares = tuple((c, times[c] / total) for c in (*Category, None) if c in times)
    best = opened.analysis.findings[:1]
    said = f"next {short_gain_text(best[0])}: {best[0].title}" if best else "nothing above the threshold"
    return LastRun(project, opened.run.time_s, shares, said)


class RecentRow(Drawn, QWidget):
    """A recent project with its last run; a click opens it."""

    chosen = Signal(Path)

    def __init__(self, project: Path) -> None:
        super().__init__()
        self._project = project
        self.setFixedHeight(68)
        self.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        self.setCursor(Qt.CursorShape.PointingHandCursor)
        self.setToolTip(str(project))
        self.setAccessibleName(f"Open {project.name}")
        row = row_layout(IconLabel("folder", 18), of=self, margins=(16, 8, 16, 8), spacing=14)
        names = column_layout(spacing=2)
        names.addWidget(ElidedLabel(project.name.removesuffix(".workbench.yaml"), "strong"))
        names.addWidget(ElidedLabel(_home(project.parent), "small", Qt.TextElideMode.ElideMiddle))
        row.addLayout(names, 1)
        facts = QGridLayout()
        facts.setHorizontalSpacing(16)
        facts.setVerticalSpacing(2)
        self._bar = StateBar((), 12)
        self._bar.setFixedWidth(110)
        self._bar.hide()
        self._time = label("", "")
        self._next = label("", "small")
        right = Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter
        facts.addWidget(self._bar, 0, 0, right)
        facts.addWidget(self._time, 0, 1, right)
        facts.addWidget(self._next, 1, 0, 1, 2, right)
        row.addLayout(facts)

    def say(self, run: LastRun) -> None:
        self._time.setText("no runs" if run.time_s is None else time_text(run.time_s, 4))
        self._bar.set_shares(run.shares)
        self._bar.setVisible(bool(run.shares))
        self._next.setText(run.next if len(run.next) < 44 else run.next[:43] + "\u2026")
        self._next.setToolTip(run.next)
        self._next.setVisible(bool(run.next))  # else the row's one line is in its middle

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        if event.button() is Qt.MouseButton.LeftButton:
            self.chosen.emit(self._project)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter, Qt.Key.Key_Space):
            self.chosen.emit(self._project)
        else:
            super().keyPressEvent(event)

    def draw(self, canvas: Canvas) -> None:
        if self.underMouse() or self.hasFocus():
            ring = "accent" if self.hasFocus() else ""
            canvas.rect(1, 1, self.width() - 2, self.height() - 2, "sunken", ring, radius=7)


class StepMark(Drawn, QWidget):
    """The number of a step in a disc, and the line down to the next."""

    def __init__(self, number: int, last: bool) -> None:
        super().__init__()
        self._number, self._last = number, last
        self.setFixedWidth(26)

    def draw(self, canvas: Canvas) -> None:
        if not self._last:
            canvas.rect(12, 32, 2, self.height() - 34, "rule")
        canvas.disc(13, 13, 13, "selection")
        canvas.write(13, 13, str(self._number), "link", 12, 600, CENTRE)


class Box(QWidget):
    """A box with a frame, of rows."""

    def __init__(self, margin: int = 0) -> None:
        super().__init__()
        set_ground(self, "box")
        self.column = column_layout(of=self, margins=(margin + 1, margin + 1, margin + 1, margin + 1), spacing=0)

    def clear(self) -> None:
        empty(self.column)


def _home(path: Path) -> str:
    try:
        return str(Path("~") / path.relative_to(Path.home()))
    except ValueError:
        return str(path)
