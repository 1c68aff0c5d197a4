"""Whether GHDL's synthesis of a design does what the design does: both are simulated side by side with random inputs.

It does not always: GHDL 2.0 takes the wrong bits of a constant of which a part is assigned elsewhere, and loses
constants of more than 32 bits whose low ones are 0 (github.com/ghdl/ghdl#2013, #2011). A simulation runs the user's
code: it is for projects that are trusted.
"""

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import replace
from importlib.resources import files as resources
from pathlib import Path
from tempfile import TemporaryDirectory

from jinja2 import Environment, StrictUndefined

from rc_workbench_plugins.streaming.x_language import problem
from workbench.api import Diagnostic, Job, Severity, WorkbenchError
from workbench.api.unstable import CLOCKS, RESETS, At, read_only
from workbench.hdl.ghdl import LIMIT_S, MEMORY_BYTES, Design, contents_of, ghdl, kept, netlist

CYCLES = 1000
_ENTITY = re.compile(r"^entity (\w+) is", re.MULTILINE)
_GENERIC = re.compile(r"^    (\w+): .* := (.*?);?$", re.MULTILINE)
_PORTS = re.compile(r"^    (\w+(?:, \w+)*): (in|out) (.*?);?$", re.MULTILINE)
_FOREIGN = re.compile(r"\bforeign\b", re.IGNORECASE)
_DIFFERS = re.compile(r":\(assertion failure\): differs: (\w+)")
_GOES_ON = r"warning|@\S+:\((?:assertion|report) (?:note|warning|error)\)"
_ERROR = re.compile(rf"^(.+?):(\d+):\d+:(?!{_GOES_ON})(?:error:)? ?(.*)$", re.MULTILINE)
_OF_PORT = re.compile(r"(?:draw|compare)\((\w+)_1")
_WRONG = "GHDL before 3.0 translates long constants and partial assignments wrongly: use a newer one."
_HOLD = "GHDL before 3.0 computes some constants wrongly: compare the results with another implementation's."


def compared(designs: Mapping[Design, At], job: Job) -> Iterator[Diagnostic]:
    """For each design that is named there: an error where an output differs, a warning where it was not compared.

    WorkbenchError where a design cannot be read any more. What is found is kept, as long as the design stays.
    """

    def difference(design: Design) -> str:
        try:
            return json.dumps([_differing(design, job), ""])
        except WorkbenchError as error:
            return json.dumps(["", error.diagnostics[0].message])

    for number, (design, at) in enumerate(designs.items()):
        job.progress(number / len(designs), design.unit)
        differing, why, hint = "", "this system cannot confine a simulation", "Install bubblewrap."
        if read_only():
            (differing, why), hint = json.loads(kept(design, difference)), _HOLD
        if differing:
            message = f"GHDL's synthesis of '{design.unit}' is wrong: '{differing}' differs from what the design does"
            yield problem(at, message, _WRONG)
        elif why:
            message = f"GHDL's synthesis of '{design.unit}' was not compared with the design: {why}"
            yield replace(problem(at, message, hint), severity=Severity.WARNING)


def _differing(design: Design, job: Job) -> str:
    """The first output that differs; empty where none does. WorkbenchError where the two cannot be compared."""
    if any(map(_FOREIGN.search, contents_of(design))):
        raise WorkbenchError(Diagnostic("it has an attribute 'foreign', by which code of other languages is loaded"))
    netlist_text = netlist(design, "vhdl", job.run)
    bench = _bench(netlist_text, design.unit)
    for name in _ENTITY.findall(netlist_text):
        netlist_text = re.sub(rf"\b{name}\b", f"{name}_made", netlist_text)
    with TemporaryDirectory() as folder:
        ours = [str(Path(folder, name)) for name in ("made.vhd", "bench.vhd")]
        for file, content in zip(ours, (netlist_text, bench), strict=True):
            Path(file).write_text(content, "utf-8")
        command = [*read_only(), str(ghdl().path), "-c", "--std=08", *design.files, *ours, "-r", "recap_bench"]
        options = ["--ieee-asserts=disable", f"--stop-time={3 * CYCLES}ns"]
        result = job.run([*command, *options], cwd=design.folder, timeout_s=LIMIT_S, memory_bytes=MEMORY_BYTES)
    said = result.stdout + result.stderr
    if differs := _DIFFERS.search(said):
        return differs[1]
    if "(report note): all is the same" in said:
        return ""
    raise WorkbenchError(Diagnostic(_why(said, bench, ours[1])))


def _why(said: str, bench: str, file: str) -> str:
    """The reason, from GHDL's output, why there is no answer."""
    for place, line, text in _ERROR.findall(said):
        if place == file and (port := _OF_PORT.search(bench.splitlines()[int(line) - 1])):
            return f"its port '{port[1]}' has a type for which no values are drawn, such as a record"
        return f"its simulation ended with '{text}'"
    return "its simulation ended early"


def _bench(netlist_text: str, unit: str) -> str:
    """The bench, of what GHDL writes: it repeats the entity, with the values of its generics."""
    entity = netlist_text.partition("\nend")[0]
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
