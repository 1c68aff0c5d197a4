"""Reduces a table of calls to what a profile keeps: their sums, and their order as loops."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from workbench.model.run import PS_PER_S
from workbench.model.run_tables import TABLES, Table
from workbench.run.skeleton import fold
from workbench.traces.groups import kinds_of

_PIECE = 1 << 18  # calls in memory together
_SUMS = ("count", "bytes", "time_ps")


def call_tables(calls: Table) -> dict[str, Table]:
    """`call_stats`, with a row for each site, block, state and entry, and `call_order`."""
    rows = rows_in_order(calls)
    return {"call_stats": _call_stats(calls, rows), "call_order": _call_order(rows)}


def rows_in_order(calls: Table) -> Table:
    """Rows of `repeat` consecutive calls of one `site` in one `state` of a `block`, block by block, with the host's own
    code before them."""
    columns = ("block", "site", "state", "host_ps")
    parts = [
        _merged({name: np.asarray(calls[name][first : first + _PIECE]) for name in columns})
        for first in range(0, len(calls["site"]), _PIECE)
    ]
    empty = {name: np.zeros(0, np.int64) for name in (*columns, "repeat")}
    return _merged({name: np.concatenate([part[name] for part in (empty, *parts)]) for name in empty})


def _merged(rows: Table) -> Table:
    """The rows sorted by thread, with equal neighbours joined; `repeat` is 1 if there is no such column."""
    order = np.argsort(rows["block"], kind="stable")
    block, site, state = (rows[name][order] for name in ("block", "site", "state"))
    changes = (np.diff(block) != 0) | (np.diff(site) != 0) | (np.diff(state) != 0)
    ends = np.flatnonzero(np.append(changes, [True] * (len(block) > 0)))
    so_far = np.cumsum(rows["repeat"][order])[ends] if "repeat" in rows else ends + 1
    host_ps = np.diff(np.cumsum(rows["host_ps"][order], dtype=np.int64)[ends], prepend=0)
    repeat = np.diff(so_far, prepend=0)
    return {"block": block[ends], "site": site[ends], "state": state[ends], "repeat": repeat, "host_ps": host_ps}


def _call_order(rows: Table) -> Table:
    parts = [{name: np.zeros(0, kind) for name, kind in TABLES["call_order"].items()}]
    for number in np.unique(rows["block"]).tolist():
        mine = rows["block"] == number
        loops = fold(*(rows[name][mine] for name in ("site", "state", "repeat", "host_ps")))
        parts.append({"block": np.full(len(loops["site"]), number, "i4"), **loops})
    return {name: np.concatenate([part[name] for part in parts]) for name in TABLES["call_order"]}


def _call_stats(calls: Table, rows: Table) -> Table:
    pieces = range(0, len(calls["site"]), _PIECE)
    parts = [
        _summed(_row_of_each_call(calls, slice(0, 0))),
        *(_summed(_row_of_each_call(calls, slice(at, at + _PIECE))) for at in pieces),
    ]
    sums = _summed({name: np.concatenate([part[name] for part in parts]) for name in parts[0]})
    count = len(sums["site"])
    key = ("site", "block", "state")
    kinds, kind_of = kinds_of({name: np.concatenate((sums[name], rows[name])) for name in key}, key)
    run_of, of_rows = kind_of[:count], kind_of[count:]
    least, most = _extremes(of_rows, len(kinds["site"]), rows["repeat"], rows["repeat"])
    runs = np.bincount(of_rows, minlength=len(kinds["site"]))
    columns = {**sums, "runs": runs[run_of], "min_run": least[run_of], "max_run": most[run_of]}
    return {name: columns[name].astype(kind) for name, kind in TABLES["call_stats"].items()}


def _row_of_each_call(calls: Table, part: slice) -> dict[str, NDArray[Any]]:
    """Each call as a row of `call_stats`."""
    size, took_ps = np.asarray(calls["bytes"][part]), calls["t1_ps"][part] - calls["t0_ps"][part]
    moved = (size > 0) & (took_ps > 0)
    rate = np.where(moved, size * (PS_PER_S / np.where(moved, took_ps, 1)), np.nan)
    return {
        **{name: np.asarray(calls[name][part]) for name in ("site", "block", "state", "entry")},
        "count": np.ones(len(size)), "bytes": np.maximum(size, 0), "time_ps": took_ps,
        "min_bytes_per_s": rate, "max_bytes_per_s": rate,
    }  # fmt: skip


def _summed(rows: Table) -> dict[str, NDArray[Any]]:
    """Rows of `call_stats` summed by site, block, state and entry."""
    kinds, kind_of = kinds_of(rows, ("site", "block", "state", "entry"))
    count = len(kinds["site"])
    sums = {name: np.bincount(kind_of, rows[name], count).astype(np.int64) for name in _SUMS}  # exact: below 2**53
    slowest, fastest = _extremes(kind_of, count, rows["min_bytes_per_s"], rows["max_bytes_per_s"])
    return {**kinds, **sums, "min_bytes_per_s": slowest, "max_bytes_per_s": fastest}


def _extremes(
    group: NDArray[np.int64], groups: int, low: NDArray[Any], high: NDArray[Any]
) -> tuple[NDArray[Any], NDArray[Any]]:
    """The minimum of `low` and the maximum of `high` of each group; every group has a row, and NaN counts only if it is
    alone."""
    order = np.argsort(group.astype(np.int16) if groups < 1 << 15 else group, kind="stable")
    heads = np.flatnonzero(np.diff(group[order], prepend=-1))
    return np.fmin.reduceat(low[order], heads), np.fmax.reduceat(high[order], heads)
