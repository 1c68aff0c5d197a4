"""The lane of a host block's calls: each run of calls of one site as a box; boxes too narrow for text are joined."""

from collections.abc import Sequence

import numpy as np

from workbench.model.run import Site
from workbench.pictures.canvas import Canvas
from workbench.pictures.layout_sizes import Box
from workbench.pictures.timeline.shown import VisiblePart
from workbench.traces.calls import BlockCalls, CallBox

HEIGHT_PX, TEXT_PX, EDGE_PX = 16.0, 11, 4.0
SLIVER_PX = 3


def draw_calls(canvas: Canvas, shown: VisiblePart, lane: Box, calls: BlockCalls) -> None:
    """Draw the boxes with the names and numbers of calls, dimmed outside of a range."""
    sites, top = shown.scene.run.manifest.sites, lane.centre[1] - HEIGHT_PX / 2
    label_widths = np.array([canvas.width_of(site.label, TEXT_PX, 500) + 2 * EDGE_PX for site in sites])
    dimmed = shown.dimmed()
    low, high = (shown.x(time_ps) for time_ps in dimmed) if dimmed else (-np.inf, np.inf)
    for box in calls.boxes(shown.span.from_ps, shown.span.pixel_ps, shown.span.width, label_widths):
        left, right = lane.x + box.left, lane.x + max(box.right, box.left + 1)
        outside = right <= low or left >= high
        part = "/0.5" if outside else ""
        if right - left < SLIVER_PX:
            canvas.rect(left, top + 3, right - left, HEIGHT_PX - 6, "edge" + part)
            continue
        many = len(box.sites) > 1
        canvas.rect(
            left + 0.5, top + 0.5, right - left - 1, HEIGHT_PX, ("sunken" if many else "panel") + part, "edge" + part,
            radius=3,
        )  # fmt: skip
        left, right = max(left, lane.x) + EDGE_PX, min(right, lane.right) - EDGE_PX + 1
        words = next((w for w in _words(box, sites) if canvas.width_of(w, TEXT_PX, 500) <= right - left), "")
        if words:
            canvas.write(left, lane.centre[1] + 0.5, words, "muted" if outside else "text", TEXT_PX, 500)


def _words(box: CallBox, sites: Sequence[Site]) -> list[str]:
    """The possible texts of a box, the most informative first."""
    call_texts = [f"{sites[site].label} ×{count}" if count > 1 else sites[site].label for site, count in box.sites]
    if len(call_texts) == 1:
        return [call_texts[0], sites[box.sites[0][0]].label]
    total = sum(count for _, count in box.sites)
    most_frequent = max(box.sites, key=lambda part: part[1])
    first = (
        f"{sites[most_frequent[0]].label} ×{most_frequent[1]}"
        if most_frequent[1] > 1
        else sites[most_frequent[0]].label
    )
    return [", ".join(call_texts), f"{first}, {total - most_frequent[1]} more", f"{total} calls", f"×{total}"]
