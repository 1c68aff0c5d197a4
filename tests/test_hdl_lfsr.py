"""Counts kept as shift-register values come back as numbers."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from workbench.api.instrument.lfsr import TAPS, counts, register_after


@pytest.mark.parametrize("bits", [bits for bits in TAPS if bits <= 9])
def test_every_count_of_a_short_register(bits: int) -> None:
    values = np.array([register_after(k, bits) for k in range((1 << bits) - 1)], dtype=np.uint64)
    assert len(set(values.tolist())) == (1 << bits) - 1, "the taps are not of maximal length"
    assert counts(values, bits).tolist() == list(range((1 << bits) - 1))


@settings(max_examples=30)
@given(st.lists(st.integers(0, (1 << 36) - 2), min_size=1, max_size=20))
def test_a_step_of_the_register_adds_one(values: list[int]) -> None:
    tap, mask = TAPS[36], (1 << 36) - 1
    after = [(v << 1 & mask) | 1 ^ (v >> 35 & 1) ^ (v >> (tap - 1) & 1) for v in values]
    before = counts(np.array(values, dtype=np.uint64), 36)
    assert counts(np.array(after, dtype=np.uint64), 36).tolist() == [(n + 1) % ((1 << 36) - 1) for n in before.tolist()]


def test_the_first_counts_and_their_shape() -> None:
    values = np.array([[register_after(k, 36) for k in (0, 1, 2)], [register_after(k, 36) for k in (40, 1000, 70_000)]])
    assert counts(values.astype(np.uint64), 36).tolist() == [[0, 1, 2], [40, 1000, 70_000]]


def test_a_value_that_is_never_reached_is_refused() -> None:
    with pytest.raises(ValueError, match="all ones"):
        counts(np.array([(1 << 36) - 1], dtype=np.uint64), 36)
