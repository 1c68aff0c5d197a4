"""The designs of `proposals.py`: every example, every application of the tests and of the benchmarks, strangers'
projects, and a core that someone else wrote."""

import shlex
import shutil
import sys
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

import yaml

sys.path.insert(0, str(Path(__file__).parent))

import fifo_designs
import strangers
import streaming_apps

from workbench.model.diagnostic import Diagnostic, WorkbenchError

ROOT = Path(__file__).resolve().parents[2]
EXAMPLES, DATA, BENCHMARKS = ROOT / "resources" / "examples", ROOT / "tests" / "data", ROOT / "tests" / "benchmarks"
APPLICATIONS, APPS = DATA / "applications", BENCHMARKS / "bounds_apps"
SMALL = {"ROUNDS": 4, "EFFORT": 0, "CLEAR": 0, "CYCLES": 100, "MAKE": 300, "ADD": 100}  # settings of bounds_apps
#: Hosts and designs of bounds_apps that fit each other.
PAIRS = (("block", "unit"), ("registers", "unit"), ("small", "unit"), ("control", "unit"), ("block", "refresh"),
         ("cores", "cores"), ("stages", "pair"), ("readback", "unit"), ("irq", "unit"), ("double", "unit"),
         ("async", "unit"), ("unmarked", "unit"), ("ask", "queue"), ("big", "sink"))  # fmt: skip
LOCKED_UP = ("ring", "stuck")  # they are made to


@dataclass(frozen=True)
class Design:
    """A project, which `make` puts into a folder that is there, and the `settings` of its runs."""

    name: str
    make: Callable[[Path], Path]
    settings: Mapping[str, int] = field(default_factory=dict)


def designs(core: Path | None = None) -> Iterator[Design]:
    """All of them; the last one only where `core` is the folder of PicoRV32."""
    yield Design("tiny", _copied(DATA / "tiny" / "tiny.workbench.yaml"), {"DELAY": 200})
    yield from _examples()
    for path in sorted(APPLICATIONS.glob("*/*.workbench.yaml")):
        if path.parent.name not in LOCKED_UP:
            yield Design(path.parent.name, _copied(path, APPLICATIONS))  # they share templates
    for name in ("chapters", "streaming", "unsynthesised"):
        for path in sorted((DATA / name).glob("*.workbench.yaml")):
            if path.name.partition(".")[0] not in LOCKED_UP:
                yield Design(f"{name} {path.name.partition('.')[0]}", _copied(path))
    yield from _strangers()
    for deployment in streaming_apps.DEPLOYMENTS:
        if deployment.on_fpga and not deployment.changes:
            yield Design(f"{deployment.example} {deployment.top} on the FPGA", deployment.project)
    for name in fifo_designs.DESIGNS:
        yield Design(f"FIFOs {name}", lambda folder, name=name: fifo_designs.written(folder, name).path)
    for step in (2, 4):
        settings = {"STEP": step, "CORES": 4, "POINTS": 8192}
        yield Design(f"pdf2d step {step}", _steps, settings)
    for host, hardware in PAIRS:
        yield Design(f"{host} on {hardware}", _small(host, hardware), SMALL)
    if core:
        yield Design("riscv", _riscv(core))


def _examples() -> Iterator[Design]:
    points = {"original": 5120, "optimised": 24576, "ranks": 8192, "vhdl": 2560}
    for path in sorted(EXAMPLES.glob("*/*.workbench.yaml")):
        form = path.name.partition(".")[0]
        settings = {"CORES": 4, "POINTS": points[form]} if path.parent.name == "pdf2d" else {}
        name = path.parent.name if path.parent.name == form else f"{path.parent.name} {form}"
        yield Design(name, _copied(path), settings)


def _copied(path: Path, folder: Path | None = None) -> Callable[[Path], Path]:
    source = folder or path.parent

    def make(target: Path) -> Path:
        shutil.copytree(source, target, dirs_exist_ok=True)
        return target / path.relative_to(source)

    return make


def _strangers() -> Iterator[Design]:
    """Their projects, which their routes' commands make, up to the run."""
    for name in strangers.names():

        def make(folder: Path, name: str = name) -> Path:
            folder.rmdir()
            route = strangers.route_of(name)
            strangers.begin(name, route, folder)
            for command in route["commands"]:
                words = shlex.split(command)
                if words[0] in ("run", "instrument"):
                    return folder / words[1]
                if (ended := strangers.done(command, folder)).returncode:
                    raise WorkbenchError(Diagnostic(f"workbench {command}: {ended.stderr}{ended.stdout}"))
            raise WorkbenchError(Diagnostic(f"the route of {name} has no run"))

        yield Design(f"stranger {name}", make)


def _steps(folder: Path) -> Path:
    """The 2-D PDF on the way from its original to its optimised form."""
    shutil.copytree(EXAMPLES / "pdf2d", folder, dirs_exist_ok=True)
    shutil.copytree(BENCHMARKS / "pdf2d_sources", folder, dirs_exist_ok=True)
    return folder / "steps.workbench.yaml"


def _small(host: str, hardware: str) -> Callable[[Path], Path]:
    def make(folder: Path) -> Path:
        for name in ("common.h", "threads.h", f"{host}.c", f"{hardware}.v"):
            shutil.copy(APPS / name, folder)
        project = {
            "schema_version": 1, "name": "app", "platform": "nallatech_h101", "host": {"sources": [f"{host}.c"]},
            "hardware": {
                "sources": [f"{hardware}.v"], "top": "unit_top", "read_out": {"first": 0x800000, "last": 0x80000F},
            },
            "settings": SMALL,
        }  # fmt: skip
        path = folder / "app.workbench.yaml"
        path.write_text(yaml.safe_dump(project), encoding="utf-8")
        return path

    return make


def _riscv(core: Path) -> Callable[[Path], Path]:
    def make(folder: Path) -> Path:
        shutil.copytree(BENCHMARKS / "riscv_app", folder, dirs_exist_ok=True)
        shutil.copy(core / "picorv32.v", folder / "hdl")
        return folder / "riscv.workbench.yaml"

    return make
