"""A hardware block in VHDL as Verilog, with the block's configuration bound."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

from rc_workbench_plugins.streaming.compared import checked
from rc_workbench_plugins.streaming.ghdl import Design, kept, renamed
from rc_workbench_plugins.streaming.topology import Implementation, Value
from rc_workbench_plugins.streaming.x_language import problem
from workbench.model.diagnostic import WorkbenchError
from workbench.system.files import SOURCE_LIMIT, read_regular, sha256


def as_verilog(implementation: Implementation, config: Mapping[str, Value], root: Path) -> tuple[str, str]:
    """Verilog of the entity with these generics, and its module's name, which no other configuration's has.

    WorkbenchError with GHDL's errors at the user's lines, or where GHDL is not installed.
    """
    at, unit = implementation.at, implementation.unit.lower()
    if not re.fullmatch(r"[a-z]\w*", unit):
        raise WorkbenchError(problem(at, f"'{implementation.unit}' is no name of an entity"))
    root = root.absolute()
    files = tuple(str(root / file) for file in implementation.files)
    try:
        contents = [read_regular(Path(file), SOURCE_LIMIT).decode("latin-1") for file in files]
    except OSError as error:
        raise WorkbenchError(problem(at, f"cannot read '{error.filename}': {error.strerror}")) from None
    generics = tuple(f"{name.lower()}={_generic(value)}" for name, value in config.items())
    try:
        text = kept(Design(files, unit, generics, root), contents, checked)
    except WorkbenchError as error:
        placed = (d if d.file else replace(d, file=at.file or None, line=at.line, column=at.column)
                  for d in error.diagnostics)  # fmt: skip
        raise WorkbenchError(*placed) from None
    text = renamed(text, sha256("\n".join((*files, *generics)).encode())[:8])
    return text, re.findall(r"^module (\w+)", text, re.MULTILINE)[-1]


def _generic(value: Value) -> str:
    return value if isinstance(value, str) else repr(value)
