"""Finds addresses that a design compares with constants, and checks them against the counters' addresses.

The design sees what is read there too, but its answers are replaced: so its own registers had better be elsewhere.
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from pyslang import SVInt, ast

from workbench.hdl.verilog.design import Design
from workbench.hdl.verilog.expressions import Bit, Is, Kind, plain, slices
from workbench.hdl.verilog.nets import Nets
from workbench.model.diagnostic import Diagnostic, Severity
from workbench.model.read_out import ReadOut

_EQUAL = (ast.BinaryOperator.Equality, ast.BinaryOperator.CaseEquality, ast.BinaryOperator.WildcardEquality)
_ANDS = (ast.BinaryOperator.LogicalAnd, ast.BinaryOperator.BinaryAnd)
_LESS, _LESS_EQUAL = ast.BinaryOperator.LessThan, ast.BinaryOperator.LessThanEqual
_TURNED = {
    ast.BinaryOperator.GreaterThan: _LESS, ast.BinaryOperator.GreaterThanEqual: _LESS_EQUAL,
    _LESS: ast.BinaryOperator.GreaterThan, _LESS_EQUAL: ast.BinaryOperator.GreaterThanEqual,
}  # fmt: skip
_SIGNS = ("$signed", "$unsigned")
_MOST_STEPS = 16  # registers on the way from the port
_HINT = "There the host reads counters instead of the design's answer: choose a hardware.read_out that it does not use."


def addresses_answered(design: Design, names: Iterable[str], read_out: ReadOut) -> Iterator[Diagnostic]:
    """A warning at each comparison that holds for addresses of the read-out; where there is none, a note at that which
    holds for the smallest region in which these are only a part. `names` are the top's inputs with the addresses."""
    wanted = set(names)
    if design.top is None or not wanted:
        return
    inputs = {
        port.internalSymbol
        for port in design.top.body.portList
        if port.kind == Kind.Port and port.internalSymbol is not None and port.name in wanted
    }
    first_asked: dict[tuple[int, int], Any] = {}  # where a region is asked for first, by its size and address
    compared = _Compared(design.top, design.nets, inputs)
    for location, bits in compared.addresses():
        if (region := _region(bits, read_out)) is not None:
            first_asked.setdefault((1 << min(bits), region), location)
    for location, first, last, compared_bits in compared.ranges():
        if compared_bits >= read_out.last.bit_length() and first <= read_out.last and last >= read_out.first:
            first_asked.setdefault((last - first + 1, first), location)
    fine = {of: place for of, place in first_asked.items() if of[0] <= read_out.last - read_out.first + 1}
    for size, region in fine or sorted(first_asked)[:1]:
        path, line, column = design.place(first_asked[size, region])
        there = f"{region:#x}" if size == 1 else f"{region:#x} to {region + size - 1:#x}"
        message = f"the design itself answers at {there}, by a comparison of the address; counters are read at "
        message += f"{read_out.first:#x} to {read_out.last:#x}"
        severity = Severity.WARNING if fine else Severity.NOTE
        yield Diagnostic(message, _HINT, severity, design.name_of(path), line, column)


def _region(bits: Mapping[int, bool], read_out: ReadOut) -> int | None:
    """The first address of the read-out's that has these bits, or that of the region around that which they tell; None
    where there is none, or they do not tell it from others."""
    low = min(bits)
    if any(bit not in bits for bit in range(low, read_out.last.bit_length())):
        return None
    mask = sum(1 << bit for bit in bits)
    wanted = sum(1 << bit for bit, high in bits.items() if high)
    regions = (n << low for n in range(read_out.first >> low, (read_out.last >> low) + 1))
    return next((region for region in regions if region & mask == wanted), None)


class _Compared:
    """What is compared below a top, and registers that hold what others had."""

    def __init__(self, top: Any, nets: Nets, inputs: set[Any]) -> None:
        self._nets, self._inputs = nets, inputs
        self._context = ast.EvalContext(top)
        #: What signals are assigned: lowest bit, width, and the expression with its lowest bit that is meant.
        self._assigned: dict[Any, list[tuple[int, int, Any, int]]] = defaultdict(list)
        self._comparisons: list[tuple[Any, Any, dict[int, bool]]] = []
        self._related: list[
            list[tuple[Any, Any, int, int]]
        ] = []  # what is to hold at once: where, and from what to what
        top.visit(self._look)

    def addresses(self) -> Iterator[tuple[Any, dict[int, bool]]]:
        """Comparisons with parts of an address: where, and which of its bits are to be high or low."""
        for location, expression, wanted in self._comparisons:
            roots = self._roots(expression)
            if any(high for index, high in wanted.items() if index >= len(roots)):
                continue
            bits = {root.index: wanted[n] ^ root.low for n, root in enumerate(roots) if n in wanted}
            if bits:
                yield location, bits

    def ranges(self) -> Iterator[tuple[Any, int, int, int]]:
        """Comparisons by which an address is within a range: where, its first and last address, and how many bits of
        the address tell it."""
        for related in self._related:
            within: dict[tuple[Bit, ...], tuple[Any, int, int]] = {}
            for location, expression, low, high in related:
                roots = tuple(self._roots(expression))
                place, first, last = within.get(roots, (location, 0, (1 << len(roots)) - 1))
                within[roots] = place, max(first, low), min(last, high)
            for roots, (location, first, last) in within.items():
                lowest = roots[0].index if roots else 0
                in_order = all(root.index == lowest + n and not root.low for n, root in enumerate(roots))
                if in_order and 0 <= last - first < (1 << len(roots)) - 1:
                    yield location, first << lowest, ((last + 1) << lowest) - 1, lowest + len(roots)

    def _roots(self, expression: Any) -> list[Bit]:
        """The addresses' bits that an expression is, above which it has zeros; none where it is something else too."""
        expression = self._whole(expression, (Is.Concatenation,))
        bits = [plain(expression, index) for index in range(expression.type.bitWidth)]
        while bits and bits[-1] is None:
            bits.pop()
        roots = [self._root(bit) if bit is not None else None for bit in bits]
        known = [root for root in roots if root is not None and root.symbol in self._inputs]
        return known if len(known) == len(bits) else []

    def _root(self, bit: Bit) -> Bit | None:
        """Where a bit comes from, through registers that hold nothing else but constants."""
        for _ in range(_MOST_STEPS):
            bit = self._nets.root(bit)
            if bit.symbol in self._inputs:
                return bit
            held = self._held(bit)
            if len(held) != 1 or (before := next(iter(held))) is None:
                return None
            bit = before.turned(bit.low)
        return None

    def _look(self, node: Any) -> Any:
        if isinstance(node, ast.GenerateBlockSymbol) and node.isUninstantiated:
            return ast.VisitAction.Skip
        if isinstance(node, ast.BinaryExpression) and node.op in _EQUAL:
            for sides in ((node.left, node.right), (node.right, node.left)):
                self._compare(*sides)
        elif isinstance(node, ast.BinaryExpression) and (node.op in _ANDS or node.op in _TURNED):
            related = []
            for one in self._conjuncts(node):
                if (relation := self._relation(one)) is not None:
                    related.append(relation)
                elif one is not node:
                    one.visit(self._look)
            self._related += [related] * bool(related)
            return ast.VisitAction.Skip
        elif isinstance(node, ast.InsideExpression):
            for expression in node.rangeList:
                self._within(node.left, expression)
        elif isinstance(node, ast.CaseStatement):
            for item in node.items:
                for expression in item.expressions:
                    self._within(node.expr, expression)
        elif isinstance(node, ast.AssignmentExpression):
            self._assign(node)
        return ast.VisitAction.Advance

    def _within(self, expression: Any, choice: Any) -> None:
        if choice.kind != Is.ValueRange:
            self._compare(expression, choice)
        elif (low := self._constant(choice.left)) is not None and (high := self._constant(choice.right)) is not None:
            self._related.append([(choice.left.sourceRange.start, expression, low, high)])

    def _compare(self, expression: Any, constant: Any) -> None:
        if expression.type.bitWidth > 1 and (value := self._value(constant)) is not None:
            digits = {index: str(value[index]) for index in range(value.bitWidth)}
            wanted = {index: digit == "1" for index, digit in digits.items() if digit in "01"}
            self._comparisons.append((constant.sourceRange.start, expression, wanted))

    def _conjuncts(self, node: Any) -> Iterator[Any]:
        """What is to hold at once for an expression to hold."""
        if isinstance(node, ast.BinaryExpression) and node.op in _ANDS and node.type.bitWidth == 1:
            for side in (node.left, node.right):
                yield from self._conjuncts(self._whole(side, (Is.BinaryOp,)))
        else:
            yield node

    def _whole(self, expression: Any, kinds: tuple[Any, ...]) -> Any:
        """What an expression is without conversions; of a net, what of these kinds drives it."""
        for _ in range(_MOST_STEPS):
            if expression.kind == Is.Conversion:
                expression = expression.operand
            elif _is_sign(expression):
                expression = expression.arguments[0]
            elif expression.kind == Is.Concatenation and self._constant(expression.operands[0]) == 0:
                if len(expression.operands) != 2:
                    break
                expression = expression.operands[1]  # with zeros above
            elif expression.kind == Is.NamedValue:
                sources = self._nets.wires(expression.symbol)
                if len(sources) != 1 or sources[0] is None or sources[0].kind not in kinds:
                    break
                expression = sources[0]
            else:
                break
        return expression

    def _relation(self, node: Any) -> tuple[Any, Any, int, int] | None:
        """What lies between which numbers where a comparison holds."""
        if not isinstance(node, ast.BinaryExpression) or node.op not in _TURNED:
            return None
        for expression, constant, op in ((node.left, node.right, node.op), (node.right, node.left, _TURNED[node.op])):
            number = self._constant(constant)
            most = (1 << constant.type.bitWidth) - 1
            if number is None or (constant.type.isSigned and number > most >> 1):
                continue
            place = constant.sourceRange.start
            if op in (_LESS, _LESS_EQUAL):
                return place, expression, 0, number - (op == _LESS)
            return place, expression, number + (op == ast.BinaryOperator.GreaterThan), most
        return None

    def _assign(self, node: Any) -> None:
        if self._constant(node.right) is not None:
            return
        for symbol, low, width, offset in slices(node.left):
            self._assigned[symbol].append((low, width, node.right, offset))

    def _held(self, bit: Bit) -> set[Bit | None]:
        """What a signal's bit may hold. Asked of few: a design of long vectors assigns millions of bits."""
        return {
            plain(value, offset + bit.index - low)
            for low, width, value, offset in self._assigned.get(bit.symbol, ())
            if low <= bit.index < low + width
        }

    def _constant(self, expression: Any) -> int | None:
        value = self._value(expression)
        return None if value is None or value.hasUnknown else int(value) & ((1 << value.bitWidth) - 1)

    def _value(self, expression: Any) -> Any:
        """A constant as bits; None where it is a text, a real number or no constant."""
        value = expression.constant if expression.constant is not None else expression.eval(self._context)
        return value.value if value and isinstance(value.value, SVInt) else None


def _is_sign(expression: Any) -> bool:
    return expression.kind == Is.Call and expression.subroutineName in _SIGNS
