"""Metrics of one's own in hardware: what may be written, what is wrong and where, what is counted, who sees it."""

import re
import shutil
import sys
from dataclasses import replace
from pathlib import Path

import pytest
from memory_port import PLATFORM
from rc_workbench_plugins.verilog import VerilogLanguage
from rc_workbench_plugins.vhdl import VhdlLanguage
from small_runs import Spent, small_run
from tools import NEEDS_GHDL

from workbench.analysis.analyse import analyse
from workbench.analysis.custom import KnownMetrics, custom_words
from workbench.analysis.knowledge import KnowledgeBase, read_knowledge
from workbench.api.instrument.probes import COUNT_BITS, VALUE_WORDS, SumWords
from workbench.api.source.metric_text import BadMetric, format_metric, parse_metric
from workbench.api.tables import table_of
from workbench.model.application import HardwareSources, ReadOut
from workbench.model.custom import Sums, ValueType
from workbench.model.pragma import Category
from workbench.model.run import Run

sys.path.insert(0, str(Path(__file__).parent / "benchmarks"))
import custom_metrics as bench


@pytest.mark.parametrize(
    ("text", "states"),
    [
        ("count stalls when valid && !ready", ("stalls",)),
        ("sum bytes of len", ("bytes",)),
        ("mean depth of fill when x[3:0] == 4'd2", ("depth",)),
        ("histogram sizes of len bins -4, 1, 16 when valid", ("below_minus_4", "from_minus_4", "from_1", "from_16")),
        ("sequence answers when req then ack within 8", ("open", "answers", "missed")),
        ("correlate pair when full = '1' with empty = '1'", ("first", "second", "both")),
        ("count odd when f(a when b) = \"when\"", ("odd",)),
    ],
)  # fmt: skip
def test_a_directive_says_what_can_be_the_case_in_a_cycle(text: str, states: tuple[str, ...]) -> None:
    metric = parse_metric(text)
    assert metric.states == states
    assert format_metric(metric) == text


@pytest.mark.parametrize(
    ("text", "at", "message", "hint"),
    [
        ("count stalls", 12, "'when' is missing", "Write count NAME when CONDITION."),
        ("count when valid", 6, "the metric's name is missing", "Write count NAME when CONDITION."),
        ("count stalls when", 13, "nothing follows 'when'", "Write count NAME when CONDITION."),
        ("sum bytes of a + b", 10, "'a + b' is not a signal's name", "Copy the expression to a signal of its own."),
        ("sum bytes when valid", 20, "'of' is missing", "Write sum NAME of SIGNAL when CONDITION."),
        ("count a of b when c", 8, "'of' is not expected here", "Write count NAME when CONDITION."),
        ("histogram h of d bins 4, 1", 17, "each bin begins above the one before", "Write the values at which bins"),
        ("sequence s when a then b within 0", 25, "'0' is not a number of cycles", "Write within 8."),
    ],
)
def test_a_wrong_directive_is_reported_where_it_is_wrong(text: str, at: int, message: str, hint: str) -> None:
    with pytest.raises(BadMetric) as bad:
        parse_metric(text)
    assert (bad.value.offset, bad.value.hint[: len(hint)]) == (at, hint)
    assert bad.value.message.startswith(message)


DESIGNS = {
    ".v": (VerilogLanguage(), "empty && left == 0", "emty && left == 0", "held", "buffer"),
    ".vhd": (VhdlLanguage(), "empty and left = 0", "emty and left = 0", "held", "words"),
}


def scanned(folder: Path, suffix: str, **others: str) -> list[str]:
    """What a scan of the design says, with other texts in place of those of its metrics by these names."""
    text = (bench.DATA / "metrics" / f"tiny_top{suffix}").read_text()
    for name, other in others.items():
        text, count = re.subn(rf"(?m)recap \w+ {name} .*$", lambda found, other=other: f"recap {other}", text)
        assert count == 1
    (folder / f"tiny_top{suffix}").write_text(text)
    hardware = HardwareSources(sources=(f"tiny_top{suffix}",), top="tiny_top", read_out=ReadOut(first=0, last=15))
    return [one.text() for one in DESIGNS[suffix][0].scan(folder, hardware, PLATFORM, {}).diagnostics]


BOTH = pytest.mark.parametrize("suffix", [".v", pytest.param(".vhd", marks=NEEDS_GHDL)])


@BOTH
def test_what_a_metric_asks_for_is_read_where_it_is_counted(tmp_path: Path, suffix: str) -> None:
    _, _, wrong, _, array = DESIGNS[suffix]
    said = scanned(tmp_path, suffix, starved=f"count starved when {wrong}", depth=f"max depth of {array}",
                   taken="min starved of held", least="sum least held")  # fmt: skip
    assert len(said) == 4
    for part in (
        "the metric 'starved' is wrong: there is no 'emty' here. Did you mean 'empty'?",
        f"the metric 'depth' is wrong: '{array}' is not a number",
        "the name 'starved' is also that of another block",
        "'held' is not expected here. Write sum NAME of SIGNAL when CONDITION.",
    ):
        assert [one for one in said if part in one and f"tiny_top{suffix}:" in one], (part, said)


@BOTH
def test_a_signal_of_more_than_64_bits_is_reported_with_a_slice_to_count(tmp_path: Path, suffix: str) -> None:
    """In VHDL the elaborated design alone knows how many bits it has."""
    text = (bench.DATA / "metrics" / f"tiny_top{suffix}").read_text()
    text = text.replace("wire [63:0] far = {", "wire [71:0] far = {8'd0, ")
    text = text.replace("length - 1 downto 0);", "length + 7 downto 0);").replace("far <= ", 'far <= x"00" & ')
    (tmp_path / f"tiny_top{suffix}").write_text(text)
    hardware = HardwareSources(sources=(f"tiny_top{suffix}",), top="tiny_top", read_out=ReadOut(first=0, last=15))
    said = [one.text() for one in DESIGNS[suffix][0].scan(tmp_path, hardware, PLATFORM, {}).diagnostics]
    assert len(said) == 4
    slice_ = "part <= far(63 downto 0);" if suffix == ".vhd" else "wire [63:0] part = far[63:0];"
    assert "'far' has 72 bits; values of at most 64 are counted. Count a slice: " in said[0]
    assert slice_ in said[0]


@BOTH
def test_the_project_says_what_to_count_where_sources_stay_as_they_are(tmp_path: Path, suffix: str) -> None:
    language, right, wrong, signal, _ = DESIGNS[suffix]
    shutil.copy(bench.DATA / "metrics" / f"tiny_top{suffix}", tmp_path)
    texts = (
        f"count idle when {right}",
        f"max level of {signal}",
        f"count odd when {wrong}",
        "count lost",
        "sum a of b",
    )
    hardware = HardwareSources(
        sources=(f"tiny_top{suffix}",), top="tiny_top", read_out=ReadOut(first=0, last=15),
        metrics={"tiny_top": texts[:2]},
    )  # fmt: skip
    build = language.instrument(tmp_path, hardware, PLATFORM, {}, tmp_path / "out")
    assert {"tiny_top.idle", "tiny_top.level", "tiny_top.starved"} <= {block.id for block in build.blocks}
    bad = hardware.model_copy(update={"metrics": {"tiny_top": texts, "tiny_tap": ("count a when b",)}})
    said = {one.keys: one.message for one in language.scan(tmp_path, bad, PLATFORM, {}).diagnostics}  # type: ignore[attr-defined]
    at = ("hardware", "metrics", "tiny_top")
    assert said.pop((*at[:2], "tiny_tap")) == "there is no module 'tiny_tap' with a clocked block"
    assert "there is no 'emty' here" in said.pop((*at, 2))
    assert said.pop((*at, 3)) == "'when' is missing, at character 11"
    assert "there is no 'b' here" in said.pop((*at, 4))
    assert said == {}


def run_of_metrics() -> Run:
    """A run of 1,000 cycles with a block that works, and three metrics beside it in two replicas."""
    spent = {
        "top.core[0].step": [Spent("add", Category.WORK, 4e-6)],
        **{f"top.core[{n}].stalls": [Spent("stalls", Category.WORK, (1 + n) * 1e-6, visits=2)] for n in range(2)},
        **{f"top.core[{n}].size": [Spent("size", Category.WORK, 1e-7)] for n in range(2)},
    }
    run = small_run(1e-5, [Spent("put", Category.SEND, 5e-6)], spent)
    kinds = {"stalls": "count", "size": "deviation"}
    blocks = tuple(
        replace(block, kind=kinds[name], states=tuple(replace(state, category=None) for state in block.states))
        if (name := block.id.rpartition(".")[2]) in kinds
        else block
        for block in run.manifest.blocks
    )
    number = {block.id: n for n, block in enumerate(blocks)}
    rows = [
        (number["top.core[0].size"], *Sums(100, 10, 10, 1000).row(signed=False)),
        (number["top.core[1].size"], *Sums(300, 20, 40, 10000).row(signed=False)),
    ]
    tables = {**run.tables, "metric_sums": table_of("metric_sums", rows)}
    return replace(run, manifest=replace(run.manifest, blocks=blocks), tables=tables)


def test_replicas_are_one_metric_in_reports() -> None:
    stalls, size = analyse(run_of_metrics(), None, KnowledgeBase()).custom
    assert (stalls.value, stalls.parts["times"], stalls.parts["share"]) == (300, 4, 0.15)
    assert stalls.each == {"top.core[0].stalls": 100, "top.core[1].stalls": 200}
    assert custom_words(stalls) == "stalls (count): 300, 15.0\N{NARROW NO-BREAK SPACE}% of its cycles, 4 times"
    mean, count = 400 / 20, 20
    assert size.value == pytest.approx((11000 / count - mean**2) ** 0.5)


RULE = """\
schema_version: 1
rules:
  - name: Stalled cores
    category: internal overhead
    side: fpga
    when: {condition}
    time_saved: custom.stalls.time
    show: [custom.stalls.share]
"""


def found(condition: str) -> tuple[list[str], list[str]]:
    """Which blocks a rule with a condition finds, and what is wrong with it in the run."""
    rules, _, problems = read_knowledge(RULE.replace("{condition}", condition), "own.yaml", {})
    assert problems == ()
    analysis = analyse(run_of_metrics(), None, KnowledgeBase(rules, metrics=KnownMetrics()))
    titles = {name: analysis.metrics[name].title for finding in analysis.findings for name in finding.metrics}
    assert titles.get("custom.stalls.share", "stalls share") == "stalls share"
    return [finding.block for finding in analysis.findings], [one.text() for one in analysis.diagnostics]


def test_rules_name_them_and_look_at_no_metric_as_a_block() -> None:
    assert found("custom.stalls > 200 and custom.stalls.share > 0.1") == (["top.core[0].step"], [])
    assert found("custom.stalls > 300") == ([], [])
    blocks, (said,) = found("custom.stals > 300")
    assert blocks == []
    assert "this run counted no metric 'custom.stals'. Did you mean 'custom.stalls'?" in said


def test_counters_have_what_a_waveform_of_the_run_tells(tmp_path: Path) -> None:
    project = bench.application(tmp_path, ".v")
    counted = bench.counted(project, tmp_path / "run", "--waves")
    waveform = bench.of_waveform(tmp_path / "run")
    assert {name: counted[name] for name in waveform} == pytest.approx(waveform)
    exact = ("reach", "farthest", "deepest", "taken")
    assert {name: counted[f"custom.{name}"] for name in exact} == {name: waveform[f"custom.{name}"] for name in exact}
    telling = (
        f"halves.below_{1 << 63}",
        f"halves.from_{1 << 63}",
        "depth.from_1",
        "depth.from_2",
        "started",
        "started.missed",
        "together.both",
        "together.first",
    )
    assert all(counted[f"custom.{name}"] > 0 for name in telling)


def test_what_tools_for_boards_take_has_the_counters(tmp_path: Path) -> None:
    """A board's tree has the metrics' own sources, and its plan of words says where their sums are."""
    shutil.copy(bench.DATA / "metrics" / "tiny_top.v", tmp_path)
    hardware = HardwareSources(sources=("tiny_top.v",), top="tiny_top", read_out=ReadOut(first=0, last=15))
    build = VerilogLanguage().instrument(tmp_path, hardware, PLATFORM, {}, tmp_path / "out")
    names = {path.name for path in build.files.board_sources or build.sources}
    assert {"recap_value.v", "recap_average.v", "recap_bin.v"} <= names
    assert build.read_out is not None
    (monitor,) = build.read_out.monitors
    assert [build.blocks[one.block].id.rpartition(".")[2] for one in monitor.values] == [
        "taken", "written", "spread", "least", "most", "reach", "around", "farthest", "deepest",
    ]  # fmt: skip
    assert all(one.base + 16 <= monitor.header for one in monitor.values)


@pytest.mark.parametrize("signed", [False, True])
def test_no_sum_overflows_before_the_counter_beside_it(signed: bool) -> None:
    for bits in range(1, 65):
        words, most = SumWords.of(ValueType(bits, signed)), 1 << (bits - 1 if signed else bits)
        assert (most << COUNT_BITS).bit_length() - 1 <= 32 * words.sum - signed
        assert (most * most << COUNT_BITS).bit_length() - 1 <= 32 * words.squares
        assert words.sum + 2 * words.extreme + words.squares <= VALUE_WORDS


@pytest.mark.parametrize(("signed", "least"), [(False, 0), (True, -(1 << 63))])
def test_a_table_has_exact_sums(signed: bool, least: int) -> None:
    sums = Sums((1 << 99) + 1 if not signed else -(1 << 99) + 1, least, least + (1 << 64) - 1, (1 << 90) + 1)
    assert Sums.of(table_of("metric_sums", [(7, *sums.row(signed))]), 0) == sums


PORTS = (
    "input wire clk, rst, wr_en, rd_en, input wire [15:0] addr, input wire [31:0] wr_data, output reg [31:0] rd_data"
)
PLACES = f"""\
module cell_(input ck, input rst, input go, output reg [3:0] n);
    //pragma recap mean level of n when go
    always @(posedge ck or posedge rst) if (rst) n <= 0; else n <= n + go;
endmodule
module top({PORTS});
    wire [3:0] n [0:1];
    reg half = 0;
    always @(posedge clk) half <= ~half;
    for (genvar i = 0; i < 2; i++) begin : lane
        reg [7:0] mine;
        always @(posedge clk) begin : step
            //pragma recap histogram sizes of mine bins 2, 9 when wr_en
            mine <= mine + wr_data[i];
        end
        cell_ c(.ck(clk), .rst(rst), .go(mine[0]), .n(n[i]));
    end
    always @(posedge half) begin : slow
        //pragma recap count slow_writes when wr_en
        rd_data <= n[0] + n[1];
    end
    always @(negedge clk) begin : falls
        //pragma recap sequence answers when wr_en then rd_en within 5
    end
endmodule
"""
OPEN = "//pragma recap count unclear when wr_en\n    always @(posedge half) begin : slow"
ALONE = "if (1) always @(posedge clk) begin : lonely\n    //pragma recap count alone when wr_en\n    end\nendmodule\n"


def test_a_metric_is_counted_wherever_its_block_is(tmp_path: Path) -> None:
    (tmp_path / "top.v").write_text(PLACES)
    hardware = HardwareSources(sources=("top.v",), top="top", read_out=ReadOut(first=0, last=15))
    build = VerilogLanguage().instrument(tmp_path, hardware, PLATFORM, {}, tmp_path / "out")
    counted = [block.id for block in build.blocks if block.is_metric and len(block.states) > 1]
    assert sorted(counted) == [
        "top.answers", "top.lane[0].c.level", "top.lane[0].sizes", "top.lane[1].c.level", "top.lane[1].sizes",
        "top.slow_writes",
    ]  # fmt: skip
    assert build.read_out is not None
    assert [monitor.clock for monitor in build.read_out.monitors] == ["clk", "half"]
    (tmp_path / "top.v").write_text(
        PLACES.replace("always @(posedge half) begin : slow", OPEN).removesuffix("endmodule\n") + ALONE
    )
    said = [one.text() for one in VerilogLanguage().scan(tmp_path, hardware, PLATFORM, {}).diagnostics]
    assert any(
        "it is unclear which clock counts the metric 'unclear': top has clocks clk (posedge), half (posedge)" in one
        for one in said
    )
    assert any("the metric 'alone' cannot be placed beside the only block of a generate" in one for one in said)
