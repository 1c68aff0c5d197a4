"""A VHDL design in GHDL's own simulator, beside the simulated card: for what GHDL cannot make Verilog of.

A module in Verilog stands for the design and asks the process (`resources/card/beside.h`); in that an entity around the
design drives its ports, which it exchanges with the card (`resources/hdl/recap_link.vhd`).
"""

import re
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path

from rc_workbench_plugins.vhdl.design import Design
from rc_workbench_plugins.vhdl.elaborate import Text, analysed, dialect
from rc_workbench_plugins.vhdl.ports import hdl_ports
from rc_workbench_plugins.vhdl.rewrite import written
from rc_workbench_plugins.vhdl.syntax import plain
from rc_workbench_plugins.vhdl.types import Leaf, Type, builtin, leaves, resolved, shared_types
from rc_workbench_plugins.vhdl.units import Declared, Unit
from workbench.api import Diagnostic, HdlPort, Job, Severity
from workbench.api.builds import Beside
from workbench.api.instrument.wrapper import STATE_PORT, runtime_source
from workbench.hdl.ghdl import ghdl

HARNESS = "recap_harness"
_CLOCKS, _GIVEN, _SEEN = "recap_clocks", "recap_given", "recap_seen"
_PACKAGE = "recap_link.vhd"
_OPTIONS = ("--ieee-asserts=disable",)
_FOREIGN = re.compile(rb"^ *attribute foreign of recap_exchange .*$", re.MULTILINE)  # which asks for its library
#: Values of types that the package knows.
_KNOWN = (
    "std_logic", "std_ulogic", "x01", "x01z", "ux01", "ux01z", "bit", "boolean", "std_logic_vector",
    "std_ulogic_vector", "bit_vector", "unsigned", "signed", "u_unsigned", "u_signed", "unresolved_unsigned",
    "unresolved_signed",
)  # fmt: skip
_VECTORS, _NUMBERS = ("vector", "signed"), ("integer", "enumeration")
_PLACE, _TIME = r"(?:.*/)?(?P<file>[^/\s:]+):(?P<line>\d+)", r"@(?P<time>\d+)(?P<unit>[fpnum]?s)"
#: What GHDL says as it runs a design, and what that means: reports; faults with their place, or before it; ends.
MESSAGES = (
    (rf"{_PLACE}:\d+:{_TIME}:\((?:assertion|report) (?P<kind>note|warning|error|failure)\): (?P<text>.*)", "{text}"),
    (rf"\S*ghdl\S*:error: (?P<text>.*) at {_PLACE}", "{text}"),
    (r"\S*ghdl\S*:error: (?P<text>(?!simulation failed|assertion failed|report failed).*)", "{text}"),
    (rf"  from: .* at {_PLACE}", ""),
    (rf"\S*ghdl\S*:info: simulation stopped {_TIME} by --stop-delta=(?P<text>.*)",
     "signals change without end and no time passes: {text} times so far"),
    (rf"simulation (?P<text>finished|stopped) {_TIME}.*", "it ended the simulation itself (std.env)"),
    (r"raised (?P<text>\w+ : .*)", "GHDL failed with {text}; a division by zero, for example, causes this"),
    (rf"{_PLACE}:\d+:(?:error:)? ?(?P<text>(?!warning:|note:|@).*)", "{text}"),
)  # fmt: skip
_AROUND = f"""
library ieee;
use ieee.std_logic_1164.all;
use work.recap_link.all;
entity {HARNESS} is
end entity;
architecture recap of {HARNESS} is
@DECLARED@
begin
    recap_user : entity work.@USER@;
@MOVED@
    process
        variable clocks : std_ulogic_vector(recap_clocks'range);
        variable given : std_ulogic_vector(recap_given'range);
        variable given_first : boolean;
        variable until_then, until_seen : time;
    begin
        wait for 2 fs;
        loop
            recap_exchange(recap_seen, now, clocks, given, given_first, until_then, until_seen);
            wait for until_then;
            if given_first then
                recap_given <= given;
            else
                recap_clocks <= clocks;
            end if;
            wait for 1 fs;
            recap_clocks <= clocks;
            recap_given <= given;
            wait for 1 fs;
            wait for until_seen;
        end loop;
    end process;
end architecture;
"""


@dataclass(frozen=True)
class _Part:
    """A port's part on its way: `vhdl` is its name in the harness, `kind` "integer", "enumeration" or the builtin type
    that its own is of, `at` its lowest bit in `way` (what of the harness's holds it)."""

    vhdl: str
    type: str
    kind: str
    negative: bool
    way: str
    at: int
    bits: int


@dataclass(frozen=True)
class _Ports:
    """The ports that both sides have: by `way`, their names in Verilog (the first lowest) with their bits, and their
    parts. `left` stay open."""

    ways: Mapping[str, Mapping[str, int]]
    parts: tuple[_Part, ...]
    left: tuple[Declared, ...]

    def bits(self, way: str) -> int:
        return max(1, sum(self.ways[way].values()))


@dataclass(frozen=True)
class Alone:
    """A design as GHDL itself simulates it: `texts` are those of its files, in which the top is called `unit`, `clocks`
    those of the top's ports that the platform drives as such, `state_bits` how many lead out the blocks' states."""

    design: Design
    texts: Mapping[Path, bytes]
    unit: str
    generics: Mapping[str, str]
    clocks: Collection[str] = ()
    state_bits: int = 0

    def stand_in(self, module: str) -> str:
        """Verilog of a module of this name that asks the process."""
        ports = self._ports
        of_clocks, given, seen = (list(ports.ways[way]) for way in (_CLOCKS, _GIVEN, _SEEN))
        declared = [
            f"    {'output' if way == _SEEN else 'input'} wire [{bits - 1}:0] {name}"
            for way, names in ports.ways.items()
            for name, bits in names.items()
        ]
        ends = {way: f"bit [{ports.bits(way) - 1}:0]" for way in ports.ways}
        asked = f"input {ends[_CLOCKS]} clocks, input {ends[_GIVEN]} given, output {ends[_SEEN]} seen"
        edges = " or ".join(f"posedge {name} or negedge {name}" for name in of_clocks)
        lines = [
            f"module {module}",  # as GHDL begins its modules
            "(",
            ",\n".join(declared),
            ");",
            f'    import "DPI-C" function void recap_beside({asked});',
            f"    {ends[_CLOCKS]} {_CLOCKS} = 0;  // once who looks at an edge has seen what was before",
            *([f"    always @({edges}) {_CLOCKS} <= {_joined(of_clocks)};"] if of_clocks else []),
            f"    {ends[_SEEN]} {_SEEN};",
            f"    always_comb recap_beside({_CLOCKS}, {_joined(given)}, {_SEEN});",
            *([f"    assign {_joined(seen)} = {_SEEN};"] if seen else []),
            "endmodule",
        ]
        return "\n".join([*lines, ""])

    def written(self, folder: Path) -> Beside:
        """What GHDL is to simulate, written into a folder. The `sources` are left to who writes the stand-in."""
        words: list[Path | str] = []
        files: dict[str, str] = {}
        folder.mkdir(parents=True, exist_ok=True)
        for text in self._files():
            for name in map(Path, text.write(folder)):
                words += [f"--work={text.library}", name]
                if text.number < len(self.design.files):
                    files[name.name] = self.design.name_of(self.design.files[text.number].path)
        command = (str(ghdl().path), "-c", *dialect(self.design.standard), *words, "-r", HARNESS, *_OPTIONS)
        return Beside((), command, "GHDL", files, MESSAGES, told=tuple(self._open()), clocked=bool(self.clocks))

    def wrong(self, job: Job) -> tuple[Diagnostic, ...]:
        """Why GHDL cannot simulate it."""
        files = [replace(one, data=_FOREIGN.sub(b"", one.data)) for one in self._files()]
        said = analysed(files, self.design.standard, HARNESS, self._top.library, job)
        of = {file.number: self.design.name_of(file.path) for file in self.design.files}
        return tuple(
            Diagnostic(text, "", Severity.ERROR, of[number], line, column)
            if number in of
            else Diagnostic(f"GHDL cannot simulate '{self._top.name}' either: {text}")
            for number, line, column, text in said.errors
        )

    def _files(self) -> Iterator[Text]:
        """What GHDL is given, each after those that it needs."""
        library = self._top.library
        for file in sorted(self.design.needed, key=lambda one: one.library == library):
            yield Text(file.number, file.library, self.texts[file.path])
        harness = self._harness().encode("latin-1")
        yield Text(len(self.design.files), library, runtime_source(_PACKAGE).encode() + harness)

    def _open(self) -> Iterator[Diagnostic]:
        """A warning for each port that stays open."""
        for port in self._ports.left:
            message = f"the port '{port.name}' of type {port.type} stays open when GHDL itself simulates the design"
            hint = "If something must drive or read it, make it a port of bits, numbers or records of these."
            file = self.design.name_of(self._top.file.path)
            yield Diagnostic(message, hint, Severity.WARNING, file, port.line)

    @property
    def _top(self) -> Unit:
        assert self.design.top is not None
        return self.design.top

    @cached_property
    def _ports(self) -> _Ports:
        design = self.design
        types = shared_types(design.units)
        by_name = {one.name: one for one in hdl_ports(self._top, design.units, design.values, "")}
        ways: dict[str, dict[str, int]] = {_CLOCKS: {}, _GIVEN: {}, _SEEN: {}}
        parts: list[_Part] = []
        left: list[Declared] = []
        for number, port in enumerate(self._top.ports):
            parts_in = list(leaves(port.name, port.type, types))
            led = all(_is_led(leaf, types, by_name[leaf.name]) for leaf in parts_in)
            if not (parts_in and led and port.name.isidentifier()):
                left.append(port)
                continue
            name = plain(port.name)
            data_way = _GIVEN if by_name[parts_in[0].name].direction == "input" else _SEEN
            way = _CLOCKS if name in self.clocks else data_way
            at = sum(ways[way].values())
            ways[way][name] = sum(by_name[leaf.name].bits for leaf in parts_in)
            for leaf in parts_in:
                one, known = by_name[leaf.name], resolved(leaf.type, types)
                kind = known.kind if known is not None and known.kind in _NUMBERS else builtin(leaf.type, types)
                negative = design.values.get(plain(leaf.name), "").startswith("-")
                vhdl = f"recap_p{number}{leaf.name[len(port.name) :]}"
                parts.append(_Part(vhdl, leaf.type, kind, negative, way, at + one.lsb, one.bits))
        if self.state_bits:
            parts.append(
                _Part(STATE_PORT, "bit_vector", "bit_vector", False, _SEEN, sum(ways[_SEEN].values()), self.state_bits)
            )
            ways[_SEEN][STATE_PORT] = self.state_bits
        return _Ports(ways, tuple(parts), tuple(left))

    def _harness(self) -> str:
        """The entity around the design, with what its own entity sees of libraries."""
        top, ports, generics = self._top, self._ports, self._top.generics
        values = {plain(name): value for name, value in self.generics.items()}
        declared, actuals, moved = [], [], []
        for one in generics:
            value = written(one.type, values[plain(one.name)]) if plain(one.name) in values else one.default
            declared.append(f"    constant {one.name} : {one.type} := {value};")
        for way in ports.ways:
            vector = f"std_ulogic_vector({ports.bits(way) - 1} downto 0)"
            declared.append(f"    signal {way} : {vector} := (others => '0');")
        for number, port in enumerate(self._top.ports):
            is_open = port in ports.left and (port.mode != "in" or bool(port.default))
            actuals.append(f"{port.name} => {'open' if is_open else f'recap_p{number}'}")
            if not is_open:
                declared.append(f"    signal recap_p{number} : {port.type};")
        if self.state_bits:
            declared.append(f"    signal {STATE_PORT} : bit_vector({self.state_bits - 1} downto 0);")
            actuals.append(f"{STATE_PORT} => {STATE_PORT}")
        for part in ports.parts:
            bits = f"{part.way}({part.at + part.bits - 1} downto {part.at})"
            out = part.way == _SEEN
            moved.append(f"    {bits} <= {_bits(part)};" if out else f"    {part.vhdl} <= {_value(part, bits)};")
        maps = {"generic": [f"{one.name} => {one.name}" for one in generics], "port": actuals}
        user = [self.unit, *(f"{kind} map ({', '.join(each)})" for kind, each in maps.items() if each)]
        context = top.file.data[top.start : top.node.start_byte].decode("latin-1")
        filled = {"DECLARED": "\n".join(declared), "USER": " ".join(user), "MOVED": "\n".join(moved)}
        return context + re.sub(r"@(\w+)@", lambda mark: filled[mark[1]], _AROUND)


def _joined(names: Iterable[str]) -> str:
    return "{" + (", ".join(reversed(list(names))) or "1'b0") + "}"


def _is_led(leaf: Leaf, types: Mapping[str, Type | str], port: HdlPort) -> bool:
    """Whether a port's part is one value of a type that the package, or a number, can stand for."""
    kind = resolved(leaf.type, types)
    known = kind is not None and (kind.kind in _NUMBERS or builtin(leaf.type, types) in _KNOWN)
    return known and leaf.expression.partition(" * ")[0] == "1" and port.direction != "inout"


def _value(part: _Part, bits: str) -> str:
    """Bits as a value of a part's type."""
    number = f"recap_number({bits}, {str(part.negative).lower()})"
    if part.kind in _NUMBERS:
        return f"{_mark(part)}({number})" if part.kind == "integer" else f"{_mark(part)}'val({number})"
    if part.kind == "bit_vector":
        return f"to_bitvector({bits})"
    return f"{_mark(part)}({bits})" if part.kind.endswith(_VECTORS) else f"recap_in({bits})"


def _bits(part: _Part) -> str:
    if part.kind == "bit_vector":
        return f"to_stdulogicvector({part.vhdl})"
    if part.kind.endswith(_VECTORS):
        return f"std_ulogic_vector({part.vhdl})"
    number = {"integer": f"integer({part.vhdl})", "enumeration": f"{_mark(part)}'pos({part.vhdl})"}
    return f"recap_out({number.get(part.kind, part.vhdl)}, {part.bits})"


def _mark(part: _Part) -> str:
    """The name of its type, without what constrains it."""
    return re.split(r"[\s(]", part.type.strip(), maxsplit=1)[0]
