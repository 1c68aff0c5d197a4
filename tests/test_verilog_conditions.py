"""What a scan says about pragmas' conditions in Verilog: wrong ones with their line, right ones not at all."""

import shutil
from pathlib import Path

import pytest
from memory_port import CLOCK, HARDWARE, PLATFORM
from rc_workbench_plugins.verilog import VerilogLanguage

from workbench.cli.main import main
from workbench.model.application import HardwareSources, ReadOut
from workbench.model.diagnostic import Diagnostic, Severity

PACKAGE = """\
package kinds;
  typedef enum logic [1:0] { IDLE, FILL, DRAIN } phase_t;
  typedef struct packed { logic valid; logic [6:0] size; } word_t;
  function automatic logic odd(input logic [6:0] n); return n[0]; endfunction
endpackage
"""
TOP = """\
`include "widths.vh"
`define FULL(n) ((n) == WIDTH)
module top import kinds::*; #(parameter WIDTH = 4) (input wire clk, input wire rst, input wire [7:0] go, output reg q);
  localparam LAST = WIDTH - 1;
  phase_t phase;
  word_t word;
  reg [7:0] memory [0:3];
  wire [7:0] sum = go + 1;
  assign unseen = go[0];
  for (genvar i = 0; i < 2; i++) begin : lane
    reg mine;
    always @(posedge clk) begin : step
      integer k;
      //pragma recap take recv(data, $CPU, x1): %s
      for (int n = 0; n < 2; n++) k = n;
      mine <= go[i];
    end
  end
  always @(posedge clk) q <= lane[0].mine ^ lane[1].mine;
endmodule
"""


def diagnosed(folder: Path, condition: str, **others: str) -> tuple[Diagnostic, ...]:
    (folder / "kinds.sv").write_text(PACKAGE)
    (folder / "widths.vh").write_text("`define DEPTH 12\n")
    (folder / "top.sv").write_text(TOP % condition)
    hardware = HardwareSources(
        sources=("kinds.sv", "top.sv"), top="top", read_out=ReadOut(first=0, last=15), defines={"BUILD": "3"}
    )
    platform = PLATFORM.model_copy(update=others)
    return VerilogLanguage().scan(folder, hardware, platform, {}).diagnostics


@pytest.mark.parametrize(
    "right",
    [
        "go == 0", "go[i]", "go[LAST:0] == `DEPTH && `FULL(go)", "go > `BUILD", "phase == DRAIN", "word.valid",
        "kinds::odd(word.size)", "odd(word.size)", "mine && !rst", "memory[go[1:0]] == sum", "k > WIDTH", "unseen",
        "$signed(go) < 0", "lane[0].mine", "go inside {1, [3:5]}", "word == '{valid: 1, size: 0}", "top.go == 0",
        "phase_t'(go[1:0]) == kinds::FILL", "q ? 1'b1 : ^go",
    ],
)  # fmt: skip
def test_right_conditions_are_silent(tmp_path: Path, right: str) -> None:
    assert [d.text() for d in diagnosed(tmp_path, right)] == []


@pytest.mark.parametrize(
    ("wrong", "says", "hint"),
    [
        ("nosuch >", "expected expression", "Write a Verilog expression"),
        ("go ==", "expected expression", "Write a Verilog expression"),
        ("(go == 0", "expected ')'", "Write a Verilog expression"),
        ("go == 0)", "expected", "Write a Verilog expression"),
        ("go = '1' and", "", "Write a Verilog expression"),
        ("`NOSUCH == 1", "`NOSUCH", "Write a Verilog expression"),
        ("nosuch == 1", "there is no 'nosuch' here", "Write a Verilog expression"),
        ("phaze == FILL", "there is no 'phaze' here", "Did you mean 'phase'?"),
        ("WIDHT > 3", "there is no 'WIDHT' here", "Did you mean 'WIDTH'?"),
        ("mien[0]", "there is no 'mien' here", "Did you mean 'mine'?"),
        ("nosuch(go)", "there is no 'nosuch' here", "Write a Verilog expression"),
    ],
)
def test_wrong_conditions_are_told_with_their_line(tmp_path: Path, wrong: str, says: str, hint: str) -> None:
    (problem,) = diagnosed(tmp_path, wrong)
    assert (problem.file, problem.line, problem.column, problem.severity) == ("top.sv", 14, 7, Severity.ERROR)
    assert problem.message.startswith("the condition of the pragma 'take' is wrong: ")
    assert says in problem.message
    assert hint in problem.hint


def test_every_unknown_name_is_told(tmp_path: Path) -> None:
    assert ["'one'" in d.message or "'two'" in d.message for d in diagnosed(tmp_path, "one && go && two")] == [True] * 2


def test_a_block_that_is_not_observed_cannot_fail_for_its_condition(tmp_path: Path) -> None:
    port = HARDWARE.model_copy(update={"clocks": (CLOCK.model_copy(update={"name": "other"}),)})
    (problem,) = diagnosed(tmp_path, "nosuch == 1", hardware=port)
    assert problem.severity is Severity.WARNING


def test_the_command_tells_both_languages_conditions(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    shutil.copytree(Path(__file__).parent / "data" / "tiny", tmp_path / "tiny")
    project = next((tmp_path / "tiny").glob("*.workbench.yaml"))
    assert main(["scan", str(project)]) == 0
    host = tmp_path / "tiny" / "host" / "main.c"
    host.write_text(host.read_text().replace("w1): WORDS > 0", "w1): WROD > 0"))
    assert main(["scan", str(project)]) != 0
    told = capsys.readouterr()
    assert "host/main.c:15:" in told.out + told.err
    assert "undeclared identifier 'WROD'" in told.out + told.err
