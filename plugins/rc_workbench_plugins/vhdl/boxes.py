"""What stands in for the other language's units while one half of a design is elaborated: heads without a body."""

import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence

from rc_workbench_plugins.vhdl.elaborate import Text
from rc_workbench_plugins.vhdl.syntax import plain
from rc_workbench_plugins.vhdl.types import Type
from rc_workbench_plugins.vhdl.units import Component, Declared, Unit
from rc_workbench_plugins.vhdl.values import kind_of
from workbench.hdl.verilog.expressions import quoted
from workbench.hdl.verilog.heads import Head

_WAYS = {"in": "input", "out": "output", "buffer": "output"}
_RANGE = re.compile(r"\(\s*(.+?)\s+(downto|to)\s+(.+?)\s*\)$", re.IGNORECASE | re.DOTALL)
_PLAIN = re.compile(r"[\w\s()+*-]+")
_WORD = re.compile(r"[A-Za-z]\w*")


def entities_for(units: Sequence[Unit], heads: Mapping[str, Head], defined: Collection[str]) -> Iterator[Text]:
    """For each component that is a Verilog module an entity, which tells its generics' values and the bits of its
    vectors: lines "recap PLACE:GENERIC VALUE" and "recap PLACE:'PORT BITS", the place as `path_name` has it."""
    seen: set[tuple[str, str]] = set()
    for unit in units:
        for component in unit.all_components:
            name = plain(component.name)
            if name in heads and name not in defined and (unit.library, name) not in seen:
                seen.add((unit.library, name))
                text = f"{_context(unit, units)}\n{_entity(component)}"
                yield Text(1_000_000 + len(seen), unit.library, text.encode("latin-1", "replace"))


def _context(unit: Unit, units: Sequence[Unit]) -> str:
    """The clauses that a unit is declared under, and what it declares itself where that can be used."""
    homes = [unit]
    if unit.kind == "architecture":
        homes += [
            u for u in units if u.kind == "entity" and (u.library, plain(u.name)) == (unit.library, plain(unit.of))
        ]
    texts = [one.file.data[one.start : one.node.start_byte].decode("latin-1") for one in homes]
    if unit.kind == "package":
        texts.append(f"use work.{unit.name}.all;")
    return "\n".join(texts)


def _entity(component: Component) -> str:
    interface, name = component.interface, component.name
    generics = "; ".join(f"{g.name} : {g.type}{f' := {g.default}' if g.default else ''}" for g in interface.generics)
    ports = "; ".join(f"{p.name} : {p.mode} {p.type}{f' := {p.default}' if p.default else ''}" for p in interface.ports)
    values = [(plain(g.name), kind_of(g.type, {}), g) for g in interface.generics]
    values += [(f"'{plain(p.name)}", "length", p) for p in interface.ports if kind_of(p.type, {}) == "vector"]
    reports = " ".join(_report(f'{name}\'path_name & "{of} "', kind, one) for of, kind, one in values)
    clauses = f"{f'generic ({generics});' if generics else ''} {f'port ({ports});' if ports else ''}"
    return (
        f"entity {name} is {clauses} end;\n"
        f"architecture recap of {name} is begin process variable recap_bits : std.textio.line; "
        f"begin {reports} wait; end process; end;\n"
    )


def _report(of: str, kind: str, one: Declared) -> str:
    """A VHDL statement that reports a value of a kind; empty for a kind without values."""
    mark = one.type.split("(")[0].split()[0]
    element = "bit" if plain(mark).rpartition(".")[2] == "bit_vector" else "ieee.std_logic_1164.std_ulogic"
    values = {
        "string": one.name,
        "boolean": f"boolean'image({one.name})",
        "real": f"real'image({one.name})",
        "integer": f"integer'image({one.name})",
        "length": f"integer'image({one.name}'length)",
        "bit": f"{mark}'image({one.name})(2)",
    }
    if kind == "vector":
        put = f"std.textio.write(recap_bits, {element}'image({one.name}(i))(2));"
        bits = f"std.textio.write(recap_bits, string'(\"\")); for i in {one.name}'range loop {put} end loop;"
        return f'{bits} report "recap " & {of} & recap_bits.all; std.textio.deallocate(recap_bits);'
    return f'report "recap " & {of} & {values[kind]};' if kind in values else ""


def module_for(name: str, entity: Unit, spelled: Mapping[str, str], types: Mapping[str, Type | str]) -> str:
    """For an entity a Verilog module of that name. `spelled` are its ports and generics as Verilog writes them."""
    known = {plain(g.name) for g in entity.generics}
    own = {
        one: f"{range_of(one, known, spelled)}{spelled[plain(one.name)]}" for one in (*entity.generics, *entity.ports)
    }
    values = [f"parameter {own[g]} = {default_of(g, types)}" for g in entity.generics]
    ports = [f"{_WAYS.get(p.mode, 'inout')} {own[p]}" for p in entity.ports]
    head = f" #({', '.join(values)})" if values else ""
    return f"module {name}{head} ({', '.join(ports)});\nendmodule\n"


def range_of(one: Declared, generics: Collection[str], spelled: Mapping[str, str]) -> str:
    """The range of a vector as Verilog has it, where its ends are sums of numbers and generics; else ''."""
    written = _RANGE.search(one.type)
    if written is None:
        return ""
    ends = (written[1], written[3])
    names = {plain(word) for end in ends for word in _WORD.findall(end)}
    if not all(_PLAIN.fullmatch(end) for end in ends) or not names <= set(generics):
        return ""
    high, low = (_WORD.sub(lambda word: spelled[plain(word[0])], end) for end in ends)
    return f"[{high}:{low}] "


def default_of(generic: Declared, types: Mapping[str, Type | str]) -> str:
    """A generic's default as Verilog has it; what it cannot write is a value that nobody gives."""
    text, kind = generic.default, kind_of(generic.type, types)
    if kind == "integer" and re.fullmatch(r"-?\s*\d[\d_]*", text):
        return text
    if kind == "string" and re.fullmatch(r'"[^"]*"', text):
        return quoted(text[1:-1])
    if kind == "boolean" and text.lower() in ("true", "false"):
        return f"1'b{int(text.lower() == 'true')}"
    if kind == "bit" and re.fullmatch(r"'[01]'", text):
        return f"1'b{text[1]}"
    if kind == "vector" and (bits := re.fullmatch(r'"([01_]+)"', text)):
        digits = bits[1].replace("_", "")
        return f"{len(digits)}'b{digits}"
    if kind == "real" and re.fullmatch(r"-?[\d.]+", text):
        return text
    return quoted("as in VHDL") if kind == "string" else "-2147483647"


def spellings(entity: Unit, asked: Iterable[str]) -> dict[str, str]:
    """An entity's ports and generics as Verilog asks for them, which minds small and large letters."""
    spelled = {plain(one.name): one.name for one in (*entity.generics, *entity.ports)}
    for name in asked:
        if name.lower() in spelled:
            spelled[name.lower()] = name
    return spelled
