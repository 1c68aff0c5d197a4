"""What the host's recorder counted of a program's calls, also while it runs (structs in `resources/host/recap.h`)."""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from workbench.model.diagnostic import Diagnostic, WorkbenchError
from workbench.model.run_tables import RowArray

STATS = "host_stats.bin"
MAGIC = 0x32535752  # "RWS2": the last sign is the version
HEADER = np.dtype(
    [
        ("magic", "<i4"), ("slots", "<i4"), ("threads", "<i4"), ("thread_bytes", "<i4"), ("process", "<i4"),
        ("children", "<i4"), ("pid", "<i4"), ("ended", "<i4"), ("zero", "<i8"), ("ps_per_tick", "<f8"),
        ("record_bytes", "<i8"),
    ]
)  # fmt: skip
PAGE = 4096
DEPTH = 4
_UNDER_WAY = np.dtype([("t0", "<i8"), ("frame", "<i8"), ("slot", "<i4"), ("reserved", "<i4")])
THREAD = np.dtype(
    {
        "names": ["first", "last", "depth", "number", "begun", "under_way", "slot"],
        "formats": ["<i8", "<i8", "<i4", "<i4", "<i8", (_UNDER_WAY, (DEPTH,)), "<i8"],
        "offsets": [0, 8, 16, 20, 24, 32, 128],
        "itemsize": 256,
    }
)
ROW = np.dtype(
    [
        ("count", "<i8"), ("size", "<i8"), ("ticks", "<i8"), ("least", "<i8"), ("bytes", "<i8"), ("most", "<i8"),
        ("before", "<i8"), ("runs", "<i8"), ("min_run", "<i8"), ("max_run", "<i8"), ("lost", "<i8"), ("inner", "<i8"),
        ("inner_ticks", "<i8"), ("site", "<i4"), ("state", "<i4"), ("entry", "<i4"), ("left", "<i4"),
        ("fast_bytes", "<f8"), ("fast_ticks", "<f8"), ("slow_bytes", "<f8"), ("slow_ticks", "<f8"),
        ("reserved", "<i8", (5,)),
    ]
)  # fmt: skip


@dataclass(frozen=True)
class TickClock:
    """What ticks are in picoseconds from the program's start on."""

    zero: int = 0
    ps_per_tick: float = 1.0

    def at(self, ticks: NDArray[np.int64]) -> NDArray[np.int64]:
        """The picoseconds at which ticks were."""
        return self.lasting(ticks - self.zero)

    def lasting(self, ticks: NDArray[Any]) -> NDArray[np.int64]:
        """How many picoseconds so many ticks are."""
        return np.asarray(ticks) if self.ps_per_tick == 1 else np.rint(ticks * self.ps_per_tick).astype(np.int64)


@dataclass(frozen=True)
class CountedThread:
    """A thread's calls. `rows` have a row for each slot, of site, state and entry: the `count` calls that returned,
    their `bytes` and `time_ps`, and what of these was within other calls (`inner`, `inner_ps`); `runs` of consecutive
    ones, the shortest and the longest (`min_run`, `max_run`); the slowest and the fastest rate (NaN: none); calls that
    a longjmp `left`, which are in no other column; and records that were `lost`. `under_way` are rows of the calls that
    had not returned, the outermost first, with when they began."""

    process: int
    number: int
    first_ps: int
    last_ps: int
    rows: RowArray
    under_way: tuple[tuple[int, int], ...]

    @property
    def outer_ps(self) -> int:
        """How long the thread was in calls."""
        return int((self.rows["time_ps"] - self.rows["inner_ps"]).sum())


_TOLD = np.dtype(
    [(name, "<i4") for name in ("site", "state", "entry")]
    + [(name, "<i8") for name in ("count", "bytes", "time_ps", "inner", "inner_ps", "runs", "min_run", "max_run")]
    + [("min_bytes_per_s", "<f8"), ("max_bytes_per_s", "<f8"), ("left", "<i8"), ("lost", "<i8")]
)


@dataclass(frozen=True)
class HostStats:
    """What a program and the children that it forked counted. `ended`: it came to its end by itself."""

    clock: TickClock
    ended: bool
    threads: tuple[CountedThread, ...]

    @property
    def count(self) -> int:
        """How many calls returned."""
        return sum(int(thread.rows["count"].sum()) for thread in self.threads)

    @property
    def last_ps(self) -> int:
        """When the last call was entered or left."""
        began = [began for thread in self.threads for _, began in thread.under_way]
        return max([0, *began, *(thread.last_ps for thread in self.threads)])


def read_stats(raw: Path) -> HostStats | None:
    """What is counted so far; None where nothing is. WorkbenchError where another version's recorder wrote it."""
    first = _header(raw / STATS)
    if first is None:
        return None
    names = (STATS, *(f"host_stats_{n}.bin" for n in range(1, int(first["children"]) + 1)))
    threads = [thread for name in names for thread in _process(raw / name)]
    return HostStats(_clock(first), bool(first["ended"]), tuple(threads))


def slots_and_clock(raw: Path) -> tuple[RowArray, TickClock, int] | None:
    """The slots that records refer to (site, state, entry), what their ticks are, and how many bytes each has; None as
    above."""
    header = _header(raw / STATS)
    if header is None:
        return None
    threads = _process(raw / STATS)
    return threads[0].rows if threads else np.zeros(1, _TOLD), _clock(header), int(header["record_bytes"])


def of_other_version(path: Path, version: int, reads: int) -> WorkbenchError:
    """The diagnostic that a record has version `told`, and this program reads `reads`."""
    age = "an older version" if version < reads else "a newer version"
    message = f"recorded by {age} (format {version}, this program reads {reads}): run again"
    return WorkbenchError(Diagnostic(message, "Or open it with that version.", file=str(path)))


def check_version(path: Path, data: bytes) -> None:
    """WorkbenchError for counts, which begin with `data`, that another version's recorder wrote."""
    own, version = MAGIC.to_bytes(4, "little"), data[3:4]
    if data[:3] == own[:3] and version.isdigit() and version != own[3:]:
        raise of_other_version(path, int(version), int(own[3:]))


def _header(path: Path) -> np.void | None:
    try:
        data = path.open("rb").read(HEADER.itemsize)
    except FileNotFoundError:
        return None
    check_version(path, data)
    header = np.frombuffer(data, HEADER, 1)[0] if len(data) == HEADER.itemsize else None
    return header if header is not None and header["magic"] == MAGIC else None


def _clock(header: np.void) -> TickClock:
    return TickClock(int(header["zero"]), float(header["ps_per_tick"]))


def counted_rows(path: Path) -> Iterator[tuple[np.void, RowArray]]:
    """What a process's recorder keeps of each of its threads: a record of `THREAD`, and one of `ROW` by slot. Threads
    from where the file was cut short are left out."""
    header = _header(path)
    if header is None:
        return
    slots, size = int(header["slots"]), int(header["thread_bytes"])
    with path.open("rb") as file:
        for number in range(int(header["threads"])):
            file.seek(PAGE + number * size)
            data = file.read(THREAD.itemsize + slots * ROW.itemsize)
            if len(data) < THREAD.itemsize + slots * ROW.itemsize:
                break
            thread = np.frombuffer(data, THREAD, 1)[0]
            if thread["begun"]:
                yield thread, np.frombuffer(data, ROW, slots, THREAD.itemsize)


def _process(path: Path) -> list[CountedThread]:
    header = _header(path)
    if header is None:
        return []
    process, clock = int(header["process"]), _clock(header)
    return [_thread(process, thread, rows, clock) for thread, rows in counted_rows(path)]


def _thread(process: int, thread: np.void, rows: RowArray, clock: TickClock) -> CountedThread:
    scaled = np.zeros(len(rows), _TOLD)
    going, some = np.arange(len(rows)) == thread["slot"], rows["slow_ticks"] > 0
    run = rows["count"] - rows["before"]
    for name in ("site", "state", "entry", "count", "bytes", "inner", "left", "lost"):
        scaled[name] = rows[name]
    scaled["runs"] = rows["runs"] + going
    scaled["min_run"] = np.where(going, np.minimum(rows["min_run"], run), rows["min_run"])
    scaled["min_run"][scaled["runs"] == 0] = 0
    scaled["max_run"] = np.where(going, np.maximum(rows["max_run"], run), rows["max_run"])
    scaled["time_ps"], scaled["inner_ps"] = clock.lasting(rows["ticks"]), clock.lasting(rows["inner_ticks"])
    per_s = 1e12 / (clock.ps_per_tick or 1)
    for name, end in (("min_bytes_per_s", "slow"), ("max_bytes_per_s", "fast")):
        scaled[name] = np.divide(rows[f"{end}_bytes"] * per_s, rows[f"{end}_ticks"], out=np.full(len(rows), np.nan),
                               where=some)  # fmt: skip
    depth = int(thread["depth"])
    calls = [thread["under_way"][n % DEPTH] for n in range(max(0, depth - DEPTH), depth)]
    first_ps, last_ps = clock.at(np.array([thread["first"], thread["last"] or thread["first"]])).tolist()
    return CountedThread(
        process, int(thread["number"]), first_ps, last_ps, scaled,
        tuple((int(call["slot"]), int(clock.at(np.array(call["t0"])))) for call in calls),
    )  # fmt: skip
