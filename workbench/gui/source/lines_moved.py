"""Which line of a text first seen a line of the text now is, however it was edited in between."""

from __future__ import annotations

from collections.abc import Sequence
from difflib import SequenceMatcher


class LinesMoved:
    """Lines count from 1. A line that was changed or added has no original: 0."""

    def __init__(self, text: str) -> None:
        self._first: list[str] = []
        self._lines: list[str] = []
        self._origin: list[int] = []
        self.reset(text)

    def reset(self, first: str, now: str | None = None) -> None:
        """Another first text, which has become `now` by edits that were not seen."""
        self._lines = self._first = first.split("\n")
        self._origin = list(range(1, len(self._lines) + 1))
        if now is None or now == first:
            return
        lines = now.split("\n")
        origin = [0] * len(lines)
        for old, new, count in SequenceMatcher(None, self._lines, lines, autojunk=False).get_matching_blocks():
            origin[new : new + count] = range(old + 1, old + count + 1)
        self._lines, self._origin = lines, origin

    @property
    def same(self) -> bool:
        """Whether the text is as it was first seen."""
        return self._lines is self._first

    @property
    def origins(self) -> Sequence[int]:
        """The original of each line."""
        return self._origin

    def original(self, line: int) -> int:
        return self._origin[line - 1] if 0 < line <= len(self._origin) else 0

    def places(self) -> dict[int, int]:
        """Where each line of the first text is now, without those that are not there any more."""
        return {origin: line for line, origin in enumerate(self._origin, 1) if origin}

    def changed(self, text: str) -> None:
        """The text is now this one; lines at its beginning and end that are as before keep their origins."""
        lines = text.split("\n")
        if lines == self._lines:
            return
        if lines == self._first:  # all that was done is undone
            self._lines, self._origin = self._first, list(range(1, len(lines) + 1))
            return
        shorter = min(len(lines), len(self._lines))
        head = 0
        while head < shorter and lines[head] == self._lines[head]:
            head += 1
        tail = 0
        while tail < shorter - head and lines[-1 - tail] == self._lines[-1 - tail]:
            tail += 1
        middle = len(lines) - head - tail
        same = middle == len(self._lines) - head - tail  # lines were edited in place
        between = self._origin[head : head + middle] if same else self._found_in(lines, head, tail)
        self._origin = [*self._origin[:head], *between, *(self._origin[len(self._origin) - tail :] if tail else [])]
        self._lines = lines

    def _found_in(self, lines: list[str], head: int, tail: int) -> list[int]:
        """Origins of the lines between `head` and `tail`, of which several stretches may be as before."""
        old, new = self._lines[head : len(self._lines) - tail], lines[head : len(lines) - tail]
        found = [0] * len(new)
        for at, now, count in SequenceMatcher(None, old, new, autojunk=False).get_matching_blocks():
            found[now : now + count] = self._origin[head + at : head + at + count]
        return found
