"""The lines of text in a node of the block graph: a host's states, and what a small node has room for."""

from collections.abc import Sequence
from typing import Protocol

from workbench.model.pragma import Category
from workbench.pictures.canvas import RIGHT, Canvas
from workbench.pictures.graph_text import LEAST_PX, text
from workbench.pictures.layout_sizes import Box
from workbench.pictures.signs import draw_swatch

#: A state's category, its name, share and time.
StateRow = tuple[Category | None, str, str, str]


class Facts(Protocol):
    """A node's figure with its words, and its states."""

    @property
    def figure(self) -> str: ...
    @property
    def words(self) -> str: ...
    @property
    def rows(self) -> tuple[StateRow, ...]: ...


def draw_small(canvas: Canvas, room: Box, facts: Facts) -> Box:
    """Draw what a small node has room for below its title; returns the title's room."""
    line = (LEAST_PX + 2) / canvas.scale
    count = int(room.height / line)
    if count < 2 or not facts.figure:
        return room
    size, gap = LEAST_PX / canvas.scale, 4 / canvas.scale
    used = canvas.width_of(facts.figure, size, 600) + gap
    fits = used + canvas.width_of(facts.words, size) <= room.width
    if fits or facts.words == "working":  # of another share the figure alone would say nothing
        text(canvas, Box(room.x, room.y + line, room.width, line), facts.figure, "text", 12, 600)
        text(canvas, Box(room.x + used, room.y + line, room.width - used, line), facts.words, "second", 12)
    if rows := facts.rows[: count - 2]:
        draw_rows(canvas, Box(room.x, room.y + 2 * line, room.width, len(rows) * line), rows)
    return Box(room.x, room.y, room.width, line)


def draw_rows(canvas: Canvas, area: Box, rows: Sequence[StateRow]) -> None:
    """Draw the host's states, largest first: swatch, name, share, and time if there is room."""
    pitch, least = min(22.0, area.height / max(len(rows), 1)), max(14.0, (LEAST_PX + 2) / canvas.scale)
    if pitch < least:  # one would be on the other
        rows, pitch = rows[: int(area.height / least)], least
    grown = max(LEAST_PX / (12 * canvas.scale), 1.0)
    time_px = 56 * grown
    share_px = max((canvas.width_of(share, 12 * grown, 600) for _, _, share, _ in rows), default=0.0) + 6 * grown
    if area.width - 19 - share_px - time_px < 60 * grown:
        time_px = 0.0
    for at, (category, name, share, time) in enumerate(rows):
        y = area.y + at * pitch
        right = area.right - time_px
        draw_swatch(canvas, round(area.x), round(y + pitch / 2 - 5), 12, 10, category)
        if (room := right - share_px - area.x - 19) > 45 * grown:  # for six letters; the legend has all
            text(canvas, Box(area.x + 19, y, room, pitch), name, "text", 12, always=True)
        text(canvas, Box(right - share_px, y, share_px, pitch), share, "text", 12, 600, RIGHT)
        if time_px:
            text(canvas, Box(right, y, time_px, pitch), time, "second", 12, 400, RIGHT)
