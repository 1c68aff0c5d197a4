"""A streaming application's topology as plain frozen data: blocks, the edges between them, and where they stand.

After Lancaster 2011, section 2.3: block kinds say only what goes in and out; each has implementations for processor
cores or FPGAs; a block that is composed of others is opened up, so that `Topology.blocks` are the lowest level, with
dotted names ("Stream.walk.left"). It is read from X (`x_language.py`) and from a project's `streaming` section.
Lines count from 1 in the file that names the thing; 0 is "no line". Sizes are bytes.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from functools import cached_property

#: Types of elements and of configuration, with the bytes that an element takes (0: no element, configuration only).
TYPE_BYTES: Mapping[str, int] = {
    **{f"{sign}{bits}": bits // 8 for sign in ("unsigned", "signed") for bits in (8, 16, 32, 64)},
    "float32": 4,
    "float64": 8,
    "string": 0,
}
DEFAULT_DEPTH = 64
#: What hardware blocks call their clock, their reset (with `!` where it is high outside of it), and what lets them run.
RUNS = ("ap_start", "ap_continue")
CLOCKS = ("clk", "clock", "aclk", "clk_i", "i_clk", "ap_clk")
RESETS = {
    "rst": "",
    "reset": "",
    "rst_i": "",
    "i_rst": "",
    "ap_rst": "",
    "rst_n": "!",
    "ap_rst_n": "!",
    "reset_n": "!",
    "aresetn": "!",
    "resetn": "!",
}
#: Where blocks run that nothing maps: whichever core is free.
ANY_CORE = "cores"

#: The host's sources that are generated for a topology.
MAIN, CARD = "stream_main.cpp", "stream_card.c"
GENERATED = frozenset((MAIN, CARD))

Value = int | float | str


class Way(StrEnum):
    IN = "in"
    OUT = "out"


class Language(StrEnum):
    """What an implementation is written in: C++ runs on processor cores, the others in FPGAs."""

    CPP = "cpp"
    VERILOG = "verilog"
    VHDL = "vhdl"


class MappedTo(StrEnum):
    """What a resource is."""

    CORE = "core"
    FPGA = "fpga"


@dataclass(frozen=True)
class At:
    """Where something is written."""

    file: str = ""
    line: int = 0
    column: int = 0


@dataclass(frozen=True)
class TypedPort:
    """A typed way into or out of a block. `type` is a key of `TYPE_BYTES`."""

    name: str
    way: Way
    type: str
    at: At = field(default=At(), compare=False)

    @property
    def width_bytes(self) -> int:
        return TYPE_BYTES[self.type]


@dataclass(frozen=True)
class Config:
    """A value that a block is given when it is made; `default` None: each block has to give it."""

    name: str
    type: str
    default: Value | None = None
    at: At = field(default=At(), compare=False)


@dataclass(frozen=True)
class Implementation:
    """What a kind is built of: `files`, which hold the C++ class or the module `unit`. Paths as they are written."""

    language: Language
    files: tuple[str, ...]
    unit: str
    at: At = field(default=At(), compare=False)

    @property
    def place(self) -> MappedTo:
        return MappedTo.CORE if self.language is Language.CPP else MappedTo.FPGA


@dataclass(frozen=True)
class BlockKind:
    """What goes in and out of blocks of a kind, and what they may be built of."""

    name: str
    ports: tuple[TypedPort, ...]
    config: tuple[Config, ...] = ()
    implementations: tuple[Implementation, ...] = ()
    at: At = field(default=At(), compare=False)

    def port(self, name: str) -> TypedPort | None:
        return next((port for port in self.ports if port.name == name), None)

    def ports_of(self, way: Way) -> tuple[TypedPort, ...]:
        return tuple(port for port in self.ports if port.way is way)


@dataclass(frozen=True)
class StreamBlock:
    """A block of the lowest level. `name` is dotted, from the application down. Several `threads` share its edges;
    `threads_at` is where their number is written."""

    name: str
    kind: BlockKind
    config: Mapping[str, Value] = field(default_factory=dict)
    at: At = field(default=At(), compare=False)
    threads: int = 1
    threads_at: At = field(default=At(), compare=False)


@dataclass(frozen=True)
class End:
    """A port of a block: where an edge begins or ends."""

    block: str
    port: str

    def __str__(self) -> str:
        return f"{self.block}.{self.port}"


@dataclass(frozen=True)
class StreamEdge:
    """A queue from an out port to an in port. `label` is dotted ("Stream.a"); `depth` are the elements it holds. An
    edge of a design, which has no type, has its words' `bits`, or 0 where they are not known. With `any_order` its
    reader does not depend on the order of elements."""

    label: str
    source: End
    sink: End
    type: str
    depth: int = DEFAULT_DEPTH
    at: At = field(default=At(), compare=False)
    bits: int = 0
    any_order: bool = field(default=False, compare=False)

    @property
    def width_bytes(self) -> int:
        """0 where it is not known."""
        return TYPE_BYTES.get(self.type, -(-self.bits // 8))

    @property
    def text(self) -> str:
        return f"{self.source} -> {self.sink}"


@dataclass(frozen=True)
class Resource:
    """A processor core or an FPGA on which blocks may stand."""

    name: str
    place: MappedTo
    at: At = field(default=At(), compare=False)


@dataclass(frozen=True)
class Topology:
    """An application. Every block is mapped: `mapping` gives the name of its resource."""

    name: str
    blocks: tuple[StreamBlock, ...]
    edges: tuple[StreamEdge, ...]
    resources: tuple[Resource, ...] = ()
    mapping: Mapping[str, str] = field(default_factory=dict)

    @property
    def cores(self) -> tuple[Resource, ...]:
        """The processor cores that are declared; blocks that stand on `ANY_CORE` take any."""
        return tuple(r for r in self.resources if r.place is MappedTo.CORE and r.name != ANY_CORE)

    @cached_property
    def block_by_name(self) -> Mapping[str, StreamBlock]:
        return {block.name: block for block in self.blocks}

    @cached_property
    def _place_by_resource(self) -> Mapping[str, MappedTo]:
        return {resource.name: resource.place for resource in self.resources}

    @cached_property
    def fpgas(self) -> tuple[str, ...]:
        """The FPGAs on which blocks stand, in the order of their declarations: card 0, 1, ..."""
        used = set(self.mapping.values())
        return tuple(r.name for r in self.resources if r.place is MappedTo.FPGA and r.name in used)

    @cached_property
    def titles(self) -> tuple[str, ...]:
        """What a person calls the FPGAs: one is not called by its name."""
        return self.fpgas if len(self.fpgas) > 1 else ("FPGA",)[: len(self.fpgas)]

    def place(self, block: str) -> MappedTo:
        """On what the block of that name stands; a core where nothing maps it."""
        return self._place_by_resource.get(self.mapping.get(block, ""), MappedTo.CORE)

    def fpga(self, block: str) -> str:
        """The FPGA on which the block of that name stands; empty where it stands on a processor."""
        return self.mapping[block] if self.place(block) is MappedTo.FPGA else ""

    def implementation(self, block: StreamBlock) -> Implementation | None:
        """What the block is built of where it stands; None where its kind has nothing for that."""
        fits = (one for one in block.kind.implementations if one.place is self.place(block.name))
        return next(fits, None)

    def edges_of(self, block: str, way: Way) -> tuple[StreamEdge, ...]:
        """The edges into or out of a block, in the order of its ports."""
        order = {port.name: number for number, port in enumerate(self.block_by_name[block].kind.ports)}
        if way is Way.IN:
            ordered = [(order[e.sink.port], e) for e in self.edges if e.sink.block == block]
        else:
            ordered = [(order[e.source.port], e) for e in self.edges if e.source.block == block]
        return tuple(edge for _, edge in sorted(ordered, key=lambda pair: pair[0]))

    def crosses(self, edge: StreamEdge) -> bool:
        """Whether an edge crosses a bus: from a processor to an FPGA, back, or from one FPGA to another."""
        return self.fpga(edge.source.block) != self.fpga(edge.sink.block)

    def find(self, name: str) -> tuple[StreamEdge, ...]:
        """The edges that a person means by a name: a label ("a", "Stream.a"), a port ("total.x", "Stream.total.x") or
        both ends ("filter.y -> total.x", ports left out where there is one edge). Names may begin anywhere in the
        dotted name. Several where the name is not clear; none where there is no such edge."""
        ends = re.split(r"\s*(?:->|=<|=>)\s*", name.strip())
        if len(ends) == 2:
            return tuple(e for e in self.edges if _meant(e.source, ends[0]) and _meant(e.sink, ends[1]))
        wanted = name.strip()
        exact = tuple(e for e in self.edges if e.label == wanted)
        labelled = exact or tuple(e for e in self.edges if _ends_in(e.label, wanted))
        return labelled or tuple(
            e for e in self.edges if _ends_in(str(e.sink), wanted) or _ends_in(str(e.source), wanted)
        )

    def reached(self, block: str, stay: str) -> frozenset[str]:
        """The blocks to which data of one on the FPGA `stay` come without leaving it; that block is one of them."""
        reached, pending = {block}, [block]
        while pending:
            sinks = [edge.sink.block for edge in self.edges_of(pending.pop(), Way.OUT)]
            pending += (new := [sink for sink in sinks if self.fpga(sink) == stay and sink not in reached])
            reached |= set(new)
        return frozenset(reached)

    def within(self, name: str) -> str:
        """The name of a block, an edge or a port without the application's."""
        return name.removeprefix(f"{self.name}.")

    def short(self, edge: StreamEdge) -> str:
        """An edge's label without the application's name, where it can mean no other edge."""
        name = self.within(edge.label)
        return name if self.find(name) == (edge,) else edge.label

    def paths(self, first: StreamEdge, last: StreamEdge) -> Iterator[tuple[StreamEdge, ...]]:
        """Ways of the data from one edge to another, both included, without a circle."""
        pending: list[tuple[StreamEdge, ...]] = [(first,)]
        while pending:
            path = pending.pop()
            if path[-1] == last:
                yield path
                continue
            pending += [(*path, e) for e in self.edges if e.source.block == path[-1].sink.block and e not in path]


def _ends_in(dotted: str, name: str) -> bool:
    return dotted == name or dotted.endswith("." + name)


def _meant(end: End, name: str) -> bool:
    return _ends_in(str(end), name) or _ends_in(end.block, name)
