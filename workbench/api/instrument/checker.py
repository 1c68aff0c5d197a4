"""A temporal assertion as registers: which of them are set next, and whether it held or failed in a cycle.

What is strong and still open behind a cycle has the cycle in which its oldest check began.

The trigger is an automaton whose states are bits. What it starts has to be followed for each start by itself, as each
must match: a sequence that ends after some cycles has bits for each number of cycles since its start; another has a bit
for each set of states that can be the case together.
"""

from collections.abc import Iterable
from dataclasses import dataclass, field

from workbench.model.sequences import CUT, END, MOST_STATES, Guard, Sequence, Temporal, TooLarge, grouped, weak_states

#: The most registers of an assertion that each keep a cycle.
MOST_BEGUN = 16

_Steps = frozenset[tuple[Guard, int]]


@dataclass
class Checker:
    """Expressions of 0 and 1 with the operators & | ~, over `c[N]` (whether condition N holds) and `s[N]` (register N,
    0 at the start): what each register is in the `next` cycle, and whether the assertion `held` or `failed`. What may
    never come holds in each cycle in which it does not.

    A strong check is open behind a cycle where an expression in `open_ages`, over `n[N]` (what register N is next), is
    1: it began so many cycles before. Or where a register of `open_begun` is: that keeps the cycle in which the oldest
    of its checks began, which comes from one of the registers in `begun`, or from none (it is this cycle), each with
    when."""

    next: list[str] = field(default_factory=list)
    held: str = "0"
    failed: str = "0"
    open_ages: list[tuple[str, int]] = field(default_factory=list)
    open_begun: list[int] = field(default_factory=list)
    begun: dict[int, list[tuple[int | None, str]]] = field(default_factory=dict)

    def register(self) -> int:
        self.next.append("0")
        if len(self.next) > MOST_STATES:
            raise TooLarge
        return len(self.next) - 1


def checker(temporal: Temporal) -> Checker:
    """What checks an assertion. TooLarge where it takes more than MOST_STATES registers."""
    made, trigger = Checker(), grouped(temporal.trigger)
    active = {0: "1"} | {state: f"s[{made.register()}]" for state in range(1, trigger.size)}
    ways: dict[int, list[str]] = {}
    for start, guard, end in trigger.steps:
        ways.setdefault(end, []).append(_and([active[start], _guard(guard)]))
    for state in range(1, trigger.size):
        made.next[state - 1] = _or(ways.get(state, ()))
    starts = _or(ways.get(END, ()))
    if temporal.then is None:
        made.held, made.failed = _not(starts), starts
    elif _has_loop(temporal.then):
        _by_sets(made, temporal.then, starts)
    else:
        _by_age(made, grouped(temporal.then), starts)
    return made


def _by_age(made: Checker, sequence: Sequence, starts: str) -> None:
    """Follow each start by the number of cycles since."""
    alive = {0: starts}
    held, failed, weak, age = [], [], weak_states(sequence.steps), 0
    while alive:
        ways: dict[int, list[str]] = {}
        for start, guard, end in sequence.steps:
            if start in alive and end != CUT:
                ways.setdefault(end, []).append(_and([alive[start], _guard(guard)]))
        matched, there = _or(ways.pop(END, ())), _or(alive.values())
        onward = {state: _or(ways[state]) for state in sorted(ways)}
        held.append(matched)
        failed.append(_and([there, _not(_or([matched, *onward.values()]))]))
        alive = {state: f"s[{made.register()}]" for state in onward}
        for name, text in zip(alive.values(), onward.values(), strict=True):
            made.next[int(name[2:-1])] = _and([text, _not(matched)])
        later = {state: f"n{name[1:]}" for state, name in alive.items()}
        if strong := [name for state, name in later.items() if state not in weak]:
            may_end = _or(name for state, name in later.items() if state in weak)
            made.open_ages.append((_and([_or(strong), _not(may_end)]), age))
        age += 1
    made.held, made.failed = _or(held), _or(failed)


def _by_sets(made: Checker, sequence: Sequence, starts: str) -> None:
    """Follow all starts that are in the same states as one."""
    out: dict[int, list[tuple[Guard, int]]] = {}
    for start, guard, end in sequence.steps:
        if end != CUT:
            out.setdefault(start, []).append((guard, end))
    first = frozenset({0})
    names = {first: starts}
    todo = [first]
    ways: dict[frozenset[int], list[tuple[frozenset[int], str]]] = {frozenset(): [], frozenset({END}): []}
    while todo:
        states = todo.pop()
        steps = frozenset(step for state in states for step in out.get(state, ()))
        for result, when in _outcomes(steps).items():
            ways.setdefault(result, []).append((states, _and([names[states], when])))
            if result and result != {END} and result not in names:
                names[result] = f"s[{made.register()}]"
                todo.append(result)
    numbers = {states: int(name[2:-1]) for states, name in names.items() if states != first}
    for states, number in numbers.items():
        made.next[number] = _or(when for _, when in ways[states])
    made.held, made.failed = (_or(when for _, when in ways[frozenset(end)]) for end in ((END,), ()))
    weak = weak_states(sequence.steps)
    todo = [states for states in numbers if not states & weak]
    made.open_begun = sorted(numbers[states] for states in todo)
    while todo:
        states = todo.pop()
        if numbers.get(states, -1) not in made.begun and states != first:
            made.begun[numbers[states]] = [(numbers.get(before), when) for before, when in ways[states]]
            todo += [before for before, _ in ways[states]]
    if len(made.begun) > MOST_BEGUN:
        raise TooLarge


def _outcomes(steps: _Steps) -> dict[frozenset[int], str]:
    """The sets of states that follow, each with when: no state where none does, the end alone where it is reached."""
    if any(not guard and end == END for guard, end in steps):
        return {frozenset({END}): "1"}
    asked = min((number for guard, _ in steps for number, _ in guard), default=None)
    if asked is None:
        return {frozenset(end for _, end in steps): "1"}
    found: dict[frozenset[int], list[str]] = {}
    for value in (True, False):
        left = frozenset((guard - {(asked, value)}, end) for guard, end in steps if (asked, not value) not in guard)
        for result, when in _outcomes(left).items():
            found.setdefault(result, []).append(_and([_guard({(asked, value)}), when]))
    return {result: _or(whens) if len(found) > 1 else "1" for result, whens in found.items()}


def _has_loop(sequence: Sequence) -> bool:
    after: dict[int, set[int]] = {}
    for start, _, end in sequence.steps:
        after.setdefault(start, set()).add(end)
    while after:
        last = {state for state, ends in after.items() if not any(end in after for end in ends)}
        if not last:
            return True
        after = {state: ends for state, ends in after.items() if state not in last}
    return False


def _guard(guard: Iterable[tuple[int, bool]]) -> str:
    return _and([f"c[{number}]" if holds else f"~c[{number}]" for number, holds in sorted(guard)])


def _joined(parts: Iterable[str], sign: str, none: str, all_: str) -> str:
    parts = [part for part in dict.fromkeys(parts) if part != none]
    if all_ in parts:
        return all_
    return parts[0] if len(parts) == 1 else f"({f' {sign} '.join(parts)})" if parts else none


def _and(parts: Iterable[str]) -> str:
    return _joined(parts, "&", "1", "0")


def _or(parts: Iterable[str]) -> str:
    return _joined(parts, "|", "0", "1")


def _not(text: str) -> str:
    return {"0": "1", "1": "0"}.get(text) or (text[1:] if text.startswith("~") else f"~{text}")
