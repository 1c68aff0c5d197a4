"""Small things that the same picture shows everywhere: severity, badges, bars of states, speedups, swatches."""

from __future__ import annotations

import math
from collections.abc import Callable

from workbench.model.pragma import Category
from workbench.pictures.canvas import CENTRE, RIGHT, Canvas
from workbench.pictures.states import Shares

#: The shapes of severity and what each says; `aside` is what a person set aside.
SEVERITIES = {"high": "over 2×", "medium": "1.2 to 2×", "low": "1.05 to 1.2×", "aside": "set aside"}
#: The axis of speedups runs from 1x to the last of these.
TICKS = (1, 2, 5, 10, 20)
FRAME = "text/0.53"


def draw_severity(canvas: Canvas, x: float, y: float, size: float, level: str) -> None:
    """The sign of a level in a square with its top left corner at (x, y): triangle, diamond, disc, or a ring."""
    ink = "muted" if level == "aside" else level
    with canvas.placed(x, y, size / 16):
        if level == "high":
            canvas.shape([(8, 1.8), (15, 14), (1, 14)], ink, ink, 1.6)
            _mark(canvas, (6, 9.3), 12)
        elif level == "medium":
            canvas.shape([(8, 1.4), (14.6, 8), (8, 14.6), (1.4, 8)], ink, ink, 1.6)
            _mark(canvas, (4.9, 8.2), 11)
        elif level == "low":
            canvas.disc(8, 8, 4.6, ink, ink, 1.6)
            _mark(canvas, (8, 10.4), 5.6)
        else:
            canvas.disc(8, 8, 5, "", ink, 1.3)
            canvas.path([(5.6, 8), (10.4, 8)], ink, 1.3)


def _mark(canvas: Canvas, stem: tuple[float, float], dot: float) -> None:
    canvas.path([(8, stem[0]), (8, stem[1])], "panel", 1.7)
    canvas.disc(8, dot, 0.85, "panel")


def badge_size(count: int) -> tuple[float, float]:
    """Width and height of a badge with a number."""
    return 32.0 + 8 * max(0, len(str(count)) - 1), 20.0


def draw_badge(canvas: Canvas, x: float, y: float, level: str, count: int) -> None:
    """Sign and number in a rounded box, as at the top right corner of a node."""
    width, height = badge_size(count)
    ground = "sunken" if level == "aside" else f"{level}_ground"
    ink = {"aside": "low", "medium": "medium_text"}.get(level, level)
    canvas.rect(
        x + 0.5, y + 0.5, width - 1, height - 1, ground, "muted" if level == "aside" else level, 1.2, height / 2
    )
    draw_severity(canvas, x + 5, y + height / 2 - 6, 12, level)
    canvas.write(x + (width + 12) / 2, y + height / 2, str(count), ink, 12, 600, CENTRE)


def draw_swatch(canvas: Canvas, x: float, y: float, width: float, height: float, category: Category | None) -> None:
    """The colour and pattern of one state, framed."""
    canvas.state(x, y, width, height, category)
    canvas.rect(x + 0.5, y + 0.5, width - 1, height - 1, "", FRAME)


def draw_shares(canvas: Canvas, width: float, height: float, shares: Shares) -> None:
    """A bar of states by itself, on a track where they are not the whole."""
    if sum(share for _, share in shares) < 0.999:
        canvas.rect(0, 0, width, height, "track")
    draw_state_bar(canvas, 0, 0, width, height, shares)


def draw_state_bar(
    canvas: Canvas, x: float, y: float, width: float, height: float, shares: Shares, *, frame: bool = True
) -> None:
    """Shares of 1 from left to right, in the order given. What is missing to 1 stays empty."""
    left = x
    for category, share in shares:
        wide = share * width
        if wide > 0:
            canvas.state(left, y, wide, height, category)
            left += wide
    if frame:
        canvas.rect(x + 0.5, y + 0.5, max(min(left - x, width) - 1, 0), height - 1, "", FRAME)


def axis_x(ratio: float, left: float, width: float) -> float:
    """Where a speedup stands on the axis; what is beyond an end stands at the end."""
    return left + width * math.log(min(max(ratio, 1.0), TICKS[-1])) / math.log(TICKS[-1])


def draw_speedup_axis(canvas: Canvas, x: float, y: float, width: float, height: float = 14) -> None:
    """The numbers over a column of speedup bars, as far as there is room for them."""
    right = -100.0
    for ratio in TICKS:
        align = RIGHT if ratio == TICKS[-1] else CENTRE if ratio > 1 else 0.0
        at, wide = axis_x(ratio, x, width), canvas.width_of(f"{ratio}×", 11)
        if at - align * wide > right + 5:
            canvas.write(at, y + height / 2, f"{ratio}×", "muted", 11, 400, align)
            right = at + (1 - align) * wide


def draw_speedup_bar(
    canvas: Canvas, x: float, y: float, width: float, height: float, predicted: float | None, cap: float | None,
    ideal: float, place: Callable[[float], float] | None = None,
) -> None:  # fmt: skip
    """Solid up to `predicted`, tint up to the cap (the ideal where none is known), hatch from the cap to an ideal
    that is more, tick at such a cap. Without a prediction there is no solid part. `place` tells where a speedup
    stands, on the axis of `axis_x` where it is not told."""
    at = place or (lambda ratio: axis_x(ratio, x, width))
    canvas.rect(x, y, width, height, "track")
    reach = at(ideal if cap is None else cap)
    canvas.rect(x, y, reach - x, height, "within_cap")
    if predicted is not None:
        canvas.rect(x, y, at(predicted) - x, height, "accent")
    if cap is not None and cap < ideal:
        draw_beyond(canvas, reach, y, at(ideal) - reach, height)
        draw_cap(canvas, reach, y, height)


def draw_beyond(canvas: Canvas, x: float, y: float, width: float, height: float) -> None:
    """What the ideal promises beyond a cap."""
    canvas.rect(x, y, width, height, "panel")
    canvas.hatch(x, y, width, height, "second")
    canvas.rect(x + 0.5, y + 0.5, width - 1, height - 1, "", "second")


def draw_cap(canvas: Canvas, x: float, y: float, height: float) -> None:
    canvas.path([(x, y - 3), (x, y + height + 3)], "text", 2)
