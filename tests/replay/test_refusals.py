"""What is said where the host may do other things once its questions are answered otherwise."""

from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from small_runs import Spent, small_run

from workbench.model.blocks import Side
from workbench.model.changes import Early, FewerStarts, Unite
from workbench.model.pragma import Category
from workbench.model.run import Site
from workbench.replay.answers import AwaitedEvents
from workbench.replay.editing import RefusedError
from workbench.replay.engine import POLLS_ROW
from workbench.replay.events import WORD
from workbench.replay.host import ASK, MOVE, OPS
from workbench.replay.refusals import asked_again, goes_round, shared_memory, unmarked_most
from workbench.replay.regroup import _sites_of_data, wait_for_all


def said(*rows: tuple[int, int, int], asked: tuple[int, ...]) -> str:
    """Of operations (kind, address, how often it is asked in the run), with the questions asked so often then."""
    ops = np.zeros(len(rows), OPS)
    ops["kind"], ops["address"], ops["rows"] = np.array(rows).T
    sites = (Site("main.c", 7, 1, "poll", "poll", 0),)
    program: Any = SimpleNamespace(
        ops=ops, host=SimpleNamespace(ops=ops), run=SimpleNamespace(manifest=SimpleNamespace(sites=sites))
    )
    polls = np.zeros(len(asked), POLLS_ROW)
    polls["asked"] = asked
    asks = np.flatnonzero(ops["kind"] == ASK)
    lowered: Any = SimpleNamespace(asks=asks, graph=SimpleNamespace(polls=polls))
    return goes_round(program) or asked_again(program, lowered)


def test_a_host_that_goes_round_does_what_its_answers_say() -> None:
    assert "its next steps depend on that" in said((ASK, 1, 1), (ASK, 2, 1), (ASK, 1, 1), asked=(1, 1, 1))
    assert not said((ASK, 1, 1), (ASK, 2, 1), (MOVE, 0, 1), (ASK, 1, 1), (ASK, 2, 1), asked=(1, 1, 1, 1))
    assert not said((ASK, 1, 1), (ASK, 1, 1), (ASK, 2, 1), asked=(1, 1, 1))


def test_who_was_always_answered_at_once_may_not_ask_again() -> None:
    assert "main.c:7 is answered at once each time" in said((ASK, 1, 1), (MOVE, 0, 1), (ASK, 1, 1), asked=(1, 2))
    assert not said((ASK, 1, 3), (MOVE, 0, 1), (ASK, 1, 1), asked=(3, 2))
    assert not said((MOVE, 0, 1), asked=())


def test_words_to_more_addresses_than_replicas_are_data_and_needed_in_each_round() -> None:
    """Site 0 writes a block of four words, site 1 a setting of each of two replicas."""
    ops = np.zeros(6, OPS)
    ops["site"], ops["address"] = [0, 0, 0, 0, 1, 1], [16, 17, 18, 19, 32, 64]
    blocks = [SimpleNamespace(group="core[*]", side=Side.FPGA)] * 2
    program: Any = SimpleNamespace(ops=ops, run=SimpleNamespace(manifest=SimpleNamespace(blocks=blocks)))
    assert _sites_of_data(program, np.arange(6)) == {0}


def test_transfers_beside_a_design_that_uses_their_memory_may_take_longer() -> None:
    run: Any = SimpleNamespace(manifest=SimpleNamespace(memory_ports=[SimpleNamespace(memory="ddr")]))
    tables = {"write": SimpleNamespace(port="ddr")}
    platform: Any = SimpleNamespace(transfer_tables=tables)
    assert "would use ddr at the same time" in shared_memory(run, platform, [Early(("put",))])
    assert not shared_memory(run, platform, [Unite(("put",), 2)])
    tables["write"].port = "regs"
    assert not shared_memory(run, platform, [Early(("put",))])


def test_rounds_of_which_only_the_hosts_wait_is_known_take_all_of_their_waits_after_one_start() -> None:
    """One wait alone leaves out the FPGA's work of the other rounds: of a CRC without marks 1.62x was predicted, of
    the same with marks 1.08x."""
    known, unknown = AwaitedEvents(WORD, (1,), 4, 50, 90, opaque=True), AwaitedEvents(WORD, (1,), 4, 10, 20)
    program: Any = SimpleNamespace(base=np.array([2, 4, 5, 7]), answers={4: known, 5: known, 7: unknown})
    change = FewerStarts(("main.c:17",), 2)
    wait_for_all(program, [3, 3], change)
    wait_for_all(program, [1, 2], change)
    assert program.answers == {4: known, 5: replace(known, lag=100, latest=180), 7: unknown}
    with pytest.raises(RefusedError, match="of some rounds only the host's wait for the FPGA is known"):
        wait_for_all(program, [1, 3], change)


def test_a_block_without_marks_where_it_may_wait_is_named() -> None:
    """Of a stage whose wait has no mark, a profile does not tell whether it works or waits: of two stages 3.3x was
    predicted where 1.9x came."""

    def named(**times_s: float) -> str:
        states = [Spent("work", Category.WORK, times_s["work"]), Spent("idle", Category.WAIT_RECV, times_s["wait"])]
        return unmarked_most(small_run(1.0, fpga={"top.stage.p": states}))

    assert named(work=0.3, wait=0.0) == "top.stage.p"
    assert named(work=0.3, wait=0.3) == "top.stage.p"
    assert not named(work=0.3, wait=0.5)
    assert not named(work=0.96, wait=0.0)
    assert not named(work=0.0, wait=0.1)
