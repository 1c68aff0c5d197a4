"""Sizes and places in a laid-out graph, in pixels."""

from __future__ import annotations

from dataclasses import dataclass

Point = tuple[float, float]


@dataclass(frozen=True)
class Box:
    x: float
    y: float
    width: float
    height: float

    @property
    def right(self) -> float:
        return self.x + self.width

    @property
    def bottom(self) -> float:
        return self.y + self.height

    @property
    def centre(self) -> Point:
        return self.x + self.width / 2, self.y + self.height / 2

    def holds(self, point: Point) -> bool:
        return self.x <= point[0] <= self.right and self.y <= point[1] <= self.bottom

    def overlaps(self, other: Box) -> bool:
        return self.x < other.right and other.x < self.right and self.y < other.bottom and other.y < self.bottom


@dataclass(frozen=True)
class LayoutStyle:
    """Sizes in pixels. A caller that draws more in a node sets larger nodes. With `flow` columns follow the edges from
    sources to sinks; otherwise the distance from the block that talks to the host."""

    node_width: float = 156.0
    node_height: float = 84.0
    host_width: float = 206.0
    host_height: float = 196.0
    stack_width: float = 176.0
    stack_head: float = 96.0
    tiles_per_row: int = 5
    tile_height: float = 34.0
    label_height: float = 34.0
    label_lines: int = 2
    stretch: float = 0.0  # room added to each gutter that holds labels
    character_width: float = 6.4
    head_height: float = 40.0
    padding: float = 18.0
    margin: float = 8.0
    gap: float = 18.0
    track: float = 9.0
    columns_per_band: int = 5
    rows_per_column: int = 12
    flow: bool = False
