"""Writes the instrumented design: observed copies of the VHDL, Verilog of them for simulation, and the top around."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from pathlib import Path

from rc_workbench_plugins.vhdl.beside import Alone
from rc_workbench_plugins.vhdl.cones import with_depends
from rc_workbench_plugins.vhdl.design import Design, read_design
from rc_workbench_plugins.vhdl.elaborate import PART
from rc_workbench_plugins.vhdl.language import read, top_ports, tree_of
from rc_workbench_plugins.vhdl.rewrite import edits_of
from rc_workbench_plugins.vhdl.sides import parted
from rc_workbench_plugins.vhdl.syntax import plain as plain_name
from rc_workbench_plugins.vhdl.translated import (
    outside_of,
    places_of,
    read_translated,
    spelled,
    streams_of,
    top_module,
    translated,
)
from rc_workbench_plugins.vhdl.units import Unit
from rc_workbench_plugins.vhdl.vendors import stands_in
from workbench.api import (
    Diagnostic,
    Hardware,
    HardwareSources,
    HdlBuild,
    HdlPort,
    Job,
    Later,
    Platform,
    Severity,
    WorkbenchError,
    has_errors,
)
from workbench.api.equivalence import Comparison, HdlSide
from workbench.api.instrument import wrapper
from workbench.api.kept import ensure
from workbench.api.unstable import cache_dir, sha256
from workbench.hdl import instrument as core
from workbench.hdl.board import clocks_by_pin, outside
from workbench.hdl.copies import copy_path, write_file, writing
from workbench.hdl.derived import made_clocks
from workbench.hdl.edits import Edits
from workbench.hdl.instances import Instance
from workbench.hdl.instrument import Copies
from workbench.hdl.layout import Layout
from workbench.hdl.monitored import Monitored
from workbench.hdl.top_inputs import clocks as clocks_of
from workbench.hdl.top_inputs import resets
from workbench.hdl.verilog.addresses import addresses_answered
from workbench.hdl.verilog.ports import hdl_ports
from workbench.hdl.verilog.streams import FoundStreams, counted
from workbench.hdl.verilog.top import read_top

INNER = "_recap_user"
CHECK = Later("rc_workbench_plugins.vhdl.checked:check")
TRANSLATED, _ASKING = "recap_vhdl.v", "recap_beside.v"
_SYNTHESISABLE = "Only what can be synthesised can be built."
_NOT_MADE = "Such a design cannot be built; GHDL itself simulates it."
_CONDITION_HINT = "Write a VHDL condition over signals of this architecture, such as ack = '1'."


def plain(root: Path, hardware: HardwareSources, parameters: dict[str, str], synthesise: bool = True) -> HdlBuild:
    """The design as Verilog with its generics bound, which is kept with what else is cached."""
    design = read_design(root, hardware, parameters)
    if design.top is None or has_errors(design.diagnostics):
        raise WorkbenchError(*design.diagnostics)
    texts = {file.path: parted(file) for file in design.needed}
    names, generics, unit = ports_of(design.top), hardware.values(parameters), design.top.name
    alone = Alone(design, texts, unit, generics)
    made, refused = _simulated(alone, {}) if synthesise else (_stand_in(alone, Job()), ())
    has_verilog = synthesise and not refused
    place = kept_verilog(spelled(made, names))
    top = top_module(made)
    simulated = read_translated(place.parent, place, top, hardware)
    tree = tree_of(design)
    ports = tuple(placed_at(hdl_ports(simulated), design, design.top))
    if not has_verilog:
        ports = tuple(_used(ports, design, tree))
    asking = spelled(alone.stand_in(top), names)
    folder = cache_dir() / "vhdl" / sha256(repr([texts, generics, asking]).encode())[:32]
    beside = replace(alone.written(folder), sources=(kept_verilog(asking),), refused=refused)
    clocks = places_of(made_clocks(tree, hardware), tree) if tree is not None and hardware.clocks else {}
    return HdlBuild(
        (place,) if has_verilog else (), top, (), ports, diagnostics=_not_made(refused), beside=beside,
        translated=(beside_verilog(as_written(design, generics), place, top, tree),) if has_verilog else (),
        check_translated=CHECK,
        made=clocks,
    )  # fmt: skip


def plain_unsynthesised(root: Path, hardware: HardwareSources, parameters: dict[str, str]) -> HdlBuild:
    """The design for GHDL's own simulator alone."""
    return plain(root, hardware, parameters, synthesise=False)


def kept_verilog(text: str) -> Path:
    """A file with this Verilog, which is kept with what else is cached."""
    return ensure(cache_dir() / "vhdl" / f"{sha256(text.encode())[:32]}.v", text.encode())


def instrument(
    root: Path,
    hardware: HardwareSources,
    platform: Platform,
    parameters: dict[str, str],
    out: Path,
    job: Job | None = None,
    synthesise: bool = True,
) -> HdlBuild:
    job, out = job or Job(), out.resolve()
    found = read(root, hardware, platform, parameters, job)
    design, generics = found.design, hardware.values(parameters)

    def copy(top: Instance, layout: Layout, board: Hardware) -> Copies:
        unit = design.top
        assert unit is not None
        names = {plain_name(name): name for name in (*ports_of(unit), *outside_of(board)) if name}
        _spell_clocks(top, names)
        copied, clocks = f"{top.module}{INNER}", clocks_by_pin(board)
        edits = edits_of(design, top, layout, copied, generics, clocks)
        texts = {file.path: edits[file.path].apply(file.data) for file in design.needed}
        alone = Alone(design, texts, copied, generics, tuple(map(plain_name, clocks)), layout.widths.get(top.module, 0))
        text, refused = _simulated(alone, edits, job) if synthesise else (_stand_in(alone, job), ())
        has_verilog = synthesise and not refused
        made = spelled(text, names.values())
        inner = top_module(made)
        file = out / "recap" / TRANSLATED
        with writing(out):
            write_file(file, made.replace(f"module {inner}\n", f"module {top.module}\n").encode())
        simulated = read_translated(out, file, top.module, hardware)
        if simulated.top is None:
            raise WorkbenchError(*simulated.diagnostics)
        with writing(out):
            write_file(file, made.encode())
        ports = tuple(port for port in hdl_ports(simulated) if port.name != wrapper.STATE_PORT)
        if not has_verilog:
            ports = tuple(_used(ports, design, top))
        shell = without_states(read_top(simulated.top, inner))
        streams = streams_of(simulated, design, top, hardware, outside(board)) if has_verilog else FoundStreams()

        def build(watched: Monitored, around: tuple[Path, ...]) -> HdlBuild:
            with writing(out):
                copies = write_copies(design, texts, out)
                asking = write_file(out / "recap" / _ASKING, spelled(alone.stand_in(inner), names.values()).encode())
                beside = alone.written(out / "recap" / "beside")
            as_made = beside_verilog(as_written(design, generics), file, inner, top)
            own = tuple(copies.get(path, path) for path in as_made.original.sources)
            changed = replace(as_made.original, sources=own, top=copied)
            answered = addresses_answered(simulated, watched.addresses(board), hardware.read_out)
            direct = wrapper.leaves_inputs(shell, watched.place)
            return HdlBuild(
                sources=(file, *around) if has_verilog else (),
                board_sources=(*copies.values(), *around),
                top=top.module,
                blocks=(),
                ports=tuple(placed_at(ports, design, unit)),
                compared=replace(as_made, added=(wrapper.STATE_PORT,) if watched.own_width else (), made=changed),
                translated=(as_made,) if has_verilog else (),
                check_translated=CHECK,
                diagnostics=tuple(_at_entity(answered, design, unit)),
                made=places_of(watched.made, top, f"{wrapper.USER_INSTANCE}."),
                read=tuple(one.path for one in design.files),
                beside=replace(beside, sources=(asking, *around), refused=refused, direct=direct),
            )

        return Copies(
            shell, {port.name: port.bits for port in ports},
            counted(streams, top.path, {clock.pin: clock.name for clock in board.clocks}), build,
            lambda blocks: with_depends(blocks, simulated, top, board.clocks) if has_verilog else blocks,
            diagnostics=_not_made(refused),
        )  # fmt: skip

    return core.instrument(found, hardware, platform, out, lambda module: True, copy)


def instrument_unsynthesised(
    root: Path, hardware: HardwareSources, platform: Platform, parameters: dict[str, str], out: Path, job: Job
) -> HdlBuild:
    """The observed copies for GHDL's own simulator alone, and for boards."""
    return instrument(root, hardware, platform, parameters, out, job, synthesise=False)


def ports_of(top: Unit) -> list[str]:
    return [port.name for port in top.interface.ports] if top.interface is not None else []


def without_states(shell: wrapper.Top) -> wrapper.Top:
    """A top of a copy as the user has it."""
    return replace(shell, ports=tuple(port for port in shell.ports if port.name != wrapper.STATE_PORT))


def _spell_clocks(top: Instance, names: Mapping[str, str]) -> None:
    """Clocks as the platform writes them: VHDL's names have no case."""
    for instance in top.walk():
        instance.blocks[:] = [
            replace(use, root_clock=names.get(plain_name(use.root_clock), use.root_clock)) for use in instance.blocks
        ]


def made_of(
    design: Design, texts: Mapping[Path, bytes], unit: str, generics: Mapping[str, str], edits: Mapping[Path, Edits],
    job: Job | None = None,
) -> str:  # fmt: skip
    """The Verilog. WorkbenchError, at the user's lines."""
    try:
        return translated(design, texts, unit, generics, job)
    except WorkbenchError as error:
        raise WorkbenchError(*(_explained(design, edits, d) for d in error.diagnostics)) from None


def _simulated(alone: Alone, edits: Mapping[Path, Edits], job: Job | None = None) -> tuple[str, tuple[Diagnostic, ...]]:
    """The design as Verilog; where GHDL refuses that, but simulates the design itself, what stands for it there, with
    the reasons. WorkbenchError where it takes it in neither way, at the user's lines."""
    try:
        return made_of(alone.design, alone.texts, alone.unit, alone.generics, edits, job), ()
    except WorkbenchError as error:
        refused = error.diagnostics
    return _stand_in(alone, job or Job(), refused), refused


def _stand_in(alone: Alone, job: Job, refused: Iterable[Diagnostic] = ()) -> str:
    """Verilog that stands for a design that GHDL itself simulates. WorkbenchError where GHDL cannot, at the user's
    lines, with why it refused to synthesise the design."""
    if wrong := alone.wrong(job):
        told = {(one.file, one.line) for one in refused}
        raise WorkbenchError(*refused, *(one for one in wrong if (one.file, one.line) not in told))
    return alone.stand_in(alone.unit.lower())


def _not_made(refused: Iterable[Diagnostic]) -> tuple[Diagnostic, ...]:
    """That it cannot become hardware, for a design that GHDL itself simulates."""
    return tuple(
        replace(
            one, hint=f"{one.hint} {_NOT_MADE}" if one.hint != _SYNTHESISABLE else _NOT_MADE, severity=Severity.WARNING
        )
        for one in refused
    )


def _explained(design: Design, edits: Mapping[Path, Edits], problem: Diagnostic) -> Diagnostic:
    """What GHDL says of a copy, at the user's line: lines are the same, columns are not."""
    if not problem.file:
        return problem
    path = Path(problem.file)
    if path in edits and (placed := edits[path].conditions.get(problem.line or 0)) is not None:
        message = f"the condition of the pragma '{placed.pragma.name}' is wrong: {problem.message}"
        return placed.diagnostic(message, _CONDITION_HINT, Severity.ERROR)
    hint = problem.hint or _SYNTHESISABLE
    return Diagnostic(problem.message, hint, Severity.ERROR, design.name_of(path), problem.line)


def placed_at(ports: Iterable[HdlPort], design: Design, top: Unit) -> Iterator[HdlPort]:
    """Ports with the lines of the entity."""
    lines = {plain_name(p.name): p.line for p in top.interface.ports} if top.interface is not None else {}
    for port in ports:
        line = lines.get(plain_name(port.name), top.line)
        yield replace(port, file=design.name_of(top.file.path), line=line)


def _used(ports: Iterable[HdlPort], design: Design, tree: Instance | None) -> Iterator[HdlPort]:
    """Ports of what stands for a design, which uses them all, with whether the design itself does."""
    used = {plain_name(port.name): port.used for port in top_ports(design, tree)}
    yield from (replace(port, used=used.get(plain_name(port.name), True)) for port in ports)


def as_written(design: Design, generics: Mapping[str, str]) -> HdlSide:
    """The design that is compared with what is made of it."""
    assert design.top is not None
    declared = design.top.interface.generics if design.top.interface is not None else ()
    known = {plain_name(one.name) for one in declared}
    values = {name: value for name, value in generics.items() if plain_name(name) in known}
    sources, libraries = zip(*((file.path, file.library) for file in design.needed), strict=True)
    return HdlSide(sources, design.top.name, parameters=values, libraries=libraries, vhdl_standard=design.standard)


def beside_verilog(written: HdlSide, file: Path, module: str, top: Instance | None) -> Comparison:
    """A design with the Verilog that is simulated of it."""
    clocks = tuple(clock for clock, _ in clocks_of(top))
    return Comparison(written, HdlSide((file,), module), (wrapper.STATE_PORT,), clocks=clocks, resets=resets(top))


def _at_entity(problems: Iterable[Diagnostic], design: Design, unit: Unit) -> Iterator[Diagnostic]:
    """What is said of the Verilog, which has lines of its own, once at the entity."""
    told = {one.message: replace(one, file=design.name_of(unit.file.path), line=unit.line) for one in problems}
    yield from (replace(one, column=None) for one in told.values())


def write_copies(design: Design, texts: Mapping[Path, bytes], out: Path) -> dict[Path, Path]:
    """The copies by their originals, without the marks of their parts; what stands for vendors' libraries is brought by
    their tools."""
    return {
        f.path: write_file(copy_path(design.root, f.path, f.number, out), texts[f.path].replace(PART, b""))
        for f in design.needed
        if not stands_in(f)
    }
