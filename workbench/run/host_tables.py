"""The host's blocks over time: states, times, transitions."""

from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from workbench.api.tables import Piece, state_tables
from workbench.model.blocks import Block
from workbench.model.run_tables import Table
from workbench.traces.groups import rows_of_block

WORK = 1  # the state between calls, in every host block
_PIECE = 1 << 18  # stretches or calls processed together


def host_states(stretches: Table, blocks: Sequence[Block], time_ps: int, known: bool = False) -> dict[str, Table]:
    """`state_time` and `transitions` of the host's blocks.

    A block is in a stretch's state (mostly a call's) during the stretch, and at `work` between stretches. A thread
    without a `known` begin is unclassified until its first call. Every block's times sum to `time_ps`; zero-length
    stretches of work count as visits, so that transitions balance.
    """
    numbers = range(len(blocks))
    return state_tables(blocks, (host_pieces(stretches, number, time_ps, known) for number in numbers))


def host_intervals(
    stretches: Table, number: int, time_ps: int, known: bool = False
) -> tuple[NDArray[np.int64], NDArray[np.int32]]:
    """The starts (ps) and states of one host block, as in `host_states`, without empty ones."""
    pieces = list(host_pieces(stretches, number, time_ps, known))
    lasting = [np.diff(edges) > 0 for edges, _ in pieces]
    starts = [edges[:-1][lasts] for (edges, _), lasts in zip(pieces, lasting, strict=True)]
    return np.concatenate(starts), np.concatenate([s[lasts] for (_, s), lasts in zip(pieces, lasting, strict=True)])


def host_pieces(stretches: Table, number: int, time_ps: int, known: bool = False) -> Iterator[Piece]:
    """One host block's states over time, piece by piece: work and its stretches alternate. A nested stretch, such as a
    call from a callback, takes no time from the outer one."""
    mine = rows_of_block(stretches["block"], number)
    t0_ps, t1_ps, of_stretch = stretches["t0_ps"][mine], stretches["t1_ps"][mine], stretches["state"][mine]
    begins = np.array([min(int(t0_ps[0]), time_ps) if len(t0_ps) else time_ps])
    so_far_ps = int(begins[0])
    yield np.append(0, begins), np.array([0 if number and not known else WORK], np.int32)
    for first in range(0, len(t0_ps), _PIECE):
        part = slice(first, first + _PIECE)
        count = len(t0_ps[part])
        edges, states = np.empty(2 * count + 1, np.int64), np.full(2 * count, WORK, np.int32)
        edges[:-1:2], edges[1::2], states[::2] = t0_ps[part], t1_ps[part], of_stretch[part]
        edges[-1] = t0_ps[first + count] if first + count < len(t0_ps) else time_ps
        edges = np.minimum(np.maximum.accumulate(np.maximum(edges, so_far_ps)), time_ps)
        so_far_ps = int(edges[-1])
        yield edges, states
