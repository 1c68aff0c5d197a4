"""`workbench template bench`: transfer tables measured with the template's own calls."""

import argparse
from collections.abc import Mapping
from dataclasses import asdict

from workbench.api.job import Job
from workbench.cli.asking import ask_trust
from workbench.cli.opened import Opened
from workbench.cli.output import DONE, print_diagnostics, print_json
from workbench.cli.progress import progress
from workbench.formats.platform_file import load_platform
from workbench.formats.units import UnitError, quantity
from workbench.model.diagnostic import Diagnostic, WorkbenchError
from workbench.model.text import bytes_text, rate_text, table, time_text
from workbench.session.bench.bench import EntryTimes, SizeTime, how_taken, measured, with_tables
from workbench.session.bench.bench_project import bench_run, bench_workspace
from workbench.session.keep.results import open_recorded
from workbench.session.program.files import write_result_text


def run_bench(arguments: argparse.Namespace, workbench: Opened) -> int:
    """The JSON document's `tables` are what was measured; `left_out` are tables that no call represents, and why."""
    plugins = workbench.plugins
    platform, problems = load_platform(arguments.file, plugins.port_kinds)
    if platform is None:
        raise WorkbenchError(*problems)
    print_diagnostics(problems)
    left_out: Mapping[str, str] = {}
    if arguments.run_folder:
        run, _, problems = open_recorded(arguments.run_folder, plugins)
        print_diagnostics(problems)
    else:
        largest = _size(arguments.largest) if arguments.largest else None
        workspace, left_out = bench_workspace(
            arguments.file, platform, plugins, arguments.keep, arguments.repeats, largest
        )
        ask_trust(workspace)
        with progress() as watch:
            run = bench_run(workspace, Job(watch))
    times = measured(run, platform)
    text = with_tables(arguments.file.read_text("utf-8-sig"), platform, times, how_taken(run))
    write_result_text(arguments.out, text)
    if arguments.json:
        tables = [asdict(one) | {"overlaps": one.overlaps} for one in times]
        print_json({"file": str(arguments.out), "tables": tables, "left_out": left_out})
    else:
        print(table(row for one in times for row in _rows(one)))
        for name, why in left_out.items():
            print(f"{name}: as it was, {why}")
    return DONE


def _size(text: str) -> int:
    try:
        return int(quantity(text, "B"))
    except UnitError as error:
        raise WorkbenchError(Diagnostic(f"--largest {text}: {error}", 'Write a size, as in "64 KiB".')) from None


def _rows(one: EntryTimes) -> list[tuple[str, ...]]:
    return [_row(one.table, point) for point in (*one.points, *one.at_once)]


def _row(name: str, point: SizeTime) -> tuple[str, ...]:
    how = f"{point.together} at once, each" if point.together > 1 else "one at a time"
    spread = f"{time_text(point.low_s)} to {time_text(point.high_s)}"
    return (name, bytes_text(point.bytes), how, time_text(point.time_s), spread, rate_text(point.bytes / point.time_s))
