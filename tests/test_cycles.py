"""Cycles on the virtual clock are exact: starts are rational, times their differences, and blocks sum to the run."""

from fractions import Fraction

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from workbench.model.cycles import cycle_start_ps, cycle_starts_ps, period_ps
from workbench.run.collect import state_times_ps

ODD_HZ = 133.3e6


def tables(blocks: list[list[int]], last: list[int]) -> tuple[dict[str, np.ndarray], dict[str, np.ndarray]]:
    """`state_time` and `transitions` of blocks whose states lasted so many cycles, once each; `last` ended them."""
    rows = [(b, s, cycles) for b, states in enumerate(blocks) for s, cycles in enumerate(states)]
    block, state, cycles = (np.array(column) for column in zip(*rows, strict=True))
    times = {"block": block, "state": state, "cycles": cycles, "visits": np.ones(len(rows), dtype=np.int64)}
    left = [(b, s) for b, states in enumerate(blocks) for s in range(len(states)) if s != last[b]]
    moves = {
        "block": np.array([b for b, _ in left], dtype=np.int64),
        "from_state": np.array([s for _, s in left], dtype=np.int64),
        "count": np.ones(len(left), dtype=np.int64),
    }
    return times, moves


def test_a_frequency_is_taken_as_it_is_written() -> None:
    assert period_ps(ODD_HZ) == Fraction(10**12, 133_300_000)
    assert period_ps(133333333.33) == Fraction(10**14, 13_333_333_333)


@given(st.lists(st.integers(0, 2**40), min_size=1), st.sampled_from([100e6, ODD_HZ, 133333333.33, 66666666.666666664]))
def test_starts_are_the_first_whole_picoseconds(cycles: list[int], clock_hz: float) -> None:
    starts = cycle_starts_ps(np.array(cycles, dtype=np.int64), clock_hz)
    for cycle, start in zip(cycles, starts.tolist(), strict=True):
        exact = cycle * Fraction(10**12) / Fraction(str(clock_hz))
        assert exact <= start < exact + 1
        assert start == cycle_start_ps(cycle, clock_hz)


@given(st.data())
def test_blocks_on_any_clocks_last_as_long_as_the_run_and_each_state_its_own_cycles(data: st.DataObject) -> None:
    total_ps = data.draw(st.integers(10**6, 10**16))
    clocks = data.draw(st.lists(st.sampled_from([100e6, ODD_HZ, 66666666.666666664]), min_size=2, max_size=4))
    blocks, rest_ps = [], []
    for clock_hz in clocks:
        total = int(total_ps / period_ps(clock_hz))  # the whole cycles of that clock
        rest_ps.append(total_ps - cycle_start_ps(total, clock_hz))
        cuts = sorted(data.draw(st.lists(st.integers(0, total), min_size=0, max_size=5)))
        blocks.append([b - a for a, b in zip([0, *cuts], [*cuts, total], strict=True)])
    last = [data.draw(st.integers(0, len(states) - 1)) for states in blocks]
    times, moves = tables(blocks, last)
    spent = state_times_ps(times, moves, total_ps, clocks)
    for block, states in enumerate(blocks):
        mine = spent[times["block"] == block]
        assert mine.sum() == total_ps
        for state, (cycles, ps) in enumerate(zip(states, mine.tolist(), strict=True)):
            alone = cycle_start_ps(cycles, clocks[block]) + (rest_ps[block] if state == last[block] else 0)
            assert abs(ps - alone) <= 1
