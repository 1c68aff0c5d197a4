"""The call-order skeleton loses nothing, and folds what a host's loops look like."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from workbench.run.skeleton import Node, fold, from_table, to_table, unfold

CALLS = st.lists(st.tuples(st.integers(0, 3), st.integers(0, 1)), max_size=200)


@given(CALLS)
def test_unfolding_gives_back_every_call_in_order(calls: list[tuple[int, int]]) -> None:
    nodes = fold(calls)
    assert list(unfold(nodes)) == calls
    assert from_table(to_table(nodes)) == nodes


@given(st.lists(CALLS.filter(lambda c: 0 < len(c) < 6), min_size=1, max_size=3), st.integers(2, 40))
def test_a_loop_takes_rows_for_its_body_not_for_its_rounds(bodies: list[list[tuple[int, int]]], rounds: int) -> None:
    body = [call for part in bodies for call in part]
    assert len(to_table(fold(body * rounds))["site"]) <= 4 * len(body) + 4


def test_rounds_of_a_host_with_twenty_cores_fold_into_one_loop() -> None:
    clear, write, start, poll, read = ((site, 2) for site in range(5))
    round_ = [clear] * 20 + [write] * 20 + [start] * 20 + [poll] * 33 + [read] * 20
    nodes = fold(round_ * 1000)
    assert nodes == [
        Node(
            None,
            1000,
            (Node(clear, 20), Node(write, 20), Node(start, 20), Node(poll, 33), Node(read, 20)),
        )
    ]
