"""Counters that step through a maximal-length shift register: one gate to count, a discrete logarithm to read.

A count of k is kept as the k-th value of an n-bit register that shifts left and takes in the XNOR of two of its bits;
it starts at 0 and repeats after 2**n - 1 steps. In hardware that needs no carry chain. Here the count is recovered:
the complement of the register runs through the powers of a root of a primitive trinomial, and 2**n - 1 has small
factors, so that a table for each factor and the Chinese remainder theorem give k (Pohlig and Hellman 1978).
Taps: P. Alfke, Xilinx XAPP 052, table 3.
"""

from collections.abc import Iterator
from functools import cache
from math import prod

import numpy as np
from numpy.typing import NDArray

#: Register width in bits: the lower of the two bits (counted from 1) that are fed back; the other is the highest.
TAPS = {4: 3, 5: 3, 7: 6, 9: 5, 15: 14, 18: 11, 36: 25}

Words = NDArray[np.uint64]
_AT_ONCE = 18  # bits: with the widest register's 36 fewer than a word has


def register_after(count: int, bits: int) -> int:
    """The register's value after `count` steps from 0, by stepping."""
    tap, value, mask = TAPS[bits], 0, (1 << bits) - 1
    for _ in range(count):
        feedback = 1 ^ (value >> (bits - 1) & 1) ^ (value >> (tap - 1) & 1)
        value = (value << 1 & mask) | feedback
    return value


def counts(registers: Words, bits: int) -> NDArray[np.int64]:
    """How many steps from 0 led to each register value: 0 to 2**bits - 2.

    The value of all ones is never reached; it raises ValueError.
    """
    registers = np.asarray(registers, dtype=np.uint64)
    mask = np.uint64((1 << bits) - 1)
    if np.any(registers == mask):
        raise ValueError("a register of all ones is not a count")
    distinct, positions = np.unique(registers, return_inverse=True)
    elements = _combine(distinct ^ mask, _to_element(bits))
    order = (1 << bits) - 1
    total = np.zeros(distinct.shape, dtype=object)
    for factor, residue in _residues(elements, _prime_powers(order), bits):
        cofactor = order // factor
        total = (total + residue.astype(object) * (cofactor * pow(cofactor, -1, factor))) % order
    return total.astype(np.int64)[positions].reshape(registers.shape)


def _residues(elements: Words, factors: tuple[int, ...], bits: int) -> Iterator[tuple[int, Words]]:
    """(factor, logarithm modulo that factor) for elements whose order divides the product of all `factors`."""
    if len(factors) == 1:
        values, logarithms = _table(factors[0], bits)
        yield factors[0], logarithms[np.searchsorted(values, elements)]
        return
    half = len(factors) // 2
    for mine, others in ((factors[:half], factors[half:]), (factors[half:], factors[:half])):
        # An element of the smaller group; its logarithm there is the wanted one times what it was raised to.
        yield from _residues(_power(elements, prod(others), bits), mine, bits)


@cache
def _table(factor: int, bits: int) -> tuple[Words, Words]:
    """The powers of the root**((2**bits - 1) / factor), sorted, and the exponent of each."""
    root = _power(np.array([2], dtype=np.uint64), ((1 << bits) - 1) // factor, bits)
    powers = np.ones(1, dtype=np.uint64)
    while len(powers) < factor:
        powers = np.concatenate([powers, _multiply(powers, _power(root, len(powers), bits), bits)])
    order = np.argsort(powers[:factor])
    return powers[order], order.astype(np.uint64)


def _multiply(a: Words, b: Words, bits: int) -> Words:
    """Products in GF(2)[x] modulo x**bits + x**(bits - tap) + 1, element by element (bit i is x**i): by so many
    bits of `b` at once that a product without carries has room in a word."""
    mask, one = np.uint64((1 << bits) - 1), np.uint64(1)
    places = np.arange(_AT_ONCE, dtype=np.uint64)[:, np.newaxis]
    result = np.zeros(np.broadcast(a, b).shape, dtype=np.uint64)
    for low in reversed(range(0, bits, _AT_ONCE)):
        products = (a << places) * (b >> places + np.uint64(low) & one)
        result = result << np.uint64(_AT_ONCE) ^ np.bitwise_xor.reduce(products, axis=0)
        while np.any(high := result >> np.uint64(bits)):
            result = result & mask ^ high ^ high << np.uint64(bits - TAPS[bits])
    return result


def _power(base: Words, exponent: int, bits: int) -> Words:
    result = np.ones_like(base)
    for bit in bin(exponent)[2:]:
        result = _square(result, bits)
        if bit == "1":
            result = _multiply(result, base, bits)
    return result


def _square(a: Words, bits: int) -> Words:
    """Squaring is linear over GF(2): a look-up for each byte."""
    result = np.zeros_like(a)
    for position, table in enumerate(_squares(bits)):
        result ^= table[a >> np.uint64(8 * position) & np.uint64(255)]
    return result


@cache
def _squares(bits: int) -> tuple[Words, ...]:
    tables = []
    for low in range(0, bits, 8):
        values = np.arange(1 << min(8, bits - low), dtype=np.uint64) << np.uint64(low)
        tables.append(_multiply(values, values, bits))
    return tuple(tables)


def _combine(vectors: Words, columns: tuple[int, ...]) -> Words:
    """The linear map over GF(2) whose image of bit i is columns[i]."""
    result = np.zeros_like(vectors)
    for position, column in enumerate(columns):
        result ^= (vectors >> np.uint64(position) & np.uint64(1)) * np.uint64(column)
    return result


@cache
def _to_element(bits: int) -> tuple[int, ...]:
    """Columns of the map that takes the complemented register after k steps to x**k.

    The registers after 0 to n - 1 steps are a basis; their images are x**0 to x**(n - 1). Gauss-Jordan elimination.
    """
    mask = (1 << bits) - 1
    rows = [(register_after(k, bits) ^ mask, 1 << k) for k in range(bits)]
    for column in range(bits):
        pivot = next(i for i in range(column, bits) if rows[i][0] >> column & 1)
        rows[column], rows[pivot] = rows[pivot], rows[column]
        left, right = rows[column]
        rows = [(a ^ left, b ^ right) if i != column and a >> column & 1 else (a, b) for i, (a, b) in enumerate(rows)]
    return tuple(right for _, right in rows)


@cache
def _prime_powers(number: int) -> tuple[int, ...]:
    powers, divisor, rest = [], 2, number
    while rest > 1:
        power = 1
        while rest % divisor == 0:
            rest //= divisor
            power *= divisor
        if power > 1:
            powers.append(power)
        divisor += 1
    assert prod(powers) == number
    return tuple(powers)
