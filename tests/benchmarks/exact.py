"""Whether replay of an unchanged run is the run: every example and every application of the benchmarks, traced.

    python tests/benchmarks/exact.py [--json] [--quick] [--only TEXT] [--runs DIR]

A row is one run: the examples as they come along, on 1, 2 and 4 virtual cores where their host has several threads; the
deployments of `streaming_apps.py`; the programs of `bounds.py`; designs of `fifo_designs.py`; the applications of the
tests with several clocks, cards, FPGAs and links, and in VHDL. Host time is counted, in rows with `measured` in their
name it is measured. `intervals` are the calls, threads' calls and stretches of the FPGA's work that replay finds anew,
`off` how many of them begin or end at another time than recorded, `off_ps` how much later the run ends, `unknown` how
many waits have no known cause; `why` and `causes` are the words with which predictions of the run are refused or that
they carry. `--runs` keeps the runs, and takes those that are there; `--quick` makes a few. The exit code is 1 where a
run is not replayed exactly.
"""

import json
import shutil
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import yaml
from command_line import command

sys.path.insert(0, str(Path(__file__).parent))

import bounds
import fifo_designs
import ghdl_card
import streaming_apps
import whatif_rows

from workbench.api.job import Job
from workbench.model.diagnostic import Diagnostic, WorkbenchError
from workbench.session.keep.results import OpenRun, open_result
from workbench.session.make.pipeline import RunOptions, run_workspace
from workbench.session.open.opening import open_workspace
from workbench.session.open.workspace import Value
from workbench.session.program.plugins import Plugins, load_plugins

ROOT = Path(__file__).resolve().parents[2]
EXAMPLES, APPLICATIONS = ROOT / "resources" / "examples", ROOT / "tests" / "data" / "applications"
CORES = (1, 2, 4)
QUICK = ("own_board", "blastn fpga, 2 cores", "two_clocks")


@dataclass(frozen=True)
class Case:
    """A run: `make` puts its project into a folder and says where; `simulation` and `settings` are laid over it."""

    name: str
    make: Callable[[Path], Path]
    simulation: Mapping[str, int | str] = field(default_factory=dict)
    settings: Mapping[str, Value] = field(default_factory=dict)
    deterministic: bool = True


def cases() -> Iterator[Case]:
    yield from _examples()
    yield from _applications()
    for deployment in streaming_apps.DEPLOYMENTS:
        if deployment.top == "Deadlock":  # it is made to lock up
            continue
        split = ", by chunk" if deployment.lines.startswith(streaming_apps.CHUNKS) else ""
        changed = "".join(f", {new}" for _, new in deployment.changes[1:])
        where = f" with {', '.join(deployment.on_fpga)} on the FPGA" if deployment.on_fpga else ""
        name = f"{deployment.example} {deployment.top}{where}{split}{changed}, {deployment.cores} cores"
        yield Case(f"deployed {name}", deployment.project)
    for name in fifo_designs.DESIGNS:
        yield Case(f"FIFOs {name}", lambda folder, name=name: fifo_designs.written(folder, name).path)


def _examples() -> Iterator[Case]:
    for path in sorted(EXAMPLES.glob("*/*.workbench.yaml")):
        made = _copied(path)
        name = f"{path.parent.name} {path.name.partition('.')[0]}"
        if path.parent.name == "pdf2d":
            for cores, points in ((1, 8192), (2, 8192), (4, 8192), (20, 8192), (2, 163840), (20, 163840)):
                settings = {"CORES": cores, "POINTS": points}
                yield Case(f"{name}, {cores} on the FPGA, {points} points", made, {}, settings)
        elif "cores" in yaml.safe_load(path.read_text(encoding="utf-8")).get("simulation", {}):
            yield from (Case(f"{name}, {cores} cores", made, {"cores": cores}) for cores in (*CORES, 8))
        else:
            yield Case(name, made)
        yield Case(f"{name}, measured", made, deterministic=False)


def _applications() -> Iterator[Case]:
    for path in sorted(APPLICATIONS.glob("*/*.workbench.yaml")):
        if "ring" not in path.name:  # it is made to lock up
            yield Case(path.parent.name, _copied(path))
    for name in ("two_cards", "two_clocks"):
        yield Case(f"{name}, measured", _copied(APPLICATIONS / name / f"{name}.workbench.yaml"), deterministic=False)
    for name, source in (("two_cards", "summer"), ("two_clocks", "two_clocks")):
        yield Case(f"{name} in VHDL", lambda folder, of=(name, source): ghdl_card.application(folder, *of))


def _copied(path: Path) -> Callable[[Path], Path]:
    def copy(folder: Path) -> Path:
        for one in (
            (path.parent.parent / "two_clocks", path.parent) if path.parent.parent == APPLICATIONS else (path.parent,)
        ):
            shutil.copytree(one, folder / one.name, dirs_exist_ok=True)
        return folder / path.parent.name / path.name

    return copy


def programs() -> Iterator[bounds.Program]:
    """Those of `whatif.py`, and a host of two threads."""
    of_cases = (program for case in whatif_rows.cases() for program in (case.base, case.twin))
    found = [program for program in of_cases if isinstance(program, bounds.Program)]
    for cores in CORES:
        settings = {"EFFORT": 300, "CYCLES": 200}
        found.append(bounds.Program("threaded", settings=settings, simulation={"cores": cores}))
    yield from {bounds.folder_of(one): replace(one, trace=True) for one in found}.values()


class Bench:
    """Runs cases below one folder, each once: a run that is there is taken."""

    def __init__(self, folder: Path) -> None:
        self._folder, self._plugins = folder, load_plugins()
        self._programs = bounds.Bench(folder)

    def rows(self, only: str, quick: bool) -> Iterator[dict[str, Any]]:
        for case in cases():
            if only in case.name and (not quick or case.name in QUICK):
                yield self._row(case.name, lambda case=case: self._run(case))
        for program in () if quick else programs():
            name = bounds.folder_of(program).replace("_", " ")
            if only in name:
                yield self._row(name, lambda program=program: self._programs.run(program))

    def _row(self, name: str, run: Callable[[], OpenRun]) -> dict[str, Any]:
        try:
            opened = run()
        except WorkbenchError as error:
            return {
                "run": name,
                "exact": False,
                "intervals": 0,
                "off": 0,
                "off_ps": None,
                "why": str(error),
                "causes": [],
            }
        began = time.monotonic()
        found = opened.prepared()
        seconds = time.monotonic() - began
        manifest = opened.run.manifest
        return {
            "run": name,
            "threads": len(manifest.threads),
            "clocks": len(manifest.clocks),
            "exact": found.exact,
            "intervals": found.intervals,
            "off": found.off,
            "off_ps": None if found.modelled_ps is None else found.modelled_ps - manifest.time_ps,
            "why": found.why,
            "causes": list(found.unknown),
            "seconds": round(seconds, 2),
        }

    def _run(self, case: Case) -> OpenRun:
        folder = self._folder / case.name.translate(str.maketrans(", =()", "_____"))
        kept = folder / "run"
        manifest = kept / "manifest.json"
        if not manifest.is_file() or '"complete"' not in manifest.read_text(encoding="utf-8"):
            shutil.rmtree(folder, ignore_errors=True)
            _make(case, folder, kept, self._plugins)
        return open_result(kept, self._plugins)


def _make(case: Case, folder: Path, out: Path, plugins: Plugins) -> None:
    (folder / "project").mkdir(parents=True)
    path = case.make(folder / "project")
    project = yaml.safe_load(path.read_text(encoding="utf-8"))
    project["simulation"] = {**project.get("simulation", {}), **case.simulation}
    path.write_text(yaml.safe_dump(project), encoding="utf-8")
    options = RunOptions(out=out, trace=True, deterministic=case.deterministic, settings=case.settings, settles=False)
    run = run_workspace(open_workspace(path, plugins), options, Job())
    if not run.complete:
        raise WorkbenchError(Diagnostic(f"it did not run: {run.manifest.reason or run.manifest.diagnostics}"))


def main() -> int:
    parser = command(__doc__)
    parser.add_argument("--only", default="", metavar="TEXT", help="runs whose name holds this")
    parser.add_argument("--runs", type=Path, metavar="DIR", help="keep the runs here, and take those that are there")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="exact-") as temporary:
        folder = (arguments.runs or Path(temporary)).resolve()
        folder.mkdir(parents=True, exist_ok=True)
        rows = []
        for row in Bench(folder).rows(arguments.only, arguments.quick):
            rows.append(row)
            if not arguments.json:
                print(row, flush=True)
    if arguments.json:
        print(json.dumps({"rows": rows}, indent=1))
    return 0 if all(row["exact"] for row in rows) else 1


if __name__ == "__main__":
    sys.exit(main())
