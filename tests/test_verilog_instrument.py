"""Instrumented Verilog in simulation: outputs as before, and counts equal to those of the design's own outputs.

Each block of the designs below also drives `out` with the number of the state that its author knows it to be in,
set by hand beside what the pragmas say; those outputs are counted in Python.
"""

import hashlib
import random
import re
import shutil
import subprocess
from pathlib import Path

import numpy as np
import pytest
from answers import refusal
from memory_port import PLATFORM
from numpy.typing import NDArray
from rc_workbench_plugins.verilog import VerilogLanguage
from rtl_simulator import Cycle, Simulator, simulate

from workbench.api import HdlBuild
from workbench.model.application import HardwareSources, ReadOut
from workbench.model.blocks import Side
from workbench.model.diagnostic import OfProject, WorkbenchError
from workbench.model.pragma import Category
from workbench.model.run_tables import Table

READ_OUT = ReadOut(first=0x3F00, last=0x3F0F)
PORTS = """input wire clk, input wire rst, input wire [15:0] addr, input wire wr_en, input wire rd_en,
    input wire [31:0] wr_data, output reg [31:0] rd_data, input wire [31:0] in, output wire [63:0] out"""

LEAF = """\
`timescale 1ns/1ps
`define NEXT(s) state <= s
module leaf (clk, rst, go, seen);   // ports declared below, as in Verilog-1995
    parameter DEPTH = 2;
    input clk, rst;
    input [1:0] go;
    output [1:0] seen;
    reg [1:0] seen, state;
    // an asynchronous reset, and arms without begin
    always @(posedge clk or posedge rst)
        if (rst) begin
            //pragma recap inReset overhead(init)
            state <= 0; seen <= 0;
        end else case (state)
            0:
                //pragma recap idle wait_recv(late_sender, top.feed, x1): go == 0
                //pragma recap start recv(data, top.feed, x1): go[0]
                begin seen <= go[0] ? 2 : go == 0 ? 1 : 0; if (go != 0) `NEXT(1); end
            1: begin : working
                integer i;
                //pragma recap work work()
                seen <= 3;
                for (i = 0; i < DEPTH; i = i + 1) if (go == i) state <= 2;
            end
            default: begin seen <= 0; state <= go[1] ? 0 : 2; end
        endcase
endmodule
"""
TOP = """\
module pair #(parameter N = 1) (input wire clk, rst, input wire [3:0] go, output wire [3:0] seen);
    leaf #(.DEPTH(N)) a (clk, rst, go[1:0], seen[1:0]);
    generate if (N > 1) begin : big
        leaf b (.clk(clk), .rst(rst), .go(go[3:2]), .seen(seen[3:2]));
    end else begin : little
        reg seen_here;
        always @(posedge clk) begin
            seen_here <= 0;
            if (go[3])
                //pragma recap few work()
                seen_here <= 1;
        end
        assign seen[3:2] = {1'b0, seen_here};
    end endgenerate
endmodule

module top #(parameter ROWS = 3, parameter [7:0] MASK = 8'hff, parameter NAME = "none") (
    PORTS // the last
);
    genvar r, c;
    generate
        for (r = 1; r <= ROWS; r = r + 1) begin : row
            pair #(.N(r)) p (.clk(clk), .rst(rst), .go(in[4*r-1 -: 4]), .seen(out[4*r-1 -: 4]));
        end
        for (r = 0; r < 2; r = r + 1) begin : grid
            for (c = 4; c > 0; c = c - 2) begin : spot
                reg seen_here = 0;
                always_ff @(posedge clk) begin
                    //pragma recap always_on work()
                    seen_here <= 1;
                    if (in[r + c]) begin
                        //pragma recap unless overhead(update)
                        seen_here <= 0;
                    end
                end
                assign out[12 + 2*r + c/2 - 1] = seen_here;
            end
        end
    endgenerate
    wire [5:0] many_seen;
    leaf many [0:2] (.clk(clk), .rst(rst), .go(in[17:12]), .seen(many_seen));
    assign out[21:16] = many_seen;
    reg [1:0] feed_seen;
    always @(posedge clk) begin : feed
        feed_seen <= 0;
        if (rst) rd_data <= 0;
        else if (rd_en)
            //pragma recap answer send(data|ctrl, $CPU, r1|r2)
            begin rd_data <= addr + MASK; feed_seen <= 1; end
        else if (wr_en) begin end
        else casez (in[20:18])
            3'b1??: begin
                //pragma recap high work()
                feed_seen <= 2;
            end
            3'b01?, 3'b001: begin
                //pragma recap low overhead(update)
                feed_seen <= 3;
            end
        endcase
    end
    assign out[23:22] = feed_seen;
    reg unseen = 0;
    always @(posedge clk) unseen <= in[0];
    assign out[63:24] = unseen;
endmodule
""".replace("PORTS", PORTS)
# the block, and the bits of `out` where it says for itself which state it was in; unseen codes are its own
WITNESSES = {
    **{f"top.row[{r}].p.a.line_10": (4 * r - 4, 2, (0, 2, 3, 4)) for r in (1, 2, 3)},
    "top.row[1].p.little.line_7": (2, 2, (0, 1)),
    **{f"top.row[{r}].p.big.b.line_10": (4 * r - 2, 2, (0, 2, 3, 4)) for r in (2, 3)},
    **{f"top.grid[{r}].spot[{c}].line_29": (12 + 2 * r + c // 2 - 1, 1, (2, 1)) for r in (0, 1) for c in (2, 4)},
    **{f"top.many[{i}].line_10": (20 - 2 * i, 2, (0, 2, 3, 4)) for i in (0, 1, 2)},
    "top.feed": (22, 2, (0, 1, 2, 3)),
}


@pytest.fixture(scope="module")
def simulator(tmp_path_factory: pytest.TempPathFactory) -> Simulator:
    return Simulator(tmp_path_factory.mktemp("models"))


def write(folder: Path, **files: str) -> HardwareSources:
    folder.mkdir(parents=True, exist_ok=True)
    for name, text in files.items():
        (folder / name.replace("_", ".")).write_text(text)
    return HardwareSources(sources=tuple(n.replace("_", ".") for n in files), top="top", read_out=READ_OUT)


def instrument(folder: Path, hardware: HardwareSources, parameters: dict[str, str] | None = None) -> HdlBuild:
    return VerilogLanguage().instrument(folder, hardware, PLATFORM, parameters or {}, folder / "observed")


def stimulus(count: int, seed: int) -> list[Cycle]:
    source = random.Random(seed)
    cycles, value = [Cycle(rst=1, stimulus=source.getrandbits(32)) for _ in range(3)], 0
    while len(cycles) < count:
        value = source.getrandbits(32) & source.getrandbits(32) if source.random() < 0.6 else value
        read, write = source.choice(((0, 0), (0, 0), (1, 0), (0, 1)))
        cycles.append(Cycle(addr=source.randrange(64), rd_en=read, wr_en=write, stimulus=value))
    return cycles


def read_out(build: HdlBuild) -> list[Cycle]:
    plan = build.read_out
    assert plan is not None
    control, select, data = (access.address for access in (plan.freeze, *plan.each))
    words = [(Cycle(addr=select, wr_en=1, wr_data=i), Cycle(), Cycle(addr=data, rd_en=1), Cycle())
             for i in range(plan.words)]  # fmt: skip
    return [Cycle(addr=control, wr_en=1, wr_data=1), *(cycle for word in words for cycle in word)]


def run_both(
    simulator: Simulator, folder: Path, hardware: HardwareSources, build: HdlBuild, cycles: list[Cycle]
) -> tuple[NDArray[np.uint64], NDArray[np.uint64], dict[str, Table]]:
    """Simulate the design as it was and as instrumented, and hold their outputs against each other.

    Returns `out` and the taps in the cycle after each counted one (the first three are in reset), and the tables.
    """
    plain = simulate(simulator.build([folder / name for name in hardware.sources], "top"), [*cycles, Cycle()])
    observed = simulator.build(
        build.sources,
        "top",
        defines=build.simulation.defines,
        include_dirs=build.files.include_dirs,
        taps="dut.recap_taps",
    )
    seen = simulate(observed, cycles + read_out(build))
    count = len(cycles) + 1
    assert plain.out.tolist() == seen.out[:count].tolist()
    assert plain.rd_data.tolist() == seen.rd_data[:count].tolist()
    words = seen.rd_data[count + 3 :: 4][: build.read_out.words].astype(np.uint32)
    return plain.out[4:], seen.taps[4:count], VerilogLanguage().decode(build, words)


def check_counts(build: HdlBuild, tables: dict[str, Table], states: dict[str, NDArray[np.int64]], total: int) -> None:
    """`states`: of each observed block in each counted cycle."""
    time, moves = tables["state_time"], tables["transitions"]
    for number, block in enumerate(build.blocks):
        cycles = time["cycles"][time["block"] == number]
        assert cycles.sum() == total, block.id
        assert len(cycles) == len(block.states)
        if block.id not in states:
            assert cycles.tolist() == [total]
            continue
        sequence = states[block.id]
        assert len(sequence) == total
        assert cycles.tolist() == np.bincount(sequence, minlength=len(block.states)).tolist(), block.id
        changed = sequence[1:] != sequence[:-1]
        pairs, counts = np.unique(np.stack([sequence[:-1], sequence[1:]])[:, changed], axis=1, return_counts=True)
        mine = moves["block"] == number
        found = zip(moves["from_state"][mine], moves["to_state"][mine], moves["count"][mine], strict=True)
        assert {(a, b): n for a, b, n in found} == {
            (a, b): n for (a, b), n in zip(pairs.T.tolist(), counts.tolist(), strict=True)
        }, block.id


def test_a_design_of_many_kinds_of_block(simulator: Simulator, tmp_path: Path) -> None:
    hardware = write(tmp_path, leaf_v=LEAF, top_sv=TOP)
    before = {path: hashlib.sha256(path.read_bytes()).digest() for path in tmp_path.iterdir()}
    build = instrument(tmp_path, hardware)
    assert {path: hashlib.sha256(path.read_bytes()).digest() for path in before} == before
    assert build.missed == ()
    observed = {block.id for block in build.blocks if len(block.states) > 1}
    assert observed == set(WITNESSES)
    cycles = stimulus(1500, 1)
    out, taps, tables = run_both(simulator, tmp_path, hardware, build, cycles)
    states = {}
    for name, (lsb, width, codes) in WITNESSES.items():
        shown = out >> np.uint64(lsb) & np.uint64((1 << width) - 1)
        states[name] = np.array(codes)[shown.astype(int)]
    # where the leaf's own word is ambiguous (0 also stands for a state without pragma) codes[0] is unclassified
    check_counts(build, tables, states, len(cycles) - 3)
    for block, (lsb, width) in zip(build.blocks, build.simulation.taps, strict=True):
        if width:
            tapped = taps >> np.uint64(lsb) & np.uint64((1 << width) - 1)
            assert tapped.tolist() == states[block.id].tolist(), block.id


def test_what_the_build_tells(tmp_path: Path) -> None:
    build = instrument(tmp_path, write(tmp_path, leaf_v=LEAF, top_sv=TOP), {"ROWS": "2"})
    blocks = {block.id: block for block in build.blocks}
    feed = blocks["top.feed"]
    assert (feed.side, feed.component, feed.group, feed.kind, feed.file, feed.line) == (
        Side.FPGA, "top", "top.feed", "always", "top.sv", 45,
    )  # fmt: skip
    assert feed.clock == "clk"
    assert [(s.index, s.name, s.category) for s in feed.states] == [
        (0, "unclassified", None), (1, "answer", Category.SEND), (2, "high", Category.WORK),
        (3, "low", Category.OVERHEAD),
    ]  # fmt: skip
    assert (feed.states[1].reasons, feed.states[1].messages) == (("data", "ctrl"), ("r1", "r2"))
    assert (feed.states[1].file, feed.states[1].line) == ("top.sv", 49)
    leaf = blocks["top.row[2].p.big.b.line_10"]
    assert (leaf.component, leaf.group) == ("top.row[2].p.big.b", "top.row[*].p.big.b.line_10")
    assert "top.row[3].p.a.line_10" not in blocks, "ROWS is 2"
    assert (build.top, build.simulation.defines) == ("top", ("RECAP_TAPS",))
    plan = build.read_out
    assert plan is not None
    assert (plan.first, plan.last) == (READ_OUT.first, READ_OUT.last)
    assert plan.words % 2 == 0
    widths = {block.id: width for block, (_, width) in zip(build.blocks, build.simulation.taps, strict=True)}
    assert (
        widths["top.feed"],
        widths["top.row[1].p.little.line_7"],
        next(w for name, w in widths.items() if name.startswith("top.line_")),
    ) == (2, 1, 0)
    taken = [bit for lsb, width in build.simulation.taps for bit in range(lsb, lsb + width)]
    assert len(set(taken)) == len(taken)
    assert max(taken) < build.simulation.tap_bits


def test_lines_stay_where_they_were(tmp_path: Path) -> None:
    hardware = write(tmp_path, leaf_v=LEAF, top_sv=TOP)
    instrument(tmp_path, hardware)
    for name, text in (("leaf.v", LEAF), ("top.sv", TOP)):
        copy = (tmp_path / "observed" / name).read_text()
        assert copy.count("\n") == text.count("\n")
        stripped = re.sub(r"recap_\w+", "", copy)
        assert all(word in stripped for word in re.findall(r"\w+", text) if "recap" not in word and word != "top")


def random_fsm(source: random.Random, name: str) -> str:
    """A module with one block of nested branches in any style; `seen` tells the state, set by hand."""
    pragmas = 0

    def statement(depth: int, indent: str) -> str:
        nonlocal pragmas
        kind = source.choice(("if", "if-else", "case")) if depth else "leaf"
        mark, code = "", 0
        if source.random() < 0.7:
            pragmas += 1
            code = pragmas
            mark = f"{indent}//pragma recap s{code} work()\n"
        tell = f"{indent}seen = {code};\n" if code else ""
        move = f"{indent}s <= s * {source.randrange(1, 8, 2)} + in[{source.randrange(8)}] + {source.randrange(4)};\n"
        if kind == "leaf":
            inner = move
        elif kind == "case":
            arms = "".join(f"{indent}{i}:\n{arm(depth - 1, indent + '  ')}" for i in range(source.randrange(1, 4)))
            other = f"{indent}default:\n{arm(depth - 1, indent + '  ')}" if source.random() < 0.7 else ""
            inner = f"{indent}case ({source.choice(('s[1:0]', 'in[1:0]', 's[3:2]'))})\n{arms}{other}{indent}endcase\n"
        else:
            inner = (
                f"{indent}if (in[{source.randrange(8)}] ^ s[{source.randrange(4)}])\n{arm(depth - 1, indent + '  ')}"
            )
            if kind == "if-else":
                inner += f"{indent}else\n{arm(depth - 1, indent + '  ')}"
        return f"{mark}{tell}{inner}"

    def arm(depth: int, indent: str) -> str:
        return f"{indent}begin\n{statement(depth, indent + '  ')}{indent}end\n"

    body = statement(3, "      ")
    reset = source.random() < 0.5
    head = "@(posedge clk or posedge rst) if (rst) begin s <= 0; told <= 0; end else" if reset else "@(posedge clk)"
    return f"""module {name}(input wire clk, input wire rst, input wire [7:0] in, output reg [4:0] told);
  reg [3:0] s = 0;
  reg [4:0] seen;
  always {head} begin : fsm
      seen = 0;
{body}      told <= seen;
  end
endmodule
"""


def test_random_machines(simulator: Simulator, tmp_path: Path) -> None:
    source = random.Random(1)
    machines = [random_fsm(source, f"m{i}") for i in range(12)]
    # the body's own pragma, if any, must stand before its first statement
    machines = [re.sub(r"( +seen = 0;\n)( +//pragma[^\n]*\n)?", r"\2\1", text, count=1) for text in machines]
    uses = "".join(f"  m{i} u{i}(clk, rst, in[{i}+:8], told[{5 * i}+:5]);\n" for i in range(12))
    top = f"module top({PORTS});\n  wire [59:0] told;\n{uses}  assign out = told;\n"
    top += "  always @(posedge clk) rd_data <= addr;\nendmodule\n"
    hardware = write(tmp_path, machines_v="".join(machines), top_v=top)
    build = instrument(tmp_path, hardware)
    cycles = stimulus(2000, 2)
    out, _, tables = run_both(simulator, tmp_path, hardware, build, cycles)
    states = {}
    for i, text in enumerate(machines):
        marks = [int(n) for n in re.findall(r"pragma recap s(\d+)", text)]
        numbers = np.zeros(32, dtype=int)
        numbers[marks] = np.arange(1, len(marks) + 1)
        if marks:
            block = next(b.id for b in build.blocks if b.component == f"top.u{i}")
            states[block] = numbers[(out >> np.uint64(5 * i) & np.uint64(31)).astype(int)]
    check_counts(build, tables, states, len(cycles) - 3)


WAITS = f"""
module part (input wire clk, input wire rst, input wire go, input wire [3:0] limit, output reg done);
    reg [3:0] count;
    reg busy;
    always @(posedge clk) begin : counter
        done <= 0;
        if (rst) begin
            busy <= 0;
            count <= 0;
        end else if (!busy) begin
            //pragma recap idle wait_recv(late_sender, top.starter, go)
            busy <= go;
        end else if (count != limit) begin
            //pragma recap counts wait_recv(late_sender, top.starter, limit)
            count <= count + 1;
        end else begin
            //pragma recap ends work()
            count <= 0;
            busy <= 0;
            done <= 1;
        end
    end
endmodule
module top ({PORTS});
    reg start = 0, aside = 0;
    reg [3:0] limit = 3;
    wire one_done, other_done, all_done = one_done & other_done;
    reg [1:0] state;
    always @(posedge clk) begin : setter
        if (wr_en) limit <= wr_data[3:0];
    end
    always @(posedge clk) begin : unrelated
        aside <= ~aside;
    end
    always @(posedge clk) begin : starter
        if (rst) state <= 0;
        else case (state)
            0: begin
                //pragma recap waitWrite wait_recv(late_sender, $CPU, w)
                if (wr_en & addr == 4) state <= 1;
            end
            1: begin
                //pragma recap starts work()
                state <= 2;
            end
            default: begin
                //pragma recap waitParts wait_recv(barrier, top.part[*], d)
                if (all_done) state <= 0;
            end
        endcase
        start <= state == 1;
    end
    part one (.clk(clk), .rst(rst), .go(start), .limit(limit), .done(one_done));
    part other (.clk(clk), .rst(rst), .go(start), .limit(4'd9), .done(other_done));
    assign out = state;
    always @(posedge clk) if (rd_en) rd_data <= state;
endmodule
"""


def test_a_wait_says_whose_registers_end_it(tmp_path: Path) -> None:
    build = instrument(tmp_path, write(tmp_path, top=WAITS))
    waits = {(block.id, state.name): state.depends for block in build.blocks for state in block.states[1:]}
    assert waits == dict.fromkeys(waits, ()) | {
        ("top.starter", "waitWrite"): ("$CPU",),
        ("top.starter", "waitParts"): ("top.one.counter", "top.other.counter"),
        ("top.one.counter", "idle"): ("top.starter",),
        ("top.one.counter", "counts"): ("top.setter",),
        ("top.other.counter", "idle"): ("top.starter",),
    }


def test_a_wrong_condition_is_traced_to_its_pragma(tmp_path: Path) -> None:
    hardware = write(tmp_path, leaf_v=LEAF.replace("go[0]\n", "gone[0]\n", 1), top_sv=TOP)
    with pytest.raises(WorkbenchError) as caught:
        instrument(tmp_path, hardware)
    assert [(d.file, d.line) for d in caught.value.diagnostics] == [("leaf.v", 17)]
    assert "condition of the pragma 'start' is wrong" in str(caught.value)
    assert "gone" in str(caught.value)


def test_a_top_level_that_lacks_the_ports_signals(tmp_path: Path) -> None:
    hardware = write(tmp_path, leaf_v=LEAF, top_sv=TOP.replace("rd_en", "read"))
    with pytest.raises(WorkbenchError, match=r"no ports named .*port host's read enable 'rd_en'"):
        instrument(tmp_path, hardware)
    with pytest.raises(WorkbenchError, match=r"no ports named .*port host's write data 'wr_data'"):
        instrument(tmp_path, write(tmp_path, leaf_v=LEAF, top_sv=TOP.replace("wr_data", "wdata")))


def test_files_that_reset_directives_and_time_scales(tmp_path: Path) -> None:
    leaf = "`resetall\n`default_nettype none\n" + LEAF.replace("    input", "    input wire") + "`resetall\n"
    leaf = leaf.replace("output [1:0] seen;", "output wire [1:0] seen;").replace(
        "reg [1:0] seen, state", "reg [1:0] state"
    )
    leaf = leaf.replace("seen <=", "told <=").replace("reg [1:0] state;", "reg [1:0] state, told; assign seen = told;")
    build = instrument(tmp_path, write(tmp_path, leaf_v=leaf, top_sv=TOP))
    assert len([block for block in build.blocks if len(block.states) > 1]) == len(WITNESSES)
    assert all("`timescale" in path.read_text() for path in build.sources if path.parent.name == "recap")
    plain = instrument(tmp_path, write(tmp_path, leaf_v=LEAF.replace("`timescale 1ns/1ps", ""), top_sv=TOP))
    assert not any("`timescale" in path.read_text() for path in plain.sources)


def test_ports_that_end_in_a_comma(tmp_path: Path) -> None:
    """As yosys, Verilator and Icarus take them."""
    top = TOP.replace("output wire [3:0] seen);", "output wire [3:0] seen,);")
    assert top != TOP
    build = instrument(tmp_path, write(tmp_path, leaf_v=LEAF, top_sv=top))
    assert len([block for block in build.blocks if len(block.states) > 1]) == len(WITNESSES)


def test_a_block_of_very_many_states_says_what_it_costs(tmp_path: Path) -> None:
    arms = "".join(
        f"        {i}: begin\n            //pragma recap s{i} work()\n            n <= {i};\n        end\n"
        for i in range(20)
    )
    text = f"module top({PORTS});\n  reg [4:0] n;\n  always @(posedge clk) case (in)\n{arms}  endcase\n"
    text += "  always @(posedge clk) rd_data <= n;\n  assign out = n;\nendmodule\n"
    build = instrument(tmp_path, write(tmp_path, top_v=text))
    assert [(d.severity.value, d.file, d.line) for d in build.diagnostics] == [("note", "top.v", 4)]
    assert "21 states: counting their pairs takes several block RAMs" in build.diagnostics[0].message


def test_a_folder_that_cannot_be_written(tmp_path: Path) -> None:
    hardware = write(tmp_path, leaf_v=LEAF, top_sv=TOP)
    (tmp_path / "observed").write_text("a file where a folder should be")
    with pytest.raises(WorkbenchError, match="cannot write the instrumented design"):
        instrument(tmp_path, hardware)


def test_what_cannot_be_observed_is_listed_and_left_alone(tmp_path: Path) -> None:
    slow = """assign out[63:25] = 0; reg slow; assign out[24] = slow; wire odd = in[20];
    always @(posedge odd) begin
        //pragma recap slow work()
        slow <= ~slow;
    end"""
    text = TOP.replace("assign out[63:24] = unseen;", slow)
    build = instrument(tmp_path, write(tmp_path, leaf_v=LEAF, top_sv=text))
    assert [(d.file, d.line) for d in build.missed] == [("top.sv", 67)]
    assert "it runs on 'odd', which is derived within the design" in build.missed[0].message
    assert "top.line_67" not in {block.id for block in build.blocks}


def test_a_block_is_observed_where_its_module_is_on_a_clock_of_the_platform(tmp_path: Path) -> None:
    """The others of its instances are told, and count for nothing."""
    slow = """assign out[63:26] = 0; wire odd = in[20];
    leaf #(1) slow(odd, rst, in[0], out[24]); leaf #(1) slower(odd, rst, in[0], out[25]);"""
    text = TOP.replace("assign out[63:24] = unseen;", slow)
    plain = instrument(tmp_path / "plain", write(tmp_path / "plain", leaf_v=LEAF, top_sv=TOP))
    build = instrument(tmp_path / "both", write(tmp_path / "both", leaf_v=LEAF, top_sv=text))
    assert [(d.file, d.line, d.message.partition(";")[0]) for d in build.missed] == [
        ("leaf.v", 10, "the block leaf.line_10 is not observed in top.slow and 1 more: it runs on 'clk', which is "
         "derived within the design"),
    ]  # fmt: skip
    assert [block.id for block in build.blocks] == [block.id for block in plain.blocks]
    assert [block.states for block in build.blocks] == [block.states for block in plain.blocks]


@pytest.mark.parametrize("made", ["wire made = clk & in[20];", "reg made; always @(posedge clk) made <= ~made;"])
def test_a_block_on_a_made_clock_is_counted_in_its_sources_cycles(tmp_path: Path, made: str) -> None:
    """The simulated card counts it by its tap; on a board a monitor does, of that clock where it is not timed with its
    source."""
    text = TOP.replace(
        "assign out[63:24] = unseen;", f"assign out[63:25] = 0; {made} leaf #(1) slow(made, rst, in[0], out[24]);"
    )
    build = instrument(tmp_path, write(tmp_path, leaf_v=LEAF, top_sv=text))
    (number,) = (n for n, block in enumerate(build.blocks) if block.id == "top.slow.line_10")
    assert (build.missed, build.blocks[number].clock, build.simulation.taps[number][1]) == ((), "clk", 3)
    plan = build.read_out
    assert plan is not None
    assert plan.reaches(number)
    assert any(number == block for counter in plan.counters for block, _ in counter.watched)


def test_a_port_that_cannot_be_observed_is_told(tmp_path: Path) -> None:
    hardware = write(tmp_path, leaf_v=LEAF, top_sv=TOP).model_copy(update={"observed_ports": ("hots",)})
    problem = refusal(instrument, tmp_path, hardware)
    assert (
        "the port 'hots' cannot be observed (hardware.observed_ports): the platform has no such port" in problem.message
    )
    assert problem.hint == "Did you mean 'host'?"
    assert isinstance(problem, OfProject)
    assert problem.keys == ("hardware", "observed_ports", 0)


@pytest.mark.skipif(shutil.which("yosys") is None, reason="yosys is not installed")
def test_synthesis_warns_of_nothing_new_and_finds_the_design_equivalent(tmp_path: Path) -> None:
    # yosys 0.23 reads no instance arrays with sliced ports
    one = TOP.replace("leaf many [0:2]", "leaf many").replace("in[17:12]", "in[13:12]")
    one = one.replace("wire [5:0] many", "wire [1:0] many")
    hardware = write(tmp_path, leaf_v=LEAF, top_sv=one)
    build = instrument(tmp_path, hardware)
    plain = " ".join(str(tmp_path / name) for name in hardware.sources)
    observed = " ".join(str(path) for path in build.sources)
    steps = "hierarchy -check -top top; proc; flatten; opt; memory -nomap; opt; check -assert"
    assert warnings(f"read_verilog -sv {observed}; {steps}") <= warnings(f"read_verilog -sv {plain}; {steps}")
    steps = [
        f"read_verilog -sv {plain}; hierarchy -top top; proc; flatten; memory; async2sync; opt_clean",
        "rename top gold; design -stash gold",
        f"read_verilog -sv {observed}; hierarchy -top top__recap_user; proc; flatten",
        "delete -port top__recap_user/recap_state; memory; async2sync; opt_clean",
        "rename top__recap_user gate; design -stash gate",
        "design -copy-from gold gold; design -copy-from gate gate; equiv_make gold gate both; hierarchy -top both",
        "equiv_struct both; equiv_simple -undef both; equiv_induct -undef both; equiv_status -assert both",
    ]
    yosys("; ".join(steps))


def yosys(script: str) -> str:
    done = subprocess.run(["yosys", "-p", script], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout[-2000:] + done.stderr[-2000:]
    return done.stdout + done.stderr


def warnings(script: str) -> set[str]:
    return {re.sub(r"\S*[:.\\$]\S*", "*", line) for line in yosys(script).splitlines() if line.startswith("Warning")}
