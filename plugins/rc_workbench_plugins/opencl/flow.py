"""A kernel as the interpreter walks it: straight pieces of blocks, cut at barriers, and what happens between them."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from rc_workbench_plugins.opencl.hierarchy import execution_order
from rc_workbench_plugins.opencl.kernel import Instruction, Kernel, Loop, Node, Operand, enclosing, walk
from rc_workbench_plugins.opencl.values import Array

#: clang's names of blocks: of those that begin a body, of tests, and of a step, into which a short body may be merged
_BODY = re.compile(r"(?:for|while|do)\.body\d*$")
_TEST = re.compile(r"(?:for|while)\.cond\d*$|(?:land|lor)\.rhs\d*$")
_STEP = re.compile(r"for\.inc\d*$")
BARRIERS = ("barrier", "work_group_barrier", "wait_group_events")


@dataclass(frozen=True, eq=False)
class FlowEdge:
    """From a block to another: the phis that take their values, the loops that are entered and left, and those of which
    a round begins."""

    source: str
    target: Segment
    phis: tuple[tuple[str, Operand], ...]
    entered: tuple[str, ...]
    begun: tuple[str, ...]
    left: tuple[str, ...]
    needs: frozenset[str]


@dataclass(eq=False)
class Segment:
    """A straight piece of a block. `edges` are as the block's successors; `following` is the piece behind a barrier.
    `live` are the values that are read from here on, but set before."""

    block: str
    order: int
    instructions: tuple[Instruction, ...]
    end: Instruction
    edges: list[FlowEdge] = field(default_factory=list)
    following: Segment | None = None
    live: frozenset[str] = frozenset()

    @property
    def is_barrier(self) -> bool:
        return self.following is not None


def counter(loop: str) -> str:
    """The name under which the rounds of a loop are counted, which no value of a kernel has."""
    return f"#{loop}"


def flow(kernel: Kernel, root: Node) -> Segment:
    """The first segment, from which all others are reached."""
    order = {name: number for number, name in enumerate(execution_order(root))}
    around = {name: tuple(loop.id for loop in loops) for name, loops in enclosing(root).items()}
    loops = [node for node in walk(root) if isinstance(node, Loop)]
    first: dict[str, Segment] = {}
    last: dict[str, Segment] = {}
    segments: list[Segment] = []
    for block in kernel.blocks:
        cuts = [n for n, i in enumerate(block.instructions) if i.opcode == "call" and i.variant in BARRIERS]
        begin, before = 0, None
        for cut in [*cuts, len(block.instructions) - 1]:
            body = tuple(i for i in block.instructions[begin:cut] if i.opcode != "phi")
            segment = Segment(block.name, order[block.name], body, block.instructions[cut])
            if before is None:
                first[block.name] = segment
            else:
                before.following = segment
            segments.append(segment)
            begin, before = cut + 1, segment
        last[block.name] = segment
    bodies = _bodies(kernel, around, loops)
    ways: dict[tuple[str, str], FlowEdge] = {}
    live = _live(kernel, first, last, segments, around)
    for segment in segments:
        segment.live = live[id(segment)]
    for block in kernel.blocks:
        for target in block.successors:
            if (block.name, target) not in ways:
                ways[block.name, target] = _edge(kernel, block.name, first[target], around, bodies)
            last[block.name].edges.append(ways[block.name, target])
    return first[kernel.blocks[0].name]


def _edge(
    kernel: Kernel, source: str, target: Segment, around: Mapping[str, tuple[str, ...]], bodies: Mapping[str, str]
) -> FlowEdge:
    phis = tuple(
        (one.result, one.operands[one.labels.index(source)])
        for one in kernel.block[target.block].instructions
        if one.opcode == "phi"
    )
    before, after = around[source], around[target.block]
    entered = tuple(loop for loop in after if loop not in before)
    begun = tuple(loop for loop in after if bodies[loop] == target.block)
    left = tuple(loop for loop in before if loop not in after)
    set_here = {result for result, _ in phis} | {counter(loop) for loop in (*entered, *begun)}
    needed = {o for _, o in phis if isinstance(o, str)} | {counter(loop) for loop in (*begun, *left)}
    needs = (target.live - set_here) | (needed - {counter(loop) for loop in entered})
    return FlowEdge(source, target, phis, entered, begun, left, frozenset(needs))


def _bodies(kernel: Kernel, around: Mapping[str, tuple[str, ...]], loops: Iterable[Loop]) -> dict[str, str]:
    """The block that begins each loop's body, by the loop: that which clang calls so, where it is still a block of its
    own behind a test; else the header."""
    bodies = {loop.id: loop.header for loop in loops}
    for pattern in (_STEP, _BODY):
        for block in reversed(kernel.blocks):
            inside = around[block.name][-1:]
            if inside and pattern.match(block.name) and (pattern is _BODY or _TEST.match(bodies[inside[0]])):
                bodies[inside[0]] = block.name
    return bodies


def _live(
    kernel: Kernel, first: Mapping[str, Segment], last: Mapping[str, Segment], segments: list[Segment],
    around: Mapping[str, tuple[str, ...]],
) -> dict[int, frozenset[str]]:  # fmt: skip
    """What each segment needs from before it, found by going round until nothing changes."""
    results = {one.result for block in kernel.blocks for one in block.instructions}
    reads, sets = {}, {}
    for segment in segments:
        read: set[str] = set()
        defined: set[str] = set()
        for one in (*segment.instructions, segment.end):
            read |= {o for o in one.operands if o in results} - defined
            defined.add(one.result)
        reads[id(segment)], sets[id(segment)] = read, defined
    phis = {
        (name, source): ({one.result for one in ones}, {o for one in ones for o in _from(one, source)} & results)
        for name, block in kernel.block.items()
        for ones in [[one for one in block.instructions if one.opcode == "phi"]]
        for source in {label for one in ones for label in one.labels}
    }
    live = {id(s): frozenset(reads[id(s)] | {counter(loop) for loop in around[s.block]}) for s in segments}
    changed = True
    while changed:
        changed = False
        for segment in reversed(segments):
            after: set[str] = set()
            if segment.following is not None:
                after |= live[id(segment.following)]
            elif segment is last[segment.block]:
                for target in kernel.block[segment.block].successors:
                    set_by, taken = phis.get((target, segment.block), (set(), set()))
                    fresh = {counter(loop) for loop in around[target] if loop not in around[segment.block]}
                    after |= (live[id(first[target])] - set_by - fresh) | taken
            alive = live[id(segment)] | (after - sets[id(segment)])
            if alive != live[id(segment)]:
                live[id(segment)], changed = frozenset(alive), True
    return live


def _from(phi: Instruction, source: str) -> set[str]:
    return {o for o, label in zip(phi.operands, phi.labels, strict=True) if label == source and isinstance(o, str)}


def ways_of(end: Instruction, condition: Array) -> Iterator[tuple[int, NDArray[np.bool_] | None]]:
    """The ways out of a block that are taken, each with the work items that take it; None where all do."""
    if end.opcode != "switch":
        taken = np.count_nonzero(condition)
        if taken in (0, len(condition)):
            yield 0 if taken else 1, None
        else:
            yield 0, condition
            yield 1, ~condition
        return
    rest = np.ones(len(condition), np.bool_)
    for way, case in enumerate(end.numbers, 1):
        chosen = condition == case
        rest &= ~chosen
        if chosen.all():
            yield way, None
        elif chosen.any():
            yield way, chosen
    if rest.any():
        yield 0, None if rest.all() else rest
