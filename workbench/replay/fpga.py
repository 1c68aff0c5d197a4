"""The FPGA's blocks in a traced run: stretches of work between moments at which a block may have waited."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from workbench.model.blocks import Block, Side
from workbench.model.pragma import COMMUNICATION, WAITS
from workbench.model.run import Run
from workbench.replay.host import cycles_at
from workbench.traces.trace import Trace

Numbers = NDArray[np.int64]


@dataclass(frozen=True)
class FpgaPart:
    """The stays and stretches of the FPGA's blocks, block after block, in cycles of each block's clock.

    Stay i of block `stay_block[i]` is in `stay_state[i]` from `stay_begin[i]` to `stay_end[i]`. Stretch k begins with
    stay `first[k]` at `begin[k]` and works until `end[k]`, when its block waits or the next stretch begins; `begins`
    marks a block's first stretch. `clock` holds the clock number of each block of the run.
    """

    blocks: tuple[int, ...]
    stay_block: NDArray[np.int32]
    stay_state: NDArray[np.int32]
    stay_begin: Numbers
    stay_end: Numbers
    stretch_of: Numbers  # for each stay its stretch; for a wait the stretch before it
    first: Numbers
    begin: Numbers
    end: Numbers
    begins: NDArray[np.bool_]
    clock: tuple[int, ...]

    @property
    def block(self) -> NDArray[np.int32]:
        return self.stay_block[self.first]


def wait_states(block: Block) -> NDArray[np.bool_]:
    """A mask of the block's wait states. A block without marked waits waits in its unmarked state."""
    waits = np.array([state.category in WAITS for state in block.states])
    waits[0] |= not waits.any()
    return waits


def works(block: Block) -> bool:
    """Whether a block does more than pass data on, as a port does."""
    return any(s.category not in (None, *COMMUNICATION, *WAITS) for s in block.states) or any(
        s.category in WAITS for s in block.states
    )


def waiting_stays(fpga: FpgaPart, blocks: Sequence[Block]) -> NDArray[np.bool_]:
    """A mask of the stays in which the block waits."""
    most = max((len(blocks[n].states) for n in fpga.blocks), default=0)
    waits = np.zeros((len(blocks), most), bool)
    for number in fpga.blocks:
        waits_of = wait_states(blocks[number])
        waits[number, : len(waits_of)] = waits_of
    return waits[fpga.stay_block, fpga.stay_state] if most else np.zeros(0, bool)


#: For each block the begins and states of its stays, and the end of the last one, in cycles of its clock.
Rows = Mapping[int, tuple[Numbers, NDArray[np.integer], int]]


def read_rows(run: Run, trace: Trace, periods_ps: Sequence[Fraction]) -> Rows:
    """The stays of a traced run's FPGA blocks."""
    clock = _clocks(run)
    rows = {}
    for number, block in enumerate(run.manifest.blocks):
        if block.side is Side.FPGA and len(block.states) > 1:
            edges, state = trace.row(number)
            cycles = cycles_at(edges.astype(np.int64), periods_ps[clock[number]])
            rows[number] = cycles[:-1], state, int(cycles[-1])
    return rows


def _clocks(run: Run) -> tuple[int, ...]:
    names = [clock.name for clock in run.manifest.clocks]
    return tuple(names.index(b.clock) if b.clock in names else 0 for b in run.manifest.blocks)


def fpga_of_rows(run: Run, stays: Rows) -> FpgaPart:
    """The stretches of blocks with known stays."""
    blocks, mine = run.manifest.blocks, sorted(stays)
    clock = _clocks(run)
    begins: list[Numbers] = []
    ends: list[Numbers] = []
    states: list[NDArray[np.int32]] = []
    of_block: list[NDArray[np.int32]] = []
    for number in mine:
        begin, state, end_of_last = stays[number]
        begins.append(begin)
        ends.append(np.append(begin[1:], end_of_last))
        states.append(state.astype(np.int32))
        of_block.append(np.full(len(state), number, np.int32))
    stay_begin, stay_end = _joined(begins), _joined(ends)
    stay_state, stay_block = _joined(states).astype(np.int32), _joined(of_block).astype(np.int32)
    waiting, after = np.zeros(len(stay_state), bool), np.zeros(len(stay_state), bool)
    begun = np.append(True, stay_block[1:] != stay_block[:-1])[: len(stay_block)]
    by_group: dict[str, list[int]] = {}
    for number in mine:
        by_group.setdefault(blocks[number].group, []).append(number)
    for members in by_group.values():
        waits = wait_states(blocks[members[0]])
        rows = np.flatnonzero(np.isin(stay_block, members)) if len(by_group) > 1 else np.arange(len(stay_block))
        waiting[rows] = waits[stay_state[rows]]
        after_wait = np.append(False, waiting[rows][:-1]) & ~begun[rows]
        follows = np.zeros(len(waits), bool)
        follows[stay_state[rows[after_wait]]] = True
        after[rows] = after_wait | (follows & ~waits)[stay_state[rows]]
    first = np.flatnonzero(begun | after)
    stretch_of = np.cumsum(begun | after) - 1
    last = np.append(first[1:], len(stay_begin))
    # a stretch ends where its first wait begins
    wait_at = np.append(np.flatnonzero(waiting), len(stay_begin))
    stops = wait_at[np.searchsorted(wait_at, first)] if len(first) else first
    end = np.where(stops < last, stay_begin[np.minimum(stops, max(len(stay_begin) - 1, 0))], 0) if len(first) else first
    ends_run = stops >= last
    end[ends_run] = stay_end[last[ends_run] - 1]
    return FpgaPart(
        tuple(mine),
        stay_block,
        stay_state,
        stay_begin,
        stay_end,
        stretch_of,
        first,
        stay_begin[first],
        end,
        begun[first],
        clock,
    )


def _joined(parts: Sequence[NDArray[np.integer]]) -> Numbers:
    return np.concatenate(parts).astype(np.int64) if parts else np.zeros(0, np.int64)
