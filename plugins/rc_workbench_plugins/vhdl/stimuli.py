"""Inputs at random for a design in a bench, as rows of characters."""

from collections.abc import Iterator, Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

BIT = (0, 1, 1)
Element = tuple[int, int, int]  # the least and the highest value, and the bits
Pins = Mapping[str, tuple[Element, ...]]


def rows_a_cycle(clocks: Sequence[str]) -> int:
    """One for other inputs, and two for the halves of the first clock's cycle; each of these is followed by one for an
    edge of another clock, if there are any: what two clocks do at once is open in VHDL."""
    return 5 if len(clocks) > 1 else 3


def stimuli(inputs: Pins, clocks: Sequence[str], resets: Mapping[str, bool], cycles: int, seed: int) -> list[str]:
    """Rows of the inputs' characters. In `resets` is whether low means reset."""
    draw = np.random.default_rng(seed)
    rows = rows_a_cycle(clocks)
    resetting = np.zeros(cycles, bool)
    resetting[:8] = True
    for begin in np.flatnonzero(draw.random(cycles) < 0.001):
        resetting[begin : begin + draw.integers(1, 6)] = True
    levels = dict(_levels(clocks, cycles, draw))
    columns: list[NDArray[np.uint8]] = []
    for name, elements in inputs.items():
        if name in levels:
            column = levels[name].reshape(-1, 1)
        elif name in resets:
            column = np.repeat(resetting != resets[name], rows).astype(np.uint8).reshape(-1, 1)
        else:
            column = np.repeat(_drawn(elements, cycles, draw), rows, axis=0)
        columns.append(column)
    table = np.concatenate([np.empty((cycles * rows, 0), np.uint8), *columns], axis=1) + ord("0")
    return [row.tobytes().decode() for row in table]


def _levels(clocks: Sequence[str], cycles: int, draw: np.random.Generator) -> Iterator[tuple[str, NDArray[np.uint8]]]:
    """What clocks are in each row: others than the first have an edge by chance, one at a time."""
    first, others = clocks[:1], clocks[1:]
    one = np.array([0, 1, 1, 0, 0] if others else [0, 1, 0], np.uint8)
    yield from ((name, np.tile(one, cycles)) for name in first)
    turn = draw.integers(0, len(others) + 1, 2 * cycles)
    for number, name in enumerate(others):
        level = np.concatenate(([0], np.cumsum(turn == number) % 2)).astype(np.uint8)
        before, half, after = level[:-1:2], level[1::2], level[2::2]
        yield name, np.stack([before, before, half, half, after], axis=1).reshape(-1)


def _drawn(elements: Sequence[Element], cycles: int, draw: np.random.Generator) -> NDArray[np.uint8]:
    """Characters of one input over the cycles: for a while at random, held, none, all, small or seldom: what is random
    all the time seldom gets far into a design."""
    bits = sum(width for _, _, width in elements)
    values = np.zeros((cycles, bits), np.uint8)
    at = 0
    while at < cycles:
        end = min(cycles, at + int(draw.geometric(1 / 64 if at & 4096 else 1 / 8)))
        part = draw.integers(0, 2, (end - at, bits), np.uint8)
        manner = draw.integers(6)
        if manner == 1 and at:
            part[:] = values[at - 1]
        elif manner == 2:
            part[:] = 0
        elif manner == 3:
            part[:] = 1
        elif manner == 4:
            part[:, :-3] = 0
        elif manner == 5:
            part[draw.random(end - at) >= 1 / 16] = 0
        values[at:end] = part
        at = end
    place = 0
    for low, high, width in elements:
        if (low, high, width) != BIT:
            values[:, place : place + width] = _within(values[:, place : place + width], low, high)
        place += width
    return values


def _within(bits: NDArray[np.uint8], low: int, high: int) -> NDArray[np.uint8]:
    """Numbers as bits, brought into their range."""
    width = bits.shape[1]
    weights = 1 << np.arange(width - 1, -1, -1, dtype=np.int64)
    numbers = low + (bits @ weights) % (high - low + 1)
    return ((numbers[:, None] & weights) != 0).astype(np.uint8)
