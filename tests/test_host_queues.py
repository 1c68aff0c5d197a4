"""Queues of an ordinary C++ program in the query language: of a made-up run by hand, and of a program with three kinds
of queues and a design with a FIFO."""

import re
import shutil
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from answers import document_of
from rc_workbench_plugins.streaming.query.measures import AssertResult, MeasureResult
from rc_workbench_plugins.streaming.query.seen import seen
from rc_workbench_plugins.streaming.query.window import explain, subject
from run_query import asked, values

from workbench.api.job import Job
from workbench.api.tables import table_of
from workbench.formats.project_file import load_project
from workbench.formats.run_folder import RunWriter
from workbench.model.blocks import Block, Side, State
from workbench.model.diagnostic import WorkbenchError
from workbench.model.run import Entry, Manifest, Run, RunStatus, Site
from workbench.model.run_tables import TABLES
from workbench.session.make.pipeline import RunOptions, run_workspace
from workbench.session.open.opening import open_workspace
from workbench.session.program.plugins import load_plugins

NS = 1000
PUT, TAKE = 0, 1  # entries
JOBS, DONE = 1, 2  # queues


def made_run(calls: list[tuple[int, int, int, int, int, int]], time_ns: int = 100) -> Run:
    """Of calls (thread, entry, queue, elements, begin and end in ns)."""
    blocks = tuple(
        Block(id_, Side.HOST, "host", "thread", id_, (State(0, "unclassified"),))
        for id_ in ("host.main", "host.work_1", "host.work_2", "host.write")
    )
    entries = Entry("Ring::put", "", "push", ""), Entry("Ring::take", "", "pop", "")
    sites = (
        Site("main.cpp", 10, 1, "Ring::put", "", 0, "jobs"), Site("main.cpp", 20, 1, "Ring::take", "", 0, "(from)"),
        Site("main.cpp", 30, 1, "Ring::put", "", 0, "(to)"), Site("main.cpp", 40, 1, "Ring::take", "", 0, "done"),
    )  # fmt: skip
    rows = []
    for thread, entry, queue, elements, begin, end in sorted(calls, key=lambda call: call[4]):
        site = {(PUT, JOBS): 0, (TAKE, JOBS): 1, (PUT, DONE): 2, (TAKE, DONE): 3}[entry, queue]
        known = {"block": thread, "site": site, "entry": entry, "t0_ps": begin * NS, "t1_ps": end * NS,
                 "address": queue << 32 | elements, "bytes": -1, "state": 0, "parts": 0}  # fmt: skip
        rows.append(tuple(known.get(name, 0 if name.startswith("value") else -1) for name in TABLES["calls"]))
    manifest = Manifest(
        "made", RunStatus.COMPLETE, "2026-01-01T12:00:00+00:00", time_ps=time_ns * NS, blocks=blocks, entries=entries,
        sites=sites,
    )  # fmt: skip
    return Run(None, manifest, {"calls": table_of("calls", rows)})


#: Three jobs into a ring of two: the third waits for room from 4 to 20. Worker 1 takes the first at 20 and the third,
#: worker 2 the second; each gives its own when it is done, so that they come out in another order.
CALLS = [
    (0, PUT, JOBS, 1, 1, 2), (0, PUT, JOBS, 1, 3, 4), (0, PUT, JOBS, 1, 4, 21),
    (1, TAKE, JOBS, 1, 19, 20), (2, TAKE, JOBS, 1, 24, 25), (1, TAKE, JOBS, 1, 42, 43), (1, TAKE, JOBS, 0, 60, 62),
    (1, PUT, DONE, 1, 40, 41), (1, PUT, DONE, 1, 55, 56), (2, PUT, DONE, 1, 70, 71),
    (3, TAKE, DONE, 1, 0, 41), (3, TAKE, DONE, 0, 44, 45), (3, TAKE, DONE, 1, 50, 56), (3, TAKE, DONE, 1, 80, 81),
]  # fmt: skip


@pytest.fixture
def run() -> Run:
    return made_run(CALLS)


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("rate at jobs", 3 / 100e-9),
        ("max occupancy at jobs", 2),
        ("mean occupancy at jobs", (2 * 1 + 16 * 2 + 1 * 1 + 4 * 2 + 18 * 1) / 100),
        ("backpressure at jobs", 0.17),  # from 4 to the end of that push
        ("max latency at jobs", 22 * NS),  # of the third, from its push's end
        ("mean latency at done", 10 / 3 * NS),  # a pop that waited ends with the push, in no time
        ("max latency at jobs -> done", (81 - 4) * NS),  # the second, by worker 2, was last
        ("min latency at jobs -> done", (56 - 21) * NS),
        ("max occupancy at jobs -> done", 3),
        ("rate at done when occupancy at jobs > 0", 1 / 41e-9),
        ("rate(frame=50 ns) at done.in", 1 / 50e-9),
    ],
)
def test_a_queue_is_measured_as_by_hand(run: Run, text: str, wanted: float) -> None:
    text = text.replace("done.in", "write.done")
    assert values(run, f"measure {text}")[0] == pytest.approx(wanted)


def test_waiting_is_from_a_pop_that_found_nothing(run: Run) -> None:
    (edge,) = (one for label, one in seen(run).events.edges.items() if label == "done")
    assert edge.waiting_ps.tolist() == [[0, 41_000], [44_000, 50_000], [50_000, 56_000], [80_000, 81_000]][:3]
    holds, broken = asked(run, "assert occupancy at jobs <= 2\nassert !backpressure at jobs")
    assert isinstance(holds, AssertResult)
    assert isinstance(broken, AssertResult)
    assert (holds.holds, broken.holds) == (True, False)


def test_what_was_there_before_the_first_push_is_in_the_queue() -> None:
    """Two elements more came out than went in before: the constructor had put them in."""
    run = made_run([(0, PUT, JOBS, 4, 30, 31), (1, TAKE, JOBS, 2, 10, 12), (1, TAKE, JOBS, 3, 40, 41)])
    assert values(run, "measure max occupancy at jobs") == [4]
    assert values(run, "measure rate at work_1.jobs") == [pytest.approx(5 / 100e-9)]


def test_queues_of_one_name_are_numbered(run: Run) -> None:
    sites = tuple(replace(site, queue="(q)") for site in run.manifest.sites)
    alike = replace(run, manifest=replace(run.manifest, sites=sites))
    assert [edge.label for edge in seen(alike).topology.edges] == ["q[0]", "q[1]"]


def test_in_window_and_command(run: Run, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    shown = subject(run)
    assert shown is not None
    assert [(one.name, one.stands) for one in shown.blocks] == [
        ("main", "host"), ("work[*]", "host"), ("write", "host"),
    ]  # fmt: skip
    assert [(one.label, one.source, one.sink) for one in shown.edges] == [
        ("jobs", "main", "work[*]"), ("done", "work[*]", "write"),
    ]  # fmt: skip
    statements = [text for one in (*shown.blocks, *shown.edges) for _, text in one.statements]
    statements += [text for one in explain(run) for text in one.statements]
    assert len(statements) > 10
    assert shown.check("\n".join(statements)) == ()
    assert "jobs 0.610; done 0.100." in [one.answer for one in explain(run)]
    RunWriter(tmp_path / "run").finish(run.manifest, run.tables)
    (tmp_path / "my.query").write_text("measure max latency at jobs -> done")
    said = document_of(capsys, ["query", str(tmp_path / "run"), str(tmp_path / "my.query"), "--json"])
    assert said["measures"][0]["frames"][0]["value"] == pytest.approx(77e-9)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        ("{prototype: 'int put(int)', kind: push}", "this is not a C++ prototype with its scope"),
        ("{prototype: 'void ::put()', kind: push}", "the queue of this call is unknown"),
        ("{prototype: 'void Ring::put(int x)', kind: push, elements: '1); exit(0'}", "this is not an expression"),
    ],
)
def test_a_call_that_cannot_be_is_said_at_its_line(queued: Path, tmp_path: Path, call: str, message: str) -> None:
    text = re.sub(r"(?m)^    - .*\n", "", queued.read_text()).replace("  queues:\n", f"  queues:\n    - {call}\n")
    folder = shutil.copytree(queued.parent, tmp_path / "wrong")
    (folder / queued.name).write_text(text)
    project, (problem,) = load_project(folder / queued.name)
    assert (project, problem.line) == (None, 9)
    assert message in problem.message


@pytest.fixture(scope="module")
def queued() -> Path:
    return Path(__file__).parent / "data" / "queued" / "queued.workbench.yaml"


@pytest.fixture(scope="module")
def recorded(queued: Path, tmp_path_factory: pytest.TempPathFactory) -> Run:
    """A traced run of the program: a ring, a std::queue behind a lock, a ring without locks, and a FIFO in the FPGA."""
    workspace = open_workspace(queued, load_plugins())
    options = RunOptions(out=tmp_path_factory.mktemp("queued") / "run", deterministic=True, trace=True)
    return run_workspace(workspace, options, Job())


def test_a_programs_queues_stand_beside_the_designs_streams(recorded: Run) -> None:
    assert recorded.path is not None
    assert (recorded.path / "stdout.txt").read_text().endswith("300\n")
    topology = seen(recorded).topology
    ends = {edge.label: (edge.source.block, edge.sink.block, edge.depth) for edge in topology.edges}
    assert ends["jobs"] == ("main", "thread[*]", 3), "a ring of three"
    assert ends["ready"][:2] == ("thread[*]", "thread_3")
    assert ends["sums"] == ("thread_3", "main", 2), "a ring of two"
    assert ends["fpgaWrite"][:2] == ("thread_3", "queued_top.taker")
    for name in ("jobs", "ready", "sums", "fpgaWrite"):
        assert len(seen(recorded).events.edges[name].pop_ps) == 24, name
    assert len(seen(recorded).events.edges["queued_top.taker.m"].push_ps) == 96
    ring = values(recorded, "measure backpressure at jobs")[0]
    assert ring is not None
    assert ring > 0.1, "main waits for two workers"
    path = "jobs -> ready -> fpgaWrite -> adder.in"
    latency = asked(recorded, f"measure min latency at {path}")[0]
    assert isinstance(latency, MeasureResult)
    assert latency.frames[0].count == 96, "each of a job's four words"
    assert latency.frames[0].value is not None
    assert latency.frames[0].value > 40e6, "a worker sleeps for 40 us"
    assert values(recorded, "measure max occupancy at jobs -> ready")[0] == pytest.approx(24, abs=3)
    assert values(recorded, f"measure max occupancy at {path}")[0]
    (held,) = asked(recorded, "assert occupancy at jobs <= 3 & occupancy at sums <= 2")
    assert isinstance(held, AssertResult)
    assert held.holds


def test_the_same_run_twice_numbers_queues_alike(recorded: Run, queued: Path, tmp_path: Path) -> None:
    again = run_workspace(
        open_workspace(queued, load_plugins()),
        RunOptions(out=tmp_path / "again", deterministic=True, trace=True),
        Job(),
    )
    for column in ("address", "t0_ps", "t1_ps"):
        assert np.array_equal(recorded.tables["calls"][column], again.tables["calls"][column])


def test_an_untraced_run_still_has_its_queues(recorded: Run) -> None:
    """The card's clock records each call; what happens in the FPGA is counted alone."""
    tables = {name: table for name, table in recorded.tables.items() if name != "stream_transfers"}
    untraced = replace(recorded, tables=tables)
    assert values(untraced, "measure max occupancy at jobs") == [3]
    with pytest.raises(WorkbenchError, match="has no trace"):
        asked(untraced, "measure max latency at jobs -> ready -> fpgaWrite -> adder.in")
