"""How long a run's records take to become its tables, and its folder to open with all findings, by number of calls.

    python tests/benchmarks/collect.py [--json] [--quick]

The calls are of two host threads, in rounds of five sites with polls of random number, each with one transfer, left in
pieces as the recording runtime leaves them. `collect_s` is from the records to the closed run folder, `open_s` from the
folder to its findings, each in a process of its own; `collect_cpu_s` and `open_cpu_s` are the processor's time of it,
for busy machines. `bytes` is the folder's size, `peak_bytes` the most memory that either process held.
"""

import argparse
import json
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
from command_line import command, show

from workbench.analysis import analyse
from workbench.api import HdlBuild, HostBuild
from workbench.api.records import CALLS, PIECE_RECORDS, TRANSFERS, write_formats
from workbench.api.targets import Outcome
from workbench.formats.run_folder import RunWriter, open_run
from workbench.run.collect import Built, collect
from workbench.session.keep.results import open_knowledge
from workbench.session.program.plugins import load_plugins
from workbench.testing.runs import synthetic_platform, synthetic_run

STEP_PS = 2_000_000  # from a call to the next
SIZES = (100_000, 1_000_000, 10_000_000)
RAW = "raw"
ROUND = ("clearBins", "writeSamples", "startCore", "readDone", "readBins")


def leave_records(folder: Path, count: int) -> None:
    """Write calls and transfers as a host leaves them."""
    rng = np.random.default_rng(1)
    sites = synthetic_run(cores=1, rounds=1).manifest.sites
    label = {site.label: number for number, site in enumerate(sites)}
    lengths = np.full((count // 80 + 1, 5), 20)
    lengths[:, 3] = rng.integers(1, 60, len(lengths))
    site = np.repeat(np.tile([label[name] for name in ROUND], len(lengths)), lengths.reshape(-1))[:count]
    calls, transfers = np.zeros(count, CALLS), np.zeros(count, TRANSFERS)
    entry = {"fpgaWrite": 0, "fpgaRead": 1, "fpgaReadReg": 2}
    calls["site"], calls["state"], calls["entry"] = site, site + 2, np.array([entry[s.callee] for s in sites])[site]
    calls["bytes"], calls["address"] = 4 << rng.integers(0, 8, count), site * 64
    calls["t0_ps"] = np.arange(count) * STEP_PS + rng.integers(0, STEP_PS // 4, count)
    calls["t1_ps"] = calls["t0_ps"] + STEP_PS // 2 + rng.integers(0, STEP_PS // 4, count)
    calls["thread"], calls["transfers"] = np.arange(count) % 10 == 9, 1
    transfers["number"], transfers["thread"] = np.arange(count), calls["thread"]
    transfers["grant_ps"], transfers["end_ps"] = calls["t0_ps"], calls["t1_ps"]
    transfers["port_first_ps"], transfers["port_last_ps"] = calls["t0_ps"] + 1000, calls["t1_ps"] - 1000
    raw = folder / RAW
    raw.mkdir(parents=True)
    write_formats(raw)
    transfers.tofile(raw / "transfers.bin")
    threads = []
    for thread in (0, 1):
        mine = np.flatnonzero(calls["thread"] == thread)
        calls["first_transfer"][mine] = np.arange(len(mine))
        calls["piece"][mine] = np.arange(len(mine)) // PIECE_RECORDS + 1
        threads.append(calls[mine])
    with (raw / "host_calls.bin").open("wb") as stream:
        for piece in range(0, count, PIECE_RECORDS):
            for records in threads:
                if len(left := records[piece : piece + PIECE_RECORDS]):
                    room = np.zeros(PIECE_RECORDS, CALLS)
                    room[: len(left)] = left
                    stream.write(room.tobytes())


def make_tables(folder: Path, count: int) -> None:
    """From records to a run folder."""
    writer = RunWriter(folder / "run")
    manifest = synthetic_run(cores=1, rounds=1).manifest
    manifest = replace(manifest, time_ps=(count + 1) * STEP_PS)
    host = HostBuild((), blocks=manifest.blocks[:1], sites=manifest.sites, entries=manifest.entries)
    outcome = Outcome(0, "", "", manifest.time_ps, 0, (), None, ())
    language = load_plugins().hdl_languages["verilog"]
    built = Built(host, HdlBuild((), "top", ()), [language], synthetic_platform())
    found = collect(folder / RAW, writer.part, outcome, built, manifest.clocks)
    manifest = replace(manifest, blocks=found.blocks, resources=found.resources, messages=found.messages)
    writer.finish(manifest, found.tables)


def open_folder(folder: Path, count: int) -> None:
    """From a run folder to findings."""
    run, problems = open_run(folder / "run")
    assert not problems, problems
    assert len(run.tables["calls"]["site"]) == count
    assert len(analyse(run, synthetic_platform(), open_knowledge(load_plugins())[0]).findings)


def timed(work: Callable[[], None]) -> dict[str, float]:
    began, busy = time.perf_counter(), time.process_time()
    work()
    return {
        "s": round(time.perf_counter() - began, 3),
        "cpu_s": round(time.process_time() - busy, 3),
        "peak_bytes": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024,
    }


def measure(count: int, scratch: Path) -> dict[str, float]:
    def child(part: str) -> dict[str, float]:
        command = [sys.executable, __file__, "--part", part, "--calls", str(count), "--folder", str(scratch)]
        return dict(json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout))

    child("leave")
    collecting, opening = child("collect"), child("open")
    return {
        "calls": count,
        "collect_s": collecting["s"],
        "open_s": opening["s"],
        "bytes": sum(path.stat().st_size for path in (scratch / "run").rglob("*")),
        "collect_cpu_s": collecting["cpu_s"],
        "open_cpu_s": opening["cpu_s"],
        "peak_bytes": max(collecting["peak_bytes"], opening["peak_bytes"]),
        "collect_peak_bytes": collecting["peak_bytes"],
    }


def main() -> None:
    parser = command(__doc__, "up to a million calls")
    parser.add_argument("--part", choices=("leave", "collect", "open"), help=argparse.SUPPRESS)
    parser.add_argument("--calls", type=int, help=argparse.SUPPRESS)
    parser.add_argument("--folder", type=Path, help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    parts = {"leave": leave_records, "collect": make_tables, "open": open_folder}
    if arguments.part:
        print(json.dumps(timed(lambda: parts[arguments.part](arguments.folder, arguments.calls))))
        return
    rows = []
    for count in SIZES[:2] if arguments.quick else SIZES:
        with tempfile.TemporaryDirectory() as scratch:
            rows.append(measure(count, Path(scratch)))
    show({"rows": rows}, arguments.json)


if __name__ == "__main__":
    main()
