"""Points at which an FPGA block goes on after a wait, or passes a state in which it waits at other times.

Points alike (block or replicas, wait, what follows) have causes alike: the marks of the wait and of what follows name
whom it is for.
"""

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from workbench.model.blocks import Block, Side
from workbench.model.pragma import CPU
from workbench.model.run_tables import RowArray
from workbench.model.targets import resolve_target
from workbench.replay.events import AllEvents, Events, merged
from workbench.replay.fpga import FpgaPart, wait_states

Numbers = NDArray[np.int64]
EDGES = np.dtype([("stretch", "<i8"), ("kind", "u1"), ("source", "<i8"), ("byte", "<i8"), ("lag", "<i8")])
#: The longest lag (cycles) of a single event.
SHORT = 64
#: The longest lag (cycles) of a single event that no pragma names.
NEAR = 4
FAR = 1 << 40  # cycles: not a lag


@dataclass(frozen=True)
class PointClass:
    """Points of one kind: the numbers of their stretches, and their waited cycles (`waited`), of which `least` always
    pass. `turns` are their ordinal numbers among the `count` points with the same wait before them, `own_turns` the
    same within each block."""

    group: str
    members: tuple[int, ...]
    wait: int
    state: int
    stretches: Numbers
    waited: Numbers
    least: int
    turns: Numbers
    own_turns: Numbers
    count: int

    @property
    def binding(self) -> NDArray[np.bool_]:
        return self.waited > self.least


def classes(fpga: FpgaPart, blocks: Sequence[Block]) -> Iterator[PointClass]:
    """The classes of all blocks' points, by (group, wait before, state, state after)."""
    first = fpga.first
    if not len(first):
        return
    state, block = fpga.stay_state.astype(np.int64), fpga.stay_block
    begun = np.append(True, block[first][1:] != block[first][:-1])  # a block's first stretch is not a point
    before = state[np.maximum(first - 1, 0)]
    following = np.minimum(first + 1, len(state) - 1)
    after = np.where(block[following] == block[first], state[following], -1)
    waited = fpga.begin - np.append(0, fpga.end[:-1])
    groups: dict[str, list[int]] = {}
    for number in fpga.blocks:
        groups.setdefault(blocks[number].group, []).append(number)
    for group, members in groups.items():
        mine = np.flatnonzero(np.isin(block[first], members) & ~begun)
        waits = wait_states(blocks[members[0]])
        from_wait = waits[before[mine]]
        wait = np.where(from_wait, before[mine], -1)
        for entered in np.unique(state[first[mine]]).tolist():
            here = state[first[mine]] == entered
            wait_kinds = wait[here & from_wait]
            usual = int(np.bincount(wait_kinds).argmax()) if len(wait_kinds) else -1
            wait[here & ~from_wait] = usual
        width = len(waits) + 2
        key = ((wait + 1) * width + state[first[mine]]) * width + after[mine] + 1
        turns, counts = _turns(key // width, fpga.begin[mine])
        own_turns, _ = _turns(key // width * len(blocks) + block[first[mine]], fpga.begin[mine])
        for one in np.unique(key).tolist():
            here = key == one
            rows = mine[here]
            wait_state = one // width // width - 1
            if wait_state < 0:
                continue
            always = bool((waits[before[rows]]).all())
            yield PointClass(
                group, tuple(members), wait_state, one // width % width, rows, waited[rows], 1 if always else 0,
                turns[here], own_turns[here], int(counts[here][0]),
            )  # fmt: skip


def _turns(key: Numbers, times: Numbers) -> tuple[Numbers, Numbers]:
    """For each point its ordinal number in time among those with its key, and their count."""
    order = np.lexsort((times, key))
    _, first, counts = np.unique(key[order], return_index=True, return_counts=True)
    turns, of = np.empty(len(key), np.int64), np.empty(len(key), np.int64)
    turns[order] = np.arange(len(key)) - np.repeat(first, counts)
    of[order] = np.repeat(counts, counts)
    return turns, of


@dataclass(frozen=True)
class Partners:
    """The possible partners of points: for each member its blocks, whether the host is one, and the messages.
    `restless` says that a block that never waits, or has no pragmas, is among them; the cause and time of its actions
    are unknown."""

    blocks: dict[int, list[int]]
    host: bool
    messages: frozenset[str]
    restless: bool

    @property
    def known(self) -> bool:
        return any(self.blocks.values())


def readings_of(points: PointClass, events: AllEvents) -> Iterator[Partners]:
    """The possible partners of points, the likeliest first: those that pragmas name and that can end the wait by the
    design, all that pragmas name, all that can end it by the design, and, if no pragma names a working block, any."""
    by_pragmas, by_design = _by_pragmas(points, events), _by_design(points, events)
    by_both = {m: [n for n in members if n in by_design.blocks[m]] for m, members in by_pragmas.blocks.items()}
    if by_both != by_pragmas.blocks and all(by_both.values()):
        yield replace(by_pragmas, blocks=by_both)
    any_named = by_pragmas.known or by_pragmas.host or by_pragmas.restless
    if any_named:
        yield by_pragmas
    if by_design.known or by_design.host:
        yield by_design
    if not any_named:
        yield replace(by_pragmas, restless=by_design.restless)


def _by_pragmas(points: PointClass, events: AllEvents) -> Partners:
    """The partners that the pragmas of the wait and of the following state name; pragmas of a following wait apply to
    its own end."""
    blocks = events.run.manifest.blocks
    of_members: dict[int, list[int]] = {}
    special: set[str] = set()
    messages: set[str] = set()
    for member in points.members:
        block = blocks[member]
        states = [block.states[points.wait]]
        if not wait_states(block)[points.state]:
            states.append(block.states[points.state])
        targets = [target for state in states for target in state.targets]
        messages |= {message for state in states for message in state.messages}
        others = [other for target in targets for other in resolve_target(target, blocks, block)]
        of_members[member] = list(
            dict.fromkeys(events.numbers[other.id] for other in others if other.side is Side.FPGA)
        )
        special |= {target for target in targets if target.startswith("$")}
    # the memory is not a block
    return _partners(of_members, CPU in special, frozenset(messages), events, restless=bool(special - {CPU}))


def _by_design(points: PointClass, events: AllEvents) -> Partners:
    """The partners that can end the wait by the design."""
    ends = {member: events.cones.ends(member, points.wait) for member in points.members}
    of_members = {member: list(end.blocks) for member, end in ends.items()}
    messages = events.run.manifest.blocks[points.members[0]].states[points.wait].messages
    alone = all(end.itself and not end.blocks and not end.host for end in ends.values())
    return _partners(of_members, any(end.host for end in ends.values()), frozenset(messages), events, restless=alone)


def _partners(
    of_members: dict[int, list[int]], host: bool, messages: frozenset[str], events: AllEvents, restless: bool = False
) -> Partners:  # fmt: skip
    waiting, traced = events.waiting_blocks, events.fpga.blocks
    restless |= any(n in traced and n not in waiting for members in of_members.values() for n in members)
    blocks = {member: [n for n in members if n in waiting and n != member] for member, members in of_members.items()}
    return Partners(blocks, host, messages, restless)


def edges_to(points: Numbers, kind: int, source: Numbers, byte: Numbers, lag: int) -> RowArray:
    edges = np.zeros(len(points), EDGES)
    edges["stretch"], edges["kind"], edges["source"], edges["byte"] = points, kind, source, byte
    edges["lag"] = lag
    return edges


def words_for(events: AllEvents, messages: frozenset[str], clock: int) -> Iterator[Events]:
    """Words of the host's calls: of those with these messages, of each site, of all."""
    for sites in places_for(events, messages):
        words = merged([events.words(site, clock) for site in sites])
        if len(words):
            yield words


def places_for(events: AllEvents, messages: Collection[str]) -> Iterator[list[int]]:
    """Sites of calls whose words may end a wait: those with these messages, each alone, all."""
    if matching := events.sites_with(messages):
        yield matching
    yield from ([site] for site in events.sites)
    if events.sites:
        yield list(events.sites)
