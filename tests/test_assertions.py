"""Assertions and branches of a design: which are watched, what is said of others, and what is counted of them."""

import json
import sys
from pathlib import Path
from typing import Any

import pytest
from memory_port import PLATFORM
from rc_workbench_plugins.verilog import VerilogLanguage
from rc_workbench_plugins.vhdl import VhdlLanguage
from rc_workbench_plugins.vhdl.psl import Property, properties
from tools import NEEDS_GHDL

from workbench.analysis.ended import best_of
from workbench.analysis.finding_words import gain_words
from workbench.analysis.report import assertion_json, coverage_json
from workbench.analysis.verification import (
    assertion_findings,
    assertion_problems,
    assertion_table,
    assertions_words,
    coverage_words,
)
from workbench.api import HdlBuild
from workbench.api.verified import AssertionResult
from workbench.cli.main import main
from workbench.formats.run_folder import RunWriter, open_run
from workbench.model.application import HardwareSources, ReadOut
from workbench.model.diagnostic import Severity
from workbench.model.finding import Place
from workbench.testing.runs import synthetic_run

sys.path.insert(0, str(Path(__file__).parent / "benchmarks"))
import assertions as bench

PORTS = (
    "input wire clk, rst, wr_en, rd_en, input wire [15:0] addr, input wire [31:0] wr_data, output reg [31:0] rd_data"
)
VERILOG = f"""\
module top({PORTS});
    reg [3:0] n = 0;
    always @(posedge clk or posedge rst) begin : step
        if (rst) n <= 0;
        else begin
            ANY
            if (wr_en) n <= n + 1;
            rd_data <= n;
        end
    end
    BESIDE
endmodule
"""


def built(folder: Path, text: str, suffix: str = ".v", branches: bool = False) -> HdlBuild:
    (folder / f"top{suffix}").write_text(text)
    language = VhdlLanguage() if suffix == ".vhd" else VerilogLanguage()
    hardware = HardwareSources(
        sources=(f"top{suffix}",), top="top", read_out=ReadOut(first=0, last=15), assertions=not branches,
        branches=branches,
    )  # fmt: skip
    return language.instrument(folder, hardware, PLATFORM, {}, folder / "out")


def watched(build: HdlBuild) -> list[tuple[str, int | None]]:
    return [(block.id, block.line) for block in build.blocks if block.kind in ("assert", "branch")]


CLOCKED = "assert property (@(posedge clk) "


@pytest.mark.parametrize(
    ("beside", "name"),
    [
        (f"one: {CLOCKED}wr_en |-> ##3 n != 0);", "one"),
        (f"{CLOCKED}disable iff (rst) wr_en |=> not n == 0) else $warning(\"zero\");", "assert_11"),
        (f"{CLOCKED}!(wr_en && rd_en));", "assert_11"),
        ("property p; @(posedge clk) wr_en |-> !rd_en; endproperty assert property (p);", "assert_11"),
        ("default clocking @(posedge clk); endclocking assert property (wr_en |-> !rd_en);", "assert_11"),
        ("assume property (@(posedge clk) wr_en |-> !rd_en);", "assert_11"),
        ("sequence s(a, b); a ##[1:2] b; endsequence property p(q); @(posedge clk) s(wr_en, q) |=> n[0]; endproperty"
         " assert property (p(.q(rd_en)));", "assert_11"),
        (f"{CLOCKED}$rose(wr_en) |-> ($past(n, 2) == n throughout rd_en[->1]) or nexttime[2] $stable(rd_data));",
         "assert_11"),
        (f"{CLOCKED}first_match(wr_en ##[1:2] rd_en) |-> strong(##[1:3] n != 0));", "assert_11"),
        (f"if (1) {CLOCKED}wr_en[*2] |-> weak(##[1:$] rd_en)); wire after;", "genblk1.assert_11"),
        ("sequence s(v); (wr_en, v = n) ##1 rd_en; endsequence property p; logic [3:0] x, y; @(posedge clk)"
         " (s(x), y = x) |-> ##[0:2] n == y + 1; endproperty assert property (p);", "assert_11"),
        (f"{CLOCKED}wr_en |=> strong(##[1:$] rd_en) and s_eventually n[0]);", "assert_11"),
        ("property p; int x = n; @(posedge clk) (wr_en, x = x + 1) |-> ##[1:$] rd_en; endproperty"
         " assert property (p);", "assert_11"),
        ("property p; int x; @(posedge clk) wr_en ##1 ((wr_en, x = n) or (rd_en, x = 3)) ##[1:3] rd_en |-> n == x;"
         " endproperty assert property (p);", "assert_11"),
        ("property p(local input int x); @(posedge clk) wr_en |=> n == x; endproperty assert property (p(n + 1));",
         "assert_11"),
        (f"{CLOCKED}wr_en |-> s_eventually (rd_en |-> n[0]) and not (rd_en ##1 n[1]));", "assert_11"),
    ],
)  # fmt: skip
def test_a_property_of_the_subset_is_watched(tmp_path: Path, beside: str, name: str) -> None:
    build = built(tmp_path, VERILOG.replace("BESIDE", beside).replace("ANY", ""))
    assert watched(build) == [(f"top.{name}", 11)]
    assert not build.diagnostics


@pytest.mark.parametrize(
    ("beside", "within", "what"),
    [
        (
            "property p; int x; @(posedge clk) wr_en |=> n == x; endproperty assert property (p);",
            "",
            "its variable 'x' is read, and assigned nowhere: write (CONDITION, x = VALUE) before, or give it a value",
        ),
        (
            "property p; int x; @(posedge clk) ((wr_en, x = n) ##1 wr_en) and rd_en[*2] ##1 n == x |=> rd_en;"
            " endproperty assert property (p);",
            "",
            "its variable 'x' is assigned in one of two sequences that go on at once, and used in the other: give each",
        ),
        (
            "property p; int x; @(posedge clk) (wr_en, x = n) |-> ##[1:$] n == x; endproperty assert property (p);",
            "",
            "a variable may be read any number of cycles after its assignment, by checks that overlap: let",
        ),
        (
            "property p; int x; @(posedge clk) wr_en or (rd_en, x = n) |=> n == x; endproperty assert property (p);",
            "",
            "its variable 'x' is read where it may not have been assigned: assign it on each way to there",
        ),
        (f"{CLOCKED}$past(n, 1, wr_en) == n);", "", "'$past(n, 1, wr_en)' is not watched: $past of an expression, and"),
        (f"{CLOCKED}wr_en |-> ##999 n != 0);", "", "'##999' is not a number of cycles up to 256"),
        (f"{CLOCKED}wr_en |-> ##[1:99] rd_en ##[1:99] rd_en);", "", "it takes more than 512 registers: ask for fewer"),
        ("assert property (wr_en |-> n != 0);", "", "it names no clock: write @(posedge clk) in it"),
        ("always @* assert (n < 9);", "", "its block does not run on one clock edge"),
        (
            "",
            "for (int i = 0; i < 4; i++) assert ($past(n) != i);",
            "it asks for an earlier cycle within a loop: write",
        ),
    ],
)
def test_what_is_outside_of_it_is_reported_at_its_line(tmp_path: Path, beside: str, within: str, what: str) -> None:
    build = built(tmp_path, VERILOG.replace("BESIDE", beside).replace("ANY", within))
    (said,) = (one for one in build.diagnostics if "not observed" not in one.message)
    assert (said.severity, said.file, said.line) == (Severity.WARNING, "top.v", 6 if within else 11)
    assert said.message.startswith(f"this assertion is not watched: {what}")
    assert watched(build) == []


@pytest.mark.parametrize(
    ("text", "read"),
    [
        ("p: assert always (a -> next b) @rising_edge(clk);", ("a", "b")),
        ("assert always (a = '1' -> next[3] (b)) @(falling_edge(clk)) report \"late\" severity warning;",
         ("a = '1'", "b")),
        ("assert never (a and b) @rising_edge(clk);", ("a and b",)),
        ("assert always (a -> next![2] (next_e![1 to 3] (b))) @rising_edge(clk);", ("a", "b")),
        ("assert always {a} |-> {b[*1 to 4]; a}! @rising_edge(clk);", ("a", "b")),
        ("assert always ({a} |=> {b}) abort rst @rising_edge(clk);", ("a", "b", "rst")),
        ("assert always (a ->\n--   next next b)\n-- psl @rising_edge(clk);", ("a", "b")),
        ("sequence s is {a; b[*2]};\n-- psl assert always {s} |=> (b) @rising_edge(clk);", ("a", "b")),
        ("assert always (rose(x) -> prev(v(0), 2) = c) @rising_edge(clk);",
         ("(x = '1') and not (recap_past_8_0 = '1')", "(recap_past_8_2 ( 0 )) = c")),
        ("assert always (a -> eventually! b) @rising_edge(clk);", ("a", "b")),
        ("assert always (a -> next (b until!_ {c; d})) @rising_edge(clk);", "'until_' takes only conditions of"),
        ("assert (a -> b) @rising_edge(clk);", "it is neither always nor never"),
        ("assert always (a -> b);", "it names no clock"),
        ("assert always {a; b[*300]} |=> {b} @rising_edge(clk);", "'300' is not a number of cycles up to 256"),
        ("assert always ({a} |-> {b[*0 to 2]}) @rising_edge(clk);", "a sequence of it can match without a cycle"),
        ("assert always (a -> next[2 b) @rising_edge(clk);", "a bracket is not closed"),
        ("assert always ({a |-> b}) @rising_edge(clk);", "'|->' is written where '}' should be"),
        ("assert always ((a -> b) and c) @rising_edge(clk);", "'->' is within a condition"),
    ],
)  # fmt: skip
def test_psl_in_comments_is_read(text: str, read: tuple[str, ...] | str) -> None:
    signals = {"x": "std_logic", "v": "bit_vector(3 downto 0)"}
    ((at, found),) = properties(f"x <= y; -- psl {text}\n-- more\n".encode(), signals)
    assert at == (8 if "sequence s" not in text else 41)
    if isinstance(found, Property):
        assert found.conditions == read
        kept = ["std_logic", "bit_vector(3 downto 0)", "bit_vector(3 downto 0)"] if "rose" in text else []
        assert [one.declared.partition(" : ")[2] for one in found.kept] == [f"{type_}; " for type_ in kept]
    else:
        assert isinstance(read, str)
        assert str(found).startswith(read)


@NEEDS_GHDL
def test_vhdl_has_its_assertions_watched(tmp_path: Path) -> None:
    text = (bench.DATA / "assertions" / "tiny_top.vhd").read_text().replace("tiny_top", "top")
    text = text.replace("31 downto 0);\n        wr_en", "15 downto 0);\n        wr_en")
    of_own = "process (clk) begin if rising_edge(clk) then held(i) <= addr(i); end if; end process;\n -- psl even"
    text = text.replace("-- psl even", of_own, 1).replace("held <= tail - head;", "")
    text = text.replace("{left > 1} |=> {left > 0} abort", "(left > 1 -> next_e[1 to inf] (left > 0)) abort")
    build = built(tmp_path, text, ".vhd")
    assert sorted(name for name, _ in watched(build)) == [
        "top.begun", "top.bits[0].even", "top.bits[1].even", "top.bursts", "top.counts", "top.free", "top.one_left",
        "top.quiet", "top.resets", "top.tame",
    ]  # fmt: skip
    assert [one.message for one in build.diagnostics if "not watched" in one.message] == [
        "this assertion is not watched: 'next_e' has no end: write [1 to 9]"
    ]


def test_a_branch_that_cannot_be_counted_is_reported(tmp_path: Path) -> None:
    beside = "always @(negedge clk) begin end always @* begin if (wr_en) begin end end"
    within = "for (int i = 0; i < 4; i++) if (n == i) rd_data <= 1;"
    build = built(tmp_path, VERILOG.replace("BESIDE", beside).replace("ANY", within), branches=True)
    assert watched(build) == [("top.branch_7", 7)]
    assert [(one.line, one.message.partition(":")[0]) for one in build.diagnostics] == [
        (6, "the branches of an if are not counted"), (11, "the branches of this block are not counted"),
    ]  # fmt: skip


def test_comments_in_latin_1_change_nothing(tmp_path: Path) -> None:
    """slang gives no piece of a text that is not UTF-8; comments of old designs often are not."""
    text = VERILOG.replace("BESIDE", f"one: {CLOCKED}wr_en COMMENT |-> !rd_en);").replace("ANY", '`include "w.vh"')
    text = text.replace("if (wr_en)", "if (wr_en COMMENT)")
    (tmp_path / "w.vh").write_bytes(b'// \xfc\n`include "within.vh"\n')
    (tmp_path / "within.vh").write_bytes(b"// \xfc\n")
    language = VerilogLanguage()
    builds = []
    for comment in ("", "/* gr\xfc\xdfe */"):
        (tmp_path / "top.v").write_bytes(text.replace("COMMENT", comment).encode("latin-1"))
        for asked in ({"assertions": True}, {"branches": True}):
            hardware = HardwareSources(sources=("top.v",), top="top", read_out=ReadOut(first=0, last=15), **asked)
            builds.append(language.instrument(tmp_path, hardware, PLATFORM, {}, tmp_path / "out"))
    assert [watched(build) for build in builds[:2]] == [watched(build) for build in builds[2:]]
    assert all(watched(build) and not build.diagnostics for build in builds)


def test_a_branch_for_the_reset_is_left_out_wherever_it_is(tmp_path: Path) -> None:
    text = VERILOG.replace("BESIDE", "").replace("ANY", "").replace("or posedge rst", "")
    text = text.replace("if (rst) n <= 0;\n        else begin", "begin").replace("rd_data <= n;", "if (rst) n <= 0;")
    last, first = (block for block in reversed(built(tmp_path, text, branches=True).blocks) if block.kind == "branch")
    assert [state.reasons for state in first.states[1:]] == [(), ()]
    assert [(state.name, state.reasons) for state in last.states[1:]] == [
        ("if rst", ("reset",)), ("else, not written", ()),
    ]  # fmt: skip


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run with its signals, of a design in Verilog whose assertions and branches are counted."""
    folder = tmp_path_factory.mktemp("watched")
    bench.counted(bench.application(folder, ".v"), folder / "run", "--waves")
    return folder / "run"


def test_counts_are_those_of_a_waveform_of_the_run(run: Path, capsys: pytest.CaptureFixture[str]) -> None:
    analysis = bench.analysed(run)
    counted = bench.of_run(analysis)
    assert counted == bench.of_waveform(bench.cycles_of(run), False)
    assert counted["free failed"]
    assert counted["free held"]
    problem, *others = assertion_problems(analysis.assertions)
    assert [(one.severity, one.line) for one in others] == [
        (Severity.ERROR, 41), (Severity.NOTE, 45), (Severity.ERROR, 82),
    ]  # fmt: skip
    assert (problem.severity, problem.file, problem.line) == (Severity.WARNING, "hdl/tiny_top.v", 21)
    assert f"failed {counted['free failed']} times, first in cycle {counted['free first']} " in problem.message
    assert problem.message.endswith("of tiny_top.free: an adder that is busy gets a word")
    assert assertions_words(analysis.assertions) == "10 assertions watched: 4 failed, 6 held"
    assert assertion_json(analysis.assertions[0])["first_in"] == "tiny_top.free"
    assert coverage_words(analysis.decisions).startswith("9 of 9 branches taken")
    assert coverage_json(analysis.decisions)["taken"] == 9
    capsys.readouterr()
    assert main(["coverage", str(run), "--all"]) == 0
    said = capsys.readouterr().out
    assert f"{counted['decision 1, branch 1']}  hdl/tiny_top.v:52: else if wr_en && addr < 32'h100" in said


@NEEDS_GHDL
@pytest.mark.parametrize("suffix", [".v", ".vhd"])
def test_a_board_counts_what_the_card_does(run: Path, tmp_path: Path, suffix: str) -> None:
    """Counters in the design's copy, read out through the platform's port of a board that is a simulation. The signals
    of the run, which is in Verilog, say what a design in VHDL has to count."""
    card = bench.of_waveform(bench.cycles_of(run), suffix == ".vhd")
    board = bench.on_board(tmp_path, suffix)
    assert bench.of_words(board, suffix) == bench.of_words(card, suffix)
    assert all(card[name] for name in ("resets failed", "resets held", "steps held", "bursts held"))
    for name in ("free", "one_left"):  # asked for each word, with an answer by when that comes
        assert [(one[f"{name} held"] or 0) + (one[f"{name} failed"] or 0) for one in (board, card)] == [48, 48]
    assert board["resets first"] is not None
    strong = {
        "never held": 0, "never failed": 1, "never first": None, "never since": board["wrote first"],
        "rests held": 47, "rests failed": 1, "rests first": None, "rests since": board["rests since"],
        "served held": 48, "served failed": 0, "served first": None, "served since": None,
    }  # fmt: skip
    if suffix == ".v":  # one on two clocks; one with a variable, which is wrong of the last cycle of each word
        strong |= {"crosses held": 96, "crosses failed": 48, "crosses since": None}
        strong |= {"falls held": 123 * 48, "falls failed": 48, "falls first": board["falls first"], "falls since": None}
    assert {name: board[name] for name in strong} == strong
    assert (board["rests since"] or 0) > (board["wrote first"] or 0)


def test_a_failed_assertion_is_a_ranked_finding_in_the_report_and_in_exports(
    run: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    analysis = bench.analysed(run)
    first, *_, last = analysis.findings
    results = {one.name: one for one in analysis.assertions}
    assert [(one.title, one.severity) for one in analysis.findings if one.failures] == [
        (f"Assertion {name} failed {results[name].failed} times", severity)
        for name, severity in (("resets", "high"), ("one_left", "high"), ("free", "medium"), ("tame", "low"))
    ]
    assert (first.order, last.order) == (0, 2)
    assert (first.failures, first.first_s) == (results["resets"].failed, results["resets"].first_s)
    assert first.places[0] == Place("hdl/tiny_top.v", 41, "resets")
    assert best_of(open_run(run)[0].manifest, analysis).text.endswith(
        "failed 24 times, first at 3.51\N{NARROW NO-BREAK SPACE}µs"
    )
    assert main(["report", str(run)]) == 0
    said = capsys.readouterr().out
    assert "1. Assertion resets failed 24 times: first at 3.51" in said
    assert "The assertion 'resets' failed 24 times, first in cycle 351" in said
    assert main(["report", str(run), "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["findings"][0]["failures"] == 24
    sarif, condition = tmp_path / "found.sarif", "finding('failed assertion').failures_b > 66"
    command = ["compare", str(run), str(run), "--fail-if", condition, "--sarif", str(sarif)]
    assert main([*command, "--junit", str(tmp_path / "junit.xml")]) == 1
    found = json.loads(sarif.read_text())["runs"][0]["results"]
    assert [(one["ruleId"], one["level"], one["properties"]["gain"]) for one in found[:1]] == [
        ("failed assertion", "error", "24 failures")
    ]
    assert "hdl/tiny_top.v:41" in (tmp_path / "junit.xml").read_text()


def replayed(run: Path, folder: Path, change: tuple[str, str], capsys: pytest.CaptureFixture[str]) -> dict[str, Any]:
    """What a testbench of the run says of the same design in VHDL, with a change."""
    project = bench.application(folder, ".vhd")
    source = project / "hdl" / "tiny_top.vhd"
    text = source.read_text()
    assert text.count(change[0]) == 1
    source.write_text(text.replace(*change))
    capsys.readouterr()
    main(["testbench", str(run), "--out", str(folder / "bench"), "--project", str(project), "--run", "--json"])
    found: dict[str, Any] = json.loads(capsys.readouterr().out)
    return found


@NEEDS_GHDL
def test_a_testbench_replays_the_run_and_names_the_first_difference(
    run: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    same = replayed(run, tmp_path / "same", ("port_p :", "port_q :"), capsys)
    assert (same["testbench"], same["difference"]) == ("tiny_top_replay.vhd", None)
    planted = ("if empty and left = 0 then", "if empty and left = 1 then")
    difference = replayed(run, tmp_path / "planted", planted, capsys)["difference"]
    asked = next(n for n, c in enumerate(bench.cycles_of(run)) if c["rd_en"] and c["addr"] == 256)
    expected = {"cycle": asked + 1, "port": "rd_data", "actual": "0", "expected": "1", "base": "hexadecimal"}
    assert difference == expected
    undriven = ("else (others => 'Z')", "else (others => '0')")
    difference = replayed(run, tmp_path / "undriven", undriven, capsys)["difference"]
    drove = {"port": "pins", "actual": "0" * 8, "expected": "Z" * 8, "base": "binary"}
    assert difference == expected | {"cycle": 0} | drove
    driven = ("(left, 8)) when left mod 2 = 1", "(left + 2, 8)) when left mod 2 = 1")
    difference = replayed(run, tmp_path / "driven", driven, capsys)["difference"]
    counts = next(n for n, c in enumerate(bench.cycles_of(run)) if c["left"] % 2)
    assert difference == expected | {"cycle": counts, "port": "pins", "actual": "7d", "expected": "7b"}


def test_what_is_open_at_the_end_of_the_run_has_failed() -> None:
    each = {"top.done": 1}
    one = AssertionResult("done", "top.v", 3, "error", "", 0, 1, each, open_cycle=7, open_s=7e-8, open_in="top.done")
    (problem,) = assertion_problems([one])
    assert problem.message == (
        "the assertion 'done' failed once, still open at the end of the run since cycle 7"
        " (70.0\N{NARROW NO-BREAK SPACE}ns) of top.done"
    )
    (finding,) = assertion_findings([one])
    assert finding.title == "Assertion done was open at the end of the run"
    assert gain_words(finding) == "open since 70.0\N{NARROW NO-BREAK SPACE}ns"
    assert assertion_table([one]).columns[3].text(one) == "open since cycle 7"


def test_a_run_without_signals_gives_no_testbench(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    made = synthetic_run(cores=1, rounds=1)
    RunWriter(tmp_path / "run").finish(made.manifest, made.tables)
    assert main(["testbench", str(tmp_path / "run"), "--out", str(tmp_path / "bench")]) == 2
    said = capsys.readouterr().err
    assert "this run did not record the traffic at the design's ports. Run it again with --ports." in said
    assert not (tmp_path / "bench").exists()
