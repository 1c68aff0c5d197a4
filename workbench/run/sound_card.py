"""Repairs the records of a run on the simulated card that was killed or filled its disk, as `sound.py` does for a real
machine."""

from pathlib import Path

import numpy as np

from workbench.api import HdlBuild, HostBuild
from workbench.api.host_stats import read_stats
from workbench.api.records import (
    DWELL,
    FIRSTS,
    STORED_CALLS,
    SYNCS,
    TAPS,
    TRANSFERS,
    TRANSITIONS,
    WAITS,
    read_calls,
    read_lines,
    read_records,
    whole_number,
)
from workbench.api.stream_records import OCCUPANCY, STREAM_TRANSFERS, STREAM_WAITS, STREAMS
from workbench.model.diagnostic import Diagnostic, Severity
from workbench.model.run_tables import MOST_AMOUNT, RowArray
from workbench.model.syncs import SyncKind, SyncResult
from workbench.model.text import counted
from workbench.run.sound_stats import sound_stats

_MOST_THREADS = 1 << 12  # if their number is unknown
_AMOUNT = MOST_AMOUNT + 1
#: Of each kind of record, the columns that are checked: each is at least 0 and below a number, or as many as there are
#: of something.
_COLUMNS: dict[str, tuple[np.dtype[np.void], dict[str, int | str]]] = {
    "transfers.bin": (TRANSFERS, {"number": _AMOUNT, "thread": "threads", "bytes": _AMOUNT, "grant_ps": _AMOUNT,
                                  "call_ps": _AMOUNT, "end_ps": _AMOUNT}),
    "host_waits.bin": (WAITS, {"thread": "threads", "for_a_core": 2, "t0_ps": _AMOUNT, "t1_ps": _AMOUNT}),
    "host_syncs.bin": (SYNCS, {"thread": "threads", "kind": len(SyncKind) + 1, "result": len(SyncResult),
                               "own_ps": _AMOUNT, "t0_ps": _AMOUNT, "t1_ps": _AMOUNT}),
    "taps.bin": (TAPS, {"cycle": _AMOUNT, "block": "blocks", "state": "states"}),
    "dwell.bin": (DWELL, {"block": "blocks", "state": "states", "log2_cycles": 64, "count": _AMOUNT,
                          "cycles": _AMOUNT}),
    "transitions.bin": (TRANSITIONS, {"block": "blocks", "from_state": "states", "to_state": "states",
                                      "count": _AMOUNT}),
    "firsts.bin": (FIRSTS, {"block": "blocks", "state": "states", "cycle": _AMOUNT}),
    "streams.bin": (STREAMS, {"stream": "streams", "cycles": _AMOUNT, "transfers": _AMOUNT, "valid": _AMOUNT,
                              "ready": _AMOUNT}),
    "stream_transfers.bin": (STREAM_TRANSFERS, {"stream": "streams"}),
    "stream_waits.bin": (STREAM_WAITS, {"stream": "streams", "wait": "waits", "cycles": _AMOUNT}),
    "occupancy.bin": (OCCUPANCY, {"fifo": "fifos", "words": _AMOUNT, "cycles": _AMOUNT}),
}  # fmt: skip


def keep_sound_of_card(raw: Path, host: HostBuild, hdl: HdlBuild) -> tuple[Diagnostic, ...]:
    """Remove impossible records in `raw`; returns a warning for each file with losses."""

    def lost(name: str, what: str, loss: str) -> None:
        text = f"this record is damaged: {what}. Lost: {loss}"
        problems.append(Diagnostic(text, "The intact part is used.", Severity.WARNING, file=str(raw / name)))

    problems: list[Diagnostic] = []
    sound_stats(raw, host, lost, STORED_CALLS.itemsize)
    stats = read_stats(raw)
    threads = max((t.number for t in stats.threads), default=0) + 1 if stats else _MOST_THREADS
    limits = {"threads": threads, "blocks": len(hdl.blocks), "streams": len(hdl.streams), "fifos": len(hdl.fifos)}
    states = np.array([len(block.states) for block in hdl.blocks] or [0])
    waits = np.array([len(stream.waits) for stream in hdl.streams] or [0])
    for name, (kind, columns) in _COLUMNS.items():
        records: RowArray = np.array(read_records(raw / name, kind))
        sound = np.ones(len(records), bool)
        for column, limit in columns.items():
            values = records[column]
            if limit in ("states", "waits"):
                owners, of = (states, "block") if limit == "states" else (waits, "stream")
                sound &= values < owners[np.clip(records[of], 0, len(owners) - 1)]
            else:
                sound &= values < (limit if isinstance(limit, int) else limits[limit])
            sound &= values >= 0
        if "t1_ps" in columns:
            sound &= records["t1_ps"] >= records["t0_ps"]
        if not sound.all():
            lost(name, "part of it names things that do not or cannot exist", counted(int((~sound).sum()), "record"))
            (raw / name).write_bytes(records[sound].tobytes())
    calls = read_calls(raw)
    site, state, entry, thread, t0_ps, t1_ps = calls.columns("site", "state", "entry", "thread", "t0_ps", "t1_ps")
    wrong = (site < 0) | (site >= len(host.sites)) | (state < 0) | (state >= len(host.blocks[0].states))
    wrong |= (entry < -1) | (entry >= max(len(host.entries), 1)) | (thread < 0) | (thread >= threads)
    wrong |= (t0_ps < 0) | (t1_ps < t0_ps) | (t1_ps > MOST_AMOUNT)
    if wrong.any():
        lost("host_calls.bin", "part of it names things that do not or cannot exist", counted(int(wrong.sum()), "call"))
        calls.leave_out(np.flatnonzero(wrong))
    rows = [line.split() for line in read_lines(raw / "host_threads.txt")]
    if not all(len(words) >= 6 and all(map(_is_amount, words)) and int(words[1]) <= int(words[2])
               for words in rows) or len(rows) > threads:  # fmt: skip
        lost("host_threads.txt", "some of its lines are impossible", "when the program's threads began and ended")
        (raw / "host_threads.txt").unlink()
    names = read_lines(raw / "host_names.txt")
    usable_lines = [line for line in names if _is_amount(line.partition(" ")[0])]
    if len(usable_lines) < len(names):
        lost("host_names.txt", "some of its lines are impossible", "the names of some threads")
        (raw / "host_names.txt").write_text("".join(f"{line}\n" for line in usable_lines), encoding="utf-8")
    return tuple(problems)


def _is_amount(text: str) -> bool:
    return whole_number(text, MOST_AMOUNT) is not None
