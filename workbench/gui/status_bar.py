"""The foot of the window: the run, what the mode adds, problems; at the right the job."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QRectF, Qt, Signal
from PySide6.QtGui import QColor, QFontMetrics, QMouseEvent, QPainter, QPaintEvent
from PySide6.QtWidgets import QSizePolicy, QWidget

from workbench import __version__
from workbench.gui import fonts, theme
from workbench.gui.context import Context
from workbench.gui.icons import draw_icon
from workbench.gui.naming import run_title
from workbench.gui.widgets import paint_severity
from workbench.model.diagnostic import Severity, has_errors
from workbench.model.text import time_text


class StatusBar(QWidget):
    """24 pixels, painted. `level` is "good", "" or a severity; a click asks for the notices."""

    clicked = Signal()

    def __init__(self) -> None:
        super().__init__()
        self.setFixedHeight(24)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self._parts: tuple[str, ...] = ()
        self._level = ""
        self._job = ""

    def say(self, parts: Sequence[str], level: str, job: str) -> None:
        self._parts, self._level, self._job = tuple(parts), level, job
        self.setAccessibleName(". ".join((*self._parts, job)))
        self.setToolTip("  •  ".join(self._parts))
        self.update()

    @property
    def text(self) -> str:
        return " • ".join((*self._parts, self._job))

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        self.clicked.emit()

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        p = theme.palette()
        painter.fillRect(self.rect(), QColor(p.chrome))
        painter.fillRect(QRectF(0, 0, self.width(), 1), QColor(p.rule))
        font = fonts.ui_font(12)
        metrics = QFontMetrics(font)
        painter.setFont(font)
        middle = Qt.AlignmentFlag.AlignVCenter
        job_width = metrics.horizontalAdvance(self._job)
        painter.setPen(QColor(p.second))
        painter.drawText(QRectF(self.width() - job_width - 16, 1, job_width + 2, 23), middle, self._job)
        left = 16.0
        if self._level == "good":
            draw_icon(painter, "check", left, 5, 14, p.good)
            left += 20
        elif self._level:
            paint_severity(painter, left, 5, 14, self._level)
            left += 20
        end = self.width() - job_width - 32
        for index, part in enumerate(self._parts):
            if index:
                painter.setPen(Qt.PenStyle.NoPen)
                painter.setBrush(QColor(p.muted))
                painter.drawEllipse(QRectF(left + 8, 11.5, 3, 3))
                left += 19
            if left >= end:
                break
            painter.setPen(QColor(p.second))
            shown = metrics.elidedText(part, Qt.TextElideMode.ElideRight, round(end - left))
            painter.drawText(QRectF(left, 1, end - left, 23), middle, shown)
            left += metrics.horizontalAdvance(part)


def status_parts(context: Context, of_mode: tuple[str, ...]) -> tuple[tuple[str, ...], str]:
    """The parts from left, the mode's own last, and the sign before them: good, a severity's level or none."""
    parts: list[str] = []
    level = ""
    run = context.run
    if run is not None:
        title = run_title(run)
        shown = "shown until it ends" if context.running else run.manifest.status.value
        parts.append(f"{title} {shown}")
        parts.append(f"{time_text(run.time_s, 5)} {run.kind_of_time}")
        if not of_mode:
            from workbench.analysis.recording import recording_parts  # read where there is a run to speak of

            parts.append("profile and trace" if run.manifest.traced else "profile")
            parts += recording_parts(run.manifest)
            parts.append(f"{len(run.manifest.blocks)} blocks observed")
        level = "good" if run.complete else "medium"
    elif context.workspace is not None:
        parts.append("No run yet")
    if not context.trusted:
        parts.append("not trusted yet")
    parts += of_mode
    problems = context.problems()
    if problems:
        errors = has_errors(problems)
        level = "high" if errors else "medium" if level != "good" else level
        serious = [d for d in problems if d.severity is (Severity.ERROR if errors else Severity.WARNING)]
        word = "problem" if errors else "warning"
        parts.append(f"{len(serious)} {word}{'' if len(serious) == 1 else 's'}")
    if not parts:
        parts.append(f"RC Workbench {__version__}")
    return tuple(parts), level
