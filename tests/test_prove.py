"""Whether instrumentation changes nothing: proved by yosys, else simulated; and every copy that is broken is found."""

import shutil
from dataclasses import replace
from pathlib import Path

import pytest
from memory_port import PLATFORM
from rc_workbench_plugins.verilog import VerilogLanguage

from workbench.api import HdlBuild
from workbench.api.equivalence import How, Limits, Proof
from workbench.api.job import Job
from workbench.model.application import HardwareSources, ReadOut
from workbench.model.diagnostic import Cancelled, WorkbenchError
from workbench.session.make.proving import prove_workspace
from workbench.session.open.examples import EXAMPLES, Example, copy_example
from workbench.session.open.opening import open_workspace
from workbench.session.program.plugins import load_plugins

CORE = """\
module core #(parameter W = 8, parameter [W-1:0] FIRST = 5) (
    input wire clk, clk2, rst, input wire go, input wire [W-1:0] in, output reg [W-1:0] sum, output wire [W-1:0] seen
);
    reg [1:0] state = 0;
    reg [W-1:0] kept [0:3];
    reg [W-1:0] other = FIRST;
    reg [7:0] rom [0:1];
    initial begin rom[0] = 3; rom[1] = 7; end
    always @(posedge clk or posedge rst)
        if (rst) begin
            state <= 0; sum <= 0;
        end else case (state)
            0: if (go)
                //pragma recap start overhead(init)
                state <= 1;
            1: begin
                //pragma recap add work(): in != 0
                sum <= sum + in + rom[in[0]];
                state <= 2;
            end
            2:
                //pragma recap same work(): in == sum
                if (in == 8'h5a && other == 8'hc3) state <= 3; else state <= 0;
            default: state <= 0;
        endcase
    always @(posedge clk2) begin
        kept[in[1:0]] <= sum;
        if (go)
            //pragma recap turn work()
            other <= {other[W-2:0], other[W-1]};
    end
    assign seen = kept[state] ^ other;
endmodule
"""
TOP = """\
`include "width.vh"
module top (
    input wire clk, clk2, rst, input wire [15:0] addr, input wire wr_en, rd_en, input wire [31:0] wr_data,
    output reg [31:0] rd_data, input wire [15:0] in, output wire [63:0] out
);
    genvar n;
    generate for (n = 0; n < 2; n = n + 1) begin : half
        core #(.W(`WIDTH), .FIRST(5 + n)) one (
            .clk(clk), .clk2(clk2), .rst(rst), .go(in[n]), .in(in[8 * n +: 8]),
            .sum(out[16 * n +: 8]), .seen(out[16 * n + 8 +: 8]));
    end endgenerate
    assign out[63:32] = {HIGH};
    always @(posedge clk)
        if (rd_en)
            //pragma recap answer work()
            rd_data <= {28'd0, addr[3:0]};
endmodule
"""
BEFORE = "wr_data"
MODERN = TOP.replace(
    "    genvar n;", "    typedef struct packed { logic [15:0] high, low; } both_t;\n    both_t pairs [2];\n"
    "    always_comb foreach (pairs[i]) pairs[i] = '{high: wr_data[31:16], low: wr_data[15:0]};\n    genvar n;",
)  # fmt: skip
LIMITS = Limits(cycles=3000)


def instrumented(folder: Path, top: str = TOP, high: str = BEFORE, suffix: str = "v") -> HdlBuild:
    shutil.rmtree(folder, ignore_errors=True)
    (folder / "in c").mkdir(parents=True)
    (folder / "core.v").write_text(CORE)
    (folder / f"my top.{suffix}").write_text(top.replace("{HIGH}", high))
    (folder / "in c" / "width.vh").write_text("`define WIDTH 8\n")
    hardware = HardwareSources(
        sources=("core.v", f"my top.{suffix}"), top="top", include_dirs=("in c",), read_out=ReadOut(first=0, last=15)
    )
    return VerilogLanguage().instrument(folder, hardware, PLATFORM, {}, folder / "made")


def proved(build: HdlBuild, module: str = "", limits: Limits = LIMITS) -> Proof:
    return VerilogLanguage().prove(build, Path("/nowhere"), limits, Job(), module)


@pytest.fixture(scope="module")
def build(tmp_path_factory: pytest.TempPathFactory) -> HdlBuild:
    return instrumented(tmp_path_factory.mktemp("design"))


def test_every_module_is_proved_with_its_parameters(build: HdlBuild) -> None:
    proof = proved(build)
    assert [(one.module, one.how) for one in proof.verdicts] == [
        ("top", How.PROVED),
        ("core (W=8, FIRST=5)", How.PROVED),
        ("core (W=8, FIRST=6)", How.PROVED),
    ]
    assert proof.holds


def test_one_module_may_be_asked_for(build: HdlBuild) -> None:
    assert [one.module for one in proved(build, "top").verdicts] == ["top"]
    with pytest.raises(WorkbenchError, match=r"no module 'cor'.*core"):
        proved(build, "cor")


def test_a_cancel_ends_it(build: HdlBuild) -> None:
    job = Job()
    job.cancel()
    with pytest.raises(Cancelled):
        VerilogLanguage().prove(build, Path("/nowhere"), LIMITS, job)


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda one: one.title)
def test_instrumentation_changes_nothing_in_any_example(example: Example, tmp_path: Path) -> None:
    workspace = open_workspace(copy_example(example, tmp_path), load_plugins())
    proof = prove_workspace(workspace, {}, Job())
    assert [one for one in proof.verdicts if one.how is not How.PROVED] == []


@pytest.mark.parametrize(
    ("was", "becomes", "signals"),
    [
        ("sum <= sum + in", "sum <= sum - in", ("sum",)),
        ("state <= 1;", "state <= 2;", ("state",)),
        ("other == 8'hc3)", "other == 8'hc4)", ("state",)),
        ("= FIRST", "= 8'd9", ("other",)),
        ("rom[1] = 7", "rom[1] = 6", ("rom",)),
        ("@(posedge clk2)", "@(posedge clk)", ("other's clock (clk in place of clk2)",)),
        ("@(posedge clk2)", "@(negedge clk2)", ("kept",)),
        ("kept[state] ^", "kept[state] |", ("seen",)),
        ("sum <= 0;", "sum <= 1;", ("sum's reset value",)),
        ("(posedge clk or posedge rst)", "(posedge clk)", ("sum's reset",)),
    ],
)
def test_no_broken_copy_is_called_proved(
    build: HdlBuild, tmp_path: Path, was: str, becomes: str, signals: tuple[str, ...]
) -> None:
    """Whatever an edit of ours could spoil: values, states, clocks, resets, what is there at first."""
    verdicts = proved(broken(build, tmp_path, was, becomes), "core", replace(LIMITS, cycles=0)).verdicts
    assert all(one.how is How.DIFFERS for one in verdicts)
    for one in verdicts:
        assert any(name in " ".join(one.signals) for name in signals), one


def test_a_difference_is_shown_by_the_cycle_and_the_outputs_where_it_is_met(build: HdlBuild, tmp_path: Path) -> None:
    first, core, other = proved(broken(build, tmp_path, "kept[state] ^", "kept[state] |")).verdicts
    assert first.how is How.PROVED
    for one in (core, other):
        assert one.how is How.DIFFERS
        assert one.cycle is not None
        assert one.cycles == one.cycle + 1
        assert [signal.split(" ")[0] for signal in one.signals] == ["out"]


def test_what_yosys_does_not_read_is_simulated_and_told(tmp_path: Path) -> None:
    """Assertions of the design do not end it: they are of inputs that it should get, and these are at random. What asks
    for random numbers gets the same as its copy, and nobody has given it arguments."""
    random = "reg [31:0] any; always @(posedge clk) any <= $random;\n    genvar n;"
    asserts = 'always @(posedge clk) assert (!wr_en);\ninitial if ($test$plusargs("never")) $stop;\nendmodule'
    modern = MODERN.replace("genvar n;", random).replace("endmodule", asserts)
    build = instrumented(tmp_path, modern, "any ^ {pairs[0].low, pairs[1].high}", "sv")
    (one,) = proved(build).verdicts
    assert (one.module, one.how, one.cycles, one.cycle) == ("top", How.SIMULATED, 3000, None)
    assert one.why.startswith("yosys cannot read it: my top.sv:")


UNNAMED = """\
module top(input clk, rst, input [15:0] addr, input wr_en, rd_en, input [31:0] wr_data, output reg [31:0] rd_data);
    always @(posedge clk) begin
        reg [7:0] old;
        old <= wr_data;
        case (addr[1:0])
            0: rd_data <= 32'h7e;
            1: rd_data <= 32'h30;
            //pragma recap half work()
            2: rd_data <= 32'h6d;
            3: rd_data <= 32'h79;
        endcase
        if (old == 8'h80)
            //pragma recap full work()
            rd_data <= old;
    end
    wire late;
    delay d (clk, wr_en, late);
endmodule
"""
DELAY = """\
module delay(input clk, input a, output reg q);
    always @(posedge clk) begin
        reg held;
        held <= a;
        q <= held;
    end
endmodule
"""


def test_what_a_block_without_a_name_declares_is_compared_and_a_case_is_no_memory(tmp_path: Path) -> None:
    (tmp_path / "top.sv").write_text(UNNAMED)
    (tmp_path / "delay.sv").write_text(DELAY)
    hardware = HardwareSources(sources=("top.sv", "delay.sv"), top="top", read_out=ReadOut(first=0, last=15))
    build = VerilogLanguage().instrument(tmp_path, hardware, PLATFORM, {}, tmp_path / "made")
    assert [(one.module, one.how) for one in proved(build).verdicts] == [("top", How.PROVED), ("delay", How.PROVED)]
    assert build.checks.compared is not None
    (copy,) = (path for path in build.checks.compared.made.sources if path.name == "top.sv")
    copy.write_text(copy.read_text().replace("old <= wr_data", "old <= ~wr_data"))
    one, other = proved(build, limits=replace(LIMITS, cycles=0)).verdicts
    assert (one.how, one.signals) == (How.DIFFERS, ("old",))
    assert other.how is How.PROVED


def broken(build: HdlBuild, folder: Path, was: str, becomes: str) -> HdlBuild:
    """With something else in the copy of the core."""
    assert build.checks.compared is not None
    first, *rest = build.checks.compared.made.sources
    text = first.read_text()
    assert was in text
    (folder / "core.v").write_text(text.replace(was, becomes))
    made = replace(build.checks.compared.made, sources=(folder / "core.v", *rest))
    return replace(build, checks=replace(build.checks, compared=replace(build.checks.compared, made=made)))


def test_generate_blocks_that_are_given_names_for_their_streams_are_the_same_scopes(tmp_path: Path) -> None:
    """Two ways for a stream's register, of which each stands in a generate block without a name."""
    (tmp_path / "d.v").write_text(STREAM)
    hardware = HardwareSources(sources=("d.v",), top="top", read_out=ReadOut(first=0, last=15))
    build = VerilogLanguage().instrument(tmp_path, hardware, PLATFORM, {}, tmp_path / "made")
    assert "recap_gen_" in (tmp_path / "made" / "d.v").read_text()
    assert proved(build).holds
    assert {one.how for one in proved(build).verdicts} == {How.PROVED}


STREAM = """\
module top (
    input wire clk, rst, input wire [15:0] addr, input wire wr_en, rd_en, input wire [31:0] wr_data,
    output reg [31:0] rd_data, output wire [7:0] out
);
    wire a_tvalid, a_tready; wire [7:0] a_tdata;
    assign a_tvalid = wr_en, a_tdata = wr_data[7:0];
    one #(.KIND(1)) first (.clk(clk), .s_tvalid(a_tvalid), .s_tready(a_tready), .s_tdata(a_tdata),
        .m_tvalid(b_tvalid), .m_tready(rd_en), .m_tdata(out));
    wire b_tvalid;
    always @(posedge clk)
        //pragma recap answer work()
        rd_data <= {31'd0, a_tready};
endmodule
module one #(parameter KIND = 0) (
    input wire clk, input wire s_tvalid, output wire s_tready, input wire [7:0] s_tdata,
    output wire m_tvalid, input wire m_tready, output wire [7:0] m_tdata
);
    generate if (KIND == 1) begin
        reg valid_reg = 0; reg [7:0] data_reg = 3; wire i_tvalid, i_tready;
        assign i_tvalid = valid_reg, i_tready = m_tready, m_tvalid = i_tvalid, s_tready = !valid_reg || i_tready;
        assign m_tdata = data_reg;
        always @(posedge clk) if (s_tready) begin valid_reg <= s_tvalid; data_reg <= s_tdata; end
    end else begin
        assign m_tvalid = s_tvalid, s_tready = m_tready, m_tdata = s_tdata;
    end endgenerate
endmodule
"""
