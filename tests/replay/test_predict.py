"""Replay of real runs is exact, and what it predicts comes true when the program is really changed."""

import time
import tracemalloc
from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest
from benchmarks import bounds

from workbench.model.changes import read_change
from workbench.model.diagnostic import WorkbenchError
from workbench.model.prediction import Trust
from workbench.pictures.path_diagram import path_diagram
from workbench.replay.predict import Replayed
from workbench.replay.prepare import prepare
from workbench.traces.trace import trace_of

POLLS = bounds.Program("block", settings={"CYCLES": 200}, trace=True)


@pytest.fixture(scope="module")
def bench(tmp_path_factory: pytest.TempPathFactory) -> bounds.Bench:
    return bounds.Bench(tmp_path_factory.mktemp("bench"))


@pytest.fixture(scope="module")
def polls(bench: bounds.Bench) -> Replayed:
    opened = bench.run(POLLS)
    return prepare(opened.run, opened.platform)


def predicted(replayed: Replayed, *changes: str):
    return replayed.predict([read_change(change) for change in changes])


def test_the_unchanged_run_is_replayed_to_the_picosecond(polls: Replayed):
    assert polls.exact, polls.why
    assert polls.modelled_ps == polls.run.manifest.time_ps
    assert not polls.unknown


def test_an_exact_base_is_no_accident(polls: Replayed):
    """A transfer that gets the bus a picosecond late, and a block that begins a cycle late, are told."""
    calls = dict(polls.run.tables["calls"])
    calls["grant_ps"] = calls["grant_ps"].copy()
    calls["grant_ps"][2] += 1
    late = prepare(replace(polls.run, tables={**polls.run.tables, "calls": calls}), polls.platform)
    assert "1 of" in late.why
    assert not late.exact
    intervals = dict(polls.run.tables["intervals"])
    intervals["start_ps"] = intervals["start_ps"].copy()
    worker = polls.run.tables["interval_offsets"]["offset"][2]
    intervals["start_ps"][worker + 3] += 10_000
    late = prepare(replace(polls.run, tables={**polls.run.tables, "intervals": intervals}), polls.platform)
    assert "leaves 'idle' 1 times without a known cause" in late.unknown[0]


@pytest.mark.parametrize(
    ("change", "twin"),
    [
        ("state block=unit_top.worker state=multiply factor=0.5", POLLS.but(CYCLES=100)),
        ("interrupt calls=poll", POLLS.but("irq")),
    ],
)
def test_a_prediction_comes_true(polls: Replayed, bench, change: str, twin):
    prediction = predicted(polls, change)
    came = polls.run.manifest.time_ps / bench.run(twin).run.manifest.time_ps
    assert prediction.trust is Trust.TRUSTED
    assert prediction.speedup == pytest.approx(came, rel=1e-4)
    assert prediction.interval[0] <= prediction.speedup <= prediction.interval[1]
    assert prediction.bound_by


def test_what_a_call_waits_for_stays_when_calls_before_it_go(polls: Replayed):
    """Smaller transfers leave the FPGA as much work, which the host's next receive waits for, in either order."""
    smaller, gone = "resize calls=put bytes=64", "calls calls=pace factor=0"
    one, other = predicted(polls, smaller, gone), predicted(polls, gone, smaller)
    assert one.trust is not Trust.REFUSED, one.why
    assert one.time_s == other.time_s


def test_predictions_do_not_depend_on_those_before(polls: Replayed):
    clock = "clock clock=clk frequency_hz=160e6"
    before = predicted(polls, clock)
    predicted(polls, "host block=host.main state=work factor=100")
    assert predicted(polls, clock) == before


def test_what_cannot_be_answered_is_refused_with_a_reason(polls: Replayed):
    refused = predicted(polls, "calls calls=begin factor=0")
    assert refused.trust is Trust.REFUSED
    assert "unit_top.worker waits for" in refused.why
    assert refused.speedup is None
    assert "no two of these polls in a row" in predicted(polls, "unite calls=poll count=2").why
    assert "is a wait" in predicted(polls, "state block=unit_top.worker state=idle factor=0").why
    with pytest.raises(WorkbenchError, match="no call 'pool'"):
        predicted(polls, "interrupt calls=pool")


def test_every_wait_answers_what_for(polls: Replayed):
    path, blocks = polls.run_path(), [b.id for b in polls.run.manifest.blocks]
    assert path is not None
    host, worker = blocks.index("host.main"), blocks.index("unit_top.worker")
    multiplied = path.parts[worker]
    busy = int(multiplied.begin_ps[1])  # the first stretch of work
    began = path.cause_at(worker, busy - 1)
    assert (began.block, polls.run.manifest.sites[began.site].label) == (host, "begin")
    assert path.cause_at(worker, busy) is None
    answered = path.waiter_of(worker, busy)
    assert answered is not None
    waited = path.cause_at(host, answered[1] - 1)
    assert (waited.block, waited.bus) == (worker, False)
    assert busy < waited.time_ps <= answered[1]


def test_the_critical_path_is_the_run(polls: Replayed):
    path = polls.critical_path()
    assert path.steps[0].begin_s == 0
    assert path.steps[-1].end_s == pytest.approx(polls.run.time_s)
    assert all(a.end_s == b.begin_s for a, b in pairwise(path.steps))
    held = polls.next_bottlenecks()
    assert (held[0].block, held[0].state) == ("unit_top.worker", "multiply")
    assert sum(one.share for one in held) == pytest.approx(1)
    assert sum(line.time_s for line in path.lines) == pytest.approx(path.time_s)
    assert (path.lines[0].block, path.lines[0].name) == ("unit_top.worker", "multiply")
    slack = {one.call or one.state: one.slack_s for one in path.slack}
    assert slack["begin"] == 0  # what lets the worker begin
    assert 0 < slack["multiply"] < 100e-6  # until the poll that sees it


def test_the_path_within_one_block_says_which_call_waits_for_which_state(polls: Replayed):
    path = polls.critical_path()
    waits = {(w.waiter.name, w.waited_for.name): (w.count, w.time_s) for w in path.waits}
    assert set(waits) == {("poll", "multiply"), ("idle", "begin")}
    worker = next(one for one in path.lines if one.name == "multiply")
    assert waits["poll", "multiply"] == (4, pytest.approx(worker.time_s, rel=1e-3)), "it polls while that works"
    moves = {(m.source.name, m.target.name): m.count for m in path.moves}
    assert moves == {
        ("pace", "put"): 1, ("put", "begin"): 4, ("begin", "multiply"): 4, ("multiply", "poll"): 4, ("poll", "get"): 4,
        ("get", "put"): 3,
    }  # fmt: skip
    diagram = path_diagram(path, {})
    assert diagram is not None
    (multiply,) = (state for state in diagram.states if state.name == "multiply")
    assert (multiply.of, multiply.visits, multiply.note[:5]) == ("worker", 4, "slack")
    assert multiply.share == pytest.approx(worker.share)
    assert (diagram.home, diagram.note.rpartition(", ")[2]) == ("host main", "in host main where no block is named")


def test_a_round_is_drawn_as_measured_and_as_predicted(polls: Replayed):
    unchanged = polls.predicted_round([])
    assert unchanged is not None
    assert unchanged.measured == unchanged.predicted
    was, again = trace_of(polls.run), trace_of(unchanged.run)
    worker = [b.id for b in polls.run.manifest.blocks].index("unit_top.worker")
    assert was is not None
    assert again is not None
    for before, after in zip(was.row(worker), again.row(worker), strict=True):
        assert (before == after).all()
    faster = polls.predicted_round([read_change("state block=unit_top.worker state=multiply factor=0.5")])
    assert faster is not None
    assert 0 < faster.predicted[1] < faster.measured[1]
    assert faster.run.time_s < polls.run.time_s
    assert polls.predicted_round([read_change("calls calls=begin factor=0")]) is None


@pytest.fixture(scope="module")
def profile(polls: Replayed) -> Replayed:
    """The same run as it is kept without a trace."""
    kept = {name: table for name, table in polls.run.tables.items() if not name.startswith("interval")}
    return prepare(replace(polls.run, manifest=replace(polls.run.manifest, traced=False), tables=kept), polls.platform)


@pytest.mark.parametrize(
    "change",
    ["state block=unit_top.worker state=multiply factor=0.5", "interrupt calls=poll",
     "clock clock=clk frequency_hz=160e6", "early calls=put"],
)  # fmt: skip
def test_a_profile_predicts_what_the_trace_does(polls: Replayed, profile: Replayed, change: str):
    assert profile.exact
    found, told = predicted(profile, change), predicted(polls, change)
    assert found.trust is Trust.DOUBTFUL
    assert "estimated from its profile" in found.why
    assert found.speedup == pytest.approx(told.speedup, rel=1e-3)
    assert found.holds(told.speedup)


def test_where_a_profile_does_not_tell_the_interval_does(profile: Replayed):
    """A profile of stays of other lengths, in the same time: the host's polls still say when they ended."""
    dwell = {name: np.array(column) for name, column in profile.run.tables["dwell"].items()}
    worker, working = 2, 2
    row = np.flatnonzero((dwell["block"] == worker) & (dwell["state"] == working))
    total = dwell["cycles"][row][0]
    dwell = {name: np.append(np.delete(column, row), [column[row[0]]] * 2) for name, column in dwell.items()}
    dwell["count"][-2:], dwell["cycles"][-2:], dwell["log2_cycles"][-2:] = (3, 1), (total - 16000, 16000), (13, 13)
    varied = prepare(replace(profile.run, tables={**profile.run.tables, "dwell": dwell}), profile.platform)
    assert varied.exact
    assert varied.others
    assert predicted(varied, "interrupt calls=poll").holds(predicted(profile, "interrupt calls=poll").speedup)


def test_a_block_that_a_profile_cannot_follow_is_refused(profile: Replayed):
    """More words than the host sent: its waits are not for them one for one."""
    tables = dict(profile.run.tables)
    tables["transitions"] = {**tables["transitions"], "count": tables["transitions"]["count"] + 1}
    found = predicted(prepare(replace(profile.run, tables=tables), profile.platform),
                      "state block=unit_top.worker state=multiply factor=0.5")  # fmt: skip
    assert found.trust is Trust.REFUSED
    assert "its state changes are incomplete" in found.why


@pytest.mark.parametrize(
    "change", ["split calls=put count=100000000", "replicas group=unit_top.worker count=100000000"]
)
def test_a_change_that_makes_too_much_to_follow_is_refused(polls: Replayed, change: str):
    found = predicted(polls, change)
    assert found.trust is Trust.REFUSED
    assert "at most 2000000 are followed" in found.why


@pytest.mark.parametrize(
    ("names", "why"),
    [
        (("state_time", "transitions", "dwell"), "changed its state too often"),
        (("transitions",), "state changes are incomplete"),
        (("dwell",), "state changes are incomplete"),
    ],
)
def test_a_profile_of_ten_billion_stays_is_not_followed_one_by_one(profile: Replayed, names: tuple[str, ...], why: str):
    """As a run of an hour has them; and one of whose tables one alone says so."""
    tables, begun_s = dict(profile.run.tables), time.process_time()
    for name in names:
        column = "visits" if name == "state_time" else "count"
        tables[name] = {**tables[name], column: np.array(tables[name][column]) * 10**10}
    tracemalloc.start()
    many = prepare(replace(profile.run, tables=tables), profile.platform)
    found = predicted(many, "state block=unit_top.worker state=multiply factor=0.5")
    most_bytes = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert found.trust is Trust.REFUSED
    assert why in found.why
    assert time.process_time() - begun_s < 2
    assert most_bytes < 20_000_000
