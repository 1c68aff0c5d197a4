"""Variables of properties and sequences in SystemVerilog (IEEE 1800, clause 16.10): each check has its own value.

What a check reads is the value that an expression had when it was assigned, so many cycles before. So a state of the
automaton is taken apart by how long ago that was, and a chain of registers keeps the expression's values: one for each
age of a check. That needs an end: a variable that is read any number of cycles later is not watched.
"""

import re
from collections.abc import Mapping
from collections.abc import Sequence as PySequence
from dataclasses import dataclass, field

from pyslang import syntax

from workbench.hdl.verilog.design import Node
from workbench.hdl.verilog.order import plain_text
from workbench.hdl.watched import ClockedRegister, Unwatched
from workbench.model.properties import Temporal
from workbench.model.sequences import ANY, CUT, END, MOST_STATES, Guard, Sequence, Step, TooLarge, reduced

#: A variable that an expression reads, and one that is assigned, as they are written in conditions.
_READ, _SET = re.compile("\x01(\\w+)\x01"), re.compile("\x02(\\w+)\x02(.*)", re.DOTALL)
_ANY_AGE = (
    "a variable may be read any number of cycles after its assignment, by checks that overlap: let what is waited for"
    " have an end, as ##[1:8] has"
)
#: The age of a number, which is the same at all times.
_ALWAYS = -1
_NUMBER = re.compile(r"-?\s*(\d[\d_]*)?\s*('[sS]?[bBdDhHoO]\s*[\da-fA-F_]+|'[01])?")
#: What variables hold: the expression, as text over signals and registers, and how many cycles ago it was assigned.
_Values = frozenset[tuple[str, str, int]]


def read(key: str) -> str:
    """A variable in the text of a condition."""
    return f"\x01{key}\x01"


def is_read(text: str) -> bool:
    return _READ.search(text) is not None


def name_of(key: str) -> str:
    """What a variable is called where it is written."""
    return key.rpartition("_")[0]


@dataclass
class Variables:
    """Those of one assertion: their types by key, and the registers that are `kept` for them, whose names begin with
    `name`."""

    name: str
    kept: list[ClockedRegister]
    types: dict[str, str] = field(default_factory=dict)
    _registers: dict[tuple[str, str, int], str] = field(default_factory=dict)
    _numbers: dict[str, int] = field(default_factory=dict)
    _assigned: set[str] = field(default_factory=set)

    def declare(self, name: str, type_: Node, declared: Node) -> str:
        """The key of a variable of a property or a sequence, which no other of the assertion has. Raises Unwatched."""
        if not isinstance(type_, syntax.IntegerTypeSyntax) or list(declared.dimensions):
            raise Unwatched(f"the variable '{plain_text(str(declared))}' is neither an integer nor made of bits")
        key = f"{name}_{len(self.types)}"
        self.types[key] = plain_text(str(type_))
        return key

    def assignment(self, key: str, value: str) -> str:
        """What stands for one among the conditions: it is done where the others of its step hold."""
        self._assigned.add(key)
        return f"\x02{key}\x02{value}"

    def used(self, sequence: Sequence, conditions: PySequence[str]) -> tuple[frozenset[str], frozenset[str]]:
        """The keys of the variables that a sequence reads, and of those that it assigns."""
        numbers = {number for _, guard, _ in sequence.steps for number, _ in guard}
        texts = [conditions[_index(number)] for number in numbers]
        assigned = (found[1] for text in texts if (found := _SET.fullmatch(text)) is not None)
        return frozenset(key for text in texts for key in _READ.findall(text)), frozenset(assigned)

    def resolved(self, checks: Temporal, conditions: PySequence[str]) -> tuple[Temporal, tuple[str, ...]]:
        """An assertion without variables, and its conditions: a part for each of the values with which it may go on.
        Raises Unwatched."""
        self._numbers = {}
        given_up = self._number(conditions[checks.disable]) if checks.disable is not None else None
        parts: list[tuple[Sequence, Sequence | None]] = []
        for trigger, last in checks.parts:
            read_then = self.used(last, conditions)[0] if last is not None else frozenset[str]()
            for values, before in self._unrolled(trigger, conditions, frozenset(), read_then).items():
                behind = last and self._unrolled(last, conditions, values, frozenset())[frozenset()]
                parts.append((before, behind))
        return Temporal(tuple(parts), given_up), tuple(self._numbers)

    def _number(self, text: str) -> int:
        return self._numbers.setdefault(text, len(self._numbers))

    def _unrolled(
        self, sequence: Sequence, conditions: PySequence[str], begin: _Values, later: frozenset[str]
    ) -> dict[_Values, Sequence]:
        """A sequence whose states each have their values, by what variables hold where it ends: those that are read
        `later`."""
        if sequence == ANY:
            return {begin: sequence}
        reads, loops = _reads(sequence, conditions), _loops(sequence)
        out: dict[int, list[Step]] = {}
        for step in sequence.steps:
            out.setdefault(step[0], []).append(step)
        numbers = {(0, begin): 0}
        todo, ends = list(numbers), dict[_Values, set[Step]]()
        steps: set[Step] = set()
        while todo:
            state, values = todo.pop()
            for _, guard, end in out.get(state, ()):
                number = numbers[state, values]
                if end == CUT:
                    steps.add((number, guard, end))
                    continue
                asked, after = self._step(guard, conditions, {key: (text, age) for key, text, age in values})
                live = later if end == END else reads.get(end, frozenset()) | later
                left = frozenset(
                    (key, text, age + (end != END and age != _ALWAYS))
                    for key, (text, age) in after.items() if key in live
                )  # fmt: skip
                if end == END:
                    ends.setdefault(left, set()).add((number, asked, END))
                    continue
                if end in loops and any(age != _ALWAYS for _, _, age in left):
                    raise Unwatched(_ANY_AGE)
                if (end, left) not in numbers:
                    numbers[end, left] = len(numbers)
                    todo.append((end, left))
                    if len(numbers) > MOST_STATES:
                        raise TooLarge
                steps.add((number, asked, numbers[end, left]))
        return {left: reduced(steps | last, sequence.empty) for left, last in ends.items()}

    def _step(
        self, guard: Guard, conditions: PySequence[str], values: Mapping[str, tuple[str, int]]
    ) -> tuple[Guard, dict[str, tuple[str, int]]]:
        """What a step asks, with what variables hold, and what they hold behind it, in the order of the text."""
        after = dict(values)
        asked: set[tuple[int, bool]] = set()
        for number, holds in sorted(guard, key=lambda one: _index(one[0])):
            text = conditions[_index(number)]
            if (found := _SET.fullmatch(text)) is None:
                asked.add((self._number(self._text(text, after)), holds))
            else:
                value = self._text(found[2], after)
                age = _ALWAYS if _NUMBER.fullmatch(value.strip()) else 0
                after[found[1]] = f"{self.types[found[1]]}\x01{value}", age
        return frozenset(asked), after

    def _text(self, text: str, values: Mapping[str, tuple[str, int]]) -> str:
        return _READ.sub(lambda one: self._register(one[1], values), text)

    def _register(self, key: str, values: Mapping[str, tuple[str, int]]) -> str:
        """What holds the value that a variable has."""
        if key not in values:
            name, where = name_of(key), "or give it a value where it is declared"
            if key not in self._assigned:
                what = f"its variable '{name}' is read, and assigned nowhere: write (CONDITION, {name} = VALUE) before,"
                raise Unwatched(f"{what} {where}")
            what = f"its variable '{name}' is read where it may not have been assigned: assign it on each way to there,"
            raise Unwatched(f"{what} {where}")
        (typed, age) = values[key]
        type_, _, text = typed.partition("\x01")
        age = max(age, 0)
        for cycles in range(age + 1):
            if (type_, text, cycles) not in self._registers:
                register = f"recap_value_{self.name}_{len(self._registers)}"
                before = self._registers.get((type_, text, cycles - 1), "")
                self._registers[type_, text, cycles] = register
                declared = f"{type_} {register} = 0;" if cycles else f"{type_} {register}; assign {register} = {text};"
                self.kept.append(ClockedRegister(declared, f"{register} <= {before};" if cycles else ""))
        return self._registers[type_, text, age]


def _index(number: int) -> int:
    """Which of the conditions a number of a guard is."""
    return number if number >= 0 else ~number


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


def _reads(sequence: Sequence, conditions: PySequence[str]) -> dict[int, frozenset[str]]:
    """The variables that may be read from each state on."""
    found: dict[int, set[str]] = {}
    for start, guard, _ in sequence.steps:
        found.setdefault(start, set()).update(*(_READ.findall(conditions[_index(number)]) for number, _ in guard))
    changed = True
    while changed:
        changed = False
        for start, _, end in sequence.steps:
            if more := found.get(end, set()) - found[start]:
                found[start] |= more
                changed = True
    return {state: frozenset(keys) for state, keys in found.items()}
