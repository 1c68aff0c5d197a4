"""The visible bars of all rows as one image, and the overview as another."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from workbench.model.blocks import Side
from workbench.pictures.palette import Palette
from workbench.pictures.timeline.hits import SHARE_PX
from workbench.pictures.timeline.raster import (
    BarColours,
    Image,
    bar_colours,
    bar_table,
    blend,
    columns,
    draw_counts,
    draw_row,
    soften,
    stacked_shares,
)
from workbench.pictures.timeline.rows import SUNKEN, Kind, Row
from workbench.pictures.timeline.scale import Span
from workbench.traces.clocks import unsure_ps
from workbench.traces.sample import Counts, Pixels, count_at_once, sample
from workbench.traces.scene import Scene
from workbench.traces.shares import category_shares, rare_waits
from workbench.traces.trace import CATEGORIES, NOTHING

WORK = CATEGORIES.index("work")
#: A stack of more members is counted from the pyramid if this many of its bins are visible.
MANY_MEMBERS, FINE_BINS = 200, 400
TICK_PX = 5
INSET_PX = 4  # of a stack's counts in their lane
OVERVIEW_OPACITY = 0.62


@dataclass(frozen=True)
class Surface:
    """An image of bars: `buffer` holds the pixels, with `pad` units more above and below the visible part, for cut
    rows; `working` maps a visible stack's key to the number of its members at work at each unit."""

    buffer: Image
    working: Mapping[str, Counts]
    pad: int


def rows_surface(
    scene: Scene,
    placed: Sequence[tuple[Row, int]],
    span: Span,
    height: int,
    palette: Palette,
    density: int = 1,
    dim_outside: tuple[int, int] | None = None,
    faded: frozenset[int] = frozenset(),
    coarse: bool = False,
    reuse: Image | None = None,
) -> Surface:
    """Draw rows at their tops (units from the image's first visible line). Rows are dimmed outside a range; edges in
    the FPGA are blurred by their uncertainty.

    `coarse` counts stacks from the pyramid alone. `reuse` is a buffer that is no longer shown; it saves the time of
    allocating memory.
    """
    bars = [row.block for row, _ in placed if row.kind is Kind.STATES]
    places = {block: at for at, block in enumerate(bars)}
    width, pixel_ps = span.width * density, span.pixel_ps / density
    drawn = sample(scene.index, bars, span.from_ps, pixel_ps, width)
    buses = [scene.buses[row.members[0]] for row, _ in placed if row.kind is Kind.BUS]
    bus_codes = np.array([bus.codes(span.from_ps, pixel_ps, width) for bus in buses], np.uint8).reshape(-1, width)
    colours, sunken = bar_colours(palette, "panel", density), bar_colours(palette, "sunken", density)
    pad = max((row.height for row, _ in placed), default=0)
    shape = ((height + 2 * pad) * density, width)
    buffer = reuse if reuse is not None and reuse.shape == shape else np.empty(shape, np.uint32)
    dim = None
    if dim_outside is not None:
        centres = span.from_ps + (np.arange(width) + 0.5) * pixel_ps
        dim = (centres < dim_outside[0]) | (centres > dim_outside[1])
    looked = columns(drawn, int(span.from_ps / pixel_ps), dim, density)
    reach = int(unsure_ps(scene.run) / pixel_ps)
    of_buses = iter(columns(Pixels(bus_codes, none := np.full_like(bus_codes, NOTHING), none > NOTHING, True),
                            int(span.from_ps / pixel_ps), dim, density))  # fmt: skip
    working: dict[str, Counts] = {}
    end = 0
    for row, top in placed:
        y = (pad + top) * density
        end = y + row.height * density
        if row.kind in SUNKEN:
            lane = buffer[y:end]
            lane.fill(sunken.ground)
            if row.kind is Kind.STACK:
                counts = _working(scene, row, span.from_ps, pixel_ps, width, coarse)
                lane = lane[INSET_PX * density : -INSET_PX * density]
                draw_counts(lane, counts, len(row.members), int(sunken.plain[WORK]))
                _draw_rare(lane, scene, row, span.from_ps, pixel_ps, colours)
                working[row.key] = counts[::density]
            continue
        bar = y + (row.height - row.bar) // 2 * density
        lane = buffer[bar : bar + row.bar * density]
        buffer[y:bar].fill(colours.ground)  # what is covered is not filled: each pass over all pixels takes time
        buffer[bar + row.bar * density : end].fill(colours.ground)
        if row.kind is Kind.STATES:
            at = places[row.block]
            table = bar_table(palette, row.bar, "panel", density, faded)
            draw_row(lane, table, looked[at], drawn.pin[at], drawn.cut[at], colours)
            if reach and scene.blocks[row.block].side is Side.FPGA:
                soften(lane, reach)
        elif row.kind is Kind.BUS:
            table = bar_table(palette, row.bar, "panel", density, faded)
            draw_row(lane, table, next(of_buses), none[0], None, colours)
        elif row.kind is Kind.SHARES:
            _draw_shares(lane, scene, row, span, palette, density, faded, coarse)
            _draw_rare(lane, scene, row, span.from_ps, pixel_ps, colours)
        else:
            lane.fill(colours.ground)
    buffer[end:].fill(colours.ground)
    return Surface(buffer, working, pad)


def _draw_shares(
    lane: Image, scene: Scene, row: Row, span: Span, palette: Palette, scale: int, faded: frozenset[int], coarse: bool
) -> None:
    """Draw the shares of a row's states in bins of a few pixels that stay in place as the view moves."""
    bin_ps = SHARE_PX * span.pixel_ps
    first = math.floor(span.from_ps / bin_ps)
    bins = math.ceil(span.to_ps / bin_ps) - first
    shares = category_shares(scene.index, row.members, first * bin_ps, bin_ps, bins, coarse)
    middles = span.from_ps + (np.arange(span.width * scale) + 0.5) * span.pixel_ps / scale
    bin_index = ((middles / bin_ps).astype(np.int64) - first).clip(0, bins - 1)
    phase = int(span.from_ps / span.pixel_ps * scale)
    stacked_shares(shares, bin_index, len(lane), palette, scale, faded, phase, lane)


def _draw_rare(lane: Image, scene: Scene, row: Row, from_ps: float, pixel_ps: float, colours: BarColours) -> None:
    """Draw ticks at the lane's top where one of the row's blocks waits unusually."""
    codes = rare_waits(scene.index, row.members, from_ps, pixel_ps, lane.shape[1])
    high, scale = TICK_PX * colours.scale, colours.scale
    for x in np.flatnonzero(codes != NOTHING).tolist():
        lane[:high, max(x - scale + 1, 0) : x + scale + 1] = colours.plain[codes[x]]


def _working(scene: Scene, row: Row, from_ps: float, pixel_ps: float, width: int, coarse: bool) -> Counts:
    """The number of a stack's members at work: exact, except for a large one with much of it visible."""
    is_much = pixel_ps * width > FINE_BINS * scene.index.levels[0].bin_ps
    if coarse or (len(row.members) > MANY_MEMBERS and is_much):
        return count_at_once(scene.index, row.members, WORK, from_ps, pixel_ps, width)
    counts: Counts = (sample(scene.index, row.members, from_ps, pixel_ps, width).code == WORK).sum(axis=0)
    return counts


def overview_surface(scene: Scene, width: int, height: int, palette: Palette, density: int = 1) -> Image:
    """The main block's states over the whole run, stacked by share."""
    centres = (np.arange(width * density) + 0.5) * (scene.index.end_ps / (width * density))
    across = (centres / scene.index.pyramid.sum_ps).astype(np.int64)
    opacity = 1.0 if palette.is_strong else OVERVIEW_OPACITY
    drawn = stacked_shares(scene.shares, across, height * density, palette, density)
    return blend(bar_colours(palette, "panel", density).ground, drawn, opacity)
