"""Changes of the catalogue as edits of a program. What cannot be answered is refused with its reason."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from workbench.model import changes as catalogue
from workbench.model.changes import Change
from workbench.model.cycles import period_ps
from workbench.model.platform import Platform
from workbench.model.run import PS_PER_S
from workbench.replay.events import WORD
from workbench.replay.fpga import wait_states, works
from workbench.replay.host import ASK, ASYNC, AWAIT, IRQ, MOVE
from workbench.replay.program import Program, work_ps
from workbench.replay.resolve import ALL, Named

Numbers = NDArray[np.int64]


#: Share of what host code gains that its loops and calls around may keep.
_UNSURE = 0.005


class RefusedError(Exception):
    """A change that replay cannot answer; its text is the reason."""


@dataclass
class Edited:
    """What edits did besides: what a person has to know of them (`notes`), why the answer is less sure (`doubts`),
    whether the host's code, or the FPGA's, is another one, and by what factor which thread's own code is."""

    notes: list[str] = field(default_factory=list)
    doubts: list[str] = field(default_factory=list)
    host: bool = False
    fpga: bool = False
    own: dict[int, float] = field(default_factory=dict)


def edit(program: Program, change: Change, named: Named, platform: Platform | None, edited: Edited) -> None:
    """Make a change in the program. Raises RefusedError."""
    how = _EDITS.get(type(change))
    if how is None:
        raise RefusedError(f"replay does not know what '{change.kind}' does to this run")
    how(program, change, named, platform, edited)


def _ops(program: Program, named: Named, kinds: Sequence[int], change: Change, what: str) -> Numbers:
    """The operations that a change names, of these kinds."""
    mine = np.isin(program.ops["site"], named.sites)
    if not mine.any():
        raise RefusedError(f"'{change}' names calls that the run did not make")
    found = np.flatnonzero(mine & np.isin(program.ops["kind"], kinds))
    if len(found) < mine.sum():
        raise RefusedError(f"'{change}' names calls that are no {what}")
    return found


def _scale_state(program: Program, change: catalogue.ScaleState, named: Named, _: object, edited: Edited) -> None:
    fpga, blocks = program.fpga, program.run.manifest.blocks
    edited.fpga = True
    if not len(fpga.stay_block):
        raise RefusedError("the run has no trace, so it is not known when its blocks were in which state: trace it")
    for block, state in named.states:
        if block not in fpga.blocks:
            raise RefusedError(f"nothing is known of {blocks[block].id} over time")
        if wait_states(blocks[block])[state]:
            if change.state == ALL:
                continue
            raise RefusedError(f"'{change.state}' of {change.block} is a wait: change what it is for")
        if (fpga.block == block).sum() < 2:
            raise RefusedError(f"{blocks[block].id} never waits: what makes it change its state is not known")
        mine = (fpga.stay_block == block) & (fpga.stay_state == state)
        if not mine.any():
            edited.doubts.append(f"{blocks[block].id} is never in '{blocks[block].states[state].name}'")
        program.stays[mine] = np.rint(program.stays[mine] * change.factor).astype(np.int64)


def _scale_host(program: Program, change: catalogue.ScaleHost, named: Named, _: object, edited: Edited) -> None:
    edited.host = True
    blocks = program.run.manifest.blocks
    for block, state in named.states:
        if blocks[block].states[state].name != "work":
            if change.state == ALL:
                continue
            raise RefusedError(f"'{change.state}' of {change.block} is no code of the host's own, which is in 'work'")
        mine = program.ops["thread"] == block
        before = program.ops["own_ps"][mine].copy()
        program.ops["own_ps"][mine] = np.rint(before * change.factor)
        program.unsure_ps[mine] += np.rint(np.abs(before * (1 - change.factor)) * _UNSURE).astype(np.int64)
        program.rest_ps[block] = round(program.rest_ps.get(block, 0) * change.factor)
        edited.own[block] = edited.own.get(block, 1.0) * change.factor


def _scale_calls(program: Program, change: catalogue.ScaleCalls, named: Named, _: object, edited: Edited) -> None:
    mine = np.flatnonzero(np.isin(program.ops["site"], named.sites))
    edited.host = True
    if not len(mine):
        raise RefusedError(f"'{change}' names calls that the run did not make")
    kinds = program.ops["kind"][mine]
    if (kinds == IRQ).any() or (change.factor and (kinds == AWAIT).any()):
        raise RefusedError(f"'{change}' names waits: they take as long as what they are for")
    if change.factor == 0:
        if (kinds == ASK).any():
            _ask_together(program, mine[kinds == ASK], change)
            edited.notes.append("the answer that is left has to tell of what the others told")
        _let_words_go(program, mine, change)
        _remove(program, mine)
        return
    lasts = work_ps(program)
    moved = mine[program.ops["table"][mine] >= 0]
    program.ops["beyond_ps"][moved] += np.rint(lasts[moved] * change.factor).astype(np.int64) - lasts[moved]
    fixed = mine[program.ops["table"][mine] < 0]
    program.ops["work_ps"][fixed] = np.rint(program.ops["work_ps"][fixed] * change.factor)


def _ask_together(program: Program, gone: Numbers, change: Change) -> None:
    """Let the questions before or after others ask for what those asked for."""
    ops = program.ops
    leaving = set(gone.tolist())
    for row in gone.tolist():
        near = [n for n in (row - 1, row + 1) if 0 <= n < len(ops) and ops["kind"][n] == ASK and n not in leaving]
        answer = program.answers.get(int(program.base[row]))
        if not near or answer is None:
            raise RefusedError(f"'{change}' removes questions: without them the host would not know of the answer")
        other = program.answers.get(int(program.base[near[0]]))
        if other is None or other.kind != answer.kind or other.kind == WORD:
            raise RefusedError(f"'{change}' removes questions of which it is not known what answers them")
        program.answers[int(program.base[near[0]])] = replace(
            other, sources=tuple(dict.fromkeys((*other.sources, *answer.sources))), lag=max(other.lag, answer.lag)
        )


def _let_words_go(program: Program, gone: Numbers, change: Change) -> None:
    """Refuse to remove calls whose words let the FPGA begin."""
    held = program.edges[_begun_by(program, gone)]
    blocks = program.run.manifest.blocks
    names = {blocks[int(n)].id for n in np.unique(program.fpga.block[held["stretch"]])}
    if names:
        raise RefusedError(f"'{change}' removes calls that {min(names)} waits for: say what lets it begin instead")


def _remove(program: Program, gone: Numbers) -> None:
    """Take operations out; the host's own code before them stays."""
    keep = np.ones(len(program.ops), bool)
    keep[gone] = False
    own = np.where(keep, 0, program.ops["own_ps"])
    before = np.append(0, np.cumsum(own))
    kept = np.flatnonzero(keep)
    since = np.append(0, kept[:-1] + 1) if len(kept) else kept
    more = before[kept] - before[since]
    left = int(before[-1] - before[kept[-1] + 1]) if len(kept) else int(before[-1])
    program.ops["own_ps"][kept] += more
    program.loop_ps[kept] += more
    thread = int(program.ops["thread"][0]) if len(program.ops) else 0
    program.rest_ps[thread] = program.rest_ps.get(thread, 0) + left
    place = np.cumsum(keep) - 1
    program.at = np.where((program.at >= 0) & keep[program.at], place[program.at], -1)
    _take(program, kept)


def _take(program: Program, rows: Numbers) -> None:
    for name in ("ops", "base", "loop_ps", "unsure_ps", "delay_ps", "buffers"):
        setattr(program, name, getattr(program, name)[rows])


def _unite(program: Program, change: catalogue.Unite, named: Named, _: object, edited: Edited) -> None:
    edited.host = True
    mine = _ops(program, named, (MOVE, ASYNC), change, "transfers")
    directions = _sends(program)[mine]
    if directions.any() != directions.all():
        raise RefusedError(f"'{change}' names sends and receives: they cannot be one call")
    sends = bool(directions.all())
    ops = program.ops
    heads: list[int] = []
    gone: list[int] = []
    starts = np.append(True, ops["thread"][mine][1:] != ops["thread"][mine][:-1])
    chunks: list[list[int]] = []
    for row, first in zip(mine.tolist(), starts.tolist(), strict=True):
        if first or len(chunks[-1]) == change.count:
            chunks.append([])
        chunks[-1].append(row)
    apart = False
    lone = np.isin(np.arange(len(ops)), mine)
    for chunk in chunks:
        if len(chunk) < 2:
            continue
        near = chunk[-1] - chunk[0] + 1 == len(chunk) or bool(lone[chunk[0] : chunk[-1] + 1].all())
        apart |= not near
        kept = chunk[0] if sends and not near else chunk[-1] if sends else chunk[0] if near else chunk[-1]
        others = [row for row in chunk if row != kept]
        heads.append(kept)
        gone += others
        at = 0
        for row in chunk:
            for one in np.flatnonzero(program.at == row).tolist():
                program.byte[one] += at
                program.at[one] = kept
            at += int(ops["bytes"][row])
        widest = max(chunk, key=lambda row: int(ops["bytes"][row]))
        for name in ("table", "bus", "shorter"):
            ops[name][kept] = ops[name][widest]
        extra = int(sum(ops["own_ps"][row] for row in others))
        between = int(min(ops["own_ps"][row] for row in chunk[1:])) * (len(chunk) - 1)  # the loop around them, at most
        ops["own_ps"][kept] += extra
        program.loop_ps[kept] += between
        ops["bytes"][kept], ops["beyond_ps"][kept], ops["address"][kept] = at, 0, min(ops["address"][chunk])
        ops["own_ps"][others] = 0
    if not heads:
        raise RefusedError(f"'{change}' finds no two of these calls to unite")
    if apart:
        edited.notes.append("the united calls need room for all their data at once, on the host and in the FPGA")
    keep = np.ones(len(ops), bool)
    keep[gone] = False
    place = np.cumsum(keep) - 1
    program.at = np.where(program.at >= 0, place[program.at], -1)
    _take(program, np.flatnonzero(keep))


def _sends(program: Program) -> NDArray[np.bool_]:
    """Of each operation whether it moves data to the FPGA."""
    entries = program.run.manifest.entries
    kinds = np.array([e.kind == "send" for e in entries] + [False])
    found: NDArray[np.bool_] = kinds[np.asarray(program.run.tables["calls"]["entry"])[program.ops["row"]]]
    return found


def _split(program: Program, change: catalogue.Split, named: Named, _: object, edited: Edited) -> None:
    edited.host = True
    mine = _ops(program, named, (MOVE, ASYNC), change, "transfers")
    times = np.ones(len(program.ops), np.int64)
    times[mine] = change.count
    if (program.ops["bytes"][mine] % change.count).any():
        edited.doubts.append(f"their bytes are no multiple of {change.count}")
    if (program.parts[np.isin(program.at, mine)] > 1).any():
        raise RefusedError(f"'{change}' parts calls that another change parts")
    program.parts[np.isin(program.at, mine)] = change.count
    firsts = np.cumsum(times) - times
    program.at = np.where(program.at >= 0, firsts[program.at], -1)
    rows = np.repeat(np.arange(len(program.ops)), times)
    _take(program, rows)
    ops = program.ops
    split = np.isin(rows, mine)
    ops["bytes"][split] = np.maximum(ops["bytes"][split] // change.count, 1)
    ops["beyond_ps"][split] = 0
    later = split & (np.append(-1, rows[:-1]) == rows)
    ops["own_ps"][later] = 0


def _resize(program: Program, change: catalogue.Resize, named: Named, _: object, edited: Edited) -> None:
    edited.host = True
    mine = _ops(program, named, (MOVE, ASYNC), change, "transfers")
    of = np.isin(program.at, mine)
    if (program.span[of] != program.ops["bytes"][program.at[of]]).any():
        raise RefusedError(f"'{change}' resizes calls that another change unites or parts: say the size there")
    program.ops["bytes"][mine] = change.bytes
    program.ops["beyond_ps"][mine] = 0
    program.span[of] = change.bytes


def _retype(
    program: Program, change: catalogue.Retype, named: Named, platform: Platform | None, edited: Edited
) -> None:
    edited.host = True
    mine = _ops(program, named, (MOVE, ASYNC, ASK), change, "transfers")
    names = [name for name, _ in program.tables]
    if change.table not in names:
        raise RefusedError(f"no transfer table '{change.table}' is known: the platform's template is missing")
    number = names.index(change.table)
    table = program.tables[number][1]
    if (_sends(program)[mine] != (table.direction == "send")).any():
        raise RefusedError(f"'{change.table}' is a table of the other direction")
    program.ops["table"][mine], program.ops["beyond_ps"][mine] = number, 0
    resources = program.run.manifest.resources
    program.ops["bus"][mine] = resources.index(table.resource) if table.resource in resources else -1
    known = program.host.ops["shorter"][program.host.ops["table"] == number]
    program.ops["shorter"][mine] = int(known[0]) if len(known) else 0


def _asynchronous(program: Program, change: catalogue.Asynchronous, named: Named, _: object, edited: Edited) -> None:
    edited.host = True
    mine = _ops(program, named, (MOVE, ASYNC), change, "transfers")
    if not _sends(program)[mine].all():
        raise RefusedError(f"'{change}' names receives: the host needs what they bring")
    program.ops["kind"][mine] = ASYNC
    program.buffers[mine] = change.buffers
    if change.buffers > 1:
        edited.notes.append(f"the host needs {change.buffers} buffers of its own for the data under way")


def _interrupt(program: Program, change: catalogue.Interrupt, named: Named, _: object, edited: Edited) -> None:
    edited.host = edited.fpga = True
    mine = _ops(program, named, (ASK, IRQ), change, "polls")
    _answered(program, mine, change)
    program.ops["kind"][mine] = IRQ
    program.ops["table"][mine] = program.ops["bus"][mine] = -1
    program.ops["shorter"][mine] = 0
    edited.notes.append("the FPGA has to raise an interrupt when it is done")


def _answered(program: Program, ops: Numbers, change: Change) -> None:
    if any(int(program.base[op]) not in program.answers for op in ops):
        raise RefusedError(f"'{change}' names polls of which it is not known what answers them")


def _poll_delay(program: Program, change: catalogue.PollDelay, named: Named, _: object, edited: Edited) -> None:
    edited.host = True
    mine = _ops(program, named, (ASK,), change, "polls")
    _answered(program, mine, change)
    program.delay_ps[mine] = round(change.delay_s * PS_PER_S)


def _early(program: Program, change: catalogue.Early, named: Named, _: object, edited: Edited) -> None:
    edited.host = True
    mine = _ops(program, named, (MOVE, ASYNC), change, "transfers")
    waits = np.flatnonzero(np.isin(program.ops["kind"], (ASK, IRQ)))
    order: list[int] = list(range(len(program.ops)))
    moved = 0
    runs = np.split(mine, np.flatnonzero(np.diff(mine) > 1) + 1)
    to: dict[int, list[int]] = {}
    for before, run in pairwise(runs):
        between = waits[(waits > before[-1]) & (waits < run[0])]
        if len(between) and program.ops["thread"][between[0]] == program.ops["thread"][run[0]]:
            to.setdefault(int(between[0]), []).extend(run.tolist())
            moved += 1
    if not moved:
        raise RefusedError(f"'{change}': the host waits for the FPGA between no two rounds of these calls")
    going = {row for rows in to.values() for row in rows}
    order = [each for row in order if row not in going for each in (*to.get(row, ()), row)]
    addresses = program.ops["address"]
    before, later = runs[0], runs[1]
    if set(addresses[before].tolist()) & set(addresses[later].tolist()):
        edited.notes.append("the FPGA needs a second buffer: it still works on what is at these addresses")
    _reorder(program, np.array(order))


def _reorder(program: Program, order: Numbers) -> None:
    place = np.empty(len(order), np.int64)
    place[order] = np.arange(len(order))
    program.at = np.where(program.at >= 0, place[program.at], -1)
    _take(program, order)


def _rounds(program: Program, starts: Numbers) -> list[tuple[int, int]]:
    """Each start and the wait that comes first after it (-1: none before the next start)."""
    waits = np.flatnonzero(np.isin(program.ops["kind"], (ASK, IRQ)))
    found = []
    for n, start in enumerate(starts.tolist()):
        stop = int(starts[n + 1]) if n + 1 < len(starts) else len(program.ops)
        after = waits[(waits > start) & (waits < stop)]
        found.append((start, int(after[0]) if len(after) else -1))
    return found


def _begun_by(program: Program, ops: Numbers) -> Numbers:
    """The edges from words of these operations to blocks that wait for them; a port only passes them on."""
    base = np.flatnonzero(np.isin(program.at, ops))
    found = np.flatnonzero((program.edges["kind"] == WORD) & np.isin(program.edges["source"], base))
    wait = np.array([works(block) for block in program.run.manifest.blocks])
    return found[wait[program.fpga.block[program.edges["stretch"][found]]]] if len(found) else found


def _fewer_starts(program: Program, change: catalogue.FewerStarts, named: Named, _: object, edited: Edited) -> None:
    edited.host = edited.fpga = True
    starts = _ops(program, named, (MOVE, ASYNC), change, "transfers")
    rounds = _rounds(program, starts)
    if any(wait < 0 for _, wait in rounds):
        raise RefusedError(f"'{change}' names starts that the host does not wait for one after the other")
    sends = _sends(program)
    gone: list[int] = []
    late: dict[int, list[int]] = {}
    for n in range(0, len(rounds), change.count):
        some = rounds[n : n + change.count]
        last_start, last_wait = some[-1]
        for (start, wait), (following, _) in pairwise(some):
            gone += [start, wait]
            _move_begin(program, start, last_start)
            between = [row for row in range(wait + 1, following) if not sends[row]]
            late.setdefault(last_wait, []).extend(between)
            _move_answers(program, wait, last_wait)
    moved = {row for rows in late.values() for row in rows}
    order = [each for row in range(len(program.ops)) if row not in moved for each in (row, *late.get(row, ()))]
    place = {row: n for n, row in enumerate(order)}
    _reorder(program, np.array(order))
    _remove(program, np.array(sorted(place[row] for row in gone), np.int64))
    edited.notes.append(f"the FPGA has to work through {change.count} rounds after one start")


def _move_begin(program: Program, start: int, to: int) -> None:
    """What began with one operation's words begins with the last word of another, and without a wait between."""
    edges = _begun_by(program, np.array([start]))
    target = int(program.base[to])
    program.edges["source"][edges], program.edges["byte"][edges] = target, -1
    program.lag_after[program.edges["stretch"][edges]] = 0


def _move_answers(program: Program, wait: int, to: int) -> None:
    """A wait that is gone was for something that another one is for as well."""
    del wait, to  # the last round's end comes after those before it


def _control_in_fpga(
    program: Program, change: catalogue.ControlInFpga, named: Named, _: object, edited: Edited
) -> None:
    edited.host = edited.fpga = True
    starts = _ops(program, named, (MOVE, ASYNC), change, "transfers")
    sends, kinds = _sends(program), program.ops["kind"]
    chosen = set(starts.tolist())
    gone: list[int] = []
    waits = np.isin(kinds, (ASK, IRQ))
    data = -1  # the last send of data since the last wait
    fresh = False
    wait_before = -1
    settings: set[int] = set()
    for row in range(len(program.ops)):
        if row in chosen:
            edges = _begun_by(program, np.array([row]))
            if not len(edges):  # a setting, which has to be made once
                address = int(program.ops["address"][row])
                if address in settings:
                    gone.append(row)
                settings.add(address)
                continue
            if fresh and data >= 0:
                program.edges["source"][edges], program.edges["byte"][edges] = int(program.base[data]), -1
                gone.append(row)
                wait_before = -1
            elif wait_before >= 0:  # goes on with the next round by itself, and its end is waited for alone
                program.edges["source"][edges], program.edges["byte"][edges] = int(program.base[data]), -1
                program.lag_after[program.edges["stretch"][edges]] = 0
                gone += [row, wait_before]
                wait_before = -1
            elif data < 0:
                data = row
            fresh = False
        elif waits[row]:
            wait_before = row
        elif sends[row] and kinds[row] in (MOVE, ASYNC):
            data, fresh = row, True
            wait_before = -1
        elif kinds[row] in (MOVE, ASYNC):
            wait_before = -1
    if not gone:
        raise RefusedError(f"'{change}' names no calls that the FPGA could do without")
    _remove(program, np.array(sorted(set(gone)), np.int64))
    edited.notes.append("the FPGA has to begin by itself when its data are there")


def _clock(program: Program, change: catalogue.Clock, named: Named, _: object, edited: Edited) -> None:
    edited.fpga = True
    clocks = program.run.manifest.clocks
    for number in named.clocks:
        ratio = Fraction(str(clocks[number].frequency_hz)) / Fraction(str(change.frequency_hz))
        program.periods_ps[number] = period_ps(change.frequency_hz)
        for other, clock in enumerate(clocks):
            if clock.derived_from == clocks[number].name:
                program.periods_ps[other] *= ratio
        # what is opaque takes as many cycles as before


def _platform(
    program: Program, change: catalogue.OtherPlatform, _: Named, platform: Platform | None, edited: Edited
) -> None:
    del program, platform, edited
    raise RefusedError(f"the template '{change.platform}' is not given to replay: run the application on it")


_EDITS: dict[type[Change], Callable[..., None]] = {
    catalogue.ScaleState: _scale_state,
    catalogue.ScaleHost: _scale_host,
    catalogue.ScaleCalls: _scale_calls,
    catalogue.Unite: _unite,
    catalogue.Split: _split,
    catalogue.Resize: _resize,
    catalogue.Retype: _retype,
    catalogue.Asynchronous: _asynchronous,
    catalogue.Interrupt: _interrupt,
    catalogue.PollDelay: _poll_delay,
    catalogue.Early: _early,
    catalogue.FewerStarts: _fewer_starts,
    catalogue.ControlInFpga: _control_in_fpga,
    catalogue.Clock: _clock,
    catalogue.OtherPlatform: _platform,
}
