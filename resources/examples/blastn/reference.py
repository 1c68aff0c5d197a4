"""What the search prints, by a plain sequential program: `python reference.py [BASES SEED]`."""

from __future__ import annotations

import sys

QUERY, WORD, REACH, MATCH, MISMATCH, LEAST = 128, 8, 16, 1, 3, 14
EVERY, PLANTED = 701, 24
NOTHING = 1 << 63


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


class Silence:
    """Whether a message without a match is due at a place; algorithms 0 to 3 as in blastn.x."""

    def __init__(self, algorithm: int, interval: int) -> None:
        self.algorithm, self.interval, self.since = algorithm, interval, 0

    def due(self, place: int, sent: bool) -> bool:
        if sent and self.algorithm == 3:
            self.since = place
        if self.algorithm == 1:
            return not sent
        if self.algorithm < 2 or place - self.since < self.interval:
            return False
        self.since = place
        return True


def messages(bases: int, algorithm: int, interval: int, seed: int = 1) -> tuple[list[int], list[int]]:
    """What stages 1a and 1b send, whole."""
    asked, held = query(seed), database(seed, bases)
    places: dict[int, list[int]] = {}
    for place in range(QUERY - WORD + 1):
        places.setdefault(number(asked[place : place + WORD]), []).append(place)
    bits = {bit(word) for word in places for bit in (first_place, second_place)}
    words, hits = list[int](), list[int]()
    silence_a, silence_b = Silence(algorithm, interval), Silence(algorithm, interval)
    for at in range(bases):
        word = number(held[max(0, at - WORD + 1) : at + 1])
        passes = at + 1 >= WORD and {first_place(word), second_place(word)} <= bits
        words += [at << 16 | word] * passes + [NOTHING | at << 16] * silence_a.due(at, passes)
    for message in words:
        at = (message & ~NOTHING) >> 16
        sent = [message] if message & NOTHING else [at << 16 | place for place in places.get(message & 0xFFFF, [])]
        hits += sent + [NOTHING | at << 16] * silence_b.due(at, bool(sent))
    return words, hits


def number(bases: list[int]) -> int:
    word = 0
    for base in bases:
        word = word << 2 | base
    return word


def first_place(word: int) -> int:
    return (word ^ word >> 4) & 4095


def second_place(word: int) -> int:
    return (word * 5 + (word >> 7)) & 4095


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


GAPPED, BAND, DROP, GAP, LEAST_UNGAPPED = 48, 6, 6, 2, 24


def genome(seed: int, queries: int, bases: int) -> list[int]:
    """The database of stages.x: pieces of all queries, of every second one without a base."""
    asked, found = [query(seed + 101 * q) for q in range(queries)], []
    for at in range(bases):
        piece, inside = divmod(at, EVERY)
        if inside < GAPPED and mixed(at + 991 * seed) % 16:
            first = mixed(piece + 77 * seed) % (QUERY - GAPPED - 1)
            left_out = inside >= GAPPED // 2 and mixed(piece + 5 * seed) % 2
            found.append(asked[mixed(piece + 55 * seed) % queries][first + inside + left_out])
        else:
            found.append(mixed(seed * 0x20003 + 0x5000000 + at) & 3)
    return found


def ungapped(asked: list[int], held: list[int], place: int, at: int, step: int) -> int:
    """A side's score, until it falls by `DROP` below the best."""
    score = best = 0
    while 0 <= place < QUERY and 0 <= at < len(held) and score > best - DROP:
        score += MATCH if asked[place] == held[at] else -MISMATCH
        best, place, at = max(best, score), place + step, at + step
    return best


def with_gaps(asked: list[int], held: list[int], first: int, place: int) -> int:
    """The best score of Smith and Waterman in a band around a word's diagonal."""
    score: dict[tuple[int, int], int] = {}
    for i in range(QUERY):
        for at in range(first - place + i - BAND, first - place + i + BAND + 1):
            if 0 <= at < len(held):
                same = MATCH if held[at] == asked[i] else -MISMATCH
                score[i, at] = max(0, score.get((i - 1, at - 1), 0) + same,
                                   max(score.get((i, at - 1), 0), score.get((i - 1, at), 0)) - GAP)  # fmt: skip
    return max(score.values())


def alignments(queries: int, bases: int, seed: int = 1) -> list[tuple[int, int, int, int, int]]:
    """What stage 2a finds, in its order: query, first base in the database, place in the query, score of stage 2a, and
    score of stage 2b."""
    held, found = genome(seed, queries, bases), []
    for q in range(queries):
        asked = query(seed + 101 * q)
        places: dict[tuple[int, ...], list[int]] = {}
        for place in range(QUERY - WORD + 1):
            places.setdefault(tuple(asked[place : place + WORD]), []).append(place)
        for first in range(bases - WORD + 1):
            for place in places.get(tuple(held[first : first + WORD]), []):
                sides = (place - 1, first - 1, -1), (place + WORD, first + WORD, 1)
                near, far = (WORD + sum(of(asked, held, *one) for one in sides) for of in (side, ungapped))
                if near >= LEAST:
                    found.append((q, first, place, near, far))
    return found


def stage_2(queries: int, bases: int, seed: int = 1) -> tuple[list[int], list[int]]:
    """The messages of stages 2a and 2b, by query."""
    near, far = list[int](), list[int]()
    for q, first, place, score, longer in alignments(queries, bases, seed):
        at = q << 48 | first + WORD - 1 << 16
        near.append(at | score << 8 | place)
        far += [at | longer << 8 | place] * (longer >= LEAST_UNGAPPED)
    ends = [NOTHING | q << 48 | bases - 1 << 16 for q in range(queries)]
    return near + ends, far + ends


def stages(queries: int = 16, bases: int = 3000, seed: int = 1) -> list[str]:
    """The lines that stages.x prints, sorted: of each query how many alignments without gaps there are, and the best
    with gaps."""
    held, scores = genome(seed, queries, bases), [list[int]() for _ in range(queries)]
    for q, first, place, _, longer in alignments(queries, bases, seed):
        if longer >= LEAST_UNGAPPED:
            scores[q].append(with_gaps(query(seed + 101 * q), held, first, place))
    return sorted(f"query {q} alignments {len(s)} best {max(s, default=0)}" for q, s in enumerate(scores))


if __name__ == "__main__":
    print(printed(*map(int, sys.argv[1:])), end="")
