"""What of a kernel is kept on the chip: arrays, and values that wait for others, at barriers and around loops.

The model of time needs none of it; `memory_blocks.py` estimates memory blocks from it. Widths are bits, sizes bytes.
"""

import math
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field

from rc_workbench_plugins.opencl.kernel import (
    BasicBlock,
    Instruction,
    Kernel,
    Kind,
    Node,
    Profile,
    Space,
    Type,
    Way,
    enclosing,
)
from rc_workbench_plugins.opencl.streams import Stream, stream_of

#: Cycles that a value waits for in registers; longer, it waits in a queue of memory.
REGISTERED_CYCLES = 32
#: Bytes of a private array that each work item carries along the pipeline; a larger one is a memory.
CARRIED_BYTES = 256
POINTER_BITS = 32


@dataclass(frozen=True)
class Port:
    """An access of an array on the chip, in a block of the kernel."""

    block: str
    stream: Stream


@dataclass(frozen=True)
class Array:
    """An array in local memory, with its size for one group and its loads."""

    name: str
    bytes: float
    loads: tuple[Port, ...]


@dataclass(frozen=True)
class PrivateArray:
    """An array of each work item. `blocks` are those through which it is kept; `ports` tell whether loops that are not
    fully unrolled move its index."""

    name: str
    bytes: float
    blocks: frozenset[str]
    ports: tuple[Port, ...]


@dataclass(frozen=True)
class Storage:
    """`waiting_bits` are, by block, values that wait longer than in registers; `barrier_bits`, by block with a barrier,
    what a work item keeps there, once for each barrier; `constants` the accesses of constant memory."""

    group_items: int = 1
    local: tuple[Array, ...] = ()
    private: tuple[PrivateArray, ...] = ()
    constants: tuple[Port, ...] = ()
    waiting_bits: Mapping[str, float] = field(default_factory=dict)
    barrier_bits: Mapping[str, float] = field(default_factory=dict)


def storage_of(kernel: Kernel, root: Node, profile: Profile, cycles_of: Callable[[Instruction], float]) -> Storage:
    """What a launch of the kernel keeps on the chip; `cycles_of` are latencies without global memory's."""
    ports: dict[tuple[Space, str], list[Port]] = {}
    for block in kernel.blocks:
        for access in block.accesses:
            port = Port(block.name, stream_of(access, profile, block.name))
            ports.setdefault((access.space, access.object), []).append(port)
    private = _private(kernel, root, profile, ports)
    waiting, barriers = kept_bits(kernel, cycles_of)
    for name in barriers:
        arrays = sum(8 * a.bytes for a in private if name in a.blocks and a.bytes <= CARRIED_BYTES)
        barriers[name] += _barriers(kernel, name) * arrays
    return Storage(
        math.prod(profile.local_size),
        tuple(_local(kernel, ports)),
        private,
        tuple(port for (space, _), found in ports.items() if space is Space.CONSTANT for port in found),
        {name: bits for name, bits in waiting.items() if bits},
        barriers,
    )


def kept_bits(kernel: Kernel, cycles_of: Callable[[Instruction], float]) -> tuple[dict[str, float], dict[str, float]]:
    """By block: the bits of values that wait longer than in registers, and of those that a work item keeps at barriers,
    once for each. Private arrays are not included."""
    types = {one.result: one.type for block in kernel.blocks for one in block.instructions if one.result}
    before, after = _live(kernel)
    waiting = {block.name: _waiting_bits(block, types, after[block.name], cycles_of) for block in kernel.blocks}
    barriers: dict[str, float] = {}
    for block in kernel.blocks:
        if number := _barriers(kernel, block.name):
            kept = sum(_bits(types[v]) for v in before[block.name] & after[block.name] if v in types)
            barriers[block.name] = number * kept
    return waiting, barriers


def _barriers(kernel: Kernel, name: str) -> int:
    (block,) = (block for block in kernel.blocks if block.name == name)
    return sum(one.opcode == "call" and "barrier" in one.variant for one in block.instructions)


def _bits(kind: Type) -> int:
    return kind.lanes * (POINTER_BITS if kind.kind is Kind.POINTER else kind.bits)


def _local(kernel: Kernel, ports: Mapping[tuple[Space, str], list[Port]]) -> Iterable[Array]:
    for variable in kernel.variables:
        if variable.space is Space.LOCAL:
            name = variable.name.rpartition(".")[2].lstrip("@")
            found = ports.get((Space.LOCAL, name), ())
            yield Array(name, variable.bytes, tuple(p for p in found if p.stream.way is Way.LOAD))


def _private(
    kernel: Kernel, root: Node, profile: Profile, ports: Mapping[tuple[Space, str], list[Port]]
) -> tuple[PrivateArray, ...]:
    """The private arrays that are written after the kernel's beginning: others are tables, which are wires."""
    after = {block.name: block.successors for block in kernel.blocks}
    before: dict[str, list[str]] = {}
    for name, successors in after.items():
        for successor in successors:
            before.setdefault(successor, []).append(name)
    above = enclosing(root)
    arrays = []
    for (space, name), found in ports.items():
        written = {port.block for port in found if port.stream.way is not Way.LOAD}
        if space is not Space.PRIVATE or not name or written <= {kernel.blocks[0].name}:
            continue
        size = 0.0
        for port in found:
            reach = port.stream.bytes
            for loop in above[port.block]:
                trips = profile.loops[loop.id].mean if loop.id in profile.loops else 0.0
                reach += abs(port.stream.loop_bytes.get(loop.id) or 0.0) * max(trips - 1, 0.0)
            size = max(size, reach)
        read = {port.block for port in found if port.stream.way is Way.LOAD}
        kept = _reached(written, after) & (_reached(read, before) | read)
        arrays.append(PrivateArray(name, min(size, max(kernel.private_bytes, 4)), frozenset(kept), tuple(found)))
    return tuple(arrays)


def _reached(begins: Iterable[str], edges: Mapping[str, Iterable[str]]) -> set[str]:
    """The blocks that follow some by one edge or more."""
    reached: set[str] = set()
    open_ = list(begins)
    while open_:
        for name in edges.get(open_.pop(), ()):
            if name not in reached:
                reached.add(name)
                open_.append(name)
    return reached


def _live(kernel: Kernel) -> tuple[dict[str, set[str]], dict[str, set[str]]]:
    """The values that are needed as each block begins, and those as it ends."""
    uses: dict[str, set[str]] = {}
    results: dict[str, set[str]] = {}
    joined: dict[str, set[str]] = {}
    for block in kernel.blocks:
        uses[block.name], results[block.name] = set(), set()
        for one in block.instructions:
            operands = {operand for operand in one.operands if isinstance(operand, str)}
            if one.opcode == "phi":
                for operand, label in zip(one.operands, one.labels, strict=False):
                    if isinstance(operand, str):
                        joined.setdefault(label, set()).add(operand)
            else:
                uses[block.name] |= operands - results[block.name]
            if one.result:
                results[block.name].add(one.result)
    before: dict[str, set[str]] = {block.name: set() for block in kernel.blocks}
    after: dict[str, set[str]] = {block.name: set() for block in kernel.blocks}
    changed = True
    while changed:
        changed = False
        for block in reversed(kernel.blocks):
            ends = joined.get(block.name, set()).union(*(before[name] for name in block.successors))
            begins = uses[block.name] | (ends - results[block.name])
            changed |= ends != after[block.name] or begins != before[block.name]
            before[block.name], after[block.name] = begins, ends
    return before, after


def _waiting_bits(
    block: BasicBlock, types: Mapping[str, Type], needed_after: set[str], cycles_of: Callable[[Instruction], float]
) -> float:
    """Bits of the values that wait longer than in registers, in a block whose loads of global memory take long."""
    ready: dict[str, float] = {}
    used: dict[str, float] = {}
    end = 0.0
    for one in block.instructions:
        operands = [] if one.opcode == "phi" else [operand for operand in one.operands if isinstance(operand, str)]
        start = max((ready.get(operand, 0.0) for operand in operands), default=0.0)
        used |= {operand: max(used.get(operand, 0.0), start) for operand in operands}
        loads = any(a.space is Space.GLOBAL and a.way is not Way.STORE for a in one.accesses)
        done = start + cycles_of(one) + (2 * REGISTERED_CYCLES if loads else 0)
        end = max(end, done)
        if one.result:
            ready[one.result] = done
    used |= dict.fromkeys(needed_after, end)
    return sum(_bits(types[v]) for v, at in used.items() if v in types and at - ready.get(v, 0.0) > REGISTERED_CYCLES)
