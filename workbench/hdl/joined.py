"""A design in Verilog and one other language: each part elaborated in its own, and the hierarchies joined to one.

The Verilog that the other language instantiates is below a module of ours, whose inputs are the design's; each unit
that Verilog instantiates is elaborated by itself, once for each set of its parameters' values.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Generic, Protocol, TypeVar

from workbench.hdl.blocks import SourceBlock
from workbench.hdl.derived import follow_derived
from workbench.hdl.instances import BlockUse, Instance, Origin, uses_in
from workbench.hdl.metrics import MetricBlock, with_clocks
from workbench.hdl.roots import ROOTS, Use, at_uses, kept, roots_text
from workbench.hdl.verilog import design as verilog
from workbench.hdl.verilog.blocks import read_blocks
from workbench.hdl.verilog.elaborate import elaborate
from workbench.hdl.verilog.expressions import literal_of
from workbench.hdl.verilog.heads import Head, Modules
from workbench.hdl.verilog.metrics import read_metrics
from workbench.model.application import HardwareSources
from workbench.model.diagnostic import Diagnostic

_MOST_TURNS = 16  # from one language into the other, one below the other
_Inputs = Mapping[str, tuple[str, bool]]


class Named(Protocol):
    @property
    def name(self) -> str: ...


class Elaborated(Protocol):
    @property
    def diagnostics(self) -> tuple[Diagnostic, ...]: ...


U = TypeVar("U", bound=Named)
D = TypeVar("D", bound=Elaborated)


class Dialect(Protocol[U, D]):
    """A language beside Verilog in one design: what is asked of it to join its units with Verilog's modules.

    `units` are those that it offers, by their names in small letters; `called` is what one is called to people. A
    module is known from outside by its `Head`; an instance of one is an instance without a body.
    """

    called: str
    units: Mapping[str, U]

    def empty(self, name: str, unit: U, asked: Sequence[str]) -> str:
        """Verilog of an empty module of this name with the unit's ports and parameters, which Verilog asks for by the
        names `asked`."""
        ...

    def value(self, unit: U, parameter: Any) -> str | None:
        """A parameter of slang's, as the unit is given it; None where it cannot be."""
        ...

    def elaborated(self, unit: U, values: Mapping[str, str]) -> tuple[D, Instance | None]:
        """The design below a unit with these values, and its instances; None where errors leave none."""
        ...

    def module(self, instance: Instance) -> str:
        """The module that an instance without a body is of, by its name in small letters; '' for none."""
        ...

    def given(self, design: D, instance: Instance, head: Head) -> tuple[Mapping[str, str], Sequence[Diagnostic]]:
        """The values that an instance of a module gives to its parameters, in Verilog, and what is wrong with it."""
        ...

    def misfits(self, design: D, instance: Instance, head: Head, bits: Mapping[str, int]) -> Iterable[Diagnostic]:
        """An error for each port of an instance of a module that has other `bits` there."""
        ...

    def place(self, instance: Instance) -> tuple[Path, int, int]:
        """Where an instance stands: file, line and column."""
        ...


@dataclass(frozen=True)
class Part(Generic[U, D]):
    """A unit that Verilog instantiates, with the `values` that it gives, as the unit's language writes them: what it is
    elaborated to. `parameters` are all of them in Verilog."""

    number: int
    box: str  # what Verilog calls it
    unit: U
    values: Mapping[str, str]
    parameters: Mapping[str, str]
    design: D
    tree: Instance | None


@dataclass(frozen=True)
class Joined(Generic[U, D]):
    """`top` is the whole hierarchy's, None where errors leave none; `always` are the Verilog's clocked blocks, `halves`
    its trees by themselves, each with the design that it is of. `parts` are by their paths in the whole, `elaborated`
    all of them; `boxes` the files that stand for what is not Verilog. `wrong` is what is wrong with the design,
    `unobserved` with it as one that is observed."""

    root: Path
    top: Instance | None
    modules: verilog.Design | None
    always: tuple[SourceBlock, ...]
    halves: tuple[tuple[verilog.Design, Instance], ...]
    parts: Mapping[str, Part[U, D]]
    elaborated: tuple[Part[U, D], ...]
    heads: Mapping[str, Head]
    asked: Mapping[str, tuple[str, ...]]  # the names that Verilog connects, by what it instantiates
    boxes: frozenset[Path]
    turns: Mapping[str, str]  # where the Verilog's instances stand in the whole, by their paths below `ROOTS`
    wrong: tuple[Diagnostic, ...]
    unobserved: tuple[Diagnostic, ...]
    metrics: tuple[MetricBlock, ...]  # that the sources define

    @property
    def in_verilog(self) -> tuple[Path, ...]:
        """The user's own files in Verilog that the design needs."""
        needed = self.modules.needed if self.modules is not None else ()
        return tuple(path for path in needed if path not in self.boxes)

    def name_of(self, path: Path) -> str:
        return verilog.shown_path(self.root, path)


@dataclass
class Joiner(Generic[U, D]):
    """Joins the units of a dialect with the Verilog of `hardware`. `names` are the platform's, as they are spelled
    there, by themselves in small letters; `known` what is known to be wrong."""

    root: Path
    hardware: HardwareSources
    modules: Modules
    dialect: Dialect[U, D]
    names: Mapping[str, str]
    parameters: Mapping[str, str]
    known: Sequence[Diagnostic]
    problems: list[Diagnostic] = field(default_factory=list)
    lasting: list[Diagnostic] = field(default_factory=list)  # reported once, however often the rest is read
    uses: dict[str, Use] = field(default_factory=dict)  # by the paths in the whole
    pending: dict[str, Use] = field(default_factory=dict)
    at: dict[str, Part[U, D]] = field(default_factory=dict)
    parts: dict[tuple[object, ...], Part[U, D]] = field(default_factory=dict)
    design: verilog.Design | None = None
    own: Instance | None = None  # the Verilog below the project's top
    roots: dict[str, Instance] = field(default_factory=dict)  # and below ROOTS, by their names there
    halves: list[tuple[verilog.Design, Instance]] = field(default_factory=list)
    boxes: dict[str, U] = field(default_factory=dict)
    files: frozenset[Path] = frozenset()
    other_clocks: dict[str, Origin] = field(default_factory=dict)  # of the other language, by what stands for them
    origins: dict[str, Origin] = field(default_factory=dict)  # of the blocks on these, by their paths

    def joined(self, own: D, tree: Instance | None, whole: bool) -> Joined[U, D]:
        """The design below a top that the dialect elaborated, or `whole` below one in Verilog. Each turn that leads
        deeper into the other language has the Verilog read once more."""
        joint: Instance | None = None
        for _ in range(_MOST_TURNS):
            self.problems, self.pending, self.at = list(self.known), {}, {}
            if self.modules.files and (whole or self.uses):
                self._read_verilog(whole)
            self.problems += own.diagnostics
            if tree is not None:
                joint = self._placed_below(own, tree, tree.path, None)
            elif self.own is not None:
                joint = self._verilog(self.own, self.own.path, self.halves[0][0])
            if not self.pending:
                break
            self.uses |= self.pending
        else:
            path = next(iter(self.pending))
            self.problems.append(Diagnostic(f"the design instantiates itself endlessly, as in {path[:200]}"))
        if joint is not None and self.origins:
            follow_derived(joint, lambda _, use: self.origins.get(use.path, Origin()))
        parts = tuple(self.parts.values())
        wrong = [*self.problems, *(one for part in parts for one in part.design.diagnostics), *self.lasting]
        turns = {f"{ROOTS}.u{number}": path for number, path in enumerate(self.uses)}
        always, unobserved = read_blocks(self.design) if self.design is not None else ((), ())
        metrics, misplaced = read_metrics(self.design, always, self.hardware) if self.design is not None else ((), ())
        return Joined(
            self.root, joint, self.design, always, tuple(self.halves), self.at, parts, self.modules.heads,
            self.modules.asked, self.files, turns, tuple(wrong), (*unobserved, *misplaced), metrics,
        )  # fmt: skip

    # ---- the dialect

    def _placed_below(self, design: D, one: Instance, path: str, roots: _Inputs | None) -> Instance:
        """An instance of the dialect's in its place in the whole. `roots` are the design's inputs behind the ports of
        what it is below; None: they are these."""
        joint = self._placed(one, path, roots)
        for child in one.children:
            below = f"{path}{child.path[len(one.path) :]}"
            head = self.modules.heads.get(self.dialect.module(child)) if child.body is None else None
            if head is not None:
                joint.children.append(self._module(design, child, head, below, roots))
            else:
                joint.children.append(self._placed_below(design, child, below, roots))
        return joint

    def _module(self, design: D, child: Instance, head: Head, path: str, roots: _Inputs | None) -> Instance:
        """A Verilog module in the dialect."""
        if path not in self.uses:
            values, wrong = self.dialect.given(design, child, head)
            self.lasting += wrong
            self.pending[path] = Use(head, values, self._inputs(child, head, roots), self.dialect.place(child))
        number = list(self.uses).index(path) if path in self.uses else -1
        inner = self.roots.get(f"u{number}")
        place = {"path": path, "key": child.key, "loops": child.loops, "array": None, "node": child.node}
        if inner is None or self.design is None:
            return replace(child, module=head.name, children=[], blocks=[], **place)
        joint = self._verilog(inner, path, self.halves[-1][0])
        bits = {port.name: int(port.type.bitWidth) for port in inner.body.portList if hasattr(port, "type")}
        self.problems += self.dialect.misfits(design, child, head, bits)
        return replace(joint, **place)

    def _inputs(self, child: Instance, head: Head, roots: _Inputs | None) -> dict[str, tuple[str, bool]]:
        """The design's inputs behind those of a module."""
        behind = [(head.spelled(port), self._root(roots, *root)) for port, root in child.inputs.items()]
        if roots is None:
            clocks = ((port, self._stands_for(origin)) for port, origin in child.clock_origins.items())
            behind += [(head.spelled(port), (name, False)) for port, name in clocks]
        return {name: root for name, root in behind if head.ports.get(name) == "input" and root[0].isidentifier()}

    def _root(self, roots: _Inputs | None, name: str, turned: bool) -> tuple[str, bool]:
        """The design's input behind an input of what stands in it, as the platform spells it."""
        root, other = (name, False) if roots is None else roots.get(name.lower(), ("", False))
        return self.names.get(root.lower(), root), other ^ turned

    def _stands_for(self, origin: Origin) -> str:
        """What stands in the other language for a clock that is made of the design's inputs; "" if it is of others."""
        inputs = frozenset(self.names.get(name.lower(), name) for name in origin.inputs)
        if not origin.net or not inputs or not inputs.isdisjoint(self.other_clocks):
            return ""
        names = {one.net: name for name, one in self.other_clocks.items()}
        name = names.get(origin.net, f"recap_made_{len(names)}")
        self.other_clocks[name] = replace(origin, inputs=inputs)
        return name

    def _on_its_clock(self, use: BlockUse) -> BlockUse:
        """A block in its place. What its clock is made of in the other language is kept for later."""
        if use.root_clock not in self.other_clocks:
            return use
        if not use.clock_maker:
            self.origins[use.path] = self.other_clocks[use.root_clock]
        return replace(use, root_clock="")

    def _net(self, net: str) -> str:
        """A net of the Verilog by its place in the whole."""
        top, _, below = net.partition(".")
        if top != ROOTS:
            return net
        number = int(below.partition(".")[0].removeprefix("u"))
        return f"{[*self.uses][number]}.:{below}"

    def _placed(self, one: Instance, path: str, roots: _Inputs | None) -> Instance:
        """An instance of the dialect's alone, with its blocks."""
        blocks = []
        part = path.removesuffix(one.path.partition(".")[2]).rstrip(".")
        for use in one.blocks:
            clock, turned = self._root(roots, use.root_clock, use.clock_turned)
            reset = self._root(roots, *use.reset) if use.reset else None
            reset = reset if reset and reset[0] and reset[0] not in self.other_clocks else None
            place = f"{path}{use.path[len(one.path) :]}"
            net = f"{part}.:{use.clock_net}" if use.clock_net and roots is not None else use.clock_net
            use = replace(use, path=place, root_clock=clock, clock_turned=turned, reset=reset, clock_net=net)
            blocks.append(self._on_its_clock(use))
        return replace(one, path=path, blocks=blocks, children=[])

    # ---- Verilog

    def _read_verilog(self, whole: bool) -> None:
        """The Verilog once more, with all of it that the dialect is known to instantiate; `whole`: the design's top is
        among it."""
        units = {name: unit for name, unit in self.dialect.units.items() if name not in self.modules.heads}
        names = sorted(name for name in self.modules.instantiated() if name.lower() in units)
        self.boxes = {name: units[name.lower()] for name in names}
        asked = self.modules.asked
        texts = [self.dialect.empty(name, unit, asked.get(name, ())) for name, unit in self.boxes.items()]
        files = [kept("".join(texts))] if texts else []
        roots = kept(roots_text(self.uses.values())) if self.uses else None
        files += [roots] if roots is not None else []
        self.files = frozenset(files)
        sources, top = (*self.hardware.sources, *map(str, files)), self.hardware.top if whole else ROOTS
        hardware = self.hardware.model_copy(update={"sources": sources, "top": top})
        if not whole:
            hardware = hardware.model_copy(update={"parameters": {}})
        others = (ROOTS,) if whole and self.uses else ()
        self.design = verilog.read_design(self.root, hardware, self.parameters if whole else {}, others)
        blocks = read_blocks(self.design)[0]
        by_key = with_clocks(blocks, read_metrics(self.design, blocks, self.hardware)[0])
        self.halves, self.roots, self.own = [], {}, None
        if whole and (tree := elaborate(self.design, by_key)) is not None:
            self.own = tree
            self.halves.append((self.design, tree))
        if self.uses:
            design = verilog.beside(self.design, ROOTS)
            if (tree := elaborate(design, by_key)) is not None:
                self.halves.append((design, tree))
                self.roots = {child.path.rpartition(".")[2]: child for child in tree.children}
        places = [use.place for use in self.uses.values()]
        self.problems += at_uses(self.design.diagnostics, self.root, roots, self.files, places)

    def _verilog(self, one: Instance, path: str, design: verilog.Design) -> Instance:
        """A Verilog instance in its place in the whole."""
        placed = (
            replace(use, path=f"{path}{use.path[len(one.path) :]}", clock_net=self._net(use.clock_net))
            for use in one.blocks
        )
        blocks = list(map(self._on_its_clock, placed))
        joint = replace(one, path=path, blocks=blocks, children=[])
        for child in one.children:
            below = f"{path}{child.path[len(one.path) :]}"
            unit = self.boxes.get(child.module)
            if unit is not None:
                joint.children.append(self._unit(child, unit, below, design))
            else:
                joint.children.append(self._verilog(child, below, design))
        return joint

    def _unit(self, child: Instance, unit: U, path: str, design: verilog.Design) -> Instance:
        """A unit of the dialect's in Verilog."""
        part = self._part(child, unit, design)
        place = {"path": path, "key": child.key, "loops": child.loops, "array": child.array, "node": child.node,
                 "ports": child.ports}  # fmt: skip
        if part is None or part.tree is None:
            return replace(child, module=unit.name, body=None, children=[], blocks=[])
        self.at[path] = part
        roots: dict[str, tuple[str, bool]] = {}
        clocks = {use.root_clock.lower() for use in uses_in(part.tree)}
        for connection in child.body.parentInstance.portConnections:
            port, expression = connection.port.name.lower(), connection.expression
            if expression is not None and (root := design.nets.top_port(expression)):
                roots[port] = root
            elif expression is not None and port in clocks:
                origin = design.nets.origin(expression)
                roots[port] = self._stands_for(replace(origin, net=self._net(origin.net))), False
        joint = self._placed_below(part.design, part.tree, path, roots)
        return replace(joint, **place)

    def _part(self, child: Instance, unit: U, design: verilog.Design) -> Part[U, D] | None:
        """What a unit is elaborated to with the values of an instance in Verilog."""
        values: dict[str, str] = {}
        parameters: dict[str, str] = {}
        for one in child.body.parameters:
            value = self.dialect.value(unit, one) if one.isOverridden else ""
            if value is None:
                path, line, column = design.place(child.node.getFirstToken().location)
                message = f"the value of '{one.name}' cannot be given to the {self.dialect.called} '{unit.name}'"
                hint = "Give it an integer, a boolean, a text, a bit or a vector of bits."
                self.problems.append(Diagnostic(message, hint, file=design.name_of(path), line=line, column=column))
                return None
            if one.isOverridden:
                values[one.name.lower()] = value
            parameters[one.name] = literal_of(one)
        key = (unit.name.lower(), child.module, *values.items(), *parameters.items())
        if key not in self.parts:
            below, tree = self.dialect.elaborated(unit, values)
            self.parts[key] = Part(len(self.parts), child.module, unit, values, parameters, below, tree)
        return self.parts[key]
