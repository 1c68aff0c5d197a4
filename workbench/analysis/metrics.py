"""Computes metrics of blocks, states and calls from a run's tables (ReCAP 2011, section 4)."""

from collections.abc import Mapping

import numpy as np

from workbench.analysis.transfer_tables import best_size, rate_at, transfer_time_s
from workbench.api.results import (
    BlockMetrics,
    CallMetrics,
    RunLengths,
    Spread,
    StateMetrics,
    TableStatistics,
    Transition,
)
from workbench.model.platform import Platform, TransferTable
from workbench.model.pragma import WAITS
from workbench.model.run import PS_PER_S, Run
from workbench.model.run_tables import Table
from workbench.traces.groups import kinds_of, numbered

Histogram = Mapping[int, int]  # bytes -> number of calls
Key = tuple[int, ...]
_KEY = ("site", "block", "state", "entry")


def block_metrics(run: Run) -> tuple[BlockMetrics, ...]:
    """The metrics of every block of the manifest; a block that no table reports has no time, cycles and visits."""
    total_ps = run.manifest.time_ps or 1
    times, moves = run.tables.get("state_time"), run.tables.get("transitions")
    metrics = []
    for number, block in enumerate(run.manifest.blocks):
        spent = np.zeros((len(block.states), 3), dtype=np.int64)
        if times is not None:
            mine = times["block"] == number
            for column, name in enumerate(("time_ps", "cycles", "visits")):
                np.add.at(spent[:, column], times["state"][mine], times[name][mine])
        states = tuple(
            StateMetrics(state, int(time_ps) / PS_PER_S, int(time_ps) / total_ps, int(cycles), int(visits))
            for state, (time_ps, cycles, visits) in zip(block.states, spent, strict=True)
        )
        transitions: tuple[Transition, ...] = ()
        if moves is not None:
            rows = np.flatnonzero(moves["block"] == number)
            columns = (moves[name][rows].tolist() for name in ("from_state", "to_state", "count"))
            transitions = tuple(Transition(a, b, n) for a, b, n in zip(*columns, strict=True) if n)
        total_cycles = int(spent[:, 1].sum())
        clock, time_s = run.manifest.clock_of(block), int(spent[:, 0].sum()) / PS_PER_S
        metrics.append(BlockMetrics(number, block, time_s, total_cycles, states, transitions, clock))
    return tuple(metrics)


def call_metrics(run: Run, platform: Platform | None) -> tuple[CallMetrics, ...]:
    """The metrics of every call site that was reached, in the manifest's order, with the platform's tables."""
    stats = run.tables.get("call_stats")
    if stats is None:
        return ()
    manifest = run.manifest
    moved, sizes = _moved(run, platform), _sizes(run.tables.get("calls"))
    metrics = []
    for row in np.lexsort((stats["state"], stats["site"])).tolist():
        site, block, state, entry = (int(stats[name][row]) for name in _KEY)
        count, size, time_ps = (int(stats[name][row]) for name in ("count", "bytes", "time_ps"))
        time_s = time_ps / PS_PER_S
        rate = None
        if size and time_s:
            rate = Spread(float(stats["min_bytes_per_s"][row]), size / time_s, float(stats["max_bytes_per_s"][row]))
        runs, least, most = (int(stats[name][row]) for name in ("runs", "min_run", "max_run"))
        host_entry = manifest.entries[entry] if entry >= 0 else None
        own_sizes = sizes.get((site, block, state, entry), {})
        metrics.append(
            CallMetrics(
                block=manifest.blocks[block].id,
                site_number=site,
                site=manifest.sites[site],
                entry=host_entry,
                state=manifest.blocks[block].states[state],
                count=count,
                bytes=size,
                time_s=time_s,
                share=time_ps / (manifest.time_ps or 1),
                rate=rate,
                runs=RunLengths(least, count / runs if runs else 0.0, most, runs),
                table=table_statistics(
                    platform, host_entry.transfer if host_entry else "", count, size, own_sizes, moved
                ),
            )
        )
    return tuple(metrics)


def _moved(run: Run, platform: Platform | None) -> Mapping[str, int]:
    """The bytes that the run moves in each direction without those of waits; as one transfer they would have this
    size."""
    stats, manifest = run.tables["call_stats"], run.manifest
    moved: dict[str, int] = {}
    for entry, block, state, size in zip(
        *(stats[n].tolist() for n in ("entry", "block", "state", "bytes")), strict=True
    ):
        table = platform.transfer_tables.get(manifest.entries[entry].transfer) if platform and entry >= 0 else None
        if table and manifest.blocks[block].states[state].category not in WAITS:
            moved[table.direction] = moved.get(table.direction, 0) + size
    return moved


def _sizes(calls: Table | None) -> Mapping[Key, Histogram]:
    """The call sizes of each site, by site, block, state and entry, if the run kept every call."""
    if calls is None:
        return {}
    kinds, kind_of = kinds_of(calls, _KEY)
    sizes, size_of = numbered(calls["bytes"])
    pairs, pair_of = numbered(kind_of * len(sizes) + size_of)
    counts: dict[Key, dict[int, int]] = {key: {} for key in zip(*(kinds[name].tolist() for name in _KEY), strict=True)}
    histograms = list(counts.values())
    for pair, count in zip(pairs.tolist(), np.bincount(pair_of).tolist(), strict=True):
        if (size := int(sizes[pair % len(sizes)])) > 0:
            histograms[pair // len(sizes)][size] = count
    return counts


def table_statistics(
    platform: Platform | None, transfer: str, count: int, size: int, sizes: Histogram, moved: Mapping[str, int]
) -> TableStatistics | None:
    """The transfer tables' statistics for `count` calls of type `transfer` that moved `size` bytes; None if the tables
    do not cover them.

    A best size is at most what the run moves in that direction (`moved`). The time at the best type is summed over the
    calls' own sizes if the run kept them; otherwise their mean is used.
    """
    tables = platform.transfer_tables if platform else {}
    own = tables.get(transfer)
    if own is None or not own.points or not count or not size:
        return None
    rivals: dict[str, TransferTable] = {
        name: table for name, table in tables.items() if table.points and table.direction == own.direction
    }
    mean = max(size / count, 1)
    histogram = sizes or {round(mean): count}
    time_of = {name: sum(n * transfer_time_s(table, s) for s, n in histogram.items()) for name, table in rivals.items()}
    largest = max(moved.get(own.direction, 0), size)
    by_type = {name: best_size(table, largest=largest) for name, table in rivals.items()}
    best_type_at_size = min(time_of, key=lambda name: (time_of[name], name != transfer))
    best_type = max(by_type, key=lambda name: (by_type[name].rate_bytes_per_s, name == transfer))
    own_best, best = by_type[transfer], by_type[best_type]
    return TableStatistics(
        type=transfer,
        rate_at_size=rate_at(own, mean),
        best_type_at_size=best_type_at_size,
        best_rate_at_size=rate_at(rivals[best_type_at_size], mean),
        best_rate_of_type=own_best.rate_bytes_per_s,
        best_size_of_type=own_best.size,
        range_low=own_best.low,
        range_high=own_best.high,
        best_rate=best.rate_bytes_per_s,
        best_type=best_type,
        best_size=best.size,
        best_range_low=best.low,
        time_at_best_type_s=time_of[best_type_at_size],
        time_at_best_size_s=size / own_best.rate_bytes_per_s,
        time_at_best_s=size / best.rate_bytes_per_s,
        moved=largest,
        least_time_s=transfer_time_s(own, 1),
    )
