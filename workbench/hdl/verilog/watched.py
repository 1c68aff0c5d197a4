"""The assertions and branches of a Verilog design that are counted beside its clocked blocks."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

from pyslang import ast, syntax

from workbench.hdl.blocks import SourceBlock
from workbench.hdl.instances import BlockUse, Instance
from workbench.hdl.metrics import Mark, MetricBlock
from workbench.hdl.verilog.assertions import Reader
from workbench.hdl.verilog.blocks import branches_of, id_of, modules_of, procedures, reset_chain
from workbench.hdl.verilog.design import Design, Node
from workbench.hdl.verilog.elaborate import asked_port
from workbench.hdl.verilog.members import members_of, scope_of
from workbench.hdl.verilog.order import plain_text
from workbench.hdl.verilog.rewrite import body_of, is_alone
from workbench.hdl.watched import (
    ALONE,
    IMPLIED,
    IN_LOOP,
    IN_MACRO,
    IN_RESET,
    NO_CLOCK,
    NOT_CLEAR,
    TOO_LARGE,
    AssertionBlocks,
    Places,
    Unwatched,
    arm_name,
    beside,
    checked,
    only_clock,
    unclocked,
)  # fmt: skip
from workbench.model import sequences
from workbench.model.custom import CustomMetric, MetricKind, PlacedMetric
from workbench.model.diagnostic import Diagnostic
from workbench.model.properties import Temporal
from workbench.model.sequences import TooLarge

_LOOPS = (
    syntax.ForLoopStatementSyntax | syntax.LoopStatementSyntax | syntax.ForeachLoopStatementSyntax
    | syntax.ForeverStatementSyntax | syntax.DoWhileStatementSyntax
)  # fmt: skip
_DECISIONS = syntax.ConditionalStatementSyntax | syntax.CaseStatementSyntax
_CONCURRENT = ("AssertPropertyStatement", "AssumePropertyStatement")
_IMMEDIATE = ("ImmediateAssertStatement", "ImmediateAssumeStatement")
_SEVERITIES = {"$fatal": "failure", "$error": "error", "$warning": "warning", "$info": "note"}


def read_assertions(
    design: Design, blocks: Sequence[SourceBlock], taken: Places
) -> tuple[tuple[MetricBlock, ...], tuple[Diagnostic, ...]]:
    """The assertions of all modules, and a warning with its line for each that is not watched. `taken` are the names of
    blocks."""
    found = AssertionBlocks(taken)
    by_node = {id_of(block.node): block for block in blocks}
    for module in modules_of(design):
        reader = _Assertions(design, module, [one for one in blocks if one.module == _name(module)], found)
        reader.read(by_node)
    return tuple(found.blocks), tuple(found.wrong)


def read_branches(
    design: Design, blocks: Sequence[SourceBlock], taken: Places
) -> tuple[tuple[MetricBlock, ...], tuple[Diagnostic, ...]]:
    """The decisions of all clocked blocks, and of those without a clock beside them, and a note with its line for each
    that is not counted."""
    found = AssertionBlocks(taken)
    for block in blocks:
        if not block.why_not:
            _decisions(design, block, block, found)
    for module in modules_of(design):
        name = _name(module)
        mine = [block for block in blocks if block.module == name]
        for node in _combinational(module):
            path, line, column = design.place(node.getFirstToken().location)
            anchor = only_clock([block for block in mine if scope_of(block.node) == scope_of(node)])
            at = design.offset(node.getFirstToken().location, path)
            if path not in design.sources or at is None:
                found.not_counted("the branches of this block", IN_MACRO, design.name_of(path), line, column)
            elif anchor is None:
                found.not_counted("the branches of this block", NOT_CLEAR, design.name_of(path), line, column)
            else:
                own = SourceBlock((str(path), at), path, name, "", "always", node, "", "", 0, line, line)
                _decisions(design, own, anchor, found)
    return tuple(found.blocks), tuple(found.wrong)


def with_resets(design: Design, top: Instance | None) -> None:
    """Tell each decision in an instance which of the top's ports its first condition asks for alone."""
    for instance in top.walk() if top is not None else ():
        instance.metrics = [
            replace(use, reset=_asked(design, use)) if use.source.kind == MetricKind.BRANCH else use
            for use in instance.metrics
        ]


def _asked(design: Design, use: BlockUse) -> tuple[str, bool] | None:
    found: list[Any] = []

    def look(node: Any) -> None:
        conditional = isinstance(node, ast.ConditionalStatement)
        if conditional and int(node.sourceRange.start.offset) == use.source.key[1]:
            found.append(node)

    if use.body is not None and isinstance(use.source, MetricBlock) and not use.source.early:
        use.body.visit(look)
    return asked_port(design.nets, found[0]) if found else None


def _decisions(design: Design, block: SourceBlock, anchor: SourceBlock, found: AssertionBlocks) -> None:
    """Add those of a block, which are counted by the clock of `anchor`."""
    chain = {id_of(one) for one in _chain(block)}
    for statement, in_reset, in_loop in _statements(block):
        if not _decides(statement, chain):
            continue
        path, line, column = design.place(statement.getFirstToken().location)
        name = "an if" if isinstance(statement, syntax.ConditionalStatementSyntax) else "a case"
        if why := _why_not(design, block, statement, in_reset, in_loop):
            found.not_counted(f"the branches of {name}", why, design.name_of(path), line, column)
            continue
        arms = list(_arms(design, statement))
        label = found.name(block.module, f"branch_{line}", line)
        metric = CustomMetric(MetricKind.BRANCH, label, arms=tuple(text for text, _, _ in arms))
        marks = [Mark(node, code, at) for code, (_, node, at) in enumerate(arms, 1) if node is not None]
        if arms[-1][1] is None:  # without an else: that it was asked for, until an arm says otherwise
            marks.insert(0, Mark(statement, len(arms), line))
        placed = PlacedMetric(metric, design.name_of(path), line, column)
        offset = int(statement.getFirstToken().location.offset)
        found.blocks.append(beside(MetricBlock, anchor, placed, offset, block.key[1], tuple(marks), block.node))


def _name(module: Node) -> str:
    return str(module.header.name.valueText)


def _chain(block: SourceBlock) -> Sequence[Node]:
    return reset_chain(block.node.statement.statement, block.resets) or [] if block.resets else []


def _statements(block: SourceBlock) -> Iterator[tuple[Node, bool, bool]]:
    """Every statement of a clocked block, outer ones first, with whether it is in an asynchronous reset, or in a
    loop."""
    resets = {id_of(one.statement) for one in _chain(block)}

    def within(statement: Node, in_reset: bool, in_loop: bool) -> Iterator[tuple[Node, bool, bool]]:
        yield statement, in_reset, in_loop
        loops = in_loop or isinstance(statement, _LOOPS)
        for _, _, inner, _ in branches_of(statement):
            yield from within(inner, in_reset or id_of(inner) in resets, loops)

    return within(body_of(block.node), False, False)


def _decides(statement: Node, chain: set[tuple[int, int]]) -> bool:
    """Whether a statement begins a decision that is not its block's asynchronous reset."""
    if isinstance(statement, syntax.CaseStatementSyntax):
        return True
    if not isinstance(statement, syntax.ConditionalStatementSyntax) or id_of(statement) in chain:
        return False
    above = statement.parent
    return not isinstance(above, syntax.ElseClauseSyntax) or id_of(above.parent) in chain


def _why_not(design: Design, block: SourceBlock, statement: Node, in_reset: bool, in_loop: bool) -> str:
    """Why a statement of a clocked block cannot be counted, or ''."""
    if in_reset:
        return IN_RESET
    if in_loop:
        return IN_LOOP
    if is_alone(block):
        return ALONE
    ends = [statement.getFirstToken(), statement.getLastToken()]
    ends += [token for _, _, arm, _ in branches_of(statement) for token in (arm.getFirstToken(), arm.getLastToken())]
    return IN_MACRO if any(design.offset(token.location, block.path) is None for token in ends) else ""


def _arms(design: Design, statement: Node) -> Iterator[tuple[str, Node | None, int]]:
    """What each branch is called, its statement and its line; of the else that an if lacks, no statement."""
    kind = "if"
    while isinstance(statement, syntax.ConditionalStatementSyntax):
        line = design.place(statement.closeParen.location)[1]
        yield arm_name(kind, _tidy(statement.predicate)), statement.statement, line
        if statement.elseClause is None:
            yield IMPLIED, None, line
            return
        kind, clause = "else if", statement.elseClause.clause
        if not isinstance(clause, syntax.ConditionalStatementSyntax):
            yield "else", clause, design.place(statement.elseClause.elseKeyword.location)[1]
        statement = clause
    if kind == "if":
        for one, label, inner, head in branches_of(statement):
            yield arm_name(one, plain_text(label)), inner, design.place(head.location)[1]


def _combinational(module: Node) -> Iterator[Node]:
    """A module's blocks that have branches and no clock."""
    for node in procedures(module.members):
        if node.kind.name in ("AlwaysCombBlock", "AlwaysLatchBlock") or unclocked(_tidy(node)):
            found: list[Node] = []
            node.visit(lambda one, found=found: found.append(one) if isinstance(one, _DECISIONS) else None)
            if found:
                yield node


def _tidy(node: Node) -> str:
    return plain_text(str(node))


class _Assertions:
    """Reads those of one module."""

    def __init__(self, design: Design, module: Node, blocks: Sequence[SourceBlock], found: AssertionBlocks) -> None:
        self._design, self._module, self._blocks, self._found = design, module, blocks, found

    def read(self, by_node: dict[tuple[int, int], SourceBlock]) -> None:
        for member in members_of(self._module):
            if isinstance(member, syntax.ConcurrentAssertionMemberSyntax):
                if member.statement.kind.name in _CONCURRENT:
                    self._concurrent(member, member.statement)
            elif isinstance(member, syntax.ImmediateAssertionMemberSyntax):
                self._not(
                    member.statement, "it is outside of any block: write it as `assert property (@(posedge clk) ...)`"
                )
            elif isinstance(member, syntax.ProceduralBlockSyntax):
                self._of_block(member, by_node.get(id_of(member)))

    def _of_block(self, node: Node, block: SourceBlock | None) -> None:
        if block is None or block.why_not or block.path not in self._design.sources:
            if node.kind.name not in ("InitialBlock", "FinalBlock"):
                wanted = syntax.ImmediateAssertionStatementSyntax | syntax.ConcurrentAssertionStatementSyntax
                node.visit(
                    lambda one: (
                        self._not(one, block.why_not if block is not None else NO_CLOCK)
                        if isinstance(one, wanted) and one.kind.name in (*_IMMEDIATE, *_CONCURRENT)
                        else None
                    )
                )
            return
        for statement, in_reset, in_loop in _statements(block):
            if statement.kind.name in _CONCURRENT:
                self._not(statement, "it is a concurrent assertion within an always block: move it behind the block")
            elif statement.kind.name in _IMMEDIATE:
                why = _why_not(self._design, block, statement, False, False)
                if why:
                    self._not(statement, why)
                else:
                    self._immediate(statement, block, in_reset, in_loop)

    def _immediate(self, statement: Node, block: SourceBlock, in_reset: bool, in_loop: bool) -> None:
        """One that its block sets; in an asynchronous reset, where no register can be set so, one that is asked for by
        the clock."""
        path, line, column = self._design.place(statement.getFirstToken().location)
        name = self._name(statement, line)
        reader = Reader(self._module, name, self._signed)
        try:
            condition = reader.text(statement.expr)
            if in_loop and reader.kept:
                raise Unwatched(
                    "it asks for an earlier cycle within a loop: write `assert property` in a generate loop"
                )
            marks: tuple[Mark, ...] = ()
            if in_reset:
                checks = Temporal(((sequences.condition(0), sequences.condition(1)),))
                metric = _metric(statement, name, (_reached(statement, block), condition), checks)
            else:
                metric, marks = _metric(statement, name), (Mark(statement, 1, line, condition),)
        except Unwatched as why:
            self._not(statement, str(why))
            return
        placed = PlacedMetric(metric, self._design.name_of(path), line, column)
        offset = int(statement.getFirstToken().location.offset)
        node = statement if in_reset else None
        one = beside(MetricBlock, block, placed, offset, block.key[1], marks, node)
        self._found.blocks.append(replace(one, kept=tuple(reader.kept)))

    def _concurrent(self, member: Node, statement: Node) -> None:
        first = member.getFirstToken()
        path, line, column = self._design.place(first.location)
        offset = self._design.offset(first.location, path)
        if path not in self._design.sources or offset is None:
            self._not(statement, IN_MACRO)
            return
        name = self._name(statement, line)
        reader = Reader(self._module, name, self._signed)
        try:
            read = reader.property(statement.propertySpec)
            metric = _metric(statement, name, read.conditions, checked(read.checks))
        except TooLarge:
            self._not(statement, TOO_LARGE)
        except Unwatched as why:
            self._not(statement, str(why))
        else:
            placed = PlacedMetric(metric, self._design.name_of(path), line, column)
            key = (str(path), offset)
            self._found.blocks.append(MetricBlock(
                key, path, _name(self._module), name, metric.kind.value, member, read.clock, read.edge, 0, line, line,
                placed=placed, at=offset, kept=tuple(reader.kept), late=read.late,
            ))  # fmt: skip

    def _name(self, statement: Node, line: int) -> str:
        label = str(statement.label.name.valueText) if statement.label is not None else f"assert_{line}"
        return self._found.name(_name(self._module), label, line)

    def _signed(self, call: Node) -> bool:
        """Whether the value of a call of `$past` is, in the elaborated design."""
        if self._found.signed is None:
            self._found.signed = _signed_calls(self._design)
        start = call.sourceRange.start
        return (start.buffer.id, start.offset) in self._found.signed

    def _not(self, statement: Node, why: str) -> None:
        path, line, column = self._design.place(statement.getFirstToken().location)
        self._found.not_watched(why, self._design.name_of(path), line, column)


def _metric(
    statement: Node, name: str, conditions: tuple[str, ...] = (), checks: Temporal | None = None
) -> CustomMetric:
    severity, says = _said(statement)
    return CustomMetric(MetricKind.ASSERT, name, conditions, checks=checks, severity=severity, says=says)


def _reached(statement: Node, block: SourceBlock) -> str:
    """When a statement in an asynchronous reset is reached. Raises Unwatched."""
    asked: list[str] = []
    body = id_of(block.node.statement.statement)
    below, above = statement, statement.parent
    while id_of(below) != body:
        if isinstance(above, syntax.ConditionalStatementSyntax):
            within = id_of(above.statement) == id_of(below)
            asked.append(f"{'' if within else '!'}({_tidy(above.predicate)})")
        elif isinstance(above, syntax.CaseItemSyntax | syntax.CaseStatementSyntax | _LOOPS):
            raise Unwatched("it is in a case or a loop of an asynchronous reset: move it out of that")
        below, above = above, above.parent
    return " && ".join(reversed(asked))


def _signed_calls(design: Design) -> set[tuple[int, int]]:
    """Where calls of `$past` with a signed value stand."""
    places: set[tuple[int, int]] = set()

    def look(one: Any) -> None:
        if isinstance(one, ast.CallExpression) and one.subroutineName == "$past" and one.type.isSigned:
            places.add((one.sourceRange.start.buffer.id, one.sourceRange.start.offset))

    if design.top is not None:
        design.top.visit(look)
    return places


def _said(statement: Node) -> tuple[str, str]:
    """How severe an assertion's failure is, and what it says, by its else."""
    texts: list[str] = []
    names: list[str] = []

    def look(one: Node) -> None:
        if isinstance(one, syntax.LiteralExpressionSyntax) and one.kind.name == "StringLiteralExpression":
            texts.append(str(one.literal.valueText))
        elif isinstance(one, syntax.SystemNameSyntax):
            names.append(str(one).strip())

    clause = statement.action.elseClause
    if clause is not None:
        clause.visit(look)
    severity = next((_SEVERITIES[name] for name in names if name in _SEVERITIES), "error")
    return severity, texts[0] if texts else ""
