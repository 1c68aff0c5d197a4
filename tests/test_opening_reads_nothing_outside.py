"""Opening a project reads no file outside its folder, by whatever its sources and flags name."""

import json
from pathlib import Path

import pytest
from tools import NEEDS_GHDL

from workbench.model.diagnostic import has_errors
from workbench.session.open.opening import open_workspace
from workbench.session.program.plugins import load_plugins
from workbench.system.confine import read_only

SECRET = "int secret_of_mine;\n"
HOST = '#include "fpga.h"\nint main(void) { fpgaClose(fpgaOpen(0)); return 0; }\n'
TOP = """\
module top (
    input clk, input rst, input [31:0] addr, input wr_en, input [31:0] wr_data, input rd_en, output reg [31:0] rd_data
);
endmodule
"""
VHDL = """library ieee;
use ieee.std_logic_1164.all;
use std.textio.all;
entity top is
    port (
        clk, rst : in std_logic; addr : in std_logic_vector(31 downto 0); wr_en : in std_logic;
        wr_data : in std_logic_vector(31 downto 0); rd_en : in std_logic; rd_data : out std_logic_vector(31 downto 0)
    );
end entity;
architecture rtl of top is
    impure function first return natural is
        file from_disk : text;
        variable found : line;
    begin
        file_open(from_disk, "NAME", read_mode);
        readline(from_disk, found);
        return found.all'length;
    end function;
    constant LENGTH : natural := first;
begin
    rd_data <= (others => '0');
end architecture;
"""
PROJECT = """\
schema_version: 1
name: outside
platform: nallatech_h101
host: {sources: [host.c], flags: FLAGS}
hardware: {sources: [SOURCE], top: top, read_out: {first: 0x8000, last: 0x800F}}
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A project's folder beside one with a secret."""
    (tmp_path / "home").mkdir()
    (tmp_path / "home" / "secret.h").write_text(SECRET)
    project = tmp_path / "project"
    project.mkdir()
    (project / "host.c").write_text(HOST)
    (project / "top.v").write_text(TOP)
    return project


def problems(folder: Path, flags: object = (), source: str = "top.v") -> list[str]:
    path = folder / "outside.workbench.yaml"
    path.write_text(PROJECT.replace("FLAGS", json.dumps(flags)).replace("SOURCE", source))
    found = open_workspace(path, load_plugins()).scan({})
    return [one.text() for one in found.diagnostics if has_errors([one])]


@pytest.mark.parametrize(
    "flags", [["-include", "../home/secret.h"], ["-I../home"], ["-isystem", "../home"], ["-iquote", "linked"]]
)
@pytest.mark.parametrize("by_build", [False, True], ids=["flags", "compile_commands"])
def test_flags_lead_to_no_headers_elsewhere(folder: Path, flags: list[str], by_build: bool) -> None:
    (folder / "linked").symlink_to("../home")
    (folder / "host.c").write_text('#include "secret.h"\n' * (flags[0] != "-include") + HOST)
    if by_build:
        command = {"directory": ".", "file": "host.c", "arguments": ["gcc", *flags, "-c", "host.c"]}
        (folder / "compile_commands.json").write_text(json.dumps([command]))
    told = problems(folder, [] if by_build else flags)
    assert "leads to headers outside of the project's folder, which are not read" in told[0]
    assert "`outside`" in told[0]
    assert not any("secret_of_mine" in one for one in told)


def test_flags_within_the_project_and_of_the_system_stay(folder: Path) -> None:
    (folder / "include").mkdir()
    (folder / "include" / "mine.h").write_text("#include <sys/types.h>\n")
    (folder / "host.c").write_text('#include "mine.h"\n' + HOST)
    assert problems(folder, ["-Iinclude", "-I/usr/include", "-include", "stdio.h", "-DN=1"]) == []


@NEEDS_GHDL
@pytest.mark.parametrize(
    ("name", "reads"),
    [("data.txt", True), ("../home/secret.h", False), ("HOME/secret.h", False), ("linked.txt", False)],
)
def test_a_design_in_vhdl_reads_its_own_files_alone(folder: Path, name: str, reads: bool) -> None:
    """Functions run as GHDL elaborates, already to open a project."""
    (folder / "data.txt").write_text("mine\n")
    (folder / "linked.txt").symlink_to("../home/secret.h")
    (folder / "top.vhd").write_text(VHDL.replace("NAME", name.replace("HOME", str(folder.parent / "home"))))
    told = problems(folder, source="top.vhd")
    if not read_only():  # then GHDL is not started at all
        assert "declares a file" in told[0]
    elif reads:
        assert told == []
    else:
        assert "cannot open file" in told[0]
