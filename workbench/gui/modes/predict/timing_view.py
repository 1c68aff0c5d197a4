"""The timing diagram on pyqtgraph: it zooms, its bars have tooltips and can be chosen."""

from collections.abc import Iterable

from PySide6.QtCore import QEvent, QPointF, QSize, Signal
from PySide6.QtGui import QMouseEvent
from PySide6.QtWidgets import QSizePolicy

from workbench.api.predictions import Timing
from workbench.gui.views.house_view import Row
from workbench.gui.views.lanes_view import LanesView
from workbench.model.text import thousands, time_text
from workbench.pictures.canvas import Canvas
from workbench.pictures.layout_sizes import Box
from workbench.pictures.plot import Range
from workbench.pictures.timing import ROW_PX, bar_box, draw_timing, timing_box, timing_height, timing_rows, to_scale_s


class TimingView(LanesView):
    """`chosen` carries the number of a bar that was clicked."""

    chosen = Signal(int)
    row_px = ROW_PX
    most_zoom = 1e4
    file_name = "timing"

    def __init__(self) -> None:
        super().__init__("Timing diagram")
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self.timing = Timing((), (), (), 0.0)
        self.current = -1  # the bar under the pointer

    def show_timing(self, timing: Timing) -> None:
        self.timing, self.current = timing, -1
        self.setFixedHeight(self.sizeHint().height())
        self.show_all()

    def sizeHint(self) -> QSize:
        return QSize(800, round(timing_height(self.timing)))

    def lanes(self) -> Box:
        return timing_box(self.timing, self.width())

    def count(self) -> int:
        return len(self.timing.lanes)

    def whole(self) -> Range:
        return 0.0, self.timing.drawn_s or 1.0

    def say(self, value: float) -> str:
        return time_text(value, 4) if value <= to_scale_s(self.timing) else ""

    def say_place(self) -> float:
        return 12.0

    def rows(self) -> Iterable[Row]:
        return timing_rows(self.timing)

    def bar_box(self, number: int) -> Box:
        """Where a bar is."""
        return bar_box(self.timing.bars[number], self.shown(), self.lanes())

    def draw(self, canvas: Canvas) -> None:
        draw_timing(canvas, self.timing, self.shown(), self.width())

    def draw_over(self, canvas: Canvas) -> None:
        super().draw_over(canvas)
        if 0 <= self.current < len(self.timing.bars):
            box = self.bar_box(self.current)
            canvas.rect(box.x, box.y, box.width, box.height, "", "text", 2)

    # ---- pointer

    def bar_at(self, at: QPointF) -> int:
        """The number of the bar at a place, or within three pixels of it; -1 for none."""
        bars = []
        for number in range(len(self.timing.bars)):
            box = self.bar_box(number)
            if box.x - 3 <= at.x() <= box.right + 3 and box.y - 5 <= at.y() <= box.bottom + 5:
                bars.append((abs(box.centre[0] - at.x()), number))
        return min(bars, default=(0.0, -1))[1]

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        super().mouseMoveEvent(event)
        self.current = self.bar_at(event.position())
        self.viewport().setToolTip(self.tip(self.current) if self.current >= 0 else "")

    def tip(self, number: int) -> str:
        """The tooltip of a bar: its time, when, which iteration, by which equation."""
        bar = self.timing.bars[number]
        many = f", iteration {thousands(bar.round)} of {thousands(bar.rounds)}" if bar.rounds > 1 else ""
        span = f"from {time_text(bar.real_s, 4)} to {time_text(bar.real_s + bar.time_s, 4)}"
        return f"{bar.name}: {time_text(bar.time_s, 4)}\n{span}{many}\n{bar.equation}"

    def clicked(self, at: QPointF) -> None:
        if (number := self.bar_at(at)) >= 0:
            self.chosen.emit(number)

    def leaveEvent(self, event: QEvent) -> None:
        self.current = -1
        super().leaveEvent(event)
