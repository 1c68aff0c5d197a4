"""Virtual queues replayed from what their two ends saw, beside the truth, in the micro-benchmarks of the dissertation.

    python tests/benchmarks/virtual_queue.py [--json] [--quick] [--runs]

Each scenario (tests/queue_sources.py) is run `replications` times, with `transfers` each: 10 of 200,000, 3 of 100,000
with --quick. `mean` is the true mean occupancy and `mean_ci` the half width of its 95 % interval, `expected` and
`expected_ci` those of an independent simulation of 10 million transfers. `ks` is how far the replay is from the truth
(Kolmogorov and Smirnov) on average, `ks_worst` at most, `ks_alone` where each interval is drawn by itself and
`ks_alone_expected` what the independent simulation found for that. `trusted` is the share of the runs in which nothing
spoke against the replay, `alone_trusted` in which the sub-queues spoke for one of intervals drawn each by itself,
`flagged` in which the intervals were found to depend on something; `drawn` is how they were drawn.

`million_s`: processor time of one estimate of a million transfers.

`runs` (not with --quick; alone with --runs): the edge q of the bundled example `queues` between processor and FPGA,
each form run once on the simulated card. `mean` was counted, `replayed` is the replay's, `ks` their distance and
`verdict` whether it is to be trusted.

Exits 1 where a mean lies outside both intervals; where independent intervals are trusted in fewer than 95 % of the
runs; where strong dependence (phi = 0.9; means that stay with 0.99) is not seen in the sub-queues of 95 %; where weak
dependence is not flagged; or where `ks` is above 0.05.
"""

from __future__ import annotations

import argparse
import json
import shutil
import sys
import time
from importlib.resources import files
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np

sys.path.insert(0, str(Path(__file__).parents[1]))

from queue_sources import EXACT, bus, intervals
from rc_workbench_plugins.streaming.crossing import replayed_edge
from rc_workbench_plugins.streaming.events import events_of
from rc_workbench_plugins.streaming.trust import estimate, replayed
from rc_workbench_plugins.streaming.virtual_queue import (
    Draw,
    Intervals,
    distance,
    mean,
    measured,
    occupancy,
    passage,
    shares_of_time,
)
from scipy.stats import t as student

from workbench.api.job import Job
from workbench.session.pipeline import RunOptions, run_workspace
from workbench.session.plugins import load_plugins
from workbench.session.workspace import open_workspace

SKIPPED, MOST_KS = 0.1, 0.05


def name(source: dict[str, Any], params: dict[str, Any]) -> str:
    said = " ".join(f"{value}" for value in source.values())
    return f"{said}, {params['svc']}, bulk {params['B']}, bus {params['D']:g}"


def row(source: dict[str, Any], params: dict[str, Any], count: int, times: int) -> dict[str, Any]:
    at, found, draws = bus(params), [], set()
    for seed in range(times):
        given = intervals(source, params["svc"] == "D", count, np.random.default_rng(seed))
        crossed = passage(given.between, given.service, at)
        truth, ends = occupancy(crossed, SKIPPED), measured(crossed)
        if source["type"] == "cross":  # the consumer knows how long it worked; from outside this cannot be told
            ends = Intervals(ends.between, given.service[: len(ends)])
        seen = {"upstream": truth.upstream, "downstream": truth.downstream}
        alone, held = replayed(ends, at, seen, Draw.ALONE, skipped=SKIPPED)
        best = estimate(ends, at, seen, skipped=SKIPPED)
        draws.add(str(best.draw))
        told = mean(truth.total)
        if params.get("kind") == "system":
            served = crossed.removed + given.service[: len(crossed.removed)]
            told = mean(shares_of_time(crossed.inserted, served, crossed.inserted[count // 10], crossed.inserted[-1]))
        found.append(
            (
                told,
                distance(best.occupancy.total, truth.total),
                distance(alone.total, truth.total),
                best.consistent,
                all(queue.agrees for queue in held),
                any(d.found for d in best.dependences),
            )
        )
    means, ks, alone_ks, trusted, alone_trusted, flagged = np.array(found, float).T
    half = student.ppf(0.975, times - 1) * means.std(ddof=1) / np.sqrt(times)
    return {
        "scenario": name(source, params) + (", with the one served" if params.get("kind") else ""),
        "mean": float(means.mean()),
        "mean_ci": float(half),
        "ks": float(ks.mean()),
        "ks_worst": float(ks.max()),
        "ks_alone": float(alone_ks.mean()),
        "trusted": float(trusted.mean()),
        "alone_trusted": float(alone_trusted.mean()),
        "flagged": float(flagged.mean()),
        "drawn": ", ".join(sorted(draws)),
    }


def on_the_card(top: str, folder: Path) -> dict[str, Any]:
    example = Path(str(files("workbench.resources").joinpath("examples", "queues")))
    shutil.copytree(example, folder, dirs_exist_ok=True)
    way = "In" if top.endswith("In") else "Out"
    text = (example / ("into" if way == "In" else "out")).with_suffix(".workbench.yaml").read_text()
    (project := folder / f"{top}.workbench.yaml").write_text(text.replace(f"top: MM1{way}", f"top: {top}"))
    options = RunOptions(out=folder / f"run-{top}", trace=True, deterministic=True)
    run = run_workspace(open_workspace(project, load_plugins()), options, Job())
    events = events_of(run.tables)
    assert events is not None
    told = replayed_edge(events.edges[f"{top}.q"])
    assert told is not None
    found, truth = told
    return {
        "scenario": top,
        "mean": mean(truth.total),
        "replayed": mean(found.occupancy.total),
        "ks": distance(found.occupancy.total, truth.total),
        "verdict": found.verdict,
        "model": found.model,
    }


def problems(found: dict[str, Any], source: dict[str, Any]) -> list[str]:
    off = abs(found["mean"] - found["expected"]) > found["mean_ci"] + found["expected_ci"]
    strong = source.get("phi") == 0.9 or source.get("stay") == 0.99
    weak = source.get("phi") == 0.3
    return [
        said
        for said, wrong in (
            ("the mean is another", off),
            ("independent intervals are not trusted", source["type"] == "iid" and found["trusted"] < 0.95),
            ("no sub-queue shows the dependence", strong and found["alone_trusted"] > 0.05),
            ("the dependence is not found", weak and found["flagged"] < 0.95),
            ("the replay is off", found["ks"] > MOST_KS),
        )
        if wrong
    ]


def said(row: dict[str, Any]) -> str:
    return " ".join(f"{k} {v:.4g}" if isinstance(v, float) else f"{v}" for k, v in row.items())


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--runs", action="store_true")
    arguments = parser.parse_args()
    runs: list[dict[str, Any]] = []
    if not arguments.quick:
        with TemporaryDirectory() as folder:
            for top in (f"{law}{way}" for way in ("In", "Out") for law in ("MM1", "MD1", "Correlated")):
                runs.append(on_the_card(top, Path(folder)))
                if not arguments.json:
                    print(said(runs[-1]), flush=True)
    if arguments.runs:
        if arguments.json:
            print(json.dumps({"rows": [], "runs": runs}))
        return 0
    count, times = (100_000, 3) if arguments.quick else (200_000, 10)
    cases = [({"type": "iid"}, case["params"], case["total"], None) for case in EXACT["iid"].values()]
    dependent = [case for case in EXACT["replays"] if case["source"]["type"] != "iid"]
    cases += [(case["source"], case["params"], case["truth_mean"], case["ks"][0]) for case in dependent]
    rows, wrong = [], []
    for source, params, (expected, expected_ci), ks in cases:
        found = row(source, params, count, times)
        found |= {"expected": expected, "expected_ci": expected_ci, "ks_alone_expected": ks}
        rows.append(found)
        wrong += [f"{found['scenario']}: {said}" for said in problems(found, source)]
        if not arguments.json:
            print(said(found), flush=True)
    given = intervals({"type": "ar1", "phi": 0.9}, False, 1_000_000, np.random.default_rng(0))
    at = bus({"B": 64, "D": 16.0})
    crossed = passage(given.between, given.service, at)
    truth = occupancy(crossed)
    begun = time.process_time()
    estimate(measured(crossed), at, {"upstream": truth.upstream, "downstream": truth.downstream})
    million_s = time.process_time() - begun
    document = {
        "rows": rows,
        "runs": runs,
        "transfers": count,
        "replications": times,
        "million_s": million_s,
        "wrong": wrong,
    }
    print(json.dumps(document) if arguments.json else f"a million transfers: {million_s:.1f} s\n" + "\n".join(wrong))
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
