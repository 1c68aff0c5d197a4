"""Instrumentation overhead in a run's virtual time: the subtracted part and the residual."""

from pathlib import Path

import numpy as np

from workbench.api.host_stats import read_stats
from workbench.api.records import read_calls, read_end
from workbench.api.targets import Outcome


def recording_overhead(raw: Path, outcome: Outcome, *, deterministic: bool) -> dict[str, float]:
    """The overheads in percent; {} if the host recorded none. On a real machine nothing is subtracted.

    `taken_off_pct` is the subtracted overhead as a share of the run's virtual time, which does not contain it (the
    paper's card contained it: 14.2 % of "software time", ReCAP 2011, section 6.2). The residual is `host_pct` of the
    host program's whole time with its API calls, `virtual_pct` of the run's, and `own_pct` of the host's own code; each
    plus or minus `unsure_pct` of the run's. The host's recording runtime sums what it subtracts call by call, and
    measures the residual at its end in rounds of empty calls (`recording.txt`). The residual differs between rounds,
    and may be twice as large after a wait, with cold caches. Deterministic time counts only the user's own code.
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
