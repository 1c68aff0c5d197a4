"""The canvas for pictures. A picture is a function that takes a canvas: the window's canvas paints, `svg.py`'s writes.

A colour is a name of the palette, or `state:` and a category's name, with `/` and an opacity if it is not opaque
(`accent/0.2`), or "" for none. Lengths are in the picture's own units, each one pixel at zoom 1.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from contextlib import AbstractContextManager, nullcontext
from typing import TYPE_CHECKING

from workbench.model.pragma import Category
from workbench.pictures.palette import Palette

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

Points = Sequence[tuple[float, float]]
LEFT, CENTRE, RIGHT = 0.0, 0.5, 1.0
#: The least length of a shortened text; a shorter one is meaningless.
LEAST_CHARACTERS = 6
#: From the middle of a line of Inter down to its baseline, as a part of the font's size: half of ascent less descent.
BASELINE = 0.364


class Canvas(ABC):
    """A drawing surface. `scale` is the number of screen pixels for a unit."""

    def __init__(self, palette: Palette, scale: float = 1.0) -> None:
        self.palette, self.scale = palette, scale

    @abstractmethod
    def rect(
        self, x: float, y: float, width: float, height: float, fill: str = "", edge: str = "", line: float = 1.0,
        radius: float = 0.0,
    ) -> None: ...  # fmt: skip

    @abstractmethod
    def path(self, points: Points, ink: str, line: float = 1.0, dashes: Sequence[float] = ()) -> None:
        """Draw an open line through points; `dashes` are lengths of line and gap in turn, in widths of the line."""

    @abstractmethod
    def shape(self, points: Points, fill: str, edge: str = "", line: float = 1.0) -> None:
        """Draw a closed polygon with round joins."""

    @abstractmethod
    def disc(self, x: float, y: float, radius: float, fill: str = "", edge: str = "", line: float = 1.0) -> None: ...

    @abstractmethod
    def state(self, x: float, y: float, width: float, height: float, category: Category | None) -> None:
        """Fill with a state's colour; its pattern is drawn from a width of three pixels on."""

    @abstractmethod
    def image(self, x: float, y: float, pixels: NDArray[np.uint32], density: float = 1.0) -> None:
        """Draw pixels (height, width) as 0xFFRRGGBB, `density` of them for a unit."""

    @abstractmethod
    def icon(self, name: str, x: float, y: float, size: float = 16, ink: str = "second") -> None:
        """Draw a bundled icon with its top left corner at (x, y)."""

    @abstractmethod
    def write(
        self, x: float, middle: float, words: str, ink: str, size: float, weight: int, align: float = LEFT
    ) -> None:
        """Draw one line of text, whatever its width; `x` is its left, centre or right by `align`."""

    @abstractmethod
    def width_of(self, words: str, size: float = 12, weight: int = 400) -> float:
        """The width of a line of text."""

    @abstractmethod
    def placed(self, x: float, y: float, scale: float = 1.0) -> AbstractContextManager[None]:
        """Draw relative to a point, `scale` times as large."""

    @abstractmethod
    def turned(self, x: float, y: float) -> AbstractContextManager[None]:
        """Draw relative to a point, a quarter turned: what goes to the right goes up."""

    @abstractmethod
    def clipped(self, x: float, y: float, width: float, height: float) -> AbstractContextManager[None]:
        """Draw nothing outside of a rectangle."""

    def named(self, title: str, href: str = "") -> AbstractContextManager[None]:
        """Give the drawing within it a tooltip and, optionally, a link, on a page. The window has its own."""
        return nullcontext()

    def text(
        self, x: float, y: float, width: float, height: float, words: str, ink: str = "text", size: float = 12,
        weight: int = 400, align: float = LEFT, least: int = LEAST_CHARACTERS,
    ) -> float:  # fmt: skip
        """Draw one line of text in a width, elided if it does not fit, and omitted if fewer than `least` letters would
        remain; returns its width."""
        words, used = self.fitted(words, width, size, weight, least)
        if words:
            self.write(x + align * width, y + height / 2, words, ink, size, weight, align)
        return used

    def fitted(self, words: str, room: float, size: float, weight: int, least: int) -> tuple[str, float]:
        """The part of a text that fits, and its width."""
        used = self.width_of(words, size, weight)
        if used <= room + 0.5:
            return words, used
        while words and used > room:
            over = (used - room) / max(used, 1.0)
            words = words[: min(len(words) - 1, round(len(words) * (1 - over)))].rstrip()
            used = self.width_of(words + "…", size, weight)
        return (words + "…", used) if len(words) >= least else ("", 0.0)

    def colour(self, ink: str) -> tuple[str, float]:
        """#RRGGBB and opacity of a colour's name."""
        name, _, opacity = ink.partition("/")
        return self.palette.colour(name), float(opacity or 1)
