"""The calls of ranks' threads besides those by which they meet others, as rows of SYNCS that last as long as they did:
what is left is the threads' own time."""

from collections.abc import Mapping
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from workbench.api.records import SYNCS, read_calls
from workbench.model.run_tables import RowArray
from workbench.model.syncs import SyncKind


def with_calls(syncs: RowArray, spans_ps: Mapping[int, NDArray[np.int64]]) -> RowArray:
    """The rows (SYNCS, thread after thread, each one's in order), and one for each call that has none. `spans_ps` are
    when each thread's calls began and ended (n, 2), by the thread's number in the run."""
    begins = np.flatnonzero(np.append(True, syncs["thread"][1:] != syncs["thread"][:-1])[: len(syncs)])
    pieces, first, place = list[RowArray](), dict[int, int](), np.zeros(len(syncs), np.int64)
    for begin, rows in zip(begins.tolist(), np.split(syncs, begins[1:]), strict=True):
        thread = int(rows["thread"][0])
        first[thread] = begin
        calls = np.zeros(0, SYNCS)
        if thread in spans_ps:
            spans, before = _between(rows, spans_ps[thread])
            calls = np.zeros(len(spans), SYNCS)
            calls["t0_ps"], calls["t1_ps"], calls["woken_ps"] = spans[:, 0], spans[:, 1], spans[:, 1]
            calls["thread"], calls["kind"], calls["by_thread"], calls["by_record"] = thread, SyncKind.SLEEP, -1, -1
            begun_ps = int(rows["t0_ps"][0] - rows["own_ps"][0])
            number = np.arange(len(rows))
            place[begin : begin + len(rows)] = number + np.searchsorted(before, number, "right")
            rows = np.insert(rows, before, calls)
            rows["own_ps"] = rows["t0_ps"] - np.append(begun_ps, rows["t1_ps"][:-1])
        else:
            place[begin : begin + len(rows)] = np.arange(len(rows))
        pieces.append(rows)
    joined = np.concatenate(pieces) if pieces else syncs
    woken = np.flatnonzero(joined["by_thread"] >= 0)
    begin_of = np.array([first.get(thread, 0) for thread in range(max(first, default=0) + 1)], np.int64)
    joined["by_record"][woken] = place[begin_of[joined["by_thread"][woken]] + joined["by_record"][woken]]
    return joined


def spans_ps(raw: Path) -> dict[int, NDArray[np.int64]]:
    """When the calls of each thread of a run's records began and ended (n, 2)."""
    thread, *ends = read_calls(raw).columns("thread", "t0_ps", "t1_ps")
    spans = np.stack(ends, axis=1).astype(np.int64)
    return {number: spans[thread == number] for number in np.unique(thread).tolist()}


def _between(rows: RowArray, spans_ps: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """The calls, of those within others the outer ones, that lie between two of a thread's rows; and how many rows are
    before each."""
    spans = spans_ps[np.lexsort((-spans_ps[:, 1], spans_ps[:, 0]))]
    over_ps = np.maximum.accumulate(np.append(np.iinfo(np.int64).min, spans[:, 1]))[:-1]
    spans = spans[spans[:, 0] >= over_ps]
    before = np.searchsorted(rows["t0_ps"], spans[:, 0], "left")
    ended_ps = np.append(rows["t0_ps"][:1] - rows["own_ps"][:1], rows["t1_ps"])[before]
    next_ps = np.append(rows["t0_ps"], np.iinfo(np.int64).min)[before]  # after the last there are none
    between = (ended_ps <= spans[:, 0]) & (spans[:, 1] <= next_ps)
    return spans[between], before[between]
