"""Clock cycles on the virtual clock, exactly: cycle k begins at k rational periods (resources/card/README.md)."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from workbench.model.run import PS_PER_S


def period_ps(clock_hz: float) -> Fraction:
    """A cycle's length in picoseconds, of the frequency as it is written in decimal."""
    return PS_PER_S / Fraction(str(clock_hz))


def at_end_of(cycles: int, clock_hz: float, other_hz: float) -> int:
    """How many cycles of another clock are over when so many of a clock are, both having begun at once."""
    return int(cycles * period_ps(clock_hz) / period_ps(other_hz))


def cycle_start_ps(cycle: int, clock_hz: float) -> int:
    """The first whole picosecond in a cycle."""
    period = period_ps(clock_hz)
    return -(-cycle * period.numerator // period.denominator)


def cycle_starts_ps(cycles: NDArray[np.int64], clock_hz: float) -> NDArray[np.int64]:
    """The first whole picosecond in each of the cycles."""
    period = period_ps(clock_hz)
    whole, part = divmod(period.numerator, period.denominator)
    if period.denominator >= 1 << 31:  # Python's integers where 64 bits do not hold the products
        cycles = cycles.astype(object)
    rounds, rest = cycles // period.denominator, cycles % period.denominator
    starts: NDArray[np.int64] = cycles * whole + rounds * part - (-(rest * part) // period.denominator)
    return starts.astype(np.int64)
