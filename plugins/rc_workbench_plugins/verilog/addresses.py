"""Addresses that a design compares with constants, held against those at which the counters are read.

The design sees what is read there too, but its answers are replaced: so its own registers had better be elsewhere.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from pyslang import ast

from rc_workbench_plugins.verilog.design import Design
from rc_workbench_plugins.verilog.expressions import Bit, Kind, plain, slices
from rc_workbench_plugins.verilog.nets import Nets
from workbench.model.diagnostic import Diagnostic, Severity
from workbench.model.read_out import ReadOut

_EQUAL = (ast.BinaryOperator.Equality, ast.BinaryOperator.CaseEquality, ast.BinaryOperator.WildcardEquality)
_CASES = (ast.CaseStatementCondition.Normal,)
_MOST_STEPS = 16  # registers on the way from the port
_HINT = (
    "There the host gets counters instead of what the design answers: hardware.read_out should be left unused by it."
)


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
    found: dict[tuple[int, int], Any] = {}  # where a region is asked for first, by its size and address
    for location, bits in _Compared(design.top, design.nets, inputs).found():
        if (region := _region(bits, read_out)) is not None:
            found.setdefault((1 << min(bits), region), location)
    fine = {of: place for of, place in found.items() if of[0] <= read_out.last - read_out.first + 1}
    for size, region in fine or sorted(found)[:1]:
        path, line, column = design.place(found[size, region])
        there = f"{region:#x}" if size == 1 else f"{region:#x} to {region + size - 1:#x}"
        message = f"the design compares an address so that it answers at {there} itself; counters are read at "
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
        self._held: dict[tuple[Any, int], set[Bit | None]] = defaultdict(set)
        self._comparisons: list[tuple[Any, Any, int]] = []
        top.visit(self._look)

    def found(self) -> Iterator[tuple[Any, dict[int, bool]]]:
        """Comparisons with parts of an address: where, and which of its bits are to be high or low."""
        for location, expression, number in self._comparisons:
            bits = [plain(expression, index) for index in range(expression.type.bitWidth)]
            while bits and bits[-1] is None:
                bits.pop()  # above what is compared: zeros
            if number >> len(bits) or any(bit is None for bit in bits):
                continue
            roots = [self._root(bit) for bit in bits if bit is not None]
            if roots and all(root is not None and root.symbol in self._inputs for root in roots):
                yield (
                    location,
                    {root.index: bool(number >> index & 1) ^ root.low for index, root in enumerate(roots) if root},
                )

    def _root(self, bit: Bit) -> Bit | None:
        """Where a bit comes from, through registers that hold nothing else but constants."""
        for _ in range(_MOST_STEPS):
            bit = self._nets.root(bit)
            if bit.symbol in self._inputs:
                return bit
            held = self._held.get((bit.symbol, bit.index), set())
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
        elif isinstance(node, ast.CaseStatement) and node.condition in _CASES:
            for item in node.items:
                for expression in item.expressions:
                    self._compare(node.expr, expression)
        elif isinstance(node, ast.AssignmentExpression):
            self._assign(node)
        return ast.VisitAction.Advance

    def _compare(self, expression: Any, constant: Any) -> None:
        if expression.type.bitWidth > 1 and (number := self._constant(constant)) is not None:
            self._comparisons.append((constant.sourceRange.start, expression, number))

    def _assign(self, node: Any) -> None:
        if self._constant(node.right) is not None:
            return
        for symbol, low, width, offset in slices(node.left):
            for index in range(width):
                self._held[symbol, low + index].add(plain(node.right, offset + index))

    def _constant(self, expression: Any) -> int | None:
        value = expression.constant if expression.constant is not None else expression.eval(self._context)
        if not value or value.isContainer() or value.hasUnknown():
            return None
        try:
            return int(value.value) & ((1 << expression.type.bitWidth) - 1)
        except (TypeError, ValueError):  # a text, a real number
            return None
