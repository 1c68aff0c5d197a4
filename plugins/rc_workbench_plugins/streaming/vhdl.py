"""A hardware block in VHDL as Verilog, with the block's configuration bound."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

from rc_workbench_plugins.streaming.compared import check_synthesis
from rc_workbench_plugins.streaming.ghdl import find_ghdl, synthesised
from rc_workbench_plugins.streaming.topology import Implementation, Value
from rc_workbench_plugins.streaming.x_language import problem
from workbench.model.diagnostic import WorkbenchError
from workbench.system.cache import cache_dir
from workbench.system.files import SOURCE_LIMIT, read_regular, replace_file, sha256
from workbench.system.process import run_program

_MODULE = re.compile(r"^module (\w+)", re.MULTILINE)


def as_verilog(implementation: Implementation, config: Mapping[str, Value], root: Path) -> tuple[str, str]:
    """Verilog of the entity with these generics, and its module's name, which no other configuration's has.

    WorkbenchError with GHDL's errors at the user's lines, or where GHDL is not installed.
    """
    at, unit = implementation.at, implementation.unit.lower()
    if not re.fullmatch(r"[a-z]\w*", unit):
        raise WorkbenchError(problem(at, f"'{implementation.unit}' is no name of an entity"))
    files = tuple(str(root / file) for file in implementation.files)
    try:
        stamps = tuple(sha256(read_regular(Path(file), SOURCE_LIMIT)) for file in files)
    except OSError as error:
        message = f"cannot read '{error.filename}': {error.strerror}"
        raise WorkbenchError(problem(at, message)) from None
    generics = tuple(f"{name}={_generic(value)}" for name, value in config.items())
    try:
        text = _synthesised(files, stamps, unit, generics)
    except WorkbenchError as error:
        placed = (d if d.file else replace(d, file=at.file or None, line=at.line, column=at.column)
                  for d in error.diagnostics)  # fmt: skip
        raise WorkbenchError(*placed) from None
    mark = sha256("\n".join((*files, *generics)).encode())[:8]
    names = {name: f"{name}_{mark}" for name in _MODULE.findall(text)}
    for name, own in names.items():  # another configuration's parts have the same names
        text = re.sub(rf"\b{re.escape(name)}\b", own, text)
    return text, [*names.values()][-1]


def _synthesised(files: tuple[str, ...], stamps: tuple[str, ...], unit: str, generics: tuple[str, ...]) -> str:
    """The Verilog, found right; kept, for it takes seconds."""
    version = run_program([find_ghdl(), "--version"]).stdout.partition("\n")[0]
    key = sha256(json.dumps([version, files, stamps, unit, generics]).encode())[:32]
    kept = cache_dir() / "vhdl" / f"{key}.v"
    if kept.is_file():
        return kept.read_text("utf-8")
    text = synthesised(files, unit, generics)
    check_synthesis(files, unit, generics)
    kept.parent.mkdir(parents=True, exist_ok=True)
    replace_file(kept, text.encode())
    return text


def _generic(value: Value) -> str:
    return value if isinstance(value, str) else repr(value)
