"""Calls of one thread that are united, parted or taken out beside another thread, against times by hand.

Main makes another thread, writes 8 bytes twice (1.5 us each; 4 bytes take 1 us, 16 bytes 2 us) after 1 us of its own
code each time, waits for that thread to end, and ends 1 us later.
"""

from fractions import Fraction
from types import SimpleNamespace

import numpy as np
import pytest

from workbench.model.changes import Early, Split, Unite
from workbench.model.platform import TransferPoint, TransferTable
from workbench.model.run import Cores
from workbench.model.syncs import SyncKind
from workbench.replay.editing import Edited, RefusedError, loops_ps, remove
from workbench.replay.fpga import FpgaPart
from workbench.replay.host import ASK, MOVE, OPS, HostPart
from workbench.replay.lowering import lower
from workbench.replay.points import EDGES
from workbench.replay.program import Program, begin_program
from workbench.replay.regroup import early, split, unite
from workbench.replay.resolve import Named
from workbench.replay.several_threads import HostThreads, _goes_on
from workbench.replay.thread_edits import edited_threads

US = 1_000_000
PUT, UNITE, SPLIT = Named(sites=(0,)), Unite(("put",), 2), Split(("put",), 2)
SIZES = ((4, 1e-6), (8, 1.5e-6), (16, 2e-6))


def made() -> Program:
    table = TransferTable(points=tuple(TransferPoint(bytes=size, time_s=time_s) for size, time_s in SIZES))
    ops = np.zeros(2, OPS)
    ops["kind"], ops["bytes"], ops["own_ps"], ops["row"] = MOVE, 8, US, (0, 1)
    ops["failed"] = ops["seen"] = -1
    none = np.zeros(0, np.int64)
    blocks = none.astype(np.int32)
    fpga = FpgaPart((), blocks, blocks, none, none, none, none, none, none, none.astype(bool), (0,))
    host = HostPart(ops, none, {0: US}, (("write", table),), (0,), (4,), 0, "")
    manifest = SimpleNamespace(
        blocks=(), resources=("bus",), entries=(SimpleNamespace(kind="send"),), time_ps=0,
        sites=(SimpleNamespace(file="main.c", line=31),),
    )  # fmt: skip
    run = SimpleNamespace(manifest=manifest, tables={"calls": {"entry": np.zeros(2, np.int64)}})
    return begin_program(run, host, fpga, np.zeros(0, EDGES), none, {}, [Fraction(10_000)]).copy()  # type: ignore[arg-type]


def threads(cores: int, other_ps: int, between: SyncKind | None = None) -> HostThreads:
    """Main and another thread of so much own code. `between` is a call between main's writes."""
    mine = [(SyncKind.CREATE, 0, 1, -1), (SyncKind.CARD, US, 0, 0), (SyncKind.CARD, US, 1, 1),
            (SyncKind.JOIN, 0, 1, -1), (SyncKind.EXIT, US, -1, -1)]  # fmt: skip
    if between:
        mine.insert(2, (between, 0, -1, -1))
    kind, own_ps, argument, op = zip(*mine, (SyncKind.END, other_ps, -1, -1), strict=True)
    count, none = len(kind), np.full(len(kind), -1, np.int64)
    rows = {"kind": np.array(kind), "own_ps": np.array(own_ps), "argument": np.array(argument)}
    rows |= dict.fromkeys(("object", "result", "t0_ps", "t1_ps", "gone_ps"), none + 1)
    rows |= {"woken_ps": none.copy(), "woken_by": none.copy(), "block": np.append(np.zeros(count - 1, np.int64), 1)}
    return HostThreads(rows, np.array(op), Cores(cores, 1000 * US))


def total_us(program: Program, host: HostThreads, loop: float = 1.0) -> float:
    host = edited_threads(host, program)
    lowered = lower(program)
    assert host.settle(program, lowered, {}, loop)
    lowered.graph.sweep_in_time()
    return lowered.total_ps() / US


@pytest.mark.parametrize(
    ("cores", "other_us", "expected"),
    [
        (2, 1, {"": 6, "unite": 4, "split": 7, "remove": 3.5}),
        (2, 4.5, {"": 6, "unite": 5.5, "split": 7, "remove": 5.5}),  # main waits where it did not
        (1, 2, {"": 6.5, "unite": 4, "split": 8, "remove": 4}),  # the other has the core from the first write on
        (4, 1, {"": 6, "unite": 4, "split": 7, "remove": 3.5}),
    ],
)  # fmt: skip
def test_calls_of_one_thread_beside_another(cores: int, other_us: float, expected: dict[str, float]) -> None:
    found = {}
    for name in expected:
        program = made()
        if name == "unite":
            unite(program, UNITE, PUT, None, Edited())
        elif name == "split":
            split(program, SPLIT, PUT, None, Edited())
        elif name == "remove":
            remove(program, np.array([1]))
        found[name] = total_us(program, threads(cores, round(other_us * US)))
    assert found == expected


def test_code_around_a_call_that_is_gone_may_stay() -> None:
    program = made()
    unite(program, UNITE, PUT, None, Edited())
    assert total_us(program, threads(2, US), loop=0.0) == 5


def test_calls_keep_their_side_of_those_by_which_threads_meet() -> None:
    program = made()
    unite(program, UNITE, PUT, None, Edited())
    with pytest.raises(
        RefusedError, match=r"main\.c:31 would move over a call by which its thread meets others \(lock"
    ):
        total_us(program, threads(2, US, SyncKind.LOCK))
    parted = made()
    split(parted, SPLIT, PUT, None, Edited())
    assert total_us(parted, threads(2, US, SyncKind.LOCK)) == 7


def rounds(cores: int) -> Program:
    """Two threads that each write, wait for an answer, write and wait again."""
    program = made()
    ops = np.repeat(program.ops[:1], 8)
    ops["thread"], ops["kind"], ops["site"] = np.repeat((0, 1), 4), [MOVE, ASK] * 4, [0, 1] * 4
    program.ops, program.at, program.base = ops, np.arange(8), np.arange(8)
    program.loop_ps = program.unsure_ps = program.delay_ps = program.sooner_ps = program.buffers = np.zeros(8, np.int64)
    program.run.manifest.cores, program.run.manifest.threads = Cores(cores), (None, None)  # type: ignore[misc]
    return program


def test_rounds_of_each_thread_move_by_themselves() -> None:
    program, change = rounds(2), Early(("put",))
    early(program, change, PUT, None, Edited())
    assert program.base.tolist() == [0, 2, 1, 3, 4, 6, 5, 7]
    with pytest.raises(RefusedError, match="fewer cores than threads"):
        early(rounds(1), change, PUT, None, Edited())


def test_a_close_that_follows_a_read_at_once_is_no_wait_of_it() -> None:
    table = {"kind": [SyncKind.CARD], "argument": [-1], "own_ps": [0], "t1_ps": [US], "woken_ps": [-1]}
    rows = {name: np.array(values) for name, values in table.items()}
    assert not _goes_on(rows, 0, US)
    assert _goes_on({**rows, "woken_ps": np.array([US])}, 0, US)


def test_of_the_code_before_removed_calls_a_loop_goes_and_work_stays() -> None:
    """Between two removed calls all goes; before the first, which is work for others, as much as before any call."""
    own_ps, thread = np.array([7, 50, 3, 4, 90, 20]), np.array([0, 0, 0, 0, 0, 1])
    is_gone = np.array([False, True, True, False, True, True])
    goes_ps = np.where(is_gone, loops_ps(own_ps, thread, is_gone), 0)
    assert goes_ps.tolist() == [0, 3, 3, 0, 3, 3]
    assert loops_ps(np.zeros(2, np.int64), thread[:2], is_gone[:2]).tolist() == [0, 0]
