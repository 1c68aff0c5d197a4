"""State registers, their values, and what branches ask for, as they are found after elaboration."""

from pathlib import Path

import pytest
from memory_port import PLATFORM
from rc_workbench_plugins.verilog import VerilogLanguage

from workbench.model.application import HardwareSources, ReadOut
from workbench.model.scan import Branch, HdlScan, StateRegister, Term

MACHINES = """\
module top(input wire clk, input wire rst, input wire start, input wire in_valid, output wire in_ready,
           output reg out_valid, input wire out_ready, input wire [1:0] kind, output reg [7:0] out_data);
    localparam IDLE = 2'd0, RUN = 2'd1, LOST = 2'd2, DONE = 2'd3;
    localparam A = 0, B = 1, C = 2;
    reg [1:0] state, next, held, size;
    reg [2:0] step;
    wire go;
    assign in_ready = state == RUN;
    gate gate(.clk(clk), .start(start), .go(go));
    always @(posedge clk or posedge rst)
        if (rst) state <= IDLE;
        else state <= next;
    always @* begin
        next = state;
        case (state)
            IDLE: if (go) next = RUN;
            RUN: if (in_valid) next = DONE;
            LOST: next = IDLE;
            DONE: next = IDLE;
        endcase
    end
    always @(posedge clk) begin : hot
        case (1'b1)
            step[A]: begin
                if (in_valid && in_ready)
                    step <= 3'b010;
            end
            step[B]: begin
                out_valid <= 1;
                if (!out_ready)
                    out_data <= 1;
                else
                    step <= go ? 3'b100 : 3'b010;
            end
            step[C]:
                step <= 3'b001;
            default:
                step <= 3'b001;
        endcase
    end
    always @(posedge clk) begin : others
        if (held == 0) begin
            held <= kind;
        end else if (held == 1)
            held <= 2;
        else
            held <= 0;
        case (size)
            0: out_data <= 2;
            1: out_data <= 3;
        endcase
        if (start)
            size <= 1;
        else
            size <= 0;
    end
endmodule
module gate(input wire clk, input wire start, output reg go);
    always @(posedge clk)
        go <= start;
endmodule
"""


def scan(folder: Path, text: str) -> HdlScan:
    (folder / "top.sv").write_text(text)
    hardware = HardwareSources(sources=("top.sv",), top="top", read_out=ReadOut(first=0, last=15))
    return VerilogLanguage().scan(folder, hardware, PLATFORM, {})


@pytest.fixture(scope="module")
def found(tmp_path_factory: pytest.TempPathFactory) -> HdlScan:
    return scan(tmp_path_factory.mktemp("machines"), MACHINES)


def register(found: HdlScan, name: str) -> StateRegister:
    return next(register for register in found.registers if register.name == name)


def branch(found: HdlScan, block: str, kind: str, label: str) -> Branch:
    owner = next(one for one in found.blocks if one.id == block)
    return next(one for one in owner.branches if (one.kind, one.label) == (kind, label))


def test_registers_are_state_machines_and_not_everything_that_is_compared(found: HdlScan) -> None:
    assert {one.name: one.block for one in found.registers} == {
        "state": "top.line_10", "step": "top.hot", "held": "top.others"
    }  # fmt: skip


def test_states_of_two_processes_are_followed_and_one_that_nothing_gives_is_told(found: HdlScan) -> None:
    state = register(found, "state")
    assert (state.component, state.file, state.line) == ("top", "top.sv", 5)
    assert [(v.name, v.condition, v.line, v.reached) for v in state.values] == [
        ("IDLE", "state == IDLE", 16, True),
        ("RUN", "state == RUN", 17, True),
        ("LOST", "state == LOST", 18, False),
        ("DONE", "state == DONE", 19, True),
    ]


def test_a_register_with_one_bit_for_each_state(found: HdlScan) -> None:
    assert [(v.name, v.condition, v.reached) for v in register(found, "step").values] == [
        ("A", "step[A]", True), ("B", "step[B]", True), ("C", "step[C]", True)
    ]  # fmt: skip
    taken = branch(found, "top.hot", "case", "step[B]")
    assert (taken.register, taken.values) == ("step", ("B",))


def test_a_register_that_is_given_data_too_may_hold_any_value(found: HdlScan) -> None:
    assert all(value.reached for value in register(found, "held").values)


def test_signals_that_branches_ask_for_and_who_drives_them(found: HdlScan) -> None:
    valid, ready = branch(found, "top.hot", "if", "in_valid && in_ready").terms
    assert valid == Term("in_valid", True, "", "in_valid", valid.stream)
    assert ready == Term("in_ready", True, "top", "", valid.stream)
    assert found.streams[valid.stream].id == "top.in"
    assert [t.high for t in branch(found, "top.hot", "if", "!out_ready").terms] == [False]
    assert [t.high for t in branch(found, "top.hot", "else", "").terms] == [True]


def test_enumerations_packages_and_parameters_give_names(tmp_path: Path) -> None:
    text = """\
package names; typedef enum logic [1:0] {IDLE, BUSY, DONE} state_t; endpackage
module top(input wire clk, input wire go);
    one #(.LAST(names::DONE)) first(.*);
    one #(.LAST(names::BUSY)) second(.*);
endmodule
module one #(parameter names::state_t LAST = names::DONE)(input wire clk, input wire go);
    names::state_t state = names::IDLE;
    always_ff @(posedge clk) begin : ctrl
        unique case (state)
            names::IDLE: begin if (go) state <= names::BUSY; end
            names::BUSY: state <= LAST;
            names::DONE: begin
                state <= names::IDLE;
            end
            default: state <= names::IDLE;
        endcase
    end
endmodule
"""
    (state,) = scan(tmp_path, text).registers
    assert [(v.name, v.condition) for v in state.values] == [
        ("IDLE", "state == names::IDLE"), ("BUSY", "state == names::BUSY"), ("DONE", "state == names::DONE")
    ]  # fmt: skip
    assert all(value.reached for value in state.values)  # in one of the instances
    one = MACHINES.replace("LOST: next = IDLE;", "LOST: next = 2'bx;")
    assert not any(v.name == "IDLE" and not v.reached for v in register(scan(tmp_path, one), "state").values)
