"""Vendors' primitives that no source defines: what yosys knows of them stands in, and what nobody knows is told."""

import subprocess
from dataclasses import replace
from pathlib import Path

import pytest
from answers import refusal
from memory_port import PLATFORM
from rc_workbench_plugins.verilog import VerilogLanguage
from rtl_simulator import Simulator

from workbench.hdl.verilog.primitives import stand_ins
from workbench.model.application import HardwareSources, MadeClock, ReadOut
from workbench.model.diagnostic import OfProject, Severity
from workbench.model.hardware import Clock
from workbench.model.run import RunClock
from workbench.session.make.tree import in_own_clocks
from workbench.testing.runs import synthetic_run

LEAF = """
module leaf(input i_clk, output reg [3:0] n);
    always @(posedge i_clk) begin : counts
        //pragma recap up work()
        n <= n + 1;
    end
endmodule
"""
PORTED = """module top(input clk, rst, wr_en, rd_en, input [15:0] addr, input [31:0] wr_data, output [31:0] rd_data);
"""
PORTS = """(input clk, rst, wr_en, rd_en, input [15:0] addr, input [31:0] wr_data, output [31:0] rd_data,
    """
XILINX = """
module top(input clk, output [3:0] n, output q, output [31:0] out, output locked);
    wire inner, fast, back, bufg;
    IBUF #(.IOSTANDARD("LVCMOS33")) in(.I(clk), .O(inner));
    PLLE2_BASE #(.CLKFBOUT_MULT(8), .CLKOUT0_DIVIDE(4)) pll(.CLKIN1(inner), .CLKOUT0(fast), .LOCKED(locked),
        .CLKFBOUT(back), .CLKFBIN(back), .RST(1'b0), .PWRDWN(1'b0));
    BUFG buffer(.I(fast), .O(bufg));
    leaf own(inner, n);
    FDRE #(.INIT(1'b1)) flop(.C(bufg), .CE(1'b1), .R(1'b0), .D(~q), .Q(q));
    RAMB36E1 #(.DOA_REG(1)) ram(.CLKARDCLK(inner), .DOADO(out));
endmodule
"""


def hardware(folder: Path, text: str) -> HardwareSources:
    (folder / "top.v").write_text(text)
    return HardwareSources(sources=("top.v",), top="top", read_out=ReadOut(first=0, last=15))


@pytest.fixture(scope="module")
def cache(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("cache")


@pytest.fixture
def language(cache: Path, monkeypatch: pytest.MonkeyPatch) -> VerilogLanguage:
    monkeypatch.setenv("RCW_CACHE", str(cache))
    return VerilogLanguage()


def test_what_they_do_is_simulated_and_what_is_not_known_is_told(tmp_path: Path, language: VerilogLanguage) -> None:
    scanned = language.scan(tmp_path, hardware(tmp_path, XILINX + LEAF), PLATFORM, {})
    assert [(d.severity, d.line, d.message) for d in scanned.diagnostics] == [
        (Severity.WARNING, 5, "PLLE2_BASE is simulated with all its clocks at its input's rate"),
        (Severity.WARNING, 10, "the behaviour of RAMB36E1 is unknown: its outputs stay 0 in simulation"),
    ]
    (block,) = scanned.blocks
    assert (block.id, block.why_not, block.instances) == ("leaf.counts", "", ("top.own.counts",))


def test_blocks_behind_a_pll_are_counted_in_its_inputs_cycles(tmp_path: Path, language: VerilogLanguage) -> None:
    text = XILINX.replace("leaf own(inner, n)", "leaf own(bufg, n)") + LEAF
    scanned = language.scan(tmp_path, hardware(tmp_path, text), PLATFORM, {})
    (block,) = scanned.blocks
    assert (block.why_not, scanned.clocks) == ("", (("clk", 2),))  # one is in a flip-flop of the vendor's
    (note,) = (d for d in scanned.diagnostics if d.severity is Severity.NOTE)
    assert note.message == "blocks on a clock that PLLE2_BASE derives from 'clk' count cycles of 'clk': leaf.counts"
    assert note.hint == (
        "On a real machine they are counted in cycles of the derived clock. To simulate it as fast as it is, add it to "
        "hardware.clocks: {name: pll.CLKOUT0, frequency_hz: 200 MHz}."
    )


def test_each_clock_of_a_pll_has_a_monitor_of_its_own(tmp_path: Path, language: VerilogLanguage) -> None:
    text = f"""{PORTED}
        wire fast, third, back, locked;
        PLLE2_BASE #(.CLKFBOUT_MULT(8), .CLKOUT0_DIVIDE(4), .CLKOUT1_DIVIDE(24)) pll(.CLKIN1(clk), .CLKOUT0(fast),
            .CLKOUT1(third), .LOCKED(locked), .CLKFBOUT(back), .CLKFBIN(back), .RST(1'b0), .PWRDWN(1'b0));
        leaf here(clk, ), a(fast, ), b(third, ), c(fast, );
    endmodule
    {LEAF}"""
    sources = hardware(tmp_path, text)
    build = language.instrument(tmp_path, sources, PLATFORM, {}, tmp_path / "out")
    assert build.read_out is not None
    assert [(one.clock, one.made_of, one.far) for one in build.read_out.monitors] == [
        ("clk", "", False), ("pll.CLKOUT0", "clk", True), ("pll.CLKOUT1", "clk", True),
    ]  # fmt: skip
    of_monitor = [[build.blocks[n].id for n in one.blocks or ()] for one in build.read_out.monitors]
    assert of_monitor == [["top.here.counts"], ["top.a.counts", "top.c.counts"], ["top.b.counts"]]
    assert {block.clock for block in build.blocks} == {"clk"}, "on the simulated card"


def test_streams_run_on_a_plls_clock_and_not_on_a_divided_one(tmp_path: Path, language: VerilogLanguage) -> None:
    ends = """
    module source(input clk, output reg m_valid, input m_ready, output reg [7:0] m_data);
        always @(posedge clk) begin m_valid <= 1; if (m_valid && m_ready) m_data <= m_data + 1; end
    endmodule
    module sink(input clk, input s_valid, output reg s_ready, input [7:0] s_data);
        always @(posedge clk) s_ready <= !s_ready;
    endmodule"""
    text = f"""{PORTED}
        wire fast, back, locked; reg half;
        PLLE2_BASE #(.CLKFBOUT_MULT(8), .CLKOUT0_DIVIDE(4)) pll(.CLKIN1(clk), .CLKOUT0(fast), .LOCKED(locked),
            .CLKFBOUT(back), .CLKFBIN(back), .RST(1'b0), .PWRDWN(1'b0));
        always @(posedge clk) half <= !half;
        wire v1, r1, v2, r2; wire [7:0] d1, d2;
        source a(fast, v1, r1, d1); sink b(fast, v1, r1, d1);
        source c(half, v2, r2, d2); sink d(half, v2, r2, d2);
    endmodule
    {ends}"""
    unstated = hardware(tmp_path, text)
    assert [(one.id, one.clock) for one in language.scan(tmp_path, unstated, PLATFORM, {}).streams] == [
        ("top.a.m", "pll.CLKOUT0"), ("top.c.m", ""),
    ]  # fmt: skip
    stated = unstated.model_copy(update={"clocks": (MadeClock(name="pll.CLKOUT0", frequency_hz=2e8),)})
    for number, (one, clock) in enumerate(((unstated, "clk"), (stated, "pll.CLKOUT0"))):
        build = language.instrument(tmp_path, one, PLATFORM, {}, tmp_path / str(number))
        assert [(stream.id, stream.clock) for stream in build.streams] == [("top.a.m", clock)]
        (missed,) = [one for one in build.diagnostics if one.message.startswith("not counted")]
        assert missed.message == "not counted, as their clock is neither the platform's nor a PLL's: top.c.m"


def test_a_plls_clock_may_be_told_how_fast_it_is(tmp_path: Path, language: VerilogLanguage) -> None:
    text = XILINX.replace("leaf own(inner, n)", "leaf own(bufg, n)").replace("(input clk, ", PORTS) + LEAF
    told = hardware(tmp_path, text).model_copy(update={"clocks": (MadeClock(name="pll.CLKOUT0", frequency_hz=2e8),)})
    messages = [d.message for d in language.scan(tmp_path, told, PLATFORM, {}).diagnostics]
    assert messages == ["the behaviour of RAMB36E1 is unknown: its outputs stay 0 in simulation"]
    build = language.instrument(tmp_path, told, PLATFORM, {}, tmp_path / "out")
    assert PLATFORM.hardware is not None
    (source,) = PLATFORM.hardware.clocks
    made = Clock(name="pll.CLKOUT0", frequency_hz=2e8, derived_from="clk")
    assert build.simulation.made == {"recap_user.pll.CLKOUT0": made}
    assert [block.clock for block in build.blocks] == ["pll.CLKOUT0"]
    assert language.plain(tmp_path, told, {}).simulation.made.keys() == {"pll.CLKOUT0"}
    run = replace(synthetic_run().manifest, clocks=(RunClock("clk", source.frequency_hz),))
    _, on_a_board = in_own_clocks(build, run)
    assert [(one.name, one.frequency_hz) for one in on_a_board.clocks[1:]] == [("pll.CLKOUT0", 2e8)]
    wrong = told.model_copy(update={"clocks": (MadeClock(name="pll.CLKOUT", frequency_hz=2e8),)})
    problem = refusal(language.instrument, tmp_path, wrong, PLATFORM, {}, tmp_path / "out")
    assert isinstance(problem, OfProject)
    assert problem.keys == ("hardware", "clocks", 0, "name")
    assert (problem.message, problem.hint) == (
        "no PLL makes a clock 'pll.CLKOUT' that blocks run on", "Did you mean 'pll.CLKOUT0'?",
    )  # fmt: skip


def test_nothing_stands_in_for_what_an_alternative_that_is_not_taken_would_need(
    tmp_path: Path, language: VerilogLanguage
) -> None:
    """What stands in may lack parameters that are set there, which simulators look at wherever the module is known."""
    text = (
        LEAF
        + """module top #(parameter A = 0)(input clk, output [3:0] n);
        generate if (A) begin : a altddio_in #(.NOT_KNOWN(3)) u(); end else begin : b leaf l(clk, n); end endgenerate
    endmodule"""
    )
    build = language.plain(tmp_path, hardware(tmp_path, text), {})
    assert build.sources == (tmp_path / "top.v",)


def test_a_module_of_nobody_is_still_missing(tmp_path: Path, language: VerilogLanguage) -> None:
    text = XILINX.replace("RAMB36E1", "RAMB99E1") + LEAF
    messages = [d.message for d in language.scan(tmp_path, hardware(tmp_path, text), PLATFORM, {}).diagnostics]
    assert "unknown module 'RAMB99E1'" in messages
    assert stand_ins({"nobodys_module"}) is None


def test_where_no_cache_can_be_written_they_are_missing(
    tmp_path: Path, language: VerilogLanguage, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("RCW_CACHE", str(tmp_path / "file" / "cache"))
    scanned = language.scan(tmp_path, hardware(tmp_path, XILINX + LEAF), PLATFORM, {})
    assert "unknown module 'PLLE2_BASE'" in [d.message for d in scanned.diagnostics]


def test_a_design_of_ones_own_names_is_left_alone(tmp_path: Path, language: VerilogLanguage) -> None:
    """A module that has a primitive's name is the user's."""
    text = "module top(input clk); BUFG a(clk); endmodule\nmodule BUFG(input i); endmodule\n"
    build = language.plain(tmp_path, hardware(tmp_path, text), {})
    assert build.sources == (tmp_path / "top.v",)


MAIN = """
#include "Vdut.h"
#include <cstdio>
int main() {
    Vdut top;
    top.eval();
    for (int k = 0; k < 5; k++) {
        std::printf("%d%d%d ", top.n, top.q, top.locked);
        top.clk = 1; top.eval();
        top.clk = 0; top.eval();
    }
}
"""


@pytest.fixture(scope="module")
def simulator(tmp_path_factory: pytest.TempPathFactory) -> Simulator:
    return Simulator(tmp_path_factory.mktemp("models"))


def test_they_run_in_verilator(tmp_path: Path, language: VerilogLanguage, simulator: Simulator) -> None:
    """A flip-flop of the vendor's behind its PLL and buffer, at the clock's rate, beside a block on that clock."""
    build = language.plain(tmp_path, hardware(tmp_path, XILINX + LEAF), {})
    program = simulator.build(build.sources, "top", harness=MAIN, options=["--x-initial", "0"])
    said = subprocess.run([program], check=True, capture_output=True, text=True).stdout
    assert said.split() == ["011", "101", "211", "301", "411"]
