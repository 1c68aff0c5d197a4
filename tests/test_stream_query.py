"""The query language: the dissertation's examples, what is wrong said in its place, and what all of it means."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from rc_workbench_plugins.streaming.query.evaluate import evaluate
from rc_workbench_plugins.streaming.query.frames import frame_of
from rc_workbench_plugins.streaming.query.measures import FrameLength, Metric, Query, Statistic, Tap
from rc_workbench_plugins.streaming.query.resolve import read_query
from stream_oracle import Oracle
from stream_topologies import ASTRO, EXAMPLES, STATEMENTS, STREAM, random_events

from workbench.model.diagnostic import WorkbenchError, has_errors
from workbench.model.topology import Topology

#: What the examples leave out.
MORE = (
    STATEMENTS
    + """
    l1: measure hist(bins=3, low=0, high=12 ps) latency at a -> c
    l2: measure trace latency at b -> c when !(latency at a > 4 ps | backpressure at b)
"""
)


A_BYTES = STREAM.find("a")[0].width_bytes


def read(text: str, topology: Topology, frame: FrameLength = FrameLength()) -> Query:  # noqa: B008 - frozen
    query = read_query(text, topology, frame=frame)
    assert not has_errors(query.diagnostics), [problem.text() for problem in query.diagnostics]
    return query


def check(query: Query, topology: Topology, seed: int) -> None:
    """The same as one picosecond after the other."""
    events = random_events(topology, np.random.default_rng(seed))
    oracle = Oracle(events)
    results, asserts = evaluate(query, events)
    assert [result.measure for result in results] == list(query.measures)
    for result in results:
        truth = oracle.frames(result.measure)
        assert [(f.start_ps, f.end_ps, f.collected_ps, f.count) for f in result.frames] == [
            (begin, end, collected, count) for begin, end, _, collected, count in truth
        ], result.measure.text
        for frame, (begin, _, value, *_) in zip(result.frames, truth, strict=True):
            if frame.histogram is not None:
                assert frame.histogram == value, result.measure.text
            elif frame.samples is None:
                wanted = value if value is None else pytest.approx(value, rel=1e-12)
                assert frame.value == wanted, (result.measure.text, begin)
            elif result.measure.metric is Metric.OCCUPANCY:
                times, values = frame.samples
                assert [oracle.held(result.measure.edges[0], t) for t in times.tolist()] == values.tolist()
            else:
                assert list(zip(*(part.tolist() for part in frame.samples), strict=True)) == value, result.measure.text
    for asserted in asserts:
        false = {t for t in range(events.end_ps + 1) if oracle.truth(asserted.asserted.condition, t) is False}
        told = {t for begin, end in asserted.broken_ps for t in (range(begin, end) if end > begin else [begin])}
        assert told - {events.end_ps} == false - {events.end_ps}, asserted.asserted.text
        assert asserted.holds == (not false)


@pytest.mark.parametrize("name", EXAMPLES)
@pytest.mark.parametrize(
    "frame", [FrameLength(), FrameLength(time_ps=11), FrameLength(elements=4)], ids=["run", "time", "elements"]
)
def test_every_example_statement_is_answered_as_a_trace_of_the_run_says(name: str, frame: FrameLength) -> None:
    topology, text = EXAMPLES[name]
    query = read(text, topology, frame)
    statements = text.count("measure ") - text.count("// measure ")
    assert len(query.measures) >= statements
    assert len(query.asserts) == text.count("assert ")
    for seed in range(3):
        check(query, topology, seed)


@settings(max_examples=60)
@given(
    st.integers(0, 2**32),
    st.sampled_from([FrameLength(), FrameLength(time_ps=13), FrameLength(time_ps=20), FrameLength(elements=3)]),
)
def test_all_that_can_be_asked_means_the_same_as_event_by_event(seed: int, frame: FrameLength) -> None:
    check(read(MORE, STREAM, frame), STREAM, seed)


def test_a_hardware_edges_utilisation_is_transfers_by_cycle() -> None:
    from dataclasses import replace

    events = random_events(STREAM, np.random.default_rng(1))
    edges = {label: replace(one, tick_ps=7.5) for label, one in events.edges.items()}
    (result,), _ = evaluate(read("measure util at a", STREAM), replace(events, edges=edges))
    assert result.frames[0].value == pytest.approx(len(edges["Stream.a"].push_ps) * 7.5 / 60)


def test_more_frames_than_anyone_reads_are_refused() -> None:
    events = random_events(STREAM, np.random.default_rng(1), 1_000_000)
    with pytest.raises(WorkbenchError, match=r"'measure rate at a' has 1.000.000 frames in this run"):
        evaluate(read("measure rate at a", STREAM, FrameLength(time_ps=1)), events)
    with pytest.raises(WorkbenchError, match=r"'mean latency at a' has 1.000.000 frames"):
        evaluate(read("assert mean // late?\n latency at a > 1 ps", STREAM, FrameLength(time_ps=1)), events)


def test_names_find_edges_and_paths() -> None:
    def edges(text: str, topology: Topology) -> list[tuple[str, ...]]:
        return [tuple(e.split(".", 1)[1] for e in m.edges) for m in read(text, topology).measures]

    assert edges("measure rate at b", STREAM) == [("b",)]
    assert edges("measure rate at Stream.filter.y", STREAM) == [("b",)]
    assert edges("measure rate at FFT1.in", ASTRO) == [("c1",)]
    assert edges("measure rate at FFT.in", ASTRO) == [("c1",), ("c2",)]  # a kind's name: all its blocks
    assert edges("measure rate at Split.out =< Convert.in", ASTRO) == [("s1",), ("s2",)]
    assert edges("measure rate at Split.out", ASTRO) == [("s1",), ("s2",)]
    assert edges("measure rate at Split.out -> Convert2.in", ASTRO) == [("s2",)]
    assert edges("measure latency at a -> c", STREAM) == [("a", "b", "c")]
    assert edges("measure latency at r -> c2 -> o", ASTRO) == [("r", "s2", "c2", "f2", "d2", "i2", "m2", "g", "o")]
    assert edges("measure latency at FFT.in -> IFFT.in", ASTRO) == [("c1", "f1", "d1"), ("c2", "f2", "d2")]
    assert edges("vq: total.acc_in -> report.x\nmeasure latency at vq", STREAM) == [("b", "c")]


def test_measures_of_several_edges_are_told_apart() -> None:
    query = read("m: measure rate at Split.out", ASTRO)
    assert [m.label for m in query.measures] == ["m[Astro.s1]", "m[Astro.s2]"]


def test_a_consumers_port_counts_what_is_taken_and_all_else_what_is_brought() -> None:
    text = "measure rate at total.acc_in\nmeasure rate at b\nmeasure rate at filter.y -> total.acc_in"
    assert [m.tap for m in read(text, STREAM).measures] == [Tap.POP, Tap.PUSH, Tap.PUSH]


def test_units_are_those_of_what_is_compared() -> None:
    text = """a: assert rate at a > 2 Mtps
              b: assert rate at a > 3
              c: assert latency at a < 2.5 us
              d: assert latency at a < 3
              e: assert util at a > 40 %
              f: assert 5 < occupancy at a"""
    numbers = [getattr(c.condition.right, "value", None) for c in read(text, STREAM).asserts]
    assert numbers == [2e6, 3, 2.5e6, 3e12, pytest.approx(0.4), None]


def test_histograms_have_bins_for_what_can_be() -> None:
    measures = read(
        """measure hist occupancy at a
           measure hist(bins=2) occupancy at a
           measure hist(4, 0, 2 us) latency at a
           measure hist value at a""",
        STREAM,
    ).measures
    assert measures[0].bins == (0, 1, 2, 3, 4, 5)
    assert measures[1].bins == (0, 2.5, 5)
    assert measures[2].bins == (0, 0.5e6, 1e6, 1.5e6, 2e6)
    assert measures[3].bins == (0, *(2**power for power in range(17)))
    assert all(m.statistic is Statistic.HIST for m in measures)


def test_what_table_4_1_leaves_out_and_the_text_writes_is_taken_with_a_warning() -> None:
    query = read("measure mean util at a\nmeasure rate at b", STREAM)
    (warning,) = query.diagnostics
    assert (warning.line, warning.column, warning.severity) == (1, 14, "warning")
    assert query.measures[0].statistic is Statistic.TRACE
    assert len(query.measures) == 2


@pytest.mark.parametrize(
    ("text", "place", "message", "hint"),
    [
        ("measur rate at a", (1, 1), "a statement begins with 'measure' or 'assert', not with 'measur'", "'measure'?"),
        ("\n  measure rats at a", (2, 11), "'rats' cannot be measured", "Did you mean 'rate'?"),
        ("measure rate a", (1, 14), "'a' is not expected here", "Did you mean 'at'?"),
        ("m: measure rate at", (1, 19), "the statement is not finished", "Wanted: a name."),
        ("assert rate at a = 3", (1, 18), "'=' is not expected here", "Write this comparison as ==."),
        ("assert rate at a => 3", (1, 18), "'=>' is not expected here", "Write this comparison as >=."),
        ("assert rate at a > 3 Mtp", (1, 22), "'Mtp' is not expected here", "Mtps"),
        ("assert (rate at a > 3 and util at b < 1)", (1, 23), "'and' is not expected here", "& for and"),
        ("measure hist(3 occupancy at b", (1, 16), "'occupancy' is not expected here", "','"),
        ("measure rate at d", (1, 17), "there is no edge or port 'd'", "Known: a, b, c,"),
        ("measure rate at fliter.y", (1, 17), "there is no edge or port 'fliter.y'", "Did you mean 'filter.y'?"),
        ("measure rate at filter", (1, 17), "filter is a block", "Its ports: filter.x, filter.y."),
        ("measure latency at c -> a", (1, 25), "no data goes from c to a", "follows the data"),
        (
            "measure rate at a -> b",
            (1, 17),
            "rate takes one edge, but these are 2: Stream.a, Stream.b",
            "Name one edge",
        ),
        ("measure hist rate at a", (1, 14), "rate is one number per frame, so it has no histogram", "Leave"),
        ("measure mean(bins=3) latency at a", (1, 14), "only histograms take 'bins'", "only 'frame'"),
        ("measure hist(bin=3) latency at a", (1, 14), "there is no parameter 'bin'", "Did you mean 'bins'?"),
        ("measure hist(bins=0) occupancy at a", (1, 19), "the number of bins must be from 1 to 4096", ""),
        ("measure hist(bins=3) latency at a", (1, 9), "a histogram with 'bins' needs 'low' and 'high'", ""),
        ("measure hist(bins=3, low=5, high=2) value at a", (1, 9), "'high' of a histogram must be above 'low'", ""),
        (
            "measure mean(frame=0.5) latency at a",
            (1, 20),
            "a frame must be a time, a whole number of elements, or a size",
            "10 ms",
        ),
        (
            "measure mean(frame=1e25 s) latency at a",
            (1, 20),
            "a frame must be a time, a whole number of elements, or a size",
            "10 ms",
        ),
        ("measure mean(frame=1e999) latency at a", (1, 20), "this number is too large", ""),
        ("assert latency at a > 1e300 s", (1, 23), "this number is too large", ""),
        ("measure mean(frame=5 Mtps) latency at a", (1, 20), "5 Mtps is a rate, but a time is expected", ""),
        ("measure m1 when rate at a > 3", (1, 9), "no statement is called 'm1'", ""),
        ("a: assert rate at a > 3\nmeasure a", (2, 9), "'a' is not a measure", ""),
        ("a: measure rate at a when b > 3\nb: measure a", (1, 1), "'a' depends on itself: a -> b -> a", ""),
        ("sum: measure rate at a", (1, 1), "'sum' is a word of the language", "another label"),
        ("m: measure rate at a\nm: measure rate at b", (2, 1), "the label 'm' is used twice: line 1 has it too", ""),
        ("assert 3 > 2", (1, 8), "this compares two numbers", ""),
        ("assert rate at a > util at b", (1, 8), "this compares a rate with a share", ""),
        ("assert rate at a > 3 ms", (1, 20), "3 ms is a time, but a rate is expected", ""),
        ("assert occupancy at a", (1, 8), "this is not a condition: it has no comparison", "Only backpressure"),
        ("h: measure hist latency at a\nassert h > 3", (2, 8), "a histogram is not a number", "mean"),
    ],
)
def test_what_is_wrong_is_said_in_its_place(text: str, place: tuple[int, int], message: str, hint: str) -> None:
    query = read_query(text, STREAM, "my.query")
    problem = query.diagnostics[0]
    assert problem.message.startswith(message)
    assert hint in problem.hint
    assert (problem.file, problem.line, problem.column) == ("my.query", *place)


def test_a_frame_stands_behind_what_is_one_number_in_it_and_may_be_a_size() -> None:
    """What the warning about a statistic proposes is accepted, without a warning."""
    (problem,) = read_query("measure mean(frame=10 us) rate at a", STREAM).diagnostics
    assert "rate(frame=10 us)" in problem.hint
    query = read_query("measure rate(frame=10 us) at a\nmeasure rate(frame=64 KiB) at a", STREAM)
    assert query.diagnostics == ()
    assert [one.frame for one in query.measures] == [
        FrameLength(time_ps=10_000_000),
        FrameLength(elements=65536 // A_BYTES),
    ]
    assert read("measure mean latency at a", STREAM, frame_of("1 KiB")).measures[0].frame.elements == 1024 // A_BYTES
    (wrong,) = read_query("measure rate(frame=3 B) at a", STREAM).diagnostics
    assert wrong.message == "3 bytes are not a whole number of elements of Stream.a"


#: 300 statements, each made of the one before: twice as many parts with each of them.
CHAIN = ["m0: measure rate at a", *(f"m{i}: measure m{i - 1} when m{i - 1} > 1 | m{i - 1} < 2" for i in range(1, 300))]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("assert " + "!" * 900 + "backpressure at a", "this statement is nested more than 50 deep"),
        ("assert " + "(" * 900 + "rate at a > 1" + ")" * 900, ""),
        ("assert " + " & ".join(["rate at a > 1"] * 20_000), "this statement compares more than 1000 times"),
        ("\n".join(CHAIN), "with all that 'm5' depends on, this statement compares more than 1000 times"),
        ("\n".join(CHAIN[::-1]), "'m299' depends on a chain of more than 50 other statements"),
        ("\n".join(f"m{i}: measure m{i - 1} when util at a > 1" for i in range(299, 0, -1)) + "\nm0: measure rate at a",
         "'m299' depends on a chain of more than 50 other statements"),
    ],
    ids=["not", "brackets", "and", "chain", "reversed chain", "long chain"],
)  # fmt: skip
def test_a_statement_has_bounds(text: str, message: str) -> None:
    query = read_query(text, STREAM, "my.query")
    said = [problem.message for problem in query.diagnostics]
    assert (said[0] if said else "") == message
    if not message:
        check(query, STREAM, 0)


def test_a_thousand_comparisons_are_taken() -> None:
    query = read("assert " + " & ".join(["occupancy at a >= 0"] * 1000), STREAM)
    check(query, STREAM, 0)


def test_several_ways_want_one_in_between() -> None:
    (problem,) = read_query("measure latency at r -> o", ASTRO).diagnostics
    assert problem.message == "there are several ways from Astro.r to Astro.o"
    assert problem.hint == "Name an edge in between, such as Astro.s1."
    (problem,) = read_query("assert rate at Split.out > 3", ASTRO).diagnostics
    assert problem.message == "this fits several edges: Astro.s1, Astro.s2"


def test_a_wrong_statement_hides_none_of_the_others() -> None:
    query = read_query("x: measure rate at a\ny: measure rat at b\nz: measure rate at c", STREAM)
    assert [m.label for m in query.measures] == ["x", "z"]
    assert [problem.line for problem in query.diagnostics] == [2]


PARTS = [*"abm:;.,()=<>!&|-10 \n%", "measure ", "assert ", "rate at a", "occupancy ", " when ", "hist", "bins=", " ms"]


@given(st.lists(st.sampled_from(PARTS)))
def test_no_text_is_an_exception(parts: list[str]) -> None:
    read_query("".join(parts), STREAM)
