"""Reads each pragma's condition in its block: a wrong one is reported before anything is built."""

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import pyslang
from pyslang import parsing, syntax

from workbench.api.source.lines import source_bytes
from workbench.hdl.blocks import SourceBlock
from workbench.hdl.instances import Instance, Key, uses_in
from workbench.hdl.verilog.design import Design, Node
from workbench.model.diagnostic import Diagnostic, Severity, did_you_mean

CONDITION_HINT = "Write a Verilog expression over signals of this module, such as ack == 1'b1."
#: Within these, names stand that no scope holds: members of a struct, of another scope, an array's `item`.
_OPEN = (
    syntax.ScopedNameSyntax,
    syntax.AssignmentPatternExpressionSyntax,
    syntax.ArrayOrRandomizeMethodExpressionSyntax,
    syntax.NamedArgumentSyntax,
)


def check_conditions(
    design: Design, blocks: Iterable[SourceBlock], top: Instance | None, why_not: Mapping[Key, str]
) -> Iterator[Diagnostic]:
    """A diagnostic for each condition that is no expression, or names what its block does not know: an error where the
    block is observed, else a warning."""
    scopes: dict[Key, Any] = {}
    for use in uses_in(top):
        scopes.setdefault(use.source.key, use.scope)
    conditions = Conditions(design)
    for block in blocks:
        scope = scopes.get(block.key)
        severity = Severity.ERROR if scope is not None and block.key not in why_not else Severity.WARNING
        conditional = [p for arm in block.arms if not arm.in_reset for p in arm.pragmas if p.pragma.condition]
        local = frozenset(_declared(block.node)) if conditional else frozenset()
        for placed in conditional:
            for what, hint in conditions.wrong(placed.pragma.condition or "", local, scope):
                yield placed.diagnostic(f"{placed.title} is wrong: {what}", hint, severity)


@dataclass(frozen=True)
class Conditions:
    """The expressions of a design's marks, as slang reads them."""

    design: Design

    @cached_property
    def macros(self) -> tuple[Any, ...]:
        return tuple(_macros(self.design))

    def wrong(self, condition: str, local: frozenset[str], scope: Any | None) -> list[tuple[str, str]]:
        """(what is wrong, what would be right): the first fault of the expression's form, or each name that is neither
        `local` nor known in the scope."""
        design, manager = self.design, self.design.manager
        text = f"module m; initial if ({condition}\n) ; endmodule\n"
        macros = self.macros if "`" in condition else ()
        tree = syntax.SyntaxTree.fromBuffer(manager.assignText(text), manager, design.options, macros)
        engine = pyslang.DiagnosticEngine(manager)
        for problem in tree.diagnostics:
            if problem.isError():
                return [(engine.formatMessage(problem), CONDITION_HINT)]
        if scope is None:
            return []
        unknown = [
            name
            for name in dict.fromkeys(_names(tree.root))
            if name not in local and scope.lookupName(name) is None and not _function(design, name)
        ]
        return [(f"there is no '{name}' here", _meant(name, scope, local)) for name in unknown]


def _macros(design: Design) -> Iterator[Any]:
    """Every `define of the sources and of what they include."""
    directives: list[Any] = []

    def look(item: Node) -> None:
        for trivia in item.trivia if isinstance(item, parsing.Token) else ():
            if trivia.kind == parsing.TriviaKind.Directive:
                directive = trivia.syntax()
                if isinstance(directive, syntax.DefineDirectiveSyntax):
                    directives.append(directive)

    for unit in design.units:
        unit.root.visit(look)
    return iter(directives)


def _names(root: Node) -> Iterator[str]:
    """The plain names in an expression."""
    pending = [root]
    while pending:
        node = pending.pop()
        if isinstance(node, syntax.IdentifierNameSyntax | syntax.IdentifierSelectNameSyntax):
            yield str(node.identifier.valueText)
        if isinstance(node, syntax.SyntaxNode) and not isinstance(node, _OPEN):
            pending += list(node)


def _declared(root: Node) -> Iterator[str]:
    """What the block itself declares."""
    names: list[str] = []

    def look(node: Node) -> None:
        if isinstance(node, syntax.DeclaratorSyntax):
            names.append(str(node.name.valueText))
        elif isinstance(node, syntax.ForeachLoopListSyntax):
            names.extend(re.findall(r"\w+", str(node)))

    root.visit(look)
    return iter(names)


def _function(design: Design, name: str) -> bool:
    """Whether any source declares such a function: a call of it may find it further up."""
    declared = re.compile(rf"\bfunction\b[^;(]*\b{re.escape(name)}\s*[;(]".encode())
    return any(declared.search(source_bytes(path)) for path in design.sources)


def _meant(name: str, scope: Any, local: Iterable[str]) -> str:
    holders = (scope, scope.containingInstance)
    known = {*local, *(member.name for holder in holders if holder is not None for member in holder if member.name)}
    return did_you_mean(name, known) or CONDITION_HINT
