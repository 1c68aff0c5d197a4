"""Variables of properties and sequences in SystemVerilog (IEEE 1800, clause 16.10): each check has its own value.

What a check reads is the value that an expression had when it was assigned, so many cycles before. So a state of the
automaton is taken apart by how long ago that was, and a chain of registers keeps the expression's values: one for each
age of a check. That needs an end: a variable that is read any number of cycles later is not watched.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from pyslang import parsing, syntax

from workbench.hdl.verilog.design import Node
from workbench.hdl.verilog.order import plain_text
from workbench.hdl.watched import Kept, Unwatched
from workbench.model.sequences import ANY, CUT, END, MOST_STATES, Guard, Sequence, Step, Temporal, TooLarge

#: A variable that an expression reads, and one that is assigned, as they are written in conditions.
_READ, _SET = re.compile("\x01(\\w+)\x01"), re.compile("\x02(\\w+)\x02(.*)", re.DOTALL)
_ANY_AGE = (
    "a variable may be read any number of cycles after its assignment, by checks that overlap: let what is waited for"
    " have an end, as ##[1:8] has"
)
#: What variables hold: the expression, as text over signals and registers, and how many cycles ago it was assigned.
_Values = frozenset[tuple[str, str, int]]


def read(key: str) -> str:
    """A variable in the text of a condition."""
    return f"\x01{key}\x01"


def is_read(text: str) -> bool:
    return _READ.search(text) is not None


def assigned(key: str, value: str) -> str:
    """A condition that stands for an assignment, in the cycle in which the others of its step hold."""
    return f"\x02{key}\x02{value}"


@dataclass
class Variables:
    """Those of one assertion: their types by key, and the registers that are `kept` for them, whose names begin with
    `name`."""

    name: str
    kept: list[Kept]
    types: dict[str, str] = field(default_factory=dict)
    _registers: dict[tuple[str, str, int], str] = field(default_factory=dict)
    _numbers: dict[str, int] = field(default_factory=dict)

    def declare(self, declaration: Node) -> dict[str, str]:
        """The variables of a property or a sequence by name, each with a key that no other of the assertion has. Raises
        Unwatched."""
        keys: dict[str, str] = {}
        for declared in declaration.variables:
            for one in declared.declarators:
                if isinstance(one, parsing.Token):
                    continue
                name, text = str(one.name.valueText), plain_text(str(one))
                if not isinstance(declared.type, syntax.IntegerTypeSyntax) or list(one.dimensions):
                    raise Unwatched(f"the variable '{text}' is none of bits, or an integer")
                if one.initializer is not None:
                    raise Unwatched(f"the variable '{text}' has a value from the start: assign it in a sequence")
                keys[name] = f"{name}_{len(self.types)}"
                self.types[keys[name]] = plain_text(str(declared.type))
        return keys

    def resolved(self, checks: Temporal, conditions: tuple[str, ...]) -> tuple[Temporal, tuple[str, ...]]:
        """An assertion without variables, and its conditions. Raises Unwatched."""
        self._numbers = {}
        given_up = self._number(conditions[checks.disable]) if checks.disable is not None else None
        last = checks.then
        read_then = frozenset().union(*_reads(last, conditions).values()) if last is not None else frozenset[str]()
        trigger, values = self._unrolled(checks.trigger, conditions, frozenset(), read_then)
        if len(values) > 1:
            raise Unwatched("a variable is assigned at several distances from the implication: give it one")
        if last is not None:
            last, _ = self._unrolled(last, conditions, next(iter(values), frozenset()), frozenset())
        return Temporal(trigger, last, given_up), tuple(self._numbers)

    def _number(self, text: str) -> int:
        return self._numbers.setdefault(text, len(self._numbers))

    def _unrolled(
        self, sequence: Sequence, conditions: tuple[str, ...], begin: _Values, later: frozenset[str]
    ) -> tuple[Sequence, set[_Values]]:
        """A sequence whose states each have their values, and what variables hold where it ends: those that are read
        `later`."""
        if sequence == ANY:
            return sequence, {begin}
        reads, loops = _reads(sequence, conditions), _loops(sequence)
        out: dict[int, list[Step]] = {}
        for step in sequence.steps:
            out.setdefault(step[0], []).append(step)
        numbers = {(0, begin): 0}
        todo, ends = list(numbers), set[_Values]()
        steps: list[Step] = []
        while todo:
            state, values = todo.pop()
            for _, guard, end in out.get(state, ()):
                number = numbers[state, values]
                if end == CUT:
                    steps.append((number, guard, end))
                    continue
                asked, after = self._step(guard, conditions, {key: (text, age) for key, text, age in values})
                live = later if end == END else reads.get(end, frozenset()) | later
                by = int(end != END)
                left = frozenset((key, text, age + by) for key, (text, age) in after.items() if key in live)
                if end == END:
                    ends.add(left)
                    steps.append((number, asked, END))
                    continue
                if left and end in loops:
                    raise Unwatched(_ANY_AGE)
                if (end, left) not in numbers:
                    numbers[end, left] = len(numbers)
                    todo.append((end, left))
                    if len(numbers) > MOST_STATES:
                        raise TooLarge
                steps.append((number, asked, numbers[end, left]))
        return replace(sequence, steps=tuple(steps)), ends

    def _step(
        self, guard: Guard, conditions: tuple[str, ...], values: Mapping[str, tuple[str, int]]
    ) -> tuple[Guard, dict[str, tuple[str, int]]]:
        """What a step asks, with what variables hold, and what they hold behind it."""
        after = dict(values)
        asked: set[tuple[int, bool]] = set()
        named: set[str] = set()
        for number, holds in guard:
            if (found := _SET.fullmatch(conditions[number])) is None:
                named |= set(_READ.findall(conditions[number]))
                asked.add((self._number(self._text(conditions[number], values)), holds))
        for number, _ in sorted(guard):
            if (found := _SET.fullmatch(conditions[number])) is not None:
                if found[1] in named:
                    raise Unwatched("a variable of it is read and assigned in one cycle")
                named.add(found[1])
                after[found[1]] = f"{self.types[found[1]]}\x01{self._text(found[2], after)}", 0
        return frozenset(asked), after

    def _text(self, text: str, values: Mapping[str, tuple[str, int]]) -> str:
        return _READ.sub(lambda one: self._register(one[1], values), text)

    def _register(self, key: str, values: Mapping[str, tuple[str, int]]) -> str:
        """What holds the value that a variable has."""
        if key not in values:
            raise Unwatched(f"its variable '{key.rpartition('_')[0]}' is read where it may not have been assigned")
        (typed, age) = values[key]
        type_, _, text = typed.partition("\x01")
        for cycles in range(age + 1):
            if (type_, text, cycles) not in self._registers:
                register = f"recap_value_{self.name}_{len(self._registers)}"
                before = self._registers.get((type_, text, cycles - 1), "")
                self._registers[type_, text, cycles] = register
                declared = f"{type_} {register} = 0;" if cycles else f"{type_} {register}; assign {register} = {text};"
                self.kept.append(Kept(declared, f"{register} <= {before};" if cycles else ""))
        return self._registers[type_, text, age]


def _loops(sequence: Sequence) -> set[int]:
    """The states that lead to themselves."""
    after: dict[int, set[int]] = {}
    for start, _, end in sequence.steps:
        after.setdefault(start, set()).add(end)
    found = set()
    for state in after:
        reached: set[int] = set()
        todo = [state]
        while todo:
            new = after.get(todo.pop(), set()) - reached
            reached |= new
            todo += new
        found |= {state} & reached
    return found


def _reads(sequence: Sequence, conditions: tuple[str, ...]) -> dict[int, frozenset[str]]:
    """The variables that may be read from each state on."""
    found: dict[int, set[str]] = {}
    for start, guard, _ in sequence.steps:
        found.setdefault(start, set()).update(*(_READ.findall(conditions[number]) for number, _ in guard))
    changed = True
    while changed:
        changed = False
        for start, _, end in sequence.steps:
            if more := found.get(end, set()) - found[start]:
                found[start] |= more
                changed = True
    return {state: frozenset(keys) for state, keys in found.items()}
