"""Hardware blocks in VHDL: what GHDL makes of them does what they say, and reading them changes nothing."""

import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest
from answers import refusal
from rc_workbench_plugins.streaming import compared as streaming_compared
from rc_workbench_plugins.streaming.compared import compared
from rc_workbench_plugins.streaming.modules import read_module
from rtl_simulator import Cycle, Simulator, simulate
from tools import NEEDS_GHDL

from workbench.api.job import Job
from workbench.hdl import ghdl
from workbench.hdl.ghdl import Design
from workbench.model.diagnostic import Diagnostic, Severity, WorkbenchError
from workbench.model.topology import At, Implementation, Language, Value
from workbench.system.confine import read_only
from workbench.system.process import ProcessResult

pytestmark = NEEDS_GHDL
GHDL_2 = (
    bool(shutil.which("ghdl"))
    and "GHDL 2." in subprocess.run(["ghdl", "--version"], capture_output=True, text=True, check=True).stdout
)

#: `others` in a choice, constants of more than 32 bits, a memory that begins with something, numbers with a sign,
#: names that Verilog keeps for itself
CHOICES = """
library ieee;
use ieee.std_logic_1164.all;
use ieee.numeric_std.all;

entity choices is
    generic (mask : std_logic_vector(7 downto 0) := x"00"; odd : boolean := false; rate : real := 1.0);
    port (clk : in std_logic; i : in std_logic_vector(7 downto 0); o : out std_logic_vector(63 downto 0));
end entity;

architecture rtl of choices is
    type memory is array (natural range 0 to 3) of unsigned(7 downto 0);
    signal reg : memory := (x"11", x"22", x"33", x"44");
    signal initial : std_logic_vector(1 downto 0);
begin
    process (all)
    begin
        case i(2 downto 0) is
            when "001" => o <= x"0123456789ABCDEF";
            when "010" => o <= std_logic_vector(resize(signed(i), 64));
            when "100" => o <= std_logic_vector(resize(reg(to_integer(unsigned(initial))), 64));
            when "011" =>
                if odd then
                    o <= x"00000000000000" & mask;
                else
                    o <= (others => '0');
                end if;
            when others => o <= x"FEDCBA9876543210";
        end case;
        case to_integer(unsigned(i(7 downto 3))) is
            when 3 => initial <= "01";
            when 9 => initial <= "10";
            when others => initial <= "11";
        end case;
    end process;
    process (clk)
    begin
        if rising_edge(clk) and i(7) = '1' then
            reg(to_integer(unsigned(i(1 downto 0)))) <= reg(to_integer(unsigned(i(1 downto 0)))) + 1;
        end if;
    end process;
end architecture;
"""
DUT = """
module dut (
    input  wire clk, input wire rst, input wire [63:0] addr, input wire wr_en, input wire rd_en,
    input  wire [63:0] wr_data, output wire [63:0] rd_data, input wire [63:0] in, output wire [63:0] out
);
    assign rd_data = 0;
    choices made (.clk(clk), .i(in[7:0]), .o(out));
endmodule
"""


def test_what_is_made_of_a_design_does_what_it_says(tmp_path: Path) -> None:
    (tmp_path / "choices.vhd").write_text(CHOICES)
    generics = "mask=00101101", "odd=true"
    (tmp_path / "made.v").write_text(ghdl.synthesised(Design((str(tmp_path / "choices.vhd"),), "choices", generics)))
    (tmp_path / "dut.v").write_text(DUT)
    program = Simulator(tmp_path).build([tmp_path / "made.v", tmp_path / "dut.v"], "dut")
    given = [*range(256), *range(256)]
    kept, expected = [0x11, 0x22, 0x33, 0x44], []
    for i in given:
        of_memory = kept[{3: 1, 9: 2}.get(i >> 3, 3)]
        signed = (i - (i >> 7 << 8)) % 2**64
        expected.append({1: 0x0123456789ABCDEF, 2: signed, 3: 0b00101101, 4: of_memory}.get(i & 7, 0xFEDCBA9876543210))
        kept[i & 3] = (kept[i & 3] + (i >> 7)) % 256
    assert simulate(program, [Cycle(stimulus=i) for i in given]).out.tolist() == expected


def test_what_cannot_be_made_as_it_is_said_is_refused_at_its_line(tmp_path: Path) -> None:
    text = CHOICES.replace("reg(to_integer(unsigned(i(1 downto 0)))) <=", "reg(3) <=")
    (tmp_path / "choices.vhd").write_text(text)
    problem = refusal(ghdl.synthesised, Design((str(tmp_path / "choices.vhd"),), "choices"))
    assert "'reg'" in problem.message
    assert (problem.file, problem.line) == (str(tmp_path / "choices.vhd"), 13)


@pytest.mark.parametrize(
    ("unit", "config", "said", "hint"),
    [
        ("choices", {"rate": 0.5}, 'unhandled override for generic "rate"', "as integers, strings"),
        ("choices", {"mask": 5}, "incorrect character", ""),
        ("choices", {"most": 5}, 'no generic "most"', "as integers, strings"),
        ("other", {}, "cannot find entity or configuration other", ""),
        ("--version", {}, "'--version' is not the name of an entity", ""),
    ],
)
def test_what_does_not_fit_the_entity_is_told_where_it_is_named(
    unit: str, config: dict[str, Value], said: str, hint: str, tmp_path: Path
) -> None:
    (tmp_path / "choices.vhd").write_text(CHOICES)
    with pytest.raises(WorkbenchError) as told:
        read_module(Implementation(Language.VHDL, ("choices.vhd",), unit, At("app.x", 3, 1)), config, tmp_path)
    (problem,) = told.value.diagnostics
    assert said in problem.message
    assert hint in problem.hint
    assert (problem.file, problem.line) == ("app.x", 3)


PARTS = """
library ieee;
use ieee.std_logic_1164.all;

entity parts is
    port (clk, rst_n : in std_logic; i : in std_logic_vector(3 downto 0); o : out std_logic_vector(15 downto 0));
end entity;

architecture rtl of parts is
begin
    process (clk)
    begin
        if rising_edge(clk) then
            o <= x"1234";
            if i(0) = '1' then
                o(3 downto 0) <= i;
            end if;
            if rst_n = '0' then
                o <= (others => '0');
            end if;
        end if;
    end process;
end architecture;
"""


def told_of(folder: Path, text: str, job: Job) -> list[Diagnostic]:
    """What is told of an entity `parts`, named in line 3."""
    (folder / "parts.vhd").write_text(text)
    design = Design((str(folder / "parts.vhd"),), "parts", folder=folder)
    return list(compared({design: At("app.x", 3, 1)}, job))


def test_a_synthesis_that_does_another_thing_is_told(tmp_path: Path) -> None:
    """GHDL 2.0 makes x"1231" of the constant; what a newer one makes is right."""
    if not read_only():
        pytest.skip("this system does not let bubblewrap confine")
    found = told_of(tmp_path, PARTS, Job())
    assert found == told_of(tmp_path, PARTS, Unable()), "what was found is kept"
    if GHDL_2:
        (problem,) = found
        assert "synthesis of 'parts' is wrong: 'o' differs" in problem.message
        assert (problem.severity, problem.file, problem.line) == (Severity.ERROR, "app.x", 3)
    else:
        assert not found
    assert told_of(tmp_path, PARTS.replace('o <= x"1234"', 'o <= x"123" & i'), Job()) == []


class Unable(Job):
    def run(self, *args: Any, **others: Any) -> ProcessResult:
        raise AssertionError("nothing is started")


RECORD = """
package types is
    type pair is record
        low, high : bit;
    end record;
end package;
use work.types.all;
"""


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (
            RECORD + PARTS.replace("clk, rst_n : in", "p : in work.types.pair; clk, rst_n : in"),
            "its port 'p' has a type",
        ),
        (PARTS.replace("begin", "attribute foreign : string;\nbegin", 1), "attribute 'foreign'"),
        (PARTS.replace("o <= x", 'assert false report "mine" severity failure; o <= x'), "(assertion failure): mine'"),
        (PARTS + "-- too long", "still running after 2 s"),
        (PARTS + "-- nothing confines", "this system cannot confine"),
    ],
)
def test_a_synthesis_that_cannot_be_compared_is_told(
    text: str, said: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    if not read_only():
        pytest.skip("this system does not let bubblewrap confine")
    if "confines" in text:
        monkeypatch.setattr(streaming_compared, "read_only", lambda: ())
    if "too long" in text:
        monkeypatch.setattr(streaming_compared, "CYCLES", 10**8)
        monkeypatch.setattr(streaming_compared, "LIMIT_S", 2.0)
        text = text.replace('x"1234"', 'x"123" & i')
    (problem,) = told_of(tmp_path, text, Job())
    assert "synthesis of 'parts' was not compared" in problem.message
    assert said in problem.message
    assert problem.hint
    assert (problem.severity, problem.file, problem.line) == (Severity.WARNING, "app.x", 3)


WRITES = """library ieee;
use ieee.std_logic_1164.all;
use std.textio.all;
entity writes is port (o : out std_logic); end entity;
architecture rtl of writes is
    impure function written return std_logic is
        -- to make a new file
        file target : text open write_mode is "PATH";
    begin
        return '1';
    end function;
begin
    o <= written;
end architecture;
"""


@pytest.mark.parametrize("within_bubblewrap", [True, False])
def test_reading_a_design_writes_to_no_file(
    within_bubblewrap: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    if not within_bubblewrap:
        monkeypatch.setattr(ghdl, "reads_only", lambda *folders, **_: ())
    elif not read_only():
        pytest.skip("this system does not let bubblewrap confine")
    mine, design = tmp_path / "mine.txt", tmp_path / "writes.vhd"
    mine.write_text("mine")
    design.write_text(WRITES.replace("PATH", str(mine)))
    with pytest.raises(WorkbenchError) as told:
        ghdl.synthesised(Design((str(design),), "writes"))
    problem = told.value.diagnostics[0]
    assert (problem.file, problem.line) == (str(design), 8)
    assert mine.read_text() == "mine"
    design.write_text("\n".join(line for line in WRITES.splitlines() if "target" not in line))
    assert "module writes" in ghdl.synthesised(Design((str(design),), "writes"))
