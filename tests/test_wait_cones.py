"""Which blocks' registers end a wait, where the way out of it has guards: in Verilog, in VHDL, and in both."""

import re
from pathlib import Path

import pytest
from memory_port import PLATFORM
from rc_workbench_plugins.verilog import VerilogLanguage
from rc_workbench_plugins.vhdl import MixedLanguage, VhdlLanguage
from tools import NEEDS_GHDL

from workbench.api.job import Job
from workbench.model.application import HardwareSources, ReadOut

_PORTS = """input wire clk, input wire rst, input wire [15:0] addr, input wire wr_en, input wire rd_en,
    input wire [31:0] wr_data, output reg [31:0] rd_data, input wire [31:0] in, output wire [63:0] out"""
#: Every wait is called by the registers that end it.
_GUARDS = f"""
module top ({_PORTS});
    reg a, b, c, d;
    always @(posedge clk) begin : of_a a <= wr_en; end
    always @(posedge clk) begin : of_b b <= wr_en; end
    always @(posedge clk) begin : of_c c <= wr_en; end
    always @(posedge clk) begin : of_d d <= wr_en; end
    localparam FIRST = 0, SECOND = 1, LAST = 2;
    reg [1:0] around_s;
    always @(posedge clk) begin : around
        if (rst) around_s <= FIRST;
        else if (a) case (around_s)
            FIRST: begin
                //pragma recap w_ab wait_recv(late_sender, $CPU, x)
                if (b) around_s <= SECOND;
            end
            default: begin
                //pragma recap w_acd wait_recv(late_sender, $CPU, y)
                if (c) begin if (d) around_s <= FIRST; end
            end
        endcase
    end
    reg [1:0] nested_s;
    always @(posedge clk) begin : nested
        case (nested_s)
            FIRST: begin
                //pragma recap w_abc wait_recv(late_sender, $CPU, x)
                case (a) 1: nested_s <= SECOND; default: if (b) nested_s <= {{1'b0, c}}; endcase
            end
            default: begin
                //pragma recap w_d wait_recv(late_sender, $CPU, y)
                nested_s <= d ? FIRST : SECOND;
            end
        endcase
    end
    reg [1:0] next_s, next;
    always @* begin
        next = next_s;
        case (next_s)
            FIRST: if (a) next = SECOND;
            SECOND: if (b) next = LAST;
            default: next = c ? FIRST : next_s;
        endcase
    end
    always @(posedge clk) begin : next_state
        next_s <= next;
        if (next_s == FIRST) begin
            //pragma recap w_a wait_recv(late_sender, $CPU, x)
        end else if (next_s == SECOND && !rst) begin
            //pragma recap w_b wait_recv(late_sender, $CPU, y)
        end else begin
            //pragma recap w_bc wait_recv(late_sender, $CPU, z)
        end
    end
    reg [1:0] parted_s;
    always @(posedge clk) begin : parted
        case (parted_s)
            FIRST: begin
                //pragma recap w_ad wait_recv(late_sender, $CPU, x)
            end
            SECOND: begin
                //pragma recap w_bd wait_recv(late_sender, $CPU, y)
            end
            default: begin
                //pragma recap work work()
            end
        endcase
        if (d) case (parted_s)
            FIRST: if (a) parted_s <= SECOND;
            SECOND: if (b) parted_s <= LAST;
            default: if (c) parted_s <= FIRST;
        endcase
    end
    always @(posedge clk) begin : mark
        //pragma recap w_cd wait_recv(late_sender, $CPU, x): c & !d
        //pragma recap other work()
        rd_data <= around_s;
    end
    assign out = nested_s + parted_s;
endmodule
"""
_VERILOG_PART = """
module part (input wire clk, input wire rst, input wire go, input wire [3:0] limit, output reg done);
    reg [3:0] count;
    reg busy;
    always @(posedge clk) begin : counter
        done <= 0;
        if (rst) busy <= 0;
        else if (!busy) begin
            //pragma recap idle wait_recv(late_sender, top.starter, go)
            busy <= go;
            count <= 0;
        end else if (count != limit) begin
            //pragma recap counts wait_recv(late_sender, top.starter, limit)
            count <= count + 1;
        end else begin
            //pragma recap ends work()
            busy <= 0;
            done <= 1;
        end
    end
endmodule
"""
_HEAD = "library ieee; use ieee.std_logic_1164.all; use ieee.numeric_std.all;\n"
_VHDL_PART = f"""{_HEAD}
entity part is
    port (clk, rst, Go : in std_logic; limit : in unsigned(3 downto 0); done : out std_logic);
end entity;
architecture rtl of part is
    signal count : unsigned(3 downto 0);
begin
    counter : process (clk)
        variable busy : std_logic;
    begin
        if rising_edge(clk) then
            done <= '0';
            if rst = '1' then
                busy := '0';
            elsif busy = '0' then
                --pragma recap idle wait_recv(late_sender, top.starter, go)
                busy := Go;
                count <= (others => '0');
            elsif count /= limit then
                --pragma recap counts wait_recv(late_sender, top.starter, limit)
                count <= count + 1;
            else
                --pragma recap ends work()
                busy := '0';
                done <= '1';
            end if;
        end if;
    end process;
end architecture;
"""
_VHDL_TOP = f"""{_HEAD}
entity top is port (
    clk, rst : in std_logic; addr : in std_logic_vector(15 downto 0); wr_en, rd_en : in std_logic;
    wr_data : in std_logic_vector(31 downto 0); rd_data : out std_logic_vector(31 downto 0);
    I : in std_logic_vector(31 downto 0); o : out std_logic_vector(63 downto 0));
end entity;
architecture rtl of top is
    component part is
        port (clk, rst, go : in std_logic; limit : in unsigned(3 downto 0); done : out std_logic);
    end component;
    type state_t is (idle, starts, waits);
    signal state, following : state_t;
    signal start, write, seen, other : std_logic;
    signal limit : unsigned(3 downto 0);
    signal dones : std_logic_vector(1 downto 0);
    alias renamed is other;
begin
    write <= dones(0) and dones(1);
    rd_data <= x"0000" & addr;
    o <= (others => '0');
    setter : process (clk) begin
        if rising_edge(clk) then
            if wr_en = '1' then limit <= unsigned(wr_data(3 downto 0)); end if;
        end if;
    end process;
    comb : process (all) begin
        following <= state;
        case state is
            when idle => if wr_en = '1' and unsigned(addr) = 4 then following <= starts; end if;
            when starts => following <= waits;
            when waits => if write = '1' then following <= idle; end if;
        end case;
    end process;
    starter : process (clk) begin
        if rising_edge(clk) then
            if rst = '1' then state <= idle; else state <= following; end if;
            start <= '0';
            case state is
                when idle =>
                    --pragma recap waitWrite wait_recv(late_sender, $CPU, w)
                    null;
                when starts =>
                    --pragma recap starts work()
                    start <= '1';
                when others =>
                    --pragma recap waitParts wait_recv(barrier, top.part[*], d)
                    null;
            end case;
        end if;
    end process;
    plain : other <= start when rising_edge(clk);
    unnamed : process (clk) begin
        if rising_edge(clk) then
            if renamed = '1' then
                --pragma recap unknown wait_recv(late_sender, top.starter, u)
                seen <= start;
            elsif other = '1' then
                --pragma recap unknownToo wait_recv(late_sender, top.starter, v)
                seen <= '0';
            end if;
        end if;
    end process;
    parts : for k in 0 to 1 generate
        signal mine, done : std_logic;
    begin
        relay : process (clk) begin
            if rising_edge(clk) then
                --pragma recap waitDone wait_recv(barrier, top.part[*], d): done = '0'
                mine <= start;
                dones(k) <= done;
            end if;
        end process;
        one : part port map (clk => clk, rst => rst, go => mine, limit => limit, done => done);
    end generate;
end architecture;
"""
_VERILOG_TOP = f"""
module top ({_PORTS});
    reg start;
    reg [3:0] limit = 3;
    wire one_done, other_done, all_done = one_done & other_done;
    always @(posedge clk) begin : setter if (wr_en) limit <= wr_data[3:0]; end
    always @(posedge clk) begin : starter
        start <= 0;
        if (!all_done) begin
            //pragma recap waitParts wait_recv(barrier, top.part[*], d)
            start <= wr_en;
        end
    end
    part one (.clk(clk), .rst(rst), .go(start), .limit(limit), .done(one_done));
    part other (.clk(clk), .rst(rst), .go(start), .limit(4'd9), .done(other_done));
    assign out = start;
    always @(posedge clk) if (rd_en) rd_data <= limit;
endmodule
"""


def _waits(folder: Path, language: object, **texts: str) -> dict[tuple[str, str], tuple[str, ...]]:
    """What each marked state depends on, of those that say so, by block and name."""
    names = {name: f"{name}.{'vhd' if 'entity' in text else 'v'}" for name, text in texts.items()}
    for name, text in texts.items():
        (folder / names[name]).write_text(text)
    hardware = HardwareSources(sources=tuple(names.values()), top="top", read_out=ReadOut(first=0x3F00, last=0x3F0F))
    build = language.instrument(folder, hardware, PLATFORM, {}, folder / "out", Job())  # type: ignore[attr-defined]
    return {(block.id, state.name): state.depends for block in build.blocks for state in block.states
            if state.index and state.depends}  # fmt: skip


def test_guards_around_and_within_a_branch_end_its_wait(tmp_path: Path) -> None:
    waits = _waits(tmp_path, VerilogLanguage(), top=_GUARDS)
    names = [name for _, name in waits]
    assert sorted(names) == sorted(set(re.findall(r"\bw_\w+", _GUARDS)))
    assert waits == {
        (block, name): tuple(f"top.of_{letter}" for letter in name.removeprefix("w_")) for block, name in waits
    }


def test_what_ends_a_state_without_a_mark_is_known_too(tmp_path: Path) -> None:
    """And a state of a block that is marked to wait nowhere; a block without marks passes on what it is made of."""
    marks = ["idle wait_recv(late_sender, top.starter, go)", "counts wait_recv(late_sender, top.starter, limit)"]
    part = _VERILOG_PART.replace(marks[0], "idle work()").replace(marks[1], "counts work()")
    top = _VERILOG_TOP.replace("//pragma recap waitParts", "//pragma recap parted")
    (tmp_path / "top.v").write_text(top + part)
    hardware = HardwareSources(sources=("top.v",), top="top", read_out=ReadOut(first=0x3F00, last=0x3F0F))
    build = VerilogLanguage().instrument(tmp_path, hardware, PLATFORM, {}, tmp_path / "out", Job())
    depends = {(block.id, state.name): state.depends for block in build.blocks for state in block.states}
    assert depends["top.setter", "unclassified"] == ("$CPU",)
    assert depends["top.starter", "unclassified"] == ("top.one.counter", "top.other.counter")
    assert depends["top.one.counter", "idle"] == ("top.starter",)
    assert depends["top.one.counter", "counts"] == ("top.setter",)
    assert depends["top.other.counter", "counts"] == ()


_OF_PARTS = {
    ("top.starter", "waitWrite"): ("$CPU",),
    ("top.starter", "waitParts"): ("top.parts[0].relay", "top.parts[1].relay"),
    ("top.parts[0].relay", "waitDone"): ("top.parts[0].one.counter",),
    ("top.parts[1].relay", "waitDone"): ("top.parts[1].one.counter",),
    ("top.parts[0].one.counter", "idle"): ("top.parts[0].relay",),
    ("top.parts[1].one.counter", "idle"): ("top.parts[1].relay",),
    ("top.parts[0].one.counter", "counts"): ("top.setter",),
    ("top.parts[1].one.counter", "counts"): ("top.setter",),
}


@NEEDS_GHDL
@pytest.mark.parametrize("part", [_VHDL_PART, _VERILOG_PART], ids=["vhdl", "mixed"])
def test_a_wait_in_vhdl_says_whose_registers_end_it(part: str, tmp_path: Path) -> None:
    """What ends by a register of no block, or by another name of a signal, is not known. Parsers may take `write` for a
    procedure of a library."""
    language = VhdlLanguage() if part is _VHDL_PART else MixedLanguage()
    assert _waits(tmp_path, language, part=part, top=_VHDL_TOP) == _OF_PARTS


@NEEDS_GHDL
def test_iterations_that_ghdl_numbers_otherwise_are_not_mistaken(tmp_path: Path) -> None:
    """Only one of two iterations has a process: which of the signals it is about cannot be said."""
    begin, end = "relay : process (clk) begin", "one : part port map (clk"
    top = _VHDL_TOP.replace(begin, f"some : if k = 1 generate {begin}").replace(end, f"end generate; {end}")
    assert _waits(tmp_path, VhdlLanguage(), part=_VHDL_PART, top=top) == {
        ("top.starter", "waitWrite"): ("$CPU",),
        ("top.starter", "waitParts"): ("top.parts[1].some.relay",),
        ("top.parts[0].one.counter", "counts"): ("top.setter",),
        ("top.parts[1].one.counter", "counts"): ("top.setter",),
    }


@NEEDS_GHDL
def test_a_wait_in_verilog_ends_by_entities_registers(tmp_path: Path) -> None:
    assert _waits(tmp_path, MixedLanguage(), part=_VHDL_PART, top=_VERILOG_TOP) == {
        ("top.starter", "waitParts"): ("top.one.counter", "top.other.counter"),
        ("top.one.counter", "idle"): ("top.starter",),
        ("top.other.counter", "idle"): ("top.starter",),
        ("top.one.counter", "counts"): ("top.setter",),
    }
