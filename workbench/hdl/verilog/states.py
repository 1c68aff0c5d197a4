"""Finds state registers and the conditions of branches, from which marks are proposed.

A state register is a variable that a clocked block assigns constants to, itself or through combinational logic, and
that some case or comparison asks for one constant after another. A value of it that nothing assigns, in any instance,
where every assignment is understood, can never be reached.
"""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from pyslang import ast

from workbench.hdl.blocks import SourceBlock
from workbench.hdl.instances import Instance, Key
from workbench.hdl.reading import Asked
from workbench.hdl.verilog.design import Design
from workbench.hdl.verilog.expressions import Bit, Is, Kind, plain, reads
from workbench.hdl.verilog.order import plain_text
from workbench.hdl.verilog.places import Places
from workbench.hdl.verilog.pointed import bit_named
from workbench.model.scan import StateRegister, StateValue, Term
from workbench.model.streams import Stream

_MOST_BITS = 64
_CHANGES = tuple(
    getattr(ast.UnaryOperator, name) for name in ("Preincrement", "Predecrement", "Postincrement", "Postdecrement")
)
_AND = (ast.BinaryOperator.LogicalAnd, ast.BinaryOperator.BinaryAnd)
_OR = (ast.BinaryOperator.LogicalOr, ast.BinaryOperator.BinaryOr)
_EQUAL = (ast.BinaryOperator.Equality, ast.BinaryOperator.CaseEquality)
_UNEQUAL = (ast.BinaryOperator.Inequality, ast.BinaryOperator.CaseInequality)
_NOT = (ast.UnaryOperator.LogicalNot, ast.UnaryOperator.BitwiseNot)


@dataclass(frozen=True)
class States:
    """`asked` is by the block's key and the offset at which the branch's statement begins."""

    registers: tuple[StateRegister, ...] = ()
    asked: Mapping[tuple[Key, int], Asked] = field(default_factory=dict)

    def of(self, block: SourceBlock) -> list[Asked]:
        """What each of a block's branches asks for."""
        places = ((block.key, int(arm.statement.sourceRange.start.offset)) for arm in block.arms)
        return [self.asked.get(place, Asked()) for place in places]


def find_states(design: Design, top: Instance | None, streams: Sequence[Stream]) -> States:
    """The state registers of an elaborated design. Of modules with several instances the branches are those of the
    first."""
    if design.top is None or top is None:
        return States()
    instances = {instance.path: instance for instance in top.walk()}
    ends = _ends(design, streams)
    places = Places(instances)
    asked: dict[tuple[Key, int], Asked] = {}
    registers: dict[tuple[str, str], StateRegister] = {}
    looked: set[tuple[object, ...]] = set()
    for instance in instances.values():
        values = tuple(str(p.value) for p in instance.body.parameters if p.kind == Kind.Parameter)
        same = (instance.module, instance.body.definition, *values)
        if same not in looked:
            looked.add(same)
            module = _Module(design, instance, places, ends)
            for register in module.registers():
                key = (register.block, register.name)
                registers[key] = _joined(registers[key], register) if key in registers else register
            for place, one in module.asked.items():
                asked.setdefault(place, one)
    return States(tuple(registers.values()), asked)


def _ends(design: Design, streams: Sequence[Stream]) -> dict[tuple[Any, int], int]:
    """Which stream's valid or ready a bit is, by its root."""
    ends: dict[tuple[Any, int], int] = {}
    for number, stream in enumerate(streams):
        for name in (stream.valid, stream.ready):
            if bit := bit_named(design.top, name):
                root = design.nets.root(bit)
                ends.setdefault((root.symbol, root.index), number)
    return ends


def _joined(one: StateRegister, other: StateRegister) -> StateRegister:
    """The register of a module that is instantiated with different parameters: a value is reached if any of them
    reaches it."""
    theirs = {value.name: value for value in other.values}
    both = [replace(v, reached=v.reached or (v.name in theirs and theirs[v.name].reached)) for v in one.values]
    known = {value.name for value in one.values}
    return replace(one, values=(*both, *(v for v in other.values if v.name not in known)))


@dataclass
class _Value:
    name: str
    condition: str
    line: int = 0
    taken: list[tuple[Any, Key]] = field(default_factory=list)  # statements for it, with their processes


class _Module:
    """One module as it is elaborated: what is assigned in it, and what its branches ask for."""

    def __init__(self, design: Design, instance: Instance, places: Places, ends: Mapping[tuple[Any, int], int]) -> None:
        self._design, self._instance, self._places, self._ends = design, instance, places, ends
        self._context = ast.EvalContext(ast.ASTContext(instance.body, ast.LookupLocation.max))
        self._blocks = {use.source.key: use.source for use in instance.blocks}
        self._given: dict[Any, list[Any]] = defaultdict(list)  # expressions; None: something else
        self._by: dict[Any, set[Key]] = defaultdict(set)  # clocked blocks that assign a symbol
        self._values: dict[Any, dict[int, _Value]] = defaultdict(dict)  # that are asked for
        self._branches: dict[tuple[Key, int], tuple[Any, tuple[int, ...]]] = {}
        self._arms: dict[Any, list[Any]] = defaultdict(list)  # statements that are taken for a symbol's values
        self._terms: dict[tuple[Key, int], tuple[Term, ...]] = {}
        processes = list(_processes(instance.body))
        for process in processes:
            self._assignments(process)
        for process in processes:
            if process.kind == Kind.ProceduralBlock:
                self._statement(process.body, self._key(process))
        self._states = {symbol: known for symbol in self._values if (known := self._known(symbol)) is not None}

    @property
    def asked(self) -> dict[tuple[Key, int], Asked]:
        asked = {place: Asked(terms=terms) for place, terms in self._terms.items() if terms}
        for place, (symbol, numbers) in self._branches.items():
            if symbol in self._states:
                names = tuple(self._values[symbol][number].name for number in numbers)
                asked[place] = replace(asked.get(place, Asked()), register=symbol.name, values=names)
        return asked

    def registers(self) -> Iterator[StateRegister]:
        for symbol, (given, whole) in self._states.items():
            block = self._blocks[next(iter(self._by[symbol]))]
            path, line, _ = self._design.place(symbol.location)
            first = () if symbol.initializer is not None else (0,)  # with which simulators begin
            reached = {*given, *first}
            values = [
                StateValue(value.name, value.condition, value.line, not whole or number in reached, self._within(value))
                for number, value in self._values[symbol].items()
            ]
            values += [
                StateValue(name, f"{symbol.name} == {text}")
                for number, (name, text) in given.items()
                if number not in self._values[symbol]
            ]
            yield StateRegister(
                symbol.name, block.module, f"{block.module}.{block.label}", self._design.name_of(path), line,
                tuple(values),
            )  # fmt: skip

    def _within(self, value: _Value) -> tuple[Term, ...]:
        """What conditions ask for in the branches that are taken for a value."""
        terms: dict[Term, None] = {}
        for statement, key in value.taken:

            def look(node: Any, key: Key = key) -> Any:
                if isinstance(node, ast.ConditionalStatement) and len(node.conditions) == 1:
                    terms.update(dict.fromkeys(self._terms.get(self._place(node.ifTrue, key), ())))
                return ast.VisitAction.Advance

            statement.visit(look)
        return tuple(terms)

    # ---- what is assigned

    def _known(self, symbol: Any) -> tuple[dict[int, tuple[str, str]], bool] | None:
        """The constants that a state register is given, by their names and texts, and whether nothing else is; None
        where it is no state register."""
        if symbol.kind != Kind.Variable or not symbol.type.isIntegral or symbol.type.bitWidth > _MOST_BITS:
            return None
        if len(self._by[symbol]) != 1 or len(self._values[symbol]) < 2:
            return None
        given: dict[int, tuple[str, str]] = {}
        through: set[Any] = set()
        whole = self._sources(symbol, given, through)
        if len(given) < 2 or not any(_assigns(arm, through) for arm in self._arms[symbol]):
            return None
        return given, whole

    def _sources(self, symbol: Any, given: dict[int, tuple[str, str]], seen: set[Any]) -> bool:
        """Add the constants that a symbol is given; False where it is given something else too."""
        seen.add(symbol)
        sources = [*self._given.get(symbol, ()), *self._design.nets.wires(symbol)]
        if getattr(symbol, "initializer", None) is not None:
            sources.append(symbol.initializer)
        known = bool(sources)
        for source in sources:
            known &= source is not None and self._source(source, given, seen)
        return known

    def _source(self, expression: Any, given: dict[int, tuple[str, str]], seen: set[Any]) -> bool:
        if expression.kind == Is.ConditionalOp:
            return self._source(expression.left, given, seen) & self._source(expression.right, given, seen)
        number = self._constant(expression)
        if number is not None:
            name, text = _name(expression)
            given.setdefault(number, (name or f"value_{number}", text))
            return True
        inner = _unwrapped(expression)
        if inner.kind != Is.NamedValue or inner.symbol.kind not in (Kind.Variable, Kind.Net):
            return False
        return inner.symbol in seen or self._sources(inner.symbol, given, seen)

    def _assignments(self, process: Any) -> None:
        key = self._key(process) if process.kind == Kind.ProceduralBlock else None

        def give(target: Any, source: Any) -> None:
            whole = _unwrapped(target)
            if whole.kind == Is.NamedValue:
                symbols = [whole.symbol]
            else:
                source, symbols = None, [part.symbol for part in reads(target)]
            for symbol in symbols:
                self._given[symbol].append(source)
                if key in self._blocks:
                    self._by[symbol].add(key)

        def look(node: Any) -> Any:
            if isinstance(node, ast.AssignmentExpression):
                plainly = not node.isCompound and node.right.kind != Is.EmptyArgument
                give(node.left, node.right if plainly else None)
            elif isinstance(node, ast.UnaryExpression) and node.op in _CHANGES:
                give(node.operand, None)
            return ast.VisitAction.Advance

        process.visit(look)

    def _constant(self, expression: Any) -> int | None:
        value = expression.constant if expression.constant is not None else expression.eval(self._context)
        if not value or value.isContainer() or value.hasUnknown():
            return None
        try:
            return int(value.value) & ((1 << expression.type.bitWidth) - 1)
        except (TypeError, ValueError):  # a text, a real number
            return None

    # ---- what is asked for

    def _statement(self, statement: Any, key: Key) -> None:
        """Every branch of a process."""

        def look(node: Any) -> Any:
            if isinstance(node, ast.CaseStatement):
                self._case(node, key)
            elif isinstance(node, ast.ConditionalStatement) and len(node.conditions) == 1:
                self._if(node, key)
            return ast.VisitAction.Advance

        statement.visit(look)

    def _case(self, case: Any, key: Key) -> None:
        of = _unwrapped(case.expr)
        one_hot = self._constant(case.expr) == 1
        for item in case.items:
            values = [self._one_hot(e) if one_hot else self._compared(of, e) for e in item.expressions]
            self._taken(item.stmt, key, [value for value in values if value], len(values))

    def _if(self, statement: Any, key: Key) -> None:
        condition = statement.conditions[0].expr
        values = [self._equal(one) for one in _flat(condition, _OR)]
        self._taken(statement.ifTrue, key, [value for value in values if value], len(values))
        self._terms[self._place(statement.ifTrue, key)] = tuple(self._needed(condition, True, key))
        if statement.ifFalse is not None:
            self._terms[self._place(statement.ifFalse, key)] = tuple(self._needed(condition, False, key))

    def _taken(self, statement: Any, key: Key, values: Sequence[tuple[Any, int, str, str]], whole: int) -> None:
        """A branch is taken for these values of a register, if all that it is taken for are."""
        if not values or len(values) != whole or len({symbol for symbol, *_ in values}) != 1:
            return
        line = self._design.place(statement.sourceRange.start)[1]
        symbol = values[0][0]
        for _, number, name, condition in values:
            value = self._values[symbol].setdefault(number, _Value(name, condition, line))
            value.taken.append((statement, key))
        self._arms[symbol].append(statement)
        self._branches[self._place(statement, key)] = (symbol, tuple(dict.fromkeys(v[1] for v in values)))

    def _compared(self, of: Any, expression: Any) -> tuple[Any, int, str, str] | None:
        """(symbol, number, its name, the condition) of a register that is held against a constant."""
        number = self._constant(expression) if of.kind == Is.NamedValue else None
        if number is None:
            return None
        name, text = _name(expression)
        return of.symbol, number, name or f"{of.symbol.name}_{number}", f"{of.symbol.name} == {text}"

    def _equal(self, condition: Any) -> tuple[Any, int, str, str] | None:
        if condition.kind != Is.BinaryOp or condition.op not in _EQUAL:
            return self._one_hot(condition)
        sides = (condition.left, condition.right)
        return self._compared(_unwrapped(sides[0]), sides[1]) or self._compared(_unwrapped(sides[1]), sides[0])

    def _one_hot(self, expression: Any) -> tuple[Any, int, str, str] | None:
        """A bit of a register that holds one bit for each state."""
        inner = _unwrapped(expression)
        bit = plain(inner, 0) if inner.kind == Is.ElementSelect else None
        if bit is None or bit.low or inner.value.kind != Is.NamedValue or inner.value.type.bitWidth < 2:
            return None
        name, text = _name(inner.selector)
        register = bit.symbol.name
        return bit.symbol, 1 << bit.index, name or f"{register}_{bit.index}", f"{register}[{text}]"

    def _needed(self, condition: Any, high: bool, key: Key, seen: frozenset[Any] = frozenset()) -> Iterator[Term]:
        """The signals that must be high, or low, for a condition of a block (`key`) to hold (`high`) or not to; behind
        each those that it is made of."""
        condition = _unwrapped(condition)
        if condition.kind == Is.UnaryOp and condition.op in _NOT and condition.operand.type.bitWidth == 1:
            yield from self._needed(condition.operand, not high, key, seen)
        elif condition.kind == Is.BinaryOp and condition.op in (_AND if high else _OR):
            yield from self._needed(condition.left, high, key, seen)
            yield from self._needed(condition.right, high, key, seen)
        elif condition.kind == Is.BinaryOp and condition.op in _EQUAL + _UNEQUAL and condition.left.type.bitWidth == 1:
            number = self._constant(condition.right)
            if number is not None:
                same = (condition.op in _EQUAL) == high
                yield from self._needed(condition.left, same == bool(number), key, seen)
        elif condition.type.bitWidth == 1 and (bit := plain(condition, 0)):
            root = self._design.nets.root(bit)
            yield self._term(bit, root, high, key)
            sources = self._design.nets.wires(root.symbol) if root.symbol.type.bitWidth == 1 else []
            if len(sources) == 1 and sources[0] is not None and root.symbol not in seen:
                yield from self._needed(sources[0], high ^ root.low, key, seen | {root.symbol})

    def _term(self, bit: Bit, root: Bit, high: bool, key: Key) -> Term:
        driver = self._places.of(root.symbol)
        by = self._by.get(root.symbol, set())
        if driver == self._instance.path and len(by) == 1 and key not in by:  # another block of the same module
            driver = next(use.path for use in self._instance.blocks if use.source.key in by)
        port = "" if driver else self._design.nets.input_name(root.symbol)
        stream = self._ends.get((root.symbol, root.index), -1)
        return Term(str(bit.symbol.name), high ^ bit.low, driver, port, stream)

    def _key(self, process: Any) -> Key:
        location = process.syntax.getFirstToken().location if process.syntax is not None else process.location
        path, _, _ = self._design.place(location)
        return str(path), int(self._design.manager.getFullyExpandedLoc(location).offset)

    def _place(self, statement: Any, key: Key) -> tuple[Key, int]:
        """Where it is written. (slang's own place of a `begin` with one statement is that statement's.)"""
        written = statement.syntax if statement.syntax is not None else statement
        return key, int(self._design.manager.getFullyExpandedLoc(written.sourceRange.start).offset)


def _processes(scope: Any) -> Iterator[Any]:
    """Processes, functions and tasks of a module, generate blocks included."""
    for member in scope:
        if member.kind in (Kind.ProceduralBlock, Kind.Subroutine):
            yield member
        elif member.kind == Kind.GenerateBlock and not member.isUninstantiated:
            yield from _processes(member)
        elif member.kind == Kind.GenerateBlockArray:
            for entry in member.entries:
                yield from _processes(entry)


def _assigns(statement: Any, symbols: set[Any]) -> bool:
    """Whether a statement assigns one of some symbols: what a state machine does in its states."""
    assigns = False

    def look(node: Any) -> Any:
        nonlocal assigns
        if isinstance(node, ast.AssignmentExpression):
            target = _unwrapped(node.left)
            assigns |= target.kind == Is.NamedValue and target.symbol in symbols
        return ast.VisitAction.Advance

    statement.visit(look)
    return assigns


def _unwrapped(expression: Any) -> Any:
    while expression.kind == Is.Conversion:
        expression = expression.operand
    return expression


def _flat(expression: Any, operators: Sequence[Any]) -> Iterator[Any]:
    expression = _unwrapped(expression)
    if expression.kind == Is.BinaryOp and expression.op in operators:
        yield from _flat(expression.left, operators)
        yield from _flat(expression.right, operators)
    else:
        yield expression


def _name(expression: Any) -> tuple[str, str]:
    """What a constant is called (empty for a number), and its text."""
    inner = _unwrapped(expression)
    text = plain_text(str(inner.syntax)) if inner.syntax is not None else ""
    return (str(inner.symbol.name), text) if inner.kind == Is.NamedValue else ("", text)
