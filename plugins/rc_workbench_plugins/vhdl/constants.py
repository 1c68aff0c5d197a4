"""GHDL 2.0 takes a part of a constant from its wrong end where the rest is assigned elsewhere (ghdl/ghdl#2013):

    o <= x"1234"; if e = '1' then o(3 downto 0) <= i; end if;

In what it synthesises for a simulation such a constant is `x"1234" or (o'range => recap_zero)`; that signal is '0'.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping

from tree_sitter import Node

from rc_workbench_plugins.verilog.rewrite import Edits
from rc_workbench_plugins.vhdl.elaborate import PART
from rc_workbench_plugins.vhdl.syntax import VhdlFile, child, matches, plain, text_of, tidy, with_data
from rc_workbench_plugins.vhdl.types import Type, builtin, shared_types, types_of
from rc_workbench_plugins.vhdl.units import Unit, units_of

_ASSIGNED = re.compile(r'\s*(\w+)\s*(?:<=|:=)\s*(?P<value>(?:[box]|u[box])?"[\w ]*"|[a-z]\w*)\s*;?\s*', re.IGNORECASE)
_PARTLY = re.compile(r"\s*(\w+)\s*\(.*(?:<=|:=)", re.DOTALL)
_ASSIGNMENTS = "(simple_waveform_assignment) @a (simple_variable_assignment) @a (conditional_signal_assignment) @a"
_DECLARED = "(signal_declaration) @d (variable_declaration) @d"
_VECTORS = ("std_logic_vector", "std_ulogic_vector", "unsigned", "signed", "u_unsigned", "u_signed")
_ZERO = "recap_zero"


def kept_apart(texts: Iterable[tuple[VhdlFile, bytes]]) -> Iterator[tuple[VhdlFile, bytes]]:
    """A design's files with their texts, each line where it was, in which no such constant is one."""
    parts = [(file, [with_data(file, part) for part in text.split(PART)]) for file, text in texts]
    units = [unit for _, those in parts for part in those for unit in units_of(part)]
    types = shared_types(units)
    entities = {plain(unit.name): unit for unit in units if unit.kind == "entity"}
    for file, those in parts:
        yield file, PART.join(_apart(part, types, entities) for part in those)


def _apart(file: VhdlFile, types: Mapping[str, Type | str], entities: Mapping[str, Unit]) -> bytes:
    edits = Edits(file.path)
    for unit in units_of(file):
        region = unit.region
        if unit.kind != "architecture" or region is None:
            continue
        declared = _declared(unit, entities.get(plain(unit.of)))
        known = {**types, **types_of([unit])}
        vectors = {name for name, kind in declared.items() if builtin(kind, known) in _VECTORS}
        found = [
            one for node in matches(unit.node, "(process_statement) @p") for one in _constants(node, vectors, declared)
        ]
        if not found:
            continue
        for at, name in found:
            edits.insert(at, f" or ({name}'range => {_ZERO})")
        signal, driven = f" signal {_ZERO} : ieee.std_logic_1164.std_ulogic; ", f" {_ZERO} <= '0';"
        edits.insert(region.declare_at, f"{signal}begin{driven}" if region.begins else signal)
        if not region.begins:
            edits.insert(region.statements_at, driven)
    return edits.apply(file.data)


def _declared(unit: Unit, entity: Unit | None) -> dict[str, str]:
    """What can be assigned in an architecture, with the types; "" where a name stands for two."""
    ports = entity.interface.ports if entity is not None and entity.interface is not None else unit.entity_ports
    found = {plain(port.name): port.type for port in ports}
    for node in matches(unit.node, _DECLARED):
        kind = tidy(child(node, "subtype_indication"))
        for one in matches(node, "(identifier_list (identifier) @i)"):
            name = plain(text_of(one))
            found[name] = kind if found.get(name, kind) == kind else ""
    return found


def _constants(process: Node, vectors: set[str], declared: Mapping[str, str]) -> Iterator[tuple[int, str]]:
    """Where a constant ends that is all of a vector of which the process assigns parts too; that vector."""
    texts = [(node, text_of(node)) for node in matches(process, _ASSIGNMENTS)]
    partly = {plain(found[1]) for _, text in texts if (found := _PARTLY.match(text))}
    for node, text in texts:
        found = _ASSIGNED.fullmatch(text)
        if found is None or plain(found[1]) not in partly & vectors or plain(found["value"]) in declared:
            continue
        digits = found["value"].partition('"')[2].strip('"').replace("_", "")
        if digits and not digits.strip("0"):
            continue  # both ends are the same
        yield node.start_byte + len(text[: found.end("value")].encode("latin-1")), found[1]
