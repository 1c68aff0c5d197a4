"""The text of a testbench that replays the signals at a design's ports, in Verilog and in VHDL, and of its run script.

A row of `stimuli.txt` is what holds until a clock's next edge, a single clock's next rising edge: how often in turn,
how long it is (ps), whether outputs are compared then, and in hexadecimal, the first port highest, the inputs, the
outputs as they were, and the clocks as that edge leaves them.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from workbench.api.instrument.wrapper import DRIVEN as DRIVEN
from workbench.api.testbench import PortTypes
from workbench.model.diagnostic import Diagnostic, WorkbenchError
from workbench.model.scan import HdlPort

STIMULI = "stimuli.txt"
_VECTOR = re.compile(r"(std_u?logic_vector|unsigned|signed|bit_vector)\s*\(", re.IGNORECASE)
_BIT = re.compile(r"(std_u?logic|bit|boolean)$", re.IGNORECASE)
_NUMBER = re.compile(r"(natural|positive)\b|integer\s+range\s+\d", re.IGNORECASE)


@dataclass(frozen=True)
class Bench:
    """A top, and its replayed ports in the order of the rows' bits. `parameters` are the values of a Verilog top; a
    VHDL top has `types`, and a `standard`."""

    top: str
    clocks: tuple[HdlPort, ...]
    inputs: tuple[HdlPort, ...]
    outputs: tuple[HdlPort, ...]
    parameters: dict[str, str]
    types: PortTypes | None = None
    standard: str = "2008"
    driven: tuple[HdlPort, ...] = ()

    @property
    def seen(self) -> tuple[HdlPort, ...]:
        """What a row has of the run beside the inputs."""
        return (*self.driven, *self.outputs)

    @property
    def name(self) -> str:
        return f"{self.top}_replay"

    @property
    def suffix(self) -> str:
        return ".v" if self.types is None else ".vhd"

    def text(self) -> str:
        return _verilog(self) if self.types is None else _vhdl(self, self.types)


def bits(ports: Sequence[HdlPort]) -> int:
    return sum(port.bits for port in ports)


def _places(ports: Sequence[HdlPort]) -> Iterator[tuple[HdlPort, int]]:
    """Each port with its lowest bit."""
    at = bits(ports)
    for port in ports:
        at -= port.bits
        yield port, at


def _verilog(bench: Bench) -> str:
    ways = (("reg", bench.clocks), ("reg", bench.inputs), ("wire", bench.outputs))
    declared = [f"    {kind} [{one.bits - 1}:0] {one.name};" for kind, ports in ways for one in ports]
    ports = ", ".join(f".{one.name}({one.name})" for _, each in ways for one in each)
    values = ", ".join(f".{name}({value})" for name, value in bench.parameters.items())
    names = {kind: ", ".join(p.name for p in each) for kind, each in
             (("clocks", bench.clocks), ("inputs", bench.inputs), ("outputs", bench.outputs))}  # fmt: skip
    wait = "#(length_ps - 1);"
    if len(bench.clocks) == 1:
        wait = f"#(length_ps / 2) {bench.clocks[0].name} = 0; #(length_ps - length_ps / 2 - 1);"
    places = {port.name: f"expected[{at} +: {port.bits}]" for port, at in _places(bench.seen)}
    masked = {mask.name.removeprefix(DRIVEN): mask.name for mask in bench.driven}
    declared += [f"    wire [{one.bits - 1}:0] {masked[one.name]} = {{{_driven(one)}}};"
                 for one in bench.outputs if one.name in masked]  # fmt: skip
    calls = [f"driven_{one.name}({places[masked[one.name]]}, {places[one.name]});"
             for one in bench.outputs if one.name in masked]  # fmt: skip
    calls += [f"compare_{one.name}({places[one.name]});" for one in bench.outputs]
    compared = "\n".join(f"            {call}" for call in calls)
    tasks = "\n".join(
        f"""    task compare_{port.name}(input [{port.bits - 1}:0] recorded);
        for (i = 0; i < {port.bits}; i = i + 1)
            if (((recorded[i] ^ {port.name}[i]) === 1'b1 || (recorded[i] && {port.name}[i] === 1'bz)) && !differs) begin
                $display("first difference: cycle %0d: {port.name} is 'h%h, the run had 'h%h",
                         cycle, {port.name}, recorded);
                differs = 1;
            end
    endtask"""
        for port in bench.outputs
    )  # fmt: skip
    tasks += "".join(_driven_task(one, masked[one.name]) for one in bench.outputs if one.name in masked)
    return f"""\
// Replays what passed the ports of {bench.top} in a recorded run, and holds its outputs against what they were then.
// Written by RC Workbench (`workbench testbench`). run.sh beside it compiles and runs it.
`timescale 1ps / 1ps
module {bench.name};
{chr(10).join(declared)}
    {bench.top}{f" #({values})" if values else ""} replayed ({ports});

    reg [{bits(bench.clocks) - 1}:0] edges;
    reg [{max(bits(bench.inputs), 1) - 1}:0] given;
    reg [{bits(bench.seen) - 1}:0] expected;
    reg check;
    reg differs = 0;
    integer file, times, length_ps, i, bit_, cycle = 0, compared = 0;

{tasks}

    initial begin
        {{{names["clocks"]}}} = 0;
        file = $fopen("{STIMULI}", "r");
        if (file == 0) begin
            $display("cannot read {STIMULI}: start this in the folder of the testbench");
            $fatal;
        end
        while (!differs && $fscanf(file, "%d %d %b %h %h %h", times, length_ps, check, given, expected, edges) == 6)
        while (!differs && times > 0) begin
            {f"{{{names['inputs']}}} = given;" if bench.inputs else ""}
            {wait}
            if (check) begin
{compared}
                compared = compared + 1;
            end
            if (check && edges[{bits(bench.clocks) - 1}] && !{bench.clocks[0].name}) cycle = cycle + 1;
            if (!differs) begin
                {{{names["clocks"]}}} = edges;
                #1;  // inputs change once the edge has acted
            end
            times = times - 1;
        end
        if (differs) $fatal;
        $display("all outputs match the run, at %0d edges of clocks", compared);
        $finish;
    end
endmodule
"""


def _driven(port: HdlPort) -> str:
    """Which bits of a bidirectional port are driven."""
    names = [f"{port.name}[{n}]" for n in reversed(range(port.bits))]
    return ", ".join(f"{name} !== 1'bz" for name in names)


def _driven_task(port: HdlPort, mask: str) -> str:
    """Verilog that compares which bits of a bidirectional port are driven: a value that is not known is no
    difference."""
    name, high = port.name, port.bits - 1
    return f"""
    task driven_{name}(input [{high}:0] recorded, input [{high}:0] value);
        for (i = 0; i < {port.bits}; i = i + 1)
            if ((recorded[i] ? !{mask}[i] : {mask}[i] && ({name}[i] === 1'b0 || {name}[i] === 1'b1)) && !differs) begin
                $write("first difference: cycle %0d: {name} is b", cycle);
                for (bit_ = {high}; bit_ >= 0; bit_ = bit_ - 1)
                    if ({mask}[bit_]) $write("%b", {name}[bit_]); else $write("z");
                $write(", the run had b");
                for (bit_ = {high}; bit_ >= 0; bit_ = bit_ - 1)
                    if (recorded[bit_]) $write("%b", value[bit_]); else $write("z");
                $display("");
                differs = 1;
            end
    endtask"""


def _vhdl(bench: Bench, known: PortTypes) -> str:
    types = {name.lower(): kind for name, kind in known.types.items()}
    declared, moved, seen, maps, compared = [], [], [], [], []
    whole = bits(bench.seen)
    of_run = {port.name: f"({at + port.bits - 1} downto {at})" for port, at in _places(bench.seen)}
    for name, kind, value in known.generics:
        declared.append(f"    constant {name} : {kind} := {value};")
    for way, ports in (("edges", bench.clocks), ("given", bench.inputs), ("actual", bench.outputs)):
        for port, at in _places(ports):
            kind = types[(port.port or port.name).lower()]
            part = f"{way}({at})" if port.bits == 1 and not _VECTOR.match(kind) else (
                f"{way}({at + port.bits - 1} downto {at})"
            )  # fmt: skip
            declared.append(f"    signal {port.name} : {kind};")
            maps.append(f"{port.name} => {port.name}")
            if way == "actual":
                seen.append(f"    {part} <= {_out(port, kind, part)};")
                label = f"({at + port.bits - 1} downto {at})"
                recorded = f"expected{of_run[port.name]}"
                driven = of_run.get(f"{DRIVEN}{port.name}", "")
                if driven:
                    compared.append(
                        f'                driven("{port.name}", actual{label}, {recorded}, expected{driven});'
                    )
                compared.append(f'                compare("{port.name}", actual{label}, {recorded});')
            else:
                moved.append(f"    {port.name} <= {_in(port, kind, part)};")
    wait = "wait for (length_ps - 1) * 1 ps;"
    if len(bench.clocks) == 1:
        wait = "wait for (length_ps / 2) * 1 ps; edges <= (others => '0'); "
        wait += "wait for (length_ps - length_ps / 2 - 1) * 1 ps;"
    generics = ", ".join(f"{name} => {name}" for name, _, _ in known.generics)
    stop = "" if bench.standard == "93" else "        std.env.stop(0);\n"  # the simulation ends when no event is left
    sizes = (bits(bench.clocks), max(bits(bench.inputs), 1), bits(bench.outputs))
    return f"""\
-- Replays what passed the ports of {bench.top} in a recorded run, and holds its outputs against what they were then.
-- Written by RC Workbench (`workbench testbench`). run.sh beside it compiles and runs it.
entity {bench.name} is
end entity;
{known.context.strip()}
library ieee; use ieee.std_logic_1164.all; use ieee.numeric_std.all;
architecture replays of {bench.name} is
{chr(10).join(declared)}
    signal edges : std_logic_vector({sizes[0] - 1} downto 0) := (others => '0');
    signal given : std_logic_vector({sizes[1] - 1} downto 0) := (others => '0');
    signal actual : std_logic_vector({sizes[2] - 1} downto 0);
begin
{chr(10).join([*moved, *seen])}
    replayed : entity work.{bench.top}{f" generic map ({generics})" if generics else ""}
        port map ({", ".join(maps)});

    process
        file rows : std.textio.text open read_mode is "{STIMULI}";
        variable row : std.textio.line;
        variable times, length_ps, check, cycle, compared : natural := 0;
        variable differs : boolean := false;
        variable next_edges : std_logic_vector(edges'range);
        variable next_given : std_logic_vector(given'range);
        variable expected : std_logic_vector({whole - 1} downto 0);
        procedure take(value : out std_logic_vector) is
            variable one : character;
            variable digit, first : natural;
            variable left : natural := value'length;
        begin
            std.textio.read(row, one);
            while left > 0 loop
                std.textio.read(row, one);
                if one >= 'a' then
                    digit := character'pos(one) - character'pos('a') + 10;
                else
                    digit := character'pos(one) - character'pos('0');
                end if;
                first := (left - 1) / 4 * 4;
                for place in first to left - 1 loop
                    if (digit / 2**(place - first)) mod 2 = 1 then
                        value(place) := '1';
                    else
                        value(place) := '0';
                    end if;
                end loop;
                left := first;
            end loop;
        end procedure;
        function shown(value : std_logic_vector) return string is
            variable text : string(1 to value'length);
            variable at : natural := 0;
        begin
            for place in value'range loop
                at := at + 1;
                text(at) := std_ulogic'image(value(place))(2);
            end loop;
            return text;
        end function;
        procedure driven(name : string; now, recorded, by_run : std_logic_vector) is
            variable then_had : std_logic_vector(0 to now'length - 1) := recorded;
            variable by_run_too : std_logic_vector(0 to now'length - 1) := by_run;
            variable is_now : std_logic_vector(0 to now'length - 1) := now;
        begin
            for place in is_now'range loop
                if by_run_too(place) = '0' then
                    then_had(place) := 'Z';
                end if;
            end loop;
            for place in is_now'range loop
                if not differs and ((by_run_too(place) = '1' and is_now(place) = 'Z')
                        or (by_run_too(place) = '0' and (is_now(place) = '0' or is_now(place) = '1'))) then
                    report "first difference: cycle " & integer'image(cycle) & ": " & name & " is b" & shown(now)
                        & ", the run had b" & shown(then_had) severity note;
                    differs := true;
                end if;
            end loop;
        end procedure;
        procedure compare(name : string; now, recorded : std_logic_vector) is
        begin
            for place in now'range loop
                if not differs and ((now(place) = '1' and recorded(place) = '0')
                        or ((now(place) = '0' or now(place) = 'Z') and recorded(place) = '1')) then
                    report "first difference: cycle " & integer'image(cycle) & ": " & name & " is b" & shown(now)
                        & ", the run had b" & shown(recorded) severity note;
                    differs := true;
                end if;
            end loop;
        end procedure;
    begin
        while not differs and not std.textio.endfile(rows) loop
            std.textio.readline(rows, row);
            std.textio.read(row, times);
            std.textio.read(row, length_ps);
            std.textio.read(row, check);
            take(next_given);
            take(expected);
            take(next_edges);
            given <= next_given;
            while not differs and times > 0 loop
            {wait}
            if check = 1 then
{chr(10).join(compared)}
                compared := compared + 1;
                if next_edges(next_edges'left) = '1' and edges(edges'left) = '0' then
                    cycle := cycle + 1;
                end if;
            end if;
            edges <= next_edges;
            wait for 1 ps;  -- inputs change once the edge has acted
            times := times - 1;
            end loop;
        end loop;
        assert not differs report "the outputs differ from the run's" severity failure;
        report "all outputs match the run, at " & integer'image(compared) & " edges of clocks" severity note;
{stop}        wait;
    end process;
end architecture;
"""


def _in(port: HdlPort, kind: str, part: str) -> str:
    """Bits as a value of a port's type. WorkbenchError for a type that bits cannot represent."""
    if match := _VECTOR.match(kind):
        mark = match[1].lower()
        return f"to_bitvector({part})" if mark == "bit_vector" else f"{match[1]}({part})"
    if _NUMBER.match(kind):
        vector = part if " downto " in part else f"std_logic_vector'(0 => {part})"
        return f"to_integer(unsigned({vector}))"
    if match := _BIT.match(kind):
        conversions = {"bit": f"to_bit({part})", "boolean": f"{part} = '1'"}
        return conversions.get(match[1].lower(), part)
    raise _no_type(port, kind)


def _out(port: HdlPort, kind: str, part: str) -> str:
    """A port's value as bits."""
    if match := _VECTOR.match(kind):
        mark = match[1].lower()
        return f"to_stdlogicvector({port.name})" if mark == "bit_vector" else f"std_logic_vector({port.name})"
    if _NUMBER.match(kind):
        vector = f"std_logic_vector(to_unsigned({port.name}, {port.bits}))"
        return vector if " downto " in part else f"to_unsigned({port.name}, 1)(0)"
    if match := _BIT.match(kind):
        conversions = {"bit": f"to_stdulogic({port.name})", "boolean": f"'1' when {port.name} else '0'"}
        return conversions.get(match[1].lower(), port.name)
    raise _no_type(port, kind)


def _no_type(port: HdlPort, kind: str) -> WorkbenchError:
    hint = "Give the design a top whose ports are bits, vectors of bits and numbers from 0 on."
    message = f"no testbench is written for the port '{port.name}' of type {kind}"
    return WorkbenchError(Diagnostic(message, hint, file=port.file or None, line=port.line or None))
