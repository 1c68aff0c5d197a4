"""Instrumented VHDL in simulation: every block's state is, in every cycle, the one that its author knows it to be in.

Each block of the designs below also drives `o` with the number of its state, set by hand beside what the pragmas say.
"""

import random
import re
import subprocess
from pathlib import Path

import numpy as np
import pytest
from memory_port import PLATFORM
from rc_workbench_plugins.vhdl import VhdlLanguage
from rtl_simulator import Cycle, Simulator, simulate
from tools import NEEDS_GHDL

from workbench.api import HdlBuild
from workbench.api.builds import simulated_by
from workbench.model.application import HardwareSources, ReadOut
from workbench.model.diagnostic import Severity, WorkbenchError
from workbench.model.platform import Platform

pytestmark = NEEDS_GHDL
HEAD = "library ieee; use ieee.std_logic_1164.all; use ieee.numeric_std.all;\n"
CELL = f"""{HEAD}
package cells is
    component cell is
        generic (LEVEL : natural := 0);
        port (ck, rst : in std_ulogic; go : in bit_vector(1 downto 0); seen : out bit_vector(1 downto 0));
    end component;
end package;
{HEAD}
entity cell is
    generic (LEVEL : natural := 0);
    port (ck, rst : in std_ulogic; go : in bit_vector(1 downto 0); seen : out bit_vector(1 downto 0));
end entity;
architecture rtl of cell is
    signal state : natural range 0 to 2;
begin
    -- an asynchronous reset, and a condition
    process (ck, rst)
    begin
        if rst = '1' then
            seen <= "00";
            state <= 0;
        elsif ck'event and ck = '1' then
            seen <= "00";
            case state is
                when 0 =>
                    --pragma recap waiting wait_recv(late_sender, $CPU, x1): go = "00"
                    if go = "00" then seen <= "01"; else state <= 1; end if;
                when 1 =>
                    --pragma recap work work()
                    seen <= "10"; if go(0) = '1' then state <= 2; end if;
                when others =>
                    --pragma recap late overhead(update)
                    seen <= "11"; if go(1) = '1' then state <= 0; end if;
            end case;
        end if;
    end process;
end architecture;
"""
TOP = f"""{HEAD}
use work.cells.all;
entity Top is
    generic (FIRST : integer := -1; LAST : integer := 1; EXTRA : boolean := false);
    port (
        clk, rst : in std_logic; addr : in std_logic_vector(15 downto 0); wr_en, rd_en : in std_logic;
        wr_data : in std_logic_vector(31 downto 0); rd_data : out std_logic_vector(31 downto 0);
        I : in std_logic_vector(31 downto 0); o : out bit_vector(63 downto 0)
    );
end entity Top;
architecture rtl of top is
    signal enabled, waited, later, extra_seen : bit_vector(1 downto 0);
    signal of_cells : bit_vector(11 downto 0);
begin
    rd_data <= x"0000" & addr;
    -- an enable in the clock's own condition: without it nothing happens, which is a state too
    enable_d : process (clk)
    begin
        if rising_edge(clk)
            and I(0) = '1'
        then
            --pragma recap on work()
            if I(1) = '1' then
                --pragma recap both work()
                null;
            end if;
        end if;
    end process;
    enabled_seen : process (clk)
    begin
        if rising_edge(clk) then
            enabled <= "00";
            if I(0) = '1' then
                enabled <= "01";
                if I(1) = '1' then enabled <= "10"; end if;
            end if;
        end if;
    end process;

    process
    begin
        wait until rising_edge(clk);
        waited <= "00";
        if I(2) = '1' then
            --pragma recap few work()
            waited <= "01";
        elsif I(3) = '1' then waited <= "00";
            --pragma recap stray work()
        else
            --pragma recap rest overhead(update)
            waited <= "10";
        end if;
    end process;

    -- a reset that comes after all else
    last_word : process (clk)
    begin
        if rising_edge(clk) then
            --pragma recap run work()
            later <= "01";
            if I(4) = '1' then
                --pragma recap four work()
                later <= "10";
            end if;
            if rst = '1' then
                --pragma recap inReset overhead(init)
                later <= "11";
            end if;
        end if;
    end process;

    lanes : for a in FIRST to LAST generate
        pairs : for b in 0 to 1 generate
            signal go : bit_vector(1 downto 0);
        begin
            go <= to_bitvector(I(6 + 2 * a + b downto 5 + 2 * a + b));
            one : cell generic map (LEVEL => a + 1) port map (clk, rst, go,
                of_cells(4 * (a - FIRST) + 2 * b + 1 downto 4 * (a - FIRST) + 2 * b));
        end generate;
    end generate;
    more : if EXTRA generate
        there : process (clk) begin
            if rising_edge(clk) then
                --pragma recap always work()
                extra_seen <= "01";
            end if;
        end process;
    end generate;
    o(7 downto 0) <= extra_seen & later & waited & enabled;
    o(19 downto 8) <= of_cells;
end architecture;
"""


def hardware(*names: str, **others: object) -> HardwareSources:
    return HardwareSources.model_validate(
        {"sources": names, "top": "top", "read_out": ReadOut(first=0x3F00, last=0x3F0F), **others}
    )


def _sources(folder: Path, **texts: str) -> HardwareSources:
    for name, text in texts.items():
        (folder / f"{name}.vhd").write_text(text)
    return hardware(*(f"{name}.vhd" for name in texts))


def instrumented(folder: Path, platform: Platform = PLATFORM, **texts: str) -> HdlBuild:
    return VhdlLanguage.instrument(folder, _sources(folder, **texts), platform, {"EXTRA": "true"}, folder / "out")


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, HdlBuild]:
    folder = tmp_path_factory.mktemp("vhdl")
    return folder, instrumented(folder, top=TOP, cells=CELL)


def test_every_block_is_in_its_authors_state_in_every_cycle(built: tuple[Path, HdlBuild]) -> None:
    folder, build = built
    text = (
        "module dut(input clk, input rst, input [15:0] addr, input wr_en, input rd_en, input [31:0] wr_data,\n"
        "output [31:0] rd_data, input [31:0] in, output [63:0] out, output [63:0] taps);\n"
        f"wire [{build.simulation.tap_bits - 1}:0] all_; assign taps = all_;\n"
        "Top top(.clk(clk), .rst(rst), .addr(addr), .wr_en(wr_en), .rd_en(rd_en), .wr_data(wr_data),\n"
        ".rd_data(rd_data), .I(in), .o(out), .recap_taps(all_));\nendmodule\n"
    )
    (folder / "dut.v").write_text(text)
    program = Simulator(folder).build(
        [folder / "dut.v", *build.sources], "dut", defines=build.simulation.defines, taps="dut.taps"
    )
    draw = random.Random(12)
    cycles = [Cycle(rst=int(n in (1, 2, 90, 91, 400)), stimulus=draw.getrandbits(32)) for n in range(600)]
    seen = simulate(program, cycles)
    reset = np.array([bool(one.rst or before.rst) for before, one in zip([cycles[0], *cycles], cycles, strict=False)])
    places = {"enable_d": 0, "line_41": 2, "last_word": 4, "more.there": 6}
    places |= {f"lanes[{a}].pairs[{b}].one.line_19": 12 + 4 * a + 2 * b for a in (-1, 0, 1) for b in (0, 1)}
    assert {block.id for block in build.blocks} == {f"Top.{name}" for name in places} | {"Top.enabled_seen"}
    for block, (lsb, width) in zip(build.blocks, build.simulation.taps, strict=True):
        if (place := places.get(block.id.removeprefix("Top."))) is None:
            assert width == 0
            continue
        taps = (seen.taps.astype(int) >> lsb) & (2**width - 1)
        known = (seen.out.astype(int) >> place) & 3
        # an asynchronous reset keeps the state of the cycle before it, which is then counted
        held = reset if ".one." in block.id else np.zeros_like(reset)
        assert (taps == known)[3:][~held[3:]].all(), block.id
        assert len(set(taps[3:])) > 1 or block.id == "Top.more.there"


def test_copies_keep_their_lines_and_are_a_design_of_their_own(built: tuple[Path, HdlBuild]) -> None:
    """What a board's tools take: GHDL synthesises it, and says no more than of the user's own."""
    folder, build = built
    copies = [path for path in build.files.board_sources if path.suffix == ".vhd"]
    assert [path.name for path in copies] == ["cells.vhd", "top.vhd"]
    for copy in copies:
        assert len(copy.read_text().splitlines()) == len((folder / copy.name).read_text().splitlines())
    said = []
    originals = [folder / copy.name for copy in copies]
    for files, unit, values in ((copies, "top_recap_user", []), (originals, "top", ["-gextra=true"])):
        command = ["ghdl", "--synth", "--std=08", "--out=none", *values, *files, "-e", unit]
        done = subprocess.run(command, capture_output=True, text=True, check=True)
        lines = [re.sub(r"^.*/", "", line) for line in done.stderr.splitlines() if "warning" in line]
        said.append([re.sub(r":\d+:", ":", line) for line in lines if "unknown pragma" not in line])
    assert said[0] == said[1]


def test_the_ports_are_the_users_own(built: tuple[Path, HdlBuild]) -> None:
    _, build = built
    assert build.top == "Top"
    assert [(port.name, port.bits, port.file, port.line) for port in build.ports][-3:] == [
        ("I", 32, "top.vhd", 9), ("rd_data", 32, "top.vhd", 8), ("o", 64, "top.vhd", 9),
    ]  # fmt: skip
    assert [d.message for d in build.diagnostics] == [
        "the pragma 'stray' is before no branch of a clocked process, and is not used"
    ]


def refused(folder: Path, text: str) -> list[str]:
    with pytest.raises(WorkbenchError) as told:
        instrumented(folder, top=text, cells=CELL)
    return [f"{d.file}:{d.line} {d.message}" for d in told.value.diagnostics if d.severity is Severity.ERROR]


def test_what_cannot_be_synthesised_is_told_at_its_line_and_left_to_ghdl(tmp_path: Path) -> None:
    text = TOP.replace("    more : if", "    process begin wait for 1 ns; end process;\n    more : if")
    build = instrumented(tmp_path, top=text, cells=CELL)
    problems = [(one.file, one.line, one.message) for one in build.diagnostics if one.severity is Severity.WARNING]
    assert ("top.vhd", 82, "expect wait condition") in problems
    assert not build.sources
    with pytest.raises(WorkbenchError, match="expect wait condition"):
        simulated_by(build, "verilator")
    alone = simulated_by(build, "auto")
    assert alone.asks_beside
    assert alone.beside is not None
    assert alone.beside.files == {"f0_0.vhd": "top.vhd", "f1_0.vhd": "cells.vhd"}


def test_a_wrong_condition_is_told_at_its_pragma(tmp_path: Path) -> None:
    (problem,) = refused(tmp_path, TOP.replace("on work()", "on work(): I(0) = ack"))
    assert problem.startswith("top.vhd:23 the condition of the pragma 'on' is wrong")


def test_a_plain_design_has_its_generics_bound(tmp_path: Path) -> None:
    (tmp_path / "top.vhd").write_text(TOP)
    (tmp_path / "cells.vhd").write_text(CELL)
    build = VhdlLanguage.plain(tmp_path, hardware("top.vhd", "cells.vhd"), {"FIRST": "0"})
    text = build.sources[0].read_text()
    assert len(re.findall(r"^  cell_\w+ lanes_n\d_pairs_n\d_one \(", text, re.MULTILINE)) == 4
    assert "recap" not in text


def test_a_clock_that_the_design_makes_is_led_up_to_a_monitor_of_its_own(tmp_path: Path) -> None:
    part = f"""{HEAD}
    entity part is port (ck : in std_ulogic; n : out unsigned(3 downto 0)); end entity;
    architecture rtl of part is
      signal own : unsigned(3 downto 0);
    begin
      n <= own;
      g : for i in 0 to 1 generate
        signal turn : unsigned(1 downto 0);
      begin
        p : process (ck) begin
          if rising_edge(ck) then
            --pragma recap whole work()
            own(2 * i + 1 downto 2 * i) <= turn; turn <= turn + 1;
          end if;
        end process;
      end generate;
    end architecture;\n"""
    top = f"""{HEAD}
    entity top is
      port (clk, rst, wr_en, rd_en : in std_ulogic; addr : in std_ulogic_vector(15 downto 0);
            wr_data : in std_ulogic_vector(31 downto 0); rd_data : out std_ulogic_vector(31 downto 0));
    end entity;
    architecture rtl of top is
      signal half : std_ulogic; signal a, b : unsigned(3 downto 0);
    begin
      rd_data <= std_ulogic_vector(resize(a, 32)) xor std_ulogic_vector(resize(b, 32));
      divide : process (clk) begin if rising_edge(clk) then half <= not half or rst; end if; end process;
      one : entity work.part port map (clk, a);
      other : entity work.part port map (half, b);
    end architecture;\n"""
    build = VhdlLanguage.instrument(tmp_path, _sources(tmp_path, part=part, top=top), PLATFORM, {}, tmp_path / "out")
    assert build.read_out is not None
    (of_clk, of_half) = build.read_out.monitors
    assert [(one.clock, one.made_of) for one in (of_clk, of_half)] == [("clk", ""), ("half", "clk")]
    assert {build.blocks[n].id for n in of_half.blocks or ()} == {"top.other.g[0].p", "top.other.g[1].p"}
    (shell,) = (path.read_text() for path in build.sources if path.name == "recap_top.v")
    (bit,) = re.findall(r"`else\n    wire recap_clock_0 = recap_state\[(\d+)\];", shell)
    lsb, width = build.simulation.taps[min(of_half.blocks or ())]
    assert int(bit) == lsb + width, "a clock stands above the state of a block on it"
