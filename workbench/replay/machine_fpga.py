"""Predicts a change of a rank's FPGA on a real machine, by the host's waits for this FPGA.

Such a run has no trace of the FPGA. It has the time of each state of its blocks, from their counters, and the host's
calls that asked whether the FPGA was done. A wait is a row of such calls at one place, together with the host's own
time between them, such as `usleep` in a polling loop. If a state takes less time, all waits for its block end earlier
by equal parts of the difference: the counters do not say which wait is for which work.

For example, 10 waits of 20 ms each poll every 2 ms. If the FPGA needs 50 ms less in all, each wait ends 5 ms earlier:
it has two or three calls less. A wait cannot end before its first call does. If that was its only call, the FPGA may
have been done long before, so a slower FPGA ends the wait later by an amount between nothing and the whole part.
"""

from collections.abc import Iterable
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from workbench.model import changes as catalogue
from workbench.model.blocks import Side
from workbench.model.pragma import WAITS
from workbench.model.syncs import SyncKind
from workbench.model.text import counted
from workbench.replay.editing import Edited, RefusedError
from workbench.replay.program import Program
from workbench.replay.resolve import ALL, Named

Numbers = NDArray[np.int64]


def scale_state_on_machine(program: Program, change: catalogue.ScaleState, named: Named, edited: Edited) -> None:
    """Let states of FPGAs take so many times as long. Raises RefusedError."""
    blocks = program.run.manifest.blocks
    more_ps: dict[int, float] = {}
    for block, state in named.states:
        if blocks[block].states[state].category in WAITS:
            if change.state == ALL:
                continue
            raise RefusedError(f"'{change.state}' of {change.block} is a wait: change what it is for")
        if change.state != ALL or state:  # unclassified is no work that is known
            more_ps[block] = more_ps.get(block, 0.0) + _spent_ps(program, block, state) * (change.factor - 1)
    _end_later(program, more_ps, edited)


def clock_on_machine(program: Program, change: catalogue.OtherClock, named: Named, edited: Edited) -> None:
    """Let all that blocks on these clocks do take as many cycles of another frequency. Raises RefusedError."""
    manifest, more_ps = program.run.manifest, dict[int, float]()
    stated_hz = {clock.name: clock.frequency_hz for clock in (manifest.clocks[number] for number in named.clocks)}
    for number, block in enumerate(manifest.blocks):
        if block.side is Side.FPGA and block.clock in stated_hz:
            ratio = float(Fraction(str(stated_hz[block.clock])) / Fraction(str(change.frequency_hz)))
            works = [one.index for one in block.states if one.index and one.category not in WAITS]
            more_ps[number] = sum(_spent_ps(program, number, state) for state in works) * (ratio - 1)
    _end_later(program, more_ps, edited)


def _spent_ps(program: Program, block: int, state: int) -> int:
    """The time that a block's counters have for a state. Raises RefusedError without any."""
    table = program.run.tables.get("state_time")
    mine = np.asarray(table["block"]) == block if table is not None else np.zeros(0, bool)
    if table is None or not mine.any():
        raise RefusedError(f"the counters of {program.run.manifest.blocks[block].id} were not read")
    return int(np.asarray(table["time_ps"])[mine & (np.asarray(table["state"]) == state)].sum())


def _end_later(program: Program, more_ps: dict[int, float], edited: Edited) -> None:
    """Let the host's waits for blocks end later by so much in all."""
    edited.fpga = True
    blocks = program.run.manifest.blocks
    waited_for = {number: waits for number in more_ps if (waits := list(_waits_for(program, number)))}
    if not waited_for:
        raise RefusedError(
            f"no call of the host waits for {blocks[next(iter(more_ps))].id if more_ps else 'it'} by its pragma: mark "
            "the calls that ask whether it is done as wait_recv, with the block as target"
        )
    at_once = 0
    for number, waits in waited_for.items():
        each_ps = round(more_ps[number] / len(waits))
        for ops in waits:
            at_once += len(ops) == 1
            _end_wait_later(program, ops, each_ps if len(ops) > 1 or edited.way else min(each_ps, 0))
    if at_once and max(more_ps.values()) > 0:
        edited.ways = max(edited.ways, 2)
        edited.doubts.append(
            f"{counted(at_once, 'wait')} for the FPGA ended at the first call: how long it was done by then is unknown"
        )
    edited.doubts.append("the host's waits for the FPGA are assumed to share the change of its time equally")


def _waits_for(program: Program, number: int) -> Iterable[Numbers]:
    """The operations of each wait for a block: calls of its rank at one place, one after the other, in a state that
    waits and names the block as its target."""
    ops, blocks = program.ops, program.run.manifest.blocks
    place, _, own_id = blocks[number].id.partition(".")
    threads = [n for n, one in enumerate(blocks) if one.side is Side.HOST and one.id.startswith(f"host.{place}.")]
    asks = np.zeros(len(ops), bool)
    for thread in threads:
        states = [one.index for one in blocks[thread].states
                  if one.category in WAITS and {own_id, blocks[number].id} & set(one.targets)]  # fmt: skip
        asks |= (ops["thread"] == thread) & np.isin(ops["state"], states)
    mine = np.flatnonzero(asks)
    same = (np.diff(mine) == 1) & (np.diff(ops["site"][mine]) == 0) & (np.diff(ops["thread"][mine]) == 0)
    return [part for part in np.split(mine, np.flatnonzero(~same) + 1) if len(part)]


def _end_wait_later(program: Program, ops: Numbers, more_ps: int) -> None:
    """Let a wait of these operations end later, at its last call, or earlier (`more_ps` < 0), without its last calls
    and the time between them. The first call remains."""
    work_ps, sooner_ps = program.ops["work_ps"], program.sooner_ps
    if more_ps >= 0:
        work_ps[ops[-1]] += more_ps
        return
    own_ps, less_ps = _own_before_ps(program, ops), -more_ps
    for op, before_ps in zip(ops[:0:-1].tolist(), own_ps[:0:-1].tolist(), strict=True):
        of_call_ps = min(int(work_ps[op]), less_ps)
        between_ps = min(max(before_ps - int(sooner_ps[op]), 0), less_ps - of_call_ps)
        work_ps[op] -= of_call_ps
        sooner_ps[op] += between_ps
        less_ps -= of_call_ps + between_ps


def _own_before_ps(program: Program, ops: Numbers) -> Numbers:
    """The host's own time (ps) before each of a thread's operations, without calls that exchange messages."""
    syncs, mine = program.run.tables["syncs"], program.ops[ops]
    begin_ps, end_ps = (np.asarray(syncs[name]) for name in ("t0_ps", "t1_ps"))
    of_calls = (np.asarray(syncs["kind"]) == SyncKind.SLEEP) & (end_ps > begin_ps)
    rows = np.flatnonzero(of_calls & (np.asarray(syncs["block"]) == mine["thread"][0]))
    place = np.searchsorted(begin_ps[rows], mine["begin_ps"])
    known = np.append(begin_ps[rows], -1)[place] == mine["begin_ps"]
    own_ps: Numbers = np.where(known, np.append(np.asarray(syncs["own_ps"])[rows], 0)[place], 0)
    return own_ps
