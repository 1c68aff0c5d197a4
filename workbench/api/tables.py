"""A run's tables made of what is known of its blocks: rows, or their states over time."""

from collections.abc import Iterable, Sequence

import numpy as np
from numpy.typing import NDArray

from workbench.model.blocks import Block
from workbench.model.run import PS_PER_S
from workbench.model.run_tables import TABLES, Table

#: Edges (ps) and indexes of states: each state lasts from its edge to the next, so there is an edge more than states.
Piece = tuple[NDArray[np.int64], NDArray[np.integer]]


def table_of(name: str, rows: Sequence[Sequence[float]]) -> Table:
    """One of the run's own tables, row by row."""
    columns = list(zip(*rows, strict=True)) or [()] * len(TABLES[name])
    return {key: np.array(given, kind) for (key, kind), given in zip(TABLES[name].items(), columns, strict=True)}


def joined(upper: Table, lower: Table) -> Table:
    """The rows of a table, and then those of another."""
    return {name: np.concatenate((upper[name], lower[name].astype(upper[name].dtype))) for name in upper}


def trace_tables(pieces: Sequence[Piece]) -> dict[str, Table]:
    """`intervals` and `interval_offsets` of a trace in one chunk: every block's states."""
    states = np.concatenate([states for _, states in pieces])
    return {
        "intervals": {
            "start_ps": np.concatenate([edges[:-1] for edges, _ in pieces]),
            "state": states.astype(np.min_scalar_type(int(states.max(initial=0)))),
        },
        "interval_offsets": {"offset": np.cumsum([0, *(len(states) for _, states in pieces)], dtype=np.int64)},
    }


def state_tables(
    blocks: Sequence[Block], traces: Iterable[Iterable[Piece]], clocks_hz: Sequence[float] = ()
) -> dict[str, Table]:
    """`state_time` and `transitions` of blocks, numbered from 0, by the pieces of each one's states over time.

    Sums are exact. An empty stretch is a visit too. `clocks_hz` has the frequency of each block's clock, 0 for none;
    without it no cycles are counted.
    """
    times, moves = [], []
    for number, (block, pieces) in enumerate(zip(blocks, traces, strict=True)):
        count = len(block.states)
        last: NDArray[np.int64] = np.zeros(0, np.int64)
        time_ps, visits = np.zeros(count, np.int64), np.zeros(count, np.int64)
        counted = [(last, last)]
        for edges, states in pieces:
            time_ps += np.bincount(states, np.diff(edges), count).astype(np.int64)  # whole, and below 2**53
            visits += np.bincount(states, minlength=count)
            way = np.concatenate((last, states.astype(np.int64)))
            counted.append(_counts(way[:-1] * count + way[1:], count * count))
            last = way[-1:]
        cycles = np.rint(time_ps * (clocks_hz[number] / PS_PER_S)) if clocks_hz else np.zeros(count)
        times.append((np.full(count, number), np.arange(count), time_ps, cycles, visits))
        pairs, which = np.unique(np.concatenate([pairs for pairs, _ in counted]), return_inverse=True)
        amounts = np.bincount(which, np.concatenate([amount for _, amount in counted]), len(pairs))
        moves.append((np.full(len(pairs), number), *divmod(pairs, count), amounts))
    return {"state_time": _stacked("state_time", times), "transitions": _stacked("transitions", moves)}


def _counts(values: NDArray[np.int64], size: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """The different values, all below `size`, and how often each is there."""
    if size > len(values) + (1 << 16):
        return np.unique(values, return_counts=True)
    counts = np.bincount(values)
    there = np.flatnonzero(counts)
    return there, counts[there]


def _stacked(name: str, parts: Sequence[Sequence[NDArray[np.generic]]]) -> Table:
    columns = list(zip(*parts, strict=True)) or [()] * len(TABLES[name])
    return {
        key: np.concatenate((np.zeros(0, kind), *given)).astype(kind)
        for (key, kind), given in zip(TABLES[name].items(), columns, strict=True)
    }
