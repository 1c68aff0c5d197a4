"""The activity so far of a program that is still running, from its recorder's counts."""

from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path

import numpy as np

from workbench.api.host_stats import HostStats, read_stats
from workbench.api.host_units import UNITS, Units, read_units
from workbench.model.blocks import Side, State
from workbench.model.run import PS_PER_S, Run, Site
from workbench.run.counted import counted_blocks, counted_tables


@dataclass(frozen=True)
class CallSoFar:
    """The calls of a site in a state, of all threads: the finished ones, and the number `under_way`."""

    site: Site
    state: State
    count: int
    bytes: int
    time_s: float
    under_way: int

    @property
    def bytes_per_s(self) -> float:
        """The mean rate; 0 if the calls took no time."""
        return self.bytes / self.time_s if self.time_s else 0.0


def calls_so_far(raw: Path) -> tuple[CallSoFar, ...]:
    """The calls until now, the longest total first; empty if the program has not begun. Raises WorkbenchError for
    damaged records, and OSError."""
    stats, units = read_stats(raw), _units(raw)
    if stats is None or units is None:
        return ()
    sites, block = units.sites, units.block
    sums_of_calls: dict[tuple[int, int], list[int]] = {}
    for thread in stats.threads:
        under_way = np.bincount([slot for slot, _ in thread.under_way], minlength=len(thread.rows))
        for slot in np.flatnonzero((thread.rows["count"] > 0) | (under_way > 0)).tolist():
            row = thread.rows[slot]
            sums = sums_of_calls.setdefault((int(row["site"]), int(row["state"])), [0, 0, 0, 0])
            for n, value in enumerate((row["count"], row["bytes"], row["time_ps"], under_way[slot])):
                sums[n] += int(value)
    numbered_sums = ((site, state, sums) for (site, state), sums in sums_of_calls.items() if site < len(sites))
    calls = (
        CallSoFar(sites[site], block.states[state], count, size, time_ps / PS_PER_S, going)
        for site, state, (count, size, time_ps, going) in numbered_sums
    )
    return tuple(sorted(calls, key=lambda call: (-call.time_s, call.site.file, call.site.line)))


def _units(raw: Path) -> Units | None:
    try:
        status = (raw / UNITS).stat()
    except FileNotFoundError:
        return None
    return _read_units(raw, status.st_mtime_ns, status.st_size)


@lru_cache(maxsize=2)
def _read_units(raw: Path, mtime_ns: int, size: int) -> Units | None:
    return read_units(raw)


def with_calls_so_far(run: Run, raw: Path) -> Run:
    """A run in progress with the tables of its host's threads until now; the unchanged run if nothing is counted yet.
    Raises like `calls_so_far`."""
    stats: HostStats | None = read_stats(raw)
    units = _units(raw)
    if stats is None or units is None or not stats.threads:
        return run
    hosts = counted_blocks(units.block, stats)
    design_blocks = tuple(block for block in run.manifest.blocks if block.side is not Side.HOST)
    manifest = replace(run.manifest, blocks=(*hosts, *design_blocks), sites=units.sites, time_ps=stats.last_ps)
    return replace(run, manifest=manifest, tables=counted_tables(stats, hosts, stats.last_ps))
