"""How often predictions of runs with measured host time hold, on a machine that is quiet, busy, or one after the other.

    python tests/benchmarks/host_noise.py [--json] [--quick] [--only TEXT]

Four small applications and one change of each are run several times, with measured host time and a trace, under three
loads: none, programs that run and pause, and one program for each processor that never pauses. Every run of the base
predicts the change, and is held against every run of the changed program: under the same load (`same`) and under the
other two (`other`). An interval is stated to hold in 9 of 10 cases. `alone` is the interval without what host time may
be off by, `first` that of a base without earlier runs, `after` that of a base with three earlier ones of its load.
`width` is the mean of an interval's upper end over its lower one, less 1. `pace` is how far apart the host's own code
is in two runs, in 9 of 10 pairs: what is assumed (`UNKNOWN`) where a project has no runs to show it.

The exit code is 1 where fewer than 9 of 10 come within their interval under the load of the base, all applications
together.
"""

import subprocess
import sys
import tempfile
from collections import defaultdict
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from itertools import combinations
from os import cpu_count
from pathlib import Path
from typing import Any

import numpy as np
from command_line import command, show

sys.path.insert(0, str(Path(__file__).parent))

from bounds import made
from bounds_rows import Program

from workbench.api.job import Job
from workbench.model.changes import read_change
from workbench.model.prediction import Prediction
from workbench.replay.host_noise import own_pieces
from workbench.replay.prepare import prepare
from workbench.session.keep.results import OpenRun, open_result
from workbench.session.make.pipeline import RunOptions, run_workspace
from workbench.session.open.opening import open_workspace
from workbench.session.program.plugins import load_plugins

RUNS, EARLIER, LEVEL = 6, 3, 0.9
#: What keeps the machine busy: sums over an array that no cache holds, all the time or half of it.
WORK = """
import time, random, numpy as np
a = np.zeros(4_000_000)
while True:
    until = time.time() + random.random()
    while time.time() < until:
        a += 1
    time.sleep(random.random() * {pause})
"""
LOADS = {"quiet": None, "in turns": 1.0, "busy": 0.0}


@dataclass(frozen=True)
class Pair:
    """An application, a change of it, and the program that was changed so."""

    application: str
    base: Program
    change: str
    twin: Program


def pairs() -> list[Pair]:
    small = Program("small", "unit", {"ROUNDS": 40, "EFFORT": 600, "CYCLES": 200})
    polls = Program("block", "unit", {"ROUNDS": 40, "EFFORT": 2000, "CYCLES": 3000})
    slow = Program("block", "unit", {"ROUNDS": 20, "EFFORT": 10_000, "CYCLES": 10})
    half = Program("block", "unit", {"ROUNDS": 30, "EFFORT": 4000, "CYCLES": 300})
    host = "host block=host.main state=work factor="
    return [
        Pair("small writes", small, "unite calls=put count=16", replace(small, host="block")),
        Pair("polls", polls, "interrupt calls=poll", replace(polls, host="irq")),
        Pair("a slow host", slow, f"{host}0.3", replace(slow, settings={**slow.settings, "EFFORT": 3000})),
        Pair("host and FPGA in turn", half, f"{host}0.5", replace(half, settings={**half.settings, "EFFORT": 2000})),
    ]


@contextmanager
def load(pause: float | None) -> Iterator[None]:
    """Programs beside the runs, one for each processor."""
    command = [sys.executable, "-c", WORK.format(pause=pause)]
    beside = [subprocess.Popen(command) for _ in range(0 if pause is None else cpu_count() or 1)]
    try:
        yield
    finally:
        for one in beside:
            one.kill()
            one.wait()


def ran(program: Program, folder: Path, runs: int, name: str) -> list[OpenRun]:
    """So many runs of a program, which is built once."""
    plugins = load_plugins()
    project = folder / "app.workbench.yaml"
    if not project.is_file():
        folder.mkdir(parents=True)
        made(program, folder)
    workspace = open_workspace(project, plugins)
    opened = []
    for number in range(runs):
        out = folder / "runs" / f"{name}-{number}"
        run = run_workspace(workspace, RunOptions(out=out, trace=True), Job())
        if not run.complete:
            raise SystemExit(f"{program.host} did not run: {run.manifest.reason}")
        opened.append(open_result(out, plugins))
    return opened


def predicted(opened: OpenRun, change: str, earlier_ps: Sequence[int]) -> dict[str, Prediction]:
    """The change as this run predicts it: without what host time may be off by, as a first run, and after others."""
    changes = [read_change(change)]
    first, after = (prepare(opened.run, opened.platform, None, None, some) for some in ((), earlier_ps))
    return {
        "alone": replace(first, noise=None).predict(changes), "first": first.predict(changes),
        "after": after.predict(changes),
    }  # fmt: skip


def measure(wanted: Sequence[Pair], runs: int, folder: Path) -> list[dict[str, Any]]:
    rows = []
    for pair in wanted:
        both = {}
        for name, pause in LOADS.items():
            with load(pause):
                both[name] = [ran(one, folder / pair.application / one.host / str(one.settings["EFFORT"]), runs, name)
                              for one in (pair.base, pair.twin)]  # fmt: skip
            print(f"{pair.application}, {name}", file=sys.stderr)
        for name, (bases, _) in both.items():
            own_ps = [int(own_pieces(one.run)[0].sum()) for one in bases]
            for number, base in enumerate(bases):
                others = [ps for other, ps in enumerate(own_ps) if other != number][:EARLIER]
                for kind, prediction in predicted(base, pair.change, others).items():
                    assert prediction.interval
                    assert prediction.speedup
                    for load_of, (_, twins) in both.items():
                        for twin in twins:
                            came = base.run.manifest.time_ps / twin.run.manifest.time_ps
                            rows.append({
                                "application": pair.application, "load": name, "came_under": load_of, "interval": kind,
                                "own_ps": own_ps[number], "predicted": prediction.speedup, "came": came,
                                "low": prediction.interval[0], "high": prediction.interval[1],
                                "holds": bool(prediction.holds(came)),
                            })  # fmt: skip
    return rows


def summary(rows: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """By application and interval: the share of changed runs within it, and its width."""
    groups = defaultdict(list)
    for one in rows:
        for application in (one["application"], "all"):
            groups[application, one["interval"]].append(one)
    table = []
    for (application, interval), mine in sorted(groups.items(), key=lambda item: item[0][0] == "all"):
        same, other = ([one["holds"] for one in mine if (one["load"] == one["came_under"]) is alike]
                       for alike in (True, False))  # fmt: skip
        table.append({
            "application": application, "interval": interval, "pairs": len(mine),
            "same_pct": 100 * float(np.mean(same)), "other_pct": 100 * float(np.mean(other)),
            "width_pct": 100 * float(np.mean([one["high"] / one["low"] - 1 for one in mine])),
            "worst_error_pct": 100 * max(abs(one["predicted"] / one["came"] - 1) for one in mine),
        })  # fmt: skip
    apart = []
    for application in {one["application"] for one in rows}:
        own_ps = {one["own_ps"] for one in rows if one["application"] == application}
        apart += [max(a, b) / min(a, b) - 1 for a, b in combinations(own_ps, 2)]
    return {"rows": table, "pace_pct": 100 * float(np.quantile(apart, LEVEL)), "pace_pairs": len(apart)}


def main() -> int:
    parser = command(__doc__, "two runs of the first application only")
    parser.add_argument("--only", default="", metavar="TEXT", help="applications whose name holds this")
    arguments = parser.parse_args()
    wanted = [pair for pair in pairs() if arguments.only in pair.application][: 1 if arguments.quick else None]
    with tempfile.TemporaryDirectory(prefix="host-noise-") as folder:
        found = summary(measure(wanted, 2 if arguments.quick else RUNS, Path(folder)))
    show(found, arguments.json)
    held = [row for row in found["rows"] if row["application"] == "all" and row["interval"] != "alone"]
    return 0 if arguments.quick or all(row["same_pct"] >= 100 * LEVEL for row in held) else 1


if __name__ == "__main__":
    sys.exit(main())
