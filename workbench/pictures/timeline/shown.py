"""The visible part of a timeline: its scene, rows, span of time and markers, with their positions."""

from bisect import bisect_right
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import accumulate

from workbench.pictures.layout_sizes import Box
from workbench.pictures.timeline.hits import Hit
from workbench.pictures.timeline.rows import Kind, Row, build_rows, share_rows
from workbench.pictures.timeline.scale import Span
from workbench.traces.markers import Marker
from workbench.traces.path import RunPath
from workbench.traces.scene import Scene

OVERVIEW_PX, RULER_PX = 54, 42
#: Kept free below the last row, and between pinned rows and those that scroll.
FOOT_PX, PINNED_GAP_PX = 8, 3
#: The largest share of the height for pinned rows.
MOST_PINNED = 0.5


#: Room for each row's slack.
SLACK_PX = 58


def lanes_box(width: int, height: int, *, slack: bool = False) -> Box:
    """The box of rows against time in a picture of this size: beside their names, below overview and ruler."""
    left, top = (208 if width >= 1000 else 172) + slack * SLACK_PX, OVERVIEW_PX + RULER_PX
    return Box(left, top, max(width - left, 1), max(height - top, 1))


def rows_of(scene: Scene, folded: Collection[str] = (), wanted: str = "", *, shares: bool = False) -> tuple[Row, ...]:
    """A scene's rows: its blocks, or the shares of their states (see `build_rows` and `share_rows`)."""
    if shares:
        return share_rows(scene.blocks, scene.index, folded, wanted)
    return build_rows(scene.blocks, scene.index, bool(scene.calls), folded, wanted, scene.buses)


def tops_of(rows: Sequence[Row]) -> tuple[int, ...]:
    """The begin of each row below the first, and the end of the last one."""
    return tuple(accumulate((row.height for row in rows), initial=0))


@dataclass(frozen=True)
class Band:
    """Consecutive rows in a box of the picture; `scroll_px` of them are scrolled out above it."""

    rows: tuple[Row, ...]
    tops: tuple[int, ...]
    box: Box
    scroll_px: int = 0

    def row_boxes(self) -> list[tuple[Row, Box]]:
        """The visible rows with their boxes, over the whole width."""
        top, placed = self.box.y - self.scroll_px, []
        for number in range(max(bisect_right(self.tops, self.scroll_px) - 1, 0), len(self.rows)):
            y = top + self.tops[number]
            if y >= self.box.bottom:
                break
            placed.append((self.rows[number], Box(0, y, self.box.right, self.rows[number].height)))
        return placed


@dataclass(frozen=True)
class VisiblePart:
    """The visible part. Times are picoseconds of the run; `marks` are A and B, if set, `markers` the named ones. Other
    values are pixels: `tops` of the rows, and the end of the last one, below the first; `scroll_px` of them are
    scrolled out above. Rows in `pinned` stay above the others."""

    scene: Scene
    rows: tuple[Row, ...]
    tops: tuple[int, ...]
    span: Span
    width: int
    height: int
    scroll_px: int = 0
    marks: tuple[float, ...] = ()
    show_marks: bool = True
    show_messages: bool = True
    faded: frozenset[int] = frozenset()
    chosen: Hit | None = None
    chosen_blocks: frozenset[int] = frozenset()
    moving: bool = False  # slow parts are left out, or coarse
    path: RunPath | None = None  # the critical path and the causes of waits, if known
    show_path: bool = False
    show_waits: bool = False
    pinned: tuple[Row, ...] = ()
    markers: tuple[Marker, ...] = ()

    @cached_property
    def lanes(self) -> Box:
        return lanes_box(self.width, self.height, slack=self.has_slack)

    @cached_property
    def bands(self) -> tuple[Band, ...]:
        """The scrolling rows, and above them the pinned ones, if there are any."""
        return bands_of(self.lanes, self.rows, self.tops, self.scroll_px, self.pinned)

    @property
    def has_slack(self) -> bool:
        return self.path is not None and self.show_path

    def x(self, time_ps: float) -> float:
        return self.lanes.x + self.span.x(time_ps)

    def range_ps(self) -> tuple[int, int]:
        """From A to B, in order; the whole run without both."""
        if len(self.marks) == 2:
            return round(min(self.marks)), round(max(self.marks))
        return 0, self.scene.index.end_ps

    def dimmed(self) -> tuple[int, int] | None:
        """The range outside of which everything is dimmed, if there is one."""
        return self.range_ps() if self.show_marks and len(self.marks) == 2 else None

    def row_boxes(self) -> list[tuple[Row, Box]]:
        """Rows in view with their place, over the whole width."""
        return [placed for band in self.bands for placed in band.row_boxes()]

    def row_box(self, kind: Kind) -> Box | None:
        """The box of the first visible row of a kind."""
        return next((box for row, box in self.row_boxes() if row.kind is kind), None)

    def row_at(self, y: float) -> Row | None:
        band = next((band for band in reversed(self.bands) if band.box.y <= y < band.box.bottom), None)
        return next((row for row, box in band.row_boxes() if box.y <= y < box.bottom), None) if band else None


def bands_of(
    lanes: Box, rows: tuple[Row, ...], tops: tuple[int, ...], scroll_px: int, pinned: tuple[Row, ...]
) -> tuple[Band, ...]:
    """The scrolling rows and the pinned ones above them, as far as both have room."""
    if not pinned:
        return (Band(rows, tops, lanes, scroll_px),)
    pinned_tops = tops_of(pinned)
    most = lanes.height * MOST_PINNED
    high = next((top for top in reversed(pinned_tops) if top <= most), 0)
    below = lanes.y + high + PINNED_GAP_PX
    return (
        Band(rows, tops, Box(lanes.x, below, lanes.width, max(lanes.bottom - below, 1)), scroll_px),
        Band(pinned, pinned_tops, Box(lanes.x, lanes.y, lanes.width, high)),
    )
