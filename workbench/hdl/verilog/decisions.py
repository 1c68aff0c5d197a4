"""The branches of a process: their conditions, and the signals assigned in them."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Hashable, Iterator
from dataclasses import dataclass, field
from functools import cache
from typing import Any, NamedTuple

from pyslang import ast

from workbench.hdl.blocks import Arm, meaning
from workbench.hdl.instances import BlockUse
from workbench.hdl.verilog.blocks import id_of
from workbench.hdl.verilog.expressions import Is, Kind, Part, plain, reads

Branch = tuple[int, int]  # where it begins and ends
_Of = ast.StatementKind
_LOOPS = (_Of.ForLoop, _Of.ForeachLoop, _Of.RepeatLoop, _Of.WhileLoop, _Of.DoWhileLoop)
_AND = (ast.BinaryOperator.LogicalAnd, ast.BinaryOperator.BinaryAnd)
_EQUAL = (ast.BinaryOperator.Equality, ast.BinaryOperator.CaseEquality)
_NAME = re.compile(r"\"[^\"]*\"|(?<![\w.'$`])[A-Za-z_]\w*")


class Guard(NamedTuple):
    """A signal has one of the values, or (`among` is false) none of them."""

    symbol: Any
    values: frozenset[Hashable]
    among: bool = True

    def excludes(self, other: Guard) -> bool:
        """Whether both cannot be true at once."""
        if self.symbol != other.symbol or not (self.among or other.among):
            return False
        if self.among and other.among:
            return not self.values & other.values
        return self.values <= other.values if self.among else other.values <= self.values


class Assigned(NamedTuple):
    around: tuple[Branch, ...]
    part: Part
    sources: frozenset[Part]


@dataclass
class Decisions:
    """What a process looks at. By branch: those around it, what is asked for there, the number of the statement that it
    is a branch of, and the values for which it is taken. `marked` has the branches of each state and what the marks'
    own conditions ask for. Without `whole` some of it is not known."""

    around: dict[Branch, tuple[Branch, ...]] = field(default_factory=dict)
    asked: dict[Branch, frozenset[Part]] = field(default_factory=dict)
    statement: dict[Branch, int] = field(default_factory=dict)
    guards: dict[Branch, tuple[Guard, ...]] = field(default_factory=dict)
    assigned: list[Assigned] = field(default_factory=list)
    changing: set[Any] = field(default_factory=set)  # what has another value further down in the process
    marked: dict[int, list[tuple[Branch, frozenset[Part]]]] = field(default_factory=dict)
    whole: bool = True

    def enter(
        self, place: Branch, around: tuple[Branch, ...], asked: Collection[Part], statement: int,
        guards: Collection[Guard] = (),
    ) -> tuple[Branch, ...]:  # fmt: skip
        """Add a branch; those that are around what is in it."""
        self.around[place], self.asked[place] = around, frozenset(asked)
        self.statement[place], self.guards[place] = statement, tuple(guards)
        return (*around, place)

    def together(self, one: tuple[Branch, ...], other: tuple[Branch, ...], known: Collection[Guard]) -> bool:
        """Whether both places can be reached in one cycle in which the guards `known` hold."""
        for mine, theirs in zip(one, other, strict=False):
            if mine != theirs:
                if self.statement[mine] == self.statement[theirs]:
                    return False
                break
        return self.reached(one, known)

    def reached(self, around: tuple[Branch, ...], known: Collection[Guard]) -> bool:
        guards = [guard for place in around for guard in self.guards[place] if guard.symbol not in self.changing]
        return not any(guard.excludes(other) for guard in guards for other in known)

    def moved(self, of: Callable[[Any], Any]) -> Decisions:
        """The same with the symbols of another elaboration."""
        symbol = cache(of)

        def parts(some: frozenset[Part]) -> frozenset[Part]:
            return frozenset(Part(symbol(part.symbol), part.bit) for part in some)

        return Decisions(
            self.around,
            {place: parts(some) for place, some in self.asked.items()},
            self.statement,
            {place: tuple(g._replace(symbol=symbol(g.symbol)) for g in some) for place, some in self.guards.items()},
            [Assigned(a.around, Part(symbol(a.part.symbol), a.part.bit), parts(a.sources)) for a in self.assigned],
            set(map(symbol, self.changing)),
            {state: [(place, parts(some)) for place, some in arms] for state, arms in self.marked.items()},
        )


def decisions_of(use: BlockUse) -> Decisions:
    """The decisions of a clocked block, with its pragmas."""
    decisions = read_decisions(use.body, use.scope)
    for state, arm in marked_arms(use):
        asked = {part for one in arm.pragmas for part in _named(one.pragma.condition or "", use.scope)}
        decisions.marked.setdefault(state, []).append((id_of(arm.statement), frozenset(asked)))
    return decisions


def marked_arms(use: BlockUse) -> Iterator[tuple[int, Arm]]:
    """The arms with pragmas of each state of a block, by its number; for VHDL too."""
    for state, placed in enumerate(use.source.states, 1):
        for arm in use.source.arms:
            if any(meaning(one.pragma) == meaning(placed.pragma) for one in arm.pragmas):
                yield state, arm


def _named(condition: str, scope: Any) -> Iterator[Part]:
    for name in dict.fromkeys(_NAME.findall(condition)):
        symbol = None if name.startswith('"') else scope.lookupName(name)
        if symbol is not None and symbol.kind in (Kind.Net, Kind.Variable):
            yield Part(symbol)


def read_decisions(body: Any, scope: Any) -> Decisions:
    """The decisions of a process, by its statement in slang."""
    read = _Reader(ast.EvalContext(ast.ASTContext(scope, ast.LookupLocation.max)))
    read.look(body, ())
    return read.decisions


@dataclass
class _Reader:
    context: Any
    decisions: Decisions = field(default_factory=Decisions)
    statements: int = 0

    def look(self, statement: Any, around: tuple[Branch, ...]) -> None:
        kind = statement.kind
        if kind == _Of.Timed:
            self.branch(statement.stmt, around, (), ())
        elif kind in (_Of.Block, *_LOOPS):
            self.look(statement.body, around)
        elif kind == _Of.List:
            for one in statement.list:
                self.look(one, around)
        elif kind == _Of.Conditional:
            self.statements += 1
            number = self.statements
            asked = {part for condition in statement.conditions for part in reads(condition.expr)}
            guards = [guard for condition in statement.conditions for guard in self.guards(condition.expr)]
            self.branch(statement.ifTrue, around, asked, guards, number)
            if statement.ifFalse is not None:
                alone = guards if len(guards) == 1 and self.equal(statement.conditions[0].expr) else []
                self.branch(statement.ifFalse, around, asked, [one._replace(among=False) for one in alone], number)
        elif kind == _Of.Case:
            self.case(statement, around)
        elif kind == _Of.ExpressionStatement and statement.expr.kind == Is.Call:
            self.decisions.whole &= bool(statement.expr.isSystemCall)  # else it may assign something
        elif kind == _Of.ExpressionStatement and statement.expr.kind == Is.Assignment:
            sources = frozenset(reads(statement.expr.right))
            for part in reads(statement.expr.left):
                self.decisions.assigned.append(Assigned(around, part, sources))
                if not statement.expr.isNonBlocking:
                    self.decisions.changing.add(part.symbol)

    def case(self, statement: Any, around: tuple[Branch, ...]) -> None:
        self.statements += 1
        number = self.statements
        labels = {part for item in statement.items for e in item.expressions for part in reads(e)}
        asked = {*reads(statement.expr), *labels}
        symbol = _whole(statement.expr)
        every: set[Hashable] = set()
        for item in statement.items:
            values = [self.constant(e) for e in item.expressions]
            known = symbol is not None and None not in values
            self.branch(item.stmt, around, asked, [Guard(symbol, frozenset(values))] if known else [], number)
            every |= set(values)
        if statement.defaultCase is not None:
            every -= {None}
            guards = [Guard(symbol, frozenset(every), False)] if symbol is not None else []
            self.branch(statement.defaultCase, around, asked, guards, number)

    def branch(
        self, statement: Any, around: tuple[Branch, ...], asked: Collection[Part], guards: Collection[Guard],
        number: int = 0,
    ) -> None:  # fmt: skip
        place = id_of(statement.syntax) if statement.syntax is not None else (-1, len(self.decisions.around))
        self.look(statement, self.decisions.enter(place, around, asked, number, guards))

    def guards(self, condition: Any) -> Iterator[Guard]:
        """What holds of signals where a condition is true."""
        while condition.kind == Is.Conversion:
            condition = condition.operand
        if condition.kind == Is.BinaryOp and condition.op in _AND:
            yield from self.guards(condition.left)
            yield from self.guards(condition.right)
        elif (guard := self.equal(condition)) is not None:
            yield guard

    def equal(self, condition: Any) -> Guard | None:
        if condition.kind == Is.BinaryOp and condition.op in _EQUAL:
            for signal, other in ((condition.left, condition.right), (condition.right, condition.left)):
                symbol, value = _whole(signal), self.constant(other)
                if symbol is not None and value is not None:
                    return Guard(symbol, frozenset([value]))
        return None

    def constant(self, expression: Any) -> int | None:
        """None of a negative one too, which has other bits in another width."""
        value = expression.constant if expression.constant is not None else expression.eval(self.context)
        if not value or value.isContainer() or value.hasUnknown():
            return None
        try:
            number = int(value.value)
        except (TypeError, ValueError):  # a text, a real number
            return None
        return number if number >= 0 else None


def _whole(expression: Any) -> Any:
    """The signal that an expression is, as a whole; None where it is something else."""
    while expression.kind == Is.Conversion:
        expression = expression.operand
    return bit.symbol if expression.kind == Is.NamedValue and (bit := plain(expression, 0)) else None
