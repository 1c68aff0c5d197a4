"""Writes the instrumented design: observed copies of the VHDL, Verilog of them for simulation, and the top around."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from tempfile import TemporaryDirectory

from rc_workbench_plugins.verilog import design as verilog
from rc_workbench_plugins.verilog.instances import Instance
from rc_workbench_plugins.verilog.layout import lay_out
from rc_workbench_plugins.verilog.monitored import monitored, why_not_observed, write_around, write_file
from rc_workbench_plugins.verilog.ports import hdl_ports
from rc_workbench_plugins.verilog.rewrite import Edits
from rc_workbench_plugins.verilog.source_file import read_pragmas
from rc_workbench_plugins.verilog.top import read_top
from rc_workbench_plugins.vhdl import ghdl
from rc_workbench_plugins.vhdl.blocks import SourceBlock, read_blocks
from rc_workbench_plugins.vhdl.design import Design, read_design
from rc_workbench_plugins.vhdl.elaborate import DIALECT, PART, Text
from rc_workbench_plugins.vhdl.hierarchy import elaborate
from rc_workbench_plugins.vhdl.rewrite import edits_of
from rc_workbench_plugins.vhdl.syntax import VhdlFile, plain
from rc_workbench_plugins.vhdl.units import Unit
from workbench.api import HdlBuild
from workbench.api.instrument import wrapper
from workbench.api.job import Job
from workbench.model.application import HardwareSources
from workbench.model.diagnostic import Diagnostic, Severity, WorkbenchError, has_errors
from workbench.model.platform import Platform
from workbench.model.scan import HdlPort

_INNER = "_recap_user"
_TRANSLATED = "recap_vhdl.v"
_CONDITION_HINT = "Write a VHDL condition over signals of this architecture, such as ack = '1'."
_PART_FILE = re.compile(r".*/f(\d+)_\d+\.vhd")


@dataclass(frozen=True)
class Read:
    """A design that was read, with its blocks and the tree below its top."""

    design: Design
    blocks: tuple[SourceBlock, ...]
    top: Instance | None
    diagnostics: tuple[Diagnostic, ...]


def plain_build(root: Path, hardware: HardwareSources, parameters: dict[str, str]) -> HdlBuild:
    """The design as Verilog, which simulators read, kept with what else is cached."""
    raise NotImplementedError


def instrument(
    root: Path,
    hardware: HardwareSources,
    platform: Platform,
    parameters: dict[str, str],
    out: Path,
    job: Job | None = None,
) -> HdlBuild:
    read = _read(root, hardware, parameters, job or Job())
    design, top, out = read.design, read.top, out.resolve()
    if top is None or design.top is None or has_errors(read.diagnostics):
        raise WorkbenchError(*read.diagnostics)
    if platform.hardware is None:
        raise WorkbenchError(
            Diagnostic(f"the platform '{platform.name}' describes no hardware port", "Add its section `hardware`.")
        )
    clocks = [clock.pin for clock in platform.hardware.clocks]
    reasons, single = why_not_observed(read.blocks, top, clocks, why_not_editable)
    layout = lay_out(
        top,
        observed=lambda block: bool(block.states) and block.key not in reasons,
        editable=lambda module: True,
    )
    inner = f"{top.module}{_INNER}"
    edits = edits_of(design, top, layout, inner)
    texts = {file.path: edits[file.path].apply(file.data) for file in design.needed}
    generics = {**{name: str(value) for name, value in hardware.parameters.items()}, **parameters}
    try:
        made = _translated(design, texts, inner, generics)
    except WorkbenchError as error:
        raise WorkbenchError(*(_explained(design, edits, d) for d in error.diagnostics)) from None
    made = _as_written(made, design.top)
    translated = write_file(out / "recap" / _TRANSLATED, made.encode())
    simulated = verilog.read_design(out, _of(hardware, inner.lower(), translated), {})
    if simulated.top is None:
        raise WorkbenchError(*simulated.diagnostics)
    ports = tuple(port for port in hdl_ports(simulated) if port.name != wrapper.STATE_PORT)
    shell = read_top(simulated.top, inner.lower())
    own = tuple(port for port in shell.ports if port.name != wrapper.STATE_PORT)
    shell = replace(shell, name=design.top.name, ports=own)
    wrapper.check_port(shell, platform.hardware)
    library = frozenset(verilog.source_files(design.root, hardware.library)[0])
    widths = {port.name: port.bits for port in ports}
    watched = monitored(top, layout, platform.hardware, hardware, widths, library, single)
    copies = _write(design, texts, out)
    around = write_around(wrapper.wrapper(shell, watched.monitors), out)
    return HdlBuild(
        sources=(translated, *around),
        board_sources=(*copies, *around),
        top=design.top.name,
        ports=tuple(_placed(ports, design, design.top)),
        blocks=watched.blocks(design.name_of),
        taps=watched.taps,
        tap_bits=watched.width,
        defines=(wrapper.TAPS_DEFINE,) if watched.width else (),
        uncounted=wrapper.uncounted(watched.monitors),
        read_outs=watched.read_outs,
        own_ports=watched.own,
        missed=tuple(watched.missed(design.name_of, reasons, single)),
        diagnostics=(*read.diagnostics, *watched.large(design.name_of)),
        read=tuple(file.path for file in design.files),
    )


def why_not_editable(instance: Instance) -> str:
    """Why an instance leads no state up, or ''."""
    return "" if instance.body is not None else "its component is bound to no entity of the hardware sources"


def _read(root: Path, hardware: HardwareSources, parameters: Mapping[str, str], job: Job) -> Read:
    job.progress(0.0, "reading the design")
    design = read_design(root, hardware, parameters)
    job.progress(0.6, "looking for its blocks")
    diagnostics = list(design.diagnostics)
    blocks: list[SourceBlock] = []
    for file in design.files:
        source, problems = read_pragmas(file.path, file.data, "vhdl", design.name_of(file.path))
        diagnostics += problems
        blocks += (b for unit in design.units if unit.file is file for b in read_blocks(unit, source))
        diagnostics += source.stray()
    top = elaborate(design, {block.key: block for block in blocks})
    return Read(design, tuple(blocks), top, tuple(diagnostics))


def _translated(design: Design, texts: Mapping[Path, bytes], unit: str, generics: Mapping[str, str]) -> str:
    """Verilog of the design with these texts of its files. WorkbenchError, with the files' own paths."""
    known = {plain(one.name) for one in design.top.interface.generics} if design.top and design.top.interface else set()
    values = tuple(f"{plain(name)}={value}" for name, value in generics.items() if plain(name) in known)
    last = design.top.library if design.top is not None else ""
    with TemporaryDirectory() as scratch:
        files: list[tuple[str, str]] = []
        for file in sorted(design.needed, key=lambda one: one.library == last):
            text = Text(file.number, file.library, texts[file.path])
            files += [(file.library, name) for name in text.write(Path(scratch))]
        libraries, names = zip(*files, strict=True)
        try:
            return ghdl.kept(
                ghdl.Design(names, unit.lower(), values, design.root, libraries, DIALECT), ghdl.synthesised
            )
        except WorkbenchError as error:
            of = {str(file.number): file for file in design.files}
            raise WorkbenchError(*(_of_file(d, of) for d in error.diagnostics)) from None


def _of_file(problem: Diagnostic, of: Mapping[str, VhdlFile]) -> Diagnostic:
    found = _PART_FILE.fullmatch(problem.file or "")
    return replace(problem, file=str(of[found[1]].path)) if found else problem


def _explained(design: Design, edits: Mapping[Path, Edits], problem: Diagnostic) -> Diagnostic:
    """What GHDL says of a copy, at the user's line: lines are the same, columns are not."""
    path = Path(problem.file) if problem.file else None
    if path is None:
        return problem
    placed = edits[path].conditions.get(problem.line or 0) if path in edits else None
    if placed is not None:
        message = f"the condition of the pragma '{placed.pragma.name}' is wrong: {problem.message}"
        return placed.diagnostic(message, _CONDITION_HINT, Severity.ERROR)
    hint = problem.hint or "Only what can be synthesised can be simulated and observed."
    return Diagnostic(problem.message, hint, Severity.ERROR, design.name_of(path), problem.line)


def _as_written(made: str, top: Unit) -> str:
    """The top's ports as the entity has them: GHDL writes small letters."""
    before, module, last = made.rpartition("\nmodule ") if "\nmodule " in made else ("", "", made)
    for port in top.interface.ports if top.interface is not None else ():
        if port.name != port.name.lower() and port.name.isidentifier():
            last = re.sub(rf"\b{port.name.lower()}\b", port.name, last)
    return f"{before}{module}{last}"


def _of(hardware: HardwareSources, top: str, file: Path) -> HardwareSources:
    return HardwareSources(sources=(str(file),), top=top, read_out=hardware.read_out)


def _placed(ports: Iterable[HdlPort], design: Design, top: Unit) -> Iterator[HdlPort]:
    """Ports with the lines of the entity."""
    lines = {plain(p.name): p.line for p in top.interface.ports} if top.interface is not None else {}
    for port in ports:
        yield replace(port, file=design.name_of(top.file.path), line=lines.get(plain(port.name), top.line))


def _write(design: Design, texts: Mapping[Path, bytes], out: Path) -> tuple[Path, ...]:
    try:
        return tuple(
            write_file(_copy_path(design, file, out), texts[file.path].replace(PART, b"")) for file in design.needed
        )
    except OSError as error:
        problem = f"cannot write the instrumented design: {error.strerror}"
        hint = "Choose a folder that can be written to."
        raise WorkbenchError(Diagnostic(problem, hint, file=str(error.filename or out))) from None


def _copy_path(design: Design, file: VhdlFile, out: Path) -> Path:
    if file.path.is_relative_to(design.root):
        return out / file.path.relative_to(design.root)
    return out / "outside" / f"{file.number}_{file.path.name}"
