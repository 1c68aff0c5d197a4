"""What the workbench asks of a hardware language as its sources are read, answered for designs in both languages."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from rc_workbench_plugins.vhdl import VhdlLanguage
from rc_workbench_plugins.vhdl import conditions as vhdl_conditions
from rc_workbench_plugins.vhdl import definitions as vhdl_definitions
from rc_workbench_plugins.vhdl import language as vhdl
from rc_workbench_plugins.vhdl import states as vhdl_states
from rc_workbench_plugins.vhdl.asked import Asks
from rc_workbench_plugins.vhdl.design import libraries_of, read_units
from rc_workbench_plugins.vhdl.design import library_of as vhdl_library_of
from rc_workbench_plugins.vhdl.mixed.heads import parted, read_modules
from rc_workbench_plugins.vhdl.mixed.joined import Joined, read_joined
from rc_workbench_plugins.vhdl.mixed.roots import ROOTS
from rc_workbench_plugins.vhdl.syntax import plain
from rc_workbench_plugins.vhdl.translated import outside_of
from rc_workbench_plugins.vhdl.units import Unit
from workbench.api import Definition, HardwareSources, HdlLanguage, HdlPort, HdlScan, Job, Platform
from workbench.api.source import suffixes
from workbench.api.source.lines import name_at
from workbench.api.unstable import StateRegister
from workbench.hdl.derived import derived
from workbench.hdl.instances import Instance
from workbench.hdl.instrument import Reading
from workbench.hdl.monitored import why_not_observed
from workbench.hdl.own import is_own
from workbench.hdl.top_inputs import clocks, resets
from workbench.hdl.verilog import conditions as verilog_conditions
from workbench.hdl.verilog import definitions as verilog_definitions
from workbench.hdl.verilog import language as verilog
from workbench.hdl.verilog import states as verilog_states
from workbench.hdl.verilog.design import source_files
from workbench.hdl.verilog.dialect import VerilogLanguage
from workbench.hdl.verilog.own import library_of, own_streams
from workbench.hdl.verilog.ports import hdl_ports
from workbench.hdl.verilog.rewrite import modules_by_name, why_not_editable
from workbench.hdl.verilog.streams import FoundStreams, find_streams


@dataclass(frozen=True)
class Read(Reading):
    """A design in both languages."""

    joined: Joined


def scan(
    root: Path, hardware: HardwareSources, platform: Platform, parameters: dict[str, str], job: Job | None = None
) -> HdlScan:
    found = read(root, hardware, platform, parameters, job or Job())
    joined, top = found.joined, found.top
    if not joined.mixed:
        language, half = alone(root, hardware)
        return language.scan(root, half, platform, parameters, job or Job())
    paths = found.paths()
    edges = _streams(found, hardware)
    own = joined.designs[0][1] if joined.clocks is not None else None
    asks = Asks(own, joined.clocks) if own is not None and joined.clocks is not None else None
    of_vhdl = vhdl_states.find_states(joined.entities, joined.processes)
    blocks = [
        vhdl.hdl_block(
            joined.entities, of_vhdl, asks, block, paths.get(block.key, ()), found.why_not.get(block.key, "")
        )
        for block in joined.processes
        if is_own(block, found.library)
    ]
    registers: list[StateRegister] = list(of_vhdl.registers)
    asked = [
        verilog_states.find_states(design, tree, edges.streams if design.top is tree.body else ())
        for design, tree in joined.halves
    ]
    around = {path: _around(top, path) for path in joined.turns.values()}
    by_arm = {
        (key, at): _in_whole(joined, one, around, next(iter(paths.get(key, ())), ""))
        for each in reversed(asked)
        for (key, at), one in each.asked.items()
    }
    of_verilog = verilog_states.States((), by_arm)
    for each in asked:
        registers += each.registers
    for block in joined.always:
        if joined.modules is not None and is_own(block, found.library) and block.path not in joined.boxes:
            why_not = found.why_not.get(block.key, "")
            blocks.append(verilog.hdl_block(joined.modules, of_verilog, block, paths.get(block.key, ()), why_not))
    ids = {block.id for block in blocks}
    return HdlScan(
        tuple(blocks), found.instances(), (*found.diagnostics, *edges.diagnostics), top_ports(joined), clocks(top),
        resets(top), edges.streams, edges.fifos,
        tuple({(r.block, r.name): r for r in registers if r.block in ids}.values()),
    )  # fmt: skip


def _in_whole(
    joined: Joined, asked: verilog_states.Asked, around: Mapping[str, str], block: str
) -> verilog_states.Asked:
    """What a branch asks for, by the instances' paths in the whole: what a module gets from VHDL comes from the
    instance `around` it. `block` is the path of the branch's."""
    outer = next((other for path, other in around.items() if block.startswith(f"{path}.")), "")
    terms = []
    for term in asked.terms:
        turn, dot, below = term.driver.removeprefix(f"{ROOTS}.").partition(".")
        if term.driver == ROOTS:
            terms.append(replace(term, driver=outer))
        elif path := joined.turns.get(f"{ROOTS}.{turn}"):
            terms.append(replace(term, driver=f"{path}{dot}{below}"))
        else:
            terms.append(term)
    return replace(asked, terms=tuple(terms))


def _around(top: Instance | None, path: str) -> str:
    """The instance that a path stands in."""
    every = (one.path for one in top.walk()) if top is not None else ()
    return max((one for one in every if path.startswith(f"{one}.")), key=len, default="")


def read(root: Path, hardware: HardwareSources, platform: Platform, parameters: Mapping[str, str], job: Job) -> Read:
    """The design with its blocks, and all that is wrong. Never raises for what stands in the sources."""
    job.progress(0.0, "reading the design")
    board = platform.hardware
    joined = read_joined(root, hardware, outside_of(board) if board is not None else (), parameters, job)
    job.progress(0.7, "looking at its instances")
    pins = [clock.pin for clock in board.clocks] if board is not None else []
    nodes = modules_by_name(joined.modules) if joined.modules is not None else {}

    def unreachable(instance: Instance) -> str:
        if isinstance(instance.body, Unit) or joined.modules is None:
            return ""
        return why_not_editable(joined.modules, nodes.get(instance.module))

    blocks = (*joined.processes, *joined.always)
    why_not, single = why_not_observed(blocks, joined.top, pins, unreachable)
    wrong = list(joined.diagnostics)
    library = vhdl_library_of(joined.entities, hardware)
    if joined.modules is not None:
        library |= library_of(joined.modules, hardware)
    for design, tree in joined.halves:
        wrong += verilog.of_modules(design, tree, [clock.name for clock in hardware.clocks])
        mine = {use.source.key for instance in tree.walk() for use in instance.blocks}
        blocks_of = [block for block in joined.always if block.key in mine]
        wrong += verilog_conditions.check_conditions(design, blocks_of, tree, why_not)
    left = list(joined.processes)
    for below, of in joined.designs:
        wrong += vhdl.unbound(below, of, hardware, joined.heads)
        reached = {use.source.key for instance in (of.walk() if of else ()) for use in instance.blocks}
        mine_too = [block for block in left if block.key in reached]
        left = [block for block in left if block.key not in reached]
        wrong += vhdl_conditions.check_conditions(below, mine_too, of, why_not, job)
    wrong += vhdl_conditions.check_conditions(joined.entities, left, None, why_not, job)
    wrong += derived(joined.top, joined.name_of, library, hardware)
    return Read(joined.top, why_not, single, library, joined.name_of, tuple(dict.fromkeys(wrong)), joined)


def alone(root: Path, hardware: HardwareSources) -> tuple[HdlLanguage, HardwareSources]:
    """The language that a top is in which reaches nothing of the other, and its half of the sources."""
    of_vhdl, of_verilog = parted(root, hardware)
    paths, _ = source_files(root.resolve(), of_vhdl.sources)
    units = read_units(paths, libraries_of(root, of_vhdl))[1]
    if any(unit.kind == "entity" and plain(unit.name) == plain(hardware.top) for unit in units):
        return VhdlLanguage(), of_vhdl
    return VerilogLanguage(), of_verilog


def top_ports(joined: Joined) -> tuple[HdlPort, ...]:
    """The top's ports, as its own language tells them."""
    if joined.entities.top is not None:
        return vhdl.top_ports(*joined.designs[0])
    return hdl_ports(joined.halves[0][0]) if joined.halves else ()


def _streams(found: Read, hardware: HardwareSources) -> FoundStreams:
    """The streams between Verilog modules below a top in Verilog."""
    joined = found.joined
    if joined.entities.top is not None or not joined.halves:
        return FoundStreams()
    design, tree = joined.halves[0]
    return own_streams(design, find_streams(design, tree, hardware), tree, hardware, found.library)


def definition(
    root: Path, hardware: HardwareSources, parameters: Mapping[str, str], file: Path, line: int, column: int, job: Job
) -> Definition | None:
    """As the language of the file tells it; a unit of the other language by its name."""
    of_vhdl, of_verilog = parted(root, hardware)
    if file.suffix.lower() in suffixes.VHDL:
        found = vhdl_definitions.definition(root, of_vhdl, parameters, file, line, column, job)
    else:
        found = verilog_definitions.definition(root, of_verilog, parameters, file, line, column, job)
    return found or _unit(root, of_vhdl, of_verilog, name_at(file, line, column))


def _unit(root: Path, of_vhdl: HardwareSources, of_verilog: HardwareSources, name: str) -> Definition | None:
    """The entity or module of a name, whatever language asks for it."""
    paths, _ = source_files(root.resolve(), of_vhdl.sources)
    for one in read_units(paths, libraries_of(root, of_vhdl))[1]:
        if one.kind == "entity" and plain(one.name) == plain(name):
            return Definition(str(one.file.path), one.line, 1, one.name, "entity")
    for path, text in read_modules(root, of_verilog).files.items():
        for unit in text.units:
            if unit.kind == "module" and unit.name.lower() == name.lower():
                return Definition(str(path), unit.line, 1, unit.name, "module")
    return None
