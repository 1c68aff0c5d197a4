"""How deep FIFOs have to be, by a function that says how many cycles a run with some depths takes: milliseconds where
it replays (`words.py`)."""

import itertools
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

LOSS = 0.01
AMPLE = 1 << 16  # words that a FIFO holds that is as deep as it likes
FAILED = 1 << 62  # cycles of a run that does not come to its end
_MOST_TRIES = 3000
_STEPS = 32  # in which a depth goes down to a half where there is not time for each word

CyclesOf = Callable[[Mapping[str, int]], int]


@dataclass(frozen=True)
class Choice:
    """Depths (words, by FIFO), the cycles with them, and the memory that they take."""

    cycles: int
    bits: int
    depths: Mapping[str, int]


def least_depths(most: Mapping[str, int], cycles_of: CyclesOf, best: int, loss: float = LOSS) -> dict[str, int]:
    """The least depths (words, by FIFO) with which the time stays within `loss` of the `best` one (cycles).

    `most` is what each held at most where they are as deep as they like; `cycles_of` runs with some depths. One word
    more than that is enough for the same time, or twice that, and so on, where a FIFO has latencies of its own; from
    there each is bisected, the one that held most first, while the others stay.
    """
    depths = {name: words + 1 for name, words in most.items()}  # a full FIFO takes nothing while it gives
    limit = best / (1 - loss)
    while cycles_of(depths) > limit and max(depths.values(), default=AMPLE) < AMPLE:
        depths = {name: 2 * words for name, words in depths.items()}
    return reduced(depths, cycles_of, limit)


def reduced(depths: Mapping[str, int], cycles_of: CyclesOf, limit: float) -> dict[str, int]:
    """Depths of which none can be less while the time stays within the `limit`: each is bisected, the deepest first."""
    depths = dict(depths)
    for name in sorted(depths, key=lambda one: -depths[one]):
        low, high = 0, depths[name]  # too little, and enough
        while high - low > 1:
            middle = (low + high) // 2
            if cycles_of({**depths, name: middle}) <= limit:
                high = middle
            else:
                low = middle
        depths[name] = high
    return depths


def front(most: Mapping[str, int], bits: Mapping[str, int], cycles_of: CyclesOf) -> tuple[Choice, ...]:
    """Depths of which no others take as few cycles with less memory, from the fastest on. `bits` are the words' widths.

    All combinations where these are few. Else depths go down word by word, each time where that costs the least cycles
    for the memory; what that way misses is missing.
    """
    tried = tried_depths(most, bits, cycles_of)
    choices = [
        Choice(cycles, sum(bits[name] * words for name, words in depths.items()), depths)
        for depths in tried if (cycles := cycles_of(depths)) < FAILED
    ]  # fmt: skip
    best: list[Choice] = []
    for choice in sorted(choices, key=lambda one: (one.cycles, one.bits)):
        if not best or choice.bits < best[-1].bits:
            best.append(choice)
    return tuple(best)


def tried_depths(
    most: Mapping[str, int], bits: Mapping[str, int], cycles_of: CyclesOf, most_tries: int = _MOST_TRIES
) -> list[dict[str, int]]:
    """The depths that a front is made of: all combinations, or those on a way down (see `front`)."""
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
