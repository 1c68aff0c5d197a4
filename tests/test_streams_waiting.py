"""Who waits for whom along streams that stand still, and which cycle of it is told."""

import networkx
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from workbench.api.streams import HOST, Waiting, shortest_cycle, stuck, waiting
from workbench.model.streams import Stream


def stream(source: str, target: str) -> Stream:
    return Stream(f"{source}.{target}", source, target, "stream", 8, "clk", "v", "r")


def test_a_source_that_is_not_taken_waits_and_so_does_a_target_without_an_offer() -> None:
    streams = (stream("a", "b"), stream("b", "c"), stream("c", ""), stream("", "a"))
    found = waiting(streams, [True, False, True, True], [False, True, False, True])
    assert [(w.who, w.whom) for w in found] == [("a", "b"), ("c", "b"), ("c", HOST)]


@settings(suppress_health_check=[HealthCheck.too_slow])
@given(st.lists(st.tuples(st.integers(0, 6), st.integers(0, 6), st.booleans()), max_size=20))
def test_it_is_a_shortest_cycle_with_an_offer_in_it_where_there_is_one(ends: list[tuple[int, int, bool]]) -> None:
    waits = [Waiting(str(who), str(whom), n, offers) for n, (who, whom, offers) in enumerate(ends) if who != whom]
    offered = {(w.who, w.whom) for w in waits if w.offers}
    rounds = list(networkx.simple_cycles(networkx.DiGraph((w.who, w.whom) for w in waits)))
    with_offer = [nodes for nodes in rounds if offered & set(zip(nodes, (*nodes[1:], nodes[0]), strict=True))]
    found = shortest_cycle(waits)
    assert any(wait.offers for wait in found) == bool(with_offer)
    assert len(found) == min(map(len, with_offer or rounds), default=0)
    assert all(one.whom == next_.who for one, next_ in zip(found, (*found[1:], *found[:1]), strict=True))


@pytest.mark.parametrize("offers", [True, False])
def test_waiting_for_the_host_alone_is_no_deadlock(offers: bool) -> None:
    said = stuck((stream("a", ""),), (), [offers], [not offers], 5)
    assert "deadlock" not in said.message
    assert "from cycle 5 on" in said.message
