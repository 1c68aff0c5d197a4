"""Puts the times of MPI ranks on one clock, that of rank 0, which starts at 0 when the first rank begins.

Ranks of one machine read the same clock, so it is enough to know when each of them began by it (`rank.txt`). The clock
of another machine is aligned by messages: in MPI_Init and MPI_Finalize, rank 0 sends messages to one rank of each other
machine, and notes when each left, met the other clock, and was back (`rank_clocks.bin`). `steady` fits the rate and the
offset of that clock to them.

For example, ranks 0 and 1 run on one machine, ranks 2 and 3 on another. Rank 2 exchanges messages with rank 0, which
align its clock to within ± 40 µs; rank 3 reads the same clock as rank 2, and is within ± 40 µs of rank 0 too.
"""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from workbench.api.host_stats import TickClock, slots_and_clock
from workbench.api.records import MOST_TICKS, RANK_CLOCKS, read_calls, read_end, read_records, whole_number
from workbench.api.virtual_time import ClockFrame, Triples, steady
from workbench.model.diagnostic import Diagnostic, Severity
from workbench.model.run import PS_PER_S
from workbench.model.run_tables import MOST_AMOUNT
from workbench.model.text import counted, listed, time_text
from workbench.run.rank_messages import read_messages


@dataclass(frozen=True)
class Rank:
    """A rank's records, and its clock.

    `folder` holds the records, and does not exist if the rank recorded nothing. `clock` is a name that ranks share if
    they read the same clock, and `ticks` converts this rank's ticks to its own ps. `rate` and `offset_ps` convert its
    own ps to the run's, with an error of at most `unsure_ps`. The rank ran from `begin_ps` to `end_ps` on the run's
    clock.
    """

    folder: Path
    clock: str
    ticks: TickClock
    rate: float
    offset_ps: float
    unsure_ps: int
    begin_ps: int
    end_ps: int

    def at_ps(self, own_ps: NDArray[np.int64]) -> NDArray[np.int64]:
        """Times of the rank's own clock (ps), on the run's clock (ps)."""
        return np.rint(own_ps * self.rate + self.offset_ps).astype(np.int64)

    def at(self, ticks: NDArray[np.int64]) -> NDArray[np.int64]:
        """Times of the rank's own clock (ticks), on the run's clock (ps)."""
        return self.at_ps(self.ticks.at(ticks))


def unsure_between_ps(ranks: Sequence[Rank]) -> int:
    """The largest error between times of two ranks (ps): the sum of the two largest errors of their clocks."""
    of_clocks = {rank.clock: rank.unsure_ps for rank in ranks}
    return sum(sorted(of_clocks.values())[-2:])


@dataclass(frozen=True)
class _SharedClock:
    """A clock that several ranks read. `members` holds, by rank, the rate and the offset (ps) that convert the rank's
    own ps to this clock's."""

    name: str
    members: dict[int, tuple[float, float]]

    def at(self, rank: int, own_ps: NDArray[np.int64]) -> NDArray[np.int64]:
        """Times of a rank (ps), on this clock (ps)."""
        rate, offset_ps = self.members[rank]
        return np.rint(own_ps * rate + offset_ps).astype(np.int64)


def _shared_clocks(folders: Sequence[Path], ticks: Sequence[TickClock]) -> list[_SharedClock]:
    """The clocks of all ranks that recorded, in the order of their first ranks. A clock has the rate of its first rank,
    and starts at 0 when that rank began."""
    descriptions = {rank: read_end(folder / "rank.txt") for rank, folder in enumerate(folders) if folder.is_dir()}
    begins: dict[str, list[tuple[int, int]]] = {}  # by clock: rank, tick at which it began
    for rank, description in descriptions.items():
        zero = whole_number(description.get("zero", ""), MOST_TICKS)
        name, begin = description.get("clock", ""), zero or 0
        apart = begin - begins[name][0][1] if name in begins else 0
        if zero is None or not name or abs(apart) * ticks[rank].ps_per_tick > MOST_AMOUNT:
            name, begin = f"of rank {rank}", 0
        begins.setdefault(name, []).append((rank, begin))
    clocks = []
    for name, of_ranks in begins.items():
        first, first_begin = of_ranks[0]
        tick_ps = ticks[first].ps_per_tick
        members = {
            rank: (tick_ps / ticks[rank].ps_per_tick, (begin - first_begin) * tick_ps) for rank, begin in of_ranks
        }
        clocks.append(_SharedClock(name, members))
    return clocks


def aligned(folders: Sequence[Path]) -> tuple[list[Rank], list[Diagnostic]]:
    """The ranks on one clock, by number, and diagnostics on the alignment. `folders` are those of all ranks.

    Clocks without messages are assumed to start together with rank 0's.
    """
    ticks = [_ticks(folder) for folder in folders]
    lasted_ps = [_lasted_ps(folder, clock) for folder, clock in zip(folders, ticks, strict=True)]
    lead = next((rank for rank, folder in enumerate(folders) if folder.is_dir()), 0)
    messages = read_records(folders[lead] / "rank_clocks.bin", RANK_CLOCKS)
    frames: dict[str, ClockFrame] = {}
    ranks: dict[int, Rank] = {}
    unaligned: list[str] = []
    for clock in _shared_clocks(folders, ticks):
        last_ps = max(int(clock.at(rank, np.array([lasted_ps[rank]]))[0]) for rank in clock.members)
        frame = _frame(messages, ticks[lead], ticks, clock, last_ps) if lead not in clock.members else None
        if frame:
            frames[clock.name] = frame
        elif lead not in clock.members:
            unaligned += map(str, clock.members)
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
    return in_order, list(_alignment_notes(in_order, unaligned, frames))


def _later(rank: Rank, by_ps: int) -> Rank:
    return replace(rank, offset_ps=rank.offset_ps + by_ps, begin_ps=rank.begin_ps + by_ps, end_ps=rank.end_ps + by_ps)


def _alignment_notes(
    ranks: Sequence[Rank], unaligned: Sequence[str], frames: Mapping[str, ClockFrame]
) -> Iterator[Diagnostic]:
    """A warning that names the `unaligned` ranks, and a note with the error of the clocks with `frames`."""
    recorded = [number for number, rank in enumerate(ranks) if rank.folder.is_dir()]
    if unaligned:
        numbers = listed(sorted(unaligned, key=int))
        text = f"the clocks of rank {numbers} and rank {recorded[0]} are not aligned, and assumed to start together"
        hint = "They ended before MPI_Init did, or others recorded nothing: set RCW_RAW for all ranks."
        yield Diagnostic(text, hint, Severity.WARNING)
    if frames:
        within = time_text(unsure_between_ps(ranks) / PS_PER_S)
        text = f"the {counted(len(frames) + 1, 'clock')} of {len(recorded)} ranks are aligned to within ± {within}"
        fewest = min(frame.messages for frame in frames.values())
        hint = f"By {counted(fewest, 'message')} or more to and from each in MPI_Init and MPI_Finalize."
        yield Diagnostic(text, hint, Severity.NOTE)


def _ticks(folder: Path) -> TickClock:
    known = slots_and_clock(folder)
    return known[1] if known and known[1].ps_per_tick else TickClock()


def _lasted_ps(folder: Path, ticks: TickClock) -> int:
    """The time for which a rank ran, by its own clock: up to its end, or else to its last record."""
    time_ps = read_end(folder / "recording.txt").get("time_ps", "0")
    calls, messages = read_calls(folder), read_messages(folder)
    last_call_ps = int(calls["t1_ps"].max(initial=0)) if len(calls) else 0
    return max(int(time_ps), last_call_ps, int(ticks.at(messages["t1"]).max(initial=0)))


def _frame(
    messages: NDArray[np.void], of_lead: TickClock, ticks: Sequence[TickClock], clock: _SharedClock, last_ps: int
) -> ClockFrame | None:
    """A clock on rank 0's, by the messages (RANK_CLOCKS) with the first of its ranks that exchanged any; None if they
    show no rate."""
    for rank in clock.members:
        mine = messages[messages["rank"] == rank]
        if len(mine):
            met = clock.at(rank, ticks[rank].at(mine["met"]))
            triples = Triples(of_lead.at(mine["t_p1"]), met, of_lead.at(mine["t_p3"]))
            begins = np.flatnonzero(np.asarray(mine["round"]) == 1)  # in MPI_Init, and in MPI_Finalize
            with suppress(ValueError):
                return steady(triples, last_ps, int(begins[1]) if len(begins) > 1 else len(mine))
    return None
