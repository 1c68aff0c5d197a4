"""Inputs at random for a design in a bench, as rows of characters."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

ROWS_A_CYCLE = 3  # other inputs, and the two halves of the first clock
BIT = (0, 1, 1)
Element = tuple[int, int, int]  # the least and the highest value, and the bits
Pins = Mapping[str, tuple[Element, ...]]


def stimuli(inputs: Pins, clocks: Sequence[str], resets: Mapping[str, bool], cycles: int, seed: int) -> list[str]:
    """Rows of the inputs' characters: other values, then the two halves of the first clock's cycle, in which others
    have an edge by chance. In `resets` is whether low means reset."""
    draw = np.random.default_rng(seed)
    resetting = np.zeros(cycles, bool)
    resetting[:8] = True
    for begin in np.flatnonzero(draw.random(cycles) < 0.001):
        resetting[begin : begin + draw.integers(1, 6)] = True
    edges = {name: draw.random(2 * cycles) < (1 if name == clocks[0] else 0.67) for name in clocks}
    columns: list[NDArray[np.uint8]] = []
    for name, elements in inputs.items():
        if name in edges:
            level = np.concatenate(([0], np.cumsum(edges[name]) % 2)).astype(np.uint8)[: 2 * cycles + 1]
            column = np.stack([level[:-1:2], level[1::2], level[2::2]], axis=1).reshape(-1, 1)
        elif name in resets:
            column = np.repeat(resetting != resets[name], ROWS_A_CYCLE).astype(np.uint8).reshape(-1, 1)
        else:
            column = np.repeat(_drawn(elements, cycles, draw), ROWS_A_CYCLE, axis=0)
        columns.append(column)
    table = np.concatenate([np.empty((cycles * ROWS_A_CYCLE, 0), np.uint8), *columns], axis=1) + ord("0")
    return [row.tobytes().decode() for row in table]


def _drawn(elements: Sequence[Element], cycles: int, draw: np.random.Generator) -> NDArray[np.uint8]:
    """Characters of one input over the cycles: for a while at random, held, none, all, small or seldom: what is random
    all the time seldom gets far into a design."""
    bits = sum(width for _, _, width in elements)
    found = np.zeros((cycles, bits), np.uint8)
    at = 0
    while at < cycles:
        end = min(cycles, at + int(draw.geometric(1 / 64 if at & 4096 else 1 / 8)))
        part = draw.integers(0, 2, (end - at, bits), np.uint8)
        manner = draw.integers(6)
        if manner == 1 and at:
            part[:] = found[at - 1]
        elif manner == 2:
            part[:] = 0
        elif manner == 3:
            part[:] = 1
        elif manner == 4:
            part[:, :-3] = 0
        elif manner == 5:
            part[draw.random(end - at) >= 1 / 16] = 0
        found[at:end] = part
        at = end
    place = 0
    for low, high, width in elements:
        if (low, high, width) != BIT:
            found[:, place : place + width] = _within(found[:, place : place + width], low, high)
        place += width
    return found


def _within(bits: NDArray[np.uint8], low: int, high: int) -> NDArray[np.uint8]:
    """Numbers as bits, brought into their range."""
    width = bits.shape[1]
    weights = 1 << np.arange(width - 1, -1, -1, dtype=np.int64)
    numbers = low + (bits @ weights) % (high - low + 1)
    return ((numbers[:, None] & weights) != 0).astype(np.uint8)
