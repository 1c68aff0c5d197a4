"""More or fewer replicas: the same work, distributed as in the run."""

from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

from workbench.model import changes as catalogue
from workbench.model.blocks import Block
from workbench.replay.deals import as_dealt, dealt_by_block
from workbench.replay.editing import Edited, RefusedError, refuse_more
from workbench.replay.events import WORD
from workbench.replay.fpga import waiting_stays, works
from workbench.replay.picking import pick, picked
from workbench.replay.program import Program
from workbench.replay.resolve import Named
from workbench.replay.shares import NONE, Dealt, dealt, members_of, own_data, sweeps

Numbers = NDArray[np.int64]
#: What each replica consists of: its blocks, alike in all.
Units = Sequence[tuple[int, ...]]


def replicas(program: Program, change: catalogue.Replicas, named: Named, _: object, edited: Edited) -> None:
    """Distribute the work to `count` replicas. If the run leaves the distribution open, each reading gives a time."""
    edited.host = edited.fpga = True
    if not np.isin(program.fpga.stay_block, named.blocks).any():
        raise RefusedError("the run has no trace, so it is not known what each of the replicas did: trace it")
    if len(program.ops) and len(np.unique(program.ops["thread"])) > 1:
        raise RefusedError("several threads make calls: it is unknown which of them more replicas would serve")
    units, count = units_of(program.run.manifest.blocks, named.blocks), change.count
    refuse_more(count * int(np.isin(program.fpga.block, units[0]).sum()), change)
    ways = _ways(program, units, count)
    edited.ways = max(edited.ways, len(ways))
    assumed, share_out = ways[min(edited.way, len(ways) - 1)]
    share_out()
    edited.doubts.append(f"it is assumed that {assumed}")


def units_of(blocks: Sequence[Block], named: Sequence[int]) -> Units:
    """For each replica its blocks: the named one, and the others in the same instance."""
    group = blocks[named[0]].group
    if group.count("[*]") > 1:
        raise RefusedError(f"{group} are replicas within replicas: it is unknown which level grows")
    if "[*]" not in group:
        return [(block,) for block in named]
    begin, units = group.index("[*]"), []
    for block in named:
        instance = blocks[block].id[: blocks[block].id.index("]", begin) + 1]
        units.append(tuple(n for n, other in enumerate(blocks) if other.id.startswith(instance)))
    if len({tuple(blocks[n].group for n in unit) for unit in units}) > 1:
        raise RefusedError(f"the replicas {group} are not alike")
    return units


def _ways(program: Program, units: Units, count: int) -> list[tuple[str, Callable[[], None]]]:
    """The readings of the host's distribution of work, the likeliest first: the assumption, and the edit."""
    members = members_of(program, [unit[0] for unit in units])
    data = own_data(program, members)
    items = dealt(program, members, len(units))
    ways: list[tuple[str, Callable[[], None]]] = []
    if (members == NONE).all():
        return [_ways_of_block(program, units, count)]
    if items and len(data):
        more = f"{count} of them get in turn what {len(units)} get"
        if items.pipelined:
            ways.append((more, lambda: _deal(program, items, members, units, count, pipelined=True)))
        if items.rounds:
            ways.append((f"{more}, in rounds", lambda: _deal(program, items, members, units, count, pipelined=False)))
    each = sweeps(program, members, len(units))
    if each and (not items or items.rounds):
        ways.append((f"{count} share the work of {len(units)} equally",
                     lambda: _share(program, members, each, units, count, data)))  # fmt: skip
    if not ways:
        raise RefusedError("the host does not deal with each replica every time: only a run with more replicas "
                           "shows which calls they need")  # fmt: skip
    return ways


def _ways_of_block(program: Program, units: Units, count: int) -> tuple[str, Callable[[], None]]:
    """The readings of another block's distribution of work."""
    deal = dealt_by_block(program, [unit[0] for unit in units]) if len(units[0]) == 1 else None
    if deal is None:
        raise RefusedError(
            "another block gives the replica its work: only a run with two or more shows how it shares out work"
            if len(units) == 1
            else "another block gives the replicas their work, and not in turn in this run: only a run "
            "with more replicas shows how they share it"
        )

    def share_out() -> None:
        as_dealt(program, deal, count)
        _pick(program, [(row, 0) for row in range(len(program.ops))], deal.chains(count), units)

    return f"{count} of them get in turn what {len(units)} get", share_out


def _deal(program: Program, items: Dealt, members: Numbers, units: Units, count: int, *, pipelined: bool) -> None:
    """Let the host deal the run's items to `count` replicas in turn."""
    of_op = np.full(len(program.ops), -1, np.int64)
    for number, item in enumerate(items.items):
        of_op[[*item.begin, *item.finish]] = number
    order = list(items.order(count, pipelined))
    first, last = min(order), max(order)
    rows = [*_for_all(range(first), members, len(units), count), *((row, 0) for row in order),
            *((row, 0) for row in range(last + 1, len(of_op)))]  # fmt: skip
    of_stretch = _of_stretches(program, of_op)
    block = program.fpga.block
    chains: list[list[tuple[int, int]]] = []
    for member in range(count):
        for part in range(len(units[0])):
            mine = np.flatnonzero((block == units[member % len(units)][part]) & (of_stretch < 0))
            chain = [(int(row), member // len(units)) for row in mine]
            for number in range(member, len(items.items), count):
                unit = units[items.items[number].member]
                chain += [(int(row), 0) for row in np.flatnonzero((block == unit[part]) & (of_stretch == number))]
            chains.append(chain)
    usual_ps, sites = _own_code(program), program.ops["site"]
    _pick(program, rows, chains, units)
    _fit_own_code(program, usual_ps, rows, sites)


def _for_all(rows: Sequence[int], members: Numbers, before: int, count: int) -> list[tuple[int, int]]:
    """Operations as pairs (row, copy): those of one replica for each of `count` replicas."""
    return [
        (row, copy)
        for row in rows
        for copy in (range(-(-(count - members[row]) // before)) if members[row] >= 0 else (0,))
    ]


def _of_stretches(program: Program, of_op: Numbers) -> Numbers:
    """For each stretch the value in `of_op` of the operation whose words started it, or the stretch before it; -1
    before any."""
    fpga = program.fpga
    members = np.full(len(fpga.first), -1, np.int64)
    edges = program.edges[program.edges["kind"] == WORD]
    op = program.at[edges["source"]]
    mine = (op >= 0) & (of_op[op] >= 0)
    np.maximum.at(members, edges["stretch"][mine], of_op[op[mine]])
    last_known = np.where((members >= 0) | fpga.begins, np.arange(len(members)), 0)
    return members[np.maximum.accumulate(last_known)]


def _pick(program: Program, rows: Sequence[tuple[int, int]], chains: Sequence[Sequence[tuple[int, int]]],
          units: Units) -> None:  # fmt: skip
    """Rebuild the program from these operations, and these stretches of the replicas."""
    chains = [*_of_others(program, rows, units), *(chain for chain in chains if len(chain))]
    begins = np.concatenate([np.arange(len(chain)) == 0 for chain in chains])
    pick(program, picked(rows), picked(pair for chain in chains for pair in chain), begins)


def _of_others(program: Program, rows: Sequence[tuple[int, int]], units: Units) -> list[list[tuple[int, int]]]:
    """The stretches of the other blocks; a port passes words on in their order."""
    fpga = program.fpga
    block, members = fpga.block, {n for unit in units for n in unit}
    place = np.full(len(program.ops), len(rows), np.int64)
    for n, (row, copy) in enumerate(rows):
        if not copy:
            place[row] = n
    of_stretch = _of_stretches(program, np.arange(len(program.ops)))
    groups = []
    for number in [n for n in fpga.blocks if n not in members]:
        mine = np.flatnonzero(block == number)
        if len(mine) and not works(program.run.manifest.blocks[number]):
            mine = mine[np.argsort(np.where(of_stretch[mine] < 0, -1, place[of_stretch[mine]]), kind="stable")]
        groups.append([(int(row), 0) for row in mine])
    return [chain for chain in groups if chain]


def _own_code(program: Program) -> dict[tuple[int, int], int]:
    """The host's own code between consecutive calls of two sites."""
    sites, own_ps = program.ops["site"], program.ops["own_ps"]
    spent: dict[tuple[int, int], list[int]] = {}
    for before, after, ps in zip(sites[:-1].tolist(), sites[1:].tolist(), own_ps[1:].tolist(), strict=True):
        spent.setdefault((before, after), []).append(ps)
    return {pair: int(np.median(times)) for pair, times in spent.items()}


def _fit_own_code(
    program: Program, usual_ps: dict[tuple[int, int], int], rows: Sequence[tuple[int, int]], sites: Numbers
) -> None:
    """Adapt the host's own code before a call to the site of the call that now precedes it."""
    for n, (row, _) in enumerate(rows):
        before = int(sites[rows[n - 1][0]]) if n else -1
        was = int(sites[row - 1]) if row else -1
        if before != was and (before, int(sites[row])) in usual_ps:
            program.ops["own_ps"][n] = usual_ps[before, int(sites[row])]


def _share(
    program: Program, members: Numbers, each: Sequence[Numbers], units: Units, count: int, divided: Numbers
) -> None:
    """Each replica does its share of the same work. The host deals with all of them each time, and divides their
    data."""
    number = len(units)
    fpga = program.fpga
    every = [block for unit in units for block in unit]
    works_then = np.isin(fpga.stay_block, every) & ~waiting_stays(fpga, program.run.manifest.blocks)
    worked = np.cumsum(np.where(works_then, program.stays, 0))
    scaled = np.rint(worked * (number / count)).astype(np.int64)
    program.stays[works_then] = np.diff(scaled, prepend=0)[works_then]
    ops = program.ops
    of = np.isin(program.at, divided)
    ops["bytes"][divided] = np.maximum(np.rint(ops["bytes"][divided] * (number / count)), 1)
    ops["beyond_ps"][divided] = 0
    program.span[of] = ops["bytes"][program.at[of]]
    rows: list[tuple[int, int]] = []
    own_ps: list[int] = []
    at = 0
    for sweep in each:
        rows += [(row, 0) for row in range(at, int(sweep[0]))]
        own_ps += ops["own_ps"][at : int(sweep[0])].tolist()
        again = ops["own_ps"][sweep[members[sweep] == min(1, number - 1)]].copy()
        if number == 1:
            again[0] = 0
        for member in range(count):
            mine = sweep[members[sweep] == member % number]
            rows += [(int(row), member // number) for row in mine]
            like = again[: len(mine)] if member >= number and len(again) >= len(mine) else ops["own_ps"][mine]
            own_ps += like.tolist()
        at = int(sweep[-1]) + 1
    rows += [(row, 0) for row in range(at, len(ops))]
    own_ps += ops["own_ps"][at:].tolist()
    chains = [
        [(int(row), member // number) for row in np.flatnonzero(fpga.block == block)]
        for member in range(count)
        for block in units[member % number]
    ]
    _pick(program, rows, chains, units)
    program.ops["own_ps"] = own_ps
