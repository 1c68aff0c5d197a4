"""What a run tells of its streams is the same again from the run's folder."""

from dataclasses import replace

import numpy as np
import pytest

from workbench.api.stream_events import EDGES, PUSHES, Crossing, EdgeEvents, Events, events_of, head_of, tables
from workbench.formats.run_folder import RunWriter, open_run
from workbench.model.diagnostic import WorkbenchError
from workbench.model.run import RunStatus
from workbench.model.topology import End, MappedTo, Resource, StreamEdge


def an_edge(label: str, source: str, sink: str, type_: str, values: list[float] | None) -> EdgeEvents:
    edge = StreamEdge(label, End(source, "y"), End(sink, "x"), type_, depth=4)
    pushed, popped = np.array([0, 1_000, 1_000, 5_000]), np.array([1_000, 4_000, 6_000])
    blocked, waiting = np.array([[4_500, 5_000]]), np.array([[0, 500], [1_000, 1_500]])
    kept = None if values is None else np.array(values, "f8" if type_ == "float64" else type_.replace("signed", "int"))
    return EdgeEvents(edge, pushed, popped, kept, blocked, waiting, tick_ps=7500.0, uncertain_ps=12)


@pytest.fixture
def events() -> Events:
    a = an_edge("Stream.a", "Stream.acquire", "Stream.filter", "float64", [1.5, -2.25, 1e300, 0])
    a = replace(a, taken_ps=np.array([1_000, 1_000, 3_000]), delivered_ps=np.array([1_000, 4_000]))
    a = replace(a, crossing=Crossing(bulk=2, flush_ps=200_000, rooms=(4, 5), into=True))
    b = an_edge("Stream.b", "Stream.filter", "Stream.total", "signed16", [3, -4, 32767, -32768])
    c = an_edge("Stream.c", "Stream.total", "Stream.report", "signed16", None)
    kinds = {"Stream.acquire": "Sensor", "Stream.filter": "LPF", "Stream.total": "Accumulate"}
    stands = {"Stream.filter": Resource("card", MappedTo.FPGA)}
    return Events("Stream", {e.edge.label: e for e in (a, b, c)}, end_ps=9_000, kinds=kinds, stands=stands)


def test_events_are_the_same_again_from_a_runs_folder(events: Events, tmp_path) -> None:
    writer = RunWriter(tmp_path / "run")
    writer.finish(replace(writer.manifest, status=RunStatus.COMPLETE), tables(events))
    run, problems = open_run(tmp_path / "run")
    assert not problems
    again = events_of(run.tables)
    assert again is not None
    assert (again.name, again.start_ps, again.end_ps, again.kinds) == ("Stream", 0, 9_000, events.kinds)
    assert list(again.edges) == list(events.edges)
    for label, one in events.edges.items():
        other = again.edges[label]
        assert other.edge == one.edge
        assert (other.tick_ps, other.uncertain_ps) == (7500.0, 12)
        assert other.crossing == one.crossing
        for name in ("push_ps", "pop_ps", "values", "blocked_ps", "waiting_ps", "taken_ps", "delivered_ps"):
            np.testing.assert_array_equal(getattr(other, name), getattr(one, name), name)
    head = head_of(run.tables)
    assert head is not None
    assert head.topology == again.topology
    assert head.pushes == {"Stream.a": 4, "Stream.b": 4, "Stream.c": 4}
    assert head.valued == {"Stream.a", "Stream.b"}
    assert again.topology.place("Stream.filter") is MappedTo.FPGA
    assert again.topology.mapping == {"Stream.filter": "card"}
    assert again.topology.find("filter.y -> total.x")[0].label == "Stream.b"
    assert again.topology.block_by_name["Stream.filter"].kind.name == "LPF"


def test_a_run_without_streams_has_no_events() -> None:
    assert events_of({}) is None


def test_a_record_that_does_not_fit_itself_is_said_to_be_damaged(events: Events) -> None:
    made = tables(events)
    short = {**made, PUSHES: {"time_ps": made[PUSHES]["time_ps"][:-1]}}
    broken = {**made, EDGES: {"utf8": made[EDGES]["utf8"][:-1]}}
    for wrong in (short, broken, {EDGES: made[EDGES]}):
        with pytest.raises(WorkbenchError, match="damaged"):
            events_of(wrong, "run")
