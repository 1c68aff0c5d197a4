"""Virtual queues: what becomes of elements that cross a bus, against sums by hand and against distributions worked out
apart from this program; replays, and whether they are trusted where they may be and nowhere else."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from markov_intervals import fitted
from queue_sources import EXACT, bus, intervals
from rc_workbench_plugins.streaming.crossing import across, replayed_edge
from rc_workbench_plugins.streaming.crossing import seen as seen_of
from rc_workbench_plugins.streaming.query.evaluate import evaluate
from rc_workbench_plugins.streaming.query.measures import COUNTED, WITHIN, Measure, Metric, Query, Statistic
from rc_workbench_plugins.streaming.query.replies import reply_of
from rc_workbench_plugins.streaming.trust import Estimate, dependences, estimate, replayed

from workbench.api.stream_events import Crossing, EdgeEvents, Events
from workbench.api.virtual_queue import (
    IDEAL,
    Bus,
    Draw,
    Intervals,
    Occupancy,
    distance,
    mean,
    measured,
    memory,
    occupancy,
    passage,
    services,
    shares_of_time,
    worked,
)
from workbench.model.topology import End, StreamEdge

PARTS = ("total", "upstream", "downstream")
AR = {phi: {"type": "ar1", "phi": phi} for phi in (0.3, 0.6, 0.9)}
SLOW = {"type": "mm", "means": [0.5, 2.0], "stay": 0.99}
BULKS = Bus(64, (16.0,))


def seen(whole: Occupancy) -> dict[str, np.ndarray[Any, Any]]:
    """What both ends see of a queue: all but the whole."""
    return {"upstream": whole.upstream, "downstream": whole.downstream}


def test_a_bus_takes_a_bulk_when_it_is_there_and_the_one_before_is_over() -> None:
    """By hand: bulks of two, each 3 on the bus. Elements at 1, 2, 3, 4, 9, 10 leave the bus at 5, 8 and 13; the
    consumer works 2 on each."""
    found = passage(np.array([1.0, 1, 1, 1, 5, 1]), np.full(6, 2.0), Bus(2, (3.0,)))
    assert found.taken.tolist() == [2, 2, 5, 5, 10, 10]
    assert found.delivered.tolist() == [5, 5, 8, 8, 13, 13]
    assert found.removed.tolist() == [5, 7, 9, 11, 13, 15]
    whole = occupancy(found)  # from 1 to 10: 1 until 2, 2 until 3, 3 until 4, 4 until 5, 3 until 7, 2 until 10
    assert whole.total * 9 == pytest.approx([0, 1, 4, 3, 1])
    assert whole.upstream * 9 == pytest.approx([5, 3, 1])  # one until 2, none until 3, one, two until 5, none, one
    assert whole.downstream * 9 == pytest.approx([5, 3, 1])  # none until 5, one until 7, none, two until 9, one


@settings(max_examples=50)
@given(
    gaps=st.lists(st.tuples(st.integers(0, 9), st.integers(1, 9)), min_size=3, max_size=40),
    bulk=st.integers(1, 3),
    time=st.integers(2, 5) | st.just(0),
    lag=st.integers(0, 3),
)
def test_a_passage_is_that_of_element_after_element(
    gaps: list[tuple[int, int]], bulk: int, time: int, lag: int
) -> None:
    between, service = np.array(gaps, float).T
    gap = 1 if time else 0
    found = passage(between, service, Bus(bulk, (time,), (lag,), gap))
    count = len(gaps) // bulk * bulk
    inserted = between[:count].cumsum()
    free = ready = 0.0
    clock = []
    for first in range(0, count, bulk):
        taken = max(inserted[first + bulk - 1], free) + lag
        free = taken + time
        for n in range(first, first + bulk):
            there = free - gap * (first + bulk - 1 - n)
            removed = max(there, ready)
            ready = removed + service[n]
            clock.append((inserted[n], taken, there, removed))
    assert np.array(clock).T.tolist() == [
        list(t) for t in (found.inserted, found.taken, found.delivered, found.removed)
    ]


works = st.lists(st.tuples(st.integers(0, 9), st.integers(1, 9)), min_size=3, max_size=60)


@settings(max_examples=50)
@given(work=works, bulk=st.integers(1, 4), gathers=st.booleans())
def test_a_bus_with_room_and_patience_for_all_is_one_without_ends(
    work: list[tuple[int, int]], bulk: int, gathers: bool
) -> None:
    between, service = np.array(work, float)[: len(work) // bulk * bulk].T
    bus = Bus(bulk, (4.0,), (1.0,), 0.5)
    ours = passage(between, service, replace(bus, flush=1e9, rooms=(1e6, 1e6), gathers=gathers))
    theirs = passage(between, service, bus)
    for name in ("inserted", "taken", "delivered", "removed"):
        assert getattr(ours, name).tolist() == getattr(theirs, name).tolist()


@settings(max_examples=100)
@given(
    work=works, bulk=st.integers(1, 4), flush=st.integers(1, 20), before=st.integers(1, 9), more=st.integers(0, 5),
    gathers=st.booleans(),
)  # fmt: skip
def test_a_queue_holds_no_more_than_it_has_room_for(
    work: list[tuple[int, int]], bulk: int, flush: int, before: int, more: int, gathers: bool
) -> None:
    """The producer waits for room and for nothing else; no transfer begins that does not fit behind the bus, or holds
    more than a bulk, or an element that waits longer than `flush` where the bus is free."""
    between, service = np.array(work, float).T
    before, behind = (before if gathers else before + bulk), bulk + more
    found = passage(between, service, Bus(bulk, (4.0,), (1.0,), 0.0, flush, (before, behind), gathers))
    begins, firsts, sizes = np.unique(found.taken, return_index=True, return_counts=True)
    ends = found.delivered[firsts]
    free = np.concatenate([[0.0], ends[:-1]])
    left = np.maximum(found.inserted, free.repeat(sizes)) if gathers else found.taken
    early = np.append(0, found.inserted[:-1]) + between
    room = np.where(np.arange(len(left)) < before, 0, np.roll(left, before))
    assert found.inserted.tolist() == np.maximum(early, room).tolist()
    moved = ends - 4.0  # the data; the looking before is the bus's own
    assert all(found.removed[over - behind] <= moved[n] for n, over in enumerate(firsts + sizes - 1) if over >= behind)
    assert sizes.max() <= bulk
    waited = begins - 1.0 - np.maximum(found.inserted[firsts], free)
    held = np.array([over >= behind for over in firsts + sizes - 1])
    assert (waited[~held] <= flush + 1e-9).all()
    assert (np.diff(found.removed) >= service[:-1] - 1e-9).all()
    assert (found.removed >= found.delivered).all()


@pytest.mark.parametrize("name", EXACT["exact"])
def test_a_million_elements_pass_as_queueing_theory_says(name: str) -> None:
    params = EXACT["iid"][name]["params"]
    given_ = intervals({"type": "iid"}, False, 1_000_000, np.random.default_rng(3))
    found = occupancy(passage(given_.between, given_.service, bus(params)), 0.1)
    assert distance(found.total, np.array(EXACT["exact"][name])) < 0.01


@pytest.mark.parametrize("name", EXACT["iid"])
def test_every_part_of_the_queue_is_as_full_as_an_independent_simulation_says(name: str) -> None:
    expected = EXACT["iid"][name]
    params, found = expected["params"], []
    for seed in range(6):
        given_ = intervals({"type": "iid"}, params["svc"] == "D", 200_000, np.random.default_rng(seed))
        crossed = passage(given_.between, given_.service, bus(params))
        whole = occupancy(crossed, 0.1)
        if params.get("kind") == "system":
            since, until = crossed.inserted[20_000], crossed.inserted[-1]
            served = crossed.removed + given_.service[: len(crossed.removed)]
            whole = replace(whole, total=shares_of_time(crossed.inserted, served, since, until))
        found.append([mean(getattr(whole, part)) for part in PARTS])
    error = np.std(found, axis=0, ddof=1) / np.sqrt(len(found))
    for ours, own, part in zip(np.mean(found, axis=0), error, PARTS, strict=True):
        theirs, half = expected[part]
        if part == "total" or params.get("kind") != "system":  # the one being served is in no part
            assert abs(ours - theirs) <= 4 * own + half, part


def test_services_are_intervals_that_began_with_an_element_waiting() -> None:
    """All intervals have the insertions' mean, and those that end with an element waiting are too often long."""
    given_ = intervals({"type": "iid"}, False, 400_000, np.random.default_rng(1))
    crossed = passage(given_.between, given_.service)
    gaps = np.diff(crossed.removed)
    known = services(crossed.delivered, crossed.removed)
    assert np.nanmean(known) == pytest.approx(1.0, abs=0.01)
    assert gaps.mean() == pytest.approx(1.25, abs=0.02)
    assert gaps[crossed.delivered[1:] <= crossed.removed[1:] - 1e-9].mean() == pytest.approx(1.11, abs=0.02)
    truth = occupancy(crossed)
    (again, _), (never, _) = (
        replayed(Intervals(given_.between, service), IDEAL, {}, Draw.ALONE)
        for service in (known, np.append(gaps, np.nan))
    )
    assert distance(again.total, truth.total) < 0.02
    assert distance(never.total, truth.total) > 0.5


def asked(source: dict[str, Any], at: Bus, seed: int, known: bool = False) -> tuple[Estimate, Occupancy, Intervals]:
    """An estimate by what the two ends of a queue saw, and the truth; the services are `known` to the consumer itself,
    or seen from outside."""
    given_ = intervals(source, seed % 2 == 1, 100_000, np.random.default_rng(seed))
    crossed = passage(given_.between, given_.service, at)
    whole, ends = occupancy(crossed), measured(crossed)
    if known:
        ends = Intervals(ends.between, given_.service[: len(ends)])
    return estimate(ends, at, seen(whole)), whole, ends


@pytest.mark.parametrize("seed", range(4))
def test_intervals_that_depend_on_nothing_are_trusted(seed: int) -> None:
    """Even seeds serve in exponentially distributed times, odd ones in constant."""
    found, truth, _ = asked({"type": "iid"}, BULKS, seed)
    assert (found.consistent, found.draw) == (True, Draw.ALONE), found.verdict
    assert distance(found.occupancy.total, truth.total) < 0.03


@pytest.mark.parametrize("source", [AR[0.9], SLOW], ids=lambda source: source["type"])
def test_the_downstream_queue_shows_that_intervals_depend_on_one_another(source: dict[str, Any]) -> None:
    for seed in (0, 2):
        found, truth, ends = asked(source, BULKS, seed)
        alone, (upstream, downstream) = replayed(ends, BULKS, seen(truth), Draw.ALONE)
        assert not downstream.agrees
        assert upstream.agrees  # and so says nothing
        assert distance(alone.total, truth.total) > 0.3
        assert found.draw is Draw.BLOCKS
        assert found.consistent
        assert distance(found.occupancy.total, truth.total) < 0.05
        assert "insertions depend on earlier ones" in found.model


def test_weak_dependence_that_no_sub_queue_shows_is_found_in_the_intervals() -> None:
    found, truth, ends = asked(AR[0.3], BULKS, 0)
    _, held = replayed(ends, BULKS, seen(truth), Draw.ALONE)
    assert all(queue.agrees for queue in held)
    (told,) = [d for d in found.dependences if d.is_significant]
    assert (told.of, told.lag) == ("insertions depend on earlier ones", 1)
    assert told.value == pytest.approx(0.26, abs=0.02)


@pytest.mark.parametrize("row", EXACT["replays"], ids=lambda row: f"{row['source']}, {row['params']['B']}")
def test_blocks_keep_what_intervals_owe_to_one_another(row: dict[str, Any]) -> None:
    """Where each interval drawn by itself is as far from the truth as an independent simulation found it to be."""
    at = bus(row["params"])
    found, truth, ends = asked(row["source"], at, 10, known=True)
    alone, _ = replayed(ends, at, {}, Draw.ALONE)
    assert distance(alone.total, truth.total) == pytest.approx(row["ks"][0], abs=0.03 + 4 * row["ks"][1])
    assert found.consistent
    assert distance(found.occupancy.total, truth.total) <= 0.05


def test_services_that_depend_on_insertions_and_are_seen_from_outside_are_not_trusted() -> None:
    found, truth, _ = asked({"type": "cross", "c": 0.8}, IDEAL, 0)
    assert distance(found.occupancy.total, truth.total) > 0.1
    assert "insertions and services depend on one another" in found.reason
    assert found.as_json()["verdict"] == "not to be trusted"


def test_a_run_that_gets_slower_is_replayed_in_its_order() -> None:
    random = np.random.default_rng(0)
    mean_gap = np.linspace(0.7, 2.5, 100_000)  # more is inserted than served at first
    given_ = Intervals(random.exponential(mean_gap), random.exponential(1.0, 100_000))
    crossed = passage(given_.between, given_.service)
    truth = occupancy(crossed)
    found = estimate(measured(crossed), IDEAL, seen(truth))
    assert any(d.of == "insertions change over the run" and d.is_significant for d in found.dependences)
    assert distance(found.occupancy.total, truth.total) <= 0.05


def test_a_run_too_short_for_what_its_intervals_owe_is_not_trusted() -> None:
    given_ = intervals({"type": "ar1", "phi": 0.99}, False, 3000, np.random.default_rng(4))
    crossed = passage(given_.between, given_.service)
    found = estimate(measured(crossed), IDEAL, seen(occupancy(crossed)))
    assert "the run has 3\u202f000 elements, too few" in found.reason


def test_a_chain_of_states_is_found_in_its_intervals() -> None:
    """What replays are held against in tests/benchmarks/virtual_queue.py."""
    given_ = intervals(SLOW, False, 30_000, np.random.default_rng(0))
    chain = fitted(given_.between)
    assert chain.moves.diagonal() == pytest.approx([0.99, 0.99], abs=0.002)
    again = chain.drawn(30_000, np.random.default_rng(1))
    assert again.mean() == pytest.approx(given_.between.mean(), rel=0.1)
    assert memory(again) == pytest.approx(memory(given_.between), rel=0.4)
    assert len(fitted(np.random.default_rng(2).exponential(1.0, 30_000)).moves) == 1


def test_values_remember_for_as_long_as_their_process_does() -> None:
    """An autoregressive process of correlation phi: (1 + phi) / (1 - phi)."""
    random = np.random.default_rng(0)
    assert memory(random.random(50_000)) == pytest.approx(1.0, abs=0.1)
    values = np.zeros(200_000)
    for n, noise in enumerate(random.standard_normal(len(values) - 1)):
        values[n + 1] = 0.9 * values[n] + noise
    assert memory(values) == pytest.approx(19.0, rel=0.1)
    assert memory(np.full(100, 3.0)) == 1.0


def an_edge(source: dict[str, Any], at: Bus, **more: Any) -> EdgeEvents:
    """What a run's trace tells of an edge, in ps: a transfer each us on average."""
    given_ = intervals(source, False, 20_000, np.random.default_rng(5))
    crossed = passage(given_.between, given_.service, at)
    moments = {
        "push_ps": crossed.inserted,
        "taken_ps": crossed.taken,
        "delivered_ps": crossed.delivered,
        "pop_ps": crossed.removed,
    }
    kept = {name: np.rint(1e6 * times).astype(np.int64) for name, times in moments.items()}
    return EdgeEvents(StreamEdge("app.a", End("app.p", "y"), End("app.q", "x"), "unsigned32"), **{**kept, **more})


def test_an_edge_of_a_run_is_replayed_over_the_bus_that_its_transfers_tell_of() -> None:
    edge = an_edge({"type": "iid"}, BULKS)
    _, _, told = seen_of(edge)
    assert (told.bulk, told.gap) == (64, 0.0)
    assert told.times == pytest.approx(np.full(20_000 // 64, 16e6))
    assert told.lags == pytest.approx(0, abs=2)
    found, truth = replayed_edge(edge)
    assert found.consistent
    assert distance(found.occupancy.total, truth.total) < 0.05
    events = Events("app", {"app.a": edge, "app.b": replace(edge, taken_ps=None)}, int(edge.pop_ps[-1]))
    asked_for = [Measure("", "", metric, Statistic.MEAN, (label,)) for label in events.edges for metric in Metric]
    asked_for = [one for one in asked_for if one.metric not in (*WITHIN, Metric.VALUE)]
    results, _ = evaluate(Query(tuple(asked_for)), events)
    told = {(result.measure.edges[0], result.measure.metric): result.trust for result in results}
    assert "consistent with what was measured" in told.pop(("app.a", Metric.OCCUPANCY))
    assert set(told.values()) == {COUNTED}
    # pictures: the histogram's cumulative share, and each part counted beside replayed
    hist = Measure("", "", Metric.OCCUPANCY, Statistic.HIST, ("app.a",), bins=tuple(map(float, range(514))))
    (result,), _ = evaluate(Query((hist,)), events)
    whole, before, behind = result.replayed
    assert np.array_equal(whole.counted, truth.total)
    assert np.array_equal(whole.replayed, found.occupancy.total)
    assert distance(before.counted, before.replayed) < 0.05
    assert distance(behind.counted, behind.replayed) < 0.05
    assert distance(whole.counted, whole.without_bus) > 0.3  # Fig. 5.6: without the bus it is wrong
    cumulative, *beside = reply_of(result).curves
    assert cumulative.lines[0].y[-1] == pytest.approx(1)
    assert (np.diff(cumulative.lines[0].y) >= 0).all()
    assert [len(one.lines) for one in (cumulative, *beside)] == [2, 3, 2, 2]
    assert sum(beside[0].lines[1].y) == pytest.approx(1, abs=1e-4)
    assert result.as_json()["replayed"][0]["counted"] == truth.total.tolist()


@pytest.mark.parametrize("into", [True, False], ids=["into", "out"])
def test_a_producer_that_waits_for_room_is_replayed_with_the_room_that_there_is(into: bool) -> None:
    """More than is served comes for a hundred elements or so, then less: replays without rooms are far off."""
    random = np.random.default_rng(2)
    mean_gap = np.where((random.random(20_000) < 0.01).cumsum() % 2, 0.5, 1.5)
    work, service = random.exponential(mean_gap), random.exponential(0.8, 20_000)
    bus = Bus(32, (6.0,), (0.5,), 0.0, 40.0, (64, 64), gathers=into)
    crossed = passage(work, service, bus)
    pushed = np.rint(1e6 * crossed.inserted).astype(np.int64)
    late = np.diff(crossed.inserted) - work[1:] > 1e-3
    spells = np.stack([pushed[1:] - np.rint(1e6 * (np.diff(crossed.inserted) - work[1:])), pushed[1:]], axis=1)
    crossing = Crossing(32, 40_000_000, (64, 64), into)
    edge = an_edge({"type": "iid"}, BULKS, blocked_ps=spells[late].astype(np.int64), crossing=crossing)
    told = {"push_ps": pushed} | {
        f"{name}_ps": np.rint(1e6 * times).astype(np.int64)
        for name, times in (("taken", crossed.taken), ("delivered", crossed.delivered), ("pop", crossed.removed))
    }
    edge = replace(edge, **told)
    assert np.diff(edge.blocked_ps, axis=1).sum() > 0.05 * pushed[-1]
    answer = replayed_edge(edge)
    assert answer is not None
    found, truth = answer
    assert found.consistent, found.verdict
    assert distance(found.occupancy.total, truth.total) < 0.05
    blind = replayed_edge(replace(edge, crossing=None))
    assert blind is not None
    assert distance(blind[0].occupancy.total, truth.total) > 2 * distance(found.occupancy.total, truth.total)
    assert "the producer waited for room" in blind[0].reason


def test_transfers_that_depend_on_one_another_are_replayed_as_neighbours() -> None:
    """Every other transfer has to look first: a queue is fuller behind it than transfers drawn alone say."""
    given_ = intervals({"type": "iid"}, False, 40_000, np.random.default_rng(2))
    times = np.where(np.arange(40_000) // 32 % 2, 2.0, 34.0)
    crossed = passage(given_.between, given_.service, Bus(32, times))
    truth = occupancy(crossed)
    ends = Intervals(given_.between, given_.service)
    bus = Bus(32, times[::32], np.zeros(1250), of=np.arange(40_000) // 32)
    found = estimate(ends, bus, seen(truth))
    (told,) = [d for d in found.dependences if d.is_significant]
    assert told.of == "transfers depend on earlier ones"
    assert (found.draw, found.consistent) == (Draw.BLOCKS, True)
    alone, _ = replayed(ends, bus, {}, Draw.ALONE)
    assert distance(found.occupancy.total, truth.total) < distance(alone.total, truth.total)


def test_a_producer_that_waits_for_room_unknown_is_said_to_depend_on_removals() -> None:
    edge = an_edge({"type": "iid"}, IDEAL, blocked_ps=np.array([[0, 10**9]]))
    assert "the producer waited for room" in across(edge).words


def test_ends_that_saw_too_little_are_said_to_have() -> None:
    edge = an_edge({"type": "iid"}, IDEAL)
    few = replace(edge, pop_ps=edge.pop_ps[:20])
    times = 10 * np.arange(400)  # nothing ever waits, so that no service is known
    idle = replace(edge, push_ps=times, taken_ps=None, delivered_ps=None, pop_ps=times + 5)
    assert across(few).words == across(idle).words == "counted; too few elements passed for a replay"


def test_few_transfers_say_nothing_of_what_they_depend_on() -> None:
    few = Bus(16, np.arange(7.0), np.zeros(7))
    assert not [
        one for one in dependences(intervals(SLOW, False, 100, np.random.default_rng(1)), few) if "transf" in one.of
    ]


def test_what_a_consumer_worked_is_what_it_did_not_wait() -> None:
    times, waiting = np.array([10, 20, 40, 45]), np.array([[5, 8], [12, 15], [30, 40], [40, 42]])
    assert worked(times, waiting)[:3].tolist() == [7, 10, 3]
