"""The host's call order as a skeleton of loops, which a profile keeps instead of the calls.

After Ketterlin and Clauss, "Prediction and trace compression of data access addresses through nested loop recognition"
(CGO 2008), reduced to loops whose bodies repeat exactly.
"""

import numpy as np
from numpy.typing import NDArray

from workbench.model.run_tables import TABLES, Table
from workbench.traces.groups import numbered

LONGEST_BODY = 64
_COLUMNS = ("site", "state", "repeat", "body")

Numbers = NDArray[np.int64]


def fold(site: Numbers, state: Numbers, repeat: Numbers, host_ps: Numbers) -> Table:
    """One thread's calls as in table `call_order`: calls and loops in pre-order, the shortest bodies folded first.

    Each row of calls repeats `repeat` times with `host_ps` of own code before them in total, and differs from the next
    row.
    """
    width = int(state.max(initial=0)) + 1
    kinds, kind_of = numbered(np.asarray(site, np.int64) * width + state)
    radix = int(repeat.max(initial=0)) + 1
    leaves, leaf_of = numbered(kind_of * radix + repeat)
    calls = kinds[leaves // radix]
    loops = _Loops(np.stack([calls // width, calls % width, leaves % radix, np.zeros_like(leaves)], axis=1))
    tokens, size = leaf_of.astype(np.int32), 1
    while size <= LONGEST_BODY:
        before = len(tokens)
        tokens = _fold_bodies(tokens, size, loops)
        size = size + 1 if len(tokens) == before else 1
    rows = loops.rows_of(tokens)
    columns = dict(zip(_COLUMNS, rows.T, strict=True))
    columns["host_ps"] = np.bincount(table_rows(columns["repeat"], columns["body"]), host_ps, len(rows))
    return {name: column.astype(TABLES["call_order"][name]) for name, column in columns.items()}


def table_rows(repeat: Numbers, body: Numbers) -> Numbers:
    """The rows of calls in execution order, repeated for each iteration of the loops around them."""
    loops = np.flatnonzero(body)

    def rounds(begin: int, end: int) -> Numbers:
        parts, at = [], begin
        while (place := int(np.searchsorted(loops, at))) < len(loops) and loops[place] < end:
            loop = int(loops[place])
            parts += [np.arange(at, loop), np.tile(rounds(loop + 1, loop + 1 + int(body[loop])), int(repeat[loop]))]
            at = loop + 1 + int(body[loop])
        return np.concatenate([*parts, np.arange(at, end)])

    return rounds(0, len(body))


class _Loops:
    """The table rows of every token: first those of calls, then those of loops, each once."""

    def __init__(self, calls: Numbers) -> None:
        self._rows = list(calls[:, None])
        self._known: dict[bytes, int] = {}

    def number(self, repeat: int, body: NDArray[np.int32]) -> int:
        key = np.append(body, np.int32(repeat)).tobytes()
        if key not in self._known:
            inner = self.rows_of(body)
            self._known[key] = len(self._rows)
            self._rows.append(np.concatenate(([[-1, -1, repeat, len(inner)]], inner)))
        return self._known[key]

    def rows_of(self, tokens: NDArray[np.int32]) -> Numbers:
        """The rows of tokens one after the other, shape (rows, 4)."""
        if not len(tokens):
            return np.zeros((0, 4), np.int64)
        used, token_index = numbered(tokens)
        lengths = np.array([len(self._rows[token]) for token in used])
        pool = np.concatenate([self._rows[token] for token in used])
        begins, counts = (np.cumsum(lengths) - lengths)[token_index], lengths[token_index]
        inside = np.arange(counts.sum()) - np.repeat(np.cumsum(counts) - counts, counts)
        return pool[np.repeat(begins, counts) + inside]


def _fold_bodies(tokens: NDArray[np.int32], size: int, loops: _Loops) -> NDArray[np.int32]:
    """Replace every row of equal bodies of `size` tokens by one loop, from the left."""
    if len(tokens) < 2 * size:
        return tokens
    same = tokens[size:] == tokens[:-size]
    edges = np.flatnonzero(same[1:] != same[:-1]) + 1
    edges = np.concatenate(([0] if same[0] else [], edges, [len(same)] if same[-1] else [])).astype(np.int64)
    begins, ends = edges[0::2], edges[1::2]  # from each begin to its end tokens repeat after `size`
    long = ends - begins >= size
    begins, ends = begins[long], ends[long]
    if not len(begins):
        return tokens
    # a row of bodies may overlap the next one, which then begins later
    covered = begins + ((ends - begins) // size + 1) * size
    near = np.concatenate(([False], begins[1:] < ends[:-1] + size))
    late = near & (np.concatenate(([False], begins[1:] < covered[:-1])) | np.concatenate(([False], near[:-1])))
    begins = np.where(late, np.concatenate(([0], ends[:-1] + size)), begins)
    long = ends - begins >= size
    begins, ends = begins[long], ends[long]
    repeats = (ends - begins) // size + 1
    bodies = tokens[begins[:, None] + np.arange(size)]
    kinds, loop_index = np.unique(np.column_stack((bodies, repeats.astype(np.int32))), axis=0, return_inverse=True)
    numbers = np.array([loops.number(int(kind[-1]), kind[:-1]) for kind in kinds], np.int32)
    steps = np.zeros(len(tokens) + 1, np.int32)
    steps[begins + 1] += 1
    steps[begins + repeats * size] -= 1
    keeps_token = np.cumsum(steps[:-1]) == 0
    folded = tokens.copy()
    folded[begins] = numbers[loop_index.reshape(-1)]
    return folded[keeps_token]
