"""The records that a run leaves in its raw folder, as numpy arrays (structs in `resources/card/records.h`)."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from functools import cached_property, partial
from operator import itemgetter
from pathlib import Path
from types import MappingProxyType
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from workbench.api.host_stats import of_other_version, slots_and_clock
from workbench.model.run import ThreadTime
from workbench.model.run_tables import RowArray
from workbench.system.files import read_regular

STORED_CALLS = np.dtype(
    [
        ("t0", "<i8"), ("t1", "<i8"), ("bytes", "<i8"), ("address", "<i8"),
        ("first_transfer", "<i8"), ("transfers", "<i4"), ("slot", "<i4"),
        ("thread", "<i4"), ("fpga", "<i4"), ("piece", "<i4"), ("reserved", "<i4"),
    ]
)  # fmt: skip
SHORT_CALLS = np.dtype(
    [
        ("t0", "<i8"), ("address", "<i8"), ("took", "<u4"), ("bytes", "<i4"), ("slot", "<u2"), ("thread", "<u2"),
        ("piece", "<i4"),
    ]
)  # fmt: skip
_LONG = 0xFFFFFFFF  # took, of a call that does not fit
CALLS = np.dtype(
    [
        ("site", "<i4"), ("state", "<i4"), ("entry", "<i4"), ("thread", "<i4"),
        ("t0_ps", "<i8"), ("t1_ps", "<i8"), ("bytes", "<i8"), ("address", "<i8"),
        ("fpga", "<i4"), ("piece", "<i4"), ("first_transfer", "<i8"), ("transfers", "<i8"),
    ]
)  # fmt: skip
TRANSFERS = np.dtype(
    [
        ("number", "<i8"), ("kind", "<i4"), ("table", "<i4"), ("address", "<i8"), ("bytes", "<i8"),
        ("call_ps", "<i8"), ("grant_ps", "<i8"), ("end_ps", "<i8"),
        ("port_first_ps", "<i8"), ("port_last_ps", "<i8"), ("host_ps", "<i8"),
        ("thread", "<i4"), ("card", "<i2"), ("value_bytes", "<i2"), ("value", "<u8"),
    ]
)  # fmt: skip
SYNCS = np.dtype(
    [
        ("t0_ps", "<i8"), ("t1_ps", "<i8"), ("woken_ps", "<i8"), ("own_ps", "<i8"), ("object", "<u8"),
        ("argument", "<i8"), ("thread", "<i4"), ("by_thread", "<i4"), ("by_record", "<i4"), ("kind", "<i2"),
        ("result", "<i2"),
    ]
)  # fmt: skip
WAITS = np.dtype([("thread", "<i4"), ("for_a_core", "<i4"), ("t0_ps", "<i8"), ("t1_ps", "<i8")])
TAPS = np.dtype([("cycle", "<i8"), ("block", "<i4"), ("state", "<i4")])
DWELL = np.dtype(
    [
        ("block", "<i4"), ("state", "<i4"), ("log2_cycles", "<i4"), ("reserved", "<i4"),
        ("count", "<i8"), ("cycles", "<i8"),
    ]
)  # fmt: skip
TRANSITIONS = np.dtype(
    [("block", "<i4"), ("from_state", "<i4"), ("to_state", "<i4"), ("reserved", "<i4"), ("count", "<i8")]
)
FIRSTS = np.dtype([("block", "<i4"), ("state", "<i4"), ("cycle", "<i8")])
TRIPLES = np.dtype([("t_p1_ps", "<i8"), ("cycle", "<i8"), ("t_p3_ps", "<i8")])
MESSAGES = np.dtype(
    [
        ("t0", "<i8"), ("t1", "<i8"), ("posted", "<i8"), ("bytes", "<i8"), ("comm", "<i8"), ("order", "<i8"),
        ("kind", "<i4"), ("peer", "<i4"), ("tag", "<i4"), ("thread", "<i4"),
    ]
)  # fmt: skip
RANK_CLOCKS = np.dtype([("t_p1", "<i8"), ("met", "<i8"), ("t_p3", "<i8"), ("rank", "<i4"), ("round", "<i4")])
Records: TypeAlias = RowArray
MOST_TICKS = (1 << 63) - 1
_PIECE = 1 << 18  # records in memory together
PIECE_RECORDS = 512  # what a thread fills at a time (resources/host/recap.h)

#: The versions of the records whose structs, or what these mean, changed since they first were: raised with each such
#: change. All others are of version 1.
FORMATS = {"transfers.bin": 2}
_FORMATS = "formats.json"

#: TRANSFERS' kinds
SEND, RECEIVE, WAIT = 0, 1, 2


def write_formats(raw: Path) -> None:
    """Say in a run's raw folder which versions its records are of. OSError."""
    (raw / _FORMATS).write_text(json.dumps(FORMATS), encoding="utf-8")


def read_records(path: Path, dtype: np.dtype[np.void]) -> Records:
    """All whole records in a file, mapped; a last one that was cut short is left out, no file is an empty one.
    WorkbenchError for those of another version."""
    try:
        count = path.stat().st_size // dtype.itemsize
    except FileNotFoundError:
        count = 0
    if count:
        _check_format(path)
    return np.memmap(path, dtype, "r", shape=(count,)) if count else np.empty(0, dtype)


def _check_format(path: Path) -> None:
    """WorkbenchError for records of another version; runs of before versions were kept have the first of each."""
    reads, version = FORMATS.get(path.name, 1), 1
    with suppress(OSError, ValueError, AttributeError, TypeError):
        version = int(json.loads(read_regular(path.parent / _FORMATS)).get(path.name, 1))
    if version != reads:
        raise of_other_version(path, version, reads)


class RecordFile:
    """Records in a file, of which only those that are asked for are in memory; a last one that was cut short is left
    out, no file is an empty one. `rows` says which records, in which order; all where it is None. `derived` makes those
    columns of `dtype` that are not in the file as they are, out of the file's records, which are of `stored`."""

    def __init__(
        self,
        path: Path,
        dtype: np.dtype[np.void],
        rows: NDArray[np.int64] | None = None,
        stored: np.dtype[np.void] | None = None,
        derived: Mapping[str, Callable[[Records], NDArray[Any]]] = MappingProxyType({}),
    ) -> None:
        self._path, self._dtype, self._rows = path, dtype, rows
        self._stored, self._derived = stored or dtype, derived

    def __len__(self) -> int:
        return self._count if self._rows is None else len(self._rows)

    def __getitem__(self, name: str) -> NDArray[Any]:
        """One column."""
        return self.columns(name)[0]

    def columns(self, *names: str) -> list[NDArray[Any]]:
        columns = [np.empty(self._count, self._dtype[name]) for name in names]
        for begin in range(0, self._count, _PIECE):
            part = self._read(begin, min(_PIECE, self._count - begin))
            for name, column in zip(names, columns, strict=True):
                column[begin : begin + len(part)] = self._column(part, name)
        return columns if self._rows is None else [column[self._rows] for column in columns]

    def at(self, rows: slice | NDArray[np.int64] = slice(None)) -> Records:
        """Some of the records, or all, copied."""
        if isinstance(rows, slice):
            rows = np.arange(*rows.indices(len(self)))
        rows = rows if self._rows is None else self._rows[rows]
        stored, places = np.empty((len(rows), self._stored.itemsize), np.uint8), np.sort(rows)
        gaps = np.flatnonzero(np.diff(places) > _PIECE) + 1
        for some in np.split(places, gaps):  # what lies together is read together
            if len(some):
                low, high = int(some[0]), int(some[-1]) + 1
                mine = np.flatnonzero((rows >= low) & (rows < high)) if len(gaps) else slice(None)
                bytes_ = self._read(low, high - low).view(np.uint8).reshape(high - low, -1)
                stored[mine] = bytes_.take(rows[mine] - low, axis=0)
        records = stored.view(self._stored).reshape(-1)
        if self._stored is self._dtype:
            return records
        records_out = np.empty(len(records), self._dtype)
        for name in self._dtype.names or ():
            records_out[name] = self._column(records, name)
        return records_out

    def leave_out(self, rows: NDArray[np.int64]) -> None:
        """Mark records of calls in the file as room that was not used."""
        if len(rows):
            places = rows if self._rows is None else self._rows[rows]
            np.memmap(self._path, self._stored, "r+", shape=(self._count,))["piece"][places] = 0

    def chosen(self, rows: NDArray[np.int64]) -> RecordFile:
        """Some of the records, as those of a file."""
        rows = rows if self._rows is None else self._rows[rows]
        return RecordFile(self._path, self._dtype, rows, self._stored, self._derived)

    def in_order(self, *names: str) -> RecordFile:
        """The same by some columns, the first before the others; what is equal stays as it is."""
        columns = self.columns(*reversed(names))
        if len(columns) == 1 and (np.diff(columns[0]) >= 0).all():
            return self
        return self.chosen(np.lexsort(columns))

    @cached_property
    def _count(self) -> int:
        return len(read_records(self._path, self._stored))

    def _read(self, begin: int, count: int) -> Records:
        return np.fromfile(self._path, self._stored, count, offset=begin * self._stored.itemsize)

    def _column(self, records: Records, name: str) -> NDArray[Any]:
        return self._derived[name](records) if name in self._derived else records[name]


def read_calls(raw: Path) -> RecordFile:
    """Instrumented calls, each thread's in the order in which they ended (dtype CALLS).

    Records that a killed host left unwritten (`piece` is 0) are left out, and those that it left twice are taken once.
    """
    records = _call_file(raw)
    thread, piece = records.columns("thread", "piece")
    whole = piece > 0
    for mapped, appended in _pieces_left_twice(thread, piece):
        written = whole[appended : appended + PIECE_RECORDS]
        whole[mapped : mapped + len(written)] &= ~written
    return records if whole.all() else records.chosen(np.flatnonzero(whole))


def _call_file(raw: Path) -> RecordFile:
    """The recorded calls in ticks and slots, which `host_stats.bin` explains, or as an earlier recorder wrote them."""
    file, slots_clock = raw / "host_calls.bin", slots_and_clock(raw)
    if slots_clock is None:
        return RecordFile(file, CALLS)
    slots, clock, record_bytes = slots_clock
    if record_bytes == CALLS.itemsize:  # those of several ranks, joined
        return RecordFile(file, CALLS)
    of: dict[str, Callable[[Records], NDArray[Any]]] = {}
    if record_bytes == SHORT_CALLS.itemsize:
        of = _of_short(read_records(raw / "host_long_calls.bin", STORED_CALLS))
    t1 = of.get("t1", itemgetter("t1"))
    derived: dict[str, Callable[[Records], NDArray[Any]]] = {
        **of,
        "t0_ps": lambda records: clock.at(records["t0"]),
        "t1_ps": lambda records: clock.at(t1(records)),
        **{name: partial(_of_slots, slots[name]) for name in ("site", "state", "entry")},
    }
    return RecordFile(file, CALLS, stored=SHORT_CALLS if of else STORED_CALLS, derived=derived)


def _of_short(long: Records) -> dict[str, Callable[[Records], NDArray[Any]]]:
    """The columns of STORED_CALLS, of short records and those whole ones that are `long`."""
    whole = {(one["t0"], one["thread"]): one for one in long}

    def column(name: str, short: Callable[[Records], NDArray[Any]], records: Records) -> NDArray[Any]:
        values = short(records)
        for row in np.flatnonzero(records["took"] == _LONG):
            one = whole.get((records["t0"][row], records["thread"][row]))
            values[row] = values[row] if one is None else one[name]
        return values

    readers: dict[str, Callable[[Records], NDArray[Any]]] = {
        "t1": lambda records: records["t0"] + records["took"],
        "bytes": lambda records: records["bytes"].astype(np.int64),
        "fpga": lambda records: records["piece"].astype(np.int8).astype(np.int32),
    }
    return {
        "piece": lambda records: records["piece"] >> 8,
        "first_transfer": lambda records: np.full(len(records), -1, np.int64),
        "transfers": lambda records: np.zeros(len(records), np.int32),
        **{name: partial(column, name, short) for name, short in readers.items()},
    }


def _of_slots(column: NDArray[np.int32], records: Records) -> NDArray[np.int32]:
    return column[np.minimum(records["slot"], len(column) - 1)]


def _pieces_left_twice(threads: NDArray[np.int32], pieces: NDArray[np.int32]) -> Iterator[tuple[int, int]]:
    """Where the pieces begin that stand in the file twice, by thread and number: as they were filled, and appended."""
    starts = np.arange(0, len(pieces), PIECE_RECORDS)
    if len(starts) < 2:
        return
    thread, piece = (np.maximum.reduceat(column, starts).astype(np.int64) for column in (threads, pieces))
    used = np.flatnonzero(piece)
    keys = (thread << 32 | piece)[used]
    order = np.argsort(keys, kind="stable")
    for place in np.flatnonzero(np.diff(keys[order]) == 0):
        yield tuple(starts[used[order[place : place + 2]]].tolist())


def read_transfers(raw: Path) -> RecordFile:
    """Transfers and waits by number (dtype TRANSFERS); `table` indexes the platform's `transfer_tables` in order."""
    return RecordFile(raw / "transfers.bin", TRANSFERS).in_order("number")


def read_waits(raw: Path) -> Records:
    """When the host's threads waited outside the card's calls, in order of their ends (dtype WAITS)."""
    return read_records(raw / "host_waits.bin", WAITS)


def read_syncs(raw: Path) -> Records:
    """Calls that synchronise threads, each thread's in order (dtype SYNCS); empty where the run was not traced."""
    return read_records(raw / "host_syncs.bin", SYNCS)


def read_thread_times(raw: Path) -> tuple[ThreadTime, ...]:
    """What each of the host's threads did with its time, by number; none where nothing tells."""
    rows = sorted([int(word) for word in line.split()] for line in read_lines(raw / "host_threads.txt"))
    return tuple(
        ThreadTime(begin, end, work, waited, queued, tuple(cores))
        for _, begin, end, work, waited, queued, *cores in rows
    )


def read_thread_lives(raw: Path) -> NDArray[np.int64]:
    """When each of the host's threads began and ended (ps), a row each, by number; none where nothing tells."""
    return np.array([(t.begin_ps, t.end_ps) for t in read_thread_times(raw)], np.int64).reshape(-1, 2)


def read_thread_names(raw: Path) -> dict[int, str]:
    """What the program calls its threads, by number: those that it gave a name."""
    return {int(line.split()[0]): line.partition(" ")[2].strip() for line in read_lines(raw / "host_names.txt")}


def read_thread_ranks(raw: Path) -> dict[int, int]:
    """The rank of each of the host's threads, by number; none where there is one rank."""
    rows = (line.split() for line in read_lines(raw / "host_ranks.txt"))
    return {int(number): int(rank) for number, rank in rows}


def read_taps(raw: Path) -> Records:
    """State changes by cycle (dtype TAPS); empty where the run was not traced."""
    return read_records(raw / "taps.bin", TAPS)


def read_dwell(raw: Path) -> Records:
    """Histograms of how long states lasted (dtype DWELL)."""
    return read_records(raw / "dwell.bin", DWELL)


def read_transitions(raw: Path) -> Records:
    """How often blocks went from one state to another (dtype TRANSITIONS)."""
    return read_records(raw / "transitions.bin", TRANSITIONS)


def read_firsts(raw: Path) -> Records:
    """The first cycle of each state of a block (dtype FIRSTS)."""
    return read_records(raw / "firsts.bin", FIRSTS)


def read_counters(raw: Path, fpga: int = 0) -> NDArray[np.uint32] | None:
    """The monitors' words (uint32), or None where they were not read, or could not be written."""
    path = raw / of_fpga("counters.bin", fpga)
    data = path.read_bytes() if path.is_file() else b""
    return np.frombuffer(data, "<u4", count=len(data) // 4) if data else None


def of_fpga(name: str, number: int) -> str:
    """What a record's file is called of an FPGA of that number: of all but the first its name ends in it."""
    stem, dot, ending = name.partition(".")
    return f"{stem}_{number}{dot}{ending}" if number else name


def read_triples(raw: Path, fpga: int = 0) -> Records:
    """Messages of a real machine's to its FPGA's first clock, stamped by both (dtype TRIPLES)."""
    return read_records(raw / of_fpga("triples.bin", fpga), TRIPLES)


def read_end(path: Path) -> dict[str, str]:
    """What a process wrote at its end (`host_end.txt`, `card_end.txt`), lines of key and value; {} if it did not."""
    return dict(line.split(" ", 1) for line in read_lines(path) if " " in line)


def whole_number(text: str, most: int) -> int | None:
    """The number that a record's text is, at most so large; None where it is no such."""
    known = text.isascii() and text.isdecimal() and len(text) <= len(str(most)) and int(text) <= most
    return int(text) if known else None


def read_lines(path: Path) -> list[str]:
    """A text file's lines; none where it is not there, or no file."""
    return path.read_text(encoding="utf-8", errors="replace").splitlines() if path.is_file() else []
