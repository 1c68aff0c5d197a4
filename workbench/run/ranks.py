"""Several processes (MPI ranks) on real machines: what each recorded in a folder of its own becomes the records of one
run, on the clock of rank 0, which begins with the first of them (`resources/host/ranks`)."""

import itertools
import re
import shutil
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from workbench.api.host_stats import (
    HEADER,
    MAGIC,
    PAGE,
    ROW,
    STATS,
    THREAD,
    TickClock,
    counted_rows,
    read_stats,
    slots_and_clock,
)
from workbench.api.host_units import UNITS
from workbench.api.records import (
    CALLS,
    MESSAGES,
    MOST_TICKS,
    PIECE_RECORDS,
    RANK_CLOCKS,
    TRIPLES,
    of_fpga,
    read_calls,
    read_end,
    read_records,
    whole_number,
)
from workbench.api.virtual_time import ClockFrame, Triples, steady
from workbench.model.diagnostic import Diagnostic, Severity, WorkbenchError
from workbench.model.run import PS_PER_S
from workbench.model.run_tables import MOST_AMOUNT, RowArray
from workbench.model.text import counted, listed, time_text
from workbench.run.rank_calls import spans_ps, with_calls
from workbench.run.rank_messages import Messages, match_messages
from workbench.run.rank_programs import Numbering, in_common_slots, read_programs

_FOLDERS = "rank_*"
_PIECE = 1 << 18  # calls in memory together
_MOST_RANKS = 1 << 20

_Counts: TypeAlias = Sequence[tuple[np.void, RowArray]]  # of a rank's threads, as `counted_rows` reads them


@dataclass(frozen=True)
class Rank:
    """A rank's folder; how its clock's times are put on the run's (`rate` and `offset_ps`), and how far off that may
    be; the name of the clock that it shares with other ranks; its own of ticks; when it began and ended (ps)."""

    folder: Path
    clock: str
    ticks: TickClock
    rate: float
    offset_ps: float
    unsure_ps: int
    begin_ps: int
    end_ps: int

    def at_ps(self, own_ps: NDArray[np.int64]) -> NDArray[np.int64]:
        return np.rint(own_ps * self.rate + self.offset_ps).astype(np.int64)

    def at(self, ticks: NDArray[np.int64]) -> NDArray[np.int64]:
        return self.at_ps(self.ticks.at(ticks))


def rank_folders(records: Path) -> list[Path]:
    """The folders of a program's ranks, by number; none where it is no MPI program. A rank's is not there where others
    say that it recorded nothing. WorkbenchError where another one is missing, or two are of one rank."""
    folders: dict[int, Path] = {}
    most, unknown, without = 0, [], set[str]()
    for path in sorted(path for path in records.glob(_FOLDERS) if path.is_dir()):
        end = read_end(path / "rank.txt")
        name = re.fullmatch(r"rank_(\d{1,6})", path.name)
        number = whole_number(end.get("rank", name[1] if name else ""), _MOST_RANKS - 1)
        if number is None:
            unknown.append(path.name)
        elif number in folders:
            hint = "Run it again with RCW_RAW set to an empty folder."
            message = f"{folders[number].name} and {path.name} both are of rank {number}"
            raise WorkbenchError(Diagnostic(message, hint, file=str(records)))
        else:
            folders[number] = path
            most = max(most, number + 1, whole_number(end.get("ranks", ""), _MOST_RANKS) or 0)
            without.update(end.get("without", "").split())
    if old := sorted(int(number) for number in without if number.isdecimal() and int(number) in folders):
        hint = "Run it again with RCW_RAW set to an empty folder."
        message = f"{folders[old[0]].name} is of an earlier run: in this one that rank recorded nothing"
        raise WorkbenchError(Diagnostic(message, hint, file=str(records)))
    if unknown and not folders:
        hint = "It ended before MPI_Init did, and its launcher sets no rank. Run it again."
        raise WorkbenchError(Diagnostic(f"the rank of {listed(unknown)} is unknown", hint, file=str(records)))
    if missing := [str(number) for number in range(most) if number not in folders and str(number) not in without]:
        files = [file for folder in folders.values() if (file := folder / "places.txt").is_file()]
        places = read_end(files[0]) if files else {}  # by rank, as scp takes them
        hint = "Fetch the folders of all ranks, from all machines: $RCW_RAW/rank_0, rank_1 and so on."
        if elsewhere := [places[number] for number in missing if number in places]:
            hint = f"Fetch them: scp -r {' '.join(elsewhere)} {records}"
        raise WorkbenchError(Diagnostic(f"the records of rank {listed(missing)} are missing", hint, file=str(records)))
    return [folders.get(number, records / f"rank_{number}") for number in range(most)]


def recorded(folders: Sequence[Path]) -> list[Path]:
    """Of ranks' folders those that are there."""
    return [folder for folder in folders if folder.is_dir()]


def _recorded_by(ranks: Sequence[Rank]) -> list[Path]:
    return recorded([rank.folder for rank in ranks])


def join_ranks(raw: Path, folders: Sequence[Path], fpgas: Sequence[int]) -> tuple[int, tuple[Diagnostic, ...]]:
    """Write the records of all ranks, each with so many `fpgas`, to `raw` as one program's; how far off times of
    different ranks may be (ps), and what there is to say."""
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
    return unsure_between_ps(ranks), (*_silent(ranks), *notes, *_join_messages(raw, ranks, numbers))


def _silent(ranks: Sequence[Rank]) -> Iterator[Diagnostic]:
    numbers = [str(number) for number, rank in enumerate(ranks) if not rank.folder.is_dir()]
    if numbers:
        text = f"nothing was recorded of rank {listed(numbers)}: neither calls nor an FPGA"
        hint = "Instrument its program, or set RCW_RAW for it (mpirun -x). What waits for it has no known cause."
        yield Diagnostic(text, hint, Severity.WARNING)


# ---- one clock ----


def unsure_between_ps(ranks: Sequence[Rank]) -> int:
    """How far off the times of two ranks may be: each of their clocks as far as it is off rank 0's."""
    of_clocks = {rank.clock: rank.unsure_ps for rank in ranks}
    return sum(sorted(of_clocks.values())[-2:])


@dataclass(frozen=True)
class _Shared:
    """A clock that ranks read, and how each one's own times (ps) are put on it: rate and offset (ps)."""

    name: str
    members: dict[int, tuple[float, float]]

    def at(self, rank: int, own_ps: NDArray[np.int64]) -> NDArray[np.int64]:
        rate, offset_ps = self.members[rank]
        return np.rint(own_ps * rate + offset_ps).astype(np.int64)


def _shared_clocks(folders: Sequence[Path], ticks: Sequence[TickClock]) -> list[_Shared]:
    """The clocks of all ranks that recorded, the first one's first. Its first rank's rate and zero are a clock's."""
    ends = {rank: read_end(folder / "rank.txt") for rank, folder in enumerate(folders) if folder.is_dir()}
    zeros: dict[str, list[tuple[int, int]]] = {}
    for rank, end in ends.items():
        zero = whole_number(end.get("zero", ""), MOST_TICKS)
        name, own = end.get("clock", ""), zero or 0
        apart = own - zeros[name][0][1] if name in zeros else 0
        if zero is None or not name or abs(apart) * ticks[rank].ps_per_tick > MOST_AMOUNT:
            name, own = f"of rank {rank}", 0
        zeros.setdefault(name, []).append((rank, own))
    clocks = []
    for name, of in zeros.items():
        first, begin = of[0]
        tick_ps = ticks[first].ps_per_tick
        members = {rank: (tick_ps / ticks[rank].ps_per_tick, (zero - begin) * tick_ps) for rank, zero in of}
        clocks.append(_Shared(name, members))
    return clocks


def aligned(folders: Sequence[Path]) -> tuple[list[Rank], list[Diagnostic]]:
    """The ranks on one clock: those that share one by when they began, and each other clock by the messages that the
    first that recorded exchanged at its begin and its end with one of its ranks."""
    ticks = [_ticks(folder) for folder in folders]
    lasted_ps = [_lasted_ps(folder, clock) for folder, clock in zip(folders, ticks, strict=True)]
    lead = next((rank for rank, folder in enumerate(folders) if folder.is_dir()), 0)
    sent, known = read_records(folders[lead] / "rank_clocks.bin", RANK_CLOCKS), dict[str, ClockFrame]()
    clocks = _shared_clocks(folders, ticks)
    ranks: dict[int, Rank] = {}
    unknown: list[str] = []
    for clock in clocks:
        last_ps = max(int(clock.at(rank, np.array([lasted_ps[rank]]))[0]) for rank in clock.members)
        frame = _frame(sent, ticks[lead], ticks, clock, last_ps) if lead not in clock.members else None
        if frame:
            known[clock.name] = frame
        elif lead not in clock.members:
            unknown += map(str, clock.members)
        for rank, (rate, offset_ps) in clock.members.items():
            if frame:
                rate, offset_ps = rate * float(frame.rate_ps), float(frame.rate_ps) * offset_ps + float(frame.offset_ps)
            end_ps, unsure_ps = round(rate * lasted_ps[rank] + offset_ps), frame.uncertainty_ps if frame else 0
            ranks[rank] = Rank(
                folders[rank], clock.name, ticks[rank], rate, offset_ps, unsure_ps, round(offset_ps), end_ps
            )
    first_ps = min((rank.begin_ps for rank in ranks.values()), default=0)
    for rank in set(range(len(folders))) - set(ranks):
        ranks[rank] = Rank(folders[rank], f"of rank {rank}", ticks[rank], 1.0, first_ps, 0, first_ps, first_ps)
    in_order = [_later(ranks[rank], -first_ps) for rank in range(len(folders))]
    return in_order, list(_alignment(in_order, unknown, known))


def _later(rank: Rank, by_ps: int) -> Rank:
    return replace(rank, offset_ps=rank.offset_ps + by_ps, begin_ps=rank.begin_ps + by_ps, end_ps=rank.end_ps + by_ps)


def _alignment(ranks: Sequence[Rank], unknown: Sequence[str], known: Mapping[str, ClockFrame]) -> Iterator[Diagnostic]:
    if unknown:
        numbers = listed(sorted(unknown, key=int))
        first = next(number for number, rank in enumerate(ranks) if rank.folder.is_dir())
        text = f"the clocks of rank {numbers} and rank {first} are not aligned, and assumed to start together"
        hint = "They ended before MPI_Init did, or others recorded nothing: set RCW_RAW for all ranks."
        yield Diagnostic(text, hint, Severity.WARNING)
    if known:
        within = time_text(unsure_between_ps(ranks) / PS_PER_S)
        count = len(_recorded_by(ranks))
        text = f"the {counted(len(known) + 1, 'clock')} of {count} ranks are aligned to within ± {within}"
        least = min(frame.messages for frame in known.values())
        hint = f"By {counted(least, 'message')} or more to and from each in MPI_Init and MPI_Finalize."
        yield Diagnostic(text, hint, Severity.NOTE)


def _ticks(folder: Path) -> TickClock:
    known = slots_and_clock(folder)
    return known[1] if known and known[1].ps_per_tick else TickClock()


def _lasted_ps(folder: Path, ticks: TickClock) -> int:
    """How long a rank ran, by its own clock: as far as is known."""
    time_ps = read_end(folder / "recording.txt").get("time_ps", "0")
    calls, messages = read_calls(folder), read_messages(folder)
    seen_ps = int(calls["t1_ps"].max(initial=0)) if len(calls) else 0
    return max(int(time_ps), seen_ps, int(ticks.at(messages["t1"]).max(initial=0)))


def _frame(
    sent: NDArray[np.void], of_lead: TickClock, ticks: Sequence[TickClock], clock: _Shared, last_ps: int
) -> ClockFrame | None:
    """A clock on the first rank's, by the messages with the first of its ranks that exchanged any."""
    for rank in clock.members:
        mine = sent[sent["rank"] == rank]
        if len(mine):
            met = clock.at(rank, ticks[rank].at(mine["met"]))
            triples = Triples(of_lead.at(mine["t_p1"]), met, of_lead.at(mine["t_p3"]))
            begun = np.flatnonzero(np.asarray(mine["round"]) == 1)  # in MPI_Init, and in MPI_Finalize
            with suppress(ValueError):  # they show no rate
                return steady(triples, last_ps, int(begun[1]) if len(begun) > 1 else len(mine))
    return None


# ---- what they recorded ----


def _thread_numbers(counts: Sequence[_Counts]) -> list[dict[int, int]]:
    """Of each rank the run's number of each of its threads: those that ranks begin with come first."""
    numbers: list[dict[int, int]] = []
    others = itertools.count(len(counts))
    for number, threads in enumerate(counts):
        own = {int(thread["number"]) for thread, _ in threads}
        numbers.append({0: number, **{one: next(others) for one in sorted(own - {0})}})
    return numbers


def _join_stats(
    raw: Path, ranks: Sequence[Rank], counts: Sequence[_Counts], numbers: Sequence[Mapping[int, int]]
) -> None:
    """Each rank's counts as those of threads of one process, in ps. A rank that left none has a thread that calls
    nothing."""
    slots = max((len(rows) for threads in counts for _, rows in threads), default=1)
    joined = np.zeros(sum(map(len, numbers)), [("thread", THREAD), ("rows", ROW, (slots,))])
    joined["thread"]["begun"] = 1
    for rank, of, threads in zip(ranks, numbers, counts, strict=True):
        for name in ("first", "last"):
            joined["thread"][name][of[0]] = rank.begin_ps
        for counted_thread, counted_by_slot in threads:
            own = int(counted_thread["number"])
            thread, rows = joined["thread"][of[own] : of[own] + 1], joined["rows"][of[own], : len(counted_by_slot)]
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
    if not any((rank.folder / "host_calls.bin").is_file() for rank in ranks):
        return
    with (raw / "host_calls.bin").open("wb") as file:
        for number, (rank, threads, numbering) in enumerate(zip(ranks, numbers, numberings, strict=True)):
            calls = read_calls(rank.folder)
            of = np.array([threads.get(own, number) for own in range(max(threads) + 1)], np.int32)
            for begin in range(0, len(calls), _PIECE):
                part = calls.at(slice(begin, begin + _PIECE)).astype(CALLS)
                part["t0_ps"], part["t1_ps"] = rank.at_ps(part["t0_ps"]), rank.at_ps(part["t1_ps"])
                part["thread"] = of[np.minimum(part["thread"], len(of) - 1)]
                part = numbering.numbered(part) if numbering else part
                part["fpga"] += first_fpgas[number]
                part["piece"] = 1 + (file.tell() // CALLS.itemsize + np.arange(len(part))) // PIECE_RECORDS  # each once
                part.tofile(file)


def _join_ends(raw: Path, ranks: Sequence[Rank], numbers: Sequence[Mapping[int, int]]) -> None:
    """When ranks ended, what recording cost, and whose the threads are."""
    lines = []
    for rank, threads in zip(ranks, numbers, strict=True):
        life_ps, end = rank.end_ps - rank.begin_ps, read_end(rank.folder / "recording.txt")
        queued_ps = min(whole_number(end.get("queued_ps", ""), MOST_AMOUNT) or 0, life_ps)  # of its first thread
        for place, of_thread in ((place, 0 if own else queued_ps) for own, place in threads.items()):
            lines.append(f"{place} {rank.begin_ps} {rank.end_ps} {life_ps - of_thread} 0 {of_thread}\n")
    (raw / "host_threads.txt").write_text("".join(lines))
    if len(ranks) > 1:
        (raw / "host_ranks.txt").write_text(
            "".join(f"{place} {number}\n" for number, threads in enumerate(numbers) for place in threads.values())
        )
    ends = [read_end(folder / "recording.txt") for folder in _recorded_by(ranks)]
    if not all("time_ps" in end for end in ends):
        return
    most = {key: max(int(end.get(key, "0")) for end in ends) for key in ("cost_ps_per_call", "cost_ps_spread")}
    values = {**most, "lost": sum(int(end.get("lost", "0")) for end in ends), "time_ps": max(r.end_ps for r in ranks)}
    (raw / "recording.txt").write_text("".join(f"{key} {value}\n" for key, value in values.items()))


def _join_boards(raw: Path, rank: Rank, first: int, fpgas: int) -> None:
    """What each rank read out of its FPGAs, by the numbers that these have among all."""
    for number in range(fpgas):
        for name in ("counters.bin", "board.txt"):
            if (path := rank.folder / of_fpga(name, number)).is_file():
                shutil.copyfile(path, raw / of_fpga(name, first + number))
        triples = np.array(read_records(rank.folder / of_fpga("triples.bin", number), TRIPLES))
        for name in ("t_p1_ps", "t_p3_ps"):
            triples[name] = rank.at_ps(triples[name])
        if len(triples):
            triples.tofile(raw / of_fpga("triples.bin", first + number))


# ---- messages ----


def read_messages(folder: Path) -> NDArray[np.void]:
    """A rank's messages (dtype MESSAGES), without the room that was not used."""
    records = np.array(read_records(folder / "messages.bin", MESSAGES))
    return records[records["kind"] > 0]


def _join_messages(raw: Path, ranks: Sequence[Rank], numbers: Sequence[Mapping[int, int]]) -> Iterator[Diagnostic]:
    """Write who waited for whom."""
    if not any((rank.folder / "messages.bin").is_file() for rank in ranks):
        return
    messages = []
    for rank in ranks:
        records = read_messages(rank.folder)
        for name in ("t0", "t1", "posted"):
            records[name] = rank.at(records[name])
        messages.append(records)
    lives: Mapping[int, tuple[int, int]] = {n: (rank.begin_ps, rank.end_ps) for n, rank in enumerate(ranks)}
    threads = {(rank, own): number for rank, of in enumerate(numbers) for own, number in of.items()}
    matched: Messages = match_messages(messages, lives, threads)
    with_calls(matched.syncs, spans_ps(raw)).tofile(raw / "host_syncs.bin")
    if matched.unmatched:
        text = f"the other end of {counted(matched.unmatched, 'message')} is not recorded"
        hint = "It was received by a call that is not recorded, or never. What waited for it has no known cause."
        yield Diagnostic(text, hint, Severity.NOTE)
    if matched.alone:
        text = f"for whom {counted(matched.alone, 'call')} of windows, files and neighbourhoods waited is not recorded"
        yield Diagnostic(text, "A prediction has them take as long as in this run.", Severity.NOTE)
    if matched.before_sent:
        off = time_text(matched.most_before_ps / PS_PER_S)
        calls = counted(matched.before_sent, "call")
        text = f"by the ranks' clocks, {calls} ended before the data that they waited for came, by {off} at most"
        yield Diagnostic(text, "The clocks are off by that much. The causes of these waits are unknown.", Severity.NOTE)
