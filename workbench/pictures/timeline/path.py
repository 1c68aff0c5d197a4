"""The critical path and the slack on a timeline: a line through the rows, and whiskers after work that may end
later."""

from itertools import pairwise

import numpy as np

from workbench.model.run import PS_PER_S
from workbench.model.text import time_text
from workbench.pictures.canvas import Canvas
from workbench.pictures.layout_sizes import Box
from workbench.pictures.timeline.rows import Kind, Row
from workbench.pictures.timeline.shown import VisiblePart
from workbench.traces.path import NO_LIMIT_PS, UNKNOWN_PS, RunPath

LINE_PX, DOT_PX, TIP_PX = 2.0, 3.5, 7.0
#: Steps of the path narrower than this are drawn together.
STEP_PX = 6
#: A gap narrower than this has no whisker.
LEAST_WHISKER_PX = 6.0
_MOST_WHISKERS = 400  # of a row


def draw_path(canvas: Canvas, shown: VisiblePart) -> None:
    """Draw the visible critical path: a line along the row that is on it, with an arrow to the block that waited."""
    path = shown.path
    assert path is not None
    lanes = shown.lanes
    number, edges = _steps_in_view(path, shown)
    if not len(number):
        return
    tops = middles(shown)
    host = next(iter(sorted(path.hosts)), 0)
    of_bus = tops.get(("bus", 0))
    points: list[tuple[float, float]] = []
    for step, (x0, x1) in zip(number.tolist(), pairwise(edges.tolist()), strict=True):
        block = int(path.steps.block[step])
        y = of_bus if path.steps.on_bus[step] else None
        y = y or tops.get(("block", block)) or tops.get(("block", host))
        if y is not None:
            points += [(round(lanes.x + x0), y), (round(lanes.x + x1), y)]
    points = _corners(points)
    with canvas.clipped(lanes.x, lanes.y, lanes.width, lanes.height):
        canvas.path(points, "panel", LINE_PX + 4)
        canvas.path(points, "text", LINE_PX)
        for (x0, y0), (x1, y1) in pairwise(points):
            if x0 == x1 and y0 != y1:
                canvas.disc(x0, y0, DOT_PX, "panel", "text", 1.5)
                tip = TIP_PX if y1 > y0 else -TIP_PX
                canvas.shape([(x1, y1), (x1 - 4, y1 - tip), (x1 + 4, y1 - tip)], "text", "panel")


def _steps_in_view(path: RunPath, shown: VisiblePart) -> tuple[np.ndarray, np.ndarray]:
    """The visible steps, and the x of each one's begin (and of the last one's end). Narrow steps are represented by the
    middle one of every few pixels."""
    span = shown.span
    steps = path.steps.between(span.from_ps, span.to_ps)
    if not len(steps):
        return np.zeros(0, np.int64), np.zeros(1)
    indexes = np.arange(steps.start, steps.stop)
    if len(steps) * STEP_PX > span.width:
        centres = span.from_ps + span.pixel_ps * (np.arange(0, span.width, STEP_PX) + STEP_PX / 2)
        indexes = np.searchsorted(path.steps.begin_ps[steps.start : steps.stop], centres, "right") - 1
        indexes = np.clip(indexes, 0, len(steps) - 1) + steps.start
        edges = np.append(np.arange(len(indexes)) * STEP_PX, span.width).astype(float)
        end = (path.steps.end_ps[steps.stop - 1] - span.from_ps) / span.pixel_ps
        return indexes, np.minimum(edges, end)
    begin, end = path.steps.begin_ps[indexes], path.steps.end_ps[indexes[-1:]]
    edges = (np.append(begin, end) - span.from_ps) / span.pixel_ps
    return indexes, np.clip(edges, -DOT_PX * 3, span.width + DOT_PX * 3)


def _corners(points: list[tuple[float, float]]) -> list[tuple[float, float]]:
    """The line without points in the middle of a level part."""
    corners: list[tuple[float, float]] = []
    for point in points:
        if len(corners) > 1 and corners[-1][1] == corners[-2][1] == point[1]:
            corners[-1] = point
        elif not corners or corners[-1] != point:
            corners.append(point)
    return corners


def middles(shown: VisiblePart) -> dict[tuple[str, int], float]:
    """The middle of each block's row, also outside the visible part; a folded block has that of its fold."""
    placed: dict[tuple[str, int], float] = {}
    folded: dict[str, float] = {}
    for band in shown.bands:
        least = band.box.y if shown.pinned else -np.inf  # rows above are behind pinned rows
        for row, offset in zip(band.rows, band.tops, strict=False):
            y = max(float(round(band.box.y - band.scroll_px + offset + row.height / 2)), least)
            if row.kind is Kind.STATES:
                placed["block", row.block] = y
            elif row.kind is Kind.BUS:
                placed["bus", row.members[0]] = y
            elif row.kind in (Kind.STACK, Kind.SHARES):
                for member in row.members:
                    placed.setdefault(("block", member), y)
            elif row.kind is Kind.HEAD and row.folded:
                folded[row.key] = y
    for number, block in enumerate(shown.scene.blocks):
        key = "host" if block.id.startswith("host.") else block.id.split(".")[0]
        if key in folded:
            placed.setdefault(("block", number), folded[key])
    return placed


def draw_slack(canvas: Canvas, shown: VisiblePart, row: Row, box: Box) -> None:
    """Draw the slack after each visible stretch of work, at most over the wait after it."""
    path, span = shown.path, shown.span
    parts = path.parts.get(row.block) if path else None
    if parts is None or not path or row.block in path.hosts:
        return
    view = parts.between(span.from_ps, span.to_ps)
    ends = parts.end_ps[view.start : view.stop]
    nexts = np.append(parts.begin_ps[view.start + 1 : view.stop + 1], [shown.scene.index.end_ps] * 2)[: len(ends)]
    wide = np.flatnonzero((nexts - ends) >= LEAST_WHISKER_PX * span.pixel_ps)
    if len(wide) > _MOST_WHISKERS:
        return
    y = round(box.centre[1]) + 0.5
    for at in wide.tolist():
        slack_ps = int(parts.slack_ps[view.start + at])
        if slack_ps in (0, NO_LIMIT_PS, UNKNOWN_PS):
            continue
        until_ps = min(int(ends[at]) + slack_ps, int(nexts[at]))
        x0, x1 = shown.x(int(ends[at])), shown.x(until_ps)
        if x1 - x0 < LEAST_WHISKER_PX / 2:
            continue
        canvas.path([(x0, y), (x1, y)], "panel", 3.5)
        canvas.path([(x0, y), (x1, y)], "text", 1.5)
        if until_ps == int(ends[at]) + slack_ps:
            canvas.path([(x1, y - 4.5), (x1, y + 4.5)], "panel", 3.5)
            canvas.path([(x1, y - 4), (x1, y + 4)], "text", 1.5)


def slack_words(path: RunPath, row: Row) -> tuple[str, bool]:
    """A row's least slack, and whether the critical path is in it; "" if nothing is known."""
    blocks = (row.block,) if row.kind is Kind.STATES else row.members if row.kind is Kind.STACK else ()
    known_parts = [path.parts[block] for block in blocks if block in path.parts]
    if not known_parts:
        return "", False
    on_path = any(block in path.blocks for block in blocks)
    least_ps = min(parts.least_slack_ps for parts in known_parts)
    if least_ps in (NO_LIMIT_PS, UNKNOWN_PS):
        return "any" if least_ps == NO_LIMIT_PS else "", on_path
    return time_text(least_ps / PS_PER_S) if least_ps else "0", on_path
