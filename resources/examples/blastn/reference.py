"""What the search prints, by a plain sequential program: `python reference.py [BASES SEED]`."""

from __future__ import annotations

import sys

QUERY, WORD, REACH, MATCH, MISMATCH, LEAST = 128, 8, 16, 1, 3, 14
EVERY, PLANTED = 701, 24


def mixed(x: int) -> int:
    x &= 0xFFFFFFFF
    x = (x ^ (x >> 16)) * 0x7FEB352D & 0xFFFFFFFF
    x = (x ^ (x >> 15)) * 0x846CA68B & 0xFFFFFFFF
    return x ^ (x >> 16)


def query(seed: int) -> list[int]:
    return [mixed(seed * 0x10001 + at) & 3 for at in range(QUERY)]


def database(seed: int, bases: int) -> list[int]:
    asked, found = query(seed), []
    for at in range(bases):
        piece, inside = divmod(at, EVERY)
        if inside < PLANTED and mixed(at + 991 * seed) % 16:
            found.append(asked[mixed(piece + 77 * seed) % (QUERY - PLANTED) + inside])
        else:
            found.append(mixed(seed * 0x20003 + 0x5000000 + at) & 3)
    return found


def side(asked: list[int], held: list[int], place: int, at: int, step: int) -> int:
    score = best = 0
    for _ in range(REACH):
        if not (0 <= place < len(asked) and 0 <= at < len(held)):
            break
        score += MATCH if asked[place] == held[at] else -MISMATCH
        best, place, at = max(best, score), place + step, at + step
    return best


def printed(bases: int = 6000, seed: int = 1) -> str:
    """Every word of the query at every place of the database, extended to both sides."""
    asked, held = query(seed), database(seed, bases)
    lines = []
    for first in range(bases - WORD + 1):
        for place in range(QUERY - WORD + 1):
            if held[first : first + WORD] == asked[place : place + WORD]:
                score = WORD + side(asked, held, place - 1, first - 1, -1)
                score += side(asked, held, place + WORD, first + WORD, 1)
                if score >= LEAST:
                    lines.append(f"database {first + WORD - 1} query {place} score {score}\n")
    return "".join(lines)


if __name__ == "__main__":
    print(printed(*map(int, sys.argv[1:])), end="")
