"""Changes to a person's own sources: pragmas put into a text, and a text put back into the bytes that it was read from.

Only the lines that a change is about are touched: encodings, newlines and indentation of the others stay as they are.
Offsets and lines count in a text with LF newlines.
"""

from collections.abc import Iterable

from workbench.api.languages import Syntax
from workbench.api.source.pragma_text import format_pragma, pragma_extent
from workbench.model.diagnostic import Diagnostic, WorkbenchError
from workbench.model.pragma import Pragma

_STEP = "    "


def insert_lines(text: str, line: int, indent: int, texts: Iterable[str]) -> str:
    """Lines put before `line` (from 1), indented like it up to column `indent`."""
    lines = text.split("\n")
    if not 1 <= line <= len(lines):
        raise WorkbenchError(Diagnostic(f"this file has no line {line}", "Scan the sources again."))
    margin = _margin(lines[line - 1], indent)
    return "\n".join([*lines[: line - 1], *(margin + new for new in texts), *lines[line - 1 :]])


def insert_pragma(text: str, line: int, indent: int, syntax: Syntax, pragma: Pragma, column: int = 0) -> str:
    """A pragma on a line of its own: before `line`, at column `indent`, or else before what stands from `column` of
    that line on, which then begins a line a step deeper."""
    return insert_pragmas(text, line, indent, syntax, [pragma], column)


def insert_pragmas(
    text: str, line: int, indent: int, syntax: Syntax, pragmas: Iterable[Pragma], column: int = 0
) -> str:
    """Several, in their order, at one place."""
    written = [syntax.pragma + format_pragma(pragma) for pragma in pragmas]
    if not column:
        return insert_lines(text, line, indent, written)
    lines = text.split("\n")
    if not 1 <= line <= len(lines) or column > len(lines[line - 1]):
        raise WorkbenchError(Diagnostic(f"this file has no line {line}, column {column}", "Scan the sources again."))
    head, rest = lines[line - 1][: column - 1], lines[line - 1][column - 1 :]
    blanks = _blanks(head)
    margin = blanks + ("\t" if blanks.endswith("\t") else _STEP)
    return "\n".join(
        [*lines[: line - 1], head.rstrip(" \t"), *(margin + one for one in (*written, rest)), *lines[line:]]
    )


def replace_pragma(text: str, line: int, syntax: Syntax, pragma: Pragma) -> str:
    """Another pragma in place of the one that begins on `line`; a comment after it stays."""
    start, end, _ = _extent(text, syntax, line)
    return text[:start] + syntax.pragma + format_pragma(pragma) + text[end:]


def remove_pragma(text: str, line: int, syntax: Syntax) -> str:
    """The pragma that begins on `line` taken out, with its line; a comment after it stays on a line of its own."""
    start, end, line_end = _extent(text, syntax, line)
    rest = text[end:line_end]
    if rest.strip(" \t\\\n"):
        return text[:start] + rest.lstrip(" \t") + text[line_end:]
    first = text.rfind("\n", 0, start) + 1
    return text[:first] + text[line_end + 1 :]


def _extent(text: str, syntax: Syntax, line: int) -> tuple[int, int, int]:
    extent = pragma_extent(text, syntax, line)
    if extent is None:
        message = "there is no pragma on this line any more"
        raise WorkbenchError(Diagnostic(message, "Scan the sources again.", line=line))
    return extent


def _margin(line: str, indent: int) -> str:
    """The line's own blanks (tabs stay tabs) up to a column, filled with blanks where it has fewer."""
    return _blanks(line)[: indent - 1].ljust(indent - 1)


def _blanks(line: str) -> str:
    return line[: len(line) - len(line.lstrip(" \t"))]


# ---- bytes

#: What ends a line in Qt's texts too.
_ENDS = dict.fromkeys(map(ord, "\r\u2028\u2029"), "\n")


def decode(data: bytes) -> str:
    """A file's text as an editor shows it: UTF-8 or else Latin-1, every end of a line LF, plain blanks."""
    text = _content(data)[0].replace("\r\n", "\n").removesuffix("\r").replace("\u00a0", " ")
    return text if text.isascii() and "\r" not in text else text.translate(_ENDS)


def encode(text: str, before: bytes) -> bytes:
    """The text as bytes. Lines as in `before`, the file's bytes so far, keep theirs; new ones get its newlines."""
    content, encoding = _content(before)
    old, new = content.split("\n"), text.split("\n")
    shorter = min(len(old), len(new))
    head = 0
    while head < shorter and _plain(old[head]) == new[head]:
        head += 1
    tail = 0
    while tail < shorter - head and _plain(old[-1 - tail]) == new[-1 - tail]:
        tail += 1
    returned = "\r" if "\r\n" in content else ""
    middle = [line + returned for line in new[head : len(new) - tail]]
    lines = [*old[:head], *middle, *old[len(old) - tail :]]
    if head == len(old) and len(lines) > head:  # what was the last line got a newline
        lines[head - 1] += returned
    lines[-1] = lines[-1].removesuffix("\r")
    return "\n".join(lines).encode(encoding, "backslashreplace")


def _content(data: bytes) -> tuple[str, str]:
    try:
        return data.decode("utf-8"), "utf-8"
    except UnicodeDecodeError:
        return data.decode("latin-1"), "latin-1"


def _plain(line: str) -> str:
    """A line as the editor hands it back: without its carriage return, with plain blanks."""
    return line.removesuffix("\r").replace("\u00a0", " ")
