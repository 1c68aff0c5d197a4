"""What the solver prints, by a plain sequential program: `python reference.py WALK_BLOCKS [GRID WALKS]`."""

from __future__ import annotations

import sys
from collections.abc import Iterator

import numpy as np

SEED = 5489


def steps(numbers: Iterator[int]) -> Iterator[int]:
    for number in numbers:
        for shift in range(0, 16, 2):
            yield number >> shift & 3


def dealt(first: int, every: int) -> Iterator[int]:
    """Every so many-th of the generator's numbers, from one on."""
    numbers = np.random.RandomState(SEED)._bit_generator  # which seeds as the paper's authors do
    while True:
        yield from map(int, numbers.random_raw(every * 4096)[first::every])


def walked(numbers: Iterator[int], grid: int, walks: int) -> np.ndarray:
    """The temperature at each point, by walks from there to the edge."""
    step = steps(numbers)
    warm = np.zeros((grid, grid))
    for row in range(1, grid + 1):
        for column in range(1, grid + 1):
            for _ in range(walks):
                at_row, at_column = row, column
                while 0 < at_row <= grid and 0 < at_column <= grid:
                    way = next(step)
                    at_row += (-1, 1, 0, 0)[way]
                    at_column += (0, 0, -1, 1)[way]
                warm[row - 1, column - 1] += at_column == 0
    return 100.0 * warm / walks


def printed(blocks: int, grid: int = 16, walks: int = 8) -> str:
    """Each split deals every other number to the left: block k gets those whose number, read backwards, is k."""
    bits = blocks.bit_length() - 1
    of_block = [int(f"{k:0{bits}b}"[::-1], 2) for k in range(blocks)]
    grids = [walked(dealt(first, blocks), grid, walks) for first in of_block]
    while len(grids) > 1:
        grids = [(left + right) / 2 for left, right in zip(grids[::2], grids[1::2], strict=True)]
    return "".join(" ".join(f"{value:7.3f}" for value in row) + "\n" for row in grids[0])


if __name__ == "__main__":
    print(printed(*map(int, sys.argv[1:])), end="")
