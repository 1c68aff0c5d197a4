"""Plots transfer rate by size: a platform's tables, and an application's calls on them."""

import math
from collections.abc import Collection, Sequence

import numpy as np

from workbench.analysis.transfer_tables import best_size, rate_at
from workbench.api.results import Analysis, CallMetrics
from workbench.model.finding import Finding
from workbench.model.platform import Platform, TransferTable
from workbench.model.text import bytes_text, rate_text, trimmed
from workbench.pictures.plot import Axis, Line, Plot, Spot

SIZES = Axis("bytes in one call", bytes_text, log=True, unit="B", binary=True)
RATES = Axis("transfer rate", lambda rate: trimmed(rate_text(rate)), log=True, unit="B/s")
BAND_NAME = "95 % of best"
#: Colours of the first table and of the others.
INKS = ("state:send", "second", "good", "medium_text")
_SAMPLES = 80


def finding_plot(finding: Finding, analysis: Analysis, platform: Platform | None) -> Plot | None:
    """The plot of the tables that a finding's calls use, with the calls of its block; None if the finding is not about
    transfers."""
    calls = [c for c in analysis.calls if c.block == finding.block or finding.scope == "application"]
    if platform is None or not any(c.rate for c in calls):
        return None
    places = {(p.file, p.line) for p in finding.places}
    names = tables_for(platform, [c for c in calls if (c.site.file, c.site.line) in places] or calls)
    if not names:
        return None
    first = platform.transfer_tables[names[0]]
    other_direction = [n for n in names[1:] if platform.transfer_tables[n].direction != first.direction]
    return rate_plot(platform, [names[0], *other_direction[:1]], calls, places)


def direction_plot(platform: Platform, calls: Sequence[CallMetrics], direction: str) -> Plot | None:
    """The plot of all tables in one direction ("send" or "receive") with the calls in that direction; None without
    tables."""
    tables = {n: t for n, t in platform.transfer_tables.items() if t.direction == direction and t.points}
    mine = [c for c in calls if c.table and c.table.type in tables]
    return rate_plot(platform, sorted(tables, key=lambda n: -best_rate(tables[n])), mine) if tables else None


def rate_plot(
    platform: Platform, names: Sequence[str], calls: Sequence[CallMetrics], places: Collection[tuple[str, int]] = ()
) -> Plot:
    """A plot of these tables, the first of which counts most, and of calls; those at `places` (file, line) are
    highlighted.

    The shaded sizes reach 95 % of the first table's best rate; if the highlighted call is below it, a goal is shown.
    """
    lines = [table_line(name, platform.transfer_tables[name], number) for number, name in enumerate(names)]
    first, spots = platform.transfer_tables[names[0]], call_spots(calls, places)
    band = best_band(first)
    strong = next((s for s in spots if s.strong), None)
    goal = (band[0], 0.95 * best_rate(first)) if strong and strong.x < band[0] else None
    return Plot(SIZES, RATES, tuple(lines), spots=tuple(spots), span=band, span_name=BAND_NAME, goal=goal)


def table_line(name: str, table: TransferTable, number: int = 0) -> Line:
    """The curve of rates that the table gives by interpolation, at its points and between them."""
    sizes = [p.bytes for p in table.points]
    if len(sizes) > 1:
        low, high = math.log(sizes[0]), math.log(sizes[-1])
        sizes = sorted({round(math.exp(low + (high - low) * k / _SAMPLES)) for k in range(_SAMPLES + 1)} | set(sizes))
    rates = [rate_at(table, size) for size in sizes]
    return Line(name, np.array(sizes, float), np.array(rates), INKS[number % len(INKS)], points=len(sizes) == 1)


def tables_for(platform: Platform, calls: Sequence[CallMetrics]) -> list[str]:
    """The names of the tables with a curve: those that the calls use, the most used first, then the others."""
    time: dict[str, float] = {}
    for call in calls:
        if call.entry and call.entry.transfer in platform.transfer_tables:
            time[call.entry.transfer] = time.get(call.entry.transfer, 0.0) + call.time_s
    names = sorted(time, key=lambda n: -time[n]) + [n for n in platform.transfer_tables if n not in time]
    return [n for n in names if len(platform.transfer_tables[n].points) > 1]


def call_spots(calls: Sequence[CallMetrics], places: Collection[tuple[str, int]]) -> list[Spot]:
    """Spots for calls that moved data, at their mean size and rate; the slowest at `places` is highlighted."""
    moved = [c for c in sorted(calls, key=lambda c: -c.time_s) if c.rate is not None and c.bytes_per_call > 0]
    strong = next((c for c in moved if (c.site.file, c.site.line) in places), None)
    return [
        Spot(
            c.site.label,
            c.bytes_per_call,
            c.rate.avg,
            c is strong,
            f"{bytes_text(c.bytes_per_call)}, {rate_text(c.rate.avg)}",
        )
        for c in moved
        if c.rate is not None
    ]


def best_rate(table: TransferTable) -> float:
    return best_size(table).rate_bytes_per_s


def best_band(table: TransferTable) -> tuple[float, float]:
    """The range of sizes that reaches 95 % of the table's best rate."""
    best = best_size(table)
    return float(best.low), float(best.high or table.points[-1].bytes)
