"""The timing diagram of a prediction: rows of networks, FPGA nodes and the host, bars in time, iterations marked."""

from collections.abc import Iterator

from workbench.api.predictions import Bar, StageSpan, Timing
from workbench.model.text import thousands, time_text, trimmed
from workbench.pictures.canvas import CENTRE, Canvas
from workbench.pictures.layout_sizes import Box
from workbench.pictures.plot import Axis, Range, ticks
from workbench.pictures.signs import FRAME
from workbench.pictures.states import category_name

LABELS_PX, RULER_PX, STAGE_PX, ROW_PX, FOOT_PX, EDGE_PX = 168.0, 26.0, 28.0, 30.0, 10.0, 20.0
TIME = Axis("time", time_text)


def timing_height(timing: Timing) -> float:
    return _above_px(timing) + max(len(timing.lanes), 2) * ROW_PX + FOOT_PX


def _above_px(timing: Timing) -> float:
    """The height of the ruler, and of the stages if there are any."""
    return RULER_PX + (STAGE_PX if timing.stages else 0.0)


def timing_box(timing: Timing, width: float) -> Box:
    """The box of the bars: beside the rows' names, below the ruler and the stages."""
    high = max(len(timing.lanes), 2) * ROW_PX
    return Box(LABELS_PX, _above_px(timing), max(width - LABELS_PX - EDGE_PX, 50.0), high)


def to_scale_s(timing: Timing) -> float:
    """The end (s) of times drawn to scale: the begin of the omitted iterations."""
    return min([timing.drawn_s, *(span.skip_s for span in timing.stages if span.skipped)])


def bar_box(bar: Bar, shown: Range, box: Box) -> Box:
    """The box of a bar in the visible range, at least two pixels wide."""
    left, right = (_x(time, shown, box) for time in (bar.start_s, bar.end_s))
    return Box(left, box.y + bar.lane * ROW_PX + 6, max(right - left, 2.0), ROW_PX - 12)


def _x(seconds: float, shown: Range, box: Box) -> float:
    """The position of a time, limited to a few pixels beyond the picture."""
    at = box.x + box.width * (seconds - shown[0]) / (shown[1] - shown[0])
    return min(max(at, box.x - 8), box.right + EDGE_PX)


def draw_timing(canvas: Canvas, timing: Timing, shown: Range, width: float) -> None:
    """Draw the times in `shown`, seconds as drawn, in a picture of this width."""
    canvas.rect(0, 0, width, timing_height(timing), "panel")
    box = timing_box(timing, width)
    for row, lane in enumerate(timing.lanes):
        y = box.y + row * ROW_PX
        canvas.path([(16, y + 0.5), (width - 8, y + 0.5)], "rule")
        wide = canvas.text(16, y, LABELS_PX - 32, ROW_PX, lane.name, "text", 12, 600)
        if canvas.width_of(lane.note, 11) < LABELS_PX - 34 - wide:
            canvas.text(22 + wide, y, LABELS_PX - 30 - wide, ROW_PX, lane.note, "muted", 11)
    if not timing.lanes:
        return
    with canvas.clipped(box.x, 0, box.width + EDGE_PX, timing_height(timing)):
        _draw_ruler(canvas, timing, shown, box)
        for span in timing.stages:
            _draw_stage(canvas, span, shown, box)
        for bar in timing.bars:
            _draw_bar(canvas, bar, bar_box(bar, shown, box))
        for span in timing.stages:
            if span.skipped:
                _draw_skip(canvas, span, shown, box)


def _draw_ruler(canvas: Canvas, timing: Timing, shown: Range, box: Box) -> None:
    end = min(to_scale_s(timing), shown[1])
    if end <= shown[0]:
        return
    room = _x(end, shown, box) - box.x
    for time in ticks(shown[0], end, TIME, max(int(room / 90), 1)):
        x = round(_x(time, shown, box)) + 0.5
        canvas.path([(x, RULER_PX - 6), (x, box.bottom)], "rule")
        words = trimmed(time_text(time))
        if x + 4 + canvas.width_of(words, 11) <= box.right + EDGE_PX:
            canvas.write(x + 4, 12, words, "second", 11, 400)


def _draw_stage(canvas: Canvas, span: StageSpan, shown: Range, box: Box) -> None:
    """Draw the stage's extent, with a tick where each iteration starts."""
    left, right = _x(span.start_s, shown, box), _x(span.end_s, shown, box)
    canvas.rect(
        left + 0.5, RULER_PX + 4.5, max(right - left - 2, 1), STAGE_PX - 10, "selection", "accent", radius=4
    )  # fmt: skip
    many = f", {thousands(span.rounds)} iterations" if span.rounds > 1 else ""
    words = f"{span.name}{many}, {'overlapped' if span.overlapped else 'serial'}"
    left = max(left, box.x)
    canvas.text(left + 8, RULER_PX + 4, right - left - 13, STAGE_PX - 9, words, "link", 11, 600)
    for start in span.starts[1:]:
        if shown[0] <= start <= shown[1]:
            x = round(_x(start, shown, box)) + 0.5
            canvas.path([(x, box.y - 6), (x, box.bottom)], "accent", 1.4)


def _draw_bar(canvas: Canvas, bar: Bar, place: Box) -> None:
    canvas.state(place.x, place.y, place.width, place.height, bar.category)
    if place.width > 3:
        canvas.rect(place.x + 0.5, place.y + 0.5, place.width - 1, place.height - 1, "", FRAME)
    wide = canvas.width_of(bar.name, 11, 600) + 8
    if wide + 8 < place.width:
        x, middle = place.centre
        canvas.rect(x - wide / 2, place.y + 2, wide, place.height - 4, "panel", radius=3)
        canvas.write(x, middle, bar.name, "text", 11, 600, CENTRE)


def _draw_skip(canvas: Canvas, span: StageSpan, shown: Range, box: Box) -> None:
    """Draw the omitted iterations as a gap with their number."""
    left, right = (_x(time, shown, box) for time in (span.skip_s, span.skip_s + span.gap_s))
    if right - left > 6:
        canvas.rect(left + 3, box.y + 2, right - left - 6, box.height - 2, "sunken")
        canvas.text(left + 3, box.centre[1] - 8, right - left - 6, 16, f"{thousands(span.skipped)} more", "second", 11,
                    600, CENTRE, least=3)  # fmt: skip


def timing_rows(timing: Timing) -> Iterator[tuple[str | float, ...]]:
    """The bars as a table, heads first; their starts are the real ones."""
    yield ("row", "stage", "part", "state", "iteration", "of", "start (s)", "time (s)", "equation")
    for bar in timing.bars:
        yield (
            timing.lanes[bar.lane].name, bar.stage, bar.name, category_name(bar.category), bar.round, bar.rounds,
            bar.real_s, bar.time_s, bar.equation,
        )  # fmt: skip
