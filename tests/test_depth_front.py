"""Replay of a streaming application's queues, and the front of time against memory."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pytest

from workbench.analysis.depth_front import choice_words, depth_changes, front_json, front_table
from workbench.analysis.measured import MeasuredRun
from workbench.api.queues import EdgeQueue, RunQueues
from workbench.model.diagnostic import Severity
from workbench.model.run import Cores, Run
from workbench.model.syncs import SyncKind, SyncResult
from workbench.replay.depths import FAILED, LOSS
from workbench.replay.fronts import Queued, depth_front, held_spells, mean_latency_ps, never_together
from workbench.replay.queues import NoReplayError, Queues
from workbench.session.change.run_depths import warnings_of
from workbench.testing.runs import synthetic_run

MADE = 20
ROOM, THERE = 1, 2


@dataclass
class Made:
    """A producer and a consumer joined by one queue, by a recurrence."""

    rows: list[tuple[int, ...]]
    push_ps: list[int]
    pop_ps: list[int]


def ran(depth: int, produce_ps: list[int], consume_ps: list[int], failed_ps: int = 5, longer_ps: int = 3) -> Made:
    """Own times before each try; after it the element is there, or the thread waits, and goes on later and slower."""
    pushes: list[int] = []
    pops: list[int] = []
    given: list[int] = []  # when each element was posted
    taken: list[int] = []  # when each place was posted back
    first: list[tuple[int, ...]] = []
    second: list[tuple[int, ...]] = []
    at_1 = at_2 = 0

    def one(rows: list[tuple[int, ...]], thread: int, at: int, own: int, what: tuple[int, int], free: int) -> int:
        """A try at a semaphore that is free from then on, a wait where it is not yet, and the post: when that is."""
        tried = at + own
        wait = free > tried
        if wait:
            rows.append((thread, SyncKind.TAKE, what[0], 0, SyncResult.REFUSED, tried, tried, -1, own))
            asked = tried + failed_ps
            begun = max(asked, free)
            woken = begun if free > asked else -1
            rows.append((thread, SyncKind.TAKE, what[0], 0, SyncResult.DONE, asked, begun, woken, failed_ps))
        else:
            begun = tried
            rows.append((thread, SyncKind.TAKE, what[0], 1, SyncResult.DONE, tried, tried, -1, own))
        after = 7 + (longer_ps if wait else 0)
        rows.append((thread, SyncKind.POST, what[1], 0, SyncResult.DONE, begun + after, begun + after, -1, after))
        return begun

    for n, (made, used) in enumerate(zip(produce_ps, consume_ps, strict=True)):
        begun = one(first, 1, at_1, made, (ROOM, THERE), taken[n - depth] if n >= depth else 0)
        at_1 = first[-1][5]
        pushes.append(begun)
        given.append(at_1)
        begun = one(second, 2, at_2, used, (THERE, ROOM), given[n])
        at_2 = second[-1][5]
        pops.append(begun)
        taken.append(at_2)
    main = [
        (0, SyncKind.CREATE, -1, 1, 0, 0, 0, -1, 0), (0, SyncKind.CREATE, -1, 2, 0, 0, 0, -1, 0),
        (0, SyncKind.JOIN, -1, 1, 0, 0, at_1, at_1, 0), (0, SyncKind.JOIN, -1, 2, 0, at_1, at_2, at_2, 0),
        (0, SyncKind.EXIT, -1, 0, 0, at_2, at_2, -1, 0),
    ]  # fmt: skip
    ends = [(n, SyncKind.END, -1, 0, 0, at, at, -1, 0) for n, at in ((1, at_1), (2, at_2))]
    return Made([*main, *first, ends[0], *second, ends[1]], pushes, pops)


def as_run(made: Made, depth: int) -> tuple[Run, RunQueues]:
    names = ("block", "kind", "object", "argument", "result", "t0_ps", "t1_ps", "woken_ps", "own_ps")
    table: dict[str, Any] = {n: np.array(c, np.int64) for n, c in zip(names, zip(*made.rows, strict=True), strict=True)}
    table["woken_by"] = np.full(len(made.rows), -1)
    calls = {name: np.empty(0, np.int64) for name in ("block", "parts", "entry", "bytes")}
    run = synthetic_run(2, 1)
    manifest = replace(run.manifest, cores=Cores(4, 4_000_000_000, 0, 0, 0))
    run = replace(run, manifest=manifest, tables={"syncs": table, "calls": calls})
    edge = EdgeQueue("app.a", "app.p", "app.c", "", "", depth, 32, np.array(made.push_ps), np.array(made.pop_ps),
                     lambda words: (words, words))  # fmt: skip
    return run, RunQueues((edge,), 256, 200_000_000)


@pytest.mark.parametrize("depth", [1, 2, 3, 5, 8, 20])
def test_replay_of_one_run_gives_the_time_with_any_depth(depth: int) -> None:
    random = np.random.default_rng(4)
    produce = random.integers(10, 200, MADE).tolist()
    consume = random.integers(10, 200, MADE).tolist()
    run, queues = as_run(ran(2, produce, consume), 2)
    found = Queues(run, queues, None).time_ps({"app.a": depth})
    assert found == ran(depth, produce, consume).pop_ps[-1]


def test_an_edge_that_is_too_short_is_found_with_its_least_depth() -> None:
    """A producer that gives all elements in bursts of ten to a consumer that is as slow all the time."""
    produce = [10 if n % 10 else 1000 for n in range(40)]
    last = {depth: ran(depth, produce, [100] * 40).pop_ps[-1] for depth in range(1, 21)}
    run, queues = as_run(ran(2, produce, [100] * 40), 2)
    run = replace(run, manifest=replace(run.manifest, time_ps=last[2]))
    found = MeasuredRun(run, threshold=1.05).deeper_edges(queues)["app.a"]
    assert (found.before_ps, found.after_ps) == (last[2], last[found.words])
    assert found.words == min(depth for depth in last if last[depth] <= last[20] / (1 - LOSS)) > 2
    assert not MeasuredRun(run, threshold=last[2] / last[20] + 0.01).deeper_edges(queues)
    enough, queues = as_run(ran(20, produce, [100] * 40), 20)
    assert not MeasuredRun(replace(enough, manifest=run.manifest), threshold=1.05).deeper_edges(queues)


def test_a_run_without_its_threads_waits_is_refused() -> None:
    run, queues = as_run(ran(2, [10] * 4, [20] * 4), 2)
    without = replace(run, tables={"calls": run.tables["calls"]})
    with pytest.raises(NoReplayError, match="did not record when its threads waited"):
        Queues(without, queues, None)


class Fake:
    """Two FIFOs: the time falls with each word of `a` up to 4, of `b` up to 3; with one of `b` none ends."""

    def __init__(self, in_use: Mapping[str, tuple[Any, Any]] | None = None) -> None:
        self.queues = tuple(
            Queued(name, 8, 32, 8, True, lambda depth: 32 * depth) for name in ("a", "b")
        )  # fmt: skip
        self.why: tuple[str, ...] = ()
        self.run_ps = 1000
        self._in_use = in_use or {}

    def time_ps(self, depths: Mapping[str, int]) -> int | None:
        a, b = depths.get("a", 8), depths.get("b", 8)
        return None if b == 1 else 1000 + 100 * max(4 - a, 0) + 50 * max(3 - b, 0)

    def latency_ps(self) -> int:
        return 10

    def held(self) -> Mapping[str, int]:
        return {"a": 8, "b": 8}

    def in_use(self) -> Mapping[str, tuple[Any, Any]]:
        return self._in_use


def test_the_front_goes_from_the_fastest_depths_to_the_least_memory() -> None:
    front = depth_front(Fake(), block_ram_bits=100)
    assert [(dict(p.depths), p.time_ps) for p in front.points] == [
        ({"a": 4, "b": 3}, 1000), ({"a": 4, "b": 2}, 1050), ({"a": 3, "b": 2}, 1150), ({"a": 2, "b": 2}, 1250),
        ({"a": 1, "b": 2}, 1350),
    ]  # fmt: skip
    assert front.choice is front.points[0]
    assert [p.block_rams for p in front.points] == [2 + 1, 2 + 1, 1 + 1, 1 + 1, 1 + 1]
    assert all(p.time_ps < FAILED for p in front.points)
    assert depth_changes(front) == ("a needs 4 words of 8.", "b needs 3 words of 8.")
    assert "Predicted speedup 1.00×" in choice_words(front)
    assert front_json(front)["chosen"] == 0
    table = front_table(front)
    assert [column.head for column in table.columns] == ["Time", "Latency", "Memory (bits)", "Block RAMs", "a", "b"]
    alike = [replace(one, id=name) for one, name in zip(front.queues, ("app.one.x", "app.two.x"), strict=True)]
    assert [one.head for one in front_table(replace(front, queues=tuple(alike))).columns[-2:]] == ["one.x", "two.x"]


def test_fifos_that_never_held_words_at_one_time_are_reported() -> None:
    def times(*ps: int) -> Any:
        return np.array(ps, np.int64)

    used = {"a": (times(0, 10), times(5, 15)), "b": (times(5, 20), times(9, 30)), "c": (times(12), times(14))}
    assert never_together(used) == (("a", "b"), ("b", "c"))
    (told,) = [one for one in warnings_of(depth_front(Fake(used))) if "never overlapped" in one.message]
    assert told.severity is Severity.WARNING
    assert "a and b, b and c" in told.message


def test_words_that_follow_at_once_are_one_spell() -> None:
    spells = held_spells(np.array([0, 5, 20]), np.array([5, 9]))
    assert spells[:, 0].tolist() == [0, 20]
    assert spells[0, 1] == 9
    assert mean_latency_ps(np.array([0, 10]), np.array([7, 19])) == 8
