"""States of blocks in the query language: of a made-up run whose states are known, and of a run with counters."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from answers import document_of
from rc_workbench_plugins.streaming.agents.division import agents_of
from rc_workbench_plugins.streaming.agents.kept import OF_DESIGN, kept_answers, table_of_answers
from rc_workbench_plugins.streaming.agents.packets import Answers
from rc_workbench_plugins.streaming.query.evaluate import evaluate
from rc_workbench_plugins.streaming.query.measures import COUNTED, AssertResult, MeasureResult
from rc_workbench_plugins.streaming.query.resolve import read_query
from rc_workbench_plugins.streaming.query.window import explain, subject
from stream_topologies import STREAM

from workbench.api.state_events import RunStates
from workbench.api.stream_events import EdgeEvents, Events, of_topology
from workbench.api.tables import state_tables, trace_tables
from workbench.cli.main import main
from workbench.formats.run_folder import RunWriter
from workbench.model.blocks import Block, Side, State
from workbench.model.diagnostic import WorkbenchError
from workbench.model.pragma import Category
from workbench.model.run import Manifest, Run, RunStatus
from workbench.model.topology import Topology
from workbench.testing.runs import synthetic_run

US = 1_000_000


def block(id_: str, group: str = "") -> Block:
    states = (
        State(0, "unclassified"),
        State(1, "idle", Category.WAIT_RECV),
        State(2, "wait_mem", Category.WAIT_RECV),
        State(3, "run it", Category.WORK),
    )
    return Block(id_, Side.FPGA, id_.rpartition(".")[0], "always", group or id_, states)


@pytest.fixture
def run() -> Run:
    """20 us: fir idles 2 us, waits 1, runs 3, waits 3, runs 1, idles 10; two replicas next to it idle all the time."""
    blocks = (block("top.fir"), block("top.w[0].p", "top.w[*].p"), block("top.w[1].p", "top.w[*].p"))
    pieces = [(np.array([0, 2, 3, 6, 9, 10, 20]) * US, np.array([1, 2, 3, 2, 3, 1]))]
    pieces += [(np.array([0, 20]) * US, np.array([1]))] * 2
    manifest = Manifest("made", RunStatus.COMPLETE, "2026-01-01T12:00:00+00:00", time_ps=20 * US, blocks=blocks)
    return Run(None, manifest, {**trace_tables(pieces), **state_tables(blocks, [[piece] for piece in pieces])})


def asked(run: Run, text: str, events: Events | None = None) -> list[MeasureResult | AssertResult]:
    topology = events.topology if events else Topology("made", (), ())
    query = read_query(text, topology, blocks=run.manifest.blocks)
    assert query.diagnostics == ()
    results = evaluate(query, events or Events("made", {}, run.manifest.time_ps), states=RunStates(run))
    return [*results[0], *results[1]]


def values(run: Run, text: str, events: Events | None = None) -> list[float | None]:
    (result,) = asked(run, text, events)
    assert isinstance(result, MeasureResult)
    return [frame.value for frame in result.frames]


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("measure share of state wait_mem of fir", [0.2]),
        ("measure share of state wait_recv of top.fir", [0.8]),  # a category: idle and wait_mem
        ('measure share of state "run it" of fir', [0.2]),
        ("measure share(frame=5 us) of state wait_mem of fir", [0.2, 0.6, 0.0, 0.0]),
        ("measure mean dwell of state wait_mem of fir", [2 * US]),
        ("measure max dwell of state idle of fir", [10 * US]),  # as the run's end leaves it
        ("measure sum dwell(frame=10 us) of state wait_mem of fir", [4 * US, 0]),
        ("measure min dwell(frame=10 us) of state wait_mem of fir", [1 * US, None]),
        ("measure visits(frame=5 us) of state wait_mem of fir", [1, 1, 0, 0]),
        ("measure transitions of fir", [5]),
        ("measure transitions of state wait_mem -> work of fir", [2]),
        ("measure transitions of state work -> wait_mem of fir", [1]),
        ("measure share of state wait_mem of fir when !state idle of fir", [0.5]),
        # a frame's value counts from its end on: until 5 us it is not known
        ("measure share of state wait_mem of fir when share(frame=5 us) of state idle of fir < 50 %", [0.3]),
        # just before the first visit no dwell is known yet
        ("measure visits of state wait_mem of fir when dwell of state idle of fir > 1 us", [1]),
    ],
)  # fmt: skip
def test_states_are_measured(run: Run, text: str, wanted: list[float | None]) -> None:
    assert values(run, text) == [one if one is None else pytest.approx(one) for one in wanted]


def test_states_and_edges_are_asked_together(run: Run) -> None:
    """An element a microsecond comes and stays for a quarter; fir waits for memory in 4 of 20 us."""
    came = np.arange(1, 11) * US
    edges = {edge.label: EdgeEvents(edge, came, came + US // 4) for edge in STREAM.edges}
    events = of_topology(STREAM, edges, 12 * US)
    assert values(run, "measure rate at a when state wait_mem of fir", events) == [pytest.approx(1e6)]
    assert values(run, "measure share of state wait_mem of fir when occupancy at a > 0", events) == [pytest.approx(0.4)]
    held, broken = asked(
        run, "assert occupancy at a == 0 | !state idle of fir | rate(frame=1 us) at a > 0 tps\n"
        "assert occupancy at a == 0 | !state wait_mem of fir", events,
    )  # fmt: skip
    assert isinstance(held, AssertResult)
    assert isinstance(broken, AssertResult)
    assert (held.holds, held.known) == (True, True)
    assert broken.broken_ps[0] == (2 * US, 2 * US + US // 4)


def test_a_trace_agrees_with_the_runs_counters() -> None:
    """Every state of every block of a run with all tables; and without a trace, the counters answer."""
    run = synthetic_run(cores=2, rounds=3)
    blocks, rows = run.manifest.blocks, run.tables["state_time"]
    statements = []
    for number, of in zip(rows["block"].tolist(), rows["state"].tolist(), strict=True):
        where = f"of state {blocks[number].states[of].name} of {blocks[number].id}"
        statements += [f"measure {what} {where}" for what in ("share", "visits", "sum dwell")]
    traced = asked(run, "\n".join(statements))
    counted = [part for row in zip(rows["time_ps"] / run.manifest.time_ps, rows["visits"], rows["time_ps"], strict=True)
               for part in row]  # fmt: skip
    assert [one.frames[0].value for one in traced if isinstance(one, MeasureResult)] == pytest.approx(counted)
    assert {one.trust for one in traced} == {COUNTED}
    moves = run.tables["transitions"]
    assert values(run, f"measure transitions of {blocks[1].id}") == [moves["count"][moves["block"] == 1].sum()]
    untraced = replace(run, tables={name: t for name, t in run.tables.items() if not name.startswith("interval")})
    without = asked(untraced, "\n".join(statements))
    assert [one.frames[0].value for one in without if isinstance(one, MeasureResult)] == pytest.approx(counted)
    assert "no trace" in without[0].trust
    for text in ("hist dwell of state work of main", "share of state work of main when state work of main"):
        with pytest.raises(WorkbenchError, match="has no trace"):
            asked(untraced, f"measure {text}")


def test_of_a_block_that_its_trace_leaves_out_the_counters_are_said(run: Run) -> None:
    """A board's trace ends when it is full, and that of several FPGAs has none of their blocks."""
    times = {**run.tables["state_time"]}
    times["time_ps"] = times["time_ps"].copy()
    times["time_ps"][times["state"] == 2] = 15 * US
    (result,) = asked(
        replace(run, tables={**run.tables, "state_time": times}), "measure share of state wait_mem of fir"
    )
    assert "an incomplete trace: it shows 20.0" in result.trust
    assert "the counters 75.0" in result.trust


@pytest.mark.parametrize(
    ("text", "column", "message", "hint"),
    [
        ("measure share of state wait_mem of fri", 36, "there is no block 'fri'", "'fir'"),
        ("measure share of state wait_men of fir", 24, "top.fir has no state 'wait_men'", "'wait_mem'"),
        ("measure transitions of state idle -> wait_men of fir", 38, "no state 'wait_men'", "'wait_mem'"),
        ("measure share of fir", 18, "share takes one state", "share of state NAME of BLOCK"),
        ("measure share of stat idle of fir", 18, "'stat' is not expected here", "'state'"),
        ("measure shar of state idle of fir", 9, "'shar' cannot be measured", "'share'"),
        ("measure transitions of state idle of fir", 30, "need two states", "A -> B"),
        ("measure hist visits of state idle of fir", 14, "one number per frame", "hist"),
        ("measure share(frame=100) of state idle of fir", 15, "a frame of a state must be a time", "10 us"),
        ("assert state idle of fir > 4", 14, "and cannot be compared", "share of a state"),
        ("assert state idle of w[*].p", 14, "this fits several blocks: top.w[0].p, top.w[1].p", "Name one"),
        ("assert share of state idle of w[*].p > 1 us", 8, "this fits several blocks", "name it"),
        ("assert mean dwell of state idle of fir > 5 %", 42, "5 % is a share, but a time is expected", ""),
        ("measure rate at e1", 17, "no streams were recorded", "States can be asked"),
    ],
)
def test_what_is_wrong_is_said_in_its_place(run: Run, text: str, column: int, message: str, hint: str) -> None:
    query = read_query(text, Topology("made", (), ()), "my.query", blocks=run.manifest.blocks)
    (problem,) = query.diagnostics
    assert (problem.line, problem.column) == (1, column)
    assert message in problem.message
    assert hint in problem.hint


def test_no_agent_counts_states(run: Run) -> None:
    """Before a run nobody knows which states there are; after it, a trace answers."""
    query = read_query("measure rate at a when state wait_mem of fir", STREAM)
    agents = agents_of(query, STREAM, 100e6, "my.query")
    (problem,) = agents.diagnostics
    assert (bool(agents), problem.line) == (False, 1)
    assert "agents see queues" in problem.message
    assert "in an FPGA, use hardware.query" in problem.hint


def test_an_applications_answers_are_beside_those_of_the_agents_that_count_states() -> None:
    query = read_query("measure rate at a\nmeasure max occupancy at a", STREAM)
    of_edges, of_states = (Answers((MeasureResult(one, ()),), ()) for one in query.measures)
    tables = table_of_answers({"processor": of_edges}) | table_of_answers({"FPGA": of_states}, name=OF_DESIGN)
    kept = kept_answers(tables, "")
    assert kept is not None
    assert [(one.agent, one.measure.metric) for one in kept.measures] == [("processor", "rate"), ("FPGA", "occupancy")]


def test_in_command_and_window(run: Run, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    RunWriter(tmp_path / "run").finish(run.manifest, run.tables)
    (tmp_path / "my.query").write_text(
        "measure share of state idle of w[*].p\na: assert share of state idle of fir < 5 %"
    )
    command = ["query", str(tmp_path / "run"), str(tmp_path / "my.query")]
    said = document_of(capsys, [*command, "--json"], exit_code=1)
    assert [(one["label"], one["frames"][0]["value"], one["unit"]) for one in said["measures"]] == [
        ("[top.w[0].p]", 1.0, "1"), ("[top.w[1].p]", 1.0, "1"),
    ]  # fmt: skip
    assert main(command) == 1
    assert "where share of state idle of fir was 60" in capsys.readouterr().out
    (spent,) = explain(run)
    assert spent.answer.startswith("top.fir: idle 60")
    shown = subject(run)
    assert shown is not None
    assert [one.name for one in shown.blocks] == ["top.fir", "top.w[*].p"]
    assert [title for title, _ in shown.blocks[0].statements] == ["idle", "wait_mem", "run it", "Transitions"]
    for one in shown.blocks:
        for _, statements in one.statements:
            assert shown.check(statements) == ()
    assert shown.check("\n".join(spent.statements)) == ()
    assert {"wait_mem", "fir", "w[*].p"} <= set(shown.names)
