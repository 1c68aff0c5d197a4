"""What was measured frame by frame, on pyqtgraph: boxes that are in rows, and histograms over time."""

from collections.abc import Iterable

from PySide6.QtCore import QSize

from workbench.gui.views.house_view import Row
from workbench.gui.views.lanes_view import LanesView
from workbench.model.text import percent_text, time_text
from workbench.pictures.canvas import Canvas
from workbench.pictures.frames import (
    BOX_ROW_PX,
    FOOT_PX,
    TOP_PX,
    HeatMap,
    Spreads,
    draw_heat,
    draw_spreads,
    heat_box,
    heat_rows,
    spread_rows,
    spreads_box,
)
from workbench.pictures.layout_sizes import Box
from workbench.pictures.plot import Axis, Range


class SpreadsView(LanesView):
    row_px = BOX_ROW_PX
    file_name = "spread"

    def __init__(self) -> None:
        super().__init__("Spread over frames")
        self.spreads = Spreads(Axis("", str))
        self.show_all()

    def show_spreads(self, spreads: Spreads) -> None:
        self.spreads = spreads
        self.setFixedHeight(round(TOP_PX + FOOT_PX + BOX_ROW_PX * max(len(spreads.rows), 1)))
        self.show_all()

    def rows(self) -> Iterable[Row]:
        return spread_rows(self.spreads)

    def lanes(self) -> Box:
        return spreads_box(self.spreads, self.width(), self.height())

    def count(self) -> int:
        return len(self.spreads.rows)

    def whole(self) -> Range:
        return self.spreads.whole

    def say(self, value: float) -> str:
        return self.spreads.axis.text(value)

    def draw(self, canvas: Canvas) -> None:
        draw_spreads(canvas, self.spreads, self.shown(), self.first(), self.width(), self.height())


class HeatView(LanesView):
    """Every bin is in view; time zooms."""

    file_name = "histogram-over-time"

    def __init__(self) -> None:
        super().__init__("Histogram over time")
        self.map = HeatMap("")
        self.show_all()

    def show_map(self, heat: HeatMap) -> None:
        self.map = heat
        self.show_all()

    def arrange(self) -> None:
        self.row_px = self.lanes().height / max(self.count(), 1)
        super().arrange()

    def rows(self) -> Iterable[Row]:
        return heat_rows(self.map)

    def lanes(self) -> Box:
        return heat_box(self.map, self.width(), self.height())

    def count(self) -> int:
        return len(self.map.bins)

    def whole(self) -> Range:
        return self.map.times_s[0], self.map.times_s[-1]

    def say(self, value: float) -> str:
        """The time under the pointer, and how much of its frame lies in the bin there."""
        number = self.lane_at(self.at) if self.at is not None else -1
        if number < 0 or not self.map.shares.size:
            return time_text(value)
        place = len(self.map.bins) - 1 - number
        frame = min(max(sum(bound <= value for bound in self.map.times_s) - 1, 0), self.map.shares.shape[1] - 1)
        return f"{time_text(value)}: {self.map.bins[place]} {percent_text(float(self.map.shares[place, frame]))}"

    def draw(self, canvas: Canvas) -> None:
        draw_heat(canvas, self.map, self.shown(), self.width(), self.height())

    def sizeHint(self) -> QSize:
        return QSize(480, 260)
