"""The drivers of a bit of an elaborated design, through ports, plain assignments and logic."""

from collections import Counter, defaultdict
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from typing import Any

from pyslang import ast

from workbench.hdl.instances import Origin
from workbench.hdl.verilog.expressions import Bit, Is, Kind, Part, part_of, plain, reads, reads_of_bit, slices

_AND = (ast.BinaryOperator.LogicalAnd, ast.BinaryOperator.BinaryAnd)
_PROCESSES = (
    ast.ProceduralBlockKind.Always,
    ast.ProceduralBlockKind.AlwaysComb,
    ast.ProceduralBlockKind.AlwaysFF,
    ast.ProceduralBlockKind.AlwaysLatch,
)
_EDGES = (ast.EdgeKind.PosEdge, ast.EdgeKind.NegEdge, ast.EdgeKind.BothEdges)
_SIGNAL = ast.TimingControlKind.SignalEvent
_MOST_STEPS = 1000  # through a loop of assignments


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
    """The drivers of every signal below an elaborated top. `makers` are the modules that make clocks of clocks."""

    def __init__(self, top: Any, makers: Collection[str] = ()) -> None:
        self._makers = makers
        self._made: dict[str, str] = {}  # which of them stands where
        self._drivers: dict[Any, list[_Driver]] = defaultdict(list)
        self._logic: dict[Any, dict[int | None, set[Part]]] = defaultdict(lambda: defaultdict(set))
        self._known: dict[Part, set[Part]] = {}
        self.combinational: list[Any] = []  # slang's processes without registers
        self.nameless: dict[str, Any] = {}  # generate blocks without a name: their syntax by path
        self._next: dict[Any, dict[int | None, set[Part]]] = defaultdict(lambda: defaultdict(set))  # through a register
        self._clocks: dict[Any, list[Bit]] = defaultdict(list)  # of registers
        self._inputs = {port.internalSymbol: port.name for port in top.body.portList
                        if port.kind == Kind.Port and port.internalSymbol is not None
                        and port.internalSymbol.type.bitWidth == 1}  # fmt: skip
        self._visit(top.body)

    def top_port(self, expression: Any) -> tuple[str, bool] | None:
        """The top's input of one bit that an expression is another name of, and whether inverted."""
        bit = plain(expression, 0)
        root = bit and self.root(bit)
        name = self._inputs.get(root.symbol) if root else None
        return (name, root.low) if root and name else None

    def root(self, bit: Bit) -> Bit:
        """The bit at which it is driven by more than a wire, an inverter or a port; of the top's inputs themselves."""
        for _ in range(_MOST_STEPS):
            before = next((self._before(bit, driver) for driver in self._of(bit)), None)
            if before is None:
                break
            bit = before
        return bit

    def wires(self, symbol: Any) -> list[Any]:
        """What drives a signal other than processes: an expression where it drives it whole, else None."""
        width = symbol.type.bitWidth
        return [
            d.source if isinstance(d.source, ast.Expression) and (d.low, d.width, d.offset) == (0, width, 0) else None
            for d in self._drivers.get(symbol, ())
        ]

    def input_name(self, symbol: Any) -> str:
        """The top's input that a symbol is, empty where it is none."""
        return self._inputs.get(symbol, "")

    def is_register(self, symbol: Any) -> bool:
        return symbol in self._next

    def terms(self, bit: Bit) -> list[Bit]:
        """The bits, by their roots, that must all be high for a bit to be; itself where it is no such AND."""
        root = self.root(bit)
        driver = next(iter(self._of(root)), None)
        if root.low or driver is None or not isinstance(driver.source, ast.Expression):
            return [root]
        bits = self._anded(driver.source, driver.index(root.index))
        return [root] if bits is None else bits

    def reached(self, start: Part, ends: set[Part]) -> set[Part]:
        """Which of `ends` a part of a signal depends on without a register, or another of them, between; all of a
        signal where it depends on it as a whole and some of its bits are ends."""
        several = {end.symbol for end in ends}
        parts: set[Part] = set()
        seen, open_ = {start}, [start]
        while open_:
            for source in self.sources(open_.pop()) - seen:
                seen.add(source)
                if source in ends or (source.bit is None and source.symbol in several):
                    parts.add(source)
                else:
                    open_.append(source)
        return parts

    def clocks(self, start: Bit) -> Counter[str]:
        """The clocks of the registers that a bit depends on with none between, with how many there are: inputs of the
        top, or nets within it, whose names have a dot."""
        uses_of: Counter[str] = Counter()
        seen, open_ = {part_of(start)}, [part_of(start)]
        while open_:
            part = open_.pop()
            for clock in self._clocks.get(part.symbol, ()):
                root = self.root(clock)
                uses_of[self._inputs.get(root.symbol) or net_name(root)] += 1
            more = self.sources(part) - seen
            seen |= more
            open_ += more
        return uses_of

    def origin(self, clock: Any) -> Origin:
        """What an expression that is no other name of an input is made of, as a clock."""
        bit = plain(clock, 0)
        open_ = {part_of(self.root(bit))} if bit else set(reads(clock))
        inputs: set[str] = set()
        registers: list[Bit] = []
        makers: dict[str, None] = {}
        seen: set[Part] = set()
        divided = False
        while open_ or (registers and not inputs):
            if not open_:  # of registers alone: what they are clocked by
                open_, registers, divided = {part_of(self.root(one)) for one in registers} - seen, [], True
                continue
            part = open_.pop()
            seen.add(part)
            if name := self._inputs.get(part.symbol, ""):
                inputs.add(name)
            if self._made and (name := self._made.get(str(part.symbol.hierarchicalPath).rpartition(".")[0])):
                makers[name] = None
            registers += self._clocks.get(part.symbol, ())
            open_ |= self.sources(part) - seen
        return Origin(frozenset(inputs), next(iter(makers), ""), divided, net_name(self.root(bit)) if bit else "")

    def without_effect(self, ends: set[Any]) -> Iterator[Any]:
        """The signals on which none of `ends` depends, now or later: counters that only tell the time, results that
        nobody waits for."""
        needed, open_ = set(ends), list(ends)
        while open_:
            symbol = open_.pop()
            before = self.sources(Part(symbol)).union(*self._next.get(symbol, {}).values())
            more = {part.symbol for part in before} - needed
            needed |= more
            open_ += more
        return (symbol for symbol in {*self._next, *self._logic, *self._drivers} if symbol not in needed)

    def sources(self, part: Part) -> set[Part]:
        """What a part is made of, without a register between."""
        if part not in self._known:
            symbol, bit = part
            whole, logic = bit is None and symbol.type.bitWidth != 1, self._logic.get(symbol, {})
            parts = set().union(*(names for of, names in logic.items() if bit is None or of in (bit, None)))
            if whole:
                parts = parts.union(*(reads(driver.source) for driver in self._drivers.get(symbol, ())))
            else:
                own = Bit(symbol, bit or 0)
                parts = parts.union(*(reads_of_bit(d.source, d.index(own.index)) for d in self._of(own)))
            self._known[part] = parts
        return self._known[part]

    def _of(self, bit: Bit) -> Iterator[_Driver]:
        return (d for d in self._drivers.get(bit.symbol, ()) if d.low <= bit.index < d.low + d.width)

    def _before(self, bit: Bit, driver: _Driver) -> Bit | None:
        index = driver.index(bit.index)
        if not isinstance(driver.source, ast.Expression):
            return Bit(driver.source, index, bit.low)
        before = plain(driver.source, index)
        return before and before.turned(bit.low)

    def _anded(self, expression: Any, index: int) -> list[Bit] | None:
        while expression.kind == Is.Conversion and index < expression.operand.type.bitWidth:
            expression = expression.operand
        if expression.kind != Is.BinaryOp or expression.op not in _AND:
            return None
        bits: list[Bit] = []
        for side in (expression.left, expression.right):
            if expression.op == ast.BinaryOperator.LogicalAnd and side.type.bitWidth != 1:
                return None
            bit = plain(side, index)
            more = self.terms(bit) if bit else self._anded(side, index)
            if more is None:
                return None
            bits += more
        return bits

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
                if _combinational(member):
                    self.combinational.append(member)
                    self._statement(member.body, frozenset(), self._logic)
                else:
                    self._registers(member.body)

    def _instance(self, instance: Any) -> None:
        if instance.definition.name in self._makers:
            self._made[str(instance.hierarchicalPath)] = instance.definition.name
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

    def _registers(self, body: Any) -> None:
        """A clocked process: its clock is the event that is not asked for in it."""
        assigned: dict[Any, dict[int | None, set[Part]]] = defaultdict(lambda: defaultdict(set))
        self._statement(body, frozenset(), assigned)
        events = [bit for event in _events(body) if event.kind == _SIGNAL and (bit := plain(event.expr, 0))]
        for symbol, bits in assigned.items():
            for index, sources in bits.items():
                self._next[symbol][index] |= sources
            asked = {part.symbol for sources in bits.values() for part in sources}
            self._clocks[symbol] += [event for event in events if event.symbol not in asked][:1] or events[:1]

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
            asked = asked.union(*(reads(condition.expr) for condition in statement.conditions))
            self._statement(statement.ifTrue, asked, into)
            if statement.ifFalse is not None:
                self._statement(statement.ifFalse, asked, into)
        elif kind == of.Case:
            asked = asked.union(
                reads(statement.expr), *(reads(e) for item in statement.items for e in item.expressions)
            )
            for one in (*(item.stmt for item in statement.items), statement.defaultCase):
                if one is not None:
                    self._statement(one, asked, into)
        elif kind == of.ForLoop:
            self._statement(statement.body, asked, into)
        elif kind == of.ExpressionStatement and statement.expr.kind == Is.Assignment:
            sources = asked | reads(statement.expr.right)
            for symbol, bit in reads(statement.expr.left):
                into[symbol][bit] |= sources


def _events(body: Any) -> list[Any]:
    """What a process waits for."""
    if body.kind != ast.StatementKind.Timed:
        return []
    timing = body.timing
    return list(timing.events) if timing.kind == ast.TimingControlKind.EventList else [timing]


def _combinational(block: Any) -> bool:
    """Whether a process has no memory of its own: always_comb, or one that looks at levels alone."""
    if block.procedureKind in (ast.ProceduralBlockKind.AlwaysComb, ast.ProceduralBlockKind.AlwaysLatch):
        return True
    events = _events(block.body) if block.procedureKind == ast.ProceduralBlockKind.Always else []
    return bool(events) and all(
        event.kind == ast.TimingControlKind.ImplicitEvent or (event.kind == _SIGNAL and event.edge not in _EDGES)
        for event in events
    )


def net_name(root: Bit) -> str:
    """What tells the net that a bit is from others."""
    return f"{root.symbol.hierarchicalPath}{'' if root.symbol.type.bitWidth == 1 else f'[{root.index}]'}"
