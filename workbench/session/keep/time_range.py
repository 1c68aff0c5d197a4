"""A stretch of a traced run as a run of its own, so that all its figures are computed like a whole run's."""

from dataclasses import replace

import numpy as np

from workbench.analysis import analyse
from workbench.api.tables import state_tables, trace_tables
from workbench.model.diagnostic import Diagnostic, WorkbenchError
from workbench.model.run import PS_PER_S, Manifest, Run
from workbench.model.run_tables import Table
from workbench.model.text import time_text
from workbench.run.call_sums import call_tables
from workbench.session.keep.results import OpenRun
from workbench.traces.trace import Trace, trace_of

#: Columns of `calls` that are moments; -1 is none.
_MOMENTS = ("t0_ps", "t1_ps", "grant_ps", "port_first_ps", "port_last_ps", "call_ps", "end_ps")


def narrowed(opened: OpenRun, first_ps: int, last_ps: int) -> OpenRun:
    """The stretch between two moments, analysed. Raises WorkbenchError like `between`."""
    run = between(opened.run, first_ps, last_ps)
    analysis = analyse(run, opened.platform, opened.knowledge, opened.analysis.threshold)
    return replace(opened, run=run, analysis=analysis)


def between(run: Run, first_ps: int, last_ps: int) -> Run:
    """The stretch between two moments (ps from the run's start), as a run that starts at the first one.

    States are cut at both ends, so that every block's states still sum to the whole. A call across an end counts with
    its part of time and, in proportion, of bytes. Raises WorkbenchError for a run without a trace, and for an empty
    stretch.
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
        tables |= call_tables(tables["calls"])
    clocks = tuple(
        replace(clock, cycles=round(length * clock.frequency_hz / PS_PER_S), start_ps=clock.start_ps - first_ps)
        for clock in run.manifest.clocks
    )
    moments = (time_text(ps / PS_PER_S, 6) for ps in (first_ps, last_ps))
    name = f"{run.manifest.name or 'Run'}, {' to '.join(moments)}"
    return Run(run.path, replace(run.manifest, name=name, time_ps=length, clocks=clocks), tables)


def _of_states(manifest: Manifest, trace: Trace, first_ps: int, last_ps: int) -> dict[str, Table]:
    """The stretch's intervals, and `state_time` and `transitions` as sums over them."""
    rows = [trace.between(row, first_ps, last_ps) for row in range(trace.rows)]
    cut = [(edges.clip(first_ps, last_ps) - first_ps, states) for edges, states in rows]
    clocks = [manifest.clock_of(block) for block in manifest.blocks]
    clocks_hz = [clock.frequency_hz if clock else 0.0 for clock in clocks]
    return {**trace_tables(cut), **state_tables(manifest.blocks, ([piece] for piece in cut), clocks_hz)}


def _calls(calls: Table, first_ps: int, last_ps: int) -> Table:
    t0, t1 = np.asarray(calls["t0_ps"]), np.asarray(calls["t1_ps"])
    inside = np.flatnonzero((t0 < last_ps) & (t1 > first_ps))
    inner = {name: np.array(column[inside]) for name, column in calls.items()}
    before_ps = t0[inside] - inner["host_ps"]  # when the host's own code before the call began
    length = t1[inside] - t0[inside]
    for name in _MOMENTS:
        has_value = inner[name] >= 0
        inner[name] = np.where(has_value, np.clip(inner[name], first_ps, last_ps) - first_ps, -1)
    part = (inner["t1_ps"] - inner["t0_ps"]) / np.maximum(length, 1)
    inner["bytes"] = np.where(inner["bytes"] > 0, np.maximum(np.rint(inner["bytes"] * part), 1), inner["bytes"])
    inner["bytes"] = inner["bytes"].astype("i8")
    inner["host_ps"] = inner["t0_ps"] - np.clip(before_ps - first_ps, 0, inner["t0_ps"])
    return inner
