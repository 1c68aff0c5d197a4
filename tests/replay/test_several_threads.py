"""A host of several threads: replay on virtual cores is exact, and what it predicts comes true."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from benchmarks import bounds

from workbench.model.changes import read_change
from workbench.model.prediction import Prediction, Trust
from workbench.model.syncs import SyncKind
from workbench.replay.predict import Replayed, prepare
from workbench.replay.threads import Replay

COSTS = {"call_ps": "17 ns", "wake_ps": "130 ns", "switch_ps": "71 ns"}
HALF = "state block=unit_top.worker state=multiply factor=0.5"


def threaded(cores: int, **simulation: str) -> bounds.Program:
    settings = {"EFFORT": 300, "CYCLES": 200}
    return bounds.Program("threaded", settings=settings, trace=True, simulation={"cores": cores, **simulation})


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


def test_what_is_not_as_recorded_is_told(bench: bounds.Bench) -> None:
    opened = bench.run(TWO)
    syncs = dict(opened.run.tables["syncs"])
    syncs["own_ps"] = np.array(syncs["own_ps"])
    syncs["own_ps"][np.flatnonzero(syncs["kind"] == SyncKind.WAIT)[-1]] += 1
    late = prepare(replace(opened.run, tables={**opened.run.tables, "syncs": syncs}), opened.platform)
    assert "calls of the threads come otherwise" in late.why
    assert not late.exact
    without = {name: table for name, table in opened.run.tables.items() if name != "syncs"}
    unknown = prepare(replace(opened.run, tables=without), opened.platform)
    assert "kept in traced runs only" in unknown.why
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
