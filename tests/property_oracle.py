"""Properties by what they mean, followed from each cycle on by itself: what checkers of nested properties and of local
variables are held against (IEEE 1800, annex F).

A property is a tuple: ("seq", x, strong), of a sequence as in `sequence_oracle`; ("imp", x, later, p), of a sequence
and a property; ("not", p); ("and" | "or", p, q); ("if", N, p, q); ("always", low, high, p). A sequence may also have
("let", v, M, N), a cycle in which condition N holds and the variable v gets the value of signal M, and ("same", v, M),
one in which v is equal to signal M. Number 3 is of what always holds.
"""

from collections.abc import Iterator, Sequence
from functools import cache, reduce
from typing import Any

import sequence_oracle as plain
from sequence_oracle import CYCLES, DONE, Cycle, Seq

Property = tuple[Any, ...]
#: The values of variables.
Values = frozenset[tuple[str, bool]]
#: What is left of a property behind a cycle: it has held or failed, or a property is left.
Left = bool | Property
NONE: Values = frozenset()


def may_be_empty(seq: Seq) -> bool:
    return seq[0] not in ("let", "same") and plain.may_be_empty(seq)


def _after(seq: Seq, values: Values, cycle: Cycle) -> set[tuple[Seq, Values]]:
    """What may be left of a sequence behind one cycle, with the values of variables then."""
    kind, *of = seq
    if kind == "let":
        rest = frozenset(one for one in values if one[0] != of[0]) | {(of[0], cycle[of[1]])}
        return {(DONE, rest)} if of[2] == 3 or cycle[of[2]] else set()
    if kind == "same":
        return {(DONE, values)} if dict(values)[of[0]] == cycle[of[1]] else set()
    if kind == "then":
        found = {(plain._then(one, of[1]), left) for one, left in _after(of[0], values, cycle)}
        return found | (_after(of[1], values, cycle) if may_be_empty(of[0]) else set())
    if kind == "fused":
        found = set()
        for one, left in _after(of[0], values, cycle):
            found |= {(("fused", one, of[1]), left)} if one != DONE else set()
            found |= _after(of[1], left, cycle) if may_be_empty(one) else set()
        return found
    if kind == "or":
        return _after(of[0], values, cycle) | _after(of[1], values, cycle)
    if kind == "times":
        again, low, high = of
        left_ = ("times", again, max(low - 1, 0), high if high is None else high - 1)
        return {(plain._then(one, left_), rest) for one, rest in _after(again, values, cycle)} if high != 0 else set()
    return {(one, values) for one in plain.after(seq, cycle)}


@cache
def _next(seq: Seq, values: Values) -> tuple[frozenset[tuple[Seq, Values]], ...]:
    return tuple(frozenset(_after(seq, values, cycle)) for cycle in CYCLES)


@cache
def _goes_on(seq: Seq, values: Values) -> bool:
    """Whether it can match behind one more cycle."""
    seen, todo = {(seq, values)}, [(seq, values)]
    while todo:
        new = frozenset().union(*_next(*todo.pop()))
        if any(may_be_empty(one) for one, _ in new):
            return True
        todo += new - seen
        seen |= new
    return False


def _progress(what: Property, cycle: Cycle, values: Values = NONE) -> Left:
    kind, *of = what
    if kind == "seq":
        return _run(frozenset({(of[0], values)}), of[1], cycle)
    if kind == "run":
        return _run(of[0], of[1], cycle)
    if kind == "imp":
        return _trigger(frozenset({(of[0], values)}), of[1], of[2], cycle)
    if kind == "trigger":
        return _trigger(of[0], of[1], of[2], cycle)
    if kind == "later":
        return _progress(of[0], cycle, of[1])
    if kind == "not":
        return _not(_progress(of[0], cycle, values))
    if kind in ("and", "or", "both"):
        plain_ = kind == "and" and of[0][0] == of[1][0] == "seq"
        left, right = (_progress(one, cycle, values) for one in of)
        return _two("both" if plain_ else kind, left, right)
    if kind == "if":
        chosen = of[1] if cycle[of[0]] else of[2]
        return True if chosen is None else _progress(chosen, cycle, values)
    low, high, inner = of
    now = _progress(inner, cycle, values) if low == 0 else True
    if high == 0:
        return now
    return _two("and", now, ("later", ("always", max(low - 1, 0), None if high is None else high - 1, inner), values))


def _run(states: frozenset[tuple[Seq, Values]], strong: bool, cycle: Cycle) -> Left:
    left = {one for state in states for one in _next(*state)[CYCLES.index(cycle)]}
    if any(may_be_empty(one) for one, _ in left):
        return True
    left = {one for one in left if _goes_on(*one)}
    return ("run", frozenset(left), strong) if left else False


def _trigger(states: frozenset[tuple[Seq, Values]], later: bool, inner: Property, cycle: Cycle) -> Left:
    left = {one for state in states for one in _next(*state)[CYCLES.index(cycle)]}
    begun = [("later", inner, values) if later else _progress(inner, cycle, values)
             for values in sorted({values for one, values in left if may_be_empty(one)}, key=sorted)]  # fmt: skip
    on = frozenset(one for one in left if _goes_on(*one))
    return reduce(lambda one, other: _two("and", one, other), begun, ("trigger", on, later, inner) if on else True)


def _not(what: Left) -> Left:
    what = _as_one(what)
    return not what if isinstance(what, bool) else ("not", what)


def _two(kind: str, one: Left, other: Left) -> Left:
    """Two that hold together; of an "and" that one has failed does not end the other."""
    if kind != "and":
        one, other = _as_one(one), _as_one(other)
    for left, right in ((one, other), (other, one)):
        if isinstance(left, bool) and (left or kind != "and"):
            return right if left == (kind != "or") else left
    return kind, one, other


def _as_one(what: Left) -> Left:
    """What is left of all parts together."""
    return what if isinstance(what, bool) or what[0] != "and" else _two("both", *what[1:])


def _at_end(what: Property) -> bool:
    kind, *of = what
    if kind == "run":
        return not of[1]
    if kind == "not":
        return not _at_end(of[0])
    if kind in ("and", "both"):
        return _at_end(of[0]) and _at_end(of[1])
    return _at_end(of[0]) or _at_end(of[1]) if kind == "or" else True


def _parts(what: Left) -> Iterator[Left]:
    """What has to hold by itself."""
    if not isinstance(what, bool) and what[0] == "and":
        for one in what[1:]:
            yield from _parts(one)
    else:
        yield what


def failures(what: Property, cycles: Sequence[Cycle]) -> tuple[set[int], bool]:
    """The cycles in which checks fail, one of which begins in each; and whether one is open at the end that has failed
    by that."""
    failed: set[int] = set()
    open_: set[Property] = set()
    for number, cycle in enumerate(cycles):
        parts = {part for one in (*open_, what) for part in _parts(_progress(one, cycle))}
        failed |= {number} if False in parts else set()
        open_ = {one for one in parts if not isinstance(one, bool)}
    return failed, not all(map(_at_end, open_))


def as_sva(what: Property) -> str:
    """A property, or a sequence with variables, in SystemVerilog."""
    kind, *of = what
    if kind == "seq":
        return f"strong({as_sva(of[0])})" if of[1] else as_sva(of[0])
    if kind == "imp":
        return f"({as_sva(of[0])} |{'=' if of[1] else '-'}> {as_sva(of[2])})"
    if kind == "not":
        return f"not ({as_sva(of[0])})"
    if kind == "if":
        last = f" else ({as_sva(of[2])})" if of[2] is not None else ""
        return f"(if ({'abc'[of[0]]}) ({as_sva(of[1])}){last})"
    if kind == "always":
        return f"(always [{of[0]}:{'$' if of[1] is None else of[1]}] ({as_sva(of[2])}))"
    if kind == "let":
        return f"({'abc'[of[2]]}, {of[0]} = {'abc'[of[1]]})"
    if kind == "same":
        return f"({of[0]} == {'abc'[of[1]]})"
    if kind in ("and", "or", "then", "fused"):
        word = {"then": "##1", "fused": "##0"}.get(kind, kind)
        return f"(({as_sva(of[0])}) {word} ({as_sva(of[1])}))"
    if kind == "times":
        return f"({as_sva(of[0])})[*{of[1]}:{'$' if of[2] is None else of[2]}]"
    return "1" if kind == "any" else plain.as_sva(what)
