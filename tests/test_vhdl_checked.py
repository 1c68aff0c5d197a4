"""Before a run, what GHDL synthesised is held against the VHDL in GHDL's own simulator."""

import subprocess
from dataclasses import replace
from pathlib import Path

import pytest
from memory_port import PLATFORM
from rc_workbench_plugins.vhdl import MixedLanguage, VhdlLanguage, checked
from rc_workbench_plugins.vhdl.checked import Difference
from rc_workbench_plugins.vhdl.side_by_side import Simulation
from rc_workbench_plugins.vhdl.suspects import written_wrongly
from test_vhdl_prove import HEAD, instrumented
from tools import NEEDS_GHDL

from workbench.api import HdlBuild, HdlChecks
from workbench.api.equivalence import Comparison, HdlSide
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
{{DECLARED}}
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
    {{BESIDE}}
end architecture;
"""
OVER = """module over (input clk, input [15:0] addr, input [31:0] wr_data, output [15:0] o);
    TOP below (.clk(clk), .rst(1'b0), .addr(addr), .wr_en(1'b1), .rd_en(1'b0), .wr_data(wr_data), .rd_data(), .o(o));
endmodule
"""
WRONG = """
if unsigned(wr_data) & unsigned(wr_data) >= unsigned'(x"80000000_00000000") then o <= addr; else o <= not addr; end if;
"""
#: Values that are known, of which parts are assigned elsewhere (ghdl/ghdl#2013).
DECLARED = """
    type pair_t is record low, high : std_logic_vector(7 downto 0); end record;
    type pairs_t is array (0 to 1) of pair_t;
    constant SOME : pair_t := (x"12", not x"43");
    signal pair : pair_t;
    signal pairs : pairs_t;
    signal word, turned, made : std_logic_vector(15 downto 0);
    alias turn : std_logic_vector(0 to 15) is turned;
    function of_both(one, other : std_logic_vector(7 downto 0)) return pair_t is
        variable found : pair_t := SOME;
        procedure put(bits : inout std_logic_vector) is
        begin
            bits(bits'left downto bits'left - 1) := one(1 downto 0);
        end procedure;
    begin
        if one(7) = '1' then found.low(2 downto 1) := other(2 downto 1); end if;
        put(found.high);
        return found;
    end function;
"""
RIGHT = """
    word <= (12 => '1', 9 => '1', others => '0'); if wr_en = '1' then word(3 downto 0) <= wr_data(3 downto 0); end if;
    turn <= x"12" & x"34"; if rd_en = '1' then turn(1 to 3) <= wr_data(6 downto 4); end if;
    pair <= SOME; if wr_data(0) = '1' then pair.low(6 downto 4) <= addr(6 downto 4); end if;
    pairs <= (SOME, (high => x"0f", low => x"f1"));
    if wr_data(1) = '1' then pairs(1).high(5 downto 2) <= addr(9 downto 6) xor wr_data(9 downto 6); end if;
    o <= word xor turned xor made xor pair.high & pair.low xor pairs(1).high & pairs(0).low xor pairs(1).low & x"00";
"""
BESIDE = """
    process (all)
        variable both : pair_t;
    begin
        both := of_both(addr(7 downto 0), wr_data(15 downto 8));
        if wr_en = '1' then both := (others => x"2d"); both.high(1) := rd_en; end if;
        made <= both.high & both.low;
    end process;
"""


READ_OUT = ReadOut(first=0, last=15)


def of(folder: Path, body: str) -> HdlBuild:
    text = TOP.replace("{DECLARED}", DECLARED).replace("{BODY}", body).replace("{BESIDE}", BESIDE)
    (folder / "top.vhd").write_text(text)
    hardware = HardwareSources(sources=("top.vhd",), top="Top", read_out=READ_OUT)
    return VhdlLanguage().instrument(folder, hardware, PLATFORM, {}, folder / "made")


def test_what_is_right_passes_with_ports_of_every_type(tmp_path: Path) -> None:
    """Enumerations, records, arrays, ranges, truths, two clocks, registers without a value, a memory."""
    logged: list[JobEvent] = []
    checked.check(instrumented(tmp_path), tmp_path, Job(logged.append))
    assert "matched the VHDL in" in logged[-1].text


def test_what_is_wrong_is_told_at_its_port_and_stops(tmp_path: Path) -> None:
    """GHDL 2.0 makes zeros of 64 bits of which only the first 32 are not: observed, not observed, and below Verilog."""
    version = subprocess.run(["ghdl", "--version"], capture_output=True, text=True, check=True).stdout
    if not version.startswith("GHDL 2."):
        pytest.skip("this GHDL makes of it what it says")
    (tmp_path / "over.v").write_text(OVER)
    observed = of(tmp_path, WRONG)
    alone = HardwareSources(sources=("top.vhd",), top="top", read_out=READ_OUT)
    mixed = HardwareSources(sources=("top.vhd", "over.v"), top="over", read_out=READ_OUT)
    for build in (observed, VhdlLanguage().plain(tmp_path, alone, {}), MixedLanguage().plain(tmp_path, mixed, {})):
        with pytest.raises(WorkbenchError, match=r"of '[Tt]op' is wrong: in cycle .* 'o' is") as told:
            checked.check(build, tmp_path, Job())
        assert (told.value.diagnostics[0].file, told.value.diagnostics[0].line) == ("top.vhd", 7)
    problem, why = told.value.diagnostics
    assert (problem.file, problem.line) == ("top.vhd", 7)
    assert "check_vhdl: false" in problem.hint
    line = (tmp_path / "top.vhd").read_text().splitlines().index(WRONG.strip()) + 1
    assert (why.message, why.file, why.line) == (
        'GHDL 2.0 replaces x"80000000_00000000" by zeros, which may cause the difference',
        "top.vhd",
        line,
    )


SLICED = """library ieee; use ieee.std_logic_1164.all; use ieee.numeric_std.all;
entity top is
    port (clk, en : in std_logic; a : in unsigned(2 downto 0); x : in std_logic_vector(31 downto 0);
          o : out std_logic_vector(255 downto 0); w : out std_logic_vector(263 downto 0);
          c, d, e : out std_logic_vector(7 downto 0));
end;
architecture rtl of top is
    signal held : std_logic_vector(255 downto 0) := (others => '0');
    signal few : std_logic_vector(31 downto 0);
    signal b : unsigned(1 downto 0);
    function part(v : std_logic_vector; at : unsigned) return std_logic_vector is
    begin
        return v(to_integer(at & "000") + 7 downto to_integer(at & "000"));
    end;
begin
    o <= held;
    few <= held(31 downto 0);
    b <= a(1 downto 0);
    c <= few(to_integer(b & "000") + 7
             downto to_integer(b & "000")) when en = '1' else (others => '0');
    d <= part(few, b);
    each : for half in 0 to 1 generate
        one : e(4 * half + 3 downto 4 * half) <=
            few(to_integer(b & "000") + 4 * half + 3 downto to_integer(b & "000") + 4 * half);
    end generate;
    process (clk)
        variable v : std_logic_vector(263 downto 0) := (others => '0');
    begin
        if rising_edge(clk) then
            if x(7 downto 0) = 8x"00" then
                held <= (others => '0');
                v := (others => '0');
            elsif en = '1' and x(7 downto 0) /= few(to_integer(b & "000") + 7 downto to_integer(b & "000")) then
                held(to_integer(a & "00000") + 31
                     downto to_integer(a & "00000")) <= x;
            elsif x(0) = '1' then
                again : held(8 * to_integer(a(2 downto 0) & '1') + 7 downto 8 * to_integer(a(2 downto 0) & '1')) <=
                    x(7 downto 0);
            end if;
            v(to_integer(a & "00000") + to_integer(a) + 31 downto to_integer(a & "00000") + to_integer(a)) := x;
            w <= v;
        end if;
    end process;
end;
"""


def test_a_slice_whose_bounds_are_computed_twice_is_synthesised_as_written(tmp_path: Path) -> None:
    """GHDL refuses each of these: in what it synthesises the lower bound is computed once, before the assignment."""
    (tmp_path / "top.vhd").write_text(SLICED)
    build = VhdlLanguage().plain(tmp_path, HardwareSources(sources=("top.vhd",), top="top", read_out=READ_OUT), {})
    assert build.beside is not None
    assert not build.beside.refused
    logged: list[JobEvent] = []
    checked.check(build, tmp_path, Job(logged.append))
    assert "matched the VHDL in" in logged[-1].text
    (tmp_path / "top.vhd").write_text(SLICED.replace('"00000") + 31\n', '"0000" & "0") + 31\n'))  # two computations
    build = VhdlLanguage().plain(tmp_path, HardwareSources(sources=("top.vhd",), top="top", read_out=READ_OUT), {})
    assert build.beside is not None
    assert "Compute the lower bound" in build.beside.refused[0].hint


def test_a_broken_netlist_is_found_and_a_right_one_is_looked_at_once(tmp_path: Path) -> None:
    """What has no value has zeros in VHDL: a `case` on 'U' takes a branch that no circuit does. Values of which
    parts are assigned elsewhere are kept from what GHDL 2.0 makes of them."""
    build = of(tmp_path, f"case never is when '0' | '1' => {RIGHT} when others => o <= addr; end case;")
    (one,) = build.checks.translated
    checked.check(build, tmp_path, Job())
    source = tmp_path / "top.vhd"
    source.write_text(source.read_text().replace("begin", "begin -- a comment", 1))
    checked.check(build, Path("/nowhere"), Unable())
    verilog = one.made.sources[0]
    broken = tmp_path / "broken.v"
    broken.write_text(verilog.read_text().replace(" ^ ", " | "))
    wrong = replace(one, made=replace(one.made, sources=(broken,)))
    with pytest.raises(WorkbenchError, match="'o' is"):
        checked.check(replace(build, checks=HdlChecks(translated=(wrong,))), tmp_path, Job())


ENDLESS = """
    function endless(word : std_logic_vector) return string is
        variable count : natural := 0;
    begin
        while word(0) = '1' loop count := (count + 1) mod 1000; end loop;
        return integer'image(count);
    end function;
"""


def test_a_simulation_that_stands_still_ends_the_comparison_and_not_the_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A report that never ends, of which GHDL synthesises nothing."""
    monkeypatch.setattr(checked, "LIMIT_S", 3.0)
    body = "if wr_en = '1' then report endless(wr_data) severity note; end if; o <= addr;"
    text = TOP.replace("{DECLARED}", ENDLESS).replace("{BODY}", body).replace("{BESIDE}", "")
    (tmp_path / "top.vhd").write_text(text)
    build = VhdlLanguage().plain(tmp_path, HardwareSources(sources=("top.vhd",), top="Top", read_out=READ_OUT), {})
    told: list[JobEvent] = []
    checked.check(build, tmp_path, Job(told.append))
    assert told[-1].diagnostic is not None
    assert told[-1].diagnostic.severity == "warning"
    assert "was compared with the VHDL in 0 cycles: it took longer than 3 s" in told[-1].text
    assert "check_vhdl: false" in told[-1].text
    assert any("GHDL simulates the VHDL" in one.text for one in told)


class Unable(Job):
    def run(self, *_: object, **__: object) -> object:  # type: ignore[override]
        raise AssertionError("nothing has to run")


RACE = f"""{HEAD}
entity race is port (clk, rst : in std_logic; a : in unsigned(1 downto 0); q : out std_logic); end entity;
architecture rtl of race is
    -- a shared variable: found
    shared variable found : std_logic;
    signal one : std_logic;
begin
    process (clk) begin
        if rising_edge(clk) then found := a(0); end if;
    end process;
    process (one) begin
        if a(1) = '1' then q <= one and found; else q <= rst; end if;
    end process;
end architecture;
"""
NARROW = f"""{HEAD}
entity narrow is port (clk : in std_logic; a : in unsigned(1 downto 0); q : out std_logic); end entity;
architecture rtl of narrow is
    constant LEAST, MOST : natural := 4;
    signal some : unsigned(a'high downto 0) := "00"; signal one : std_logic;
begin
    process (clk) begin
        if rising_edge(clk) and some /= 0 then one <= '1'; end if;
    end process;
    q <= one when a < MOST else '0';
end architecture;
"""


def side(folder: Path, top: str, text: str) -> HdlSide:
    (folder / f"{top}.vhd").write_text(text)
    return HdlSide((folder / f"{top}.vhd",), top, libraries=("work",))


def test_what_the_vhdl_leaves_open_is_told_as_that_and_the_run_goes_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Two processes that share a variable, and one that reads what it does not wait for."""
    raced = side(tmp_path, "race", RACE)
    build = HdlBuild((), "race", (), checks=HdlChecks(translated=(Comparison(raced, raced),)))
    monkeypatch.setattr(checked, "_kept", lambda *_: Difference(5, "q", 5, "0", "1", said=["NUMERIC_STD: x"]))
    told: list[JobEvent] = []
    checked.check(build, tmp_path, Job(told.append))
    found = [event.diagnostic for event in told if event.diagnostic is not None]
    assert [(d.severity, d.line) for d in found] == [("warning", 3), ("warning", 6), ("warning", 12)]
    assert "differs from a simulation of the VHDL: in cycle 5" in found[0].message
    assert found[1].message == "2 processes share the variable 'found'"
    assert found[2].message == "this process reads a, rst, which its sensitivity list lacks"


def test_what_ghdl_is_known_to_write_wrongly_is_named_and_what_packages_say_is_heard(tmp_path: Path) -> None:
    """Of a number with more bits than a vector GHDL 2.0 compares the low ones; vectors without bits differ from all."""
    original = side(tmp_path, "narrow", NARROW)
    told = [(d.message, d.line) for d in written_wrongly(original, tmp_path)]
    message = "if 'MOST' needs more than 2 bits, GHDL 2.0 compares only its low 2: a possible cause"
    assert told == [(message, 11)]
    original = side(tmp_path, "narrow", NARROW.replace('0) := "00"', '2) := ""'))
    simulation = Simulation(original, tmp_path, tmp_path / "said", zeros=True, asserts=True)
    said = simulation.run(["000", "100"], checked.LIMITS, Job()).said
    assert said[1:] == ((1, 'NUMERIC_STD."/=": null argument detected, returning TRUE'),)
