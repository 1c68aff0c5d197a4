"""Text that synthesis leaves out (`translate_off`) is left out of all: of what is read, simulated, proved and built."""

import re
import subprocess
from pathlib import Path

import pytest
from memory_port import PLATFORM
from rc_workbench_plugins.verilog import VerilogLanguage
from rc_workbench_plugins.vhdl import VhdlLanguage, checked
from tools import NEEDS_GHDL

from workbench.api import languages
from workbench.api.job import Job
from workbench.api.source.left_out import synthesised
from workbench.model.application import HardwareSources, ReadOut

VERILOG = """\
module top (input clk, rst, input [15:0] addr, input wr_en, rd_en, input [31:0] wr_data, output reg [31:0] rd_data);
    // synopsys translate_off
    caf\xe9 nowhere (.clk(clk));
    // synopsys translate_on
    reg go = 0 /* synthesis translate_off */ + wr_en /* synthesis translate_on */;
    always @(posedge clk) begin
        //pragma translate_off
        //pragma recap never work()
        if (go) $display("%m // pragma translate_on");
        //pragma translate_on
        if (addr[0])
            //pragma recap odd work()
            go <= !go;
`ifndef SYNTHESIS
        if (go)
            //pragma recap unproved work()
            rd_data <= 0; else
`elsif OTHER
`else
        if (addr[2])
            //pragma recap unseen work()
            go <= 1;
`endif
        rd_data <= {31'd0, go};
    end
endmodule
"""
VHDL = """\
library ieee; use ieee.std_logic_1164.all;
-- pragma translate_off
library elsewhere; use elsewhere.all;
-- pragma translate_on
entity top is port (
    clk, rst : in std_logic; addr : in std_logic_vector(15 downto 0); wr_en, rd_en : in std_logic;
    wr_data : in std_logic_vector(31 downto 0); rd_data : out std_logic_vector(31 downto 0));
end;
architecture rtl of top is begin
    process (clk) begin
        if rising_edge(clk) then
            --pragma recap run work()
            rd_data <= x"0000" & addr;
            --pragma synthesis_off
            --pragma recap never work()
            rd_data <= wr_data;
            --pragma synthesis_on
        end if;
    end process;
end;
"""


def sources(folder: Path, name: str, text: str, **more: object) -> HardwareSources:
    (folder / name).write_text(text, encoding="latin-1")
    return HardwareSources(sources=(name,), top="top", read_out=ReadOut(first=0, last=15), **more)


@pytest.mark.parametrize(
    ("text", "kept"),
    [
        ("a -- synopsys translate_off\nb\r\n --Synthesis  TRANSLATE_ON x\nc", "a|26|\n|1|\r\n|28|\nc"),
        ('s <= "-- pragma translate_off"; x', 's <= "-- pragma translate_off"; x'),
        ("---- pragma translate_off\nb", "---- pragma translate_off\nb"),
        ("a -- pragma synthesis_off\nb", "a|24|\n|1|"),
        ("-- pragma translate_on\nb", "-- pragma translate_on\nb"),
    ],
)
def test_all_else_stays_where_it_is(text: str, kept: str) -> None:
    kept = re.sub(r"\|(\d+)\|", lambda blanks: " " * int(blanks[1]), kept)
    assert synthesised(text.encode(), languages.VHDL).decode() == kept


def test_verilog(tmp_path: Path) -> None:
    hardware = sources(tmp_path, "top.v", VERILOG)
    language = VerilogLanguage()
    found = language.scan(tmp_path, hardware, PLATFORM, {}, Job())
    assert [d.text() for d in found.diagnostics] == [
        "top.v:8:9: warning: the pragma 'never' is in text that synthesis leaves out (translate_off), and is not "
        "used. Move it to a branch that becomes hardware.",
        "top.v:16:13: warning: the pragma 'unproved' is where SYNTHESIS is not defined: the simulated card counts "
        "there, and neither the proof nor an FPGA has it. `hardware.defines: {SYNTHESIS: 1}` in the project reads "
        "the design as tools for FPGAs do.",
    ]
    assert [p.pragma.name for block in found.blocks for p in block.pragmas] == ["odd", "unproved"]
    build = language.instrument(tmp_path, hardware, PLATFORM, {}, tmp_path / "out")
    plain = language.plain(tmp_path, hardware, {})
    assert build.checks.compared is not None
    for file in (build.sources[0], plain.sources[0], build.checks.compared.original.sources[0]):
        text = file.read_text("ascii")  # what was no ASCII is left out
        assert "nowhere" not in text
        assert "$display" not in text
        assert "rd_data <= {31'd0, go};" in text
    assert (tmp_path / "top.v").read_text("latin-1") == VERILOG
    same = language.scan(tmp_path, sources(tmp_path, "top.v", VERILOG, defines={"SYNTHESIS": 1}), PLATFORM, {}, Job())
    assert [p.pragma.name for block in same.blocks for p in block.pragmas] == ["odd", "unseen"]
    assert len(same.diagnostics) == 1


@NEEDS_GHDL
def test_vhdl_is_simulated_and_compared_as_it_is_synthesised(tmp_path: Path) -> None:
    hardware = sources(tmp_path, "top.vhd", VHDL)
    found = VhdlLanguage().scan(tmp_path, hardware, PLATFORM, {}, Job())
    assert [d.text() for d in found.diagnostics] == [
        "top.vhd:15:13: warning: the pragma 'never' is in text that synthesis leaves out (translate_off), and is "
        "not used. Move it to a branch that becomes hardware."
    ]
    build = VhdlLanguage().instrument(tmp_path, hardware, PLATFORM, {}, tmp_path / "out")
    checked.check(build, tmp_path, Job())  # GHDL's simulator has what its synthesis has
    (copy,) = (one for one in build.files.board_sources if one.name == "top.vhd")
    assert "wr_data;" not in copy.read_text("latin-1")
    command = ["ghdl", "-a", "--std=08", f"--workdir={tmp_path}", str(copy)]
    assert subprocess.run(command, check=False).returncode == 0  # nor is the library asked for that is not there
