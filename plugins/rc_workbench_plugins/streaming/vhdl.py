"""A hardware block in VHDL as Verilog, with the block's configuration bound."""

import re
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

from rc_workbench_plugins.streaming.x_language import problem
from workbench.api import WorkbenchError
from workbench.api.unstable import At, Implementation, Value, sha256
from workbench.hdl.ghdl import Design, kept, renamed, synthesised


def design_of(implementation: Implementation, config: Mapping[str, Value], root: Path) -> Design:
    """The entity with the configuration as its generics. WorkbenchError where its name is none."""
    unit, root = implementation.unit.lower(), root.absolute()
    if not re.fullmatch(r"[a-z]\w*", unit):
        raise WorkbenchError(problem(implementation.at, f"'{implementation.unit}' is not the name of an entity"))
    generics = tuple(f"{name.lower()}={_generic(value)}" for name, value in config.items())
    return Design(tuple(str(root / file) for file in implementation.files), unit, generics, root)


def as_verilog(design: Design, at: At) -> tuple[str, str]:
    """Verilog of the entity with these generics, and its module's name, which no other configuration's has.

    WorkbenchError with GHDL's errors at the user's lines, others at that of the implementation: GHDL is not installed.
    """
    try:
        text = kept(design, synthesised)
    except WorkbenchError as error:
        placed = (d if d.file else replace(d, file=at.file or None, line=at.line, column=at.column)
                  for d in error.diagnostics)  # fmt: skip
        raise WorkbenchError(*placed) from None
    text = renamed(text, sha256("\n".join((*design.files, *design.generics)).encode())[:8])
    return text, re.findall(r"^module (\w+)", text, re.MULTILINE)[-1]


def _generic(value: Value) -> str:
    return value if isinstance(value, str) else repr(value)
