"""The properties of concurrent assertions in SystemVerilog as automata (IEEE 1800, clause 16), and what they keep of
cycles before; what is not watched is named.

Properties and sequences that are declared by name, with ports too, are their text; a default clocking is their clock.
"""

from dataclasses import dataclass
from functools import reduce

from pyslang import syntax

from workbench.hdl.verilog.clockings import default_clocking, edge_of
from workbench.hdl.verilog.design import Node
from workbench.hdl.verilog.order import plain_text
from workbench.hdl.verilog.sequence_reader import OTHER_CLOCK, Names, SequenceReader, bounds, is_condition, one_cycle
from workbench.hdl.verilog.two_clocks import MATCHED_AT_ONCE, crossing
from workbench.hdl.watched import Unwatched
from workbench.model import properties, sequences
from workbench.model.properties import Property as Properties
from workbench.model.properties import Temporal
from workbench.model.sequences import ANY, Sequence


@dataclass(frozen=True)
class Property:
    """What an assertion checks in the cycles of its clock, over these conditions, of which some are `late`."""

    clock: str
    edge: str
    conditions: tuple[str, ...]
    checks: Temporal
    late: tuple[str, ...] = ()


class Reader(SequenceReader):
    """Reads the properties of one assertion, too."""

    def property(self, spec: Node) -> Property:
        """A property of the module as it is watched. Raises Unwatched."""
        clocking, disable, names, first = spec.clocking, spec.disable, Names({}), list[Sequence]()
        while (named := self.declared(spec.expr, names, syntax.PropertyDeclarationSyntax)) is not None:
            declaration, names = named
            first += filter(None, [self.begun(declaration, names)])
            spec = declaration.propertySpec
            clocking = spec.clocking if spec.clocking is not None else clocking
            disable = spec.disable if spec.disable is not None else disable
        clocking = clocking if clocking is not None else default_clocking(self.module)
        if clocking is None:
            raise Unwatched("it names no clock: write @(posedge clk) in it")
        self.clock = edge_of(clocking)
        given_up = self.text(disable.expr, names) if disable is not None else self._default_disable()
        try:
            if (other := self._other_clock(spec.expr, names)) is not None:
                return self._on_two_clocks(spec.expr, other, given_up, names)
            what = reduce(lambda inner, one: properties.implied(one, inner), first, self._property(spec.expr, names))
            checks = properties.temporal(what, self.number(given_up) if given_up else None)
        except ValueError as why:
            raise Unwatched(str(why)) from None
        return self._found(checks)

    def _found(self, checks: Temporal, late: tuple[str, ...] = ()) -> Property:
        conditions = tuple(self.conditions)
        if self.variables.types:
            checks, conditions = self.variables.resolved(checks, conditions)
        if not conditions:
            raise Unwatched("it names no signal")
        edge, clock = self.clock
        return Property(clock, edge, conditions, checks, late)

    def _other_clock(self, node: Node, names: "Names") -> tuple[tuple[str, str], Node, "Names"] | None:
        """Of an implication the clock of its right side, where that is another, and what is checked on it."""
        node = _within(node)
        if node.kind.name != "ImplicationPropertyExpr":
            return None
        right, known = _within(node.right), names
        if (named := self.declared(right, names, syntax.PropertyDeclarationSyntax)) is not None:
            declaration, known = named
            spec = declaration.propertySpec
            if spec.disable is not None or spec.clocking is None or known.first_values:
                return None
            clock, inner = edge_of(spec.clocking), spec.expr
        elif right.kind.name in ("ClockingSequenceExpr", "ClockingPropertyExpr"):
            clock, inner = edge_of(right.event), right.expr
        else:
            return None
        return (clock, inner, known) if clock != self.clock else None

    def _on_two_clocks(
        self, node: Node, other: tuple[tuple[str, str], Node, "Names"], given_up: str, names: "Names"
    ) -> Property:
        node, (clock, inner, known) = _within(node), other
        if plain_text(str(node.op)) == "|->":
            raise Unwatched(MATCHED_AT_ONCE)
        if self.variables.types:
            raise Unwatched("it has variables and two clocks: compare with a register of the design instead")
        before = SequenceReader(self.module, self.name, self.signed, clock=self.clock)
        sequence = before.sequence(node.left, names)
        if sequence.empty:
            raise Unwatched("the sequence on its first clock can match without a cycle: let it take at least one")
        kept, matched = crossing(before, sequence, given_up)
        self.kept += kept
        self.clock = clock
        trigger = sequences.condition(self.number(matched))
        what = properties.implied(trigger, self._property(inner, known))
        disable = self.number(given_up) if given_up else None
        return self._found(properties.temporal(what, disable), (matched,))

    # ---- properties

    def _property(self, node: Node, names: "Names") -> Properties:
        kind = node.kind.name
        if kind == "ParenthesizedPropertyExpr":
            return self._property(node.expr, names)
        if kind == "ClockingPropertyExpr":
            if edge_of(node.event) != self.clock:
                raise Unwatched(OTHER_CLOCK)
            return self._property(node.expr, names)
        if (named := self.declared(node, names, syntax.PropertyDeclarationSyntax)) is not None:
            declaration, of_ports = named
            if declaration.propertySpec.clocking is not None or declaration.propertySpec.disable is not None:
                raise Unwatched("a property within it has a clock, or a disable iff, of its own")
            inner, first = self._property(declaration.propertySpec.expr, of_ports), self.begun(declaration, of_ports)
            return inner if first is None else properties.implied(first, inner)
        if kind in ("ImplicationPropertyExpr", "FollowedByPropertyExpr"):
            later, trigger = plain_text(str(node.op)) in ("|=>", "#=#"), self.sequence(node.left, names)
            if kind == "ImplicationPropertyExpr":
                return properties.implied(trigger, self._property(node.right, names), later)
            never = properties.implied(trigger, properties.negated(self._property(node.right, names)), later)
            return properties.negated(never)
        if kind in ("ImpliesPropertyExpr", "IffPropertyExpr"):
            left, right = (self._property(one, names) for one in (node.left, node.right))
            if kind == "ImpliesPropertyExpr":
                return _implies(left, right)
            return properties.of(properties.plain((*_implies(left, right), *_implies(right, left))))
        if kind.endswith(("UntilPropertyExpr", "UntilWithPropertyExpr")):
            return self._until(node, kind.startswith("S"), kind.endswith("WithPropertyExpr"), names)
        if kind == "StrongWeakPropertyExpr":
            inner_ = self.sequence(node.expr, names)
            return properties.of(inner_ if plain_text(str(node.keyword)) == "strong" else sequences.weak(inner_))
        if isinstance(node, syntax.UnaryPropertyExprSyntax | syntax.UnarySelectPropertyExprSyntax):
            return self._unary(node, names)
        if isinstance(node, syntax.ConditionalPropertyExprSyntax):
            number = self.number(self.text(node.condition, names))
            yes, no, clause = sequences.condition(number), sequences.condition(number, False), node.elseClause
            first_, other = (None if one is None else self._property(one.expr, names) for one in (node, clause))
            assert first_ is not None
            if all(one is None or _is_plain(one) for one in (first_, other)):
                otherwise = no if other is None else sequences.fused(no, properties.plain(other))
                return properties.of(sequences.either(sequences.fused(yes, properties.plain(first_)), otherwise))
            return properties.implied(yes, first_) + (() if other is None else properties.implied(no, other))
        if kind in ("AndPropertyExpr", "OrPropertyExpr"):
            left, right = (self._property(one, names) for one in (node.left, node.right))
            if kind == "OrPropertyExpr":
                return properties.of(sequences.either(properties.plain(left), properties.plain(right)))
            if not (_is_plain(left) and _is_plain(right)):
                return left + right
            return properties.of(sequences.both(properties.plain(left), properties.plain(right)))
        return properties.of(sequences.weak(self.sequence(node, names)))

    def _until(self, node: Node, is_strong: bool, is_with: bool, names: "Names") -> Properties:
        left = self._property(node.left, names)
        right = one_cycle(self.sequence(node.right, names), node.right)
        if _is_plain(left) and is_condition(condition := properties.plain(left)):
            last = sequences.fused(condition, right) if is_with else right
            return properties.of(properties.until(condition, last, is_strong))
        ((number, holds),) = right.steps[0][1]
        before = sequences.repeated(sequences.condition(number, not holds), 0 if is_with else 1, None)
        each = properties.implied(sequences.then(before, ANY) if is_with else before, left)
        comes = properties.of(sequences.then(sequences.repeated(ANY, 0, None), right))
        return each + (comes if is_strong else ())

    def _unary(self, node: Node, names: "Names") -> Properties:
        word, what = plain_text(str(node.op)), self._property(node.expr, names)
        if word == "not":
            return properties.negated(what)
        selector, is_strong = getattr(node, "selector", None), word.startswith("s_")
        low, high = bounds(selector, word) if selector is not None else (0, None)
        if high is not None and high < low:
            raise Unwatched(f"'{word} {plain_text(str(selector))}' ends before it begins")
        if word in ("nexttime", "s_nexttime"):
            return properties.next_(low if selector is not None else 1, what, is_strong)
        if word not in ("always", "s_always"):
            return properties.of(properties.awaited(low, high, properties.plain(what), is_strong))
        if not (_is_plain(what) and is_condition(one := properties.plain(what))):
            if is_strong:
                raise Unwatched(f"'{plain_text(str(node.expr))}' is not a condition of one cycle")
            return properties.implied(sequences.repeated(ANY, low + 1, None if high is None else high + 1), what)
        if high is None:
            return properties.next_(low, properties.always(one), False)
        times = high - low + 1
        each = sequences.then(sequences.repeated(ANY, low, low), sequences.repeated(one, times, times))
        return properties.of(each if is_strong else sequences.weak(each))

    def _default_disable(self) -> str:
        found = (one for one in self.module.members if isinstance(one, syntax.DefaultDisableDeclarationSyntax))
        return next((self.text(one.expr) for one in found), "")


def _within(node: Node) -> Node:
    """What is in parentheses."""
    while node.kind.name in ("ParenthesizedPropertyExpr", "SimplePropertyExpr"):
        node = node.expr
    return node


def _is_plain(what: Properties) -> bool:
    """Whether a property is one sequence that assigns no variable."""
    ((trigger, last), *others) = what
    return (
        not others
        and trigger is None
        and last is not None
        and not any(n < 0 for _, guard, _ in last.steps for n, _ in guard)
    )


def _implies(left: Properties, right: Properties) -> Properties:
    if _is_plain(left) and is_condition(condition := properties.plain(left)):
        return properties.implied(condition, right)
    return properties.of(sequences.either(properties.plain(properties.negated(left)), properties.plain(right)))
