"""The properties of concurrent assertions in SystemVerilog as automata (IEEE 1800, clause 16), and what they keep of
cycles before; what is not watched is named.

Properties and sequences that are declared by name, with ports too, are their text; a default clocking is their clock.
"""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from pyslang import parsing, syntax

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

    def property(self, spec: Node) -> Property:
        """A property of the module as it is watched. Raises Unwatched."""
        clocking, disable, names = spec.clocking, spec.disable, _Names({})
        while (named := self._declared(spec.expr, names, syntax.PropertyDeclarationSyntax)) is not None:
            declaration, names = named
            spec = declaration.propertySpec
            clocking = spec.clocking if spec.clocking is not None else clocking
            disable = spec.disable if spec.disable is not None else disable
        clocking = clocking if clocking is not None else _default_clock(self.module)
        if clocking is None:
            raise Unwatched("it names no clock: write @(posedge clk) in it")
        edge, clock = _clock(clocking)
        what = self._property(spec.expr, names)
        given_up = self.text(disable.expr, names) if disable is not None else self._default_disable()
        try:
            checks = sequences.temporal(what, self._number(given_up) if given_up else None)
        except ValueError as why:
            raise Unwatched(str(why)) from None
        if not self._conditions:
            raise Unwatched("it names no signal")
        return Property(clock, edge, tuple(self._conditions), checks)

    def text(self, node: Node, names: "_Names | None" = None) -> str:
        """An expression, with registers for what it asks of cycles before. Raises Unwatched."""
        names = names or _Names({})
        if isinstance(node, parsing.Token):
            return str(node.rawText)
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
            declaration, inner = named
            if declaration.propertySpec.clocking is not None or declaration.propertySpec.disable is not None:
                raise Unwatched("a property within it has a clock, or a disable iff, of its own")
            return self._property(declaration.propertySpec.expr, inner)
        if kind in ("ImplicationPropertyExpr", "ImpliesPropertyExpr"):
            trigger = self._sequence(node.left, names)
            if kind == "ImpliesPropertyExpr":
                _one_cycle(trigger, node.left)
            return sequences.implied(trigger, self._property(node.right, names), plain_text(str(node.op)) == "|=>")
        if kind in ("UntilPropertyExpr", "UntilWithPropertyExpr"):
            left, right = (_one_cycle(self._sequence(one, names), one) for one in (node.left, node.right))
            last = sequences.fused(left, right) if kind == "UntilWithPropertyExpr" else right
            return None, sequences.until(left, last)
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
        return None, self._sequence(node, names)

    def _plain(self, node: Node, names: "_Names") -> Sequence:
        """A property without an implication."""
        more, last = self._property(node, names)
        if more is not None or last is None:
            raise Unwatched(f"'{plain_text(str(node))}' is an implication, or a not, within another property")
        return last

    def _unary(self, node: Node, names: "_Names") -> Implied:
        word = plain_text(str(node.op))
        if word == "not":
            return sequences.negated(self._sequence(node.expr, names))
        selector = getattr(node, "selector", None)
        low, high = _bounds(selector, word) if selector is not None else (1, 1)
        if word in ("nexttime", "s_nexttime"):
            return sequences.awaited(low, self._property(node.expr, names))
        if selector is None or high is None or high < low:
            raise Unwatched(f"'{word}' without an end is not watched, as a run may end before: write {word} [1:8]")
        inner = self._plain(node.expr, names)
        if word in ("always", "s_always"):
            wait, times = sequences.repeated(ANY, low, low), high - low + 1
            return None, sequences.then(wait, sequences.repeated(_one_cycle(inner, node.expr), times, times))
        return None, sequences.then(sequences.repeated(ANY, low, high), inner)

    # ---- sequences

    def _sequence(self, node: Node, names: "_Names") -> Sequence:
        kind = node.kind.name
        if (named := self._declared(node, names, syntax.SequenceDeclarationSyntax)) is not None:
            return self._repeated(self._sequence(named[0].seqExpr, named[1]), node, names)
        if kind in ("ParenthesizedPropertyExpr", "SimplePropertyExpr"):
            return self._sequence(node.expr, names)
        if kind in ("SimpleSequenceExpr", "ParenthesizedSequenceExpr"):
            if getattr(node, "matchList", None) is not None:
                raise Unwatched("what a sequence assigns is not watched")
            if kind == "ParenthesizedSequenceExpr":
                return self._repeated(self._sequence(node.expr, names), node, names)
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
        if kind == "StrongWeakPropertyExpr":
            inner = self._sequence(node.expr, names)
            if plain_text(str(node.keyword)) == "weak" or sequences.has_end(inner):
                return inner
            raise Unwatched("'strong' without an end is not watched, as a run may end before: write ##[1:8] in it")
        if kind == "FirstMatchSequenceExpr":
            if getattr(node, "matchList", None) is not None:
                raise Unwatched("what a sequence assigns is not watched")
            return sequences.first_match(self._sequence(node.expr, names))
        if kind in _TWO:
            return _TWO[kind](self._sequence(node.left, names), self._sequence(node.right, names))
        what = plain_text(str(node))
        raise Unwatched(f"'{what if len(what) <= 40 else what[:37] + '...'}' is not watched: see the guide for what is")

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
        if list(declaration.variables):
            raise Unwatched(f"'{name}' has variables of its own")
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
        return _Names(actual)

    def _default_disable(self) -> str:
        found = (one for one in self.module.members if isinstance(one, syntax.DefaultDisableDeclarationSyntax))
        return next((self.text(one.expr) for one in found), "")


@dataclass(frozen=True)
class _Names:
    """The values of ports, each with the names that are known where it is written."""

    actual: "Mapping[str, tuple[Node, _Names]]"


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
    """Whether an expression has functions of the system, or ports of what it is written in."""
    found: list[Node] = []

    def look(one: Node) -> None:
        port = isinstance(one, syntax.IdentifierNameSyntax) and str(one.identifier.valueText) in names.actual
        if port or isinstance(one, syntax.SystemNameSyntax):
            found.append(one)

    node.visit(look)
    return bool(found)


def _default_clock(module: Node) -> Node | None:
    for member in module.members:
        if isinstance(member, syntax.ClockingDeclarationSyntax):
            if str(member.globalOrDefault).strip() == "default" and member.event is not None:
                return member.event
        elif type(member).__name__ == "DefaultClockingReferenceSyntax":
            raise Unwatched("its default clocking is named elsewhere: write @(posedge clk) in it")
    return None


def _clock(clocking: Node) -> tuple[str, str]:
    words = re.fullmatch(r"@?\(*(posedge|negedge)([A-Za-z_]\w*)\)*", "".join(plain_text(str(clocking)).split()))
    if words is None:
        raise Unwatched(f"'{plain_text(str(clocking))}' is not one edge of a clock")
    return words[1], words[2]
