"""How late each node of a graph may end: exactly so late, and no later."""

from fractions import Fraction
from itertools import chain

import numpy as np
import pytest

from workbench.replay.engine import PLAIN, POLLS, POLLS_ROW, TRANSFER, Graph

NODES = 60


def random_graph(seed: int, polls: bool) -> Graph:
    """Nodes on two clocks and a bus, the last one in picoseconds; some of them polls."""
    random = np.random.default_rng(seed)
    kind = random.choice([PLAIN, PLAIN, TRANSFER, POLLS if polls else PLAIN], NODES).astype(np.uint8)
    kind[:3] = kind[-1] = PLAIN
    domain = np.where(kind == PLAIN, random.integers(0, 3, NODES), 0).astype(np.uint8)
    domain[-1] = 0
    causes = [[], *(random.choice([*range(n), *(~k for k in range(n))], 2).tolist() for n in range(1, NODES))]
    first = np.append(0, np.cumsum([len(some) for some in causes])).astype(np.int64)
    asks = np.flatnonzero(kind == POLLS)
    extra = np.where(kind == TRANSFER, 0, -1).astype(np.int32)
    extra[asks] = np.arange(len(asks))
    rows = np.zeros(len(asks), POLLS_ROW)
    rows["gap_ps"], rows["sample_ps"], rows["clock"] = 70, 25, 1
    rows["gap_count"], rows["gap_first"] = 2, np.arange(len(asks)) * 2
    work = np.where(domain == 0, random.integers(20, 300, NODES), random.integers(1, 30, NODES)).astype(np.int64)
    return Graph(
        first, np.array(list(chain(*causes)), np.int32), random.integers(0, 9, first[-1]), work, kind, domain, extra,
        (Fraction(10), Fraction(7, 3)), 1, rows, random.integers(10, 90, 2 * len(asks)),
        np.zeros(len(asks), np.int32),
    )  # fmt: skip


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("polls", [False, True])
def test_a_node_may_end_so_late_and_no_later(polls: bool, seed: int) -> None:
    graph = random_graph(seed, polls)
    order, last = graph.sweep_in_time(), NODES - 1
    assert order is not None
    total = int(graph.end[last])
    slack = graph.latest(last, order)[1] - graph.end
    assert slack[last] == 0
    assert (slack >= 0).all()
    ends, tight = graph.end.copy(), 0
    for node in np.flatnonzero(graph.kind != POLLS).tolist():
        work = graph.work[node]
        for longer in {1, int(slack[node]) // 3, int(slack[node])} - {int(slack[node]) + 1}:
            graph.work[node] = work + min(longer, slack[node])
            graph.sweep(order)
            assert graph.end[last] <= total, node
        graph.work[node] = work + slack[node] + 1
        graph.sweep(order)
        period_ps = graph.periods_ps[graph.domain[node] - 1] if graph.domain[node] else 1
        waited_for = (ends[node] + slack[node]) * period_ps <= total
        assert polls or not waited_for or graph.end[last] > total, node
        tight += waited_for
        graph.work[node] = work
    graph.sweep(order)
    assert tight > 5


@pytest.mark.parametrize("seed", range(6))
def test_polls_may_begin_so_late(seed: int) -> None:
    """Later by any time up to that, when their answer may be late as well: they are asked at other moments then."""
    graph = random_graph(seed, polls=True)
    order, last = graph.sweep_in_time(), NODES - 1
    total, begun = int(graph.end[last]), graph.begin.copy()
    slack = graph.latest(last, order)[0] - begun
    for node in np.flatnonzero(graph.kind == POLLS).tolist():
        edges = slice(graph.cause_first[node], graph.cause_first[node + 1] - 1)
        lags = graph.lag[edges].copy()
        for late in np.linspace(0, slack[node], 20).astype(np.int64).tolist():
            graph.lag[edges] = lags + late
            graph.sweep(order)
            if graph.begin[node] <= begun[node] + slack[node]:
                assert graph.end[last] <= total, node
        graph.lag[edges] = lags
    graph.sweep(order)


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("polls", [False, True])
def test_a_graph_in_another_order_has_the_same_times(polls: bool, seed: int) -> None:
    """Also when lags change, which are found by the edges' new positions."""
    graph, random = random_graph(seed, polls), np.random.default_rng(seed)
    order = graph.sweep_in_time()
    assert order is not None
    other, place = graph.reordered(order)
    for _ in range(5):
        other.sweep()
        assert other.end.tolist() == graph.end[order].tolist()
        graph.lag[:] = random.integers(0, 40, len(graph.lag))
        other.lag[place] = graph.lag
        graph.polls["asked"] = -1
        other.sweep()
        assert (graph.polls["asked"] == -1).all()  # each has its own
        graph.sweep(order)
