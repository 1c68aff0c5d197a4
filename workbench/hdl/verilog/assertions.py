"""The properties of concurrent assertions in SystemVerilog as automata (IEEE 1800, clause 16), and what they keep of
cycles before; what is not watched is named.

Properties and sequences that are declared by name, with ports too, are their text; a default clocking is their clock.
"""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from pyslang import parsing, syntax

from workbench.hdl.verilog import local_variables
from workbench.hdl.verilog.clockings import default_clocking, edge_of
from workbench.hdl.verilog.design import Node
from workbench.hdl.verilog.order import plain_text
from workbench.hdl.watched import MOST_DELAY, Kept, Unwatched
from workbench.model import sequences
from workbench.model.sequences import ANY, Implied, Sequence, Temporal

_PAST = ("$past", "$rose", "$fell", "$stable", "$changed", "$sampled")
_PLAIN = ("$bits", "$clog2", "$countones", "$onehot", "$onehot0", "$signed", "$unsigned")
_TWO = {
    "AndSequenceExpr": sequences.both, "OrSequenceExpr": sequences.either, "IntersectSequenceExpr": sequences.together,
    "WithinSequenceExpr": sequences.within, "AndPropertyExpr": sequences.both, "OrPropertyExpr": sequences.either,
}  # fmt: skip
_RANGE = re.compile(r"\[\s*([^:\]]+?)\s*(?::\s*([^\]]+?)\s*)?\]")


@dataclass(frozen=True)
class Property:
    """What an assertion checks in the cycles of its clock, over these conditions."""

    clock: str
    edge: str
    conditions: tuple[str, ...]
    checks: Temporal


@dataclass
class Reader:
    """Reads the expressions and properties of one assertion. `name` is in the names of what is `kept` of cycles before;
    `signed`: whether the value of a call is."""

    module: Node
    name: str
    signed: Callable[[Node], bool]
    kept: list[Kept] = field(default_factory=list)
    _conditions: dict[str, int] = field(default_factory=dict)
    _depth: int = 0

    def __post_init__(self) -> None:
        self._variables = local_variables.Variables(self.name, self.kept)

    def property(self, spec: Node) -> Property:
        """A property of the module as it is watched. Raises Unwatched."""
        clocking, disable, names = spec.clocking, spec.disable, _Names({})
        while (named := self._declared(spec.expr, names, syntax.PropertyDeclarationSyntax)) is not None:
            declaration, names = named
            spec = declaration.propertySpec
            clocking = spec.clocking if spec.clocking is not None else clocking
            disable = spec.disable if spec.disable is not None else disable
        clocking = clocking if clocking is not None else default_clocking(self.module)
        if clocking is None:
            raise Unwatched("it names no clock: write @(posedge clk) in it")
        edge, clock = edge_of(clocking)
        given_up = self.text(disable.expr, names) if disable is not None else self._default_disable()
        try:
            what = self._property(spec.expr, names)
            checks = sequences.temporal(what, self._number(given_up) if given_up else None)
        except ValueError as why:
            raise Unwatched(str(why)) from None
        conditions = tuple(self._conditions)
        if self._variables.types:
            checks, conditions = self._variables.resolved(checks, conditions)
        if not conditions:
            raise Unwatched("it names no signal")
        return Property(clock, edge, conditions, checks)

    def text(self, node: Node, names: "_Names | None" = None) -> str:
        """An expression, with registers for what it asks of cycles before. Raises Unwatched."""
        names = names or _Names({})
        if isinstance(node, parsing.Token):
            return str(node.rawText)
        if (variable := self._variable(node, names)) is not None:
            return local_variables.read(variable)
        if isinstance(node, syntax.IdentifierNameSyntax) and (
            actual := names.actual.get(str(node.identifier.valueText))
        ):
            return f"({self.text(actual[0], actual[1])})"
        if isinstance(node, syntax.InvocationExpressionSyntax) and isinstance(node.left, syntax.SystemNameSyntax):
            function = plain_text(str(node.left))
            if function in _PAST:
                return self._past(function, node, names)
            if function not in _PLAIN:
                raise Unwatched(f"{function} is not watched: copy it to a register of its own")
        if not _has_more(node, names):
            return plain_text(str(node))
        return " ".join(self.text(one, names) for one in node if one is not None)

    def _past(self, function: str, node: Node, names: "_Names") -> str:
        given = [one for one in node.arguments.parameters if isinstance(one, syntax.SyntaxNode)]
        texts = [self.text(one.expr, names) if hasattr(one, "expr") else "" for one in given]
        if any(local_variables.is_read(text) for text in texts):
            raise Unwatched(f"{function} of a variable is not watched: assign it that of the signal")
        depth = texts[1] if function == "$past" and len(texts) > 1 and texts[1] else "1"
        if not texts or len(texts) > (2 if function == "$past" else 1) or not depth.isdecimal():
            raise Unwatched(
                f"'{plain_text(str(node))}' is not watched: {function} of an expression, and of a number of cycles"
            )
        value, count = texts[0], _cycles(depth, f"{function} of {depth} cycles")
        if function == "$sampled" or count == 0:
            return f"({value})"
        bit = function in ("$rose", "$fell")
        size = "" if bit else f"{'signed ' if self.signed(node) else ''}[$bits({value})-1:0] "
        for _ in range(count):
            register = f"recap_past_{self.name}_{len(self.kept)}"
            self.kept.append(Kept(f"reg {size}{register} = 0;", f"{register} <= {value};"))
            value = register
        now = f"(({texts[0]}) & 1'b1)" if bit else f"({texts[0]})"
        return {
            "$past": value, "$stable": f"({now} == {value})", "$changed": f"({now} != {value})",
            "$rose": f"({now} != 0 && !{value})", "$fell": f"({now} == 0 && {value})",
        }[function]  # fmt: skip

    def _number(self, text: str) -> int:
        return self._conditions.setdefault(text, len(self._conditions))

    # ---- properties

    def _property(self, node: Node, names: "_Names") -> Implied:
        kind = node.kind.name
        if kind == "ParenthesizedPropertyExpr":
            return self._property(node.expr, names)
        if (named := self._declared(node, names, syntax.PropertyDeclarationSyntax)) is not None:
            declaration, of_ports = named
            if declaration.propertySpec.clocking is not None or declaration.propertySpec.disable is not None:
                raise Unwatched("a property within it has a clock, or a disable iff, of its own")
            return self._property(declaration.propertySpec.expr, of_ports)
        if kind in ("ImplicationPropertyExpr", "ImpliesPropertyExpr"):
            trigger = self._sequence(node.left, names)
            if kind == "ImpliesPropertyExpr":
                _one_cycle(trigger, node.left)
            return sequences.implied(trigger, self._property(node.right, names), plain_text(str(node.op)) == "|=>")
        if kind.endswith(("UntilPropertyExpr", "UntilWithPropertyExpr")):
            left, right = (_one_cycle(self._sequence(one, names), one) for one in (node.left, node.right))
            last = sequences.fused(left, right) if kind.endswith("WithPropertyExpr") else right
            return None, sequences.until(left, last, kind.startswith("S"))
        if kind == "StrongWeakPropertyExpr":
            inner = self._sequence(node.expr, names)
            return None, inner if plain_text(str(node.keyword)) == "strong" else sequences.weak(inner)
        if isinstance(node, syntax.UnaryPropertyExprSyntax | syntax.UnarySelectPropertyExprSyntax):
            return self._unary(node, names)
        if isinstance(node, syntax.ConditionalPropertyExprSyntax):
            number = self._number(self.text(node.condition, names))
            no, clause = sequences.condition(number, False), node.elseClause
            first = sequences.fused(sequences.condition(number), self._plain(node.expr, names))
            other = no if clause is None else sequences.fused(no, self._plain(clause.expr, names))
            return None, sequences.either(first, other)
        if kind in ("AndPropertyExpr", "OrPropertyExpr"):
            return None, _TWO[kind](self._plain(node.left, names), self._plain(node.right, names))
        return None, sequences.weak(self._sequence(node, names))

    def _plain(self, node: Node, names: "_Names") -> Sequence:
        """A property without an implication."""
        more, last = self._property(node, names)
        if more is not None or last is None:
            raise Unwatched(f"'{plain_text(str(node))}' is an implication, or a not, within another property")
        return last

    def _unary(self, node: Node, names: "_Names") -> Implied:
        word = plain_text(str(node.op))
        if word == "not":
            inner = _within_parentheses(node.expr)
            is_strong = inner.kind.name == "StrongWeakPropertyExpr" and plain_text(str(inner.keyword)) == "strong"
            return sequences.negated(self._sequence(inner.expr if is_strong else inner, names))
        selector, is_strong = getattr(node, "selector", None), word.startswith("s_")
        low, high = _bounds(selector, word) if selector is not None else (0, None)
        if high is not None and high < low:
            raise Unwatched(f"'{word} {plain_text(str(selector))}' has an end before its beginning")
        if word in ("nexttime", "s_nexttime"):
            return sequences.next_(low if selector is not None else 1, self._property(node.expr, names), is_strong)
        last = self._plain(node.expr, names)
        if word not in ("always", "s_always"):
            return None, sequences.awaited(low, high, last, is_strong)
        one = _one_cycle(last, node.expr)
        if high is None:
            return sequences.next_(low, sequences.always(one), False)
        times = high - low + 1
        each = sequences.then(sequences.repeated(ANY, low, low), sequences.repeated(one, times, times))
        return None, each if is_strong else sequences.weak(each)

    # ---- sequences

    def _sequence(self, node: Node, names: "_Names") -> Sequence:
        kind = node.kind.name
        if (named := self._declared(node, names, syntax.SequenceDeclarationSyntax)) is not None:
            return self._repeated(self._sequence(named[0].seqExpr, named[1]), node, names)
        if kind in ("ParenthesizedPropertyExpr", "SimplePropertyExpr"):
            return self._assigned(self._sequence(node.expr, names), node, names)
        if kind in ("SimpleSequenceExpr", "ParenthesizedSequenceExpr"):
            if kind == "ParenthesizedSequenceExpr":
                return self._repeated(self._assigned(self._sequence(node.expr, names), node, names), node, names)
            actual = names.actual.get(plain_text(str(node.expr)))
            if actual is not None and isinstance(actual[0], syntax.PropertyExprSyntax):
                return self._repeated(self._sequence(*actual), node, names)
            return self._repeated(sequences.condition(self._number(self.text(node.expr, names))), node, names)
        if isinstance(node, syntax.DelayedSequenceExprSyntax):
            return self._delayed(node, names)
        if kind == "ThroughoutSequenceExpr":
            left = _one_cycle(self._sequence(node.left, names), node.left)
            ((_, guard, _),) = left.steps
            ((number, _),) = guard
            return sequences.throughout(number, self._sequence(node.right, names))
        if kind == "FirstMatchSequenceExpr":
            if getattr(node, "matchList", None) is not None:
                raise Unwatched("what first_match assigns is not watched: assign it in the sequence behind")
            return sequences.first_match(self._sequence(node.expr, names))
        if kind in _TWO:
            return _TWO[kind](self._sequence(node.left, names), self._sequence(node.right, names))
        what = plain_text(str(node))
        raise Unwatched(f"'{what if len(what) <= 40 else what[:37] + '...'}' is not watched: see the guide for what is")

    def _assigned(self, sequence: Sequence, node: Node, names: "_Names") -> Sequence:
        """With the assignments behind it, where there are some: in its last cycle."""
        match_list = getattr(node, "matchList", None)
        for item in match_list.items if match_list is not None else ():
            if isinstance(item, parsing.Token):
                continue
            what = item
            while _is_plain(what):
                what = what.expr
            variable = self._variable(what.left, names) if what.kind.name == "AssignmentExpression" else None
            if variable is None:
                raise Unwatched(f"'{plain_text(str(item))}' is no assignment to a variable of it")
            if sequence.empty:
                raise Unwatched(f"'{plain_text(str(item))}' is behind a sequence that can match without a cycle")
            text = local_variables.assigned(variable, self.text(what.right, names))
            sequence = sequences.fused(sequence, sequences.condition(self._number(text)))
        return sequence

    def _variable(self, node: Node, names: "_Names") -> str | None:
        """The key of the variable that an expression is; of a port, that it stands for."""
        if not isinstance(node, syntax.IdentifierNameSyntax):
            return getattr(node, "expr", None) and self._variable(node.expr, names) if _is_plain(node) else None
        name = str(node.identifier.valueText)
        if (actual := names.actual.get(name)) is not None:
            return self._variable(*actual)
        return names.variables.get(name)

    def _delayed(self, node: Node, names: "_Names") -> Sequence:
        low: int
        high: int | None
        before = self._sequence(node.first, names) if node.first is not None else None
        for one in node.elements:
            if one.delayVal is not None:
                delay = plain_text(str(one.delayVal))
                low, high = (_cycles(delay, f"##{delay}"),) * 2
            elif one.range is not None:
                low, high = _bounds(one.range, "##")
            else:
                low, high = (1 if plain_text(str(one.op)) == "+" else 0), None
            element = self._sequence(one.expr, names)
            if before is None:
                before = sequences.then(sequences.repeated(ANY, low, high), element)
            else:
                before = sequences.delayed(before, low, high, element)
        assert before is not None
        return before

    def _repeated(self, sequence: Sequence, node: Node, names: "_Names") -> Sequence:
        """With the repetition behind it, where there is one."""
        repetition = getattr(node, "repetition", None)
        if repetition is None:
            return sequence
        word = plain_text(str(repetition.op)).removeprefix("[")
        low: int
        high: int | None
        if word == "+":
            low, high = 1, None
        elif repetition.selector is None:
            low, high = 0, None
        else:
            low, high = _bounds(repetition.selector, f"[{word}")
        if word in ("*", "+"):
            return sequences.repeated(sequence, low, high)
        ((number, holds),) = next(iter(_one_cycle(sequence, node).steps))[1]
        assert holds
        times = sequences.at_times(number, low, high)
        if word == "->":
            return times
        return sequences.then(times, sequences.repeated(sequences.condition(number, False), 0, None))

    # ---- names

    def _declared(self, node: Node, names: "_Names", kind: type[Any]) -> "tuple[Node, _Names] | None":
        """What is declared of a kind by the name that an expression is, and its ports' values."""
        while node.kind.name in ("ParenthesizedPropertyExpr", "SimplePropertyExpr"):
            node = node.expr
        if node.kind.name != "SimpleSequenceExpr":
            return None
        called = node.expr
        arguments: list[Node] = []
        if isinstance(called, syntax.InvocationExpressionSyntax):
            given = called.arguments.parameters if called.arguments is not None else ()
            arguments = [one for one in given if isinstance(one, syntax.SyntaxNode)]
            called = called.left
        if not isinstance(called, syntax.IdentifierNameSyntax) or str(called.identifier.valueText) in names.actual:
            return None
        name = str(called.identifier.valueText)
        for member in self.module.members:
            if isinstance(member, kind) and member.name.valueText == name:
                return member, self._ports(member, arguments, names)
        return None

    def _ports(self, declaration: Node, arguments: list[Node], names: "_Names") -> "_Names":
        self._depth += 1
        name = declaration.name.valueText
        if self._depth > MOST_DELAY:
            raise Unwatched(f"'{name}' names itself")
        listed = declaration.portList.ports if declaration.portList is not None else ()
        ports = [one for one in listed if isinstance(one, syntax.AssertionItemPortSyntax)]
        actual: dict[str, tuple[Node, _Names]] = {}
        for number, port in enumerate(ports):
            formal = str(port.name.valueText)
            named = (one for one in arguments if getattr(getattr(one, "name", None), "valueText", "") == formal)
            one = next(named, arguments[number] if number < len(arguments) else None)
            if one is None or getattr(one, "expr", None) is None:
                raise Unwatched(f"the port '{formal}' of '{name}' gets no value")
            actual[formal] = (one.expr, names)
        return _Names(actual, self._variables.declare(declaration))

    def _default_disable(self) -> str:
        found = (one for one in self.module.members if isinstance(one, syntax.DefaultDisableDeclarationSyntax))
        return next((self.text(one.expr) for one in found), "")


@dataclass(frozen=True)
class _Names:
    """The values of ports, each with the names that are known where it is written, and the keys of variables."""

    actual: "Mapping[str, tuple[Node, _Names]]"
    variables: Mapping[str, str] = field(default_factory=dict)


def _is_plain(node: Node) -> bool:
    """Whether it stands around an expression, and adds nothing to it."""
    return node.kind.name in ("SimplePropertyExpr", "SimpleSequenceExpr", "ParenthesizedExpression")


def _within_parentheses(node: Node) -> Node:
    while node.kind.name == "ParenthesizedPropertyExpr":
        node = node.expr
    return node


def _one_cycle(sequence: Sequence, node: Node) -> Sequence:
    """A sequence that is one condition."""
    if len(sequence.steps) != 1 or len(sequence.steps[0][1]) != 1 or sequence.empty:
        raise Unwatched(f"'{plain_text(str(node))}' is not a condition of one cycle")
    return sequence


def _bounds(selector: Node, what: str) -> tuple[int, int | None]:
    text = plain_text(str(selector))
    found = _RANGE.fullmatch(text if text.startswith("[") else f"[{text}]")
    if found is None:
        raise Unwatched(f"'{what}{text}' is not a number of cycles")
    low = _cycles(found[1], f"{what}{text}")
    if found[2] is None:
        return low, low
    return low, None if found[2] == "$" else _cycles(found[2], f"{what}{text}")


def _cycles(text: str, what: str) -> int:
    if not text.isdecimal() or int(text) > MOST_DELAY:
        raise Unwatched(f"'{what}' is not a number of cycles up to {MOST_DELAY}")
    return int(text)


def _has_more(node: Node, names: _Names) -> bool:
    """Whether an expression has functions of the system, or ports or variables of what it is written in."""
    found: list[Node] = []

    def look(one: Node) -> None:
        own = isinstance(one, syntax.IdentifierNameSyntax) and (
            str(one.identifier.valueText) in (names.actual.keys() | names.variables.keys())
        )
        if own or isinstance(one, syntax.SystemNameSyntax):
            found.append(one)

    node.visit(look)
    return bool(found)
