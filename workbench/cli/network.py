"""`workbench template network`: a network between MPI ranks measured."""

import argparse
import tempfile
from dataclasses import asdict
from datetime import date
from pathlib import Path

from workbench.api.job import Job
from workbench.cli.opened import Opened
from workbench.cli.output import DONE, print_diagnostics, print_json
from workbench.cli.progress import progress
from workbench.formats.platform_file import load_platform
from workbench.model.diagnostic import Diagnostic, Severity, WorkbenchError
from workbench.model.platform import Platform
from workbench.model.text import bytes_text, listed, percent_text, table, time_text
from workbench.session.bench.bench_project import bench_run
from workbench.session.bench.network import (
    NetworkTimes,
    measure_by_mpirun,
    measured_network,
    network_project,
    with_network,
)
from workbench.session.open.opening import open_workspace
from workbench.session.program.files import write_atomically, write_result_text
from workbench.system.files import real


def run_network(arguments: argparse.Namespace, workbench: Opened) -> int:
    """The JSON document has the LogGP parameters in seconds, how far off they are, and what collectives took."""
    platform, problems = load_platform(arguments.file, workbench.plugins.port_kinds)
    if platform is None:
        raise WorkbenchError(*problems)
    print_diagnostics(problems)
    with tempfile.TemporaryDirectory(prefix="rcw-network-") as scratch:
        folder = arguments.keep or Path(scratch)
        if arguments.mpirun:
            with progress() as watch:
                said = measure_by_mpirun(arguments.mpirun, arguments.mpicc, folder, arguments.repeats, Job(watch))
            how = f"{date.today().isoformat()}, {arguments.mpirun}"
        else:
            said, how = _simulated(arguments, platform, folder, workbench), "simulated card"
    times = measured_network(said)
    if times.lost:
        hint = "Run it again on an idle machine, with more --repeats."
        message = f"measured below 0 because of noise, taken as 0: {listed(times.lost, 5)}"
        print_diagnostics([Diagnostic(message, hint, Severity.WARNING)])
    if arguments.out:
        how = f"measured: {how}; off by {percent_text(times.fit_error)} at most"
        text = with_network(arguments.file.read_text("utf-8-sig"), platform, arguments.name, times, how)
        write_result_text(arguments.out, text)
    if arguments.json:
        file = str(arguments.out) if arguments.out else None
        print_json({"file": file, "name": arguments.name, **asdict(times), "fit_error": times.fit_error})
    else:
        print(table(_network_rows(times)))
        print(f"By these parameters messages between two ranks are off by {percent_text(times.fit_error)} at most.")
    return DONE


def _simulated(arguments: argparse.Namespace, platform: Platform, folder: Path, workbench: Opened) -> str:
    template = real(arguments.file)
    texts = network_project(template, platform, arguments.name, arguments.ranks, arguments.repeats)
    for name, text in texts.items():
        write_atomically(folder / name, text)
    workspace = open_workspace(folder / next(iter(texts)), workbench.plugins)
    with progress() as watch:
        run = bench_run(workspace, Job(watch))
    return ((run.path or folder) / "stdout.txt").read_text("utf-8")


def _network_rows(times: NetworkTimes) -> list[tuple[str, ...]]:
    rows: list[tuple[str, ...]] = [
        ("L", "latency", time_text(times.latency_s)),
        ("o", "overhead", time_text(times.overhead_s)),
        ("g", "gap between short messages", time_text(times.gap_s)),
        ("G", "gap per byte", f"{times.gap_per_byte_s * 1e9:.4g} ns"),
        ("gamma", "adding up, per byte", f"{times.reduction_per_byte_s * 1e9:.4g} ns"),
    ]
    rows += [
        ("message", bytes_text(size), f"{time_text(s)}, by the parameters {time_text(by_parameters)}")
        for size, s, by_parameters in times.messages
    ]
    return rows + [
        (name, f"{times.ranks} ranks, {bytes_text(size)}", time_text(s)) for name, size, s in times.collectives
    ]
