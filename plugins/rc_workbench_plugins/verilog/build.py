"""Writes the instrumented design: observed copies of the sources, the monitor, and the top level around both."""

from __future__ import annotations

from collections.abc import Collection, Container, Mapping
from dataclasses import replace
from functools import partial
from pathlib import Path

from rc_workbench_plugins.verilog.addresses import addresses_answered
from rc_workbench_plugins.verilog.blocks import SourceBlock
from rc_workbench_plugins.verilog.conditions import CONDITION_HINT
from rc_workbench_plugins.verilog.cones import with_depends
from rc_workbench_plugins.verilog.depths import below_stores, vary_depths
from rc_workbench_plugins.verilog.design import Design, read_design
from rc_workbench_plugins.verilog.instances import Instance, Key
from rc_workbench_plugins.verilog.labels import Label, labelled
from rc_workbench_plugins.verilog.layout import Layout, lay_out
from rc_workbench_plugins.verilog.monitored import (
    clocks_by_pin,
    copy_path,
    monitored,
    write_around,
    write_file,
    writing,
)
from rc_workbench_plugins.verilog.ports import clocks as clocks_of
from rc_workbench_plugins.verilog.ports import hdl_ports, resets
from rc_workbench_plugins.verilog.rewrite import (
    Edits,
    add_port,
    connect,
    modules_by_name,
    observe,
    rename_module,
    set_default,
    why_not_editable,
)
from rc_workbench_plugins.verilog.source_file import as_synthesised
from rc_workbench_plugins.verilog.streams import FoundStreams
from rc_workbench_plugins.verilog.tapped import held_in_reset, tapped
from rc_workbench_plugins.verilog.top import read_top
from workbench.api import HdlBuild
from workbench.api.equivalence import Comparison, HdlSide
from workbench.api.instrument import wrapper
from workbench.api.instrument.wrapper import Top
from workbench.api.source.left_out import synthesised
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


def include_dirs_of(design: Design, hardware: HardwareSources) -> tuple[Path, ...]:
    """The project's, and the sources' own folders, which their copies have left."""
    listed = [(design.root / name).resolve() for name in hardware.include_dirs]
    return tuple(dict.fromkeys([*listed, *(path.parent for path in design.sources)]))


def edit_modules(
    design: Design,
    top: Instance,
    layout: Layout,
    told: Mapping[Key, str],
    held: Collection[Key],
    others: Container[str] = (),
) -> dict[Path, Edits]:
    """The edits of every file that lead the states up. `told` has the expressions of those that a register of the
    design tells; those `held` keep them in reset. The modules `others` are none of this language."""
    nodes = modules_by_name(design)
    edits: dict[Path, Edits] = {}

    def of(path: Path) -> Edits:
        return edits.setdefault(path, Edits(path))

    ports: dict[Key, int] = {}
    blocks: dict[Key, SourceBlock] = {}
    for instance in top.walk():
        for use in instance.blocks:
            blocks[use.source.key] = use.source
        for child in instance.children:
            ports[child.key] = child.ports
    for module, sites in layout.sites.items():
        if not layout.widths[module] or module in others:
            continue
        node = nodes[module]
        path = design.place(node.header.name.location)[0]
        add_port(design, of(path), node, layout.widths[module])
        instantiations = {child.key: child.node for i in top.walk() if i.module == module for child in i.children}
        for key, site in sites.items():
            if key in blocks:
                observe(
                    design, of(blocks[key].path), blocks[key], site.slice(), told.get(key, ""), key in held, site.clock
                )
            else:
                connect(design, of(path), instantiations[key], site.slice(), ports[key])
    return edits


def name_top(design: Design, edits: dict[Path, Edits], shell: Top, given: Collection[str]) -> None:
    """The edits that call the top's module `shell.inner`, and set the parameters that are `given` to their values."""
    head = modules_by_name(design)[shell.name]
    path = design.place(head.header.name.location)[0]
    of_top = edits.setdefault(path, Edits(path))
    rename_module(design, of_top, head, shell.inner)
    values = {parameter.name: parameter.value for parameter in shell.parameters if parameter.name in given}
    for parameter in design.top.body.parameters if design.top is not None else ():
        if parameter.name in values:
            set_default(design, of_top, parameter.syntax, values[parameter.name])


def _write(design: Design, edits: Mapping[Path, Edits], generated: str, out: Path) -> tuple[Path, ...]:
    sources: list[Path] = []
    timescale = ""  # all modules of a design have one, or none has
    with writing(out):
        for path in design.needed:
            data = synthesised(path.read_bytes(), "verilog")
            if b"`timescale" in data:
                timescale = "`timescale 1ns / 1ps\n"
            sources.append(write_file(copy_of(design, path, out), edits[path].apply(data) if path in edits else data))
        sources += write_around(generated, out, timescale)
    return tuple(sources)


def copy_of(design: Design, path: Path, out: Path) -> Path:
    return copy_path(design.root, path, design.sources.index(path), out)


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


def explained(
    design: Design, problem: Diagnostic, originals: Mapping[Path, Path], edits: Mapping[Path, Edits], out: Path
) -> Diagnostic:
    path = originals.get(out / problem.file) if problem.file else None
    placed = edits[path].conditions.get(problem.line or 0) if path and path in edits else None
    if placed is not None:
        message = f"the condition of the pragma '{placed.pragma.name}' is wrong: {problem.message}"
        return placed.diagnostic(message, CONDITION_HINT, Severity.ERROR)
    if path is not None:
        return Diagnostic(problem.message, problem.hint, Severity.ERROR, design.name_of(path), problem.line,
                          problem.column)  # fmt: skip
    return Diagnostic(
        f"the platform's hardware port does not fit the top module: {problem.message}",
        "Fix the port's signal names and conditions in the platform document.",
    )
