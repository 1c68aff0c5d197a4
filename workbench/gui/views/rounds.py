"""The same work in several runs on one scale that zooms."""

from collections.abc import Iterable
from dataclasses import replace

from PySide6.QtCore import QSize

from workbench.gui.views.house_view import PICTURE_SCALE, Row
from workbench.gui.views.lanes_view import LanesView
from workbench.pictures.canvas import Canvas
from workbench.pictures.layout_sizes import Box
from workbench.pictures.plot import Range
from workbench.pictures.rounds import (
    ROW_PX,
    WHOLE,
    Rounds,
    draw_rounds,
    rounds_box,
    rounds_height,
    rounds_table,
)
from workbench.pictures.timeline.scale import duration


class RoundsView(LanesView):
    """A stretch of each run, one below another. With `same_scale` off each fills the width."""

    row_px = ROW_PX
    most_zoom = 1e3
    file_name = "equal-work"

    def __init__(self) -> None:
        super().__init__("The same work in all runs")
        self.rounds = Rounds()

    def show_rounds(self, rounds: Rounds) -> None:
        self.rounds = replace(rounds, same_scale=self.rounds.same_scale, room_px=self.rounds.room_px)
        self.setFixedHeight(self.sizeHint().height())
        self.show_all()

    def set_room(self, room_px: float) -> None:
        """Show more rows where there is room for them."""
        if room_px != self.rounds.room_px:
            self.rounds = replace(self.rounds, room_px=room_px)
            self.setFixedHeight(self.sizeHint().height())
            self.redraw()

    def set_same_scale(self, on: bool) -> None:
        self.rounds = replace(self.rounds, same_scale=on)
        self.redraw()

    def sizeHint(self) -> QSize:
        return QSize(900, max(round(rounds_height(self.rounds)), 120))

    def lanes(self) -> Box:
        return rounds_box(self.rounds, self.width())

    def count(self) -> int:
        return 1

    def whole(self) -> Range:
        return WHOLE

    def say(self, value: float) -> str:
        return duration(value * self.rounds.unit_ps(0)) if self.rounds.runs and self.rounds.same_scale else ""

    def say_place(self) -> float:
        return 12.0

    def rows(self) -> Iterable[Row] | None:
        return rounds_table(self.rounds) if self.rounds.runs else None

    def draw(self, canvas: Canvas) -> None:
        canvas.rect(0, 0, self.width(), self.height(), "panel")
        draw_rounds(canvas, self.rounds, self.shown(), self.width(), max(1, round(self.devicePixelRatioF())))

    def draw_picture(self, canvas: Canvas) -> None:
        draw_rounds(canvas, self.rounds, self.shown(), self.width(), round(PICTURE_SCALE))
