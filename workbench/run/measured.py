"""What the records of a run on a real machine tell of its time: the host's clock, and the FPGA's as that tells it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

from workbench.api import Outcome
from workbench.api.records import read_calls, read_counters, read_end
from workbench.model.diagnostic import Diagnostic, Severity, WorkbenchError
from workbench.model.read_out import ReadOutPlan
from workbench.model.run import PS_PER_S

_CLOSE_ENOUGH = 0.01  # what a board's oscillator, and the template's figure of it, may be off


def measured(raw: Path, outcome: Outcome, plan: ReadOutPlan | None, nominal_hz: float, tree: str) -> Outcome:
    """The outcome with what the records in `raw` say (`resources/board`, `resources/host/recap.h`).

    The monitors counted `cycles` between two moments of the host's clock: that is the FPGA's frequency, as surely as
    the two accesses that began and ended it were short. `tree` is the build's id. Raises WorkbenchError for a folder
    without records, or with another build's.
    """
    calls = read_calls(raw)
    told, board = read_end(raw / "recording.txt"), read_end(raw / "board.txt")
    if not len(calls) and not told:
        hint = "Run the program with RCW_RAW set to this folder, and let it end by itself."
        raise WorkbenchError(Diagnostic("no records of a run are here", hint, file=str(raw)))
    if board and board.get("tree") != tree:
        hint = "Collect with the tree that the program was built from, or build and run this one."
        raise WorkbenchError(Diagnostic("these records were made by another build", hint, file=str(raw)))
    words = read_counters(raw)
    took_ps = (calls["t1_ps"] - calls["t0_ps"])[calls["thread"] == 0]
    last_ps = int(calls["t1_ps"].max(initial=0))
    time_ps = int(told.get("time_ps", last_ps))
    host_ps = time_ps - int(took_ps.sum())
    cycles = plan.cycles(words.tolist()) if plan and words is not None and len(words) == plan.words else 0
    window_ps = int(board.get("end_ps", 0)) - int(board.get("begin_ps", 0))
    hz = cycles * PS_PER_S / window_ps if cycles and window_ps > 0 else nominal_hz
    problems = _problems(told, board, hz, nominal_hz, window_ps)
    return replace(
        outcome,
        time_ps=time_ps,
        host_ps=host_ps,
        clock_cycles=(cycles,),
        counter_words=words if cycles else None,
        measured_hz=hz,
        counted_from_ps=int(board.get("begin_ps", 0)),
        unsure_ps=int(board.get("unsure_ps", 0)),
        diagnostics=(*outcome.diagnostics, *problems),
    )


def _problems(
    told: dict[str, str], board: dict[str, str], hz: float, nominal_hz: float, window_ps: int
) -> Iterator[Diagnostic]:
    if not told:
        text, hint = "the program did not come to its end", "Its calls until then are here."
        yield Diagnostic(text, hint, Severity.WARNING)
    if lost := int(told.get("lost", "0")):
        text = f"{lost} calls came faster than they could be written down"
        yield Diagnostic(text, "The counts are exact; these calls are missing in lists of calls.", Severity.WARNING)
    if errors := int(board.get("errors", "0")):
        text = f"{errors} of the accesses that started and read the counters failed"
        yield Diagnostic(text, "What they counted may be wrong.", Severity.WARNING)
    unsure = int(board.get("unsure_ps", "0")) / window_ps if window_ps > 0 else 0.0
    if abs(hz / nominal_hz - 1) > _CLOSE_ENOUGH + unsure:
        yield Diagnostic(
            f"the FPGA's clock ran at {hz / 1e6:.6g} MHz as the host's clock tells it (surely to {unsure:.2%}); the "
            f"platform says {nominal_hz / 1e6:g} MHz",
            "Times inside the FPGA are by the frequency that was measured.",
            Severity.WARNING,
        )
