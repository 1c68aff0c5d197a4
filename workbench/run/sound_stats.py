"""Repairs a damaged `host_stats.bin`: keeps whole threads and possible rows."""

from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from workbench.api import HostBuild
from workbench.api.host_stats import DEPTH, HEADER, MAGIC, PAGE, ROW, STATS, THREAD, check_version
from workbench.model.run_tables import MOST_AMOUNT, RowArray
from workbench.model.text import counted, listed

#: A file's name, its damage, and the loss.
Lost = Callable[[str, str, str], None]
_AMOUNTS = ("count", "ticks", "bytes", "before", "runs", "lost", "inner", "inner_ticks")
_IDENTITY = ("site", "state", "entry")
_RATES = ("fast_bytes", "fast_ticks", "slow_bytes", "slow_ticks")
_LARGEST_THREAD, _MOST_THREADS = 1 << 26, 1 << 16  # bytes; a machine's numbers of threads have 16 bits
_LONGEST_TICK_PS = 1e6
#: The excess, absolute and relative, of a thread's calls over its life, since ticks are calibrated meanwhile.
_SLACK_PS, _ROUNDED = 1e6, 1.01


def sound_stats(raw: Path, host: HostBuild, lost: Lost, record_bytes: int) -> NDArray[np.int64]:
    """Repair the counts of a program and its forked children in place, and report each loss. Returns the slots without
    an explanation, whose call records are meaningless. `record_bytes` is the size of a call's record. Raises
    WorkbenchError for the counts of another recorder version."""
    unknown = np.zeros(0, np.int64)
    for path in sorted(raw.glob("host_stats*.bin")):
        old_data = path.read_bytes()
        check_version(path, old_data)
        why = _useless(old_data)
        if why:
            lost(path.name, why, "what was counted of the program's calls")
            path.unlink()
            continue
        data, slots = _sound(old_data, host, partial(lost, path.name), record_bytes)
        if data != old_data:
            path.write_bytes(data)
        if path.name == STATS:
            unknown = slots
    _count_children(raw, lost)
    return unknown


def _count_children(raw: Path, lost: Lost) -> None:
    """Correct the number of children in the first process's file to the number of their files."""
    path = raw / STATS
    if not path.exists():
        return
    data = bytearray(path.read_bytes())
    header = np.frombuffer(data, HEADER, 1)
    found_files = 0
    while (raw / f"host_stats_{found_files + 1}.bin").exists():
        found_files += 1
    if int(header["children"][0]) != found_files:
        missing = int(header["children"][0]) - found_files
        if missing > 0:
            lost(STATS, f"it names {counted(int(header['children'][0]), 'forked child', 'forked children')}, of which "
                         f"{found_files} left records", "the calls of the others")  # fmt: skip
        header["children"][0] = found_files
        path.write_bytes(data)


def _sound(
    given: bytes, host: HostBuild, lost: Callable[[str, str], None], record_bytes: int
) -> tuple[bytearray, NDArray[np.int64]]:
    """The repaired contents of a file, and its slots without an explanation."""
    header = np.frombuffer(given, HEADER, 1)[0]
    slots, size = int(header["slots"]), int(header["thread_bytes"])
    data = _padded(given, host, int(header["threads"]), size, slots, lost)
    new_header = np.frombuffer(data, HEADER, 1)
    new_header["record_bytes"], new_header["threads"] = record_bytes, (len(data) - PAGE) // size
    numbers: set[int] = set()
    unknown = np.zeros(0, np.int64)
    for at in range(PAGE, len(data), size):
        if not _begun(data, at):
            continue
        thread, rows = np.frombuffer(data, THREAD, 1, at), np.frombuffer(data, ROW, slots, at + THREAD.itemsize)
        thread["begun"], number = 1, int(thread["number"][0])
        if number in numbers or not 0 <= number < _MOST_THREADS:
            thread["number"] = number = max(numbers, default=-1) + 1
        numbers.add(number)
        nameless = _nameless(rows, host)
        for loss in _sound_rows(thread, rows, nameless, host, int(header["zero"]), float(header["ps_per_tick"])):
            lost(*loss)
        if at == PAGE:
            unknown = np.flatnonzero(nameless)
    return data, unknown


def _useless(data: bytes) -> str:
    """The reason why a file is useless; "" if a part of it can be used."""
    if len(data) < PAGE + THREAD.itemsize:
        return f"it ends early, after {counted(len(data), 'byte')}"
    header = np.frombuffer(data, HEADER, 1)[0]
    slots, size, scale = int(header["slots"]), int(header["thread_bytes"]), float(header["ps_per_tick"])
    fits = slots >= 0 and THREAD.itemsize + slots * ROW.itemsize <= size <= _LARGEST_THREAD
    if header["magic"] != MAGIC or not fits or not 0 <= scale <= _LONGEST_TICK_PS:
        return "its header is impossible"
    return ""


def _padded(
    given: bytes, host: HostBuild, threads: int, size: int, slots: int, lost: Callable[[str, str], None]
) -> bytearray:
    """The existing threads, with zeros for the missing part of the last one."""
    has = len(given)
    begun = [n for n, at in enumerate(range(PAGE, has, size)) if _begun(given, at)]
    count = max(begun, default=0) + 1
    data = bytearray(given[: PAGE + count * size])
    data += bytes(PAGE + count * size - len(data))
    why = f"it ends early, after {counted(has, 'byte')}"
    if threads > count:
        lost(why, f"the calls of {counted(threads - count, 'thread')} of {threads}")
    at = PAGE + (count - 1) * size + THREAD.itemsize
    whole_rows = max(has - at, 0) // ROW.itemsize
    if whole_rows < slots:
        rows = np.frombuffer(data, ROW, slots, at)
        rows[whole_rows:] = np.zeros(1, ROW)[0]
        rows["site"][whole_rows:] = -1
        kept_sites = set(rows["site"][:whole_rows].tolist())
        lost_places = [_place(number, host) for number in range(len(host.sites)) if number not in kept_sites]
        lost(why, f"the counts of {listed(lost_places)}" if lost_places else "some counts of the last thread")
    return data


def _begun(data: bytes | bytearray, at: int) -> bool:
    """Whether a thread's data begin at this position."""
    if at + THREAD.itemsize > len(data):
        return False
    thread = np.frombuffer(data, THREAD, 1, at)[0]
    return bool(thread["begun"] or thread["first"])


def _nameless(rows: RowArray, host: HostBuild) -> NDArray[np.bool_]:
    """A mask of the rows that belong to no call of the program."""
    has_name: NDArray[np.bool_] = (rows["site"] >= 0) & (rows["site"] < len(host.sites))
    has_name &= (rows["state"] >= 0) & (rows["state"] < len(host.blocks[0].states))
    has_name &= (rows["entry"] >= -1) & (rows["entry"] < max(len(host.entries), 1))
    return ~has_name


def _sound_rows(
    thread: RowArray, rows: RowArray, nameless: NDArray[np.bool_], host: HostBuild,
    zero: int, ps_per_tick: float,
) -> Iterator[tuple[str, str]]:  # fmt: skip
    """Clear impossible rows of a thread, and correct its times to possible ones."""
    thread_name = f"thread {thread['number'][0]}" if thread["number"][0] else "the main thread"
    most_ticks = MOST_AMOUNT / (ps_per_tick or 1)
    first, last = (float(thread[name][0]) - zero for name in ("first", "last"))
    untimed = not 0 <= first <= most_ticks or (thread["last"][0] != 0 and not first <= last <= most_ticks)
    used = np.any([rows[name] != 0 for name in (*_AMOUNTS, "left")], axis=0)
    bad = used & (nameless | _impossible(rows, most_ticks))
    outer = np.where(used & ~bad, rows["ticks"] - rows["inner_ticks"], 0)
    life = last - first if not untimed else most_ticks
    slack = _SLACK_PS / (ps_per_tick or 1)
    if outer.sum() > _ROUNDED * life + slack:
        bad |= used & (outer > life)
        outer[bad] = 0
        if outer.sum() > _ROUNDED * life + slack:
            bad |= used
    if bad.any():
        places = [_place(int(site), host) for site in rows["site"][bad]]
        yield f"{counted(int(bad.sum()), 'row')} of {thread_name} are impossible", f"the counts of {listed(places)}"
        outer[bad] = 0
        for name in ROW.names or ():
            if name not in _IDENTITY:
                rows[name][bad] = 0
    rows["site"][nameless], rows["state"][nameless], rows["entry"][nameless] = -1, 1, -1
    for name in ("min_run", "max_run"):
        rows[name] = np.clip(rows[name], 0, rows["count"])
    if untimed:
        thread["first"], thread["last"] = zero, zero + outer.sum()
        yield f"the times of {thread_name} are impossible", f"when {thread_name} made its first and its last call"
    if not -1 <= thread["slot"][0] < len(rows):
        thread["slot"] = -1
    depth = int(thread["depth"][0])
    slots = thread["under_way"][0]["slot"][: min(max(depth, 0), DEPTH)]
    began = thread["under_way"][0]["t0"][: len(slots)].astype(float) - zero
    sound = (slots >= 0) & (slots < len(rows)) & (began >= 0) & (began <= most_ticks)
    if not 0 <= depth < _MOST_THREADS or not sound.all() or nameless[slots[sound]].any():
        thread["depth"] = 0
        yield f"what {thread_name} was calling at the end is impossible", "which calls had not returned"


def _impossible(rows: RowArray, most: float) -> NDArray[np.bool_]:
    wrong = np.any([(rows[name] < 0) | (rows[name] > MOST_AMOUNT) for name in _AMOUNTS], axis=0)
    wrong |= rows["count"] > MOST_AMOUNT // (2 * len(rows) + 2)  # tables hold the sum of all, with the returns
    wrong |= (rows["ticks"] > most) | (rows["inner_ticks"] > rows["ticks"]) | (rows["inner"] > rows["count"])
    wrong |= (rows["before"] > rows["count"]) | (rows["runs"] > rows["count"])
    wrong |= np.abs(rows["left"].astype(np.int64)) > 1 << 30
    for name in _RATES:
        wrong |= ~((rows[name] >= 0) & (rows[name] <= MOST_AMOUNT))
    return np.asarray(wrong)


def _place(site: int, host: HostBuild) -> str:
    if not 0 <= site < len(host.sites):
        return "an unknown call"
    return f"{host.sites[site].file}:{host.sites[site].line} {host.sites[site].callee}"
