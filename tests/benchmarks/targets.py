"""Whether a board counts what the simulated card counts.

    python tests/benchmarks/targets.py [--json] [--quick]

The bundled example (its original form, which asks each core once) runs on the simulated card, and on a board that
stands in for a real one: the vendor's API as a shared library over the design (`tests/data/board`), which knows nothing
of the workbench. It gets there twice: instrumented into a tree, built with plain `make`, run and collected by hand
(`tree`); and by the commands that the project names (`machine`). A row's keys say whether every block's states were
entered as often as on the simulated card, changed into one another as often, and whether every call was made as often
and moved as much. Times are not compared: a board has its own.
"""

import json
import os
import shutil
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path

from command_line import command, show

from workbench.api.job import Job
from workbench.model.run import Run
from workbench.session.keep.collecting import collect_records
from workbench.session.make.pipeline import RunOptions, instrument_workspace, run_workspace
from workbench.session.open.opening import open_workspace
from workbench.session.open.workspace import Value
from workbench.session.program.plugins import Plugins, load_plugins
from workbench.system.toolchain import find_verilator

BOARD = Path(__file__).parents[1] / "data" / "board"
EXAMPLE = Path(str(files("workbench.resources"))) / "examples" / "pdf2d"


@dataclass(frozen=True)
class Row:
    target: str
    states_equal: bool
    transitions_equal: bool
    calls_equal: bool


def make_environment() -> dict[str, str]:
    """What the board's Makefile asks for: which Verilator."""
    verilator = find_verilator()
    return {**os.environ, "VERILATOR": str(verilator.path), "VERILATOR_ROOT": str(verilator.root)}


def on_the_board(project: Path, settings: dict[str, Value], folder: Path, plugins: Plugins) -> Run:
    """The run that a user makes by hand: instrument, make, run, collect."""
    folder.mkdir()
    tree = folder / "tree"
    instrument_workspace(open_workspace(project, plugins), settings, tree)
    build, records = folder / "build", folder / "records"
    build.mkdir()
    records.mkdir()
    environment = make_environment()
    made = ["make", "-f", BOARD / "Makefile", f"TREE={tree}"]
    subprocess.run(made, cwd=build, env=environment, check=True, stdout=subprocess.DEVNULL)
    subprocess.run(
        [build / "host"], env={**environment, "RCW_RAW": str(records)}, check=True, stdout=subprocess.DEVNULL
    )
    return collect_records(tree, records, folder / "run", plugins)


def row(target: str, board: Run, simulated: Run) -> Row:
    return Row(
        target,
        visits(board) == visits(simulated),
        moves(board) == moves(simulated),
        calls(board) == calls(simulated),
    )


def visits(run: Run) -> dict[tuple[str, str], int]:
    """(block, state) -> how often it was entered."""
    table, blocks = run.tables["state_time"], run.manifest.blocks
    rows = zip(table["block"], table["state"], table["visits"], strict=True)
    return {(blocks[b].id, blocks[b].states[s].name): int(n) for b, s, n in rows}


def moves(run: Run) -> dict[tuple[str, str, str], int]:
    """(block, from, to) -> how often."""
    table, blocks = run.tables["transitions"], run.manifest.blocks
    rows = zip(table["block"], table["from_state"], table["to_state"], table["count"], strict=True)
    return {(blocks[b].id, blocks[b].states[x].name, blocks[b].states[y].name): int(n) for b, x, y, n in rows}


def calls(run: Run) -> dict[tuple[str, int, str, str], tuple[int, int]]:
    """(file, line, callee, state) -> (calls, bytes)."""
    table, told = run.tables["call_stats"], run.manifest
    rows = zip(table["site"], table["block"], table["state"], table["count"], table["bytes"], strict=True)
    found = {}
    for site, block, state, count, size in rows:
        at = told.sites[site]
        found[at.file, at.line, at.callee, told.blocks[block].states[state].name] = (int(count), int(size))
    return found


def by_the_projects_commands(project: Path, settings: dict[str, Value], folder: Path, plugins: Plugins) -> Run:
    """The run that Run makes where the project says how to get to the board."""
    build = folder / "build"
    build.mkdir(parents=True)
    commands = {
        "name": "machine",
        "build": f"make -C {build} -f {BOARD}/Makefile TREE=$RECAP_TREE",
        "run": f"{build}/host",
    }
    project = project.with_name("machine.workbench.yaml")
    project.write_text(project.with_name("original.workbench.yaml").read_text() + f"\ntarget: {json.dumps(commands)}\n")
    os.environ |= make_environment()
    return run_workspace(open_workspace(project, plugins), RunOptions(out=folder / "run", settings=settings), Job())


def measure(folder: Path, quick: bool) -> list[Row]:
    plugins = load_plugins()
    project = shutil.copytree(EXAMPLE, folder / "pdf2d") / "original.workbench.yaml"
    settings: dict[str, Value] = {"CORES": 8, "POINTS": 8192} if quick else {}
    options = RunOptions(out=folder / "simulated", deterministic=True, settings=settings)
    simulated = run_workspace(open_workspace(project, plugins), options, Job())
    return [
        row("tree", on_the_board(project, settings, folder / "tree", plugins), simulated),
        row("machine", by_the_projects_commands(project, settings, folder / "machine", plugins), simulated),
    ]


def main() -> int:
    arguments = command(__doc__, "8,192 points on 8 cores instead of 163,840 on 20").parse_args()
    with tempfile.TemporaryDirectory(prefix="targets") as folder:
        rows = measure(Path(folder), arguments.quick)
    show({"rows": [vars(row) for row in rows]}, arguments.json)
    return 0


if __name__ == "__main__":
    sys.exit(main())
