"""Finds the blocks that can end a wait: those whose registers its condition depends on, through blocks without
pragmas."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace

import numpy as np

from workbench.model.blocks import Block
from workbench.model.pragma import CPU, WAITS, Category
from workbench.model.run import Run
from workbench.replay.fpga import Rows, works

#: States as (block number, state number).
States = frozenset[tuple[int, int]]


@dataclass(frozen=True)
class Ends:
    """What can end a wait: working blocks, by number, the host, and the waiting block itself, through blocks without a
    trace. All empty if unknown."""

    blocks: tuple[int, ...] = ()
    host: bool = False
    itself: bool = False


class Cones:
    """The cones of influence of a run's blocks; blocks in `traced` have stays."""

    def __init__(self, blocks: Sequence[Block], traced: Collection[int]) -> None:
        self._blocks, self._traced = blocks, set(traced)
        self._numbers = {block.id: n for n, block in enumerate(blocks)}
        self._known: dict[tuple[int, int], Ends] = {}

    def ends(self, block: int, state: int) -> Ends:
        """What can end a wait in this state. Blocks that only pass data on are replaced by their own sources."""
        if (block, state) not in self._known:
            ends: dict[int, None] = {}
            host, visited, open_ = False, set[str](), [*self._blocks[block].states[state].depends]
            while open_:
                name = open_.pop()
                if name in visited:
                    continue
                visited.add(name)
                number = self._numbers.get(name)
                if number is None:
                    host |= name == CPU
                elif number in self._traced and works(self._blocks[number]):
                    ends[number] = None
                else:
                    open_ += [source for passed in self._blocks[number].states for source in passed.depends]
            self._known[block, state] = Ends(tuple(sorted(set(ends) - {block})), host, block in ends)
        return self._known[block, state]


def possible_waits(run: Run, rows: Rows) -> States:
    """States that may be waits although no pragma says so, since the design lets them depend on others: unmarked states
    of blocks that wait elsewhere, and states of blocks that are marked to wait nowhere."""
    blocks = run.manifest.blocks
    cones = Cones(blocks, rows)
    states = set()
    for number, (begin, state, end) in rows.items():
        block = blocks[number]
        waits = any(one.category in WAITS for one in block.states)
        passes = not works(block)
        if not (waits or len(np.unique(state)) > 1):
            continue
        lasts = np.diff(np.append(begin, end))
        for one in np.unique(state[:-1]).tolist():
            if (one == 0 or not waits) and block.states[one].category not in WAITS:
                ends = cones.ends(number, one)
                visits = lasts[:-1][state[:-1] == one]
                if ends.blocks or (ends.host and not passes and len(np.unique(visits)) > 1):
                    states.add((number, one))
    groups = {(blocks[number].group, one) for number, one in states}
    return frozenset((n, one) for n in rows for one in range(len(blocks[n].states)) if (blocks[n].group, one) in groups)


def with_waits(run: Run, waits: States) -> Run:
    """The run with these states marked as waits."""
    if not waits:
        return run
    blocks = tuple(
        replace(block, states=tuple(
            replace(state, category=Category.WAIT_RECV) if (number, state.index) in waits else state
            for state in block.states
        ))
        for number, block in enumerate(run.manifest.blocks)
    )  # fmt: skip
    return replace(run, manifest=replace(run.manifest, blocks=blocks))


def taken_for_work(run: Run, rows: Rows, states: States) -> tuple[str, ...]:
    """The assumption, as a sentence, for each block with an unmarked state that may be a wait but has no event that
    ends it."""
    blocks, names = run.manifest.blocks, {}
    cones = Cones(blocks, rows)
    for number, state in sorted(states):
        ends = cones.ends(number, state)
        if state == 0 and number in rows and any(one.category in WAITS for one in blocks[number].states):
            partner = blocks[ends.blocks[0]].id if ends.blocks else "the host"
            names[blocks[number].group] = f"{blocks[number].group} does not wait for {partner} where it has no mark"
    return tuple(names.values())
