"""The critical path: what a run's end was due to, one thing after the other."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from workbench.model.prediction import Bottleneck, CriticalPath, PathStep
from workbench.model.run import PS_PER_S
from workbench.replay.engine import Graph
from workbench.replay.lowering import Lowered
from workbench.replay.program import Program

Numbers = NDArray[np.int64]
#: Steps that are told one by one.
_MOST_STEPS = 200_000
_Step = tuple[int, int, int, int]  # block, state, begin and end in picoseconds


def bottlenecks(program: Program, lowered: Lowered) -> tuple[Bottleneck, ...]:
    """The critical path by block and state, the longest first. The graph has been swept."""
    spent: dict[tuple[int, int], int] = {}
    for block, state, begin, end in _steps(program, lowered):
        spent[block, state] = spent.get((block, state), 0) + end - begin
    total = max(lowered.total_ps(), 1)
    blocks = program.run.manifest.blocks
    return tuple(
        Bottleneck(blocks[block].id, blocks[block].states[state].name, ps / PS_PER_S, ps / total)
        for (block, state), ps in sorted(spent.items(), key=lambda item: -item[1])
        if ps
    )


def path_of(program: Program, lowered: Lowered) -> CriticalPath:
    """The critical path, step by step."""
    blocks = program.run.manifest.blocks
    steps: list[PathStep] = []
    for block, state, begin, end in _merged(_steps(program, lowered)):
        one = blocks[block]
        before = steps[-1].block if steps and steps[-1].block != one.id else ""
        steps.append(PathStep(one.side, one.id, one.states[state].name, begin / PS_PER_S, end / PS_PER_S, before))
        if len(steps) >= _MOST_STEPS:
            break
    return CriticalPath(lowered.total_ps() / PS_PER_S, tuple(steps))


def _merged(steps: Iterator[_Step]) -> Iterator[_Step]:
    """The steps, with those of one block and state that follow one another as one."""
    held: _Step | None = None
    for step in steps:
        if held and held[:2] == step[:2] and held[3] == step[2]:
            held = (*held[:3], step[3])
            continue
        if held:
            yield held
        held = step
    if held:
        yield held


def _steps(program: Program, lowered: Lowered) -> Iterator[_Step]:
    """Who held the run from when to when, in order, without gaps."""
    graph = lowered.graph
    nodes, _ = graph.path(lowered.last)
    ops = program.ops
    of_node = np.full(len(graph), -1, np.int64)
    of_node[lowered.of_op] = np.arange(len(lowered.of_op))
    stretch_of_node = np.full(len(graph), -1, np.int64)
    stretch_of_node[lowered.of_stretch] = np.arange(len(lowered.of_stretch))
    now = 0
    last_thread = int(ops["thread"][0]) if len(ops) else 0
    for place, node in enumerate(nodes.tolist()):
        following = int(nodes[place + 1]) if place + 1 < len(nodes) else -1
        op, stretch = int(of_node[node]), int(stretch_of_node[node])
        begin = _ps(graph, node, int(graph.begin[node]))
        until = _reaches(graph, node, following)
        if op >= 0:
            last_thread = int(ops["thread"][op])
            if begin > now:
                yield last_thread, _state_before(program, last_thread), now, begin
                now = begin
            if until > now:
                yield last_thread, int(ops["state"][op]), now, until
                now = until
        elif stretch >= 0:
            for block, state, end in _states(program, lowered, stretch):
                if min(end, until) > now:
                    yield block, state, now, min(end, until)
                    now = min(end, until)
    total = lowered.total_ps()
    if total > now:
        yield last_thread, _state_before(program, last_thread), now, total


def _state_before(program: Program, thread: int) -> int:
    """The host's own code."""
    states = program.run.manifest.blocks[thread].states
    return next((s.index for s in states if s.name == "work"), 0)


def _ps(graph: Graph, node: int, time: int) -> int:
    """A node's time in picoseconds."""
    if not graph.domain[node]:
        return time
    period = graph.periods_ps[int(graph.domain[node]) - 1]
    return -(-time * period.numerator // period.denominator)


def _reaches(graph: Graph, node: int, following: int) -> int:
    """Until when a node is what the path waits for."""
    end = _ps(graph, node, int(graph.end[node]))
    return end if following < 0 else min(end, _ps(graph, following, int(graph.end[following])))


def _states(program: Program, lowered: Lowered, stretch: int) -> Iterator[tuple[int, int, int]]:
    """The states of a stretch: block, state, end in picoseconds."""
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
