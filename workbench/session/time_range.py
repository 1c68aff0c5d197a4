"""A stretch of a traced run as a run of its own, so that every figure of it is found as a whole run's is."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from workbench.analysis import analyse
from workbench.model.blocks import Block
from workbench.model.diagnostic import Diagnostic, WorkbenchError
from workbench.model.run import PS_PER_S, TABLES, Run, Table
from workbench.model.text import time_text
from workbench.run.host_tables import call_stats
from workbench.session.results import OpenRun

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
    if "intervals" not in run.tables or "interval_offsets" not in run.tables:
        where = str(run.path) if run.path else None
        raise WorkbenchError(Diagnostic("this run has no trace", "Trace a run to look at a part of it.", file=where))
    if first_ps >= last_ps:
        raise WorkbenchError(Diagnostic("this range is empty", "Choose a longer one on the timeline."))
    length = last_ps - first_ps
    intervals, offsets = _intervals(run, first_ps, last_ps)
    times, moves = _sums(run.manifest.blocks, intervals, offsets, length)
    tables: dict[str, Table] = {
        "intervals": intervals, "interval_offsets": {"offset": offsets}, "state_time": times, "transitions": moves,
    }  # fmt: skip
    if "calls" in run.tables:
        tables["calls"] = _calls(run.tables["calls"], first_ps, last_ps)
        tables["call_stats"] = call_stats(tables["calls"])
    cycles = round(length * run.manifest.clock_hz / PS_PER_S)
    moments = (time_text(ps / PS_PER_S, 6) for ps in (first_ps, last_ps))
    name = f"{run.manifest.name or 'Run'}, {' to '.join(moments)}"
    return Run(run.path, replace(run.manifest, name=name, time_ps=length, cycles=cycles), tables)


def _intervals(run: Run, first_ps: int, last_ps: int) -> tuple[Table, np.ndarray]:
    starts, states = run.tables["intervals"]["start_ps"], run.tables["intervals"]["state"]
    offsets = run.tables["interval_offsets"]["offset"]
    cut: list[tuple[np.ndarray, np.ndarray]] = []
    for begin, end in zip(offsets[:-1].tolist(), offsets[1:].tolist(), strict=True):
        mine = np.asarray(starts[begin:end])
        low = max(int(np.searchsorted(mine, first_ps, "right")) - 1, 0)
        high = int(np.searchsorted(mine, last_ps, "left"))
        moved = np.maximum(mine[low:high] - first_ps, 0)
        cut.append((moved, np.asarray(states[begin + low : begin + high])))
    counts = [len(moved) for moved, _ in cut]
    table = {
        "start_ps": np.concatenate([m for m, _ in cut]).astype("i8") if cut else np.zeros(0, "i8"),
        "state": np.concatenate([s for _, s in cut]).astype("u1") if cut else np.zeros(0, "u1"),
    }
    return table, np.concatenate(([0], np.cumsum(counts))).astype("i8")


def _sums(blocks: Sequence[Block], intervals: Table, offsets: np.ndarray, length: int) -> tuple[Table, Table]:
    """`state_time` and `transitions` of the stretch."""
    times: list[tuple[int, ...]] = []
    moves: list[tuple[int, ...]] = []
    for number, block in enumerate(blocks):
        mine = slice(int(offsets[number]), int(offsets[number + 1]))
        states = intervals["state"][mine].astype(np.int64)
        lengths = np.diff(np.append(intervals["start_ps"][mine], length))
        spent, visits = np.zeros(len(block.states), "i8"), np.bincount(states, minlength=len(block.states))
        np.add.at(spent, states, lengths)
        per_ps = block.clock_hz / PS_PER_S if block.clock_hz else 0.0
        times += [
            (number, s, int(spent[s]), round(int(spent[s]) * per_ps), int(visits[s])) for s in range(len(block.states))
        ]
        pairs, counts = np.unique(np.stack([states[:-1], states[1:]]), axis=1, return_counts=True)
        moves += [(number, a, b, n) for (a, b), n in zip(pairs.T.tolist(), counts.tolist(), strict=True)]
    return _table("state_time", times), _table("transitions", moves)


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
