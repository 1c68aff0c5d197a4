"""The tooltip of a timeline: what is under the pointer, beside it and never over the clock's lane."""

from workbench.pictures.canvas import Canvas
from workbench.pictures.layout_sizes import Box
from workbench.pictures.signs import draw_swatch
from workbench.pictures.timeline.hits import Hit
from workbench.pictures.timeline.raster import category

#: Lines that begin with one of these say what a key does.
KEYS = ("Enter", "G")


def draw_tooltip(canvas: Canvas, box: Box, hit: Hit) -> None:
    """A swatch and a name, then a line or two."""
    canvas.rect(box.x - 1, box.y + 2, box.width + 2, box.height + 1, "text/0.15", radius=7)
    canvas.rect(box.x + 0.5, box.y + 0.5, box.width - 1, box.height - 1, "raised", "edge", radius=6)
    left, y = box.x + 12, box.y + 17
    draw_swatch(canvas, left, y - 6, 14, 12, category(hit.code))
    canvas.write(left + 22, y, hit.lines[0], "text", 13, 600)
    for words in hit.lines[1:]:
        y += 18
        first, _, others = words.partition(" ")
        key, rest = (first, others) if first in KEYS else ("", words)
        canvas.write(left, y + 3, key, "link", 12, 600)
        start = left + (canvas.width_of(key, 12, 600) + 8 if key else 0)
        canvas.write(start, y + 3, rest, "muted" if key else "second", 12, 400)


def tooltip_size(canvas: Canvas, hit: Hit) -> tuple[float, float]:
    rest = (canvas.width_of(words) + 32 for words in hit.lines[1:])
    return max(canvas.width_of(hit.lines[0], 13, 600) + 46, *rest, 120.0), 20.0 + 18 * len(hit.lines)


def place_tooltip(pointer: tuple[float, float], size: tuple[float, float], inside: Box, avoid: Box | None) -> Box:
    """Beside the pointer, within `inside`, and never over `avoid` (the clock's lane)."""
    wide, high = size
    x = min(max(pointer[0] + 14, inside.x + 4), inside.right - wide - 4)
    below, above = pointer[1] + 18, pointer[1] - high - 12
    candidates = [below, above]
    if avoid is not None:
        candidates = [below, avoid.bottom + 4, above, avoid.y - high - 4]
    for y in candidates:
        box = Box(x, y, wide, high)
        if y >= 0 and box.bottom <= inside.bottom and not (avoid is not None and box.overlaps(avoid)):
            return box
    return Box(x, candidates[-1] if avoid is not None else max(above, 0), wide, high)
