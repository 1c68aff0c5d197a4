"""Transfer rate by size: the platform's curves, and the application's calls where they lie on them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from math import ceil, floor, log2, log10

from workbench.analysis.svg_parts import COLOURS, rect, svg, text
from workbench.analysis.transfer_tables import best_size, rate_at
from workbench.api.results import CallMetrics
from workbench.model.platform import Platform, TransferTable
from workbench.model.text import bytes_text, listed, rate_text

_DASHES = ("", "7 3", "2 3", "9 3 2 3")
_INK = ("accent", "good", "medium", "low")


@dataclass(frozen=True)
class _Axes:
    """A log-log plot area: sizes in bytes to the right, rates in bytes per second upwards."""

    x: float
    y: float
    width: float
    height: float
    sizes: tuple[float, float]
    rates: tuple[float, float]

    def at(self, size: float, rate: float) -> tuple[float, float]:
        low, high = (log2(v) for v in self.sizes)
        bottom, top = (log10(v) for v in self.rates)
        along = (log2(max(size, self.sizes[0])) - low) / (high - low)
        up = (log10(min(max(rate, self.rates[0]), self.rates[1])) - bottom) / (top - bottom)
        return self.x + self.width * along, self.y + self.height * (1 - up)


def curve_svg(
    platform: Platform,
    calls: Sequence[CallMetrics],
    direction: str,
    width: float = 560,
    height: float = 300,
    marked: Sequence[str] = (),
) -> str:
    """The transfer tables of one direction ("send" or "receive") with the calls of that direction; "" without tables.

    Labels of `marked` calls are drawn strong. The shaded sizes reach 95 % of the best type's best rate.
    """
    tables = {
        name: table for name, table in platform.transfer_tables.items() if table.direction == direction and table.points
    }
    mine = [c for c in calls if c.rate and c.table and c.table.type in tables]
    if not tables:
        return ""
    sizes = [p.bytes for table in tables.values() for p in table.points] + [max(c.bytes_per_call, 1) for c in mine]
    rates = [rate_at(t, p.bytes) for t in tables.values() for p in t.points] + [c.rate.avg for c in mine if c.rate]
    high_size = max(max(sizes), 2 * min(sizes))
    axes = _Axes(68, 16, width - 68 - 66, height - 16 - 46, (min(sizes), high_size),
                 (10 ** floor(log10(min(rates))), 10 ** ceil(log10(max(rates) * 1.001))))  # fmt: skip
    parts = [rect(axes.x, axes.y, axes.width, axes.height, fill=COLOURS["sunken"])]
    best = max((best_size(table) for table in tables.values()), key=lambda b: b.rate_bytes_per_s)
    left, _ = axes.at(best.low, 1)
    right, _ = axes.at(min(best.high or high_size, high_size), 1)
    parts.append(rect(left, axes.y, max(right - left, 3), axes.height, fill=COLOURS["good-ground"]))
    parts.append(
        text((left + right) / 2, axes.y + axes.height - 7, "95 % of best", colour="good", text_anchor="middle")
    )
    parts += _grid(axes)
    ends: list[tuple[float, float, str, str]] = []
    for number, (name, table) in enumerate(tables.items()):
        ink = COLOURS[_INK[number % len(_INK)]]
        parts.append(_line(axes, table, ink, _DASHES[number % len(_DASHES)]))
        x, y = axes.at(table.points[-1].bytes, rate_at(table, table.points[-1].bytes))
        ends.append((y, x, name, ink))
    last = -99.0
    for y, x, name, ink in sorted(ends):
        last = max(y + 4, last + 13)
        parts.append(text(x + 6, last, name, size=12, weight=600, colour=ink))
    parts += _points(axes, mine, marked)
    title = f"Transfer rate by size, {'host to FPGA' if direction == 'send' else 'FPGA to host'}"
    return svg(width, height, parts, title)


def _line(axes: _Axes, table: TransferTable, ink: str, dash: str) -> str:
    """Linear in time between points is no straight line on log axes, so it is drawn by steps."""
    drawn = []
    sizes = [p.bytes for p in table.points]
    for a, b in pairwise(sizes):
        drawn += [a * (b / a) ** (n / 12) for n in range(12)]
    drawn.append(sizes[-1])
    path = " ".join("{:.1f},{:.1f}".format(*axes.at(s, rate_at(table, max(round(s), 1)))) for s in drawn)
    if len(sizes) == 1:
        x, y = axes.at(sizes[0], rate_at(table, sizes[0]))
        return rect(x - 3, y - 3, 6, 6, fill=ink)
    dashes = f' stroke-dasharray="{dash}"' if dash else ""
    return f'<polyline points="{path}" fill="none" stroke="{ink}" stroke-width="1.8"{dashes}/>'


def _grid(axes: _Axes) -> list[str]:
    parts = []
    low, high = axes.sizes
    first, last = ceil(log2(low) - 1e-9), floor(log2(high) + 1e-9)
    step = max(1, ceil((last - first) / 7))
    for power in range(first, last + 1, step):
        x, _ = axes.at(2.0**power, axes.rates[0])
        parts.append(_rule(x, axes.y, x, axes.y + axes.height))
        parts.append(text(x, axes.y + axes.height + 16, bytes_text(2.0**power), colour="second", text_anchor="middle"))
    for power in range(round(log10(axes.rates[0])), round(log10(axes.rates[1])) + 1):
        _, y = axes.at(low, 10.0**power)
        parts.append(_rule(axes.x, y, axes.x + axes.width, y))
        parts.append(text(axes.x - 8, y + 4, _decade(power), colour="second", text_anchor="end"))
    middle = axes.x + axes.width / 2
    parts.append(text(middle, axes.y + axes.height + 36, "bytes in one call", colour="second", text_anchor="middle"))
    return parts


def _decade(power: int) -> str:
    """10^power bytes per second, without digits that say nothing: `100 kB/s`."""
    return rate_text(10.0**power).replace(".00", "").replace(".0", "")


def _rule(x0: float, y0: float, x1: float, y1: float) -> str:
    return f'<path d="M{x0:.1f} {y0:.1f}L{x1:.1f} {y1:.1f}" stroke="{COLOURS["rule"]}" stroke-width="1"/>'


def _points(axes: _Axes, calls: Sequence[CallMetrics], marked: Sequence[str]) -> list[str]:
    """Calls as dots; calls at the same place share a label, and labels keep clear of one another."""
    places: dict[tuple[int, int], list[CallMetrics]] = {}
    for call in calls:
        x, y = axes.at(call.bytes_per_call, call.rate.avg if call.rate else axes.rates[0])
        near = next((key for key in places if abs(key[0] - x) < 8 and abs(key[1] - y) < 8), (round(x), round(y)))
        places.setdefault(near, []).append(call)
    parts = []
    taken: list[tuple[float, float, float]] = []
    for (x, y), found in sorted(places.items()):
        names = list(dict.fromkeys(call.site.label for call in found))
        strong = any(name in marked for name in names)
        said = listed(names, 4)
        wide = 6.6 * len(said) + 12
        to_left = x + wide + 10 > axes.x + axes.width
        left = x - wide - 8 if to_left else x + 8.0
        low, high = axes.y + 10, axes.y + axes.height - 22
        heights = sorted((y + d for d in range(-120, 121, 4)), key=lambda h: abs(h - (y + 14)))
        free = (
            height
            for height in heights
            if low <= height <= high
            and abs(height - y) > 5
            and not any(abs(height - h) < 17 and left < end and begin < left + wide for begin, end, h in taken)
        )
        label_y = next(free, y + 14)
        taken.append((left, left + wide, label_y))
        colour = COLOURS["accent" if strong else "medium"]
        parts.append(f'<path d="M{x} {y}L{left + (wide if to_left else 0):.1f} {label_y:.1f}" stroke="{colour}"/>')
        parts.append(f'<circle cx="{x}" cy="{y}" r="5" fill="{colour}" stroke="#FFFFFF" stroke-width="1.5"/>')
        frame = COLOURS["accent"] if strong else COLOURS["rule"]
        parts.append(rect(left, label_y - 9, wide, 17, rx=4, fill="#FFFFFF", stroke=frame))
        parts.append(text(left + 6, label_y + 4, said, weight=600 if strong else 400))
    return parts
