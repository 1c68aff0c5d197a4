"""Finds the block that a wait is due to, along the chain of blocks that waits name."""

from collections.abc import Sequence

from workbench.api.results import BlockMetrics, StateMetrics
from workbench.model.blocks import Block, Side
from workbench.model.pragma import MEM, Category
from workbench.model.targets import resolve_target

#: A block that waits for more than this share of the run, or has no work, is held up and not late.
HELD_UP = 0.5


def find_culprit(
    block: BlockMetrics, states: Sequence[StateMetrics], blocks: Sequence[BlockMetrics]
) -> tuple[str, Side | None]:
    """The id (or group) of the block that causes these waits of `block`, and its side; ("", None) if none is named.

    "Late sender" names the culprit, and is reported on the block that waits (ReCAP 2011, section 6.1). In hardware the
    chain of waits is followed: if a core waits for a distributor, and this for the host, the core waits for the host.
    From the host it is not followed, since the FPGA's handling of a message is the FPGA's own matter.
    """
    all_blocks = [m.block for m in blocks]
    by_id = {m.block.id: m for m in blocks}
    current, waits = block, list(states)
    kinds = {s.state.category for s in states}
    visited = {block.block.id}
    culprit: Block | None = None
    count = 0
    while True:
        targets, memory = _blocks_of_longest_wait(current.block, waits, all_blocks)
        if not targets:
            if memory and culprit is None:
                return MEM, None
            break
        if targets[0].id in visited or (culprit is not None and targets[0].side is block.block.side is Side.HOST):
            break
        culprit, count = targets[0], len(targets)
        visited.add(culprit.id)
        if culprit.side is Side.HOST or block.block.side is Side.HOST:
            break
        current = by_id[culprit.id]
        waits = [s for s in current.states if s.state.category in kinds]
        works = any(s.state.category is Category.WORK for s in current.states)
        if works and sum(s.share for s in waits) <= HELD_UP:
            break
    if culprit is None:
        return "", None
    return (culprit.group if count > 1 else culprit.id), culprit.side


def _blocks_of_longest_wait(
    block: Block, waits: Sequence[StateMetrics], blocks: Sequence[Block]
) -> tuple[tuple[Block, ...], bool]:
    """The blocks that the longest waits name, and whether a wait names the memory."""
    memory = False
    for state in sorted(waits, key=lambda s: -s.time_s):
        for target in state.state.targets:
            memory |= target == MEM
            targets = resolve_target(target, blocks, block)
            if targets and state.time_s > 0:
                return targets, memory
    return (), memory


def spoken(culprit: str, side: Side | None, seen_from: Side) -> str:
    """A culprit's name in a title: the other side as a whole, memory, or the block."""
    if side is Side.HOST:
        return "the host"
    if seen_from is Side.HOST and culprit != MEM:
        return "the FPGA"
    return "memory" if culprit == MEM else culprit or "another block"
