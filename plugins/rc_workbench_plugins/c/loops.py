"""The loops and functions of a source whose ends and results depend on what they read (`flow`)."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Collection, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from itertools import chain
from pathlib import Path

from clang.cindex import Cursor, CursorKind, TypeKind

from rc_workbench_plugins.c.clang_parse import children
from rc_workbench_plugins.c.facts import Ask, Decided, Range, Reading, Use
from rc_workbench_plugins.c.flow import LOOPS, NONE, NUMBERS, Flow, Names, every, goto_loops, loop_parts

K = CursorKind
_MOST_BYTES, _MOST_LOOPS = 4000, 20  # of a loop that may wait, and within it: those with more do more
_MOST_READS = 200  # of a function that asks for its caller

Place = tuple[Path, int]


def note_decisions(reading: Reading, functions: Collection[Range]) -> None:
    """Read the loops and results of some functions, as long as the source is parsed."""
    accesses = frozenset((use.place.file, use.place.offset) for use in volatile(reading))
    for body, function in reading.bodies:
        if body in functions:
            with suppress(RecursionError):  # so deep an expression is not in a loop that waits
                _note(function, accesses, reading)
    reading.deciding |= set(functions)
    reading.bodies.clear()


def volatile(reading: Reading) -> Iterator[Use]:
    """Accesses through volatile pointers: of others a loop's end cannot depend."""
    return (use for use in reading.accesses if use.access and use.access.roots is None)


def _note(function: Cursor, accesses: frozenset[Place], reading: Reading) -> None:
    head = _Head.of(function)
    result, calls = result_of(function, head, accesses)
    reading.results += [result] if result else []
    reading.calls += calls
    parts = list(every(function))
    begins = sorted(part.extent.start.offset for part in parts if part.kind in LOOPS)
    for cursor in parts:
        if cursor.kind in LOOPS:
            first, last = (bisect_left(begins, end.offset) for end in (cursor.extent.start, cursor.extent.end))
            result = decided_by(cursor, head, accesses) if last - first <= _MOST_LOOPS else None
            reading.loops += [result] if result else []
        elif cursor.kind is K.COMPOUND_STMT:
            of_goto = (decided_by_goto(label, parts, head, accesses) for label, parts in goto_loops(cursor))
            reading.loops += filter(None, of_goto)
        elif cursor.kind is K.VAR_DECL and cursor.type.kind is TypeKind.AUTO:
            lambda_ = next((part for part in every(cursor) if part.kind is K.LAMBDA_EXPR), None)
            result, _ = (
                result_of(lambda_, replace(_Head.of(lambda_), function=cursor.get_usr()), accesses)
                if lambda_
                else (None, ())
            )
            reading.results += [result] if result else []


@dataclass(frozen=True)
class _Head:
    """A function: clang's name of it, its parameters by clang's names, and those that are integers."""

    function: str
    parameters: dict[str, str]
    numbers: dict[str, str]

    @classmethod
    def of(cls, function: Cursor) -> _Head:
        parameters = list(function.get_arguments()) or [c for c in children(function) if c.kind is K.PARM_DECL]
        numbers = {p.get_usr(): p.spelling for p in parameters if p.type.get_canonical().kind in NUMBERS}
        return cls(function.get_usr(), {p.get_usr(): p.spelling for p in parameters}, numbers)


def decided_by(loop: Cursor, head: _Head, accesses: frozenset[Place]) -> Decided | None:
    """What decides a loop's end; None where nothing that is read does."""
    if loop.extent.end.offset - loop.extent.start.offset > _MOST_BYTES:
        return None
    flow = Flow(accesses, head.numbers)
    _, condition, step, body = loop_parts(loop)
    own: Names = frozenset(chain(*(flow.value(p, NONE, condition=True) for p in condition)))
    flow.ends |= own
    for part in (*body, *step):
        flow.statement(part)
    chosen = [] if flow.works else list(flow.deciding(own, flow.changing()))
    return _decided(flow, chosen, head)


def decided_by_goto(label: str, parts: Sequence[Cursor], head: _Head, accesses: frozenset[Place]) -> Decided | None:
    """What decides the end of a loop that a `goto` back to a label makes of these statements, as above."""
    if parts[-1].extent.end.offset - parts[0].extent.start.offset > _MOST_BYTES:
        return None
    flow = Flow(accesses, head.numbers, label)
    for part in parts:
        flow.statement(part)
    return _decided(flow, [] if flow.works else list(flow.deciding(NONE, flow.changing())), head)


def result_of(function: Cursor, head: _Head, accesses: frozenset[Place]) -> tuple[Decided | None, tuple[Ask, ...]]:
    """The reads that a function's result, or what it fills for its caller, depends on (None: there are none), and all
    its calls."""
    flow = Flow(accesses, head.numbers)
    for body in (part for part in children(function) if part.kind is K.COMPOUND_STMT):
        for part in children(body):
            flow.statement(part)
    outputs = head.parameters.keys() - head.numbers.keys()
    ends = flow.returned | outputs
    chosen = [
        name for name in flow.reads if flow.reached(name)[1] & ends and flow.only_asks(name, frozenset(outputs))
    ] if len(flow.reads) <= _MOST_READS else []  # fmt: skip
    calls = (replace(read.ask, within=head.function) for read in flow.reads.values() if read.ask.name)
    return _decided(flow, chosen, head), tuple(calls)


def _decided(flow: Flow, chosen: Sequence[str], head: _Head) -> Decided | None:
    beside = (read.ask for name, read in flow.reads.items() if read.stays and name not in chosen)
    asks = tuple(flow.reads[name].ask for name in chosen)
    return Decided(head.function, tuple(head.parameters.values()), asks, tuple(beside)) if asks else None
