"""Parses the expressions of a template's entries against their prototypes, before any source calls them, and the C by
which the workbench moves its own data.

The entries' are read as C++, in which a parameter whose type no header at hand brings can have any: what an expression
does with that one is not judged.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from clang.cindex import TranslationUnit

from rc_workbench_plugins.c import clang_parse
from workbench.api.c_header import KNOWN, WORD, constants, include_lines
from workbench.model.diagnostic import near
from workbench.model.opened import opened
from workbench.model.platform import EXPRESSIONS, Host, HostEntry, Platform
from workbench.model.prototypes import handles, parse_prototype
from workbench.model.scan import WrongExpression

_FILE, _MOVES_FILE = Path("/rcw_entries.cpp"), Path("/rcw_transfers.c")  # nothing is there: their text is given
_BEFORE = """
#include <stddef.h>
#include <stdint.h>
#if __has_include(<string.h>)
#include <string.h>
#endif
#define restrict
typedef long off_t;
typedef long ssize_t;
int rcw_like(const char *, const char *);
#define like(text, pattern) (!rcw_like((pattern), (text)))
"""
_BEFORE_MOVES = """
#include <stddef.h>
#include <stdint.h>
void *malloc(size_t bytes);
void *calloc(size_t count, size_t bytes);
void free(void *data);
void *memcpy(void *to, const void *from, size_t bytes);
"""
#: The C of `host.transfers`, as `resources/board` has it.
_MOVES = {
    "allocate_c": "{}", "send_c": "{}", "send_error_c": "(void)(({}) ? 1 : 0);", "access_c": "{} = 0;",
    "receive_c": "{}", "receive_error_c": "(void)(({}) ? 1 : 0);", "free_c": "{}",
}  # fmt: skip
_OF_ACCESSES = (("char *pointer", "pointer"), ("size_t size", "size"), ("int64_t offset", "offset"))
_NUMBERS = ("bytes", "address", "fpga", "mapped_bytes")
_UNDECLARED = re.compile(r"(?:use of undeclared identifier|call to undeclared function) '(\w+)'")


@dataclass
class _Text:
    """`of` tells what stands on a line (from 1): an entry's number (None: of host.transfers) and the field, "prototype"
    for its parameters."""

    lines: list[str]
    of: dict[int, tuple[int | None, str]] = field(default_factory=dict)


def wrong_expressions(platform: Platform, folders: Sequence[Path]) -> tuple[WrongExpression, ...]:
    """What does not compile of the entries' expressions; headers are looked for in these folders."""
    open_types: set[int | None] = set()
    for _ in range(2):
        text = _text(platform.host, open_types)
        told = [(one.location.line, one.spelling) for one in _errors(_FILE, text, folders)]
        unknown = {text.of[line][0] for line, _ in told if text.of.get(line, (0, ""))[1] == "prototype"}
        if unknown <= open_types:
            break
        open_types |= unknown
    lacking = any(line not in text.of for line, _ in told)
    found: dict[tuple[int | None, str], WrongExpression] = {}
    for line, message in told:
        number, name = text.of.get(line, (None, ""))
        if number is not None and (number, name) not in found:
            found[number, name] = _wrong(platform.host, number, name, message, not lacking)
    return (*found.values(), *_wrong_moves(platform.host, folders))


def _wrong_moves(host: Host, folders: Sequence[Path]) -> tuple[WrongExpression, ...]:
    """What does not compile of the C in `host.transfers`, between the names that it may use."""
    moves, kinds = host.transfers, handles(host)
    text = _Text(_BEFORE_MOVES.split("\n"))
    _add_headers(text, host)
    parameters = [f"{kind} {name}" for name, kind in kinds.items()]
    text.lines += [
        f"void rcw_move({', '.join([*parameters, 'uint64_t address', 'unsigned index'])}) {{",
        "enum { words = 1, bytes = 8 };",
        f"int result = 0; {moves.data_type} *data = NULL;",
    ]
    for name, judged in _MOVES.items():
        if written := " ".join(getattr(moves, name).split()):
            text.lines.append(judged.format(written))
            text.of[len(text.lines)] = None, name
            text.lines.append("{}")  # so that a semicolon that is not there is missed on its own line
    text.lines.append("}")
    if not text.of:
        return ()
    told = [(one.location.line, one.spelling) for one in _errors(_MOVES_FILE, text, folders)]
    certain = all(line in text.of for line, _ in told)
    known = [*kinds, "address", "data", "words", "bytes", "index", "result"]
    found: dict[str, WrongExpression] = {}
    for line, message in told:
        if line in text.of:
            name = text.of[line][1]
            found.setdefault(name, _told(None, name, message, known, host, certain))
    return tuple(found.values())


def _text(host: Host, open_types: set[int | None]) -> _Text:
    text = _Text(_BEFORE.split("\n"))
    _add_headers(text, host)
    for number, entry in enumerate(host.entries):
        if (parameters := _parameters(entry)) is not None:
            _add(text, number, entry, parameters, number in open_types)
    return text


def _add_headers(text: _Text, host: Host) -> None:
    for line in include_lines(host):
        name = line.partition("include")[2].strip()
        text.lines += [f"#if __has_include({name})", line, "#else", "#error it is not there", "#endif"]
    text.lines += constants(host)


def _parameters(entry: HostEntry) -> tuple[tuple[str, str], ...] | None:
    if entry.access:
        return _OF_ACCESSES
    prototype = parse_prototype(entry.prototype)
    if prototype is None:
        return None
    return (*prototype.parameters, *((("rcw_any self", "self"),) if prototype.scope else ()))


def _add(text: _Text, number: int, entry: HostEntry, parameters: Sequence[tuple[str, str]], open_types: bool) -> None:
    kinds, declared = [], []
    for place, (declaration, name) in enumerate(parameters):
        words = set(WORD.findall(declaration)) - {name}
        if (open_types and not words <= KNOWN) or "rcw_any" in words:
            kinds.append(f"class rcw_t{place}")
            declared.append(f"rcw_t{place} {name}")
        else:
            declared.append(declaration)
    text.lines.append(f"template <{', '.join([*kinds, 'class rcw_result'])}>")
    text.lines.append(f"void rcw_entry_{number}({', '.join(declared)}) {{")
    text.of[len(text.lines)] = number, "prototype"
    for name, expression in _expressions(entry):
        cast = "(int64_t)" if name in _NUMBERS else ""
        judged = f"({expression}) ? 1 : 0" if name == "condition" else f"{cast}({expression})"
        text.lines.append(f"(void)({judged});")
        text.of[len(text.lines)] = number, name
    text.lines.append("}")


def _expressions(entry: HostEntry) -> Iterator[tuple[str, str]]:
    for name in EXPRESSIONS:
        written = " ".join(getattr(entry, name).split())
        if name in ("opens", "of"):
            named = opened(written)
            written = named.expression if named else ""
        if written:
            yield name, written


def _errors(file: Path, text: _Text, folders: Sequence[Path]) -> Iterator[TranslationUnit]:
    language = ["-x", "c++", "-std=c++17"] if file is _FILE else ["-x", "c", "-std=gnu17"]
    words = [*language, "-w", "-ferror-limit=0", *(f"-I{folder}" for folder in folders)]
    if headers := clang_parse.builtin_headers():
        words += ["-resource-dir", str(headers)]
    unit = clang_parse.parse(file, words, {file: "\n".join([*text.lines, ""])})
    for item in unit.diagnostics if unit else ():
        if item.severity >= 3:
            yield item


def _wrong(host: Host, number: int, name: str, message: str, certain: bool) -> WrongExpression:
    known = [parameter for _, parameter in _parameters(host.entries[number]) or ()]
    if name == "prototype" and not _UNDECLARED.search(message):
        return WrongExpression(number, name, f"the parameters cannot be read: {message}", "", False)
    return _told(number, name, message, known, host, certain)


def _told(
    number: int | None, name: str, message: str, known: Sequence[str], host: Host, certain: bool
) -> WrongExpression:
    if undeclared := _UNDECLARED.search(message):
        hint = near(undeclared[1], [*known, *host.constants], "Known here are")
        lacks = "" if certain else " A macro of the API's header goes under Constants."
        return WrongExpression(number, name, f"'{undeclared[1]}' is not known here", hint + lacks, certain)
    return WrongExpression(number, name, message, f"Known here are: {', '.join(known)}." if known else "", True)
