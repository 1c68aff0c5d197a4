"""What the records of a run on a real machine tell of its time: the host's clock, and the FPGA's as that tells it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from workbench.api import Outcome
from workbench.api.host_stats import read_stats
from workbench.api.records import read_calls, read_counters, read_end, read_triples
from workbench.api.virtual_time import Frame, Triples, frames_of
from workbench.model.cycles import at_end_of
from workbench.model.diagnostic import Diagnostic, Severity, WorkbenchError
from workbench.model.read_out import LATER_CYCLES, ReadOutPlan
from workbench.model.run import PS_PER_S, RunClock
from workbench.model.text import counted


def first_clock(raw: Path, cycles: int) -> tuple[Frame, ...]:
    """The FPGA's first clock on the host's, by the messages that began and ended its counting; none where it was not
    counted."""
    records = read_triples(raw)
    return frames_of(Triples(records["t_p1_ps"], records["cycle"], records["t_p3_ps"]), cycles)


def measured(raw: Path, outcome: Outcome, plan: ReadOutPlan | None, clocks: Sequence[RunClock], tree: str) -> Outcome:
    """The outcome with what the records in `raw` say (`resources/board`, `resources/host/recap.h`).

    The FPGA's first clock is what two messages that both clocks stamped say of it (`first_clock`), others are what the
    monitors counted of them meanwhile. `clocks` are the run's, `tree` is the build's id.
    Raises WorkbenchError for a folder without records, or with another build's.
    """
    stats = read_stats(raw)
    told, board = read_end(raw / "recording.txt"), read_end(raw / "board.txt")
    if stats is None and not told and not len(read_calls(raw)):
        hint = "Run the program with RCW_RAW set to this folder, and let it end by itself."
        raise WorkbenchError(Diagnostic("no records of a run are here", hint, file=str(raw)))
    if board and board.get("tree") != tree:
        hint = "Collect with the tree that the program was built from, or build and run this one."
        raise WorkbenchError(Diagnostic("these records were made by another build", hint, file=str(raw)))
    words = read_counters(raw)
    if stats is None:  # of an earlier version's recorder
        calls = read_calls(raw)
        took_ps = int((calls["t1_ps"] - calls["t0_ps"])[calls["thread"] == 0].sum())
        last_ps = int(calls["t1_ps"].max(initial=0))
    else:
        took_ps, last_ps = stats.threads[0].outer_ps if stats.threads else 0, stats.last_ps
    time_ps = int(told.get("time_ps", last_ps))
    host_ps = time_ps - took_ps
    counted: dict[str, int] = {}
    if plan and words is not None and len(words) == plan.words:
        counted = {monitor.clock: monitor.cycles(words) for monitor in plan.monitors}
    first = clocks[0]
    cycles = counted.get(first.name, 0)
    clock = first_clock(raw, cycles)
    hz = float(PS_PER_S / clock[0].rate_ps) if clock else first.frequency_hz
    nominal = (at_end_of(cycles, first.frequency_hz, other.frequency_hz) for other in clocks)
    problems = _problems(told, board)
    return replace(
        outcome,
        time_ps=time_ps,
        host_ps=host_ps,
        clock_cycles=tuple(counted.get(one.name) or other for one, other in zip(clocks, nominal, strict=True)),
        counter_words=words if cycles else None,
        measured_hz=tuple(_measured_hz(hz, counted, clocks, one) for one in clocks),
        counted_from_ps=clock[0].at(0) if clock else 0,
        unsure_ps=max((frame.uncertainty_ps for frame in clock), default=0),
        diagnostics=(*outcome.diagnostics, *problems),
    )


def _measured_hz(first_hz: float, counted: Mapping[str, int], clocks: Sequence[RunClock], clock: RunClock) -> float:
    """How fast a clock was, by how fast the first one was and what was counted of both; where that is what the platform
    says, but for the cycles that crossing from one to the other may take, in the platform's proportion."""
    first = clocks[0]
    ours, cycles = counted.get(clock.name, 0), counted.get(first.name, 0)
    later = LATER_CYCLES * (1 + clock.frequency_hz / first.frequency_hz)
    told = at_end_of(cycles, first.frequency_hz, clock.frequency_hz)
    if not ours or abs(ours - told) <= later:
        return clock.frequency_hz * first_hz / first.frequency_hz
    return first_hz * ours / cycles


def _problems(told: dict[str, str], board: dict[str, str]) -> Iterator[Diagnostic]:
    if not told:
        text, hint = "the program did not come to its end", "Its calls until then are here."
        yield Diagnostic(text, hint, Severity.WARNING)
    if lost := int(told.get("lost", "0")):
        text = f"{counted(lost, 'call')} came faster than could be written down"
        yield Diagnostic(text, "The counts are exact; these calls are missing in lists of calls.", Severity.WARNING)
    if errors := int(board.get("errors", "0")):
        text = f"{errors} of the accesses that started and read the counters failed"
        yield Diagnostic(text, "What they counted may be wrong.", Severity.WARNING)
