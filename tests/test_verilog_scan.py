"""Reading Verilog: blocks, branches, pragmas, instances, clocks, and what is wrong with bad sources."""

import re
from pathlib import Path

import pytest
from memory_port import PLATFORM
from rc_workbench_plugins.verilog import VerilogLanguage

from workbench.api.languages import VERILOG
from workbench.api.source.edits import insert_pragma
from workbench.model.application import HardwareSources, ReadOut
from workbench.model.diagnostic import Severity
from workbench.model.pragma import Category, Pragma
from workbench.model.scan import Branch, HdlBlock, HdlScan


def scan(folder: Path, parameters: dict[str, str] | None = None, top: str = "top", **files: str) -> HdlScan:
    """Scan sources given as name="text"; `_` in a name stands for a dot."""
    for name, text in files.items():
        (folder / name.replace("_", ".")).write_text(text)
    sources = tuple(name.replace("_", ".") for name in files if not name.endswith("h"))
    hardware = HardwareSources(sources=sources, top=top, read_out=ReadOut(first=0, last=15))
    return VerilogLanguage().scan(folder, hardware, PLATFORM, parameters or {})


def only(found: HdlScan) -> HdlBlock:
    assert [d.text() for d in found.diagnostics] == []
    (block,) = found.blocks
    return block


def branch(block: HdlBlock, kind: str, label: str = "") -> Branch:
    return next(b for b in block.branches if b.kind == kind and b.label == label)


FSM = """\
module top(input wire clk, input wire rst, input wire [1:0] go, output reg [3:0] n);
    reg [1:0] state;
    always @(posedge clk) begin : ctrl
        //pragma recap whole overhead(update)
        if (rst) begin
            state <= 0;
        end else case (state)
            0:
                //pragma recap idle wait_recv(late_sender, $CPU, c1): go == 0
                //pragma recap take recv(ctrl, $CPU, c1): go != 0
                if (go != 0) state <= go;
            1, 2: begin : deep
                integer k;
                //pragma recap compute work()
                n <= n + 1;
                if (go[0])
                    state <= 3;
                else state <= 0;
            end
            default: state <= 0;
        endcase
    end
endmodule
"""


def test_branches_and_the_pragmas_before_their_first_statements(tmp_path: Path) -> None:
    block = only(scan(tmp_path, top_v=FSM))
    assert (block.id, block.component, block.kind, block.file) == ("top.ctrl", "top", "always", "top.v")
    assert (block.line, block.end_line, block.clock, block.edge) == (3, 22, "clk", "posedge")
    assert block.instances == ("top.ctrl",)
    assert [(b.kind, b.label) for b in block.branches] == [
        ("body", ""), ("if", "rst"), ("else", ""), ("case", "0"), ("if", "go != 0"), ("case", "1, 2"), ("if", "go[0]"),
        ("else", ""), ("default", "default"),
    ]  # fmt: skip
    names = {(b.kind, b.label): [p.pragma.name for p in b.pragmas] for b in block.branches if b.pragmas}
    assert names == {("body", ""): ["whole"], ("case", "0"): ["idle", "take"], ("case", "1, 2"): ["compute"]}
    assert branch(block, "case", "0").pragmas[0].pragma.condition == "go == 0"


def test_where_a_pragma_would_go(tmp_path: Path) -> None:
    block = only(scan(tmp_path, top_v=FSM))
    places = {(b.kind, b.label, b.line): (b.pragma_line, b.indent) for b in block.branches}
    assert places["if", "rst", 5] == (6, 13)
    assert places["case", "0", 8] == (11, 17), "after the pragmas that are there"
    assert places["case", "1, 2", 12] == (15, 17), "after the declarations"
    assert places["if", "go[0]", 16] == (17, 21)
    assert places["else", "", 18] == (18, 21), "the line is parted"
    columns = {b.line: b.pragma_column for b in block.branches}
    assert (columns[16], columns[18]) == (0, len("                else ") + 1)


def test_a_pragma_inserted_where_scan_says_is_found_there(tmp_path: Path) -> None:
    for number, place in enumerate(only(scan(tmp_path, top_v=FSM)).branches):
        added = Pragma("added", Category.WORK)
        text = insert_pragma(FSM, place.pragma_line, place.indent, VERILOG, added, place.pragma_column)
        again = only(scan(tmp_path, top_v=text))
        assert again.branches[number].pragmas[-1].pragma.name == "added"
        assert text.count("added") == 1
        assert [b for b in text.split() if b not in ("//pragma", "recap", "added", "work()")] == [
            b for b in FSM.split() if b not in ("//pragma", "recap", "added", "work()")
        ]


def test_branches_in_one_line_can_be_marked_each(tmp_path: Path) -> None:
    text = """\
module top(input wire clk, input wire go, output reg n);
\talways @(posedge clk) if (go) n <= 1; else begin n <= 0; end
endmodule
"""
    block = only(scan(tmp_path, top_v=text))
    for number in (2, 1, 0):
        place, named = block.branches[number], Pragma(f"mark{number}", Category.WORK)
        text = insert_pragma(text, place.pragma_line, place.indent, VERILOG, named, place.pragma_column)
    assert text.splitlines()[1:] == [
        "\talways @(posedge clk)", "\t\t//pragma recap mark0 work()", "\t\tif (go)", "\t\t//pragma recap mark1 work()",
        "\t\tn <= 1; else begin", "\t\t//pragma recap mark2 work()", "\t\tn <= 0; end", "endmodule",
    ]  # fmt: skip
    again = only(scan(tmp_path, top_v=text))
    assert [[p.pragma.name for p in b.pragmas] for b in again.branches] == [["mark0"], ["mark1"], ["mark2"]]


def test_crlf_tabs_and_other_alphabets(tmp_path: Path) -> None:
    text = FSM.replace("reg [1:0] state;", "reg [1:0] state; // Zustände ü").replace("    ", "\t").replace("\n", "\r\n")
    (tmp_path / "top.v").write_bytes(text.encode())
    hardware = HardwareSources(sources=("top.v",), top="top", read_out=ReadOut(first=0, last=15))
    block = only(VerilogLanguage().scan(tmp_path, hardware, PLATFORM, {}))
    assert [p.pragma.name for p in block.pragmas] == ["whole", "idle", "take", "compute"]
    assert branch(block, "if", "rst").indent == 4


NESTED = """\
module leaf #(parameter KIND = 0) (input wire clk, output reg q);
    wire local_clk = clk;
    generate
        if (KIND == 0) begin : zero
            always @(posedge local_clk) q <= 0;
        end else begin : other
            always @(posedge clk) begin : b q <= 1; end
        end
    endgenerate
endmodule
module pair(input wire c, output wire [1:0] q);
    leaf #(.KIND(1)) left(c, q[0]);
    leaf right(.clk(c), .q(q[1]));
endmodule
module top(input wire clk, input wire rst, output wire [3:0] q, output wire [2:0] r);
    genvar i;
    generate for (i = 1; i < 3; i = i + 1) begin : row
        pair p(.c(clk), .q(q[2*i-1 -: 2]));
    end endgenerate
    leaf many [2:0] (.clk(clk), .q(r));
endmodule
module unused(input wire clk, output reg q);
    always_ff @(negedge clk) q <= 1;
endmodule
"""


def test_instances_by_their_elaborated_paths(tmp_path: Path) -> None:
    scanned = scan(tmp_path, top_sv=NESTED)
    assert [d.text() for d in scanned.diagnostics] == []
    assert [path for path, _ in scanned.instances] == [
        "top", "top.row[1].p", "top.row[1].p.left", "top.row[1].p.right", "top.row[2].p", "top.row[2].p.left",
        "top.row[2].p.right", "top.many[0]", "top.many[1]", "top.many[2]",
    ]  # fmt: skip
    assert dict(scanned.instances)["top.row[2].p.left"] == "leaf"
    blocks = {b.id: b for b in scanned.blocks}
    assert blocks["leaf.b"].instances == ("top.row[1].p.left.other.b", "top.row[2].p.left.other.b")
    assert len(blocks["leaf.line_5"].instances) == 5
    assert blocks["leaf.line_5"].why_not == "", "another name of the port's clock"
    assert (blocks["unused.line_23"].instances, blocks["unused.line_23"].edge) == ((), "negedge")
    assert blocks["unused.line_23"].kind == "always_ff"


def test_parameters_choose_what_is_elaborated(tmp_path: Path) -> None:
    text = NESTED.replace("module top(", "module top #(parameter N = 3) (").replace("i < 3", "i < N")
    assert len(scan(tmp_path, {"N": "2"}, top_sv=text).instances) == 7
    wrong = scan(tmp_path, {"M": "2"}, top_sv=text)
    assert [d.text() for d in wrong.diagnostics] == ["error: the top module 'top' has no parameter 'M'. It has N."]


def test_blocks_that_cannot_be_observed_say_why(tmp_path: Path) -> None:
    text = """\
`include "inner.vh"
`define REG(name) always @(posedge clk) name <= rst;
module top(input wire clk, input wire other, input wire rst, output reg a, output reg b, output reg c, output wire d);
    `REG(a)
    always @(posedge other) b <= rst;
    wire gated = clk & rst;
    always @(posedge gated) c <= rst;
    wire mixed = rst ? clk : other;
    always @(posedge mixed) c <= rst;
    inner u(clk, d);
endmodule
"""
    inner = (
        "module inner(input clk, output reg d);\nalways @(posedge clk)\n//pragma recap a work()\nd <= 1;\nendmodule\n"
    )
    scanned = scan(tmp_path, top_v=text, inner_vh=inner)
    assert [d.text() for d in scanned.diagnostics] == [
        "inner.vh:3:1: warning: the pragma 'a' is in an included file, and is not used. "
        "Move it to one of the hardware sources.",
        "top.v:7: note: blocks on a clock that a gate derives from 'clk' count cycles of 'clk': top.line_7. While "
        "their clock is held, they stay in their state.",
    ]
    reasons = {b.id: b.why_not for b in scanned.blocks}
    assert "in a macro" in reasons["top.line_4"]
    assert reasons["top.line_5"].startswith("it runs on 'other', which is the top's 'other'")
    assert reasons["top.line_7"] == ""
    assert reasons["top.line_9"].startswith("it runs on 'mixed', which is derived within the design")
    assert "in an included file" in reasons["inner.line_2"]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("module top(input clk, output reg q); always @(posedge clk) q <= 1\n endmodule",
         r"top.v:1:66: error: expected ';'"),
        ("module top(input clk, output reg q); always @(posedge clk) q <= nothing; endmodule",
         r"top.v:1:65: error: use of undeclared identifier 'nothing'"),
        ("module top(input clk, output q); missing u(clk, q); endmodule",
         r"top.v:1:34: error: unknown module 'missing'. Add the file"),
        ('`include "nowhere.vh"\nmodule top; endmodule', r"top.v:1:10: error: 'nowhere.vh': .*include_dirs"),
        ("module top #(parameter A, B = 1, parameter type T)(input clk); endmodule",
         r"top.v:1:8: error: the top module 'top' has parameters without a value: A, T. Give them one under hardware"),
        ("interface top; endinterface", r"top.v:1:11: error: 'top' is an interface: it cannot be a top. Name a module"),
        ("module tip; endmodule", r"error: no source defines the top module 'top'. Did you mean 'tip'\?"),
        ("module top(input clk, output reg q); always @(posedge clk) begin #3 q <= 1; end endmodule",
         r"top.v:1:66: error: this cannot be synthesised: a delay"),
        ("module top(input clk, output reg q); initial begin forever begin q = 1; end end endmodule",
         r"top.v:1:52: error: this cannot be synthesised: an endless loop"),
        ("module top(input clk, output reg q); always @(posedge clk) begin @(negedge clk) q <= 1; end endmodule",
         r"top.v:1:66: error: this cannot be synthesised: waiting for an event within a block"),
        ("module top(input clk, input a, output q);\nalways @(posedge clk)\nq <= a;\nendmodule",
         r"top.v:3:1: error: .*`output reg`"),
        ("module top(input clk); leaf a [1:0] (clk);\nleaf b [1:0][2:0] (clk); endmodule\n"
         "module leaf(input clk); endmodule",
         r"top.v:2:\d+: error: 'b' is an array of instances of more than one dimension"),
    ],
)  # fmt: skip
def test_broken_sources_are_readable_diagnostics(tmp_path: Path, text: str, expected: str) -> None:
    texts = [d.text() for d in scan(tmp_path, top_v=text).diagnostics]
    assert any(re.match(expected, line) for line in texts), texts


TOP = "module top(input clk, input a, output reg [3:0] q);"


@pytest.mark.parametrize(
    "texts",
    [
        {"top_v": FSM.replace("endmodule", "initial begin\n#0 n = 2'd1;\nend\nendmodule")},  # as C's compilers write
        {"top_v": FSM,  # a test bench outside the design may do as it likes
         "bench_v": "module bench; reg c; always #5 c = ~c; top u(.clk(c), .rst(1'b0), .go(2'b0), .n()); endmodule"},
        {"top_sv": f"{TOP} always @(posedge clk) q <= FIRST + SECOND; endmodule",  # what is imported for all
         "b_sv": "import p::*, r::*;\n",
         "c_sv": "package p; localparam FIRST = 3; endpackage\npackage r; localparam SECOND = 3; endpackage\n"},
        {"leaf_sv": "timeunit 1ps;\ntimeprecision 1ps;\nmodule leaf(input clk); endmodule\n",  # its own in each file
         "top_sv": f"timeunit 1ns;\ntimeprecision 1ps;\n{TOP} leaf a (clk); endmodule\n"},
        {"leaf_sv": "typedef enum logic {NO, YES} answer_t;\nmodule leaf(input clk, input answer_t a); endmodule\n",
         "top_sv": f"{TOP} leaf l (clk, a); endmodule\n"},  # a number for a value, as simulators take it
    ],
)  # fmt: skip
def test_sources_in_which_nothing_is_wrong(tmp_path: Path, texts: dict[str, str]) -> None:
    assert [d.text() for d in scan(tmp_path, **texts).diagnostics] == []


def test_a_modules_name_may_hold_a_dot(tmp_path: Path) -> None:
    """As Amaranth writes it: its modules are named by where they stand."""
    text = "module \\top.fsm (input clk, rst); reg q; always @(posedge clk) q <= ~q; endmodule\n"
    assert only(scan(tmp_path, top="top.fsm", top_v=text)).id == "top.fsm.line_1"


def test_files_that_are_not_there(tmp_path: Path) -> None:
    hardware = HardwareSources(sources=("a.v", "b/*.v"), top="top", read_out=ReadOut(first=0, last=15))
    texts = [d.text() for d in VerilogLanguage().scan(tmp_path, hardware, PLATFORM, {}).diagnostics]
    assert texts[0].startswith("a.v: error: cannot read the source file 'a.v'")
    assert texts[1].startswith("b/*.v: error: no file matches 'b/*.v'")


def test_pragmas_in_the_wrong_place_are_reported(tmp_path: Path) -> None:
    text = """\
//pragma recap early work()
module top(input wire clk, input wire rst, output reg q);
    //pragma recap before work()
    always @(posedge clk) begin
        q <= 0;
        //pragma recap second work()
        if (rst) q <= 1;
    end
    always @(posedge clk or posedge rst)
        if (rst)
            //pragma recap reset overhead(init): q
            q <= 0;
        else if (q)
            //pragma recap twice work()
            q <= 0;
        else
            //pragma recap twice overhead(update)
            q <= 1;
    //pragma recap bad nonsense()
endmodule
"""
    scanned = scan(tmp_path, top_v=text)
    texts = [(d.line, d.severity, d.message) for d in scanned.diagnostics]
    stray = [line for line, severity, message in texts if "no branch" in message and severity is Severity.WARNING]
    assert stray == [1, 3, 6]
    assert any(line == 11 and "asynchronous reset cannot have a condition" in message for line, _, message in texts)
    assert any(line == 17 and "'twice' is used for two different states" in message for line, _, message in texts)
    assert any(line == 19 and severity is Severity.ERROR for line, severity, _ in texts)


def test_pragmas_that_a_directive_leaves_out(tmp_path: Path) -> None:
    text = """\
`define YES
module top(input wire clk, input wire rst, output reg q);
    always @(posedge clk) begin
`ifdef NO
        //pragma recap a work()
        q <= 0;
`elsif YES
        //pragma recap b work()
`else
        //pragma recap c work()
`endif
        q <= 1;
    end
endmodule
"""
    assert [p.pragma.name for p in only(scan(tmp_path, top_v=text)).pragmas] == ["b"]


CLOCKS = """
module top(input clk, input en);
    assign late = first;
    wire i_clk, late, first, inverted, out, gated = clk & en;
    assign i_clk = clk, first = i_clk, inverted = ~late;
    buffer b(late, out);
    leaf a(i_clk); leaf c(out); leaf d(inverted); leaf g(gated);
    always @(posedge late) begin : own
    end
endmodule
module buffer(input I, output O);
    assign O = I;
endmodule
module leaf(input i_clk);
    reg n;
    always @(posedge i_clk) begin : kept
        n <= 1;
    end
endmodule
"""


def test_a_clock_by_another_name_is_that_clock(tmp_path: Path) -> None:
    """Through assignments in any order, modules that pass it on, and inverters; a gate makes another of it."""
    scanned = scan(tmp_path, top_v=CLOCKS)
    assert [block.why_not for block in scanned.blocks] == ["", ""]
    (note,) = scanned.diagnostics  # of `g` alone
    assert note.message == "blocks on a clock that a gate derives from 'clk' count cycles of 'clk': leaf.kept"
    assert scan(tmp_path, top_v=CLOCKS.replace("leaf g(gated);", "")).diagnostics == ()
    several = CLOCKS.replace("gated = clk & en", "gated = en ? clk : clk_b").replace("input en", "input en, clk_b")
    scanned = scan(tmp_path, top_v=several.replace("leaf a(i_clk); leaf c(out); leaf d(inverted); ", ""))
    assert {block.id: block.why_not for block in scanned.blocks} == {
        "top.own": "",
        "leaf.kept": "it runs on 'i_clk', which is derived within the design; only blocks on the platform's clocks "
        "(clk) can be observed",
    }


def test_a_divided_clock_is_counted_in_cycles_of_its_source(tmp_path: Path) -> None:
    text = """
      module top(input clk, output reg [3:0] n); reg half = 0;
        always @(posedge clk) half <= ~half;
        always @(posedge half) begin : slow n <= n + 1; end
      endmodule"""
    scanned = scan(tmp_path, top_v=text)
    assert [block.why_not for block in scanned.blocks] == ["", ""]
    assert [(d.message, d.hint) for d in scanned.diagnostics] == [
        ("blocks on a clock that a divider derives from 'clk' count cycles of 'clk': top.slow",
         "On a real machine they are counted in cycles of the derived clock."),
    ]  # fmt: skip


def test_a_module_that_is_defined_twice_is_told_where_it_is_used(tmp_path: Path) -> None:
    """Simulators, and what reads the sources here, would take one or the other."""
    top = "module top(input clk); leaf a(clk); endmodule\n"
    twice = "\nmodule leaf(input clk); endmodule\nmodule unused; endmodule\n"
    scanned = scan(tmp_path, top_v=top, a_v=twice, b_v=twice.replace("clk", "i"))
    (problem,) = (d for d in scanned.diagnostics if "second time" in d.message)
    assert (problem.severity, problem.file, problem.line) == (Severity.ERROR, "b.v", 2)
    assert problem.message == "the module 'leaf' is defined a second time, after a.v:2"
    kept = '`include "leaf.vh"\n'
    assert scan(tmp_path, top_v=kept + top, c_v=kept, leaf_vh=twice).diagnostics == ()


def test_what_is_wrong_where_the_top_does_not_reach_is_a_warning(tmp_path: Path) -> None:
    top = "module top(input clk, output reg q); always @(posedge clk) q <= 1; endmodule\n"
    scanned = scan(tmp_path, top_v=top, other_v="module other(output q); assign q = nothing; endmodule\n")
    (problem,) = scanned.diagnostics
    assert (problem.severity, problem.file) == (Severity.WARNING, "other.v")
    assert [block.id for block in scanned.blocks] == ["top.line_1"]
    beside = f"{top}module other(input clk, output q);\n  always @(posedge clk) q <= 1;\nendmodule\n"
    (problem,) = scan(tmp_path, top_v=beside, other_v="").diagnostics
    assert (problem.severity, problem.line) == (Severity.WARNING, 3)
    assert problem.hint.endswith("`output logic`. The top does not need the module 'other'.")
    used = beside.replace("endmodule\n", "other u(clk); endmodule\n", 1)
    assert [d.severity for d in scan(tmp_path, top_v=used).diagnostics] == [Severity.ERROR]


def test_what_is_wrong_in_a_file_that_is_not_needed_reaches_into_none_that_is(tmp_path: Path) -> None:
    """`program` is a name in Verilog, and a keyword of SystemVerilog to whose end all is its own."""
    old = "module old(input clk); wire [8:0] program = 3; endmodule\n"
    leaf = "module leaf(input clk, output reg q); always @(posedge clk) q <= ~q; endmodule\n"
    top = "module top(input clk, output q); leaf l (clk, q); endmodule\n"
    scanned = scan(tmp_path, a_v=old, leaf_v=leaf, top_v=top)
    assert {(d.severity, d.file) for d in scanned.diagnostics} == {(Severity.WARNING, "a.v")}
    assert [block.instances for block in scanned.blocks] == [("top.l.line_1",)]


def test_the_clock_of_a_block_with_asynchronous_resets(tmp_path: Path) -> None:
    text = """\
module top(input wire clk, input wire rst, input wire set_n, output reg q);
    always @(negedge set_n or posedge rst or posedge clk) begin
        if (rst) q <= 0;
        else if (!set_n) q <= 1;
        else q <= ~q;
    end
endmodule
"""
    block = only(scan(tmp_path, top_v=text))
    assert (block.clock, block.edge, block.why_not) == ("clk", "posedge", "")


READS = """\
module rom #(parameter FILE = "lacks.hex") (input wire clk, output reg [7:0] q);
    reg [7:0] words [0:3];
    integer file;
    reg [71:0] name;
    initial $readmemh(FILE, words);
    initial begin
        file = $fopen("log.txt", "w");
        file = $fopen({"in", ".txt"}, "r");
        name = $random ? "one.hex" : "two.hex";
        $readmemb(name, words);
    end
    generate if (FILE == "none") begin : never initial $readmemh("never.hex", words); end endgenerate
    always @(posedge clk) q <= words[0];
endmodule
module top(input wire clk, output wire [7:0] a, b);
    rom #("data/there.hex") one(clk, a);
    rom #("beside.hex") two(clk, b);
endmodule
"""


def test_files_that_the_design_reads_are_looked_for(tmp_path: Path) -> None:
    """Those of every instance that there is; not what is written, and not what no instance reaches."""
    for name in ("data/there.hex", "rtl/beside.hex"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text("00\n")
    (tmp_path / "rtl" / "top.v").write_text(READS)
    hardware = HardwareSources(sources=("rtl/top.v",), top="top", read_out=ReadOut(first=0, last=15))
    problems = VerilogLanguage().scan(tmp_path, hardware, PLATFORM, {}).diagnostics
    assert [(d.file, d.line, d.message, d.severity) for d in problems] == [
        ("rtl/top.v", 8, "the design reads 'in.txt', which does not exist", Severity.WARNING),
        ("rtl/top.v", 5, "the design reads 'beside.hex', which does not exist", Severity.WARNING),
        ("rtl/top.v", 10, "the file that is read here has a name that only a run knows: it is not copied",
         Severity.NOTE),
    ]  # fmt: skip
    assert problems[1].hint == "Its path starts at the project's folder: write 'rtl/beside.hex'."


def test_a_name_of_a_file_that_is_not_utf_8_is_told(tmp_path: Path) -> None:
    text = b'module top (input clk);\n    reg [7:0] m [0:3];\n    initial $readmemh("caf\xe9.hex", m);\nendmodule\n'
    (tmp_path / "top.v").write_bytes(text)
    hardware = HardwareSources(sources=("top.v",), top="top", read_out=ReadOut(first=0, last=15))
    (problem,) = VerilogLanguage().scan(tmp_path, hardware, PLATFORM, {}).diagnostics
    assert (problem.line, "that only a run knows" in problem.message) == (3, True)


def test_a_top_is_found_with_folders_that_included_paths_begin_in_and_by_its_name_below_another(tmp_path: Path) -> None:
    (tmp_path / "inc" / "bus").mkdir(parents=True)
    (tmp_path / "inc" / "bus" / "width.svh").write_text("`define WIDTH 4\n")
    leaf = "module leaf(input clk, output reg [`WIDTH-1:0] q); always @(posedge clk) q <= 1; endmodule\n"
    (tmp_path / "leaf.sv").write_text('`include "bus/width.svh"\n' + leaf)
    (tmp_path / "top.sv").write_text("module top(input clk, output [3:0] q); leaf u(clk, q); endmodule\n")
    names = ["inc/bus/width.svh", "leaf.sv", "top.sv"]
    (top,) = VerilogLanguage().tops(tmp_path, names)
    assert (top.name, top.include_dirs, top.diagnostics) == ("top", ("inc",), ())
    both = VerilogLanguage().tops(tmp_path, names, "leaf")
    assert [(one.name, one.sources) for one in both] == [("top", ("leaf.sv", "top.sv")), ("leaf", ("leaf.sv",))]
