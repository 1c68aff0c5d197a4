"""LLVM's operations on arrays of many work items' values.

A value is an array whose first axis is the work items, or of length 1 where all have the same; a vector's lanes are the
second. Integers are held signed, whatever reads them; comparisons give booleans.
"""

import operator
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import DTypeLike, NDArray

from rc_workbench_plugins.opencl.kernel import Constant, Instruction, Kind, Type

Array = NDArray[Any]
Operation = Callable[..., Array]

_UNSIGNED = {1: np.uint8, 8: np.uint8, 16: np.uint16, 32: np.uint32, 64: np.uint64}
_SIGNED = {1: np.bool_, 8: np.int8, 16: np.int16, 32: np.int32, 64: np.int64}
_FLOATS = {16: np.float16, 32: np.float32, 64: np.float64}


def dtype_of(kind: Type) -> np.dtype[Any]:
    """What holds one element of a type."""
    return np.dtype((_FLOATS if kind.kind is Kind.FLOAT else _SIGNED)[kind.bits])


def unsigned(value: Array) -> Array:
    """The same bits, read as unsigned numbers."""
    return value.view(_UNSIGNED[8 * value.dtype.itemsize])


def signed(value: Array) -> Array:
    return value.view(_SIGNED[8 * value.dtype.itemsize])


def constant(literal: Constant) -> Array:
    if literal.type.kind is Kind.VOID:
        return np.zeros(1, np.int64)
    values = np.array(literal.values, dtype_of(literal.type))
    return values if literal.type.lanes == 1 else values[None, :]


def lifted(*values: Array) -> list[Array]:
    """Scalars beside vectors as vectors that broadcast."""
    if any(v.ndim == 2 for v in values):
        return [v if v.ndim == 2 else v[:, None] for v in values]
    return list(values)


class DivisionByZero(Exception):
    """An integer was divided by zero, which OpenCL leaves undefined."""


def _divisor(value: Array) -> Array:
    if not value.all():
        raise DivisionByZero
    return value


def signed_quotient(a: Array, b: Array) -> Array:
    """Towards zero, as C divides."""
    floor = a // _divisor(b)
    return floor + ((floor * b != a) & ((a < 0) != (b < 0))).astype(a.dtype)


def _shift(function: Operation, read: Callable[[Array], Array] = lambda v: v) -> Operation:
    return lambda a, b: signed(function(read(a), read(b & (8 * b.dtype.itemsize - 1))))


def _on_unsigned(function: Operation) -> Operation:
    return lambda a, b: signed(function(unsigned(a), unsigned(b)))


def _compared(function: Operation, read: Callable[[Array], Array] = lambda v: v) -> Operation:
    return lambda a, b: function(read(a), read(b))


def _unordered(function: Operation) -> Operation:
    """True where `function`, the opposite of the comparison, is false: so too where either is no number."""
    return lambda a, b: ~function(a, b)


_BINARY: dict[str, Operation] = {
    "add": np.add,
    "sub": np.subtract,
    "mul": np.multiply,
    "sdiv": signed_quotient,
    "srem": lambda a, b: a - signed_quotient(a, b) * b,
    "udiv": _on_unsigned(lambda a, b: a // _divisor(b)),
    "urem": _on_unsigned(lambda a, b: a % _divisor(b)),
    "shl": _shift(np.left_shift),
    "lshr": _shift(np.right_shift, unsigned),
    "ashr": _shift(np.right_shift),
    "and": np.bitwise_and,
    "or": np.bitwise_or,
    "xor": np.bitwise_xor,
    "fadd": np.add,
    "fsub": np.subtract,
    "fmul": np.multiply,
    "fdiv": np.divide,
    "frem": np.fmod,
    "fneg": np.negative,
    "freeze": lambda a: a,
}
_INTEGER_PREDICATES: dict[str, Operation] = {
    "eq": operator.eq,
    "ne": operator.ne,
    **{f"s{name}": getattr(operator, name) for name in ("lt", "le", "gt", "ge")},
    **{f"u{name}": _compared(getattr(operator, name), unsigned) for name in ("lt", "le", "gt", "ge")},
}
_FLOAT_PREDICATES: dict[str, Operation] = {
    "false": lambda a, b: (a != a) & False,
    "true": lambda a, b: (a == a) | True,
    "oeq": operator.eq,
    "une": operator.ne,
    "one": lambda a, b: (a < b) | (a > b),
    "ueq": lambda a, b: ~((a < b) | (a > b)),
    "ord": lambda a, b: (a == a) & (b == b),
    "uno": lambda a, b: (a != a) | (b != b),
    **{f"o{name}": getattr(operator, name) for name in ("lt", "le", "gt", "ge")},
    "ult": _unordered(operator.ge),
    "ule": _unordered(operator.gt),
    "ugt": _unordered(operator.le),
    "uge": _unordered(operator.lt),
}


def float_to_integer(value: Array, kind: DTypeLike, is_unsigned: bool = False) -> Array:
    """Towards zero; what the integer cannot hold is as the machine makes it, as in C."""
    whole = np.trunc(value)
    if is_unsigned and np.dtype(kind).itemsize == 8:
        return signed(whole.astype(np.uint64))
    return whole.astype(np.int64).astype(kind)


def _cast(one: Instruction) -> Operation | None:
    to = dtype_of(one.type)
    from_bool = one.operand_types[0].bits == 1
    if one.opcode == "trunc":
        return (lambda a: (a & 1) != 0) if one.type.bits == 1 else (lambda a: a.astype(to))
    if one.opcode == "zext":
        return (lambda a: a.astype(to)) if from_bool else (lambda a: unsigned(a).astype(to))
    if one.opcode == "sext":
        return (lambda a: -a.astype(to)) if from_bool else (lambda a: a.astype(to))
    if one.opcode == "sitofp":
        return (lambda a: -a.astype(to)) if from_bool else (lambda a: a.astype(to))
    if one.opcode == "uitofp":
        return (lambda a: a.astype(to)) if from_bool else (lambda a: unsigned(a).astype(to))
    if one.opcode in ("fptosi", "fptoui"):
        return lambda a: float_to_integer(a, to, one.opcode == "fptoui")
    if one.opcode in ("fpext", "fptrunc", "ptrtoint", "inttoptr"):
        return lambda a: a.astype(to)
    if one.opcode == "bitcast":
        return lambda a: same_bits(a, one.type)
    return None


def same_bits(value: Array, kind: Type) -> Array:
    """A value's bits read as another type of the same width."""
    rows = np.ascontiguousarray(value).reshape(len(value), -1)
    if value.dtype == np.bool_ or kind.bits == 1:  # a vector of bits
        packed = np.packbits(rows, axis=1, bitorder="little") if value.dtype == np.bool_ else rows.view(np.uint8)
        rows = np.unpackbits(packed, axis=1, bitorder="little").astype(bool) if kind.bits == 1 else packed
        rows = rows[:, : kind.lanes] if kind.bits == 1 else rows
    seen = np.ascontiguousarray(rows).view(dtype_of(kind))
    return seen if kind.lanes > 1 else seen[:, 0]


def _select(condition: Array, a: Array, b: Array) -> Array:
    if condition.ndim == 1 and a.ndim == 2:
        condition = condition[:, None]
    return np.where(condition, a, b)


def _extract(vector: Array, index: Array) -> Array:
    if len(index) == 1:
        return vector[:, int(index[0])]
    rows = np.broadcast_to(vector, (max(len(vector), len(index)), vector.shape[1]))
    return rows[np.arange(len(rows)), index]


def _insert(vector: Array, value: Array, index: Array) -> Array:
    changed = np.array(np.broadcast_to(vector, (max(map(len, (vector, value, index))), vector.shape[1])))
    changed[np.arange(len(changed)), index] = value
    return changed


def _address(offset: int, scales: tuple[int, ...]) -> Operation:
    if not scales:
        return lambda base: base + offset
    if len(scales) == 1 and not offset:
        (scale,) = scales
        return lambda base, index: base + index.astype(np.int64) * scale
    return lambda base, *indices: (
        base + sum((i.astype(np.int64) * s for i, s in zip(indices, scales, strict=True)), np.int64(offset))
    )


def operation(one: Instruction) -> Operation | None:
    """What an instruction computes of its operands alone; None of calls, memory and what is not known."""
    opcode = one.opcode
    if opcode in _BINARY:
        return _BINARY[opcode]
    if opcode == "icmp":
        return _INTEGER_PREDICATES.get(one.variant)
    if opcode == "fcmp":
        return _FLOAT_PREDICATES.get(one.variant)
    if opcode == "getelementptr":
        return _address(one.numbers[0], one.numbers[1:])
    if opcode == "select":
        return _select
    if opcode == "alloca":
        place = np.array([one.numbers[0]], np.int64)
        return lambda: place
    if opcode == "extractelement":
        return _extract
    if opcode == "insertelement":
        return _insert
    if opcode == "shufflevector":
        mask = np.maximum(one.numbers, 0)
        return lambda a, b: np.concatenate(np.broadcast_arrays(a, b), axis=1)[:, mask]
    return _cast(one) if one.type.kind is not Kind.VOID and one.operand_types else None
