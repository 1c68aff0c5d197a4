"""Where the name at a place of a C or C++ source is defined, whichever of the project's sources holds it."""

import os
from collections.abc import Iterator
from pathlib import Path

from clang.cindex import Cursor, CursorKind, SourceLocation, TranslationUnit

from rc_workbench_plugins.c import clang_parse
from rc_workbench_plugins.c.clang_parse import children, included_file, place
from workbench.api import Definition, HostSources, Job
from workbench.api.source import suffixes
from workbench.api.source.suffixes import is_cpp

_SCOPES = {
    CursorKind.NAMESPACE, CursorKind.LINKAGE_SPEC, CursorKind.UNEXPOSED_DECL, CursorKind.CLASS_DECL,
    CursorKind.STRUCT_DECL, CursorKind.CLASS_TEMPLATE,
}  # fmt: skip


def definition(
    root: Path, host: HostSources, defines: dict[str, str], file: Path, line: int, column: int, job: Job
) -> Definition | None:
    clang_parse.forget_files()
    root = Path(os.path.realpath(root))
    sources = [
        (path, clang_parse.arguments(root, host, defines, cpp=is_cpp(path), source=name))
        for name in host.sources
        if (path := Path(os.path.realpath(root / name))).suffix in (*suffixes.C, *suffixes.CPP)
    ]
    sources.sort(key=lambda unit: unit[0] != file)  # the file itself first; a header is read by way of another
    units = _units(sources, job)
    used = next((cursor for unit in units if (cursor := _at(unit, file, line, column)) is not None), None)
    if used is None:
        return None
    if used.kind is CursorKind.INCLUSION_DIRECTIVE:
        header = included_file(used)
        return Definition(str(header), 1, 1, used.spelling, "file") if header else None
    named = used.referenced
    if named is None:
        return None
    meant = used.get_definition() or _elsewhere(named, _units(sources, job)) or named
    at = place(meant.location)
    return Definition(str(at.file), at.line, at.column, meant.spelling, _what(meant)) if at else None


def _units(sources: list[tuple[Path, list[str]]], job: Job) -> Iterator[TranslationUnit]:
    for number, (source, words) in enumerate(sources):
        job.progress(number / len(sources), source.name)
        if (unit := clang_parse.parse(source, words)) is not None:
            yield unit


def _at(unit: TranslationUnit, file: Path, line: int, column: int) -> Cursor | None:
    """What stands at a place; None where the unit does not read that file, or nothing that has a name stands there."""
    names = {str(file)} | {str(cursor.include.name) for cursor in unit.get_includes()}
    for name in names:
        if Path(os.path.realpath(name)) == file:
            cursor = Cursor.from_location(unit, SourceLocation.from_position(unit, unit.get_file(name), line, column))
            return cursor if cursor.spelling else None
    return None


def _elsewhere(named: Cursor, units: Iterator[TranslationUnit]) -> Cursor | None:
    """The definition in another source of what is only declared in the one that was read."""
    usr = named.get_usr()
    if not usr:
        return None
    for unit in units:
        for cursor in _declared(unit.cursor):
            if cursor.is_definition() and cursor.spelling == named.spelling and cursor.get_usr() == usr:
                return cursor
    return None


def _declared(scope: Cursor) -> Iterator[Cursor]:
    """All that a unit declares, in C++ also within namespaces, `extern "C"` and classes, but not in functions."""
    pending = [scope]
    while pending:
        for cursor in children(pending.pop()):
            yield cursor
            if cursor.kind in _SCOPES:
                pending.append(cursor)


def _what(cursor: Cursor) -> str:
    """The kind of a definition in words: "function decl" becomes "function"."""
    return str(cursor.kind.name).lower().replace("_", " ").removesuffix(" decl").removesuffix(" definition")
