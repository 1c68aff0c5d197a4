"""Who drives a bit of an elaborated design: through ports and plain assignments, and through which logic.

A bit is (symbol, index from its least significant one, whether inverted); symbols are slang's, one for each instance.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple

from pyslang import ast

Kind = ast.SymbolKind
Is = ast.ExpressionKind
_NOT = (ast.UnaryOperator.LogicalNot, ast.UnaryOperator.BitwiseNot)
_AND = (ast.BinaryOperator.LogicalAnd, ast.BinaryOperator.BinaryAnd)
_BITWISE = (ast.BinaryOperator.BinaryAnd, ast.BinaryOperator.BinaryOr, ast.BinaryOperator.BinaryXor)
_SELECTIONS = (Is.ElementSelect, Is.RangeSelect, Is.MemberAccess)
_PROCESSES = (
    ast.ProceduralBlockKind.Always,
    ast.ProceduralBlockKind.AlwaysComb,
    ast.ProceduralBlockKind.AlwaysFF,
    ast.ProceduralBlockKind.AlwaysLatch,
)
_EDGES = (ast.EdgeKind.PosEdge, ast.EdgeKind.NegEdge, ast.EdgeKind.BothEdges)
_SIGNALS = (Kind.Net, Kind.Variable)
_MOST_STEPS = 1000  # through a loop of assignments


@dataclass(frozen=True)
class Bit:
    symbol: Any
    index: int
    low: bool = False  # inverted

    def turned(self, low: bool = True) -> Bit:
        return Bit(self.symbol, self.index, self.low ^ low)


class Part(NamedTuple):
    """A bit of a signal that has several; all of it where `bit` is None."""

    symbol: Any
    bit: int | None = None


def part_of(bit: Bit) -> Part:
    return Part(bit.symbol, bit.index if bit.symbol.type.bitWidth > 1 else None)


@dataclass(frozen=True)
class _Driver:
    """Bits `low` to `low + width - 1` of a symbol are `source`'s from `offset` on: an expression, or a symbol."""

    low: int
    width: int
    source: Any
    offset: int = 0

    def index(self, bit: int) -> int:
        """The source's bit that drives a bit."""
        return bit - self.low + self.offset


class Nets:
    """The drivers of every signal below an elaborated top."""

    def __init__(self, top: Any) -> None:
        self._drivers: dict[Any, list[_Driver]] = defaultdict(list)
        self._logic: dict[Any, dict[int | None, set[Part]]] = defaultdict(lambda: defaultdict(set))
        self._known: dict[Part, set[Part]] = {}
        self.nameless: dict[str, Any] = {}  # generate blocks without a name: their syntax by path
        self._next: dict[Any, dict[int | None, set[Part]]] = defaultdict(lambda: defaultdict(set))  # through a register
        self._visit(top.body)

    def root(self, bit: Bit) -> Bit:
        """The bit at which it is driven by more than a wire, an inverter or a port; of the top's inputs themselves."""
        for _ in range(_MOST_STEPS):
            before = next((self._before(bit, driver) for driver in self._of(bit)), None)
            if before is None:
                break
            bit = before
        return bit

    def terms(self, bit: Bit) -> list[Bit]:
        """The bits, by their roots, that must all be high for a bit to be; itself where it is no such AND."""
        root = self.root(bit)
        driver = next(iter(self._of(root)), None)
        if root.low or driver is None or not isinstance(driver.source, ast.Expression):
            return [root]
        found = self._anded(driver.source, driver.index(root.index))
        return [root] if found is None else found

    def reached(self, start: Part, ends: set[Part]) -> set[Part]:
        """Which of `ends` a part of a signal depends on without a register, or another of them, between; all of a
        signal where it depends on it as a whole and some of its bits are ends."""
        several = {end.symbol for end in ends}
        found: set[Part] = set()
        seen, open_ = {start}, [start]
        while open_:
            for source in self._sources(open_.pop()) - seen:
                seen.add(source)
                if source in ends or (source.bit is None and source.symbol in several):
                    found.add(source)
                else:
                    open_.append(source)
        return found

    def without_effect(self, ends: set[Any]) -> Iterator[Any]:
        """The signals on which none of `ends` depends, now or later: counters that only tell the time, results that
        nobody waits for."""
        needed, open_ = set(ends), list(ends)
        while open_:
            symbol = open_.pop()
            before = self._sources(Part(symbol)).union(*self._next.get(symbol, {}).values())
            more = {part.symbol for part in before} - needed
            needed |= more
            open_ += more
        return (symbol for symbol in {*self._next, *self._logic, *self._drivers} if symbol not in needed)

    def _sources(self, part: Part) -> set[Part]:
        """What a part is made of, without a register between."""
        if part not in self._known:
            symbol, bit = part
            whole, logic = bit is None and symbol.type.bitWidth != 1, self._logic.get(symbol, {})
            found = set().union(*(reads for of, reads in logic.items() if bit is None or of in (bit, None)))
            if whole:
                found = found.union(*(_reads(driver.source) for driver in self._drivers.get(symbol, ())))
            else:
                own = Bit(symbol, bit or 0)
                found = found.union(*(_reads_of_bit(d.source, d.index(own.index)) for d in self._of(own)))
            self._known[part] = found
        return self._known[part]

    def _of(self, bit: Bit) -> Iterator[_Driver]:
        return (d for d in self._drivers.get(bit.symbol, ()) if d.low <= bit.index < d.low + d.width)

    def _before(self, bit: Bit, driver: _Driver) -> Bit | None:
        index = driver.index(bit.index)
        if not isinstance(driver.source, ast.Expression):
            return Bit(driver.source, index, bit.low)
        found = plain(driver.source, index)
        return found and found.turned(bit.low)

    def _anded(self, expression: Any, index: int) -> list[Bit] | None:
        while expression.kind == Is.Conversion and index < expression.operand.type.bitWidth:
            expression = expression.operand
        if expression.kind != Is.BinaryOp or expression.op not in _AND:
            return None
        found: list[Bit] = []
        for side in (expression.left, expression.right):
            if expression.op == ast.BinaryOperator.LogicalAnd and side.type.bitWidth != 1:
                return None
            bit = plain(side, index)
            more = self.terms(bit) if bit else self._anded(side, index)
            if more is None:
                return None
            found += more
        return found

    def _visit(self, scope: Any) -> None:
        for member in scope:
            kind = member.kind
            if kind == Kind.Instance:
                self._instance(member)
            elif kind == Kind.InstanceArray:
                for element in member.elements:
                    if element.kind == Kind.Instance:
                        self._instance(element)
            elif kind == Kind.GenerateBlock:
                if not member.isUninstantiated:
                    if getattr(member.syntax, "beginName", member) is None:
                        self.nameless[str(member.hierarchicalPath)] = member.syntax
                    self._visit(member)
            elif kind == Kind.GenerateBlockArray:
                for entry in member.entries:
                    self._visit(entry)
            elif kind == Kind.ContinuousAssign and member.assignment.kind == Is.Assignment:
                self._drive(member.assignment.left, member.assignment.right)
            elif kind == Kind.Net and member.initializer is not None:
                self._drivers[member].append(_Driver(0, member.type.bitWidth, member.initializer))
            elif kind == Kind.ProceduralBlock and member.procedureKind in _PROCESSES:
                self._statement(member.body, frozenset(), self._logic if _combinational(member) else self._next)

    def _instance(self, instance: Any) -> None:
        for connection in instance.portConnections:
            port, expression = connection.port, connection.expression
            inner = getattr(port, "internalSymbol", None)
            if port.kind != Kind.Port or inner is None or expression is None:
                continue
            if expression.kind == Is.Assignment:  # an output
                self._drive(expression.left, inner)
            elif port.direction == ast.ArgumentDirection.In:
                self._drivers[inner].append(_Driver(0, inner.type.bitWidth, expression))
        self._visit(instance.body)

    def _drive(self, left: Any, source: Any) -> None:
        for symbol, low, width, offset in slices(left):
            self._drivers[symbol].append(_Driver(low, width, source, offset))

    def _statement(self, statement: Any, asked: frozenset[Part], into: dict[Any, dict[int | None, set[Part]]]) -> None:
        """What is assigned in a process depends on what is assigned to it, and on the conditions around."""
        kind, of = statement.kind, ast.StatementKind
        if kind == of.Timed:
            self._statement(statement.stmt, asked, into)
        elif kind == of.Block:
            self._statement(statement.body, asked, into)
        elif kind == of.List:
            for one in statement.list:
                self._statement(one, asked, into)
        elif kind == of.Conditional:
            asked = asked.union(*(_reads(condition.expr) for condition in statement.conditions))
            self._statement(statement.ifTrue, asked, into)
            if statement.ifFalse is not None:
                self._statement(statement.ifFalse, asked, into)
        elif kind == of.Case:
            asked = asked.union(
                _reads(statement.expr), *(_reads(e) for item in statement.items for e in item.expressions)
            )
            for one in (*(item.stmt for item in statement.items), statement.defaultCase):
                if one is not None:
                    self._statement(one, asked, into)
        elif kind == of.ForLoop:
            self._statement(statement.body, asked, into)
        elif kind == of.ExpressionStatement and statement.expr.kind == Is.Assignment:
            sources = asked | _reads(statement.expr.right)
            for symbol, bit in _reads(statement.expr.left):
                into[symbol][bit] |= sources


def slices(expression: Any, offset: int = 0) -> Iterator[tuple[Any, int, int, int]]:
    """What an expression on the left names: (symbol, lowest bit, width, offset in the expression). What is chosen
    while the design runs is left out."""
    if expression.kind == Is.Concatenation:
        for operand in reversed(list(expression.operands)):
            yield from slices(operand, offset)
            offset += operand.type.bitWidth
        return
    width = expression.type.bitWidth
    if bit := plain(expression, 0):
        yield bit.symbol, bit.index, width, offset


def plain(expression: Any, index: int) -> Bit | None:
    """The bit of a signal that bit `index` of an expression just names; None where it is more than that."""
    kind = expression.kind
    if kind in (Is.NamedValue, Is.HierarchicalValue):
        symbol = expression.symbol
        if symbol.kind == Kind.ModportPort:
            symbol = symbol.internalSymbol
        return Bit(symbol, index) if symbol is not None and symbol.kind in _SIGNALS else None
    if kind == Is.Conversion:
        return plain(expression.operand, index) if index < expression.operand.type.bitWidth else None
    if kind == Is.UnaryOp and expression.op in _NOT:
        if expression.op == ast.UnaryOperator.LogicalNot and (index or expression.operand.type.bitWidth != 1):
            return None
        found = plain(expression.operand, index)
        return found and found.turned()
    if kind == Is.Concatenation:
        for operand in reversed(list(expression.operands)):
            if index < operand.type.bitWidth:
                return plain(operand, index)
            index -= operand.type.bitWidth
        return None
    if kind in (Is.ElementSelect, Is.RangeSelect, Is.MemberAccess):
        low = _offset(expression)
        return None if low is None else plain(expression.value, low + index)
    return None


def _offset(expression: Any) -> int | None:
    """The lowest bit of what a selection selects, in the value selected from."""
    if expression.kind == Is.MemberAccess:
        return int(expression.member.bitOffset) if expression.value.type.isIntegral else None
    kind = expression.value.type.canonicalType
    if not kind.isIntegral or not kind.hasFixedRange:
        return None
    if expression.kind == Is.ElementSelect:
        chosen = [expression.selector.constant]
    elif expression.selectionKind == ast.RangeSelectionKind.Simple:
        chosen = [expression.left.constant, expression.right.constant]
    else:
        base, width = expression.left.constant, expression.right.constant
        if base is None or width is None:
            return None
        up = expression.selectionKind == ast.RangeSelectionKind.IndexedUp
        first = int(base.value)
        chosen = [first, first + (int(width.value) - 1) * (1 if up else -1)]
    if None in chosen:
        return None
    numbers = [int(getattr(one, "value", one)) for one in chosen]
    bounds = kind.fixedRange
    step = kind.bitWidth // bounds.width
    falling = bounds.left >= bounds.right
    low = min(numbers) - bounds.right if falling else bounds.right - max(numbers)
    return low * step if 0 <= low < bounds.width else None


def _reads(source: Any) -> set[Part]:
    """What an expression mentions; a symbol by itself."""
    if not isinstance(source, ast.Expression):
        return {Part(source)}
    found: set[Part] = set()

    def look(node: Any) -> Any:
        if isinstance(node, ast.Expression) and node.kind in _SELECTIONS and node.type.bitWidth == 1:
            if bit := plain(node, 0):
                found.add(part_of(bit))
                return ast.VisitAction.Skip
        elif isinstance(node, ast.NamedValueExpression | ast.HierarchicalValueExpression):
            symbol: Any = node.symbol
            found.add(Part(symbol.internalSymbol if symbol.kind == Kind.ModportPort else symbol))
        return ast.VisitAction.Advance

    source.visit(look)
    return found


def _reads_of_bit(source: Any, index: int) -> set[Part]:
    """What bit `index` of an expression, or of a symbol, depends on."""
    if not isinstance(source, ast.Expression):
        return {part_of(Bit(source, index))}
    if bit := plain(source, index):
        return {part_of(bit)}
    expression: Any = source
    kind = expression.kind
    if (kind == Is.Conversion and index < expression.operand.type.bitWidth) or (
        kind == Is.UnaryOp and expression.op == ast.UnaryOperator.BitwiseNot
    ):
        return _reads_of_bit(expression.operand, index)
    if kind == Is.BinaryOp and expression.op in _BITWISE:
        return _reads_of_bit(expression.left, index) | _reads_of_bit(expression.right, index)
    return _reads(expression)


def _combinational(block: Any) -> bool:
    """Whether a process has no memory of its own: always_comb, or one that looks at levels alone."""
    if block.procedureKind in (ast.ProceduralBlockKind.AlwaysComb, ast.ProceduralBlockKind.AlwaysLatch):
        return True
    if block.procedureKind != ast.ProceduralBlockKind.Always or block.body.kind != ast.StatementKind.Timed:
        return False
    timing = block.body.timing
    events = timing.events if timing.kind == ast.TimingControlKind.EventList else [timing]
    return all(
        event.kind == ast.TimingControlKind.ImplicitEvent
        or (event.kind == ast.TimingControlKind.SignalEvent and event.edge not in _EDGES)
        for event in events
    )
