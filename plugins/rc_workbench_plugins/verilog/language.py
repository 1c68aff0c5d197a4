"""What the workbench asks of a hardware language, answered for Verilog and SystemVerilog."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import replace
from functools import partial
from pathlib import Path

from rc_workbench_plugins.verilog import build
from rc_workbench_plugins.verilog.blocks import Arm, SourceBlock, read_blocks
from rc_workbench_plugins.verilog.conditions import check_conditions
from rc_workbench_plugins.verilog.data_files import data_files
from rc_workbench_plugins.verilog.derived import derived, gives, made_clocks
from rc_workbench_plugins.verilog.design import Design, read_design
from rc_workbench_plugins.verilog.instances import Instance, Key, elaborate
from rc_workbench_plugins.verilog.monitored import hardware_of, why_not_observed
from rc_workbench_plugins.verilog.own import build_called, is_own, library_of, own_streams, streams_called
from rc_workbench_plugins.verilog.ports import clocks, hdl_ports, resets
from rc_workbench_plugins.verilog.rewrite import defined_twice, modules_by_name, why_not_editable
from rc_workbench_plugins.verilog.source_file import as_synthesised
from rc_workbench_plugins.verilog.states import Asked, States, find_states
from rc_workbench_plugins.verilog.streams import counted, find_streams
from rc_workbench_plugins.verilog.synthesis import unsynthesisable
from workbench.api import HdlBuild
from workbench.api.job import Job
from workbench.api.ports import HardwarePort
from workbench.model.application import HardwareSources
from workbench.model.diagnostic import Diagnostic, Severity, WorkbenchError, has_errors
from workbench.model.hardware import Hardware
from workbench.model.platform import Platform
from workbench.model.scan import Branch, HdlBlock, HdlScan


def scan(
    root: Path, hardware: HardwareSources, platform: Platform, parameters: dict[str, str], job: Job | None = None
) -> HdlScan:
    design, blocks, top, diagnostics, *_ = _read(root, hardware, parameters, job)
    reasons, _ = _reasons(design, blocks, top, platform)
    uses: dict[tuple[str, int], list[str]] = {block.key: [] for block in blocks}
    for instance in top.walk() if top else ():
        for use in instance.blocks:
            uses[use.source.key].append(use.path)
    library = library_of(design, hardware)
    edges = own_streams(design, find_streams(design, top, hardware), top, hardware, library)
    states = find_states(design, top, edges.streams)
    found = tuple(
        hdl_block(design, states, block, tuple(uses[block.key]), reasons.get(block.key, ""))
        for block in blocks
        if is_own(block, library)
    )
    own = {block.id for block in found}
    instances = tuple((i.path, i.module) for i in top.walk()) if top else ()
    streams, fifos = streams_called(edges.streams, edges.fifos, top.path if top else "", hardware.names)
    diagnostics = (*diagnostics, *check_conditions(design, blocks, top, reasons), *edges.diagnostics)
    registers = tuple(register for register in states.registers if register.block in own)
    return HdlScan(
        found, instances, diagnostics, hdl_ports(design), clocks(top), resets(top), streams, fifos, registers
    )


def plain(root: Path, hardware: HardwareSources, parameters: dict[str, str]) -> HdlBuild:
    design = read_design(root, hardware, parameters)
    ports = () if has_errors(design.diagnostics) else hdl_ports(design)  # the simulator tells the errors
    made = made_clocks(_read(root, hardware, parameters, None)[2], hardware) if hardware.clocks else {}
    return HdlBuild(sources=as_synthesised(design.needed), top=hardware.top, blocks=(), ports=ports, made=made,
                    include_dirs=build.include_dirs_of(design, hardware))  # fmt: skip


def instrument(
    root: Path,
    hardware: HardwareSources,
    platform: Platform,
    parameters: dict[str, str],
    out: Path,
    job: Job | None = None,
    vary: bool = False,
) -> HdlBuild:
    design, blocks, top, diagnostics, data, read = _read(root, hardware, parameters, job)
    if top is None or has_errors(diagnostics):
        raise WorkbenchError(*diagnostics)
    board = hardware_of(platform)
    reasons, single = _reasons(design, blocks, top, platform)
    wrong = tuple(check_conditions(design, blocks, top, reasons))
    if has_errors(wrong):
        raise WorkbenchError(*wrong)
    diagnostics = (*diagnostics, *wrong)
    clock_of = {clock.pin: clock.name for clock in board.clocks}
    library = library_of(design, hardware)
    found = find_streams(design, top, hardware, outside(board))
    streams = counted(own_streams(design, found, top, hardware, library), top.path, clock_of)
    if has_errors(streams.diagnostics):
        raise WorkbenchError(*streams.diagnostics)
    diagnostics = (*diagnostics, *streams.diagnostics)
    made = build.build(
        design, top, reasons, single, hardware, board, parameters, out.resolve(), diagnostics, streams,
        library, vary,
    )  # fmt: skip
    return replace(build_called(made, top.path, hardware.names), data=data, read=read)


with_depths = partial(instrument, vary=True)


def outside(hardware: Hardware) -> Iterator[str]:
    """The top's signals by which the platform's ports and the host go on: all but data."""
    if hardware.interrupt:
        yield hardware.interrupt
    for port in hardware.ports:
        if isinstance(port, HardwarePort):
            yield from (signal.name for signal in port.signals().values() if signal.bits == 1 or not signal.bits)


def _read(
    root: Path, hardware: HardwareSources, parameters: Mapping[str, str], job: Job | None
) -> tuple[Design, tuple[SourceBlock, ...], Instance | None, tuple[Diagnostic, ...], tuple[str, ...], tuple[Path, ...]]:
    """The design, its blocks, its top, what is wrong, the data that it reads as it runs, and all files that it was read
    from (none where some are not there)."""
    job = job or Job()
    job.progress(0.0, "reading the design")
    design = read_design(root, hardware, parameters)
    job.progress(0.4, "looking for its blocks")
    blocks, pragmas = read_blocks(design)
    job.progress(0.7, "looking at its instances")
    top = elaborate(design, {block.key: block for block in blocks})
    broken = {one.file for one in design.diagnostics if has_errors([one])}  # of which not all may have been read
    lost = (one for one in pragmas if one.severity is not Severity.WARNING or one.file not in broken)
    diagnostics = (*design.diagnostics, *lost)
    if top is not None:
        diagnostics += tuple(of_modules(design, top, [clock.name for clock in hardware.clocks]))
    diagnostics += tuple(derived(top, design.name_of, library_of(design, hardware), hardware))
    data, unread = data_files(design)
    read = () if unread else (*design.files, *(root / name for name in data))
    return design, blocks, top, (*diagnostics, *unread), data, read


def of_modules(design: Design, top: Instance, clocks: Collection[str]) -> Iterator[Diagnostic]:
    """What is to be told of the modules below a top. `clocks` are those of PLLs that are simulated as fast as they
    are."""
    nodes = modules_by_name(design)
    used = dict.fromkeys(instance.module for instance in top.walk())
    yield from defined_twice(design, used)
    yield from _of_primitives(design, top, clocks)
    yield from unsynthesisable(design, [nodes[name] for name in used if name in nodes])


def _of_primitives(design: Design, top: Instance, clocks: Collection[str]) -> Iterator[Diagnostic]:
    """What the simulation does not know of the vendors' primitives, where they are instantiated."""
    told: dict[tuple[Path, int, int], Diagnostic] = {}
    for instance in top.walk():
        if design.primitives and not gives(instance, clocks) and (said := design.primitives.told(instance.module)):
            message, hint = said
            path, line, column = design.place(instance.node.getFirstToken().location)
            warning = Diagnostic(message, hint, Severity.WARNING, design.name_of(path), line, column)
            told.setdefault((path, line, column), warning)
    return iter(told.values())


def _reasons(
    design: Design, blocks: tuple[SourceBlock, ...], top: Instance | None, platform: Platform
) -> tuple[dict[Key, str], dict[str, str]]:
    nodes = modules_by_name(design)
    clocks = [clock.pin for clock in platform.hardware.clocks] if platform.hardware else []
    return why_not_observed(blocks, top, clocks, lambda instance: why_not_editable(design, nodes.get(instance.module)))


def hdl_block(design: Design, states: States, block: SourceBlock, instances: tuple[str, ...], why_not: str) -> HdlBlock:
    branches = tuple(_branch(arm, states.of(block, arm)) for arm in block.arms)
    return HdlBlock(
        f"{block.module}.{block.label}", block.module, block.kind, design.name_of(block.path), block.line,
        block.end_line, block.clock, block.edge, branches, instances, why_not,
    )  # fmt: skip


def _branch(arm: Arm, asked: Asked) -> Branch:
    return Branch(
        arm.line, arm.kind, arm.label, arm.pragma_line, arm.indent, arm.end_line, arm.pragmas, asked.register,
        asked.values, asked.terms, arm.pragma_column,
    )  # fmt: skip
