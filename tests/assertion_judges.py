"""Who else checks temporal assertions: Verilator those of SystemVerilog, GHDL those of PSL. Both say in which cycles
each failed, over the same cycles of three signals; what is strong and open at the end, in the last."""

import re
import subprocess
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from rtl_simulator import Simulator
from sequence_oracle import Cycle

from workbench.hdl.ghdl import ghdl


class Form(NamedTuple):
    """A property in SystemVerilog and in PSL; how GHDL is asked, which takes of a range its upper end alone and goes on
    with `until` after it failed; and whether Verilator is, which ends some sequences of several lengths early."""

    sva: str
    psl: str
    by_ghdl: str = ""
    by_verilator: bool = True


FORMS = (
    Form("a |-> ##2 b", "a -> next[2] (b)"),
    Form("a |=> b", "a -> next b"),
    Form("a ##1 b |-> c", "{a; b} |-> {c}"),
    Form("a ##2 b |=> c", "{a; [*1]; b} |=> {c}"),
    Form("a |-> ##[1:3] b", "a -> next_e[1 to 3] (b)", "{a} |=> {{b} | {[*1]; b} | {[*2]; b}}"),
    Form("a ##[0:2] b |-> c", "{a : {[*0 to 2]; b}} |-> {c}", "{{a : b} | {a; b} | {a; [*1]; b}} |-> {c}", False),
    Form("a |-> b[*2] ##1 c", "{a} |-> {b[*2]; c}"),
    Form("a[*2] |=> b", "{a[*2]} |=> {b}"),
    Form("a |-> b[*1:3] ##1 c", "{a} |-> {b[*1 to 3]; c}", "{a} |-> {{b; c} | {b; b; c} | {b[*3]; c}}", False),
    Form("a |-> b until c", "a -> (b until c)", "{a} |-> {b[*]; c}"),
    Form("a |-> b until_with c", "a -> (b until_ c)"),
    Form("a |-> always [1:2] b", "a -> next_a[1 to 2] (b)", "{a} |=> {b; b}"),
    Form("a |-> (b throughout c[->1])", "{a} |-> {{b[*]} && {c[->]}}", "", False),
    Form("a |-> b[->2] ##1 c", "{a} |-> {b[->2]; c}", "", False),
    Form("a |-> b[=2] ##1 c", "{a} |-> {b[=2]; c}", "", False),
    Form("first_match(a ##[1:2] b) |-> c", "{a; {{b} | {not b; b}}} |-> {c}", "", False),
    Form("not strong(a ##1 b)", "never {a; b}", "", False),
    Form("a |-> b |=> c", "a -> (b -> next c)", "", False),
    Form("a |-> (b ##1 c) or (c ##1 b)", "{a} |-> {{b; c} | {c; b}}", "", False),
    Form("a |-> (b ##1 c) and (c ##2 b)", "{a} |-> {{b; c} & {c; [*1]; b}}", "", False),
    Form("a |-> b within (c ##2 c)", "{a} |-> {b within {c; [*1]; c}}", "", False),
    Form("a |-> ##1 b |-> ##1 c", "a -> next (b -> next c)"),
    Form("a |-> !c until (b && !c)", "a -> (b before c)"),
    Form("a ##1 b[->2] |-> c", "a -> next next_event(b)[2] (c)", "{a; b[->2]} |-> {c}", False),
    Form("a |-> s_eventually (a && b && c)", "a -> eventually! (a and b and c)"),
    Form("a |-> s_eventually (b && !a && !c)", "a -> eventually! (b and not a and not c)"),
    Form("a |-> s_eventually (c && !a && !b)", "a -> eventually! (c and not a and not b)"),
    Form("a |-> (a || b) s_until_with c", "a -> (a or b until!_ c)", "", False),
    Form("a |-> !c s_until (b && !c)", "a -> (b before! c)", "", False),
    Form("a ##[1:2] b ##[1:2] c |=> a", "{a; [*0 to 1]; b; [*0 to 1]; c} |=> {a}",
         "{a; {b; c} | {[*1]; b; c} | {b; [*1]; c} | {[*1]; b; [*1]; c}} |=> {a}", False),
    Form("b |-> ##[1:2] a ##[1:2] c", "{b} |=> {[*0 to 1]; a; [*0 to 1]; c}",
         "{b} |=> {{a; c} | {[*1]; a; c} | {a; [*1]; c} | {[*1]; a; [*1]; c}}", False),
)  # fmt: skip
#: What Verilator takes and PSL has no words for, up to the end of the run, which Verilator leaves out.
OF_SYSTEMVERILOG = (
    "not (a ##1 b)", "a |-> (b |-> c)", "(a |-> b) and (b |=> c)", "not (a |-> b)", "a |-> not (b ##1 c)", "a #-# b",
    "a #=# b", "a iff b", "(a |-> b) implies c", "$past(a ^ b, 2) |-> c", "$rose(a && b) |-> c",
    "$fell(a ^ b) |-> c || a", "$stable(a ^ b) |=> c", "$changed(a | b) |-> c",
)  # fmt: skip
_HARNESS = """
#include <cstdio>
#include "Vdut.h"
#include "verilated.h"
int main(int argc, char** argv) {
    VerilatedContext context;
    Vdut dut(&context);
    for (const char* at = TRACE; *at; ++at) {
        dut.in = *at - '0';
        dut.clk = 0; dut.eval();
        dut.clk = 1; dut.eval();
    }
    dut.final();
}
"""


def _failures(said: str, count: int) -> list[set[int]]:
    failed: list[set[int]] = [set() for _ in range(count)]
    for number, cycle in re.findall(r"FAILED (\d+) +(\d+)", said):
        failed[int(number)].add(int(cycle))
    return failed


def by_verilator(simulator: Simulator, forms: Sequence[str], cycles: Sequence[Cycle]) -> list[set[int]]:
    """In which cycles properties of SystemVerilog fail, by Verilator."""
    lines = ["module judge(input clk, input [2:0] in); wire a = in[0], b = in[1], c = in[2]; int n = 0;"]
    lines.append("always @(posedge clk) n <= n + 1;")
    for number, form in enumerate(forms):
        lines.append(f'assert property (@(posedge clk) {form}) else $display("FAILED {number} %0d", $sampled(n));')
    source = simulator.folder / "judge.sv"
    source.write_text("\n".join([*lines, "endmodule\n"]))
    trace = "".join(str(sum(bit << n for n, bit in enumerate(cycle))) for cycle in cycles)
    program = simulator.build(
        [source],
        "judge",
        options=["--assert", "--timing"],
        flags=["-std=c++20"],
        harness=f'#include "verilated_timing.cpp"\n#define TRACE "{trace}"\n{_HARNESS}',
    )
    return _failures(subprocess.run([program], capture_output=True, text=True, check=True).stdout, len(forms))


def by_ghdl(folder: Path, forms: Sequence[str], cycles: Sequence[Cycle]) -> list[set[int]]:
    """In which cycles properties of PSL fail, by GHDL: its simulator says when, 10 ns a cycle."""
    values = ["".join("01"[cycle[n]] for cycle in cycles) for n in range(3)]
    lines = [
        "entity judge is end; architecture t of judge is signal clk : bit; signal a, b, c : boolean;",
        *(f'constant {name}s : bit_vector(0 to {len(cycles) - 1}) := "{text}";'
          for name, text in zip("abc", values, strict=True)),
        "begin process begin for n in 0 to as'length - 1 loop a <= as(n) = '1'; b <= bs(n) = '1'; c <= cs(n) = '1';",
        "wait for 5 ns; clk <= '1'; wait for 5 ns; clk <= '0'; end loop; wait; end process;",
        "-- psl default clock is clk'event and clk = '1';",
        *(f'-- psl assert always ({form}) report "FAILED {number}";' if not form.startswith("never") else
          f'-- psl assert {form} report "FAILED {number}";' for number, form in enumerate(forms)),
        "end;",
    ]  # fmt: skip
    (folder / "judge.vhd").write_text("\n".join(lines) + "\n")
    tool = str(ghdl().path)
    command = [tool, "-c", "--std=08", "-fpsl", "judge.vhd", "-r", "judge"]
    said = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    text = said.stdout + said.stderr
    text = text.replace(f"@{2**63 - 1}fs", f"@{10 * (len(cycles) - 1)}ns")
    at = re.sub(r"judge\.vhd:\d+:\d+:@(\d+)ns:.*?FAILED (\d+)", lambda f: f"FAILED {f[2]} {int(f[1]) // 10}", text)
    assert "FAILED" in at, text
    return _failures(at, len(forms))
