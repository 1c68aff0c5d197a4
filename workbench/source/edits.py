"""Changes to a person's own sources: checked against what was read, all or nothing, each with its inverse.

Offsets count bytes, and only the bytes named are touched: encodings, newlines and indentation stay as they are.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from workbench.files import check_unchanged, read_file, sha256, write_files
from workbench.model.diagnostic import Diagnostic, WorkbenchError
from workbench.model.pragma import Pragma
from workbench.source.pragma_text import PREFIX, Style, format_pragma, pragma_extent


@dataclass(frozen=True)
class TextEdit:
    """Replace the bytes from `start` to `end` of a file whose contents have `expected_sha256`."""

    path: Path
    expected_sha256: str
    start: int
    end: int
    replacement: bytes


def apply_edits(edits: Sequence[TextEdit]) -> tuple[TextEdit, ...]:
    """Apply edits to any number of files, all or none, and return the edits that take them back.

    Offsets of several edits to one file all count in the file as it was. Raises WorkbenchError, with every file as it
    was, where one was changed meanwhile, cannot be written, or edits overlap.
    """
    contents: dict[Path, bytes] = {}
    inverse: list[TextEdit] = []
    for path in dict.fromkeys(edit.path for edit in edits):
        own = sorted((edit for edit in edits if edit.path == path), key=lambda edit: (edit.start, edit.end))
        before = check_unchanged(path, own[0].expected_sha256)
        contents[path], back = _edited(path, before, own)
        inverse += back
    write_files(contents)
    return tuple(inverse)


def _edited(path: Path, before: bytes, edits: list[TextEdit]) -> tuple[bytes, list[TextEdit]]:
    pieces: list[bytes] = []
    places: list[tuple[int, int, bytes]] = []
    position = grown = 0
    for edit in edits:
        if not position <= edit.start <= edit.end <= len(before) or edit.expected_sha256 != edits[0].expected_sha256:
            raise WorkbenchError(Diagnostic("these changes do not fit together; nothing was written", file=str(path)))
        pieces += [before[position : edit.start], edit.replacement]
        start = edit.start + grown
        places.append((start, start + len(edit.replacement), before[edit.start : edit.end]))
        grown += len(edit.replacement) - (edit.end - edit.start)
        position = edit.end
    after = b"".join([*pieces, before[position:]])
    digest = sha256(after)
    return after, [TextEdit(path, digest, start, end, old) for start, end, old in places]


def insert_lines(path: Path, line: int, indent: int, texts: Iterable[str]) -> TextEdit:
    """Lines put before `line` (from 1), indented like it up to column `indent`, with the file's own newlines."""
    data = read_file(path)
    starts = _line_starts(data)
    if not 1 <= line <= len(starts):
        raise WorkbenchError(Diagnostic(f"this file has no line {line}", "Reload it.", file=str(path)))
    start = starts[line - 1]
    newline = _newline(data, start)
    margin = _margin(data[start:], indent)
    lines = b"".join(margin + _encoded(text, data) + newline for text in texts)
    return TextEdit(path, sha256(data), start, start, lines)


def insert_pragma(path: Path, line: int, indent: int, style: Style, pragma: Pragma) -> TextEdit:
    """A pragma on a line of its own before `line`, at column `indent`."""
    return insert_lines(path, line, indent, [PREFIX[style] + format_pragma(pragma)])


def replace_pragma(path: Path, line: int, style: Style, pragma: Pragma) -> TextEdit:
    """Another pragma in place of the one that begins on `line`; a comment after it stays."""
    data = read_file(path)
    start, end, _ = _extent(path, data, style, line)
    return TextEdit(path, sha256(data), start, end, _encoded(PREFIX[style] + format_pragma(pragma), data))


def remove_pragma(path: Path, line: int, style: Style) -> TextEdit:
    """The pragma that begins on `line` taken out, with its line; a comment after it stays on a line of its own."""
    data = read_file(path)
    start, end, line_end = _extent(path, data, style, line)
    rest = data[end:line_end]
    if rest.strip(b" \t\r\\\n"):
        return TextEdit(path, sha256(data), start, end + len(rest) - len(rest.lstrip(b" \t")), b"")
    first = data.rfind(b"\n", 0, start) + 1
    return TextEdit(path, sha256(data), first, min(line_end + 1, len(data)), b"")


def _extent(path: Path, data: bytes, style: Style, line: int) -> tuple[int, int, int]:
    text = data.decode("utf-8", "surrogateescape")
    extent = pragma_extent(text, style, line)
    if extent is None:
        message = "there is no pragma on this line any more"
        raise WorkbenchError(Diagnostic(message, "Scan the sources again.", file=str(path), line=line))
    start, end, line_end = (len(text[:offset].encode("utf-8", "surrogateescape")) for offset in extent)
    return start, end, line_end


def _line_starts(data: bytes) -> list[int]:
    starts = [0]
    while (end := data.find(b"\n", starts[-1])) >= 0:
        starts.append(end + 1)
    return starts


def _newline(data: bytes, start: int) -> bytes:
    """How the lines around an offset end: CRLF or LF."""
    end = data.find(b"\n", start)
    if end < 0:
        end = data.rfind(b"\n", 0, start)
    return b"\r\n" if end > 0 and data[end - 1 : end] == b"\r" else b"\n"


def _margin(line: bytes, indent: int) -> bytes:
    """The line's own blanks (tabs stay tabs) up to a column, filled with blanks where it has fewer."""
    blanks = line[: len(line) - len(line.lstrip(b" \t"))]
    return blanks[: indent - 1].ljust(indent - 1, b" ")


def _encoded(text: str, data: bytes) -> bytes:
    """The text in the file's encoding: UTF-8, or Latin-1 where the file is not UTF-8."""
    try:
        data.decode("utf-8")
        return text.encode("utf-8")
    except UnicodeDecodeError:
        return text.encode("latin-1", "backslashreplace")
