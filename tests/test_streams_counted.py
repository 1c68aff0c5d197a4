"""Streams that the simulated card counts in every run, held against what must be so of a fork, its FIFOs and join."""

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from answers import document_of
from rc_workbench_plugins.streaming.query.resolve import read_query
from rc_workbench_plugins.streaming.query.seen import seen

from workbench.analysis.streams import rate_words
from workbench.api import HdlBuild, HdlSimulation
from workbench.api.job import Job
from workbench.api.results import Analysis
from workbench.api.stream_records import STREAM_TRANSFERS, stream_transfers
from workbench.cli.main import main
from workbench.hdl.verilate import idle_state
from workbench.model.blocks import below_top
from workbench.model.diagnostic import Severity
from workbench.model.run import Run
from workbench.session.keep.results import open_result
from workbench.session.make.pipeline import RunOptions, run_workspace
from workbench.session.open.opening import open_workspace
from workbench.session.program.plugins import load_plugins

PROJECT = Path(__file__).parent / "data" / "applications" / "fork_join"
WORDS = 128


def run_of(folder: Path, **settings: int) -> Run:
    workspace = open_workspace(PROJECT, load_plugins())
    assert not workspace.diagnostics
    return run_workspace(workspace, RunOptions(out=folder, deterministic=True, settings=settings), Job())


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Run:
    run = run_of(tmp_path_factory.mktemp("run") / "run", PAUSE=400_000)
    assert (run.complete, run.manifest.exit) == (True, 0), run.manifest.reason
    return run


@pytest.fixture(scope="module")
def analysis(run: Run) -> Analysis:
    assert run.path is not None
    return open_result(run.path, load_plugins()).analysis


def test_every_word_is_counted_on_every_edge_and_every_cycle_once(run: Run, analysis: Analysis) -> None:
    assert run.manifest.cycles > 1 << 16  # more than a counter of the card holds by itself
    assert {s.stream.id: s.transfers for s in analysis.streams} == dict.fromkeys(
        [f"fork_join.{name}" for name in (
            "split.in", "merge.out", "split.a", "split.b", "short.out", "ahead.out", "gather.m_axis")], WORDS
    )  # fmt: skip
    assert {s.cycles for s in analysis.streams} == {run.manifest.cycles}


def test_a_fifo_holds_what_went_in_and_did_not_come_out(run: Run, analysis: Analysis) -> None:
    short, ahead = analysis.fifos
    assert (short.fifo.id, short.most, short.fifo.depth) == ("fork_join.short", 16, 16)
    assert short.cycles == ahead.cycles == run.manifest.cycles
    held = dict(short.occupancy)
    assert held[16] == short.input.sink_stalls + short.input.idle == pytest.approx(short.full_share * short.cycles)
    assert held[0] == short.output.source_stalls + short.output.idle
    # Little's law, exact where the FIFO is empty at both ends: each word that waits is counted once for each cycle.
    assert short.mean * short.cycles == sum(words * cycles for words, cycles in short.occupancy)


def test_a_traced_run_has_every_transfer_with_how_long_it_was_offered_before(tmp_path: Path) -> None:
    workspace = open_workspace(PROJECT, load_plugins())
    traced = RunOptions(out=tmp_path / "run", deterministic=True, trace=True, settings={"SHORT": 12, "PAUSE": 400_000})
    made = run_workspace(workspace, traced, Job())
    table, counts = made.tables["stream_transfers"], made.tables["streams"]
    early, streams = {}, {s.id.removeprefix("fork_join."): number for number, s in enumerate(made.manifest.streams)}
    for name, number in streams.items():
        mine = table["stream"] == number
        cycles, early[name] = table["cycle"][mine], table["early"][mine]
        assert len(cycles) == counts["transfers"][number] == WORDS
        since = np.diff(cycles, prepend=-1)
        assert since.min() > 0
        assert (np.abs(early[name]) < since).all()
        # stalls are in order: what was offered and not taken, and what would have been taken and was not offered
        assert early[name].clip(min=0).sum() == counts["sink_stalls"][number]
        assert -early[name].clip(max=0).sum() <= counts["source_stalls"][number]
    held = occupancy_of(made, streams["split.a"], streams["short.out"])
    assert max(held) == 12
    assert early["gather.m_axis"].tolist() == [-8 if n % 8 == 0 else 0 for n in range(WORDS)]
    # the query language: each stream and FIFO by the trace, and by what the card counted of the whole run
    untraced = replace(made, tables={name: t for name, t in made.tables.items() if name != "stream_transfers"})
    text = "\n".join(
        [f"measure {what} at {name}" for name in streams for what in ("rate", "util", "backpressure")]
        + [f"measure {what} occupancy at {fifo}" for fifo in ("short", "ahead") for what in ("mean", "max", "hist")]
    )
    query = read_query(text, seen(made).topology)
    assert query.diagnostics == ()
    (traced, _), (counted, _) = (seen(one).answer(query) for one in (made, untraced))
    cycle_ps = 10_000  # the run ends within one, which the card counts whole or not at all
    for one, other in zip(traced, counted, strict=True):
        (by_trace,), (by_card,) = one.frames, other.frames
        assert by_trace.value == (None if by_card.value is None else pytest.approx(by_card.value, rel=1e-4))
        if by_trace.histogram and by_card.histogram:
            assert by_trace.histogram == pytest.approx(by_card.histogram, abs=cycle_ps)


def occupancy_of(run: Run, pushed: int, popped: int) -> list[int]:
    table = run.tables["stream_transfers"]
    pushes, pops = (table["cycle"][table["stream"] == number] for number in (pushed, popped))
    return [n + 1 - int(np.searchsorted(pops, cycle)) for n, cycle in enumerate(pushes)]


def test_transfers_far_apart_keep_their_cycles(tmp_path: Path) -> None:
    """What does not fit into 8 bytes is in the record before: `since` of 33 bits, `early` of 17."""
    records = np.zeros(7, STREAM_TRANSFERS)
    records["since"] = [5, 2, 1 << 17, 7, 1 << 20, 2, 3]
    records["early"] = [0, -32767, -32768, 0, -3, -32766, 1]
    records["stream"] = [1, 0, 0, 0, 1, 1, 1]
    records.tofile(tmp_path / "stream_transfers.bin")
    (table,) = stream_transfers(tmp_path)
    assert table["stream"].tolist() == [1, 0, 1, 1, 1, 1]
    assert table["cycle"].tolist() == [4, (2 << 32) + 6, *(n + (1 << 20) for n in (4, 5, 6, 9))]
    assert table["early"].tolist() == [0, 1 << 17, -3, 0, 0, 1]


def test_a_stall_is_blamed_on_the_branch_that_is_full(analysis: Analysis) -> None:
    streams = {s.stream.id.removeprefix("fork_join."): s for s in analysis.streams}
    short = analysis.fifos[0]
    full = dict(short.occupancy)[16]
    free = streams["split.b"]
    assert free.sink_stalls == 0, "seen from the branch alone, nothing but its source holds it up"
    blamed = {(one.other, one.held_by): one.cycles for one in free.held}
    assert blamed["fork_join.split.a", "ready"] == full > 0, "and that is held up by the other branch"


def test_full_fifos_are_findings_that_say_whom_to_mend_and_where_to_ask_for_the_depth(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The short branch is full while the join waits for the other one, which is the slow one."""
    run = run_of(tmp_path / "run", SHORT=12)
    assert run.path is not None
    analysis = open_result(run.path, load_plugins()).analysis
    (full,) = (one for one in analysis.findings if (one.rule, one.scope) == ("full buffer", "fifo"))
    short = analysis.fifos[0]
    assert (full.title, full.where) == ("The FIFO short is full and holds split up", "fork_join.short")
    assert [(place.file, place.line) for place in full.places] == [("fork_join.v", 2)]
    assert full.time_s == pytest.approx(short.input.sink_stalls / 100e6)
    assert full.speedup_ideal == pytest.approx(run.time_s / (run.time_s - full.time_s))
    (deepen,) = full.advice
    assert deepen.text.startswith("Deepen it: merge waits ")
    assert f"`workbench streams {PROJECT / 'fork_join.workbench.yaml'}`" in deepen.text
    assert main(["streams", str(run.path)]) == 0
    assert f"{full.title}. {deepen.text}" in capsys.readouterr().out


def test_streams_are_edges_of_the_block_graph_with_their_rate_and_stalls(analysis: Analysis) -> None:
    edges = {edge.message: edge for edge in analysis.graph.edges if edge.reason == "stream"}
    assert edges.keys() == {one.stream.id.partition(".")[2] for one in analysis.streams}
    blocks = {block.id: block.component for block in analysis.graph.blocks}
    into = edges["split.a"]
    assert into.source == "fork_join.split", "an instance without a clocked block stands for itself"
    assert (blocks[into.target], into.count, into.bytes) == ("fork_join.short", WORDS, 4 * WORDS)
    stream = next(one for one in analysis.streams if one.stream.id == "fork_join.split.a")
    assert (into.rate, into.stalled) == (rate_words(stream), stream.sink_stalls / stream.cycles)
    assert (edges["split.in"].source, edges["merge.out"].target) == ("host.main", "host.main")


def test_report_tells_streams_and_fifos_in_json(run: Run, capsys: pytest.CaptureFixture[str]) -> None:
    document = document_of(capsys, ["report", str(run.path), "--json"])
    edge = next(s for s in document["streams"] if s["edge"] == "fork_join.split.a")
    assert (edge["source"], edge["target"], edge["transfers"]) == ("fork_join.split", "fork_join.short", WORDS)
    assert edge["bytes_per_s"] == pytest.approx(4 * WORDS / (edge["cycles"] / 100e6))
    (fifo, _) = document["fifos"]
    assert sum(row["cycles"] for row in fifo["occupancy"]) == edge["cycles"]
    assert 0 < fifo["full_pct"] < 100


def test_a_run_in_which_nothing_was_counted_says_why(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = str(tmp_path / "run")
    assert main(["run", str(PROJECT), "--plain", "--deterministic", "--out", folder]) == 0
    assert main(["streams", folder]) == 1
    said = "this run counted no streams: it is a plain run, without counts. Run it without --plain."
    assert said in capsys.readouterr().err
    (problem,) = document_of(capsys, ["streams", folder, "--json"], 1)["diagnostics"]
    assert (problem["file"], problem["severity"]) == (folder, "error")


def test_scan_lists_them_before_any_run(capsys: pytest.CaptureFixture[str]) -> None:
    main(["scan", str(PROJECT), "--json"])
    document = json.loads(capsys.readouterr().out)
    assert {edge["id"] for edge in document["edges"]} >= {"fork_join.split.in", "fork_join.merge.out"}
    assert [(fifo["id"], fifo["depth"], fifo["input"]) for fifo in document["fifos"]] == [
        ("fork_join.short", 16, "fork_join.split.a"),
        ("fork_join.ahead", 16, "fork_join.split.b"),
    ]


def test_a_deadlock_is_named_by_those_who_wait_for_each_other_and_the_fifo_to_deepen(tmp_path: Path) -> None:
    """The gathering branch wants 8 words before it gives one; the other has room for 4. A counter of cycles goes on."""
    run = run_of(tmp_path / "run", SHORT=4)
    (said,) = (d for d in run.manifest.diagnostics if d.severity is Severity.ERROR)
    assert not run.complete
    assert "it is a deadlock: fork_join.split waits for fork_join.short, which is full, " in said.message
    assert "fork_join.merge waits for fork_join.gather to give" in said.message
    assert said.hint == "Deepen the FIFO fork_join.short (now 4 words)."
    assert (said.file, said.line) == ("fork_join.v", 2)
    counted = run.tables["streams"]  # until then
    assert dict(zip(counted["stream"].tolist(), counted["transfers"].tolist(), strict=True))[1] == 0
    assert run.manifest.cycles < 1000, "as soon as it is sure"
    assert run.path is not None
    findings = open_result(run.path, load_plugins()).analysis.findings
    assert not [one for one in findings if one.scope == "fifo"], "the run itself says what to deepen"


def test_a_design_that_counts_cycles_before_it_goes_on_is_no_deadlock(tmp_path: Path) -> None:
    run = run_of(tmp_path / "run", DELAY=600)
    assert run.complete, run.manifest.reason


def test_what_tells_time_is_no_state_of_the_design_and_neither_is_what_is_kept_of_it(tmp_path: Path) -> None:
    """Of a larger design Verilator keeps what a register becomes beside what it is."""
    (tmp_path / "Vcard__Syms.h").write_text("Vcard___024root                TOP;\n")
    (tmp_path / "Vcard___024root.h").write_text("""
        VL_OUT64(recap_valid,42,0);
        QData/*47:0*/ top__DOT__recap_monitor__DOT__cycles;
        QData/*47:0*/ __Vdly__top__DOT__recap_monitor__DOT__cycles;
        IData/*31:0*/ top__DOT__recap_user__DOT__age;
        IData/*31:0*/ __VdlyVal__top__DOT__recap_user__DOT__age__v0;
        IData/*31:0*/ __Vdly__top__DOT__recap_user__DOT__left;
        IData/*31:0*/ top__DOT__recap_user__DOT__left;
    """)
    idle = idle_state(tmp_path, HdlBuild(sources=(), top="top", blocks=(), simulation=HdlSimulation(idle=("age",))))
    assert {name.removeprefix("TOP.").removeprefix("__Vdly__").removeprefix("__VdlyVal__") for name in idle} == {
        "top__DOT__recap_monitor__DOT__cycles",
        "top__DOT__recap_user__DOT__age",
        "top__DOT__recap_user__DOT__age__v0",
    }
    assert len(idle) == 4


def test_a_host_that_gives_all_before_it_takes_anything_is_told(tmp_path: Path) -> None:
    run = run_of(tmp_path / "run", WORDS=2000)
    (said,) = (d for d in run.manifest.diagnostics if d.severity is Severity.ERROR)
    assert "host and design wait for each other" in said.message
    assert "fork_join.merge waits for the host to take" in said.message
    assert said.hint.startswith("The host must send and receive in turns")


@pytest.mark.parametrize(
    ("instance", "short"),
    [
        ("top.u.fifo", "u.fifo"),
        ("top", "top"),
        ("card[1].top.fifo", "card[1].fifo"),
        ("card[1].top", "card[1].top"),
        ("", ""),
    ],
)
def test_of_several_cards_a_name_without_the_tops_says_whose_it_is(instance: str, short: str) -> None:
    assert below_top(instance) == short
