"""A bench around an entity, for GHDL: each row of a file is what its inputs are for a nanosecond, and each line that is
told what its outputs are then. A vector's left element comes first, and of a record its first field; but its last
where it is part of a record or an array: as GHDL lays them out in a vector of bits.
"""

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import count

from rc_workbench_plugins.vhdl.syntax import child, plain, text_of
from rc_workbench_plugins.vhdl.types import Type, resolved, shared_types
from rc_workbench_plugins.vhdl.units import Declared, Unit
from workbench.api import Diagnostic, WorkbenchError

NAME, PIN, ROW, STIMULI = "recap_bench", "recap pin", "recap row", "stimuli.txt"
_OF_BITS = ("bit", "bit_vector")
_OF_TRUTH = ("boolean", "boolean_vector")
_MOST_DEEP = 16
_BENCH = """\
{context}
entity {name} is
    {generics}
end entity;
library ieee; use ieee.std_logic_1164.all;
architecture drives of {name} is
    {declared}
begin
    recap_it : entity work.{unit}{generic_map} port map ({port_map});
    recap_drive : process
        file recap_given : std.textio.text open read_mode is "{stimuli}";
        variable recap_in, recap_out : std.textio.line;
        variable recap_at : natural;
        impure function recap_next return character is
        begin
            recap_at := recap_at + 1;
            return recap_in(recap_at);
        end function;
        impure function recap_drawn return ieee.std_logic_1164.std_ulogic is
        begin
            if recap_next = '1' then return '1'; else return '0'; end if;
        end function;
        function recap_bits(low, high : integer) return natural is
            variable up : integer := high;
            variable down : integer := -(low + 1);
            variable bits : natural := 0;
        begin
            while up > 0 or (low < 0 and down > 0) loop
                up := up / 2; down := down / 2; bits := bits + 1;
            end loop;
            if low < 0 then return bits + 1; end if;
            if bits = 0 then return 1; end if;
            return bits;
        end function;
        impure function recap_number(low, high : integer) return integer is
            variable found : integer := 0;
        begin
            for recap_bit in recap_bits(low, high) - 1 downto 0 loop
                if recap_bit = recap_bits(low, high) - 1 and low < 0 then
                    if recap_next = '1' then found := -1; end if;
                elsif recap_next = '1' then found := found * 2 + 1;
                else found := found * 2;
                end if;
            end loop;
            return found;
        end function;
        procedure recap_put(one : character) is
        begin
            std.textio.write(recap_out, one);
        end procedure;
        procedure recap_put(one : ieee.std_logic_1164.std_ulogic) is
        begin
            std.textio.write(recap_out, ieee.std_logic_1164.std_ulogic'image(one)(2));
        end procedure;
        procedure recap_put(number, low, high : integer) is
            variable rest : integer := number;
            variable bits : string(1 to recap_bits(low, high));
        begin
            for place in bits'reverse_range loop
                if rest mod 2 = 1 then bits(place) := '1'; else bits(place) := '0'; end if;
                rest := (rest - rest mod 2) / 2;
            end loop;
            std.textio.write(recap_out, bits);
        end procedure;
        procedure recap_lay(low, high, least, most : integer) is
        begin
            std.textio.write(recap_out, " " & integer'image(low) & ":" & integer'image(high) & ":"
                & integer'image(recap_bits(least, most)));
        end procedure;
        procedure recap_lay is
        begin
            std.textio.write(recap_out, string'(" b"));
        end procedure;
    begin
        {laid}
        while not std.textio.endfile(recap_given) loop
            std.textio.readline(recap_given, recap_in);
            recap_at := 0;
            {set}
            wait for 1 ns;
            std.textio.write(recap_out, string'("{row} "));
            {put}
            std.textio.writeline(std.textio.output, recap_out);
        end loop;
        wait;
    end process;
end architecture;
"""


@dataclass(frozen=True)
class Bench:
    """The bench's text, with the ports that it drives, looks at, and leaves alone, in the order of the rows."""

    text: str
    inputs: tuple[str, ...]
    outputs: tuple[str, ...]
    left: tuple[str, ...]


def bench_of(top: Unit, units: Sequence[Unit], cut: Collection[str] = ()) -> Bench:
    """A bench for an entity without the ports that are `cut`; its generics are the entity's. WorkbenchError for ports
    of types that no values are drawn of."""
    types = shared_types(units)
    ports, generics = [port for port in top.ports if port.name not in cut], top.generics
    inputs = [port for port in ports if port.mode in ("", "in")]
    outputs = [port for port in ports if port.mode in ("out", "buffer")]
    names = (f"recap_t{number}" for number in count())
    declared = [f"signal {port.name} : {port.type};" for port in ports]

    def of_leaves(kept: Sequence[Declared], leaf: Callable[[str, str, str], str]) -> Iterator[str]:
        for port in kept:
            lines = list(_walk(port.name, port.type, types, leaf, names, declared))
            if not lines:
                what = f"its port '{port.name}' has the type '{port.type}', of which no values are drawn"
                raise WorkbenchError(Diagnostic(what))
            yield from lines

    laid: list[str] = []
    for port in (*inputs, *outputs):
        laid.append(f'std.textio.write(recap_out, string\'("{PIN} {plain(port.name)}"));')
        laid += [*of_leaves([port], _laid), "std.textio.writeline(std.textio.output, recap_out);"]
    clause = child(child(top.node, "entity_head"), "generic_clause")
    mapped = ", ".join(f"{one.name} => {one.name}" for one in generics)
    text = _BENCH.format(
        context=top.file.data[top.start : top.node.start_byte].decode("latin-1"),
        name=NAME, generics=text_of(clause), unit=top.name, stimuli=STIMULI, row=ROW,
        generic_map=f" generic map ({mapped})" if mapped else "",
        port_map=", ".join(f"{port.name} => {port.name}" for port in ports),
        laid=_lines(laid), set=_lines([*of_leaves(inputs, _set)]), put=_lines([*of_leaves(outputs, _put)]),
        declared=_lines(declared),
    )  # fmt: skip
    both = tuple(plain(port.name) for port in ports if port.mode in ("inout", "linkage"))
    return Bench(text, tuple(plain(p.name) for p in inputs), tuple(plain(p.name) for p in outputs), both)


def _lines(lines: Sequence[str]) -> str:
    return "\n".join(lines)


def _walk(
    name: str, kind: str, types: Mapping[str, Type | str], leaf: Callable[[str, str, str], str],
    names: Iterator[str], declared: list[str], depth: int = 0,
) -> Iterator[str]:  # fmt: skip
    """Statements over each part of a signal; none where its type is not known."""
    of = resolved(kind, types)
    if of is None or depth > _MOST_DEEP:
        return
    if of.kind == "record":
        for field, inner in reversed(of.fields) if depth else of.fields:
            yield from _walk(f"{name}.{field}", inner, types, leaf, names, declared, depth + 1)
    elif of.kind in ("array", "vector"):
        index = f"recap_i{depth}"
        element = f"{name}({index})"
        lines = (
            [leaf(element, _base(kind, types), "")]
            if of.kind == "vector"
            else list(_walk(element, of.of, types, leaf, names, declared, depth + 1))
        )
        if lines:
            yield f"for {index} in {name}'range loop"
            yield from lines
            yield "end loop;"
    elif of.kind == "bit":
        yield leaf(name, _base(kind, types), "")
    else:
        subtype = next(names)
        declared.append(f"subtype {subtype} is {kind};")
        if of.kind == "integer":
            yield leaf(name, "number", subtype)
        else:
            yield leaf(name, f"literal {len(of.literals) - 1}", subtype)


def _base(kind: str, types: Mapping[str, Type | str]) -> str:
    """What a bit, or a vector's element, is: "bit", "boolean" or "std"."""
    for _ in range(_MOST_DEEP):
        name = plain(kind.strip().partition("(")[0].split()[0].rpartition(".")[2] or kind)
        known = types.get(name)
        if not isinstance(known, str):
            break
        kind = known
    return "bit" if name in _OF_BITS else "boolean" if name in _OF_TRUTH else "std"


def _laid(name: str, base: str, subtype: str) -> str:
    if base == "number":
        return f"recap_lay({subtype}'low, {subtype}'high, {subtype}'low, {subtype}'high);"
    ends = f"{subtype}'pos({subtype}'low), {subtype}'pos({subtype}'high)"
    return f"recap_lay({ends}, 0, {base.split()[1]});" if subtype else "recap_lay;"


def _set(name: str, base: str, subtype: str) -> str:
    values = {"std": "recap_drawn", "bit": "to_bit(recap_drawn)", "boolean": "recap_next = '1'"}
    if base == "number":
        return f"{name} <= recap_number({subtype}'low, {subtype}'high);"
    return f"{name} <= {subtype}'val(recap_number(0, {base.split()[1]}));" if subtype else f"{name} <= {values[base]};"


def _put(name: str, base: str, subtype: str) -> str:
    values = {"std": name, "bit": f"to_stdulogic({name})", "boolean": f"to_stdulogic(bit'val(boolean'pos({name})))"}
    if base == "number":
        return f"recap_put({name}, {subtype}'low, {subtype}'high);"
    return f"recap_put({subtype}'pos({name}), 0, {base.split()[1]});" if subtype else f"recap_put({values[base]});"
