"""Properties over sequences: what a temporal assertion demands (IEEE 1800, clause 16.12; PSL)."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import reduce

from workbench.model.sequences import (
    ANY,
    CUT,
    END,
    Guard,
    Sequence,
    assigned_by,
    both,
    condition,
    determined,
    either,
    fused,
    may_end,
    repeated,
    steps_from,
    strong,
    taken_in,
    then,
    weak,
    weak_states,
)

#: What has to match before (None: nothing), and what has to match then, from that cycle on (None: what is before may
#: not match).
Part = tuple[Sequence | None, Sequence | None]
#: Parts that all have to hold.
Property = tuple[Part, ...]


@dataclass(frozen=True)
class Temporal:
    """What is checked in each cycle: where the first of a part matches, its second has to match from that cycle on;
    None: the first may not match. Where the condition `disable` holds, all that is waited for is given up."""

    parts: tuple[tuple[Sequence, Sequence | None], ...]
    disable: int | None = None

    @property
    def is_strong(self) -> bool:
        """Whether a check that is open at the end of the run can be a failure."""
        return any(map(is_strong, self.parts))


def is_strong(part: tuple[Sequence, Sequence | None]) -> bool:
    """Whether a part's check that is open at the end of the run can be a failure."""
    trigger, last = part
    steps = trigger.steps if last is None else last.steps
    return bool({start for start, _, _ in steps if start} - weak_states(steps))


def of(sequence: Sequence) -> Property:
    """A sequence that has to match."""
    return ((None, sequence),)


def temporal(what: Property, disable: int | None) -> Temporal:
    """What is checked. ValueError where a sequence can match without a cycle."""
    if any(one is not None and one.empty for part in what for one in part):
        raise ValueError("a sequence of it can match without a cycle: let it take one at least")
    return Temporal(tuple((trigger if trigger is not None else ANY, last) for trigger, last in what), disable)


def implied(trigger: Sequence, what: Property, later: bool = False) -> Property:
    """What a property has to be where a sequence matches, or in the cycle behind, if there is one."""
    return tuple(_implied(trigger, more, last, later) for more, last in what)


def _implied(trigger: Sequence, more: Sequence | None, last: Sequence | None, later: bool) -> Part:
    if more is None:
        return strong(trigger), then(ANY, may_end(last)) if later and last is not None else last
    if last is not None:
        return (then if later else fused)(strong(trigger), more), last
    return then(weak(trigger), may_end(more)) if later else fused(weak(trigger), more), None


def negated(what: Property) -> Property:
    """A property that may not hold. What is weak holds where the run ends before it is decided: it may not end so."""
    sequence = plain(what)
    if len(sequence.steps) == 1 and len(guard := sequence.steps[0][1]) == 1:
        ((number, holds),) = guard
        if number >= 0:
            return of(condition(number, not holds))
    steps = tuple(step for step in sequence.steps if step[2] != CUT)
    decided = sorted({start for start, _, _ in steps if start} - weak_states(sequence.steps))
    return ((replace(sequence, steps=(*steps, *((state, frozenset(), CUT) for state in decided))), None),)


def awaited(low: int, high: int | None, what: Sequence, is_strong: bool) -> Sequence:
    """It begins `low` to `high` cycles later; if it `is_strong`, the run has so many."""
    wait = repeated(ANY, low, high)
    if is_strong or low == high == 0:
        return then(wait, what)
    return then(weak(wait), may_end(what))


def next_(cycles: int, what: Property, is_strong: bool) -> Property:
    """A property so many cycles later. TooLarge where it is strong, and an implication of too many states."""
    if is_strong or all(more is None for more, _ in what):
        return of(awaited(cycles, cycles, plain(what), is_strong))
    return implied(repeated(ANY, cycles, cycles), what, True) if cycles else what


def until(first: Sequence, second: Sequence, is_strong: bool) -> Sequence:
    """The first in each cycle before the second; if it `is_strong`, that comes."""
    sequence = then(repeated(first, 0, None), second)
    return sequence if is_strong else weak(sequence)


def always(sequence: Sequence) -> Property:
    """One condition in each cycle from now on."""
    ((number, holds),) = sequence.steps[0][1]
    return ((weak(until(sequence, condition(number, not holds), True)), None),)


def plain(what: Property) -> Sequence:
    """A property as a sequence that matches in the cycle that decides that it holds. TooLarge where that has too many
    states, ValueError where it assigns a variable on one way of several."""
    return reduce(both, (_plain(trigger, last) for trigger, last in what))


def _plain(trigger: Sequence | None, last: Sequence | None) -> Sequence:
    if last is not None and trigger is None:
        return last
    assert trigger is not None
    if last is not None and len(trigger.steps) == 1 and trigger.steps[0][2] == END:
        others = [condition(number, not holds) for number, holds in sorted(trigger.steps[0][1]) if number >= 0]
        return reduce(either, [*others, fused(trigger, last)])
    return _settled(trigger, last)


#: The states of a trigger, and those of each check that it began.
_Open = tuple[frozenset[int], frozenset[frozenset[int]]]


def _settled(trigger: Sequence, last: Sequence | None) -> Sequence:
    """A sequence that matches in the cycle in which no match of the trigger can come any more, and all that it began
    have held."""
    before, behind = steps_from(trigger), steps_from(last) if last is not None else {}
    weak_before, weak_behind = weak_states(trigger.steps), weak_states(last.steps if last is not None else ())

    def leaving(state: _Open) -> Iterable[Guard]:
        for of_states, out in ((state[0], before), *((one, behind) for one in (*state[1], frozenset({0})))):
            yield from (guard for one in of_states for guard, _ in out.get(one, ()))

    def after(state: _Open, case: Guard) -> tuple[_Open | int | None, Guard]:
        steps = taken_in(case, (step for one in state[0] for step in before.get(one, ())))
        checks = [*state[1], frozenset({0})] if any(end == END for _, end in steps) else [*state[1]]
        if last is None and len(checks) > len(state[1]):
            return None, frozenset()
        guards = [guard for guard, _ in steps]
        left: set[frozenset[int]] = set()
        for check in checks:
            taken = taken_in(case, (step for one in check for step in behind.get(one, ())))
            if not taken:
                return None, frozenset()
            guards += [guard for guard, _ in taken]
            if all(end != END for _, end in taken):
                left.add(frozenset(end for _, end in taken))
        least = frozenset(one for one in left if not any(other < one for other in left))
        waiting = frozenset(end for _, end in steps if end != END)
        return (waiting, least) if waiting or least else END, assigned_by(guards)

    def at_end(state: _Open) -> bool:
        return all(check & weak_behind for check in state[1]) and (last is not None or state[0] <= weak_before)

    first: _Open = (frozenset({0}), frozenset())
    return determined(first, leaving, after, at_end)
