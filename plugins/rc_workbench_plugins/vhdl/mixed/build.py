"""Writes the instrumented design of both languages: observed copies of either, Verilog of the VHDL for simulation, and
the top around."""

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from rc_workbench_plugins.vhdl.build import (
    CHECK,
    INNER,
    TRANSLATED,
    as_written,
    beside_verilog,
    kept_verilog,
    made_of,
    placed_at,
    ports_of,
    without_states,
    write_copies,
)
from rc_workbench_plugins.vhdl.mixed.cones import with_depends
from rc_workbench_plugins.vhdl.mixed.joined import Joined, Part, read_joined
from rc_workbench_plugins.vhdl.mixed.language import Read, alone, read, top_ports
from rc_workbench_plugins.vhdl.mixed.linked import linked, module_of
from rc_workbench_plugins.vhdl.mixed.streams import streams_below
from rc_workbench_plugins.vhdl.rewrite import edits_of
from rc_workbench_plugins.vhdl.sides import parted
from rc_workbench_plugins.vhdl.translated import outside_of, spelled, top_module
from rc_workbench_plugins.vhdl.types import shared_types
from rc_workbench_plugins.vhdl.units import Component, Instantiation, Unit
from workbench.api import (
    Clock,
    Diagnostic,
    Hardware,
    HardwareSources,
    HdlBuild,
    Job,
    Platform,
    Severity,
    WorkbenchError,
    has_errors,
)
from workbench.api.equivalence import Comparison, HdlSide
from workbench.api.instrument import wrapper
from workbench.hdl import instrument as core
from workbench.hdl.board import clocks_by_pin, outside
from workbench.hdl.copies import write_file, writing
from workbench.hdl.derived import made_clocks
from workbench.hdl.edits import Edits
from workbench.hdl.ghdl import renamed
from workbench.hdl.instances import Instance, Key
from workbench.hdl.instrument import Copies
from workbench.hdl.layout import Layout
from workbench.hdl.monitored import Monitored
from workbench.hdl.top_inputs import clocks as clocks_of
from workbench.hdl.top_inputs import resets
from workbench.hdl.verilog import design as verilog
from workbench.hdl.verilog.copies import copy_of, edit_modules, explained, include_dirs_of, name_top
from workbench.hdl.verilog.copies import write_copies as verilog_copies
from workbench.hdl.verilog.data_files import data_files
from workbench.hdl.verilog.ports import hdl_ports
from workbench.hdl.verilog.rewrite import modules_by_name, why_not_editable
from workbench.hdl.verilog.source_file import as_synthesised
from workbench.hdl.verilog.streams import counted
from workbench.hdl.verilog.tapped import held_in_reset, tapped
from workbench.hdl.verilog.top import read_top

_INNER = "__recap_user"


@dataclass(frozen=True)
class Made:
    """The VHDL as Verilog: the text, what its own top is called in it ("" where the design's is Verilog), and what the
    entities that Verilog instantiates are. `alone` are the texts of those that instantiate no Verilog."""

    text: str
    top: str
    parts: tuple[tuple[Part, str], ...]
    alone: Mapping[int, str]

    @property
    def compared(self) -> tuple[Comparison, ...]:
        """What can be held against the VHDL by itself."""
        return tuple(
            beside_verilog(as_written(part.design, part.generics), kept_verilog(text), top, part.tree)
            for part, top in self.parts
            if (text := self.alone.get(part.number))
        )


def plain(root: Path, hardware: HardwareSources, parameters: dict[str, str]) -> HdlBuild:
    """The design as it is: the Verilog's own sources, and Verilog of the rest, kept with what else is cached."""
    joined = read_joined(root, hardware, (), parameters, Job())
    if not joined.mixed or joined.modules is None:
        language, half = alone(root, hardware)
        return language.plain(root, half, parameters)
    if joined.top is None or has_errors(joined.diagnostics):
        raise WorkbenchError(*joined.diagnostics)
    of_vhdl = joined.entities.top
    made = translated_whole(joined, hardware, parameters)
    place = kept_verilog(made.text)
    sources = (*as_synthesised(path for path in joined.modules.needed if path not in joined.boxes), place)
    top = made.top or hardware.top
    given = {} if made.top else hardware.values(parameters)
    simulated = _simulated(joined, sources, top, hardware, given, joined.root)
    ports = hdl_ports(simulated)
    if of_vhdl is not None:
        ports = tuple(placed_at(ports, joined.entities, of_vhdl))
    return HdlBuild(
        sources=sources, top=top, blocks=(), ports=ports, translated=made.compared, check_translated=CHECK,
        include_dirs=_folders(joined, hardware), made=made_clocks(joined.top, hardware),
    )  # fmt: skip


def translated_whole(joined: Joined, hardware: HardwareSources, parameters: Mapping[str, str]) -> Made:
    """The VHDL of a design as it is, in Verilog."""
    texts = {file.path: parted(file) for file in joined.entities.needed}
    top = joined.entities.top
    names = ports_of(top) if top is not None else []
    return _translated(joined, texts, top.name if top is not None else "", hardware, parameters, {}, names)


def with_depths(
    root: Path, hardware: HardwareSources, platform: Platform, parameters: dict[str, str], out: Path, job: Job
) -> HdlBuild:
    """Of a design that is Verilog alone; WorkbenchError for another."""
    language, half = alone(root, hardware)
    if not hasattr(language, "with_depths") or read(root, hardware, platform, parameters, job).joined.mixed:
        raise WorkbenchError(Diagnostic("depths of FIFOs can be tried of designs in Verilog alone"))
    made: HdlBuild = language.with_depths(root, half, platform, parameters, out, job)
    return made


def instrument(
    root: Path,
    hardware: HardwareSources,
    platform: Platform,
    parameters: dict[str, str],
    out: Path,
    job: Job | None = None,
) -> HdlBuild:
    job, out = job or Job(), out.resolve()
    found = read(root, hardware, platform, parameters, job)
    joined, generics = found.joined, hardware.values(parameters)
    modules, of_vhdl = joined.modules, joined.entities.top
    if not joined.mixed or modules is None:
        language, half = alone(root, hardware)
        return language.instrument(root, half, platform, parameters, out, job)

    def copy(top: Instance, layout: Layout, board: Hardware) -> Copies:
        clocks, inner = clocks_by_pin(board), _inner(joined, top)
        told, held = _told(found, layout, clocks)
        edits = edit_modules(modules, top, layout, told, held, _entities(top))
        shell: wrapper.Top | None = None
        if of_vhdl is None:
            shell = read_top(modules.top, inner)
            name_top(modules, edits, shell, generics)
        vhdl_edits = edits_of(joined.entities, top, layout, inner, generics, clocks)
        texts = {file.path: vhdl_edits[file.path].apply(file.data) for file in joined.entities.needed}
        names = [name for name in (*(ports_of(of_vhdl) if of_vhdl is not None else ()), *outside_of(board)) if name]
        unit = inner if of_vhdl is not None else ""
        made = _translated(joined, texts, unit, hardware, parameters, vhdl_edits, names, job)
        own = made.top or inner
        copies, timescale = verilog_copies(modules, edits, out, joined.boxes)
        with writing(out):
            file = write_file(out / "recap" / TRANSLATED, (timescale + made.text).encode())
        simulated = _simulated(joined, (*copies, file), own, hardware, {} if made.top else generics, out)
        if simulated.top is None or has_errors(simulated.diagnostics):
            raise WorkbenchError(*_wrong(joined, simulated.diagnostics, edits, out))
        ports = tuple(port for port in hdl_ports(simulated) if port.name != wrapper.STATE_PORT)
        if shell is None:
            shell = replace(without_states(read_top(simulated.top, own)), name=top.module)
        streams = streams_below(simulated, joined, top, hardware, outside(board), found.library)

        def build(watched: Monitored, around: tuple[Path, ...]) -> HdlBuild:
            with writing(out):
                boards = write_copies(joined.entities, texts, out)
            data, unread = data_files(modules)
            stand_ins = modules.primitives
            return HdlBuild(
                sources=(*copies, file, *around),
                board_sources=(*copies, *boards.values(), *around),
                top=top.module,
                blocks=(),
                ports=tuple(placed_at(ports, joined.entities, of_vhdl)) if of_vhdl is not None else top_ports(joined),
                include_dirs=_folders(joined, hardware),
                data=data,
                made=watched.made,
                stand_ins=(copy_of(modules, stand_ins.file, out),) if stand_ins else (),
                compared=_compared(joined, top, hardware, generics, copies, boards, inner, watched.width),
                translated=made.compared,
                check_translated=CHECK,
                diagnostics=unread,
                read=() if unread else _read_files(joined, data),
            )

        return Copies(
            shell, {port.name: port.bits for port in ports},
            counted(streams, own, {clock.pin: clock.name for clock in board.clocks}), build,
            lambda blocks: with_depends(blocks, simulated, joined, top, board.clocks), told, timescale=timescale,
        )  # fmt: skip

    entities = _entities(joined.top) if joined.top is not None else set()
    nodes = modules_by_name(modules)

    def editable(name: str) -> bool:
        return name in entities or not why_not_editable(modules, nodes.get(name))

    return core.instrument(found, hardware, platform, out, editable, copy)


def _inner(joined: Joined, top: Instance) -> str:
    """What the copies call the design's own top."""
    return f"{top.module}{INNER if joined.entities.top is not None else _INNER}"


def _compared(
    joined: Joined, top: Instance, hardware: HardwareSources, generics: Mapping[str, str], copies: Iterable[Path],
    boards: Mapping[Path, Path], inner: str, width: int,
) -> Comparison:  # fmt: skip
    """The design beside its copies, each in its own languages; the copies have the parameters' values themselves."""
    assert joined.modules is not None
    own = as_synthesised(path for path in joined.modules.needed if path not in joined.boxes)
    needed, standard = joined.entities.needed, joined.entities.standard
    include_dirs, defines = _folders(joined, hardware), {k: str(v) for k, v in hardware.defines.items()}
    libraries = (*("" for _ in own), *(file.library for file in needed))
    made = (*copies, *(boards.get(file.path, file.path) for file in needed))
    return Comparison(
        HdlSide(
            (*own, *(f.path for f in needed)), top.module, include_dirs, defines, dict(generics), libraries, standard
        ),
        HdlSide(made, inner, include_dirs, defines, libraries=libraries, vhdl_standard=standard),
        (wrapper.STATE_PORT,) if width else (),
        clocks=tuple(name for name, _ in clocks_of(top)),
        resets=resets(top),
    )


def _entities(top: Instance) -> set[str]:
    return {one.module for one in top.walk() if isinstance(one.body, Unit)}


def _told(found: Read, layout: Layout, clocks: Mapping[str, Clock]) -> tuple[dict[Key, str], set[Key]]:
    """Of the Verilog the blocks whose state a register tells, below a top that is Verilog too, and those whose states
    are held in reset."""
    told: dict[Key, str] = {}
    held: set[Key] = set()
    for design, tree in found.joined.halves:
        if found.joined.entities.top is None and tree.path == found.joined.halves[0][1].path:
            told = tapped(design.nets, tree, layout, clocks, found.single)
        else:
            elsewhere = {use.source.key for instance in tree.walk() for use in instance.blocks}
            told = {key: text for key, text in told.items() if key not in elsewhere}
        held |= held_in_reset(design.nets, tree, clocks)
    return told, held


def _translated(
    joined: Joined, texts: Mapping[Path, bytes], unit: str, hardware: HardwareSources, parameters: Mapping[str, str],
    edits: Mapping[Path, Edits], names: Iterable[str], job: Job | None = None,
) -> Made:  # fmt: skip
    """All of the VHDL: below the design's own top `unit`, if it is VHDL, and each entity that Verilog instantiates."""
    types = shared_types(joined.entities.units)
    walked = joined.top.walk() if joined.top is not None else ()
    in_vhdl = (one for one in walked if isinstance(one.node, Instantiation) and not isinstance(one.body, Unit))
    modules = {one.module.lower() for one in in_vhdl}
    heads = {name: joined.heads[name] for name in modules & joined.heads.keys()}
    components = list(_components(joined))
    found: list[str] = []
    top = ""
    if unit:
        made = made_of(joined.entities, texts, unit, hardware.values(parameters), edits, job)
        made = spelled(linked(made, heads, components, types), names)
        top = top_module(made)
        found.append(made)
    parts = sorted({part.number: part for part in joined.parts.values()}.values(), key=lambda part: part.number)
    own: dict[int, str] = {}
    for part in parts:
        text = made_of(part.design, texts, part.entity.name, part.generics, edits, job)
        own[part.number] = renamed(linked(text, heads, components, types), f"recap_{part.number}")
    for box in dict.fromkeys(part.box for part in parts):
        several = [part for part in parts if part.box == box]
        found += [own[part.number] for part in several]
        found.append(module_of(several, own, joined.asked.get(box, ()), types))
    below = re.compile(rf"^  (?:{'|'.join(re.escape(head.name) for head in heads.values())})\b", re.MULTILINE)
    alone = {number: text for number, text in own.items() if not (heads and below.search(text))}
    return Made("\n".join(found), top, tuple((part, top_module(own[part.number])) for part in parts), alone)


def _components(joined: Joined) -> Iterator[Component]:
    for unit in joined.entities.units:
        yield from unit.components
        yield from (one for region in (unit.region.walk() if unit.region else ()) for one in region.components)


def _folders(joined: Joined, hardware: HardwareSources) -> tuple[Path, ...]:
    """Where what the Verilog includes may lie: none of ours does."""
    ours = {path.parent for path in joined.boxes}
    found = include_dirs_of(joined.modules, hardware) if joined.modules is not None else ()
    return tuple(folder for folder in found if folder not in ours)


def _simulated(
    joined: Joined, sources: Iterable[Path], top: str, hardware: HardwareSources, values: Mapping[str, str], root: Path
) -> verilog.Design:
    """The whole as Verilog, as it is simulated."""
    folders = _folders(joined, hardware)
    changes = {
        "sources": tuple(map(str, sources)),
        "include_dirs": tuple(map(str, folders)),
        "parameters": {},
        "top": top,
    }
    return verilog.read_design(root, hardware.model_copy(update=changes), values)


def _wrong(joined: Joined, told: Iterable[Diagnostic], edits: Mapping[Path, Edits], out: Path) -> Iterator[Diagnostic]:
    design = joined.modules
    if design is None:
        return
    originals = {copy_of(design, path, out): path for path in design.sources if path not in joined.boxes}
    for one in dict.fromkeys(one for one in told if one.severity is Severity.ERROR):
        if one.file == f"recap/{TRANSLATED}":
            yield Diagnostic(f"what GHDL makes of the VHDL cannot be read as Verilog: {one.message}", one.hint)
        else:
            yield explained(design, one, originals, edits, out)


def _read_files(joined: Joined, data: Iterable[str]) -> tuple[Path, ...]:
    own = joined.modules.files if joined.modules is not None else ()
    named = (joined.root / name for name in data)
    return (*(path for path in own if path not in joined.boxes), *named, *(f.path for f in joined.entities.files))
