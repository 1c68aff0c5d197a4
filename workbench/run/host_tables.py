"""From the host's call records and the card's transfer records to a run's host tables."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from workbench.api.tables import Piece, state_tables
from workbench.model.blocks import Block
from workbench.model.platform import Platform
from workbench.model.run import PS_PER_S, TABLES, Entry, Table
from workbench.run.skeleton import fold
from workbench.traces.groups import kinds_of, rows_of_block

Records = NDArray[np.void]

WORK = 1  # the state between calls, in every host block
_PIECE = 1 << 20  # stretches or calls looked at together


def resources(platform: Platform) -> tuple[str, ...]:
    """The buses that the platform's transfers share, in order of first mention."""
    return tuple(dict.fromkeys(table.resource for table in platform.transfer_tables.values()))


def calls_table(
    calls: Records,
    transfers: Records,
    blocks: Sequence[Block],
    entries: Sequence[Entry],
    messages: Sequence[str],
    platform: Platform,
) -> Table:
    """Every call in order of its start, with what its transfers tell: both ends' stamps of one message.

    `blocks` are the host's, as numbered in the manifest. A call without transfers has -1 in the port's columns.
    """
    in_order = bool((np.diff(calls["t0_ps"]) >= 0).all())
    order = slice(None) if in_order else np.argsort(calls["t0_ps"], kind="stable")
    table = {name: np.full(len(calls), -1, dtype=kind) for name, kind in TABLES["calls"].items()}
    for name in ("site", "state", "entry", "t0_ps", "t1_ps", "bytes", "address"):
        table[name][:] = calls[name][order]
    table["block"][:] = calls["thread"][order]
    names = resources(platform)
    by_entry = [
        names.index(platform.transfer_tables[entry.transfer].resource)
        if entry.transfer in platform.transfer_tables
        else -1
        for entry in entries
    ]
    table["resource"][:] = np.array([*by_entry, -1], dtype="i4")[table["entry"]]  # entry -1 takes the last
    for number, block in enumerate(blocks):
        first = [messages.index(s.messages[0]) if s.messages else -1 for s in block.states]
        mine = rows_of_block(table["block"], number)
        t0_ps, t1_ps = table["t0_ps"][mine], table["t1_ps"][mine]
        table["host_ps"][mine] = t0_ps - np.concatenate(([0], t1_ps))[: len(t0_ps)]
        table["message"][mine] = np.array(first, dtype="i4")[table["state"][mine]]
    _add_port_times(table, calls["first_transfer"][order], calls["transfers"][order], transfers)
    return table


def _add_port_times(table: Table, first: NDArray[np.int64], count: NDArray[np.int64], transfers: Records) -> None:
    """When each call's first transfer got the bus, and when its words passed the port, the first and the last.

    `first` is its first transfer's number among those of its thread, `count` how many it made.
    """
    of_call, thread = table["block"], transfers["thread"]
    by_thread = slice(None) if (np.diff(thread) >= 0).all() else np.argsort(thread, kind="stable")
    of_thread = np.searchsorted(thread[by_thread], np.arange(int(of_call.max(initial=0)) + 2))
    begins, ends = of_thread[of_call] + first, of_thread[of_call + 1]
    rows = np.flatnonzero((count > 0) & (first >= 0) & (begins < ends))
    begins, ends = begins[rows], np.minimum(ends[rows], begins[rows] + count[rows])
    several = np.flatnonzero(ends > begins + 1)
    cuts = np.stack([begins[several], ends[several]], axis=1).reshape(-1)
    table["grant_ps"][rows] = transfers["grant_ps"][by_thread][begins]
    never = np.iinfo(np.int64).max
    missed = (transfers["port_first_ps"] < 0)[by_thread]
    for column, furthest, nothing in (("port_first_ps", np.minimum, never), ("port_last_ps", np.maximum, -1)):
        times = transfers[column][by_thread]
        times = np.append(np.where(missed, nothing, times), nothing)
        found = times[begins]
        if len(several):
            found[several] = furthest.reduceat(times, cuts)[::2]
        table[column][rows] = np.where(found == never, -1, found)


def host_states(stretches: Table, blocks: Sequence[Block], time_ps: int, known: bool = False) -> dict[str, Table]:
    """`state_time` and `transitions` of the host's blocks.

    A block is in a stretch's state (a call's, mostly) during it and at `work` between them. A thread whose beginning is
    not `known` is unclassified until its first call. Every block's times sum to `time_ps`; zero-length stretches of
    work count as visits, so that transitions balance.
    """
    numbers = range(len(blocks))
    return state_tables(blocks, (host_pieces(stretches, number, time_ps, known) for number in numbers))


def call_tables(calls: Table) -> dict[str, Table]:
    """`call_stats` and `call_order`."""
    return {"call_stats": call_stats(calls), "call_order": fold(calls["site"], calls["state"])}


def call_stats(calls: Table) -> Table:
    """The aggregates of a table of calls: a row for each site, block, state and entry."""
    kinds, kind_of = kinds_of(calls, ("site", "block", "state", "entry"))
    made, run_of = kinds_of(calls, ("site", "block", "state"))
    size, took_ps = np.asarray(calls["bytes"]), calls["t1_ps"] - calls["t0_ps"]
    count = len(kinds["site"])
    moved = np.flatnonzero((size > 0) & (took_ps > 0))
    rates = size[moved] * (PS_PER_S / took_ps[moved])
    slowest, fastest = _extremes(kind_of[moved], rates, count)
    runs, least, most = _runs(np.asarray(calls["block"]), run_of, len(made["site"]))
    run = np.zeros(count, np.int64)
    run[kind_of] = run_of
    none = np.bincount(kind_of[moved], minlength=count) == 0
    columns = {
        **kinds,
        "count": np.bincount(kind_of, minlength=count),
        "bytes": np.bincount(kind_of, weights=np.maximum(size, 0), minlength=count),  # exact: below 2**53
        "time_ps": np.bincount(kind_of, weights=took_ps, minlength=count),
        "min_bytes_per_s": np.where(none, np.nan, slowest),
        "max_bytes_per_s": np.where(none, np.nan, fastest),
        "runs": runs[run],
        "min_run": least[run],
        "max_run": most[run],
    }
    return {name: columns[name].astype(kind) for name, kind in TABLES["call_stats"].items()}


def _extremes(group: NDArray[np.int64], values: NDArray[Any], groups: int) -> tuple[NDArray[Any], NDArray[Any]]:
    """The least and the most of each group's values; 0 where it has none."""
    order = np.argsort(group.astype(np.int16) if groups < 1 << 15 else group, kind="stable")
    heads = np.flatnonzero(np.diff(group[order], prepend=-1))
    least, most = np.zeros(groups, values.dtype), np.zeros(groups, values.dtype)
    if len(heads):
        there = group[order[heads]]
        least[there] = np.minimum.reduceat(values[order], heads)
        most[there] = np.maximum.reduceat(values[order], heads)
    return least, most


def _runs(
    blocks: NDArray[np.int32], kind: NDArray[np.int64], kinds: int
) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
    """How often calls of one kind followed one another within a thread, and the least and most calls of such a row."""
    if (np.diff(blocks) < 0).any():
        order = np.argsort(blocks, kind="stable")
        kind = kind[order]
    ends = np.flatnonzero(np.diff(kind, append=-1))  # threads have no kind in common
    lengths = np.diff(ends, prepend=-1)
    return np.bincount(kind[ends], minlength=kinds), *_extremes(kind[ends], lengths, kinds)


def host_intervals(
    stretches: Table, number: int, time_ps: int, known: bool = False
) -> tuple[NDArray[np.int64], NDArray[np.int32]]:
    """Starts (ps) and states of one host block, as `host_states` has them, without the empty ones."""
    pieces = list(host_pieces(stretches, number, time_ps, known))
    lasting = [np.diff(edges) > 0 for edges, _ in pieces]
    starts = [edges[:-1][lasts] for (edges, _), lasts in zip(pieces, lasting, strict=True)]
    return np.concatenate(starts), np.concatenate([s[lasts] for (_, s), lasts in zip(pieces, lasting, strict=True)])


def host_pieces(stretches: Table, number: int, time_ps: int, known: bool = False) -> Iterator[Piece]:
    """One host block's states over time: work and its stretches in turn, so many of them at a time."""
    mine = rows_of_block(stretches["block"], number)
    t0_ps, t1_ps, of_stretch = stretches["t0_ps"][mine], stretches["t1_ps"][mine], stretches["state"][mine]
    begins = np.array([t0_ps[0] if len(t0_ps) else time_ps])
    yield np.append(0, begins), np.array([0 if number and not known else WORK], np.int32)
    for first in range(0, len(t0_ps), _PIECE):
        part = slice(first, first + _PIECE)
        count = len(t0_ps[part])
        edges, states = np.empty(2 * count + 1, np.int64), np.full(2 * count, WORK, np.int32)
        edges[:-1:2], edges[1::2], states[::2] = t0_ps[part], t1_ps[part], of_stretch[part]
        edges[-1] = t0_ps[first + count] if first + count < len(t0_ps) else time_ps
        yield edges, states
