"""Words replayed with other depths: a source, a FIFO and who takes from it, of which each word's times are known."""

import itertools
from collections.abc import Mapping

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from workbench.model.run_tables import Table
from workbench.model.streams import Fifo, Stream, StreamWait
from workbench.replay.depths import FAILED, front
from workbench.replay.traffic import Traffic, traffic_of
from workbench.replay.words import WordReplay

STREAMS = (
    Stream("top.giver.out", "top.giver", "top.fifo", "stream", 32, "clk", "v", "r"),
    Stream("top.fifo.out", "top.fifo", "top.taker", "stream", 32, "clk", "v", "r"),
)
FIFOS = (Fifo("top.fifo", "fifo", 0, 1, 4),)
Times = list[tuple[int, int]]


def passed(times: Times, depth: int) -> tuple[Table, int]:
    """Each word takes so many cycles to give and so many to take; `depth` words wait between. The table, and the cycle
    of the last transfer."""
    push, pop, rows = [-1], [-1], []
    ready_at = 0
    for n, (give, take) in enumerate(times):
        offered = push[-1] + give
        room = pop[n - depth + 1] + 1 if n >= depth else 0
        push.append(max(offered, room, push[-1] + 1))
        rows.append((0, push[-1], max(room, push[-2] + 1) - offered))
        there = max(push[-1] + 1, pop[-1] + 1)
        pop.append(max(there, ready_at))
        rows.append((1, pop[-1], ready_at - there))
        ready_at = pop[-1] + take
    columns = np.array(rows)
    return {"stream": columns[:, 0], "cycle": columns[:, 1], "early": columns[:, 2]}, pop[-1]


def traffic(times: Times, depth: int) -> Traffic:
    return traffic_of(passed(times, depth)[0], STREAMS, FIFOS, {"clk": 100e6})


@given(st.lists(st.tuples(st.integers(1, 9), st.integers(1, 9)), min_size=1, max_size=40), st.integers(1, 6))
def test_any_depth_takes_what_it_takes(times: Times, depth: int) -> None:
    words = WordReplay(traffic(times, depth), {0: depth}, [traffic(times, 1000)])
    assert words.why == []
    base = words.replay({})
    assert words.wrong(base) == [0, 0]
    for other in range(1, 9):
        assert words.replay({0: other}).cycles == passed(times, other)[1]


def test_what_a_run_held_is_its_room_where_it_held_its_source_up() -> None:
    words = WordReplay(traffic([(1, 4)] * 40, 3), {})
    assert words.replay({}).cycles == passed([(1, 4)] * 40, 3)[1]


def test_a_block_that_does_the_same_at_other_times_is_told() -> None:
    """It takes longer for each word where the FIFO is deeper, for no reason that its streams show."""
    words = WordReplay(traffic([(2, 3)] * 20, 4), {0: 4}, [traffic([(3, 5)] * 20, 4)])
    assert any("top.giver" in why for why in words.why)
    assert any("top.taker" in why for why in words.why)


def test_many_words_are_replayed() -> None:
    count = 20_000
    draw = np.random.default_rng(1)
    times = list(zip(draw.integers(1, 5, count).tolist(), draw.integers(1, 5, count).tolist(), strict=True))
    words = WordReplay(traffic(times, 4), {0: 4})
    assert words.replay({0: 2}).cycles == passed(times, 2)[1]


@given(st.tuples(*[st.integers(1, 6)] * 2), st.tuples(*[st.integers(1, 9)] * 2), st.booleans())
def test_the_front_is_what_no_other_depths_beat(needed: tuple[int, int], bits: tuple[int, int], stuck: bool) -> None:
    def cycles_of(depths: Mapping[str, int]) -> int:
        if stuck and depths["a"] < needed[0]:
            return FAILED
        return 100 + 10 * max(0, needed[0] - depths["a"]) + 3 * max(0, needed[1] - depths["b"])

    found = front({"a": 6, "b": 6}, {"a": bits[0], "b": bits[1]}, cycles_of)
    every = [
        (cycles_of({"a": a, "b": b}), bits[0] * a + bits[1] * b) for a, b in itertools.product(range(1, 8), repeat=2)
    ]
    ends = {one for one in every if one[0] < FAILED and not any(
        other != one and other[0] <= one[0] and other[1] <= one[1] for other in every)}  # fmt: skip
    assert {(one.cycles, one.bits) for one in found} == ends


@pytest.mark.parametrize("most", [300, 4000])
def test_many_combinations_are_gone_through_step_by_step(most: int) -> None:
    def cycles_of(depths: Mapping[str, int]) -> int:
        return 1000 + sum(max(0, 200 - words) for words in depths.values())

    found = front({"a": most, "b": most, "c": most}, {"a": 8, "b": 32, "c": 32}, cycles_of)
    assert found[0].cycles == 1000
    assert found[0].bits <= 1.05 * 72 * 200
    assert dict(found[-1].depths) == {"a": 1, "b": 1, "c": 1}


PIPE = (
    Stream("top.giver.out", "top.giver", "top.first", "stream", 32, "clk", "v", "r"),
    Stream("top.first.out", "top.first", "top.pipe", "stream", 32, "clk", "v", "r",
           waits=(StreamWait("ready", 2, "ready"),)),
    Stream("top.pipe.out", "top.pipe", "top.second", "stream", 32, "clk", "v", "r"),
    Stream("top.second.out", "top.second", "top.taker", "stream", 32, "clk", "v", "r"),
)  # fmt: skip
AROUND = (Fifo("top.first", "fifo", 0, 1, 4), Fifo("top.second", "fifo", 2, 3, 4))


def piped(times: Times, latency: int, depths: tuple[int, int]) -> Table:
    """The same with a pipeline between two FIFOs, cycle by cycle: it moves unless its last word is not taken."""
    stages, held, done = [False] * latency, [0, 0], [0, 0, 0, 0]
    since = [[0, 0] for _ in PIPE]  # from which cycle on each is offered, and would be taken
    rows, rest, busy, cycle = [], times[0][0] - 1, 0, 0
    while done[3] < len(times):
        moves = not stages[-1] or held[1] < depths[1]
        now = [
            (done[0] < len(times) and rest == 0, held[0] < depths[0]),
            (held[0] > 0, moves),
            (stages[-1], held[1] < depths[1]),
            (held[1] > 0, busy == 0),
        ]
        for stream, sides in enumerate(now):
            for side, high in enumerate(sides):
                if not high:
                    since[stream][side] = cycle + 1
        passes = [offers and takes for offers, takes in now]
        for stream, passed_now in enumerate(passes):
            if passed_now:
                rows.append((stream, cycle, since[stream][1] - since[stream][0]))
                since[stream] = [cycle + 1, cycle + 1]
                done[stream] += 1
        if moves:
            stages = [passes[1], *stages[:-1]]
        held = [held[0] + passes[0] - passes[1], held[1] + passes[2] - passes[3]]
        rest = times[done[0]][0] - 1 if passes[0] and done[0] < len(times) else max(0, rest - 1)
        busy = times[done[3] - 1][1] - 1 if passes[3] else max(0, busy - 1)
        cycle += 1
    columns = np.array(sorted(rows))
    return {"stream": columns[:, 0], "cycle": columns[:, 1], "early": columns[:, 2]}


@given(
    st.lists(st.tuples(st.integers(1, 6), st.integers(1, 6)), min_size=8, max_size=30), st.integers(1, 5),
    st.tuples(st.integers(1, 4), st.integers(1, 4)),
)  # fmt: skip
def test_a_pipeline_stands_still_as_a_whole(times: Times, latency: int, other: tuple[int, int]) -> None:
    built, ample = (
        traffic_of(piped(times, latency, depths), PIPE, AROUND, {"clk": 100e6}) for depths in ((2, 2), (500, 500))
    )
    words = WordReplay(ample, {0: 0, 1: 0}, [built])
    assert words.why == []
    assert words.wrong(words.replay({})) == [0] * 4
    truth = int(piped(times, latency, other)["cycle"].max())
    assert words.replay(dict(enumerate(other))).cycles == truth
