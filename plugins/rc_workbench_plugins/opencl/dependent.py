"""What of a kernel depends on the work item or on a loop's round, and what work groups share."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

from rc_workbench_plugins.opencl.kernel import (
    BasicBlock,
    Branch,
    Constant,
    Instruction,
    Kernel,
    Loop,
    Node,
    Switch,
    Way,
    enclosing,
    leaves,
    walk,
)

_ITEM = ("get_global_id", "get_local_id", "get_global_linear_id", "get_local_linear_id")
#: Work items that stand side by side, as SIMD takes them, in place of a loop's name.
LANE = ""


def varying(kernel: Kernel, root: Node) -> tuple[Node, ...]:
    """The loops in which a work item's own values decide whether it goes back, and the branches that they decide and
    that hold a loop: no compiler makes such work items go side by side (SIMD).

    Intel's offline compiler turns branches without loops into conditions of single operations ("Avoiding Work-Item
    ID-Dependent Backward Branching", document 683176). Of 109 pairs of published builds of a kernel with such a branch
    (dct of Gautier et al. 2016) that differ in their SIMD alone, 101 take the same logic and memory blocks.
    """
    values = _dependent(kernel, _of_an_item)
    found: list[Node] = []
    for node in walk(root):
        if isinstance(node, Loop):
            names = {leaf.id for leaf in leaves(node)}
            leaving = (block for block in map(kernel.block.__getitem__, names) if {*block.successors} - names)
            if any(_decides(block, values) for block in leaving):
                found.append(node)
        elif isinstance(node, Branch | Switch):
            block = kernel.block.get(node.condition)
            around = any(isinstance(one, Loop) for one in walk(node))
            found += [node] if block is not None and around and _decides(block, values) else []
    return tuple(found)


def shared_by_atomics(kernel: Kernel) -> dict[str, int]:
    """The arrays that work groups share through atomics, each with the line of the first."""
    lines: dict[str, int] = {}
    for access in kernel.accesses:
        if access.way is Way.ATOMIC and access.object:
            lines.setdefault(access.object, access.line)
    return lines


def _decides(block: BasicBlock, values: set[str]) -> bool:
    return len(block.successors) > 1 and any(operand in values for operand in block.instructions[-1].operands)


@dataclass(frozen=True)
class Multiplication:
    """One of whole numbers. `varies` are the loops around it on whose round it depends, and `LANE` where
    it depends on a work item's place along dimension 0: copies that compute the same are one."""

    bits: int
    varies: frozenset[str]


def multiplications(kernel: Kernel, root: Node) -> dict[str, tuple[Multiplication, ...]]:
    """The multiplications of each block."""
    found = _multiplications(kernel)
    if not any(found.values()):
        return {}
    above = enclosing(root)
    loops = {loop.id: loop for name, has in found.items() if has for loop in above.get(name, ())}
    values = {LANE: _dependent(kernel, _of_a_lane)}
    for name, loop in loops.items():
        begun = {i.result for i in kernel.block[loop.header].instructions if i.opcode == "phi"}
        values[name] = _dependent(kernel, partial(_is_one_of, begun))
    return {
        name: tuple(
            Multiplication(
                one.type.bits,
                frozenset(n for n in (LANE, *(loop.id for loop in above.get(name, ()))) if one.result in values[n]),
            )
            for one in has
        )
        for name, has in found.items()
    }


def _multiplications(kernel: Kernel) -> dict[str, list[Instruction]]:
    """The multiplications of each block, without repetitions of an earlier one in it."""
    terms: dict[str, object] = {}
    found: dict[str, list[Instruction]] = {}
    for block in kernel.blocks:
        found[block.name] = []
        seen: set[object] = set()
        for one in block.instructions:
            inputs = tuple(terms.get(o, o) if isinstance(o, str) else o for o in one.operands)
            term: object = (one.opcode, one.variant, one.numbers, inputs)
            if one.opcode == "mul" and term not in seen:
                found[block.name].append(one)
                seen.add(term)
            if one.result:  # what is loaded, or comes by several ways, is itself alone
                terms[one.result] = one.result if one.accesses or one.opcode == "phi" else term
    return found


def _is_one_of(results: set[str], one: Instruction) -> bool:
    return one.result in results


def _of_an_item(one: Instruction) -> bool:
    return one.opcode == "call" and one.variant.startswith(_ITEM)


def _of_a_lane(one: Instruction) -> bool:
    along = next((o.values[0] for o in one.operands if isinstance(o, Constant)), 0)
    return _of_an_item(one) and along == 0


def _dependent(kernel: Kernel, begins: Callable[[Instruction], bool]) -> set[str]:
    """The values that depend on those that begin it: computed from one, from what an atomic returns, or taken on a way
    that such a value chose."""
    values: set[str] = set()
    objects: set[str] = set()
    while True:
        before = len(values) + len(objects)
        for block in kernel.blocks:
            for one in block.instructions:
                dependent = any(operand in values for operand in one.operands)
                dependent |= begins(one)
                dependent |= any(access.way is Way.ATOMIC or access.object in objects for access in one.accesses)
                if one.opcode == "phi" and len(set(one.operands)) > 1:
                    dependent |= any(_decides(way, values) for label in one.labels for way in _ways(kernel, label))
                if dependent and one.result:
                    values.add(one.result)
                stores = (access for access in one.accesses if access.way is Way.STORE and access.space == "private")
                objects.update(access.object for access in stores if dependent)
        if len(values) + len(objects) == before:
            return values


def _ways(kernel: Kernel, label: str) -> list[BasicBlock]:
    """A block, and those before it that lead only to it by one way, with the one that chose this way."""
    passed = [kernel.block[label]]
    while len(passed) < len(kernel.blocks):
        before = [block for block in kernel.blocks if passed[-1].name in block.successors]
        if len(before) != 1 or before[0] in passed:
            break
        passed.append(before[0])
        if len(before[0].successors) > 1:
            break
    return passed
