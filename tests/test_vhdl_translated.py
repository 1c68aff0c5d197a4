"""Verilog of VHDL does what GHDL's own simulator does, in every cycle, for all that GHDL 2.0 writes wrongly."""

import random
import re
from pathlib import Path

import pytest
from answers import refusal
from rc_workbench_plugins.vhdl.syntax import read_file
from rtl_simulator import Cycle, Simulator, simulate
from tools import NEEDS_GHDL
from vhdl_made import DUT, HEAD, behaviour

from workbench.hdl.ghdl import Design, synthesised
from workbench.model.diagnostic import WorkbenchError
from workbench.system.confine import read_only

pytestmark = NEEDS_GHDL
#: Signs, directions, defaults, beginnings, wide constants, parts at an index, and a signal called as what gives it.
MADE = f"""{HEAD}
entity inner is port (clk : in std_logic; q : out std_logic); end;
architecture rtl of inner is signal s : std_logic := '0'; begin
    process (clk) begin if rising_edge(clk) then s <= not s; end if; end process;
    q <= s;
end;
{HEAD}
entity made is
    port (clk, rst : in std_logic; i : in std_logic_vector(63 downto 0); o : out std_logic_vector(63 downto 0));
end entity;
{HEAD}
architecture rtl of made is
    type table_t is array (0 to 3) of unsigned(3 downto 0);
    type state_t is (one, two, three);
    signal table : table_t := (x"1", x"2", x"3", x"4");
    signal a, b, least, most, size : signed(7 downto 0);
    signal kept : unsigned(7 downto 0) := x"a5";
    signal state : state_t := three;
    type turn_t is (left, right);
    signal turn : turn_t := right;
    signal turned : std_logic_vector(2 downto 0) := "110";
    type pair_t is record low : unsigned(3 downto 0); high : unsigned(7 downto 0); end record;
    signal pair : pair_t := (low => x"9", high => x"5c");
    signal word : signed(39 downto 0);
    signal bits : std_logic_vector(15 downto 0) := x"8001";
    signal flip_q : std_logic := '0';
begin
    flip : entity work.inner port map (clk, flip_q);
    a <= signed(i(7 downto 0));
    b <= signed(i(15 downto 8)) or to_signed(1, 8);
    least <= minimum(resize(a * b, 8), b) xor to_signed(to_integer(a * b), 8);
    most <= maximum(a, b);
    size <= abs a;
    word <= resize(a, 40) rem (-3) when i(16) = '1' else to_signed(-5, 40);
    process (clk, rst)
    begin
        if rst = '1' then
            kept <= x"5a";
        elsif rising_edge(clk) then
            kept <= kept + unsigned(a);
        end if;
    end process;
    process (clk)
    begin
        if rising_edge(clk) then
            table(to_integer(unsigned(i(17 downto 16)))) <= unsigned(i(21 downto 18));
            bits(to_integer(unsigned(i(21 downto 18)))) <= i(22);
            if rst = '1' then
                table <= (others => x"9");
            end if;
            pair.high <= pair.high + 1;
            if rst = '1' then
                pair.low <= pair.high(3 downto 0);
            end if;
            case state is
                when one => state <= two;
                when two => if i(23) = '1' then state <= three; end if;
                when others => state <= one;
            end case;
            case turn is  -- a choice of one bit
                when left => turned <= i(29 downto 27);
                    if i(31) = '1' then turn <= right; end if;
                when others => turn <= left;
            end case;
        end if;
    end process;
    o(7 downto 0) <= std_logic_vector(a mod b);
    o(15 downto 8) <= std_logic_vector(a rem b);
    o(23 downto 16) <= std_logic_vector(a / b);
    o(31 downto 24) <= std_logic_vector(shift_right(a, to_integer(unsigned(i(26 downto 24)))));
    o(39 downto 32) <= std_logic_vector(least xor signed(rotate_left(unsigned(most), 3)) xor size);
    o(47 downto 40) <= std_logic_vector(kept xor pair.high xor resize(pair.low, 8) xor
        resize(table(to_integer(unsigned(i(17 downto 16)))), 8));
    o(55 downto 48) <= std_logic_vector(word(39 downto 36) & word(3 downto 0));
    with state select o(59 downto 56) <= x"1" when one, x"2" when two, x"8" when others;
    o(60) <= '1' when a < b else '0';
    o(61) <= bits(to_integer(unsigned(i(30 downto 27))));
    o(62) <= '1' when i ?= x"0-1-3-5-7-9-b-d-" else '0';
    o(63) <= flip_q xor xor turned;
end architecture;
"""


def test_all_that_is_fixed_is_right_in_every_cycle(tmp_path: Path) -> None:
    (tmp_path / "made.vhd").write_text(MADE)
    (tmp_path / "dut.v").write_text(DUT)
    (tmp_path / "made.v").write_text(synthesised(Design((str(tmp_path / "made.vhd"),), "made")))
    program = Simulator(tmp_path).build([tmp_path / "made.v", tmp_path / "dut.v"], "dut")
    draw = random.Random(3)
    given = [(int(n in (60, 61)), draw.getrandbits(64)) for n in range(200)]
    seen = simulate(program, [Cycle(rst=rst, stimulus=i) for rst, i in given]).out.tolist()
    assert seen == behaviour(tmp_path, [tmp_path / "made.vhd"], given)


def test_an_edge_that_is_used_as_a_value_is_refused_at_its_line(tmp_path: Path) -> None:
    text = f"""{HEAD}entity made is port (clk, d : in std_logic; q : out std_logic); end;
architecture rtl of made is signal seen : boolean; begin
    seen <= rising_edge(clk) and d = '1';
    q <= '1' when seen else '0';
end;
"""
    (tmp_path / "made.vhd").write_text(text)
    with pytest.raises(WorkbenchError) as told:
        synthesised(Design((str(tmp_path / "made.vhd"),), "made"))
    assert [(d.message, d.line) for d in told.value.diagnostics] == [
        ("GHDL writes no Verilog for a clock edge that is used as a value", 6)
    ]


def test_an_array_that_ghdl_takes_for_a_memory_is_told_as_that(tmp_path: Path) -> None:
    """Words that are written by an index and read all at once; written in a loop they are made."""
    text = f"""{HEAD}entity made is port (
    clk, w : in std_logic; at : in unsigned(0 downto 0); d : in unsigned(7 downto 0);
    q : out unsigned(15 downto 0)); end;
architecture rtl of made is type words_t is array (0 to 1) of unsigned(7 downto 0); signal words : words_t; begin
    process (clk) begin
        if rising_edge(clk) then
            if w = '1' then words(to_integer(at)) <= d; end if;
        end if;
    end process;
    q <= words(0) & words(1);
end;
"""
    (tmp_path / "made.vhd").write_text(text)
    with pytest.raises(WorkbenchError, match="treats an array as a memory") as told:
        synthesised(Design((str(tmp_path / "made.vhd"),), "made"))
    line = text.splitlines().index("        if rising_edge(clk) then") + 1
    assert [d.line for d in told.value.diagnostics] == [line]
    loop = "for i in words'range loop if w = '1' and at = i then words(i) <= d; end if; end loop;"
    (tmp_path / "made.vhd").write_text(text.replace("if w = '1' then words(to_integer(at)) <= d; end if;", loop))
    assert "posedge clk" in synthesised(Design((str(tmp_path / "made.vhd"),), "made"))


def test_an_assertion_ends_a_simulation_where_it_is_a_failure(tmp_path: Path) -> None:
    """Others tell something and go on in VHDL, and what PSL says is no hardware; GHDL 2.0 ends it with each."""
    text = f"""{HEAD}entity made is port (clk, a : in std_logic; q : out std_logic); end;
architecture rtl of made is begin
    assert a = '0' report "; severity failure" severity error;
    process (clk) begin
        if rising_edge(clk) then
            q <= a;
            assert a = '0' report "a is 100% set"
                severity failure;
        end if;
    end process;
    default clock is rising_edge(clk);
    seen : cover {{a; not a}};
    never_a : assert always (a -> next not a);
end;
"""
    (tmp_path / "made.vhd").write_text(text)
    netlist = synthesised(Design((str(tmp_path / "made.vhd"),), "made"))
    assert re.findall(r"fatal\(.*|.*assert .*", netlist) == ['fatal(1, "a is 100  set");']
    assert not read_file(tmp_path / "made.vhd", "work", 0).faults()


def test_a_number_of_more_bits_than_a_vector_is_compared_whole(tmp_path: Path) -> None:
    """GHDL 2.0 compares the number's low bits."""
    text = f"""{HEAD}entity made is port (a : in unsigned(1 downto 0); s : in signed(1 downto 0);
    q : out std_logic_vector(5 downto 0)); end;
architecture rtl of made is begin
    q <= (0 => '1', others => '0') when a = 4 else (1 => '1', others => '0') when a /= 5 and s < 1_0
    else (2 => '1', others => '0') when a >= 3+1 else (3 => '1', others => '0') when a > 3 else (others => '1');
end;
"""
    (tmp_path / "made.vhd").write_text(text)
    netlist = synthesised(Design((str(tmp_path / "made.vhd"),), "made"))
    found = [line.partition(" = ")[2] for line in netlist.splitlines() if re.search(r"= 1'b[01];|= \$unsigned", line)]
    assert found == ["1'b0;", "1'b1;", "1'b1;", "$unsigned(a) >= $unsigned(2'b00);", "$unsigned(a) > $unsigned(2'b11);"]


def test_a_port_of_an_empty_range_gets_a_bit(tmp_path: Path) -> None:
    """GHDL gives it one where it is declared, and digits of none where it is connected."""
    text = f"""{HEAD}entity inner is generic (W : natural);
    port (i : in std_logic_vector(W - 1 downto 0); o : out std_logic); end;
architecture rtl of inner is begin o <= '1' when i'length = 0 else '0'; end;
{HEAD}entity made is generic (W : natural := 0);
    port (i : in std_logic_vector(W - 1 downto 0); o : out std_logic); end;
architecture rtl of made is begin one : entity work.inner generic map (W) port map (i, o); end;
"""
    (tmp_path / "made.vhd").write_text(text)
    netlist = synthesised(Design((str(tmp_path / "made.vhd"),), "made"))
    assert "inner_" in netlist
    assert not re.search(r"'b(?!\w)", netlist)


SLICES = f"""{HEAD}
entity made is
    port (clk : in std_logic; a : in unsigned(5 downto 0); x : in std_logic_vector(31 downto 0);
          o : out std_logic_vector(1599 downto 0));
end;
architecture rtl of made is
begin
    process (clk)
        variable at : natural;
    begin
        if rising_edge(clk) then
            o <= (others => '0');
            {{0}}
        end if;
    end process;
end;
"""
#: What GHDL cannot synthesise, and as the hint says to write it.
REWRITTEN = {
    "o(to_integer(a & 5x\"00\") + 31 downto to_integer(a & 5x\"00\")) <= x;":
        "at := to_integer(a & 5x\"00\"); o(at + 31 downto at) <= x;",
    "o(32 * (to_integer(a) / 2) + 31 downto 32 * (to_integer(a) / 2)) <= x;":
        "at := 32 * (to_integer(a) / 2); o(at + 31 downto at) <= x;",
    "o(to_integer(a) downto 0) <= (others => '1');":
        "for i in o'range loop if i <= to_integer(a) then o(i) <= '1'; end if; end loop;",
    "at := to_integer(a); while at > 3 loop at := at - 3; end loop; o(at) <= '1';":
        "at := to_integer(a); for i in 0 to 31 loop exit when at <= 3; at := at - 3; end loop; o(at) <= '1';",
    "at := 0; for i in 0 to to_integer(a) loop at := at + 1; end loop; o(at) <= '1';":
        "at := 0; for i in 0 to 63 loop if i <= to_integer(a) then at := at + 1; end if; end loop; o(at) <= '1';",
    "o(31 downto 0) <= std_logic_vector(to_unsigned(2 ** to_integer(a), 32));":
        "o(31 downto 0) <= std_logic_vector(shift_left(to_unsigned(1, 32), to_integer(a)));",
}  # fmt: skip


@pytest.mark.parametrize("refused", REWRITTEN)
def test_what_ghdl_refuses_is_told_with_how_to_write_it(tmp_path: Path, refused: str) -> None:
    source = tmp_path / "made.vhd"
    source.write_text(SLICES.format(refused))
    problem = refusal(synthesised, Design((str(source),), "made"))
    assert source.read_text().splitlines()[(problem.line or 0) - 1].strip() == refused
    assert any(how in problem.hint for how in ("lower bound", "as a loop", "constant range", "shift_left"))
    source.write_text(SLICES.format(REWRITTEN[refused]))
    assert "module made" in synthesised(Design((str(source),), "made"))


CALLED = f"""{HEAD}
package pairs is
    type pair_t is array (1 downto 0) of std_logic_vector(3 downto 0);
    function parted(v : std_logic_vector(7 downto 0)) return pair_t;
end package;
package body pairs is
    function parted(v : std_logic_vector(7 downto 0)) return pair_t is
        variable found : pair_t;
    begin
        for i in 0 to 1 loop found(i) := v(4 * i + 3 downto 4 * i); end loop;
        return found;
    end function;
end package body;
{HEAD} use work.pairs.all;
entity flip is port (i : in pair_t; q : out pair_t); end;
architecture rtl of flip is begin q <= (not i(0), i(1)); end;
{HEAD} use work.pairs.all;
entity made is port (i : in std_logic_vector(7 downto 0); o : out std_logic_vector(7 downto 0)); end;
architecture rtl of made is
    signal given : std_logic_vector(7 downto 0);
    signal mapped, q : pair_t;
begin
    given <= i;
    mapped <= parted(given);
    one : entity work.flip port map (i => {{0}}, q => q);
    o <= q(1) & q(0);
end;
"""


def test_a_function_in_a_port_map_at_which_ghdl_crashes_is_told(tmp_path: Path) -> None:
    source = tmp_path / "made.vhd"
    source.write_text(CALLED.format("mapped"))
    assert "module made" in synthesised(Design((str(source),), "made"))
    source.write_text(CALLED.format("parted(given)"))
    with pytest.raises(WorkbenchError, match="called in a port map: assign the value to a signal"):
        synthesised(Design((str(source),), "made"))


BY_COMPONENT = f"""{HEAD}
entity flip is port (i : in std_logic; q : out std_logic); end;
architecture rtl of flip is begin q <= not i; end;
{HEAD}
entity made is port (i : in std_logic; o : out std_logic); end;
architecture rtl of made is
    signal one_q : std_logic;
    component flip is port (i : in std_logic; q : out std_logic); end component;
begin
    one : flip port map (i => i, q => one_q);
    o <= one_q xor i;
end;
"""


def test_a_signal_called_as_a_components_instance_and_its_port_is_written_once(tmp_path: Path) -> None:
    (tmp_path / "made.vhd").write_text(BY_COMPONENT)
    netlist = synthesised(Design((str(tmp_path / "made.vhd"),), "made"))
    assert netlist.count("wire one_q;") == 1
    assert len(re.findall(r"assign one_q =|\.q\(one_q\)", netlist)) == 1


def test_a_signal_called_as_another_instance_and_its_port_is_told(tmp_path: Path) -> None:
    """One that takes just what that port gives out is written once; see `flip_q` above."""
    text = MADE.replace("(clk, flip_q);", "(clk, other); flip_q <= not other;").replace(
        "signal flip_q", "signal other, flip_q"
    )
    (tmp_path / "made.vhd").write_text(text)
    with pytest.raises(WorkbenchError, match="GHDL writes two signals of the design as 'flip_q'"):
        synthesised(Design((str(tmp_path / "made.vhd"),), "made"))


def test_a_component_without_a_body_keeps_its_generics(tmp_path: Path) -> None:
    text = f"""{HEAD}entity made is port (i : in std_logic; o : out std_logic); end;
architecture rtl of made is
    component box is generic (A : natural := 3; B : bit := '1'); port (i : in std_logic; o : out std_logic);
    end component;
begin one : box generic map (A => 5) port map (i, o); end;
"""
    (tmp_path / "made.vhd").write_text(text)
    netlist = synthesised(Design((str(tmp_path / "made.vhd"),), "made"))
    assert "#(parameter A = 0,\n    B = 0)" in netlist


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("""architecture rtl of made is begin
    process (e) variable v : std_logic_vector(3 downto 0) := std_logic_vector'("10" & "11");
    begin if e = '1' then v(2 downto 1) := "01"; end if; q <= v; end process;
end;""", "direction mismatch in slice"),
        ("""architecture rtl of made is
    package inner is constant V : std_logic_vector(3 downto 0) := "1010"; end package;
begin
    q <= inner.V;
end;""", "GHDL cannot synthesise this yet: a package within another unit"),
    ],
)  # fmt: skip
def test_what_ghdl_refuses_though_it_is_vhdl_is_told_as_its_limit(text: str, said: str, tmp_path: Path) -> None:
    head = f"{HEAD}entity made is port (e : in std_logic; q : out std_logic_vector(3 downto 0)); end;"
    (tmp_path / "made.vhd").write_text(f"{head}\n{text}\n")
    one = refusal(synthesised, Design((str(tmp_path / "made.vhd"),), "made"))
    assert one.message == said
    assert "may be correct VHDL: GHDL's synthesis has limits here" in one.hint


READS = f"""{HEAD} use std.textio.all;
entity made is port (clk : in std_logic; a : in unsigned(0 downto 0); q : out std_logic_vector(7 downto 0)); end;
architecture rtl of made is
    type mem_t is array (0 to 1) of std_logic_vector(7 downto 0);
    impure function init return mem_t is
        file f : text open read_mode is "init.txt";
        variable l : line;
        variable m : mem_t;
    begin
        for i in mem_t'range loop readline(f, l); hread(l, m(i)); end loop;
        return m;
    end;
    signal mem : mem_t := init;
begin
    q <= mem(to_integer(a)) when rising_edge(clk);
end;
"""


@pytest.mark.skipif(not read_only(), reason="without bubblewrap nothing is read")
def test_a_text_without_a_newline_at_its_end_is_read_whole(tmp_path: Path) -> None:
    text, source = tmp_path / "init.txt", tmp_path / "made.vhd"
    text.write_text("5a\nc3")
    source.write_text(READS)
    netlist = synthesised(Design((str(source),), "made", folder=tmp_path))
    assert "01011010" in netlist
    assert "11000011" in netlist
    assert text.read_text() == "5a\nc3"
