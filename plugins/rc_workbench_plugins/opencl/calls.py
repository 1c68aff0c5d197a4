"""What instructions do besides computing: who a work item is, memory, atomics, copies."""

import re
from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from rc_workbench_plugins.opencl import library
from rc_workbench_plugins.opencl.accesses import GROUP_COPIES
from rc_workbench_plugins.opencl.kernel import Access, Instruction, Kind, Space, Type
from rc_workbench_plugins.opencl.memory import Memory, Positions
from rc_workbench_plugins.opencl.ndrange import NDRange
from rc_workbench_plugins.opencl.values import Array, Operation, dtype_of, operation, unsigned

_ATOMIC = re.compile(r"atom(?:ic)?_(add|sub|inc|dec|xchg|cmpxchg|min|max|and|or|xor)$")
_VECTOR_LOAD = re.compile(r"vload(a?)(_half)?\d*$")
_VECTOR_STORE = re.compile(r"vstore(a?)(_half)?\d*(?:_rt.)?$")
_WHO = re.compile(r"get_(global_id|local_id|group_id|global_size|local_size|num_groups|global_offset|work_dim)$")
#: what a group's memory holds as bytes
_BYTE = Type(Kind.INT, 8)


class Calls:
    """The functions of a launch's instructions. `lanes` are the work items that run now, by number in the batch."""

    def __init__(
        self, memory: Memory, size: NDRange, trace: Callable[[Access, Array], None],
        copied: Callable[[Access, int, int], None],
    ) -> None:  # fmt: skip
        self._memory, self._size, self._trace, self._copied = memory, size, trace, copied
        self.lanes: Positions = np.arange(0)

    @staticmethod
    def nothing() -> Array:
        """What is left out when it runs: copies are done at once, nothing is printed."""
        return np.zeros(1, np.int32)

    def batch(self, groups: NDArray[np.int64], local_bytes: int, private_bytes: int) -> None:
        """The groups that run together from now on."""
        each = self._size.group_items
        self._memory.groups(len(groups), local_bytes, np.repeat(np.arange(len(groups)), each), private_bytes)
        group = [np.repeat(ids, each) for ids in self._size.group_ids(groups)]
        local = [np.tile(ids, len(groups)) for ids in self._size.local_ids()]
        sizes = (*self._size.local_size, 1, 1)
        self._items = np.stack(
            [*(g * n + i for g, n, i in zip(group, sizes, local, strict=False)), np.repeat(groups, each)]
        )
        self._who = {
            "global_id": list(self._items[:3]),
            "local_id": local,
            "group_id": group,
            "global_size": [np.array([n]) for n in (*self._size.global_size, 1, 1)[:3]],
            "local_size": [np.array([n]) for n in sizes[:3]],
            "num_groups": [np.array([n]) for n in (*self._size.group_counts, 1, 1)[:3]],
            "global_offset": [np.array([0])] * 3,
        }
        for ids in self._who.values():
            ids[:] = [column if len(column) > 1 and np.ptp(column) else column[:1] for column in ids]

    def items(self) -> NDArray[np.int64]:
        """Each work item's global ids and its group's number, one row each."""
        return self._items.T

    def who(self, lane: int) -> str:
        """A work item by its global ids, as a person says it."""
        ids = self._items[: self._size.dimensions, lane]
        return str(ids[0]) if len(ids) == 1 else f"({', '.join(map(str, ids))})"

    def operation(self, one: Instruction) -> Operation | None:
        """What an instruction does; None where that is not known."""
        if one.opcode == "load":
            return self._load(one)
        if one.opcode == "store":
            return self.nothing if one.operand_types[0].kind is Kind.VOID else self._store(one)
        if one.opcode != "call":
            return operation(one)
        name = one.variant
        if name == "printf":
            return lambda *values: self.nothing()
        if match := _WHO.match(name):
            return self._ask(one, match[1])
        if match := _ATOMIC.match(name):
            return self._atomic(one, match[1])
        if match := _VECTOR_LOAD.match(name):
            return self._vector_load(one, bool(match[1]), bool(match[2]))
        if match := _VECTOR_STORE.match(name):
            return self._vector_store(one, bool(match[1]), bool(match[2]))
        if name in ("memcpy", "memmove", "memset"):
            return self._move(one)
        if name in GROUP_COPIES:
            return self._copy(one)
        if both := library.pair(name):
            return self._pair(one, both)
        return library.function(one)

    def _ask(self, one: Instruction, what: str) -> Operation:
        if what == "work_dim":
            answer = np.array([self._size.dimensions], np.int32)
            return lambda: answer
        beyond = np.array([1 if "size" in what or what == "num_groups" else 0])

        def ask(dimension: Array) -> Array:
            number = int(dimension[0])
            column = self._who[what][number] if 0 <= number < 3 else beyond
            return column if len(column) == 1 else column[self.lanes]

        return ask

    def _load(self, one: Instruction) -> Operation:
        (reached,) = one.accesses
        space, kind = one.operand_types[0].space or Space.PRIVATE, one.type

        def load(pointer: Array) -> Array:
            self._trace(reached, pointer)
            return self._memory.load(space, kind, pointer, self.lanes)

        return load

    def _store(self, one: Instruction) -> Operation:
        (reached,) = one.accesses
        kind, space = one.operand_types[0], one.operand_types[1].space or Space.PRIVATE

        def store(value: Array, pointer: Array) -> Array:
            self._trace(reached, pointer)
            self._memory.store(space, kind, pointer, value, self.lanes)
            return pointer

        return store

    def _vector_load(self, one: Instruction, aligned: bool, half: bool) -> Operation:
        (reached,) = one.accesses
        space = one.operand_types[1].space or Space.PRIVATE
        kind = Type(Kind.FLOAT, 16, one.type.lanes) if half else one.type
        step = kind.bits // 8 * (4 if aligned and kind.lanes == 3 else kind.lanes)

        def load(offset: Array, pointer: Array) -> Array:
            address = pointer + offset.astype(np.int64) * step
            self._trace(reached, address)
            return self._memory.load(space, kind, address, self.lanes).astype(dtype_of(one.type))

        return load

    def _vector_store(self, one: Instruction, aligned: bool, half: bool) -> Operation:
        (reached,) = one.accesses
        given, space = one.operand_types[0], one.operand_types[2].space or Space.PRIVATE
        kind = Type(Kind.FLOAT, 16, given.lanes) if half else given
        step = kind.bits // 8 * (4 if aligned and kind.lanes == 3 else kind.lanes)

        def store(value: Array, offset: Array, pointer: Array) -> Array:
            address = pointer + offset.astype(np.int64) * step
            self._trace(reached, address)
            self._memory.store(space, kind, address, value.astype(dtype_of(kind)), self.lanes)
            return pointer

        return store

    def _atomic(self, one: Instruction, name: str) -> Operation:
        (reached,) = one.accesses
        space, kind = one.operand_types[0].space or Space.GLOBAL, one.type
        element = dtype_of(kind)

        def atomic(pointer: Array, *values: Array) -> Array:
            self._trace(reached, pointer)
            given = [np.broadcast_to(v, len(self.lanes)).astype(element) for v in values]
            if name in ("inc", "dec"):
                given = [np.ones(len(self.lanes), element)]
            put, running = _changes(name, one.unsigned, given)
            return self._memory.change(space, kind, pointer, self.lanes, put, running)

        return atomic

    def _pair(self, one: Instruction, both: Callable[[Array], tuple[Array, Array]]) -> Operation:
        space = one.operand_types[-1].space or Space.PRIVATE

        def pair(value: Array, pointer: Array) -> Array:
            result, second = both(value)
            self._memory.store(space, Type(one.type.kind if second.dtype.kind == "f" else Kind.INT,
                               8 * second.dtype.itemsize, one.type.lanes), pointer, second, self.lanes)  # fmt: skip
            return result

        return pair

    def _move(self, one: Instruction) -> Operation | None:
        size = one.operands[2]
        if isinstance(size, str):
            return None
        wide = Type(Kind.INT, 8, int(size.values[0]))
        to, source = (kind.space or Space.PRIVATE for kind in one.operand_types[:2])

        def move(pointer: Array, given: Array, *_: Array) -> Array:
            for access, address in zip(one.accesses, (pointer, given), strict=False):
                self._trace(access, address)
            if one.variant == "memset":
                data = np.repeat(given[:, None], wide.lanes, axis=1)
            else:
                data = self._memory.load(source, wide, given, self.lanes).reshape(-1, wide.lanes)
            self._memory.store(to, wide, pointer, data if wide.lanes > 1 else data[:, 0], self.lanes)
            return pointer

        return move if wide.lanes else self.nothing

    def _copy(self, one: Instruction) -> Operation:
        """A group's copy between global and local memory: what its first work item here asks for, all at once."""
        (size,) = one.numbers
        to, source = (kind.space or Space.GLOBAL for kind in one.operand_types[:2])

        def copy(pointer: Array, given: Array, count: Array, *rest: Array) -> Array:
            for access, address in zip(one.accesses, (pointer, given), strict=True):
                self._trace(access, address)
            strides = [np.broadcast_to(v, len(self.lanes)) for v in rest[:-1]]
            ends = [np.broadcast_to(v, len(self.lanes)) for v in (pointer, given, count)]
            for lane in np.unique(self.lanes // self._size.group_items, return_index=True)[1]:
                target, begin, elements = (int(v[lane]) for v in ends)
                wide = int(strides[0][lane]) if strides else 1
                out, back = (wide, 1) if source is Space.LOCAL else (1, wide)
                for access, step in zip(one.accesses, (out, back), strict=True):
                    self._copied(access, elements, step * size)
                at = np.arange(elements * size)
                one_lane = np.full(elements * size, self.lanes[lane])
                data = self._memory.load(source, _BYTE, begin + at // size * size * back + at % size, one_lane)
                self._memory.store(to, _BYTE, target + at // size * size * out + at % size, data, one_lane)
            return np.zeros(1, np.int64)

        return copy


def _changes(
    name: str, is_unsigned: bool, given: list[Array]
) -> tuple[Callable[[Array, Positions], Array], Callable[[Array, Positions, Positions], Array] | None]:
    """What an atomic puts where it found something, and what each of many finds, where sums tell it at once."""
    if name == "cmpxchg":
        return (lambda old, who: np.where(old == given[0][who], given[1][who], old)), None
    (value,) = given
    if name == "xchg":
        return (lambda old, who: value[who]), None
    if name in ("add", "inc", "sub", "dec"):
        change = value if name in ("add", "inc") else -value

        def before(first: Array, order: Positions, begins: Positions) -> Array:
            moved = change[order]
            sums = np.cumsum(moved, dtype=moved.dtype) - moved
            lengths = np.diff(np.concatenate([begins, [len(order)]]))
            return np.repeat(first - sums[begins], lengths) + sums

        return (lambda old, who: old + change[who]), before
    if name in ("min", "max"):
        read = unsigned if is_unsigned else (lambda v: v)
        better = np.minimum if name == "min" else np.maximum
        return (lambda old, who: better(read(old), read(value[who])).view(old.dtype)), None
    function = {"and": np.bitwise_and, "or": np.bitwise_or, "xor": np.bitwise_xor}[name]
    return (lambda old, who: function(old, value[who])), None
