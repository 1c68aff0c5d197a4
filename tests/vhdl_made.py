"""VHDL designs made at random of what synthesis takes, and their behaviour in GHDL's own simulator.

Each has the ports clk, rst, i and o (64 bits); every register begins with a value, so that all is known.
"""

import random
import re
import subprocess
from collections.abc import Sequence
from pathlib import Path

import vhdl_parts

WIDTHS = (1, 3, 4, 8, 13, 16, 33, 40)
HEAD = """library ieee;
use ieee.std_logic_1164.all;
use ieee.numeric_std.all;
"""

#: What rtl_simulator asks of a top.
DUT = """
module dut (
    input wire clk, input wire rst, input wire [63:0] addr, input wire wr_en, input wire rd_en,
    input wire [63:0] wr_data, output wire [63:0] rd_data, input wire [63:0] in, output wire [63:0] out
);
    assign rd_data = 0;
    made made (.clk(clk), .rst(rst), .i(in), .o(out));
endmodule
"""


class Maker:
    """One design, with so many further parts; `async_reset` and edges are drawn too."""

    def __init__(self, seed: int, parts: int = 0) -> None:
        self.parts = vhdl_parts.parts(random.Random(-seed - 1), parts)
        self.draw = random.Random(seed)
        self.declared: list[str] = []
        self.unsigned: dict[str, int] = {}
        self.signed: dict[str, int] = {}
        self.memories: dict[str, tuple[int, int]] = {}

    def text(self) -> str:
        draw = self.draw
        for number in range(6):
            kind, width = draw.choice(("unsigned", "signed")), draw.choice(WIDTHS)
            kind = kind if self.signed or number < 5 else "signed"
            self._declare(f"{kind[0]}{number}", kind, width)
        for number in range(2):
            width, depth = draw.choice(WIDTHS), draw.choice((2, 4, 16))
            begin = ", ".join(f'{n} => "{self._bits(width)}"' for n in range(depth))
            self.declared += [
                f"type mem{number}_t is array (0 to {depth - 1}) of unsigned({width - 1} downto 0);",
                f"signal mem{number} : mem{number}_t := ({begin});",
            ]
            self.memories[f"mem{number}"] = width, depth
        states = [f"st{n}" for n in range(draw.choice((2, 3, 5)))]
        self.declared += [
            f"type state_t is ({', '.join(states)});",
            f"signal state : state_t := {draw.choice(states)};",
            "type pair_t is record a : unsigned(7 downto 0); b : std_logic_vector(2 downto 0); end record;",
            f'signal pair : pair_t := (a => "{self._bits(8)}", b => "{self._bits(3)}");',
        ]
        self.unsigned["pair.a"] = 8
        parts = [self._process(list(names)) for names in self._shares([*self.unsigned, *self.signed])]
        parts += [self._machine(states), *(self._writes(name) for name in self.memories)]
        seen = [f"resize({self._as_unsigned(name, 2)}, 64)" for name in (*self.unsigned, *self.signed)]
        seen += [f"resize({self._unsigned(8, 3)}, 64)" for _ in range(3)]
        turned = [f"rotate_left({one}, {5 * n % 64})" for n, one in enumerate(seen)]
        if self.parts:
            self.declared.insert(0, vhdl_parts.SHARED)
        self.declared += [part.declared for part in self.parts]
        parts += [part.does for part in self.parts]
        turned += [f"rotate_left(resize(unsigned'({part.seen}), 64), {11 * n})" for n, part in enumerate(self.parts)]
        declared = "\n".join(f"    {line}" for line in self.declared)
        units, statements = "".join(part.units for part in self.parts), "\n".join(parts)
        return (
            f"{units}{HEAD}\nentity made is\n    port (clk, rst : in std_logic; i : in std_logic_vector(63 downto 0);\n"
            f"        o : out std_logic_vector(63 downto 0));\nend entity;\n\n{HEAD}"
            f"architecture rtl of made is\n{declared}\nbegin\n{statements}"
            f"\n    o <= std_logic_vector({' xor '.join(turned)});\nend architecture;\n"
        )

    def _declare(self, name: str, kind: str, width: int) -> None:
        self.declared.append(f'signal {name} : {kind}({width - 1} downto 0) := "{self._bits(width)}";')
        (self.unsigned if kind == "unsigned" else self.signed)[name] = width

    def _bits(self, width: int) -> str:
        return format(self.draw.getrandbits(width), f"0{width}b")

    def _shares(self, names: list[str]) -> Sequence[list[str]]:
        self.draw.shuffle(names)
        return [names[n::3] for n in range(3)]

    def _process(self, names: list[str]) -> str:
        body = [f"                {line}" for name in names * 2 for line in self._assigned(name)]
        return self._clocked([self._reset(n) for n in names if self.draw.random() < 0.7], body)

    def _clocked(self, resets: list[str], body: list[str]) -> str:
        edge = self.draw.choice(("rising_edge(clk)", "rising_edge(clk)", "clk'event and clk = '1'"))
        reset, inner = " ".join(resets), "\n".join(body)
        if self.draw.random() < 0.5:
            head = f"    process (clk, rst)\n    begin\n        if rst = '1' then {reset}\n        elsif {edge} then\n"
            return f"{head}{inner}\n        end if;\n    end process;"
        return (
            f"    process (clk)\n    begin\n        if {edge} then\n{inner}\n"
            f"            if rst = '1' then {reset} end if;\n        end if;\n    end process;"
        )

    def _reset(self, name: str) -> str:
        width = self.unsigned.get(name) or self.signed[name]
        return f'{name} <= "{self._bits(width)}";'

    def _assigned(self, name: str) -> list[str]:
        kind = self._unsigned if name in self.unsigned else self._signed
        width = self.unsigned.get(name) or self.signed[name]
        plain = f"{name} <= {kind(width, 3)};"
        shape = self.draw.randrange(4)
        if shape == 0:
            return [plain]
        if shape == 1:
            return [f"if {self._asked(2)} then", f"    {plain}", "end if;"]
        if shape == 2:
            return [
                f"case to_integer({self._unsigned(3, 1)}) is", f"    when 1 | 4 => {plain}",
                f"    when 5 to 6 => {name} <= {kind(width, 2)};", f"    when others => {name} <= {kind(width, 2)};",
                "end case;",
            ]  # fmt: skip
        bit = f"    {name}(n) <= i(n) xor i(n + {self.draw.randrange(65 - width)});"
        return [f"for n in 0 to {width - 1} loop", bit, "end loop;"]

    def _machine(self, states: list[str]) -> str:
        lines = ["            case state is"]
        for state in states[:-1]:
            other = self.draw.choice(states)
            lines.append(f"                when {state} => if {self._asked(2)} then state <= {other}; end if;")
            lines.append(f'                    pair.b <= "{self._bits(3)}";')
        lines.append(f"                when others => state <= {self.draw.choice(states[:-1])};")
        lines.append("            end case;")
        return self._clocked([f"state <= {states[0]};"], lines)

    def _writes(self, name: str) -> str:
        width, depth = self.memories[name]
        write = f"{name}({self._index(depth)}) <= {self._unsigned(width, 2)};"
        return (
            f"    process (clk)\n    begin\n        if rising_edge(clk) then\n            if {self._asked(1)} then\n"
            f"                {write}\n            end if;\n        end if;\n    end process;"
        )

    def _index(self, depth: int) -> str:
        return f"to_integer({self._unsigned((depth - 1).bit_length(), 0)})"

    def _asked(self, depth: int) -> str:
        width = self.draw.choice(WIDTHS)
        kind = self.draw.choice((self._unsigned, self._signed))
        return self.draw.choice(
            (
                f"{kind(width, depth)} {self.draw.choice(('<', '<=', '=', '/=', '>=', '>'))} {kind(width, depth)}",
                f"i({self.draw.randrange(64)}) = '1'",
                "state = st0",
                f"(pair.b(1) = '0' and i({self.draw.randrange(64)}) = '0')",
            )
        )

    def _as_unsigned(self, name: str, depth: int) -> str:
        return name if name in self.unsigned else f"unsigned({name})"

    def _unsigned(self, width: int, depth: int) -> str:
        """An expression of type unsigned with so many bits."""
        draw = self.draw
        low = draw.randrange(65 - width)
        name = draw.choice(list(self.unsigned))
        leaves = [f"unsigned(i({low + width - 1} downto {low}))", f"resize({name}, {width})"]

        if depth <= 0:
            return draw.choice(leaves)
        memory = draw.choice(list(self.memories))
        one, other = (self._unsigned(width, depth - 1) for _ in range(2))
        some = draw.randrange(1, 8)
        forms = [
            f"({one} + {other})", f"({one} - {other})", f"resize({one} * {other}, {width})",
            f"({one} and {other})", f"({one} xor {other})", f"({one} + unsigned'(\"{self._bits(width)}\"))",
            f"(not {one})",
            f"shift_left({one}, {some})", f"shift_right({one}, to_integer({self._unsigned(3, 0)}))",
            f"shift_left({other}, to_integer({self._unsigned(3, 0)}))",
            f"rotate_left({one}, {some % width})",
            f"resize({one} / {some}, {width})" if width > 3 else one,
            f"resize({one} mod {some}, {width})" if width > 3 else one,
            f"resize({memory}({self._index(self.memories[memory][1])}), {width})",
            f"unsigned({self._signed(width, depth - 1)})",
            f"minimum({one}, {other})", f"maximum({one}, {other})",
            f"resize(unsigned'(\"0\" & i({low})), {width})",
        ]  # fmt: skip
        return draw.choice([*forms, *forms, *leaves])

    def _signed(self, width: int, depth: int) -> str:
        draw = self.draw
        plain = f"signed({self._unsigned(width, depth - 1 if depth > 0 else 0)})"
        if depth <= 0:
            return plain
        name = f"resize({draw.choice(list(self.signed))}, {width})"
        one, other = (self._signed(width, depth - 1) for _ in range(2))
        some = draw.choice((-3, -2, 2, 3))
        forms = [
            f"({one} + {other})", f"({one} - {other})", f"resize({one} * {other}, {width})",
            f"shift_right({one}, {abs(some)})", f"shift_right({name}, to_integer({self._unsigned(3, 0)}))",
            f"minimum({one}, {other})", f"maximum({one}, {other})", name,
        ]  # fmt: skip
        if width > 3:
            forms += [
                f"resize({one} / ({some}), {width})", f"resize({one} mod ({some}), {width})",
                f"resize({one} rem ({some}), {width})", f"(abs {one})", f"(- {one})",
            ]  # fmt: skip
        return draw.choice([*forms, plain])


def behaviour(folder: Path, files: Sequence[Path], given: Sequence[tuple[int, int]]) -> list[int]:
    """What o is in GHDL's own simulator before each rising edge; `given` are rst and i of each cycle."""
    stimuli = ", ".join(f'{n} => "{rst}{i:064b}"' for n, (rst, i) in enumerate(given))
    (folder / "bench.vhd").write_text(
        f"""{HEAD}entity bench is end entity;
architecture sim of bench is
    type given_t is array (0 to {len(given) - 1}) of std_logic_vector(64 downto 0);
    constant GIVEN : given_t := ({stimuli});
    signal clk, rst : std_logic := '0';
    signal i, o : std_logic_vector(63 downto 0) := (others => '0');
begin
    dut : entity work.made port map (clk, rst, i, o);
    process
    begin
        for n in GIVEN'range loop
            rst <= GIVEN(n)(64);
            i <= GIVEN(n)(63 downto 0);
            clk <= '0';
            wait for 1 ns;
            report "o " & to_hstring(o);
            clk <= '1';
            wait for 1 ns;
        end loop;
        wait;
    end process;
end architecture;
"""
    )
    command = ["ghdl", "-c", "--std=08", f"--workdir={folder}", *files, folder / "bench.vhd", "-r", "bench"]
    done = subprocess.run([*command, "--ieee-asserts=disable"], capture_output=True, text=True, check=False)
    said = done.stdout + done.stderr
    found = re.findall(r"\(report note\): o (\w+)", said)
    assert len(found) == len(given), said[-2000:]
    return [int(value, 16) if re.fullmatch("[0-9A-F]+", value) else -1 for value in found]
