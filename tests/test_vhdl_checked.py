"""Before a run, what GHDL synthesised is held against the VHDL in GHDL's own simulator."""

from __future__ import annotations

import subprocess
from dataclasses import replace
from pathlib import Path

import pytest
from memory_port import PLATFORM
from rc_workbench_plugins.vhdl import VhdlLanguage, checked
from test_vhdl_prove import HEAD, instrumented
from tools import NEEDS_GHDL

from workbench.api import HdlBuild
from workbench.api.job import Job, JobEvent
from workbench.model.application import HardwareSources, ReadOut
from workbench.model.diagnostic import WorkbenchError

pytestmark = NEEDS_GHDL
TOP = f"""{HEAD}
entity top is
    port (
        clk, rst : in std_logic; addr : in std_logic_vector(15 downto 0); wr_en, rd_en : in std_logic;
        wr_data : in std_logic_vector(31 downto 0); rd_data : out std_logic_vector(31 downto 0);
        O : out std_logic_vector(15 downto 0)
    );
end entity;
architecture rtl of top is
    signal toggles, never : std_logic;
begin
    process (clk)
    begin
        if rising_edge(clk) then
            --pragma recap run work()
            rd_data <= x"0000" & addr;
            {{BODY}}
            toggles <= not toggles;
            if rst = '1' then o <= (others => '0'); end if;
        end if;
    end process;
end architecture;
"""
WRONG = "o <= (12 => '1', 9 => '1', others => '0'); if wr_en = '1' then o(3 downto 0) <= wr_data(3 downto 0); end if;"
RIGHT = "o <= x\"1234\"; if wr_en = '1' then o(3 downto 0) <= wr_data(3 downto 0) xor addr(3 downto 0); end if;"


def of(folder: Path, body: str) -> HdlBuild:
    (folder / "top.vhd").write_text(TOP.replace("{BODY}", body))
    hardware = HardwareSources(sources=("top.vhd",), top="Top", read_out=ReadOut(first=0, last=15))
    return VhdlLanguage().instrument(folder, hardware, PLATFORM, {}, folder / "made")


def test_what_is_right_passes_with_ports_of_every_type(tmp_path: Path) -> None:
    """Enumerations, records, arrays, ranges, truths, two clocks, registers without a value, a memory."""
    logged: list[JobEvent] = []
    checked.check(instrumented(tmp_path), tmp_path, Job(logged.append))
    assert "what the VHDL says in" in logged[-1].text


def test_what_is_wrong_is_told_at_its_port_and_stops(tmp_path: Path) -> None:
    """GHDL 2.0 takes a part of a constant from its wrong end where the rest is assigned elsewhere (ghdl/ghdl#2013)."""
    version = subprocess.run(["ghdl", "--version"], capture_output=True, text=True, check=True).stdout
    if not version.startswith("GHDL 2."):
        pytest.skip("this GHDL makes of it what it says")
    build = of(tmp_path, WRONG)
    with pytest.raises(WorkbenchError, match=r"is wrong: in cycle .* 'o' is") as told:
        checked.check(build, tmp_path, Job())
    (problem,) = told.value.diagnostics
    assert (problem.file, problem.line) == ("top.vhd", 7)
    assert "check_vhdl: false" in problem.hint


def test_a_broken_netlist_is_found_and_a_right_one_is_looked_at_once(tmp_path: Path) -> None:
    """What has no value has zeros in VHDL: a `case` on 'U' takes a branch that no circuit does. A constant written out
    is kept from what GHDL makes of it."""
    build = of(tmp_path, f"case never is when '0' | '1' => {RIGHT} when others => o <= addr; end case;")
    assert build.compared is not None
    assert build.compared.simulated is not None
    checked.check(build, tmp_path, Job())
    source = tmp_path / "top.vhd"
    source.write_text(source.read_text().replace("begin", "begin -- a comment", 1))
    checked.check(build, Path("/nowhere"), Unable())
    verilog = build.compared.simulated.sources[0]
    broken = tmp_path / "broken.v"
    broken.write_text(verilog.read_text().replace(" ^ ", " | "))
    simulated = replace(build.compared.simulated, sources=(broken,))
    with pytest.raises(WorkbenchError, match="'o' is"):
        checked.check(replace(build, compared=replace(build.compared, simulated=simulated)), tmp_path, Job())


class Unable(Job):
    def run(self, *_: object, **__: object) -> object:  # type: ignore[override]
        raise AssertionError("nothing has to run")
