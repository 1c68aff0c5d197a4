"""`workbench prove` tells how much was proved, and how much was only simulated."""

from pathlib import Path

import pytest
from answers import document_of

from workbench.cli.main import main

DESIGN = """
module core #(parameter ID = 0, parameter W = 32) (
    input clk, input rst, input go, input [W-1:0] x, output reg [W-1:0] y
);
    reg state;
    always @(posedge clk) begin
        if (rst) begin
            state <= 0;
            y <= ID;
        end else case (state)
            0: begin
                //pragma recap idle wait_recv(late_sender, $CPU, go)
                state <= go;
            end
            1: begin
                //pragma recap run work()
                y <= y + x;
                state <= 0;
            end
        endcase
    end
endmodule
module top #(parameter CORES = 4) (
    input clk, input rst, input [31:0] addr, input wr_en, input [31:0] wr_data, input rd_en, output reg [31:0] rd_data
);
    wire [31:0] y [0:CORES-1];
    genvar i;
    generate for (i = 0; i < CORES; i = i + 1) begin : g
        core #(.ID(i)) c (.clk(clk), .rst(rst), .go(wr_en && addr == i), .x(wr_data), .y(y[i]));
    end endgenerate
    always @(posedge clk) if (rd_en) rd_data <= y[addr % CORES];
endmodule
"""
#: What yosys cannot read, and only a simulation compares.
UNREAD = "typedef struct { logic [31:0] a; } kept_t; kept_t kept[string];"
PROJECT = """
schema_version: 1
name: cores
platform: nallatech_h101
host: {sources: [host.c]}
hardware: {sources: [top.sv], top: top, parameters: {CORES: 3}, read_out: {first: 0x8000, last: 0x800F}}
"""


def project(folder: Path, design: str) -> str:
    (folder / "top.sv").write_text(design)
    (folder / "host.c").write_text('#include "fpga.h"\nint main(void) { fpgaClose(fpgaOpen(0)); return 0; }\n')
    path = folder / "cores.workbench.yaml"
    path.write_text(PROJECT)
    return str(path)


def test_cores_of_different_parameters_are_proved(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """yosys 0.23 fails at `hierarchy -chparam` of such a design."""
    document = document_of(capsys, ["prove", project(tmp_path, DESIGN), "--strict", "--json", "--cycles", "0"])
    assert document["proved"]
    assert document["counts"] == {"proved": 4, "simulated": 0, "differs": 0, "unknown": 0}
    assert {one["module"] for one in document["modules"]} == {"top", *(f"core (ID={n}, W=32)" for n in range(3))}


def test_what_is_only_simulated_is_told_and_fails_where_it_is_asked_for(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    place = project(tmp_path, DESIGN.replace("    reg state;", f"    reg state; {UNREAD}"))
    assert main(["prove", place, "--cycles", "50", "--strict"]) == 1
    told = capsys.readouterr().out.splitlines()[-1]
    assert told == "No difference found in 1 module: 0 proved, 1 only simulated, which is not a proof."
