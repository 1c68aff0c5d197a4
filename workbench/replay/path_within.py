"""The critical path within blocks: which state or call it goes on to from which, and which call waited for which state
of another block."""

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
#: What a wait for a bus is for, where no call is known to have had it.
BUS = "bus"


def part_of(manifest: Manifest, block: int, state: int, site: int) -> PathPart:
    """A state of a block, or the call at a site, by name and line."""
    one = manifest.blocks[block]
    known = one.states[state]
    if site >= 0:
        place = manifest.sites[site]
        return PathPart(one.id, place.label, place.file, place.line, known.category)
    return PathPart(one.id, known.name, known.file or "", known.line or 0, known.category)


def path_moves(program: Program, steps: Steps) -> tuple[PathMove, ...]:
    """From which state or call the path goes on to which, and how often. Those that take less than `LEAST` of it, such
    as the host's own code between two calls, are left out: what is before them goes on to what comes after."""
    kinds, which = np.unique(np.stack([steps.block, steps.state, steps.site]), axis=1, return_inverse=True)
    parts = [part_of(program.run.manifest, *kind) for kind in kinds.T.tolist()]
    which = which.reshape(-1).astype(np.int64)
    spent_ps = np.bincount(which, (steps.end_ps - steps.begin_ps).astype(float))
    which = which[(spent_ps >= LEAST * spent_ps.sum())[which]]
    pairs, counts = np.unique(which[:-1] * len(parts) + which[1:], return_counts=True)
    moves = Counter[tuple[PathPart, PathPart]]()
    for pair, count in zip(pairs.tolist(), counts.tolist(), strict=True):
        moves[parts[pair // len(parts)], parts[pair % len(parts)]] += count
    return tuple(PathMove(*pair, count) for pair, count in moves.most_common())


def path_waits(program: Program, lowered: Lowered, path: RunPath) -> tuple[PathWait, ...]:
    """Which call of the host, or which waiting state of a block, waited for which state or call of another block: those
    that took longest in all first. The graph has been swept."""
    manifest, states = program.run.manifest, _StatesAt(program, lowered)
    sums: dict[tuple[PathPart, PathPart], tuple[int, float]] = {}
    for block, parts in path.parts.items():
        host, causes = block in path.hosts, parts.causes
        if host:
            from_ps, until_ps, state = parts.begin_ps, causes.time_ps, np.zeros(len(parts), np.int64)
            known = parts.site >= 0
        else:
            from_ps, until_ps = np.append(0, parts.end_ps)[: len(parts)], parts.begin_ps
            state = states.before(block, until_ps)
            known = _waits(manifest, block)[state]
        known &= (until_ps > from_ps) & (causes.block >= 0) & ((causes.block != block) | causes.bus)
        some = np.flatnonzero(known)
        columns = [state[some], parts.site[some], causes.block[some], states.of(causes, some), causes.site[some]]
        kinds, which = np.unique(np.stack([*columns, causes.bus[some]]), axis=1, return_inverse=True)
        counts = np.bincount(which.reshape(-1), minlength=kinds.shape[1])
        spent_ps = np.bincount(which.reshape(-1), (until_ps - from_ps)[some].astype(float), kinds.shape[1])
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
    """Of each state of a block whether it waits; one more, False, for none."""
    states = manifest.blocks[block].states
    return np.array([s.category in WAITS or (s.category is None and s.name == WAITING) for s in states] + [False])


class _StatesAt:
    """The states that the FPGA's blocks were in before moments of time."""

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
        """The state that each of some causes ended; 0 of a call."""
        state = np.zeros(len(some), np.int64)
        for block in np.unique(causes.block[some]).tolist():
            mine = np.flatnonzero((causes.block[some] == block) & (causes.site[some] < 0))
            state[mine] = np.maximum(self.before(block, causes.time_ps[some[mine]]), 0)
        return state

    def before(self, block: int, times_ps: Numbers) -> Numbers:
        """The state in which a block was just before each time; -1 where none is known."""
        first, stop = self._rows.get(block, (0, 0))
        at = np.searchsorted(self._begin_ps[first:stop], times_ps, "left") - 1
        if stop == first:
            return np.full(len(times_ps), -1, np.int64)
        return np.where(at >= 0, self._fpga.stay_state[first:stop][np.maximum(at, 0)].astype(np.int64), -1)
