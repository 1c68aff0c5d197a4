"""Designs in Verilog and VHDL: one hierarchy of both, its blocks and clocks, and what is told where the two disagree.

That such a design runs as it does in one language is held in `test_pdf2d.py`.
"""

from pathlib import Path

import pytest
from memory_port import PLATFORM
from rc_workbench_plugins.vhdl import MixedLanguage
from tools import NEEDS_GHDL

from workbench.api.equivalence import How, Limits
from workbench.api.job import Job
from workbench.model.application import HardwareSources, ReadOut
from workbench.model.diagnostic import WorkbenchError
from workbench.model.scan import HdlScan
from workbench.session.open.hdl_language import language_of
from workbench.session.program.plugins import load_plugins

pytestmark = NEEDS_GHDL
HEAD = "library ieee; use ieee.std_logic_1164.all; use ieee.numeric_std.all;\n"
#: VHDL over Verilog over VHDL: two workers, each with a leaf.
TOP = f"""{HEAD}
entity top is
  generic (W : integer := 8);
  port (clk, rst : in std_logic; d : in std_logic_vector(W-1 downto 0); q : out std_logic_vector(W-1 downto 0));
end;
architecture rtl of top is
  component Worker is
    generic (WIDTH : integer := 4; NAME : string := "none"; OFFSET : integer := -4);
    port (Clk, rst : in std_logic; Din : in std_logic_vector(WIDTH-1 downto 0);
          Dout : out std_logic_vector(WIDTH-1 downto 0));
  end component;
  type words is array (0 to 2) of std_logic_vector(W-1 downto 0);
  signal x : words;
  signal core_clk : std_logic;
begin
  core_clk <= clk;
  x(0) <= d;
  q <= x(2);
  lanes : for i in 0 to 1 generate
    one : Worker generic map (WIDTH => W, NAME => "hello", OFFSET => i) port map (core_clk, not rst, x(i), x(i+1));
  end generate;
  step : process (clk) begin
    if rising_edge(clk) then
      --pragma recap stepping work()
      null;
    end if;
  end process;
end;
"""
WORKER = """module Worker #(parameter WIDTH = 2, parameter NAME = "", parameter OFFSET = 0)
  (input CLK, input rst, input [WIDTH-1:0] Din, output reg [WIDTH-1:0] Dout);
  localparam LEAVES = NAME == "hello" ? 1 : 0;
  reg going;
  always @(posedge CLK) begin : count
    if (!rst) going <= 0;
    else begin
      //pragma recap counting work(): Din > 3
      Dout <= Din + OFFSET;
    end
  end
  generate if (LEAVES) begin : in
    leaf #(.N(WIDTH), .KIND("odd, and far longer than 64 bits"), .FAST(OFFSET == 1)) l (.clk(~CLK), .a(Din), .b());
  end endgenerate
endmodule
"""
LEAF = f"""{HEAD}
entity leaf is
  generic (N : positive := 3; KIND : string := "even"; FAST : boolean := false; START : unsigned(1 downto 0) := "01");
  port (clk : in std_logic; a : in std_logic_vector(N-1 downto 0); b : out std_logic_vector(N-1 downto 0));
end;
architecture rtl of leaf is
begin
  b <= a;
  quick : if FAST and KIND(1 to 3) = "odd" generate
    tick : process (clk) begin
      if rising_edge(clk) then
        --pragma recap ticking work(): a(0) = '1'
        null;
      end if;
    end process;
  end generate;
end;
"""


def scan(folder: Path, of: str, /, **texts: str) -> HdlScan:
    names = {name: f"{name}.{'vhd' if 'entity' in text else 'v'}" for name, text in texts.items()}
    for name, text in texts.items():
        (folder / names[name]).write_text(text)
    hardware = HardwareSources(sources=tuple(names.values()), top=of, read_out=ReadOut(first=0x8000, last=0x80FF))
    scanned: HdlScan = MixedLanguage().scan(folder, hardware, PLATFORM, {}, Job())
    return scanned


def reported(scanned: HdlScan) -> list[tuple[str | None, int | None, str]]:
    return [(one.file, one.line, one.message) for one in scanned.diagnostics]


def line_of(text: str, part: str) -> int:
    return next(number for number, line in enumerate(text.splitlines(), 1) if part in line)


def test_both_halves_are_one_hierarchy(tmp_path: Path) -> None:
    """The generics' values reach each module, and the parameters' each entity: only the second leaf is fast."""
    scanned = scan(tmp_path, "top", leaf=LEAF, worker=WORKER, top=TOP)
    assert reported(scanned) == []
    assert scanned.instances == (
        ("top", "top"),
        ("top.lanes[0].one", "Worker"),
        ("top.lanes[0].one.in.l", "leaf"),
        ("top.lanes[1].one", "Worker"),
        ("top.lanes[1].one.in.l", "leaf"),
    )
    assert {block.id: block.instances for block in scanned.blocks} == {
        "top.step": ("top.step",),
        "Worker.count": ("top.lanes[0].one.count", "top.lanes[1].one.count"),
        "leaf.tick": ("top.lanes[1].one.in.l.quick.tick",),
    }
    assert {pragma.pragma.name for block in scanned.blocks for pragma in block.pragmas} == {
        "stepping", "counting", "ticking",
    }  # fmt: skip
    assert not any(block.why_not for block in scanned.blocks)
    assert scanned.clocks == (("clk", 4),)  # by another name in VHDL, and turned in Verilog
    assert scanned.resets == (("rst", False),)  # low in Verilog, of what VHDL turns
    assert [(port.name, port.bits) for port in scanned.ports] == [("clk", 1), ("rst", 1), ("d", 8), ("q", 8)]


def test_verilog_over_vhdl_over_verilog(tmp_path: Path) -> None:
    over = """module over (input clk, input rst, input [7:0] d, output [7:0] q);
  top #(.W(8)) inner [1:0] (.clk(clk), .rst(rst), .d({d, d}), .q());
endmodule
"""
    scanned = scan(tmp_path, "over", leaf=LEAF, worker=WORKER, top=TOP, over=over)
    assert reported(scanned) == []
    (tick,) = (block for block in scanned.blocks if block.id == "leaf.tick")
    assert tick.instances == tuple(f"over.inner[{n}].lanes[1].one.in.l.quick.tick" for n in (0, 1))
    assert scanned.clocks == (("clk", 8),)


def test_a_clock_that_a_pll_makes_in_one_language_clocks_blocks_in_the_other(tmp_path: Path) -> None:
    pll = """m : PLLE2_BASE generic map (CLKFBOUT_MULT => 8, CLKOUT0_DIVIDE => 4)
        port map (CLKIN1 => clk, CLKFBIN => fb, CLKFBOUT => fb, CLKOUT0 => core_clk, RST => rst, PWRDWN => '0');"""
    library = "library unisim; use unisim.vcomponents.all;\nentity top"
    top = TOP.replace("entity top", library).replace("core_clk <= clk;", pll).replace("core_clk :", "core_clk, fb :")
    scanned = scan(tmp_path, "top", leaf=LEAF, worker=WORKER, top=top)
    assert {block.id: block.why_not for block in scanned.blocks} == dict.fromkeys(
        ("top.step", "Worker.count", "leaf.tick"), ""
    )
    module = """module over (input clk, input rst, input wr_en, input rd_en, input [15:0] addr, input [31:0] wr_data,
            output [31:0] rd_data, output [7:0] q, output [7:0] r);
        assign rd_data = 0;
        wire fast, fb; reg half;
        PLLE2_BASE #(.CLKFBOUT_MULT(8), .CLKOUT0_DIVIDE(4)) pll (.CLKIN1(clk), .CLKOUT0(fast), .CLKFBOUT(fb),
            .CLKFBIN(fb), .RST(rst), .PWRDWN(1'b0));
        always @(posedge clk) half <= !half;
        part a (.clk(fast), .q(q)), b (.clk(half), .q(r));
    endmodule"""
    part = f"""{HEAD}
    entity part is port (clk : in std_logic; q : buffer unsigned(7 downto 0)); end;
    architecture rtl of part is begin
      count : process (clk) begin
        if rising_edge(clk) then
          --pragma recap going work()
          q <= q + 1;
        end if;
      end process;
    end;\n"""
    scanned = scan(tmp_path, "over", part=part, over=module)
    notes = [one for one in scanned.diagnostics if one.message.startswith("blocks on a clock")]
    assert [(one.message, "{name: pll.CLKOUT0" in one.hint) for one in notes] == [
        ("blocks on a clock that PLLE2_BASE derives from 'clk' count cycles of 'clk': part.count", True),
        ("blocks on a clock that a divider derives from 'clk' count cycles of 'clk': part.count", False),
    ]
    hardware = HardwareSources(sources=("part.vhd", "over.v"), top="over", read_out=ReadOut(first=0x8000, last=0x80FF))
    build = MixedLanguage().instrument(tmp_path, hardware, PLATFORM, {}, tmp_path / "out", Job())
    assert build.read_out is not None
    assert [(one.clock, one.made_of) for one in build.read_out.monitors] == [
        ("clk", ""), ("pll.CLKOUT0", "clk"), ("half", "clk"),
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"Din : in std_logic_vector(WIDTH-1": "Din : in std_logic_vector(WIDTH-2", "x(i),": "x(i)(W-2 downto 0),"},
         "the port 'Din' of the Verilog module 'Worker' has 8 bits, but 7 here"),
        ({"(Clk, rst :": "(Clk, rts :"}, "the Verilog module 'Worker' has no port 'rts'"),
        ({"OFFSET": "OFSET"}, "the Verilog module 'Worker' has no parameter 'OFSET'"),
        ({"OFFSET : integer := -4": "OFFSET : time := 1 ns", ", OFFSET => i": ""},
         "the value of 'OFFSET' cannot be given to the Verilog module 'Worker'"),
    ],
)  # fmt: skip
def test_a_component_that_does_not_fit_its_module(changes: dict[str, str], message: str, tmp_path: Path) -> None:
    top = TOP
    for old, new in changes.items():
        top = top.replace(old, new)
    scanned = scan(tmp_path, "top", leaf=LEAF, worker=WORKER, top=top)
    assert ("top.vhd", line_of(top, "one : Worker"), message) in reported(scanned)


def test_what_neither_language_defines_is_told_where_it_stands(tmp_path: Path) -> None:
    scanned = scan(tmp_path, "top", top=TOP, worker=WORKER.replace("module Worker", "module Other"))
    message = "no source defines an entity or a module for the component 'Worker'"
    assert ("top.vhd", line_of(TOP, "one : Worker"), message) in reported(scanned)
    scanned = scan(tmp_path, "top", top=TOP, worker=WORKER)
    assert ("worker.v", line_of(WORKER, "leaf"), "unknown module 'leaf'") in reported(scanned)


def test_a_module_that_ends_too_early_is_told_there(tmp_path: Path) -> None:
    scanned = scan(tmp_path, "top", leaf=LEAF, top=TOP, worker=WORKER.rstrip().removesuffix("endmodule") + "always @(")
    assert ("worker.v", line_of(WORKER, "endmodule"), "expected expression") in reported(scanned)


def test_an_entity_that_cannot_be_elaborated_is_told_and_not_missed(tmp_path: Path) -> None:
    inside = "begin again : entity work.leaf port map (c);"
    leaf = f"entity leaf is port (c : in bit); end;\narchitecture a of leaf is {inside} end;"
    scanned = scan(tmp_path, "over", over="module over (input c); leaf u (c); endmodule", leaf=leaf)
    assert [one.message.partition(":")[0] for one in scanned.diagnostics] == ["GHDL cannot elaborate 'leaf'"]


def test_what_ghdl_refuses_beside_verilog_is_told_with_how_to_write_it(tmp_path: Path) -> None:
    inside = "begin process begin wait until c = '1'; q <= '1'; wait for 10 ns; end process;"
    (tmp_path / "leaf.vhd").write_text(
        f"entity leaf is port (c : in bit; q : out bit); end;\narchitecture a of leaf is {inside} end;"
    )
    (tmp_path / "over.v").write_text("module over (input c, output q); leaf u (c, q); endmodule")
    hardware = HardwareSources(sources=("leaf.vhd", "over.v"), top="over", read_out=ReadOut(first=0, last=15))
    with pytest.raises(WorkbenchError) as told:
        MixedLanguage().plain(tmp_path, hardware, {})
    problem = told.value.diagnostics[0]
    assert (problem.file, problem.line) == ("leaf.vhd", 2)
    assert "VHDL next to Verilog must be synthesised" in problem.hint


def test_a_module_that_is_instantiated_as_an_entity_needs_a_component(tmp_path: Path) -> None:
    scanned = scan(tmp_path, "top", top=TOP.replace("one : Worker", "one : entity work.Worker"), worker=WORKER)
    (one,) = (one for one in scanned.diagnostics if one.file == "top.vhd")
    assert (one.line, one.message) == (line_of(TOP, "one : Worker"), 'unit "worker" not found in library "work"')
    assert one.hint == "'worker' is a Verilog module: declare a component of it, and instantiate that."


def test_a_condition_is_read_in_the_language_of_its_file(tmp_path: Path) -> None:
    worker, leaf = WORKER.replace("Din > 3", "Dim > 3"), LEAF.replace("a(0) = '1'", "a(0) = one")
    scanned = scan(tmp_path, "top", leaf=leaf, worker=worker, top=TOP)
    assert reported(scanned) == [
        (
            "worker.v",
            line_of(WORKER, "pragma"),
            "the condition of the pragma 'counting' is wrong: there is no 'Dim' here",
        ),
        ("leaf.vhd", line_of(LEAF, "pragma"), "the condition of the pragma 'ticking' is wrong: there is no 'one' here"),
    ]


def test_a_name_of_the_other_language_is_found(tmp_path: Path) -> None:
    scan(tmp_path, "top", leaf=LEAF, worker=WORKER, top=TOP)
    sources = HardwareSources(sources=("*.v", "*.vhd"), top="top", read_out=ReadOut(first=0, last=0))
    line = line_of(WORKER, "leaf")
    column = WORKER.splitlines()[line - 1].index("leaf") + 1
    meant = MixedLanguage().definition(tmp_path, sources, {}, tmp_path / "worker.v", line, column, Job())
    assert meant is not None
    assert (Path(meant.file).name, meant.line, meant.what) == ("leaf.vhd", line_of(LEAF, "entity leaf"), "entity")


def test_the_sources_tell_the_languages() -> None:
    languages = load_plugins().hdl_languages

    def language(*sources: str) -> str:
        hardware = HardwareSources(sources=sources, top="top", read_out=ReadOut(first=0, last=0))
        return language_of(hardware, languages)

    assert [language("a.v", "b.sv"), language("a.vhd"), language("a.v", "b.vhd")] == ["verilog", "vhdl", "mixed"]


def test_a_top_reaches_sources_of_both_languages(tmp_path: Path) -> None:
    """What only the other language instantiates is no top."""
    texts = {
        "top.vhd": TOP,
        "worker.v": WORKER,
        "leaf.vhd": LEAF,
        "other.v": "module other(input c, output d); endmodule",
    }
    for name, text in texts.items():
        (tmp_path / name).write_text(text)
    first, *more = MixedLanguage().tops(tmp_path, tuple(texts))
    assert (first.name, set(first.sources), first.clocks) == ("top", {"top.vhd", "worker.v", "leaf.vhd"}, (("clk", 4),))
    assert [(top.name, top.sources) for top in more] == [("other", ("other.v",))]
    assert dict(first.parameters) == {"W": 8}


#: The port that the platform asks of a top.
PORTS = """clk, rst, wr_en, rd_en : in std_logic; addr : in std_logic_vector(15 downto 0);
    wr_data : in std_logic_vector(31 downto 0); rd_data : out std_logic_vector(31 downto 0); """


def test_instrumentation_is_proved_in_both_languages_and_a_change_in_either_found(tmp_path: Path) -> None:
    top = TOP.replace("clk, rst : in std_logic; ", PORTS).replace("q <= x(2);", "q <= x(2); rd_data <= wr_data;")
    leaf = LEAF.replace("null;", "b <= not a;").replace("b <= a;", "")
    texts = {"top.vhd": top, "worker.v": WORKER, "leaf.vhd": leaf}
    for name, text in texts.items():
        (tmp_path / name).write_text(text)
    hardware = HardwareSources(sources=tuple(texts), top="top", read_out=ReadOut(first=0x8000, last=0x80FF))
    language, out = MixedLanguage(), tmp_path / "out"
    build = language.instrument(tmp_path, hardware, PLATFORM, {}, out, Job())
    assert [block.id for block in build.blocks if len(block.states) > 1] == [
        "top.step", "top.lanes[0].one.count", "top.lanes[1].one.count", "top.lanes[1].one.in.l.quick.tick",
    ]  # fmt: skip

    assert build.files.include_dirs == (tmp_path,)
    assert {path.name for path in build.files.board_sources} >= {"top.vhd", "worker.v", "leaf.vhd", "recap_top.v"}
    assert "recap_vhdl.v" not in {path.name for path in build.files.board_sources}

    def unproved() -> set[str]:
        verdicts = language.prove(build, tmp_path, Limits(cycles=0), Job()).verdicts
        assert {one.module.partition(" (W")[0] for one in verdicts} >= {"top", "Worker", "leaf (in VHDL)"}
        return {one.module.partition(" (W")[0] for one in verdicts if one.how is not How.PROVED}

    assert unproved() == set()
    for file, right, wrong in (("worker.v", "Din + OFFSET", "Din - OFFSET"), ("leaf.vhd", "b <= not a", "b <= a")):
        text = (out / file).read_text()
        assert right in text
        (out / file).write_text(text.replace(right, wrong))
    assert unproved() == {"Worker", "leaf (in VHDL)"}
