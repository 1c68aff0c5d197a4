"""Which line of a text first seen a line of the text now is, however it was edited in between."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Iterator, Sequence
from difflib import SequenceMatcher
from typing import NamedTuple

_MANY = 2000


class _Run(NamedTuple):
    """Lines that follow one another in both texts: where they begin in each, counted from 0, and how many."""

    now: int
    first: int
    length: int


class LinesMoved:
    """Lines length from 1. A line that was changed or added has no original: 0. `version` grows with every line that
    came, went or moved.

    Only runs of lines are kept, so that an edit costs what it changes, not what the text holds.
    """

    def __init__(self, lines: Sequence[str]) -> None:
        """`lines` is the text's own list, which is changed before `edited` says where."""
        self._lines, self._first = lines, list(lines)
        self._runs = [_Run(0, 0, len(lines))]
        self.version = 0

    def reset(self, first: str) -> None:
        """Another first text, which has become the one now by edits that were not seen."""
        self._first = first.split("\n")
        self._set(_matching(self._first, self._lines))

    def frozen(self) -> LinesMoved:
        """A copy of the present state, for another thread."""
        copy = LinesMoved(list(self._lines))
        copy._first, copy._runs, copy.version = self._first, self._runs, self.version
        return copy

    @property
    def same(self) -> bool:
        """Whether the text is as it was first seen."""
        return len(self._runs) == 1 and self._first == self._lines

    def original(self, line: int) -> int:
        number = bisect_right(self._runs, (line - 1, len(self._first))) - 1
        run = self._runs[number] if number >= 0 else _Run(0, 0, 0)
        return run.first + line - run.now if 0 < line <= run.now + run.length else 0

    def place(self, original: int) -> int:
        """Where a line of the first text is now; 0 where it no longer exists."""
        number = bisect_right(self._runs, original - 1, key=lambda run: run.first) - 1
        run = self._runs[number] if number >= 0 else _Run(0, 0, 0)
        return run.now + original - run.first if 0 < original <= run.first + run.length else 0

    def edited(self, at: int, old: Sequence[str], new: Sequence[str]) -> None:
        """The lines from `at` on, counted from 0, were replaced. Those edited in place keep their origins."""
        if len(old) == len(new):
            return
        kept = _matching(old, new)
        end, more = at + len(old), len(new) - len(old)
        runs = [*_within(self._runs, 0, at)]
        for now, before, length in kept:
            pieces = _within(self._runs, at + before, at + before + length)
            runs += (run._replace(now=run.now + now - before) for run in pieces)
        runs += (run._replace(now=run.now + more) for run in _within(self._runs, end, len(self._lines) - more))
        self._set(runs)
        if len(self._lines) == len(self._first) and self._lines == self._first:  # all that was done is undone
            self._set([_Run(0, 0, len(self._first))])

    def _set(self, runs: Sequence[_Run]) -> None:
        joined: list[_Run] = []
        for run in runs:
            last = joined[-1] if joined else None
            if last and (last.now + last.length, last.first + last.length) == run[:2]:
                joined[-1] = last._replace(length=last.length + run.length)
            elif run.length:
                joined.append(run)
        self._runs = joined
        self.version += 1


def common_ends(old: Sequence[str], new: Sequence[str]) -> tuple[int, int]:
    """How many lines two texts begin with alike, and how many of the others they end with alike."""

    def grown(low: int, high: int, same: Callable[[int, int], bool]) -> int:
        """How far two texts are alike: halves are compared, since that is done at once for very many lines."""
        while low < high:
            middle = (low + high + 1) // 2
            low, high = (middle, high) if same(low, middle) else (low, middle - 1)
        return low

    shorter, m, n = min(len(old), len(new)), len(old), len(new)
    head = grown(0, shorter, lambda low, high: old[low:high] == new[low:high])
    tail = grown(0, shorter - head, lambda low, high: old[m - high : m - low] == new[n - high : n - low])
    return head, tail


def _within(runs: Sequence[_Run], first: int, end: int) -> Iterator[_Run]:
    """What of the runs lies in a range of the text's lines as it was."""
    for run in runs:
        start, stop = max(run.now, first), min(run.now + run.length, end)
        if start < stop:
            yield _Run(start, run.first + start - run.now, stop - start)


def _matching(old: Sequence[str], new: Sequence[str]) -> list[_Run]:
    """The runs of lines that two texts share; what they begin and end with alike is not searched."""
    head, tail = common_ends(old, new)
    left, right = old[head : len(old) - tail], new[head : len(new) - tail]
    many = len(left) + len(right) > _MANY  # of which lines that are there often are looked up by the others alone
    blocks = SequenceMatcher(None, left, right, autojunk=many).get_matching_blocks()
    return [
        _Run(0, 0, head),
        *(_Run(head + b, head + a, length) for a, b, length in blocks if length),
        _Run(len(new) - tail, len(old) - tail, tail),
    ]
