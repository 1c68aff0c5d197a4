"""The timing diagram painted: rows of networks, FPGA nodes and the host, bars in time, iterations marked."""

from __future__ import annotations

from PySide6.QtCore import QEvent, QPointF, QRectF, QSize, Qt, Signal
from PySide6.QtGui import QMouseEvent, QPainter, QPaintEvent, QPen
from PySide6.QtWidgets import QSizePolicy, QWidget

from workbench.api.predictions import Bar, StageSpan, Timing
from workbench.gui import theme
from workbench.gui.timeline.look import label, text_width
from workbench.model.text import thousands, time_text, trimmed
from workbench.pictures.plot import Axis, ticks

LABELS_PX, RULER_PX, STAGE_PX, ROW_PX, FOOT_PX = 168, 26, 28, 30, 10
TIME = Axis("time", time_text)
_CENTRE = Qt.AlignmentFlag.AlignHCenter


class TimingView(QWidget):
    """`hovered` tells the number of the bar under the pointer, or -1; `chosen` that of one clicked."""

    hovered = Signal(int)
    chosen = Signal(int)

    def __init__(self) -> None:
        super().__init__()
        self.setAccessibleName("Timing diagram")
        self.setMouseTracking(True)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self.timing = Timing((), (), (), 0.0)
        self.current = -1

    def show_timing(self, timing: Timing) -> None:
        self.timing, self.current = timing, -1
        self.setFixedHeight(self.sizeHint().height())
        self.update()

    def sizeHint(self) -> QSize:
        return QSize(800, RULER_PX + STAGE_PX + max(len(self.timing.lanes), 2) * ROW_PX + FOOT_PX)

    # ---- geometry

    def _x(self, seconds: float) -> float:
        room = max(self.width() - LABELS_PX - 20, 50)
        return LABELS_PX + room * (seconds / self.timing.drawn_s if self.timing.drawn_s else 0.0)

    def bar_rect(self, bar: Bar) -> QRectF:
        """Where a bar stands; at least two pixels wide."""
        left = self._x(bar.start_s)
        wide = max(self._x(bar.end_s) - left, 2.0)
        return QRectF(left, RULER_PX + STAGE_PX + bar.lane * ROW_PX + 6, wide, ROW_PX - 12)

    # ---- painting

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.fillRect(self.rect(), theme.colour("panel"))
        if not self.timing.lanes:
            return
        self._paint_ruler(painter)
        for row, lane in enumerate(self.timing.lanes):
            y = RULER_PX + STAGE_PX + row * ROW_PX
            painter.setPen(QPen(theme.colour("rule"), 1))
            painter.drawLine(QPointF(16, y + 0.5), QPointF(self.width() - 8, y + 0.5))
            wide = label(painter, QRectF(16, y, LABELS_PX - 32, ROW_PX), lane.name, "text", 12, 600)
            left = 22 + wide
            if LABELS_PX - 12 - left > text_width(lane.note, 11):
                label(painter, QRectF(left, y, LABELS_PX - 8 - left, ROW_PX), lane.note, "muted", 11)
        for span in self.timing.stages:
            self._paint_stage(painter, span)
        for number, bar in enumerate(self.timing.bars):
            self._paint_bar(painter, bar, number == self.current)
        for span in self.timing.stages:
            if span.skipped:
                self._paint_skip(painter, span)

    def _paint_ruler(self, painter: QPainter) -> None:
        """Times where the drawing is to scale: up to the first iterations left out."""
        skips = [span.skip_s for span in self.timing.stages if span.skipped]
        end = min([self.timing.drawn_s, *skips])
        room = self._x(end) - LABELS_PX
        for time in ticks(0.0, end, TIME, max(int(room / 90), 1)):
            x = round(self._x(time)) + 0.5
            painter.setPen(QPen(theme.colour("rule"), 1))
            painter.drawLine(QPointF(x, RULER_PX - 6), QPointF(x, self.height() - FOOT_PX))
            label(painter, QRectF(x + 4, 4, 90, 16), trimmed(time_text(time)), "second", 11)

    def _paint_stage(self, painter: QPainter, span: StageSpan) -> None:
        """The stage's extent, with a tick where each iteration starts."""
        left, right = self._x(span.start_s), self._x(span.end_s)
        box = QRectF(left, RULER_PX + 4, max(right - left - 1, 2), STAGE_PX - 9)
        painter.setPen(QPen(theme.colour("accent"), 1))
        painter.setBrush(theme.colour("selection"))
        painter.drawRoundedRect(box.adjusted(0.5, 0.5, -0.5, -0.5), 4, 4)
        many = f", {thousands(span.rounds)} iterations" if span.rounds > 1 else ""
        text = f"{span.name}{many}, {'overlapped' if span.overlapped else 'serial'}"
        label(painter, box.adjusted(8, 0, -4, 0), text, "link", 11, 600)
        painter.setPen(QPen(theme.colour("accent"), 1.4))
        for start in span.starts[1:]:
            x = round(self._x(start)) + 0.5
            painter.drawLine(QPointF(x, box.top()), QPointF(x, self.height() - FOOT_PX))

    def _paint_bar(self, painter: QPainter, bar: Bar, current: bool) -> None:
        rect = self.bar_rect(bar)
        theme.fill_state(painter, rect, bar.category)
        painter.setBrush(Qt.BrushStyle.NoBrush)
        painter.setPen(QPen(theme.colour("text"), 2) if current else QPen(theme.frame_colour(), 1))
        if rect.width() > 3 or current:
            painter.drawRect(rect.adjusted(0.5, 0.5, -0.5, -0.5))
        text = bar.name
        wide = text_width(text, 11, 600) + 8
        if wide + 8 < rect.width():
            box = QRectF(rect.center().x() - wide / 2, rect.top() + 2, wide, rect.height() - 4)
            painter.setPen(Qt.PenStyle.NoPen)
            painter.setBrush(theme.colour("panel"))
            painter.drawRoundedRect(box, 3, 3)
            label(painter, box, text, "text", 11, 600, _CENTRE)

    def _paint_skip(self, painter: QPainter, span: StageSpan) -> None:
        """The iterations left out: a gap that says how many."""
        left, right = self._x(span.skip_s), self._x(span.skip_s + span.gap_s)
        box = QRectF(left + 3, RULER_PX + STAGE_PX + 2, right - left - 6, len(self.timing.lanes) * ROW_PX - 2)
        painter.fillRect(box, theme.colour("sunken"))
        text = f"{thousands(span.skipped)} more"
        wide = min(text_width(text, 11, 600) + 4, box.width())
        middle = QRectF(box.center().x() - wide / 2, box.center().y() - 8, wide, 16)
        label(painter, middle, text, "second", 11, 600, _CENTRE)

    # ---- pointer

    def bar_at(self, at: QPointF) -> int:
        """The number of the bar at a place, or within three pixels of it; -1 for none."""
        found = [
            (abs(rect.center().x() - at.x()), n)
            for n, bar in enumerate(self.timing.bars)
            if (rect := self.bar_rect(bar)).adjusted(-3, -5, 3, 5).contains(at)
        ]
        return min(found, default=(0.0, -1))[1]

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        number = self.bar_at(event.position())
        if number != self.current:
            self.current = number
            self.setToolTip(self.tip(number) if number >= 0 else "")
            self.hovered.emit(number)
            self.update()

    def tip(self, number: int) -> str:
        """What is said of a bar: its time, when, which iteration, by which equation."""
        bar = self.timing.bars[number]
        many = f", iteration {thousands(bar.round)} of {thousands(bar.rounds)}" if bar.rounds > 1 else ""
        span = f"from {time_text(bar.real_s, 4)} to {time_text(bar.real_s + bar.time_s, 4)}"
        return f"{bar.name}: {time_text(bar.time_s, 4)}\n{span}{many}\n{bar.equation}"

    def mousePressEvent(self, event: QMouseEvent) -> None:
        number = self.bar_at(event.position())
        if number >= 0:
            self.chosen.emit(number)

    def leaveEvent(self, event: QEvent) -> None:
        self.current = -1
        self.hovered.emit(-1)
        self.update()
