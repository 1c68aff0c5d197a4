"""A design in VHDL, alone or with Verilog: each part elaborated in its own language, and the hierarchies joined to one.

The Verilog that VHDL instantiates stands below a module of ours, whose inputs are the design's; each entity that
Verilog instantiates is elaborated by itself, once for each set of its generics' values.
"""

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

from rc_workbench_plugins.vhdl import design as vhdl
from rc_workbench_plugins.vhdl.blocks import SourceBlock as VhdlBlock
from rc_workbench_plugins.vhdl.blocks import check_names
from rc_workbench_plugins.vhdl.blocks import read_blocks as vhdl_blocks
from rc_workbench_plugins.vhdl.boxes import entities_for, module_for, spellings
from rc_workbench_plugins.vhdl.clocks import Clocks
from rc_workbench_plugins.vhdl.hierarchy import elaborate as vhdl_tree
from rc_workbench_plugins.vhdl.order import defined_twice
from rc_workbench_plugins.vhdl.parts import Joined, Part
from rc_workbench_plugins.vhdl.roots import ROOTS, Use, at_uses, kept, roots_text
from rc_workbench_plugins.vhdl.source_file import pragmas_of
from rc_workbench_plugins.vhdl.syntax import plain
from rc_workbench_plugins.vhdl.types import Type, shared_types
from rc_workbench_plugins.vhdl.units import Instantiation, Unit
from rc_workbench_plugins.vhdl.values import generic_of, kind_of, known_names, literal_of, verilog_of
from workbench.api import Diagnostic, HardwareSources, Job, counted
from workbench.api.unstable import did_you_mean
from workbench.hdl.instances import Instance
from workbench.hdl.verilog import design as verilog
from workbench.hdl.verilog.blocks import read_blocks as verilog_blocks
from workbench.hdl.verilog.elaborate import elaborate as verilog_tree
from workbench.hdl.verilog.heads import Head, Modules, read_modules

_MISSED = re.compile(r'unit "(\w+)" not found in library')
_MOST_TURNS = 16  # from one language into the other, one below the other
_Roots = Mapping[str, tuple[str, bool]]


def read_joined(
    root: Path, hardware: HardwareSources, names: Iterable[str], parameters: Mapping[str, str], job: Job
) -> Joined:
    """Never raises for what stands in the sources. `names` are the platform's, as they are spelled there."""
    root = root.resolve()
    joiner = _Joiner(root, hardware, {plain(name): name for name in names if name}, parameters, job)
    return joiner.joined()


@dataclass
class _Joiner:
    root: Path
    hardware: HardwareSources
    names: Mapping[str, str]
    parameters: Mapping[str, str]
    job: Job
    found: list[Diagnostic] = field(default_factory=list)
    lasting: list[Diagnostic] = field(default_factory=list)  # told once, however often the rest is read
    uses: dict[str, Use] = field(default_factory=dict)  # by the paths in the whole
    pending: dict[str, Use] = field(default_factory=dict)
    at: dict[str, Part] = field(default_factory=dict)
    parts: dict[tuple[object, ...], Part] = field(default_factory=dict)
    design: verilog.Design | None = None
    own: Instance | None = None  # the Verilog below the project's top
    roots: dict[str, Instance] = field(default_factory=dict)  # and below ROOTS, by their names there
    halves: list[tuple[verilog.Design, Instance]] = field(default_factory=list)
    boxes: dict[str, Unit] = field(default_factory=dict)
    files: frozenset[Path] = frozenset()

    def joined(self) -> Joined:
        of_vhdl, self.of_verilog = vhdl.by_language(self.root, self.hardware)
        self.modules: Modules = read_modules(self.root, self.of_verilog)
        paths, _ = vhdl.source_files(self.root, of_vhdl.sources)
        _, missing = vhdl.source_files(self.root, self.hardware.sources)
        self.vhdl_files, self.units = vhdl.read_units(paths, vhdl.libraries_of(self.root, of_vhdl))
        self.types: Mapping[str, Type | str] = shared_types(self.units)
        self.entities = {plain(u.name): u for u in self.units if u.kind == "entity"}
        self.others = tuple(entities_for(self.units, self.modules.heads, self.entities))
        self.blocks, wrong_marks = self._vhdl_blocks()
        by_key = {block.key: block for block in self.blocks}
        top = self.entities.get(plain(self.hardware.top))
        defined = self.modules.heads.get(self.hardware.top.lower())
        self.found += missing
        base = vhdl.Design(self.root, self.vhdl_files, self.units, None, (), (), self.hardware.vhdl_standard)
        tree: Instance | None = None
        clocks: Clocks | None = None
        if top is not None and defined is None:
            values = self.hardware.values(self.parameters)
            base = self._below(top, values)
            tree, clocks = vhdl_tree(base, by_key)
        elif top is None and not self.modules.files:
            lacking = vhdl.without_top(self.root, self.vhdl_files, self.units, self.hardware, missing)
            base = replace(base, diagnostics=tuple(lacking))
        self.by_key = by_key
        joint = self._whole(base, tree)
        used = {id(unit): unit for design in (base, *(p.design for p in self.parts.values())) for unit in design.used}
        shown = {file.number: base.name_of(file.path) for file in self.vhdl_files}
        unobserved = (*defined_twice(self.units, used.values(), shown), *wrong_marks)
        merged = replace(base, used=tuple(used.values()), diagnostics=())
        designs = (*([(base, tree)] if top is not None else []), *((p.design, p.tree) for p in self.parts.values()))
        turns = {f"{ROOTS}.u{number}": path for number, path in enumerate(self.uses)}
        of_verilog = verilog_blocks(self.design) if self.design is not None else ((), ())
        wrong = tuple(dict.fromkeys((*self.found, *self.lasting, *self._twice(joint))))
        joined = Joined(
            self.root, merged, self.blocks, designs, clocks, self.design, of_verilog[0], tuple(self.halves), joint,
            self.at, self.modules.heads, self.modules.asked, self.files, turns, wrong, (*unobserved, *of_verilog[1]),
        )  # fmt: skip
        only_verilog = self.modules.files and merged.top is None and not joined.mixed
        return replace(joined, verilog=self.of_verilog) if only_verilog else joined

    def _whole(self, base: vhdl.Design, tree: Instance | None) -> Instance | None:
        """The hierarchy; each turn that leads deeper into the other language has the Verilog read once more."""
        joint: Instance | None = None
        known = list(self.found)
        for _ in range(_MOST_TURNS):
            self.found, self.pending, self.at = list(known), {}, {}
            if self.modules.files and (base.top is None or self.uses):
                self._read_verilog(base.top is None)
            self.found += (self._of_module(one) for one in base.diagnostics)
            if tree is not None:
                joint = self._vhdl(base, tree, tree.path, None)
            elif self.own is not None:
                joint = self._verilog(self.own, self.own.path, self.halves[0][0])
            if not self.pending:
                break
            self.uses |= self.pending
        else:
            path = next(iter(self.pending))
            self.found.append(Diagnostic(f"the design instantiates itself without end, as in {path[:200]}"))
        for part in self.parts.values():
            self.found += (self._of_module(one) for one in part.design.diagnostics)
        return joint

    # ---- VHDL

    def _vhdl_blocks(self) -> tuple[tuple[VhdlBlock, ...], list[Diagnostic]]:
        blocks: list[VhdlBlock] = []
        wrong: list[Diagnostic] = []
        design = vhdl.Design(self.root, self.vhdl_files, self.units, None, (), ())
        for file in self.vhdl_files:
            source, problems = pragmas_of(design, file)
            own = [block for unit in design.units_of(file) for block in vhdl_blocks(unit, source)]
            blocks += own
            wrong += [*problems, *source.stray("process", "a choice of a case")]
            wrong += [one for block in own for one in check_names(block)]
        return tuple(blocks), wrong

    def _below(self, entity: Unit, values: Mapping[str, str]) -> vhdl.Design:
        standard = self.hardware.vhdl_standard
        return vhdl.design_below(
            self.root, self.vhdl_files, self.units, entity, values, standard, self.job, self.others
        )

    def _vhdl(self, design: vhdl.Design, one: Instance, path: str, roots: _Roots | None) -> Instance:
        """A VHDL instance in its place in the whole. `roots` are the design's inputs behind the ports of what it is
        below; None: they are these."""
        joint = self._placed(one, path, roots)
        for child in one.children:
            below = f"{path}{child.path[len(one.path) :]}"
            head = self.modules.heads.get(plain(child.node.unit.rpartition(".")[2])) if child.body is None else None
            if head is not None:
                joint.children.append(self._module(design, child, head, below, roots))
            else:
                joint.children.append(self._vhdl(design, child, below, roots))
        return joint

    def _module(self, design: vhdl.Design, child: Instance, head: Head, path: str, roots: _Roots | None) -> Instance:
        """A Verilog module in VHDL."""
        if path not in self.uses:
            self.pending[path] = self._use(design, child, head, roots)
        number = list(self.uses).index(path) if path in self.uses else -1
        inner = self.roots.get(f"u{number}")
        place = {"path": path, "key": child.key, "loops": child.loops, "array": None, "node": child.node}
        if inner is None or self.design is None:
            return replace(child, module=head.name, children=[], blocks=[], **place)
        joint = self._verilog(inner, path, self.halves[-1][0])
        self.found += self._of_other_bits(design, child, head, inner)
        return replace(joint, **place)

    def _of_other_bits(self, design: vhdl.Design, child: Instance, head: Head, inner: Instance) -> Iterator[Diagnostic]:
        """An error for each port of a module whose bits are not those that the component declares."""
        bits = {port.name: int(port.type.bitWidth) for port in inner.body.portList if hasattr(port, "type")}
        component = design.component(child.node)
        for port in component.interface.ports if component is not None else ():
            kind, name = kind_of(port.type, self.types), head.spelled(port.name)
            bits_here = "1" if kind == "bit" else design.values.get(f"{_place(child)}'{plain(port.name)}")
            if bits_here is not None and bits.get(name, int(bits_here)) != int(bits_here):
                has = counted(bits[name], "bit")
                message = f"the port '{name}' of the Verilog module '{head.name}' has {has}, and {bits_here} here"
                hint = "Declare the component's ports as wide as the module has them with these generics."
                yield self._at(child.node, message, hint)

    def _use(self, design: vhdl.Design, child: Instance, head: Head, roots: _Roots | None) -> Use:
        made: Instantiation = child.node
        values: dict[str, str] = {}
        component = design.component(made)
        for generic in component.interface.generics if component is not None else ():
            value = design.values.get(f"{_place(child)}{plain(generic.name)}")
            literal = verilog_of(kind_of(generic.type, self.types), value) if value is not None else ""
            name = head.spelled(generic.name)
            if name not in head.parameters:
                message = f"the Verilog module '{head.name}' has no parameter '{generic.name}'"
                hint = did_you_mean(generic.name, head.parameters) or known_names("parameters", head.parameters)
                self.lasting.append(self._at(made, message, hint))
            elif literal:
                values[name] = literal
            else:
                message = f"the value of '{generic.name}' cannot be given to the Verilog module '{head.name}'"
                self.lasting.append(
                    self._at(made, message, "Declare it as an integer, a boolean, a string, a bit or a vector of bits.")
                )
        for port in component.interface.ports if component is not None else ():
            if head.spelled(port.name) not in head.ports:
                message = f"the Verilog module '{head.name}' has no port '{port.name}'"
                self.lasting.append(
                    self._at(made, message, did_you_mean(port.name, head.ports) or known_names("ports", head.ports))
                )
        inputs = {}
        for formal, root in child.inputs.items():
            name = head.spelled(formal)
            if head.ports.get(name) == "input" and (driver := self._root(roots, *root))[0].isidentifier():
                inputs[name] = driver
        return Use(head, values, inputs, made)

    def _root(self, roots: _Roots | None, name: str, turned: bool) -> tuple[str, bool]:
        """The design's input behind an input of what stands in it, as the platform spells it."""
        found, other = (name, False) if roots is None else roots.get(plain(name), ("", False))
        return self.names.get(plain(found), found), other ^ turned

    def _placed(self, one: Instance, path: str, roots: _Roots | None) -> Instance:
        """A VHDL instance alone, with its blocks."""
        blocks = []
        part = path.removesuffix(one.path.partition(".")[2]).rstrip(".")
        for use in one.blocks:
            clock, turned = self._root(roots, use.root_clock, use.clock_turned)
            reset = self._root(roots, *use.reset) if use.reset else None
            reset = reset if reset and reset[0] else None
            place = f"{path}{use.path[len(one.path) :]}"
            net = f"{part}.:{use.made_net}" if use.made_net and roots is not None else use.made_net
            blocks.append(replace(use, path=place, root_clock=clock, clock_turned=turned, reset=reset, made_net=net))
        return replace(one, path=path, blocks=blocks, children=[])

    # ---- Verilog

    def _read_verilog(self, whole: bool) -> None:
        """The Verilog once more, with all of it that VHDL is known to instantiate; `whole`: the design's top is
        among it."""
        asked = {name: self.entities[plain(name)] for name in sorted(self.modules.instantiated())
                 if plain(name) in self.entities and plain(name) not in self.modules.heads}  # fmt: skip
        self.boxes = asked
        texts = {name: module_for(name, entity, spellings(entity, self.modules.asked.get(name, ())), self.types)
                 for name, entity in asked.items()}  # fmt: skip
        files = [kept("".join(texts.values()))] if texts else []
        roots = kept(roots_text(self.uses.values())) if self.uses else None
        files += [roots] if roots is not None else []
        self.files = frozenset(files)
        sources = (*self.of_verilog.sources, *map(str, files))
        hardware = self.of_verilog.model_copy(update={"sources": sources, "top": self.hardware.top if whole else ROOTS})
        if not whole:
            hardware = hardware.model_copy(update={"parameters": {}})
        others = (ROOTS,) if whole and self.uses else ()
        self.design = verilog.read_design(self.root, hardware, self.parameters if whole else {}, others)
        by_key = {block.key: block for block in verilog_blocks(self.design)[0]}
        self.halves, self.roots, self.own = [], {}, None
        if whole and self.design.top is not None and (tree := verilog_tree(self.design, by_key)) is not None:
            self.own = tree
            self.halves.append((self.design, tree))
        if self.uses:
            design = verilog.beside(self.design, ROOTS)
            tree = verilog_tree(design, by_key)
            if tree is not None:
                self.halves.append((design, tree))
                self.roots = {child.path.rpartition(".")[2]: child for child in tree.children}
        made = [use.made for use in self.uses.values()]
        self.found += at_uses(self.design.diagnostics, self.root, roots, self.files, made)

    def _verilog(self, one: Instance, path: str, design: verilog.Design) -> Instance:
        """A Verilog instance in its place in the whole."""
        blocks = [replace(use, path=f"{path}{use.path[len(one.path) :]}") for use in one.blocks]
        joint = replace(one, path=path, blocks=blocks, children=[])
        for child in one.children:
            below = f"{path}{child.path[len(one.path) :]}"
            entity = self.boxes.get(child.module)
            if entity is not None:
                joint.children.append(self._entity(child, entity, below, design))
            else:
                joint.children.append(self._verilog(child, below, design))
        return joint

    def _entity(self, child: Instance, entity: Unit, path: str, design: verilog.Design) -> Instance:
        """An entity in Verilog."""
        part = self._part(child, entity, design)
        place = {"path": path, "key": child.key, "loops": child.loops, "array": child.array, "node": child.node,
                 "ports": child.ports}  # fmt: skip
        if part is None or part.tree is None:
            return replace(child, module=entity.name, body=None, children=[], blocks=[])
        self.at[path] = part
        roots: dict[str, tuple[str, bool]] = {}
        for connection in child.body.parentInstance.portConnections:
            if connection.expression is not None and (root := design.nets.top_port(connection.expression)):
                roots[connection.port.name.lower()] = root
        joint = self._vhdl(part.design, part.tree, path, roots)
        return replace(joint, **place)

    def _part(self, child: Instance, entity: Unit, design: verilog.Design) -> Part | None:
        """What an entity is elaborated to with the values of an instance in Verilog."""
        interface = entity.interface
        kinds = {plain(g.name): kind_of(g.type, self.types) for g in (interface.generics if interface else ())}
        generics: dict[str, str] = {}
        parameters: dict[str, str] = {}
        for one in child.body.parameters:
            value = generic_of(kinds[plain(one.name)], one) if one.isOverridden else ""
            if value is None:
                path, line, column = design.place(child.node.getFirstToken().location)
                message = f"the value of '{one.name}' cannot be given to the VHDL entity '{entity.name}'"
                hint = "Give it an integer, a boolean, a text, a bit or a vector of bits."
                self.found.append(Diagnostic(message, hint, file=design.name_of(path), line=line, column=column))
                return None
            if one.isOverridden:
                generics[plain(one.name)] = value
            parameters[one.name] = literal_of(one)
        key = (plain(entity.name), child.module, *generics.items(), *parameters.items())
        if key not in self.parts:
            below = self._below(entity, generics)
            tree, _ = vhdl_tree(below, self.by_key)
            self.parts[key] = Part(len(self.parts), child.module, entity, generics, parameters, below, tree)
        return self.parts[key]

    # ---- what is wrong

    def _of_module(self, one: Diagnostic) -> Diagnostic:
        """What GHDL says, with what would be right where it misses a unit that is a Verilog module."""
        missed = _MISSED.search(one.message)
        if missed is None or missed[1].lower() not in self.modules.heads:
            return one
        return replace(one, hint=f"'{missed[1]}' is a Verilog module: declare a component of it, and instantiate that.")

    def _at(self, made: Instantiation, message: str, hint: str) -> Diagnostic:
        """What is wrong with an instantiation in VHDL."""
        file = verilog.shown_path(self.root, Path(made.key[0]))
        return Diagnostic(message, hint, file=file, line=made.line, column=made.column)

    def _twice(self, joint: Instance | None) -> Iterator[Diagnostic]:
        """An error for each entity of the design that is called as one of its modules."""
        every = list(joint.walk()) if joint is not None else []
        modules = {one.module.lower() for one in every if one.body is not None and not isinstance(one.body, Unit)}
        for name in sorted({plain(one.module) for one in every if isinstance(one.body, Unit)} & modules):
            entity = self.entities[name]
            message = f"the entity '{entity.name}' has the name of a Verilog module of the same design"
            hint = "Give one of the two another name."
            file = verilog.shown_path(self.root, entity.file.path)
            yield Diagnostic(message, hint, file=file, line=entity.line)


def _place(instance: Instance) -> str:
    """An instance in VHDL as `path_name` has it."""
    return f":{instance.path.lower().replace('.', ':').replace('[', '(').replace(']', ')')}:"
