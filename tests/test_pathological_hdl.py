"""Verilog as nobody should write it, and some do: read soon, with a word on what cannot be, at its line."""

import time
from pathlib import Path

import pytest
from memory_port import PLATFORM
from rc_workbench_plugins.verilog import VerilogLanguage

from workbench.model.application import HardwareSources, ReadOut
from workbench.model.diagnostic import WorkbenchError, has_errors
from workbench.model.scan import HdlScan

TOP = """\
module top (
    input wire clk, rst, input wire [15:0] addr, input wire wr_en, rd_en, input wire [31:0] wr_data,
    output reg [31:0] rd_data
);
    always @(posedge clk)
        if (rd_en)
            //pragma recap answer work()
            rd_data <= {16'd0, addr};
{MORE}
endmodule
"""
SECRET = "QUJDREVGR0hJSktMTU5PUFFSU1RVVldYWVph\n"
LEAF = "module leaf (input c); reg q; always @(posedge c) q <= ~q; endmodule\n"
LOOP = "genvar g; generate for (g = 0; g {CONDITION}; g = g {STEP}) begin : s wire w; end endgenerate"


def scanned(folder: Path, text: str | bytes, **more: str) -> HdlScan:
    (folder / "top.v").write_bytes(text.encode() if isinstance(text, str) else text)
    for name, content in more.items():
        (folder / f"{name}.vh").write_text(content)
    return VerilogLanguage().scan(folder, sources(), PLATFORM, {})


def sources() -> HardwareSources:
    return HardwareSources(sources=("top.v",), top="top", read_out=ReadOut(first=0, last=15))


def top(more: str = "") -> str:
    return TOP.replace("{MORE}", more)


@pytest.mark.parametrize(
    "text",
    [
        top().replace("\n", "\r\n").encode(),
        top().replace("    ", "\t").encode(),
        b"\xef\xbb\xbf" + top().encode(),
        top("// caf\xe9").encode("latin-1"),
        top("/* \xfc */ reg \\a+b[ ;").encode("latin-1"),
        top("\f\v").encode(),
        top(
            "generate " + "if (1) begin " * 100 + "reg q; always @(posedge clk) q <= 0;" + " end" * 100 + " endgenerate"
        ),
        top("rec #(5) u (clk);") + "module rec #(parameter N = 3) (input c); reg q; always @(posedge c) q <= 0;\n"
        "generate if (N > 0) rec #(N - 1) u (c); endgenerate endmodule\n",
    ],
    ids=["CRLF", "tabs", "BOM", "Latin-1", "escaped names", "form feeds", "nested generates", "recursion with an end"],
)
def test_odd_text_is_read_and_instrumented_with_its_pragma(tmp_path: Path, text: str | bytes) -> None:
    design = scanned(tmp_path, text)
    assert design.diagnostics == ()
    assert [p.pragma.name for block in design.blocks for p in block.pragmas] == ["answer"]
    VerilogLanguage().instrument(tmp_path, sources(), PLATFORM, {}, tmp_path / "made")


@pytest.mark.parametrize(
    ("text", "line", "said"),
    [
        (top('initial $display("abc);'), 9, "missing closing quote"),
        (top() + "/* never ends\n", 12, "block comment unclosed"),
        (top("wire w = " + "(" * 20000 + "1" + ")" * 20000 + ";"), 9, "too deeply nested"),
        (top("reg q; always @(posedge clk) " + "if (q) " * 5000 + "q <= 0;"), 9, "too deeply nested"),
        (top("wire \0 w;"), 9, "embedded NUL"),
        (top().encode("utf-16"), 1, "UTF-16"),
        ("`define A `B\n`define B `A\n" + top("wire w = `A;"), 11, "recursive"),
        ('`include "a.vh"\n' + top(), 1, "include depth"),
        (top("rec u (clk);") + "module rec #(parameter N = 3) (input c); rec #(N + 1) u (c); endmodule\n", 11, "depth"),
        (top(LOOP.replace("{CONDITION}", "< 1000000000").replace("{STEP}", "+ 1")), 9, "loop"),
        (top(LOOP.replace("{CONDITION}", ">= 0").replace("{STEP}", "+ 0")), 9, "loop"),
        (top("function automatic integer f(input integer x); f = f(x + 1); endfunction wire [f(1):0] w;"), 9, "depth"),
        (top("function integer f(input integer x); while (1) f = x; endfunction wire [f(1):0] w;"), 9, "step limit"),
        (top("reg [2000000000:0] w;"), 9, "too large"),
        (top("leaf u [999999:0] (clk);") + LEAF, 9, "array"),
    ],
    ids=["string", "comment", "parentheses", "ifs", "NUL", "UTF-16", "macros", "includes", "recursion",
         "many generates", "endless generates", "recursive function", "endless function", "vector", "many instances"],
)  # fmt: skip
def test_what_cannot_be_read_is_told_at_its_line_and_soon(
    tmp_path: Path, text: str | bytes, line: int, said: str
) -> None:
    began_s = time.process_time()
    design = scanned(tmp_path, text, a='`include "b.vh"\n', b='`include "a.vh"\n')
    assert time.process_time() - began_s < 5
    errors = [one for one in design.diagnostics if has_errors([one])]
    assert any(said in one.message for one in errors), [one.text() for one in design.diagnostics]
    first = next(one for one in errors if said in one.message)
    assert first.file in ("top.v", "a.vh", "b.vh")
    assert first.line == line
    assert not [one.message for one in design.diagnostics if "is before no branch" in one.message]
    with pytest.raises(WorkbenchError):
        VerilogLanguage().instrument(tmp_path, sources(), PLATFORM, {}, tmp_path / "made")


@pytest.mark.parametrize(
    "secret",
    [
        '`pragma protect begin_protected\n`pragma protect encoding = (enctype = "BASE64", bytes = 243)\n'
        f"`pragma protect data_block\n{SECRET * 9}`pragma protect end_protected\n",
        f"`protected\n{'@#$%^&*()_:<>?' * 4}\n{SECRET * 9}`endprotected\n",
    ],
    ids=["IEEE 1735", "before it"],
)
def test_an_encrypted_part_is_one_error_and_what_may_be_in_it_is_told(tmp_path: Path, secret: str) -> None:
    design = scanned(tmp_path, top("core u (clk);") + secret + LEAF)
    rest = [(one.line, one.message) for one in design.diagnostics if not one.message.startswith("unknown module")]
    assert rest in ([], [(11, "the rest is encrypted: only its vendor's tools can read it")])
    (unknown,) = [one for one in design.diagnostics if one.message == "unknown module 'core'"]
    assert unknown.hint.startswith("It may be in the encrypted part of top.v")
    assert [block.id for block in design.blocks] == ["top.line_5", "leaf.line_" + str(secret.count("\n") + 11)]


@pytest.mark.parametrize(
    ("end", "said"),
    [
        ("always @(posedge c) begin q <= ", "expected expression"),
        ("always @(posedge c) q <= ~q; // no more", "expected 'endmodule'"),
        ("initial q = (1 + (0", "expected ')'"),
    ],
)
def test_a_file_that_ends_too_early_is_told_there_and_not_in_the_next_one(tmp_path: Path, end: str, said: str) -> None:
    (tmp_path / "leaf.v").write_text(f"module leaf (input c); reg q;\n{end}\n")
    (tmp_path / "top.v").write_text(top("leaf u (clk);"))
    both = sources().model_copy(update={"sources": ("*.v",)})
    (problem,) = (one for one in VerilogLanguage().scan(tmp_path, both, PLATFORM, {}).diagnostics if has_errors([one]))
    assert (problem.file, problem.line, problem.message) == ("leaf.v", 2, said)
    assert problem.hint == "The file ends here: what it begins has no end."


def test_a_file_that_is_no_text_is_one_error(tmp_path: Path) -> None:
    (tmp_path / "top.v").write_bytes(b"\x8b\x13\x9c/\x06\0\x04\0v\x8fd" * 40)
    hardware = HardwareSources(sources=("top.v",), top="top", read_out=ReadOut(first=0, last=15))
    (problem,) = VerilogLanguage().scan(tmp_path, hardware, PLATFORM, {}).diagnostics
    assert (problem.file, problem.line) == ("top.v", 1)
    assert problem.message.startswith("this file is not text: it may be encrypted or packed")


def test_a_file_of_many_thousand_lines_is_read(tmp_path: Path) -> None:
    arms = "\n".join(f"            {n}: q <= {n + 1};" for n in range(4000))
    more = (
        f"reg [31:0] q;\nalways @(posedge clk) begin case (q)\n{arms}\nendcase end\n" + "// a line of words\n" * 46_000
    )
    began_s = time.process_time()
    design = scanned(tmp_path, top(more))
    assert time.process_time() - began_s < 5
    assert design.diagnostics == ()
    assert [len(block.branches) for block in design.blocks] == [2, 4001]


def test_more_states_than_can_be_counted_are_told(tmp_path: Path) -> None:
    arms = "\n".join(f"{n}:\n  //pragma recap s{n} work()\n  q <= {n + 1};" for n in range(1100))
    design = scanned(tmp_path, top(f"reg [31:0] q;\nalways @(posedge clk) begin case (q)\n{arms}\nendcase end"))
    (large,) = [block for block in design.blocks if block.why_not]
    assert large.why_not == "it has 1100 different pragmas; at most 1023 can be counted"
