"""Generated state machines whose dwell times are known: counted by their own state register, and by an inserted one.

Each machine stays in a state for as long as a table says, and goes on to one of two states by a bit of the stimulus.
What it does in every cycle is computed in Python from these tables. It stands in the design twice: as it is, where its
register tells its state, and with conditions at its pragmas, so that it gets a register of its own. EXAMPLES=1000 in
the environment tries more of them.
"""

import os
import random
import re
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from memory_port import PLATFORM
from rc_workbench_plugins.verilog import VerilogLanguage
from rtl_simulator import Cycle, Simulator, simulate
from state_machines import PART, Machine, check_counts, cycles_of, machine, read_out

from workbench.api import HdlBuild
from workbench.model.application import HardwareSources, ReadOut
from workbench.model.hardware import Clock, Hardware
from workbench.model.run_tables import Table

PORTS = """input wire clk, input wire rst, input wire [15:0] addr, input wire wr_en, input wire rd_en,
    input wire [31:0] wr_data, output reg [31:0] rd_data, input wire [31:0] in, output wire [63:0] out"""
MACHINES = 6
EXAMPLES = int(os.environ.get("EXAMPLES", "12"))


def write(folder: Path, machines: list[Machine]) -> HardwareSources:
    texts = "".join(m.text(m.name, "") + m.text(f"{m.name}_inserted", ": 1'b1") for m in machines)
    uses = "".join(
        f"    {m.name}{kind} {m.name}{kind}_here(.clk(clk), .rst(rst), .bit_in(in[{m.bit}]));\n"
        for m in machines
        for kind in ("", "_inserted")
    )
    top = f"module top({PORTS});\n{uses}    assign out = 0;\n    always @(posedge clk) rd_data <= addr;\nendmodule\n"
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "top.v").write_text(texts + top)
    return HardwareSources(sources=("top.v",), top="top", read_out=ReadOut(first=0x3F00, last=0x3F0F))


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, HdlBuild, list[Machine]]:
    folder, source = tmp_path_factory.mktemp("machines"), random.Random(12)
    machines = [machine(source, f"m{n}") for n in range(MACHINES)]
    build = VerilogLanguage().instrument(folder, write(folder, machines), PLATFORM, {}, folder / "observed")
    model = Simulator(folder).build(build.sources, "top", defines=build.simulation.defines, taps="0")
    return model, build, machines


def counted(model: Path, build: HdlBuild, cycles: list[Cycle]) -> dict[str, Table]:
    plan = build.read_out
    assert plan is not None
    seen = simulate(model, [*cycles, *read_out(plan)])
    return VerilogLanguage().decode(build, seen.rd_data[len(cycles) + 4 :: 4][: plan.words].astype(np.uint32))


def tables_of(tables: dict[str, Table], block: int) -> dict[str, list[list[int]]]:
    """A block's rows of both tables, without its number."""
    return {
        name: [
            table[column][table["block"] == block].tolist() for column in table if column not in ("block", "time_ps")
        ]
        for name, table in tables.items()
    }


@settings(max_examples=EXAMPLES, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(PART, min_size=1, max_size=12))
def test_both_forms_count_what_the_tables_say(
    built: tuple[Path, HdlBuild, list[Machine]], parts: list[tuple[int, int, int]]
) -> None:
    model, build, machines = built
    cycles = cycles_of(parts)
    tables = counted(model, build, cycles)
    number = {block.component.removeprefix("top."): n for n, block in enumerate(build.blocks)}
    for one in machines:
        mine, inserted = (tables_of(tables, number[f"{one.name}{kind}_here"]) for kind in ("", "_inserted"))
        assert mine == inserted
        out = np.array([not cycle.rst for cycle in cycles])
        check_counts(tables, number[f"{one.name}_here"], one.states(cycles), out)


def test_only_the_conditions_bring_registers(built: tuple[Path, HdlBuild, list[Machine]]) -> None:
    _, build, machines = built
    text = next(path for path in build.sources if path.name == "top.v").read_text()
    marked = [one for one in machines if any(one.marks)]
    assert len(marked) >= MACHINES - 1
    for one in marked:
        own, inserted = re.findall(rf"module {one.name}(?:_inserted)?\(.*?endmodule", text, re.DOTALL)
        assert re.search(r"wire \[\d:0\] recap_st_\w+ = state == ", own)
        assert "recap_st_" in inserted
        assert "reg [" in re.search(r".*recap_st_\w+ = 0;", inserted)[0]


MACHINE = """\
module top(PORTS);
    reg [1:0] state = 0, other;
    reg paused = 0;
    wire low = !rst;
    assign out = state;
    always @(posedge clk) begin rd_data <= addr; paused <= in[1]; end
    always @(posedge clk) begin
        other <= state;
        if (rst) state <= 0;
        else case (state)
            0: begin
                //pragma recap idle wait_recv(late_sender, $CPU, x1)
                if (in[0]) state <= 1;
            end
            default: begin
                //pragma recap busy work()
                state <= 0;
            end
        endcase
    end
endmodule
""".replace("PORTS", PORTS)


@pytest.mark.parametrize(
    ("old", "new", "taps"),
    [
        ("", "", True),
        ("if (rst) state", "if (!low) state", True),
        ("if (rst) state", "if (rst == 1'b1) state", True),
        ("if (rst) state", "if (low) state", False),  # that is the time out of reset
        ("if (rst) state", "if (in[3]) state", False),  # a reset of its own
        ("if (rst) state <= 0;\n        else case", "case", False),  # counts on in reset
        ("else case", "else if (!paused) case", False),
        ("other <= state;", "state = state + in[2];", False),  # before it is asked
        ("case (state)", "case (state + paused)", False),
        ("case (state)", "case (other)", True),
        ("case (state)", "casez (state)", False),
        ("0: begin", "paused: begin", False),
        ("0: begin", "2'b0x: begin", False),
        ("posedge clk) begin\n        other", "negedge clk) begin\n        other", False),
        ("x1)", "x1): in[0]", False),
        ("state <= 0;\n            end\n        end", "state <= 0;\n            end\n        end", True),
        ("if (in[0]) state <= 1;", "if (in[0])\n//pragma recap go work()\nstate <= 1;", False),
        ("if (rst) state <= 0;", "if (rst)\n//pragma recap init overhead(init)\nstate <= 0;", False),
        ("other <= state;", "//pragma recap any work()\nother <= state;", False),
    ],
)
def test_where_a_register_is_proved_to_tell_the_state(old: str, new: str, taps: bool, tmp_path: Path) -> None:
    assert old in MACHINE
    (tmp_path / "top.v").write_text(MACHINE.replace(old, new, 1) if old else MACHINE)
    hardware = HardwareSources(sources=("top.v",), top="top", read_out=ReadOut(first=0x3F00, last=0x3F0F))
    VerilogLanguage().instrument(tmp_path, hardware, PLATFORM, {}, tmp_path / "observed")
    text = (tmp_path / "observed" / "top.v").read_text()
    assert bool(re.search(r"wire \[1:0\] recap_st_line_8 = ", text)) == taps


def test_a_reset_that_is_active_low(tmp_path: Path) -> None:
    (tmp_path / "top.v").write_text(MACHINE.replace("if (rst) state", "if (!rst) state"))
    hardware = HardwareSources(sources=("top.v",), top="top", read_out=ReadOut(first=0x3F00, last=0x3F0F))
    clock = Clock(name="clk", frequency_hz=100e6, reset="rst", reset_hdl="! rst")
    ports = PLATFORM.hardware.ports if PLATFORM.hardware else ()
    platform = PLATFORM.model_copy(update={"hardware": Hardware(clocks=(clock,), ports=ports)})
    VerilogLanguage().instrument(tmp_path, hardware, platform, {}, tmp_path / "observed")
    assert "wire [1:0] recap_st_line_8 = " in (tmp_path / "observed" / "top.v").read_text()
