"""From the host's call records and the card's transfer records to a run's host tables."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from workbench.model.blocks import Block
from workbench.model.platform import Platform
from workbench.model.run import PS_PER_S, TABLES, Entry, Table
from workbench.run.skeleton import fold, to_table

Records = NDArray[np.void]

WORK = 1  # the state between calls, in every host block


def thread_blocks(main: Block, calls: Records) -> tuple[Block, ...]:
    """`host.main`, and a block with the same states for every further thread that called the API."""
    threads = int(calls["thread"].max()) if len(calls) else 0
    others = (
        replace(main, id=f"host.thread_{n}", group=f"host.thread_{n}", kind="thread") for n in range(1, threads + 1)
    )
    return (main, *others)


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
    calls = calls[np.argsort(calls["t0_ps"], kind="stable")]
    rows = len(calls)
    table = {name: np.full(rows, -1, dtype=kind) for name, kind in TABLES["calls"].items()}
    for name in ("site", "state", "entry", "t0_ps", "t1_ps", "bytes", "address"):
        table[name][:] = calls[name]
    table["block"][:] = calls["thread"]
    for thread in np.unique(calls["thread"]):
        mine = np.flatnonzero(calls["thread"] == thread)
        table["host_ps"][mine] = calls["t0_ps"][mine] - np.concatenate(([0], calls["t1_ps"][mine][:-1]))
    names = resources(platform)
    by_entry = [
        names.index(platform.transfer_tables[entry.transfer].resource)
        if entry.transfer in platform.transfer_tables
        else -1
        for entry in entries
    ]
    of_entry = np.array([*by_entry, -1], dtype="i4")  # entry -1 takes the last
    table["resource"][:] = of_entry[calls["entry"]]
    for number, block in enumerate(blocks):
        first = [messages.index(s.messages[0]) if s.messages else -1 for s in block.states]
        mine = calls["thread"] == number
        table["message"][mine] = np.array(first, dtype="i4")[calls["state"][mine]]
    transfers = transfers[np.argsort(transfers["thread"], kind="stable")]
    first_of_thread = np.searchsorted(transfers["thread"], calls["thread"])
    with_transfers = np.flatnonzero((calls["transfers"] > 0) & (calls["first_transfer"] >= 0))
    for row in with_transfers:
        begin = int(first_of_thread[row] + calls["first_transfer"][row])
        mine_ = transfers[begin : begin + int(calls["transfers"][row])]
        if not len(mine_):
            continue
        table["grant_ps"][row] = mine_["grant_ps"][0]
        at_port = mine_[mine_["port_first_ps"] >= 0]
        if len(at_port):
            table["port_first_ps"][row] = at_port["port_first_ps"].min()
            table["port_last_ps"][row] = at_port["port_last_ps"].max()
    return table


def host_aggregates(calls: Table, blocks: Sequence[Block], time_ps: int) -> dict[str, Table]:
    """`state_time`, `transitions`, `call_stats` and `call_order` of the host's blocks.

    A block is in a call's state during the call and at `work` between calls; a thread that starts late is
    unclassified until its first call. Every block's times sum to `time_ps`; zero-length stretches of work count as
    visits, so that transitions balance.
    """
    time_rows: list[tuple[int, int, int, int, int]] = []
    move_rows: list[tuple[int, int, int, int]] = []
    for number, block in enumerate(blocks):
        mine = np.flatnonzero(calls["block"] == number)
        states = calls["state"][mine]
        spent = np.zeros(len(block.states), dtype=np.int64)
        visits = np.zeros(len(block.states), dtype=np.int64)
        np.add.at(spent, states, calls["t1_ps"][mine] - calls["t0_ps"][mine])
        np.add.at(visits, states, 1)
        late = int(calls["t0_ps"][mine][0]) if number and len(mine) else 0
        spent[0] += late
        visits[0] += number > 0
        visits[WORK] += len(mine) + (number == 0)
        spent[WORK] += time_ps - int(spent.sum())
        time_rows += [(number, s, int(spent[s]), 0, int(visits[s])) for s in range(len(block.states))]
        moves: dict[tuple[int, int], int] = {}
        inner = states if number == 0 else states[1:]
        for state, count in zip(*np.unique(inner, return_counts=True), strict=True):
            moves[WORK, int(state)] = int(count)
        for state, count in zip(*np.unique(states, return_counts=True), strict=True):
            moves[int(state), WORK] = int(count)
        if number and len(states):
            moves[0, int(states[0])] = 1
        move_rows += [(number, a, b, n) for (a, b), n in sorted(moves.items())]
    order = zip(calls["site"].tolist(), calls["state"].tolist(), strict=True)
    return {
        "state_time": _table("state_time", time_rows),
        "transitions": _table("transitions", move_rows),
        "call_stats": call_stats(calls),
        "call_order": to_table(fold(order)),
    }


def call_stats(calls: Table) -> Table:
    """The aggregates of a table of calls: a row for each site, block, state and entry."""
    keys = np.stack([calls[name] for name in ("site", "block", "state", "entry")], axis=1).astype(np.int64)
    kinds, inverse = np.unique(keys, axis=0, return_inverse=True)
    inverse = inverse.reshape(-1)
    took_ps = calls["t1_ps"] - calls["t0_ps"]
    runs = _runs(calls)
    rows = []
    for number, (site, block, state, entry) in enumerate(kinds):
        mine = inverse == number
        size, took = calls["bytes"][mine], took_ps[mine]
        moved = (size > 0) & (took > 0)
        rates = size[moved] * (PS_PER_S / took[moved])
        lengths = runs.get((int(site), int(block), int(state)), [0])
        rows.append(
            (site, block, state, entry, mine.sum(), size[size > 0].sum(), took.sum(),
             rates.min() if len(rates) else np.nan, rates.max() if len(rates) else np.nan,
             len(lengths), min(lengths), max(lengths))
        )  # fmt: skip
    return _table("call_stats", rows)


def _runs(calls: Table) -> dict[tuple[int, int, int], list[int]]:
    """Lengths of consecutive calls of one (site, block, state) within a thread."""
    lengths: dict[tuple[int, int, int], list[int]] = {}
    for block in np.unique(calls["block"]):
        mine = np.flatnonzero(calls["block"] == block)
        site, state = calls["site"][mine], calls["state"][mine]
        starts = np.flatnonzero(np.concatenate(([True], (site[1:] != site[:-1]) | (state[1:] != state[:-1]))))
        for start, length in zip(starts, np.diff([*starts, len(mine)]), strict=True):
            lengths.setdefault((int(site[start]), int(block), int(state[start])), []).append(int(length))
    return lengths


def host_intervals(calls: Table, number: int, time_ps: int) -> tuple[NDArray[np.int64], NDArray[np.uint8]]:
    """Starts (ps) and states of one host block's stretches: work and calls in turn, empty stretches left out."""
    mine = np.flatnonzero(calls["block"] == number)
    t0, t1 = calls["t0_ps"][mine], calls["t1_ps"][mine]
    starts = np.zeros(2 * len(mine) + 1, dtype=np.int64)
    states = np.full(2 * len(mine) + 1, WORK, dtype=np.uint8)
    starts[1::2], states[1::2] = t0, calls["state"][mine]
    starts[2::2] = t1
    if number:
        states[0] = 0
    lasts = np.concatenate((starts[1:], [time_ps])) > starts
    return starts[lasts], states[lasts]


def _table(name: str, rows: Sequence[Sequence[float]]) -> Table:
    columns = list(zip(*rows, strict=True)) or [()] * len(TABLES[name])
    return {
        key: np.array(column, dtype=kind) for (key, kind), column in zip(TABLES[name].items(), columns, strict=True)
    }
