"""Every pragma of a source is counted or reported, wherever it stands and however it is written."""

from pathlib import Path

import pytest
from tools import NEEDS_GHDL

from workbench.api.languages import syntax_of
from workbench.session.open.opening import open_workspace
from workbench.session.program.plugins import load_plugins

VERILOG = """\
module top (
    input clk, input rst, input [31:0] addr, input wr_en, input [31:0] wr_data, input rd_en, output reg [31:0] rd_data
);
    localparam S_IDLE = 0, S_RUN = 1;
    reg state;
    wire on = state == S_RUN;
    always @(posedge clk) begin
        if (rst) begin
            state <= S_IDLE;
        end else begin
            case (state)
                S_IDLE: begin
                    if (wr_en) state <= S_RUN;
                end
                S_RUN:
                    if (rd_en)
                        state <= S_IDLE;
                    else
                        rd_data <= wr_data;
                default: ;
            endcase
        end
    end
    always @(posedge clk)
        if (wr_en) rd_data <= 0;
    always @* begin
    end
    generate
        if (1) begin : g
            reg r;
            always @(posedge clk) begin
                r <= on;
            end
        end
    endgenerate
    task t;
        begin
        end
    endtask
endmodule
"""
VHDL = """\
library ieee;
use ieee.std_logic_1164.all;
package p is
    constant C : integer := 1;
end package;
library ieee;
use ieee.std_logic_1164.all;
entity top is
    port (
        clk, rst : in std_logic; addr : in std_logic_vector(31 downto 0); wr_en : in std_logic;
        wr_data : in std_logic_vector(31 downto 0); rd_en : in std_logic; rd_data : out std_logic_vector(31 downto 0)
    );
end entity;
architecture rtl of top is
    type state_t is (idle, work);
    signal state : state_t := idle;
    signal n : std_logic;
begin
    process (clk)
        variable v : integer;
    begin
        if rising_edge(clk) then
            if rst = '1' then
                state <= idle;
            else
                case state is
                    when idle =>
                        if wr_en = '1' then state <= work; end if;
                    when work =>
                        if rd_en = '1'
                        then
                            state <= idle;
                        elsif wr_en = '1' then
                            rd_data <= wr_data;
                        else
                            null;
                        end if;
                    when others => null;
                end case;
            end if;
        end if;
    end process;
    n <= wr_en;
    b : block
    begin
        process (clk) begin
            if rising_edge(clk) then
                n <= rd_en;
            end if;
        end process;
    end block;
    process (rst)
    begin
        null;
    end process;
end architecture;
"""
C = """\
#include <stdio.h>
#include <fpga.h>
#define TWICE(x) (2 * (x))
static int add(int a,
               int b)
{
    return a + b;
}
struct one {
    int a;
};
int main(void)
{
    fpga_t *fpga = fpgaOpen(0);
    uint32_t data[4] = {
        1, 2,
        3, 4
    };
    for (int i = 0; i < 4; i++)
        fpgaWriteReg(fpga, i, data[i]);
    if (data[0])
    {
        fpgaWriteReg(fpga, 3, 5);
    }
    else
        printf("x");
    switch (data[1]) {
    case 1:
        fpgaWriteReg(fpga, 4, TWICE(5));
        break;
    default:
        break;
    }
    do {
        data[1]--;
    } while (data[1]);
    printf("%u %d\\n",
           fpgaReadReg(fpga, 3), add(1, 2));
    fpgaClose(fpga);
    return 0;
}
int other;
"""
PROJECT = """\
schema_version: 1
name: everywhere
platform: nallatech_h101
host: {sources: [HOST]}
hardware: {sources: [HDL], top: top, read_out: {first: 0x8000, last: 0x800F}}
"""
FILES = {"top.v": VERILOG, "top.vhd": VHDL, "host.c": C, "host.cpp": C}


@pytest.mark.parametrize("text", ["WORK work()", "WORK"])
@pytest.mark.parametrize(
    ("name", "place"),
    [
        ("top.v", "alone"),
        ("top.v", "after code"),
        pytest.param("top.vhd", "alone", marks=NEEDS_GHDL),
        pytest.param("top.vhd", "after code", marks=NEEDS_GHDL),
        ("host.c", "alone"),  # a compiler refuses a directive after code
        ("host.cpp", "alone"),
    ],
)
def test_every_line_may_have_a_pragma_and_none_is_lost(tmp_path: Path, name: str, place: str, text: str) -> None:
    """`WORK` alone lacks its category."""
    syntax = syntax_of(name)
    assert syntax is not None
    pragmas, lines = [], []
    for number, line in enumerate(FILES[name].splitlines()):
        pragma = syntax.pragma + text.replace("WORK", f"at_{number}")
        lines += [f"{line} {pragma}"] if place == "after code" else [pragma, line]
        pragmas.append(len(lines) - (place == "alone"))
    for file in ("top.v", "host.c"):
        (tmp_path / file).write_text(FILES[file])
    (tmp_path / name).write_text("\n".join([*lines, ""]))
    project = tmp_path / "everywhere.workbench.yaml"
    host, hdl = (name, "top.v") if syntax.directives else ("host.c", name)
    project.write_text(PROJECT.replace("HOST", host).replace("HDL", hdl))
    found = open_workspace(project, load_plugins()).scan({})
    counted = {
        p.line for one in (*found.hdl.blocks, *found.host.calls) for p in one.pragmas if Path(p.file).name == name
    }
    reported = {one.line for one in found.diagnostics if Path(one.file or "").name == name}
    assert set(pragmas) <= counted | reported
    assert (place == "alone" and text != "WORK") == bool(counted)
