"""Lines of source files as editors and pragmas count them: each ends in LF, whatever else a parser takes for an end."""

from __future__ import annotations

from bisect import bisect_right
from pathlib import Path

from workbench.system.files import read_regular


def line_starts(data: bytes) -> list[int]:
    """The offset of each line's first byte."""
    starts = [0]
    while (end := data.find(b"\n", starts[-1])) >= 0:
        starts.append(end + 1)
    return starts


def source_bytes(path: Path) -> bytes:
    """A source file's bytes; none where it is no file that can be read."""
    try:
        return read_regular(path)
    except OSError:
        return b""


class Lines:
    """Line and column of byte offsets; each file is read once."""

    def __init__(self) -> None:
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
