"""More and fewer replicas: how the work is shared out, and that a prediction comes true."""

import numpy as np
import pytest
from shared_work import GROUP, made

from workbench.model.blocks import Block, Side, State
from workbench.model.changes import read_change
from workbench.model.pragma import UNCLASSIFIED
from workbench.model.prediction import Trust
from workbench.replay.deals import BlockDeal
from workbench.replay.editing import RefusedError
from workbench.replay.picking import picked
from workbench.replay.prepare import prepare
from workbench.replay.replicas import units_of
from workbench.replay.shares import Dealt, Item
from workbench.testing.runs import synthetic_platform


@pytest.mark.parametrize(("cores", "others"), [(2, (1, 3, 5)), (3, (2, 7))])
def test_a_prediction_comes_true(cores: int, others: tuple[int, ...]):
    platform = synthetic_platform()
    run = made(cores, platform)
    replayed = prepare(run, platform)
    assert replayed.exact, replayed.why
    for count in others:
        found = replayed.predict([read_change(f"replicas group={GROUP} count={count}")])
        assert found.trust is Trust.DOUBTFUL
        assert f"{count} of them get in turn what {cores} get" in found.why
        came = run.manifest.time_ps / made(count, platform).manifest.time_ps
        assert abs(came - 1) > 0.01
        assert found.speedup == pytest.approx(came, rel=1e-9)


def test_with_one_it_is_open_how_more_share_the_work():
    """In turn as soon as one is done, in rounds, or each a part of every item: the interval holds them all."""
    platform = synthetic_platform()
    run = made(1, platform)
    found = prepare(run, platform).predict([read_change(f"replicas group={GROUP} count=3")])
    came = run.manifest.time_ps / made(3, platform).manifest.time_ps
    assert found.speedup == pytest.approx(came, rel=1e-9)
    assert found.interval[1] / found.interval[0] > 1.2
    assert found.trust is Trust.DOUBTFUL


def test_items_are_dealt_in_turn():
    """Three items of two replicas: each begins with one call, and is finished by one."""
    items = tuple(Item(n % 2, (10 + n,), (20 + n,)) for n in range(3))
    dealt = Dealt(items, pipelined=True, rounds=False)
    assert list(dealt.order(2, pipelined=True)) == [10, 11, 20, 12, 21, 22]
    assert list(dealt.order(1, pipelined=True)) == [10, 20, 11, 21, 12, 22]
    assert list(dealt.order(5, pipelined=True)) == [10, 11, 12, 20, 21, 22]
    assert list(dealt.order(2, pipelined=False)) == [10, 11, 20, 21, 12, 22]


def test_what_all_do_is_done_by_each_of_more():
    """Blocks 0 and 1 begin with stretches 0 and 10, have two items each, and then each the tail 3 or 13."""
    deal = BlockDeal(
        blocks=(0, 1), heads=np.array([1, 11, 2, 12]), sources=np.arange(4), length=1,
        begins=(np.array([0]), np.array([10])), tails=((np.array([3]),), (np.array([13]),)), after=(4,),
        rounds=0, taken=0, lag=0,
    )  # fmt: skip
    assert deal.chains(2) == [[(0, 0), (1, 0), (2, 0), (3, 0)], [(10, 0), (11, 0), (12, 0), (13, 0)]]
    assert deal.chains(1) == [[(0, 0), (1, 0), (11, 0), (2, 0), (12, 0), (3, 0)]]
    assert deal.chains(3) == [
        [(0, 0), (1, 0), (12, 0), (3, 0)], [(10, 0), (11, 0), (13, 0)], [(0, 1), (2, 0), (3, 1)],
    ]  # fmt: skip


def test_copies_have_places_of_their_own():
    first, second = picked([(2, 0), (0, 0), (2, 1)]).places(3)
    assert first.tolist() == [1, -1, 0]
    assert second.tolist() == [-1, -1, 2]


def test_a_replica_is_all_that_is_in_its_instance():
    names = ["top.core[0].a", "top.core[0].b", "top.core[1].a", "top.core[1].b", "top.core[10].a", "top.port"]
    blocks = [
        Block(name, Side.FPGA, "", "always", name.replace("0", "*").replace("1", "*").replace("**", "*"), (
            State(0, UNCLASSIFIED),), clock="clk")
        for name in names
    ]  # fmt: skip
    assert units_of(blocks, [0, 2]) == [(0, 1), (2, 3)]
    with pytest.raises(RefusedError, match="not alike"):
        units_of(blocks, [0, 2, 4])
