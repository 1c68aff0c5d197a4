"""Blocks that several threads run: whichever is free takes the next element of a queue that all of them share."""

from pathlib import Path

import numpy as np
import pytest
from rc_workbench_plugins.streaming.agents.division import agents_of
from rc_workbench_plugins.streaming.agents.kept import kept_answers
from rc_workbench_plugins.streaming.composer import read_topology
from rc_workbench_plugins.streaming.limit_finding import limits
from rc_workbench_plugins.streaming.query.evaluate import evaluate
from rc_workbench_plugins.streaming.query.measures import MeasureResult
from rc_workbench_plugins.streaming.query.resolve import read_query

from workbench.api.job import Job
from workbench.api.stream_events import Events, events_of
from workbench.cli.main import main
from workbench.model.changes import ScaleHost
from workbench.model.diagnostic import WorkbenchError
from workbench.model.run import PS_PER_S, Run
from workbench.replay.prepare import prepare
from workbench.session.keep.results import open_result
from workbench.session.make.pipeline import RunOptions, run_workspace
from workbench.session.open.composing import composition
from workbench.session.open.opening import open_workspace
from workbench.session.program.plugins import load_plugins

MOST, THREADS = 60, 3
TOPOLOGY = """
block Count { output unsigned32 y; }
block Work { input unsigned32 x; output unsigned32 y; }
block Print { input unsigned32 x; }
impl Count cpp "pool.hpp";
impl Work cpp "pool.hpp";
impl Work verilog "work.v";
impl Print cpp "pool.hpp";
resource fpga card;
block App {
    Count count; Work work; Print print;
    a: count -> work (depth=2);
    b: work -> print;
}
"""
BLOCKS = """
#pragma once
#include <cstdio>
#include "streaming.hpp"
struct Count { // bursts of 20 elements
    streaming::Out<uint32_t> y;
    void run()
    {
        for (uint32_t i = 0; i < MOST; i++) {
            volatile uint32_t spent = 0;
            for (uint32_t k = 0; k < (i % 20 ? 0u : 60000u); k++) spent = spent + k;
            if (!y.push(i)) return;
        }
    }
};
struct Work { // of every third element as much as of ten others
    streaming::In<uint32_t> x;
    streaming::Out<uint32_t> y;
    void run()
    {
        for (uint32_t value; x.pop(value);) {
            volatile uint32_t spent = 0;
            for (uint32_t i = 0; i < (value % 3 ? 3000u : 30000u); i++) spent = spent + i;
            if (!y.push(value)) return;
        }
    }
};
struct Print {
    streaming::In<uint32_t> x;
    void run() { for (uint32_t value; x.pop(value);) std::printf("%u\\n", value); }
};
""".replace("MOST", str(MOST))
QUESTIONS = """
measure mean occupancy at a
measure hist occupancy at a
measure rate at b
measure util at work.x
measure mean latency at a
"""


def project(folder: Path, *lines: str) -> Path:
    (folder / "pool.x").write_text(TOPOLOGY)
    (folder / "pool.hpp").write_text(BLOCKS)
    (folder / "q.tt").write_text(QUESTIONS)
    path = folder / "pool.workbench.yaml"
    path.write_text(
        "schema_version: 1\nname: pool\nplatform: nallatech_h101\nsimulation: {cores: 8}\n"
        "streaming:\n  sources: [pool.x]\n  query: q.tt\n" + "".join(f"  {line}\n" for line in lines)
    )
    return path


def folder(run: Run) -> Path:
    assert run.path
    return run.path


def events(run: Run) -> Events:
    found = events_of(run.tables)
    assert found
    return found


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Run:
    path = project(tmp_path_factory.mktemp("pool"), f"threads: {{work: {THREADS}}}")
    options = RunOptions(out=path.parent / "run", trace=True, deterministic=True)
    return run_workspace(open_workspace(path, load_plugins()), options, Job())


def test_results_come_out_of_order_and_none_is_lost(run: Run) -> None:
    printed = [int(line) for line in (folder(run) / "stdout.txt").read_text().split()]
    assert printed != sorted(printed) == list(range(MOST))
    a, b = (events(run).edges[f"App.{name}"] for name in "ab")
    assert a.pop_by is not None
    assert b.push_by is not None
    assert np.bincount(a.pop_by).min() > MOST // 10, "each of the threads takes some"
    for thread in range(THREADS):
        assert a.values is not None
        assert b.values is not None
        assert a.values[a.pop_by == thread].tolist() == b.values[b.push_by == thread].tolist()
    assert (np.diff(a.pop_ps) >= 0).all()
    assert (np.diff(b.push_ps) >= 0).all()


def test_threads_of_a_block_share_its_work_and_the_replay_is_exact(
    run: Run, capsys: pytest.CaptureFixture[str]
) -> None:
    found = events(run)
    (work,) = (block for block in limits(found).blocks if block.name == "App.work")
    pool = found.pools["App.work"]
    assert pool.threads == THREADS
    assert work.busy == pytest.approx(pool.busy_ps / (THREADS * found.end_ps))
    assert work.busy > 0.75, "counting and printing are faster"
    replayed = prepare(run, open_result(folder(run), load_plugins()).platform)
    assert (replayed.exact, replayed.off, replayed.why) == (True, 0, "")
    assert main(["query", str(run.path), "--limits"]) == 0
    assert "work: it is busy" in capsys.readouterr().out


def test_a_short_queue_that_threads_share_is_deepened_as_predicted(run: Run, tmp_path: Path) -> None:
    """The work goes with its element: in the deeper queue, other threads than in the run take many of them."""
    findings = {one.rule: one for one in open_result(folder(run), load_plugins()).analysis.findings}
    (deepen,), (limit,) = findings["short queue"].advice, findings["stream limit"].advice
    assert deepen.text.startswith("Deepen a from 2 to 6 elements (depth=6)")
    assert findings["short queue"].block == "host.count"
    assert limit.changes == tuple(ScaleHost(f"host.work_{n}", "*", 0.5) for n in (1, 2, 3)), "all of its threads"
    path = project(tmp_path, f"threads: {{work: {THREADS}}}", "depths: {a: 6}")
    deeper = run_workspace(
        open_workspace(path, load_plugins()), RunOptions(out=tmp_path / "run", trace=True, deterministic=True), Job()
    )
    assert deepen.prediction
    assert deepen.prediction.speedup > 1.05
    assert deepen.prediction.time_s == pytest.approx(deeper.manifest.time_ps / PS_PER_S, rel=0.002)
    took = [events(one).edges["App.a"].pop_by for one in (run, deeper)]
    assert (np.asarray(took[0]) != np.asarray(took[1])).any()


def test_the_agent_counts_what_the_trace_has(run: Run) -> None:
    answers = kept_answers(run.tables, str(run.path))
    assert answers
    found = events(run)
    traced, _ = evaluate(read_query(QUESTIONS, found.topology), found)
    counted = {one.measure.text: one for one in answers.results if isinstance(one, MeasureResult)}
    assert len(traced) == len(counted) == 5
    for one in traced:
        (wanted,), (came,) = one.frames, counted[one.measure.text].frames
        for mine, other in ((came.value, wanted.value), (came.histogram, wanted.histogram)):
            assert (mine is None) == (other is None)
            assert mine is None or mine == pytest.approx(other, rel=1e-3)


def test_a_latency_follows_each_thread_and_no_agent_counts_it(run: Run) -> None:
    found = events(run)
    through = "measure mean latency at a -> b"
    (answer,), _ = evaluate(read_query(through, found.topology), found)
    a, b = (found.edges[f"App.{name}"] for name in "ab")
    assert a.values is not None
    assert b.values is not None
    pushed = dict(zip(a.values.tolist(), a.push_ps.tolist(), strict=True))
    stays = [popped - pushed[value] for value, popped in zip(b.values.tolist(), b.pop_ps.tolist(), strict=True)]
    assert answer.frames[0].value == pytest.approx(np.mean(stays))
    (problem,) = agents_of(read_query(through, found.topology), found.topology, 1e8).diagnostics
    assert "change the order of elements" in problem.message


@pytest.mark.parametrize(
    ("lines", "change", "message"),
    [
        (["threads: {wrok: 2}"], None, "there is no block 'wrok' to give threads to. Did you mean 'work'?"),
        (["threads: {work: 2}", "mapping: {work: card}"], None, "'work' is in an FPGA and cannot have several threads"),
        (
            [],
            ("Work work;", "Work work (threads=0);"),
            "'work' needs a number of threads. Write a whole number from 1 to 64.",
        ),
        ([], ("Work work;", "Work work (treads=2);"), "'Work' has no configuration 'treads'"),
    ],
)
def test_what_is_wrong_with_threads_is_reported_with_its_line(
    lines: list[str], change: tuple[str, str] | None, message: str, tmp_path: Path
) -> None:
    path = project(tmp_path, *lines)
    if change:
        (tmp_path / "pool.x").write_text(TOPOLOGY.replace(*change))
    with pytest.raises(WorkbenchError) as error:
        open_workspace(path, load_plugins())
    (problem,) = error.value.diagnostics
    assert message in problem.text()
    assert problem.line


def test_threads_stand_in_x_and_the_project_overrides_them(tmp_path: Path) -> None:
    for lines, threads in (([], 2), (["threads: {work: 5}"], 5)):
        path = project(tmp_path, *lines)
        (tmp_path / "pool.x").write_text(TOPOLOGY.replace("Work work;", "Work work (threads=2);"))
        workspace = open_workspace(path, load_plugins())
        topology = read_topology(composition(workspace.project, workspace.platform, workspace.path))
        assert [block.threads for block in topology.blocks] == [1, threads, 1]
