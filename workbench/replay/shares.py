"""The host's distribution of work to replicas, as its calls show: the data of each, and the order."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from workbench.replay.editing import sends_of
from workbench.replay.events import STAY, WORD
from workbench.replay.host import ANSWER_BYTES, ASK, ASYNC, IRQ, MOVE
from workbench.replay.program import Program

Numbers = NDArray[np.int64]
NONE, SEVERAL = -1, -2  # operations that concern no replica, or several


@dataclass(frozen=True)
class Item:
    """One piece of work for a replica: the operations that begin it, and those that finish it, from its wait on."""

    member: int
    begin: tuple[int, ...]
    finish: tuple[int, ...]


@dataclass(frozen=True)
class Dealt:
    """Items in the order of their begins, the replicas in turn. With `pipelined`, a replica gets the next item as soon
    as it is done; with `rounds`, all begin before the first is waited for. With one replica both may hold."""

    items: tuple[Item, ...]
    pipelined: bool
    rounds: bool

    def order(self, count: int, pipelined: bool) -> Iterator[int]:
        """The operations of the items in their order with `count` replicas."""
        items, number = self.items, len(self.items)
        if pipelined:
            for n in range(number + count):
                yield from items[n - count].finish if 0 <= n - count < number else ()
                yield from items[n].begin if n < number else ()
        else:
            for first in range(0, number, count):
                some = items[first : first + count]
                for part in (*(one.begin for one in some), *(one.finish for one in some)):
                    yield from part


def members_of(program: Program, blocks: Sequence[int]) -> Numbers:
    """For each operation the replica that it concerns: its index in `blocks`, -1 for none, -2 for several."""
    fpga, ops = program.fpga, program.ops
    place = np.full(max((*blocks, *fpga.blocks), default=0) + 1, NONE, np.int64)
    place[list(blocks)] = np.arange(len(blocks))
    low, high = np.full(len(ops), len(blocks)), np.full(len(ops), NONE)
    edges = program.edges[program.edges["kind"] == WORD]
    op, member = program.at[edges["source"]], place[fpga.block[edges["stretch"]]]
    mine = (op >= 0) & (member >= 0)
    np.minimum.at(low, op[mine], member[mine])
    np.maximum.at(high, op[mine], member[mine])
    for row in np.flatnonzero(np.isin(ops["kind"], (ASK, IRQ))).tolist():
        answer = program.answers.get(int(program.base[row]))
        if answer and answer.kind == STAY:
            asked_members = place[fpga.stay_block[np.array(answer.sources)]]
            low[row] = min(low[row], asked_members.min()) if (asked_members >= 0).all() else low[row]
            high[row] = max(high[row], asked_members.max())
    members = np.where(high < 0, NONE, np.where(low == high, high, SEVERAL))
    moves = (members == NONE) & np.isin(ops["kind"], (MOVE, ASYNC))
    if len(blocks) == 1:  # it may all be for the one
        members[moves & (members.max(initial=NONE) == 0)] = 0
    else:
        _by_address(program, members, moves, len(blocks))
    return members


def _by_address(program: Program, members: Numbers, moves: NDArray[np.bool_], count: int) -> None:
    """Assign calls of a site without a known replica to replicas: if they go to as many addresses, or lie within the
    known address ranges."""
    addresses, sites = program.ops["address"], program.ops["site"]
    ranges = [addresses[(members == member) & (addresses >= 0)] for member in range(count)]
    if any(not len(of_member) for of_member in ranges):
        return
    bounds = sorted((int(of_member.min()), int(of_member.max()), member) for member, of_member in enumerate(ranges))
    apart = all(before[1] < after[0] for before, after in pairwise(bounds))
    for site in np.unique(sites[moves]).tolist():
        rows = np.flatnonzero(moves & (sites == site))
        values, address_index = np.unique(addresses[rows], return_inverse=True)
        if len(values) == count and values[0] >= 0:
            members[rows] = np.array([member for _, _, member in bounds])[address_index]
        elif apart:
            for low, high, member in bounds:
                members[rows[(addresses[rows] >= low) & (addresses[rows] <= high)]] = member


def dealt(program: Program, members: Numbers, count: int) -> Dealt | None:
    """The items that the host deals to the replicas in turn; None if the items are not alike, or in another order."""
    items: list[Item] = []
    for member in range(count):
        items_of_member = _items_of(program, members, member)
        if not items_of_member:
            return None
        items += items_of_member
    items.sort(key=lambda item: item.begin[0])
    if [item.member for item in items] != [n % count for n in range(len(items))]:
        return None
    parts = [part for item in items for part in (item.begin, item.finish)]
    inside = set(range(items[0].begin[0], max(part[-1] for part in parts) + 1))
    if inside - {op for part in parts for op in part} or any(part[-1] - part[0] >= len(part) for part in parts):
        return None
    ends = [item.finish[0] for item in items]
    if ends != sorted(ends):
        return None
    pipelined = all(items[n].finish[-1] + 1 == items[n + count].begin[0] for n in range(len(items) - count))
    rounds = all(
        max(item.begin[-1] for item in some) < min(item.finish[0] for item in some)
        and (not after or max(item.finish[-1] for item in some) < after[0].begin[0])
        for first in range(0, len(items), count)
        for some, after in [(items[first : first + count], items[first + count :])]
    )
    return Dealt(tuple(items), pipelined, rounds) if pipelined or rounds else None


def _items_of(program: Program, members: Numbers, member: int) -> list[Item]:
    """The items of one replica; none if they are not alike. Operations before the first item belong to none."""
    ops = np.flatnonzero(members == member)
    kinds, sites = program.ops["kind"][ops], program.ops["site"][ops]
    waits = np.flatnonzero(np.isin(kinds, (ASK, IRQ)))
    if not len(waits):
        return []
    finish = len(ops) - int(waits[-1])
    begin = int(np.diff(waits).min(initial=int(waits[0]) + finish)) - finish
    if begin < 1 or begin > waits[0]:
        return []
    items = []
    for wait in waits.tolist():
        low, high = wait - begin, wait + finish
        if (sites[low:high] != sites[waits[0] - begin : waits[0] + finish]).any():
            return []
        items.append(Item(member, tuple(ops[low:wait].tolist()), tuple(ops[wait:high].tolist())))
    return items if begin + finish == int(np.diff(waits).max(initial=begin + finish)) else []


def sweeps(program: Program, members: Numbers, count: int) -> list[Numbers] | None:
    """Rows of consecutive operations in which the host deals with all replicas in turn; None if a row leaves one
    out."""
    turns: list[list[int]] = []
    ops, sends = program.ops, sends_of(program)
    for row in np.flatnonzero(members >= 0).tolist():
        goes_on = bool(turns) and turns[-1][-1] == row - 1 and members[row] >= members[row - 1]
        if goes_on and count == 1:
            again = ops["site"][row] in ops["site"][turns[-1]] or ops["kind"][row] in (ASK, IRQ)
            goes_on = not again and not (sends[row] and not sends[row - 1])
        if goes_on:
            turns[-1].append(row)
        else:
            turns.append([row])
    rows_of_turns = [np.array(rows) for rows in turns]
    return (
        rows_of_turns
        if rows_of_turns and all(len(np.unique(members[rows])) == count for rows in rows_of_turns)
        else None
    )


def own_data(program: Program, members: Numbers) -> Numbers:
    """The operations that move data of only one replica."""
    return np.flatnonzero((members >= 0) & (program.ops["bytes"] > ANSWER_BYTES))
