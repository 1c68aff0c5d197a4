"""RATSS' loop closed on the simulated card: a network's parameters measured by a program, and a prediction made of them
held against the run of an application on several MPI ranks (RATSS 2011, sections 4.3.2 and 4.5).

The first table has L, o, g, G and gamma as the template says and as `workbench template network` measures them; the
second each collective as measured and by RATSS' equations with the measured parameters. The third one has the bundled
2-D PDF on 1 to 8 ranks, each with a card of 2 cores (`--quick`: 2 ranks): the model `pdf2d_ranks` with the measured
network beside the run, stage by stage. Points grow with the ranks.

    python tests/benchmarks/ranks.py [--quick] [--json]
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import numpy as np
from rc_workbench_plugins.ratss import equations as ratss

from workbench.api.job import Job
from workbench.formats.platform_file import load_platform
from workbench.model.run import PS_PER_S, Run
from workbench.model.text import table, time_text
from workbench.session.make.pipeline import RunOptions, run_workspace
from workbench.session.open.examples import EXAMPLES, copy_example
from workbench.session.open.opening import open_workspace
from workbench.session.program.plugins import load_plugins

TEMPLATE = Path(__file__).parents[2] / "platform_templates" / "nallatech_h101.yaml"
NETWORK = "Gigabit Ethernet"
PARAMETERS = {"L": "latency_s", "o": "overhead_s", "g": "gap_s", "G": "gap_per_byte_s", "gamma": "reduction_per_byte_s"}
CORES, POINTS_OF_A_RANK, BINS = 2, 16384, 8


def workbench(*words: str | Path) -> Any:
    done = subprocess.run(
        [sys.executable, "-m", "workbench", *map(str, words), "--json"], capture_output=True, text=True, check=True
    )
    return json.loads(done.stdout)


def network_rows(out: Path) -> dict[str, Any]:
    """What is measured of the template's network, and what RATSS' equations make of it."""
    measured = workbench("template", "network", TEMPLATE, "--name", NETWORK, "--ranks", "4", "--out", out)
    platform, _ = load_platform(TEMPLATE)
    assert platform is not None
    given = next(network for network in platform.networks if network.name == NETWORK)
    latency, overhead, _, gap, gamma = (measured[key] for key in PARAMETERS.values())
    ranks = measured["ranks"]
    of = {
        "barrier": lambda k: ratss.t_barrier(ranks, latency, overhead),
        "broadcast": lambda k: ratss.t_broadcast(ranks, k, latency, overhead, gap),
        "scatter": lambda k: ratss.t_scatter(ranks, k, latency, overhead, gap),
        "gather": lambda k: ratss.t_scatter(ranks, k, latency, overhead, gap),
        "reduce": lambda k: ratss.t_reduce(ranks, k, latency, overhead, gap, gamma * k),
        "all-gather": lambda k: ratss.t_all_gather(ranks, k, latency, overhead, gap),
        "all-to-all": lambda k: ratss.t_all_to_all(ranks, k, latency, overhead, gap),
    }
    parameters = [
        {"name": name, "template_s": getattr(given, key), "measured_s": measured[key]}
        for name, key in PARAMETERS.items()
    ]
    collectives = [
        {"name": name, "bytes": size, "predicted_s": float(of[name](size)), "measured_s": time_s}
        for name, size, time_s in measured["collectives"]
    ]
    return {"parameters": parameters, "collectives": collectives}


def stages_of(run: Run) -> dict[str, float]:
    """How long the stages of the model took in a run: each until the last rank has done it."""
    calls, sites = run.tables["calls"], run.manifest.sites
    callee = np.array([site.callee for site in sites])[calls["site"]]

    def ends(name: str, column: str, of: Any = np.max) -> int:
        return int(of(np.asarray(calls[column])[callee == name]))

    ranks = np.unique(calls["block"])
    of_rank = [
        int(calls["t0_ps"][(callee == "MPI_Reduce") & (calls["block"] == rank)].max())
        - int(calls["t1_ps"][(callee == "MPI_Scatter") & (calls["block"] == rank)].max())
        for rank in ranks
    ]
    times_ps = {
        "scatter": ends("MPI_Scatter", "t1_ps") - ends("MPI_Scatter", "t0_ps"),
        "batches": max(of_rank),
        "reduce": ends("MPI_Reduce", "t1_ps") - ends("MPI_Reduce", "t0_ps"),
        "finalize": ends("MPI_Finalize", "t1_ps") - ends("MPI_Finalize", "t0_ps"),
    }
    first = int(np.asarray(calls["t0_ps"])[callee == "MPI_Scatter"].max())  # before it rank 0 makes the points
    times_ps["application"] = run.manifest.time_ps - first
    return {name: ps / PS_PER_S for name, ps in times_ps.items()}


def application_rows(ranks: int, template: Path, folder: Path) -> list[dict[str, Any]]:
    plugins = load_plugins()
    example = next(one for one in EXAMPLES if one.project == "ranks.workbench.yaml")
    workspace = open_workspace(copy_example(example, folder), plugins)
    points = ranks * POINTS_OF_A_RANK
    options = RunOptions(
        folder / f"run-{ranks}", deterministic=True, ranks=ranks, settings={"CORES": CORES, "POINTS": points}
    )
    run = run_workspace(workspace, options, Job())
    assert run.complete, run.manifest.reason
    changed = [f"CORES={CORES}", f"POINTS={points}", f"RANKS={ranks}"]
    model = folder / "measured.ratss.yaml"
    bundled = TEMPLATE.parents[1] / "plugins/rc_workbench_plugins/ratss/models/pdf2d_ranks.ratss.yaml"
    model.write_text(bundled.read_text().replace("platform: nallatech_h101", f"platform: {template.name}"))
    answer = workbench("predict", "ratss", model, *(word for one in changed for word in ("--set", one)))
    predicted = {stage["name"]: stage["total_s"] for stage in answer["stages"]} | {"application": answer["total_s"]}
    return [
        {"ranks": ranks, "stage": name, "predicted_s": predicted[name], "measured_s": time_s}
        for name, time_s in stages_of(run).items()
    ]


def beside(row: dict[str, Any]) -> tuple[str, str, str]:
    predicted_s, measured_s = row["predicted_s"], row["measured_s"]
    error = f"{100 * (predicted_s / measured_s - 1):+.2f} %" if measured_s else ""
    return time_text(predicted_s), time_text(measured_s), error


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="2 ranks alone")
    parser.add_argument("--json", action="store_true")
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch)
        network = network_rows(folder / "measured.yaml")
        counts = (2,) if asked.quick else (1, 2, 4, 8)
        rows = [row for ranks in counts for row in application_rows(ranks, folder / "measured.yaml", folder)]
    if asked.json:
        print(json.dumps({**network, "application": rows}, indent=1))
        return
    given = [(one["name"], f"{one['template_s']:.6g} s", f"{one['measured_s']:.6g} s") for one in network["parameters"]]
    print(table([("parameter", "template", "measured"), *given]))
    compared = [(one["name"], str(one["bytes"]), *beside(one)) for one in network["collectives"]]
    print(table([("collective of 4 ranks", "bytes", "predicted", "measured", "error"), *compared]))
    stages = [(str(one["ranks"]), one["stage"], *beside(one)) for one in rows]
    print(table([("ranks", "stage", "predicted", "measured", "error"), *stages]))


if __name__ == "__main__":
    main()
