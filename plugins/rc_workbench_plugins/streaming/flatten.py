"""Declarations made one topology: composed blocks opened up, ends found, types, configuration and mapping checked."""

from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping
from dataclasses import replace
from math import isfinite
from typing import NoReturn

from rc_workbench_plugins.streaming.pools import THREADS, threads_of, with_threads
from rc_workbench_plugins.streaming.x_language import BlockInstance, Connection, Declared, Definition, problem
from workbench.api import Diagnostic, listed
from workbench.api.unstable import (
    ANY_CORE,
    DEFAULT_DEPTH,
    TYPE_BYTES,
    At,
    BlockKind,
    Config,
    End,
    Implementation,
    MappedTo,
    Resource,
    StreamBlock,
    StreamEdge,
    Topology,
    TypedPort,
    Value,
    Way,
    did_you_mean,
)

BLOCK_LIMIT = 1000
EDGE_LIMIT = 16 * BLOCK_LIMIT
LEVEL_LIMIT = 100
NAME_LIMIT = 200
_PROBLEM_LIMIT = 100
_ELEMENTS = tuple(name for name, width in TYPE_BYTES.items() if width)


def flattened(declared: Declared, at: At) -> tuple[Topology | None, tuple[Diagnostic, ...]]:
    """The application that is declared, with every problem found; None where there is one. `at` is where to complain of
    what stands nowhere."""
    flat = _Flat(declared, at)
    try:
        return flat.topology()
    except _EnoughError:
        return None, tuple(flat.problems)


class _EnoughError(Exception):
    """The application is larger than any, or has more faults than anyone reads: nothing more is unfolded."""


class _Flat:
    def __init__(self, declared: Declared, at: At) -> None:
        self._declared, self._at = declared, at
        self.problems: list[Diagnostic] = []
        self._definitions: dict[str, Definition] = {}
        self._kinds: dict[str, BlockKind] = {}
        self._blocks: dict[str, StreamBlock] = {}
        self._edges: list[StreamEdge] = []
        self._opened_blocks = 0  # composed ones too
        self._opened_edges = 0

    def topology(self) -> tuple[Topology | None, tuple[Diagnostic, ...]]:
        for definition in self._declared.definitions:
            if definition.name in self._definitions:
                self._wrong(definition.at, f"the block '{definition.name}' is defined twice", "Remove one of them.")
            self._definitions[definition.name] = definition
        self._make_kinds()
        top = None if self.problems else self._top()
        if top is None:
            return None, tuple(self.problems)
        self._opened(top.name, top, ())
        for port in top.ports:
            self._wrong(port.at, f"the application '{top.name}' has a port '{port.name}'",
                        "An application has no ports: add a block that reads or writes a file.")  # fmt: skip
        ends = {str(end) for edge in self._edges for end in (edge.source, edge.sink)}
        for block in self._blocks.values():
            self._check_ports(block, ends)
        edges = tuple(self._with_depth(edge, top.name) for edge in self._edges)
        resources, mapping = self._mapping(top.name)
        topology = Topology(top.name, tuple(self._blocks.values()), edges, resources, mapping)
        topology, problems = with_threads(topology, self._declared.threads)
        for one in problems:
            self._wrong(*one)
        if not self.problems:
            self._check_implementations(topology)
        return (None if self.problems else topology), tuple(self.problems)

    def _wrong(self, at: At, message: str, hint: str = "") -> None:
        diagnostic = problem(at if at.file else self._at, message, hint)
        if diagnostic in self.problems:  # of a block that is opened several times
            return
        self.problems.append(diagnostic)
        if len(self.problems) == _PROBLEM_LIMIT:
            raise _EnoughError

    def _too_large(self, at: At, message: str) -> NoReturn:
        self._wrong(at, message, "Larger applications are not read.")
        raise _EnoughError

    def _make_kinds(self) -> None:
        of_kind: dict[str, list[Implementation]] = defaultdict(list)
        for name, implementation in self._declared.implementations[::-1]:
            of_kind[name].append(implementation)
        for name, implementation in self._declared.implementations:
            if name not in self._definitions:
                hint = did_you_mean(name, self._definitions) or f"Define it: block {name} {{ ... }}"
                self._wrong(implementation.at, f"there is no block '{name}' to implement", hint)
        for definition in self._definitions.values():
            seen: dict[str, At] = {}
            named: list[TypedPort | Config | BlockInstance] = [
                *definition.ports,
                *definition.config,
                *definition.instances,
            ]
            for part in named:
                if len(part.name) > NAME_LIMIT:
                    self._wrong(part.at, f"a name has {len(part.name)} characters", f"At most {NAME_LIMIT} are read.")
                if part.name in seen:
                    self._wrong(part.at, f"'{definition.name}' defines the name '{part.name}' twice", "Rename one.")
                seen[part.name] = part.at
            for port in definition.ports:
                if port.type not in _ELEMENTS:
                    self._wrong(port.at, f"'{port.type}' is not an element type", _types(port.type, _ELEMENTS))
            for config in definition.config:
                if config.type not in TYPE_BYTES:
                    self._wrong(config.at, f"there is no type '{config.type}'", _types(config.type, tuple(TYPE_BYTES)))
                elif config.default is not None and (why := _unfit(config, config.default)):
                    self._wrong(config.at, *why)
            if definition.edges and not definition.instances:
                self._wrong(definition.at, f"'{definition.name}' has edges and no blocks", "Declare its blocks.")
            choices = tuple(of_kind[definition.name])
            if definition.instances and choices:
                self._wrong(choices[0].at, f"'{definition.name}' is composed of blocks, and has an implementation",
                            "Remove one of them.")  # fmt: skip
            kind = BlockKind(definition.name, tuple(definition.ports), tuple(definition.config), choices, definition.at)
            self._kinds[definition.name] = kind

    def _top(self) -> Definition | None:
        composed = [d for d in self._definitions.values() if d.instances]
        if self._declared.top:
            name, at = self._declared.top
            if name not in self._definitions:
                self._wrong(at, f"there is no block '{name}'", did_you_mean(name, self._definitions))
                return None
            if not self._definitions[name].instances:
                self._wrong(at, f"'{name}' contains no blocks", "An application is a block that is composed of others.")
                return None
            return self._definitions[name]
        held = {instance.kind for d in composed for instance in d.instances}
        free = [d for d in composed if d.name not in held]
        if len(free) == 1 or (composed and not free):  # none is free: opening any of them tells the ring
            return (free or composed)[0]
        names = listed([d.name for d in free])
        why = f"more than one block may be the application: {names}" if free else "no block is composed of others"
        self._wrong(free[1].at if free else self._at, why, "Name the application: use NAME;" if free else
                    "Write block NAME { ... } with the application's blocks and edges.")  # fmt: skip
        return None

    def _opened(self, path: str, definition: Definition, above: tuple[str, ...]) -> dict[str, End]:
        """Make the blocks and edges of a composed block; its ports with the ends inside that they stand for."""
        if definition.name in above:
            ring = " in ".join((definition.name, *reversed(above[above.index(definition.name) :])))
            self._wrong(definition.at, f"the block contains itself: {ring}", "Remove one of them.")
            return {}
        if len(above) == LEVEL_LIMIT:
            self._too_large(definition.at, f"blocks are nested more than {LEVEL_LIMIT} deep")
        ports: dict[str, dict[str, End]] = {}
        kinds: dict[str, BlockKind] = {}
        for one in definition.instances:
            self._opened_blocks += 1
            if self._opened_blocks > BLOCK_LIMIT:
                self._too_large(one.at, f"the application has more than {BLOCK_LIMIT} blocks")
            inner = self._definitions.get(one.kind)
            if inner is None:
                self._wrong(one.at, f"there is no block '{one.kind}'", did_you_mean(one.kind, self._definitions))
                continue
            name = f"{path}.{one.name}"
            kinds[one.name] = self._kinds[one.kind]
            if inner.instances:
                if one.config:
                    self._wrong(one.at, f"'{one.kind}' is composed of blocks and takes no configuration")
                ports[one.name] = self._opened(name, inner, (*above, definition.name))
            else:
                kind = kinds[one.name]
                self._blocks[name] = StreamBlock(name, kind, self._configured(one, kind), one.at, threads_of(one, kind))
                ports[one.name] = {port.name: End(name, port.name) for port in inner.ports}
        if len(ports) != len(definition.instances):
            return {}
        return self._joined(path, definition, kinds, ports)

    def _joined(
        self, path: str, definition: Definition, kinds: Mapping[str, BlockKind], ports: Mapping[str, Mapping[str, End]]
    ) -> dict[str, End]:
        own = {port.name: port for port in definition.ports}
        stands_for: dict[str, End] = {}
        taken: dict[tuple[str, Way], Connection] = {}
        labels: set[str] = set()
        for edge in definition.edges:
            self._opened_edges += 1
            if self._opened_edges > EDGE_LIMIT:
                self._too_large(edge.at, f"the application has more than {EDGE_LIMIT} edges")
            source = self._end(edge, edge.source, Way.OUT, own, kinds)
            sink = self._end(edge, edge.sink, Way.IN, own, kinds)
            if source is None or sink is None:
                continue
            (source_block, source_port), (sink_block, sink_port) = source, sink
            for block, port, way in ((source_block, source_port, Way.OUT), (sink_block, sink_port, Way.IN)):
                key = (f"{block}.{port.name}", way)
                if key in taken:
                    where = f"{block}.{port.name}" if block else port.name
                    hint = f"The first is on line {taken[key].at.line}. Let a block split or merge the data."
                    self._wrong(edge.at, f"'{where}' has two edges", hint)
                taken[key] = edge
            if source_port.type != sink_port.type:
                message = f"the edge begins with {source_port.type} and ends with {sink_port.type}"
                self._wrong(edge.at, message, "Give both ports of the edge the same type.")
            if edge.label and (edge.label in labels or edge.label in kinds):
                self._wrong(edge.at, f"'{edge.label}' is already the name of something in '{definition.name}'")
            labels.add(edge.label)
            if not source_block and not sink_block:
                self._wrong(
                    edge.at,
                    "the edge connects to no block",
                    "Remove the edge and its ports, or put a block between them.",
                )
            elif not source_block:
                self._inside(stands_for, source_port, ports[sink_block], sink_port)
            elif not sink_block:
                self._inside(stands_for, sink_port, ports[source_block], source_port)
            elif (begin := ports[source_block].get(source_port.name)) and (
                end := ports[sink_block].get(sink_port.name)
            ):
                label = f"{path}.{edge.label}" if edge.label else f"{path}.{source_block}.{source_port.name}"
                depth = edge.depth or self._declared.depth or DEFAULT_DEPTH
                kind, any_order = source_port.type, edge.any_order
                self._edges.append(StreamEdge(label, begin, end, kind, depth, edge.at, any_order=any_order))
        for port in definition.ports:
            if port.name not in stands_for and path != definition.name:
                self._wrong(port.at, f"nothing inside of '{definition.name}' is connected to its port '{port.name}'",
                            "Connect the port to a block inside, or remove it.")  # fmt: skip
        return stands_for

    @staticmethod
    def _inside(stands_for: dict[str, End], outer: TypedPort, inner: Mapping[str, End], port: TypedPort) -> None:
        if end := inner.get(port.name):
            stands_for[outer.name] = end

    def _end(
        self, edge: Connection, name: str, way: Way, own: Mapping[str, TypedPort], kinds: Mapping[str, BlockKind]
    ) -> tuple[str, TypedPort] | None:
        """The block ("" for the composed one itself) and the port that an end of an edge names."""
        first, _, rest = name.partition(".")
        if first in own and not rest:
            port = own[first]
            if port.way is way:  # an edge inside begins at an in port, and ends at an out port
                message = f"no edge inside can {'begin' if way is Way.OUT else 'end'} at the {way.value} port '{name}'"
                self._wrong(edge.at, message, "Swap the ends of the edge.")
                return None
            return "", port
        kind = kinds.get(first)
        if kind is None:
            self._wrong(edge.at, f"there is no block or port '{first}' here", did_you_mean(first, [*kinds, *own]))
            return None
        fitting = kind.ports_of(way)
        word = "out" if way is Way.OUT else "in"
        if not rest:
            if len(fitting) == 1:
                return first, fitting[0]
            names = listed([f"{first}.{port.name}" for port in fitting], 8)
            message = f"'{first}' has {'several' if fitting else 'no'} {word} ports"
            self._wrong(edge.at, message, f"Name one: {names}." if fitting else "")
            return None
        named = next((port for port in fitting if port.name == rest), None)
        if named is None:
            hint = (
                did_you_mean(rest, [port.name for port in fitting]) or f"It has {listed([p.name for p in fitting], 8)}."
            )
            self._wrong(edge.at, f"'{first}' has no {word} port '{rest}'", hint if fitting else "It has none.")
            return None
        return first, named

    def _configured(self, block: BlockInstance, kind: BlockKind) -> dict[str, Value]:
        known = {config.name: config for config in kind.config}
        for name in block.config:
            if name not in known and name != THREADS:
                hint = did_you_mean(name, known) or (
                    f"It takes {listed(list(known), 8)}." if known else "It takes none."
                )
                self._wrong(block.at, f"'{kind.name}' has no configuration '{name}'", hint)
        values: dict[str, Value] = {}
        for name, config in known.items():
            value = block.config.get(name, config.default)
            if value is None:
                self._wrong(block.at, f"'{block.name}' lacks its configuration '{name}'",
                            f"Write {kind.name} {block.name} ({name}=...).")  # fmt: skip
            elif why := _unfit(config, value):
                self._wrong(block.at, *why)
            else:
                values[name] = float(value) if config.type.startswith("float") else value
        return values

    def _check_ports(self, block: StreamBlock, ends: Collection[str]) -> None:
        for port in block.kind.ports:
            if f"{block.name}.{port.name}" not in ends and not self.problems:
                self._wrong(block.at, f"the {port.way} port '{port.name}' of '{block.name}' has no edge",
                            "Connect every port to one other port.")  # fmt: skip

    def _with_depth(self, edge: StreamEdge, top: str) -> StreamEdge:
        for label, (depth, _) in self._declared.depths.items():
            if edge.label in (label, f"{top}.{label}"):
                return replace(edge, depth=depth)
        return edge

    def _mapping(self, top: str) -> tuple[tuple[Resource, ...], dict[str, str]]:
        labels = {edge.label for edge in self._edges}
        for label, (_, at) in self._declared.depths.items():
            if not labels & {label, f"{top}.{label}"}:
                self._wrong(at, f"there is no edge '{label}'", did_you_mean(label, self._short(labels, top)))
        resources: dict[str, Resource] = {}
        for name, place, at in self._declared.resources:
            if name in resources:
                self._wrong(at, f"the resource '{name}' is given twice", "Remove one of them.")
            resources[name] = Resource(name, place, at)
        maps: dict[str, tuple[str, At]] = {}
        for written, resource, at in self._declared.maps:
            if resource not in resources:
                hint = did_you_mean(resource, resources) or f"Declare it: resource fpga {resource};"
                self._wrong(at, f"there is no resource '{resource}'", hint)
            name = written if written == top or written.startswith(f"{top}.") else f"{top}.{written}"
            if not any(b == name or b.startswith(f"{name}.") for b in self._blocks):
                self._wrong(at, f"there is no block '{written}'", did_you_mean(written, self._short(self._blocks, top)))
            maps[name] = (resource, at)
        mapping = {}
        for block in self._blocks:
            above = next((name for name in _upwards(block) if name in maps), "")
            mapping[block] = maps[above][0] if above else ANY_CORE
        if ANY_CORE in mapping.values():
            resources.setdefault(ANY_CORE, Resource(ANY_CORE, MappedTo.CORE))
        return tuple(resources.values()), mapping

    @staticmethod
    def _short(names: Mapping[str, object] | set[str], top: str) -> list[str]:
        return [name.removeprefix(f"{top}.") for name in names]

    def _check_implementations(self, topology: Topology) -> None:
        for block in topology.blocks:
            if topology.implementation(block) is None:
                on_fpga = topology.place(block.name) is MappedTo.FPGA
                where, wanted = ("an FPGA", "verilog") if on_fpga else ("a processor core", "cpp")
                message = f"'{block.name}' is mapped to {where}, but '{block.kind.name}' has no implementation for that"
                suffix = "v" if on_fpga else "hpp"
                hint = (
                    f'Write impl {block.kind.name} {wanted} "{block.kind.name.lower()}.{suffix}"; or map it elsewhere.'
                )
                self._wrong(block.at, message, hint)


def _upwards(name: str) -> Iterator[str]:
    """A dotted name, and those of all that holds it."""
    while name:
        yield name
        name = name.rpartition(".")[0]


def _types(name: str, known: tuple[str, ...]) -> str:
    return did_you_mean(name, known) or f"Known types: {listed(list(known), len(known))}."


def _unfit(config: Config, value: Value) -> tuple[str, str] | None:
    """Why a value is none of the configuration's type, and what would be."""
    kind = config.type
    if kind == "string":
        if isinstance(value, str):
            return None
        return f"'{config.name}' must be a text", f'Write {config.name}="{value}".'
    if isinstance(value, str):
        return f"'{config.name}' must be a number ({kind})", "Write it without quotes."
    if kind.startswith("float"):
        return None if isfinite(value) else (f"'{config.name}' must be finite ({kind})", "Write a smaller number.")
    bits, signed = TYPE_BYTES[kind] * 8, kind.startswith("signed")
    low, high = (-(1 << bits - 1), (1 << bits - 1) - 1) if signed else (0, (1 << bits) - 1)
    if not isinstance(value, int) or not low <= value <= high:
        return f"{value} does not fit the type {kind} of '{config.name}'", f"Write a whole number from {low} to {high}."
    return None
