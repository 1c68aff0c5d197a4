"""Whether GHDL's synthesis of a design does what the design does: both are simulated side by side with random inputs.

It does not always: GHDL 2.0 takes the wrong bits of a constant of which a part is assigned elsewhere, and loses
constants of more than 32 bits whose low ones are 0 (github.com/ghdl/ghdl#2013, #2011).
"""

from __future__ import annotations

import re
from importlib.resources import files as resources
from pathlib import Path
from tempfile import TemporaryDirectory

from jinja2 import Environment, StrictUndefined

from rc_workbench_plugins.streaming.ghdl import LIMIT_S, MEMORY_BYTES, Design, ghdl, netlist, synthesised
from rc_workbench_plugins.streaming.topology import CLOCKS, RESETS
from workbench.model.diagnostic import Diagnostic, WorkbenchError
from workbench.system.confine import read_only
from workbench.system.process import run_program

CYCLES = 1000
_ENTITY = re.compile(r"^entity (\w+) is", re.MULTILINE)
_GENERIC = re.compile(r"^    (\w+): .* := (.*?);?$", re.MULTILINE)
_PORTS = re.compile(r"^    (\w+(?:, \w+)*): (in|out) (.*?);?$", re.MULTILINE)
_FOREIGN = re.compile(r"\bforeign\b", re.IGNORECASE)  # an attribute, which loads code of any language
_DIFFERS = re.compile(r"@(\d+)ns:\(assertion failure\): differs: (\w+)")


def checked(design: Design) -> str:
    """The design's Verilog. WorkbenchError where an output of it differs.

    Designs that cannot be compared pass: those that have ports that are records or subprograms in other languages,
    those that take too long, and all on a system that does not keep a simulation from the user's files.
    """
    text, prefix = synthesised(design), read_only()
    if not prefix or any(_FOREIGN.search(Path(file).read_text("latin-1")) for file in design.files):
        return text
    made = netlist(design, "vhdl")
    bench = _bench(made, design.unit)
    for name in _ENTITY.findall(made):
        made = re.sub(rf"\b{name}\b", f"{name}_made", made)
    with TemporaryDirectory() as folder:
        ours = [str(Path(folder, name)) for name in ("made.vhd", "bench.vhd")]
        for file, content in zip(ours, (made, bench), strict=True):
            Path(file).write_text(content, "utf-8")
        sources = [*design.files, *ours]
        command = [*prefix, str(ghdl().path), "-c", "--std=08", *sources, "-r", "recap_bench", "--ieee-asserts=disable"]
        try:
            result = run_program(command, cwd=design.folder, timeout_s=LIMIT_S, memory_bytes=MEMORY_BYTES)
        except WorkbenchError:  # it takes too long
            return text
    if found := _DIFFERS.search(result.stdout + result.stderr):
        message = f"GHDL's synthesis of '{design.unit}' is wrong: '{found[2]}' differs from the design's, simulated"
        hint = "GHDL before 3.0 gets long constants wrong, and what is assigned in parts: take a newer one."
        raise WorkbenchError(Diagnostic(message, hint))
    return text


def _bench(made: str, unit: str) -> str:
    """The bench, of what GHDL writes: it repeats the entity, with the values of its generics."""
    entity = made.partition("\nend")[0]
    head, _, listed = entity.partition("  port (")
    ports = [
        {"name": name, "out": way == "out", "type": type_}
        for names, way, type_ in _PORTS.findall(listed) for name in names.split(", ")
    ]  # fmt: skip
    into = [port["name"] for port in ports if not port["out"]]
    reset = next((name for name in RESETS if name in into), "")
    known = {
        "context": head.partition("entity ")[0], "unit": unit, "ports": ports, "cycles": CYCLES,
        "generics": ", ".join(f"{name} => {value}" for name, value in _GENERIC.findall(head)),
        "clock": next((name for name in CLOCKS if name in into), ""), "reset": reset,
        "active": "0" if RESETS.get(reset) else "1",
    }  # fmt: skip
    template = resources("workbench.resources").joinpath("streaming", "vhdl_bench.vhd.j2").read_text("utf-8")
    environment = Environment(undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True)
    return environment.from_string(template).render(known)
