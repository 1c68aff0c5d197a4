"""Plots: lines with bands, points and handles over linear or logarithmic axes, described once for any canvas."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from workbench.model.text import listed, trimmed
from workbench.pictures.canvas import CENTRE, RIGHT, Canvas
from workbench.pictures.layout_sizes import Box
from workbench.pictures.palette import LIGHT, Palette
from workbench.pictures.svg import SvgCanvas

Values = NDArray[np.float64]
#: Room around the plot: for the axes' numbers and titles, and for the marks' names.
LEFT_PX, FOOT_PX, TOP_PX, MARKED_TOP_PX, EDGE_PX, RIGHT_PX = 64.0, 40.0, 12.0, 24.0, 16.0, 66.0
DASHES = (4.0, 2.0)
DOT_PX, FILLED_PX = 3.5, 5.0


@dataclass(frozen=True)
class Axis:
    """What an axis is of, how its numbers are said, whether it is logarithmic, and then whether by powers of two.

    `unit` is that of the numbers in data that are exported.
    """

    title: str
    text: Callable[[float], str]
    log: bool = False
    unit: str = ""
    binary: bool = False


@dataclass(frozen=True, eq=False)
class Line:
    """A line through points. `band` are the least and most around it; `ink` is a colour of the canvas.

    `points` shows its points, those of `filled` solid and the one numbered `wrong` in red; `movable` ones can be
    dragged up and down.
    """

    name: str
    x: Values
    y: Values
    ink: str = "accent"
    dashed: bool = False
    band: tuple[Values, Values] | None = None
    points: bool = False
    joined: bool = True
    named_at_start: bool = False
    filled: tuple[bool, ...] = ()
    wrong: int = -1
    movable: bool = False


@dataclass(frozen=True)
class Mark:
    """A handle at (x, y) with an upright line through it. `y` is on the right axis where the plot has one."""

    name: str
    x: float
    y: float
    ink: str = "text"
    strong: bool = False
    movable: bool = False


@dataclass(frozen=True)
class Spot:
    """A labelled point that belongs to no line; a strong one is ringed and its label framed."""

    label: str
    x: float
    y: float
    strong: bool = False
    detail: str = ""


@dataclass(frozen=True, eq=False)
class Plot:
    """`span` shades a range of x, and `goal` is where the strong spot could be. `say` tells of a line's point, by its
    line's number and its own, in words. With a `legend` the lines are named in it, else at their ends."""

    x: Axis
    y: Axis
    lines: tuple[Line, ...] = ()
    marks: tuple[Mark, ...] = ()
    right: Axis | None = None
    spots: tuple[Spot, ...] = ()
    span: tuple[float, float] | None = None
    span_name: str = ""
    goal: tuple[float, float] | None = None
    legend: bool = False
    say: Callable[[int, int], str] = lambda line, point: ""


Range = tuple[float, float]


@dataclass(frozen=True)
class View:
    """What of a plot is shown where: ranges of the axes (log10 on a logarithmic one) over `box`, in pixels."""

    x: Range
    y: Range
    right: Range
    box: Box
    logs: tuple[bool, bool, bool] = (False, False, False)

    def places(self, x: Values, y: Values) -> Values:
        """Where values stand, shape (count, 2); far outside where they are not finite or not above 0 on a log axis."""
        across = self.box.x + (_scaled(x, self.logs[0]) - self.x[0]) / (self.x[1] - self.x[0]) * self.box.width
        up = self.box.bottom - (_scaled(y, self.logs[1]) - self.y[0]) / (self.y[1] - self.y[0]) * self.box.height
        far = 3 * self.box.height
        return np.column_stack([across, np.clip(up, self.box.y - far, self.box.bottom + far)])

    def place(self, x: float, y: float, on_right: bool = False) -> tuple[float, float]:
        view = replace(self, y=self.right, logs=(self.logs[0], self.logs[2], False)) if on_right else self
        across, up = view.places(np.array([x], float), np.array([y], float))[0]
        return float(across), float(up)

    def value(self, across: float, up: float, on_right: bool = False) -> tuple[float, float]:
        """The value under a place, held within what is shown."""
        low, high = self.right if on_right else self.y
        part_x = min(max((across - self.box.x) / self.box.width, 0.0), 1.0)
        part_y = min(max((self.box.bottom - up) / self.box.height, 0.0), 1.0)
        x, y = self.x[0] + part_x * (self.x[1] - self.x[0]), low + part_y * (high - low)
        return (10.0**x if self.logs[0] else x), (10.0**y if self.logs[2 if on_right else 1] else y)


def fitting(plot: Plot, box: Box) -> View:
    """The view that shows all of a plot, with a little air."""
    spots = [(s.x, s.y) for s in plot.spots] + ([plot.goal] if plot.goal else [])
    xs = [line.x for line in plot.lines] + [np.array([m.x for m in plot.marks] + [x for x, _ in spots])]
    ys = [line.y for line in plot.lines] + [b for line in plot.lines if line.band for b in line.band]
    ys.append(np.array([y for _, y in spots] + ([] if plot.right else [m.y for m in plot.marks])))
    x = _span(np.concatenate(xs), plot.x.log, 0.04 if plot.spots or plot.legend else 0.0)
    values = np.concatenate(ys)
    low, high = _span(values, plot.y.log, 0.08)
    high += 0.08 * (high - low) if plot.y.log and not plot.legend else 0.0  # the lines' names stand over their ends
    if not plot.y.log and low < 0.3 * high and not (values < 0).any():
        low = 0.0
    right = _span(np.array([m.y for m in plot.marks]), plot.right.log, 0.35) if plot.right else (0.0, 1.0)
    return View(x, (low, high), right, box, (plot.x.log, plot.y.log, bool(plot.right and plot.right.log)))


def plot_box(plot: Plot, width: float, height: float) -> Box:
    """Where the axes are in a picture of that size."""
    right = RIGHT_PX if plot.right else EDGE_PX
    top = MARKED_TOP_PX if plot.marks else TOP_PX
    return Box(LEFT_PX, top, max(width - LEFT_PX - right, 10.0), max(height - top - FOOT_PX, 10.0))


def plot_svg(plot: Plot, title: str, width: float = 560, height: float = 300, palette: Palette = LIGHT) -> str:
    """The whole plot as an SVG document."""
    return view_svg(plot, fitting(plot, plot_box(plot, width, height)), title, width, height, palette)


def view_svg(plot: Plot, view: View, title: str, width: float, height: float, palette: Palette) -> str:
    """What a view of a plot shows, as an SVG document."""
    canvas = SvgCanvas(palette)
    canvas.rect(0, 0, width, height, "panel")
    draw_plot(canvas, plot, view, width)
    return canvas.document(width, height, title)


def plot_rows(plot: Plot) -> Iterator[tuple[str | float, ...]]:
    """The plot's numbers as a table: a head, then a row for each point of each line, each spot and each mark."""
    banded = any(line.band for line in plot.lines)
    heads = [f"{axis.title} ({axis.unit})" if axis.unit else axis.title for axis in (plot.x, plot.y)]
    yield ("line", *heads, *(("low", "high") if banded else ()))
    for number, line in enumerate(plot.lines):
        name = line.name or f"line {number + 1}"
        for at, (x, y) in enumerate(zip(line.x.tolist(), line.y.tolist(), strict=True)):
            edges = (float(line.band[0][at]), float(line.band[1][at])) if line.band else ("", "")
            yield (name, x, y, *(edges if banded else ()))
    single = [(s.label, s.x, s.y) for s in plot.spots] + [(m.name, m.x, m.y) for m in plot.marks]
    for name, x, y in single:
        yield (name, x, y, *(("", "") if banded else ()))


# ---- drawing


def draw_plot(canvas: Canvas, plot: Plot, view: View, width: float, *, ringed: tuple[int, int] | None = None) -> None:
    """Axes, lines, names, spots and marks in a picture of that width; a ring around the point `ringed`."""
    box = view.box
    canvas.rect(box.x, box.y, box.width, box.height, "sunken")
    if plot.span:
        _draw_span(canvas, plot, view)
    _draw_axes(canvas, plot, view, width)
    with canvas.clipped(box.x - 6, box.y - 6, box.width + 12, box.height + 12):
        for line in plot.lines:
            if line.band:
                low, high = line.band
                outline = np.concatenate([view.places(line.x, high), view.places(line.x[::-1], low[::-1])])
                canvas.shape(outline.tolist(), f"{line.ink}/0.2")
        for number, line in enumerate(plot.lines):
            _draw_line(canvas, line, view, ringed[1] if ringed and ringed[0] == number else -1)
    if plot.legend:
        _draw_legend(canvas, plot, box)
    else:
        _draw_names(canvas, plot.lines, view)
    _draw_spots(canvas, plot, view)
    _draw_marks(canvas, plot, view, width)


def _draw_span(canvas: Canvas, plot: Plot, view: View) -> None:
    assert plot.span
    left, right = (min(max(view.place(x, 1)[0], view.box.x), view.box.right) for x in plot.span)
    canvas.rect(left, view.box.y, right - left, view.box.height, "good_ground")


def _draw_axes(canvas: Canvas, plot: Plot, view: View, width: float) -> None:
    box = view.box
    last = -100.0
    for value in ticks(*view.x, plot.x, max(int(box.width / 84), 2)):
        x = round(view.place(value, 1)[0]) + 0.5
        canvas.path([(x, box.y), (x, box.bottom)], "rule")
        words = trimmed(plot.x.text(value))
        wide = canvas.width_of(words, 11)
        if x - wide / 2 > last:
            left = min(x - wide / 2, width - wide - 1)
            canvas.write(left, box.bottom + 11, words, "muted", 11, 400)
            last = left + wide + 8
    for value in ticks(*view.y, plot.y, max(int(box.height / 34), 2)):
        y = round(view.place(1, value)[1]) + 0.5
        canvas.path([(box.x, y), (box.right, y)], "rule")
        canvas.text(2, y - 8, box.x - 8, 16, trimmed(plot.y.text(value)), "muted", 11, 400, RIGHT)
    for value in ticks(*view.right, plot.right, max(int(box.height / 34), 2)) if plot.right else ():
        assert plot.right
        y = view.place(1, value, on_right=True)[1]
        canvas.text(box.right + 6, y - 8, width - box.right - 8, 16, trimmed(plot.right.text(value)), "muted", 11)
    title = f"{plot.y.title} by {plot.x.title}" + (f"; right: {plot.right.title}" if plot.right else "")
    canvas.text(box.x, box.bottom + 21, box.width, 16, title, "muted", 11, 400, CENTRE)
    if plot.span and plot.span_name:
        left, right = (min(max(view.place(x, 1)[0], box.x), box.right) for x in plot.span)
        wide = canvas.width_of(plot.span_name, 11, 500) + 8
        at = min((left + right - wide) / 2, box.right - wide - 2)
        canvas.rect(at, box.bottom - 24, wide, 16, "good_ground")
        canvas.write(at + 4, box.bottom - 16, plot.span_name, "good", 11, 500)


def _draw_line(canvas: Canvas, line: Line, view: View, ringed: int) -> None:
    places = view.places(line.x, line.y)
    whole = np.isfinite(line.y)
    if line.joined and whole.sum() > 1:
        canvas.path(places[whole].tolist(), line.ink, 2, DASHES if line.dashed else ())
    for number, (x, y) in enumerate(places.tolist() if line.points else ()):
        if not whole[number]:
            continue
        wrong = number == line.wrong
        solid = wrong or (number < len(line.filled) and line.filled[number])
        ink, radius = "high" if wrong else line.ink, FILLED_PX if solid else DOT_PX
        canvas.disc(x, y, radius, ink if solid else "panel", ink, 1.5)
        if number == ringed:
            canvas.disc(x, y, radius + 4, "", "accent", 2)


def _draw_names(canvas: Canvas, lines: Sequence[Line], view: View) -> None:
    """At the lines' ends, from the top, each below the one before."""
    taken: list[Box] = []
    box = view.box
    for line in sorted((line for line in lines if line.name and len(line.x)), key=lambda line: -float(line.y[-1])):
        wide = canvas.width_of(line.name, 11, 600) + 4
        at = 0 if line.named_at_start else int(np.argmax(line.x))
        x, y = view.place(float(line.x[at]), float(line.y[at]))
        name = Box(min(x, box.right) - wide - 4, max(y - 19, box.y + 1), wide, 15)
        if line.named_at_start:
            name = Box(max(x, box.x) + 22, min(max(y - 12, box.y + 1), box.bottom - 17), wide, 15)
        while any(name.overlaps(other) for other in taken) and name.bottom < box.bottom:
            name = replace(name, y=name.y + 15)
        taken.append(name)
        canvas.rect(name.x, name.y, wide, 15, "sunken")
        ink = "link" if line.ink == "accent" else "second" if line.dashed else line.ink
        canvas.write(name.right, name.y + 7.5, line.name, ink, 11, 600, RIGHT)


def _draw_legend(canvas: Canvas, plot: Plot, box: Box) -> None:
    y = box.y + 14
    for line in plot.lines:
        if not line.name:
            continue
        kinds = [(line.name, False)]
        if line.points and any(line.filled):
            kinds = [(f"{line.name}, with a source", True), (f"{line.name}, interpolated", False)]
        for words, solid in kinds:
            if line.points:
                canvas.disc(
                    box.x + 18, y, FILLED_PX if solid else DOT_PX, line.ink if solid else "panel", line.ink, 1.5
                )
            else:
                canvas.path([(box.x + 10, y), (box.x + 26, y)], line.ink, 2, DASHES if line.dashed else ())
            canvas.write(box.x + 34, y, words, "second", 12, 400)
            y += 20


def _draw_spots(canvas: Canvas, plot: Plot, view: View) -> None:
    """The weakest first, each with its label where one fits; those at one place share a label."""
    taken: list[Box] = []
    if plot.goal:
        x, y = view.place(*plot.goal)
        canvas.disc(x, y, 5, "panel", "good", 2)
        taken.append(Box(x - 6, y - 6, 12, 12))
    groups: dict[tuple[int, int], list[Spot]] = {}
    for spot in sorted(plot.spots, key=lambda s: s.strong):
        x, y = view.place(spot.x, spot.y)
        if not (view.box.x - 6 <= x <= view.box.right + 6 and view.box.y - 6 <= y <= view.box.bottom + 6):
            continue
        ink = "accent" if spot.strong else "state:wait_send"
        canvas.disc(x, y, 5, ink, "panel", 1.2)
        if spot.strong:
            canvas.disc(x, y, 8.5, "", ink, 1.6)
        taken.append(Box(x - 6, y - 6, 12, 12))
        groups.setdefault((round(x / 9), round(y / 9)), []).append(spot)
    named = [_joined(group) for group in groups.values()]
    for spot in sorted(named, key=lambda s: not s.strong):
        _draw_spot_label(canvas, spot, view, taken)


def _joined(spots: Sequence[Spot]) -> Spot:
    """One spot for all that stand at one place: the strong one with what it says, or all their names."""
    strong = next((s for s in spots if s.strong), None)
    if strong:
        return replace(strong, label=f"{strong.label} {strong.detail}".rstrip())
    return replace(spots[0], label=listed(list(dict.fromkeys(s.label for s in spots))))


def _draw_spot_label(canvas: Canvas, spot: Spot, view: View, taken: list[Box]) -> None:
    x, y = view.place(spot.x, spot.y)
    weight = 600 if spot.strong else 500
    wide = canvas.width_of(spot.label, 11, weight) + (16 if spot.strong else 6)
    high = 19.0 if spot.strong else 15.0
    places = [
        (12, -high / 2),
        (-12 - wide, -high - 6),
        (12, 8),
        (-wide / 2, -high - 12),
        (-12 - wide, 8),
        (-wide / 2, 12),
    ]
    if spot.strong:
        places = [places[1], places[3], (14, 12), places[4], (-wide / 2, 14), places[0]]
    for dx, dy in places:
        box = Box(x + dx, y + dy, wide, high)
        if _inside(box, view.box) and not any(box.overlaps(other) for other in taken):
            break
    else:
        if not spot.strong:
            return  # no room: what is pointed at is named
        box = replace(box, x=min(max(box.x, view.box.x + 2), view.box.right - wide))
    taken.append(box)
    if spot.strong:
        canvas.rect(box.x + 0.5, box.y + 0.5, wide - 1, high - 1, "panel", "accent", radius=4)
    canvas.write(box.centre[0], box.centre[1], spot.label, "link" if spot.strong else "text", 11, weight, CENTRE)


def _inside(box: Box, room: Box) -> bool:
    return box.x >= room.x - 2 and box.right <= room.right + 8 and box.y >= room.y - 2 and box.bottom <= room.bottom + 2


def _draw_marks(canvas: Canvas, plot: Plot, view: View, width: float) -> None:
    box, right = view.box, -100.0
    for mark in sorted(plot.marks, key=lambda m: m.x):
        x, y = view.place(mark.x, mark.y, on_right=plot.right is not None)
        if not box.x - 1 <= x <= box.right + 1:
            continue
        canvas.path([(x, box.y), (x, box.bottom)], mark.ink, 2 if mark.strong else 1.2, DASHES)
        if box.y - 6 <= y <= box.bottom + 6:
            canvas.disc(x, y, 6, mark.ink, "panel", 1.2)
        wide = min(canvas.width_of(mark.name, 11, 600) + 4, box.width / max(len(plot.marks), 1))
        left = min(max(x - wide / 2, right, box.x), width - wide - 2)
        canvas.text(left, 4, wide, 16, mark.name, mark.ink, 11, 600, CENTRE)
        right = left + wide + 8


def draw_tag(canvas: Canvas, box: Box, x: float, y: float, words: str, strong: bool = False) -> None:
    """A point that is meant, with its words in a frame that stays in the box; a strong one is ringed."""
    canvas.disc(x, y, 5, "accent", "panel", 1.2)
    if strong:
        canvas.disc(x, y, 8.5, "", "accent", 1.6)
    if words:
        wide = canvas.width_of(words, 11, 600) + 14
        middle = y - 22 if y - 34 > box.y else y + 22
        left = min(max(x - wide / 2, box.x + 2), box.right - wide - 2)
        canvas.rect(left + 0.5, middle - 9, wide - 1, 18, "panel", "accent", radius=4)
        canvas.write(left + wide / 2, middle, words, "link", 11, 600, CENTRE)


# ---- axes


def ticks(low: float, high: float, axis: Axis, most: int) -> list[float]:
    """Round values between two bounds (log10 of them on a logarithmic axis), at most about `most`."""
    if not axis.log:
        step = 10.0 ** math.floor(math.log10(max(high - low, 1e-300) / most))
        step *= next(f for f in (1, 2, 5, 10, 20) if (high - low) / (step * f) <= most)
        first = math.ceil(low / step - 1e-9)
        return [
            round(n * step, 12) if step > 1e-9 else n * step for n in range(first, math.floor(high / step + 1e-9) + 1)
        ]
    if axis.binary and high - low > 0.9:
        powers = range(math.ceil(low / math.log10(2) - 1e-9), math.floor(high / math.log10(2) + 1e-9) + 1)
        every = next(n for n in (1, 2, 3, 4, 5, 6, 8, 10, 20, 2000) if len(powers) / n <= most)
        return [2.0**power for power in powers if (power - 2) % every == 0]
    decades = range(math.floor(low), math.ceil(high) + 1)
    parts: tuple[float, ...] = (1.0,) if high - low >= 2 else (1.0, 2.0, 5.0)
    if high - low < 0.4:
        parts = tuple(n / 10 for n in range(10, 100))
    found = [part * 10.0**d for d in decades for part in parts if low - 1e-9 <= d + math.log10(part) <= high + 1e-9]
    return found[:: max(1, math.ceil(len(found) / most))]


def _scaled(values: Values, log: bool) -> Values:
    return np.log10(np.maximum(values, 1e-300)) if log else values


def _span(values: Values, log: bool, air: float) -> Range:
    """Bounds of the values, of log10 of them where `log`, with some air."""
    values = values[np.isfinite(values) & ((values > 0) | (not log))]
    if not len(values):
        values = np.array([1.0])
    low, high = (float(v) for v in _scaled(np.array([values.min(), values.max()]), log))
    if high - low < 1e-9 * max(abs(high), 1e-12):
        room = 0.5 if log else abs(high) * 0.5 or 1.0
        return low - room, high + room
    return low - air * (high - low), high + air * (high - low)
