"""Applies changes of the catalogue to a program. A change that cannot be predicted is refused with its reason."""

from collections.abc import Callable
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from workbench.model import changes as catalogue
from workbench.model.changes import Change
from workbench.model.cycles import period_ps
from workbench.model.platform import Platform
from workbench.model.run import PS_PER_S
from workbench.replay.channels import depth
from workbench.replay.editing import (
    UNSURE,
    Edited,
    RefusedError,
    ask_for_both,
    begun_by,
    has_links,
    let_words_go,
    operations,
    refuse_held_up,
    refuse_unmade,
    remove,
)
from workbench.replay.fpga import wait_states
from workbench.replay.host import ASK, AWAIT, IRQ
from workbench.replay.machine_fpga import clock_on_machine, scale_state_on_machine
from workbench.replay.program import Program, set_bus, work_ps
from workbench.replay.regroup import asynchronous, control_in_fpga, early, fewer_starts, resize, retype, split, unite
from workbench.replay.replicas import replicas
from workbench.replay.resolve import ALL, Named

Numbers = NDArray[np.int64]


def edit(program: Program, change: Change, named: Named, platform: Platform | None, edited: Edited) -> None:
    """Apply a change to the program. Raises RefusedError."""
    how = _EDITS.get(type(change))
    if how is None:
        raise RefusedError(f"the replay cannot apply '{change.kind}' to this run")
    how(program, change, named, platform, edited)


def _scale_state(program: Program, change: catalogue.ScaleState, named: Named, _: object, edited: Edited) -> None:
    if not program.run.manifest.simulated:
        scale_state_on_machine(program, change, named, edited)
        return
    fpga, blocks = program.fpga, program.run.manifest.blocks
    edited.fpga = True
    if not len(fpga.stay_block):
        raise RefusedError("the run has no trace, so it is not known when its blocks were in which state: trace it")
    if any(answer.opaque for answer in program.answers.values()):
        raise RefusedError("it is unknown which block's work each wait of the host is for")
    for block, state in named.states:
        if block not in fpga.blocks:
            raise RefusedError(f"the state sequence of {blocks[block].id} is unknown")
        if wait_states(blocks[block])[state]:
            if change.state == ALL:
                continue
            if (block, state) in program.taken and state:
                _answer_sooner(program, block, state, change, edited)
            else:
                _go_on(program, block, state, change, edited)
            continue
        if (fpga.block == block).sum() < 2:
            raise RefusedError(f"{blocks[block].id} never waits: the cause of its state changes is unknown")
        mine = (fpga.stay_block == block) & (fpga.stay_state == state)
        if not mine.any():
            edited.doubts.append(f"{blocks[block].id} is never in '{blocks[block].states[state].name}'")
        program.stays[mine] = np.rint(program.stays[mine] * change.factor).astype(np.int64)


#: Reasons of waits that a block may skip, with the assumption for each.
_NOT_NEEDED = {
    "late_receiver": "there is room for all that the receiver has not taken yet",
    "buffer_full": "the buffer is never full",
    "ack": "no acknowledge is refused",
    "barrier": "nothing after the barrier needs what the others did before it",
    "contention": "each has a copy of what they share",
}


def _go_on(program: Program, block: int, state: int, change: catalogue.ScaleState, edited: Edited) -> None:
    """Remove a wait of a block, which is assumed not to need the awaited data."""
    wait_state = program.run.manifest.blocks[block].states[state]
    assumed = [_NOT_NEEDED[reason] for reason in wait_state.reasons if reason in _NOT_NEEDED]
    if change.factor or not assumed:
        raise RefusedError(f"'{change.state}' of {change.block} is a wait: change what it is for")
    fpga = program.fpga
    before = np.maximum(fpga.first - 1, 0)
    after = (fpga.stay_block[before] == block) & (fpga.stay_state[before] == state) & ~fpga.begins
    program.edges = program.edges[~after[program.edges["stretch"]]]
    program.lag_after[after] = 0
    edited.doubts += [f"assumed: {one}" for one in assumed]


def _answer_sooner(program: Program, block: int, state: int, change: catalogue.ScaleState, edited: Edited) -> None:
    """Scale the time that a block without marked waits needs from a cause to its next step. The share of this time that
    only observes or shows the cause is unknown, so it has three readings."""
    fpga, edges = program.fpga, program.edges
    before = np.maximum(fpga.first - 1, 0)
    after = (fpga.stay_block[before] == block) & (fpga.stay_state[before] == state) & ~fpga.begins
    edges_of_state = after[edges["stretch"]] & (fpga.block[edges["stretch"]] == block)
    edited.ways = max(edited.ways, 3)
    shown_cycles = (0, 1, -1)[min(edited.way, 2)]
    lag = (edges["lag"][edges_of_state] - shown_cycles) * change.factor + shown_cycles
    edges["lag"][edges_of_state] = np.maximum(np.rint(lag), 1)
    name = program.run.manifest.blocks[block].states[state].name
    edited.doubts.append(f"'{name}' is assumed to be work from the moment its cause arrives")


def _scale_host(program: Program, change: catalogue.ScaleHost, named: Named, _: object, edited: Edited) -> None:
    edited.host = True
    blocks = program.run.manifest.blocks
    for block, state in named.states:
        if blocks[block].states[state].name != "work":
            if change.state == ALL:
                continue
            raise RefusedError(f"'{change.state}' of {change.block} is not the host's own code, which has state 'work'")
        mine = program.ops["thread"] == block
        before = program.ops["own_ps"][mine].copy()
        program.ops["own_ps"][mine] = np.rint(before * change.factor)
        program.unsure_ps[mine] += np.rint(np.abs(before * (1 - change.factor)) * UNSURE).astype(np.int64)
        program.rest_ps[block] = round(program.rest_ps.get(block, 0) * change.factor)
        edited.own[block] = edited.own.get(block, 1.0) * change.factor


def _scale_calls(program: Program, change: catalogue.ScaleCalls, named: Named, _: object, edited: Edited) -> None:
    mine = np.flatnonzero(np.isin(program.ops["site"], named.sites))
    edited.host = True
    if not len(mine):
        refuse_unmade(program, named, change)
    kinds = program.ops["kind"][mine]
    if (kinds == IRQ).any() or (change.factor and (kinds == AWAIT).any()):
        raise RefusedError(f"'{change}' names waits: they take as long as what they are for")
    if change.factor == 0:
        if (kinds == ASK).any():
            _ask_together(program, mine[kinds == ASK], change)
            edited.notes.append("the remaining poll must report what the others reported")
        _let_words_go(program, mine, change, edited)
        remove(program, mine)
        return
    lasts = work_ps(program)
    moved = mine[program.ops["table"][mine] >= 0]
    program.ops["beyond_ps"][moved] += np.rint(lasts[moved] * change.factor).astype(np.int64) - lasts[moved]
    fixed = mine[program.ops["table"][mine] < 0]
    program.ops["work_ps"][fixed] = np.rint(program.ops["work_ps"][fixed] * change.factor)


def _ask_together(program: Program, gone: Numbers, change: Change) -> None:
    """Let the polls next to removed polls wait for the removed ones' events too."""
    ops = program.ops
    leaving = set(gone.tolist())
    for row in gone.tolist():
        near = [n for n in (row - 1, row + 1) if 0 <= n < len(ops) and ops["kind"][n] == ASK and n not in leaving]
        near = [n for n in near if ops["thread"][n] == ops["thread"][row]]
        if not near or int(program.base[row]) not in program.answers:
            raise RefusedError(f"'{change}' removes polls: without them the host would not learn the answer")
        ask_for_both(program, near[0], row, change)


def _let_words_go(program: Program, gone: Numbers, change: Change, edited: Edited) -> None:
    """Let the FPGA work without the words of these calls. Refuse if they start its work."""
    if not len(begun_by(program, gone)):
        return
    if worker := let_words_go(program, gone):
        raise RefusedError(f"'{change}' removes calls that {worker} waits for: say what lets it begin instead")
    edited.fpga = True
    edited.notes.append("the FPGA must do by itself what these calls control")


def _interrupt(program: Program, change: catalogue.Interrupt, named: Named, _: object, edited: Edited) -> None:
    edited.host = edited.fpga = True
    mine = operations(program, named, (ASK, IRQ), change, "polls")
    _answered(program, mine, change)
    program.ops["kind"][mine] = IRQ
    program.ops["table"][mine] = program.ops["bus"][mine] = -1
    program.ops["shorter"][mine] = 0
    edited.notes.append("the FPGA must raise an interrupt when it is done")


def _answered(program: Program, ops: Numbers, change: Change) -> None:
    if any(int(program.base[op]) not in program.answers for op in ops):
        raise RefusedError(f"it is unknown what answers the polls of '{change}'")


def _poll_delay(program: Program, change: catalogue.PollDelay, named: Named, _: object, edited: Edited) -> None:
    edited.host = True
    mine = operations(program, named, (ASK,), change, "polls")
    _answered(program, mine, change)
    program.delay_ps[mine] = round(change.delay_s * PS_PER_S)


def _clock(program: Program, change: catalogue.OtherClock, named: Named, _: object, edited: Edited) -> None:
    if not program.run.manifest.simulated:
        clock_on_machine(program, change, named, edited)
        return
    edited.fpga = True
    clocks = program.run.manifest.clocks
    if len(clocks) > 1 and any(answer.opaque for answer in program.answers.values()):
        raise RefusedError("the clock of the FPGA work that the host waits for is unknown")
    for number in named.clocks:
        ratio = Fraction(str(clocks[number].frequency_hz)) / Fraction(str(change.frequency_hz))
        program.periods_ps[number] = period_ps(change.frequency_hz)
        for other, clock in enumerate(clocks):
            if clock.derived_from == clocks[number].name:
                program.periods_ps[other] *= ratio
        # opaque work takes the same number of cycles


def _platform(
    program: Program, change: catalogue.OtherPlatform, _: Named, platform: Platform | None, edited: Edited
) -> None:
    new_platform = edited.platforms.get(change.platform)
    if new_platform is None:
        raise RefusedError(f"no platform '{change.platform}' is known")
    if has_links(program) and any(answer.opaque for answer in program.answers.values()):
        raise RefusedError(
            "on another platform words between FPGAs take other times, and this run has these only as part of the "
            "host's waits: trace it"
        )
    edited.host = True
    used = {int(number) for number in np.unique(program.ops["table"]) if number >= 0}
    for number, name in enumerate([name for name, _table in program.tables]):
        if number in used and name not in new_platform.transfer_tables:
            raise RefusedError(f"'{change.platform}' has no transfer table '{name}', that the run's calls use")
        if name in new_platform.transfer_tables:
            table = new_platform.transfer_tables[name]
            if table.points != program.tables[number][1].points:
                refuse_held_up(program, np.flatnonzero(program.ops["table"] == number), change)
            program.tables[number] = name, table
            set_bus(program, (program.ops["table"] == number) & (program.ops["bus"] >= 0), table.resource)
    for clock in new_platform.hardware.clocks if new_platform.hardware else ():
        for number, one in enumerate(program.run.manifest.clocks):
            if one.name == clock.name and program.periods_ps[number] != period_ps(clock.frequency_hz):
                program.periods_ps[number] = period_ps(clock.frequency_hz)
                edited.fpga = True
    edited.notes.append("assumes that the host's own code is as fast as before")


def _width(program: Program, change: Change, named: Named, _: object, edited: Edited) -> None:
    del program, change, named, edited
    raise RefusedError(
        "a wider stream carries fewer, wider words: what the blocks at its ends do for one of them is not in the run"
    )


_EDITS: dict[type[Change], Callable[..., None]] = {
    catalogue.ScaleState: _scale_state,
    catalogue.ScaleHost: _scale_host,
    catalogue.ScaleCalls: _scale_calls,
    catalogue.Unite: unite,
    catalogue.Split: split,
    catalogue.Resize: resize,
    catalogue.Retype: retype,
    catalogue.Asynchronous: asynchronous,
    catalogue.Interrupt: _interrupt,
    catalogue.PollDelay: _poll_delay,
    catalogue.Early: early,
    catalogue.FewerStarts: fewer_starts,
    catalogue.ControlInFpga: control_in_fpga,
    catalogue.OtherClock: _clock,
    catalogue.OtherPlatform: _platform,
    catalogue.Replicas: replicas,
    catalogue.Depth: depth,
    catalogue.Width: _width,
}
