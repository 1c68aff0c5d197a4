"""`workbench study` with runs that are made up: what a test starts as a program of its own, and ends.

    python tests/study_points.py FILE.study.yaml [--point KEY]

A point takes no time, but for CORES 4, which goes on until there is a file `go` beside the study.
"""

import sys
import time
from dataclasses import replace
from pathlib import Path

from workbench.api.job import Job
from workbench.api.studies import Point
from workbench.formats.run_folder import RunWriter
from workbench.model.diagnostic import Diagnostic, WorkbenchError
from workbench.model.run import Run
from workbench.session.make import study
from workbench.session.make.pipeline import RunOptions
from workbench.session.open.workspace import Workspace
from workbench.testing.runs import synthetic_run


def made_up_run(workspace: Workspace, options: RunOptions, job: Job) -> Run:
    """A run whose time follows from its settings; CORES 3 cannot be built."""
    settings = workspace.settings(options.settings)
    if settings["CORES"] == 3:
        raise WorkbenchError(Diagnostic("3 cores do not fit", "Use fewer.", file="top.v", line=7))
    assert options.out is not None
    run = synthetic_run(cores=1, rounds=1)
    manifest = replace(
        run.manifest, settings=settings, traced=options.trace, time_ps=run.manifest.time_ps // int(settings["CORES"]),
        project=str(workspace.path), platform=workspace.platform.name,
    )  # fmt: skip
    tables = {} if settings["CORES"] != 1 else run.tables
    return RunWriter(options.out, manifest).finish(manifest, tables)


def held_run(workspace: Workspace, options: RunOptions, job: Job) -> Run:
    """The same, where CORES 4 waits for a file, in a child that a cancel has to end."""
    if workspace.settings(options.settings)["CORES"] == 4:
        assert options.out is not None
        go, deadline_s = options.out.parents[2] / "go", time.monotonic() + 60
        (go.with_name("held")).touch()
        while not go.exists() and time.monotonic() < deadline_s:
            job.run(["sleep", "0.1"])
    return made_up_run(workspace, options, job)


def command(self: study.Study, point: Point) -> list[str]:
    return [sys.executable, __file__, str(self.path), "--point", point.key]


def main() -> int:
    from workbench.cli.main import main

    study.run_workspace = held_run  # type: ignore[attr-defined]
    study.Study.command = command  # type: ignore[method-assign]
    return main(["study", *sys.argv[1:]])


if __name__ == "__main__":
    sys.path.insert(0, str(Path(__file__).parent))
    raise SystemExit(main())
