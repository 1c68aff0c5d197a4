"""The critical path: the chain of causes that leads to the run's end."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from workbench.model.blocks import Block
from workbench.model.prediction import Bottleneck, PathLine, PathStep
from workbench.model.run import PS_PER_S
from workbench.replay.engine import Graph
from workbench.replay.host import ASK, ASYNC, AWAIT, IRQ, MOVE
from workbench.replay.lowering import Lowered
from workbench.replay.program import Program
from workbench.traces.path import Steps

Numbers = NDArray[np.int64]
#: The number of steps listed individually.
MOST_STEPS = 200_000


class _Step(NamedTuple):
    block: int
    state: int
    site: int  # the site of a call, else -1
    on_bus: bool
    begin_ps: int
    end_ps: int

    def goes_on(self, before: _Step) -> bool:
        return before[:4] == self[:4] and before.end_ps == self.begin_ps


def bottlenecks(program: Program, lowered: Lowered) -> tuple[Bottleneck, ...]:
    """The critical path by block and state, the longest first. The graph must be swept."""
    spent: dict[tuple[int, int], int] = {}
    for step in _steps(program, lowered):
        key = step.block, step.state
        spent[key] = spent.get(key, 0) + step.end_ps - step.begin_ps
    total = max(lowered.total_ps(), 1)
    blocks = program.run.manifest.blocks
    return tuple(
        Bottleneck(blocks[block].id, blocks[block].states[state].name, ps / PS_PER_S, ps / total)
        for (block, state), ps in sorted(spent.items(), key=lambda item: -item[1])
        if ps
    )


def steps_of(program: Program, lowered: Lowered) -> Steps:
    """The critical path, step by step. The graph must be swept."""
    rows = np.array(list(_merged(_steps(program, lowered))), np.int64).reshape(-1, len(_Step._fields))
    columns = dict(zip(_Step._fields, rows.T, strict=True))
    return Steps(**columns | {"on_bus": columns["on_bus"].astype(bool)})


def path_steps(program: Program, steps: Steps) -> tuple[PathStep, ...]:
    """The first `MOST_STEPS` steps, with names."""
    blocks, path = program.run.manifest.blocks, list[PathStep]()
    columns = (steps.block, steps.state, steps.begin_ps, steps.end_ps)
    for number, state, begin, end in zip(*(column[:MOST_STEPS].tolist() for column in columns), strict=True):
        one = blocks[number]
        before = path[-1].block if path and path[-1].block != one.id else ""
        path.append(PathStep(one.side, one.id, one.states[state].name, begin / PS_PER_S, end / PS_PER_S, before))
    return tuple(path)


def path_lines(program: Program, steps: Steps) -> tuple[PathLine, ...]:
    """The critical path by block and line, the longest first."""
    manifest = program.run.manifest
    kinds, row_kind = np.unique(np.stack([steps.block, steps.state, steps.site]), axis=1, return_inverse=True)
    spent_ps = np.bincount(row_kind.reshape(-1), (steps.end_ps - steps.begin_ps).astype(float))
    total = max(float(spent_ps.sum()), 1.0)
    by_line: dict[tuple[str, str, str, int], float] = {}
    for (number, state, site), ps in zip(kinds.T.tolist(), spent_ps.tolist(), strict=True):
        block = manifest.blocks[number]
        place = manifest.sites[site] if site >= 0 else block.states[state]
        name = manifest.sites[site].label if site >= 0 else block.states[state].name
        key = block.id, name, place.file or "", place.line or 0
        by_line[key] = by_line.get(key, 0) + ps
    longest = sorted(by_line.items(), key=lambda entry: -entry[1])
    return tuple(PathLine(*key, ps / PS_PER_S, ps / total) for key, ps in longest if ps)


def _merged(steps: Iterator[_Step]) -> Iterator[_Step]:
    """The steps, with consecutive ones of one block, state and call joined."""
    current: _Step | None = None
    for step in steps:
        if current and step.goes_on(current):
            current = current._replace(end_ps=step.end_ps)
            continue
        if current:
            yield current
        current = step
    if current:
        yield current


def _steps(program: Program, lowered: Lowered) -> Iterator[_Step]:
    """The blocks and states on the critical path, in order of time and without gaps."""
    graph = lowered.graph
    nodes, _ = graph.path(lowered.last)
    ops = program.ops
    on_bus = np.isin(ops["kind"], (MOVE, ASYNC)) & (ops["bus"] >= 0)
    of_node = np.full(len(graph), -1, np.int64)
    of_node[lowered.of_op] = np.arange(len(lowered.of_op))
    stretch_of_node = np.full(len(graph), -1, np.int64)
    stretch_of_node[lowered.of_stretch] = np.arange(len(lowered.of_stretch))
    own_code = work_states(program.run.manifest.blocks)
    rows, state_of_node = lowered.rows, np.zeros(len(graph), np.int64)
    if rows:
        threads = rows.owner >= 0
        state_of_node[threads] = own_code[rows.owner[threads]]
        state_of_node[rows.over] = rows.state
    now = 0
    last_thread = int(ops["thread"][0]) if len(ops) else 0
    for place, node in enumerate(nodes.tolist()):
        following = int(nodes[place + 1]) if place + 1 < len(nodes) else -1
        op, stretch = int(of_node[node]), int(stretch_of_node[node])
        begin = _ps(graph, node, int(graph.begin[node]))
        until = _reaches(graph, node, following)
        if op >= 0:
            last_thread = int(ops["thread"][op])
            before = nodes[place - 1] if place else -1
            starts = _call_starts(program, op, now, begin, before < 0 or of_node[before] >= 0)
            if starts > now:
                yield _Step(last_thread, int(own_code[last_thread]), -1, False, now, starts)
                now = starts
            if until > now:
                yield _Step(last_thread, int(ops["state"][op]), int(ops["site"][op]), bool(on_bus[op]), now, until)
                now = until
        elif rows and rows.owner[node] >= 0 and begin > now:
            yield _Step(int(rows.owner[node]), int(state_of_node[node]), -1, False, now, begin)
            now = begin
        elif stretch >= 0:
            for block, state, end in _states(program, lowered, stretch):
                if min(end, until) > now:
                    yield _Step(block, state, -1, False, now, min(end, until))
                    now = min(end, until)
    total = lowered.total_ps()
    if total > now:
        yield _Step(last_thread, int(own_code[last_thread]), -1, False, now, total)


def _call_starts(program: Program, op: int, now: int, begin: int, after_call: bool) -> int:
    """When (ps) a call's part of the path starts, which reaches this call at `now`, after another call or after the
    FPGA: a wait for the FPGA starts before the operation's beginning, which the FPGA decides."""
    if program.ops["kind"][op] not in (AWAIT, IRQ, ASK):
        return begin
    own_ps = int(program.ops["own_ps"][op] + program.delay_ps[op]) if after_call else 0
    return min(now + own_ps, begin)


def work_states(blocks: Sequence[Block]) -> Numbers:
    """For each block the state of the host's own code."""
    return np.array([next((s.index for s in one.states if s.name == "work"), 0) for one in blocks], np.int64)


def _ps(graph: Graph, node: int, time: int) -> int:
    """A time of a node in picoseconds."""
    if not graph.domain[node]:
        return time
    period = graph.periods_ps[int(graph.domain[node]) - 1]
    return -(-time * period.numerator // period.denominator)


def _reaches(graph: Graph, node: int, following: int) -> int:
    """The end (ps) of a node's part of the path."""
    end = _ps(graph, node, int(graph.end[node]))
    return end if following < 0 else min(end, _ps(graph, following, int(graph.end[following])))


def _states(program: Program, lowered: Lowered, stretch: int) -> Iterator[tuple[int, int, int]]:
    """The states within a stretch: block, state, end (ps)."""
    fpga, graph = program.fpga, lowered.graph
    first = int(fpga.first[stretch])
    stop = int(fpga.first[stretch + 1]) if stretch + 1 < len(fpga.first) else len(fpga.stay_block)
    node = int(lowered.of_stretch[stretch])
    time, end = int(graph.begin[node]), int(graph.end[node])
    for stay in range(first, stop):
        if time >= end:
            break
        time = min(time + int(program.stays[stay]), end)
        yield int(fpga.stay_block[stay]), int(fpga.stay_state[stay]), _ps(graph, node, time)
