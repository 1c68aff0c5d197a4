"""GHDL's own simulator beside the card, and Verilator on what GHDL makes of the same VHDL: the same run to the cycle?

python tests/benchmarks/ghdl_card.py [--json] [--quick] [--cores 2] [--points 1024] [--more 64]

Three designs: the 2-D PDF; sums on two clocks behind AXI4-Lite; sums on two cards. Every table is compared but those of
streams, which are not counted in GHDL. How fast both are is told of the first, by the processor time of host and card;
for Verilator of a run with so many times the points, as it would be over before it can be timed.
"""

import json
import re
import resource
import shutil
from collections.abc import Mapping
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
from command_line import command

from workbench.api.job import Job
from workbench.session.keep.results import OpenRun, open_result
from workbench.session.make.pipeline import RunOptions, run_workspace
from workbench.session.open.examples import EXAMPLES, copy_example
from workbench.session.open.opening import open_workspace
from workbench.session.program.plugins import Plugins, load_plugins

HERE = Path(__file__).parent
APPLICATIONS = HERE.parent / "data" / "applications"
SIMULATORS = ("verilator", "ghdl")


def application(folder: Path, name: str, source: str) -> Path:
    """One of the tests' in VHDL."""
    shutil.copytree(APPLICATIONS / name, folder / name)
    shutil.copy(HERE / "ghdl_card" / f"{source}.vhd", folder / name)
    project = folder / name / f"{name}.workbench.yaml"
    text = re.sub(r"sources: \[\S*\.v'?\]", f"sources: [{source}.vhd]", project.read_text())
    project.write_text(text + "simulation:\n  cycle_limit: 100000000\n")
    return project


def processor_s() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def ran(project: Path, simulator: str, settings: Mapping[str, int], plugins: Plugins) -> tuple[OpenRun, float]:
    """The run, and the processor time of its host and card (s)."""
    text = re.sub(r"\n  simulator: \w+", "", project.read_text())
    project.write_text(text.replace("simulation:\n", f"simulation:\n  simulator: {simulator}\n"))
    marks: list[float] = []
    job = Job(lambda event: marks.append(processor_s()) if event.text == "Run" and event.kind[:4] == "step" else None)
    options = RunOptions(out=project.parent / "runs" / simulator, deterministic=True, settings=settings)
    run_workspace(open_workspace(project, plugins), options, job)
    return open_result(options.out or project, plugins), marks[1] - marks[0]


def differences(one: OpenRun, other: OpenRun) -> list[str]:
    """The tables that differ, and what else does."""
    tables = [{name: dict(columns) for name, columns in run.run.tables.items()} for run in (one, other)]
    for of_run in tables:
        for name in ("streams", "stream_waits", "occupancy"):
            of_run.pop(name, None)
    found = sorted(tables[0].keys() ^ tables[1].keys())
    for name in tables[0].keys() & tables[1].keys():
        try:
            np.testing.assert_equal(tables[1][name], tables[0][name])
        except AssertionError:
            found.append(name)
    manifests = [run.run.manifest for run in (one, other)]
    told = (("output", "stdout_sha256"), ("cycles", "cycles"), ("time", "time_ps"))
    return found + [word for word, name in told if getattr(manifests[0], name) != getattr(manifests[1], name)]


def main() -> int:
    parser = command(__doc__, "the sums on two clocks only")
    parser.add_argument("--cores", type=int, default=2)
    parser.add_argument("--points", type=int, default=1024)
    parser.add_argument("--more", type=int, default=64)
    asked = parser.parse_args()
    plugins, rows = load_plugins(), list[dict[str, object]]()
    settings = {"CORES": asked.cores, "POINTS": asked.points}
    with TemporaryDirectory() as scratch:
        folder = Path(scratch)
        pdf2d = copy_example(EXAMPLES[0], folder).with_name("vhdl.workbench.yaml")
        designs = {
            f"2-D PDF, {asked.cores} cores": (pdf2d, settings),
            "sums, two clocks, AXI4-Lite": (application(folder, "two_clocks", "two_clocks"), {}),
            "sums, two cards": (application(folder, "two_cards", "summer"), {}),
        }
        for name, (project, chosen) in list(designs.items())[1:2] if asked.quick else designs.items():
            runs = {simulator: ran(project, simulator, chosen, plugins) for simulator in SIMULATORS}
            (fast, _), (slow, slow_s) = (runs[simulator] for simulator in SIMULATORS)
            differing = differences(fast, slow)
            cycles = slow.run.manifest.cycles
            rows.append({"design": name, "cycles": cycles, "differing": differing})
            if project == pdf2d:
                shutil.rmtree(project.parent / "runs")
                long, long_s = ran(project, "verilator", {**chosen, "POINTS": asked.more * asked.points}, plugins)
                rows[-1]["cycles_per_s"] = [long.run.manifest.cycles / long_s, cycles / slow_s]
            if not asked.json:
                show(rows[-1])
    if asked.json:
        print(json.dumps({"rows": rows}))
    return int(any(row["differing"] for row in rows))


def show(row: dict[str, Any]) -> None:
    differing = ", ".join(row["differing"])
    print(f"{row['design']:28} {row['cycles']:9,} cycles  {'DIFFERS: ' + differing if differing else 'equal'}")
    if "cycles_per_s" in row:
        fast, slow = row["cycles_per_s"]
        print(f"    Verilator {fast:,.0f} cycles/s, GHDL {slow:,.0f}: {fast / slow:.0f} times as long")


if __name__ == "__main__":
    raise SystemExit(main())
