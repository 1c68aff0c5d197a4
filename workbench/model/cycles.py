"""Clock cycles on the virtual clock, exactly: cycle k begins at k rational periods (resources/card/README.md)."""

from fractions import Fraction
from math import ceil

import numpy as np
from numpy.typing import NDArray

from workbench.model.run import PS_PER_S

_LARGEST = (1 << 63) - 1


def period_ps(clock_hz: float, ppm: float = 0.0) -> Fraction:
    """A cycle's length in picoseconds, of the frequency as it is written in decimal, or of so many millionths more.

    The replay (`resources/replay`) takes numerator and denominator as 64-bit numbers: of a frequency with more digits,
    as of a measured one, this is the nearest fraction of such."""
    period = PS_PER_S / Fraction(str(clock_hz)) / (1 + Fraction(str(ppm)) / 10**6)
    if max(period.numerator, period.denominator) <= _LARGEST:
        return period
    return period.limit_denominator(max(_LARGEST // ceil(period), 1))


def faster_hz(clock_hz: float, ppm: float) -> float:
    """A frequency that is so many millionths above another."""
    return float(PS_PER_S / period_ps(clock_hz, ppm)) if ppm else clock_hz


def trillionths(ppm: float) -> int:
    """Millionths in whole millionths of these: how a drift is reported (resources/card/clock.h)."""
    return round(Fraction(str(ppm)) * 10**6)


def ahead_ps(ps: int, drift_ppm_per_s: float) -> int:
    """How much earlier a cycle begins that would begin at a time, of a clock that runs so much faster each second."""
    return _ahead_ps(ps, trillionths(drift_ppm_per_s))


def _ahead_ps(ps: int, rate: int) -> int:
    ahead = ps * ps // (2 * PS_PER_S) * abs(rate) // 10**12
    return ahead if rate > 0 else -ahead


def at_end_of(cycles: int, clock_hz: float, other_hz: float) -> int:
    """How many cycles of another clock are over when so many of a clock are, both having started at once."""
    return int(cycles * period_ps(clock_hz) / period_ps(other_hz))


def cycle_start_ps(cycle: int, clock_hz: float, drift_ppm_per_s: float = 0.0) -> int:
    """The first whole picosecond in a cycle, of the frequency at time 0."""
    period = period_ps(clock_hz)
    ps = -(-cycle * period.numerator // period.denominator)
    return ps - ahead_ps(ps, drift_ppm_per_s)


def cycle_starts_ps(cycles: NDArray[np.int64], clock_hz: float, drift_ppm_per_s: float = 0.0) -> NDArray[np.int64]:
    """The first whole picosecond in each of the cycles."""
    starts = starts_ps(cycles, period_ps(clock_hz))
    if drift_ppm_per_s:
        rate = trillionths(drift_ppm_per_s)
        starts = np.array([ps - _ahead_ps(ps, rate) for ps in starts.ravel().tolist()], np.int64).reshape(starts.shape)
    return starts


def starts_ps(cycles: NDArray[np.int64], period: Fraction) -> NDArray[np.int64]:
    """The first whole picosecond in each of the cycles of a clock without drift, whose period is given."""
    whole, part = divmod(period.numerator, period.denominator)
    if not part:
        return cycles * whole
    if period.denominator >= 1 << 31:  # Python's integers where 64 bits do not hold the products
        cycles = cycles.astype(object)
    rounds, rest = cycles // period.denominator, cycles % period.denominator
    starts = cycles * whole + rounds * part - (-(rest * part) // period.denominator)
    return starts.astype(np.int64)
