"""How well an FPGA's clock is found from messages that both clocks stamped, against clocks that are known.

    python tests/benchmarks/virtual_time.py [--json] [--quick]

1,000 messages in a second, a host's clock of picoseconds, cycles of 7.5 ns, many seeds. A row tells the largest error
over the second (ns; the median and the 95th percentile of the seeds), how far a time was said to be off at most, in how
many frames, and in how many seeds an error was larger than that (and than a cycle): none should.
"""

import sys
from pathlib import Path
from typing import Any

import numpy as np
from command_line import command, show

from workbench.api.virtual_time import Triples, frame_of, frames_of

sys.path.insert(0, str(Path(__file__).parents[1]))
from test_virtual_time import CASES, S_F, on_the_hosts_clock

SEEDS, QUICK = 200, 20
GIVEN: dict[str, dict[str, Any]] = {name: dict(given) for name, (given, _) in CASES.items()}
GIVEN |= {f"drifts by {2 * ppm} ppm": {"jitter_ns": 200, "drift": ppm * 1e-6} for ppm in (1, 5, 50)}


def row(case: str, seeds: int) -> dict[str, Any]:
    worst_ns, unsure_ns, frames = [], [], []
    for seed in range(seeds):
        rows, truth_ps = on_the_hosts_clock(**GIVEN[case], seed=seed)
        found = frames_of(Triples(*rows.T), int(rows[:, 1].max()))
        cycles = np.linspace(rows[:, 1].min(), rows[:, 1].max(), 100).astype(int).tolist()
        worst_ns.append(max(abs(frame_of(found, cycle).at(cycle) - truth_ps(cycle)) for cycle in cycles) / 1000)
        unsure_ns.append(max(frame.uncertainty_ps for frame in found) / 1000)
        frames.append(len(found))
    return {
        "case": case, "error_ns": float(np.median(worst_ns)), "error_ns_95": float(np.quantile(worst_ns, 0.95)),
        "unsure_ns": float(np.median(unsure_ns)), "frames": float(np.median(frames)),
        "wrong": int((np.array(worst_ns) > np.array(unsure_ns) + S_F).sum()),
    }  # fmt: skip


def main() -> int:
    asked = command(__doc__, f"{QUICK} seeds in place of {SEEDS}").parse_args()
    rows = [row(case, QUICK if asked.quick else SEEDS) for case in GIVEN]
    show(rows, asked.json)
    return 1 if any(one["wrong"] for one in rows) else 0


if __name__ == "__main__":
    raise SystemExit(main())
