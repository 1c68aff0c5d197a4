"""Searches FIFO depths with a function from depths to cycles, which takes milliseconds as a replay (`words.py`)."""

import itertools
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

LOSS = 0.01
AMPLE = 1 << 16  # words: an unlimited depth
FAILED = 1 << 62  # cycles of a run that deadlocks
_MOST_TRIES = 3000
_STEPS = 32  # steps from a depth to its half, if single words would take too long

CyclesOf = Callable[[Mapping[str, int]], int]


@dataclass(frozen=True)
class Choice:
    """Depths (words, by FIFO), the cycles and the memory that they take."""

    cycles: int
    bits: int
    depths: Mapping[str, int]


def least_depths(most: Mapping[str, int], cycles_of: CyclesOf, best: int, loss: float = LOSS) -> dict[str, int]:
    """The least depths (words, by FIFO) whose time is within `loss` of `best` (cycles).

    `most` is the largest occupancy of each FIFO at unlimited depth; `cycles_of` gives the cycles for some depths. One
    word more is enough for the same time; FIFOs with latencies of their own may need a multiple, so all are doubled
    until the time fits. Then each is bisected, the deepest first, while the others stay.
    """
    depths = {name: words + 1 for name, words in most.items()}  # a full FIFO does not take a word while it gives one
    limit = best / (1 - loss)
    while cycles_of(depths) > limit and max(depths.values(), default=AMPLE) < AMPLE:
        depths = {name: 2 * words for name, words in depths.items()}
    return reduced(depths, cycles_of, limit)


def reduced(depths: Mapping[str, int], cycles_of: CyclesOf, limit: float) -> dict[str, int]:
    """Depths that cannot be reduced within the `limit`: each is bisected, the deepest first."""
    depths = dict(depths)
    for name in sorted(depths, key=lambda one: -depths[one]):
        low, high = 0, depths[name]  # too small, and sufficient
        while high - low > 1:
            middle = (low + high) // 2
            if cycles_of({**depths, name: middle}) <= limit:
                high = middle
            else:
                low = middle
        depths[name] = high
    return depths


def front(most: Mapping[str, int], bits: Mapping[str, int], cycles_of: CyclesOf) -> tuple[Choice, ...]:
    """The Pareto front of cycles against memory, from the fastest point on. `bits` are the words' widths.

    If there are few combinations, all are tried. Otherwise depths are reduced word by word, each time where it costs
    the fewest cycles for the memory; points off this way are missed.
    """
    tried = tried_depths(most, bits, cycles_of)
    choices = [
        Choice(cycles, sum(bits[name] * words for name, words in depths.items()), depths)
        for depths in tried if (cycles := cycles_of(depths)) < FAILED
    ]  # fmt: skip
    best: list[Choice] = []
    for choice in sorted(choices, key=lambda each: (each.cycles, each.bits)):
        if not best or choice.bits < best[-1].bits:
            best.append(choice)
    return tuple(best)


def tried_depths(
    most: Mapping[str, int], bits: Mapping[str, int], cycles_of: CyclesOf, most_tries: int = _MOST_TRIES
) -> list[dict[str, int]]:
    """The depths that the front is chosen from: all combinations, or those on the way down (see `front`)."""
    names = list(most)
    ranges = [range(1, most[name] + 2) for name in names]
    few = math.prod(len(one) for one in ranges) <= most_tries
    return _all(names, ranges) if few else _down(names, most, bits, cycles_of)


def _all(names: Sequence[str], ranges: Sequence[range]) -> list[dict[str, int]]:
    return [dict(zip(names, words, strict=True)) for words in itertools.product(*ranges)]


def _down(
    names: Sequence[str], most: Mapping[str, int], bits: Mapping[str, int], cycles_of: CyclesOf
) -> list[dict[str, int]]:
    depths = {name: most[name] + 1 for name in names}
    tried = [depths]
    while True:
        now, steps = cycles_of(depths), []
        for name in names:
            by = max(1, depths[name] // _STEPS)
            if depths[name] > by:
                less = {**depths, name: depths[name] - by}
                steps.append(((cycles_of(less) - now) / (by * max(bits[name], 1)), less))
        if not steps or min(steps, key=lambda step: step[0])[0] > FAILED / 1e6:
            return tried
        depths = min(steps, key=lambda step: step[0])[1]
        tried.append(depths)
