"""`workbench template bench` and `fit`: transfer tables measured, and a latency and a bandwidth fitted to them."""

import argparse
from collections.abc import Mapping
from dataclasses import asdict

from workbench.analysis.transfer_fit import TransferFit, fit_transfers, residual_text
from workbench.api.job import Job
from workbench.cli.asking import ask_trust
from workbench.cli.opened import Opened
from workbench.cli.output import DONE, print_diagnostics, print_json
from workbench.cli.progress import progress
from workbench.formats.platform_file import load_platform
from workbench.formats.units import UnitError, quantity
from workbench.model.diagnostic import Diagnostic, WorkbenchError
from workbench.model.platform import TransferTable
from workbench.model.text import bytes_text, rate_text, table, time_text, trimmed
from workbench.session.begin.new_template import template_path
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
            print(f"{name}: unchanged, {why}")
    return DONE


def run_fit(arguments: argparse.Namespace, workbench: Opened) -> int:
    """Latency and bandwidth of each table. In the JSON document `fit` is null where a table has none."""
    template = template_path(str(arguments.file), workbench.plugins)
    platform, problems = load_platform(template, workbench.plugins.port_kinds)
    if platform is None:
        raise WorkbenchError(*problems)
    print_diagnostics(problems)
    fits = {name: (one, fit_transfers([p.bytes for p in one.points], [p.time_s for p in one.points],
                                      [p.source for p in one.points]))
            for name, one in platform.transfer_tables.items()}  # fmt: skip
    if arguments.json:
        print_json({"file": str(arguments.file), "tables": {name: _fit_json(*of) for name, of in fits.items()}})
        return DONE
    for name, (one, fit) in fits.items():
        print(f"{name}: {fit.words if fit else 'no fit: this needs two sizes whose times grow'}")
        if fit:
            rows = zip(one.points, fit.residuals, fit.used, strict=True)
            print(table((f"  {bytes_text(point.bytes)}", trimmed(time_text(point.time_s, 6)), residual_text(off),
                         "" if used else "not fitted") for point, off, used in rows))  # fmt: skip
    return DONE


def _fit_json(one: TransferTable, fit: TransferFit | None) -> dict[str, object]:
    if fit is None:
        return {"fit": None}
    points = zip(one.points, fit.residuals, fit.used, strict=True)
    return {
        "fit": {"latency_s": fit.latency_s, "rate_bytes_per_s": fit.rate_bytes_per_s, "half_bytes": fit.half_bytes},
        "worst": fit.worst,
        "points": [{"bytes": p.bytes, "time_s": p.time_s, "residual": off, "used": used} for p, off, used in points],
    }


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
