"""What is said where the host may do other things once its questions are answered otherwise."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np

from workbench.model.run import Site
from workbench.replay.engine import POLLS_ROW
from workbench.replay.host import ASK, MOVE, OPS
from workbench.replay.refusals import asked_again, goes_round


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
    assert "what it does depends on that" in said((ASK, 1, 1), (ASK, 2, 1), (ASK, 1, 1), asked=(1, 1, 1))
    assert not said((ASK, 1, 1), (ASK, 2, 1), (MOVE, 0, 1), (ASK, 1, 1), (ASK, 2, 1), asked=(1, 1, 1, 1))
    assert not said((ASK, 1, 1), (ASK, 1, 1), (ASK, 2, 1), asked=(1, 1, 1))


def test_who_was_always_answered_at_once_may_not_ask_again() -> None:
    assert "main.c:7 is answered at once each time" in said((ASK, 1, 1), (MOVE, 0, 1), (ASK, 1, 1), asked=(1, 2))
    assert not said((ASK, 1, 3), (MOVE, 0, 1), (ASK, 1, 1), asked=(3, 2))
    assert not said((MOVE, 0, 1), asked=())
