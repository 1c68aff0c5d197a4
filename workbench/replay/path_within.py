"""The critical path within blocks: transitions between states or calls, and the waits of calls for states of other
blocks."""

from collections import Counter
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from workbench.model.blocks import WAITING
from workbench.model.pragma import WAITS
from workbench.model.prediction import PathMove, PathPart, PathWait
from workbench.model.run import PS_PER_S, Manifest
from workbench.replay.engine import times_ps
from workbench.replay.lowering import Lowered
from workbench.replay.program import Program
from workbench.traces.path import Causes, Numbers, RunPath, Steps

#: The share of the path from which a state or call is one of its parts.
LEAST = 1e-3
#: The target of a wait for a bus if the call that held it is unknown.
BUS = "bus"


def part_of(manifest: Manifest, block: int, state: int, site: int) -> PathPart:
    """A block's state, or the call at a site, by name and line."""
    owner = manifest.blocks[block]
    in_state = owner.states[state]
    if site >= 0:
        place = manifest.sites[site]
        return PathPart(owner.id, place.label, place.file, place.line, in_state.category)
    return PathPart(owner.id, in_state.name, in_state.file or "", in_state.line or 0, in_state.category)


def path_moves(program: Program, steps: Steps) -> tuple[PathMove, ...]:
    """The transitions of the path between states or calls, with counts. Parts below `LEAST` of the path, such as the
    host's own code between two calls, are skipped."""
    kinds, part_of_step = np.unique(np.stack([steps.block, steps.state, steps.site]), axis=1, return_inverse=True)
    parts = [part_of(program.run.manifest, *kind) for kind in kinds.T.tolist()]
    part_of_step = part_of_step.reshape(-1).astype(np.int64)
    spent_ps = np.bincount(part_of_step, (steps.end_ps - steps.begin_ps).astype(float))
    part_of_step = part_of_step[(spent_ps >= LEAST * spent_ps.sum())[part_of_step]]
    pairs, counts = np.unique(part_of_step[:-1] * len(parts) + part_of_step[1:], return_counts=True)
    moves = Counter[tuple[PathPart, PathPart]]()
    for pair, count in zip(pairs.tolist(), counts.tolist(), strict=True):
        moves[parts[pair // len(parts)], parts[pair % len(parts)]] += count
    return tuple(PathMove(*pair, count) for pair, count in moves.most_common())


def path_waits(program: Program, lowered: Lowered, path: RunPath) -> tuple[PathWait, ...]:
    """Waits of a host call, or of a block's wait state, for a state or call of another block, the longest total first.
    The graph must be swept."""
    manifest, states = program.run.manifest, _StatesAt(program, lowered)
    sums: dict[tuple[PathPart, PathPart], tuple[int, float]] = {}
    for block, parts in path.parts.items():
        host, causes = block in path.hosts, parts.causes
        if host:
            from_ps, until_ps, state = parts.begin_ps, causes.time_ps, np.zeros(len(parts), np.int64)
            is_wait = parts.site >= 0
        else:
            from_ps, until_ps = np.append(0, parts.end_ps)[: len(parts)], parts.begin_ps
            state = states.before(block, until_ps)
            is_wait = _waits(manifest, block)[state]
        is_wait &= (until_ps > from_ps) & (causes.block >= 0) & ((causes.block != block) | causes.bus)
        some = np.flatnonzero(is_wait)
        columns = [state[some], parts.site[some], causes.block[some], states.of(causes, some), causes.site[some]]
        kinds, kind_index = np.unique(np.stack([*columns, causes.bus[some]]), axis=1, return_inverse=True)
        counts = np.bincount(kind_index.reshape(-1), minlength=kinds.shape[1])
        spent_ps = np.bincount(kind_index.reshape(-1), (until_ps - from_ps)[some].astype(float), kinds.shape[1])
        for (own, site, other, in_state, at, bus), count, ps in zip(
            kinds.T.tolist(), counts.tolist(), spent_ps.tolist(), strict=True
        ):
            cause = part_of(manifest, other, in_state, at)
            pair = part_of(manifest, block, own, site), replace(cause, name=BUS) if bus and at < 0 else cause
            before = sums.get(pair, (0, 0.0))
            sums[pair] = before[0] + count, before[1] + ps / PS_PER_S
    rows = [PathWait(*pair, *spent) for pair, spent in sums.items()]
    return tuple(sorted(rows, key=lambda row: -row.time_s))


def _waits(manifest: Manifest, block: int) -> NDArray[np.bool_]:
    """A mask of a block's wait states, with a final False for no state."""
    states = manifest.blocks[block].states
    return np.array([s.category in WAITS or (s.category is None and s.name == WAITING) for s in states] + [False])


class _StatesAt:
    """The states of the FPGA's blocks just before moments of time."""

    def __init__(self, program: Program, lowered: Lowered) -> None:
        fpga = self._fpga = program.fpga
        some = len(fpga.stay_block) > 0
        nodes = lowered.of_stretch[fpga.stretch_of] if some else np.zeros(0, np.int64)
        self._begin_ps: Numbers = times_ps(lowered.graph, nodes, fpga.stay_begin) if some else np.zeros(0, np.int64)
        self._rows: dict[int, tuple[int, int]] = {}
        if some:
            first = np.flatnonzero(np.append(True, np.diff(fpga.stay_block) != 0))
            ends = np.append(first[1:], len(fpga.stay_block))
            self._rows = {int(fpga.stay_block[a]): (int(a), int(b)) for a, b in zip(first, ends, strict=True)}

    def of(self, causes: Causes, some: Numbers) -> Numbers:
        """The state that each of these causes ended; 0 for a call."""
        state = np.zeros(len(some), np.int64)
        for block in np.unique(causes.block[some]).tolist():
            mine = np.flatnonzero((causes.block[some] == block) & (causes.site[some] < 0))
            state[mine] = np.maximum(self.before(block, causes.time_ps[some[mine]]), 0)
        return state

    def before(self, block: int, times_ps: Numbers) -> Numbers:
        """The state of a block just before each time; -1 if unknown."""
        first, stop = self._rows.get(block, (0, 0))
        at = np.searchsorted(self._begin_ps[first:stop], times_ps, "left") - 1
        if stop == first:
            return np.full(len(times_ps), -1, np.int64)
        return np.where(at >= 0, self._fpga.stay_state[first:stop][np.maximum(at, 0)].astype(np.int64), -1)
