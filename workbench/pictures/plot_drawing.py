"""Draws plots: axes, lines with bands and names, labelled spots that do not overlap, handles."""

from collections.abc import Iterator, Sequence
from dataclasses import replace

import numpy as np

from workbench.model.pragma import UNCLASSIFIED
from workbench.model.text import listed, trimmed
from workbench.pictures.canvas import CENTRE, RIGHT, Canvas
from workbench.pictures.layout_sizes import Box
from workbench.pictures.palette import LIGHT, Palette
from workbench.pictures.plot import Line, Mark, Plot, Spot, Values, View, fitting, kinds_of, plot_box, ticks
from workbench.pictures.svg import SvgCanvas

DASHES = (4.0, 2.0)
#: The dashes and markers (as corners in radii) that distinguish lines beside their colours, by kind.
PATTERNS = ((), (8.0, 2.0), (1.5, 1.5), (7.0, 2.0, 1.5, 2.0), (7.0, 2.0, 1.5, 2.0, 1.5, 2.0))
MARKERS: tuple[tuple[tuple[float, float], ...], ...] = (
    (),  # a disc
    ((-0.9, -0.9), (0.9, -0.9), (0.9, 0.9), (-0.9, 0.9)),
    ((0.0, -1.3), (1.3, 0.0), (0.0, 1.3), (-1.3, 0.0)),
    ((0.0, -1.2), (1.15, 0.9), (-1.15, 0.9)),
    ((0.0, 1.2), (1.15, -0.9), (-1.15, -0.9)),
)
MOST_OF_PLOT = 0.25  # that a legend may take where it is over lines
SAMPLE_PX = 30.0  # the length of a line in a legend, its whole pattern
DOT_PX, FILLED_PX, GAP_PX = 3.5, 5.0, 4.0
STACKED_OPACITY = 0.55
_FAINT = (f"state:{UNCLASSIFIED}",)  # too faint for a name


def plot_svg(plot: Plot, title: str, width: float = 560, height: float = 300, palette: Palette = LIGHT) -> str:
    """The whole plot as an SVG document."""
    canvas = SvgCanvas(palette)
    canvas.rect(0, 0, width, height, "panel")
    draw_plot(canvas, plot, fitting(plot, plot_box(plot, width, height)), width)
    return canvas.document(width, height, title)


def draw_plot(canvas: Canvas, plot: Plot, view: View, width: float, *, ringed: tuple[int, int] | None = None) -> None:
    """Draw axes, lines, names, spots and marks in a picture of this width; a ring around the point `ringed`."""
    box = view.box
    canvas.rect(box.x, box.y, box.width, box.height, "sunken")
    if plot.span:
        _draw_span(canvas, plot, view)
    if not (plot.lines or plot.spots or plot.marks):
        return  # nothing is known yet: numbers along the axes would be made up
    used_boxes = _draw_axes(canvas, plot, view, width)
    with canvas.clipped(box.x - 6, box.y - 6, box.width + 12, box.height + 12):
        for line in plot.lines:
            if line.band:
                low, high = line.band
                outline = np.concatenate([view.places(line.x, high), view.places(line.x[::-1], low[::-1])])
                canvas.shape(outline.tolist(), f"{line.ink}/{STACKED_OPACITY if line.stacked else 0.2}")
        for number, (line, kind) in enumerate(zip(plot.lines, kinds_of(plot.lines), strict=True)):
            _draw_line(canvas, line, kind, view, ringed[1] if ringed and ringed[0] == number else -1)
    if not (plot.legend and _draw_legend(canvas, plot, view)):
        used_boxes += _draw_names(canvas, [line for line in plot.lines if not line.stacked], view, used_boxes)
        _draw_stack_names(canvas, [line for line in plot.lines if line.stacked], view)
    _draw_spots(canvas, plot, view, used_boxes)
    _draw_marks(canvas, plot, view, width)


def _draw_span(canvas: Canvas, plot: Plot, view: View) -> None:
    assert plot.span
    left, right = (min(max(view.place(x, 1)[0], view.box.x), view.box.right) for x in plot.span)
    canvas.rect(left, view.box.y, right - left, view.box.height, "good_ground")


def _draw_axes(canvas: Canvas, plot: Plot, view: View, width: float) -> list[Box]:
    """Draw the axes; returns the boxes of texts within the plot: that of the span."""
    box = view.box
    last = -100.0
    ends = (view.value(x, box.y)[0] for x in (box.x, box.right))
    apart = min(max(canvas.width_of(trimmed(plot.x.text(end)), 11) for end in ends) + 36, 84.0)
    for value in ticks(*view.x, plot.x, max(int(box.width / apart), 2)):
        x = round(view.place(value, 1)[0]) + 0.5
        canvas.path([(x, box.y), (x, box.bottom)], "rule")
        words = trimmed(plot.x.text(value))
        wide = canvas.width_of(words, 11)
        left = min(x - wide / 2, width - wide - 1)
        if left > last:
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
    named = any(line.name == plot.y.title for line in plot.lines)  # a line says what its values are
    axes_title = f"{plot.y.title} by {plot.x.title}" if plot.y.title and not named else plot.x.title
    title = axes_title + (f"; right: {plot.right.title}" if plot.right else "")
    canvas.text(box.x, box.bottom + 21, box.width, 16, title, "muted", 11, 400, CENTRE)
    if not plot.span or not plot.span_name:
        return []
    left, right = (min(max(view.place(x, 1)[0], box.x), box.right) for x in plot.span)
    wide = canvas.width_of(plot.span_name, 11, 500) + 8
    name = Box(min((left + right - wide) / 2, box.right - wide - 2), box.bottom - 24, wide, 16)
    canvas.rect(name.x, name.y, wide, 16, "good_ground")
    canvas.write(name.x + 4, box.bottom - 16, plot.span_name, "good", 11, 500)
    return [name]


def _dashes_of(line: Line, kind: int) -> tuple[float, ...]:
    """The dash pattern of a line's kind; from the sixth line on, colours and patterns combine differently."""
    if line.dashed or line.stacked:
        return DASHES if line.dashed else ()
    return PATTERNS[(kind + kind // len(PATTERNS)) % len(PATTERNS)]


def draw_marker(canvas: Canvas, kind: int, x: float, y: float, radius: float, fill: str, edge: str) -> None:
    """Draw a line's point: a disc, a square, a diamond or a triangle, by the line's kind."""
    if corners := MARKERS[(kind + kind // len(MARKERS)) % len(MARKERS)]:
        canvas.shape([(x + radius * dx, y + radius * dy) for dx, dy in corners], fill, edge, 1.5)
    else:
        canvas.disc(x, y, radius, fill, edge, 1.5)


def _draw_line(canvas: Canvas, line: Line, kind: int, view: View, ringed: int) -> None:
    places = view.places(line.x, line.y)
    finite = np.isfinite(line.y)
    if line.joined and finite.sum() > 1:
        canvas.path(places[finite].tolist(), line.ink, 2, _dashes_of(line, kind))
    for number, (x, y) in enumerate(places.tolist() if line.points else ()):
        if not finite[number]:
            continue
        wrong = number == line.wrong
        solid = wrong or (number < len(line.filled) and line.filled[number])
        ink, radius = "high" if wrong else line.ink, FILLED_PX if solid else DOT_PX
        draw_marker(canvas, kind, x, y, radius, ink if solid else "panel", ink)
        if number == ringed:
            canvas.disc(x, y, radius + 4, "", "accent", 2)


def _draw_names(canvas: Canvas, lines: Sequence[Line], view: View, taken: Sequence[Box]) -> list[Box]:
    """Draw the names beside the lines' ends, away from lines and other texts; from the top. Returns their boxes."""
    names: list[Box] = []
    box, paths = view.box, _paths(lines, view)
    for line in sorted((line for line in lines if line.name and len(line.x)), key=lambda line: -float(line.y[-1])):
        wide = min(canvas.width_of(line.name, 11, 600) + 4, box.width - 30)
        beside = _beside(_path(line, view), wide, box, line.named_at_start)
        places = [place for place in beside if _free(place, box, [*taken, *names])]
        places = places or [Box(box.x + 2, box.y + 2 + 16 * len(names), wide, 15)]
        name = next((place for place in places if not _crossed(place, paths)), places[0])
        if name.bottom > box.bottom:
            continue  # no room: the tooltip of a point names the line
        names.append(name)
        canvas.rect(name.x, name.y, wide, 15, "sunken/0.8" if _crossed(name, paths) else "sunken")  # no rule through it
        ink = "link" if line.ink == "accent" else "second" if line.dashed or line.ink in _FAINT else line.ink
        canvas.text(name.x, name.y, wide, 15, line.name, ink, 11, 600, RIGHT)
    return names


def _draw_stack_names(canvas: Canvas, lines: Sequence[Line], view: View) -> None:
    """Draw each name in its band, at the highest part, if there is room for a line of text."""
    for line in lines:
        assert line.band
        low, high = (view.places(line.x, edge) for edge in line.band)
        across = np.linspace(view.box.x, view.box.right, 41)
        foot, top = (np.interp(across, edge[:, 0], edge[:, 1]) for edge in (low, high))
        wide = min(canvas.width_of(line.name, 11, 600) + 8, view.box.width)
        count = int(np.ceil(wide / (across[1] - across[0]))) + 1
        starts = range(len(across) - count + 1)
        room = [float(foot[n : n + count].min() - top[n : n + count].max()) for n in starts]
        best = int(np.argmax(room)) if room else 0
        if room and room[best] >= 14:
            middle = float(foot[best : best + count].min() + top[best : best + count].max()) / 2
            canvas.rect(across[best] + 2, middle - 7.5, wide, 15, "sunken/0.8", radius=3)
            canvas.write(across[best] + 6, middle, line.name, "text", 11, 600)


def _path(line: Line, view: View) -> Values:
    """The positions (n, 2) of a line's points with a value, from the left."""
    places = view.places(line.x, line.y)
    places = places[np.isfinite(line.y)]
    return places[np.argsort(places[:, 0], kind="stable")]


def _paths(lines: Sequence[Line], view: View) -> list[Values]:
    return [path for line in lines if len(path := _path(line, view))]


def _beside(path: Values, wide: float, box: Box, from_start: bool) -> Iterator[Box]:
    """The possible places of a name: over and under its line, near its end first."""
    if not len(path):
        return
    left = max(float(path[0, 0]), box.x) + 8 if from_start else min(float(path[-1, 0]), box.right) - wide - 4
    while box.x <= left <= box.right - wide:
        under = np.interp(np.linspace(left, left + wide, 9), path[:, 0], path[:, 1])
        yield Box(left, float(under.min()) - 19, wide, 15)
        yield Box(left, float(under.max()) + 4, wide, 15)
        left += 16 if from_start else -16


def _crossed(place: Box, paths: Sequence[Values]) -> int:
    """The number of lines that cross a box."""
    across, count = np.linspace(place.x, place.right, 9), 0
    for path in paths:
        beside = (across >= path[0, 0]) & (across <= path[-1, 0])
        heights = np.interp(across[beside], path[:, 0], path[:, 1])
        count += bool(((heights > place.y - 1) & (heights < place.bottom + 1)).any())
    return count


def _free(name: Box, box: Box, taken: Sequence[Box]) -> bool:
    return box.y <= name.y and name.bottom <= box.bottom - 4 and not any(name.overlaps(other) for other in taken)


def _draw_legend(canvas: Canvas, plot: Plot, view: View) -> bool:
    """Draw the legend in the corner with the fewest lines; not where it would hide them in a small plot."""
    rows: list[tuple[Line, int, str, bool]] = []
    for line, kind in zip(plot.lines, kinds_of(plot.lines), strict=True):
        if line.name and line.points and any(line.filled):
            rows.append((line, kind, f"{line.name}, with a source", True))
            rows.append((line, kind, f"{line.name}, interpolated", False))
        elif line.name:
            rows.append((line, kind, line.name, False))
    sample = SAMPLE_PX if any(line.joined for line, *_ in rows) else 16.0
    box, wide = view.box, max((canvas.width_of(words, 12) for *_, words, _ in rows), default=0.0) + sample + 14
    high = 20.0 * len(rows)
    foot = box.bottom - high - (28 if plot.span_name else 6)
    right = box.right - wide - 8
    corners = [Box(x, y, wide, high) for y in (box.y + 5, foot) for x in (box.x + 8, right)]
    paths = _paths(plot.lines, view)
    place = min(corners, key=lambda corner: _crossed(corner, paths))
    if wide * high > MOST_OF_PLOT * box.width * box.height and _crossed(place, paths):
        return False
    for number, (line, kind, words, solid) in enumerate(rows):
        x, y = place.x, place.y + 9 + 20 * number
        canvas.rect(x, y - 9, canvas.width_of(words, 12) + sample + 14, 18, "sunken/0.8")  # over the lines
        if line.joined:
            canvas.path([(x + 2, y), (x + 2 + sample, y)], line.ink, 2, _dashes_of(line, kind))
        if line.points:
            radius, fill = FILLED_PX if solid else DOT_PX, line.ink if solid else "panel"
            draw_marker(canvas, kind, x + 2 + sample / 2, y, radius, fill, line.ink)
        canvas.write(x + sample + 10, y, words, "second", 12, 400)
    return True


def _draw_spots(canvas: Canvas, plot: Plot, view: View, taken: list[Box]) -> None:
    """Draw the spots, the weakest first, each with its label if one fits beside `taken`; spots at one position share a
    label."""
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
    joined = [_joined(group) for group in groups.values()]
    paths = _paths(plot.lines, view)
    for spot in sorted(joined, key=lambda s: not s.strong):
        _draw_spot_label(canvas, spot, view, taken, paths)


def _joined(spots: Sequence[Spot]) -> Spot:
    """One spot for all at one position: the strong one with its label, or one with all their names."""
    strong = next((s for s in spots if s.strong), None)
    if strong:
        return replace(strong, label=f"{strong.label} {strong.detail}".rstrip())
    return replace(spots[0], label=listed(list(dict.fromkeys(s.label for s in spots))))


def _draw_spot_label(canvas: Canvas, spot: Spot, view: View, taken: list[Box], paths: Sequence[Values]) -> None:
    """Draw a spot's label where it fits and crosses the fewest lines."""
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
        places = [places[1], places[3], (14, 12), places[4], (-wide / 2, 14), places[0], (14, -high - 12)]
    boxes = [Box(x + dx, y + dy, wide, high) for dx, dy in places]
    free = [box for box in boxes if _inside(box, view.box) and _is_apart(box, taken)]
    if free:
        box = min(free, key=lambda one: _crossed(one, paths))
    elif spot.strong:
        held = [replace(one, x=min(max(one.x, view.box.x + 2), view.box.right - wide)) for one in boxes[::-1]]
        heights = np.arange(view.box.y + 2, view.box.bottom - high, 6).tolist()
        rows = [replace(one, y=at) for at in sorted(heights, key=lambda at: abs(at - y)) for one in held[:2]]
        within = [one for one in (*held, *rows) if _inside(one, view.box)]
        box = next((one for one in within if _is_apart(one, taken)), (within or held)[0])
    else:
        return  # no room: the tooltip names it
    taken.append(box)
    if not spot.strong and _crossed(box, paths):
        canvas.rect(box.x, box.y, wide, high, "sunken/0.8")
    if spot.strong:
        canvas.rect(box.x + 0.5, box.y + 0.5, wide - 1, high - 1, "panel", "accent", radius=4)
    canvas.write(box.centre[0], box.centre[1], spot.label, "link" if spot.strong else "text", 11, weight, CENTRE)


def _is_apart(box: Box, taken: Sequence[Box]) -> bool:
    """Whether a label leaves a gap to every other text."""
    around = Box(box.x - GAP_PX, box.y, box.width + 2 * GAP_PX, box.height)
    return not any(around.overlaps(other) for other in taken)


def _inside(box: Box, room: Box) -> bool:
    return box.x >= room.x - 2 and box.right <= room.right + 8 and box.y >= room.y - 2 and box.bottom <= room.bottom + 2


def _draw_marks(canvas: Canvas, plot: Plot, view: View, width: float) -> None:
    """Draw the handles from the left, with their names above, or beside them if those would overlap."""
    box, placed = view.box, []
    for mark in sorted(plot.marks, key=lambda m: m.x):
        x, y = view.place(mark.x, mark.y, on_right=plot.right is not None)
        if not box.x - 1 <= x <= box.right + 1:
            continue
        canvas.path([(x, box.y), (x, box.bottom)], mark.ink, 2 if mark.strong else 1.2, DASHES)
        if box.y - 6 <= y <= box.bottom + 6:
            canvas.disc(x, y, 6, mark.ink, "panel", 1.2)
        placed.append((mark, x))
    most, limit = (width - box.x) / max(len(placed), 1) - 8, width - 2
    names: list[tuple[Mark, float, float]] = []
    right = box.x
    for mark, x in placed:
        wide = min(canvas.width_of(mark.name, 11, 600) + 4, most)
        names.append((mark, max(x - wide / 2, right), wide))
        right = names[-1][1] + wide + 8
    for mark, left, wide in reversed(names):
        left = min(left, limit - wide)
        canvas.text(left, 4, wide, 16, mark.name, mark.ink, 11, 600, CENTRE)
        limit = left - 8


def draw_tag(canvas: Canvas, box: Box, x: float, y: float, words: str, strong: bool = False) -> None:
    """Draw a highlighted point with its label in a frame within the box; a strong one has a ring."""
    canvas.disc(x, y, 5, "accent", "panel", 1.2)
    if strong:
        canvas.disc(x, y, 8.5, "", "accent", 1.6)
    if words:
        wide = canvas.width_of(words, 11, 600) + 14
        middle = y - 22 if y - 34 > box.y else y + 22
        left = min(max(x - wide / 2, box.x + 2), box.right - wide - 2)
        canvas.rect(left + 0.5, middle - 9, wide - 1, 18, "panel", "accent", radius=4)
        canvas.write(left + wide / 2, middle, words, "link", 11, 600, CENTRE)
