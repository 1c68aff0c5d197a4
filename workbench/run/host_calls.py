"""Joins the host's call records and the card's transfer records to the table of calls, piece by piece."""

from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from workbench.api.records import RECEIVE, RecordFile, Records
from workbench.model.blocks import Block, Side, rank_of
from workbench.model.platform import Platform
from workbench.model.run import Entry
from workbench.model.run_tables import LATER_COLUMNS, TABLES
from workbench.run.host_threads import HostThreads
from workbench.traces.groups import rows_of_block

PIECE = 1 << 18  # calls in memory together


def resources(platform: Platform, blocks: Sequence[Block] = ()) -> tuple[str, ...]:
    """The buses that the platform's transfers share, in order of first mention; with several ranks, those of each
    rank."""
    names = tuple(dict.fromkeys(table.resource for table in platform.transfer_tables.values()))
    ranks = dict.fromkeys(rank_of(block.id) for block in blocks if block.side is Side.HOST) or ("",)
    return tuple(f"{rank}.{name}" if rank else name for rank in ranks for name in names)


def call_pieces(
    calls: RecordFile,
    transfers: RecordFile,
    threads: HostThreads,
    blocks: Sequence[Block],
    entries: Sequence[Entry],
    messages: Sequence[str],
    platform: Platform,
) -> Iterator[dict[str, NDArray[np.integer]]]:
    """Pieces of table `calls`, in order of the calls' starts, with the data of each call's transfers: both ends' time
    stamps of a message.

    `blocks` are the host's, as numbered in the manifest. A call without transfers has -1 in the card's columns.
    """
    names, tables = resources(platform), platform.transfer_tables
    ranks = list(dict.fromkeys(rank_of(block.id) for block in blocks))
    first_bus = np.array([ranks.index(rank_of(block.id)) * len(names) for block in blocks], "i4")
    bus_of_entry = [names.index(tables[e.transfer].resource) if e.transfer in tables else -1 for e in entries]
    of_entry = np.array([*bus_of_entry, -1], dtype="i4")  # entry -1 takes the last
    first_message = [
        np.array([messages.index(s.messages[0]) if s.messages else -1 for s in block.states], "i4") for block in blocks
    ]
    free_ps = threads.begins_ps(len(blocks))
    by_thread = transfers.in_order("thread")
    of_thread = np.searchsorted(by_thread["thread"], np.arange(len(blocks) + 1))
    for begin in range(0, len(calls), PIECE):
        records = calls.at(slice(begin, begin + PIECE))
        table = {
            name: np.full(len(records), LATER_COLUMNS["calls"].get(name, -1), kind)
            for name, kind in TABLES["calls"].items()
        }
        for name in ("site", "state", "entry", "t0_ps", "t1_ps", "bytes", "address"):
            table[name][:] = records[name]
        table["block"][:] = records["thread"]
        bus = of_entry[table["entry"]]
        table["resource"][:] = np.where(bus >= 0, bus + first_bus[table["block"]], -1)
        for number in np.unique(table["block"]).tolist():
            mine = rows_of_block(table["block"], number)
            t0_ps, t1_ps = table["t0_ps"][mine], table["t1_ps"][mine]
            ends_ps = np.maximum.accumulate(np.append(free_ps[number], t1_ps))
            table["host_ps"][mine] = threads.own_ps(number, np.minimum(ends_ps[:-1], t0_ps), t0_ps)
            free_ps[number] = ends_ps[-1]
            table["message"][mine] = first_message[number][table["state"][mine]]
        _add_transfers(table, records["first_transfer"], records["transfers"], by_thread, of_thread)
        yield table


def _add_transfers(
    table: dict[str, NDArray[np.integer]],
    first: NDArray[np.int64],
    count: NDArray[np.int64],
    transfers: RecordFile,
    of_thread: NDArray[np.int64],
) -> None:
    """Add the time at which each call's first transfer got the bus, and the times of its first and last word at the
    port; the received bytes, if they are fewer than requested; and the value of up to 8 bytes that it read.

    `first` is the number of the call's first transfer among those of its thread, which begin at `of_thread` in
    `transfers`; `count` is the number of its transfers.
    """
    begins, ends = of_thread[table["block"]] + first, of_thread[table["block"] + 1]
    rows = np.flatnonzero((count > 0) & (first >= 0) & (begins < ends))
    if not len(rows):
        return
    begins, counts = begins[rows], np.minimum(count[rows], (ends - begins)[rows])
    heads = np.cumsum(counts) - counts  # each call's transfers, one call after the other
    records = transfers.at(np.repeat(begins - heads, counts) + np.arange(counts.sum()))
    for name in ("grant_ps", "call_ps", "card"):
        table[name][rows] = records[name][heads]
    table["end_ps"][rows] = np.maximum.reduceat(records["end_ps"], heads)
    table["parts"][rows] = counts
    _add_values(table, rows, heads, counts, records)
    single = np.flatnonzero((counts == 1) & (records["kind"][heads] == RECEIVE))
    table["bytes"][rows[single]] = np.minimum(table["bytes"][rows[single]], records["bytes"][heads[single]])
    missed, never = records["port_first_ps"] < 0, np.iinfo(np.int64).max
    first_ps = np.minimum.reduceat(np.where(missed, never, records["port_first_ps"]), heads)
    table["port_first_ps"][rows] = np.where(first_ps == never, -1, first_ps)
    table["port_last_ps"][rows] = np.maximum.reduceat(np.where(missed, -1, records["port_last_ps"]), heads)


def _add_values(
    table: dict[str, NDArray[np.integer]], rows: NDArray[np.int64], heads: NDArray[np.int64],
    counts: NDArray[np.int64], records: Records,
) -> None:  # fmt: skip
    """Add the values that calls read, of up to 8 bytes in all their receives."""
    brought = np.where(records["kind"] == RECEIVE, records["bytes"], 0)
    read = np.add.reduceat(brought, heads)
    is_complete = (read > 0) & (read <= 8) & (np.add.reduceat(records["value_bytes"], heads) == read)
    before = np.cumsum(brought) - brought
    place = np.where(np.repeat(is_complete, counts), before - np.repeat(before[heads], counts), 0).astype(np.uint64)
    values = np.bitwise_or.reduceat(records["value"] << np.uint64(8) * place, heads)
    table["value"][rows[is_complete]], table["value_bytes"][rows[is_complete]] = values[is_complete], read[is_complete]
