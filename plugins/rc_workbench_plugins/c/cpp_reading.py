"""Calls of an API in C++: which they are, with the form in which each is rewritten."""

import re
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

from clang.cindex import Cursor, CursorKind

from rc_workbench_plugins.c.clang_parse import TokenPlace, children, file_offset, overloads, place
from rc_workbench_plugins.c.cpp_addresses import taken
from rc_workbench_plugins.c.cpp_entries import Entries
from rc_workbench_plugins.c.cpp_forms import Edit, Form, Forms, names, unwrapped
from rc_workbench_plugins.c.cpp_held import BY_LIBRARY, BY_POINTER, Held, arguments
from rc_workbench_plugins.c.cpp_structors import caught, through_its_table
from rc_workbench_plugins.c.cpp_types import Unfit

K = CursorKind
_MAKERS = {"make_unique", "make_shared", "allocate_shared"}


@dataclass(frozen=True)
class CppCall:
    """A call of a callee (by its key) at a place, with its form, or why it has none."""

    place: TokenPlace
    key: str
    form: Form | None
    why: str = ""


class CppReader:
    """Looks at the expressions of one parsed source."""

    def __init__(self, entries: Entries, text: Callable[[Path], bytes], standard: int) -> None:
        self.entries, self.text = entries, text
        self.forms = Forms(text, standard)
        self.kept: set[tuple[object, ...]] = set()
        self.held = Held(entries)

    def call(self, cursor: Cursor, parts: list[Cursor]) -> CppCall | None:
        """A call expression; None where it is none of the template's."""
        function = cursor.referenced
        key = self.entries.of(function)
        if function is not None and function.kind is K.CONSTRUCTOR:
            return self._constructed(cursor, parts, function, key)
        only, named = None, unwrapped(parts[0]) if parts else None
        if function is None and named is not None and named.kind is K.MEMBER_REF_EXPR:
            name = self._last_name(named)
            keys = self.entries.named(name, len(parts) - 1) if name else []
            where = place(parts[0].location)
            if not keys or where is None:
                return None
            key, function = keys[0], self.entries.declared[keys[0]]
            only = self._class(function, named)
            if len(keys) > 1 or only is None:
                return CppCall(where, key, None, f"a template's arguments decide whether this {name} is the API's")
        if function is None and named is not None and named.kind is K.DECL_REF_EXPR:
            meant = overloads(named)
            key = next(filter(None, map(self.entries.of, meant)), None)
            function, where = meant[0] if meant else None, place(named.extent.start)
            if key and where and len(meant) > 1:
                why = f"a template's arguments decide which {meant[0].spelling} is called"
                return CppCall(where, key, None, why)
        if key is None or function is None:
            return None
        if named is not None and named.kind is K.MEMBER_REF_EXPR:
            where, make = place(named.location) or place(named.extent.start), self.forms.method
        elif function.spelling.startswith("operator") and not self._is_plain_call(parts):
            token = next((part for part in parts if names(part, cursor)), cursor)
            where, make = place(unwrapped(token).location), self.forms.operator
        else:
            where, make = place(cursor.extent.start), self.forms.function
        if where is None:
            return None
        try:
            return CppCall(where, key, make(cursor, parts, function, only))
        except Unfit as problem:
            elsewhere = make != self.forms.operator and only is None
            form = self.forms.in_macro(where, parts, function) if elsewhere else None
            return CppCall(where, key, form, "" if form else str(problem))

    def _constructed(self, cursor: Cursor, parts: list[Cursor], function: Cursor, key: str | None) -> CppCall | None:
        where = place(cursor.extent.start)
        if key is None or where is None:
            return None
        try:
            return CppCall(where, key, self.forms.constructor(cursor, parts, function, key in self.entries.opening))
        except Unfit:
            return self._caught(where, key)

    def _caught(self, where: TokenPlace, key: str, *, of_pointer: bool = False) -> CppCall:
        """A call of a constructor or destructor that is seen as every call of it is; or every one of a pointer's."""
        function = self.entries.declared[key]
        try:
            seen = replace(caught(function, self.text), of_pointer=of_pointer)
        except Unfit as problem:
            return CppCall(where, key, None, str(problem))
        at, kind = where.offset, f"{seen.of} &"
        form = Form(where.file, at, at, kind, seen.parameters, ("", ""), (), unseen=True, caught=seen)
        return CppCall(where, key, form)

    def keeps(self, parts: list[Cursor]) -> None:
        """Expressions whose value is the object itself that is begun, or returned: nothing of theirs ends there."""
        self.kept |= {_value(part) for part in parts if part.kind.is_expression()}

    def is_kept(self, cursor: Cursor) -> bool:
        return _value(cursor) in self.kept

    def implied(self, cursor: Cursor, parts: list[Cursor]) -> list[CppCall]:
        """A variable, a temporary object or a `delete`: the constructors and destructors of the template's that are
        called for it where no text stands for them."""
        where = place(cursor.location)
        if not self.entries.structors or where is None:
            return []
        kinds = [cursor.type]
        if cursor.kind is K.CXX_DELETE_EXPR:
            kinds = [parts[0].type.get_canonical().get_pointee()] if parts else []
        elif cursor.kind is K.CALL_EXPR and (called := cursor.referenced) is None:
            kinds = [parts[0].type.get_canonical().get_pointee().get_result()] if parts else []
        elif cursor.kind is K.CALL_EXPR and called.kind is not K.CONSTRUCTOR:
            kinds = [called.result_type, *([called.semantic_parent.type] if called.kind is K.CXX_METHOD else [])]
        making = cursor.kind is K.CALL_EXPR and cursor.referenced is not None and cursor.referenced.spelling in _MAKERS
        within = [part for kind in kinds for part in arguments(kind.get_canonical())] if making else []
        constructors = [key for part in within for key in self.held.constructors(part)]
        calls, kept = (
            [self._caught(where, key) for key in constructors],
            cursor.kind in (K.CALL_EXPR, K.INIT_LIST_EXPR) and self.is_kept(cursor),
        )
        for key, by in ((key, by) for kind in kinds for key, by in self.held.of(kind).items()):
            function = self.entries.declared[key]
            by_table = function.kind is K.DESTRUCTOR and through_its_table(function)
            own = self.entries.destructor(kinds[0].get_canonical().get_declaration())
            if by_table and cursor.kind is K.CXX_DELETE_EXPR and key == own:
                calls.append(self._deleted(cursor, parts[0], where, key))
                continue
            if by_table and by == BY_LIBRARY and not kept:
                why = "it is virtual, and the standard library or another library calls it"
                calls.append(CppCall(where, key, None, why))
            call = self._caught(where, key, of_pointer=by_table and by == BY_POINTER)
            calls += [call] if call.form or not kept else []
        return calls

    def _deleted(self, cursor: Cursor, pointer: Cursor, where: TokenPlace, key: str) -> CppCall:
        try:
            return CppCall(where, key, self.forms.deleted(cursor, pointer))
        except Unfit as problem:
            return CppCall(where, key, None, str(problem))

    def reference(self, cursor: Cursor) -> CppCall | None:
        """A name that is used without being called."""
        meant = overloads(cursor)
        key = next(filter(None, map(self.entries.of, meant)), None)
        where = place(cursor.extent.start)
        if key is None or where is None or meant[0].kind is K.CONSTRUCTOR:
            return None
        try:
            file, start, end = self.forms.span(cursor)
            if len(meant) > 1:
                raise Unfit("a template's arguments decide which function's address is taken")
            address = taken(meant[0], key)
            if meant[0].spelling not in self.forms.cut(file, start, end):
                raise Unfit("its address is taken in a macro")
            if address.object:
                sign = re.compile(rb"&\s*$").search(self.text(file), 0, start)
                if not sign:
                    raise Unfit("its address is taken in a way that cannot be rewritten")
                start = sign.start()
            edit = Edit(start, end, address.address)
            return CppCall(where, key, Form(file, start, end, address.object, address.parameters, address.call, (edit,),
                                            unseen=True, taken=address.declaration))  # fmt: skip
        except Unfit as problem:
            return CppCall(where, key, None, str(problem))

    def _class(self, function: Cursor, named: Cursor) -> str | None:
        """The class of which an object must be for its method to be this one; None where that cannot be asked."""
        parent = function.semantic_parent
        if parent.kind is not K.CLASS_TEMPLATE:
            return str(parent.type.get_canonical().spelling)
        base = next(iter(children(named)), None)
        kind = re.sub(r"<.*", "", base.type.spelling).split("::")[-1] if base is not None else ""
        return "" if kind == parent.spelling else None

    def _last_name(self, named: Cursor) -> str:
        try:
            text = self.forms.cut(*self.forms.span(named))
        except Unfit:
            return ""
        match = re.search(r"(?:\.|->)\s*(?:template\s+)?(\w+)\s*(?:<[^()]*>)?$", text)
        return match[1] if match else ""

    def _is_plain_call(self, parts: list[Cursor]) -> bool:
        """`ns::operator<<(a, b)`: the operator is called by its name."""
        first = unwrapped(parts[0]) if parts else None
        if first is None or first.kind is not K.DECL_REF_EXPR or not first.spelling.startswith("operator"):
            return False
        try:
            return "operator" in self.forms.cut(*self.forms.span(first))
        except Unfit:
            return False


def _value(cursor: Cursor) -> tuple[object, ...]:
    """An expression and what it is, whatever stands between them in the tree."""
    kind = cursor.type.get_canonical().spelling.removeprefix("const ")
    return file_offset(cursor.extent.start), file_offset(cursor.extent.end), kind
