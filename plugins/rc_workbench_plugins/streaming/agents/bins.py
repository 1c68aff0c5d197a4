"""A histogram's bounds, among the whole numbers that hardware counts."""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import ceil

MOST_SHIFT = 40


@dataclass(frozen=True)
class Bins:
    """`bounds` are those that the whole numbers reach; word i counts from bound i - 1 on, for the measure's bin
    `bin_of[i]`. Where `scale` is not 0, v has reached 1 + ((v - bounds[0]) scale >> shift) bounds."""

    bounds: tuple[int, ...]
    bin_of: tuple[int, ...]
    scale: int = 0
    shift: int = 0


def binned(bounds: Sequence[Fraction], least: int, most: int) -> Bins:
    """The bounds among the numbers from `least` to `most`. Bins that none of these lies in have none."""
    numbers: dict[int, int] = {}
    below = 0  # the bin of the least number
    for number, bound in enumerate(bounds, 1):
        if (at := ceil(bound)) <= least:
            below = number
        elif at <= most:
            numbers[at] = number  # of equal ones the last: the bins between them are empty
    if not numbers:
        return Bins((most,), (below, below))
    reached = tuple(numbers)
    return Bins(reached, (below, *numbers.values()), *_even(reached))


def _even(bounds: Sequence[int]) -> tuple[int, int]:
    """A product that counts the bounds; (0, 0) where they do not lie evenly enough."""
    if len(bounds) < 2:
        return 0, 0
    step = Fraction(bounds[-1] - bounds[0], len(bounds) - 1)
    for shift in range(MOST_SHIFT):
        scale = ceil((1 << shift) / step)
        if all((ceil(Fraction(number << shift, scale)) == bound - bounds[0]) for number, bound in enumerate(bounds)):
            return scale, shift
    return 0, 0
