"""`workbench testbench`: a testbench that replays what passed the design's ports in a run."""

import argparse

from workbench.api.job import Job
from workbench.cli.opened import Opened
from workbench.cli.output import DONE, FAILED, print_json
from workbench.cli.progress import progress
from workbench.session.make.testbench import Difference, run_testbench, write_testbench


def run_testbench_command(arguments: argparse.Namespace, workbench: Opened) -> int:
    """Exit code 1 where the testbench was run, and an output is not as it was."""
    found: Difference | None = None
    ran: bool = arguments.runs
    with progress() as watch:
        job = Job(watch)
        written = write_testbench(
            arguments.run_folder, arguments.out.resolve(), workbench.plugins, job, arguments.project, arguments.fpga
        )
        if ran:
            found = run_testbench(written, job)
    name = f"{written.bench.name}{written.bench.suffix}"
    if arguments.json:
        print_json(
            {
                "folder": str(written.folder),
                "testbench": name,
                "run": ran,
                "difference": None if found is None else {
                    "cycle": found.cycle, "port": found.port, "actual": found.actual, "expected": found.expected,
                    "base": found.base,
                },
            }
        )  # fmt: skip
        return FAILED if found else DONE
    print(f"{written.folder / name}: run.sh beside it compiles and runs it")
    if found is not None:
        print(f"first difference: cycle {found.cycle}: {found.port} is {found.actual}, the run had {found.expected}"
              f" ({found.base})")  # fmt: skip
        return FAILED
    if ran:
        print("all outputs are as they were in the run")
    return DONE
