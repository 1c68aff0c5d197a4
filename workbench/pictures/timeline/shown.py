"""What a timeline shows, and where: its scene, rows, span of time and markers."""

from bisect import bisect_right
from dataclasses import dataclass
from functools import cached_property

from workbench.pictures.layout_sizes import Box
from workbench.pictures.timeline.hits import Hit
from workbench.pictures.timeline.rows import Kind, Row
from workbench.pictures.timeline.scale import Span
from workbench.traces.path import RunPath
from workbench.traces.scene import Scene

OVERVIEW_PX, RULER_PX = 54, 42
#: Kept free below the last row.
FOOT_PX = 8


#: Room for each row's slack.
SLACK_PX = 58


def lanes_box(width: int, height: int, *, slack: bool = False) -> Box:
    """Where rows are drawn against time in a picture of that size: beside their names, below overview and ruler."""
    left, top = (208 if width >= 1000 else 172) + slack * SLACK_PX, OVERVIEW_PX + RULER_PX
    return Box(left, top, max(width - left, 1), max(height - top, 1))


@dataclass(frozen=True)
class Shown:
    """Times are picoseconds of the run; `marks` are the markers A and B, where set. The rest is in pixels: `tops` of
    the rows, and where the last one ends, below the first; `scroll_px` of them are above what is in view.
    """

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
    moving: bool = False  # what takes long is left out, or coarse
    path: RunPath | None = None  # the critical path, where it is shown

    @cached_property
    def lanes(self) -> Box:
        return lanes_box(self.width, self.height, slack=self.path is not None)

    @property
    def has_slack(self) -> bool:
        return self.path is not None

    def x(self, time_ps: float) -> float:
        return self.lanes.x + self.span.x(time_ps)

    def range_ps(self) -> tuple[int, int]:
        """From A to B, in order; the whole run without both."""
        if len(self.marks) == 2:
            return round(min(self.marks)), round(max(self.marks))
        return 0, self.scene.index.end_ps

    def dimmed(self) -> tuple[int, int] | None:
        """The range outside of which all is dimmed, if any is."""
        return self.range_ps() if self.show_marks and len(self.marks) == 2 else None

    def row_boxes(self) -> list[tuple[Row, Box]]:
        """Rows in view with their place, over the whole width."""
        top, placed = self.lanes.y - self.scroll_px, []
        for number in range(max(bisect_right(self.tops, self.scroll_px) - 1, 0), len(self.rows)):
            y = top + self.tops[number]
            if y >= self.height:
                break
            placed.append((self.rows[number], Box(0, y, self.width, self.rows[number].height)))
        return placed

    def row_box(self, kind: Kind) -> Box | None:
        """The first row of a kind that is in view."""
        return next((box for row, box in self.row_boxes() if row.kind is kind), None)

    def row_at(self, y: float) -> Row | None:
        if y < self.lanes.y:
            return None
        return next((row for row, box in self.row_boxes() if box.y <= y < box.bottom), None)
