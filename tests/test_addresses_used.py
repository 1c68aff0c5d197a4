"""Addresses that a design answers at itself and the read-out's: what is compared with them, through wires, parts and
registers, in Verilog and VHDL."""

from pathlib import Path

import pytest

from workbench.hdl.verilog.addresses import addresses_answered
from workbench.hdl.verilog.design import read_design
from workbench.hdl.verilog.expressions import plain
from workbench.model.application import HardwareSources
from workbench.model.read_out import ReadOut
from workbench.session.make.pipeline import instrument_workspace
from workbench.session.open.examples import EXAMPLES, copy_example
from workbench.session.open.opening import open_workspace
from workbench.session.program.plugins import load_plugins

TOP = """
module top (input clk, input reset, input [15:0] addr, input [15:0] other, output reg [31:0] data);
    reg [15:0] held;
    wire [13:0] word = held[15:2];
    always @(posedge clk) begin
        if (reset) held <= 0; else held <= addr;
        data <= 0;
        COMPARED
    end
endmodule
"""


WIDE = """
module top (input clk, input [15:0] addr, input [1599:0] i, output reg [1599:0] o, output reg data);
    wire [1599:0] a0 = i;
    STAGES
    always @(posedge clk) begin
        o <= aLAST;
        data <= addr == 16'h8004;
    end
endmodule
"""


def test_long_vectors_cost_only_what_is_asked_of_them(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """An unrolled hash assigns vectors of 1,600 bits ten thousand times."""
    stages = [f"wire [1599:0] a{n + 1} = {{a{n}[1535:0], a{n}[1599:1536]}};" for n in range(20)]
    (tmp_path / "top.v").write_text(WIDE.replace("STAGES", "\n".join(stages)).replace("LAST", str(len(stages))))
    looked: list[int] = []

    def counting(expression: object, index: int) -> object:
        looked.append(index)
        return plain(expression, index)

    monkeypatch.setattr("workbench.hdl.verilog.addresses.plain", counting)
    hardware = HardwareSources(sources=("top.v",), top="top", read_out=ReadOut(first=0x8000, last=0x800F))
    (told,) = addresses_answered(read_design(tmp_path, hardware, {}), ["addr"], hardware.read_out)
    assert "0x8004" in told.message
    assert len(looked) < 100


@pytest.mark.parametrize(
    ("compared", "told"),
    [
        ("if (addr == 16'h8004) data <= 1;", "warning 0x8004"),
        ("case (held) 16'h7000: data <= 1; 16'h8008, 16'h9000: data <= 2; endcase", "warning 0x8008"),
        ("if (word == 14'h2001) data <= 1;", "warning 0x8004 to 0x8007"),
        ("if (addr[15:12] == 4'h8) data <= 1;", "note 0x8000 to 0x8fff"),
        ("if (addr[15:12] == 4'h8 && addr[15:8] == 8'h80) data <= 1;", "note 0x8000 to 0x80ff"),
        ("if (~addr == 16'h7ffb) data <= 1;", "warning 0x8004"),
        ("if (addr[15:12] == 4'h7) data <= 1;", ""),
        ("if (addr[3:2] == 2'd1) data <= 1;", ""),  # which does not tell where
        ("if (other == 16'h8004) data <= 1;", ""),
        ("if (clk && addr >= 16'h8004 && 16'h8007 >= addr) data <= 1;", "warning 0x8004 to 0x8007"),
        ("if (addr > 16'h7fff) data <= 1;", "note 0x8000 to 0xffff"),
        ("if (word < 14'h2001 & addr >= 16'h100) data <= 1;", "note 0x0 to 0x8003"),
        ("if ($signed({16'b0, held}) < 32'sd32768) data <= 1;", ""),
        ("if (addr < 16'h8000 && addr >= 16'h9000) data <= 1;", ""),
        ("if (addr inside {[16'h8001:16'h8002], 16'h9000}) data <= 1;", "warning 0x8001 to 0x8002"),
        ("casez (addr) 16'b1000_????_????_????: data <= 1; endcase", "note 0x8000 to 0x8fff"),
        ("casez (addr) 16'b1000_0000_0000_010?: data <= 1; endcase", "warning 0x8004 to 0x8005"),
        ("if (addr + 1 == 16'h8004) data <= 1;", ""),
    ],
)
def test_what_is_compared_with_addresses_of_the_read_out_is_told(tmp_path: Path, compared: str, told: str) -> None:
    (tmp_path / "top.v").write_text(TOP.replace("COMPARED", compared))
    hardware = HardwareSources(sources=("top.v",), top="top", read_out=ReadOut(first=0x8000, last=0x800F))
    found = [*addresses_answered(read_design(tmp_path, hardware, {}), ["addr"], hardware.read_out)]
    where = "the design itself answers at "
    said = [f"{d.severity.value} {d.message.removeprefix(where).partition(',')[0]}" for d in found]
    assert said == [told] * bool(told)
    assert all((d.file, d.line) == ("top.v", 8) for d in found)


@pytest.mark.parametrize(("form", "ending"), [("original", "v"), ("vhdl", "vhd")])
def test_a_project_whose_read_out_is_in_use_is_told_before_a_run(tmp_path: Path, form: str, ending: str) -> None:
    project = copy_example(EXAMPLES[0], tmp_path).with_name(f"{form}.workbench.yaml")
    _, hdl = instrument_workspace(open_workspace(project, load_plugins()), {"CORES": 2}, tmp_path / "tree")
    assert not [d for d in hdl.diagnostics if "answers at" in d.message]
    project.write_text(project.read_text().replace("{first: 0x8000, last: 0x800F}", "{first: 0x400, last: 0x40F}"))
    _, hdl = instrument_workspace(open_workspace(project, load_plugins()), {"CORES": 2}, tmp_path / "tree")
    (problem,) = (d for d in hdl.diagnostics if "answers at" in d.message)
    assert "answers at 0x400 to 0x7ff," in problem.message
    assert problem.file == str(project.parent / f"hdl/original/pdf2d_top.{ending}")
