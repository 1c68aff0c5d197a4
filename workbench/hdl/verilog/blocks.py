"""Clocked always blocks as they stand in the source: their branches, and the pragmas before each first statement."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

from pyslang import syntax

from workbench.hdl.blocks import Arm, SourceBlock, check_names
from workbench.hdl.source_file import SourceFile
from workbench.hdl.verilog.design import Design, Node
from workbench.hdl.verilog.order import plain_text
from workbench.hdl.verilog.source_file import read_sources
from workbench.model.diagnostic import Diagnostic
from workbench.model.pragma import PlacedPragma

Kind = syntax.SyntaxKind
_STEP = 4  # by which a statement stands deeper that is parted from what opens its branch
_EDGES = ("posedge", "negedge")
_GENERATE = (
    syntax.GenerateRegionSyntax,
    syntax.GenerateBlockSyntax,
    syntax.LoopGenerateSyntax,
    syntax.IfGenerateSyntax,
    syntax.CaseGenerateSyntax,
    syntax.ElseClauseSyntax,
    syntax.StandardCaseItemSyntax,
    syntax.DefaultCaseItemSyntax,
)


def read_blocks(design: Design) -> tuple[tuple[SourceBlock, ...], tuple[Diagnostic, ...]]:
    """Every clocked always block of every module in the sources, in order, and what is wrong with pragmas."""
    sources, problems = read_sources(design)
    diagnostics = list(problems)
    blocks = [block for module in modules_of(design) for block in _module_blocks(design, module, sources)]
    for source in sources.values():
        diagnostics += source.stray()
    for block in blocks:
        diagnostics += check_names(block)
    return tuple(blocks), tuple(diagnostics)


def modules_of(design: Design) -> Iterator[Node]:
    """Every module of the sources that stands in no other."""
    return (module for tree in design.units for module in _modules(tree.root))


def _modules(node: Node) -> Iterator[Node]:
    if isinstance(node, syntax.ModuleDeclarationSyntax):
        yield node
    elif isinstance(node, syntax.CompilationUnitSyntax):
        for member in node.members:
            yield from _modules(member)


def _module_blocks(design: Design, module: Node, sources: dict[Path, SourceFile]) -> Iterator[SourceBlock]:
    seen: set[str] = set()
    for node in procedures(module.members):
        block = _read_block(design, module, node, sources)
        if block is not None:
            if block.label in seen:
                block = replace(block, label=f"{block.label}_line_{block.line}")
            seen.add(block.label)
            yield block
    for member in module.members:
        yield from (b for inner in _modules(member) for b in _module_blocks(design, inner, sources))


def procedures(members: Node) -> Iterator[Node]:
    for member in members:
        if isinstance(member, syntax.ProceduralBlockSyntax):
            yield member
        elif isinstance(member, _GENERATE):
            yield from procedures(member)


def _read_block(design: Design, module: Node, node: Node, sources: dict[Path, SourceFile]) -> SourceBlock | None:
    if node.kind not in (Kind.AlwaysBlock, Kind.AlwaysFFBlock):
        return None
    timed = node.statement
    if not isinstance(timed, syntax.TimingControlStatementSyntax):
        return None
    events = list(_events(timed.timingControl))
    if not events or any(edge not in _EDGES for edge, _ in events):
        return None
    path, line, _ = design.place(node.sourceRange.start)
    _, end_line, _ = design.place(node.sourceRange.end)
    conditions = " ".join(str(c) for c in _reset_conditions(timed.statement, len(events) - 1))
    tested = set(re.findall(r"[A-Za-z_][\w$]*", conditions))
    edge, clock = next((e for e in events if e[1] not in tested), events[0])
    label = _label(timed.statement) or f"line_{line}"
    kind = "always_ff" if node.kind == Kind.AlwaysFFBlock else "always"
    offset = design.offset(node.getFirstToken().location, path)
    source = sources.get(path)
    common = {
        "path": path, "module": module.header.name.valueText, "label": label, "kind": kind, "node": node,
        "clock": clock, "edge": edge, "resets": len(events) - 1, "line": line, "end_line": end_line,
    }  # fmt: skip
    if source is None:
        return SourceBlock((str(path), node.sourceRange.start.offset), why_not=_INCLUDED, **common)
    if offset is None:
        return SourceBlock((str(path), node.sourceRange.start.offset), why_not=_MACRO, **common)
    arms = tuple(_arms(design, source, timed, len(events) - 1))
    broken = _unplaceable(design, path, node, arms)
    return SourceBlock((str(path), offset), arms=() if broken else arms, why_not=broken, **common)


_MACRO = "it is in a macro: write it out to observe it"
_INCLUDED = "it is in an included file: add that file to the hardware sources"


def _unplaceable(design: Design, path: Path, node: Node, arms: Sequence[Arm]) -> str:
    """Why edits cannot be placed in this block, or ''."""
    needed = [node.getFirstToken(), node.getLastToken()]
    for arm in arms:
        block = arm.statement
        if isinstance(block, syntax.BlockStatementSyntax):
            needed += [block.begin, block.end]
        elif arm.pragmas:
            needed += [block.getLastToken()]
    return "" if all(design.offset(token.location, path) is not None for token in needed) else _MACRO


def _events(control: Node) -> Iterator[tuple[str, str]]:
    """(edge, signal text) of each event; the edge is '' for one without."""
    if isinstance(control, syntax.SignalEventExpressionSyntax):
        edge = control.edge.valueText if control.edge else ""
        yield edge, plain_text(str(control.expr))
    elif isinstance(control, syntax.BinaryEventExpressionSyntax):
        yield from _events(control.left)
        yield from _events(control.right)
    elif isinstance(control, syntax.ParenthesizedEventExpressionSyntax | syntax.EventControlWithExpressionSyntax):
        yield from _events(control.expr)
    elif isinstance(control, syntax.SyntaxNode):
        yield "", ""


def _label(statement: Node) -> str:
    named = getattr(statement, "blockName", None)
    if named is not None and named.name:
        return str(named.name.valueText)
    label = getattr(statement, "label", None)
    return str(label.name.valueText) if label is not None else ""


def reset_chain(statement: Node, resets: int) -> list[Node] | None:
    """The conditionals of an asynchronous-reset template, outermost first, or None where it is not one."""
    chain: list[Node] = []
    while len(chain) < resets:
        if isinstance(statement, syntax.BlockStatementSyntax):
            items = list(_items(statement))
            if len(items) != 1:
                return None
            statement = items[0]
        if not isinstance(statement, syntax.ConditionalStatementSyntax):
            return None
        chain.append(statement)
        if statement.elseClause is None:
            return chain if len(chain) == resets else None
        statement = statement.elseClause.clause
    return chain or None


def _reset_conditions(statement: Node, resets: int) -> list[Node]:
    return [conditional.predicate for conditional in reset_chain(statement, resets) or []]


def _items(block: Node) -> Iterator[Node]:
    """The statements of a begin-end block, without its declarations."""
    return (item for item in block.items if isinstance(item, syntax.StatementSyntax))


def after_declarations(block: Node) -> Node:
    """The last token before a begin-end block's first statement."""
    token = block.blockName.getLastToken() if block.blockName is not None else block.begin
    for item in block.items:
        if isinstance(item, syntax.StatementSyntax):
            break
        token = item.getLastToken()
    return token


def _arms(design: Design, source: SourceFile, timed: Node, resets: int) -> Iterator[Arm]:
    chain = reset_chain(timed.statement, resets) or []
    asynchronous = {id_of(conditional.statement) for conditional in chain}
    head = timed.timingControl.getLastToken()
    yield _arm(design, source, "body", "", timed.statement, head, False)
    yield from _inner_arms(design, source, timed.statement, asynchronous, False)


def id_of(node: Node) -> tuple[int, int]:
    return node.sourceRange.start.offset, node.sourceRange.end.offset


def _inner_arms(
    design: Design,
    source: SourceFile,
    statement: Node,
    asynchronous: set[tuple[int, int]],
    in_reset: bool,
    if_kind: str = "if",
) -> Iterator[Arm]:
    """The branches within a statement, in the order they stand; `if_kind` is "elsif" for one that is an else if."""
    for kind, label, inner, head in branches_of(statement):
        inside = in_reset or (kind == "if" and id_of(inner) in asynchronous)
        inner_if = "if"
        if kind:
            arm = _arm(design, source, if_kind if kind == "if" else kind, label, inner, head, inside)
            if kind == "else" and isinstance(inner, syntax.ConditionalStatementSyntax) and not arm.pragmas:
                inner_if = "elsif"
            else:
                yield arm
        yield from _inner_arms(design, source, inner, asynchronous, inside, inner_if)


def branches_of(statement: Node) -> Iterator[tuple[str, str, Node, Node]]:
    """(kind, label, statement, token that opens it) of each branch; kind '' for a statement that is just nested."""
    if isinstance(statement, syntax.BlockStatementSyntax):
        for item in _items(statement):
            yield "", "", item, None
    elif isinstance(statement, syntax.ConditionalStatementSyntax):
        yield "if", str(statement.predicate).strip(), statement.statement, statement.closeParen
        if statement.elseClause is not None:
            yield "else", "", statement.elseClause.clause, statement.elseClause.elseKeyword
    elif isinstance(statement, syntax.CaseStatementSyntax):
        for item in statement.items:
            if isinstance(item, syntax.DefaultCaseItemSyntax):
                yield "default", "default", item.clause, item.colon or item.defaultKeyword
            elif isinstance(item, syntax.StandardCaseItemSyntax):
                label = "".join(str(expression) for expression in item.expressions).strip()
                yield "case", label, item.clause, item.colon
            elif isinstance(item, syntax.PatternCaseItemSyntax):
                yield "case", str(item.pattern).strip(), item.statement, item.colon
    elif isinstance(
        statement,
        syntax.ForLoopStatementSyntax
        | syntax.LoopStatementSyntax
        | syntax.ForeachLoopStatementSyntax
        | syntax.ForeverStatementSyntax
        | syntax.DoWhileStatementSyntax
        | syntax.TimingControlStatementSyntax,
    ):
        yield "", "", statement.statement, None


def _arm(design: Design, source: SourceFile, kind: str, label: str, statement: Node, head: Node, in_reset: bool) -> Arm:
    first = statement.getFirstToken()
    if isinstance(statement, syntax.BlockStatementSyntax):
        first = next((item.getFirstToken() for item in _items(statement)), statement.end)
    start = _end_offset(design, head)
    _, line, _ = design.place(head.location)
    path, first_line, _ = design.place(first.location)
    manager = design.manager
    _, end_line, _ = design.place(statement.sourceRange.end)
    location = manager.getFullyExpandedLoc(first.location)
    pragmas: list[PlacedPragma] = []
    pragma_line, indent, column = 0, 1, 0
    if path == source.path:
        for number, (offset, placed) in enumerate(source.pragmas):
            if start <= offset < location.offset:
                source.used.add(number)
                pragmas.append(placed)
        if source.begins_line(location.offset, first_line) and source.line_start(first_line) >= start:
            pragma_line, indent = first_line, source.indent(first_line)
        elif manager.isFileLoc(first.location) and location.offset >= start:
            pragma_line, indent = first_line, source.indent(first_line) + _STEP
            column = source.column(location.offset, first_line)
    return Arm(kind, plain_text(label), statement, (start, location.offset), line, end_line, pragma_line, indent,
               in_reset, tuple(pragmas), column)  # fmt: skip


def _end_offset(design: Design, token: Node) -> int:
    """The byte offset behind a token, or behind the macro use that it comes from."""
    manager, end = design.manager, token.range.end
    while manager.isMacroLoc(end):
        end = manager.getExpansionRange(end).end
    return int(end.offset)
