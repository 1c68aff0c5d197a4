"""Verilog and SystemVerilog as a hardware language of the workbench."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

from workbench.api import HdlBuild, HdlFiles, HdlSimulation
from workbench.api.job import Job
from workbench.hdl import instrument as core
from workbench.hdl.blocks import SourceBlock
from workbench.hdl.board import outside
from workbench.hdl.derived import clocks_of_streams, derived, made_clocks, pll_nets
from workbench.hdl.instances import Instance
from workbench.hdl.instrument import Copies
from workbench.hdl.layout import Layout
from workbench.hdl.metrics import MetricBlock, not_reached, unknown_modules, with_clocks, with_metrics
from workbench.hdl.monitored import why_not_observed
from workbench.hdl.own import streams_called
from workbench.hdl.reading import Part, Reading
from workbench.hdl.reading import scan as scan_of
from workbench.hdl.verilog.blocks import read_blocks
from workbench.hdl.verilog.build import Written
from workbench.hdl.verilog.conditions import check_conditions
from workbench.hdl.verilog.copies import include_dirs_of
from workbench.hdl.verilog.data_files import data_files
from workbench.hdl.verilog.design import Design, read_design
from workbench.hdl.verilog.elaborate import elaborate
from workbench.hdl.verilog.metrics import check_metrics, read_metrics, value_type
from workbench.hdl.verilog.own import library_of, own_streams
from workbench.hdl.verilog.ports import hdl_ports
from workbench.hdl.verilog.rewrite import modules_by_name, why_not_editable
from workbench.hdl.verilog.scanned import of_modules
from workbench.hdl.verilog.source_file import as_synthesised
from workbench.hdl.verilog.states import find_states
from workbench.hdl.verilog.streams import counted, find_streams
from workbench.hdl.verilog.watched import with_resets
from workbench.model.application import HardwareSources
from workbench.model.diagnostic import Diagnostic, Severity, WorkbenchError, has_errors
from workbench.model.hardware import Hardware
from workbench.model.platform import Platform
from workbench.model.scan import HdlScan


@dataclass(frozen=True)
class Read(Reading):
    """A design in Verilog. It reads the files named in `data` as it runs; `files` are all that it was read from, none
    where some are not there."""

    design: Design
    blocks: tuple[SourceBlock, ...]
    data: tuple[str, ...]
    files: tuple[Path, ...]
    metrics: tuple[MetricBlock, ...]

    def check(self) -> tuple[Diagnostic, ...]:
        """What is wrong with the conditions of its pragmas and metrics."""
        wrong = check_conditions(self.design, self.blocks, self.top, self.why_not)
        return (*wrong, *check_metrics(self.design, self.metrics, self.top, self.why_not))


def scan(
    root: Path, hardware: HardwareSources, platform: Platform, parameters: dict[str, str], job: Job | None = None
) -> HdlScan:
    reading = read(root, hardware, platform, parameters, job or Job())
    design, top = reading.design, reading.top
    edges = own_streams(design, find_streams(design, top, hardware, pll_nets(top)), top, hardware, reading.library)
    states = find_states(design, top, edges.streams)
    streams, fifos = streams_called(edges.streams, edges.fifos, top.path if top else "", hardware.names)
    return scan_of(
        replace(reading, diagnostics=(*reading.diagnostics, *reading.check())),
        [Part(reading.blocks, states.registers, states.of)],
        hdl_ports(design),
        replace(edges, streams=streams, fifos=fifos),
    )


def plain(root: Path, hardware: HardwareSources, parameters: dict[str, str]) -> HdlBuild:
    design = read_design(root, hardware, parameters)
    ports = () if has_errors(design.diagnostics) else hdl_ports(design)  # the simulator tells the errors
    tree = elaborate(design, {block.key: block for block in read_blocks(design)[0]}) if hardware.clocks else None
    clocks = made_clocks(tree, hardware) if hardware.clocks else {}
    return HdlBuild(
        as_synthesised(design.needed), hardware.top, (), ports=ports,
        files=HdlFiles(include_dirs_of(design, hardware)), simulation=HdlSimulation(made=clocks),
    )  # fmt: skip


def instrument(
    root: Path,
    hardware: HardwareSources,
    platform: Platform,
    parameters: dict[str, str],
    out: Path,
    job: Job | None = None,
    vary: bool = False,
) -> HdlBuild:
    """The design below `out`; `vary`: without states, and with FIFOs whose depth can be chosen."""
    reading, out = read(root, hardware, platform, parameters, job or Job()), out.resolve()
    if not has_errors(reading.diagnostics):
        wrong = reading.check()
        if has_errors(wrong):
            raise WorkbenchError(*wrong)
        reading = replace(reading, diagnostics=(*reading.diagnostics, *wrong))
    written = Written(reading.design, hardware, parameters, out, vary)

    def copy(top: Instance, layout: Layout, board: Hardware) -> Copies:
        streams = find_streams(reading.design, top, hardware, pll_nets(top), outside(board))
        streams = own_streams(reading.design, streams, top, hardware, reading.library)
        streams = counted(streams, top.path, clocks_of_streams(top, hardware, board))
        if has_errors(streams.diagnostics):
            raise WorkbenchError(*streams.diagnostics)
        return written.copies(top, layout, board, streams, reading.single)

    nodes = modules_by_name(reading.design)

    def editable(name: str) -> bool:
        return not why_not_editable(reading.design, nodes.get(name))

    build = core.instrument(reading, hardware, platform, out, editable, copy, not vary)
    return replace(build, files=replace(build.files, data=reading.data), read=reading.files)


with_depths = partial(instrument, vary=True)


def read(root: Path, hardware: HardwareSources, platform: Platform, parameters: Mapping[str, str], job: Job) -> Read:
    """The design with its blocks, and all that is wrong but its pragmas' conditions."""
    job.progress(0.0, "reading the design")
    design = read_design(root, hardware, parameters)
    job.progress(0.4, "looking for its blocks")
    blocks, pragmas = read_blocks(design)
    job.progress(0.7, "reading its instances")
    metrics, misplaced = read_metrics(design, blocks, hardware)
    top = elaborate(design, with_clocks(blocks, metrics))
    misplaced = (*misplaced, *unknown_modules(hardware.metrics, blocks))
    with_metrics(top, metrics, value_type)
    if hardware.branches:
        with_resets(design, top)
    pragmas = (*pragmas, *misplaced, *not_reached(top, metrics))
    broken = {one.file for one in design.diagnostics if has_errors([one])}  # of which not all may have been read
    lost = (one for one in pragmas if one.severity is not Severity.WARNING or one.file not in broken)
    diagnostics = (*design.diagnostics, *lost)
    if top is not None:
        diagnostics += tuple(of_modules(design, top, [clock.name for clock in hardware.clocks]))
    library = library_of(design, hardware)
    diagnostics += tuple(derived(top, design.name_of, library, hardware))
    data, unread = data_files(design)
    files = () if unread else (*design.files, *(root / name for name in data))
    nodes = modules_by_name(design)
    pins = [clock.pin for clock in platform.hardware.clocks] if platform.hardware else []

    def unreachable(one: Instance) -> str:
        return why_not_editable(design, nodes.get(one.module))

    why_not, single = why_not_observed((*blocks, *metrics), top, pins, unreachable)
    return Read(
        top, why_not, single, library, design.name_of, (*diagnostics, *unread), design, blocks, data, files, metrics
    )  # fmt: skip
