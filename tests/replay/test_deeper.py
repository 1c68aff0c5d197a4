"""The depth that a full FIFO's finding advises is the least that the replay of the run's words finds."""

from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest
from shared_work import through_fifo

from workbench.analysis import analyse
from workbench.analysis.predicting import with_predictions
from workbench.api.tables import table_of
from workbench.model.changes import Depth
from workbench.model.finding import Advice
from workbench.model.prediction import Trust
from workbench.model.run import Run
from workbench.replay.depths import LOSS
from workbench.replay.prepare import prepare
from workbench.session.keep.results import open_knowledge
from workbench.session.program.plugins import load_plugins
from workbench.testing.runs import synthetic_platform

PLATFORM = synthetic_platform()


def counted(run: Run) -> Run:
    """The run with what a card counts of its two streams and of the FIFO between."""
    moved, cycles = run.tables["stream_transfers"], run.manifest.clocks[0].cycles
    rows = []
    for stream in (0, 1):
        early = moved["early"][moved["stream"] == stream]
        by_sink, by_source = int(early.clip(min=0).sum()), int(-early.clip(max=0).sum())
        rows.append((stream, len(early), by_source, by_sink, cycles - len(early) - by_source - by_sink))
    steps = sorted((int(c), 1 - 2 * int(s)) for c, s in zip(moved["cycle"], moved["stream"], strict=True))
    held = np.cumsum([0, *(step for _, step in steps)])
    at = [0, *(cycle for cycle, _ in steps), cycles]
    spent = np.bincount(held, weights=[end - begin for begin, end in pairwise(at)]).astype(int)
    occupancy = [(0, words, int(many)) for words, many in enumerate(spent) if many]
    tables = {"streams": table_of("streams", rows), "occupancy": table_of("occupancy", occupancy)}
    return replace(run, tables={**run.tables, **tables})


def advice_of(run: Run) -> Advice:
    """Of the finding that the FIFO is full, with its prediction."""
    knowledge, problems = open_knowledge(load_plugins())
    assert not problems
    analysis = with_predictions(analyse(run, PLATFORM, knowledge), prepare(run, PLATFORM))
    assert not [one for one in analysis.diagnostics if "rule" in one.message]
    (found,) = (one for one in analysis.findings if (one.rule, one.scope) == ("full buffer", "fifo"))
    (advice,) = found.advice
    return advice


@pytest.mark.parametrize("depth", [2, 4])
def test_the_advised_depth_is_least_and_its_prediction_comes_true(depth: int) -> None:
    advice = advice_of(counted(through_fifo(depth, PLATFORM)))
    (change,) = advice.changes
    assert isinstance(change, Depth)
    assert advice.text.startswith(f"Deepen it from {depth} to {change.words} words: take waits ")
    last = {words: int(through_fifo(words, PLATFORM).tables["stream_transfers"]["cycle"][-1]) for words in range(1, 17)}
    least = min(words for words, cycle in last.items() if cycle <= last[16] / (1 - LOSS))
    assert abs(change.words - least) <= 1  # polls, which the words' replay does not make anew, differ
    assert 1 < least < 16
    assert advice.prediction is not None
    assert advice.prediction.trust is Trust.TRUSTED
    came = through_fifo(depth, PLATFORM).manifest.time_ps / through_fifo(change.words, PLATFORM).manifest.time_ps
    assert advice.prediction.speedup == pytest.approx(came, rel=1e-9)


def test_without_the_words_the_depth_is_called_a_guess() -> None:
    run = counted(through_fifo(2, PLATFORM))
    untraced = {name: table for name, table in run.tables.items() if name != "stream_transfers"}
    advice = advice_of(replace(run, tables=untraced))
    assert "Try four times the depth (a guess)" in advice.text
    assert advice.changes == (Depth("words", 8),)
    assert advice.prediction is not None
    assert advice.prediction.trust is Trust.REFUSED
