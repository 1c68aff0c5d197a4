"""How much a run's recording added to its virtual time."""

from __future__ import annotations

from pathlib import Path

from workbench.run.records import read_calls, read_end
from workbench.run.simulate import SimulationOutcome


def recording_overhead(raw: Path, outcome: SimulationOutcome) -> dict[str, float]:
    """In percent; {} where the host left no figure.

    `host_pct`: of the host program's whole time, its API calls included, as the paper counts "software time" (ReCAP
    2011, section 6.2: 14.2 %). `virtual_pct`: of the run's virtual time. `own_pct`: of the host's own code alone.
    The host's recording runtime adds up, on the virtual clock, what its recording took after each call
    (`recording.txt`). `tests/benchmarks/pdf2d.py` measures the whole against a plain run.
    """
    added_ps = float(read_end(raw / "recording.txt").get("cost_ps", "nan"))
    if not added_ps >= 0:
        return {}
    threads = max(1, len(set(read_calls(raw)["thread"].tolist())))
    wholes_ps = {
        "host_pct": outcome.time_ps * threads,
        "virtual_pct": outcome.time_ps,
        "own_pct": outcome.host_ps,
    }
    return {name: 100.0 * added_ps / (whole - added_ps) for name, whole in wholes_ps.items() if whole > added_ps}
