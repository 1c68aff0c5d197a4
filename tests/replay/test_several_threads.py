"""A host of several threads: replay on virtual cores is exact, and what it predicts comes true."""

from dataclasses import replace

import numpy as np
import pytest
from benchmarks import bounds

from workbench.model.changes import read_change
from workbench.model.prediction import Prediction, Trust
from workbench.model.syncs import SyncKind
from workbench.replay.edits import Edited
from workbench.replay.fpga import waiting_stays
from workbench.replay.joined import GrowingGraph, rows_of
from workbench.replay.lowering import lower
from workbench.replay.predict import Replayed
from workbench.replay.prepare import prepare
from workbench.replay.settling import settle
from workbench.replay.threads import Replay, needed_before
from workbench.replay.waits import find_spare
from workbench.traces.path import NO_LIMIT_PS

COSTS = {"call_ps": "17 ns", "wake_ps": "130 ns", "switch_ps": "71 ns"}
HALF = "state block=unit_top.worker state=multiply factor=0.5"


def threaded(cores: int, **simulation: str) -> bounds.Program:
    settings = {"EFFORT": 300, "CYCLES": 200}
    return bounds.Program("threaded", settings=settings, trace=True, simulation={"cores": cores, **simulation})


HANDED = bounds.Program("handed", settings={"EFFORT": 300, "CYCLES": 200}, trace=True, simulation={"cores": 2, **COSTS})
ONE, TWO = threaded(1, slice_ps="50 us", **COSTS), threaded(2, **COSTS)


@pytest.fixture(scope="module")
def bench(tmp_path_factory: pytest.TempPathFactory) -> bounds.Bench:
    return bounds.Bench(tmp_path_factory.mktemp("bench"))


def prepared(bench: bounds.Bench, program: bounds.Program) -> Replayed:
    opened = bench.run(program)
    return prepare(opened.run, opened.platform)


def predicted(replayed: Replayed, change: str) -> Prediction:
    return replayed.predict([read_change(change)])


@pytest.mark.parametrize("program", [ONE, TWO], ids=["one core", "two cores"])
def test_the_unchanged_run_is_replayed_to_the_picosecond(bench: bounds.Bench, program: bounds.Program) -> None:
    replayed = prepared(bench, program)
    assert replayed.exact, replayed.why
    assert replayed.threads
    assert predicted(replayed, "host block=host.producer state=* factor=1").speedup == 1
    run = replayed.run
    threads = Replay(run.tables["syncs"], run.manifest.cores).times()
    assert threads.end_ps == run.manifest.time_ps
    assert threads.t0_ps.tolist() == run.tables["syncs"]["t0_ps"].tolist()


@pytest.mark.parametrize("program", [ONE, TWO], ids=["one core", "two cores"])
def test_a_state_in_half_the_time_comes_true(bench: bounds.Bench, program: bounds.Program) -> None:
    prediction = predicted(prepared(bench, program), HALF)
    came = bench.run(program).run.manifest.time_ps / bench.run(program.but(CYCLES=100)).run.manifest.time_ps
    assert prediction.trust is Trust.TRUSTED
    assert prediction.speedup == pytest.approx(came, rel=1e-9)


def test_a_slower_thread_holds_up_the_other_on_one_core_more_than_on_two(bench: bounds.Bench) -> None:
    change = "host block=host.producer state=* factor=3"
    one, two = (predicted(prepared(bench, program), change) for program in (ONE, TWO))
    assert one.speedup < two.speedup < 1
    came = bench.run(TWO).run.manifest.time_ps / bench.run(TWO.but(EFFORT=900)).run.manifest.time_ps
    assert two.speedup == pytest.approx(came, rel=1e-3)


def test_who_then_waits_for_a_condition_as_it_never_did_is_known(bench: bounds.Bench) -> None:
    """With a faster FPGA the thread that takes batches waits for the one that makes them."""
    slow = TWO.but(EFFORT=1500)
    prediction = predicted(prepared(bench, replace(slow, trace=True)), HALF)
    came = (
        bench.run(replace(slow, trace=True)).run.manifest.time_ps / bench.run(slow.but(CYCLES=100)).run.manifest.time_ps
    )
    assert prediction.trust is Trust.DOUBTFUL
    assert "in another order" in prediction.why
    assert prediction.speedup == pytest.approx(came, rel=1e-3)
    assert prediction.interval is not None
    assert prediction.interval[0] <= came <= prediction.interval[1]


def test_how_far_another_thread_has_to_be_is_seen_by_waits() -> None:
    """Thread 0 locks, and waits until thread 1 has; then each locks twice more, without a wait."""
    lock, wait = SyncKind.LOCK, SyncKind.WAIT
    rows = [(0, lock, 9, 0, 10, 10), (0, wait, 8, 9, 11, 25), (0, lock, 9, 0, 50, 50), (0, lock, 9, 0, 90, 90),
            (1, lock, 9, 0, 20, 20), (1, lock, 9, 0, 40, 40), (1, lock, 9, 0, 80, 80)]  # fmt: skip
    names = ("block", "kind", "object", "argument", "t0_ps", "t1_ps")
    table = dict(zip(names, np.array(rows).T, strict=True)) | {"result": np.zeros(len(rows), np.uint8)}
    assert needed_before(table).tolist() == [-1, -1, 5, 6, -1, -1, -1]
    table["t1_ps"][2] = table["t0_ps"][2] = (
        30  # it went on when the other had locked no more often: it is something else
    )
    assert needed_before(table).tolist() == [-1] * len(rows)


def test_slack_holds_where_one_thread_hands_work_to_another(bench: bounds.Bench) -> None:
    """Of the threads none is claimed where one polls over a bus that the other has: each moves the other's calls."""
    replayed = prepared(bench, HANDED)
    program, base = replayed.program, replayed._base
    assert program is not None
    assert base is not None
    assert len(np.unique(program.ops["thread"])) == 2
    path = replayed.critical_path()
    assert "poll over one bus" in path.why
    slack = {(one.block, one.state): one.slack_s for one in path.slack}
    assert not [block for block, _ in slack if block.startswith("host.")]
    least_s = slack["unit_top.worker", "multiply"]
    assert least_s is not None
    spare_ps = find_spare(program, *base).stays_ps
    works = np.flatnonzero(~waiting_stays(program.fpga, program.run.manifest.blocks) & (spare_ps < NO_LIMIT_PS))
    assert spare_ps[works].min() <= round(least_s * 1e12)
    period_ps, total_ps, more = program.periods_ps[0], base[0].total_ps(), 0
    for stay in works[:: max(len(works) // 12, 1)].tolist():
        cycles = int(spare_ps[stay] // period_ps)
        assert longer_ps(replayed, stay, cycles) == 0
        more += longer_ps(replayed, stay, cycles + 2) > 0
    assert more > 3, "no more than that"
    assert total_ps == replayed.run.manifest.time_ps


@pytest.mark.parametrize("program", [ONE, TWO], ids=["one core", "two cores"])
def test_the_path_and_slack_go_over_threads(bench: bounds.Bench, program: bounds.Program) -> None:
    """Each thread's own code may be as much longer as its slack says, and no more."""
    replayed = prepared(bench, program)
    path, base, blocks = replayed.critical_path(), replayed._base, replayed.run.manifest.blocks
    assert not path.why
    assert {step.block for step in path.steps} >= {"host.main", "host.producer", "unit_top.worker"}
    assert sum(step.end_s - step.begin_s for step in path.steps) == pytest.approx(path.time_s, rel=1e-9)
    run_path = replayed.run_path()
    assert run_path
    causes = run_path.parts[[block.id for block in blocks].index("host.main")].causes
    assert any(blocks[block].id == "host.producer" for block in causes.block.tolist() if block >= 0)
    assert replayed.program is not None
    assert replayed.threads is not None
    assert base is not None
    lowered, order = base
    assert lowered.rows is not None
    spare_ps = find_spare(replayed.program, lowered, order).rows_ps
    first, more = first_rows(replayed), 0
    for row in np.flatnonzero(spare_ps < NO_LIMIT_PS)[::3].tolist():
        assert slower_ps(replayed, int(first[row]), int(spare_ps[row])) == 0
        more += slower_ps(replayed, int(first[row]), int(spare_ps[row]) + 100_000_000) > 0
    assert more > 10


def first_rows(replayed: Replayed) -> list[int]:
    """The numbers of the threads' calls, among all, that the graph has rows of."""
    assert replayed.program is not None
    assert replayed.threads is not None
    lowered = lower(replayed.program)
    settled = settle(replayed.program, lowered, Edited(), replayed.threads)[1]
    assert settled is not None
    return rows_of(settled, GrowingGraph(lowered.graph)).first.tolist()


def slower_ps(replayed: Replayed, row: int, more_ps: int) -> int:
    """How much longer the run takes with more of a thread's own code before one of its calls."""
    assert replayed.program is not None
    assert replayed.threads is not None
    rows = dict(replayed.threads.rows)
    rows["own_ps"] = np.array(rows["own_ps"])
    rows["own_ps"][row] += more_ps
    lowered = lower(replayed.program)
    settle(replayed.program, lowered, Edited(), replace(replayed.threads, rows=rows))
    return lowered.total_ps() - replayed.run.manifest.time_ps


def longer_ps(replayed: Replayed, stay: int, cycles: int) -> int:
    """How much longer the run takes with a stay of the FPGA's so many cycles longer."""
    assert replayed.program is not None
    program = replayed.program.copy()
    program.stays[stay] += cycles
    lowered = lower(program)
    settle(program, lowered, Edited(), replayed.threads)
    return lowered.total_ps() - replayed.run.manifest.time_ps


def test_what_is_not_as_recorded_is_told(bench: bounds.Bench) -> None:
    opened = bench.run(TWO)
    syncs = dict(opened.run.tables["syncs"])
    syncs["own_ps"] = np.array(syncs["own_ps"])
    syncs["own_ps"][np.flatnonzero(syncs["kind"] == SyncKind.WAIT)[-1]] += 1
    late = prepare(replace(opened.run, tables={**opened.run.tables, "syncs": syncs}), opened.platform)
    assert "calls of the threads come at other times" in late.why
    assert not late.exact
    without = {name: table for name, table in opened.run.tables.items() if name != "syncs"}
    unknown = prepare(replace(opened.run, tables=without), opened.platform)
    assert "the run does not record how" in unknown.why
    assert predicted(unknown, HALF).trust is Trust.REFUSED


def test_calls_do_not_move_over_those_by_which_threads_meet(bench: bounds.Bench) -> None:
    replayed = prepared(bench, TWO)
    for change in ("early calls=put", "unite calls=get count=2"):
        refused = predicted(replayed, change)
        assert refused.trust is Trust.REFUSED
        assert "by which its thread meets others (lock)" in refused.why
    split = predicted(replayed, "split calls=put count=2")
    assert split.speedup is not None
    assert split.speedup < 1
