"""The depths that replay advises, held against those that simulations find for each FIFO or edge.

    python tests/benchmarks/fifo_depths.py [--json] [--quick] [DESIGN ...]

`simulations` are those that the advice took, the run as it is built and the one with ample FIFOs among them;
`exhaustive` are the least depths with which simulations lose under 1 % of the throughput, each FIFO's by bisection
while the others stay, in the order of the advice; `off` is how many words the two are apart at most. `points` are runs
with other depths, drawn from all below what each FIFO held, and `exact` in how many of these replay tells the same
cycles, or that it is stuck. `seconds` is what the advice took but for building, `replay_ms` one replay of so many
`words`. `--quick` takes two designs.

`edges` are streaming applications (EDGES), each traced once: `advised` is what that run's front chooses, `kept` whether
a simulation with it stays within 1 % of the throughput, `least` whether with one element less of any edge none does
(`off` is 0 then), `replay_off` by how much replay of the unchanged run differs, and `error_pct` by how much the time
of runs with other depths, drawn from all below what each edge held, differs from the predicted one, each.
"""

import json
import random
import tempfile
import time
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import fifo_designs
import numpy as np
from command_line import command
from streaming_apps import Deployment

from workbench.api.job import Job
from workbench.model.run import Run
from workbench.replay.depths import AMPLE, FAILED
from workbench.replay.fronts import depth_front, replay_of
from workbench.replay.words import WordReplay
from workbench.session.change.run_depths import queues_of
from workbench.session.change.stream_depths import Search, built_runs
from workbench.session.make.pipeline import RunOptions, run_workspace
from workbench.session.open.opening import open_workspace
from workbench.session.open.workspace import Workspace
from workbench.session.program.plugins import load_plugins

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
        words = WordReplay(ample.traffic, {n: 0 for one in runs.varied for n in runs.numbers(one)},
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


@dataclass(frozen=True)
class Edges:
    """A streaming application of the examples: its X file with changes, and lines of its `streaming` section."""

    example: str
    top: str
    on_fpga: tuple[str, ...] = ()
    lines: str = ""
    changes: tuple[tuple[str, str], ...] = ()
    cores: int = 8


_SHORT = (("count = 4000", "count = 600"),)
EDGES = {
    "search": Edges("blastn", "Silence", changes=(("bases = 6000", "bases = 3000"),)),
    "search, 2 cores": Edges("blastn", "Silence", changes=(("bases = 6000", "bases = 3000"),), cores=2),
    "walks": Edges("laplace", "Two", changes=(("grid = 16", "grid = 6"),), cores=12),
    "queue into": Edges("queues", "MM1In", ("w",), "  bulk_elements: 32\n", _SHORT),
    "queue out": Edges("queues", "MM1Out", ("w",), "  bulk_elements: 32\n", _SHORT),
    "search, FPGA": Edges("blastn", "Silence", ("stage1a", "stage1b"), "  bulk_elements: 32\n",
                          (("bases = 6000", "bases = 3000"),)),
}  # fmt: skip
EDGE_POINTS = 4


def edge_run(name: str, folder: Path, depths: Mapping[str, int]) -> Run:
    """A traced, deterministic run of an application with these depths."""
    application = EDGES[name]
    made = Deployment(application.example, application.top, application.on_fpga, application.cores, application.lines,
                      changes=application.changes)  # fmt: skip
    plugins = load_plugins()
    if not (folder / "tried.workbench.yaml").is_file():
        made.project(folder)
    workspace = open_workspace(folder / "tried.workbench.yaml", plugins, edge_depths=depths)
    with tempfile.TemporaryDirectory() as out:
        options = RunOptions(out=Path(out) / "run", trace=True, deterministic=True, settles=False)
        run = run_workspace(workspace, options, Job())
        return replace(run, tables={n: {c: np.array(v) for c, v in t.items()} for n, t in run.tables.items()})


def edge_time_ps(run: Run) -> int:
    queues = queues_of(run, load_plugins())
    assert queues is not None
    return max(int(edge.pop_ps.max(initial=0)) for edge in queues.edges)


def measured_edges(name: str) -> dict[str, Any]:
    with tempfile.TemporaryDirectory() as folder:
        plugins, path = load_plugins(), Path(folder)
        run = edge_run(name, path, {})
        platform = open_workspace(path / "tried.workbench.yaml", plugins).platform
        began = time.monotonic()
        replay = replay_of(run, queues_of(run, plugins), platform)
        front = depth_front(replay)
        seconds = time.monotonic() - began
        choice = front.choice
        assert choice is not None
        times: dict[tuple[tuple[str, int], ...], int] = {}

        def simulated(depths: Mapping[str, int]) -> int:
            key = tuple(sorted(depths.items()))
            if key not in times:
                again = edge_run(name, path, depths)
                times[key] = edge_time_ps(again) if again.complete else FAILED
            return times[key]

        limit = simulated({one.id: 1 << 14 for one in front.queues}) / (1 - front.loss)
        kept = simulated(choice.depths) <= limit
        more = [one for one, words in choice.depths.items()
                if words > 1 and simulated({**choice.depths, one: words - 1}) <= limit]  # fmt: skip
        draw, errors = random.Random(name), []
        for _ in range(EDGE_POINTS):
            depths = {one.id: draw.randint(1, one.most + 1) for one in front.queues}
            told, came = replay.time_ps(depths), simulated(depths)
            same = told is None and came == FAILED
            errors.append(0.0 if same else 100.0 if told is None or came == FAILED else 100 * abs(told / came - 1))
        assert front.replayed_ps is not None
        return {
            "application": name, "edges": len(front.queues), "advised": dict(choice.depths),
            "predicted_ps": choice.time_ps, "came_ps": simulated(choice.depths), "kept": kept,
            "not_least": more, "off": 0 if kept and not more else None,
            "replay_off": front.replayed_ps / front.run_ps - 1, "error_pct": [round(one, 4) for one in errors],
            "front": len(front.points), "seconds": seconds, "simulations": len(times) + 1,
        }  # fmt: skip


def main() -> None:
    parser = command(__doc__)
    parser.add_argument("designs", nargs="*", metavar="DESIGN")
    arguments = parser.parse_args()
    every = [*fifo_designs.DESIGNS, *OTHERS]
    rows = []
    for name in (
        [one for one in arguments.designs if one not in EDGES]
        if arguments.designs
        else (every[:2] if arguments.quick else every)
    ):
        rows.append(measured(name))
        if not arguments.json:
            print("  ".join(f"{key} {value}" for key, value in rows[-1].items()), flush=True)
    edges = []
    for name in [one for one in EDGES if one in arguments.designs] if arguments.designs else list(EDGES):
        if arguments.quick and edges:
            break
        edges.append(measured_edges(name))
        if not arguments.json:
            print("  ".join(f"{key} {value}" for key, value in edges[-1].items()), flush=True)
    if arguments.json:
        print(json.dumps({"rows": rows, "edges": edges}))


if __name__ == "__main__":
    main()
