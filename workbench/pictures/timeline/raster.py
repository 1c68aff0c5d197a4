"""Timeline rows as pixels: category codes are looked up in prepared columns of colour."""

from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from workbench.model.pragma import UNCLASSIFIED, Category
from workbench.pictures.palette import PALETTES, Palette
from workbench.pictures.states import PATTERN_FROM_PX, TILES
from workbench.traces.sample import Pixels
from workbench.traces.trace import CATEGORIES, NOTHING, WAIT_CODES, Bytes

Image = NDArray[np.uint32]
PERIOD = 60  # pixels after which every pattern repeats
WAIT_HEIGHT = 0.44


@dataclass(frozen=True)
class BarColours:
    """Colours as 0xFFRRGGBB: `plain` (8) by category code, `tiles` (8, n, n) the same with patterns; `ground` is the
    background."""

    plain: Image
    tiles: Image
    ground: int
    scale: int = 1
    faded_alpha: float = 0.42


def category(code: int) -> Category | None:
    """The category of a code; None is unclassified."""
    name = CATEGORIES[code]
    return None if name == UNCLASSIFIED else Category(name)


def bar_colours(palette: Palette, ground: str = "panel", scale: int = 1) -> BarColours:
    """The states' colours and patterns, on one of a palette's grounds."""
    return _bar_colours(palette.name, ground, scale)


@lru_cache(maxsize=16)
def _bar_colours(name: str, ground: str, scale: int) -> BarColours:
    palette = PALETTES[name]
    behind = _number(palette.colour(ground))
    plain = np.full(NOTHING + 1, behind, np.uint32)
    tiles = np.full((NOTHING + 1, PERIOD * scale, PERIOD * scale), behind, np.uint32)
    for code in range(NOTHING):
        plain[code] = _number(palette.states[category(code)])
        tiles[code] = _patterned(palette, category(code), scale)
    return BarColours(plain, tiles, behind, scale)


def _number(colour: str) -> int:
    return 0xFF000000 | int(colour[1:], 16)


def _patterned(palette: Palette, kind: Category | None, scale: int) -> Image:
    """A state's colour with its pattern, which covers each pixel by the area of its lines and dots in it."""
    tile = TILES[kind]
    at = ((np.arange(PERIOD * scale) + 0.5) / scale) % tile.size
    x, y = at[None, :], at[:, None]
    covered = np.zeros((len(at), len(at)))
    for x0, y0, x1, y1 in tile.lines:
        away = np.abs((x - x0) * (y1 - y0) - (y - y0) * (x1 - x0)) / np.hypot(x1 - x0, y1 - y0)
        covered = np.maximum(covered, _reached(tile.line / 2 - away, scale))
    for dot_x, dot_y in tile.dots:
        covered = np.maximum(covered, _reached(1.0 - np.hypot(x - dot_x, y - dot_y), scale))
    under, over = _number(palette.states[kind]), np.uint32(_number(palette.pattern))
    return blend(under, over, covered * palette.pattern_opacity)


def _reached(inside: NDArray[np.float64], scale: int) -> NDArray[np.float64]:
    """The covered part of a pixel whose middle is this far inside of an edge (negative: outside)."""
    return np.clip(inside * scale + 0.5, 0.0, 1.0)


@lru_cache(maxsize=64)
def _bar_table(name: str, height: int, ground: str, scale: int, faded: frozenset[int]) -> Image:
    return column_table(height * scale, _bar_colours(name, ground, scale), faded)


def bar_table(palette: Palette, height: int, ground: str, scale: int, faded: frozenset[int]) -> Image:
    """The colour columns of a bar of this height (logical pixels)."""
    return _bar_table(palette.name, height, ground, scale, faded)


def column_table(height: int, colours: BarColours, faded: frozenset[int] = frozenset()) -> Image:
    """Colour columns, shape (height, 4 * 8 * period): [dimmed][plain][code][x]. Waits are 44 % high, centred."""
    period = PERIOD * colours.scale
    table = np.full((height, 2, 2, NOTHING + 1, period), colours.ground, np.uint32)
    for code in range(NOTHING):
        low = height >= 5 * colours.scale and code in WAIT_CODES
        tall = round(height * WAIT_HEIGHT) if low else height
        top = (height - tall) // 2
        part = slice(top, top + tall)
        tile = colours.tiles[code, np.arange(tall) % period]
        for dimmed in (0, 1):
            alpha = colours.faded_alpha if dimmed or code in faded else 1.0
            table[part, dimmed, 1, code] = blend(colours.ground, colours.plain[code], alpha)
            table[part, dimmed, 0, code] = blend(colours.ground, tile, alpha)
    return table.reshape(height, -1)


def blend(under: int, over: Image | np.uint32, alpha: float | NDArray[np.float64]) -> Image:
    """`over` at `alpha` opacity over one colour, by pixel."""
    result = np.full(np.broadcast_shapes(np.shape(over), np.shape(alpha)), 0xFF, np.uint32)
    for shift in (16, 8, 0):
        low, high = (under >> shift) & 255, ((over >> shift) & 255).astype(np.float64)
        result = (result << np.uint32(8)) | np.rint(low + (high - low) * alpha).astype(np.uint32)
    return result


def columns(pixels: Pixels, phase: int = 0, dim: NDArray[np.bool_] | None = None, scale: int = 1) -> NDArray[np.intp]:
    """Indices into `column_table`, shape (rows, width). `dim` (width) marks pixels outside a selected range."""
    code = pixels.code
    period = PERIOD * scale
    narrow = ~in_runs(code, PATTERN_FROM_PX * scale)
    across = ((np.arange(code.shape[1]) + phase) % period).astype(np.int32)
    indices = (narrow * np.int32(NOTHING + 1) + code) * np.int32(period) + across
    if dim is not None:
        indices += (dim * (2 * (NOTHING + 1) * period)).astype(np.int32)
    return indices.astype(np.intp)


def in_runs(code: Bytes, least: int) -> NDArray[np.bool_]:
    """A mask of the pixels in a run of at least `least` equal ones."""
    same = np.ones((code.shape[0], max(code.shape[1] - least + 1, 0)), np.bool_)
    for shift in range(1, least):
        same &= code[:, : same.shape[1]] == code[:, shift : shift + same.shape[1]]
    runs = np.zeros(code.shape, np.bool_)
    for shift in range(least):
        runs[:, shift : shift + same.shape[1]] |= same
    return runs


def draw_row(
    bar: Image, table: Image, wanted: NDArray[np.intp], pins: Bytes, cuts: NDArray[np.bool_] | None, colours: BarColours
) -> None:
    """Draw one row's bar into its part of an image, with gaps between intervals and ticks for waits too short to
    see."""
    bar = bar[:, : len(wanted)]
    np.take(table, wanted, axis=1, out=bar, mode="clip")
    scale, height = colours.scale, len(bar)
    if cuts is not None:
        bar[:, cuts] = colours.ground
    if (pins != NOTHING).any():
        rows = slice(0, height) if height < 6 * scale else slice(height - 4 * scale, height)
        for x in np.flatnonzero(pins != NOTHING):
            bar[rows, max(x - scale + 1, 0) : x + scale + 1] = colours.plain[pins[x]]


def soften(bar: Image, reach: int) -> None:
    """The image with edges blurred by an uncertainty in pixels: each pixel becomes the mean of all that far around
    it."""
    reach = min(reach, bar.shape[1])
    across = 2 * reach + 1
    padded = np.pad(bar, ((0, 0), (reach, reach)), "edge")
    soft = np.full(bar.shape, 0xFF, np.uint32)
    for shift in (16, 8, 0):
        sums = np.pad((padded >> np.uint32(shift) & np.uint32(255)).cumsum(axis=1, dtype=np.uint32), ((0, 0), (1, 0)))
        soft = soft << np.uint32(8) | (sums[:, across:] - sums[:, :-across]) // np.uint32(across)
    bar[:] = soft


def draw_counts(lane: Image, counts: NDArray[np.int64], most: int, colour: int) -> None:
    """Draw an area chart of counts from 0 to `most`, from the lane's foot upwards."""
    heights = np.ceil(counts * (len(lane) / most)).astype(np.int64)
    lane[len(lane) - 1 - np.arange(len(lane))[:, None] < heights] = colour


#: The states from the bottom of a stack of shares.
_STACKED = (*map(CATEGORIES.index, ("work", "wait_recv", "wait_send", "recv", "send", "overhead")), 0)


@lru_cache(maxsize=16)
def _share_table(name: str, ground: str, scale: int, faded: frozenset[int]) -> Image:
    """Colours of shares, shape (2 * 8, period, period): of each place of the stack patterned, then plain; the last is
    the ground."""
    colours = _bar_colours(name, ground, scale)
    table = np.full((2, NOTHING + 1, PERIOD * scale, PERIOD * scale), colours.ground, np.uint32)
    for place, code in enumerate(_STACKED):
        alpha = colours.faded_alpha if code in faded else 1.0
        table[0, place] = blend(colours.ground, colours.tiles[code], alpha)
        table[1, place] = blend(colours.ground, colours.plain[code], alpha)
    return table.reshape(2 * (NOTHING + 1), PERIOD * scale, PERIOD * scale)


def stacked_shares(
    shares: NDArray[np.float64], which: NDArray[np.int64], height: int, palette: Palette, scale: int = 1,
    faded: frozenset[int] = frozenset(), phase: int = 0, image: Image | None = None,
) -> Image:  # fmt: skip
    """Shares of (categories, bins) stacked from the bottom, work lowest: drawn in an image of (height, width), of which
    each column shows the bin `which` (width). Patterns are where a state's share is high enough to tell it by."""
    tops = np.rint(np.cumsum(shares[list(_STACKED)], axis=0) * height).astype(np.int16)
    below = (height - 1 - np.arange(height, dtype=np.int16))[:, None]
    place = np.zeros((height, shares.shape[1]), np.uint8)  # how many shares end at or below a pixel
    for top in tops:
        place += below >= top
    low = np.diff(tops, axis=0, prepend=np.int16(0)) < PATTERN_FROM_PX * scale
    low = np.append(low, np.zeros((1, low.shape[1]), np.bool_), axis=0)  # the ground
    place += np.take_along_axis(low, place.astype(np.intp), axis=0) * np.uint8(NOTHING + 1)
    table, period = _share_table(palette.name, "panel", scale, faded), PERIOD * scale
    across, down = (np.arange(len(which)) + phase) % period, np.arange(height) % period
    of_bins = place.astype(np.intp) * (period * period) + (down * period)[:, None]
    index = of_bins.take(which, axis=1)
    index += across
    return table.ravel().take(index, out=image, mode="clip")
