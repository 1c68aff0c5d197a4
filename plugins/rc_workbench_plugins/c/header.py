"""Reads an API's header, or prototypes pasted from one, for the functions that a platform template may describe."""

import re
from collections import Counter
from collections.abc import Container, Iterator, Mapping, Sequence, Set
from dataclasses import replace
from pathlib import Path

from clang.cindex import (
    AccessSpecifier,
    AvailabilityKind,
    Cursor,
    CursorKind,
    ExceptionSpecificationKind,
    RefQualifierKind,
    TranslationUnit,
    TypeKind,
)

from rc_workbench_plugins.c import clang_parse
from rc_workbench_plugins.c.clang_parse import children, file_name, place, qualified
from workbench.api import Diagnostic, Severity, parse_prototype
from workbench.api.source import suffixes
from workbench.api.source.lines import reading_typed
from workbench.api.unstable import ApiFunction, ApiHeader, real

_ROUNDS = 8  # of declaring what a header takes from others that are not at hand
_UNKNOWN = re.compile(r"unknown type name '(\w+)'|no type named '(\w+)' in namespace '([\w:]+)'")
_CPP = re.compile(r"unknown type name '(?:class|namespace|template|using|public)'")
_AFTER = re.compile(r"\)\s*([A-Z_][A-Z0-9_]*)\s*(\([^();]*\))?\s*;")
_BEFORE_CLASS = re.compile(r"\b(?:class|struct)\s+([A-Z_][A-Z0-9_]*)\s+\w+\s*[:{]")
#: How macros are called that stand in a declaration beside its type, and say nothing of what it means.
_DECORATION = re.compile(
    r"\b(\w*(?:EXPORT|IMPORT|API|CALL|CALLBACK|ENTRY|DECL|DECLSPEC|LINKAGE|VISIBLE|PUBLIC)[A-Z_]*)\s+[\w*]"
)
_DIRECTIVE = re.compile(r"^[ \t]*#(?:[^\n]*\\\n)*[^\n]*|/\*.*?\*/|//[^\n]*", re.MULTILINE | re.DOTALL)
_WORD = re.compile(r"[A-Za-z_]\w*")
_QUALIFIERS = r"(?:(?:const|volatile|unsigned|signed|struct|union|enum|static|inline|extern)\s+)*"
_HOLDERS = {CursorKind.NAMESPACE, CursorKind.LINKAGE_SPEC, CursorKind.UNEXPOSED_DECL, CursorKind.CLASS_DECL,
            CursorKind.STRUCT_DECL, CursorKind.CLASS_TEMPLATE}  # fmt: skip
_FUNCTIONS = {CursorKind.FUNCTION_DECL, CursorKind.CXX_METHOD, CursorKind.CONSTRUCTOR, CursorKind.DESTRUCTOR,
              CursorKind.FUNCTION_TEMPLATE}  # fmt: skip
_OF_TEMPLATE = (CursorKind.TEMPLATE_TYPE_PARAMETER, CursorKind.TEMPLATE_NON_TYPE_PARAMETER,
                CursorKind.TEMPLATE_TEMPLATE_PARAMETER)  # fmt: skip
_LITERAL = re.compile(r"-?[\d.][\w.]*|true|false|nullptr")
_LEFT_OUT = re.compile(r"^operator\b(?!\s*\(\s*\))")  # of operators only a call is an API's


def api_header(file: Path, shown: str) -> ApiHeader:
    """The functions and types that a header's own text declares. Missing includes are reported; types that only those
    would declare are taken by name."""
    clang_parse.forget_files()
    file = real(file)
    with reading_typed({file: shown.encode()}):
        return _read(file, shown)


def _read(file: Path, shown: str) -> ApiHeader:
    data = shown.encode()
    declarations = _DIRECTIVE.sub("", shown)
    bare = ("__stdcall", "__cdecl", *_BEFORE_CLASS.findall(declarations), *_DECORATION.findall(declarations))
    assumed = {match[1]: match[2] or "" for match in _AFTER.finditer(declarations)} | dict.fromkeys(bare, "")
    lines = [f"#ifndef {name}\n#define {name}{'(...)' if inside else ''}\n#endif" for name, inside in assumed.items()]
    language, unit, reported = "c", None, frozenset[tuple[str, str]]()
    if file.suffix in suffixes.CPP_HEADERS:
        language = "c++"
    for _ in range(_ROUNDS):
        unit = _parse(file, data, language, lines)
        errors = (
            [(item.spelling, item.location.offset) for item in unit.diagnostics if item.severity >= 3] if unit else []
        )
        if language == "c" and any(_CPP.match(message) for message, _ in errors):
            language = "c++"
            continue
        unknown = {name for message, at in errors for name in _names(message, data[:at])} - reported
        if not unknown:
            break
        reported |= unknown
        lines += [_assumption(name, space, _without(declarations, assumed)) for name, space in sorted(unknown)]
    if unit is None:
        return ApiHeader((), (Diagnostic("this header cannot be read", "Is it a text file?", file=str(file)),))
    problems = tuple(
        Diagnostic(
            one.message, "Declarations of this header may be missing.", Severity.WARNING, one.file, one.line, one.column
        )
        for one in clang_parse.problems(unit)
        if one.file is None or Path(one.file) == file
    )
    spoken = frozenset(_spoken(unit.cursor, unit, data))
    functions = list(dict.fromkeys(_functions(unit.cursor, unit, data, frozenset(assumed), spoken)))
    named = Counter(parse.qualified for one in functions if (parse := parse_prototype(one.prototype)))
    return ApiHeader(tuple(_overloaded(one, named) for one in functions), problems)


def _overloaded(function: ApiFunction, named: Mapping[str, int]) -> ApiFunction:
    """With the global scope before its name, where that is what tells C++'s overloads from C's one function."""
    prototype = parse_prototype(function.prototype)
    if prototype is None or prototype.cpp or named[prototype.name] == 1:
        return function
    return replace(
        function, prototype=re.sub(rf"\b{prototype.name}\(", f"::{prototype.name}(", function.prototype, count=1)
    )


def _parse(file: Path, data: bytes, language: str, lines: Sequence[str]) -> TranslationUnit | None:
    before = file.with_name("rcw_assumed.h")
    words = ["-x", language, "-w", "-ferror-limit=0", "-fdeclspec", "-include", str(before), "-include", "stdint.h",
             "-include", "stddef.h", *(["-std=c++20"] if language == "c++" else [])]  # fmt: skip
    if headers := clang_parse.builtin_headers():
        words += ["-resource-dir", str(headers)]
    return clang_parse.parse(file, words, {file: data, before: "\n".join([*lines, ""])})


def _without(text: str, words: Container[str]) -> str:
    return re.sub(r"\w+\s*", lambda word: "" if word[0].strip() in words else word[0], text)


def _names(message: str, before: bytes) -> Iterator[tuple[str, str]]:
    """The types that a message misses, and the namespace where they would be. In a parameter's own parameters C takes
    them for names, until one is none."""
    if match := _UNKNOWN.search(message):
        yield match[1] or match[2], match[3] or ""
    elif message == "expected identifier":
        for name in re.findall(r"[A-Za-z_]\w*", before.decode("utf-8", "replace").rpartition("(")[2]):
            yield name, ""


def _assumption(name: str, space: str, text: str) -> str:
    """A word that stands before a whole declaration is taken as a macro of the header's kind; any other as a type."""
    if space:
        return f"namespace {space} {{ struct {name} {{ int of; }}; }}"
    if re.search(rf"\b{name}\s+{_QUALIFIERS}[A-Za-z_]\w*[\s*&]+[A-Za-z_]\w*\s*\(", text):
        return f"#define {name}"
    return f"typedef struct {name} {{ int of; }} {name};"


def _own(cursor: Cursor, unit: TranslationUnit) -> Iterator[Cursor]:
    """What the header itself declares in a scope."""
    name = unit.spelling
    return (child for child in children(cursor) if file_name(child.location) == name)


def _spoken(cursor: Cursor, unit: TranslationUnit, data: bytes) -> Iterator[str]:
    """The words of the functions that the header defines itself: they may call what no program can."""
    for child in _own(cursor, unit):
        if child.kind in _HOLDERS:
            yield from _spoken(child, unit, data)
        elif child.kind in _FUNCTIONS and _is_inline(child):
            yield from _WORD.findall(
                data[child.extent.start.offset : child.extent.end.offset].decode("utf-8", "replace")
            )


def _functions(
    cursor: Cursor, unit: TranslationUnit, data: bytes, assumed: Set[str], spoken: Set[str]
) -> Iterator[ApiFunction]:
    for child in _own(cursor, unit):
        if child.kind in _HOLDERS:
            yield from _functions(child, unit, data, assumed, spoken)
        elif child.kind in _FUNCTIONS and _callable(child, spoken):
            where = place(child.location)
            line, prototype = where.line if where else 1, _prototype(child, data, assumed)
            yield ApiFunction(prototype, line, tuple(_choices(child)), _is_inline(child), not _public(child))


def _is_inline(cursor: Cursor) -> bool:
    """Whether the header defines a function, be it by `= default`."""
    return cursor.get_definition() is not None or cursor.is_default_method()


def _callable(cursor: Cursor, spoken: Set[str]) -> bool:
    """A function that a program can call by its name: of a class what is public, and no copy of an object. And what is
    private and defined elsewhere, where a function that the header defines may call it."""
    gone = cursor.availability == AvailabilityKind.NOT_AVAILABLE
    copies = cursor.is_copy_constructor() or cursor.is_move_constructor()
    called = cursor.spelling in spoken and not _is_inline(cursor) and not cursor.is_pure_virtual_method()
    return (_public(cursor) or called) and not gone and not copies and not _LEFT_OUT.match(cursor.spelling)


def _public(cursor: Cursor) -> bool:
    return cursor.access_specifier in (AccessSpecifier.PUBLIC, AccessSpecifier.INVALID, AccessSpecifier.NONE)


def _choices(cursor: Cursor) -> Iterator[tuple[str, tuple[str, ...]]]:
    """The parameters that are enumerations, with the names of their values."""
    for parameter in _parameters_of(cursor):
        kind = parameter.type.get_canonical().get_declaration()
        if kind.kind is CursorKind.ENUM_DECL and parameter.spelling:
            values = [one for one in children(kind) if one.kind is CursorKind.ENUM_CONSTANT_DECL]
            named = kind if kind.is_scoped_enum() else kind.semantic_parent
            yield parameter.spelling, tuple(qualified(one, one.spelling, named) for one in values)


def _prototype(cursor: Cursor, data: bytes, assumed: Set[str]) -> str:
    """The prototype as an entry of a template writes it: `int fpgaWrite(int fpga, int words)`, `void ns::kind::name(int
    a)`."""
    name = qualified(cursor, cursor.spelling.partition("<")[0])
    if above := _class_template(cursor):  # its methods are of `Board<Word>`
        given = [one.spelling + "..." * ("..." in _written(one, data)) for one in _over(above)]
        whole = qualified(above, above.spelling)
        name = f"{whole}<{', '.join(given)}>{name.removeprefix(whole)}"
    parameters = [_parameter(one, number, data, assumed) for number, one in enumerate(_parameters_of(cursor), 1)]
    if cursor.type.kind is TypeKind.FUNCTIONPROTO and cursor.type.is_function_variadic():
        parameters.append("...")
    is_structor = cursor.kind in (CursorKind.CONSTRUCTOR, CursorKind.DESTRUCTOR)
    returns = "" if is_structor else cursor.result_type.spelling
    gap = "" if is_structor or returns.endswith(("*", "&")) else " "
    inside = ", ".join(parameters) or ("" if "::" in name else "void")
    over = [_written(one, data).split("=")[0].strip() for one in [*(_over(above) if above else []), *_over(cursor)]]
    before = (f"template <{', '.join(over)}> " if over else "") + ("static " if cursor.is_static_method() else "")
    after = "".join(f" {word}" for word in _after(cursor))
    return f"{before}{returns}{gap}{name}({inside}){after}"


def _class_template(cursor: Cursor) -> Cursor | None:
    """The innermost class template that a function is declared in."""
    above = cursor.semantic_parent
    while above is not None and above.kind not in (CursorKind.CLASS_TEMPLATE, CursorKind.TRANSLATION_UNIT):
        above = above.semantic_parent
    return above if above is not None and above.kind is CursorKind.CLASS_TEMPLATE else None


def _over(cursor: Cursor) -> list[Cursor]:
    """The parameters of a template; none of what is none."""
    return [one for one in children(cursor) if one.kind in _OF_TEMPLATE]


def _after(cursor: Cursor) -> Iterator[str]:
    """What a method's declaration says behind its parameters, which its definition has to repeat."""
    if cursor.is_const_method():
        yield "const"
    yield from {RefQualifierKind.LVALUE: ("&",), RefQualifierKind.RVALUE: ("&&",)}.get(
        cursor.type.get_ref_qualifier(), ()
    )
    if cursor.exception_specification_kind is ExceptionSpecificationKind.BASIC_NOEXCEPT:
        yield "noexcept"


def _parameters_of(cursor: Cursor) -> list[Cursor]:
    if cursor.kind is CursorKind.FUNCTION_TEMPLATE:
        return [one for one in children(cursor) if one.kind is CursorKind.PARM_DECL]
    return list(cursor.get_arguments())


def _written(cursor: Cursor, data: bytes) -> str:
    """A declaration as it is written, on one line."""
    return " ".join(data[cursor.extent.start.offset : cursor.extent.end.offset].decode("utf-8", "replace").split())


def _parameter(cursor: Cursor, number: int, data: bytes, assumed: Set[str]) -> str:
    """A parameter's declaration as it is written, with a name, and with its default where that is a literal."""
    written, _, default = (part.strip() for part in re.sub(r"/\*.*?\*/", "", _written(cursor, data)).partition("="))
    written = _without(written, assumed)
    name = cursor.spelling
    if name and re.search(rf"\b{name}\b", written):
        return f"{written} = {default}" if _LITERAL.fullmatch(default) else written
    kind = cursor.type.spelling
    named = name or f"argument{number}"
    if "(*)" in kind:
        return kind.replace("(*)", f"(*{named})", 1)
    if "[" in kind:
        return kind.replace("[", f"{named}[", 1)
    return f"{kind}{'' if kind.endswith(('*', '&')) else ' '}{named}"
