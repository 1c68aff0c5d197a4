"""Repairs the damaged records that only a program's ranks have: messages and clock comparisons.

Impossible records are left out, and each loss is reported. An impossible record is a message that ends before it
begins, for example, or one of a thread that the rank's counts do not have.
"""

from collections.abc import Sequence
from functools import partial
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from workbench.api.host_stats import STATS, TickClock, counted_rows, slots_and_clock
from workbench.api.records import (
    MESSAGES,
    MOST_TICKS,
    RANK_CLOCKS,
    Records,
    read_end,
    read_records,
    whole_number,
)
from workbench.model.run_tables import MOST_AMOUNT
from workbench.model.text import counted
from workbench.run.rank_messages import Kind
from workbench.run.sound_stats import Lost

#: A rank's files that `sound_ranks` repairs.
RANK_FILES = ("rank.txt", "places.txt", "rank_clocks.bin", "messages.bin")


def sound_rank(folder: Path, lost: Lost) -> None:
    """Leave out a rank's impossible records, and report each loss by `lost`."""
    known = slots_and_clock(folder)
    clock = known[1] if known else TickClock()
    _sound_rank_text(folder / "rank.txt", clock, lost)
    threads = [0, *(int(thread["number"]) for thread, _ in counted_rows(folder / STATS))]
    for name, kind, is_sound, loss in (
        ("messages.bin", MESSAGES, partial(_are_messages, threads), "message"),
        ("rank_clocks.bin", RANK_CLOCKS, _are_clocks, "message that compared clocks"),
    ):
        path = folder / name
        if not path.exists():
            continue
        if known is None:
            path.unlink()
            lost(name, f"{STATS}, which explains its times, is missing or damaged", f"each {loss}")
            continue
        records = np.array(read_records(path, kind))
        sound = is_sound(records, clock)
        if path.stat().st_size % kind.itemsize:
            lost(name, "it ends within a record", f"its last {loss}")
        if not sound.all():
            lost(name, "some of its records are impossible", counted(int((~sound).sum()), loss))
        path.write_bytes(records[sound].tobytes())


def _sound_rank_text(path: Path, clock: TickClock, lost: Lost) -> None:
    """Remove the time at which the rank began, if its counts have another one (0: they have none)."""
    description = read_end(path)
    zero = whole_number(description.get("zero", ""), MOST_TICKS)
    if path.exists() and (zero is None or clock.zero not in (0, zero)):
        lost(path.name, "it does not say when the rank began", "which ranks read the same clock")
        rest = "".join(f"{key} {value}\n" for key, value in description.items() if key != "zero")
        path.write_text(rest, encoding="utf-8")


def _are_messages(threads: Sequence[int], records: Records, clock: TickClock) -> NDArray[np.bool_]:
    """Which messages are possible, or unused room (kind 0)."""
    posted = np.where(records["posted"] | (records["kind"] == Kind.RECEIVED), records["posted"], records["t0"])
    sound = _in_order(clock, records["t0"], records["t1"]) & _in_order(clock, posted, records["t1"])
    sound &= (records["bytes"] >= 0) & np.isin(records["thread"], threads) & (records["order"] >= 0)
    return (sound & np.isin(records["kind"], [int(kind) for kind in Kind])) | (records["kind"] == 0)


def _are_clocks(records: Records, clock: TickClock) -> NDArray[np.bool_]:
    return _in_order(clock, records["t_p1"], records["t_p3"]) & (records["rank"] > 0) & (records["round"] > 0)


def _in_order(clock: TickClock, earlier: NDArray[np.int64], later: NDArray[np.int64]) -> NDArray[np.bool_]:
    """Which pairs of ticks are in this order, and within the longest possible run."""
    last = clock.zero + MOST_AMOUNT / (clock.ps_per_tick or 1)
    return (earlier >= clock.zero) & (later >= earlier) & (later <= last)
