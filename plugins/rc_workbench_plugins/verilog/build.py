"""Writes the instrumented design: observed copies of the sources, the monitor, and the top level around both."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Container, Iterator, Mapping
from dataclasses import replace
from functools import partial
from pathlib import Path

from rc_workbench_plugins.ports.memory import OWN_ADDRESSES, own_port
from rc_workbench_plugins.verilog.blocks import SourceBlock
from rc_workbench_plugins.verilog.conditions import CONDITION_HINT
from rc_workbench_plugins.verilog.depths import DEPTH_MODULE, DEPTH_SOURCE, below_stores, vary_depths
from rc_workbench_plugins.verilog.design import Design, read_design
from rc_workbench_plugins.verilog.instances import BlockUse, Instance, Key
from rc_workbench_plugins.verilog.labels import labelled
from rc_workbench_plugins.verilog.layout import Layout, lay_out
from rc_workbench_plugins.verilog.own import is_own
from rc_workbench_plugins.verilog.ports import hdl_ports
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
from rc_workbench_plugins.verilog.streams import FoundStreams
from rc_workbench_plugins.verilog.top import own_ports, read_top
from workbench.api import HdlBuild
from workbench.api.instrument import wrapper
from workbench.api.instrument.probes import STATES_OF_A_BLOCK_RAM, MonitorPlan, Probe, TraceStore, state_bits
from workbench.api.instrument.wrapper import Top
from workbench.api.ports import monitor_front
from workbench.model.application import HardwareSources
from workbench.model.blocks import Block, Side, State
from workbench.model.diagnostic import Diagnostic, Severity, WorkbenchError, has_errors
from workbench.model.hardware import Clock, Hardware
from workbench.model.pragma import UNCLASSIFIED
from workbench.model.read_out import ReadOutPlan

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
    bits = {path: bit for path, bit in layout.bits(top).items() if path not in single}
    uses = [use for instance in top.walk() for use in instance.blocks if is_own(use.source, library)]
    shell = read_top(design.top, top.module + _INNER)
    wrapper.check_port(shell, platform_hardware)
    clock_of = {clock.pin: clock for clock in platform_hardware.clocks}
    counted = [use for use in uses if use.root_clock in clock_of]
    probes = {
        number: Probe(number, bits[use.path], len(use.source.states) + 1)
        for number, use in enumerate(counted)
        if use.path in bits
    }
    first, width = platform_hardware.clocks[0], layout.widths.get(top.module, 0)
    widths = {port.name: port.bits for port in hdl_ports(design)}
    monitors: list[wrapper.Monitor] = []
    read_outs: list[ReadOutPlan] = []
    own: list[tuple[str, str]] = []
    store = TraceStore.of(hardware.trace.records, hardware.trace.burst) if hardware.trace else None
    for clock in platform_hardware.clocks:
        numbers = tuple(number for number, use in enumerate(counted) if clock_of[use.root_clock] == clock)
        if not numbers and clock != first:
            continue
        if place := monitor_front(platform_hardware, clock, hardware.read_out, widths):
            (port, front), addresses = place, hardware.read_out
        else:
            own.append((f"recap_{len(monitors)}" if monitors else "recap", clock.name))
            (port, front), addresses = own_port(*own[-1]), OWN_ADDRESSES
        observed = tuple(probes[number] for number in numbers if number in probes)
        plan = MonitorPlan(observed, width, trace=store)
        if not clock.reset:  # what it drives comes out of reset with the rest
            clock = clock.model_copy(update={"reset": first.reset, "reset_hdl": first.reset_hdl})
        monitors.append(wrapper.Monitor(plan, front, clock, () if place else own_ports(port)))
        read_outs.append(plan.read_out(front, addresses, port.name, numbers))
    edits = _edit(design, top, layout, shell, {**hardware.parameters, **parameters})
    for label in set(streams.labels.values()) if streams.streams else ():
        edits.setdefault(label.path, Edits(label.path)).insert(label.offset, f" : {label.name}")
    stores, varied, not_varied = vary_depths(design, top, streams, edits) if vary else ("", {}, ())
    below = partial(labelled, top=top.path, labels=streams.labels)
    named = [
        replace(one, valid=below(one.valid), ready=below(one.ready), mark=below(one.mark)) for one in streams.streams
    ]
    seen = below_stores(named, varied.values())
    generated = wrapper.wrapper(shell, monitors, seen) + stores
    sources = _write(design, edits, generated, out)
    _check(design, sources, edits, hardware, parameters, out)
    return HdlBuild(
        sources=sources,
        top=top.module,
        ports=hdl_ports(design),
        blocks=tuple(_block(design, use, clock_of[use.root_clock], use.path in bits) for use in counted),
        taps=tuple((bits[u.path], state_bits(len(u.source.states) + 1)) if u.path in bits else (0, 0) for u in counted),
        tap_bits=width,
        streams=seen,
        varied=varied,
        fifos=streams.fifos,
        idle=tuple(map(below, streams.idle)),
        defines=(wrapper.TAPS_DEFINE,) if width else (),
        uncounted=wrapper.uncounted(monitors),
        include_dirs=_include_dirs(design, hardware),
        read_outs=tuple(read_outs),
        own_ports=tuple(own),
        stand_ins=(copy_path(design, design.primitives.file, out),) if design.primitives else (),
        missed=tuple(_missed(design, uses, why_not, single, bits)),
        diagnostics=(*diagnostics, *_large(design, counted, bits), *not_varied),
    )


def _include_dirs(design: Design, hardware: HardwareSources) -> tuple[Path, ...]:
    """The project's, and the sources' own folders, which their copies have left."""
    listed = [(design.root / name).resolve() for name in hardware.include_dirs]
    return tuple(dict.fromkeys([*listed, *(path.parent for path in design.sources)]))


def _edit(design: Design, top: Instance, layout: Layout, shell: Top, given: Collection[str]) -> dict[Path, Edits]:
    """The edits of every file, from the layout of the states. `given` names the parameters that the project sets."""
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
        if not layout.widths[module]:
            continue
        node = nodes[module]
        path = design.place(node.header.name.location)[0]
        add_port(design, of(path), node, layout.widths[module])
        instantiations = {child.key: child.node for i in top.walk() if i.module == module for child in i.children}
        for key, site in sites.items():
            if key in blocks:
                observe(design, of(blocks[key].path), blocks[key], site.slice())
            else:
                connect(design, of(path), instantiations[key], site.slice(), ports[key])
    head = nodes[top.module]
    path = design.place(head.header.name.location)[0]
    rename_module(design, of(path), head, shell.inner)
    values = {parameter.name: parameter.value for parameter in shell.parameters if parameter.name in given}
    for parameter in design.top.body.parameters if design.top is not None else ():
        if parameter.name in values:
            set_default(design, of(path), parameter.syntax, values[parameter.name])
    return edits


def _write(design: Design, edits: Mapping[Path, Edits], generated: str, out: Path) -> tuple[Path, ...]:
    sources: list[Path] = []
    timescale = ""  # all modules of a design have one, or none has
    try:
        for path in design.needed:
            data = path.read_bytes()
            if b"`timescale" in data:
                timescale = "`timescale 1ns / 1ps\n"
            target = copy_path(design, path, out)
            _write_file(target, edits[path].apply(data) if path in edits else data)
            sources.append(target)
        traced = [wrapper.TRACE_SOURCE] if "recap_trace_collector" in generated else []
        for name in (*wrapper.RUNTIME, *traced, *([DEPTH_SOURCE] if DEPTH_MODULE in generated else [])):
            sources.append(_write_file(out / "recap" / name, (timescale + wrapper.runtime_source(name)).encode()))
        sources.append(_write_file(out / "recap" / wrapper.TOP_FILE, (timescale + generated).encode()))
    except OSError as error:
        hint = "Choose a folder that can be written to."
        problem = f"cannot write the instrumented design: {error.strerror}"
        raise WorkbenchError(Diagnostic(problem, hint, file=str(error.filename or out))) from None
    return tuple(sources)


def copy_path(design: Design, path: Path, out: Path) -> Path:
    """Where the copy of a source goes: as in the project; what lies outside of it, numbered."""
    if path.is_relative_to(design.root):
        return out / path.relative_to(design.root)
    return out / "outside" / f"{design.sources.index(path)}_{path.name}"


def _write_file(path: Path, data: bytes) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(data)
    return path


def _check(
    design: Design,
    sources: tuple[Path, ...],
    edits: Mapping[Path, Edits],
    hardware: HardwareSources,
    parameters: Mapping[str, str],
    out: Path,
) -> None:
    """Elaborate what was written: what is wrong there is wrong in a pragma's condition, or in the port's."""
    include_dirs = tuple(str(path) for path in _include_dirs(design, hardware))
    copied = hardware.model_copy(update={"sources": tuple(str(s) for s in sources), "include_dirs": include_dirs})
    problems = [d for d in read_design(out, copied, parameters).diagnostics if d.severity is Severity.ERROR]
    if not has_errors(problems):
        return
    originals = {copy_path(design, path, out): path for path in design.sources}
    raise WorkbenchError(*dict.fromkeys(_explained(design, problem, originals, edits, out) for problem in problems))


def _explained(
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
        "Mend the port's signal names and conditions in the platform document.",
    )


def _block(design: Design, use: BlockUse, clock: Clock, observed: bool) -> Block:
    source = use.source
    states = [State(0, UNCLASSIFIED)]
    for index, placed in enumerate(source.states if observed else (), 1):
        pragma = placed.pragma
        states.append(
            State(index, pragma.name, pragma.category, pragma.reasons, pragma.targets, pragma.messages, placed.file,
                  placed.line)
        )  # fmt: skip
    return Block(
        id=use.path,
        side=Side.FPGA,
        component=use.path.rpartition(".")[0],
        kind=source.kind,
        group=re.sub(r"\[-?\d+\]", "[*]", use.path),
        states=tuple(states),
        file=design.name_of(source.path),
        line=source.line,
        clock=clock.name,
    )


def _large(design: Design, uses: list[BlockUse], bits: Mapping[str, int]) -> list[Diagnostic]:
    """A note for each block whose counter needs more than one block RAM."""
    found: dict[Key, Diagnostic] = {}
    for use in uses:
        source, states = use.source, len(use.source.states) + 1
        if use.path in bits and states > STATES_OF_A_BLOCK_RAM:
            name = f"{source.module}.{source.label}"
            message = f"the block {name} has {states} states: counting their pairs takes several block RAMs"
            hint = f"Up to {STATES_OF_A_BLOCK_RAM - 1} different pragmas in a block fit into one."
            file = design.name_of(source.path)
            found.setdefault(source.key, Diagnostic(message, hint, Severity.NOTE, file, source.line))
    return list(found.values())


def _missed(
    design: Design,
    uses: list[BlockUse],
    why_not: Mapping[Key, str],
    single: Mapping[str, str],
    bits: Mapping[str, int],
) -> Iterator[Diagnostic]:
    """One diagnostic for each block in the source that has something to observe and is not observed everywhere."""
    missed: dict[Key, list[BlockUse]] = {}
    for use in uses:
        if use.path not in bits and (use.source.key in why_not or use.path in single or use.source.states):
            missed.setdefault(use.source.key, []).append(use)
    everywhere = Counter(use.source.key for use in uses)
    for key, some in missed.items():
        use = some[0]
        reason = why_not.get(key) or single.get(use.path) or "no path leads up"
        others = f" and {len(some) - 1} more" if len(some) > 1 else ""
        where = f" in {use.path.rpartition('.')[0]}{others}" if len(some) < everywhere[key] else ""
        yield Diagnostic(
            f"the block {use.source.module}.{use.source.label} is not observed{where}: {reason}",
            "", Severity.WARNING, design.name_of(use.source.path), use.source.line,
        )  # fmt: skip
