"""What the workbench asks of a hardware language, answered for Verilog and SystemVerilog."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from functools import partial
from pathlib import Path

from workbench.api import HdlBuild
from workbench.api.job import Job
from workbench.hdl.blocks import SourceBlock
from workbench.hdl.board import hardware_of, outside
from workbench.hdl.derived import derived, made_clocks
from workbench.hdl.instances import Instance, Key
from workbench.hdl.monitored import why_not_observed
from workbench.hdl.own import build_called, is_own, streams_called
from workbench.hdl.top_inputs import clocks, resets
from workbench.hdl.verilog import build
from workbench.hdl.verilog.blocks import read_blocks
from workbench.hdl.verilog.conditions import check_conditions
from workbench.hdl.verilog.data_files import data_files
from workbench.hdl.verilog.design import Design, read_design
from workbench.hdl.verilog.elaborate import elaborate
from workbench.hdl.verilog.own import library_of, own_streams
from workbench.hdl.verilog.ports import hdl_ports
from workbench.hdl.verilog.rewrite import modules_by_name, why_not_editable
from workbench.hdl.verilog.scanned import hdl_block, of_modules
from workbench.hdl.verilog.source_file import as_synthesised
from workbench.hdl.verilog.states import find_states
from workbench.hdl.verilog.streams import counted, find_streams
from workbench.model.application import HardwareSources
from workbench.model.diagnostic import Diagnostic, Severity, WorkbenchError, has_errors
from workbench.model.platform import Platform
from workbench.model.scan import HdlScan


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


def _reasons(
    design: Design, blocks: tuple[SourceBlock, ...], top: Instance | None, platform: Platform
) -> tuple[dict[Key, str], dict[str, str]]:
    nodes = modules_by_name(design)
    clocks = [clock.pin for clock in platform.hardware.clocks] if platform.hardware else []
    return why_not_observed(blocks, top, clocks, lambda instance: why_not_editable(design, nodes.get(instance.module)))
