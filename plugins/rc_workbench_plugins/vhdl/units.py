"""What VHDL files declare: entities, architectures with their regions, packages; and where they can be added to."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import lru_cache

from tree_sitter import Node

from rc_workbench_plugins.vhdl.syntax import VhdlFile, child, children, plain, text_of, tidy, without_comments

Key = tuple[str, int]
_GENERATES = {
    "for_generate_statement": "for",
    "if_generate_statement": "if",
    "case_generate_statement": "case",
    "block_statement": "block",
}
_ALTERNATIVES = ("if_generate", "elsif_generate", "else_generate", "case_generate_alternative")
_NAME = r"[a-z]\w*|\\[^\\\n]+\\"
_DRIVEN = re.compile(
    rf"(?:\w+\s*:\s*)?(?:with\b.*\bselect\s)?\s*((?:{_NAME})(?:\s*\.\s*\w+|\s*\([^()]*\))*)\s*<=\s*(.*);",
    re.IGNORECASE,
)
_PARTS = re.compile(rf"({_NAME})\s*\.\s*({_NAME})", re.IGNORECASE)
_SECONDARY = {"architecture_definition": "architecture", "package_definition": "package body"}
_PRIMARY = {
    "entity_declaration": "entity",
    "package_declaration": "package",
    "package_instantiation_declaration": "package",
    "configuration_declaration": "configuration",
    "context_declaration": "context",
}


@dataclass(frozen=True)
class Declared:
    """A port or a generic: its mode ("" of a generic), and its type and default as they are written."""

    name: str
    mode: str
    type: str
    default: str
    line: int


@dataclass(frozen=True)
class Interface:
    """What an entity or a component has outside. `closing` is the offset of its port clause's closing parenthesis, or,
    where it has none, where a port clause can be put."""

    generics: tuple[Declared, ...]
    ports: tuple[Declared, ...]
    closing: int
    has_ports: bool


@dataclass(frozen=True)
class Component:
    """A component's declaration: `name` as it is written."""

    name: str
    file: VhdlFile
    line: int
    interface: Interface


@dataclass(frozen=True)
class Association:
    """A part of a port map: `formal` is "" where it stands by its position."""

    formal: str
    actual: str


@dataclass(frozen=True)
class Instantiation:
    """`unit` is the name, as it is written, of a "component", an "entity" or a "configuration" (its `kind`).

    `closing` is the offset of its port map's closing parenthesis, or, where it has none, of its semicolon.
    """

    key: Key
    label: str
    kind: str
    unit: str
    architecture: str
    associations: tuple[Association, ...]
    closing: int
    has_ports: bool
    line: int
    column: int


@dataclass(frozen=True)
class Region:
    """The body of an architecture, an alternative of a generate statement (for each alternative one), or a block.

    Signals are declared at `declare_at`; with `begins` that has to end in " begin", as nothing is declared there yet.
    Statements can be put at `statements_at`. `parameter` is that of a `for`; `drives` are the concurrent assignments:
    the target's name, and what is assigned as it is written.
    """

    file: VhdlFile
    kind: str
    label: str
    parameter: str
    start: int
    end: int
    declare_at: int
    begins: bool
    statements_at: int
    processes: tuple[Node, ...] = ()
    instantiations: tuple[Instantiation, ...] = ()
    regions: tuple[Region, ...] = ()
    components: tuple[Component, ...] = ()
    drives: tuple[tuple[str, str], ...] = ()
    dropped: tuple[Node, ...] = ()  # the other statements

    def walk(self) -> Iterator[Region]:
        yield self
        for region in self.regions:
            yield from region.walk()


@dataclass(frozen=True)
class Unit:
    """A design unit. `kind` is "entity", "architecture", "package", "package body", "configuration" or "context"; `of`
    is the entity of an architecture or a configuration. `uses` are the names (library, unit) that it needs, `names`
    those of what it instantiates as components."""

    kind: str
    name: str
    file: VhdlFile
    node: Node
    line: int
    of: str = ""
    uses: frozenset[tuple[str, str]] = frozenset()
    names: frozenset[str] = frozenset()
    interface: Interface | None = None
    region: Region | None = None
    components: tuple[Component, ...] = ()
    entity_ports: tuple[Declared, ...] = ()  # of an architecture
    start: int = 0  # where its context clauses begin

    @property
    def library(self) -> str:
        return self.file.library

    @property
    def regions(self) -> tuple[Region, ...]:
        """An architecture's body, and all within it."""
        return tuple(self.region.walk()) if self.region is not None else ()

    @property
    def all_components(self) -> tuple[Component, ...]:
        """The components that it declares, in its body too."""
        inner = (component for region in self.regions for component in region.components)
        return tuple({id(one): one for one in (*self.components, *inner)}.values())

    @property
    def ports(self) -> tuple[Declared, ...]:
        """An entity's."""
        return self.interface.ports if self.interface is not None else ()

    @property
    def generics(self) -> tuple[Declared, ...]:
        """An entity's."""
        return self.interface.generics if self.interface is not None else ()


@dataclass
class _Statements:
    processes: list[Node] = field(default_factory=list)
    instantiations: list[Instantiation] = field(default_factory=list)
    regions: list[Region] = field(default_factory=list)
    drives: list[tuple[str, str]] = field(default_factory=list)
    dropped: list[Node] = field(default_factory=list)


@lru_cache(2000)
def units_of(file: VhdlFile) -> tuple[Unit, ...]:
    """The design units of a file, in order."""
    units: list[Unit] = []
    start = 0
    for around in children(file.tree.root_node, "design_unit"):
        for node in children(around, *_PRIMARY, *_SECONDARY):
            units.append(_unit(file, node, (_SECONDARY | _PRIMARY)[node.type], start))
            start = node.end_byte
    return tuple(units)


def _unit(file: VhdlFile, node: Node, kind: str, start: int) -> Unit:
    named = {"package body": "package"}.get(kind, kind)
    name = node.child_by_field_name(named) or child(node, "identifier")
    of = tidy(node.child_by_field_name("entity")) if kind in ("architecture", "configuration") else ""
    interface = interface_of(child(node, "entity_head"), _after_name(node)) if kind == "entity" else None
    region: Region | None = None
    components: tuple[Component, ...] = ()
    if kind == "architecture":
        region = _region(file, node, "architecture", "", "", child(node, "concurrent_block"))
        components = region.components
    elif kind == "package":
        components = tuple(_components(file, child(node, "package_declaration_body")))
    return Unit(
        kind, text_of(name), file, node, node.start_point.row + 1, of, frozenset(_uses(file, start, node.end_byte)),
        frozenset(_instantiated(region)), interface, region, components, start=start,
    )  # fmt: skip


def _after_name(node: Node) -> int:
    """Where the declarations of an entity or a component begin."""
    head = child(node, "entity_head", "component_body")
    opening = child(head, "is")
    if opening is not None:
        return opening.end_byte
    name = node.child_by_field_name("entity") or node.child_by_field_name("component")
    return name.end_byte if name is not None else node.end_byte


def interface_of(head: Node | None, begin: int) -> Interface:
    generic, port = child(head, "generic_clause"), child(head, "port_clause")
    closing = child(port, ")")
    at = closing.start_byte if closing is not None else generic.end_byte if generic is not None else begin
    return Interface(tuple(_declared(generic)), tuple(_declared(port)), at, closing is not None)


def _declared(clause: Node | None) -> Iterator[Declared]:
    for one in children(child(clause, "interface_list")):
        if not one.type.startswith("interface_"):
            continue
        names = child(one, "identifier_list")
        indication = child(one, "simple_mode_indication")
        mode = tidy(child(indication, "mode")) or ("in" if clause is not None and clause.type == "port_clause" else "")
        kind = tidy(child(indication, "subtype_indication"))
        default = tidy(child(indication, "initialiser")).removeprefix(":=").strip()
        for name in (n for n in children(names) if n.type != ",") if names is not None else ():
            yield Declared(text_of(name), mode.lower(), kind, default, name.start_point.row + 1)


def _region(
    file: VhdlFile, node: Node, kind: str, label: str, parameter: str, body: Node | None, opening: Node | None = None
) -> Region:
    """A region whose statements are in `body`; `opening` is the word before it where it has no `begin`."""
    begin = child(body, "begin") if body is not None and body.type == "concurrent_block" else child(node, "begin")
    begin = begin or child(child(node, "generate_body", "case_generate_body"), "begin")
    at = begin.end_byte if begin is not None else opening.end_byte if opening is not None else node.start_byte
    held = _Statements()
    for statement in children(body):
        _read_statement(file, statement, held)
    return Region(
        file, kind, label, parameter, node.start_byte, node.end_byte,
        begin.start_byte if begin is not None else at, begin is None, at,
        tuple(held.processes), tuple(held.instantiations), tuple(held.regions), tuple(_components(file, node)),
        tuple(held.drives), tuple(held.dropped),
    )  # fmt: skip


def _components(file: VhdlFile, node: Node | None) -> Iterator[Component]:
    """The components that are declared directly in an architecture, a generate, a block or a package."""
    heads = [node, child(node, "architecture_head", "block_head", "generate_head")]
    body = child(node, "generate_body", "case_generate_body")
    for head in (*heads, child(body, "generate_head")):
        for one in children(head, "component_declaration"):
            name = one.child_by_field_name("component")
            interface = interface_of(child(one, "component_body"), _after_name(one))
            yield Component(text_of(name), file, one.start_point.row + 1, interface)


def _read_statement(file: VhdlFile, node: Node, held: _Statements) -> None:
    if node.type == "process_statement":
        held.processes.append(node)
    elif node.type in _GENERATES:
        held.regions += _generate(file, node)
    elif (instance := _instantiation(file, node)) is not None:
        held.instantiations.append(instance)
    elif node.type.startswith("concurrent_") or node.type == "ERROR":
        held.dropped.append(node)
        if node.type.endswith("_signal_assignment") and (driven := _DRIVEN.fullmatch(tidy(node))):
            held.drives.append((driven[1], driven[2]))


def label_of(node: Node) -> str:
    return text_of(child(child(node, "label_declaration"), "label"))


def _generate(file: VhdlFile, node: Node) -> Iterator[Region]:
    kind, label = _GENERATES[node.type], label_of(node)
    if kind == "block":
        yield _region(file, node, kind, label, "", child(node, "concurrent_block"), child(node, "begin"))
    elif kind == "for":
        parameter = text_of(child(child(child(node, "for_loop"), "parameter_specification"), "identifier"))
        yield _alternative(file, node, kind, label, parameter)
    else:
        holder = child(node, "case_generate_block") if kind == "case" else node
        for one in children(holder, *_ALTERNATIVES):
            yield _alternative(file, one, kind, label, "")


def _alternative(file: VhdlFile, node: Node, kind: str, label: str, parameter: str) -> Region:
    body = child(node, "generate_body", "case_generate_body")
    opening = child(node, "=>") or child(body, "=>", "generate")
    return _region(file, node, kind, label, parameter, child(body, "generate_block"), opening)


def _instantiation(file: VhdlFile, node: Node) -> Instantiation | None:
    """What a statement instantiates; a component without a map looks like a call of a procedure that has a label."""
    label = child(node, "label_declaration")
    if label is None:
        return None
    kind, unit, architecture = "component", "", ""
    if node.type == "concurrent_procedure_call_statement":
        unit = tidy(child(node, "name"))
        if "(" in unit or child(node, "postponed") is not None:
            return None
    elif node.type == "component_instantiation_statement":
        named = child(node, "instantiated_unit")
        if named is None:
            unit = tidy(node.child_by_field_name("component"))
        else:
            kind = next((k for k in ("entity", "configuration", "component") if child(named, k) is not None), kind)
            architecture = text_of(named.child_by_field_name("architecture"))
            unit = _selected(named)
    else:
        return None
    ports = child(node, "port_map_aspect")
    listed = child(ports, "association_list")
    closing = child(listed, ")") or child(node, ";")
    line, column = file.place(label)
    return Instantiation(
        (str(file.path), node.start_byte), text_of(child(label, "label")), kind, unit, architecture,
        tuple(_associations(listed)), closing.start_byte if closing is not None else node.end_byte, ports is not None,
        line, column,
    )  # fmt: skip


def _selected(named: Node) -> str:
    """The name in `entity lib.name(architecture)`."""
    text = re.sub(r"^(entity|component|configuration)\b", "", tidy(named), flags=re.IGNORECASE)
    return "".join(text.partition("(")[0].split())


def _associations(listed: Node | None) -> Iterator[Association]:
    for one in children(listed, "association_element"):
        formal, arrow, actual = tidy(one).partition("=>")
        yield Association(formal.strip(), actual.strip()) if arrow else Association("", formal.strip())


def _instantiated(region: Region | None) -> Iterator[str]:
    for inner in region.walk() if region is not None else ():
        for one in inner.instantiations:
            if one.kind == "component":
                yield plain(one.unit.rpartition(".")[2])


def _uses(file: VhdlFile, start: int, end: int) -> Iterator[tuple[str, str]]:
    """The names of two parts that stand in a unit and in the clauses before it: (library, unit) among them."""
    text = without_comments(file.data[start:end].decode("latin-1"))
    return ((plain(first), plain(second)) for first, second in set(_PARTS.findall(text)))
