"""The expressions and sequences of concurrent assertions in SystemVerilog (IEEE 1800, clauses 16.7 to 16.10), and what
they keep of cycles before; what is not watched is named.

Sequences that are declared by name, with ports too, are their text.
"""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from pyslang import parsing, syntax

from workbench.hdl.verilog import local_variables
from workbench.hdl.verilog.clockings import edge_of
from workbench.hdl.verilog.design import Node
from workbench.hdl.verilog.order import plain_text
from workbench.hdl.watched import MOST_DELAY, ClockedRegister, Unwatched
from workbench.model import sequences
from workbench.model.sequences import ANY, Sequence

_PAST = ("$past", "$rose", "$fell", "$stable", "$changed", "$sampled")
_PLAIN = ("$bits", "$clog2", "$countones", "$onehot", "$onehot0", "$signed", "$unsigned")
_TWO = {
    "AndSequenceExpr": sequences.both, "OrSequenceExpr": sequences.either, "IntersectSequenceExpr": sequences.together,
    "WithinSequenceExpr": sequences.within,
}  # fmt: skip
OTHER_CLOCK = "it changes its clock within a sequence: two clocks are watched as `@(posedge a) S |=> @(posedge b) P`"
_RANGE = re.compile(r"\[\s*([^:\]]+?)\s*(?::\s*([^\]]+?)\s*)?\]")


@dataclass
class SequenceReader:
    """Reads the expressions and sequences of one assertion. `name` is in the names of what is `kept` of cycles before;
    `signed`: whether the value of a call is."""

    module: Node
    name: str
    signed: Callable[[Node], bool]
    kept: list[ClockedRegister] = field(default_factory=list)
    conditions: list[str] = field(default_factory=list)
    clock: tuple[str, str] = ("", "")
    _numbers: dict[str, int] = field(default_factory=dict)
    _depth: int = 0

    def __post_init__(self) -> None:
        self.variables = local_variables.Variables(self.name, self.kept)

    def text(self, node: Node, names: "Names | None" = None) -> str:
        """An expression, with registers for what it asks of cycles before. Raises Unwatched."""
        names = names or Names({})
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

    def _past(self, function: str, node: Node, names: "Names") -> str:
        given = [one for one in node.arguments.parameters if isinstance(one, syntax.SyntaxNode)]
        texts = [self.text(one.expr, names) if hasattr(one, "expr") else "" for one in given]
        if any(local_variables.is_read(text) for text in texts):
            raise Unwatched(
                f"{function} of a variable has no value: assign it that of the signal, (a, x = {function}(q))"
            )
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
            self.kept.append(ClockedRegister(f"reg {size}{register} = 0;", f"{register} <= {value};"))
            value = register
        now = f"(({texts[0]}) & 1'b1)" if bit else f"({texts[0]})"
        return {
            "$past": value, "$stable": f"({now} == {value})", "$changed": f"({now} != {value})",
            "$rose": f"({now} != 0 && !{value})", "$fell": f"({now} == 0 && {value})",
        }[function]  # fmt: skip

    def number(self, text: str) -> int:
        """That of a condition; where it reads a variable, of this place, as it is in the order of assignments."""
        if local_variables.is_read(text) or text not in self._numbers:
            self._numbers[text] = len(self.conditions)
            self.conditions.append(text)
        return self._numbers[text]

    def _assignment(self, key: str, value: str) -> Sequence:
        """A cycle in which a variable gets a value."""
        self.conditions.append(self.variables.assignment(key, value))
        return sequences.condition(~(len(self.conditions) - 1))

    def begun(self, declaration: Node, names: "Names") -> Sequence | None:
        """The cycle in which variables of a declaration, and its local ports, get their first values, where they have
        some."""
        first: Sequence | None = None
        for key, value, known in names.first_values:
            one = self._assignment(key, self.text(value, known or names))
            first = one if first is None else sequences.fused(first, one)
        return first

    # ---- sequences

    def sequence(self, node: Node, names: "Names") -> Sequence:
        """A sequence. Raises Unwatched, TooLarge, and ValueError as `sequences` does."""
        kind = node.kind.name
        if (named := self.declared(node, names, syntax.SequenceDeclarationSyntax)) is not None:
            inner, first = self.sequence(named[0].seqExpr, named[1]), self.begun(*named)
            if first is not None:
                if inner.empty:
                    raise Unwatched("a sequence whose variable has a first value can match without a cycle")
                inner = sequences.fused(first, inner)
            return self._repeated(inner, node, names)
        if kind in ("ParenthesizedPropertyExpr", "SimplePropertyExpr"):
            return self._assigned(self.sequence(node.expr, names), node, names)
        if kind in ("SimpleSequenceExpr", "ParenthesizedSequenceExpr"):
            if kind == "ParenthesizedSequenceExpr":
                return self._repeated(self._assigned(self.sequence(node.expr, names), node, names), node, names)
            actual = names.actual.get(plain_text(str(node.expr)))
            if actual is not None and isinstance(actual[0], syntax.PropertyExprSyntax):
                return self._repeated(self.sequence(*actual), node, names)
            return self._repeated(sequences.condition(self.number(self.text(node.expr, names))), node, names)
        if isinstance(node, syntax.DelayedSequenceExprSyntax):
            return self._delayed(node, names)
        if kind == "ThroughoutSequenceExpr":
            left = one_cycle(self.sequence(node.left, names), node.left)
            ((_, guard, _),) = left.steps
            ((number, _),) = guard
            return sequences.throughout(number, self._apart(left, self.sequence(node.right, names)))
        if kind == "FirstMatchSequenceExpr":
            if getattr(node, "matchList", None) is not None:
                raise Unwatched("what first_match assigns is not watched: assign it in the sequence behind")
            return sequences.first_match(self.sequence(node.expr, names))
        if kind in _TWO:
            first, second = self.sequence(node.left, names), self.sequence(node.right, names)
            return _TWO[kind](first, second if kind == "OrSequenceExpr" else self._apart(first, second))
        if kind == "ClockingSequenceExpr":
            if edge_of(node.event) != self.clock:
                raise Unwatched(OTHER_CLOCK)
            return self.sequence(node.expr, names)
        what = plain_text(str(node))
        raise Unwatched(f"'{what if len(what) <= 40 else what[:37] + '...'}' is not watched: see the guide for what is")

    def _assigned(self, sequence: Sequence, node: Node, names: "Names") -> Sequence:
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
                raise Unwatched(f"'{plain_text(str(item))}' does not assign one of its variables")
            if sequence.empty:
                raise Unwatched(f"'{plain_text(str(item))}' is behind a sequence that can match without a cycle")
            sequence = sequences.fused(sequence, self._assignment(variable, self.text(what.right, names)))
        return sequence

    def _apart(self, first: Sequence, second: Sequence) -> Sequence:
        """The second of two that go on at once: each has its own values of variables. Raises Unwatched where one
        assigns what the other reads, or assigns too."""
        reads, assigns = zip(*(self.variables.used(one, self.conditions) for one in (first, second)), strict=True)
        for name in sorted((assigns[0] & (reads[1] | assigns[1])) | (assigns[1] & reads[0])):
            raise Unwatched(
                f"its variable '{local_variables.name_of(name)}' is assigned in one of two sequences that go on at"
                " once, and used in the other: give each a variable of its own"
            )
        return second

    def _variable(self, node: Node, names: "Names") -> str | None:
        """The key of the variable that an expression is; of a port, that it stands for."""
        if not isinstance(node, syntax.IdentifierNameSyntax):
            return getattr(node, "expr", None) and self._variable(node.expr, names) if _is_plain(node) else None
        name = str(node.identifier.valueText)
        if (actual := names.actual.get(name)) is not None:
            return self._variable(*actual)
        return names.variables.get(name)

    def _delayed(self, node: Node, names: "Names") -> Sequence:
        low: int
        high: int | None
        before = self.sequence(node.first, names) if node.first is not None else None
        for one in node.elements:
            if one.delayVal is not None:
                delay = plain_text(str(one.delayVal))
                low, high = (_cycles(delay, f"##{delay}"),) * 2
            elif one.range is not None:
                low, high = bounds(one.range, "##")
            else:
                low, high = (1 if plain_text(str(one.op)) == "+" else 0), None
            element = self.sequence(one.expr, names)
            if before is None:
                before = sequences.then(sequences.repeated(ANY, low, high), element)
            else:
                before = sequences.delayed(before, low, high, element)
        assert before is not None
        return before

    def _repeated(self, sequence: Sequence, node: Node, names: "Names") -> Sequence:
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
            low, high = bounds(repetition.selector, f"[{word}")
        if word in ("*", "+"):
            return sequences.repeated(sequence, low, high)
        ((number, holds),) = next(iter(one_cycle(sequence, node).steps))[1]
        assert holds
        times = sequences.at_times(number, low, high)
        if word == "->":
            return times
        return sequences.then(times, sequences.repeated(sequences.condition(number, False), 0, None))

    # ---- names

    def declared(self, node: Node, names: "Names", kind: type[Any]) -> "tuple[Node, Names] | None":
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

    def _ports(self, declaration: Node, arguments: list[Node], names: "Names") -> "Names":
        self._depth += 1
        name = declaration.name.valueText
        if self._depth > MOST_DELAY:
            raise Unwatched(f"'{name}' names itself")
        listed = declaration.portList.ports if declaration.portList is not None else ()
        ports = [one for one in listed if isinstance(one, syntax.AssertionItemPortSyntax)]
        actual: dict[str, tuple[Node, Names]] = {}
        local: dict[str, str] = {}
        values: list[tuple[str, Node, Names | None]] = []
        for number, port in enumerate(ports):
            formal = str(port.name.valueText)
            named = (one for one in arguments if getattr(getattr(one, "name", None), "valueText", "") == formal)
            one = next(named, arguments[number] if number < len(arguments) else None)
            if one is None or getattr(one, "expr", None) is None:
                raise Unwatched(f"the port '{formal}' of '{name}' gets no value")
            if str(port.local.valueText) != "local":
                actual[formal] = (one.expr, names)
                continue
            if str(port.direction.valueText) in ("inout", "output"):
                raise Unwatched(f"the port '{formal}' of '{name}' gives a value back: assign a variable in a sequence")
            local[formal] = self.variables.declare(formal, port.type, port)
            values.append((local[formal], one.expr, names))
        for declared in declaration.variables:
            for one in declared.declarators:
                if isinstance(one, parsing.Token):
                    continue
                of = str(one.name.valueText)
                local[of] = self.variables.declare(of, declared.type, one)
                if one.initializer is not None:
                    values.append((local[of], one.initializer.expr, None))
        return Names(actual, local, tuple(values))


@dataclass(frozen=True)
class Names:
    """The values of ports, each with the names that are known where it is written (None: these), the keys of variables,
    and their first values."""

    actual: "Mapping[str, tuple[Node, Names]]"
    variables: Mapping[str, str] = field(default_factory=dict)
    first_values: "tuple[tuple[str, Node, Names | None], ...]" = ()


def _is_plain(node: Node) -> bool:
    """Whether it stands around an expression, and adds nothing to it."""
    return node.kind.name in ("SimplePropertyExpr", "SimpleSequenceExpr", "ParenthesizedExpression")


def is_condition(sequence: Sequence) -> bool:
    """Whether a sequence is one condition of one cycle."""
    guard = sequence.steps[0][1] if len(sequence.steps) == 1 and not sequence.empty else frozenset()
    return len(guard) == 1 and next(iter(guard))[0] >= 0


def one_cycle(sequence: Sequence, node: Node) -> Sequence:
    """A sequence that is one condition. Raises Unwatched."""
    if not is_condition(sequence):
        raise Unwatched(f"'{plain_text(str(node))}' is not a condition of one cycle")
    return sequence


def bounds(selector: Node, what: str) -> tuple[int, int | None]:
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


def _has_more(node: Node, names: Names) -> bool:
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
