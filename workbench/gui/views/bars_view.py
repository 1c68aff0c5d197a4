"""Bars on pyqtgraph: speedup estimates, what each input does, what each memory layer lets through."""

from collections.abc import Iterable

from PySide6.QtCore import QPointF, QSize, Signal
from PySide6.QtGui import QMouseEvent, QResizeEvent

from workbench.gui.views.house_view import Row
from workbench.gui.views.lanes_view import LanesView
from workbench.pictures.bars import ROW_PX, Bars, bars_box, bars_height, bars_table, draw_bars, filling
from workbench.pictures.canvas import Canvas
from workbench.pictures.layout_sizes import Box
from workbench.pictures.plot import Axis, Range


class BarsView(LanesView):
    """`chosen` carries the key of a row that was clicked."""

    chosen = Signal(str)
    row_px = ROW_PX

    def __init__(self, name: str, *, fills: bool = False) -> None:
        """One that `fills` its room has higher rows where there are few."""
        super().__init__(name)
        self._fills = fills
        self.bars = Bars(Axis("", str))
        self.current = ""
        self.file_name = name.lower().replace(" ", "-")
        self.show_all()

    def show_bars(self, bars: Bars) -> None:
        """Show other bars: all of their axis, from the first row on."""
        self.bars = bars
        if self._fills:
            self.setMinimumHeight(round(bars_height(bars)))
            self._fill()
        self.show_all()

    def _fill(self) -> None:
        self.bars = filling(self.bars, self.height())
        self.row_px = self.bars.row_px

    def resizeEvent(self, event: QResizeEvent | None) -> None:
        if hasattr(self, "_fills") and self._fills:  # pyqtgraph resizes it while it is made
            self._fill()
        super().resizeEvent(event)

    def set_current(self, key: str) -> None:
        """Light a row."""
        self.current = key
        self.redraw()

    def rows(self) -> Iterable[Row]:
        return bars_table(self.bars)

    def lanes(self) -> Box:
        return bars_box(self.bars, self.width(), self.height())

    def count(self) -> int:
        return len(self.bars.rows)

    def whole(self) -> Range:
        return self.bars.whole

    def say(self, value: float) -> str:
        value = 10**value if self.bars.axis.log else value
        return (self.bars.say or self.bars.axis.text)(value)

    def draw(self, canvas: Canvas) -> None:
        draw_bars(canvas, self.bars, self.shown(), self.first(), self.width(), self.height(), self.current)

    def picture_size(self) -> QSize:
        return QSize(self.width(), round(bars_height(self.bars)))

    def draw_picture(self, canvas: Canvas) -> None:
        """Every row, whatever is in view."""
        size = self.picture_size()
        draw_bars(canvas, self.bars, self.shown(), 0.0, size.width(), size.height())

    def sizeHint(self) -> QSize:
        return QSize(400, round(bars_height(self.bars)))

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        super().mouseMoveEvent(event)
        number = self.lane_at(event.position())
        row = self.bars.rows[number] if number >= 0 else None
        self.viewport().setToolTip(", ".join(filter(None, (row.name, row.note))) if row else "")

    def clicked(self, at: QPointF) -> None:
        if (number := self.lane_at(at)) >= 0:
            self.chosen.emit(self.bars.rows[number].key)
