"""Writes the instrumented design: observed copies of its sources, Verilog of the VHDL for simulation, and the top
around."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from functools import partial
from pathlib import Path

from rc_workbench_plugins.vhdl.beside import Alone
from rc_workbench_plugins.vhdl.cones import with_depends
from rc_workbench_plugins.vhdl.design import Design
from rc_workbench_plugins.vhdl.elaborate import PART
from rc_workbench_plugins.vhdl.joined import Joined, read_joined
from rc_workbench_plugins.vhdl.language import Read, read, top_ports
from rc_workbench_plugins.vhdl.rewrite import edits_of
from rc_workbench_plugins.vhdl.streams import instances_called, streams_below
from rc_workbench_plugins.vhdl.syntax import plain as plain_name
from rc_workbench_plugins.vhdl.synthesis import (
    Synthesised,
    as_written,
    beside_verilog,
    kept_verilog,
    of_top,
    synthesised,
    unobserved,
)
from rc_workbench_plugins.vhdl.translated import outside_of, places_of, spelled
from rc_workbench_plugins.vhdl.units import Unit
from rc_workbench_plugins.vhdl.vendors import stands_in
from workbench.api import (
    Clock,
    Diagnostic,
    Hardware,
    HardwareSources,
    HdlBuild,
    HdlChecks,
    HdlFiles,
    HdlPort,
    HdlSimulation,
    Job,
    Later,
    Platform,
    Severity,
    WorkbenchError,
    has_errors,
)
from workbench.api.builds import Beside
from workbench.api.equivalence import Comparison, HdlSide
from workbench.api.instrument import wrapper
from workbench.api.unstable import cache_dir, sha256
from workbench.hdl import instrument as core
from workbench.hdl.board import clocks_by_pin, outside
from workbench.hdl.copies import copy_path, write_file, writing
from workbench.hdl.derived import clocks_of_streams, made_clocks
from workbench.hdl.edits import Edits
from workbench.hdl.instances import Instance, Key, keys_in
from workbench.hdl.instrument import Copies
from workbench.hdl.layout import Layout
from workbench.hdl.monitored import Monitored
from workbench.hdl.reading import comparison
from workbench.hdl.verilog import design as verilog_design
from workbench.hdl.verilog import language as verilog
from workbench.hdl.verilog.addresses import addresses_answered
from workbench.hdl.verilog.copies import copy_of, edit_modules, explained, include_dirs_of, name_top
from workbench.hdl.verilog.copies import write_copies as write_verilog
from workbench.hdl.verilog.data_files import data_files
from workbench.hdl.verilog.ports import hdl_ports
from workbench.hdl.verilog.rewrite import modules_by_name, why_not_editable
from workbench.hdl.verilog.source_file import as_synthesised
from workbench.hdl.verilog.streams import FoundStreams, counted
from workbench.hdl.verilog.tapped import held_in_reset, tapped
from workbench.hdl.verilog.top import read_top

CHECK = Later("rc_workbench_plugins.vhdl.checked:check")
_INNER, _INNER_MODULE = "_recap_user", "__recap_user"  # what the copies' own top is called behind its name
_SYNTHESISED, _ASKING = "recap_vhdl.v", "recap_beside.v"


def plain(root: Path, hardware: HardwareSources, parameters: dict[str, str], synthesise: bool = True) -> HdlBuild:
    """The design as it is: the Verilog's own sources, and Verilog of the rest, kept with what else is cached."""
    joined = read_joined(root, hardware, (), parameters, Job())
    if joined.verilog is not None:
        return verilog.plain(root, joined.verilog, parameters)
    if has_errors(joined.wrong) or (joined.top is None and joined.entities.top is None):
        raise WorkbenchError(*joined.wrong)
    alone = unobserved(joined, hardware, parameters)
    names = _names_of(joined.entities.top)
    synthesis = synthesised(joined, alone, names, Job(), synthesise=synthesise)
    place = kept_verilog(synthesis.text)
    sources = (*as_synthesised(joined.in_verilog), place)
    top, given = synthesis.top or hardware.top, {} if synthesis.top else alone.generics
    simulated = _simulated(joined, sources, top, hardware, given, joined.root)
    beside: Beside | None = None
    if not joined.mixed:
        asking = spelled(alone.stand_in(top), names)
        folder = cache_dir() / "vhdl" / sha256(repr([alone.texts, alone.generics, asking]).encode())[:32]
        beside = replace(alone.written(folder), sources=(kept_verilog(asking),), refused=synthesis.refused)
    return HdlBuild(
        sources=() if synthesis.stands_in else sources, top=top, blocks=(), ports=_ports(joined, simulated, synthesis),
        diagnostics=synthesis.warnings, beside=beside, files=HdlFiles(_folders(joined, hardware)),
        simulation=HdlSimulation(made=_places(joined, made_clocks(joined.top, hardware))),
        checks=HdlChecks(None, _translated(joined, synthesis, alone, place), CHECK),
    )  # fmt: skip


def with_depths(
    root: Path, hardware: HardwareSources, platform: Platform, parameters: dict[str, str], out: Path, job: Job
) -> HdlBuild:
    """The build with other depths, of a design in Verilog only; WorkbenchError for another."""
    own = read(root, hardware, platform, parameters, job).joined.verilog
    if own is None:
        raise WorkbenchError(Diagnostic("FIFO depths can be tried in Verilog designs only"))
    return verilog.with_depths(root, own, platform, parameters, out, job)


def instrument(
    root: Path,
    hardware: HardwareSources,
    platform: Platform,
    parameters: dict[str, str],
    out: Path,
    job: Job | None = None,
    synthesise: bool = True,
) -> HdlBuild:
    """The observed copies below `out`. Without `synthesise` a design in VHDL alone is for GHDL's own simulator."""
    job, out = job or Job(), out.resolve()
    reading = read(root, hardware, platform, parameters, job)
    joined, generics = reading.joined, hardware.values(parameters)
    modules, of_vhdl = joined.modules, joined.entities.top
    if joined.verilog is not None:
        return verilog.instrument(root, joined.verilog, platform, parameters, out, job)

    def copy(top: Instance, layout: Layout, board: Hardware) -> Copies:
        clocks, inner = clocks_by_pin(board), f"{top.module}{_INNER_MODULE if of_vhdl is None else _INNER}"
        early, held = _tapped_and_held(reading, layout, clocks)
        edits: dict[Path, Edits] = {}
        shell: wrapper.Top | None = None
        if modules is not None:
            edits = edit_modules(modules, top, layout, early, held, _entities(top))
            if of_vhdl is None:
                shell = read_top(modules.top, inner)
                name_top(modules, edits, shell, generics)
        vhdl_edits = edits_of(joined.entities, top, layout, inner, generics, clocks)
        texts = {file.path: vhdl_edits[file.path].apply(file.data) for file in joined.entities.needed}
        pins, width = tuple(map(plain_name, clocks)), layout.widths.get(top.module, 0)
        alone = Alone(joined.entities, texts, inner, generics, pins, width)
        names = {plain_name(name): name for name in (*_names_of(of_vhdl), *outside_of(board)) if name}.values()
        synthesis = synthesised(joined, alone, names, job, vhdl_edits, synthesise)
        own = synthesis.top or inner
        copies, timescale = write_verilog(modules, edits, out, joined.boxes) if modules is not None else ((), "")
        with writing(out):
            file = write_file(out / "recap" / _SYNTHESISED, (timescale + synthesis.text).encode())
        simulated = _simulated(joined, (*copies, file), own, hardware, {} if synthesis.top else generics, out)
        if simulated.top is None or (copies and has_errors(simulated.diagnostics)):
            raise WorkbenchError(*_wrong(joined, simulated.diagnostics, edits, out))
        ports = _ports(joined, simulated, synthesis)
        if shell is None:
            shell = replace(_without_states(read_top(simulated.top, own)), name=top.module)
        streams = FoundStreams()
        if not synthesis.stands_in:
            streams = streams_below(simulated, joined, top, hardware, outside(board), reading.library)

        def build(watched: Monitored, around: tuple[Path, ...]) -> HdlBuild:
            answered: Iterable[Diagnostic] = ()
            beside: Beside | None = None
            with writing(out):
                boards = _write_copies(joined.entities, texts, out)
                if not joined.mixed:
                    answered = addresses_answered(simulated, watched.addresses(board), hardware.read_out)
                    asking = spelled(alone.stand_in(own), names).encode()
                    beside = replace(
                        alone.written(out / "recap" / "beside"), refused=synthesis.refused,
                        sources=(write_file(out / "recap" / _ASKING, asking), *around),
                        direct=wrapper.leaves_inputs(shell, watched.place),
                    )  # fmt: skip
            data, unread = data_files(modules) if modules is not None else ((), ())
            primitives = modules.primitives if modules is not None else None
            return HdlBuild(
                sources=() if synthesis.stands_in else (*copies, file, *around),
                top=top.module,
                blocks=(),
                ports=ports,
                files=HdlFiles(
                    _folders(joined, hardware),
                    (*copies, *boards.values(), *around),
                    (copy_of(modules, primitives.file, out),) if modules is not None and primitives else (),
                    data,
                ),
                simulation=HdlSimulation(made=_places(joined, watched.made, f"{wrapper.USER_INSTANCE}.")),
                checks=HdlChecks(
                    _compared(joined, top, hardware, generics, copies, boards, inner, watched.own_width),
                    _translated(joined, synthesis, alone, file),
                    CHECK,
                ),
                diagnostics=(*_at_entity(answered, joined.entities), *unread),
                read=() if unread else _read_files(joined, data),
                beside=beside,
            )

        return Copies(
            shell, {port.name: port.bits for port in ports},
            counted(streams, own, clocks_of_streams(top, hardware, board)), build,
            lambda blocks: (
                blocks if synthesis.stands_in else with_depends(blocks, simulated, joined, top, board.clocks)
            ),
            early, timescale=timescale, diagnostics=synthesis.warnings,
        )  # fmt: skip

    entities = _entities(joined.top)
    nodes = modules_by_name(modules) if modules is not None else {}

    def editable(name: str) -> bool:
        return name in entities or (modules is not None and not why_not_editable(modules, nodes.get(name)))

    return core.instrument(reading, hardware, platform, out, editable, copy)


plain_unsynthesised = partial(plain, synthesise=False)
instrument_unsynthesised = partial(instrument, synthesise=False)


def _names_of(top: Unit | None) -> list[str]:
    return [port.name for port in top.ports] if top is not None else []


def _without_states(shell: wrapper.Top) -> wrapper.Top:
    """A top of a copy as the user has it."""
    return replace(shell, ports=tuple(port for port in shell.ports if port.name != wrapper.STATE_PORT))


def _translated(joined: Joined, synthesis: Synthesised, alone: Alone, file: Path) -> tuple[Comparison, ...]:
    """What can be held against the VHDL of its Verilog, in a file: the whole, where it is VHDL alone."""
    if joined.mixed or synthesis.stands_in:
        return synthesis.compared
    return (beside_verilog(as_written(joined.entities, alone.generics), file, synthesis.top, joined.top),)


def _compared(
    joined: Joined, top: Instance, hardware: HardwareSources, generics: Mapping[str, str], copies: tuple[Path, ...],
    boards: Mapping[Path, Path], inner: str, width: int,
) -> Comparison:  # fmt: skip
    """The design beside its copies, each in its own languages; the copies have the parameters' values themselves."""
    own, entities = as_synthesised(joined.in_verilog), joined.entities
    include_dirs = _folders(joined, hardware)
    defines = {name: str(value) for name, value in hardware.defines.items()} if copies else {}
    values = of_top(entities, generics) if entities.top is not None else dict(generics)
    libraries = (*("" for _ in own), *(file.library for file in entities.needed))
    sources = (*own, *(file.path for file in entities.needed))
    copied = (*copies, *(boards.get(file.path, file.path) for file in entities.needed))
    original = HdlSide(sources, top.module, include_dirs, defines, values, libraries, entities.standard)
    copy = replace(original, sources=copied, top=inner, parameters={} if copies else values)
    return comparison(original, copy, top, (wrapper.STATE_PORT,) if width else ())


def _entities(top: Instance | None) -> set[str]:
    return {one.module for one in top.walk() if isinstance(one.body, Unit)} if top is not None else set()


def _tapped_and_held(reading: Read, layout: Layout, clocks: Mapping[str, Clock]) -> tuple[dict[Key, str], set[Key]]:
    """The Verilog blocks whose state a register shows, below a top that is Verilog too, and those whose states are held
    in reset."""
    expressions: dict[Key, str] = {}
    held: set[Key] = set()
    for design, tree in reading.joined.halves:
        if reading.joined.entities.top is None and tree.path == reading.joined.halves[0][1].path:
            expressions = tapped(design.nets, tree, layout, clocks, reading.single)
        else:
            elsewhere = keys_in(tree)
            expressions = {key: text for key, text in expressions.items() if key not in elsewhere}
        held |= held_in_reset(design.nets, tree, clocks)
    return expressions, held


def _places(joined: Joined, clocks: Mapping[str, Clock], below: str = "") -> dict[str, Clock]:
    """Clocks by where they stand in what is simulated."""
    top = joined.top
    return places_of(clocks, instances_called(joined, top, top.path), below) if top is not None and clocks else {}


def _ports(joined: Joined, simulated: verilog_design.Design, synthesis: Synthesised) -> tuple[HdlPort, ...]:
    """The top's ports, at the lines of its source; of what stands for a design, which uses them all, with whether the
    design itself does."""
    top = joined.entities.top
    if top is None:
        return top_ports(joined)
    lines = {plain_name(p.name): p.line for p in top.ports}
    used = {plain_name(port.name): port.used for port in top_ports(joined)} if synthesis.stands_in else {}
    file = joined.name_of(top.file.path)
    return tuple(
        replace(port, file=file, line=lines.get(plain_name(port.name), top.line),
                used=used.get(plain_name(port.name), True) if synthesis.stands_in else port.used)
        for port in hdl_ports(simulated) if port.name != wrapper.STATE_PORT
    )  # fmt: skip


def _folders(joined: Joined, hardware: HardwareSources) -> tuple[Path, ...]:
    """Where what the Verilog includes may lie: none of ours does."""
    ours = {path.parent for path in joined.boxes}
    folders = include_dirs_of(joined.modules, hardware) if joined.modules is not None else ()
    return tuple(folder for folder in folders if folder not in ours)


def _simulated(
    joined: Joined, sources: Iterable[Path], top: str, hardware: HardwareSources, values: Mapping[str, str], root: Path
) -> verilog_design.Design:
    """The whole as Verilog, as it is simulated."""
    folders = map(str, _folders(joined, hardware))
    changes = {"sources": tuple(map(str, sources)), "include_dirs": tuple(folders), "parameters": {}, "top": top}
    return verilog_design.read_design(root, hardware.model_copy(update=changes), values)


def _wrong(joined: Joined, said: Iterable[Diagnostic], edits: Mapping[Path, Edits], out: Path) -> Iterator[Diagnostic]:
    design = joined.modules
    for one in dict.fromkeys(one for one in said if one.severity is Severity.ERROR):
        if design is None or one.file == f"recap/{_SYNTHESISED}":
            yield Diagnostic(f"GHDL's output cannot be read as Verilog: {one.message}", one.hint)
        else:
            originals = {copy_of(design, path, out): path for path in design.sources if path not in joined.boxes}
            yield explained(design, one, originals, edits, out)


def _read_files(joined: Joined, data: Iterable[str]) -> tuple[Path, ...]:
    own = joined.modules.files if joined.modules is not None else ()
    named = (joined.root / name for name in data)
    return (*(path for path in own if path not in joined.boxes), *named, *(f.path for f in joined.entities.files))


def _at_entity(problems: Iterable[Diagnostic], design: Design) -> Iterator[Diagnostic]:
    """The diagnostics of the generated Verilog, each once, at the top's entity."""
    for message, one in {one.message: one for one in problems}.items():
        file, line = (design.name_of(design.top.file.path), design.top.line) if design.top is not None else ("", None)
        yield replace(one, message=message, file=file, line=line, column=None)


def _write_copies(design: Design, texts: Mapping[Path, bytes], out: Path) -> dict[Path, Path]:
    """The copies by their originals, without the marks of their parts; what stands for vendors' libraries is brought by
    their tools."""
    return {
        f.path: write_file(copy_path(design.root, f.path, f.number, out), texts[f.path].replace(PART, b""))
        for f in design.needed
        if not stands_in(f)
    }
