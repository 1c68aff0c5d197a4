"""A platform's transfer tables and an application's calls as what `RateCurve` draws."""

from __future__ import annotations

import math
from collections.abc import Collection, Sequence

from workbench.analysis.transfer_tables import best_size, rate_at
from workbench.api.results import CallMetrics
from workbench.gui.platform.curve import CallPoint, Series
from workbench.model.platform import Platform, TransferTable

_SAMPLES = 80


def table_series(name: str, table: TransferTable, dashed: bool = False) -> Series:
    """The table's points, and between them the rates that its interpolation gives."""
    points = tuple((float(p.bytes), p.bytes / p.time_s) for p in table.points)
    sizes = [p.bytes for p in table.points]
    smooth: tuple[tuple[float, float], ...] = ()
    if len(sizes) > 1:
        low, high = math.log(sizes[0]), math.log(sizes[-1])
        steps = {round(math.exp(low + (high - low) * k / _SAMPLES)) for k in range(_SAMPLES + 1)}
        smooth = tuple((float(s), rate_at(table, s)) for s in sorted({*steps, *sizes}))
    return Series(name, points, smooth, dashed)


def tables_for(platform: Platform, calls: Sequence[CallMetrics]) -> list[str]:
    """The names of the tables that the calls use and that have a curve, the most used first; then the others'."""
    time: dict[str, float] = {}
    for call in calls:
        if call.entry and call.entry.transfer in platform.transfer_tables:
            time[call.entry.transfer] = time.get(call.entry.transfer, 0.0) + call.time_s
    names = sorted(time, key=lambda n: -time[n]) + [n for n in platform.transfer_tables if n not in time]
    return [n for n in names if len(platform.transfer_tables[n].points) > 1]


def call_points(calls: Sequence[CallMetrics], strong: Collection[tuple[str, int]]) -> list[CallPoint]:
    """Calls that moved data; those of the finding's places (file, line) are strong, the slowest of them first."""
    points = [
        CallPoint(c.site.label, c.bytes_per_call, c.rate.avg, (c.site.file, c.site.line) in strong)
        for c in sorted(calls, key=lambda c: -c.time_s)
        if c.rate is not None and c.bytes_per_call > 0
    ]
    head = next((p for p in points if p.strong), None)
    return [CallPoint(p.label, p.size, p.rate, p is head) for p in points]


def best_band(table: TransferTable) -> tuple[float, float]:
    """The range of sizes that reaches 95 % of the table's best rate."""
    best = best_size(table)
    return float(best.low), float(best.high or table.points[-1].bytes)
