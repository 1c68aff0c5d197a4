"""The one reader of traces: every block's states over time, in whatever chunks they were written.

A row is one block's intervals in time order: each lasts from its start to the next one's, the last to the run's end.
"""

import math
from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from workbench.model.blocks import Block
from workbench.model.pragma import UNCLASSIFIED, Category
from workbench.model.run import Run
from workbench.model.run_tables import Table

#: Category codes: the place in this tuple. New ones come last: kept pyramids hold codes. NOTHING is outside the run.
CATEGORIES: tuple[str, ...] = (UNCLASSIFIED, *(c.value for c in Category))
NOTHING = len(CATEGORIES)

Bytes = NDArray[np.uint8]
Picoseconds = NDArray[np.int64]
States = NDArray[np.unsignedinteger]
_Pieces = tuple[list[int], list[int], list[int]]


def category_code(category: Category | None) -> int:
    return 0 if category is None else CATEGORIES.index(category.value)


WAIT_CODES = tuple(category_code(c) for c in (Category.WAIT_RECV, Category.WAIT_SEND))


def state_codes(block: Block) -> Bytes:
    """The category code, as it is drawn, of every state index of a block."""
    return np.array([category_code(block.drawn_as(state)) for state in block.states], np.uint8)


@dataclass(frozen=True)
class Trace:
    """`start_ps` and `state` hold chunks one after the other, and in each chunk the rows one after the other:
    `offsets` (chunks * rows + 1) cuts them. `codes` gives the category code of each row's states.
    """

    start_ps: Picoseconds
    state: States
    offsets: NDArray[np.int64]
    codes: Sequence[Bytes]
    end_ps: int
    _pieces: dict[int, _Pieces] = field(default_factory=dict, compare=False, repr=False)

    @property
    def rows(self) -> int:
        return len(self.codes)

    @property
    def intervals(self) -> int:
        return int(self.offsets[-1])

    @property
    def bytes(self) -> int:
        return int(self.start_ps.nbytes + self.state.nbytes)

    def row(self, row: int) -> tuple[Picoseconds, States]:
        """All edges of a row (one more than states: each state lasts from its edge to the next) and its states."""
        return self._joined(*self._parts(row, 0, len(self._of(row)[0])))

    def pieces(self, row: int) -> Iterator[tuple[Picoseconds, States]]:
        """A row's edges and states chunk by chunk, for whoever goes through all of a long one."""
        for piece in range(len(self._of(row)[0])):
            yield self._joined(*self._parts(row, piece, piece + 1))

    def between(self, row: int, from_ps: float, to_ps: float) -> tuple[Picoseconds, States]:
        """The edges and states of a row that are under way between two times, not cut at them."""
        return self._joined(*self._parts_between(row, from_ps, to_ps))

    def pieces_between(self, row: int, from_ps: float, to_ps: float) -> Iterator[tuple[Picoseconds, States]]:
        """What `between` gives, chunk by chunk, for whoever goes through much of a long row."""
        parts, end_ps = self._parts_between(row, from_ps, to_ps)
        for at, part in enumerate(parts):
            yield self._joined([part], int(self.start_ps[parts[at + 1][0]]) if at + 1 < len(parts) else end_ps)

    def count(self, row: int, from_ps: float, to_ps: float) -> int:
        """How many intervals `between` would give."""
        return sum(high - low for low, high in self._parts_between(row, from_ps, to_ps)[0])

    def at(self, row: int, time_ps: float) -> tuple[int, int, int] | None:
        """The state of a row at a time, with the interval's start and end; None outside the run."""
        if not 0 <= time_ps < self.end_ps:
            return None
        edges, states = self.between(row, int(time_ps), int(time_ps) + 1)
        return (int(states[-1]), int(edges[-2]), int(edges[-1])) if len(states) and edges[0] <= time_ps else None

    def state_times_ps(self, row: int, from_ps: int, to_ps: int) -> Picoseconds:
        """Picoseconds in each state of a row between two times, exactly."""
        edges, states = self.between(row, from_ps, to_ps)
        spans = np.diff(edges.clip(from_ps, max(min(to_ps, self.end_ps), from_ps)))
        return np.bincount(states, weights=spans, minlength=len(self.codes[row])).astype(np.int64)

    def next_entry(self, row: int, state: int, time_ps: int, *, backwards: bool = False) -> int | None:
        """When a row next enters a state after a time (or last entered it before)."""
        firsts = self._of(row)[2]
        at = max(bisect_right(firsts, time_ps) - 1, 0)
        for piece in range(at, -1, -1) if backwards else range(at, len(firsts)):
            edges, states = self._joined(*self._parts(row, piece, piece + 1))
            entries = edges[:-1][states == state]
            number = int(np.searchsorted(entries, time_ps, "left" if backwards else "right")) - backwards
            if 0 <= number < len(entries):
                return int(entries[number])
        return None

    def _of(self, row: int) -> _Pieces:
        """Where a row's pieces begin and end, of the chunks that hold any of it, and each one's first start."""
        if row not in self._pieces:
            lows, highs = self.offsets[row :: self.rows], self.offsets[row + 1 :: self.rows]
            some = np.flatnonzero(highs > lows[: len(highs)])
            firsts = self.start_ps[lows[some]]
            self._pieces[row] = lows[some].tolist(), highs[some].tolist(), firsts.tolist()
        return self._pieces[row]

    def _parts(self, row: int, begin: int, stop: int) -> tuple[list[tuple[int, int]], int]:
        """Where pieces `begin` to `stop` - 1 of a row lie, and when the last of their intervals ends."""
        lows, highs, firsts = self._of(row)
        parts = list(zip(lows[begin:stop], highs[begin:stop], strict=True))
        return parts, firsts[stop] if stop < len(firsts) else self.end_ps

    def _parts_between(self, row: int, from_ps: float, to_ps: float) -> tuple[list[tuple[int, int]], int]:
        """The same of what is under way between two times."""
        first, last = math.floor(from_ps), math.ceil(to_ps)  # numpy would turn all starts into floats for others
        firsts = self._of(row)[2]
        stop = bisect_left(firsts, last)
        parts, end = self._parts(row, min(max(bisect_right(firsts, first) - 1, 0), stop), stop)
        if parts:
            low, high = parts[-1]
            cut = low + int(self.start_ps[low:high].searchsorted(last, "left"))
            end = int(self.start_ps[cut]) if cut < high else end
            parts[-1] = low, cut
            low, high = parts[0]
            parts[0] = low + max(int(self.start_ps[low:high].searchsorted(first, "right")) - 1, 0), high
        return parts, end

    def _joined(self, parts: Sequence[tuple[int, int]], end_ps: int) -> tuple[Picoseconds, States]:
        edges = np.empty(sum(high - low for low, high in parts) + 1, np.int64)
        edges[-1] = end_ps
        if len(parts) == 1:
            ((low, high),) = parts
            edges[:-1] = self.start_ps[low:high]
            return edges, self.state[low:high]
        states = np.empty(len(edges) - 1, self.state.dtype)
        if parts:
            np.concatenate([self.start_ps[low:high] for low, high in parts], out=edges[:-1])
            np.concatenate([self.state[low:high] for low, high in parts], out=states)
        return edges, states


def trace_of(run: Run) -> Trace | None:
    """A run's trace, a row for every block in the manifest's order; None where it has none, or an empty one."""
    if not has_trace(run) or not run.manifest.blocks or not len(run.tables["intervals"]["start_ps"]):
        return None
    return trace_of_tables(run.tables, run.manifest.blocks, run.manifest.time_ps)


def trace_of_tables(tables: Mapping[str, Table], blocks: Sequence[Block], end_ps: int) -> Trace:
    """The trace that tables `intervals` and `interval_offsets` hold."""
    return Trace(
        np.asarray(tables["intervals"]["start_ps"]),
        np.asarray(tables["intervals"]["state"]),
        np.asarray(tables["interval_offsets"]["offset"]),
        tuple(state_codes(block) for block in blocks),
        end_ps,
    )


def has_trace(run: Run) -> bool:
    return "intervals" in run.tables and "interval_offsets" in run.tables
