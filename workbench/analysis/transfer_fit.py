"""Fits a latency and a bandwidth to the transfer times of a table, with the residual of each point.

A transfer of n bytes takes latency + n / bandwidth (Hockney, "The communication challenge for MPP", Parallel Computing
20, 1994, eq. 1). The fit minimises the squares of the relative residuals, so that small transfers count as much as
large ones.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from workbench.model.text import NARROW, bytes_text, rate_text, time_text, trimmed

INTERPOLATED = "interpolated"
_LEAST_SOURCES = 3  # with this many measured points, interpolated ones are left out


@dataclass(frozen=True)
class TransferFit:
    """A fitted latency and bandwidth. `residuals` holds each given point's relative residual: longer (+) or shorter (-)
    than the fit; `used` marks the fitted points."""

    latency_s: float
    rate_bytes_per_s: float
    residuals: tuple[float, ...]
    used: tuple[bool, ...]

    @property
    def half_bytes(self) -> float:
        """The size (bytes) that reaches half of the bandwidth."""
        return self.latency_s * self.rate_bytes_per_s

    @property
    def worst(self) -> float:
        """The largest absolute residual, as a fraction."""
        return max(map(abs, self.residuals))

    def time_s(self, size_bytes: float) -> float:
        return self.latency_s + size_bytes / self.rate_bytes_per_s

    @property
    def words(self) -> str:
        """`16 µs + size / 377 MB/s, half of that at 5.9 KiB; points within 22 %`."""
        rate, half = trimmed(rate_text(self.rate_bytes_per_s)), bytes_text(float(f"{self.half_bytes:.3g}"))
        return f"{time_text(self.latency_s)} + size / {rate}, half of that at {half}; points within {self.worst_text}"

    @property
    def worst_text(self) -> str:
        return f"{_percent(self.worst)}{NARROW}%" if self.worst >= 0.001 else f"0.1{NARROW}%"


def fit_transfers(
    sizes_bytes: Sequence[float], times_s: Sequence[float], sources: Sequence[str] = ()
) -> TransferFit | None:
    """Fit at least two sizes. Points marked as interpolated are left out if three others exist. None if there are fewer
    sizes, or if times do not grow with them."""
    size, time = np.asarray(sizes_bytes, float), np.asarray(times_s, float)
    used = np.array([text.strip() != INTERPOLATED for text in sources] or [True] * len(size), bool)
    if used.sum() < _LEAST_SOURCES:
        used[:] = True
    if len(set(size[used].tolist())) < 2:
        return None
    scaled = np.column_stack((1 / time[used], size[used] / time[used]))
    latency_s, per_byte_s = np.linalg.lstsq(scaled, np.ones(int(used.sum())), rcond=None)[0]
    if latency_s < 0:
        one = scaled[:, 1]
        latency_s, per_byte_s = 0.0, float(one.sum() / (one @ one))
    if per_byte_s <= 0:
        return None
    residuals = time / (latency_s + size * per_byte_s) - 1
    return TransferFit(float(latency_s), float(1 / per_byte_s), tuple(residuals.tolist()), tuple(used.tolist()))


def residual_text(residual: float) -> str:
    """A residual in percent: `+3.1 %`; `0 %` below a thousandth."""
    return f"0{NARROW}%" if abs(residual) < 0.001 else f"{_percent(residual, '+')}{NARROW}%".replace("-", "−")


def _percent(fraction: float, sign: str = "") -> str:
    """Two significant digits in percent, but every digit of a hundred or more."""
    return f"{100 * fraction:{sign}{'.0f' if abs(fraction) >= 0.995 else '.2g'}}"
