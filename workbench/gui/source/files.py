"""Reading and writing the sources: only the lines that were changed are touched, and every change has its inverse."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from workbench.files import read_file, sha256
from workbench.model.pragma import Pragma
from workbench.session.history import Command
from workbench.source.edits import TextEdit, apply_edits, insert_pragma, remove_pragma, replace_pragma
from workbench.source.pragma_text import Style

Changed = Callable[[Path], None]


def read_text(path: Path) -> str:
    """A file's text with LF newlines. Raises WorkbenchError where it cannot be read."""
    return decode(read_file(path)).replace("\r\n", "\n")


def decode(data: bytes) -> str:
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError:
        return data.decode("latin-1")


def _plain(line: str) -> str:
    """A line as the editor hands it back: without its carriage return, with plain blanks."""
    return line.removesuffix("\r").replace("\u00a0", " ")


def save_edit(path: Path, before: bytes, text: str) -> TextEdit:
    """The edit that makes a file say `text`. Lines that did not change keep their bytes; new ones get its newlines."""
    content = decode(before)
    encoding = "utf-8" if content.encode("utf-8") == before else "latin-1"
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
    after = "\n".join(lines).encode(encoding, "backslashreplace")
    start = _common(before, after)
    end = _common(before[start:][::-1], after[start:][::-1])
    return TextEdit(path, sha256(before), start, len(before) - end, after[start : len(after) - end])


def _common(one: bytes, other: bytes) -> int:
    """How many bytes two beginnings have in common."""
    return next((i for i, (a, b) in enumerate(zip(one, other, strict=False)) if a != b), min(len(one), len(other)))


class EditCommand:
    """An edit of files as a command: doing it remembers how to take it back, and the other way round."""

    def __init__(self, edits: tuple[TextEdit, ...], changed: Changed) -> None:
        self._edits, self._changed = edits, changed

    def swap(self) -> None:
        paths = [edit.path for edit in self._edits]
        self._edits = apply_edits(self._edits)
        for path in dict.fromkeys(paths):
            self._changed(path)

    def command(self, label: str) -> Command:
        return Command(label, self.swap, self.swap)


def pragma_command(
    path: Path, style: Style, pragma: Pragma, changed: Changed, *, line: int, indent: int, replace_line: int = 0
) -> Command:
    """Insert a pragma before `line`, or put it in place of the one on `replace_line`."""
    if replace_line:
        edit = replace_pragma(path, replace_line, style, pragma)
        return EditCommand((edit,), changed).command(f"change pragma {pragma.name}")
    edit = insert_pragma(path, line, indent, style, pragma)
    return EditCommand((edit,), changed).command(f"insert pragma {pragma.name}")


def remove_command(path: Path, style: Style, line: int, changed: Changed) -> Command:
    return EditCommand((remove_pragma(path, line, style),), changed).command("remove pragma")


def save_command(path: Path, before: bytes, text: str, changed: Changed) -> Command:
    return EditCommand((save_edit(path, before, text),), changed).command(f"save {path.name}")
