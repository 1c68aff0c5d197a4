"""Completes runs that were ended before they could finish: killed, cancelled, or with a full disk. Their records become
tables when they are opened."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np

from workbench.api import HdlBuild, HostBuild, Outcome
from workbench.api.host_units import read_units
from workbench.api.records import read_calls, read_taps, read_transfers, read_waits
from workbench.formats.run_folder import RAW, RunWriter
from workbench.model.cycles import cycle_start_ps, period_ps
from workbench.model.platform import Platform
from workbench.model.run import Run, RunClock, RunStatus
from workbench.run.collect import Built, frequencies
from workbench.run.sound_card import keep_sound_of_card
from workbench.run.tap_trace import TapTrace
from workbench.session.keep.run_end import collected

_RECORDS = ("host_calls.bin", "transfers.bin", "taps.bin")
_PIECE = 1 << 20  # taps processed together


def finish_interrupted(run: Run, platform: Platform | None) -> bool:
    """Make the tables from the records of an interrupted run; False if there is nothing to make, as while the run is
    still going on. Raises WorkbenchError if they cannot be written.

    The hardware counters are lost with the card; state times are then those of the trace.
    """
    manifest = run.manifest
    if run.path is None or run.complete or run.tables or not manifest.blocks or not platform or not manifest.simulated:
        return False
    raw = run.path / RAW
    if not any((raw / name).exists() for name in _RECORDS) or (writer := RunWriter.taken_up(run)) is None:
        return False
    host = HostBuild((), blocks=manifest.blocks[:1], sites=manifest.sites, entries=manifest.entries)
    if not host.sites and (units := read_units(raw)):  # the project's own command built it
        host = replace(host, blocks=(units.block,), sites=units.sites)
    hdl = HdlBuild((), "", manifest.blocks[1:], streams=manifest.streams, fifos=manifest.fifos)
    problems = keep_sound_of_card(raw, host, hdl)
    clocks_hz = frequencies(hdl.blocks, manifest.clocks)
    drift = manifest.drift_ppm_per_s
    time_ps = max(_ends_ps(raw, clocks_hz, drift), default=0)
    manifest = replace(
        manifest,
        status=RunStatus.FAILED if manifest.status is RunStatus.RUNNING else manifest.status,
        reason=manifest.reason or "it was ended before it could finish",
        time_ps=time_ps,
        clocks=tuple(_until(clock, time_ps) for clock in manifest.clocks),
        diagnostics=(*manifest.diagnostics, *problems),
    )
    taps = TapTrace(raw, writer.part, host.blocks[0], hdl.blocks, clocks_hz, drift) if manifest.traced else None
    outcome, built = Outcome(exit=None, time_ps=time_ps), Built(host, hdl, (), platform)
    collected(writer, manifest, outcome, built, taps, writer.kept())
    return True


def _ends_ps(raw: Path, clocks_hz: Sequence[float], drift_ppm_per_s: float) -> Iterator[int]:
    """The end (ps) of the last record of each kind."""
    for records, column in ((read_calls(raw), "t1_ps"), (read_transfers(raw), "end_ps"), (read_waits(raw), "t1_ps")):
        if len(records):
            yield int(records[column].max())
    taps, of_clock = read_taps(raw), {hz: np.array([other == hz for other in clocks_hz]) for hz in clocks_hz}
    for begin in range(0, len(taps), _PIECE):
        part = taps[begin : begin + _PIECE]
        for clock_hz, mine in of_clock.items():
            cycles = part["cycle"][mine[part["block"]]]
            if len(cycles):
                yield cycle_start_ps(int(cycles.max()), clock_hz, drift_ppm_per_s)


def _until(clock: RunClock, time_ps: int) -> RunClock:
    return replace(clock, cycles=int(time_ps / period_ps(clock.frequency_hz)))
