"""What of a kernel depends on the work item, and what work groups share: both withhold optimisations."""

from rc_workbench_plugins.opencl.kernel import BasicBlock, Kernel, Loop, Node, Way, leaves, walk

_ITEM = ("get_global_id", "get_local_id", "get_global_linear_id", "get_local_linear_id")


def varying_loops(kernel: Kernel, root: Node) -> tuple[Loop, ...]:
    """The loops in which a work item's own values decide whether it goes back: no compiler makes such work items go
    side by side (SIMD)."""
    values = _dependent(kernel)
    varying = []
    for loop in (node for node in walk(root) if isinstance(node, Loop)):
        names = {leaf.id for leaf in leaves(loop)}
        for name in names:
            block = kernel.block[name]
            if any(target not in names for target in block.successors) and _decides(block, values):
                varying.append(loop)
                break
    return tuple(varying)


def shared_by_atomics(kernel: Kernel) -> dict[str, int]:
    """The arrays that work groups share through atomics, each with the line of the first."""
    lines: dict[str, int] = {}
    for access in kernel.accesses:
        if access.way is Way.ATOMIC and access.object:
            lines.setdefault(access.object, access.line)
    return lines


def _decides(block: BasicBlock, values: set[str]) -> bool:
    return len(block.successors) > 1 and any(operand in values for operand in block.instructions[-1].operands)


def _dependent(kernel: Kernel) -> set[str]:
    """The values that differ from one work item of a group to another: computed from its number, from what an atomic
    returns, or taken on a way that such a value chose."""
    values: set[str] = set()
    objects: set[str] = set()
    while True:
        before = len(values) + len(objects)
        for block in kernel.blocks:
            for one in block.instructions:
                dependent = any(operand in values for operand in one.operands)
                dependent |= one.opcode == "call" and one.variant.startswith(_ITEM)
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
