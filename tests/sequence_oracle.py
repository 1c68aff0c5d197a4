"""Sequences by what they mean, taken apart cycle by cycle (Brzozowski's derivatives): what automata are held against.

A sequence is a tuple: ("is", N), a condition; ("any",); ("then" | "fused" | "or" | "and" | "both", x, y); ("times", x,
low, high), high None for any number; ("all", N, x), throughout; ("to", N), up to the next cycle in which N holds;
("first", x), or what may be left of that, up to the match of x that ends first.
"""

from collections.abc import Iterator, Sequence
from functools import cache
from itertools import product
from typing import Any

Seq = tuple[Any, ...]
Cycle = tuple[bool, ...]
DONE: Seq = ("done",)
#: Cycles of three conditions.
CYCLES: tuple[Cycle, ...] = tuple(product((False, True), repeat=3))


def may_be_empty(seq: Seq) -> bool:
    kind, *of = seq
    if kind in ("then", "and", "both"):
        return all(map(may_be_empty, of))
    if kind == "or":
        return any(map(may_be_empty, of))
    return kind == "done" or (kind == "times" and of[1] == 0) or (kind == "all" and may_be_empty(of[1]))


def after(seq: Seq, cycle: Cycle) -> set[Seq]:
    """What may be left of a sequence behind one cycle."""
    kind, *of = seq
    if kind == "is":
        return {DONE} if cycle[of[0]] else set()
    if kind == "any":
        return {DONE}
    if kind == "to":
        return {DONE} if cycle[of[0]] else {seq}
    if kind == "then":
        rest = {_then(one, of[1]) for one in after(of[0], cycle)}
        return rest | (after(of[1], cycle) if may_be_empty(of[0]) else set())
    if kind == "fused":
        rest = after(of[0], cycle)
        more = {("fused", one, of[1]) for one in rest if one != DONE}
        return more | (after(of[1], cycle) if any(map(may_be_empty, rest)) else set())
    if kind == "or":
        return after(of[0], cycle) | after(of[1], cycle)
    if kind == "and":
        return {("and", one, other) if (one, other) != (DONE, DONE) else DONE
                for one in after(of[0], cycle) for other in after(of[1], cycle)}  # fmt: skip
    if kind == "both":
        return {_both(one, other) for one in after(of[0], cycle) for other in after(of[1], cycle)}
    if kind == "times":
        again, low, high = of
        left = ("times", again, max(low - 1, 0), high if high is None else high - 1)
        return {_then(one, left) for one in after(again, cycle)} if high != 0 else set()
    if kind == "first":
        rest = set().union(*(after(one, cycle) for one in of))
        if any(map(may_be_empty, rest)):
            return {DONE}
        return {("first", *sorted(rest, key=repr))} if rest else set()
    if kind == "all":
        return {one if one == DONE else ("all", of[0], one) for one in after(of[1], cycle)} if cycle[of[0]] else set()
    return set()


def _then(first: Seq, second: Seq) -> Seq:
    if second[0] == "times" and second[3] == 0:
        return first
    return second if first == DONE else ("then", first, second)


def _both(first: Seq, second: Seq) -> Seq:
    """Of which one has ended, the other goes on."""
    return second if first == DONE else first if second == DONE else ("both", first, second)


@cache
def can_match(seq: Seq) -> bool:
    """Whether any cycles can end it."""
    seen, open_ = {seq}, [seq]
    while open_:
        one = open_.pop()
        if may_be_empty(one):
            return True
        new = set().union(*(after(one, cycle) for cycle in CYCLES)) - seen
        seen |= new
        open_ += new
    return False


def verdicts(trigger: Seq, then: Seq | None, cycles: Sequence[Cycle]) -> list[str]:
    """Of each cycle "failed", "held" or "": what became of the checks that ended in it. `then` None: the trigger may
    not match."""
    return [verdict for verdict, _ in _followed(trigger, then, cycles)]


def open_since(trigger: Seq, then: Seq, cycles: Sequence[Cycle]) -> int | None:
    """The cycle in which the oldest check began that is open behind the last cycle."""
    last = [opened for _, opened in _followed(trigger, then, cycles)][-1:]
    return min(last[0].values(), default=None) if last else None


def _followed(
    trigger: Seq, then: Seq | None, cycles: Sequence[Cycle]
) -> Iterator[tuple[str, dict[frozenset[Seq], int]]]:
    """The verdict of each cycle, and what is left of the checks that are open behind it, with when the first began."""
    waiting: set[frozenset[Seq]] = set()
    checks: dict[frozenset[Seq], int] = {}
    for number, cycle in enumerate(cycles):
        tried = waiting | {frozenset({trigger})}
        waiting = {frozenset(rest for one in some for rest in after(one, cycle)) for some in tried} - {frozenset()}
        fired = any(may_be_empty(one) for some in waiting for one in some)
        if then is None:
            yield "failed" if fired else "held", {}
            continue
        ends: set[str] = set()
        left: dict[frozenset[Seq], int] = {}
        for some, begun in [*checks.items(), *([(frozenset({then}), number)] if fired else [])]:
            rest = frozenset(one for before in some for one in after(before, cycle) if can_match(one))
            if any(map(may_be_empty, rest)):
                ends.add("held")
            elif rest:
                left[rest] = min(begun, left.get(rest, begun))
            else:
                ends.add("failed")
        checks = left
        yield "failed" if "failed" in ends else "held" if ends else "", left


def as_sva(seq: Seq) -> str:
    """The sequence in SystemVerilog, over the signals a, b and c."""
    kind, *of = seq
    if kind == "is":
        return "abc"[of[0]]
    if kind == "to":
        return f"{'abc'[of[0]]}[->1]"
    if kind == "first":
        return f"first_match({as_sva(of[0])})"
    if kind == "times":
        return f"({as_sva(of[0])})[*{of[1]}:{'$' if of[2] is None else of[2]}]"
    if kind == "all":
        return f"({'abc'[of[0]]} throughout ({as_sva(of[1])}))"
    word = {"then": "##1", "fused": "##0", "or": "or", "and": "intersect", "both": "and"}[kind]
    return f"({as_sva(of[0])} {word} {as_sva(of[1])})"


def as_psl(seq: Seq) -> str:
    """The same as a sequence of PSL, within braces; "all", "both" and "first" have none."""
    kind, *of = seq
    if kind == "is":
        return "abc"[of[0]]
    if kind == "to":
        return f"{{{'abc'[of[0]]}[->1]}}"
    if kind == "times":
        return f"{{{{{as_psl(of[0])}}}[*{of[1]} to {'inf' if of[2] is None else of[2]}]}}"
    word = {"then": ";", "fused": ":", "or": "|", "and": "&&", "both": "&"}[kind]
    return f"{{{{{as_psl(of[0])}}} {word} {{{as_psl(of[1])}}}}}"
