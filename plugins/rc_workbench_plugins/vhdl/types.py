"""Types by their names, as far as ports are made of bits: vectors, arrays, records, enumerations and ranges."""

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from tree_sitter import Node

from rc_workbench_plugins.vhdl.syntax import child, children, matches, plain, text_of, tidy
from rc_workbench_plugins.vhdl.units import Unit

_BIT = ("std_logic", "std_ulogic", "bit", "boolean", "x01", "x01z", "ux01", "ux01z")
_VECTORS = (
    "std_logic_vector", "std_ulogic_vector", "bit_vector", "unsigned", "signed", "u_unsigned", "u_signed",
    "unresolved_unsigned", "unresolved_signed", "ufixed", "sfixed", "u_ufixed", "u_sfixed", "boolean_vector",
    "unresolved_ufixed", "unresolved_sfixed", "float", "u_float",
)  # fmt: skip
_INTEGERS = ("integer", "natural", "positive")
_MOST_DEEP = 16
_DECLARED = "(type_declaration) @t (subtype_declaration) @t"


@dataclass(frozen=True)
class Type:
    """`kind` is "bit", "vector", "array", "record", "enumeration" or "integer"; `of` is an array's element as it is
    written and `indices` how many it has, without bounds where `open`; `fields` are a record's, `literals` an
    enumeration's values."""

    kind: str
    of: str = ""
    fields: tuple[tuple[str, str], ...] = ()
    literals: tuple[str, ...] = ()
    indices: int = 1
    open: bool = False


@dataclass(frozen=True)
class Leaf:
    """A part of a port: its name, and what VHDL computes its bits (or its range, of an integer) with."""

    name: str
    kind: str
    expression: str
    type: str


def shared_types(units: Iterable[Unit]) -> Mapping[str, Type | str]:
    """The types that are visible outside of the unit that declares them."""
    return types_of(unit for unit in units if unit.kind in ("package", "entity"))


def types_of(units: Iterable[Unit]) -> Mapping[str, Type | str]:
    """The types that these units declare, by name; a subtype is what it is made of, as it is written."""
    types: dict[str, Type | str] = {}
    for unit in units:
        for node in matches(unit.node, _DECLARED):
            name = plain(text_of(node.child_by_field_name("type")))
            if node.type == "subtype_declaration":
                types.setdefault(name, tidy(child(node, "subtype_indication")))
            elif (type_ := _defined(node)) is not None:
                types.setdefault(name, type_)
    return types


def _defined(node: Node) -> Type | None:
    if (literals := child(node, "enumeration_type_definition")) is not None:
        return Type("enumeration", literals=tuple(map(tidy, children(literals, "enumeration_literal"))))
    if (array := child(node, "array_type_definition")) is not None:
        indices = text_of(child(array, "array_index_incomplete_type_list", "index_constraint")).count(",") + 1
        is_open = bool(matches(array, "(index_subtype_definition) @i"))
        return Type("array", of=tidy(child(array, "subtype_indication")), indices=indices, open=is_open)
    if (record := child(node, "record_type_definition")) is not None:
        listed = matches(record, "(element_declaration) @e")
        fields = [
            (text_of(name), tidy(child(one, "subtype_indication")))
            for one in listed
            for name in children(child(one, "identifier_list"))
            if name.type != ","
        ]
        return Type("record", fields=tuple(fields))
    return Type("integer") if child(node, "range_constraint") is not None else None


def resolved(text: str, types: Mapping[str, Type | str]) -> Type | None:
    """The type that a subtype indication names."""
    known = types.get(name := _followed(text, types))
    if isinstance(known, Type):
        return known
    if name in _BIT:
        return Type("bit")
    if name in _VECTORS:
        return Type("vector")
    return Type("integer") if name in _INTEGERS else None


def is_open(mark: str, types: Mapping[str, Type | str]) -> bool:
    """Whether a type's name stands for an array or vector without bounds."""
    for _ in range(_MOST_DEEP):
        name = plain(mark.strip().rpartition(".")[2])
        known = types.get(name)
        if isinstance(known, Type):
            return known.open
        if known is None:
            return name in _VECTORS
        if "(" in known or " range " in known:
            return False
        mark = known
    return False


def builtin(text: str, types: Mapping[str, Type | str]) -> str:
    """The name of the type of a library of IEEE's that a subtype indication comes to; "" for one of the design's."""
    name = _followed(text, types)
    return "" if name in types else name


def _followed(text: str, types: Mapping[str, Type | str]) -> str:
    for _ in range(_MOST_DEEP):
        name = plain(re.split(r"[\s(]", text.strip(), maxsplit=1)[0].rpartition(".")[2])
        known = types.get(name)
        if not isinstance(known, str):
            break
        text = known
    return name


def leaves(
    name: str, text: str, types: Mapping[str, Type | str], times: str = "1", inner: str = "", depth: int = 0
) -> Iterator[Leaf]:
    """What a signal of a type is made of: a record's fields each by itself, arrays of anything else as a whole.

    `inner` is the name of one element in VHDL, `times` how many of them there are.
    """
    inner = inner or name
    kind = resolved(text, types)
    if kind is None or depth > _MOST_DEEP:
        return
    if kind.kind == "record":
        for field, of in kind.fields:
            yield from leaves(f"{name}.{field}", of, types, times, f"{inner}.{field}", depth + 1)
    elif kind.kind == "array":
        element = f"{inner}({inner}'low)"
        yield from leaves(name, kind.of, types, f"{times} * {inner}'length", element, depth + 1)
    elif kind.kind == "vector":
        yield Leaf(name, "bits", f"{times} * {inner}'length", text)
    elif kind.kind == "integer":
        yield Leaf(name, "range", times, text)
    elif kind.kind == "enumeration":
        yield Leaf(name, "bits", f"{times} * {max(1, (len(kind.literals) - 1).bit_length())}", text)
    else:
        yield Leaf(name, "bits", times, text)
