"""Labels on a graph's edges, in one text size at every zoom; labels without room are dropped, the least important
first."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from workbench.pictures.canvas import Canvas
from workbench.pictures.graph_text import LEAST_PX
from workbench.pictures.layout import Box, GraphLayout, RoutedEdge

LINE_PX, GAUGE_PX = 14.0, 9.0
ALONE_PX = 12.0  # font size of a single line
MOST_LABELS = 120  # with more edges, labels could not be distinguished
_SPACE_PX = 7.0  # between the words of a line
_AIR_PX = 4.0  # beside them
_MARK_PX = 3.0  # around a node: its ring, or the tiles behind it
_OFF_PX = 2.0  # between a line and words over or under it
_HEAD_HIGH = 28.0  # of a frame's title, in units of the layout

Words = tuple[str, str, int]  # text, ink and weight


@dataclass(frozen=True)
class LabelForm:
    """One form of a label: lines of text, which interrupt the edge's line. If `astride`, the first line is above the
    edge, the others below it under a `gauge`: a share of 1 and its colour."""

    lines: tuple[tuple[Words, ...], ...]
    astride: bool = False
    gauge: tuple[float, str] | None = None

    @property
    def height(self) -> float:
        if len(self.lines) == 1 and not self.astride:
            return ALONE_PX
        return LINE_PX * len(self.lines) + (GAUGE_PX if self.gauge else 0.0) + 2 * _OFF_PX * self.astride


@dataclass(frozen=True)
class EdgeLabel:
    """The `forms` of a label, the richest first. Labels of least `importance` are dropped first if there is no room."""

    forms: tuple[LabelForm, ...]
    importance: tuple[float, ...] = ()


@dataclass(frozen=True)
class PlacedLabel:
    """A label's form and its box in pixels; `on_line` says whether it interrupts its edge's line."""

    edge: RoutedEdge
    form: LabelForm
    box: Box
    on_line: bool


def block_label(edge: RoutedEdge) -> EdgeLabel:
    """The label of a block graph's edge: counts, sizes, messages and times; then shorter forms."""
    amounts, details = (edge.label, "text", 600), (edge.detail, "second" if edge.label else "text", 400)
    lines = [words for words in (amounts, details) if words[0]]
    names = (edge.detail or edge.label).partition(", ")[0]
    count = "".join(edge.label.partition(" ×")[:2])
    whole_name, *tails = name_tails(names)
    short = [edge.label, whole_name, count, *tails]
    forms = [LabelForm((tuple(lines),)), LabelForm(tuple((words,) for words in lines))] if lines else []
    forms += [LabelForm((((words, "text", 400),),)) for words in short if words]
    return EdgeLabel(tuple(dict.fromkeys(forms)), (edge.time_s, sum(each.count or 0 for each in edge.edges)))


def draw_block_labels(canvas: Canvas, layout: GraphLayout, badges: Sequence[Box] = (), scale: float = 1.0) -> None:
    """Draw the labels of a block graph that is drawn at a scale."""
    labels = list(map(block_label, layout.edges))
    draw_edge_labels(canvas, layout, placed_labels(canvas, layout, labels, scale, badges=badges), scale)


def name_tails(name: str) -> list[str]:
    """A dotted name in full, then without more and more of its first parts; another text unchanged."""
    parts = name.split(".") if " " not in name else [name]
    return ["…" + ".".join(parts[first:]) if first else name for first in range(len(parts))]


def draw_edge_labels(canvas: Canvas, layout: GraphLayout, placed: Sequence[PlacedLabel], scale: float = 1.0) -> None:
    """Draw the labels of a graph drawn at a scale."""
    for label in placed:
        inside = any(_scaled(frame.box, scale).holds(label.box.centre) for frame in layout.frames)
        _draw(canvas, label, "sunken" if inside else "window")


def placed_labels(
    canvas: Canvas, layout: GraphLayout, labels: Sequence[EdgeLabel], scale: float = 1.0, seen: Box | None = None,
    badges: Sequence[Box] = (),
) -> list[PlacedLabel]:  # fmt: skip
    """The placed labels of a layout's edges, at most one for each, at a scale; only those within `seen` (pixels), if
    given. Labels are placed in their shortest form, the most important first, and then extended to the richest form
    that fits: without touching a node, one of the `badges` (pixels), another edge or another label."""
    room = _Room(layout, scale, seen, badges)
    order = sorted(room.visible, key=lambda n: tuple(-part for part in labels[n].importance))[:MOST_LABELS]
    placed: dict[int, PlacedLabel] = {}
    for shortest in (True, False):
        for number in order if shortest else list(placed):
            forms = labels[number].forms
            for form in forms[-1:] if shortest else forms[:-1]:
                wide = max(_wide(canvas, line) for line in form.lines) + 2 * _AIR_PX
                if place := room.place(number, form, wide):
                    placed[number] = PlacedLabel(layout.edges[number], form, *place)
                    break
    return list(placed.values())


def _wide(canvas: Canvas, line: Sequence[Words]) -> float:
    widths = [canvas.width_of(words, LEAST_PX, weight) for words, _, weight in line]
    return sum(widths) + _SPACE_PX * (len(widths) - 1)


class _Room:
    """The obstacles for labels: nodes, frames' titles, edges, and placed labels."""

    def __init__(self, layout: GraphLayout, scale: float, seen: Box | None, badges: Sequence[Box]) -> None:
        self._edges, self._scale = layout.edges, scale
        heads = [Box(frame.box.x, frame.box.y, frame.box.width, _HEAD_HIGH) for frame in layout.frames]
        around = (-_MARK_PX, -_MARK_PX, _MARK_PX, _MARK_PX)
        nodes = np.concatenate([layout.node_corners * scale + around, _corners(heads) * scale, _corners(badges)])
        lines = layout.run_corners * scale + (-1, -1, 1, 1)
        owner = layout.run_owners
        shown = _touched(lines, seen) if seen else np.ones(len(lines), bool)
        across = (lines[:, 3] - lines[:, 1] < 2.01) & (lines[:, 2] - lines[:, 0] > 2 * _AIR_PX)
        self.visible: list[int] = np.unique(owner[shown & across]).tolist()
        nodes = nodes[_touched(nodes, seen)] if seen else nodes
        self._taken = np.concatenate([nodes, lines[shown]])
        self._owner = np.concatenate([np.full(len(nodes), -1), owner[shown]])
        self._labels: dict[int, Box] = {}
        self._right = max((frame.box.right for frame in layout.frames), default=layout.width) * scale

    def place(self, number: int, form: LabelForm, wide: float) -> tuple[Box, bool] | None:
        """The first free place for a form, which is then reserved for its edge; and whether the line runs through
        it."""
        own_lines = (self._owner == number) & (self._taken[:, 3] - self._taken[:, 1] < 2.01)
        labels = [box for other, box in self._labels.items() if other != number]
        for box, on_line in self._places(self._edges[number], form, wide):
            touched = _touched(self._taken, box)
            outside = not form.astride and (box.x < 0 or box.right > self._right)
            if (
                outside
                or any(map(box.overlaps, labels))
                or (touched & ~own_lines if on_line or form.astride else touched).any()
            ):
                continue
            self._labels[number] = box
            return box, on_line
        return None

    def _places(self, edge: RoutedEdge, form: LabelForm, wide: float) -> Iterator[tuple[Box, bool]]:
        """The possible places of a label, the best first: at the edge's own place, on its lines, over its longest one,
        under it."""
        scale, high = self._scale, form.height
        points = [(x * scale, y * scale) for x, y in edge.points]
        runs = [(min(x0, x1), max(x0, x1), y0) for (x0, y0), (x1, y1) in pairwise(points) if y0 == y1 and x0 != x1]
        runs.sort(key=lambda run: run[0] - run[1])
        own_centre = _scaled(edge.label_box, scale).centre
        up = LINE_PX + _OFF_PX if form.astride else high / 2
        for left, right, y in runs:
            if right - left < wide + 2 * _AIR_PX:
                break
            middle = own_centre[0] if abs(own_centre[1] - y) < 1 else (left + right) / 2
            middle = min(max(middle, left + _AIR_PX + wide / 2), right - _AIR_PX - wide / 2)
            aside = (left + _AIR_PX, right - _AIR_PX - wide) if right - left > 2 * wide else ()
            for x in (middle - wide / 2, *aside):
                yield Box(x, y - up, wide, high), not form.astride
        for left, right, y in runs[:1] if len(form.lines) == 1 and not form.astride else ():
            for x in ((left + right - wide) / 2, left + _AIR_PX, right - _AIR_PX - wide):
                yield Box(x, y - high - _OFF_PX, wide, high), False
                yield Box(x, y + _OFF_PX, wide, high), False


def _corners(boxes: Sequence[Box]) -> NDArray[np.float64]:
    return np.array([(box.x, box.y, box.right, box.bottom) for box in boxes], float).reshape(-1, 4)


def _touched(boxes: NDArray[np.float64], box: Box) -> NDArray[np.bool_]:
    left, top, right, bottom = boxes.T
    return (left < box.right) & (box.x < right) & (top < box.bottom) & (box.y < bottom)


def _scaled(box: Box, scale: float) -> Box:
    return Box(box.x * scale, box.y * scale, box.width * scale, box.height * scale)


def _draw(canvas: Canvas, placed: PlacedLabel, ground: str) -> None:
    box, form = placed.box, placed.form
    if placed.on_line:
        canvas.rect(box.x, box.y, box.width, box.height, ground)
    y = box.y - (LINE_PX - ALONE_PX) / 2 * (form.height == ALONE_PX)
    for number, line in enumerate(form.lines):
        if number == 1:
            y += _gauge(canvas, form, box, y)
        x = box.centre[0] - _wide(canvas, line) / 2
        for words, ink, weight in line:
            canvas.write(x, y + LINE_PX / 2, words, ink, LEAST_PX, weight)
            x += canvas.width_of(words, LEAST_PX, weight) + _SPACE_PX
        y += LINE_PX
    if len(form.lines) == 1:
        _gauge(canvas, form, box, y)


def _gauge(canvas: Canvas, form: LabelForm, box: Box, y: float) -> float:
    """Draw the gauge between a label's first line and the others; returns its height."""
    space = 2 * _OFF_PX * form.astride
    if form.gauge is None:
        return space
    share, ink = form.gauge
    left, wide = box.x + _AIR_PX, box.width - 2 * _AIR_PX
    canvas.rect(left, y + space, wide, 7, "panel", "edge", radius=1)
    if share > 0:
        canvas.rect(left + 1, y + space + 1, max((wide - 2) * min(share, 1.0), 1.0), 5, ink)
    return space + GAUGE_PX
