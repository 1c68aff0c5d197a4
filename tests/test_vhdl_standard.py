"""The VHDL standard is the user's: what is 93 alone is read, observed and simulated as that, and told else."""

import subprocess
from pathlib import Path

import pytest
from memory_port import PLATFORM
from rc_workbench_plugins.vhdl import MixedLanguage, VhdlLanguage, checked
from rc_workbench_plugins.vhdl.beside import Alone
from rc_workbench_plugins.vhdl.joined import read_joined
from rc_workbench_plugins.vhdl.sides import parted
from rc_workbench_plugins.vhdl.tops import tops
from tools import NEEDS_GHDL

from workbench.api import HdlBuild
from workbench.api.equivalence import Limits
from workbench.api.job import Job
from workbench.hdl.ghdl import ghdl
from workbench.model.application import HardwareSources, ReadOut
from workbench.model.diagnostic import Diagnostic, has_errors

pytestmark = NEEDS_GHDL
#: Names that 2008 reserves, a file as 87 opens it, types that 2008 made one of, and a constant that is assigned over in
#: part (ghdl/ghdl#2013).
ONLY_93 = """library ieee; use ieee.std_logic_1164.all; use ieee.std_logic_arith.all; use ieee.std_logic_unsigned.all;
use std.textio.all;
entity top is
    generic (context : natural := 3);
    port (
        clk, rst : in std_logic; addr : in std_logic_vector(15 downto 0); wr_en, rd_en : in std_logic;
        wr_data : in std_logic_vector(31 downto 0); rd_data : out std_logic_vector(31 downto 0);
        loose : in std_ulogic_vector(3 downto 0) := "0000"; few : in bit_vector(1 downto 0) := "00";
        level : in natural range 0 to 9 := 0; seen : out unsigned(7 downto 0)
    );
end;
architecture rtl of top is
    type words is array (0 to 3) of bit_vector(7 downto 0);
    impure function read_words return words is
        file given : text is in "words.txt";
        variable one : line;
        variable found : words;
    begin
        for number in words'range loop
            readline(given, one);
            read(one, found(number));
        end loop;
        return found;
    end;
    function turned(bits : std_logic_vector) return std_logic_vector is begin return not bits; end;
    function turned(bits : std_ulogic_vector) return std_logic_vector is begin return to_stdlogicvector(bits); end;
    constant KEPT : words := read_words;
    type release_t is (default, parameter, property);
    signal release : release_t := default;
    signal force : std_logic_vector(7 downto 0) := x"00";
    shared variable counted : std_logic_vector(7 downto 0) := x"00";
begin
    process (clk) begin
        if clk'event and clk = '1' then
            case release is
                when default =>
                    --pragma recap waits overhead(wait): loose = "0000"
                    if wr_en = '1' then release <= parameter; end if;
                when parameter =>
                    --pragma recap works work()
                    force <= force + context;
                    counted := counted + 1;
                    if level = 0 then release <= property; end if;
                when property => release <= default;
            end case;
            rd_data <= x"0000" & to_stdlogicvector(KEPT(conv_integer(addr(1 downto 0)))) & turned(force);
            if wr_en = '1' then rd_data(3 downto 0) <= turned(loose); end if;
            if few = "11" then release <= default; end if;
            seen <= x"5a";
            if few = "01" then seen(3 downto 0) <= unsigned(counted(3 downto 0)); end if;
            if rst = '1' then release <= default; force <= x"00"; end if;
        end if;
    end process;
end;
"""
ONLY_2008 = """library ieee; use ieee.std_logic_1164.all;
entity top is port (clk : in std_logic; o : out std_logic_vector(1 downto 0)); end;
architecture rtl of top is begin
    process (all) begin
        if rising_edge(clk) then
            --pragma recap run work()
            o <= not o;
        end if;
    end process;
end;
"""


def hardware(standard: str, *sources: str) -> HardwareSources:
    read_out = ReadOut(first=0x3F00, last=0x3F0F)
    return HardwareSources(sources=sources or ("top.vhd",), top="top", read_out=read_out, vhdl_standard=standard)


def reported(folder: Path, text: str, standard: str) -> list[Diagnostic]:
    (folder / "top.vhd").write_text(text)
    (folder / "words.txt").write_text("00000001\n00010010\n00100011\n10110100\n")
    return list(VhdlLanguage().scan(folder, hardware(standard), PLATFORM, {}, Job()).diagnostics)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("only_93")
    assert reported(folder, ONLY_93, "93") == []
    return folder


@pytest.fixture(scope="module")
def build(folder: Path) -> HdlBuild:
    return VhdlLanguage().instrument(folder, hardware("93"), PLATFORM, {}, folder / "observed")


@pytest.mark.parametrize(("text", "wrong", "right", "line"), [(ONLY_93, "2008", "93", 4), (ONLY_2008, "93", "2008", 4)])
def test_the_other_standard_is_told_where_it_is_met(
    text: str, wrong: str, right: str, line: int, tmp_path: Path
) -> None:
    first, *_ = (one for one in reported(tmp_path, text, wrong) if one.severity.value == "error")
    assert first.message == f"this is VHDL-{right}, but the sources are read as VHDL-{wrong}"
    assert (first.file, first.line) == ("top.vhd", line)
    assert f"`vhdl_standard: {right}` under `hardware:`" in first.hint
    assert not has_errors(reported(tmp_path, text, right))


def test_what_is_wrong_in_both_is_told_as_that(tmp_path: Path) -> None:
    said = reported(tmp_path, ONLY_93.replace("force <= force + context", "force <= nothing"), "93")
    assert [one.message for one in said] == ['no declaration for "nothing"']


def test_a_top_says_what_it_is_written_in(folder: Path) -> None:
    (top,) = tops(folder, ["top.vhd"])
    assert (top.vhdl_standard, top.diagnostics, dict(top.clocks)) == ("93", (), {"clk": 1})


def test_what_is_93_is_observed_and_does_what_it_says(folder: Path, build: HdlBuild) -> None:
    (block,) = build.blocks
    assert [state.name for state in block.states] == ["unclassified", "waits", "works"]
    job = Job()
    checked.check(build, folder, job)  # GHDL's own simulation beside what it synthesised
    assert not job.diagnostics
    assert VhdlLanguage().prove(build, folder, Limits(prove_s=20, cycles=300, simulate_s=5), Job()).holds


def test_ghdl_itself_simulates_it_with_all_kinds_of_ports(folder: Path) -> None:
    ((design, _),) = read_joined(folder, hardware("93"), (), {}, Job()).designs
    assert Alone(design, {file.path: parted(file) for file in design.needed}, "top", {}, ("clk",)).wrong(Job()) == ()


@pytest.mark.parametrize("standard", ["93", "2008"])
def test_generics_reach_verilog_from_either(standard: str, tmp_path: Path) -> None:
    (tmp_path / "top.vhd").write_text("""library ieee; use ieee.std_logic_1164.all;
entity top is port (clk : in std_logic); end;
architecture rtl of top is
    component leaf is
        generic (N : integer := -2; T : boolean := true; R : real := 1.5; S : string := "some";
                 B : std_logic := '1'; V : std_logic_vector(0 to 3) := "0011"; W : bit_vector(1 downto 0) := "10");
        port (clk : in std_logic);
    end component;
begin
    one : leaf port map (clk);
end;
""")
    (
        tmp_path / "leaf.v"
    ).write_text("""module leaf #(parameter N = 0, T = 0, R = 0.0, S = "", B = 0, V = 0, W = 0) (input clk);
    reg seen;
    always @(posedge clk) seen <= 0;
    if (!(N == -2 && T == 1 && R == 1.5 && S == "some" && B == 1'b1 && V == 4'd3 && W == 2'd2)) nothing wrong();
endmodule
""")
    scanned = MixedLanguage().scan(tmp_path, hardware(standard, "top.vhd", "leaf.v"), PLATFORM, {}, Job())
    assert [one.message for one in scanned.diagnostics] == []
    assert [block.instances for block in scanned.blocks if block.instances]


#: What VHDL-93 does not read: `ready`, `full` and `level` are asked about by a metric, an assertion and a sum.
OUT_PORTS = """library ieee; use ieee.std_logic_1164.all; use ieee.numeric_std.all;
entity half is port (clk : in std_logic; ready : out std_logic; level : out unsigned); end;
architecture rtl of half is
    signal n : unsigned(3 downto 0) := "0000";
begin
    process (clk) begin
        if clk'event and clk = '1' then n <= n + 1; end if;
    end process;
    ready <= n(0);
    level <= n;
end;
library ieee; use ieee.std_logic_1164.all; use ieee.numeric_std.all;
entity top is
    port (
        clk, rst : in std_logic; addr : in std_logic_vector(15 downto 0); wr_en, rd_en : in std_logic;
        wr_data : in std_logic_vector(31 downto 0); rd_data : out std_logic_vector(31 downto 0);
        ready : out std_logic; level : out unsigned(3 downto 0); full : out std_logic := '0'
    );
end;
architecture rtl of top is
    type flags is record full, ready : std_logic; end record;
    signal own : flags := (full => '0', ready => '0');
    procedure give(signal value : out std_logic; what : in std_logic) is begin value <= what; end;
begin
    -- psl default clock is rising_edge(clk);
    -- psl often : assert always (full = '1' -> next (full = '0')) abort rst = '1';
    inner : entity work.half port map (clk => clk, ready => ready, level => level);
    process (clk) begin
        if clk'event and clk = '1' then
            --pragma recap sum levels of level when ready = '1'
            own <= (ready => wr_en, full => not own.full);
            rd_data <= x"0000000" & "000" & own.ready;
            give(full, own.full);
        end if;
    end process;
end;
"""


def test_what_93_does_not_read_drives_a_signal_in_its_place(tmp_path: Path) -> None:
    (tmp_path / "top.vhd").write_text(OUT_PORTS)
    asked = hardware("93").model_copy(update={"assertions": True})
    build = VhdlLanguage().instrument(tmp_path, asked, PLATFORM, {}, tmp_path / "out")
    assert [one.message for one in build.diagnostics] == []
    assert {"top.levels", "top.often"} <= {block.id for block in build.blocks}
    (copy,) = (path for path in build.files.board_sources if path.suffix == ".vhd")
    strictly = [str(ghdl().path), "-s", "--std=93", str(copy)]
    done = subprocess.run(strictly, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert VhdlLanguage().prove(build, tmp_path, Limits(prove_s=20, cycles=300, simulate_s=5), Job()).holds


def test_a_port_that_93_cannot_read_and_whose_name_is_taken_again_is_reported(tmp_path: Path) -> None:
    begin = "process (clk) begin\n        if clk'event and clk = '1' then\n            --pragma"
    text = OUT_PORTS.replace(begin, begin.replace("begin", "variable ready : bit; begin"))
    assert text != OUT_PORTS
    (wrong,) = (one for one in reported(tmp_path, text, "93") if "levels" in one.message)
    assert (wrong.file, wrong.line) == ("top.vhd", 30)
    assert wrong.message.endswith(
        "VHDL-93 cannot read the out port 'ready', and the architecture declares this name again"
    )
