"""Expressions that may be places in memory: the pointer that one goes through, what is done with the place, and what
carries a pointer on."""

import ctypes
from collections.abc import Callable
from functools import cache

from clang.cindex import Cursor, CursorKind, TypeKind, conf

from rc_workbench_plugins.c.clang_parse import children, extent
from rc_workbench_plugins.c.facts import Range

K = CursorKind
#: clang's numbers of operators (CXUnaryOperatorKind, CXBinaryOperatorKind)
_STEPS = {1: "+after", 2: "-after", 3: "+", 4: "-"}
_ADDRESS, _DEREFERENCE, _ASSIGN, _COMMA = 5, 6, 22, 33
BESIDE = (K.PAREN_EXPR, K.UNEXPOSED_EXPR)
REFERENCES = (TypeKind.LVALUEREFERENCE, TypeKind.RVALUEREFERENCE)


@cache
def _operator(kind: str) -> Callable[[Cursor], int]:
    function = getattr(conf.lib, f"clang_getCursor{kind}OperatorKind")
    function.argtypes, function.restype = [Cursor], ctypes.c_int
    return function


def _unary(cursor: Cursor) -> int:
    return _operator("Unary")(cursor) if cursor.kind is K.UNARY_OPERATOR else 0


def takes_address(cursor: Cursor) -> bool:
    return _unary(cursor) == _ADDRESS


def dereferences(cursor: Cursor) -> bool:
    return _unary(cursor) == _DEREFERENCE


def step_of(cursor: Cursor) -> str:
    """`+` or `-`, `+after` or `-after`; empty of what counts nothing up or down."""
    return _STEPS.get(_unary(cursor), "")


def assigns(cursor: Cursor) -> bool:
    """Whether it is an assignment: a plain one (a binary operator), or with another operation."""
    kinds = (K.BINARY_OPERATOR, K.COMPOUND_ASSIGNMENT_OPERATOR)
    return cursor.kind in kinds and _ASSIGN <= _operator("Binary")(cursor) < _COMMA


def span_of(cursor: Cursor) -> Range | None:
    span = extent(cursor)
    return Range(*span) if span else None


def is_read(parent: Cursor) -> bool:
    """Whether it is the conversion of a place to its value (and not one to a place of a narrower type)."""
    kind = parent.type.get_canonical()
    if parent.kind is K.INIT_LIST_EXPR:  # whose parts are shown as they are written, before their conversion
        return not kind.is_volatile_qualified() and all(f.type.kind not in REFERENCES for f in kind.get_fields())
    return parent.kind is K.UNEXPOSED_EXPR and not kind.is_const_qualified() and not kind.is_volatile_qualified()


def passed_on(whole: Cursor, outer: list[Cursor]) -> bool:
    """Whether a conditional or a comma operator passes the place on (C++); `outer` is then what is around that."""
    passes = False
    while outer and whole is not None:
        above = outer[-1]
        comma = above.kind is K.BINARY_OPERATOR and _operator("Binary")(above) == _COMMA
        if not (above.kind is K.CONDITIONAL_OPERATOR or comma or (passes and above.kind is K.PAREN_EXPR)):
            break
        if above.kind is not K.PAREN_EXPR and next(iter(children(above))) == whole:
            break
        whole = outer.pop()
        passes = True
    return passes


def usr_of(named: Cursor) -> str:
    if named.kind is K.PARM_DECL and (function := named.semantic_parent) is not None:
        for number, parameter in enumerate(function.get_arguments()):
            if parameter == named:
                return f"{function.get_usr()}#{number}"
    return str(named.get_usr())


def is_reference(cursor: Cursor) -> bool:
    """Whether it is the name of what refers to another place."""
    named = cursor.referenced if cursor.kind in (K.DECL_REF_EXPR, K.CALL_EXPR) else None
    if named is None:
        return False
    return (named.result_type if cursor.kind is K.CALL_EXPR else named.type).kind in REFERENCES


def is_pointer(cursor: Cursor) -> bool:
    return cursor.type.get_canonical().kind is TypeKind.POINTER


def carries(cursor: Cursor) -> bool:
    """Whether a value of that type can be, or hold, a pointer."""
    kind = cursor.type.get_canonical()
    return kind.kind in (TypeKind.POINTER, TypeKind.CONSTANTARRAY, TypeKind.RECORD) or kind.get_size() == 8


def subscripted(parts: list[Cursor]) -> list[Cursor]:
    """The operands of a subscript, the pointer first: `3[words]` is `words[3]`."""
    return sorted(parts, key=lambda part: not is_pointer(part))


def pointer_of(cursor: Cursor, parts: list[Cursor]) -> Cursor | None:
    """The pointer that an expression goes through; None where it names a variable, or a part of one."""
    if is_reference(cursor):
        return cursor
    if cursor.kind is K.MEMBER_REF_EXPR and not parts and (field := cursor.referenced) and field.kind is K.FIELD_DECL:
        return cursor  # of `this`
    while parts:
        first = (subscripted(parts) if cursor.kind is K.ARRAY_SUBSCRIPT_EXPR else parts)[0]
        if cursor.kind is K.UNARY_OPERATOR:
            return first if dereferences(cursor) else None
        inner = first
        while inner.kind in BESIDE and (within := list(children(inner))):
            inner = within[0]
        if cursor.kind is K.ARRAY_SUBSCRIPT_EXPR:
            if inner.type.get_canonical().kind is TypeKind.POINTER:
                return first
        elif cursor.kind is K.MEMBER_REF_EXPR:
            if is_pointer(first):
                return first
        else:
            return None
        if is_reference(inner):
            return inner
        cursor, parts = inner, list(children(inner))
    return None
