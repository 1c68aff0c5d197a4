"""Constructors and destructors that no text calls: how every call of one is seen, whoever makes it.

Of one that stands in a library, the linker leads what the program asks for to a function of the recorder's (`--wrap`).
One that a header defines begins with the recorder, in a copy of that header: a destructor in its body, a constructor by
leaving its work to another one, so that it is seen whole, and also where it throws.
"""

import re
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from clang.cindex import Cursor, CursorKind, conf

from rc_workbench_plugins.c.clang_parse import children, extent, file_offset, manglings
from rc_workbench_plugins.c.cpp_types import Unfit, spelled

K = CursorKind
_NOT_AT_RUN_TIME = re.compile(r"\b(?:constexpr|consteval|default|delete)\b")


@dataclass(frozen=True)
class Again:
    """The constructor that does the work of another: what stands before its name, that, its parameters without
    defaults, what follows them, and their names."""

    template: str
    name: str
    parameters: tuple[str, ...]
    rest: str
    given: tuple[str, ...]


@dataclass(frozen=True)
class InHeader:
    """Where a header defines one: what holds its class at the file's top level begins at `top`, the function's name at
    `name`; at `inside` its body begins, or of a constructor, which is made `again`, what does its work. `tagged`: it
    stands in no library."""

    file: Path
    top: int
    name: int
    inside: int
    again: Again | None
    tagged: bool


@dataclass(frozen=True)
class Caught:
    """How all calls of a constructor or destructor are seen: by its `symbols`, or in its header. `of` is its class, and
    `parameters` its own, as types. `of_pointer`: those too that std::unique_ptr makes through the class's table."""

    of: str
    parameters: tuple[str, ...]
    symbols: tuple[str, ...] = ()
    header: InHeader | None = None
    of_pointer: bool = False


def caught(function: Cursor, text: Callable[[Path], bytes]) -> Caught:
    """For a constructor or destructor as it is declared. Raises Unfit."""
    kind = function.semantic_parent
    parameters = [one for one in children(function) if one.kind is K.PARM_DECL]
    defined = function if function.is_definition() else function.get_definition()
    if conf.lib.clang_CXXMethod_isDefaulted(function) or conf.lib.clang_CXXMethod_isDeleted(function):
        raise Unfit("the compiler generates it")
    if defined is not None:
        types = tuple(spelled(one.type) for one in parameters)
        return Caught(spelled(kind.type), types, header=_in_header(function, defined, parameters, text))
    if kind.kind is not K.CLASS_TEMPLATE and function.kind is not K.FUNCTION_TEMPLATE:
        names = [spelled(one.type) for one in parameters]
        if not spelled(kind.type) or not all(names) or function.type.is_function_variadic():
            raise Unfit("a type of its parameters has no name")
        symbols = [name for name in manglings(function) if not _of_parts(name) or not _has_virtual_bases(kind)]
        return Caught(spelled(kind.type), tuple(names), tuple(sorted(symbols)))
    raise Unfit("its definition is a template in another place")


def through_its_table(function: Cursor) -> bool:
    """Whether a destructor is called through a table of its class's that stands in a library."""
    if not function.is_virtual_method():
        return False
    methods = [one for one in children(function.semantic_parent) if one.kind in (K.CXX_METHOD, K.DESTRUCTOR)]
    virtual = [one for one in methods if one.is_virtual_method() and not one.is_pure_virtual_method()]
    return any(one.get_definition() is None for one in virtual)


def _of_parts(symbol: str) -> bool:
    """Whether it is what begins or ends an object that is a base of another."""
    return re.search(r"[CD]2[EB]", symbol) is not None


def _has_virtual_bases(kind: Cursor) -> bool:
    bases = [one for one in children(kind) if one.kind is K.CXX_BASE_SPECIFIER]
    return any(conf.lib.clang_isVirtualBase(one) or _has_virtual_bases(one.type.get_declaration()) for one in bases)


def _in_header(function: Cursor, defined: Cursor, parameters: list[Cursor], text: Callable[[Path], bytes]) -> InHeader:
    body = next((one for one in children(defined) if one.kind is K.COMPOUND_STMT), None)
    spots = [file_offset(where) for where in (defined.extent.start, defined.location, defined.extent.end)]
    opens = file_offset(body.extent.start) if body is not None else None
    top = function
    while top.semantic_parent is not None and top.semantic_parent.kind is not K.TRANSLATION_UNIT:
        top = top.semantic_parent
    above = file_offset(top.extent.start)
    if defined.semantic_parent != function.semantic_parent or not opens or not above or None in spots:
        raise Unfit("its definition cannot be rewritten")
    (file, start), (_, name), (_, end) = (spot for spot in spots if spot)
    data = text(file)
    if defined.lexical_parent != function.semantic_parent or above[0] != file or opens[0] != file:
        raise Unfit("it is defined in a header, but not within its class")
    if not start <= name < opens[1] < end or _NOT_AT_RUN_TIME.search(data[start:name].decode("latin-1")):
        raise Unfit("its definition is constexpr, or is produced by a macro")
    tagged = function.semantic_parent.kind is not K.CLASS_TEMPLATE
    if function.kind is K.DESTRUCTOR:
        return InHeader(file, above[1], name, opens[1] + 1, None, tagged)
    after = _after_parameters(data, name, opens[1])
    initialisers = re.compile(rb"(?<!:):(?!:)|\btry\b").search(data, after, opens[1] + 1)
    begins = initialisers.start() if initialisers else opens[1]
    declared = tuple(_declared(one, file, data) for one in parameters)
    before = data[start:name].decode("utf-8", "surrogateescape")
    template = re.match(r"template\s*<", before)
    again = Again(
        before[: _closing(before, template.end())] if template else "",
        re.sub(r"<.*", "", function.spelling),
        declared,
        data[after:begins].decode("utf-8", "surrogateescape").strip(),
        tuple(one.spelling for one in parameters),
    )
    return InHeader(file, above[1], name, begins, again, tagged)


def _declared(parameter: Cursor, file: Path, data: bytes) -> str:
    """A parameter's text without its default."""
    span = extent(parameter)
    if span is None or span[0] != file or not parameter.spelling:
        raise Unfit("a parameter in its definition has no name, or is produced by a macro")
    return data[span[1] : span[2]].decode("utf-8", "surrogateescape").split("=")[0].strip()


def _after_parameters(data: bytes, name: int, end: int) -> int:
    depth = 0
    for at in range(data.index(b"(", name), end):
        depth += (data[at : at + 1] == b"(") - (data[at : at + 1] == b")")
        if not depth:
            return at + 1
    raise Unfit("its definition is produced by a macro")


def _closing(text: str, at: int) -> int:
    depth = 1
    while depth and at < len(text):
        depth += (text[at] == "<") - (text[at] == ">")
        at += 1
    return at
