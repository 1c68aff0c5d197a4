"""What recording did to a run's virtual time: how much was taken off it, and how much may be left."""

from pathlib import Path

import numpy as np

from workbench.api.host_stats import read_stats
from workbench.api.records import read_calls, read_end
from workbench.api.targets import Outcome


def recording_overhead(raw: Path, outcome: Outcome, *, deterministic: bool) -> dict[str, float]:
    """In percent; {} where the host left no figure. On a real machine nothing is taken off.

    `taken_off_pct`: what recording took, of the run's virtual time, in which it is not (the paper's card had it in:
    14.2 % of "software time", ReCAP 2011, section 6.2). What may be left in it: `host_pct` of the host program's whole
    time, its API calls included, `virtual_pct` of the run's, `own_pct` of the host's own code alone; each plus or minus
    `unsure_pct` of the run's. The host's recording runtime adds up what it takes off call by call, and at its end finds
    what is left, in rounds of empty calls (`recording.txt`): it differs between rounds, and after a wait, with caches
    cold, may be twice that. Deterministic time counts the user's own code only.
    """
    if deterministic:
        return {"taken_off_pct": 0.0, "host_pct": 0.0, "virtual_pct": 0.0, "own_pct": 0.0, "unsure_pct": 0.0}
    end = read_end(raw / "recording.txt")
    if not {"cost_ps_per_call", "cost_ps_spread"} <= end.keys() or outcome.time_ps <= 0:
        return {}
    stats = read_stats(raw)
    if stats:
        counts = [int(thread.rows["count"].sum()) for thread in stats.threads if not thread.process]
    else:  # an earlier version's recorder
        counts = np.bincount(read_calls(raw)["thread"]).tolist()
    calls, threads = sum(counts), sum(1 for count in counts if count)
    left_ps = calls * float(end["cost_ps_per_call"])
    unsure_ps = abs(left_ps) + calls * float(end["cost_ps_spread"])
    threads = max(1, threads)
    taken_off = {"taken_off_pct": 100.0 * float(end["taken_off_ps"]) / outcome.time_ps} if "taken_off_ps" in end else {}
    return {
        **taken_off,
        "host_pct": 100.0 * left_ps / (outcome.time_ps * threads),
        "virtual_pct": 100.0 * left_ps / outcome.time_ps,
        "own_pct": 100.0 * left_ps / outcome.host_ps if outcome.host_ps else 0.0,
        "unsure_pct": 100.0 * unsure_ps / outcome.time_ps,
    }
