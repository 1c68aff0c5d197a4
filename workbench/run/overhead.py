"""How much a run's recording added to its virtual time."""

from __future__ import annotations

from pathlib import Path

from workbench.run.records import read_calls, read_end
from workbench.run.simulate import SimulationOutcome


def recording_overhead(raw: Path, outcome: SimulationOutcome) -> dict[str, float]:
    """`host_pct` of the host's own time, `virtual_pct` of the run's, both in percent; {} where the host left no figure.

    The host's recording runtime times itself on the virtual clock at its end (`recording.txt`); each recorded call is
    charged that. Against a plain run it can be checked with `tests/benchmarks/pdf2d.py`.
    """
    cost_ps = float(read_end(raw / "recording.txt").get("cost_ps_per_call", "nan"))
    added_ps = cost_ps * len(read_calls(raw))
    if not added_ps >= 0:
        return {}
    return {
        name: 100.0 * added_ps / (whole_ps - added_ps)
        for name, whole_ps in (("host_pct", outcome.host_ps), ("virtual_pct", outcome.time_ps))
        if whole_ps > added_ps
    }
