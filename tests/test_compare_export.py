"""Comparing two runs, and writing a run for other programs: what goes out comes back."""

import csv
import json
import re
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from answers import document_of
from rc_workbench_plugins.recap_rules import workbench_rules
from rc_workbench_plugins.recap_rules.metrics import METRICS
from small_runs import without_tables

from workbench.analysis import analyse, load_knowledge
from workbench.analysis.compare import Comparison, Difference, compare, comparison_json, faster_words, work_words
from workbench.analysis.equal_work import Stretch, equal_words, equal_work, shortest_period
from workbench.analysis.html_report import html_report
from workbench.analysis.report import report_json
from workbench.cli.main import main
from workbench.formats.run_folder import RunWriter
from workbench.model.run import PS_PER_S, Alignment, Run, RunClock, RunStatus
from workbench.session.keep.results import open_result
from workbench.session.program.plugins import load_plugins
from workbench.testing.runs import synthetic_platform, synthetic_run
from workbench.traces.trace import trace_of


@pytest.fixture(scope="module")
def run() -> Run:
    return synthetic_run(cores=4, rounds=2)


@pytest.fixture(scope="module")
def comparison() -> Comparison:
    knowledge, _ = load_knowledge([file.path for file in workbench_rules()], METRICS)
    runs = synthetic_run(form="original"), synthetic_run(form="optimised")
    a, b = (analyse(run, synthetic_platform(), knowledge) for run in runs)
    return compare(a, b, runs)


def test_the_whole_is_compared(comparison: Comparison) -> None:
    assert comparison.speedup == pytest.approx(comparison.time_s[0] / comparison.time_s[1])
    assert comparison.speedup > 5
    changes = [(p.b.time_s if p.b else 0) - (p.a.time_s if p.a else 0) for p in comparison.states]
    assert sum(changes) == pytest.approx(comparison.time_s[1] - comparison.time_s[0])


def test_calls_that_went_are_told(comparison: Comparison) -> None:
    calls = {pair.name: pair for pair in comparison.calls}
    assert calls["clearBins"].b is None
    assert calls["writeSamples"].a is not None
    assert calls["writeSamples"].b is not None
    assert calls["writeSamples"].a.bytes == calls["writeSamples"].b.bytes


def test_findings_are_gone_kept_or_new(comparison: Comparison) -> None:
    document = comparison_json(comparison)
    json.dumps(document)
    assert "control messages (host.main)" in document["findings"]["gone"]
    assert "inefficient transfer type or size (host.main)" in document["findings"]["kept"]
    assert document["time_s"] == list(comparison.time_s)
    said = comparison.only_in_a + comparison.only_in_b + tuple(pair[0] for pair in comparison.in_both)
    assert len({id(f) for f in said}) == len(said)


def test_a_run_compared_with_itself_is_the_same(run: Run) -> None:
    knowledge, _ = load_knowledge([file.path for file in workbench_rules()], METRICS)
    analysis = analyse(run, synthetic_platform(), knowledge)
    same = compare(analysis, analysis, (run, run))
    assert same.speedup == 1
    assert (same.only_in_a, same.only_in_b) == ((), ())
    assert [pair[0] for pair in same.in_both] == list(analysis.findings)


def test_different_work_is_told_by_name(comparison: Comparison) -> None:
    told = {(d.kind, d.name): (d.a, d.b) for d in comparison.differences}
    assert told["calls", "clearBins"] == (200, None)
    assert told["calls", "writeSamples"] == (200, 20)
    assert ("bytes", "writeSamples") not in told  # as much in fewer calls
    assert not [name for kind, name in told if kind in ("setting", "blocks")]
    assert work_words(comparison, 1).startswith("same work; clearBins in A only (200 calls, 400\u202fKiB); ")
    assert comparison_json(comparison)["same_work"] is False


def test_the_report_says_where_the_work_differs_and_where_it_is_the_same(comparison: Comparison) -> None:
    runs = synthetic_run(form="original"), synthetic_run(form="optimised")
    knowledge, _ = load_knowledge([file.path for file in workbench_rules()], METRICS)
    analysis = analyse(runs[0], synthetic_platform(), knowledge)
    page = html_report(runs[0], analysis, None, replace(comparison, equal=equal_work(*runs)))
    assert "Same work; clearBins in A only (200 calls, 400\u202fKiB)" in page
    assert "Whole runs. Same calls in each: writeSamples." in page
    assert "but their outputs are unknown" in page


def test_other_settings_and_blocks_are_different_work(run: Run) -> None:
    knowledge, _ = load_knowledge([file.path for file in workbench_rules()], METRICS)
    runs = run, synthetic_run(cores=5, rounds=2)
    comparison = compare(*(analyse(one, synthetic_platform(), knowledge) for one in runs), runs)
    told = {(d.kind, d.name): (d.a, d.b) for d in comparison.differences}
    assert told["setting", "CORES"] == (4, 5)
    assert told["blocks", "pdf2d_top.core[*].ctrl"] == (4, 5)
    assert told["calls", "startCore"] == (8, 10)
    alone = replace(comparison, differences=(Difference("blocks", "top.new", None, 1), Difference("calls", "go", 2, 1)))
    assert work_words(alone) == "different work: top.new in B only (1 block); go 2 calls in A, 1 call in B"


def test_the_part_of_each_run_that_is_the_same_work_lies_between_turns_that_moved_as_much() -> None:
    found = equal_work(synthetic_run(cores=2, rounds=48), synthetic_run(cores=2, rounds=48, form="optimised"))
    assert found is not None
    assert (found.a.turns, found.a.of_turns, found.b.turns, found.b.of_turns) == (16, 48, 1, 3)
    assert (found.calls, found.parts) == (("writeSamples",), 3)  # bins are read once where they were read 16 times
    assert found.speedup == found.a.span_ps / found.b.span_ps


def test_as_much_work_is_found_where_one_run_did_more_in_all() -> None:
    """48 rounds against 6: a round is the same work in both, the whole is not."""
    found = equal_work(synthetic_run(cores=2, rounds=48), synthetic_run(cores=2, rounds=6))
    assert found is not None
    assert (found.a.turns, found.a.of_turns, found.b.turns, found.b.of_turns) == (1, 48, 1, 6)
    assert {"writeSamples", "readBins", "clearBins", "startCore", "stopCore"} <= set(found.calls)
    assert found.parts == 0
    assert "one run made more of these calls" in equal_words(found)
    assert found.a.span_ps == pytest.approx(found.b.span_ps, rel=0.1)


@pytest.mark.parametrize("rounds", [48, 6])
def test_an_odd_round_does_not_stand_for_the_others(rounds: int) -> None:
    """The round in the middle of run B is held up for a second; its other rounds take what they took."""
    run, other = synthetic_run(cores=2, rounds=48), synthetic_run(cores=2, rounds=rounds)
    calls = {name: column.copy() for name, column in other.tables["calls"].items()}
    middle = len(calls["t0_ps"]) // 2
    calls["t0_ps"][middle + 1 :] += PS_PER_S
    calls["t1_ps"][middle:] += PS_PER_S
    manifest = replace(other.manifest, time_ps=other.manifest.time_ps + PS_PER_S)
    found = equal_work(run, Run(None, manifest, {**other.tables, "calls": calls}))
    usual = equal_work(run, other)
    assert found is not None
    assert usual is not None
    assert found.speedup == pytest.approx(usual.speedup, rel=0.02)


@pytest.mark.parametrize(("pieces", "turns"), [(1, 0), (2, 47)])
def test_rounds_without_such_calls_at_the_end_are_part_of_the_last_part(pieces: int, turns: int) -> None:
    """Run B moves all samples in its first rounds: its other rounds belong to the same work."""
    run, other = synthetic_run(cores=2, rounds=48), synthetic_run(cores=2, rounds=48)
    calls = {name: column.copy() for name, column in other.tables["calls"].items()}
    labels = np.array([site.label for site in other.manifest.sites])
    for label in {site.label for site in other.manifest.sites} - {"writeSamples"}:
        calls["bytes"][labels[calls["site"]] == label] = 0
    mine = np.flatnonzero(labels[calls["site"]] == "writeSamples")
    share = int(calls["bytes"][mine].sum()) // pieces
    calls["bytes"][mine] = 0
    calls["bytes"][mine[:: len(mine) // 48][:pieces]] = share
    found = equal_work(run, Run(None, other.manifest, {**other.tables, "calls": calls}))
    assert found is not None
    assert (found.calls[0], found.parts, found.b.turns) == ("writeSamples", pieces, turns)
    assert found.speedup == pytest.approx(1 if pieces == 1 else 0.5, rel=0.1)


def test_runs_whose_calls_have_nothing_alike_are_not_said_to_be_the_same_work(run: Run) -> None:
    sites = tuple(replace(site, label=f"other {site.label}") for site in run.manifest.sites)
    found = equal_work(run, replace(run, manifest=replace(run.manifest, sites=sites)))
    assert found is not None
    assert (found.calls, found.a, found.speedup) == ((), Stretch(0, run.manifest.time_ps), None)
    assert "no equal work" in equal_words(found)
    assert equal_work(run, without_tables(run, "calls")) is None


def test_periods_of_call_sequences() -> None:
    assert shortest_period(np.array([0, 1, 2] * 9)) == 3
    assert shortest_period(np.array([5, *[0, 1] * 20, 7])) == 2
    assert shortest_period(np.arange(40)) == 0


def test_the_command_says_work_and_output_beside_the_speedup(
    run: Run, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for name in "ab":
        RunWriter(tmp_path / name, run.manifest).finish(run.manifest, run.tables)
    assert main(["compare", str(tmp_path / "a"), str(tmp_path / "b")]) == 0
    said = capsys.readouterr().out.splitlines()
    assert said[0].endswith("s: the same time, but their outputs are unknown")
    assert said[1] == "the same work: settings, blocks, calls and bytes"
    assert said[2].startswith("equal work: A 1 of 2 rounds (")
    document = document_of(capsys, ["compare", "--json", str(tmp_path / "a"), str(tmp_path / "b")])
    assert (document["same_work"], document["equal_work"]["speedup"]) == (True, 1.0)


def with_output(run: Run, sha256: str) -> Run:
    return replace(run, manifest=replace(run.manifest, stdout_sha256=sha256))


@pytest.mark.parametrize(
    ("outputs", "same", "words"),
    [
        (("ab", "ab"), True, "the same time, same output, bit for bit"),
        (("ab", "cd"), False, "the same time, but their outputs differ"),
        (("ab", ""), None, "the same time, but their outputs are unknown"),
        (("", ""), None, "the same time, but their outputs are unknown"),
    ],
)
def test_a_speedup_is_said_with_whether_the_outputs_are_the_same(
    run: Run, outputs: tuple[str, str], same: bool | None, words: str
) -> None:
    knowledge, _ = load_knowledge([file.path for file in workbench_rules()], METRICS)
    analysis = analyse(run, synthetic_platform(), knowledge)
    a, b = (with_output(run, output) for output in outputs)
    comparison = compare(analysis, analysis, (a, b))
    assert comparison.same_output is same
    assert comparison_json(comparison)["same_output"] is same
    assert faster_words(comparison) == words


def test_a_failed_run_can_be_compared(run: Run, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    good = RunWriter(tmp_path / "good", run.manifest)
    good.finish(run.manifest, run.tables)
    failed = RunWriter(tmp_path / "failed", run.manifest)
    failed.mark(RunStatus.FAILED, "the card crashed")
    assert main(["report", str(failed.path)]) == 0
    assert "No times were recorded" in capsys.readouterr().out
    for pair in ([good.path, failed.path], [failed.path, good.path], [failed.path, failed.path]):
        assert main(["compare", *map(str, pair)]) == 0
        shown = capsys.readouterr()
        assert "cannot be compared: one of the two runs did not finish" in shown.out
        assert "the card crashed" in shown.err
        assert document_of(capsys, ["compare", "--json", *map(str, pair)])["speedup"] is None
        opened = [open_result(path, load_plugins()) for path in pair]
        comparison = compare(opened[0].analysis, opened[1].analysis, (opened[0].run, opened[1].run))
        assert "cannot be compared" in html_report(opened[0].run, opened[0].analysis, None, comparison)


def test_the_chrome_trace_holds_every_interval_and_call_exactly(run: Run, tmp_path: Path) -> None:
    path = exported(run, "chrome", tmp_path)
    trace = trace_of(run)
    assert trace is not None
    document = json.loads(path.read_text())
    events = document["traceEvents"]
    assert document["otherData"]["simulated"] is True
    names = {e["tid"]: e["args"]["name"] for e in events if e["name"] == "thread_name"}
    assert [names[n + 1] for n in range(len(run.manifest.blocks))] == [b.id for b in run.manifest.blocks]
    for number in range(len(run.manifest.blocks)):
        mine = [e for e in events if e["ph"] == "X" and e["tid"] == number + 1]
        edges, states = trace.row(number)
        assert [e["args"]["start_ps"] for e in mine] == edges[:-1].tolist()
        assert [e["args"]["start_ps"] + e["args"]["duration_ps"] for e in mine] == edges[1:].tolist()
        assert [e["args"]["state"] for e in mine] == states.tolist()
        assert sum(e["args"]["duration_ps"] for e in mine) == run.manifest.time_ps
        assert mine[-1]["ts"] + mine[-1]["dur"] == pytest.approx(run.manifest.time_ps / 1e6)
    calls = [e["args"] for e in events if e["ph"] == "b"]
    assert [c["start_ps"] for c in calls] == run.tables["calls"]["t0_ps"].tolist()
    assert [c["bytes"] for c in calls] == run.tables["calls"]["bytes"].tolist()


def exported(run: Run, form: str, folder: Path) -> Path:
    """What `workbench export` leaves of a run."""
    path = folder / f"run.{form}"
    source = folder / f"run-{form}"
    RunWriter(source, run.manifest).finish(run.manifest, run.tables)
    assert main(["export", str(source), "--format", form, "--out", str(path)]) == 0
    return path


def test_a_profile_without_calls_has_no_trace(run: Run, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    profile = without_tables(run, "intervals", "interval_offsets", "calls")
    RunWriter(tmp_path / "run", run.manifest).finish(run.manifest, profile.tables)
    assert main(["export", str(tmp_path / "run"), "--format", "chrome", "--out", str(tmp_path / "t.json")]) == 2
    assert "this run has no trace" in capsys.readouterr().err
    assert [entry.name for entry in tmp_path.iterdir()] == ["run"]


def test_the_csv_sums_to_the_run(run: Run, tmp_path: Path) -> None:
    path = exported(run, "csv", tmp_path)
    with path.open(newline="") as stream:
        rows = list(csv.DictReader(stream))
    for block in run.manifest.blocks:
        mine = [row for row in rows if row["block"] == block.id]
        assert [row["state"] for row in mine] == [state.name for state in block.states]
        assert round(sum(float(row["time_s"]) for row in mine) * PS_PER_S) == run.manifest.time_ps
    assert sum(int(row["calls"]) for row in rows) == len(run.tables["calls"]["site"])
    assert sum(int(row["bytes"]) for row in rows) == run.tables["calls"]["bytes"].sum()


def test_each_block_is_told_with_its_clock_and_the_clock_with_how_surely_its_times_are_known(
    run: Run, tmp_path: Path
) -> None:
    """The port's block is on a second clock, whose times were joined with the host's to 40 ns."""
    (first,) = run.manifest.clocks
    second = RunClock("bus", 125e6, "clk", 5 * first.cycles // 4, Alignment.READ_OUT, 1200, uncertainty_ps=40_000)
    blocks = tuple(replace(b, clock="bus") if b.id.endswith(".lad_if") else b for b in run.manifest.blocks)
    two = replace(run, manifest=replace(run.manifest, clocks=(first, second), blocks=blocks))
    knowledge, _ = load_knowledge([file.path for file in workbench_rules()], METRICS)
    analysis, before = (analyse(one, synthetic_platform(), knowledge) for one in (two, run))
    document = report_json(two.manifest, analysis)
    assert document["clock_hz"] == first.frequency_hz
    assert [(c["name"], c["frequency_hz"], c["derived_from"]) for c in document["clocks"]] == [
        ("clk", 100e6, ""),
        ("bus", 125e6, "clk"),
    ]
    assert (document["clocks"][1]["alignment"], document["clocks"][1]["uncertainty_s"]) == ("read_out", 40e-9)
    of_block = {block["id"].rpartition(".")[2]: block["clock"] for block in document["blocks"]}
    assert (of_block["main"], of_block["lad_if"], of_block["merge"]) == (None, "bus", "clk")
    page = html_report(two, analysis, synthetic_platform())
    assert "bus: 125" in page
    assert "made from clk" in page
    assert "to 40" in page
    changed = comparison_json(compare(before, analysis, (run, two)))["clocks"]
    assert {c["name"]: c["a"] is None for c in changed} == {"clk": False, "bus": True}
    with exported(two, "csv", tmp_path).open(newline="") as stream:
        rows = {row["block"]: row["clock"] for row in csv.DictReader(stream)}
    assert rows == {block.id: block.clock or "" for block in blocks}
    chrome = json.loads(exported(two, "chrome", tmp_path).read_text())
    assert [clock["name"] for clock in chrome["otherData"]["clocks"]] == ["clk", "bus"]
    named = {e["args"]["name"]: e["args"]["clock"] for e in chrome["traceEvents"] if e["name"] == "thread_name"}
    assert named == {block.id: block.clock for block in blocks}


#: As flamegraph.pl has it (github.com/brendangregg/FlameGraph), and speedscope: what is else is no stack.
STACK = re.compile(r"^(.*)\s+?(\d+(?:\.\d*)?)$")


def test_folded_stacks_sum_to_the_run_block_by_block(run: Run, tmp_path: Path) -> None:
    head, *lines = exported(run, "folded", tmp_path).read_text().splitlines()
    assert STACK.match(head) is None
    sums: dict[str, int] = {}
    for line in lines:
        found = STACK.match(line)
        assert found is not None
        names = found[1].split(";")
        block = next(b.id for b in run.manifest.blocks if names[: b.id.count(".") + 1] == b.id.split("."))
        sums[block] = sums.get(block, 0) + int(found[2])
    assert sums == {block.id: run.manifest.time_ps for block in run.manifest.blocks}


@pytest.mark.parametrize("name", sorted(load_plugins().exporters))
def test_a_place_that_cannot_be_written_is_told_and_nothing_is_left(
    run: Run, tmp_path: Path, name: str, capsys: pytest.CaptureFixture[str]
) -> None:
    RunWriter(tmp_path / "run", run.manifest).finish(run.manifest, run.tables)
    (tmp_path / "file").write_text("mine")
    assert main(["export", str(tmp_path / "run"), "--format", name, "--out", str(tmp_path / "file" / "out")]) == 2
    assert "cannot write" in capsys.readouterr().err
    assert sorted(entry.name for entry in tmp_path.iterdir()) == ["file", "run"]


def test_the_report_sums_exactly(run: Run) -> None:
    knowledge, _ = load_knowledge([file.path for file in workbench_rules()], METRICS)
    document = json.loads(json.dumps(report_json(run.manifest, analyse(run, synthetic_platform(), knowledge))))
    assert set(document) >= {"time_s", "clock_hz", "clocks", "blocks", "calls", "findings"}
    for block in document["blocks"]:
        assert sum(state["cycles"] for state in block["states"]) + block["unclassified"] == block["cycles"]
        if block["side"] == "fpga":
            assert block["cycles"] == run.manifest.cycles
        total = sum(state["time_s"] for state in block["states"]) + block["unclassified_time_s"]
        assert round(total * PS_PER_S) == run.manifest.time_ps
        visits = {state["name"]: state["visits"] for state in block["states"]}
        into: dict[str, int] = {}
        for move in block["transitions"]:
            into[move["to"]] = into.get(move["to"], 0) + move["count"]
        assert all(0 <= visits[name] - into.get(name, 0) <= 1 for name in visits)
    for call in document["calls"]:
        assert call["bytes_per_s"]["min"] <= call["bytes_per_s"]["avg"] <= call["bytes_per_s"]["max"]
        assert call["runs"]["min"] <= call["runs"]["avg"] <= call["runs"]["max"]
    keys = {"rule", "scope", "where", "speedup_ideal", "speedup_cap", "speedup_predicted", "severity", "suggestions"}
    assert all(keys | {"metrics"} <= set(finding) for finding in document["findings"])
