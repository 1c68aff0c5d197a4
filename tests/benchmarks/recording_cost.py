"""What the records for replay cost a traced run on the simulated card, in wall time.

    python tests/benchmarks/recording_cost.py [--json] [--quick]

The first rows are programs of several threads, host and card together, in pairs of runs with and without records of
their synchronising calls, which of a pair comes first in turn; `percent` is the median over the pairs, and
`cpu_percent` that of their processor time, which other programs on the machine disturb less. The others are whole runs
of the tiny project with so many rounds, traced: what making the calls' values and the table of synchronising calls
took, of the whole run's time.
"""

from __future__ import annotations

import argparse
import json
import resource
import shutil
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from statistics import median
from typing import Any
from unittest.mock import patch

sys.path.insert(0, str(Path(__file__).parent))
import threads

from workbench.api.job import Job
from workbench.api.records import SYNCS, read_records
from workbench.run import collect, host_calls
from workbench.session.make.pipeline import RunOptions, run_workspace
from workbench.session.open.opening import open_workspace
from workbench.session.program.plugins import load_plugins

TINY = Path(__file__).parents[1] / "data" / "tiny"
PAIRS, QUICK_PAIRS = 20, 5
PROGRAMS = (
    threads.Program("pipeline", {4: 0}, (20_000, 3)),
    threads.Program("bounded_queue", {4: 0}, (3,)),
    threads.Program("poller", {2: 0}, source=threads.WITH_CARD),
)
ROUNDS, QUICK_ROUNDS = (1000, 10_000), (300,)


def of_threads(folder: Path, pairs: int) -> Iterator[dict[str, Any]]:
    """A row for each program."""
    for source in sorted({program.source for program in PROGRAMS}):
        built = threads.build(source, folder / source)
        for program in (one for one in PROGRAMS if one.source == source):
            (cores,) = program.ends_us
            took_s: dict[bool, list[float]] = {False: [], True: []}
            busy_s: dict[bool, list[float]] = {False: [], True: []}
            for number in range(pairs):
                for traced in (False, True) if number % 2 else (True, False):
                    begun, before_s = time.perf_counter(), _busy_s()
                    threads.run(built, program, cores, folder / "raw", traced=traced)
                    took_s[traced].append(time.perf_counter() - begun)
                    busy_s[traced].append(_busy_s() - before_s)
                    if traced:
                        records = len(read_records(folder / "raw" / "host_syncs.bin", SYNCS))
            yield {
                "what": program.name, "records": records, "without_s": median(took_s[False]),
                "with_s": median(took_s[True]), "percent": _percent(took_s),
                "cpu_percent": _percent(busy_s),
            }  # fmt: skip


def _busy_s() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def _percent(of: dict[bool, list[float]]) -> float:
    return 100 * (median(with_ / without for without, with_ in zip(of[False], of[True], strict=True)) - 1)


@contextmanager
def timed(module: Any, name: str, spent_s: list[float]) -> Iterator[None]:
    """Adds up what calls of a module's function take."""
    does: Callable[..., Any] = getattr(module, name)

    def called(*arguments: Any) -> Any:
        begun = time.perf_counter()
        try:
            return does(*arguments)
        finally:
            spent_s.append(time.perf_counter() - begun)

    with patch.object(module, name, called):
        yield


def of_run(folder: Path, rounds: int) -> dict[str, Any]:
    """The row of a traced run."""
    shutil.copytree(TINY, folder / "tiny", dirs_exist_ok=True)
    project = folder / "tiny" / "tiny.workbench.yaml"
    project.write_text(project.read_text().replace("cycle_limit: 2000000\n", "cycle_limit: 2000000000\n"))
    workspace = open_workspace(project, load_plugins())
    options = RunOptions(deterministic=True, trace=True, settings={"ROUNDS": rounds})
    run_workspace(workspace, RunOptions(**{**vars(options), "out": folder / f"first_{rounds}"}), Job())  # builds
    spent_s: list[float] = []
    with timed(host_calls, "_add_values", spent_s), timed(collect, "sync_tables", spent_s):
        begun = time.perf_counter()
        run = run_workspace(workspace, RunOptions(**{**vars(options), "out": folder / f"run_{rounds}"}), Job())
        whole_s = time.perf_counter() - begun
    calls = len(run.tables["calls"]["site"])
    return {"what": f"{rounds} rounds", "records": calls, "without_s": whole_s - sum(spent_s), "with_s": whole_s,
            "percent": 100 * sum(spent_s) / (whole_s - sum(spent_s))}  # fmt: skip


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--quick", action="store_true", help=f"{QUICK_PAIRS} pairs instead of {PAIRS}, fewer rounds")
    arguments = parser.parse_args()
    rows = []
    with tempfile.TemporaryDirectory() as name:
        rows += of_threads(Path(name), QUICK_PAIRS if arguments.quick else PAIRS)
        rows += [of_run(Path(name), rounds) for rounds in (QUICK_ROUNDS if arguments.quick else ROUNDS)]
    if arguments.json:
        print(json.dumps({"rows": rows}))
    else:
        for row in rows:
            print(f"{row['what']:16}{row['records']:>9,} records  without {row['without_s']:8.4f} s"
                  f"  with {row['with_s']:8.4f} s  {row['percent']:+6.2f} %"
                  + (f"  processor {row['cpu_percent']:+6.2f} %" if "cpu_percent" in row else ""))  # fmt: skip
    return 0


if __name__ == "__main__":
    sys.exit(main())
