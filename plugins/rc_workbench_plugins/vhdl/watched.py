"""Assertions and branches of a design in VHDL: what of its text is counted beside its clocked processes."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace

from tree_sitter import Node

from rc_workbench_plugins.vhdl.blocks import SourceBlock, branches, condition_of, held_in, opening_of, statements_in
from rc_workbench_plugins.vhdl.metrics import MetricBlock
from rc_workbench_plugins.vhdl.psl import Property, properties
from rc_workbench_plugins.vhdl.states import declared_signals
from rc_workbench_plugins.vhdl.syntax import child, children, matches, plain, text_of, tidy
from rc_workbench_plugins.vhdl.types import is_open, types_of
from rc_workbench_plugins.vhdl.units import Region, Unit, label_of
from workbench.api import Diagnostic
from workbench.hdl import metrics
from workbench.hdl.metrics import CustomMetric, Mark, MetricKind, PlacedMetric
from workbench.hdl.watched import (
    ANY,
    IMPLIED,
    IN_LOOP,
    IN_RESET,
    NO_CLOCK,
    NOT_AT_EDGE,
    NOT_CLEAR,
    AssertionBlocks,
    Places,
    Temporal,
    Unwatched,
    arm_name,
    beside,
    only_clock,
    sequences,
)  # fmt: skip

_DECISIONS = ("if_statement_block", "case_statement")
_LOOPS = ("loop_statement",)


class Watched:
    """Finds them in the architectures of a design. `name` is what a file is called to people."""

    def __init__(self, unit: Unit, name: str, blocks: Sequence[SourceBlock], taken: Places) -> None:
        self._unit, self._name = unit, name
        self._blocks = [block for block in blocks if block.path == unit.file.path and block.module == unit.of]
        self.found = AssertionBlocks(taken)

    def assertions(self) -> None:
        """Add the assertions of processes, those beside them, and PSL's."""
        for region in self._unit.regions:
            anchor = self._anchor(region, only_clock)
            for node in region.dropped:
                if node.type == "concurrent_assertion_statement":
                    self._concurrent(node, anchor)
            for node in region.processes:
                self._of_process(node, next((one for one in self._blocks if one.node == node), None))
        data = self._unit.file.data[self._unit.node.start_byte : self._unit.node.end_byte]
        for offset, read in properties(data, _registers(self._unit)):
            self._psl(self._unit.node.start_byte + offset, read)

    def branches(self) -> None:
        """Add the decisions of processes, clocked ones and, where one clock is beside them, others."""
        for region in self._unit.regions:
            mine = [block for block in self._blocks if block.region is region]
            clocked = {block.node.id: block for block in mine}
            for node in region.processes:
                block = clocked.get(node.id)
                anchor = block if block is not None else only_clock(mine)
                if anchor is not None and not anchor.why_not:
                    self._decisions(node, block, anchor)
                elif matches(node, "[(if_statement_block) (case_statement)] @d"):
                    why = block.why_not if block is not None else NOT_CLEAR
                    self.found.not_counted("the branches of this process", why, *self._place(node))

    def _place(self, node: Node) -> tuple[str, int, int]:
        return (self._name, *self._unit.file.place(node))

    def _decisions(self, node: Node, block: SourceBlock | None, anchor: SourceBlock) -> None:
        for statement, why in _statements(node, block):
            if statement.type not in _DECISIONS or why == NOT_AT_EDGE:
                continue
            line = statement.start_point.row + 1
            if why:
                what = "an if" if statement.type == _DECISIONS[0] else "a case"
                self.found.not_counted(f"the branches of {what}", why, *self._place(statement))
                continue
            arms = list(_arms(statement))
            marks = [Mark(at, code, row) for code, (_, at, row) in enumerate(arms, 1) if at >= 0]
            if arms[-1][1] < 0:  # without an else: that it was asked for, until an arm says otherwise
                marks.insert(0, Mark(statement.start_byte, len(arms), line))
            name = self.found.name(plain(anchor.module), f"branch_{line}", line)
            metric = CustomMetric(MetricKind.BRANCH, name, arms=tuple(text for text, _, _ in arms))
            body = block.arms[0].statement if block is not None and block.arms else None
            first = body is not None and not self._unit.file.data[opening_of(body) : statement.start_byte].strip()
            self._add(anchor, metric, statement, tuple(marks), node, first)

    def _add(
        self, anchor: SourceBlock, metric: CustomMetric, statement: Node, marks: tuple[Mark, ...], node: Node,
        first: bool = False,
    ) -> None:  # fmt: skip
        placed, own = PlacedMetric(metric, *self._place(statement)), anchor.node if anchor.node == node else node
        block = beside(MetricBlock, anchor, placed, statement.start_byte, node.start_byte, marks, own, first)
        self.found.blocks.append(block)

    def _of_process(self, node: Node, block: SourceBlock | None) -> None:
        if block is None or block.why_not:
            for one in matches(node, "(assertion_statement) @a"):
                self._not(one, block.why_not if block is not None else NO_CLOCK)
            return
        for statement, why in _statements(node, block):
            if statement.type != "assertion_statement" or _is_message(statement):
                continue
            line = statement.start_point.row + 1
            asked = _reached(statement, node) if why == IN_RESET else ""
            if why not in ("", IN_LOOP) and not asked:
                self._not(statement, why)
            elif asked:  # no register can be set there: it is asked for by the clock
                checks = Temporal(((sequences.condition(0), sequences.condition(1)),))
                conditions = (asked, _asserted(statement))
                metric = self._metric(block.module, label_of(statement), line, conditions, statement)
                self._add(block, replace(metric, checks=checks), statement, (), node)
            else:
                metric = self._metric(block.module, label_of(statement), line, (), statement)
                mark = Mark(statement.start_byte, 1, line, _asserted(statement))
                self._add(block, metric, statement, (mark,), node)

    def _concurrent(self, node: Node, anchor: SourceBlock | None) -> None:
        if anchor is None:
            self._not(node, "its architecture has no clocked process, or processes on several clocks")
            return
        line = node.start_point.row + 1
        metric = self._metric(anchor.module, label_of(node), line, (_asserted(node),), node)
        metric = replace(metric, checks=Temporal(((ANY, sequences.condition(0)),)))
        placed = PlacedMetric(metric, *self._place(node))
        self.found.blocks.append(beside(MetricBlock, anchor, placed, node.start_byte, node.start_byte))

    def _anchor(
        self, region: Region, chosen: Callable[[Sequence[SourceBlock]], SourceBlock | None]
    ) -> SourceBlock | None:  # fmt: skip
        """The process that is `chosen` of those in a region; of those around it, where it has none."""
        around = [one for one in self._unit.regions if one.start <= region.start and region.end <= one.end]
        for one in sorted(around, key=lambda one: -one.start):
            mine = [block for block in self._blocks if block.region is one]
            if (anchor := chosen(mine)) is not None:
                return anchor if one is region else replace(anchor, region=region)
            if mine and one is region and chosen is only_clock:
                return None  # processes of several clocks
        return None

    def _metric(
        self, module: str, label: str, line: int, conditions: tuple[str, ...], node: Node
    ) -> CustomMetric:  # fmt: skip
        said = child(node, "assertion")
        report, severity = child(said, "report_expression"), tidy(child(said, "severity_expression"))
        texts = matches(report, "(string_literal) @s") if report is not None else []
        return CustomMetric(
            MetricKind.ASSERT, self.found.name(plain(module), label or f"assert_{line}", line), conditions,
            severity=severity.lower().removeprefix("severity").strip() or "error",
            says=text_of(texts[0]).strip('"').strip() if texts else "",
        )  # fmt: skip

    def _psl(self, offset: int, read: Property | Unwatched) -> None:
        line = self._unit.file.line(offset)
        place = (self._name, line, offset - self._unit.file.starts[line - 1] + 1)
        if isinstance(read, Unwatched):
            self.found.not_watched(str(read), *place)
            return
        within = [region for region in self._unit.regions if region.start <= offset < region.end]
        region: Region | None = max(within, key=lambda one: one.start) if within else None
        clock = (plain(read.clock), read.edge)

        def of_its_clock(blocks: Sequence[SourceBlock]) -> SourceBlock | None:
            usable = (one for one in blocks if not one.why_not)
            return next((one for one in usable if (plain(one.clock), one.edge) == clock), None)

        anchor = self._anchor(region, of_its_clock) if region is not None else None
        if anchor is None:
            self.found.not_watched(
                f"no process in its architecture is clocked by {read.edge}_edge({read.clock})", *place
            )
            return
        name = self.found.name(plain(anchor.module), read.label or f"assert_{line}", line)
        metric = CustomMetric(
            MetricKind.ASSERT, name, read.conditions, checks=read.checks, severity=read.severity, says=read.says
        )
        one = beside(MetricBlock, anchor, PlacedMetric(metric, *place), offset, -1)
        self.found.blocks.append(replace(one, kept=read.kept))

    def _not(self, node: Node, why: str) -> None:
        self.found.not_watched(why, *self._place(node))


def read_watched(
    unit: Unit, name: str, blocks: Sequence[SourceBlock], taken: Places, assertions: bool, branches: bool
) -> tuple[Sequence[MetricBlock], Sequence[Diagnostic]]:
    """The assertions and the branches of an architecture, as far as they are asked for, and what is not counted of
    them."""
    watched = Watched(unit, name, blocks, taken)
    if assertions:
        watched.assertions()
    if branches:
        watched.branches()
    return [one for one in watched.found.blocks if isinstance(one, MetricBlock)], watched.found.wrong


def _registers(unit: Unit) -> dict[str, str]:
    """The types of registers for what signals and ports were, by their names."""
    types = types_of([unit])
    known = declared_signals(unit) | {port.name: port.type for port in unit.entity_ports}
    return {plain(name): f"{of}({name}'range)" if is_open(of, types) and "(" not in of else of
            for name, of in known.items()}  # fmt: skip


def begins(block: metrics.SourceBlock) -> bool:
    """Whether it is the decision that a clocked process begins with, or something else than a decision."""
    decision = isinstance(block, metrics.MetricBlock) and block.metric.kind is MetricKind.BRANCH
    return not decision or bool(block.resets)


def _statements(node: Node, block: SourceBlock | None) -> Iterator[tuple[Node, str]]:
    """Every statement of a process, outer ones first, with why it cannot be counted, or ""."""
    clocked = block.arms[0].statement if block is not None and block.arms else None
    resets = [arm.statement for arm in block.arms if arm.in_reset] if block is not None else []
    for statement in statements_in(child(node, "sequential_block")):
        for one, in_loop in _within(statement, False):
            why = IN_LOOP if in_loop else ""
            if clocked is not None and not _holds(clocked, one):
                why = IN_RESET if any(_holds(reset, one) for reset in resets) else NOT_AT_EDGE
            yield one, why


def _reached(statement: Node, process: Node) -> str:
    """When a statement in an asynchronous reset is reached; "" where a case or a loop is around it."""
    asked: list[str] = []
    one = statement.parent
    while one is not None and one.id != process.id:
        if one.type in (*_LOOPS, "case_statement"):
            return ""
        if one.type == "if_statement_block":
            for branch in branches(one):
                within = _holds(branch, statement)
                condition = condition_of(branch)
                asked += [condition if within else f"not ({condition})"] if condition else []
                if within:
                    break
        one = one.parent
    return " and ".join(f"({one})" for one in reversed(asked))


def _holds(branch: Node, statement: Node) -> bool:
    return bool(branch.start_byte <= statement.start_byte and statement.end_byte <= branch.end_byte)


def _within(statement: Node, in_loop: bool) -> Iterator[tuple[Node, bool]]:
    yield statement, in_loop
    loops = in_loop or statement.type in _LOOPS
    inner: list[Node] = []
    if statement.type == "if_statement_block":
        inner = [one for branch in branches(statement) for one in held_in(branch)]
    elif statement.type == "case_statement":
        alternatives = children(child(statement, "case_body"), "case_statement_alternative")
        inner = [one for each in alternatives for one in statements_in(each) if one.type != "when_element"]
    elif statement.type in (*_LOOPS, "sequential_block_statement"):
        inner = held_in(statement)
    for one in inner:
        yield from _within(one, loops)


def _arms(statement: Node) -> Iterator[tuple[str, int, int]]:
    """What each branch is called, where statements can be put at its beginning, and its line; -1 for the else that an
    if lacks."""
    if statement.type == "case_statement":
        for one in children(child(statement, "case_body"), "case_statement_alternative"):
            label = tidy(child(one, "when_element")).partition(" ")[2]
            yield arm_name("when", label), opening_of(one), one.start_point.row + 1
        return
    kinds = {"if_statement": "if", "elsif_statement": "elsif", "else_statement": "else"}
    found = list(branches(statement))
    for branch in found:
        yield arm_name(kinds[branch.type], condition_of(branch)), opening_of(branch), branch.start_point.row + 1
    if found[-1].type != "else_statement":
        yield IMPLIED, -1, statement.start_point.row + 1


def _asserted(statement: Node) -> str:
    """What an assertion says."""
    words = [
        one for one in children(child(statement, "assertion"))
        if one.type not in ("assert", "report_expression", "severity_expression")
    ]  # fmt: skip
    return tidy(words[0]) if words else "true"


def _is_message(statement: Node) -> bool:
    """Whether it only says something: an assertion that never holds, and is no fault."""
    severity = tidy(child(child(statement, "assertion"), "severity_expression")).lower()
    return _asserted(statement).lower() == "false" and severity.endswith("note")
