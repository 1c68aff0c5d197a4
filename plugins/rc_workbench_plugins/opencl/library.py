"""OpenCL C's built-in functions of values alone, on arrays of many work items' values (OpenCL 1.2, sections 6.12.2 to
6.12.6 and 6.2), and LLVM's own.

Mathematics of single precision is done in double and rounded once, so that it is as near as a float can be.
"""

import re
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from scipy import special

from rc_workbench_plugins.opencl.kernel import Instruction, Kind
from rc_workbench_plugins.opencl.values import Array, Operation, dtype_of, lifted, signed, unsigned

_CONVERT = re.compile(r"convert_(u?)[a-z]+?\d*(_sat)?(?:_(rte|rtz|rtp|rtn))?$")
_ROUNDINGS: Mapping[str, Callable[[Array], Array]] = {
    "rte": np.rint, "rtz": np.trunc, "rtp": np.ceil, "rtn": np.floor, "": np.trunc,
}  # fmt: skip


def _wide(function: Callable[..., Any]) -> Operation:
    """A function of floats, computed in double precision."""

    def apply(*values: Array) -> Array:
        kind = values[0].dtype
        return np.asarray(function(*(v.astype(np.float64) for v in values)), np.float64).astype(kind)

    return apply


def _of_half_turns(function: Callable[..., Any]) -> Operation:
    return _wide(lambda x: function(np.pi * np.fmod(x, 2)))


def _in_half_turns(function: Callable[..., Any]) -> Operation:
    return _wide(lambda *values: function(*values) / np.pi)


def _round(x: Array) -> Array:
    whole = np.trunc(x)
    return np.copysign(whole + np.where(np.abs(x - whole) >= 0.5, np.copysign(1, x), 0), x)


def _rootn(x: Array, n: Array) -> Array:
    odd = n.astype(np.int64) % 2 != 0
    root = np.abs(x) ** (1.0 / n)
    return np.where(x < 0, np.where(odd, -root, np.nan), root)


def _remainder(x: Array, y: Array) -> Array:
    return x - np.rint(x / y) * y


def _fma(a: Array, b: Array, c: Array) -> Array:
    """a * b + c rounded once: exact in double for singles but for a last half; for doubles with the product's error."""
    if a.dtype == np.float64:
        product = a * b
        high_a, high_b = (np.asarray((x * 134217729.0) - (x * 134217729.0 - x)) for x in (a, b))
        low_a, low_b = a - high_a, b - high_b
        lost = ((high_a * high_b - product) + high_a * low_b + low_a * high_b) + low_a * low_b
        total = product + c
        back = total - product
        return np.asarray(total + (((product - (total - back)) + (c - back)) + lost))
    return np.asarray((a.astype(np.float64) * b.astype(np.float64) + c.astype(np.float64)).astype(a.dtype))


def _dot(a: Array, b: Array) -> Array:
    if a.ndim == 1:
        return a * b
    total = a[:, 0] * b[:, 0]
    for lane in range(1, a.shape[1]):
        total = total + a[:, lane] * b[:, lane]
    return total


def _length(a: Array) -> Array:
    wide = a.astype(np.float64)
    return np.sqrt(_dot(wide, wide)).astype(a.dtype)


def _normalize(a: Array) -> Array:
    wide = a.astype(np.float64)
    length = np.sqrt(_dot(wide, wide))
    return (wide / (length[:, None] if a.ndim == 2 else length)).astype(a.dtype)


def _cross(a: Array, b: Array) -> Array:
    a, b = np.broadcast_arrays(a, b)
    product = np.zeros_like(a)
    for lane, (i, j) in enumerate(((1, 2), (2, 0), (0, 1))):
        product[:, lane] = a[:, i] * b[:, j] - a[:, j] * b[:, i]
    return product


def _smoothstep(low: Array, high: Array, x: Array) -> Array:
    t = np.clip((x - low) / (high - low), 0, 1)
    return np.asarray(t * t * (3 - 2 * t))


_MATH: dict[str, Operation] = {
    **{name: _wide(getattr(np, name)) for name in (
        "sin", "cos", "tan", "sinh", "cosh", "tanh", "exp", "exp2", "expm1", "log", "log2", "log10", "log1p", "cbrt",
        "hypot",
    )},
    **{f"a{name}": _wide(getattr(np, f"arc{name}")) for name in (
        "sin", "cos", "tan", "sinh", "cosh", "tanh", "tan2",
    )},
    **{f"{name}pi": _of_half_turns(getattr(np, name)) for name in ("sin", "cos", "tan")},
    **{f"a{name}pi": _in_half_turns(getattr(np, f"arc{name}")) for name in ("sin", "cos", "tan", "tan2")},
    "exp10": _wide(lambda x: np.power(10.0, x)),
    "pow": _wide(np.power), "powr": _wide(np.power), "pown": _wide(np.power), "rootn": _wide(_rootn),
    "rsqrt": _wide(lambda x: 1 / np.sqrt(x)), "sqrt": np.sqrt,
    "erf": _wide(special.erf), "erfc": _wide(special.erfc),
    "tgamma": _wide(special.gamma), "lgamma": _wide(special.gammaln),
    "fabs": np.abs, "ceil": np.ceil, "floor": np.floor, "trunc": np.trunc, "rint": np.rint, "round": _round,
    "copysign": np.copysign, "fmod": np.fmod, "remainder": _wide(_remainder), "nextafter": np.nextafter,
    "fmax": np.fmax, "fmin": np.fmin, "maxnum": np.fmax, "minnum": np.fmin,
    "fdim": lambda a, b: np.where(a > b, a - b, np.where(np.isnan(a + b), a + b, 0)).astype(a.dtype),
    "maxmag": lambda a, b: np.where(np.abs(a) > np.abs(b), a, np.where(np.abs(b) > np.abs(a), b, np.fmax(a, b))),
    "minmag": lambda a, b: np.where(np.abs(a) < np.abs(b), a, np.where(np.abs(b) < np.abs(a), b, np.fmin(a, b))),
    "ldexp": lambda x, n: np.ldexp(x, n.astype(np.int32)),
    "ilogb": lambda x: (np.frexp(x)[1] - 1).astype(np.int32), "logb": lambda x: (np.frexp(x)[1] - 1).astype(x.dtype),
    "fma": _fma, "fmuladd": lambda a, b, c: a * b + c, "mad": lambda a, b, c: a * b + c,
    "divide": np.divide, "recip": lambda x: 1 / x,
    "degrees": lambda x: x * x.dtype.type(180 / np.pi), "radians": lambda x: x * x.dtype.type(np.pi / 180),
    "mix": lambda a, b, t: a + (b - a) * t, "sign": lambda x: np.where(np.isnan(x), 0, np.sign(x)).astype(x.dtype),
    "step": lambda edge, x: np.where(x < edge, 0, 1).astype(x.dtype), "smoothstep": _smoothstep,
    "dot": _dot, "cross": _cross, "length": _length, "normalize": _normalize, "distance": lambda a, b: _length(a - b),
}  # fmt: skip


def _exactly(function: Callable[..., Array], saturated: bool = False) -> Callable[..., Array]:
    """An integer function computed in numbers that hold its result, then cut off or held within the type."""

    def apply(*values: Array) -> Array:
        kind = values[0].dtype
        wider = np.object_ if kind.itemsize == 8 else np.int64
        result = function(*(v.astype(wider) for v in values))
        if saturated:
            bounds = np.iinfo(kind)
            return np.clip(result, bounds.min, bounds.max).astype(kind)
        return (result & ((1 << 8 * kind.itemsize) - 1)).astype(f"u{kind.itemsize}").view(kind)

    return apply


def _leading_zeros(value: Array) -> Array:
    bits, rest = 8 * value.dtype.itemsize, unsigned(value)
    zeros = np.zeros(value.shape, np.int64)
    width = bits
    while width > 1:  # halve the width: where the upper half is empty, that much more is zero
        width //= 2
        upper = rest >> rest.dtype.type(width)
        empty = upper == 0
        zeros += np.where(empty, width, 0)
        rest = np.where(empty, rest, upper)
    return (zeros + (rest == 0)).astype(value.dtype)


def _trailing_zeros(value: Array) -> Array:
    lowest = value & -value
    return np.where(value == 0, 8 * value.dtype.itemsize, 8 * value.dtype.itemsize - 1 - _leading_zeros(lowest)).astype(
        value.dtype
    )


def _rotate(value: Array, by: Array) -> Array:
    return _funnel(value, value, by)


def _funnel(high: Array, low: Array, by: Array) -> Array:
    """The upper half of two words together, shifted left (llvm.fshl)."""
    bits = 8 * high.dtype.itemsize
    left = unsigned(by) & (bits - 1)
    down = unsigned(low) >> np.where(left == 0, 0, bits - left).astype(left.dtype)
    return signed((unsigned(high) << left) | np.where(left == 0, 0, down).astype(left.dtype))


def _funnel_right(high: Array, low: Array, by: Array) -> Array:
    bits = 8 * high.dtype.itemsize
    right = unsigned(by) & (bits - 1)
    up = unsigned(high) << np.where(right == 0, 0, bits - right).astype(right.dtype)
    return signed((unsigned(low) >> right) | np.where(right == 0, 0, up).astype(right.dtype))


_INTEGER: dict[str, Operation] = {
    "add_sat": _exactly(lambda a, b: a + b, saturated=True),
    "sub_sat": _exactly(lambda a, b: a - b, saturated=True),
    "hadd": _exactly(lambda a, b: (a + b) >> 1),
    "rhadd": _exactly(lambda a, b: (a + b + 1) >> 1),
    "mad_sat": _exactly(lambda a, b, c: a * b + c, saturated=True),
    "max": np.maximum,
    "min": np.minimum,
    "clamp": lambda x, low, high: np.minimum(np.maximum(x, low), high),
}
_BITS: dict[str, Operation] = {
    "clz": _leading_zeros, "ctz": _trailing_zeros, "ctlz": lambda a, poison: _leading_zeros(a),
    "cttz": lambda a, poison: _trailing_zeros(a), "popcount": lambda a: np.bitwise_count(unsigned(a)).astype(a.dtype),
    "ctpop": lambda a: np.bitwise_count(unsigned(a)).astype(a.dtype), "rotate": _rotate, "fshl": _funnel,
    "fshr": _funnel_right, "bswap": lambda a: a.byteswap(), "mul24": np.multiply,
    "mad24": lambda a, b, c: a * b + c, "bitselect": lambda a, b, c: _bitselect(a, b, c),
}  # fmt: skip


def _bitselect(a: Array, b: Array, c: Array) -> Array:
    kind = a.dtype
    x, y, z = (unsigned(v) for v in np.broadcast_arrays(a, b, c))
    return ((x & ~z) | (y & z)).view(kind)


def _high(one: Instruction) -> Operation:
    bits = one.type.bits
    read: Callable[[Array], Array] = unsigned if one.unsigned else (lambda v: v)
    wide = np.object_ if bits == 64 else np.int64 if bits < 32 or not one.unsigned else np.uint64

    def high(a: Array, b: Array) -> Array:
        product = (read(a).astype(wide) * read(b).astype(wide)) >> (wide(bits) if wide is np.uint64 else bits)
        mask = (1 << bits) - 1
        return signed((product & (wide(mask) if wide is np.uint64 else mask)).astype(f"u{bits // 8}"))

    return high


def _upsample(one: Instruction) -> Operation:
    bits, kind = one.operand_types[0].bits, dtype_of(one.type)
    return lambda a, b: (a.astype(kind) << kind.type(bits)) | unsigned(b).astype(kind)


_TESTS: dict[str, Operation] = {
    "isequal": lambda a, b: a == b, "isnotequal": lambda a, b: a != b, "isgreater": lambda a, b: a > b,
    "isgreaterequal": lambda a, b: a >= b, "isless": lambda a, b: a < b, "islessequal": lambda a, b: a <= b,
    "islessgreater": lambda a, b: (a < b) | (a > b), "isfinite": np.isfinite, "isinf": np.isinf, "isnan": np.isnan,
    "isnormal": lambda a: np.isfinite(a) & (np.abs(a) >= np.finfo(a.dtype).tiny), "signbit": np.signbit,
    "isordered": lambda a, b: (a == a) & (b == b), "isunordered": lambda a, b: (a != a) | (b != b),
}  # fmt: skip


def _convert(one: Instruction) -> Operation | None:
    """convert_T[_sat][_rounding]: from the operand's type to the result's."""
    match = _CONVERT.match(one.variant)
    if match is None:
        return None
    source, to = one.operand_types[0], dtype_of(one.type)
    to_unsigned, saturated, rounding = bool(match[1]), bool(match[2]), match[3] or ""

    def convert(value: Array) -> Array:
        if one.type.kind is Kind.FLOAT:
            return (unsigned(value) if one.unsigned else value).astype(to)
        bounds = np.iinfo(f"{'u' if to_unsigned else 'i'}{to.itemsize}")
        if source.kind is Kind.FLOAT:
            whole = _ROUNDINGS[rounding](value.astype(np.float64))
            if saturated:
                return _held(np.where(np.isnan(whole), 0, whole), bounds)
            return signed(whole.astype(np.uint64 if to_unsigned and to.itemsize == 8 else np.int64)).astype(to)
        read = unsigned(value) if one.unsigned else value
        if saturated:
            return _held(read, bounds)
        return signed(read.astype(bounds.dtype))

    return convert


def _held(value: Array, bounds: Any) -> Array:
    """Numbers held within an integer type's bounds, compared as Python compares them: exactly."""
    low, high = value < bounds.min, value > bounds.max
    if value.dtype.kind == "f":
        high |= value >= float(bounds.max)
    inside = np.where(low | high, 0, value).astype(bounds.dtype)
    return signed(np.where(low, bounds.min, np.where(high, bounds.max, inside)).astype(bounds.dtype))


def _shuffle(one: Instruction) -> Operation:
    def shuffle(*values: Array) -> Array:
        *parts, mask = values
        table = np.concatenate(np.broadcast_arrays(*parts), axis=1)
        at = unsigned(mask).astype(np.int64) % table.shape[1]
        rows = max(len(table), len(at))
        return np.take_along_axis(
            np.broadcast_to(table, (rows, table.shape[1])), np.broadcast_to(at, (rows, at.shape[1])), axis=1
        )

    return shuffle


def _select(one: Instruction) -> Operation:
    if one.type.lanes > 1:
        return lambda a, b, c: np.asarray(np.where(c < 0, b, a))
    return lambda a, b, c: np.asarray(np.where(c != 0, b, a))


def _test(one: Instruction, test: Operation) -> Operation:
    to = dtype_of(one.type)
    true = to.type(-1 if one.type.lanes > 1 else 1)
    return lambda *values: np.where(test(*lifted(*values)), true, to.type(0))


def _any_all(one: Instruction) -> Operation:
    joined = np.any if one.variant == "any" else np.all
    return lambda a: (joined(a < 0, axis=1) if a.ndim == 2 else a < 0).astype(np.int32)


def _signedness(one: Instruction, function: Operation, reads_unsigned: bool) -> Operation:
    if reads_unsigned and one.type.kind is Kind.INT:
        return lambda *values: signed(function(*(unsigned(v) for v in lifted(*values))))
    return lambda *values: function(*lifted(*values))


_INTEGER_GREATER: Mapping[bool, Operation] = {
    False: np.greater,
    True: lambda a, b: unsigned(a) > unsigned(b),
}


def _absolute(one: Instruction) -> Operation:
    if one.variant == "abs_diff":
        larger = _INTEGER_GREATER[one.unsigned]
        return lambda a, b: np.where(larger(a, b), a - b, b - a)
    return (lambda a, *poison: a) if one.unsigned else (lambda a, *poison: np.where(a < 0, -a, a))


_OF_THE_CALL: dict[str, Callable[[Instruction], Operation]] = {
    "mul_hi": _high, "upsample": _upsample, "shuffle": _shuffle, "shuffle2": _shuffle, "select": _select,
    "any": _any_all, "all": _any_all, "abs": _absolute, "abs_diff": _absolute,
    "mad_hi": lambda one: (lambda high: lambda a, b, c: high(a, b) + c)(_high(one)),
}  # fmt: skip


def function(one: Instruction) -> Operation | None:
    """What a call of a built-in computes of its operands alone; None of what it does not know."""
    name = one.variant
    for prefix in ("native_", "half_", "fast_"):
        name = name.removeprefix(prefix)
    if name in _OF_THE_CALL:
        operation = _OF_THE_CALL[name](one)
        return lambda *values: (
            operation(*lifted(*values)) if name not in ("shuffle", "shuffle2") else operation(*values)
        )
    if name in _TESTS:
        return _test(one, _TESTS[name])
    if name in _MATH and (one.type.kind is Kind.FLOAT or name == "ilogb"):
        if name in ("dot", "length", "distance"):
            return _MATH[name]
        return _signedness(one, _MATH[name], False)
    if name in _BITS:
        return _signedness(one, _BITS[name], False)
    if name in ("max", "min") and one.type.kind is Kind.FLOAT:
        return _signedness(one, np.fmax if name == "max" else np.fmin, False)
    if name in _INTEGER:
        return _signedness(one, _INTEGER[name], one.unsigned)
    for mark, reads_unsigned in (("u", True), ("s", False)):
        if (plain := name.removeprefix(mark).replace(".", "_")) != name and plain in (
            "max",
            "min",
            "add_sat",
            "sub_sat",
        ):
            return _signedness(one, _INTEGER[plain], reads_unsigned)
    return _convert(one)


def pair(name: str) -> Callable[[Array], tuple[Array, Array]] | None:
    """A built-in that returns one value and puts another where its last operand points: both, of the first operand."""
    return _PAIRS.get(name)


def _fract(x: Array) -> tuple[Array, Array]:
    return np.fmin(x - np.floor(x), np.nextafter(x.dtype.type(1), x.dtype.type(0))), np.floor(x)


def _frexp(x: Array) -> tuple[Array, Array]:
    mantissa, exponent = np.frexp(x)
    return mantissa, exponent.astype(np.int32)


_PAIRS: Mapping[str, Callable[[Array], tuple[Array, Array]]] = {
    "sincos": lambda x: (_MATH["sin"](x), _MATH["cos"](x)),
    "modf": lambda x: (np.copysign(x - np.trunc(x), x), np.trunc(x)),
    "fract": _fract,
    "frexp": _frexp,
}
