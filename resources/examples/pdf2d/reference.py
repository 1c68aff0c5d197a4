"""What the 2-D PDF application must print, computed with NumPy: every bit of it, the same for both forms.

`python reference.py` prints it; `--points` and `--bins` as in the project's settings.
"""

from __future__ import annotations

import argparse
import math

import numpy as np

BATCH = 8192  # points that are computed at once here, which changes nothing
FRACTION_BITS = 9  # of points, weights and sums; squares have twice as many
HALF_WIDTH = 2048  # the square from -4 to 4


def sample_points(count: int) -> tuple[np.ndarray, np.ndarray]:
    """The host's points: x and y, int64 of shape (count,) with 9 fractional bits."""
    z = np.arange(1, count + 1, dtype=np.uint64) * np.uint64(0x9E3779B97F4A7C15)
    z = (z ^ (z >> np.uint64(32))) * np.uint64(0xD6E8FEB86659FD93)
    z = z ^ (z >> np.uint64(32))
    part = [((z >> np.uint64(shift)) & np.uint64(2047)).astype(np.int64) for shift in (0, 11, 22, 33)]
    return part[0] + part[1] - HALF_WIDTH, part[2] + part[3] - HALF_WIDTH


def batch_bins(x: np.ndarray, y: np.ndarray, bins: int) -> np.ndarray:
    """The bins of some points: int64 of shape (bins, bins), rows along y, 9 fractional bits. Each weight is rounded."""
    spacing = 2 * HALF_WIDTH // bins
    centres = np.arange(bins) * spacing - HALF_WIDTH + spacing // 2
    dx_squared = (x[:, None] - centres) ** 2
    dy_squared = (y[:, None] - centres) ** 2
    inside = spacing * spacing // 2 - (dy_squared[:, :, None] + dx_squared[:, None, :])
    return (np.maximum(inside, 0) + (1 << FRACTION_BITS - 1) >> FRACTION_BITS).sum(axis=0)


def total_bins(x: np.ndarray, y: np.ndarray, bins: int) -> np.ndarray:
    """What the host adds up over all batches, int64 of shape (bins, bins)."""
    parts = (batch_bins(x[i : i + BATCH], y[i : i + BATCH], bins) for i in range(0, len(x), BATCH))
    return np.sum(list(parts), axis=0)


def expected_output(points: int = 163_840, bins: int = 8) -> str:
    """The host's whole standard output."""
    total = total_bins(*sample_points(points), bins)
    checksum = 0xCBF29CE484222325
    for value in total.ravel().tolist():
        checksum = (checksum ^ value) * 0x100000001B3 % 2**64
    spacing = 8.0 / bins
    integral = math.pi / 8 * spacing * spacing * spacing * spacing
    lines = [f"{points} points, {bins} x {bins} bins", f"checksum {checksum:016x}"]
    for i in range(bins):
        value = int(total[i, i])
        lines.append(f"bin {i} {i}: {value}, density {value / 512 / points / integral:.6f}")
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--points", type=int, default=163_840)
    parser.add_argument("--bins", type=int, default=8)
    arguments = parser.parse_args()
    print(expected_output(arguments.points, arguments.bins), end="")
