"""Draws the temperatures that a run printed, blue for 0 and red for 100 (Lancaster 2011, Fig. 6.3):

python surface.py RUN/stdout.txt SURFACE.svg
"""

from __future__ import annotations

import sys
from pathlib import Path

POINT = 16  # pixels


def temperatures(text: str) -> list[list[float]]:
    """The rows of numbers in what the solver printed. ValueError where rows differ in length, or there is none."""
    rows = [[float(word) for word in line.split()] for line in text.splitlines() if line.strip()]
    if not rows or any(len(row) != len(rows[0]) for row in rows):
        raise ValueError("no grid of temperatures: rows of numbers of one length are wanted")
    return rows


def surface(rows: list[list[float]]) -> str:
    """A square for each point as SVG, with its temperature as a tip."""
    points = [
        f'<rect x="{POINT * x}" y="{POINT * y}" width="{POINT}" height="{POINT}" fill="{_colour(warm)}">'
        f"<title>row {y + 1}, column {x + 1}: {warm:g}</title></rect>"
        for y, row in enumerate(rows)
        for x, warm in enumerate(row)
    ]
    size = f'width="{POINT * len(rows[0])}" height="{POINT * len(rows)}"'
    return f'<svg xmlns="http://www.w3.org/2000/svg" {size}>\n' + "\n".join(points) + "\n</svg>\n"


def _colour(warm: float) -> str:
    share = min(max(warm / 100, 0.0), 1.0)
    return f"#{round(255 * share):02x}00{round(255 * (1 - share)):02x}"


if __name__ == "__main__":
    try:
        Path(sys.argv[2]).write_text(surface(temperatures(Path(sys.argv[1]).read_text("utf-8"))), "utf-8")
    except (IndexError, OSError, ValueError) as error:
        sys.exit(f"{error}\n{__doc__}")
