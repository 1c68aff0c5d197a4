"""libclang behind a few functions: parse a source as the project's compiler would, and say where things stand."""

import ctypes
import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.util import find_spec
from pathlib import Path

from clang import cindex

from rc_workbench_plugins.c.system_clang import system_clang
from workbench.api import Diagnostic, HostSources, Lines, Severity
from workbench.api.source.flags import absolute, flags_of, folders_of_all, macros_of_all
from workbench.api.source.lines import typed_texts

#: Compiler flags that change what a source means; others do not concern a parser.
_FLAG_STARTS = ("-D", "-U", "-I", "-ansi", "-m32", "-m64", "-fshort", "-funsigned", "-fsigned", "-fms-ext")
_FLAG_PAIRS = ("-include", "-isystem", "-iquote", "-idirafter", "-D", "-U", "-I")

#: Old C that gcc takes with at most a warning.
_GCC_ACCEPTS = (
    "implicit-function-declaration",
    "implicit-int",
    "int-conversion",
    "incompatible-function-pointer-types",
    "return-type",
)

_PARSE = (
    cindex.TranslationUnit.PARSE_DETAILED_PROCESSING_RECORD
    | 0x200  # CXTranslationUnit_KeepGoing: on after a fatal error
)


@dataclass(frozen=True)
class TokenPlace:
    """Where a token stands in a file: `offset` in bytes from 0, `line` and `column` (in bytes) from 1."""

    file: Path
    offset: int
    line: int
    column: int


def arguments(
    root: Path, host: HostSources, defines: dict[str, str], *, cpp: bool = False, source: str = ""
) -> list[str]:
    """What to tell clang so that it reads a source of the project, or what is made for all of them, as the project's
    compiler does."""
    words = ["-x", "c++" if cpp else "c", "-w", *(f"-Wno-{name}" for name in _GCC_ACCEPTS)]
    if headers := builtin_headers():
        words += ["-resource-dir", str(headers)]
    given = [f"-I{root / folder}" for folder in host.include_dirs]
    given += [f"-D{name}={value}" for name, value in defines.items()]
    of_all = (*macros_of_all(host), *(f"-I{folder}" for folder in folders_of_all(host)))
    flags = iter((*absolute(flags_of(host, source), root), *given, *(() if source else of_all)))
    for flag in flags:
        if flag in _FLAG_PAIRS:
            words += [flag, next(flags, "")]
        elif flag.startswith("-std="):
            words += [flag] if ("++" in flag) == cpp else []
        elif flag.startswith(_FLAG_STARTS):
            words.append(flag)
    return words


@cache
def builtin_headers() -> Path | None:
    """The compiler's own headers (stddef.h, ...), which libclang's wheel lacks and clang-tidy's has."""
    if newer := system_clang():
        return newer.headers
    spec = find_spec("clang_tidy")
    if spec is None or not spec.origin:
        return None
    headers = sorted(Path(spec.origin).parent.glob("data/lib/clang/*/include/stddef.h"))
    return headers[-1].parents[1] if headers else None


@cache
def _lib() -> ctypes.CDLL:
    """The library, with the functions declared that its Python bindings leave out."""
    if (newer := system_clang()) and not cindex.Config.loaded:
        cindex.Config.set_library_file(str(newer.library))
    lib = cindex.conf.lib
    lib.clang_getCString.restype = ctypes.c_char_p
    lib.clang_getCString.errcheck = lambda text, *_: None if text is None else os.fsdecode(text)  # names of any bytes
    out = [ctypes.POINTER(ctypes.c_uint)] * 3
    for locate in (lib.clang_getFileLocation, lib.clang_getExpansionLocation):
        locate.argtypes, locate.restype = [cindex.SourceLocation, ctypes.POINTER(ctypes.c_void_p), *out], None
    lib.clang_getAllSkippedRanges.argtypes = [cindex.TranslationUnit]
    lib.clang_getAllSkippedRanges.restype = ctypes.POINTER(_RangeList)
    lib.clang_disposeSourceRangeList.argtypes = [ctypes.POINTER(_RangeList)]
    lib.clang_disposeSourceRangeList.restype = None
    cursors = ctypes.POINTER(cindex.Cursor)
    lib.clang_getOverriddenCursors.argtypes = [cindex.Cursor, ctypes.POINTER(cursors), ctypes.POINTER(ctypes.c_uint)]
    lib.clang_getOverriddenCursors.restype = None
    lib.clang_disposeOverriddenCursors.argtypes = [cursors]
    lib.clang_disposeOverriddenCursors.restype = None
    lib.clang_Cursor_isInlineNamespace.argtypes = [cindex.Cursor]
    lib.clang_Cursor_getCXXManglings.argtypes = [cindex.Cursor]
    lib.clang_Cursor_getCXXManglings.restype = ctypes.POINTER(_Strings)
    lib.clang_disposeStringSet.argtypes = [ctypes.POINTER(_Strings)]
    lib.clang_disposeStringSet.restype = None
    lib.clang_Cursor_Evaluate.argtypes, lib.clang_Cursor_Evaluate.restype = [cindex.Cursor], ctypes.c_void_p
    lib.clang_EvalResult_getKind.argtypes = [ctypes.c_void_p]
    lib.clang_EvalResult_getAsLongLong.argtypes = [ctypes.c_void_p]
    lib.clang_EvalResult_getAsLongLong.restype = ctypes.c_longlong
    lib.clang_EvalResult_dispose.argtypes = [ctypes.c_void_p]
    return lib


class _String(ctypes.Structure):  # one of a set, which is freed with it
    _fields_ = (("text", ctypes.c_char_p), ("flags", ctypes.c_uint))


class _Strings(ctypes.Structure):
    _fields_ = (("strings", ctypes.POINTER(_String)), ("count", ctypes.c_uint))


def manglings(function: cindex.Cursor) -> list[str]:
    """The linker's names of a constructor or destructor: one for whole objects, one for bases of others."""
    mangled = _lib().clang_Cursor_getCXXManglings(function)
    names = [os.fsdecode(mangled.contents.strings[n].text) for n in range(mangled.contents.count)]
    _lib().clang_disposeStringSet(mangled)
    return names


def constant(expression: cindex.Cursor) -> int | None:
    """The value of a constant integer expression; None of any other."""
    result = _lib().clang_Cursor_Evaluate(expression)
    if not result:
        return None
    is_integer = _lib().clang_EvalResult_getKind(result) == 1
    value = int(_lib().clang_EvalResult_getAsLongLong(result)) if is_integer else None
    _lib().clang_EvalResult_dispose(result)
    return value


def overridden(method: cindex.Cursor) -> list[cindex.Cursor]:
    """The methods of base classes that a virtual method overrides."""
    overridden, count = ctypes.POINTER(cindex.Cursor)(), ctypes.c_uint()
    _lib().clang_getOverriddenCursors(method, ctypes.byref(overridden), ctypes.byref(count))
    bases = [cindex.Cursor.from_location(method.translation_unit, overridden[i].location) for i in range(count.value)]
    _lib().clang_disposeOverriddenCursors(overridden)
    return bases


def overloads(name: cindex.Cursor) -> list[cindex.Cursor]:
    """What a name refers to: all functions of which one is meant where a template leaves open which."""
    referenced = name.referenced
    if referenced is None or referenced.kind is not cindex.CursorKind.OVERLOADED_DECL_REF:
        return [referenced] if referenced is not None else []
    lib = _lib()
    return [lib.clang_getOverloadedDecl(referenced, n) for n in range(lib.clang_getNumOverloadedDecls(referenced))]


class _RangeList(ctypes.Structure):
    _fields_ = (("count", ctypes.c_uint), ("ranges", ctypes.POINTER(cindex.SourceRange)))


def parse(
    source: Path, words: Sequence[str], unsaved: Mapping[Path, str | bytes] | None = None
) -> cindex.TranslationUnit | None:
    """The parsed source, or None where clang cannot even begin (a file that is not there). `unsaved` are texts that
    stand for the files' own."""
    files = [(str(file), text) for file, text in {**typed_texts(), **(unsaved or {})}.items()]
    os.environ["LIBCLANG_DISABLE_CRASH_RECOVERY"] = "1"  # a crash ends the child that reads, and is reported as one
    _names.clear()
    try:
        unit = cindex.Index.create().parse(
            os.fsencode(source), args=[os.fsencode(word) for word in words], unsaved_files=files, options=_PARSE
        )
    except cindex.TranslationUnitLoadError:
        return None
    _read.update(name.include.name for name in unit.get_includes())
    return unit


@cache
def _resolved(name: str) -> Path:
    return Path(os.path.realpath(name))


_lines = Lines()
_read: set[str] = set()
_names: dict[int, str] = {}  # of files by libclang's pointers, which a later source may have for others


def _name(file: int) -> str:
    if file not in _names:
        _names[file] = cindex.File(ctypes.cast(file, cindex.c_object_p)).name
    return _names[file]


def file_name(location: cindex.SourceLocation) -> str | None:
    """The file of a token as the parser calls it; of one in a macro's argument, or that its body brings, the file where
    the macro is used. None of what is in no file."""
    file = ctypes.c_void_p()
    _lib().clang_getExpansionLocation(location, ctypes.byref(file), None, None, None)
    return _name(file.value) if file.value else None


def forget_files() -> None:
    """Read files again where they are asked for: they may have changed."""
    global _lines
    _lines = Lines()
    _read.clear()
    _resolved.cache_clear()


def included_files() -> list[Path]:
    """All that the sources include which were parsed since."""
    return sorted(map(_resolved, _read))


def file_offset(location: cindex.SourceLocation) -> tuple[Path, int] | None:
    """The file of a token and its offset in bytes. One in a macro's argument: where the argument is written; one that a
    macro's body brings: where the macro is used. (The bindings' own properties say the latter for both.)"""
    file, offset = ctypes.c_void_p(), ctypes.c_uint()
    _lib().clang_getFileLocation(location, ctypes.byref(file), None, None, ctypes.byref(offset))
    return (_resolved(_name(file.value)), offset.value) if file.value else None


def extent(cursor: cindex.Cursor) -> tuple[Path, int, int] | None:
    """The file of a cursor's text, its first byte and that after it, as `file_offset` tells them; None where it begins
    and ends in different files."""
    start, end = file_offset(cursor.extent.start), file_offset(cursor.extent.end)
    return (*start, end[1]) if start and end and start[0] == end[0] else None


def qualified(cursor: cindex.Cursor, name: str, above: cindex.Cursor | None = None) -> str:
    """A name with the scope that its cursor stands in, or with that of another one."""
    above = above or cursor.semantic_parent
    while above is not None and above.kind is not cindex.CursorKind.TRANSLATION_UNIT:
        name = f"{above.spelling}::{name}" if above.spelling else name
        above = above.semantic_parent
    return name


def place(location: cindex.SourceLocation) -> TokenPlace | None:
    """Where a token stands in a file, as `file_offset` tells it."""
    where = file_offset(location)
    return place_at(*where) if where else None


def place_at(file: Path, offset: int) -> TokenPlace:
    """The place of a byte of a file."""
    return TokenPlace(file, offset, *_lines.place(file, offset))


def skipped_ranges(unit: cindex.TranslationUnit) -> list[tuple[Path, int, int]]:
    """What the preprocessor left out: (file, first offset, last offset)."""
    listed = _lib().clang_getAllSkippedRanges(unit)
    ranges = []
    for i in range(listed.contents.count):
        part = listed.contents.ranges[i]
        start, end = file_offset(part.start), file_offset(part.end)
        if start and end:
            ranges.append((*start, end[1]))
    _lib().clang_disposeSourceRangeList(listed)
    return ranges


def problems(unit: cindex.TranslationUnit) -> tuple[Diagnostic, ...]:
    """What keeps clang from reading the source wholly. After any, calls may be missing from what is found."""
    problems: dict[Diagnostic, None] = {}
    for item in unit.diagnostics:
        if item.severity < cindex.Diagnostic.Error or item.spelling.startswith("too many errors"):
            continue
        where = place(item.location)
        at = (str(where.file), where.line, where.column) if where else ()
        missing = "Copy it to the project, or name its folder under host.include_dirs. "
        hint = missing if item.spelling.endswith("file not found") else ""
        hint += "Until this is fixed, API calls in this file may be missed."
        problems[Diagnostic(item.spelling, hint, Severity.ERROR, *at)] = None
    return tuple(problems)


def included_file(directive: cindex.Cursor) -> Path | None:
    """The file that an #include brings, or None where there is none of that name."""
    try:
        return Path(directive.get_included_file().name)
    except AssertionError:  # how the bindings say so
        return None


def children(cursor: cindex.Cursor) -> Iterable[cindex.Cursor]:
    try:
        return cursor.get_children()
    except ctypes.ArgumentError as error:  # how ctypes says that a callback finds no room on the stack
        raise RecursionError(str(error)) from None


_lib()  # before there are children that read, each of which would load it anew
