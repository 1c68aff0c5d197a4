"""A hardware block in VHDL as Verilog: GHDL's synthesis writes it, with the block's configuration bound."""

from __future__ import annotations

import re
import shutil
from collections.abc import Mapping
from functools import lru_cache
from pathlib import Path

from rc_workbench_plugins.streaming.topology import At, Implementation, Value
from rc_workbench_plugins.streaming.x_language import problem
from workbench.model.diagnostic import Diagnostic, WorkbenchError
from workbench.system.files import sha256
from workbench.system.process import run_program

_LIMIT_S = 60.0
_MESSAGE = re.compile(r"^(?P<file>.+?):(?P<line>\d+):(?P<column>\d+):(?:(?P<kind>error|warning):)? ?(?P<text>.*)$")
_MODULE = re.compile(r"^module (\w+)", re.MULTILINE)


def as_verilog(implementation: Implementation, config: Mapping[str, Value], root: Path) -> tuple[str, str]:
    """Verilog of the entity with these generics, and its module's name, which no other configuration's has.

    WorkbenchError with GHDL's errors at the user's lines, or where GHDL is not installed.
    """
    files = tuple(str(root / file) for file in implementation.files)
    try:
        stamps = tuple(Path(file).stat().st_mtime_ns for file in files)
    except OSError as error:
        message = f"cannot read '{error.filename}': {error.strerror}"
        raise WorkbenchError(problem(implementation.at, message)) from None
    generics = tuple(f"-g{name}={_generic(value)}" for name, value in config.items())
    text = _synthesised(files, stamps, implementation.unit.lower(), generics, implementation.at)
    mark = sha256("\n".join((*files, *generics)).encode())[:8]
    names = {name: f"{name}_{mark}" for name in _MODULE.findall(text)}
    for name, own in names.items():  # another configuration's parts have the same names
        text = re.sub(rf"\b{re.escape(name)}\b", own, text)
    return text, names[implementation.unit.lower()]


@lru_cache(maxsize=64)
def _synthesised(files: tuple[str, ...], stamps: tuple[int, ...], unit: str, generics: tuple[str, ...], at: At) -> str:
    ghdl = shutil.which("ghdl")
    if ghdl is None:
        raise WorkbenchError(
            problem(at, "blocks in VHDL need GHDL, which is not installed", "Debian: apt-get install ghdl-mcode")
        )
    command = [ghdl, "--synth", "--std=08", "--out=verilog", *generics, *files, "-e", unit]
    result = run_program(command, timeout_s=_LIMIT_S, memory_bytes=4 << 30)
    if result.returncode:
        found = [_diagnostic(match) for line in result.stderr.splitlines() if (match := _MESSAGE.match(line))]
        said = result.stderr.strip().splitlines()[-1:] or ["it ended without a word"]
        raise WorkbenchError(*(found[:20] or [problem(at, f"GHDL cannot synthesise '{unit}': {said[0]}")]))
    return result.stdout


def _diagnostic(match: re.Match[str]) -> Diagnostic:
    return Diagnostic(match["text"], file=match["file"], line=int(match["line"]), column=int(match["column"]))


def _generic(value: Value) -> str:
    return value if isinstance(value, str) else repr(value)
