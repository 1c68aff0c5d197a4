"""What one parsed source says: uses of API functions, statements, functions, macros; everything by place in a file."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable
from dataclasses import dataclass, field
from pathlib import Path

from clang.cindex import Cursor, CursorKind, TranslationUnit, TypeKind

from rc_workbench_plugins.c.clang_parse import Place, children, included_file, place

K = CursorKind


@dataclass(frozen=True)
class Signature:
    """A function as it is declared: types as text; `parameters` is None for a declaration without them, `f()`."""

    returns: str
    parameters: tuple[str, ...] | None
    variadic: bool


@dataclass(frozen=True)
class Use:
    """An API function's name in use: called, or its address taken (`is_call` False).

    `place` is where its name is written or, when a macro's body brings it (`written` False), where the macro is used.
    `signature` is None when the name is a macro's. `arguments` are the types of a variadic call's extra arguments.
    """

    place: Place
    callee: str
    is_call: bool
    written: bool
    signature: Signature | None
    arguments: tuple[str, ...] = ()


@dataclass(frozen=True)
class Range:
    """Offsets of a file, `end` excluded. `name` is a function's or a macro's."""

    file: Path
    start: int
    end: int
    name: str = ""

    def holds(self, file: Path, offset: int) -> bool:
        return file == self.file and self.start <= offset < self.end


@dataclass(frozen=True)
class Statement:
    """A statement, and the range of the block or branch that it stands in.

    What its closing brace may lead to: the condition of the do-while of which it is the body, or the else branch.
    """

    range: Range
    holder: Range
    do_condition: Range | None = None
    otherwise: Range | None = None


@dataclass
class Reading:
    """The facts of one source and the headers it includes, as far as they are the user's own."""

    uses: list[Use] = field(default_factory=list)
    statements: list[Statement] = field(default_factory=list)
    functions: list[Range] = field(default_factory=list)
    declarations: list[Range] = field(default_factory=list)  # at the file's top level
    macro_uses: list[Range] = field(default_factory=list)
    macros: list[Range] = field(default_factory=list)  # their definitions, from the name on
    includes: list[tuple[Range, Path]] = field(default_factory=list)


def innermost(ranges: Iterable[Range], where: Place) -> Range | None:
    """The shortest of the ranges that hold a place."""
    held = [r for r in ranges if r.holds(where.file, where.offset)]
    return min(held, key=lambda r: r.end - r.start, default=None)


def read_unit(
    unit: TranslationUnit, names: Collection[str], is_user: Callable[[Path], bool], text: Callable[[Path], bytes]
) -> Reading:
    """Walk a parsed source for uses of the functions and macros in `names`."""
    reading = Reading()
    walker = _Walker(reading, names, is_user, text)
    for cursor in children(unit.cursor):
        start = place(cursor.extent.start)
        if start is None or not is_user(start.file):
            continue
        span = _range(cursor, cursor.spelling)
        if cursor.kind is K.MACRO_INSTANTIATION:
            walker.macro_use(cursor, start, span)
        elif cursor.kind is K.MACRO_DEFINITION:
            reading.macros += [span] if span else []
        elif cursor.kind is K.INCLUSION_DIRECTIVE:
            included = included_file(cursor)
            reading.includes += [(span, included)] if span and included else []
        else:
            reading.declarations += [span] if span else []
            walker.walk(cursor)
    return reading


def _range(cursor: Cursor, name: str = "") -> Range | None:
    """A cursor's extent, macros expanded where they are used. None when it begins and ends in different files."""
    start, end = cursor.extent.start, cursor.extent.end
    if start.file is None or end.file is None or start.file.name != end.file.name:
        return None
    first = place(start)
    return Range(first.file, start.offset, end.offset, name) if first else None


def _bodies(cursor: Cursor, parts: list[Cursor]) -> list[Cursor]:
    """Those children of a statement that are statements in their own right."""
    kind = cursor.kind
    if kind is K.COMPOUND_STMT:
        return parts
    if kind is K.IF_STMT:
        return parts[1:]
    if kind is K.DO_STMT:
        return parts[:1]
    if kind in (K.WHILE_STMT, K.FOR_STMT, K.SWITCH_STMT, K.CASE_STMT, K.DEFAULT_STMT, K.LABEL_STMT):
        return parts[-1:]
    return []


class _Walker:
    def __init__(
        self,
        reading: Reading,
        names: Collection[str],
        is_user: Callable[[Path], bool],
        text: Callable[[Path], bytes],
    ) -> None:
        self.reading, self.names, self.is_user, self.text = reading, names, is_user, text
        self.masked: set[tuple[Path, int]] = set()
        self.seen: dict[tuple[Path, int, str], int] = {}

    def walk(self, top: Cursor) -> None:
        pending = [top]
        while pending:
            cursor = pending.pop()
            parts = list(children(cursor))
            kind = cursor.kind
            if kind is K.CXX_UNARY_EXPR or kind is K.STATIC_ASSERT:
                continue  # sizeof and its like evaluate nothing
            if kind is K.GENERIC_SELECTION_EXPR:
                parts = parts[1:]
            elif kind in (K.VAR_DECL, K.TYPEDEF_DECL, K.FIELD_DECL, K.PARM_DECL):
                name = cursor.location.offset  # an expression before the name is a typeof's
                parts = [p for p in parts if not p.kind.is_expression() or p.extent.start.offset > name]
            elif kind is K.FUNCTION_DECL and cursor.is_definition():
                if body := _range(cursor, cursor.spelling):
                    self.reading.functions.append(body)
            elif kind is K.CALL_EXPR and parts:
                if callee := self.called(parts[0]):
                    self.use(callee, is_call=True, arguments=parts[1:])
                    parts = parts[1:]
            elif kind is K.DECL_REF_EXPR and self.is_api(cursor):
                self.use(cursor, is_call=False)
            self.statements(cursor, parts)
            pending += parts

    def statements(self, cursor: Cursor, parts: list[Cursor]) -> None:
        bodies = _bodies(cursor, parts)
        holder = _range(cursor) if bodies else None
        if holder is None:
            return
        condition = _range(parts[-1]) if cursor.kind is K.DO_STMT else None
        otherwise = _range(bodies[1]) if cursor.kind is K.IF_STMT and len(bodies) == 2 else None
        for number, body in enumerate(bodies):
            if span := _range(body):
                first = number == 0
                self.reading.statements.append(
                    Statement(span, holder, condition if first else None, otherwise if first else None)
                )

    def is_api(self, cursor: Cursor) -> bool:
        if cursor.spelling not in self.names:
            return False
        target = cursor.referenced
        return target is not None and target.kind is K.FUNCTION_DECL

    def called(self, cursor: Cursor) -> Cursor | None:
        """The API function's name in a callee, through brackets, `*` and `&`; None when it is another's."""
        while cursor.kind in (K.UNEXPOSED_EXPR, K.PAREN_EXPR, K.UNARY_OPERATOR):
            inner = list(children(cursor))
            if len(inner) != 1:
                return None
            cursor = inner[0]
        return cursor if cursor.kind is K.DECL_REF_EXPR and self.is_api(cursor) else None

    def use(self, name: Cursor, *, is_call: bool, arguments: Iterable[Cursor] = ()) -> None:
        where = place(name.location)
        if where is None:
            return
        declared = name.referenced.type
        prototyped = declared.kind is TypeKind.FUNCTIONPROTO
        types = tuple(t.spelling for t in declared.argument_types()) if prototyped else None
        variadic = prototyped and declared.is_function_variadic()
        extra = [a.type.get_canonical() for a in arguments][len(types or ()) :] if variadic else []
        self.add(
            Use(
                where,
                name.spelling,
                is_call,
                self.stands_at(where, name.spelling),
                Signature(declared.get_result().spelling, types, variadic),
                tuple("void *" if t.kind is TypeKind.POINTER else t.spelling for t in extra),
            )
        )

    def macro_use(self, cursor: Cursor, where: Place, whole: Range | None) -> None:
        self.reading.macro_uses += [whole] if whole else []
        if cursor.spelling in self.names:
            definition = cursor.referenced
            defined = place(definition.location) if definition is not None else None
            if defined and self.is_user(defined.file):
                self.masked.add((where.file, where.offset))  # what its body brings counts, not its name
            else:
                self.add(Use(where, cursor.spelling, True, self.stands_at(where, cursor.spelling), None))

    def stands_at(self, where: Place, name: str) -> bool:
        if (where.file, where.offset) in self.masked:
            return False
        return self.text(where.file)[where.offset : where.offset + len(name)] == name.encode()

    def add(self, use: Use) -> None:
        """A macro may use its argument several times; the name is written once. A call outweighs a reference."""
        key = (use.place.file, use.place.offset, use.callee)
        if key not in self.seen:
            self.seen[key] = len(self.reading.uses)
            self.reading.uses.append(use)
        elif use.is_call and not self.reading.uses[self.seen[key]].is_call:
            self.reading.uses[self.seen[key]] = use
