"""The edits that make an observed copy of a design in Verilog."""

from collections.abc import Collection, Container, Mapping
from pathlib import Path

from pyslang import syntax

from workbench.api.instrument.wrapper import Top
from workbench.api.languages import VERILOG
from workbench.api.source.left_out import synthesised
from workbench.api.source.lines import source_bytes
from workbench.hdl.blocks import SourceBlock
from workbench.hdl.copies import copy_path, write_file, writing
from workbench.hdl.edits import Edits
from workbench.hdl.instances import Instance, Key
from workbench.hdl.layout import Layout, Site
from workbench.hdl.metrics import MetricBlock
from workbench.hdl.verilog.conditions import CONDITION_HINT
from workbench.hdl.verilog.design import Design
from workbench.hdl.verilog.members import assertions_of
from workbench.hdl.verilog.rewrite import (
    add_port,
    connect,
    leave_out,
    modules_by_name,
    observe,
    observe_marks,
    observe_metric,
    rename_module,
    set_default,
    stands_alone,
)
from workbench.model.application import HardwareSources
from workbench.model.diagnostic import Diagnostic, Severity


def include_dirs_of(design: Design, hardware: HardwareSources) -> tuple[Path, ...]:
    """The project's, and the sources' own folders, which their copies have left."""
    listed = [(design.root / name).resolve() for name in hardware.include_dirs]
    return tuple(dict.fromkeys([*listed, *(path.parent for path in design.sources)]))


def edit_modules(
    design: Design,
    top: Instance,
    layout: Layout,
    expressions: Mapping[Key, str],
    held: Collection[Key],
    others: Container[str] = (),
) -> dict[Path, Edits]:
    """The edits of every file that lead the states up. `expressions` are of those that a register of the design
    shows; those `held` keep them in reset. The modules `others` are none of this language."""
    nodes = modules_by_name(design)
    edits: dict[Path, Edits] = {}

    def of(path: Path) -> Edits:
        return edits.setdefault(path, Edits(path))

    ports: dict[Key, int] = {}
    marked: list[tuple[MetricBlock, Site]] = []
    blocks: dict[Key, SourceBlock] = {}
    for instance in top.walk():
        for use in instance.observed:
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
            if isinstance(block := blocks.get(key), MetricBlock):
                if block.marks:
                    marked.append((block, site))
                else:
                    observe_metric(of(block.path), block, site.slice(), site.clock)
                    if isinstance(block.node, syntax.ImmediateAssertionStatementSyntax):
                        leave_out(design, of(block.path), block.node, ";")
            elif key in blocks:
                observe(
                    design,
                    of(blocks[key].path),
                    blocks[key],
                    site.slice(),
                    expressions.get(key, ""),
                    key in held,
                    site.clock,
                )
            else:
                connect(design, of(path), instantiations[key], site.slice(), ports[key])
    for block, site in marked:  # within what other edits put around statements
        anchor = block.anchor.key if block.anchor is not None else block.key
        observe_marks(design, of(block.path), block, site.slice(), anchor in held, site.clock)
    sited = {key for sites in layout.sites.values() for key in sites}
    for member in assertions_of(design):  # of which Verilator takes fewer than are watched
        path = design.place(member.getFirstToken().location)[0]
        if path in design.sources:
            key = (str(path), int(member.getFirstToken().location.offset))
            instead = ("end" if key in sited else "begin end") if stands_alone(member) else ""
            leave_out(design, of(path), member, instead)
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


def copy_of(design: Design, path: Path, out: Path) -> Path:
    return copy_path(design.root, path, design.sources.index(path), out)


def explained(
    design: Design, problem: Diagnostic, originals: Mapping[Path, Path], edits: Mapping[Path, Edits], out: Path
) -> Diagnostic:
    path = originals.get(out / problem.file) if problem.file else None
    placed = edits[path].conditions.get(problem.line or 0) if path and path in edits else None
    if placed is not None:
        message = f"{placed.title} is wrong: {problem.message}"
        return placed.diagnostic(message, CONDITION_HINT, Severity.ERROR)
    if path is not None:
        return Diagnostic(problem.message, problem.hint, Severity.ERROR, design.name_of(path), problem.line,
                          problem.column)  # fmt: skip
    return Diagnostic(
        f"the platform's hardware port does not fit the top module: {problem.message}",
        "Fix the port's signal names and conditions in the platform document.",
    )


def write_copies(
    design: Design, edits: Mapping[Path, Edits], out: Path, boxes: Container[Path] = ()
) -> tuple[tuple[Path, ...], str]:
    """The copies of all files but `boxes`, and the directive that all other modules need where any of them has one."""
    copies: list[Path] = []
    timescale = ""  # all modules of a design have one, or none has
    with writing(out):
        for path in design.needed:
            if path in boxes:
                continue
            data = synthesised(source_bytes(path), VERILOG)
            if b"`timescale" in data:
                timescale = "`timescale 1ns / 1ps\n"
            copies.append(write_file(copy_of(design, path, out), edits[path].apply(data) if path in edits else data))
    return tuple(copies), timescale
