"""A design in VHDL, alone or with Verilog: VHDL as a dialect whose entities the core joins with Verilog's modules."""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from rc_workbench_plugins.vhdl.blocks import SourceBlock, check_names, read_blocks
from rc_workbench_plugins.vhdl.boxes import entities_for, module_for, spellings
from rc_workbench_plugins.vhdl.clocks import Clocks
from rc_workbench_plugins.vhdl.design import (
    Design,
    by_language,
    defined_twice,
    design_below,
    libraries_of,
    read_units,
    without_top,
)
from rc_workbench_plugins.vhdl.elaborate import Text
from rc_workbench_plugins.vhdl.hierarchy import elaborate
from rc_workbench_plugins.vhdl.metrics import in_their_regions, read_metrics, signals_of
from rc_workbench_plugins.vhdl.read_back import with_outs
from rc_workbench_plugins.vhdl.source_file import pragmas_of
from rc_workbench_plugins.vhdl.syntax import plain
from rc_workbench_plugins.vhdl.types import Type, shared_types
from rc_workbench_plugins.vhdl.units import Instantiation, Unit
from rc_workbench_plugins.vhdl.values import generic_of, kind_of, known_names, verilog_of
from rc_workbench_plugins.vhdl.watched import begins, read_watched
from workbench.api import Diagnostic, HardwareSources, Job, counted
from workbench.api.unstable import did_you_mean
from workbench.hdl import joined as core
from workbench.hdl.instances import Instance, Key
from workbench.hdl.metrics import OfModules, not_reached, unknown_modules, with_metrics
from workbench.hdl.source_file import SourceFile
from workbench.hdl.verilog.design import source_files
from workbench.hdl.verilog.heads import Head, read_modules
from workbench.hdl.verilog.metrics import value_type

_MISSED = re.compile(r'unit "(\w+)" not found in library')
_NOT_GIVEN = "Declare it as an integer, a boolean, a string, a bit or a vector of bits."
Part = core.Part[Unit, Design]


@dataclass(frozen=True)
class Joined(core.Joined[Unit, Design]):
    """`entities` are all of the VHDL, with a `top` where that is the design's own, `designs` those that were
    elaborated, each by itself, `processes` the clocked blocks. Where it is Verilog alone, `verilog` are its sources."""

    entities: Design
    processes: tuple[SourceBlock, ...]
    designs: tuple[tuple[Design, Instance | None], ...]
    clocks: Clocks | None  # of the first of these, where it is the design's own
    verilog: HardwareSources | None = None

    @property
    def mixed(self) -> bool:
        """Whether one language reaches the other, be it that an entity in Verilog could not be elaborated."""
        lost = self.entities.top is None and any(tree is None for _, tree in self.designs)
        return bool(self.parts or self.turns or lost)


@dataclass
class VhdlDialect:
    """The VHDL of a project as it is `read`, not elaborated; `heads` are the modules of the Verilog beside it."""

    read: Design
    heads: Mapping[str, Head]
    job: Job
    called: str = "VHDL entity"
    units: Mapping[str, Unit] = field(init=False)
    types: Mapping[str, Type | str] = field(init=False)
    others: tuple[Text, ...] = field(init=False)
    blocks: tuple[SourceBlock, ...] = field(init=False)
    unobserved: list[Diagnostic] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.units = {plain(unit.name): unit for unit in self.read.units if unit.kind == "entity"}
        self.types = shared_types(self.read.units)
        self.others = tuple(entities_for(self.read.units, self.heads, self.units))
        self.sources: list[SourceFile] = []  # as their pragmas were read
        self.blocks = tuple(self._blocks())
        self.by_key: Mapping[Key, SourceBlock] = {block.key: block for block in self.blocks}

    def empty(self, name: str, unit: Unit, asked: Sequence[str]) -> str:
        return module_for(name, unit, spellings(unit, asked), self.types)

    def value(self, unit: Unit, parameter: Any) -> str | None:
        kinds = {plain(generic.name): kind_of(generic.type, self.types) for generic in unit.generics}
        return generic_of(kinds[plain(parameter.name)], parameter)

    def elaborated(self, unit: Unit, values: Mapping[str, str]) -> tuple[Design, Instance | None]:
        design, tree, _ = self.with_clocks(unit, values)
        return design, tree

    def with_clocks(self, unit: Unit, values: Mapping[str, str]) -> tuple[Design, Instance | None, Clocks | None]:
        design = design_below(self.read, unit, values, self.job, self.others)
        design = replace(design, diagnostics=tuple(map(self._of_module, design.diagnostics)))
        return (design, *elaborate(design, self.by_key))

    def module(self, instance: Instance) -> str:
        return plain(instance.node.unit.rpartition(".")[2])

    def given(self, design: Design, instance: Instance, head: Head) -> tuple[dict[str, str], list[Diagnostic]]:
        values: dict[str, str] = {}
        wrong: list[Diagnostic] = []
        component = design.component(instance.node)
        for generic in component.interface.generics if component is not None else ():
            value = design.values.get(f"{_place(instance)}{plain(generic.name)}")
            literal = verilog_of(kind_of(generic.type, self.types), value) if value is not None else ""
            name = head.spelled(generic.name)
            if name not in head.parameters:
                message = f"the Verilog module '{head.name}' has no parameter '{generic.name}'"
                hint = did_you_mean(generic.name, head.parameters) or known_names("parameters", head.parameters)
                wrong.append(self._at(instance, message, hint))
            elif literal:
                values[name] = literal
            else:
                message = f"the value of '{generic.name}' cannot be given to the Verilog module '{head.name}'"
                wrong.append(self._at(instance, message, _NOT_GIVEN))
        for port in component.interface.ports if component is not None else ():
            if head.spelled(port.name) not in head.ports:
                message = f"the Verilog module '{head.name}' has no port '{port.name}'"
                hint = did_you_mean(port.name, head.ports) or known_names("ports", head.ports)
                wrong.append(self._at(instance, message, hint))
        return values, wrong

    def misfits(self, design: Design, instance: Instance, head: Head, bits: Mapping[str, int]) -> Iterator[Diagnostic]:
        component = design.component(instance.node)
        for port in component.interface.ports if component is not None else ():
            kind, name = kind_of(port.type, self.types), head.spelled(port.name)
            bits_here = "1" if kind == "bit" else design.values.get(f"{_place(instance)}'{plain(port.name)}")
            if bits_here is not None and bits.get(name, int(bits_here)) != int(bits_here):
                has = counted(bits[name], "bit")
                message = f"the port '{name}' of the Verilog module '{head.name}' has {has}, but {bits_here} here"
                hint = "Declare the component's ports as wide as the module has them with these generics."
                yield self._at(instance, message, hint)

    def place(self, instance: Instance) -> tuple[Path, int, int]:
        node: Instantiation = instance.node
        return Path(node.key[0]), node.line, node.column

    def _at(self, instance: Instance, message: str, hint: str) -> Diagnostic:
        path, line, column = self.place(instance)
        return Diagnostic(message, hint, file=self.read.name_of(path), line=line, column=column)

    def _of_module(self, one: Diagnostic) -> Diagnostic:
        """What GHDL says, with what would be right where it misses a unit that is a Verilog module."""
        missed = _MISSED.search(one.message)
        if missed is None or missed[1].lower() not in self.heads:
            return one
        return replace(one, hint=f"'{missed[1]}' is a Verilog module: declare a component of it, and instantiate that.")

    def _blocks(self) -> Iterator[SourceBlock]:
        """All clocked processes; `unobserved` gets what is wrong with their pragmas."""
        for file in self.read.files:
            source, problems = pragmas_of(self.read, file)
            self.sources.append(source)
            own = [block for unit in self.read.units_of(file) for block in read_blocks(unit, source)]
            yield from own
            self.unobserved += [*problems, *source.stray("process", "a choice of a case")]
            self.unobserved += [one for block in own for one in check_names(block)]

    def called_as_modules(self, top: Instance | None) -> Iterator[Diagnostic]:
        """An error for each entity of the design that is called as one of its modules."""
        every = list(top.walk()) if top is not None else []
        modules = {one.module.lower() for one in every if one.body is not None and not isinstance(one.body, Unit)}
        for name in sorted({plain(one.module) for one in every if isinstance(one.body, Unit)} & modules):
            entity = self.units[name]
            message = f"the entity '{entity.name}' has the name of a Verilog module of the same design"
            hint = "Give one of the two another name."
            yield Diagnostic(message, hint, file=self.read.name_of(entity.file.path), line=entity.line)


def read_joined(
    root: Path, hardware: HardwareSources, names: Iterable[str], parameters: Mapping[str, str], job: Job
) -> Joined:
    """Never raises for what stands in the sources. `names` are the platform's, as they are spelled there."""
    root = root.resolve()
    of_vhdl, of_verilog = by_language(root, hardware)
    modules = read_modules(root, of_verilog)
    paths, _ = source_files(root, of_vhdl.sources)
    _, missing = source_files(root, hardware.sources)
    base = Design(root, *read_units(paths, libraries_of(root, of_vhdl)), None, (), (), hardware.vhdl_standard)
    vhdl = VhdlDialect(base, modules.heads, job)
    vhdl.read = replace(base, measured=frozenset(signals_of(vhdl.sources, hardware.metrics)))
    top = vhdl.units.get(plain(hardware.top))
    tree: Instance | None = None
    clocks: Clocks | None = None
    if top is not None and hardware.top.lower() not in modules.heads:
        base, tree, clocks = vhdl.with_clocks(top, hardware.values(parameters))
    elif top is None and not modules.files:
        base = replace(base, diagnostics=tuple(without_top(base, hardware, missing)))
    spelled = {plain(name): name for name in names if name}
    joiner = core.Joiner(root, of_verilog, modules, vhdl, spelled, parameters, missing)
    joint = joiner.joined(base, tree, base.top is None)
    designs = (*([(base, tree)] if top is not None else []), *((part.design, part.tree) for part in joint.elaborated))
    used = {id(unit): unit for design in (base, *(part.design for part in joint.elaborated)) for unit in design.used}
    project = OfModules(hardware.metrics, base.name_of, plain)
    told = [of.values for of in (base, *(part.design for part in joint.elaborated))]
    own, misplaced = read_metrics(vhdl.sources, base.units, vhdl.blocks, vhdl.types, project, told)
    taken = {(plain(one.module), one.label.lower()) for one in (*vhdl.blocks, *own)}
    for unit in base.units if hardware.assertions or hardware.branches else ():
        name = base.name_of(unit.file.path)
        more, not_read = read_watched(unit, name, vhdl.blocks, taken, hardware.assertions, hardware.branches)
        own, misplaced = (*own, *more), (*misplaced, *not_read)
    if hardware.vhdl_standard == "93":
        own, not_readable = with_outs(own, base.units)
        misplaced = (*misplaced, *not_readable)
    metrics = (*own, *joint.metrics)
    with_metrics(joint.top, metrics, value_type)
    in_their_regions(joint.top)
    for instance in joint.top.walk() if joint.top is not None else ():
        instance.metrics = [use if begins(use.source) else replace(use, reset=None) for use in instance.metrics]
    unobserved = (
        *defined_twice(base, used.values()), *vhdl.unobserved, *joint.unobserved, *misplaced,
        *not_reached(joint.top, metrics), *unknown_modules(hardware.metrics, (*vhdl.blocks, *joint.always), plain),
    )  # fmt: skip
    wrong = tuple(dict.fromkeys((*joint.wrong, *vhdl.called_as_modules(joint.top))))
    joined = Joined(
        **{**vars(joint), "wrong": wrong, "unobserved": unobserved, "metrics": metrics}, processes=vhdl.blocks,
        designs=designs, entities=replace(base, used=tuple(used.values()), diagnostics=()), clocks=clocks,
    )  # fmt: skip
    only_verilog = modules.files and base.top is None and not joined.mixed
    return replace(joined, verilog=of_verilog) if only_verilog else joined


def _place(instance: Instance) -> str:
    """An instance in VHDL as `path_name` has it."""
    return f":{instance.path.lower().replace('.', ':').replace('[', '(').replace(']', ')')}:"
