"""Plots with lines, bands, points and handles over linear or logarithmic axes, described once for any canvas."""

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from workbench.pictures.layout_sizes import Box

Values = NDArray[np.float64]
#: Room around the plot: for the axes' numbers and titles, and for the marks' names.
LEFT_PX, FOOT_PX, TOP_PX, MARKED_TOP_PX, EDGE_PX, RIGHT_PX = 64.0, 40.0, 12.0, 24.0, 16.0, 66.0


@dataclass(frozen=True)
class Axis:
    """An axis: its title, the text of its numbers, and whether it is logarithmic.

    Values of a `binary` axis are whole: it has powers of two at a logarithmic axis's ticks, and no fractions at a
    linear one's. A linear axis `from_zero` begins there. `unit` is the unit of the numbers in exported data.
    """

    title: str
    text: Callable[[float], str]
    log: bool = False
    unit: str = ""
    binary: bool = False
    from_zero: bool = False


@dataclass(frozen=True, eq=False)
class Line:
    """A line through points. `band` are the least and largest values around it; `ink` is a colour of the canvas.

    `points` shows its points, those of `filled` solid and the one numbered `wrong` in red; `movable` ones can be
    dragged up and down. A `stacked` line is the upper edge of its band, which is filled and has its name.
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
    stacked: bool = False


@dataclass(frozen=True)
class Mark:
    """A handle at (x, y) with a vertical line through it. `y` is on the right axis if the plot has one."""

    name: str
    x: float
    y: float
    ink: str = "text"
    strong: bool = False
    movable: bool = False


@dataclass(frozen=True)
class Spot:
    """A labelled point without a line; a strong one has a ring and a framed label."""

    label: str
    x: float
    y: float
    strong: bool = False
    detail: str = ""


@dataclass(frozen=True, eq=False)
class Plot:
    """The contents of a plot. `span` shades a range of x, and `goal` is the possible place of the strong spot. `say`
    describes a point by its line's number and its own. With a `legend` the lines are named there, otherwise at their
    ends."""

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


def kinds_of(lines: Sequence[Line]) -> list[int]:
    """For each line the number that selects its pattern and marker. Each named line has its own; an unnamed line has
    that of the line before it in its colour. Dashed and stacked lines need none."""
    kinds: list[int] = []
    of_ink: dict[str, int] = {}
    count = 0
    for line in lines:
        if (line.name or line.ink not in of_ink) and not line.dashed and not line.stacked:
            of_ink[line.ink] = count
            count += 1
        kinds.append(of_ink.get(line.ink, 0))
    return kinds


Range = tuple[float, float]


@dataclass(frozen=True)
class View:
    """The visible part of a plot: ranges of the axes (log10 on a logarithmic one) over `box`, in pixels."""

    x: Range
    y: Range
    right: Range
    box: Box
    logs: tuple[bool, bool, bool] = (False, False, False)

    def places(self, x: Values, y: Values) -> Values:
        """The positions of values, shape (count, 2); far outside if they are not finite, or not above 0 on a
        logarithmic axis."""
        across = self.box.x + (_scaled(x, self.logs[0]) - self.x[0]) / (self.x[1] - self.x[0]) * self.box.width
        up = self.box.bottom - (_scaled(y, self.logs[1]) - self.y[0]) / (self.y[1] - self.y[0]) * self.box.height
        far = 3 * self.box.height
        return np.column_stack([across, np.clip(up, self.box.y - far, self.box.bottom + far)])

    def place(self, x: float, y: float, on_right: bool = False) -> tuple[float, float]:
        view = replace(self, y=self.right, logs=(self.logs[0], self.logs[2], False)) if on_right else self
        across, up = view.places(np.array([x], float), np.array([y], float))[0]
        return float(across), float(up)

    def value(self, across: float, up: float, on_right: bool = False) -> tuple[float, float]:
        """The value at a position, limited to the visible ranges."""
        low, high = self.right if on_right else self.y
        part_x = min(max((across - self.box.x) / self.box.width, 0.0), 1.0)
        part_y = min(max((self.box.bottom - up) / self.box.height, 0.0), 1.0)
        x, y = self.x[0] + part_x * (self.x[1] - self.x[0]), low + part_y * (high - low)
        return (10.0**x if self.logs[0] else x), (10.0**y if self.logs[2 if on_right else 1] else y)


def fitting(plot: Plot, box: Box) -> View:
    """The view of the whole plot, with a margin."""
    spots = [(s.x, s.y) for s in plot.spots] + ([plot.goal] if plot.goal else [])
    xs = [line.x for line in plot.lines] + [np.array([m.x for m in plot.marks] + [x for x, _ in spots])]
    ys = [line.y for line in plot.lines] + [b for line in plot.lines if line.band for b in line.band]
    ys.append(np.array([y for _, y in spots] + ([] if plot.right else [m.y for m in plot.marks])))
    x = _span(np.concatenate(xs), plot.x.log, 0.04 if plot.spots or plot.legend else 0.0)
    values = np.concatenate(ys)
    low, high = _span(values, plot.y.log, 0.08)
    high += 0.08 * (high - low) if plot.y.log and not plot.legend else 0.0  # the lines' names are over their ends
    if not plot.y.log and (plot.y.from_zero or low < 0.3 * high) and not (values < 0).any():
        low = 0.0
    right = _span(np.array([m.y for m in plot.marks]), plot.right.log, 0.35) if plot.right else (0.0, 1.0)
    return View(x, (low, high), right, box, (plot.x.log, plot.y.log, bool(plot.right and plot.right.log)))


def plot_box(plot: Plot, width: float, height: float) -> Box:
    """The box of the axes in a picture of this size."""
    right = RIGHT_PX if plot.right else EDGE_PX
    top = MARKED_TOP_PX if plot.marks else TOP_PX
    return Box(LEFT_PX, top, max(width - LEFT_PX - right, 10.0), max(height - top - FOOT_PX, 10.0))


def plot_rows(plot: Plot) -> Iterator[tuple[str | float, ...]]:
    """The plot's numbers as a table: heads, then a row for each point of each line, each spot and each mark."""
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


# ---- axes


def ticks(low: float, high: float, axis: Axis, most: int) -> list[float]:
    """Round values between two bounds (log10 of them on a logarithmic axis), at most about `most`; where there is room
    for two, rather one more than a single one, which shows no scale."""
    placed = _round_values(low, high, axis, most)
    return placed if len(placed) > 1 or not 1 < most < 4 else ticks(low, high, axis, most + 1)


def _round_values(low: float, high: float, axis: Axis, most: int) -> list[float]:
    if not axis.log:
        step = 10.0 ** math.floor(math.log10(max(high - low, 1e-300) / most))
        step *= next(f for f in (1, 2, 5, 10, 20) if (high - low) / (step * f) <= most)
        step = max(step, 1.0) if axis.binary else step
        first = math.ceil(low / step - 1e-9)
        return [
            round(n * step, 12) if step > 1e-9 else n * step for n in range(first, math.floor(high / step + 1e-9) + 1)
        ]
    if axis.binary and high - low > 0.9:
        powers = range(math.ceil(low / math.log10(2) - 1e-9), math.floor(high / math.log10(2) + 1e-9) + 1)
        every = next(n for n in (1, 2, 3, 4, 5, 6, 8, 10, 20, 2000) if len(powers) / n <= most)
        placed = [power for power in powers if (power - 2) % every == 0]  # 4 B is one of them
        return [2.0**power for power in (placed if len(placed) > 1 else powers[::every])]
    decades = range(math.floor(low), math.ceil(high) + 1)
    parts: tuple[float, ...] = (1.0,) if high - low >= 2 else (1.0, 2.0, 5.0)
    if high - low < 0.4:
        parts = tuple(n / 10 for n in range(10, 100))
    places = [part * 10.0**d for d in decades for part in parts if low - 1e-9 <= d + math.log10(part) <= high + 1e-9]
    return places[:: max(1, math.ceil(len(places) / most))]


def _scaled(values: Values, log: bool) -> Values:
    return np.log10(np.maximum(values, 1e-300)) if log else values


def _span(values: Values, log: bool, air: float) -> Range:
    """The bounds of the values, or of log10 of them with `log`, with a margin."""
    values = values[np.isfinite(values) & ((values > 0) | (not log))]
    if not len(values):
        values = np.array([1.0])
    low, high = (float(v) for v in _scaled(np.array([values.min(), values.max()]), log))
    if high - low < 1e-9 * max(abs(high), 1e-12):
        room = 0.5 if log else abs(high) * 0.5 or 1.0
        return low - room, high + room
    return low - air * (high - low), high + air * (high - low)
