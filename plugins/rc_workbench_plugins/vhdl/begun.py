"""What has no value as it begins has zeros: in a comparison, where VHDL's 'U' takes branches that no circuit takes (a
`case` on it is its `others`)."""

import re
from collections.abc import Iterator, Mapping

from tree_sitter import Node

from rc_workbench_plugins.vhdl.syntax import VhdlFile, child, matches, plain, text_of, tidy, with_data
from rc_workbench_plugins.vhdl.types import Type, builtin, resolved, types_of
from rc_workbench_plugins.vhdl.units import units_of

_DECLARED = "(signal_declaration) @d (variable_declaration) @d (entity_head (port_clause) @d)"
_PORTS = "(simple_mode_indication) @m"
_RANGE = re.compile(r"\brange\s+(.+?)\s+(?:to|downto)\b", re.IGNORECASE | re.DOTALL)
_MOST_DEEP = 16


def begun(file: VhdlFile, shared: Mapping[str, Type | str]) -> VhdlFile:
    """The file, each of its lines where it was. `shared` are the types of packages and entities."""
    data, done = b"", 0
    for at, value in sorted(_values(file, shared)):
        data, done = data + file.data[done:at] + f" := {value}".encode("latin-1"), at
    return with_data(file, data + file.data[done:])


def _values(file: VhdlFile, shared: Mapping[str, Type | str]) -> Iterator[tuple[int, str]]:
    for unit in units_of(file):
        types = {**shared, **types_of([unit])}
        for node in matches(unit.node, _DECLARED):
            for one in matches(node, _PORTS) if node.type == "port_clause" else [node]:
                kind = child(one, "subtype_indication")
                if kind is None or child(one, "initialiser") is not None or not _driven(one, kind, types):
                    continue
                value = _zeros(tidy(kind), types)
                if value and "'0'" in value:
                    yield kind.end_byte, value


def _driven(node: Node, kind: Node, types: Mapping[str, Type | str]) -> bool:
    """Whether it is no port, or one that the entity drives, of a length that is said."""
    if node.type != "simple_mode_indication":
        return True
    mode = child(node, "mode")
    open_ended = "(" not in tidy(kind) and builtin(tidy(kind), types).endswith(("vector", "signed"))
    return mode is not None and plain(text_of(mode)) in ("out", "buffer") and not open_ended


def _zeros(kind: str, types: Mapping[str, Type | str], depth: int = 0) -> str:
    """A value of a type; "" where it is not known what that is made of."""
    of = resolved(kind, types)
    if of is None or depth > _MOST_DEEP:
        return ""
    if of.kind == "record":
        fields = [(name, _zeros(inner, types, depth + 1)) for name, inner in of.fields]
        return f"({', '.join(f'{name} => {value}' for name, value in fields)})" if all(v for _, v in fields) else ""
    if of.kind == "array":
        element = _zeros(of.of, types, depth + 1)
        return f"{'(others => ' * of.indices}{element}{')' * of.indices}" if element else ""
    if of.kind in ("bit", "vector"):
        value = "false" if builtin(kind, types).startswith("boolean") else "'0'"
        return value if of.kind == "bit" else f"(others => {value})"
    if of.kind == "enumeration":
        return of.literals[0]
    least = _RANGE.search(kind)
    return least[1] if least else f"{kind.split()[0]}'left"
