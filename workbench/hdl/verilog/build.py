"""Writes the instrumented design: observed copies of the sources, the monitor, and the top level around both."""

from __future__ import annotations

from collections.abc import Container, Mapping
from dataclasses import replace
from functools import partial
from pathlib import Path

from workbench.api import HdlBuild
from workbench.api.equivalence import Comparison, HdlSide
from workbench.api.instrument import wrapper
from workbench.api.source.left_out import synthesised
from workbench.api.source.lines import source_bytes
from workbench.hdl.board import clocks_by_pin
from workbench.hdl.copies import write_around, write_file, writing
from workbench.hdl.edits import Edits
from workbench.hdl.instances import Instance, Key
from workbench.hdl.layout import lay_out
from workbench.hdl.monitored import monitored
from workbench.hdl.top_inputs import clocks as clocks_of
from workbench.hdl.top_inputs import resets
from workbench.hdl.verilog.addresses import addresses_answered
from workbench.hdl.verilog.cones import with_depends
from workbench.hdl.verilog.copies import copy_of, edit_modules, explained, include_dirs_of, name_top
from workbench.hdl.verilog.depths import below_stores, vary_depths
from workbench.hdl.verilog.design import Design, read_design
from workbench.hdl.verilog.labels import Label, labelled
from workbench.hdl.verilog.ports import hdl_ports
from workbench.hdl.verilog.rewrite import (
    modules_by_name,
    why_not_editable,
)
from workbench.hdl.verilog.source_file import as_synthesised
from workbench.hdl.verilog.streams import FoundStreams
from workbench.hdl.verilog.tapped import held_in_reset, tapped
from workbench.hdl.verilog.top import read_top
from workbench.model.application import HardwareSources
from workbench.model.diagnostic import Diagnostic, Severity, WorkbenchError, has_errors
from workbench.model.hardware import Hardware

_INNER = "__recap_user"


def build(
    design: Design,
    top: Instance,
    why_not: Mapping[Key, str],
    single: Mapping[str, str],
    hardware: HardwareSources,
    platform_hardware: Hardware,
    parameters: Mapping[str, str],
    out: Path,
    diagnostics: tuple[Diagnostic, ...],
    streams: FoundStreams,
    library: Container[Path] = (),
    vary: bool = False,
) -> HdlBuild:
    """Write the instrumented design below `out`, and tell what is in it; `vary`: without states, and with FIFOs whose
    depth can be chosen. `why_not` tells of blocks that are observed nowhere, `single` of those that are not, by their
    paths. WorkbenchError where that cannot be done."""
    nodes = modules_by_name(design)
    layout = lay_out(
        top,
        observed=lambda block: bool(block.states) and block.key not in why_not and not vary,
        editable=lambda module: not why_not_editable(design, nodes.get(module)),
    )
    shell = read_top(design.top, top.module + _INNER)
    wrapper.check_port(shell, platform_hardware)
    ports = hdl_ports(design)
    widths = {port.name: port.bits for port in ports}
    clocks = clocks_by_pin(platform_hardware)
    told, held = tapped(design.nets, top, layout, clocks, single), held_in_reset(design.nets, top, clocks)
    watched = monitored(top, layout, platform_hardware, hardware, widths, library, single, told)
    edits = edit_modules(design, top, layout, told, held)
    name_top(design, edits, shell, hardware.values(parameters))
    for label in set(streams.labels.values()) if streams.streams else ():
        edits.setdefault(label.path, Edits(label.path)).insert(label.offset, f" : {label.name}")
    stores, varied, not_varied = vary_depths(design, top, streams, edits) if vary else ("", {}, ())
    below = partial(labelled, top=top.path, labels=streams.labels)
    named = [
        replace(one, valid=below(one.valid), ready=below(one.ready), mark=below(one.mark)) for one in streams.streams
    ]
    seen = below_stores(named, varied.values())
    generated = watched.around(shell, seen) + stores
    sources = _write(design, edits, generated, out)
    _check(design, sources, edits, hardware, parameters, out)
    return HdlBuild(
        sources=sources,
        top=top.module,
        ports=ports,
        blocks=with_depends(watched.blocks(design.name_of), design.nets, top, platform_hardware.clocks),
        taps=watched.taps,
        tap_bits=watched.width,
        streams=seen,
        varied=varied,
        fifos=streams.fifos,
        idle=tuple(map(below, streams.idle)),
        defines=(wrapper.TAPS_DEFINE,) if watched.width else (),
        uncounted=wrapper.uncounted(watched.monitors),
        include_dirs=include_dirs_of(design, hardware),
        read_out=watched.read_out,
        own_port=watched.own_port,
        compared=_compared(
            design,
            top,
            hardware,
            hardware.values(parameters),
            sources,
            shell.inner,
            watched.own_width,
            streams.labels if streams.streams else {},
        ),
        made=watched.made,
        stand_ins=(copy_of(design, design.primitives.file, out),) if design.primitives else (),
        missed=tuple(watched.missed(design.name_of, why_not, single)),
        diagnostics=(
            *diagnostics,
            *watched.large(design.name_of),
            *addresses_answered(design, watched.addresses(platform_hardware), hardware.read_out),
            *not_varied,
        ),
    )


def _compared(
    design: Design, top: Instance, hardware: HardwareSources, parameters: dict[str, str],
    sources: tuple[Path, ...], inner: str, width: int,
    labels: Mapping[str, Label],
) -> Comparison:  # fmt: skip
    """The design beside its copy, in which the parameters' values are written already."""
    include_dirs, defines = include_dirs_of(design, hardware), {k: str(v) for k, v in hardware.defines.items()}
    return Comparison(
        HdlSide(as_synthesised(design.needed), top.module, include_dirs, defines, parameters),
        HdlSide(sources[: len(design.needed)], inner, include_dirs, defines),
        (wrapper.STATE_PORT,) if width else (),
        tuple(dict.fromkeys((label.name, place.rpartition(".")[2]) for place, label in labels.items())),
        tuple(name for name, _ in clocks_of(top)),
        resets(top),
    )


def _write(design: Design, edits: Mapping[Path, Edits], generated: str, out: Path) -> tuple[Path, ...]:
    sources: list[Path] = []
    timescale = ""  # all modules of a design have one, or none has
    with writing(out):
        for path in design.needed:
            data = synthesised(source_bytes(path), "verilog")
            if b"`timescale" in data:
                timescale = "`timescale 1ns / 1ps\n"
            sources.append(write_file(copy_of(design, path, out), edits[path].apply(data) if path in edits else data))
        sources += write_around(generated, out, timescale)
    return tuple(sources)


def _check(
    design: Design,
    sources: tuple[Path, ...],
    edits: Mapping[Path, Edits],
    hardware: HardwareSources,
    parameters: Mapping[str, str],
    out: Path,
) -> None:
    """Elaborate what was written: what is wrong there is wrong in a pragma's condition, or in the port's."""
    include_dirs = tuple(str(path) for path in include_dirs_of(design, hardware))
    copied = hardware.model_copy(update={"sources": tuple(str(s) for s in sources), "include_dirs": include_dirs})
    problems = [d for d in read_design(out, copied, parameters).diagnostics if d.severity is Severity.ERROR]
    if not has_errors(problems):
        return
    originals = {copy_of(design, path, out): path for path in design.sources}
    raise WorkbenchError(*dict.fromkeys(explained(design, problem, originals, edits, out) for problem in problems))
