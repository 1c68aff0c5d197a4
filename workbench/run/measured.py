"""The times of a run on a real machine, from its records: the host's clock, and the FPGA's clocks aligned to it."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from workbench.api import HdlBuild, Outcome
from workbench.api.host_stats import read_stats
from workbench.api.records import of_fpga, read_counters, read_end, read_triples
from workbench.api.virtual_time import ClockFrame, Triples, frames_of
from workbench.model.cycles import at_end_of
from workbench.model.diagnostic import Diagnostic, Severity
from workbench.model.read_out import LATER_CYCLES
from workbench.model.run import PS_PER_S, RunClock
from workbench.model.text import counted, time_text


@dataclass(frozen=True)
class _Board:
    """The records of an FPGA's monitors: the words, the counted `cycles` of each clock by its name, and the first
    clock's alignment to the host's by the messages at the begin and end of counting (empty if it was not counted)."""

    words: NDArray[np.uint32] | None
    cycles: Mapping[str, int]
    first: tuple[ClockFrame, ...]
    end: Mapping[str, str]


def _board(raw: Path, number: int, hdl: HdlBuild, place: str, first: str) -> _Board:
    """The records of FPGA `number`, whose first clock is called `first`."""
    words, plan, cycles = read_counters(raw, number), hdl.read_out, dict[str, int]()
    if plan and words is not None and len(words) == plan.words:
        cycles = {place + monitor.clock: monitor.cycles(words) for monitor in plan.monitors}
    records = read_triples(raw, number)
    triples = Triples(records["t_p1_ps"], records["cycle"], records["t_p3_ps"])
    frames = frames_of(triples, cycles.get(first, 0))
    return _Board(words if cycles.get(first) else None, cycles, frames, read_end(raw / of_fpga("board.txt", number)))


def measured(raw: Path, outcome: Outcome, hdl: HdlBuild, clocks: Sequence[RunClock]) -> Outcome:
    """The outcome with the times in the sound records of `raw` (`resources/board`, `resources/host/recap.h`).

    The first clock of each FPGA is measured by two messages that both clocks stamped, the other clocks by the cycles
    that monitors counted in the same time. `clocks` are the run's, FPGA after FPGA.
    """
    stats = read_stats(raw)
    end = read_end(raw / "recording.txt")
    owned = [[clock for clock in clocks if clock.name.startswith(place)] for place in hdl.places]
    boards = [
        _board(raw, number, one, place, own[0].name)
        for number, (one, place, own) in enumerate(zip(hdl.each, hdl.places, owned, strict=True))
    ]
    took_ps = stats.threads[0].outer_ps if stats else 0
    time_ps = int(end.get("time_ps", stats.last_ps if stats else 0))
    ended = (raw / "recording.txt").exists()
    timed = [_timed(board, own, clock) for board, own in zip(boards, owned, strict=True) for clock in own]
    numbers = [sum(map(len, owned[:number])) for number in range(len(owned))]
    return replace(
        outcome,
        time_ps=time_ps,
        host_ps=time_ps - took_ps,
        clock_cycles=tuple(one.cycles for one in timed),
        counter_words=_all_words(boards, hdl),
        measured_hz=tuple(one.hz for one in timed),
        counted_from_ps=tuple(one.from_ps for one in timed),
        unsure_ps=tuple(one.unsure_ps for one in timed),
        frames={(n, number): board.first for n, (number, board) in enumerate(zip(numbers, boards, strict=True))
                if board.first},
        diagnostics=(*outcome.diagnostics, *_problems(end, boards, ended), *_unread(boards, hdl)),
    )  # fmt: skip


def _all_words(boards: Sequence[_Board], hdl: HdlBuild) -> NDArray[np.uint32] | None:
    """The words of all FPGAs in sequence; zeros for one whose counters were not read."""
    if all(board.words is None for board in boards):
        return None
    sizes = [one.read_out.words if one.read_out else 0 for one in hdl.each]
    return np.concatenate([
        np.zeros(size, np.uint32) if board.words is None else board.words
        for board, size in zip(boards, sizes, strict=True)
    ])  # fmt: skip


@dataclass(frozen=True)
class _Timed:
    """A clock of the run: its cycles, its frequency, and the time at which its counting began."""

    cycles: int
    hz: float
    from_ps: int
    unsure_ps: int


def _timed(board: _Board, clocks: Sequence[RunClock], clock: RunClock) -> _Timed:
    """The timing of one of an FPGA's clocks; the first clock was timed by messages."""
    first = clocks[0]
    cycles = board.cycles.get(first.name, 0)
    hz = float(PS_PER_S / board.first[0].rate_ps) if board.first else first.frequency_hz
    own_hz = _measured_hz(hz, board.cycles, clocks, clock)
    later_ps = round(LATER_CYCLES * (PS_PER_S / clock.frequency_hz + PS_PER_S / first.frequency_hz))
    unsure_ps = max((frame.uncertainty_ps for frame in board.first), default=0)
    return _Timed(
        board.cycles.get(clock.name) or at_end_of(cycles, first.frequency_hz, clock.frequency_hz),
        own_hz,
        board.first[0].at(0) if board.first else 0,
        unsure_ps + (later_ps if clock != first else 0),
    )


def _measured_hz(first_hz: float, counted: Mapping[str, int], clocks: Sequence[RunClock], clock: RunClock) -> float:
    """The frequency of a clock from the first clock's and the counts of both. If the counts agree with the platform but
    for the cycles of a clock crossing, the platform's ratio is used."""
    first = clocks[0]
    ours, cycles = counted.get(clock.name, 0), counted.get(first.name, 0)
    later = LATER_CYCLES * (1 + clock.frequency_hz / first.frequency_hz)
    stated_cycles = at_end_of(cycles, first.frequency_hz, clock.frequency_hz)
    if not ours or abs(ours - stated_cycles) <= later:
        return clock.frequency_hz * first_hz / first.frequency_hz
    return first_hz * ours / cycles


def _unread(boards: Sequence[_Board], hdl: HdlBuild) -> Iterator[Diagnostic]:
    """A warning for each FPGA whose counters were not read, if another one's were."""
    for board, one, place in zip(boards, hdl.each, hdl.places, strict=True):
        if board.words is None and one.read_out and any(other.words is not None for other in boards):
            text = f"the counters of {place.rstrip(':.')} were not read, so there are no counts for its blocks"
            yield Diagnostic(text, "The program moved nothing to or from it, or did not finish.", Severity.WARNING)


def _problems(end: dict[str, str], boards: Sequence[_Board], ended: bool) -> Iterator[Diagnostic]:
    if not ended:
        text, hint = "the program did not finish", "Its calls until then are here."
        yield Diagnostic(text, hint, Severity.WARNING)
    if lost := int(end.get("lost", "0")):
        text = f"{counted(lost, 'call')} came faster than they could be recorded"
        yield Diagnostic(text, "The counts are exact; these calls are missing in lists of calls.", Severity.WARNING)
    if errors := sum(int(board.end.get("errors", "0")) for board in boards):
        text = f"{errors} of the accesses that started and read the counters failed"
        yield Diagnostic(text, "What they counted may be wrong.", Severity.WARNING)
    if taken_ps := sum(int(board.end.get("taken_ps", "0")) for board in boards):
        text = f"{time_text(taken_ps / PS_PER_S)} of the run went into starting and reading the counters of one FPGA"
        yield Diagnostic(
            f"{text} while another's counted, or other ranks went on", "This time is part of the host's.", Severity.NOTE
        )
