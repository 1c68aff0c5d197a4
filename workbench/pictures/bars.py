"""A picture of bars: rows with a name, a bar and figures, on one axis that zooms."""

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from itertools import zip_longest

from workbench.model.text import trimmed
from workbench.pictures.canvas import CENTRE, RIGHT, Canvas
from workbench.pictures.layout_sizes import Box
from workbench.pictures.letters import text_width
from workbench.pictures.plot import Axis, Range, ticks
from workbench.pictures.signs import draw_severity, draw_speedup_bar

ROW_PX, MOST_ROW_PX, HEAD_PX, FOOT_PX, EDGE_PX, STEP_PX = 34.0, 90.0, 26.0, 42.0, 16.0, 18.0
_BAR_SHARE = 12 / ROW_PX  # of a row's height
_SAID_PX = 16.0  # of the foot, the line that describes the picture


@dataclass(frozen=True)
class Bar:
    """A row. The bar is solid from the axis's origin to `value`; with `bounds` it is a speedup's: predicted speedup,
    upper bound and interval, each None if unknown.

    `figures` are at the right, the first one strong. `sign` is a level of severity, `cells` the row's data. A row of
    more `depth` than the one above is part of it.
    """

    key: str
    name: str
    value: float
    figures: tuple[str, ...]
    cells: tuple[str | float, ...]
    note: str = ""
    bounds: tuple[float | None, float | None, tuple[float, float] | None] | None = None
    sign: str = ""
    strong: bool = True
    depth: int = 0


@dataclass(frozen=True)
class Bars:
    """The rows of a picture. `whole` is the full range of the axis (log10 on a logarithmic axis), `mark` a line through
    every row.

    `above` is the text over the axis's numbers, `say` describes the value under the pointer, `foot` describes the
    picture. `heads` are the columns of the data. `row_px` is how high a row is.
    """

    axis: Axis
    heads: tuple[str, ...] = ()
    rows: tuple[Bar, ...] = ()
    whole: Range = (0.0, 1.0)
    origin: float = 0.0
    foot: str = ""
    mark: float | None = None
    above: Callable[[float], str] | None = None
    say: Callable[[float], str] | None = None
    row_px: float = ROW_PX


def bars_box(bars: Bars, width: float, height: float) -> Box:
    """The box of the bars: beside the names, below the text above, over the axis's numbers."""
    names = max((_name_px(row) for row in bars.rows), default=0.0)
    left = EDGE_PX + min(max(names + 8, 60.0), width * 0.5, max(330.0, width * 0.25))
    right = EDGE_PX + sum(_figure_widths(bars, width))
    return Box(left, _top(bars), max(width - left - right, 20.0), max(_height(bars, height), bars.row_px))


def _name_px(row: Bar) -> float:
    """The width (pixels) of a row's name with its signs."""
    note = text_width(row.note, 12) + 8 if row.note else 0.0
    before = STEP_PX * row.depth + (24 if row.sign else 0)
    return before + text_width(row.name, 13, 600 if row.strong else 400) + note


def _figure_widths(bars: Bars, width: float) -> list[float]:
    """The widths of the first figure, and of those others that leave the bars enough room."""
    columns = zip_longest(*(row.figures for row in bars.rows), fillvalue="")
    widths = [max(text_width(figure, 13, 600) for figure in column) + 12 for column in columns]
    return [wide for n, wide in enumerate(widths) if not n or sum(widths[: n + 1]) < width * 0.3]


def _top(bars: Bars) -> float:
    return HEAD_PX if bars.above else 6.0


def _foot(bars: Bars) -> float:
    return FOOT_PX if bars.foot else FOOT_PX - _SAID_PX


def _height(bars: Bars, height: float) -> float:
    """The height of all rows, or of those that fit."""
    return min(height - _top(bars) - _foot(bars), bars.row_px * max(len(bars.rows), 1))


def bars_height(bars: Bars) -> float:
    """The height of a picture with every row."""
    return _top(bars) + bars.row_px * max(len(bars.rows), 1) + _foot(bars)


def filling(bars: Bars, height: float) -> Bars:
    """The bars with rows as high as a height allows, within bounds."""
    row_px = (height - _top(bars) - _foot(bars)) / max(len(bars.rows), 1)
    return replace(bars, row_px=min(max(row_px, ROW_PX), MOST_ROW_PX))


def place_of(value: float, bars: Bars, shown: Range, box: Box) -> float:
    """The position of a value; one beyond an end is at the end."""
    if math.isnan(value):
        value = bars.origin
    at = math.log10(value) if bars.axis.log and math.isfinite(value) else value
    return box.x + box.width * min(max((at - shown[0]) / (shown[1] - shown[0]), 0.0), 1.0)


def draw_bars(
    canvas: Canvas, bars: Bars, shown: Range, first: float, width: float, height: float, chosen: str = ""
) -> None:
    """Draw the rows from `first` on that fit; the row with the key `chosen` is highlighted."""
    box = bars_box(bars, width, height)
    canvas.rect(0, 0, width, height, "panel")
    if not bars.rows:
        return
    canvas.rect(box.x, box.y, box.width, box.height, "sunken")
    last = -100.0
    for value in ticks(*shown, bars.axis, max(int(box.width / 84), 4)):
        x = round(place_of(value, bars, shown, box)) + 0.5
        canvas.path([(x, box.y), (x, box.bottom)], "rule")
        above, below = bars.above(value) if bars.above else "", trimmed(bars.axis.text(value))
        wide = max(canvas.width_of(words, 11) for words in (above, below))
        if x - wide / 2 > last:
            canvas.write(x, box.bottom + 11, below, "muted", 11, 400, CENTRE)
            if above:
                canvas.write(x, box.y - 10, above, "muted", 11, 400, CENTRE)
            last = x + wide / 2 + 8
    canvas.text(EDGE_PX, box.bottom + 21, width - 2 * EDGE_PX, 16, bars.foot, "muted", 11, 400, CENTRE)
    with canvas.clipped(0, box.y, width, box.height):
        joints: list[float] = []  # by depth, the middle of the row that is the parent of the next one
        for number, row in enumerate(bars.rows):
            y = box.y + (number - first) * bars.row_px
            if y + bars.row_px >= box.y and y <= box.bottom:
                _draw_row(canvas, bars, row, shown, box, y, width, row.key == chosen)
            joints = [*joints[: row.depth], y + bars.row_px / 2]
            if row.depth and len(joints) > row.depth:
                x, from_y, to_y = EDGE_PX + STEP_PX * (row.depth - 0.6), joints[row.depth - 1] + 9, joints[-1]
                canvas.path([(x, from_y), (x, to_y), (x + STEP_PX * 0.4, to_y)], "rule")
        if bars.mark is not None and bars.rows:
            x = round(place_of(bars.mark, bars, shown, box)) + 0.5
            canvas.path([(x, box.y), (x, box.y + (len(bars.rows) - first) * bars.row_px)], "text", 1.4)


def _draw_row(
    canvas: Canvas, bars: Bars, row: Bar, shown: Range, box: Box, y: float, width: float, chosen: bool
) -> None:
    middle = y + bars.row_px / 2
    if chosen:
        canvas.rect(0, y, box.x, bars.row_px, "selection")
        canvas.rect(0, y, 3, bars.row_px, "accent")
    left = EDGE_PX + STEP_PX * row.depth
    if row.sign:
        draw_severity(canvas, left, middle - 8, 16, row.sign)
        left += 24
    weight = 600 if row.strong else 400
    room = box.x - left - 8
    if not row.note and (lines := _two_lines(row.name, room, weight)):
        for n, line in enumerate(lines):
            canvas.text(left, middle - 15 + 15 * n, room, 15, line, "text", 12, weight)
        used = room
    else:
        used = canvas.text(left, y, room, bars.row_px, row.name, "text", 13, weight)
    room -= used + 8
    if row.note:
        canvas.text(left + used + 8, y, room, bars.row_px, row.note, "second", 12)

    def place(value: float) -> float:
        return place_of(value, bars, shown, box)

    if row.bounds is not None:
        draw_speedup_bar(canvas, box.x, middle - 6, box.width, 12, *row.bounds, place)
    else:
        start, end = sorted((place(bars.origin), place(row.value)))
        high = round(bars.row_px * _BAR_SHARE)
        canvas.rect(box.x, middle - high / 2, box.width, high, "track")
        canvas.rect(start, middle - high / 2, end - start, high, "accent")
    right = box.right
    for n, (figure, wide) in enumerate(zip(row.figures, _figure_widths(bars, width), strict=False)):
        right += wide
        canvas.write(right, middle, figure, "second" if n else "text", 13, 400 if n else 600, RIGHT)


def _two_lines(name: str, room: float, weight: int) -> tuple[str, str] | None:
    """A name that does not fit, in two lines, where it can be parted into lines that do."""
    if text_width(name, 13, weight) <= room:
        return None
    words = name.split(" ")
    parted = [(" ".join(words[:n]), " ".join(words[n:])) for n in range(1, len(words))]
    even = min(parted, key=lambda lines: _widest(lines, weight), default=("", name))
    return even if _widest(even, weight) <= room else None


def _widest(lines: tuple[str, str], weight: int) -> float:
    return max(text_width(line, 12, weight) for line in lines)


def bars_table(bars: Bars) -> Iterator[tuple[str | float, ...]]:
    """The data as a table, heads first."""
    yield bars.heads
    for row in bars.rows:
        yield row.cells
