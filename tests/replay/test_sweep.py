"""The sweep over a graph: small ones by hand."""

from collections.abc import Sequence
from fractions import Fraction

import numpy as np

from workbench.replay.engine import PLAIN, POLLS, POLLS_ROW, TRANSFER, Graph

NS = 1000


def graph(nodes: Sequence[tuple[int, int, int, int]], edges: Sequence[tuple[int, int, int]], **more: object) -> Graph:
    """Of nodes (kind, domain, work, extra) and edges (to, from, lag), in order of `to`, on clocks of 10 and 20/3 ns and
    one bus."""
    kind, domain, work, extra = np.array(nodes, np.int64).T
    to, source, lag = np.array(edges, np.int64).T
    first = np.append(0, np.cumsum(np.bincount(to, minlength=len(nodes)))).astype(np.int64)
    periods_ps = [Fraction(10 * NS), Fraction(20 * NS, 3)]
    return Graph(
        first, source.astype(np.int32), np.ascontiguousarray(lag), np.ascontiguousarray(work), kind.astype(np.uint8),
        domain.astype(np.uint8), extra.astype(np.int32), periods_ps, 1, **more,
    )  # fmt: skip


def test_a_lag_between_two_clocks_is_cycles_of_the_one_who_waits() -> None:
    one = graph([(PLAIN, 0, 0, -1), (PLAIN, 1, 2, -1), (PLAIN, 2, 5, -1)], [(1, 0, 17), (2, 1, 2)])
    assert one.sweep_in_time() is not None
    assert one.end[1] == 19  # at 190 ns, in the other clock's cycle 28
    assert (one.begin[2], one.end[2]) == (30, 35)


def polls_beside(transfers: Sequence[int], event: int, alone: bool) -> Graph:
    """A row of polls of 300 ns, 700 ns apart, that ends with an event in a cycle of the first clock, beside another
    thread's transfers of 400 ns that ask at these times."""
    count = len(transfers)
    nodes = [(PLAIN, 0, 0, -1), (POLLS, 0, 300 * NS, 0), *[(TRANSFER, 0, 400 * NS, 0)] * count, (PLAIN, 1, 0, -1)]
    edges = [(1, 0, 0), (1, 2 + count, 0), *((2 + n, 0, ps) for n, ps in enumerate(transfers)), (2 + count, 0, event)]
    rows = np.zeros(1, POLLS_ROW)
    rows["gap_ps"], rows["sample_ps"], rows["clock"] = 700 * NS, 300 * NS, 1
    return graph(nodes, edges, polls=rows, bus_of_polls=np.zeros(1, np.int32), alone=alone)


def test_others_have_the_bus_between_two_polls() -> None:
    one = polls_beside([500 * NS, 900 * NS], event=250, alone=False)
    assert one.sweep_in_time() is not None
    assert one.begin[[2, 3]].tolist() == [500 * NS, 900 * NS]
    # the second poll waits for the bus from 1000 to 1300, the third one asks at 2300 and sees what came in cycle 250
    assert (one.begin[1], one.end[1], one.polls["asked"][0]) == (0, 2600 * NS, 3)


def test_a_row_of_one_thread_alone_is_found_at_once() -> None:
    one = polls_beside([], event=250, alone=True)
    order = one.sweep_in_time()
    assert order is not None
    assert (one.end[1], one.polls["asked"][0]) == (3300 * NS, 4)
    one.end[:] = 0
    one.sweep(order)
    assert one.end[1] == 3300 * NS


def test_polls_for_what_comes_only_after_them_are_no_order() -> None:
    nodes = [(PLAIN, 0, 0, -1), (POLLS, 0, 300 * NS, 0), (PLAIN, 1, 0, -1)]
    rows = np.zeros(1, POLLS_ROW)
    rows["gap_ps"], rows["sample_ps"], rows["clock"] = 700 * NS, 300 * NS, 1
    for alone in (True, False):
        one = graph(
            nodes, [(1, 0, 0), (1, 2, 0), (2, 1, 0)], polls=rows, bus_of_polls=np.zeros(1, np.int32), alone=alone
        )
        assert one.sweep_in_time() is None
