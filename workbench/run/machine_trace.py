"""The trace of a run on a real machine: the host's calls, if the program recorded each, and the FPGA's state changes,
if the design's monitors recorded them."""

from collections.abc import Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from workbench.api import HdlBuild, HostBuild
from workbench.api.instrument.traced import changes
from workbench.api.records import read_calls
from workbench.model.diagnostic import Diagnostic, Severity
from workbench.model.run import RunClock
from workbench.model.text import counted
from workbench.run.collect import frequencies
from workbench.run.tap_trace import TapTrace


def machine_trace(
    raw: Path,
    part: Path,
    host: HostBuild | None,
    hdl: HdlBuild,
    clocks: Sequence[RunClock],
    words: NDArray[np.uint32] | None,
    *,
    asked: bool = False,
) -> tuple[TapTrace | None, tuple[Diagnostic, ...]]:
    """The unfinished trace below `part`, and its diagnostics; None if no call was recorded, with a warning if a trace
    was `asked` for. `clocks` are the run's measured clocks, `words` the counter read-out. The FPGA's changes are
    written to `raw` in the simulated card's format. Raises OSError."""
    if host is None or not len(read_calls(raw)):
        hint = "Let the command target.run hand RCW_TRACE on to the program, as it does RCW_RAW."
        lacking = Diagnostic("there is no trace: the program was not asked for one", hint, Severity.WARNING)
        return None, (lacking,) if asked else ()
    traced = words is not None and hdl.read_out is not None and hdl.read_out.traced and not hdl.fpgas
    if traced and words is not None:
        records, notes = changes(hdl.read_out, hdl.blocks, words)
        states = np.array([len(block.states) for block in hdl.blocks])
        sound = (records["state"] >= 0) & (records["state"] < states[records["block"]])
        if not sound.all():
            text = (
                f"the FPGA's trace has {counted(int((~sound).sum()), 'change')} to states that its blocks do not have"
            )
            lost = Diagnostic(text, "What the board read out is damaged: these are left out.", Severity.WARNING)
            notes = (*notes, lost)
        records[sound].tofile(raw / "taps.bin")
    else:
        text = "the trace of a run on a real machine has the host's calls only"
        hint = "In the timeline the FPGA's blocks are unclassified; hardware.trace of the project records their states."
        if hdl.fpgas:
            hint = (
                "In the timeline the FPGAs' blocks are unclassified: a trace in hardware is read from a single one "
                "only."
            )
        notes = (Diagnostic(text, hint, Severity.NOTE),)
    began_ps = clocks[0].start_ps if traced else 0
    return TapTrace(raw, part, host.blocks[0], hdl.blocks, frequencies(hdl.blocks, clocks), began_ps=began_ps), notes
