"""A module or entity of a folder of HDL as a design by itself for `hdl_corpus.py`: a top around it, watched, proved."""

import re
import subprocess
import time
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from hdl_corpus_files import READ_OUT, Corpus, is_vhdl
from rc_workbench_plugins.ports.memory import MemoryPort
from rc_workbench_plugins.verilog import VerilogLanguage
from rc_workbench_plugins.vhdl import MixedLanguage, VhdlLanguage
from rc_workbench_plugins.vhdl.checked import check
from rc_workbench_plugins.vhdl.design import read_units
from rc_workbench_plugins.vhdl.joined import read_joined
from rc_workbench_plugins.vhdl.language import read
from rc_workbench_plugins.vhdl.libraries import WORK
from rc_workbench_plugins.vhdl.syntax import child, plain, text_of
from rc_workbench_plugins.vhdl.units import Declared

from workbench.api import HdlBuild
from workbench.api.compile import needed
from workbench.api.equivalence import How, Limits
from workbench.api.job import Job, JobEvent
from workbench.hdl.verilog.design import read_design
from workbench.hdl.verilog.top import read_top
from workbench.model.application import HardwareSources
from workbench.model.diagnostic import Diagnostic, WorkbenchError, has_errors
from workbench.model.hardware import Clock, Hardware, PortDirection
from workbench.model.platform import Platform
from workbench.session.open.reader_child import ReaderEnded, in_child
from workbench.system.toolchain import Tool, find_verilator, verilator_environment

PORT = MemoryPort(
    address_bits=16,
    incoming=PortDirection(data_signal="rcb_wr_data", address_signal="rcb_addr", condition_hdl="rcb_wr_en"),
    outgoing=PortDirection(
        data_signal="rcb_rd_data", address_signal="rcb_addr", condition_hdl="rcb_rd_en", delay_cycles=1
    ),
)
HARDWARE = Hardware(clocks=(Clock(name="rcb_clk", frequency_hz=100e6, reset="rcb_rst"),), ports=(PORT,))
PLATFORM = Platform(schema_version=2, name="corpus", hardware=HARDWARE)
LANGUAGES = {"verilog": VerilogLanguage(), "vhdl": VhdlLanguage(), "mixed": MixedLanguage()}
TOP = "rcb_top"
OWN_CLOCK = "its clock is none of its inputs"
READ_S, INSTRUMENT_S, ELABORATE_S = 120.0, 240.0, 120.0

WITHOUT_VALUE = re.compile(r"has parameters without a value: (.*)$")
AROUND_MODULE = """\
module rcb_top(input wire rcb_clk, rcb_rst, rcb_wr_en, rcb_rd_en, input wire [15:0] rcb_addr,
  input wire [31:0] rcb_wr_data, output wire [31:0] rcb_rd_data{outside});
  assign rcb_rd_data = rcb_addr;
  {name} {values}dut(.{clock}(rcb_clk){inside});
endmodule
"""
AROUND_ENTITY = """\
{context}
library ieee; use ieee.std_logic_1164.all;
entity rcb_top is
    {generics}
    port (rcb_clk, rcb_rst, rcb_wr_en, rcb_rd_en : in std_logic; rcb_addr : in std_logic_vector(15 downto 0);
        rcb_wr_data : in std_logic_vector(31 downto 0); rcb_rd_data : out std_logic_vector(31 downto 0){ports});
end entity;
architecture around of rcb_top is
begin
    rcb_rd_data <= x"0000" & rcb_addr;
    dut : entity work.{name}{generic_map} port map ({port_map});
end architecture;
"""


@dataclass(frozen=True)
class Task:
    """A module or entity of a file, and its clocked blocks' clocks, the one that most have first."""

    file: str
    name: str
    clocks: tuple[str, ...]


@dataclass(frozen=True)
class Tried:
    """What came of a design, `what` it is counted as, and why. `observed` are the blocks (file and line) with states;
    `checked` tells how GHDL's synthesis compares with the VHDL."""

    file: str
    name: str
    what: str
    why: str = ""
    observed: tuple[str, ...] = ()
    checked: str = ""


@dataclass(frozen=True)
class Design:
    """The sources of a design with a top around it, in "verilog", "vhdl" or both ("mixed"); of Verilog those that are
    `reached`."""

    hardware: HardwareSources
    kind: str
    reached: tuple[str, ...] = ()

    @property
    def language(self) -> Any:
        return LANGUAGES[self.kind]


def try_design(corpus: Corpus, limits: Limits, until: float, task: Task) -> Tried:
    """A design observed and proved. Nothing is begun after `until` (seconds since the epoch)."""
    tried = partial(Tried, task.file, task.name)
    if time.time() > until:
        return tried("left", "no time")
    with TemporaryDirectory(prefix="corpus-") as scratch:
        try:
            design = Design(**in_child(lambda: vars(_design(corpus, task, Path(scratch))), READ_S))
            if complaint := _as_it_is(corpus, design):
                return tried("alone", complaint)
        except (WorkbenchError, ReaderEnded) as error:
            said = _said(error)
            return tried("benches" if said.endswith(OWN_CLOCK) else "alone", said)
        except Exception as error:  # a defect, to be told
            return tried("failed", f"reading: {type(error).__name__}: {error}")
        made = Path(scratch) / "made"
        try:
            instrument = partial(design.language.instrument, corpus.folder, design.hardware, PLATFORM, {}, made)
            build: HdlBuild = in_child(instrument, INSTRUMENT_S)
        except WorkbenchError as error:
            return tried("refused", _said(error))
        except ReaderEnded as error:
            return tried("failed", f"instrument: {error.why}")
        except Exception as error:  # a defect, to be told
            return tried("failed", f"instrument: {type(error).__name__}: {error}")
        tried = partial(tried, observed=tuple({f"{b.file}:{b.line}": 0 for b in build.blocks if len(b.states) > 1}))
        if design.reached:
            paths = [str(path) for path in build.sources]
            if complaint := _elaborated(paths, [str(path) for path in build.files.include_dirs], corpus.folder):
                return tried("failed", f"elaborates as it is, not instrumented: {complaint}")
        try:
            return _proved(design, build, corpus.folder, limits, task.name, tried)
        except WorkbenchError as error:
            return tried("failed", f"prove: {_said(error)}")
        except Exception as error:  # a defect, to be told
            return tried("failed", f"prove: {type(error).__name__}: {error}")


def _design(corpus: Corpus, task: Task, scratch: Path) -> Design:
    """A top with a memory-style port around a module, whose clock is the port's."""
    sources = corpus.sources(task.file)
    of_verilog = tuple(name for name in sources if not is_vhdl(name))
    mixed = 0 < len(of_verilog) < len(sources)
    folders = corpus.nearest_first(task.file) if of_verilog else ()
    hardware = HardwareSources(sources=sources, top=task.name, include_dirs=folders, read_out=READ_OUT)
    if is_vhdl(task.file):
        return Design(_around_entity(corpus, task, hardware, scratch / f"{TOP}.vhd"), "mixed" if mixed else "vhdl")
    top = scratch / f"{TOP}.sv"
    if mixed:
        joined = read_joined(corpus.folder, hardware, (), {}, Job())
        if joined.mixed and joined.halves:
            _no_errors((*joined.wrong, *joined.unobserved))
            return Design(_around_module(joined.halves[0][0], task, hardware, top), "mixed")
        hardware = hardware.model_copy(update={"sources": of_verilog})
    design = read_design(corpus.folder, hardware, {})
    if open_ := [found[1] for one in design.diagnostics if (found := WITHOUT_VALUE.search(one.message))]:
        hardware = hardware.model_copy(update={"parameters": dict.fromkeys(open_[0].split(", "), 8)})
        design = read_design(corpus.folder, hardware, {})
    _no_errors(design.diagnostics)
    return Design(_around_module(design, task, hardware, top), "verilog", (*map(str, design.needed), str(top)))


def _no_errors(diagnostics: Sequence[Diagnostic]) -> None:
    if wrong := [one for one in diagnostics if has_errors([one])]:
        raise WorkbenchError(*wrong)


def _around_module(design: Any, task: Task, hardware: HardwareSources, top: Path) -> HardwareSources:
    every = read_top(design.top, task.name).ports
    inputs = {port.name for port in every if port.direction == "input"}
    clock = next((name for name in task.clocks if name in inputs), "")
    if not clock:
        raise WorkbenchError(Diagnostic(OWN_CLOCK))
    ports = [port for port in every if port.name != clock]
    outside = "".join(f", {port.direction} {port.type} p_{port.name}{port.unpacked}" for port in ports)
    inside = "".join(f", .{port.name}(p_{port.name})" for port in ports)
    given = ", ".join(f".{name}({value})" for name, value in hardware.parameters.items())
    values = f"#({given}) " if given else ""
    name = task.name if re.fullmatch(r"[A-Za-z_]\w*", task.name) else f"\\{task.name} "
    text = AROUND_MODULE.format(name=name, clock=clock, outside=outside, inside=inside, values=values)
    top.write_text(text)
    return hardware.model_copy(update={"sources": (*hardware.sources, str(top)), "top": TOP, "parameters": {}})


def _around_entity(corpus: Corpus, task: Task, hardware: HardwareSources, top: Path) -> HardwareSources:
    """In the entity's own library."""
    paths = [corpus.folder / name for name in hardware.sources if is_vhdl(name)]
    files, units = read_units(paths, {})
    entities = [unit for unit in units if unit.kind == "entity" and plain(unit.name) == plain(task.name)]
    if not entities or (interface := entities[0].interface) is None:
        raise WorkbenchError(Diagnostic(f"no file defines the entity '{task.name}'"))
    unit = next((one for one in entities if one.file.path == corpus.folder / task.file), entities[0])
    inputs = {plain(port.name) for port in interface.ports if port.mode.lower() in ("", "in")}
    clock = next((name for name in task.clocks if plain(name) in inputs), "")
    if not clock:
        raise WorkbenchError(Diagnostic(OWN_CLOCK))
    ports = [port for port in interface.ports if plain(port.name) != plain(clock)]
    modes = (f"; {port.name} : {port.mode or 'in'} {port.type}" for port in ports)
    generics = ", ".join(f"{one.name} => {one.name}" for one in interface.generics)
    text = AROUND_ENTITY.format(
        context=unit.file.data[unit.start : unit.node.start_byte].decode("latin-1"), name=unit.name,
        generics=text_of(child(child(unit.node, "entity_head"), "generic_clause")), ports="".join(modes),
        generic_map=f" generic map ({generics})" if generics else "",
        port_map=f"{clock} => rcb_clk{''.join(f', {port.name} => {port.name}' for port in ports)}",
    )  # fmt: skip
    top.write_text(text, encoding="latin-1")
    libraries: dict[str, tuple[str, ...]] = {}
    for file in files:
        if file.library != WORK and file.path in paths:
            libraries[file.library] = (*libraries.get(file.library, ()), str(file.path))
    if unit.library != WORK:
        libraries[unit.library] = (*libraries[unit.library], str(top))
    values: dict[str, Any] = {one.name: value for one in interface.generics if (value := _value(one))}
    update = {"sources": (*hardware.sources, str(top)), "top": TOP, "libraries": libraries, "parameters": values}
    return hardware.model_copy(update=update)


def _value(generic: Declared) -> str:
    """What a generic without a default is given."""
    if generic.default:
        return ""
    name = generic.type.lower().partition(" ")[0]
    return {"boolean": "true", "integer": "8", "natural": "8", "positive": "8"}.get(name, "")


def _as_it_is(corpus: Corpus, design: Design) -> str:
    """'' or what keeps a design from being elaborated: what Verilator says, or GHDL where there is VHDL."""
    if design.reached:
        folders = [str(folder) for folder in design.hardware.include_dirs]
        return _elaborated(design.reached, folders, corpus.folder)

    def wrong() -> str:
        found = read(corpus.folder, design.hardware, PLATFORM, {}, Job())
        errors = [one for one in found.diagnostics if has_errors([one])]
        return " ".join(one.text() for one in errors) or ("" if found.top is not None else "no top")

    return in_child(wrong, READ_S)


def _elaborated(sources: Sequence[str], includes: Sequence[str], folder: Path) -> str:
    """'' or Verilator's complaint about a design."""
    tool: Tool = needed(find_verilator())
    command = [tool.path, "--lint-only", "-Wno-lint", "-Wno-fatal", "--no-timing", "-UVERILATOR", "-Uverilator",
               "--top-module", TOP,
               *(f"-I{path}" for path in includes), *sources]  # fmt: skip
    try:
        done = subprocess.run(command, cwd=folder, env=verilator_environment(tool), capture_output=True, text=True,
                              timeout=ELABORATE_S)  # fmt: skip
    except subprocess.TimeoutExpired:
        return f"gave up after {ELABORATE_S:g} s"
    errors = [line for line in done.stderr.splitlines() if line.startswith("%Error")]
    return "" if done.returncode == 0 else (errors or done.stderr.strip().splitlines() or ["no word"])[0]


def _proved(
    design: Design, build: HdlBuild, folder: Path, limits: Limits, name: str, tried: partial[Tried]
) -> Tried:  # fmt: skip
    module = name if design.reached else ""  # of VHDL the whole
    proof = design.language.prove(build, folder, limits, Job(), module)
    problems = "; ".join(one.message for one in proof.diagnostics)
    for one in proof.verdicts:
        if not one.holds:
            differs = f"differs in {', '.join(one.signals)}" if one.how is How.DIFFERS else "not known"
            return tried("failed", f"{one.module}: {differs}: {one.why} {problems}")
    tried = partial(tried, checked=_checked(build, folder))
    unproved = [one for one in proof.verdicts if one.how is not How.PROVED]
    return tried("simulated", unproved[0].why) if unproved else tried("proved")


def _checked(build: HdlBuild, folder: Path) -> str:
    """How what GHDL synthesised of VHDL compares with it: 'equal', or what is wrong, or why it is not known."""
    if not build.checks.translated:
        return ""
    told: list[JobEvent] = []
    try:
        check(build, folder, Job(told.append))
    except WorkbenchError as error:
        return f"wrong: {error.diagnostics[0].message}"
    notes = [event.diagnostic.message for event in told if event.diagnostic is not None]
    return f"not: {notes[0]}" if notes else "equal"


def _said(error: WorkbenchError | ReaderEnded) -> str:
    if isinstance(error, ReaderEnded):
        return error.why
    return " ".join(one.text() for one in error.diagnostics if has_errors([one]))
