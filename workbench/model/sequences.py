"""Sequences of conditions over cycles, as automata: what a temporal assertion waits for (IEEE 1800, clause 16; PSL)."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable
from dataclasses import dataclass, replace
from itertools import product
from typing import TypeVar

#: What has to be the case in a cycle: the numbers of conditions, and whether each holds. A number below 0 is of an
#: assignment to a variable, which is done then.
Guard = frozenset[tuple[int, bool]]
#: From a state, under a guard, to a state.
Step = tuple[int, Guard, int]
#: The state in which a sequence has matched: the cycle of the step to it is its last.
END = -1
#: Where a state steps without a guard in which the end of the run is no failure: what is waited for there is weak.
CUT = -2
#: The most states that a sequence may have.
MOST_STATES = 512
_MOST_ASKED = 8  # conditions in one cycle, of all that can be the case in it
H = TypeVar("H", bound=Hashable)


class TooLarge(Exception):
    """A sequence has more states than are counted."""


@dataclass(frozen=True)
class Sequence:
    """An automaton that takes a step in each cycle, from state 0, to which none leads. `empty`: it matches no cycle at
    all, too."""

    steps: tuple[Step, ...]
    empty: bool = False

    @property
    def size(self) -> int:
        return 1 + max((max(start, end) for start, _, end in self.steps), default=0)


#: Any cycle; no cycle at all.
ANY = Sequence(((0, frozenset(), END),))
NO_CYCLE = Sequence((), True)


def condition(number: int, holds: bool = True) -> Sequence:
    """One cycle in which a condition holds, or does not."""
    return Sequence(((0, frozenset({(number, holds)}), END),))


def then(first: Sequence, second: Sequence) -> Sequence:
    """The second begins in the cycle behind the first (##1, and `;` in PSL)."""
    by = first.size
    moved = _moved(second.steps, by)
    steps = [*first.steps, *((start or by, guard, end) for start, guard, end in moved)]
    for start, guard, end in first.steps:
        if end == END:
            steps.append((start, guard, by))
            if not second.empty:
                steps.remove((start, guard, end))
    if first.empty:
        steps += moved
    return reduced(steps, first.empty and second.empty)


def fused(first: Sequence, second: Sequence) -> Sequence:
    """The second begins in the last cycle of the first (##0, and `:` in PSL)."""
    moved = _moved(second.steps, first.size)
    steps = [step for step in first.steps if step[2] != END]
    steps += [step for step in moved if step[0]]
    for start, guard, end in first.steps:
        if end == END:
            steps += [(start, guard | more, to) for at, more, to in moved if at == 0 and to != CUT]
    return reduced(steps, False)


def either(first: Sequence, second: Sequence) -> Sequence:
    """One of the two matches."""
    return reduced([*first.steps, *_moved(second.steps, first.size)], first.empty or second.empty)


def together(first: Sequence, second: Sequence) -> Sequence:
    """Both match, and end in the same cycle (intersect, and `&&` in PSL)."""
    steps = []
    width = second.size
    for start, guard, end in first.steps:
        for at, more, to in second.steps:
            if min(end, 0) == min(to, 0):
                steps.append((start * width + at, guard | more, end if end < 0 else end * width + to))
    return reduced(steps, first.empty and second.empty)


def both(first: Sequence, second: Sequence) -> Sequence:
    """Both match from the same cycle on; the end is that of the longer one."""
    longer = may_end(weak(repeated(ANY, 0, None)))
    return either(together(then(first, longer), second), together(first, then(second, longer)))


def within(first: Sequence, second: Sequence) -> Sequence:
    """The first matches at some time while the second does."""
    around = repeated(ANY, 0, None)
    return together(then(around, then(first, around)), second)


def throughout(number: int, sequence: Sequence) -> Sequence:
    """A condition holds in each cycle of a sequence."""
    return reduced([(start, guard | {(number, True)}, end) for start, guard, end in sequence.steps], sequence.empty)


def first_match(sequence: Sequence) -> Sequence:
    """Of the matches that begin together only the one that ends first. TooLarge where too many conditions are asked
    about at once."""
    out = steps_from(sequence)

    def after(states: frozenset[int], case: Guard) -> tuple[frozenset[int] | int | None, Guard]:
        taken = taken_in(case, (step for state in states for step in out.get(state, ())))
        ends = frozenset(end for _, end in taken)
        if END in ends:
            return END, assigned_by(guard for guard, end in taken if end == END)
        return ends or None, assigned_by(guard for guard, _ in taken)

    def leaving(states: frozenset[int]) -> Iterable[Guard]:
        return (guard for state in states for guard, _ in out.get(state, ()))

    return determined(frozenset({0}), leaving, after, lambda _: False)


def determined(
    first: H,
    leaving: Callable[[H], Iterable[Guard]],
    after: Callable[[H, Guard], tuple[H | int | None, Guard]],
    may_end: Callable[[H], bool],
) -> Sequence:
    """A sequence of which one state is the case at a time. `leaving` gives the guards of a state's steps, `after` what
    comes of it in a case (END, or None: nothing) and what is assigned then, `may_end` whether the run may end in it.
    TooLarge where too many conditions are asked about at once."""
    numbers: dict[H, int] = {first: 0}
    todo = [first]
    steps: list[Step] = []
    while todo:
        state = todo.pop()
        asked = sorted({number for guard in leaving(state) for number, _ in guard if number >= 0})
        if len(asked) > _MOST_ASKED or len(numbers) > MOST_STATES:
            raise TooLarge
        ways: dict[tuple[int, Guard], set[Guard]] = {}
        for values in product((False, True), repeat=len(asked)):
            case = frozenset(zip(asked, values, strict=True))
            end, assigned = after(state, case)
            if end is None:
                continue
            if not isinstance(end, int) and end not in numbers:
                numbers[end] = len(numbers)
                todo.append(end)
            number = end if isinstance(end, int) else numbers[end]
            ways.setdefault((number, assigned), set()).add(case)
        steps += [(numbers[state], guard | assigned, end) for (end, assigned), cases in ways.items()
                  for guard in _merged(cases)]  # fmt: skip
        if numbers[state] and may_end(state):
            steps.append((numbers[state], frozenset(), CUT))
    return reduced(steps, False)


def steps_from(sequence: Sequence) -> dict[int, list[tuple[Guard, int]]]:
    """The steps of each state, without those that say that the run may end."""
    out: dict[int, list[tuple[Guard, int]]] = {}
    for start, guard, end in sequence.steps:
        if end != CUT:
            out.setdefault(start, []).append((guard, end))
    return out


def taken_in(case: Guard, steps: Iterable[tuple[Guard, int]]) -> list[tuple[Guard, int]]:
    """Those of some steps that are taken in a case."""
    return [(guard, end) for guard, end in steps if all(one in case or one[0] < 0 for one in guard)]


def assigned_by(guards: Iterable[Guard]) -> Guard:
    """What steps that are taken together assign. ValueError where that is not the same."""
    every = {frozenset(one for one in guard if one[0] < 0) for guard in guards}
    if len(every) > 1:
        raise ValueError("a variable is assigned on one of several ways that are followed as one: assign it before")
    return next(iter(every), frozenset())


def _merged(guards: set[Guard]) -> set[Guard]:
    """The same cases with as few conditions as pairs of them show to be enough."""
    while True:
        pairs = {
            (one, literal)
            for one in guards
            for literal in one
            if one ^ {literal, (literal[0], not literal[1])} in guards
        }
        if not pairs:
            return guards
        gone = {one for one, _ in pairs}
        guards = (guards - gone) | {one - {literal} for one, literal in pairs}


def repeated(sequence: Sequence, low: int, high: int | None) -> Sequence:
    """It follows itself `low` to `high` times; None: any number of times."""
    if low * sequence.size > MOST_STATES or (high or 0) * sequence.size > MOST_STATES:
        raise TooLarge
    rest = NO_CYCLE
    if high is None:
        last = [step for step in sequence.steps if step[2] == END]
        by = sequence.size
        again = [(start or by, guard, end) for start, guard, end in _moved(sequence.steps, 0)]
        loops = [(start, guard, by) for start, guard, _ in last]
        loops += [(by, guard, by) for start, guard, _ in last if start == 0]
        rest = reduced([*sequence.steps, *again, *loops], True)
    for _ in range((high or low) - low):
        more = then(sequence, rest)
        rest = replace(more, empty=True)
    for _ in range(low):
        rest = then(sequence, rest)
    return rest


def at_times(number: int, low: int, high: int | None) -> Sequence:
    """The cycles up to that in which a condition holds for so many times ([->], goto)."""
    return repeated(then(repeated(condition(number, False), 0, None), condition(number)), low, high)


def delayed(first: Sequence, low: int, high: int | None, second: Sequence) -> Sequence:
    """The second begins `low` to `high` cycles behind the last of the first (##[low:high])."""
    if low == 0:
        at_once = fused(first, second)
        return at_once if high == 0 else either(at_once, delayed(first, 1, high, second))
    return then(first, then(repeated(ANY, low - 1, None if high is None else high - 1), second))


def weak(sequence: Sequence) -> Sequence:
    """A sequence that may be open at the end of the run."""
    states = {start for start, _, _ in sequence.steps if start} - weak_states(sequence.steps)
    return replace(sequence, steps=(*sequence.steps, *((state, frozenset(), CUT) for state in sorted(states))))


def strong(sequence: Sequence) -> Sequence:
    """A sequence that may not: what no `weak` says otherwise."""
    return replace(sequence, steps=tuple(step for step in sequence.steps if step[2] != CUT))


def weak_states(steps: Iterable[Step]) -> set[int]:
    """The states in which the end of the run is no failure."""
    return {start for start, _, end in steps if end == CUT}


def may_end(sequence: Sequence) -> Sequence:
    """The same where the run may end before its first cycle, too."""
    return replace(sequence, steps=(*sequence.steps, (0, frozenset(), CUT)))


def _moved(steps: Iterable[Step], by: int) -> list[Step]:
    """With other numbers for all states but the first."""
    return [(start and start + by, guard, end if end < 0 else end + by) for start, guard, end in steps]


def reduced(steps: Iterable[Step], empty: bool) -> Sequence:
    """Without steps that cannot be taken, states that lead nowhere, and states that do as others do; numbered anew."""
    kept = {step for step in steps if not any((number, not holds) in step[1] for number, holds in step[1])}
    kept -= {(0, frozenset(), CUT)}
    while True:
        kept = _live(kept)
        leaving: dict[int, set[tuple[Guard, int]]] = {}
        for start, guard, end in kept:
            if start:
                leaving.setdefault(start, set()).add((guard, end))
        first: dict[frozenset[tuple[Guard, int]], int] = {}
        same = {state: first.setdefault(frozenset(out), state) for state, out in sorted(leaving.items())}
        merged = {(same.get(start, start), guard, same.get(end, end)) for start, guard, end in kept}
        if merged == kept:
            break
        kept = merged
    if len(leaving) > MOST_STATES:
        raise TooLarge
    number = {0: 0, END: END, CUT: CUT} | {state: n for n, state in enumerate(sorted(leaving), 1)}
    ordered = sorted(((number[s], guard, number[e]) for s, guard, e in kept), key=lambda x: (x[0], x[2], sorted(x[1])))
    return Sequence(tuple(ordered), empty)


def grouped(sequence: Sequence) -> Sequence:
    """The same with one state for those that are reached together, where that has fewer."""
    out: dict[int, list[tuple[Guard, int]]] = {}
    for start, guard, end in sequence.steps:
        out.setdefault(start, []).append((guard, end))
    numbers = {frozenset({0}): 0}
    open_ = list(numbers)
    steps: list[Step] = []
    while open_ and len(numbers) <= sequence.size:
        states = open_.pop()
        ends: dict[Guard, set[int]] = {}
        for guard, end in (step for state in states for step in out.get(state, ())):
            ends.setdefault(guard, set()).add(end)
        for guard, together_ in ends.items():
            steps += [(numbers[states], guard, end) for end in together_ if end < 0]
            if rest := frozenset(together_ - {END, CUT}):
                if rest not in numbers:
                    numbers[rest] = len(numbers)
                    open_.append(rest)
                steps.append((numbers[states], guard, numbers[rest]))
    return reduced(steps, sequence.empty) if len(numbers) <= sequence.size else sequence


def _live(steps: set[Step]) -> set[Step]:
    """Those on a way from the start to the end."""
    reached, ending = {0}, {END}
    onward = [(start, end) for start, _, end in steps]
    for known, ways in ((reached, onward), (ending, [(end, start) for start, end in onward])):
        todo = list(known)
        after: dict[int, list[int]] = {}
        for start, end in ways:
            after.setdefault(start, []).append(end)
        while todo:
            new = [one for one in after.get(todo.pop(), ()) if one not in known]
            known.update(new)
            todo += new
    ending.add(CUT)
    return {step for step in steps if step[0] in reached & ending and step[2] in ending}
