"""Blocks that serve several others, one after the other: whom they serve next, as the run shows it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from workbench.replay.events import STAY
from workbench.replay.lowering import Lowered
from workbench.replay.program import Program

Numbers = NDArray[np.int64]
#: By who was served before, and who waits: who is served (None: now one, now another).
Choices = dict[tuple[int, frozenset[int]], int | None]


@dataclass(frozen=True)
class Server:
    """What block `number` serves in the order of the run: of each service the stretch of its own by which it gives, and
    that with which the one who waited goes on. `choices` are whom it chose."""

    number: int
    gives: Numbers
    goes_on: Numbers
    choices: Choices


def find_servers(program: Program) -> list[Server]:
    """Those of the unchanged run that serve whoever waits; one that keeps others waiting for the one whose turn it is
    goes by turns, whoever waits."""
    fpga, edges = program.fpga, program.edges[program.edges["kind"] == STAY]
    if not len(edges):
        return []
    blocks = program.run.manifest.blocks
    giver, taker = fpga.stay_block[edges["source"]].astype(np.int64), fpga.block[edges["stretch"]].astype(np.int64)
    found = []
    for number in np.unique(giver).tolist():
        for group in dict.fromkeys(blocks[n].group for n in np.unique(taker[giver == number]).tolist()):
            members = [n for n in fpga.blocks if blocks[n].group == group and n != number]
            mine = edges[(giver == number) & np.isin(taker, members)]
            # each is for one of them, and it waits for what they wait with
            if len(members) < 2 or len(np.unique(mine["source"])) < len(mine) or not _asks(program, number, members):
                continue
            order = np.argsort(mine["source"])
            gives, goes_on = fpga.stretch_of[mine["source"][order]], mine["stretch"][order].astype(np.int64)
            if len(np.unique(goes_on)) < len(goes_on) or fpga.begins[goes_on].any():
                continue
            choices: Choices = {}
            for before, waiting, served in _served(fpga.block, gives, goes_on, fpga.begins, fpga.end):
                if served not in waiting:
                    break
                known = choices.setdefault((before, waiting), served)
                choices[before, waiting] = served if known == served else None
            else:
                found.append(Server(number, gives, goes_on, choices))
    return found


def _asks(program: Program, number: int, members: list[int]) -> bool:
    """Whether a block goes on when others have begun to wait."""
    fpga, edges = program.fpga, program.edges[program.edges["kind"] == STAY]
    mine = edges["source"][fpga.block[edges["stretch"]] == number]
    mine = mine[np.isin(fpga.stay_block[mine], members)]
    # the beginning of a wait is the end of its stretch
    waits = mine[fpga.stay_begin[mine] == fpga.end[fpga.stretch_of[mine]]]
    return len(waits) > 0 and len(np.unique(fpga.stay_block[waits])) > 1


def _served(
    block: NDArray[np.int32], gives: Numbers, goes_on: Numbers, begins: NDArray[np.bool_], end: Numbers
) -> Iterator[tuple[int, frozenset[int], int]]:  # fmt: skip
    """Of each service who was served before (-1: nobody), who waits when it can begin, and who is served."""
    members = block[goes_on].tolist()
    asked = end[goes_on - 1].tolist()
    free = np.where(begins[gives], 0, end[np.maximum(gives - 1, 0)]).tolist()
    queues = {member: [n for n, one in enumerate(members) if one == member] for member in set(members)}
    at = dict.fromkeys(queues, 0)
    before = -1
    for n, member in enumerate(members):
        open_ = {m: asked[of[at[m]]] for m, of in queues.items() if at[m] < len(of)}
        when = max(free[n], min(open_.values()))
        yield before, frozenset(m for m, time in open_.items() if time <= when), member
        at[member] += 1
        before = member


def served_otherwise(servers: list[Server], program: Program, lowered: Lowered) -> str:
    """Why the order of the run may be another one in the changed program, whose graph has been swept; "" where it is
    the same."""
    fpga, graph = program.fpga, lowered.graph
    end = graph.end[lowered.of_stretch]
    for server in servers:
        for before, waiting, served in _served(fpga.block, server.gives, server.goes_on, fpga.begins, end):
            known = server.choices.get((before, waiting))
            if known != served and waiting != {served}:
                return (
                    f"several then wait for {program.run.manifest.blocks[server.number].id} at once as they do not in "
                    "this run: whom it serves first is not known"
                )
    return ""
