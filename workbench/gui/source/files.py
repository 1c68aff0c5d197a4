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
    """A line as the editor hands it back: without its newline, with plain blanks."""
    return line.rstrip("\r\n").replace("\u00a0", " ")


def save_edit(path: Path, before: bytes, text: str) -> TextEdit:
    """The edit that makes a file's bytes say `text`, from the first line that differs to the last."""
    old = decode(before).splitlines(keepends=True)
    if not old or old[-1].endswith("\n"):
        old.append("")
    new = text.split("\n")
    shorter = min(len(old), len(new))
    head = 0
    while head < shorter and _plain(old[head]) == new[head]:
        head += 1
    tail = 0
    while tail < shorter - head and _plain(old[-1 - tail]) == new[-1 - tail]:
        tail += 1
    newline = "\r\n" if b"\r\n" in before else "\n"
    encoding = "utf-8" if decode(before).encode("utf-8") == before else "latin-1"
    start = len("".join(old[:head]).encode(encoding))
    replaced = "".join(old[head : len(old) - tail])
    lines = new[head : len(new) - tail]
    body = newline.join(lines) + (newline if tail and lines else "")
    if not tail and head and not lines:  # the last line went, with the newline before it
        cut = old[head - 1][len(old[head - 1].rstrip("\r\n")) :]
        start, replaced = start - len(cut), cut + replaced
    data = body.encode(encoding, "backslashreplace")
    return TextEdit(path, sha256(before), start, start + len(replaced.encode(encoding)), data)


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
