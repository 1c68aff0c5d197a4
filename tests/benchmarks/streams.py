"""What a project's streams do, and the depths that its FIFOs need: found and confirmed by simulation.

    python tests/benchmarks/streams.py DIR [--json] [--quick]

DIR holds a project file. `--quick` counts one run and tries no depths.
"""

import tempfile
import time
from pathlib import Path
from typing import Any

from command_line import command, show

from workbench.api.job import Job
from workbench.cli.streams import depth_rows
from workbench.session.change.stream_depths import advise_depths
from workbench.session.keep.results import open_result
from workbench.session.make.pipeline import RunOptions, run_workspace
from workbench.session.open.opening import open_workspace
from workbench.session.program.plugins import load_plugins


def main() -> None:
    parser = command(__doc__)
    parser.add_argument("folder", type=Path)
    arguments = parser.parse_args()
    began = time.process_time()
    told = _counted(arguments.folder) if arguments.quick else _tried(arguments.folder)
    told["cpu_s"] = time.process_time() - began
    show(told, arguments.json)


def _tried(folder: Path) -> dict[str, Any]:
    workspace = open_workspace(folder, load_plugins())
    found = advise_depths(workspace, {}, Job())
    return {"rows": depth_rows(found), "runs": found.runs}


def _counted(folder: Path) -> dict[str, Any]:
    plugins = load_plugins()
    with tempfile.TemporaryDirectory() as out:
        run = run_workspace(open_workspace(folder, plugins), RunOptions(Path(out) / "run", deterministic=True), Job())
        assert run.path is not None
        analysis = open_result(run.path, plugins).analysis
    most = {fifo.input.stream.id: fifo.most for fifo in analysis.fifos}
    rows = [
        {
            "edge": one.stream.id, "transfers": one.transfers, "stalls_source": one.source_stalls,
            "stalls_sink": one.sink_stalls, "occupancy_max": most.get(one.stream.id), "advised_depth": None,
            "throughput_before": one.transfers / one.cycles, "throughput_after": None,
        }
        for one in analysis.streams
    ]  # fmt: skip
    return {"rows": rows, "runs": 1}


if __name__ == "__main__":
    main()
