"""The call-order skeleton loses nothing, and folds what a host's loops look like."""

from collections.abc import Sequence

import numpy as np
from hypothesis import example, given
from hypothesis import strategies as st
from unfolding import Call, calls_of_rows, unfold

from workbench.formats.tables import check_table
from workbench.model.run_tables import Table
from workbench.run.call_sums import rows_in_order
from workbench.run.skeleton import fold
from workbench.testing.runs import synthetic_run

CALLS = st.lists(st.tuples(st.integers(-1, 3), st.integers(0, 1)), max_size=200)


def folded(calls: Sequence[Call] | np.ndarray) -> Table:
    site, state = np.array(calls, np.int64).reshape(-1, 2).T
    host_ps = 10 * np.arange(len(calls)) + site
    rows = rows_in_order({"block": np.zeros(len(calls), np.int64), "site": site, "state": state, "host_ps": host_ps})
    return fold(*(rows[name] for name in ("site", "state", "repeat", "host_ps")))


@given(CALLS)
@example([])
@example([(0, 0), (1, 0)] * 5 + [(0, 0), (2, 0), (1, 0)] * 5 + [(2, 0), (1, 0)] * 5)
def test_unfolding_gives_back_every_call_in_order(calls: list[Call]) -> None:
    table = folded(calls)
    assert list(unfold(table)) == calls
    own = [10 * n + site for n, (site, _) in enumerate(calls)]
    assert table["host_ps"].tolist() == [sum(own[n] for n in of) for of in calls_of_rows(table)]


@given(st.lists(CALLS.filter(lambda c: 0 < len(c) < 6), min_size=1, max_size=3), st.integers(2, 40))
def test_a_loop_takes_rows_for_its_body_not_for_its_rounds(bodies: list[list[Call]], rounds: int) -> None:
    body = [call for part in bodies for call in part]
    assert len(folded(body * rounds)["site"]) <= 4 * len(body) + 4


def test_rounds_of_a_host_with_twenty_cores_fold_into_one_loop() -> None:
    counts = (20, 20, 20, 33, 20)
    round_ = [(site, 2) for site, count in enumerate(counts) for _ in range(count)]
    table = folded(round_ * 1000)
    own_ps = table.pop("host_ps")
    first = 10 * np.arange(1000)[:, None] * sum(counts) + 10 * np.arange(sum(counts))
    assert own_ps[1] == first[:, :20].sum()
    assert {name: column.tolist() for name, column in table.items()} == {
        "site": [-1, 0, 1, 2, 3, 4],
        "state": [-1, 2, 2, 2, 2, 2],
        "repeat": [1000, *counts],
        "body": [5, 0, 0, 0, 0, 0],
    }


def test_loops_within_loops_are_found() -> None:
    inner = [(0, 2), (1, 2)] * 7
    middle = [*inner, (2, 2)] * 5
    table = folded([*middle, (3, 2), (4, 2)] * 100)
    assert table["repeat"].tolist() == [100, 5, 7, 1, 1, 1, 1, 1]
    assert table["body"].tolist() == [7, 4, 2, 0, 0, 0, 0, 0]


def test_half_a_million_calls_without_order_are_folded_and_read() -> None:
    """Nothing is quadratic: neither where nothing repeats, nor where a loop stands at every second call."""
    rng = np.random.default_rng(5)
    site = rng.integers(0, 3, 500_000)
    table = folded(np.stack([site, np.full(len(site), 2)], axis=1))
    loops = table["body"] > 0
    assert loops.sum() > 10_000
    check_table(
        "call_order", {**table, "block": np.zeros(len(loops), np.int32)}, synthetic_run(cores=1, rounds=1).manifest
    )
    assert np.array_equal(np.fromiter((call[0] for call in unfold(table)), np.int64), site)
