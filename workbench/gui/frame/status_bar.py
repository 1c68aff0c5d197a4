"""The status bar: the run, texts of the mode, problems, and the running job at the right."""

from collections.abc import Sequence

from PySide6.QtCore import QTimer, Signal
from PySide6.QtGui import QMouseEvent
from PySide6.QtWidgets import QSizePolicy, QWidget

from workbench import __version__
from workbench.gui.frame.context import Context
from workbench.gui.frame.naming import run_title
from workbench.gui.views.canvas import Drawn
from workbench.model.diagnostic import Severity, has_errors
from workbench.model.text import counted, time_text
from workbench.pictures.canvas import RIGHT, Canvas
from workbench.pictures.signs import draw_severity

ANSWER_MS = 4000


class StatusBar(Drawn, QWidget):
    """24 pixels, painted. `level` is "good", "" or a severity. A click on the problems asks for them, any other for the
    notices."""

    clicked = Signal()
    problems_wanted = Signal()

    def __init__(self) -> None:
        super().__init__()
        self.setFixedHeight(24)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self._parts: tuple[str, ...] = ()
        self._problems = ""
        self.problems_px = range(0)  # where they are drawn
        self._level = ""
        self._job = ""
        self._answer = ""
        self._answered = QTimer(self, singleShot=True, interval=ANSWER_MS)
        self._answered.timeout.connect(lambda: self.answer(""))

    def answer(self, text: str) -> None:
        """Say something of the key that was pressed, before all else, for a moment."""
        self._answer = text
        self._answered.start()
        self.update()

    def say(self, parts: Sequence[str], problems: str, level: str, job: str) -> None:
        self._parts, self._problems, self._level, self._job = tuple(parts), problems, level, job
        said = (*self._parts, *((problems,) if problems else ()))
        self.setAccessibleName(". ".join((*said, job)))
        self.setToolTip("  •  ".join(said))
        self.update()

    @property
    def text(self) -> str:
        return " • ".join((*self._shown, self._job))

    @property
    def _shown(self) -> tuple[str, ...]:
        return tuple(part for part in (self._answer, *self._parts, self._problems) if part)

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        on_problems = round(event.position().x()) in self.problems_px
        (self.problems_wanted if on_problems else self.clicked).emit()

    def draw(self, canvas: Canvas) -> None:
        canvas.rect(0, 0, self.width(), self.height(), "chrome")
        canvas.rect(0, 0, self.width(), 1, "rule")
        middle, left, end = 12.5, 16.0, self.width() - canvas.width_of(self._job) - 32
        canvas.write(self.width() - 16, middle, self._job, "second", 12, 400, RIGHT)
        if self._level == "good":
            canvas.icon("check", left, 5, 14, "good")
        elif self._level:
            draw_severity(canvas, left, 5, 14, self._level)
        left += 20 if self._level else 0
        self.problems_px = range(0)
        for index, part in enumerate(self._shown):
            apart = 19 if index else 0
            used = canvas.text(left + apart, 0, max(end - left - apart, 0.0), 25, part, "second")
            if not used:
                break
            if index:
                canvas.disc(left + 9.5, 13, 1.5, "muted")
            if self._problems and index == len(self._shown) - 1:
                self.problems_px = range(round(left), round(left + apart + used))
            left += apart + used


def status_parts(context: Context, of_mode: tuple[str, ...]) -> tuple[tuple[str, ...], str, str]:
    """The parts from left, the mode's own last, then the problems, and the sign before them: good, a severity's level
    or none."""
    parts: list[str] = []
    level = said = ""
    run = context.run
    if run is not None:
        title = run_title(run)
        shown = "shown until the new run ends" if context.replacing else run.manifest.status.value
        parts.append(f"{title} {shown}")
        parts.append(f"{time_text(run.time_s, 5)} {run.kind_of_time}")
        if not of_mode:
            from workbench.analysis.recording import recording_parts  # read where there is a run to speak of

            parts.append("profile and trace" if run.manifest.traced else "profile")
            parts += recording_parts(run.manifest)
            parts.append(f"{counted(len(run.manifest.blocks), 'block')} observed")
        level = "good" if run.complete else "high"
    elif context.workspace is not None:
        parts.append("No run yet")
    if not context.trusted:
        parts.append("not trusted yet")
    parts += of_mode
    of_documents = (error for document in context.documents for error in document.errors)
    problems = dict.fromkeys((*context.problems(), *of_documents))
    if problems:
        errors = has_errors(problems)
        level = "high" if errors else level or "medium"
        serious = [d for d in problems if d.severity is (Severity.ERROR if errors else Severity.WARNING)]
        word = "problem" if errors else "warning"
        said = counted(len(serious), word)
    if not parts and not said:
        parts.append(f"RC Workbench {__version__}")
    return tuple(parts), said, level
