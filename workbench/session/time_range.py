"""A stretch of a traced run as a run of its own, so that every figure of it is found as a whole run's is."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from workbench.analysis import analyse
from workbench.model.diagnostic import Diagnostic, WorkbenchError
from workbench.model.run import PS_PER_S, TABLES, Manifest, Run, Table
from workbench.model.text import time_text
from workbench.run.host_tables import call_stats
from workbench.session.results import OpenRun
from workbench.traces.trace import Trace, trace_of

#: Columns of `calls` that are moments; -1 is none.
_MOMENTS = ("t0_ps", "t1_ps", "grant_ps", "port_first_ps", "port_last_ps")


def narrowed(opened: OpenRun, first_ps: int, last_ps: int) -> OpenRun:
    """What lies between two moments, analysed. Raises WorkbenchError as `between` does."""
    run = between(opened.run, first_ps, last_ps)
    analysis = analyse(run, opened.platform, opened.knowledge, opened.analysis.threshold)
    return replace(opened, run=run, analysis=analysis)


def between(run: Run, first_ps: int, last_ps: int) -> Run:
    """What lies between two moments (ps from the run's start), as a run that starts at the first of them.

    States are cut at both ends, so that every block's still sum to the whole. A call that reaches over an end counts
    with its part of time and, in proportion, of bytes. Raises WorkbenchError for a run without a trace, and where
    nothing lies between.
    """
    first_ps, last_ps = max(first_ps, 0), min(last_ps, run.manifest.time_ps)
    trace = trace_of(run)
    if trace is None:
        where = str(run.path) if run.path else None
        raise WorkbenchError(Diagnostic("this run has no trace", "Trace a run to look at a part of it.", file=where))
    if first_ps >= last_ps:
        raise WorkbenchError(Diagnostic("this range is empty", "Choose a longer one on the timeline."))
    length = last_ps - first_ps
    tables = _of_states(run.manifest, trace, first_ps, last_ps)
    if "calls" in run.tables:
        tables["calls"] = _calls(run.tables["calls"], first_ps, last_ps)
        tables["call_stats"] = call_stats(tables["calls"])
    clocks = tuple(
        replace(clock, cycles=round(length * clock.frequency_hz / PS_PER_S), start_ps=clock.start_ps - first_ps)
        for clock in run.manifest.clocks
    )
    moments = (time_text(ps / PS_PER_S, 6) for ps in (first_ps, last_ps))
    name = f"{run.manifest.name or 'Run'}, {' to '.join(moments)}"
    return Run(run.path, replace(run.manifest, name=name, time_ps=length, clocks=clocks), tables)


def _of_states(manifest: Manifest, trace: Trace, first_ps: int, last_ps: int) -> dict[str, Table]:
    """The stretch's intervals, and `state_time` and `transitions` as sums over them."""
    times: list[tuple[int, ...]] = []
    moves: list[tuple[int, ...]] = []
    rows = [trace.between(row, first_ps, last_ps) for row in range(trace.rows)]
    cut = [edges.clip(first_ps, last_ps) - first_ps for edges, _ in rows]
    for number, (block, edges, (_, states)) in enumerate(zip(manifest.blocks, cut, rows, strict=True)):
        count = len(block.states)
        spent = np.bincount(states, weights=np.diff(edges), minlength=count).astype(np.int64)
        visits = np.bincount(states, minlength=count)
        clock = manifest.clock_of(block)
        per_ps = clock.frequency_hz / PS_PER_S if clock else 0.0
        times += [(number, s, int(spent[s]), round(int(spent[s]) * per_ps), int(visits[s])) for s in range(count)]
        pairs, counts = np.unique(states[:-1].astype(np.int64) * count + states[1:], return_counts=True)
        moves += [(number, *divmod(pair, count), n) for pair, n in zip(pairs.tolist(), counts.tolist(), strict=True)]
    return {
        "intervals": {
            "start_ps": np.concatenate([edges[:-1] for edges in cut]),
            "state": np.concatenate([states for _, states in rows]),
        },
        "interval_offsets": {"offset": np.cumsum([0, *(len(states) for _, states in rows)], dtype=np.int64)},
        "state_time": _table("state_time", times),
        "transitions": _table("transitions", moves),
    }


def _calls(calls: Table, first_ps: int, last_ps: int) -> Table:
    t0, t1 = np.asarray(calls["t0_ps"]), np.asarray(calls["t1_ps"])
    inside = np.flatnonzero((t0 < last_ps) & (t1 > first_ps))
    found = {name: np.array(column[inside]) for name, column in calls.items()}
    before_ps = t0[inside] - found["host_ps"]  # when the host's own code before the call began
    whole = t1[inside] - t0[inside]
    for name in _MOMENTS:
        known = found[name] >= 0
        found[name] = np.where(known, np.clip(found[name], first_ps, last_ps) - first_ps, -1)
    part = (found["t1_ps"] - found["t0_ps"]) / np.maximum(whole, 1)
    found["bytes"] = np.where(found["bytes"] > 0, np.maximum(np.rint(found["bytes"] * part), 1), found["bytes"])
    found["bytes"] = found["bytes"].astype("i8")
    found["host_ps"] = found["t0_ps"] - np.clip(before_ps - first_ps, 0, found["t0_ps"])
    return found


def _table(name: str, rows: Sequence[Sequence[int]]) -> Table:
    columns = list(zip(*rows, strict=True)) or [()] * len(TABLES[name])
    return {key: np.array(col, dtype=kind) for (key, kind), col in zip(TABLES[name].items(), columns, strict=True)}
