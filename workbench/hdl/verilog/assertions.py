"""The properties of concurrent assertions in SystemVerilog that are watched: a subset; what is outside of it is named.

    @(posedge CLOCK) [disable iff (EXPRESSION)] EXPRESSION
    @(posedge CLOCK) [disable iff (EXPRESSION)] EXPRESSION |-> [##N] EXPRESSION      (also |=>, and `not EXPRESSION`)

A property that is declared by name, without ports, is its text; a default clocking is its clock.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass

from pyslang import syntax

from workbench.hdl.verilog.design import Node
from workbench.hdl.verilog.order import plain_text
from workbench.hdl.watched import MOST_DELAY


class Unwatched(Exception):
    """Why a property is not watched."""


@dataclass(frozen=True)
class Property:
    """In a cycle of the clock in which `antecedent` holds, `consequent` has to hold `delay` cycles later, unless
    `disable` (where it is not "") did meanwhile."""

    clock: str
    edge: str
    antecedent: str
    consequent: str
    disable: str = ""
    delay: int = 0


def property_of(spec: Node, module: Node) -> Property:
    """A property of a module as it is watched. Raises Unwatched."""
    named = _named(spec, module)
    if named is not None and named is not spec:
        spec = named
    clocking = spec.clocking if spec.clocking is not None else _default_clock(module)
    if clocking is None:
        raise Unwatched("it names no clock: write @(posedge clk) in it")
    edge, clock = _clock(clocking)
    disable = _text(spec.disable.expr) if spec.disable is not None else _default_disable(module)
    antecedent, consequent, delay = _implied(spec.expr)
    return Property(clock, edge, antecedent, consequent, disable, delay)


def _named(spec: Node, module: Node) -> Node | None:
    """What a property is that is named alone."""
    expression = _bare(spec.expr)
    name = re.fullmatch(r"\s*(\w+)\s*(\(\s*\))?\s*", plain_text(str(expression)))
    if name is None:
        return None
    for member in module.members:
        if isinstance(member, syntax.PropertyDeclarationSyntax) and member.name.valueText == name[1]:
            if member.portList is not None and list(member.portList.ports):
                raise Unwatched(f"the property '{name[1]}' has ports")
            return member.propertySpec
    return None


def _default_clock(module: Node) -> Node | None:
    for member in module.members:
        if isinstance(member, syntax.ClockingDeclarationSyntax):
            if str(member.globalOrDefault).strip() == "default" and member.event is not None:
                return member.event
        elif type(member).__name__ == "DefaultClockingReferenceSyntax":
            raise Unwatched("its default clocking is named elsewhere: write @(posedge clk) in it")
    return None


def _default_disable(module: Node) -> str:
    found = (one for one in module.members if isinstance(one, syntax.DefaultDisableDeclarationSyntax))
    return next((_text(one.expr) for one in found), "")


def _clock(clocking: Node) -> tuple[str, str]:
    words = re.fullmatch(r"@?\(*(posedge|negedge)([A-Za-z_]\w*)\)*", "".join(plain_text(str(clocking)).split()))
    if words is None:
        raise Unwatched(f"'{plain_text(str(clocking))}' is not one edge of a clock")
    return words[1], words[2]


def _implied(expression: Node) -> tuple[str, str, int]:
    """The condition under which it is asked, what has to hold then, and how many cycles later."""
    expression = _bare(expression)
    if isinstance(expression, syntax.BinaryPropertyExprSyntax):
        word = plain_text(str(expression.op))
        if word not in ("|->", "|=>"):
            raise Unwatched(f"'{word}' is outside of the subset that is watched")
        consequent, delay = _delayed(_bare(expression.right))
        return _condition(expression.left), consequent, delay + (word == "|=>")
    consequent, delay = _delayed(expression)
    if delay:
        raise Unwatched("it waits without an implication: write 1 |-> ##N ...")
    return "1'b1", consequent, 0


def _delayed(expression: Node) -> tuple[str, int]:
    """A condition, and the delay before it."""
    if type(expression).__name__ == "UnaryPropertyExprSyntax" and plain_text(str(expression.op)) == "not":
        return f"!({_condition(expression.expr)})", 0
    if isinstance(expression, syntax.SimplePropertyExprSyntax):
        expression = expression.expr
    if not isinstance(expression, syntax.DelayedSequenceExprSyntax):
        return _condition(expression), 0
    elements = list(expression.elements)
    if expression.first is not None or len(elements) != 1 or elements[0].delayVal is None:
        raise Unwatched("sequences are outside of the subset that is watched: one ##N, with a number, may follow |->")
    number = plain_text(str(elements[0].delayVal))
    if not number.isdecimal() or int(number) > MOST_DELAY:
        raise Unwatched(f"'##{number}' is not a number of cycles up to {MOST_DELAY}")
    return _condition(elements[0].expr), int(number)


def _bare(expression: Node) -> Node:
    """A property without the parentheses around all of it."""
    while type(expression).__name__ == "ParenthesizedPropertyExprSyntax":
        expression = expression.expr
    return expression


def _condition(expression: Node) -> str:
    """The text of a property that is one expression."""
    expression = _bare(expression)
    while isinstance(expression, syntax.SimplePropertyExprSyntax | syntax.SimpleSequenceExprSyntax):
        if getattr(expression, "repetition", None) is not None:
            raise Unwatched("repetition is outside of the subset that is watched")
        expression = expression.expr
    if isinstance(expression, syntax.PropertyExprSyntax | syntax.SequenceExprSyntax):
        what = plain_text(str(expression))[:40]
        raise Unwatched(f"'{what}' is outside of the subset that is watched: conditions, |->, |=> and one ##N")
    return _text(expression)


def _text(expression: Node) -> str:
    for name in _functions(expression):
        raise Unwatched(f"{name} is outside of the subset that is watched: give what it is a register of its own")
    return plain_text(str(expression))


def _functions(expression: Node) -> Iterator[str]:
    names: list[str] = []
    expression.visit(
        lambda one: names.append(plain_text(str(one))) if isinstance(one, syntax.SystemNameSyntax) else None
    )
    return iter(names)
