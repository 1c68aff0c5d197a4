"""Blocks whose state is a register of the design: each marked arm is an arm of `case (register)`.

What such a block does in a cycle is a function of that register, which the monitor then sees in that very cycle. Where
any of it cannot be proved, the block gets a register of its own instead (`rewrite.observe`).
"""

import re
from collections.abc import Container, Iterator, Mapping
from typing import Any

from pyslang import ast, syntax

from workbench.api.instrument.probes import state_bits
from workbench.hdl.blocks import meaning
from workbench.hdl.instances import BlockUse, Instance, Key, uses_in
from workbench.hdl.layout import Layout
from workbench.hdl.verilog.blocks import id_of
from workbench.hdl.verilog.nets import Nets
from workbench.hdl.verilog.order import plain_text
from workbench.model.hardware import Clock

_LEAVES = (ast.StatementKind.Return, ast.StatementKind.Disable, ast.StatementKind.Break, ast.StatementKind.Continue)
_STEPS = (
    ast.UnaryOperator.Preincrement,
    ast.UnaryOperator.Predecrement,
    ast.UnaryOperator.Postincrement,
    ast.UnaryOperator.Postdecrement,
)
_CONSTANT = (ast.SymbolKind.Parameter, ast.SymbolKind.EnumValue)
_UNKNOWN = re.compile(r"'[sS]?[bodhBODH]\s*[0-9a-fA-F_]*[xXzZ?]")


def tapped(
    nets: Nets, top: Instance, layout: Layout, clocks: Mapping[str, Clock], single: Container[str]
) -> dict[Key, str]:
    """By block, an expression that tells its state's number in each cycle wherever it is observed; only for blocks
    where one does. `clocks` are the monitors', with their resets, by their pins; blocks in `single` are not
    observed."""
    observed = {path for path in layout.bits(top) if path not in single}
    expressions: dict[Key, str] = {}
    for use in _on(top, clocks):
        key = use.source.key
        if use.path in observed and expressions.get(key, " "):  # one place where it is not proved decides
            expressions[key] = _expression(nets, use, clocks[use.root_clock])
    return {key: text for key, text in expressions.items() if text}


def _on(top: Instance, clocks: Container[str]) -> Iterator[BlockUse]:
    return (use for use in uses_in(top) if use.root_clock in clocks)


def held_in_reset(nets: Nets, top: Instance, clocks: Mapping[str, Clock]) -> set[Key]:
    """The blocks whose one asynchronous reset is their clock's: an inserted register keeps meanwhile what it tells of
    the last cycle that counts, which the reset would end at once."""
    kept: dict[Key, bool] = {}
    for use in _on(top, clocks):
        block = use.source
        marked = any(arm.pragmas for arm in block.arms if arm.in_reset)
        asked = block.resets == 1 and not marked and _first_asks_reset(nets, use.body, clocks[use.root_clock])
        kept[block.key] = kept.get(block.key, True) and asked
    return {key for key, all_ in kept.items() if all_}


def _first_asks_reset(nets: Nets, statement: Any, clock: Clock) -> bool:
    of = ast.StatementKind
    while statement.kind in (of.Timed, of.Block):
        statement = statement.stmt if statement.kind == of.Timed else statement.body
    conditional = statement.kind == of.Conditional and statement.ifFalse is not None
    return conditional and _asks_reset(nets, statement, clock)


def _expression(nets: Nets, use: BlockUse, clock: Clock) -> str:
    """The expression for one use, or ''."""
    block = use.source
    if use.clock_turned or use.clock_maker or block.edge != "posedge":
        return ""
    marked = [arm for arm in block.arms if arm.pragmas]
    if any(arm.kind not in ("case", "default") or any(p.pragma.condition for p in arm.pragmas) for arm in marked):
        return ""
    chosen = _deciding(nets, use.body, [id_of(arm.statement) for arm in marked], clock)
    if chosen is None or not _plain_case(chosen) or not _register(use, chosen.expr):
        return ""
    codes = {meaning(placed.pragma): code for code, placed in enumerate(block.states, 1)}
    code_of = {id_of(arm.statement): codes[meaning(arm.pragmas[-1].pragma)] for arm in marked}
    return _text(chosen, code_of, state_bits(len(block.states) + 1))


def _deciding(nets: Nets, statement: Any, marks: list[tuple[int, int]], clock: Clock) -> Any | None:
    """The case statement whose arms are all the marks, in every cycle out of the clock's reset and in none within."""
    of, in_reset = ast.StatementKind, bool(clock.reset)
    while statement.kind != of.Case:
        if statement.kind == of.Timed:
            statement = statement.stmt
        elif statement.kind == of.Block:
            statement = statement.body
        elif statement.kind == of.List:
            holding = [one for one in statement.list if any(_within(mark, one) for mark in marks)]
            if len(holding) != 1:
                return None
            (statement,) = holding
        elif statement.kind == of.Conditional and statement.ifFalse is not None and _asks_reset(nets, statement, clock):
            statement, in_reset = statement.ifFalse, False
        else:
            return None
    if in_reset:
        return None
    arms = [item.stmt for item in statement.items] + [arm for arm in [statement.defaultCase] if arm is not None]
    return statement if {id_of(arm.syntax) for arm in arms if arm.syntax is not None}.issuperset(marks) else None


def _within(mark: tuple[int, int], statement: Any) -> bool:
    if statement.syntax is None:
        return False
    start, end = id_of(statement.syntax)
    return start <= mark[0] and mark[1] <= end


def _asks_reset(nets: Nets, conditional: Any, clock: Clock) -> bool:
    """Whether a condition is that the clock's reset, in which no cycle counts, is there."""
    if len(conditional.conditions) != 1 or not clock.reset:
        return False
    asked, turned = conditional.conditions[0].expr, False
    if asked.kind == ast.ExpressionKind.BinaryOp and asked.op == ast.BinaryOperator.Equality:
        value = str(getattr(asked.right.constant, "value", ""))
        turned, asked = value.endswith("0"), asked.left
        if value not in ("1'b0", "1'b1", "0", "1"):
            return False
    port = nets.top_port(asked)
    low = {"": False, clock.reset: False, f"!{clock.reset}": True, f"~{clock.reset}": True}
    when = low.get("".join(clock.reset_hdl.split()))
    return port is not None and when is not None and port == (clock.reset, when ^ turned)


def _plain_case(chosen: Any) -> bool:
    """Whether each label of a case statement is a constant without wildcards, compared as `==` does it alone."""
    if chosen.condition != ast.CaseStatementCondition.Normal:
        return False
    labels = [label for item in chosen.items for label in item.expressions]
    if chosen.expr.type.isSigned and {str(label.type) for label in labels} != {str(_value(chosen.expr).type)}:
        return False
    parts = [node for label in labels for node in _nodes(label)]
    if any(isinstance(node, ast.CallExpression) for node in parts):
        return False
    names = [node for node in parts if isinstance(node, ast.NamedValueExpression)]
    unknown = any(_UNKNOWN.search(text) for _, texts in _labels(chosen) for text in texts)
    return all(name.symbol.kind in _CONSTANT for name in names) and not unknown


def _register(use: BlockUse, expression: Any) -> bool:
    """Whether an expression is a register that the block assigns, never before it looks at it in the same cycle."""
    value = _value(expression)
    if value.kind != ast.ExpressionKind.NamedValue or value.symbol.kind != ast.SymbolKind.Variable:
        return False
    symbol, assigned = value.symbol, False
    if use.scope.lookupName(symbol.name) != symbol:
        return False
    for node in _nodes(use.body):
        if isinstance(node, ast.AssignmentExpression) and _names(node.left, symbol):
            assigned = True
            if not node.isNonBlocking:
                return False
        elif (
            (isinstance(node, ast.UnaryExpression) and node.op in _STEPS and _names(node.operand, symbol))
            or (isinstance(node, ast.CallExpression) and not node.isSystemCall)
            or (isinstance(node, ast.Statement) and node.kind in _LEAVES)
        ):
            return False
    return assigned


def _value(expression: Any) -> Any:
    while expression.kind == ast.ExpressionKind.Conversion and expression.isImplicit:
        expression = expression.operand
    return expression


def _nodes(root: Any) -> list[Any]:
    nodes: list[Any] = []
    root.visit(nodes.append)
    return nodes


def _names(expression: Any, symbol: Any) -> bool:
    return any(isinstance(node, ast.NamedValueExpression) and node.symbol == symbol for node in _nodes(expression))


def _labels(chosen: Any) -> Iterator[tuple[Any, list[str]]]:
    """The arms of a case statement in the source, with the texts of their labels; the default without any."""
    for item in chosen.syntax.items:
        if isinstance(item, syntax.StandardCaseItemSyntax):
            labels = [label for label in item.expressions if isinstance(label, syntax.SyntaxNode)]
            yield item.clause, [plain_text(str(label)) for label in labels]
        elif isinstance(item, syntax.DefaultCaseItemSyntax):
            yield item.clause, []


def _text(chosen: Any, code_of: Mapping[tuple[int, int], int], bits: int) -> str:
    register, other, text = plain_text(str(chosen.syntax.expr)), 0, ""
    for clause, labels in _labels(chosen):
        code = code_of.get(id_of(clause), 0)
        if labels:
            same = " || ".join(f"{register} == ({label})" for label in labels)
            text += f"{same} ? {bits}'d{code} : "
        else:
            other = code
    return f"{text}{bits}'d{other}"
