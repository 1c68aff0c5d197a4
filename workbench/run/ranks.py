"""Joins the records of a program's MPI ranks on real machines: they become the records of one run, on one clock.

Each rank records in a folder of its own, `rank_0`, `rank_1` and so on (`resources/host/ranks`). `join_ranks` writes
their counts, calls and FPGA counters to the folder above, as if one program with several threads had left them. There,
threads 0 to N - 1 are the N ranks' first threads, and their other threads follow. Times are on rank 0's clock
(`rank_clocks.py`). The messages become table `syncs`, which shows who waited for whom (`rank_waits.py`).

For example, ranks 0 and 1 with an FPGA each, of which rank 1 has started one thread, become a run with threads 0, 1 and
2 (rank 1's second), and with FPGAs 0 and 1.
"""

import itertools
import re
import shutil
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TypeAlias

import numpy as np

from workbench.api.host_stats import HEADER, MAGIC, PAGE, ROW, STATS, THREAD, counted_rows, read_stats
from workbench.api.host_units import UNITS
from workbench.api.records import (
    CALLS,
    PIECE_RECORDS,
    TRIPLES,
    of_fpga,
    read_calls,
    read_end,
    read_records,
    whole_number,
)
from workbench.model.diagnostic import Diagnostic, Severity, WorkbenchError
from workbench.model.run import PS_PER_S
from workbench.model.run_tables import MOST_AMOUNT, RowArray
from workbench.model.text import counted, listed, time_text
from workbench.run.rank_calls import spans_ps, with_calls
from workbench.run.rank_clocks import Rank, aligned, unsure_between_ps
from workbench.run.rank_messages import read_messages
from workbench.run.rank_programs import Numbering, in_common_slots, read_programs
from workbench.run.rank_waits import Messages, match_messages

_FOLDERS = "rank_*"
_PIECE = 1 << 18  # calls in memory together
_MOST_RANKS = 1 << 20

_Counts: TypeAlias = Sequence[tuple[np.void, RowArray]]  # of a rank's threads, as `counted_rows` reads them


def rank_folders(records: Path) -> list[Path]:
    """The folders of a program's ranks, by number; empty if the program has no ranks.

    The folder of a rank that recorded nothing, as the others say, does not exist. Raises WorkbenchError if another
    rank's folder is missing, or two folders are of one rank.
    """
    folders: dict[int, Path] = {}
    ranks, unnumbered, without = 0, list[str](), set[str]()
    for path in sorted(path for path in records.glob(_FOLDERS) if path.is_dir()):
        description = read_end(path / "rank.txt")
        name = re.fullmatch(r"rank_(\d{1,6})", path.name)
        number = whole_number(description.get("rank", name[1] if name else ""), _MOST_RANKS - 1)
        if number is None:
            unnumbered.append(path.name)
        elif number in folders:
            hint = "Run it again with RCW_RAW set to an empty folder."
            message = f"{folders[number].name} and {path.name} both are of rank {number}"
            raise WorkbenchError(Diagnostic(message, hint, file=str(records)))
        else:
            folders[number] = path
            ranks = max(ranks, number + 1, whole_number(description.get("ranks", ""), _MOST_RANKS) or 0)
            without.update(description.get("without", "").split())
    if old := sorted(int(number) for number in without if number.isdecimal() and int(number) in folders):
        hint = "Run it again with RCW_RAW set to an empty folder."
        message = f"{folders[old[0]].name} is of an earlier run: in this one that rank recorded nothing"
        raise WorkbenchError(Diagnostic(message, hint, file=str(records)))
    if unnumbered and not folders:
        hint = "It ended before MPI_Init did, and its launcher sets no rank. Run it again."
        raise WorkbenchError(Diagnostic(f"the rank of {listed(unnumbered)} is unknown", hint, file=str(records)))
    if missing := [str(number) for number in range(ranks) if number not in folders and str(number) not in without]:
        files = [file for folder in folders.values() if (file := folder / "places.txt").is_file()]
        scp_sources = read_end(files[0]) if files else {}  # by rank
        hint = "Fetch the folders of all ranks, from all machines: $RCW_RAW/rank_0, rank_1 and so on."
        if sources := [scp_sources[number] for number in missing if number in scp_sources]:
            hint = f"Fetch them: scp -r {' '.join(sources)} {records}"
        raise WorkbenchError(Diagnostic(f"the records of rank {listed(missing)} are missing", hint, file=str(records)))
    return [folders.get(number, records / f"rank_{number}") for number in range(ranks)]


def recorded(folders: Sequence[Path]) -> list[Path]:
    """The folders that exist: those of ranks that recorded anything."""
    return [folder for folder in folders if folder.is_dir()]


def _recorded_by(ranks: Sequence[Rank]) -> list[Path]:
    return recorded([rank.folder for rank in ranks])


@dataclass(frozen=True)
class Joined:
    """What joining ranks' records shows: the largest error between times of two ranks (ps), the ways in which threads
    waited for each other without a record, and diagnostics."""

    unsure_ps: int
    unrecorded_waits: tuple[str, ...]
    diagnostics: tuple[Diagnostic, ...]


def join_ranks(raw: Path, folders: Sequence[Path], fpgas: Sequence[int]) -> Joined:
    """Write the records of all ranks to `raw`, as if one program had left them. Each rank has so many `fpgas`."""
    ranks, notes = aligned(folders)
    lines, numberings = read_programs(folders)
    counts = in_common_slots([list(counted_rows(rank.folder / STATS)) for rank in ranks], numberings)
    numbers = _thread_numbers(counts)
    _join_stats(raw, ranks, counts, numbers)
    firsts = list(itertools.accumulate(fpgas, initial=0))
    _join_calls(raw, ranks, numbers, numberings, firsts)
    _join_ends(raw, ranks, numbers)
    for rank, first, count in zip(ranks, firsts, fpgas, strict=False):
        _join_boards(raw, rank, first, count)
    (raw / UNITS).write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    messages = _join_messages(raw, ranks, numbers)
    message_notes = _message_notes(messages) if messages else ()
    unrecorded_waits = messages.unrecorded_waits if messages else ()
    return Joined(unsure_between_ps(ranks), unrecorded_waits, (*_silent(ranks), *notes, *message_notes))


def _silent(ranks: Sequence[Rank]) -> Iterator[Diagnostic]:
    """A warning that names the ranks that recorded nothing."""
    numbers = [str(number) for number, rank in enumerate(ranks) if not rank.folder.is_dir()]
    if numbers:
        text = f"nothing was recorded of rank {listed(numbers)}: neither calls nor an FPGA"
        hint = "Instrument its program, or set RCW_RAW for it (mpirun -x). What waits for it has no known cause."
        yield Diagnostic(text, hint, Severity.WARNING)


def _thread_numbers(counts: Sequence[_Counts]) -> list[dict[int, int]]:
    """For each rank the run's numbers of its threads, by their numbers in the rank. The first threads of all ranks come
    first."""
    numbers: list[dict[int, int]] = []
    next_number = itertools.count(len(counts))
    for rank, threads in enumerate(counts):
        own = {int(thread["number"]) for thread, _ in threads}
        numbers.append({0: rank, **{thread: next(next_number) for thread in sorted(own - {0})}})
    return numbers


def _join_stats(
    raw: Path, ranks: Sequence[Rank], counts: Sequence[_Counts], numbers: Sequence[Mapping[int, int]]
) -> None:
    """Write the counts of all ranks' threads, in ps, as those of one process. A rank without counts has one thread
    that calls nothing."""
    slots = max((len(rows) for threads in counts for _, rows in threads), default=1)
    joined = np.zeros(sum(map(len, numbers)), [("thread", THREAD), ("rows", ROW, (slots,))])
    joined["thread"]["begun"] = 1
    for rank, number_of, threads in zip(ranks, numbers, counts, strict=True):
        for name in ("first", "last"):
            joined["thread"][name][number_of[0]] = rank.begin_ps
        for counted_thread, counted_by_slot in threads:
            own = int(counted_thread["number"])
            number = number_of[own]
            thread, rows = joined["thread"][number : number + 1], joined["rows"][number, : len(counted_by_slot)]
            thread[:], rows[:] = counted_thread, counted_by_slot
            thread["last"] = rank.at(thread["last"])
            thread["first"] = rank.at(thread["first"]) if own else rank.begin_ps
            thread["under_way"]["t0"] = rank.at(thread["under_way"]["t0"])
            ps_per_tick = rank.ticks.ps_per_tick * rank.rate
            for name in ("ticks", "inner_ticks", "fast_ticks", "slow_ticks"):
                rows[name] = np.rint(rows[name] * ps_per_tick) if name.endswith("r_ticks") else rows[name] * ps_per_tick
    joined["thread"]["number"] = np.arange(len(joined))
    stats = [read_stats(folder) for folder in _recorded_by(ranks)]
    head = np.zeros(1, HEADER)
    head["magic"], head["slots"], head["threads"], head["thread_bytes"] = MAGIC, slots, len(joined), joined.itemsize
    head["ended"], head["ps_per_tick"] = all(one and one.ended for one in stats), 1.0
    head["record_bytes"] = CALLS.itemsize
    (raw / STATS).write_bytes(head.tobytes().ljust(PAGE, b"\0") + joined.tobytes())


def _join_calls(
    raw: Path, ranks: Sequence[Rank], numbers: Sequence[Mapping[int, int]], numberings: Sequence[Numbering | None],
    first_fpgas: Sequence[int],
) -> None:  # fmt: skip
    """Write the calls of all ranks, one rank after the other, with the run's numbers of threads, sites, states and
    FPGAs."""
    if not any((rank.folder / "host_calls.bin").is_file() for rank in ranks):
        return
    with (raw / "host_calls.bin").open("wb") as file:
        for number, (rank, threads, numbering) in enumerate(zip(ranks, numbers, numberings, strict=True)):
            calls = read_calls(rank.folder)
            number_of = np.array([threads.get(own, number) for own in range(max(threads) + 1)], np.int32)
            for begin in range(0, len(calls), _PIECE):
                part = calls.at(slice(begin, begin + _PIECE)).astype(CALLS)
                part["t0_ps"], part["t1_ps"] = rank.at_ps(part["t0_ps"]), rank.at_ps(part["t1_ps"])
                part["thread"] = number_of[np.minimum(part["thread"], len(number_of) - 1)]
                part = numbering.numbered(part) if numbering else part
                part["fpga"] += first_fpgas[number]
                part["piece"] = 1 + (file.tell() // CALLS.itemsize + np.arange(len(part))) // PIECE_RECORDS  # each once
                part.tofile(file)


def _join_ends(raw: Path, ranks: Sequence[Rank], numbers: Sequence[Mapping[int, int]]) -> None:
    """Write when each thread began and ended, of which rank it is, and what recording cost."""
    lines = []
    for rank, threads in zip(ranks, numbers, strict=True):
        life_ps, recording = rank.end_ps - rank.begin_ps, read_end(rank.folder / "recording.txt")
        queued_ps = min(whole_number(recording.get("queued_ps", ""), MOST_AMOUNT) or 0, life_ps)  # of its first thread
        for place, of_thread in ((place, 0 if own else queued_ps) for own, place in threads.items()):
            lines.append(f"{place} {rank.begin_ps} {rank.end_ps} {life_ps - of_thread} 0 {of_thread}\n")
    (raw / "host_threads.txt").write_text("".join(lines))
    if len(ranks) > 1:
        (raw / "host_ranks.txt").write_text(
            "".join(f"{place} {number}\n" for number, threads in enumerate(numbers) for place in threads.values())
        )
    recordings = [read_end(folder / "recording.txt") for folder in _recorded_by(ranks)]
    if not all("time_ps" in one for one in recordings):
        return
    costs = {key: max(int(one.get(key, "0")) for one in recordings) for key in ("cost_ps_per_call", "cost_ps_spread")}
    lost = sum(int(one.get("lost", "0")) for one in recordings)
    values = {**costs, "lost": lost, "time_ps": max(rank.end_ps for rank in ranks)}
    (raw / "recording.txt").write_text("".join(f"{key} {value}\n" for key, value in values.items()))


def _join_boards(raw: Path, rank: Rank, first: int, fpgas: int) -> None:
    """Write what a rank read out of its `fpgas` FPGAs, of which the first has number `first` in the run."""
    for number in range(fpgas):
        for name in ("counters.bin", "board.txt"):
            if (path := rank.folder / of_fpga(name, number)).is_file():
                shutil.copyfile(path, raw / of_fpga(name, first + number))
        triples = np.array(read_records(rank.folder / of_fpga("triples.bin", number), TRIPLES))
        for name in ("t_p1_ps", "t_p3_ps"):
            triples[name] = rank.at_ps(triples[name])
        if len(triples):
            triples.tofile(raw / of_fpga("triples.bin", first + number))


def _join_messages(raw: Path, ranks: Sequence[Rank], numbers: Sequence[Mapping[int, int]]) -> Messages | None:
    """Write who waited for whom (`host_syncs.bin`). Returns None if no rank recorded messages."""
    if not any((rank.folder / "messages.bin").is_file() for rank in ranks):
        return None
    of_ranks = []
    for rank in ranks:
        records = read_messages(rank.folder)
        for name in ("t0", "t1", "posted"):
            records[name] = rank.at(records[name])
        of_ranks.append(records)
    lives_ps = {number: (rank.begin_ps, rank.end_ps) for number, rank in enumerate(ranks)}
    threads = {(rank, own): number for rank, number_of in enumerate(numbers) for own, number in number_of.items()}
    messages = match_messages(of_ranks, lives_ps, threads)
    with_calls(messages.syncs, spans_ps(raw)).tofile(raw / "host_syncs.bin")
    return messages


def _message_notes(messages: Messages) -> Iterator[Diagnostic]:
    """Diagnostics on waits whose cause is unknown."""
    if messages.unrecorded_waits:
        text = f"how threads of a rank wait for each other {listed(messages.unrecorded_waits)} is not recorded"
        hint = "These waits count as the threads' own time. Predictions of this run are doubtful."
        yield Diagnostic(text, hint, Severity.WARNING)
    if messages.unmatched:
        text = f"the other end of {counted(messages.unmatched, 'message')} is not recorded"
        hint = "A call that is not recorded received it, or none did. Waits for it have no known cause."
        yield Diagnostic(text, hint, Severity.NOTE)
    if messages.calls_without_partners:
        calls = counted(messages.calls_without_partners, "call")
        text = f"it is not recorded for whom {calls} of windows, files and neighbourhoods waited"
        yield Diagnostic(text, "Predictions assume that they take as long as in this run.", Severity.NOTE)
    if messages.early_ends_ps:
        off = time_text(max(messages.early_ends_ps) / PS_PER_S)
        calls = counted(len(messages.early_ends_ps), "call")
        text = f"by the ranks' clocks, {calls} ended before the data that they waited for came, by {off} at most"
        yield Diagnostic(text, "The clocks are off by that much. The causes of these waits are unknown.", Severity.NOTE)
