"""Counters that step through a maximal-length shift register: one gate to count, a discrete logarithm to read.

A count of k is kept as the k-th value of an n-bit register that shifts left and takes in the XNOR of two of its bits;
it starts at 0 and repeats after 2**n - 1 steps. In hardware that needs no carry chain. Here the count is recovered:
the complement of the register runs through the powers of a root of a primitive trinomial, and 2**n - 1 has small
factors, so that a table for each factor and the Chinese remainder theorem give k (Pohlig and Hellman 1978).
Taps: P. Alfke, Xilinx XAPP 052, table 3.
"""

from __future__ import annotations

from functools import cache
from math import prod

import numpy as np
from numpy.typing import NDArray

#: Register width in bits: the lower of the two bits (counted from 1) that are fed back; the other is the highest.
TAPS = {4: 3, 5: 3, 7: 6, 9: 5, 15: 14, 18: 11, 36: 25}

Words = NDArray[np.uint64]


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
        raise ValueError("a register of all ones was never counted")
    distinct, positions = np.unique(registers, return_inverse=True)
    elements = _combine(distinct ^ mask, _to_element(bits))
    order = (1 << bits) - 1
    total = np.zeros(distinct.shape, dtype=object)
    for factor in _prime_powers(order):
        cofactor = order // factor
        table = _powers(_power(np.array([2], dtype=np.uint64), cofactor, bits), factor, bits)
        ranks = np.argsort(table)
        residue = ranks[np.searchsorted(table, _power(elements, cofactor, bits), sorter=ranks)]
        total = (total + residue.astype(object) * (cofactor * pow(cofactor, -1, factor))) % order
    return total.astype(np.int64)[positions].reshape(registers.shape)


def _multiply(a: Words, b: Words, bits: int) -> Words:
    """Products in GF(2)[x] modulo x**bits + x**(bits - tap) + 1, element by element (bit i is x**i)."""
    modulus = np.uint64(1 << (bits - TAPS[bits]) | 1)
    one, top, mask = np.uint64(1), np.uint64(bits - 1), np.uint64((1 << bits) - 1)
    result = np.zeros(np.broadcast(a, b).shape, dtype=np.uint64)
    for position in range(bits - 1, -1, -1):
        carry = result >> top & one
        result = (result << one & mask) ^ carry * modulus
        result ^= (b >> np.uint64(position) & one) * a
    return result


def _power(base: Words, exponent: int, bits: int) -> Words:
    result = np.ones_like(base)
    for bit in bin(exponent)[2:]:
        result = _multiply(result, result, bits)
        if bit == "1":
            result = _multiply(result, base, bits)
    return result


def _powers(base: Words, count: int, bits: int) -> Words:
    """base**0 to base**(count - 1)."""
    powers = np.ones(1, dtype=np.uint64)
    while len(powers) < count:
        powers = np.concatenate([powers, _multiply(powers, _power(base, len(powers), bits), bits)])
    return powers[:count]


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
    found, divisor, rest = [], 2, number
    while rest > 1:
        power = 1
        while rest % divisor == 0:
            rest //= divisor
            power *= divisor
        if power > 1:
            found.append(power)
        divisor += 1
    assert prod(found) == number
    return tuple(found)
