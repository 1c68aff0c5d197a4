"""What `workbench run` costs again: with nothing changed, and with one host source changed.

    python tests/benchmarks/changed_host.py [--json] [--quick] [--rounds N]

The bundled 2-D PDF runs on the simulated card with few points, so that building matters. Plain runs (the user's own
program) and instrumented ones take turns, each as it was and with a comment added in front of the host source, which
moves all its lines. Told is the processor time of everything that a run starts, the median of the rounds, and its ratio
to that of the plain run. The first round, which fills the cache, does not count.
"""

import os
import shutil
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

from command_line import command, show

from workbench.session.open.examples import EXAMPLES, copy_example

VARIANTS = {"plain": ["--plain"], "instrumented": []}


def run_s(project: Path, words: list[str], environment: dict[str, str]) -> float:
    """The processor time of a run."""
    out = project.parent / "again"
    shutil.rmtree(out, ignore_errors=True)
    command = [
        sys.executable,
        "-m",
        "workbench",
        "run",
        str(project),
        "--out",
        str(out),
        "--set",
        "POINTS=2048",
        *words,
    ]
    quiet = subprocess.DEVNULL
    with subprocess.Popen(command, env=environment, stdout=quiet, stderr=quiet) as program:
        _, status, used = os.wait4(program.pid, 0)
        program.returncode = os.waitstatus_to_exitcode(status)
    if program.returncode:
        raise SystemExit(f"the run failed with {program.returncode}: see `workbench doctor`")
    return used.ru_utime + used.ru_stime


def measure(rounds: int) -> list[dict[str, object]]:
    took: dict[str, list[float]] = {}
    with tempfile.TemporaryDirectory() as folder:
        project = copy_example(EXAMPLES[0], Path(folder) / "project")
        source = project.parent / "host" / "original.c"
        text = source.read_text(encoding="utf-8")
        environment = {**os.environ, "RCW_CACHE": f"{folder}/cache"}
        for number in range(-1, rounds):
            for name, words in VARIANTS.items():
                for what, added in (("as it was", ""), ("host changed", f"/* round {number} of {name} */\n")):
                    source.write_text(added + text, encoding="utf-8")
                    seconds = run_s(project, words, environment)
                    if number >= 0:
                        took.setdefault(f"{name}, {what}", []).append(seconds)
    medians = {name: statistics.median(values) for name, values in took.items()}
    return [
        {"run": name, "cpu_s": round(seconds, 3), "ratio": round(seconds / medians[f"plain, {name.split(', ')[1]}"], 3)}
        for name, seconds in medians.items()
    ]


def main() -> None:
    parser = command(__doc__, "one round")
    parser.add_argument("--rounds", type=int, default=7)
    arguments = parser.parse_args()
    rows = measure(1 if arguments.quick else arguments.rounds)
    show({"load": os.getloadavg()[0], "rows": rows}, arguments.json)


if __name__ == "__main__":
    main()
