"""Assertions on two clocks: a match of a sequence on the first is seen at the strictly later tick of the second."""

import random
import subprocess
from pathlib import Path

import pytest
from pyslang import syntax
from rtl_simulator import Simulator
from sequence_oracle import Cycle, verdicts
from test_assertions import VERILOG, built, watched

from workbench.hdl.verilog.assertions import Property, Reader
from workbench.hdl.watched import Unwatched
from workbench.model.diagnostic import Severity

FORMS = {
    "a": ("is", 0),
    "a ##1 b": ("then", ("is", 0), ("is", 1)),
    "a ##[1:2] b": ("then", ("is", 0), ("then", ("times", ("any",), 0, 1), ("is", 1))),
    "a ##1 c[->1]": ("then", ("is", 0), ("to", 2)),
    "$past(a)": ("then", ("is", 0), ("any",)),
}
_HARNESS = """
#include <cstdio>
#include "Vdut.h"
#include "verilated.h"
int main(int argc, char** argv) {
    VerilatedContext context;
    Vdut dut(&context);
    dut.first = dut.second = 0;
    for (const char* at = TRACE; *at; ++at) {
        const int now = *at - '0';
        dut.in = now >> 2 & 7; dut.eval();
        dut.first = now & 1; dut.second = now >> 1 & 1; dut.eval();
        if (now & 2) std::printf("%d\\n", (int)dut.out);
        dut.first = dut.second = 0; dut.eval();
    }
    dut.final();
}
"""


def read(text: str) -> tuple[Property, Reader]:
    tree = syntax.SyntaxTree.fromText(f"module m;\nassert property (@(posedge first) {text});\nendmodule\n")
    reader = Reader(tree.root, "p", lambda _: False)
    return reader.property(tree.root.members[0].statement.propertySpec), reader


def test_a_match_is_seen_at_the_strictly_later_tick(tmp_path: Path) -> None:
    """Ticks of both clocks at random moments, some at the same; the sequences by what they mean."""
    some = random.Random(5)
    moments = [(some.randrange(3) + 1, some.randrange(8)) for _ in range(600)]
    lines = ["module dut(input first, second, input [2:0] in, output [4:0] out); wire a = in[0], b = in[1], c = in[2];"]
    for number, form in enumerate(FORMS):
        found, reader = read(f"{form} |=> @(posedge second) b")
        assert (found.clock, found.edge, len(found.late)) == ("second", "posedge", 1)
        declared = " ".join(one.declared for one in reader.kept).replace("_p", f"_p{number}")
        sets = " ".join(one.sets for one in reader.kept).replace("_p", f"_p{number}")
        late = found.late[0].replace("_p", f"_p{number}")
        lines.append(f"{declared} always @(posedge second) begin {sets} end assign out[{number}] = {late};")
    (tmp_path / "dut.v").write_text("\n".join([*lines, "endmodule\n"]))
    trace = "".join(chr(48 + (values << 2 | ticks)) for ticks, values in moments).replace("\\", "\\\\")
    program = Simulator(tmp_path).build([tmp_path / "dut.v"], "dut", harness=f'#define TRACE "{trace}"\n{_HARNESS}')
    seen = [int(line) for line in subprocess.run([program], capture_output=True, text=True, check=True).stdout.split()]
    for number, sequence in enumerate(FORMS.values()):
        cycles: list[Cycle] = [tuple(bool(values >> n & 1) for n in range(3)) for ticks, values in moments if ticks & 1]
        matches = [one == "failed" for one in verdicts(sequence, None, cycles)]
        expected, since, at = [], False, 0
        for ticks, _ in moments:
            if ticks & 2:
                expected.append(since)
                since = False
            if ticks & 1:
                since |= matches[at]
                at += 1
        assert [bool(one >> number & 1) for one in seen] == expected
        assert any(expected)
        assert not all(expected)


CLOCKED = "assert property (@(posedge half) "


def test_one_is_watched_on_its_second_clock(tmp_path: Path) -> None:
    beside = f"reg half = 0; always @(posedge clk) half <= ~half; {CLOCKED}wr_en ##1 rd_en |=> @(posedge clk) n == 0);"
    build = built(tmp_path, VERILOG.replace("BESIDE", beside).replace("ANY", ""))
    assert watched(build) == [("top.assert_11", 11)]
    assert not build.diagnostics


@pytest.mark.parametrize(
    ("text", "what"),
    [
        ("a |-> @(posedge second) b", "it changes its clock behind |->: where both clocks tick at once no register"),
        (
            "a ##1 @(posedge second) b",
            "it changes its clock within a sequence: two clocks are watched as `@(posedge a)",
        ),
        ("a |=> @(posedge second) b |=> @(posedge third) c", "it changes its clock within a sequence: two clocks are"),
        ("a[*0:1] |=> @(posedge second) b", "the sequence on its first clock can match without a cycle: let it take"),
        ("a |=> @(second) b", "'@(second)' is not one edge of a clock"),
    ],
)
def test_what_is_not_watched_on_two_clocks_says_what_would_be(text: str, what: str) -> None:
    with pytest.raises(Unwatched) as why:
        read(text)
    assert str(why.value).startswith(what)


def test_variables_cross_no_clocks(tmp_path: Path) -> None:
    beside = (
        "property p; int x; @(posedge rst) (wr_en, x = n) |=> @(posedge clk) n == x; endproperty assert property (p);"
    )
    build = built(tmp_path, VERILOG.replace("BESIDE", beside).replace("ANY", ""))
    (said,) = (one for one in build.diagnostics if "not watched" in one.message)
    assert (said.severity, said.line) == (Severity.WARNING, 11)
    assert said.message.endswith("it has variables and two clocks: compare with a register of the design instead")
