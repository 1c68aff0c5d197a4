"""Blocks that serve several others, one at a time, and the order of service in the run."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from workbench.replay.events import STAY
from workbench.replay.lowering import Lowered
from workbench.replay.program import Program

Numbers = NDArray[np.int64]
#: (block served before, waiting blocks) -> served block (None: it varies).
Choices = dict[tuple[int, frozenset[int]], int | None]


@dataclass(frozen=True)
class Server:
    """The services of block `number`, in the order of the run: for each the server's stretch that gives, and the
    stretch with which the served block goes on. `choices` maps a situation to the block that it served."""

    number: int
    gives: Numbers
    goes_on: Numbers
    choices: Choices


class Services(NamedTuple):
    """The services in order: for each the member served before (-1: none), whether each member waits when the service
    can begin (services x members), and the served member."""

    members: NDArray[np.int32]
    before: Numbers
    waits: NDArray[np.bool_]
    served: Numbers


def find_servers(program: Program) -> list[Server]:
    """The blocks of the unchanged run that serve any waiting block. A block that lets others wait for the one in turn
    serves by turns, and is not among them."""
    fpga, edges = program.fpga, program.edges[program.edges["kind"] == STAY]
    if not len(edges):
        return []
    blocks = program.run.manifest.blocks
    giver, taker = fpga.stay_block[edges["source"]].astype(np.int64), fpga.block[edges["stretch"]].astype(np.int64)
    servers, by_giver = [], np.argsort(giver, kind="stable")
    firsts = np.flatnonzero(np.diff(giver[by_giver], prepend=-1))
    for edges_of_giver in np.split(by_giver, firsts[1:]):
        number = int(giver[edges_of_giver[0]])
        for group in dict.fromkeys(blocks[n].group for n in np.unique(taker[edges_of_giver]).tolist()):
            members = [n for n in fpga.blocks if blocks[n].group == group and n != number]
            if len(members) < 2:
                continue
            mine = edges[edges_of_giver[np.isin(taker[edges_of_giver], members)]]
            # each edge is for one of them, and the server waits for their waits
            if len(np.unique(mine["source"])) < len(mine) or not _asks(program, number, members):
                continue
            order = np.argsort(mine["source"])
            gives, goes_on = fpga.stretch_of[mine["source"][order]], mine["stretch"][order].astype(np.int64)
            if len(np.unique(goes_on)) < len(goes_on) or fpga.begins[goes_on].any():
                continue
            choices: Choices = {}
            kinds = _kinds(_served(fpga.block, gives, goes_on, fpga.begins, fpga.end))
            for before, waiting, served in kinds:
                earlier_choice = choices.setdefault((before, waiting), served)
                choices[before, waiting] = served if earlier_choice == served else None
            if all(served in waiting for _, waiting, served in kinds):
                servers.append(Server(number, gives, goes_on, choices))
    return servers


def _asks(program: Program, number: int, members: list[int]) -> bool:
    """Whether a block goes on when others have started to wait."""
    fpga, edges = program.fpga, program.edges[program.edges["kind"] == STAY]
    mine = edges["source"][fpga.block[edges["stretch"]] == number]
    mine = mine[np.isin(fpga.stay_block[mine], members)]
    # the beginning of a wait is the end of its stretch
    waits = mine[fpga.stay_begin[mine] == fpga.end[fpga.stretch_of[mine]]]
    return len(waits) > 0 and len(np.unique(fpga.stay_block[waits])) > 1


def _served(
    block: NDArray[np.int32], gives: Numbers, goes_on: Numbers, begins: NDArray[np.bool_], end: Numbers
) -> Services:
    """The services of a run, or of a changed one; `end` holds the ends of stretches."""
    members, served = np.unique(block[goes_on], return_inverse=True)
    asked_at, number = end[goes_on - 1], np.arange(len(goes_on))
    free = np.where(begins[gives], 0, end[np.maximum(gives - 1, 0)])
    open_ = np.full(
        (len(members), len(number)), np.iinfo(np.int64).max
    )  # the begin of each member's wait for its next service
    for member in range(len(members)):
        services = np.flatnonzero(served == member)
        last = int(services[-1]) + 1
        open_[member, :last] = asked_at[services[np.searchsorted(services, number[:last])]]
    waits = open_ <= np.maximum(free, open_.min(axis=0, initial=np.iinfo(np.int64).max))
    waits &= open_ < np.iinfo(np.int64).max
    return Services(members, np.append(-1, served[:-1])[: len(served)], waits.T, served)


def _kinds(services: Services) -> list[tuple[int, frozenset[int], int]]:
    """Each situation once: the block served before (-1: none), the waiting blocks, and the served one."""
    who = np.stack([services.before, services.served], axis=1).astype(np.int32).view(np.uint8)
    keys = np.ascontiguousarray(np.hstack([who, np.packbits(services.waits, axis=1)]))
    first = np.unique(keys.view(f"V{keys.shape[1]}").reshape(-1), return_index=True)[1]
    members = [*services.members.tolist(), -1]
    return [
        (
            members[services.before[n]],
            frozenset(services.members[services.waits[n]].tolist()),
            members[services.served[n]],
        )
        for n in np.sort(first).tolist()
    ]


def served_otherwise(servers: Sequence[Server], program: Program, lowered: Lowered) -> str:
    """The reason why the order of service may differ in the changed program, whose graph must be swept; "" if it is the
    same."""
    fpga, graph = program.fpga, lowered.graph
    end, waits = graph.end[lowered.of_stretch], program.edges["stretch"]
    for server in servers:
        if not np.isin(server.goes_on, waits).any():  # no block waits for it now
            continue
        for before, waiting, served in _kinds(_served(fpga.block, server.gives, server.goes_on, fpga.begins, end)):
            recorded = server.choices.get((before, waiting))
            if recorded != served and waiting != {served}:
                return (
                    f"several then wait for {program.run.manifest.blocks[server.number].id} at once, unlike in this "
                    "run: it is unknown whom it serves first"
                )
    return ""
