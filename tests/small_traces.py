"""Small traces, for tests of what is read from and drawn of them."""

from collections.abc import Sequence

import numpy as np

from workbench.traces.index import TimelineIndex
from workbench.traces.pyramid import build_pyramid
from workbench.traces.trace import CATEGORIES, Trace

Row = Sequence[tuple[int, int]]  # (start_ps, state); state n is of category n


def small_trace(chunks: Sequence[Sequence[Row]], end_ps: int) -> Trace:
    """A trace of these rows in each chunk."""
    rows = [row for chunk in chunks for row in chunk]
    starts = np.array([start for row in rows for start, _ in row], np.int64)
    states = np.array([state for row in rows for _, state in row], np.uint8)
    offsets = np.cumsum([0, *map(len, rows)], dtype=np.int64)
    codes = (np.arange(len(CATEGORIES), dtype=np.uint8),) * len(chunks[0])
    return Trace(starts, states, offsets, codes, end_ps)


def small_index(rows: Sequence[Row], end_ps: int) -> TimelineIndex:
    """The index over a trace of one chunk."""
    trace = small_trace([rows], end_ps)
    return TimelineIndex(trace, build_pyramid(trace))
