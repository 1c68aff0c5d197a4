"""The members of a module and of its generate blocks, without the statements of blocks."""

from collections.abc import Iterator
from typing import Any

from pyslang import syntax

from workbench.hdl.verilog.blocks import id_of, modules_of
from workbench.hdl.verilog.design import Design, Node

_CONCURRENT = (
    syntax.ConcurrentAssertionMemberSyntax | syntax.PropertyDeclarationSyntax | syntax.SequenceDeclarationSyntax
)


def members_of(module: Node) -> Iterator[Node]:
    """The items of a module and of its generates."""
    return _members(module.members)


def _members(members: Any) -> Iterator[Node]:
    for member in members:
        if isinstance(member, syntax.ModuleDeclarationSyntax):
            continue
        if isinstance(member, syntax.LoopGenerateSyntax):
            yield from _members([member.block])
        elif isinstance(member, syntax.IfGenerateSyntax):
            other = member.elseClause
            yield from _members([member.block, *([other.clause] if other is not None else [])])
        elif isinstance(member, syntax.CaseGenerateSyntax):
            yield from _members([one.clause for one in member.items])
        elif (inner := getattr(member, "members", None)) is not None:
            yield from _members(inner)
        elif isinstance(member, syntax.SyntaxNode):
            yield member


def scope_of(node: Node) -> tuple[int, int]:
    """Where what an item of a module stands in begins and ends."""
    parent = node.parent
    while isinstance(parent, syntax.GenerateRegionSyntax):
        parent = parent.parent
    return id_of(parent)


def assertions_of(design: Design) -> Iterator[Node]:
    """The concurrent assertions of all modules, and the properties and sequences that are declared for them."""
    for module in modules_of(design):
        yield from (member for member in members_of(module) if isinstance(member, _CONCURRENT))
