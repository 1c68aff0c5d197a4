"""The same work in several runs, one below another: the host's main block and a few of the replicas."""

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from workbench.model.blocks import Side
from workbench.pictures.canvas import CENTRE, RIGHT, Canvas
from workbench.pictures.layout_sizes import Box
from workbench.pictures.plot import Range
from workbench.pictures.timeline.rows import HEIGHTS, Kind, Row
from workbench.pictures.timeline.scale import Span, duration, ruler
from workbench.pictures.timeline.surface import rows_surface
from workbench.pictures.timeline.table import interval_rows
from workbench.traces.scene import Scene
from workbench.traces.trace import CATEGORIES, WAIT_CODES

LABELS_PX, RULER_PX, GAP_PX, EDGE_PX = 224.0, 34.0, 14.0, 16.0
ROW_PX, BAR_PX = HEIGHTS[Kind.STATES]
MOST_ROW_PX = 72  # of a row where there is room
#: The height above a run's rows: its letter, name and kind.
HEAD_PX = 26.0
#: The number of replicas shown of each run at least; fewer for many runs.
MOST_REPLICAS, REPLICAS_OF_MANY, MANY = 5, 2, 4
#: The full range, a little more than the longest run, for the text at the end of the other.
WHOLE: Range = (0.0, 1.06)


@dataclass(frozen=True, eq=False)
class Round:
    """A stretch of a run: the run's name, its traces, its begin and length; `letter` precedes the name, `note` follows
    it."""

    words: str
    scene: Scene
    from_ps: int
    span_ps: int
    letter: str = ""
    note: str = ""


@dataclass(frozen=True, eq=False)
class Rounds:
    """Stretches of runs on the scale of the longest, or with `same_scale` off each on its own. Where `room_px` is more
    than they need, more replicas are shown, and rows are higher."""

    runs: tuple[Round, ...] = ()
    same_scale: bool = True
    room_px: float = 0.0

    @cached_property
    def rows(self) -> tuple[tuple[Row, ...], ...]:
        """The rows of each run."""
        most = MOST_REPLICAS if len(self.runs) < MANY else REPLICAS_OF_MANY
        rows = self._rows_of(most)
        while (more := self._rows_of(most + 1)) != rows and _height(more, ROW_PX) <= self.room_px:
            rows, most = more, most + 1
        spare = (self.room_px - _height(rows, ROW_PX)) // max(sum(map(len, rows)), 1)
        row_px = min(ROW_PX + max(int(spare), 0), MOST_ROW_PX)
        bar_px = BAR_PX * row_px // ROW_PX
        return tuple(tuple(replace(row, height=row_px, bar=bar_px) for row in of_run) for of_run in rows)

    def _rows_of(self, most: int) -> tuple[tuple[Row, ...], ...]:
        return tuple(round_rows(one.scene, most, self._busy) for one in self.runs)

    @cached_property
    def _busy(self) -> frozenset[str]:
        """The FPGA blocks that work or move data in a stretch of one of the runs."""
        return frozenset(
            block.id
            for one in self.runs for row, block in enumerate(one.scene.blocks)
            if block.side is Side.FPGA and _works(one, row)
        )  # fmt: skip

    @property
    def row_px(self) -> int:
        return next((row.height for rows in self.rows for row in rows), ROW_PX)

    def unit_ps(self, number: int) -> int:
        """The time (ps) of 1 in the visible ranges."""
        spans = [r.span_ps for r in self.runs] if self.same_scale else [self.runs[number].span_ps]
        return max(*spans, 1)


def _works(one: Round, row: int) -> bool:
    times = one.scene.index.category_times_ps(row, one.from_ps, one.from_ps + one.span_ps)
    return bool(np.delete(times, (0, *WAIT_CODES)).any())


def round_rows(scene: Scene, most: int = MOST_REPLICAS, busy: Collection[str] = ()) -> tuple[Row, ...]:
    """The main block, and up to so many of the largest group of FPGA blocks, evenly chosen from the `busy` ones if
    there are any; without replicas the FPGA blocks that work most."""
    rows = [Row(Kind.STATES, scene.blocks[scene.main].id.removeprefix("host."), block=scene.main)]
    groups: dict[str, list[int]] = {}
    for number, block in enumerate(scene.blocks):
        if block.side is Side.FPGA:
            groups.setdefault(block.group, []).append(number)
    members = max(groups.values(), key=len, default=[])
    if len(members) == 1:
        works = scene.index.totals_ps[:, CATEGORIES.index("work")]
        by_work = sorted((one for (one,) in groups.values()), key=lambda number: -int(works[number]))[:most]
        members = [number for number in by_work if works[number]] or by_work
    members = [number for number in members if scene.blocks[number].id in busy] or members
    indexes = sorted({round(k) for k in np.linspace(0, len(members) - 1, min(most, len(members)))})
    rows += [Row(Kind.STATES, scene.names[members[k]], block=members[k]) for k in indexes]
    return tuple(rows)


def rounds_height(rounds: Rounds) -> float:
    return _height(rounds.rows, rounds.row_px)


def _height(rows: Sequence[Sequence[Row]], row_px: int) -> float:
    return RULER_PX + sum(map(len, rows)) * row_px + (HEAD_PX + GAP_PX) * len(rows)


def rounds_box(rounds: Rounds, width: float) -> Box:
    """The box of the bars, beside the names and below the ruler."""
    return Box(LABELS_PX, RULER_PX, max(width - LABELS_PX - EDGE_PX, 50.0), rounds_height(rounds) - RULER_PX)


def draw_rounds(canvas: Canvas, rounds: Rounds, shown: Range, width: float, density: int = 1) -> None:
    """Draw the visible part `shown` of the stretches, as fractions of their scale; bars have `density` pixels for a
    unit."""
    canvas.rect(0, 0, width, rounds_height(rounds), "panel")
    if not rounds.runs:
        return
    box = rounds_box(rounds, width)
    if rounds.same_scale:
        unit = rounds.unit_ps(0)
        pixel_ps = (shown[1] - shown[0]) * unit / box.width
        for time, words in ruler(Span(shown[0] * unit, pixel_ps, round(box.width))).ticks:
            x = round(box.x + (time - shown[0] * unit) / pixel_ps) + 0.5
            canvas.path([(x, RULER_PX - 12), (x, box.bottom)], "rule")
            if x + 4 + canvas.width_of(words, 11) < width:
                canvas.write(x + 4, 12, words, "second", 11, 400)
    y = box.y
    for number in range(len(rounds.runs)):
        if number:
            canvas.path([(0, y - GAP_PX / 2 + 0.5), (width, y - GAP_PX / 2 + 0.5)], "rule")
        y = _draw_round(canvas, rounds, number, shown, box, y, density) + GAP_PX


def _draw_round(canvas: Canvas, rounds: Rounds, number: int, shown: Range, box: Box, y: float, density: int) -> float:
    """Draw one of the stretches from `y` down; returns its bottom."""
    round_, unit = rounds.runs[number], rounds.unit_ps(number)
    rows, row_px = rounds.rows[number], rounds.row_px
    high = len(rows) * row_px
    left = 16.0
    if round_.letter:
        ground, ink = ("text", "panel") if round_.letter == "A" else ("accent", "on_accent")
        canvas.rect(left, y + 3, 18, 18, ground, radius=3)
        canvas.write(left + 9, y + 12, round_.letter, ink, 11, 700, CENTRE)
        left += 25
    left += canvas.text(left, y, box.right - left, HEAD_PX - 2, round_.words, "text", 12, 600) + 12
    canvas.text(left, y, box.right - left, HEAD_PX - 2, round_.note, "second", 12)
    y += HEAD_PX
    for at, row in enumerate(rows):
        canvas.text(16, y + at * row_px, LABELS_PX - 26, row_px, row.label, "second", 12, 400, RIGHT, least=1)
    pixel_ps = (shown[1] - shown[0]) * unit / box.width
    end = box.x + (round_.span_ps - shown[0] * unit) / pixel_ps
    wide = round(min(end, box.right) - box.x)
    if wide > 0:
        span = Span(round_.from_ps + shown[0] * unit, pixel_ps, wide)
        placed = [(row, at * row_px) for at, row in enumerate(rows)]
        surface = rows_surface(round_.scene, placed, span, high, canvas.palette, density)
        with canvas.clipped(box.x, y, wide, high):
            canvas.image(box.x, y - surface.pad, surface.buffer, density)
    if box.x < end < box.right:
        _draw_end(canvas, rounds, number, end, y, high, box)
    return y + high


def _draw_end(canvas: Canvas, rounds: Rounds, number: int, x: float, y: float, high: float, box: Box) -> None:
    """Draw the end of the shorter stretch, with the difference."""
    span_ps, longest = rounds.runs[number].span_ps, max(r.span_ps for r in rounds.runs)
    if not rounds.same_scale or span_ps >= longest:
        return
    words = f"{duration(span_ps)}, {longest / max(span_ps, 1):.2f} times shorter"
    canvas.path([(x + 1, y - 2), (x + 1, y + high + 2)], "accent", 2)
    wide = canvas.width_of(words, 12, 600) + 8
    if x + 10 + wide < box.right + EDGE_PX:
        canvas.rect(x + 10, y + 2, wide, rounds.row_px - 4, "panel")
        canvas.write(x + 14, y + rounds.row_px / 2, words, "text", 12, 600)


def rounds_table(rounds: Rounds) -> Iterator[tuple[str | float, ...]]:
    """Every state and call of the stretches as a table, heads first."""
    for number, round_ in enumerate(rounds.runs):
        rows = interval_rows(round_.scene, round_.from_ps, round_.from_ps + round_.span_ps)
        head = next(rows)
        if not number:
            yield ("run", *head)
        yield from ((round_.letter or round_.words, *row) for row in rows)
