"""Lines of source files as editors and pragmas count them: each ends in LF, whatever else a parser takes for an end."""

import re
from bisect import bisect_right
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from pathlib import Path

from workbench.system.files import SOURCE_LIMIT, read_regular, real

_NAME = re.compile(rb"[A-Za-z_$][A-Za-z0-9_$]*")


def line_starts(data: bytes) -> list[int]:
    """The offset of each line's first byte."""
    starts = [0]
    while (end := data.find(b"\n", starts[-1])) >= 0:
        starts.append(end + 1)
    return starts


_typed: ContextVar[Mapping[Path, bytes]] = ContextVar("typed")


@contextmanager
def reading_typed(texts: Mapping[Path, bytes]) -> Iterator[None]:
    """While it lasts, in this thread and in the children that it forks, these bytes stand for what the files (by their
    real paths) hold: texts that are typed, and not saved yet."""
    before = _typed.set(texts)
    try:
        yield
    finally:
        _typed.reset(before)


def typed_texts() -> Mapping[Path, bytes]:
    """What stands for files' own bytes now."""
    return _typed.get({})


def read_source(path: Path, limit_bytes: int = SOURCE_LIMIT) -> bytes:
    """A file's bytes, or what is typed in their place. OSError where it is no file that can be read."""
    typed = typed_texts()
    if typed and (text := typed.get(real(path))) is not None:
        return text
    return read_regular(path, limit_bytes)


def source_bytes(path: Path) -> bytes:
    """A source file's bytes, or what is typed in their place; none where it is no file that can be read."""
    try:
        return read_source(path)
    except OSError:
        return b""


def name_at(path: Path, line: int, column: int) -> str:
    """The name at a place of a source (column in bytes, at the name or right behind it); "" where none stands there."""
    lines = source_bytes(path).split(b"\n")
    text = lines[line - 1] if 0 < line <= len(lines) else b""
    match = next((name for name in _NAME.finditer(text) if name.start() < column <= name.end() + 1), None)
    return match[0].decode() if match else ""


class Lines:
    """Line and column of byte offsets; each file is read once. `paths` are a parser's, by its own numbers for files."""

    def __init__(self) -> None:
        self.paths: dict[int, Path] = {}
        self._starts: dict[Path, list[int]] = {}

    def starts(self, path: Path) -> list[int]:
        if path not in self._starts:
            self._starts[path] = line_starts(source_bytes(path))
        return self._starts[path]

    def place(self, path: Path, offset: int) -> tuple[int, int]:
        """Line and column (in bytes), from 1. A file that cannot be read is one line."""
        starts = self.starts(path)
        line = bisect_right(starts, offset)
        return line, offset - starts[line - 1] + 1
