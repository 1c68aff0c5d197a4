"""The depths that replay advises, held against those that simulations find for each FIFO.

    python tests/benchmarks/fifo_depths.py [--json] [--quick] [DESIGN ...]

`simulations` are those that the advice took, the run as it is built and the one with ample FIFOs among them;
`exhaustive` are the least depths with which simulations lose under 1 % of the throughput, each FIFO's by bisection
while the others stay, in the order of the advice; `off` is how many words the two are apart at most. `points` are runs
with other depths, drawn from all below what each FIFO held, and `exact` in how many of these replay tells the same
cycles, or that it is stuck. `seconds` is what the advice took but for building, `replay_ms` one replay of so many
`words`. `--quick` takes two designs.
"""

from __future__ import annotations

import argparse
import json
import random
import tempfile
import time
from pathlib import Path
from typing import Any

import fifo_designs

from workbench.api.job import Job
from workbench.replay.depths import AMPLE, FAILED
from workbench.replay.words import Words
from workbench.session.opening import open_workspace
from workbench.session.plugins import load_plugins
from workbench.session.stream_depths import Search, built_runs
from workbench.session.workspace import Workspace

APPLICATIONS = fifo_designs.APPLICATION.parent
#: Applications of the tests with FIFOs: here the links that join FPGAs.
OTHERS = ("ring",)
POINTS = 8


def workspace_of(name: str, folder: Path) -> Workspace:
    if name in OTHERS:
        return open_workspace(APPLICATIONS / name, load_plugins())
    return fifo_designs.written(folder, name)


def measured(name: str) -> dict[str, Any]:
    with tempfile.TemporaryDirectory() as project, tempfile.TemporaryDirectory() as out:
        workspace = workspace_of(name, Path(project))
        runs = built_runs(workspace, workspace.settings({}), Path(out), Job())
        began = time.monotonic()
        built, ample = runs.run({}), runs.run(dict.fromkeys(runs.varied, AMPLE))
        search = Search(runs, ample)
        found = search.by_replay(built)
        by_replay = found is not None
        found = found or search.by_simulation()
        runs.run(found.advised)
        seconds, simulations = time.monotonic() - began, len(runs.known)
        exhaustive = search.by_simulation().advised
        row = {
            "design": name, "fifos": len(runs.varied), "simulations": simulations, "advised": dict(found.advised),
            "exhaustive": dict(exhaustive), "seconds": seconds, "by_replay": by_replay,
            "off": max(abs(found.advised[one] - words) for one, words in exhaustive.items()),
            "front": len(found.front), "unsure": [one.message for one in found.diagnostics],
        }  # fmt: skip
        assert ample.traffic is not None
        words = Words(ample.traffic, {n: 0 for one in runs.varied for n in runs.numbers(one)},
                      [built.traffic] if built.traffic else [])  # fmt: skip
        began = time.perf_counter()
        words.replay({})
        row["replay_ms"] = 1e3 * (time.perf_counter() - began)
        row["words"] = sum(map(len, ample.traffic.cycles))
        cycles_of, draw, exact = search.replays(words), random.Random(name), 0
        points = [{one: draw.randint(1, most + 1) for one, most in search.held.items()} for _ in range(POINTS)]
        for depths in points:
            cycles = runs.run(depths).cycles
            exact += cycles_of(depths) == (FAILED if cycles is None else cycles)
        return {**row, "points": len(points), "exact": exact}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("designs", nargs="*", metavar="DESIGN")
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--quick", action="store_true")
    arguments = parser.parse_args()
    every = [*fifo_designs.DESIGNS, *OTHERS]
    rows = []
    for name in arguments.designs or (every[:2] if arguments.quick else every):
        rows.append(measured(name))
        if not arguments.json:
            print("  ".join(f"{key} {value}" for key, value in rows[-1].items()), flush=True)
    if arguments.json:
        print(json.dumps({"rows": rows}))


if __name__ == "__main__":
    main()
