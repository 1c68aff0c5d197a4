"""A block's course through its states is as its profile says: each change as often, each state as long."""

from collections import Counter
from itertools import pairwise

import numpy as np
import pytest

from workbench.replay.courses import Course, HostWords, Turns
from workbench.replay.walks import fitted, lengths, walk

IDLE, CLEAR, MULTIPLY = range(3)


def profile(states: list[int], lasts: list[int]) -> dict[str, dict[str, np.ndarray]]:
    """The tables of one block, number 0, that went through these states."""
    links = Counter(pairwise(states))
    stays = Counter((state, last.bit_length() - 1) for state, last in zip(states, lasts, strict=True))
    cycles = Counter()
    for state, last in zip(states, lasts, strict=True):
        cycles[state, last.bit_length() - 1] += last
    visits = Counter(states)

    def table(columns: dict[str, list[int]]) -> dict[str, np.ndarray]:
        columns = {"block": [0] * len(next(iter(columns.values()))), **columns}
        return {name: np.array(values, np.int64) for name, values in columns.items()}

    return {
        "state_time": table({"state": list(visits), "visits": list(visits.values())}),
        "transitions": table(
            {"from_state": [a for a, _ in links], "to_state": [b for _, b in links], "count": list(links.values())}
        ),
        "dwell": table(
            {"state": [s for s, _ in stays], "log2_cycles": [n for _, n in stays], "count": list(stays.values()),
             "cycles": [cycles[key] for key in stays]}
        ),
    }  # fmt: skip


def test_rounds_that_are_alike_are_found_as_they_were():
    states = [IDLE, *([MULTIPLY, CLEAR] * 5 + [MULTIPLY, IDLE]) * 3]
    tables = profile(states, [7] * len(states))
    found = walk(0, tables)
    assert found is not None
    assert found.tolist() == states


@pytest.mark.parametrize("seed", range(20))
def test_any_course_is_followed_with_each_change_as_often_as_it_was(seed: int):
    random = np.random.default_rng(seed)
    states = [0]
    while len(states) < 200:
        states.append(int(random.choice([s for s in range(5) if s != states[-1]])))
    lasts = random.integers(1, 1000, len(states)).tolist()
    tables = profile(states, lasts)
    found = walk(0, tables)
    assert found is not None
    assert Counter(pairwise(found.tolist())) == Counter(pairwise(states))
    for generator in (None, random):
        made = profile(found.tolist(), lengths(0, found, tables["dwell"], generator).tolist())
        assert sum_of(made) == sum_of(tables)


def sum_of(tables: dict[str, dict[str, np.ndarray]]) -> list[tuple[int, ...]]:
    names = ("state", "log2_cycles", "count", "cycles")
    return sorted(zip(*(tables["dwell"][name].tolist() for name in names), strict=True))


def test_changes_that_make_no_walk_are_told():
    tables = profile([0, 1, 0], [1, 1, 1])
    tables["transitions"]["count"][0] = 9
    assert walk(0, tables) is None
    apart = profile([0, 1, 0], [1, 1, 1])
    apart["state_time"] = {name: np.append(values, 3) for name, values in apart["state_time"].items()}
    apart["state_time"]["block"][-1] = 0
    assert walk(0, apart) is None


def test_work_is_as_long_as_answers_say_and_in_all_as_before():
    lasts = np.array([100, 100, 400])
    low, high = np.array([350, 90, 50]), np.array([420, 150, 130])
    found = fitted(lasts, np.zeros(3, np.int64), np.arange(3), low, high)
    assert found.tolist() == [400, 100, 100]
    low, high = np.array([90, 90, 90]), np.array([150, 500, 100])
    found = fitted(np.array([200, 200, 200]), np.zeros(3, np.int64), np.arange(3), low, high)
    assert found.sum() == 600
    assert ((found >= low) & (found <= high)).all()


def test_two_blocks_that_hand_over_wait_for_one_another():
    """A maker of 3 cycles and a taker of 5: 0 makes, 1 hands over; 0 awaits, 1 takes."""
    maker = Course(0, 0, [0, 1, 0, 1, 0], [3] * 5, frozenset({1}))
    taker = Course(1, 0, [0, 1, 0, 1, 0], [5] * 5, frozenset({0}))
    maker.sources = {1: Turns([taker], 0, False, [1])}
    taker.sources = {0: Turns([maker], 1, False, [1])}
    while any([maker.go_on(), taker.go_on()]):
        pass
    assert maker.begin == [0, 3, 4, 7, 10]
    assert taker.begin == [0, 4, 9, 10, 15]


def test_words_that_come_while_a_block_works_are_lost_on_it():
    block = Course(0, 0, [0, 1, 0, 1, 0], [10] * 5, frozenset({0}))
    block.sources = {0: HostWords([5, 8, 30], 1, queued=False)}
    block.go_on()
    assert block.begin == [0, 6, 16, 31, 41]
