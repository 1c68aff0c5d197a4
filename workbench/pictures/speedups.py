"""Speedup estimates as a picture: what mending each finding gains at most, on one logarithmic axis."""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass

from workbench.model.finding import Finding
from workbench.model.text import ratio_text, time_text, trimmed
from workbench.pictures.canvas import CENTRE, RIGHT, Canvas
from workbench.pictures.layout_sizes import Box
from workbench.pictures.plot import Axis, Range, ticks
from workbench.pictures.signs import draw_severity, draw_speedup_bar

ROW_PX, HEAD_PX, FOOT_PX, FIGURE_PX, EDGE_PX = 34.0, 26.0, 42.0, 76.0, 16.0
SPEEDUP = Axis("speedup of the whole run", lambda v: trimmed(ratio_text(v)), log=True)
FOOT = "speedup of the whole run, logarithmic; above: what the run's time becomes"


@dataclass(frozen=True)
class Estimate:
    """What one finding promises. `gain` is its best advice's bound, `cap` None where none is known."""

    id: str
    title: str
    where: str
    level: str
    gain: float
    cap: float | None
    ideal: float
    part: bool = False


def estimates(
    findings: Iterable[Finding], aside: Collection[str], where: Callable[[Finding], str]
) -> tuple[Estimate, ...]:
    """Findings in the order given; `where` words each one's place, and a part of another is that place alone."""
    findings = list(findings)
    known = {f.id for f in findings}
    return tuple(
        Estimate(f.id, f.title, where(f), "aside" if f.id in aside else f.severity, f.gain, f.speedup_cap,
                 f.speedup_ideal, f.part_of in known)
        for f in findings
    )  # fmt: skip


def whole_range(rows: Sequence[Estimate]) -> Range:
    """log10 of the speedups that show every finite one."""
    values = [v for r in rows for v in (r.gain, r.cap, r.ideal) if v is not None and math.isfinite(v)]
    return 0.0, math.log10(max([2.0, *values])) * 1.04


def bar_box(width: float, height: float) -> Box:
    """Where the bars are: beside the findings' names, under the times, over the ratios."""
    left = min(max(width * 0.34, 120.0), 330.0)
    return Box(left, HEAD_PX, max(width - left - FIGURE_PX - EDGE_PX, 20.0), max(height - HEAD_PX - FOOT_PX, ROW_PX))


def place_of(ratio: float, shown: Range, box: Box) -> float:
    """Where a speedup stands; what is beyond an end stands at the end."""
    part = ((math.log10(ratio) if math.isfinite(ratio) else shown[1]) - shown[0]) / (shown[1] - shown[0])
    return box.x + box.width * min(max(part, 0.0), 1.0)


def draw_estimates(
    canvas: Canvas, rows: Sequence[Estimate], shown: Range, first: float, width: float, height: float, time_s: float,
    chosen: str = "",
) -> None:  # fmt: skip
    """The rows from `first` on, as many as there is room for, of a run that takes `time_s`."""
    box = bar_box(width, height)
    canvas.rect(0, 0, width, height, "panel")
    canvas.rect(box.x, box.y, box.width, box.height, "sunken")
    last = -100.0
    for ratio in ticks(*shown, SPEEDUP, max(int(box.width / 84), 2)):
        x = round(place_of(ratio, shown, box)) + 0.5
        canvas.path([(x, box.y), (x, box.bottom)], "rule")
        becomes = time_text(time_s / ratio)
        wide = max(canvas.width_of(words, 11) for words in (SPEEDUP.text(ratio), becomes))
        if x - wide / 2 > last:
            canvas.write(x, box.y - 10, becomes, "muted", 11, 400, CENTRE)
            canvas.write(x, box.bottom + 11, SPEEDUP.text(ratio), "muted", 11, 400, CENTRE)
            last = x + wide / 2 + 8
    canvas.text(box.x, box.bottom + 21, box.width, 16, FOOT, "muted", 11, 400, CENTRE)
    with canvas.clipped(0, box.y, width, box.height):
        for number, row in enumerate(rows):
            y = box.y + (number - first) * ROW_PX
            if y + ROW_PX >= box.y and y <= box.bottom:
                _draw_row(canvas, row, shown, box, y, row.id == chosen)


def _draw_row(canvas: Canvas, row: Estimate, shown: Range, box: Box, y: float, chosen: bool) -> None:
    middle = y + ROW_PX / 2
    if chosen:
        canvas.rect(0, y, box.x, ROW_PX, "selection")
        canvas.rect(0, y, 3, ROW_PX, "accent")
    indent = 18 if row.part else 0
    draw_severity(canvas, EDGE_PX + indent, middle - 8, 16, row.level)
    left = EDGE_PX + indent + 24
    title, weight = (row.where or row.title, 400) if row.part else (row.title, 600)
    used = canvas.text(left, y, box.x - left - 8, ROW_PX, title, "text", 13, weight)
    rest = box.x - left - used - 24
    if row.where != title and rest > 60:
        canvas.text(left + used + 8, y, rest, ROW_PX, row.where, "second", 12)
    draw_speedup_bar(
        canvas, box.x, middle - 6, box.width, 12, row.gain, row.cap, row.ideal, lambda r: place_of(r, shown, box)
    )
    said = ratio_text(row.gain) if math.isfinite(row.gain) else "no limit"
    canvas.text(box.right + 4, y, FIGURE_PX, ROW_PX, said, "text", 13, 600, RIGHT)


def estimate_rows(rows: Iterable[Estimate]) -> Iterator[tuple[str | float, ...]]:
    """The estimates as a table, a head first."""
    yield ("finding", "where", "gain at most", "cap", "ideal")
    for row in rows:
        yield (row.title, row.where, row.gain, "" if row.cap is None else row.cap, row.ideal)
