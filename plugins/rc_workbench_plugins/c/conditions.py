"""Compiles each pragma's condition at its call, in an unsaved copy of the source: errors are reported before anything
is built. Sources without conditions are not read again."""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from clang import cindex

from rc_workbench_plugins.c import clang_parse
from rc_workbench_plugins.c.survey import ApiUse, Survey
from workbench.api import Diagnostic, PlacedPragma, Severity
from workbench.api.source.expressions import reaches_out

_MEANT = re.compile(r"; did you mean '(?P<name>[^']+)'\?$")
_UNDECLARED = re.compile(r"undeclared (?P<library>library )?function '(?P<name>\w+)'.*")
_SCOPE = "The condition is evaluated at the call: use only names that are declared there."
_EXAMPLE = "Write a C expression, such as words > 0."


@dataclass(frozen=True)
class _Insertion:
    """Text that goes into a file at an offset; `conditions` are where in the text each pragma's condition stands."""

    offset: int
    removed: int
    text: bytes
    conditions: tuple[tuple[int, int, PlacedPragma], ...]


def check_conditions(survey: Survey) -> tuple[Diagnostic, ...]:
    """An error for each condition that does not compile. Sources that cannot be read wholly are left out."""
    problems: dict[Diagnostic, None] = {}
    insertions: dict[Path, list[_Insertion]] = {}
    for use in survey.uses:
        pragmas = [p for p in use.pragmas if p.pragma.condition is not None and not use.why_missed]
        for placed in pragmas:
            if problem := _brackets(placed):
                problems[problem] = None
        if sound := [p for p in pragmas if not _brackets(p)]:
            for insertion in _insertion(use, survey, sound):
                insertions.setdefault(use.file, []).append(insertion)
    if not insertions:
        return tuple(problems)
    copies = {file: _with(survey.files.text(file), parts) for file, parts in insertions.items()}
    unsaved = {file: text for file, (text, _) in copies.items()}
    for unit in survey.units:
        read = {unit.source, *(path.resolve() for _, path in unit.reading.includes)}
        if unit.whole and read & insertions.keys():
            words = [word for word in unit.words if word != "-Wno-implicit-function-declaration"]
            words += ["-Werror=implicit-function-declaration", "-ferror-limit=0", "-fspell-checking"]
            parsed = clang_parse.parse(unit.source, words, unsaved)
            for item in parsed.diagnostics if parsed else ():
                if (blamed := _condition_at(item, copies)) and not _links(item.spelling, blamed, survey):
                    problems[_explained(item.spelling, blamed)] = None
    return tuple(problems)


def _insertion(use: ApiUse, survey: Survey, pragmas: Iterable[PlacedPragma]) -> list[_Insertion]:
    """A call's name gives way to a choice that the conditions make, as in what is built. Where the name comes out of a
    macro, or is one, they go before the statement that begins there."""
    where, name = use.use.place, use.callee.name
    inside = use.use.written and use.use.signature is not None
    if not inside and not _begins_statement(use, survey):
        return []
    text, spans = b"", []
    for placed in pragmas:
        text += b"(*((" if inside else b"(void)!("
        start = len(text)
        text += (placed.pragma.condition or "").encode()
        spans.append((start - 2, len(text) + 2, placed))  # with the brackets and operators around, blamed for its type
        text += f") ? {name} : ".encode() if inside else b"); "
    if inside:
        text += name.encode() + b"))" * len(spans)
    return [_Insertion(where.offset, len(name) if inside else 0, text, tuple(spans))]


def _begins_statement(use: ApiUse, survey: Survey) -> bool:
    where = use.use.place
    return any(
        statement.range.start == where.offset
        and statement.range.file == where.file
        and survey.files.text(where.file)[statement.holder.start : statement.holder.start + 1] == b"{"
        for unit in survey.units
        for statement in unit.reading.statements
    )


def _with(data: bytes, insertions: list[_Insertion]) -> tuple[bytes, list[tuple[int, int, PlacedPragma]]]:
    """The text with the insertions, and where in it each condition stands."""
    pieces, spans, at, length = [], [], 0, 0
    for part in sorted(insertions, key=lambda one: one.offset):
        pieces += [data[at : part.offset], part.text]
        length += part.offset - at
        spans += [(length + start, length + end, placed) for start, end, placed in part.conditions]
        length += len(part.text)
        at = part.offset + part.removed
    return b"".join([*pieces, data[at:]]), spans


def _condition_at(
    item: cindex.Diagnostic, copies: dict[Path, tuple[bytes, list[tuple[int, int, PlacedPragma]]]]
) -> PlacedPragma | None:
    where = clang_parse.file_offset(item.location) if item.severity >= cindex.Diagnostic.Error else None
    if where is None or where[0] not in copies:
        return None
    spans = copies[where[0]][1]
    return next((placed for start, end, placed in spans if start <= where[1] <= end), None)


def _links(message: str, placed: PlacedPragma, survey: Survey) -> bool:
    """Whether it tells of an undeclared function that can be linked: the C library's, or one that the project defines
    or calls elsewhere."""
    match = _UNDECLARED.search(message)
    if match is None:
        return False
    if match["library"]:
        return re.search(rf"\b{match['name']}\s*\(", placed.pragma.condition or "") is not None
    called = re.compile(rb"^(?!\s*#\s*pragma\b).*\b" + match["name"].encode() + rb"\s*\(", re.MULTILINE)
    defined = (function.name for unit in survey.units for function in unit.reading.functions)
    return match["name"] in defined or any(called.search(survey.files.text(file)) for file in survey.user_files)


def _explained(message: str, placed: PlacedPragma) -> Diagnostic:
    meant = _MEANT.search(message)
    named = "undeclared" in message or "no member named" in message
    hint = f"Did you mean '{meant['name']}'?" if meant else _SCOPE if named else _EXAMPLE
    if function := _UNDECLARED.search(message):
        message = f"use of undeclared {'identifier' if function['library'] else 'function'} '{function['name']}'"
    return wrong_condition(placed, _MEANT.sub("", message), hint)


def _brackets(placed: PlacedPragma) -> Diagnostic | None:
    """What would reach beyond the condition."""
    why = reaches_out(placed.pragma.condition or "")
    return wrong_condition(placed, why, _EXAMPLE) if why else None


def wrong_condition(placed: PlacedPragma, what: str, hint: str = _SCOPE) -> Diagnostic:
    """The diagnostic that a condition does not compile at its call."""
    message = f"the condition of the pragma '{placed.pragma.name}' does not compile here: {what}"
    return placed.diagnostic(message, hint, Severity.ERROR)
