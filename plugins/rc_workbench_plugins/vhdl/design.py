"""A project's VHDL: its files with their libraries, what a top reaches of them, and what GHDL says of that."""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path

from rc_workbench_plugins.vhdl import lengths
from rc_workbench_plugins.vhdl.elaborate import CRASHED, Node, Said, Text, analysed, elaborated
from rc_workbench_plugins.vhdl.libraries import WORK, called
from rc_workbench_plugins.vhdl.order import Reach, files_of
from rc_workbench_plugins.vhdl.ports import telling
from rc_workbench_plugins.vhdl.skeleton import skeleton
from rc_workbench_plugins.vhdl.syntax import VhdlFile, matches, plain, read_file
from rc_workbench_plugins.vhdl.types import shared_types
from rc_workbench_plugins.vhdl.units import Component, Instantiation, Region, Unit, units_of
from rc_workbench_plugins.vhdl.vendors import stand_in_files, stands_in
from workbench.api import Diagnostic, HardwareSources, Job, Severity, WorkbenchError, has_errors
from workbench.api.source import suffixes
from workbench.api.unstable import VhdlStandard, did_you_mean
from workbench.hdl.verilog.design import shown_path, source_files
from workbench.hdl.verilog.encrypted import encrypted, may_be_in, no_text

_MISSED = "not found in library"
_HINTS = {
    "cannot find resource library": "Add its files to the hardware sources, and name them in hardware.libraries.",
    _MISSED: "Add the file that defines it to the project's hardware sources. If a vendor's tool "
    "generates it (an IP core), let the tool write its VHDL.",
    "no declaration for": "Declare it, or fix the spelling.",
    "actual must be a static name": "Its index varies: assign it to a signal of the architecture, and map that signal.",
}
_INNER_PACKAGES = """
    (package_declaration_body (package_declaration (package_declaration_body (package_header (generic_clause)))) @p)
    (architecture_head (package_declaration (package_declaration_body (package_header (generic_clause)))) @p)
"""
_UNREAD = "The rest of this file is used; this part is not observed."


@dataclass(frozen=True)
class Design:
    """A design that was read. `top` is the top's entity, None where no source has it; `tree` what GHDL elaborated of
    it, None where errors leave none. `used` are the units that the top reaches, each after those it needs. `fitting`
    is the standard that GHDL reads them in, where it does not in `standard`. The elaborated design tells the lengths of
    signals of the names `measured`."""

    root: Path
    files: tuple[VhdlFile, ...]
    units: tuple[Unit, ...]
    top: Unit | None
    used: tuple[Unit, ...]
    diagnostics: tuple[Diagnostic, ...]
    standard: VhdlStandard = "2008"
    fitting: VhdlStandard | None = None
    tree: Node | None = None
    values: Mapping[str, str] = field(default_factory=dict)
    measured: frozenset[str] = frozenset()

    def name_of(self, path: Path) -> str:
        """How a file is named to people and in runs: relative to the project where it lies within."""
        return shown_path(self.root, path)

    @cached_property
    def needed(self) -> tuple[VhdlFile, ...]:
        """The files that the top reaches, each after those it needs where that can be."""
        return files_of(self.used)

    @cached_property
    def regions(self) -> Mapping[tuple[int, int], Region]:
        """All regions by their file's number and their offset."""
        return {(region.file.number, region.start): region for unit in self.units for region in unit.regions}

    @cached_property
    def _bodies(self) -> Mapping[tuple[int, int], Unit]:
        return {(u.file.number, u.region.start): u for u in self.units if u.region is not None}

    @cached_property
    def _entities(self) -> Mapping[tuple[str, str], Unit]:
        return {(u.library, plain(u.name)): u for u in self.used if u.kind == "entity"}

    @cached_property
    def _components(self) -> Mapping[str, tuple[Component, ...]]:
        by_name: dict[str, list[Component]] = defaultdict(list)
        for unit in self.units:
            for one in unit.all_components:
                by_name[plain(one.name)].append(one)
        return {name: tuple(several) for name, several in by_name.items()}

    def component(self, instance: Instantiation) -> Component | None:
        """The declaration of what is instantiated as a component: of several the one in the same file."""
        several = self._components.get(plain(instance.unit.rpartition(".")[2]), ())
        return next((c for c in several if str(c.file.path) == instance.key[0]), next(iter(several), None))

    def units_of(self, file: VhdlFile) -> list[Unit]:
        return [unit for unit in self.units if unit.file is file]

    def architecture(self, region: Region) -> Unit | None:
        """The architecture that a region is the body of."""
        return self._bodies.get((region.file.number, region.start))

    def entity_of(self, unit: Unit) -> Unit | None:
        """The entity of an architecture."""
        return self._entities.get((unit.library, plain(unit.of)))


def design_below(read: Design, top: Unit, values: Mapping[str, str], job: Job, others: Sequence[Text] = ()) -> Design:
    """The design below a top, with these generics, of a design that is only read. `others` stand in for entities of
    other languages while it is elaborated."""
    design = replace(read, top=top, used=Reach(read.units).needed(top), diagnostics=())
    diagnostics = [*_unread(design, design.needed), *_wrong_generics(design.root, top, values)]
    try:
        analysis = _analysed(design, design.standard, top, job)
        fitting = _fitting(design, analysis, top, job)
        said, tree = _asked(design, analysis, top, values, job, others)
    except WorkbenchError as error:
        names = {str(file.number): design.name_of(file.path) for file in design.files}
        named = (replace(d, file=names.get(d.file, d.file)) if d.file else d for d in error.diagnostics)
        return replace(design, diagnostics=(*diagnostics, *named))
    design = replace(design, fitting=fitting, tree=tree.tree, values=tree.values)
    return replace(design, diagnostics=(*diagnostics, *_reported(design, said)))


def read_units(paths: Sequence[Path], libraries: Mapping[Path, str]) -> tuple[tuple[VhdlFile, ...], tuple[Unit, ...]]:
    """The files, with the libraries that they are in, and what they declare, in their order."""
    while True:
        files = tuple(read_file(path, libraries.get(path, WORK), number) for number, path in enumerate(paths))
        units = [unit for file in files for unit in units_of(file)]
        more = called(units, libraries)
        if not more:
            for path, library in stand_in_files(units):
                files = (*files, read_file(path, library, len(files)))
                units += units_of(files[-1])
            return files, tuple(_with_ports(units))
        libraries = {**libraries, **more}


def _asked(
    design: Design, said: Said, top: Unit, values: Mapping[str, str], job: Job, others: Sequence[Text]
) -> tuple[Said, Said]:
    """GHDL's messages on the sources, from analysis (`said`) and elaboration, and the elaborated skeleton."""
    known = {plain(generic.name): generic for generic in top.generics}
    generics = {plain(key): value for key, value in values.items() if plain(key) in known}
    if any(not generic.default and name not in generics for name, generic in known.items()):
        return said, Said(())
    own, none, every = telling(top, design.units), ("", ""), tuple(others)
    tries = dict.fromkeys(
        [(own, design.measured, every), (own, frozenset[str](), every), (none, frozenset[str](), every),
         (none, frozenset[str](), ())]
    )  # fmt: skip
    types = shared_types(design.units)
    for probe, names, beside in tries:  # without, where what they tell is not known there
        told: dict[lengths.Place, str] = {}
        for unit in design.used if names else ():
            told |= lengths.telling(unit, names, types) if unit.region is not None else {}
        texts = [
            Text(f.number, f.library, skeleton(f, design.units_of(f), probe, top.name, told)) for f in design.needed
        ]
        tree = elaborated([*texts, *beside], design.standard, plain(top.name), top.library, generics, design.root, job)
        if tree.tree is not None or said.errors or not any(number >= 0 for number, *_ in tree.errors):
            break
    errors = said.errors or (tree.errors if tree.tree is None else ())
    return replace(said, errors=errors), tree


def _analysed(design: Design, standard: VhdlStandard, top: Unit, job: Job) -> Said:
    return analysed(
        [Text(f.number, f.library, f.data) for f in design.needed], standard, plain(top.name), top.library, job
    )


def _fitting(design: Design, said: Said, top: Unit, job: Job) -> VhdlStandard | None:
    """The standard in which less of the design is wrong than it is `said` to be, and nothing else."""
    other: VhdlStandard = "93" if design.standard == "2008" else "2008"
    if not any(number >= 0 for number, *_ in said.errors):
        return None
    wrong = {error[:2] for error in said.errors}
    return other if {error[:2] for error in _analysed(design, other, top, job).errors} < wrong else None


def by_language(root: Path, hardware: HardwareSources) -> tuple[HardwareSources, HardwareSources]:
    """The project's sources in VHDL, and those in Verilog; names that no file is found for stay with the latter."""
    vhdl: list[str] = []
    verilog: list[str] = []
    for name in hardware.sources:
        paths, _ = source_files(root, [name])
        for path in paths:
            (vhdl if path.suffix.lower() in suffixes.VHDL else verilog).append(str(path))
        if not paths:
            (vhdl if name.lower().endswith(suffixes.VHDL) else verilog).append(name)
    return (
        hardware.model_copy(update={"sources": tuple(vhdl)}),
        hardware.model_copy(update={"sources": tuple(verilog)}),
    )


def libraries_of(root: Path, hardware: HardwareSources) -> dict[Path, str]:
    """The libraries of those files that the project puts into one."""
    libraries: dict[Path, str] = {}
    for name, patterns in hardware.libraries.items():
        for path in source_files(root, patterns)[0]:
            libraries.setdefault(path, plain(name))
    return libraries


def library_of(design: Design, hardware: HardwareSources) -> frozenset[Path]:
    """The sources that are not the application's own."""
    vendors = (file.path for file in design.files if stands_in(file))
    return frozenset((*source_files(design.root, hardware.library)[0], *vendors))


def _with_ports(units: Sequence[Unit]) -> Iterator[Unit]:
    """Architectures with the ports of their entities."""
    entities: dict[tuple[str, str], list[Unit]] = defaultdict(list)
    for unit in units:
        if unit.kind == "entity":
            entities[unit.library, plain(unit.name)].append(unit)
    for unit in units:
        homes = entities.get((unit.library, plain(unit.of)), []) if unit.kind == "architecture" else []
        entity = next((one for one in homes if one.file is unit.file), next(iter(homes), None))
        ports = entity.ports if entity is not None else ()
        yield replace(unit, entity_ports=ports) if ports else unit


def _unread(design: Design, needed: Sequence[VhdlFile]) -> Iterator[Diagnostic]:
    """A warning for what the parser could not read in a file, or is encrypted. GHDL tells whether it is wrong, where it
    is needed. One that is no text is an error."""
    for file in design.files:
        shown = design.name_of(file.path)
        if (wrong := no_text(file.data, shown)) is not None:
            yield wrong
            continue
        if (secret := encrypted(file.data, shown)) is not None:
            yield replace(secret, severity=Severity.WARNING)
            continue
        for node in file.faults()[:1]:
            line, column = file.place(node)
            hint = _UNREAD if file in needed else "The top does not need this file."
            message = "this cannot be read as VHDL"
            yield Diagnostic(message, hint, Severity.WARNING, shown, line, column)


def without_top(read: Design, hardware: HardwareSources, missing: Sequence[Diagnostic]) -> Iterator[Diagnostic]:
    """What is wrong with sources that do not define the top. `missing` are those that are not there."""
    wrong = (*missing, *_unread(read, ()))
    if read.files and not has_errors(wrong):
        names = sorted({unit.name for unit in read.units if unit.kind == "entity"})
        hint = did_you_mean(hardware.top, names) or f"The sources define {', '.join(names[:20]) or 'no entity'}."
        yield Diagnostic(f"no source defines the top entity '{hardware.top}'", hint)
    yield from wrong


def defined_twice(design: Design, used: Iterable[Unit]) -> Iterator[Diagnostic]:
    """An error for each unit in use that the sources define at another place too."""
    for unit, other in Reach(design.units).twice(used):
        first = f"{design.name_of(unit.file.path)}:{unit.line}"
        message = f"the {unit.kind} '{unit.name}' is defined twice: also at {first}"
        hint = "Remove one of the two from the hardware sources, or put it into a library of its own."
        yield Diagnostic(message, hint, file=design.name_of(other.file.path), line=other.line)


def _wrong_generics(root: Path, top: Unit, values: Mapping[str, str]) -> Iterator[Diagnostic]:
    given = set(map(plain, values))
    if open_ := [generic for generic in top.generics if not generic.default and plain(generic.name) not in given]:
        lacking = ", ".join(generic.name for generic in open_)
        message = f"the top entity '{top.name}' has generics without a value: {lacking}"
        hint = "Give them one under hardware.parameters in the project."
        yield Diagnostic(message, hint, file=shown_path(root, top.file.path), line=open_[0].line)
    names = [generic.name for generic in top.generics]
    for name in values:
        if plain(name) not in map(plain, names):
            hint = did_you_mean(name, names) or f"It has {', '.join(names) or 'none'}."
            yield Diagnostic(f"the top entity '{top.name}' has no generic '{name}'", hint)


def _reported(design: Design, said: Said) -> Iterator[Diagnostic]:
    of = {file.number: file for file in design.files}
    if design.fitting is not None:
        number, line, column, _ = next(error for error in said.errors if error[0] >= 0)
        message = f"this is VHDL-{design.fitting}, but the sources are read as VHDL-{design.standard}"
        hint = f"Write `vhdl_standard: {design.fitting}` under `hardware:` in the project."
        yield Diagnostic(message, hint, file=design.name_of(of[number].path), line=line, column=column)
    secret = next((file.path.name for file in design.files if encrypted(file.data, "")), None)
    hints = _HINTS | ({_MISSED: may_be_in(secret)} if secret else {})
    for number, line, column, text in said.errors:
        if text.startswith('(generic "'):  # of the top, told already
            continue
        hint = next((hint for part, hint in hints.items() if part in text), "")
        if number in of:
            yield Diagnostic(text, hint, file=design.name_of(of[number].path), line=line, column=column)
        else:
            yield Diagnostic(f"GHDL cannot elaborate '{design.top.name if design.top else ''}': {text}", hint)
            if text.startswith(CRASHED):
                yield from _crashed_on(design)
    top, bodies = design.top, map(design.entity_of, design.used)
    if top is not None and not said.errors and top not in bodies:
        hint, name = "Rewrite the part of its file that cannot be read.", design.name_of(top.file.path)
        yield Diagnostic(f"no architecture of '{top.name}' can be read", hint, file=name, line=top.file.line(top.start))


def _crashed_on(design: Design) -> Iterator[Diagnostic]:
    """What GHDL 2.0 is known to crash on."""
    for file in design.needed:
        for node in matches(file.tree.root_node, _INNER_PACKAGES):
            line, column = file.place(node)
            message = "GHDL 2.0 crashes on packages with generics within other units, such as this one"
            hint = "Write it as a separate unit, or use a newer GHDL."
            yield Diagnostic(message, hint, file=design.name_of(file.path), line=line, column=column)
