"""What the instructions of a kernel reach in memory: which way, how much, and of which argument or variable."""

import re
from collections.abc import Mapping
from dataclasses import replace
from itertools import count

from rc_workbench_plugins.opencl.kernel import (
    Access,
    BasicBlock,
    Constant,
    Instruction,
    Kind,
    Operand,
    Space,
    Type,
    Way,
)

#: a group's copies between global and local memory; their result is no value, but an event
GROUP_COPIES = ("async_work_group_copy", "async_work_group_strided_copy")
#: what inlining appends to names
INLINED = re.compile(r"\.i(?=\.|\d*$)")
#: built-ins that reach memory through a pointer: which way, and which operand the pointer is
_REACHES = re.compile(r"(?P<load>vload)|(?P<store>vstore)|(?P<atomic>atom(?:ic)?_)")


def with_accesses(blocks: list[BasicBlock]) -> tuple[BasicBlock, ...]:
    """The blocks with what each memory operation reaches, and what of."""
    by_result = {i.result: i for block in blocks for i in block.instructions if i.result}
    numbers = count(1)

    def access(one: Instruction, way: Way, pointer: int, size: int) -> Access:
        objects = _objects(one.operands[pointer], by_result, set())
        name = next(iter(objects)) if len(objects) == 1 else ""
        space = one.operand_types[pointer].space or Space.PRIVATE
        return Access(f"a{next(numbers)}", way, space, size, name, one.line)

    def with_reach(one: Instruction) -> Instruction:
        return replace(one, accesses=tuple(access(one, *reach) for reach in _reaches(one)))

    return tuple(replace(block, instructions=tuple(map(with_reach, block.instructions))) for block in blocks)


def _reaches(one: Instruction) -> tuple[tuple[Way, int, int], ...]:
    """Which ways an instruction reaches memory, each with the operand that is the pointer and the bytes that a work
    item moves (of a group's copy: an element's)."""
    if one.opcode != "call":
        reaches = _reach(one)
        return (reaches,) if reaches else ()
    if one.variant in ("memcpy", "memmove", "memset"):
        size = one.operands[2]
        moved = int(size.values[0]) if isinstance(size, Constant) else 0
        written = (Way.STORE, 0, moved)
        return () if not moved else (written,) if one.variant == "memset" else (written, (Way.LOAD, 1, moved))
    if one.variant in GROUP_COPIES:
        return (Way.STORE, 0, one.numbers[0]), (Way.LOAD, 1, one.numbers[0])
    reaches = _built_in(one)
    return (reaches,) if reaches else ()


def _reach(one: Instruction) -> tuple[Way, int, int] | None:
    if one.opcode == "load":
        return Way.LOAD, 0, one.type.bytes
    if one.opcode == "store":
        return Way.STORE, 1, one.operand_types[0].bytes
    return (Way.ATOMIC, 0, one.operand_types[1].bytes) if one.opcode in ("atomicrmw", "cmpxchg") else None


def _built_in(one: Instruction) -> tuple[Way, int, int] | None:
    match = _REACHES.match(one.variant)
    if match is None:
        return None
    pointer = next(at for at, kind in enumerate(one.operand_types) if kind.kind is Kind.POINTER)
    half = 2 if "_half" in one.variant else 1
    if match["load"]:
        return Way.LOAD, pointer, one.type.bytes // half
    if match["store"]:
        return Way.STORE, pointer, _half_bytes(one.operand_types[0]) if half == 2 else one.operand_types[0].bytes
    return Way.ATOMIC, pointer, one.type.bytes


def _half_bytes(kind: Type) -> int:
    return 2 * kind.lanes


def _objects(pointer: Operand, by_result: Mapping[str, Instruction], seen: set[str]) -> frozenset[str]:
    """The arguments and variables that a pointer may point into, as the source names them."""
    if isinstance(pointer, Constant) or pointer in seen:
        return frozenset()
    seen.add(pointer)
    one = by_result.get(pointer)
    if one is None or one.opcode == "alloca":
        name = pointer[1:].partition("+")[0]
        return frozenset([name.rpartition(".")[2] if pointer.startswith("@") else INLINED.sub("", name)])
    if one.opcode == "load":
        return frozenset([""])
    pointers = [o for o, kind in zip(one.operands, one.operand_types, strict=True) if kind.kind is Kind.POINTER]
    return frozenset().union(*(_objects(operand, by_result, seen) for operand in pointers))
