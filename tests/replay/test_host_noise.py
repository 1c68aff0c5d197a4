"""Measured host time differs from run to run: how far, and that the interval of a prediction holds it."""

import json
import shutil
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from benchmarks import bounds

from workbench.formats.run_folder import open_run
from workbench.model.changes import read_change
from workbench.model.run import Run, ThreadTime
from workbench.model.syncs import SyncKind
from workbench.replay.edits import edit
from workbench.replay.host_noise import UNKNOWN, host_noise, own_pieces
from workbench.replay.machine_noise import machine_noise
from workbench.replay.prepare import prepare
from workbench.session.keep.results import OpenRun, host_times_ps

ROUNDS, PIECE_PS, TRANSFER_PS = 50, 2_000_000, 1_000_000
INTERRUPT = read_change("interrupt calls=poll")


@pytest.fixture(scope="module")
def counted(tmp_path_factory: pytest.TempPathFactory) -> OpenRun:
    """A run with counted host time."""
    program = bounds.Program("block", settings={"CYCLES": 200, "EFFORT": 600}, trace=True)
    return bounds.Bench(tmp_path_factory.mktemp("bench")).run(program)


def measured(run: Run) -> Run:
    """The run as if its host time had been measured."""
    return replace(run, manifest=replace(run.manifest, deterministic=False))


def rounds(run: Run, slow_from: int = ROUNDS, slower: float = 1.0) -> Run:
    """A host that does the same in each round, code and a call; from a round on the code takes longer."""
    own_ps = np.full(ROUNDS, PIECE_PS)
    own_ps[slow_from:] = round(PIECE_PS * slower)
    t0 = np.cumsum(own_ps + TRANSFER_PS) - TRANSFER_PS
    zeros = np.zeros(ROUNDS, np.int64)
    calls = {"block": zeros, "t0_ps": t0, "t1_ps": t0 + TRANSFER_PS, "site": zeros, "state": zeros}
    return replace(measured(run), tables={"calls": calls})


def test_counted_host_time_has_no_noise(counted: OpenRun):
    assert host_noise(counted.run) is None
    assert not prepare(counted.run, counted.platform).predict([INTERRUPT]).interval_holds


def test_a_first_run_assumes_what_no_run_has_shown(counted: OpenRun):
    noise = host_noise(rounds(counted.run))
    assert noise
    assert (noise.quicker, noise.slower) == (pytest.approx(1 / (1 + UNKNOWN)), pytest.approx(1 + UNKNOWN))
    assert "is assumed for fewer than 3 runs" in noise.why


def test_equal_pieces_of_a_run_show_how_far_it_varies(counted: OpenRun):
    """The last fifth takes twice as long: tenths of it are 0.83 and 1.67 times the mean."""
    noise = host_noise(rounds(counted.run, slow_from=40, slower=2.0))
    assert noise
    assert noise.quicker == pytest.approx(1 / 1.2, abs=0.02)
    assert noise.slower == pytest.approx(2 / 1.2, abs=0.02)
    assert "of its equal pieces" in noise.why


def test_earlier_runs_show_how_far_the_next_may_be_off(counted: OpenRun):
    """Student's t for three runs: 2.92 standard deviations, and the mean's own share."""
    run = rounds(counted.run)
    total_ps = int(own_pieces(run)[0].sum())
    noise = host_noise(run, [round(total_ps * 1.01), round(total_ps / 1.01)])
    assert noise
    assert noise.slower == pytest.approx(1.01 ** (2.92 * np.sqrt(4 / 3)), rel=1e-3)
    assert noise.quicker == pytest.approx(1 / noise.slower, rel=1e-3)
    assert "in 3 runs of the same program" in noise.why


def test_the_interval_holds_host_code_that_takes_another_time(counted: OpenRun, monkeypatch: pytest.MonkeyPatch):
    """The ends are what comes where it takes as much less, or more, as it may. The program is edited once."""
    run = measured(counted.run)
    replayed, noise = prepare(run, counted.platform), host_noise(run)
    assert noise
    edits = []
    monkeypatch.setattr("workbench.replay.predict.edit", lambda *parts: edits.append(edit(*parts)))
    prediction = replayed.predict([INTERRUPT])
    assert len(edits) == 1
    assert prediction.trust == "trusted"
    assert prediction.interval
    assert prediction.speedup
    low, high = prediction.interval
    counted_only = prepare(counted.run, counted.platform)
    for factor, end in ((noise.quicker, high), (noise.slower, low)):
        scaled = read_change(f"host block=host.main state=work factor={factor!r}")
        assert counted_only.predict([INTERRUPT, scaled]).speedup == pytest.approx(end, rel=2e-3)
    assert low < prediction.speedup * 0.99
    assert prediction.interval_holds == noise.words
    assert noise.words.startswith("the host code of another run takes 0.87× to 1.15× its time in this run. Basis: ")
    assert prediction.as_json()["interval_holds"] == noise.words


# ---- a real machine ----


def on_machine(run: Run, queued: float = 0.001, slow_from: int = ROUNDS, slower: float = 1.0) -> Run:
    """Two ranks that each call in rounds, alone; from a round on code takes longer. So much of the time they queued."""
    own_ps = np.full(ROUNDS, PIECE_PS)
    own_ps[slow_from:] = round(PIECE_PS * slower)
    t0 = np.cumsum(own_ps + TRANSFER_PS) - TRANSFER_PS
    one = {"t0_ps": t0, "t1_ps": t0 + TRANSFER_PS, "own_ps": own_ps, "kind": np.full(ROUNDS, SyncKind.SLEEP),
           "woken_by": np.full(ROUNDS, -1), "site": np.arange(ROUNDS) % 2}  # fmt: skip
    both = {name: np.tile(column, 2) for name, column in one.items()} | {"block": np.repeat([0, 1], ROUNDS)}
    time_ps = int(t0[-1]) + TRANSFER_PS
    threads = (ThreadTime(0, time_ps, time_ps, 0, round(queued * time_ps)),) * 2
    manifest = replace(run.manifest, simulated=False, deterministic=False, time_ps=time_ps, threads=threads)
    return replace(run, manifest=manifest, tables={"calls": both, "syncs": both})


def test_a_quiet_machines_runs_vary_little(counted: OpenRun):
    """All of the run's time varies, and its interval is 22 % wide; where queues for cores took a quarter, 40 %."""
    quiet, loaded, unknown = (machine_noise(on_machine(counted.run, queued)) for queued in (0.001, 0.25, 0.0))
    assert quiet
    assert loaded
    assert quiet.whole
    assert 1.15 < quiet.slower / quiet.quicker < 1.3
    assert 1.35 < loaded.slower / loaded.quicker < 1.45
    assert "of its time while others had the cores" in loaded.words
    assert unknown
    assert unknown.slower == pytest.approx(loaded.slower)
    assert "did not record waits for cores" in unknown.words


def test_the_sum_of_many_pieces_varies_less_than_each(counted: OpenRun):
    """A fifth of each rank's code takes twice as long, at the end: that is no accident, and counts by tenths."""
    slow = machine_noise(on_machine(counted.run, slow_from=40, slower=2.0))
    steady = machine_noise(on_machine(counted.run))
    assert slow
    assert steady
    assert slow.slower > steady.slower * 1.1
    assert slow.slower < 2 / 1.2


def test_earlier_runs_move_and_widen_the_interval(counted: OpenRun):
    run = on_machine(counted.run)
    time_ps = run.manifest.time_ps
    alone, alike, unlike = (machine_noise(run, some) for some in ((), [time_ps] * 2, [time_ps * 4 // 3] * 2))
    assert alone
    assert alike
    assert unlike
    assert alike.slower / alike.quicker < alone.slower / alone.quicker < unlike.slower / unlike.quicker
    assert unlike.quicker * unlike.slower == pytest.approx((4 / 3) ** (4 / 3), rel=1e-3)


def test_runs_of_the_same_program_beside_it_count(counted: OpenRun, tmp_path: Path):
    """Those with other settings or counted host time, and later ones, do not."""
    source = counted.run.path
    assert source

    def run_of(name: str, created: str, **other: object) -> Run:
        shutil.copytree(source, tmp_path / name)
        file = tmp_path / name / "manifest.json"
        manifest = json.loads(file.read_text())
        file.write_text(json.dumps({**manifest, "created": created, "deterministic": False, **other}))
        return open_run(tmp_path / name)[0]

    for name in ("run-1", "run-2"):
        run_of(name, f"2026-01-01T00:00:0{name[-1]}+00:00")
    run_of("other", "2026-01-01T00:00:03+00:00", settings={"EFFORT": 1})
    run_of("counted", "2026-01-01T00:00:04+00:00", deterministic=True)
    last = run_of("last", "2026-01-01T00:00:05+00:00")
    run_of("later", "2026-01-01T00:00:06+00:00")
    assert host_times_ps(last) == (int(own_pieces(last)[0].sum()),) * 2
    assert "in 3 runs of the same program" in prepare(last, None, None, None, host_times_ps(last)).noise.why
