"""Intervals of dummy messages for splits and joins (Li and others, SPAA 2010): by hand, and by running the network."""

from collections import deque
from itertools import product

import pytest
from rc_workbench_plugins.streaming.dummies import advice, dummy_intervals

from workbench.model.topology import BlockKind, End, StreamBlock, StreamEdge, Topology


def topology_of(*edges: tuple[str, str, str, int]) -> Topology:
    made = tuple(
        StreamEdge(f"App.{label}", End(f"App.{one}", label), End(f"App.{other}", label), "unsigned64", depth)
        for label, one, other, depth in edges
    )
    names = dict.fromkeys(end.block for edge in made for end in (edge.source, edge.sink))
    return Topology("App", tuple(StreamBlock(name, BlockKind("", ())) for name in names), made)


def found(*edges: tuple[str, str, str, int]) -> dict[str, tuple[int | None, int]]:
    intervals = dummy_intervals(topology_of(*edges))
    assert intervals is not None
    return {one.edge.label.removeprefix("App."): (one.passed_on, one.each) for one in intervals}


def test_blastn() -> None:
    """Fig. 6.24: the database's edge goes round stage 1b."""
    edges = ("words", "1a", "1b", 64), ("hits", "1b", "2a", 64), ("db", "1a", "2a", 256), ("out", "2a", "report", 64)
    assert found(*edges) == {"words": (256, 128), "hits": (None, 128), "db": (128, 128)}
    topology = topology_of(*edges)
    said = advice(topology, [edge for edge in topology.edges if edge.label in ("App.words", "App.hits")])
    assert said.startswith("let 1a send a dummy message on words after at most 256 elements")
    assert said.endswith("without output: words 128, hits 128")
    assert advice(topology, [topology.edges[-1]]) == ""


def test_the_least_of_several_ways_counts_and_those_within_have_their_own() -> None:
    """A split of three, one way of which is a split and join of its own."""
    assert found(
        ("a", "s", "j", 10), ("b", "s", "j", 20), ("c", "s", "p", 5),
        ("d", "p", "q", 3), ("e", "p", "q", 4), ("f", "q", "j", 7),
    ) == {
        "a": (15, 15),  # along c, d, f: 5 + 3 + 7; along b it is 20
        "b": (10, 10),
        "c": (10, 3),  # a holds 10; three edges on the way
        "d": (4, 3),
        "e": (3, 3),
        "f": (None, 3),
    }  # fmt: skip


@pytest.mark.parametrize(
    "edges",
    [
        (("a", "x", "y", 4), ("b", "y", "z", 4)),  # a pipeline
        (("a", "x", "y", 4), ("b", "y", "x", 4)),  # what goes round has no split
        (("a", "x", "z", 4), ("b", "y", "z", 4)),  # two sources that meet
    ],
)
def test_others_need_none(edges: tuple[tuple[str, str, str, int], ...]) -> None:
    assert found(*edges) == {}


def runs_to_its_end(way: int, other: int, interval: int, each: bool) -> bool:
    """Whether a split whose way of three edges lets nothing through, and whose other one has an edge with room for
    `other`, comes to its end: whoever can go on does. What passes is an element's number; a dummy message is one."""
    queues, last = [deque[int]() for _ in range(3)], [-1, -1, -1]
    straight, at, joined = deque[int](), 0, -1
    count = 20 * (other + way)
    due: list[int] = []  # the split's dummy message, before it goes on
    while True:
        moved = False
        if due and len(queues[0]) < way:
            queues[0].append(due.pop())
            moved = True
        elif not due and at < count and len(straight) < other:
            straight.append(at)
            if at - last[0] >= interval:
                due, last[0] = [at], at
            at += 1
            moved = True
        for n in (1, 2):
            if queues[n - 1] and len(queues[n]) < way:
                number = queues[n - 1].popleft()
                if not each or number - last[n] >= interval:
                    queues[n].append(number)
                    last[n] = number
                moved = True
        if queues[2] and joined < (straight[0] if straight else count):
            joined = queues[2].popleft()
            moved = True
        if straight and straight[0] <= joined:
            straight.popleft()
            moved = True
        if not moved:
            return at == count


@pytest.mark.parametrize(("way", "other"), list(product((2, 8), (3, 6, 30))))
def test_a_network_that_keeps_them_does_not_deadlock(way: int, other: int) -> None:
    """Blocks that let nothing through: with the intervals the split gets to its last element, with longer ones not."""
    edges = ("a", "s", "p", way), ("b", "p", "q", way), ("c", "q", "j", way), ("d", "s", "j", other)
    passed_on, each = found(*edges)["a"]
    assert (passed_on, each) == (other, other // 3)
    assert runs_to_its_end(way, other, other, each=False)
    assert not runs_to_its_end(way, other, other + 1, each=False)
    assert runs_to_its_end(way, other, other // 3, each=True)
    assert not runs_to_its_end(way, other, 10 * other, each=True)
