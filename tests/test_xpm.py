"""AMD's parameterized macros (XPM) do what UG974 says in simulation; logic analysers are empty boxes."""

import subprocess
from pathlib import Path

import pytest
from memory_port import PLATFORM
from rc_workbench_plugins.verilog import VerilogLanguage
from rtl_simulator import Simulator

from workbench.model.application import HardwareSources, ReadOut

#: Of each kind of macro one at work, by the cycle `n`; words go in from cycle 6 on, and are asked for from 20 on.
DESIGN = """
module top(input clk, output reg [7:0] n, output [31:0] later, output [31:0] first, output first_empty,
           output [31:0] other, output other_empty, output [15:0] axis, output axis_valid, output [31:0] word,
           output [31:0] both, output crossed, output pulse, output [7:0] gray, output reset, output [3:0] knob,
           output [31:0] wide, output wide_empty, output [7:0] narrow, output [7:0] part);
    initial n = 0;
    always @(posedge clk) begin : counter
        //pragma recap up work()
        n <= n + 1;
    end
    wire put = n >= 6 && n < 9, get = n >= 20 && n < 23;
    wire [31:0] value = n * 10;
    xpm_fifo_sync #(.FIFO_WRITE_DEPTH(16), .READ_MODE("std")) one (
        .sleep(1'b0), .rst(1'b0), .wr_clk(clk), .wr_en(put), .din(value), .rd_en(get), .dout(later),
        .injectsbiterr(1'b0), .injectdbiterr(1'b0));
    xpm_fifo_sync #(.FIFO_WRITE_DEPTH(16), .READ_MODE("fwft"), .FIFO_READ_LATENCY(0+1)) two (
        .sleep(1'b0), .rst(n < 3), .wr_clk(clk), .wr_en(put), .din(value), .rd_en(get), .dout(first),
        .empty(first_empty), .injectsbiterr(1'b0), .injectdbiterr(1'b0));
    xpm_fifo_async #(.FIFO_WRITE_DEPTH(16), .READ_MODE("fwft")) three (
        .sleep(1'b0), .rst(1'b0), .wr_clk(clk), .wr_en(put), .din(value), .rd_clk(clk), .rd_en(get), .dout(other),
        .empty(other_empty), .injectsbiterr(1'b0), .injectdbiterr(1'b0));
    xpm_fifo_axis #(.FIFO_DEPTH(16), .TDATA_WIDTH(16)) four (
        .s_aresetn(1'b1), .s_aclk(clk), .m_aclk(clk), .s_axis_tvalid(put), .s_axis_tdata(value[15:0]),
        .s_axis_tlast(n == 8), .m_axis_tvalid(axis_valid), .m_axis_tready(get), .m_axis_tdata(axis));
    xpm_memory_sdpram #(.MEMORY_SIZE(1024), .ADDR_WIDTH_A(5), .ADDR_WIDTH_B(5), .READ_LATENCY_B(2)) five (
        .sleep(1'b0), .clka(clk), .ena(1'b1), .wea(put), .addra(n[4:0]), .dina(value), .clkb(clk), .rstb(1'b0),
        .enb(get), .regceb(1'b1), .addrb(n[4:0] - 5'd14), .doutb(word));
    xpm_memory_tdpram #(.MEMORY_SIZE(1024), .ADDR_WIDTH_A(5), .ADDR_WIDTH_B(5), .READ_LATENCY_A(1),
                        .BYTE_WRITE_WIDTH_A(8), .READ_LATENCY_B(1)) six (
        .sleep(1'b0), .clka(clk), .rsta(1'b0), .ena(1'b1), .regcea(1'b1), .wea({4{put}} & 4'b0011), .addra(n[4:0]),
        .dina(32'h11220000 | value), .clkb(clk), .rstb(1'b0), .enb(get), .regceb(1'b1), .web(1'b0),
        .addrb(n[4:0] - 5'd14), .dinb(32'd0), .doutb(both));
    xpm_cdc_single #(.DEST_SYNC_FF(3), .SRC_INPUT_REG(0)) seven (
        .src_clk(clk), .src_in(n >= 20), .dest_clk(clk), .dest_out(crossed));
    xpm_cdc_pulse #(.DEST_SYNC_FF(2), .RST_USED(0)) eight (
        .src_clk(clk), .src_rst(1'b0), .src_pulse(n == 20), .dest_clk(clk), .dest_rst(1'b0), .dest_pulse(pulse));
    xpm_cdc_gray #(.DEST_SYNC_FF(2), .WIDTH(8)) nine (
        .src_clk(clk), .src_in_bin(n), .dest_clk(clk), .dest_out_bin(gray));
    xpm_cdc_async_rst #(.DEST_SYNC_FF(2), .RST_ACTIVE_HIGH(1)) ten (
        .src_arst(n < 20), .dest_clk(clk), .dest_arst(reset));
    xpm_fifo_sync #(.FIFO_WRITE_DEPTH(16), .WRITE_DATA_WIDTH(8), .READ_DATA_WIDTH(32), .READ_MODE("fwft"),
                    .ECC_MODE("no_ecc")) eleven (
        .sleep(1'b0), .rst(1'b0), .wr_clk(clk), .wr_en(n >= 6 && n < 10), .din(value[7:0]), .rd_en(n == 22),
        .dout(wide), .empty(wide_empty), .injectsbiterr(1'b0), .injectdbiterr(1'b0));
    xpm_fifo_async #(.FIFO_WRITE_DEPTH(16), .READ_DATA_WIDTH(8), .READ_MODE("fwft")) twelve (
        .sleep(1'b0), .rst(1'b0), .wr_clk(clk), .wr_en(n == 6), .din(32'h04030201), .rd_clk(clk), .rd_en(get),
        .dout(narrow), .injectsbiterr(1'b0), .injectdbiterr(1'b0));
    xpm_memory_sdpram #(.MEMORY_SIZE(1024), .ADDR_WIDTH_A(5), .ADDR_WIDTH_B(7), .READ_DATA_WIDTH_B(8),
                        .READ_LATENCY_B(1)) thirteen (
        .sleep(1'b0), .clka(clk), .ena(1'b1), .wea(put), .addra(n[4:0]), .dina(value << 8), .clkb(clk), .rstb(1'b0),
        .enb(get), .regceb(1'b1), .addrb({n[4:0] - 5'd14, 2'b01}), .doutb(part));
    ila_0 watch (.clk(clk), .probe0(n), .probe1({later, other}));
    vio_0 turn (.clk(clk), .probe_in0(n), .probe_out0(knob));
endmodule
"""
MAIN = """
#include "Vdut.h"
#include <cstdio>
int main() {
    Vdut top;
    top.eval();
    for (int k = 0; k < 30; k++) {
        if (top.n >= 19 && top.n < 26)
            std::printf("%d std %d first %d,%d far %d,%d axis %d,%d word %d both %d single %d pulse %d gray %d"
                        " reset %d knob %d wide %x,%d narrow %d part %d\\n",
                        top.n, top.later, top.first, top.first_empty, top.other,
                        top.other_empty, top.axis, top.axis_valid, top.word, top.both, top.crossed, top.pulse,
                        top.gray, top.reset, top.knob, top.wide, top.wide_empty, top.narrow, top.part);
        top.clk = 1; top.eval();
        top.clk = 0; top.eval();
    }
}
"""


def hardware(folder: Path) -> HardwareSources:
    (folder / "top.v").write_text(DESIGN)
    return HardwareSources(sources=("top.v",), top="top", read_out=ReadOut(first=0, last=15))


def test_macros_and_analysers_are_no_missing_modules(tmp_path: Path) -> None:
    scanned = VerilogLanguage().scan(tmp_path, hardware(tmp_path), PLATFORM, {})
    assert [d.message for d in scanned.diagnostics] == [
        "the behaviour of vio_0 is unknown: its outputs stay 0 in simulation"
    ]
    assert {block.id for block in scanned.blocks} == {"top.counter"}


def test_each_macro_does_what_its_guide_says(tmp_path: Path, tmp_path_factory: pytest.TempPathFactory) -> None:
    """A word is out of a FIFO one cycle after it is asked for, of `fwft` before; of a memory after its latency. A bit
    crosses in as many cycles as there are stages. The lowest bits of a wide word are the first narrow one."""
    build = VerilogLanguage().plain(tmp_path, hardware(tmp_path), {})
    simulator = Simulator(tmp_path_factory.mktemp("models"))
    program = simulator.build(build.sources, "top", harness=MAIN, options=["--x-initial", "0"])
    said = subprocess.run([program], check=True, capture_output=True, text=True).stdout
    assert said.splitlines()[:6] == [
        "19 std 0 first 60,0 far 60,0 axis 60,1 word 0 both 0 single 0 pulse 0 gray 16 reset 1 knob 0"
        " wide 5a50463c,0 narrow 1 part 0",
        "20 std 0 first 60,0 far 60,0 axis 60,1 word 0 both 0 single 0 pulse 0 gray 17 reset 1 knob 0"
        " wide 5a50463c,0 narrow 1 part 0",
        "21 std 60 first 70,0 far 70,0 axis 70,1 word 0 both 60 single 0 pulse 0 gray 18 reset 1 knob 0"
        " wide 5a50463c,0 narrow 2 part 60",
        "22 std 70 first 80,0 far 80,0 axis 80,1 word 60 both 70 single 0 pulse 0 gray 19 reset 0 knob 0"
        " wide 5a50463c,0 narrow 3 part 70",
        "23 std 80 first 0,1 far 0,1 axis 0,0 word 70 both 80 single 1 pulse 1 gray 20 reset 0 knob 0"
        " wide 0,1 narrow 4 part 80",
        "24 std 80 first 0,1 far 0,1 axis 0,0 word 80 both 80 single 1 pulse 0 gray 21 reset 0 knob 0"
        " wide 0,1 narrow 4 part 80",
    ]
