"""Arrows from the causes of waits to the blocks that waited."""

import numpy as np

from workbench.pictures.canvas import Canvas
from workbench.pictures.timeline.causes import real_cause
from workbench.pictures.timeline.path import middles
from workbench.pictures.timeline.rows import Kind
from workbench.pictures.timeline.shown import VisiblePart
from workbench.traces.path import Cause, RunPath

#: A wait narrower than this has no arrow, and with more in view none is drawn: they would hide the rows.
LEAST_WAIT_PX, MOST_ARROWS = 10.0, 160
_TIP_PX = 6.0

Arrow = tuple[Cause, int, int]  # the cause, the waiting block, and the end of its wait


def arrows(shown: VisiblePart) -> tuple[list[Arrow], int]:
    """The arrows of the visible waits that are wide enough, none if they are too many; and their number."""
    path = shown.path
    if path is None:
        return [], 0
    blocks = [row.block for row, _ in shown.row_boxes() if row.kind is Kind.STATES and row.block in path.parts]
    wide_waits: list[Arrow] = []
    count = 0
    for block in blocks:
        count += _add_of_block(path, block, shown, wide_waits)
    return (wide_waits if count <= MOST_ARROWS else []), count


def _add_of_block(path: RunPath, block: int, shown: VisiblePart, found: list[Arrow]) -> int:
    """Add a block's waits that are wide enough, up to a limit; returns their number."""
    parts, span = path.parts[block], shown.span
    view = parts.between(span.from_ps, span.to_ps)
    view = range(view.start, min(view.stop + 1, len(parts)))  # the wait before the next one is visible too
    begin, end = parts.begin_ps[view.start : view.stop], parts.end_ps[view.start : view.stop]
    if not len(begin):
        return 0
    if block in path.hosts:
        lengths, ends = end - begin, end
    else:
        before = np.append(parts.end_ps[max(view.start - 1, 0)] if view.start else 0, end[:-1])
        lengths, ends = begin - before, begin
    wide = np.flatnonzero((lengths >= LEAST_WAIT_PX * span.pixel_ps) & (ends > span.from_ps))
    blocks = parts.causes.block[view.start + wide]
    wide = wide[(blocks >= 0) & (parts.causes.bus[view.start + wide] | (blocks != block))]
    for at in wide[:MOST_ARROWS].tolist():
        found.append((parts.causes.at(view.start + at), block, int(ends[at])))
    return len(wide)


def draw_waits(canvas: Canvas, shown: VisiblePart) -> None:
    """Draw every visible arrow, if requested, and that of the chosen wait in any case."""
    path, chosen = shown.path, shown.chosen
    if path is None:
        return
    places = middles(shown)
    if shown.show_waits:
        for arrow in arrows(shown)[0]:
            _draw(canvas, shown, places, arrow, "text/0.75", 1.2)
    if chosen is not None and chosen.kind in (Kind.STATES, Kind.CALLS):
        cause, part = real_cause(path, chosen.block, chosen.to_ps - 1), path.part_at(chosen.block, chosen.to_ps - 1)
        if cause is not None and part is not None:
            parts = path.parts[chosen.block]
            went_on_ps = int((parts.end_ps if chosen.block in path.hosts else parts.begin_ps)[part])
            _draw(canvas, shown, places, (cause, chosen.block, went_on_ps), "accent", 2.0)


def _draw(
    canvas: Canvas, shown: VisiblePart, places: dict[tuple[str, int], float], arrow: Arrow, ink: str, line: float
) -> None:  # fmt: skip
    cause, block, went_on_ps = arrow
    y0 = places.get(("bus", 0)) if cause.bus else places.get(("block", cause.block))
    y1 = places.get(("block", block))
    if y0 is None or y1 is None or y0 == y1:
        return
    x0, x1 = shown.x(cause.time_ps), shown.x(went_on_ps)
    length = float(np.hypot(x1 - x0, y1 - y0))
    along, aside = ((x1 - x0) / length, (y1 - y0) / length), 3.2
    base = (x1 - along[0] * _TIP_PX, y1 - along[1] * _TIP_PX)
    canvas.path([(x0, y0), base], ink, line)
    canvas.disc(x0, y0, 2.0, ink)
    tip = [(x1, y1), *((base[0] + s * along[1] * aside, base[1] - s * along[0] * aside) for s in (1, -1))]
    canvas.shape(tip, ink)
