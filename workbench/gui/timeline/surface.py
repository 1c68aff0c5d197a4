"""The bars of all rows in view as one image, and the overview as another."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from PySide6.QtGui import QImage

from workbench.gui.timeline.look import bar_colours, bar_table, image_of
from workbench.gui.timeline.raster import Image, columns, draw_counts, draw_row, stacked_shares
from workbench.gui.timeline.rows import Kind, Row
from workbench.gui.timeline.scale import Span
from workbench.traces.sample import sample
from workbench.traces.scene import Scene
from workbench.traces.trace import CATEGORIES, Bytes

WORK = CATEGORIES.index("work")
#: So many blocks that are only counted are read from the pyramid, where so many of its bins are in view.
MANY_HIDDEN, FINE_BINS = 200, 400
PAD = 32  # pixels drawn above and below what is in view, for rows that are cut off


@dataclass(frozen=True)
class Surface:
    """`image` shows `buffer`; `codes` are categories by logical pixel, row `places[block]` for each block in view.

    Blocks of a stack that have no row in view are there for counting: coarse while things move.
    """

    image: QImage
    buffer: Image
    codes: Bytes
    places: dict[int, int]


def rows_surface(
    scene: Scene,
    placed: Sequence[tuple[Row, int]],
    span: Span,
    height: int,
    ratio: int = 1,
    dim_outside: tuple[int, int] | None = None,
    faded: frozenset[int] = frozenset(),
    coarse: bool = False,
    reuse: Image | None = None,
) -> Surface:
    """Draw rows at their tops (pixels from the image's first visible line). Outside a range they are dimmed.

    `reuse` is a buffer that nobody shows any more; it saves the time that fresh memory takes.
    """
    bars = [row.block for row, _ in placed if row.kind is Kind.STATES]
    hidden = sorted({m for row, _ in placed for m in row.members} - set(bars))
    places = {block: at for at, block in enumerate([*bars, *hidden])}
    width = span.width * ratio
    drawn = sample(scene.index, bars, span.from_ps, span.pixel_ps / ratio, width)
    codes = drawn.code
    if hidden:  # only counted
        fine = span.pixel_ps * span.width > FINE_BINS * scene.index.levels[0].bin_ps
        quick = coarse or (len(hidden) > MANY_HIDDEN and fine)
        counted = sample(scene.index, hidden, span.from_ps, span.pixel_ps / ratio, width, quick)
        codes = np.concatenate((codes, counted.code))
    colours = bar_colours("panel", ratio)
    shape = ((height + 2 * PAD) * ratio, width)
    buffer = reuse if reuse is not None and reuse.shape == shape else np.empty(shape, np.uint32)
    buffer.fill(colours.ground)
    dim = None
    if dim_outside is not None:
        centres = span.from_ps + (np.arange(width) + 0.5) * span.pixel_ps / ratio
        dim = (centres < dim_outside[0]) | (centres > dim_outside[1])
    looked = columns(drawn, int(span.from_ps / span.pixel_ps * ratio), dim, ratio)
    for row, top in placed:
        y = (PAD + top) * ratio
        if row.kind is Kind.STATES:
            at = places[row.block]
            y += (row.height - row.bar) // 2 * ratio
            if 0 <= y <= len(buffer) - row.bar * ratio:
                table = bar_table(row.bar, "panel", ratio, faded)
                draw_row(buffer, y, table, looked[at], drawn.pin[at], drawn.cut[at], colours)
        elif row.kind in (Kind.HEAD, Kind.CLOCK, Kind.STACK):
            sunken = bar_colours("sunken", ratio)
            buffer[max(y, 0) : max(y + row.height * ratio, 0)] = sunken.ground
            if row.kind is Kind.STACK and 0 <= y <= len(buffer) - row.height * ratio:
                working = (codes[[places[m] for m in row.members]] == WORK).sum(axis=0)
                inset = 4 * ratio
                lane = buffer[y + inset : y + row.height * ratio - inset]
                draw_counts(lane, working, len(row.members), int(sunken.plain[WORK]))
    return Surface(image_of(buffer, ratio), buffer, codes[:, ::ratio], places)


def overview_surface(scene: Scene, width: int, height: int, ratio: int = 1) -> tuple[QImage, Image]:
    """The main block's states over the whole run, stacked by share."""
    centres = (np.arange(width * ratio) + 0.5) * (scene.index.end_ps / (width * ratio))
    across = (centres / scene.index.pyramid.sum_ps).astype(np.int64)
    shares = scene.shares[:, across]
    buffer = np.ascontiguousarray(stacked_shares(shares, height * ratio, bar_colours("panel", ratio)))
    return image_of(buffer, ratio), buffer
