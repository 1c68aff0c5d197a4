"""Addresses of functions and methods that are taken: what is called by them is a function of the recorder's.

All references to one function get the same address, so that they stay equal. A pointer to a method stays one of its
class: it leads to a method of a class that derives from it and adds nothing to its objects.
"""

import re
from dataclasses import dataclass

from clang.cindex import AccessSpecifier, Cursor, CursorKind, conf

from rc_workbench_plugins.c.clang_parse import children
from rc_workbench_plugins.c.cpp_types import Unfit, number_of, spelled

K = CursorKind


@dataclass(frozen=True)
class Taken:
    """A function whose address is taken: what declares the one that is called instead, what its address is where the
    function's own stood, the types of its parameters and of its object (empty: it has none), and the call within."""

    declaration: str
    address: str
    object: str
    parameters: tuple[str, ...]
    call: tuple[str, str]


def taken(function: Cursor, key: str) -> Taken:
    """For the function that a name refers to. Raises Unfit."""
    kind, scope = function.type, function.semantic_parent
    parameters = tuple(spelled(one) for one in kind.argument_types())
    returns, name = spelled(kind.get_result()), f"rcw_taken_{number_of(key)}"
    if not returns or not all(parameters) or kind.is_function_variadic():
        raise Unfit("its address is taken, and its type cannot be written")
    never = re.search(r"\bnoexcept$", kind.spelling) is not None
    noexcept, in_type = (" noexcept", " RCW_NOEXCEPT") if never else ("", "")
    called = function.spelling + _arguments(function)
    if function.kind is not K.CXX_METHOD or function.is_static_method():
        takes = ", ".join(f"{one} rcw_{n}" for n, one in enumerate(parameters))
        call = (f"::{'::'.join((*_scopes(scope), called))}(", ")")
        return Taken(f"inline {returns} {name}({takes}){noexcept}", name, "", parameters, call)
    of, const = spelled(scope.type), " const" if function.is_const_method() else ""
    if not of or any(one.kind is K.CXX_FINAL_ATTR for one in children(scope)):
        raise Unfit("it takes the address of a method whose class is final or has no name")
    if function.access_specifier is not AccessSpecifier.PUBLIC or re.search(r"\)[^)]*[&v]", kind.spelling):
        raise Unfit("it takes the address of a method that is private, protected, or qualified by & or volatile")
    itself = f"{of}{const} &"
    pointer = f"{returns} ({of}::*)({', '.join(parameters)}){const}{in_type}"
    function_type = f"{returns} (*)({', '.join((itself, *parameters))}){in_type}"
    address = f"static_cast<{pointer}>(&rcw_member<{pointer}, {function_type}, {name}>::call)"
    takes = ", ".join((f"{itself}rcw_self", *(f"{one} rcw_{n}" for n, one in enumerate(parameters))))
    declaration = f"inline {returns} {name}({takes}){noexcept}"
    return Taken(declaration, address, itself, parameters, (f"rcw_self.{called}(", ")"))


def _scopes(scope: Cursor) -> list[str]:
    if scope.kind is K.TRANSLATION_UNIT:
        return []
    if scope.kind is K.NAMESPACE and scope.spelling:
        return [*_scopes(scope.semantic_parent), scope.spelling]
    if scope.kind in (K.CLASS_DECL, K.STRUCT_DECL) and (of := spelled(scope.type)):
        return [of]
    if scope.kind is K.LINKAGE_SPEC:
        return _scopes(scope.semantic_parent)
    raise Unfit("its address is taken, and its name is known only within its scope")


def _arguments(function: Cursor) -> str:
    """A template's arguments, which tell which function is meant."""
    template = conf.lib.clang_getSpecializedCursorTemplate(function)
    if template is None or template.kind is not K.FUNCTION_TEMPLATE:
        return ""
    count = function.get_num_template_arguments()  # libclang knows none of a method's
    kinds = [spelled(function.get_template_argument_type(n)) for n in range(count)]
    if not kinds or not all(kinds):
        raise Unfit("its address is taken, and its template's arguments cannot be written")
    return f"<{', '.join(kinds)}>"
