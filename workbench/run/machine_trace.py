"""The trace of a run on a real machine: its host's calls, where the program recorded them one by one."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from workbench.api import HdlBuild, HostBuild
from workbench.api.records import read_calls
from workbench.model.diagnostic import Diagnostic, Severity
from workbench.model.run import RunClock
from workbench.run.collect import frequencies
from workbench.run.tap_trace import TapTrace


def trace_of_calls(
    raw: Path, part: Path, host: HostBuild | None, hdl: HdlBuild, clocks: Sequence[RunClock], *, asked: bool = False
) -> tuple[TapTrace | None, tuple[Diagnostic, ...]]:
    """What is to be finished below `part`, and what there is to say of it; None where no call was recorded, which is
    told where it was `asked` for."""
    if host is None or not len(read_calls(raw)):
        hint = "Let the command target.run hand RCW_TRACE on to the program, as it does RCW_RAW."
        lacking = Diagnostic("there is no trace: the program was not asked for one", hint, Severity.WARNING)
        return None, (lacking,) if asked else ()
    text = "the trace of a run on a real machine is of the host's calls"
    hint = "Blocks of the FPGA are counted there: in the timeline they are unclassified."
    taps = TapTrace(raw, part, host.blocks[0], hdl.blocks, frequencies(hdl.blocks, clocks))
    return taps, (Diagnostic(text, hint, Severity.NOTE),)
