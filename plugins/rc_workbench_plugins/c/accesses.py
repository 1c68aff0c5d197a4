"""Reads and writes through pointers that can lead into a mapping of the card's: all volatile ones, and others where the
pointer comes, by assignments, arguments and results anywhere in the project, from a call that maps.

Whether a pointer does lead there is told when the program runs (`resources/host/objects.h`).
"""

import re
from collections.abc import Callable, Collection, Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

from clang.cindex import Cursor, CursorKind, TranslationUnit, Type, TypeKind

from rc_workbench_plugins.c.clang_parse import children, place, place_at
from rc_workbench_plugins.c.cpp_entries import FUNCTIONS
from rc_workbench_plugins.c.facts import Access, Range, Reading, Use, innermost
from rc_workbench_plugins.c.lvalues import (
    BESIDE,
    REFERENCES,
    assigns,
    carries,
    dereferences,
    is_pointer,
    is_read,
    is_reference,
    passed_on,
    pointer_of,
    span_of,
    step_of,
    subscripted,
    takes_address,
    usr_of,
)
from rc_workbench_plugins.c.reading import HIDDEN, evaluated, hidden
from workbench.api import Callee, HostEntry, Prototype, parse_prototype
from workbench.api.unstable import opened

K = CursorKind
READ, WRITE, UPDATE = "memory read", "memory write", "memory update"
_UNEVALUATED = (K.CXX_UNARY_EXPR, K.STATIC_ASSERT)
_LVALUES = (K.UNARY_OPERATOR, K.ARRAY_SUBSCRIPT_EXPR, K.MEMBER_REF_EXPR, K.DECL_REF_EXPR, K.CALL_EXPR)
_IN_MACRO = "it is in the body of a macro; move it to a function, or let the macro expand to the accessed place only"

#: What a mapping's pointer is known by where its way begins.
MAPPING = "a mapping"


def access_callees(entries: Iterable[HostEntry]) -> dict[str, Callee]:
    """What accesses are called, with the template's entries for them: reads, writes, and last what is both."""
    numbered = [(number, entry) for number, entry in enumerate(entries) if entry.access]
    callees = {}
    for name, kinds in ((READ, ("read",)), (WRITE, ("write",)), (UPDATE, ("read", "write"))):
        chosen = tuple((number, entry) for number, entry in numbered if entry.access in kinds)
        if chosen:
            callees[name] = Callee(Prototype("", name, "", ()), chosen)
    return callees


@dataclass
class Pointers:
    """Where pointers go: `flows` are (to, from) by what clang calls a variable, a field, a function's result or its
    n-th parameter; `defined` are the project's own functions."""

    flows: set[tuple[str, str]] = field(default_factory=set)
    defined: set[str] = field(default_factory=set)

    def reached(self) -> set[str]:
        """What a mapping's pointer can be in."""
        onward: dict[str, list[str]] = {}
        for to, of in self.flows:
            onward.setdefault(of, []).append(to)
        reached, pending = {MAPPING}, [MAPPING]
        while pending:
            for to in onward.get(pending.pop(), ()):
                if to not in reached:
                    reached.add(to)
                    pending.append(to)
        return reached


def mapping_calls(entries: Iterable[HostEntry]) -> dict[str, tuple[int, ...]]:
    """The functions that map, and which of their arguments they fill the mapping in (none: it is their result)."""
    given = ((parse_prototype(entry.prototype), opened(entry.opens)) for entry in entries if entry.mapped_bytes)
    return {prototype.name: tuple(n for n, (_, name) in enumerate(prototype.parameters)
                                  if re.search(rf"\b{name}\b", what.expression))
            for prototype, what in given if prototype and what}  # fmt: skip


def find_accesses(
    unit: TranslationUnit, reading: Reading, maps: dict[str, tuple[int, ...]], names: Collection[str],
    is_user: Callable[[Path], bool], text: Callable[[Path], bytes], pointers: Pointers,
) -> list[Use]:  # fmt: skip
    """The accesses of a parsed source, those that are not volatile with the `roots` that have to be reached. `names`
    are the API's functions."""
    finder = _Finder(maps, names, reading, pointers, text)
    for cursor in children(unit.cursor):
        start = place(cursor.extent.start)
        if start is not None and is_user(start.file) and not cursor.kind.is_preprocessing():
            finder.walk(cursor, None, "")
    return finder.uses


def chosen(uses: Iterable[Use], pointers: Pointers) -> Iterator[Use]:
    """The accesses of mappings, as far as they can be recognised, and the places that pass a mapping to foreign
    functions."""
    reached = pointers.reached()
    for use in uses:
        roots = use.access.roots if use.access else None
        if (roots is None or roots & reached) and not (use.access and use.access.given_to in pointers.defined):
            yield use


#: in the name of a type that depends on a template's parameter, as libclang 19 tells of one
_OF_TEMPLATE = "type-parameter-"


class _Finder:
    def __init__(
        self, maps: dict[str, tuple[int, ...]], names: Collection[str], reading: Reading, pointers: Pointers,
        text: Callable[[Path], bytes],
    ) -> None:  # fmt: skip
        self.maps, self.names, self.reading, self.pointers, self.text = maps, names, reading, pointers, text
        self.uses: list[Use] = []

    def walk(self, top: Cursor, parent: Cursor | None, function: str) -> None:
        pending = [(top, (parent,) if parent else (), function)]
        while pending:
            cursor, above, function = pending.pop()
            kind, parts = cursor.kind, evaluated(list(children(cursor)), self.text)
            if kind in _UNEVALUATED:
                continue
            if kind in FUNCTIONS:
                function = cursor.get_usr()
                if cursor.is_definition():
                    self.pointers.defined.add(function)
            self.flow(cursor, parts, function)
            out_of_sight = hidden(cursor, parts, self.text)
            if out_of_sight and re.search(
                rb"->|[*\[]", self.text(out_of_sight.file)[out_of_sight.start : out_of_sight.end]
            ):
                where = place_at(out_of_sight.file, out_of_sight.start)
                self.uses.append(
                    Use(where, READ, False, True, None, (), Access(out_of_sight, out_of_sight, "", None, HIDDEN))
                )
            if kind in _LVALUES:
                self.lvalue(cursor, parts, above)
            inner = (*above[-12:], cursor) if kind.is_expression() or kind in (K.DECL_STMT, K.ASM_STMT) else (cursor,)
            if kind is K.GENERIC_SELECTION_EXPR:
                parts = parts[1:]
            pending += [(part, inner, function) for part in parts]

    # ---- accesses ----

    def lvalue(self, cursor: Cursor, parts: list[Cursor], above: tuple[Cursor, ...]) -> None:
        """An expression that may be a place in memory: what is done with it."""
        if cursor.kind is K.UNARY_OPERATOR and not dereferences(cursor):
            return
        kind = cursor.type.get_canonical()
        if kind.kind in (TypeKind.CONSTANTARRAY, TypeKind.INCOMPLETEARRAY, TypeKind.VARIABLEARRAY, TypeKind.VOID,
                         TypeKind.FUNCTIONPROTO, TypeKind.FUNCTIONNOPROTO):  # fmt: skip
            return
        pointer = pointer_of(cursor, parts)
        if pointer is None:
            return
        whole, outer = cursor, list(above)
        while outer and outer[-1].kind is K.PAREN_EXPR:
            whole = outer.pop()
        chooses = passed_on(whole, outer)
        parent = outer[-1] if outer else None
        if parent is None or (parent.kind is K.MEMBER_REF_EXPR and not is_pointer(cursor)):
            return
        name, operator = READ, ""
        whole_operation = whole
        if cursor.type.kind is TypeKind.DEPENDENT or _OF_TEMPLATE in cursor.type.get_canonical().spelling:
            if pointer.type.get_pointee().is_volatile_qualified() and not takes_address(parent):
                why = "its type depends on a template's parameter"
                self.add(READ, "", whole, whole, cursor, outer, None, why)
            return
        if chooses:
            why = "" if is_read(parent) else "the same expression also selects the accessed place"
            if not why or assigns(parent) or step_of(parent):
                self.add(READ, "", whole, whole, cursor, outer, self.told_by(kind, pointer), why)
            return
        if takes_address(parent):
            return
        if step := step_of(parent):
            name, operator, whole_operation = UPDATE, step, parent
        elif assigns(parent) and next(iter(children(parent))) == whole:
            name, whole_operation = (WRITE if parent.kind is K.BINARY_OPERATOR else UPDATE), parent
        if copied := _copied(kind, whole, outer):
            why = "it copies an object of a class as a whole: copy its members one by one"
            self.add(copied, "", whole, whole, cursor, outer, self.told_by(kind, pointer), why)
            return
        if name is READ and parent.kind is not K.ASM_STMT and not is_read(parent):
            return
        self.add(name, operator, whole, whole_operation, cursor, outer, self.told_by(kind, pointer))

    def told_by(self, kind: Type, pointer: Cursor) -> frozenset[str] | None:
        return None if kind.is_volatile_qualified() else frozenset(self.roots(pointer))

    def add(
        self, name: str, operator: str, whole: Cursor, operation: Cursor, cursor: Cursor, outer: list[Cursor],
        roots: frozenset[str] | None, why: str = "",
    ) -> None:  # fmt: skip
        where, span, all_of_it = place(whole.extent.start), span_of(whole), span_of(operation)
        if where is None or span is None or all_of_it is None:
            return
        if why:
            pass
        elif cursor.kind is K.MEMBER_REF_EXPR and cursor.referenced is not None and cursor.referenced.is_bitfield():
            why = "it accesses a bit field, which has no address"
        elif any(one.kind is K.ASM_STMT for one in outer):
            why = "it is an operand of inline assembly"
        else:
            macro = innermost((m for m in self.reading.macro_uses if m.start == span.start), where)
            if span.start >= span.end and macro:  # within another macro's argument
                span = Range(span.file, span.start, macro.end)
            if name is READ:
                all_of_it = span
            within = macro and macro.end >= span.end and _part_of_macro(whole, operation, outer, name)
            if within or all_of_it.start >= all_of_it.end:
                why = _IN_MACRO
        access = Access(span, all_of_it, operator, roots, why)
        if name is not READ and not operator and not why:
            value = list(children(operation))[1]
            given = span_of(value)
            around = [
                m for m in self.reading.macro_uses if given and m.start >= span.end and m.holds(given.file, given.start)
            ]
            if given and around:  # the value is a macro's, or begins in the argument of one
                begin = min(given.start, *(m.start for m in around))
                given = Range(given.file, begin, max(given.end, *(m.end for m in around)))
            end = given.end if given else 0
            if given is None or given.start < span.end or end < given.start:
                access = Access(span, all_of_it, operator, roots, _IN_MACRO)
            else:
                access = Access(span, Range(span.file, span.start, end), operator, roots, "", given.start)
        self.uses.append(Use(where, name, True, True, None, (), access))

    # ---- where pointers go ----

    def flow(self, cursor: Cursor, parts: list[Cursor], function: str) -> None:
        kind = cursor.kind
        if kind is K.VAR_DECL and parts:
            self.to(cursor.get_usr(), parts[-1], cursor.type.kind in REFERENCES)
        elif kind is K.BINARY_OPERATOR and len(parts) == 2 and assigns(cursor):
            for to in self.roots(parts[0]) if carries(parts[0]) else ():
                self.to(to, parts[1])
        elif kind is K.RETURN_STMT and parts and function:
            self.to(function, parts[0], True)
        elif kind is K.CALL_EXPR and parts:
            self.call(cursor, parts)

    def to(self, name: str, given: Cursor, refers: bool = False) -> None:
        if name and (refers or carries(given)):
            self.pointers.flows.update((name, of) for of in self.roots(given))

    def call(self, cursor: Cursor, parts: list[Cursor]) -> None:
        called = cursor.referenced
        if called is None or called.kind not in FUNCTIONS:
            return
        usr, name = called.get_usr(), cursor.spelling
        parameters = [parameter.type.kind in REFERENCES for parameter in called.get_arguments()]
        count = len(parameters)
        for number, argument in enumerate(parts[1:]):
            if number in self.maps.get(name, ()):
                self.pointers.flows.update((root, MAPPING) for root in self.roots(argument, whole=True))
            elif (
                number < count
                and (is_pointer(argument) or parameters[number])
                and (roots := frozenset(self.roots(argument)))
            ):
                self.pointers.flows.update((f"{usr}#{number}", of) for of in roots)
                if (where := place(argument.extent.start)) and name not in self.names:
                    why = f"the pointer is passed to {name}, whose code is not among the project's sources"
                    here = Range(where.file, where.offset, where.offset)
                    access = Access(here, here, "", roots, why, 0, usr)
                    self.uses.append(Use(where, READ, False, True, None, (), access))

    def roots(self, expression: Cursor, *, whole: bool = False) -> Iterator[str]:
        """The variables, fields and calls whose pointers an expression's value is made of."""
        pending = [expression]
        while pending:
            cursor = pending.pop()
            kind = cursor.kind
            if kind in _UNEVALUATED:
                continue
            if kind in (K.DECL_REF_EXPR, K.MEMBER_REF_EXPR, K.CALL_EXPR):
                if kind is K.CALL_EXPR and self.maps.get(cursor.spelling) == ():
                    yield MAPPING
                elif (whole or carries(cursor) or is_reference(cursor)) and (named := cursor.referenced) is not None:
                    yield usr_of(named)
                if whole or kind is not K.MEMBER_REF_EXPR:
                    continue
            parts = list(children(cursor))
            pending += subscripted(parts)[:1] if kind is K.ARRAY_SUBSCRIPT_EXPR else parts


def _copied(kind: Type, whole: Cursor, outer: list[Cursor]) -> str:
    """The access (read or write) of a C++ object that is copied or assigned as a whole; empty if there is none."""
    above = next((one for one in reversed(outer) if one.kind not in (K.UNEXPOSED_EXPR, K.PAREN_EXPR)), None)
    if kind.kind is not TypeKind.RECORD or above is None or above.kind is not K.CALL_EXPR or above.referenced is None:
        return ""
    called = above.referenced
    if called.kind is K.CONSTRUCTOR:
        return READ if called.is_copy_constructor() or called.is_move_constructor() else ""
    if called.spelling != "operator=" or called.semantic_parent.type.get_canonical() != kind.get_declaration().type:
        return ""
    return WRITE if next(iter(children(above))) == whole else READ


def _part_of_macro(whole: Cursor, operation: Cursor, outer: list[Cursor], name: str) -> bool:
    """Whether the place is but a part of what a macro comes to: something around it stands at the same text."""
    own = span_of(whole)
    around = [operation] if name is not READ else [one for one in outer if one.kind not in BESIDE]
    return any(span_of(one) == own for one in around)
