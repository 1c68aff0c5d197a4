"""Depths of FIFOs as changes of a run: the host waits as much shorter as the words pass earlier."""

import pytest
from shared_work import through_fifo

from workbench.model.changes import read_change
from workbench.model.prediction import Trust
from workbench.replay.prepare import prepare
from workbench.testing.runs import synthetic_platform


@pytest.mark.parametrize(("depth", "others"), [(2, (4, 16, 64)), (16, (2, 8))])
def test_another_depth_comes_true(depth: int, others: tuple[int, ...]):
    platform = synthetic_platform()
    run = through_fifo(depth, platform)
    replayed = prepare(run, platform)
    assert replayed.exact, replayed.why
    speedups = set()
    for words in others:
        found = replayed.predict([read_change(f"depth fifo=words words={words}")])
        came = run.manifest.time_ps / through_fifo(words, platform).manifest.time_ps
        assert found.speedup == pytest.approx(came, rel=1e-9), found.why
        assert found.trust is Trust.TRUSTED
        speedups.add(came)
    assert len(speedups) == 2


def test_what_the_words_do_not_tell_is_refused():
    platform = synthetic_platform()
    run = through_fifo(4, platform)
    del run.tables["stream_transfers"]
    found = prepare(run, platform).predict([read_change("depth fifo=words words=8")])
    assert found.trust is Trust.REFUSED
    assert "run with --trace" in found.why
