"""Walks a parsed source for what it says of the API: uses of its functions and macros, and what they stand in."""

import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from pathlib import Path

from clang.cindex import Cursor, CursorKind, TranslationUnit, Type, TypeKind

from rc_workbench_plugins.c.clang_parse import (
    TokenPlace,
    children,
    file_offset,
    included_file,
    overloads,
    place,
    place_at,
)
from rc_workbench_plugins.c.cpp_entries import FUNCTIONS, Entries, in_c
from rc_workbench_plugins.c.cpp_forms import names
from rc_workbench_plugins.c.cpp_reading import CppCall, CppReader
from rc_workbench_plugins.c.facts import Range, Reading, Signature, Statement, Use
from workbench.api import Callee
from workbench.api.unstable import QueueEntry

K = CursorKind
HIDDEN = "the parser does not report the initialiser of a switch or range; write it before the statement"
_TYPE_OF = re.compile(rb"\b(?:__)?(?:decltype|typeof(?:__|_unqual)?)\s*\(\s*$")


def evaluated(parts: list[Cursor], text: Callable[[Path], bytes]) -> list[Cursor]:
    """The parts that are evaluated, not only named for their type: `decltype(call())`, `typeof(call())`."""
    return [part for part in parts if not (part.kind.is_expression() and _is_for_its_type(part, text))]


def _is_for_its_type(part: Cursor, text: Callable[[Path], bytes]) -> bool:
    where = file_offset(part.extent.start)
    return where is not None and bool(_TYPE_OF.search(text(where[0])[max(0, where[1] - 30) : where[1]]))


def _passed(kind: Type, *, cpp: bool) -> str:
    """The type of an argument beside the named ones, as a wrapper in C takes it; empty where it cannot."""
    if kind.kind in (TypeKind.POINTER, TypeKind.NULLPTR):
        is_function = kind.kind is TypeKind.POINTER and kind.get_pointee().kind is TypeKind.FUNCTIONPROTO
        return "" if cpp and is_function else "const volatile void *"
    if kind.kind is TypeKind.ENUM:
        declaration = kind.get_declaration()
        return "" if declaration.is_scoped_enum() else str(declaration.enum_type.get_canonical().spelling)
    if kind.kind is TypeKind.RECORD:
        return "" if cpp else str(kind.spelling)
    return "_Bool" if kind.kind is TypeKind.BOOL else str(kind.spelling)


def hidden(cursor: Cursor, parts: list[Cursor], text: Callable[[Path], bytes]) -> Range | None:
    """The statement before a switch's condition, or a range's declaration, which libclang does not show."""
    if not parts or cursor.kind not in (K.SWITCH_STMT, K.CXX_FOR_RANGE_STMT):
        return None
    begin, end = file_offset(cursor.extent.start), file_offset(parts[0].extent.start)
    if begin is None or end is None or begin[0] != end[0]:
        return None
    stop = text(begin[0]).rfind(b";", begin[1], end[1])
    after = text(begin[0])[stop + 1 : end[1]].strip(b" \t\r\n(")
    return Range(begin[0], begin[1], stop) if stop >= 0 and not after else None


def bases_begun(parts: list[Cursor]) -> Iterator[TokenPlace]:
    """Where a constructor begins bases: calls of theirs that no member's name comes before."""
    for before, part in zip([None, *parts], parts, strict=False):
        where = place(part.extent.start)
        if part.kind.is_expression() and where and (before is None or before.kind is not K.MEMBER_REF):
            yield where


def declared(name: Cursor) -> Cursor | None:
    """The one function that a name refers to."""
    meant = overloads(name)
    return meant[0] if len(meant) == 1 else None


def read_unit(
    unit: TranslationUnit,
    callees: Mapping[str, Callee],
    is_user: Callable[[Path], bool],
    text: Callable[[Path], bytes],
    *,
    cpp: bool = False,
    standard: int = 17,
) -> Reading:
    """Walk a parsed source for uses of the template's functions and macros."""
    reading = Reading()
    tops = list(children(unit.cursor))
    wrapped = {key for key, callee in callees.items() if not callee.prototype.cpp}
    queues = {key for key, one in callees.items() if any(isinstance(entry, QueueEntry) for _, entry in one.entries)}
    if cpp and len(wrapped) < len(callees.keys() - queues):
        wrapped = set()  # wrappers are in C, the API's header is not
    reader = CppReader(Entries(tops, callees, wrapped), text, standard) if cpp else None
    named = {callee.prototype.name: key for key, callee in callees.items()}
    walker = _Walker(reading, wrapped, is_user, text, reader, named)
    for cursor in tops:
        where = file_offset(cursor.extent.start)
        if where is None or not is_user(where[0]):
            continue
        start = place_at(*where)
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
    walker.unmask()
    walker.tell_hidden()
    held = (use for use in reading.uses if not any(body.holds(use.place.file, use.place.offset) for body in walker.own))
    reading.uses = list(held) if walker.own else reading.uses
    return reading


def _range(cursor: Cursor, name: str = "") -> Range | None:
    """A cursor's extent, macros expanded where they are used. None when it begins and ends in different files."""
    start, end = cursor.extent.start, cursor.extent.end
    if start.file is None or end.file is None or start.file.name != end.file.name:
        return None
    first = place(start)
    return Range(first.file, start.offset, end.offset, name) if first else None


def _bodies(cursor: Cursor, parts: list[Cursor]) -> list[Cursor]:
    """The children of a statement that are themselves statements."""
    kind = cursor.kind
    if kind is K.COMPOUND_STMT:
        return parts
    if kind is K.IF_STMT:
        return parts[1:]
    if kind is K.DO_STMT:
        return parts[:1]
    if kind in (
        K.CXX_FOR_RANGE_STMT,
        K.WHILE_STMT,
        K.FOR_STMT,
        K.SWITCH_STMT,
        K.CASE_STMT,
        K.DEFAULT_STMT,
        K.LABEL_STMT,
    ):
        return parts[-1:]
    return []


def _use(call: CppCall, *, is_call: bool) -> Use:
    here = is_call and not (call.form and call.form.caught)
    written = not (call.form and call.form.in_macro)
    return Use(call.place, call.key, here, written, None, form=call.form, why_missed=call.why)


class _Walker:
    def __init__(
        self,
        reading: Reading,
        names: Collection[str],
        is_user: Callable[[Path], bool],
        text: Callable[[Path], bytes],
        cpp: CppReader | None,
        named: Mapping[str, str],
    ) -> None:
        self.reading, self.names, self.is_user, self.text, self.cpp = reading, names, is_user, text, cpp
        self.named = named
        self.hidden: list[Range] = []
        self.own: list[Range] = []  # bodies of the API's functions: what these call is part of a call of theirs
        self.text_makers: dict[str, bool] = {}
        self.masked: dict[tuple[Path, int], Use] = {}
        self.seen: dict[tuple[Path, int, str], int] = {}

    def walk(self, top: Cursor) -> None:
        pending = [top]
        while pending:
            cursor = pending.pop()
            parts = evaluated(list(children(cursor)), self.text)
            kind = cursor.kind
            if kind in (K.CXX_UNARY_EXPR, K.CXX_TYPEID_EXPR, K.STATIC_ASSERT):
                continue  # sizeof and its like evaluate nothing
            if kind is K.CALL_EXPR and (begin := file_offset(cursor.extent.start)):
                self.reading.called.append((cursor.spelling, begin))
            if self.cpp:
                self.objects(self.cpp, cursor, parts)
            if kind is K.GENERIC_SELECTION_EXPR:
                parts = parts[1:]
            elif kind in (K.VAR_DECL, K.TYPEDEF_DECL, K.FIELD_DECL, K.PARM_DECL):
                name = cursor.location.offset  # an expression before the name is a typeof's, be it a macro's
                parts = [p for p in parts if not p.kind.is_expression() or p.extent.start.offset >= name]
            elif kind in FUNCTIONS and cursor.is_definition():
                if body := _range(cursor, cursor.spelling):
                    self.reading.functions.append(body)
                    self.reading.bodies.append((body, cursor))
                    self.own += [body] if self.is_entry(cursor) else []
            elif self.cpp and (within := self.in_cpp(self.cpp, cursor, parts)) is not None:
                parts = within
            elif kind is K.CALL_EXPR and parts:
                if callee := self.called(parts[0]):
                    self.use(callee, is_call=True, arguments=parts[1:])
                    parts = parts[1:]
            elif kind is K.DECL_REF_EXPR and self.is_api(cursor):
                self.use(cursor, is_call=False)
            if self.cpp and (out_of_sight := hidden(cursor, parts, self.text)):
                self.hidden.append(out_of_sight)
            self.statements(cursor, parts)
            pending += parts

    def objects(self, reader: CppReader, cursor: Cursor, parts: list[Cursor]) -> None:
        """Where objects begin within others, and where they end."""
        if cursor.kind is K.CONSTRUCTOR:
            reader.forms.bases |= {(at.file, at.offset) for at in bases_begun(parts)}
        begins = cursor.kind in (K.CONSTRUCTOR, K.RETURN_STMT, K.CXX_NEW_EXPR, K.INIT_LIST_EXPR)
        begins |= cursor.kind is K.CXX_FUNCTIONAL_CAST_EXPR and reader.is_kept(cursor)
        if cursor.kind in (K.VAR_DECL, K.FIELD_DECL):
            begins = cursor.type.get_canonical().kind not in (TypeKind.LVALUEREFERENCE, TypeKind.RVALUEREFERENCE)
        named = (part for part in parts if part.kind is K.MEMBER_REF) if cursor.kind is K.CONSTRUCTOR else (cursor,)
        for one in named:
            if one.kind in (K.VAR_DECL, K.FIELD_DECL, K.MEMBER_REF) and (at := file_offset(one.location)):
                reader.forms.begun[at] = one.spelling if one.kind is K.VAR_DECL else f"this->{one.spelling}"
        ends = cursor.kind in (K.VAR_DECL, K.CXX_DELETE_EXPR, K.CALL_EXPR, K.INIT_LIST_EXPR)
        for call in reader.implied(cursor, parts) if ends else ():
            self.add(_use(call, is_call=cursor.kind is K.CXX_DELETE_EXPR or not call.form))
        if begins:
            reader.keeps(parts)

    def in_cpp(self, reader: CppReader, cursor: Cursor, parts: list[Cursor]) -> list[Cursor] | None:
        """What else is to be looked at of a call, or a name, of the template's functions in C++; None for others."""
        is_call = cursor.kind is K.CALL_EXPR
        if not is_call and cursor.kind is not K.DECL_REF_EXPR:
            return None
        call = reader.call(cursor, parts) if is_call else reader.reference(cursor)
        if call is None:
            return None
        self.add(_use(call, is_call=is_call))
        return [part for part in parts if not names(part, cursor)]

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

    def is_entry(self, function: Cursor) -> bool:
        """Whether a function that is defined here, as in an API's header, is one of the template's."""
        if self.cpp is None:
            return function.spelling in self.names
        return function.kind not in (K.CONSTRUCTOR, K.DESTRUCTOR) and self.cpp.entries.of(function) is not None

    def is_api(self, cursor: Cursor) -> bool:
        target = declared(cursor)
        if target is None or target.kind is not K.FUNCTION_DECL or target.spelling not in self.names:
            return False
        return self.cpp is None or in_c(target)

    def called(self, cursor: Cursor) -> Cursor | None:
        """The API function's name in a callee, through brackets, `*` and `&`; None when it is another's."""
        while cursor.kind in (K.UNEXPOSED_EXPR, K.PAREN_EXPR, K.UNARY_OPERATOR):
            inner = list(children(cursor))
            if len(inner) != 1:
                return None
            cursor = inner[0]
        return cursor if cursor.kind is K.DECL_REF_EXPR and self.is_api(cursor) else None

    def use(self, name: Cursor, *, is_call: bool, arguments: Iterable[Cursor] = ()) -> None:
        where, function = place(name.location), declared(name)
        if where is None or function is None:
            return
        kind = function.type
        prototyped = kind.kind is TypeKind.FUNCTIONPROTO
        types = tuple(t.spelling for t in kind.argument_types()) if prototyped else None
        variadic = prototyped and kind.is_function_variadic()
        extra = [a.type.get_canonical() for a in arguments][len(types or ()) :] if variadic else []
        self.add(
            Use(
                where,
                function.spelling,
                is_call,
                self.stands_at(where, function.spelling),
                Signature(kind.get_result().spelling, types, variadic),
                tuple(_passed(kind, cpp=self.cpp is not None) for kind in extra),
            )
        )

    def macro_use(self, cursor: Cursor, where: TokenPlace, whole: Range | None) -> None:
        self.reading.macro_uses += [whole] if whole else []
        if whole and self.makes_text(cursor):
            self.reading.texts.append(whole)
        key = self.named.get(cursor.spelling)
        if key and key == cursor.spelling and key not in self.names:
            why = "it is a macro: in C++ its calls cannot be separated from the API's"
            self.add(Use(where, key, True, True, None, why_missed=why))
        elif cursor.spelling in self.names:
            definition = cursor.referenced
            defined = place(definition.location) if definition is not None else None
            use = Use(where, cursor.spelling, True, self.stands_at(where, cursor.spelling), None)
            if defined and self.is_user(defined.file):
                self.masked.setdefault((where.file, where.offset), use)  # what its body brings counts, not its name
            else:
                self.add(use)

    def makes_text(self, use: Cursor) -> bool:
        """Whether a macro has `#argument` in its body, as `assert` has."""
        if use.spelling not in self.text_makers:
            definition = use.referenced
            part = _range(definition) if definition is not None else None
            body = self.text(part.file)[part.start : part.end] if part and part.file.is_file() else b""
            self.text_makers[use.spelling] = re.search(rb"(?<!#)#\s*[A-Za-z_]", body) is not None
        return self.text_makers[use.spelling]

    def unmask(self) -> None:
        """Macros of the API whose header is among the user's: their bodies bring none of the template's functions."""
        brought = {(use.place.file, use.place.offset) for use in self.reading.uses}
        for where, use in self.masked.items():
            if where not in brought:
                self.add(use)

    def tell_hidden(self) -> None:
        """Statements that libclang does not show: the functions that their text names, by macros too."""
        bodies = {body.name: set(self.words(body).values()) - {body.name} for body in self.reading.macros}
        for part in self.hidden:
            for offset, word in self.words(part).items():
                pending = [word]
                for name in pending:
                    pending += [one for one in bodies.get(name, ()) if one not in pending]
                for key in (self.named[name] for name in pending if name in self.named):
                    self.add(Use(place_at(part.file, offset), key, True, True, None, why_missed=HIDDEN))

    def words(self, part: Range) -> dict[int, str]:
        matches = re.finditer(rb"[A-Za-z_]\w*", self.text(part.file)[part.start : part.end])
        return {part.start + word.start(): word[0].decode() for word in matches}

    def stands_at(self, where: TokenPlace, name: str) -> bool:
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
