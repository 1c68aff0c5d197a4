"""Texts of the block graph, shortened to their room."""

from workbench.pictures.canvas import LEAST_CHARACTERS, LEFT, Canvas
from workbench.pictures.layout import Box

#: The least size of text on the screen; smaller text is enlarged, or left out without room.
LEAST_PX = 11.0


def text(
    canvas: Canvas,
    place: Box,
    words: str,
    ink: str,
    size: float,
    weight: int = 400,
    align: float = LEFT,
    *,
    always: bool = False,
) -> float:
    """Draw one line of text, at least as large as can be read; returns its width. If the line is too low for that,
    nothing is drawn unless `always`."""
    if not always and not legible(canvas, place.height):
        return 0.0
    grown = max(LEAST_PX / (size * canvas.scale), 1.0)
    least = 1 if always else LEAST_CHARACTERS
    return canvas.text(place.x, place.y, place.width, place.height, words, ink, size * grown, weight, align, least)


def legible(canvas: Canvas, height: float) -> bool:
    """Whether text of this height can be read at the canvas's zoom; letters are lower than their text size."""
    return height * canvas.scale >= LEAST_PX - 1


def tail(canvas: Canvas, name: str, room: float, size: float, weight: int = 600) -> str:
    """A dotted name without the first parts that have no room; another text unchanged."""
    if " " in name:
        return name
    parts = name.split(".")
    tails = ["…" + ".".join(parts[first:]) if first else name for first in range(len(parts))]
    return next((tail for tail in tails if canvas.width_of(tail, size, weight) <= room), tails[-1])


def shortened(canvas: Canvas, label: str, room: float, size: float, weight: int = 400) -> str:
    """A dotted name and its suffix (", calls", " × 20", ": state"); without enough room the name loses its first parts,
    since neighbouring names differ in their last parts."""
    name, space, suffix = label.partition(" ")
    return tail(canvas, name, room - canvas.width_of(space + suffix, size, weight), size, weight) + space + suffix
