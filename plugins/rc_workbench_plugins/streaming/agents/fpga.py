"""What the agent of an FPGA left in a run's raw folder (`layout.py` says what stands there)."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np

from rc_workbench_plugins.streaming.agents.layout import END, KILLED, STAMPS, TIMES, WORDS, HardwareAgent
from rc_workbench_plugins.streaming.agents.packets import Answers, answers
from rc_workbench_plugins.streaming.query.measures import MeasureResult
from workbench.api import Diagnostic, Severity, counted
from workbench.api.records import read_records
from workbench.api.virtual_time import ClockFrame, Triples, frames_of


def fpga_answers(
    agent: HardwareAgent, raw: Path, number: int = 0, times: Sequence[Sequence[ClockFrame]] | None = None
) -> Answers:
    """What the agent counted; `times` are of its clocks (`packets.answers`). Lost words, or a run that ended before
    them, give a warning; the answer is what came until then."""
    file, end = raw / WORDS.format(number), raw / END.format(number)
    answered = answers(agent, np.fromfile(file, "<u4") if file.is_file() else np.empty(0, np.uint32), times)
    _, written, lost, why, *_ = [*(end.read_text("utf-8") if end.is_file() else "").strip().split(" ", 3), *[""] * 4]
    problems = [*answered.diagnostics]
    if not written:
        message = "the last words of the agent in the FPGA were not read: its answers are incomplete"
        problems.append(Diagnostic(message, KILLED, severity=Severity.WARNING, file=str(file)))
    elif lost != "0" or why:
        message = f"the agent in the FPGA: {why}; {lost} of the words that it sent were lost"
        hint = "The application went on; the counts until then are shown."
        problems.append(Diagnostic(message, hint, severity=Severity.WARNING, file=str(file)))
    if longer := sum(map(_longer, answered.measures)):
        frames = counted(longer, "frame")
        message = f"{frames} counted in the FPGA lasted longer than requested: the bus did not transfer them in time"
        hint = "They are complete. Use longer frames, or measure less."
        problems.append(Diagnostic(message, hint, severity=Severity.WARNING))
    return replace(answered, diagnostics=tuple(problems))


def _longer(result: MeasureResult) -> int:
    """How many frames go on over the end of one as long as was asked, and more."""
    asked_ps = result.measure.frame.time_ps
    return sum(1 for frame in result.frames if asked_ps and frame.end_ps - frame.start_ps > 1.5 * asked_ps)


def clock_of(raw: Path, number: int = 0) -> tuple[ClockFrame, ...]:
    """The FPGA's clock on the host's, by what the host saw of it; none where it shows no rate."""
    seen = triples(raw, number)
    return frames_of(seen, int(seen.t_f2.max(initial=0)) + 1)


def triples(raw: Path, number: int = 0) -> Triples:
    """(t_P1, t_F2, t_P3): ps of the host's clock, cycles of the FPGA's since reset, ps of the host's."""
    stamps = read_records(raw / TIMES.format(number), STAMPS)
    return Triples(*(np.array(stamps[name]) for name in STAMPS.names or ()))
