"""Small drawings used in several pictures: severity, badges, bars of states, speedups, swatches."""

import math
from collections.abc import Callable

from workbench.model.pragma import Category
from workbench.pictures.canvas import CENTRE, RIGHT, Canvas
from workbench.pictures.states import Shares

#: The severities with their meanings; `aside` is for findings set aside by the user.
SEVERITIES = {"high": "over 2×", "medium": "1.2 to 2×", "low": "1.05 to 1.2×", "aside": "set aside"}
#: The axis of speedups runs from 1x to the last of these.
TICKS = (1, 2, 5, 10, 20)
FRAME = "text/0.53"


def draw_severity(canvas: Canvas, x: float, y: float, size: float, level: str) -> None:
    """Draw the sign of a level in a square with its top left corner at (x, y): triangle, diamond, disc, or a ring."""
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
    """The width and height of a badge with a number."""
    return 32.0 + 8 * max(0, len(str(count)) - 1), 20.0


def draw_badge(canvas: Canvas, x: float, y: float, level: str, count: int) -> None:
    """Draw a sign and a number in a rounded box, as at the top right corner of a node."""
    width, height = badge_size(count)
    ground = "sunken" if level == "aside" else f"{level}_ground"
    ink = {"aside": "low", "medium": "medium_text"}.get(level, level)
    canvas.rect(
        x + 0.5, y + 0.5, width - 1, height - 1, ground, "muted" if level == "aside" else level, 1.2, height / 2
    )
    draw_severity(canvas, x + 5, y + height / 2 - 6, 12, level)
    canvas.write(x + (width + 12) / 2, y + height / 2, str(count), ink, 12, 600, CENTRE)


def draw_warning(canvas: Canvas, right: float, y: float, words: str) -> None:
    """Draw the sign of the highest severity and a text in a rounded box, with its top right corner at (right, y)."""
    width = canvas.width_of(words, 11, 600) + 30
    left = right - width
    canvas.rect(left + 0.5, y + 0.5, width - 1, 19, "high_ground", "high", 1.2, 10)
    draw_severity(canvas, left + 6, y + 4, 12, "high")
    canvas.write(left + 22, y + 10, words, "text", 11, 600)


def draw_tag(canvas: Canvas, words: str, *, strong: bool) -> None:
    """Draw a text in a rounded box around the origin."""
    wide = canvas.width_of(words, 11, 600 if strong else 400) + 14
    canvas.rect(-wide / 2, -9, wide, 18, "panel", "text" if strong else "edge", 1, 9)
    canvas.write(0, 0, words, "text" if strong else "second", 11, 600 if strong else 400, CENTRE)


def draw_swatch(canvas: Canvas, x: float, y: float, width: float, height: float, category: Category | None) -> None:
    """Draw the framed colour and pattern of one state."""
    canvas.state(x, y, width, height, category)
    canvas.rect(x + 0.5, y + 0.5, width - 1, height - 1, "", FRAME)


def draw_shares(canvas: Canvas, width: float, height: float, shares: Shares) -> None:
    """Draw a bar of states alone, on a track if they are not the whole."""
    if sum(share for _, share in shares) < 0.999:
        canvas.rect(0, 0, width, height, "track")
    draw_state_bar(canvas, 0, 0, width, height, shares)


def draw_state_bar(
    canvas: Canvas, x: float, y: float, width: float, height: float, shares: Shares, *, frame: bool = True
) -> None:
    """Draw shares of 1 from left to right, in the order given. The rest up to 1 stays empty."""
    left = x
    for category, share in shares:
        wide = share * width
        if wide > 0:
            canvas.state(left, y, wide, height, category)
            left += wide
    if frame:
        canvas.rect(x + 0.5, y + 0.5, max(min(left - x, width) - 1, 0), height - 1, "", FRAME)


def axis_x(ratio: float, left: float, width: float) -> float:
    """The position of a speedup on the axis; one beyond an end is at the end."""
    return left + width * math.log(min(max(ratio, 1.0), TICKS[-1])) / math.log(TICKS[-1])


def draw_speedup_axis(canvas: Canvas, x: float, y: float, width: float, height: float = 14) -> None:
    """Draw the numbers over a column of speedup bars that have room."""
    right = -100.0
    for ratio in TICKS:
        align = RIGHT if ratio == TICKS[-1] else CENTRE if ratio > 1 else 0.0
        at, wide = axis_x(ratio, x, width), canvas.width_of(f"{ratio}×", 11)
        if at - align * wide > right + 5:
            canvas.write(at, y + height / 2, f"{ratio}×", "muted", 11, 400, align)
            right = at + (1 - align) * wide


def draw_speedup_bar(
    canvas: Canvas, x: float, y: float, width: float, height: float, predicted: float | None, bound: float | None,
    interval: tuple[float, float] | None = None, place: Callable[[float], float] | None = None,
) -> None:  # fmt: skip
    """Draw a bar, solid up to `predicted` with whiskers for its `interval`, tinted up to the upper bound with a tick
    there.

    Without a prediction there is no solid part, without a bound no tick. `place` gives the position of a speedup; by
    default the axis is that of `axis_x`.
    """
    at = place or (lambda ratio: axis_x(ratio, x, width))
    canvas.rect(x, y, width, height, "track")
    if bound is not None:
        canvas.rect(x, y, at(bound) - x, height, "within_cap")
    if predicted is not None:
        canvas.rect(x, y, at(predicted) - x, height, "accent")
    if bound is not None:
        draw_bound(canvas, at(bound), y, height)
    if interval is not None:
        left, right = at(interval[0]), at(interval[1])
        if right - left >= 1.5:
            draw_whiskers(canvas, left, y, right - left, height)


def draw_whiskers(canvas: Canvas, x: float, y: float, width: float, height: float) -> None:
    """Draw a 90 % interval, with a light outline so that it is visible on any ground."""
    middle = y + height / 2
    for ink, line in (("panel", 3.5), ("text", 1.5)):
        canvas.path([(x, middle), (x + width, middle)], ink, line)
        for end in (x, x + width):
            canvas.path([(end, y - 1), (end, y + height + 1)], ink, line)


def draw_bound(canvas: Canvas, x: float, y: float, height: float) -> None:
    canvas.path([(x, y - 3), (x, y + height + 3)], "text", 2)


def draw_bar_key(canvas: Canvas, part: str, width: float, height: float) -> None:
    """Draw the legend of a part of a speedup bar: `predicted`, `interval` or `bound`."""
    if part == "predicted":
        canvas.rect(0, 2, width, height - 4, "accent")
    elif part == "interval":
        draw_whiskers(canvas, 2, 3, width - 4, height - 6)
    else:
        canvas.rect(0, 2, width - 1, height - 4, "within_cap")
        draw_bound(canvas, width - 1, 3, height - 6)


#: The parts of a speedup bar, with names and meanings.
BAR_KEYS = (
    ("predicted", "predicted", "Predicted speedup of the whole run"),
    ("interval", "90 % interval", "Contains the speedup in 9 of 10 cases"),
    ("bound", "up to the upper bound", "Upper bound of the best advice"),
)
