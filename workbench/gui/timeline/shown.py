"""What a timeline shows, and where: its scene, rows, span of time and markers. Painters read it, a view changes it."""

from __future__ import annotations

from bisect import bisect_right

from PySide6.QtCore import QPointF, QRect, QRectF

from workbench.gui.timeline.hover import Hit
from workbench.gui.timeline.rows import Kind, Row
from workbench.gui.timeline.scale import Span
from workbench.traces.scene import Scene

OVERVIEW_PX, RULER_PX = 54, 42


class Shown:
    """Times are picoseconds of the run; `marks` are the markers A and B, where set. Its size is its widget's."""

    scene: Scene | None = None
    rows: tuple[Row, ...] = ()
    tops: tuple[int, ...] = (0,)  # of the rows, and where the last one ends; pixels below the first
    span = Span(0.0, 1.0, 1)
    marks: tuple[float, ...] = ()
    show_marks = show_messages = True
    faded: frozenset[int] = frozenset()
    hit: Hit | None = None
    chosen: Hit | None = None
    chosen_blocks: frozenset[int] = frozenset()
    pointer = QPointF(-1, -1)
    tooltip_rect = QRectF()
    scroll_px = 0
    moving = False

    def width(self) -> int:
        raise NotImplementedError

    def height(self) -> int:
        raise NotImplementedError

    def devicePixelRatioF(self) -> float:
        raise NotImplementedError

    def range_ps(self) -> tuple[int, int]:
        """From A to B, in order; the whole run without both."""
        if len(self.marks) == 2:
            return round(min(self.marks)), round(max(self.marks))
        return 0, self.scene.index.end_ps if self.scene else 0

    def dims(self) -> bool:
        """Whether what lies outside A to B is dimmed."""
        return self.show_marks and len(self.marks) == 2

    def label_width(self) -> int:
        return 208 if self.width() >= 1000 else 172

    def canvas(self) -> QRect:
        """Where rows are drawn against time."""
        left, top = self.label_width(), OVERVIEW_PX + RULER_PX
        return QRect(left, top, max(self.width() - left, 1), max(self.height() - top, 1))

    def time_at(self, x: float) -> float:
        return self.span.time(x - self.label_width())

    def row_rects(self) -> list[tuple[Row, QRectF]]:
        """Rows in view with their place, over the whole width."""
        top, bottom, width = self.canvas().top(), self.height(), self.width()
        placed = []
        for number in range(max(bisect_right(self.tops, self.scroll_px) - 1, 0), len(self.rows)):
            y = top - self.scroll_px + self.tops[number]
            if y >= bottom:
                break
            placed.append((self.rows[number], QRectF(0, y, width, self.rows[number].height)))
        return placed

    def row_rect(self, kind: Kind) -> QRectF | None:
        return next((rect for row, rect in self.row_rects() if row.kind is kind), None)

    def row_at(self, y: float) -> Row | None:
        if y < self.canvas().top():
            return None
        return next((row for row, rect in self.row_rects() if rect.top() <= y < rect.bottom()), None)
