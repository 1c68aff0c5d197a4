"""Monitors behind AXI4-Lite, AXI4 and a port of their own: counts are exact, timing is as without them."""

from dataclasses import replace
from pathlib import Path

import pytest
from rc_workbench_plugins.ports import workbench_port_kinds
from rc_workbench_plugins.ports.bus import AxiLitePort, AxiPort
from rc_workbench_plugins.ports.memory import BlockPort, MemoryPort
from rc_workbench_plugins.simulated_card.card import build_card
from rc_workbench_plugins.simulated_card.host import build_host
from rc_workbench_plugins.simulated_card.simulate import simulate
from rc_workbench_plugins.verilog import VerilogLanguage

from workbench.api import HdlBuild, PlatformSupport
from workbench.api.instrument.readout import of_taps
from workbench.api.job import Job
from workbench.api.ports import HardwarePort
from workbench.api.records import read_dwell
from workbench.api.targets import Outcome, Task
from workbench.hdl.verilate import harness_dir
from workbench.model.application import HardwareSources, HostSources, Project, ReadOut
from workbench.model.hardware import Clock, Hardware, PortDirection
from workbench.model.platform import Platform, TransferPoint, TransferTable
from workbench.model.simulation import Simulation

_KINDS = {kind.name: kind.port for kind in workbench_port_kinds()}
StreamInPort = _KINDS["stream_in"]()
StreamOutPort = _KINDS["stream_out"]()

#: Writes make it busy for so many cycles; reads say what is left. The block's states are counted.
WORKER = """
module worker (input clk, input rst, input [31:0] value, input set, output reg [31:0] left);
    always @(posedge clk) begin : job
        if (rst) left <= 0;
        else if (set) begin
            //pragma recap take recv(ctrl, $CPU, value)
            left <= value;
        end else if (left != 0) begin
            //pragma recap grind work
            left <= left - 1;
        end
    end
endmodule
"""
LITE = """
module lite (
    input clk, input rst, input [15:0] awaddr, input awvalid, output awready, input [31:0] wdata, input wvalid,
    output wready, output [1:0] bresp, output reg bvalid, input bready,
    input [15:0] araddr, input arvalid, output arready, output [31:0] rdata, output [1:0] rresp, output reg rvalid,
    input rready
);
    wire take = awvalid & wvalid & ~bvalid;
    reg [31:0] word;
    wire [31:0] left;
    assign awready = take, wready = take, bresp = 0, rresp = 0, rdata = word, arready = ~rvalid;
    always @(posedge clk) begin
        bvalid <= ~rst & (take | (bvalid & ~bready));
        rvalid <= ~rst & ((arvalid & arready) | (rvalid & ~rready));
        if (arvalid & arready) word <= left;
    end
    worker worker (clk, rst, wdata, take, left);
endmodule
"""
FULL = LITE.replace("module lite", "module full").replace(
    "output reg rvalid,", "output reg rvalid, output rlast, input [7:0] awlen, input [7:0] arlen, input wlast, "
    "input [3:0] arid, output [3:0] rid,"
).replace("rresp = 0,", "rresp = 0, rlast = 1, rid = 5,")  # fmt: skip
STREAM = """
module stream (input clk, input rst, input [31:0] tdata, input tvalid, output tready);
    wire [31:0] left;
    assign tready = left == 0;
    worker worker (clk, rst, tdata, tvalid & tready, left);
endmodule
"""
BLOCK = """
module block (
    input clk, input rst, input [15:0] address, input [15:0] words, input request, input write, input [31:0] written,
    input read, output reg [31:0] word
);
    wire [31:0] left;
    always @(posedge clk) if (read) word <= left;
    worker worker (clk, rst, written, write, left);
endmodule
"""
SELECTED = """
module selected (
    input clk, input rst, input cs, input we, input [15:0] address, input [31:0] written, output reg [31:0] word
);
    wire [31:0] left;
    always @(posedge clk) if (cs & ~we) word <= left;
    worker worker (clk, rst, written, cs & we, left);
endmodule
"""
#: Its answers are words of their own; the last one is not taken by the host.
PAIR = """
module pair (
    input clk, input rst, input [31:0] tdata, input tvalid, output tready,
    output [31:0] back_tdata, output back_tvalid, input back_tready
);
    reg [31:0] held;
    reg full;
    wire [31:0] left;
    assign tready = left == 0 & ~full, back_tdata = held, back_tvalid = full;
    always @(posedge clk) begin
        if (tvalid & tready) held <= tdata;
        full <= ~rst & ((tvalid & tready) | (full & ~back_tready));
    end
    worker worker (clk, rst, tdata[31:8] == 0 ? tdata : 30, tvalid & tready, left);
endmodule
"""
#: A word that the monitors have reserved is the application's here.
SENDS_MARK = ("value = 10 * n;", "value = n == 3 ? 0x52434152 : 10 * n;")
ECHO = 'if (wbcard_receive(card, "read", &value, 0, 4)) return 1; else sum += value;'
READS = 'for (int i = 0; i < 9; i++) if (wbcard_receive(card, "read", &value, 4, 4)) return 1; else sum += value;'
HOST = """
#include <stdint.h>
#include <stdio.h>
#include "wbcard.h"
int main(void) {
    wbcard_t *card = wbcard_open(0);
    uint32_t value, sum = 0;
    for (int n = 1; n < 6; n++) {
        value = 10 * n;
        if (wbcard_send(card, "write", &value, 0, 4)) return 1;
        READS
    }
    value = 0;
    if (wbcard_send(card, "write", &value, 0, 4)) return 1;
    wbcard_close(card);
    printf("%u\\n", sum);
    return 0;
}
"""
DMA = BlockPort(
    name="host", address_bits=16, address_unit_bytes=1, word_count_signal="words", request_hdl="request",
    write_enable="write", read_enable="read",
    incoming=PortDirection(data_signal="written", address_signal="address", condition_hdl="write"),
    outgoing=PortDirection(data_signal="word", address_signal="address", condition_hdl="read", delay_cycles=1),
)  # fmt: skip
SELECT = MemoryPort(
    name="host", address_bits=16, address_unit_bytes=1, write_enable="we", enable="cs",
    incoming=PortDirection(data_signal="written", address_signal="address", condition_hdl="we"),
    outgoing=PortDirection(data_signal="word", address_signal="address", condition_hdl="cs & ~we", delay_cycles=1),
)  # fmt: skip
CASES: dict[str, tuple[str, tuple[HardwarePort, ...], str]] = {
    "lite": (LITE, (AxiLitePort(name="host"),), READS),
    "full": (FULL, (AxiPort(name="host"),), READS),
    "block": (BLOCK, (DMA,), READS),
    "selected": (SELECTED, (SELECT,), READS),
    "stream": (STREAM, (StreamInPort(name="host"),), ""),
    "pair": (PAIR, (StreamInPort(name="host"), StreamOutPort(name="back", prefix="back_")), ECHO),
}


@pytest.mark.parametrize("top", CASES)
def test_counts_are_exact_and_timing_is_as_without_monitors(top: str, tmp_path: Path) -> None:
    text, ports, reads = CASES[top]
    tables = {
        name: TransferTable(direction=direction, port=port.name, points=(TransferPoint(bytes=4, time_s=1e-7),))
        for name, direction, port in (("write", "send", ports[0]), ("read", "receive", ports[-1]))
    }
    reset = "rst" if top != "full" else ""  # a design that is never reset is counted from its first cycle on
    hardware = Hardware(clocks=(Clock(name="clk", frequency_hz=100e6, reset=reset),), ports=ports)
    platform = Platform(schema_version=2, name="p", hardware=hardware, transfer_tables=tables)
    (tmp_path / "top.v").write_text(WORKER + text)
    (tmp_path / "host.c").write_text(
        HOST.replace("READS", reads).replace(*SENDS_MARK if reads == ECHO else ("", ""), 1)
    )
    (tmp_path / "api.c").write_text("")
    sources = HardwareSources(sources=("top.v",), top=top, read_out=ReadOut(first=0x1000, last=0x101F))
    project = Project(
        schema_version=1, name="p", platform="p", host=HostSources(sources=("host.c",)), hardware=sources,
        simulation=Simulation(wall_limit_s=100, basic_block_ps=10_000, hardware_counters=True),
    )  # fmt: skip
    support = PlatformSupport("p", Path("none.yaml"), harness_dir(), (tmp_path / "api.c",))
    plain_hdl = HdlBuild((tmp_path / "top.v",), top, ())
    task = Task(project, platform, tmp_path, plain_hdl, tmp_path / "build", tmp_path, support, deterministic=True)
    host = build_host(task, Job())
    told: list[str] = []
    observed = VerilogLanguage().instrument(tmp_path, sources, platform, {}, tmp_path / "hdl", Job())

    def run(hdl: HdlBuild, name: str) -> Outcome:
        this = replace(task, hdl=hdl, build=tmp_path / name, raw=tmp_path / name / "raw")
        card = build_card(this, Job(lambda event: told.append(event.text)))
        return simulate(this, card, host, Job())

    plain = run(plain_hdl, "plain")
    seen = run(observed, "seen")
    assert [line for line in told if "%Warning" in line and "/recap/" in line] == []
    assert (plain.exit, plain.diagnostics) == (seen.exit, seen.diagnostics) == (0, ())
    assert (seen.stdout, seen.time_ps, seen.cycles) == (plain.stdout, plain.time_ps, plain.cycles)
    transfers = [(tmp_path / name / "raw" / "transfers.bin").read_bytes() for name in ("plain", "seen")]
    assert transfers[0] == transfers[1]
    assert seen.counter_words is not None
    counted = VerilogLanguage().decode(observed, seen.counter_words)
    derived = of_taps(observed, tmp_path / "seen" / "raw", ["clk"])
    assert {name: {key: column.tolist() for key, column in table.items()} for name, table in counted.items()} == {
        name: {key: column.tolist() for key, column in table.items()} for name, table in derived.items()
    }
    times = counted["state_time"]
    number = next(n for n, block in enumerate(observed.blocks) if block.id.endswith(".job"))
    mine = times["block"] == number
    assert times["cycles"][mine].sum() == seen.cycles
    names = [state.name for state in observed.blocks[number].states]
    cycles = dict(zip(names, times["cycles"][mine].tolist(), strict=True))
    assert (cycles["take"], cycles["grind"]) == (6, 10 + 20 + 30 + 40 + 50)
    dwell = read_dwell(tmp_path / "seen" / "raw")
    for state in range(len(names)):
        stays = dwell[(dwell["block"] == number) & (dwell["state"] == state)]
        assert stays["cycles"].sum() == cycles[names[state]]
