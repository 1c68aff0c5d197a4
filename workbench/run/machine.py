"""The tools and libraries on this machine that the workbench uses, each with its version and path, or how to install
it."""

import importlib.util
import platform
import re
import sys
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, requires, version
from pathlib import Path

from workbench.model.diagnostic import Diagnostic, WorkbenchError
from workbench.system.process import run_program
from workbench.system.toolchain import (
    Tool,
    find_bubblewrap,
    find_clang,
    find_compiler,
    find_ghdl,
    find_make,
    find_verilator,
    find_yosys,
)

#: Debian's packages of the system libraries that Qt needs to show a window.
WINDOW_PACKAGES = (
    "libegl1 libgl1 libxkbcommon0 libfontconfig1 libdbus-1-3 libglib2.0-0 libxcb-cursor0 libxcb-icccm4 libxcb-image0 "
    "libxcb-keysyms1 libxcb-randr0 libxcb-render-util0 libxcb-shape0 libxcb-xkb1 libxkbcommon-x11-0 libx11-xcb1"
)
#: The pip name with the window's libraries, which machines without a screen do not need.
WINDOW_EXTRA = "'rc-workbench[window]'"
_LOAD_S = 60


@dataclass(frozen=True)
class Requirement:
    """A tool or library that the workbench uses, or how to get it. If it is `needed`, runs or the window fail without
    it; otherwise it only adds a feature. `program` is False for libraries in the Python environment."""

    name: str
    purpose: str
    state: Tool | Diagnostic
    needed: bool = True
    program: bool = True


@dataclass(frozen=True)
class _Library:
    """A Python package with native parts: `code` loads it, which shows its missing dependencies. `extra` is the name by
    which pip installs it; only packages without an extra are needed."""

    name: str
    purpose: str
    package: str
    module: str
    code: str
    extra: str = ""


#: Qt's widgets and its X11 plugin; Qt itself does not report a missing one.
_QT = """
import ctypes, pathlib, sys
import PySide6.QtWidgets
plugin = pathlib.Path(PySide6.__file__).parent / "Qt" / "plugins" / "platforms" / "libqxcb.so"
if sys.platform == "linux":
    ctypes.CDLL(str(plugin))
"""
_LIBRARIES = (
    _Library("Qt", "show the window", "PySide6-Essentials", "PySide6", _QT, WINDOW_EXTRA),
    _Library("libclang", "read C and C++", "libclang", "clang", "import clang.cindex as c; c.Index.create()"),
    _Library("clang-tidy", "C's standard headers", "clang-tidy", "clang_tidy", "import clang_tidy"),
    _Library("pyslang", "read Verilog and SystemVerilog", "pyslang", "pyslang", "import pyslang"),
)
_PROGRAMS: tuple[tuple[str, str, Callable[[], Tool | Diagnostic], bool], ...] = (
    ("gcc", "build C hosts", lambda: find_compiler("c"), True),
    ("g++", "build C++ hosts and the card", lambda: find_compiler("c++"), True),
    ("verilator", "simulate hardware", find_verilator, True),
    ("yosys", "count FPGA resources", find_yosys, False),
    ("ghdl", "read VHDL", find_ghdl, False),
    ("clang", "compile OpenCL kernels", find_clang, False),
    ("make", "set up a checkout", find_make, False),
    ("bubblewrap", "confine runs", find_bubblewrap, False),
)


def machine_report() -> tuple[Requirement, ...]:
    """All requirements, in a suitable order of installation. Takes seconds, since programs are asked for their versions
    and libraries are loaded in processes of their own."""
    python = Tool("Python", Path(sys.executable), f"Python {platform.python_version()}")
    with ThreadPoolExecutor(len(_LIBRARIES)) as pool:
        loaded = pool.map(_load, _LIBRARIES)
        program_requirements = programs()
        library_requirements = [
            Requirement(lib.name, lib.purpose, state, not lib.extra, program=False)
            for lib, state in zip(_LIBRARIES, loaded, strict=True)
        ]
    return (
        Requirement("Python", "run the workbench", python, program=False),
        *library_requirements,
        *program_requirements,
    )


def programs() -> tuple[Requirement, ...]:
    """The requirements that are programs; their versions are quick to read."""
    return tuple(Requirement(name, purpose, find(), needed) for name, purpose, find, needed in _PROGRAMS)


def libraries() -> Mapping[str, str | None]:
    """The version of each Python package that the workbench requires; None for a missing one."""
    versions: dict[str, str | None] = {}
    for requirement in requires("rc-workbench") or ():
        if "extra ==" not in requirement:
            name = re.split(r"[^\w.-]", requirement, maxsplit=1)[0]
            versions[name] = _version(name)
    return versions


def window_diagnostic(error: ImportError) -> Diagnostic | None:
    """How to install the window's libraries, if one of them cannot be imported; None for another error."""
    names = {(error.name or "").partition(".")[0], *Path(error.path or "").parts}
    if not names & {"PySide6", "shiboken6", "pyqtgraph"}:
        return None
    if isinstance(error, ModuleNotFoundError):
        return Diagnostic("the window is not installed", f"Install it with `pip install {WINDOW_EXTRA}`.")
    return qt_diagnostic(str(error))


def qt_diagnostic(error: str) -> Diagnostic:
    """The diagnostic for an installed Qt that lacks libraries of the system."""
    return Diagnostic(
        f"the window's libraries cannot be loaded: {error}",
        f"Install them with `apt install {WINDOW_PACKAGES}` (Debian, as root).",
    )


def _version(package: str) -> str | None:
    try:
        return version(package)
    except PackageNotFoundError:
        return None


def _load(library: _Library) -> Tool | Diagnostic:
    spec = importlib.util.find_spec(library.module)
    place = next(iter(spec.submodule_search_locations or ()), spec.origin) if spec else None
    if place is None:
        return Diagnostic(
            f"{library.name} is not installed", f"Install it with `pip install {library.extra or library.package}`."
        )
    try:
        loading = run_program([sys.executable, "-c", library.code], timeout_s=_LOAD_S)
        error = (
            ""
            if loading.returncode == 0
            else (loading.stderr.strip().splitlines() or [f"exit {loading.returncode}"])[-1]
        )
    except WorkbenchError as failure:
        error = str(failure)
    if not error:
        return Tool(library.name, Path(place), f"{library.name} {_version(library.package) or 'of unknown version'}")
    if library.module == "PySide6":
        return qt_diagnostic(error)
    hint = f"Install it anew with `pip install --force-reinstall {library.package}`."
    return Diagnostic(f"{library.name} cannot be loaded: {error}", hint)
