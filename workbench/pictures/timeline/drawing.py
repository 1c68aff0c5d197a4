"""Draws a whole timeline: overview and ruler, names, bars and calls, messages, markers."""

from collections.abc import Callable, Collection, Iterable

import numpy as np

from workbench.model.run import PS_PER_S
from workbench.model.text import time_text
from workbench.pictures.canvas import CENTRE, LEAST_CHARACTERS, RIGHT, Canvas
from workbench.pictures.graph_text import shortened
from workbench.pictures.layout_sizes import Box
from workbench.pictures.palette import LIGHT, Palette
from workbench.pictures.svg import SvgCanvas
from workbench.pictures.timeline.calls import draw_calls
from workbench.pictures.timeline.hits import messages_of
from workbench.pictures.timeline.kept import DrawingCache, Pin, strip_box
from workbench.pictures.timeline.marks import draw_markers, draw_marks
from workbench.pictures.timeline.path import draw_path, draw_slack, slack_words
from workbench.pictures.timeline.rows import NAMED_FROM_PX, SUNKEN, Kind, Row
from workbench.pictures.timeline.scale import LEAST_PIXEL_PS, Span, ruler
from workbench.pictures.timeline.shown import (
    FOOT_PX,
    OVERVIEW_PX,
    PINNED_GAP_PX,
    RULER_PX,
    SLACK_PX,
    Band,
    VisiblePart,
    lanes_box,
    rows_of,
    tops_of,
)
from workbench.pictures.timeline.surface import Surface
from workbench.pictures.timeline.waits import draw_waits
from workbench.traces.clocks import exact_words, unsure_ps
from workbench.traces.markers import Marker
from workbench.traces.path import RunPath
from workbench.traces.sample import Counts
from workbench.traces.scene import Scene
from workbench.traces.trace import CATEGORIES

SVG_PX, SVG_DENSITY = 1400, 2
RARE_PX = 6  # of a mark at the overview's foot, for a rare wait


def draw_timeline(
    canvas: Canvas,
    shown: VisiblePart,
    kept: DrawingCache,
    density: int,
    names: Callable[[Canvas, VisiblePart], None] | None = None,
) -> None:
    """Draw the timeline from the origin. Bars have `density` pixels for a unit; `names` draws their names from a
    copy."""
    lanes = shown.lanes
    canvas.rect(0, 0, shown.width, lanes.y, "panel")  # all else is covered, and a complete fill takes milliseconds
    for band in shown.bands[1:]:
        canvas.rect(lanes.x, band.box.bottom, lanes.width, PINNED_GAP_PX, "rule")
    _draw_overview(canvas, shown, kept, density)
    ticks = _draw_ruler(canvas, shown)
    for band in shown.bands:
        _draw_band(canvas, shown, band, kept, density, ticks)
    with canvas.clipped(lanes.x, lanes.y, lanes.width, lanes.height):
        draw_waits(canvas, shown)
        if shown.path and shown.show_path:
            draw_path(canvas, shown)
    (names or draw_names)(canvas, shown)
    _line(canvas, lanes.x - 1, 0, lanes.x - 1, shown.height)
    if shown.show_messages and shown.chosen:
        _draw_messages(canvas, shown)
    if shown.show_marks:
        draw_markers(canvas, shown)
        draw_marks(canvas, shown)
    for y in (OVERVIEW_PX - 1, OVERVIEW_PX + RULER_PX - 1):
        _line(canvas, 0, y, shown.width, y)


def _draw_band(
    canvas: Canvas, shown: VisiblePart, band: Band, kept: DrawingCache, density: int, ticks: Iterable[float]
) -> None:
    box, surface = band.box, kept.surface(shown, band, canvas.palette, density)
    with canvas.clipped(box.x, box.y, box.width, box.height):
        canvas.image(box.x, box.y - surface.pad, surface.buffer, density)
        for x in ticks:
            _line(canvas, x, box.y, x, box.bottom, "rule/0.6")
        for row, place in band.row_boxes():
            _draw_lane(canvas, shown, row, place, surface, kept)
            if shown.path and shown.show_path and row.kind is Kind.STATES:
                draw_slack(canvas, shown, row, place)


def timeline_svg(
    scene: Scene, from_ps: int, to_ps: int, palette: Palette = LIGHT, width: int = SVG_PX, *, shares: bool = False,
    path: RunPath | None = None, pinned: Collection[str] = (), markers: tuple[Marker, ...] = (),
) -> str:  # fmt: skip
    """All rows of a scene between two moments, as a document; `pinned` are names of rows that come first."""
    rows = rows_of(scene, shares=shares)
    rows = (*(row for row in rows if row.name in pinned), *(row for row in rows if row.name not in pinned))
    tops = tops_of(rows)
    height = round(lanes_box(width, 0).y) + tops[-1] + FOOT_PX
    wide = round(lanes_box(width, height, slack=path is not None).width)
    span = Span(from_ps, max((to_ps - from_ps) / wide, LEAST_PIXEL_PS), wide)
    canvas = SvgCanvas(palette)
    shown = VisiblePart(
        scene, rows, tops, span, width, height, path=path, show_path=path is not None, show_waits=path is not None,
        markers=markers,
    )  # fmt: skip
    draw_timeline(canvas, shown, DrawingCache(), SVG_DENSITY)
    return canvas.document(width, height, "Timeline")


def _line(canvas: Canvas, x0: float, y0: float, x1: float, y1: float, ink: str = "rule") -> None:
    """A level or upright line of one pixel: as a box, since a line is smoothed, which takes ten times as long."""
    canvas.rect(round(x0), round(y0), max(round(x1) - round(x0), 1), max(round(y1) - round(y0), 1), ink)


# ---- above


def _draw_overview(canvas: Canvas, shown: VisiblePart, kept: DrawingCache, density: int) -> None:
    """Draw the whole run as one strip, with a frame around the visible part."""
    strip, end_ps, span = strip_box(shown), max(shown.scene.index.end_ps, 1), shown.span
    canvas.image(strip.x, strip.y, kept.overview(shown, canvas.palette, density), density)
    for x, code in kept.rare(shown):
        canvas.rect(strip.x + x - 1, strip.bottom - RARE_PX, 2, RARE_PX, f"state:{CATEGORIES[code]}")
    _draw_pins(canvas, strip, kept.pins(shown))
    for marker in shown.markers if shown.show_marks else ():
        canvas.rect(strip.x + marker.time_ps / end_ps * strip.width, strip.y, 1, strip.height, "link")
    x0 = strip.x + span.from_ps / end_ps * strip.width
    x1 = strip.x + min(span.to_ps, end_ps) / end_ps * strip.width
    if x1 - x0 < strip.width - 1:
        canvas.rect(max(x0, strip.x), strip.y - 1, max(x1 - x0, 6), strip.height + 1, "", "text", 2, radius=3)
    room = strip.x - 28
    canvas.text(16, 8, room, 19, "Whole run", "text", 12, 600)
    name = shown.scene.blocks[shown.scene.main].id.removeprefix("host.")
    canvas.text(16, 27, room, 19, f"{time_text(end_ps / PS_PER_S, 4)}, {name}", "second", 12)


def _draw_pins(canvas: Canvas, strip: Box, pins: Iterable[Pin]) -> None:
    for _, words, x, box in pins:
        canvas.rect(x - 1, strip.y, 2, strip.height, "high")
        canvas.shape([(x - 5, strip.y), (x + 5, strip.y), (x, strip.y + 7)], "high")
        if words:
            canvas.rect(box.x + 0.5, box.y + 0.5, box.width - 1, box.height - 1, "panel", "high", radius=4)
            canvas.write(*box.centre, words, "high", 11, 500, CENTRE)


def _draw_ruler(canvas: Canvas, shown: VisiblePart) -> list[float]:
    """Draw ticks with their times, at the left the time that they count from; returns the x of labelled ticks."""
    lanes, span, marks = shown.lanes, shown.span, ruler(shown.span)
    bottom = OVERVIEW_PX + RULER_PX - 1
    canvas.text(16, OVERVIEW_PX, lanes.x - 24, RULER_PX - shown.has_slack * 14, marks.base_text, "second", 12)
    if shown.has_slack:
        for words, right in (("busy", lanes.x - 12 - SLACK_PX), ("slack", lanes.x - 12)):
            canvas.write(right, bottom - 9, words, "muted", 11, 400, RIGHT)
    if span.pixel_ps * 6 < marks.minor_ps:
        first = int(span.from_ps // marks.minor_ps)
        for k in range(first, first + int(span.width * span.pixel_ps / marks.minor_ps) + 2):
            x = shown.x(k * marks.minor_ps)
            if lanes.x <= x <= lanes.right:
                _line(canvas, x, bottom - 5, x, bottom, "edge")
    xs = []
    for time_ps, words in marks.ticks:
        x = shown.x(time_ps)
        if lanes.x <= x < lanes.right:
            xs.append(x)
        _line(canvas, x, bottom - 14, x, bottom, "edge")
        canvas.text(x + 5, bottom - 20, lanes.right - x - 6, 14, words, "second", 11)
    return xs


# ---- at the left


def draw_names(canvas: Canvas, shown: VisiblePart) -> None:
    """Draw the column of names and shares."""
    lanes = shown.lanes
    canvas.rect(0, lanes.y, lanes.x - 1, lanes.height, "panel")
    for band in shown.bands:
        free = band.box.y  # the next free place for a name; low rows have no room for each
        with canvas.clipped(0, band.box.y, lanes.x - 1, band.box.height):
            placed = band.row_boxes()
            for row, box in placed:
                _draw_ground(
                    canvas, row, box, row.kind is Kind.STATES and row.block in shown.chosen_blocks, lanes.x - 1
                )
            for row, box in placed:
                has_name = row.height >= NAMED_FROM_PX or box.y >= free
                free = box.y + NAMED_FROM_PX if has_name else free
                box = _seen(box, band.box)
                if has_name:
                    _draw_name(canvas, row, Box(0, box.y, lanes.x - 1 - shown.has_slack * SLACK_PX, box.height))
                if has_name and shown.path and shown.show_path:
                    words, on_path = slack_words(shown.path, row)
                    weight, ink = (700, "text") if on_path else (400, "second")
                    canvas.write(lanes.x - 12, box.centre[1], words, ink, 12, weight, RIGHT)
                if row in shown.pinned and row.kind is not Kind.STACK:
                    canvas.icon("pin", 13, box.centre[1] - 7, 14, "link")
    for band in shown.bands[1:]:
        canvas.rect(0, band.box.bottom, lanes.x - 1, PINNED_GAP_PX, "rule")


def _seen(row: Box, band: Box) -> Box:
    """The visible part of a row that scrolls, if its name has room there."""
    top, bottom = max(row.y, band.y), min(row.bottom, band.bottom)
    return Box(row.x, top, row.width, bottom - top) if bottom - top >= NAMED_FROM_PX else row


def _draw_ground(canvas: Canvas, row: Row, box: Box, chosen: bool, width: float) -> None:
    ink = "selection" if chosen else "sunken" if row.kind in SUNKEN else "panel"
    canvas.rect(0, box.y, width, box.height, ink)
    if chosen:
        canvas.rect(0, box.y, 3, box.height, "accent")
    if row.kind in (Kind.HEAD, Kind.CLOCK):
        _edges(canvas, Box(0, box.y, width, box.height))


def _draw_name(canvas: Canvas, row: Row, box: Box) -> None:
    y, height = box.y, box.height
    left, right = 34.0, box.right - 12
    if row.kind in (Kind.HEAD, Kind.STACK):
        canvas.icon("chevron-right" if row.folded else "chevron-down", 12, y + height / 2 - 8)
    if row.kind is Kind.HEAD:
        used = canvas.text(left, y, right - left, height, row.label, "text", 13, 600)
        room = right - left - used - 8
        if canvas.width_of(row.note, 12) <= room:  # a part of it says nothing
            canvas.text(left + used + 8, y, room, height, row.note, "second", 12)
    elif row.kind is Kind.CLOCK:
        canvas.icon("clock", 12, y + height / 2 - 8)
        canvas.text(left, y, right - left, height, row.label, "text", 12, 500)
    else:
        y, height = y + min(height - 14, 0) / 2, max(height, 14)  # a low row's name may be higher than the row
        stack = row.kind is Kind.STACK
        room = right - left - (54 if row.note else 0)
        weight = 600 if stack else 400
        used = canvas.text(left, y, room, height, shortened(canvas, row.label, room, 12, weight), "text", 12, weight)
        if stack and canvas.width_of("working") <= room - used - 6:
            canvas.text(left + used + 6, y, room, height, "working", "muted", 12)
        canvas.text(right - 50, y, 50, height, row.note, "second", 12, align=RIGHT, least=1)


def _edges(canvas: Canvas, box: Box) -> None:
    for y in (box.y - 1, box.bottom - 1):
        _line(canvas, box.x, y, box.right, y)


# ---- the lanes


def _draw_lane(canvas: Canvas, shown: VisiblePart, row: Row, box: Box, surface: Surface, kept: DrawingCache) -> None:
    """Draw the contents above a row's bar."""
    left, right = shown.lanes.x, shown.lanes.right
    lane = Box(left, box.y, right - left, box.height)
    if row.kind is Kind.STACK and not shown.moving:
        if most := kept.most_at_work(shown, row):
            _draw_most(canvas, lane, surface.working[row.key], most)
    elif row.kind is Kind.CLOCK:
        _draw_clock(canvas, lane, shown)
    elif row.kind is Kind.CALLS and row.block in shown.scene.calls:
        draw_calls(canvas, shown, lane, shown.scene.calls[row.block])
    if row.kind in (Kind.HEAD, Kind.CLOCK):
        _edges(canvas, lane)
    hit = shown.chosen
    if hit and hit.kind is row.kind and hit.block == (row.members[0] if row.kind is Kind.BUS else row.block):
        x0, x1 = (min(max(shown.x(t), left - 2), right + 2) for t in (hit.from_ps, hit.to_ps))
        top = box.y + (box.height - row.bar) / 2
        canvas.rect(x0, top - 1, max(x1 - x0, 2), row.bar + 2, "", "accent", 2)


def _draw_clock(canvas: Canvas, lane: Box, shown: VisiblePart) -> None:
    """Draw the text on the clocks, with a bar as wide as their uncertainty if that is visible."""
    clock_text, unsure = f"FPGA times: {exact_words(shown.scene.run)}", unsure_ps(shown.scene.run)
    room = lane.width - 24 - 32
    words = next((w for w in (clock_text, clock_text.partition(";")[0]) if canvas.width_of(w, 11, 500) <= room), "")
    words = words or canvas.fitted(clock_text, room, 11, 500, least=LEAST_CHARACTERS)[0]
    ink = "second" if unsure else "good"
    middle, wide = round(lane.centre[1]), canvas.width_of(words, 11, 500) + 16
    canvas.path([(lane.x, middle + 0.5), (lane.right, middle + 0.5)], ink, 1, (4, 2))
    if words:
        canvas.rect(lane.x + 24, middle - 9, wide, 18, "sunken")
        canvas.write(lane.x + 24 + wide / 2, middle, words, ink, 11, 500, CENTRE)
    if (reach := unsure / shown.span.pixel_ps) >= 1:
        left = lane.x + 24 + wide + 12
        canvas.rect(left, middle - 2, min(2 * reach, lane.right - left), 4, ink)


def _draw_most(canvas: Canvas, lane: Box, counts: Counts, most: int) -> None:
    """Draw the largest number of a stack's members at work, in the last gap that has room for it."""
    words = f"at most {most}"
    wide = canvas.width_of(words, 11, 600)
    edges = np.flatnonzero(np.diff(counts == 0, prepend=False, append=False))
    begins, ends = edges[::2], edges[1::2]
    fitting = begins[ends - begins >= wide + 14]
    x = lane.x + (int(fitting[-1]) + 8 if len(fitting) else lane.width - wide - 12)
    if not len(fitting):
        canvas.rect(x, lane.y + 3, wide + 6, lane.height - 6, "sunken")
    canvas.write(x + 3, lane.centre[1], words, "text", 11, 600)


def _draw_messages(canvas: Canvas, shown: VisiblePart) -> None:
    """Draw the messages from sending to receiving rows."""
    lanes = shown.lanes
    middles = {row.block: box.centre[1] for row, box in shown.row_boxes() if row.kind is Kind.STATES}
    assert shown.chosen is not None
    with canvas.clipped(lanes.x, lanes.y, lanes.width, lanes.height):
        for source, sent, target, arrived in messages_of(shown.scene, shown.chosen, 24 * shown.span.pixel_ps):
            if source in middles and target in middles:
                (x0, y0), (x1, y1) = (shown.x(sent), middles[source]), (shown.x(arrived), middles[target])
                tip = 6 if y1 > y0 else -6
                canvas.path([(x0, y0), (x1, y1)], "text", 1.2)
                canvas.shape([(x1, y1), (x1 - 3.5, y1 - tip), (x1 + 3.5, y1 - tip)], "text")
