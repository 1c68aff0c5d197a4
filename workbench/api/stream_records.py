"""What a run's card records of streams and of memory ports, as tables."""

from collections.abc import Iterator
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from workbench.api.records import _PIECE, Records, read_records
from workbench.model.run_tables import TABLES, Table

_SINCE_FOLLOWS, _AS_MANY_MORE = 1 - (1 << 15), 2 - (1 << 15)  # RCW_SINCE_FOLLOWS and so on of records.h
STREAMS = np.dtype(
    [
        ("stream", "<i4"), ("reserved", "<i4"), ("cycles", "<i8"), ("transfers", "<i8"), ("valid", "<i8"),
        ("ready", "<i8"),
    ]
)  # fmt: skip


STREAM_TRANSFERS = np.dtype([("since", "<u4"), ("early", "<i2"), ("stream", "<u2")])


STREAM_WAITS = np.dtype([("stream", "<i4"), ("wait", "<i4"), ("cycles", "<i8")])


MEMORY_PORTS = np.dtype([(name, "<i8") for name in TABLES["memory_ports"] if name != "memory_port"])


OCCUPANCY = np.dtype([("fifo", "<i4"), ("words", "<i4"), ("cycles", "<i8")])


def stream_tables(raw: Path) -> dict[str, Table]:
    """What the simulated card counted of the design's streams, as the run's tables; none where it counted nothing."""
    counts = read_records(raw / "streams.bin", STREAMS)
    if not len(counts):
        return {}
    moved = counts["transfers"]
    streams = {
        "stream": counts["stream"],
        "transfers": moved,
        "source_stalls": counts["ready"] - moved,
        "sink_stalls": counts["valid"] - moved,
        "idle": counts["cycles"] + moved - counts["valid"] - counts["ready"],
    }
    tables: dict[str, Table] = {"streams": streams}
    for name, kind in (("stream_waits", STREAM_WAITS), ("occupancy", OCCUPANCY)):
        rows = read_records(raw / f"{name}.bin", kind)
        tables[name] = {column: np.array(rows[column]) for column in kind.names or ()}
    return tables


def stream_transfers(raw: Path) -> Iterator[Table]:
    """Pieces of table `stream_transfers` of a traced run: each stream's transfers in order; none where none was
    recorded."""
    records = read_records(raw / "stream_transfers.bin", STREAM_TRANSFERS)
    last = np.full(1 << 16, -1, np.int64)  # the cycle of each stream's last transfer so far
    begin = 0
    while begin < len(records):
        end = min(begin + _PIECE // 64, len(records))  # a record is of up to 64 transfers
        while end < len(records) and records["early"][end - 1] <= _SINCE_FOLLOWS:
            end += 1
        yield _transfers(np.array(records[begin:end]), last)
        begin = end


def _transfers(records: Records, last: NDArray[np.int64]) -> Table:
    """One piece; `last` is brought up to it."""
    since, early = records["since"].astype(np.int64), records["early"].astype(np.int32)
    for row in np.flatnonzero(early <= _SINCE_FOLLOWS):  # what does not fit into the next, which may be one of these
        whole = row + 1
        while whole < len(early) and records["early"][whole] <= _SINCE_FOLLOWS:
            whole += 1
        if whole == len(early):
            break
        if records["early"][row] == _SINCE_FOLLOWS:
            since[whole] += since[row] << 32
        else:
            early[whole] = records["since"][row].astype(np.int32)
    more, kept = records["early"] == _AS_MANY_MORE, records["early"] > _SINCE_FOLLOWS
    times = np.where(more, np.minimum(since, 64), 1)[kept]
    since[more], early[more] = 1, 0
    stream, since, early = (np.repeat(column[kept], times) for column in (records["stream"], since, early))
    order = np.argsort(stream, kind="stable")
    sums = np.cumsum(since[order])
    heads = np.flatnonzero(np.diff(stream[order], prepend=-1))
    counts = np.diff(heads, append=len(order))
    before = np.repeat(last[stream[order[heads]]] - (sums[heads] - since[order[heads]]), counts)
    cycle = np.empty(len(order), np.int64)
    cycle[order] = sums + before
    last[stream] = cycle  # the last of each stream is the one that stays
    return {"stream": stream.astype(np.int32), "cycle": cycle, "early": early}


def memory_table(raw: Path) -> dict[str, Table]:
    """What the ports did by which the design asks memory on the simulated card; none where it has no such port."""
    rows = read_records(raw / "memory_ports.bin", MEMORY_PORTS)
    if not len(rows):
        return {}
    columns = {name: np.array(rows[name]) for name in MEMORY_PORTS.names or ()}
    return {"memory_ports": {"memory_port": np.arange(len(rows), dtype=np.int32), **columns}}
