"""Whether instrumentation of VHDL changes nothing: proved of GHDL's netlists, else simulated by GHDL; and every copy
that is broken is found."""

from dataclasses import replace
from pathlib import Path

import pytest
from memory_port import PLATFORM
from rc_workbench_plugins.vhdl import VhdlLanguage
from tools import NEEDS_GHDL

from workbench.api import HdlBuild, HdlChecks
from workbench.api.equivalence import How, Limits, Proof
from workbench.api.job import Job
from workbench.model.application import HardwareSources, ReadOut
from workbench.model.diagnostic import Cancelled, WorkbenchError
from workbench.session.make.proving import prove_workspace
from workbench.session.open.examples import EXAMPLES, copy_example
from workbench.session.open.opening import open_workspace
from workbench.session.program.plugins import load_plugins

pytestmark = NEEDS_GHDL
HEAD = "library ieee; use ieee.std_logic_1164.all; use ieee.numeric_std.all;\n"
TYPES = f"""{HEAD}
package types is
    type kind_t is (Add, Turn, Keep);
    type bytes_t is array (natural range <>) of unsigned(7 downto 0);
    type deep_t is record
        one : std_logic;
        three : unsigned(2 downto 0);
    end record;
    type both_t is record
        deep : deep_t;
        kind : kind_t;
        some : bytes_t(0 to 1);
        small : natural range 2 to 5;
        signed_one : integer range -3 to 3;
        truth : boolean;
    end record;
end package;
"""
CORE = f"""{HEAD}
use work.types.all;
entity core is
    generic (FIRST : unsigned(7 downto 0) := x"05");
    port (clk, clk2, rst, go : in std_logic; i : in unsigned(7 downto 0); both : in both_t;
          sum : out unsigned(7 downto 0); seen : out both_t);
end entity;
architecture rtl of core is
    type state_t is (idle, adding, last, never);
    type rom_t is array (0 to 1) of unsigned(7 downto 0);
    constant ROM : rom_t := (x"03", x"07");
    signal state : state_t := idle;
    signal kept : bytes_t(0 to 3);
    signal other : unsigned(7 downto 0) := FIRST;
    signal total : unsigned(7 downto 0);
begin
    process (clk, rst)
        variable steps : unsigned(3 downto 0) := "0011";
    begin
        if rst = '1' then
            state <= idle; total <= x"00";
        elsif rising_edge(clk) then
            case state is
                when idle =>
                    if go = '1' then
                        --pragma recap start overhead(init)
                        state <= adding;
                    end if;
                when adding =>
                    --pragma recap add work(): i /= 0
                    total <= total + i + rom(to_integer(i(0 downto 0)));
                    state <= last;
                    steps := steps + 1;
                when last =>
                    --pragma recap same work(): i = total
                    if i = x"5a" and other = x"c3" then state <= never; else state <= idle; end if;
                when others => state <= idle;
            end case;
            seen.small <= 2 + to_integer(steps(0 downto 0));
        end if;
    end process;
    process (clk2)
    begin
        if rising_edge(clk2) then
            kept(to_integer(i(1 downto 0))) <= total;
            if go = '1' and both.kind = Turn then
                --pragma recap turn work()
                other <= other(6 downto 0) & other(7);
            end if;
        end if;
    end process;
    sum <= total;
    seen.kind <= both.kind;
    seen.deep.one <= both.deep.three(2);
    seen.deep.three <= "01" & both.deep.one;
    seen.some <= (kept(to_integer(total(1 downto 0))) xor other, both.some(0));
    seen.signed_one <= both.signed_one;
    seen.truth <= both.truth and state = never;
end architecture;
"""
TOP = f"""{HEAD}
use work.types.all;
entity top is
    port (
        clk, Clk2, rst : in std_logic; addr : in std_logic_vector(15 downto 0); wr_en, rd_en : in std_logic;
        wr_data : in std_logic_vector(31 downto 0); rd_data : out std_logic_vector(31 downto 0);
        both : in both_t; sums : out unsigned(15 downto 0); seen, seen2 : out both_t
    );
end entity;
architecture rtl of top is
begin
    one : entity work.core
        port map (clk, clk2, rst, wr_data(0), unsigned(wr_data(15 downto 8)), both, sums(7 downto 0), seen);
    two : entity work.core generic map (x"06")
        port map (clk, clk2, rst, wr_data(1), unsigned(wr_data(23 downto 16)), both, sums(15 downto 8), seen2);
    process (clk)
    begin
        if rising_edge(clk) then
            if rd_en = '1' then
                --pragma recap answer work()
                rd_data <= x"000" & "000" & wr_en & addr;
            end if;
        end if;
    end process;
end architecture;
"""
LIMITS = Limits(cycles=3000, simulate_s=10)


def instrumented(folder: Path, top: str = TOP) -> HdlBuild:
    for name, text in (("types.vhd", TYPES), ("core.vhd", CORE), ("top.vhd", top)):
        (folder / name).write_text(text)
    hardware = HardwareSources(
        sources=("core.vhd", "top.vhd", "types.vhd"), top="top", read_out=ReadOut(first=0, last=15)
    )
    return VhdlLanguage().instrument(folder, hardware, PLATFORM, {}, folder / "made")


def proved(build: HdlBuild, module: str = "", limits: Limits = LIMITS) -> Proof:
    return VhdlLanguage().prove(build, Path("/"), limits, Job(), module)


@pytest.fixture(scope="module")
def build(tmp_path_factory: pytest.TempPathFactory) -> HdlBuild:
    return instrumented(tmp_path_factory.mktemp("design"))


def test_every_entity_is_proved_with_each_of_its_generics(build: HdlBuild) -> None:
    proof = proved(build)
    shown = [(one.module, one.how) for one in proof.verdicts]
    assert shown == [("top", How.PROVED), ("core (one)", How.PROVED), ("core (two)", How.PROVED)]
    assert proof.holds


def test_the_example_in_vhdl_is_proved(tmp_path: Path) -> None:
    path = copy_example(EXAMPLES[0], tmp_path).with_name("vhdl.workbench.yaml")
    proof = prove_workspace(open_workspace(path, load_plugins()), {}, Job())
    assert [(one.module, one.how) for one in proof.verdicts] == [
        ("pdf2d_top", How.PROVED),
        ("pdf2d_core", How.PROVED),
    ]


def test_one_entity_may_be_asked_for(build: HdlBuild) -> None:
    assert [one.module for one in proved(build, "core").verdicts] == ["core (one)", "core (two)"]
    with pytest.raises(WorkbenchError, match=r"no module 'cor'.*core"):
        proved(build, "cor")


def test_a_cancel_ends_it(build: HdlBuild) -> None:
    job = Job()
    job.cancel()
    with pytest.raises(Cancelled):
        VhdlLanguage().prove(build, Path("/"), LIMITS, job)


@pytest.mark.parametrize(
    ("was", "becomes", "signal"),
    [
        ("total <= total + i", "total <= total - i", "sum"),
        ("state <= adding;", "state <= last;", "state"),
        ('other = x"c3"', 'other = x"c4"', "state"),
        (":= FIRST", ':= x"09"', "other"),
        ('(x"03", x"07")', '(x"03", x"06")', "sum"),
        ("(clk2)", "(clk)", "other_register's clock (clk in place of clk2)"),
        ("rising_edge(clk2)", "falling_edge(clk2)", "kept"),
        ('"0011"', '"0111"', "steps"),
        ('total <= x"00";', 'total <= x"01";', "sum's reset value"),
        ("xor other", "or other", "seen_some"),
    ],
)
def test_no_broken_copy_is_called_proved(build: HdlBuild, tmp_path: Path, was: str, becomes: str, signal: str) -> None:
    """Whatever an edit of ours could spoil: values, states, clocks, resets, what is there at first."""
    verdicts = proved(broken(build, tmp_path, was, becomes), "core", replace(LIMITS, cycles=0)).verdicts
    assert len(verdicts) == 2
    for one in verdicts:
        assert one.how is How.DIFFERS
        assert signal in " ".join(one.signals), one


def test_a_difference_is_shown_by_the_cycle_and_the_outputs_where_it_is_met(build: HdlBuild, tmp_path: Path) -> None:
    first, *cores = proved(broken(build, tmp_path, "xor other", "or other")).verdicts
    assert first.how is How.PROVED
    for one in cores:
        assert one.how is How.DIFFERS
        assert one.cycle is not None
        assert one.cycles == one.cycle + 1
        assert [signal.split(" ")[0] for signal in one.signals] == ["seen", "seen2"]


@pytest.mark.parametrize("broken_too", [False, True])
def test_what_does_not_synthesise_is_simulated_by_ghdl_itself(
    build: HdlBuild, tmp_path: Path, broken_too: bool
) -> None:
    was, becomes = "sum <= total;", "sum <= total; process begin wait for 10 ns; end process;"
    copy = broken(build, tmp_path, was, becomes.replace("<= total", '<= total + x"80"') if broken_too else becomes)
    assert copy.checks.compared is not None
    original = broken(build, tmp_path / "original", was, becomes, "original").checks.compared
    assert original is not None
    (one,) = proved(replace(copy, checks=HdlChecks(replace(copy.checks.compared, original=original.original)))).verdicts
    assert one.why.startswith("GHDL does not synthesise it: core.vhd:")
    assert (one.module, one.how) == ("top", How.DIFFERS if broken_too else How.SIMULATED)
    assert one.cycles >= 200 or broken_too  # as many as there is time for
    assert [signal.split(" ")[0] for signal in one.signals] == (["sums"] if broken_too else [])


def broken(build: HdlBuild, folder: Path, was: str, becomes: str, which: str = "made") -> HdlBuild:
    """With something else in the copy of the core."""
    compared = build.checks.compared
    assert compared is not None
    side = compared.made if which == "made" else compared.original
    (core,) = (path for path in side.sources if path.name == "core.vhd")
    text = core.read_text()
    assert was in text
    folder.mkdir(exist_ok=True)
    (folder / "core.vhd").write_text(text.replace(was, becomes))
    side = replace(side, sources=tuple(folder / "core.vhd" if path == core else path for path in side.sources))
    changed = replace(compared, made=side) if which == "made" else replace(compared, original=side)
    return replace(build, checks=replace(build.checks, compared=changed))
