"""What the window is told of a query: a trace's answers, and beside them what agents counted while it ran."""

from dataclasses import replace

import numpy as np
import pytest
from rc_workbench_plugins.streaming.agents.cost import Cost
from rc_workbench_plugins.streaming.agents.kept import table_of_answers
from rc_workbench_plugins.streaming.agents.packets import Answers
from rc_workbench_plugins.streaming.query.evaluate import evaluate
from rc_workbench_plugins.streaming.query.frames import frame_of
from rc_workbench_plugins.streaming.query.resolve import read_query
from rc_workbench_plugins.streaming.query.window import ask, explain, subject
from stream_topologies import LAPLACE, flow, topology

from workbench.api.stream_events import tables
from workbench.model.diagnostic import Diagnostic
from workbench.model.run import Run
from workbench.model.run_tables import Table
from workbench.testing.runs import synthetic_run

EVENTS = flow(
    LAPLACE,
    dict.fromkeys(("mt", "s1", "w1", "w2", "a1", "out"), 200_000),
    [["e1", "e21", "e31", "e4"], ["e1", "e22", "e32", "e4"]],
    300,
)
FRAME = "10 us"
STATEMENTS = (
    "r: measure rate at e1",
    "measure hist(bins = 8, low = 0, high = 8) occupancy at e1",
    "measure trace occupancy at e21",
    "measure mean latency at e31 when occupancy at e1 > 0",
    "assert r < 1 tps",
)


def answers(text: str, *problems: str) -> dict[str, Table]:
    """As agents that saw all leave them."""
    measures, asserts = evaluate(read_query(text, LAPLACE, frame=frame_of(FRAME)), EVENTS)
    found = Answers(measures, asserts, tuple(map(Diagnostic, problems)))
    return table_of_answers({"FPGA": found}, costs=[Cost("FPGA", 0.05, 0.02, 7, 100)])


def run(*parts: dict[str, Table]) -> Run:
    made = synthetic_run(cores=1, rounds=1)
    return replace(made, tables={name: table for part in parts for name, table in part.items()})


def test_what_agents_counted_stands_beside_a_traces_answers() -> None:
    query, other = "\n".join(STATEMENTS), "measure rate at e4"
    traced = run(tables(EVENTS), answers("\n".join([*STATEMENTS, other]), "an element was lost"))
    alone = ask(run(tables(EVENTS)), query, FRAME)
    found = ask(traced, query, FRAME)
    assert [one.words for one in found[:-1]] == [f"{one.words}; the FPGA's agent counted the same" for one in alone]
    (beside,) = ask(run(tables(EVENTS)), other, FRAME)
    assert (found[-1].text, found[-1].words) == (other, f"{beside.words}; counted by the FPGA's agent")
    missed, cost = (one.answer for one in explain(traced)[-2:])
    assert missed == "an element was lost"
    assert cost.replace("\u202f", " ") == "The FPGA's agent took 5.0 % of a core, and 2.0 % of the bus in 7 transfers."
    assert not any("agents" in one.question for one in explain(run(tables(EVENTS))))
    # where they differ, as with other frames, both are said
    whole = ask(traced, STATEMENTS[0], "")[0].words
    assert (
        whole == f"{ask(run(tables(EVENTS)), STATEMENTS[0], '')[0].words}; the FPGA's agent counted: {alone[0].words}"
    )


def test_a_run_that_agents_alone_counted_has_the_same_answers_and_pictures() -> None:
    query = "\n".join(STATEMENTS)
    counted, alone = run(answers(query)), ask(run(tables(EVENTS)), query, FRAME)
    assert subject(counted) is not None
    for told, one in zip(ask(counted, "", ""), alone, strict=True):
        assert told.words == f"{one.words}; counted by the FPGA's agent"
        assert (told.text, told.unit, told.holds, told.bin_words) == (one.text, one.unit, one.holds, one.bin_words)
        assert told.values == pytest.approx(one.values)
        assert told.times_s == pytest.approx(one.times_s)
        assert told.moments_s == pytest.approx(one.moments_s)
        assert told.stays == one.stays
        np.testing.assert_allclose(told.shares, one.shares)


def test_names_are_short_where_they_can_mean_one_edge_alone() -> None:
    nested = topology("App", "e1: a.y -> b.x\nleft: b.y -> c.x\nq.left: c.y -> d.x\nq.right: d.y -> e.x")
    assert [nested.short(edge) for edge in nested.edges] == ["e1", "App.left", "q.left", "q.right"]
