"""Cached parts of a timeline that take long to compute: bars, overview, pins, counts."""

from collections.abc import Callable
from typing import Any, TypeVar

import numpy as np

from workbench.pictures.layout_sizes import Box
from workbench.pictures.letters import text_width
from workbench.pictures.palette import Palette
from workbench.pictures.timeline.hits import event_text
from workbench.pictures.timeline.raster import Image
from workbench.pictures.timeline.rows import Row
from workbench.pictures.timeline.shown import OVERVIEW_PX, Band, VisiblePart
from workbench.pictures.timeline.surface import WORK, Surface, overview_surface, rows_surface
from workbench.traces.sample import most_at_once
from workbench.traces.scene import RareEvent
from workbench.traces.shares import rare_waits
from workbench.traces.trace import NOTHING

T = TypeVar("T")
Pin = tuple[RareEvent, str, float, Box]  # with its text, x and box


def strip_box(shown: VisiblePart) -> Box:
    """The box of the overview, above the ruler."""
    return Box(shown.lanes.x, 4, shown.lanes.width, OVERVIEW_PX - 9)


class DrawingCache:
    def __init__(self) -> None:
        self._values: dict[str, tuple[object, Any]] = {}

    def _keep(self, name: str, key: object, make: Callable[[], T]) -> T:
        if name not in self._values or self._values[name][0] != key:
            self._values[name] = (key, make())
        value: T = self._values[name][1]
        return value

    def drop(self) -> None:
        """Clear the cache after a change of the rows or the run. The largest buffers are used again."""
        surfaces = {name: value for name, (_, value) in self._values.items() if name.startswith("surface")}
        self._values = {name: ((), value) for name, value in surfaces.items()}

    def surface(self, shown: VisiblePart, band: Band, palette: Palette, density: int) -> Surface:
        """The visible bars of a band of rows."""
        box, dimmed = band.box, shown.dimmed()
        name = "surface" if band.rows is shown.rows else "surface pinned"
        key = (shown.span, band.tops, band.scroll_px, box, dimmed, shown.faded, shown.moving, density, palette.name)

        def make() -> Surface:
            _, old = self._values.pop(name, ((), None))
            placed = [(row, round(place.y - box.y)) for row, place in band.row_boxes()]
            return rows_surface(
                shown.scene, placed, shown.span, round(box.height), palette, density, dimmed, shown.faded,
                shown.moving, old.buffer if old else None,
            )  # fmt: skip

        return self._keep(name, key, make)

    def rare(self, shown: VisiblePart) -> list[tuple[int, int]]:
        """The positions (pixels) on the overview at which any block waits unusually, and the wait."""
        box, index = strip_box(shown), shown.scene.index

        def make() -> list[tuple[int, int]]:
            wide = max(round(box.width), 1)
            codes = rare_waits(index, tuple(range(index.trace.rows)), 0, index.end_ps / wide, wide)
            return [(x, int(codes[x])) for x in np.flatnonzero(codes != NOTHING).tolist()]

        return self._keep("rare", box.width, make)

    def overview(self, shown: VisiblePart, palette: Palette, density: int) -> Image:
        """The main block over the whole run."""
        box = strip_box(shown)
        size = round(box.width), round(box.height)
        key = (*size, palette.name, density)
        return self._keep("overview", key, lambda: overview_surface(shown.scene, *size, palette, density))

    def pins(self, shown: VisiblePart) -> list[Pin]:
        """The rare events on the overview. Texts that would overlap another, or leave the overview, are left out."""
        return self._keep("pins", shown.width, lambda: _pins(shown))

    def most_at_work(self, shown: VisiblePart, row: Row) -> int | None:
        """The largest number of a stack's members at work in the visible part; None if counting would take long."""
        trace, span = shown.scene.index.trace, shown.span
        return self._keep(
            f"most {row.key}", span, lambda: most_at_once(trace, row.members, WORK, span.from_ps, span.to_ps)
        )


def _pins(shown: VisiblePart) -> list[Pin]:
    placed: list[Pin] = []
    strip = strip_box(shown)
    for event in shown.scene.events:
        words = event_text(shown.scene, event)
        x = round(strip.x + event.time_ps / max(shown.scene.index.end_ps, 1) * strip.width)
        wide = text_width(words, 11, 500) + 12
        box = Box(x + 6 if x + 6 + wide < strip.right else x - 6 - wide, strip.y + 1, wide, 17)
        if box.x < strip.x or any(other and box.overlaps(where) for _, other, _, where in placed):
            words, box = "", Box(x - 5, strip.y, 10, strip.height)
        placed.append((event, words, x, box))
    return placed
