"""Adds rows to table `syncs` of ranks for their other calls, such as FPGA transfers and MPI_Init.

`rank_waits.py` writes rows for the calls that exchange messages or wait for other threads. Without this file, all other
calls would count as the thread's own code, and a change of this code would scale them too. Each added row is a SLEEP
that lasts as long as the call did.

For example, a thread has rows that end at 100 ps and begin at 500 ps. A transfer from 200 to 300 ps becomes a row
between them; then 100 ps before it and 200 ps after it are the thread's own time.
"""

from collections.abc import Mapping
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from workbench.api.records import SYNCS, read_calls
from workbench.model.run_tables import RowArray
from workbench.model.syncs import SyncKind


def with_calls(syncs: RowArray, spans_ps: Mapping[int, NDArray[np.int64]]) -> RowArray:
    """The rows and further rows for the calls that have none.

    `syncs` (SYNCS) has thread after thread, each thread's rows in order. `spans_ps` holds, by the thread's number in
    the run, the begins and ends of its calls (ps, shape (n, 2)).
    """
    begins = np.flatnonzero(np.append(True, syncs["thread"][1:] != syncs["thread"][:-1])[: len(syncs)])
    pieces, first_row, place = list[RowArray](), dict[int, int](), np.zeros(len(syncs), np.int64)
    rows: RowArray
    for begin, rows in zip(begins.tolist(), np.split(syncs, begins[1:]), strict=True):
        thread = int(rows["thread"][0])
        first_row[thread] = begin
        calls = np.zeros(0, SYNCS)
        if thread in spans_ps:
            spans, before = _between(rows, spans_ps[thread])
            calls = np.zeros(len(spans), SYNCS)
            calls["t0_ps"], calls["t1_ps"], calls["woken_ps"] = spans[:, 0], spans[:, 1], spans[:, 1]
            calls["thread"], calls["kind"], calls["by_thread"], calls["by_record"] = thread, SyncKind.SLEEP, -1, -1
            thread_begin_ps = int(rows["t0_ps"][0] - rows["own_ps"][0])
            number = np.arange(len(rows))
            place[begin : begin + len(rows)] = number + np.searchsorted(before, number, "right")
            rows = np.insert(rows, before, calls)
            rows["own_ps"] = rows["t0_ps"] - np.append(thread_begin_ps, rows["t1_ps"][:-1])
        else:
            place[begin : begin + len(rows)] = np.arange(len(rows))
        pieces.append(rows)
    joined: RowArray = np.concatenate(pieces) if pieces else syncs
    woken = np.flatnonzero(joined["by_thread"] >= 0)
    begin_of = np.array([first_row.get(thread, 0) for thread in range(max(first_row, default=0) + 1)], np.int64)
    joined["by_record"][woken] = place[begin_of[joined["by_thread"][woken]] + joined["by_record"][woken]]
    return joined


def spans_ps(raw: Path) -> dict[int, NDArray[np.int64]]:
    """The begins and ends of the recorded calls (ps, shape (n, 2)), by thread."""
    thread, *ends = read_calls(raw).columns("thread", "t0_ps", "t1_ps")
    spans = np.stack(ends, axis=1).astype(np.int64)
    return {number: spans[thread == number] for number in np.unique(thread).tolist()}


def _between(rows: RowArray, spans_ps: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """The calls that lie between two of a thread's rows, and the number of rows before each. Of calls within another
    call only the outer one counts."""
    spans = spans_ps[np.lexsort((-spans_ps[:, 1], spans_ps[:, 0]))]
    over_ps = np.maximum.accumulate(np.append(np.iinfo(np.int64).min, spans[:, 1]))[:-1]
    spans = spans[spans[:, 0] >= over_ps]
    before = np.searchsorted(rows["t0_ps"], spans[:, 0], "left")
    row_end_ps = np.append(rows["t0_ps"][:1] - rows["own_ps"][:1], rows["t1_ps"])[before]
    next_row_ps = np.append(rows["t0_ps"], np.iinfo(np.int64).min)[before]  # no call is after the last row
    between = (row_end_ps <= spans[:, 0]) & (spans[:, 1] <= next_row_ps)
    return spans[between], before[between]
