"""Whether advice keeps what it says: changes that findings advise, really made, against what they were promised.

    python tests/benchmarks/bounds.py [--json] [--quick] [--only TEXT [--show]] [--runs DIR]

Every row is a small application (`bounds_apps`: hosts in C, designs in Verilog) with a bottleneck, one piece of advice
that the report of its run gives, and a twin in which that advice was followed, written on its own. Both run on the
simulated card with counted host time and print the same answer. `promised_at_most` is the bound of the advice, `gain`
that of its finding, `measured` how much faster the twin really is, and `predicted` what replay says of the advice's own
changes (none where it refuses). A row is held where both print the same answer, the twin is no faster than either bound
says, and no more is predicted than the advice's bound. The exit code is 1 where a row is not held. `--runs` keeps the
runs, and takes those that are there.
"""

import re
import shutil
import sys
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import yaml

sys.path.insert(0, str(Path(__file__).parent))

from bounds_rows import Change, Program, changes
from command_line import command, show

from workbench.analysis.text_report import text_report
from workbench.api.job import Job
from workbench.model.finding import Advice, Finding
from workbench.replay.predict import Replayed
from workbench.replay.prepare import prepare
from workbench.session.keep.results import OpenRun, open_result
from workbench.session.make.pipeline import RunOptions, run_workspace
from workbench.session.open.opening import open_workspace
from workbench.session.program.plugins import load_plugins

APPS = Path(__file__).parent / "bounds_apps"
TEMPLATES = Path(__file__).parents[2] / "platform_templates"
PLATFORM, CLOCK = "nallatech_h101", "frequency_hz: 100 MHz"
SETTINGS = {"ROUNDS": 4, "EFFORT": 0, "CLEAR": 0, "CYCLES": 1}
PARAMETERS = (
    "CORES",
    "DEPTH",
    "GRANT",
    "LANES",
    "PACE_AT",
    "SLOW",
    "UNEVEN",
)  # settings that are parameters of a design
MARK = re.compile(r"//pragma recap (\w+)")
WHOM = re.compile(r"(wait_\w+\(\w+, )[^,]+")  # what a wait is for
QUICK = 4
ROOM = 1e-9  # a speedup is a quotient of whole picoseconds: no more than rounding


class Bench:
    """Runs programs, each once, below one folder; runs that are there already are taken."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._plugins = load_plugins()
        self._runs: dict[str, OpenRun] = {}
        self._replayed: dict[int, Replayed] = {}

    def run(self, program: Program) -> OpenRun:
        return self.ran(folder_of(program), lambda folder: made(program, folder), program.trace)

    def ran(self, name: str, make: Callable[[Path], Path], trace: bool) -> OpenRun:
        """The run of the project that `make` puts into a folder of this name."""
        if name not in self._runs:
            run = self._folder / name / "run"
            manifest = run / "manifest.json"
            if not manifest.is_file() or '"complete"' not in manifest.read_text(encoding="utf-8"):
                shutil.rmtree(run.parent, ignore_errors=True)
                run.parent.mkdir(parents=True)
                workspace = open_workspace(make(run.parent), self._plugins)
                ended = run_workspace(workspace, RunOptions(out=run, deterministic=True, trace=trace), Job())
                if not ended.complete or ended.manifest.exit:
                    raise SystemExit(f"{name} did not run: {ended.manifest.reason or ended.manifest.diagnostics}")
            self._runs[name] = open_result(run, self._plugins)
        return self._runs[name]

    def predicted(self, program: Program, advice: Advice) -> float | None:
        """What replay of the run says that the advice's changes gain; None where it refuses or there are none."""
        opened = self.run(program)
        if id(opened) not in self._replayed:
            self._replayed[id(opened)] = prepare(opened.run, opened.platform)
        return self._replayed[id(opened)].predict(advice.changes).speedup if advice.changes else None


def made(program: Program, folder: Path) -> Path:
    """The program's files in a folder; its project file."""
    for path in (*APPS.glob("*.h"), APPS / f"{program.host}.c", APPS / f"{program.design}.v"):
        shutil.copy(path, folder)
    design = folder / f"{program.design}.v"
    lines = design.read_text(encoding="utf-8").splitlines(keepends=True)
    design.write_text("".join(marked(line, program) for line in lines), encoding="utf-8")
    parameters = {name: value for name, value in program.settings.items() if name in PARAMETERS}
    template = (TEMPLATES / f"{PLATFORM}.yaml").read_text(encoding="utf-8")
    assert CLOCK in template
    template = template.replace(CLOCK, f"frequency_hz: {program.clock_mhz} MHz")
    (folder / "card.yaml").write_text(template.replace(f"name: {PLATFORM}", "name: card"), encoding="utf-8")
    project = {
        "schema_version": 1, "name": program.host, "platform": "card.yaml",
        "host": {"sources": [f"{program.host}.c"]},
        "hardware": {"sources": [f"{program.design}.v"], "top": "unit_top", "parameters": parameters,
                     "read_out": {"first": 0x800000, "last": 0x80000F}},
        "settings": {**SETTINGS, **program.settings},
        "simulation": {"cycle_limit": 20_000_000, "wall_limit_s": 600, **program.simulation},
    }  # fmt: skip
    path = folder / "app.workbench.yaml"
    path.write_text(yaml.safe_dump(project), encoding="utf-8")
    return path


def marked(line: str, program: Program) -> str:
    """A line of a design as the program has it: with its mark, with a part of it, or without."""
    mark = MARK.search(line)
    if mark is None or (program.marked and mark[1] not in program.without):
        return line if program.named or mark is None or "$CPU" in line else WHOM.sub(r"\1unit_top", line)
    return ""


def folder_of(program: Program) -> str:
    """The name of the folder that a program has to itself."""
    settings = [f"{name}{value}" for name, value in sorted([*program.settings.items(), *program.simulation.items()])]
    marks = ["marked" if program.marked else "bare", *(f"no-{name}" for name in program.without)]
    marks += [*([] if program.named else ["nameless"]), *([] if program.trace else ["untraced"])]
    return "_".join([program.host, program.design, *settings, str(program.clock_mhz), *marks]).replace(" ", "")


def advised(opened: OpenRun, change: Change) -> tuple[Finding, Advice] | None:
    """The finding and its advice, where the report gives it."""
    for finding in opened.analysis.findings:
        if finding.rule == change.rule and finding.scope != "call" and finding.where.startswith(change.on):
            for advice in finding.advice:
                if advice.text.startswith(change.advice):
                    return finding, advice
    return None


def row(change: Change, bench: Bench) -> dict[str, Any]:
    base, twin = bench.run(change.base), bench.run(change.twin)
    same = base.run.manifest.stdout_sha256 == twin.run.manifest.stdout_sha256
    measured = base.run.manifest.time_ps / twin.run.manifest.time_ps
    found = advised(base, change)
    promised, gain = (found[1].at_most, found[0].gain) if found else (None, None)
    predicted = bench.predicted(change.base, found[1]) if found else None
    within = predicted is None or promised is None or predicted <= promised * (1 + ROOM)
    clock = [f"{change.twin.clock_mhz} MHz"] if change.twin.clock_mhz != change.base.clock_mhz else []
    settings = [f"{name} {value}" for name, value in change.twin.settings.items()]
    twin_is = ", ".join([change.twin.host, change.twin.design, *settings, *clock])
    return {
        "application": change.application,
        "finding": f"{change.rule} on {change.on}",
        "change": f"{change.advice} ({twin_is})",
        "promised_at_most": promised,
        "gain": gain,
        "measured": measured,
        "predicted": predicted,
        "same_answer": same,
        "held": same
        and within
        and promised is not None
        and gain is not None
        and measured <= min(promised, gain) * (1 + ROOM),
    }


def measure(wanted: Sequence[Change], folder: Path, show: bool = False) -> list[dict[str, Any]]:
    bench, rows = Bench(folder), []
    for change in wanted:
        rows.append(row(change, bench))
        print(f"{len(rows)} of {len(wanted)}: {change.application}", file=sys.stderr)
        if show:
            opened = bench.run(change.base)
            print(text_report(opened.run, opened.analysis, opened.platform, 110, everything=True), file=sys.stderr)
    return rows


def main() -> int:
    parser = command(__doc__, f"the first {QUICK} changes only")
    parser.add_argument("--only", default="", metavar="TEXT", help="applications whose name holds this")
    parser.add_argument("--show", action="store_true", help="print the report of each application too")
    parser.add_argument("--runs", type=Path, metavar="DIR", help="keep the runs here, and take those that are there")
    arguments = parser.parse_args()
    wanted = [change for change in changes() if arguments.only in change.application]
    with tempfile.TemporaryDirectory(prefix="bounds-") as folder:
        runs = arguments.runs or Path(folder)
        rows = measure(wanted[: QUICK if arguments.quick else None], runs, arguments.show)
    show({"rows": rows}, arguments.json)
    return 0 if all(each["held"] for each in rows) else 1


if __name__ == "__main__":
    sys.exit(main())
