"""A temporal assertion as registers: which of them are set next, and whether it held or failed in a cycle.

What is strong and still open behind a cycle has the cycle in which its oldest check began.

The trigger is an automaton whose states are bits. What it starts has to be followed for each start by itself, as each
must match: a sequence that ends after some cycles has bits for each number of cycles since its start; another has a bit
for each set of states that can be the case together.
"""

import re
from collections.abc import Hashable, Iterable, Mapping
from collections.abc import Sequence as Sequence_
from dataclasses import dataclass, field
from typing import TypeVar

from workbench.model.properties import Temporal, is_strong
from workbench.model.sequences import CUT, END, MOST_STATES, Guard, Sequence, TooLarge, grouped, weak_states

#: The most registers of an assertion that each keep a cycle.
MOST_BEGUN = 16

_TERM = re.compile(r"\b([csn])\[(\d+)\]|\b([01])\b")
_Steps = frozenset[tuple[Guard, int]]
H = TypeVar("H", bound=Hashable)


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
    made = Checker()
    held, failed = zip(*(_part(made, trigger, then) for trigger, then in temporal.parts), strict=True)
    made.held, made.failed = _or(held), _or(failed)
    if len(made.begun) > MOST_BEGUN:
        raise TooLarge
    return made


def as_verilog(text: str, names: Mapping[str, str]) -> str:
    """One of its expressions over vectors with these names."""
    return _TERM.sub(lambda one: f"{names[one[1]]}[{one[2]}]" if one[1] else f"1'b{one[3]}", text)


def _part(made: Checker, trigger: Sequence, then: Sequence | None) -> tuple[str, str]:
    """When a part held, and when it failed."""
    open_ = then is None and is_strong((trigger, then))
    if not open_:
        trigger = grouped(trigger)
    elif not _has_loop(trigger):
        trigger = _by_length(trigger)
    active = {0: "1"} | {state: f"s[{made.register()}]" for state in range(1, trigger.size)}
    numbers = {state: int(name[2:-1]) for state, name in active.items() if state}
    ways: dict[int, list[tuple[int, str]]] = {}
    for start, guard, end in trigger.steps:
        if end != CUT:
            ways.setdefault(end, []).append((start, _and([active[start], _guard(guard)])))
    for state, number in numbers.items():
        made.next[number] = _or(when for _, when in ways.get(state, ()))
    starts = _or(when for _, when in ways.get(END, ()))
    if then is None:
        weak = weak_states(trigger.steps)
        waiting = [state for state in numbers if state not in weak] if open_ else []
        if waiting and not _has_loop(trigger):
            ages = _lengths(trigger)
            made.open_ages += [(f"n[{numbers[state]}]", min(ages[state]) - 1) for state in waiting]
        else:
            _keep_begun(made, waiting, numbers, ways, 0)
        return _not(starts), starts
    if _has_loop(then):
        return _by_sets(made, then, starts)
    return _by_age(made, grouped(then), starts)


def _lengths(sequence: Sequence) -> dict[int, set[int]]:
    """After how many cycles each state of a sequence without loops can be reached."""
    found: dict[int, set[int]] = {0: {0}}
    changed = True
    while changed:
        changed = False
        for start, _, end in sequence.steps:
            more = {age + 1 for age in found.get(start, ())} - found.setdefault(end, set())
            if end >= 0 and more:
                found[end] |= more
                changed = True
    return found


def _by_length(sequence: Sequence) -> Sequence:
    """The same with a state for each number of cycles after which one can be reached."""
    lengths = _lengths(sequence)
    numbers = {0: {0: 0}}
    count = 1
    for state in sorted(one for one in lengths if one > 0):
        numbers[state] = {age: count + n for n, age in enumerate(sorted(lengths[state]))}
        count += len(lengths[state])
    if count > MOST_STATES:
        raise TooLarge
    steps = [
        (number, guard, end if end < 0 else numbers[end][age + 1])
        for start, guard, end in sequence.steps
        for age, number in numbers[start].items()
    ]
    return Sequence(tuple(steps), sequence.empty)


def _by_age(made: Checker, sequence: Sequence, starts: str) -> tuple[str, str]:
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
    return _or(held), _or(failed)


def _by_sets(made: Checker, sequence: Sequence, starts: str) -> tuple[str, str]:
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
    weak = weak_states(sequence.steps)
    _keep_begun(made, [states for states in numbers if not states & weak], numbers, ways, first)
    held, failed = (_or(when for _, when in ways[frozenset(end)]) for end in ((END,), ()))
    return held, failed


def _keep_begun(
    made: Checker, open_: list[H], numbers: Mapping[H, int], ways: Mapping[H, Sequence_[tuple[H, str]]], first: H
) -> None:
    """Keep the cycle in which the oldest check began that is in one of the states `open_`: in registers by `numbers`,
    on the `ways` that lead from the `first` to these."""
    made.open_begun += sorted(numbers[states] for states in open_)
    todo = list(open_)
    while todo:
        states = todo.pop()
        if states != first and numbers[states] not in made.begun:
            made.begun[numbers[states]] = [(numbers.get(before), when) for before, when in ways[states]]
            todo += [before for before, _ in ways[states]]


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
