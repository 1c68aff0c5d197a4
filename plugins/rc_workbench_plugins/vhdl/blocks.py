"""Clocked processes as they stand in the source: their branches, and the pragmas before each first statement."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from tree_sitter import Node

from rc_workbench_plugins.vhdl.syntax import VhdlFile, child, children, matches, plain, text_of, tidy
from rc_workbench_plugins.vhdl.units import Region, Unit, label_of
from workbench.api import PlacedPragma
from workbench.hdl.source_file import SourceFile
from workbench.hdl.verilog import blocks as verilog

_SIGNAL = r"[a-z]\w*(?:\s*(?:\.\s*[a-z]\w*|\([^()]*\)))*"
_FUNCTION = re.compile(rf"(rising|falling)_edge\s*\(\s*({_SIGNAL})\s*\)", re.IGNORECASE)
_EVENT = re.compile(rf"(?:({_SIGNAL})\s*'\s*event|not\s+({_SIGNAL})\s*'\s*stable)", re.IGNORECASE)
_LEVEL = re.compile(rf"({_SIGNAL})\s*=\s*'([01])'", re.IGNORECASE)
_LAST = re.compile(rf"{_SIGNAL}\s*'\s*last_value\s*=\s*'[01]'", re.IGNORECASE)
_EDGE = re.compile(r"\b(rising|falling)_edge\b|'\s*(event|stable)\b", re.IGNORECASE)
_STEP = 4  # of indentation
_PLAIN = re.compile(r"[a-z]\w*", re.IGNORECASE)
_STATEMENTS = ("if_statement_body", "sequential_block", "loop_body")
_WITHIN = "it tests the edge of its clock within {}: write the edge as the condition of a separate if"
_SEVERAL = "it tests clock edges in several places: write a process for each"
_WAITS = "it waits in several places, or within its branches: write one wait for its clock, at the beginning or the end"


check_names = verilog.check_names


@dataclass(frozen=True)
class Arm(verilog.Arm):
    """A branch; `at` is the offset at which statements can be put at its beginning."""

    at: int = 0


@dataclass(frozen=True)
class SourceBlock(verilog.SourceBlock):
    """A clocked process. `condition` is the clock's edge as it is written ("rising_edge(clk)"), and `enable` what is
    asked for with it in one condition ("" where nothing is): without it nothing of the process happens. Statements
    that happen always can be put at `begins_at`, with `waits` after each edge. `region` holds it."""

    arms: tuple[Arm, ...] = ()
    condition: str = ""
    enable: str = ""
    begins_at: int = 0
    waits: bool = False
    region: Region | None = None


@dataclass(frozen=True)
class _Clock:
    name: str
    edge: str
    condition: str
    enable: str


class _Unreadable(Exception):
    """Why a process that looks at a clock's edge cannot be observed."""


def read_blocks(unit: Unit, source: SourceFile) -> tuple[SourceBlock, ...]:
    """The clocked processes of an architecture, in order."""
    blocks: list[SourceBlock] = []
    seen: set[str] = set()
    for region in unit.regions:
        for node in region.processes:
            block = _read_block(unit, region, node, source)
            if block is not None:
                if plain(block.label) in seen:
                    block = replace(block, label=f"{block.label}_line_{block.line}")
                seen.add(plain(block.label))
                blocks.append(block)
    return tuple(sorted(blocks, key=lambda block: block.key))


def _read_block(unit: Unit, region: Region, node: Node, source: SourceFile) -> SourceBlock | None:
    file, body = unit.file, child(node, "sequential_block")
    statements = list(statements_in(body))
    if body is None or (not _EDGE.search(text_of(body)) and not any(s.type == "wait_statement" for s in statements)):
        return None
    line = node.start_point.row + 1
    block = SourceBlock(
        (str(file.path), node.start_byte), file.path, unit.of, label_of(node) or f"line_{line}", "process", node, "",
        "rising", 0, line, node.end_point.row + 1, region=region,
    )  # fmt: skip
    try:
        return _clocked(block, file, body, statements, source)
    except _Unreadable as reason:
        return replace(block, why_not=str(reason))


def _clocked(
    block: SourceBlock, file: VhdlFile, body: Node, statements: Sequence[Node], source: SourceFile
) -> SourceBlock | None:
    begin = child(body, "begin")
    begins_at = begin.end_byte if begin is not None else body.start_byte
    waits = matches(body, "(wait_statement) @w")
    if waits:
        clock = _waited(waits[0])
        if clock is None:
            return None  # a test bench's
        if len(waits) > 1 or waits[0] not in (statements[0], statements[-1]):
            raise _Unreadable(_WAITS)
        if clock.enable:
            raise _Unreadable("it waits for more than its clock: write the rest as an if behind the wait")
        if waits[0] == statements[0]:
            begins_at = waits[0].end_byte
        whole = _arm(file, source, "body", "", begins_at, body, False)
        arms = [whole, *_inner(file, source, statements, False)]
        return _with_arms(block, clock, arms, 0, begins_at, True)
    edges = [(number, place) for number, one in enumerate(statements) for place in _edges(one)]
    if not edges:
        raise _Unreadable(_WITHIN.format("another statement") if len(statements) else _SEVERAL)
    if len(edges) > 1:
        raise _Unreadable(_SEVERAL)
    number, (branch, clock) = edges[0]
    arms = []
    resets = 0
    for other in branches(statements[number]):
        if other == branch:
            body_arm = _arm(file, source, "body", "", opening_of(branch), branch, False)
            first = _arm(file, source, "body", "", begins_at, branch, False) if number == 0 else None
            arms.append(replace(body_arm, pragmas=(*(first.pragmas if first else ()), *body_arm.pragmas)))
            arms += _inner(file, source, held_in(branch), False)
        elif other.start_byte < branch.start_byte:
            resets += 1
            arms.append(_arm(file, source, "if", condition_of(other), opening_of(other), other, True))
            arms += _inner(file, source, held_in(other), True)
    for statement in statements[number + 1 :]:  # a reset that comes after, and so before all
        if statement.type == "if_statement_block":
            resets += 1
            arms += _inner(file, source, [statement], True)
    arms.sort(key=lambda arm: (arm.kind != "body", arm.line, arm.at))
    return _with_arms(block, clock, arms, resets, begins_at, False)


def _with_arms(
    block: SourceBlock, clock: _Clock, arms: Sequence[Arm], resets: int, begins_at: int, waits: bool
) -> SourceBlock:
    return replace(
        block, clock=clock.name, edge=clock.edge, condition=clock.condition, enable=clock.enable, arms=tuple(arms),
        resets=resets, begins_at=begins_at, waits=waits,
    )  # fmt: skip


def statements_in(node: Node | None) -> Iterator[Node]:
    return (
        one for one in children(node) if one.is_named and not one.type.startswith(("end_", "sequential_block_head"))
    )


def held_in(branch: Node) -> list[Node]:
    """The statements of a branch."""
    body = next(children(branch, *_STATEMENTS), None)
    return list(statements_in(body))


def branches(block: Node) -> Iterator[Node]:
    return children(block, "if_statement", "elsif_statement", "else_statement")


def condition_of(branch: Node) -> str:
    """What an if or elsif asks for."""
    words = [one for one in children(branch) if one.type not in ("if", "elsif", "else", "then", *_STATEMENTS)]
    return tidy(words[0]) if words else ""


def _edges(statement: Node) -> Iterator[tuple[Node, _Clock]]:
    """The branches of a statement that a clock's edge opens. Raises where an edge is looked at otherwise."""
    if statement.type != "if_statement_block":
        if _EDGE.search(tidy(statement)):
            raise _Unreadable(_WITHIN.format(f"a {statement.type.replace('_', ' ')}"))
        return
    for branch in branches(statement):
        condition = condition_of(branch)
        if _EDGE.search(condition):
            yield branch, _clock(condition)
        if any(_EDGE.search(tidy(one)) for one in held_in(branch)):
            raise _Unreadable(_WITHIN.format("another branch") if not _EDGE.search(condition) else _SEVERAL)


def _clock(condition: str) -> _Clock:
    """The clock that a condition asks for the edge of, with what else it asks for."""
    terms = list(anded(condition))
    edges = [term for term in terms if _EDGE.search(term)]
    if len(edges) != 1:
        raise _Unreadable(_WITHIN.format(f"'{condition[:60]}'") if not edges else _SEVERAL)
    edge = edges[0]
    terms.remove(edge)
    if function := _FUNCTION.fullmatch(edge):
        return _Clock("".join(function[2].split()), function[1].lower(), edge, " and ".join(terms))
    event = _EVENT.fullmatch(edge)
    if event is None:
        raise _Unreadable(_WITHIN.format(f"'{edge[:60]}'"))
    name = "".join((event[1] or event[2]).split())
    levels = [(term, level) for term in terms if (level := _LEVEL.fullmatch(term))]
    own = [(term, level[2]) for term, level in levels if plain("".join(level[1].split())) == plain(name)]
    if len(own) != 1:
        raise _Unreadable(f"it is clocked by both edges of '{name}'" if not own else _SEVERAL)
    terms = [term for term in terms if term != own[0][0] and not _LAST.fullmatch(term)]
    return _Clock(name, "rising" if own[0][1] == "1" else "falling", f"{edge} and {own[0][0]}", " and ".join(terms))


def anded(condition: str) -> Iterator[str]:
    """The terms that a condition joins by `and`; itself where it is anything else."""
    word, parts = joined(condition)
    if word == "and":
        for part in parts:
            yield from anded(part)
    else:
        yield bare(condition)


def joined(condition: str) -> tuple[str, list[str]]:
    """The word that joins a condition's terms, and these; "" and itself where none does."""
    condition = bare(condition)
    level, start, parts, joins = 0, 0, [], ""
    for word in re.finditer(r"\"[^\"]*\"|'.'|[()]|\b(?:and|or|nand|nor|xor|xnor)\b", condition, re.IGNORECASE):
        if word[0] in "()":
            level += 1 if word[0] == "(" else -1
        elif level == 0 and word[0][0] not in "\"'":
            if joins and word[0].lower() != joins:  # nothing that is VHDL
                return "", [condition]
            joins = word[0].lower()
            parts.append(condition[start : word.start()])
            start = word.end()
    return joins, [*parts, condition[start:]]


def bare(condition: str) -> str:
    """A condition without the parentheses around all of it."""
    condition = condition.strip()
    while condition.startswith("(") and closing(condition, 0) == len(condition) - 1:
        condition = condition[1:-1].strip()
    return condition


def closing(tokens: Sequence[str], opening: int) -> int:
    """The place of the parenthesis that closes the one at `opening`, in a text or in tokens; -1 if none does."""
    level = 0
    for place in range(opening, len(tokens)):
        level += {"(": 1, ")": -1}.get(tokens[place], 0)
        if level == 0:
            return place
    return -1


def _waited(wait: Node) -> _Clock | None:
    """The clock that a wait waits for; None where it waits for something else."""
    condition = tidy(child(wait, "condition_clause")).partition(" ")[2]
    if child(wait, "timeout_clause") is not None or not condition:
        return None
    if _EDGE.search(condition):
        return _clock(condition)
    level = _LEVEL.fullmatch(condition)
    if level is None:
        return None
    name = "".join(level[1].split())
    return _Clock(name, "rising" if level[2] == "1" else "falling", condition, "")


def opening_of(branch: Node) -> int:
    """Where a branch begins: behind `then`, `else` or `=>`."""
    word = child(branch, "then", "else", "=>")
    return word.end_byte if word is not None else branch.end_byte


def _inner(file: VhdlFile, source: SourceFile, statements: Sequence[Node], in_reset: bool) -> Iterator[Arm]:
    """The branches within statements, in the order they stand."""
    for statement in statements:
        if statement.type == "if_statement_block":
            for branch in branches(statement):
                kind = branch.type.removesuffix("_statement")
                yield _arm(file, source, kind, condition_of(branch), opening_of(branch), branch, in_reset)
                yield from _inner(file, source, held_in(branch), in_reset)
        elif statement.type == "case_statement":
            for one in children(child(statement, "case_body"), "case_statement_alternative"):
                label = tidy(child(one, "when_element")).partition(" ")[2]
                kind = "default" if label.lower() == "others" else "case"
                yield _arm(file, source, kind, label, opening_of(one), one, in_reset)
                held = [held for held in statements_in(one) if held.type != "when_element"]
                yield from _inner(file, source, held, in_reset)
        elif statement.type == "loop_statement" or statement.type == "sequential_block_statement":
            yield from _inner(file, source, held_in(statement), in_reset)


def _arm(file: VhdlFile, source: SourceFile, kind: str, label: str, at: int, node: Node, in_reset: bool) -> Arm:
    first = file.after_blanks(at)
    line, first_line = file.line(at), file.line(first)
    pragmas: list[PlacedPragma] = []
    for number, (offset, placed) in enumerate(source.pragmas):
        if at <= offset < first:
            source.used.add(number)
            pragmas.append(placed)
    pragma_line, indent, column = first_line, source.indent(first_line), 0
    if not source.begins_line(first, first_line) or source.line_start(first_line) < at:
        indent, column = indent + _STEP, source.column(first, first_line)
    return Arm(kind, label, node, (at, first), line, node.end_point.row + 1, pragma_line, indent, in_reset,
               tuple(pragmas), pragma_column=column, at=at)  # fmt: skip
