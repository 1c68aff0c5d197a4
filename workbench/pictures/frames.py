"""Pictures of frame-by-frame measurements: box plots of numbers, and heat maps of histograms over time."""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

from workbench.model.text import percent_text, time_text
from workbench.pictures.canvas import CENTRE, RIGHT, Canvas
from workbench.pictures.layout_sizes import Box
from workbench.pictures.letters import text_width
from workbench.pictures.plot import Axis, Range, ticks
from workbench.pictures.timeline.raster import soften

BOX_ROW_PX, EDGE_PX, FOOT_PX, TOP_PX = 44.0, 16.0, 40.0, 10.0
_HALF_PX, _LEGEND_PX = 10.0, 16.0
_OUTLYING = 1.5  # interquartile ranges beyond the quartiles


@dataclass(frozen=True)
class Spread:
    """A box plot: quartiles, whiskers to the least and largest values within the fences, and the outliers."""

    name: str
    least: float
    lower: float
    median: float
    upper: float
    most: float
    outlying: tuple[float, ...] = ()
    unsure: float = 0.0


def spread(name: str, values: Sequence[float], unsure: float = 0.0) -> Spread:
    """The box plot of values, which are not empty; each may be off by `unsure` in either direction. Values more than
    1.5 interquartile ranges beyond the quartiles are outliers."""
    ordered = np.sort(np.asarray(values, float))
    lower, median, upper = np.quantile(ordered, [0.25, 0.5, 0.75])
    reach = _OUTLYING * (upper - lower)
    inside = (ordered >= lower - reach) & (ordered <= upper + reach)
    within_fences = ordered[inside]
    least, most, outlying = float(within_fences[0]), float(within_fences[-1]), tuple(ordered[~inside].tolist())
    return Spread(name, least, float(lower), float(median), float(upper), most, outlying, unsure)


@dataclass(frozen=True)
class Spreads:
    """Box plots on one axis, one row each."""

    axis: Axis
    rows: tuple[Spread, ...] = ()

    @property
    def whole(self) -> Range:
        ends_of_rows = ((row.least - row.unsure, row.most + row.unsure, *row.outlying) for row in self.rows)
        ends = [end for of_row in ends_of_rows for end in of_row] or [0.0, 1.0]
        low, high = min(ends), max(ends)
        low = 0.0 if 0 < low < 0.3 * high else low
        room = 0.06 * (high - low) or abs(high) * 0.5 or 1.0
        return (low - (room if low else 0.0), high + room)


def spreads_box(picture: Spreads, width: float, height: float) -> Box:
    names = max((text_width(row.name, 13) for row in picture.rows), default=0.0)
    left = EDGE_PX + min(max(names + 12, 48.0), 0.4 * width)
    figures = max((text_width(picture.axis.text(row.median), 13, 600) for row in picture.rows), default=0.0) + 12
    high = min(height - TOP_PX - FOOT_PX, BOX_ROW_PX * max(len(picture.rows), 1))
    return Box(left, TOP_PX, max(width - left - figures - EDGE_PX, 20.0), max(high, BOX_ROW_PX))


def draw_spreads(canvas: Canvas, picture: Spreads, shown: Range, first: float, width: float, height: float) -> None:
    """Draw the rows from `first` on."""
    box = spreads_box(picture, width, height)
    canvas.rect(0, 0, width, height, "panel")
    canvas.rect(box.x, box.y, box.width, box.height, "sunken")
    unsure = max((row.unsure for row in picture.rows), default=0.0)
    _draw_axis(canvas, within(picture.axis, unsure, "each to"), shown, box)

    def place(value: float) -> float:
        return box.x + (value - shown[0]) / (shown[1] - shown[0]) * box.width

    for number, row in enumerate(picture.rows):
        middle = box.y + (number - first + 0.5) * BOX_ROW_PX
        if not box.y <= middle <= box.bottom:
            continue
        canvas.text(EDGE_PX, middle - 11, box.x - EDGE_PX - 8, 22, row.name, "text", 13)
        canvas.write(width - EDGE_PX, middle, picture.axis.text(row.median), "text", 13, 600, RIGHT)
        with canvas.clipped(box.x, box.y, box.width, box.height):
            least, lower, median, upper, most = map(place, (row.least, row.lower, row.median, row.upper, row.most))
            if row.unsure:
                left, right = place(row.least - row.unsure), place(row.most + row.unsure)
                canvas.rect(left, middle - _HALF_PX - 4, right - left, 2 * _HALF_PX + 8, "accent/0.2")
            canvas.path([(least, middle), (most, middle)], "second", 1.2)
            for end in (least, most):
                canvas.path([(end, middle - 6), (end, middle + 6)], "second", 1.2)
            wide = max(upper - lower, 2.0)
            canvas.rect(lower, middle - _HALF_PX, wide, 2 * _HALF_PX, "within_cap", "accent", 1.2, radius=2)
            canvas.path([(median, middle - _HALF_PX), (median, middle + _HALF_PX)], "accent", 2.4)
            for value in row.outlying:
                canvas.disc(place(value), middle, 2.2, "", "second", 1.2)


def spread_rows(picture: Spreads) -> Iterator[tuple[str | float, ...]]:
    unsure = any(row.unsure for row in picture.rows)
    head = ("measure", "least", "lower quartile", "median", "upper quartile", "most", "outlying")
    yield (*head, *(("off by at most",) if unsure else ()))
    for row in picture.rows:
        numbers = (row.least, row.lower, row.median, row.upper, row.most)
        yield (row.name, *numbers, " ".join(map(str, row.outlying)), *((row.unsure,) if unsure else ()))


@dataclass(frozen=True, eq=False)
class HeatMap:
    """Shares of a frame's time, or events, by bin and frame: shape (bins, frames). `times_s` are the frames' bounds,
    which may be off by `unsure_s` in either direction."""

    title: str
    times_s: tuple[float, ...] = (0.0, 1.0)
    bins: tuple[str, ...] = ()
    shares: NDArray[np.float64] = field(default_factory=lambda: np.empty((0, 0)))
    unsure_s: float = 0.0


def heat_box(picture: HeatMap, width: float, height: float) -> Box:
    names = max((text_width(name, 11) for name in picture.bins), default=0.0)
    left = EDGE_PX + min(names + 8, 0.4 * width)
    return Box(
        left, TOP_PX + _LEGEND_PX, max(width - left - EDGE_PX, 20.0), max(height - TOP_PX - FOOT_PX - _LEGEND_PX, 20.0)
    )


def draw_heat(canvas: Canvas, picture: HeatMap, shown: Range, width: float, height: float) -> None:
    """Draw the heat map: time to the right, bins upwards; a larger share has a stronger colour. Frames' edges are
    blurred by their uncertainty."""
    box = heat_box(picture, width, height)
    canvas.rect(0, 0, width, height, "panel")
    maximum_text = f"; maximum {percent_text(float(picture.shares.max()))}" if picture.shares.size else ""
    canvas.text(box.x, 4, box.width, 18, picture.title + maximum_text, "muted", 11)
    if picture.shares.size:
        canvas.image(box.x, box.y, _pixels(canvas, picture, shown, round(box.width), round(box.height)))
    canvas.rect(box.x, box.y, box.width, box.height, "", "rule")
    row = box.height / max(len(picture.bins), 1)
    every = math.ceil(14 / row)
    for number in range(0, len(picture.bins), every):
        middle = box.bottom - (number + 0.5) * row
        canvas.text(4, middle - 8, box.x - 10, 16, picture.bins[number], "muted", 11, align=RIGHT, least=1)
    _draw_axis(canvas, within(Axis("time", time_text), picture.unsure_s), shown, box)


def _pixels(canvas: Canvas, picture: HeatMap, shown: Range, wide: int, high: int) -> NDArray[np.uint32]:
    ends = [np.array([int(canvas.colour(ink)[0][at : at + 2], 16) for at in (1, 3, 5)]) for ink in ("sunken", "accent")]
    across = shown[0] + (np.arange(wide) + 0.5) / wide * (shown[1] - shown[0])
    frames = np.clip(np.searchsorted(picture.times_s, across, "right") - 1, 0, picture.shares.shape[1] - 1)
    bins = ((high - np.arange(high) - 0.5) / high * len(picture.bins)).astype(int)
    strong = np.sqrt(picture.shares[np.ix_(bins, frames)] / (picture.shares.max() or 1.0))[
        ..., None
    ]  # small shares are visible too
    red, green, blue = np.moveaxis((ends[0] + strong * (ends[1] - ends[0])).round().astype(np.uint32), -1, 0)
    image = (np.uint32(0xFF000000) | red << 16 | green << 8 | blue).astype(np.uint32)
    if reach := int(picture.unsure_s / (shown[1] - shown[0]) * wide):
        soften(image, reach)
    return image


def grouped(names: Sequence[str], shares: NDArray[np.float64], most: int) -> tuple[list[str], NDArray[np.float64]]:
    """At most so many bins, with equally many original bins in each but the last: their names, and their summed shares
    along the first axis."""
    every = max(1, -(-len(names) // most))
    firsts = range(0, len(names), every)
    parts = [names[first : first + every] for first in firsts]
    words = [part[0] if len(part) == 1 else f"{part[0]} to {part[-1]}" for part in parts]
    return words, np.add.reduceat(shares, list(firsts), axis=0) if words else shares


def heat_rows(picture: HeatMap) -> Iterator[tuple[str | float, ...]]:
    unsure = (picture.unsure_s,) if picture.unsure_s else ()
    yield ("from (s)", "to (s)", *(("off by at most (s)",) if unsure else ()), *picture.bins)
    for number, column in enumerate(picture.shares.T.tolist()):
        yield (picture.times_s[number], picture.times_s[number + 1], *unsure, *column)


def within(axis: Axis, unsure: float, of: str = "known to") -> Axis:
    """The axis, with the uncertainty of its numbers in its title."""
    return replace(axis, title=f"{axis.title}, {of} ± {axis.text(unsure)}") if unsure else axis


def _draw_axis(canvas: Canvas, axis: Axis, shown: Range, box: Box) -> None:
    last = -100.0
    for value in ticks(*shown, axis, max(int(box.width / 90), 3)):
        x = round(box.x + (value - shown[0]) / (shown[1] - shown[0]) * box.width) + 0.5
        canvas.path([(x, box.bottom), (x, box.bottom + 4)], "edge")
        words = axis.text(value)
        wide = canvas.width_of(words, 11)
        if x - wide / 2 > last:
            canvas.write(x, box.bottom + 13, words, "muted", 11, 400, CENTRE)
            last = x + wide / 2 + 8
    canvas.text(box.x, box.bottom + 22, box.width, 16, axis.title, "muted", 11, 400, CENTRE)
