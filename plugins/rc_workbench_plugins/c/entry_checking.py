"""Parses the expressions of a template's entries against their prototypes, before any source calls them, and the C by
which the workbench moves its own data.

The entries' are read as C++, in which a parameter whose type no header at hand brings can have any: what an expression
does with that one is not judged. The same holds of `self`, a method's object, where no header at hand brings its class.
"""

import re
from collections.abc import Iterator, Sequence, Set
from dataclasses import dataclass, field
from pathlib import Path

from rc_workbench_plugins.c import clang_parse
from workbench.api import HostEntry, Platform, near, parse_prototype
from workbench.api.c_header import constants, declarations, in_cpp, include_lines
from workbench.api.instrument.board import kept_handles
from workbench.api.unstable import EXPRESSIONS, Host, WrongExpression, opened

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
int order_of(const char *);
"""
_BEFORE_MOVES = """
#include <stddef.h>
#include <stdint.h>
#if __has_include(<string.h>)
#include <string.h>
#endif
#ifdef __cplusplus
#if __has_include(<stdlib.h>)
#include <stdlib.h>
#endif
#else
void *malloc(size_t bytes);
void *calloc(size_t count, size_t bytes);
void *aligned_alloc(size_t alignment, size_t bytes);
void free(void *data);
void *memcpy(void *to, const void *from, size_t bytes);
#endif
"""
#: The C of `host.transfers`, as `resources/board` has it.
_MOVES = {
    "allocate_c": "{}", "send_c": "{}", "send_error_c": "(void)(({}) ? 1 : 0);", "access_c": "{} = 0;",
    "receive_c": "{}", "receive_error_c": "(void)(({}) ? 1 : 0);", "free_c": "{}",
}  # fmt: skip
_OF_ACCESSES = (("char *pointer", "pointer"), ("size_t size", "size"), ("int64_t offset", "offset"))
_NUMBERS = ("bytes", "address", "fpga", "mapped_bytes", "returns")
_UNDECLARED = re.compile(r"(?:use of undeclared identifier|call to undeclared function) '(\w+)'")


@dataclass
class _Text:
    """`of` tells what stands on a line (from 1): an entry's number (None: of host.transfers) and the field, "prototype"
    for its parameters, "scope" where its class or namespace is taken for a namespace. `declared` are the parameters
    of a prototype's line."""

    lines: list[str]
    of: dict[int, tuple[int | None, str]] = field(default_factory=dict)
    declared: dict[int, tuple[str, ...]] = field(default_factory=dict)

    def add(self, line: str, number: int | None, name: str, *declared: str) -> None:
        self.lines.append(line)
        self.of[len(self.lines)] = number, name
        if declared:
            self.declared[len(self.lines)] = declared


def wrong_expressions(platform: Platform, folders: Sequence[Path]) -> tuple[WrongExpression, ...]:
    """What does not compile of the entries' expressions; headers are looked for in these folders."""
    text = _text(platform.host)
    errors = _errors(_FILE, text, folders, cpp=True)
    if unknown := {(text.of[line][0], name) for line in errors for name in text.declared.get(line, ())}:
        functions = {number for line, (number, name) in text.of.items() if name == "scope" and line not in errors}
        text = _text(platform.host, unknown, functions)
        errors = _errors(_FILE, text, folders, cpp=True)
    lacking = any(line not in text.of for line in errors)
    wrong: dict[tuple[int | None, str], WrongExpression] = {}
    for line, message in errors.items():
        number, name = text.of.get(line, (None, ""))
        if number is not None and name != "scope":
            wrong.setdefault((number, name), _wrong(platform.host, text, number, name, message, not lacking))
    return (*wrong.values(), *_wrong_moves(platform.host, folders))


def _wrong_moves(host: Host, folders: Sequence[Path]) -> tuple[WrongExpression, ...]:
    """What does not compile of the C in `host.transfers`, between the names that it may use."""
    moves, kinds = host.transfers, kept_handles(host)
    text = _Text(_BEFORE_MOVES.split("\n"))
    _add_headers(text, host)
    if not host.include_lines:
        text.lines += declarations(host)
    of_object = {"self": f"{kinds['self'].removesuffix('*')}&"} if "self" in kinds else {}
    parameters = [f"{kind} {name}" for name, kind in (kinds | of_object).items()]
    text.lines += [
        f"void rcw_move({', '.join([*parameters, 'uint64_t address', 'unsigned index'])}) {{",
        "enum { words = 1, bytes = 8 };",
        f"int result = 0; {moves.data_type} *data = NULL;",
    ]
    for name, judged in _MOVES.items():
        if written := " ".join(getattr(moves, name).split()):
            text.add(judged.format(written), None, name)
            text.lines.append("{}")  # so that a semicolon that is not there is missed on its own line
    text.lines.append("}")
    if not text.of:
        return ()
    errors = _errors(_MOVES_FILE, text, folders, cpp=in_cpp(host))
    certain = all(line in text.of for line in errors)
    known = [*kinds, "address", "data", "words", "bytes", "index", "result"]
    wrong: dict[str, WrongExpression] = {}
    for line, message in errors.items():
        if line in text.of:
            name = text.of[line][1]
            wrong.setdefault(name, _wrong_expression(None, name, message, known, host, certain))
    return tuple(wrong.values())


def _text(
    host: Host, any_type: Set[tuple[int | None, str]] = frozenset(), functions: Set[int | None] = frozenset()
) -> _Text:
    """Of `any_type` are a parameter or `self` of an entry; `functions` are entries whose scope is a namespace."""
    text = _Text(_BEFORE.split("\n"))
    _add_headers(text, host)
    for number, entry in enumerate(host.entries):
        if (parameters := _parameters(entry)) is not None:
            scope = "" if number in functions else _class_of(entry)
            _add(text, number, entry, parameters, scope, {name for of, name in any_type if of == number})
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
    return prototype.parameters if prototype else None


def _class_of(entry: HostEntry) -> str:
    """The class, or the namespace, of what may be a method; empty where there is no object yet, or none."""
    prototype = parse_prototype(entry.prototype)
    if prototype is None or prototype.is_constructor or re.match(r"(template\s*<.*>\s*)?static\b", prototype.text):
        return ""
    return prototype.scope


def _add(
    text: _Text, number: int, entry: HostEntry, parameters: Sequence[tuple[str, str]], scope: str, any_type: Set[str]
) -> None:
    if scope and not any_type:
        text.add(f"namespace rcw_scope_{number} = {scope};", number, "scope")
    if scope:
        parameters = (*parameters, (f"{scope} &self", "self"))
    open_ = {name: f"rcw_t{place}" for place, (_, name) in enumerate(parameters) if name in any_type}
    own = re.match(r"template\s*<(.*?)>\s*(?=[\w:~])", " ".join(entry.prototype.split()))
    kinds = [*(f"class {kind}" for kind in (*open_.values(), "rcw_result")), *([own[1]] if own and own[1] else [])]
    text.lines.append(f"template <{', '.join(kinds)}>")
    text.add(f"void rcw_entry_{number}(", number, "prototype", *(name for _, name in parameters))
    for place, (declaration, name) in enumerate(parameters):
        judged = f"{open_[name]} {'&' * (name == 'self')}{name}" if name in open_ else declaration
        text.add(judged + "," * (place < len(parameters) - 1), number, "prototype", name)
    text.lines.append(") {")
    for name, expression in _expressions(entry):
        cast = "(int64_t)" if name in _NUMBERS else ""
        judged = f"({expression}) ? 1 : 0" if name == "condition" else f"{cast}({expression})"
        results = "".join(f"rcw_result {of}; " for of in _result_names(entry, parameters)) if name == "opens" else ""
        text.add(f"{{ {results}(void)({judged}); }}", number, name)
    text.lines.append("}")


def _result_names(entry: HostEntry, parameters: Sequence[tuple[str, str]]) -> Iterator[str]:
    """The names that a call's result has where its entry states what it opens."""
    prototype = parse_prototype(entry.prototype)
    if all(name != "result" for _, name in parameters):
        yield "result"
    if prototype and prototype.is_constructor:
        yield "self"


def _expressions(entry: HostEntry) -> Iterator[tuple[str, str]]:
    for name in EXPRESSIONS:
        written = " ".join(getattr(entry, name).split())
        if name in ("opens", "of"):
            named = opened(written)
            written = named.expression if named else ""
        if written:
            yield name, written


def _errors(file: Path, text: _Text, folders: Sequence[Path], *, cpp: bool) -> dict[int, str]:
    """The first error of each line; those of the headers as of line 0."""
    language = ["-x", "c++", "-std=c++20"] if cpp else ["-x", "c", "-std=gnu17"]
    words = [*language, "-w", "-ferror-limit=0", *(f"-I{folder}" for folder in folders)]
    if headers := clang_parse.builtin_headers():
        words += ["-resource-dir", str(headers)]
    unit = clang_parse.parse(file, words, {file: "\n".join([*text.lines, ""])})
    errors = [item for item in unit.diagnostics if item.severity >= 3] if unit else []
    places = [(item.location.file, item.location.line, item.spelling) for item in reversed(errors)]
    return {line if of is None or of.name == str(file) else 0: message for of, line, message in places}


def _wrong(host: Host, text: _Text, number: int, name: str, message: str, certain: bool) -> WrongExpression:
    if name == "prototype" and not _UNDECLARED.search(message):
        return WrongExpression(number, name, f"the parameters cannot be read: {message}", "", False)
    declared = (names for line, names in text.declared.items() if text.of[line][0] == number)
    known = list(dict.fromkeys(name for names in declared for name in names))
    return _wrong_expression(number, name, message, known, host, certain)


def _wrong_expression(
    number: int | None, name: str, message: str, known: Sequence[str], host: Host, certain: bool
) -> WrongExpression:
    if undeclared := _UNDECLARED.search(message):
        hint = near(undeclared[1], [*known, *host.constants], "Known here are")
        lacks = "" if certain else " A macro of the API's header goes under Constants."
        return WrongExpression(number, name, f"'{undeclared[1]}' is not known here", hint + lacks, certain)
    return WrongExpression(number, name, message, f"Known here are: {', '.join(known)}." if known else "", True)
