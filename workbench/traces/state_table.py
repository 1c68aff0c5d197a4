"""How long each state of each block took between two times: visits, share, and how their lengths are spread."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from workbench.model.blocks import State
from workbench.traces.scene import Scene
from workbench.traces.trace import Picoseconds

#: Intervals of a block up to which lengths are sorted; of more the median and 95 % come from every n-th.
MOST_SORTED = 1_000_000


@dataclass(frozen=True)
class StateRow:
    """A state of a block in a range. `share` is of the range. The lengths are those of its visits as far as they lie
    in the range; `exact` says whether median and 95 % are of all of them."""

    block: int
    state: State
    visits: int
    time_ps: int
    share: float
    least_ps: int
    mean_ps: float
    median_ps: float
    p95_ps: float
    most_ps: int
    exact: bool = True


def state_rows(scene: Scene, from_ps: int, to_ps: int) -> Iterator[StateRow]:
    """Every state that is under way between two times, block by block, the most time first."""
    length_ps = max(to_ps - from_ps, 1)
    for number, block in enumerate(scene.blocks):
        states = {state.index: state for state in block.states}
        lengths, codes = _lengths(scene, number, from_ps, to_ps)
        if not len(lengths):
            continue
        stride = -(-len(lengths) // MOST_SORTED)
        totals = np.bincount(codes, weights=lengths)
        for index in np.argsort(-totals, kind="stable").tolist():
            mine = lengths[codes == index]
            if not len(mine):
                continue
            median, p95 = np.percentile(mine[::stride], (50, 95))
            total = int(mine.sum())
            yield StateRow(
                number, states[index], len(mine), total, total / length_ps, int(mine.min()), total / len(mine),
                float(median), float(p95), int(mine.max()), stride == 1,
            )  # fmt: skip


def _lengths(scene: Scene, number: int, from_ps: int, to_ps: int) -> tuple[Picoseconds, np.ndarray]:
    """The length of every visit as far as it is in the range, and its state."""
    parts = [
        (np.diff(edges.clip(from_ps, to_ps)), states)
        for edges, states in scene.index.trace.pieces_between(number, from_ps, to_ps)
    ]
    if not parts:
        return np.empty(0, np.int64), np.empty(0, np.int64)
    lengths, codes = (np.concatenate(columns) for columns in zip(*parts, strict=True))
    there = lengths > 0
    return lengths[there], codes[there]
