"""How soon a pipelined loop may begin its next iteration: the initiation interval that its dependences allow.

An iteration that needs what an earlier one computed waits for it. Such a dependence goes through a value that is
carried around the loop (a `phi` of its header), or through memory, where an iteration loads what an earlier one
stored. The interval is the largest latency of a cycle of dependences over the iterations that it spans, by the
board's table of latencies (Table 2 of the paper, which models many work items and no such loops: `ERRATA.md` here,
"T1").
"""

import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from itertools import islice

import networkx as nx

from rc_workbench_plugins.opencl.kernel import AccessProfile, Instruction, Kernel, Loop, Node, Way, leaves, walk

#: Integer operations that a compiler may reorder: of their copies in an unrolled loop it makes a tree beside the one
#: value that is carried.
_ASSOCIATIVE = ("add", "mul", "and", "or", "xor", "smax", "smin", "umax", "umin", "max", "min")
_MOST_CYCLES = 1000  # of dependences that are looked at in one loop


@dataclass(frozen=True)
class Interval:
    """A loop's initiation interval in cycles, and the line that closes the slowest cycle of dependences. `grows`: in
    the unrolled loop each copy waits for the one before it, so that the interval grows as the factor does."""

    cycles: float
    line: int
    grows: bool


@dataclass(frozen=True)
class _Carrier:
    """What leads from an iteration to a later one: the value `source` of the later one is, or holds, what `sink` was
    `distance` iterations before. `line` is where it is computed or stored."""

    source: str
    sink: str
    distance: int
    line: int
    associative: bool = False


def intervals(
    kernel: Kernel,
    root: Node,
    accesses: Mapping[str, AccessProfile],
    cycles_of: Callable[[Instruction], float],
) -> dict[str, Interval]:
    """The intervals of the loops that hold no other, by the loops' ids; those of one cycle are left out. `cycles_of`
    is each instruction's latency, that of global memory too."""
    by_loop = {}
    for loop in (node for node in walk(root) if isinstance(node, Loop)):
        if is_innermost(loop) and (interval := _interval(kernel, loop, accesses, cycles_of)).cycles > 1:
            by_loop[loop.id] = interval
    return by_loop


def is_innermost(loop: Loop) -> bool:
    return not any(isinstance(node, Loop) for child in loop.children for node in walk(child))


def _interval(
    kernel: Kernel, loop: Loop, accesses: Mapping[str, AccessProfile], cycles_of: Callable[[Instruction], float]
) -> Interval:
    names = {leaf.id for leaf in leaves(loop)}
    body = [one for block in kernel.blocks if block.name in names for one in block.instructions]
    carriers = [*_phis(kernel, loop, names), *_memory(body, loop, accesses)]
    graph: nx.DiGraph[_Carrier] = nx.DiGraph()
    for before in carriers:
        ready = _ready(body, before.source, cycles_of)
        for after in carriers:
            if after.sink in ready:
                graph.add_edge(before, after, cycles=ready[after.sink])
    slowest = Interval(1.0, 0, False)
    for cycle in islice(nx.simple_cycles(graph), _MOST_CYCLES):
        pairs = zip(cycle, [*cycle[1:], cycle[0]], strict=True)
        latency_cycles = sum(graph.edges[pair]["cycles"] for pair in pairs)
        cycles = float(math.ceil(latency_cycles / sum(one.distance for one in cycle)))
        if cycles > slowest.cycles:
            line = next((one.line for one in cycle if one.line), 0)
            slowest = Interval(cycles, line, not (len(cycle) == 1 and cycle[0].associative))
    return slowest


def _phis(kernel: Kernel, loop: Loop, names: set[str]) -> Iterator[_Carrier]:
    """The values that the loop's header takes from the iteration before."""
    producers = {one.result: one for block in kernel.blocks for one in block.instructions if one.result}
    for phi in kernel.block[loop.header].instructions:
        if phi.opcode != "phi":
            continue
        for operand, label in zip(phi.operands, phi.labels, strict=True):
            if label in names and isinstance(operand, str) and operand in producers:
                last = producers[operand]
                kind = last.variant if last.opcode == "call" else last.opcode
                yield _Carrier(phi.result, operand, 1, last.line, kind in _ASSOCIATIVE and phi.result in last.operands)


def _memory(body: list[Instruction], loop: Loop, accesses: Mapping[str, AccessProfile]) -> Iterator[_Carrier]:
    """The loads that may find what the same loop stored before."""
    of = {way: [(one, access) for one in body for access in one.accesses if access.way is way] for way in Way}
    for load, read in of[Way.LOAD]:
        for store, written in of[Way.STORE]:
            value = store.operands[0] if store.operands else ""
            if read.object != written.object or not isinstance(value, str) or not load.result:
                continue
            if distance := _distance(accesses.get(written.id), accesses.get(read.id), loop.id):
                yield _Carrier(load.result, value, distance, store.line)


def _distance(store: AccessProfile | None, load: AccessProfile | None, loop: str) -> int:
    """After how many iterations a load finds what was stored; 0 if never. If the addresses leave it open, the next may,
    as a compiler has to assume."""
    if store is None or load is None or not store.executions or not load.executions:
        return 0
    steps = [one.loops[loop] for one in (store, load) if loop in one.loops]
    if len(steps) < 2 or any(step.bytes is None or step.share < 1 for step in steps):
        return 1
    step = steps[0].bytes
    if step != steps[1].bytes or store.first is None or load.first is None:
        return 1
    ahead = store.first - load.first
    if not step:
        return 1 if ahead == 0 else 0
    return ahead // step if ahead % step == 0 and ahead // step > 0 else 0


def _ready(body: list[Instruction], source: str, cycles_of: Callable[[Instruction], float]) -> dict[str, float]:
    """After how many cycles each value is there that depends on a source within the same iteration."""
    ready = {source: 0.0}
    for one in body:
        inputs = [ready[operand] for operand in one.operands if isinstance(operand, str) and operand in ready]
        if inputs and one.result and one.result not in ready:
            ready[one.result] = max(inputs) + cycles_of(one)
        elif one.result == source and any(access.way is Way.LOAD for access in one.accesses):
            ready[source] = cycles_of(one)
    return ready
