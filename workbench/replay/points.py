"""Points at which a block of the FPGA goes on after a wait, or passes where it waits at other times.

Points alike (block or replicas, wait, what follows) have causes alike: the marks of the wait and of what follows name
whom it is for.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from workbench.model.blocks import Block, Side
from workbench.model.pragma import CPU
from workbench.model.targets import resolve_target
from workbench.replay.events import AllEvents, Events, merged
from workbench.replay.fpga import FpgaPart, wait_states

Numbers = NDArray[np.int64]
EDGES = np.dtype([("stretch", "<i8"), ("kind", "u1"), ("source", "<i8"), ("byte", "<i8"), ("lag", "<i8")])
#: The longest lag, in cycles, that one event alone may show.
SHORT = 64
#: The same of one that no mark names.
NEAR = 4
FAR = 1 << 40  # cycles: of no lag


@dataclass(frozen=True)
class PointClass:
    """Points alike: the numbers of their stretches, `waited` cycles each, of which `least` always pass. `turns` are
    their places among the `count` points that are alike but for what follows."""

    group: str
    members: tuple[int, ...]
    wait: int
    state: int
    stretches: Numbers
    waited: Numbers
    least: int
    turns: Numbers
    count: int

    @property
    def binding(self) -> NDArray[np.bool_]:
        return self.waited > self.least


def classes(fpga: FpgaPart, blocks: Sequence[Block]) -> Iterator[PointClass]:
    """Points of all blocks, by (group, wait before, state, state after)."""
    first = fpga.first
    if not len(first):
        return
    state, block = fpga.stay_state.astype(np.int64), fpga.stay_block
    begun = np.append(True, block[first][1:] != block[first][:-1])  # a block's first stretch is no point
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
            known = wait[here & from_wait]
            usual = int(np.bincount(known).argmax()) if len(known) else -1
            wait[here & ~from_wait] = usual
        width = len(waits) + 2
        key = ((wait + 1) * width + state[first[mine]]) * width + after[mine] + 1
        turns, counts = _turns(key // width, fpga.begin[mine])
        for one in np.unique(key).tolist():
            here = key == one
            rows = mine[here]
            which = one // width // width - 1
            if which < 0:
                continue
            always = bool((waits[before[rows]]).all())
            yield PointClass(
                group, tuple(members), which, one // width % width, rows, waited[rows], 1 if always else 0,
                turns[here], int(counts[here][0]),
            )  # fmt: skip


def _turns(key: Numbers, times: Numbers) -> tuple[Numbers, Numbers]:
    """Of each point its place in time among those of its key, and how many these are."""
    order = np.lexsort((times, key))
    _, first, counts = np.unique(key[order], return_index=True, return_counts=True)
    turns, of = np.empty(len(key), np.int64), np.empty(len(key), np.int64)
    turns[order] = np.arange(len(key)) - np.repeat(first, counts)
    of[order] = np.repeat(counts, counts)
    return turns, of


def partners_of(points: PointClass, events: AllEvents) -> tuple[dict[int, list[int]], bool, frozenset[str], bool]:
    """Of each member the blocks that its marks name there, whether they name the host, the messages, and whether they
    name a block that never waits: what such a one does, and when, has no cause that is known."""
    blocks = events.run.manifest.blocks
    named: dict[int, list[int]] = {}
    host = restless = False
    numbers = {b.id: n for n, b in enumerate(blocks)}
    messages: set[str] = set()
    for member in points.members:
        block = blocks[member]
        found: dict[int, None] = {}
        for state in (block.states[points.wait], block.states[points.state]):
            for target in state.targets:
                host |= target == CPU
                restless |= target.startswith("$") and target != CPU  # memory, which is no block
                for other in resolve_target(target, blocks, block):
                    if other.side is Side.FPGA:
                        found[numbers[other.id]] = None
            messages |= set(state.messages)
        named[member] = [n for n in found if n in events.waiting_blocks and n != member]
        restless |= any(n in events.fpga.blocks and n not in events.waiting_blocks for n in found)
    return named, host, frozenset(messages), restless


def edges_to(points: Numbers, kind: int, source: Numbers, byte: Numbers, lag: int) -> NDArray[np.void]:
    edges = np.zeros(len(points), EDGES)
    edges["stretch"], edges["kind"], edges["source"], edges["byte"] = points, kind, source, byte
    edges["lag"] = lag
    return edges


def words_for(events: AllEvents, messages: frozenset[str], clock: int) -> Iterator[Events]:
    """Words of the host's calls: of those with these messages, of each place, of all."""
    for chosen in places_for(events, messages):
        words = merged([events.words(site, clock) for site in chosen])
        if len(words):
            yield words


def places_for(events: AllEvents, messages: Collection[str]) -> Iterator[list[int]]:
    """Places of calls whose words may end a wait: those with these messages, each alone, all."""
    if matching := events.sites_with(messages):
        yield matching
    yield from ([site] for site in events.sites)
    if events.sites:
        yield list(events.sites)
