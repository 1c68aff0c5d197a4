"""Virtual queues replayed from what their two ends saw, beside the truth, in the micro-benchmarks of the dissertation.

    python tests/benchmarks/virtual_queue.py [--json] [--quick] [--only rows|rates|runs]

`rows`: each scenario (tests/queue_sources.py) is run `replications` times, with `transfers` each: 10 of 200,000, 3 of
100,000 with --quick. `mean` is the true mean occupancy, `mean_ci` the half width of its 95 % interval, `expected` and
`expected_ci` those of an independent simulation of 10 million transfers. `ks` is how far the replay is from the truth
(Kolmogorov and Smirnov) on average, `ks_worst` at most, `ks_alone` where each interval is drawn by itself and
`ks_alone_expected` what the independent simulation found for that. `trusted` is the share of the runs in which nothing
spoke against the replay, `alone_trusted` in which the sub-queues spoke for one of intervals drawn each by itself,
`flagged` in which the intervals were found to depend on something; `drawn` is how they were drawn. `ks_chain` is the
distance, in the first of the runs, where insertions are drawn by a Markov chain of `states` states fitted to them
(tests/markov_intervals.py), which took `chain_s` of processor time. `million_s`: processor time of one estimate of a
million transfers.

`rates`: how often, of `runs` of 100,000 elements each in bulks of 64 over a bus that takes 16 services, a replay of
intervals drawn alone is trusted by both sub-queues (`alone_trusted`), the downstream one is told apart at the 95th
percentile of replays (`downstream`, without the least distance of 0.03), the intervals are found to depend (`flagged`),
and the estimate is trusted (`trusted`, of the first 20).

`runs`: the edge q of the bundled example `queues` between processor and FPGA, each form run once on the simulated card.
`mean` was counted, `replayed` is the replay's, `ks` their distance and `verdict` whether it is to be trusted. `waiting`
were counted behind the bus; a queueing model calibrated from the run says `queueing` (its distribution is `queueing_ks`
from the one counted), one of arrivals one by one `poisson`.

Exits 1 where a mean lies outside both intervals; where independent intervals are trusted in fewer than 95 % of the
runs; where strong dependence (phi = 0.9; means that stay with 0.99) is not seen in the sub-queues of 95 %; where weak
dependence is not flagged; or where `ks` is above 0.05.
"""

from __future__ import annotations

import json
import shutil
import sys
import time
from importlib.resources import files
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
from command_line import command

sys.path.insert(0, str(Path(__file__).parents[1]))

from markov_intervals import fitted
from queue_sources import EXACT, bus, intervals
from rc_workbench_plugins.queueing.calibrated import calibrated
from rc_workbench_plugins.queueing.station import simulated_shares, waiting
from rc_workbench_plugins.streaming import trust
from rc_workbench_plugins.streaming.crossing import replayed_edge
from rc_workbench_plugins.streaming.trust import estimate, replayed
from scipy.stats import t as student

from workbench.api.job import Job
from workbench.api.stream_events import events_of
from workbench.api.virtual_queue import (
    Draw,
    Intervals,
    average,
    distance,
    mean,
    measured,
    occupancy,
    passage,
    shares_of_time,
)
from workbench.session.make.pipeline import RunOptions, run_workspace
from workbench.session.open.opening import open_workspace
from workbench.session.program.plugins import load_plugins

SKIPPED, MOST_KS = 0.1, 0.05
LAWS = ("MM1", "MD1", "Correlated")


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
                any(d.is_significant for d in best.dependences),
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


def by_chain(source: dict[str, Any], params: dict[str, Any], count: int) -> dict[str, Any]:
    at = bus(params)
    given, random = intervals(source, params["svc"] == "D", count, np.random.default_rng(0)), np.random.default_rng(1)
    crossed = passage(given.between, given.service, at)
    service = measured(crossed).services
    begun = time.process_time()
    chain = fitted(given.between)
    chain_s = time.process_time() - begun
    again = [
        occupancy(passage(chain.drawn(count, random), random.choice(service, count), at), SKIPPED).total
        for _ in range(5)
    ]
    return {
        "ks_chain": distance(average(again), occupancy(crossed, SKIPPED).total),
        "states": len(chain.moves),
        "chain_s": chain_s,
    }


def rate(source: dict[str, Any], constant: bool, runs: int = 40, count: int = 100_000) -> dict[str, Any]:
    at, found = bus({"B": 64, "D": 16.0}), []
    for seed in range(runs):
        given = intervals(source, constant, count, np.random.default_rng(10_000 + seed))
        crossed = passage(given.between, given.service, at)
        truth, ends = occupancy(crossed), measured(crossed)
        seen = {"upstream": truth.upstream, "downstream": truth.downstream}
        trust.LEAST_DISTANCE, least = 0.0, trust.LEAST_DISTANCE
        _, (upstream, downstream) = replayed(ends, at, seen, Draw.ALONE)
        trust.LEAST_DISTANCE = least
        alone = all(queue.ks <= max(least, queue.threshold) for queue in (upstream, downstream))
        flagged = any(d.is_significant for d in trust.dependences(ends, at))
        trusted = estimate(ends, at, seen).consistent if seed < 20 else np.nan
        found.append((alone, not downstream.agrees, flagged, trusted))
    shares = np.nanmean(np.array(found, float), axis=0)
    names = ("alone_trusted", "downstream", "flagged", "trusted")
    said = " ".join(map(str, source.values())) + (", D" if constant else ", M")
    return {"source": said, "runs": runs} | dict(zip(names, shares.tolist(), strict=True))


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
    (server,) = (s for s in calibrated(events) if s.name == ("w" if way == "In" else "v"))
    shape = (server.utilisation, server.variation, server.batch, server.arrival_variation)
    return {
        "scenario": top,
        "waiting": mean(server.occupancy),
        "queueing": float(waiting(*shape)),
        "queueing_ks": distance(simulated_shares(*shape), server.occupancy),
        "poisson": float(waiting(server.utilisation, server.variation)),
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


def scenarios(quick: bool) -> tuple[Reports, list[str]]:
    count, times = (100_000, 3) if quick else (200_000, 10)
    cases = [({"type": "iid"}, case["params"], case["total"], None) for case in EXACT["iid"].values()]
    dependent = [case for case in EXACT["replays"] if case["source"]["type"] != "iid"]
    cases += [(case["source"], case["params"], case["truth_mean"], case["ks"][0]) for case in dependent]
    rows, wrong = Reports(), []
    for source, params, (expected, expected_ci), ks in cases:
        found = row(source, params, count, times) | {"transfers": count, "replications": times}
        found |= {"expected": expected, "expected_ci": expected_ci, "ks_alone_expected": ks}
        if source["type"] in ("ar1", "mm") and not quick:
            found |= by_chain(source, params, count)
        rows.add(found)
        wrong += [f"{found['scenario']}: {said}" for said in problems(found, source)]
    rows.add({"scenario": "one estimate of a million transfers", "million_s": million_s()})
    return rows, wrong


def million_s() -> float:
    given = intervals({"type": "ar1", "phi": 0.9}, False, 1_000_000, np.random.default_rng(0))
    at = bus({"B": 64, "D": 16.0})
    crossed = passage(given.between, given.service, at)
    truth = occupancy(crossed)
    begun = time.process_time()
    estimate(measured(crossed), at, {"upstream": truth.upstream, "downstream": truth.downstream})
    return time.process_time() - begun


def rates(quick: bool) -> tuple[Reports, list[str]]:
    iid, slow = {"type": "iid"}, {"type": "mm", "means": [0.5, 2.0], "stay": 0.99}
    weak, strong = ({"type": "ar1", "phi": phi} for phi in (0.3, 0.9))
    found, wrong = Reports(), []
    for source, constant in ((iid, False), (iid, True), (weak, False), (strong, False), (slow, False)):
        one = rate(source, constant, 4 if quick else 200 if source is weak else 40)
        found.add(one)
        if source is iid and one["trusted"] < 0.95:
            wrong.append(f"{one['source']}: independent intervals are not trusted")
        if source in (strong, slow) and one["alone_trusted"] > 0.05:
            wrong.append(f"{one['source']}: no sub-queue shows the dependence")
        if source is not iid and one["flagged"] < 0.95:
            wrong.append(f"{one['source']}: the dependence is not found")
    return found, wrong


def runs(quick: bool) -> tuple[Reports, list[str]]:
    found = Reports()
    with TemporaryDirectory() as folder:
        for top in ("MM1In",) if quick else (f"{law}{way}" for way in ("In", "Out") for law in LAWS):
            found.add(on_the_card(top, Path(folder)))
    wrong = [f"{one['scenario']}: the replay is off" for one in found if one["ks"] > MOST_KS]
    return found, wrong


class Reports(list[dict[str, Any]]):
    """Printed as they come, unless JSON is asked for."""

    silent = False

    def add(self, one: dict[str, Any]) -> None:
        self.append(one)
        if not self.silent:
            print(" ".join(f"{k} {v:.4g}" if isinstance(v, float) else f"{v}" for k, v in one.items()), flush=True)


PARTS = {"rates": rates, "runs": runs, "rows": scenarios}


def main() -> int:
    parser = command(__doc__)
    parser.add_argument("--only", choices=PARTS)
    arguments = parser.parse_args()
    Reports.silent = arguments.json
    parts = [arguments.only] if arguments.only else list(PARTS)
    done = {part: PARTS[part](arguments.quick) for part in parts}
    wrong = [said for _, told in done.values() for said in told]
    document = {part: list(found) for part, (found, _) in done.items()} | {"wrong": wrong}
    print(json.dumps(document) if arguments.json else "\n".join(wrong))
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
