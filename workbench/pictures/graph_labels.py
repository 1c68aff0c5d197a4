"""What is on the lines of a graph that is shown too small for their labels: as many short words as have room."""

from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise

import numpy as np

from workbench.pictures.canvas import CENTRE, Canvas
from workbench.pictures.graph_text import LEAST_PX
from workbench.pictures.layout import Box, GraphLayout
from workbench.pictures.layout_sizes import Point

MOST_LINES = 120  # of more no label could be distinguished from another
_HIGH_PX = 12.0


def draw_short_labels(
    canvas: Canvas, layout: GraphLayout, words: Mapping[str, Sequence[str]], at: Point, scale: float
) -> None:
    """Write words (the first that have room, by messages) on the lines of a graph that is at a place at a scale,
    where its own labels are too small to be read: where they touch no node, no other line and no other words."""
    lines = [([_at(point, at, scale) for point in edge.points], edge) for edge in layout.edges]
    small = [
        (points, words.get(edge.edges[0].message, ()))
        for points, edge in lines
        if len(edge.edges) == 1 and edge.label_box.height * scale < LEAST_PX - 1
    ]
    if len(small) > MOST_LINES:
        return
    runs = [_around(*ends) for points, _ in lines for ends in pairwise(points)]
    heads = (Box(frame.box.x, frame.box.y, frame.box.width, 28) for frame in layout.frames)
    boxes = [*heads, *(node.box for node in layout.nodes)]
    taken = [_around(_at((box.x, box.y), at, scale), _at((box.right, box.bottom), at, scale)) for box in boxes]
    ground = "sunken" if layout.frames else "window"
    for points, shorter in sorted(small, key=lambda one: -max(map(_across, pairwise(one[0])), default=0.0)):
        own = [_around(*ends) for ends in pairwise(points)]
        others = [*taken, *(run for run in runs if run not in own)]
        wides = {said: canvas.width_of(said, LEAST_PX) + 2 for said in shorter}
        for said, place, on_line in ((said, *one) for said, wide in wides.items() for one in _places(points, wide)):
            if _free(place, others if on_line else [*others, *own]):
                if on_line:
                    canvas.rect(place.x, place.y, place.width, place.height, ground)
                canvas.write(*place.centre, said, "second", LEAST_PX, 400, CENTRE)
                taken.append(place)
                break


def _at(point: Point, at: Point, scale: float) -> Point:
    return at[0] + point[0] * scale, at[1] + point[1] * scale


def _across(ends: tuple[Point, Point]) -> float:
    """How far a line runs across; 0 where it runs up or down."""
    (x0, y0), (x1, y1) = ends
    return abs(x1 - x0) if y0 == y1 else 0.0


def _places(points: Sequence[Point], wide: float) -> Iterator[tuple[Box, bool]]:
    """Where words may be, the best first: on the line, over it, under it."""
    runs = sorted((ends for ends in pairwise(points) if _across(ends)), key=_across, reverse=True)
    for (x0, y), (x1, _) in runs:
        if abs(x1 - x0) >= wide:
            yield Box((x0 + x1 - wide) / 2, y - _HIGH_PX / 2, wide, _HIGH_PX), True
    for (x0, y), (x1, _) in runs:
        left, right = min(x0, x1), max(x0, x1)
        for x in ((left + right - wide) / 2, left, right - wide):
            for top in (y - _HIGH_PX - 2, y + 2):
                yield Box(x, top, wide, _HIGH_PX), False


def _around(one: Point, other: Point) -> Box:
    """The room of a line, or between two corners."""
    (x0, y0), (x1, y1) = one, other
    return Box(min(x0, x1) - 1, min(y0, y1) - 1, abs(x1 - x0) + 2, abs(y1 - y0) + 2)


def _free(place: Box, others: Sequence[Box]) -> bool:
    x, y, wide, high = np.array([(box.x, box.y, box.width, box.height) for box in others]).reshape(-1, 4).T
    touched = (x < place.right) & (place.x < x + wide) & (y < place.bottom) & (place.y < y + high)
    return not touched.any()
