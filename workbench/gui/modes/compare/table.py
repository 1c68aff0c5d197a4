"""The table of changes: A above, B below, in one pair of bars for each row."""

from collections.abc import Callable, Sequence
from functools import partial

from PySide6.QtCore import QRectF, Qt
from PySide6.QtGui import QPainter, QPen
from PySide6.QtWidgets import QMenu

from workbench.api.window import fill_state, frame_colour
from workbench.gui.modes.compare.rows import Change
from workbench.gui.widgets import draw_swatch
from workbench.gui.widgets.row_view import RowView
from workbench.gui.widgets.rows import Column
from workbench.model.text import count_text, time_text

#: Narrower than this the counts are left out.
COUNTS_FROM_PX = 560
_SWATCH_PX = 37  # of a state's colour, before the name
NAME, COUNT_A, COUNT_B, TIME_A, TIME_B, BARS, CHANGE = range(7)


class ChangeTable(RowView):
    def __init__(self) -> None:
        columns = (
            Column("Call", lambda row: row.name, share=0.23, key=lambda row: row.name, paint=self._paint_name,
                   beside_px=_SWATCH_PX + 4, tip_of=lambda row: row.name, elide=Qt.TextElideMode.ElideMiddle,
                   ink=lambda row: ("text", 13, 500)),
            _count("Calls A", lambda row: row.count_a),
            _count("Calls B", lambda row: row.count_b),
            _time("A", lambda row: row.time_a, "new"),
            _time("B", lambda row: row.time_b, "gone"),
            Column("Time", share=0.13, paint=self._paint_bars),
            Column("Change", lambda row: change_text(row.change_s), share=0.15, right=True,
                   key=lambda row: row.change_s, ink=lambda row: (change_colour(row.change_s), 13, 600)),
        )  # fmt: skip
        super().__init__("Changes", columns)
        self._longest = 0.0

    def show_changes(self, changes: Sequence[Change], heads: tuple[str, str, str]) -> None:
        """`heads` are the titles of the name and of the two counts."""
        self._longest = max((max(r.time_a or 0.0, r.time_b or 0.0) for r in changes), default=0.0)
        self.rows.rename(dict(zip((NAME, COUNT_A, COUNT_B), heads, strict=True)))
        self.show_rows([(change, ()) for change in changes])

    def lay_out_columns(self) -> None:
        for column in (COUNT_A, COUNT_B):
            self.setColumnHidden(column, self.viewport().width() < COUNTS_FROM_PX)
        super().lay_out_columns()

    def fill_menu(self, menu: QMenu, row: Change) -> None:
        if row.line and row.line.places:
            menu.addAction("Open line\tEnter", partial(self.opened.emit, row))

    def _paint_name(self, painter: QPainter, box: QRectF, row: Change) -> None:
        draw_swatch(painter, 17, round(box.center().y() - 5), 12, 10, row.category)
        self.write(painter, box.adjusted(_SWATCH_PX, 0, -4, 0), NAME, row)

    def _paint_bars(self, painter: QPainter, box: QRectF, row: Change) -> None:
        for top, time in ((box.top() + 5, row.time_a), (box.top() + 18, row.time_b)):
            wide = (box.width() - 16) * ((time or 0.0) / self._longest if self._longest else 0.0)
            bar = QRectF(box.left() + 12, top, max(wide, 1.0), 11)
            if time is not None:
                fill_state(painter, bar, row.category)
            painter.setPen(QPen(frame_colour(), 1))
            painter.setBrush(Qt.BrushStyle.NoBrush)
            painter.drawRect(bar.adjusted(0.5, 0.5, -0.5, -0.5))


def _count(head: str, of: Callable[[Change], int | None]) -> Column:
    def text(row: Change) -> str:
        count = of(row)
        return "" if count is None else count_text(count)

    return Column(head, text, share=0.11, right=True, key=lambda row: of(row) or 0, ink=lambda row: ("second", 13, 400))


def _time(head: str, of: Callable[[Change], float | None], gone: str) -> Column:
    """A run's times; `gone` where the run does not have a row."""

    def text(row: Change) -> str:
        time = of(row)
        return gone if time is None else time_text(time)

    return Column(
        head, text, share=0.13, right=True, key=lambda row: of(row) or 0.0,
        ink=lambda row: ("muted" if of(row) is None else "text", 13, 400),
    )  # fmt: skip


def change_text(seconds: float) -> str:
    if not seconds:
        return time_text(0)
    return ("−" if seconds < 0 else "+") + time_text(abs(seconds))


def change_colour(seconds: float) -> str:
    return "good" if seconds < 0 else "medium_text" if seconds > 0 else "muted"
