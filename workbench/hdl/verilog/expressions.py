"""The bits that expressions of an elaborated design name.

A bit is (symbol, index from its least significant one, whether inverted); symbols are slang's, one for each instance.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple

from pyslang import ast

Kind = ast.SymbolKind
Is = ast.ExpressionKind
_NOT = (ast.UnaryOperator.LogicalNot, ast.UnaryOperator.BitwiseNot)
_BITWISE = (ast.BinaryOperator.BinaryAnd, ast.BinaryOperator.BinaryOr, ast.BinaryOperator.BinaryXor)
_SELECTIONS = (Is.ElementSelect, Is.RangeSelect, Is.MemberAccess)
_SIGNALS = (Kind.Net, Kind.Variable)


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
    """The bit of a signal that bit `index` of an expression just names, or of a symbol; None where it is more than
    that."""
    if isinstance(expression, ast.Symbol):
        return Bit(getattr(expression, "internalSymbol", expression), index)
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
        bit = plain(expression.operand, index)
        return bit and bit.turned()
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


def reads(source: Any) -> set[Part]:
    """What an expression mentions; a symbol by itself."""
    if not isinstance(source, ast.Expression):
        return {Part(source)}
    parts: set[Part] = set()

    def look(node: Any) -> Any:
        if isinstance(node, ast.Expression) and node.kind in _SELECTIONS and node.type.bitWidth == 1:
            if bit := plain(node, 0):
                parts.add(part_of(bit))
                return ast.VisitAction.Skip
        elif isinstance(node, ast.NamedValueExpression | ast.HierarchicalValueExpression):
            symbol: Any = node.symbol
            parts.add(Part(symbol.internalSymbol if symbol.kind == Kind.ModportPort else symbol))
        return ast.VisitAction.Advance

    source.visit(look)
    return parts


def reads_of_bit(source: Any, index: int) -> set[Part]:
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
        return reads_of_bit(expression.operand, index)
    if kind == Is.BinaryOp and expression.op in _BITWISE:
        return reads_of_bit(expression.left, index) | reads_of_bit(expression.right, index)
    return reads(expression)


def literal_of(parameter: Any) -> str:
    """A parameter's value as Verilog writes it."""
    value, kind = parameter.value.value, parameter.type
    if kind.isString or kind.isFloating:
        return quoted(str(value)) if kind.isString else repr(float(value))
    if value.hasUnknown or kind.bitWidth <= 32:
        return str(value)
    return f"{kind.bitWidth}'h{int(value) & ((1 << kind.bitWidth) - 1):x}"  # slang cuts long ones short


def quoted(text: str) -> str:
    """A text as Verilog writes it."""
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'
