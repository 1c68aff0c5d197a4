"""Waits of the FPGA's blocks for one another: whom they are for, by order, at barriers and behind one who serves."""

from types import SimpleNamespace

import numpy as np

from workbench.hdl.verilog.cones import has_waits
from workbench.model.blocks import Block, Side, State
from workbench.model.pragma import Category
from workbench.replay.cones import Cones, Ends, possible_waits
from workbench.replay.events import STAY, Events
from workbench.replay.order import _all_of
from workbench.replay.servers import Services, _kinds, _served

WORK, WAIT, SEND = Category.WORK, Category.WAIT_RECV, Category.SEND


def given(*times: int, first: int = 0) -> Events:
    count = len(times)
    return Events(STAY, np.array(times), np.arange(first, first + count), np.full(count, -1))


def block(name: str, *states: tuple[Category, tuple[str, ...]], unmarked: tuple[str, ...] = ()) -> Block:
    marked = [State(n, f"s{n}", category, depends=depends) for n, (category, depends) in enumerate(states, 1)]
    return Block(name, Side.FPGA, name, "process", name, states=(State(0, "unclassified", depends=unmarked), *marked))


def test_who_waits_at_a_barrier_waits_for_the_last_of_all() -> None:
    matched = _all_of(np.array([0, 1, 0, 1]), 2, [given(10, 40), given(30, 35, first=5)], 0)
    assert matched is not None
    assert matched.time.tolist() == [30, 40, 30, 40]
    assert matched.sources.tolist() == [[0, 1, 0, 1], [5, 6, 5, 6]]
    assert _all_of(np.array([0, 1]), 2, [given(10, 40), given(30)], 0) is not None  # the last one is still to come
    assert _all_of(np.array([0, 1, 2]), 3, [given(10, 40, 50), given(30)], 0) is None


def test_a_wait_ends_by_blocks_behind_those_that_only_pass_on() -> None:
    blocks = [
        block("worker", (WORK, ()), (WAIT, ("port", "arbiter"))),
        block("port", (SEND, ("$CPU",)), unmarked=("$CPU",)),
        block("arbiter", unmarked=("worker", "other")),
        block("other", (WORK, ()), (WAIT, ("arbiter",))),
    ]
    cones = Cones(blocks, (0, 1, 3))
    assert cones.ends(0, 2) == Ends((3,), host=True, itself=True)
    assert cones.ends(3, 2) == Ends((0,), itself=True)
    assert cones.ends(0, 1) == Ends()


def test_a_block_that_only_passes_data_on_waits_while_others_hold_its_state() -> None:
    """A status flag is taken as data for as long as it is up: it ends by the worker, not by itself."""
    blocks = [
        block("worker", (WORK, ()), unmarked=()),
        block("flag", (Category.RECV, ("worker",)), unmarked=("worker",)),
    ]
    assert has_waits(blocks)
    assert not has_waits(blocks[:1])
    run = SimpleNamespace(manifest=SimpleNamespace(blocks=blocks))
    states = np.array([0, 1, 0, 1])
    rows = {n: (np.array([0, 10, 40, 50]), states, 90) for n in range(2)}
    assert possible_waits(run, rows) == {(1, 0), (1, 1)}


def served(*ends: tuple[int, int]) -> list[tuple[int, frozenset[int], int]]:
    """Block 0 serves blocks 1 and 2, each twice: when it is free, and when who is served began to wait."""
    block_of = np.array([0] * 5 + [1] * 3 + [2] * 3)
    begins = np.isin(np.arange(11), (0, 5, 8))
    gives, goes_on = np.arange(1, 5), np.array([6, 9, 7, 10])
    end = np.zeros(11, np.int64)
    end[gives - 1], end[goes_on - 1] = zip(*ends, strict=True)
    found = _served(block_of, gives, goes_on, begins, end)
    each = [of_blocks(found, n) for n in range(len(goes_on))]
    assert set(_kinds(found)) == set(each)
    return each


def of_blocks(found: Services, number: int) -> tuple[int, frozenset[int], int]:
    members = [*found.members.tolist(), -1]
    waiting = frozenset(found.members[found.waits[number]].tolist())
    return members[found.before[number]], waiting, members[found.served[number]]


def test_a_server_chooses_among_those_that_wait_when_it_can_begin() -> None:
    found = served((0, 5), (20, 7), (40, 45), (60, 42))
    both = frozenset((1, 2))
    assert found == [
        (-1, frozenset((1,)), 1),
        (1, frozenset((2,)), 2),
        (2, frozenset((2,)), 1),
        (1, frozenset((2,)), 2),
    ]
    found = served((0, 5), (50, 7), (70, 45), (90, 60))
    assert found == [(-1, frozenset((1,)), 1), (1, both, 2), (2, both, 1), (1, frozenset((2,)), 2)]
