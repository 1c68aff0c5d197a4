"""The foot of the window: the run, what the mode adds, problems; at the right the job."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QRectF, Qt, Signal
from PySide6.QtGui import QColor, QFontMetrics, QMouseEvent, QPainter, QPaintEvent
from PySide6.QtWidgets import QSizePolicy, QWidget

from workbench.gui import fonts, theme
from workbench.gui.icons import draw_icon
from workbench.gui.widgets import paint_severity


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
