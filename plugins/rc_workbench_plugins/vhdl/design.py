"""A project's VHDL: its files with their libraries, what the top reaches of them, and what GHDL says of that."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path

from rc_workbench_plugins.verilog.design import shown_path, source_files
from rc_workbench_plugins.vhdl.elaborate import Node, Said, Text, analysed, elaborated
from rc_workbench_plugins.vhdl.ports import telling
from rc_workbench_plugins.vhdl.skeleton import skeleton
from rc_workbench_plugins.vhdl.syntax import VhdlFile, plain, read_file
from rc_workbench_plugins.vhdl.units import Region, Unit, units_of
from workbench.api.job import Job
from workbench.model.application import HardwareSources
from workbench.model.diagnostic import Diagnostic, Severity, WorkbenchError, did_you_mean, has_errors

SUFFIXES = (".vhd", ".vhdl")
WORK = "work"
_GIVEN = ("ieee", "std")
_HINTS = {
    "cannot find resource library": "Add its files to the hardware sources, and name them in hardware.libraries.",
    "not found in library": "Add the file that defines it to the project's hardware sources.",
    "no declaration for": "Declare it, or mend the spelling.",
}
_UNREAD = "The rest of this file is read; what stands there is not observed."


@dataclass(frozen=True)
class Design:
    """A design that was read. `top` is the top's entity, None where no source has it; `tree` what GHDL elaborated of
    it, None where errors leave none. `needed` are the files that the top reaches, each after those it needs."""

    root: Path
    files: tuple[VhdlFile, ...]
    units: tuple[Unit, ...]
    top: Unit | None
    needed: tuple[VhdlFile, ...]
    diagnostics: tuple[Diagnostic, ...]
    tree: Node | None = None
    told: Mapping[str, str] = field(default_factory=dict)

    def name_of(self, path: Path) -> str:
        """How a file is named to people and in runs: relative to the project where it lies within."""
        return shown_path(self.root, path)

    @cached_property
    def regions(self) -> Mapping[tuple[int, int], Region]:
        """All regions by their file's number and their offset."""
        found = (r for unit in self.units if unit.region is not None for r in unit.region.walk())
        return {(region.file.number, region.start): region for region in found}

    @cached_property
    def _bodies(self) -> Mapping[tuple[int, int], Unit]:
        return {(u.file.number, u.region.start): u for u in self.units if u.region is not None}

    @cached_property
    def _entities(self) -> Mapping[tuple[str, str], Unit]:
        return {(u.library, plain(u.name)): u for u in self.units if u.kind == "entity"}

    def units_of(self, file: VhdlFile) -> list[Unit]:
        return [unit for unit in self.units if unit.file is file]

    def architecture(self, region: Region) -> Unit | None:
        """The architecture that a region is the body of."""
        return self._bodies.get((region.file.number, region.start))

    def entity_of(self, unit: Unit) -> Unit | None:
        """The entity of an architecture."""
        return self._entities.get((unit.library, plain(unit.of)))


def read_design(root: Path, hardware: HardwareSources, parameters: Mapping[str, str], job: Job | None = None) -> Design:
    """Read the project's VHDL, and have it elaborated. Never raises for what stands in the sources."""
    root = root.resolve()
    paths, missing = source_files(root, hardware.sources)
    libraries = _libraries(root, hardware)
    files, units = read_units([path for path in paths if path.suffix.lower() in SUFFIXES], libraries)
    top = next((u for u in units if u.kind == "entity" and plain(u.name) == plain(hardware.top)), None)
    diagnostics = list(missing)
    if top is None:
        if files and not has_errors(missing):
            diagnostics.append(_no_top(units, hardware))
        return Design(root, files, units, None, files, (*diagnostics, *_unread(root, files, ())))
    needed = needed_by(units, top)
    values = {**{name: str(value) for name, value in hardware.parameters.items()}, **parameters}
    diagnostics += _unread(root, files, needed)
    diagnostics += _unknown_generics(top, values)
    design = Design(root, files, units, top, needed, ())
    try:
        said, tree = _asked(design, top, values, job or Job())
    except WorkbenchError as error:
        names = {str(file.number): design.name_of(file.path) for file in files}
        named = (replace(d, file=names.get(d.file, d.file)) if d.file else d for d in error.diagnostics)
        return replace(design, diagnostics=(*diagnostics, *named))
    diagnostics += _told(design, said)
    return replace(design, diagnostics=tuple(diagnostics), tree=tree.tree, told=tree.told)


def read_units(paths: Sequence[Path], libraries: Mapping[Path, str]) -> tuple[tuple[VhdlFile, ...], tuple[Unit, ...]]:
    """The files, those that are in no library in `work`, and what they declare, in their order."""
    files = tuple(read_file(path, libraries.get(path, WORK), number) for number, path in enumerate(paths))
    return files, tuple(_with_ports([unit for file in files for unit in units_of(file)]))


def _asked(design: Design, top: Unit, values: Mapping[str, str], job: Job) -> tuple[Said, Said]:
    """What GHDL says of the sources, and what it elaborates of their skeleton."""
    known = {plain(generic.name) for generic in top.interface.generics} if top.interface else set()
    generics = {plain(key): value for key, value in values.items() if plain(key) in known}
    said = analysed([Text(f.number, f.library, f.data) for f in design.needed], plain(top.name), top.library, job)
    for told in (telling(top, design.units), ("", "")):  # without, where what it tells is not known there
        texts = [Text(f.number, f.library, skeleton(f, design.units_of(f), told, top.name)) for f in design.needed]
        tree = elaborated(texts, plain(top.name), top.library, generics, design.root, job)
        if tree.tree is not None or said.errors:
            break
    errors = said.errors or (tree.errors if tree.tree is None else ())
    return replace(said, errors=errors), tree


def _libraries(root: Path, hardware: HardwareSources) -> dict[Path, str]:
    found: dict[Path, str] = {}
    for name, patterns in hardware.libraries.items():
        for path in source_files(root, patterns)[0]:
            found.setdefault(path, plain(name))
    return found


def _with_ports(units: Sequence[Unit]) -> Iterator[Unit]:
    """Architectures with the ports of their entities."""
    entities = {(unit.library, plain(unit.name)): unit for unit in units if unit.kind == "entity"}
    for unit in units:
        entity = entities.get((unit.library, plain(unit.of))) if unit.kind == "architecture" else None
        ports = entity.interface.ports if entity is not None and entity.interface is not None else ()
        yield replace(unit, entity_ports=ports) if ports else unit


def needed_by(units: Sequence[Unit], top: Unit) -> tuple[VhdlFile, ...]:
    """The files with what the top reaches, each after those it needs where that can be."""
    index: dict[tuple[str, str], list[Unit]] = defaultdict(list)
    by_name: dict[str, list[Unit]] = defaultdict(list)
    for unit in units:
        index[unit.library, plain(unit.of if unit.kind == "architecture" else unit.name)].append(unit)
        if unit.kind == "entity":
            by_name[plain(unit.name)].append(unit)

    def needs(unit: Unit) -> Iterator[Unit]:
        if unit.kind == "entity" or unit.kind == "package":
            yield from (one for one in index[unit.library, plain(unit.name)] if one is not unit)
        elif unit.kind == "configuration":
            yield from index[unit.library, plain(unit.of)]
        else:
            of = plain(unit.of or unit.name)
            yield from (one for one in index[unit.library, of] if one.kind in ("entity", "package"))
        for library, name in sorted(unit.uses):
            home = unit.library if library == WORK else library
            if name == "all":
                yield from (one for (held, _), several in index.items() if held == home for one in several)
            else:
                yield from index.get((home, name), ())
        for name in sorted(unit.names):
            own = index.get((unit.library, name), ())
            yield from own or by_name.get(name, ())

    files: dict[int, VhdlFile] = {}
    seen = {id(top)}
    stack: list[tuple[Unit, Iterator[Unit]]] = [(top, needs(top))]
    while stack:
        unit, more = stack[-1]
        following = next((one for one in more if id(one) not in seen), None)
        if following is None:
            files.setdefault(unit.file.number, unit.file)
            stack.pop()
        else:
            seen.add(id(following))
            stack.append((following, needs(following)))
    return tuple(files.values())


def _unread(root: Path, files: Iterable[VhdlFile], needed: Sequence[VhdlFile]) -> Iterator[Diagnostic]:
    """A warning for what the parser could not read in a file. GHDL tells whether it is wrong, where it is needed."""
    for file in files:
        for node in file.faults()[:1]:
            line, column = file.place(node)
            hint = _UNREAD if file in needed else "The top does not need this file."
            message = "this cannot be read as VHDL"
            yield Diagnostic(message, hint, Severity.WARNING, shown_path(root, file.path), line, column)


def _no_top(units: Sequence[Unit], hardware: HardwareSources) -> Diagnostic:
    names = sorted({unit.name for unit in units if unit.kind == "entity"})
    hint = did_you_mean(hardware.top, names) or f"The sources define {', '.join(names[:20]) or 'no entity'}."
    return Diagnostic(f"no source defines the top entity '{hardware.top}'", hint)


def _unknown_generics(top: Unit, values: Mapping[str, str]) -> Iterator[Diagnostic]:
    names = [generic.name for generic in top.interface.generics] if top.interface is not None else []
    for name in values:
        if plain(name) not in map(plain, names):
            hint = did_you_mean(name, names) or f"It has {', '.join(names) or 'none'}."
            yield Diagnostic(f"the top entity '{top.name}' has no generic '{name}'", hint)


def _told(design: Design, said: Said) -> Iterator[Diagnostic]:
    of = {file.number: file for file in design.files}
    for number, line, column, text in said.errors:
        hint = next((hint for part, hint in _HINTS.items() if part in text), "")
        if number in of:
            yield Diagnostic(text, hint, file=design.name_of(of[number].path), line=line, column=column)
        else:
            yield Diagnostic(f"GHDL cannot elaborate '{design.top.name if design.top else ''}': {text}", hint)
