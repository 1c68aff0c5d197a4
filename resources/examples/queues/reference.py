"""What the micro-benchmarks print, and how many elements wait, by a plain sequential program.

`python reference.py [TOP]`: the line that the application prints; the elements waiting on average with their 95 %
interval, by the same random numbers, were there no bus; and what queueing theory says where arrivals are independent.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Iterator
from statistics import fmean, stdev

COUNT, INTERVAL, SERVICE = 4000, 500, 400  # means in cycles
BATCHES, T_95 = 20, 2.093  # of Student's distribution with 19 degrees of freedom


def mt19937_64(seed: int) -> Iterator[int]:
    """Nishimura 2000; std::mt19937_64."""
    size, middle, ones = 312, 156, (1 << 64) - 1
    state = [seed]
    for i in range(1, size):
        state.append(6364136223846793005 * (state[-1] ^ state[-1] >> 62) + i & ones)
    while True:
        for i in range(size):
            joined = (state[i] & 0xFFFFFFFF80000000) | (state[(i + 1) % size] & 0x7FFFFFFF)
            state[i] = state[(i + middle) % size] ^ joined >> 1 ^ (0xB5026F5AA96619E9 if joined & 1 else 0)
            x = state[i]
            x ^= x >> 29 & 0x5555555555555555
            x ^= x << 17 & 0x71D67FFFEDA60000
            x ^= x << 37 & 0xFFF7EEE000000000
            yield x ^ x >> 43


def times(law: str, mean: float, seed: int) -> Iterator[int]:
    """Random times of a law, in cycles."""
    numbers = (number >> 11 for number in mt19937_64(seed))
    slow = True
    while True:
        if law == "constant":
            yield int(mean)
            continue
        now = mean
        if law == "correlated":
            slow ^= next(numbers) / 2**53 < 0.01
            now *= 1.5 if slow else 0.5
        yield int(max(1.0, -now * math.log(1 - next(numbers) / 2**53)))


def drawn(top: str) -> tuple[list[int], list[int]]:
    """Intervals between arrivals and services, in cycles, of an application such as MM1In."""
    between = times("correlated" if top.startswith("Corr") else "exponential", INTERVAL, 1)
    lasting = times("constant" if top.startswith("MD1") else "exponential", SERVICE, 2)
    return [next(between) for _ in range(COUNT)], [next(lasting) for _ in range(COUNT)]


def printed(top: str) -> str:
    """Into the FPGA an element says how long it is served, out of it how long after the one before it comes."""
    between, lasting = drawn(top)
    return f"{COUNT} elements, sum {sum(lasting if top.endswith('In') else between)}\n"


def waits(top: str) -> list[int]:
    """For how many cycles each element waits, were there no bus (Lindley 1952)."""
    between, lasting = drawn(top)
    found = [0]
    for interval, service in zip(between[1:], lasting, strict=False):
        found.append(max(0, found[-1] + service - interval))
    return found


def waiting(top: str) -> tuple[float, float]:
    """How many elements wait on average (Little), and half the width of the 95 % interval, by batches."""
    many, found, between = COUNT // BATCHES, waits(top), drawn(top)[0]
    parts = [sum(found[i : i + many]) / sum(between[i : i + many]) for i in range(0, COUNT, many)]
    return fmean(parts), T_95 * stdev(parts) / math.sqrt(BATCHES)


def theory(top: str) -> float | None:
    """The same of M/M/1 and M/D/1 (Pollaczek and Khinchine), at the utilisation that the random numbers came to."""
    between, lasting = drawn(top)
    busy = sum(lasting) / sum(between)
    varied = {"MM1": 1.0, "MD1": 0.0}.get(top[:3])
    return None if varied is None else busy**2 / (1 - busy) * (1 + varied) / 2


if __name__ == "__main__":
    top = sys.argv[1] if len(sys.argv) > 1 else "MM1In"
    mean, half = waiting(top)
    said = theory(top)
    print(f"{printed(top)}{mean:.2f} wait, within {half:.2f}" + (f"; {said:.2f} by theory" if said else ""))
