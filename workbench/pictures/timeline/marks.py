"""Markers on a timeline: A and B with the range between them, and named moments."""

from collections.abc import Iterator

from workbench.pictures.canvas import CENTRE, Canvas
from workbench.pictures.layout_sizes import Box
from workbench.pictures.letters import text_width
from workbench.pictures.timeline.rows import Kind
from workbench.pictures.timeline.scale import duration
from workbench.pictures.timeline.shown import OVERVIEW_PX, VisiblePart
from workbench.traces.markers import Marker

FLAG_PX, MOST_FLAG_PX, FLAG_TOP = 16, 140.0, OVERVIEW_PX + 2
PENNANT_PX = 9.0  # a flag without a name
_TEXT_ROWS, _TEXT_ROW_PX = (Kind.CALLS, Kind.CLOCK), 18.0
_TEXT_PX, _EDGE_PX, _LETTERS, LETTER_PX = 11, 6.0, 3, 10.0


def draw_marks(canvas: Canvas, shown: VisiblePart) -> None:
    """Draw A and B over the whole height, and the range between them on the ruler."""
    lanes, y = shown.lanes, OVERVIEW_PX + 10
    xs = [shown.x(mark) for mark in sorted(shown.marks)]
    with canvas.clipped(lanes.x - 8, OVERVIEW_PX, lanes.width + 16, shown.height - OVERVIEW_PX):
        if len(xs) == 2:
            a, b = (min(max(x, lanes.x - 8), lanes.right + 8) for x in xs)
            from_ps, to_ps = shown.range_ps()
            words = f"A to B  {duration(to_ps - from_ps)}"
            wide = canvas.width_of(words, 11, 600) + 16
            canvas.path([(a, y), (b, y)], "accent")
            place = Box((a + b - wide) / 2, y - 8, wide, 17)
            if b - a > wide + 40 and not any(place.overlaps(box) for _, box in flags(shown)):
                canvas.rect(place.x + 0.5, y - 7.5, wide - 1, 16, "selection", "accent", radius=4)
                canvas.write((a + b) / 2, y + 0.5, words, "link", 11, 600, CENTRE)
        for name, x in zip("AB", xs, strict=False):
            if lanes.x - 8 <= x <= lanes.right + 8:
                for top, bottom in _pieces(shown, y):
                    canvas.rect(round(x) - 1, top, 2, bottom - top, "accent")
                canvas.rect(round(x) - 8, y - 8, 16, 16, "accent", radius=3)
                canvas.write(x, y, name, "on_accent", 11, 700, CENTRE)


def flags(shown: VisiblePart) -> list[tuple[Marker, Box]]:
    """The visible named markers, each with its flag on the ruler: at its right, or at its left if the next one is near,
    and as wide as its name; of `PENNANT_PX` if there is no room for any of the name."""
    lanes = shown.lanes
    xs = [(marker, shown.x(marker.time_ps)) for marker in sorted(shown.markers)]
    xs = [(marker, x) for marker, x in xs if lanes.x - 1 <= x <= lanes.right + 1]
    ends = [shown.x(mark) for mark in shown.marks]  # of A and B, whose letters are over the flags
    placed: list[tuple[Marker, Box]] = []
    free = lanes.x - 40  # the end of the previous flag
    for number, (marker, x) in enumerate(xs):
        ahead = [other - LETTER_PX for other in ends if other > x]
        end = min([lanes.right, *ahead, *(later - 2 for _, later in xs[number + 1 : number + 2])])
        free = max([free, *(other + LETTER_PX for other in ends if other <= x)])
        wide = min(text_width(marker.name, _TEXT_PX, 500) + 2 * _EDGE_PX, MOST_FLAG_PX)
        if end - x < wide and x - free > min(wide, end - x):
            wide = min(wide, x - free)
            box = Box(x - wide, FLAG_TOP, wide, FLAG_PX)
        else:
            least = min(wide, text_width(f"{marker.name[:_LETTERS]}\u2026", _TEXT_PX, 500) + 2 * _EDGE_PX)
            box = Box(x, FLAG_TOP, min(wide, end - x) if end - x >= least else PENNANT_PX, FLAG_PX)
        placed.append((marker, box))
        free = box.right + 2
    return placed


def _pieces(shown: VisiblePart, top: float) -> Iterator[tuple[float, float]]:
    """The pieces of a line from `top` to the foot: it leaves out what is written on rows."""
    rows = (box for row, box in shown.row_boxes() if row.kind in _TEXT_ROWS)
    for middle in sorted(row.centre[1] for row in rows):
        if middle - _TEXT_ROW_PX / 2 > top:
            yield top, middle - _TEXT_ROW_PX / 2
        top = max(top, middle + _TEXT_ROW_PX / 2)
    yield top, max(top, shown.height)


def draw_markers(canvas: Canvas, shown: VisiblePart) -> None:
    """Draw for each marker a flag with its name on the ruler, or a pennant without, and a line through the rows."""
    for marker, box in flags(shown):
        x = round(shown.x(marker.time_ps)) + 0.5
        for top, bottom in _pieces(shown, box.y):
            canvas.path([(x, top), (x, bottom)], "link", 1, (3, 3))
        if box.width == PENNANT_PX:
            canvas.shape([(x, box.y + 2), (x + PENNANT_PX, box.y + FLAG_PX / 2), (x, box.y + FLAG_PX - 2)], "link")
            continue
        canvas.rect(box.x + 0.5, box.y + 0.5, box.width - 1, box.height - 1, "selection", "link", radius=3)
        room = box.width - 2 * _EDGE_PX + 1
        canvas.text(box.x + _EDGE_PX, box.y, room, box.height, marker.name, "link", _TEXT_PX, 500, least=2)
