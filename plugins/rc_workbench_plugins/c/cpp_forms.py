"""The form in which a call of an API in C++ is rewritten.

A call becomes one of a lambda that captures nothing of what is around it: its parameters have the types of the
function's own, an object comes first by reference, and the call within is the user's. So it stands wherever the call
could, arguments are evaluated where and in the order in which they were, and conversions are those of the function.
"""

import re
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from clang.cindex import Cursor, CursorKind, TypeKind

from rc_workbench_plugins.c.clang_parse import TokenPlace, children, extent, file_offset, qualified
from rc_workbench_plugins.c.cpp_entries import is_movable
from rc_workbench_plugins.c.cpp_structors import Caught
from rc_workbench_plugins.c.cpp_types import Unfit, spelled

K = CursorKind
_WRAPPED = (K.UNEXPOSED_EXPR, K.PAREN_EXPR)
_OF_NAMES = (K.TYPE_REF, K.NAMESPACE_REF, K.TEMPLATE_REF, K.OVERLOADED_DECL_REF)


@dataclass(frozen=True)
class Edit:
    """Text that takes the place of the bytes from `start` to `end`; of an opening one, `text` follows the lambda, which
    `before` comes before."""

    start: int
    end: int
    text: str
    opens: bool = False
    before: str = ""


@dataclass(frozen=True)
class Form:
    """How one call is rewritten. `object` is the type of the object's reference (empty: there is none), `parameters`
    are those of the arguments that are given, `call` what stands before and after the arguments of the call within.
    `only` is the class of which the object must be (empty: it is), where just a template's arguments tell what is
    called. `object_is_first`: the object is the first of the function's parameters. `unseen`: what the call makes can
    neither be moved nor copied, and its place is not known. `of_pointer`: of a pointer that is none nothing
    is called. `caught`: no text is rewritten, every call is seen by that. `taken`: the address is taken, of what that
    declares. `in_macro`: a macro's body brings it. `on` names the object, or the first argument, in brackets where it
    is a parameter."""

    file: Path
    start: int
    end: int
    object: str
    parameters: tuple[str, ...]
    call: tuple[str, str]
    edits: tuple[Edit, ...]
    only: str | None = None
    object_is_first: bool = False
    unseen: bool = False
    of_pointer: bool = False
    caught: Caught | None = None
    taken: str = ""
    in_macro: bool = False
    on: str = ""


class Forms:
    """Makes the forms of one parsed source. `bases` are where constructors begin bases of an object, `begun` are
    variables and members by where their names begin; both are filled in as the source is walked."""

    def __init__(self, text: Callable[[Path], bytes], standard: int) -> None:
        self.text, self.standard = text, standard
        self.bases: set[tuple[Path, int]] = set()
        self.begun: dict[tuple[Path, int], str] = {}

    def function(self, cursor: Cursor, parts: list[Cursor], function: Cursor, only: str | None) -> Form:
        file, start, end = self.span(parts[0])
        text = self.cut(file, start, end)
        if function.spelling not in re.findall(r"operator\W+|\w+", text):
            raise Unfit("its name is produced by a macro")
        types = self._types(function, parts[1:], only)
        whole = Edit(start, end, "", opens=True)
        on = self.named(parts[1]) if len(parts) > 1 else ""
        return Form(file, start, self.span(cursor)[2], "", types, (f"{text}(", ")"), (whole,), on=on)

    def constructor(self, cursor: Cursor, parts: list[Cursor], function: Cursor, opens: bool) -> Form:
        """An object is made by a lambda that returns it, which is the object itself from C++17 on. The lambda of one
        that `opens` gets the variable that it will be."""
        if self.standard < 17:
            raise Unfit("recording the creation of this object needs -std=c++17 or later")
        file, start, end = self.span(cursor)
        kind = spelled(cursor.type)
        if not kind or cursor.type.get_canonical().kind is not TypeKind.RECORD:
            raise Unfit("the created object has no name, or is an array")
        given = [part for part in parts if part.kind not in _OF_NAMES and file_offset(part.extent.start) is not None]
        text = self.cut(file, start, end)
        variable = self.begun.get((file, start), "") if opens else ""
        object_ = f"{kind.removeprefix('const ')} &" if variable else ""
        passed, unseen = f"({object_}){variable}))" if variable else "", opens and not is_movable(cursor.type)
        if unseen and not variable:
            raise Unfit("the created object cannot be moved, and no variable's declaration creates it")
        if not given and re.fullmatch(r"\w+", text):
            edit = Edit(end, end, f"{passed}())", opens=True, before="(")
            return Form(file, start, end, object_, (), (f"{kind}(", ")"), (edit,), unseen=unseen)
        first, last = (self.span(given[0])[1], self.span(given[-1])[2]) if given else (end - 1, end - 1)
        if not text.endswith((")", "}")) or (given and first == start) or not self._is_whole(cursor):
            raise Unfit("the source has no text at the place of its creation")
        brackets = ("(", ")") if text.endswith(")") else ("{", "}")
        types = self._types(function, given, None)
        opening, closing = Edit(first, first, f"{passed}(", opens=True), Edit(last, last, ")")
        if not given:
            opening, closing = Edit(first, first, f"{passed}()", opens=True), Edit(last, last, "")
        call = (f"{kind}{brackets[0]}", brackets[1])
        return Form(file, start, end, object_, types, call, (opening, closing), unseen=unseen)

    def method(self, cursor: Cursor, parts: list[Cursor], function: Cursor, only: str | None) -> Form:
        named = unwrapped(parts[0])
        file, start, end = self.span(named)
        bases = [c for c in children(named) if c.kind not in _OF_NAMES]
        types = self._types(function, parts[1:], only)
        if function.kind is K.CONVERSION_FUNCTION and not re.search(r"operator\b", self.cut(file, start, end)):
            return self._conversion(bases[0], function)
        if not bases or not self.cut(file, start, end).strip():
            name = self.cut(file, start, end)
            self._expect(name, function)
            opening = Edit(start, end, "*this))", opens=True)
            return Form(file, start, self.span(cursor)[2], "decltype(*this) &", types, (f"rcw_self.{name}(", ")"),
                        (opening,))  # fmt: skip
        base = bases[0]
        inner = unwrapped(base, (K.UNEXPOSED_EXPR,))
        arrow = inner.kind is K.CALL_EXPR and inner.spelling == "operator->"
        base_file, first, last = self.span(next(iter(children(inner))) if arrow else base)
        match = re.compile(rb"\s*(\.|->)\s*(?=[\w~:])").match(self.text(file), last)
        if base_file != file or match is None or match.end() > end:
            raise Unfit("its object is produced by a macro")
        name = self.cut(file, match.end(), end)
        self._expect(name, function)
        points = match[1] == b"->"
        if (points and base.type.get_canonical().kind is TypeKind.POINTER) or arrow:
            kind = spelled(base.type.get_canonical().get_pointee())
        else:
            kind = spelled(base.type)
        follow = "rcw_arrow" if points else "rcw_ref"
        if not kind:
            kind = f"decltype({follow}({self.cut(file, first, last)}))"
        edits = (Edit(first, first, f"{follow}(", opens=True), Edit(last, end, ")))"))
        call, on = (f"rcw_self.{name}(", ")"), self.named(base)
        return Form(file, first, self.span(cursor)[2], f"{kind} &", types, call, edits, only, on=on)

    def _conversion(self, base: Cursor, function: Cursor) -> Form:
        file, start, end = self.span(base)
        kind = spelled(base.type) or f"decltype(rcw_ref({self.cut(file, start, end)}))"
        edits = (Edit(start, start, "rcw_ref(", opens=True), Edit(end, end, ")))()"))
        return Form(file, start, end, f"{kind} &", (), (f"rcw_self.{function.spelling}(", ")"), edits)

    def operator(self, cursor: Cursor, parts: list[Cursor], function: Cursor, only: str | None) -> Form:
        token = function.spelling.removeprefix("operator").strip()
        operands = [p for p in parts if not names(p, cursor)]
        if len(operands) == len(parts) or not operands or token == "->":
            raise Unfit(f"operator{token} is called in a way that cannot be rewritten")
        file, start, end = self.span(operands[0])
        whole = self.span(cursor)
        kind = spelled(operands[0].type)
        kind = kind or f"decltype(rcw_ref({self.cut(file, start, end)}))"
        method = function.kind is K.CXX_METHOD or only is not None
        data, opening = self.text(file), Edit(start, start, "rcw_ref(", opens=True)
        types = self._types(function, operands[1:], only, skip=0 if method else 1)
        call: tuple[str, str]
        edits: tuple[Edit, ...]
        if token in ("()", "[]"):
            bracket = re.compile(rb"\s*" + re.escape(token[:1].encode())).match(data, end)
            if bracket is None or data[whole[2] - 1 : whole[2]] != token[1:].encode():
                raise Unfit("its brackets are produced by a macro")
            call = (f"rcw_self{token[0]}", token[1])
            edits = (opening, Edit(end, bracket.end(), ")))("), Edit(whole[2] - 1, whole[2], ")"))
        elif len(operands) == 2:
            _, second, last = self.span(operands[1])
            between = data[end:second]
            at = between.find(token.encode())
            if between.strip(b" \t\r\n\\") != token.encode() or second < end:
                raise Unfit(f"'{token}' is produced by a macro")
            call = (f"rcw_self {token} ", "")
            edits = (opening, Edit(end + at, end + at + len(token), ")))("), Edit(last, last, ")"))
        else:
            before = data[whole[1] : start]
            if before.strip() != token.encode():
                raise Unfit(f"'{token}' cannot be rewritten here")
            call = (f"{token}rcw_self", "")
            edits = (Edit(whole[1], start, "rcw_ref(", opens=True), Edit(end, end, ")))()"))
        return Form(file, whole[1], whole[2], f"{kind} &", types, call, edits, only, not method)

    def deleted(self, cursor: Cursor, pointer: Cursor) -> Form:
        file, start, end = self.span(cursor)
        _, first, last = self.span(pointer)
        if self.cut(file, start, first).strip(" (") != "delete":
            raise Unfit("it deletes an array, or the delete expression is produced by a macro")
        edits = (Edit(start, first, "(", opens=True), Edit(last, last, ")"))
        kind = spelled(pointer.type) or self._any(pointer)
        return Form(file, start, end, "", (kind,), ("delete ", ""), edits, of_pointer=True)

    def in_macro(self, where: TokenPlace, parts: list[Cursor], function: Cursor) -> Form | None:
        """A call of which a macro's body brings the name: it is rewritten there, by what the compiler knows of it."""
        named = unwrapped(parts[0])
        bases = [c for c in children(named) if c.kind not in _OF_NAMES]
        try:
            types = self._types(function, parts[1:], None)
        except Unfit:
            return None
        if named.kind is not K.MEMBER_REF_EXPR:
            call, kind = (f"::{qualified(function, function.spelling)}(", ")"), ""
        else:
            base = bases[0].type.get_canonical() if bases else None
            inner = unwrapped(bases[0], (K.UNEXPOSED_EXPR,)) if bases else None
            arrow = base is not None and base.kind is TypeKind.POINTER
            arrow |= inner is not None and inner.kind is K.CALL_EXPR and inner.spelling == "operator->"
            object_ = spelled(base.get_pointee() if arrow else base) if base is not None else "decltype(*this)"
            call, kind = (f"rcw_self.{function.spelling}(", ")"), f"{object_} &"
            if not object_ or function.kind is K.CONVERSION_FUNCTION or not function.spelling.isidentifier():
                return None
        return Form(where.file, where.offset, where.offset, kind, types, call, (), in_macro=True)

    # parts of them

    def _types(self, function: Cursor, arguments: list[Cursor], only: str | None, skip: int = 0) -> tuple[str, ...]:
        """The types of the parameters for the arguments that are written."""
        given = [one for one in arguments if file_offset(one.extent.start) is not None]
        if only is not None:
            if any(one.kind is K.INIT_LIST_EXPR for one in given):
                raise Unfit("the type of its list in braces depends on a template's arguments")
            return tuple(self._any(one) for one in given)
        kinds = list(function.type.argument_types())[skip:]
        if function.type.is_function_variadic():
            kinds += [one.type for one in given[len(kinds) :]]
        if len(kinds) < len(given):
            raise Unfit("the types of its arguments are unknown")
        return tuple(spelled(kind) or self._any(one) for kind, one in zip(kinds, given, strict=False))

    def _any(self, argument: Cursor) -> str:
        """A parameter of any type; before C++14 of its argument's."""
        if self.standard >= 14:
            return "auto &&"
        text = self.cut(*self.span(argument))
        if "[" in text or "//" in text:
            raise Unfit("recording an argument of an unnamed type, such as a lambda, needs -std=c++14 or later")
        return f"decltype(rcw_given({text}))"

    def span(self, cursor: Cursor) -> tuple[Path, int, int]:
        span = extent(cursor)
        if span is None or span[2] < span[1]:
            raise Unfit("part of it is produced by a macro")
        return span

    def cut(self, file: Path, start: int, end: int) -> str:
        return self.text(file)[start:end].decode("utf-8", "surrogateescape").replace("\n", " ")

    def named(self, thing: Cursor) -> str:
        """The last name in an expression, in brackets where it is a parameter's: jobs of &shared->jobs."""
        try:
            words = re.findall(r"[A-Za-z_]\w*", re.sub(r"\[[^\]]*\]|\([^()]*\)", "", self.cut(*self.span(thing))))
        except Unfit:
            return ""
        inner = unwrapped(thing)
        meant = inner.referenced if inner.kind is K.DECL_REF_EXPR else None
        name = words[-1] if words else ""
        return f"({name})" if name and meant is not None and meant.kind is K.PARM_DECL else name

    def _is_whole(self, cursor: Cursor) -> bool:
        """Whether it is no base of another object: such a one could not be returned."""
        return file_offset(cursor.extent.start) not in self.bases

    def _expect(self, name: str, function: Cursor) -> None:
        if function.spelling.replace(" ", "") not in name.replace(" ", ""):
            raise Unfit("its name is produced by a macro")


def names(cursor: Cursor, call: Cursor) -> bool:
    """Whether a part of a call is the name of what it calls."""
    inner, called = unwrapped(cursor), call.referenced
    if inner.kind is not K.DECL_REF_EXPR:
        return False
    first = next(iter(children(call)), None)
    return inner.referenced == called if called is not None else first is not None and inner == unwrapped(first)


def unwrapped(cursor: Cursor, kinds: tuple[CursorKind, ...] = _WRAPPED) -> Cursor:
    while cursor.kind in kinds:
        inner = list(children(cursor))
        if len(inner) != 1:
            break
        cursor = inner[0]
    return cursor
