"""Changes in the number, size and time of calls: united, split, earlier, fewer."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from workbench.model import changes as catalogue
from workbench.model.blocks import Side
from workbench.model.platform import Platform
from workbench.replay.answers import AwaitedEvents
from workbench.replay.editing import (
    Edited,
    RefusedError,
    ask_for_both,
    begun_by,
    let_words_go,
    only_taken,
    operations,
    refuse_held_up,
    refuse_more,
    remove,
    reorder,
    sends_of,
    take,
)
from workbench.replay.host import ASK, ASYNC, IRQ, MOVE
from workbench.replay.program import Program, set_bus
from workbench.replay.resolve import Named

Numbers = NDArray[np.int64]


def unite(program: Program, change: catalogue.Unite, named: Named, _: object, edited: Edited) -> None:
    edited.host = True
    mine = operations(program, named, (MOVE, ASYNC, ASK), change, "transfers")
    if (program.ops["kind"][mine] == ASK).all():
        _unite_questions(program, mine, change, edited)
        return
    if (program.ops["kind"][mine] == ASK).any():
        raise RefusedError(f"'{change}' names polls and transfers: they cannot be one call")
    refuse_held_up(program, mine, change)
    directions = sends_of(program)[mine]
    if directions.any() != directions.all():
        raise RefusedError(f"'{change}' names sends and receives: they cannot be one call")
    sends = bool(directions.all())
    ops = program.ops
    heads: list[int] = []
    removed: list[int] = []
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
        remaining = chunk[0] if sends and not near else chunk[-1] if sends else chunk[0] if near else chunk[-1]
        united = [row for row in chunk if row != remaining]
        if not sends and not near:  # their results are kept until then, and no longer hold the FPGA
            let_words_go(program, np.array(united, np.int64))
        heads.append(remaining)
        removed += united
        at = 0
        for row in chunk:
            for one in np.flatnonzero(program.at == row).tolist():
                program.byte[one] += at
                program.at[one] = remaining
            at += int(ops["bytes"][row])
        widest = max(chunk, key=lambda row: int(ops["bytes"][row]))
        for name in ("table", "bus", "shorter"):
            ops[name][remaining] = ops[name][widest]
        extra = int(sum(ops["own_ps"][row] for row in united))
        between = int(min(ops["own_ps"][row] for row in chunk[1:])) * (len(chunk) - 1)  # the loop around them, at most
        ops["own_ps"][remaining] += extra
        program.loop_ps[remaining] += between
        ops["bytes"][remaining], ops["beyond_ps"][remaining], ops["address"][remaining] = (
            at,
            0,
            min(ops["address"][chunk]),
        )
        ops["own_ps"][united] = 0
    if not heads:
        raise RefusedError(f"'{change}' finds no two of these calls to unite")
    if apart:
        edited.notes.append("the united calls need room for all their data at once, on the host and in the FPGA")
    keep = np.ones(len(ops), bool)
    keep[removed] = False
    place = np.cumsum(keep) - 1
    program.at = np.where(program.at >= 0, place[program.at], -1)
    take(program, np.flatnonzero(keep))


def _unite_questions(program: Program, mine: Numbers, change: catalogue.Unite, edited: Edited) -> None:
    """Let the first poll of each row of `count` ask for all of them, through one register."""
    removed: list[int] = []
    thread = program.ops["thread"][mine]
    for row in np.split(mine, np.flatnonzero((np.diff(mine) > 1) | (np.diff(thread) != 0)) + 1):
        for at in range(0, len(row), change.count):
            first, *united = row[at : at + change.count].tolist()
            for other in united:
                ask_for_both(program, first, other, change)
            removed += united
    if not removed:
        raise RefusedError(f"'{change}' finds no two of these polls in a row")
    remove(program, np.array(removed, np.int64))
    edited.notes.append("the remaining poll must report what the others reported")


def split(program: Program, change: catalogue.Split, named: Named, _: object, edited: Edited) -> None:
    edited.host = True
    mine = operations(program, named, (MOVE, ASYNC), change, "transfers")
    refuse_held_up(program, mine, change)
    refuse_more(change.count * len(mine), change)
    times = np.ones(len(program.ops), np.int64)
    times[mine] = change.count
    if (program.ops["bytes"][mine] % change.count).any():
        edited.doubts.append(f"their bytes are not a multiple of {change.count}")
    if (program.parts[np.isin(program.at, mine)] > 1).any():
        raise RefusedError(f"'{change}' splits calls that another change splits")
    program.parts[np.isin(program.at, mine)] = change.count
    firsts = np.cumsum(times) - times
    program.at = np.where(program.at >= 0, firsts[program.at], -1)
    rows = np.repeat(np.arange(len(program.ops)), times)
    take(program, rows)
    ops = program.ops
    split = np.isin(rows, mine)
    ops["bytes"][split] = np.maximum(ops["bytes"][split] // change.count, 1)
    ops["beyond_ps"][split] = 0
    later = split & (np.append(-1, rows[:-1]) == rows)
    ops["own_ps"][later] = 0


def resize(program: Program, change: catalogue.Resize, named: Named, _: object, edited: Edited) -> None:
    edited.host = True
    mine = operations(program, named, (MOVE, ASYNC), change, "transfers")
    refuse_held_up(program, mine, change)
    of = np.isin(program.at, mine)
    if (program.span[of] != program.ops["bytes"][program.at[of]]).any():
        raise RefusedError(f"'{change}' resizes calls that another change unites or splits: give the size there")
    fewer = mine[program.ops["bytes"][mine] > change.bytes]
    program.ops["bytes"][mine] = change.bytes
    program.ops["beyond_ps"][mine] = 0
    program.span[of] = change.bytes
    if len(fewer) and sends_of(program)[fewer].any():
        _work_as_long(program, fewer, edited)


def _work_as_long(program: Program, fewer: Numbers, edited: Edited) -> None:
    """Keep the FPGA's work for fewer bytes: it goes on without a pause, and the host's next receive waits for all of
    its results."""
    edges = begun_by(program, fewer)
    stretches = program.edges["stretch"][edges]
    if not len(edges):
        return
    edited.fpga = True
    edited.doubts.append("assumes that the FPGA takes as long for the data as before")
    program.lag_after[stretches] = 0
    came_by = program.at[program.edges["source"][edges]]
    receives = np.flatnonzero(np.isin(program.ops["kind"], (MOVE, ASK)) & ~sends_of(program))
    after = np.searchsorted(receives, came_by)
    for receive in np.unique(after[after < len(receives)]).tolist():
        mine = stretches[after == receive]
        last = [int(mine[program.fpga.block[mine] == block].max()) for block in np.unique(program.fpga.block[mine])]
        program.results += [(int(program.base[receives[receive]]), stretch) for stretch in last]


def retype(program: Program, change: catalogue.Retype, named: Named, platform: Platform | None, edited: Edited) -> None:
    edited.host = True
    mine = operations(program, named, (MOVE, ASYNC, ASK), change, "transfers")
    refuse_held_up(program, mine, change)
    names = [name for name, _ in program.tables]
    if change.table not in names:
        raise RefusedError(f"no transfer table '{change.table}' is known: the platform's template is missing")
    number = names.index(change.table)
    table = program.tables[number][1]
    if (sends_of(program)[mine] != (table.direction == "send")).any():
        raise RefusedError(f"'{change.table}' is a table of the other direction")
    program.ops["table"][mine], program.ops["beyond_ps"][mine] = number, 0
    set_bus(program, mine, table.resource)
    known_shorter = program.host.ops["shorter"][program.host.ops["table"] == number]
    program.ops["shorter"][mine] = int(known_shorter[0]) if len(known_shorter) else 0


_UNKNOWN = "of some rounds only the host's wait for the FPGA is known, not how long several of them take"


def asynchronous(program: Program, change: catalogue.Asynchronous, named: Named, _: object, edited: Edited) -> None:
    edited.host = True
    mine = operations(program, named, (MOVE, ASYNC), change, "transfers")
    if not sends_of(program)[mine].all():
        raise RefusedError(f"'{change}' names receives: the host needs their data")
    program.ops["kind"][mine] = ASYNC
    program.buffers[mine] = change.buffers
    if change.buffers > 1:
        edited.notes.append(f"the host needs {change.buffers} buffers of its own for the data under way")


def early(program: Program, change: catalogue.Early, named: Named, _: object, edited: Edited) -> None:
    edited.host = True
    every = operations(program, named, (MOVE, ASYNC), change, "transfers")
    to: dict[int, list[int]] = {}
    for mine in _by_thread(program, every, change):
        waits = _waits_of_thread(program, mine)
        runs = np.split(mine, np.flatnonzero(np.diff(mine) > 1) + 1)
        for before, run in pairwise(runs):
            between = waits[(waits > before[-1]) & (waits < run[0])]
            if len(between):
                to.setdefault(int(between[0]), []).extend(run.tolist())
        addresses = program.ops["address"]
        if len(runs) > 1 and set(addresses[runs[0]].tolist()) & set(addresses[runs[1]].tolist()):
            edited.notes.append("the FPGA needs a second buffer: it still works on what is at these addresses")
    if not to:
        raise RefusedError(f"'{change}': the host never waits for the FPGA between two rounds of these calls")
    going = {row for rows in to.values() for row in rows}
    order = [operation for row in range(len(program.ops)) if row not in going for operation in (*to.get(row, ()), row)]
    reorder(program, np.array(order))


def _by_thread(program: Program, ops: Numbers, change: catalogue.Change) -> list[Numbers]:
    """The operations of each thread, in order. Refuse several threads that share cores, since the core decides the
    order of calls."""
    manifest = program.run.manifest
    if len(np.unique(program.ops["thread"][ops])) > 1 and manifest.cores.count < len(manifest.threads):
        raise RefusedError(
            f"'{change}' is of calls of several threads, and there are fewer cores than threads: the order of their "
            "calls is unknown"
        )
    return np.split(ops, np.flatnonzero(np.diff(program.ops["thread"][ops])) + 1)


def _waits_of_thread(program: Program, ops: Numbers) -> Numbers:
    """The waits for the FPGA of these operations' thread."""
    mine = program.ops["thread"] == program.ops["thread"][ops[0]]
    return np.flatnonzero(np.isin(program.ops["kind"], (ASK, IRQ)) & mine)


def _rounds(program: Program, starts: Numbers) -> list[tuple[int, int]]:
    """Each start of a thread, and the first wait after it (-1: none before the next start)."""
    waits = _waits_of_thread(program, starts)
    rounds = []
    for n, start in enumerate(starts.tolist()):
        stop = int(starts[n + 1]) if n + 1 < len(starts) else len(program.ops)
        after = waits[(waits > start) & (waits < stop)]
        rounds.append((start, int(after[0]) if len(after) else -1))
    return rounds


def fewer_starts(program: Program, change: catalogue.FewerStarts, named: Named, _: object, edited: Edited) -> None:
    edited.host = edited.fpga = True
    starts = operations(program, named, (MOVE, ASYNC), change, "transfers")
    of_threads = [_rounds(program, mine) for mine in _by_thread(program, starts, change)]
    if any(wait < 0 for rounds in of_threads for _, wait in rounds):
        raise RefusedError(f"'{change}' names starts that the host does not wait for one after the other")
    sends = sends_of(program)
    removed: list[int] = []
    late: dict[int, list[int]] = {}
    groups = [rounds[n : n + change.count] for rounds in of_threads for n in range(0, len(rounds), change.count)]
    for some in groups:
        last_start, last_wait = some[-1]
        wait_for_all(program, [wait for _, wait in some], change)
        for (start, wait), (following, _) in pairwise(some):
            removed += [start, wait]
            _move_begin(program, start, last_start)
            between = [row for row in range(wait + 1, following) if not sends[row]]
            late.setdefault(last_wait, []).extend(between)
    moved = {row for rows in late.values() for row in rows}
    order = [
        operation for row in range(len(program.ops)) if row not in moved for operation in (row, *late.get(row, ()))
    ]
    place = {row: n for n, row in enumerate(order)}
    reorder(program, np.array(order))
    remove(program, np.array(sorted(place[row] for row in removed), np.int64))
    edited.notes.append(f"the FPGA must work through {change.count} rounds after one start")


def wait_for_all(program: Program, waits: Sequence[int], change: catalogue.Change) -> None:
    """If only the host's wait is known of rounds, let the last wait last as long as all of these."""
    last = program.answers.get(int(program.base[waits[-1]]))
    lost = _opaque(program, waits[:-1])
    if not lost:
        return
    if last is None or not last.opaque:
        raise RefusedError(f"'{change}': {_UNKNOWN}")
    lag, latest = (sum(getattr(one, of) for one in (*lost, last)) for of in ("lag", "latest"))
    program.answers[int(program.base[waits[-1]])] = replace(last, lag=lag, latest=latest)


def _opaque(program: Program, waits: Sequence[int]) -> list[AwaitedEvents]:
    """The answers of these waits that are the only information on a round's work in the FPGA."""
    answers = (program.answers.get(int(program.base[wait])) for wait in waits)
    return [answer for answer in answers if answer is not None and answer.opaque]


def _move_begin(program: Program, start: int, to: int) -> None:
    """Let stretches that began with one operation's words begin with the last word of another, without a wait
    between."""
    edges = begun_by(program, np.array([start]))
    target = int(program.base[to])
    program.edges["source"][edges], program.edges["byte"][edges] = target, -1
    program.lag_after[program.edges["stretch"][edges]] = 0


def _sites_of_data(program: Program, starts: Numbers) -> set[int]:
    """The sites that write more addresses than any block has replicas: words of data rather than settings."""
    groups = Counter(block.group for block in program.run.manifest.blocks if block.side is Side.FPGA)
    places = np.unique(np.stack([program.ops["site"][starts], program.ops["address"][starts]]), axis=1)
    sites, counts = np.unique(places[0], return_counts=True)
    return set(sites[counts > max(groups.values(), default=1)].tolist())


def control_in_fpga(program: Program, change: catalogue.ControlInFpga, named: Named, _: object, edited: Edited) -> None:
    edited.host = edited.fpga = True
    starts = operations(program, named, (MOVE, ASYNC), change, "transfers")
    if not len(program.fpga.first):
        raise RefusedError("it is unknown what the FPGA does after a start: mark and trace it")
    sends, kinds = sends_of(program), program.ops["kind"]
    dispensable = only_taken(program, starts)  # starts that the FPGA does not need
    let_words_go(program, dispensable)
    used_starts = set(starts.tolist()) - set(dispensable.tolist())
    blocks_of_data = _sites_of_data(program, starts)
    removed: list[int] = dispensable.tolist()
    not_waited_for: list[int] = []
    waits = np.isin(kinds, (ASK, IRQ))
    data = -1  # the last send of data since the last wait
    fresh = False
    wait_before = thread = -1
    settings: set[int] = set()
    of_threads = [int(program.ops["thread"][mine[0]]) for mine in _by_thread(program, starts, change)]
    rows = np.flatnonzero(np.isin(program.ops["thread"], of_threads))
    for row in np.setdiff1d(rows, dispensable).tolist():
        if program.ops["thread"][row] != thread:
            thread, data, fresh, wait_before = int(program.ops["thread"][row]), -1, False, -1
            settings = set()
        if row in used_starts:
            edges = begun_by(program, np.array([row]))
            united = program.ops["bytes"][row] > program.host.ops["bytes"][program.base[row]]
            if united or (not len(edges) and int(program.ops["site"][row]) in blocks_of_data):
                data, fresh, wait_before = row, True, -1
                continue
            if not len(edges):  # a setting, which is needed once
                address = int(program.ops["address"][row])
                if address in settings:
                    removed.append(row)
                settings.add(address)
                continue
            if fresh and data >= 0:
                program.edges["source"][edges], program.edges["byte"][edges] = int(program.base[data]), -1
                removed.append(row)
                wait_before = -1
            elif wait_before >= 0:  # the FPGA starts the next round itself, and only the last end is awaited
                program.edges["source"][edges], program.edges["byte"][edges] = int(program.base[data]), -1
                program.lag_after[program.edges["stretch"][edges]] = 0
                removed += [row, wait_before]
                not_waited_for.append(wait_before)
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
    if not removed:
        raise RefusedError(f"'{change}' names no calls that the FPGA can work without")
    if _opaque(program, not_waited_for):
        raise RefusedError(f"'{change}': {_UNKNOWN}")
    remove(program, np.array(sorted(set(removed)), np.int64))
    edited.notes.append("the FPGA must start by itself when its data have arrived")
