"""The categories of states in pictures: their order, names and fill patterns."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from workbench.api.results import BlockMetrics
from workbench.model.pragma import UNCLASSIFIED, Category
from workbench.model.text import percent_text

Shares = Sequence[tuple[Category | None, float]]
#: The order of states in bars and legends; None is unclassified.
ORDER: tuple[Category | None, ...] = (*Category, None)
#: Pixels a state must be wide to carry its pattern.
PATTERN_FROM_PX = 3


@dataclass(frozen=True)
class Tile:
    """A repeating square: `lines` as (x0, y0, x1, y1), and `dots` of radius 1, over the state's colour."""

    size: float
    lines: tuple[tuple[float, float, float, float], ...] = ()
    dots: tuple[tuple[float, float], ...] = ()
    line: float = 1.1


def _slanted(size: float, *, up: bool = False, down: bool = False) -> tuple[tuple[float, float, float, float], ...]:
    """Slanted lines over a width of three tiles, so that they join at the edges."""
    starts = [i * size for i in range(-1, 3)]
    rising = [(x - size, size * 2, x + size * 2, -size) for x in starts] if up else []
    falling = [(x - size * 2, -size, x + size, size * 2) for x in starts] if down else []
    return (*rising, *falling)


#: Patterns as a second cue beside the colours, which are after Okabe and Ito.
TILES: Mapping[Category | None, Tile] = {
    Category.WORK: Tile(6),
    Category.OVERHEAD: Tile(7, dots=((1.75, 1.75), (5.25, 5.25))),
    Category.SEND: Tile(6, _slanted(6, up=True)),
    Category.RECV: Tile(6, _slanted(6, down=True)),
    Category.WAIT_SEND: Tile(4, ((3.5, 0, 3.5, 4),)),
    Category.WAIT_RECV: Tile(4, ((0, 3.5, 4, 3.5),)),
    None: Tile(5, _slanted(5, up=True, down=True), line=0.8),
}


def category_name(category: Category | None) -> str:
    return category.value if category else UNCLASSIFIED


def shares_words(shares: Shares) -> str:
    return ", ".join(f"{category_name(category)} {percent_text(share)}" for category, share in shares if share > 0)


def mean_shares(members: Sequence[BlockMetrics]) -> tuple[tuple[Category | None, float], ...]:
    """The shares of 1 by category, the mean over replicas, in the legend's order."""
    totals: dict[Category | None, float] = {}
    for metrics in members:
        total_s = max(sum(s.time_s for s in metrics.states), 1e-30)
        for state in metrics.states:
            kind = metrics.block.drawn_as(state.state)
            totals[kind] = totals.get(kind, 0.0) + state.time_s / total_s / len(members)
    return tuple((kind, totals[kind]) for kind in ORDER if totals.get(kind, 0.0) > 0)
